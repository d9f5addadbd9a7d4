//! Mixed-precision multiply-add: op_sel_hi makes a source a half, op_sel picks which (MI200 ISA, 6.7).
#![allow(clippy::needless_range_loop, reason = "lanes are numbers, which index several arrays at once")]

use super::{
    half::F16,
    lane::Kind,
    mode::{Operand, Precision},
    soft::{self, Env},
    source::{Room, prepared, raw},
};
use crate::{
    isa::{Flow, Inst, inst::Variant},
    wave::{Vector, Wave},
};
use std::mem::MaybeUninit;

/// Source `n` in single precision; bit `n` of the field that packed instructions use for neg_hi is its absolute
/// value.
fn widened(wave: &Wave, inst: &Inst, n: usize) -> [f32; 64] {
    let mods = inst.mods;
    let bit = |field: u8| field >> n & 1 != 0;
    let half = bit(mods.op_sel_hi);
    let moves = n == 0 && matches!(inst.variant, Variant::Dpp | Variant::Dpp8);
    let mut room: Room = MaybeUninit::uninit();
    let row = match moves {
        true => prepared(wave, inst, n, Kind::B32),
        false => raw(wave, inst, inst.src[n], if half { Kind::F16 } else { Kind::F32 }, &mut room)[0],
    };
    let flush_half = F16::env(wave.mode).flush_in;
    row.0.map(|word| {
        let x = if half {
            let h = F16((word >> if bit(mods.op_sel) { 16 } else { 0 }) as u16);
            h.flush_if(flush_half).to_f32()
        } else {
            f32::from_bits(word)
        };
        let x = if bit(mods.abs) { x.abs() } else { x };
        if bit(mods.neg) { -x } else { x }
    })
}

/// The fused multiply-add of every lane, in single precision.
fn products(wave: &Wave, inst: &Inst) -> [f32; 64] {
    let (a, b, c) = (widened(wave, inst, 0), widened(wave, inst, 1), widened(wave, inst, 2));
    let env = f32::env(wave.mode);
    let mut products = [0.0; 64];
    for lane in 0..wave.lanes() {
        products[lane] = soft::fma(env, a[lane], b[lane], c[lane]);
    }
    products
}

/// Clamps to [0, 1] if the instruction says so.
fn clamped(wave: &Wave, inst: &Inst, x: f32) -> f32 {
    if inst.mods.clamp { soft::clamp(x, wave.mode.dx10_clamp()) } else { x }
}

pub(crate) fn v_fma_mix_f32(wave: &mut Wave, inst: &Inst) -> Flow {
    let value = products(wave, inst).map(|x| clamped(wave, inst, x).to_bits());
    super::result::store::<u32>(wave, inst, false, &[Vector(value)]);
    Flow::Next
}

/// The result rounded to half precision, into one half of the destination; the other half stays.
fn mix_half(wave: &mut Wave, inst: &Inst, shift: u32) -> Flow {
    let Some(row) = inst.dst.row() else { return Flow::Next };
    let env = F16::env(wave.mode);
    let products = products(wave, inst);
    let old = wave.vgpr[row & 511].0;
    let mut value = [0; 64];
    for lane in 0..wave.lanes() {
        let half: F16 = soft::convert(Env::DEFAULT, env, clamped(wave, inst, products[lane]));
        value[lane] = old[lane] & !(0xffff << shift) | u32::from(half.0) << shift;
    }
    super::result::store::<u32>(wave, inst, false, &[Vector(value)]);
    Flow::Next
}

pub(crate) fn v_fma_mixlo_f16(wave: &mut Wave, inst: &Inst) -> Flow {
    mix_half(wave, inst, 0)
}

pub(crate) fn v_fma_mixhi_f16(wave: &mut Wave, inst: &Inst) -> Flow {
    mix_half(wave, inst, 16)
}
