//! Hardware that fails: errors where there were waits, and a process that goes on.

use crate::toolchain::{MATRIX, Output, Program, Toolchain, is_emulated, is_without_events};

/// A program of `failures.hip` for the test `test`, on two devices of hardware that fails as `failures` says.
fn program(test: &str, failures: &str) -> Option<Program> {
    let toolchain = Toolchain::find()?;
    let path = MATRIX[3].compile(&toolchain, "failures.hip", Output::Program);
    let program = Program::new(&toolchain, &path, "2xgfx90a").env("AQLIPSE_EMULATE_HARDWARE", failures);
    let program = if is_emulated() { program.env("IN_PROCESS", "1") } else { program };
    Some(program.args(&["2", test]))
}

#[test]
fn a_device_that_was_reset_is_lost_until_the_program_resets_it() {
    if is_without_events() {
        return; // ROCr ends the process.
    }
    let Some(program) = program("a_device_that_was_reset_is_lost", "reset@40") else { return };
    program.run().expect_passed(&"reset");
}

#[test]
fn damaged_memory_loses_its_device_with_an_error_of_its_own() {
    if is_without_events() {
        return; // ROCr ends the process.
    }
    let Some(program) = program("a_device_with_damaged_memory_is_lost", "memory-error@40") else { return };
    program.run().expect_passed(&"memory-error");
}

#[test]
fn a_device_is_reset_again_and_again() {
    if !is_emulated() {
        return; // ROCr tells a process of one loss only.
    }
    let resets: Vec<_> = (1..=12).map(|round| format!("reset@{}", 60 * round)).collect();
    let Some(program) = program("a_device_is_reset_again_and_again", &resets.join(",")) else { return };
    program.run().expect_passed(&"resets");
}

#[test]
fn a_queue_that_stops_is_replaced() {
    let Some(program) = program("a_queue_that_stops_is_replaced", "queue-error@40") else { return };
    program.run().expect_passed(&"queue-error");
}

#[test]
fn a_kernel_that_never_ends_hangs_its_stream_alone_and_is_named() {
    let Some(program) = program("a_kernel_that_never_ends_hangs_its_stream_alone", "hang@40") else { return };
    let finished = program.env("AQLIPSE_WATCHDOG_MS", "1000").run();
    finished.expect_passed(&"hang");
    let is_report = |line: &&str| line.contains(" of device 0 has not moved");
    let report = finished.stderr.lines().find(is_report).unwrap_or_else(|| panic!("{}", finished.stderr));
    assert!(report.contains("kernel _Z4fillPjjj, node 0 of executable 1"), "{report}");
}
