//! Why a template cannot be made executable, and which of its nodes is to blame.

#![forbid(unsafe_code)]

use crate::{
    error::Error,
    event::Event,
    graph::{self, Graph, GraphId, Node, NodeId},
    module::Function,
};

/// A template that could not be made executable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{error}", place(*node, *structure))]
#[non_exhaustive]
pub struct Failure {
    /// The node of the template that is to blame, if one is; of a nested graph, the node around it.
    pub node: Option<NodeId>,
    /// What is wrong.
    pub error: Error,
    /// Whether the nodes and edges are at fault, not what a node does.
    pub structure: bool,
}

impl Failure {
    /// A failure of what a node does.
    pub(super) fn of_node(node: Option<NodeId>, error: Error) -> Self {
        Self { node, error, structure: false }
    }

    /// A failure of the nodes and edges of `graph`.
    pub(super) fn of_structure(graph: &Graph<Function, Event>, error: graph::Error) -> Self {
        let node = match error {
            graph::Error::Cycle(node) => around(graph, node),
            _ => None,
        };
        Self { node, error: error.into(), structure: true }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::of_node(None, error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}

/// The node in front of what is wrong with it; what is wrong with the edges names nodes itself.
fn place(node: Option<NodeId>, structure: bool) -> String {
    match node {
        Some(node) if !structure => format!("node {node}: "),
        _ => String::new(),
    }
}

/// The node of `graph` that is, or in whose child graph somewhere lies, `node`.
fn around(graph: &Graph<Function, Event>, node: NodeId) -> Option<NodeId> {
    if node.graph() == graph.id() {
        return Some(node);
    }
    let is_child = |node: &Node<_, _>| matches!(node, Node::Child(_));
    let children = graph.nodes().filter(|(_, node)| is_child(node));
    children.map(|(id, _)| id).find(|&id| graph.child(id).is_ok_and(|child| contains(child, node.graph())))
}

/// Whether a graph is, or has nested in it somewhere, the one with this identity.
fn contains(graph: &Graph<Function, Event>, id: GraphId) -> bool {
    let mut open = vec![graph];
    while let Some(graph) = open.pop() {
        if graph.id() == id {
            return true;
        }
        open.extend(graph.nodes().filter_map(|(_, node)| match node {
            Node::Child(child) => Some(&**child),
            _ => None,
        }));
    }
    false
}
