//! Which buffers are over when others begin: what the edges of a graph say, and what its schedule knows besides.

use std::collections::HashMap;

use crate::antichain::{chains, peak};
use crate::{
    schedule::memory::{Sharing, sharing},
    template::{Graph, NodeId},
};

/// Which of some buffers is over when another one begins, by their places.
#[derive(Default)]
pub struct Order {
    /// By buffer: those that are over when it begins, a bit each.
    over: Vec<Vec<u64>>,
}

/// Buffers whose order is looked at together: of more, those that lie further apart share nothing.
const TOGETHER: usize = 1 << 14;

impl Order {
    /// The order of buffers that the first nodes allocate and the second free, in graphs of `graphs`: the edges say it.
    /// Nothing is known of nodes of different graphs.
    pub fn of<K, E, S>(lives: &[(NodeId, NodeId)], graphs: &[&Graph<K, E, S>]) -> Self {
        let mut over = vec![Vec::new(); lives.len()];
        let mut first = 0;
        for lives in lives.chunks(TOGETHER) {
            let places = 0..lives.len();
            let (begins, ends): (HashMap<_, _>, HashMap<_, _>) =
                places.map(|n| ((lives[n].0, n), (lives[n].1, n))).unzip();
            for graph in graphs.iter().filter(|graph| lives.iter().any(|life| life.0.graph() == graph.id())) {
                walk(graph, &ends, lives.len(), |node, ended| {
                    if let Some(&n) = begins.get(&node) {
                        over[first + n] = ended.to_vec();
                    }
                });
            }
            first += lives.len();
        }
        Self { over }
    }

    /// This order of `count` buffers together with what else is known: that `a` is over when `b` begins if
    /// `before(a, b)`. Of many buffers no more is known than before.
    pub fn and(self, count: usize, before: impl Fn(usize, usize) -> bool) -> Self {
        if count > chains::MOST {
            return self;
        }
        let words = count.div_ceil(64);
        let row = |b: usize| {
            let mut row = vec![0u64; words];
            for a in (0..count).filter(|&a| a != b && (self.holds(a, b) || before(a, b))) {
                row[a / 64] |= 1 << (a % 64);
            }
            row
        };
        let mut over: Vec<Vec<u64>> = (0..count).map(row).collect();
        // Either may know of buffers that the other does not know of, so what follows from both is yet to be found.
        for middle in 0..count {
            let first = over[middle].clone();
            for row in over.iter_mut().filter(|row| has(row, middle)) {
                row.iter_mut().zip(&first).for_each(|(row, first)| *row |= first);
            }
        }
        // Two orders that contradict each other would say that an allocation is over before it begins.
        if (0..count).any(|at| has(&over[at], at)) { self } else { Self { over } }
    }

    /// Whether `a` is over when `b` begins.
    pub fn holds(&self, a: usize, b: usize) -> bool {
        let (group, a) = (a / TOGETHER, a % TOGETHER);
        group == b / TOGETHER && self.over.get(b).is_some_and(|row| has(row, a))
    }

    /// The order among some of the buffers.
    pub fn among(&self, places: &[usize]) -> Self {
        let words = places.len().div_ceil(64);
        let over = places.iter().map(|&b| {
            let mut bits = vec![0; words];
            for (n, _) in places.iter().enumerate().filter(|&(_, &a)| self.holds(a, b)) {
                bits[n / 64] |= 1 << (n % 64);
            }
            bits
        });
        Self { over: if places.len() > TOGETHER { Vec::new() } else { over.collect() } }
    }
}

fn has(row: &[u64], at: usize) -> bool {
    row.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
}

/// A buffer: the nodes that allocate and free it, and its bytes.
pub type Buffer = ((NodeId, NodeId), u64);

/// The most bytes that some buffers take at once, by the edges of the graphs that have their nodes. Of many buffers, the
/// bytes of all.
pub fn at_once<K, E, S>(buffers: &[Buffer], graphs: &[&Graph<K, E, S>]) -> u64 {
    let (lives, bytes): (Vec<_>, Vec<u64>) = buffers.iter().copied().unzip();
    let all = bytes.iter().fold(0u64, |sum, &bytes| sum.saturating_add(bytes));
    if bytes.len() > sharing::EXACT || all == u64::MAX {
        return all;
    }
    let order = Order::of(&lives, graphs);
    peak::peak(&bytes, |a, b| order.holds(a, b))
}

/// What the schedule of an executable knows of the order of its buffers.
pub struct PlannedOrder {
    /// By allocation node, its place in the schedule's order.
    places: HashMap<NodeId, usize>,
    sharing: Sharing,
}

impl PlannedOrder {
    /// The order in which a plan has the allocations of some nodes.
    pub fn new(nodes: &[NodeId], sharing: Sharing) -> Self {
        Self { places: nodes.iter().copied().zip(0..).collect(), sharing }
    }

    /// Whether what `a` allocates is over when `b` allocates, or rather when anything uses that.
    pub fn is_before(&self, a: NodeId, b: NodeId) -> bool {
        match (self.places.get(&a), self.places.get(&b)) {
            (Some(&a), Some(&b)) => {
                [a, b].iter().all(|&at| self.sharing.bytes(at) > 0) && self.sharing.before(a, b)
            }
            _ => false,
        }
    }
}

/// Shows each node of a graph, with the `ends` among its ancestors.
fn walk<K, E, S>(
    graph: &Graph<K, E, S>,
    ends: &HashMap<NodeId, usize>,
    count: usize,
    mut see: impl FnMut(NodeId, &[u64]),
) {
    let topology = graph.topology();
    let dependents = |node| topology.dependents(node).into_iter().flatten();
    let mut waits: HashMap<NodeId, usize> = HashMap::with_capacity(topology.node_count());
    for node in topology.nodes() {
        waits.insert(node, topology.dependencies(node).into_iter().flatten().count());
    }
    let mut ready: Vec<NodeId> = topology.roots().collect();
    let mut ended: HashMap<NodeId, Vec<u64>> = HashMap::new();
    while let Some(node) = ready.pop() {
        let mut before = ended.remove(&node).unwrap_or_else(|| vec![0; count.div_ceil(64)]);
        see(node, &before);
        if let Some(&end) = ends.get(&node) {
            before[end / 64] |= 1 << (end % 64);
        }
        for next in dependents(node) {
            match ended.get_mut(&next) {
                Some(known) => known.iter_mut().zip(&before).for_each(|(known, before)| *known |= before),
                None => drop(ended.insert(next, before.clone())),
            }
            if let Some(waits) = waits.get_mut(&next) {
                *waits -= 1;
                if *waits == 0 {
                    ready.push(next);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Node;

    #[test]
    fn orders_are_joined_with_what_follows_from_both_unless_they_contradict_each_other() {
        let first = || Order::default().and(4, |a, b| (a, b) == (0, 1));
        let both = first().and(4, |a, b| (a, b) == (1, 2));
        let pairs = |order: &Order| -> Vec<(usize, usize)> {
            (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).filter(|&(a, b)| order.holds(a, b)).collect()
        };
        assert_eq!(pairs(&both), [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(pairs(&first().and(4, |a, b| (a, b) == (1, 0))), [(0, 1)]);
        assert!(pairs(&Order::default().and(chains::MOST + 1, |a, b| a < b)).is_empty());
    }

    #[test]
    fn the_order_of_buffers_is_that_of_the_nodes() {
        let mut graph = Graph::<(), (), ()>::new();
        let mut add = |after: &[NodeId]| graph.add(Node::Empty, after).unwrap();
        let (a, b) = (add(&[]), add(&[]));
        let (end_a, end_b) = (add(&[a]), add(&[b]));
        let c = add(&[end_a]);
        let end_c = add(&[c]);
        let d = add(&[end_c, end_b]);
        let end_d = add(&[d]);
        let lives = [(a, end_a), (b, end_b), (c, end_c), (d, end_d)];
        let order = Order::of(&lives, &[&graph]);
        let pairs = |order: &Order, n: usize| -> Vec<(usize, usize)> {
            (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|&(a, b)| order.holds(a, b)).collect()
        };
        assert_eq!(pairs(&order, 4), [(0, 2), (0, 3), (1, 3), (2, 3)]);
        assert_eq!(pairs(&order.among(&[1, 3]), 2), [(0, 1)]);
        let other = Graph::<(), (), ()>::new();
        assert!(pairs(&Order::of(&lives, &[&other]), 4).is_empty(), "nothing is known of the nodes");
    }
}
