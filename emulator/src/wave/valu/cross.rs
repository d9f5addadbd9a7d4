//! Instructions that see more than their own lane, and plain moves between register files.

use super::{
    kernel::Each,
    map::{lanes, run},
    result::merge,
    source::plain,
};
use crate::{
    isa::{Flow, Inst, Operand, inst::Variant},
    wave::{FaultKind, Wave},
};

/// Bits of the mask in source 2 choose between sources 1 (set) and 0; abs and neg act on both as on floats.
pub(crate) fn v_cndmask_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let mask = wave.mask(inst.src[2], inst);
    if plain(inst) {
        run::<Each, u32, u32, u32, u32>(wave, inst, 2, mask, |_, bit, a, b, _| if bit != 0 { b } else { a })
    } else {
        run::<Each, f32, f32, f32, u32>(
            wave,
            inst,
            2,
            mask,
            |_, bit, a, b, _| {
                if bit != 0 { b.to_bits() } else { a.to_bits() }
            },
        )
    }
}

/// Counts the bits of source 0 below the lane, lanes 0 to 31.
pub(crate) fn v_mbcnt_lo_u32_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    count_below(wave, inst, |lane| if lane < 32 { (1 << lane) - 1 } else { u32::MAX })
}

/// Counts the bits of source 0 below the lane, lanes 32 to 63.
pub(crate) fn v_mbcnt_hi_u32_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    count_below(wave, inst, |lane| if lane < 32 { 0 } else { (1 << (lane - 32)) - 1 })
}

#[inline(always)]
fn count_below(wave: &mut Wave, inst: &Inst, below: impl Fn(usize) -> u32) -> Flow {
    run::<Each, u32, u32, u32, u32>(wave, inst, 2, 0, move |lane, _, a, b, _| {
        (a & below(lane)).count_ones().wrapping_add(b)
    })
}

/// The scalar destination of an instruction whose result is uniform; decoders put it into either place.
fn scalar_destination(inst: &Inst) -> Operand {
    if inst.sdst == Operand::NONE { inst.dst } else { inst.sdst }
}

/// The first live lane's value; lane 0's when none is live.
pub(crate) fn v_readfirstlane_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let lane = if wave.exec == 0 { 0 } else { wave.exec.trailing_zeros() };
    read_lane(wave, inst, lane as usize)
}

/// One lane's value, live or not.
pub(crate) fn v_readlane_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let lane = wave.scalar(inst.src[1], inst) as usize & (wave.lanes - 1);
    read_lane(wave, inst, lane)
}

fn read_lane(wave: &mut Wave, inst: &Inst, lane: usize) -> Flow {
    let value = match inst.src[0].row() {
        Some(row) => wave.vgpr[row & 511].0[lane],
        None => wave.scalar(inst.src[0], inst),
    };
    wave.set_scalar(scalar_destination(inst), value);
    Flow::Next
}

/// Writes one lane, live or not.
pub(crate) fn v_writelane_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let value = wave.scalar(inst.src[0], inst);
    let lane = wave.scalar(inst.src[1], inst) as usize & (wave.lanes - 1);
    if let Some(row) = inst.dst.row() {
        wave.vgpr[row & 511].0[lane] = value;
    }
    Flow::Next
}

/// Exchanges two registers in the live lanes.
pub(crate) fn v_swap_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    if let (Some(a), Some(b)) = (inst.dst.row(), inst.src[0].row()) {
        let (old_a, old_b) = (wave.vgpr[a & 511], wave.vgpr[b & 511]);
        let exec = wave.exec;
        merge(&mut wave.vgpr[a & 511..=a & 511], &[old_b], exec);
        merge(&mut wave.vgpr[b & 511..=b & 511], &[old_a], exec);
    }
    Flow::Next
}

/// Exchanges the second of each two groups of `group` lanes of the destination with the first of the source.
///
/// The pseudocode knows no dead lanes. They are taken to be those of DPP: they are not written, and what would come
/// from one is not written either, but with FI (it is read all the same) or BOUND_CTRL (it is 0).
fn permlane_swap(wave: &mut Wave, inst: &Inst, group: usize) -> Flow {
    let (Some(a), Some(b)) = (inst.dst.row(), inst.src[0].row()) else {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    };
    let has = |bit: u32| inst.variant == Variant::E64 && inst.word0 >> bit & 1 != 0;
    let (fetches_dead, dead_are_zero) = (has(11), has(12));
    let exec = wave.exec;
    let (old_a, old_b) = (wave.vgpr[a & 511], wave.vgpr[b & 511]);
    let is_live = |lane: usize| exec >> lane & 1 != 0;
    let mut give = |row: usize, to: usize, from: usize, word: u32| {
        let word = if is_live(from) || fetches_dead {
            word
        } else if dead_are_zero {
            0
        } else {
            return;
        };
        if is_live(to) {
            wave.vgpr[row & 511].0[to] = word;
        }
    };
    for first in (0..wave.lanes).filter(|lane| lane & group == 0) {
        let second = first + group;
        give(a, second, first, old_b.0[first]);
        give(b, first, second, old_a.0[second]);
    }
    Flow::Next
}

pub(crate) fn v_permlane16_swap_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    permlane_swap(wave, inst, 16)
}

pub(crate) fn v_permlane32_swap_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    permlane_swap(wave, inst, 32)
}

/// Does nothing: exceptions are not modelled, and v_nop has nothing to do.
pub(crate) fn v_nop(_wave: &mut Wave, _inst: &Inst) -> Flow {
    Flow::Next
}

lanes! {
    // Moves between the halves of the unified register file; the operands say which halves.
    v_accvgpr_mov_b32(a: u32) -> u32 { a };
    v_accvgpr_read_b32(a: u32) -> u32 { a };
    v_accvgpr_write_b32(a: u32) -> u32 { a };
}
