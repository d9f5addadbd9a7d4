//! Priorities of kernel nodes, from the executable's options to packets and queues.

use super::*;
use crate::{
    Device, Exec, Module, Options, Template,
    graph::{Kernel, KernelAttributes},
    schedule::Candidate,
};

/// A graph of kernels that are told apart by their grids: a root, then some that may run in any order.
fn fan(priorities: &[i32]) -> Template {
    let device = Device::get(0).unwrap();
    let objects: [&[u8]; 5] = [
        include_bytes!("../../kernels/tests.gfx90a.co"),
        include_bytes!("../../kernels/tests.gfx9-4-generic.co"),
        include_bytes!("../../kernels/tests.gfx10-3-generic.co"),
        include_bytes!("../../kernels/tests.gfx11-generic.co"),
        include_bytes!("../../kernels/tests.gfx12-generic.co"),
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
        template.add(Node::Kernel(kernel), after).unwrap()
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
