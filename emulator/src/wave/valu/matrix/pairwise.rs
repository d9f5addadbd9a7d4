//! Trees of f32 operations, as gfx90a sums 16-bit floats.

use super::{exception::NAN, layout::Shape};
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
    let width = shape.width();
    for block in 0..shape.blocks {
        for i in 0..N {
            let (register, lane) = shape.row(4, block, i);
            // PANIC: the slice has N elements.
            let sums: &mut [u32; N] = (&mut d[register].0[lane..lane + N]).try_into().unwrap();
            let mut result = sums.map(|bits| {
                let addend = f32::from_bits(bits);
                if addend.abs() < f32::MIN_POSITIVE { 0.0 } else { addend }
            });
            let mut k = 0;
            while k < shape.k {
                let left: [f32; G] = std::array::from_fn(|t| a[(k + t) * width + block * N + i]);
                let right: [&[f32; N]; G] = std::array::from_fn(|t| {
                    // PANIC: the slice has N elements.
                    b[(k + t) * width + block * N..][..N].try_into().unwrap()
                });
                for j in 0..N {
                    let pair = |t: usize| {
                        flush(product(left[t], right[t][j]) + product(left[t + 1], right[t + 1][j]))
                    };
                    let group = if G == 4 { flush(pair(0) + pair(2 % G)) } else { pair(0) };
                    result[j] = flush(result[j] + group);
                }
                k += G;
            }
            *sums = result.map(|x| if x.is_nan() { NAN } else { x.to_bits() });
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
