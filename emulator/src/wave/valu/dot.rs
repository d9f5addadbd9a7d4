//! Dot products of small vectors packed into a register, with 32-bit accumulation.

use std::mem::MaybeUninit;

use super::{
    half::F16,
    mode::Operand,
    result::{clamps, store},
    source::{accumulator, raw},
};
use crate::{
    isa::{Flow, Inst, Operand as Register, inst::Variant},
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
/// destination in the VOP2 forms.
fn operands(wave: &Wave, inst: &Inst) -> [[u32; 64]; 3] {
    let mut rooms = [const { MaybeUninit::uninit() }; 3];
    let [room0, room1, room2] = &mut rooms;
    let kind = super::lane::Kind::B32;
    let a = raw(wave, inst, inst.src[0], kind, room0)[0].0;
    let b = raw(wave, inst, inst.src[1], kind, room1)[0].0;
    let c = if inst.src[2] == Register::NONE {
        accumulator::<u32>(wave, inst)[0].0
    } else {
        raw(wave, inst, inst.src[2], kind, room2)[0].0
    };
    [a, b, c]
}

/// Whether the encoding asks for something that no document defines for this instruction.
fn unusual(inst: &Inst) -> bool {
    let packed = inst.row.family == crate::isa::Family::Vop3p;
    let select = if packed { inst.mods.op_sel != 0 || inst.mods.op_sel_hi & 3 != 3 } else { false };
    select || matches!(inst.variant, Variant::Sdwa | Variant::Dpp) || inst.mods.omod != 0
}

fn dot(wave: &mut Wave, inst: &Inst, f: impl Fn(u32, u32, u32) -> u32) -> Flow {
    if unusual(inst) {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    }
    let [a, b, c] = operands(wave, inst);
    let value = std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]));
    store::<u32>(wave, inst, true, &[Vector(value)]);
    Flow::Next
}

fn dot_signed(wave: &mut Wave, inst: &Inst, count: u32, bits: u32) -> Flow {
    let clamp = clamps(inst);
    dot(wave, inst, |a, b, c| {
        let sum: i64 = (0..count).map(|n| signed(a, n, bits) * signed(b, n, bits)).sum();
        let total = sum + i64::from(c as i32);
        let saturated = total.clamp(i32::MIN.into(), i32::MAX.into());
        (if clamp { saturated } else { total }) as u32
    })
}

fn dot_unsigned(wave: &mut Wave, inst: &Inst, count: u32, bits: u32) -> Flow {
    let clamp = clamps(inst);
    dot(wave, inst, |a, b, c| {
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

/// The sum of two half products and a single, in order, each product exact, each sum rounded to nearest even;
/// denormals are flushed whatever MODE says.
fn dot2_f32_f16(wave: &mut Wave, inst: &Inst) -> Flow {
    if inst.mods.neg | inst.mods.abs != 0 || clamps(inst) {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    }
    dot(wave, inst, |a, b, c| {
        let half = |word: u32, shift: u32| F16((word >> shift) as u16).flush().to_f32();
        let first = f32::from_bits(c).flush() + half(a, 0) * half(b, 0);
        (first.flush() + half(a, 16) * half(b, 16)).flush().to_bits()
    })
}

pub(crate) fn v_dot2_f32_f16(wave: &mut Wave, inst: &Inst) -> Flow {
    dot2_f32_f16(wave, inst)
}

pub(crate) fn v_dot2c_f32_f16(wave: &mut Wave, inst: &Inst) -> Flow {
    dot2_f32_f16(wave, inst)
}
