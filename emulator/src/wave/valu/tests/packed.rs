use fastrand::Rng;
use rustc_apfloat::{Float, Round, ieee::Half};

use super::{DST, Fields, Lab, bit_pattern};

const DEFAULT: Fields = Fields { neg: 0, abs: 0, clamp: false, omod: 0, op_sel: 0, op_sel_hi: 7 };

fn bit(field: u32, n: usize) -> bool {
    field >> n & 1 != 0
}

/// Half `high` of source `n` as the fields select it.
fn selected(fields: Fields, n: usize, word: u64, high: bool) -> u64 {
    let select = if high { fields.op_sel_hi } else { fields.op_sel };
    word >> if bit(select, n) { 16 } else { 0 } & 0xffff
}

/// Modifiers of the sources that `name` has.
fn random_fields(random: &mut Rng, name: &str, signs: bool) -> Fields {
    let sources = super::row(name).shape.sources();
    let bits = |random: &mut Rng| random.usize(..1 << sources) as u32;
    let (op_sel, op_sel_hi) = (bits(random), bits(random) | 7 & 7 << sources);
    let (neg, abs) = if signs { (bits(random), bits(random)) } else { (0, 0) };
    Fields { neg, abs, op_sel, op_sel_hi, ..DEFAULT }
}

#[test]
fn packed_integers_work_on_selected_halves() {
    type Half16 = fn(i32, i32, i32) -> i32;
    let s = |x: i32| i32::from(x as i16);
    let forms: [(&str, Half16); 8] = [
        ("v_pk_add_u16", |a, b, _| a + b),
        ("v_pk_sub_i16", |a, b, _| a - b),
        ("v_pk_mul_lo_u16", |a, b, _| a.wrapping_mul(b)),
        ("v_pk_mad_u16", |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("v_pk_lshlrev_b16", |a, b, _| b << (a % 16)),
        ("v_pk_lshrrev_b16", |a, b, _| b >> (a % 16)),
        ("v_pk_max_u16", |a, b, _| a.max(b)),
        ("v_pk_min_i16", |a, b, _| i32::from(a as i16).min(i32::from(b as i16))),
    ];
    assert_eq!(s(0xffff), -1);
    let mut random = Rng::with_seed(71);
    let mut lab = Lab::new();
    for (name, f) in forms {
        for _ in 0..16 {
            let fields = random_fields(&mut random, name, false);
            let sources = lab.randomise(&mut random, [32; 3]);
            lab.run_with(name, fields);
            for (lane, v) in sources.into_iter().enumerate() {
                let half = |high| {
                    let x = |n: usize| selected(fields, n, v[n], high) as i32;
                    f(x(0), x(1), x(2)) as u16 as u32
                };
                assert_eq!(lab.wave.vgpr[DST].0[lane], half(false) | half(true) << 16, "{name} {v:x?}");
            }
        }
    }
}

#[test]
fn packed_halves_round_once() {
    let mut random = Rng::with_seed(73);
    let mut lab = Lab::new();
    for name in ["v_pk_add_f16", "v_pk_mul_f16", "v_pk_fma_f16"] {
        for _ in 0..32 {
            let fields = random_fields(&mut random, name, true);
            let mut sources = Vec::new();
            for lane in 0..64 {
                let v: [u64; 3] = std::array::from_fn(|_| {
                    bit_pattern(&mut random, 16) | bit_pattern(&mut random, 16) << 16
                });
                for (n, x) in v.into_iter().enumerate() {
                    lab.set(2 * n, lane, x);
                }
                sources.push(v);
            }
            lab.run_with(name, fields);
            for (lane, v) in sources.into_iter().enumerate() {
                for high in [false, true] {
                    let x = |n: usize| {
                        let x = Half::from_bits(selected(fields, n, v[n], high).into());
                        if bit(if high { fields.abs } else { fields.neg }, n) { -x } else { x }
                    };
                    let round = Round::NearestTiesToEven;
                    let want = match name {
                        "v_pk_add_f16" => x(0).add_r(x(1), round),
                        "v_pk_mul_f16" => x(0).mul_r(x(1), round),
                        _ => x(0).mul_add_r(x(1), x(2), round),
                    };
                    let got = lab.wave.vgpr[DST].0[lane] >> if high { 16 } else { 0 } & 0xffff;
                    let got = Half::from_bits(got.into());
                    let equal = want.value.to_bits() == got.to_bits() || want.value.is_nan() && got.is_nan();
                    assert!(equal, "{name} {v:x?} {high}");
                }
            }
        }
    }
}

#[test]
fn packed_singles_select_words_of_pairs() {
    let mut random = Rng::with_seed(79);
    let mut lab = Lab::new();
    for name in ["v_pk_fma_f32", "v_pk_mul_f32", "v_pk_add_f32"] {
        for _ in 0..16 {
            let fields = random_fields(&mut random, name, true);
            let sources = lab.randomise(&mut random, [64; 3]);
            lab.run_with(name, fields);
            for (lane, v) in sources.into_iter().enumerate() {
                for high in [false, true] {
                    let x = |n: usize| {
                        let select = if high { fields.op_sel_hi } else { fields.op_sel };
                        let x = f32::from_bits((v[n] >> if bit(select, n) { 32 } else { 0 }) as u32);
                        if bit(if high { fields.abs } else { fields.neg }, n) { -x } else { x }
                    };
                    let want = match name {
                        "v_pk_fma_f32" => x(0).mul_add(x(1), x(2)),
                        "v_pk_mul_f32" => x(0) * x(1),
                        _ => x(0) + x(1),
                    };
                    let got = f32::from_bits(lab.wave.vgpr[DST + usize::from(high)].0[lane]);
                    assert!(
                        got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                        "{name} {v:x?}"
                    );
                }
            }
        }
    }
    lab.set(0, 3, 0x1111_1111_2222_2222);
    lab.set(2, 3, 0x3333_3333_4444_4444);
    lab.run_with("v_pk_mov_b32", Fields { op_sel: 0b01, ..DEFAULT });
    assert_eq!(lab.get(DST, 3), 0x4444_4444_1111_1111);
    lab.run_with("v_pk_mov_b32", Fields { op_sel: 0b10, ..DEFAULT });
    assert_eq!(lab.get(DST, 3), 0x3333_3333_2222_2222);
}

#[test]
fn mixed_multiply_add_reads_halves_and_singles() {
    let mut lab = Lab::new();
    // Source 0: the high half -1.5, absolute; source 1: the single 3; source 2: the low half 0.25, negated.
    lab.wave.vgpr[0].0[0] = 0xbe00_3c00;
    lab.wave.vgpr[2].0[0] = 3f32.to_bits();
    lab.wave.vgpr[4].0[0] = 0x7777_3400;
    lab.wave.vgpr[DST].0[0] = 0xaaaa_bbbb;
    let fields = Fields { neg: 0b100, abs: 0b001, op_sel: 0b001, op_sel_hi: 0b101, ..DEFAULT };
    lab.run_with("v_fma_mix_f32", fields);
    assert_eq!(f32::from_bits(lab.wave.vgpr[DST].0[0]), 4.25);
    lab.wave.vgpr[DST].0[0] = 0xaaaa_bbbb;
    lab.run_with("v_fma_mixhi_f16", fields);
    assert_eq!(lab.wave.vgpr[DST].0[0], 0x4440_bbbb);
    lab.wave.vgpr[DST].0[0] = 0xaaaa_bbbb;
    lab.run_with("v_fma_mixlo_f16", fields);
    assert_eq!(lab.wave.vgpr[DST].0[0], 0xaaaa_4440);
}

#[test]
fn dot_products_accumulate_exactly_and_saturate() {
    let mut random = Rng::with_seed(83);
    let mut lab = Lab::new();
    for (name, count, bits, signed) in [
        ("v_dot2_i32_i16", 2, 16, true),
        ("v_dot2_u32_u16", 2, 16, false),
        ("v_dot4_i32_i8", 4, 8, true),
        ("v_dot4_u32_u8", 4, 8, false),
        ("v_dot8_i32_i4", 8, 4, true),
        ("v_dot8_u32_u4", 8, 4, false),
    ] {
        for clamp in [false, true] {
            let sources = lab.randomise(&mut random, [32; 3]);
            lab.run_with(name, Fields { clamp, ..DEFAULT });
            for (lane, v) in sources.into_iter().enumerate() {
                let element = |word: u64, n: u32| {
                    let x = (word >> (n * bits) & ((1 << bits) - 1)) as i128;
                    if signed && x >> (bits - 1) != 0 { x - (1 << bits) } else { x }
                };
                let addend = if signed { i128::from(v[2] as u32 as i32) } else { i128::from(v[2]) };
                let sum = addend + (0..count).map(|n| element(v[0], n) * element(v[1], n)).sum::<i128>();
                let (low, high) =
                    if signed { (i32::MIN.into(), i32::MAX.into()) } else { (0, i128::from(u32::MAX)) };
                let want = if clamp { sum.clamp(low, high) } else { sum } as u32;
                assert_eq!(lab.wave.vgpr[DST].0[lane], want, "{name} {v:x?}");
            }
        }
    }
}
