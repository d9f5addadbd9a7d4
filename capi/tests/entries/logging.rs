use std::{
    ffi::{CStr, c_char},
    process::Command,
};

use capi::error::hipError_t;

use super::*;

unsafe extern "C" {
    fn hipApiName(id: u32) -> *const c_char;
    fn hipGetCmdName(kind: u32) -> *const c_char;
    fn hipProfilerStart() -> hipError_t;
    fn hipProfilerStop() -> hipError_t;
    fn hipExtEnableLogging() -> hipError_t;
    fn hipExtDisableLogging() -> hipError_t;
    fn hipExtSetLoggingParams(level: usize, size: usize, components: usize) -> hipError_t;
}

fn api(id: u32) -> &'static str {
    // SAFETY: a text that stays.
    unsafe { CStr::from_ptr(hipApiName(id)) }.to_str().unwrap()
}

fn command(kind: u32) -> &'static str {
    // SAFETY: a text that stays.
    unsafe { CStr::from_ptr(hipGetCmdName(kind)) }.to_str().unwrap()
}

// proves: hipApiName, hipGetCmdName
#[test]
fn functions_and_commands_have_the_names_of_the_profilers_header() {
    // Numbers of hip_prof_str.h.
    for (id, name) in [
        (1, "__hipPopCallConfiguration"),
        (2, "__hipPushCallConfiguration"),
        (31, "hipDeviceGetAttribute"),
        (421, "hipModuleGetFunctionCount"),
        (430, "hipModuleLoadFatBinary"),
    ] {
        assert_eq!(api(id), name);
    }
    assert_eq!((1..=444).find(|&id| api(id) == "unknown"), None);
    for id in [0, 445, u32::MAX] {
        assert_eq!(api(id), "unknown");
    }
    // Numbers of hip_runtime_prof.h, and what AMD's runtime of October 2024 calls them.
    for (kind, name) in [
        (0x11f0, "KernelExecution"),
        (0x11f3, "CopyDeviceToHost"),
        (0x1203, "CopyDeviceToDevice2D"),
        (0x1207, "FillBuffer"),
        (1, "Unknown command kind"),
        (0x120e, "Unknown command kind"),
    ] {
        assert_eq!(command(kind), name);
    }
}

// proves: hipExtEnableLogging, hipExtDisableLogging, hipExtSetLoggingParams
#[test]
fn a_program_chooses_what_the_log_says() {
    // The log is the process's: a process of its own.
    let own = std::env::current_exe().unwrap();
    let arguments = ["--exact", "logging::log_alone", "--ignored", "--nocapture"];
    let output = Command::new(own).args(arguments).env_remove("AQLIPSE_LOG").output().unwrap();
    let (text, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}{log}");
    let said: Vec<_> = log.lines().filter(|line| line.contains("to be profiled")).collect();
    assert_eq!(
        said,
        [
            "aqlipse: info: the program starts to be profiled",
            "aqlipse: info: the program stops to be profiled"
        ],
        "{log}"
    );
}

#[test]
#[ignore = "changes what the whole process logs; `a_program_chooses_what_the_log_says` runs it"]
fn log_alone() {
    let silent = || {
        ok!(hipProfilerStop(), hipProfilerStart());
    };
    silent();
    ok!(hipExtSetLoggingParams(3, 0, usize::MAX));
    silent();
    ok!(hipExtEnableLogging(), hipProfilerStart());
    ok!(hipExtSetLoggingParams(2, 0, 1));
    silent();
    ok!(hipExtSetLoggingParams(5, 4096, 0));
    silent();
    ok!(hipExtSetLoggingParams(99, 0, 1), hipProfilerStop(), hipExtDisableLogging());
    silent();
}
