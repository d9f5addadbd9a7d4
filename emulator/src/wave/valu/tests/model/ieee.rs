//! Soft-float arithmetic as MODE says.

use rustc_apfloat::{
    Float, FloatConvert, Round, Status, StatusAnd,
    ieee::{Double, Half, Quad, Single},
};

use super::{Ctx, Modes, Out, Want};

/// A format and where MODE controls it.
pub(super) trait Format: Float + FloatConvert<Quad> {
    const WIDTH: u32;
    const FRACTION: u32;
    /// Index into the fields of [`Modes`].
    const AT: usize;
    const IS_HALF: bool = false;

    fn narrow(x: Quad, round: Round) -> StatusAnd<Self>;

    fn of(bits: u64) -> Self {
        Self::from_bits(u128::from(bits) & (u128::MAX >> (128 - Self::WIDTH)))
    }
    fn round(modes: &Modes) -> Round {
        rounding(modes.round[Self::AT])
    }
    fn flushes_input(modes: &Modes) -> bool {
        modes.denormals[Self::AT] & 1 == 0
    }
    fn flushes_output(modes: &Modes) -> bool {
        modes.denormals[Self::AT] & 2 == 0
    }
    /// A source as MODE says.
    fn source(modes: &Modes, bits: u64) -> Self {
        flush(Self::of(bits), Self::flushes_input(modes))
    }
}

macro_rules! formats {
    ($($ty:ty, $width:literal, $fraction:literal, $at:literal, $half:literal;)*) => {$(
        impl Format for $ty {
            const WIDTH: u32 = $width;
            const FRACTION: u32 = $fraction;
            const AT: usize = $at;
            const IS_HALF: bool = $half;
            fn narrow(x: Quad, round: Round) -> StatusAnd<Self> {
                x.convert_r(round, &mut false)
            }
        }
    )*};
}

formats! {
    Half, 16, 10, 1, true;
    Single, 32, 23, 0, false;
    Double, 64, 52, 1, false;
}

pub(super) fn rounding(field: u32) -> Round {
    [Round::NearestTiesToEven, Round::TowardPositive, Round::TowardNegative, Round::TowardZero]
        [field as usize]
}

pub(super) fn flush<F: Float>(x: F, flush: bool) -> F {
    if flush && x.is_denormal() { F::ZERO.copy_sign(x) } else { x }
}

/// A rounded result: overflow of finite halves may be finite, denormals may be flushed.
pub(super) fn result<F: Format>(modes: &Modes, r: StatusAnd<F>) -> F {
    let overflowed = r.value.is_infinite() && r.status.contains(Status::OVERFLOW);
    if F::IS_HALF && modes.fp16_overflow && overflowed {
        return F::largest().copy_sign(r.value);
    }
    flush(r.value, F::flushes_output(modes))
}

pub(super) fn out<F: Float>(x: F) -> Out {
    let value = if x.is_nan() { Want::Nan } else { Want::Bits(x.to_bits()) };
    Out { value, bit: false }
}

pub(super) fn one<F: Format>(c: &Ctx, v: [u64; 3], f: impl Fn(F, Round) -> StatusAnd<F>) -> Out {
    out(result(&c.modes, f(F::source(&c.modes, v[0]), F::round(&c.modes))))
}

pub(super) fn two<F: Format>(c: &Ctx, v: [u64; 3], f: impl Fn(F, F, Round) -> StatusAnd<F>) -> Out {
    let [a, b, _] = v.map(|x| F::source(&c.modes, x));
    out(result(&c.modes, f(a, b, F::round(&c.modes))))
}

pub(super) fn three<F: Format>(c: &Ctx, v: [u64; 3], f: impl Fn(F, F, F, Round) -> StatusAnd<F>) -> Out {
    let [a, b, d] = v.map(|x| F::source(&c.modes, x));
    out(result(&c.modes, f(a, b, d, F::round(&c.modes))))
}

/// a * b + c, the product rounded first, denormals flushed in every place.
pub(super) fn twice_rounded<F: Format>(c: &Ctx, v: [u64; 3], zero_wins: bool) -> Out {
    let round = F::round(&c.modes);
    let [a, b, d] = v.map(|x| flush(F::of(x), true));
    let product =
        if zero_wins && (a.is_zero() || b.is_zero()) { Status::OK.and(F::ZERO) } else { a.mul_r(b, round) };
    let sum = flush(product.value, true).add_r(d, round);
    let finite = a.is_finite() && b.is_finite() && d.is_finite();
    if F::IS_HALF && c.modes.fp16_overflow && finite && sum.value.is_infinite() {
        return out(F::largest().copy_sign(sum.value));
    }
    out(flush(sum.value, true))
}

/// (a * b + c) * 2^scale with one rounding, by way of a wider format rounded to odd.
pub(super) fn scaled_fma<F: Format>(c: &Ctx, v: [u64; 3], scale: i32) -> Out {
    let [a, b, d] = v.map(|x| F::source(&c.modes, x));
    let round = F::round(&c.modes);
    let [a, b, d] = [a, b, d].map(|x| x.convert(&mut false).value);
    let exact: StatusAnd<Quad> = a.mul_add_r(b, d, Round::TowardZero);
    // The sign of an exact zero sum depends on the rounding mode.
    let exact = if exact.value.is_zero() { a.mul_add_r(b, d, round) } else { exact };
    let inexact = exact.status.contains(Status::INEXACT);
    let odd = Quad::from_bits(exact.value.to_bits() | u128::from(inexact));
    out(result(&c.modes, F::narrow(odd.scalbn(scale), round)))
}
