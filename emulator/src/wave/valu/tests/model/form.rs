//! Encodes a row in one of its forms with random operands and modifiers, runs it and compares all lanes.

use super::{
    super::{Lab, Random},
    Ctx, Model, Modes, Out, Res, Want,
};
use crate::{
    isa::{Family, Flow, Row, Target, Ty, decode, flag},
    wave::Mode,
};

const SOURCES: [usize; 3] = [0, 4, 8];
const DST: usize = 16;
const SCALAR: usize = 30;
const SDST: usize = 20;
const CARRY: usize = 24;
const VCC: usize = 106;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Encoding {
    Short,
    E64,
    Sdwa,
    Dpp,
    Vop3p,
}

/// Where a source comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum From {
    Vector,
    Scalar,
    /// An inline constant by its code.
    Constant(u32),
    Literal,
}

/// An encoding with all its fields.
#[derive(Clone, Debug)]
struct Form {
    encoding: Encoding,
    from: [From; 3],
    neg: u32,
    abs: u32,
    op_sel: u32,
    op_sel_hi: u32,
    omod: u32,
    clamp: bool,
    literal: u32,
    /// SDWA: selects of sources 0 and 1, their sign extension, destination select and what is unused.
    select: [u32; 2],
    extend: [bool; 2],
    place: u32,
    unused: u32,
    scalar_destination: bool,
    /// DPP: control, row mask, bank mask, bound control.
    control: u32,
    rows: u32,
    banks: u32,
    bound: bool,
}

fn is_float(ty: Ty) -> bool {
    matches!(ty, Ty::F16 | Ty::F32 | Ty::F64 | Ty::V2F16)
}

/// Bits of a source of this type.
fn width(ty: Ty) -> u32 {
    match ty {
        Ty::I16 | Ty::F16 => 16,
        Ty::B64 | Ty::F64 | Ty::V2F32 | Ty::V2B32 => 64,
        Ty::B128 => 128,
        _ => 32,
    }
}

/// Bits of the patterns that make interesting values of this type.
fn grain(ty: Ty) -> u32 {
    match ty {
        Ty::I16 | Ty::F16 | Ty::V2F16 | Ty::V2I16 => 16,
        Ty::B64 | Ty::F64 => 64,
        _ => 32,
    }
}

fn encodings(row: &Row, model: &Model) -> Vec<Encoding> {
    let short = matches!(row.family, Family::Vop1 | Family::Vop2 | Family::Vopc);
    let shape = &row.shape;
    let mut list = Vec::new();
    if row.family == Family::Vop3p {
        return vec![Encoding::Vop3p];
    }
    if short {
        list.push(Encoding::Short);
    }
    if !shape.has(flag::NO_E64) {
        list.push(Encoding::E64);
    }
    if short && !shape.has(flag::NO_SDWA) && !model.without.sdwa {
        list.push(Encoding::Sdwa);
    }
    if short && !shape.has(flag::NO_DPP) && row.family != Family::Vopc {
        list.push(Encoding::Dpp);
    }
    list
}

impl Form {
    fn random(row: &Row, model: &Model, random: &mut Random) -> Self {
        let shape = &row.shape;
        let choices = encodings(row, model);
        let encoding = choices[random.below(choices.len())];
        let sources = shape.sources();
        let mut chance = |n: usize| random.below(n) == 0;
        let (clamp, signed, modified, halves) = (chance(3), chance(2), chance(3), chance(2));
        let wide = encoding != Encoding::Short;
        let mut form = Self {
            encoding,
            from: [From::Vector; 3],
            neg: 0,
            abs: 0,
            op_sel: 0,
            op_sel_hi: 0,
            omod: 0,
            clamp: false,
            literal: random.pattern(32) as u32,
            select: [0; 2].map(|_| random.below(7) as u32),
            extend: [0; 2].map(|_| random.below(2) == 0),
            place: random.below(7) as u32,
            unused: random.below(3) as u32,
            scalar_destination: row.family == Family::Vopc && random.below(2) == 0,
            control: 0,
            rows: random.next() as u32 & 15,
            banks: random.next() as u32 & 15,
            bound: random.below(2) == 0,
        };
        if random.below(2) == 0 {
            (form.rows, form.banks) = (15, 15);
        }
        if shape.src[..sources.min(2)].iter().any(|ty| width(*ty) == 64) || model.res == Res::F64 {
            form.control = 0x150 + random.below(16) as u32;
        } else {
            form.control = match random.below(8) {
                0 => 0x101 + random.below(15) as u32,
                1 => 0x111 + random.below(15) as u32,
                2 => 0x121 + random.below(15) as u32,
                3 => [0x130, 0x134, 0x138, 0x13c][random.below(4)],
                4 => 0x140 + random.below(4) as u32,
                5 => 0x150 + random.below(16) as u32,
                _ => random.below(256) as u32,
            };
        }
        let vop3b = shape.sdst != Ty::No && row.family != Family::Vopc;
        for n in 0..sources {
            let float = is_float(shape.src[n])
                || shape.src[n] == Ty::Mix
                || encoding == Encoding::Vop3p && is_float(shape.src[0]);
            let reach = encoding != Encoding::Sdwa && encoding != Encoding::Dpp || n < 2;
            if signed && wide && float && reach && !model.without.signs && shape.src[n] != Ty::Mask {
                form.neg |= (random.below(2) as u32) << n;
                if !vop3b || encoding == Encoding::Sdwa || encoding == Encoding::Dpp {
                    form.abs |= (random.below(2) as u32) << n;
                }
            }
        }
        if encoding == Encoding::Vop3p {
            let mask = (1 << sources) - 1;
            form.op_sel_hi = 7;
            let halved = shape.src[0] != Ty::B32;
            if halved && halves {
                form.op_sel = random.next() as u32 & mask;
                form.op_sel_hi = random.next() as u32 & mask | 7 & !mask;
            }
            // Of the 32-bit addend of a dot product only the sign is defined.
            if shape.src[2] == Ty::F32 {
                form.abs &= 3;
                form.op_sel &= 3;
            }
            if !is_float(shape.src[0]) && shape.src[0] != Ty::Mix && shape.src[0] != Ty::V2F32 {
                (form.neg, form.abs) = (0, 0);
            }
        }
        let clampable = encoding == Encoding::Vop3p
            || encoding == Encoding::E64 && shape.has(flag::CLAMP)
            || encoding == Encoding::Sdwa && row.family != Family::Vopc && shape.has(flag::CLAMP);
        form.clamp = clamp && clampable;
        let scaled = matches!(encoding, Encoding::E64 | Encoding::Sdwa)
            && shape.has(flag::OMOD)
            && !model.without.omod;
        // In SDWA only results that are floats take the modifier.
        if modified
            && scaled
            && (encoding == Encoding::E64 || is_float(shape.dst))
            && row.family != Family::Vopc
        {
            form.omod = random.below(4) as u32;
        }
        if encoding == Encoding::E64 && shape.has(flag::OP_SEL) && halves && !model.without.op_sel {
            for (n, ty) in shape.src.iter().enumerate().take(sources) {
                if matches!(ty, Ty::I16 | Ty::F16) {
                    form.op_sel |= (random.below(2) as u32) << n;
                }
            }
            if matches!(model.res, Res::B16 | Res::F16) {
                form.op_sel |= (random.below(2) as u32) << 3;
            }
        }
        form.pick_sources(row, random);
        form
    }

    /// At most one source that is no register of the lane.
    fn pick_sources(&mut self, row: &Row, random: &mut Random) {
        let shape = &row.shape;
        let constants = shape.has(flag::MADMK | flag::MADAK);
        let n = match self.encoding {
            Encoding::Short => 0,
            Encoding::Sdwa => random.below(shape.sources().min(2)),
            Encoding::Dpp => return,
            _ => random.below(shape.sources()),
        };
        let ty = shape.src[n];
        if matches!(ty, Ty::Mask | Ty::V32 | Ty::A32 | Ty::S32 | Ty::B128) {
            return;
        }
        let literal = self.encoding == Encoding::Short && !constants && ty != Ty::B64;
        let paired = matches!(ty, Ty::V2F32 | Ty::V2B32);
        self.from[n] = match random.below(8) {
            0 => From::Scalar,
            1 | 2 if self.encoding != Encoding::Sdwa && !paired => {
                let float = matches!(ty, Ty::F16 | Ty::F32 | Ty::F64 | Ty::B32 | Ty::V2F16);
                let codes = if float { 90 } else { 81 };
                let code = random.below(codes) as u32;
                From::Constant(if code < 81 { 128 + code } else { 240 + code - 81 })
            }
            3 if literal => From::Literal,
            _ => From::Vector,
        };
    }

    fn code(&self, n: usize) -> u32 {
        match self.from[n] {
            From::Vector => 256 + SOURCES[n] as u32,
            From::Scalar => SCALAR as u32,
            From::Constant(code) => code,
            From::Literal => 255,
        }
    }

    fn words(&self, row: &Row) -> [u32; 2] {
        let shape = &row.shape;
        let opcode = u32::from(row.opcode);
        let (dst, vopc) = (DST as u32, row.family == Family::Vopc);
        let second = SOURCES[1] as u32;
        let constant = shape.has(flag::MADMK | flag::MADAK);
        let short = |src0: u32| match row.family {
            Family::Vop1 => 0x7e00_0000 | dst << 17 | opcode << 9 | src0,
            Family::Vop2 => opcode << 25 | dst << 17 | second << 9 | src0,
            _ => 0x7c00_0000 | opcode << 17 | second << 9 | src0,
        };
        let bit = |x: bool, n: u32| u32::from(x) << n;
        match self.encoding {
            Encoding::Short => {
                let _ = constant;
                [short(self.code(0)), self.literal]
            }
            Encoding::Sdwa => {
                let scalar = |n: usize| self.from[n] == From::Scalar;
                let register = |n: usize| if scalar(n) { SCALAR } else { SOURCES[n] } as u32;
                let mut word1 = register(0) | bit(scalar(0), 23);
                let two = shape.sources() >= 2;
                for n in 0..if two { 2 } else { 1 } {
                    let float = is_float(shape.src[n]);
                    let fields = self.select[n]
                        | bit(!float && self.extend[n], 3)
                        | (self.neg >> n & 1) << 4
                        | (self.abs >> n & 1) << 5;
                    word1 |= fields << (16 + 8 * n);
                }
                word1 |= bit(scalar(1), 31);
                word1 |= if vopc {
                    bit(self.scalar_destination, 15)
                        | if self.scalar_destination { (SDST as u32) << 8 } else { 0 }
                } else {
                    self.place << 8 | self.unused << 11 | bit(self.clamp, 13) | self.omod << 14
                };
                let word0 = short(249);
                // Source 1 of SDWA is named by the first word.
                let word0 = if two && scalar(1) { word0 & !0x1fe00 | (SCALAR as u32) << 9 } else { word0 };
                [word0, word1]
            }
            Encoding::Dpp => {
                let signs = self.neg & 1 | (self.abs & 1) << 1 | (self.neg & 2) << 1 | (self.abs & 2) << 2;
                let word1 = SOURCES[0] as u32
                    | self.control << 8
                    | bit(self.bound, 19)
                    | signs << 20
                    | self.banks << 24
                    | self.rows << 28;
                [short(250), word1]
            }
            Encoding::E64 => {
                let opcode = opcode
                    + match row.family {
                        Family::Vop1 => 0x140,
                        Family::Vop2 => 0x100,
                        _ => 0,
                    };
                let vop3b = !vopc && shape.sdst != Ty::No;
                let high = if vop3b { (SDST as u32) << 8 } else { self.op_sel << 11 | self.abs << 8 };
                let dst = if vopc { SDST as u32 } else { dst };
                [
                    0xd000_0000 | opcode << 16 | bit(self.clamp, 15) | high | dst,
                    self.operands(shape) | self.omod << 27,
                ]
            }
            Encoding::Vop3p => [
                0xd380_0000
                    | opcode << 16
                    | bit(self.clamp, 15)
                    | (self.op_sel_hi >> 2) << 14
                    | self.op_sel << 11
                    | self.abs << 8
                    | dst,
                self.operands(shape) | (self.op_sel_hi & 3) << 27,
            ],
        }
    }

    fn operands(&self, shape: &crate::isa::Shape) -> u32 {
        let mut word = self.neg << 29;
        for n in 0..shape.sources() {
            let code = if shape.src[n] == Ty::Mask { CARRY as u32 } else { self.code(n) };
            word |= code << (9 * n);
        }
        word
    }

    /// Size of the instruction in words.
    fn size(&self, row: &Row) -> usize {
        let literal = self.from[0] == From::Literal || row.shape.has(flag::MADMK | flag::MADAK);
        if self.encoding == Encoding::Short && !literal { 1 } else { 2 }
    }

    /// The lane that `lane` reads under DPP (MI200 ISA, DPP_CTRL).
    fn dpp_lane(&self, lane: usize) -> Option<usize> {
        let (row, i) = (lane / 16 * 16, lane % 16);
        let control = self.control as usize;
        let n = control % 16;
        match control {
            0..256 => Some(lane / 4 * 4 + (control >> (lane % 4 * 2)) % 4),
            0x100..0x110 => (i + n <= 15).then(|| lane + n),
            0x110..0x120 => (i >= n).then(|| lane - n),
            0x120..0x130 => Some(row + (16 + i - n) % 16),
            0x130 => (lane != 63).then(|| lane + 1),
            0x134 => Some(if lane == 63 { 0 } else { lane + 1 }),
            0x138 => (lane != 0).then(|| lane - 1),
            0x13c => Some(if lane == 0 { 63 } else { lane - 1 }),
            0x140 => Some(row + 15 - i),
            0x141 => Some(lane / 8 * 8 + 7 - lane % 8),
            0x142 => (lane >= 16).then(|| row - 1),
            0x143 => (lane >= 32).then_some(31),
            _ => Some(row + n),
        }
    }

    /// Whether DPP writes the lane, and the live lane that source 0 comes from.
    fn dpp(&self, lane: usize, exec: u64) -> (bool, Option<usize>) {
        let source = self.dpp_lane(lane).filter(|source| exec >> source & 1 != 0);
        let masked = self.rows >> (lane / 16) & 1 != 0 && self.banks >> (lane % 16 / 4) & 1 != 0;
        (masked && (source.is_some() || self.bound), source)
    }

    /// The bits of an inline constant or literal read as `ty` (MI200 ISA, table 14).
    fn constant(&self, code: u32, ty: Ty) -> u64 {
        let floats = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
        match code {
            128..=192 => u64::from(code - 128),
            193..=208 => (192i64 - i64::from(code)) as u64,
            248 => match ty {
                Ty::F16 | Ty::V2F16 => 0x3118,
                Ty::F64 => 0x3fc4_5f30_6dc9_c882,
                _ => 0x3e22_f983,
            },
            255 if ty == Ty::F64 => u64::from(self.literal) << 32,
            255 => self.literal.into(),
            code => {
                let x: f64 = floats[code as usize - 240];
                match ty {
                    // Powers of two: the exponent moves from one bias to the other.
                    Ty::F16 | Ty::V2F16 => {
                        let bits = x.to_bits();
                        (bits >> 48 & 0x8000) | ((bits >> 52 & 0x7ff) + 15 - 1023) << 10
                    }
                    Ty::F64 | Ty::B64 => x.to_bits(),
                    _ => (x as f32).to_bits().into(),
                }
            }
        }
    }

    /// The two 16-bit or 32-bit parts of a packed source for one half of the result, or the whole source.
    fn select_packed(&self, n: usize, ty: Ty, value: u64, high: bool) -> u64 {
        let select = if high { self.op_sel_hi } else { self.op_sel } >> n & 1;
        let negate = if high { self.abs } else { self.neg } >> n & 1;
        match ty {
            Ty::V2F16 | Ty::V2I16 => {
                value >> (16 * select) & 0xffff ^ if ty == Ty::V2F16 { u64::from(negate) << 15 } else { 0 }
            }
            Ty::V2F32 => value >> (32 * select) & 0xffff_ffff ^ u64::from(negate) << 31,
            _ => value,
        }
    }
}

/// The state before an instruction, and what it reads.
struct Setup {
    lab: Lab,
    modes: Modes,
    /// Per lane and source: the register's bits.
    values: Vec<[u64; 3]>,
    wide: Vec<u128>,
    scalar: u64,
    old: Vec<u128>,
    exec: u64,
    carry: u64,
    vcc: u64,
}

impl Setup {
    fn random(row: &Row, random: &mut Random) -> Self {
        let mut lab = Lab::new();
        let modes = Modes::random(random);
        lab.wave.mode = Mode(modes.bits());
        let pattern = |random: &mut Random, ty: Ty| -> u64 {
            let grain = grain(ty);
            (0..64 / grain).fold(0, |bits, n| bits | random.pattern(grain) << (grain * n))
        };
        let mut values = Vec::new();
        let (mut old, mut wide) = (Vec::new(), Vec::new());
        for lane in 0..64 {
            let mut v: [u64; 3] = std::array::from_fn(|n| pattern(random, row.shape.src[n]));
            if random.below(3) == 0 {
                // Equal sources, and ones that differ in the sign.
                let (n, m) = (random.below(3), random.below(3));
                v[n] = v[m] ^ if random.below(2) == 0 { 0x8000_0000_8000_8000 } else { 0 };
            }
            let top = random.next();
            for (n, value) in v.into_iter().enumerate() {
                lab.set(SOURCES[n], lane, value);
            }
            lab.set(SOURCES[2] + 2, lane, top);
            wide.push(u128::from(v[2]) | u128::from(top) << 64);
            let before = [pattern(random, row.shape.dst), random.next()];
            lab.set(DST, lane, before[0]);
            lab.set(DST + 2, lane, before[1]);
            old.push(u128::from(before[0]) | u128::from(before[1]) << 64);
            values.push(v);
        }
        let scalar = pattern(random, row.shape.src[0]);
        let (carry, vcc) = (random.next(), random.next());
        lab.set_mask(SCALAR, scalar);
        lab.set_mask(CARRY, carry);
        lab.set_mask(VCC, vcc);
        lab.set_mask(SDST, random.next());
        let exec = if random.below(3) == 0 { u64::MAX } else { random.next() | random.next() };
        lab.wave.exec = exec;
        Self { lab, modes, values, wide, scalar, old, exec, carry, vcc }
    }

    fn destination(&self, lane: usize) -> u128 {
        u128::from(self.lab.get(DST, lane)) | u128::from(self.lab.get(DST + 2, lane)) << 64
    }
}

/// Source `n` of a lane with all that the encoding does to it.
fn source(setup: &Setup, form: &Form, row: &Row, lane: usize, n: usize) -> u64 {
    let ty = row.shape.src[n];
    let bits = width(ty);
    let raw = match form.from[n] {
        From::Vector => {
            let from = if form.encoding == Encoding::Dpp && n == 0 {
                form.dpp(lane, setup.exec).1
            } else {
                Some(lane)
            };
            from.map_or(0, |from| setup.values[from][n])
        }
        From::Scalar => setup.scalar,
        From::Constant(code) => form.constant(code, ty),
        From::Literal => form.constant(255, ty),
    };
    let selected = match form.encoding {
        Encoding::Sdwa if n < 2 => {
            let (shift, size) = match form.select[n] {
                select @ 0..4 => (8 * select, 8),
                4 => (0, 16),
                5 => (16, 16),
                _ => (0, 32),
            };
            let part = raw as u32 >> shift & (u32::MAX >> (32 - size));
            let extended = if form.extend[n] && !is_float(ty) && part >> (size - 1) & 1 != 0 {
                part | !(u32::MAX >> (32 - size))
            } else {
                part
            };
            u64::from(extended)
        }
        Encoding::E64 if matches!(ty, Ty::I16 | Ty::F16) && form.op_sel >> n & 1 != 0 => raw >> 16,
        _ => raw,
    };
    let all = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let mut value = selected & all;
    if form.encoding != Encoding::Vop3p && is_float(ty) && ty != Ty::V2F16 {
        let sign = 1 << (bits - 1);
        if form.abs >> n & 1 != 0 {
            value &= !sign;
        }
        if form.neg >> n & 1 != 0 {
            value ^= sign;
        }
    }
    value
}

struct Shown {
    fraction: u32,
    width: u32,
    at: usize,
    half: bool,
}

fn format(res: Res) -> Option<Shown> {
    let shown = |fraction, width, at, half| Some(Shown { fraction, width, at, half });
    match res {
        Res::F16 | Res::PackedF16 | Res::LowF16 | Res::HighF16 => shown(10, 16, 1, true),
        Res::F32 | Res::PackedF32 => shown(23, 32, 0, false),
        Res::F64 => shown(52, 64, 1, false),
        _ => None,
    }
}

/// Output modifier, then clamp (MI200 ISA, 6.2.3 and 6.3.3).
fn modified(modes: &Modes, form: &Form, res: Res, bits: u128) -> u128 {
    let Some(Shown { fraction, width, at, half }) = format(res) else { return bits };
    let sign = 1u128 << (width - 1);
    let infinity = (sign - 1) >> fraction << fraction;
    let (mut magnitude, mut negative) = (bits & (sign - 1), bits & sign != 0);
    let active = form.omod != 0 && !modes.ieee && modes.denormals[at] & 2 == 0;
    if active && magnitude < infinity {
        let field = (magnitude >> fraction) as i32;
        let moved = field + [0, 1, 2, -1][form.omod as usize];
        if field == 0 {
            (magnitude, negative) = (0, false);
        } else if moved <= 0 {
            magnitude = 0;
        } else if moved >= (infinity >> fraction) as i32 {
            let away = match modes.round[at] {
                0 => true,
                1 => !negative,
                2 => negative,
                _ => false,
            };
            magnitude = if away && !(half && modes.fp16_overflow) { infinity } else { infinity - 1 };
        } else {
            magnitude = magnitude & ((1 << fraction) - 1) | (moved as u128) << fraction;
        }
    }
    if form.clamp {
        let one = (infinity >> fraction >> 1) << fraction;
        if magnitude > infinity {
            if modes.dx10 {
                return 0;
            }
        } else if negative {
            return 0;
        } else {
            magnitude = magnitude.min(one);
        }
    }
    magnitude | if negative { sign } else { 0 }
}

/// Whether one result, of the format's width, is what the model wants.
fn accepts(modes: &Modes, form: &Form, res: Res, want: Want, got: u128) -> bool {
    let flushed = |bits: u128| {
        let Some(Shown { fraction, width, at, .. }) = format(res) else { return bits };
        let denormal = bits & ((1 << (width - 1)) - 1) < 1 << fraction;
        if denormal && modes.denormals[at] & 2 == 0 { bits & 1 << (width - 1) } else { bits }
    };
    match want {
        Want::Anything => true,
        Want::Bits(bits) => got == modified(modes, form, res, bits),
        Want::Near(bits, units) => (0..=2 * u128::from(units)).any(|n| {
            let near = flushed(bits.saturating_add(n).saturating_sub(units.into()));
            got == modified(modes, form, res, near) || got == modified(modes, form, res, bits)
        }),
        Want::Nan => match format(res) {
            Some(_) if form.clamp && modes.dx10 => got == 0,
            Some(Shown { fraction, width, .. }) => {
                let sign = 1u128 << (width - 1);
                got & (sign - 1) > (sign - 1) >> fraction << fraction
            }
            None => false,
        },
    }
}

/// The parts of the destination that a lane's result fills: results of the model, each with its shift and width.
fn parts(res: Res) -> &'static [(u32, u32)] {
    match res {
        Res::B16 | Res::F16 | Res::LowF16 => &[(0, 16)],
        Res::HighF16 => &[(16, 16)],
        Res::B32 | Res::F32 => &[(0, 32)],
        Res::B64 | Res::F64 => &[(0, 64)],
        Res::B128 => &[(0, 128)],
        Res::PackedB16 | Res::PackedF16 => &[(0, 16), (16, 16)],
        Res::PackedF32 => &[(0, 32), (32, 32)],
        Res::Mask => &[],
    }
}

fn field(value: u128, shift: u32, width: u32) -> u128 {
    value >> shift & (u128::MAX >> (128 - width))
}

/// Compares a lane's destination with what the model wants of each part.
fn compare(setup: &Setup, form: &Form, res: Res, old: u128, got: u128, wants: &[Want]) -> bool {
    let mut rest = u128::MAX;
    let parts = parts(res);
    for ((shift, width), want) in parts.iter().zip(wants) {
        let (mut shift, mut width) = (*shift, *width);
        let mut actual;
        if form.encoding == Encoding::Sdwa {
            let (at, size) = match form.place {
                place @ 0..4 => (8 * place, 8),
                4 => (0, 16),
                5 => (16, 16),
                _ => (0, 32),
            };
            // Only the low bits of the result are placed: compare these.
            let mask = u128::MAX >> (128 - size);
            let exact = |bits: u128| modified(&setup.modes, form, res, bits) & mask;
            actual = field(got, at, size);
            let fits = match want {
                Want::Bits(bits) => actual == exact(*bits),
                Want::Near(bits, units) => (0..=2 * u128::from(*units)).any(|n| {
                    actual == exact(bits.saturating_add(n).saturating_sub((*units).into())) || size < width
                }),
                Want::Nan => size < width || accepts(&setup.modes, form, res, *want, field(actual, 0, width)),
                Want::Anything => true,
            };
            let around = !(mask << at) & 0xffff_ffff;
            let unused = match form.unused {
                0 => 0,
                1 if actual >> (size - 1) & 1 != 0 => around & !((1u128 << at) - 1),
                1 => 0,
                _ => old & around,
            };
            return fits && got & around == unused && got >> 32 == old >> 32;
        }
        if form.encoding == Encoding::E64 && matches!(res, Res::B16 | Res::F16) {
            if form.op_sel & 8 != 0 {
                shift = 16;
            } else if field(got, 16, 16) != 0 {
                return false;
            } else {
                rest &= !0xffff_0000;
            }
        } else if matches!(res, Res::B16 | Res::F16) {
            if field(got, 16, 16) != 0 {
                return false;
            }
            rest &= !0xffff_0000;
        }
        width = width.min(128);
        actual = field(got, shift, width);
        rest &= !((u128::MAX >> (128 - width)) << shift);
        if !accepts(&setup.modes, form, res, *want, actual) {
            return false;
        }
        actual = 0;
        let _ = actual;
    }
    got & rest == old & rest
}

fn context(setup: &Setup, form: &Form, res: Res, lane: usize, high: bool) -> Ctx {
    let mask = if form.encoding == Encoding::E64 { setup.carry } else { setup.vcc };
    let shift = match res {
        Res::PackedB16 | Res::PackedF16 if high => 16,
        Res::PackedF32 if high => 32,
        _ => 0,
    };
    Ctx {
        modes: setup.modes,
        lane: lane as u32,
        clamp: form.clamp,
        carry: mask >> lane & 1 != 0,
        vcc: setup.vcc >> lane & 1 != 0,
        old: setup.old[lane] >> shift,
        literal: form.literal,
        op_sel: form.op_sel,
        op_sel_hi: form.op_sel_hi,
        neg: form.neg,
        abs: form.abs,
    }
}

/// What the model expects of a lane: the parts of the destination and the scalar bit.
fn expected(setup: &Setup, form: &Form, row: &Row, model: &Model, lane: usize) -> (Vec<Want>, bool) {
    let whole: [u64; 3] = std::array::from_fn(|n| {
        if n < row.shape.sources() && row.shape.src[n] != Ty::Mask {
            source(setup, form, row, lane, n)
        } else {
            0
        }
    });
    let packed = matches!(model.res, Res::PackedB16 | Res::PackedF16 | Res::PackedF32);
    let mut bit = false;
    let halves: &[bool] = if parts(model.res).len() == 2 { &[false, true] } else { &[false] };
    let wants = halves
        .iter()
        .map(|&high| {
            let sources: [u64; 3] = std::array::from_fn(|n| {
                let ty = row.shape.src[n];
                match (packed, form.encoding) {
                    (true, Encoding::Vop3p) => form.select_packed(n, ty, whole[n], high),
                    // The short forms of packed instructions take both halves in order.
                    (true, _) => whole[n] >> if high { 16 } else { 0 } & 0xffff,
                    // Dot products: halves chosen and negated, then together again.
                    (false, Encoding::Vop3p) if matches!(ty, Ty::V2F16 | Ty::V2I16) => {
                        let low = form.select_packed(n, ty, whole[n], false);
                        low | form.select_packed(n, ty, whole[n], true) << 16
                    }
                    (false, Encoding::Vop3p) if ty == Ty::F32 => {
                        whole[n] ^ u64::from(form.neg >> n & 1) << 31
                    }
                    _ => whole[n],
                }
            });
            let ctx = context(setup, form, model.res, lane, high);
            let wide = Ctx { old: if model.res == Res::B128 { setup.wide[lane] } else { ctx.old }, ..ctx };
            let Out { value, bit: flag } = (model.f)(&wide, sources);
            bit = flag;
            value
        })
        .collect();
    (wants, bit)
}

/// Runs the row `rounds` times.
pub(super) fn check(row: &Row, model: &Model, rounds: u32) -> Result<(), String> {
    let mut random = Random(row.name.bytes().fold(7, |h: u64, b| h.wrapping_mul(31) + u64::from(b)));
    let targets: Vec<Target> =
        [Target::Gfx90a, Target::Gfx942].into_iter().filter(|target| row.targets.has(*target)).collect();
    for round in 0..rounds {
        let target = targets[round as usize % targets.len()];
        let form = Form::random(row, model, &mut random);
        let mut setup = Setup::random(row, &mut random);
        setup.lab.wave.target = target;
        let words = form.words(row);
        let words = &words[..form.size(row)];
        let inst = decode(target, words).map_err(|e| format!("{}: {e:?} {words:08x?} {form:?}", row.name))?;
        assert!(std::ptr::eq(inst.row, row), "{} decodes as {}", row.name, inst.row.name);
        let exec = row.exec.ok_or_else(|| format!("{} has no semantics", row.name))?;
        let flow = exec(&mut setup.lab.wave, &inst);
        if flow != Flow::Next {
            return Err(format!("{} stops: {form:?}", row.name));
        }
        verify(&setup, &form, row, model)
            .map_err(|text| format!("{}: {text}\n    {form:?} {:?}", row.name, setup.modes))?;
    }
    Ok(())
}

fn verify(setup: &Setup, form: &Form, row: &Row, model: &Model) -> Result<(), String> {
    let named = form.encoding == Encoding::E64 || form.scalar_destination && form.encoding == Encoding::Sdwa;
    let sdst = setup.lab.mask(if named { SDST } else { VCC });
    let masked = row.shape.sdst != Ty::No;
    for lane in 0..64 {
        let live = setup.exec >> lane & 1 != 0;
        let written = live && (form.encoding != Encoding::Dpp || form.dpp(lane, setup.exec).0);
        let (old, got) = (setup.old[lane], setup.destination(lane));
        let (wants, bit) =
            if written { expected(setup, form, row, model, lane) } else { (Vec::new(), false) };
        let right = if written && model.res != Res::Mask {
            compare(setup, form, model.res, old, got, &wants)
        } else {
            got == old
        };
        let sources: [u64; 3] = std::array::from_fn(|n| {
            if n < row.shape.sources() && row.shape.src[n] != Ty::Mask {
                source(setup, form, row, lane, n)
            } else {
                0
            }
        });
        if !right {
            return Err(format!("lane {lane} of {sources:x?}: {got:x} over {old:x}, not {wants:x?}"));
        }
        if masked && (sdst >> lane & 1 != 0) != bit {
            return Err(format!("bit of lane {lane} of {sources:x?} is {}", !bit));
        }
    }
    let after = if row.name.starts_with("v_cmpx") { sdst } else { setup.exec };
    if setup.lab.wave.exec != after {
        return Err("EXEC is wrong".into());
    }
    Ok(())
}
