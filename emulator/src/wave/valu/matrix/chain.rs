//! Sums that need no more than a fused multiplication and addition for each product: singles, doubles, integers.

use super::{
    exception::NAN,
    layout::{Shape, accumulators, lines},
};
use crate::wave::{Vector, simd::versions};

#[inline(always)]
fn single_rows<const N: usize>(shape: Shape, a: &[f32], b: &[f32], d: &mut [Vector]) {
    for (block, [k]) in shape.groups() {
        let at = [k * shape.width() + block * N];
        let ([left], [right]) = (lines::<_, N, 1>(a, at), lines::<_, N, 1>(b, at));
        for (i, left) in left.iter().enumerate() {
            let sums = accumulators::<N>(shape, block, i, d);
            for j in 0..N {
                let sum = left.mul_add(right[j], f32::from_bits(sums[j]));
                sums[j] = if sum.is_nan() { NAN } else { sum.to_bits() };
            }
        }
    }
}

/// Adds A * B to `d`, in single precision.
pub(super) fn singles(shape: Shape, a: &[f32], b: &[f32], d: &mut [Vector]) {
    versions!(
        [shape: Shape, a: &[f32], b: &[f32], d: &mut [Vector]] -> (),
        {
            match shape.n {
                32 => single_rows::<32>(shape, a, b, d),
                16 => single_rows::<16>(shape, a, b, d),
                _ => single_rows::<4>(shape, a, b, d),
            }
        },
        (shape, a, b, d)
    )
}

#[inline(always)]
fn double_rows<const N: usize>(shape: Shape, a: &[f64], b: &[f64], negate: bool, d: &mut [Vector]) {
    let width = shape.width();
    for block in 0..shape.blocks {
        for i in 0..N {
            let (pair, lane) = shape.row(1, block, i);
            let mut result = [0.0f64; N];
            for (j, sum) in result.iter_mut().enumerate() {
                let (low, high) = (d[2 * pair].0[lane + j], d[2 * pair + 1].0[lane + j]);
                let addend = f64::from_bits(u64::from(low) | u64::from(high) << 32);
                *sum = if negate { -addend } else { addend };
            }
            for k in 0..shape.k {
                let left = a[k * width + block * N + i];
                let [right] = lines::<_, N, 1>(b, [k * width + block * N]);
                for j in 0..N {
                    result[j] = left.mul_add(right[j], result[j]);
                }
            }
            for (j, x) in result.into_iter().enumerate() {
                let bits = if x.is_nan() { 0x7ff8 << 48 } else { x.to_bits() };
                d[2 * pair].0[lane + j] = bits as u32;
                d[2 * pair + 1].0[lane + j] = (bits >> 32) as u32;
            }
        }
    }
}

/// Adds A * B to `d` or, if `negate`, to its negative, in double precision.
pub(super) fn doubles(shape: Shape, a: &[f64], b: &[f64], negate: bool, d: &mut [Vector]) {
    if d.is_empty() {
        return;
    }
    versions!(
        [shape: Shape, a: &[f64], b: &[f64], negate: bool, d: &mut [Vector]] -> (),
        {
            match shape.n {
                16 => double_rows::<16>(shape, a, b, negate, d),
                _ => double_rows::<4>(shape, a, b, negate, d),
            }
        },
        (shape, a, b, negate, d)
    )
}

#[inline(always)]
fn integer_rows<const N: usize>(
    shape: Shape,
    a: &[f32],
    b: &[f32],
    picks: Option<&[u8]>,
    saturate: bool,
    d: &mut [Vector],
) {
    let width = shape.width();
    for block in 0..shape.blocks {
        for i in 0..N {
            let row = block * N + i;
            // At most 64 products below 2^15: sums of integers that a single holds exactly.
            let mut result = [0.0f32; N];
            for k in (0..shape.k).step_by(4) {
                let left: [f32; 4] = std::array::from_fn(|t| a[(k + t) * width + row]);
                let right = lines::<_, N, 4>(
                    b,
                    std::array::from_fn(|t| {
                        // The row of B that belongs to the element of A.
                        let pick = picks.map_or(k + t, |picks| picks[row * shape.k + k + t].into());
                        pick * width + block * N
                    }),
                );
                for j in 0..N {
                    let product = |t: usize| left[t] * right[t][j];
                    result[j] += (product(0) + product(1)) + (product(2) + product(3));
                }
            }
            let sums = accumulators::<N>(shape, block, i, d);
            for j in 0..N {
                let (addend, product) = (sums[j] as i32, result[j] as i32);
                let sum =
                    if saturate { addend.saturating_add(product) } else { addend.wrapping_add(product) };
                sums[j] = sum as u32;
            }
        }
    }
}

/// Adds A * B to `d`, in integers of 32 bits that wrap or saturate.
pub(super) fn integers(
    shape: Shape,
    [a, b]: [&[f32]; 2],
    picks: Option<&[u8]>,
    saturate: bool,
    d: &mut [Vector],
) {
    versions!(
        [shape: Shape, a: &[f32], b: &[f32], picks: Option<&[u8]>, saturate: bool, d: &mut [Vector]] -> (),
        {
            match shape.n {
                32 => integer_rows::<32>(shape, a, b, picks, saturate, d),
                16 => integer_rows::<16>(shape, a, b, picks, saturate, d),
                _ => integer_rows::<4>(shape, a, b, picks, saturate, d),
            }
        },
        (shape, a, b, picks, saturate, d)
    )
}
