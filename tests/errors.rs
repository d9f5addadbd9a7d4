//! Mistakes of programs: the right error, and a process that goes on.

use std::{env, process};

use crate::toolchain::{Build, Compiler, MATRIX, Output, Program, Toolchain, is_emulated, offers};

/// Behind these a device of ROCr's runs nothing any more.
const MEMORY_FAULTS: [&str; 4] = [
    "-store_outside_every_allocation",
    "-store_behind_an_allocation",
    "-fault_is_reported_by_the_next_synchronising_call_of_the_stream",
    "-fault_inside_a_graph",
];

#[test]
fn every_mistake_has_its_error_and_leaves_the_process_usable() {
    let Some(toolchain) = Toolchain::find() else { return };
    for build in [MATRIX[1], MATRIX[3], MATRIX[5]].into_iter().filter(|build| offers(build.arch)) {
        let path = build.compile(&toolchain, "errors.hip", Output::Program);
        // clang-15 has no way to write a bundle alone.
        let module =
            Build { compiler: Compiler::Clang22, ..build }.compile(&toolchain, "module.hip", Output::Bundle);
        let damaged = env::temp_dir().join(format!("aqlipse-{}-{}.hipfb", process::id(), build.arch));
        let finished = Program::new(&toolchain, &path, build.arch)
            .env("MODULE", &module.display().to_string())
            .env("DAMAGED", &damaged.display().to_string())
            .args(if is_emulated() { &[] } else { &MEMORY_FAULTS })
            .run();
        // Missing if the program failed early.
        let _ = std::fs::remove_file(&damaged);
        finished.expect_passed(&build);
    }
}
