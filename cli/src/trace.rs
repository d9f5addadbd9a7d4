//! `aqlipse trace`: what a HIP program did and when.

mod chrome;
mod model;
mod summary;

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use timeline::TRACE_VARIABLE;

use self::{model::Model, summary::Summary};
use super::run;

/// A program, and where to put what it did.
#[derive(Debug, Args)]
pub struct Trace {
    /// The file: Perfetto's format, or Chrome's JSON if its name ends with `.json`
    #[arg(short, long, value_name = "FILE", default_value = "trace.pftrace")]
    output: PathBuf,
    /// The program and its arguments, behind `--`
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Runs the program, and those that it starts, and writes what they did.
pub fn run(trace: &Trace) -> ExitCode {
    let failed = |path: &Path, error: io::Error| {
        eprintln!("aqlipse: {}: {error}", path.display());
        ExitCode::FAILURE
    };
    // Processes append, from whatever folder they work in.
    let raw = match fs::write(&trace.output, []).and_then(|()| fs::canonicalize(&trace.output)) {
        Ok(raw) => raw,
        Err(error) => return failed(&trace.output, error),
    };
    let Some(mut command) = run::on_this_library(&trace.program) else { return ExitCode::FAILURE };
    command.env(TRACE_VARIABLE, &raw);
    let status = match command.status() {
        Ok(status) => status,
        Err(error) => return run::cannot_run(&command, &error),
    };
    match tell(trace, &raw) {
        Ok(()) => run::exit_code(&command, status),
        Err(error) => failed(&raw, error),
    }
}

fn tell(trace: &Trace, raw: &Path) -> io::Result<()> {
    let model = Model::read(&fs::read(raw)?)?;
    if trace.output.extension().is_some_and(|extension| extension == "json") {
        fs::write(raw, chrome::json(&model).to_string())?;
    }
    eprint!("{}", Summary::of(&model));
    let (events, processes) = (model.events(), model.processes());
    let of = if processes == 1 { "1 process".into() } else { format!("{processes} processes") };
    eprintln!("aqlipse: {events} events of {of} in {}", trace.output.display());
    Ok(())
}
