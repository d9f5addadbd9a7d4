//! Programs whose kernels compute what the host computes too: one test per program, all builds.

use crate::toolchain::{Build, Compiler, MATRIX, Output, Program, Toolchain, offers};

/// The levels between those of [`MATRIX`].
const BETWEEN: [Build; 3] = [
    Build::new(Compiler::Clang22, "gfx90a", "1"),
    Build::new(Compiler::Clang22, "gfx90a", "2"),
    Build::new(Compiler::Clang22, "gfx90a", "s"),
];

fn agrees_in_every_build(program: &str) {
    let Some(toolchain) = Toolchain::find() else { return };
    let mut wrong = Vec::new();
    for build in MATRIX.iter().chain(&BETWEEN).filter(|build| offers(build.arch)) {
        let path = build.compile(&toolchain, &format!("{program}.hip"), Output::Program);
        let finished = Program::new(&toolchain, &path, build.arch).run();
        if !finished.passed() {
            wrong.push(format!("{build}: {}\n{}{}", finished.status, finished.stdout, finished.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn arithmetic_agrees_with_the_host_to_the_bit() {
    agrees_in_every_build("device_arithmetic");
}

#[test]
fn math_functions_are_within_their_bounds() {
    agrees_in_every_build("device_math");
}

#[test]
fn control_flow_agrees_with_the_host() {
    agrees_in_every_build("device_control");
}

#[test]
fn kinds_of_memory_agree_with_the_host() {
    agrees_in_every_build("device_memory");
}

#[test]
fn wavefront_operations_and_atomics_agree_with_the_host() {
    agrees_in_every_build("device_wave");
}

#[test]
fn every_thread_of_a_grid_runs_once() {
    agrees_in_every_build("device_grid");
}
