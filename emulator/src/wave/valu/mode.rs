//! Which arithmetic MODE asks for, and the instruction declarations that follow it.

use super::{
    half::F16,
    lane::Lane,
    soft::{Env, Float},
};
use crate::wave::Mode;

/// The ways to compute in one precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arithmetic {
    /// As the host does: to nearest even, with denormals.
    Native,
    /// As the host does, with denormal sources and results flushed (f32 only).
    Flushed,
    /// Anything else.
    Exact(Env),
}

/// A source or result type of a floating-point instruction.
pub(super) trait Operand: Lane {
    /// The type itself, a denormal replaced by the zero of its sign.
    fn flush(self) -> Self;

    #[inline(always)]
    fn flush_if(self, flush: bool) -> Self {
        if flush { self.flush() } else { self }
    }
}

/// A precision that MODE controls.
pub(super) trait Precision: Operand + Float {
    fn env(mode: Mode) -> Env;
    fn arithmetic(mode: Mode) -> Arithmetic;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Operand for $ty {
            #[inline(always)]
            fn flush(self) -> Self {
                self
            }
        }
    )*};
}

integers!(u16, i16, u32, i32, u64, i64);

impl Operand for f32 {
    #[inline(always)]
    fn flush(self) -> Self {
        if self.abs() < Self::MIN_POSITIVE { Self::from_bits(self.to_bits() & 0x8000_0000) } else { self }
    }
}

impl Operand for f64 {
    #[inline(always)]
    fn flush(self) -> Self {
        if self.abs() < Self::MIN_POSITIVE { Self::from_bits(self.to_bits() & 1 << 63) } else { self }
    }
}

impl Operand for F16 {
    #[inline(always)]
    fn flush(self) -> Self {
        Self::flush(self)
    }
}

impl Precision for f32 {
    fn env(mode: Mode) -> Env {
        Env::new(mode.round32(), mode.denorm32())
    }

    #[inline(always)]
    fn arithmetic(mode: Mode) -> Arithmetic {
        match (mode.round32(), mode.denorm32()) {
            (0, 3) => Arithmetic::Native,
            (0, 0) => Arithmetic::Flushed,
            _ => Arithmetic::Exact(Self::env(mode)),
        }
    }
}

macro_rules! wide_and_half {
    ($($ty:ty, |$mode:ident| $saturate:expr;)*) => {$(
        impl Precision for $ty {
            #[inline]
            fn env($mode: Mode) -> Env {
                Env { saturate: $saturate, ..Env::new($mode.round64(), $mode.denorm64()) }
            }

            #[inline(always)]
            fn arithmetic(mode: Mode) -> Arithmetic {
                let env = Self::env(mode);
                if env == Env::DEFAULT { Arithmetic::Native } else { Arithmetic::Exact(env) }
            }
        }
    )*};
}

wide_and_half! {
    f64, |mode| false;
    F16, |mode| mode.fp16_overflow();
}

/// Instructions that compute in a precision `P` which MODE controls.
///
/// The first expression is the default arithmetic; the second one, of the environment, serves the other rounding
/// modes. Without it the operation does not round, and only the flushing of denormals is left to do.
///
/// `once;` in front: see [`lanes`](super::map::lanes). The other rounding modes come in one version always.
macro_rules! floats {
    (once; $($entries:tt)*) => {
        $crate::wave::valu::mode::floats!(@family [$crate::wave::valu::map::rare] $($entries)*);
    };
    (@family $map:tt $($precision:ty: $name:ident $args:tt -> $ret:ty { $native:expr }
        $(, exact |$env:ident| { $exact:expr })?;)*) => {
        $crate::wave::valu::map::instructions! {$(
            pub(crate) fn $name(wave, inst) {
                use $crate::wave::valu::mode::{Arithmetic, Precision, floats};
                match <$precision>::arithmetic(wave.mode) {
                    Arithmetic::Native => floats!(@map $map wave, inst, $args -> $ret { $native }),
                    Arithmetic::Flushed => floats!(@flush $map wave, inst, true, true, $args -> $ret { $native }),
                    Arithmetic::Exact(env) => {
                        #[cold]
                        #[inline(never)]
                        fn other(
                            wave: &mut $crate::wave::Wave,
                            inst: &$crate::isa::Inst,
                            env: $crate::wave::valu::soft::Env,
                        ) -> $crate::isa::Flow {
                            floats!(@other wave, inst, env, $args -> $ret { $native } $(|$env| { $exact })?)
                        }
                        other(wave, inst, env)
                    }
                }
            }
        )*}
    };
    (@other $wave:ident, $inst:ident, $e:ident, $args:tt -> $ret:ty { $native:expr } |$env:ident| { $exact:expr }) => {{
        let $env = $e;
        floats!(@map [$crate::wave::valu::map::rare] $wave, $inst, $args -> $ret { $exact })
    }};
    (@other $wave:ident, $inst:ident, $e:ident, $args:tt -> $ret:ty { $native:expr }) => {
        floats!(@flush [$crate::wave::valu::map::rare] $wave, $inst, $e.flush_in, $e.flush_out, $args -> $ret { $native })
    };
    (@flush $map:tt $wave:ident, $inst:ident, $in:expr, $out:expr, ($($arg:ident: $ty:ty),+) -> $ret:ty { $native:expr }) => {
        floats!(@map $map $wave, $inst, ($($arg: $ty),+) -> $ret {{
            use $crate::wave::valu::mode::Operand;
            $(let $arg = Operand::flush_if($arg, $in);)+
            Operand::flush_if($native, $out)
        }})
    };
    (@map $map:tt $wave:ident, $inst:ident, ($($arg:ident: $ty:ty),+) -> $ret:ty { $body:expr }) => {
        $crate::wave::valu::map::lanes!(@map $map $wave, $inst, |$($arg: $ty),+| -> $ret { $body })
    };
    ($($entries:tt)*) => {
        $crate::wave::valu::mode::floats!(@family [$crate::wave::valu::map] $($entries)*);
    };
}

/// Instructions `d = f(s0, s1, d)` that compute in a precision which MODE controls; see [`floats`].
macro_rules! accumulating {
    ($($precision:ty: $name:ident($a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty) { $native:expr },
        exact |$env:ident| { $exact:expr };)*) => {
        $crate::wave::valu::map::instructions! {$(
            pub(crate) fn $name(wave, inst) {
                use $crate::wave::valu::{map::{accumulate, rare}, mode::{Arithmetic, Operand, Precision}};
                match <$precision>::arithmetic(wave.mode) {
                    Arithmetic::Native => accumulate(wave, inst, |$a: $ta, $b: $tb, $c: $tc| -> $tc { $native }),
                    Arithmetic::Flushed => accumulate(wave, inst, |$a: $ta, $b: $tb, $c: $tc| -> $tc {
                        let ($a, $b, $c) = (Operand::flush($a), Operand::flush($b), Operand::flush($c));
                        Operand::flush($native)
                    }),
                    Arithmetic::Exact($env) => rare::accumulate(wave, inst, |$a: $ta, $b: $tb, $c: $tc| -> $tc { $exact }),
                }
            }
        )*}
    };
}

pub(super) use accumulating;
pub(super) use floats;
