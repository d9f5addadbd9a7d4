//! Instructions of launches, and of what comes before them, counted by callgrind: they do not depend on how busy the machine
//! is.
//!
//! `docs/perf.md` has the numbers and how they came about. Whoever makes something cheaper lowers them here and there.

use std::fs;

use object::{Endianness, Object, read::elf::ElfFile64};

use crate::toolchain::{Program, Toolchain, build::compile_host, has, is_emulated};

/// Instructions of chains of kernels.
struct Cost {
    /// `hipGraphLaunch` of a graph of one kernel.
    launch: f64,
    /// What each further kernel adds to that.
    node: f64,
    /// `hipGraphAddKernelNode`.
    build: f64,
    /// What each further kernel adds to `hipGraphInstantiate`.
    instantiate: f64,
}

/// Of an optimised library (`cargo xtask dist`).
const RELEASE: Cost = Cost { launch: 1632.0, node: 14.3, build: 1147.0, instantiate: 1408.0 };
/// Of one with assertions (`cargo xtask dist --debug`).
const DEBUG: Cost = Cost { launch: 2402.0, node: 41.7, build: 2013.0, instantiate: 2947.0 };

/// What costs may grow by before it is a failure.
const SLACK: f64 = 1.10;

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

/// The library, and what it cost when that was written down.
fn expected() -> Option<(Toolchain, Cost)> {
    let toolchain = Toolchain::find()?;
    if !is_emulated() || !has("/usr/bin/valgrind", "valgrind") {
        return None;
    }
    let cost = if has_assertions(&toolchain) { DEBUG } else { RELEASE };
    Some((toolchain, cost))
}

fn has_assertions(toolchain: &Toolchain) -> bool {
    let library = fs::read(toolchain.lib().join("libamdhip64.so")).expect("the library");
    // What is released is stripped.
    ElfFile64::<Endianness>::parse(&*library).expect("an ELF file").has_debug_symbols()
}

const NODES: usize = 1025;

#[test]
fn a_launch_takes_no_more_instructions_than_it_did() {
    let Some((toolchain, expected)) = expected() else { return };
    let one = instructions(&toolchain, "hipGraphLaunch", 1, 100) / 100.0;
    let many = instructions(&toolchain, "hipGraphLaunch", NODES, 20) / 20.0;
    let node = (many - one) / (NODES - 1) as f64;
    println!("a launch: {one:.0}, a node: {node:.2}");
    assert!(node <= expected.node * SLACK, "{node:.2} instructions a node, {} before", expected.node);
    assert!(one <= expected.launch * SLACK, "{one:.0} instructions a launch, {} before", expected.launch);
    // Numbers that nobody lowers let much grow unseen.
    assert!(node >= expected.node / SLACK, "{node:.2} instructions a node: lower the number");
}

#[test]
fn a_node_takes_no_more_instructions_to_add_and_to_compile_than_it_did() {
    let Some((toolchain, expected)) = expected() else { return };
    let build = instructions(&toolchain, "hipGraphAddKernelNode", NODES, 1) / NODES as f64;
    let one = instructions(&toolchain, "hipGraphInstantiate", 1, 1);
    let instantiate = (instructions(&toolchain, "hipGraphInstantiate", NODES, 1) - one) / (NODES - 1) as f64;
    println!("adding a node: {build:.0}, compiling it: {instantiate:.0}");
    for (what, now, before) in
        [("adding", build, expected.build), ("compiling", instantiate, expected.instantiate)]
    {
        assert!(now <= before * SLACK, "{what} a node: {now:.0} instructions, {before} before");
        // As above.
        assert!(now >= before / SLACK, "{what} a node: {now:.0} instructions: lower the number");
    }
}

/// A pair of `hipMallocAsync` and `hipFreeAsync` on a warm pool: of an optimised library, and of one with assertions.
const PAIR: [f64; 2] = [1043.0, 1600.0];

#[test]
fn having_memory_again_takes_no_more_instructions_than_it_did() {
    let Some((toolchain, _)) = expected() else { return };
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
    let pair = (pairs(1010) - pairs(10)) / 1000.0;
    let before = PAIR[usize::from(has_assertions(&toolchain))];
    println!("a pair: {pair:.0}");
    assert!(pair <= before * SLACK, "{pair:.0} instructions a pair, {before} before");
    // As above.
    assert!(pair >= before / SLACK, "{pair:.0} instructions a pair: lower the number");
}

/// Instructions of `Exec::launch` where a launch is more than packets for one queue (`tests/runtime/allocations.rs`).
struct General {
    shape: &'static str,
    /// Kernels of a small graph.
    few: usize,
    /// A launch of that.
    launch: f64,
    /// What each further kernel adds to it.
    node: f64,
}

/// Of the profile that tests are built with.
const GENERAL: [General; 5] = [
    General { shape: "lanes2", few: 4, launch: 8023.0, node: 43.5 },
    General { shape: "lanes4", few: 8, launch: 11088.0, node: 42.4 },
    General { shape: "host", few: 2, launch: 5622.0, node: 43.5 },
    General { shape: "wait", few: 2, launch: 5063.0, node: 43.0 },
    General { shape: "record", few: 2, launch: 6424.0, node: 43.9 },
];

#[test]
fn a_launch_that_is_not_plain_takes_no_more_instructions_than_it_did() {
    if !is_emulated() || !has("/usr/bin/valgrind", "valgrind") {
        return;
    }
    const MORE: usize = 960;
    for General { shape, few, launch, node } in GENERAL {
        let one = crate::runtime::allocations::instructions_of(shape, few);
        let now = (crate::runtime::allocations::instructions_of(shape, few + MORE) - one) / MORE as f64;
        println!("{shape}: a launch of {few}: {one:.0}, a node: {now:.2}");
        // On a busy machine launches find the one before them in another state: some hundred instructions less.
        for (what, now, before, slack) in [("launch", one, launch, 1.2), ("node", now, node, SLACK)] {
            assert!(now <= before * slack, "{shape}: {now:.1} instructions a {what}, {before} before");
            // As above.
            assert!(now >= before / slack, "{shape}: {now:.1} instructions a {what}: lower the number");
        }
    }
}
