//! What must stay of an executable while its parameters change: nodes, edges, and the kind of work of each node.

#![forbid(unsafe_code)]

use std::{collections::HashMap, fmt, ops::Range, sync::Arc};

use super::{differences, node_work::unit_of, placement::DevicePlacement, unit::Unit};
use crate::{
    device::Device,
    error::{Error, Result},
    graph::{
        ConditionalKind, CopyKind, FlatGraph, Graph, GraphId, MemAlloc, MemFree, Memset, Mismatch, Node,
        NodeId, NodeKind, Topology,
    },
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
    /// A node is one that updates cannot change.
    #[error("a node cannot be updated")]
    NotSupported,
    /// A kernel, or the bodies of a conditional node, are to run on another device.
    #[error("a kernel or a conditional node has moved to another device")]
    Device,
    /// A node's work would be refused on a stream, or there is no memory for the new arguments.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// A refused update; the executable is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// The node of the new template that is the reason; of a nested graph, the node around it.
    pub node: Option<NodeId>,
    /// What differs, in words; empty where the reason says all.
    pub detail: String,
}

impl Refusal {
    pub(super) fn new(reason: impl Into<Reason>) -> Self {
        Self { reason: reason.into(), node: None, detail: String::new() }
    }

    pub(super) fn at(node: NodeId, reason: impl Into<Reason>) -> Self {
        Self { node: Some(node), ..Self::new(reason) }
    }

    pub(super) fn because(self, detail: String) -> Self {
        Self { detail, ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph update refused: {}", self.reason)?;
        if let Some(node) = self.node {
            write!(f, ", node {node}")?;
        }
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl std::error::Error for Refusal {}

/// What updates cannot change of a graph and of those nested in it: what is noted of them is looked up in the graph that
/// the executable was made of, which it keeps.
pub(super) struct Shape {
    original: Arc<Graph>,
}

/// A graph of a shape with what is nested in it.
struct Frames<'s> {
    /// The outermost graph first, each behind the one around it: the places of graphs.
    graphs: Vec<&'s Graph>,
    /// The place of the first graph in each node that has graphs in it.
    inside: HashMap<NodeId, usize>,
}

/// What must stay of one node.
#[derive(Clone)]
pub(super) enum Fixed {
    Kind(NodeKind),
    /// Whether a kernel's blocks wait for each other, and its priority.
    Kernel(bool, i32),
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
    /// What each part of a node is.
    Parts(NodeKind, Box<[u8]>),
}

impl Fixed {
    /// What must stay of a node that is no child graph.
    pub(super) fn of(node: &Node) -> Self {
        match node {
            Node::Kernel(kernel) => {
                Self::Kernel(kernel.attributes.is_cooperative(), kernel.attributes.priority)
            }
            Node::Memcpy(copy) => Self::Copy(copy.kind()),
            Node::Memset(set) if set.height > 1 => Self::Rows(set.width, set.height),
            Node::Memset(_) => Self::Row,
            Node::MemAlloc(alloc) => Self::Alloc(*alloc),
            Node::MemFree(free) => Self::Free(*free),
            node => match node.parts() {
                Some(parts) => Self::Parts(node.kind(), parts),
                None => Self::Kind(node.kind()),
            },
        }
    }

    /// The kind of node that this was noted of.
    pub(super) fn kind(&self) -> NodeKind {
        match self {
            Self::Kind(kind) => *kind,
            Self::Kernel(..) => NodeKind::Kernel,
            Self::Copy(_) => NodeKind::Memcpy,
            Self::Rows(..) | Self::Row => NodeKind::Memset,
            Self::Parts(kind, _) => *kind,
            Self::Alloc(_) => NodeKind::MemAlloc,
            Self::Free(_) => NodeKind::MemFree,
            Self::Child(_) => NodeKind::Child,
            Self::Conditional(..) => NodeKind::Conditional,
        }
    }

    /// Asks whether a node may stand where this was noted; else why not, and what differs. Priorities must stay where
    /// they decide about the order.
    pub(super) fn check(&self, node: &Node, priorities: bool) -> Result<(), (Reason, String)> {
        let rows = |had, set: &Memset| differences::of_rows(had, (set.width, set.height));
        match (self, node) {
            (Self::Kernel(cooperative, _), Node::Kernel(kernel))
                if kernel.attributes.is_cooperative() != *cooperative =>
            {
                let words = if *cooperative { ("not ", "") } else { ("", "not ") };
                let detail = format!("it is {}cooperative, the one in its place is {}so", words.0, words.1);
                Err((Reason::Parameters, detail))
            }
            (Self::Kernel(_, priority), Node::Kernel(kernel))
                if priorities && kernel.attributes.priority != *priority =>
            {
                let new = kernel.attributes.priority;
                let detail =
                    format!("it has priority {new}, the one in its place {priority}, which is fixed");
                Err((Reason::Parameters, detail))
            }
            (Self::Copy(kind), Node::Memcpy(copy)) if copy.kind() != *kind => {
                Err((Reason::Parameters, differences::of_direction(*kind, copy.kind())))
            }
            (Self::Row, Node::Memset(set)) if set.height > 1 => {
                Err((Reason::Parameters, differences::of_height(set.height)))
            }
            (Self::Rows(width, height), Node::Memset(set))
                if (set.width, set.height) != (*width, *height) =>
            {
                Err((Reason::Parameters, rows((*width, *height), set)))
            }
            // Addresses of graph memory belong to the nodes that got them.
            (Self::Alloc(old), Node::MemAlloc(new)) if old != new => {
                Err((Reason::NotSupported, "it allocates other memory than the one in its place".into()))
            }
            (Self::Free(old), Node::MemFree(new)) if old != new => {
                Err((Reason::NotSupported, "it frees other memory than the one in its place".into()))
            }
            (Self::Conditional(kind, bodies), Node::Conditional(new))
                if (*kind, bodies.len()) != (new.kind(), new.bodies().len()) =>
            {
                Err((Reason::Parameters, differences::of_bodies((*kind, bodies.len()), new)))
            }
            (fixed, node) if fixed.kind() != node.kind() => {
                Err((Reason::Kind, differences::of_kind(fixed.kind(), node)))
            }
            (Self::Parts(_, parts), node) if node.parts().as_ref() != Some(parts) => Err((
                Reason::Parameters,
                "its parts differ in number or type from those of the one in its place".into(),
            )),
            _ => Ok(()),
        }
    }
}

/// A node of an executable's template and the one in its place in another template.
pub(super) struct Pair<'g> {
    pub(super) mine: NodeId,
    /// The other node, or the one around its graph: what a refusal names.
    pub(super) named: NodeId,
    pub(super) node: &'g Node,
    /// The ordinal of the device that the other node was placed on.
    pub(super) placed: u32,
}

/// A graph that is to be taken over, and all graphs in it with their places.
#[derive(Default)]
pub(super) struct Paired<'g> {
    pub(super) nodes: Vec<Pair<'g>>,
    pub(super) graphs: Vec<(usize, &'g Graph)>,
}

impl Shape {
    /// The shape of a graph that stays as it is.
    pub(super) fn of(original: Arc<Graph>) -> Self {
        Self { original }
    }

    /// The graph itself.
    pub(super) fn original(&self) -> &Graph {
        &self.original
    }

    fn frames(&self) -> Frames<'_> {
        let graphs = self.original.with_nested();
        let mut inside = HashMap::new();
        if graphs.len() > 1 {
            let mut next = 1;
            for (id, node) in graphs.iter().flat_map(|graph| graph.nodes()) {
                let bodies = node.nested().len();
                if bodies > 0 || matches!(node, Node::Conditional(_)) {
                    inside.insert(id, next);
                    next += bodies;
                }
            }
        }
        Frames { graphs, inside }
    }

    /// What must stay of a node that a flat graph of this shape has at a place; nothing of a join.
    pub(super) fn fixed(&self, flat: &FlatGraph, at: u32) -> Option<Fixed> {
        let node = &flat.nodes()[at as usize];
        if node.is_join() {
            return None;
        }
        if node.origin.graph() == self.original.id() {
            return self.original.node(node.origin).ok().map(Fixed::of);
        }
        let path = flat.path(at);
        let around = self.original.descendant(&path[..path.len() - 1]).ok()?;
        around.node(node.origin).ok().map(Fixed::of)
    }

    /// Pairs the nodes of the graph at a place, and of those nested in it, with those of another graph.
    pub(super) fn pair<'g>(
        &self,
        place: usize,
        graph: &'g Graph,
        priorities: bool,
    ) -> Result<Paired<'g>, Refusal> {
        let mut paired = Paired::default();
        let frames = self.frames();
        let mut open = vec![(place, graph, None)];
        while let Some((place, graph, around)) = open.pop() {
            paired.graphs.push((place, graph));
            let had = frames.graphs[place];
            let nodes = had.topology().pair(graph.topology()).map_err(|mismatch| {
                // HIP: AMD's library names a node of another kind before an edge that turns elsewhere.
                if matches!(mismatch, Mismatch::Dependencies(_))
                    && let Some(refusal) = other_kind(had, graph, around)
                {
                    return refusal;
                }
                let detail = differences::of_shape(had.topology(), graph.topology(), &mismatch);
                let node = match mismatch {
                    Mismatch::NodeCount => around,
                    Mismatch::Dependencies(node) => around.or(Some(node)),
                };
                let detail = differences::in_child(around, detail);
                Refusal { node, ..Refusal::new(Reason::Topology).because(detail) }
            })?;
            for (((mine, theirs), (_, old)), (_, node)) in
                nodes.into_iter().zip(had.nodes()).zip(graph.nodes())
            {
                let named = around.unwrap_or(theirs);
                let fixed = frames.fixed(mine, old);
                fixed.check(node, priorities).map_err(|(reason, detail)| {
                    Refusal::at(named, reason).because(differences::in_child(around, detail))
                })?;
                match (fixed, node) {
                    (Fixed::Child(place), Node::Child(child)) => open.push((place, child, Some(named))),
                    (Fixed::Conditional(_, places), Node::Conditional(new)) => {
                        let bodies = places.zip(new.bodies());
                        open.extend(bodies.map(|(place, body)| (place, body, Some(named))));
                        paired.nodes.push(Pair { mine, named, node, placed: graph.device_of(theirs) });
                    }
                    _ => paired.nodes.push(Pair { mine, named, node, placed: graph.device_of(theirs) }),
                }
            }
        }
        Ok(paired)
    }

    /// Whether it is that of one graph, with nodes and edges in the same places as in another.
    pub(super) fn is_laid_out_like(&self, topology: &Topology) -> bool {
        self.original.topology().is_laid_out_like(topology) && self.original.with_nested().len() == 1
    }

    /// The identities of all graphs, by their places.
    pub(super) fn graphs(&self) -> Vec<GraphId> {
        self.original.with_nested().into_iter().map(|graph| graph.id()).collect()
    }

    /// Whether one of the graphs has a node.
    pub(super) fn has(&self, node: NodeId) -> bool {
        self.original.with_nested().into_iter().any(|graph| graph.topology().contains(node))
    }

    /// The place of the graph nested in a node.
    pub(super) fn child(&self, node: NodeId) -> Option<usize> {
        let Frames { graphs, inside } = self.frames();
        let around = graphs.into_iter().find(|graph| graph.id() == node.graph())?;
        matches!(around.node(node), Ok(Node::Child(_))).then(|| inside.get(&node).copied())?
    }
}

/// Refuses the first node of a graph that is of another kind than the one in its place.
fn other_kind(had: &Graph, graph: &Graph, around: Option<NodeId>) -> Option<Refusal> {
    let mut pairs = had.nodes().zip(graph.nodes());
    let ((_, old), (theirs, node)) = pairs.find(|((_, old), (_, new))| old.kind() != new.kind())?;
    let detail = differences::in_child(around, differences::of_kind(old.kind(), node));
    Some(Refusal::at(around.unwrap_or(theirs), Reason::Kind).because(detail))
}

impl Frames<'_> {
    /// What must stay of a node.
    fn fixed(&self, id: NodeId, node: &Node) -> Fixed {
        let inside = || self.inside.get(&id).copied().unwrap_or(0);
        match node {
            Node::Child(_) => Fixed::Child(inside()),
            Node::Conditional(conditional) => {
                let first = inside();
                Fixed::Conditional(conditional.kind(), first..first + conditional.bodies().len())
            }
            node => Fixed::of(node),
        }
    }
}

/// The units of a node that was placed on a device and is to work in `placement`, where another does.
pub(super) fn moved_to(
    placement: DevicePlacement,
    named: NodeId,
    node: &Node,
    placed: u32,
) -> Result<(Option<Unit>, Unit), Refusal> {
    let refused = |error: Error| Refusal::at(named, error);
    if matches!(node, Node::Kernel(_)) {
        refuse_elsewhere(placement.device, placed, "kernel", named)?;
    }
    let worker = Device::get(usize::from(placement.device)).map_err(refused)?;
    if !placement.admits(DevicePlacement::of(&worker, node).map_err(refused)?) {
        let detail = differences::MEMORY_ELSEWHERE.to_owned();
        return Err(Refusal::at(named, Reason::Parameters).because(detail));
    }
    unit_of(&worker, node).map_err(refused)
}

/// Refuses a node that was placed on another device than the one in its place works on.
pub(super) fn refuse_elsewhere(device: u16, placed: u32, what: &str, named: NodeId) -> Result<(), Refusal> {
    if u32::from(device) == placed {
        return Ok(());
    }
    let detail = format!("the {what} is placed on device {placed}, the one in its place on {device}");
    Err(Refusal::at(named, Reason::Device).because(detail))
}

/// Why a single node is not changed, and keeps the words for a caller that asks.
pub(super) fn not_changed(node: NodeId, reason: &Reason, detail: &str) -> Error {
    crate::error::explain(format_args!("node {node} is not changed: {detail}"));
    Error::InvalidValue(match reason {
        Reason::Kind => "the node is of another kind",
        _ => "parameters of the node that must stay as they were",
    })
}

/// Why a node is refused that cannot be disabled.
pub(super) const NOT_SWITCHABLE: Error =
    Error::InvalidValue("only kernel, copy and fill nodes can be disabled");

impl Fixed {
    /// Refuses a node that cannot be disabled.
    pub(super) fn check_switchable(&self) -> Result<()> {
        if self.kind().can_be_disabled() { Ok(()) } else { Err(NOT_SWITCHABLE) }
    }
}
