//! `aqlipse run`: a HIP program on this library.

use std::{
    env,
    ffi::OsString,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Command, ExitCode, ExitStatus},
};

use aqlipse::memory_report::REPORT_VARIABLE;

use super::{
    installed::{LIBRARY, THUNK, library_folder, thunk_folder},
    sysfs,
};

/// Replaces this process by `program`, with our library before every other. It reports to `memory` what is held when it
/// ends, if that is given, and finds the emulated devices in `/sys` and `/dev` if it is to have `sysfs`.
pub fn run(program: &[OsString], memory: Option<OsString>, sysfs: bool) -> ExitCode {
    let Some(mut command) = on_this_library(program) else { return ExitCode::FAILURE };
    command.envs(memory.map(|wanted| (REPORT_VARIABLE, wanted)));
    if sysfs {
        let Some(thunk) = thunk_folder() else {
            not_here(THUNK);
            return ExitCode::FAILURE;
        };
        if let Err(error) = sysfs::enter(&thunk) {
            eprintln!("aqlipse: {error}");
            return ExitCode::FAILURE;
        }
        // Without a variable the system has a path of its own.
        command.envs(env::var_os("PATH").map(|_| ("PATH", before("PATH", &thunk.join("bin")))));
    }
    let error = command.exec();
    cannot_run(&command, &error)
}

/// A program with our library before every other; `None`, and a line on stderr, if the library is not there.
pub fn on_this_library(program: &[OsString]) -> Option<Command> {
    let Some(folder) = library_folder() else {
        not_here(LIBRARY);
        return None;
    };
    let (name, arguments) = program.split_first()?;
    let mut command = Command::new(name);
    command.args(arguments).env("LD_LIBRARY_PATH", before("LD_LIBRARY_PATH", &folder));
    // A program with an RPATH of its own would find another library first; what is preloaded comes before that.
    command.env("LD_PRELOAD", before("LD_PRELOAD", &folder.join(LIBRARY)));
    Some(command)
}

fn not_here(file: &str) {
    eprintln!("aqlipse: {file} is not beside this command; build it with `cargo xtask dist`");
}

/// Says why a program does not run, as a shell answers for a command that it cannot run.
pub fn cannot_run(command: &Command, error: &std::io::Error) -> ExitCode {
    eprintln!("aqlipse: {}: {error}", Path::new(command.get_program()).display());
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
}

/// The program's exit code; as shells have it, of one that a signal ended.
pub fn exit_code(command: &Command, status: ExitStatus) -> ExitCode {
    match (status.code(), status.signal()) {
        // CAST: Linux has exit codes of 8 bits.
        (Some(code), _) => ExitCode::from(code as u8),
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            eprintln!("aqlipse: {}: ended by signal {signal}", Path::new(command.get_program()).display());
            // CAST: signals are numbers below 65.
            ExitCode::from(128 + signal as u8)
        }
    }
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
