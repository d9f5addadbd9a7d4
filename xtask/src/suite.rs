//! `cargo xtask test`: everything that a change must pass but formatting and lints.

use std::{fs, process::Command};

use crate::{
    Result, cargo,
    dist::{self, Profile},
    output, packages, run, target_dir,
};

/// Installs what is missing, builds everything and runs every test.
///
/// `device` becomes `AQLIPSE_DEVICE`; `arguments` go to the test runner (nextest, or `cargo test` without it).
///
/// # Errors
/// [`crate::Error`] of the first step that fails.
pub fn run_all(device: Option<&str>, arguments: &[&str]) -> Result {
    let complete = packages::install()?;
    let dist = dist::build(Profile::Release)?;

    let prepared = |arguments: &[&str]| {
        let mut command = cargo();
        command.args(arguments).env("AQLIPSE_DIST", &dist);
        if complete {
            command.env("AQLIPSE_REQUIRE_PACKAGES", "1");
        } else {
            command.env_remove("AQLIPSE_REQUIRE_PACKAGES");
        }
        if let Some(device) = device {
            command.env("AQLIPSE_DEVICE", device);
        }
        command
    };
    let nextest = has_nextest();
    let mut tests = if nextest {
        prepared(&["nextest", "run", "--workspace"])
    } else {
        prepared(&["test", "--workspace", "--lib", "--bins", "--tests"])
    };
    let coverage = target_dir().join("coverage.tsv");
    // Only nextest says which test a process runs, and without its packages a test runs nothing.
    let covers = nextest && complete && arguments.is_empty();
    if covers {
        let _ = fs::remove_file(&coverage);
        tests.env("AQLIPSE_COVERAGE", &coverage);
    }
    run(tests.args(arguments))?;
    if arguments.is_empty() && device.is_none() {
        // Both devices pass everything; the emulator's own tests have run on both above.
        let packages = ["--package", "aqlipse", "--package", "capi", "--package", "hsa"];
        let mut tests = if nextest {
            prepared(&["nextest", "run"])
        } else {
            prepared(&["test", "--lib", "--bins", "--tests"])
        };
        run(tests.args(packages).env("AQLIPSE_EMULATE", "gfx942"))?;
    }
    if covers {
        let mut report = prepared(&["run", "--quiet", "--package", "emulator", "--example", "coverage"]);
        run(report.arg("--").arg(&coverage))?;
    }
    run(&mut prepared(&["test", "--workspace", "--doc"]))?;
    if !arguments.is_empty() {
        return Ok(());
    }
    for example in EXAMPLES {
        run(&mut prepared(&["run", "--quiet", "--release", "--package", "aqlipse", "--example", example]))?;
    }
    // What a newcomer runs first, on less data.
    run(&mut prepared(&[
        "run",
        "--quiet",
        "--release",
        "--package",
        "aqlipse",
        "--",
        "demo",
        "--size",
        "65536",
    ]))?;
    run(&mut models())
}

/// The whole comparison with LLVM's disassembler: every value of every field of every opcode, then `samples` random
/// encodings an opcode. Takes minutes; [`run_all`] takes a sample of it.
///
/// # Errors
/// [`crate::Error`] of the first step that fails.
pub fn isa_oracle(samples: &str) -> Result {
    packages::install()?;
    let mut command = cargo();
    command.args(["test", "--package", "emulator", "--test", "main", "isa::oracle", "--"]);
    command.args(["--include-ignored", "--nocapture"]);
    run(command.env("AQLIPSE_REQUIRE_PACKAGES", "1").env("AQLIPSE_ISA_SAMPLES", samples))
}

/// The programs in `examples/`.
const EXAMPLES: [&str; 2] = ["captured", "explicit"];

/// The loom models of the ring protocol. Their `cfg` changes every crate, so they have a folder of their own.
fn models() -> Command {
    let mut command = cargo();
    command.args(["test", "--package", "hsa", "--release", "--lib", "--target-dir"]);
    command.arg(target_dir().join("loom")).arg("ring::model").env("RUSTFLAGS", "--cfg loom");
    command
}

fn has_nextest() -> bool {
    let mut command: Command = cargo();
    output(command.args(["nextest", "--version"])).is_ok()
}
