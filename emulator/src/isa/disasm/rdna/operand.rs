//! Names of operands.

use super::super::{
    super::{inst::Operand, row::Ty},
    operand,
};

/// The registers from 102 to 105 are like those below; a lane mask is one register.
pub fn name(op: Operand, ty: Ty, literal: u32) -> String {
    let dwords = if ty == Ty::Mask { 1 } else { ty.scalar_dwords(op.0.into()) };
    match op.0 {
        0..=105 if dwords > 1 => format!("s[{}:{}]", op.0, op.0 + dwords - 1),
        0..=105 => format!("s{}", op.0),
        255 if ty == Ty::Mask => operand::immediate32(literal),
        _ if ty == Ty::Mask => operand::name(op, Ty::B32, literal),
        _ => operand::name(op, ty, literal),
    }
}

/// A VGPR of which `is_high` says which half is meant.
pub fn half(op: Operand, is_high: bool) -> String {
    format!("v{}.{}", op.0 - 256, if is_high { 'h' } else { 'l' })
}
