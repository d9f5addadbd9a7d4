//! Priorities of kernel nodes, where the executable was asked to honour them.
//!
//! Three things follow from them. Nodes that may run in any order are laid out the most urgent first, so that their
//! packets stand first in their queue. Kernels of different priority that may run at the same time are on different
//! queues ([`Candidate::Urgency`](crate::schedule::Candidate::Urgency)). And of a graph that runs on several queues, every
//! queue but that of the launch stream has the priority of its kernels, of those that may meet others first; the first is
//! the stream's own, whose priority is the stream's: the least urgent are there. HSA has queues of three priorities, so a
//! number below 0 is as urgent as any other. Without the option, priorities of nodes are kept and reported but decide nothing.

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
fn of_units(units: &Units, work: &[Option<&GraphNode>]) -> Vec<Option<i32>> {
    let mut priorities: Vec<Option<i32>> = vec![None; units.units.len()];
    for (&unit, work) in units.main.iter().zip(work) {
        if let Some(GraphNode::Kernel(kernel)) = work {
            priorities[unit as usize] = Some(kernel.attributes.priority);
        }
    }
    priorities
}

/// The class of queues that each unit belongs on, the least urgent first; what is no kernel is as urgent as a kernel is
/// by default.
pub(super) fn urgencies(units: &Units, work: &[Option<&GraphNode>]) -> Vec<u8> {
    let class = |priority: Option<i32>| match priority.unwrap_or(0) {
        1.. => 0,
        0 => 1,
        ..0 => 2,
    };
    of_units(units, work).into_iter().map(class).collect()
}

/// The priority of the most urgent kernel of each queue of a plan, of the `contested` ones if there are any; 0 where
/// there is no kernel.
pub(super) fn of_queues(
    plan: &Plan,
    units: &Units,
    work: &[Option<&GraphNode>],
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device, Exec, Module, Options, Template,
        graph::{Kernel, KernelAttributes, NodeId},
        schedule::Candidate,
    };

    /// A graph of kernels that are told apart by their grids: a root, then some that may run in any order.
    fn fan(priorities: &[i32]) -> Template {
        let device = Device::get(0).unwrap();
        let objects: [&[u8]; 2] = [
            include_bytes!("../../kernels/tests.gfx90a.co"),
            include_bytes!("../../kernels/tests.gfx942.co"),
        ];
        let function = Module::first_that_fits(&device, &objects).unwrap().kernel("append").unwrap();
        let mut template = Template::new(&device);
        let mut add = |number: u32, priority, after: &[NodeId]| {
            let kernel = Kernel {
                function: function.clone(),
                grid: [number, 1, 1],
                block: [1; 3],
                shared_bytes: 0,
                kernargs: vec![0; 12].into(),
                attributes: KernelAttributes { priority, ..KernelAttributes::DEFAULT }.into(),
            };
            template.add(GraphNode::Kernel(kernel), after).unwrap().0
        };
        let root = add(1, 0, &[]);
        for (number, &priority) in (2..).zip(priorities) {
            add(number, priority, &[root]);
        }
        template
    }

    /// The grids of the kernels on each queue, in the order of their packets.
    fn packets(exec: &Exec) -> Vec<Vec<u32>> {
        let state = exec.state();
        let lanes = state.image.lanes.iter();
        lanes.map(|lane| lane.packets.iter().filter_map(|p| p.grid()).map(|grid| grid[0]).collect()).collect()
    }

    #[test]
    fn urgent_packets_stand_first_where_the_order_is_free() {
        let template = fan(&[0, 5, -1, 0, -2]);
        let one = |node_priority| {
            let candidate = Some(Candidate::Levels);
            let options = Options { lanes: 1, candidate, node_priority, ..Options::default() };
            packets(&Exec::new(&template, options).unwrap())
        };
        assert_eq!(one(false), [[1, 2, 3, 4, 5, 6]]);
        assert_eq!(one(true), [[1, 6, 4, 2, 5, 3]]);
    }

    #[test]
    fn further_queues_have_the_priority_of_their_most_urgent_kernel() {
        let template = fan(&[-1, -1, -1, -1]);
        let candidate = Some(Candidate::Strict);
        let options = Options { lanes: 2, candidate, node_priority: true, ..Options::default() };
        let exec = Exec::new(&template, options).unwrap();
        assert_eq!(packets(&exec).len(), 2, "the plan has two queues");
        assert_eq!(exec.0.priorities, [-1, -1]);
        let device = Device::get(0).unwrap();
        let ordinary = device.lane_beside(0, 1).unwrap().id();
        assert_ne!(device.lane_beside_of(0, 1, exec.0.priorities[1]).unwrap().id(), ordinary);
        assert_eq!(device.lane_beside_of(0, 1, 0).unwrap().id(), ordinary);
    }

    #[test]
    fn kernels_of_different_priority_that_may_meet_are_on_different_queues() {
        let with = |priorities: &[i32], lanes| {
            let options = Options { node_priority: true, lanes, ..Options::default() };
            let exec = Exec::new(&fan(priorities), options).unwrap();
            (packets(&exec), exec.0.priorities.clone())
        };
        let (queues, priorities) = with(&[0, 5, -1, 0, -2], 0);
        let mut found: Vec<_> = queues.into_iter().zip(priorities).collect();
        // The first queue is the stream's own: the least urgent are there.
        assert_eq!(found[0], (vec![3], 5));
        found.sort();
        assert_eq!(found, [(vec![1, 2, 5], 0), (vec![3], 5), (vec![6, 4], -2)]);
        // Where all are equally urgent, or there are not enough queues, priorities decide about the order alone.
        assert_eq!(with(&[-1, -1, -1], 0).0.len(), 1);
        assert_eq!(with(&[0, -1, 0], 1).0, [[1, 3, 2, 4]]);
    }

    #[test]
    fn priorities_that_decide_cannot_be_updated() {
        let node_priority = |node_priority| Options { node_priority, ..Options::default() };
        let exec = Exec::new(&fan(&[0, 0]), node_priority(true)).unwrap();
        let refusal = exec.update(&fan(&[0, 1])).unwrap_err();
        assert_eq!(refusal.reason, crate::UpdateReason::Parameters);
        assert!(refusal.to_string().contains("priority 1"), "{refusal}");
        exec.update(&fan(&[0, 0])).unwrap();
        Exec::new(&fan(&[0, 0]), node_priority(false)).unwrap().update(&fan(&[0, 1])).unwrap();
    }
}
