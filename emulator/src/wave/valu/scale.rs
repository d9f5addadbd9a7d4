//! Conversions between small floats and wider ones, with a power of two by which a block of numbers is scaled (CDNA4 ISA,
//! V_CVT_SCALEF32_*).
//!
//! The exponent field of a single is the scale. Conversions to a small format divide by it and those from one multiply.
//! The manual does not say how MODE acts. It is taken to be as in conversions to fp8: to nearest even always,
//! denormals are kept, and FP16_OVFL is heeded by the formats that have something beyond their numbers.

use std::{array, mem::MaybeUninit};

use super::{
    bits::prng,
    half::{Bf16, F16},
    lane::Kind,
    result::merge,
    rows,
    small::{Brain, Half, Rounding, Small, decode, encode, scaled_up},
    source::{Room, prepared, raw, row_of},
};
use crate::{
    isa::{Flow, Inst, Operand},
    wave::{FaultKind, Vector, Wave},
};

/// A wider format.
pub(crate) trait Wide {
    /// What modifiers and constants of one number are.
    const KIND: Kind;
    /// Numbers in a register.
    const IN_WORD: usize;
    /// The number in the low bits.
    fn get(word: u32) -> f32;
    /// Rounds to nearest even. A finite number that is too large becomes infinity, a half the largest one if `saturate`.
    fn put(x: f32, saturate: bool) -> u32;
}

impl Wide for f32 {
    const KIND: Kind = Kind::F32;
    const IN_WORD: usize = 1;

    #[inline(always)]
    fn get(word: u32) -> f32 {
        Self::from_bits(word)
    }

    #[inline(always)]
    fn put(x: f32, _: bool) -> u32 {
        x.to_bits()
    }
}

impl Wide for Half {
    const KIND: Kind = Kind::F16;
    const IN_WORD: usize = 2;

    #[inline(always)]
    fn get(word: u32) -> f32 {
        F16(word as u16).to_f32()
    }

    #[inline(always)]
    fn put(x: f32, saturate: bool) -> u32 {
        let half = F16::from_f32(x);
        u32::from(if saturate && half.is_infinite() { half.0 - 1 } else { half.0 })
    }
}

impl Wide for Brain {
    const KIND: Kind = Kind::Bf16;
    const IN_WORD: usize = 2;

    #[inline(always)]
    fn get(word: u32) -> f32 {
        Bf16(word as u16).to_f32()
    }

    #[inline(always)]
    fn put(x: f32, _: bool) -> u32 {
        Bf16::from_f32(x).0.into()
    }
}

/// A conversion of a row of numbers, `shift` bits up in their registers; the third row has random numbers.
type Step = fn(&mut Vector, [&Vector; 3], u32, bool);

/// What the lane loops do not need to know as types.
struct Shape {
    /// Numbers.
    count: usize,
    /// Bits of a code.
    width: usize,
    /// Wider numbers in a register, and their kind.
    in_word: usize,
    kind: Kind,
    is_random: bool,
    step: Step,
}

impl Shape {
    fn of<F: Small, E: Wide>(count: usize, is_random: bool, step: Step) -> Self {
        let width = (1 + F::EXPONENT + F::FRACTION) as usize;
        Self { count, width, in_word: E::IN_WORD, kind: E::KIND, is_random, step }
    }

    /// Bits of all codes.
    fn bits(&self) -> usize {
        self.count * self.width
    }
}

/// The first bit of a register that op_sel picks for `bits` bits, and the bits of op_sel that pick, which stand from bit `at`
/// on.
fn place(inst: &Inst, bits: usize, at: u8) -> (usize, u8) {
    let select = usize::from(inst.mods.op_sel >> at & 3);
    match bits {
        8 => (8 * select, 3 << at),
        // One bit, the lower one of a source and the upper one of a destination.
        16 if at == 0 => (16 * (select & 1), 1),
        16 => (16 * (select >> 1), 8),
        _ => (0, 0),
    }
}

fn undefined(wave: &mut Wave, inst: &Inst) -> Flow {
    wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name })
}

/// `count` registers as they stand; a scalar only where one register is meant.
fn registers<'a>(
    wave: &'a Wave,
    inst: &Inst,
    op: Operand,
    kind: Kind,
    count: usize,
    room: &'a mut Room,
) -> Option<&'a [Vector]> {
    match row_of(op, count) {
        Some(row) => Some(&wave.vgpr[row..row + count]),
        None => (count == 1).then(|| &*raw(wave, inst, op, kind, room)),
    }
}

/// Writes the live lanes of the registers from the destination on.
fn write(wave: &mut Wave, inst: &Inst, value: &[Vector]) -> Flow {
    let row = inst.dst.row().filter(|row| row % 256 + value.len() <= 256);
    if let Some(row) = row {
        let exec = wave.exec;
        merge(&mut wave.vgpr[row..row + value.len()], value, exec);
    }
    Flow::Next
}

/// Adds words, shifted, to the bits that are there.
fn insert(to: &mut Vector, codes: &Vector, shift: impl Fn(u32) -> u32) {
    for (to, code) in to.0.iter_mut().zip(codes.0) {
        *to |= shift(code);
    }
}

/// `COUNT` numbers to a small format: of two sources by turns, or of one beside which a source is the seed of random
/// numbers if `RANDOM`.
pub(crate) fn narrow<F: Small, E: Wide, const COUNT: usize, const RANDOM: bool>(
    wave: &mut Wave,
    inst: &Inst,
) -> Flow {
    let step: Step = |codes, rows, shift, saturate| {
        rows::zip(codes, rows, move |word, scale, seed| {
            let rounding = if RANDOM { Rounding::Stochastic(seed) } else { Rounding::NearestEven };
            encode::<F>(E::get(word >> shift), scale >> 23 & 0xff, rounding, saturate)
        });
    };
    narrow_in(wave, inst, &Shape::of::<F, E>(COUNT, RANDOM, step))
}

fn narrow_in(wave: &mut Wave, inst: &Inst, shape: &Shape) -> Flow {
    let Shape { count, width, in_word, kind, is_random, step } = *shape;
    let operands = inst.row.shape.sources();
    let sources = if is_random { 1 } else { operands - 1 };
    let (place, selects) = place(inst, shape.bits(), 2);
    // No document says what signs do to several numbers of a source.
    let is_signed = (inst.mods.neg | inst.mods.abs) & ((1 << sources) - 1) != 0;
    if inst.mods.op_sel & !selects != 0 || is_signed && count > sources {
        return undefined(wave, inst);
    }
    let saturate = wave.mode.fp16_overflow();
    let mut out = [Vector([0; 64]); 6];
    {
        let mut rooms: [Room; 4] = [const { MaybeUninit::uninit() }; 4];
        let [room0, room1, room2, room3] = &mut rooms;
        // A number alone has the modifiers of its kind.
        let alone: [Vector; 2] = array::from_fn(|n| {
            if count == sources && n < sources { prepared(wave, inst, n, kind) } else { Vector([0; 64]) }
        });
        let mut numbers = [&alone[..1], &alone[1..]];
        if count > sources {
            for (n, room) in [room0, room1].into_iter().take(sources).enumerate() {
                let rows = count / sources / in_word;
                let Some(found) = registers(wave, inst, inst.src[n], kind, rows, room) else {
                    return undefined(wave, inst);
                };
                numbers[n] = found;
            }
        }
        let exponents = &raw(wave, inst, inst.src[operands - 1], Kind::B32, room2)[0];
        let mut seeds =
            if is_random { raw(wave, inst, inst.src[1], Kind::B32, room3)[0] } else { *exponents };
        let mut codes = Vector([0; 64]);
        for n in 0..count {
            let (source, n_of_source) = (n % sources, n / sources);
            let words = &numbers[source][n_of_source / in_word];
            // CAST: 0 or 16.
            let shift = (n_of_source % in_word * 16) as u32;
            step(&mut codes, [words, exponents, &seeds], shift, saturate);
            let at = place + n * width;
            // CAST: less than 32.
            let low = (at % 32) as u32;
            insert(&mut out[at / 32], &codes, |code| code << low);
            if at % 32 + width > 32 {
                insert(&mut out[at / 32 + 1], &codes, |code| code >> (32 - low));
            }
            if is_random {
                seeds.0 = seeds.0.map(prng);
            }
        }
    }
    match shape.bits() {
        bits @ (8 | 16) => {
            keep(wave, inst, &mut out[0], !(((1 << bits) - 1) << place));
            write(wave, inst, &out[..1])
        }
        bits => write(wave, inst, &out[..bits / 32]),
    }
}

/// Adds the bits of `mask` of the old destination.
fn keep(wave: &Wave, inst: &Inst, value: &mut Vector, mask: u32) {
    if let Some(row) = row_of(inst.dst, 1) {
        insert(value, &wave.vgpr[row], |old| old & mask);
    }
}

/// `COUNT` numbers of a small format to a wider one.
pub(crate) fn widen<F: Small, E: Wide, const COUNT: usize>(wave: &mut Wave, inst: &Inst) -> Flow {
    // The rows are the register where a code begins, the next one, and the scales.
    let step: Step = |values, rows, shift, saturate| {
        rows::zip(values, rows, move |low, high, scale| {
            // Bits above the code do not count.
            let code = (u64::from(high) << 32 | u64::from(low)) >> shift;
            let value = decode::<F>(code as u32);
            E::put(scaled_up(value, scale >> 23 & 0xff), saturate && value.is_finite())
        });
    };
    widen_in(wave, inst, &Shape::of::<F, E>(COUNT, false, step))
}

fn widen_in(wave: &mut Wave, inst: &Inst, shape: &Shape) -> Flow {
    let Shape { count, width, in_word, step, .. } = *shape;
    let (from, selects) = place(inst, shape.bits(), 0);
    // A number of half a register goes into the half that op_sel names; the other one stays.
    let is_half = count < in_word;
    let is_high = is_half && inst.mods.op_sel & 8 != 0;
    let undefined_bits = !selects & if is_half { 7 } else { 15 };
    if inst.mods.op_sel & undefined_bits != 0 {
        return undefined(wave, inst);
    }
    let saturate = wave.mode.fp16_overflow();
    let mut out = [Vector([0; 64]); 32];
    {
        let mut rooms: [Room; 2] = [const { MaybeUninit::uninit() }; 2];
        let [room0, room1] = &mut rooms;
        let rows = shape.bits().div_ceil(32);
        let Some(codes) = registers(wave, inst, inst.src[0], Kind::B32, rows, room0) else {
            return undefined(wave, inst);
        };
        let exponents = &raw(wave, inst, inst.src[1], Kind::B32, room1)[0];
        let mut values = Vector([0; 64]);
        for n in 0..count {
            let at = from + n * width;
            let (low, high) = (&codes[at / 32], &codes[(at / 32 + 1).min(rows - 1)]);
            // CAST: less than 32.
            step(&mut values, [low, high, exponents], (at % 32) as u32, saturate);
            let shift = if is_high || n % in_word != 0 { 16 } else { 0 };
            insert(&mut out[n / in_word], &values, |value| value << shift);
        }
    }
    if is_half {
        keep(wave, inst, &mut out[0], if is_high { 0xffff } else { 0xffff_0000 });
    }
    write(wave, inst, &out[..count.div_ceil(in_word)])
}
