use super::*;
use crate::conformance::{
    compare::compare,
    marker::{self, Marker},
    programs::Language,
    verdict::Side,
};

fn program(name: &str, source: &str) -> Program {
    Program {
        name: name.into(),
        path: format!("tests/conformance/{name}.cpp").into(),
        language: Language::Cpp,
        topic: format!("What {name} shows | <all>."),
        devices: 1,
        shows_card: false,
        markers: marker::parse(source).unwrap(),
    }
}

fn verdict(program: Program, newer: Option<usize>, sides: Vec<Side>) -> Verdict {
    Verdict {
        program,
        amd: Some((End::Completed, 4)),
        newer,
        sides,
        failures: Vec::new(),
        printed: Default::default(),
    }
}

/// A side that printed `ours`, compared with four lines of 5.2.3's.
fn side(configuration: Configuration, ours: &str, newer: Option<&str>, markers: &[Marker]) -> Side {
    let comparison = compare(ours, "a: 1\nb: 1\nc: 1\nd: 1\n", newer, markers, configuration);
    Side { configuration, end: End::Completed, comparison: Some(comparison) }
}

#[test]
fn the_pages_count_lines_by_release_and_list_what_differs() {
    let source = "// DIFFERS b: 5.2.3 hangs | crashes; hipGraphClone\n// DIFFERS(rocr) d: no clock; ADR 16\n";
    let recorded = program("graph_clone", source);
    let newer = Some("a: 1\nb: 2\nc: 2\nd: 1\n");
    let sides = vec![
        side(Configuration::Ours, "a: 1\nb: 3\nc: 2\nd: 1\n", newer, &recorded.markers),
        side(Configuration::Rocr, "a: 1\nb: 3\nc: 1\nd: 4\n", newer, &recorded.markers),
    ];
    let mut first = verdict(recorded, Some(4), sides);
    let crashed = Side { configuration: Configuration::Rocr, end: End::Crashed(6), comparison: None };
    let ours = side(Configuration::Ours, "a: 1\nb: 1\nc: 1\n", None, &[]);
    let mut second = verdict(program("stream_wait", ""), None, vec![ours, crashed]);
    second.failures.push("  it crashes".into());

    first.printed.insert(Configuration::Ours, "a: 1\nb: 3\nc: 2\nd: 1\n".into());
    let recorded =
        "program\ttext\ngraph_clone\ta: 1\ngraph_clone\tb: 2\ngraph_clone\tc: 2\ngraph_clone\td: 1\n";
    let recordings = [Recording::parse("hip-7.0".into(), recorded).unwrap()];
    let verdicts = [first, second];
    let text = summary(&verdicts, &recordings);
    let (_, tables) = text.split_once("\n\n2 programs").unwrap();
    assert_eq!(
        tables,
        "\
, 1 of which do not print what is expected.

| recorded programs | lines | as both of AMD's | as 6.3 only | as 5.2.3 only | as neither | not as 6.3 |
|---|---|---|---|---|---|---|
| ours, emulated | 4 | 2 | 1 | 0 | 1 | 1 |
| ours on ROCr | 4 | 1 | 0 | 1 | 2 | 3 |

| programs that are not recorded | lines | as 5.2.3 | not as 5.2.3 |
|---|---|---|---|
| ours, emulated | 4 | 3 | 1 |
| ours on ROCr | 0 | 0 | 0 |

## Who agrees with whom

How many lines each two libraries print alike, of all that either prints, of the programs that completed on both.
A name that is no library's is that of a file in [recorded](../tests/conformance/recorded).

| | ours, emulated | hip-7.0 |
|---|---|---|
| ours, emulated | 4 | 3 of 4 |
| hip-7.0 | 3 of 4 | 4 |

## Lines that differ on purpose

Lines that are not as 6.3, or not as 5.2.3 where there is no recording, by what decides them:

| decided by | ours, emulated | ours on ROCr |
|---|---|---|
| CUDA's documentation, which HIP follows | 0 | 0 |
| HIP's documentation, headers or change log | 1 | 1 |
| a limit or a decision of this project | 0 | 1 |
| another source, or another line that differs | 1 | 1 |

## By topic

The topic is the first word of a program's name. The counts are those of this library on the emulated device.

| topic | programs | lines | differ |
|---|---|---|---|
| graph | 1 | 4 | 1 |
| stream | 1 | 4 | 1 |
"
    );
    let text = table(&verdicts, &[]);
    let (_, tables) = text.split_once("\n## ").unwrap();
    assert_eq!(
        tables,
        "\
graph: 1 program

| program | observes | lines of 5.2.3 | lines of 6.3 | ours, emulated | ours on ROCr |
|---|---|---|---|---|---|
| [graph_clone.cpp](../tests/conformance/graph_clone.cpp) | What graph_clone shows \\| \\<all>. | 4 | 4 \
| 1 as 6.3 only, 1 as neither | 1 as 5.2.3 only, 2 as neither |

## stream: 1 program

| program | observes | lines of 5.2.3 | lines of 6.3 | ours, emulated | ours on ROCr |
|---|---|---|---|---|---|
| [stream_wait.cpp](../tests/conformance/stream_wait.cpp) | What stream_wait shows \\| \\<all>. | 4 | not recorded \
| 1 not as 5.2.3 | ends by signal 6 |

## Differences

A cell is empty where a library prints no such line.

| program | 5.2.3 | 6.3 | ours | why |
|---|---|---|---|---|
| graph_clone | b: 1 | b: 2 | b: 3 | 5.2.3 hangs \\| crashes (hipGraphClone) |
| graph_clone | c: 1 | c: 2 | c: 1 (on ROCr) |  |
| graph_clone | d: 1 | d: 1 | d: 4 (on ROCr) | no clock (ADR 16) |
| stream_wait | d: 1 | not recorded |  (emulated) |  |
"
    );
}

#[test]
fn a_table_without_differences_says_so() {
    let ours = side(Configuration::Ours, "a: 1\nb: 1\nc: 1\nd: 1\n", None, &[]);
    let verdicts = [verdict(program("graph_clone", ""), None, vec![ours])];
    assert!(summary(&verdicts, &[]).contains("1 program, all of which print what is expected."));
    let text = table(&verdicts, &[]);
    assert!(text.contains("| 4 | not recorded | equal | not run |"));
    assert!(text.ends_with("## Differences\n\nNone.\n"));
}
