use fastrand::Rng;
use rustc_apfloat::{
    Float, FloatConvert,
    ieee::{Double, Half, Quad},
};

use super::{DST, Lab};

/// Distance of `got` from the exact `want` in units of the last place of `want` in single precision.
fn ulps(got: f32, want: f64) -> f64 {
    let exponent = (want.abs().to_bits() >> 52) as i32 - 1023;
    (f64::from(got) - want).abs() / 2f64.powi(exponent.max(-126) - 23)
}

/// Runs `name` on singles that `source` makes and checks them against `exact` in double precision.
fn within(name: &str, source: impl Fn(&mut Rng) -> f32, exact: impl Fn(f64) -> f64, bound: f64) {
    let mut random = Rng::with_seed(47);
    let mut lab = Lab::new();
    for _ in 0..256 {
        let sources: Vec<f32> = (0..64).map(|_| source(&mut random)).collect();
        for (lane, x) in sources.iter().enumerate() {
            lab.wave.vgpr[0].0[lane] = x.to_bits();
        }
        lab.run(name);
        for (lane, x) in sources.into_iter().enumerate() {
            let (got, want) = (f32::from_bits(lab.wave.vgpr[DST].0[lane]), exact(x.into()));
            if want.is_nan() {
                assert!(got.is_nan(), "{name}({x:e}) = {got:e}");
            } else if want.abs() < f32::MIN_POSITIVE.into() {
                assert_eq!(got.abs(), 0.0, "{name}({x:e}): tiny results are flushed");
            } else if want.abs() > f32::MAX.into() {
                assert_eq!(got, want.signum() as f32 * f32::INFINITY, "{name}({x:e})");
            } else {
                assert!(ulps(got, want) <= bound, "{name}({x:e}) = {got:e}, not {want:e}");
            }
        }
    }
}

fn normal(random: &mut Rng) -> f32 {
    let x = f32::from_bits(random.u32(..));
    if x.is_normal() { x } else { 1.5 }
}

#[test]
fn single_precision_functions_stay_within_their_bound() {
    let between = |low: f32, high: f32| {
        move |random: &mut Rng| low + (high - low) * ((random.u64(..) >> 40) as f32 / (1 << 24) as f32)
    };
    within("v_rcp_f32", normal, |x| 1.0 / x, 0.500_01);
    within("v_sqrt_f32", |r| normal(r).abs(), f64::sqrt, 0.500_01);
    within("v_rsq_f32", |r| normal(r).abs(), |x| 1.0 / x.sqrt(), 0.500_01);
    within("v_exp_f32", between(-130.0, 130.0), f64::exp2, 0.501);
    within("v_exp_f32", between(-1.0, 1.0), f64::exp2, 0.501);
    within("v_exp_f32", normal, f64::exp2, 0.501);
    within("v_log_f32", |r| normal(r).abs(), f64::log2, 0.501);
    within("v_log_f32", between(0.9, 1.1), f64::log2, 0.501);
    // The oracle's own argument is rounded by 2 * pi; it is good to 1e-15 absolutely.
    let turn = 2.0 * std::f64::consts::PI;
    within("v_sin_f32", between(0.001, 0.49), move |x| (x * turn).sin(), 0.501);
    within("v_sin_f32", between(-0.49, -0.01), move |x| (x * turn).sin(), 0.501);
    within("v_cos_f32", between(-0.24, 0.24), move |x| (x * turn).cos(), 0.501);
    within("v_cos_f32", between(0.26, 0.74), move |x| (x * turn).cos(), 0.501);
}

#[test]
fn special_arguments_give_the_values_of_the_manual() {
    let inf = f32::INFINITY;
    let cases = [
        ("v_rcp_f32", 0.0, inf),
        ("v_rcp_f32", -0.0, -inf),
        ("v_rcp_f32", -inf, -0.0),
        ("v_rcp_f32", 1e-40, inf),
        ("v_rsq_f32", 0.0, inf),
        ("v_rsq_f32", -0.0, -inf),
        ("v_rsq_f32", inf, 0.0),
        ("v_sqrt_f32", -0.0, -0.0),
        ("v_sqrt_f32", 1e-40, 0.0),
        ("v_log_f32", 0.0, -inf),
        ("v_log_f32", -0.0, -inf),
        ("v_log_f32", 1.0, 0.0),
        ("v_log_f32", 8.0, 3.0),
        ("v_log_f32", inf, inf),
        ("v_exp_f32", -inf, 0.0),
        ("v_exp_f32", inf, inf),
        ("v_exp_f32", 10.0, 1024.0),
        ("v_exp_f32", -127.0, 0.0),
        ("v_sin_f32", 0.25, 1.0),
        ("v_sin_f32", 100.75, -1.0),
        ("v_sin_f32", -0.0, -0.0),
        ("v_cos_f32", 0.5, -1.0),
        ("v_cos_f32", 256.0, 1.0),
    ];
    let mut lab = Lab::new();
    for (name, x, want) in cases {
        lab.wave.vgpr[0].0[0] = f32::to_bits(x);
        lab.run(name);
        let got = f32::from_bits(lab.wave.vgpr[DST].0[0]);
        assert_eq!(got.to_bits(), f32::to_bits(want), "{name}({x:e}) = {got:e}");
    }
    for (name, x) in [("v_rsq_f32", -1.0), ("v_log_f32", -1.0), ("v_sqrt_f32", -1.0), ("v_sin_f32", inf)] {
        lab.wave.vgpr[0].0[0] = f32::to_bits(x);
        lab.run(name);
        assert!(f32::from_bits(lab.wave.vgpr[DST].0[0]).is_nan(), "{name}({x})");
    }
}

#[test]
fn double_precision_seeds_are_good_to_one_ulp() {
    let mut random = Rng::with_seed(53);
    let mut lab = Lab::new();
    for _ in 0..64 {
        let sources = lab.randomise(&mut random, [64; 3]);
        for name in ["v_rcp_f64", "v_rsq_f64", "v_sqrt_f64"] {
            lab.run(name);
            for (lane, v) in sources.iter().enumerate() {
                let x = f64::from_bits(v[0]);
                let want = match name {
                    "v_rcp_f64" => 1.0 / x,
                    "v_rsq_f64" => x.sqrt().recip(),
                    _ => x.sqrt(),
                };
                let got = f64::from_bits(lab.get(DST, lane));
                assert!(
                    want.is_nan() && got.is_nan() || want.to_bits().abs_diff(got.to_bits()) <= 1,
                    "{name} {x:e}"
                );
            }
        }
    }
}

#[test]
fn trig_preop_is_what_llvm_folds() {
    // opt-22 -passes=instcombine folds llvm.amdgcn.trig.preop.f64 to these.
    let cases: [(f64, u32, u64); 11] = [
        (1.0, 0, 0x3fe4_5f30_6dc9_c882),
        (1.0, 1, 0x3c94_a7f0_9d5f_47d4),
        (1.0, 2, 0x394a_6ee0_6db1_4acc),
        (1e22, 0, 0x3e8b_7272_20a9_4fe0),
        (1e22, 1, 0x3b43_abe8_fa9a_6ee0),
        (1e300, 0, 0x0d0f_516b_a93d_d63f),
        (1e300, 2, 0x066e_f14a_525d_4d7f),
        (1.7e308, 1, 0x0809_e839_cfbc_5294),
        (1.5, 23, 0),
        (1e200, 31, 0),
        (1e18, 3, 0x35a8_8720_83fc_a2c7),
    ];
    let mut lab = Lab::new();
    for (angle, index, want) in cases {
        lab.set(0, 0, angle.to_bits());
        lab.set(2, 0, index.into());
        lab.run("v_trig_preop_f64");
        assert_eq!(lab.get(DST, 0), want, "{angle:e} {index}");
    }
}

type Exact = fn(f64) -> f64;

/// The functions that singles and halves have, in double precision.
const FUNCTIONS: [(&str, Exact); 7] = [
    ("v_rcp", |x| 1.0 / x),
    ("v_rsq", |x| 1.0 / x.sqrt()),
    ("v_sqrt", f64::sqrt),
    ("v_exp", f64::exp2),
    ("v_log", f64::log2),
    ("v_sin", |x| quarter_turns(x, 0)),
    ("v_cos", |x| quarter_turns(x, 1)),
];

/// The sine of `x` turns and some quarters; whole quarters leave the argument exactly.
fn quarter_turns(x: f64, quarters: i64) -> f64 {
    if x == 0.0 && quarters == 0 {
        return x;
    }
    let turn = x - x.round_ties_even();
    let nearest = (4.0 * turn).round_ties_even();
    let angle = std::f64::consts::TAU * (turn - nearest / 4.0);
    match (nearest as i64 + quarters).rem_euclid(4) {
        0 => angle.sin(),
        1 => angle.cos(),
        2 => 0.0 - angle.sin(),
        _ => -angle.cos(),
    }
}

#[test]
fn every_half_gives_the_correctly_rounded_value() {
    let mut lab = Lab::new();
    let mut lossy = false;
    for (name, exact) in FUNCTIONS {
        for base in (0..0x1_0000u32).step_by(64) {
            for lane in 0..64 {
                lab.wave.vgpr[0].0[lane] = base + lane as u32;
            }
            lab.run(&format!("{name}_f16"));
            for lane in 0..64 {
                let bits = base + lane as u32;
                let x: Double = Half::from_bits(bits.into()).convert(&mut lossy).value;
                let x = f64::from_bits(x.to_bits() as u64);
                let want: Half = Double::from_bits(exact(x).to_bits().into()).convert(&mut lossy).value;
                let got = Half::from_bits((lab.wave.vgpr[DST].0[lane] & 0xffff).into());
                assert!(
                    want.is_nan() && got.is_nan() || want.to_bits() == got.to_bits(),
                    "{name}_f16({bits:x}): {got} not {want}"
                );
            }
        }
    }
}

#[test]
fn singles_of_every_exponent_stay_within_the_bound() {
    let samples = std::env::var("AQLIPSE_VALU_SAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(1u32);
    // An odd step visits all exponents and ends of mantissas; more samples make it shorter.
    let step = (65_521 / samples).max(1) | 1;
    let mut lab = Lab::new();
    for (name, exact) in FUNCTIONS {
        let mut x = 0u32;
        let mut wrapped = false;
        while !wrapped {
            let mut sources = [0u32; 64];
            for source in &mut sources {
                *source = x;
                let (next, over) = x.overflowing_add(step);
                (x, wrapped) = (next, wrapped || over);
            }
            lab.wave.vgpr[0].0 = sources;
            lab.run(&format!("{name}_f32"));
            for (lane, bits) in sources.into_iter().enumerate() {
                let source = f32::from_bits(bits);
                let flushed = if source.is_subnormal() { 0f32.copysign(source) } else { source };
                let got = f32::from_bits(lab.wave.vgpr[DST].0[lane]);
                let want = exact(flushed.into());
                let tiny = want.abs() < f32::MIN_POSITIVE.into();
                let right = if want.is_nan() {
                    got.is_nan()
                } else if tiny {
                    got == 0.0 || f64::from(got.abs()) == f32::MIN_POSITIVE.into()
                } else if want.abs() >= 2f64.powi(128) {
                    f64::from(got) == want.signum() * f64::INFINITY
                } else {
                    ulps(got, want) <= 0.500_01
                };
                assert!(right, "{name}_f32({source:e}) = {got:e}, not {want:e}");
            }
        }
    }
}

/// `y` plus `parts` of the 256 parts of a unit of its last place, exactly.
fn beside(y: f64, parts: i128) -> Quad {
    let wide: Quad = Double::from_bits(y.to_bits().into()).convert(&mut false).value;
    let exponent = (y.to_bits() >> 52) as i32 & 0x7ff;
    let unit = Quad::from_i128(parts).value.scalbn(exponent.max(1) - 1075 - 8);
    (wide + unit).value
}

#[test]
fn doubles_are_correctly_rounded_or_almost() {
    let mut random = Rng::with_seed(107);
    let mut lab = Lab::new();
    let one = Quad::from_u128(1).value;
    for _ in 0..256 {
        // Far from overflow and denormals, where squares leave the exponents of no format.
        let sources: [f64; 64] =
            std::array::from_fn(|_| f64::from_bits(random.u64(..) >> 12 | (600 + random.u64(..800)) << 52));
        for (lane, x) in sources.iter().enumerate() {
            lab.set(0, lane, x.to_bits());
        }
        let mut results = |name: &str| -> [f64; 64] {
            lab.run(name);
            std::array::from_fn(|lane| f64::from_bits(lab.get(DST, lane)))
        };
        let (rcp, sqrt, rsq) = (results("v_rcp_f64"), results("v_sqrt_f64"), results("v_rsq_f64"));
        for (lane, x) in sources.into_iter().enumerate() {
            let wide = beside(x, 0);
            // y is nearest to 1/x if 1 is between (y - 1/2 unit) * x and (y + 1/2 unit) * x; products are exact.
            let products = [-128, 128].map(|n| (beside(rcp[lane], n) * wide).value);
            assert!(products[0] <= one && one <= products[1], "v_rcp_f64({x:e}) = {:e}", rcp[lane]);
            let squares = [-128, 128].map(|n| (beside(sqrt[lane], n) * beside(sqrt[lane], n)).value);
            assert!(squares[0] <= wide && wide <= squares[1], "v_sqrt_f64({x:e}) = {:e}", sqrt[lane]);
            // The products round to 113 bits, far below a part of the unit.
            let scaled =
                [-129, 129].map(|n| ((beside(rsq[lane], n) * beside(rsq[lane], n)).value * wide).value);
            assert!(scaled[0] <= one && one <= scaled[1], "v_rsq_f64({x:e}) = {:e}", rsq[lane]);
        }
    }
}
