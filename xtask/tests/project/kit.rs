//! The kit that `cargo xtask kit` packs, run on an emulated device.

use std::{
    fs,
    num::NonZero,
    path::{Path, PathBuf},
    process::Command,
};

use xtask::{
    conformance::{programs, recorded::Recording},
    kit, output, packages,
};

const AMD: &str = "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5";

/// Programs that print the same on both libraries, a kernel's results and several devices among them; and one whose
/// lines differ.
const FILTERS: [&str; 4] = ["exec_diamond", "devices_threads", "error_sticky", "array_flags"];

fn run(kit: &Path, arguments: &[&str], results: &Path) -> Recording {
    let mut script = Command::new("sh");
    script.arg(kit.join("kit.sh")).args(["-n", "-e", "gfx90a", "-o"]).arg(results);
    output(script.args(arguments)).unwrap();
    Recording::read(results, &programs::find(&programs::directory()).unwrap()).unwrap()
}

fn origin<'r>(recording: &'r Recording, key: &str) -> &'r str {
    &recording.origin.iter().find(|(name, _)| name == key).unwrap_or_else(|| panic!("{key}: {recording:?}")).1
}

/// Nodes, captures, launches and updates; and one that shows the card.
const SELECTION: [&str; 8] = [
    "exec_diamond",
    "capture_fork_join",
    "device_properties",
    "graph_memset_params",
    "launch_geometry",
    "occupancy_blocks",
    "symbol_copies",
    "update_kernel",
];

#[test]
fn programs_of_the_kit_print_on_rdna_what_they_print_on_gfx90a() {
    if !packages_are_there() {
        return;
    }
    kit::emulated::compare(&kit::Options {
        filters: SELECTION.map(String::from).into(),
        output: None,
        emulate: ["gfx1100", "gfx1201"].map(String::from).into(),
        jobs: NonZero::<usize>::MIN,
    })
    .unwrap();
}

fn packages_are_there() -> bool {
    let missing = packages::missing();
    if !missing.is_empty() {
        assert!(!packages::required(), "{missing:?}");
        eprintln!("skipped: missing Debian packages: {}", missing.join(" "));
    }
    missing.is_empty()
}

#[test]
fn the_kit_runs_on_amds_library_and_on_ours_and_its_files_compare() {
    if !packages_are_there() {
        return;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kit");
    let kit = kit::command(&kit::Options {
        filters: FILTERS.map(String::from).into(),
        output: Some(folder.clone()),
        emulate: Vec::new(),
        jobs: NonZero::<usize>::MIN,
    })
    .unwrap();
    let listed = output(Command::new("tar").arg("-tzf").arg(folder.join("aqlipse-kit.tar.gz"))).unwrap();
    for file in
        ["kit.sh", "programs/probe", "programs/exec_diamond", "bin/aqlipse", "lib/libamdhip64.so.7.2.0"]
    {
        assert!(
            listed.lines().any(|line| line.strip_prefix("aqlipse-kit/") == Some(file)),
            "{file}: {listed}"
        );
    }

    // One program ends badly: what it printed is no answer, and the others go on.
    let broken = kit.join("programs/error_sticky");
    fs::write(&broken, "#!/bin/sh\necho half: 1\nexit 3\n").unwrap();
    let amd = run(&kit, &["-l", AMD], &folder.join("amd.tsv"));
    let ours = kit.join("lib/libamdhip64.so.7.2.0");
    let ours = run(&kit, &["-l", ours.to_str().unwrap(), "exec_", "array_"], &folder.join("ours.tsv"));
    assert!(origin(&amd, "runtime").starts_with("502"), "{amd:?}");
    assert!(origin(&ours, "runtime").starts_with('7'), "{ours:?}");
    assert_eq!(origin(&amd, "failed error_sticky"), "3");
    assert_eq!(amd.of("error_sticky"), None);
    for recording in [&amd, &ours] {
        assert!(origin(recording, "gpu").starts_with("gfx90a"), "{recording:?}");
        assert_eq!(origin(recording, "emulated"), "gfx90a");
    }
    assert!(amd.of("devices_threads").is_some());
    assert_eq!(ours.of("devices_threads"), None, "no filter let it in");
    assert_eq!(amd.of("exec_diamond"), ours.of("exec_diamond"));
    assert_ne!(amd.of("array_flags"), ours.of("array_flags"));
}
