//! Where results go and sources come from: registers that are both, dead lanes, scalars, the end of the register file.

use fastrand::Rng;

use super::Lab;

/// Fills v0 to v15 and v250 to v255 with random numbers and returns what they hold.
fn fill(lab: &mut Lab, random: &mut Rng) -> Vec<[u32; 64]> {
    for register in (0..16).chain(250..256) {
        for lane in 0..64 {
            lab.wave.vgpr[register].0[lane] = random.u32(..);
        }
    }
    lab.wave.vgpr.iter().map(|row| row.0).collect()
}

fn pair(rows: &[[u32; 64]], register: usize, lane: usize) -> u64 {
    u64::from(rows[register][lane]) | u64::from(rows[register + 1][lane]) << 32
}

/// Lanes of a wave, and masks that leave out some of each part of a row.
const MASKS: [(u32, u64); 10] = [
    (64, u64::MAX),
    (64, 0),
    (64, 1),
    (64, 1 << 63),
    (64, 0x0123_4567_89ab_cdef),
    (64, 0xffff_0000_0000_00ff),
    (32, u64::MAX >> 32),
    (32, 0),
    (32, 1 << 31),
    (32, 0x89ab_cdef),
];

/// Every register that the instruction may not change is as it was, and dead lanes of the others. What is beyond the wave's
/// lanes does not count.
fn check_rest(lab: &Lab, before: &[[u32; 64]], written: &[usize], exec: u64, what: &str) {
    for (register, before) in before.iter().enumerate() {
        let lanes = lab.wave.vgpr[register].0.iter().zip(before).enumerate().take(lab.wave.lanes());
        for (lane, (got, before)) in lanes {
            if exec >> lane & 1 == 0 || !written.contains(&register) {
                assert_eq!(got, before, "{what}: v{register} lane {lane} exec {exec:#x}");
            }
        }
    }
}

#[test]
fn a_destination_may_be_any_of_the_sources() {
    let mut random = Rng::with_seed(1);
    let mut lab = Lab::new();
    for dst in [0, 1, 2, 9] {
        for (lanes, exec) in MASKS {
            lab.set_lanes(lanes);
            let before = fill(&mut lab, &mut random);
            lab.wave.exec = exec;
            // v_lshl_add_u32 v[dst], v0, v1, v2.
            lab.execute(&[0xd1fd_0000 | dst as u32, 256 | 257 << 9 | 258 << 18]);
            for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
                let want = (before[0][lane] << (before[1][lane] & 31)).wrapping_add(before[2][lane]);
                assert_eq!(lab.wave.vgpr[dst].0[lane], want, "v{dst} lane {lane} exec {exec:#x}");
            }
            check_rest(&lab, &before, &[dst], exec, "v_lshl_add_u32");
        }
    }
}

#[test]
fn pairs_of_registers_may_overlap() {
    let mut random = Rng::with_seed(2);
    let mut lab = Lab::new();
    // The pair v[4:5] as destination of pairs that begin below, at and above it.
    for source in 2..8 {
        for (lanes, exec) in MASKS {
            lab.set_lanes(lanes);
            let before = fill(&mut lab, &mut random);
            lab.wave.exec = exec;
            let operands = |a: usize, b: usize| (256 + a as u32) | (256 + b as u32) << 9;
            // v_lshlrev_b64 v[4:5], v3, v[source:source+1].
            lab.execute(&[0xd28f_0004, operands(3, source)]);
            for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
                let want = pair(&before, source, lane) << (before[3][lane] & 63);
                assert_eq!(lab.get(4, lane), want, "source v{source} lane {lane} exec {exec:#x}");
            }
            check_rest(&lab, &before, &[4, 5], exec, "v_lshlrev_b64");

            let before = fill(&mut lab, &mut random);
            // v_fma_f64 v[4:5], v[source:source+1], v[8:9], v[3:4].
            lab.execute(&[0xd1cc_0004, operands(source, 8) | (256 + 3) << 18]);
            for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
                let [a, b, c] = [source, 8, 3].map(|register| f64::from_bits(pair(&before, register, lane)));
                let (got, want) = (f64::from_bits(lab.get(4, lane)), a.mul_add(b, c));
                let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                assert!(same, "{a} * {b} + {c}: {got}, not {want}, exec {exec:#x}");
            }
            check_rest(&lab, &before, &[4, 5], exec, "v_fma_f64");

            let before = fill(&mut lab, &mut random);
            // v_mad_u64_u32 v[4:5], vcc, v3, v8, v[source:source+1].
            lab.execute(&[0xd1e8_6a04, operands(3, 8) | (256 + source as u32) << 18]);
            let mut carries = 0;
            for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
                let product = u64::from(before[3][lane]) * u64::from(before[8][lane]);
                let (want, carry) = product.overflowing_add(pair(&before, source, lane));
                assert_eq!(lab.get(4, lane), want, "source v{source} lane {lane} exec {exec:#x}");
                carries |= u64::from(carry) << lane;
            }
            assert_eq!(lab.wave.vcc(), carries, "source v{source} exec {exec:#x}");
            check_rest(&lab, &before, &[4, 5], exec, "v_mad_u64_u32");
        }
    }
}

#[test]
fn pairs_at_the_end_of_the_file_are_read_from_its_start_and_not_written() {
    let mut random = Rng::with_seed(3);
    let mut lab = Lab::new();
    for (lanes, exec) in MASKS {
        lab.set_lanes(lanes);
        let before = fill(&mut lab, &mut random);
        lab.wave.exec = exec;
        // v_lshlrev_b64 v[8:9], v3, v[255:256].
        lab.execute(&[0xd28f_0008, (256 + 3) | (256 + 255) << 9]);
        for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
            assert_eq!(lab.get(8, lane), pair(&before, 0, lane) << (before[3][lane] & 63));
        }
        check_rest(&lab, &before, &[8, 9], exec, "source v[255:256]");

        let before = fill(&mut lab, &mut random);
        lab.execute(&[0xd28f_00ff, (256 + 3) | (256 + 4) << 9]);
        check_rest(&lab, &before, &[], exec, "destination v[255:256]");

        // One register at the end is like any other: v_add_u32 v255, v254, v253.
        lab.execute(&[0x6800_0000 | 255 << 17 | 253 << 9 | (256 + 254)]);
        for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
            let want = before[254][lane].wrapping_add(before[253][lane]);
            assert_eq!(lab.wave.vgpr[255].0[lane], want);
        }
        check_rest(&lab, &before, &[255], exec, "v255");
    }
}

#[test]
fn scalars_and_constants_stand_in_every_lane() {
    let mut random = Rng::with_seed(4);
    let mut lab = Lab::new();
    lab.wave.sgpr[7] = 0x1234_5678;
    lab.wave.sgpr[8] = 0x9abc_def0;
    // s7, 0, 64, -16, 1.0.
    let words = [(7u32, 0x1234_5678u32), (128, 0), (192, 64), (208, -16i32 as u32), (242, 1.0f32.to_bits())];
    for (lanes, exec) in MASKS {
        lab.set_lanes(lanes);
        for (code, word) in words {
            for position in 0..3 {
                let before = fill(&mut lab, &mut random);
                lab.wave.exec = exec;
                let source = |n: u32| if n == position { code } else { 256 + n };
                // v_add3_u32 v9, ...
                lab.execute(&[0xd1ff_0009, source(0) | source(1) << 9 | source(2) << 18]);
                for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
                    let want = (0..3)
                        .map(|n| if n == position { word } else { before[n as usize][lane] })
                        .fold(0, u32::wrapping_add);
                    assert_eq!(lab.wave.vgpr[9].0[lane], want, "code {code} at {position}, lane {lane}");
                }
                check_rest(&lab, &before, &[9], exec, "v_add3_u32");
            }
        }
        let before = fill(&mut lab, &mut random);
        // A literal, a scalar pair and a double: v_add_u32 v9, 0x87654321, v1; v_lshlrev_b64 v[10:11], 4, s[8:9] of which
        // s9 is 0; v_add_f64 v[12:13], v[0:1], 2.0.
        lab.execute(&[0x6800_0000 | 9 << 17 | 1 << 9 | 255, 0x8765_4321]);
        lab.execute(&[0xd28f_000a, 132 | 8 << 9]);
        lab.execute(&[0xd280_000c, 256 | 244 << 9]);
        for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
            assert_eq!(lab.wave.vgpr[9].0[lane], before[1][lane].wrapping_add(0x8765_4321));
            assert_eq!(lab.get(10, lane), 0x9_abcd_ef00);
            let x = f64::from_bits(pair(&before, 0, lane));
            let (got, want) = (f64::from_bits(lab.get(12, lane)), x + 2.0);
            assert!(got == want || got.is_nan() && want.is_nan(), "{x} + 2: {got}");
        }
        check_rest(&lab, &before, &[9, 10, 11, 12, 13], exec, "literal and pair");
    }
}

#[test]
fn comparisons_give_dead_lanes_0() {
    let mut random = Rng::with_seed(5);
    let mut lab = Lab::new();
    for (lanes, exec) in MASKS {
        lab.set_lanes(lanes);
        let before = fill(&mut lab, &mut random);
        lab.wave.exec = exec;
        lab.set_mask(106, u64::MAX);
        lab.set_mask(20, u64::MAX);
        // v_cmp_lt_u32 vcc, v0, v1; v_cmp_gt_i64 s[20:21], v[2:3], v[4:5].
        lab.execute(&[0x7d92_0300]);
        lab.execute(&[0xd0e4_0014, 258 | 260 << 9]);
        let mut less = 0u64;
        let mut greater = 0u64;
        for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
            less |= u64::from(before[0][lane] < before[1][lane]) << lane;
            let signed = |register| pair(&before, register, lane) as i64;
            greater |= u64::from(signed(2) > signed(4)) << lane;
        }
        // The register behind the mask of 32 lanes stays as it is.
        let beyond = if lanes == 32 { u64::MAX << 32 } else { 0 };
        assert_eq!(lab.mask(106), less | beyond, "exec {exec:#x}");
        assert_eq!(lab.mask(20), greater | beyond, "exec {exec:#x}");
        assert_eq!(lab.wave.exec, exec);
        // v_cmpx_lt_u32 writes EXEC, too.
        lab.execute(&[0x7db2_0300]);
        assert_eq!(lab.wave.exec, less);
        check_rest(&lab, &before, &[], u64::MAX, "v_cmp");
    }
}

#[test]
fn modifiers_and_dead_lanes_go_together() {
    let mut random = Rng::with_seed(6);
    let mut lab = Lab::new();
    for (lanes, exec) in MASKS {
        lab.set_lanes(lanes);
        let before = fill(&mut lab, &mut random);
        lab.wave.exec = exec;
        // v_fma_f32 v1, -|v0|, v1, 1.0; then v_add_f32 v2, v2, v3 clamped.
        lab.execute(&[0xd1cb_0101, 256 | 257 << 9 | 242 << 18 | 1 << 29]);
        lab.execute(&[0xd101_8002, 258 | 259 << 9]);
        for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
            let float = |register: usize| f32::from_bits(before[register][lane]);
            let got = |register: usize| f32::from_bits(lab.wave.vgpr[register].0[lane]);
            let fused = (-float(0).abs()).mul_add(float(1), 1.0);
            assert!(got(1) == fused || got(1).is_nan() && fused.is_nan(), "{} not {fused}", got(1));
            let sum = float(2) + float(3);
            let clamped = if sum > 0.0 { sum.min(1.0) } else { 0.0 };
            assert_eq!(got(2), clamped, "{sum} clamped");
        }
        check_rest(&lab, &before, &[1, 2], exec, "modifiers");
    }
}
