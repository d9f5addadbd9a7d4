//! `cargo xtask sanitize`: tests under the compiler's sanitizers (docs/adr/0026-sanitizers.md).
//!
//! The compiler that builds the project instruments the tests, too: what is unstable about that is a flag of the
//! command line, and the sanitizers' runtimes come with the toolchain. ThreadSanitizer must see every synchronisation,
//! or reports races that are none; so the standard library is built along with the tests, from the toolchain's
//! component `rust-src`.

use std::{env, path::Path, process::Command};

use crate::{Error, Result, cargo, output, root, run, suite::has_nextest, target_dir};

/// What a run looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sanitizer {
    /// Data races.
    Thread,
    /// Accesses out of bounds and after the end of what is accessed; leaks.
    Address,
    /// Leaks alone, on code that is not instrumented: faster.
    Leak,
}

/// One call of the test runner.
struct Tests {
    /// Its arguments, between blanks.
    arguments: &'static str,
    environment: &'static [(&'static str, &'static str)],
    /// What ThreadSanitizer does not report: a file of the workspace.
    suppressions: Option<&'static str>,
}

impl Tests {
    const fn new(arguments: &'static str) -> Self {
        Self { arguments, environment: &[], suppressions: None }
    }
}

/// The soak, with all kernels: device memory is watched like any other, so a packet that does not wait for what it
/// should is a race, too. Then calls at random, whose kernels race by themselves and are left out, and the other tests
/// of the C API, some of which poll words that device code writes.
const THREAD: &[Tests] = &[
    Tests::new("--package capi --test entries -- --include-ignored threads::"),
    Tests {
        environment: &[("AQLIPSE_EMULATE_SEED", "7"), ("AQLIPSE_THREADS_SECONDS", "15")],
        ..Tests::new("--package capi --test entries -- --ignored threads::")
    },
    Tests {
        environment: &[("AQLIPSE_EMULATE_NULL", "1")],
        ..Tests::new("--package capi --test entries -- random::threads")
    },
    Tests {
        suppressions: Some("xtask/device-code.supp"),
        ..Tests::new("--package capi --test entries -- --skip random:: --skip threads::")
    },
    Tests::new("--package aqlipse-hsa --lib"),
];

/// Everything that the C API's tests and the runtime's do in their own process.
const MEMORY: &[Tests] = &[
    Tests::new("--package capi --test entries"),
    Tests::new("--package capi --test entries -- --ignored threads::"),
    Tests::new("--package aqlipse --package aqlipse-hsa --lib"),
];

impl Sanitizer {
    /// What the compiler calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Address => "address",
            Self::Leak => "leak",
        }
    }

    /// The environment variable of its runtime's options, and what we want of it.
    fn options(self) -> (&'static str, &'static str) {
        // All of them: what callers count may be more than there is. It is asked for politely, and not a find.
        match self {
            // A report needs both stacks, and the other one may be some thousand accesses old.
            Self::Thread => {
                ("TSAN_OPTIONS", "history_size=4:second_deadlock_stack=1:allocator_may_return_null=1")
            }
            // Random calls check what memory their process has: little of it may wait to be freed.
            Self::Address => (
                "ASAN_OPTIONS",
                "detect_stack_use_after_return=1:strict_string_checks=1:quarantine_size_mb=8:\
                 allocator_may_return_null=1",
            ),
            Self::Leak => ("LSAN_OPTIONS", "report_objects=1:allocator_may_return_null=1"),
        }
    }

    fn tests(self) -> &'static [Tests] {
        match self {
            Self::Thread => THREAD,
            Self::Address | Self::Leak => MEMORY,
        }
    }
}

/// Runs tests under `sanitizer`: those that `selection` names to the test runner, or those that the sanitizer is for.
///
/// # Errors
/// [`Error::Failed`] of the first run in which something is found; [`Error::Start`].
pub fn sanitize(sanitizer: Sanitizer, selection: &[&str]) -> Result {
    let compiler = output(Command::new("rustc").arg("-vV").current_dir(root()))?;
    let Some(host) = compiler.lines().find_map(|line| line.strip_prefix("host: ")) else {
        return Err(Error::Usage("rustc does not say what it compiles for".into()));
    };
    if sanitizer == Sanitizer::Thread {
        fetch_standard_library()?;
    }
    let nextest = has_nextest();
    if !selection.is_empty() {
        return run(instrumented(sanitizer, host, nextest, None).args(selection));
    }
    for tests in sanitizer.tests() {
        let mut command = instrumented(sanitizer, host, nextest, tests.suppressions);
        run(command.args(tests.arguments.split(' ')).envs(tests.environment.iter().copied()))?;
    }
    Ok(())
}

/// A test runner for instrumented code.
fn instrumented(sanitizer: Sanitizer, host: &str, nextest: bool, suppressions: Option<&str>) -> Command {
    let name = sanitizer.name();
    let mut command = cargo();
    if nextest {
        command.args(["nextest", "run"]);
    } else {
        // Tests that capture would stand in each other's way in one process.
        command.arg("test").env("RUST_TEST_THREADS", "1");
    }
    // With a target named, what runs while building is not instrumented. What is has a folder of its own.
    command.args(["--target", host, "--target-dir"]).arg(target_dir().join("sanitize").join(name));
    if sanitizer == Sanitizer::Thread {
        command.args(["-Z", "build-std"]);
    }
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", format!("-Zsanitizer={name}"));
    // For tests that count what the sanitizer changes.
    command.env("AQLIPSE_SANITIZER", name);
    let (variable, ours) = sanitizer.options();
    let mut options = ours.to_owned();
    if let Some(file) = suppressions {
        options += &format!(":suppressions={}", root().join(file).display());
    }
    // Of two values of an option the later one counts.
    if let Ok(given) = env::var(variable) {
        options += &format!(":{given}");
    }
    command.env(variable, options);
    command
}

/// Sees to it that the toolchain has the standard library's sources.
fn fetch_standard_library() -> Result {
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]).current_dir(root()))?;
    if Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/std").exists() {
        return Ok(());
    }
    run(Command::new("rustup").args(["component", "add", "rust-src"]).current_dir(root()))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    const ALL: [Sanitizer; 3] = [Sanitizer::Thread, Sanitizer::Address, Sanitizer::Leak];

    #[test]
    fn a_sanitizer_has_the_compilers_name() {
        for sanitizer in ALL {
            assert_eq!(Sanitizer::from_str(sanitizer.name(), false), Ok(sanitizer));
        }
    }

    #[test]
    fn only_races_need_a_standard_library_of_their_own() {
        for sanitizer in ALL {
            let command = instrumented(sanitizer, "x86_64-unknown-linux-gnu", true, None);
            let builds = command.get_args().any(|word| word == "build-std");
            assert_eq!(builds, sanitizer == Sanitizer::Thread);
        }
    }

    #[test]
    fn the_soak_runs_with_nothing_suppressed() {
        for sanitizer in ALL {
            let soaks =
                sanitizer.tests().iter().filter(|tests| tests.arguments.ends_with("ignored threads::"));
            assert!(soaks.clone().count() > 0 && soaks.clone().all(|tests| tests.suppressions.is_none()));
        }
    }

    #[test]
    fn suppressions_are_where_the_runs_look_for_them() {
        for file in THREAD.iter().filter_map(|tests| tests.suppressions) {
            assert!(root().join(file).is_file(), "{file}");
        }
    }
}
