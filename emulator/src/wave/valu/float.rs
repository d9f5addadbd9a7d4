//! Floating-point addition, multiplication, minimum and maximum in three precisions.

use super::{
    half::F16,
    lane::Lane,
    map::{accumulate, instructions, map2, map3, rare},
    modal::{accumulating, floats},
    mode::{Operand, Precision},
    soft::{self, Env, Float},
};
use crate::{
    isa::{Flow, Inst},
    wave::Wave,
};

floats! {
    f32: v_add_f32(a: f32, b: f32) -> f32 { a + b }, exact |e| { soft::add(e, a, b) };
    f32: v_sub_f32(a: f32, b: f32) -> f32 { a - b }, exact |e| { soft::sub(e, a, b) };
    f32: v_subrev_f32(a: f32, b: f32) -> f32 { b - a }, exact |e| { soft::sub(e, b, a) };
    f32: v_mul_f32(a: f32, b: f32) -> f32 { a * b }, exact |e| { soft::mul(e, a, b) };
    f32: v_fma_f32(a: f32, b: f32, c: f32) -> f32 { a.mul_add(b, c) }, exact |e| { soft::fma(e, a, b, c) };

    F16: v_add_f16(a: F16, b: F16) -> F16 { a.add(b) }, exact |e| { soft::add(e, a, b) };
    F16: v_sub_f16(a: F16, b: F16) -> F16 { a.sub(b) }, exact |e| { soft::sub(e, a, b) };
    F16: v_mul_f16(a: F16, b: F16) -> F16 { a.mul(b) }, exact |e| { soft::mul(e, a, b) };
    F16: v_fma_f16(a: F16, b: F16, c: F16) -> F16 { a.fma(b, c) }, exact |e| { soft::fma(e, a, b, c) };
}

floats! {
    once;
    f32: v_mul_legacy_f32(a: f32, b: f32) -> f32 { if a == 0.0 || b == 0.0 { 0.0 } else { a * b } },
        exact |e| { if is_zero(e, a) || is_zero(e, b) { 0.0 } else { soft::mul(e, a, b) } };
    F16: v_subrev_f16(a: F16, b: F16) -> F16 { b.sub(a) }, exact |e| { soft::sub(e, b, a) };
    F16: v_mad_f16(a: F16, b: F16, c: F16) -> F16 { mad_f16(a, b, c) }, exact |e| { mad_f16_in(e, a, b, c) };
}

accumulating! {
    f32: v_fmac_f32(a: f32, b: f32, c: f32) { a.mul_add(b, c) }, exact |e| { soft::fma(e, a, b, c) };
    F16: v_mac_f16(a: F16, b: F16, c: F16) { mad_f16(a, b, c) }, exact |e| { mad_f16_in(e, a, b, c) };
}

fn is_zero(env: Env, x: f32) -> bool {
    x.flush_if(env.flush_in) == 0.0
}

/// v_mad_f32 and its kin round twice and flush denormals whatever MODE says.
#[inline(always)]
fn mad(a: f32, b: f32, c: f32) -> f32 {
    ((a.flush() * b.flush()).flush() + c.flush()).flush()
}

/// [`mad`] in the rounding mode of MODE.
#[cold]
#[inline(never)]
fn mad_rounded(mode: crate::wave::Mode, a: f32, b: f32, c: f32) -> f32 {
    let env = Env::new(mode.round32(), 0);
    soft::add(env, soft::mul(env, a, b), c)
}

/// v_mad_f16 and its kin round twice and flush denormals whatever MODE says.
#[inline(always)]
fn mad_f16(a: F16, b: F16, c: F16) -> F16 {
    a.flush().mul(b.flush()).flush().add(c.flush()).flush()
}

/// [`mad_f16`] with the rounding and the overflow of MODE.
fn mad_f16_in(env: Env, a: F16, b: F16, c: F16) -> F16 {
    let env = Env { flush_in: true, flush_out: true, ..env };
    let product = soft::mul(Env { saturate: false, ..env }, a, b);
    let sum = soft::add(env, product, c);
    // A product that overflowed is an overflow of the result.
    let finite = ![a, b, c].iter().any(|x| x.is_infinite());
    if env.saturate && finite && sum.is_infinite() { F16(sum.0 - 1) } else { sum }
}

instructions! {
    pub(crate) fn v_mad_f32(wave, inst) {
        let mode = wave.mode;
        if mode.round32() == 0 {
            map3(wave, inst, mad)
        } else {
            rare::map3(wave, inst, |a, b, c| mad_rounded(mode, a, b, c))
        }
    }

    pub(crate) fn v_mad_legacy_f32(wave, inst) {
        let mode = wave.mode;
        // A zero factor gives the addend, even beside an infinity (DX9).
        map3(wave, inst, |a: f32, b: f32, c: f32| {
            let zero = a.flush() == 0.0 || b.flush() == 0.0;
            let (a, b) = if zero { (0.0, 0.0) } else { (a, b) };
            if mode.round32() == 0 { mad(a, b, c) } else { mad_rounded(mode, a, b, c) }
        })
    }

    pub(crate) fn v_mac_f32(wave, inst) {
        let mode = wave.mode;
        if mode.round32() == 0 {
            accumulate(wave, inst, mad)
        } else {
            rare::accumulate(wave, inst, |a, b, c| mad_rounded(mode, a, b, c))
        }
    }

    // d = s0 * K + s1.
    pub(crate) fn v_madmk_f32(wave, inst) {
        let (mode, k) = (wave.mode, f32::from_bits(inst.literal));
        map2(wave, inst, |a, b| if mode.round32() == 0 { mad(a, k, b) } else { mad_rounded(mode, a, k, b) })
    }

    // d = s0 * s1 + K.
    pub(crate) fn v_madak_f32(wave, inst) {
        let (mode, k) = (wave.mode, f32::from_bits(inst.literal));
        map2(wave, inst, |a, b| if mode.round32() == 0 { mad(a, b, k) } else { mad_rounded(mode, a, b, k) })
    }

    pub(crate) fn v_fmamk_f32(wave, inst) {
        let k = f32::from_bits(inst.literal);
        fused_constant(wave, inst, |a, b| a.mul_add(k, b), |e, a, b| soft::fma(e, a, k, b))
    }

    pub(crate) fn v_fmaak_f32(wave, inst) {
        let k = f32::from_bits(inst.literal);
        fused_constant(wave, inst, |a, b| a.mul_add(b, k), |e, a, b| soft::fma(e, a, b, k))
    }

    pub(crate) fn v_madmk_f16(wave, inst) {
        let (env, k) = (F16::env(wave.mode), F16(inst.literal as u16));
        rare::map2(wave, inst, |a, b| mad_f16_in(env, a, k, b))
    }

    pub(crate) fn v_madak_f16(wave, inst) {
        let (env, k) = (F16::env(wave.mode), F16(inst.literal as u16));
        rare::map2(wave, inst, |a, b| mad_f16_in(env, a, b, k))
    }
}

/// A fused multiply-add with a constant in it.
#[inline(always)]
fn fused_constant(
    wave: &mut Wave,
    inst: &Inst,
    native: impl Fn(f32, f32) -> f32,
    exact: impl Fn(Env, f32, f32) -> f32,
) -> Flow {
    let env = f32::env(wave.mode);
    if env == Env::DEFAULT {
        map2(wave, inst, native)
    } else {
        rare::map2(wave, inst, |a, b| exact(env, a, b))
    }
}

/// What minimum and maximum need to know of a format.
pub(super) trait Ordered: Operand + Float + PartialOrd {
    type Bits;
    fn nan(self) -> bool;
    fn signalling(self) -> bool;
    fn quieted(self) -> Self;
    /// Both operands are equal: the one with the sign bit set if `negative`, else the one without.
    fn of_zeros(self, other: Self, negative: bool) -> Self;
}

macro_rules! ordered {
    ($($ty:ty, $bits:ty, |$x:ident| $to:expr, $from:expr, $quiet:expr;)*) => {$(
        impl Ordered for $ty {
            type Bits = $bits;
            #[inline(always)]
            fn nan(self) -> bool {
                self.is_nan()
            }
            #[inline(always)]
            fn signalling(self) -> bool {
                let $x = self;
                self.is_nan() && $to & $quiet == 0
            }
            #[inline(always)]
            fn quieted(self) -> Self {
                let $x = self;
                $from($to | $quiet)
            }
            #[inline(always)]
            fn of_zeros(self, other: Self, negative: bool) -> Self {
                let a = { let $x = self; $to };
                let b = { let $x = other; $to };
                $from(if negative { a | b } else { a & b })
            }
        }
    )*};
}

ordered! {
    f32, u32, |x| x.to_bits(), f32::from_bits, 1 << 22;
    f64, u64, |x| x.to_bits(), f64::from_bits, 1 << 51;
    F16, u16, |x| x.0, F16, F16::QUIET;
}

/// What a NaN among the operands makes of `ordered`: IEEE mode quiets a signalling one and returns it; else the
/// other operand is the result (MI200 ISA, V_MIN_F32).
#[inline(always)]
fn with_nans<T: Ordered>(ieee: bool, a: T, b: T, ordered: T) -> T {
    let number = if a.nan() {
        b
    } else if b.nan() {
        a
    } else {
        ordered
    };
    if ieee && a.signalling() {
        a.quieted()
    } else if ieee && b.signalling() {
        b.quieted()
    } else {
        number
    }
}

/// The smaller operand; -0 is smaller than +0.
#[inline(always)]
pub(super) fn min<T: Ordered>(ieee: bool, a: T, b: T) -> T {
    let less = a < b;
    let greater = a > b;
    let ordered = if less {
        a
    } else if greater {
        b
    } else {
        a.of_zeros(b, true)
    };
    with_nans(ieee, a, b, ordered)
}

/// The greater operand; +0 is greater than -0.
#[inline(always)]
pub(super) fn max<T: Ordered>(ieee: bool, a: T, b: T) -> T {
    let less = a < b;
    let greater = a > b;
    let ordered = if greater {
        a
    } else if less {
        b
    } else {
        a.of_zeros(b, false)
    };
    with_nans(ieee, a, b, ordered)
}

#[inline(always)]
fn min3<T: Ordered>(ieee: bool, a: T, b: T, c: T) -> T {
    min(ieee, min(ieee, a, b), c)
}

#[inline(always)]
fn max3<T: Ordered>(ieee: bool, a: T, b: T, c: T) -> T {
    max(ieee, max(ieee, a, b), c)
}

/// What stands in the place of `ordered` if there is a NaN among the operands: the first one, quiet (IEEE 754-2019,
/// minimum and maximum).
#[inline(always)]
fn or_nan<T: Ordered>(operands: [T; 3], ordered: T) -> T {
    operands.into_iter().rev().fold(ordered, |result, x| if x.nan() { x.quieted() } else { result })
}

#[inline(always)]
pub(super) fn minimum3<T: Ordered>(_: bool, a: T, b: T, c: T) -> T {
    or_nan([a, b, c], min3(false, a, b, c))
}

#[inline(always)]
pub(super) fn maximum3<T: Ordered>(_: bool, a: T, b: T, c: T) -> T {
    or_nan([a, b, c], max3(false, a, b, c))
}

/// The middle operand; with a NaN among them, the smallest (MI200 ISA, V_MED3_F32).
#[inline(always)]
fn med3<T: Ordered>(ieee: bool, a: T, b: T, c: T) -> T {
    let greatest = max3(ieee, a, b, c);
    let equal = |x: T, y: T| x == y;
    let middle = if equal(greatest, a) {
        max(ieee, b, c)
    } else if equal(greatest, b) {
        max(ieee, a, c)
    } else {
        max(ieee, a, b)
    };
    if a.nan() || b.nan() || c.nan() { min3(ieee, a, b, c) } else { middle }
}

/// Runs a selecting operation: sources are flushed as MODE says, nothing rounds.
#[inline(always)]
pub(super) fn select2<T: Ordered + Precision + Lane>(
    wave: &mut Wave,
    inst: &Inst,
    f: impl Fn(bool, T, T) -> T,
) -> Flow {
    let (env, ieee) = (T::env(wave.mode), wave.mode.ieee());
    match (env.flush_in || env.flush_out, ieee) {
        (false, true) => map2(wave, inst, |a, b| f(true, a, b)),
        _ => map2(wave, inst, |a: T, b: T| {
            f(ieee, a.flush_if(env.flush_in), b.flush_if(env.flush_in)).flush_if(env.flush_out)
        }),
    }
}

/// See [`select2`].
#[inline(always)]
pub(super) fn select3<T: Ordered + Precision + Lane>(
    wave: &mut Wave,
    inst: &Inst,
    f: impl Fn(bool, T, T, T) -> T,
) -> Flow {
    let (env, ieee) = (T::env(wave.mode), wave.mode.ieee());
    map3(wave, inst, |a: T, b: T, c: T| {
        let (a, b, c) = (a.flush_if(env.flush_in), b.flush_if(env.flush_in), c.flush_if(env.flush_in));
        f(ieee, a, b, c).flush_if(env.flush_out)
    })
}

macro_rules! selections {
    ($($name:ident: $map:ident, $ty:ty, $f:ident;)*) => {
        instructions! {$(
            pub(crate) fn $name(wave, inst) {
                $map::<$ty>(wave, inst, $f)
            }
        )*}
    };
}

selections! {
    v_min_f32: select2, f32, min;
    v_max_f32: select2, f32, max;
    v_min3_f32: select3, f32, min3;
    v_max3_f32: select3, f32, max3;
    v_minimum3_f32: select3, f32, minimum3;
    v_maximum3_f32: select3, f32, maximum3;
    v_med3_f32: select3, f32, med3;
    v_min_f64: select2, f64, min;
    v_max_f64: select2, f64, max;
    v_min_f16: select2, F16, min;
    v_max_f16: select2, F16, max;
    v_min3_f16: select3, F16, min3;
    v_max3_f16: select3, F16, max3;
    v_med3_f16: select3, F16, med3;
}

/// Half an ulp of nothing: v_fract's results stay below 1.
const BELOW_ONE_F32: f32 = 0.999_999_94;
const BELOW_ONE_F64: f64 = 0.999_999_999_999_999_9;
const BELOW_ONE_F16: F16 = F16(0x3bff);

/// An integral value; a NaN comes out quiet, which the host's library does not promise.
#[inline(always)]
fn whole<T: Ordered>(x: T, f: impl Fn(T) -> T) -> T {
    if x.nan() { x.quieted() } else { f(x) }
}

/// The fraction in the arithmetic of `env`: rounding up to 1 is not allowed.
fn fract<T: Ordered>(env: Env, x: T, floor: impl Fn(T) -> T, below_one: T) -> T {
    let x = x.flush_if(env.flush_in);
    let fraction = soft::sub(env, x, floor(x));
    if fraction > below_one { below_one } else { fraction }
}

#[inline(always)]
fn half(x: F16, f: impl Fn(f32) -> f32) -> F16 {
    F16::from_f32(f(x.to_f32()))
}

floats! {
    f32: v_trunc_f32(a: f32) -> f32 { whole(a, f32::trunc) };
    f32: v_ceil_f32(a: f32) -> f32 { whole(a, f32::ceil) };
    f32: v_floor_f32(a: f32) -> f32 { whole(a, f32::floor) };
    f32: v_rndne_f32(a: f32) -> f32 { whole(a, f32::round_ties_even) };
    f32: v_fract_f32(a: f32) -> f32 { { let x = a - a.floor(); if x >= 1.0 { BELOW_ONE_F32 } else { x } } },
        exact |e| { fract(e, a, f32::floor, BELOW_ONE_F32) };
    f64: v_trunc_f64(a: f64) -> f64 { whole(a, f64::trunc) };
    f64: v_ceil_f64(a: f64) -> f64 { whole(a, f64::ceil) };
    f64: v_floor_f64(a: f64) -> f64 { whole(a, f64::floor) };
    f64: v_rndne_f64(a: f64) -> f64 { whole(a, f64::round_ties_even) };
    f64: v_fract_f64(a: f64) -> f64 { { let x = a - a.floor(); if x >= 1.0 { BELOW_ONE_F64 } else { x } } },
        exact |e| { fract(e, a, f64::floor, BELOW_ONE_F64) };
    f32: v_ldexp_f32(a: f32, b: i32) -> f32 { ldexp(a, b) }, exact |e| { soft::ldexp(e, a, b) };
}

floats! {
    once;
    F16: v_trunc_f16(a: F16) -> F16 { half(a, f32::trunc) };
    F16: v_ceil_f16(a: F16) -> F16 { half(a, f32::ceil) };
    F16: v_floor_f16(a: F16) -> F16 { half(a, f32::floor) };
    F16: v_rndne_f16(a: F16) -> F16 { half(a, f32::round_ties_even) };
    F16: v_fract_f16(a: F16) -> F16 {{
        let x = half(a, |x| x - x.floor());
        if x == F16(0x3c00) { BELOW_ONE_F16 } else { x }
    }}, exact |e| { fract(e, a, |x| half(x, f32::floor), BELOW_ONE_F16) };
    f64: v_ldexp_f64(a: f64, b: i32) -> f64 { soft::ldexp(Env::DEFAULT, a, b) }, exact |e| { soft::ldexp(e, a, b) };
    F16: v_ldexp_f16(a: F16, b: i16) -> F16 { soft::ldexp(Env::DEFAULT, a, b.into()) },
        exact |e| { soft::ldexp(e, a, b.into()) };
}

floats! {
    once;
    f32: v_frexp_mant_f32(a: f32) -> f32 { frexp(a).0 };
    f32: v_frexp_exp_i32_f32(a: f32) -> i32 { frexp(a).1 };
    f64: v_frexp_mant_f64(a: f64) -> f64 { frexp(a).0 };
    f64: v_frexp_exp_i32_f64(a: f64) -> i32 { frexp(a).1 };
    F16: v_frexp_mant_f16(a: F16) -> F16 { frexp(a).0 };
    F16: v_frexp_exp_i16_f16(a: F16) -> i16 { frexp(a).1 as i16 };
}

/// `x * 2^n`: exact in double precision for every `n` that leaves a finite non-zero result, then rounded once.
#[inline(always)]
fn ldexp(x: f32, n: i32) -> f32 {
    let power = f64::from_bits(((n.clamp(-400, 400) + 1023) as u64) << 52);
    (f64::from(x) * power) as f32
}

/// Mantissa in [1/2, 1) and exponent; infinities and NaNs have exponent 0.
#[inline(always)]
fn frexp<F: Float>(x: F) -> (F, i32) {
    let raw = x.to_raw();
    let magnitude = raw & !F::SIGN;
    if magnitude >= F::INFINITY {
        let quiet = if magnitude > F::INFINITY { F::QUIET } else { 0 };
        return (F::from_raw(raw | quiet), 0);
    }
    if magnitude == 0 {
        return (x, 0);
    }
    // A denormal is shifted up until its leading one stands where a normal's hidden bit is.
    let field = (magnitude >> F::FRACTION) as i32;
    let shift = if field == 0 { magnitude.leading_zeros() as i32 - (63 - F::FRACTION as i32) } else { 0 };
    let fraction = magnitude << shift & ((1 << F::FRACTION) - 1);
    let bias = (1 << (F::EXPONENT - 1)) - 1;
    let exponent = field.max(1) - shift - bias + 1;
    (F::from_raw(raw & F::SIGN | ((bias - 1) as u64) << F::FRACTION | fraction), exponent)
}
