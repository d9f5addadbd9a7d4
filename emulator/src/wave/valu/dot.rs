//! Dot products of small vectors packed into a register, with 32-bit accumulation.
#![allow(clippy::needless_range_loop, reason = "lanes are numbers, which index several arrays at once")]

use std::mem::MaybeUninit;

use super::{
    half::{Bf16, F16},
    lane::Kind,
    mode::Operand,
    result::{clamps, store},
    source::{accumulator, plain, prepared, raw},
};
use crate::{
    isa::{
        Family, Flow, Inst, Operand as Register,
        inst::{Mods, Variant},
    },
    wave::{FaultKind, Vector, Wave},
};

/// Element `n` of `bits` bits, sign-extended.
fn signed(word: u32, n: u32, bits: u32) -> i64 {
    i64::from(((word << (32 - bits * (n + 1))) as i32) >> (32 - bits))
}

fn unsigned(word: u32, n: u32, bits: u32) -> u64 {
    u64::from(word << (32 - bits * (n + 1)) >> (32 - bits))
}

/// Sources 0 and 1 with the halves that op_sel and op_sel_hi pick (VOP3P), and the addend: source 2, or the
/// destination in the VOP2 forms. Elements of 16 bits come in halves; `kind` says how a constant reads.
pub(super) fn operands(wave: &Wave, inst: &Inst, kind: Kind, halves: bool) -> [[u32; 64]; 3] {
    let mut rooms = [const { MaybeUninit::uninit() }; 3];
    let [room0, room1, room2] = &mut rooms;
    let mut a = if matches!(inst.variant, Variant::Dpp | Variant::Dpp8) {
        prepared(wave, inst, 0, Kind::B32).0
    } else {
        raw(wave, inst, inst.src[0], kind, room0)[0].0
    };
    let mut b = raw(wave, inst, inst.src[1], kind, room1)[0].0;
    if halves && inst.row.family == Family::Vop3p {
        let Mods { op_sel, op_sel_hi, .. } = inst.mods;
        for (n, row) in [&mut a, &mut b].into_iter().enumerate() {
            let shift = |select: u8| u32::from(select >> n & 1) * 16;
            *row = row.map(|word| word >> shift(op_sel) & 0xffff | (word >> shift(op_sel_hi)) << 16);
        }
    }
    let c = if inst.src[2] == Register::NONE {
        accumulator::<u32>(wave, inst)[0].0
    } else {
        raw(wave, inst, inst.src[2], Kind::B32, room2)[0].0
    };
    [a, b, c]
}

fn dot(wave: &mut Wave, inst: &Inst, bits: u32, f: impl Fn(u32, u32, u32) -> u32) -> Flow {
    let [a, b, c] = operands(wave, inst, Kind::B32, bits == 16);
    let mut value = [0; 64];
    for lane in 0..wave.lanes() {
        value[lane] = f(a[lane], b[lane], c[lane]);
    }
    store::<u32>(wave, inst, plain(inst), &[Vector(value)]);
    Flow::Next
}

fn dot_signed(wave: &mut Wave, inst: &Inst, count: u32, bits: u32) -> Flow {
    let clamp = clamps(inst);
    dot(wave, inst, bits, |a, b, c| {
        let sum: i64 = (0..count).map(|n| signed(a, n, bits) * signed(b, n, bits)).sum();
        let total = sum + i64::from(c as i32);
        let saturated = total.clamp(i32::MIN.into(), i32::MAX.into());
        (if clamp { saturated } else { total }) as u32
    })
}

fn dot_unsigned(wave: &mut Wave, inst: &Inst, count: u32, bits: u32) -> Flow {
    let clamp = clamps(inst);
    dot(wave, inst, bits, |a, b, c| {
        let sum: u64 = (0..count).map(|n| unsigned(a, n, bits) * unsigned(b, n, bits)).sum();
        let total = sum + u64::from(c);
        (if clamp { total.min(u32::MAX.into()) } else { total }) as u32
    })
}

macro_rules! dots {
    ($($name:ident: $dot:ident, $count:literal, $bits:literal;)*) => {$(
        pub(crate) fn $name(wave: &mut Wave, inst: &Inst) -> Flow {
            $dot(wave, inst, $count, $bits)
        }
    )*};
}

dots! {
    v_dot2_i32_i16: dot_signed, 2, 16;
    v_dot2_u32_u16: dot_unsigned, 2, 16;
    v_dot4_i32_i8: dot_signed, 4, 8;
    v_dot4_u32_u8: dot_unsigned, 4, 8;
    v_dot8_i32_i4: dot_signed, 8, 4;
    v_dot8_u32_u4: dot_unsigned, 8, 4;
    v_dot2c_i32_i16: dot_signed, 2, 16;
    v_dot4c_i32_i8: dot_signed, 4, 8;
    v_dot8c_i32_i4: dot_signed, 8, 4;
}

/// The sum of two products of 16-bit floats and a single, each sum rounded to nearest even whatever MODE says.
///
/// Denormal singles are flushed, and denormal halves are not (LLVM, FDOT2). The upper half of a single is taken to be
/// flushed as singles are, of which the manual says nothing.
#[inline(always)]
fn dot2_f32<const ADDEND_LAST: bool>(
    wave: &mut Wave,
    inst: &Inst,
    kind: Kind,
    single: impl Fn(u16) -> f32,
) -> Flow {
    let Mods { neg, abs, .. } = inst.mods;
    let packed = inst.row.family == Family::Vop3p;
    // No document says what the VOP2 forms negate, nor what neg_hi does to the single.
    let undefined = if packed { abs & 4 } else { neg | abs };
    if undefined != 0 {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    }
    let [a, b, c] = operands(wave, inst, kind, true);
    let half = |word: u32, n: usize, high: bool| {
        let (shift, signs) = if high { (16, abs) } else { (0, neg) };
        single((word >> shift) as u16 ^ u16::from(signs >> n & 1) << 15)
    };
    let sum = |a: f32, b: f32| (a.flush() + b.flush()).flush();
    let mut value = [0; 64];
    for lane in 0..wave.lanes() {
        let addend = f32::from_bits(c[lane] ^ u32::from(neg >> 2 & 1) << 31);
        let [low, high] = [false, true].map(|high| half(a[lane], 0, high) * half(b[lane], 1, high));
        let total = if ADDEND_LAST { sum(sum(low, high), addend) } else { sum(sum(addend, low), high) };
        value[lane] = total.to_bits();
    }
    store::<f32>(wave, inst, plain(inst), &[Vector(value)]);
    Flow::Next
}

pub(crate) fn dot2_f32_f16(wave: &mut Wave, inst: &Inst) -> Flow {
    dot2_f32::<false>(wave, inst, Kind::F16, |bits| F16(bits).to_f32())
}

/// The pseudocode adds the single last.
pub(crate) fn v_dot2_f32_bf16(wave: &mut Wave, inst: &Inst) -> Flow {
    dot2_f32::<true>(wave, inst, Kind::Bf16, |bits| Bf16(bits).to_f32().flush())
}

pub(crate) fn v_dot2c_f32_bf16(wave: &mut Wave, inst: &Inst) -> Flow {
    dot2_f32::<false>(wave, inst, Kind::Bf16, |bits| Bf16(bits).to_f32().flush())
}
