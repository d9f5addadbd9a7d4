//! SOPP: program control (MI200 ISA, 12.5).

use super::hardware;
use crate::{
    isa::{Flow, Inst, Operand},
    wave::{FaultKind, Mode, Restriction, Wave},
};

/// Branches by the 16-bit immediate, in dwords from the next instruction, if the condition holds.
macro_rules! branch {
    ($($name:ident: |$w:ident| $condition:expr;)*) => {$(
        pub fn $name($w: &mut Wave, inst: &Inst) -> Flow {
            if $condition {
                $w.pc = $w.pc.wrapping_add_signed(4 * i64::from(inst.imm as i16));
                return Flow::Jump;
            }
            Flow::Next
        }
    )*};
}

branch! {
    s_branch: |w| true;
    s_cbranch_scc0: |w| !w.scc;
    s_cbranch_scc1: |w| w.scc;
    s_cbranch_vccz: |w| w.vcc() == 0;
    s_cbranch_vccnz: |w| w.vcc() != 0;
    s_cbranch_execz: |w| w.exec == 0;
    s_cbranch_execnz: |w| w.exec != 0;
    // No debugger sets STATUS.COND_DBG_SYS or COND_DBG_USER, and s_setreg cannot.
    s_cbranch_cdbgsys: |w| false;
    s_cbranch_cdbguser: |w| false;
    s_cbranch_cdbgsys_or_user: |w| false;
    s_cbranch_cdbgsys_and_user: |w| false;
}

/// Instructions that concern only timing, caches, counters or priority: memory operations complete at once, so
/// there is nothing to wait for.
#[inline(never)]
pub fn no_effect(_: &mut Wave, _: &Inst) -> Flow {
    Flow::Next
}

/// Ends the wave.
pub fn s_endpgm(_: &mut Wave, _: &Inst) -> Flow {
    Flow::End
}

/// Kills the wave if the immediate's bit 0 is set: it ends, and nothing else is wrong.
pub fn s_setkill(_: &mut Wave, inst: &Inst) -> Flow {
    if inst.imm & 1 != 0 { Flow::End } else { Flow::Next }
}

/// Sets the wave's priority, which only STATUS shows.
pub fn s_setprio(w: &mut Wave, inst: &Inst) -> Flow {
    hardware::set_priority(w, inst.imm as u32);
    Flow::Next
}

/// Waits until all live waves of the workgroup are here.
pub fn s_barrier(_: &mut Wave, _: &Inst) -> Flow {
    Flow::Barrier
}

/// MODE[3:0] = immediate.
pub fn s_round_mode(w: &mut Wave, inst: &Inst) -> Flow {
    w.mode = Mode(w.mode.0 & !0xf | inst.imm as u32 & 0xf);
    Flow::Next
}

/// MODE[7:4] = immediate.
pub fn s_denorm_mode(w: &mut Wave, inst: &Inst) -> Flow {
    w.mode = Mode(w.mode.0 & !0xf0 | (inst.imm as u32 & 0xf) << 4);
    Flow::Next
}

/// Lets others run.
pub fn s_sleep(_: &mut Wave, _: &Inst) -> Flow {
    Flow::Yield
}

/// The message that asks for the queue's doorbell and gets the answer in EXEC.
const MSG_GET_DOORBELL: u16 = 10;

/// Sends a message to the host; those of the graphics pipeline have no receiver.
pub fn s_sendmsg(w: &mut Wave, inst: &Inst) -> Flow {
    // CAST: the immediate is 16 bits wide.
    let message = inst.imm as u16;
    if message & 0xf == MSG_GET_DOORBELL {
        return w.fault(inst, FaultKind::Illegal { name: inst.row.name, why: Restriction::Doorbell });
    }
    w.surroundings.host.message(message, w.m0());
    Flow::Next
}

/// Sends a message to the host and halts.
pub fn s_sendmsghalt(w: &mut Wave, inst: &Inst) -> Flow {
    match s_sendmsg(w, inst) {
        Flow::Next => w.fault(inst, FaultKind::Halt),
        stopped => stopped,
    }
}

/// Halts the wave if the immediate's bit 0 is set; no debugger is there to resume it.
pub fn s_sethalt(w: &mut Wave, inst: &Inst) -> Flow {
    if inst.imm & 1 != 0 { w.fault(inst, FaultKind::Halt) } else { Flow::Next }
}

/// Trap 3 is a debugger's break point, which goes on when there is no debugger; all others stop the wave
/// (LLVM AMDGPUUsage, "Trap Handler ABI").
pub fn s_trap(w: &mut Wave, inst: &Inst) -> Flow {
    match inst.imm as u8 {
        3 => Flow::Next,
        id => w.fault(inst, FaultKind::Trap { id }),
    }
}

/// Turns VGPR indexing off.
pub fn s_set_gpr_idx_off(w: &mut Wave, _: &Inst) -> Flow {
    w.mode = Mode(w.mode.0 & !Mode::GPR_INDEX);
    Flow::Yield
}

/// M0[15:12] = immediate: which operands are indexed.
pub fn s_set_gpr_idx_mode(w: &mut Wave, inst: &Inst) -> Flow {
    w.set_scalar(Operand::M0, w.m0() & !0xf000 | (inst.imm as u32 & 0xf) << 12);
    Flow::Next
}
