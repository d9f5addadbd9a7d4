use super::*;
use clap::Parser as _;

use crate::conformance::{marker, programs::Language};

fn program(source: &str) -> Program {
    Program {
        name: "graph_clone".into(),
        path: "tests/conformance/graph_clone.cpp".into(),
        language: Language::Cpp,
        topic: "Clones.".into(),
        devices: 1,
        shows_card: false,
        markers: marker::parse(source).unwrap(),
    }
}

fn completed(stdout: &str) -> Run {
    Run { end: End::Completed, stdout: stdout.into(), stderr: String::new() }
}

fn judged(source: &str, ours: Run, rocr: Run, amd: Run) -> Verdict {
    judged_with(source, ours, rocr, amd, None, None)
}

/// Judges beside a recording; without `expected`, what differs is expected to.
fn judged_with(
    source: &str,
    ours: Run,
    rocr: Run,
    amd: Run,
    newer: Option<&str>,
    expected: Option<&str>,
) -> Verdict {
    let runs = [(Configuration::Ours, ours), (Configuration::Rocr, rocr), (Configuration::Amd, amd)];
    let program = program(source);
    let differing = judge(&program, &runs, newer, "").differing().map(Option::unwrap_or_default);
    let accepted = expected::render(&differing[0], &differing[1]);
    judge(&program, &runs, newer, expected.unwrap_or(&accepted))
}

#[test]
fn equal_output_in_all_configurations_passes() {
    let verdict = judged("", completed("a: 1\n"), completed("a: 1\n"), completed("a: 1\n"));
    assert!(verdict.passed());
    assert_eq!(
        verdict.to_string(),
        "ok   graph_clone.cpp: 1 line; ours, emulated: equal; ours on ROCr: equal"
    );
}

#[test]
fn an_announced_difference_passes_and_is_counted() {
    let source = "// DIFFERS a: why; where\n";
    let verdict = judged(source, completed("a: 1\n"), completed("a: 1\n"), completed("a: 2\n"));
    assert!(verdict.passed(), "{verdict}");
    assert!(verdict.to_string().ends_with("ours on ROCr: 1 not as 5.2.3"), "{verdict}");
}

#[test]
fn a_difference_that_is_not_announced_fails() {
    let verdict = judged("", completed("a: 1\n"), completed("a: 2\n"), completed("a: 2\n"));
    assert_eq!(
        verdict.failures,
        ["  ours, emulated and AMD's:\n    AMD's 5.2.3    1 a: 2\n    ours           1 a: 1"]
    );
}

#[test]
fn an_announced_difference_must_be_the_expected_one() {
    let source = "// DIFFERS a: why; where\n";
    let with = |expected| {
        judged_with(
            source,
            completed("a: 1\n"),
            completed("a: 3\n"),
            completed("a: 2\n"),
            None,
            Some(expected),
        )
    };
    assert!(with("+ours a: 1\n+rocr a: 3\n").passed());
    let file = "tests/conformance/expected/graph_clone.txt";
    assert_eq!(
        with("+ a: 1\n").failures,
        [format!("  ours on ROCr and {file}:\n    expected  + a: 1\n    found     + a: 3")]
    );
    assert_eq!(with("").failures.len(), 2);
    let equal = completed("a: 2\n");
    let verdict = judged_with("", equal.clone(), equal.clone(), equal, None, Some("+ours a: 1\n"));
    assert_eq!(verdict.failures, [format!("  ours, emulated and {file}:\n    expected  + a: 1")]);
}

#[test]
fn what_the_newer_release_prints_needs_neither_marker_nor_expectation() {
    let ours = completed("a: 1\n");
    let verdict = judged_with("", ours.clone(), ours, completed("a: 2\n"), Some("a: 1\n"), Some(""));
    assert!(verdict.passed(), "{verdict}");
    assert!(verdict.to_string().ends_with("ours on ROCr: 1 as 6.3 only"), "{verdict}");
}

#[test]
fn what_only_the_older_release_prints_is_expected_and_shown_on_request() {
    let ours = completed("a: 1\n");
    let verdict =
        |expected| judged_with("", ours.clone(), ours.clone(), ours.clone(), Some("a: 2\n"), expected);
    assert!(!verdict(None).passed());
    let shown = report::newer(&verdict(None));
    assert!(
        shown.starts_with(
            "graph_clone.cpp, ours, emulated: no marker\n    AMD's 5.2.3  a: 1\n    AMD's 6.3    a: 2\n"
        ),
        "{shown}"
    );
}

#[test]
fn a_marker_that_announces_nothing_fails() {
    let same = completed("a: 1\n");
    let verdict = judged("\n// DIFFERS a: why; where\n", same.clone(), same.clone(), same);
    let stale = |side: &str| {
        format!("  graph_clone.cpp:2: the marker announces no difference of {side}; it is stale")
    };
    assert_eq!(verdict.failures, [stale("ours, emulated"), stale("ours on ROCr")]);
}

#[test]
fn a_marker_for_both_that_fits_one_is_told_to_name_it() {
    let source = "// DIFFERS a: why; where\n";
    let verdict = judged(source, completed("a: 1\n"), completed("a: 2\n"), completed("a: 2\n"));
    assert_eq!(verdict.failures.len(), 1);
    assert!(verdict.failures[0].ends_with("of ours on ROCr; write `// DIFFERS(ours)`"), "{verdict}");
    let source = "// DIFFERS(ours) a: why; where\n";
    let verdict = judged(source, completed("a: 1\n"), completed("a: 2\n"), completed("a: 2\n"));
    assert!(verdict.passed(), "{verdict}");
}

#[test]
fn a_crash_fails_with_the_end_of_stderr_and_leaves_markers_alone() {
    let stderr: String = (0..30).map(|n| format!("line {n}\n")).collect();
    let crashed = Run { end: End::Crashed(11), stdout: "a: 1\nb: 2\n".into(), stderr };
    let same = completed("a: 1\n");
    let verdict = judged("// DIFFERS a: why; where\n", crashed, same.clone(), completed("a: 2\n"));
    assert_eq!(verdict.failures.len(), 1, "{verdict}");
    let text = &verdict.failures[0];
    assert!(
        text.starts_with("  ours, emulated ends by signal 11; the last line that it printed: b: 2\n"),
        "{text}"
    );
    assert!(text.contains("line 29") && text.contains("line 10") && !text.contains("line 9\n"), "{text}");

    let hung = Run { end: End::TimedOut, ..same.clone() };
    let verdict = judged("", same.clone(), same, hung);
    assert_eq!(verdict.failures, ["  AMD's hangs; the last line that it printed: a: 1"]);
    assert!(verdict.sides.iter().all(|side| side.comparison.is_none()));
}

#[test]
fn options_are_read_in_any_order() {
    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        options: Options,
    }
    let parse = |words: &[&str]| {
        let words = ["conformance"].iter().chain(words);
        let options = Command::try_parse_from(words).ok()?.options;
        options.check().ok().map(|()| options)
    };
    assert_eq!(parse(&[]).unwrap(), Options::default());
    let options =
        parse(&["graph", "--jobs", "3", "--only", "amd,ours", "stream", "--strict", "9", "--debug"]).unwrap();
    assert_eq!(options.filters, ["graph", "stream"]);
    assert_eq!((options.jobs.get(), options.debug, options.seeds), (3, true, 9));
    assert!(options.chosen().eq([Configuration::Ours, Configuration::Amd]));
    for bad in [
        &["--jobs", "0"][..],
        &["--strict", "graph"],
        &["--strict", "1", "--only", "rocr,amd"],
        &["--only", "theirs"],
        &["--only"],
        &["--quick"],
        &["--check", "graph"],
        &["--accept", "--only", "ours"],
    ] {
        assert!(parse(bad).is_none(), "{bad:?}");
    }
}

#[test]
fn a_run_with_strict_caches_is_to_print_what_one_without_prints() {
    let ours = completed("a: 1\nb: 2\n");
    let hangs = Run { end: End::TimedOut, ..completed("a: 1\n") };
    let strict = [ours.clone(), completed("a: 1\nb: 3\n"), hangs];
    assert_eq!(
        differences_with_strict_caches(&ours, &strict),
        [
            "  with strict caches and seed 2 it completes\n    expected  b: 2\n    found     b: 3",
            "  with strict caches and seed 3 it hangs\n    expected  b: 2\n    found     nothing",
        ]
    );
}

#[test]
fn what_two_runs_of_three_print_is_usual() {
    let usual = |printed: &[&str]| {
        let mut printed = printed.iter();
        let mut runs = 1;
        let first = completed(printed.next().unwrap());
        let run = usual(first, || {
            runs += 1;
            Ok(completed(printed.next().unwrap()))
        });
        (run.unwrap().stdout, runs)
    };
    assert_eq!(usual(&["a", "a"]), ("a".into(), 2));
    assert_eq!(usual(&["a", "b", "a"]), ("a".into(), 3));
    assert_eq!(usual(&["b", "a", "a"]), ("a".into(), 3));
    assert_eq!(usual(&["a", "b", "c"]), ("c".into(), 3));
}
