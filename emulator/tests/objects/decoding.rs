//! All of the code decodes, and reads as llvm-objdump prints it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use emulator::isa::{DecodeErrorKind, Family, Inst, Target, decode, disassemble};
use loader::CodeObject;

use super::{ROCR, ROCRAND, blits, committed, installed, rocr_objects, rocrand, words};
use crate::isa::{corpus::check, llvm};

/// What a piece of code consists of.
#[derive(Default)]
struct Census {
    instructions: usize,
    kernels: usize,
    /// Instructions that decode and that the emulator cannot execute, with their number.
    without_semantics: BTreeMap<&'static str, usize>,
    /// Encodings of graphics, with their number.
    graphics: BTreeMap<&'static str, usize>,
}

impl Census {
    /// Decodes `words` from end to end and returns where instructions start.
    ///
    /// # Panics
    /// Where something is no instruction, or a branch goes into the middle of one.
    fn sweep(&mut self, what: &str, target: Target, words: &[u32]) -> BTreeSet<usize> {
        let mut starts = BTreeSet::new();
        let mut branches = Vec::new();
        let mut index = 0;
        while index < words.len() {
            if words[index] == 0 && target.is_rdna() {
                // Between functions, of compilers before LLVM 16.
                index += 1;
                continue;
            }
            starts.insert(index);
            let size = match decode(target, &words[index..]) {
                Ok(inst) => {
                    self.instructions += 1;
                    // What stands behind code is not executed.
                    if emulator::wave::semantics(inst.row).is_none() && inst.row.name != "s_code_end" {
                        *self.without_semantics.entry(inst.row.name).or_default() += 1;
                    }
                    branches.extend(branch(&inst, index).map(|to| (index, to)));
                    usize::from(inst.size / 4)
                }
                Err(e) => match e.kind {
                    DecodeErrorKind::NotCompute { encoding } => {
                        *self.graphics.entry(encoding).or_default() += 1;
                        // All of them have two words.
                        2
                    }
                    kind => panic!("{what}, word {index}: {:08x}: {kind}", words[index]),
                },
            };
            index += size;
        }
        for (from, to) in branches {
            let inside = usize::try_from(to).is_ok_and(|to| starts.contains(&to));
            assert!(
                inside,
                "{what}: the branch at word {from} goes to word {to}, where no instruction starts"
            );
        }
        starts
    }

    /// Decodes the code of an object and checks that its kernels start at instructions.
    fn object(&mut self, what: &str, bytes: &[u8], target: Target) {
        let object = CodeObject::parse(bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
        let mut entries = BTreeSet::new();
        for kernel in object.kernels() {
            let kernel = kernel.unwrap_or_else(|e| panic!("{what}: {e}"));
            entries.insert(kernel.entry_offset);
        }
        self.kernels += entries.len();
        for segment in object.segments().iter().filter(|s| s.protection.execute) {
            let starts = self.sweep(what, target, &words(&bytes[segment.file.clone()]));
            entries.retain(|entry| match entry.checked_sub(segment.offset) {
                Some(offset) if offset < segment.size => {
                    let start = starts.contains(&(offset as usize / 4));
                    assert!(start && offset % 256 == 0, "{what}: a kernel starts at {entry:#x}");
                    false
                }
                _ => true,
            });
        }
        assert!(entries.is_empty(), "{what}: kernels outside of the code: {entries:x?}");
    }

    /// Every instruction has semantics.
    fn assert_executable(&self, what: &str) {
        assert!(self.without_semantics.is_empty(), "{what}: without semantics: {:?}", self.without_semantics);
    }
}

/// Where the branch at word `index` goes, in words (MI200 ISA, 4.3: relative to the next instruction).
fn branch(inst: &Inst, index: usize) -> Option<i64> {
    let relative = inst.row.family == Family::Sopp && inst.row.name.contains("branch")
        || inst.row.family == Family::Sopk && inst.row.name == "s_call_b64";
    relative.then(|| index as i64 + 1 + i64::from(inst.imm as i16))
}

/// As [`check`], for bytes that are in no file of their own.
fn check_bytes(name: &str, bytes: &[u8], target: Target) -> usize {
    let folder = std::env::temp_dir().join(format!("aqlipse-objects-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let path = folder.join("code.co");
    fs::write(&path, bytes).expect("the temporary folder is writable");
    let checked = check(&path, target);
    fs::remove_dir_all(&folder).expect("the temporary folder is ours");
    checked
}

#[test]
fn the_repositorys_code_objects_decode_from_end_to_end() {
    let mut census = Census::default();
    let found = committed();
    for (path, target) in &found {
        let bytes = fs::read(path).expect("the file is part of the repository");
        census.object(&path.display().to_string(), &bytes, *target);
    }
    assert!(found.len() > 60 && census.kernels > 100, "{} objects, {} kernels", found.len(), census.kernels);
    assert_eq!(census.graphics, BTreeMap::new());
    census.assert_executable("the repository");
}

#[test]
fn the_repositorys_code_objects_read_as_llvm_objdump_prints_them() {
    if !llvm::available("llvm-objdump-22", "llvm-22") {
        return;
    }
    for (path, target) in committed() {
        assert!(check(&path, target) > 10, "{}", path.display());
    }
}

/// Cards that rocRAND has kernels for, and how many: for gfx90a each twice, with XNACK and without.
const ROCRAND_KERNELS: [(Target, usize); 2] = [(Target::Gfx90a, 160), (Target::Gfx1030, 80)];

#[test]
fn rocrand_decodes_from_end_to_end() {
    if !installed(ROCRAND, "librocrand1") {
        return;
    }
    for (target, kernels) in ROCRAND_KERNELS {
        let mut census = Census::default();
        for object in rocrand(target.name()) {
            census.object("rocRAND", &object, target);
        }
        assert_eq!(census.kernels, kernels, "{}", target.name());
        assert!(census.instructions > 500 * kernels, "{} instructions", census.instructions);
        assert_eq!(census.graphics, BTreeMap::new());
        census.assert_executable("rocRAND");
    }
}

#[test]
fn rocrand_reads_as_llvm_objdump_prints_it() {
    if !installed(ROCRAND, "librocrand1") || !llvm::available("llvm-objdump-22", "llvm-22") {
        return;
    }
    for (target, _) in ROCRAND_KERNELS {
        for (i, object) in rocrand(target.name()).iter().enumerate() {
            assert!(check_bytes(&format!("rocrand-{}-{i}", target.name()), object, target) > 30_000);
        }
    }
}

#[test]
fn rocrs_copies_and_fills_decode_from_end_to_end() {
    let Some(blits) = blits() else { return };
    let mut census = Census::default();
    for (i, code) in blits.iter().enumerate() {
        let starts = census.sweep(&format!("blit {i}"), Target::Gfx90a, code);
        if llvm::available("llvm-mc-22", "llvm-22") {
            // The words behind the last instruction mean nothing to it.
            let word = |at: usize| code.get(at).copied().unwrap_or(llvm::PAD);
            let samples: Vec<_> = starts.iter().map(|&at| [word(at), word(at + 1)]).collect();
            for (sample, theirs) in samples.iter().zip(llvm::disassemble(Target::Gfx90a, &samples)) {
                let ours = decode(Target::Gfx90a, sample).expect("it has just been decoded");
                let text = disassemble(&ours, Target::Gfx90a);
                assert_eq!(llvm::Verdict::Valid { size: ours.size.into(), text }, theirs);
            }
        }
    }
    assert_eq!(census.instructions, 170);
    census.assert_executable("ROCr's blits");
}

#[test]
fn rocrs_image_copies_decode_but_for_image_instructions() {
    if !installed(ROCR, "libhsa-runtime64-1") {
        return;
    }
    let library = fs::read(ROCR).expect("it was found before");
    let mut census = Census::default();
    for object in rocr_objects(&library).1 {
        census.object("ROCr's image copies", object, Target::Gfx90a);
        if llvm::available("llvm-objdump-22", "llvm-22") {
            assert!(check_bytes("images", object, Target::Gfx90a) > 500);
        }
    }
    assert!(census.kernels >= 10, "{} kernels", census.kernels);
    // They cannot run without images, so it does not matter what else of theirs has no semantics.
    assert_eq!(census.graphics.keys().copied().collect::<Vec<_>>(), ["MIMG"]);
}
