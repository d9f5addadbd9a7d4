//! Copy engines below ROCr, which uses them by default.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    ROCR, ROCR_HEADERS, compile_c, installed,
    process::{Finished, on_thunk, run},
    scratch,
};
use xtask::root;

fn program(test: &str) -> Option<PathBuf> {
    if !installed(&[ROCR, ROCR_HEADERS]) {
        return None;
    }
    let include = format!("-I{}", root().join("thunk/include").display());
    Some(compile_c(&scratch(test), "engines", &[&include, "-l:libhsa-runtime64.so.1", "-ldl"]))
}

/// A command with two devices, and ROCr's own choice of engines.
fn on_two(program: &Path) -> Command {
    let mut command = on_thunk(program);
    command.env("AQLIPSE_EMULATE", "2xgfx90a").env_remove("HSA_ENABLE_SDMA");
    command
}

#[test]
fn rocrs_asynchronous_copies_are_by_engines() {
    let Some(program) = program("engines") else { return };
    let finished = run(&mut on_two(&program));
    let none = "0 copies, 0 bytes, 0 kernels;";
    assert_eq!(
        finished.lines(),
        [
            &format!("at first: {none} {none}"),
            // A packet of 5.2.3 copies 0x3fffe0 bytes at most.
            &format!("up: 2 copies, 5000001 bytes, 0 kernels; {none}"),
            &format!("down: 2 copies, 5000001 bytes, 0 kernels; {none}"),
            "there and back: right",
            &format!("to the peer: 1 copies, 70000 bytes, 0 kernels; {none}"),
            "on the peer: right",
            "before the gate opens: waiting",
            "behind the gate: right",
            &format!("behind the gate: 1 copies, 64 bytes, 0 kernels; {none}"),
            "a box: right",
            // Fills are kernels of ROCr's.
            &format!("a box: 1 copies, 105 bytes, 1 kernels; {none}"),
            "many: wrong 0",
            &format!("many: 20000 copies, 160000 bytes, 0 kernels; {none}"),
            "times: right",
            "done",
        ]
    );
}

#[test]
fn rocr_without_engines_copies_by_kernels() {
    let Some(program) = program("no-engines") else { return };
    let finished: Finished = run(on_two(&program).env("HSA_ENABLE_SDMA", "0"));
    let up = finished.stdout.lines().find(|line| line.starts_with("up:")).unwrap_or_default();
    assert_eq!(up, "up: 0 copies, 0 bytes, 1 kernels; 0 copies, 0 bytes, 0 kernels;", "{finished:?}");
}

#[test]
fn an_engine_that_meets_a_stray_address_is_a_memory_fault_of_its_device() {
    let Some(program) = program("stray") else { return };
    let finished = run(on_two(&program).arg("stray"));
    assert_eq!(finished.lines().last(), Some(&"memory fault at 0xdead000, agent is device 0"));
    let report = "a copy reads 4096 bytes at 0xdead000, and the device does not reach 0xdead000";
    assert!(finished.stderr.contains(report), "{}", finished.stderr);
}
