//! Fused sums of products, as gfx942 has them.
//!
//! A group of products is summed in fixed point: the largest exponent (of two factors added up, not of the normalised
//! product) sets the scale, and every product is truncated, toward zero, to 24 fractional bits at that scale. The sum
//! and the addend are then aligned to the larger of their exponents, rounded down to 31 and 24 fractional bits, added,
//! and the result is rounded to nearest even. For 8-bit elements the even and the odd products are summed apart, both
//! sums rounded down to 24 fractional bits at the larger scale before they are added, and an addend below the last
//! bit but one is dropped. See the [module](super) for the source.

use super::{
    exception::exceptional,
    format::{Split, power},
    layout::Shape,
    numbers::Sum,
};
use crate::wave::{Vector, simd::versions};

/// Fractional bits of an aligned product.
const FRACTION: i32 = 24;

/// A product whose factors are an element of A and any element of a row of B.
#[derive(Clone, Copy)]
struct Term<'a, const N: usize> {
    significand: f32,
    exponent: i32,
    significands: &'a [f32; N],
    exponents: &'a [i32; N],
    /// Where the elements are: index into A, and of the first into B.
    at: (usize, usize),
}

/// The sums of `G` products: in units of 2^(scale - 24), and the scale.
#[derive(Clone, Copy)]
struct Aligned<const N: usize> {
    sum: [i32; N],
    scale: [i32; N],
}

#[inline(always)]
fn align<const N: usize, const G: usize>(terms: &[Term<'_, N>; G]) -> Aligned<N> {
    let mut aligned = Aligned { sum: [0; N], scale: [0; N] };
    for j in 0..N {
        let exponents: [i32; G] = std::array::from_fn(|t| terms[t].exponent + terms[t].exponents[j]);
        let mut scale = exponents[0];
        for exponent in &exponents[1..] {
            scale = scale.max(*exponent);
        }
        let mut sum = 0;
        for (term, exponent) in terms.iter().zip(exponents) {
            // Below -100 the product is truncated to 0 all the same.
            let shift = (exponent - scale + FRACTION).max(-100);
            let factor = f32::from_bits(((shift + 127) as u32) << 23);
            let product = term.significand * term.significands[j] * factor;
            // SAFETY: significands are finite and below 2 and the factor is at most 2^24, so the product is below 2^26.
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
        // The sum of products has 24 fractional bits, and may have 31.
        let excess = (scale - group.scale[j] - 7).max(0);
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
        // The doubles are exact, this is the only rounding.
        sums[j] = ((group + addend) as f32).to_bits();
    }
    odd != 0
}

/// The product's operands: A, B, and for a sparse A the row of B that belongs to each of its elements.
pub(super) struct Operands<'a> {
    pub a: &'a Split,
    pub b: &'a Split,
    pub picks: Option<&'a [u8]>,
}

impl Operands<'_> {
    #[inline(always)]
    fn term<const N: usize>(&self, shape: Shape, block: usize, i: usize, k: usize) -> Term<'_, N> {
        let row = block * N + i;
        let at = k * shape.width() + row;
        let pick = self.picks.map_or(k, |picks| picks[row * shape.k + k].into());
        let from = pick * shape.width() + block * N;
        // PANIC: the slices have N elements.
        Term {
            significand: self.a.significands[at],
            exponent: self.a.exponents[at],
            significands: self.b.significands[from..from + N].try_into().unwrap(),
            exponents: self.b.exponents[from..from + N].try_into().unwrap(),
            at: (at, from),
        }
    }

    /// Replaces the results that are exceptions; `addends` are the accumulators before the group.
    #[cold]
    fn correct<const N: usize>(&self, terms: &[Term<'_, N>], addends: &[u32; N], sums: &mut [u32; N]) {
        for j in 0..N {
            let products = terms.iter().map(|term| self.a.value(term.at.0) * self.b.value(term.at.1 + j));
            if let Some(result) = exceptional(products, f32::from_bits(addends[j])) {
                sums[j] = result.to_bits();
            }
        }
    }
}

#[inline(always)]
fn rows<const N: usize, const G: usize>(
    shape: Shape,
    operands: &Operands<'_>,
    bytes: bool,
    d: &mut [Vector],
) {
    let finite = operands.a.finite && operands.b.finite;
    for block in 0..shape.blocks {
        for i in 0..N {
            let (register, lane) = shape.row(4, block, i);
            // PANIC: the slice has N elements.
            let sums: &mut [u32; N] = (&mut d[register].0[lane..lane + N]).try_into().unwrap();
            let mut k = 0;
            while k < shape.k {
                let addends = *sums;
                let mut result = *sums;
                if bytes {
                    let even: [_; G] =
                        std::array::from_fn(|t| operands.term::<N>(shape, block, i, k + 2 * t));
                    let odd: [_; G] =
                        std::array::from_fn(|t| operands.term::<N>(shape, block, i, k + 2 * t + 1));
                    if add(&join(&align(&even), &align(&odd)), &mut result, true) || !finite {
                        operands.correct(&[even, odd].concat(), &addends, &mut result);
                    }
                    k += 2 * G;
                } else {
                    let terms: [_; G] = std::array::from_fn(|t| operands.term::<N>(shape, block, i, k + t));
                    if add(&align(&terms), &mut result, false) || !finite {
                        operands.correct(&terms, &addends, &mut result);
                    }
                    k += G;
                }
                *sums = result;
            }
        }
    }
}

/// Adds A * B to `d`.
pub(super) fn multiply(shape: Shape, operands: &Operands<'_>, sum: Sum, d: &mut [Vector]) {
    versions!(
        [shape: Shape, operands: &Operands<'_>, sum: Sum, d: &mut [Vector]] -> (),
        {
            let eight = sum == Sum::Fused(8) && shape.k >= 8;
            match (shape.n, sum == Sum::FusedBytes, eight) {
                (32, true, _) => rows::<32, 8>(shape, operands, true, d),
                (_, true, _) => rows::<16, 8>(shape, operands, true, d),
                (32, _, true) => rows::<32, 8>(shape, operands, false, d),
                (_, _, true) => rows::<16, 8>(shape, operands, false, d),
                (32, _, false) => rows::<32, 4>(shape, operands, false, d),
                (16, _, false) => rows::<16, 4>(shape, operands, false, d),
                _ => rows::<4, 4>(shape, operands, false, d),
            }
        },
        (shape, operands, sum, d)
    )
}
