//! Nodes of executables that do not run for a while.

use aqlipse::{
    Error, Exec, Options, Template,
    graph::{HostFn, Memcpy, Memset, Node, NodeId},
    schedule::Candidate,
};

use super::{updates::kernel_node, *};

/// A graph whose nodes append their numbers to a log: 0 before 1 to 4, which are in any order, before 5.
fn fan(log: &Log) -> (Template, Vec<NodeId>) {
    let mut template = Template::new(&device());
    let mut add =
        |value, after: &[NodeId]| template.add(Node::Kernel(kernel_node(log, value)), after).unwrap();
    let root = add(0, &[]);
    let mut ids = vec![root];
    let middle: Vec<_> = (1..5).map(|value| add(value, &[root])).collect();
    ids.extend(&middle);
    ids.push(add(5, &middle));
    (template, ids)
}

/// Plans of several kinds, each with its own way to keep the order.
fn plans() -> impl Iterator<Item = Options> {
    let kinds = [(1, Candidate::Levels), (3, Candidate::Strict), (3, Candidate::Relaxed)];
    kinds.into_iter().map(|(lanes, kind)| Options { lanes, candidate: Some(kind), ..Options::default() })
}

#[test]
fn a_disabled_node_does_not_run_and_keeps_its_place() {
    for options in plans() {
        let (stream, log) = (stream(), Log::new(200));
        let (template, ids) = fan(&log);
        let exec = Exec::new(&template, options).unwrap();
        let mut expected = Vec::new();
        let mut launch = |exec: &Exec, left_out: &[u32]| {
            for (value, id) in (0..).zip(&ids) {
                exec.set_enabled(*id, !left_out.contains(&value)).unwrap();
                assert_eq!(exec.is_enabled(*id), Ok(!left_out.contains(&value)));
            }
            exec.launch(&stream).unwrap();
            expected.push((0..6).filter(|value| !left_out.contains(value)).collect::<Vec<u32>>());
        };
        for left_out in [&[][..], &[0], &[2], &[5], &[1, 2, 3, 4], &[0, 5], &[0, 1, 2, 3, 4, 5], &[]] {
            launch(&exec, left_out);
        }
        let mut entries = &log.entries()[..];
        for expected in expected {
            let (run, rest) = entries.split_at(expected.len());
            let mut sorted = run.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, expected, "{options:?}: {run:?}");
            let ends = |value| run.iter().position(|found| *found == value);
            assert!(
                ends(0).is_none_or(|at| at == 0) && ends(5).is_none_or(|at| at + 1 == run.len()),
                "{run:?}"
            );
            entries = rest;
        }
        assert!(entries.is_empty());
    }
}

#[test]
fn launches_in_flight_run_what_was_enabled_when_they_were_made() {
    let (stream, log) = (stream(), Log::new(10));
    let mut template = Template::new(&device());
    let node = template.add(Node::Kernel(kernel_node(&log, 1)), &[]).unwrap();
    let exec = Exec::new(&template, Options::default()).unwrap();
    let gate = Gate::on(&stream);
    for (enabled, value) in [(true, 1), (false, 2), (true, 3), (false, 4)] {
        exec.set_enabled(node, enabled).unwrap();
        exec.set_node(node, &Node::Kernel(kernel_node(&log, value))).unwrap();
        exec.launch(&stream).unwrap();
    }
    exec.set_enabled(node, true).unwrap();
    exec.launch(&stream).unwrap();
    gate.open();
    assert_eq!(log.entries(), [1, 3, 4], "what was set while disabled counts once it is enabled");
}

#[test]
fn copies_and_fills_of_all_makes_are_disabled() {
    let (stream, data) = (stream(), buffer(&[1; 8]));
    let address = data.slice().address();
    let (source, mut landed) = (vec![5u32; 8], vec![0u32; 8]);
    let mut elsewhere = vec![0u32; 8];
    let mut template = Template::new(&device());
    let set = Memset { dst: address, pitch: 32, value: 9, element_size: 4, width: 4, height: 1 };
    let nodes = [
        Node::Memset(set),
        Node::Memcpy(Memcpy::linear(address + 16, source.as_ptr() as u64, 16)),
        Node::Memcpy(Memcpy::linear(landed.as_mut_ptr() as u64, address, 32)),
        Node::Memcpy(Memcpy::linear(elsewhere.as_mut_ptr() as u64, source.as_ptr() as u64, 32)),
    ];
    let mut ids: Vec<NodeId> = Vec::new();
    for node in nodes {
        ids.push(template.add(node, ids.last().copied().as_slice()).unwrap());
    }
    let exec = Exec::new(&template, Options::default()).unwrap();
    let launch = |enabled: [bool; 4]| {
        for (id, enabled) in ids.iter().zip(enabled) {
            exec.set_enabled(*id, enabled).unwrap();
        }
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
    };
    launch([false; 4]);
    assert_eq!(
        (data.read(&stream).unwrap(), &landed[..], &elsewhere[..]),
        (vec![1; 8], &[0; 8][..], &[0; 8][..])
    );
    launch([true, false, true, false]);
    assert_eq!((&landed[..], elsewhere[0]), (&[9, 9, 9, 9, 1, 1, 1, 1][..], 0));
    launch([false, true, true, true]);
    assert_eq!((&landed[..], &elsewhere[..]), (&[9, 9, 9, 9, 5, 5, 5, 5][..], &[5; 8][..]));
    // Nothing of a disabled copy is touched: its host memory may be gone.
    drop(source);
    launch([true, false, true, false]);
    assert_eq!(landed, [9, 9, 9, 9, 5, 5, 5, 5]);
}

#[test]
fn an_update_of_the_whole_graph_leaves_nodes_disabled() {
    let (stream, log) = (stream(), Log::new(10));
    let chain = |values: [u32; 3]| {
        let mut template = Template::new(&device());
        let mut ids: Vec<NodeId> = Vec::new();
        for value in values {
            ids.push(
                template.add(Node::Kernel(kernel_node(&log, value)), ids.last().copied().as_slice()).unwrap(),
            );
        }
        (template, ids)
    };
    let (template, ids) = chain([1, 2, 3]);
    let exec = Exec::new(&template, Options::default()).unwrap();
    exec.set_enabled(ids[1], false).unwrap();
    exec.update(&chain([4, 5, 6]).0).unwrap();
    assert_eq!(exec.is_enabled(ids[1]), Ok(false));
    exec.launch(&stream).unwrap();
    exec.set_enabled(ids[1], true).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(log.entries(), [4, 6, 4, 5, 6]);
}

#[test]
fn nodes_of_nested_graphs_are_disabled_by_their_own_names() {
    let (stream, log) = (stream(), Log::new(10));
    let mut inner = Template::new(&device());
    inner.add(Node::Kernel(kernel_node(&log, 1)), &[]).unwrap();
    let mut template = Template::new(&device());
    let first = template.add_child(&inner, &[]).unwrap();
    let second = template.add_child(&inner, &[first]).unwrap();
    let inside = |child| template.graph().child(child).unwrap().topology().nodes().next().unwrap();
    let (one, two) = (inside(first), inside(second));
    let exec = Exec::new(&template, Options::default()).unwrap();
    exec.set_enabled(two, false).unwrap();
    assert_eq!((exec.is_enabled(one), exec.is_enabled(two)), (Ok(true), Ok(false)));
    exec.launch(&stream).unwrap();
    assert_eq!(log.entries(), [1]);
    assert!(exec.set_enabled(first, false).is_err(), "a child graph as a whole cannot be disabled");
}

#[test]
fn only_kernels_copies_and_fills_of_the_executable_can_be_disabled() {
    let log = Log::new(1);
    let mut template = Template::new(&device());
    let kernel = template.add(Node::Kernel(kernel_node(&log, 1)), &[]).unwrap();
    let host = template.add(Node::Host(HostFn::new(|| ())), &[kernel]).unwrap();
    let empty = template.add(Node::Empty, &[host]).unwrap();
    let exec = Exec::new(&template, Options::default()).unwrap();
    let later = template.add(Node::Kernel(kernel_node(&log, 1)), &[]).unwrap();
    let copy = template.try_clone().unwrap();
    let foreign = copy.graph().counterpart(kernel).unwrap();
    for node in [host, empty, later, foreign] {
        assert!(matches!(exec.set_enabled(node, false), Err(Error::InvalidValue(_))));
        assert!(matches!(exec.is_enabled(node), Err(Error::InvalidValue(_))));
    }
    assert_eq!(exec.is_enabled(kernel), Ok(true));
}
