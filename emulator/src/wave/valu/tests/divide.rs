use fastrand::Rng;

use super::{DST, Lab, SDST, bit_pattern};

/// A number whose quotients reach every branch of v_div_scale.
fn operand(random: &mut Rng, wide: bool) -> u64 {
    bit_pattern(random, if wide { 64 } else { 32 })
}

/// The instruction sequence to which LLVM lowers `a / b`: scale both, refine 1/b, multiply, correct, fix up.
///
/// Registers (pairs): v20 a, v22 b, v24 scaled b, v26 scaled a, v28 and up steps.
fn divide(lab: &mut Lab, wide: bool) {
    let suffix = if wide { "f64" } else { "f32" };
    let one = if wide { 1f64.to_bits() } else { 1f32.to_bits().into() };
    let step = |lab: &mut Lab, name: &str, sources: &[usize], to: usize, negate: usize| {
        for (n, &register) in sources.iter().enumerate() {
            for lane in 0..64 {
                lab.set(2 * n, lane, lab.get(register, lane));
            }
        }
        lab.run_with(
            &format!("{name}_{suffix}"),
            super::Fields { neg: negate as u32, ..super::Fields::default() },
        );
        for lane in 0..64 {
            lab.set(to, lane, lab.get(DST, lane));
        }
    };
    for lane in 0..64 {
        lab.set(18, lane, one);
    }
    step(lab, "v_div_scale", &[22, 22, 20], 24, 0);
    step(lab, "v_div_scale", &[20, 22, 20], 26, 0);
    let scaled = lab.mask(SDST);
    step(lab, "v_rcp", &[24], 28, 0);
    // r = r * (2 - b * r), twice for doubles.
    step(lab, "v_fma", &[24, 28, 18], 30, 1);
    step(lab, "v_fma", &[30, 28, 28], 28, 0);
    if wide {
        step(lab, "v_fma", &[24, 28, 18], 30, 1);
        step(lab, "v_fma", &[28, 30, 28], 28, 0);
    }
    step(lab, "v_mul", &[26, 28], 32, 0);
    step(lab, "v_fma", &[24, 32, 26], 34, 1);
    if !wide {
        step(lab, "v_fma", &[34, 28, 32], 32, 0);
        step(lab, "v_fma", &[24, 32, 26], 34, 1);
    }
    lab.set_mask(106, scaled);
    step(lab, "v_div_fmas", &[34, 28, 32], 36, 0);
    step(lab, "v_div_fixup", &[36, 22, 20], 38, 0);
}

#[test]
fn the_compilers_division_is_correctly_rounded_everywhere() {
    let mut random = Rng::with_seed(43);
    let mut lab = Lab::new();
    for round in 0..600 {
        let wide = round % 2 == 1;
        let mut sources = Vec::new();
        for lane in 0..64 {
            let (mut a, mut b) = (operand(&mut random, wide), operand(&mut random, wide));
            if lane % 8 == 0 {
                // Quotients around the smallest normal number, and around overflow.
                let field = if wide { 52 } else { 23 };
                let exponent = |x: u64, e: u64| x & ((1 << field) - 1) | e << field;
                let (low, high) = if wide { (900, 2046) } else { (100, 254) };
                (a, b) = (exponent(a, random.u64(..low)), exponent(b, high - random.u64(..low)));
                if lane % 16 == 0 {
                    (a, b) = (b, a);
                }
            }
            lab.set(20, lane, a);
            lab.set(22, lane, b);
            sources.push((a, b));
        }
        divide(&mut lab, wide);
        for (lane, (a, b)) in sources.into_iter().enumerate() {
            let got = lab.get(38, lane);
            if wide {
                let want = f64::from_bits(a) / f64::from_bits(b);
                let got = f64::from_bits(got);
                assert!(
                    want.is_nan() && got.is_nan() || want.to_bits() == got.to_bits(),
                    "{a:x}/{b:x}: {got:e} {want:e}"
                );
            } else {
                let want = f32::from_bits(a as u32) / f32::from_bits(b as u32);
                let got = f32::from_bits(got as u32);
                assert!(
                    want.is_nan() && got.is_nan() || want.to_bits() == got.to_bits(),
                    "{a:x}/{b:x}: {got:e} {want:e}"
                );
            }
        }
    }
}
