//! Matrix instructions: MFMA and SMFMAC.
//!
//! D = C + A * B, where A is N x K, B is K x N, C and D are N x N, and some shapes do several such blocks at once.
//! The elements lie in the registers of all 64 lanes ([`layout`]), live or not: EXEC does not matter. All sources are
//! read before D is written, so any registers may overlap.
//!
//! # Arithmetic
//! AMD documents formats, but not the order and precision of the sums. Those were measured on MI250X and MI300X by
//! Xie et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores" (arXiv 2511.10909, PyPI mmasim
//! 2.1.1), whose findings this follows. S is the running sum, which begins as C:
//!
//! | elements | gfx90a | gfx942, gfx950 |
//! |---|---|---|
//! | f32, f64 | S = fma(a, b, S) for one k after the other | the same |
//! | f16, bf16 | [`pairwise`]: sums of 4 products (bf16 without `_1k`: 2) as a tree of f32 additions, then added to S; denormals of A, B, C and of every step become 0 | [`fused`]: 8 products aligned, truncated and summed, then added to S and rounded once; denormals are kept |
//! | xf32 | | as f16, 4 products, of elements truncated to 10 bits of fraction |
//! | fp8, bf8, fp6, bf6, fp4 | | as f16, 16 products |
//! | i8 | 32-bit integers | the same |
//!
//! gfx950 was not measured: its sums are taken to be those of gfx942, in as many groups as k has, and the sum of a group
//! to be scaled before S is added, which is where AMD says that scales act (ROCm blog, "Matrix Core Programming on AMD
//! CDNA3 and CDNA4 architecture"). It has 8-bit floats of the Open Compute Project where gfx942 has its own, no xf32,
//! and alone the floats of 6 and 4 bits.
//!
//! Everything rounds to nearest even whatever MODE says. MODE matters twice (MI300 ISA, 7.1 and 7.3): f32 elements of
//! A and B are flushed where it flushes inputs, and FP16_OVFL turns the overflow of a result into the largest finite
//! value (f32) or saturates (i8). The MI200 manual being silent, gfx90a does the same. A NaN in D is always the
//! default NaN.
//!
//! SMFMAC was not measured; it sums the stored elements of A as MFMA sums as many elements.
//!
//! # Scales
//! The f8f6f4 instructions take scales from v_mfma_ld_scale_b32, which is the first half of them: a biased exponent of 8
//! bits for 32 elements of a row of A or of a column of B, 255 being NaN. Row (column) i has the scales of elements 0 to 31
//! in lane i, the next in lane i + n, and so on, whatever lanes the elements are in; Composable Kernel's authors measured
//! that (test/mx_mfma_op).
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
pub(crate) mod wmma;

use crate::{
    isa::{Flow, Inst},
    wave::{FaultKind, Restriction, Wave},
};
use layout::Shape;
pub(crate) use numbers::*;

/// D = C + A * B in `BLOCKS` blocks of N x N x K elements.
pub(crate) fn mfma<T: Numbers, const N: usize, const K: usize, const BLOCKS: usize>(
    wave: &mut Wave,
    inst: &Inst,
) -> Flow {
    multiply::dense(wave, inst, Shape { n: N, k: K, blocks: BLOCKS }, T::PRODUCT.on(wave.target))
}

/// D = D + A * B, where half of A's elements are absent: source 2 says which.
pub(crate) fn smfmac<T: Numbers, const N: usize, const K: usize>(wave: &mut Wave, inst: &Inst) -> Flow {
    multiply::sparse(wave, inst, Shape { n: N, k: K, blocks: 1 }, T::PRODUCT.on(wave.target))
}

/// D = C + A * B, of floats of 8, 6 and 4 bits, and of scales if v_mfma_ld_scale_b32 precedes.
pub(crate) fn mfma_f8f6f4<const N: usize, const K: usize>(wave: &mut Wave, inst: &Inst) -> Flow {
    multiply::scaled(wave, inst, Shape { n: N, k: K, blocks: 1 })
}

/// v_mfma_ld_scale_b32 on its own. Before an instruction that takes the scales it is part of that.
pub(crate) fn ld_scale(wave: &mut Wave, inst: &Inst) -> Flow {
    wave.fault(inst, FaultKind::Illegal { name: inst.row.name, why: Restriction::NoMatrix })
}
