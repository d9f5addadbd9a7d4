//! Arithmetic, rounding to integral values, exponents, division, minimum and maximum.

use rustc_apfloat::{
    Float, Round, Status, StatusAnd,
    ieee::{Double, Half, Single},
};

use super::{
    Ctx, Model, Out, Res, Want,
    ieee::{Format, flush, one, out, result, scaled_fma, three, twice_rounded, two},
    model,
};

/// What the encoded instruction accumulates onto stands where a third source would.
pub(super) fn onto(c: &Ctx, [a, b, _]: [u64; 3]) -> [u64; 3] {
    [a, b, c.old as u64]
}

fn res<F: Format>() -> Res {
    match F::WIDTH {
        16 => Res::F16,
        32 => Res::F32,
        _ => Res::F64,
    }
}

/// The instructions that exist in a precision under one rule.
fn every<F: Format>(name: &str, f: impl Fn(&Ctx, [u64; 3]) -> Out + 'static) -> Model {
    model(format!("{name}_f{}", F::WIDTH), res::<F>(), f)
}

fn quieted<F: Format>(x: F) -> F {
    if x.is_nan() { F::from_bits(x.to_bits() | 1 << (F::FRACTION - 1)) } else { x }
}

/// The result bit for bit, also when it is a NaN.
fn exactly<F: Format>(x: F) -> Out {
    Out { value: Want::Bits(x.to_bits()), bit: false }
}

/// v_min (`less` orders ascending) and v_max as the manual spells them.
pub(super) fn pick<F: Format>(c: &Ctx, a: F, b: F, minimum: bool) -> F {
    if c.modes.ieee && a.is_signaling() {
        quieted(a)
    } else if c.modes.ieee && b.is_signaling() {
        quieted(b)
    } else if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else if a.is_zero() && b.is_zero() {
        if a.is_negative() == minimum { a } else { b }
    } else if (a < b) == minimum {
        a
    } else {
        b
    }
}

pub(super) fn selected<F: Format>(c: &Ctx, v: [u64; 3], f: impl Fn([F; 3]) -> F) -> Out {
    exactly(flush(f(v.map(|x| F::source(&c.modes, x))), F::flushes_output(&c.modes)))
}

/// The least or greatest operand, -0 below +0; any NaN makes the result one (IEEE 754-2019, minimum and maximum).
pub(super) fn extreme<F: Format>(c: &Ctx, v: [u64; 3], minimum: bool) -> Out {
    let mut sorted = v.map(|x| F::source(&c.modes, x));
    if sorted.iter().any(|x| x.is_nan()) {
        return Out { value: Want::Nan, bit: false };
    }
    let order = |x: &F| (*x, !x.is_negative());
    // PANIC: none is a NaN.
    sorted.sort_by(|x, y| order(x).partial_cmp(&order(y)).unwrap());
    out(flush(sorted[if minimum { 0 } else { 2 }], F::flushes_output(&c.modes)))
}

fn median<F: Format>(c: &Ctx, [x, y, z]: [F; 3]) -> F {
    let max = |a, b| pick(c, a, b, false);
    if x.is_nan() || y.is_nan() || z.is_nan() {
        return pick(c, pick(c, x, y, true), z, true);
    }
    let greatest = max(max(x, y), z);
    if greatest == x {
        max(y, z)
    } else if greatest == y {
        max(x, z)
    } else {
        max(x, y)
    }
}

fn exact<F>(value: F) -> StatusAnd<F> {
    Status::OK.and(value)
}

/// Mantissa in [1/2, 1) and exponent; those of infinities and NaNs are themselves and 0.
fn split<F: Format>(x: F) -> (F, i32) {
    if x.is_zero() || !x.is_finite() {
        return (quieted(x), 0);
    }
    let mut exponent = 0;
    let mantissa = x.frexp(&mut exponent);
    (mantissa, exponent)
}

fn fraction<F: Format>(x: F, round: Round) -> StatusAnd<F> {
    let floor = x.round_to_integral(Round::TowardNegative).value;
    let below_one = F::from_u128(1).value.next_down().value;
    let r = x.sub_r(floor, round);
    if r.value > below_one { exact(below_one) } else { r }
}

/// Exponent field.
fn exponent<F: Format>(x: F) -> i32 {
    (x.to_bits() >> F::FRACTION & ((1 << (F::WIDTH - 1 - F::FRACTION)) - 1)) as i32
}

/// v_div_scale with the corrections that make divisions by huge numbers come out right.
fn div_scale<F: Format>(c: &Ctx, v: [u64; 3], step: i32, large: i32, tiny: i32) -> Out {
    let [x, denominator, numerator] = v.map(|x| F::source(&c.modes, x));
    let by = |n: i32| {
        let scaled = x.scalbn_r(n, F::round(&c.modes));
        // Scaling a number up may overflow.
        let overflow = scaled.is_infinite() && x.is_finite();
        result(&c.modes, (if overflow { Status::OVERFLOW } else { Status::OK }).and(scaled))
    };
    let same = |y: F| x.bitwise_eq(y);
    let one = F::from_u128(1).value;
    let is_tiny = |q: F| q.is_denormal();
    let reciprocal_tiny =
        denominator.is_finite() && is_tiny(one.div_r(denominator, Round::NearestTiesToEven).value);
    let quotient_tiny = is_tiny(numerator.div_r(denominator, Round::NearestTiesToEven).value);
    if numerator.is_zero() || denominator.is_zero() {
        Out { value: Want::Nan, bit: false }
    } else if exponent(numerator) - exponent(denominator) >= large {
        if same(denominator) { out(by(step)) } else { exactly(x) }.with(true)
    } else if denominator.is_denormal() {
        out(by(step))
    } else if reciprocal_tiny && quotient_tiny {
        if same(denominator) { out(by(-step)) } else { exactly(x) }.with(true)
    } else if reciprocal_tiny {
        out(by(-step))
    } else if quotient_tiny {
        if same(numerator) { out(by(step)) } else { exactly(x) }.with(true)
    } else if exponent(numerator) <= tiny {
        out(by(step))
    } else {
        exactly(x)
    }
}

fn div_fmas<F: Format>(c: &Ctx, v: [u64; 3], step: i32) -> Out {
    // The quotient's exponent tells in which direction v_div_scale has scaled it.
    let bias = (1 << (F::WIDTH - 2 - F::FRACTION)) - 1;
    let up = exponent(F::of(v[2])) > bias;
    scaled_fma::<F>(
        c,
        v,
        if !c.vcc {
            0
        } else if up {
            step
        } else {
            -step
        },
    )
}

fn div_fixup<F: Format>(c: &Ctx, v: [u64; 3], underflow: Option<i32>) -> Out {
    let quotient = F::of(v[0]);
    let [_, d, n] = v.map(|x| F::source(&c.modes, x));
    let negative = d.is_negative() != n.is_negative();
    let signed = |x: F| if negative { -x.abs() } else { x.abs() };
    if n.is_nan() {
        exactly(quieted(n))
    } else if d.is_nan() {
        exactly(quieted(d))
    } else if d.is_zero() && n.is_zero() || d.is_infinite() && n.is_infinite() {
        Out { value: Want::Nan, bit: false }
    } else if d.is_zero() || n.is_infinite() {
        out(signed(F::INFINITY))
    } else if d.is_infinite() || n.is_zero() {
        out(signed(F::ZERO))
    } else if underflow.is_some_and(|limit| exponent(n) - exponent(d) < limit) {
        let away = match F::round(&c.modes) {
            Round::TowardPositive => !negative,
            Round::TowardNegative => negative,
            _ => false,
        };
        let least = if away { F::from_bits(1) } else { F::ZERO };
        out(flush(signed(least), F::flushes_output(&c.modes)))
    } else if quotient.is_nan() {
        // Finite operands whose steps ran into infinity: only divisions that overflow get here.
        Out::ANYTHING
    } else {
        out(signed(quotient))
    }
}

fn in_every_precision<F: Format>(list: &mut Vec<Model>) {
    list.extend([
        every::<F>("v_min", |c, v| selected::<F>(c, v, |[a, b, _]| pick(c, a, b, true))),
        every::<F>("v_max", |c, v| selected::<F>(c, v, |[a, b, _]| pick(c, a, b, false))),
        every::<F>("v_add", |c, v| two::<F>(c, v, |a, b, r| a.add_r(b, r))),
        every::<F>("v_mul", |c, v| two::<F>(c, v, |a, b, r| a.mul_r(b, r))),
        every::<F>("v_fma", |c, v| three::<F>(c, v, |a, b, d, r| a.mul_add_r(b, d, r))),
        every::<F>("v_trunc", |c, v| one::<F>(c, v, |a, _| a.round_to_integral(Round::TowardZero))),
        every::<F>("v_ceil", |c, v| one::<F>(c, v, |a, _| a.round_to_integral(Round::TowardPositive))),
        every::<F>("v_floor", |c, v| one::<F>(c, v, |a, _| a.round_to_integral(Round::TowardNegative))),
        every::<F>("v_rndne", |c, v| one::<F>(c, v, |a, _| a.round_to_integral(Round::NearestTiesToEven))),
        every::<F>("v_fract", |c, v| one::<F>(c, v, fraction)),
        every::<F>("v_frexp_mant", |c, v| one::<F>(c, v, |a, _| exact(split(a).0))),
        every::<F>("v_ldexp", |c, v| {
            let n = if F::IS_HALF { i32::from(v[1] as i16) } else { v[1] as i32 };
            one::<F>(c, v, |a, r| {
                let scaled = a.scalbn_r(n.clamp(-10_000, 10_000), r);
                let overflow = scaled.is_infinite() && a.is_finite();
                (if overflow { Status::OVERFLOW } else { Status::OK }).and(scaled)
            })
        }),
    ]);
}

fn in_single_and_half<F: Format>(list: &mut Vec<Model>) {
    list.extend([
        every::<F>("v_sub", |c, v| two::<F>(c, v, |a, b, r| a.sub_r(b, r))),
        every::<F>("v_subrev", |c, v| two::<F>(c, v, |a, b, r| b.sub_r(a, r))),
        every::<F>("v_min3", |c, v| selected::<F>(c, v, |[x, y, z]| pick(c, pick(c, x, y, true), z, true))),
        every::<F>("v_max3", |c, v| selected::<F>(c, v, |[x, y, z]| pick(c, pick(c, x, y, false), z, false))),
        every::<F>("v_med3", |c, v| selected::<F>(c, v, |v| median(c, v))),
        every::<F>("v_mad", |c, v| twice_rounded::<F>(c, v, false)),
        every::<F>("v_mac", |c, v| twice_rounded::<F>(c, onto(c, v), false)),
        every::<F>("v_madmk", |c, [a, b, _]| twice_rounded::<F>(c, [a, c.literal.into(), b], false)),
        every::<F>("v_madak", |c, [a, b, _]| twice_rounded::<F>(c, [a, b, c.literal.into()], false)),
    ]);
}

pub(super) fn models() -> Vec<Model> {
    let mut list = Vec::new();
    in_every_precision::<Half>(&mut list);
    in_every_precision::<Single>(&mut list);
    in_every_precision::<Double>(&mut list);
    in_single_and_half::<Half>(&mut list);
    in_single_and_half::<Single>(&mut list);
    let fma = |c: &Ctx, v| three::<Single>(c, v, |a, b, d, r| a.mul_add_r(b, d, r));
    list.extend([
        every::<Single>("v_minimum3", |c, v| extreme::<Single>(c, v, true)),
        every::<Single>("v_maximum3", |c, v| extreme::<Single>(c, v, false)),
        every::<Single>("v_fmac", move |c, v| fma(c, onto(c, v))),
        every::<Single>("v_fmamk", move |c, [a, b, _]| fma(c, [a, c.literal.into(), b])),
        every::<Single>("v_fmaak", move |c, [a, b, _]| fma(c, [a, b, c.literal.into()])),
        every::<Double>("v_fmac", |c, v| three::<Double>(c, onto(c, v), |a, b, d, r| a.mul_add_r(b, d, r))),
        model("v_fma_legacy_f16", Res::F16, |c, v| three::<Half>(c, v, |a, b, d, r| a.mul_add_r(b, d, r))),
        model("v_mad_legacy_f16", Res::F16, |c, v| twice_rounded::<Half>(c, v, false)),
        model("v_mad_legacy_f32", Res::F32, |c, v| twice_rounded::<Single>(c, v, true)),
        model("v_mul_legacy_f32", Res::F32, |c, v| {
            two::<Single>(
                c,
                v,
                |a, b, r| {
                    if a.is_zero() || b.is_zero() { exact(Single::ZERO) } else { a.mul_r(b, r) }
                },
            )
        }),
        model("v_frexp_exp_i32_f32", Res::B32, |c, v| {
            Out::bits(split(Single::source(&c.modes, v[0])).1 as u32)
        }),
        model("v_frexp_exp_i32_f64", Res::B32, |c, v| {
            Out::bits(split(Double::source(&c.modes, v[0])).1 as u32)
        }),
        model("v_frexp_exp_i16_f16", Res::B16, |c, v| {
            Out::bits(split(Half::source(&c.modes, v[0])).1 as u16)
        }),
        model("v_div_scale_f32", Res::F32, |c, v| div_scale::<Single>(c, v, 64, 96, 23)),
        model("v_div_scale_f64", Res::F64, |c, v| div_scale::<Double>(c, v, 128, 768, 53)),
        model("v_div_fmas_f32", Res::F32, |c, v| div_fmas::<Single>(c, v, 64)),
        model("v_div_fmas_f64", Res::F64, |c, v| div_fmas::<Double>(c, v, 128)),
        model("v_div_fixup_f16", Res::F16, |c, v| div_fixup::<Half>(c, v, None)),
        model("v_div_fixup_legacy_f16", Res::F16, |c, v| div_fixup::<Half>(c, v, None)),
        model("v_div_fixup_f32", Res::F32, |c, v| div_fixup::<Single>(c, v, Some(-150))),
        model("v_div_fixup_f64", Res::F64, |c, v| div_fixup::<Double>(c, v, Some(-1075))),
    ]);
    list.extend(cube());
    list
}

/// Cube maps: the axis of the greatest coordinate (z before y before x) and its sign make the face. Coordinates pass
/// through as they are, NaNs too.
fn cube() -> Vec<Model> {
    type Face = fn(usize, bool, [Single; 3]) -> Single;
    let forms: [(&str, Face); 3] = [
        ("v_cubeid_f32", |axis, negative, _| {
            Single::from_u128((2 * axis + usize::from(negative)) as u128).value
        }),
        ("v_cubesc_f32", |axis, negative, [x, _, z]| match axis {
            0 => {
                if negative {
                    z
                } else {
                    -z
                }
            }
            1 => x,
            _ => {
                if negative {
                    -x
                } else {
                    x
                }
            }
        }),
        ("v_cubetc_f32", |axis, negative, [_, y, z]| match axis {
            1 => {
                if negative {
                    -z
                } else {
                    z
                }
            }
            _ => -y,
        }),
    ];
    let face = |v: [Single; 3]| {
        let [x, y, z] = v.map(Float::abs);
        let axis = if z >= x && z >= y {
            2
        } else if y >= x {
            1
        } else {
            0
        };
        (axis, v[axis] < Single::ZERO)
    };
    let mut list: Vec<Model> = forms
        .into_iter()
        .map(|(name, f)| {
            model(name, Res::F32, move |c, v| {
                let v = v.map(|x| Single::source(&c.modes, x));
                let (axis, negative) = face(v);
                exactly(flush(f(axis, negative, v), Single::flushes_output(&c.modes)))
            })
        })
        .collect();
    list.push(model("v_cubema_f32", Res::F32, move |c, v| {
        let v = v.map(|x| Single::source(&c.modes, x));
        let two = Single::from_u128(2).value;
        out(result(&c.modes, v[face(v).0].mul_r(two, Single::round(&c.modes))))
    }));
    list
}
