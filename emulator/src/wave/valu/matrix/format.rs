//! Element formats, and unpacking registers into matrices.

use std::marker::PhantomData;

use super::{
    super::{
        fp8::Fnuz,
        half::F16,
        small::{self, Small},
    },
    buffer::Buffer,
    layout::Shape,
};
use crate::wave::{Vector, simd::versions};

/// The format of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    F64,
    F32,
    /// Denormals are zeros of the same sign.
    F32Flushed,
    /// An f32 whose fraction is truncated to 10 bits.
    Xf32,
    F16,
    /// Denormals are positive zeros.
    F16Flushed,
    Bf16,
    /// Denormals are positive zeros.
    Bf16Flushed,
    /// Without infinities and negative zero.
    Fp8Fnuz,
    Bf8Fnuz,
    /// As below, by the Open Compute Project: the floats of gfx950.
    Fp8,
    Bf8,
    Fp6,
    Bf6,
    Fp4,
    I8,
}

impl Format {
    /// Size of an element.
    #[inline(always)]
    pub(super) const fn bits(self) -> usize {
        match self {
            Self::F64 => 64,
            Self::F32 | Self::F32Flushed | Self::Xf32 => 32,
            Self::F16 | Self::F16Flushed | Self::Bf16 | Self::Bf16Flushed => 16,
            Self::Fp8Fnuz | Self::Bf8Fnuz | Self::Fp8 | Self::Bf8 | Self::I8 => 8,
            Self::Fp6 | Self::Bf6 => 6,
            Self::Fp4 => 4,
        }
    }

    /// The format that CBSZ and BLGP of the f8f6f4 instructions call `code`.
    pub(super) const fn of_code(code: usize) -> Option<Self> {
        match code {
            0 => Some(Self::Fp8),
            1 => Some(Self::Bf8),
            2 => Some(Self::Fp6),
            3 => Some(Self::Bf6),
            4 => Some(Self::Fp4),
            _ => None,
        }
    }

    /// Consecutive values of k in a lane that holds `per_lane` values; those that follow are in the next lanes. They fill
    /// four registers at most, or the six of 6-bit floats.
    #[inline(always)]
    const fn run(self, per_lane: usize) -> usize {
        let bits = self.bits();
        if bits != 6 && per_lane * bits > 128 { 128 / bits } else { per_lane }
    }
}

/// An element that is no double: all others are exact in single precision.
pub(super) trait Element {
    /// The exponent of the smallest normal number.
    const MIN_EXPONENT: i32 = -126;

    /// The value in the low bits of `word`.
    fn decode(word: u32) -> f32;
}

pub(super) struct F32;
pub(super) struct F32Flushed;
pub(super) struct Xf32;
pub(super) struct Half;
pub(super) struct HalfFlushed;
pub(super) struct Bf16;
pub(super) struct Bf16Flushed;
pub(super) struct I8;

impl Element for F32 {
    #[inline(always)]
    fn decode(word: u32) -> f32 {
        f32::from_bits(word)
    }
}

impl Element for F32Flushed {
    #[inline(always)]
    fn decode(word: u32) -> f32 {
        f32::from_bits(if word & 0x7f80_0000 == 0 { word & 0x8000_0000 } else { word })
    }
}

impl Element for Xf32 {
    /// The manual is not of one mind; measurements say that the fraction is truncated (ADR 10). A NaN stays one.
    #[inline(always)]
    fn decode(word: u32) -> f32 {
        let quiet = if word & 0x7fff_ffff > 0x7f80_0000 { 1 << 22 } else { 0 };
        f32::from_bits(word & !0x1fff | quiet)
    }
}

impl Element for Half {
    const MIN_EXPONENT: i32 = -14;

    #[inline(always)]
    fn decode(word: u32) -> f32 {
        F16(word as u16).to_f32()
    }
}

impl Element for HalfFlushed {
    #[inline(always)]
    fn decode(word: u32) -> f32 {
        if word & 0x7c00 == 0 { 0.0 } else { F16(word as u16).to_f32() }
    }
}

impl Element for Bf16 {
    #[inline(always)]
    fn decode(word: u32) -> f32 {
        f32::from_bits(word << 16)
    }
}

impl Element for Bf16Flushed {
    #[inline(always)]
    fn decode(word: u32) -> f32 {
        f32::from_bits(if word & 0x7f80 == 0 { 0 } else { word << 16 })
    }
}

impl Element for super::super::fp8::Fp8 {
    const MIN_EXPONENT: i32 = -7;

    #[inline(always)]
    fn decode(word: u32) -> f32 {
        <Self as Fnuz>::decode(word)
    }
}

impl Element for super::super::fp8::Bf8 {
    const MIN_EXPONENT: i32 = -15;

    #[inline(always)]
    fn decode(word: u32) -> f32 {
        <Self as Fnuz>::decode(word)
    }
}

/// A [small float](Small) of the Open Compute Project.
pub(super) struct Ocp<F>(PhantomData<F>);
pub(super) type Fp8 = Ocp<small::E4m3>;
pub(super) type Bf8 = Ocp<small::E5m2>;
pub(super) type Fp6 = Ocp<small::E2m3>;
pub(super) type Bf6 = Ocp<small::E3m2>;
pub(super) type Fp4 = Ocp<small::E2m1>;

impl<F: Small> Element for Ocp<F> {
    const MIN_EXPONENT: i32 = 1 - F::BIAS as i32;

    #[inline(always)]
    fn decode(word: u32) -> f32 {
        small::decode::<F>(word)
    }
}

impl Element for I8 {
    #[inline(always)]
    fn decode(word: u32) -> f32 {
        f32::from(word as i8)
    }
}

/// Calls `put` with all elements of A (or B), 16 at a time: column 0 of A (row 0 of B) of all blocks, then the next.
#[inline(always)]
pub(super) fn each(registers: &[Vector], shape: Shape, format: Format, mut put: impl FnMut([u32; 16])) {
    let (width, bits) = (shape.width(), format.bits());
    let (groups, run) = (64 / width, format.run(shape.per_lane()));
    // Which run of all lanes, in which lanes, which item of the run.
    let all =
        (0..shape.per_lane() / run).flat_map(|nth| (0..groups).map(move |group| (nth * run, group * width)));
    for (first, lane) in all {
        for item in first..first + run {
            let (register, bit) = (item * bits / 32, item * bits % 32);
            let lanes = |register: usize| registers[register].0[lane..][..width].as_chunks::<16>().0;
            for (n, low) in lanes(register).iter().enumerate() {
                let mut words = [0; 16];
                for (word, low) in words.iter_mut().zip(low) {
                    *word = low >> bit;
                }
                if bit + bits > 32 {
                    for (word, high) in words.iter_mut().zip(&lanes(register + 1)[n]) {
                        *word |= high << (32 - bit);
                    }
                }
                put(words);
            }
        }
    }
}

/// Runs `$run` with the type that implements `$format`.
macro_rules! with_element {
    ($format:expr, $run:ident($($arg:expr),*)) => {
        match $format {
            // Doubles have their own kernel and are never unpacked as singles.
            Format::F32 | Format::F64 => $run::<crate::wave::valu::matrix::format::F32>($($arg),*),
            Format::F32Flushed => $run::<crate::wave::valu::matrix::format::F32Flushed>($($arg),*),
            Format::Xf32 => $run::<crate::wave::valu::matrix::format::Xf32>($($arg),*),
            Format::F16 => $run::<crate::wave::valu::matrix::format::Half>($($arg),*),
            Format::F16Flushed => $run::<crate::wave::valu::matrix::format::HalfFlushed>($($arg),*),
            Format::Bf16 => $run::<crate::wave::valu::matrix::format::Bf16>($($arg),*),
            Format::Bf16Flushed => $run::<crate::wave::valu::matrix::format::Bf16Flushed>($($arg),*),
            Format::Fp8Fnuz => $run::<crate::wave::valu::fp8::Fp8>($($arg),*),
            Format::Bf8Fnuz => $run::<crate::wave::valu::fp8::Bf8>($($arg),*),
            Format::Fp8 => $run::<crate::wave::valu::matrix::format::Fp8>($($arg),*),
            Format::Bf8 => $run::<crate::wave::valu::matrix::format::Bf8>($($arg),*),
            Format::Fp6 => $run::<crate::wave::valu::matrix::format::Fp6>($($arg),*),
            Format::Bf6 => $run::<crate::wave::valu::matrix::format::Bf6>($($arg),*),
            Format::Fp4 => $run::<crate::wave::valu::matrix::format::Fp4>($($arg),*),
            Format::I8 => $run::<crate::wave::valu::matrix::format::I8>($($arg),*),
        }
    };
}

pub(super) use with_element;

/// Element \[k, row\] of A (\[k, column\] of B) at index `k * width + row`.
pub(super) fn values(registers: &[Vector], shape: Shape, format: Format, matrix: &mut Buffer<'_, f32>) {
    #[inline(always)]
    fn run<E: Element>(registers: &[Vector], shape: Shape, format: Format, matrix: &mut Buffer<'_, f32>) {
        each(registers, shape, format, |words| {
            // `map` would not inline, and so would not be compiled for the CPU.
            let mut values = [0.0; 16];
            for (value, word) in values.iter_mut().zip(words) {
                *value = E::decode(word);
            }
            matrix.push(values);
        });
    }
    versions!(
        [registers: &[Vector], shape: Shape, format: Format, matrix: &mut Buffer<'_, f32>] -> (),
        { with_element!(format, run(registers, shape, format, matrix)) },
        (registers, shape, format, matrix)
    )
}

/// Doubles, negated or not; the layout of [`values`].
pub(super) fn doubles(registers: &[Vector], shape: Shape, negate: bool, matrix: &mut Buffer<'_, f64>) {
    let sign = u32::from(negate) << 31;
    for lane in 0..64 {
        let (low, high) = (registers[0].0[lane], registers[1].0[lane] ^ sign);
        matrix.push([f64::from_bits(u64::from(low) | u64::from(high) << 32)]);
    }
    debug_assert_eq!(shape.width() * shape.k, 64);
}
