//! Any words decode or fail, and what decodes prints.

use emulator::isa::{DecodeErrorKind, Target, decode, decode_all, disassemble};
use fastrand::Rng;
use proptest::prelude::*;

use super::words::{self};

const TARGETS: [Target; 12] = Target::ALL;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_words_decode_or_fail_without_panic(words in prop::collection::vec(any::<u32>(), 0..6)) {
        for target in TARGETS {
            if let Ok(inst) = decode(target, &words) {
                prop_assert!(matches!(inst.size, 4 | 8 | 12 | 16));
                prop_assert!(usize::from(inst.size) <= 4 * words.len());
                let name = inst.row.name.replacen("v_mfma", "v_mfma_scale", (inst.size / 16).into());
                prop_assert!(disassemble(&inst, target).starts_with(&name));
            }
        }
    }

    #[test]
    fn a_stream_of_any_words_is_walked_to_its_end(words in prop::collection::vec(any::<u32>(), 0..64)) {
        for target in TARGETS {
            let mut next = 0;
            for (index, decoded) in decode_all(target, &words) {
                prop_assert_eq!(index, next);
                next += match decoded {
                    Ok(inst) => usize::from(inst.size / 4),
                    Err(error) => {
                        prop_assert!(error.position / 4 - index <= 2);
                        1
                    }
                };
            }
            prop_assert_eq!(next, words.len());
        }
    }
}

#[test]
fn plausible_encodings_decode_or_fail_without_panic() {
    let mut random = Rng::with_seed(1);
    for encoding in TARGETS.into_iter().flat_map(words::encodings) {
        for opcode in 0..encoding.opcodes() {
            for _ in 0..20 {
                let words: [u32; 3] = encoding.sample(opcode, &mut random);
                for target in TARGETS {
                    if let Ok(inst) = decode(target, &words) {
                        disassemble(&inst, target);
                    }
                }
            }
        }
    }
}

#[test]
fn an_instruction_that_is_cut_short_names_the_missing_dword() {
    for word in [0xc002_0000, 0xbe80_00ff, 0xd801_0000u32, 0xba00_1802] {
        let error = decode(Target::Gfx90a, &[word]).err();
        if let Some(error) = error.filter(|error| error.kind == DecodeErrorKind::Truncated) {
            assert_eq!(error.position, 4);
        } else {
            panic!("{word:#x}: {error:?}");
        }
    }
    assert_eq!(
        decode(Target::Gfx90a, &[]).err().map(|e| (e.position, e.kind)),
        Some((0, DecodeErrorKind::Truncated))
    );
}

#[test]
fn graphics_instructions_are_named_as_no_compute_instructions() {
    for (word, encoding) in [(0xf000_0000, "MIMG"), (0xd400_0000, "VINTRP"), (0xc400_0000, "EXP")] {
        let error = decode(Target::Gfx90a, &[word, 0]).err().map(|error| error.kind);
        assert_eq!(error, Some(DecodeErrorKind::NotCompute { encoding }));
    }
}

#[test]
fn an_error_within_a_stream_carries_its_byte() {
    // s_nop 0, an unknown encoding, s_endpgm.
    let decoded: Vec<_> = decode_all(Target::Gfx90a, &[0xbf80_0000, 0xf800_0000, 0xbf81_0000]).collect();
    let errors: Vec<_> = decoded.iter().map(|(_, d)| d.as_ref().err().map(|e| e.position)).collect();
    assert_eq!(errors, [None, Some(4), None]);
}
