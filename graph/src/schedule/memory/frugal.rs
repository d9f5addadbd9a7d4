//! Orders on one queue that need few bytes.
//!
//! The best order is hard to find (it is a pebbling game). What is tried: of the nodes that are ready, the one that leaves
//! the fewest bytes in use; and depth first, which ends what it has begun. Both look at the [`RECENT`] nodes only that
//! became ready last, which keeps them linear, and leaves what nothing has begun for later.

use std::cmp::Reverse;

use super::super::{Class, Problem};
use super::Allocation;
use crate::template::Csr;

/// Nodes that became ready last, among which the next is chosen.
const RECENT: usize = 64;

/// Orders of the nodes other than joins.
pub(super) fn orders(problem: &Problem<'_>, allocations: &[Allocation]) -> Vec<Vec<u32>> {
    let users = Users::of(problem, allocations);
    [Rule::LeastLeft, Rule::LeastTaken, Rule::DepthFirst]
        .map(|rule| Walk::new(problem, allocations, &users).run(rule))
        .into()
}

/// How the next node is chosen.
#[derive(Clone, Copy)]
enum Rule {
    /// By the bytes that are in use when it has completed, then by those while it runs.
    LeastLeft,
    /// The other way round.
    LeastTaken,
    /// The one that became ready last, unless another frees bytes and takes none.
    DepthFirst,
}

/// By node, the allocations of which it is a first or a last user.
struct Users {
    first: Csr,
    last: Csr,
}

impl Users {
    fn of(problem: &Problem<'_>, allocations: &[Allocation]) -> Self {
        let of = |nodes: fn(&Allocation) -> &[u32]| {
            // CAST: allocations are numbered in 32 bits, as nodes.
            let pairs = (0u32..).zip(allocations);
            Csr::from_pairs(
                problem.len(),
                pairs.flat_map(move |(at, allocation)| nodes(allocation).iter().map(move |&node| (node, at))),
            )
        };
        Self { first: of(|it| &it.first), last: of(|it| it.last.as_deref().unwrap_or_default()) }
    }
}

/// An order as it grows.
struct Walk<'p> {
    problem: &'p Problem<'p>,
    allocations: &'p [Allocation],
    users: &'p Users,
    pending: Vec<usize>,
    ready: Vec<u32>,
    nodes: Vec<u32>,
    /// By allocation: whether its bytes are in use or were.
    begun: Vec<bool>,
    /// By allocation: its last users that have not run.
    left: Vec<usize>,
}

impl<'p> Walk<'p> {
    fn new(problem: &'p Problem<'p>, allocations: &'p [Allocation], users: &'p Users) -> Self {
        let mut this = Self {
            problem,
            allocations,
            users,
            pending: problem.nodes().map(|node| problem.preds.row(node).len()).collect(),
            ready: Vec::new(),
            nodes: Vec::with_capacity(problem.len()),
            begun: vec![false; allocations.len()],
            left: allocations
                .iter()
                .map(|allocation| allocation.last.as_ref().map_or(usize::MAX, Vec::len))
                .collect(),
        };
        let roots = problem.nodes().rev().filter(|&node| problem.preds.row(node).is_empty());
        this.make_ready(roots.collect());
        this
    }

    /// Adds nodes that wait for nothing; a join lets what is behind it wait no longer for it.
    fn make_ready(&mut self, mut nodes: Vec<u32>) {
        while let Some(node) = nodes.pop() {
            match self.problem.class(node) {
                Class::Join => nodes.extend(self.pass(node)),
                Class::Packet | Class::Host | Class::Engine(_) => self.ready.push(node),
            }
        }
    }

    /// What waits for nothing else than a node, from the last to the first.
    fn pass(&mut self, node: u32) -> Vec<u32> {
        let pending = &mut self.pending;
        let free = |succ: &&u32| {
            pending[**succ as usize] -= 1;
            pending[**succ as usize] == 0
        };
        self.problem.succs.row(node).iter().rev().filter(free).copied().collect()
    }

    /// Bytes that a node takes into use when it starts, and bytes that are free when it has completed.
    fn change(&self, node: u32) -> (u64, u64) {
        let bytes = |at: &u32| self.allocations[*at as usize].bytes;
        let begins = self.users.first.row(node).iter().filter(|&&at| !self.begun[at as usize]);
        let ends = self.users.last.row(node).iter().filter(|&&at| self.left[at as usize] == 1);
        (begins.map(bytes).fold(0, u64::saturating_add), ends.map(bytes).fold(0, u64::saturating_add))
    }

    fn run(mut self, rule: Rule) -> Vec<u32> {
        while !self.ready.is_empty() {
            let recent = self.ready.len().saturating_sub(RECENT);
            let key = |&at: &usize| {
                let (taken, freed) = self.change(self.ready[at]);
                let net = i128::from(taken) - i128::from(freed);
                let taken = i128::from(taken);
                let by = match rule {
                    Rule::LeastLeft => (net, taken),
                    Rule::LeastTaken => (taken, net),
                    Rule::DepthFirst => (if taken == 0 { net } else { 0 }, 0),
                };
                (by, Reverse(at))
            };
            let Some(at) = (recent..self.ready.len()).min_by_key(key) else { break };
            let node = self.ready.remove(at);
            self.users.first.row(node).iter().for_each(|&at| self.begun[at as usize] = true);
            self.users.last.row(node).iter().for_each(|&at| self.left[at as usize] -= 1);
            self.nodes.push(node);
            let next = self.pass(node);
            self.make_ready(next);
        }
        self.nodes
    }
}
