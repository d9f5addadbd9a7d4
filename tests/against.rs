//! `aqlipse bench --against`: this library beside itself, and beside AMD's on AMD's ROCr on the thunk.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::toolchain::{Program, Toolchain, has, process::Finished};

/// AMD's library of Debian's package.
const AMD: &str = "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5";

/// Graphs of two shapes and two sizes, and plain launches.
const CASES: [&str; 5] = ["launches", "straight/2", "straight/16", "branches8/2", "branches8/16"];

/// A run with its report and its plot.
struct Run {
    finished: Finished,
    report: Value,
    plot: String,
}

/// The command on an emulated gfx90a: AMD's library knows no newer device.
fn command(toolchain: &Toolchain) -> Program {
    Program::new(toolchain, &toolchain.command(), "gfx90a")
}

/// Runs two rounds of [`CASES`] against `library`.
fn run(program: Program, name: &str, library: &Path, arguments: &[&str]) -> Run {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (json, svg) = (folder.join(format!("{name}.json")), folder.join(format!("{name}.svg")));
    let text = |path: &Path| path.to_str().expect("a path in UTF-8").to_owned();
    let finished = program
        .args(&["bench", "--against", &text(library), "--quick", "--rounds", "2"])
        .args(&["--shapes", "straight,branches8", "--sizes", "2,16"])
        .args(&["--json", &text(&json), "--svg", &text(&svg)])
        .args(arguments)
        .run();
    assert!(finished.status.success(), "{}\n{}{}", finished.status, finished.stdout, finished.stderr);
    let read = |path: &PathBuf| {
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let report = serde_json::from_str(&read(&json)).expect("the report is JSON");
    Run { finished, report, plot: read(&svg) }
}

impl Run {
    /// Asserts that a contestant verified all graphs and that every case has all its times, in both rounds.
    #[track_caller]
    fn expect_complete(&self, label: &str) {
        let one = |list: &str, key: &str, wanted: &dyn Fn(&Value) -> bool| {
            let list = self.report[list].as_array().expect("a list");
            let found: Vec<_> = list.iter().filter(|one| one[key] == label && wanted(one)).cloned().collect();
            found
        };
        let entry = &one("contestants", "label", &|_| true)[0];
        assert_eq!(entry["problems"], serde_json::json!([]), "{}", self.finished.stdout);
        assert_eq!(entry["verified"], serde_json::json!(CASES[1..]), "{entry}");
        for case in CASES {
            let row = &one("rows", "contestant", &|row| row["case"] == case)[0];
            let times = row["times"].as_object().expect("an object");
            assert_eq!(times.len(), if case == "launches" { 2 } else { 5 }, "{row}");
            for time in times.values() {
                let [low, median, high] = ["low", "median", "high"].map(|key| time["ns"][key].as_f64());
                assert!(low > Some(0.0) && low <= median && median <= high, "{row}");
                assert!(time["over"]["A"].as_f64() > Some(0.0), "{row}");
            }
            let samples = one("samples", "contestant", &|samples| samples["case"] == case);
            assert_eq!(samples.len(), 2 * times.len(), "{case}: one of each round");
        }
        let is_row = |line: &&str| {
            let words: Vec<_> = line.split_whitespace().collect();
            words.windows(2).any(|pair| pair == [label, "|"])
        };
        let rows = self.finished.stdout.lines().filter(is_row);
        assert_eq!(rows.count(), CASES.len(), "{}", self.finished.stdout);
    }
}

#[test]
fn the_library_is_measured_beside_itself() {
    let Some(toolchain) = Toolchain::find() else { return };
    let library = toolchain.lib().join("libamdhip64.so.5");
    let run = run(command(&toolchain), "itself", &library, &["--no-thunk", "--execute"]);
    run.expect_complete("A");
    run.expect_complete("B");
    let contestants = &run.report["contestants"];
    assert_eq!(contestants[0]["loaded"], contestants[1]["loaded"], "both are the same library");
    assert_eq!(contestants[1]["loaded"]["executes"], true);
    // A call and a completion for each contestant and shape.
    assert_eq!(run.plot.matches("<polyline").count(), 2 * 2 * 2);
}

#[test]
fn amds_library_is_measured_on_the_thunk() {
    let Some(toolchain) = Toolchain::find() else { return };
    if !has(AMD, "libamdhip64-5") {
        return;
    }
    let thunk = toolchain.thunk();
    let thunk = thunk.to_str().expect("a path in UTF-8");
    // On the ROCr that it was built with, whichever the suite runs on: AMD's 5.2.3 ends the process where a device has memory
    // of extended scope, which newer ones tell of.
    let program = command(&toolchain).env("LD_LIBRARY_PATH", "");
    let run = run(program, "amd", Path::new(AMD), &["--thunk", thunk, "--null-kernels"]);
    for label in ["A", "C"] {
        run.expect_complete(label);
    }
    let loaded = &run.report["contestants"][2]["loaded"];
    assert_eq!((&loaded["executes"], &loaded["target"]), (&false.into(), &"gfx90a".into()));
    let chain = run.report["rows"].as_array().expect("a list").iter();
    let chain = chain.filter(|row| row["case"] == "straight/16" && row["contestant"] == "C");
    for row in chain {
        assert_eq!(row["counters_per_wait"]["kernels"], 16.0, "every node is a packet: {row}");
    }
}

#[test]
fn a_missing_thunk_is_told_with_what_to_do() {
    let Some(toolchain) = Toolchain::find() else { return };
    let finished =
        command(&toolchain).args(&["bench", "--against", AMD, "--thunk", env!("CARGO_TARGET_TMPDIR")]).run();
    assert!(!finished.status.success());
    for word in ["libhsakmt.so.1", env!("CARGO_TARGET_TMPDIR"), "cargo xtask dist", "--no-thunk"] {
        assert!(finished.stderr.contains(word), "{word}: {}", finished.stderr);
    }
}

#[test]
fn a_library_that_cannot_be_loaded_leaves_the_others() {
    let Some(toolchain) = Toolchain::find() else { return };
    let finished = command(&toolchain)
        .args(&["bench", "--against", "libamdhip64.so.none", "--no-thunk", "--quick", "--rounds", "1"])
        .args(&["--shapes", "straight", "--sizes", "2"])
        .run();
    assert!(!finished.status.success(), "the library that was asked for has no times");
    assert!(finished.stdout.contains("A |"), "{}", finished.stdout);
    assert!(finished.stdout.contains("! libamdhip64.so.none: cannot open"), "{}", finished.stdout);
}
