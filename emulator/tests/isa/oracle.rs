//! Random encodings of every family: the same words are instructions for LLVM and for us, with the same text.
//!
//! `AQLIPSE_ISA_SAMPLES` sets the number of samples per opcode (12 unless it says otherwise).

use emulator::isa::{DecodeErrorKind, Target, decode, disassemble};

use super::{
    llvm::{self, Verdict},
    words::{self, Encoding, Random},
};

/// Encodings in which some rows are not exact yet, by (encoding, mnemonic). A row that has become exact must leave.
const NOT_YET_EXACT: &[(&str, &str)] = &[];

fn samples_per_opcode() -> u32 {
    std::env::var("AQLIPSE_ISA_SAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(12)
}

/// What we make of the words; `None` where the comparison has no subject (graphics instructions).
fn ours(target: Target, words: [u32; 2]) -> Option<Verdict> {
    match decode(target, &words) {
        Ok(inst) => Some(Verdict::Valid { size: inst.size.into(), text: disassemble(&inst, target) }),
        Err(error) if matches!(error.kind, DecodeErrorKind::NotCompute { .. }) => None,
        Err(_) => Some(Verdict::Invalid),
    }
}

/// A word behind a four-byte instruction becomes a known one, so that sizes show.
fn padded(target: Target, [word0, word1]: [u32; 2]) -> [u32; 2] {
    match decode(target, &[word0, word1]) {
        Ok(inst) if inst.size == 4 => [word0, llvm::PAD],
        _ => [word0, word1],
    }
}

fn mnemonic(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Valid { text, .. } => text.split(' ').next().unwrap_or_default(),
        _ => "",
    }
}

/// Compares `samples`; returns the differences as (mnemonic, report).
fn differences(target: Target, samples: &[[u32; 2]]) -> Vec<(String, String)> {
    let verdicts = llvm::disassemble(target, samples);
    let mut differences = Vec::new();
    for (words, theirs) in samples.iter().zip(verdicts) {
        let Some(ours) = ours(target, *words).filter(|_| theirs != Verdict::Crashed) else { continue };
        if ours != theirs {
            let name = if mnemonic(&theirs).is_empty() { mnemonic(&ours) } else { mnemonic(&theirs) };
            let report =
                format!("{target:?} {:08x} {:08x}\n  ours {ours:?}\n  llvm {theirs:?}", words[0], words[1]);
            differences.push((name.to_owned(), report));
        }
    }
    differences
}

fn check(target: Target) {
    if !llvm::available("llvm-mc-22", "llvm-22") {
        return;
    }
    let mut random = Random::new(0x5eed);
    let mut seen_inexact = Vec::new();
    for encoding in words::ENCODINGS {
        let samples = samples(encoding, target, &mut random);
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

fn samples(encoding: &Encoding, target: Target, random: &mut Random) -> Vec<[u32; 2]> {
    let mut samples = Vec::new();
    for opcode in 0..encoding.opcodes() {
        for _ in 0..samples_per_opcode() {
            samples.push(padded(target, encoding.sample(opcode, random)));
        }
    }
    samples.retain(|words| !words::crashes_llvm(*words));
    samples
}

#[test]
fn random_encodings_of_gfx90a_read_as_in_llvm() {
    check(Target::Gfx90a);
}

#[test]
fn random_encodings_of_gfx942_read_as_in_llvm() {
    check(Target::Gfx942);
}

#[test]
fn random_words_read_as_in_llvm() {
    if !llvm::available("llvm-mc-22", "llvm-22") {
        return;
    }
    for target in [Target::Gfx90a, Target::Gfx942] {
        let mut random = Random::new(0x77);
        let mut samples = Vec::new();
        for _ in 0..2_000 * samples_per_opcode() {
            samples.push(padded(target, [random.next(), random.next()]));
        }
        samples.retain(|words| !words::crashes_llvm(*words));
        let differences = differences(target, &samples);
        let reports: Vec<_> = differences.iter().take(20).map(|(_, report)| report.as_str()).collect();
        assert!(differences.is_empty(), "{} differences\n{}", differences.len(), reports.join("\n"));
    }
}
