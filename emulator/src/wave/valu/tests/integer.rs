use fastrand::Rng;

use super::{CARRY, Fields, Lab, SDST, check};

const W: [u32; 3] = [32; 3];

/// Sign-extends `bits` bits.
fn s(x: u64, bits: u32) -> i128 {
    i128::from(((x << (64 - bits)) as i64) >> (64 - bits))
}

/// The low `bits` bits.
fn u(x: u64, bits: u32) -> i128 {
    i128::from(x) & ((1 << bits) - 1)
}

#[test]
fn sums_and_products_are_exact_modulo_their_width() {
    let check32 = |name: &str, f: fn(i128, i128, i128) -> i128| {
        check(name, W, 32, |[a, b, c]| f(u(a, 32), u(b, 32), u(c, 32)) as u64);
    };
    check32("v_add_u32", |a, b, _| a + b);
    check32("v_sub_u32", |a, b, _| a - b);
    check32("v_subrev_u32", |a, b, _| b - a);
    check32("v_add_i32", |a, b, _| a + b);
    check32("v_sub_i32", |a, b, _| a - b);
    check32("v_add3_u32", |a, b, c| a + b + c);
    check32("v_lshl_add_u32", |a, b, c| (a << (b % 32)) + c);
    check32("v_add_lshl_u32", |a, b, c| (a + b) << (c % 32));
    check32("v_xad_u32", |a, b, c| (a ^ b) + c);
    check32("v_mul_lo_u32", |a, b, _| (a * b) & 0xffff_ffff);
    check32("v_mul_hi_u32", |a, b, _| a * b / (1 << 32));
    check("v_mul_hi_i32", W, 32, |[a, b, _]| (s(a, 32) * s(b, 32)).div_euclid(1 << 32) as u64);
    check("v_mul_u32_u24", W, 32, |[a, b, _]| (u(a, 24) * u(b, 24)) as u64);
    check("v_mul_hi_u32_u24", W, 32, |[a, b, _]| (u(a, 24) * u(b, 24) / (1 << 32)) as u64);
    check("v_mul_i32_i24", W, 32, |[a, b, _]| (s(a, 24) * s(b, 24)) as u64);
    check("v_mul_hi_i32_i24", W, 32, |[a, b, _]| (s(a, 24) * s(b, 24)).div_euclid(1 << 32) as u64);
    check("v_mad_u32_u24", W, 32, |[a, b, c]| (u(a, 24) * u(b, 24) + u(c, 32)) as u64);
    check("v_mad_i32_i24", W, 32, |[a, b, c]| (s(a, 24) * s(b, 24) + s(c, 32)) as u64);
    check("v_mad_u32_u16", W, 32, |[a, b, c]| (u(a, 16) * u(b, 16) + u(c, 32)) as u64);
    check("v_mad_i32_i16", W, 32, |[a, b, c]| (s(a, 16) * s(b, 16) + s(c, 32)) as u64);
    check("v_lshl_add_u64", [64, 32, 64], 64, |[a, b, c]| ((u(a, 64) << (b % 8)) + u(c, 64)) as u64);
}

#[test]
fn sixteen_bit_results_clear_the_high_half() {
    let check16 = |name: &str, f: fn(i128, i128, i128) -> i128| {
        check(name, W, 32, |[a, b, c]| (f(u(a, 16), u(b, 16), u(c, 16)) as u64) & 0xffff);
    };
    check16("v_add_u16", |a, b, _| a + b);
    check16("v_sub_u16", |a, b, _| a - b);
    check16("v_subrev_u16", |a, b, _| b - a);
    check16("v_mul_lo_u16", |a, b, _| a * b);
    check16("v_mad_u16", |a, b, c| a * b + c);
    check16("v_max_u16", |a, b, _| a.max(b));
    check16("v_min3_u16", |a, b, c| a.min(b).min(c));
    check("v_min_i16", W, 32, |[a, b, _]| s(a, 16).min(s(b, 16)) as u64 & 0xffff);
    check("v_max3_i16", W, 32, |[a, b, c]| s(a, 16).max(s(b, 16)).max(s(c, 16)) as u64 & 0xffff);
    check("v_med3_i16", W, 32, |[a, b, c]| middle([s(a, 16), s(b, 16), s(c, 16)]) as u64 & 0xffff);
}

fn middle(mut values: [i128; 3]) -> i128 {
    values.sort_unstable();
    values[1]
}

#[test]
fn minimum_median_and_maximum_follow_the_sign_of_their_type() {
    check("v_min_i32", W, 32, |[a, b, _]| s(a, 32).min(s(b, 32)) as u64);
    check("v_max_i32", W, 32, |[a, b, _]| s(a, 32).max(s(b, 32)) as u64);
    check("v_min_u32", W, 32, |[a, b, _]| u(a, 32).min(u(b, 32)) as u64);
    check("v_max_u32", W, 32, |[a, b, _]| u(a, 32).max(u(b, 32)) as u64);
    check("v_med3_i32", W, 32, |v| middle(v.map(|x| s(x, 32))) as u64);
    check("v_med3_u32", W, 32, |v| middle(v.map(|x| u(x, 32))) as u64);
    check("v_min3_i32", W, 32, |v| v.map(|x| s(x, 32)).into_iter().min().unwrap() as u64);
    check("v_max3_u32", W, 32, |v| v.map(|x| u(x, 32)).into_iter().max().unwrap() as u64);
}

#[test]
fn clamp_saturates_integers() {
    let saturating = |name: &str, f: &dyn Fn([u64; 3]) -> i128, low: i128, high: i128| {
        let mut random = Rng::with_seed(3);
        let mut lab = Lab::new();
        for _ in 0..8 {
            let sources = lab.randomise(&mut random, W);
            lab.run_with(name, Fields { clamp: true, ..Fields::default() });
            for (lane, v) in sources.into_iter().enumerate() {
                let want = f(v).clamp(low, high) as u32;
                assert_eq!(lab.wave.vgpr[super::DST].0[lane], want, "{name} of {v:x?}");
            }
        }
    };
    let (min, max, all) = (i32::MIN.into(), i32::MAX.into(), u32::MAX.into());
    saturating("v_add_u32", &|[a, b, _]| u(a, 32) + u(b, 32), 0, all);
    saturating("v_sub_u32", &|[a, b, _]| u(a, 32) - u(b, 32), 0, all);
    saturating("v_add_i32", &|[a, b, _]| s(a, 32) + s(b, 32), min, max);
    saturating("v_sub_i32", &|[a, b, _]| s(a, 32) - s(b, 32), min, max);
    saturating("v_mad_u32_u24", &|[a, b, c]| u(a, 24) * u(b, 24) + u(c, 32), 0, all);
    saturating("v_mad_i32_i24", &|[a, b, c]| s(a, 24) * s(b, 24) + s(c, 32), min, max);
    saturating("v_add_u16", &|[a, b, _]| u(a, 16) + u(b, 16), 0, 0xffff);
    saturating("v_mad_u16", &|[a, b, c]| u(a, 16) * u(b, 16) + u(c, 16), 0, 0xffff);
}

#[test]
fn carries_go_in_and_out_of_live_lanes() {
    type Sum = fn(i128, i128, i128) -> i128;
    let forms: [(&str, Sum); 6] = [
        ("v_add_co_u32", |a, b, _| a + b),
        ("v_sub_co_u32", |a, b, _| a - b),
        ("v_subrev_co_u32", |a, b, _| b - a),
        ("v_addc_co_u32", |a, b, c| a + b + c),
        ("v_subb_co_u32", |a, b, c| a - b - c),
        ("v_subbrev_co_u32", |a, b, c| b - a - c),
    ];
    let mut random = Rng::with_seed(11);
    for (name, f) in forms {
        let mut lab = Lab::new();
        for _ in 0..16 {
            let lanes = super::random_lanes(&mut random);
            lab.set_lanes(lanes);
            let sources = lab.randomise(&mut random, W);
            let (carry, exec) = (random.u64(..), lab.wave.exec & (random.u64(..) | random.u64(..)));
            lab.set_mask(CARRY, carry);
            lab.wave.exec = exec;
            let before = lab.wave.vgpr[super::DST];
            lab.run(name);
            for (lane, [a, b, _]) in sources.into_iter().enumerate().take(lanes as usize) {
                let exact = f(u(a, 32), u(b, 32), i128::from(carry >> lane & 1));
                let live = exec >> lane & 1 != 0;
                let want = if live { exact as u32 } else { before.0[lane] };
                assert_eq!(lab.wave.vgpr[super::DST].0[lane], want, "{name} {a:x} {b:x}");
                let flag = live && !(0..1 << 32).contains(&exact);
                assert_eq!(lab.mask(SDST) >> lane & 1 != 0, flag, "{name} {a:x} {b:x}");
            }
        }
    }
}

#[test]
fn wide_multiply_adds_give_64_bits_and_the_65th() {
    let mut random = Rng::with_seed(13);
    let mut lab = Lab::new();
    for _ in 0..16 {
        let sources = lab.randomise(&mut random, [32, 32, 64]);
        for signed in [false, true] {
            lab.run(if signed { "v_mad_i64_i32" } else { "v_mad_u64_u32" });
            for (lane, &[a, b, c]) in sources.iter().enumerate() {
                let exact =
                    if signed { s(a, 32) * s(b, 32) + s(c, 64) } else { u(a, 32) * u(b, 32) + u(c, 64) };
                assert_eq!(lab.get(super::DST, lane), exact as u64);
                assert_eq!(lab.mask(SDST) >> lane & 1, (exact >> 64 & 1) as u64, "{a:x} {b:x} {c:x}");
            }
        }
    }
}
