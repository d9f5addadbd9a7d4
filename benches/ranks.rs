//! What does a launch call cost with 1, 2 and 4 ranks of MPI on a machine?
//!
//! Runs `examples/mpi/halo.hip`, one emulated gfx90a for each rank, on the library that `AQLIPSE_DIST` has. Needs what the program
//! tests need, and Debian's OpenMPI. AMD's 5.2.3 has no part: it lacks `hipLaunchHostFunc`. A run tells the median call of rank
//! 0; a row is the least, the median and the greatest of the runs, which take turns. All ranks share the processors with the
//! devices that they emulate.

// The tests use more of it.
#[allow(dead_code, unused_imports)]
#[path = "../tests/toolchain/mod.rs"]
mod toolchain;

use std::thread;

use toolchain::{Toolchain, mpi::OPEN_MPI};

const RANKS: [usize; 3] = [1, 2, 4];
const RUNS: usize = 15;
/// Cells in a row, and launches.
const SIZE: [&str; 2] = ["64", "101"];

fn main() {
    let Some(toolchain) = Toolchain::find() else { return };
    let Some(program) = OPEN_MPI.halo(&toolchain) else { return };
    let mut times = RANKS.map(|_| Vec::new());
    for _ in 0..RUNS {
        for (ranks, times) in RANKS.into_iter().zip(&mut times) {
            let finished = OPEN_MPI.ranks(&toolchain, ranks, &program).args(&SIZE).run();
            let time = finished.stderr.lines().find_map(|line| {
                line.split_once("a launch call of rank 0: ")?.1.split(' ').next()?.parse::<f64>().ok()
            });
            times.push(time.unwrap_or_else(|| panic!("{}{}", finished.stdout, finished.stderr)));
        }
    }
    let cores = thread::available_parallelism().map_or(0, usize::from);
    println!("{RUNS} runs of {} launches, {cores} processors; us of a launch call", SIZE[1]);
    println!("{:>5} {:>10} {:>10} {:>10}", "ranks", "min", "median", "max");
    for (ranks, times) in RANKS.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let [min, median, max] = [0, RUNS / 2, RUNS - 1].map(|index| times[index]);
        println!("{ranks:>5} {min:>10.2} {median:>10.2} {max:>10.2}");
    }
}
