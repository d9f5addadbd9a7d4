//! Executables that are launched again, changed and let go while they run.

use aqlipse::{
    Error, Exec, Function, Options, Template,
    graph::{Kernel, Memcpy, Node},
    typed::{ExecGraph, Graph},
};

use super::*;

/// The launch of `append` that adds `value` to `log`, as a node's parameters.
pub fn kernel_node(log: &Log, value: u32) -> Kernel<Function> {
    let mut kernargs = vec![0; 12];
    kernargs[..8].copy_from_slice(&log.address().to_le_bytes());
    kernargs[8..].copy_from_slice(&value.to_le_bytes());
    let (function, kernargs) = (module().kernel("append").unwrap(), kernargs.into_boxed_slice());
    Kernel {
        function,
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
        kernargs,
        attributes: Default::default(),
    }
}

/// A graph of one kernel, and the node.
fn one(launch: &Launch) -> (ExecGraph, aqlipse::typed::Node) {
    let mut graph = Graph::new(&device());
    let node = graph.kernel(launch, &[]).unwrap();
    (graph.instantiate().unwrap(), node)
}

#[test]
fn launches_in_flight_keep_their_arguments() {
    let (stream, log) = (stream(), Log::new(200));
    let (exec, node) = one(&log.append(0));
    let gate = Gate::on(&stream);
    exec.launch(&stream).unwrap();
    for i in 1..100 {
        exec.set_kernel(node, &log.append(i)).unwrap();
        exec.launch(&stream).unwrap();
    }
    gate.open();
    assert_eq!(log.entries(), (0..100).collect::<Vec<_>>());
}

#[test]
fn updates_between_two_launches_share_one_place() {
    let (stream, log) = (stream(), Log::new(3));
    let (exec, node) = one(&log.append(0));
    let gate = Gate::on(&stream);
    exec.launch(&stream).unwrap();
    exec.set_kernel(node, &log.append(1)).unwrap();
    let (_, before) = device().kernarg_bytes();
    for i in 0..100_000 {
        exec.set_kernel(node, &log.append(i)).unwrap();
    }
    let (_, after) = device().kernarg_bytes();
    assert!(after <= before + 1024, "{before} bytes of arguments, then {after}");
    exec.launch(&stream).unwrap();
    gate.open();
    assert_eq!(log.entries(), [0, 99_999]);
}

#[test]
fn whole_updates_between_two_launches_leave_nothing_behind() {
    let (stream, log) = (stream(), Log::new(3));
    let template = |value| {
        let mut template = Template::new(&device());
        template.add(Node::Kernel(kernel_node(&log, value)), &[]).unwrap();
        template
    };
    let exec = Exec::new(&template(0), Options::default()).unwrap();
    let gate = Gate::on(&stream);
    exec.launch(&stream).unwrap();
    exec.update(&template(1)).unwrap();
    let (_, before) = device().kernarg_bytes();
    for i in 0..5_000 {
        exec.update(&template(i)).unwrap();
    }
    let (_, after) = device().kernarg_bytes();
    assert!(after <= before + 1024, "{before} bytes of arguments, then {after}");
    exec.launch(&stream).unwrap();
    gate.open();
    assert_eq!(log.entries(), [0, 4_999]);
}

#[test]
fn relaunches_leave_memory_where_it_was() {
    let (stream, data) = (stream(), buffer(&[0; 8]));
    let mut graph = Graph::new(&device());
    let root = graph.kernel(&affine(&data, 1, 1), &[]).unwrap();
    let host = graph.host(|| (), &[root]).unwrap();
    graph.kernel(&affine(&data, 1, 1), &[host]).unwrap();
    let exec = graph.instantiate().unwrap();
    let launch = |n: usize| {
        for i in 0..n {
            exec.launch(&stream).unwrap();
            if i % 50 == 0 {
                stream.synchronize().unwrap();
            }
        }
        stream.synchronize().unwrap();
        device().kernarg_bytes()
    };
    let early = launch(100);
    assert_eq!(launch(3_000), early);
    assert_eq!(data.read(&stream).unwrap(), [2 * 3_100; 8]);
}

#[test]
fn updates_keep_alive_what_the_node_uses_and_no_more() {
    let stream = stream();
    let data = buffer(&[1; 8]);
    let (exec, node) = one(&affine(&data, 1, 1));
    let free = || device().memory_info().0;
    let launch = |round| {
        // The executable holds the last reference.
        let large = aqlipse::typed::DeviceBuffer::<u32>::new(&device(), 1 << 20).unwrap();
        let len = 256u32;
        let arguments: [&dyn Argument; 4] = [&large, &len, &1u32, &round];
        let launch = kernels().affine.launch(&device(), [1; 3], [256, 1, 1], 0, &arguments).unwrap();
        exec.set_kernel(node, &launch).unwrap();
        drop((launch, large));
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
    };
    launch(0);
    let before = free();
    (0..20).for_each(launch);
    assert!(free() + (8 << 20) > before, "{} bytes more are in use", before - free());
}

#[test]
fn a_node_takes_only_parameters_of_its_own_kind() {
    let (stream, data) = (stream(), buffer(&[1; 8]));
    let host = [2u32; 8];
    let mut template = Template::new(&device());
    let upload = |bytes| Node::Memcpy(Memcpy::linear(data.slice().address(), host.as_ptr() as u64, bytes));
    let (copy, ()) = template.add(upload(32), &[]).unwrap();
    let (empty, ()) = template.add(Node::Empty, &[copy]).unwrap();
    let exec = Exec::new(&template, Options::default()).unwrap();
    let inside = Node::Memcpy(Memcpy::linear(data.slice().address() + 16, data.slice().address(), 16));
    assert!(exec.set_node(copy, &inside).is_err(), "pageable before, device memory now");
    assert!(exec.set_node(copy, &upload(33)).is_err(), "leaves its allocation");
    assert!(exec.set_node(copy, &Node::Empty).is_err());
    assert!(matches!(exec.set_node(empty, &inside), Err(Error::InvalidValue(_))));
    exec.launch(&stream).unwrap();
    assert_eq!(data.read(&stream).unwrap(), [2; 8], "refused updates change nothing");
    let other = [9u32; 8];
    let changed = Memcpy::linear(data.slice().address(), other.as_ptr() as u64, 16);
    let gate = Gate::on(&stream);
    exec.launch(&stream).unwrap();
    exec.set_node(copy, &Node::Memcpy(changed)).unwrap();
    exec.launch(&stream).unwrap();
    gate.open();
    assert_eq!(data.read(&stream).unwrap(), [9, 9, 9, 9, 2, 2, 2, 2]);
}

#[test]
fn an_executable_can_be_launched_and_changed_by_several_threads() {
    let log = Log::new(4000);
    let (exec, node) = one(&log.append(0));
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (exec, log) = (&exec, &log);
            scope.spawn(move || {
                let stream = stream();
                for i in 0..200 {
                    exec.set_kernel(node, &log.append(n * 1000 + i)).unwrap();
                    exec.launch(&stream).unwrap();
                }
                stream.synchronize().unwrap();
            });
        }
    });
    assert_eq!(log.entries().len(), 800);
}

#[test]
fn a_graph_nested_at_any_depth_can_be_given_other_parameters() {
    let (stream, log) = (stream(), Log::new(4));
    let leaf = |value| {
        let mut template = Template::new(&device());
        template.add(Node::Kernel(kernel_node(&log, value)), &[]).unwrap();
        template
    };
    let (mut middle, mut outer) = (Template::new(&device()), Template::new(&device()));
    let inner = middle.add_child(&leaf(1), &[]).unwrap();
    let child = outer.add_child(&middle, &[]).unwrap();
    let nested = outer.at(&[child]).unwrap().graph().counterpart(inner).unwrap();
    let exec = Exec::new(&outer, Options::default()).unwrap();
    exec.launch(&stream).unwrap();
    exec.update_child(nested, &leaf(2)).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(log.entries(), [1, 2]);
    assert!(exec.update_child(inner, &leaf(3)).is_err(), "a node of the graph that was added");
    assert!(exec.update_child(child, &leaf(3)).is_err(), "a graph with another kind of node");
    exec.launch(&stream).unwrap();
    assert_eq!(log.entries(), [1, 2, 2]);
}
