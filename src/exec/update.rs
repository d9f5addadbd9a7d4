//! Giving a whole executable the parameters of another template of the same shape: all of them, or none.
//!
//! Everything is linear in the number of nodes. What can be refused is found out first, next to the executable;
//! taking it over cannot fail.

use std::{collections::HashMap, mem, ops::Range, sync::Arc};

use super::{
    Exec,
    conditional::{self, Change},
    place_arguments, units,
    units::Unit,
};
use crate::{
    GraphNode,
    device::fence::Keep,
    error::Error,
    event::Event,
    graph::{
        ConditionalKind, CopyKind, Graph, MemAlloc, MemFree, Mismatch, Node, NodeId, NodeKind, Topology,
    },
    module::Function,
    template::Template,
};

/// Why an executable cannot take over a template's parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The graphs have different numbers of nodes, or other edges.
    #[error("the graph has another shape")]
    Topology,
    /// A node does another kind of thing.
    #[error("a node is of another kind")]
    Kind,
    /// A node's parameters differ in what must stay.
    #[error("a node has parameters that must stay as they were")]
    Parameters,
    /// A node or the device is one that updates cannot change.
    #[error("a node cannot be updated")]
    NotSupported,
    /// A node's work would be refused on a stream, or there is no memory for the new arguments.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// A refused update; the executable is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("graph update refused: {reason}")]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// The node of the new template that is the reason; of a nested graph, the node around it.
    pub node: Option<NodeId>,
}

impl Refusal {
    fn at(node: NodeId, reason: impl Into<Reason>) -> Self {
        Self { reason: reason.into(), node: Some(node) }
    }
}

/// What updates cannot change of a graph and of those nested in it.
pub(super) struct Shape {
    /// The outermost graph first.
    graphs: Vec<Frame>,
}

impl Shape {
    /// Bytes that the shape holds.
    pub(super) fn bytes(&self) -> usize {
        self.graphs.iter().map(|graph| graph.topology.bytes() + size_of_val(&graph.fixed[..])).sum()
    }
}

struct Frame {
    topology: Topology,
    /// One for each node, in insertion order.
    fixed: Vec<Fixed>,
}

/// What must stay of one node.
enum Fixed {
    Kind(NodeKind),
    /// The direction of a copy.
    Copy(CopyKind),
    /// Width and height of a fill of several rows.
    Rows(u64, u64),
    /// One row, of any width.
    Row,
    Alloc(MemAlloc),
    Free(MemFree),
    /// The place of the nested graph among all graphs.
    Child(usize),
    /// The kind of a conditional node and the places of its bodies.
    Conditional(ConditionalKind, Range<usize>),
}

impl Fixed {
    /// Asks whether a node may stand where this was noted.
    fn check(&self, node: &GraphNode) -> Result<(), Reason> {
        let demand = |met: bool, reason| if met { Ok(()) } else { Err(reason) };
        match (self, node) {
            (Self::Copy(kind), Node::Memcpy(copy)) => demand(copy.kind() == *kind, Reason::Parameters),
            (Self::Row, Node::Memset(set)) => demand(set.height <= 1, Reason::Parameters),
            (Self::Rows(width, height), Node::Memset(set)) => {
                demand((set.width, set.height) == (*width, *height), Reason::Parameters)
            }
            // Addresses of graph memory belong to the nodes that got them.
            (Self::Alloc(old), Node::MemAlloc(new)) => demand(old == new, Reason::NotSupported),
            (Self::Free(old), Node::MemFree(new)) => demand(old == new, Reason::NotSupported),
            (Self::Child(_), Node::Child(_)) => Ok(()),
            (Self::Conditional(kind, bodies), Node::Conditional(new)) => {
                demand((*kind, bodies.len()) == (new.kind(), new.bodies().len()), Reason::Parameters)
            }
            (Self::Kind(kind), node) => demand(node.kind() == *kind, Reason::Kind),
            _ => Err(Reason::Kind),
        }
    }
}

/// A node of an executable's template, the one in its place in another template, and what that does.
type Pair<'g> = (NodeId, NodeId, &'g GraphNode);

impl Shape {
    pub(super) fn of(graph: &Graph<Function, Event>) -> Self {
        let mut found = vec![graph];
        let mut graphs: Vec<Frame> = Vec::new();
        while let Some(&graph) = found.get(graphs.len()) {
            let fixed = graph.nodes().map(|(_, node)| match node {
                Node::Memcpy(copy) => Fixed::Copy(copy.kind()),
                Node::Memset(set) if set.height > 1 => Fixed::Rows(set.width, set.height),
                Node::Memset(_) => Fixed::Row,
                Node::MemAlloc(alloc) => Fixed::Alloc(*alloc),
                Node::MemFree(free) => Fixed::Free(*free),
                Node::Child(child) => {
                    found.push(child);
                    Fixed::Child(found.len() - 1)
                }
                Node::Conditional(conditional) => {
                    let first = found.len();
                    found.extend(conditional.bodies());
                    Fixed::Conditional(conditional.kind(), first..found.len())
                }
                node => Fixed::Kind(node.kind()),
            });
            let fixed = fixed.collect();
            graphs.push(Frame { topology: graph.topology().snapshot(), fixed });
        }
        Self { graphs }
    }

    /// Pairs the nodes of the graph at a place, and of those nested in it, with those of another graph.
    fn pair<'g>(&self, place: usize, graph: &'g Graph<Function, Event>) -> Result<Vec<Pair<'g>>, Refusal> {
        let mut pairs = Vec::new();
        let mut open = vec![(place, graph, None)];
        while let Some((place, graph, around)) = open.pop() {
            let frame = &self.graphs[place];
            let nodes = frame.topology.pair(graph.topology()).map_err(|mismatch| Refusal {
                reason: Reason::Topology,
                node: match mismatch {
                    Mismatch::NodeCount => around,
                    Mismatch::Dependencies(node) => around.or(Some(node)),
                },
            })?;
            for (((mine, theirs), fixed), (_, node)) in nodes.into_iter().zip(&frame.fixed).zip(graph.nodes())
            {
                let named = around.unwrap_or(theirs);
                fixed.check(node).map_err(|reason| Refusal::at(named, reason))?;
                match (fixed, node) {
                    (Fixed::Child(place), Node::Child(child)) => open.push((*place, child, Some(named))),
                    (Fixed::Conditional(_, places), Node::Conditional(new)) => {
                        open.extend(
                            places.clone().zip(new.bodies()).map(|(place, body)| (place, body, Some(named))),
                        );
                        pairs.push((mine, named, node));
                    }
                    _ => pairs.push((mine, named, node)),
                }
            }
        }
        Ok(pairs)
    }

    /// The place of the graph nested in a node.
    fn child(&self, node: NodeId) -> Option<usize> {
        let around = self.graphs.iter().find(|graph| graph.topology.id() == node.graph())?;
        let mut nodes = around.topology.nodes().zip(&around.fixed);
        match nodes.find(|(id, _)| *id == node)? {
            (_, Fixed::Child(place)) => Some(*place),
            _ => None,
        }
    }
}

impl Exec {
    /// Gives every node the parameters of its counterpart in `template`, which has the same nodes and edges in the
    /// same order. Launches in flight keep theirs.
    ///
    /// # Errors
    /// A [`Refusal`], after which the executable is as it was.
    pub fn update(&self, template: &Template) -> Result<(), Refusal> {
        self.take_over(0, template)
    }

    /// Gives every node of the graph nested in `node` the parameters of its counterpart in `template`.
    ///
    /// # Errors
    /// As [`Exec::update`]; [`Error::InvalidValue`] if the executable has no such node.
    pub fn update_child(&self, node: NodeId, template: &Template) -> Result<(), Refusal> {
        let unknown = Error::InvalidValue("not a child graph of the executable graph");
        let place = self.0.shape.child(node).ok_or(Refusal { reason: unknown.into(), node: None })?;
        self.take_over(place, template)
    }

    fn take_over(&self, place: usize, template: &Template) -> Result<(), Refusal> {
        let device = &self.0.device;
        if template.device() != device {
            return Err(Refusal { reason: Reason::NotSupported, node: None });
        }
        let failed = |error: Error| Refusal { reason: error.into(), node: None };
        template.graph().check_conditions().map_err(|error| failed(error.into()))?;
        let mut changes = Vec::new();
        let mut in_bodies: HashMap<u32, Vec<Change<'_>>> = HashMap::new();
        for (mine, named, node) in self.0.shape.pair(place, template.graph())? {
            if matches!(node, Node::Empty | Node::MemAlloc(_) | Node::MemFree(_)) {
                continue;
            }
            let (flat, inside) = match (self.0.flat.find(mine), self.0.bodies.get(&mine.graph())) {
                (Some(flat), _) => (flat, None),
                (None, Some(&around)) => (around, Some(mine)),
                (None, None) => continue,
            };
            if inside.is_some() || matches!(node, Node::Conditional(_)) {
                let change = Change { node: inside, named, parameters: node };
                in_bodies.entry(flat).or_default().push(change);
                continue;
            }
            let refused = |error: Error| Refusal::at(named, error);
            let (pin, mut unit) = units::unit_of(device, node).map_err(refused)?;
            unit.print_to(self.0.fifo.as_ref()).map_err(refused)?;
            changes.push((flat, named, pin, unit));
        }

        // What the executable had may be the caller's: it is dropped behind the lock.
        let _had;
        let mut state = self.state();
        let state = &mut *state;
        let mut units = state.units.clone();
        for (flat, named, pin, unit) in changes {
            let main = state.main[flat as usize] as usize;
            if !units::replace(&mut units, main, pin, unit) {
                return Err(Refusal::at(named, Reason::Parameters));
            }
        }
        for (flat, changes) in in_bodies {
            let unit = &mut units[state.main[flat as usize] as usize];
            if let Unit::Conditional(old) = unit {
                let changed = old.changed(device, &changes)?;
                *old = Arc::new(changed);
            }
        }
        conditional::renew_resets(device, &mut units).map_err(failed)?;
        let (arena, offsets) = place_arguments(device, &units).map_err(failed)?;
        let in_flight = state.in_flight();
        // A launch that is publishing holds the state's lock; the image is ours.
        let busy = || failed(Error::IllegalState("the image is in use"));
        let image = Arc::get_mut(&mut state.image).ok_or_else(busy)?;
        let mut packets = Vec::new();
        for ((unit, place), offset) in units.iter().zip(&image.places).zip(&offsets) {
            if let &Some((lane, packet)) = place {
                let old = &image.lanes[lane as usize].packets[packet as usize];
                let fences = old.header().map_err(|error| failed(hsa::Error::from(error).into()))?.fences;
                let new = unit.packet(fences, arena.address() + u64::from(*offset)).map_err(failed)?;
                packets.extend(new.map(|new| (lane, packet, new)));
            }
        }

        // From here on nothing fails.
        for (lane, packet, new) in packets {
            image.lanes[lane as usize].packets[packet as usize] = new;
        }
        let alive = match place {
            0 => mem::take(&mut state.taken_over).into_values().flatten().collect(),
            _ => state.taken_over.remove(&place).unwrap_or_default(),
        };
        let had = (
            mem::replace(&mut state.units, units),
            mem::replace(&mut state.arena, Arc::new(arena)),
            mem::take(&mut state.moved).into_values().map(|moved| moved.block).collect::<Vec<_>>(),
            alive,
        );
        state.offsets = offsets;
        state.taken_over.insert(place, template.alive().to_vec());
        // Only what a launch has seen must be kept: any number of updates between two launches leave nothing behind.
        let launched = mem::replace(&mut state.arena_since, state.launches) < state.launches;
        if in_flight && launched {
            state.keep_for_launch(Keep::Other(Arc::new(had)));
            _had = None;
        } else {
            _had = Some(had);
        }
        Ok(())
    }
}
