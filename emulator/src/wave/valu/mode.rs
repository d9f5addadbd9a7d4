//! Which arithmetic MODE asks for.

use super::{
    half::{Bf16, F16},
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

impl Operand for Bf16 {
    #[inline(always)]
    fn flush(self) -> Self {
        if self.0 & 0x7f80 == 0 { Self(self.0 & 0x8000) } else { self }
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
