//! Trees of f32 operations, as gfx90a sums 16-bit floats.

use super::{
    exception::NAN,
    layout::{Shape, accumulators, across, lines},
};
use crate::wave::{Vector, simd::versions};

/// Zero of the same sign for a denormal.
#[inline(always)]
fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0f32.copysign(x) } else { x }
}

/// A product. One of zero is positive.
#[inline(always)]
fn product(a: f32, b: f32) -> f32 {
    flush(a.mul_add(b, 0.0))
}

#[inline(always)]
fn rows<const N: usize, const G: usize>(shape: Shape, a: &[f32], b: &[f32], d: &mut [Vector]) {
    for (block, k) in shape.groups::<G>() {
        let at = k.map(|k| k * shape.width() + block * N);
        let (columns, right) = (lines::<_, N, G>(a, at), lines::<_, N, G>(b, at));
        for i in 0..N {
            let left = across(&columns, i);
            let sums = accumulators::<N>(shape, block, i, d);
            let mut result = [0.0; N];
            for j in 0..N {
                let pair =
                    |t: usize| flush(product(left[t], right[t][j]) + product(left[t + 1], right[t + 1][j]));
                let group = if G == 4 { flush(pair(0) + pair(2 % G)) } else { pair(0) };
                let addend = f32::from_bits(sums[j]);
                let small = addend.abs() < f32::MIN_POSITIVE;
                // Of a denormal in C not even the sign remains; sums are flushed already.
                result[j] = flush(if k[0] == 0 && small { 0.0 } else { addend } + group);
            }
            for j in 0..N {
                sums[j] = if result[j].is_nan() { NAN } else { result[j].to_bits() };
            }
        }
    }
}

/// Adds A * B to `d`, products in groups of `group`, which is 2 or 4.
pub(super) fn multiply(shape: Shape, a: &[f32], b: &[f32], group: usize, d: &mut [Vector]) {
    versions!(
        [shape: Shape, a: &[f32], b: &[f32], group: usize, d: &mut [Vector]] -> (),
        {
            match (shape.n, group) {
                (32, 2) => rows::<32, 2>(shape, a, b, d),
                (16, 2) => rows::<16, 2>(shape, a, b, d),
                (_, 2) => rows::<4, 2>(shape, a, b, d),
                (32, _) => rows::<32, 4>(shape, a, b, d),
                (16, _) => rows::<16, 4>(shape, a, b, d),
                _ => rows::<4, 4>(shape, a, b, d),
            }
        },
        (shape, a, b, group, d)
    )
}
