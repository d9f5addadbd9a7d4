//! Why a template cannot be made executable, and which of its nodes is to blame.

#![forbid(unsafe_code)]

use crate::{
    error::Error,
    graph::{self, Graph, Node, NodeId},
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
    pub(super) fn of_structure(graph: &Graph, error: graph::Error) -> Self {
        let node = match error {
            graph::Error::Cycle(node) | graph::Error::ForeignCondition(node) => around(graph, node),
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

/// The node of `graph` that is, or in whose graphs somewhere lies, `node`.
fn around(graph: &Graph, node: NodeId) -> Option<NodeId> {
    let node_graph = node.graph();
    if node_graph == graph.id() {
        return Some(node);
    }
    let is_around =
        |node: &Node| node.nested().iter().flat_map(Graph::with_nested).any(|graph| graph.id() == node_graph);
    graph.nodes().find(|(_, node)| is_around(node)).map(|(id, _)| id)
}
