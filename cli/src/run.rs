//! `aqlipse run`: a HIP program on this library.

use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, ExitCode},
};

use aqlipse::memory_report::REPORT_VARIABLE;

use super::{
    installed::{LIBRARY, THUNK, library_folder, thunk_folder},
    sysfs,
};

/// Replaces this process by `program`, with our library before every other. It reports to `memory` what is held when it
/// ends, if that is given, and finds the emulated devices in `/sys` and `/dev` if it is to have `sysfs`.
pub fn run(program: &[OsString], memory: Option<OsString>, sysfs: bool) -> ExitCode {
    let not_here = |file| {
        eprintln!("aqlipse: {file} is not beside this command; build it with `cargo xtask dist`");
        ExitCode::FAILURE
    };
    let Some(folder) = library_folder() else { return not_here(LIBRARY) };
    let Some((name, arguments)) = program.split_first() else { return ExitCode::FAILURE };
    let mut command = Command::new(name);
    command.args(arguments).env("LD_LIBRARY_PATH", before("LD_LIBRARY_PATH", &folder));
    // A program with an RPATH of its own would find another library first; what is preloaded comes before that.
    command.env("LD_PRELOAD", before("LD_PRELOAD", &folder.join(LIBRARY)));
    command.envs(memory.map(|wanted| (REPORT_VARIABLE, wanted)));
    if sysfs {
        let Some(thunk) = thunk_folder() else { return not_here(THUNK) };
        if let Err(error) = sysfs::enter(&thunk) {
            eprintln!("aqlipse: {error}");
            return ExitCode::FAILURE;
        }
        // Without a variable the system has a path of its own.
        command.envs(env::var_os("PATH").map(|_| ("PATH", before("PATH", &thunk.join("bin")))));
    }
    let error = command.exec();
    eprintln!("aqlipse: {}: {error}", Path::new(name).display());
    // As a shell answers for a command that it cannot run.
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
}

/// A list of paths with `first` before what the variable holds.
fn before(variable: &str, first: &Path) -> OsString {
    let mut list = OsString::from(first);
    if let Some(others) = env::var_os(variable).filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}
