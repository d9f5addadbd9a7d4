//! The command's tools on every card that can be emulated.

use std::env;

use emulator::isa::Target;

use crate::toolchain::{Build, Compiler, Output, Program, Toolchain, is_emulated};

/// One program for all of them.
const EVERY: Build = Build::new(Compiler::Clang22, "gfx90a", "3").with(&[
    "--offload-arch=gfx9-4-generic",
    "--offload-arch=gfx10-3-generic",
    "--offload-arch=gfx11-generic",
    "--offload-arch=gfx12-generic",
]);

#[test]
fn each_tool_works_on_each_card() {
    let Some(toolchain) = Toolchain::find().filter(|_| is_emulated()) else { return };
    let path = EVERY.compile(&toolchain, "graph_forkjoin.hip", Output::Program);
    let program = ["--", path.to_str().unwrap(), "16384", "3"];
    let trace = env::temp_dir().join(format!("aqlipse-cards-{}.pftrace", std::process::id()));
    let library = toolchain.lib().display().to_string();
    for card in Target::ALL {
        let says = |arguments: &[&str], expected: &str| {
            let finished = Program::new(&toolchain, &toolchain.command(), card.name()).args(arguments).run();
            let text = format!("{}{}", finished.stdout, finished.stderr);
            let passed = finished.status.success() && text.contains(expected);
            assert!(passed, "{} {arguments:?}: {}\n{text}", card.name(), finished.status);
        };
        says(&["info"], card.name());
        says(&["demo", "--size", "4096"], "validation passed");
        let small = ["--no-thunk", "--quick", "--rounds", "1", "--shapes", "branches8", "--sizes", "16"];
        says(&[&["bench", "--execute", "--against", &library], &small[..]].concat(), "branches8");
        says(&[&["run"], &program[..]].concat(), "Validation passed");
        says(&[&["check", "all"], &program[..]].concat(), ": 0 found");
        says(
            &["check", "all", "--", toolchain.command().to_str().unwrap(), "demo", "--size", "4096"],
            ": 0 found",
        );
        says(&[&["trace", "-o", trace.to_str().unwrap()], &program[..]].concat(), "Validation passed");
    }
    let _ = std::fs::remove_file(trace);
}
