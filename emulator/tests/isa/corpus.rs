//! Compiler output: every instruction of the sources in `data/isa`, by optimisation levels, reads as llvm-objdump
//! prints it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use emulator::isa::{DecodeErrorKind, Target, decode, disassemble};

use super::llvm;

/// Compares every instruction of `object`; returns how many there were.
pub fn check(object: &Path, target: Target) -> usize {
    let listing = llvm::objdump(object, target);
    for (words, theirs) in &listing {
        let ours = decode(target, words);
        if theirs.starts_with("image_") {
            let kind = ours.map(|_| ()).map_err(|e| e.kind);
            assert_eq!(kind, Err(DecodeErrorKind::NotCompute { encoding: "MIMG" }), "{theirs}");
            continue;
        }
        if theirs == "v_illegal" {
            assert!(ours.is_err(), "{words:08x?}");
            continue;
        }
        let ours = ours.map(|inst| (usize::from(inst.size) / 4, disassemble(&inst, target)));
        assert_eq!(ours, Ok((words.len(), theirs.clone())), "{}: {words:08x?}", object.display());
    }
    listing.len()
}

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/isa");
    let entries = folder.read_dir().expect("the folder is part of the repository");
    let mut sources: Vec<_> = entries.map(|entry| entry.expect("a folder entry").path()).collect();
    sources.retain(|path| path.extension().is_some_and(|e| e == "c"));
    sources.sort();
    sources
}

#[test]
fn compiler_output_reads_as_llvm_objdump_prints_it() {
    if !llvm::available("clang-22", "clang-22") || !llvm::available("llvm-objdump-22", "llvm-22") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("aqlipse-isa-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    for source in sources() {
        for target in Target::SETS {
            for level in ["-O0", "-O1", "-O3"] {
                let object = folder.join("corpus.o");
                let compiler = Command::new("clang-22")
                    .args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-c", "-w", level])
                    .arg(format!("-mcpu={}", target.name()))
                    .arg(&source)
                    .arg("-o")
                    .arg(&object)
                    .output()
                    .expect("clang-22 was found before");
                let errors = String::from_utf8_lossy(&compiler.stderr);
                assert!(compiler.status.success(), "{} {level}: {errors}", source.display());
                assert!(check(&object, target) > 500, "{} {level}: too little code", source.display());
            }
        }
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder is ours");
}
