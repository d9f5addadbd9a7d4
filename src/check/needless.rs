//! Edges that no data needs: they order what touches no bytes in common, not even by way of others.

#![forbid(unsafe_code)]

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use aqlipse_graph::{
    Csr,
    schedule::{self, Problem},
};
use emulator::{Page, Touched};

use super::{
    command::{Edges, Launch, Plans},
    finding::PlanCost,
};

/// What the dispatches of a launch have touched.
pub(super) struct Looked {
    pub(super) launch: Arc<Launch>,
    /// Of each node, what it has touched and what it is; `None` for what is not dispatched, or has not ended.
    touched: Vec<Option<(Touched, String)>>,
    /// The nodes that are dispatched and have not ended.
    left: HashSet<u32>,
}

impl Looked {
    pub(super) fn new(launch: &Arc<Launch>, nodes: usize, dispatched: impl Iterator<Item = u32>) -> Self {
        let touched = std::iter::repeat_with(|| None).take(nodes).collect();
        Self { launch: launch.clone(), touched, left: dispatched.collect() }
    }

    /// A node has ended; `true` if it was the last one.
    pub(super) fn end(&mut self, place: u32, touched: &Touched, what: &str) -> bool {
        // What the host dispatches within the launch is not known.
        if self.left.remove(&place) {
            self.touched[place as usize] = Some((touched.clone(), what.to_owned()));
        }
        self.left.is_empty()
    }

    /// What the node is; empty for one that is not dispatched.
    pub(super) fn what(&self, place: u32) -> &str {
        self.touched[place as usize].as_ref().map_or("", |(_, what)| what)
    }

    /// The edges that no data needs, the costliest first. `counts` says which bytes do.
    pub(super) fn needless(&self, edges: &Edges, counts: impl Fn(u64) -> bool) -> Vec<Needless> {
        let nodes = self.touched.len();
        let mut needs = Rows::new(nodes);
        // Nobody knows what a node touches that is not dispatched, a function of the host above all.
        let is_unknown = |n: usize| self.touched[n].is_none() && !edges.joins[n];
        for later in 0..nodes {
            for earlier in (0..later).filter(|earlier| is_unknown(*earlier) || is_unknown(later)) {
                needs.insert(later, earlier);
            }
        }
        let mut pages: HashMap<u64, Vec<(usize, &Page)>> = HashMap::new();
        for (n, touched) in self.touched.iter().enumerate() {
            for (start, page) in touched.iter().flat_map(|(touched, _)| touched.pages()) {
                let here = pages.entry(start).or_default();
                for (earlier, other) in &*here {
                    if other.conflicts(page, start).iter().any(|bytes| counts(bytes.start)) {
                        needs.insert(n, *earlier);
                    }
                }
                here.push((n, page));
            }
        }
        let relations = Relations::new(edges, &needs);
        let mut found = needless(edges, &relations);
        if let Some(plans) = edges.plans.as_ref().filter(|_| nodes <= MAX_PLANNED_NODES) {
            let as_it_is = cost(plans, nodes, all(edges));
            for edge in found.iter_mut().take(MAX_PLANNED_EDGES) {
                let without = cost(plans, nodes, relations.without(edges, edge));
                edge.costs = as_it_is.zip(without);
            }
        }
        found.sort_by_key(|edge| {
            std::cmp::Reverse(edge.costs.map(|(with, without)| with.ns.saturating_sub(without.ns)))
        });
        found
    }
}

/// Nodes of a graph, and edges of it, for which plans are made, at most.
const MAX_PLANNED_NODES: usize = 1024;
const MAX_PLANNED_EDGES: usize = 64;

/// An edge that no data needs.
pub(super) struct Needless {
    pub(super) from: u32,
    pub(super) to: u32,
    /// How many pairs of nodes it orders that need no order.
    pub(super) pairs: usize,
    /// What the graph costs with it, and without it but with all orders that data needs, if that is known.
    pub(super) costs: Option<(PlanCost, PlanCost)>,
}

/// The edges, as pairs of a node and one before it.
fn all(edges: &Edges) -> Vec<(u32, u32)> {
    let rows = (0u32..).zip(&edges.preds);
    rows.flat_map(|(to, preds)| preds.iter().map(move |from| (to, *from))).collect()
}

/// What the best plan for these edges costs.
fn cost(plans: &Plans, nodes: usize, edges: Vec<(u32, u32)>) -> Option<PlanCost> {
    let preds = Csr::from_pairs(nodes, edges.into_iter());
    let succs = preds.transposed();
    let problem = Problem::new(&preds, &succs, &plans.classes, &plans.durations).ok()?;
    let plan = schedule::plan(&problem, schedule::MAX_LANES, &plans.table);
    let counts = plan.counts();
    Some(PlanCost {
        ns: plan.estimate_ns(),
        barrier_bits: counts.barrier_bits as u64,
        barrier_packets: counts.barrier_ands as u64,
        signals: counts.signals as u64,
    })
}

/// What comes before which node, by paths of edges and by chains of pairs that need an order.
struct Relations {
    before: Rows,
    needed: Rows,
}

impl Relations {
    fn new(edges: &Edges, needs: &Rows) -> Self {
        let nodes = edges.preds.len();
        let before = Rows::closed(nodes, |node| edges.preds[node].iter().map(|pred| *pred as usize));
        let of = &before;
        let needed = Rows::closed(nodes, |node| {
            (0..node).filter(move |other| needs.contains(node, *other) && of.contains(node, *other))
        });
        Self { before, needed }
    }

    /// The edges but one, and those that the order of its ends had stood for and that data needs.
    fn without(&self, edges: &Edges, edge: &Needless) -> Vec<(u32, u32)> {
        let (from, to) = (edge.from as usize, edge.to as usize);
        let mut left = all(edges);
        left.retain(|pair| *pair != (edge.to, edge.from));
        for end in (to..edges.preds.len()).filter(|end| *end == to || self.before.contains(*end, to)) {
            let starts = (0..=from).filter(|start| *start == from || self.before.contains(from, *start));
            // CAST: nodes are numbered in 32 bits.
            left.extend(
                starts
                    .filter(|start| self.needed.contains(end, *start))
                    .map(|start| (end as u32, start as u32)),
            );
        }
        left
    }
}

/// A set of earlier nodes for each.
struct Rows {
    words: usize,
    bits: Vec<u64>,
}

impl Rows {
    fn new(nodes: usize) -> Self {
        let words = nodes.div_ceil(64);
        Self { words, bits: vec![0; nodes * words] }
    }

    fn insert(&mut self, later: usize, earlier: usize) {
        self.bits[later * self.words + earlier / 64] |= 1 << (earlier % 64);
    }

    fn contains(&self, later: usize, earlier: usize) -> bool {
        self.bits[later * self.words + earlier / 64] >> (earlier % 64) & 1 == 1
    }

    /// What comes before each, by way of others, too: `preds` says which are directly.
    fn closed<'a, P: Iterator<Item = usize> + 'a>(nodes: usize, preds: impl Fn(usize) -> P) -> Self {
        let mut all = Self::new(nodes);
        for node in 0..nodes {
            let (earlier, rest) = all.bits.split_at_mut(node * all.words);
            let row = &mut rest[..all.words];
            for pred in preds(node) {
                let of_pred = &earlier[pred * all.words..][..all.words];
                row.iter_mut().zip(of_pred).for_each(|(word, more)| *word |= more);
                row[pred / 64] |= 1 << (pred % 64);
            }
        }
        all
    }
}

/// The edges between nodes that need no order. Those that a path stands for are none of them. Edges lead to greater numbers.
fn needless(edges: &Edges, Relations { before, needed }: &Relations) -> Vec<Needless> {
    let nodes = edges.preds.len();
    let mut found = Vec::new();
    for (to, preds) in edges.preds.iter().enumerate().filter(|(to, _)| !edges.joins[*to]) {
        for from in preds.iter().map(|pred| *pred as usize) {
            let is_shortcut = preds.iter().any(|other| before.contains(*other as usize, from));
            if edges.joins[from] || is_shortcut || needed.contains(to, from) {
                continue;
            }
            let ends = (to..nodes).filter(|end| *end == to || before.contains(*end, to));
            let starts = |end: usize| {
                let starts = (0..=from).filter(|start| *start == from || before.contains(from, *start));
                starts.filter(|start| !needed.contains(end, *start)).count()
            };
            let pairs = ends.map(starts).sum();
            // CAST: they were made of such.
            let (from, to) = (from as u32, to as u32);
            found.push(Needless { from, to, pairs, costs: None });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Nodes with edges, and pairs of nodes that need an order, as bits of earlier and later ones.
    fn graph() -> impl Strategy<Value = (usize, Vec<bool>, Vec<bool>)> {
        (2usize..12).prop_flat_map(|nodes| {
            let bits = |rarity| prop::collection::vec(prop::bool::weighted(rarity), nodes * nodes);
            (Just(nodes), bits(0.4), bits(0.2))
        })
    }

    /// The pairs of which a path leads from the one to the other.
    fn paths(nodes: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<bool>> {
        let mut paths = vec![vec![false; nodes]; nodes];
        pairs.for_each(|(from, to)| paths[from][to] = true);
        for middle in 0..nodes {
            for from in 0..nodes {
                for to in 0..nodes {
                    paths[from][to] |= paths[from][middle] && paths[middle][to];
                }
            }
        }
        paths
    }

    proptest! {
        /// What is needed is a chain of pairs that need an order and have one; all other edges but shortcuts are told.
        #[test]
        fn edges_are_needed_that_a_chain_of_pairs_leads_along((nodes, edges, needs) in graph()) {
            let pairs = || (0..nodes).flat_map(|to| (0..to).map(move |from| (from, to)));
            let all: Vec<_> = pairs().filter(|(from, to)| edges[from * nodes + to]).collect();
            let preds: Vec<Box<[u32]>> = (0..nodes)
                .map(|n| all.iter().filter(|(_, to)| *to == n).map(|(from, _)| *from as u32).collect())
                .collect();
            let mut rows = Rows::new(nodes);
            pairs().filter(|(from, to)| needs[from * nodes + to]).for_each(|(from, to)| rows.insert(to, from));
            let joins = vec![false; nodes].into();
            let found = {
                let edges = Edges { preds: preds.into(), joins, plans: None };
                needless(&edges, &Relations::new(&edges, &rows))
            };

            let ordered = paths(nodes, all.iter().copied());
            let needed = paths(nodes, pairs().filter(|(from, to)| ordered[*from][*to] && needs[from * nodes + to]));
            let is_shortcut = |&(from, to): &(usize, usize)| {
                paths(nodes, all.iter().copied().filter(|other| *other != (from, to)))[from][to]
            };
            let expected: Vec<_> = all.iter().filter(|edge| !needed[edge.0][edge.1] && !is_shortcut(edge)).collect();
            let edges: Vec<_> = found.iter().map(|edge| (edge.from as usize, edge.to as usize)).collect();
            prop_assert!(edges.iter().eq(expected));
            for Needless { from, to, pairs: count, .. } in found {
                let at = |one: usize, other: usize| one == other || ordered[one][other];
                let by_it = pairs().filter(|(one, other)| at(*one, from as usize) && at(to as usize, *other) && !needed[*one][*other]);
                prop_assert_eq!(by_it.count(), count);
            }
        }
    }
}
