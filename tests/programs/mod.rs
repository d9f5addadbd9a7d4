//! The graph programs: every compiler, architecture and level; schedules of many seeds; valgrind; memory.

use std::env;

use crate::toolchain::{
    ARCHES, Build, Compiler, MATRIX, Output, Program, Toolchain, build::compile_host, has, is_emulated,
    is_without_events, offers, process::PASSED,
};

/// Elements and launches: enough for several blocks and for the second and third launch to differ from the first.
const SMALL: [&str; 2] = ["16384", "3"];

/// One block, for what repeats a program often or runs it slowly.
const TINY: [&str; 2] = ["1024", "3"];

const GRAPHS: [&str; 3] = ["graph_capture", "graph_creation", "graph_forkjoin"];

/// The programs that go through kinds of kernels.
const DEVICE: [&str; 6] =
    ["device_arithmetic", "device_control", "device_grid", "device_math", "device_memory", "device_wave"];

const FAST: Build = Build::new(Compiler::Clang22, "gfx90a", "3");

fn passes_everywhere(program: &str) {
    let Some(toolchain) = Toolchain::find() else { return };
    for build in MATRIX.into_iter().filter(|build| offers(build.arch)) {
        let path = build.compile(&toolchain, &format!("{program}.hip"), Output::Program);
        Program::new(&toolchain, &path, build.arch).args(&SMALL).run().expect_passed(&build);
        Program::through_command(&toolchain, &path, build.arch).args(&SMALL).run().expect_passed(&build);
    }
}

// proves: hipStreamBeginCapture, hipStreamEndCapture, hipMallocAsync, hipFreeAsync, hipLaunchHostFunc
// proves: hipMemcpyAsync, hipGraphInstantiate, hipGraphLaunch, hipStreamSynchronize, hipLaunchKernel
#[test]
fn captured_graph_passes_in_every_build() {
    passes_everywhere("graph_capture");
}

// proves: hipGraphCreate, hipGraphAddMemAllocNode, hipGraphAddMemFreeNode, hipGraphAddHostNode, hipGraphAddKernelNode
// proves: hipGraphAddMemcpyNode1D, hipGraphGetNodes, hipGraphGetEdges, hipGraphExecDestroy, hipGraphDestroy
#[test]
fn explicit_graph_passes_in_every_build() {
    passes_everywhere("graph_creation");
}

// proves: hipEventRecord, hipStreamWaitEvent, hipMemsetAsync, hipGraphAddChildGraphNode, hipEventElapsedTime
// proves: hipGraphExecKernelNodeSetParams, hipGraphKernelNodeGetParams, hipGraphNodeGetDependentNodes
#[test]
fn fork_and_join_passes_in_every_build() {
    passes_everywhere("graph_forkjoin");
}

/// Blocks that find each other's results in memory, of which some wait for others.
#[test]
fn blocks_that_depend_on_each_other_pass_in_every_build() {
    passes_everywhere("device_wide");
}

/// How many seeds programs are run with on devices with caches.
fn strict_seeds() -> u64 {
    let given = env::var("AQLIPSE_STRICT_SEEDS").ok().filter(|value| !value.is_empty());
    given.map_or(2, |value| value.parse().expect("AQLIPSE_STRICT_SEEDS is a number"))
}

/// Programs that lack no fence pass on devices whose caches keep coherent what fences ask for and nothing else, whatever
/// legal order packets and blocks run in. Code objects of version 4 read their dispatch packets, too.
fn passes_with_strict_caches(programs: &[&str], arguments: &[&str]) {
    let Some(toolchain) = Toolchain::find() else { return };
    if !is_emulated() {
        return;
    }
    let builds = [
        Build::new(Compiler::Clang15, "gfx90a", "3"),
        Build::new(Compiler::Clang22, "gfx942", "3"),
        Build::new(Compiler::Clang22, "gfx1201", "3"),
    ];
    for (build, program) in
        builds.iter().flat_map(|build| programs.iter().map(move |program| (build, program)))
    {
        let path = build.compile(&toolchain, &format!("{program}.hip"), Output::Program);
        for seed in 1..=strict_seeds() {
            let run = Program::new(&toolchain, &path, build.arch).args(arguments);
            let run =
                run.env("AQLIPSE_EMULATE_COHERENCE", "strict").env("AQLIPSE_EMULATE_SEED", &seed.to_string());
            run.run().expect_passed(&format!("{program}, {build}, seed {seed}"));
        }
    }
}

#[test]
fn graphs_pass_with_strict_caches_in_every_legal_order() {
    passes_with_strict_caches(&GRAPHS, &TINY);
    passes_with_strict_caches(&["graph_conditional", "graph_device_launch"], &[]);
}

#[test]
fn blocks_that_depend_on_each_other_pass_with_strict_caches_in_every_legal_order() {
    passes_with_strict_caches(&["device_wide"], &TINY);
    passes_with_strict_caches(&["device_wide"], &SMALL);
}

#[test]
fn kernels_pass_with_strict_caches_in_every_legal_order() {
    passes_with_strict_caches(&DEVICE, &[]);
}

// proves: __hipRegisterFatBinary, __hipRegisterFunction, __hipUnregisterFatBinary
#[test]
fn every_code_object_version_and_a_compressed_bundle_load() {
    let Some(toolchain) = Toolchain::find() else { return };
    let options: [&[&str]; 4] = [
        &["-mcode-object-version=4"],
        &["-mcode-object-version=5"],
        &["-mcode-object-version=6"],
        &["--offload-compress"],
    ];
    for arch in ARCHES.into_iter().filter(|arch| offers(arch)) {
        for options in options {
            let build = Build::new(Compiler::Clang22, arch, "3").with(options);
            let path = build.compile(&toolchain, "graph_forkjoin.hip", Output::Program);
            Program::new(&toolchain, &path, arch).args(&SMALL).run().expect_passed(&build);
        }
    }
}

/// With several architectures in one bundle each device takes its own.
#[test]
fn a_bundle_of_several_architectures_serves_each() {
    let Some(toolchain) = Toolchain::find() else { return };
    let build = FAST.with(&[
        "--offload-arch=gfx942",
        "--offload-arch=gfx950",
        "--offload-arch=gfx1100",
        "--offload-arch=gfx1201",
    ]);
    let path = build.compile(&toolchain, "graph_capture.hip", Output::Program);
    for arch in ARCHES.into_iter().filter(|arch| offers(arch)) {
        Program::new(&toolchain, &path, arch).args(&SMALL).run().expect_passed(&arch);
    }
}

/// A bundle that lacks the device's architecture is an error of the launch that needs it, not a crash.
#[test]
fn a_bundle_without_the_device_is_refused() {
    let Some(toolchain) = Toolchain::find() else { return };
    if !offers("gfx942") {
        return;
    }
    let path = FAST.compile(&toolchain, "graph_capture.hip", Output::Program);
    let finished = Program::new(&toolchain, &path, "gfx942").args(&SMALL).run();
    let refused = finished.status.code() == Some(1) && finished.stderr.contains("hipErrorNoBinaryForGpu");
    assert!(refused, "{}\n{}{}", finished.status, finished.stdout, finished.stderr);
}

#[test]
fn full_size_passes() {
    let Some(toolchain) = Toolchain::find() else { return };
    for program in GRAPHS {
        let path = FAST.compile(&toolchain, &format!("{program}.hip"), Output::Program);
        Program::new(&toolchain, &path, FAST.arch).run().expect_passed(&program);
    }
}

/// Each seed is another legal order of packets: a dependency that is missing shows in some of them.
#[test]
fn every_legal_order_of_packets_gives_the_same_result() {
    let Some(toolchain) = Toolchain::find() else { return };
    for program in GRAPHS {
        let path = FAST.compile(&toolchain, &format!("{program}.hip"), Output::Program);
        for seed in 1..=50 {
            let seed = seed.to_string();
            let run =
                Program::new(&toolchain, &path, FAST.arch).args(&TINY).env("AQLIPSE_EMULATE_SEED", &seed);
            run.run().expect_passed(&format!("{program}, seed {seed}"));
        }
    }
}

#[test]
fn the_host_side_has_no_memory_errors() {
    let Some(toolchain) = Toolchain::find() else { return };
    // ROCr hands the kernel bytes that it has not written, which is not for us to mend.
    if !is_emulated() || !has("/usr/bin/valgrind", "valgrind") {
        return;
    }
    let valgrind = ["valgrind", "--quiet", "--error-exitcode=1", "--fair-sched=yes"];
    // Debian's valgrind is as old as clang-15 and may not read the debug information of younger compilers.
    let build = Build::new(Compiler::Clang15, "gfx90a", "3");
    for program in GRAPHS {
        let path = build.compile(&toolchain, &format!("{program}.hip"), Output::Program);
        let finished = Program::below(&toolchain, &valgrind, &path, build.arch).args(&TINY).run();
        finished.expect_passed(&program);
        assert!(!finished.stderr.contains("=="), "{program}:\n{}", finished.stderr);
    }
}

/// A client of the public header, linked with `libhiprtc.so`.
#[test]
fn programs_compile_at_run_time_through_a_library_of_its_own() {
    let Some(toolchain) = Toolchain::find() else { return };
    let path = compile_host(&toolchain, "rtc.cpp", &[], &["hiprtc"]);
    for arch in ARCHES.into_iter().filter(|arch| offers(arch)) {
        let program = Program::new(&toolchain, &path, arch).env("AQLIPSE_RTC_CACHE", "0");
        program.run().expect_passed(&arch);
    }
}

/// How many rounds the program makes that relaunches: fewer on a ROCr without events, whose waits spin and take 10 ms.
fn rounds() -> &'static [&'static str] {
    if is_without_events() { &["1000"] } else { &[] }
}

/// The program measures itself and says what it found.
#[test]
fn relaunches_leave_memory_as_it_was() {
    let Some(toolchain) = Toolchain::find() else { return };
    let path = FAST.compile(&toolchain, "relaunch_memory.hip", Output::Program);
    let finished = Program::new(&toolchain, &path, FAST.arch).args(rounds()).run();
    finished.expect_passed(&PASSED);
}

// proves: hipGraphConditionalHandleCreate, hipGraphAddConditionalNode, hipGraphConditionalNodeGetBody
#[test]
fn conditional_nodes_pass_on_every_architecture_and_both_ways() {
    let Some(toolchain) = Toolchain::find() else { return };
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/capi/include/aqlipse/hip_graph_conditional.h");
    let installed = toolchain.lib().join("../include/aqlipse/hip_graph_conditional.h");
    assert_eq!(std::fs::read(source).unwrap(), std::fs::read(installed).expect("the header is installed"));
    let levels = [("gfx90a", "0")].into_iter().chain(ARCHES.map(|arch| (arch, "3")));
    for (arch, level) in levels.filter(|(arch, _)| offers(arch)) {
        let build = Build::new(Compiler::Clang22, arch, level);
        let path = build.compile(&toolchain, "graph_conditional.hip", Output::Program);
        for way in ["auto", "host"] {
            let program = Program::new(&toolchain, &path, arch).env("AQLIPSE_CONDITIONAL", way);
            program.run().expect_passed(&format!("{build}, {way}"));
        }
    }
}

// proves: aqlipseGraphExecGetDeviceGraph, hipGraphUpload, hipGraphInstantiateWithFlags
#[test]
fn kernels_launch_graphs_on_every_architecture_and_both_ways() {
    let Some(toolchain) = Toolchain::find() else { return };
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/capi/include/aqlipse/device_graph.h");
    let installed = toolchain.lib().join("../include/aqlipse/device_graph.h");
    assert_eq!(std::fs::read(source).unwrap(), std::fs::read(installed).expect("the header is installed"));
    let compilers = [(Compiler::Clang22, "gfx90a", "0"), (Compiler::Clang15, "gfx90a", "3")];
    let newer = ARCHES.into_iter().skip(1).map(|arch| (Compiler::Clang22, arch, "3"));
    for (compiler, arch, level) in compilers.into_iter().chain(newer).filter(|(_, arch, _)| offers(arch)) {
        let build = Build::new(compiler, arch, level);
        let path = build.compile(&toolchain, "graph_device_launch.hip", Output::Program);
        for way in ["auto", "launcher"] {
            let program = Program::new(&toolchain, &path, arch).env("AQLIPSE_RESIDENT", way);
            program.run().expect_passed(&format!("{build}, {way}"));
        }
    }
}

/// Whoever publishes packets: the host by one queue and by several, from one thread and from two, and kernels.
#[test]
fn programs_pass_with_rings_in_device_memory() {
    let Some(toolchain) = Toolchain::find() else { return };
    for program in GRAPHS.into_iter().chain(["graph_conditional", "graph_device_launch", "relaunch_memory"]) {
        let path = FAST.compile(&toolchain, &format!("{program}.hip"), Output::Program);
        for (rings, coherence) in [("device", "off"), ("device-ordinary", "off"), ("device", "strict")] {
            // Caches grow, which is what this one measures.
            if (program, coherence) == ("relaunch_memory", "strict") {
                continue;
            }
            let run = Program::new(&toolchain, &path, FAST.arch).env("AQLIPSE_RING", rings);
            let run = run.env("AQLIPSE_EMULATE_COHERENCE", coherence);
            let run = match program {
                "relaunch_memory" => run.args(rounds()),
                graph if GRAPHS.contains(&graph) => run.args(&TINY),
                _ => run,
            };
            run.run().expect_passed(&format!("{program}, rings: {rings}, coherence: {coherence}"));
        }
    }
}

#[test]
fn a_place_for_rings_that_is_none_is_an_error_that_says_so() {
    let Some(toolchain) = Toolchain::find() else { return };
    let path = FAST.compile(&toolchain, "graph_capture.hip", Output::Program);
    let run = Program::new(&toolchain, &path, FAST.arch).args(&TINY).env("AQLIPSE_RING", "elsewhere");
    let run = run.env("AQLIPSE_LOG", "warn").run();
    assert!(!run.passed());
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("AQLIPSE_RING=elsewhere: expected system, device or device-ordinary"), "{said}");
}
