//! Programs of several processes, one device each, that MPI starts: `examples/mpi`.

use crate::toolchain::{
    Toolchain, has, is_emulated,
    mpi::{MPICH, OPEN_MPI},
    process::Finished,
};

/// Cells in a row, and launches: of four sweeps each.
const SIZE: [&str; 2] = ["96", "6"];

/// What rank 0 has printed: the sum over all cells.
#[track_caller]
fn sum(finished: &Finished) -> String {
    assert!(finished.status.success(), "{}\n{}{}", finished.status, finished.stdout, finished.stderr);
    let sum =
        finished.stdout.lines().last().and_then(|line| line.strip_prefix("24 sweeps of 96 x 96 cells: "));
    sum.unwrap_or_else(|| panic!("{}{}", finished.stdout, finished.stderr)).to_owned()
}

/// The sum of Jacobi sweeps on the host, as the program computes it.
fn sum_of_host() -> String {
    const CELLS: usize = 96;
    let at = |x: usize, y: usize| (y + 1) * (CELLS + 2) + x + 1;
    let mut u = vec![1.0f64; (CELLS + 2) * (CELLS + 2)];
    let places = || (0..CELLS).flat_map(|y| (0..CELLS).map(move |x| (x, y)));
    for (x, y) in places() {
        u[at(x, y)] = ((x * 31 + y * 17) & 255) as f64 / 3.0;
    }
    for _ in 0..24 {
        let before = u.clone();
        for (x, y) in places() {
            let at = at(x, y);
            let [west, east] = [before[at - 1], before[at + 1]];
            let [north, south] = [before[at - CELLS - 2], before[at + CELLS + 2]];
            u[at] = 0.25 * ((west + east) + (north + south));
        }
    }
    let bytes = places().flat_map(|(x, y)| u[at(x, y)].to_ne_bytes());
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

#[test]
fn a_stencil_of_one_two_and_four_ranks_is_that_of_the_host_to_the_bit() {
    let Some(toolchain) = Toolchain::find() else { return };
    let Some(program) = OPEN_MPI.halo(&toolchain) else { return };
    for ranks in [1, 2, 4] {
        let finished = OPEN_MPI.ranks(&toolchain, ranks, &program).args(&SIZE).run();
        assert_eq!(sum(&finished), sum_of_host(), "{ranks} ranks");
    }
}

// proves: hipIpcOpenMemHandle, hipStreamWriteValue32, hipStreamWaitValue32
#[test]
fn ranks_read_their_neighbours_memory_in_the_order_of_flags() {
    let Some(toolchain) = Toolchain::find() else { return };
    if !is_emulated() {
        // ROCr 5 over our thunk shares no memory between processes.
        return;
    }
    let Some(program) = OPEN_MPI.halo(&toolchain) else { return };
    // Caches keep coherent what fences ask for, or all.
    for (ranks, coherence) in [(2, ""), (4, ""), (4, "strict")] {
        let program = OPEN_MPI.ranks(&toolchain, ranks, &program).env("AQLIPSE_EMULATE_COHERENCE", coherence);
        let finished = program.args(&["--ipc"]).args(&SIZE).run();
        assert_eq!(sum(&finished), sum_of_host(), "{ranks} ranks {coherence}");
    }
}

#[test]
fn mpich_starts_them_as_well() {
    let Some(toolchain) = Toolchain::find() else { return };
    let Some(program) = MPICH.halo(&toolchain) else { return };
    assert_eq!(sum(&MPICH.ranks(&toolchain, 4, &program).args(&SIZE).run()), sum_of_host());
    if is_emulated() {
        let finished = MPICH.ranks(&toolchain, 4, &program).args(&["--ipc"]).args(&SIZE).run();
        assert_eq!(sum(&finished), sum_of_host(), "by flags");
    }
}

#[test]
fn ranks_that_each_see_four_devices_take_one_each() {
    let Some(toolchain) = Toolchain::find() else { return };
    if !is_emulated() {
        return;
    }
    let Some(program) = OPEN_MPI.halo(&toolchain) else { return };
    for way in [&[][..], &["--ipc"]] {
        let program = OPEN_MPI.ranks(&toolchain, 4, &program).env("AQLIPSE_EMULATE", "4xgfx90a");
        assert_eq!(sum(&program.args(way).args(&SIZE).run()), sum_of_host(), "{way:?}");
    }
}

#[test]
fn a_rank_that_dies_ends_the_others() {
    let Some(toolchain) = Toolchain::find() else { return };
    let ways = if is_emulated() { &[&[][..], &["--ipc"]][..] } else { &[&[][..]] };
    for mpi in [OPEN_MPI, MPICH] {
        let Some(program) = mpi.halo(&toolchain) else { return };
        for way in ways {
            let ranks = mpi.ranks(&toolchain, 4, &program).env("HALO_KILL", "1 3");
            let finished = ranks.args(way).args(&SIZE).run();
            assert!(!finished.status.success(), "{} {way:?}\n{}", mpi.package, finished.stdout);
            assert!(!finished.stdout.contains("sweeps"), "{} {way:?}\n{}", mpi.package, finished.stdout);
        }
    }
}

#[test]
fn the_rust_program_has_the_same_result() {
    let Some(toolchain) = Toolchain::find() else { return };
    if !has("/usr/bin/mpicc.openmpi", "libopenmpi-dev") {
        return;
    }
    xtask::run(&mut xtask::suite::build_halo()).unwrap();
    let program = xtask::target_dir().join("debug/halo");
    for ranks in [1, 4] {
        let finished = OPEN_MPI.ranks(&toolchain, ranks, &program).args(&SIZE).run();
        assert_eq!(sum(&finished), sum_of_host(), "{ranks} ranks");
    }
}

#[test]
fn a_rank_that_waits_for_one_that_has_died_gets_an_error() {
    let Some(toolchain) = Toolchain::find() else { return };
    if !is_emulated() {
        return;
    }
    let Some(program) = OPEN_MPI.halo(&toolchain) else { return };
    let ranks = OPEN_MPI.ranks(&toolchain, 4, &program).env("HALO_KILL", "1 3");
    // `mpiexec` leaves the others alone.
    let finished = ranks.env("OMPI_MCA_orte_enable_recovery", "1").args(&["--ipc"]).args(&SIZE).run();
    assert!(
        finished.stderr.contains("hipStreamSynchronize(stream): hipErrorLaunchFailure"),
        "{}",
        finished.stderr
    );
    assert!(!finished.stdout.contains("sweeps"), "{}", finished.stdout);
}
