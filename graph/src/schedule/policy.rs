//! How AMD's releases spread a graph over streams, by what is published of them.
//!
//! Their pull requests (rocm-systems #1372, #2645, #6346, #6799, #9363, #4954, #7794) tell of two generations. Until
//! late 2024 a graph that branches went node by node round robin over four streams, linked by completion signals and
//! barrier-AND packets. Since ROCm 7.12 its maximal linear segments, level by level, go to the queues, either round
//! robin or with a segment staying on the queue of the one before it; a shallow graph may go to one queue. In both, each
//! kernel carries the barrier bit.
//!
//! Where the descriptions leave something open, what is better for them is taken: a first child stays on its parent's
//! stream. The packets that they publish for it are in the simulator of the `aqlipse` command.

use std::borrow::Cow;

use super::lanes::{Order, number_lanes};
use super::{Class, Policy, Problem};
use crate::template::Csr;

/// Queues that a graph is spread over.
pub const STREAMS: usize = 4;

impl Policy {
    /// The nodes in order, and which of so many streams each is on, of a graph of one device. `preds` sees through joins.
    pub fn streams(self, problem: &Problem<'_>, preds: &Csr, streams: usize) -> Streams {
        let segments = match self {
            Self::OneQueue | Self::RoundRobin => Segments::single(problem),
            Self::SegmentsByLevel | Self::SegmentsDepthFirst => Segments::maximal(problem, preds),
        };
        let order = segments.by_level(preds);
        let stream_of = match self {
            Self::OneQueue => vec![0; order.len()],
            Self::SegmentsByLevel => {
                let mut stream_of = vec![0; order.len()];
                // CAST: there are few.
                order.iter().zip(0..).for_each(|(&at, n)| stream_of[at as usize] = (n % streams) as u8);
                stream_of
            }
            Self::RoundRobin | Self::SegmentsDepthFirst => segments.inherit(&order, preds, streams),
        };
        let nodes = order.iter().flat_map(|&segment| segments.nodes.row(segment)).copied().collect();
        let of_node =
            segments.of.iter().map(|&segment| stream_of.get(segment as usize).copied().unwrap_or(0));
        Streams { nodes, of: of_node.collect() }
    }

    /// The same as lanes of each device, of which there may be fewer than streams.
    pub(super) fn lanes(self, problem: &Problem<'_>, preds: &Csr, lanes: usize) -> Order {
        let streams = lanes.min(STREAMS);
        let Streams { nodes, of: mut lane_of } = self.streams(problem, preds, streams);
        for (node, lane) in (0..).zip(&mut lane_of) {
            // CAST: lanes are at most MAX_QUEUES.
            *lane += problem.device(node) as u8 * streams as u8;
        }
        let queues = number_lanes(problem, &nodes, &mut lane_of, streams * problem.device_count);
        Order { nodes, lane_of, queues, makespan_ns: 0 }
    }
}

/// A graph spread over streams.
pub struct Streams {
    /// The nodes other than joins, in topological order.
    pub nodes: Vec<u32>,
    /// By node; of no meaning for host nodes and joins.
    pub of: Vec<u8>,
}

/// The predecessors of each node that are no joins, seeing through those that are; nothing if they are more than `most`.
pub fn through_joins<'a>(problem: &Problem<'a>, most: usize) -> Option<Cow<'a, Csr>> {
    if !problem.classes.contains(&Class::Join) {
        return Some(Cow::Borrowed(problem.preds));
    }
    let mut found = Csr::with_capacity(problem.len(), problem.preds.entries());
    for node in problem.nodes() {
        let mut row = Vec::new();
        for &pred in problem.preds_of(node) {
            match problem.class(pred) {
                Class::Join => row.extend_from_slice(found.row(pred)),
                _ => row.push(pred),
            }
        }
        row.sort_unstable();
        row.dedup();
        if found.entries() + row.len() > most {
            return None;
        }
        found.push_row(row);
    }
    Some(Cow::Owned(found))
}

/// A partition of the nodes other than joins into chains.
struct Segments {
    nodes: Csr,
    /// By node; of no meaning for joins.
    of: Vec<u32>,
}

impl Segments {
    /// A segment for each node.
    fn single(problem: &Problem<'_>) -> Self {
        let mut this =
            Self { nodes: Csr::with_capacity(problem.len(), problem.len()), of: vec![0; problem.len()] };
        for node in problem.nodes().filter(|&node| problem.class(node) != Class::Join) {
            // CAST: nodes are numbered in 32 bits.
            this.of[node as usize] = this.nodes.len() as u32;
            this.nodes.push_row([node]);
        }
        this
    }

    /// Each node with the one before it, if they have no other neighbour.
    fn maximal(problem: &Problem<'_>, preds: &Csr) -> Self {
        let mut successors = vec![0u32; problem.len()];
        preds.pairs().for_each(|(_, pred)| successors[pred as usize] += 1);
        let alike = |a: u32, b: u32| problem.class(a) == Class::Packet && problem.class(b) == Class::Packet;
        let mut of = vec![0; problem.len()];
        let mut segments = 0;
        let scheduled = || problem.nodes().filter(|&node| problem.class(node) != Class::Join);
        for node in scheduled() {
            of[node as usize] = match preds.row(node)[..] {
                [only] if successors[only as usize] == 1 && alike(only, node) => of[only as usize],
                _ => {
                    segments += 1;
                    segments - 1
                }
            };
        }
        let nodes = Csr::from_pairs(segments as usize, scheduled().map(|node| (of[node as usize], node)));
        Self { nodes, of }
    }

    /// The segments that a segment waits for.
    fn before<'a>(&'a self, segment: u32, preds: &'a Csr) -> impl Iterator<Item = u32> + 'a {
        preds.row(self.nodes.row(segment)[0]).iter().map(|&pred| self.of[pred as usize])
    }

    /// The segments level by level.
    fn by_level(&self, preds: &Csr) -> Vec<u32> {
        let mut levels = vec![0u32; self.nodes.len()];
        // The first nodes of segments are numbered in topological order, and so are the segments.
        for segment in 0..self.nodes.len() as u32 {
            let above = self.before(segment, preds).map(|before| levels[before as usize] + 1).max();
            levels[segment as usize] = above.unwrap_or(0);
        }
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).collect();
        order.sort_by_key(|&segment| levels[segment as usize]);
        order
    }

    /// A stream for each segment: that of a segment before it, if no other took it over, or else the next one.
    fn inherit(&self, order: &[u32], preds: &Csr, streams: usize) -> Vec<u8> {
        let (mut stream_of, mut next) = (vec![0; order.len()], 0);
        let mut taken = vec![false; order.len()];
        for &segment in order {
            let heir = self.before(segment, preds).find(|&before| !taken[before as usize]);
            stream_of[segment as usize] = match heir {
                Some(before) => {
                    taken[before as usize] = true;
                    stream_of[before as usize]
                }
                None => {
                    next += 1;
                    // CAST: there are few.
                    ((next - 1) % streams) as u8
                }
            };
        }
        stream_of
    }
}
