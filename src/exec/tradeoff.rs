//! Plans for less time or for fewer bytes: what the caller wants, and which memory the graph uses from where to where.

#![forbid(unsafe_code)]

use std::{
    collections::{BTreeMap, HashMap},
    env,
    sync::OnceLock,
};

use super::{Options, units::Units};
use crate::{
    error::{Error, Result},
    graph::{FlatGraph, GraphId, MemAlloc, Node, NodeId, flatten},
    pool::order::{Buffer, at_once},
    schedule::{
        Class, Problem,
        memory::{Allocation, Goal},
    },
    template::Template,
};

/// What plans should be good at where [`Options::memory`] does not say.
const VARIABLE: &str = "AQLIPSE_MEMORY";

/// What the plan should be good at; nothing if nobody says. The environment is looked at once.
///
/// # Errors
/// [`Error::NotInitialized`] that says what the variable may hold.
pub(super) fn goal(options: &Options) -> Result<Option<Goal>> {
    static GOAL: OnceLock<Result<Option<Goal>>> = OnceLock::new();
    if options.memory.is_some() {
        return Ok(options.memory);
    }
    GOAL.get_or_init(|| env::var_os(VARIABLE).map(|text| read(&text.to_string_lossy())).transpose()).clone()
}

fn read(text: &str) -> Result<Goal> {
    text.parse().map_err(|error| Error::NotInitialized(format!("{VARIABLE}: {error}")))
}

/// The allocation nodes of a graph, and the allocations with their users by unit. `flat` is the graph without its memory
/// nodes. Behind them come allocations for what bodies of conditional nodes allocate; `bodies` says which flat node is
/// around each graph.
///
/// # Errors
/// [`Error::Graph`] as for the graph without memory nodes.
pub(super) fn allocations(
    template: &Template,
    flat: &FlatGraph,
    units: &Units,
    bodies: &HashMap<GraphId, u32>,
) -> Result<(Vec<NodeId>, Vec<Allocation>)> {
    let wrong = |error: String| Error::Graph(error);
    let whole = flatten::flatten(template.graph(), |_| true).map_err(|error| wrong(error.to_string()))?;
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
    let problem = Problem::new(preds, &succs, &classes, &costs).map_err(|error| wrong(error.to_string()))?;
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
    allocations.extend(in_bodies(template, units, bodies));
    Ok((nodes, allocations))
}

/// What bodies allocate, as if the conditional node around them used it from its start to its end: as much as they take
/// at once by their edges. They leave nothing allocated (docs/conditional-nodes.md).
fn in_bodies<'t>(
    template: &'t Template,
    units: &Units,
    bodies: &HashMap<GraphId, u32>,
) -> impl Iterator<Item = Allocation> + use<'t> {
    let graphs = if bodies.is_empty() { Vec::new() } else { template.graph().with_nested() };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_goal_names_the_variable_and_what_it_may_hold() {
        assert_eq!(read("2M"), Ok(Goal::Limit(2 << 20)));
        let Err(Error::NotInitialized(why)) = read("tiny") else { panic!("`tiny` is no goal") };
        assert!(["AQLIPSE_MEMORY", "`tiny`", "smallest"].iter().all(|part| why.contains(part)), "{why}");
    }
}
