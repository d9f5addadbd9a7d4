//! The sums of products, element by element, after "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix
//! Cores" (arXiv 2511.10909, PyPI mmasim 2.1.1): exact integers where the hardware aligns, IEEE operations where it has them.

use emulator::isa::Target;
use rustc_apfloat::{
    Float, FloatConvert,
    ieee::{Double, Single},
};

use super::{Case, Element};

/// A number as `significand * 2^(exponent - fraction)`.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Number {
    Nan,
    Infinity(bool),
    Finite { significand: i128, exponent: i32, fraction: u32 },
}

fn number(element: Element, bits: u64) -> Number {
    let (exponent_bits, fraction, bias) = element.format();
    let negative = bits >> (element.bits() - 1) & 1 != 0;
    let field = bits >> fraction & ((1 << exponent_bits) - 1);
    let mantissa = bits & ((1 << fraction) - 1);
    match element {
        Element::Fp8Fnuz | Element::Bf8Fnuz if bits == 0x80 => return Number::Nan,
        Element::Fp8 if bits & 0x7f == 0x7f => return Number::Nan,
        Element::Fp8Fnuz | Element::Bf8Fnuz | Element::Fp8 => {}
        Element::Fp6 | Element::Bf6 | Element::Fp4 => {}
        _ if field != (1 << exponent_bits) - 1 => {}
        _ => return if mantissa != 0 { Number::Nan } else { Number::Infinity(negative) },
    }
    let mantissa = if element == Element::Xf32 { mantissa & !0x1fff } else { mantissa };
    let hidden = if field == 0 { 0 } else { 1 << fraction };
    let magnitude = i128::from(mantissa | hidden);
    let exponent = field.max(1) as i32 - bias;
    Number::Finite { significand: if negative { -magnitude } else { magnitude }, exponent, fraction }
}

fn as_f64(number: Number) -> f64 {
    match number {
        Number::Nan => f64::NAN,
        Number::Infinity(negative) => {
            if negative {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            }
        }
        Number::Finite { significand, exponent, fraction } => {
            significand as f64 * 2f64.powi(exponent - fraction as i32)
        }
    }
}

const NAN: u32 = 0x7fc0_0000;

fn canonical(x: f32) -> f32 {
    if x.is_nan() { f32::from_bits(NAN) } else { x }
}

/// A sum in units of 2^(scale - fraction).
#[derive(Clone, Copy)]
struct Aligned {
    sum: i128,
    scale: i32,
}

/// Truncated to 24 fractional bits at the largest exponent.
fn align(products: &[(i128, i32, u32)]) -> Aligned {
    let scale = products.iter().map(|product| product.1).max().unwrap();
    let truncated = |&(significand, exponent, fraction): &(i128, i32, u32)| {
        let distance = (scale - exponent) as u32 + fraction;
        let magnitude = (significand.abs() << 24).checked_shr(distance).unwrap_or(0);
        magnitude * significand.signum()
    };
    Aligned { sum: products.iter().map(truncated).sum(), scale }
}

/// Rounded down.
fn down(x: i128, bits: i32) -> i128 {
    if bits < 0 { x << -bits } else { x >> bits.min(127) }
}

/// The sum of products, times 2^`shift`, and `c`.
fn fused(element: [Element; 2], a: &[u64], b: &[u64], c: f32, shift: i32) -> f32 {
    let pairs: Vec<_> =
        a.iter().zip(b).map(|(a, b)| (number(element[0], *a), number(element[1], *b))).collect();
    let limit = 2f64.powi(128);
    let product = |(a, b): &(Number, Number)| as_f64(*a) * as_f64(*b);
    // Products that no single can hold are infinite.
    let infinite = |p: f64| if p.abs() >= limit { f64::INFINITY.copysign(p) } else { p };
    let sum = pairs.iter().map(product).map(infinite).sum::<f64>() + f64::from(c);
    if !sum.is_finite() {
        return canonical(sum as f32);
    }
    let products: Vec<_> = pairs
        .into_iter()
        .map(|pair| match pair {
            (
                Number::Finite { significand: a, exponent: ea, fraction: fa },
                Number::Finite { significand: b, exponent: eb, fraction: fb },
            ) => (a * b, if a * b == 0 { -999 } else { ea + eb }, fa + fb),
            _ => unreachable!("the sum would not be finite"),
        })
        .collect();
    let bytes = element[0].bits() <= 8;
    let mut group = if bytes {
        let [even, odd] =
            [0, 1].map(|from| align(&products.iter().skip(from).step_by(2).copied().collect::<Vec<_>>()));
        let scale = even.scale.max(odd.scale);
        let sum = down(even.sum, scale - even.scale) + down(odd.sum, scale - odd.scale);
        Aligned { sum, scale }
    } else {
        align(&products)
    };
    let Number::Finite { significand, exponent, .. } = number(Element::F32, u64::from(c.to_bits())) else {
        unreachable!("the sum would not be finite")
    };
    group.scale += shift;
    let scale = group.scale.max(exponent);
    // 32 fractional bits for the products, 24 for the addend.
    let sum = down(group.sum << 8, scale - group.scale);
    let addend = if bytes && exponent < scale - 25 { 0 } else { down(significand << 1, scale - exponent) };
    let exact = sum + (addend << 8);
    // In units of 2^(scale - 32); 31 fractional bits are kept of what is normalised.
    let top = 127 - exact.unsigned_abs().leading_zeros() as i32;
    let dropped = (top - 31).max(-126 - 31 - (scale - 32)).max(0);
    let exact = Double::from_i128(exact >> dropped << dropped).value.scalbn(scale - 32);
    let single: Single = exact.convert(&mut false).value;
    f32::from_bits(single.to_bits() as u32)
}

fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { x * 0.0 } else { x }
}

/// An element of gfx90a: denormals are positive zeros.
fn flushed(element: Element, bits: u64) -> f32 {
    let (exponent_bits, fraction, _) = element.format();
    let field = bits >> fraction & ((1 << exponent_bits) - 1);
    if field == 0 { 0.0 } else { as_f64(number(element, bits)) as f32 }
}

fn pairwise(products: &[(f32, f32)]) -> f32 {
    flush(match products {
        [(a, b)] => a * b,
        _ => {
            let (left, right) = products.split_at(products.len() / 2);
            pairwise(left) + pairwise(right)
        }
    })
}

/// D of one element from its row of A, column of B, and C. `flush_inputs` is what MODE says of singles.
pub fn dot(case: &Case, a: &[u64], b: &[u64], c: u64, flush_inputs: bool) -> u64 {
    let mut sum = f32::from_bits(c as u32);
    match (case.a, case.target) {
        (Element::F64, _) => {
            let sum = a
                .iter()
                .zip(b)
                .fold(f64::from_bits(c), |sum, (a, b)| f64::from_bits(*a).mul_add(f64::from_bits(*b), sum));
            return if sum.is_nan() { 0x7ff8_0000_0000_0000 } else { sum.to_bits() };
        }
        (Element::I8, _) => panic!("no float"),
        (Element::F32, _) => {
            let value = |bits: u64| {
                let x = f32::from_bits(bits as u32);
                if flush_inputs && x.is_subnormal() { 0.0f32.copysign(x) } else { x }
            };
            for (a, b) in a.iter().zip(b) {
                sum = value(*a).mul_add(value(*b), sum);
            }
        }
        (element, Target::Gfx90a) => {
            let group = if case.old_bf16 { 2 } else { 4 };
            if sum.is_subnormal() || sum == 0.0 {
                sum = 0.0;
            }
            for (a, b) in a.chunks(group).zip(b.chunks(group)) {
                let products: Vec<_> =
                    a.iter().zip(b).map(|(a, b)| (flushed(element, *a), flushed(element, *b))).collect();
                sum = flush(sum + pairwise(&products));
            }
        }
        (element, _) => {
            let group = match element {
                Element::Xf32 => 4,
                Element::F16 | Element::Bf16 => 8.min(a.len()),
                _ => 16,
            };
            for (a, b) in a.chunks(group).zip(b.chunks(group)) {
                sum = fused([case.a, case.b], a, b, sum, 0);
            }
        }
    }
    u64::from(canonical(sum).to_bits())
}

/// As [`dot`], where the products of each 32 values of k are scaled by a power of two.
pub fn scaled(case: &Case, a: &[u64], b: &[u64], c: u64, shifts: &[i32]) -> u64 {
    let mut sum = f32::from_bits(c as u32);
    for (n, (a, b)) in a.chunks(16).zip(b.chunks(16)).enumerate() {
        sum = fused([case.a, case.b], a, b, sum, shifts[n / 2]);
    }
    u64::from(canonical(sum).to_bits())
}
