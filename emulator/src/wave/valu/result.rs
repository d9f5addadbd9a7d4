//! Writing a vector result: lanes of EXEC only, with output modifiers and partial destinations.

use super::{
    dpp::Dpp,
    half::F16,
    lane::{Kind, Lane},
    mode::Precision,
    rows,
    sdwa::Sdwa,
    soft,
    source::row_of,
};
use crate::{
    isa::{
        Inst, Mods,
        inst::{Form, Variant},
    },
    wave::{Vector, Wave},
};

/// Whether the encoding changes the result or writes only a part of the destination.
fn altered(inst: &Inst) -> bool {
    let mods = inst.mods;
    let part = mods.op_sel & (8 | Mods::KEEPS_OTHER_HALF);
    matches!(inst.variant, Variant::Sdwa | Variant::Dpp) || part | mods.omod != 0 || mods.clamp
}

/// The row of the destination. One past the end of the register file is not written (MI200 ISA, 6.2.2).
#[inline(always)]
pub(super) fn place(inst: &Inst, kind: Kind) -> Option<usize> {
    inst.dst.row().filter(|row| row % 256 + kind.rows() <= 256)
}

/// Writes `value` to the destination, changed as modifiers say unless they have been dealt with (`plain`).
#[inline(always)]
pub(super) fn store<T: Lane>(wave: &mut Wave, inst: &Inst, plain: bool, value: &T::Rows) {
    if plain || !altered(inst) {
        write(wave, inst, T::KIND, T::slice(value));
    } else {
        // A copy: were the rows themselves passed on, the compiler would have to assume that sources overlap them,
        // and the loop that fills them would not vectorise.
        let mut copy = *value;
        finish(wave, inst, T::KIND, T::slice_mut(&mut copy));
    }
}

/// Writes the live lanes.
#[inline(never)]
fn write(wave: &mut Wave, inst: &Inst, kind: Kind, value: &[Vector]) {
    let Some(row) = place(inst, kind) else { return };
    let exec = wave.exec;
    let target = &mut wave.vgpr[row..row + kind.rows()];
    if exec == u64::MAX {
        target.copy_from_slice(value);
    } else {
        merge(target, value, exec);
    }
}

/// Writes the lanes of `mask`.
pub(super) fn merge(target: &mut [Vector], value: &[Vector], mask: u64) {
    for (target, value) in target.iter_mut().zip(value) {
        rows::merge(target, value, mask);
    }
}

/// The lanes that the instruction writes.
#[inline(always)]
pub(super) fn write_mask(wave: &Wave, inst: &Inst) -> u64 {
    if inst.variant == Variant::Dpp { Dpp::of(inst).write_mask(wave.exec, wave.full) } else { wave.exec }
}

/// Whether the instruction clamps its result.
#[inline(always)]
pub(super) fn clamps(inst: &Inst) -> bool {
    inst.form.has(Form::ALTERED) && clamp_bit(inst)
}

fn clamp_bit(inst: &Inst) -> bool {
    match inst.variant {
        Variant::Sdwa => Sdwa::of(inst).clamp(),
        _ => inst.mods.clamp,
    }
}

/// Applies output modifiers and writes the part of the destination that the encoding selects.
#[inline(never)]
pub(super) fn finish(wave: &mut Wave, inst: &Inst, kind: Kind, value: &mut [Vector]) {
    if kind.is_float() && altered(inst) {
        scale_and_clamp(wave, inst, kind, value);
    }
    let Some(row) = place(inst, kind) else { return };
    let mask = write_mask(wave, inst);
    let target = &mut wave.vgpr[row..row + kind.rows()];
    if inst.variant == Variant::Sdwa {
        Sdwa::of(inst).place(&target[0], &mut value[0]);
    } else if kind.is_half() && row_of(inst.dst, 1).is_some() && inst.mods.op_sel & 8 != 0 {
        rows::insert(&mut value[0], &target[0], 16, 0xffff_0000);
    } else if kind.is_half()
        && row_of(inst.dst, 1).is_some()
        && inst.mods.op_sel & Mods::KEEPS_OTHER_HALF != 0
    {
        rows::insert(&mut value[0], &target[0], 0, 0xffff);
    }
    merge(target, value, mask);
}

/// Output modifier and floating-point clamp (MI200 ISA, 6.3.3).
#[inline(never)]
fn scale_and_clamp(wave: &Wave, inst: &Inst, kind: Kind, value: &mut [Vector]) {
    let omod = match inst.variant {
        Variant::Sdwa => Sdwa::of(inst).omod(),
        _ => inst.mods.omod,
    };
    let denormals = if kind == Kind::F32 { wave.mode.denorm32() } else { wave.mode.denorm64() };
    // The modifier has no effect in IEEE mode or when the output keeps denormals.
    let omod = if wave.mode.ieee() || denormals & 2 != 0 { 0 } else { omod };
    let clamp = clamps(inst).then_some(wave.mode.dx10_clamp());
    let n = [0, 1, 2, -1][usize::from(omod & 3)];
    for lane in 0..wave.lanes {
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
