//! Sixteen threads that build, capture, launch and destroy at once, and check every result: what the sanitizers run
//! (`cargo xtask sanitize`).
//!
//! A thread repeats acts, each of which makes what it needs, looks at what came of it, and destroys it, often while it
//! still runs. Streams, executables, templates, events and open captures are shared by all threads.
//!
//! Threads keep to what HIP promises to threads that do not know of each other: they are in relaxed mode, or their waiting
//! would break the global captures of others, and streams are non-blocking, or a synchronous copy would.

mod building;
mod calls;
mod capturing;
mod ending;
mod memory;
mod sharing;
mod worker;
mod world;

use std::{
    env, process,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use self::{calls::*, worker::Worker, world::World};
use super::*;

/// Threads that call at once.
const THREADS: usize = 16;
/// Acts of a thread between two looks at what is left.
const ACTS_OF_A_ROUND: usize = 40;
/// An act that takes longer than this hangs, under any sanitizer.
const LONGEST_ACT: Duration = Duration::from_secs(240);

/// What a thread does again and again, and what it is called when it hangs.
type Act = (&'static str, fn(&mut Worker<'_>));

const ACTS: [Act; 20] = [
    ("building::launches_what_it_built", building::launches_what_it_built),
    ("building::updates_between_launches", building::updates_between_launches),
    ("building::nests_a_graph", building::nests_a_graph),
    ("building::waits_for_an_event_node", building::waits_for_an_event_node),
    ("capturing::forks_and_joins", capturing::forks_and_joins),
    ("capturing::continues_in_a_graph", capturing::continues_in_a_graph),
    ("capturing::begins_what_others_end", capturing::begins_what_others_end),
    ("capturing::ends_what_others_began", capturing::ends_what_others_began),
    ("capturing::breaks_a_capture", capturing::breaks_a_capture),
    ("memory::allocates_in_a_graph", memory::allocates_in_a_graph),
    ("memory::captures_an_allocation", memory::captures_an_allocation),
    ("memory::allocates_in_stream_order", memory::allocates_in_stream_order),
    ("memory::destroys_a_pool_in_use", memory::destroys_a_pool_in_use),
    ("memory::runs_a_module_of_its_own", memory::runs_a_module_of_its_own),
    ("sharing::launches_a_shared_executable", sharing::launches_a_shared_executable),
    ("sharing::retunes_a_shared_executable", sharing::retunes_a_shared_executable),
    ("sharing::grows_a_shared_template", sharing::grows_a_shared_template),
    ("sharing::passes_work_through_a_shared_event", sharing::passes_work_through_a_shared_event),
    ("ending::destroys_what_runs", ending::destroys_what_runs),
    ("ending::contests_a_destruction", ending::contests_a_destruction),
];

/// What a thread does now.
struct Progress {
    acts: AtomicUsize,
    act: AtomicUsize,
    over: AtomicBool,
}

/// Marks its thread as over, however that ends.
struct Over<'p>(&'p Progress);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Relaxed);
    }
}

/// Ends the process if a thread makes no progress: nothing else could end the call.
fn watch(threads: &[Progress]) {
    let mut seen = vec![(0, Instant::now()); threads.len()];
    while threads.iter().any(|t| !t.over.load(Ordering::Relaxed)) {
        thread::sleep(Duration::from_millis(20));
        for (thread, (count, since)) in threads.iter().zip(&mut seen) {
            let now = thread.acts.load(Ordering::Relaxed);
            if now != *count || thread.over.load(Ordering::Relaxed) {
                (*count, *since) = (now, Instant::now());
            } else if since.elapsed() > LONGEST_ACT {
                for (n, thread) in threads.iter().enumerate() {
                    let (name, _) = ACTS[thread.act.load(Ordering::Relaxed)];
                    let over = thread.over.load(Ordering::Relaxed);
                    eprintln!("thread {n} {}", if over { "is over" } else { name });
                }
                process::abort();
            }
        }
    }
}

/// Has all threads act, checks what they share, and counts how often each act was done.
fn round(seed: u64, done: &[AtomicU64]) {
    let world = World::new();
    let progress: Vec<Progress> = (0..THREADS)
        .map(|_| Progress {
            acts: AtomicUsize::new(0),
            act: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        })
        .collect();
    thread::scope(|scope| {
        for (n, progress) in progress.iter().enumerate() {
            let world = &world;
            scope.spawn(move || {
                let _over = Over(progress);
                let mut worker = Worker::new(world, seed.wrapping_mul(1000).wrapping_add(n as u64));
                for i in 0..ACTS_OF_A_ROUND {
                    // All acts in turn, and others in between: no act is missed, and no two threads are in step.
                    let act = if i % 2 == 0 { (i / 2 + n) % ACTS.len() } else { worker.below(ACTS.len()) };
                    progress.act.store(act, Ordering::Relaxed);
                    (ACTS[act].1)(&mut worker);
                    done[act].fetch_add(1, Ordering::Relaxed);
                    progress.acts.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| watch(&progress));
    });
    world.finish();
}

fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(hipDeviceSynchronize(), hipDeviceGraphMemTrim(0), hipMemGetInfo(&mut free, &mut total));
    free
}

fn nothing_done() -> Vec<AtomicU64> {
    ACTS.iter().map(|_| AtomicU64::new(0)).collect()
}

#[test]
fn sixteen_threads_get_the_results_that_each_would_get_alone() {
    let done = nothing_done();
    round(1, &done);
    let free = free_bytes();
    round(2, &done);
    for ((name, _), done) in ACTS.iter().zip(&done) {
        assert!(done.load(Ordering::Relaxed) >= 2 * THREADS as u64, "{name} was not tried");
    }
    let lost = free.saturating_sub(free_bytes());
    assert!(lost <= 16 << 20, "{lost} bytes of device memory are lost");
}

/// As long as `AQLIPSE_THREADS_SECONDS` says, from seed `AQLIPSE_RANDOM_SEED` on.
#[test]
#[ignore = "takes as long as it is told to"]
fn sixteen_threads_go_on_for_a_minute() {
    let number =
        |name: &str, otherwise| env::var(name).map_or(otherwise, |value| value.parse().expect("a number"));
    let (seconds, first) = (number("AQLIPSE_THREADS_SECONDS", 60), number("AQLIPSE_RANDOM_SEED", 0));
    let (start, done) = (Instant::now(), nothing_done());
    let (mut rounds, mut warm) = (0, None);
    while start.elapsed() < Duration::from_secs(seconds) {
        round(first + rounds, &done);
        rounds += 1;
        // Pools and caches fill first.
        if rounds == 2 {
            warm = Some(free_bytes());
        }
    }
    if let Some(warm) = warm {
        let lost = warm.saturating_sub(free_bytes());
        assert!(lost <= 16 << 20, "{lost} bytes of device memory are lost in {rounds} rounds");
    }
    let done: Vec<_> = done.iter().map(|done| done.load(Ordering::Relaxed)).collect();
    eprintln!("{rounds} rounds, {} acts", done.iter().sum::<u64>());
}
