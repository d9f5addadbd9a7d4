//! Chains of packets that share a lane at no loss of concurrency: a maximum matching of the reduced edges.
//!
//! Each edge of the transitive reduction links the left copy of its first node with the right copy of its second. A
//! matching picks at most one successor and one predecessor for each node, which makes chains; matched edges need no
//! wait, so a maximum matching leaves the fewest (Nimble, NeurIPS 2020). Hopcroft-Karp finds it in
//! O(edges sqrt(nodes)), here without recursion.
//!
//! A join stands for all pairs of its predecessors and successors. Only the pairs in equal places are offered to the
//! matching: that keeps it linear, and for a join alone it is a maximum.

use crate::template::Csr;

use super::levels::Levels;
use super::reduce::{Effort, Reduced};
use super::{Class, Problem};

const NONE: u32 = u32::MAX;

/// Phases of the matching when it need not be a maximum: the first ones find nearly all.
const QUICK_PHASES: usize = 1;

/// A partition of the packet nodes into chains.
#[derive(Debug, Clone)]
pub struct Chains {
    next: Vec<u32>,
    prev: Vec<u32>,
}

impl Chains {
    /// Finds the fewest chains whose links are reduced edges between packet nodes; a few more with [`Effort::Quick`].
    pub fn of(problem: &Problem<'_>, reduced: &Reduced, effort: Effort) -> Self {
        let is_packet = |node: u32| problem.class(node) == Class::Packet;
        let direct = reduced.preds.pairs().map(|(to, from)| (from, to));
        let direct = direct.filter(|&(from, to)| is_packet(from) && is_packet(to));
        // Packets of two devices share no lane.
        let shares = |&(from, to): &(u32, u32)| problem.device(from) == problem.device(to);
        let joins = problem.nodes().filter(|&node| problem.class(node) == Class::Join);
        let through = joins.flat_map(|join| {
            let before = problem.preds.row(join).iter().copied().filter(|&node| is_packet(node));
            let after = problem.succs.row(join).iter().copied().filter(|&node| is_packet(node));
            before.zip(after)
        });
        let edges = Csr::from_pairs(problem.len(), direct.chain(through).filter(shares));
        let mut matching = Matching::greedy(&edges);
        let mut phases = match effort {
            Effort::Quick => QUICK_PHASES,
            Effort::Thorough => usize::MAX,
        };
        while phases > 0 && matching.layer(&edges) {
            phases -= 1;
            for node in problem.nodes() {
                if matching.next[node as usize] == NONE {
                    matching.augment(&edges, node);
                }
            }
        }
        Self { next: matching.next, prev: matching.prev }
    }

    /// Links each packet node with the first of its successors on the next level that is not linked yet. An
    /// edge to the next level is never redundant, so no reduction is needed; there may be more chains than necessary.
    pub(super) fn by_level(problem: &Problem<'_>, levels: &Levels) -> Self {
        let mut this = Self { next: vec![NONE; problem.len()], prev: vec![NONE; problem.len()] };
        let fits = |node: u32, succ: u32| {
            problem.class(succ) == Class::Packet
                && levels.level_of(succ) == levels.level_of(node) + 1
                && problem.device(succ) == problem.device(node)
        };
        for node in problem.nodes().filter(|&node| problem.class(node) == Class::Packet) {
            let free = |succ: &&u32| this.prev[**succ as usize] == NONE && fits(node, **succ);
            if let Some(&succ) = problem.succs.row(node).iter().find(free) {
                this.next[node as usize] = succ;
                this.prev[succ as usize] = node;
            }
        }
        this
    }

    /// The node after this one in its chain.
    pub fn next(&self, node: u32) -> Option<u32> {
        Some(self.next[node as usize]).filter(|&next| next != NONE)
    }

    /// The node before this one in its chain.
    pub fn prev(&self, node: u32) -> Option<u32> {
        Some(self.prev[node as usize]).filter(|&prev| prev != NONE)
    }

    /// The first node of each chain, ascending; nodes that are no packets are in chains of their own.
    pub fn heads(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.prev).filter(|(_, prev)| **prev == NONE).map(|(node, _)| node)
    }

    /// The number of matched edges.
    pub fn links(&self) -> usize {
        self.next.iter().filter(|&&next| next != NONE).count()
    }
}

struct Matching {
    /// By left copy.
    next: Vec<u32>,
    /// By right copy.
    prev: Vec<u32>,
    /// Breadth-first layer of each left copy.
    layer: Vec<u32>,
    /// How many edges of each left copy were tried in this phase.
    tried: Vec<u32>,
    queue: Vec<u32>,
}

impl Matching {
    /// Matches each node with its first free successor, which is a maximum already for chains and trees of chains.
    fn greedy(edges: &Csr) -> Self {
        let nodes = edges.len();
        let mut this = Self {
            next: vec![NONE; nodes],
            prev: vec![NONE; nodes],
            layer: vec![NONE; nodes],
            tried: vec![0; nodes],
            queue: Vec::new(),
        };
        for node in 0..nodes as u32 {
            if let Some(&free) = edges.row(node).iter().find(|&&to| this.prev[to as usize] == NONE) {
                this.next[node as usize] = free;
                this.prev[free as usize] = node;
            }
        }
        this
    }

    /// Layers the left copies by alternating paths from the free ones; false when no augmenting path is left.
    fn layer(&mut self, edges: &Csr) -> bool {
        self.queue.clear();
        self.layer.fill(NONE);
        self.tried.fill(0);
        for node in 0..edges.len() as u32 {
            if self.next[node as usize] == NONE && !edges.row(node).is_empty() {
                self.layer[node as usize] = 0;
                self.queue.push(node);
            }
        }
        let mut found = false;
        let mut head = 0;
        while let Some(&node) = self.queue.get(head) {
            head += 1;
            for &to in edges.row(node) {
                let owner = self.prev[to as usize];
                if owner == NONE {
                    found = true;
                } else if self.layer[owner as usize] == NONE {
                    self.layer[owner as usize] = self.layer[node as usize] + 1;
                    self.queue.push(owner);
                }
            }
        }
        found
    }

    /// Follows one augmenting path from a free left copy along the layers, if there is one.
    fn augment(&mut self, edges: &Csr, start: u32) {
        let path = &mut self.queue;
        path.clear();
        path.push(start);
        while let Some(&node) = path.last() {
            let row = edges.row(node);
            let Some(&to) = row.get(self.tried[node as usize] as usize) else {
                // A dead end: the edge that led here is spent too.
                path.pop();
                if let Some(&before) = path.last() {
                    self.tried[before as usize] += 1;
                }
                continue;
            };
            let owner = self.prev[to as usize];
            if owner == NONE {
                // Each node on the path takes the edge it stands at.
                for &node in path.iter() {
                    let to = edges.row(node)[self.tried[node as usize] as usize];
                    self.next[node as usize] = to;
                    self.prev[to as usize] = node;
                    self.tried[node as usize] += 1;
                }
                return;
            }
            if self.layer[owner as usize] == self.layer[node as usize] + 1 {
                path.push(owner);
            } else {
                self.tried[node as usize] += 1;
            }
        }
    }
}
