//! `aqlipse check`: every defect of a corpus is found in any run, and its twin without the defect is clean.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::toolchain::{MATRIX, Output, Program, Toolchain, is_emulated, process::Finished};

/// The exit code of what has findings.
const FOUND: i32 = 113;

/// `check_graph.hip`, if it can be checked here.
struct Corpus {
    toolchain: Toolchain,
    program: PathBuf,
}

impl Corpus {
    fn find() -> Option<Self> {
        // Nothing else says what kernels touch.
        let toolchain = Toolchain::find().filter(|_| is_emulated())?;
        let program = MATRIX[3].compile(&toolchain, "check_graph.hip", Output::Program);
        Some(Self { toolchain, program })
    }

    fn check(&self, options: &[&str], arguments: &[&str]) -> Program {
        let command = self.toolchain.command();
        let code = FOUND.to_string();
        let outer = [command.to_str().unwrap(), "check", "graph", "--error-exitcode", &code];
        Program::below(&self.toolchain, &[&outer, options, &["--"]].concat(), &self.program, "gfx90a")
            .args(arguments)
    }

    fn names(&self) -> Vec<String> {
        let listed = Program::new(&self.toolchain, &self.program, "gfx90a").run();
        assert!(listed.status.success(), "{}", says(&listed));
        listed.stdout.lines().map(str::to_owned).collect()
    }
}

fn says(finished: &Finished) -> String {
    format!("{}\n{}{}", finished.status, finished.stdout, finished.stderr)
}

/// A text with all addresses, and all numbers of graphs, alike.
fn normal(text: &str) -> String {
    let words = text.split_inclusive([' ', ':', ',', '\n']).map(|word| {
        let number = word.trim_end_matches([' ', ':', ',', '\n']);
        let end = &word[number.len()..];
        match number.split_once('.') {
            _ if number.starts_with("0x") => format!("A{end}"),
            Some((graph, node)) if graph.parse::<u64>().is_ok() => format!("G.{node}{end}"),
            _ => word.to_owned(),
        }
    });
    words.collect()
}

#[test]
fn missing_order_is_found_in_any_run_and_nothing_else_is() {
    let Some(corpus) = Corpus::find() else { return };
    let names = corpus.names();
    assert!(names.len() >= 40, "{names:?}");
    for name in names {
        let clean = corpus.check(&[], &[&name]).run();
        assert!(
            clean.status.success() && clean.stderr.contains("check graph: 0 found"),
            "{name}: {}",
            says(&clean)
        );
        for seed in ["", "1", "2"] {
            let defective = corpus.check(&[], &[&name, "defect"]).env("AQLIPSE_EMULATE_SEED", seed).run();
            let found =
                defective.status.code() == Some(FOUND) && defective.stderr.contains("check graph: 1 found");
            assert!(found, "{name}, seed {seed:?}: {}", says(&defective));
        }
    }
}

#[test]
fn a_finding_names_nodes_bytes_and_the_edge() {
    let Some(corpus) = Corpus::find() else { return };
    let file = std::env::temp_dir().join(format!("aqlipse-check-test-{}.json", std::process::id()));
    let sarif = file.with_extension("sarif");
    let options = ["--json", file.to_str().unwrap(), "--sarif", sarif.to_str().unwrap()];
    let finished = corpus.check(&options, &["off_by_one", "defect"]).run();
    let said = normal(&finished.stderr);
    // As the pages show it.
    for page in ["README.md", "docs/check.md"] {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        let shown = text.split("```text\naqlipse: no edge").nth(1).and_then(|rest| rest.split("```").next());
        let shown =
            normal(&format!("aqlipse: no edge{}", shown.unwrap_or_else(|| panic!("{page} shows none"))));
        assert!(said.contains(&shown), "{page} shows\n{shown}, it is\n{said}");
    }

    let json: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    std::fs::remove_file(&file).unwrap();
    let finding = &json["findings"][0];
    assert_eq!((&json["tool"], &finding["bytes"]), (&"graph".into(), &4.into()));
    assert_eq!(finding["commands"][0]["what"], "kernel some(int*, int)");
    assert_eq!(finding["commands"][1]["access"], "write");
    assert_eq!(finding["of_one_launch"], true);
    assert_eq!(finding["allocation"]["bytes"], 16384);

    let log: Value = serde_json::from_str(&std::fs::read_to_string(&sarif).unwrap()).unwrap();
    std::fs::remove_file(&sarif).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], log["runs"][0]["tool"]["driver"]["rules"][0]["id"]);
    assert!(result["message"]["text"].as_str().unwrap().starts_with("no edge orders node"), "{result}");

    let known = file.with_extension("known");
    std::fs::write(&known, "kernel put(*) with kernel some(*)\n").unwrap();
    let suppressed =
        corpus.check(&["--suppressions", known.to_str().unwrap()], &["off_by_one", "defect"]).run();
    std::fs::remove_file(&known).unwrap();
    let says_so = suppressed.stderr.contains("check graph: 0 found, 1 suppressed");
    assert!(suppressed.status.success() && says_so, "{}", says(&suppressed));
}

#[test]
fn a_finding_that_the_report_cannot_take_is_said_on_stderr() {
    let Some(corpus) = Corpus::find() else { return };
    let program = Program::new(&corpus.toolchain, &corpus.program, "gfx90a").args(&["readers", "defect"]);
    let finished =
        program.env("AQLIPSE_CHECK", "graph").env("AQLIPSE_CHECK_REPORT", "/no/such/folder/report").run();
    assert!(finished.status.success() && finished.stderr.contains("no edge orders"), "{}", says(&finished));
}

#[test]
fn the_exit_code_is_the_programs_where_nothing_was_found() {
    let Some(corpus) = Corpus::find() else { return };
    let finished = corpus.check(&[], &["no_such_case"]).run();
    assert_eq!(finished.status.code(), Some(2), "{}", says(&finished));
}

#[test]
fn a_device_that_cannot_be_watched_is_refused() {
    let Some(corpus) = Corpus::find() else { return };
    let program = Program::new(&corpus.toolchain, &corpus.program, "gfx90a").args(&["readers"]);
    let finished = program.env("AQLIPSE_CHECK", "everything").env("AQLIPSE_LOG", "info").run();
    assert!(finished.stderr.contains("AQLIPSE_CHECK=everything: expected graph"), "{}", says(&finished));
}
