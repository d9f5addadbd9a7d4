//! Encodes a row in one of its forms with random operands and modifiers, and says what the fields mean.

use fastrand::Rng;

use super::{super::bit_pattern, Model, Res};
use crate::isa::{Family, Generation, Row, Shape, Target, Ty, flag};

pub(super) const SOURCES: [usize; 3] = [0, 4, 8];
pub(super) const DST: usize = 16;
pub(super) const SCALAR: usize = 30;
pub(super) const SDST: usize = 20;
pub(super) const CARRY: usize = 24;
pub(super) const VCC: usize = 106;
const EXEC: usize = 126;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Encoding {
    Short,
    E64,
    Sdwa,
    Dpp,
    Vop3p,
}

/// Where a source comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum From {
    Vector,
    Scalar,
    /// An inline constant by its code.
    Constant(u32),
    Literal,
}

/// An encoding with all its fields.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub target: Target,
    pub encoding: Encoding,
    pub from: [From; 3],
    pub neg: u32,
    pub abs: u32,
    pub op_sel: u32,
    pub op_sel_hi: u32,
    pub omod: u32,
    pub clamp: bool,
    pub literal: u32,
    /// SDWA: selects of sources 0 and 1, their sign extension, destination select and what is unused.
    pub select: [u32; 2],
    pub extend: [bool; 2],
    pub place: u32,
    pub unused: u32,
    pub scalar_destination: bool,
    /// DPP: control, row mask, bank mask, bound control, whether dead lanes are read (RDNA).
    pub control: u32,
    pub rows: u32,
    pub banks: u32,
    pub bound: bool,
    pub fetches: bool,
}

pub(super) fn is_float(ty: Ty) -> bool {
    matches!(ty, Ty::F16 | Ty::Bf16 | Ty::F32 | Ty::F64 | Ty::V2F16 | Ty::V2Bf16)
}

pub(super) fn is_half(ty: Ty) -> bool {
    matches!(ty, Ty::I16 | Ty::F16 | Ty::Bf16)
}

/// Bits of a source of this type.
pub(super) fn width(ty: Ty) -> u32 {
    match ty {
        Ty::I16 | Ty::F16 | Ty::Bf16 => 16,
        Ty::B64 | Ty::F64 | Ty::V2F32 | Ty::V2B32 => 64,
        Ty::B128 => 128,
        _ => 32,
    }
}

/// Bits of the patterns that make interesting values of this type.
pub(super) fn grain(ty: Ty) -> u32 {
    match ty {
        Ty::I16 | Ty::F16 | Ty::Bf16 | Ty::V2F16 | Ty::V2Bf16 | Ty::V2I16 => 16,
        Ty::B64 | Ty::F64 => 64,
        _ => 32,
    }
}

fn encodings(row: &Row, model: &Model, target: Target) -> Vec<Encoding> {
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
    let has_sdwa = target.generation() <= Generation::Gfx10;
    if short && has_sdwa && !shape.has(flag::NO_SDWA) && !model.without.sdwa {
        list.push(Encoding::Sdwa);
    }
    if short && !shape.has(flag::NO_DPP) && row.family != Family::Vopc {
        list.push(Encoding::Dpp);
    }
    list
}

impl Form {
    pub fn random(row: &Row, model: &Model, target: Target, random: &mut Rng) -> Self {
        let shape = &row.shape;
        let choices = encodings(row, model, target);
        let encoding = choices[random.usize(..choices.len())];
        let sources = shape.sources();
        let mut chance = |n: usize| random.usize(..n) == 0;
        let (clamp, signed, modified, halves) = (chance(3), chance(2), chance(3), chance(2));
        let wide = encoding != Encoding::Short;
        let mut form = Self {
            target,
            encoding,
            from: [From::Vector; 3],
            neg: 0,
            abs: 0,
            op_sel: 0,
            op_sel_hi: 0,
            omod: 0,
            clamp: false,
            literal: bit_pattern(random, 32) as u32,
            select: [0; 2].map(|_| random.u32(..7)),
            extend: [0; 2].map(|_| random.bool()),
            place: random.u32(..7),
            unused: random.u32(..3),
            scalar_destination: row.family == Family::Vopc && shape.sdst != Ty::No && random.bool(),
            control: 0,
            rows: random.u32(..) & 15,
            banks: random.u32(..) & 15,
            bound: random.bool(),
            fetches: target.is_rdna() && random.bool(),
        };
        if random.bool() {
            (form.rows, form.banks) = (15, 15);
        }
        if shape.src[..sources.min(2)].iter().any(|ty| width(*ty) == 64) || model.res == Res::F64 {
            form.control = 0x150 + random.u32(..16);
        } else {
            form.control = match random.usize(..8) {
                0 => 0x101 + random.u32(..15),
                1 => 0x111 + random.u32(..15),
                2 => 0x121 + random.u32(..15),
                3 if target.is_rdna() => 0x160 + random.u32(..16),
                3 => [0x130, 0x134, 0x138, 0x13c][random.usize(..4)],
                4 => 0x140 + random.u32(..if target.is_rdna() { 2 } else { 4 }),
                5 => 0x150 + random.u32(..16),
                _ => random.u32(..256),
            };
        }
        let vop3b = shape.sdst != Ty::No && row.family != Family::Vopc;
        for n in 0..sources {
            let float = is_float(shape.src[n])
                || shape.src[n] == Ty::Mix
                || encoding == Encoding::Vop3p && is_float(shape.src[0]);
            let reach = encoding != Encoding::Sdwa && encoding != Encoding::Dpp || n < 2;
            // A mask of classes is no float.
            let is_mask = shape.src[n] == Ty::Mask || n == 1 && row.name.contains("_class_");
            if signed && wide && float && reach && !model.without.signs && !is_mask {
                form.neg |= random.u32(..2) << n;
                if !vop3b || encoding == Encoding::Sdwa || encoding == Encoding::Dpp {
                    form.abs |= random.u32(..2) << n;
                }
            }
        }
        if encoding == Encoding::Vop3p {
            let mask = (1 << sources) - 1;
            form.op_sel_hi = 7;
            let halved = shape.src[0] != Ty::B32;
            if halved && halves {
                form.op_sel = random.u32(..) & mask;
                form.op_sel_hi = random.u32(..) & mask | 7 & !mask;
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
        form.clamp = clamp && clampable && !model.without.clamp;
        let scaled = matches!(encoding, Encoding::E64 | Encoding::Sdwa)
            && shape.has(flag::OMOD)
            && !model.without.omod;
        // In SDWA only results that are floats take the modifier.
        if modified
            && scaled
            && (encoding == Encoding::E64 || is_float(shape.dst))
            && row.family != Family::Vopc
        {
            form.omod = random.u32(..4);
        }
        let has_halves = match target.generation() {
            Generation::Gfx9 | Generation::Gfx10 => encoding == Encoding::E64 && shape.has(flag::OP_SEL),
            _ => matches!(encoding, Encoding::E64 | Encoding::Short | Encoding::Dpp),
        };
        if has_halves && halves && !model.without.op_sel {
            for (n, ty) in shape.src.iter().enumerate().take(sources) {
                if is_half(*ty) {
                    form.op_sel |= random.u32(..2) << n;
                }
            }
            if matches!(model.res, Res::B16 | Res::F16) {
                form.op_sel |= random.u32(..2) << 3;
            }
        }
        if shape.has(flag::BITOP3) {
            (form.neg, form.abs, form.omod) = (random.u32(..8), random.u32(..8), random.u32(..4));
        }
        form.pick_sources(row, random);
        if target.is_rdna() && encoding != Encoding::Vop3p {
            // Only registers have halves.
            for n in (0..3).filter(|n| !matches!(form.from[*n], From::Vector | From::Scalar)) {
                form.op_sel &= !(1 << n);
            }
            if encoding == Encoding::Short && form.from[0] == From::Scalar {
                form.op_sel &= !1;
            }
        }
        form
    }

    /// At most one source that is no register of the lane.
    fn pick_sources(&mut self, row: &Row, random: &mut Rng) {
        let shape = &row.shape;
        let constants = shape.has(flag::MADMK | flag::MADAK);
        let n = match self.encoding {
            Encoding::Short => 0,
            Encoding::Sdwa => random.usize(..shape.sources().min(2)),
            Encoding::Dpp => return,
            _ => random.usize(..shape.sources()),
        };
        let ty = shape.src[n];
        if matches!(ty, Ty::Mask | Ty::V32 | Ty::A32 | Ty::S32 | Ty::B128) {
            return;
        }
        // RDNA has literals in the 64-bit encodings, too.
        let long = self.target.is_rdna()
            && matches!(self.encoding, Encoding::E64 | Encoding::Vop3p)
            && ty != Ty::Mix;
        let literal = (self.encoding == Encoding::Short || long) && !constants && ty != Ty::B64;
        let paired = matches!(ty, Ty::V2F32 | Ty::V2B32);
        self.from[n] = match random.usize(..8) {
            0 => From::Scalar,
            1 | 2 if self.encoding != Encoding::Sdwa && !paired => {
                let float = is_float(ty) || ty == Ty::B32;
                let codes = if float { 90 } else { 81 };
                let code = random.usize(..codes) as u32;
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

    pub fn words(&self, row: &Row) -> [u32; 3] {
        let shape = &row.shape;
        let opcode = u32::from(row.opcode_on(self.target));
        let (dst, vopc) = (DST as u32, row.family == Family::Vopc);
        // In the short encodings the highest bit of a register's field chooses its half.
        let half = |n: u32| if self.encoding == Encoding::E64 { 0 } else { (self.op_sel >> n & 1) << 7 };
        let (second, short_dst) = (SOURCES[1] as u32 | half(1), dst | half(3));
        let is_rdna = self.target.is_rdna();
        let short = |src0: u32| match row.family {
            Family::Vop1 => 0x7e00_0000 | short_dst << 17 | opcode << 9 | src0,
            Family::Vop2 => opcode << 25 | short_dst << 17 | second << 9 | src0,
            _ => 0x7c00_0000 | opcode << 17 | second << 9 | src0,
        };
        let bit = |x: bool, n: u32| u32::from(x) << n;
        match self.encoding {
            Encoding::Short => [short(self.code(0) | half(0)), self.literal, 0],
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
                [word0, word1, 0]
            }
            Encoding::Dpp => {
                let signs = self.neg & 1 | (self.abs & 1) << 1 | (self.neg & 2) << 1 | (self.abs & 2) << 2;
                let word1 = SOURCES[0] as u32
                    | half(0)
                    | self.control << 8
                    | bit(self.fetches, 18)
                    | bit(self.bound, 19)
                    | signs << 20
                    | self.banks << 24
                    | self.rows << 28;
                [short(250), word1, 0]
            }
            Encoding::E64 => {
                let opcode = opcode
                    + match row.family {
                        Family::Vop1 if is_rdna => 0x180,
                        Family::Vop1 => 0x140,
                        Family::Vop2 => 0x100,
                        _ => 0,
                    };
                let vop3b = !vopc && shape.sdst != Ty::No;
                let high = if vop3b { (SDST as u32) << 8 } else { self.op_sel << 11 | self.abs << 8 };
                let dst = match shape.sdst {
                    Ty::No if vopc => EXEC as u32,
                    _ if vopc => SDST as u32,
                    _ => dst,
                };
                [
                    if is_rdna { 0xd400_0000 } else { 0xd000_0000 }
                        | opcode << 16
                        | bit(self.clamp, 15)
                        | high
                        | dst,
                    self.operands(shape) | self.omod << 27,
                    self.literal,
                ]
            }
            Encoding::Vop3p => [
                if is_rdna { 0xcc00_0000 } else { 0xd380_0000 }
                    | opcode << 16
                    | bit(self.clamp, 15)
                    | (self.op_sel_hi >> 2) << 14
                    | self.op_sel << 11
                    | self.abs << 8
                    | dst,
                self.operands(shape) | (self.op_sel_hi & 3) << 27,
                self.literal,
            ],
        }
    }

    fn operands(&self, shape: &Shape) -> u32 {
        let mut word = self.neg << 29;
        for n in 0..shape.sources() {
            let code = if shape.src[n] == Ty::Mask { CARRY as u32 } else { self.code(n) };
            word |= code << (9 * n);
        }
        word
    }

    /// Size of the instruction in words.
    pub fn size(&self, row: &Row) -> usize {
        let literal = self.from.contains(&From::Literal) || row.shape.has(flag::MADMK | flag::MADAK);
        let words = if self.encoding == Encoding::Short { 1 } else { 2 };
        words + usize::from(literal)
    }

    /// The lane that `lane` reads under DPP (MI200 ISA and RDNA 3 ISA, DPP_CTRL).
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
            0x160..0x170 => Some(row + (i ^ n)),
            _ => Some(row + n),
        }
    }

    /// Whether DPP writes the lane, and the lane that source 0 comes from, which lives or may be dead.
    pub fn dpp(&self, lane: usize, exec: u64) -> (bool, Option<usize>) {
        let source = self.dpp_lane(lane).filter(|source| self.fetches || exec >> source & 1 != 0);
        let masked = self.rows >> (lane / 16) & 1 != 0 && self.banks >> (lane % 16 / 4) & 1 != 0;
        (masked && (source.is_some() || self.bound), source)
    }

    /// The bits of an inline constant or literal read as `ty` (MI200 ISA, table 14).
    pub fn constant(&self, code: u32, ty: Ty) -> u64 {
        let floats = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
        match code {
            128..=192 => u64::from(code - 128),
            193..=208 => (192i64 - i64::from(code)) as u64,
            248 => match ty {
                Ty::F16 | Ty::V2F16 => 0x3118,
                Ty::Bf16 | Ty::V2Bf16 => 0x3e22,
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
                    Ty::Bf16 | Ty::V2Bf16 => u64::from((x as f32).to_bits() >> 16),
                    Ty::F64 | Ty::B64 => x.to_bits(),
                    _ => (x as f32).to_bits().into(),
                }
            }
        }
    }

    /// The two 16-bit or 32-bit parts of a packed source for one half of the result, or the whole source.
    pub fn select_packed(&self, n: usize, ty: Ty, value: u64, high: bool) -> u64 {
        let select = if high { self.op_sel_hi } else { self.op_sel } >> n & 1;
        let negate = if high { self.abs } else { self.neg } >> n & 1;
        match ty {
            Ty::V2F16 | Ty::V2Bf16 => value >> (16 * select) & 0xffff ^ u64::from(negate) << 15,
            Ty::V2I16 => value >> (16 * select) & 0xffff,
            Ty::V2F32 => value >> (32 * select) & 0xffff_ffff ^ u64::from(negate) << 31,
            _ => value,
        }
    }
}
