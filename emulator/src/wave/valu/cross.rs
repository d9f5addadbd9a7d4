//! Instructions that see more than their own lane, and plain moves between register files.

use std::mem::MaybeUninit;

use super::{
    map::lanes,
    result::{merge, spread, store},
    source::{plain, source},
};
use crate::{
    isa::{Flow, Inst, Operand},
    wave::{Vector, Wave, simd::multiversion},
};

multiversion! {
    /// Bits of the mask in source 2 choose between sources 1 (set) and 0; abs and neg act on both as on floats.
    pub(crate) fn v_cndmask_b32(wave, inst) {
        let plain = plain(inst);
        let mut rooms = [const { MaybeUninit::uninit() }; 2];
        let [room0, room1] = &mut rooms;
        let (a, b) = if plain {
            (source::<u32>(wave, inst, 0, true, room0), source::<u32>(wave, inst, 1, true, room1))
        } else {
            (source::<f32>(wave, inst, 0, false, room0), source::<f32>(wave, inst, 1, false, room1))
        };
        let mask = spread(wave.scalar64(inst.src[2], inst));
        let mut value = [Vector([0; 64])];
        for lane in 0..64 {
            value[0].0[lane] = a[0].0[lane] & !mask.0[lane] | b[0].0[lane] & mask.0[lane];
        }
        store::<u32>(wave, inst, plain, &value);
        Flow::Next
    }

    /// Counts the bits of source 0 below the lane, lanes 0 to 31.
    pub(crate) fn v_mbcnt_lo_u32_b32(wave, inst) {
        count_below(wave, inst, |lane| if lane < 32 { (1u32 << lane) - 1 } else { u32::MAX })
    }

    /// Counts the bits of source 0 below the lane, lanes 32 to 63.
    pub(crate) fn v_mbcnt_hi_u32_b32(wave, inst) {
        count_below(wave, inst, |lane| if lane < 32 { 0 } else { (1u32 << (lane - 32)) - 1 })
    }
}

#[inline(always)]
fn count_below(wave: &mut Wave, inst: &Inst, below: impl Fn(u32) -> u32) -> Flow {
    let plain = plain(inst);
    let mut rooms = [const { MaybeUninit::uninit() }; 2];
    let [room0, room1] = &mut rooms;
    let a = source::<u32>(wave, inst, 0, plain, room0);
    let b = source::<u32>(wave, inst, 1, plain, room1);
    let mut value = [Vector([0; 64])];
    for lane in 0..64 {
        value[0].0[lane] = (a[0].0[lane] & below(lane as u32)).count_ones().wrapping_add(b[0].0[lane]);
    }
    store::<u32>(wave, inst, plain, &value);
    Flow::Next
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
    let lane = wave.scalar(inst.src[1], inst) & 63;
    read_lane(wave, inst, lane as usize)
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
    let lane = (wave.scalar(inst.src[1], inst) & 63) as usize;
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

/// Does nothing: exceptions are not modelled, and v_nop has nothing to do.
pub(crate) fn v_nop(_wave: &mut Wave, _inst: &Inst) -> Flow {
    Flow::Next
}

lanes! {
    // Moves between the halves of the unified register file; the operands say which halves.
    v_accvgpr_mov_b32(a: u32) -> u32 { a };
}

multiversion! {
    // VOP3P's default op_sel_hi is no modifier here.
    pub(crate) fn v_accvgpr_read_b32(wave, inst) {
        move_plain(wave, inst)
    }
    pub(crate) fn v_accvgpr_write_b32(wave, inst) {
        move_plain(wave, inst)
    }
}

#[inline(always)]
fn move_plain(wave: &mut Wave, inst: &Inst) -> Flow {
    let mut room = MaybeUninit::uninit();
    let value = *source::<u32>(wave, inst, 0, true, &mut room);
    store::<u32>(wave, inst, true, &value);
    Flow::Next
}
