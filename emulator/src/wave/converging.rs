//! A wave that is watched for where its lanes come together: each instruction is looked at before it is executed.

use super::{
    Wave,
    inactive::{DS_BPERMUTE, DS_PERMUTE, DS_SWIZZLE, beyond_scratch, follow},
    spinning,
};
use crate::{
    convergence::{Converging, Passed, Step, SyncKind},
    isa::{Family, Inst},
};

// Opcodes of their families (MI200 ISA, 12).
const S_SETPC: u16 = 29;
const S_SWAPPC: u16 = 30;
const S_OR_SAVEEXEC: u16 = 33;
const S_XOR_SAVEEXEC: u16 = 34;
const S_CALL: u16 = 21;
const S_CBRANCH_EXECZ: u16 = 8;
const S_CBRANCH_EXECNZ: u16 = 9;
const S_BARRIER: u16 = 10;

/// The source code of the inline constant -1.
const MINUS_ONE: u16 = 193;

/// What an instruction is, of which [`Wave::pc`] has passed the size.
fn step(wave: &Wave, inst: &Inst) -> Step {
    match (inst.row.family, inst.row.opcode) {
        (Family::Sopp, S_CBRANCH_EXECZ) => {
            Step::Resume(wave.pc.wrapping_add_signed(4 * i64::from(inst.imm as i16)))
        }
        // Back to the beginning of a loop, or to what lies elsewhere: lanes that are off go on behind it.
        (Family::Sopp, S_CBRANCH_EXECNZ) => Step::Resume(wave.pc),
        (Family::Sopp, S_BARRIER) => Step::Barrier,
        (Family::Sop1, S_SWAPPC) | (Family::Sopk, S_CALL) => Step::Call(wave.pc),
        (Family::Sop1, S_SETPC) => Step::Return,
        (Family::Sop1, S_OR_SAVEEXEC) if inst.src[0].0 == MINUS_ONE && !wave.all_live() => Step::WholeWave,
        (Family::Sop1, S_XOR_SAVEEXEC) if inst.src[0].0 == MINUS_ONE => Step::WholeWave,
        (Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc | Family::Sopp | Family::Smem, _) => {
            Step::Scalar
        }
        (Family::Ds, DS_SWIZZLE | DS_PERMUTE | DS_BPERMUTE) => Step::Vector,
        // What spills registers accesses scratch, on gfx90a through buffers.
        (Family::Ds | Family::Flat | Family::Global, _) if beyond_scratch(wave, inst) != 0 => Step::Access,
        _ => Step::Vector,
    }
}

fn look(converging: &mut Converging, wave: &Wave, inst: &Inst) {
    let pc = wave.pc.wrapping_sub(u64::from(inst.size));
    spinning::follow(&mut converging.spin, wave, inst, pc);
    let step = step(wave, inst);
    for Passed { barrier, lane, times } in converging.lanes.step(pc, wave.exec, step) {
        converging.find(SyncKind::DivergentBarrier, Some(lane), barrier, pc, times);
    }
    match step {
        Step::Barrier => converging.rounds.reach(),
        Step::Access if !converging.lanes.is_whole() => converging.rounds.access(pc),
        _ => {}
    }
    if let Some(used) = follow(&mut converging.inactive, wave, inst, pc) {
        let (lane, lanes) = (used.lanes.trailing_zeros(), used.lanes.count_ones());
        converging.find(SyncKind::InactiveLane, Some(lane), used.origin, pc, lanes.into());
    }
}

impl Wave {
    /// Looks at an instruction that is about to be executed, if the wave is watched.
    #[cold]
    pub(super) fn follow_lanes(&mut self, inst: &Inst) {
        if let Some(mut converging) = self.converging.take() {
            look(&mut converging, self, inst);
            self.converging = Some(converging);
        }
    }

    /// The barrier that it waits at.
    pub(crate) fn barrier(&self) -> u64 {
        // `s_barrier` has 4 bytes.
        self.pc.wrapping_sub(4)
    }
}
