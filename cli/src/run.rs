//! `aqlipse run`: a HIP program on this library.

use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, ExitCode},
};

use aqlipse::memory_report::REPORT_VARIABLE;

use super::installed::{LIBRARY, library_folder};

/// Replaces this process by `program`, with our library before every other. It reports to `memory` what is held when it
/// ends, if that is given.
pub fn run(program: &[OsString], memory: Option<OsString>) -> ExitCode {
    let Some(folder) = library_folder() else {
        eprintln!("aqlipse: {LIBRARY} is not beside this command; build it with `cargo xtask dist`");
        return ExitCode::FAILURE;
    };
    let Some((name, arguments)) = program.split_first() else { return ExitCode::FAILURE };
    let mut path = OsString::from(&folder);
    if let Some(before) = env::var_os("LD_LIBRARY_PATH").filter(|p| !p.is_empty()) {
        path.push(":");
        path.push(before);
    }
    // A program with an RPATH of its own would find another library first; what is preloaded comes before that.
    let mut preload = OsString::from(folder.join(LIBRARY));
    if let Some(before) = env::var_os("LD_PRELOAD").filter(|p| !p.is_empty()) {
        preload.push(":");
        preload.push(before);
    }
    let mut command = Command::new(name);
    command.args(arguments).env("LD_LIBRARY_PATH", path).env("LD_PRELOAD", preload);
    command.envs(memory.map(|wanted| (REPORT_VARIABLE, wanted)));
    let error = command.exec();
    eprintln!("aqlipse: {}: {error}", Path::new(name).display());
    // As a shell answers for a command that it cannot run.
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
}
