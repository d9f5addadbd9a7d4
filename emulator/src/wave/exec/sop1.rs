//! SOP1: scalar operations on one source (MI200 ISA, 12.3).

use super::{clock, smem};
use crate::{
    isa::{Flow, Inst, Operand},
    wave::{FaultKind, Wave},
};

/// Operations whose result goes to SDST and which leave SCC alone.
macro_rules! sop1 {
    ($($name:ident: $read:ident, $write:ident, |$a:ident| $value:expr;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            let $a = w.$read(inst.src[0], inst);
            let value = $value;
            w.$write(inst.dst, value);
            Flow::Next
        }
    )*};
}

/// Operations that set SCC when the result is not zero.
macro_rules! nonzero {
    ($($name:ident: $read:ident, $write:ident, |$a:ident| $value:expr;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            let $a = w.$read(inst.src[0], inst);
            let value = $value;
            w.scc = value != 0;
            w.$write(inst.dst, value);
            Flow::Next
        }
    )*};
}

/// D = EXEC; EXEC = f(S0, EXEC); SCC = EXEC != 0.
macro_rules! saveexec {
    ($($name:ident: |$s:ident, $exec:ident| $value:expr;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            let $s = w.scalar64(inst.src[0], inst);
            let $exec = w.exec;
            w.set_scalar64(inst.dst, $exec);
            w.set_exec($value);
            w.scc = w.exec != 0;
            Flow::Next
        }
    )*};
}

/// EXEC = f(S0, EXEC); D = EXEC; SCC = EXEC != 0.
macro_rules! wrexec {
    ($($name:ident: |$s:ident, $exec:ident| $value:expr;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            let $s = w.scalar64(inst.src[0], inst);
            let $exec = w.exec;
            w.set_exec($value);
            w.scc = w.exec != 0;
            w.set_scalar64(inst.dst, w.exec);
            Flow::Next
        }
    )*};
}

sop1! {
    s_mov_b32: scalar, set_scalar, |a| a;
    s_mov_b64: scalar64, set_scalar64, |a| a;
    s_brev_b32: scalar, set_scalar, |a| a.reverse_bits();
    s_brev_b64: scalar64, set_scalar64, |a| a.reverse_bits();
    s_ff0_i32_b32: scalar, set_scalar, |a| first(u64::from(!a));
    s_ff0_i32_b64: scalar64, set_scalar, |a| first(!a);
    s_ff1_i32_b32: scalar, set_scalar, |a| first(u64::from(a));
    s_ff1_i32_b64: scalar64, set_scalar, |a| first(a);
    s_flbit_i32_b32: scalar, set_scalar, |a| if a == 0 { u32::MAX } else { a.leading_zeros() };
    s_flbit_i32_b64: scalar64, set_scalar, |a| if a == 0 { u32::MAX } else { a.leading_zeros() };
    s_flbit_i32: scalar, set_scalar, |a| {
        // The first bit that differs from the sign.
        let differs = a ^ (a as i32 >> 31) as u32;
        if differs == 0 { u32::MAX } else { differs.leading_zeros() }
    };
    s_flbit_i32_i64: scalar64, set_scalar, |a| {
        let differs = a ^ (a as i64 >> 63) as u64;
        if differs == 0 { u32::MAX } else { differs.leading_zeros() }
    };
    s_sext_i32_i8: scalar, set_scalar, |a| i32::from(a as i8) as u32;
    s_sext_i32_i16: scalar, set_scalar, |a| i32::from(a as i16) as u32;
    s_bitreplicate_b64_b32: scalar, set_scalar64, |a| {
        let spread = spread(a);
        spread | spread << 1
    };
}

nonzero! {
    s_not_b32: scalar, set_scalar, |a| !a;
    s_not_b64: scalar64, set_scalar64, |a| !a;
    s_wqm_b32: scalar, set_scalar, |a| whole_quads(u64::from(a)) as u32;
    s_wqm_b64: scalar64, set_scalar64, |a| whole_quads(a);
    s_bcnt0_i32_b32: scalar, set_scalar, |a| a.count_zeros();
    s_bcnt0_i32_b64: scalar64, set_scalar, |a| a.count_zeros();
    s_bcnt1_i32_b32: scalar, set_scalar, |a| a.count_ones();
    s_bcnt1_i32_b64: scalar64, set_scalar, |a| a.count_ones();
    s_quadmask_b32: scalar, set_scalar, |a| quad_mask(u64::from(a)) as u32;
    s_quadmask_b64: scalar64, set_scalar64, |a| quad_mask(a);
    s_abs_i32: scalar, set_scalar, |a| (a as i32).wrapping_abs() as u32;
}

/// As [`saveexec`] and [`wrexec`], of the lower half of EXEC.
macro_rules! exec32 {
    ($($save:ident $(, $write:ident)?: |$s:ident, $exec:ident| $value:expr;)*) => {$(
        pub fn $save(w: &mut Wave, inst: &Inst) -> Flow {
            let ($s, $exec) = (w.scalar(inst.src[0], inst), w.exec as u32);
            w.set_scalar(inst.dst, $exec);
            set_exec32(w, $value);
            Flow::Next
        }
        $(pub fn $write(w: &mut Wave, inst: &Inst) -> Flow {
            let ($s, $exec) = (w.scalar(inst.src[0], inst), w.exec as u32);
            set_exec32(w, $value);
            w.set_scalar(inst.dst, w.exec as u32);
            Flow::Next
        })?
    )*};
}

fn set_exec32(w: &mut Wave, value: u32) {
    w.set_scalar(Operand::EXEC_LO, value);
    w.scc = value != 0;
}

exec32! {
    s_and_saveexec_b32: |s, exec| s & exec;
    s_or_saveexec_b32: |s, exec| s | exec;
    s_xor_saveexec_b32: |s, exec| s ^ exec;
    s_andn2_saveexec_b32, s_andn2_wrexec_b32: |s, exec| s & !exec;
    s_orn2_saveexec_b32: |s, exec| s | !exec;
    s_nand_saveexec_b32: |s, exec| !(s & exec);
    s_nor_saveexec_b32: |s, exec| !(s | exec);
    s_xnor_saveexec_b32: |s, exec| !(s ^ exec);
    s_andn1_saveexec_b32, s_andn1_wrexec_b32: |s, exec| !s & exec;
    s_orn1_saveexec_b32: |s, exec| !s | exec;
}

saveexec! {
    s_and_saveexec_b64: |s, exec| s & exec;
    s_or_saveexec_b64: |s, exec| s | exec;
    s_xor_saveexec_b64: |s, exec| s ^ exec;
    s_andn2_saveexec_b64: |s, exec| s & !exec;
    s_orn2_saveexec_b64: |s, exec| s | !exec;
    s_nand_saveexec_b64: |s, exec| !(s & exec);
    s_nor_saveexec_b64: |s, exec| !(s | exec);
    s_xnor_saveexec_b64: |s, exec| !(s ^ exec);
    s_andn1_saveexec_b64: |s, exec| !s & exec;
    s_orn1_saveexec_b64: |s, exec| !s | exec;
}

wrexec! {
    s_andn1_wrexec_b64: |s, exec| !s & exec;
    s_andn2_wrexec_b64: |s, exec| s & !exec;
}

/// Index of the lowest set bit, all ones when there is none.
#[inline(always)]
fn first(bits: u64) -> u32 {
    if bits == 0 { u32::MAX } else { bits.trailing_zeros() }
}

/// Bit 4n of the result: any of bits 4n..4n+3.
#[inline(always)]
fn any_in_quad(bits: u64) -> u64 {
    (bits | bits >> 1 | bits >> 2 | bits >> 3) & 0x1111_1111_1111_1111
}

#[inline(always)]
fn whole_quads(bits: u64) -> u64 {
    any_in_quad(bits) * 15
}

#[inline(always)]
fn quad_mask(bits: u64) -> u64 {
    let quads = any_in_quad(bits);
    (0..16).fold(0, |mask, i| mask | (quads >> (4 * i) & 1) << i)
}

/// Moves bit i to bit 2i.
#[inline(always)]
fn spread(value: u32) -> u64 {
    let mut v = u64::from(value);
    v = (v | v << 16) & 0x0000_ffff_0000_ffff;
    v = (v | v << 8) & 0x00ff_00ff_00ff_00ff;
    v = (v | v << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    v = (v | v << 2) & 0x3333_3333_3333_3333;
    (v | v << 1) & 0x5555_5555_5555_5555
}

/// If SCC then D = S0.
pub fn s_cmov_b32(w: &mut Wave, inst: &Inst) -> Flow {
    if w.scc {
        w.set_scalar(inst.dst, w.scalar(inst.src[0], inst));
    }
    Flow::Next
}

/// If SCC then D = S0.
pub fn s_cmov_b64(w: &mut Wave, inst: &Inst) -> Flow {
    if w.scc {
        w.set_scalar64(inst.dst, w.scalar64(inst.src[0], inst));
    }
    Flow::Next
}

/// Clears bit S0 of D.
pub fn s_bitset0_b32(w: &mut Wave, inst: &Inst) -> Flow {
    let bit = 1 << (w.scalar(inst.src[0], inst) & 31);
    w.set_scalar(inst.dst, w.scalar(inst.dst, inst) & !bit);
    Flow::Next
}

/// Clears bit S0 of D.
pub fn s_bitset0_b64(w: &mut Wave, inst: &Inst) -> Flow {
    let bit = 1 << (w.scalar(inst.src[0], inst) & 63);
    w.set_scalar64(inst.dst, w.scalar64(inst.dst, inst) & !bit);
    Flow::Next
}

/// Sets bit S0 of D.
pub fn s_bitset1_b32(w: &mut Wave, inst: &Inst) -> Flow {
    let bit = 1 << (w.scalar(inst.src[0], inst) & 31);
    w.set_scalar(inst.dst, w.scalar(inst.dst, inst) | bit);
    Flow::Next
}

/// Sets bit S0 of D.
pub fn s_bitset1_b64(w: &mut Wave, inst: &Inst) -> Flow {
    let bit = 1 << (w.scalar(inst.src[0], inst) & 63);
    w.set_scalar64(inst.dst, w.scalar64(inst.dst, inst) | bit);
    Flow::Next
}

/// D = address of the next instruction.
pub fn s_getpc_b64(w: &mut Wave, inst: &Inst) -> Flow {
    w.set_scalar64(inst.dst, w.pc);
    Flow::Next
}

/// PC = S0.
pub fn s_setpc_b64(w: &mut Wave, inst: &Inst) -> Flow {
    w.pc = w.scalar64(inst.src[0], inst) & !3;
    Flow::Jump
}

/// D = address of the next instruction; PC = S0.
pub fn s_swappc_b64(w: &mut Wave, inst: &Inst) -> Flow {
    let target = w.scalar64(inst.src[0], inst) & !3;
    w.set_scalar64(inst.dst, w.pc);
    w.pc = target;
    Flow::Jump
}

/// The register `base` + M0; out of range is s0 for a source.
fn relative(w: &Wave, base: Operand) -> Option<Operand> {
    let index = u32::from(base.0).checked_add(w.m0())?;
    (index < 102).then_some(Operand(index as u16))
}

/// D = SGPR[S0 + M0].
pub fn s_movrels_b32(w: &mut Wave, inst: &Inst) -> Flow {
    let source = relative(w, inst.src[0]).unwrap_or(Operand(0));
    w.set_scalar(inst.dst, w.scalar(source, inst));
    Flow::Next
}

/// D = SGPR[S0 + M0].
pub fn s_movrels_b64(w: &mut Wave, inst: &Inst) -> Flow {
    let source = relative(w, inst.src[0]).unwrap_or(Operand(0));
    w.set_scalar64(inst.dst, w.scalar64(source, inst));
    Flow::Next
}

/// SGPR[D + M0] = S0.
pub fn s_movreld_b32(w: &mut Wave, inst: &Inst) -> Flow {
    if let Some(target) = relative(w, inst.dst) {
        w.set_scalar(target, w.scalar(inst.src[0], inst));
    }
    Flow::Next
}

/// SGPR[D + M0] = S0.
pub fn s_movreld_b64(w: &mut Wave, inst: &Inst) -> Flow {
    if let Some(target) = relative(w, inst.dst) {
        w.set_scalar64(target, w.scalar64(inst.src[0], inst));
    }
    Flow::Next
}

/// M0[7:0] = S0[7:0].
pub fn s_set_gpr_idx_idx(w: &mut Wave, inst: &Inst) -> Flow {
    let index = w.scalar(inst.src[0], inst) & 0xff;
    w.set_scalar(Operand::M0, w.m0() & !0xff | index);
    Flow::Next
}

/// SGPR[D + M0[25:16]] = SGPR[S0 + M0[9:0]].
pub fn s_movrelsd_2_b32(w: &mut Wave, inst: &Inst) -> Flow {
    let m0 = w.m0();
    let at = |base: Operand, offset: u32| {
        let index = u32::from(base.0) + (offset & 0x3ff);
        (index < 106).then_some(Operand(index as u16))
    };
    let value = w.scalar(at(inst.src[0], m0).unwrap_or(Operand(0)), inst);
    if let Some(target) = at(inst.dst, m0 >> 16) {
        w.set_scalar(target, value);
    }
    Flow::Next
}

/// The question that the time of day answers.
const MSG_RTN_GET_REALTIME: i32 = 131;

/// D = what the immediate asks for.
pub fn s_sendmsg_rtn_b64(w: &mut Wave, inst: &Inst) -> Flow {
    match inst.imm {
        MSG_RTN_GET_REALTIME => smem::s_memrealtime(w, inst),
        _ => w.fault(inst, FaultKind::Unimplemented { name: inst.row.name }),
    }
}

/// D = the lower half of what the immediate asks for.
pub fn s_sendmsg_rtn_b32(w: &mut Wave, inst: &Inst) -> Flow {
    match inst.imm {
        MSG_RTN_GET_REALTIME => {
            // CAST: the lower half.
            w.set_scalar(inst.dst, clock::realtime() as u32);
            Flow::Next
        }
        _ => w.fault(inst, FaultKind::Unimplemented { name: inst.row.name }),
    }
}

/// Lets others run.
pub fn s_sleep_var(_: &mut Wave, _: &Inst) -> Flow {
    Flow::Yield
}
