use fastrand::Rng;
use rustc_apfloat::{
    Float, Round, StatusAnd,
    ieee::{Double, Half, Single},
};

use super::{DEFAULT_MODE, DST, Lab, bit_pattern};
use crate::wave::Mode;

const ROUNDINGS: [Round; 4] =
    [Round::NearestTiesToEven, Round::TowardPositive, Round::TowardNegative, Round::TowardZero];

/// What an oracle needs beyond [`Float`].
trait Format: Float {
    const NAME: &'static str;
    const WIDTH: u32;
    /// Bits of MODE: where rounding and denormal fields of this precision start.
    const ROUND_AT: u32;
    const DENORM_AT: u32;
}

impl Format for Half {
    const NAME: &'static str = "f16";
    const WIDTH: u32 = 16;
    const ROUND_AT: u32 = 2;
    const DENORM_AT: u32 = 6;
}

impl Format for Single {
    const NAME: &'static str = "f32";
    const WIDTH: u32 = 32;
    const ROUND_AT: u32 = 0;
    const DENORM_AT: u32 = 4;
}

impl Format for Double {
    const NAME: &'static str = "f64";
    const WIDTH: u32 = 64;
    const ROUND_AT: u32 = 2;
    const DENORM_AT: u32 = 6;
}

fn flush<F: Float>(x: F, flush: bool) -> F {
    if flush && x.is_denormal() { F::ZERO.copy_sign(x) } else { x }
}

/// The same bits, any NaN for any NaN.
fn same<F: Format>(got: u64, want: F) -> bool {
    let got = F::from_bits(u128::from(got));
    if want.is_nan() { got.is_nan() } else { got.to_bits() == want.to_bits() }
}

fn every_mode<F: Format>(name: &str, expected: impl Fn([F; 3], Round) -> StatusAnd<F>) {
    let name = format!("{name}_{}", F::NAME);
    let mut random = Rng::with_seed(17);
    let mut lab = Lab::new();
    for (field, round) in ROUNDINGS.into_iter().enumerate() {
        for denormals in 0..4u32 {
            let cleared = DEFAULT_MODE & !(3 << F::ROUND_AT | 3 << F::DENORM_AT);
            lab.wave.mode = Mode(cleared | (field as u32) << F::ROUND_AT | denormals << F::DENORM_AT);
            for _ in 0..24 {
                let sources = lab.randomise(&mut random, [F::WIDTH; 3]);
                lab.run(&name);
                for (lane, bits) in sources.into_iter().enumerate() {
                    let values = bits.map(|x| flush(F::from_bits(u128::from(x)), denormals & 1 == 0));
                    let want = flush(expected(values, round).value, denormals & 2 == 0);
                    let all = u64::MAX >> (64 - F::WIDTH);
                    let got = lab.get(DST, lane) & all;
                    assert!(
                        same(got, want),
                        "{name} of {bits:x?}, {round:?}, denormals {denormals}: {got:#x}, not {:#x}",
                        want.to_bits()
                    );
                }
            }
        }
    }
}

#[test]
fn addition_multiplication_and_fma_round_once_in_every_mode() {
    every_mode::<Single>("v_add", |[a, b, _], r| a.add_r(b, r));
    every_mode::<Single>("v_sub", |[a, b, _], r| a.sub_r(b, r));
    every_mode::<Single>("v_subrev", |[a, b, _], r| b.sub_r(a, r));
    every_mode::<Single>("v_mul", |[a, b, _], r| a.mul_r(b, r));
    every_mode::<Single>("v_fma", |[a, b, c], r| a.mul_add_r(b, c, r));
    every_mode::<Double>("v_add", |[a, b, _], r| a.add_r(b, r));
    every_mode::<Double>("v_mul", |[a, b, _], r| a.mul_r(b, r));
    every_mode::<Double>("v_fma", |[a, b, c], r| a.mul_add_r(b, c, r));
    every_mode::<Half>("v_add", |[a, b, _], r| a.add_r(b, r));
    every_mode::<Half>("v_sub", |[a, b, _], r| a.sub_r(b, r));
    every_mode::<Half>("v_mul", |[a, b, _], r| a.mul_r(b, r));
    every_mode::<Half>("v_fma", |[a, b, c], r| a.mul_add_r(b, c, r));
}

#[test]
fn half_fma_is_exact_near_ties_and_denormals() {
    // Products just beside half an ulp of the addend, where a second rounding would show.
    let mut random = Rng::with_seed(19);
    let mut lab = Lab::new();
    for _ in 0..2000 {
        let mut sources = Vec::new();
        for lane in 0..64 {
            let c = 0x0001 + random.usize(..0x7bff) as u64;
            let exponent = (c >> 10) as i32;
            let a = 0x3c00 | random.u64(..) & 0x3ff;
            let b = (((exponent - 12 + random.i32(0..4)).max(0) as u64) << 10 | random.u64(..) & 0x3ff)
                ^ (random.u64(..) & 1) << 15;
            for (n, value) in [a, b, c].into_iter().enumerate() {
                lab.set(2 * n, lane, value);
            }
            sources.push([a, b, c]);
        }
        lab.run("v_fma_f16");
        for (lane, v) in sources.into_iter().enumerate() {
            let [a, b, c] = v.map(|x| Half::from_bits(u128::from(x)));
            let want = a.mul_add_r(b, c, Round::NearestTiesToEven).value;
            assert!(same(lab.get(DST, lane) & 0xffff, want), "{v:x?}");
        }
    }
}

#[test]
fn unfused_multiply_add_rounds_twice_and_flushes() {
    let mut random = Rng::with_seed(23);
    let mut lab = Lab::new();
    for (field, round) in ROUNDINGS.into_iter().enumerate() {
        lab.wave.mode = Mode(DEFAULT_MODE | field as u32);
        for _ in 0..32 {
            let sources = lab.randomise(&mut random, [32; 3]);
            lab.run("v_mad_f32");
            for (lane, v) in sources.into_iter().enumerate() {
                let [a, b, c] = v.map(|x| flush(Single::from_bits(u128::from(x)), true));
                let product = flush(a.mul_r(b, round).value, true);
                let want = flush(product.add_r(c, round).value, true);
                assert!(same(lab.get(DST, lane) & 0xffff_ffff, want), "{v:x?} {round:?}");
            }
        }
    }
}

#[test]
fn minimum_and_maximum_order_zeros_and_skip_quiet_nans() {
    let (zero, minus, one) = (0u32, 0x8000_0000, 0x3f80_0000);
    let (quiet, signalling) = (0x7fc0_1234, 0x7f80_1234);
    let cases = [
        // sources, minimum, maximum in IEEE mode
        (zero, minus, minus, zero),
        (minus, zero, minus, zero),
        (quiet, one, one, one),
        (one, quiet, one, one),
        (one, signalling, 0x7fc0_1234, 0x7fc0_1234),
        (signalling, one, 0x7fc0_1234, 0x7fc0_1234),
        (one, minus, minus, one),
    ];
    let mut lab = Lab::new();
    for (a, b, min, max) in cases {
        lab.set(0, 0, a.into());
        lab.set(2, 0, b.into());
        lab.run("v_min_f32");
        assert_eq!(lab.wave.vgpr[DST].0[0], min, "min {a:x} {b:x}");
        lab.run("v_max_f32");
        assert_eq!(lab.wave.vgpr[DST].0[0], max, "max {a:x} {b:x}");
    }
    // Without IEEE mode a signalling NaN counts as any other.
    lab.wave.mode = Mode(DEFAULT_MODE & !0x200);
    lab.set(0, 0, signalling.into());
    lab.set(2, 0, one.into());
    lab.run("v_min_f32");
    assert_eq!(lab.wave.vgpr[DST].0[0], one);
}

#[test]
fn medians_of_numbers_are_the_middle_ones() {
    super::check("v_med3_f32", [32; 3], 32, |v| {
        let values = v.map(|x| f32::from_bits(x as u32));
        if values.iter().any(|x| x.is_nan()) {
            // The smallest number; a signalling NaN anywhere comes out quiet.
            return nan_median(v);
        }
        let mut sorted = values;
        sorted.sort_by(f32::total_cmp);
        let [_, middle, high] = sorted;
        // Of two zeros at the top the manual's formula leaves out the first operand, whatever its sign.
        let zeros = values.into_iter().filter(|&x| x == 0.0).skip(1).max_by(f32::total_cmp);
        let middle = zeros.filter(|_| high == 0.0).unwrap_or(middle);
        middle.to_bits().into()
    });
}

/// What min(min(a, b), c) gives when there is a NaN, spelled out.
fn nan_median(v: [u64; 3]) -> u64 {
    let signalling = |x: u64| f32::from_bits(x as u32).is_nan() && x & 0x40_0000 == 0;
    let pair = |a: u64, b: u64| {
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        match (signalling(a), signalling(b)) {
            (true, _) => a | 0x40_0000,
            (_, true) => b | 0x40_0000,
            _ if x.is_nan() => b,
            _ if y.is_nan() => a,
            _ => {
                if x.total_cmp(&y).is_lt() {
                    a
                } else {
                    b
                }
            }
        }
    };
    pair(pair(v[0], v[1]), v[2])
}

#[test]
fn ldexp_scales_with_one_rounding() {
    let mut random = Rng::with_seed(29);
    let mut lab = Lab::new();
    for (name, width) in [("v_ldexp_f32", 32), ("v_ldexp_f64", 64)] {
        for _ in 0..64 {
            let mut sources = Vec::new();
            for lane in 0..64 {
                let x = bit_pattern(&mut random, width);
                let n = if lane % 4 == 0 { random.i32(..) } else { random.i32(0..4400) - 2200 };
                lab.set(0, lane, x);
                lab.set(2, lane, n as u32 as u64);
                sources.push((x, n));
            }
            lab.run(name);
            for (lane, (x, n)) in sources.into_iter().enumerate() {
                let got = lab.get(DST, lane);
                if width == 32 {
                    let want = Single::from_bits(x.into()).scalbn_r(n, Round::NearestTiesToEven);
                    assert!(same(got & 0xffff_ffff, want), "{x:x} * 2^{n}");
                } else {
                    let want = Double::from_bits(x.into()).scalbn_r(n, Round::NearestTiesToEven);
                    assert!(same(got, want), "{x:x} * 2^{n}");
                }
            }
        }
    }
}

#[test]
fn fraction_and_mantissa_take_a_number_apart() {
    let f = |x: u64| f64::from_bits(x);
    super::check("v_floor_f64", [64; 3], 64, |[a, ..]| quiet64(a, f(a).floor()));
    super::check("v_rndne_f64", [64; 3], 64, |[a, ..]| quiet64(a, f(a).round_ties_even()));
    let mut random = Rng::with_seed(31);
    let mut lab = Lab::new();
    for _ in 0..32 {
        let sources = lab.randomise(&mut random, [64; 3]);
        lab.run("v_frexp_mant_f64");
        let mantissas: Vec<f64> = (0..64).map(|lane| f(lab.get(DST, lane))).collect();
        lab.run("v_frexp_exp_i32_f64");
        for (lane, v) in sources.into_iter().enumerate() {
            let (x, mantissa, exponent) = (f(v[0]), mantissas[lane], lab.wave.vgpr[DST].0[lane] as i32);
            if !x.is_finite() || x == 0.0 {
                assert_eq!(exponent, 0);
                assert!(mantissa == x || x.is_nan() && mantissa.is_nan());
                continue;
            }
            assert!((0.5..1.0).contains(&mantissa.abs()), "{x:e}: {mantissa}");
            let back =
                Double::from_bits(mantissa.to_bits().into()).scalbn_r(exponent, Round::NearestTiesToEven);
            assert_eq!(back.to_bits() as u64, x.to_bits());
        }
        lab.run("v_fract_f64");
        for lane in 0..64 {
            let got = f(lab.get(DST, lane));
            assert!(got.is_nan() || (0.0..1.0).contains(&got), "{got}");
        }
    }
}

/// `y`, or the quieted source where it is a NaN.
fn quiet64(source: u64, y: f64) -> u64 {
    if y.is_nan() { source | 1 << 51 } else { y.to_bits() }
}
