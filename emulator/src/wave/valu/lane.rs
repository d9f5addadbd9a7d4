//! What a lane of an operand is: its type, its width in rows, and what the modifiers mean for it.

use std::mem::MaybeUninit;

use super::{
    chunk::Word,
    half::{Bf16, F16},
};
use crate::wave::Vector;

/// How constants and modifiers act on an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    B16,
    F16,
    Bf16,
    B32,
    F32,
    B64,
    I64,
    F64,
}

impl Kind {
    /// Consecutive registers that the operand takes.
    pub(crate) const fn rows(self) -> usize {
        match self {
            Self::B64 | Self::I64 | Self::F64 => 2,
            _ => 1,
        }
    }

    /// Whether the operand is a whole register, into which a scalar goes as it is.
    pub(crate) const fn is_dword(self) -> bool {
        matches!(self, Self::B32 | Self::F32)
    }

    /// Whether the operand lives in one half of a register.
    pub(crate) const fn is_half(self) -> bool {
        matches!(self, Self::B16 | Self::F16 | Self::Bf16)
    }

    /// Whether abs, neg, omod and the floating-point clamp apply.
    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }
}

/// The value of one lane, read from and written to rows of 64 lanes.
pub(crate) trait Lane: Copy {
    const KIND: Kind;
    /// One [`Vector`] for up to 32 bits; low and high words for 64.
    type Rows: Copy;
    /// What the value is in registers.
    type Word: Word;

    fn of(word: Self::Word) -> Self;
    fn word(self) -> Self::Word;

    /// The first rows of `rows`, which has at least as many as the operand takes.
    fn rows(rows: &[Vector]) -> &Self::Rows;
    fn get(rows: &Self::Rows, lane: usize) -> Self;
    fn put(rows: &mut MaybeUninit<Self::Rows>, lane: usize, value: Self);
    fn slice(rows: &Self::Rows) -> &[Vector];
    fn slice_mut(rows: &mut Self::Rows) -> &mut [Vector];
}

macro_rules! narrow {
    ($($ty:ty, $kind:ident, |$word:ident| $get:expr, |$value:ident| $put:expr;)*) => {$(
        impl Lane for $ty {
            const KIND: Kind = Kind::$kind;
            type Rows = [Vector; 1];
            type Word = u32;

            #[inline(always)]
            fn of($word: u32) -> Self {
                $get
            }
            #[inline(always)]
            fn word(self) -> u32 {
                let $value = self;
                $put
            }
            #[inline(always)]
            fn rows(rows: &[Vector]) -> &[Vector; 1] {
                // PANIC: callers pass at least one row.
                rows[..1].try_into().unwrap()
            }
            #[inline(always)]
            fn get(rows: &[Vector; 1], lane: usize) -> Self {
                let $word = rows[0].0[lane];
                $get
            }
            #[inline(always)]
            fn put(rows: &mut MaybeUninit<[Vector; 1]>, lane: usize, $value: Self) {
                assert!(lane < 64);
                // SAFETY: the lane is inside the row, whose words are plain integers.
                unsafe { rows.as_mut_ptr().cast::<u32>().add(lane).write($put) }
            }
            #[inline(always)]
            fn slice(rows: &[Vector; 1]) -> &[Vector] {
                rows
            }
            #[inline(always)]
            fn slice_mut(rows: &mut [Vector; 1]) -> &mut [Vector] {
                rows
            }
        }
    )*};
}

macro_rules! wide {
    ($($ty:ty, $kind:ident, |$bits:ident| $get:expr, |$value:ident| $put:expr;)*) => {$(
        impl Lane for $ty {
            const KIND: Kind = Kind::$kind;
            type Rows = [Vector; 2];
            type Word = u64;

            #[inline(always)]
            fn of($bits: u64) -> Self {
                $get
            }
            #[inline(always)]
            fn word(self) -> u64 {
                let $value = self;
                $put
            }
            #[inline(always)]
            fn rows(rows: &[Vector]) -> &[Vector; 2] {
                // PANIC: callers pass at least two rows.
                rows[..2].try_into().unwrap()
            }
            #[inline(always)]
            fn get(rows: &[Vector; 2], lane: usize) -> Self {
                let $bits = u64::from(rows[0].0[lane]) | u64::from(rows[1].0[lane]) << 32;
                $get
            }
            #[inline(always)]
            fn put(rows: &mut MaybeUninit<[Vector; 2]>, lane: usize, $value: Self) {
                assert!(lane < 64);
                let bits: u64 = $put;
                let words = rows.as_mut_ptr().cast::<u32>();
                // SAFETY: the lane is inside both rows, whose words are plain integers.
                unsafe {
                    words.add(lane).write(bits as u32);
                    words.add(64 + lane).write((bits >> 32) as u32);
                }
            }
            #[inline(always)]
            fn slice(rows: &[Vector; 2]) -> &[Vector] {
                rows
            }
            #[inline(always)]
            fn slice_mut(rows: &mut [Vector; 2]) -> &mut [Vector] {
                rows
            }
        }
    )*};
}

narrow! {
    u32, B32, |word| word, |value| value;
    i32, B32, |word| word as i32, |value| value as u32;
    f32, F32, |word| f32::from_bits(word), |value| value.to_bits();
    u16, B16, |word| word as u16, |value| u32::from(value);
    i16, B16, |word| word as i16, |value| u32::from(value as u16);
    F16, F16, |word| F16(word as u16), |value| u32::from(value.0);
    Bf16, Bf16, |word| Bf16(word as u16), |value| u32::from(value.0);
}

wide! {
    u64, B64, |bits| bits, |value| value;
    i64, I64, |bits| bits as i64, |value| value as u64;
    f64, F64, |bits| f64::from_bits(bits), |value| value.to_bits();
}
