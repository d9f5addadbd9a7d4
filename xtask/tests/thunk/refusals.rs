//! What is wrong is said.

use std::process::Command;

use crate::{
    ROCR, ROCR_HEADERS, compile_c, installed,
    process::{on_thunk, run},
    scratch, source, thunk,
};
use xtask::output;

#[test]
fn a_configuration_that_makes_no_sense_is_named() {
    if !installed(&[ROCR, ROCR_HEADERS]) {
        return;
    }
    let program = compile_c(&scratch("init"), "init", &["-l:libhsa-runtime64.so.1"]);
    let finished = run(on_thunk(&program).env("AQLIPSE_EMULATE", "gfx1099"));
    assert_eq!(finished.status.code(), Some(1), "{finished:?}");
    assert!(finished.stderr.contains("AQLIPSE_EMULATE: \"gfx1099\" is no device"), "{}", finished.stderr);
}

#[test]
fn a_device_that_this_rocr_does_not_know_is_named() {
    if !installed(&[ROCR, ROCR_HEADERS]) {
        return;
    }
    let program = compile_c(&scratch("unknown"), "init", &["-l:libhsa-runtime64.so.1"]);
    let finished = run(on_thunk(&program).env("AQLIPSE_EMULATE", "gfx942").env("AQLIPSE_LOG", "warn"));
    assert!(!finished.status.success());
    assert!(finished.stderr.contains("use AQLIPSE_EMULATE=gfx90a"), "{}", finished.stderr);
}

/// A library in ROCr's place that has a function which came after 5.2.3.
#[test]
fn a_rocr_that_is_newer_than_the_interface_is_refused() {
    let directory = scratch("newer");
    let rocr = directory.join("libhsa-runtime64.so.1");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wl,-soname,libhsa-runtime64.so.1", "-o"]).arg(&rocr);
    output(cc.arg(source("newer_rocr.c")).arg("-L").arg(thunk()).arg("-l:libhsakmt.so.1")).unwrap();
    let program = directory.join("main");
    let mut cc = Command::new("cc");
    cc.arg("-DMAIN").arg("-o").arg(&program).arg(source("newer_rocr.c")).arg(&rocr);
    output(cc.arg("-L").arg(thunk()).arg("-l:libhsakmt.so.1")).unwrap();
    let search = format!("{}:{}", thunk().display(), directory.display());
    let finished = run(on_thunk(&program).env("LD_LIBRARY_PATH", search));
    // HSAKMT_STATUS_DRIVER_MISMATCH.
    assert_eq!(finished.status.code(), Some(2), "{finished:?}");
    assert!(finished.stderr.contains("HSA_ENABLE_DTIF=1"), "{}", finished.stderr);
}
