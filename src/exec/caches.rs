//! Launches of which a packet lacks a fence, on an emulated device whose caches show it.

use emulator::{Config, Target};
use hsa::packet::{Fences, Scope};

use super::*;
use crate::{
    Stream,
    graph::Memcpy,
    stream::StreamKind,
    typed::{DeviceBuffer, HostBuffer},
};

const COUNT: usize = 64;

/// A device with caches, and copies between buffers of its memory.
struct Bench {
    device: Device,
    stream: Stream,
    input: HostBuffer<u32>,
    buffers: Vec<DeviceBuffer<u32>>,
    launches: u32,
}

impl Bench {
    /// `None` if something else has brought a device up before, as in a process with other tests.
    fn new(target: Target, buffers: usize) -> Option<Self> {
        let config = Config { devices: vec![target], strict_coherence: true, ..Config::default() };
        emulator::configure(config).ok()?;
        let device = Device::get(0).unwrap();
        Some(Self {
            stream: Stream::new(&device, StreamKind::NonBlocking, 0),
            input: HostBuffer::new(&device, COUNT, 0).unwrap(),
            buffers: (0..buffers).map(|_| DeviceBuffer::new(&device, COUNT).unwrap()).collect(),
            device,
            launches: 0,
        })
    }

    /// A graph of copies, each of them behind the one that wrote what it reads: source and destination, where source 0
    /// is the input and buffers count from 1.
    fn copies(&self, copies: &[(usize, usize)], options: Options) -> Exec {
        let mut template = Template::new(&self.device);
        let mut nodes: Vec<(usize, NodeId)> = Vec::new();
        let address = |at: usize| match at.checked_sub(1) {
            None => self.input.address(),
            Some(at) => self.buffers[at].slice().address(),
        };
        for (from, to) in copies {
            let after: Vec<_> =
                nodes.iter().filter(|(wrote, _)| wrote == from).map(|(_, node)| *node).collect();
            let copy = Memcpy::linear(address(*to), address(*from), (COUNT * 4) as u64);
            let (node, ()) = template.add(GraphNode::Memcpy(copy), &after).unwrap();
            nodes.push((*to, node));
        }
        Exec::new(&template, options).unwrap()
    }

    /// Whether the host finds in the last `outputs` buffers what it wrote before the launch.
    fn launch(&mut self, exec: &Exec, outputs: usize) -> bool {
        self.launches += 1;
        self.input.fill(self.launches);
        exec.launch(&self.stream).unwrap();
        self.stream.synchronize().unwrap();
        self.buffers.iter().rev().take(outputs).all(|buffer| {
            let first = buffer.slice().address() as *const u32;
            // SAFETY: an emulated device's memory is the host's, and the device is idle.
            (0..COUNT).all(|n| unsafe { first.add(n).read_volatile() } == self.launches)
        })
    }

    /// Gives each fence one of the `narrower` scopes; the launch then shows something old. How many there were.
    fn narrow_fences(&mut self, exec: &Exec, outputs: usize, narrower: &[Scope]) -> usize {
        // Twice, so that everything has been cached.
        assert!(self.launch(exec, outputs) && self.launch(exec, outputs));
        let lanes: Vec<usize> = exec.state().image.lanes.iter().map(|lane| lane.packets.len()).collect();
        let places =
            lanes.into_iter().enumerate().flat_map(|(lane, n)| (0..n).map(move |packet| (lane, packet)));
        let mut count = 0;
        for (lane, packet) in places {
            let whole = exec.state().image.lanes[lane].packets[packet];
            let fences = whole.header().unwrap().fences;
            let mut changed = Vec::new();
            for &scope in narrower {
                if fences.acquire > scope {
                    changed.push(Fences { acquire: scope, ..fences });
                }
                // A barrier packet's release has nothing of its own to make visible.
                if fences.release > scope && whole.grid().is_some() {
                    changed.push(Fences { release: scope, ..fences });
                }
            }
            for fences in changed {
                exec.state().image.lanes[lane].packets[packet].set_fences(fences).unwrap();
                assert!(!self.launch(exec, outputs), "packet {packet} of lane {lane} with {fences:?}");
                exec.state().image.lanes[lane].packets[packet] = whole;
                assert!(self.launch(exec, outputs), "packet {packet} of lane {lane} as it should be");
                count += 1;
            }
        }
        count
    }
}

fn chain(target: Target) {
    let Some(mut bench) = Bench::new(target, 3) else { return };
    let exec = bench.copies(&[(0, 1), (1, 2), (2, 3)], Options::default());
    assert_eq!(bench.narrow_fences(&exec, 1, &[Scope::None, Scope::Agent]), 8);
}

#[test]
fn a_chain_without_one_of_its_fences_is_stale_on_gfx90a() {
    chain(Target::Gfx90a);
}

#[test]
fn a_chain_without_one_of_its_fences_is_stale_on_gfx942() {
    chain(Target::Gfx942);
}

#[test]
fn a_fork_and_join_on_one_queue_without_one_of_its_fences_is_stale() {
    let Some(mut bench) = Bench::new(Target::Gfx942, 5) else { return };
    let copies = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 5)];
    let exec = bench.copies(&copies, Options { candidate: Some(Candidate::Levels), ..Options::default() });
    assert!(bench.narrow_fences(&exec, 2, &[Scope::None]) > copies.len());
}

#[test]
fn two_queues_without_one_of_their_fences_are_stale() {
    let Some(mut bench) = Bench::new(Target::Gfx942, 5) else { return };
    let copies = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 5)];
    let options = Options { lanes: 2, candidate: Some(Candidate::Strict), ..Options::default() };
    let exec = bench.copies(&copies, options);
    assert_eq!(exec.state().image.lanes.len(), 2);
    assert!(bench.narrow_fences(&exec, 2, &[Scope::None]) > copies.len());
}
