//! Random sequences of calls, valid and invalid, from several threads that share their handles: nothing crashes, hangs or
//! leaks.
//!
//! Handles are alive, destroyed, null or garbage; every number is sometimes out of range. Memory is the exception: an
//! address that a call may read or write on the host is one that it really may, for no runtime can tell.

mod arguments;
mod calls;
mod world;

use std::{
    env, fs, process,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use self::{
    calls::CALLS,
    world::{Caller, World},
};
use super::*;

unsafe extern "C" {
    fn hipDeviceSynchronize() -> hipError_t;
    fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t;
    fn hipGetLastError() -> hipError_t;
}

/// Threads that call at once.
const THREADS: usize = 4;
/// Calls of a thread between two cleanings.
const CALLS_OF_A_ROUND: u64 = 8000;
/// A call that takes longer than this hangs.
const LONGEST_CALL: Duration = Duration::from_secs(60);

/// What a thread does now, for whoever wonders why it takes so long.
#[derive(Default)]
struct Progress {
    calls: AtomicU64,
    /// Index of the call in [`CALLS`].
    call: AtomicU64,
    over: AtomicBool,
}

/// Ends the process if a thread makes no progress: nothing else could end the call.
fn watch(threads: &[Arc<Progress>]) {
    let counts = || threads.iter().map(|t| t.calls.load(Ordering::Relaxed)).collect::<Vec<_>>();
    let (mut seen, mut since) = (counts(), vec![Instant::now(); threads.len()]);
    while !threads.iter().all(|t| t.over.load(Ordering::Relaxed)) {
        thread::sleep(Duration::from_millis(20));
        for (n, count) in counts().into_iter().enumerate() {
            if count != seen[n] || threads[n].over.load(Ordering::Relaxed) {
                (seen[n], since[n]) = (count, Instant::now());
            } else if since[n].elapsed() > LONGEST_CALL {
                for (n, thread) in threads.iter().enumerate() {
                    let call = &CALLS[thread.call.load(Ordering::Relaxed) as usize % CALLS.len()];
                    eprintln!(
                        "thread {n} is in {} (call {})",
                        call.name,
                        thread.calls.load(Ordering::Relaxed)
                    );
                }
                process::abort();
            }
        }
    }
}

/// Calls at random from `threads` threads, then destroys what they have made. Counts the successes of each call.
fn round(seed: u64, threads: usize, calls: u64, successes: &[AtomicU64]) {
    let world = World::new();
    let progress: Vec<Arc<Progress>> = (0..threads).map(|_| Arc::default()).collect();
    thread::scope(|scope| {
        for (n, progress) in progress.iter().enumerate() {
            let (world, seed) = (&world, seed.wrapping_mul(1000).wrapping_add(n as u64));
            scope.spawn(move || {
                let mut caller = Caller::new(world, seed);
                for _ in 0..calls {
                    let call = caller.below(CALLS.len());
                    if CALLS[call].is_rare() && !caller.once_in(8) {
                        continue;
                    }
                    caller.begin();
                    progress.call.store(call as u64, Ordering::Relaxed);
                    let succeeded = (CALLS[call].run)(&mut caller);
                    successes[call].fetch_add(succeeded.into(), Ordering::Relaxed);
                    progress.calls.fetch_add(1, Ordering::Relaxed);
                }
                caller.end_captures();
                progress.over.store(true, Ordering::Relaxed);
            });
        }
        scope.spawn(|| watch(&progress));
    });
    world.destroy();
    // What kernels were given may have been gone: that is a fault, told once, and nothing else is lost.
    // SAFETY: no arguments.
    unsafe {
        let _ = hipDeviceSynchronize();
        let _ = hipGetLastError();
    }
    ok!(hipDeviceSynchronize());
}

fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(hipMemGetInfo(&mut free, &mut total));
    free
}

/// Bytes of this process that are in memory.
fn resident_bytes() -> usize {
    let status = fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages: usize = status.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a number of pages");
    pages * 4096
}

fn no_successes() -> Vec<AtomicU64> {
    CALLS.iter().map(|_| AtomicU64::new(0)).collect()
}

#[test]
fn one_thread_survives_what_it_does() {
    let successes = no_successes();
    for seed in 0..15 {
        round(seed, 1, CALLS_OF_A_ROUND, &successes);
    }
    // Otherwise the arguments would be too wild to get anywhere.
    let never = CALLS.iter().zip(successes).filter(|(_, successes)| successes.load(Ordering::Relaxed) == 0);
    let never: Vec<&str> = never.map(|(call, _)| call.name).collect();
    assert!(never.len() <= 3, "never succeeded: {never:?}");
}

#[test]
fn threads_survive_what_they_do_to_each_other() {
    let successes = no_successes();
    for seed in 0..4 {
        round(100 + seed, THREADS, CALLS_OF_A_ROUND, &successes);
    }
}

/// As long as `AQLIPSE_RANDOM_SECONDS` says, from seed `AQLIPSE_RANDOM_SEED` on.
#[test]
#[ignore = "takes as long as it is told to"]
fn nothing_is_lost_in_the_long_run() {
    let number =
        |name: &str, otherwise| env::var(name).map_or(otherwise, |value| value.parse().expect("a number"));
    let (seconds, first) = (number("AQLIPSE_RANDOM_SECONDS", 600), number("AQLIPSE_RANDOM_SEED", 0));
    let start = Instant::now();
    let (mut warm, successes) = (None, no_successes());
    for n in 0.. {
        if start.elapsed() > Duration::from_secs(seconds) {
            eprintln!("{n} rounds");
            break;
        }
        round(first + n, THREADS, CALLS_OF_A_ROUND, &successes);
        // Pools and caches fill first.
        if n == 20 {
            warm = Some((free_bytes(), resident_bytes()));
        }
        if let Some((free, resident)) = warm
            && n % 20 == 0
        {
            let (lost, grown) =
                (free.saturating_sub(free_bytes()), resident_bytes().saturating_sub(resident));
            eprintln!("round {n}: {lost} bytes of the device and {grown} of the host more than in round 20");
            assert!(lost <= 64 << 20, "{lost} bytes of device memory are lost after {n} rounds");
            assert!(grown <= 256 << 20, "{grown} bytes of host memory are lost after {n} rounds");
        }
    }
}
