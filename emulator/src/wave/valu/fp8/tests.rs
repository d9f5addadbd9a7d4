//! RDNA 4's small floats: which byte is meant, and what it stands for by the formats' definitions (OFP8 1.0).

use std::sync::Arc;

use fastrand::Rng;

use crate::{
    coverage,
    isa::{Family, Flow, Target, decode, table},
    wave::{Apertures, Deaf, Mode, Surroundings, Wave, semantics},
};

const TARGET: Target = Target::Gfx1200;
/// FP16_OVFL.
const SATURATES: u32 = 1 << 23;

/// A format: bits of the fraction, and the exponent's bias. Fp8 has no infinities, and two NaNs.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Format {
    fraction: u32,
    bias: i32,
}

const FP8: Format = Format { fraction: 3, bias: 7 };
const BF8: Format = Format { fraction: 2, bias: 15 };

impl Format {
    fn value(self, code: u32) -> f64 {
        let (exponent, fraction) = ((code & 0x7f) >> self.fraction, code & ((1 << self.fraction) - 1));
        let unit = f64::from(fraction) / f64::from(1 << self.fraction);
        let value = match exponent {
            15 if self == FP8 && fraction == 7 => f64::NAN,
            31 => [f64::INFINITY, f64::NAN][usize::from(fraction != 0)],
            0 => unit * 2f64.powi(1 - self.bias),
            _ => (1.0 + unit) * 2f64.powi(exponent as i32 - self.bias),
        };
        if code & 0x80 != 0 { -value } else { value }
    }

    /// The code of the largest number.
    fn largest(self) -> u32 {
        if self == FP8 { 0x7e } else { 0x7b }
    }

    /// The nearest code, the even one of two.
    fn nearest(self, x: f32, saturates: bool) -> u32 {
        let (sign, x) = (if x.is_sign_negative() { 0x80 } else { 0 }, f64::from(x.abs()));
        let beyond = if self == FP8 { 0x7f } else { 0x7c };
        if x.is_nan() {
            return sign | 0x7f;
        }
        let distance = |code: u32| (self.value(code) - x).abs();
        let best = (0..=self.largest())
            .min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then((a & 1).cmp(&(b & 1))));
        let best = best.unwrap();
        // Beyond half of the way to what would be the next number, whose code is even in bf8.
        let step = self.value(self.largest()) - self.value(self.largest() - 1);
        let half = self.value(self.largest()) + step / 2.0;
        let is_beyond = if self == BF8 { x >= half } else { x > half };
        let largest = if saturates && !(x.is_infinite() && self == BF8) { self.largest() } else { beyond };
        sign | if is_beyond { largest } else { best }
    }
}

fn wave() -> Wave {
    let surroundings =
        Surroundings { map: Arc::default(), apertures: Apertures::default(), host: Arc::new(Deaf) };
    let mut wave = Wave::new(TARGET, surroundings);
    wave.exec = u64::MAX;
    wave.mode = Mode(0x3f0);
    wave
}

fn execute(wave: &mut Wave, words: &[u32]) {
    let inst = decode(TARGET, words).unwrap();
    coverage::executed(wave.target, inst.row);
    assert_eq!(semantics(inst.row).unwrap()(wave, &inst), Flow::Next, "{inst:?}");
}

/// The opcode in the 64-bit encodings.
fn opcode(family: Family, name: &str) -> u32 {
    let (_, rows) = table::rdna::TABLES[family as usize];
    let row = rows.iter().find(|row| row.name == name && row.targets.has(TARGET)).unwrap();
    u32::from(row.opcode_on(TARGET)) + if family == Family::Vop1 { 0x180 } else { 0 }
}

fn vop3(name: &str, family: Family, op_sel: u32) -> [u32; 2] {
    // v8 of v0 and v1.
    let second = if family == Family::Vop3 { 257 << 9 } else { 0 };
    [0xd400_0000 | opcode(family, name) << 16 | op_sel << 11 | 8, 256 | second]
}

#[test]
fn op_sel_names_the_byte_with_its_bits_in_reverse() {
    for (name, format) in [("v_cvt_f32_fp8", FP8), ("v_cvt_f32_bf8", BF8)] {
        for (op_sel, byte) in [(0, 0), (2, 1), (1, 2), (3, 3)] {
            for first in (0..256).step_by(64) {
                let mut wave = wave();
                for lane in 0..64 {
                    wave.vgpr[0].0[lane] =
                        (first + lane as u32) << (8 * byte) | (0x5a5a_5a5a & !(0xff << (8 * byte)));
                }
                execute(&mut wave, &vop3(name, Family::Vop1, op_sel));
                for lane in 0..64 {
                    let (got, want) =
                        (f32::from_bits(wave.vgpr[8].0[lane]), format.value(first + lane as u32) as f32);
                    let is_same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                    assert!(is_same, "{name} {op_sel} {:#x}: {got}, not {want}", first + lane as u32);
                }
            }
        }
    }
}

#[test]
fn pairs_come_from_a_half() {
    let mut random = Rng::with_seed(3);
    for (name, format, short) in [("v_cvt_pk_f32_fp8", FP8, 0x6eu32), ("v_cvt_pk_f32_bf8", BF8, 0x6f)] {
        for half in 0..2 {
            // Also in the short encoding, where the register's highest bit says it.
            let short = [0x7e10_0100 | short << 9 | half << 7];
            for words in [&vop3(name, Family::Vop1, half)[..], &short] {
                let mut wave = wave();
                wave.vgpr[0].0.fill_with(|| random.u32(..));
                let sources = wave.vgpr[0].0;
                execute(&mut wave, words);
                for (lane, source) in sources.into_iter().enumerate() {
                    for n in 0..2 {
                        let code = source >> (16 * half + 8 * n) & 0xff;
                        let (got, want) = (wave.vgpr[8 + n as usize].0[lane], format.value(code) as f32);
                        let is_same = got == want.to_bits() || f32::from_bits(got).is_nan() && want.is_nan();
                        assert!(is_same, "{name} {half} {code:#x}");
                    }
                }
            }
        }
    }
}

/// A single that is near the range of small floats, or any.
fn single(random: &mut Rng) -> f32 {
    match random.u8(..8) {
        0 => f32::from_bits(random.u32(..)),
        1 => [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 448.0, 464.0, 57344.0, 61440.0]
            [random.usize(..9)],
        _ => f32::from_bits((127 - 18 + random.u32(..36)) << 23 | random.u32(..) & 0x807f_ffff),
    }
}

#[test]
fn singles_become_the_nearest_codes_in_the_half_that_op_sel_names() {
    let mut random = Rng::with_seed(4);
    for (name, format) in [("v_cvt_pk_fp8_f32", FP8), ("v_cvt_pk_bf8_f32", BF8)] {
        for (op_sel, shift, saturates) in [(0, 0, false), (8, 16, false), (0, 0, true), (8, 16, true)] {
            let mut wave = wave();
            wave.mode = Mode(0x3f0 | if saturates { SATURATES } else { 0 });
            for register in [0, 1, 8] {
                wave.vgpr[register].0.fill_with(|| single(&mut random).to_bits());
            }
            let [a, b, old] = [0, 1, 8].map(|register| wave.vgpr[register].0);
            execute(&mut wave, &vop3(name, Family::Vop3, op_sel));
            for lane in 0..64 {
                let code = |word: u32| format.nearest(f32::from_bits(word), saturates);
                let pair = code(a[lane]) | code(b[lane]) << 8;
                let want = old[lane] & !(0xffff << shift) | pair << shift;
                let what = [a, b].map(|row| f32::from_bits(row[lane]));
                assert_eq!(wave.vgpr[8].0[lane], want, "{name} {op_sel} {saturates} {what:?}: {want:#x}");
            }
        }
    }
}

#[test]
fn stochastic_codes_go_to_the_byte_that_op_sel_names() {
    let mut random = Rng::with_seed(5);
    for (name, format) in [("v_cvt_sr_fp8_f32", FP8), ("v_cvt_sr_bf8_f32", BF8)] {
        for byte in 0..4 {
            let mut wave = wave();
            for register in [0, 1, 8] {
                wave.vgpr[register].0.fill_with(|| random.u32(..));
            }
            // Numbers that there are stay as they are, whatever the random number.
            wave.vgpr[0].0 = std::array::from_fn(|lane| (format.value(lane as u32 + 8) as f32).to_bits());
            let old = wave.vgpr[8].0;
            execute(&mut wave, &vop3(name, Family::Vop3, byte << 2));
            for (lane, old) in old.into_iter().enumerate() {
                let want = old & !(0xff << (8 * byte)) | (lane as u32 + 8) << (8 * byte);
                assert_eq!(wave.vgpr[8].0[lane], want, "{name} {byte}");
            }
        }
    }
}

#[test]
fn dot_products_of_four_add_one_product_after_the_other() {
    let mut random = Rng::with_seed(6);
    for (name, [first, second]) in [
        ("v_dot4_f32_fp8_fp8", [FP8, FP8]),
        ("v_dot4_f32_fp8_bf8", [FP8, BF8]),
        ("v_dot4_f32_bf8_fp8", [BF8, FP8]),
        ("v_dot4_f32_bf8_bf8", [BF8, BF8]),
    ] {
        // Negated, the absolute value, and both.
        for modifiers in 0..4 {
            let mut wave = wave();
            for register in [0, 1] {
                wave.vgpr[register].0.fill_with(|| random.u32(..));
            }
            wave.vgpr[2].0.fill_with(|| single(&mut random).to_bits());
            let [a, b, c] = [0, 1, 2].map(|register| wave.vgpr[register].0);
            let (neg, neg_hi) = (modifiers & 1, modifiers >> 1);
            let words = [
                0xcc00_4000 | opcode(Family::Vop3p, name) << 16 | neg_hi << 10 | 8,
                256 | 257 << 9 | 258 << 18 | 3 << 27 | neg << 31,
            ];
            execute(&mut wave, &words);
            for lane in 0..64 {
                let c = f32::from_bits(c[lane]);
                let c = if neg_hi != 0 { c.abs() } else { c };
                let mut want = if neg != 0 { -c } else { c };
                for n in 0..4 {
                    let [x, y] = [(first, a[lane]), (second, b[lane])]
                        .map(|(f, word)| f.value(word >> (8 * n) & 0xff));
                    // The product is exact in double precision.
                    want += (x * y) as f32;
                }
                let got = f32::from_bits(wave.vgpr[8].0[lane]);
                let is_same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                assert!(is_same, "{name} {modifiers}: {got}, not {want}");
            }
        }
    }
}
