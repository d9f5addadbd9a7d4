//! Semantics of the vector ALU: VOP1, VOP2, VOPC, VOP3 and VOP3P.
//!
//! An instruction is a function of one lane. [`map`] turns it into a loop over rows of 64 lanes, a [`kernel`], that is
//! compiled for several instruction sets ([`crate::wave::simd`]). It runs on the register file where it can. Where
//! operands are scalars or the encoding changes them (SDWA, DPP, op_sel, abs, neg, clamp, omod), and where lanes are
//! dead, [`general`] runs the same loop on prepared copies, which [`source`] and [`result`] make and put away.
//! [`mode`] picks the arithmetic: the host's in the default mode, integers ([`soft`]) in the other rounding modes.
//!
//! Encodings that no manual gives a meaning stop the wave with a fault that names the instruction ([`select`] and
//! the short forms of [`dot`] and [`packed`]).
//!
//! NaNs: an invalid operation gives the default NaN of x86, and which of two NaN operands an operation returns is
//! the host's choice; AMD documents neither.

pub(crate) mod approx;
pub(crate) mod bits;
pub(crate) mod carry;
mod chunk;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod cross;
pub(crate) mod divide;
pub(crate) mod dot;
pub(crate) mod double;
mod dpp;
pub(crate) mod float;
pub(crate) mod fp8;
mod general;
mod half;
pub(crate) mod integer;
mod kernel;
mod lane;
mod map;
pub(crate) mod matrix;
pub(crate) mod media;
pub(crate) mod mix;
mod modal;
mod mode;
pub(crate) mod packed;
pub(crate) mod rdna;
mod result;
mod rows;
pub(crate) mod scale;
mod sdwa;
pub(crate) mod select;
pub(crate) mod small;
mod soft;
mod source;
pub(crate) mod trig;
pub(crate) mod uniform;

#[cfg(test)]
mod tests;
