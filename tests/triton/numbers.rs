//! Inputs, formats of narrow floating-point numbers, and bounds on errors.

use fastrand::Rng;

/// Half of the distance of one and the next larger `f32`: the relative error of one rounding.
pub const ULP: f64 = 1.0 / (1 << 24) as f64;

/// Random numbers of a seed.
pub struct Numbers(Rng);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A whole number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.u64(..end)
    }

    /// `n` numbers of [-scale, scale).
    pub fn floats(&mut self, n: usize, scale: f64) -> Vec<f32> {
        (0..n).map(|_| ((self.0.f64() * 2.0 - 1.0) * scale) as f32).collect()
    }

    /// `n` numbers of `format`, as bits, with magnitudes from 2^-4 to almost 2, or zero.
    pub fn narrow(&mut self, format: &Format, n: usize) -> Vec<u16> {
        let mut number = || {
            let exponent = format.bias - 4 + self.below(5) as i32;
            let mantissa = self.below(1 << format.mantissa) as i32;
            let sign = self.below(2) as u16;
            let zero = self.below(16) == 0;
            // CAST: both fit their fields.
            let magnitude = if zero { 0 } else { (exponent << format.mantissa | mantissa) as u16 };
            if magnitude == 0 { 0 } else { sign << (format.bits - 1) | magnitude }
        };
        (0..n).map(|_| number()).collect()
    }
}

/// A binary floating-point format of at most 16 bits.
pub struct Format {
    /// All of them.
    pub bits: u32,
    /// Those of the mantissa, without the hidden one.
    pub mantissa: u32,
    pub bias: i32,
    pub specials: Specials,
}

/// The bits that stand for no number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Specials {
    /// The largest exponent means infinity and NaN.
    Ieee,
    /// The sign with nothing else is a NaN, and there is no negative zero.
    Unsigned,
    /// All bits of exponent and mantissa are a NaN.
    Last,
    /// All are numbers.
    None,
}

pub const HALF: Format = Format { bits: 16, mantissa: 10, bias: 15, specials: Specials::Ieee };
pub const BFLOAT: Format = Format { bits: 16, mantissa: 7, bias: 127, specials: Specials::Ieee };
/// Triton's `fp8e4b8`, gfx942's FP8.
pub const FP8: Format = Format { bits: 8, mantissa: 3, bias: 8, specials: Specials::Unsigned };
/// Triton's `fp8e5b16`, gfx942's BF8.
pub const BF8: Format = Format { bits: 8, mantissa: 2, bias: 16, specials: Specials::Unsigned };
/// Triton's `fp8e4nv`, gfx950's FP8: E4M3 of the Open Compute Project's "8-bit Floating Point Specification".
pub const FP8_OCP: Format = Format { bits: 8, mantissa: 3, bias: 7, specials: Specials::Last };
/// Triton's `fp8e5`, gfx950's BF8: E5M2 there.
pub const BF8_OCP: Format = Format { bits: 8, mantissa: 2, bias: 15, specials: Specials::Ieee };
/// E2M1 of its "Microscaling Formats Specification".
pub const FP4: Format = Format { bits: 4, mantissa: 1, bias: 1, specials: Specials::None };

impl Format {
    /// The number that `bits` stand for: (-1)^sign 1.mantissa 2^(exponent - bias).
    pub fn value(&self, bits: u16) -> f64 {
        let sign = bits >> (self.bits - 1) & 1;
        let magnitude = i32::from(bits) & ((1 << (self.bits - 1)) - 1);
        let (exponent, mantissa) = (magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1));
        let largest = (1 << (self.bits - 1 - self.mantissa)) - 1;
        let fraction = f64::from(mantissa) / f64::from(1 << self.mantissa);
        let magnitude = match exponent {
            _ if self.specials == Specials::Unsigned && sign == 1 && magnitude == 0 => f64::NAN,
            _ if self.specials == Specials::Last && magnitude == (1 << (self.bits - 1)) - 1 => f64::NAN,
            e if self.specials == Specials::Ieee && e == largest => {
                if mantissa == 0 {
                    f64::INFINITY
                } else {
                    f64::NAN
                }
            }
            0 => fraction * 2f64.powi(1 - self.bias),
            e => (1.0 + fraction) * 2f64.powi(e - self.bias),
        };
        if sign == 1 { -magnitude } else { magnitude }
    }

    /// The magnitudes that stand for finite numbers.
    pub fn finite(&self) -> impl Iterator<Item = u16> {
        (0..1 << (self.bits - 1)).filter(|bits| self.value(*bits).is_finite())
    }

    pub fn values(&self, bits: &[u16]) -> Vec<f64> {
        bits.iter().map(|&bits| self.value(bits)).collect()
    }
}

/// Asserts that every number is as near to what is expected as its bound says.
#[track_caller]
pub fn assert_near<T: Copy + Into<f64>>(
    what: &str,
    computed: &[T],
    expected: impl IntoIterator<Item = (f64, f64)>,
) {
    let mut n = 0;
    for (i, (expected, bound)) in expected.into_iter().enumerate() {
        let computed = computed[i].into();
        let error = (computed - expected).abs();
        assert!(
            error <= bound,
            "{what}[{i}]: {computed:e}, not {expected:e}: off by {error:e}, allowed {bound:e}"
        );
        n += 1;
    }
    assert_eq!(computed.len(), n, "{what}");
}

#[test]
fn formats_have_the_values_of_their_definitions() {
    assert_eq!(HALF.value(0x3c00), 1.0);
    assert_eq!(HALF.value(0xfbff), -65504.0);
    assert_eq!(HALF.value(0x0001), 2f64.powi(-24));
    assert_eq!(BFLOAT.value(0x4049), f64::from(f32::from_bits(0x4049_0000)));
    // CDNA 3 ISA: the largest numbers are 240 and 57344, 0x80 is the NaN.
    assert_eq!(FP8.value(0x7f), 240.0);
    assert_eq!(BF8.value(0x7f), 57344.0);
    assert!(FP8.value(0x80).is_nan() && BF8.value(0x80).is_nan());
    // OCP: 448, 57344 and 6.
    assert_eq!([FP8_OCP.value(0x7e), BF8_OCP.value(0x7b), FP4.value(0x7)], [448.0, 57344.0, 6.0]);
    assert!(FP8_OCP.value(0x7f).is_nan() && BF8_OCP.value(0x7c).is_infinite());
    assert_eq!([FP8_OCP.value(0xc0), BF8_OCP.value(0xc0), FP4.value(0xc)], [-2.0; 3]);
}
