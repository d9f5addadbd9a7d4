use super::*;
use crate::conformance::{marker, programs::Language};

fn program(source: &str) -> Program {
    Program {
        name: "graph_clone".into(),
        path: "tests/conformance/graph_clone.cpp".into(),
        language: Language::Cpp,
        topic: "Clones.".into(),
        devices: 1,
        markers: marker::parse(source).unwrap(),
    }
}

fn completed(stdout: &str) -> Run {
    Run { end: End::Completed, stdout: stdout.into(), stderr: String::new() }
}

fn judged(source: &str, ours: Run, rocr: Run, amd: Run) -> Verdict {
    let runs = [(Configuration::Ours, ours), (Configuration::Rocr, rocr), (Configuration::Amd, amd)];
    judge(&program(source), &runs)
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
    assert!(verdict.to_string().ends_with("ours on ROCr: 1 on purpose"), "{verdict}");
}

#[test]
fn a_difference_that_is_not_announced_fails() {
    let verdict = judged("", completed("a: 1\n"), completed("a: 2\n"), completed("a: 2\n"));
    assert_eq!(verdict.failures, ["  ours, emulated and AMD's:\n    AMD's    1 a: 2\n    ours     1 a: 1"]);
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
    let parse = |words: &[&str]| Options::parse(words);
    assert_eq!(parse(&[]).unwrap(), Options::default());
    let options = parse(&["graph", "--jobs", "3", "--only", "amd,ours", "stream", "--debug"]).unwrap();
    assert_eq!(options.filters, ["graph", "stream"]);
    assert_eq!((options.jobs, options.profile), (3, Profile::Debug));
    assert_eq!(options.configurations, [Configuration::Ours, Configuration::Amd]);
    for bad in [&["--jobs", "0"][..], &["--only", "theirs"], &["--only"], &["--quick"], &["--check", "graph"]]
    {
        assert!(matches!(parse(bad), Err(Error::Usage(_))), "{bad:?}");
    }
}
