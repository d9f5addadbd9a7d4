//! Decodes and prints any dwords on both targets: no panic, and a stream is walked to its end.

#![no_main]

use emulator::isa::{Target, decode_all, disassemble};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let words: Vec<u32> =
        data.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    for target in Target::GFX9 {
        let mut next = 0;
        for (index, decoded) in decode_all(target, &words) {
            assert_eq!(index, next);
            next += match decoded {
                Ok(inst) => {
                    assert!(disassemble(&inst, target).starts_with(inst.row.name));
                    usize::from(inst.size / 4)
                }
                Err(_) => 1,
            };
        }
        assert_eq!(next, words.len());
    }
});
