//! What kernels ask of the host and of each other: output, traps, memory, grids that wait, progress, other devices.

use std::fs;

use crate::toolchain::{
    Build, Compiler, MATRIX, Output, Program, Toolchain, is_emulated, is_seeded, offers, process::PASSED,
};

/// Kernels print to a buffer; with it goes the library for OpenCL, which has the function that reserves room there.
const BUFFERED: Build = Build::new(Compiler::Clang22, "gfx90a", "2").with(&[
    "-mprintf-kind=buffered",
    "--hip-device-lib=opencl.bc",
    "--hip-device-lib=ocml.bc",
    "--hip-device-lib=ockl.bc",
    "--hip-device-lib=oclc_unsafe_math_off.bc",
    "--hip-device-lib=oclc_finite_only_off.bc",
    "--hip-device-lib=oclc_correctly_rounded_sqrt_on.bc",
    "--hip-device-lib=oclc_wavefrontsize64_on.bc",
    "--hip-device-lib=oclc_isa_version_90a.bc",
    "--hip-device-lib=oclc_abi_version_600.bc",
]);

/// One thread runs everything: packet processor, workgroups, host.
const ONE_CORE: [&str; 3] = ["taskset", "-c", "0"];

/// What does not run, by program and the begin of an architecture. Debian's device libraries are older than RDNA 3 and read the
/// clock of RDNA 2: of what does, the heap of kernels among it, clang leaves nothing on later cards. GFX12 has no global wave
/// sync, which the program's own barrier is made of.
const LEFT_OUT: [(&str, &str); 5] = [
    ("device_cooperative", "gfx12"),
    ("device_launch", "gfx11"),
    ("device_launch", "gfx12"),
    ("device_malloc", "gfx11"),
    ("device_malloc", "gfx12"),
];

fn passes_on(program: &str, devices: &str, arguments: &[&str]) {
    let Some(toolchain) = Toolchain::find() else { return };
    let runs = |arch: &str| !LEFT_OUT.iter().any(|(name, start)| *name == program && arch.starts_with(start));
    let builds = MATRIX.into_iter().chain([Build::new(Compiler::Clang22, "gfx1030", "3")]);
    for build in builds.filter(|build| offers(build.arch) && runs(build.arch)) {
        let path = build.compile(&toolchain, &format!("{program}.hip"), Output::Program);
        let devices = format!("{devices}{}", build.arch);
        let finished = Program::new(&toolchain, &path, &devices).args(arguments).run();
        finished.expect_passed(&format!("{build} on {devices}"));
    }
}

// The program prints the same with the C library of the host, to a file.
#[test]
fn kernels_print_what_the_host_prints() {
    let Some(toolchain) = Toolchain::find() else { return };
    for (n, build) in MATRIX.iter().chain([&BUFFERED]).filter(|build| offers(build.arch)).enumerate() {
        let path = build.compile(&toolchain, "device_printf.hip", Output::Program);
        let expected = path.with_file_name(format!("expected{n}"));
        let name = expected.to_str().expect("the target directory has a name in UTF-8");
        let finished = Program::new(&toolchain, &path, build.arch).args(&[name]).run();
        finished.expect_passed(build);
        let expected = fs::read_to_string(&expected).expect("the program has written what it expects");
        assert!(finished.stdout.starts_with(&expected), "{build}:\n{}\n---\n{expected}", finished.stdout);
        // The order of the blocks is nobody's to say. A block of 256 threads prints 37 lines.
        let rest = finished.stdout[expected.len()..].lines().filter(|line| *line != PASSED);
        let mut blocks = [0; 200];
        for line in rest {
            let words: Vec<&str> = line.split(' ').collect();
            let ["block", block, "thread", thread, "salt", "5"] = words[..] else {
                panic!("{build}: {line}");
            };
            assert_eq!(thread.parse::<u32>().map(|thread| thread % 7), Ok(3), "{build}: {line}");
            blocks[block.parse::<usize>().expect("a number")] += 1;
        }
        assert_eq!(blocks, [37; 200], "{build}");
    }
}

#[test]
fn kernels_print_under_every_legal_order_of_packets() {
    let Some(toolchain) = Toolchain::find() else { return };
    for build in [MATRIX[3], BUFFERED] {
        let path = build.compile(&toolchain, "device_printf.hip", Output::Program);
        for seed in 1..=5 {
            let run =
                Program::new(&toolchain, &path, build.arch).env("AQLIPSE_EMULATE_SEED", &seed.to_string());
            run.run().expect_passed(&format!("{build}, seed {seed}"));
        }
    }
}

#[test]
fn traps_and_failed_assertions_are_errors_that_the_process_survives() {
    let Some(toolchain) = Toolchain::find() else { return };
    for build in MATRIX.into_iter().filter(|build| offers(build.arch)) {
        let path = build.compile(&toolchain, "device_assert.hip", Output::Program);
        let finished = Program::new(&toolchain, &path, build.arch).run();
        finished.expect_passed(&build);
        let failed = "device_assert.hip:9: void asserts(int): Device-side assertion `value == 7' failed.";
        let said = finished.stderr.lines().filter(|line| line.ends_with(failed)).count();
        assert_eq!(said, 3, "{build}:\n{}", finished.stderr);
        assert!(finished.stdout.starts_with("before the trap\n"), "{build}:\n{}", finished.stdout);
    }
}

#[test]
fn kernels_allocate_memory() {
    passes_on("device_malloc", "", &[]);
}

#[test]
fn launches_bring_shared_memory_and_clocks_count() {
    passes_on("device_launch", "", &[]);
}

// proves: hipLaunchCooperativeKernel, hipLaunchCooperativeKernelMultiDevice
#[test]
fn grids_wait_for_their_blocks_and_for_each_other() {
    passes_on("device_cooperative", "", &[]);
    passes_on("device_cooperative", "2x", &[]);
}

// proves: hipDeviceEnablePeerAccess, hipDeviceDisablePeerAccess, hipDeviceCanAccessPeer, hipMemcpyPeer, hipMemcpyPeerAsync
#[test]
fn devices_reach_each_other() {
    for devices in ["2", "4"] {
        // Behind a memory fault a device of ROCr's runs nothing any more.
        let arguments = [devices, "-access_that_is_not_enabled_is_a_fault"];
        let arguments = if is_emulated() { &arguments[..1] } else { &arguments };
        passes_on("device_peers", &format!("{devices}x"), arguments);
    }
}

// proves: hipGraphAddMemAllocNode, hipGraphMemAllocNodeGetParams
#[test]
fn graphs_span_devices() {
    for devices in ["2", "4"] {
        passes_on("device_graphs", &format!("{devices}x"), &[devices]);
    }
}

/// One process, one program, a code object for each of the cards.
#[test]
fn graphs_span_unlike_cards() {
    let Some(toolchain) = Toolchain::find() else { return };
    if !is_emulated() {
        return;
    }
    let build = Build::new(Compiler::Clang22, "gfx942", "3");
    let path =
        build.with(&["--offload-arch=gfx1100"]).compile(&toolchain, "device_graphs.hip", Output::Program);
    let run = Program::new(&toolchain, &path, "gfx942,gfx1100").args(&["2"]).run();
    run.expect_passed(&"gfx942 and gfx1100");
}

#[test]
fn waits_end_on_one_core_and_on_all() {
    let Some(toolchain) = Toolchain::find() else { return };
    // Under a seed kernels run one after another: one that waits for another queue's would wait forever.
    let arguments: &[&str] = if is_seeded() { &["-kernels_of_two_streams"] } else { &[] };
    for build in MATRIX.into_iter().filter(|build| offers(build.arch)) {
        let path = build.compile(&toolchain, "device_progress.hip", Output::Program);
        Program::new(&toolchain, &path, build.arch).args(arguments).run().expect_passed(&build);
        let alone = Program::below(&toolchain, &ONE_CORE, &path, build.arch).args(arguments).run();
        alone.expect_passed(&format!("{build} on one core"));
    }
}
