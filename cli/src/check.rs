//! `aqlipse check`: what is wrong with a HIP program, found while it runs on the emulated device.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus},
};

use aqlipse::check::{CHECK_VARIABLE, Finding, REPORT_VARIABLE};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::run;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tool {
    /// Nodes of graphs, and commands of streams, that touch the same bytes in an order that nothing says
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
    /// Write the findings to this file as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Leave out the findings that this file lists: on each line two patterns with `*` for what commands are, `with` between
    /// them
    #[arg(long, value_name = "FILE")]
    suppressions: Option<PathBuf>,
    /// The program and its arguments, behind `--`
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Runs the program, and those that it starts, and says what was found.
pub fn run(check: &Check) -> ExitCode {
    let failed = |error: io::Error| {
        eprintln!("aqlipse: {error}");
        ExitCode::FAILURE
    };
    let suppressions = match Suppressions::read(check.suppressions.as_deref()) {
        Ok(suppressions) => suppressions,
        Err(error) => return failed(error),
    };
    let report = match NamedTempFile::with_prefix("aqlipse-check-") {
        Ok(report) => report,
        Err(error) => return failed(error),
    };
    let Some(mut command) = run::on_this_library(&check.program) else { return ExitCode::FAILURE };
    // What kernels touch only the emulated device says.
    command
        .env("AQLIPSE_DEVICE", "emulated")
        .env(CHECK_VARIABLE, check.tool.word())
        .env(REPORT_VARIABLE, report.path());
    let status = match command.status() {
        Ok(status) => status,
        Err(error) => return run::cannot_run(&command, &error),
    };
    let told = findings(report.path()).and_then(|all| {
        let (suppressed, findings): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|finding| suppressions.cover(finding));
        tell(check, &findings, suppressed.len()).map(|()| findings.is_empty())
    });
    match told {
        Ok(true) => exit_code(&command, status),
        Ok(false) => ExitCode::from(check.error_exitcode),
        Err(error) => failed(error),
    }
}

/// What the processes have appended to a file.
fn findings(report: &Path) -> io::Result<Vec<Finding>> {
    let text = fs::read_to_string(report)?;
    let broken = |line: &str| io::Error::other(format!("the report of the program is broken: {line:?}"));
    text.lines().map(|line| Finding::from_line(line).ok_or_else(|| broken(line))).collect()
}

fn tell(check: &Check, findings: &[Finding], suppressed: usize) -> io::Result<()> {
    for finding in findings {
        eprintln!("aqlipse: {finding}");
    }
    let others = if suppressed > 0 { format!(", {suppressed} suppressed") } else { String::new() };
    eprintln!("aqlipse: check {}: {} found{others}", check.tool.word(), findings.len());
    let write = |path: &Option<PathBuf>, object: &dyn Fn() -> Value| match path {
        Some(path) => fs::write(path, format!("{:#}\n", object())),
        None => Ok(()),
    };
    write(&check.json, &|| {
        let findings: Vec<Value> = findings.iter().map(as_json).collect();
        json!({ "tool": check.tool.word(), "findings": findings })
    })?;
    write(&check.sarif, &|| as_sarif(findings))
}

/// What to leave out.
struct Suppressions(Vec<[String; 2]>);

impl Suppressions {
    /// Reads a file; empty lines, and those that begin with `#`, say nothing.
    fn read(path: Option<&Path>) -> io::Result<Self> {
        let Some(path) = path else { return Ok(Self(Vec::new())) };
        let named = |error: &dyn std::fmt::Display| io::Error::other(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| named(&error))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let pair = |line: &str| {
            let pair =
                line.split_once(" with ").map(|(one, other)| [one, other].map(|what| what.trim().to_owned()));
            pair.ok_or_else(|| named(&format!("{line:?} is not two patterns with `with` between them")))
        };
        lines.map(pair).collect::<io::Result<_>>().map(Self)
    }

    fn cover(&self, finding: &Finding) -> bool {
        let [one, other] = finding.parties.each_ref().map(|party| &*party.what);
        self.0.iter().any(|[first, second]| {
            fits(first, one) && fits(second, other) || fits(first, other) && fits(second, one)
        })
    }
}

/// Whether a text is what a pattern says, in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|behind| {
            let mut places = behind.char_indices().map(|(place, _)| place).chain([behind.len()]);
            places.any(|place| fits(rest, &behind[place..]))
        }),
    }
}

/// The findings in the format that tools of continuous integration read (OASIS SARIF 2.1.0).
fn as_sarif(findings: &[Finding]) -> Value {
    const RULE: &str = "graph/unordered";
    let result = |finding: &Finding| {
        let commands = finding.parties.each_ref().map(
            |party| json!({ "name": party.what, "fullyQualifiedName": party.place, "kind": "function" }),
        );
        json!({
            "ruleId": RULE,
            "level": "error",
            "message": { "text": finding.to_string() },
            "locations": [{ "logicalLocations": commands }],
        })
    };
    let rule = json!({
        "id": RULE,
        "shortDescription": { "text": "Two commands touch the same bytes in an order that nothing says." },
    });
    let driver = json!({ "name": "aqlipse check", "version": env!("CARGO_PKG_VERSION"), "rules": [rule] });
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "results": results }],
    })
}

fn as_json(finding: &Finding) -> Value {
    let Finding { parties, of_one_launch, bytes, total, allocation } = finding;
    let commands = parties.each_ref().map(|party| {
        json!({ "place": party.place, "what": party.what, "access": format!("{:?}", party.how).to_lowercase() })
    });
    json!({
        "commands": commands,
        "of_one_launch": of_one_launch,
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

#[cfg(test)]
mod tests {
    use aqlipse::check::{How, Party};

    use super::*;

    fn finding(kinds: [&str; 2]) -> Finding {
        let parties =
            kinds.map(|what| Party { place: "stream 1".into(), what: what.into(), how: How::Write });
        Finding { parties, of_one_launch: false, bytes: 16..20, total: 4, allocation: 0..64 }
    }

    #[test]
    fn patterns_are_whole_texts_with_gaps() {
        for (pattern, text) in
            [("memset", "memset"), ("*", ""), ("*", "x"), ("kernel put(*)", "kernel put(int*)")]
        {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        assert!(fits("kernel a*b*c", "kernel abxbc") && fits("*\u{fc}*", "gr\u{fc}n"));
        for (pattern, text) in [("memset", "memsets"), ("", "x"), ("a*b", "abc"), ("*b", "bc")] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn suppressions_name_pairs_in_either_order() {
        let file = NamedTempFile::new().unwrap();
        fs::write(file.path(), "# known\n\nmemset with kernel f*\n").unwrap();
        let suppressions = Suppressions::read(Some(file.path())).unwrap();
        assert!(suppressions.cover(&finding(["kernel f(int*)", "memset"])));
        assert!(suppressions.cover(&finding(["memset", "kernel f(int*)"])));
        assert!(!suppressions.cover(&finding(["memset", "memset"])));
        fs::write(file.path(), "memset\n").unwrap();
        assert!(
            Suppressions::read(Some(file.path())).is_err_and(|error| error.to_string().contains("memset"))
        );
    }
}
