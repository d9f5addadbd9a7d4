//! `aqlipse check`: what is wrong with a HIP program, found while it runs on the emulated device.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{self, Command, ExitCode, ExitStatus},
};

use aqlipse::check::{CHECK_VARIABLE, Finding, REPORT_VARIABLE};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::run;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tool {
    /// Nodes of a graph that touch the same bytes in an order that no edge says
    Graph,
}

impl Tool {
    /// The word for it.
    fn word(self) -> &'static str {
        match self {
            Self::Graph => "graph",
        }
    }
}

/// A program, and what to say of it.
#[derive(Debug, Args)]
pub struct Check {
    /// What to look for
    tool: Tool,
    /// The exit code if something was found; without findings it is the program's
    #[arg(long, value_name = "CODE", default_value_t = 1)]
    error_exitcode: u8,
    /// Write the findings to this file as one JSON object
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The program and its arguments, behind `--`
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Runs the program, and those that it starts, and says what was found.
pub fn run(check: &Check) -> ExitCode {
    let report = std::env::temp_dir().join(format!("aqlipse-check-{}", process::id()));
    let Some(mut command) = run::on_this_library(&check.program) else { return ExitCode::FAILURE };
    // What kernels touch only the emulated device says.
    command
        .env("AQLIPSE_DEVICE", "emulated")
        .env(CHECK_VARIABLE, check.tool.word())
        .env(REPORT_VARIABLE, &report);
    let outcome = command.status();
    let findings = findings(&report);
    let status = match outcome {
        Ok(status) => status,
        Err(error) => return run::cannot_run(&command, &error),
    };
    match findings.and_then(|findings| tell(check, &findings).map(|()| findings.is_empty())) {
        Ok(true) => exit_code(&command, status),
        Ok(false) => ExitCode::from(check.error_exitcode),
        Err(error) => {
            eprintln!("aqlipse: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the processes have appended to a file, which is removed.
fn findings(report: &Path) -> io::Result<Vec<Finding>> {
    let text = match fs::read_to_string(report) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    fs::remove_file(report)?;
    let broken = |line: &str| io::Error::other(format!("the report of the program is broken: {line:?}"));
    text.lines().map(|line| Finding::from_line(line).ok_or_else(|| broken(line))).collect()
}

fn tell(check: &Check, findings: &[Finding]) -> io::Result<()> {
    for finding in findings {
        eprintln!("aqlipse: {finding}");
    }
    eprintln!("aqlipse: check {}: {} found", check.tool.word(), findings.len());
    let Some(path) = &check.json else { return Ok(()) };
    let findings: Vec<Value> = findings.iter().map(as_json).collect();
    let object = json!({ "tool": check.tool.word(), "findings": findings });
    fs::write(path, format!("{object:#}\n"))
}

fn as_json(finding: &Finding) -> Value {
    let Finding { executable, parties, bytes, total, allocation } = finding;
    let nodes = parties.each_ref().map(|party| {
        json!({ "node": party.node, "what": party.what, "access": format!("{:?}", party.how).to_lowercase() })
    });
    json!({
        "executable": executable,
        "nodes": nodes,
        "address": bytes.start,
        "bytes": total,
        "allocation": { "address": allocation.start, "bytes": allocation.end - allocation.start },
    })
}

/// The program's exit code; as shells have it, of one that a signal ended.
fn exit_code(command: &Command, status: ExitStatus) -> ExitCode {
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
