//! Identities of graphs and nodes.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// The identity of a graph within this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GraphId(u32);

impl GraphId {
    /// Draws the next identity; several threads may build different graphs at once.
    pub(super) fn next() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // ORDER: Relaxed. Only uniqueness matters.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Display for GraphId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The identity of a node: its graph and its place in that graph's order of insertion.
///
/// Ids are unique in the process, so that a node of another graph is an error rather than a wrong edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId {
    graph: GraphId,
    index: u32,
}

impl NodeId {
    pub(super) fn new(graph: GraphId, index: u32) -> Self {
        Self { graph, index }
    }

    /// The graph that the node was added to.
    pub fn graph(self) -> GraphId {
        self.graph
    }

    /// How many nodes had been added to the graph before this one.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The id as a number other than 0, for interfaces that know only words.
    pub fn to_bits(self) -> u64 {
        (u64::from(self.graph.0) + 1) << 32 | u64::from(self.index)
    }

    /// The id that [`NodeId::to_bits`] made a number of; whether such a node exists is for its graph to say.
    pub fn from_bits(bits: u64) -> Option<Self> {
        let graph = u32::try_from((bits >> 32).checked_sub(1)?).ok()?;
        // CAST: the low half.
        Some(Self { graph: GraphId(graph), index: bits as u32 })
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.graph.0, self.index)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeId({self})")
    }
}
