//! One source, several instruction sets: vector loops compiled for what the host's CPU has.

use std::sync::{
    Once,
    atomic::{AtomicUsize, Ordering},
};

/// Versions of a loop, and then some: a power of two, so that an index needs no check.
pub const VERSIONS: usize = 4;

/// 0 until [`detect`] ran, which is always right.
static LEVEL: AtomicUsize = AtomicUsize::new(0);

/// The version for this CPU: 0 baseline, 1 AVX2 with FMA, 2 AVX-512; less than [`VERSIONS`].
#[inline(always)]
pub fn level() -> usize {
    // ORDER: Relaxed. Every version computes the same.
    LEVEL.load(Ordering::Relaxed) & (VERSIONS - 1)
}

/// Finds out what the CPU has, the first time. Code that makes a wave calls it.
pub fn detect() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| LEVEL.store(supported(), Ordering::Relaxed));
}

#[cfg(target_arch = "x86_64")]
fn supported() -> usize {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("f16c");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    // AQLIPSE_SIMD=0|1|2 caps the level: tests compare the versions with each other.
    let cap = std::env::var("AQLIPSE_SIMD").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
    (usize::from(avx2) + usize::from(avx512)).min(cap)
}

#[cfg(not(target_arch = "x86_64"))]
fn supported() -> usize {
    0
}

/// The body of a function that runs the version of `$body` that the CPU supports; see [`multiversion`].
macro_rules! versions {
    ([$($arg:ident: $ty:ty),*] -> $ret:ty, $body:block, ($($pass:expr),*)) => {{
        #[inline(always)]
        fn body($($arg: $ty),*) -> $ret $body
        fn baseline($($arg: $ty),*) -> $ret {
            body($($arg),*)
        }
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
            fn avx2($($arg: $ty),*) -> $ret {
                body($($arg),*)
            }
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
            fn avx512($($arg: $ty),*) -> $ret {
                body($($arg),*)
            }
            // Pointers rather than branches: a call in tail position becomes a jump.
            const TABLE: [unsafe fn($($ty),*) -> $ret; $crate::wave::simd::VERSIONS] =
                [baseline, avx2, avx512, avx512];
            // SAFETY: `level` names a version only if the CPU has what it was compiled for.
            unsafe { TABLE[$crate::wave::simd::level()]($($pass),*) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        baseline($($pass),*)
    }};
}

pub(crate) use versions;
