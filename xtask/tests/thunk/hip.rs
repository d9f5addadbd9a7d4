//! AMD's libamdhip64 5.2.3, with its own ROCr.

use std::path::PathBuf;

use crate::{
    CLANG, DEVICE_LIBRARIES, HIP, HIP_HEADERS, ROCR, compile_c, compile_hip, installed,
    process::{on_thunk, run, start},
    scratch, source,
};
use xtask::root;

fn toolchain() -> bool {
    installed(&[CLANG, DEVICE_LIBRARIES, HIP_HEADERS, HIP, ROCR])
}

/// One of the programs that our own library runs as well.
fn graph(test: &str, name: &str) -> PathBuf {
    let source = root().join("tests/programs").join(name).with_extension("hip");
    compile_hip(&scratch(test), &source, &["-DNO_GRAPH_MEMORY"])
}

const SMALL: [&str; 2] = ["16384", "3"];

#[test]
fn graphs_of_amds_library_compute_what_they_should() {
    if !toolchain() {
        return;
    }
    for name in ["graph_forkjoin", "graph_capture", "graph_creation"] {
        let program = graph("graphs", name);
        run(on_thunk(&program).args(SMALL)).expect_passed();
        run(on_thunk(&program).args(["1024", "2"]).env("AQLIPSE_EMULATE_SEED", "1")).expect_passed();
    }
}

#[test]
fn processes_do_not_disturb_each_other() {
    if !toolchain() {
        return;
    }
    let program = graph("parallel", "graph_forkjoin");
    let running: Vec<_> = (0..4).map(|_| start(on_thunk(&program).args(SMALL))).collect();
    for process in running {
        process.finish().expect_passed();
    }
}

#[test]
fn copies_fills_and_memsets_of_amds_library_are_right() {
    if !toolchain() {
        return;
    }
    let program = compile_hip(&scratch("copies"), &source("copies.hip"), &[]);
    run(&mut on_thunk(&program)).expect_passed();
}

#[test]
fn two_devices_compute_and_copy_from_each_other() {
    if !toolchain() {
        return;
    }
    let program = compile_hip(&scratch("devices"), &source("devices.hip"), &[]);
    run(on_thunk(&program).env("AQLIPSE_EMULATE", "2xgfx90a")).expect_passed();
}

#[test]
fn hipcc_builds_programs_that_run() {
    let hipcc = "/usr/bin/hipcc";
    if !toolchain() || !installed(&[(hipcc, "hipcc")]) {
        return;
    }
    let (directory, source) = (scratch("hipcc"), root().join("tests/programs/graph_capture.hip"));
    let program = directory.join("graph_capture");
    let mut compile = std::process::Command::new(hipcc);
    compile.args(["--offload-arch=gfx90a", "-DNO_GRAPH_MEMORY", "-o"]).arg(&program).arg(source);
    xtask::output(&mut compile).unwrap();
    run(on_thunk(&program).args(SMALL)).expect_passed();
}

/// The counters of ours, read by a library that the program knows nothing of.
#[test]
fn counters_tell_what_amds_library_sent() {
    if !toolchain() {
        return;
    }
    let directory = scratch("counters");
    let include = format!("-I{}", root().join("thunk/include").display());
    let reader = compile_c(&directory, "counters", &["-shared", "-fPIC", &include, "-ldl"]);
    let program = graph("counters", "graph_forkjoin");
    let finished = run(on_thunk(&program).args(SMALL).env("LD_PRELOAD", reader));
    finished.expect_passed();
    let numbers = finished.stderr.lines().find_map(|line| line.strip_prefix("counters ")).unwrap();
    let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
    let [kernels, barriers, bits, signals, interrupts, doorbells, copies, bytes] = numbers[..] else {
        panic!("{numbers:?}")
    };
    // Three launches of a graph with six kernels, three copies and two memsets; the child adds one kernel. Copies
    // between the host and the device are by engines.
    assert!(kernels + copies >= 3 * 10 && copies > 0 && bytes > copies, "{numbers:?}");
    // HIP: 5.2.3 sets the barrier bit of every kernel's packet.
    assert!(bits >= kernels && barriers > 0 && signals > 0 && interrupts > 0 && doorbells > 0, "{numbers:?}");
}
