//! Lanes for nodes of different urgency: what may run at the same time shares no lane unless it is equally urgent.
//!
//! A queue has one priority, so a node's priority matters only on a queue of its class. It matters there only beside work
//! of another class that may run at the same time: nodes that are ordered with all nodes of other classes stay on the lane
//! of what they come behind, and cost no signal.

use super::lanes::{Order, number_lanes};
use super::levels::Levels;
use super::{Class, Problem};

/// Up to this many nodes it is found exactly which of them may run at the same time; a graph that is larger counts as
/// if all of its nodes might.
const EXACT: usize = 2_048;

/// Which packet nodes may run beside a packet node of another class.
pub(super) fn contested(problem: &Problem<'_>) -> Vec<bool> {
    let nodes = problem.len();
    let mut classes: Vec<u8> = packets(problem).map(|node| problem.urgency(node)).collect();
    classes.sort_unstable();
    classes.dedup();
    if classes.len() < 2 {
        return vec![false; nodes];
    }
    if nodes > EXACT {
        return problem.nodes().map(|node| problem.class(node) == Class::Packet).collect();
    }
    let (before, behind) = (reached(problem, false), reached(problem, true));
    let free = |node: u32| {
        packets(problem).any(|other| {
            problem.urgency(other) != problem.urgency(node)
                && !before.holds(node, other)
                && !behind.holds(node, other)
        })
    };
    problem.nodes().map(|node| problem.class(node) == Class::Packet && free(node)).collect()
}

/// A lane of each device for each class of urgency, level by level; nothing if no node is contested, or a device has
/// more classes than it may have lanes.
pub(super) fn lanes(problem: &Problem<'_>, levels: &Levels, lanes_each: usize) -> Option<Order> {
    const CLASSES: usize = 1 << u8::BITS;
    let contested = contested(problem);
    if !contested.contains(&true) {
        return None;
    }
    // By device and class: the lane, numbered as they come.
    let mut number = vec![None; problem.device_count() * CLASSES];
    let mut lane_of = vec![0u8; problem.len()];
    let mut used = 0;
    let mut used_of = vec![0; problem.device_count()];
    for &node in levels.nodes.iter().filter(|&&node| problem.class(node) == Class::Packet) {
        let device = problem.device(node);
        let before = problem
            .preds_of(node)
            .iter()
            .find(|&&pred| problem.class(pred) == Class::Packet && problem.device(pred) == device);
        lane_of[node as usize] = match before {
            Some(&pred) if !contested[node as usize] => lane_of[pred as usize],
            _ => {
                let number = &mut number[usize::from(device) * CLASSES + usize::from(problem.urgency(node))];
                if number.is_none() {
                    // CAST: `lanes_each` of all devices are at most MAX_QUEUES.
                    *number = Some(used as u8);
                    used += 1;
                    used_of[usize::from(device)] += 1;
                    if used_of[usize::from(device)] > lanes_each {
                        return None;
                    }
                }
                (*number)?
            }
        };
    }
    // The first lane is the launch stream's, whose priority is not for the graph to choose: it is the least urgent.
    let mut by_urgency = levels.nodes.clone();
    by_urgency.sort_by_key(|&node| (!contested[node as usize], problem.urgency(node)));
    let queues = number_lanes(problem, &by_urgency, &mut lane_of, used);
    Some(Order { nodes: levels.nodes.clone(), lane_of, queues, makespan_ns: 0 })
}

fn packets<'p>(problem: &'p Problem<'_>) -> impl Iterator<Item = u32> + 'p {
    problem.nodes().filter(|&node| problem.class(node) == Class::Packet)
}

/// For each node a set of nodes.
pub(super) struct Reached {
    words: usize,
    bits: Vec<u64>,
}

impl Reached {
    /// How many nodes the set of `node` has.
    pub(super) fn count(&self, node: u32) -> u32 {
        self.bits[node as usize * self.words..][..self.words].iter().map(|word| word.count_ones()).sum()
    }

    /// Whether the set of `node` has `other` in it.
    pub(super) fn holds(&self, node: u32, other: u32) -> bool {
        self.bits[node as usize * self.words + other as usize / 64] >> (other % 64) & 1 == 1
    }
}

/// What comes before each node, or what comes `behind` it.
pub(super) fn reached(problem: &Problem<'_>, behind: bool) -> Reached {
    let words = problem.len().div_ceil(64);
    let mut bits = vec![0u64; problem.len() * words];
    let mut row = vec![0u64; words];
    let mut visit = |node: u32, neighbours: &[u32]| {
        row.fill(0);
        for &next in neighbours {
            row[next as usize / 64] |= 1 << (next % 64);
            for (word, more) in row.iter_mut().zip(&bits[next as usize * words..][..words]) {
                *word |= more;
            }
        }
        bits[node as usize * words..][..words].copy_from_slice(&row);
    };
    if behind {
        problem.nodes().rev().for_each(|node| visit(node, problem.succs.row(node)));
    } else {
        problem.nodes().for_each(|node| visit(node, problem.preds.row(node)));
    }
    Reached { words, bits }
}
