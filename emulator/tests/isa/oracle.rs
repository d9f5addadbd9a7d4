//! Random encodings of every family: the same words are instructions for LLVM and for us, with the same text.
//!
//! `AQLIPSE_ISA_SAMPLES` sets the number of samples per opcode (12 unless it says otherwise; a third of them for one that we do not know), `AQLIPSE_ISA_BASES` how many
//! encodings of each opcode are walked through (3), and `AQLIPSE_ISA_ENCODINGS` how the names of the families begin whose
//! encodings these are (all). The tests that walk every
//! value of every field take minutes and are ignored by default; `cargo xtask isa-oracle` runs them.

use std::collections::BTreeMap;

use emulator::isa::{DecodeErrorKind, Family, Inst, Target, decode, disassemble, flag, table};
use fastrand::Rng;

use super::{
    llvm::{self, Verdict},
    words::{self, Encoding},
};

/// Encodings in which some rows are not exact yet, by (encoding, mnemonic). A row that has become exact must leave.
const NOT_YET_EXACT: &[(&str, &str)] = &[];

fn samples_per_opcode() -> u32 {
    std::env::var("AQLIPSE_ISA_SAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(12)
}

/// What we make of the words; `None` where the comparison has no subject (graphics instructions).
fn ours<const N: usize>(target: Target, words: [u32; N]) -> Option<Verdict> {
    match decode(target, &words) {
        Ok(inst) if is_for_wide_waves(&inst) => None,
        Ok(inst) => Some(Verdict::Valid { size: inst.size.into(), text: disassemble(&inst, target) }),
        Err(error) if matches!(error.kind, DecodeErrorKind::NotCompute { .. }) => None,
        Err(_) => Some(Verdict::Invalid),
    }
}

/// Whether an instruction names indices of a sparse matrix that only waves of 64 lanes have: LLVM judges for 32 lanes.
fn is_for_wide_waves(inst: &Inst) -> bool {
    let sets = if inst.row.name.ends_with("64_iu4") { 1 } else { 2 };
    inst.row.is_rdna() && inst.row.shape.has(flag::SPARSE) && inst.mods.op_sel >= sets
}

/// The words behind an instruction that is shorter than `words` become known ones, so that sizes show.
fn padded<const N: usize>(target: Target, mut words: [u32; N]) -> [u32; N] {
    if let Ok(inst) = decode(target, &words) {
        words.iter_mut().skip(usize::from(inst.size) / 4).for_each(|word| *word = llvm::PAD);
    }
    words
}

fn mnemonic(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Valid { text, .. } => text.split(' ').next().unwrap_or_default(),
        _ => "",
    }
}

/// What a comparison came to.
#[derive(Default)]
struct Comparison {
    /// (mnemonic, report).
    differences: Vec<(String, String)>,
    /// Words that are an instruction for both.
    instructions: usize,
    /// Words without a verdict: graphics instructions, and what LLVM crashes on.
    without: usize,
}

/// Compares `samples`; returns the differences as (mnemonic, report).
fn differences<const N: usize>(target: Target, samples: &[[u32; N]]) -> Vec<(String, String)> {
    compare(target, samples).differences
}

fn compare<const N: usize>(target: Target, samples: &[[u32; N]]) -> Comparison {
    let verdicts = llvm::disassemble(target, samples);
    let mut comparison = Comparison::default();
    for (words, theirs) in samples.iter().zip(verdicts) {
        let Some(ours) = ours(target, *words).filter(|_| theirs != Verdict::Crashed) else {
            comparison.without += 1;
            continue;
        };
        if ours == theirs {
            comparison.instructions += usize::from(ours != Verdict::Invalid);
        } else {
            let name = if mnemonic(&theirs).is_empty() { mnemonic(&ours) } else { mnemonic(&theirs) };
            let report = format!("{target:?} {words:08x?}\n  ours {ours:?}\n  llvm {theirs:?}");
            comparison.differences.push((name.to_owned(), report));
        }
    }
    comparison
}

fn check<const N: usize>(target: Target) {
    if !llvm::available("llvm-mc-22", "llvm-22") {
        return;
    }
    let mut random = Rng::with_seed(0x5eed);
    let mut seen_inexact = Vec::new();
    for encoding in words::encodings(target) {
        let samples = samples::<N>(encoding, target, &mut random);
        let (known, new): (Vec<_>, Vec<_>) = differences(target, &samples)
            .into_iter()
            .partition(|(name, _)| NOT_YET_EXACT.contains(&(encoding.name, name.as_str())));
        let reports: Vec<_> = new.iter().take(20).map(|(_, report)| report.as_str()).collect();
        assert!(new.is_empty(), "{}: {} differences\n{}", encoding.name, new.len(), reports.join("\n"));
        seen_inexact.extend(known.into_iter().map(|(name, _)| (encoding.name, name)));
    }
    for (encoding, name) in NOT_YET_EXACT {
        let inexact = seen_inexact.iter().any(|(e, n)| e == encoding && n == name);
        assert!(inexact, "{encoding} {name} is exact now: remove it from NOT_YET_EXACT");
    }
}

/// Encodings of each opcode. If the first third is no instruction to us, as of most of RDNA's opcodes, there are no more: LLVM
/// takes long to say that it knows none either.
fn samples<const N: usize>(encoding: &Encoding, target: Target, random: &mut Rng) -> Vec<[u32; N]> {
    let mut samples = Vec::new();
    for opcode in 0..encoding.opcodes() {
        let mut is_known = false;
        for n in 0..samples_per_opcode() {
            if n == samples_per_opcode().div_ceil(3) && !is_known {
                break;
            }
            let words = padded(target, encoding.sample(opcode, random));
            is_known |= ours(target, words) != Some(Verdict::Invalid);
            samples.push(words);
        }
    }
    samples.retain(|words| !words::crashes_llvm(target, *words));
    samples
}

#[test]
fn random_encodings_of_gfx90a_read_as_in_llvm() {
    check::<2>(Target::Gfx90a);
}

#[test]
fn random_encodings_of_gfx942_read_as_in_llvm() {
    check::<2>(Target::Gfx942);
}

#[test]
fn random_encodings_of_gfx950_read_as_in_llvm() {
    check::<2>(Target::Gfx950);
}

#[test]
fn random_encodings_of_gfx1030_read_as_in_llvm() {
    check::<3>(Target::Gfx1030);
}

#[test]
fn random_encodings_of_gfx1100_read_as_in_llvm() {
    check::<3>(Target::Gfx1100);
}

#[test]
fn random_encodings_of_gfx1150_read_as_in_llvm() {
    check::<3>(Target::Gfx1150);
}

#[test]
fn random_encodings_of_gfx1200_read_as_in_llvm() {
    check::<3>(Target::Gfx1200);
}

/// How many encodings a sweep tries to find those per opcode from which it starts.
const TRIES: usize = 4_000;

/// Encodings per opcode from which a sweep starts.
fn bases() -> usize {
    std::env::var("AQLIPSE_ISA_BASES").ok().and_then(|n| n.parse().ok()).unwrap_or(3)
}

/// Each opcode with one field after another walked through its values, from encodings that are valid.
fn sweep<const N: usize>(target: Target) {
    if !llvm::available("llvm-mc-22", "llvm-22") {
        return;
    }
    let mut random = Rng::with_seed(0x0b5e);
    let mut total = Comparison::default();
    let mut words = 0;
    let chosen = std::env::var("AQLIPSE_ISA_ENCODINGS").unwrap_or_default();
    for encoding in words::encodings(target).iter().filter(|encoding| encoding.name.starts_with(&chosen)) {
        for opcode in 0..encoding.opcodes() {
            let tries = std::iter::repeat_with(|| encoding.sample::<N>(opcode, &mut random)).take(TRIES);
            let bases: Vec<_> = tries.filter(|words| decode(target, words).is_ok()).take(bases()).collect();
            let mut samples: Vec<_> =
                bases.iter().flat_map(|base| encoding.sweep(*base, &mut random)).collect();
            for sample in &mut samples {
                *sample = padded(target, *sample);
            }
            samples.retain(|words| !words::crashes_llvm(target, *words));
            words += samples.len();
            let comparison = compare(target, &samples);
            total.differences.extend(comparison.differences);
            total.instructions += comparison.instructions;
            total.without += comparison.without;
        }
        println!("{target:?} {}: {words} words, {} differences", encoding.name, total.differences.len());
    }
    let count = total.differences.len();
    println!(
        "{target:?}: {words} words, {} of them instructions, {} without a verdict, {count} differences",
        total.instructions, total.without
    );
    // A few of each instruction: one mistake can be in all of its encodings.
    let mut seen = BTreeMap::<&str, usize>::new();
    let shown: Vec<_> = total
        .differences
        .iter()
        .filter_map(|(name, report)| {
            let times = seen.entry(name).or_default();
            *times += 1;
            (*times <= 2).then_some(report.as_str())
        })
        .collect();
    assert!(shown.is_empty(), "{count} differences\n{}", shown.join("\n"));
    // A sweep that meets few instructions, or that LLVM does not judge, has compared nothing.
    assert!(total.instructions > words / 2 && total.without < words / 100);
}

#[test]
#[ignore = "millions of words; cargo xtask isa-oracle runs it"]
fn every_value_of_every_field_of_gfx90a_reads_as_in_llvm() {
    sweep::<2>(Target::Gfx90a);
}

#[test]
#[ignore = "millions of words; cargo xtask isa-oracle runs it"]
fn every_value_of_every_field_of_gfx942_reads_as_in_llvm() {
    sweep::<2>(Target::Gfx942);
}

#[test]
#[ignore = "millions of words; cargo xtask isa-oracle runs it"]
fn every_value_of_every_field_of_gfx950_reads_as_in_llvm() {
    sweep::<2>(Target::Gfx950);
}

#[test]
#[ignore = "millions of words; cargo xtask isa-oracle runs it"]
fn every_value_of_every_field_of_gfx1030_reads_as_in_llvm() {
    sweep::<3>(Target::Gfx1030);
}

#[test]
#[ignore = "millions of words; cargo xtask isa-oracle runs it"]
fn every_value_of_every_field_of_gfx1100_reads_as_in_llvm() {
    sweep::<3>(Target::Gfx1100);
}

#[test]
#[ignore = "millions of words; cargo xtask isa-oracle runs it"]
fn every_value_of_every_field_of_gfx1150_reads_as_in_llvm() {
    sweep::<3>(Target::Gfx1150);
}

#[test]
#[ignore = "millions of words; cargo xtask isa-oracle runs it"]
fn every_value_of_every_field_of_gfx1200_reads_as_in_llvm() {
    sweep::<3>(Target::Gfx1200);
}

/// The same words for each target.
fn random<const N: usize>(targets: &[Target]) {
    if !llvm::available("llvm-mc-22", "llvm-22") {
        return;
    }
    for &target in targets {
        let mut random = Rng::with_seed(0x77);
        let mut samples = Vec::new();
        for _ in 0..2_000 * samples_per_opcode() {
            samples.push(padded(target, std::array::from_fn::<_, N, _>(|_| random.u32(..))));
        }
        samples.retain(|words| !words::crashes_llvm(target, *words));
        let differences = differences(target, &samples);
        let reports: Vec<_> = differences.iter().take(20).map(|(_, report)| report.as_str()).collect();
        assert!(differences.is_empty(), "{} differences\n{}", differences.len(), reports.join("\n"));
    }
}

#[test]
fn random_words_read_as_in_llvm() {
    random::<2>(&Target::GFX9);
}

#[test]
fn random_words_of_rdna_read_as_in_llvm() {
    let targets: Vec<_> = Target::ALL.into_iter().filter(|target| target.is_rdna()).collect();
    random::<3>(&targets);
}

#[test]
fn waves_of_64_lanes_have_more_sets_of_indices() {
    if !llvm::available("llvm-mc-22", "llvm-22") {
        return;
    }
    let (_, rows) = table::rdna::TABLES[Family::Vop3p as usize];
    let mut keys = 0;
    for row in rows.iter().filter(|row| row.shape.has(flag::SPARSE)) {
        let opcode = u32::from(row.opcode_on(Target::Gfx1200));
        let words = [0, 1, 2, 3, 4].map(|key| [0xcc00_4000 | opcode << 16 | key << 11, 0x1c2a_0d04]);
        for (key, text) in llvm::disassemble_wide(Target::Gfx1200, &words).into_iter().enumerate() {
            let text = text.unwrap_or_default();
            let expected = if key == 0 {
                text.starts_with(row.name)
            } else {
                text.ends_with(&format!("index_key:{key}"))
            };
            assert_eq!(decode(Target::Gfx1200, &words[key]).is_ok(), expected, "{} {key}: {text}", row.name);
            keys += usize::from(expected);
        }
    }
    // Four of each instruction, but for those on integers of four bits, which have two.
    assert_eq!(keys, 9 * 4 + 2 * 2);
}

#[test]
fn matrix_instructions_behind_their_scales_read_as_in_llvm() {
    if !llvm::available("llvm-mc-22", "llvm-22") {
        return;
    }
    /// v_mfma_ld_scale_b32, the two instructions that take scales, and one that does not.
    const OPCODES: [u32; 4] = [44, 45, 46, 84];
    /// What says that the second instruction takes them.
    const TAKES_SCALES: u32 = 1 << 11;
    /// What makes vector registers of A and B. LLVM crashes on most others if a format is narrow.
    const REGISTERS: u32 = 0x100 | 0x100 << 9;
    let encoding = words::ENCODINGS.iter().find(|encoding| encoding.name == "VOP3P").unwrap();
    let mut random = Rng::with_seed(0x5ca1e);
    let mut samples = Vec::new();
    while samples.len() < 100 * samples_per_opcode() as usize {
        let second = if random.u8(..) < 16 { 84 } else { OPCODES[random.usize(1..3)] };
        let pair: [[u32; 2]; 2] = [OPCODES[0], second].map(|opcode| encoding.sample(opcode, &mut random));
        let [[a, b], [c, d]] = pair;
        let takes = if random.u8(..) < 16 { 0 } else { TAKES_SCALES };
        let registers = if c >> 8 & 7 | d >> 29 == 0 { 0 } else { REGISTERS };
        if !pair.into_iter().any(|words| words::crashes_llvm(Target::Gfx950, words)) {
            samples.push([a, b, c | takes, d | registers]);
        }
    }
    let comparison = compare(Target::Gfx950, &samples);
    let reports: Vec<_> = comparison.differences.iter().take(20).map(|(_, report)| report.as_str()).collect();
    assert!(reports.is_empty(), "{}", reports.join("\n"));
    let whole =
        samples.iter().filter(|words| decode(Target::Gfx950, *words).is_ok_and(|inst| inst.size == 16));
    assert!(whole.count() > samples.len() / 4 && comparison.without < samples.len() / 100);
}
