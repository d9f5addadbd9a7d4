//! Conversions from small formats.

use fastrand::Rng;
use rustc_apfloat::{
    Float, FloatConvert, Round, Status,
    ieee::{BFloat, Double, Half, Single},
};

use super::{Conversion, exponent, field, fill, lab, mode, register_words};
use crate::{isa::Flow, wave::Vector};

/// The product in the wider format, to nearest; `None` for a NaN.
fn rounded<F: Float>(product: f64, saturate: bool) -> Option<u32>
where
    Double: FloatConvert<F>,
{
    let exact = Double::from_bits(product.to_bits().into());
    let rounded = exact.convert_r(Round::NearestTiesToEven, &mut false);
    let overflows = rounded.status.contains(Status::OVERFLOW);
    let value = if saturate && overflows { F::largest().copy_sign(rounded.value) } else { rounded.value };
    (!value.is_nan()).then(|| value.to_bits() as u32)
}

fn want(conversion: &Conversion, code: u32, exponent: u32, saturate: bool) -> Option<u32> {
    let value = conversion.small.value(code);
    let product = if exponent == 255 { f64::NAN } else { value * 2f64.powi(exponent as i32 - 127) };
    match conversion.wide {
        "f32" => rounded::<Single>(product, false),
        "f16" => rounded::<Half>(product, saturate),
        _ => rounded::<BFloat>(product, false),
    }
}

fn is_nan(wide: &str, bits: u32) -> bool {
    match wide {
        "f32" => f32::from_bits(bits).is_nan(),
        "f16" => bits & 0x7fff > 0x7c00,
        _ => bits & 0x7fff > 0x7f80,
    }
}

fn check(conversion: &Conversion, random: &mut Rng) {
    let Conversion { row, count, small, wide, .. } = *conversion;
    let mut lab = lab();
    let saturate;
    (lab.wave.mode, saturate) = mode(random);
    lab.wave.exec = if random.bool() { u64::MAX } else { random.u64(..) };
    fill(&mut lab, random, 0..160);
    let exponents: [u32; 64] = std::array::from_fn(|_| exponent(random));
    lab.wave.vgpr[80] = Vector(exponents.map(|exponent| exponent << 23 | random.u32(..) & 0x807f_ffff));
    let dst = if random.bool() { 120 } else { 0 };
    let half_result = count == 1 && wide == "f16";
    let (select, bits) = match conversion.code_bits() {
        8 => (random.u32(..4), 8),
        16 => (random.u32(..2), 16),
        _ => (0, 0),
    };
    let high = half_result && random.bool();
    let op_sel = select | u32::from(high) << 3;
    let word0 = 0xd000_0000 | u32::from(row.opcode) << 16 | op_sel << 11 | dst as u32;
    let inst = conversion.decode([word0, 256 | (256 + 80) << 9]);
    let before = lab.wave.vgpr.clone();
    assert_eq!(lab.step(&inst), Flow::Next, "{}", row.name);
    let rows = (count * conversion.wide_bits() as usize).div_ceil(32);
    for (lane, scale) in exponents.into_iter().enumerate() {
        let words = |first: usize, count: usize| -> Vec<u32> {
            before[first..first + count].iter().map(|row| row.0[lane]).collect()
        };
        let got = register_words(&lab, dst, rows, lane);
        let old = words(dst, rows);
        if lab.wave.exec >> lane & 1 == 0 {
            assert_eq!(got, old, "{} dead lane {lane}", row.name);
            continue;
        }
        for n in 0..count {
            let from = (select * bits) as usize + n * small.bits() as usize;
            let code = field(&words(0, 6), from, small.bits());
            let to = n * conversion.wide_bits() as usize + if high { 16 } else { 0 };
            let got = field(&got, to, conversion.wide_bits());
            let right = match want(conversion, code, scale, saturate) {
                Some(want) => got == want,
                None => is_nan(wide, got),
            };
            assert!(right, "{} {code:x} * 2^({} - 127) is {got:x}, saturates {saturate}", row.name, scale);
        }
        if half_result {
            let other = if high { 0xffff } else { 0xffff_0000 };
            assert_eq!(got[0] & other, old[0] & other, "{} keeps the other half", row.name);
        }
    }
    for register in (0..512).filter(|register| !(dst..dst + rows).contains(register)) {
        assert_eq!(lab.wave.vgpr[register].0, before[register].0, "{} v{register}", row.name);
    }
}

#[test]
fn codes_are_multiplied_by_the_scale() {
    let samples = std::env::var("AQLIPSE_VALU_SAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    for conversion in Conversion::all().filter(|conversion| !conversion.narrows) {
        let mut random = Rng::with_seed(u64::from(conversion.row.opcode));
        let rounds = if conversion.count == 32 { 6 } else { 48 };
        for _ in 0..rounds * samples {
            check(&conversion, &mut random);
        }
    }
}
