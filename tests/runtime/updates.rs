//! Executables that are launched again, changed and let go while they run.

use aqlipse::{
    Error, Exec, Function, GraphNode, Options, Template, UpdateReason as Reason,
    graph::{CopyKind, HostFn, Kernel, Memcpy, Memset, Node, NodeId},
    last_error_detail,
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
        kernargs: kernargs.into(),
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
    let copy = template.add(upload(32), &[]).unwrap();
    let empty = template.add(Node::Empty, &[copy]).unwrap();
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

/// A copy of so many bytes in a direction.
fn copy(dst: u64, src: u64, bytes: u64, kind: CopyKind) -> GraphNode {
    Node::Memcpy(Memcpy::Linear { dst, src, bytes, kind })
}

fn fill(dst: u64, width: u64, height: u64) -> GraphNode {
    Node::Memset(Memset { dst, pitch: 16, value: 7, element_size: 4, width, height })
}

/// The nodes in a row.
fn in_a_row(nodes: impl IntoIterator<Item = GraphNode>) -> (Template, Vec<NodeId>) {
    let (mut template, mut ids) = (Template::new(&device()), Vec::new());
    for node in nodes {
        ids.push(template.add(node, ids.last().copied().as_slice()).unwrap());
    }
    (template, ids)
}

#[test]
fn a_refused_update_says_which_node_and_what_differs() {
    let (stream, log) = (stream(), Log::new(10));
    let (a, b) = (buffer(&[1; 16]), buffer(&[2; 16]));
    let (to, from) = (a.slice().address(), b.slice().address());
    let host = || Node::Host(HostFn::new(|| ()));
    let nodes = || {
        let kernel = Node::Kernel(kernel_node(&log, 1));
        [kernel, fill(to, 2, 2), fill(to, 4, 1), copy(to, from, 16, CopyKind::DeviceToDevice), host()]
    };
    let exec = Exec::new(&in_a_row(nodes()).0, Options::default()).unwrap();
    let changed = |at: usize, node: GraphNode| {
        let mut nodes = nodes();
        nodes[at] = node;
        in_a_row(nodes)
    };
    let cooperative = {
        let mut kernel = kernel_node(&log, 2);
        kernel.attributes.cooperative = 1;
        Node::Kernel(kernel)
    };
    let cases = [
        (0, cooperative, Reason::Parameters, "cooperative"),
        (0, Node::Empty, Reason::Kind, "it is a Empty node, the one in its place is a Kernel node"),
        (1, fill(to, 1, 2), Reason::Parameters, "2 rows of 1 elements, the one in its place 2 rows of 2"),
        (2, fill(to, 4, 2), Reason::Parameters, "it fills 2 rows, the one in its place one row"),
        (
            3,
            copy(to, from, 16, CopyKind::Inferred),
            Reason::Parameters,
            "Inferred, the one in its place Device",
        ),
        (3, host(), Reason::Kind, "it is a Host node, the one in its place is a Memcpy node"),
        (4, fill(to, 4, 1), Reason::Kind, "it is a Memset node, the one in its place is a Host node"),
    ];
    for (at, node, reason, text) in cases {
        let (template, ids) = changed(at, node);
        let refusal = exec.update(&template).unwrap_err();
        assert_eq!((&refusal.reason, refusal.node), (&reason, Some(ids[at])), "{refusal}");
        let told = last_error_detail().unwrap();
        assert!(told.contains(text) && told.contains(&ids[at].to_string()), "{told}");
    }
    let (short, _) = in_a_row(nodes().into_iter().take(4));
    let refusal = exec.update(&short).unwrap_err();
    assert_eq!((&refusal.reason, refusal.node), (&Reason::Topology, None));
    assert!(refusal.to_string().contains("it has 4 nodes, the executable has 5"), "{refusal}");
    let (mut other, ids) = in_a_row(nodes());
    other.remove_dependencies(&[(ids[1], ids[2])]).unwrap();
    let refusal = exec.update(&other).unwrap_err();
    assert_eq!((&refusal.reason, refusal.node), (&Reason::Topology, Some(ids[2])));
    assert!(refusal.to_string().contains("number 2 of its graph, has 0 dependencies"), "{refusal}");
    // Of a nested graph, the node around it is named, and said to be that.
    let nested = |nodes: Vec<GraphNode>| {
        let mut outer = Template::new(&device());
        let node = outer.add_child(&in_a_row(nodes).0, &[]).unwrap();
        (outer, node)
    };
    let around = Exec::new(&nested(nodes().into()).0, Options::default()).unwrap();
    let (wrong, node) = nested(nodes().into_iter().rev().collect());
    let refusal = around.update(&wrong).unwrap_err();
    assert_eq!(refusal.node, Some(node));
    assert!(refusal.to_string().contains("in a graph nested in node"), "{refusal}");
    // Nothing of all that has changed anything.
    exec.launch(&stream).unwrap();
    assert_eq!(log.entries(), [1]);
    assert_eq!(a.read(&stream).unwrap()[..4], [2; 4]);
}

#[test]
fn what_is_fixed_of_a_node_is_what_the_executable_has() {
    let (a, b) = (buffer(&[1; 16]), buffer(&[2; 16]));
    let (to, from) = (a.slice().address(), b.slice().address());
    let (mut template, ids) =
        in_a_row([copy(to, from, 16, CopyKind::DeviceToDevice), fill(to, 2, 2), fill(to, 4, 1)]);
    let exec = Exec::new(&template, Options::default()).unwrap();
    // The template may change as it likes: the executable stays bound to what it was made with.
    template.graph_mut().set(ids[0], copy(to, from, 16, CopyKind::Inferred)).unwrap();
    template.graph_mut().set(ids[1], fill(to, 4, 1)).unwrap();
    let refused = |at: usize, node: GraphNode, text: &str| {
        assert!(matches!(exec.set_node(ids[at], &node), Err(Error::InvalidValue(_))));
        let told = last_error_detail().unwrap();
        assert!(told.contains(text) && told.contains(&ids[at].to_string()), "{told}");
    };
    refused(0, copy(to, from, 8, CopyKind::Inferred), "it copies Inferred");
    refused(1, fill(to, 4, 1), "1 rows of 4 elements, the one in its place 2 rows of 2");
    refused(2, fill(to, 2, 2), "it fills 2 rows");
    refused(2, copy(to, from, 8, CopyKind::DeviceToDevice), "it is a Memcpy node");
    exec.set_node(ids[0], &copy(to + 16, from, 8, CopyKind::DeviceToDevice)).unwrap();
    exec.set_node(ids[2], &fill(to, 1, 1)).unwrap();
}

#[test]
fn operands_stay_on_their_device() {
    let two = [("AQLIPSE_EMULATE", "2xgfx90a"), ("AQLIPSE_DEVICE", "emulated")];
    in_child("runtime::updates::operands_stay_on_their_device", &two, || {
        let (here, there) =
            (buffer(&[1; 16]), DeviceBuffer::<u32>::new(&Device::get(1).unwrap(), 16).unwrap());
        let (here, there) = (here.slice().address(), there.slice().address());
        let (template, ids) = in_a_row([fill(here, 4, 1), copy(here, here + 32, 16, CopyKind::Inferred)]);
        let exec = Exec::new(&template, Options::default()).unwrap();
        let refused = |at: usize, node: GraphNode| {
            assert!(exec.set_node(ids[at], &node).is_err());
            let told = last_error_detail().unwrap();
            assert!(
                told.contains("memory of another device") && told.contains(&ids[at].to_string()),
                "{told}"
            );
        };
        refused(0, fill(there, 4, 1));
        refused(1, copy(there, here, 16, CopyKind::Inferred));
        refused(1, copy(here, there, 16, CopyKind::Inferred));
        let moved = in_a_row([fill(there, 4, 1), copy(here, here + 32, 16, CopyKind::Inferred)]);
        let refusal = exec.update(&moved.0).unwrap_err();
        assert!(refusal.to_string().contains("memory of another device"), "{refusal}");
        assert_eq!((refusal.reason, refusal.node), (Reason::Parameters, Some(moved.1[0])));
    });
}

/// Updates an executable of a few nodes so many times, launching now and then, and says what that left behind.
fn many_whole_updates(updates: u32) {
    let (stream, log) = (stream(), Log::new(updates as usize));
    let templates: Vec<_> = (0..4)
        .map(|n| in_a_row((0..4).map(|value| Node::Kernel(kernel_node(&log, 4 * n + value)))).0)
        .collect();
    let exec = Exec::new(&templates[0], Options::default()).unwrap();
    let update = |n: u32| {
        exec.update(&templates[n as usize % 4]).unwrap();
        if n.is_multiple_of(64) {
            exec.launch(&stream).unwrap();
        }
        if n.is_multiple_of(1024) {
            stream.synchronize().unwrap();
        }
    };
    (0..4096).for_each(update);
    stream.synchronize().unwrap();
    let (reserved, _) = device().kernarg_bytes();
    (4096..updates).for_each(update);
    stream.synchronize().unwrap();
    let after = device().kernarg_bytes();
    assert_eq!(after.0, reserved, "bytes of memory for kernel arguments");
    // Of the launches that nobody has looked at since they ended some arguments may be held; each update has 256 bytes.
    assert!(after.1 <= 64 << 10, "{} bytes of kernel arguments after {updates} updates", after.1);
}

#[test]
fn memory_stays_where_it_was_over_many_updates() {
    many_whole_updates(20_000);
}

#[test]
#[ignore = "a minute on a small machine"]
fn memory_stays_where_it_was_over_a_hundred_thousand_updates() {
    many_whole_updates(100_000);
}
