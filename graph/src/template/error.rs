//! Why a graph refuses an edit or an instantiation.

use super::{ConditionalKind, NodeId, NodeKind};

/// What is wrong with a graph, or with a request to change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The node was removed, or never existed, in the graph that its id names.
    #[error("node {0} does not exist")]
    UnknownNode(NodeId),
    /// The node belongs to another graph than the one that was asked.
    #[error("node {0} belongs to another graph")]
    ForeignNode(NodeId),
    /// The edge exists already, or stands twice in one list.
    #[error("the edge {from} -> {to} exists already")]
    DuplicateEdge {
        /// The node that runs first.
        from: NodeId,
        /// The node that waits.
        to: NodeId,
    },
    /// The edge to remove does not exist.
    #[error("the edge {from} -> {to} does not exist")]
    MissingEdge {
        /// The node that would run first.
        from: NodeId,
        /// The node that would wait.
        to: NodeId,
    },
    /// A node cannot depend on itself.
    #[error("node {0} cannot depend on itself")]
    SelfEdge(NodeId),
    /// The graph has a cycle, and this node lies on it.
    #[error("node {0} lies on a cycle")]
    Cycle(NodeId),
    /// The node is of another kind than the request needs.
    #[error("node {node} is a {found:?} node, not a {expected:?} node")]
    KindMismatch {
        /// The node that was asked.
        node: NodeId,
        /// The kind that the request needs.
        expected: NodeKind,
        /// The kind that the node has.
        found: NodeKind,
    },
    /// A conditional node of this kind cannot have so many bodies.
    #[error("a conditional node of kind {kind:?} cannot have {bodies} bodies")]
    BodyCount {
        /// The kind of the node.
        kind: ConditionalKind,
        /// The number of bodies.
        bodies: usize,
    },
    /// The node has no such body.
    #[error("node {0} has no such body")]
    NoBody(NodeId),
    /// The condition belongs to this node already.
    #[error("node {0} uses the condition already")]
    ConditionInUse(NodeId),
    /// The node's condition was not made for its graph, nor for one around it.
    #[error("the condition of node {0} was made for another graph")]
    ForeignCondition(NodeId),
    /// Two nodes use the condition whose value has this address.
    #[error("two nodes use the condition at {0:#x}")]
    ConditionShared(u64),
    /// No node uses the condition whose value has this address.
    #[error("no node uses the condition at {0:#x}")]
    ConditionUnused(u64),
    /// The graph would have more nodes or edges than 32-bit indices can name.
    #[error("the graph is too large")]
    TooLarge,
}
