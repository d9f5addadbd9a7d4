//! Floats in decimal and hexadecimal, rounded to nearest, ties to even, as the exact value demands.

use super::spec::Style;

/// A number without its sign.
pub(super) struct Number {
    pub(super) text: String,
    /// Whether `0x` belongs before it, in front of the zeros that fill it up.
    pub(super) hex: bool,
}

/// Bits of a double's fraction.
const FRACTION: u32 = 52;
/// Hexadecimal digits of a double's fraction.
const HEX_DIGITS: usize = 13;
/// Decimal digits behind the point that a double can have: its last bit is 2^-1074. Further ones are zeros, which
/// the standard library, whose precision ends at 65535, need not write.
const DECIMAL_DIGITS: usize = 1074;

/// The digits of `value`, which has no sign. `point`: the decimal point stands even with nothing behind it, and
/// `%g` keeps its zeros.
pub(super) fn digits(value: f64, style: Style, precision: Option<usize>, point: bool) -> Number {
    let decimal = |text| Number { text, hex: false };
    if value.is_nan() {
        return decimal("nan".to_owned());
    }
    if value.is_infinite() {
        return decimal("inf".to_owned());
    }
    match style {
        Style::Fixed => decimal(fixed(value, precision.unwrap_or(6), point)),
        Style::Exponent => {
            let (mantissa, exponent) = scientific(value, precision.unwrap_or(6), point);
            decimal(join(&mantissa, exponent))
        }
        Style::Shorter => decimal(shorter(value, precision.unwrap_or(6).max(1), point)),
        Style::Hex => Number { text: hex(value, precision, point), hex: true },
    }
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let shown = precision.min(DECIMAL_DIGITS);
    let mut text = format!("{value:.shown$}");
    finish(&mut text, precision, shown, point);
    text
}

/// Puts the zeros behind the `shown` digits, or the point that stands alone.
fn finish(text: &mut String, precision: usize, shown: usize, point: bool) {
    text.extend(std::iter::repeat_n('0', precision - shown));
    if point && precision == 0 {
        text.push('.');
    }
}

/// Mantissa and decimal exponent.
fn scientific(value: f64, precision: usize, point: bool) -> (String, i32) {
    let shown = precision.min(DECIMAL_DIGITS);
    let text = format!("{value:.shown$e}");
    // PANIC: the standard library writes an exponent behind every finite number of this form.
    let (mantissa, exponent) = text.split_once('e').expect("an exponent follows the mantissa");
    let mut mantissa = mantissa.to_owned();
    finish(&mut mantissa, precision, shown, point);
    (mantissa, exponent.parse().expect("the exponent is a number"))
}

/// An exponent has a sign and at least two digits.
fn join(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

fn shorter(value: f64, precision: usize, keep_zeros: bool) -> String {
    let (mantissa, exponent) = scientific(value, precision - 1, keep_zeros);
    let strip = |text: String| {
        if keep_zeros || !text.contains('.') {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    // CAST: the precision is bounded by the caller, far below 2^31.
    if exponent >= -4 && exponent < precision as i32 {
        let behind = (precision as i32 - 1 - exponent) as usize;
        strip(fixed(value, behind, keep_zeros))
    } else {
        join(&strip(mantissa), exponent)
    }
}

/// `h.hhhp±d`; a denormal has 0 before its point.
fn hex(value: f64, precision: Option<usize>, point: bool) -> String {
    let bits = value.to_bits();
    let biased = (bits >> FRACTION & 0x7ff) as i32;
    let fraction = bits & ((1 << FRACTION) - 1);
    let exponent = match (biased, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        (biased, _) => biased - 1023,
    };
    let mut significand = fraction | u64::from(biased != 0) << FRACTION;
    let shown = precision.unwrap_or(HEX_DIGITS).min(HEX_DIGITS);
    let dropped = 4 * (HEX_DIGITS - shown) as u32;
    if dropped > 0 {
        let unit = 1u64 << dropped;
        let (rest, half) = (significand & (unit - 1), unit / 2);
        significand -= rest;
        if rest > half || rest == half && significand & unit != 0 {
            significand += unit;
        }
    }
    let whole = significand >> FRACTION;
    let behind = format!("{:013x}", significand & ((1 << FRACTION) - 1));
    let mut behind = behind[..shown].to_owned();
    match precision {
        Some(precision) => behind.extend(std::iter::repeat_n('0', precision - shown)),
        None => behind.truncate(behind.trim_end_matches('0').len()),
    }
    let dot = if behind.is_empty() && !point { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{whole:x}{dot}{behind}p{sign}{}", exponent.unsigned_abs())
}
