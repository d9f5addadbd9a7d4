use fastrand::Rng;
use rustc_apfloat::{
    Float, FloatConvert, Round,
    ieee::{Double, Half, Single},
};

use super::{DEFAULT_MODE, DST, Fields, Lab, bit_pattern, check};
use crate::wave::Mode;

const W: [u32; 3] = [32; 3];

fn f32_of(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

/// Toward zero, saturating, NaN to 0; from the exact value.
fn to_int(x: f64, low: i64, high: i64) -> u64 {
    if x.is_nan() {
        return 0;
    }
    let truncated = x.trunc();
    (if truncated <= low as f64 {
        low
    } else if truncated >= high as f64 {
        high
    } else {
        truncated as i64
    }) as u64
}

#[test]
fn floats_to_integers_truncate_and_saturate() {
    let (min, max, all) = (i64::from(i32::MIN), i64::from(i32::MAX), i64::from(u32::MAX));
    check("v_cvt_i32_f32", W, 32, |[a, ..]| to_int(f32_of(a).into(), min, max));
    check("v_cvt_u32_f32", W, 32, |[a, ..]| to_int(f32_of(a).into(), 0, all));
    check("v_cvt_i32_f64", [64; 3], 32, |[a, ..]| to_int(f64::from_bits(a), min, max));
    check("v_cvt_u32_f64", [64; 3], 32, |[a, ..]| to_int(f64::from_bits(a), 0, all));
    check("v_cvt_flr_i32_f32", W, 32, |[a, ..]| to_int(f64::from(f32_of(a)).floor(), min, max));
    check("v_cvt_rpi_i32_f32", W, 32, |[a, ..]| to_int((f64::from(f32_of(a)) + 0.5).floor(), min, max));
}

#[test]
fn integers_to_floats_round_as_mode_says() {
    let rounds = [Round::NearestTiesToEven, Round::TowardPositive, Round::TowardNegative, Round::TowardZero];
    let mut random = Rng::with_seed(37);
    let mut lab = Lab::new();
    for (field, round) in rounds.into_iter().enumerate() {
        lab.wave.mode = Mode(DEFAULT_MODE | (field as u32 * 5));
        for _ in 0..16 {
            let sources = lab.randomise(&mut random, W);
            let results = |lab: &mut Lab, name: &str| {
                lab.run(name);
                lab.wave.vgpr[DST].0
            };
            let signed = results(&mut lab, "v_cvt_f32_i32");
            let unsigned = results(&mut lab, "v_cvt_f32_u32");
            let half = results(&mut lab, "v_cvt_f16_i16");
            for (lane, [a, ..]) in sources.into_iter().enumerate() {
                let s = Single::from_i128_r(i128::from(a as u32 as i32), round).value;
                let u = Single::from_u128_r(u128::from(a), round).value;
                let h = Half::from_i128_r(i128::from(a as u16 as i16), round).value;
                assert_eq!(u128::from(signed[lane]), s.to_bits(), "{a:x}");
                assert_eq!(u128::from(unsigned[lane]), u.to_bits(), "{a:x}");
                assert_eq!(u128::from(half[lane]), h.to_bits(), "{a:x}");
            }
        }
    }
    check("v_cvt_f64_i32", W, 64, |[a, ..]| f64::from(a as u32 as i32).to_bits());
    check("v_cvt_f64_u32", W, 64, |[a, ..]| f64::from(a as u32).to_bits());
    check("v_cvt_f32_ubyte2", W, 32, |[a, ..]| f32::from((a >> 16) as u8).to_bits().into());
}

#[test]
fn narrowing_rounds_once_in_every_mode() {
    let rounds = [Round::NearestTiesToEven, Round::TowardPositive, Round::TowardNegative, Round::TowardZero];
    let mut random = Rng::with_seed(41);
    let mut lab = Lab::new();
    let mut lossy = false;
    for (field, round) in rounds.into_iter().enumerate() {
        lab.wave.mode = Mode(DEFAULT_MODE | (field as u32 * 5));
        for _ in 0..64 {
            let mut sources = Vec::new();
            for lane in 0..64 {
                let single = match random.usize(..3) {
                    0 => bit_pattern(&mut random, 32),
                    // The range of halves, denormals included.
                    1 => (0x3300_0000 + random.u64(..0x1500_0000)) | (random.u64(..) & 1) << 31,
                    _ => u64::from((bit_pattern(&mut random, 16) as f32 / 8192.0).to_bits()),
                };
                let wide = f64::from(f32_of(single)).to_bits() ^ random.u64(..) >> 40;
                lab.set(0, lane, single);
                lab.set(2, lane, wide);
                sources.push((single, wide));
            }
            lab.run("v_cvt_f16_f32");
            let halves = lab.wave.vgpr[DST].0;
            lab.execute(&[0xd14f_0000 | DST as u32, 256 + 2]); // v_cvt_f32_f64 v16, v[2:3]
            let singles = lab.wave.vgpr[DST].0;
            for (lane, (single, wide)) in sources.into_iter().enumerate() {
                let h: Half = Single::from_bits(single.into()).convert_r(round, &mut lossy).value;
                let got = Half::from_bits(halves[lane].into());
                assert!(h.is_nan() && got.is_nan() || h.to_bits() == got.to_bits(), "{single:x} {round:?}");
                let s: Single = Double::from_bits(wide.into()).convert_r(round, &mut lossy).value;
                let got = Single::from_bits(singles[lane].into());
                assert!(s.is_nan() && got.is_nan() || s.to_bits() == got.to_bits(), "{wide:x} {round:?}");
            }
        }
    }
}

#[test]
fn every_half_widens_exactly() {
    let mut lab = Lab::new();
    let mut lossy = false;
    for base in (0..0x1_0000u32).step_by(64) {
        for lane in 0..64 {
            lab.wave.vgpr[0].0[lane] = (base + lane as u32) | 0xabcd_0000;
        }
        lab.run("v_cvt_f32_f16");
        for lane in 0..64 {
            let want: Single = Half::from_bits((base + lane as u32).into()).convert(&mut lossy).value;
            let got = f32::from_bits(lab.wave.vgpr[DST].0[lane]);
            if want.is_nan() {
                assert!(got.is_nan() && got.to_bits() & 0x40_0000 != 0);
            } else {
                assert_eq!(u128::from(got.to_bits()), want.to_bits());
            }
        }
    }
}

#[test]
fn packing_toward_zero_never_rounds_away() {
    check("v_cvt_pkrtz_f16_f32", W, 32, |[a, b, _]| {
        let mut lossy = false;
        let mut half = |x: u64| -> u64 {
            let h: Half = Single::from_bits(x.into()).convert_r(Round::TowardZero, &mut lossy).value;
            if h.is_nan() { x >> 16 & 0x8000 | 0x7e00 | x >> 13 & 0x3ff } else { h.to_bits() as u64 }
        };
        half(a) | half(b) << 16
    });
    check("v_cvt_pk_i16_i32", W, 32, |[a, b, _]| {
        let half = |x: u64| (x as u32 as i32).clamp(-32768, 32767) as u16 as u64;
        half(a) | half(b) << 16
    });
    check("v_cvt_pk_u16_u32", W, 32, |[a, b, _]| a.min(0xffff) | b.min(0xffff) << 16);
}

#[test]
fn eight_bit_floats_of_gfx942_have_one_nan_and_no_infinity() {
    let mut lab = Lab::new();
    let value = |code: u32, fraction: i32, bias: i32| -> f64 {
        let field = (code & 0x7f) as i32 >> fraction;
        let bits = f64::from(code & ((1 << fraction) - 1));
        let scale = |e: i32| 2f64.powi(e - fraction);
        let magnitude = if field == 0 {
            bits * scale(1 - bias)
        } else {
            (bits + 2f64.powi(fraction)) * scale(field - bias)
        };
        if code & 0x80 != 0 { -magnitude } else { magnitude }
    };
    for base in (0..256).step_by(64) {
        for lane in 0..64 {
            lab.wave.vgpr[0].0[lane] = base + lane as u32;
        }
        for (name, fraction, bias) in [("v_cvt_f32_fp8", 3, 8), ("v_cvt_f32_bf8", 2, 16)] {
            lab.run_with(name, Fields::default());
            for lane in 0..64 {
                let (code, got) = (base + lane as u32, f32::from_bits(lab.wave.vgpr[DST].0[lane]));
                if code == 0x80 {
                    assert!(got.is_nan());
                } else {
                    assert_eq!(f64::from(got), value(code, fraction, bias), "{name} {code:x}");
                }
            }
        }
    }
}
