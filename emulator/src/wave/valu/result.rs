//! Writing a vector result: lanes of EXEC only, with output modifiers and partial destinations.

use super::{
    dpp::Dpp,
    half::F16,
    lane::{Kind, Lane},
    mode::Precision,
    sdwa::Sdwa,
    soft,
    source::row_of,
};
use crate::{
    isa::{Inst, inst::Variant},
    wave::{Vector, Wave},
};

/// Spreads the bits of a mask over a row: all ones where the bit is set.
#[inline(always)]
pub(super) fn spread(mask: u64) -> Vector {
    let mut row = Vector([0; 64]);
    let (low, high) = (mask as u32, (mask >> 32) as u32);
    for lane in 0..32 {
        row.0[lane] = (low >> lane & 1).wrapping_neg();
    }
    for lane in 0..32 {
        row.0[lane + 32] = (high >> lane & 1).wrapping_neg();
    }
    row
}

/// A lane's flag as [`collect`] wants it.
#[inline(always)]
pub(super) fn flag(set: bool) -> u32 {
    u32::from(set).wrapping_neg()
}

/// Collects flags (0 or all ones) into a mask.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn collect(row: &[u32; 64]) -> u64 {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32};
    let mut mask = 0;
    for (n, lanes) in row.chunks_exact(16).enumerate() {
        // SAFETY: four lanes from `4 * i` on are inside the 16 of the chunk; SSE2 is part of x86-64.
        let load = |i: usize| unsafe { _mm_loadu_si128(lanes.as_ptr().add(4 * i).cast()) };
        // SAFETY: SSE2 is part of x86-64.
        let bits = unsafe {
            let (low, high) = (_mm_packs_epi32(load(0), load(1)), _mm_packs_epi32(load(2), load(3)));
            _mm_movemask_epi8(_mm_packs_epi16(low, high))
        };
        mask |= u64::from(bits as u16) << (16 * n);
    }
    mask
}

/// Collects flags (0 or all ones) into a mask.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn collect(row: &[u32; 64]) -> u64 {
    let (mut low, mut high) = (0, 0);
    for lane in 0..32 {
        low |= (row[lane] & 1) << lane;
    }
    for lane in 0..32 {
        high |= (row[lane + 32] & 1) << lane;
    }
    u64::from(low) | u64::from(high) << 32
}

/// Whether the encoding changes the result or writes only a part of the destination.
fn altered(inst: &Inst) -> bool {
    let mods = inst.mods;
    matches!(inst.variant, Variant::Sdwa | Variant::Dpp) || mods.op_sel & 8 | mods.omod != 0 || mods.clamp
}

/// Writes `value` to the destination.
#[inline(always)]
pub(super) fn store<T: Lane>(wave: &mut Wave, inst: &Inst, plain: bool, value: &T::Rows) {
    let count = T::KIND.rows();
    if plain || !altered(inst) {
        let value = T::slice(value);
        // A destination past the end of the register file is not written (MI200 ISA, 6.2.2).
        let Some(row) = inst.dst.row().filter(|row| row % 256 + count <= 256) else { return };
        let exec = wave.exec;
        let target = &mut wave.vgpr[row..row + count];
        if exec == u64::MAX {
            target.copy_from_slice(value);
        } else {
            merge(target, value, exec);
        }
    } else {
        // A copy: were the rows themselves passed on, the compiler would have to assume that sources overlap them,
        // and the loop that fills them would not vectorise.
        let mut copy = *value;
        finish(wave, inst, T::KIND, T::slice_mut(&mut copy));
    }
}

/// Writes the lanes of `mask`.
#[inline(always)]
pub(super) fn merge(target: &mut [Vector], value: &[Vector], mask: u64) {
    let mask = spread(mask);
    for (target, value) in target.iter_mut().zip(value) {
        for lane in 0..64 {
            let keep = !mask.0[lane];
            target.0[lane] = target.0[lane] & keep | value.0[lane] & mask.0[lane];
        }
    }
}

/// The lanes that the instruction writes.
pub(super) fn write_mask(wave: &Wave, inst: &Inst) -> u64 {
    if inst.variant == Variant::Dpp { Dpp::of(inst).write_mask(wave.exec) } else { wave.exec }
}

/// Whether the instruction clamps its result.
#[inline(always)]
pub(super) fn clamps(inst: &Inst) -> bool {
    match inst.variant {
        Variant::Sdwa => Sdwa::of(inst).clamp(),
        Variant::Dpp => false,
        Variant::Plain | Variant::E64 => inst.mods.clamp,
    }
}

/// Applies output modifiers and writes the part of the destination that the encoding selects.
#[inline(never)]
pub(super) fn finish(wave: &mut Wave, inst: &Inst, kind: Kind, value: &mut [Vector]) {
    if kind.is_float() && altered(inst) {
        scale_and_clamp(wave, inst, kind, value);
    }
    let Some(row) = inst.dst.row().filter(|row| row % 256 + kind.rows() <= 256) else { return };
    let mask = write_mask(wave, inst);
    let target = &mut wave.vgpr[row..row + kind.rows()];
    if inst.variant == Variant::Sdwa {
        let sdwa = Sdwa::of(inst);
        for lane in 0..64 {
            value[0].0[lane] = sdwa.place(target[0].0[lane], value[0].0[lane]);
        }
    } else if kind.is_half() && row_of(inst.dst, 1).is_some() && inst.mods.op_sel & 8 != 0 {
        for lane in 0..64 {
            value[0].0[lane] = target[0].0[lane] & 0xffff | value[0].0[lane] << 16;
        }
    }
    merge(target, value, mask);
}

/// Output modifier and floating-point clamp (MI200 ISA, 6.3.3).
fn scale_and_clamp(wave: &Wave, inst: &Inst, kind: Kind, value: &mut [Vector]) {
    let omod = match inst.variant {
        Variant::Sdwa => Sdwa::of(inst).omod(),
        Variant::Dpp => 0,
        Variant::Plain | Variant::E64 => inst.mods.omod,
    };
    let denormals = if kind == Kind::F32 { wave.mode.denorm32() } else { wave.mode.denorm64() };
    // The modifier has no effect in IEEE mode or when the output keeps denormals.
    let omod = if wave.mode.ieee() || denormals & 2 != 0 { 0 } else { omod };
    let clamp = clamps(inst).then_some(wave.mode.dx10_clamp());
    let n = [0, 1, 2, -1][usize::from(omod & 3)];
    for lane in 0..64 {
        match kind {
            Kind::F32 => {
                let x = f32::from_bits(value[0].0[lane]);
                value[0].0[lane] = modified(wave, x, n, clamp).to_bits();
            }
            Kind::F16 => {
                let x = F16(value[0].0[lane] as u16);
                value[0].0[lane] = u32::from(modified(wave, x, n, clamp).0);
            }
            Kind::F64 => {
                let x = f64::from_bits(u64::from(value[0].0[lane]) | u64::from(value[1].0[lane]) << 32);
                let bits = modified(wave, x, n, clamp).to_bits();
                value[0].0[lane] = bits as u32;
                value[1].0[lane] = (bits >> 32) as u32;
            }
            _ => {}
        }
    }
}

/// `x` times 2^`n`, then between 0 and 1 where `clamp` is there; it says whether a NaN becomes 0 (DX10).
fn modified<F: Precision>(wave: &Wave, x: F, n: i32, clamp: Option<bool>) -> F {
    let x = if n == 0 { x } else { soft::modify(F::env(wave.mode), x, n) };
    match clamp {
        None => x,
        Some(dx10) => soft::clamp(x, dx10),
    }
}
