//! Executables made, launched, updated and destroyed in random order: what the runtime has for itself does not grow.

use std::{env, fs, ptr, time::Duration, time::Instant};

use aqlipse::fault_injection;
use capi::types::*;
use fastrand::Rng;

use super::{
    process::{again, ends, role},
    *,
};

unsafe extern "C" {
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddMemsetNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemsetParams,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphExecMemsetNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipMemsetParams,
    ) -> hipError_t;
}

/// Executables that are alive at once, at most.
const ALIVE: usize = 10_000;

/// What the process has.
#[derive(Clone, Copy, Debug)]
struct Footprint {
    resident: usize,
    descriptors: usize,
    threads: usize,
    /// Bytes and signals that the HSA runtime has granted.
    granted: (i64, i64),
}

impl Footprint {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/statm").expect("Linux tells");
        let pages: usize = status.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a number of pages");
        let entries = |directory| fs::read_dir(directory).expect("Linux tells").count();
        let granted = fault_injection::granted();
        Self {
            resident: pages * 4096,
            descriptors: entries("/proc/self/fd"),
            threads: entries("/proc/self/task"),
            granted: (granted.bytes, granted.signals),
        }
    }

    /// The larger of each.
    fn most(self, other: Self) -> Self {
        Self {
            resident: self.resident.max(other.resident),
            descriptors: self.descriptors.max(other.descriptors),
            threads: self.threads.max(other.threads),
            granted: (self.granted.0.max(other.granted.0), self.granted.1.max(other.granted.1)),
        }
    }
}

/// Executables, each of a graph of its own of one to sixteen fills, with one of its nodes.
struct Population {
    memory: Memory<u32>,
    alive: Vec<(hipGraph_t, hipGraphExec_t, hipGraphNode_t)>,
    streams: Vec<hipStream_t>,
    random: Rng,
}

impl Population {
    fn new() -> Self {
        let streams = (0..4).map(|_| new_stream()).collect();
        Self { memory: Memory::of(&[0u32; 256]), alive: Vec::new(), streams, random: Rng::with_seed(1) }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random.usize(..limit)
    }

    fn fill(&mut self) -> hipMemsetParams {
        let value = self.below(1000) as u32;
        hipMemsetParams { dst: self.memory.pointer(), elementSize: 4, height: 1, pitch: 0, value, width: 256 }
    }

    fn make(&mut self) {
        let (graph, mut exec, mut node) = (new_graph(), hipGraphExec_t::NULL, hipGraphNode_t::NULL);
        for _ in 0..=self.below(16) {
            let (before, fill) = (node, self.fill());
            let count = usize::from(before != hipGraphNode_t::NULL);
            ok!(hipGraphAddMemsetNode(&mut node, graph, ptr::from_ref(&before), count, &fill));
        }
        ok!(hipGraphInstantiateWithFlags(&mut exec, graph, 0));
        self.alive.push((graph, exec, node));
    }

    fn destroy(&mut self, which: usize) {
        let (graph, exec, _) = self.alive.swap_remove(which);
        ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
    }

    fn act(&mut self, most: usize) {
        let (act, which) = (self.below(4), self.alive.len());
        match act {
            0 if which < most => self.make(),
            _ if which == 0 => self.make(),
            1 => {
                let (which, stream) = (self.below(which), self.below(4));
                ok!(hipGraphLaunch(self.alive[which].1, self.streams[stream]));
            }
            2 => {
                let (which, fill) = (self.below(which), self.fill());
                ok!(hipGraphExecMemsetNodeSetParams(self.alive[which].1, self.alive[which].2, &fill));
            }
            _ => {
                let which = self.below(which);
                self.destroy(which);
            }
        }
    }

    /// Destroys all, and waits for the launches.
    fn end(&mut self) {
        while !self.alive.is_empty() {
            let which = self.below(self.alive.len());
            self.destroy(which);
        }
        self.streams.iter().for_each(|stream| ok!(hipStreamSynchronize(*stream)));
    }
}

/// Lives through so many generations, each of `most` executables and `acts` acts, at least for `time`; compares the last
/// third with the middle one.
fn live(most: usize, acts: usize, generations: usize, time: Duration) {
    let (mut population, start) = (Population::new(), Instant::now());
    let (mut seen, first) = (Vec::new(), Footprint::now());
    while seen.len() < generations || start.elapsed() < time {
        while population.alive.len() < most {
            population.make();
        }
        for n in 0..acts {
            population.act(most);
            if n % 1000 == 0 {
                population.streams.iter().for_each(|stream| ok!(hipStreamSynchronize(*stream)));
            }
        }
        let full = Footprint::now();
        population.end();
        let empty = Footprint::now();
        // A slab of each kind, and what streams and memory have.
        assert!(empty.granted.0 <= first.granted.0 + (5 << 20), "{first:?} {full:?} {empty:?}");
        // What the pool of signals keeps, and 128 fences of each of four streams.
        assert!(empty.granted.1 <= first.granted.1 + 1200, "{first:?} {full:?} {empty:?}");
        seen.push(full.most(empty));
    }
    let third = seen.len() / 3;
    let most = |part: &[Footprint]| part.iter().copied().reduce(Footprint::most).expect("a third");
    let (middle, last) = (most(&seen[third..2 * third]), most(&seen[2 * third..]));
    eprintln!("{} generations; middle third {middle:?}, last third {last:?}", seen.len());
    // The allocator's scatter: a few percent, and no less than a few megabytes.
    let limit = middle.resident + (middle.resident / 20).max(8 << 20);
    assert!(last.resident <= limit, "{middle:?} {last:?}");
    let same = |a: Footprint, b: Footprint| (a.descriptors, a.threads) == (b.descriptors, b.threads);
    assert!(same(middle, last), "{middle:?} {last:?}");
    // Which executables there are is random: slabs of 256 KiB, and signals of launches in flight.
    assert!(last.granted.0 <= middle.granted.0 + (2 << 20), "{middle:?} {last:?}");
    assert!(last.granted.1 <= middle.granted.1 + 64, "{middle:?} {last:?}");
}

/// In a process of its own, whose memory is nobody else's, with what the HSA runtime grants counted.
fn alone(test: &str) -> bool {
    if role().is_some() {
        return true;
    }
    let child = again(test, "alone").env(super::fault_injection::VARIABLE, "0").spawn().expect("a process");
    assert!(ends(child).success());
    false
}

#[test]
fn executables_come_and_go_and_leave_nothing() {
    if alone("soak::executables_come_and_go_and_leave_nothing") {
        live(2000, 2000, 6, Duration::ZERO);
    }
}

/// As long as `AQLIPSE_SOAK_SECONDS` says.
#[test]
#[ignore = "takes as long as it is told to"]
fn ten_thousand_executables_leave_nothing_in_the_long_run() {
    let seconds = env::var("AQLIPSE_SOAK_SECONDS").map_or(600, |value| value.parse().expect("a number"));
    live(ALIVE, 2 * ALIVE, 6, Duration::from_secs(seconds));
}
