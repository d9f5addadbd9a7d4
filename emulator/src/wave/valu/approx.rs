//! Reciprocals, roots, exponentials, logarithms and trigonometry, which hardware gives to about one ulp.
//!
//! Single and half precision are computed in double precision and rounded once: the error is below 0.50001 ulp, and
//! every half is correctly rounded. So are `v_rcp_f64` and `v_sqrt_f64`; `v_rsq_f64` is within 0.504 ulp. The
//! polynomials are ours so that results do not depend on the host's library and the loops vectorise.
//!
//! The f32 forms flush denormal sources and results whatever MODE says, as the hardware's do.

use std::f64::consts::{LN_2, LOG2_E, PI};

use super::{
    half::F16,
    map::lanes,
    modal::floats,
    mode::Operand,
    soft::{self, Env, Round},
};

/// Coefficients of 2^x around 0: ln(2)^n / n!.
const EXP: [f64; 13] = {
    let mut c = [1.0; 13];
    let mut n = 1;
    while n < 13 {
        c[n] = c[n - 1] * LN_2 / n as f64;
        n += 1;
    }
    c
};

/// Coefficients of sin(2*pi*x)/x around 0, in x^2.
const SIN: [f64; 10] = series(2.0 * PI, 2);
/// Coefficients of cos(2*pi*x) around 0, in x^2.
const COS: [f64; 10] = series(1.0, 1);

/// Alternating Taylor coefficients: the first is `first`, the next divide by `n * (n + 1)`, n up from `n` by twos.
const fn series(first: f64, mut n: usize) -> [f64; 10] {
    let mut c = [first; 10];
    let mut i = 1;
    while i < 10 {
        c[i] = -c[i - 1] * (4.0 * PI * PI) / (n * (n + 1)) as f64;
        n += 2;
        i += 1;
    }
    c
}

/// Coefficients of log2((1 + t) / (1 - t)) / t, in t^2: 2 / (ln(2) * (2n + 1)).
const LOG: [f64; 11] = {
    let mut c = [0.0; 11];
    let mut n = 0;
    while n < 11 {
        c[n] = 2.0 * LOG2_E / (2 * n + 1) as f64;
        n += 1;
    }
    c
};

#[inline(always)]
fn polynomial<const N: usize>(c: &[f64; N], x: f64) -> f64 {
    let mut y = c[N - 1];
    for n in (0..N - 1).rev() {
        y = y * x + c[n];
    }
    y
}

/// 2^x; |x| is cut off where single precision over- or underflows.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    // NaN passes both comparisons of the clamp and comes out of the polynomial.
    let x = x.clamp(-200.0, 200.0);
    let whole = x.round_ties_even();
    let part = polynomial(&EXP, x - whole);
    // The whole part, moved into an exponent: adding 1.5 * 2^52 leaves it in the low bits.
    let low = (whole + 6_755_399_441_055_744.0).to_bits();
    part * f64::from_bits(low.wrapping_add(1023) << 52)
}

/// log2 of a positive normal number.
#[inline(always)]
fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    // Mantissa in [sqrt(1/2), sqrt(2)).
    let shifted = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let exponent = (shifted as i64 >> 52) as i32;
    let m = f64::from_bits(bits.wrapping_sub((i64::from(exponent) as u64) << 52));
    let t = (m - 1.0) / (m + 1.0);
    f64::from(exponent) + t * polynomial(&LOG, t * t)
}

/// sin(2*pi*x), or the cosine.
#[inline(always)]
fn turns(x: f64, cosine: bool) -> f64 {
    let r = x - x.round_ties_even();
    // r is in [-1/2, 1/2]; r - quarter/4 in [-1/8, 1/8].
    let quarter = (4.0 * r).round_ties_even();
    let f = r - 0.25 * quarter;
    let (sin, cos) = (f * polynomial(&SIN, f * f), polynomial(&COS, f * f));
    let quadrant = quarter as i32 + i32::from(cosine);
    let value = if quadrant & 1 == 0 { sin } else { cos };
    // + 0.0 makes the zeros of exact half turns positive.
    let signed = if quadrant & 2 == 0 { value } else { -value } + 0.0;
    if x == 0.0 && !cosine { x } else { signed }
}

/// The function of a source whose denormals are zeros, rounded to single precision, denormals flushed.
#[inline(always)]
fn single(x: f32, f: impl Fn(f64) -> f64) -> f32 {
    (f(f64::from(x.flush())) as f32).flush()
}

/// The function of a half, rounded once. By way of single precision rounded to odd, which vectorises.
#[inline(always)]
fn half(x: F16, f: impl Fn(f64) -> f64) -> F16 {
    let y = f(f64::from(x.to_f32()));
    let single = y as f32;
    let (bits, wide) = (single.to_bits(), f64::from(single));
    let odd = if wide.abs() < y.abs() { bits + 1 } else { bits.wrapping_sub(1) };
    let exact = wide == y || y.is_nan() || bits & 1 != 0;
    F16::from_f32(if exact { single } else { f32::from_bits(odd) })
}

/// [`half`] with the denormals and the overflow of MODE, whose rounding does not count. What is infinite by itself
/// stays infinite.
fn half_in(env: Env, x: F16, f: impl Fn(f64) -> f64) -> F16 {
    let x = x.flush_if(env.flush_in);
    let saturate = env.saturate && !x.is_infinite();
    let to = Env { round: Round::NearestEven, saturate, ..env };
    soft::convert(Env::DEFAULT, to, f(f64::from(x.to_f32())))
}

#[inline(always)]
fn logarithm(x: f64) -> f64 {
    let positive = log2(if x > 0.0 { x.min(f64::MAX) } else { 1.0 });
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x == f64::INFINITY {
        x
    } else if x > 0.0 {
        positive
    } else {
        f64::NAN
    }
}

#[inline(always)]
fn sine(x: f64) -> f64 {
    turns(x, false)
}

#[inline(always)]
fn cosine(x: f64) -> f64 {
    turns(x, true)
}

#[inline(always)]
fn reciprocal(x: f64) -> f64 {
    1.0 / x
}

#[inline(always)]
fn reciprocal_root(x: f64) -> f64 {
    // The root of -0 is -0, whose reciprocal is -inf.
    1.0 / x.sqrt()
}

/// [`reciprocal_root`] with the error of its two roundings taken out.
#[inline(always)]
fn refined_root(x: f64) -> f64 {
    let y = reciprocal_root(x);
    let product = x * y;
    let rest = x.mul_add(y, -product);
    // 1 - x * y * y.
    let error = (-product).mul_add(y, 1.0) - rest * y;
    let refined = (0.5 * y).mul_add(error, y);
    if x > 0.0 && x < f64::INFINITY { refined } else { y }
}

lanes! {
    v_rcp_f32(a: f32) -> f32 { (1.0 / a.flush()).flush() };
    v_rsq_f32(a: f32) -> f32 { single(a, reciprocal_root) };
    v_sqrt_f32(a: f32) -> f32 { a.flush().sqrt() };
    v_exp_f32(a: f32) -> f32 { single(a, exp2) };
    v_log_f32(a: f32) -> f32 { single(a, logarithm) };
    v_sin_f32(a: f32) -> f32 { single(a, sine) };
    v_cos_f32(a: f32) -> f32 { single(a, cosine) };
}

floats! {
    f64: v_rcp_f64(a: f64) -> f64 { reciprocal(a) };
    f64: v_rsq_f64(a: f64) -> f64 { refined_root(a) };
    f64: v_sqrt_f64(a: f64) -> f64 { a.sqrt() };
}

floats! {
    once;
    F16: v_rcp_f16(a: F16) -> F16 { half(a, reciprocal) }, exact |e| { half_in(e, a, reciprocal) };
    F16: v_rsq_f16(a: F16) -> F16 { half(a, reciprocal_root) }, exact |e| { half_in(e, a, reciprocal_root) };
    F16: v_sqrt_f16(a: F16) -> F16 { half(a, f64::sqrt) }, exact |e| { half_in(e, a, f64::sqrt) };
    F16: v_exp_f16(a: F16) -> F16 { half(a, exp2) }, exact |e| { half_in(e, a, exp2) };
    F16: v_log_f16(a: F16) -> F16 { half(a, logarithm) }, exact |e| { half_in(e, a, logarithm) };
    F16: v_sin_f16(a: F16) -> F16 { half(a, sine) }, exact |e| { half_in(e, a, sine) };
    F16: v_cos_f16(a: F16) -> F16 { half(a, cosine) }, exact |e| { half_in(e, a, cosine) };
}
