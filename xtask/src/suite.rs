//! `cargo xtask test`: everything that a change must pass but formatting and lints.

use std::{env, fs, path::Path, process::Command};

use crate::{
    Error, Result, calls, cargo, clients, conformance, dist, headers,
    link::Profile,
    output, packages, pseudocode, read,
    rocr::{Rocr, library_path},
    run,
    skips::Skips,
    target_dir, unkind,
};

/// Installs what is missing, builds everything and runs every test; says at its end what it skipped, and why.
///
/// `arguments` go to the test runner (nextest, or `cargo test` without it). Without them, on every device, clients run as
/// well: all of them if `all_clients`.
///
/// # Errors
/// [`crate::Error`] of the first step that fails; [`crate::Error::Skipped`] if a step was skipped and
/// `AQLIPSE_REQUIRE_PACKAGES` is set.
pub fn run_all(on: On<'_>, all_clients: bool, arguments: &[&str]) -> Result {
    let rocr = match on {
        On::Rocr(folder) => Some(Rocr::find(folder)?),
        On::All | On::Device(_) | On::Hardware(_) => None,
    };
    let mut skips = Skips::default();
    let outcome = run_steps(on, rocr.as_ref(), all_clients, arguments, &mut skips);
    let skipped = skips.report();
    outcome.and(skipped)
}

/// What the tests run on.
#[derive(Clone, Copy, Debug)]
pub enum On<'a> {
    /// Every device in turn, each with the tests that concern it.
    All,
    /// One, by the value of `AQLIPSE_DEVICE`.
    Device(&'a str),
    /// The ROCr in a folder; only what runs on a device is tested.
    Rocr(&'a Path),
    /// Emulated devices with these traits of hardware, or with each of [`unkind::TRAITS`] if that is empty; only what runs
    /// on a device is tested.
    Hardware(&'a str),
}

fn run_steps(
    on: On<'_>,
    rocr: Option<&Rocr>,
    all_clients: bool,
    arguments: &[&str],
    skips: &mut Skips,
) -> Result {
    let installed = packages::install()?;
    if !installed {
        let missing = packages::missing().join(" ");
        skips.add(
            "what AMD's driver and library are needed for",
            format!("missing Debian packages: {missing}"),
        );
    }
    let fetched = headers::fetch()?;
    if !fetched {
        skips.add("programs of HIP 6 and 7", "their headers cannot be fetched from PyPI");
    }
    let complete = installed && fetched;
    let nextest = has_nextest();
    if !nextest {
        skips.add(
            "a process for each test, which instructions tests execute, which functions they call, what they skip",
            "cargo-nextest is not installed",
        );
    }
    let dist = dist::build(Profile::Release)?;

    let choose_any = |command: &mut Command| match (on, rocr) {
        (On::Device(device), _) => choose(command, device, &dist),
        (On::Rocr(_), Some(rocr)) => rocr.choose(command, &dist.join("thunk"), has_gpu()),
        (On::All | On::Rocr(_) | On::Hardware(_), _) => Ok(()),
    };
    let prepared = |arguments: &[&str]| -> Result<Command> {
        let mut command = cargo();
        command.args(arguments).env("AQLIPSE_DIST", &dist).env("AQLIPSE_RTC_CACHE", "0");
        if complete {
            command.env("AQLIPSE_REQUIRE_PACKAGES", "1");
        } else {
            command.env_remove("AQLIPSE_REQUIRE_PACKAGES");
        }
        choose_any(&mut command)?;
        Ok(command)
    };
    let runner = |packages: &[&str]| {
        let mut command = if nextest {
            prepared(&["nextest", "run"])?
        } else {
            prepared(&["test", "--lib", "--bins", "--tests"])?
        };
        command.args(packages);
        Result::Ok(command)
    };
    let mut run_tests = |tests: &mut Command| {
        Skips::start_tests();
        let outcome = run(tests);
        skips.add_from_tests();
        outcome
    };
    let everything = matches!(on, On::All) && arguments.is_empty();
    let on_device = || runner(if nextest { &["--workspace"] } else { &RUNTIME_PACKAGES });
    let on_hardware = |run: &unkind::Run| {
        let mut command = on_device()?;
        if let Some(device) = run.device {
            choose(&mut command, device, &dist)?;
        }
        command.args(["-E", &run.tests]).envs(run.variables());
        Result::Ok(command)
    };
    if let On::Hardware(traits) = on {
        if !(nextest && complete) {
            return Err(Error::Usage("--hardware needs cargo-nextest and the packages of the tests".into()));
        }
        let run = |run: &unkind::Run| run_tests(on_hardware(run)?.args(arguments));
        return run_all_on_hardware(traits, arguments, run);
    }
    let mut tests = runner(&["--workspace"])?;
    if rocr.is_some() {
        // What else is tested brings its own ROCr, or needs none.
        tests = on_device()?;
        if arguments.is_empty() {
            only(&mut tests, nextest, &[]);
        }
    }
    let [coverage, calls] = ["coverage.tsv", "calls.tsv"].map(|name| target_dir().join(name));
    // Only nextest says which test a process runs, and without its packages a test runs nothing.
    let covers = nextest && complete && everything;
    if covers {
        for (variable, file) in [("AQLIPSE_COVERAGE", &coverage), (calls::VARIABLE, &calls)] {
            let _ = fs::remove_file(file);
            tests.env(variable, file);
        }
    }
    if everything {
        // Without it the test says that it does nothing.
        match pseudocode::text() {
            Ok(text) => drop(tests.env(pseudocode::VARIABLE, text)),
            Err(error) => eprintln!("no pseudocode: {error}"),
        }
        // Here, where no clock runs: the tests look for them in the build folder.
        if let Err(error) = packages::perfetto().and_then(|_| packages::viewer()) {
            eprintln!("no description of Perfetto's format, or no viewer: {error}");
        }
    }
    if complete && everything {
        // Here, where no clock runs: a test would be taken for one that hangs.
        run(&mut build_halo())?;
    }
    run_tests(tests.args(arguments))?;
    if everything {
        // What chooses its devices itself has run on all of them; the rest passes on others, too.
        if nextest {
            let on_any = format!("{} and {ON_ANY_CARD}", unkind::RUNTIME);
            run_tests(on_device()?.args(["-E", &on_any]).env("AQLIPSE_EMULATE", "gfx942"))?;
            // The Rust interface also with waves of 32 lanes.
            let interface = format!("binary(=main) and {ON_ANY_CARD}");
            run_tests(on_device()?.args(["-E", &interface]).env("AQLIPSE_EMULATE", "gfx1100"))?;
        } else {
            run_tests(only(&mut on_device()?, nextest, &[]).env("AQLIPSE_EMULATE", "gfx942"))?;
        }
        if complete {
            // And on AMD's driver; the Rust interface also in another order that is legal.
            let on_rocr = || {
                let mut tests = on_device()?;
                choose(&mut tests, "rocr", &dist)?;
                Result::Ok(tests)
            };
            run_tests(only(&mut on_rocr()?, nextest, &REPETITIONS))?;
            let mut in_any_order = on_rocr()?;
            if nextest {
                in_any_order.args(["-E", unkind::ON_CARDS]);
            } else {
                only(&mut in_any_order, nextest, &REPETITIONS);
            }
            run_tests(in_any_order.env("AQLIPSE_EMULATE_SEED", "4"))?;
            // On caches that keep coherent only what fences ask for, in some of the orders that are legal.
            let seeds = strict_seeds()?;
            if nextest {
                for (seed, card) in (1..=seeds).zip(["gfx90a", "gfx1201"].into_iter().cycle()) {
                    let mut tests = on_device()?;
                    tests.args(["-E", RANDOM_GRAPHS]).env("AQLIPSE_EMULATE_COHERENCE", "strict");
                    tests.env("AQLIPSE_EMULATE", card);
                    run_tests(tests.env("AQLIPSE_EMULATE_SEED", seed.to_string()))?;
                }
            }
            if nextest {
                for run in unkind::selection() {
                    run_tests(&mut on_hardware(&run)?)?;
                }
            }
            // In its own environment: it runs on every device that there is.
            let calls = covers.then(|| calls.clone());
            conformance::command(&conformance::Options {
                check: true,
                seeds,
                calls,
                ..conformance::Options::default()
            })?;
        }
    }
    if everything {
        let chosen = clients::CLIENTS.iter().filter(|client| client.fast || all_clients).collect::<Vec<_>>();
        clients::run(&chosen, &dist, skips)?;
    }
    // Of the workspace, as the tests are: a package by itself asks less of what it needs, which would be built anew.
    run(&mut prepared(&["build", "--workspace", "--examples"])?)?;
    let example = |name: &str| target_dir().join("debug/examples").join(name);
    if covers {
        run(Command::new(example("coverage")).arg(&coverage))?;
        calls::check(&read(&calls)?)?;
    }
    if rocr.is_none() {
        run(&mut prepared(&["test", "--workspace", "--doc"])?)?;
    }
    if !arguments.is_empty() {
        return Ok(());
    }
    for name in EXAMPLES {
        let mut command = Command::new(example(name));
        choose_any(&mut command)?;
        run(&mut command)?;
    }
    // What a newcomer runs first, on less data.
    run(&mut prepared(&[
        "run",
        "--quiet",
        "--release",
        "--package",
        "aqlipse-cli",
        "--",
        "demo",
        "--size",
        "65536",
    ])?)?;
    if rocr.is_some() {
        return Ok(());
    }
    run(&mut models())
}

/// Runs all that runs on a device with some traits of hardware, or with each, the conformance programs too if there are no
/// `arguments`. All of it runs, whatever fails.
fn run_all_on_hardware(
    traits: &str,
    arguments: &[&str],
    mut run: impl FnMut(&unkind::Run) -> Result,
) -> Result {
    let mut outcomes = Vec::new();
    for one in unkind::everything(traits, &REPETITIONS) {
        let device = one.device.unwrap_or("emulated");
        let what =
            format!("{device} {}", one.variables().map(|(_, value)| value).collect::<Vec<_>>().join(" "));
        outcomes.push((what, run(&one)));
    }
    let chosen = [traits];
    let all = if traits.is_empty() { &unkind::TRAITS[..] } else { &chosen };
    for traits in all.iter().filter(|_| arguments.is_empty()) {
        let outcome = conformance::command(&conformance::Options {
            configurations: vec![conformance::Configuration::Ours],
            hardware: Some((*traits).into()),
            seeds: 1,
            ..conformance::Options::default()
        });
        outcomes.push((format!("conformance programs {traits}"), outcome));
    }
    for (what, outcome) in &outcomes {
        println!("{what}: {}", outcome.as_ref().map_or_else(ToString::to_string, |()| "passed".into()));
    }
    outcomes.into_iter().try_for_each(|(_, outcome)| outcome)
}

/// The whole comparison with LLVM's disassembler: every value of every field of every opcode, then `samples` random
/// encodings an opcode, a third of them for one that we do not know. Takes minutes; [`run_all`] takes a sample of it.
///
/// # Errors
/// [`crate::Error`] of the first step that fails.
pub fn isa_oracle(samples: &str) -> Result {
    packages::install()?;
    let mut command = cargo();
    command.args(["test", "--package", "aqlipse-emulator", "--test", "main", "isa::oracle", "--"]);
    command.args(["--include-ignored", "--nocapture"]);
    run(command.env("AQLIPSE_REQUIRE_PACKAGES", "1").env("AQLIPSE_ISA_SAMPLES", samples))
}

/// The packages whose tests run on a device, as `cargo test` and as nextest are told of them. The latter still builds the
/// workspace, which is built already: see [`run_all`].
const RUNTIME_PACKAGES: [&str; 8] =
    ["--package", "aqlipse", "--package", "aqlipse-cli", "--package", "capi", "--package", "aqlipse-hsa"];

/// Of what runs on a device, tests that run on whatever device there is; not that which runs many of them again.
const ON_ANY_CARD: &str = "(not binary(=main) or package(aqlipse) and test(/^runtime::/)) \
    and not test(tests_pass_with_rings_in_device_memory)";

/// Random graphs, nests of conditional nodes and captures, whose results are compared with what they must be.
const RANDOM_GRAPHS: &str = "binary(=main) and test(/^runtime::.*::random_/)";

/// How many seeds `AQLIPSE_STRICT_SEEDS` asks for; the programs of the tests read it, too.
fn strict_seeds() -> Result<u64> {
    let Some(given) = env::var_os(STRICT_SEEDS).filter(|value| !value.is_empty()) else { return Ok(2) };
    let number = given.to_str().and_then(|text| text.parse().ok());
    number.ok_or_else(|| Error::Usage(format!("{STRICT_SEEDS} is a number, not {given:?}")))
}

const STRICT_SEEDS: &str = "AQLIPSE_STRICT_SEEDS";

/// Tests that repeat the same kernels for every compiler and level, or the same programs for many seeds. They take
/// minutes and pass once on the emulated device: what a kernel computes does not depend on what submits it.
const REPETITIONS: [&str; 3] = [
    "device::",
    "programs::every_legal_order_of_packets_gives_the_same_result",
    "services::kernels_print_under_every_legal_order_of_packets",
];

/// Lets tests be those of the runtime only, but for program tests whose names begin with one of `without`.
fn only<'c>(tests: &'c mut Command, nextest: bool, without: &[&str]) -> &'c mut Command {
    if nextest {
        let names: Vec<_> =
            without.iter().map(|name| format!(" and not (binary(=main) and test(/^{name}/))")).collect();
        tests.args(["-E", &format!("{}{}", unkind::RUNTIME, names.concat())])
    } else {
        // Any part of a name is meant here, so `device::` takes the unit tests of that module along.
        tests.arg("--").args(without.iter().flat_map(|name| ["--skip", name]))
    }
}

/// Lets a command run on `device`, the value of `AQLIPSE_DEVICE`. For ROCr on a machine without an AMD GPU the thunk
/// takes the driver's place.
fn choose(command: &mut Command, device: &str, dist: &Path) -> Result {
    command.env("AQLIPSE_DEVICE", device);
    if device == "rocr" && !has_gpu() {
        command.env("LD_LIBRARY_PATH", library_path(vec![dist.join("thunk")])?);
    }
    Ok(())
}

/// Builds the Rust program of `examples/mpi`, into `debug/halo` of the target folder; with Debian's OpenMPI.
pub fn build_halo() -> Command {
    let mut build = cargo();
    // With all tests: by itself it would ask less of what it needs, which would be built anew for them.
    build.args(["build", "--workspace", "--features", "halo/mpi", "--bin", "halo", "--tests"]);
    build.env("MPICC", "mpicc.openmpi").env("LIBCLANG_PATH", "/usr/lib/llvm-22/lib");
    build
}

/// Whether the kernel drives an AMD GPU.
fn has_gpu() -> bool {
    Path::new("/dev/kfd").exists()
}

/// The programs in `examples/`.
pub const EXAMPLES: [&str; 5] = ["captured", "explicit", "places", "recorded", "relaunched"];

/// The loom models of the ring protocol. Their `cfg` changes every crate, so they have a folder of their own.
fn models() -> Command {
    let mut command = cargo();
    command.args(["test", "--package", "aqlipse-hsa", "--release", "--lib", "--target-dir"]);
    command.arg(target_dir().join("loom")).arg("ring::model").env("RUSTFLAGS", "--cfg loom");
    command
}

/// Whether tests can run in processes of their own.
pub(crate) fn has_nextest() -> bool {
    let mut command: Command = cargo();
    output(command.args(["nextest", "--version"])).is_ok()
}
