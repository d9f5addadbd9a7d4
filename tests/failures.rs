//! Hardware that fails: errors where there were waits, and a process that goes on.

use crate::toolchain::{Finished, MATRIX, Output, Program, Toolchain, is_emulated};

/// Runs a test of `failures.hip` on two devices of hardware that fails as `failure` says.
fn run(test: &str, failure: &str) -> Option<Finished> {
    let toolchain = Toolchain::find()?;
    let path = MATRIX[3].compile(&toolchain, "failures.hip", Output::Program);
    let mut program = Program::new(&toolchain, &path, "2xgfx90a").env("AQLIPSE_EMULATE_HARDWARE", failure);
    if is_emulated() {
        program = program.env("IN_PROCESS", "1");
    }
    Some(program.args(&["2", test]).run())
}

#[test]
fn a_device_that_was_reset_is_lost_until_the_program_resets_it() {
    let Some(finished) = run("a_device_that_was_reset_is_lost", "reset@40") else { return };
    finished.expect_passed(&"reset");
}

#[test]
fn damaged_memory_loses_its_device_with_an_error_of_its_own() {
    let Some(finished) = run("a_device_with_damaged_memory_is_lost", "memory-error@40") else { return };
    finished.expect_passed(&"memory-error");
}

#[test]
fn a_queue_that_stops_is_replaced() {
    let Some(finished) = run("a_queue_that_stops_is_replaced", "queue-error@40") else { return };
    finished.expect_passed(&"queue-error");
}

#[test]
fn a_kernel_that_never_ends_hangs_its_stream_alone() {
    let Some(finished) = run("a_kernel_that_never_ends_hangs_its_stream_alone", "hang@40") else { return };
    finished.expect_passed(&"hang");
}
