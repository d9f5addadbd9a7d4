//! How AMD's releases lay a graph out, by what is published of them.
//!
//! Their pull requests (rocm-systems #1372, #2645, #6346, #6799, #9363, #4954, #7794) tell of two generations. Until
//! late 2024 a graph that branches went node by node round robin over four streams, linked by completion signals and
//! barrier-AND packets. Since ROCm 7.12 its maximal linear segments, level by level, go to the queues, either round
//! robin or with a segment staying on the queue of the one before it; a shallow graph may go to one queue. In both, each
//! kernel carries the barrier bit.
//!
//! Where the descriptions leave something open, what is better for them is taken: a first child stays on its parent's
//! stream, one wait for the latest of a stream covers all before it, what a stream has waited for once it does not wait
//! for again, and the cost of the launch on the host is not counted.

use super::program::{HostCall, Packet, Program, Queue, Work};
use crate::schedule::{Class, Problem};

/// A way to lay a graph out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// One queue, every kernel behind the one before it.
    OneQueue,
    /// Four streams; a node's first child stays on its stream, other nodes take the next one.
    RoundRobin,
    /// Linear segments, level by level, each on the next of four queues.
    SegmentsByLevel,
    /// Linear segments; the first behind a segment stays on its queue, others take the next one.
    SegmentsDepthFirst,
}

/// Queues that a graph is spread over.
const STREAMS: usize = 4;

impl Policy {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::OneQueue, Self::RoundRobin, Self::SegmentsByLevel, Self::SegmentsDepthFirst];

    /// A name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneQueue => "one queue",
            Self::RoundRobin => "round robin",
            Self::SegmentsByLevel => "segments by level",
            Self::SegmentsDepthFirst => "segments depth first",
        }
    }

    /// The packets of a graph of one device.
    pub fn program(self, problem: &Problem<'_>) -> Program {
        let preds = through_joins(problem);
        let segments = match self {
            Self::OneQueue | Self::RoundRobin => Segments::single(problem),
            Self::SegmentsByLevel | Self::SegmentsDepthFirst => Segments::maximal(problem, &preds),
        };
        let order = segments.by_level(&preds);
        let stream_of = match self {
            Self::OneQueue => vec![0; segments.nodes.len()],
            Self::SegmentsByLevel => {
                let mut stream_of = vec![0; segments.nodes.len()];
                order.iter().zip(0..).for_each(|(&segment, at)| stream_of[segment] = at % STREAMS);
                stream_of
            }
            Self::RoundRobin | Self::SegmentsDepthFirst => segments.inherit(&order, &preds),
        };
        let mut layout = Layout::new(problem);
        for segment in order {
            for &node in &segments.nodes[segment] {
                layout.node(node, stream_of[segment], &preds[node as usize]);
            }
        }
        layout.finish()
    }
}

/// The predecessors of each node that are no joins, seeing through those that are.
fn through_joins(problem: &Problem<'_>) -> Vec<Vec<u32>> {
    let mut found: Vec<Vec<u32>> = Vec::with_capacity(problem.len());
    for node in problem.nodes() {
        let mut row = Vec::new();
        for &pred in problem.preds_of(node) {
            match problem.class(pred) {
                Class::Join => row.extend_from_slice(&found[pred as usize]),
                _ => row.push(pred),
            }
        }
        row.sort_unstable();
        row.dedup();
        found.push(row);
    }
    found
}

/// A partition of the nodes other than joins into chains.
struct Segments {
    nodes: Vec<Vec<u32>>,
    /// By node; of no meaning for joins.
    of: Vec<usize>,
}

impl Segments {
    /// A segment for each node.
    fn single(problem: &Problem<'_>) -> Self {
        let scheduled = problem.nodes().filter(|&node| problem.class(node) != Class::Join);
        let nodes: Vec<Vec<u32>> = scheduled.map(|node| vec![node]).collect();
        let mut of = vec![0; problem.len()];
        nodes.iter().zip(0..).for_each(|(segment, at)| of[segment[0] as usize] = at);
        Self { nodes, of }
    }

    /// Each node with the one before it, if they have nobody else.
    fn maximal(problem: &Problem<'_>, preds: &[Vec<u32>]) -> Self {
        let mut successors = vec![0; problem.len()];
        preds.iter().flatten().for_each(|&pred| successors[pred as usize] += 1);
        let mut this = Self { nodes: Vec::new(), of: vec![0; problem.len()] };
        let alike = |a: u32, b: u32| problem.class(a) == Class::Packet && problem.class(b) == Class::Packet;
        for node in problem.nodes().filter(|&node| problem.class(node) != Class::Join) {
            let segment = match preds[node as usize][..] {
                [only] if successors[only as usize] == 1 && alike(only, node) => this.of[only as usize],
                _ => {
                    this.nodes.push(Vec::new());
                    this.nodes.len() - 1
                }
            };
            this.of[node as usize] = segment;
            this.nodes[segment].push(node);
        }
        this
    }

    /// The segments that a segment waits for.
    fn before<'a>(&'a self, segment: usize, preds: &'a [Vec<u32>]) -> impl Iterator<Item = usize> + 'a {
        preds[self.nodes[segment][0] as usize].iter().map(|&pred| self.of[pred as usize])
    }

    /// The segments level by level.
    fn by_level(&self, preds: &[Vec<u32>]) -> Vec<usize> {
        let mut levels = vec![0usize; self.nodes.len()];
        // The first nodes of segments are numbered in topological order, and so are the segments.
        for segment in 0..self.nodes.len() {
            levels[segment] = self.before(segment, preds).map(|before| levels[before] + 1).max().unwrap_or(0);
        }
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|&segment| levels[segment]);
        order
    }

    /// A stream for each segment: that of a segment before it, if no other took it over, or else the next one.
    fn inherit(&self, order: &[usize], preds: &[Vec<u32>]) -> Vec<usize> {
        let (mut stream_of, mut next) = (vec![0; self.nodes.len()], 0);
        let mut taken = vec![false; self.nodes.len()];
        for &segment in order {
            let heir = self.before(segment, preds).find(|&before| !taken[before]);
            stream_of[segment] = match heir {
                Some(before) => {
                    taken[before] = true;
                    stream_of[before]
                }
                None => {
                    next += 1;
                    (next - 1) % STREAMS
                }
            };
        }
        stream_of
    }
}

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
        program.queues[0].packets.push(Packet { barrier: true, ..Packet::default() });
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
        self.wait(stream, &waits);
        let work = Some(Work::of(self.problem, node));
        let packets = &mut self.program.queues[stream].packets;
        packets.push(Packet { work, barrier: true, ..Packet::default() });
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
    fn wait(&mut self, stream: usize, signallers: &[Place]) {
        for some in signallers.chunks(crate::schedule::plan::SIGNALS_PER_BARRIER_AND) {
            let waits = some.iter().map(|&by| self.signal(by)).collect();
            self.program.queues[stream].packets.push(Packet { barrier: true, waits, ..Packet::default() });
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
        self.wait(0, &open);
        let entry_waited_for = self.program.queues[0].packets[0].signal.is_some();
        if !entry_waited_for && self.program.queues[0].packets.len() > 1 {
            // Nobody waits for it: the first kernel's barrier bit does.
            self.program.queues[0].packets.remove(0);
        }
        self.program.queues.retain(|queue| !queue.packets.is_empty());
        self.program
    }
}
