//! Instructions that are compiled for several instruction sets of the host.

/// Declares a semantic function whose body is compiled for the baseline, AVX2 + FMA and AVX-512; the CPU decides
/// at run time. Everything that the body calls and that shall be vectorised must be `#[inline(always)]`.
///
/// An instruction that is a function of one lane has no need of it: the lane loops come in all versions themselves.
///
/// ```ignore
/// multiversion! {
///     /// Loads a dword a lane.
///     pub fn global_load_dword(wave, inst) { ...; Flow::Next }
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

pub(crate) use multiversion;
