//! Which units use the memory of allocation nodes, from where to where.

use std::collections::{BTreeMap, HashMap};

use super::{CompileError, Units};
use crate::{
    memory::order::{Buffer, at_once},
    schedule::{Class, Problem, memory::Allocation},
    template::{FlatGraph, Graph, GraphId, MemAlloc, Node, NodeId, flatten::flatten},
};

/// Whether a node allocates or frees memory of the graph: to a launch, that is only order.
pub fn is_memory<K, E, S>(node: &Node<K, E, S>) -> bool {
    matches!(node, Node::MemAlloc(_) | Node::MemFree(_))
}

/// Whether the graph, or one nested in it, allocates or frees memory.
pub fn has_any<K, E, S>(graph: &Graph<K, E, S>) -> bool {
    let mut nodes = graph.with_nested().into_iter().flat_map(Graph::nodes);
    nodes.any(|(_, node)| is_memory(node))
}

/// The allocation nodes of a graph, and the allocations with their users by unit. `flat` is the graph without its memory
/// nodes. Behind them come allocations for what bodies of conditional nodes allocate; `bodies` says which flat node is
/// around each graph.
///
/// # Errors
/// As for the graph without memory nodes.
pub fn of_units<K, E, S, T>(
    graph: &Graph<K, E, S>,
    flat: &FlatGraph,
    units: &Units<'_>,
    bodies: &HashMap<GraphId, u32>,
) -> Result<(Vec<NodeId>, Vec<Allocation>), CompileError<T>> {
    let whole = flatten(graph, |_, _| true)?;
    let nodes = whole.graph.nodes();
    // What memory nodes are next to, if they count as joins like all that does not run.
    let unit_of: Vec<Option<u32>> = nodes
        .iter()
        .map(|node| {
            let unit = *units.main.get(flat.find(node.origin)? as usize)?;
            let class = units.classes.get(unit as usize)?;
            (*class != Class::Join).then_some(unit)
        })
        .collect();
    let class = |unit: &Option<u32>| if unit.is_some() { Class::Packet } else { Class::Join };
    let classes: Vec<Class> = unit_of.iter().map(class).collect();
    let (preds, succs) = (whole.graph.preds(), whole.graph.succs());
    let costs = vec![0; nodes.len()];
    let problem = Problem::new(preds, &succs, &classes, &costs)?;
    let numbered = || (0u32..).zip(&whole.work);
    // An address may be given out again behind the node that frees it.
    let mut frees: HashMap<u64, Vec<u32>> = HashMap::new();
    for (at, node) in numbered() {
        if let Some(Node::MemFree(free)) = node {
            frees.entry(free.address).or_default().push(at);
        }
    }
    let allocation = |at: u32, alloc: &MemAlloc| {
        let frees = frees.get(&alloc.address).into_iter().flatten();
        let free = frees.copied().find(|&free| free > at);
        let mut found = Allocation::between(&problem, alloc.bytes, at, free);
        let users = found.first.iter_mut().chain(found.last.iter_mut().flatten());
        // What counts as a packet has a unit.
        users.for_each(|user| *user = unit_of[*user as usize].unwrap_or(*user));
        found
    };
    let found = numbered().filter_map(|(at, node)| match node {
        Some(Node::MemAlloc(alloc)) => Some((nodes[at as usize].origin, allocation(at, alloc))),
        _ => None,
    });
    let (nodes, mut allocations): (Vec<_>, Vec<_>) = found.unzip();
    allocations.extend(in_bodies(graph, units, bodies));
    Ok((nodes, allocations))
}

/// What bodies allocate, as if the conditional node around them used it from its start to its end: as much as they take
/// at once by their edges. They leave nothing allocated (docs/conditional-nodes.md).
fn in_bodies<'g, K, E, S>(
    graph: &'g Graph<K, E, S>,
    units: &Units<'_>,
    bodies: &HashMap<GraphId, u32>,
) -> impl Iterator<Item = Allocation> + use<'g, K, E, S> {
    let graphs = if bodies.is_empty() { Vec::new() } else { graph.with_nested() };
    let mut found: BTreeMap<u32, Vec<Buffer>> = BTreeMap::new();
    for graph in &graphs {
        let Some(&around) = bodies.get(&graph.id()) else { continue };
        let found = found.entry(units.main[around as usize]).or_default();
        // An address may be given out again behind the node that frees it.
        let mut open: HashMap<u64, (NodeId, u64)> = HashMap::new();
        for (node, work) in graph.nodes() {
            match work {
                Node::MemAlloc(alloc) => {
                    open.insert(alloc.address, (node, alloc.bytes));
                }
                Node::MemFree(free) => {
                    let ended = open.remove(&free.address);
                    found.extend(ended.map(|(begin, bytes)| ((begin, node), bytes)));
                }
                _ => {}
            }
        }
    }
    found.into_iter().map(move |(unit, buffers)| Allocation {
        bytes: at_once(&buffers, &graphs),
        first: vec![unit],
        last: Some(vec![unit]),
    })
}
