//! Arbitrary divergent control flow: forks and joins (MI200 ISA, 4.6). Entry n of the control stack, a mask
//! and an address, stands in s[4n:4n+3].

use crate::{
    isa::{Flow, Inst, Operand},
    wave::{FaultKind, Restriction, Wave},
};

/// Splits EXEC: the smaller part goes first, the other waits on the control stack. `pass` goes to `target`,
/// the rest to the next instruction.
fn fork(w: &mut Wave, pass: u64, target: u64) -> Flow {
    let (exec, next, target) = (w.exec, w.pc, target & !3);
    let (pass, fail) = (pass & exec, !pass & exec);
    if pass == exec {
        w.pc = target;
        return Flow::Jump;
    }
    if fail == exec {
        return Flow::Next;
    }
    let jump = fail.count_ones() >= pass.count_ones();
    let (first, first_pc, later, later_pc) =
        if jump { (pass, target, fail, next) } else { (fail, next, pass, target) };
    let depth = w.mode.forks();
    w.set_scalar64(entry(depth, 0), later);
    w.set_scalar64(entry(depth, 2), later_pc);
    w.mode = w.mode.with_forks(depth + 1);
    w.exec = first;
    w.pc = first_pc;
    Flow::Jump
}

/// Register `part` of an entry of the control stack, whose depth has 3 bits.
fn entry(depth: u32, part: u16) -> Operand {
    // CAST: below 8 after the mask.
    Operand((depth & 7) as u16 * 4 + part)
}

/// Forks by S0; the lanes that pass go to the address S1.
pub fn s_cbranch_g_fork(w: &mut Wave, inst: &Inst) -> Flow {
    let (pass, target) = (w.scalar64(inst.src[0], inst), w.scalar64(inst.src[1], inst));
    fork(w, pass, target)
}

/// Forks by the register pair in the SDST field; the lanes that pass go to a relative address.
pub fn s_cbranch_i_fork(w: &mut Wave, inst: &Inst) -> Flow {
    let pass = w.scalar64(inst.dst, inst);
    let target = w.pc.wrapping_add_signed(4 * i64::from(inst.imm as i16));
    fork(w, pass, target)
}

/// Goes on with the other part of a fork; the second time, when the stack is as deep as S0 says, behind the
/// join.
pub fn s_cbranch_join(w: &mut Wave, inst: &Inst) -> Flow {
    let depth = w.mode.forks();
    if depth == w.scalar(inst.src[0], inst) {
        return Flow::Next;
    }
    let depth = depth.wrapping_sub(1) & 7;
    w.mode = w.mode.with_forks(depth);
    w.set_exec(w.scalar64(entry(depth, 0), inst));
    w.pc = w.scalar64(entry(depth, 2), inst) & !3;
    Flow::Jump
}

/// `s_rfe_b64` and `s_rfe_restore_b64` return from a trap handler, which no kernel is.
pub fn return_from_exception(w: &mut Wave, inst: &Inst) -> Flow {
    w.fault(inst, FaultKind::Illegal { name: inst.row.name, why: Restriction::TrapHandler })
}
