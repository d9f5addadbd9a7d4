//! Rules of the template, against a plain model and on sizes that would break recursion.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::flatten::flatten;
use super::*;

type TestGraph = Graph<u32, u32, ()>;

fn host() -> Node<u32, u32, ()> {
    Node::Host(HostFn::new(|| ()))
}

fn chain(len: usize) -> (TestGraph, Vec<NodeId>) {
    let mut graph = TestGraph::new();
    let mut ids: Vec<NodeId> = Vec::new();
    for _ in 0..len {
        let dependencies: Vec<NodeId> = ids.last().copied().into_iter().collect();
        ids.push(graph.add(Node::EventRecord(7), &dependencies).unwrap());
    }
    (graph, ids)
}

#[test]
fn queries_answer_in_insertion_order() {
    let mut graph = TestGraph::new();
    let [a, b, c, d] = std::array::from_fn(|_| graph.add(Node::Empty, &[]).unwrap());
    graph.add_dependencies([(c, d), (a, d), (b, d), (b, c), (b, a)]).unwrap();
    let topology = graph.topology();
    assert_eq!(topology.nodes().collect::<Vec<_>>(), [a, b, c, d]);
    assert_eq!(topology.roots().collect::<Vec<_>>(), [b]);
    assert_eq!(topology.edges().collect::<Vec<_>>(), [(c, d), (a, d), (b, d), (b, c), (b, a)]);
    assert_eq!(topology.dependencies(d).unwrap().collect::<Vec<_>>(), [c, a, b]);
    assert_eq!(topology.dependents(b).unwrap().collect::<Vec<_>>(), [d, c, a]);
    assert_eq!(topology.dependents(b).unwrap().len(), 3);
    assert_eq!(topology.order().unwrap(), [b, c, a, d]);
}

#[test]
fn a_refused_edit_leaves_the_graph_unchanged() {
    let (mut graph, ids) = chain(3);
    let other = TestGraph::new().add(Node::Empty, &[]).unwrap();
    let edges = |graph: &TestGraph| graph.topology().edges().collect::<Vec<_>>();
    let before = edges(&graph);
    let (a, b, c) = (ids[0], ids[1], ids[2]);

    let next = graph.next_id();
    assert_eq!(graph.add(host(), &[a, b, a]).unwrap_err(), Error::DuplicateEdge { from: a, to: next });
    assert_eq!(graph.add(host(), &[a, other]).unwrap_err(), Error::ForeignNode(other));
    assert_eq!(graph.add(host(), &[next]).unwrap_err(), Error::UnknownNode(next));
    assert_eq!(graph.add_dependencies([(a, c), (b, b)]).unwrap_err(), Error::SelfEdge(b));
    assert_eq!(
        graph.add_dependencies([(a, c), (a, b)]).unwrap_err(),
        Error::DuplicateEdge { from: a, to: b }
    );
    assert_eq!(
        graph.add_dependencies([(a, c), (a, c)]).unwrap_err(),
        Error::DuplicateEdge { from: a, to: c }
    );
    assert_eq!(
        graph.remove_dependencies([(a, b), (a, c)]).unwrap_err(),
        Error::MissingEdge { from: a, to: c }
    );
    assert_eq!(
        graph.remove_dependencies([(a, b), (a, b)]).unwrap_err(),
        Error::MissingEdge { from: a, to: b }
    );
    assert_eq!(
        graph.set(a, Node::Empty).unwrap_err(),
        Error::KindMismatch { node: a, expected: NodeKind::EventRecord, found: NodeKind::Empty }
    );

    assert_eq!(edges(&graph), before);
    assert_eq!(graph.topology().node_count(), 3);
    assert_eq!(graph.add(host(), &[c]).unwrap(), next);
}

#[test]
fn a_removed_node_is_unknown_and_its_id_is_not_reused() {
    let (mut graph, ids) = chain(3);
    graph.remove(ids[1]).unwrap();
    assert_eq!(graph.node(ids[1]).unwrap_err(), Error::UnknownNode(ids[1]));
    assert_eq!(graph.remove(ids[1]).unwrap_err(), Error::UnknownNode(ids[1]));
    assert_eq!(graph.topology().edge_count(), 0);
    assert!(!ids.contains(&graph.add(host(), &[]).unwrap()));
}

#[test]
fn a_cycle_is_accepted_as_edges_and_named_by_the_order() {
    let (mut graph, ids) = chain(5);
    graph.add_dependencies([(ids[3], ids[1])]).unwrap();
    let Err(Error::Cycle(node)) = graph.topology().order() else { panic!("no cycle found") };
    assert!(ids[1..=3].contains(&node));
    let Err(Error::Cycle(node)) = flatten(&graph, |_, _| true).map(|_| ()) else { panic!("no cycle found") };
    assert!(ids[1..=3].contains(&node));

    let mut outer = TestGraph::new();
    let before = outer.add(host(), &[]).unwrap();
    let child = outer.add_child(&graph, &[before]).unwrap();
    outer.add(host(), &[child]).unwrap();
    let Err(Error::Cycle(node)) = flatten(&outer, |_, _| true).map(|_| ()) else { panic!("no cycle found") };
    assert_eq!(node.graph(), outer.child(child).unwrap().id());
}

#[test]
fn a_clone_maps_the_nodes_that_existed_when_it_was_made() {
    let (mut original, ids) = chain(4);
    original.remove(ids[0]).unwrap();
    let mut copy = original.clone();
    let late = original.add(host(), &[]).unwrap();
    let own = copy.add(host(), &[]).unwrap();
    assert_eq!(copy.counterpart(late).unwrap_err(), Error::UnknownNode(late));
    assert_eq!(copy.counterpart(ids[0]).unwrap_err(), Error::UnknownNode(ids[0]));
    assert_eq!(copy.counterpart(own).unwrap_err(), Error::ForeignNode(own));
    let mapped = copy.counterpart(ids[2]).unwrap();
    assert_eq!(mapped.graph(), copy.id());
    copy.remove(mapped).unwrap();
    assert_eq!(copy.counterpart(ids[2]).unwrap_err(), Error::UnknownNode(ids[2]));
    assert!(original.node(ids[2]).is_ok());
}

#[test]
fn graphs_of_one_shape_are_paired_by_insertion_order() {
    let (mut first, ids) = chain(4);
    first.remove(ids[0]).unwrap();
    let (mut second, others) = chain(3);
    first.add_dependencies([(ids[1], ids[3])]).unwrap();
    assert_eq!(first.topology().pair(second.topology()), Err(Mismatch::Dependencies(others[2])));
    // The same edges in another order.
    second.remove_dependencies([(others[1], others[2])]).unwrap();
    second.add_dependencies([(others[0], others[2]), (others[1], others[2])]).unwrap();
    let pairs: Vec<_> = ids[1..].iter().copied().zip(others.iter().copied()).collect();
    assert_eq!(first.topology().pair(second.topology()), Ok(pairs));
    second.add(host(), &[]).unwrap();
    assert_eq!(first.topology().pair(second.topology()), Err(Mismatch::NodeCount));
}

#[test]
fn a_child_graph_is_a_copy() {
    let (mut inner, ids) = chain(2);
    let mut outer = TestGraph::new();
    let child = outer.add_child(&inner, &[]).unwrap();
    inner.remove(ids[0]).unwrap();
    assert_eq!(outer.child(child).unwrap().topology().node_count(), 2);
    let embedded = outer.child(child).unwrap().counterpart(ids[0]).unwrap();
    outer.descendant_mut(&[child]).unwrap().remove(embedded).unwrap();
    assert_eq!(outer.descendant(&[child]).unwrap().topology().node_count(), 1);
    let plain = outer.add(Node::Empty, &[]).unwrap();
    assert!(matches!(outer.child(plain), Err(Error::KindMismatch { found: NodeKind::Empty, .. })));
}

#[test]
fn deep_nesting_is_cloned_flattened_and_dropped_without_recursion() {
    let mut graph = TestGraph::new();
    graph.add(host(), &[]).unwrap();
    for _ in 0..200_000 {
        let mut outer = TestGraph::new();
        outer.add(Node::Child(Box::new(graph)), &[]).unwrap();
        graph = outer;
    }
    let copy = graph.clone();
    let flat = flatten(&copy, |_, _| true).unwrap();
    assert_eq!(flat.graph.len(), 1);
    assert_eq!(flat.graph.path(0).len(), 200_001);
}

#[test]
fn a_million_node_chain_orders_and_flattens() {
    let (graph, ids) = chain(1_000_000);
    assert_eq!(graph.topology().order().unwrap(), ids);
    assert_eq!(flatten(&graph, |_, _| true).unwrap().graph.len(), 1_000_000);
}

#[test]
fn edges_between_busy_nodes_are_found_through_the_index() {
    let mut graph = TestGraph::new();
    let left: Vec<NodeId> = (0..300).map(|_| graph.add(Node::Empty, &[]).unwrap()).collect();
    let right: Vec<NodeId> = (0..300).map(|_| graph.add(Node::Empty, &left).unwrap()).collect();
    assert_eq!(graph.topology().edge_count(), 90_000);
    let error = Error::DuplicateEdge { from: left[150], to: right[150] };
    assert_eq!(graph.add_dependencies([(left[150], right[150])]).unwrap_err(), error);
    graph.remove_dependencies([(left[150], right[150])]).unwrap();
    graph.add_dependencies([(left[150], right[150])]).unwrap();
    graph.remove_dependencies(left.iter().flat_map(|&a| right.iter().map(move |&b| (a, b)))).unwrap();
    assert_eq!(graph.topology().edge_count(), 0);
    graph.add_dependencies([(left[0], right[0])]).unwrap();
}

#[test]
fn disabled_nodes_pass_their_order_on() {
    let (graph, ids) = chain(5);
    let flat = flatten(&graph, |node, _| node != ids[2]).unwrap();
    assert_eq!(flat.graph.len(), 4);
    assert_eq!(flat.graph.find(ids[2]), None);
    assert_eq!(flat.graph.find(ids[3]), Some(2));
    assert_eq!(flat.graph.preds().row(2), [1]);
    assert_eq!(flat.graph.succs().row(1), [2]);
}

#[test]
fn a_wide_empty_node_stays_as_a_join() {
    let mut graph = TestGraph::new();
    let before: Vec<NodeId> = (0..50).map(|_| graph.add(host(), &[]).unwrap()).collect();
    let middle = graph.add(Node::Empty, &before).unwrap();
    for _ in 0..50 {
        graph.add(host(), &[middle]).unwrap();
    }
    // Nothing runs after this one: it vanishes however wide it is.
    graph.add(Node::Empty, &before).unwrap();
    let flat = flatten(&graph, |_, _| true).unwrap();
    assert_eq!(flat.graph.len(), 101);
    assert_eq!(flat.graph.preds().entries(), 100);
    let join = flat.graph.find(middle).unwrap();
    assert!(flat.graph.nodes()[join as usize].is_join());
    assert!(flat.work[join as usize].is_none());
}

#[test]
fn child_graphs_stand_between_their_neighbours() {
    let (inner, ids) = chain(2);
    let mut outer = TestGraph::new();
    let before = outer.add(host(), &[]).unwrap();
    let child = outer.add_child(&inner, &[before]).unwrap();
    let hollow = outer.add_child(&TestGraph::new(), &[child]).unwrap();
    let after = outer.add(host(), &[hollow]).unwrap();
    let flat = flatten(&outer, |_, _| true).unwrap().graph;
    let nested: Vec<NodeId> =
        ids.iter().map(|&id| outer.child(child).unwrap().counterpart(id).unwrap()).collect();
    let origins: Vec<NodeId> = flat.nodes().iter().map(|node| node.origin).collect();
    assert_eq!(origins, [before, nested[0], nested[1], after]);
    assert_eq!(flat.preds().pairs().collect::<Vec<_>>(), [(1, 0), (2, 1), (3, 2)]);
    assert_eq!(flat.path(2), [child, nested[1]]);
    assert_eq!(flat.find(nested[1]), Some(2));
}

#[derive(Debug, Clone)]
enum Edit {
    Add(Vec<usize>),
    Link(usize, usize),
    Unlink(usize),
    Remove(usize),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        4 => prop::collection::vec(any::<usize>(), 0..4).prop_map(Edit::Add),
        4 => (any::<usize>(), any::<usize>()).prop_map(|(from, to)| Edit::Link(from, to)),
        2 => any::<usize>().prop_map(Edit::Unlink),
        3 => any::<usize>().prop_map(Edit::Remove),
    ];
    prop::collection::vec(edit, 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn edits_agree_with_a_plain_model(edits in edits()) {
        let mut graph = TestGraph::new();
        let mut nodes: Vec<NodeId> = Vec::new();
        let mut edges: Vec<(NodeId, NodeId)> = Vec::new();
        let mut labels = BTreeMap::new();
        for (step, edit) in edits.into_iter().enumerate() {
            match edit {
                Edit::Add(picks) => {
                    let picks: BTreeSet<NodeId> =
                        picks.iter().filter_map(|pick| nodes.get(pick % nodes.len().max(1)).copied()).collect();
                    let picks: Vec<NodeId> = picks.into_iter().collect();
                    let id = graph.add(Node::EventRecord(step as u32), &picks).unwrap();
                    edges.extend(picks.iter().map(|&from| (from, id)));
                    nodes.push(id);
                    labels.insert(id, step as u32);
                }
                Edit::Link(from, to) if !nodes.is_empty() => {
                    let edge = (nodes[from % nodes.len()], nodes[to % nodes.len()]);
                    let expected = edge.0 != edge.1 && !edges.contains(&edge);
                    prop_assert_eq!(graph.add_dependencies([edge]).is_ok(), expected);
                    if expected {
                        edges.push(edge);
                    }
                }
                Edit::Unlink(pick) if !edges.is_empty() => {
                    let edge = edges.remove(pick % edges.len());
                    graph.remove_dependencies([edge]).unwrap();
                    prop_assert!(graph.remove_dependencies([edge]).is_err());
                }
                Edit::Remove(pick) if !nodes.is_empty() => {
                    let node = nodes.remove(pick % nodes.len());
                    graph.remove(node).unwrap();
                    edges.retain(|&(from, to)| from != node && to != node);
                }
                _ => {}
            }
        }
        for graph in [&graph, &graph.clone()] {
            let here = |id: NodeId| graph.counterpart(id).unwrap_or(id);
            let topology = graph.topology();
            prop_assert!(topology.nodes().eq(nodes.iter().map(|&id| here(id))));
            prop_assert!(topology.edges().eq(edges.iter().map(|&(from, to)| (here(from), here(to)))));
            for &id in &nodes {
                prop_assert!(matches!(graph.node(here(id)), Ok(Node::EventRecord(label)) if *label == labels[&id]));
                let into = edges.iter().filter(|edge| edge.1 == id).map(|edge| here(edge.0));
                prop_assert!(topology.dependencies(here(id)).unwrap().eq(into));
                let out = edges.iter().filter(|edge| edge.0 == id).map(|edge| here(edge.1));
                prop_assert!(topology.dependents(here(id)).unwrap().eq(out));
            }
            if let Ok(order) = topology.order() {
                let place: BTreeMap<NodeId, usize> = order.iter().zip(0..).map(|(&id, at)| (id, at)).collect();
                prop_assert!(edges.iter().all(|&(from, to)| place[&here(from)] < place[&here(to)]));
                prop_assert_eq!(place.len(), nodes.len());
            }
        }
    }

    /// Reachability between the nodes that do work is the same before and after flattening.
    #[test]
    fn flattening_keeps_reachability(
        size in 1usize..24,
        picks in prop::collection::vec((any::<usize>(), any::<usize>()), 0..80),
        empty in prop::collection::vec(any::<bool>(), 24),
        backwards in any::<bool>(),
    ) {
        let mut graph = TestGraph::new();
        let kind = |at: usize| if empty[at] { Node::Empty } else { host() };
        let ids: Vec<NodeId> = (0..size).map(|at| graph.add(kind(at), &[]).unwrap()).collect();
        let mut reach = vec![vec![false; size]; size];
        for (a, b) in picks {
            let (a, b) = (a % size, b % size);
            let (from, to) = if (a < b) != backwards { (a, b) } else { (b, a) };
            if graph.add_dependencies([(ids[from], ids[to])]).is_ok() {
                reach[from][to] = true;
            }
        }
        for via in 0..size {
            for from in 0..size {
                for to in 0..size {
                    reach[from][to] |= reach[from][via] && reach[via][to];
                }
            }
        }
        let flat = flatten(&graph, |_, _| true).unwrap().graph;
        prop_assert!(flat.preds().pairs().all(|(to, from)| from < to));
        prop_assert!(flat.preds().entries() <= graph.topology().edge_count());
        let mut after = vec![vec![false; flat.len()]; flat.len()];
        for to in 0..flat.len() as u32 {
            for &from in flat.preds().row(to) {
                for row in &mut after[..=from as usize] {
                    row[to as usize] |= row[from as usize];
                }
                after[from as usize][to as usize] = true;
            }
        }
        for (from, to) in (0..size).flat_map(|from| (0..size).map(move |to| (from, to))) {
            if !empty[from] && !empty[to] {
                let [a, b] = [from, to].map(|at| flat.find(ids[at]).unwrap() as usize);
                prop_assert_eq!(after[a][b], reach[from][to]);
            }
        }
        for (at, &id) in ids.iter().enumerate() {
            prop_assert!(empty[at] || flat.find(id).is_some());
        }
    }
}
