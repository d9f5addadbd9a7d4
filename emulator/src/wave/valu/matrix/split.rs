//! Matrices for sums in fixed point: exponents apart from the numbers.

use super::{
    buffer::{Buffer, Room},
    format::{Element, Format, each, with_element},
    layout::Shape,
};
use crate::wave::{Vector, simd::versions};

/// 2^n as a double; `n` is far from the ends of the range.
#[inline(always)]
pub(super) fn power(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// The exponent of zeros: products of them are below all others.
const ZERO: i32 = -1000;
/// The exponents of what is not finite.
const NAN: i32 = -4000;
const POSITIVE_INFINITY: i32 = NAN + 1;
const NEGATIVE_INFINITY: i32 = NAN + 2;

/// Exponents of this magnitude at most let a product of 22 significant bits be exact in single precision.
const MODERATE: i32 = 50;

/// A matrix as factors and exponents; the layout of [`values`](super::format::values).
///
/// Denormals have the exponent of the smallest normal number, zeros [`ZERO`]. What is not finite has a factor of 0 and
/// an exponent at or below [`NEGATIVE_INFINITY`].
pub(super) struct Split<'a> {
    /// The elements themselves if `whole`, or their significands, which are below 2.
    pub factors: Buffer<'a, f32>,
    pub exponents: Buffer<'a, i32>,
    /// What the factors are.
    pub whole: bool,
    /// Whether all elements are finite.
    pub finite: bool,
    /// Whether all exponents of numbers are [`MODERATE`].
    moderate: bool,
}

impl<'a> Split<'a> {
    /// Unpacks both matrices: as they are if that is exact enough, else as significands.
    #[inline(always)]
    pub(super) fn both(
        matrices: [(&[Vector], Shape, Format); 2],
        rooms: [(&'a mut Room<f32>, &'a mut Room<i32>); 2],
    ) -> [Self; 2] {
        let [room_a, room_b] = rooms;
        let [mut a, mut b] = [Self::new(room_a), Self::new(room_b)];
        a.unpack(matrices[0], true);
        b.unpack(matrices[1], true);
        if !(a.moderate && b.moderate) {
            a.unpack(matrices[0], false);
            b.unpack(matrices[1], false);
        }
        [a, b]
    }

    #[inline(always)]
    fn new((factors, exponents): (&'a mut Room<f32>, &'a mut Room<i32>)) -> Self {
        let (factors, exponents) = (Buffer::new(factors), Buffer::new(exponents));
        Self { factors, exponents, whole: true, finite: true, moderate: true }
    }

    /// An element as a number.
    pub(super) fn value(&self, index: usize) -> f64 {
        let factor = f64::from(self.factors[index]);
        match self.exponents[index] {
            NAN => f64::NAN,
            POSITIVE_INFINITY => f64::INFINITY,
            NEGATIVE_INFINITY => f64::NEG_INFINITY,
            _ if self.whole => factor,
            exponent => factor * power(exponent),
        }
    }

    /// Makes NaNs of the elements whose scale is one. A lane's scale is that of its row and of 32 values of k.
    pub(super) fn spoil(&mut self, shape: Shape, scales: &[u8; 64]) {
        for lane in (0..64).filter(|lane| scales[*lane] == u8::MAX) {
            for k in lane / shape.n * 32..(lane / shape.n + 1) * 32 {
                let index = k * shape.n + lane % shape.n;
                (self.factors[index], self.exponents[index], self.finite) = (0.0, NAN, false);
            }
        }
    }

    fn unpack(&mut self, (registers, shape, format): (&[Vector], Shape, Format), whole: bool) {
        #[inline(always)]
        fn run<E: Element>(registers: &[Vector], shape: Shape, format: Format, split: &mut Split<'_>) {
            let (mut lowest, mut spread, whole) = ([0; 16], [0; 16], split.whole);
            each(registers, shape, format, |words| {
                let (mut factors, mut exponents) = ([0.0; 16], [0; 16]);
                for n in 0..16 {
                    let (factor, exponent) = part(E::decode(words[n]), E::MIN_EXPONENT, whole);
                    factors[n] = factor;
                    exponents[n] = exponent;
                    lowest[n] = exponent.min(lowest[n]);
                    let magnitude = if factor.abs() > 0.0 { exponent.abs() } else { 0 };
                    spread[n] = magnitude.max(spread[n]);
                }
                split.factors.push(factors);
                split.exponents.push(exponents);
            });
            split.finite = lowest.iter().all(|exponent| *exponent > NEGATIVE_INFINITY);
            split.moderate = spread.iter().all(|magnitude| *magnitude <= MODERATE);
        }
        self.factors.clear();
        self.exponents.clear();
        self.whole = whole;
        let split = self;
        versions!(
            [registers: &[Vector], shape: Shape, format: Format, split: &mut Split<'_>] -> (),
            { with_element!(format, run(registers, shape, format, split)) },
            (registers, shape, format, split)
        )
    }
}

/// The number or its significand, and its exponent, which is `min` at least.
#[inline(always)]
fn part(x: f32, min: i32, whole: bool) -> (f32, i32) {
    let bits = x.to_bits();
    let field = (bits >> 23 & 0xff) as i32;
    let normal = f32::from_bits(bits & 0x807f_ffff | 0x3f80_0000);
    // CAST: `min` is from -126 to -7.
    let denormal = x * f32::from_bits(((127 - min) as u32) << 23);
    let small = field - 127 < min;
    let significand = if small { denormal } else { normal };
    let exponent = if small { min } else { field - 127 };
    let exponent = if bits << 1 == 0 { ZERO } else { exponent };
    let infinite = if bits >> 31 == 0 { POSITIVE_INFINITY } else { NEGATIVE_INFINITY };
    let special = if bits << 9 != 0 { NAN } else { infinite };
    match (field == 255, whole) {
        (true, _) => (0.0, special),
        (false, true) => (x, exponent),
        (false, false) => (significand, exponent),
    }
}
