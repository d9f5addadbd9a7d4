//! A wave that is watched for where its lanes come together: each instruction is looked at before it is executed.

use std::sync::Arc;

use super::{Wave, exec::shape, inactive::Inactive};
use crate::{
    convergence::{Lanes, Passed, Rounds, Step, SyncFinding, SyncFindings, SyncKind},
    isa::{Family, Inst},
};

/// What is known of a wave that is watched.
pub(crate) struct Converging {
    /// Number of the workgroup in the grid.
    pub(crate) workgroup: u64,
    /// Its number in the workgroup.
    pub(crate) wave: u32,
    pub(crate) rounds: Rounds,
    lanes: Lanes,
    inactive: Inactive,
    findings: Arc<SyncFindings>,
}

// Opcodes of their families (MI200 ISA, 12).
const S_SETPC: u16 = 29;
const S_SWAPPC: u16 = 30;
const S_OR_SAVEEXEC: u16 = 33;
const S_XOR_SAVEEXEC: u16 = 34;
const S_CALL: u16 = 21;
const S_CBRANCH_EXECZ: u16 = 8;
const S_CBRANCH_EXECNZ: u16 = 9;
const S_BARRIER: u16 = 10;
pub(super) const DS_SWIZZLE: u16 = 61;
pub(super) const DS_PERMUTE: u16 = 62;
pub(super) const DS_BPERMUTE: u16 = 63;

/// The source code of the inline constant -1.
const MINUS_ONE: u16 = 193;

/// What an instruction is, of which [`Wave::pc`] has passed the size.
fn step(wave: &Wave, inst: &Inst) -> Step {
    match (inst.row.family, inst.row.opcode) {
        (Family::Sopp, S_CBRANCH_EXECZ) => {
            Step::Resume(wave.pc.wrapping_add_signed(4 * i64::from(inst.imm as i16)))
        }
        // Back to the beginning of a loop, which lanes have left.
        (Family::Sopp, S_CBRANCH_EXECNZ) => Step::Resume(wave.pc),
        (Family::Sopp, S_BARRIER) => Step::Barrier,
        (Family::Sop1, S_SWAPPC) | (Family::Sopk, S_CALL) => Step::Call(wave.pc),
        (Family::Sop1, S_SETPC) => Step::Return,
        (Family::Sop1, S_OR_SAVEEXEC) if inst.src[0].0 == MINUS_ONE && wave.exec != u64::MAX => {
            Step::WholeWave
        }
        (Family::Sop1, S_XOR_SAVEEXEC) if inst.src[0].0 == MINUS_ONE => Step::WholeWave,
        (Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc | Family::Sopp | Family::Smem, _) => {
            Step::Scalar
        }
        // What spills registers accesses scratch, on gfx90a through buffers.
        (Family::Ds, DS_SWIZZLE | DS_PERMUTE | DS_BPERMUTE) => Step::Vector,
        (Family::Ds | Family::Flat | Family::Global, _) if beyond_scratch(wave, inst) != 0 => Step::Access,
        _ => Step::Vector,
    }
}

/// The lanes for which an instruction of DS, FLAT or GLOBAL accesses something else than scratch.
pub(super) fn beyond_scratch(wave: &Wave, inst: &Inst) -> u64 {
    let high = inst.src[0].row().filter(|_| inst.row.family == Family::Flat);
    let Some(high) = high.map(|row| wave.row(row + 1)) else { return wave.exec };
    // CAST: the low half of the aperture's base is zero.
    let private = (wave.surroundings.apertures.private >> 32) as u32;
    shape::lanes(wave.exec).filter(|lane| high[*lane] != private).fold(0, |mask, lane| mask | 1 << lane)
}

impl Converging {
    pub(crate) fn new(workgroup: u64, wave: u32, findings: Arc<SyncFindings>) -> Self {
        let (rounds, lanes, inactive) = (Rounds::default(), Lanes::default(), Inactive::default());
        Self { workgroup, wave, rounds, lanes, inactive, findings }
    }

    fn look(&mut self, wave: &Wave, inst: &Inst) {
        let pc = wave.pc.wrapping_sub(u64::from(inst.size));
        let step = step(wave, inst);
        let passed = self.lanes.step(pc, wave.exec, step);
        for Passed { barrier, lane, times } in passed {
            self.find(SyncKind::DivergentBarrier, Some(lane), barrier, pc, times);
        }
        match step {
            Step::Barrier => self.rounds.reach(),
            Step::Access if !self.lanes.is_whole() => self.rounds.access(pc),
            _ => {}
        }
        if let Some(used) = self.inactive.step(wave, inst, pc) {
            let (lane, lanes) = (used.lanes.trailing_zeros(), used.lanes.count_ones());
            self.find(SyncKind::InactiveLane, Some(lane), used.origin, pc, lanes.into());
        }
    }

    /// Says that the wave has gone past a barrier that others wait at.
    pub(crate) fn not_reached(&self, (barrier, then): (u64, u64)) {
        self.find(SyncKind::BarrierNotReached, None, barrier, then, 1);
    }

    fn find(&self, kind: SyncKind, lane: Option<u32>, pc: u64, then: u64, count: u64) {
        let Self { workgroup, wave, .. } = *self;
        self.findings.add(SyncFinding { kind, workgroup, wave, lane, pc, then, count });
    }
}

impl Wave {
    /// Looks at an instruction that is about to be executed, if the wave is watched.
    #[cold]
    pub(super) fn look_at(&mut self, inst: &Inst) {
        if let Some(mut converging) = self.converging.take() {
            converging.look(self, inst);
            self.converging = Some(converging);
        }
    }

    /// The barrier that it waits at.
    pub(crate) fn barrier(&self) -> u64 {
        // `s_barrier` has 4 bytes.
        self.pc.wrapping_sub(4)
    }
}
