//! Conversions to small formats.

use fastrand::Rng;
use rustc_apfloat::{
    Float, FloatConvert, Round,
    ieee::{BFloat, Half, Single},
};

use super::{Conversion, Rounding, exponent, field, fill, lab, mode, number, register_words};
use crate::isa::Flow;

/// The sequence that rounds one number after the other.
fn next(seed: u32) -> u32 {
    (seed << 1) ^ [0, 0b1100_0101][(seed >> 31) as usize]
}

/// A single in the bits of the wider format, to nearest.
fn to_bits(wide: &str, x: f32) -> u32 {
    let x = Single::from_bits(x.to_bits().into());
    let round = Round::NearestTiesToEven;
    match wide {
        "f32" => x.to_bits() as u32,
        "f16" => FloatConvert::<Half>::convert_r(x, round, &mut false).value.to_bits() as u32,
        _ => FloatConvert::<BFloat>::convert_r(x, round, &mut false).value.to_bits() as u32,
    }
}

fn value(wide: &str, bits: u32) -> f64 {
    let half = u128::from(bits & 0xffff);
    let single: Single = match wide {
        "f32" => Single::from_bits(bits.into()),
        "f16" => Half::from_bits(half).convert(&mut false).value,
        _ => BFloat::from_bits(half).convert(&mut false).value,
    };
    f32::from_bits(single.to_bits() as u32).into()
}

/// Where the operands are in a round.
struct Operands {
    dst: usize,
    sources: [usize; 2],
    /// A source of a conversion of one number is negated or not.
    neg: u32,
    abs: u32,
    op_sel: u32,
    scale_is_constant: bool,
}

/// Runs one round of a conversion on random numbers.
fn check(conversion: &Conversion, random: &mut Rng) {
    let Conversion { row, count, small, wide, is_random, .. } = *conversion;
    let operands = row.shape.sources();
    let numbers = if is_random { 1 } else { operands - 1 };
    let alone = numbers == count;
    let at = Operands {
        // The destination may be a source.
        dst: if random.bool() { 120 } else { 0 },
        sources: [0, 40],
        neg: if alone { random.u32(..1 << numbers) } else { 0 },
        abs: if alone { random.u32(..1 << numbers) } else { 0 },
        op_sel: match conversion.code_bits() {
            8 => random.u32(..4) << 2,
            16 => random.u32(..2) << 3,
            _ => 0,
        },
        scale_is_constant: random.usize(..8) == 0,
    };
    let mut lab = lab();
    let saturate;
    (lab.wave.mode, saturate) = mode(random);
    lab.wave.exec = if random.bool() { u64::MAX } else { random.u64(..) };
    fill(&mut lab, random, 0..160);
    for lane in 0..64 {
        let exponent = if at.scale_is_constant { 128 } else { exponent(random) };
        // Sign and fraction of the scale do not matter.
        lab.wave.vgpr[80].0[lane] = exponent << 23 | random.u32(..) & 0x807f_ffff;
        let per_word = 32 / conversion.wide_bits();
        for n in 0..numbers {
            for register in 0..(count / numbers).div_ceil(per_word as usize) {
                let word = (0..per_word).fold(0, |word, part| {
                    word | to_bits(wide, number(random, small, exponent)) << (16 * part)
                });
                lab.wave.vgpr[at.sources[n] + register].0[lane] = word;
            }
        }
        if is_random && random.usize(..4) == 0 {
            lab.wave.vgpr[40].0[lane] = random.choice([0, u32::MAX, 1 << 31, (1 << 31) - 1]).unwrap();
        }
    }
    // Sources 0 and 1 are numbers or a number and a seed; the last one is the scale, 2.0 as a constant.
    let scale = if at.scale_is_constant { 244 } else { 256 + 80 };
    let sources: Vec<u32> = (0..operands - 1).map(|n| 256 + at.sources[n] as u32).chain([scale]).collect();
    let word1 = sources.iter().enumerate().fold(at.neg << 29, |word, (n, source)| word | source << (9 * n));
    let word0 = 0xd000_0000 | u32::from(row.opcode) << 16 | at.op_sel << 11 | at.abs << 8 | at.dst as u32;
    let inst = conversion.decode([word0, word1]);
    let before = lab.wave.vgpr.clone();
    assert_eq!(lab.step(&inst), Flow::Next, "{}", row.name);
    for lane in 0..64 {
        let words = |first: usize, count: usize| -> Vec<u32> {
            before[first..first + count].iter().map(|row| row.0[lane]).collect()
        };
        let exponent = if at.scale_is_constant { 128 } else { before[80].0[lane] >> 23 & 0xff };
        let mut seed = before[40].0[lane];
        let mut want = words(at.dst, 6);
        let first = match conversion.code_bits() {
            8 => (at.op_sel >> 2) as usize * 8,
            16 => (at.op_sel >> 3) as usize * 16,
            _ => 0,
        };
        for n in 0..count {
            let (source, number) = (n % numbers, n / numbers);
            let bits = field(
                &words(at.sources[source], 32),
                number * conversion.wide_bits() as usize,
                conversion.wide_bits(),
            );
            let mut x = value(wide, bits);
            x = if at.abs >> source & 1 != 0 { x.abs() } else { x };
            x = if at.neg >> source & 1 != 0 { -x } else { x };
            let quotient = match exponent {
                255 => f64::NAN.copysign(x),
                _ => x * 2f64.powi(127 - exponent as i32),
            };
            let rounding = if is_random { Rounding::Random(seed) } else { Rounding::Nearest };
            let code = small.code(quotient, rounding, saturate);
            seed = next(seed);
            for bit in 0..small.bits() as usize {
                let place = first + n * small.bits() as usize + bit;
                want[place / 32] =
                    want[place / 32] & !(1 << (place % 32)) | (code >> bit & 1) << (place % 32);
            }
        }
        let live = lab.wave.exec >> lane & 1 != 0;
        let want = if live { want } else { words(at.dst, 6) };
        let got = register_words(&lab, at.dst, 6, lane);
        assert_eq!(got, want, "{} lane {lane}, exponent {exponent}, {inst:?} saturates {saturate}", row.name);
    }
    // Nothing else changes.
    for register in (0..512).filter(|register| !(at.dst..at.dst + 6).contains(register)) {
        assert_eq!(lab.wave.vgpr[register].0, before[register].0, "{} v{register}", row.name);
    }
}

#[test]
fn numbers_divided_by_the_scale_become_the_nearest_or_a_neighbouring_code() {
    let samples = std::env::var("AQLIPSE_VALU_SAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    for conversion in Conversion::all().filter(|conversion| conversion.narrows) {
        let mut random = Rng::with_seed(u64::from(conversion.row.opcode));
        let rounds = if conversion.count == 32 { 6 } else { 48 };
        for _ in 0..rounds * samples {
            check(&conversion, &mut random);
        }
    }
}
