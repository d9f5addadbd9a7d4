//! Conversions between singles and the 8-bit formats, which have no infinities and no negative zero.

use emulator::isa::Target;
use fastrand::Rng;

use super::Machine;

/// Bits of the fraction, the bias, and the opcodes of the conversions.
#[derive(Clone, Copy, Debug)]
struct Format {
    fraction: u32,
    bias: i32,
    /// VOP1: one, two values.
    decode: [u32; 2],
    /// VOP3: two values, one value with stochastic rounding.
    encode: [u32; 2],
}

const FORMATS: [Format; 2] = [
    Format { fraction: 3, bias: 8, decode: [84, 86], encode: [674, 676] },
    Format { fraction: 2, bias: 16, decode: [85, 87], encode: [675, 677] },
];

impl Format {
    /// The value of a code: a table computed from the definition of the format.
    fn value(self, code: u8) -> f64 {
        if code == 0x80 {
            return f64::NAN;
        }
        let mantissa = f64::from(code & ((1 << self.fraction) - 1));
        let field = i32::from(code & 0x7f) >> self.fraction;
        let scale = f64::from(1 << self.fraction);
        let magnitude = match field {
            0 => mantissa / scale * 2f64.powi(1 - self.bias),
            _ => (1.0 + mantissa / scale) * 2f64.powi(field - self.bias),
        };
        if code >= 0x80 { -magnitude } else { magnitude }
    }

    /// The largest value, and the first that rounds beyond it.
    fn limits(self) -> (f64, f64) {
        let (last, before) = (self.value(0x7f), self.value(0x7e));
        (last, last + (last - before) / 2.0)
    }

    /// The code nearest to `x`, by search.
    fn nearest(self, x: f32, saturate: bool) -> u8 {
        let (exact, (_, limit)) = (f64::from(x), self.limits());
        if x.is_nan() {
            return 0x80;
        }
        let sign = if x < 0.0 { 0x80 } else { 0 };
        // The last code is odd, so that a tie rounds beyond it.
        if exact.abs() >= limit {
            return if saturate { sign | 0x7f } else { 0x80 };
        }
        let distance = |code: u8| (self.value(code) - exact.abs()).abs();
        let best = (0..0x80u8)
            .min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then((a & 1).cmp(&(b & 1))))
            .unwrap();
        if best == 0 { 0 } else { sign | best }
    }
}

fn machine() -> Machine {
    let mut machine = Machine::new(Target::Gfx942, &mut Rng::with_seed(61));
    machine.wave.exec = u64::MAX;
    machine
}

/// v16 = an instruction in the VOP3 encoding on v0 and v2.
fn vop3(machine: &mut Machine, opcode: u32, op_sel: u32, neg_abs: [u32; 2]) {
    let word0 = 0xd000_0000 | opcode << 16 | op_sel << 11 | neg_abs[1] << 8 | 16;
    machine.execute([word0, 256 | 258 << 9 | neg_abs[0] << 29]).unwrap();
}

#[test]
fn all_codes_decode() {
    for format in FORMATS {
        for first in (0..256u32).step_by(64) {
            let mut machine = machine();
            for lane in 0..64 {
                // Other bytes must not matter.
                machine.wave.vgpr[0].0[lane] = 0xa5c3_e100 | (first + lane as u32);
            }
            machine.execute([0x7e00_0000 | 16 << 17 | format.decode[0] << 9 | 256, 0]).unwrap();
            for lane in 0..64 {
                let want = format.value((first + lane as u32) as u8) as f32;
                let got = f32::from_bits(machine.wave.vgpr[16].0[lane]);
                assert!(
                    got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                    "{format:?} {first}"
                );
            }
        }
    }
}

#[test]
fn sdwa_selects_the_byte_or_word_to_decode() {
    let bytes = [0x31u8, 0xc2, 0x80, 0x7f];
    for format in FORMATS {
        for select in 0..6u32 {
            let mut machine = machine();
            machine.wave.vgpr[0].0.fill(u32::from_le_bytes(bytes));
            let two = select >= 4;
            let opcode = format.decode[usize::from(two)];
            let sdwa = select << 16 | 6 << 8;
            machine.execute([0x7e00_0000 | 16 << 17 | opcode << 9 | 249, sdwa]).unwrap();
            let first = if two { 2 * (select as usize - 4) } else { select as usize };
            for n in 0..if two { 2 } else { 1 } {
                let want = format.value(bytes[first + n]);
                let got = f64::from(f32::from_bits(machine.wave.vgpr[16 + n].0[9]));
                assert!(got == want || got.is_nan() && want.is_nan(), "{format:?} {select}: {got}");
            }
        }
    }
}

/// Every code, every tie between codes, and their neighbours; zeros, denormals, infinities, NaNs, limits.
fn boundaries(format: Format) -> Vec<f32> {
    let mut all = vec![0.0, f32::MIN_POSITIVE, 1e-45, f32::MAX, f32::INFINITY, f32::NAN, 1e10, 1e-10];
    for code in 0..0x7f {
        let (low, high) = (format.value(code), format.value(code + 1));
        all.extend([low, high, (low + high) / 2.0].map(|x| x as f32));
    }
    let (last, limit) = format.limits();
    all.extend([last as f32, limit as f32, 2.0 * limit as f32]);
    let near = |x: f32| (-3i32..=3).map(move |n| f32::from_bits(x.to_bits().saturating_add_signed(n)));
    all.into_iter().flat_map(near).flat_map(|x| [x, -x]).collect()
}

#[test]
fn numbers_round_to_the_nearest_code() {
    for format in FORMATS {
        let numbers = boundaries(format);
        for (saturate, op_sel) in [(false, 0), (true, 0), (false, 8), (true, 8)] {
            for chunk in numbers.chunks(64) {
                let mut machine = machine();
                machine.wave.mode.0 |= u32::from(saturate) << 23;
                for (lane, x) in chunk.iter().enumerate() {
                    machine.wave.vgpr[0].0[lane] = x.to_bits();
                    machine.wave.vgpr[2].0[lane] = (-x).to_bits();
                }
                let old = machine.wave.vgpr[16].0;
                vop3(&mut machine, format.encode[0], op_sel, [0, 0]);
                for (lane, x) in chunk.iter().enumerate() {
                    let codes = u32::from(u16::from_le_bytes([
                        format.nearest(*x, saturate),
                        format.nearest(-*x, saturate),
                    ]));
                    let want = match op_sel {
                        0 => old[lane] & 0xffff_0000 | codes,
                        _ => old[lane] & 0xffff | codes << 16,
                    };
                    let got = machine.wave.vgpr[16].0[lane];
                    assert_eq!(got, want, "{format:?} {x:e} {saturate}: {got:x}, not {want:x}");
                }
            }
        }
    }
}

#[test]
fn every_single_of_a_binade_rounds_to_the_nearest_code() {
    for format in FORMATS {
        // Three binades where codes are normal, and two where they are denormal, in steps that meet all ties.
        let bias = format.bias as u32;
        for field in [127, 127 + 5, 127 - 6, 127 - bias, 127 - bias - 1] {
            for first in (0..1u32 << 23).step_by(64 << 10) {
                let mut machine = machine();
                for lane in 0..64u32 {
                    let bits = (field << 23) + first + (lane << 10);
                    machine.wave.vgpr[0].0[lane as usize] = bits;
                    machine.wave.vgpr[2].0[lane as usize] = bits + 1;
                }
                vop3(&mut machine, format.encode[0], 0, [0, 0]);
                for lane in 0..64 {
                    let code = |n: usize| format.nearest(f32::from_bits(machine.wave.vgpr[n].0[lane]), false);
                    let want = u32::from(u16::from_le_bytes([code(0), code(2)]));
                    assert_eq!(machine.wave.vgpr[16].0[lane] & 0xffff, want, "{format:?} {field} {first}");
                }
            }
        }
    }
}

#[test]
fn neg_and_abs_act_before_the_conversion_and_exec_masks_it() {
    for format in FORMATS {
        let mut machine = machine();
        machine.wave.exec = 0xff;
        machine.wave.vgpr[0].0.fill((-3.0f32).to_bits());
        machine.wave.vgpr[2].0.fill(1.5f32.to_bits());
        let old = machine.wave.vgpr[16].0;
        vop3(&mut machine, format.encode[0], 0, [2, 1]);
        for (lane, old) in old.into_iter().enumerate() {
            let codes = u16::from_le_bytes([format.nearest(3.0, false), format.nearest(-1.5, false)]);
            let want = if lane < 8 { old & 0xffff_0000 | u32::from(codes) } else { old };
            assert_eq!(machine.wave.vgpr[16].0[lane], want);
        }
    }
}

/// The code that a random number gives, from integers: it is added below the fraction that is kept.
fn stochastic(format: Format, x: f32, random: u32, saturate: bool) -> u8 {
    if x.is_nan() {
        return 0x80;
    }
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    let overflow = if saturate { sign | 0x7f } else { 0x80 };
    if x.is_infinite() {
        return overflow;
    }
    let dropped = 23 - format.fraction;
    let sum = u64::from(x.abs().to_bits()) + u64::from(random >> (32 - dropped));
    let sum = f32::from_bits(sum as u32);
    if !sum.is_finite() {
        return overflow;
    }
    let sum = f64::from(sum);
    // The largest code that is not above the sum.
    match (0..0x80u8).rev().find(|code| format.value(*code) <= sum).unwrap() {
        0 => 0,
        0x7f if sum >= 2.0 * format.value(0x7f) - format.value(0x7e) => overflow,
        code => sign | code,
    }
}

#[test]
fn stochastic_rounding_adds_the_random_number_and_truncates() {
    let mut random = Rng::with_seed(62);
    for format in FORMATS {
        for (n, chunk) in boundaries(format).chunks(64).enumerate() {
            for seed in [0, u32::MAX, 1 << 31, random.u32(..), random.u32(..)] {
                let mut machine = machine();
                let (saturate, byte) = (n % 2 == 0, n as u32 % 4);
                machine.wave.mode.0 |= u32::from(saturate) << 23;
                for (lane, x) in chunk.iter().enumerate() {
                    machine.wave.vgpr[0].0[lane] = x.to_bits();
                    machine.wave.vgpr[2].0[lane] = seed.rotate_left(lane as u32);
                }
                let old = machine.wave.vgpr[16].0;
                vop3(&mut machine, format.encode[1], byte << 2, [0, 0]);
                for (lane, x) in chunk.iter().enumerate() {
                    let code = stochastic(format, *x, seed.rotate_left(lane as u32), saturate);
                    let want = old[lane] & !(0xff << (8 * byte)) | u32::from(code) << (8 * byte);
                    let got = machine.wave.vgpr[16].0[lane];
                    assert_eq!(got, want, "{format:?} {x:e}: {got:x}, not {want:x}");
                }
            }
        }
    }
}

#[test]
fn stochastic_rounding_is_right_on_average() {
    let mut random = Rng::with_seed(63);
    for format in FORMATS {
        for x in [1.3f32, 0.77, 5.03, 3.999, 96.5] {
            let (mut sum, rounds) = (0.0, 256);
            for _ in 0..rounds {
                let mut machine = machine();
                machine.wave.vgpr[0].0.fill(x.to_bits());
                machine.wave.vgpr[2].0.fill_with(|| random.u32(..));
                vop3(&mut machine, format.encode[1], 0, [0, 0]);
                sum += machine.wave.vgpr[16].0.iter().map(|word| format.value(*word as u8)).sum::<f64>();
            }
            let mean = sum / f64::from(rounds * 64);
            // Five standard deviations of the mean of 16384 values that are one code apart.
            let step = f64::from(x) * 2f64.powi(-(format.fraction as i32));
            assert!((mean - f64::from(x)).abs() < step * 0.5 * 5.0 / 128.0, "{format:?} {x}: {mean}");
        }
    }
}
