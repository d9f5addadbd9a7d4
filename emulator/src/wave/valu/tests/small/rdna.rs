//! The conversions of RDNA 4 between singles and the 8-bit formats.

use fastrand::Rng;

use super::{BF8, FP8, Format, Lab, Rounding, exponent, fill, mode, number, unscaled::cut};
use crate::{isa::Target, wave::Mode};

const FORMATS: [(Format, u32); 2] = [(FP8, 0), (BF8, 1)];
/// Opcodes of v_cvt_f32_fp8 and v_cvt_pk_f32_fp8 among those of one source, and of v_cvt_pk_fp8_f32 and v_cvt_sr_fp8_f32; the
/// next one is that of the other format.
const WIDEN: u32 = 108;
const WIDEN_PAIR: u32 = 110;
const NARROW_PAIR: u32 = 873;
const NARROW_RANDOM: u32 = 875;

const fn vop1(opcode: u32, dst: u32, src: u32) -> u32 {
    0x7e00_0000 | dst << 17 | opcode << 9 | src
}

fn is(got: u32, want: f32) -> bool {
    got == want.to_bits() || f32::from_bits(got).is_nan() && want.is_nan()
}

#[test]
fn all_codes_become_singles_one_by_one_and_in_pairs() {
    for (format, n) in FORMATS {
        for first in (0..256).step_by(64) {
            let mut lab = Lab::on(Target::Gfx1200);
            for lane in 0..64 {
                let code = first + lane as u32;
                lab.wave.vgpr[0].0[lane] =
                    (code ^ 0x5a) << 24 | (code ^ 0x33) << 16 | (code ^ 0xff) << 8 | code;
            }
            lab.execute(&[vop1(WIDEN + n, 16, 256)]);
            // The pair is half a register, the high one where the register's field or op_sel says so.
            lab.execute(&[vop1(WIDEN_PAIR + n, 18, 256)]);
            lab.execute(&[vop1(WIDEN_PAIR + n, 20, 256 + 128)]);
            lab.execute(&[0xd400_0016 | (0x180 + WIDEN_PAIR + n) << 16 | 1 << 11, 256]);
            for lane in 0..64 {
                let code = |xor: u32| format.value((first + lane as u32) ^ xor) as f32;
                let wants = [(16, 0), (18, 0), (19, 0xff), (20, 0x33), (21, 0x5a), (22, 0x33), (23, 0x5a)];
                for (register, xor) in wants {
                    let got = lab.wave.vgpr[register].0[lane];
                    assert!(is(got, code(xor)), "{format:?} {lane} v{register}: {got:x}, not {}", code(xor));
                }
            }
        }
    }
}

#[test]
fn singles_become_the_nearest_codes_or_one_by_a_random_number() {
    let mut random = Rng::with_seed(0x12f8);
    for (format, n) in FORMATS {
        for round in 0..64 {
            let mut lab = Lab::on(Target::Gfx1200);
            let (Mode(bits), saturate) = mode(&mut random);
            lab.wave.mode = Mode::of(Target::Gfx1200, bits);
            fill(&mut lab, &mut random, 0..20);
            for register in [0, 2] {
                lab.wave.vgpr[register].0 = std::array::from_fn(|_| {
                    let exponent = exponent(&mut random);
                    if round % 2 == 0 {
                        number(&mut random, format, 127)
                    } else {
                        f32::from_bits(exponent << 23)
                    }
                    .to_bits()
                });
            }
            let before = lab.wave.vgpr.clone();
            let high = round / 2 % 2;
            lab.execute(&[0xd400_0010 | (NARROW_PAIR + n) << 16 | high << 14, 256 | 258 << 9]);
            lab.execute(&[0xd400_0012 | (NARROW_RANDOM + n) << 16, 256 | 258 << 9]);
            for lane in 0..64 {
                let single = |register: usize| f32::from_bits(before[register].0[lane]);
                let code = |x: f32| format.code(x.into(), Rounding::Nearest, saturate);
                let put = |register: usize, bits: u32, at: u32, code: u32| {
                    before[register].0[lane] & !(((1 << bits) - 1) << at) | code << at
                };
                let want = put(16, 16, 16 * high, code(single(0)) | code(single(2)) << 8);
                assert_eq!(lab.wave.vgpr[16].0[lane], want, "{format:?} of {} {}", single(0), single(2));
                let want = put(18, 8, 0, cut(format, single(0), before[2].0[lane], saturate));
                assert_eq!(
                    lab.wave.vgpr[18].0[lane],
                    want,
                    "{format:?} of {} by {:x}",
                    single(0),
                    before[2].0[lane]
                );
            }
        }
    }
}
