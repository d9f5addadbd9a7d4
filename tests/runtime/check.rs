//! What is found of nodes that no edge orders, beside a model that knows what each node touches.

use std::{cell::Cell, collections::BTreeSet, ops::Range};

use aqlipse::{
    Exec, GraphNode, Template,
    check::{Checker, Finding, Tool},
    graph::{Memcpy, Memset, RunCopy},
    typed::DeviceBuffer,
};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::*;

/// Bytes of the buffer that all nodes work on; so many that their ranges meet often, and not always.
const BYTES: u64 = 4096;

/// A node: a fill, or a copy from one range to another.
#[derive(Clone, Debug)]
struct Work {
    writes: Range<u64>,
    reads: Option<u64>,
}

impl Work {
    fn read(&self) -> Option<Range<u64>> {
        let bytes = self.writes.end - self.writes.start;
        self.reads.map(|start| start..start + bytes)
    }

    fn conflicts(&self, other: &Self) -> bool {
        let meet = |one: &Range<u64>, other: &Range<u64>| one.start < other.end && other.start < one.end;
        let touches = |work: &Self, bytes: &Range<u64>| {
            meet(&work.writes, bytes) || work.read().is_some_and(|read| meet(&read, bytes))
        };
        touches(other, &self.writes) || touches(self, &other.writes)
    }

    fn node(&self, buffer: u64) -> GraphNode {
        let (dst, width) = (buffer + self.writes.start, self.writes.end - self.writes.start);
        match self.reads {
            // A batch of two.
            Some(start) if width.is_multiple_of(3) => {
                let run = |at, bytes| RunCopy { dst: dst + at, src: buffer + start + at, bytes };
                GraphNode::MemcpyBatch([run(0, width / 3), run(width / 3, width - width / 3)].into())
            }
            Some(start) => GraphNode::Memcpy(Memcpy::linear(dst, buffer + start, width)),
            None => {
                GraphNode::Memset(Memset { dst, pitch: width, value: 1, element_size: 1, width, height: 1 })
            }
        }
    }
}

fn work() -> impl Strategy<Value = Work> {
    (1u64..300).prop_flat_map(|bytes| {
        let reads = prop_oneof![Just(None), (0..BYTES - bytes).prop_map(Some)];
        // A copy between ranges that overlap may do anything.
        (0..BYTES - bytes, reads).prop_map(move |(start, reads)| {
            let reads = reads.filter(|from| from.abs_diff(start) >= bytes);
            Work { writes: start..start + bytes, reads }
        })
    })
}

/// A graph: nodes, and of each pair of them whether an edge leads from the earlier one to the later one.
fn graph() -> impl Strategy<Value = (Vec<Work>, Vec<bool>)> {
    (2usize..24, 1u32..10).prop_flat_map(|(nodes, rarity)| {
        let edges = prop::collection::vec(prop::bool::weighted(1.0 / f64::from(rarity)), nodes * nodes);
        (prop::collection::vec(work(), nodes), edges)
    })
}

/// What the model knows of a graph.
struct Model {
    /// For each pair of nodes whether a path of edges leads from the one to the other.
    before: Vec<Vec<bool>>,
    /// The pairs that conflict and that nothing orders, the earlier one first.
    unordered: BTreeSet<(usize, usize)>,
}

impl Model {
    fn new(works: &[Work], edges: &[bool]) -> Self {
        let count = works.len();
        let mut before: Vec<Vec<bool>> =
            (0..count).map(|n| (0..count).map(|m| n < m && edges[n * count + m]).collect()).collect();
        for middle in 0..count {
            for n in 0..count {
                for m in 0..count {
                    before[n][m] |= before[n][middle] && before[middle][m];
                }
            }
        }
        let pairs = (0..count).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
        let is_unordered = |&(earlier, later): &(usize, usize)| {
            !before[earlier][later] && works[earlier].conflicts(&works[later])
        };
        let unordered = pairs.filter(is_unordered).collect();
        Self { before, unordered }
    }

    /// Whether a pair is among what was found, or a node behind one of the two has met the other in its place.
    fn is_found(&self, found: &BTreeSet<(usize, usize)>, (one, other): (usize, usize)) -> bool {
        let meets = |node: usize, other: usize| found.contains(&(node.min(other), node.max(other)));
        let behind = |node: usize, other: usize| {
            (0..self.before.len()).any(|later| self.before[node][later] && meets(later, other))
        };
        meets(one, other) || behind(one, other) || behind(other, one)
    }
}

/// Launches a graph twice and returns the pairs that are found, the earlier node first.
fn found(
    checker: &Checker,
    stream: &Stream,
    buffer: u64,
    works: &[Work],
    edges: &[bool],
) -> BTreeSet<(usize, usize)> {
    let mut template = Template::new(&device());
    let mut nodes = Vec::new();
    for (n, work) in works.iter().enumerate() {
        let after: Vec<_> = (0..n).filter(|m| edges[m * works.len() + n]).map(|m| nodes[m]).collect();
        nodes.push(template.add(work.node(buffer), &after).unwrap());
    }
    let exec = Exec::new(&template, Default::default()).unwrap();
    for _ in 0..2 {
        exec.launch(stream).unwrap();
    }
    stream.synchronize().unwrap();
    let findings = checker.take();
    // `node GRAPH.NUMBER of executable ..`.
    let number = |place: &str| {
        let node = place.split_once('.').unwrap().1.split(' ').next();
        node.unwrap().parse::<usize>().unwrap()
    };
    let pair = |finding: &Finding| {
        let Finding::Unordered { parties, .. } = finding else { panic!("{finding}") };
        (number(&parties[0].place), number(&parties[1].place))
    };
    let pairs: BTreeSet<_> = findings.iter().map(pair).collect();
    assert_eq!(findings.len(), pairs.len(), "each pair once");
    pairs
}

#[test]
fn pairs_are_found_that_conflict_and_no_edges_order_and_no_others() {
    // Nothing else says what kernels touch.
    let emulated = [("AQLIPSE_DEVICE", "emulated")];
    in_child(
        "runtime::check::pairs_are_found_that_conflict_and_no_edges_order_and_no_others",
        &emulated,
        || {
            let checker = Checker::start(&[Tool::Graph]).unwrap();
            let memory = buffer(&[0; BYTES as usize / 4]);
            let stream = stream();
            let (all, unordered) = (Cell::new(0), Cell::new(0));
            let config = Config { cases: 1000, failure_persistence: None, ..Config::default() };
            let outcome = TestRunner::new(config).run(&graph(), |(works, edges)| {
                let pairs = found(&checker, &stream, memory.slice().address(), &works, &edges);
                let model = Model::new(&works, &edges);
                let wrong: Vec<_> = pairs.difference(&model.unordered).collect();
                prop_assert!(wrong.is_empty(), "{wrong:?} are in order");
                for pair in &model.unordered {
                    prop_assert!(model.is_found(&pairs, *pair), "{pair:?} is missed");
                }
                all.set(all.get() + works.len() * (works.len() - 1) / 2);
                unordered.set(unordered.get() + pairs.len());
                Ok(())
            });
            outcome.unwrap();
            let (all, found) = (all.get(), unordered.get());
            assert!(
                found > 100 && found < all / 2,
                "{found} of {all} pairs are too few, or too many, to say anything"
            );
        },
    );
}

/// The edges without which a graph of these nodes is not ordered, in the order of the nodes: those that no path stands for.
fn needed(works: &[Work]) -> Vec<(usize, usize)> {
    let count = works.len();
    let mut before = vec![BTreeSet::new(); count];
    let mut edges = Vec::new();
    for later in 0..count {
        for earlier in (0..later).rev() {
            if works[earlier].conflicts(&works[later]) && !before[later].contains(&earlier) {
                edges.push((earlier, later));
                let all = before[earlier].clone();
                before[later].extend(all.into_iter().chain([earlier]));
            }
        }
    }
    edges
}

#[test]
fn each_edge_that_is_taken_from_an_ordered_graph_is_found() {
    let emulated = [("AQLIPSE_DEVICE", "emulated")];
    in_child("runtime::check::each_edge_that_is_taken_from_an_ordered_graph_is_found", &emulated, || {
        let checker = Checker::start(&[Tool::Graph]).unwrap();
        let memory = buffer(&[0; BYTES as usize / 4]);
        let (stream, taken) = (stream(), Cell::new(0));
        let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
        let outcome = TestRunner::new(config).run(&prop::collection::vec(work(), 2..16), |works| {
            let count = works.len();
            let needed = needed(&works);
            let graph = |without: Option<usize>| {
                let mut edges = vec![false; count * count];
                let kept = needed.iter().enumerate().filter(|(number, _)| Some(*number) != without);
                kept.for_each(|(_, (earlier, later))| edges[earlier * count + later] = true);
                edges
            };
            let found = |edges: &[bool]| found(&checker, &stream, memory.slice().address(), &works, edges);
            prop_assert!(found(&graph(None)).is_empty());
            for (number, &pair) in needed.iter().enumerate() {
                let edges = graph(Some(number));
                let pairs = found(&edges);
                prop_assert!(Model::new(&works, &edges).is_found(&pairs, pair), "{pair:?} is missed");
                taken.set(taken.get() + 1);
            }
            Ok(())
        });
        outcome.unwrap();
        assert!(taken.get() > 500, "{} edges are too few to say anything", taken.get());
    });
}

/// The bytes of a buffer that nothing has written, once the nodes have run in their order.
fn unwritten(works: &[Work]) -> BTreeSet<u64> {
    let mut unwritten: BTreeSet<u64> = (0..BYTES).collect();
    for work in works {
        let copied = work.read().map_or_else(Vec::new, |read| {
            let bytes = read.clone().filter(|at| unwritten.contains(at));
            bytes.map(|at| at - read.start + work.writes.start).collect()
        });
        unwritten.retain(|at| !work.writes.contains(at));
        unwritten.extend(copied);
    }
    unwritten
}

#[test]
fn bytes_that_nothing_has_written_are_followed_through_fills_and_copies() {
    let name = "runtime::check::bytes_that_nothing_has_written_are_followed_through_fills_and_copies";
    in_child(name, &[("AQLIPSE_DEVICE", "emulated")], || {
        let checker = Checker::start(&[Tool::Init]).unwrap();
        let (stream, found) = (stream(), Cell::new(0));
        let mut host = vec![0u8; BYTES as usize];
        let host = host.as_mut_ptr() as u64;
        let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
        let outcome = TestRunner::new(config).run(&prop::collection::vec(work(), 1..60), |mut works| {
            // Most of it is written, so that what is left is sometimes too little to be told.
            works.insert(0, Work { writes: 0..BYTES - 200, reads: None });
            let memory = DeviceBuffer::<u8>::new(&device(), BYTES as usize).unwrap();
            let mut template = Template::new(&device());
            let mut last = Vec::new();
            for work in &works {
                last = vec![template.add(work.node(memory.slice().address()), &last).unwrap()];
            }
            // What is copied out is what is said of it: from the first byte that is left to the end.
            let unwritten = unwritten(&works);
            let start = unwritten.first().copied().unwrap_or(0);
            let copy = Memcpy::linear(host, memory.slice().address() + start, BYTES - start);
            template.add(GraphNode::Memcpy(copy), &last).unwrap();
            Exec::new(&template, Default::default()).unwrap().launch(&stream).unwrap();
            stream.synchronize().unwrap();
            let left: Vec<u64> = unwritten.into_iter().collect();
            let runs = left.chunk_by(|one, next| one + 1 == *next);
            let long = runs.map(|run| (run[0], run.len() as u64)).find(|(_, length)| *length >= 64);
            let expected = if left.len() as u64 == BYTES - start {
                left.first().map(|_| start)
            } else {
                long.map(|(at, _)| at)
            };
            let findings = checker.take();
            let told = findings.iter().map(|finding| match finding {
                Finding::Memory { bytes, .. } => (bytes.first.start - memory.slice().address(), bytes.total),
                _ => panic!("{finding}"),
            });
            let told: Vec<_> = told.collect();
            let expected: Vec<_> = expected.into_iter().map(|at| (at, left.len() as u64)).collect();
            prop_assert_eq!(told, expected);
            found.set(found.get() + findings.len());
            Ok(())
        });
        outcome.unwrap();
        assert!((30..290).contains(&found.get()), "{} of 300 say little", found.get());
    });
}
