//! Vector instructions that came with RDNA.

use super::{
    dot::operands,
    float::{Ordered, max, maximum3, min, minimum3, select2, select3},
    half::{Bf16, F16},
    kernel::Each,
    lane::{Kind, Lane},
    map::{instructions, lanes, rare, run},
    modal::{accumulating, floats},
    mode::{Operand as _, Precision},
    result::{merge, store},
    small::{self, E4m3, E5m2, Small},
    soft::{self, Env},
    source::prepared,
};
use crate::{
    isa::{Flow, Inst, Operand},
    wave::{FaultKind, Vector, Wave},
};

accumulating! {
    F16: v_fmac_f16(a: F16, b: F16, c: F16) { a.fma(b, c) }, exact |e| { soft::fma(e, a, b, c) };
    f32: v_fmac_dx9_zero_f32(a: f32, b: f32, c: f32) { fma_dx9(a, b, c) },
        exact |e| { fma_dx9_in(e, a, b, c) };
}

floats! {
    once;
    f32: v_fma_dx9_zero_f32(a: f32, b: f32, c: f32) -> f32 { fma_dx9(a, b, c) },
        exact |e| { fma_dx9_in(e, a, b, c) };
    f32: v_mullit_f32(a: f32, b: f32, c: f32) -> f32 { if is_unlit(b, c) { f32::MIN } else { a * b } },
        exact |e| { if is_unlit(b, c.flush_if(e.flush_in)) { f32::MIN } else { soft::mul(e, a, b) } };
}

/// Zero times anything is +0 (DX9), to which the addend is still added, as LLVM folds it.
#[inline(always)]
fn fma_dx9(a: f32, b: f32, c: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 + c } else { a.mul_add(b, c) }
}

/// [`fma_dx9`] as MODE says.
fn fma_dx9_in(env: Env, a: f32, b: f32, c: f32) -> f32 {
    let is_zero = |x: f32| x.flush_if(env.flush_in) == 0.0;
    if is_zero(a) || is_zero(b) { soft::add(env, 0.0, c) } else { soft::fma(env, a, b, c) }
}

#[inline(always)]
fn is_unlit(b: f32, c: f32) -> bool {
    b == f32::MIN || b == f32::NEG_INFINITY || b.is_nan() || c <= 0.0 || c.is_nan()
}

instructions! {
    // d = s0 * K + s1.
    pub(crate) fn v_fmamk_f16(wave, inst) {
        let (env, k) = (F16::env(wave.mode), F16(inst.literal as u16));
        rare::map2(wave, inst, |a: F16, b: F16| soft::fma(env, a, k, b))
    }
    // d = s0 * s1 + K.
    pub(crate) fn v_fmaak_f16(wave, inst) {
        let (env, k) = (F16::env(wave.mode), F16(inst.literal as u16));
        rare::map2(wave, inst, |a: F16, b: F16| soft::fma(env, a, b, k))
    }
}

fn maxmin<T: Ordered>(ieee: bool, a: T, b: T, c: T) -> T {
    min(ieee, max(ieee, a, b), c)
}

fn minmax<T: Ordered>(ieee: bool, a: T, b: T, c: T) -> T {
    max(ieee, min(ieee, a, b), c)
}

/// The smaller one, or a NaN (IEEE 754-2019, minimum).
fn minimum<T: Ordered>(_: bool, a: T, b: T) -> T {
    minimum3(false, a, b, b)
}

fn maximum<T: Ordered>(_: bool, a: T, b: T) -> T {
    maximum3(false, a, b, b)
}

fn minimummaximum<T: Ordered>(_: bool, a: T, b: T, c: T) -> T {
    maximum(false, minimum(false, a, b), c)
}

fn maximumminimum<T: Ordered>(_: bool, a: T, b: T, c: T) -> T {
    minimum(false, maximum(false, a, b), c)
}

macro_rules! selections {
    ($($name:ident: $map:ident, $ty:ty, $f:expr;)*) => {
        instructions! {$(
            pub(crate) fn $name(wave, inst) {
                $map::<$ty>(wave, inst, $f)
            }
        )*}
    };
}

selections! {
    v_maxmin_f32: select3, f32, maxmin;
    v_minmax_f32: select3, f32, minmax;
    v_maxmin_f16: select3, F16, maxmin;
    v_minmax_f16: select3, F16, minmax;
    v_minimum_f64: select2, f64, minimum;
    v_maximum_f64: select2, f64, maximum;
    v_minimum_f32: select2, f32, minimum;
    v_maximum_f32: select2, f32, maximum;
    v_minimum_f16: select2, F16, minimum;
    v_maximum_f16: select2, F16, maximum;
    v_minimum3_f16: select3, F16, minimum3;
    v_maximum3_f16: select3, F16, maximum3;
    v_minimummaximum_f32: select3, f32, minimummaximum;
    v_maximumminimum_f32: select3, f32, maximumminimum;
    v_minimummaximum_f16: select3, F16, minimummaximum;
    v_maximumminimum_f16: select3, F16, maximumminimum;
}

/// Two halves of 16 bits.
fn pack(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

lanes! {
    v_xor3_b32(a: u32, b: u32, c: u32) -> u32 { a ^ b ^ c };
    v_maxmin_u32(a: u32, b: u32, c: u32) -> u32 { a.max(b).min(c) };
    v_minmax_u32(a: u32, b: u32, c: u32) -> u32 { a.min(b).max(c) };
    v_maxmin_i32(a: i32, b: i32, c: i32) -> i32 { a.max(b).min(c) };
    v_minmax_i32(a: i32, b: i32, c: i32) -> i32 { a.min(b).max(c) };
    v_mov_b16(a: u16) -> u16 { a };
    v_not_b16(a: u16) -> u16 { !a };
    v_and_b16(a: u16, b: u16) -> u16 { a & b };
    v_or_b16(a: u16, b: u16) -> u16 { a | b };
    v_xor_b16(a: u16, b: u16) -> u16 { a ^ b };
    align_bits(a: u32, b: u32, c: u16) -> u32 { ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32 };
    align_bytes(a: u32, b: u32, c: u16) -> u32 { ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32 };
    v_cvt_i32_i16(a: i16) -> i32 { a.into() };
    v_cvt_u32_u16(a: u16) -> u32 { a.into() };
    v_cvt_pk_i16_f32(a: f32, b: f32) -> u32 { pack(a as i16 as u16, b as i16 as u16) };
    v_cvt_pk_u16_f32(a: f32, b: f32) -> u32 { pack(a as u16, b as u16) };
}

/// Bits of the mask in source 2 choose between sources 1 (set) and 0.
pub(crate) fn v_cndmask_b16(wave: &mut Wave, inst: &Inst) -> Flow {
    let mask = wave.mask(inst.src[2], inst);
    run::<Each, F16, F16, F16, F16>(wave, inst, 2, mask, |_, bit, a, b, _| if bit != 0 { b } else { a })
}

/// Exchanges halves of two registers in the live lanes.
pub(crate) fn v_swap_b16(wave: &mut Wave, inst: &Inst) -> Flow {
    let (Some(a), Some(b)) = (inst.dst.row(), inst.src[0].row()) else { return Flow::Next };
    let shift = |bit: u8| if inst.mods.op_sel & bit != 0 { 16 } else { 0 };
    let (shift_a, shift_b) = (shift(8), shift(1));
    let exec = wave.exec;
    for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
        let (half_a, half_b) = (wave.row(a)[lane] >> shift_a & 0xffff, wave.row(b)[lane] >> shift_b & 0xffff);
        let put = |word: &mut u32, shift: u32, half: u32| *word = *word & !(0xffff << shift) | half << shift;
        put(&mut wave.row_mut(a)[lane], shift_a, half_b);
        put(&mut wave.row_mut(b)[lane], shift_b, half_a);
    }
    Flow::Next
}

/// Sums of products of integers of `BITS` bits, each source signed if `neg` says so; saturated if clamped.
fn dot_iu<const BITS: u32>(wave: &mut Wave, inst: &Inst) -> Flow {
    let [a, b, c] = operands(wave, inst, Kind::B32, false);
    let element = |word: u32, n: u32, source: u8| {
        let raw = word << (32 - BITS * (n + 1));
        let is_signed = inst.mods.neg >> source & 1 != 0;
        // CAST: reinterpreted as two's complement; unsigned ones have few bits.
        if is_signed { i64::from(raw as i32 >> (32 - BITS)) } else { i64::from(raw >> (32 - BITS)) }
    };
    let value = std::array::from_fn(|lane| {
        let products = (0..32 / BITS).map(|n| element(a[lane], n, 0) * element(b[lane], n, 1));
        let sum = i64::from(c[lane] as i32) + products.sum::<i64>();
        let sum = match inst.mods.clamp {
            true => sum.clamp(i32::MIN.into(), i32::MAX.into()),
            false => sum,
        };
        // CAST: modulo 2^32.
        sum as u32
    });
    store::<u32>(wave, inst, true, &[Vector(value)]);
    Flow::Next
}

pub(crate) fn v_dot4_i32_iu8(wave: &mut Wave, inst: &Inst) -> Flow {
    dot_iu::<8>(wave, inst)
}

pub(crate) fn v_dot8_i32_iu4(wave: &mut Wave, inst: &Inst) -> Flow {
    dot_iu::<4>(wave, inst)
}

/// The products of four small floats, one after the other added to source 2: each product is exact.
fn dot4<A: Small, B: Small>(wave: &mut Wave, inst: &Inst) -> Flow {
    let [a, b, _] = operands(wave, inst, Kind::B32, false);
    let c = prepared(wave, inst, 2, Kind::F32);
    let value = std::array::from_fn(|lane| {
        let sum = (0..32).step_by(8).fold(f32::from_bits(c.0[lane]), |sum, bit| {
            sum + small::decode::<A>(a[lane] >> bit) * small::decode::<B>(b[lane] >> bit)
        });
        sum.to_bits()
    });
    store::<f32>(wave, inst, false, &[Vector(value)]);
    Flow::Next
}

pub(crate) fn v_dot4_f32_fp8_fp8(wave: &mut Wave, inst: &Inst) -> Flow {
    dot4::<E4m3, E4m3>(wave, inst)
}

pub(crate) fn v_dot4_f32_fp8_bf8(wave: &mut Wave, inst: &Inst) -> Flow {
    dot4::<E4m3, E5m2>(wave, inst)
}

pub(crate) fn v_dot4_f32_bf8_fp8(wave: &mut Wave, inst: &Inst) -> Flow {
    dot4::<E5m2, E4m3>(wave, inst)
}

pub(crate) fn v_dot4_f32_bf8_bf8(wave: &mut Wave, inst: &Inst) -> Flow {
    dot4::<E5m2, E5m2>(wave, inst)
}

/// The products of both halves, one after the other added to a half of source 2 and rounded.
fn dot2_half<T: Lane>(wave: &mut Wave, inst: &Inst, fma: impl Fn(u16, u16, u16) -> u16) -> Flow {
    if inst.mods.neg | inst.mods.abs != 0 {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    }
    let [a, b, _] = operands(wave, inst, T::KIND, false);
    let c = prepared(wave, inst, 2, T::KIND);
    let value = std::array::from_fn(|lane| {
        let part = |word: u32, shift: u32| (word >> shift) as u16;
        let low = fma(part(a[lane], 0), part(b[lane], 0), part(c.0[lane], 0));
        u32::from(fma(part(a[lane], 16), part(b[lane], 16), low))
    });
    let rows = [Vector(value)];
    store::<T>(wave, inst, false, T::rows(&rows));
    Flow::Next
}

pub(crate) fn v_dot2_f16_f16(wave: &mut Wave, inst: &Inst) -> Flow {
    dot2_half::<F16>(wave, inst, |a, b, c| F16(a).fma(F16(b), F16(c)).0)
}

pub(crate) fn v_dot2_bf16_bf16(wave: &mut Wave, inst: &Inst) -> Flow {
    dot2_half::<Bf16>(wave, inst, |a, b, c| soft::fma(Env::DEFAULT, Bf16(a), Bf16(b), Bf16(c)).0)
}

/// Lanes get what another lane of 16 holds, which `from` names by the lane's number. What a lane that is off holds is
/// read if FI (op_sel bit 0) says so, else it is 0 with BOUND_CTRL (bit 1) and the destination stays without.
fn permlane(wave: &mut Wave, inst: &Inst, from: impl Fn(&Wave, usize) -> usize) -> Flow {
    let (Some(dst), Some(src)) = (inst.dst.row(), inst.src[0].row()) else {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    };
    let (fetches, is_zero) = (inst.mods.op_sel & 1 != 0, inst.mods.op_sel & 2 != 0);
    let exec = wave.exec;
    let old = *wave.row(src);
    let lanes: [usize; 64] = std::array::from_fn(|lane| from(wave, lane) & 63);
    for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
        let from = lanes[lane];
        if fetches || exec >> from & 1 != 0 {
            wave.row_mut(dst)[lane] = old[from];
        } else if is_zero {
            wave.row_mut(dst)[lane] = 0;
        }
    }
    Flow::Next
}

/// The lane of 16 that two scalars name for each of them.
fn selected(wave: &Wave, inst: &Inst) -> impl Fn(usize) -> usize + use<> {
    let words = [wave.scalar(inst.src[1], inst), wave.scalar(inst.src[2], inst)];
    let all = u64::from(words[0]) | u64::from(words[1]) << 32;
    move |lane| (all >> (4 * (lane & 15)) & 15) as usize
}

pub(crate) fn v_permlane16_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let selected = selected(wave, inst);
    permlane(wave, inst, |_, lane| lane & !15 | selected(lane))
}

pub(crate) fn v_permlanex16_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let selected = selected(wave, inst);
    permlane(wave, inst, |_, lane| (lane & !15 ^ 16) | selected(lane))
}

/// The lane that a VGPR names.
fn named(wave: &Wave, inst: &Inst, lane: usize) -> usize {
    inst.src[1].row().map_or(0, |row| wave.row(row)[lane] as usize & 15)
}

pub(crate) fn v_permlane16_var_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    permlane(wave, inst, |wave, lane| lane & !15 | named(wave, inst, lane))
}

pub(crate) fn v_permlanex16_var_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    permlane(wave, inst, |wave, lane| (lane & !15 ^ 16) | named(wave, inst, lane))
}

/// Exchanges the halves of a wave of 64 lanes; in one of 32 nothing moves.
pub(crate) fn v_permlane64_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let (Some(dst), Some(src)) = (inst.dst.row(), inst.src[0].row()) else {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    };
    let old = *wave.row(src);
    if wave.lanes == 32 {
        return Flow::Next;
    }
    let value = Vector(std::array::from_fn(|lane| old[lane ^ 32]));
    let exec = wave.exec;
    merge(&mut wave.vgpr[dst..=dst], &[value], exec);
    Flow::Next
}

/// A VGPR, `offset` behind another one; out of range it is v0.
fn relative(op: Operand, offset: u32) -> usize {
    let row = op.row().unwrap_or(0) + offset as usize;
    if row < 256 { row } else { 0 }
}

/// Copies a register in the live lanes, both `offset`s behind those that the instruction names.
fn move_relative(wave: &mut Wave, inst: &Inst, [to, from]: [u32; 2]) -> Flow {
    let value = match inst.src[0].row() {
        Some(_) => *wave.row(relative(inst.src[0], from)),
        None => [wave.scalar(inst.src[0], inst); 64],
    };
    let (dst, exec) = (relative(inst.dst, to), wave.exec);
    merge(&mut wave.vgpr[dst..=dst], &[Vector(value)], exec);
    Flow::Next
}

/// An instruction with the registers that it moves, where those follow from M0.
pub(crate) fn resolved(wave: &Wave, inst: &Inst) -> Option<Inst> {
    let m0 = wave.m0();
    let [to, from] = match inst.row.name {
        "v_movreld_b32" => [m0, 0],
        "v_movrels_b32" => [0, m0],
        "v_movrelsd_b32" => [m0, m0],
        "v_movrelsd_2_b32" | "v_swaprel_b32" => [m0 >> 16 & 0x3ff, m0 & 0x3ff],
        _ => return None,
    };
    // CAST: less than 256.
    let moved = |op: Operand, offset| op.row().map_or(op, |_| Operand(256 + relative(op, offset) as u16));
    let mut inst = *inst;
    (inst.dst, inst.src[0]) = (moved(inst.dst, to), moved(inst.src[0], from));
    Some(inst)
}

pub(crate) fn v_movreld_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let m0 = wave.m0();
    move_relative(wave, inst, [m0, 0])
}

pub(crate) fn v_movrels_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let m0 = wave.m0();
    move_relative(wave, inst, [0, m0])
}

pub(crate) fn v_movrelsd_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let m0 = wave.m0();
    move_relative(wave, inst, [m0, m0])
}

/// The offsets stand in bits 25..16 and 9..0 of M0.
pub(crate) fn v_movrelsd_2_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let m0 = wave.m0();
    move_relative(wave, inst, [m0 >> 16 & 0x3ff, m0 & 0x3ff])
}

/// Exchanges two registers at the offsets of [`v_movrelsd_2_b32`].
pub(crate) fn v_swaprel_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let m0 = wave.m0();
    let (a, b) = (relative(inst.dst, m0 >> 16 & 0x3ff), relative(inst.src[0], m0 & 0x3ff));
    let (old_a, old_b, exec) = (wave.vgpr[a], wave.vgpr[b], wave.exec);
    merge(&mut wave.vgpr[a..=a], &[old_b], exec);
    merge(&mut wave.vgpr[b..=b], &[old_a], exec);
    Flow::Next
}
