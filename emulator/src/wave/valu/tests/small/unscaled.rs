//! Conversions between singles and the 8-bit formats without a scale, and to 16 bits with random numbers.

use fastrand::Rng;

use super::{BF8, BRAIN, FP8, Format, HALF, Rounding, fill, lab, mode, number};
use crate::{
    isa::{Target, decode},
    wave::Mode,
};

const FORMATS: [(Format, u32); 2] = [(FP8, 0), (BF8, 1)];

/// Runs an instruction of gfx950.
fn execute(lab: &mut super::Lab, words: &[u32]) {
    let inst = decode(Target::Gfx950, words).unwrap();
    assert_eq!(lab.step(&inst), crate::isa::Flow::Next, "{}", inst.row.name);
}

#[test]
fn all_codes_of_8_bits_decode() {
    let mut lab = lab();
    for (format, n) in FORMATS {
        for first in (0..256).step_by(64) {
            for lane in 0..64 {
                // The upper half must not matter.
                lab.wave.vgpr[0].0[lane] = 0xa5c3_0000 | (first + lane as u32) << 8 | (first + lane as u32);
            }
            let e32 = |opcode: u32, dst: u32| 0x7e00_0000 | dst << 17 | (opcode + n) << 9 | 256;
            execute(&mut lab, &[e32(84, 16)]);
            execute(&mut lab, &[e32(86, 18)]);
            for lane in 0..64 {
                let want = format.value(first + lane as u32) as f32;
                for register in [16, 18, 19] {
                    let got = f32::from_bits(lab.wave.vgpr[register].0[lane]);
                    let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                    assert!(same, "{format:?} {:x}: {got}, not {want}", first + lane as u32);
                }
            }
        }
    }
}

#[test]
fn singles_become_the_nearest_code_of_8_bits() {
    let mut random = Rng::with_seed(0xf8);
    for (format, n) in FORMATS {
        for round in 0..64 {
            let mut lab = lab();
            let saturate;
            (lab.wave.mode, saturate) = mode(&mut random);
            fill(&mut lab, &mut random, 0..17);
            for register in [0, 2] {
                lab.wave.vgpr[register].0 =
                    std::array::from_fn(|_| number(&mut random, format, 127).to_bits());
            }
            let before = lab.wave.vgpr.clone();
            let high = round & 1;
            execute(&mut lab, &[0xd2a2_0010 | n << 16 | high << 14, 256 | 258 << 9]);
            for lane in 0..64 {
                let codes = [0, 2].map(|register| {
                    let x = f32::from_bits(before[register].0[lane]);
                    format.code(x.into(), Rounding::Nearest, saturate)
                });
                let (shift, old) = (16 * high, before[16].0[lane]);
                let want = old & !(0xffff << shift) | (codes[0] | codes[1] << 8) << shift;
                let got = lab.wave.vgpr[16].0[lane];
                assert_eq!(got, want, "{format:?} of {:x} {:x}", before[0].0[lane], before[2].0[lane]);
            }
        }
    }
}

/// The single with a random number added below the last bit of the fraction that is kept, cut off.
pub(super) fn cut(format: Format, x: f32, random: u32, saturate: bool) -> u32 {
    if !x.is_finite() {
        return format.code(x.into(), Rounding::Nearest, saturate);
    }
    let kept = 23 - format.fraction;
    let sum = u64::from(x.abs().to_bits()) + u64::from(random >> (32 - kept));
    // Beyond the largest single, which is too large already.
    let sum = if sum >= 0x7f80_0000 { f64::from(f32::MAX) } else { f64::from(f32::from_bits(sum as u32)) };
    format.code(if x.is_sign_negative() { -sum } else { sum }, Rounding::Random(0), saturate)
}

#[test]
fn random_numbers_round_to_8_bits() {
    let mut random = Rng::with_seed(0x8f);
    for (format, n) in FORMATS {
        for round in 0..64 {
            let mut lab = lab();
            let saturate;
            (lab.wave.mode, saturate) = mode(&mut random);
            fill(&mut lab, &mut random, 0..17);
            lab.wave.vgpr[0].0 = std::array::from_fn(|_| number(&mut random, format, 127).to_bits());
            let before = lab.wave.vgpr.clone();
            let byte = round & 3;
            execute(&mut lab, &[0xd2a4_0010 | n << 16 | byte << 13, 256 | 258 << 9]);
            for lane in 0..64 {
                let (x, seed) = (f32::from_bits(before[0].0[lane]), before[2].0[lane]);
                let old = before[16].0[lane] & !(0xff << (8 * byte));
                let want = old | cut(format, x, seed, saturate) << (8 * byte);
                assert_eq!(lab.wave.vgpr[16].0[lane], want, "{format:?} of {x} and {seed:x}");
            }
        }
    }
}

#[test]
fn random_numbers_round_to_16_bits() {
    let mut random = Rng::with_seed(0x16);
    for (format, n) in [(HALF, 0), (BRAIN, 1)] {
        for round in 0..96 {
            let mut lab = lab();
            let mode = Mode(random.u32(..) & 0x3ff | u32::from(random.bool()) << 23);
            lab.wave.mode = mode;
            lab.wave.exec = random.u64(..);
            fill(&mut lab, &mut random, 0..17);
            lab.wave.vgpr[0].0 = std::array::from_fn(|_| number(&mut random, format, 127).to_bits());
            let before = lab.wave.vgpr.clone();
            let high = round & 1;
            execute(&mut lab, &[0xd2a6_0010 | n << 16 | high << 14, 256 | 258 << 9]);
            let is_half = n == 0;
            let flushes = if is_half { mode.denorm64() } else { mode.denorm32() } & 2 == 0;
            for lane in 0..64 {
                let (x, seed) = (f32::from_bits(before[0].0[lane]), before[2].0[lane]);
                let flushed = if x.is_subnormal() && mode.denorm32() & 1 == 0 { 0f32.copysign(x) } else { x };
                let saturate = is_half && mode.fp16_overflow();
                let code = format.code(flushed.into(), Rounding::Random(seed), saturate);
                let denormal = code & 0x7fff < 1 << format.fraction;
                let code = if denormal && flushes { code & 0x8000 } else { code };
                let shift = 16 * high;
                let got = lab.wave.vgpr[16].0[lane];
                let old = before[16].0[lane];
                let keep = !(0xffff << shift);
                if lab.wave.exec >> lane & 1 == 0 {
                    assert_eq!(got, old);
                } else if x.is_nan() {
                    assert!(format.value(got >> shift & 0xffff).is_nan() && got & keep == old & keep);
                } else {
                    assert_eq!(got, old & keep | code << shift, "{format:?} of {x} and {seed:x}");
                }
            }
        }
    }
}
