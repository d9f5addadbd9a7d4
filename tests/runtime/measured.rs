//! Launches that measure how long kernels take, and plans with what they have measured.

use std::time::Duration;

use aqlipse::{
    Error, Exec, Options, Template,
    graph::{ConditionalKind, HostFn, Node, NodeId},
    schedule::memory::Goal,
    typed::{Graph, Node as TypedNode},
};
use fastrand::Rng;

use super::{
    dags::{on_lanes, random},
    updates::kernel_node,
    *,
};

/// A kernel that reads so often before it stores a value.
fn slow(out: &DeviceBuffer<u32>, turns: u32, value: u32) -> Launch {
    single(&kernels().slow, &[out, &turns, &value])
}

/// Two chains of kernels, each of a long one and of short ones, and their joint end.
fn uneven(out: &[DeviceBuffer<u32>]) -> (Graph, Vec<(TypedNode, bool)>) {
    let mut graph = Graph::new(&device());
    let mut nodes: Vec<(TypedNode, bool)> = Vec::new();
    let mut ends = Vec::new();
    for (chain, last) in out[..2].iter().enumerate() {
        let mut before = Vec::new();
        for at in 0..4 {
            let long = at == 3 * chain;
            let turns = if long { 20_000 } else { 1 };
            let node = graph.kernel(&slow(last, turns, at as u32), &before).unwrap();
            nodes.push((node, long));
            before = vec![node];
        }
        ends.extend(before);
    }
    graph.fill(out[2].slice(), 1, &ends).unwrap();
    (graph, nodes)
}

#[test]
fn profiled_launches_tell_which_kernels_take_long() {
    let (stream, out) = (stream(), [buffer(&[9]), buffer(&[9]), buffer(&[9])]);
    let (graph, nodes) = uneven(&out);
    let exec = graph.instantiate().unwrap();
    let measured = || nodes.iter().map(|(node, _)| graph.duration(*node)).collect::<Vec<_>>();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(measured(), [None; 8], "nobody has asked");
    exec.profile(3).unwrap();
    for _ in 0..5 {
        exec.launch(&stream).unwrap();
    }
    stream.synchronize().unwrap();
    let times: Vec<Duration> = measured().into_iter().map(|time| time.expect("a time")).collect();
    let of = |wanted| {
        nodes.iter().zip(&times).filter(move |((_, long), _)| *long == wanted).map(|(_, time)| *time)
    };
    let (shortest, longest) = (of(true).min().unwrap(), of(false).max().unwrap());
    assert!(shortest > longest, "20,000 turns took {shortest:?}, one {longest:?}");
    exec.replan().unwrap();
    out.iter().for_each(|out| out.write(&stream, &[9]).unwrap());
    exec.launch(&stream).unwrap();
    assert_eq!(out.each_ref().map(|out| out.read(&stream).unwrap()[0]), [3, 3, 0x0101_0101]);
}

#[test]
fn what_is_said_holds_until_it_is_measured() {
    let (stream, out) = (stream(), [buffer(&[9]), buffer(&[9]), buffer(&[9])]);
    let (mut graph, nodes) = uneven(&out);
    let (node, said) = (nodes[0].0, Duration::from_secs(1));
    graph.expect(node, said);
    assert_eq!((graph.duration(node), graph.duration(nodes[1].0)), (Some(said), None));
    let exec = graph.instantiate().unwrap();
    exec.profile(1).unwrap();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert!(graph.duration(node).is_some_and(|measured| measured < said));
    graph.expect(node, said);
    assert_eq!(graph.duration(node), Some(said));
}

#[test]
fn graphs_that_are_measured_and_planned_again_keep_their_order() {
    let stream = stream();
    for seed in 0..12 {
        for options in (1..=4).step_by(3).flat_map(on_lanes) {
            let graph = random(&mut Rng::with_seed(seed), options, seed % 2 == 1);
            let exec = &graph.exec;
            let launch = |times| (0..times).for_each(|_| exec.launch(&stream).unwrap());
            launch(2);
            exec.profile(2).unwrap();
            launch(3);
            // Launches of the plan before are in flight, and some are measured.
            exec.replan().unwrap();
            launch(2);
            stream.synchronize().unwrap();
            exec.profile(1).unwrap();
            launch(1);
            stream.synchronize().unwrap();
            exec.replan().unwrap();
            launch(2);
            stream.synchronize().unwrap();
            graph.check(10, &format!("seed {seed}, {options:?}"));
        }
    }
}

#[test]
fn another_plan_changes_no_parameters_and_disables_what_was_disabled() {
    let (stream, log) = (stream(), Log::new(100));
    let mut template = Template::new(&device());
    let mut add =
        |value, after: &[NodeId]| template.add(Node::Kernel(kernel_node(&log, value)), after).unwrap();
    let first = add(0, &[]);
    let second = add(1, &[first]);
    let third = add(2, &[second]);
    let exec = Exec::new(&template, Options::default()).unwrap();
    exec.profile(1).unwrap();
    exec.launch(&stream).unwrap();
    exec.set_node(first, &Node::Kernel(kernel_node(&log, 7))).unwrap();
    exec.set_enabled(second, false).unwrap();
    stream.synchronize().unwrap();
    exec.replan().unwrap();
    exec.launch(&stream).unwrap();
    // What does not run has no time.
    exec.profile(1).unwrap();
    exec.launch(&stream).unwrap();
    exec.set_enabled(second, true).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(log.entries(), [0, 1, 2, 7, 2, 7, 2, 7, 1, 2]);
    let _ = third;
}

#[test]
fn graphs_with_memory_and_with_conditions_are_planned_again() {
    let (stream, log) = (stream(), Log::new(100));
    let mut graph = Graph::new(&device());
    let condition = graph.condition(1).unwrap();
    let (allocated, memory) = graph.allocate::<u32>(16, &[]).unwrap();
    let filled = graph.fill(memory, 3, &[allocated]).unwrap();
    let mut body = Graph::new(&device());
    let inside = body.kernel(&log.append(1), &[]).unwrap();
    let chosen = graph.conditional(&condition, ConditionalKind::If, vec![body], &[filled]).unwrap();
    let freed = graph.free(memory, &[chosen]).unwrap();
    let last = graph.kernel(&log.append(2), &[freed]).unwrap();
    let exec = graph.instantiate().unwrap();
    exec.profile(2).unwrap();
    (0..2).for_each(|_| exec.launch(&stream).unwrap());
    stream.synchronize().unwrap();
    let measured = [filled, last, inside].map(|node| graph.duration(node).is_some());
    assert_eq!(measured, [true, true, false], "nodes in bodies have no packets of their own");
    exec.replan().unwrap();
    (0..2).for_each(|_| exec.launch(&stream).unwrap());
    assert_eq!(log.entries(), [1, 2].repeat(4));
}

#[test]
fn what_another_plan_could_break_is_refused_with_a_reason() {
    let mut graph = Template::new(&device());
    graph.add(Node::Kernel(kernel_node(&Log::new(1), 0)), &[]).unwrap();
    let refused = |graph: &Template, options| {
        let exec = Exec::new(graph, options).unwrap();
        let before = format!("{:?}", exec.report());
        let Err(Error::NotSupported(why)) = exec.replan() else { panic!("{options:?} is planned again") };
        assert_eq!(format!("{:?}", exec.report()), before);
        why
    };
    let resident = Options { resident: true, ..Options::default() };
    assert!(refused(&graph, resident).contains("resident"));
    assert!(matches!(Exec::new(&graph, resident).unwrap().profile(1), Err(Error::NotSupported(_))));
    let node_priority = Options { node_priority: true, ..Options::default() };
    assert!(refused(&graph, node_priority).contains("priorities"));
    let mut graph = Template::new(&device());
    let (allocated, address) = graph.add_allocation(&device(), 64, &[]).unwrap();
    let call = graph.add(Node::Host(HostFn::new(|| ())), &[allocated]).unwrap();
    graph.add_free(address, &[call]).unwrap();
    let memory = Options { memory: Some(Goal::Smallest), ..Options::default() };
    assert!(refused(&graph, memory).contains("memory"));
}

#[test]
fn a_launch_that_a_fault_takes_measures_nothing() {
    let (stream, log) = (stream(), Log::new(4));
    let mut graph = Graph::new(&device());
    let bad = graph.kernel(&single(&kernels().poke, &[&0x10u64, &1u32]), &[]).unwrap();
    let behind = graph.kernel(&log.append(1), &[bad]).unwrap();
    let exec = graph.instantiate().unwrap();
    exec.profile(1).unwrap();
    exec.launch(&stream).unwrap();
    assert!(stream.synchronize().is_err());
    assert_eq!([bad, behind].map(|node| graph.duration(node)), [None; 2]);
    exec.replan().unwrap();
}
