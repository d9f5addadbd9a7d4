//! Numbers of the pseudocode: formats, conversions, arithmetic to nearest even.

use std::cmp::Ordering;

use rustc_apfloat::{
    Float, FloatConvert, Round,
    ieee::{Double, Half, Single},
};

use super::syntax::Value;

pub(super) const NEAREST: Round = Round::NearestTiesToEven;

pub(super) type Result<T> = std::result::Result<T, String>;

pub(super) fn integer(bits: i128) -> Value {
    Value { bits, width: 32, float: false }
}

pub(super) fn boolean(x: bool) -> Value {
    Value { bits: x.into(), width: 1, float: false }
}

pub(super) fn low(bits: i128, width: u32) -> i128 {
    if width >= 127 { bits } else { bits & ((1 << width) - 1) }
}

/// A float of this width.
pub(super) fn float(x: f64, width: u32) -> Value {
    convert(Value { bits: x.to_bits().into(), width: 64, float: true }, width)
}

/// Bits of exponent and fraction.
pub(super) fn layout(width: u32) -> (u32, u32) {
    match width {
        16 => (5, 10),
        32 => (8, 23),
        _ => (11, 52),
    }
}

pub(super) fn exponent(x: Value) -> i128 {
    let (exponent, fraction) = layout(x.width);
    x.bits >> fraction & ((1 << exponent) - 1)
}

pub(super) fn fraction(x: Value) -> i128 {
    low(x.bits, layout(x.width).1)
}

pub(super) fn is_nan(x: Value) -> bool {
    exponent(x) == (1 << layout(x.width).0) - 1 && fraction(x) != 0
}

pub(super) fn is_signalling(x: Value) -> bool {
    is_nan(x) && fraction(x) >> (layout(x.width).1 - 1) == 0
}

/// Another width; a NaN keeps the top of its payload and its signal.
pub(super) fn convert(x: Value, width: u32) -> Value {
    if x.width == width {
        return x;
    }
    let (_, from) = layout(x.width);
    let (_, to) = layout(width);
    if is_nan(x) {
        let moved = if to > from { fraction(x) << (to - from) } else { fraction(x) >> (from - to) };
        let payload = if moved == 0 { 1 } else { moved };
        let infinity = ((1i128 << layout(width).0) - 1) << to;
        let bits = (x.bits >> (x.width - 1) & 1) << (width - 1) | infinity | payload;
        return Value { bits, width, float: true };
    }
    // Every format fits into the widest.
    let wide: Double = match x.width {
        16 => Half::from_bits(x.bits as u128).convert(&mut false).value,
        32 => Single::from_bits(x.bits as u128).convert(&mut false).value,
        _ => Double::from_bits(x.bits as u128),
    };
    let bits = match width {
        16 => FloatConvert::<Half>::convert_r(wide, NEAREST, &mut false).value.to_bits(),
        32 => FloatConvert::<Single>::convert_r(wide, NEAREST, &mut false).value.to_bits(),
        _ => wide.to_bits(),
    };
    Value { bits: bits as i128, width, float: true }
}

macro_rules! in_width {
    ($width:expr, $f:ident($($x:expr),*)) => {
        match $width {
            16 => $f::<Half>($($x),*),
            32 => $f::<Single>($($x),*),
            _ => $f::<Double>($($x),*),
        }
    };
}

pub(super) use in_width;

pub(super) fn of<F: Float>(x: Value) -> F {
    F::from_bits(low(x.bits, x.width) as u128)
}

pub(super) fn value<F: Float>(x: F, width: u32) -> Value {
    Value { bits: x.to_bits() as i128, width, float: true }
}

pub(super) fn arithmetic<F: Float>(operator: &str, a: Value, b: Value) -> Result<Value> {
    let (x, y, width) = (of::<F>(a), of::<F>(b), a.width);
    Ok(match operator {
        "+" => value(x.add_r(y, NEAREST).value, width),
        "-" => value(x.sub_r(y, NEAREST).value, width),
        "*" => value(x.mul_r(y, NEAREST).value, width),
        "/" => value(x.div_r(y, NEAREST).value, width),
        "==" => boolean(x == y),
        "!=" => boolean(x != y),
        "<>" => boolean(matches!(x.partial_cmp(&y), Some(Ordering::Less | Ordering::Greater))),
        "<" => boolean(x < y),
        "<=" => boolean(x <= y),
        ">" => boolean(x > y),
        ">=" => boolean(x >= y),
        _ => return Err(format!("{operator} of floats")),
    })
}

pub(super) fn fused<F: Float>(a: Value, b: Value, c: Value) -> Value {
    value(of::<F>(a).mul_add_r(of::<F>(b), of::<F>(c), NEAREST).value, a.width)
}

pub(super) fn scaled<F: Float>(x: Value, n: i128) -> Value {
    value(of::<F>(x).scalbn_r(n.clamp(-10_000, 10_000) as i32, NEAREST), x.width)
}

pub(super) fn rounded<F: Float>(x: Value, round: Round) -> Value {
    if is_nan(x) { x } else { value(of::<F>(x).round_to_integral(round).value, x.width) }
}

pub(super) fn to_integer<F: Float>(x: Value, round: Round, low: i128, high: i128) -> Value {
    let x = of::<F>(x);
    let bits = if x.is_nan() {
        0
    } else if x.is_infinite() {
        if x.is_negative() { low } else { high }
    } else {
        x.to_i128_r(100, round, &mut false).value.clamp(low, high)
    };
    integer(bits)
}

pub(super) fn mantissa<F: Float>(x: Value) -> Value {
    if of::<F>(x).is_zero() { x } else { value(of::<F>(x).frexp(&mut 0), x.width) }
}

pub(super) fn from_integer<F: Float>(x: i128, width: u32) -> Value {
    value(F::from_i128_r(x, NEAREST).value, width)
}

/// Kind and width of a type name such as `f32`.
pub(super) fn type_of(name: &str) -> Result<(char, u32)> {
    let bad = || format!("type {name}");
    let mut chars = name.chars();
    let kind = chars.next().filter(|kind| "uifb".contains(*kind)).ok_or_else(bad)?;
    Ok((kind, chars.as_str().parse().map_err(|_| bad())?))
}

/// The low bits as a type; a float of another width is converted.
pub(super) fn typed(x: Value, name: &str) -> Result<Value> {
    let (kind, width) = type_of(name)?;
    if kind == 'f' && x.float && x.width != width {
        return Ok(convert(x, width));
    }
    let bits = low(x.bits, width);
    let negative = kind == 'i' && bits >> (width - 1) != 0;
    Ok(Value { bits: if negative { bits - (1 << width) } else { bits }, width, float: kind == 'f' })
}

/// f32_to_i32 and the like.
pub(super) fn conversion(name: &str, x: Value) -> Option<Value> {
    let (from, to) = name.split_once("_to_")?;
    let (kind, width) = type_of(from).ok()?;
    if let "snorm" | "unorm" = to {
        let parts = if to == "snorm" { 32767 } else { 65535 };
        let wide = convert(x, 64);
        let product = arithmetic::<Double>("*", wide, float(f64::from(parts), 64)).ok()?;
        let least = if to == "snorm" { -32767 } else { 0 };
        return Some(to_integer::<Double>(product, NEAREST, least, parts.into()));
    }
    let (target, size) = type_of(to).ok()?;
    let (least, most) =
        if target == 'i' { (-(1i128 << (size - 1)), (1 << (size - 1)) - 1) } else { (0, (1 << size) - 1) };
    Some(match (kind, target) {
        ('f', 'f') => {
            let y = convert(typed(x, from).ok()?, size);
            if is_nan(y) { Value { bits: y.bits | 1 << (layout(size).1 - 1), ..y } } else { y }
        }
        ('f', _) => {
            let round = if size == 8 { NEAREST } else { Round::TowardZero };
            in_width!(width, to_integer(typed(x, from).ok()?, round, least, most))
        }
        (_, 'f') => in_width!(size, from_integer(typed(x, from).ok()?.bits, size)),
        _ => integer(typed(x, from).ok()?.bits.clamp(least, most)),
    })
}
