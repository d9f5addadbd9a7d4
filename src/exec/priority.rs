//! Priorities of kernel nodes, where the executable was asked to honour them.
//!
//! Two things follow from them. Nodes that may run in any order are laid out the most urgent first, so that their packets
//! stand first in their queue. And of a graph that runs on several queues, every queue but that of the launch stream
//! has the priority of its most urgent kernel; the first is the stream's own, whose priority is the stream's.
//! Without the option, priorities of nodes are kept and reported but decide nothing.

#![forbid(unsafe_code)]

use std::{cmp::Reverse, collections::BinaryHeap};

use super::units::Units;
use crate::{
    GraphNode,
    graph::FlatGraph,
    schedule::{Action, LaneKind, Plan},
};

/// The order of a flat graph in which the most urgent of the nodes that are ready always comes next; of equally
/// urgent ones, the first.
pub(super) fn order(flat: &FlatGraph, work: &[Option<&GraphNode>]) -> Vec<u32> {
    let priority = |node: u32| match work[node as usize] {
        Some(GraphNode::Kernel(kernel)) => kernel.attributes.priority,
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
    while let Some(Reverse((_, node))) = ready.pop() {
        order.push(node);
        for &succ in flat.succs().row(node) {
            pending[succ as usize] -= 1;
            if pending[succ as usize] == 0 {
                ready.push(Reverse((priority(succ), succ)));
            }
        }
    }
    order
}

/// The priority of the most urgent kernel of each queue of a plan; 0 where there is no kernel.
pub(super) fn of_queues(plan: &Plan, units: &Units, work: &[Option<&GraphNode>]) -> Vec<i32> {
    let mut priorities: Vec<Option<i32>> = vec![None; units.units.len()];
    for (&unit, work) in units.main.iter().zip(work) {
        if let Some(GraphNode::Kernel(kernel)) = work {
            priorities[unit as usize] = Some(kernel.attributes.priority);
        }
    }
    let queues = plan.lanes.iter().filter(|lane| lane.kind == LaneKind::Queue);
    let most_urgent = queues.map(|lane| {
        let kernels = lane.steps.iter().filter_map(|step| match step.action {
            Action::Node(unit) => priorities[unit as usize],
            Action::Fence => None,
        });
        kernels.min().unwrap_or(0)
    });
    most_urgent.collect()
}
