//! Sums that need no more than a fused multiplication and addition for each product: singles, doubles, integers.

use super::{exception::NAN, layout::Shape};
use crate::wave::{Vector, simd::versions};

/// The row of B that belongs to element \[row, k\] of A.
#[inline(always)]
fn pick(picks: Option<&[u8]>, shape: Shape, row: usize, k: usize) -> usize {
    picks.map_or(k, |picks| picks[row * shape.k + k].into())
}

/// The `N` elements of a row of B.
#[inline(always)]
fn right<T, const N: usize>(b: &[T], at: usize) -> &[T; N] {
    // PANIC: the slice has N elements.
    b[at..at + N].try_into().unwrap()
}

#[inline(always)]
fn single_rows<const N: usize>(shape: Shape, a: &[f32], b: &[f32], d: &mut [Vector]) {
    let width = shape.width();
    for block in 0..shape.blocks {
        for i in 0..N {
            let (register, lane) = shape.row(4, block, i);
            // PANIC: the slice has N elements.
            let sums: &mut [u32; N] = (&mut d[register].0[lane..lane + N]).try_into().unwrap();
            let mut result = sums.map(f32::from_bits);
            for k in 0..shape.k {
                let left = a[k * width + block * N + i];
                let right = right::<_, N>(b, k * width + block * N);
                for j in 0..N {
                    result[j] = left.mul_add(right[j], result[j]);
                }
            }
            *sums = result.map(|x| if x.is_nan() { NAN } else { x.to_bits() });
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
            for j in 0..N {
                let (low, high) = (d[2 * pair].0[lane + j], d[2 * pair + 1].0[lane + j]);
                let addend = f64::from_bits(u64::from(low) | u64::from(high) << 32);
                result[j] = if negate { -addend } else { addend };
            }
            for k in 0..shape.k {
                let left = a[k * width + block * N + i];
                let right = right::<_, N>(b, k * width + block * N);
                for j in 0..N {
                    result[j] = left.mul_add(right[j], result[j]);
                }
            }
            for j in 0..N {
                let x = result[j];
                let bits = if x.is_nan() { 0x7ff8 << 48 } else { x.to_bits() };
                d[2 * pair].0[lane + j] = bits as u32;
                d[2 * pair + 1].0[lane + j] = (bits >> 32) as u32;
            }
        }
    }
}

/// Adds A * B to `d` or, if `negate`, to its negative, in double precision.
pub(super) fn doubles(shape: Shape, a: &[f64], b: &[f64], negate: bool, d: &mut [Vector]) {
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
            let (register, lane) = shape.row(4, block, i);
            // PANIC: the slice has N elements.
            let sums: &mut [u32; N] = (&mut d[register].0[lane..lane + N]).try_into().unwrap();
            // At most 64 products below 2^15: sums of integers that a single holds exactly.
            let mut result = [0.0f32; N];
            for k in 0..shape.k {
                let row = block * N + i;
                let left = a[k * width + row];
                let right = right::<_, N>(b, pick(picks, shape, row, k) * width + block * N);
                for j in 0..N {
                    result[j] += left * right[j];
                }
            }
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
