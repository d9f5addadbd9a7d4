use super::*;
use crate::conformance::{marker, programs::Language};

fn verdict(name: &str, source: &str, sides: Vec<Side>) -> Verdict {
    let program = Program {
        name: name.into(),
        path: format!("tests/conformance/{name}.cpp").into(),
        language: Language::Cpp,
        topic: format!("What {name} shows | <all>."),
        devices: 1,
        markers: marker::parse(source).unwrap(),
    };
    Verdict { program, amd: Some((End::Completed, 5)), sides, failures: Vec::new() }
}

fn side(configuration: Configuration, equal: usize, intended: &[usize]) -> Side {
    let comparison = Comparison { equal, intended: intended.to_vec(), unexpected: Vec::new() };
    Side { configuration, end: End::Completed, comparison: Some(comparison) }
}

#[test]
fn a_report_counts_lines_and_lists_what_differs_on_purpose() {
    let source = "// DIFFERS a: 5.2.3 crashes | hangs; hipGraphClone\n// DIFFERS(rocr) b: no clock; ADR 16\n";
    let sides = vec![side(Configuration::Ours, 3, &[2, 0]), side(Configuration::Rocr, 2, &[2, 1])];
    let first = verdict("graph_clone", source, sides);
    let crashed = Side { configuration: Configuration::Rocr, end: End::Crashed(6), comparison: None };
    let mut second = verdict("stream_wait", "", vec![side(Configuration::Ours, 5, &[]), crashed]);
    second.failures.push("  it crashes".into());

    let text = render(&[first, second]);
    let (_, tables) = text.split_once("\n\n2 programs").unwrap();
    assert_eq!(
        tables,
        "\
, 1 of which do not agree.

| | lines compared | equal | differing on purpose | differing otherwise |
|---|---|---|---|---|
| ours, emulated | 10 | 8 | 2 | 0 |
| ours on ROCr | 5 | 2 | 3 | 0 |

## graph: 1 program

| program | observes | lines | ours, emulated | ours on ROCr |
|---|---|---|---|---|
| [graph_clone.cpp](../tests/conformance/graph_clone.cpp) | What graph_clone shows \\| \\<all>. | 5 | 2 on purpose | 3 on purpose |

## stream: 1 program

| program | observes | lines | ours, emulated | ours on ROCr |
|---|---|---|---|---|
| [stream_wait.cpp](../tests/conformance/stream_wait.cpp) | What stream_wait shows \\| \\<all>. | 5 | equal | ends by signal 6 |

## Differences on purpose

| program | lines that start with | how many | why | where that is written |
|---|---|---|---|---|
| graph_clone | a | 2 | 5.2.3 crashes \\| hangs | hipGraphClone |
| graph_clone | b | 1 (ours on ROCr) | no clock | ADR 16 |
"
    );
}

#[test]
fn a_report_without_intended_differences_says_so() {
    let text = render(&[verdict("graph_clone", "", vec![side(Configuration::Ours, 5, &[])])]);
    assert!(text.contains("1 program, all of which agree."));
    assert!(text.contains("| 5 | equal | not run |"));
    assert!(text.ends_with("## Differences on purpose\n\nNone.\n"));
}
