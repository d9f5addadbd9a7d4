//! Fused sums of products, as gfx942 has them.
//!
//! A group of products is summed in fixed point. The largest exponent (of two factors added up, not of the normalised
//! product) sets the scale, and every product is truncated, toward zero, to 24 fractional bits at that scale. The sum
//! and the addend are then aligned to the larger of their exponents, rounded down to 32 and 24 fractional bits, and
//! added. The result is normalised, rounded down to 31 fractional bits, and rounded to nearest even. For 8-bit
//! elements the even and the odd products are summed apart, both sums rounded down to 24 fractional bits at the larger
//! scale before they are added, and an addend below the last bit but one is dropped. See the [module](super) for the
//! source.

use super::{
    exception::exceptional,
    layout::{Shape, accumulators, across, lines},
    numbers::Sum,
    split::{Split, power},
};
use crate::wave::{Vector, simd::versions};

/// Fractional bits of an aligned product.
const FRACTION: i32 = 24;

/// `G` rows of B, or columns of A.
#[derive(Clone, Copy)]
struct Group<'a, const N: usize, const G: usize> {
    factors: [&'a [f32; N]; G],
    exponents: [&'a [i32; N]; G],
    /// Indices of the first elements.
    at: [usize; G],
}

impl<'a, const N: usize, const G: usize> Group<'a, N, G> {
    #[inline(always)]
    fn of(matrix: &'a Split<'_>, at: [usize; G]) -> Self {
        Self { factors: lines(&matrix.factors, at), exponents: lines(&matrix.exponents, at), at }
    }
}

/// The sums of `G` products: in units of 2^(scale - 24), and the scale.
#[derive(Clone, Copy)]
struct Aligned<const N: usize> {
    sum: [i32; N],
    scale: [i32; N],
}

/// Row `i` of A times the rows of B, whose factors are elements if `WHOLE` and significands else.
#[inline(always)]
fn align<const N: usize, const G: usize, const WHOLE: bool>(
    a: &Group<'_, N, G>,
    i: usize,
    b: &Group<'_, N, G>,
) -> Aligned<N> {
    let mut aligned = Aligned { sum: [0; N], scale: [0; N] };
    let (factors, exponents) = (across(&a.factors, i), across(&a.exponents, i));
    for j in 0..N {
        let exponents: [i32; G] = std::array::from_fn(|t| exponents[t] + b.exponents[t][j]);
        let mut scale = exponents[0];
        for exponent in &exponents[1..] {
            scale = scale.max(*exponent);
        }
        let mut sum = 0;
        for t in 0..G {
            // Below -100 a product is truncated to 0 all the same, and above 127 all are 0.
            let exponent = if WHOLE { 0 } else { exponents[t] };
            let shift = (exponent - scale + FRACTION).clamp(-100, 127);
            let unit = f32::from_bits(((shift + 127) as u32) << 23);
            let product = factors[t] * b.factors[t][j] * unit;
            // SAFETY: the factors are finite and the product of their significands is below 4. In these units, of
            // which 2^24 make the largest power of two among the products, it is below 2^26.
            sum += unsafe { product.to_int_unchecked::<i32>() };
        }
        aligned.sum[j] = sum;
        aligned.scale[j] = scale;
    }
    aligned
}

/// The sum of both, rounded down to the last bit of the larger scale.
#[inline(always)]
fn join<const N: usize>(a: &Aligned<N>, b: &Aligned<N>) -> Aligned<N> {
    let mut both = Aligned { sum: [0; N], scale: [0; N] };
    for j in 0..N {
        let scale = a.scale[j].max(b.scale[j]);
        let down = |of: &Aligned<N>| of.sum[j] >> (scale - of.scale[j]).min(31);
        both.sum[j] = down(a) + down(b);
        both.scale[j] = scale;
    }
    both
}

/// `x`, rounded down to 31 fractional bits of its significand.
#[inline(always)]
fn normalise(x: f64) -> f64 {
    const DROPPED: u64 = (1 << (52 - 31)) - 1;
    let bits = x.to_bits();
    // Down is away from zero for a negative number.
    let away = DROPPED & (bits >> 63).wrapping_neg();
    f64::from_bits((bits + away) & !DROPPED)
}

/// Adds an aligned sum to the accumulators. Says whether there may be exceptions, which this does not handle: addends
/// that are not finite, products beyond the range of singles.
#[inline(always)]
fn add<const N: usize>(group: &Aligned<N>, sums: &mut [u32; N], bytes: bool) -> bool {
    let mut parts = [[0i32; N]; 4];
    let mut odd = 0;
    for j in 0..N {
        let bits = sums[j];
        let field = (bits >> 23 & 0xff) as i32;
        let hidden = if field == 0 { 0 } else { 1 << 23 };
        let magnitude = (bits & 0x7f_ffff | hidden) as i32;
        // The addend with 24 fractional bits.
        let addend = 2 * if bits >> 31 == 0 { magnitude } else { -magnitude };
        let exponent = field.max(1) - 127;
        let scale = exponent.max(group.scale[j]);
        // The sum of products has 24 fractional bits, and may have 32. At the smallest scale it may have 31, so that
        // what becomes a denormal is rounded down as if it were normal.
        let finest = if scale == -126 { 31 } else { 32 };
        let excess = (scale - group.scale[j] - (finest - FRACTION)).max(0);
        let distance = scale - exponent;
        let addend = if bytes && distance > 25 { 0 } else { addend >> distance.min(31) };
        parts[0][j] = group.sum[j] >> excess.min(31);
        parts[1][j] = group.scale[j] - FRACTION + excess;
        parts[2][j] = addend;
        parts[3][j] = scale - FRACTION;
        odd |= i32::from(field == 255) | i32::from(group.scale[j] >= 127);
    }
    for j in 0..N {
        let group = f64::from(parts[0][j]) * power(parts[1][j]);
        let addend = f64::from(parts[2][j]) * power(parts[3][j]);
        // The doubles are exact, but for this rounding.
        sums[j] = (normalise(group + addend) as f32).to_bits();
    }
    odd != 0
}

/// The product's operands: A, B, for a sparse A the row of B that belongs to each of its elements, and scales.
pub(super) struct Operands<'a> {
    pub a: &'a Split<'a>,
    pub b: &'a Split<'a>,
    pub picks: Option<&'a [u8]>,
    /// Biased exponents of rows of A and of columns of B, in each lane, for 32 values of k.
    pub scales: Option<&'a [[u8; 64]; 2]>,
}

impl Operands<'_> {
    /// Columns `k` of A, rows of one block.
    #[inline(always)]
    fn left<const N: usize, const G: usize>(
        &self,
        shape: Shape,
        block: usize,
        k: [usize; G],
    ) -> Group<'_, N, G> {
        Group::of(self.a, k.map(|k| k * shape.width() + block * N))
    }

    /// The rows of B that belong to columns `k` of row `i` of A.
    #[inline(always)]
    fn right<const N: usize, const G: usize>(
        &self,
        shape: Shape,
        [block, i]: [usize; 2],
        k: [usize; G],
    ) -> Group<'_, N, G> {
        let row = block * N + i;
        Group::of(
            self.b,
            k.map(|k| {
                let pick = self.picks.map_or(k, |picks| picks[row * shape.k + k].into());
                pick * shape.width() + block * N
            }),
        )
    }

    /// Replaces the results that are exceptions; `addends` are the accumulators before the group.
    #[cold]
    fn correct<const N: usize, const G: usize>(
        &self,
        groups: &[(Group<'_, N, G>, Group<'_, N, G>)],
        i: usize,
        addends: &[u32; N],
        sums: &mut [u32; N],
    ) {
        for j in 0..N {
            let products = groups.iter().flat_map(|(a, b)| {
                a.at.iter().zip(&b.at).map(move |(a, b)| self.a.value(a + i) * self.b.value(b + j))
            });
            if let Some(result) = exceptional(products, f32::from_bits(addends[j])) {
                sums[j] = result.to_bits();
            }
        }
    }
}

/// Groups of `G` products.
#[inline(always)]
fn rows<const N: usize, const G: usize, const WHOLE: bool>(
    shape: Shape,
    operands: &Operands<'_>,
    d: &mut [Vector],
) {
    let finite = operands.a.finite && operands.b.finite;
    for (block, k) in shape.groups::<G>() {
        let a = operands.left::<N, G>(shape, block, k);
        let mut b = operands.right::<N, G>(shape, [block, 0], k);
        for i in 0..N {
            if operands.picks.is_some() {
                b = operands.right(shape, [block, i], k);
            }
            let sums = accumulators::<N>(shape, block, i, d);
            let addends = *sums;
            if add(&align::<N, G, WHOLE>(&a, i, &b), sums, false) || !finite {
                operands.correct(&[(a, b)], i, &addends, sums);
            }
        }
    }
}

/// Groups of 16 products, even and odd ones apart. Scales multiply the sum of a group, which the addend joins then.
#[inline(always)]
fn rows_of_bytes<const N: usize>(shape: Shape, operands: &Operands<'_>, d: &mut [Vector]) {
    let finite = operands.a.finite && operands.b.finite;
    for (_, k) in shape.groups::<16>() {
        let [even, odd]: [[usize; 8]; 2] = [0, 1].map(|first| std::array::from_fn(|t| k[2 * t + first]));
        let a = [even, odd].map(|k| operands.left::<N, 8>(shape, 0, k));
        let mut b = [even, odd].map(|k| operands.right::<N, 8>(shape, [0, 0], k));
        for i in 0..N {
            if operands.picks.is_some() {
                b = [operands.right(shape, [0, i], even), operands.right(shape, [0, i], odd)];
            }
            let sums = accumulators::<N>(shape, 0, i, d);
            let addends = *sums;
            // 8-bit elements have moderate exponents.
            let mut group =
                join(&align::<N, 8, true>(&a[0], i, &b[0]), &align::<N, 8, true>(&a[1], i, &b[1]));
            if let Some([a, b]) = operands.scales {
                let first = k[0] / 32 * N;
                for (scale, b) in group.scale.iter_mut().zip(&b[first..first + N]) {
                    *scale += i32::from(a[first + i]) + i32::from(*b) - 254;
                }
            }
            if add(&group, sums, true) || !finite {
                operands.correct(&[(a[0], b[0]), (a[1], b[1])], i, &addends, sums);
            }
        }
    }
}

/// Adds A * B to `d`.
pub(super) fn multiply(shape: Shape, operands: &Operands<'_>, sum: Sum, d: &mut [Vector]) {
    versions!(
        [shape: Shape, operands: &Operands<'_>, sum: Sum, d: &mut [Vector]] -> (),
        {
            let whole = operands.a.whole;
            let eight = sum == Sum::Fused(8) && shape.k >= 8;
            match (shape.n, sum == Sum::FusedBytes, eight, whole) {
                (32, true, ..) => rows_of_bytes::<32>(shape, operands, d),
                (_, true, ..) => rows_of_bytes::<16>(shape, operands, d),
                (32, _, true, true) => rows::<32, 8, true>(shape, operands, d),
                (32, _, true, false) => rows::<32, 8, false>(shape, operands, d),
                (_, _, true, true) => rows::<16, 8, true>(shape, operands, d),
                (_, _, true, false) => rows::<16, 8, false>(shape, operands, d),
                (32, _, false, true) => rows::<32, 4, true>(shape, operands, d),
                (32, _, false, false) => rows::<32, 4, false>(shape, operands, d),
                (16, _, false, true) => rows::<16, 4, true>(shape, operands, d),
                (16, _, false, false) => rows::<16, 4, false>(shape, operands, d),
                (_, _, _, true) => rows::<4, 4, true>(shape, operands, d),
                (_, _, _, false) => rows::<4, 4, false>(shape, operands, d),
            }
        },
        (shape, operands, sum, d)
    )
}
