//! What the matrices of an instruction hold, and how their products are summed.

use super::format::Format;
use crate::isa::Target;

/// How products are summed; see the [module](super).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sum {
    /// One fused multiplication and addition after the other, in single or (f64) double precision.
    Chain,
    /// Trees of f32 additions over so many products.
    Pairwise(usize),
    /// Aligned sums of at most so many products.
    Fused(usize),
    /// Aligned sums of 16 products, even and odd ones apart.
    FusedBytes,
    /// 32-bit integers.
    Integer,
}

/// Elements of A, elements of B, and the sum of their products.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    pub a: Format,
    pub b: Format,
    pub sum: Sum,
}

impl Product {
    /// The product as `target` has it: the 8-bit floats of gfx950 are those of the Open Compute Project.
    #[inline(always)]
    pub(super) fn on(self, target: Target) -> Self {
        let format = |format| match format {
            Format::Fp8Fnuz if target == Target::Gfx950 => Format::Fp8,
            Format::Bf8Fnuz if target == Target::Gfx950 => Format::Bf8,
            same => same,
        };
        Self { a: format(self.a), b: format(self.b), ..self }
    }
}

/// The numbers of an instruction, as a type for the instruction tables.
pub(crate) trait Numbers {
    const PRODUCT: Product;
}

macro_rules! numbers {
    ($($(#[$meta:meta])* $name:ident: $a:ident * $b:ident, $sum:expr;)*) => {$(
        $(#[$meta])*
        pub(crate) struct $name;

        impl Numbers for $name {
            const PRODUCT: Product = Product { a: Format::$a, b: Format::$b, sum: $sum };
        }
    )*};
}

numbers! {
    /// Singles.
    F32: F32 * F32, Sum::Chain;
    /// Doubles.
    F64: F64 * F64, Sum::Chain;
    /// Signed bytes.
    I8: I8 * I8, Sum::Integer;
    /// Halves, on gfx90a.
    PairedF16: F16Flushed * F16Flushed, Sum::Pairwise(4);
    /// Upper halves of singles, on gfx90a; the instructions of gfx908.
    PairedBf16: Bf16Flushed * Bf16Flushed, Sum::Pairwise(2);
    /// Upper halves of singles, on gfx90a; the `_1k` instructions.
    PairedBf16Of1k: Bf16Flushed * Bf16Flushed, Sum::Pairwise(4);
    /// Halves, on gfx942 and gfx950.
    F16: F16 * F16, Sum::Fused(8);
    /// Upper halves of singles, on gfx942 and gfx950.
    Bf16: Bf16 * Bf16, Sum::Fused(8);
    /// Singles with a fraction of 10 bits.
    Xf32: Xf32 * Xf32, Sum::Fused(4);
    Fp8Fp8: Fp8Fnuz * Fp8Fnuz, Sum::FusedBytes;
    Fp8Bf8: Fp8Fnuz * Bf8Fnuz, Sum::FusedBytes;
    Bf8Fp8: Bf8Fnuz * Fp8Fnuz, Sum::FusedBytes;
    Bf8Bf8: Bf8Fnuz * Bf8Fnuz, Sum::FusedBytes;
}
