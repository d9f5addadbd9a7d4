//! SOPC: scalar compares (MI200 ISA, 12.4).

use crate::{
    isa::{Flow, Inst, Operand},
    wave::{Mode, Wave},
};

/// SCC = f(S0, S1).
macro_rules! compare {
    ($($name:ident: $read0:ident, $read1:ident, |$a:ident, $b:ident| $value:expr;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            let $a = w.$read0(inst.src[0], inst);
            let $b = w.$read1(inst.src[1], inst);
            w.scc = $value;
            Flow::Next
        }
    )*};
}

compare! {
    s_cmp_eq_i32: scalar, scalar, |a, b| a == b;
    s_cmp_lg_i32: scalar, scalar, |a, b| a != b;
    s_cmp_gt_i32: scalar, scalar, |a, b| a as i32 > b as i32;
    s_cmp_ge_i32: scalar, scalar, |a, b| a as i32 >= b as i32;
    s_cmp_lt_i32: scalar, scalar, |a, b| (a as i32) < b as i32;
    s_cmp_le_i32: scalar, scalar, |a, b| a as i32 <= b as i32;
    s_cmp_eq_u32: scalar, scalar, |a, b| a == b;
    s_cmp_lg_u32: scalar, scalar, |a, b| a != b;
    s_cmp_gt_u32: scalar, scalar, |a, b| a > b;
    s_cmp_ge_u32: scalar, scalar, |a, b| a >= b;
    s_cmp_lt_u32: scalar, scalar, |a, b| a < b;
    s_cmp_le_u32: scalar, scalar, |a, b| a <= b;
    s_bitcmp0_b32: scalar, scalar, |a, b| a >> (b & 31) & 1 == 0;
    s_bitcmp1_b32: scalar, scalar, |a, b| a >> (b & 31) & 1 == 1;
    s_bitcmp0_b64: scalar64, scalar, |a, b| a >> (b & 63) & 1 == 0;
    s_bitcmp1_b64: scalar64, scalar, |a, b| a >> (b & 63) & 1 == 1;
    s_cmp_eq_u64: scalar64, scalar64, |a, b| a == b;
    s_cmp_lg_u64: scalar64, scalar64, |a, b| a != b;
}

/// MODE.VSKIP = bit S1 of S0: whether vector instructions are skipped.
pub fn s_setvskip(w: &mut Wave, inst: &Inst) -> Flow {
    let skip = w.scalar(inst.src[0], inst) >> (w.scalar(inst.src[1], inst) & 31) & 1 == 1;
    let others = w.mode.0 & !Mode::VSKIP;
    w.mode = Mode(if skip { others | Mode::VSKIP } else { others });
    Flow::Yield
}

/// Turns VGPR indexing on: M0[7:0] = S0[7:0], M0[15:12] = the immediate that stands in the SSRC1 field.
pub fn s_set_gpr_idx_on(w: &mut Wave, inst: &Inst) -> Flow {
    let index = w.scalar(inst.src[0], inst) & 0xff;
    let roles = inst.word0 >> 8 & 0xf;
    w.set_scalar(Operand::M0, w.m0() & !0xf0ff | roles << 12 | index);
    w.mode = Mode(w.mode.0 | Mode::GPR_INDEX);
    Flow::Yield
}
