//! Launches of which a packet lacks a fence, on an emulated device whose caches show it.

use std::{env, ops::Range, process::Command};

use emulator::{Config, Target};
use hsa::packet::{Fences, Packet, Scope};

use super::*;
use crate::{
    Backend, Stream,
    graph::Memcpy,
    stream::StreamKind,
    typed::{DeviceBuffer, HostBuffer},
};

const COUNT: usize = 64;

/// A copy: from which place of the buffer, or from the input; to which place; of how many; behind which other copies.
type Copy<'a> = (Option<usize>, usize, usize, &'a [usize]);

/// A device with caches, and copies between places of its memory, of [`COUNT`] words each.
struct Bench {
    device: Device,
    stream: Stream,
    input: HostBuffer<u32>,
    buffer: DeviceBuffer<u32>,
    launches: u32,
}

/// Says that a process runs one of these tests alone.
const ALONE: &str = "AQLIPSE_TEST_ALONE";

/// Runs the test of this module that is called `name` in a process of its own, where no other test has brought devices up
/// before: only then can they be given caches.
fn on_caches(name: &str, target: Target, test: impl FnOnce(Bench)) {
    if env::var_os(ALONE).is_some() {
        if let Some(bench) = Bench::new(target) {
            test(bench);
        }
        return;
    }
    let (_, module) = module_path!().split_once("::").unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", &format!("{module}::{name}")]).env(ALONE, "1");
    let run = command.output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let whole = format!("{said}{}", String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success() && said.contains("1 passed"), "{whole}");
}

impl Bench {
    /// `None` on another device than the emulated one.
    fn new(target: Target) -> Option<Self> {
        let config = Config { devices: vec![target], strict_coherence: true, ..Config::default() };
        emulator::configure(config).unwrap();
        let device = Device::get(0).unwrap();
        if device.backend() != Backend::Emulated {
            eprintln!("skipped: the device is not the emulated one");
            return None;
        }
        Some(Self {
            stream: Stream::new(&device, StreamKind::NonBlocking, 0),
            input: HostBuffer::new(&device, COUNT, 0).unwrap(),
            buffer: DeviceBuffer::new(&device, 8 * COUNT).unwrap(),
            device,
            launches: 0,
        })
    }

    fn place(&self, place: usize) -> u64 {
        self.buffer.slice().address() + (place * COUNT * size_of::<u32>()) as u64
    }

    fn graph(&self, copies: &[Copy<'_>], options: Options) -> Exec {
        let mut template = Template::new(&self.device);
        let mut nodes: Vec<NodeId> = Vec::new();
        for &(from, to, places, after) in copies {
            let from = from.map_or(self.input.address(), |from| self.place(from));
            let copy = Memcpy::linear(self.place(to), from, self.place(places) - self.place(0));
            let after: Vec<_> = after.iter().map(|&copy| nodes[copy]).collect();
            nodes.push(template.add(Node::Memcpy(copy), &after).unwrap());
        }
        Exec::new(&template, options).unwrap()
    }

    /// Whether the host finds in the places what it wrote to the input before the launch.
    fn launch(&mut self, exec: &Exec, outputs: Range<usize>) -> bool {
        self.launches += 1;
        self.input.fill(self.launches);
        exec.launch(&self.stream).unwrap();
        self.stream.synchronize().unwrap();
        let first = self.place(0) as *const u32;
        // SAFETY: an emulated device's memory is the host's, and the device is idle.
        let found = |word| unsafe { first.add(word).read_volatile() };
        (outputs.start * COUNT..outputs.end * COUNT).all(|word| found(word) == self.launches)
    }

    /// Puts packets in place; where the packets lie on the device, brings them there.
    fn put(&self, exec: &Exec, packets: impl IntoIterator<Item = (usize, usize, Packet)>) {
        for (lane, packet, new) in packets {
            exec.state().replace_packet(lane as u32, packet as u32, new);
        }
        // Not as part of a launch, which would have the upload's fences.
        exec.upload(&self.stream).unwrap();
        self.stream.synchronize().unwrap();
    }

    /// Gives what each packet with work acquires and releases one of the `narrower` scopes. How often there was something
    /// to narrow, and how often the launch then showed something old.
    fn narrow_fences(&mut self, exec: &Exec, outputs: Range<usize>, narrower: &[Scope]) -> (usize, usize) {
        // Twice, so that everything has been cached.
        assert!(self.launch(exec, outputs.clone()) && self.launch(exec, outputs.clone()));
        let whole: Vec<Vec<Packet>> =
            exec.state().image.lanes.iter().map(|lane| lane.packets.clone()).collect();
        let fences = |lane: usize, packet: usize| whole[lane][packet].header().unwrap().fences;
        let works = |lane: usize, packet: usize| whole[lane][packet].grid().is_some();
        let places = whole.iter().enumerate();
        let places = places.flat_map(|(lane, packets)| (0..packets.len()).map(move |packet| (lane, packet)));
        let (mut count, mut stale) = (0, 0);
        for (lane, packet) in places.filter(|&(lane, packet)| works(lane, packet)) {
            // The waits before it acquire for it, too.
            let first = (0..packet).rev().find(|&before| works(lane, before)).map_or(0, |before| before + 1);
            for &scope in narrower {
                let acquires = |at: &usize| fences(lane, *at).acquire > scope;
                let acquires: Vec<usize> = (first..=packet).filter(acquires).collect();
                let acquire =
                    acquires.into_iter().map(|at| (at, Fences { acquire: scope, ..fences(lane, at) }));
                let release = fences(lane, packet);
                let release = (release.release > scope).then_some(Fences { release: scope, ..release });
                for changes in [acquire.collect(), Vec::from_iter(release.map(|fences| (packet, fences)))] {
                    if changes.is_empty() {
                        continue;
                    }
                    self.put(
                        exec,
                        changes.iter().map(|&(at, fences)| {
                            let mut narrowed = whole[lane][at];
                            narrowed.set_fences(fences).unwrap();
                            (lane, at, narrowed)
                        }),
                    );
                    count += 1;
                    // An upload has emptied the caches: the first launch may be what fills them.
                    let fresh = self.launch(exec, outputs.clone()) && self.launch(exec, outputs.clone());
                    stale += usize::from(!fresh);
                    self.put(exec, changes.iter().map(|&(at, _)| (lane, at, whole[lane][at])));
                    assert!(self.launch(exec, outputs.clone()), "lane {lane} as it should be");
                }
            }
        }
        (count, stale)
    }
}

const CHAIN: [Copy<'_>; 3] = [(None, 0, 1, &[]), (Some(0), 1, 1, &[0]), (Some(1), 2, 1, &[1])];

fn chain(mut bench: Bench, options: Options) -> (usize, usize) {
    let exec = bench.graph(&CHAIN, options);
    bench.narrow_fences(&exec, 2..3, &[Scope::None, Scope::Agent])
}

#[test]
fn a_chain_with_a_fence_less_is_stale_on_gfx90a() {
    on_caches("a_chain_with_a_fence_less_is_stale_on_gfx90a", Target::Gfx90a, |bench| {
        assert_eq!(chain(bench, Options::default()), (8, 8));
    });
}

#[test]
fn a_chain_with_a_fence_less_is_stale_on_gfx942() {
    on_caches("a_chain_with_a_fence_less_is_stale_on_gfx942", Target::Gfx942, |bench| {
        assert_eq!(chain(bench, Options::default()), (8, 8));
    });
}

/// A fork and a join, which reads what both branches wrote.
const DIAMOND: [Copy<'_>; 4] =
    [(None, 0, 1, &[]), (Some(0), 1, 1, &[0]), (Some(0), 2, 1, &[0]), (Some(1), 3, 2, &[1, 2])];

#[test]
fn a_fork_and_join_on_one_queue_with_a_fence_less_is_stale() {
    on_caches("a_fork_and_join_on_one_queue_with_a_fence_less_is_stale", Target::Gfx942, |mut bench| {
        let options = Options { candidate: Some(Candidate::Levels), ..Options::default() };
        let exec = bench.graph(&DIAMOND, options);
        assert_eq!(exec.state().image.lanes.len(), 1);
        // The second branch has no acquire of its own.
        assert_eq!(bench.narrow_fences(&exec, 3..5, &[Scope::None]), (7, 7));
    });
}

#[test]
fn a_fork_and_join_on_two_queues_with_a_fence_less_is_stale() {
    on_caches("a_fork_and_join_on_two_queues_with_a_fence_less_is_stale", Target::Gfx942, |mut bench| {
        let options = Options { lanes: 2, candidate: Some(Candidate::Strict), ..Options::default() };
        let exec = bench.graph(&DIAMOND, options);
        assert_eq!(exec.state().image.lanes.len(), 2);
        assert_eq!(bench.narrow_fences(&exec, 3..5, &[Scope::None]), (8, 8));
    });
}

const RESIDENT: Options = Options {
    auto_free: false,
    lanes: 0,
    upload: false,
    node_priority: false,
    candidate: None,
    memory: None,
    resident: true,
    resident_by_launcher: false,
    copies_by_kernels: false,
    conditionals_on_host: false,
    arguments_on_host: false,
};

#[test]
fn a_chain_in_an_indirect_buffer_with_a_fence_less_is_stale() {
    on_caches("a_chain_in_an_indirect_buffer_with_a_fence_less_is_stale", Target::Gfx942, |bench| {
        // What enters the buffer has no fences of its own, so that each of the graph's is needed.
        assert_eq!(chain(bench, RESIDENT), (8, 8));
    });
}

#[test]
fn a_chain_that_a_kernel_publishes_with_a_fence_less_is_stale() {
    on_caches("a_chain_that_a_kernel_publishes_with_a_fence_less_is_stale", Target::Gfx942, |bench| {
        let options = Options { resident_by_launcher: true, ..RESIDENT };
        // The launcher acquires at system scope, too, and the wait behind it releases: at agent scope the graph's ends do.
        assert_eq!(chain(bench, options), (8, 6));
    });
}
