use super::{DST, Lab, Random};

/// Distance of `got` from the exact `want` in units of the last place of `want` in single precision.
fn ulps(got: f32, want: f64) -> f64 {
    let exponent = (want.abs().to_bits() >> 52) as i32 - 1023;
    (f64::from(got) - want).abs() / 2f64.powi(exponent.max(-126) - 23)
}

/// Runs `name` on singles that `source` makes and checks them against `exact` in double precision.
fn within(name: &str, source: impl Fn(&mut Random) -> f32, exact: impl Fn(f64) -> f64, bound: f64) {
    let mut random = Random(47);
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

fn normal(random: &mut Random) -> f32 {
    let x = f32::from_bits(random.next() as u32);
    if x.is_normal() { x } else { 1.5 }
}

#[test]
fn single_precision_functions_stay_within_their_bound() {
    let between = |low: f32, high: f32| {
        move |random: &mut Random| low + (high - low) * ((random.next() >> 40) as f32 / (1 << 24) as f32)
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
    let mut random = Random(53);
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
