//! Priorities of kernel nodes, where the executable honours them.
//!
//! Three things follow from them. Nodes that may run in any order are laid out the most urgent first, so that their
//! packets stand first in their queue. Kernels of different priority that may run at the same time are on different
//! queues ([`Candidate::Urgency`](crate::schedule::Candidate::Urgency)). And of a graph that runs on several queues, every
//! queue but that of the launch stream has the priority of its kernels, of those that may meet others first; the first is
//! the stream's own, whose priority is the stream's: the least urgent are there. HSA has queues of three priorities, so a
//! number below 0 is as urgent as any other. Without the option, priorities of nodes are kept and reported but decide nothing.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::Units;
use crate::{
    schedule::{Action, LaneKind, Plan},
    template::{FlatGraph, Node},
};

/// The order of a flat graph in which the most urgent of the nodes that are ready always comes next; of equally
/// urgent ones, the first.
pub fn order<K, E, S>(flat: &FlatGraph, work: &[Option<&Node<K, E, S>>]) -> Vec<u32> {
    let priority = |node: u32| match work[node as usize] {
        Some(Node::Kernel(kernel)) => kernel.attributes.priority,
        Some(_) => 0,
        // What only passes the order on must not hold back what is urgent behind it.
        None => i32::MIN,
    };
    // CAST: a flat graph numbers its nodes in 32 bits.
    let nodes = 0..flat.len() as u32;
    let mut pending: Vec<usize> = nodes.clone().map(|node| flat.preds().row(node).len()).collect();
    let ready = nodes.filter(|&node| pending[node as usize] == 0);
    let mut ready: BinaryHeap<Reverse<(i32, u32)>> =
        ready.map(|node| Reverse((priority(node), node))).collect();
    let mut order = Vec::with_capacity(flat.len());
    let succs = flat.succs();
    while let Some(Reverse((_, node))) = ready.pop() {
        order.push(node);
        for &succ in succs.row(node) {
            pending[succ as usize] -= 1;
            if pending[succ as usize] == 0 {
                ready.push(Reverse((priority(succ), succ)));
            }
        }
    }
    order
}

/// The priority of each unit that is a kernel.
fn of_units<K, E, S>(units: &Units<'_>, work: &[Option<&Node<K, E, S>>]) -> Vec<Option<i32>> {
    let mut priorities: Vec<Option<i32>> = vec![None; units.classes.len()];
    for (&unit, work) in units.main.iter().zip(work) {
        if let Some(Node::Kernel(kernel)) = work {
            priorities[unit as usize] = Some(kernel.attributes.priority);
        }
    }
    priorities
}

/// The class of queues that each unit belongs on, the least urgent first; what is no kernel is as urgent as a kernel is
/// by default.
pub fn urgencies<K, E, S>(units: &Units<'_>, work: &[Option<&Node<K, E, S>>]) -> Vec<u8> {
    let class = |priority: Option<i32>| match priority.unwrap_or(0) {
        1.. => 0,
        0 => 1,
        ..0 => 2,
    };
    of_units(units, work).into_iter().map(class).collect()
}

/// The priority of the most urgent kernel of each queue of a plan, of the `contested` ones if there are any; 0 where
/// there is no kernel.
pub fn of_queues<K, E, S>(
    plan: &Plan,
    units: &Units<'_>,
    work: &[Option<&Node<K, E, S>>],
    contested: &[bool],
) -> Vec<i32> {
    let priorities = of_units(units, work);
    let queues = plan.lanes.iter().filter(|lane| lane.kind == LaneKind::Queue);
    let most_urgent = queues.map(|lane| {
        let kernels = lane.steps.iter().filter_map(|step| match step.action {
            Action::Node(unit) => Some((!contested[unit as usize], priorities[unit as usize]?)),
            Action::Fence => None,
        });
        kernels.min().map_or(0, |(_, priority)| priority)
    });
    most_urgent.collect()
}
