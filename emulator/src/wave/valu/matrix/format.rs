//! Element formats, and unpacking registers into matrices.

use super::{
    super::{fp8::Fnuz, half::F16},
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
    Fp8,
    Bf8,
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
            Self::Fp8 | Self::Bf8 | Self::I8 => 8,
        }
    }
}

/// An element that is no double: all others are exact in single precision.
trait Element {
    /// The exponent of the smallest normal number.
    const MIN_EXPONENT: i32 = -126;

    /// The value in the low bits of `word`.
    fn decode(word: u32) -> f32;
}

struct F32;
struct F32Flushed;
struct Xf32;
struct Half;
struct HalfFlushed;
struct Bf16;
struct Bf16Flushed;
struct I8;

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
    /// The manual says that the fraction is rounded; the measurements say truncated. A NaN stays one.
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

impl Element for I8 {
    #[inline(always)]
    fn decode(word: u32) -> f32 {
        f32::from(word as i8)
    }
}

/// Calls `put` with all elements of A (or B), 16 at a time: column 0 of A (row 0 of B) of all blocks, then the next.
#[inline(always)]
fn each(registers: &[Vector], shape: Shape, bits: usize, mut put: impl FnMut([u32; 16])) {
    let (width, per_lane) = (shape.width(), shape.per_lane());
    for k in 0..shape.k {
        let bit = k % per_lane * bits;
        let lanes = &registers[bit / 32].0[k / per_lane * width..][..width];
        for lanes in lanes.chunks_exact(16) {
            put(std::array::from_fn(|n| lanes[n] >> (bit % 32)));
        }
    }
}

/// Runs `$run` with the type that implements `$format`.
macro_rules! with_element {
    ($format:expr, $run:ident($($arg:expr),*)) => {
        match $format {
            // Doubles have their own kernel; nobody unpacks them as singles.
            Format::F32 | Format::F64 => $run::<F32>($($arg),*),
            Format::F32Flushed => $run::<F32Flushed>($($arg),*),
            Format::Xf32 => $run::<Xf32>($($arg),*),
            Format::F16 => $run::<Half>($($arg),*),
            Format::F16Flushed => $run::<HalfFlushed>($($arg),*),
            Format::Bf16 => $run::<Bf16>($($arg),*),
            Format::Bf16Flushed => $run::<Bf16Flushed>($($arg),*),
            Format::Fp8 => $run::<crate::wave::valu::fp8::Fp8>($($arg),*),
            Format::Bf8 => $run::<crate::wave::valu::fp8::Bf8>($($arg),*),
            Format::I8 => $run::<I8>($($arg),*),
        }
    };
}

/// Element \[k, row\] of A (\[k, column\] of B) at index `k * width + row`.
pub(super) fn values(registers: &[Vector], shape: Shape, format: Format, matrix: &mut Buffer<f32>) {
    #[inline(always)]
    fn run<E: Element>(registers: &[Vector], shape: Shape, format: Format, matrix: &mut Buffer<f32>) {
        each(registers, shape, format.bits(), |words| matrix.push(words.map(E::decode)));
    }
    versions!(
        [registers: &[Vector], shape: Shape, format: Format, matrix: &mut Buffer<f32>] -> (),
        { with_element!(format, run(registers, shape, format, matrix)) },
        (registers, shape, format, matrix)
    )
}

/// Doubles, negated or not; the layout of [`values`].
pub(super) fn doubles(registers: &[Vector], shape: Shape, negate: bool, matrix: &mut Buffer<f64>) {
    let sign = u32::from(negate) << 31;
    for lane in 0..64 {
        let (low, high) = (registers[0].0[lane], registers[1].0[lane] ^ sign);
        matrix.push([f64::from_bits(u64::from(low) | u64::from(high) << 32)]);
    }
    debug_assert_eq!(shape.width() * shape.k, 64);
}

/// 2^n as a double; `n` is far from the ends of the range.
#[inline(always)]
pub(super) fn power(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// The exponents of what is not finite.
const NAN: i32 = -4000;
const POSITIVE_INFINITY: i32 = NAN + 1;
const NEGATIVE_INFINITY: i32 = NAN + 2;

/// A matrix as significands (below 2) and exponents; the layout of [`values`].
///
/// Denormals have the exponent of the smallest normal number, zeros -126 in every format. What is not finite has a
/// significand of 0 and an exponent at or below [`NEGATIVE_INFINITY`], out of the way of finite elements.
pub(super) struct Split {
    pub significands: Buffer<f32>,
    pub exponents: Buffer<i32>,
    /// Whether all elements are finite.
    pub finite: bool,
}

impl Split {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self { significands: Buffer::new(), exponents: Buffer::new(), finite: true }
    }

    /// An element as a number.
    pub(super) fn value(&self, index: usize) -> f64 {
        match self.exponents[index] {
            NAN => f64::NAN,
            POSITIVE_INFINITY => f64::INFINITY,
            NEGATIVE_INFINITY => f64::NEG_INFINITY,
            exponent => f64::from(self.significands[index]) * power(exponent),
        }
    }

    /// Unpacks registers.
    pub(super) fn unpack(&mut self, registers: &[Vector], shape: Shape, format: Format) {
        #[inline(always)]
        fn run<E: Element>(registers: &[Vector], shape: Shape, format: Format, split: &mut Split) {
            let mut lowest = [0; 16];
            each(registers, shape, format.bits(), |words| {
                let parts = words.map(|word| part(E::decode(word), E::MIN_EXPONENT));
                let exponents = parts.map(|part| part.1);
                for (lowest, exponent) in lowest.iter_mut().zip(exponents) {
                    *lowest = exponent.min(*lowest);
                }
                split.significands.push(parts.map(|part| part.0));
                split.exponents.push(exponents);
            });
            split.finite = lowest.iter().all(|exponent| *exponent > NEGATIVE_INFINITY);
        }
        let split = self;
        versions!(
            [registers: &[Vector], shape: Shape, format: Format, split: &mut Split] -> (),
            { with_element!(format, run(registers, shape, format, split)) },
            (registers, shape, format, split)
        )
    }
}

/// Significand and exponent, which is `min` at least.
#[inline(always)]
fn part(x: f32, min: i32) -> (f32, i32) {
    let bits = x.to_bits();
    let field = (bits >> 23 & 0xff) as i32;
    let normal = f32::from_bits(bits & 0x807f_ffff | 0x3f80_0000);
    // CAST: `min` is from -126 to -7.
    let denormal = x * f32::from_bits(((127 - min) as u32) << 23);
    let small = field - 127 < min;
    let exponent = if small { min } else { field - 127 };
    let exponent = if bits << 1 == 0 { -126 } else { exponent };
    let infinite = if bits >> 31 == 0 { POSITIVE_INFINITY } else { NEGATIVE_INFINITY };
    let special = if bits << 9 != 0 { NAN } else { infinite };
    if field == 255 { (0.0, special) } else { (if small { denormal } else { normal }, exponent) }
}
