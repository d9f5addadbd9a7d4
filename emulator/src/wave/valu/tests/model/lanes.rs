//! Runs a row in a random form and compares all lanes with its model.

use fastrand::Rng;

use super::{
    super::{Lab, bit_pattern, random_lanes},
    Ctx, Model, Modes, Out, Res, Want,
    form::{self, CARRY, DST, Encoding, Form, From, SCALAR, SDST, SOURCES, VCC, grain, is_float, width},
};
use crate::{
    isa::{Flow, Generation, Row, Target, Ty, decode},
    wave::Mode,
};

/// The state before an instruction, and what it reads.
struct Setup {
    lab: Lab,
    lanes: u32,
    modes: Modes,
    /// Per lane and source: the register's bits.
    values: Vec<[u64; 3]>,
    wide: Vec<u128>,
    scalar: u64,
    old: Vec<u128>,
    exec: u64,
    carry: u64,
    vcc: u64,
    /// The registers of a scalar result.
    sdst: u64,
}

impl Setup {
    fn random(row: &Row, target: Target, random: &mut Rng) -> Self {
        let mut lab = Lab::on(target);
        let lanes = random_lanes(random);
        lab.set_lanes(lanes);
        let mut modes = Modes::random(random);
        if target.generation() == Generation::Gfx12 {
            (modes.ieee, modes.dx10) = (false, true);
        }
        lab.wave.mode = Mode::of(target, modes.bits());
        let pattern = |random: &mut Rng, ty: Ty| -> u64 {
            let grain = grain(ty);
            let pattern = |random: &mut Rng| match ty {
                // The upper halves of singles.
                Ty::Bf16 | Ty::V2Bf16 => bit_pattern(random, 32) >> 16,
                _ => bit_pattern(random, grain),
            };
            (0..64 / grain).fold(0, |bits, n| bits | pattern(random) << (grain * n))
        };
        let mut values = Vec::new();
        let (mut old, mut wide) = (Vec::new(), Vec::new());
        for lane in 0..64 {
            let mut v: [u64; 3] = std::array::from_fn(|n| pattern(random, row.shape.src[n]));
            if random.usize(..3) == 0 {
                // Equal sources, and ones that differ in the sign.
                let (n, m) = (random.usize(..3), random.usize(..3));
                v[n] = v[m] ^ if random.bool() { 0x8000_0000_8000_8000 } else { 0 };
            }
            let top = random.u64(..);
            for (n, value) in v.into_iter().enumerate() {
                lab.set(SOURCES[n], lane, value);
            }
            lab.set(SOURCES[2] + 2, lane, top);
            wide.push(u128::from(v[2]) | u128::from(top) << 64);
            let before = [pattern(random, row.shape.dst), random.u64(..)];
            lab.set(DST, lane, before[0]);
            lab.set(DST + 2, lane, before[1]);
            old.push(u128::from(before[0]) | u128::from(before[1]) << 64);
            values.push(v);
        }
        let scalar = pattern(random, row.shape.src[0]);
        let (carry, vcc, sdst) = (random.u64(..), random.u64(..), random.u64(..));
        lab.set_mask(SCALAR, scalar);
        lab.set_mask(CARRY, carry);
        lab.set_mask(VCC, vcc);
        lab.set_mask(SDST, sdst);
        let exec = if random.usize(..3) == 0 { u64::MAX } else { random.u64(..) | random.u64(..) };
        let exec = exec & u64::MAX >> (64 - lanes);
        lab.wave.exec = exec;
        Self { lab, lanes, modes, values, wide, scalar, old, exec, carry, vcc, sdst }
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
            let (shift, size) = selected(form.select[n]);
            let part = raw as u32 >> shift & (u32::MAX >> (32 - size));
            let extended = if form.extend[n] && !is_float(ty) && part >> (size - 1) & 1 != 0 {
                part | !(u32::MAX >> (32 - size))
            } else {
                part
            };
            u64::from(extended)
        }
        Encoding::E64 | Encoding::Short | Encoding::Dpp if form::is_half(ty) && form.op_sel >> n & 1 != 0 => {
            raw >> 16
        }
        _ => raw,
    };
    let all = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let mut value = selected & all;
    if form.encoding != Encoding::Vop3p && is_float(ty) && !matches!(ty, Ty::V2F16 | Ty::V2Bf16) {
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
                let (sign, quiet) = (1u128 << (width - 1), 1u128 << (fraction - 1));
                got & (sign - 1) > (sign - 1) >> fraction << fraction && got & quiet != 0
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
    let part = |at: u32, width: u32| (u128::MAX >> (128 - width)) << at;
    if form.encoding == Encoding::Sdwa {
        let (at, size) = selected(form.place);
        return placed(setup, form, res, field(got, at, size), wants[0], size)
            && field(got, 0, 32) & !part(at, size) == unused(form, old, got)
            && got >> 32 == old >> 32;
    }
    // What no part of the result fills stays, but for the high half above a result of 16 bits on GFX9.
    let mut kept = u128::MAX;
    let mut zero = 0;
    for ((at, width), want) in parts(res).iter().zip(wants) {
        let high = form.op_sel & 8 != 0 && is_half(res);
        let at = if high { 16 } else { *at };
        if is_half(res) && !high && !form.target.is_rdna() {
            zero = part(16, 16);
        }
        kept &= !part(at, *width) & !zero;
        if !accepts(&setup.modes, form, res, *want, field(got, at, *width)) {
            return false;
        }
    }
    got & kept == old & kept && got & zero == 0
}

/// Whether the result is of 16 bits that stand alone.
fn is_half(res: Res) -> bool {
    matches!(res, Res::B16 | Res::F16)
}

/// Start and size of the part of a register that an SDWA select names.
fn selected(select: u32) -> (u32, u32) {
    match select {
        0..4 => (8 * select, 8),
        4 => (0, 16),
        5 => (16, 16),
        _ => (0, 32),
    }
}

/// Whether the low `size` bits of the result are what SDWA has placed.
fn placed(setup: &Setup, form: &Form, res: Res, got: u128, want: Want, size: u32) -> bool {
    let whole = parts(res).first().is_some_and(|(_, width)| size >= *width);
    match want {
        Want::Bits(bits) => got == field(modified(&setup.modes, form, res, bits), 0, size),
        // The bits that decide may not be among those that are placed.
        want => !whole || accepts(&setup.modes, form, res, want, got),
    }
}

/// The part of the destination that SDWA does not place anything into.
fn unused(form: &Form, old: u128, got: u128) -> u128 {
    let (at, size) = selected(form.place);
    let around = !((u128::MAX >> (128 - size)) << at) & 0xffff_ffff;
    match form.unused {
        1 if got >> (at + size - 1) & 1 != 0 => around >> at << at,
        0 | 1 => 0,
        _ => old & around,
    }
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
        omod: form.omod,
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
                    (false, Encoding::Vop3p) if matches!(ty, Ty::V2F16 | Ty::V2Bf16 | Ty::V2I16) => {
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
    let mut random = Rng::with_seed(row.name.bytes().fold(7, |h: u64, b| h.wrapping_mul(31) + u64::from(b)));
    let targets: Vec<Target> = Target::SETS.into_iter().filter(|target| row.targets.has(*target)).collect();
    for round in 0..rounds {
        let target = targets[round as usize % targets.len()];
        let form = Form::random(row, model, target, &mut random);
        let mut setup = Setup::random(row, target, &mut random);
        let words = form.words(row);
        let words = &words[..form.size(row)];
        let inst = decode(target, words).map_err(|e| format!("{}: {e:?} {words:08x?} {form:?}", row.name))?;
        assert!(std::ptr::eq(inst.row, row), "{} decodes as {}", row.name, inst.row.name);
        if setup.lab.step(&inst) != Flow::Next {
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
    if setup.lanes == 32 && sdst >> 32 != (if named { setup.sdst } else { setup.vcc }) >> 32 {
        return Err("the register behind a mask of 32 lanes is written".into());
    }
    let sdst = sdst & u64::MAX >> (64 - setup.lanes);
    let mut bits = 0;
    for lane in 0..setup.lanes as usize {
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
        bits |= u64::from(bit) << lane;
    }
    let after = if row.compares_into_exec() { bits } else { setup.exec };
    if setup.lab.wave.exec != after {
        return Err("EXEC is wrong".into());
    }
    Ok(())
}
