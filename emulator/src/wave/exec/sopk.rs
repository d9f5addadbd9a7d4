//! SOPK: scalar operations with a 16-bit immediate (MI200 ISA, 12.2).

use super::hardware;
use crate::{
    isa::{Flow, Inst, Operand},
    wave::Wave,
};

/// SCC = f(D, immediate), the immediate sign-extended for `i32` and zero-extended for `u32`.
macro_rules! compare {
    ($($name:ident: $ty:ty, $ext:ty, |$a:ident, $b:ident| $value:expr;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            let $a = w.scalar(inst.dst, inst) as $ty;
            let $b = <$ty>::from(inst.imm as $ext);
            w.scc = $value;
            Flow::Next
        }
    )*};
}

compare! {
    s_cmpk_eq_i32: i32, i16, |a, b| a == b;
    s_cmpk_lg_i32: i32, i16, |a, b| a != b;
    s_cmpk_gt_i32: i32, i16, |a, b| a > b;
    s_cmpk_ge_i32: i32, i16, |a, b| a >= b;
    s_cmpk_lt_i32: i32, i16, |a, b| a < b;
    s_cmpk_le_i32: i32, i16, |a, b| a <= b;
    s_cmpk_eq_u32: u32, u16, |a, b| a == b;
    s_cmpk_lg_u32: u32, u16, |a, b| a != b;
    s_cmpk_gt_u32: u32, u16, |a, b| a > b;
    s_cmpk_ge_u32: u32, u16, |a, b| a >= b;
    s_cmpk_lt_u32: u32, u16, |a, b| a < b;
    s_cmpk_le_u32: u32, u16, |a, b| a <= b;
}

/// D = immediate.
pub fn s_movk_i32(w: &mut Wave, inst: &Inst) -> Flow {
    w.set_scalar(inst.dst, immediate(inst) as u32);
    Flow::Next
}

/// If SCC then D = immediate.
pub fn s_cmovk_i32(w: &mut Wave, inst: &Inst) -> Flow {
    if w.scc {
        w.set_scalar(inst.dst, immediate(inst) as u32);
    }
    Flow::Next
}

/// D += immediate; SCC is the signed overflow.
pub fn s_addk_i32(w: &mut Wave, inst: &Inst) -> Flow {
    let (sum, overflow) = (w.scalar(inst.dst, inst) as i32).overflowing_add(immediate(inst));
    w.scc = overflow;
    w.set_scalar(inst.dst, sum as u32);
    Flow::Next
}

/// D *= immediate.
pub fn s_mulk_i32(w: &mut Wave, inst: &Inst) -> Flow {
    let product = (w.scalar(inst.dst, inst) as i32).wrapping_mul(immediate(inst));
    w.set_scalar(inst.dst, product as u32);
    Flow::Next
}

/// D = address of the next instruction; PC += 4 * immediate.
pub fn s_call_b64(w: &mut Wave, inst: &Inst) -> Flow {
    w.set_scalar64(inst.dst, w.pc);
    jump(w, inst)
}

/// Begins code that is executed for the lower half of the live lanes and then for the upper one: the half that is not yet
/// done is in D (RDNA2 ISA, S_SUBVECTOR_LOOP_BEGIN).
pub fn s_subvector_loop_begin(w: &mut Wave, inst: &Inst) -> Flow {
    let [low, high] = halves(w);
    if low | high == 0 {
        return jump(w, inst);
    }
    if low == 0 {
        w.set_scalar(inst.dst, 0);
    } else {
        w.set_scalar(inst.dst, high);
        w.set_scalar(Operand::EXEC_HI, 0);
    }
    Flow::Next
}

/// Goes back for the upper half, or makes whole what [`s_subvector_loop_begin`] took apart.
pub fn s_subvector_loop_end(w: &mut Wave, inst: &Inst) -> Flow {
    let (other, [low, high]) = (w.scalar(inst.dst, inst), halves(w));
    if high != 0 {
        w.set_scalar(Operand::EXEC_LO, other);
    } else if other != 0 {
        w.set_scalar(Operand::EXEC_HI, other);
        w.set_scalar(inst.dst, low);
        w.set_scalar(Operand::EXEC_LO, 0);
        return jump(w, inst);
    }
    Flow::Next
}

/// Live lanes from 0 on, and from 32 on.
fn halves(w: &Wave) -> [u32; 2] {
    // CAST: 32 bits each.
    [w.exec as u32, (w.exec >> 32) as u32]
}

fn jump(w: &mut Wave, inst: &Inst) -> Flow {
    w.pc = w.pc.wrapping_add_signed(4 * i64::from(immediate(inst)));
    Flow::Jump
}

/// D = a field of a hardware register.
pub fn s_getreg_b32(w: &mut Wave, inst: &Inst) -> Flow {
    let field = hardware::Field::new(inst.imm as u16);
    let value = field.get(hardware::read(w, field.register));
    w.set_scalar(inst.dst, value);
    Flow::Next
}

/// A field of a hardware register = D.
pub fn s_setreg_b32(w: &mut Wave, inst: &Inst) -> Flow {
    set(w, inst, w.scalar(inst.dst, inst))
}

/// A field of a hardware register = literal.
pub fn s_setreg_imm32_b32(w: &mut Wave, inst: &Inst) -> Flow {
    set(w, inst, inst.literal)
}

fn set(w: &mut Wave, inst: &Inst, value: u32) -> Flow {
    let field = hardware::Field::new(inst.imm as u16);
    let altered = w.mode.alters_vectors();
    let old = hardware::read(w, field.register);
    hardware::write(w, field.register, field.set(old, value));
    // The interpreter chooses its loop by these bits when a wave gives way.
    if w.mode.alters_vectors() == altered { Flow::Next } else { Flow::Yield }
}

#[inline(always)]
fn immediate(inst: &Inst) -> i32 {
    i32::from(inst.imm as i16)
}
