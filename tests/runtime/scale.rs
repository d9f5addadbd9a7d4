//! Large graphs: what is done with them takes time and memory in proportion, and no recursion.

use aqlipse::{
    Exec, Options, Template,
    graph::{Graph, Memset, Node, NodeId, dot::Detail},
};

use super::*;

/// A chain of `len` nodes on `data`, of which one in `kernels` fills a word and the others are empty.
fn chain(data: &DeviceBuffer<u32>, len: usize, kernels: usize, value: u32) -> Template {
    let mut template = Template::new(&device());
    let mut last: Option<NodeId> = None;
    for n in 0..len {
        let node = if n % kernels == 0 {
            let dst = data.slice().address();
            Node::Memset(Memset {
                dst,
                pitch: 4,
                value: u64::from(value) + n as u64,
                element_size: 4,
                width: 1,
                height: 1,
            })
        } else {
            Node::Empty
        };
        last = Some(template.graph_mut().add(node, last.as_slice()).unwrap());
    }
    template
}

/// Builds, copies, prints, instantiates, launches, updates and destroys a chain.
fn whole_life_of_a_chain(len: usize, kernels: usize) {
    let (stream, data) = (stream(), buffer(&[0]));
    let template = chain(&data, len, kernels, 0);
    let copy = template.try_clone().unwrap();
    assert_eq!(copy.graph().topology().node_count(), len);
    drop(template);
    assert_eq!(copy.dot(Detail::NONE).lines().count(), 6 + len + (len - 1) + 2);
    let exec = Exec::new(&copy, Options::default()).unwrap();
    // A fill is a dispatch of 64 bytes with some arguments; empty nodes are gone.
    let runs = len.div_ceil(kernels);
    assert_eq!(exec.report().kernel_packets, runs);
    assert!(exec.report().exec_bytes < 1024 * runs + 128 * len, "{:?}", exec.report());
    exec.launch(&stream).unwrap();
    let last = ((runs - 1) * kernels) as u32;
    assert_eq!(data.read(&stream).unwrap(), [last]);
    exec.update(&chain(&data, len, kernels, 7)).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(data.read(&stream).unwrap(), [last + 7]);
}

#[test]
fn a_long_chain_lives_its_whole_life() {
    whole_life_of_a_chain(100_000, 50);
}

#[test]
#[ignore = "ten seconds and more"]
fn a_chain_of_a_million_nodes_lives_its_whole_life() {
    whole_life_of_a_chain(1_000_000, 4);
}

/// Layers of nodes of which each depends on all of the layer before.
fn layers(layers: usize, width: usize) -> Template {
    let mut template = Template::new(&device());
    let mut before: Vec<NodeId> = Vec::new();
    for _ in 0..layers {
        before = (0..width)
            .map(|_| {
                let node = Node::Host(aqlipse::graph::HostFn::new(|| ()));
                template.graph_mut().add(node, &before).unwrap()
            })
            .collect();
    }
    template
}

fn many_edges(nodes: usize) {
    let width = 10;
    let template = layers(nodes / width, width);
    let edges = (nodes / width - 1) * width * width;
    assert_eq!(template.graph().topology().edge_count(), edges);
    let exec = Exec::new(&template, Options::default()).unwrap();
    exec.update(&template.try_clone().unwrap()).unwrap();
    // What an executable holds is in proportion to nodes and edges.
    assert!(exec.report().exec_bytes < 600 * nodes + 40 * edges, "{:?}", exec.report());
}

#[test]
fn a_graph_with_ten_times_more_edges_than_nodes_is_instantiated() {
    many_edges(20_000);
}

#[test]
#[ignore = "ten seconds and more"]
fn a_graph_of_a_million_edges_is_instantiated() {
    many_edges(100_000);
}

/// A fill inside `depth` child graphs.
fn nested(data: &DeviceBuffer<u32>, depth: usize, value: u32) -> Template {
    let dst = data.slice().address();
    let mut graph: Graph = Graph::new();
    let set = Memset { dst, pitch: 4, value: value.into(), element_size: 4, width: 1, height: 1 };
    graph.add(Node::Memset(set), &[]).unwrap();
    for _ in 0..depth {
        let mut outer = Graph::new();
        outer.add(Node::Child(Box::new(graph)), &[]).unwrap();
        graph = outer;
    }
    let mut template = Template::new(&device());
    *template.graph_mut() = graph;
    template
}

#[test]
fn deep_nesting_lives_its_whole_life_without_recursion() {
    let (stream, data) = (stream(), buffer(&[0]));
    // On a stack that one frame for each level would overflow.
    std::thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(move || {
            const DEPTH: usize = 100_000;
            let template = nested(&data, DEPTH, 1);
            let copy = template.try_clone().unwrap();
            drop(template);
            assert_eq!(copy.dot(Detail::VERBOSE).matches("subgraph").count(), DEPTH + 1);
            let exec = Exec::new(&copy, Options::default()).unwrap();
            exec.launch(&stream).unwrap();
            assert_eq!(data.read(&stream).unwrap(), [1]);
            exec.update(&nested(&data, DEPTH, 2)).unwrap();
            exec.launch(&stream).unwrap();
            assert_eq!(data.read(&stream).unwrap(), [2]);
            let refusal = exec.update(&nested(&data, DEPTH - 1, 3)).unwrap_err();
            let node = copy.graph().topology().nodes().next().unwrap();
            assert!(refusal.node.is_some_and(|named| named != node), "the new graph's node is named");
            let inner = copy.graph().child(node).unwrap().topology().nodes().next().unwrap();
            exec.update_child(inner, &nested(&data, DEPTH - 2, 4)).unwrap();
            exec.launch(&stream).unwrap();
            assert_eq!(data.read(&stream).unwrap(), [4]);
            drop((exec, copy));
        })
        .unwrap()
        .join()
        .unwrap();
}
