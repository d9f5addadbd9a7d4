//! What an update would change that must stay, in words.

#![forbid(unsafe_code)]

use crate::graph::{Conditional, ConditionalKind, CopyKind, Mismatch, Node, NodeId, NodeKind, Topology};

/// How a graph differs in shape from the one that it is to replace.
pub(super) fn of_shape(mine: &Topology, theirs: &Topology, mismatch: &Mismatch) -> String {
    match mismatch {
        Mismatch::NodeCount => {
            format!("it has {} nodes, the executable has {}", theirs.node_count(), mine.node_count())
        }
        Mismatch::Dependencies(node) => {
            let wants = theirs.dependencies(*node).map_or(0, |nodes| nodes.count());
            let position = theirs.nodes().position(|other| other == *node);
            let partner = position.and_then(|n| mine.nodes().nth(n));
            let partner = partner.map_or_else(String::new, |node| format!(" ({node})"));
            format!(
                "node {node}, number {} of its graph, has {wants} dependencies that are not the counterparts of \
                 those of the node in its place{partner}",
                position.unwrap_or(0),
            )
        }
    }
}

/// What a node is that should be of another kind.
pub(super) fn of_kind(had: NodeKind, node: &Node) -> String {
    format!("it is a {:?} node, the one in its place is a {had:?} node", node.kind())
}

/// What a copy does that should go in another direction.
pub(super) fn of_direction(had: CopyKind, wants: CopyKind) -> String {
    format!("it copies {wants:?}, the one in its place {had:?}")
}

/// What a fill covers that should cover as much as before.
pub(super) fn of_rows(had: (u64, u64), wants: (u64, u64)) -> String {
    let ((width, height), (new_width, new_height)) = (had, wants);
    format!(
        "it fills {new_height} rows of {new_width} elements, the one in its place {height} rows of {width}: only \
         fills of one row may change their size"
    )
}

/// How many rows a fill has that should have one.
pub(super) fn of_height(rows: u64) -> String {
    format!("it fills {rows} rows, the one in its place one row")
}

/// What a conditional node chooses among that should choose as before.
pub(super) fn of_bodies(had: (ConditionalKind, usize), wants: &Conditional) -> String {
    let (kind, bodies) = (wants.kind(), wants.bodies().len());
    format!("it is of kind {kind:?} with {bodies} bodies, the one in its place of {:?} with {}", had.0, had.1)
}

/// An operand was moved from one device's memory to another's.
pub(super) const MEMORY_ELSEWHERE: &str = "it uses the memory of another device than the one in its place";

/// Says which nested graph is meant.
pub(super) fn in_child(around: Option<NodeId>, what: String) -> String {
    match around {
        Some(node) => format!("in a graph nested in node {node}: {what}"),
        None => what,
    }
}
