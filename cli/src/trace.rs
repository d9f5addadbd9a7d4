//! `aqlipse trace`: what a HIP program did and when.

mod chrome;
mod model;
mod page;
mod summary;

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use aqlipse::DUMP_VARIABLE;
use clap::Args;
use tempfile::TempDir;
use timeline::TRACE_VARIABLE;

use self::{model::Model, summary::Summary};
use super::run;
use crate::dumped::Graph;

/// A program, and where to put what it did.
#[derive(Debug, Args)]
pub struct Trace {
    /// The file: Perfetto's format, or Chrome's JSON if its name ends with `.json`
    #[arg(short, long, value_name = "FILE", default_value = "trace.pftrace")]
    output: PathBuf,
    /// Write a page beside, which a browser shows without a network: the timeline and the graphs
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
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
    // What the page shows beside the timeline.
    let graphs = match trace.html.as_ref().map(|_| tempfile::tempdir()).transpose() {
        Ok(graphs) => graphs,
        Err(error) => return failed(&std::env::temp_dir(), error),
    };
    command.envs(graphs.as_ref().map(|graphs| (DUMP_VARIABLE, graphs.path())));
    let status = match command.status() {
        Ok(status) => status,
        Err(error) => return run::cannot_run(&command, &error),
    };
    match tell(trace, &raw, graphs.as_ref().map(TempDir::path)) {
        Ok(()) => run::exit_code(&command, status),
        Err(error) => failed(&raw, error),
    }
}

fn tell(trace: &Trace, raw: &Path, graphs: Option<&Path>) -> io::Result<()> {
    let model = Model::read(&fs::read(raw)?)?;
    if model.left_out > 0 {
        eprintln!(
            "aqlipse: warning: {}: the last {} bytes are no whole message and are left out",
            trace.output.display(),
            model.left_out
        );
    }
    if let (Some(path), Some(graphs)) = (&trace.html, graphs) {
        let words: Vec<_> = trace.program.iter().map(|word| word.to_string_lossy()).collect();
        fs::write(path, page::html(&words.join(" "), &model, &Graph::all_in(graphs)?))?;
    }
    if trace.output.extension().is_some_and(|extension| extension == "json") {
        fs::write(raw, chrome::json(&model).to_string())?;
    }
    eprint!("{}", Summary::of(&model));
    let (events, processes) = (model.events(), model.processes());
    let of = if processes == 1 { "1 process".into() } else { format!("{processes} processes") };
    let page = trace.html.as_ref().map_or(String::new(), |page| format!(" and {}", page.display()));
    eprintln!("aqlipse: {events} events of {of} in {}{page}", trace.output.display());
    Ok(())
}
