//! `aqlipse check`: every defect of the corpora is found in any run, and its twin without the defect is clean.

use std::{
    num::NonZero,
    path::{Path, PathBuf},
};

use serde_json::Value;
use xtask::{conformance, parallel::in_parallel};

use crate::toolchain::{Build, Compiler, MATRIX, Output, Program, Toolchain, is_emulated, process::Finished};

/// The exit code of what has findings.
const FOUND: i32 = 113;

/// Cards of RDNA 3 and 4: waves of 32 lanes, whose workgroups may have two caches, and on the later one other counters and barriers.
const RDNA: [Build; 2] =
    [Build::new(Compiler::Clang22, "gfx1100", "3"), Build::new(Compiler::Clang22, "gfx1201", "3")];

/// Where a fence is left out before a barrier, for which compilers wait on RDNA for as much.
const WAITED_FOR_ON_RDNA: [&str; 2] = ["no_fence_of_the_writer", "last_block_without_release"];

/// The program with the cases of one tool, if it can be checked here.
struct Corpus {
    toolchain: Toolchain,
    tool: &'static str,
    program: PathBuf,
    arch: &'static str,
}

impl Corpus {
    fn of(tool: &'static str) -> Option<Self> {
        Self::built(tool, &format!("check_{tool}.hip"), &MATRIX[3])
    }

    fn built(tool: &'static str, source: &str, build: &Build) -> Option<Self> {
        // Nothing else says what kernels touch.
        let toolchain = Toolchain::find().filter(|_| is_emulated() || tool == "leak")?;
        let program = build.compile(&toolchain, source, Output::Program);
        Some(Self { toolchain, tool, program, arch: build.arch })
    }

    fn check(&self, options: &[&str], arguments: &[&str]) -> Program {
        let command = self.toolchain.command();
        let code = FOUND.to_string();
        let outer = [command.to_str().unwrap(), "check", self.tool, "--error-exitcode", &code];
        Program::below(&self.toolchain, &[&outer, options, &["--"]].concat(), &self.program, self.arch)
            .args(arguments)
            .env("AQLIPSE_WATCHDOG_MS", "1000")
    }

    fn names(&self) -> Vec<String> {
        let listed = Program::new(&self.toolchain, &self.program, self.arch).run();
        assert!(listed.status.success(), "{}", says(&listed));
        listed.stdout.lines().map(str::to_owned).collect()
    }

    /// Each defect is found, with each seed, and no twin has any finding.
    fn holds(&self, least: usize, seeds: &[&str]) {
        let mut names = self.names();
        assert!(names.len() >= least, "{names:?}");
        // ROCr 5.2.3 maps no memory.
        names.retain(|name| is_emulated() || name != "mapped_memory");
        // Some wait for what does not come until the watchdog ends them.
        let four = NonZero::new(4).unwrap();
        let case = |name: &String| {
            self.case_holds(name, seeds);
            Ok(())
        };
        in_parallel(&names, four, case).unwrap();
    }

    fn case_holds(&self, name: &str, seeds: &[&str]) {
        let found = |count: u32| format!("check {}: {count} found", self.tool);
        let clean = self.check(&[], &[name]).run();
        let is_clean = clean.status.success() && clean.stderr.contains(&found(0));
        assert!(is_clean, "{name}: {}", says(&clean));
        let is_rdna = RDNA.iter().any(|build| build.arch == self.arch);
        if self.tool == "race" && is_rdna && WAITED_FOR_ON_RDNA.contains(&name) {
            return;
        }
        for seed in seeds {
            let defective = self.check(&[], &[name, "defect"]).env("AQLIPSE_EMULATE_SEED", seed).run();
            // A race is between each two of the instructions that it is made of.
            let as_many = self.tool == "race" || defective.stderr.contains(&found(1));
            assert!(
                defective.status.code() == Some(FOUND) && as_many,
                "{name}, seed {seed:?}: {}",
                says(&defective)
            );
        }
    }

    /// What a page shows of a run, from a line that begins so to the end of the block, is what it prints.
    fn is_shown(&self, said: &str, page: &str, first: &str) {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        let block = text.split(&format!("```text\n{first}")).nth(1).and_then(|rest| rest.split("```").next());
        let block = block.unwrap_or_else(|| panic!("{page} shows no {first:?}"));
        let (shown, said) = (normal(&format!("{first}{block}")), normal(said));
        assert!(said.contains(&shown), "{page} shows\n{shown}, it is\n{said}");
    }
}

fn says(finished: &Finished) -> String {
    format!("{}\n{}{}", finished.status, finished.stdout, finished.stderr)
}

/// The lines of a source of `tests/programs` that a text names in brackets.
fn source_lines(text: &str, source: &str) -> Vec<String> {
    let lines = std::fs::read_to_string(xtask::root().join("tests/programs").join(source)).unwrap();
    let named =
        text.split('(').filter_map(|part| part.split_once(')')?.0.split_once(source)?.1.strip_prefix(':'));
    let named = named.map(|number| number.parse::<usize>().unwrap());
    named.map(|number| lines.lines().nth(number - 1).unwrap().trim().to_owned()).collect()
}

/// A text with all addresses, all numbers of graphs, and what a race depends on alike, and with paths as in the workspace.
fn normal(text: &str) -> String {
    let lines = text.lines().map(|line| if line.contains(" at kernel+") { "    instructions" } else { line });
    let text = lines.map(|line| format!("{line}\n")).collect::<String>();
    let words = text.split_inclusive([' ', ':', ',', '\n']).map(|word| {
        let number = word.trim_end_matches([' ', ':', ',', '\n']);
        let end = &word[number.len()..];
        match number.split_once('.') {
            _ if number.starts_with("0x") => format!("A{end}"),
            _ if word.contains("/tests/programs/") => {
                word[word.find("tests/programs/").unwrap()..].to_owned()
            }
            Some((graph, node)) if graph.parse::<u64>().is_ok() => format!("G.{node}{end}"),
            _ => word.to_owned(),
        }
    });
    words.collect()
}

#[test]
fn missing_order_is_found_in_any_run_and_nothing_else_is() {
    let Some(corpus) = Corpus::of("graph") else { return };
    corpus.holds(72, &["", "1", "2"]);
    let finished = corpus.check(&[], &["download_read_too_early", "defect"]).run();
    corpus.is_shown(&finished.stderr, "docs/check.md", "aqlipse: the host reads");
}

#[test]
fn memory_that_is_used_beside_its_allocation_or_its_time_is_found() {
    let Some(corpus) = Corpus::of("memory") else { return };
    corpus.holds(53, &["", "1"]);
    let finished = corpus.check(&[], &["freed_too_early_when_it_is_over", "defect"]).run();
    assert!(finished.stderr.contains("\n    16384 bytes, the first at"), "{}", says(&finished));
    let finished = corpus.check(&[], &["no_edge_to_the_free", "defect"]).run();
    corpus.is_shown(&finished.stderr, "docs/check.md", "aqlipse: node");
    let finished = corpus.check(&[], &["memory_of_a_graph_written_by_the_host", "defect"]).run();
    corpus.is_shown(&finished.stderr, "docs/check.md", "aqlipse: the host writes");
    for build in &RDNA {
        let Some(corpus) = Corpus::built("memory", "check_memory.hip", build) else { return };
        corpus.holds(53, &["1"]);
        // Instructions of RDNA 4 that access memory are longer than others.
        for (case, line) in
            [("behind_scratch", "values[at] = 1;"), ("off_by_one", "if (i < count) to[i] = i;")]
        {
            let finished = corpus.check(&[], &[case, "defect"]).run();
            assert_eq!(source_lines(&finished.stderr, "check_memory.hip")[0], line, "{}", says(&finished));
        }
    }
}

#[test]
fn accesses_of_lds_and_memory_that_nothing_orders_are_found() {
    // A card whose caches keep what is stored until it is written back.
    let Some(corpus) = Corpus::built("race", "check_race.hip", &MATRIX[5]) else { return };
    corpus.holds(41, &["1"]);
    for build in &RDNA {
        let Some(corpus) = Corpus::built("race", "check_race.hip", build) else { return };
        corpus.holds(41, &["1"]);
    }
    let Some(corpus) = Corpus::of("race") else { return };
    corpus.holds(41, &["", "1"]);
    let finished = corpus.check(&[], &["no_fence_of_the_writer", "defect"]).run();
    corpus.is_shown(&finished.stderr, "docs/check.md", "aqlipse: waves of stream 1 (kernel no_fence");
    let finished = corpus.check(&[], &["reverse", "defect"]).run();
    corpus.is_shown(&finished.stderr, "docs/check.md", "aqlipse: waves of");
    assert_eq!(
        source_lines(&finished.stderr, "check_race.hip"),
        ["to[threadIdx.x] = tile[T - 1 - threadIdx.x];", "tile[threadIdx.x] = threadIdx.x;"]
    );
}

#[test]
fn writes_of_the_same_value_are_told_apart() {
    let Some(corpus) = Corpus::of("race") else { return };
    let race = corpus.check(&[], &["the_same_value"]).run();
    assert!(race.status.success() && race.stderr.contains("check race: 0 found"), "{}", says(&race));
    let corpus = Corpus { tool: "same-value", ..corpus };
    let same = corpus.check(&[], &["the_same_value"]).run();
    let is_told = same.stderr.contains("write the same value to the same bytes of LDS")
        && same.stderr.contains("check same-value: 1 found");
    assert!(same.status.code() == Some(FOUND) && is_told, "{}", says(&same));
    // Different values are a race, which this tool does not tell, and a barrier orders both.
    let defect = corpus.check(&[], &["the_same_value", "defect"]).run();
    assert!(defect.stderr.contains("check same-value: 0 found"), "{}", says(&defect));
    let ordered = corpus.check(&[], &["reverse"]).run();
    assert!(ordered.stderr.contains("check same-value: 0 found"), "{}", says(&ordered));
}

#[test]
fn lanes_and_waves_that_do_not_come_together_are_found() {
    let Some(corpus) = Corpus::of("sync") else { return };
    corpus.holds(42, &["", "1"]);
    let finished = corpus.check(&[], &["reduction", "defect"]).run();
    corpus.is_shown(&finished.stderr, "docs/check.md", "aqlipse: waves of stream 1 (kernel reduction");
    let finished = corpus.check(&[], &["too_many_blocks", "defect"]).run();
    corpus.is_shown(&finished.stderr, "docs/check.md", "aqlipse: stream 1 (kernel own_grid");
}

/// By itself, since each that waits for what does not come is given a second.
#[test]
fn lanes_and_waves_of_rdna_that_do_not_come_together_are_found() {
    for build in &RDNA {
        let Some(corpus) = Corpus::built("sync", "check_sync.hip", build) else { return };
        corpus.holds(41, &["1"]);
    }
}

#[test]
fn what_depends_on_bytes_that_nothing_has_written_is_found() {
    let Some(corpus) = Corpus::of("init") else { return };
    corpus.holds(32, &["", "1"]);
    let finished = corpus.check(&[], &["written_in_part", "defect"]).run();
    corpus.is_shown(&finished.stderr, "docs/check.md", "aqlipse: stream 1 (kernel double_all");
    let line = "to[n] = 2 * from[n];";
    assert_eq!(source_lines(&finished.stderr, "check_init.hip")[..2], [line, line]);
    for build in &RDNA {
        let Some(corpus) = Corpus::built("init", "check_init.hip", build) else { return };
        corpus.holds(32, &["1"]);
    }
}

#[test]
fn edges_that_no_data_needs_are_found() {
    let Some(corpus) = Corpus::of("edges") else { return };
    corpus.holds(7, &["", "1"]);
    let finished = corpus.check(&[], &["readers", "defect"]).run();
    corpus.is_shown(&finished.stderr, "docs/check.md", "aqlipse: an edge orders");
}

#[test]
fn each_barrier_and_fence_that_is_left_out_is_found() {
    // Before the barriers that are listed is only what the kernel has loaded and added, or waited for with its arguments, and before
    // the last block's a barrier, as in [`WAITED_FOR_ON_RDNA`].
    for (build, covered, waits) in [
        (&MATRIX[3], &[][..], &[24][..]),
        (&MATRIX[5], &[], &[24]),
        (&RDNA[0], &[35], &[21, 24]),
        (&RDNA[1], &[35], &[24]),
    ] {
        let Some(corpus) = Corpus::built("race", "mutations.hip", build) else { return };
        let counts = Program::new(&corpus.toolchain, &corpus.program, corpus.arch).run().stdout;
        assert_eq!(counts.trim(), "44 33");
        assert_eq!(corpus.check(&[], &["-1"]).run().status.code(), Some(0), "with all");
        let is_missed = |arguments: &[&str]| corpus.check(&[], arguments).run().status.code() != Some(FOUND);
        let missed: Vec<_> = (0..44).filter(|number| is_missed(&[&number.to_string()])).collect();
        assert_eq!(missed, covered, "{}: without these nothing is found", corpus.arch);
        let missed: Vec<_> = (0..33).filter(|number| is_missed(&[&number.to_string(), "wait"])).collect();
        assert_eq!(missed, waits, "{}: without the waits of these nothing is found", corpus.arch);
    }
}

#[test]
fn what_is_left_at_the_end_is_found() {
    let Some(corpus) = Corpus::of("leak") else { return };
    corpus.holds(20, &[""]);
    let finished = corpus.check(&[], &["in_a_loop", "defect"]).run();
    corpus.is_shown(&finished.stderr, "docs/check.md", "aqlipse: 3 of device memory");
    let file = std::env::temp_dir().join(format!("aqlipse-leak-test-{}.sarif", std::process::id()));
    let finished = corpus.check(&["--sarif", file.to_str().unwrap()], &["stream", "defect"]).run();
    assert_eq!(finished.status.code(), Some(FOUND));
    let log: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    std::fs::remove_file(&file).unwrap();
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    let (source, line) = (&place["artifactLocation"]["uri"], place["region"]["startLine"].as_u64().unwrap());
    let source = std::fs::read_to_string(source.as_str().unwrap()).unwrap();
    let call = source.lines().nth(usize::try_from(line).unwrap() - 1).unwrap();
    assert!(call.contains("hipStreamCreateWithFlags"), "line {line}: {call}");
}

/// Programs of the conformance suite that free on purpose what is no allocation, or is none any more.
const FREE_BADLY: [&str; 5] =
    ["devices_memory", "error_state", "error_sticky", "host_memory_free", "memory_malloc_free"];

/// One whose blocks overlap, so that the last one to write decides.
const RACES: [&str; 1] = ["module_ext_launch"];

#[test]
fn conformance_programs_order_all_that_they_do() {
    let Some(toolchain) = Toolchain::find().filter(|_| is_emulated()) else { return };
    let programs = conformance::programs::find(&conformance::programs::directory()).unwrap();
    assert!(programs.len() >= 350, "{}", programs.len());
    let mut wrong = Vec::new();
    for program in programs {
        let binary = conformance::build::compile(&program.path, program.language).unwrap();
        // What races is written beside it.
        let folder =
            std::env::temp_dir().join(format!("aqlipse-check-{}-{}", program.name, std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let report = folder.join("report");
        // As the suite runs them.
        let run = Program::new(&toolchain, &binary, &format!("{}xgfx90a", program.devices))
            .env("AQLIPSE_EMULATE_HARDWARE", "no-svm")
            .env("AQLIPSE_CHECK", "graph,init,memory,race,sync")
            .env("AQLIPSE_CHECK_REPORT", report.to_str().unwrap())
            .unrecorded();
        let finished = run.run();
        let found = std::fs::read_to_string(&report).unwrap_or_default();
        std::fs::remove_dir_all(&folder).unwrap();
        let expected = match &*program.name {
            name if FREE_BADLY.contains(&name) => Some("memory/bad-free\t"),
            name if RACES.contains(&name) => Some("race/waves\t"),
            _ => None,
        };
        let is_expected = |line: &str| expected.is_some_and(|rule| line.starts_with(rule));
        let as_expected = found.lines().all(is_expected) && expected.is_some() != found.is_empty();
        if finished.status.code().is_none() || !as_expected {
            wrong.push(format!("{}: {}\n{found}", program.name, finished.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_found_in_a_program_without_a_defect_on_any_generation_of_rdna() {
    let Some(toolchain) = Toolchain::find().filter(|_| is_emulated()) else { return };
    let command = toolchain.command();
    for build in RDNA.into_iter().chain([Build::new(Compiler::Clang22, "gfx1030", "3")]) {
        let path = build.compile(&toolchain, "graph_forkjoin.hip", Output::Program);
        let outer = [command.to_str().unwrap(), "check", "all", "--"];
        let finished =
            Program::below(&toolchain, &outer, &path, build.arch).args(&["16384", "3"]).unrecorded().run();
        finished.expect_passed(&build);
        assert!(finished.stderr.contains(": 0 found"), "{}", says(&finished));
    }
}

#[test]
fn several_tools_look_at_once() {
    let Some(corpus) = Corpus::of("memory") else { return };
    let corpus = Corpus { tool: "all", ..corpus };
    // The program leaves two streams, an event, an executable and its graph behind.
    let finished = corpus.check(&[], &["captured_free", "defect"]).run();
    for rule in
        ["nothing orders that with its free", "stream is still there", "executable graph is still there"]
    {
        assert!(finished.stderr.contains(rule), "{rule}: {}", says(&finished));
    }
}

#[test]
fn a_finding_names_nodes_bytes_and_the_edge() {
    let Some(corpus) = Corpus::of("graph") else { return };
    let file = std::env::temp_dir().join(format!("aqlipse-check-test-{}.json", std::process::id()));
    let sarif = file.with_extension("sarif");
    let options = ["--json", file.to_str().unwrap(), "--sarif", sarif.to_str().unwrap()];
    let finished = corpus.check(&options, &["off_by_one", "defect"]).run();
    for page in ["README.md", "docs/check.md"] {
        corpus.is_shown(&finished.stderr, page, "aqlipse: no edge");
    }

    let json: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    std::fs::remove_file(&file).unwrap();
    let finding = &json["findings"][0];
    assert_eq!((&json["tools"][0], &finding["bytes"]), (&"graph".into(), &4.into()));
    assert_eq!(finding["rule"], "graph/unordered");
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

    let finished = corpus.check(&options, &["download_read_too_early", "defect"]).run();
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let finding = &json["findings"][0];
    let parts = [
        &finding["rule"],
        &finding["access"],
        &finding["command"]["what"],
        &finding["near"]["allocated"]["call"],
    ];
    assert_eq!(parts, ["graph/host", "read", "memcpy", "hipHostMalloc"], "{}", says(&finished));
    let line = finding["frames"][0]["line"].as_str().unwrap().rsplit_once(':').unwrap().1;
    let log: Value = serde_json::from_str(&std::fs::read_to_string(&sarif).unwrap()).unwrap();
    let location = &log["runs"][0]["results"][0]["locations"][0];
    assert_eq!(location["physicalLocation"]["region"]["startLine"].to_string(), line);
    assert_eq!(location["logicalLocations"][0]["name"], "memcpy");
    [&file, &sarif].into_iter().for_each(|path| std::fs::remove_file(path).unwrap());

    let known = file.with_extension("known");
    std::fs::write(&known, "kernel put(*) with kernel some(*)\n").unwrap();
    let suppressed =
        corpus.check(&["--suppressions", known.to_str().unwrap()], &["off_by_one", "defect"]).run();
    std::fs::remove_file(&known).unwrap();
    let says_so = suppressed.stderr.contains("check graph: 0 found, 1 suppressed");
    assert!(suppressed.status.success() && says_so, "{}", says(&suppressed));
}

#[test]
fn nodes_of_a_capture_say_which_wait_did_not_order_them() {
    let Some(corpus) = Corpus::of("graph") else { return };
    let reasons = [
        ("captured_without_event", "no event was recorded between them behind node G.0"),
        (
            "captured_without_wait",
            "an event was recorded behind node G.0, and no stream waited for it before node G.1",
        ),
        (
            "captured_wait_too_late",
            "stream 3 waited for an event that was recorded behind node G.0, and only behind node G.1",
        ),
        (
            "captured_wait_of_another_stream",
            "stream 1 waited for an event that was recorded behind node G.0, stream 3 did not",
        ),
        (
            "captured_event_recorded_again",
            "an event was recorded behind node G.0, and again on stream 1 and not behind it before stream 3 waited for it",
        ),
        (
            "captured_event_recorded_too_early",
            "stream 3 waited for an event that stream 2 had recorded before node G.0",
        ),
        (
            "captured_event_never_recorded",
            "stream 3 waited for an event that was not recorded in the capture, which orders nothing",
        ),
        (
            "captured_event_from_outside",
            "stream 3 was to wait for an event that was recorded outside of the capture, and the call failed",
        ),
    ];
    for (name, reason) in reasons {
        let finished = corpus.check(&[], &[name, "defect"]).run();
        let said = normal(&finished.stderr);
        let place = "\n    node G.0 was captured on stream 2, node G.1 on stream 3\n";
        assert!(said.contains(&format!("{place}    {reason}\n")), "{name}: {said}");
    }
    let finished = corpus.check(&[], &["captured_event_recorded_again", "defect"]).run();
    corpus.is_shown(
        &finished.stderr,
        "docs/check.md",
        "aqlipse: no edge orders node 12.0 of executable 1 (kernel put",
    );
}

#[test]
fn the_graph_of_a_finding_is_drawn_with_its_nodes_marked() {
    let Some(corpus) = Corpus::of("graph") else { return };
    let folder = std::env::temp_dir().join(format!("aqlipse-check-dot-{}", std::process::id()));
    let options = ["--dot", folder.to_str().unwrap()];
    let drawn = |corpus: &Corpus, case: &str| {
        let finished = corpus.check(&options, &[case, "defect"]).run();
        let name = finished.stderr.lines().find_map(|line| line.strip_prefix("    drawn in "));
        let name = name.unwrap_or_else(|| panic!("{}", says(&finished)));
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        text
    };
    let count = |text: &str, part: &str| text.lines().filter(|line| line.contains(part)).count();
    let text = drawn(&corpus, "transitive");
    assert_eq!([count(&text, "color=red"), count(&text, "label=\"missing\"")], [3, 1], "{text}");
    assert!(count(&text, "->") > 1, "{text}");
    let text = drawn(&corpus, "graph_and_stream");
    assert_eq!([count(&text, "color=red"), count(&text, "->")], [1, 0], "{text}");
    let finished = corpus.check(&[], &["node_before_a_body", "defect"]).run();
    assert!(finished.stderr.contains("of one graph that they are, or are in"), "{}", says(&finished));
    let Some(corpus) = Corpus::of("edges") else { return };
    let text = drawn(&corpus, "readers");
    assert_eq!([count(&text, "color=red"), count(&text, "label=\"needless\"")], [3, 1], "{text}");
    assert_eq!(count(&text, "->"), 2, "{text}");
}

#[test]
fn a_finding_that_the_report_cannot_take_is_said_on_stderr() {
    let Some(corpus) = Corpus::of("graph") else { return };
    let program = Program::new(&corpus.toolchain, &corpus.program, "gfx90a").args(&["readers", "defect"]);
    let finished =
        program.env("AQLIPSE_CHECK", "graph").env("AQLIPSE_CHECK_REPORT", "/no/such/folder/report").run();
    assert!(finished.status.success() && finished.stderr.contains("no edge orders"), "{}", says(&finished));
}

#[test]
fn the_exit_code_is_the_programs_where_nothing_was_found() {
    let Some(corpus) = Corpus::of("graph") else { return };
    let finished = corpus.check(&[], &["no_such_case"]).run();
    assert_eq!(finished.status.code(), Some(2), "{}", says(&finished));
}

#[test]
fn a_device_that_cannot_be_watched_is_refused() {
    let Some(corpus) = Corpus::of("graph") else { return };
    let program = Program::new(&corpus.toolchain, &corpus.program, "gfx90a").args(&["readers"]);
    let finished = program.env("AQLIPSE_CHECK", "everything").env("AQLIPSE_LOG", "info").run();
    assert!(
        finished.stderr.contains(
            "AQLIPSE_CHECK=everything: \"everything\" is none of graph, init, leak, memory, race, sync, edges, \
             same-value, all"
        ),
        "{}",
        says(&finished)
    );
}
