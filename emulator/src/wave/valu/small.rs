//! Small floats as the Open Compute Project defines them (OFP8 1.0, MX 1.0), and halves, which are rounded to in the same
//! way.

/// A format of at most 16 bits.
pub(crate) trait Small {
    /// Bits of the exponent.
    const EXPONENT: u32;
    /// Bits of the fraction.
    const FRACTION: u32;
    /// The code of the largest finite number.
    const MAX: u32;
    /// What stands above [`Small::MAX`].
    const BEYOND: Beyond;

    const BIAS: u32 = (1 << (Self::EXPONENT - 1)) - 1;
    const SIGN: u32 = 1 << (Self::EXPONENT + Self::FRACTION);
    /// The code of infinity, or of what an overflow gives instead.
    const OVERFLOW: u32 = match Self::BEYOND {
        Beyond::Nothing => Self::MAX,
        _ => Self::MAX + 1,
    };
    /// The code of the NaN that conversions give.
    const NAN: u32 = match Self::BEYOND {
        Beyond::Nothing => Self::MAX,
        _ => Self::SIGN - 1,
    };
}

/// What a format has beside finite numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Beyond {
    /// Nothing: a number too large becomes the largest, and so does a NaN, which no document defines.
    Nothing,
    /// A NaN, which an overflow becomes.
    Nan,
    /// Infinity and NaNs.
    Infinity,
}

macro_rules! formats {
    ($($(#[$meta:meta])* $name:ident: $exponent:literal, $fraction:literal, $max:literal, $beyond:ident;)*) => {$(
        $(#[$meta])*
        pub(crate) struct $name;

        impl Small for $name {
            const EXPONENT: u32 = $exponent;
            const FRACTION: u32 = $fraction;
            const MAX: u32 = $max;
            const BEYOND: Beyond = Beyond::$beyond;
        }
    )*};
}

formats! {
    /// AMD's fp8 on gfx950.
    E4m3: 4, 3, 0x7e, Nan;
    /// AMD's bf8 on gfx950.
    E5m2: 5, 2, 0x7b, Infinity;
    /// AMD's fp6.
    E2m3: 2, 3, 0x1f, Nothing;
    /// AMD's bf6.
    E3m2: 3, 2, 0x1f, Nothing;
    /// AMD's fp4.
    E2m1: 2, 1, 0x7, Nothing;
    /// Halves.
    Half: 5, 10, 0x7bff, Infinity;
    /// Upper halves of singles.
    Brain: 8, 7, 0x7f7f, Infinity;
}

/// How a number between two codes is rounded.
#[derive(Clone, Copy)]
pub(crate) enum Rounding {
    NearestEven,
    /// Up with a probability that grows with the nearness of the code above: this number is added below the last bit that
    /// is kept, of a denormal too, and the sum is truncated.
    Stochastic(u32),
}

/// The number `code` stands for; bits above the format's do not count.
#[inline(always)]
pub(crate) fn decode<F: Small>(code: u32) -> f32 {
    // The exponent moves from one bias to the other; the product is exact, also for denormals.
    let rebias = f32::from_bits((254 - F::BIAS) << 23);
    let code = code & (2 * F::SIGN - 1);
    let magnitude = code & (F::SIGN - 1);
    let value = f32::from_bits(magnitude << (23 - F::FRACTION)) * rebias;
    let value = match F::BEYOND {
        Beyond::Infinity if magnitude == F::OVERFLOW => f32::INFINITY,
        Beyond::Infinity | Beyond::Nan if magnitude > F::MAX => f32::NAN,
        _ => value,
    };
    if code & F::SIGN != 0 { -value } else { value }
}

/// The power of two that `exponent` stands for, with a bias of 127.
#[inline(always)]
fn power(exponent: u32) -> f64 {
    f64::from_bits(u64::from(exponent + 1023 - 127) << 52)
}

/// `x` times the power of two that an 8-bit exponent stands for, of which 255 is no number (MX 1.0, E8M0).
#[inline(always)]
pub(crate) fn scaled_up(x: f32, exponent: u32) -> f32 {
    // The product is exact, so that it is rounded once.
    let product = (f64::from(x) * power(exponent)) as f32;
    if exponent == 255 { f32::NAN } else { product }
}

/// The code of `x` divided by the power of two that an 8-bit exponent stands for.
///
/// A finite number that is too large becomes what the format has beyond its numbers, or the largest of them if
/// `saturate` (FP16_OVFL). An infinity stays one where there is one, and is too large a number elsewhere.
#[inline(always)]
pub(crate) fn encode<F: Small>(x: f32, exponent: u32, rounding: Rounding, saturate: bool) -> u32 {
    let sign = if x.is_sign_negative() { F::SIGN } else { 0 };
    // Both are exact: no single times such a power is denormal.
    let scaled = f64::from(f32::from_bits(x.to_bits() & 0x7fff_ffff)) * power(254 - exponent.min(254));
    // CAST: eleven bits.
    let field = (scaled.to_bits() >> 52) as u32;
    let lowest = 1024 - F::BIAS;
    let field = field.max(lowest);
    // In units of the last place.
    let units = scaled * f64::from_bits(u64::from(2046 + F::FRACTION - field) << 52);
    let rounded = match rounding {
        // The sum has no place for fractions.
        Rounding::NearestEven => (units + 4_503_599_627_370_496.0).to_bits() as u32,
        Rounding::Stochastic(random) => {
            let fixed = (units * 4_294_967_296.0) as u64;
            (fixed.wrapping_add(random.into()) >> 32) as u32
        }
    };
    // A carry out of the fraction moves into the exponent by itself.
    let code = ((field - lowest) << F::FRACTION).wrapping_add(rounded);
    let infinite = x.is_infinite() && F::BEYOND == Beyond::Infinity;
    let beyond = if saturate && !infinite { F::MAX } else { F::OVERFLOW };
    let code = if code > F::MAX || x.is_infinite() { beyond } else { code };
    let code = if x.is_nan() || exponent == 255 { F::NAN } else { code };
    code | sign
}
