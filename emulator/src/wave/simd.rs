//! One source, several instruction sets: vector loops compiled for what the host's CPU has.

#[cfg(target_arch = "x86_64")]
mod level {
    use std::sync::atomic::{AtomicU8, Ordering};

    static LEVEL: AtomicU8 = AtomicU8::new(u8::MAX);

    /// 0 baseline, 1 AVX2 with FMA, 2 AVX-512; found out once.
    #[inline(always)]
    pub fn level() -> u8 {
        // ORDER: Relaxed. The value is the same whoever computes it.
        let level = LEVEL.load(Ordering::Relaxed);
        if level == u8::MAX { detect() } else { level }
    }

    #[cold]
    fn detect() -> u8 {
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
        let cap = std::env::var("AQLIPSE_SIMD").ok().and_then(|s| s.parse().ok()).unwrap_or(2u8);
        let level = (u8::from(avx2) + u8::from(avx512)).min(cap);
        LEVEL.store(level, Ordering::Relaxed);
        level
    }
}

#[cfg(target_arch = "x86_64")]
pub use level::level;

/// Declares a semantic function whose body is compiled for the baseline, AVX2 + FMA and AVX-512; the CPU decides
/// at run time. Everything that the body calls and that shall be vectorised must be `#[inline(always)]`.
///
/// ```ignore
/// multiversion! {
///     /// D = S0 + S1.
///     pub fn v_add_u32(wave, inst) { ...; Flow::Next }
/// }
/// ```
macro_rules! multiversion {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident($wave:ident, $inst:ident) $body:block)*) => {$(
        $(#[$meta])*
        $vis fn $name(
            wave: &mut $crate::wave::Wave,
            inst: &$crate::isa::Inst,
        ) -> $crate::isa::Flow {
            $crate::wave::simd::versions!(
                [$wave: &mut $crate::wave::Wave, $inst: &$crate::isa::Inst] -> $crate::isa::Flow, $body,
                (wave, inst)
            )
        }
    )*};
}

/// The body of a function that runs the version of `$body` that the CPU supports; see [`multiversion`].
macro_rules! versions {
    ([$($arg:ident: $ty:ty),*] -> $ret:ty, $body:block, ($($pass:expr),*)) => {{
        #[inline(always)]
        fn body($($arg: $ty),*) -> $ret $body
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
            match $crate::wave::simd::level() {
                0 => body($($pass),*),
                // SAFETY: level 1 means that the CPU has AVX2, FMA, BMI, LZCNT, POPCNT and F16C.
                1 => unsafe { avx2($($pass),*) },
                // SAFETY: level 2 means that the CPU has AVX-512 F, BW, DQ and VL besides.
                _ => unsafe { avx512($($pass),*) },
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        body($($pass),*)
    }};
}

pub(crate) use multiversion;
pub(crate) use versions;
