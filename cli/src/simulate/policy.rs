//! The packets that AMD's releases publish for a graph, by what is known of them: [`Policy`] says where its nodes go.
//!
//! Where the descriptions leave something open, what is better for them is taken: one wait for the latest of a stream
//! covers all before it, what a stream has waited for once it does not wait for again, kernels fire signals themselves,
//! and the cost of the launch on the host is not counted.
//!
//! Fences are those that the packet processor of the emulated device has seen of AMD's 5.2.3: each kernel has the barrier
//! bit and acquires and releases at agent scope (header 0x0b02), a barrier-AND packet that waits for another queue has
//! neither fences nor the barrier bit (0x0003), and a marker has all, at system scope (0x1503). What the first kernel
//! acquires directly behind the marker is not counted.

use hsa::packet::{Fences, Scope};

use super::program::{HostCall, Packet, Program, Queue, Work};
use aqlipse_graph::schedule::{
    Class, Policy, Problem,
    policy::{STREAMS, Streams, through_joins},
};

/// The packets that a release of AMD's publishes for a graph of one device.
pub fn published(policy: Policy, problem: &Problem<'_>) -> Program {
    // PANIC: as many as there are.
    let preds = through_joins(problem, usize::MAX).expect("predecessors");
    let Streams { nodes, of } = policy.streams(problem, &preds, STREAMS);
    let mut layout = Layout::new(problem);
    for node in nodes {
        layout.node(node, usize::from(of[node as usize]), preds.row(node));
    }
    layout.finish()
}

/// The fences of each kernel, in each of their libraries that has been watched.
const KERNEL: Fences = Fences::AGENT;

/// Those of a barrier-AND packet that waits for another stream, before a kernel.
const WAIT: Fences = Fences::NONE;

/// Those of a marker: what a launch begins behind, and what ends it.
const MARKER: Fences = Fences::SYSTEM;

/// Where a node's packet or host call is.
#[derive(Clone, Copy)]
enum Place {
    Stream(usize, usize),
    Host(usize),
}

/// The packet behind which all other streams begin.
const ENTRY: Place = Place::Stream(0, 0);

/// Packets as they are laid out.
struct Layout<'p> {
    problem: &'p Problem<'p>,
    program: Program,
    place_of: Vec<Option<Place>>,
    /// By stream and other stream: how many packets of that have completed when the next packet here starts.
    known: [[usize; STREAMS]; STREAMS],
    /// By stream: how many host calls are.
    known_calls: [usize; STREAMS],
}

impl<'p> Layout<'p> {
    fn new(problem: &'p Problem<'p>) -> Self {
        let queues = (0..STREAMS).map(|_| Queue::default()).collect();
        // The entry: the other streams wait for what is before the launch on the first.
        let nodes = problem.len() as u32;
        let mut program = Program { queues, nodes, ..Program::default() };
        program.queues[0].packets.push(Packet { fences: MARKER, ..Packet::default() });
        Self {
            problem,
            program,
            place_of: vec![None; problem.len()],
            known: [[0; STREAMS]; STREAMS],
            known_calls: [0; STREAMS],
        }
    }

    fn node(&mut self, node: u32, stream: usize, preds: &[u32]) {
        match self.problem.class(node) {
            Class::Host => self.call(node, preds),
            _ => self.kernel(node, stream, preds),
        }
    }

    /// A host call waits for each packet before it; calls before it are over anyway.
    fn call(&mut self, node: u32, preds: &[u32]) {
        let packets = preds.iter().filter_map(|&pred| match self.place_of[pred as usize] {
            Some(place @ Place::Stream(..)) => Some(place),
            _ => None,
        });
        let mut waits: Vec<Place> = packets.collect();
        if waits.is_empty() {
            waits.push(ENTRY);
        }
        let waits = waits.into_iter().map(|place| self.signal(place)).collect();
        self.place_of[node as usize] = Some(Place::Host(self.program.host.len()));
        let duration_ns = self.problem.cost(node);
        self.program.host.push(HostCall { node, duration_ns, waits, signal: None });
    }

    /// A kernel waits for the latest of each other stream, and of the host, that it is behind.
    fn kernel(&mut self, node: u32, stream: usize, preds: &[u32]) {
        let (mut latest, mut latest_call) = ([0; STREAMS], 0);
        for &pred in preds {
            match self.place_of[pred as usize] {
                Some(Place::Stream(other, at)) if other != stream => {
                    latest[other] = latest[other].max(at + 1)
                }
                Some(Place::Host(call)) => latest_call = latest_call.max(call + 1),
                _ => {}
            }
        }
        let mut waits = Vec::new();
        for (other, latest) in latest.into_iter().enumerate() {
            if latest > self.known[stream][other] {
                self.known[stream][other] = latest;
                waits.push(Place::Stream(other, latest - 1));
            }
        }
        if latest_call > self.known_calls[stream] {
            self.known_calls[stream] = latest_call;
            waits.push(Place::Host(latest_call - 1));
        }
        if waits.is_empty() && stream != 0 && self.program.queues[stream].packets.is_empty() {
            waits.push(ENTRY);
        }
        self.wait(stream, WAIT, &waits);
        let work = Some(Work::of(self.problem, node));
        let packets = &mut self.program.queues[stream].packets;
        packets.push(Packet { work, fences: KERNEL, ..Packet::default() });
        self.place_of[node as usize] = Some(Place::Stream(stream, packets.len() - 1));
    }

    /// The signal that a packet or a host call fires, made if it has none.
    fn signal(&mut self, by: Place) -> u32 {
        let signal = match by {
            Place::Stream(stream, at) => &mut self.program.queues[stream].packets[at].signal,
            Place::Host(call) => &mut self.program.host[call].signal,
        };
        *signal.get_or_insert_with(|| {
            self.program.signals += 1;
            self.program.signals - 1
        })
    }

    /// Barrier-AND packets for up to five signals each.
    fn wait(&mut self, stream: usize, fences: Fences, signallers: &[Place]) {
        for some in signallers.chunks(aqlipse_graph::schedule::plan::SIGNALS_PER_BARRIER_AND) {
            let waits = some.iter().map(|&by| self.signal(by)).collect();
            self.program.queues[stream].packets.push(Packet { fences, waits, ..Packet::default() });
        }
    }

    /// The first stream waits for the ends of the others and for the host's last call.
    fn finish(mut self) -> Program {
        let mut open = Vec::new();
        for stream in 1..STREAMS {
            let packets = self.program.queues[stream].packets.len();
            if packets > self.known[0][stream] {
                open.push(Place::Stream(stream, packets - 1));
            }
        }
        if self.program.host.len() > self.known_calls[0] {
            open.push(Place::Host(self.program.host.len() - 1));
        }
        self.wait(0, MARKER, &open);
        let entry_waited_for = self.program.queues[0].packets[0].signal.is_some();
        if !entry_waited_for && self.program.queues[0].packets.len() > 1 {
            // Nothing waits for it: the first kernel's barrier bit does that.
            self.program.queues[0].packets.remove(0);
        } else if let [_, first, ..] = &mut self.program.queues[0].packets[..]
            && first.work.is_some()
        {
            // The marker has acquired directly before it.
            first.fences.acquire = Scope::None;
        }
        self.program.queues.retain(|queue| !queue.packets.is_empty());
        self.program.interrupting_the_host()
    }
}
