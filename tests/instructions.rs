//! Instructions of launches, and of what comes before them, counted by callgrind: they do not depend on how busy the machine
//! is.
//!
//! The numbers are the tables of `docs/perf.md`, which says how they came about. Whoever makes something cheaper lowers them
//! there.

use std::fs;

use object::{Endianness, Object, read::elf::ElfFile64};

use crate::toolchain::{Program, Toolchain, build::compile_host, has, is_emulated};

/// What costs may change by before it is a failure: numbers that nobody lowers let much grow unseen.
const SLACK: f64 = 1.10;
/// What the cost of a launch that is not plain may change by: on a busy machine it finds the launch before it in another
/// state, some hundred instructions less.
const BUSY_SLACK: f64 = 1.2;

/// The numbers of a row of `docs/perf.md`, in the table whose header ends with `columns`.
fn documented(columns: &str, row: &str) -> Vec<f64> {
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/perf.md")).expect("docs/perf.md");
    let mut table =
        page.lines().skip_while(|line| !line.ends_with(columns)).take_while(|line| line.starts_with('|'));
    let cells = table.find_map(|line| line.strip_prefix("| ")?.strip_prefix(row)?.strip_prefix(" |"));
    let cells = cells.unwrap_or_else(|| panic!("docs/perf.md has no row {row:?} under {columns:?}"));
    cells.split('|').filter_map(|cell| cell.trim().parse().ok()).collect()
}

/// Holds a count against the documented one.
fn hold(what: &str, now: f64, documented: f64, slack: f64) {
    println!("{what}: {now:.1} instructions");
    assert!(now <= documented * slack, "{what}: {now:.1} instructions, {documented} before");
    assert!(
        now >= documented / slack,
        "{what}: {now:.1} instructions, {documented} in docs/perf.md: lower the number"
    );
}

/// Instructions inside of an entry while a chain is built, compiled and launched so often.
fn instructions(toolchain: &Toolchain, entry: &str, nodes: usize, launches: usize) -> f64 {
    let toggle = format!("--toggle-collect={entry}");
    let callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", &toggle];
    let library = toolchain.lib().join("libamdhip64.so");
    let (case, times) = (format!("straight/{nodes}"), launches.to_string());
    let finished = Program::below(toolchain, &callgrind, &toolchain.command(), "gfx90a")
        .args(&["bench-worker", "--library", library.to_str().expect("a path in UTF-8")])
        .args(&["--case", &case, "--launches", &times])
        .env("AQLIPSE_EMULATE_NULL", "1")
        .unrecorded()
        .run();
    assert!(finished.status.success(), "{}\n{}{}", finished.status, finished.stdout, finished.stderr);
    assert!(!finished.stdout.contains("problem"), "{}", finished.stdout);
    collected(&finished.stderr)
}

/// The total that callgrind prints.
pub fn collected(stderr: &str) -> f64 {
    let total = stderr.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    total.unwrap_or_else(|| panic!("no total:\n{stderr}"))
}

/// The library, and how the rows of the tables name its build.
fn library() -> Option<(Toolchain, &'static str)> {
    let toolchain = Toolchain::find()?;
    if !is_emulated() || !has("/usr/bin/valgrind", "valgrind") {
        return None;
    }
    let library = fs::read(toolchain.lib().join("libamdhip64.so")).expect("the library");
    // What is released is stripped.
    let has_assertions = ElfFile64::<Endianness>::parse(&*library).expect("an ELF file").has_debug_symbols();
    Some((toolchain, if has_assertions { "`cargo xtask dist --debug`" } else { "`cargo xtask dist`" }))
}

const NODES: usize = 1025;

#[test]
fn a_launch_takes_no_more_instructions_than_it_did() {
    let Some((toolchain, build)) = library() else { return };
    let before = documented("| a launch of one node | each further node |", build);
    let one = instructions(&toolchain, "hipGraphLaunch", 1, 100) / 100.0;
    let many = instructions(&toolchain, "hipGraphLaunch", NODES, 20) / 20.0;
    hold("a launch", one, before[0], SLACK);
    hold("each further node", (many - one) / (NODES - 1) as f64, before[1], SLACK);
}

#[test]
fn a_node_takes_no_more_instructions_to_add_and_to_compile_than_it_did() {
    let Some((toolchain, build)) = library() else { return };
    let before = documented("| add | instantiate |", build);
    let add = instructions(&toolchain, "hipGraphAddKernelNode", NODES, 1) / NODES as f64;
    let one = instructions(&toolchain, "hipGraphInstantiate", 1, 1);
    let many = instructions(&toolchain, "hipGraphInstantiate", NODES, 1);
    hold("adding a node", add, before[0], SLACK);
    hold("compiling a node", (many - one) / (NODES - 1) as f64, before[1], SLACK);
}

#[test]
fn having_memory_again_takes_no_more_instructions_than_it_did() {
    let Some((toolchain, build)) = library() else { return };
    let program = compile_host(&toolchain, "pool_pairs.cpp", &[], &[]);
    let pairs = |count: usize| {
        let counted = ["hipMallocAsync", "hipFreeAsync"].map(|entry| format!("--toggle-collect={entry}"));
        let callgrind =
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", &counted[0], &counted[1]];
        let finished = Program::below(&toolchain, &callgrind, &program, "gfx90a")
            .args(&[&count.to_string()])
            .unrecorded()
            .run();
        finished.expect_passed(&"pairs");
        collected(&finished.stderr)
    };
    let before = documented("| a pair |", build);
    hold("a pair", (pairs(1010) - pairs(10)) / 1000.0, before[0], SLACK);
}

/// By `Exec::launch` of the tests' own build (`tests/runtime/allocations.rs`).
#[test]
fn a_launch_that_is_not_plain_takes_no_more_instructions_than_it_did() {
    if !is_emulated() || !has("/usr/bin/valgrind", "valgrind") {
        return;
    }
    const MORE: usize = 960;
    for (shape, row) in [
        ("lanes2", "fork-join over 2 lanes"),
        ("lanes4", "fork-join over 4 lanes"),
        ("host", "a host function in a chain"),
        ("wait", "an event wait node before a chain"),
        ("record", "the same, and an event record node behind it"),
    ] {
        let before = documented("| kernels | a launch | each further kernel |", row);
        let few = before[0] as usize;
        let one = crate::runtime::allocations::instructions_of(shape, few);
        let many = crate::runtime::allocations::instructions_of(shape, few + MORE);
        hold(&format!("{row}, a launch"), one, before[1], BUSY_SLACK);
        hold(&format!("{row}, each further kernel"), (many - one) / MORE as f64, before[2], SLACK);
    }
}
