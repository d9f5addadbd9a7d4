//! Floating-point instructions of the scalar ALU (RDNA 3.5 and 4): the vector instructions of the same name, executed
//! by one lane, into a register that RDNA does not have.

use super::{approx, compare, convert, float, rdna};
use crate::{
    isa::{Flow, Inst, Operand, inst::Form},
    wave::Wave,
};

/// A vector instruction.
type Lanes = fn(&mut Wave, &Inst) -> Flow;

/// Where the lane's result goes: an accumulation register.
const RESULT: Operand = Operand::agpr(255);

/// Runs a vector instruction on lane 0.
fn run(w: &mut Wave, inst: Inst, exec: Lanes) -> u32 {
    let live = std::mem::replace(&mut w.exec, 1);
    let inst = Inst { form: Form::of(&inst), ..inst };
    exec(w, &inst);
    w.exec = live;
    // PANIC: it is a register of the file.
    RESULT.row().map_or(0, |row| w.row(row)[0])
}

fn compute(w: &mut Wave, inst: &Inst, exec: Lanes, change: impl Fn(&mut Inst)) -> Flow {
    let mut on_lane = *inst;
    change(&mut on_lane);
    let value = run(w, Inst { dst: RESULT, ..on_lane }, exec);
    w.set_scalar(inst.dst, value);
    Flow::Next
}

macro_rules! computations {
    ($($name:ident: $exec:path $(, |$inst:ident| $change:expr)?;)*) => {$(
        pub(crate) fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            #[allow(unused_variables)]
            compute(w, inst, $exec, |inst| {
                $(let $inst = inst; $change)?
            })
        }
    )*};
}

computations! {
    s_add_f32: float::v_add_f32;
    s_sub_f32: float::v_sub_f32;
    s_mul_f32: float::v_mul_f32;
    s_min_f32: float::v_min_f32;
    s_max_f32: float::v_max_f32;
    s_minimum_f32: rdna::v_minimum_f32;
    s_maximum_f32: rdna::v_maximum_f32;
    // The destination is the addend.
    s_fmac_f32: float::v_fma_f32, |inst| inst.src[2] = inst.dst;
    s_fmaak_f32: float::v_fma_f32, |inst| inst.src[2] = Operand::LITERAL;
    s_fmamk_f32: float::v_fma_f32, |inst| inst.src = [inst.src[0], Operand::LITERAL, inst.src[1]];
    s_add_f16: float::v_add_f16;
    s_sub_f16: float::v_sub_f16;
    s_mul_f16: float::v_mul_f16;
    s_min_f16: float::v_min_f16;
    s_max_f16: float::v_max_f16;
    s_minimum_f16: rdna::v_minimum_f16;
    s_maximum_f16: rdna::v_maximum_f16;
    s_fmac_f16: float::v_fma_f16, |inst| inst.src[2] = inst.dst;
    s_cvt_pk_rtz_f16_f32: convert::v_cvt_pkrtz_f16_f32;
    s_ceil_f32: float::v_ceil_f32;
    s_floor_f32: float::v_floor_f32;
    s_trunc_f32: float::v_trunc_f32;
    s_rndne_f32: float::v_rndne_f32;
    s_ceil_f16: float::v_ceil_f16;
    s_floor_f16: float::v_floor_f16;
    s_trunc_f16: float::v_trunc_f16;
    s_rndne_f16: float::v_rndne_f16;
    s_cvt_f32_i32: convert::v_cvt_f32_i32;
    s_cvt_f32_u32: convert::v_cvt_f32_u32;
    s_cvt_i32_f32: convert::v_cvt_i32_f32;
    s_cvt_u32_f32: convert::v_cvt_u32_f32;
    s_cvt_f16_f32: convert::v_cvt_f16_f32;
    s_cvt_f32_f16: convert::v_cvt_f32_f16;
    s_cvt_hi_f32_f16: convert::v_cvt_f32_f16, |inst| inst.mods.op_sel = 1;
    v_s_exp_f32: approx::v_exp_f32;
    v_s_exp_f16: approx::v_exp_f16;
    v_s_log_f32: approx::v_log_f32;
    v_s_log_f16: approx::v_log_f16;
    v_s_rcp_f32: approx::v_rcp_f32;
    v_s_rcp_f16: approx::v_rcp_f16;
    v_s_rsq_f32: approx::v_rsq_f32;
    v_s_rsq_f16: approx::v_rsq_f16;
    v_s_sqrt_f32: approx::v_sqrt_f32;
    v_s_sqrt_f16: approx::v_sqrt_f16;
}

/// Sets SCC as a vector comparison sets its lane's bit.
fn judge(w: &mut Wave, inst: &Inst, exec: Lanes) -> Flow {
    let vcc = [Operand::VCC_LO, Operand::VCC_HI].map(|op| w.scalar(op, inst));
    run(w, Inst { sdst: Operand::VCC_LO, ..*inst }, exec);
    w.scc = w.scalar(Operand::VCC_LO, inst) & 1 != 0;
    w.set_scalar(Operand::VCC_LO, vcc[0]);
    w.set_scalar(Operand::VCC_HI, vcc[1]);
    Flow::Next
}

macro_rules! comparisons {
    ($($name:ident, $half:ident: $single:ident;)*) => {$(
        pub(crate) fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            judge(w, inst, compare::$single)
        }
        // The low bits of the opcodes are those of the vector instructions.
        pub(crate) fn $half(w: &mut Wave, inst: &Inst) -> Flow {
            judge(w, inst, compare::v_cmp_f16)
        }
    )*};
}

comparisons! {
    s_cmp_lt_f32, s_cmp_lt_f16: v_cmp_lt_f32;
    s_cmp_eq_f32, s_cmp_eq_f16: v_cmp_eq_f32;
    s_cmp_le_f32, s_cmp_le_f16: v_cmp_le_f32;
    s_cmp_gt_f32, s_cmp_gt_f16: v_cmp_gt_f32;
    s_cmp_lg_f32, s_cmp_lg_f16: v_cmp_lg_f32;
    s_cmp_ge_f32, s_cmp_ge_f16: v_cmp_ge_f32;
    s_cmp_o_f32, s_cmp_o_f16: v_cmp_o_f32;
    s_cmp_u_f32, s_cmp_u_f16: v_cmp_u_f32;
    s_cmp_nge_f32, s_cmp_nge_f16: v_cmp_nge_f32;
    s_cmp_nlg_f32, s_cmp_nlg_f16: v_cmp_nlg_f32;
    s_cmp_ngt_f32, s_cmp_ngt_f16: v_cmp_ngt_f32;
    s_cmp_nle_f32, s_cmp_nle_f16: v_cmp_nle_f32;
    s_cmp_neq_f32, s_cmp_neq_f16: v_cmp_neq_f32;
    s_cmp_nlt_f32, s_cmp_nlt_f16: v_cmp_nlt_f32;
}
