//! Semantics of the vector ALU: VOP1, VOP2, VOPC, VOP3 and VOP3P.
//!
//! An instruction is a function of one lane. [`map`] turns it into a loop over rows of 64 lanes that is compiled for
//! several instruction sets ([`crate::wave::simd`]); [`source`] and [`result`] read and write the rows. Where the
//! encoding changes an operand (SDWA, DPP, op_sel, abs, neg, clamp, omod), the same loop runs on prepared copies.
//! [`mode`] picks the arithmetic: the host's in the default mode, integers ([`soft`]) in the other rounding modes.
//!
//! NaNs: an invalid operation gives the default NaN of x86, and which of two NaN operands an operation returns is
//! the host's choice; AMD documents neither.

pub(crate) mod approx;
pub(crate) mod bits;
pub(crate) mod carry;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod cross;
pub(crate) mod divide;
pub(crate) mod dot;
mod dpp;
pub(crate) mod float;
pub(crate) mod fp8;
mod half;
pub(crate) mod integer;
mod lane;
mod map;
pub(crate) mod matrix;
pub(crate) mod media;
pub(crate) mod mix;
mod mode;
pub(crate) mod packed;
mod result;
mod sdwa;
mod soft;
mod source;
pub(crate) mod trig;

#[cfg(test)]
mod tests;
