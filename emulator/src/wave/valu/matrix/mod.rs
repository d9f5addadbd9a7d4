//! Matrix instructions: MFMA and SMFMAC.
//!
//! D = C + A * B, where A is N x K, B is K x N, C and D are N x N, and some shapes do several such blocks at once.
//! The elements lie in the registers of all 64 lanes ([`layout`]), live or not: EXEC does not matter. All sources are
//! read before D is written, so any registers may overlap.
//!
//! # Arithmetic
//! AMD documents formats, but not the order and precision of the sums. Those were measured on MI250X and MI300X by
//! Xie et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores" (arXiv 2511.10909), whose
//! findings this follows. S is the running sum, which begins as C:
//!
//! | elements | gfx90a | gfx942 |
//! |---|---|---|
//! | f32, f64 | S = fma(a, b, S) for one k after the other | the same |
//! | f16, bf16 | [`pairwise`]: sums of 4 products (bf16 without `_1k`: 2) as a tree of f32 additions, then added to S; denormals of A, B, C and of every step become 0 | [`fused`]: 8 products aligned, truncated and summed, then added to S and rounded once; denormals are kept |
//! | xf32 | | as f16, 4 products, of elements truncated to 10 bits of fraction |
//! | fp8, bf8 | | as f16, 16 products |
//! | i8 | 32-bit integers | the same |
//!
//! Everything rounds to nearest even whatever MODE says. MODE matters twice (MI300 ISA, 7.1 and 7.3): f32 elements of
//! A and B are flushed where it flushes inputs, and FP16_OVFL turns the overflow of a result into the largest finite
//! value (f32) or saturates (i8). The MI200 manual being silent, gfx90a does the same. A NaN in D is always the
//! default NaN.
//!
//! SMFMAC was not measured; it sums the stored elements of A as MFMA sums as many elements.
//!
//! # Modifiers
//! AMD's matrix instruction calculator says which instruction has which of them. One that an instruction lacks, or a
//! value out of range, is a fault.

mod buffer;
mod chain;
mod exception;
mod format;
mod fused;
mod layout;
mod multiply;
mod numbers;
mod operand;
mod pairwise;
mod split;

use crate::{
    isa::{Flow, Inst},
    wave::Wave,
};
use layout::Shape;
pub(crate) use numbers::*;

/// D = C + A * B in `BLOCKS` blocks of N x N x K elements.
pub(crate) fn mfma<T: Numbers, const N: usize, const K: usize, const BLOCKS: usize>(
    wave: &mut Wave,
    inst: &Inst,
) -> Flow {
    multiply::dense(wave, inst, Shape { n: N, k: K, blocks: BLOCKS }, T::PRODUCT)
}

/// D = D + A * B, where half of A's elements are absent: source 2 says which.
pub(crate) fn smfmac<T: Numbers, const N: usize, const K: usize>(wave: &mut Wave, inst: &Inst) -> Flow {
    multiply::sparse(wave, inst, Shape { n: N, k: K, blocks: 1 }, T::PRODUCT)
}
