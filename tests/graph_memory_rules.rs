//! Programs for every rule of graph memory, whose output is what the rules make of it (`docs/graph-memory-rules.md`).
//!
//! `tests/programs/graph_memory/NAME.cpp` prints one line an observation; `NAME.expected` beside it has the lines. HIP 5.2.3
//! has no memory of graphs, so that no other library can be asked. Where the HSA runtime cannot map memory, graphs share
//! none: `NAME.apart.expected` is what a program prints there, if that is something else.

use std::{collections::BTreeSet, fs, path::PathBuf};

use aqlipse::Device;

use crate::toolchain::{Program, Toolchain, build::compile_host, sources};

const FOLDER: &str = "graph_memory";

/// A program with memory on two devices.
const ON_TWO_DEVICES: &str = "access";

fn folder() -> PathBuf {
    sources().join(FOLDER)
}

fn programs() -> BTreeSet<String> {
    let files = fs::read_dir(folder()).expect("the programs");
    let names = files.filter_map(|file| {
        let path = file.expect("a file").path();
        let is_program = path.extension().is_some_and(|extension| extension == "cpp");
        is_program.then(|| path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned())
    });
    names.collect()
}

/// Lines that differ, of a program's output.
fn observe(toolchain: &Toolchain, name: &str) -> Option<String> {
    let path = compile_host(toolchain, &format!("{FOLDER}/{name}.cpp"), &[], &[]);
    let apart = folder().join(name).with_extension("apart.expected");
    let shares = Device::get(0).expect("a device").shares_graph_memory();
    let path_of_lines =
        if shares || !apart.exists() { folder().join(name).with_extension("expected") } else { apart };
    let expected = fs::read_to_string(path_of_lines).expect("what it prints");
    let devices = if name == ON_TWO_DEVICES { "2xgfx90a" } else { "gfx90a" };
    let finished = Program::new(toolchain, &path, devices).run();
    let (mut lines, mut rules) = (finished.stdout.lines(), expected.lines());
    loop {
        match (lines.next(), rules.next()) {
            (None, None) if finished.status.success() => return None,
            (None, None) => return Some(format!("{name}: {}\n{}", finished.status, finished.stderr)),
            (found, rule) if found != rule => {
                return Some(format!("{name}: found {found:?}, the rule is {rule:?}\n{}", finished.stderr));
            }
            _ => {}
        }
    }
}

// proves: hipGraphAddMemAllocNode, hipGraphAddMemFreeNode, hipGraphMemAllocNodeGetParams, hipGraphMemFreeNodeGetParams
// proves: hipDeviceGetGraphMemAttribute, hipDeviceSetGraphMemAttribute, hipDeviceGraphMemTrim, hipMallocAsync
// proves: hipFreeAsync, hipMallocFromPoolAsync, hipGraphInstantiateWithFlags
#[test]
fn memory_of_graphs_follows_its_rules() {
    let Some(toolchain) = Toolchain::find() else { return };
    let broken: Vec<_> = programs().iter().filter_map(|name| observe(&toolchain, name)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_rule_names_programs_and_every_program_a_rule() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/graph-memory-rules.md");
    let page = fs::read_to_string(page).expect("the page");
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| rule")).collect();
    let mut named = BTreeSet::new();
    for row in &rows {
        let column = row.trim_end_matches('|').rsplit('|').next().expect("a column");
        let names: Vec<_> = column.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        assert!(!names.is_empty(), "no program shows this: {row}");
        named.extend(names);
    }
    assert!(rows.len() > 20, "the page has no table");
    assert_eq!(named, programs());
    for name in programs() {
        assert!(folder().join(&name).with_extension("expected").exists(), "{name} has no expected output");
    }
}
