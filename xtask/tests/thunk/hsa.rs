//! ROCr alone: an HSA program in C.

use std::{path::PathBuf, process::Command};

use crate::{
    CLANG, DEVICE_LIBRARIES, HIP_HEADERS, ROCR, ROCR_HEADERS, compile_c, hip_compiler, installed,
    process::{on_thunk, run},
    scratch, source,
};
use xtask::{output, root};

/// The HSA program and its device code.
fn program(test: &str) -> Option<(PathBuf, PathBuf)> {
    if !installed(&[CLANG, DEVICE_LIBRARIES, HIP_HEADERS, ROCR, ROCR_HEADERS]) {
        return None;
    }
    let directory = scratch(test);
    let kernels = directory.join("kernels.co");
    let mut clang = hip_compiler();
    clang.args(["--cuda-device-only", "--no-gpu-bundle-output", "-o"]).arg(&kernels);
    output(clang.arg(source("kernels.hip"))).unwrap();
    let include = format!("-I{}", root().join("thunk/include").display());
    Some((
        compile_c(&directory, "hsa", &[&include, "-l:libhsa-runtime64.so.1", "-lpthread", "-ldl"]),
        kernels,
    ))
}

fn topic((program, kernels): &(PathBuf, PathBuf), topic: &str) -> Command {
    let mut command = on_thunk(program);
    command.arg(kernels).arg(topic);
    command
}

#[test]
fn kernels_run_in_order_across_queues() {
    let Some(program) = program("queues") else { return };
    for seed in [None, Some("1"), Some("2")] {
        let mut command = topic(&program, "queues");
        if let Some(seed) = seed {
            command.env("AQLIPSE_EMULATE_SEED", seed);
        }
        let finished = run(&mut command);
        assert_eq!(
            finished.lines(),
            [
                "before the gate opens: waiting",
                "round 0: wrong 0",
                "before the gate opens: waiting",
                "round 1: wrong 0",
                "before the gate opens: waiting",
                "round 2: wrong 0",
                "1000 dispatches: wrong 0",
                "private memory: wrong 0",
                "done",
            ]
        );
    }
}

#[test]
fn rocrs_own_copies_and_fills_are_right() {
    let Some(program) = program("copies") else { return };
    let finished = run(&mut topic(&program, "copies"));
    assert_eq!(
        finished.lines(),
        [
            "168 copies: wrong 0",
            "fills: wrong 0",
            "locked memory: right",
            "pointer info of an interior address: the base, 3145728 bytes",
            "done",
        ]
    );
}

#[test]
fn queue_errors_reach_the_queues_callback() {
    let Some(program) = program("errors") else { return };
    // HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, _EXCEPTION, _INVALID_PACKET_FORMAT.
    for (cause, status) in [("illegal", "0x2a"), ("trap", "0x1016"), ("packet", "0x1009")] {
        let finished = run(&mut topic(&program, cause));
        let queue_error = format!("queue error {status}");
        assert_eq!(finished.lines(), [&queue_error, "afterwards: wrong 0", "done"], "{cause}");
    }
}

#[test]
fn memory_faults_reach_the_system_event_handler() {
    let Some(program) = program("faults") else { return };
    let finished = run(&mut topic(&program, "stray"));
    let fault = "memory fault at 0xdead000, reasons 0x1, agent is the device";
    assert_eq!(finished.lines(), [fault, "afterwards: wrong 0", "done"]);
    // The emulator says more than ROCr can pass on.
    assert!(finished.stderr.contains("write of 4 bytes at 0xdead000"), "{}", finished.stderr);
}

#[test]
fn a_memory_fault_that_nobody_hears_ends_the_process_with_rocrs_message() {
    let Some(program) = program("unheard") else { return };
    let finished = run(&mut topic(&program, "unheard"));
    assert!(!finished.status.success());
    let message = "on address 0xdead000. Reason: Page not present or supervisor privilege.";
    assert!(finished.stderr.contains(message), "{}", finished.stderr);
}

#[test]
fn rocr_tells_which_of_two_sockets_is_near_and_reads_are_counted_by_socket() {
    let Some(program) = program("sockets") else { return };
    let mut command = topic(&program, "sockets");
    command.env("AQLIPSE_EMULATE", "2xgfx90a").env("AQLIPSE_EMULATE_HARDWARE", "two-sockets");
    let finished = run(&mut command);
    assert_eq!(
        finished.lines(),
        [
            "socket 0: distance 52, wrong 0, some near, some far, some early",
            "socket 1: distance 20, wrong 0, some near, none far, some early",
            "done",
        ]
    );
}

#[test]
fn rocr_goes_on_where_events_queues_and_locked_memory_are_scarce() {
    let Some(program) = program("scarce") else { return };
    let finished = run(topic(&program, "scarce").env("AQLIPSE_EMULATE_HARDWARE", "scarce"));
    assert_eq!(
        finished.lines(),
        [
            // HSA_STATUS_ERROR_OUT_OF_RESOURCES.
            "3 chunks of host memory, then 0x1008",
            "signal 5000: done",
            "40 queues: done, in turns",
            "done",
        ]
    );
}

#[test]
fn stores_through_the_window_arrive_when_the_registers_that_rocr_tells_of_flush_them() {
    let Some(program) = program("flush") else { return };
    for (traits, before) in [("discrete", "old"), ("", "new")] {
        let finished = run(topic(&program, "flush").env("AQLIPSE_EMULATE_HARDWARE", traits));
        let before = format!("before the flush: {before}");
        assert_eq!(
            finished.lines(),
            ["registers: two words, one behind the other", &before, "after the flush: new", "done"],
            "{traits:?}"
        );
    }
}
