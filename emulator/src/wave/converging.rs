//! A wave that is watched for where its lanes come together: each instruction is looked at before it is executed.

use super::{
    Wave, accesses,
    inactive::{beyond_scratch, follow},
    spinning,
};
use crate::{
    convergence::{Converging, Passed, Step, SyncKind},
    isa::{Family, Inst, Row},
};

/// What is to be told apart of scalar instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    ExecZero,
    ExecNotZero,
    Barrier,
    Call,
    Return,
    OrSaveExec,
    XorSaveExec,
    Other,
}

/// See [`Scalar`]: by opcodes of GFX9 (MI200 ISA, 12), and by [those that rows of RDNA have](crate::isa::Row::opcode).
fn scalar(row: &Row) -> Scalar {
    match (row.is_rdna(), row.family, row.opcode) {
        (false, Family::Sopp, 8) | (true, Family::Sopp, 37) => Scalar::ExecZero,
        (false, Family::Sopp, 9) | (true, Family::Sopp, 38) => Scalar::ExecNotZero,
        // On RDNA `s_barrier_wait` and `s_barrier`.
        (false, Family::Sopp, 10) | (true, Family::Sopp, 20 | 61) => Scalar::Barrier,
        (false, Family::Sop1, 30) | (true, Family::Sop1, 73) => Scalar::Call,
        (false, Family::Sopk, 21) | (true, Family::Sopk, 20) => Scalar::Call,
        (false, Family::Sop1, 29) | (true, Family::Sop1, 72) => Scalar::Return,
        // Of 32 and of 64 lanes.
        (false, Family::Sop1, 33) | (true, Family::Sop1, 34 | 35) => Scalar::OrSaveExec,
        (false, Family::Sop1, 34) | (true, Family::Sop1, 36 | 37) => Scalar::XorSaveExec,
        _ => Scalar::Other,
    }
}

/// The source code of the inline constant -1.
const MINUS_ONE: u16 = 193;

/// What an instruction is, of which [`Wave::pc`] has passed the size.
fn step(wave: &Wave, inst: &Inst) -> Step {
    match inst.row.family {
        Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc | Family::Sopp | Family::Smem => {
            let whole = inst.src[0].0 == MINUS_ONE;
            match scalar(inst.row) {
                Scalar::ExecZero => Step::Resume(wave.pc.wrapping_add_signed(4 * i64::from(inst.imm as i16))),
                // Back to the beginning of a loop, or to what lies elsewhere: lanes that are off go on behind it.
                Scalar::ExecNotZero => Step::Resume(wave.pc),
                Scalar::Barrier => Step::Barrier,
                Scalar::Call => Step::Call(wave.pc),
                Scalar::Return => Step::Return,
                Scalar::OrSaveExec if whole && !wave.all_live() => Step::WholeWave,
                Scalar::XorSaveExec if whole => Step::WholeWave,
                Scalar::OrSaveExec | Scalar::XorSaveExec | Scalar::Other => Step::Scalar,
            }
        }
        Family::Ds if accesses::is_permutation(inst) => Step::Vector,
        // What spills registers accesses scratch, on gfx90a through buffers.
        Family::Ds | Family::Flat | Family::Global if beyond_scratch(wave, inst) != 0 => Step::Access,
        _ => Step::Vector,
    }
}

fn look(converging: &mut Converging, wave: &Wave, inst: &Inst) {
    let pc = wave.pc_of(inst);
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
        // `s_barrier` has 4 bytes, as has `s_barrier_wait`.
        self.pc.wrapping_sub(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Target, table};

    #[test]
    fn scalar_instructions_are_told_apart_by_the_opcodes_of_their_tables() {
        for (_, rows) in
            [Target::Gfx950, Target::Gfx1201].into_iter().flat_map(|target| &table::of(target)[..5])
        {
            for row in *rows {
                let expected = match row.name {
                    "s_cbranch_execz" => Scalar::ExecZero,
                    "s_cbranch_execnz" => Scalar::ExecNotZero,
                    "s_barrier" | "s_barrier_wait" => Scalar::Barrier,
                    "s_swappc_b64" | "s_call_b64" => Scalar::Call,
                    "s_setpc_b64" => Scalar::Return,
                    "s_or_saveexec_b32" | "s_or_saveexec_b64" => Scalar::OrSaveExec,
                    "s_xor_saveexec_b32" | "s_xor_saveexec_b64" => Scalar::XorSaveExec,
                    _ => Scalar::Other,
                };
                assert_eq!(scalar(row), expected, "{}", row.name);
            }
        }
    }
}
