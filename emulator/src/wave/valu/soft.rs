//! Floating-point arithmetic in integers, for the rounding modes that the host's unit is not in.
//!
//! Every operation computes the exact result as an integer times a power of two and rounds it once. The host's
//! own arithmetic serves the default mode; its control register stays as Rust set it.

use super::half::{Bf16, F16};

/// The rounding modes of MODE, in its numbering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Round {
    NearestEven,
    Up,
    Down,
    Zero,
}

impl Round {
    pub(super) fn of(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::NearestEven,
            1 => Self::Up,
            2 => Self::Down,
            _ => Self::Zero,
        }
    }
}

/// How one precision computes: rounding, and what happens to denormals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Env {
    pub round: Round,
    /// Denormal sources count as zeros of their sign.
    pub flush_in: bool,
    /// Denormal results become zeros of their sign.
    pub flush_out: bool,
    /// A finite result too large for the format becomes the largest number, not infinity (FP16_OVFL).
    pub saturate: bool,
}

impl Env {
    pub(super) const DEFAULT: Self =
        Self { round: Round::NearestEven, flush_in: false, flush_out: false, saturate: false };

    /// From the two fields of MODE.
    pub(super) fn new(round: u32, denormals: u32) -> Self {
        Self {
            round: Round::of(round),
            flush_in: denormals & 1 == 0,
            flush_out: denormals & 2 == 0,
            saturate: false,
        }
    }
}

/// An IEEE binary format.
pub(super) trait Float: Copy {
    /// Bits of the fraction field.
    const FRACTION: u32;
    /// Bits of the exponent field.
    const EXPONENT: u32;
    fn to_raw(self) -> u64;
    fn from_raw(bits: u64) -> Self;

    /// Exponent of the last place of the smallest normal and of all denormals.
    const LOWEST: i32 = 2 - (1 << (Self::EXPONENT - 1)) - Self::FRACTION as i32;
    /// The exponent field of infinities and NaNs, in place.
    const INFINITY: u64 = ((1 << Self::EXPONENT) - 1) << Self::FRACTION;
    const SIGN: u64 = 1 << (Self::FRACTION + Self::EXPONENT);
    const QUIET: u64 = 1 << (Self::FRACTION - 1);
    /// What invalid operations give: the NaN that x86 and AMD's division produce.
    const INVALID: u64 = Self::SIGN | Self::INFINITY | Self::QUIET;
}

macro_rules! formats {
    ($($ty:ty, $fraction:literal, $exponent:literal, |$x:ident| $to:expr, |$bits:ident| $from:expr;)*) => {$(
        impl Float for $ty {
            const FRACTION: u32 = $fraction;
            const EXPONENT: u32 = $exponent;
            fn to_raw(self) -> u64 {
                let $x = self;
                $to
            }
            fn from_raw($bits: u64) -> Self {
                $from
            }
        }
    )*};
}

formats! {
    Bf16, 7, 8, |x| u64::from(x.0), |bits| Bf16(bits as u16);
    F16, 10, 5, |x| u64::from(x.0), |bits| F16(bits as u16);
    f32, 23, 8, |x| u64::from(x.to_bits()), |bits| f32::from_bits(bits as u32);
    f64, 52, 11, |x| x.to_bits(), |bits| f64::from_bits(bits);
}

/// A value taken apart; finite ones are `significand * 2^exponent`.
#[derive(Clone, Copy)]
enum Parts {
    Nan,
    Infinite,
    Finite { significand: u64, exponent: i32 },
}

fn sign<F: Float>(x: F) -> bool {
    x.to_raw() & F::SIGN != 0
}

fn is_nan<F: Float>(x: F) -> bool {
    x.to_raw() & !F::SIGN > F::INFINITY
}

fn parts<F: Float>(env: Env, x: F) -> Parts {
    let magnitude = x.to_raw() & !F::SIGN;
    if magnitude > F::INFINITY {
        return Parts::Nan;
    }
    if magnitude == F::INFINITY {
        return Parts::Infinite;
    }
    let fraction = magnitude & ((1 << F::FRACTION) - 1);
    match (magnitude >> F::FRACTION) as i32 {
        0 if env.flush_in => Parts::Finite { significand: 0, exponent: F::LOWEST },
        0 => Parts::Finite { significand: fraction, exponent: F::LOWEST },
        e => Parts::Finite { significand: fraction | 1 << F::FRACTION, exponent: F::LOWEST + e - 1 },
    }
}

/// Rounds `significand * 2^exponent`, plus something positive below its last place if `sticky`.
///
/// A sticky significand must have at least two bits more than the format.
#[inline(never)]
fn round<F: Float>(env: Env, negative: bool, mut significand: u128, mut exponent: i32, sticky: bool) -> F {
    let sign = if negative { F::SIGN } else { 0 };
    if significand == 0 {
        return F::from_raw(sign);
    }
    significand = significand << 1 | u128::from(sticky);
    exponent -= 1;
    let length = 128 - significand.leading_zeros() as i32;
    // The exponent of the result's last place.
    let last = (exponent + length - 1 - F::FRACTION as i32).max(F::LOWEST);
    let drop = last - exponent;
    let (kept, up) = if drop <= 0 {
        ((significand << -drop) as u64, false)
    } else {
        let (kept, rest, half) = if drop > 127 {
            (0, significand, if drop == 128 { 1 << 127 } else { u128::MAX })
        } else {
            (significand >> drop, significand & ((1 << drop) - 1), 1 << (drop - 1))
        };
        let up = match env.round {
            Round::NearestEven => rest > half || rest == half && kept & 1 != 0,
            Round::Up => rest != 0 && !negative,
            Round::Down => rest != 0 && negative,
            Round::Zero => false,
        };
        (kept as u64, up)
    };
    let exponent_field = (last - F::LOWEST) as u64;
    // A carry out of the fraction moves into the exponent field by itself.
    let magnitude = kept.wrapping_add(u64::from(up)).wrapping_add(if kept >> F::FRACTION != 0 {
        exponent_field << F::FRACTION
    } else {
        0
    });
    if exponent_field >= 1 << F::EXPONENT || magnitude >= F::INFINITY {
        return overflow(env, negative);
    }
    if env.flush_out && magnitude >> F::FRACTION == 0 {
        return F::from_raw(sign);
    }
    F::from_raw(sign | magnitude)
}

/// What a finite result of too large a magnitude becomes.
fn overflow<F: Float>(env: Env, negative: bool) -> F {
    let to_infinity = match env.round {
        Round::NearestEven => true,
        Round::Up => !negative,
        Round::Down => negative,
        Round::Zero => false,
    };
    let sign = if negative { F::SIGN } else { 0 };
    F::from_raw(sign | (F::INFINITY - u64::from(env.saturate || !to_infinity)))
}

/// The output modifier: a rounded result times 2^`n`. Its zeros and denormals lose their sign, a result that falls
/// below the normal numbers becomes a zero (the modifier only works where MODE flushes denormals).
#[inline(never)]
pub(super) fn modify<F: Float>(env: Env, x: F, n: i32) -> F {
    let raw = x.to_raw();
    let (magnitude, sign) = (raw & !F::SIGN, raw & F::SIGN);
    if magnitude >= F::INFINITY {
        return x;
    }
    let field = (magnitude >> F::FRACTION) as i32;
    if field == 0 {
        return F::from_raw(0);
    }
    match field + n {
        ..=0 => F::from_raw(sign),
        moved if moved >= (1 << F::EXPONENT) - 1 => overflow(env, sign != 0),
        moved => F::from_raw(sign | (moved as u64) << F::FRACTION | magnitude & ((1 << F::FRACTION) - 1)),
    }
}

/// Between +0 and 1; a NaN becomes 0 in DX10 mode and stays what it is otherwise.
pub(super) fn clamp<F: Float>(x: F, dx10: bool) -> F {
    let magnitude = x.to_raw() & !F::SIGN;
    let one = one::<F>();
    if magnitude > F::INFINITY && !dx10 {
        x
    } else if magnitude > F::INFINITY || sign(x) {
        F::from_raw(0)
    } else if magnitude > one.to_raw() {
        one
    } else {
        x
    }
}

/// The first NaN among the operands, quieted.
fn propagate<F: Float>(operands: &[F]) -> F {
    let nan = operands.iter().find(|x| is_nan(**x)).map_or(F::INVALID, |x| x.to_raw());
    F::from_raw(nan | F::QUIET)
}

/// `(a * b + c) * 2^scale`, rounded once.
#[inline(never)]
pub(super) fn scaled_fma<F: Float>(env: Env, a: F, b: F, c: F, scale: i32) -> F {
    if is_nan(a) || is_nan(b) || is_nan(c) {
        return propagate(&[a, b, c]);
    }
    let product_sign = sign(a) ^ sign(b);
    let (x, y, z) = (parts(env, a), parts(env, b), parts(env, c));
    let infinity = |negative: bool| F::from_raw(F::INFINITY | if negative { F::SIGN } else { 0 });
    let (pm, pe) = match (x, y) {
        (Parts::Finite { significand: s, exponent: e }, Parts::Finite { significand: t, exponent: f }) => {
            (u128::from(s) * u128::from(t), e + f)
        }
        (Parts::Finite { significand: 0, .. }, _) | (_, Parts::Finite { significand: 0, .. }) => {
            return F::from_raw(F::INVALID);
        }
        _ => {
            return match z {
                Parts::Infinite if sign(c) != product_sign => F::from_raw(F::INVALID),
                _ => infinity(product_sign),
            };
        }
    };
    let Parts::Finite { significand: cm, exponent: ce } = z else { return infinity(sign(c)) };
    let (negative, significand, exponent, sticky) =
        sum(env, (product_sign, pm, pe), (sign(c), u128::from(cm), ce));
    round(env, negative, significand, exponent + scale, sticky)
}

type Term = (bool, u128, i32);

/// The exact sum of two terms, up to a sticky bit: sign, significand, exponent, sticky.
fn sum(env: Env, a: Term, b: Term) -> (bool, u128, i32, bool) {
    if a.1 == 0 && b.1 == 0 {
        let negative = if a.0 == b.0 { a.0 } else { env.round == Round::Down };
        return (negative, 0, 0, false);
    }
    if a.1 == 0 {
        return (b.0, b.1, b.2, false);
    }
    if b.1 == 0 {
        return (a.0, a.1, a.2, false);
    }
    // Both significands move up to bit 125, which leaves room for a carry; the smaller term then moves down.
    let raise = |(negative, significand, exponent): Term| {
        let up = significand.leading_zeros() as i32 - 2;
        (negative, significand << up, exponent - up)
    };
    let (a, b) = (raise(a), raise(b));
    let (big, small) = if (a.2, a.1) >= (b.2, b.1) { (a, b) } else { (b, a) };
    let distance = (big.2 - small.2) as u32;
    let (aligned, sticky) = if distance > 127 {
        (0, true)
    } else {
        (small.1 >> distance, small.1 & ((1u128 << distance) - 1) != 0)
    };
    if big.0 == small.0 {
        return (big.0, big.1 + aligned, big.2, sticky);
    }
    let difference = big.1 - aligned;
    if difference == 0 && !sticky {
        return (env.round == Round::Down, 0, 0, false);
    }
    // What was shifted out is subtracted: one less, and the rest is positive again.
    (big.0, difference - u128::from(sticky), big.2, sticky)
}

pub(super) fn fma<F: Float>(env: Env, a: F, b: F, c: F) -> F {
    scaled_fma(env, a, b, c, 0)
}

fn one<F: Float>() -> F {
    F::from_raw(((1 << (F::EXPONENT - 1)) - 1) << F::FRACTION)
}

pub(super) fn add<F: Float>(env: Env, a: F, b: F) -> F {
    if is_nan(a) || is_nan(b) { propagate(&[a, b]) } else { fma(env, a, one(), b) }
}

pub(super) fn sub<F: Float>(env: Env, a: F, b: F) -> F {
    if is_nan(b) { propagate(&[a, b]) } else { add(env, a, F::from_raw(b.to_raw() ^ F::SIGN)) }
}

pub(super) fn mul<F: Float>(env: Env, a: F, b: F) -> F {
    // A zero of the product's sign leaves an exact zero product as it is.
    let zero = F::from_raw((a.to_raw() ^ b.to_raw()) & F::SIGN);
    if is_nan(a) || is_nan(b) { propagate(&[a, b]) } else { fma(env, a, b, zero) }
}

/// Another format: `from` says how the source reads, `to` how the result is rounded.
#[inline(never)]
pub(super) fn convert<F: Float, G: Float>(from: Env, to: Env, x: F) -> G {
    let negative = sign(x);
    let sign = if negative { G::SIGN } else { 0 };
    match parts(from, x) {
        Parts::Nan => {
            let fraction = x.to_raw() & ((1 << F::FRACTION) - 1);
            let moved = if G::FRACTION >= F::FRACTION {
                fraction << (G::FRACTION - F::FRACTION)
            } else {
                fraction >> (F::FRACTION - G::FRACTION)
            };
            G::from_raw(sign | G::INFINITY | G::QUIET | moved)
        }
        Parts::Infinite => G::from_raw(sign | G::INFINITY),
        Parts::Finite { significand, exponent } => round(to, negative, significand.into(), exponent, false),
    }
}

/// `±magnitude * 2^exponent`.
#[inline(never)]
pub(super) fn scaled<F: Float>(env: Env, negative: bool, magnitude: u64, exponent: i32) -> F {
    round(env, negative, magnitude.into(), exponent, false)
}

/// `x * 2^n`.
#[inline(never)]
pub(super) fn ldexp<F: Float>(env: Env, x: F, n: i32) -> F {
    match parts(env, x) {
        Parts::Nan => propagate(&[x]),
        Parts::Infinite => x,
        // Past these bounds every format over- or underflows.
        Parts::Finite { significand, exponent } => {
            round(env, sign(x), significand.into(), exponent + n.clamp(-10_000, 10_000), false)
        }
    }
}
