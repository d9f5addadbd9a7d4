//! Explicit graphs of every node kind.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use aqlipse::{
    Error, Event, Exec, Options, Template,
    graph::{CopyKind, HostFn, Memcpy, Memset, Node as Work},
    typed::{Graph, HostBuffer},
};

use super::{dags::entangled, *};

#[test]
fn a_graph_of_every_kind_runs_as_often_as_it_is_launched() {
    let (stream, device) = (stream(), device());
    let (input, output) =
        (HostBuffer::new(&device, 64, 5u32).unwrap(), HostBuffer::new(&device, 64, 0u32).unwrap());
    let (kept, sum) = (buffer(&[0; 64]), Arc::new(AtomicU32::new(0)));
    let mut child = Graph::new(&device);
    child.kernel(&affine(&kept, 1, 1), &[]).unwrap();

    let mut graph = Graph::new(&device);
    let (alloc, memory) = graph.allocate::<u32>(64, &[]).unwrap();
    let fill = graph.fill(memory, 0xff, &[alloc]).unwrap();
    let upload = graph.upload(memory, &input, &[fill]).unwrap();
    let download = graph.download(&output, memory, &[upload]).unwrap();
    let free = graph.free(memory, &[download]).unwrap();
    let (read, total) = (output.clone(), sum.clone());
    let host = move || {
        total.fetch_add(read.to_vec().iter().sum::<u32>(), Ordering::Relaxed);
    };
    let host = graph.host(host, &[download]).unwrap();
    let nested = graph.child(&child, &[host]).unwrap();
    let end = graph.empty(&[nested, free]).unwrap();
    graph.kernel(&affine(&kept, 2, 0), &[end]).unwrap();
    assert_eq!(graph.size(), (9, 9));

    let exec = graph.instantiate().unwrap();
    for _ in 0..4 {
        exec.launch(&stream).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(sum.load(Ordering::Relaxed), 4 * 64 * 5);
    assert_eq!(kept.read(&stream).unwrap(), [2 + 4 + 8 + 16; 64]);
}

#[test]
fn a_child_graph_is_copied_when_it_is_added() {
    let (stream, log) = (stream(), Log::new(9));
    let mut child = Graph::new(&device());
    child.kernel(&log.append(1), &[]).unwrap();
    let mut graph = Graph::new(&device());
    let first = graph.child(&child, &[]).unwrap();
    child.kernel(&log.append(7), &[]).unwrap();
    graph.kernel(&log.append(2), &[first]).unwrap();
    graph.instantiate().unwrap().launch(&stream).unwrap();
    assert_eq!(log.entries(), [1, 2]);
}

#[test]
fn an_empty_graph_completes() {
    let stream = stream();
    for nodes in 0..3 {
        let mut graph = Graph::new(&device());
        let mut after = Vec::new();
        for _ in 0..nodes {
            after = vec![graph.empty(&after).unwrap()];
        }
        let exec = graph.instantiate().unwrap();
        let gate = Gate::on(&stream);
        exec.launch(&stream).unwrap();
        exec.launch(&stream).unwrap();
        assert_eq!(stream.is_idle(), Ok(false));
        gate.open();
        stream.synchronize().unwrap();
    }
}

#[test]
fn what_follows_a_graph_on_its_stream_waits_for_all_of_it() {
    let (stream, log) = (stream(), Log::new(99));
    for lanes in 1..=4 {
        let mut graph = Graph::new(&device());
        let roots: Vec<_> = (0..6).map(|_| graph.kernel(&log.append(1), &[]).unwrap()).collect();
        graph.host(|| std::thread::sleep(Duration::from_millis(5)), &roots[..2]).unwrap();
        graph.instantiate_with(entangled(lanes)).unwrap().launch(&stream).unwrap();
        stream.run(&log.append(2)).unwrap();
    }
    assert_eq!(log.entries(), [[1, 1, 1, 1, 1, 1, 2]; 4].concat());
}

#[test]
fn a_graph_waits_for_what_its_stream_waits_for() {
    let (stream, other, log) = (stream(), super::stream(), Log::new(99));
    for lanes in 1..=4 {
        let event = Event::new(false);
        let gate = Gate::on(&other);
        other.run(&log.append(1)).unwrap();
        other.record_event(&event).unwrap();
        stream.wait(&event).unwrap();
        let mut graph = Graph::new(&device());
        for _ in 0..8 {
            graph.kernel(&log.append(2), &[]).unwrap();
        }
        graph.instantiate_with(entangled(lanes)).unwrap().launch(&stream).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        gate.open();
        stream.synchronize().unwrap();
    }
    assert_eq!(log.entries(), [[1, 2, 2, 2, 2, 2, 2, 2, 2]; 4].concat());
}

#[test]
fn host_only_copies_are_made_in_order() {
    let stream = stream();
    let (from, to, back) = (vec![3u8; 100], vec![0u8; 100], vec![0u8; 100]);
    let copy = |dst: &[u8], src: &[u8]| {
        let (dst, src) = (dst.as_ptr() as u64, src.as_ptr() as u64);
        Work::Memcpy(Memcpy::Linear { dst, src, bytes: 100, kind: CopyKind::HostToHost })
    };
    let mut template = Template::new(&device());
    let first = template.add(copy(&to, &from), &[]).unwrap();
    template.add(copy(&back, &to), &[first]).unwrap();
    Exec::new(&template, Options::default()).unwrap().launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!((to, back), (vec![3; 100], vec![3; 100]));
}

#[test]
fn bad_graphs_are_refused() {
    let (mut graph, mut other) = (Graph::new(&device()), Graph::new(&device()));
    let (a, foreign) = (graph.empty(&[]).unwrap(), other.empty(&[]).unwrap());
    let b = graph.empty(&[a]).unwrap();
    assert!(matches!(graph.empty(&[foreign]), Err(Error::Graph(_))));
    assert!(matches!(graph.edge(a, b), Err(Error::Graph(_))), "the edge exists");
    assert!(matches!(graph.edge(a, a), Err(Error::Graph(_))));
    assert_eq!(graph.size(), (2, 1), "refused calls change nothing");
    graph.edge(b, a).unwrap();
    assert!(matches!(graph.instantiate().map(drop), Err(Error::Graph(_))), "a cycle");
    let (_, memory) = other.allocate::<u32>(8, &[]).unwrap();
    other.free(memory, &[]).unwrap();
    assert!(matches!(graph.free(memory, &[]), Err(Error::InvalidValue(_))), "its own graph frees it");
    assert!(matches!(other.free(memory, &[]), Err(Error::InvalidValue(_))), "freed twice");
    assert!(matches!(graph.child(&other, &[]), Err(Error::NotSupported(_))), "a child that allocates");
    assert!(matches!(other.allocate::<u64>(usize::MAX, &[]), Err(Error::OutOfMemory { .. })));
    assert!(matches!(other.allocate::<u8>(usize::MAX, &[]), Err(Error::OutOfMemory { .. })));
}

#[test]
fn nodes_with_bad_parameters_are_refused_when_the_graph_is_compiled() {
    let instantiate = |work| {
        let mut template = Template::new(&device());
        template.add(work, &[]).and_then(|_| Exec::new(&template, Options::default())).map(drop)
    };
    let data = buffer(&[0; 8]);
    let set =
        |width| Memset { dst: data.slice().address(), pitch: 0, value: 0, element_size: 4, width, height: 1 };
    assert_eq!(instantiate(Work::Memset(set(8))), Ok(()));
    assert!(instantiate(Work::Memset(set(9))).is_err());
    assert!(instantiate(Work::Memcpy(Memcpy::linear(0, data.slice().address(), 4))).is_err());
    let alloc = aqlipse::graph::MemAlloc { address: 4096, bytes: 8, device: 0 };
    assert!(instantiate(Work::MemAlloc(alloc)).is_err(), "an allocation that owns nothing");
    assert_eq!(instantiate(Work::Host(HostFn::new(|| ()))), Ok(()));
}

#[test]
fn kernels_are_launched_within_their_limits_only() {
    let (k, device, data) = (kernels(), device(), buffer(&[0; 8]));
    let arguments: [&dyn Argument; 4] = [&data, &8u32, &1u32, &1u32];
    let launch = |grid, block, shared| k.affine.launch(&device, grid, block, shared, &arguments).map(drop);
    assert_eq!(launch([1; 3], [256, 1, 1], 0), Ok(()));
    for (grid, block, shared) in [
        ([0, 1, 1], [1, 1, 1], 0),
        ([1, 1, 1], [1, 0, 1], 0),
        ([1, 1, 1], [257, 1, 1], 0),
        ([1, 1, 1], [1 << 31, 4, 1], 0),
        ([1 << 31, 1, 1], [2, 1, 1], 0),
        ([1, 1, 1], [1, 1, 1], 65 * 1024),
    ] {
        assert!(matches!(launch(grid, block, shared), Err(Error::InvalidConfiguration(_))));
    }
    let with = |arguments: &[&dyn Argument]| k.affine.launch(&device, [1; 3], [1; 3], 0, arguments).map(drop);
    assert!(matches!(with(&arguments[..3]), Err(Error::InvalidValue(_))));
    assert!(matches!(with(&[&data, &8u64, &1u32, &1u32]), Err(Error::InvalidValue(_))));
    assert!(matches!(with(&[&data, &8u32, &1u32, &1u32, &1u32]), Err(Error::InvalidValue(_))));
}

#[test]
fn the_report_counts_the_bytes_of_each_node() {
    let data = buffer(&[1; 64]);
    let chain = |nodes: usize| {
        let mut graph = Graph::new(&device());
        let mut last = Vec::new();
        for _ in 0..nodes {
            last = vec![graph.kernel(&affine(&data, 2, 1), &last).unwrap()];
        }
        graph.instantiate().unwrap().report().exec_bytes
    };
    let each = (chain(1010) - chain(10)) / 1000;
    // A packet and the kernel's arguments at least; less than what other runtimes take.
    assert!((64 + 20..1024).contains(&each), "{each} bytes a node");
}

#[test]
fn a_change_inside_a_child_graph_is_a_change_of_the_graph_around_it() {
    let stream = stream();
    let seen = Arc::new(AtomicU32::new(0));
    let adds = |n: u32| {
        let seen = seen.clone();
        Work::Host(HostFn::new(move || {
            seen.fetch_add(n, Ordering::Relaxed);
        }))
    };
    let (mut inner, mut outer) = (Template::new(&device()), Template::new(&device()));
    let first = inner.add(adds(1), &[]).unwrap();
    let child = outer.add_child(&inner, &[]).unwrap();
    let nested = outer.at(&[child]).unwrap().graph().counterpart(first).unwrap();
    outer.at(&[child]).unwrap().add(adds(10), &[nested]).unwrap();
    let before = Exec::new(&outer, Options::default()).unwrap();
    outer.at(&[child]).unwrap().graph_mut().set(nested, adds(100)).unwrap();
    let after = Exec::new(&outer, Options::default()).unwrap();
    // Of the graph that was added, nothing has changed; a copy of the nested one has its nodes.
    assert_eq!(inner.graph().topology().node_count(), 1);
    let copy = outer.at(&[child]).unwrap().snapshot().unwrap();
    assert!(copy.graph().topology().contains(nested));
    let copy = Exec::new(&copy, Options::default()).unwrap();
    for (exec, sum) in [(before, 11), (after, 110), (copy, 110)] {
        seen.store(0, Ordering::Relaxed);
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(seen.load(Ordering::Relaxed), sum);
    }
    let refused = outer.at(&[child]).unwrap().add_allocation(&device(), 64, &[]);
    assert!(matches!(refused, Err(Error::NotSupported(_))));
    outer.remove(child).unwrap();
    assert!(matches!(outer.at(&[child]), Err(Error::Graph(_))));
}
