//! Transitive reduction: the fewest edges with the same reachability.
//!
//! An edge that leads one level up (levels by longest path) is never redundant, so layered graphs need no search at
//! all. For a node with an edge that skips levels, one backward search over the levels skipped finds all its redundant
//! edges. The searches share a budget linear in the graph; when it is spent the remaining edges are kept, which is
//! correct and only less tight.

use crate::template::Csr;

use super::Problem;

/// How long to search for redundant edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// About as long as planning takes otherwise.
    Quick,
    /// Until all are found, in graphs of thousands of nodes.
    Thorough,
}

impl Effort {
    /// How many nodes and edges may be visited in a graph with `items` of them.
    fn visits(self, items: usize) -> usize {
        match self {
            Self::Quick => 2 * items,
            Self::Thorough => 64 * items + (1 << 20),
        }
    }
}

/// The edges that are left.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// The predecessors of each node.
    pub preds: Csr,
    /// Whether every redundant edge is gone.
    pub exact: bool,
}

/// Removes redundant edges from a problem's graph, joins included.
pub fn transitive_reduction(problem: &Problem<'_>, effort: Effort) -> Reduced {
    let preds = problem.preds;
    let mut level = vec![0u32; problem.len()];
    let mut search = Search {
        preds,
        visited: vec![u32::MAX; problem.len()],
        reached: vec![u32::MAX; problem.len()],
        stack: Vec::new(),
        budget: effort.visits(problem.len() + preds.entries()),
    };
    let mut exact = true;
    let mut kept = Csr::with_capacity(problem.len(), preds.entries());
    for node in problem.nodes() {
        let row = preds.row(node);
        let top = row.iter().map(|&pred| level[pred as usize] + 1).max().unwrap_or(0);
        let bottom = row.iter().map(|&pred| level[pred as usize] + 1).min().unwrap_or(0);
        level[node as usize] = top;
        if bottom == top || !exact {
            kept.push_row(row.iter().copied());
            continue;
        }
        exact = search.from(node, bottom - 1, &level);
        if exact {
            kept.push_row(row.iter().copied().filter(|&pred| search.reached[pred as usize] != node));
        } else {
            kept.push_row(row.iter().copied());
        }
    }
    Reduced { preds: kept, exact }
}

struct Search<'a> {
    preds: &'a Csr,
    /// The last node whose search saw this one.
    visited: Vec<u32>,
    /// The last node whose search came to this one by a path of two edges or more.
    reached: Vec<u32>,
    stack: Vec<u32>,
    budget: usize,
}

impl Search<'_> {
    /// Marks what `node` reaches backwards by two edges or more, down to a level; false when the budget ran out.
    fn from(&mut self, node: u32, bottom: u32, level: &[u32]) -> bool {
        self.stack.clear();
        self.stack.extend(self.preds.row(node));
        for &pred in &self.stack {
            self.visited[pred as usize] = node;
        }
        while let Some(at) = self.stack.pop() {
            let row = self.preds.row(at);
            let Some(budget) = self.budget.checked_sub(row.len() + 1) else { return false };
            self.budget = budget;
            for &pred in row.iter().filter(|&&pred| level[pred as usize] >= bottom) {
                self.reached[pred as usize] = node;
                if std::mem::replace(&mut self.visited[pred as usize], node) != node {
                    self.stack.push(pred);
                }
            }
        }
        true
    }
}
