//! How long do whole HIP programs take on the shared library?
//!
//! Needs what the program tests need: `AQLIPSE_DIST` and Debian's compilers. Each row is the fastest, the median and
//! the slowest of some runs of the process, start and end included, on the emulated gfx90a. Programs with graphs run in
//! turns without and with each tool of `AQLIPSE_CHECK`, and traced.

// The tests use more of it.
#[allow(dead_code, unused_imports)]
#[path = "../tests/toolchain/mod.rs"]
mod toolchain;

use std::{
    thread,
    time::{Duration, Instant},
};

use toolchain::{Build, Compiler, Output, Program, Toolchain, build::compile_host};

const BUILD: Build = Build::new(Compiler::Clang22, "gfx90a", "3");
const RUNS: usize = 5;

fn main() {
    let Some(toolchain) = Toolchain::find() else { return };
    let cores = thread::available_parallelism().map_or(0, usize::from);
    println!("{RUNS} runs, {cores} cores, emulated {}, {BUILD}", BUILD.arch);
    println!("{:<44} {:>10} {:>10} {:>10}", "program", "min ms", "median ms", "max ms");
    for (program, arguments) in [
        ("graph_capture", &["1048576", "11"]),
        ("graph_creation", &["1048576", "11"]),
        ("graph_capture", &["1024", "101"]),
        ("graph_forkjoin", &["65536", "3"]),
    ] {
        let path = BUILD.compile(&toolchain, &format!("{program}.hip"), Output::Program);
        let name = format!("{program} {}", arguments.join(" "));
        let run = || Program::new(&toolchain, &path, BUILD.arch).args(arguments);
        let checked = |tool| run().env("AQLIPSE_CHECK", tool).env("AQLIPSE_CHECK_REPORT", "/dev/null");
        let (graph, memory) = (|| checked("graph"), || checked("memory"));
        let (race, sync, init) = (|| checked("race"), || checked("sync"), || checked("init"));
        let trace = || run().env("AQLIPSE_TRACE", "/dev/null");
        let rows: [(&str, &dyn Fn() -> Program); 7] = [
            (&name, &run),
            ("  graph", &graph),
            ("  memory", &memory),
            ("  race", &race),
            ("  sync", &sync),
            ("  init", &init),
            ("  trace", &trace),
        ];
        let [plain, others @ ..] = measure(rows);
        let [graph, memory, race, sync, init, trace] = others.map(|median| median / plain);
        println!(
            "{:<44} {graph:>10.2} {memory:>10.2} {race:>10.2} {sync:>10.2} {init:>10.2} {trace:>10.2}",
            "  graph, memory, race, sync, init, trace over plain"
        );
    }
    let bundle = Build::new(Compiler::Clang22, BUILD.arch, "1").compile(
        &toolchain,
        "registration_kernels.hip",
        Output::Bundle,
    );
    let path = compile_host(&toolchain, "registration.cpp", &[("BUNDLE", &bundle)], &[]);
    for binaries in ["0", "1", "111"] {
        let run = || Program::new(&toolchain, &path, BUILD.arch).args(&[binaries, "start"]);
        measure([(&format!("{binaries} fat binaries of 108 kernels"), &run)]);
    }
}

/// Runs programs in turns and prints a row for each; returns the medians in milliseconds.
fn measure<const N: usize>(rows: [(&str, &dyn Fn() -> Program); N]) -> [f64; N] {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..RUNS {
        for ((name, program), times) in rows.iter().zip(&mut times) {
            let start = Instant::now();
            let finished = program().run();
            times.push(start.elapsed());
            finished.expect_passed(name);
        }
    }
    let mut rows = rows.iter();
    times.map(|mut times: Vec<Duration>| {
        times.sort();
        let [min, median, max] = [0, RUNS / 2, RUNS - 1].map(|index| times[index].as_secs_f64() * 1e3);
        let name = rows.next().map_or("", |(name, _)| name);
        println!("{name:<44} {min:>10.1} {median:>10.1} {max:>10.1}");
        median
    })
}
