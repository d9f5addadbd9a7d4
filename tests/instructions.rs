//! Instructions of a launch, counted by callgrind: they do not depend on how busy the machine is.
//!
//! `docs/perf.md` has the numbers and how they came about. Whoever makes a launch cheaper lowers them here and there.

use std::fs;

use object::{Endianness, Object, read::elf::ElfFile64};

use crate::toolchain::{Program, Toolchain, has, is_emulated};

/// Instructions of `hipGraphLaunch`: of a graph of one kernel, and what each further kernel of a chain adds.
struct Cost {
    launch: f64,
    node: f64,
}

/// Of an optimised library (`cargo xtask dist`).
const RELEASE: Cost = Cost { launch: 1679.0, node: 14.2 };
/// Of one with assertions (`cargo xtask dist --debug`).
const DEBUG: Cost = Cost { launch: 2275.0, node: 40.6 };

/// What costs may grow by before it is a failure.
const SLACK: f64 = 1.10;

/// Instructions inside of `hipGraphLaunch`, for one launch of a chain.
fn instructions(toolchain: &Toolchain, nodes: usize, launches: usize) -> f64 {
    let callgrind =
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=hipGraphLaunch"];
    let library = toolchain.lib().join("libamdhip64.so");
    let (case, times) = (format!("straight/{nodes}"), launches.to_string());
    let finished = Program::below(toolchain, &callgrind, &toolchain.command(), "gfx90a")
        .args(&["bench-worker", "--library", library.to_str().expect("a path in UTF-8")])
        .args(&["--case", &case, "--launches", &times])
        .env("AQLIPSE_EMULATE_NULL", "1")
        .run();
    assert!(finished.status.success(), "{}\n{}{}", finished.status, finished.stdout, finished.stderr);
    assert!(!finished.stdout.contains("problem"), "{}", finished.stdout);
    let total =
        finished.stderr.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    let total: f64 = total.unwrap_or_else(|| panic!("no total:\n{}", finished.stderr));
    total / launches as f64
}

#[test]
fn a_launch_takes_no_more_instructions_than_it_did() {
    let Some(toolchain) = Toolchain::find() else { return };
    if !is_emulated() || !has("/usr/bin/valgrind", "valgrind") {
        return;
    }
    let library = fs::read(toolchain.lib().join("libamdhip64.so")).expect("the library");
    // What is released is stripped.
    let debug = ElfFile64::<Endianness>::parse(&*library).expect("an ELF file").has_debug_symbols();
    let expected = if debug { DEBUG } else { RELEASE };
    const NODES: usize = 1025;
    let one = instructions(&toolchain, 1, 100);
    let many = instructions(&toolchain, NODES, 20);
    let node = (many - one) / (NODES - 1) as f64;
    println!("debug: {debug}; a launch: {one:.0}, a node: {node:.2}");
    assert!(node <= expected.node * SLACK, "{node:.2} instructions a node, {} before", expected.node);
    assert!(one <= expected.launch * SLACK, "{one:.0} instructions a launch, {} before", expected.launch);
    // Numbers that nobody lowers let much grow unseen.
    assert!(node >= expected.node / SLACK, "{node:.2} instructions a node: lower the number");
}
