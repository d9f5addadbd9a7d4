use fastrand::Rng;

use super::{DEFAULT_MODE, Lab, SDST, random_lanes};
use crate::wave::Mode;
use std::cmp::Ordering::{self, Equal, Greater, Less};

/// Whether the predicate that `name` spells holds for an ordering (`None`: unordered).
fn holds(predicate: &str, order: Option<Ordering>) -> bool {
    match predicate {
        "f" => false,
        "lt" => order == Some(Less),
        "eq" => order == Some(Equal),
        "le" => matches!(order, Some(Less | Equal)),
        "gt" => order == Some(Greater),
        "lg" | "ne" => matches!(order, Some(Less | Greater)),
        "ge" => matches!(order, Some(Greater | Equal)),
        "o" => order.is_some(),
        "u" => order.is_none(),
        "nge" => !holds("ge", order),
        "nlg" => !holds("lg", order),
        "ngt" => !holds("gt", order),
        "nle" => !holds("le", order),
        "neq" => !holds("eq", order),
        "nlt" => !holds("lt", order),
        "tru" | "t" => true,
        _ => unreachable!("{predicate}"),
    }
}

/// A half as a number: sign, exponent and fraction spelled out.
fn half(x: u64) -> f64 {
    let (field, fraction) = ((x >> 10 & 31) as i32, (x & 0x3ff) as f64);
    let magnitude = match field {
        0 => fraction * 2f64.powi(-24),
        31 if fraction != 0.0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1024.0 + fraction) * 2f64.powi(field - 25),
    };
    if x & 0x8000 != 0 { -magnitude } else { magnitude }
}

fn order(ty: &str, a: u64, b: u64) -> Option<Ordering> {
    match ty {
        "f16" => half(a).partial_cmp(&half(b)),
        "f32" => f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)),
        "f64" => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        "i16" => (a as i16).partial_cmp(&(b as i16)),
        "u16" => (a as u16).partial_cmp(&(b as u16)),
        "i32" => (a as i32).partial_cmp(&(b as i32)),
        "u32" => (a as u32).partial_cmp(&(b as u32)),
        "i64" => (a as i64).partial_cmp(&(b as i64)),
        _ => a.partial_cmp(&b),
    }
}

#[test]
fn every_predicate_of_every_type_gives_one_bit_per_live_lane() {
    let floats =
        ["f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru"];
    let integers = ["f", "lt", "eq", "le", "gt", "ne", "ge", "t"];
    let mut random = Rng::with_seed(59);
    let mut lab = Lab::new();
    for ty in ["f16", "f32", "f64", "i16", "u16", "i32", "u32", "i64", "u64"] {
        let width = ty[1..].parse().unwrap();
        for predicate in if ty.starts_with('f') { &floats[..] } else { &integers[..] } {
            for prefix in ["v_cmp", "v_cmpx"] {
                let lanes = random_lanes(&mut random);
                lab.set_lanes(lanes);
                let sources = lab.randomise(&mut random, [width; 3]);
                for lane in (0..64).step_by(5) {
                    lab.set(2, lane, sources[lane][0]);
                }
                let exec = (random.u64(..) | random.u64(..)) & lab.wave.exec;
                lab.wave.exec = exec;
                lab.run(&format!("{prefix}_{predicate}_{ty}"));
                for (lane, v) in sources.into_iter().enumerate().take(lanes as usize) {
                    let b = if lane % 5 == 0 { v[0] } else { v[1] };
                    let want = holds(predicate, order(ty, v[0], b)) && exec >> lane & 1 != 0;
                    let got = lab.mask(SDST) >> lane & 1 != 0;
                    assert_eq!(got, want, "{prefix}_{predicate}_{ty} of {:x} and {b:x}", v[0]);
                }
                let flags = lab.mask(SDST) & u64::MAX >> (64 - lanes);
                let live = if prefix == "v_cmpx" { flags } else { exec };
                assert_eq!(lab.wave.exec, live);
            }
        }
    }
}

#[test]
fn flushed_denormals_compare_as_zeros_but_keep_their_class() {
    let mut lab = Lab::new();
    lab.wave.mode = Mode(DEFAULT_MODE & !0x30);
    lab.set(0, 0, 1);
    lab.set(2, 0, 0x8000_0001);
    lab.run("v_cmp_eq_f32");
    assert_eq!(lab.mask(SDST) & 1, 1);
    lab.set(2, 0, 1 << 7);
    lab.run("v_cmp_class_f32");
    assert_eq!(lab.mask(SDST) & 1, 1);
}

#[test]
fn classes_are_the_ten_of_the_manual() {
    let classes: [u32; 10] = [
        0x7f80_0001,
        0x7fc0_0000,
        0xff80_0000,
        0xbf80_0000,
        0x8000_0001,
        0x8000_0000,
        0,
        1,
        0x3f80_0000,
        0x7f80_0000,
    ];
    let mut lab = Lab::new();
    for (class, x) in classes.into_iter().enumerate() {
        for bit in 0..10 {
            lab.set(0, bit, x.into());
            lab.set(2, bit, 1 << bit);
        }
        lab.run("v_cmp_class_f32");
        assert_eq!(lab.mask(SDST) & 0x3ff, 1 << class, "{x:x}");
        for bit in 0..10 {
            let wide = match class {
                4 => 1 | 1 << 63,
                7 => 1,
                0 => 0x7ff0_0000_0000_0001,
                _ => f64::from(f32::from_bits(x)).to_bits(),
            };
            lab.set(0, bit, wide);
        }
        lab.run("v_cmp_class_f64");
        assert_eq!(lab.mask(SDST) & 0x3ff, 1 << class, "{x:x} as f64");
    }
}
