//! Double-precision addition and multiplication.
//!
//! A double's halves lie in two rows. To weave them takes more time than to compute, so that these loops, the hot ones
//! of double precision, are written out: unpacking low and high words leaves lanes out of order, but in the same one
//! for all sources, and packing undoes it.

use super::{
    kernel::{Baseline, Kernel, Kernels, Lanes, lanes_of},
    lane::{Kind, Lane},
    map::{ACCUMULATE, instructions, rare, run},
    mode::{Arithmetic, Precision},
    soft,
};
use crate::{
    isa::{Flow, Inst},
    wave::{Wave, simd},
};

/// Loops of one operation on doubles, by [`simd::level`]. Values only.
struct Doubles<T>(T);

/// What the written-out loops compute.
trait Operation {
    const TABLE: [Option<Kernel<Flow>>; simd::VERSIONS];
}

impl<T: Operation> Kernels for Doubles<T> {
    #[inline(always)]
    fn value<A: Lane, B: Lane, C: Lane, D: Lane, F: Lanes<A, B, C, D>>(_: &F) -> Kernel<Flow> {
        const {
            assert!(matches!(
                (A::KIND, B::KIND, C::KIND, D::KIND),
                (Kind::F64, Kind::F64, Kind::F64, Kind::F64)
            ));
            assert!(size_of::<F>() == 0, "the environment is the number of lanes");
        }
        let table: &[Kernel<Flow>; simd::VERSIONS] = const {
            let mut table = [super::kernel::value::baseline::<A, B, C, D, F> as Kernel<Flow>; simd::VERSIONS];
            let mut n = 0;
            while n < simd::VERSIONS {
                if let Some(kernel) = T::TABLE[n] {
                    table[n] = kernel;
                }
                n += 1;
            }
            &{ table }
        };
        table[simd::level()]
    }

    fn value_and_flag<A: Lane, B: Lane, C: Lane, D: Lane, F: Lanes<A, B, C, (D, bool)>>(
        f: &F,
    ) -> Kernel<u64> {
        Baseline::value_and_flag(f)
    }

    fn flag<A: Lane, B: Lane, C: Lane, F: Lanes<A, B, C, bool>>(f: &F) -> Kernel<u64> {
        Baseline::flag(f)
    }
}

macro_rules! operations {
    ($($name:ident: |$a:ident, $b:ident, $c:ident| $avx2:expr, $avx512:expr;)*) => {$(
        struct $name;

        #[cfg(not(target_arch = "x86_64"))]
        impl Operation for $name {
            const TABLE: [Option<Kernel<Flow>>; simd::VERSIONS] = [None; simd::VERSIONS];
        }

        #[cfg(target_arch = "x86_64")]
        impl Operation for $name {
            const TABLE: [Option<Kernel<Flow>>; simd::VERSIONS] = {
                use std::arch::x86_64::*;

                #[target_feature(enable = "avx2,fma")]
                unsafe fn avx2(
                    to: *mut u32,
                    a: *const u32,
                    b: *const u32,
                    c: *const u32,
                    _: u64,
                    environment: *const (),
                ) -> Flow {
                    let lanes = lanes_of(environment);
                    for lane in (0..64).step_by(8).take_while(|lane| *lane < lanes) {
                        // SAFETY: eight lanes of two rows from `lane` on are inside of what the caller vouches for.
                        unsafe {
                            let load = |row: *const u32| {
                                let low = _mm256_loadu_ps(row.add(lane).cast());
                                let high = _mm256_loadu_ps(row.add(64 + lane).cast());
                                [_mm256_unpacklo_ps(low, high), _mm256_unpackhi_ps(low, high)]
                                    .map(|halves| _mm256_castps_pd(halves))
                            };
                            let ([a0, a1], [b0, b1], [c0, c1]) = (load(a), load(b), load(c));
                            let compute = |$a: __m256d, $b: __m256d, $c: __m256d| _mm256_castpd_ps($avx2);
                            let (first, second) = (compute(a0, b0, c0), compute(a1, b1, c1));
                            let low = _mm256_shuffle_ps::<0b10_00_10_00>(first, second);
                            let high = _mm256_shuffle_ps::<0b11_01_11_01>(first, second);
                            _mm256_storeu_ps(to.add(lane).cast(), low);
                            _mm256_storeu_ps(to.add(64 + lane).cast(), high);
                        }
                    }
                    Flow::Next
                }

                #[target_feature(enable = "avx512f")]
                unsafe fn avx512(
                    to: *mut u32,
                    a: *const u32,
                    b: *const u32,
                    c: *const u32,
                    _: u64,
                    environment: *const (),
                ) -> Flow {
                    let lanes = lanes_of(environment);
                    for lane in (0..64).step_by(16).take_while(|lane| *lane < lanes) {
                        // SAFETY: sixteen lanes of two rows from `lane` on are inside of what the caller vouches for.
                        unsafe {
                            let load = |row: *const u32| {
                                let low = _mm512_loadu_ps(row.add(lane).cast());
                                let high = _mm512_loadu_ps(row.add(64 + lane).cast());
                                [_mm512_unpacklo_ps(low, high), _mm512_unpackhi_ps(low, high)]
                                    .map(|halves| _mm512_castps_pd(halves))
                            };
                            let ([a0, a1], [b0, b1], [c0, c1]) = (load(a), load(b), load(c));
                            let compute = |$a: __m512d, $b: __m512d, $c: __m512d| _mm512_castpd_ps($avx512);
                            let (first, second) = (compute(a0, b0, c0), compute(a1, b1, c1));
                            let low = _mm512_shuffle_ps::<0b10_00_10_00>(first, second);
                            let high = _mm512_shuffle_ps::<0b11_01_11_01>(first, second);
                            _mm512_storeu_ps(to.add(lane).cast(), low);
                            _mm512_storeu_ps(to.add(64 + lane).cast(), high);
                        }
                    }
                    Flow::Next
                }

                [None, Some(avx2), Some(avx512), Some(avx512)]
            };
        }
    )*};
}

operations! {
    Sum: |a, b, c| { let _ = c; _mm256_add_pd(a, b) }, { let _ = c; _mm512_add_pd(a, b) };
    Product: |a, b, c| { let _ = c; _mm256_mul_pd(a, b) }, { let _ = c; _mm512_mul_pd(a, b) };
    Fused: |a, b, c| _mm256_fmadd_pd(a, b, c), _mm512_fmadd_pd(a, b, c);
}

instructions! {
    pub(crate) fn v_add_f64(wave, inst) {
        match f64::arithmetic(wave.mode) {
            Arithmetic::Native => run::<Doubles<Sum>, f64, f64, f64, f64>(wave, inst, 2, 0, |_, _, a, b, _| a + b),
            _ => {
                let env = f64::env(wave.mode);
                rare::map2(wave, inst, |a: f64, b: f64| soft::add(env, a, b))
            }
        }
    }

    pub(crate) fn v_mul_f64(wave, inst) {
        match f64::arithmetic(wave.mode) {
            Arithmetic::Native => run::<Doubles<Product>, f64, f64, f64, f64>(wave, inst, 2, 0, |_, _, a, b, _| a * b),
            _ => {
                let env = f64::env(wave.mode);
                rare::map2(wave, inst, |a: f64, b: f64| soft::mul(env, a, b))
            }
        }
    }

    pub(crate) fn v_fma_f64(wave, inst) {
        match f64::arithmetic(wave.mode) {
            Arithmetic::Native => fused(wave, inst, 3),
            _ => {
                let env = f64::env(wave.mode);
                rare::map3(wave, inst, |a: f64, b: f64, c: f64| soft::fma(env, a, b, c))
            }
        }
    }

    pub(crate) fn v_fmac_f64(wave, inst) {
        match f64::arithmetic(wave.mode) {
            Arithmetic::Native => fused(wave, inst, ACCUMULATE),
            _ => {
                let env = f64::env(wave.mode);
                rare::accumulate(wave, inst, |a: f64, b: f64, c: f64| soft::fma(env, a, b, c))
            }
        }
    }
}

#[inline(always)]
fn fused(wave: &mut Wave, inst: &Inst, count: u32) -> Flow {
    run::<Doubles<Fused>, f64, f64, f64, f64>(wave, inst, count, 0, |_, _, a, b, c| a.mul_add(b, c))
}
