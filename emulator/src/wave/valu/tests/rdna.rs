//! What RDNA has of its own: lanes that read from others, halves of registers, dual-issue instructions, floats of the scalar
//! ALU, registers by number.

use std::sync::Arc;

use fastrand::Rng;
use rustc_apfloat::{
    Float, FloatConvert, Round, Status, StatusAnd,
    ieee::{BFloat, Half, Single},
};

use super::{DEFAULT_MODE, Lab, bit_pattern};
use crate::{
    isa::{Family, Generation, Row, Target, Ty, decode, flag, table},
    wave::{Exit, Mode, Vector, VectorFile, code::Code},
};

/// One target of each generation.
const TARGETS: [Target; 4] = [Target::Gfx1030, Target::Gfx1100, Target::Gfx1150, Target::Gfx1200];
/// Those with 16-bit operands, dual-issue instructions and DPP in all encodings.
const GFX11: [Target; 3] = [Target::Gfx1100, Target::Gfx1150, Target::Gfx1200];

const SDST: u32 = 20;
const M0: usize = 124;

fn find(target: Target, families: &[Family], name: &str) -> Option<&'static Row> {
    let tables = table::of(target).iter().filter(|(family, _)| families.contains(family));
    tables.flat_map(|(_, rows)| *rows).find(|row| row.name == name && row.targets.has(target))
}

fn row(target: Target, families: &[Family], name: &str) -> &'static Row {
    find(target, families, name).unwrap_or_else(|| panic!("{target:?} has no {name}"))
}

const VECTOR: [Family; 4] = [Family::Vop1, Family::Vop2, Family::Vop3, Family::Vop3p];

/// VOP1: a source is a 9-bit code.
fn vop1(target: Target, name: &str, dst: u32, src: u32) -> u32 {
    let opcode = u32::from(row(target, &[Family::Vop1], name).opcode_on(target));
    0x7e00_0000 | dst << 17 | opcode << 9 | src
}

/// VOP3 or VOP3P; `high` goes to bits 8 to 15 of the first word.
fn vop3(target: Target, name: &str, [dst, high]: [u32; 2], src: [u32; 3]) -> [u32; 2] {
    let row = row(target, &VECTOR, name);
    let opcode = u32::from(row.opcode_on(target))
        + match row.family {
            Family::Vop1 => 0x180,
            Family::Vop2 => 0x100,
            _ => 0,
        };
    let prefix = if row.family == Family::Vop3p { 0xcc00_0000 } else { 0xd400_0000 };
    [prefix | opcode << 16 | high << 8 | dst, src[0] | src[1] << 9 | src[2] << 18]
}

const fn v(register: u32) -> u32 {
    256 + register
}

/// A wave of `lanes` lanes, some of them dead, with random numbers in v0 to v31.
fn lab(target: Target, lanes: u32, random: &mut Rng) -> Lab {
    let mut lab = Lab::on(target);
    lab.set_lanes(lanes);
    lab.wave.exec &= random.u64(..) | random.u64(..);
    for register in 0..32 {
        lab.wave.vgpr[register] = Vector(std::array::from_fn(|_| random.u32(..)));
    }
    lab
}

/// Targets and numbers of lanes, a few times each.
fn waves(targets: &[Target]) -> impl Iterator<Item = (Target, u32, Rng)> {
    let all = targets.iter().flat_map(|target| [32, 64].map(|lanes| (*target, lanes)));
    all.flat_map(|(target, lanes)| {
        (0..16).map(move |n| (target, lanes, Rng::with_seed(n << 16 | u64::from(lanes) << 8 | target as u64)))
    })
}

/// Every live lane of a register holds what `want` says; the others hold what they did.
fn check(lab: &Lab, register: usize, old: &Vector, want: impl Fn(usize) -> Option<u32>, what: &str) {
    for lane in 0..lab.wave.lanes() {
        let want =
            Some(lane).filter(|lane| lab.wave.exec >> lane & 1 != 0).and_then(&want).unwrap_or(old.0[lane]);
        let got = lab.wave.vgpr[register].0[lane];
        assert_eq!(got, want, "{what} on {:?}: lane {lane} of {:x}", lab.wave.target, lab.wave.exec);
    }
}

#[test]
fn dpp8_lanes_read_the_one_of_their_eight_that_the_word_names() {
    for (target, lanes, mut random) in waves(&TARGETS) {
        for fetches in [false, true] {
            let mut lab = lab(target, lanes, &mut random);
            let selects = random.u32(..1 << 24);
            let (before, exec) = (lab.wave.vgpr.clone(), lab.wave.exec);
            let code = if fetches { 234 } else { 233 };
            let moved = |lane: usize| {
                let from = lane & !7 | (selects >> (3 * (lane & 7)) & 7) as usize;
                if fetches || exec >> from & 1 != 0 { before[3].0[from] } else { 0 }
            };
            lab.execute(&[vop1(target, "v_mov_b32", 16, code), selects << 8 | 3]);
            check(&lab, 16, &before[16], |lane| Some(moved(lane)), "v_mov_b32");
            if target == Target::Gfx1030 {
                continue;
            }
            let [word0, word1] = vop3(target, "v_add3_u32", [17, 0], [code, v(4), v(5)]);
            lab.execute(&[word0, word1, selects << 8 | 3]);
            let sum =
                |lane: usize| moved(lane).wrapping_add(before[4].0[lane]).wrapping_add(before[5].0[lane]);
            check(&lab, 17, &before[17], |lane| Some(sum(lane)), "v_add3_u32");
        }
    }
}

#[test]
fn every_instruction_that_can_move_its_source_does_what_it_does_to_a_source_that_has_moved() {
    for target in GFX11 {
        let families = [Family::Vop1, Family::Vop2, Family::Vopc, Family::Vop3, Family::Vop3p];
        let tables = table::of(target).iter().filter(|(family, _)| families.contains(family));
        let (mut found, mut wrong) = (0, Vec::new());
        for row in tables.flat_map(|(_, rows)| *rows).filter(|row| row.targets.has(target)) {
            let shape = &row.shape;
            let moves = !shape.has(flag::NO_DPP | flag::NO_E64 | flag::WMMA) && shape.src[0] != Ty::No;
            if !moves || crate::wave::semantics(row).is_none() || row.name.starts_with("v_movrel") {
                continue;
            }
            found += 1;
            let mut random = Rng::with_seed(found);
            let mut moved = lab(target, 64, &mut random);
            moved.wave.exec = u64::MAX;
            for register in 0..6 {
                moved.wave.vgpr[register].0.fill_with(|| bit_pattern(&mut random, 32) as u32);
            }
            for mask in [super::CARRY, super::SDST, 106] {
                moved.set_mask(mask, random.u64(..));
            }
            let op_sel_hi = if row.family == Family::Vop3p { 7 } else { 0 };
            let [word0, word1] = moved.words(row, super::Fields { op_sel_hi, ..super::Fields::default() });
            let mut labs = [(); 3].map(|()| Lab::on(target));
            for lab in &mut labs {
                lab.wave.vgpr = moved.wave.vgpr.clone();
                (lab.wave.sgpr, lab.wave.exec) = (moved.wave.sgpr, moved.wave.exec);
            }
            // The fourth, third, second and first of each four.
            let [plain, dpp16, dpp8] = &mut labs;
            plain.wave.vgpr[0].0 = std::array::from_fn(|lane| moved.wave.vgpr[0].0[lane ^ 3]);
            plain.execute(&[word0, word1]);
            dpp16.execute(&[word0, word1 & !0x1ff | 250, 0xff00_1b00]);
            let selects = (0..8).map(|n| (n ^ 3) << (3 * n)).sum::<u32>();
            dpp8.execute(&[word0, word1 & !0x1ff | 233, selects << 8]);
            for (lab, how) in [(&dpp16, "dpp16"), (&dpp8, "dpp8")] {
                let registers = |lab: &Lab| lab.wave.vgpr[1..32].iter().map(|row| row.0).collect::<Vec<_>>();
                let state = |lab: &Lab| (registers(lab), lab.wave.sgpr, lab.wave.exec);
                if state(lab) != state(plain) {
                    wrong.push((row.name, how));
                }
            }
        }
        assert!(wrong.is_empty(), "on {target:?}: {wrong:?}");
        assert!(found > 250, "{found} of them on {target:?}");
    }
}

/// The lane that `lane` reads with a control of RDNA's DPP16 (RDNA 3 ISA, 16.1.3).
fn dpp_source(control: u32, lane: usize) -> Option<usize> {
    let (row, i, n) = (lane / 16 * 16, lane % 16, control as usize % 16);
    match control {
        0..=0xff => Some(lane / 4 * 4 + (control as usize >> (2 * (lane % 4))) % 4),
        0x101..=0x10f => (i + n < 16).then(|| row + i + n),
        0x111..=0x11f => i.checked_sub(n).map(|i| row + i),
        0x121..=0x12f => Some(row + (16 + i - n) % 16),
        0x140 => Some(row + 15 - i),
        0x141 => Some(row + (i ^ 7)),
        0x150..=0x15f => Some(row + n),
        _ => Some(row + (i ^ n)),
    }
}

#[test]
fn dpp16_lanes_read_what_the_control_says_dead_lanes_too_with_fi() {
    let controls: Vec<u32> =
        [0x1b, 0xe4, 0x140, 0x141].into_iter().chain((0x101..0x170).filter(|c| c % 16 != 0)).collect();
    for (target, lanes, mut random) in waves(&TARGETS) {
        for control in controls.iter().filter(|c| !matches!(**c, 0x131..=0x13f | 0x142..=0x14f)) {
            let (fetches, bound) = (random.bool(), random.bool());
            let (banks, rows) = (random.u32(..16) | 1, random.u32(..16) | 2);
            let mut lab = lab(target, lanes, &mut random);
            let (before, exec) = (lab.wave.vgpr.clone(), lab.wave.exec);
            let word = 3
                | control << 8
                | u32::from(fetches) << 18
                | u32::from(bound) << 19
                | banks << 24
                | rows << 28;
            let moved = |lane: usize| {
                let source = dpp_source(*control, lane).filter(|from| fetches || exec >> from & 1 != 0);
                let masked = banks >> (lane % 16 / 4) & 1 == 0 || rows >> (lane / 16) & 1 == 0;
                match source {
                    _ if masked => None,
                    Some(from) => Some(before[3].0[from]),
                    None => bound.then_some(0),
                }
            };
            let what = format!("control {control:#x}");
            lab.execute(&[vop1(target, "v_mov_b32", 16, 250), word]);
            check(&lab, 16, &before[16], moved, &what);
            if target == Target::Gfx1030 {
                continue;
            }
            let [word0, word1] = vop3(target, "v_xor3_b32", [17, 0], [250, v(4), v(5)]);
            lab.execute(&[word0, word1, word]);
            let combined = |lane: usize| moved(lane).map(|x| x ^ before[4].0[lane] ^ before[5].0[lane]);
            check(&lab, 17, &before[17], combined, &what);
        }
    }
}

#[test]
fn permlanes_move_within_a_row_and_to_the_one_beside() {
    for (target, lanes, mut random) in waves(&TARGETS) {
        for (name, other) in [("v_permlane16", 0), ("v_permlanex16", 16)] {
            for (fetches, zeroes) in [(false, false), (false, true), (true, false), (true, true)] {
                let mut lab = lab(target, lanes, &mut random);
                let selects = random.u64(..);
                lab.set_mask(10, selects);
                let (before, exec) = (lab.wave.vgpr.clone(), lab.wave.exec);
                let op_sel = (u32::from(fetches) | u32::from(zeroes) << 1) << 3;
                let moved = |lane: usize, select: u64| {
                    let from = (lane & !15) ^ other | (select & 15) as usize;
                    match fetches || exec >> from & 1 != 0 {
                        true => Some(before[3].0[from]),
                        false => zeroes.then_some(0),
                    }
                };
                let words = vop3(target, &format!("{name}_b32"), [16, op_sel], [v(3), 10, 11]);
                lab.execute(&words);
                check(&lab, 16, &before[16], |lane| moved(lane, selects >> (4 * (lane & 15))), name);
                if target == Target::Gfx1200 {
                    lab.execute(&vop3(target, &format!("{name}_var_b32"), [17, op_sel], [v(3), v(4), 0]));
                    check(&lab, 17, &before[17], |lane| moved(lane, before[4].0[lane].into()), "var");
                }
            }
        }
    }
}

#[test]
fn permlane64_exchanges_the_halves_of_a_wave_that_has_two() {
    for (target, lanes, mut random) in waves(&GFX11) {
        let mut lab = lab(target, lanes, &mut random);
        let before = lab.wave.vgpr.clone();
        lab.execute(&[vop1(target, "v_permlane64_b32", 16, v(3))]);
        let moved = |lane: usize| (lanes == 64).then(|| before[3].0[lane ^ 32]);
        check(&lab, 16, &before[16], moved, "v_permlane64_b32");
    }
}

#[test]
fn single_lanes_are_read_and_written_dead_or_alive() {
    for (target, lanes, mut random) in waves(&TARGETS) {
        let mut lab = lab(target, lanes, &mut random);
        let before = lab.wave.vgpr.clone();
        let number = random.u32(..);
        let lane = (number % lanes) as usize;
        (lab.wave.sgpr[10], lab.wave.sgpr[11]) = (number, 0x1234_5678);
        lab.execute(&vop3(target, "v_readlane_b32", [SDST, 0], [v(3), 10, 0]));
        assert_eq!(lab.wave.sgpr[SDST as usize], before[3].0[lane], "{target:?} {lanes} {number:x}");
        lab.execute(&vop3(target, "v_writelane_b32", [16, 0], [11, 10, 0]));
        for (n, (got, old)) in lab.wave.vgpr[16].0.iter().zip(&before[16].0).enumerate() {
            assert_eq!(*got, if n == lane { 0x1234_5678 } else { *old });
        }
        let first = if lab.wave.exec == 0 { 0 } else { lab.wave.exec.trailing_zeros() };
        lab.execute(&[vop1(target, "v_readfirstlane_b32", SDST, v(3))]);
        assert_eq!(lab.wave.sgpr[SDST as usize], before[3].0[first as usize]);
    }
}

#[test]
fn registers_exchange_what_live_lanes_hold() {
    for (target, lanes, mut random) in waves(&TARGETS) {
        let mut lab = lab(target, lanes, &mut random);
        let before = lab.wave.vgpr.clone();
        lab.execute(&[vop1(target, "v_swap_b32", 16, v(3))]);
        check(&lab, 16, &before[16], |lane| Some(before[3].0[lane]), "v_swap_b32");
        check(&lab, 3, &before[3], |lane| Some(before[16].0[lane]), "v_swap_b32");
        if target == Target::Gfx1030 {
            continue;
        }
        // The halves of v5 and of v6, by the highest bits of their fields.
        for (high_a, high_b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let before = lab.wave.vgpr.clone();
            lab.execute(&[vop1(target, "v_swap_b16", 5 | high_a << 7, v(6 | high_b << 7))]);
            let half =
                |register: usize, high: u32, lane: usize| before[register].0[lane] >> (16 * high) & 0xffff;
            let with = |register: usize, high: u32, lane: usize, half: u32| {
                Some(before[register].0[lane] & !(0xffff << (16 * high)) | half << (16 * high))
            };
            check(&lab, 5, &before[5], |lane| with(5, high_a, lane, half(6, high_b, lane)), "v_swap_b16");
            check(&lab, 6, &before[6], |lane| with(6, high_b, lane, half(5, high_a, lane)), "v_swap_b16");
        }
    }
}

#[test]
fn registers_are_named_by_m0() {
    for (target, lanes, mut random) in waves(&TARGETS) {
        let run = |random: &mut Rng, name: &str, m0: u32, words: [u32; 2]| {
            let mut lab = lab(target, lanes, random);
            lab.wave.sgpr[M0] = m0;
            let before = lab.wave.vgpr.clone();
            lab.execute(&[vop1(target, name, words[0], words[1])]);
            (lab, before)
        };
        let (to, from) = (random.usize(..8), random.usize(..8));
        let both = (to << 16 | from) as u32;
        let copied = |(lab, before): (Lab, VectorFile), dst: usize, src: usize, name: &str| {
            check(&lab, dst, &before[dst], |lane| Some(before[src].0[lane]), name);
        };
        copied(run(&mut random, "v_movreld_b32", to as u32, [8, v(3)]), 8 + to, 3, "v_movreld_b32");
        copied(run(&mut random, "v_movrels_b32", from as u32, [8, v(16)]), 8, 16 + from, "v_movrels_b32");
        let by = from as u32;
        copied(run(&mut random, "v_movrelsd_b32", by, [8, v(16)]), 8 + from, 16 + from, "v_movrelsd_b32");
        copied(run(&mut random, "v_movrelsd_2_b32", both, [8, v(16)]), 8 + to, 16 + from, "v_movrelsd_2_b32");
        let (lab, before) = run(&mut random, "v_swaprel_b32", both, [8, v(16)]);
        check(&lab, 8 + to, &before[8 + to], |lane| Some(before[16 + from].0[lane]), "v_swaprel_b32");
        check(&lab, 16 + from, &before[16 + from], |lane| Some(before[8 + to].0[lane]), "v_swaprel_b32");
    }
}

#[test]
fn instructions_without_operands_change_nothing() {
    for (target, lanes, mut random) in waves(&TARGETS) {
        for name in ["v_nop", "v_pipeflush", "v_clrexcp"] {
            let Some(row) = find(target, &[Family::Vop1], name) else { continue };
            let mut lab = lab(target, lanes, &mut random);
            let (before, sgpr, exec) = (lab.wave.vgpr.clone(), lab.wave.sgpr, lab.wave.exec);
            lab.execute(&[0x7e00_0000 | u32::from(row.opcode_on(target)) << 9]);
            assert!(lab.wave.vgpr.iter().zip(before.iter()).all(|(a, b)| a.0 == b.0), "{name}");
            assert_eq!((lab.wave.sgpr, lab.wave.exec), (sgpr, exec), "{name}");
        }
    }
}

#[test]
fn a_move_of_16_bits_leaves_the_other_half() {
    for (target, lanes, mut random) in waves(&GFX11) {
        for (high_dst, high_src) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut lab = lab(target, lanes, &mut random);
            let before = lab.wave.vgpr.clone();
            let moved = |register: usize| {
                let (before, old) = (&before[3], &before[register]);
                move |lane: usize| {
                    let half = before.0[lane] >> (16 * high_src) & 0xffff;
                    Some(old.0[lane] & !(0xffff << (16 * high_dst)) | half << (16 * high_dst))
                }
            };
            lab.execute(&[vop1(target, "v_mov_b16", 16 | high_dst << 7, v(3 | high_src << 7))]);
            check(&lab, 16, &before[16], moved(16), "v_mov_b16");
            let op_sel = (high_src | high_dst << 3) << 3;
            lab.execute(&vop3(target, "v_mov_b16", [17, op_sel], [v(3), 0, 0]));
            check(&lab, 17, &before[17], moved(17), "v_mov_b16_e64");
        }
    }
}

#[test]
fn dot_products_of_bytes_take_signs_from_neg_and_saturate() {
    for (target, lanes, mut random) in waves(&GFX11) {
        for (name, bits) in [("v_dot4_i32_iu8", 8), ("v_dot8_i32_iu4", 4)] {
            for (neg, clamp) in (0..4).flat_map(|neg| [(neg, false), (neg, true)]) {
                let mut lab = lab(target, lanes, &mut random);
                // Near the limits, so that sums leave the range.
                for addend in &mut lab.wave.vgpr[5].0 {
                    *addend = (*addend & 0xffff).wrapping_add(0x7fff_8000);
                }
                let before = lab.wave.vgpr.clone();
                let mut words = vop3(target, name, [16, u32::from(clamp) << 7], [v(3), v(4), v(5)]);
                words[0] |= 1 << 14;
                words[1] |= 3 << 27 | neg << 29;
                lab.execute(&words);
                let element = |word: u32, n: u32, source: u32| {
                    let x = i64::from(word >> (bits * n) & ((1 << bits) - 1));
                    if neg >> source & 1 != 0 && x >> (bits - 1) != 0 { x - (1 << bits) } else { x }
                };
                let want = |lane: usize| {
                    let [a, b, c] = [3, 4, 5].map(|register: usize| before[register].0[lane]);
                    let sum = (0..32 / bits).map(|n| element(a, n, 0) * element(b, n, 1)).sum::<i64>();
                    let sum = sum + i64::from(c as i32);
                    let limits = (i64::from(i32::MIN), i64::from(i32::MAX));
                    Some(if clamp { sum.clamp(limits.0, limits.1) } else { sum } as u32)
                };
                check(&lab, 16, &before[16], want, &format!("{name} neg {neg} clamp {clamp}"));
            }
        }
    }
}

/// What a dot product of two halves each makes of them and of an addend, one product after the other.
fn dot2<F: Float>([a, b, c]: [u32; 3]) -> u32 {
    let part = |word: u32, n: u32| F::from_bits((word >> (16 * n) & 0xffff).into());
    let low = part(a, 0).mul_add_r(part(b, 0), part(c, 0), NEAREST).value;
    // CAST: 16 bits.
    part(a, 1).mul_add_r(part(b, 1), low, NEAREST).value.to_bits() as u32
}

#[test]
fn dot_products_of_halves_are_halves() {
    type Exact = fn([u32; 3]) -> u32;
    let names: [(&str, u32, Exact); 2] =
        [("v_dot2_f16_f16", 0x7c00, dot2::<Half>), ("v_dot2_bf16_bf16", 0x7f80, dot2::<BFloat>)];
    for (target, lanes, mut random) in waves(&GFX11) {
        for (name, infinity, exact) in names {
            let mut lab = lab(target, lanes, &mut random);
            for register in 3..6 {
                // Upper halves of singles are brains, which are as good as any pattern for halves.
                lab.wave.vgpr[register].0.fill_with(|| {
                    let mut half = || bit_pattern(&mut random, 32) as u32 >> 16;
                    half() | half() << 16
                });
            }
            let before = lab.wave.vgpr.clone();
            let [high_c, high] = [random.u32(..2), random.u32(..2)];
            let op_sel = (high_c << 2 | high << 3) << 3;
            lab.execute(&vop3(target, name, [16, op_sel], [v(3), v(4), v(5)]));
            for lane in 0..lab.wave.lanes() {
                let [a, b, c] = [3, 4, 5].map(|register: usize| before[register].0[lane]);
                let want = exact([a, b, c >> (16 * high_c)]);
                let (got, old) = (lab.wave.vgpr[16].0[lane], before[16].0[lane]);
                let is_live = lab.wave.exec >> lane & 1 != 0;
                let result = got >> (16 * high) & 0xffff;
                let is_nan = |half: u32| half & 0x7fff > infinity;
                let right = result == want || is_nan(result) && is_nan(want);
                let kept = (got ^ old) & !(0xffff << (16 * high)) == 0;
                assert!(
                    if is_live { right && kept } else { got == old },
                    "{name} of {a:x} {b:x} {c:x} on {target:?}: {got:x} over {old:x}, not {want:x}"
                );
            }
        }
    }
}

/// Runs words that stand at the dword `at` of a code range, until the wave ends.
fn run_at(lab: &mut Lab, words: &[u32], at: usize) {
    const S_ENDPGM: u32 = 0xbfb0_0000;
    let mut code = vec![S_ENDPGM; 512];
    code[at..at + words.len()].copy_from_slice(words);
    let start = code.as_ptr() as u64;
    // SAFETY: the words stay as they are while the wave runs.
    let range = unsafe { Code::new(start, start + 4 * code.len() as u64, lab.wave.target) };
    lab.wave.pc = start + 4 * at as u64;
    let exit = lab.wave.run(&[Arc::new(range)], &mut 1000);
    assert_eq!(exit, Exit::End, "{words:08x?} {:?}", lab.wave.stop);
}

/// Half of a dual-issue instruction: row, destination, sources.
type Operation = (&'static Row, u32, [u32; 2]);

/// The same as an instruction of its own.
fn alone(target: Target, (row, dst, [src0, src1]): Operation, literal: u32) -> Vec<u32> {
    let name = row.name.replace("v_dual_", "v_");
    if let Some(bits) = name.strip_prefix("v_dot2acc_f32_") {
        let [word0, word1] =
            vop3(target, &format!("v_dot2_f32_{bits}"), [dst, 1 << 6], [src0, v(src1), v(dst)]);
        // op_sel_hi says that high halves are the high ones.
        let words = [word0, word1 | 3 << 27, literal];
        return words[..if src0 == 255 { 3 } else { 2 }].to_vec();
    }
    let single = self::row(target, &[Family::Vop1, Family::Vop2], &name);
    let opcode = u32::from(single.opcode_on(target));
    let word = match single.family {
        Family::Vop1 => 0x7e00_0000 | dst << 17 | opcode << 9 | src0,
        _ => opcode << 25 | dst << 17 | src1 << 9 | src0,
    };
    if row.shape.has(flag::MADAK | flag::MADMK) || src0 == 255 { vec![word, literal] } else { vec![word] }
}

#[test]
fn halves_of_dual_issue_instructions_do_what_they_do_alone() {
    for target in GFX11 {
        let mut random = Rng::with_seed(target as u64);
        let rows: Vec<_> = table::rdna::vopd::VOPD.iter().filter(|row| row.targets.has(target)).collect();
        for x in rows.iter().filter(|row| row.opcode_on(target) < 16) {
            for y in &rows {
                for at in [0, 250, 255, 254, 253] {
                    let mut lab = lab(target, 32, &mut random);
                    for register in 0..8 {
                        lab.wave.vgpr[register].0.fill_with(|| bit_pattern(&mut random, 32) as u32);
                    }
                    lab.set_mask(106, random.u64(..));
                    let literal = bit_pattern(&mut random, 32) as u32;
                    // Few registers, so that halves read what the other one writes.
                    let mut half = |row: &'static Row, odd: u32| -> Operation {
                        let source = match random.usize(..6) {
                            0 => 128 + random.u32(..64),
                            1 => 255,
                            _ => v(random.u32(..8)),
                        };
                        let second = if row.shape.sources() > 1 { random.u32(..8) } else { 0 };
                        (row, random.u32(..4) * 2 + odd, [source, second])
                    };
                    let odd = at as u32 & 1;
                    let (x, y) = (half(x, odd), half(y, 1 - odd));
                    let opcode = |half: Operation| u32::from(half.0.opcode_on(target));
                    let mut words = vec![
                        0xc800_0000 | opcode(x) << 22 | opcode(y) << 17 | x.2[1] << 9 | x.2[0],
                        x.1 << 24 | y.1 >> 1 << 17 | y.2[1] << 9 | y.2[0],
                    ];
                    let constant =
                        |half: Operation| half.0.shape.has(flag::MADAK | flag::MADMK) || half.2[0] == 255;
                    if constant(x) || constant(y) {
                        words.push(literal);
                    }
                    let before = lab.wave.vgpr.clone();
                    let exec = lab.wave.exec;
                    let mut want = before.clone();
                    for half in [x, y] {
                        let mut single = Lab::on(target);
                        single.set_lanes(32);
                        single.wave.exec = exec;
                        single.wave.vgpr = before.clone();
                        single.set_mask(106, lab.mask(106));
                        single.execute(&alone(target, half, literal));
                        want[half.1 as usize] = single.wave.vgpr[half.1 as usize];
                    }
                    run_at(&mut lab, &words, at);
                    for register in 0..32 {
                        for lane in 0..32 {
                            let [got, want] = [&lab.wave.vgpr, &want].map(|rows| rows[register].0[lane]);
                            let nans = f32::from_bits(got).is_nan() && f32::from_bits(want).is_nan();
                            assert!(
                                got == want || nans,
                                "{} {:?} and {} {:?} on {target:?} at {at}: v{register} lane {lane} is {got:x}, not {want:x}",
                                x.0.name,
                                (x.1, x.2),
                                y.0.name,
                                (y.1, y.2),
                            );
                        }
                    }
                }
            }
        }
    }
}

/// A scalar instruction of one or two sources, s8 and s9, into s20.
fn scalar(target: Target, name: &str) -> Option<u32> {
    let row = find(target, &[Family::Sop1, Family::Sop2, Family::Sopc], name)?;
    let opcode = u32::from(row.opcode_on(target));
    Some(match row.family {
        Family::Sop1 => 0xbe80_0000 | SDST << 16 | opcode << 8 | 8,
        Family::Sop2 => 0x8000_0000 | opcode << 23 | SDST << 16 | 9 << 8 | 8,
        _ => 0xbf00_0000 | opcode << 16 | 9 << 8 | 8,
    })
}

const NEAREST: Round = Round::NearestTiesToEven;

/// What an instruction of the scalar ALU makes of two numbers, the old destination and a constant.
type Exact<F> = fn([F; 4]) -> StatusAnd<F>;

fn ok<F>(x: F) -> StatusAnd<F> {
    Status::OK.and(x)
}

/// The lesser one, -0 below +0, a number before a NaN.
fn number<F: Float>(a: F, b: F, minimum: bool) -> StatusAnd<F> {
    ok(match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a.is_zero() && b.is_zero() => {
            if a.is_negative() == minimum {
                a
            } else {
                b
            }
        }
        _ => {
            if (a < b) == minimum {
                a
            } else {
                b
            }
        }
    })
}

/// As [`number`], but a NaN before a number.
fn any<F: Float>(a: F, b: F, minimum: bool) -> StatusAnd<F> {
    if a.is_nan() || b.is_nan() { ok(F::NAN) } else { number(a, b, minimum) }
}

fn functions<F: Float>() -> Vec<(&'static str, Exact<F>)> {
    vec![
        ("s_add", |[a, b, ..]| a.add_r(b, NEAREST)),
        ("s_sub", |[a, b, ..]| a.sub_r(b, NEAREST)),
        ("s_mul", |[a, b, ..]| a.mul_r(b, NEAREST)),
        ("s_min", |[a, b, ..]| number(a, b, true)),
        ("s_max", |[a, b, ..]| number(a, b, false)),
        ("s_min_num", |[a, b, ..]| number(a, b, true)),
        ("s_max_num", |[a, b, ..]| number(a, b, false)),
        ("s_minimum", |[a, b, ..]| any(a, b, true)),
        ("s_maximum", |[a, b, ..]| any(a, b, false)),
        ("s_fmac", |[a, b, old, _]| a.mul_add_r(b, old, NEAREST)),
        ("s_fmaak", |[a, b, _, k]| a.mul_add_r(b, k, NEAREST)),
        ("s_fmamk", |[a, b, _, k]| a.mul_add_r(k, b, NEAREST)),
        ("s_ceil", |[a, ..]| a.round_to_integral(Round::TowardPositive)),
        ("s_floor", |[a, ..]| a.round_to_integral(Round::TowardNegative)),
        ("s_trunc", |[a, ..]| a.round_to_integral(Round::TowardZero)),
        ("s_rndne", |[a, ..]| a.round_to_integral(NEAREST)),
    ]
}

/// Sets s8, s9 and s20 to patterns of a format.
fn randomise_scalars(lab: &mut Lab, random: &mut Rng, bits: u32) -> [u128; 3] {
    let mut values = [0; 3].map(|_: u32| bit_pattern(random, bits) as u32);
    if random.usize(..4) == 0 {
        values[1] = values[0];
    }
    (lab.wave.sgpr[8], lab.wave.sgpr[9], lab.wave.sgpr[SDST as usize]) = (values[0], values[1], values[2]);
    values.map(u128::from)
}

fn check_scalar_floats<F: Float>(suffix: &str, bits: u32) {
    let mut random = Rng::with_seed(bits.into());
    for target in [Target::Gfx1150, Target::Gfx1200] {
        let mut found = 0;
        for (stem, f) in functions::<F>() {
            let name = format!("{stem}_{suffix}");
            let Some(word) = scalar(target, &name) else { continue };
            found += 1;
            for _ in 0..512 {
                let mut lab = Lab::on(target);
                // Without what quiets signalling NaNs where there is that.
                lab.wave.mode = Mode::of(target, DEFAULT_MODE & !0x200);
                let [a, b, old] = randomise_scalars(&mut lab, &mut random, bits);
                let literal = bit_pattern(&mut random, bits) as u32;
                let constant = stem.ends_with("ak") || stem.ends_with("mk");
                (lab.wave.scc, lab.wave.exec) = (random.bool(), random.u64(..));
                let (scc, exec, vgpr) = (lab.wave.scc, lab.wave.exec, lab.wave.vgpr.clone());
                lab.execute(&[word, literal][..1 + usize::from(constant)]);
                let want = f([a, b, old, literal.into()].map(F::from_bits)).value;
                let got =
                    F::from_bits(u128::from(lab.wave.sgpr[SDST as usize]) & (u128::MAX >> (128 - bits)));
                let right = if want.is_nan() { got.is_nan() } else { got.bitwise_eq(want) };
                assert!(right, "{name} of {a:x} {b:x} {old:x} {literal:x} on {target:?}: {got}, not {want}");
                assert_eq!((lab.wave.scc, lab.wave.exec), (scc, exec), "{name}");
                assert!(lab.wave.vgpr[..256].iter().zip(&vgpr[..256]).all(|(a, b)| a.0 == b.0), "{name}");
            }
        }
        assert!(found >= 10, "{target:?} has {found} of them");
    }
}

#[test]
fn scalar_singles_are_those_of_the_vector_alu() {
    check_scalar_floats::<Single>("f32", 32);
}

#[test]
fn scalar_halves_are_those_of_the_vector_alu() {
    check_scalar_floats::<Half>("f16", 16);
}

#[test]
fn scalar_floats_compare_into_scc() {
    let predicates = ["lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt"];
    let mut random = Rng::with_seed(14);
    for target in [Target::Gfx1150, Target::Gfx1200] {
        for (predicate, (suffix, bits)) in
            predicates.iter().flat_map(|p| [("f32", 32), ("f16", 16)].map(|s| (p, s)))
        {
            let name = format!("s_cmp_{predicate}_{suffix}");
            let word = scalar(target, &name).unwrap();
            for _ in 0..128 {
                let mut lab = Lab::on(target);
                let [a, b, _] = randomise_scalars(&mut lab, &mut random, bits);
                lab.set_mask(106, random.u64(..));
                let sgpr = lab.wave.sgpr;
                lab.execute(&[word]);
                let order = match bits {
                    32 => Single::from_bits(a).partial_cmp(&Single::from_bits(b)),
                    _ => Half::from_bits(a).partial_cmp(&Half::from_bits(b)),
                };
                let holds = |predicate: &str| match predicate {
                    "lt" => order.is_some_and(|o| o.is_lt()),
                    "eq" => order.is_some_and(|o| o.is_eq()),
                    "le" => order.is_some_and(|o| o.is_le()),
                    "gt" => order.is_some_and(|o| o.is_gt()),
                    "lg" => order.is_some_and(|o| o.is_ne()),
                    "ge" => order.is_some_and(|o| o.is_ge()),
                    "o" => order.is_some(),
                    _ => order.is_none(),
                };
                let want = match predicate.strip_prefix('n') {
                    Some(opposite) => !holds(opposite),
                    None => holds(predicate),
                };
                assert_eq!(lab.wave.scc, want, "{name} of {a:x} {b:x} on {target:?}");
                assert_eq!(lab.wave.sgpr, sgpr, "{name}");
            }
        }
    }
}

#[test]
fn scalar_numbers_are_converted() {
    let mut random = Rng::with_seed(7);
    for target in [Target::Gfx1150, Target::Gfx1200] {
        for _ in 0..1024 {
            let mut lab = Lab::on(target);
            let [a, b, _] = randomise_scalars(&mut lab, &mut random, 32).map(|x| x as u32);
            let mut run = |name: &str| {
                lab.execute(&[scalar(target, name).unwrap()]);
                lab.wave.sgpr[SDST as usize]
            };
            let x = f32::from_bits(a);
            assert_eq!(run("s_cvt_f32_i32"), (a as i32 as f32).to_bits());
            assert_eq!(run("s_cvt_f32_u32"), (a as f32).to_bits());
            assert_eq!(run("s_cvt_i32_f32"), x as i32 as u32, "{x}");
            assert_eq!(run("s_cvt_u32_f32"), x as u32, "{x}");
            let half = |bits: u32, round: Round| -> Half {
                Single::from_bits(bits.into()).convert_r(round, &mut false).value
            };
            let same = |got: u32, want: Half, what: &str| {
                let got = Half::from_bits((got & 0xffff).into());
                let right = got.bitwise_eq(want) || got.is_nan() && want.is_nan();
                assert!(right, "{what} of {a:x} {b:x}: {got:?}, not {want:?}");
            };
            same(run("s_cvt_f16_f32"), half(a, NEAREST), "s_cvt_f16_f32");
            let pair = run("s_cvt_pk_rtz_f16_f32");
            same(pair, half(a, Round::TowardZero), "low s_cvt_pk_rtz_f16_f32");
            same(pair >> 16, half(b, Round::TowardZero), "high s_cvt_pk_rtz_f16_f32");
            for (name, bits) in [("s_cvt_f32_f16", a & 0xffff), ("s_cvt_hi_f32_f16", a >> 16)] {
                let want: Single = Half::from_bits(bits.into()).convert(&mut false).value;
                let got = Single::from_bits(run(name).into());
                assert!(got.bitwise_eq(want) || got.is_nan() && want.is_nan(), "{name} of {a:x}");
            }
        }
    }
}

#[test]
fn approximations_into_scalars_are_those_of_lanes() {
    let target = Target::Gfx1200;
    let mut random = Rng::with_seed(10);
    for row in table::rdna::vop3::VOP3.iter().filter(|row| row.name.starts_with("v_s_")) {
        let bits = if row.shape.src[0] == Ty::F16 { 16 } else { 32 };
        for _ in 0..64 {
            let mut lab = Lab::on(target);
            lab.wave.exec = random.u64(..);
            let [a, ..] = randomise_scalars(&mut lab, &mut random, bits);
            lab.execute(&vop3(target, row.name, [SDST, 0], [8, 0, 0]));
            let mut lanes = Lab::on(target);
            lanes.wave.vgpr[0].0.fill(a as u32);
            lanes.wave.vgpr[1].0.fill(0);
            lanes.execute(&[vop1(target, &row.name.replace("v_s_", "v_"), 1, v(0))]);
            assert_eq!(lab.wave.sgpr[SDST as usize], lanes.wave.vgpr[1].0[0], "{} of {a:x}", row.name);
        }
    }
}

#[test]
fn constants_for_trigonometry_are_those_of_gfx9() {
    let mut random = Rng::with_seed(53);
    let (mut gfx9, mut labs) = (Lab::new(), TARGETS.map(Lab::on));
    for lane in 0..64 {
        let (x, segment) = (bit_pattern(&mut random, 64), random.u64(..32));
        for lab in [&mut gfx9].into_iter().chain(&mut labs) {
            lab.set(0, lane, x);
            lab.set(2, lane, segment);
        }
    }
    gfx9.run("v_trig_preop_f64");
    for lab in &mut labs {
        lab.execute(&vop3(lab.wave.target, "v_trig_preop_f64", [16, 0], [v(0), v(2), 0]));
        (0..64).for_each(|lane| assert_eq!(lab.get(16, lane), gfx9.get(16, lane), "{:?}", lab.wave.target));
    }
}

#[test]
fn masks_of_32_lanes_are_one_register() {
    for target in TARGETS {
        let mut random = Rng::with_seed(32);
        for _ in 0..32 {
            let mut lab = lab(target, 32, &mut random);
            let (before, exec) = (lab.wave.vgpr.clone(), lab.wave.exec);
            let carry = random.u64(..);
            for mask in [24, 30, 106] {
                lab.set_mask(mask, carry);
            }
            let bits = |f: &dyn Fn(usize) -> bool| {
                (0..32)
                    .filter(|lane| exec >> lane & 1 != 0)
                    .map(|lane| u64::from(f(lane)) << lane)
                    .sum::<u64>()
            };
            let with = |low: u64| carry & !0xffff_ffff | low;
            let (a, b) = (&before[3].0, &before[4].0);
            // v_add_co_ci_u32 v16, s30, v3, v4, s24
            let row = self::row(target, &[Family::Vop2], "v_add_co_ci_u32");
            let word = 0xd400_0000 | (0x100 + u32::from(row.opcode_on(target))) << 16 | 30 << 8 | 16;
            lab.execute(&[word, v(3) | v(4) << 9 | 24 << 18]);
            let sum = |lane: usize| u64::from(a[lane]) + u64::from(b[lane]) + (carry >> lane & 1);
            check(&lab, 16, &before[16], |lane| Some(sum(lane) as u32), "v_add_co_ci_u32");
            assert_eq!(lab.mask(30), with(bits(&|lane| sum(lane) >> 32 != 0)), "{target:?}");
            // The same by VCC in the short form.
            lab.execute(&[u32::from(row.opcode_on(target)) << 25 | 17 << 17 | 4 << 9 | v(3)]);
            check(&lab, 17, &before[17], |lane| Some(sum(lane) as u32), "v_add_co_ci_u32");
            assert_eq!(lab.mask(106), with(bits(&|lane| sum(lane) >> 32 != 0)), "{target:?}");
            // v_cndmask_b32 v18, v3, v4, s24
            lab.execute(&vop3(target, "v_cndmask_b32", [18, 0], [v(3), v(4), 24]));
            let chosen = |lane: usize| Some(if carry >> lane & 1 != 0 { b[lane] } else { a[lane] });
            check(&lab, 18, &before[18], chosen, "v_cndmask_b32");
            // v_cmp_lt_u32 s30, v3, v4
            let row = self::row(target, &[Family::Vopc], "v_cmp_lt_u32");
            let opcode = u32::from(row.opcode_on(target));
            lab.execute(&[0xd400_0000 | opcode << 16 | 30, v(3) | v(4) << 9]);
            let less = bits(&|lane| a[lane] < b[lane]);
            assert_eq!(lab.mask(30), with(less), "{target:?}");
            // v_cmpx_lt_u32 writes EXEC, which has 32 bits, and nothing else.
            let row = self::row(target, &[Family::Vopc], "v_cmpx_lt_u32");
            let sgpr = lab.wave.sgpr;
            lab.execute(&[0x7c00_0000 | u32::from(row.opcode_on(target)) << 17 | 4 << 9 | v(3)]);
            assert_eq!((lab.wave.exec, lab.wave.sgpr), (less, sgpr), "{target:?}");
        }
    }
}

#[test]
fn dpp_is_no_operand_of_rdna_2_in_the_64_bit_encodings() {
    let words = |target| {
        let [word0, word1] = vop3(target, "v_add3_u32", [17, 0], [250, v(4), v(5)]);
        [word0, word1, 0xff00_e403]
    };
    assert!(decode(Target::Gfx1100, &words(Target::Gfx1100)).is_ok());
    assert!(decode(Target::Gfx1030, &words(Target::Gfx1030)).is_err());
    assert_eq!(Target::Gfx1030.generation(), Generation::Gfx10);
}
