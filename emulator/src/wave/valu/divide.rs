//! The steps of division that need exact exponents: scaling, the final multiply-add, the special cases.

use super::{
    half::F16,
    kernel::{Baseline, Each},
    map::{flags, instructions, judge, map3, rare, run},
    mode::{Operand, Precision},
    soft::{self, Env, Float, Round},
};
use crate::{
    isa::{Flow, Inst},
    wave::Wave,
};

/// What division knows of a format beyond [`Float`].
trait Dividend: Precision {
    /// Powers of two by which v_div_scale scales.
    const SCALE: i32;
    /// Exponent difference from which the quotient is near overflow.
    const LARGE: i32;
    /// Numerators of this exponent field or below are scaled up.
    const TINY: i32;
    /// Exponent difference below which the quotient underflows to nothing.
    const UNDERFLOW: i32;

    fn divide(self, by: Self) -> Self;

    #[inline(always)]
    fn field(self) -> i32 {
        ((self.to_raw() & !Self::SIGN) >> Self::FRACTION) as i32
    }
    #[inline(always)]
    fn nan(self) -> bool {
        self.to_raw() & !Self::SIGN > Self::INFINITY
    }
    /// Neither zero, denormal, infinite nor a NaN.
    #[inline(always)]
    fn normal(self) -> bool {
        self.field() > 0 && self.field() < (1 << Self::EXPONENT) - 1
    }
    fn zero(self) -> bool {
        self.to_raw() & !Self::SIGN == 0
    }
    fn denormal(self) -> bool {
        self.field() == 0 && !self.zero()
    }
}

impl Dividend for f32 {
    const SCALE: i32 = 64;
    const LARGE: i32 = 96;
    const TINY: i32 = 23;
    const UNDERFLOW: i32 = -150;

    fn divide(self, by: Self) -> Self {
        self / by
    }
}

impl Dividend for f64 {
    const SCALE: i32 = 128;
    const LARGE: i32 = 768;
    const TINY: i32 = 53;
    const UNDERFLOW: i32 = -1075;

    fn divide(self, by: Self) -> Self {
        self / by
    }
}

/// Scales `x`, which is the denominator or the numerator, so that the steps of the division neither over- nor
/// underflow; the bit asks v_div_fmas to scale the quotient back (MI200 ISA, V_DIV_SCALE_F32).
fn scale<T: Dividend>(env: Env, x: T, denominator: T, numerator: T) -> (T, bool) {
    let flushed = |v: T| v.flush_if(env.flush_in);
    let (x, denominator, numerator) = (flushed(x), flushed(denominator), flushed(numerator));
    let by = |n: i32| soft::ldexp(env, x, n);
    let same = |a: T, b: T| a.to_raw() == b.to_raw();
    if numerator.zero() || denominator.zero() {
        return (T::from_raw(T::INVALID), false);
    }
    // 1/denominator is denormal when the denominator exceeds 2^(bias - 1).
    let limit = (1 << T::EXPONENT) - 3;
    let fraction = (1u64 << T::FRACTION) - 1;
    let reciprocal_denormal = denominator.field() > limit && denominator.field() < limit + 2
        || denominator.field() == limit && denominator.to_raw() & fraction != 0;
    let quotient_denormal = numerator.divide(denominator).denormal();
    if numerator.field() - denominator.field() >= T::LARGE {
        (if same(x, denominator) { by(T::SCALE) } else { x }, true)
    } else if denominator.denormal() {
        (by(T::SCALE), false)
    } else if reciprocal_denormal && quotient_denormal {
        // The manual scales this huge denominator up, into infinity; scaled down it gives the right quotient.
        (if same(x, denominator) { by(-T::SCALE) } else { x }, true)
    } else if reciprocal_denormal {
        (by(-T::SCALE), false)
    } else if quotient_denormal {
        (if same(x, numerator) { by(T::SCALE) } else { x }, true)
    } else if numerator.field() <= T::TINY {
        (by(T::SCALE), false)
    } else {
        (x, false)
    }
}

/// Whether [`scale`] leaves its argument alone, as it does in most divisions.
#[inline(always)]
fn unscaled<T: Dividend>(denominator: T, numerator: T) -> bool {
    let (d, n) = (denominator.field(), numerator.field());
    let bias = (1 << (T::EXPONENT - 1)) - 1;
    // The reciprocal is normal below the greatest exponents, the quotient while its exponent is above the least.
    (d > 0) & (d < (1 << T::EXPONENT) - 3) & (n > T::TINY) & (n - d < T::LARGE) & (n - d > 2 - bias)
}

#[inline(always)]
fn div_scale<T: Dividend>(wave: &mut Wave, inst: &Inst) -> Flow {
    let env = T::env(wave.mode);
    if flags::<Each, T, T, T>(wave, inst, 3, |_, _, _, d, n| !unscaled(d, n)) == 0 {
        let flow = map3(wave, inst, |x: T, _: T, _: T| x.flush_if(env.flush_in));
        wave.set_mask(inst.sdst, 0);
        return flow;
    }
    judge::<Baseline, T, T, T, T>(wave, inst, 3, 0, |_, _, x, denominator, numerator| {
        scale(env, x, denominator, numerator)
    })
}

pub(crate) fn v_div_scale_f32(wave: &mut Wave, inst: &Inst) -> Flow {
    div_scale::<f32>(wave, inst)
}

pub(crate) fn v_div_scale_f64(wave: &mut Wave, inst: &Inst) -> Flow {
    div_scale::<f64>(wave, inst)
}

/// The fused multiply-add that ends a division, scaled where VCC says so.
///
/// A quotient that v_div_scale made too small has an exponent above the bias, one that it made too large below;
/// the scaled result rounds once.
#[inline(always)]
fn div_fmas<T: Dividend>(wave: &mut Wave, inst: &Inst, native: impl Fn(T, T, T) -> T) -> Flow {
    let env = T::env(wave.mode);
    let vcc = wave.vcc();
    if vcc & wave.exec == 0 && env == Env::DEFAULT {
        return map3(wave, inst, native);
    }
    run::<Baseline, T, T, T, T>(wave, inst, 3, vcc, |_, bit, a, b, c| {
        let scale = match bit {
            0 => 0,
            _ if c.field() >= 1 << (T::EXPONENT - 1) => T::SCALE,
            _ => -T::SCALE,
        };
        soft::scaled_fma(env, a, b, c, scale)
    })
}

instructions! {
    pub(crate) fn v_div_fmas_f32(wave, inst) {
        div_fmas(wave, inst, f32::mul_add)
    }
    pub(crate) fn v_div_fmas_f64(wave, inst) {
        div_fmas(wave, inst, f64::mul_add)
    }
}

/// The quotient, replaced where numerator or denominator is special (MI200 ISA, V_DIV_FIXUP_F32).
fn fixup<T: Dividend>(env: Env, quotient: T, denominator: T, numerator: T) -> T {
    let flushed = |v: T| v.flush_if(env.flush_in);
    let (denominator, numerator) = (flushed(denominator), flushed(numerator));
    let sign = (denominator.to_raw() ^ numerator.to_raw()) & T::SIGN;
    if let Some(special) = special_quotient(denominator, numerator) {
        special
    } else if numerator.field() - denominator.field() < T::UNDERFLOW {
        let away = match env.round {
            Round::Up => sign == 0,
            Round::Down => sign != 0,
            Round::NearestEven | Round::Zero => false,
        };
        T::from_raw(sign | u64::from(away && !env.flush_out))
    } else if quotient.nan() {
        // Finite operands: the steps before ran into infinity.
        let to_infinity = match env.round {
            Round::NearestEven => true,
            Round::Up => sign == 0,
            Round::Down => sign != 0,
            Round::Zero => false,
        };
        T::from_raw(sign | (T::INFINITY - u64::from(!to_infinity)))
    } else {
        T::from_raw(sign | quotient.to_raw() & !T::SIGN)
    }
}

/// The quotient of NaNs, infinities and zeros.
fn special_quotient<T: Float>(denominator: T, numerator: T) -> Option<T> {
    let (d, n) = (denominator.to_raw() & !T::SIGN, numerator.to_raw() & !T::SIGN);
    let sign = (denominator.to_raw() ^ numerator.to_raw()) & T::SIGN;
    let bits = if n > T::INFINITY {
        numerator.to_raw() | T::QUIET
    } else if d > T::INFINITY {
        denominator.to_raw() | T::QUIET
    } else if d == 0 && n == 0 || d == T::INFINITY && n == T::INFINITY {
        T::INVALID
    } else if d == 0 || n == T::INFINITY {
        sign | T::INFINITY
    } else if d == T::INFINITY || n == 0 {
        sign
    } else {
        return None;
    };
    Some(T::from_raw(bits))
}

/// Whether [`fixup`] leaves the quotient alone, but for its sign.
#[inline(always)]
fn sound<T: Dividend>(quotient: T, denominator: T, numerator: T) -> bool {
    denominator.normal()
        & numerator.normal()
        & (numerator.field() - denominator.field() >= T::UNDERFLOW)
        & !quotient.nan()
}

#[inline(always)]
fn div_fixup<T: Dividend>(wave: &mut Wave, inst: &Inst) -> Flow {
    let env = T::env(wave.mode);
    if flags::<Each, T, T, T>(wave, inst, 3, |_, _, q, d, n| !sound(q, d, n)) == 0 {
        return map3(wave, inst, |q: T, d: T, n: T| {
            T::from_raw((d.to_raw() ^ n.to_raw()) & T::SIGN | q.to_raw() & !T::SIGN)
        });
    }
    rare::map3(wave, inst, |quotient: T, denominator: T, numerator: T| {
        fixup(env, quotient, denominator, numerator)
    })
}

pub(crate) fn v_div_fixup_f32(wave: &mut Wave, inst: &Inst) -> Flow {
    div_fixup::<f32>(wave, inst)
}

pub(crate) fn v_div_fixup_f64(wave: &mut Wave, inst: &Inst) -> Flow {
    div_fixup::<f64>(wave, inst)
}

pub(crate) fn v_div_fixup_f16(wave: &mut Wave, inst: &Inst) -> Flow {
    let flush = F16::env(wave.mode).flush_in;
    rare::map3(wave, inst, |quotient: F16, denominator: F16, numerator: F16| {
        let (d, n) = (denominator.flush_if(flush), numerator.flush_if(flush));
        special_quotient(d, n).unwrap_or(F16(quotient.0 & 0x7fff | (d.0 ^ n.0) & 0x8000))
    })
}
