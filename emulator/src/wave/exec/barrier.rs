//! RDNA 4's barrier of a workgroup, in two halves (RDNA4 ISA, S_BARRIER_SIGNAL; LLVM, AMDGPUExecutionSynchronization).
//!
//! There is one barrier, -1, beside that of trap handlers, -2, which user code does not reach. Barriers with other
//! numbers came with gfx1250; their instructions have encodings here, but nothing to act on.

use crate::{
    isa::{Flow, Inst, Operand},
    wave::{FaultKind, Question, Restriction, Wave},
};

/// What an instruction acts on.
enum Barrier {
    Workgroup,
    /// That of trap handlers.
    Privileged,
    /// Number 0.
    Nothing,
    /// One that came later.
    Named,
}

impl Barrier {
    fn of(w: &Wave, inst: &Inst) -> Self {
        match inst.src[0] {
            // The codes of -1, -2 and 0.
            Operand(193) => Self::Workgroup,
            Operand(194) => Self::Privileged,
            Operand(128) => Self::Nothing,
            // It cannot name those below 0.
            Operand::M0 if w.m0() & 31 == 0 => Self::Nothing,
            _ => Self::Named,
        }
    }
}

fn named(w: &mut Wave, inst: &Inst) -> Flow {
    w.fault(inst, FaultKind::Illegal { name: inst.row.name, why: Restriction::NoNamedBarriers })
}

/// The wave has arrived at its workgroup's barrier, for which it may wait later.
pub fn s_barrier_signal(w: &mut Wave, inst: &Inst) -> Flow {
    match Barrier::of(w, inst) {
        Barrier::Workgroup => w.arrivals += 1,
        Barrier::Privileged | Barrier::Nothing => {}
        Barrier::Named => return named(w, inst),
    }
    Flow::Next
}

/// As [`s_barrier_signal`]; SCC = whether it is the first to arrive.
pub fn s_barrier_signal_isfirst(w: &mut Wave, inst: &Inst) -> Flow {
    match Barrier::of(w, inst) {
        Barrier::Workgroup => return ask(w, Question::IsFirst),
        Barrier::Privileged | Barrier::Nothing => w.scc = false,
        Barrier::Named => return named(w, inst),
    }
    Flow::Next
}

/// D = how many waves have arrived in bits 22..16, how many there are in bits 10..4, and that they are counted in bit 0.
pub fn s_get_barrier_state(w: &mut Wave, inst: &Inst) -> Flow {
    match Barrier::of(w, inst) {
        Barrier::Workgroup => return ask(w, Question::State(inst.dst)),
        Barrier::Nothing => w.set_scalar(inst.dst, 0),
        Barrier::Privileged | Barrier::Named => return named(w, inst),
    }
    Flow::Next
}

/// Leaves the wave to its workgroup, which knows the others.
fn ask(w: &mut Wave, question: Question) -> Flow {
    w.question = Some(question);
    Flow::Barrier
}

/// Waits until all live waves of the workgroup have signalled as often as this one.
pub fn s_barrier_wait(w: &mut Wave, inst: &Inst) -> Flow {
    match inst.imm {
        -1 => Flow::Barrier,
        0 => Flow::Next,
        _ => named(w, inst),
    }
}

pub fn s_barrier_init(w: &mut Wave, inst: &Inst) -> Flow {
    named(w, inst)
}

pub fn s_barrier_join(w: &mut Wave, inst: &Inst) -> Flow {
    named(w, inst)
}

pub fn s_barrier_leave(w: &mut Wave, inst: &Inst) -> Flow {
    named(w, inst)
}
