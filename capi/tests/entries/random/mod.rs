//! Random sequences of calls, valid and invalid, from several threads that share their handles: nothing crashes, hangs or
//! leaks.
//!
//! Handles are alive, destroyed, null or garbage; every number is sometimes out of range. Memory is the exception: an
//! address that a call may read or write on the host is one that it really may, for no runtime can tell.

mod arguments;
mod calls;
mod uncalled;
mod world;
mod zeros;

use std::{
    env, fs,
    process::{self, Command},
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
use aqlipse::fault_injection::{self, Refusals};

use super::{
    fault_injection::VARIABLE as FAULT_INJECTION,
    process::{again, role},
    *,
};

unsafe extern "C" {
    fn hipDeviceSynchronize() -> hipError_t;
    fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t;
    fn hipGetLastError() -> hipError_t;
}

/// Threads that call at once.
const THREADS: usize = 4;
/// Calls of a thread between two cleanings.
const CALLS_OF_A_ROUND: u64 = 8000;
/// How far calls stand apart that have to do with each other.
const NEAR: usize = 6;
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

/// The call behind `last`: any, or one that stands near it in the list and so has to do with it. Otherwise captures, and
/// whatever else takes several calls, would hardly get anywhere among all the others.
fn next(caller: &mut Caller<'_>, last: usize) -> usize {
    if caller.once_in(2) {
        return caller.below(CALLS.len());
    }
    (last + caller.below(2 * NEAR + 1)).saturating_sub(NEAR).min(CALLS.len() - 1)
}

/// Calls at random from `threads` threads, then destroys what they have made. Counts the successes of each call; says
/// whether all could succeed.
fn round(seed: u64, threads: usize, calls: u64, successes: &[AtomicU64]) -> bool {
    // Only what is called at random runs short of memory, if anything does.
    fault_injection::refuse(Refusals::None);
    let world = World::new();
    let is_tame = world.is_tame;
    let progress: Vec<Arc<Progress>> = (0..threads).map(|_| Arc::default()).collect();
    if let Some(refusals) = role().and_then(|role| role.parse().ok()) {
        fault_injection::refuse(refusals);
    }
    thread::scope(|scope| {
        for (n, progress) in progress.iter().enumerate() {
            let (world, seed) = (&world, seed.wrapping_mul(1000).wrapping_add(n as u64));
            scope.spawn(move || {
                let mut caller = Caller::new(world, seed);
                let (mut call, mut capturing) = (0, false);
                for _ in 0..calls {
                    call = next(&mut caller, call);
                    if CALLS[call].is_rare() && !caller.once_in(8) {
                        continue;
                    }
                    if world.is_tame && CALLS[call].frees_operands() {
                        continue;
                    }
                    if capturing && CALLS[call].breaks_captures() && !caller.once_in(32) {
                        continue;
                    }
                    caller.begin(CALLS[call].name);
                    progress.call.store(call as u64, Ordering::Relaxed);
                    let succeeded = (CALLS[call].run)(&mut caller);
                    capturing = match CALLS[call].name {
                        name if name.contains("BeginCapture") => capturing || succeeded,
                        name => capturing && !(succeeded && name.contains("EndCapture")),
                    };
                    successes[call].fetch_add(succeeded.into(), Ordering::Relaxed);
                    progress.calls.fetch_add(1, Ordering::Relaxed);
                }
                caller.end_captures();
                progress.over.store(true, Ordering::Relaxed);
            });
        }
        scope.spawn(|| watch(&progress));
    });
    fault_injection::refuse(Refusals::None);
    world.destroy();
    // What kernels were given may have been gone: that is a fault, told once, and nothing else is lost.
    // SAFETY: no arguments.
    unsafe {
        let _ = hipDeviceSynchronize();
        let _ = hipGetLastError();
    }
    ok!(hipDeviceSynchronize());
    !is_tame
}

/// What this process has of its device and of its machine.
#[derive(Clone, Copy, Debug)]
struct Footprint {
    /// Bytes of the device's memory.
    device: usize,
    /// Bytes of the process that are in memory.
    host: usize,
    descriptors: usize,
    threads: usize,
}

impl Footprint {
    fn now() -> Self {
        let (mut free, mut total) = (0, 0);
        ok!(hipMemGetInfo(&mut free, &mut total));
        let status = fs::read_to_string("/proc/self/statm").expect("Linux tells");
        let pages: usize = status.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a number of pages");
        let entries = |directory| fs::read_dir(directory).expect("Linux tells").count();
        Self {
            device: total - free,
            host: pages * 4096,
            descriptors: entries("/proc/self/fd"),
            threads: entries("/proc/self/task"),
        }
    }

    /// As [`Footprint::now`], once the threads of streams that are gone have ended; they need not be waited for long.
    fn at_rest(before: Self) -> Self {
        let patience = Instant::now() + LONGEST_CALL;
        loop {
            let now = Self::now();
            if now.since(before).threads <= 8 || Instant::now() > patience {
                return now;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// By how much it has grown.
    fn since(self, before: Self) -> Self {
        Self {
            device: self.device.saturating_sub(before.device),
            host: self.host.saturating_sub(before.host),
            descriptors: self.descriptors.saturating_sub(before.descriptors),
            threads: self.threads.saturating_sub(before.threads),
        }
    }

    /// Whether it is as large as before but for what allocators keep.
    fn check_since(self, before: Self, rounds: u64) {
        let grown = self.since(before);
        // The device keeps a slab of 256 KiB for graphs that lie there, once there was one.
        assert!(
            grown.device <= (64 + 256) << 10,
            "after {rounds} rounds more of the device is taken: {grown:?}"
        );
        // ThreadSanitizer notes who was where beside the memory itself: up to four times as much.
        let notes = env::var("AQLIPSE_SANITIZER").is_ok_and(|name| name == "thread");
        let limit = if notes { 5 * (64 << 20) } else { 64 << 20 };
        assert!(grown.host <= limit, "after {rounds} rounds more of the host is taken: {grown:?}");
        assert!(grown.descriptors <= 8, "after {rounds} rounds more is open: {grown:?}");
        assert!(grown.threads <= 8, "after {rounds} rounds more threads run: {grown:?}");
    }
}

fn no_successes() -> Vec<AtomicU64> {
    CALLS.iter().map(|_| AtomicU64::new(0)).collect()
}

/// What this program, which is one process and has one device, is refused.
const REFUSED: [&str; 3] =
    ["hipIpcOpenEventHandle", "hipDeviceEnablePeerAccess", "hipDeviceDisablePeerAccess"];

/// The test in another process, where ROCr gives memory back to its driver when the last that is in it is freed. It carves
/// small allocations from blocks of 2 MiB otherwise, and keeps for good each block with neighbours of an allocation that was
/// exported (`hipIpcGetMemHandle`; docs/adr/0042).
fn measured(test: &str, role: &str) -> Command {
    let mut command = again(test, role);
    command.env("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1");
    command
}

/// Runs a test in a process of its own, whose memory is nobody else's, and says whether this is that process.
fn alone(test: &str) -> bool {
    if role().is_some() {
        return true;
    }
    let status = measured(test, "alone").status().expect("a process");
    assert!(status.success(), "{status}");
    false
}

#[test]
fn one_thread_survives_what_it_does() {
    if !alone("random::one_thread_survives_what_it_does") {
        return;
    }
    let successes = no_successes();
    let (mut warm, mut all) = (None, true);
    for seed in 0..30 {
        all = round(seed, 1, CALLS_OF_A_ROUND, &successes);
        if seed == 4 {
            warm = Some(Footprint::now());
        }
    }
    // Otherwise the arguments would be too wild to get anywhere.
    let never = CALLS.iter().zip(successes).filter(|(_, successes)| successes.load(Ordering::Relaxed) == 0);
    let never: Vec<&str> = never.map(|(call, _)| call.name).filter(|name| !REFUSED.contains(name)).collect();
    assert!(never.len() <= 8 || !all, "never succeeded: {never:?}");
    let warm = warm.expect("five rounds");
    Footprint::at_rest(warm).check_since(warm, 30);
}

#[test]
fn threads_survive_what_they_do_to_each_other() {
    if !alone("random::threads_survive_what_they_do_to_each_other") {
        return;
    }
    let successes = no_successes();
    let mut warm = None;
    for seed in 0..4 {
        round(100 + seed, THREADS, CALLS_OF_A_ROUND, &successes);
        warm.get_or_insert_with(Footprint::now);
    }
    let warm = warm.expect("a round");
    Footprint::at_rest(warm).check_since(warm, 4);
}

#[test]
fn want_of_memory_harms_no_other_call() {
    const TEST: &str = "random::want_of_memory_harms_no_other_call";
    if role().is_none() {
        for refusals in [Refusals::Every(3), Refusals::Every(31)] {
            let status = measured(TEST, &refusals.to_string()).env(FAULT_INJECTION, "0").status();
            assert!(status.expect("a process").success(), "{refusals}");
        }
        return;
    }
    let first = env::var("AQLIPSE_RANDOM_SEED").map_or(200, |seed| seed.parse().expect("a number"));
    let successes = no_successes();
    let mut warm = None;
    for seed in 0..4 {
        round(first + seed, THREADS, CALLS_OF_A_ROUND, &successes);
        warm.get_or_insert_with(Footprint::now);
    }
    let warm = warm.expect("a round");
    Footprint::at_rest(warm).check_since(warm, 4);
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
            eprintln!("{n} rounds of {} calls", THREADS as u64 * CALLS_OF_A_ROUND);
            break;
        }
        round(first + n, THREADS, CALLS_OF_A_ROUND, &successes);
        // Pools and caches fill first.
        if n == 20 {
            warm = Some(Footprint::now());
        }
        if let Some(warm) = warm.filter(|_| n % 20 == 0) {
            let now = Footprint::at_rest(warm);
            eprintln!("round {n}: grown by {:?} since round 20", now.since(warm));
            now.check_since(warm, n);
        }
    }
}
