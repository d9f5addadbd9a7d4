//! The graph template: nodes with deeply copied parameters, edges, nested child graphs.
//!
//! ```
//! use aqlipse_graph::{Error, Graph, HostFn, Node};
//!
//! // References to kernels, events and semaphores are the runtime's own types; `()` serves where there are none.
//! let mut graph: Graph<(), (), ()> = Graph::new();
//! let first = graph.add(Node::Host(HostFn::new(|| println!("first"))), &[])?;
//! let second = graph.add(Node::Empty, &[first])?;
//! assert_eq!(graph.topology().order()?, [first, second]);
//! assert_eq!(graph.add(Node::Empty, &[first, first]).unwrap_err(), Error::DuplicateEdge {
//!     from: first,
//!     to: graph.next_id(),
//! });
//! # Ok::<(), Error>(())
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`csr`] | adjacency as flat arrays |
//! | [`topology`] | nodes and edges in insertion order, topological order, cycles, likeness of two graphs |
//! | [`node`] | what each kind of node does |
//! | [`condition`] | conditional nodes, and the values that decide which of their graphs run |
//! | [`conditional`] | graphs nested in nodes |
//! | [`references`] | what a graph keeps alive |
//! | [`blocks`] | parts of a graph that repeat |
//! | [`dot`] | a graph as Graphviz sees it |
//! | [`mod@flatten`] | the graph without child graphs and empty nodes, for the scheduler |

pub mod blocks;
mod chunks;
pub mod condition;
pub mod conditional;
mod copy;
pub mod csr;
pub mod dot;
mod error;
pub mod flatten;
mod id;
mod kernargs;
pub mod node;
mod parts;
pub mod references;
mod shape;
pub mod topology;

#[cfg(test)]
mod tests;

use std::{collections::HashMap, fmt};

use chunks::Chunks;
pub use condition::{Condition, Conditional, ConditionalKind};
pub use conditional::Inside;
pub use copy::{BoxCopy, CopyKind, Memcpy, Memset, Surface};
pub use csr::Csr;
pub use error::Error;
pub use flatten::{FlatGraph, FlatNode, Flattened, flatten};
pub use id::{GraphId, NodeId};
pub use kernargs::{AccessPolicy, Attributes, Kernargs, KernelAttributes};
pub use node::{HostFn, Kernel, MemAlloc, MemFree, Node, NodeKind};
pub use parts::{RunCopy, Word, WordAction, WordCondition, WordStep};
pub use references::References;
pub use shape::Mismatch;
pub use topology::{Neighbours, Topology};

/// A graph template, generic over the runtime's references to kernels (`K`), events (`E`) and semaphores (`S`).
pub struct Graph<K, E, S> {
    topology: Topology,
    /// One entry per slot of the topology; `None` where a node was removed.
    nodes: Chunks<Option<Node<K, E, S>>>,
    /// What conditional nodes of this graph and of nested ones may look at.
    conditions: Vec<Condition>,
    /// `NodeId::index` of the conditional nodes.
    conditionals: Vec<u32>,
    /// Whether there may be a node with graphs in it; most graphs need not be searched for one.
    nests: bool,
    /// Ordinal of the device that nodes run on unless `away` says otherwise.
    home: u32,
    /// The devices of the nodes that run elsewhere, by [`NodeId::index`]: few or none in most graphs.
    away: HashMap<u32, u32>,
    references: References,
}

impl<K, E, S> Default for Graph<K, E, S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, E, S> fmt::Debug for Graph<K, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nested graphs are not descended into: nesting may be deeper than the stack.
        f.debug_struct("Graph")
            .field("id", &self.topology.id())
            .field("nodes", &self.topology.node_count())
            .field("edges", &self.topology.edge_count())
            .finish()
    }
}

impl<K, E, S> Graph<K, E, S> {
    /// Makes a graph without nodes, whose nodes will run on device 0.
    pub fn new() -> Self {
        Self::at_home(0)
    }

    /// Makes a graph without nodes; `home` is the ordinal of the device that its nodes will run on, unless each is
    /// [placed](Graph::place) elsewhere.
    pub fn at_home(home: u32) -> Self {
        Self {
            topology: Topology::new(),
            nodes: Chunks::new(),
            conditions: Vec::new(),
            conditionals: Vec::new(),
            nests: false,
            home,
            away: HashMap::new(),
            references: References::default(),
        }
    }

    /// The ordinal of the device that a node was placed on. What runs on the host has one, too, of no meaning there.
    pub fn device_of(&self, node: NodeId) -> u32 {
        if self.away.is_empty() {
            return self.home;
        }
        self.away.get(&node.index()).copied().unwrap_or(self.home)
    }

    /// The ordinal of the device that nodes without one of their own run on.
    pub fn home(&self) -> u32 {
        self.home
    }

    /// Whether all nodes were placed on the device with this ordinal.
    pub fn is_at_home(&self, device: u32) -> bool {
        self.home == device && self.away.is_empty()
    }

    /// Places a node on the device with an ordinal.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], [`Error::ForeignNode`].
    pub fn place(&mut self, node: NodeId, device: u32) -> Result<(), Error> {
        self.node(node)?;
        if device == self.home {
            if !self.away.is_empty() {
                self.away.remove(&node.index());
            }
        } else {
            self.away.insert(node.index(), device);
        }
        Ok(())
    }

    /// The identity that this graph's node ids carry.
    pub fn id(&self) -> GraphId {
        self.topology.id()
    }

    /// The id that the next added node gets.
    pub fn next_id(&self) -> NodeId {
        self.topology.next_id()
    }

    /// The nodes and edges, for queries.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Adds a node that runs after `dependencies`.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], [`Error::ForeignNode`] or [`Error::DuplicateEdge`] for the first bad dependency,
    /// [`Error::TooLarge`]; the graph is then unchanged.
    pub fn add(&mut self, node: Node<K, E, S>, dependencies: &[NodeId]) -> Result<NodeId, Error> {
        self.add_behind(self.home, dependencies.iter().copied(), || node)
    }

    /// As [`Graph::add`], for a node that is placed on the device with an ordinal.
    ///
    /// # Errors
    /// As there.
    pub fn add_on(
        &mut self,
        device: u32,
        node: Node<K, E, S>,
        dependencies: &[NodeId],
    ) -> Result<NodeId, Error> {
        self.add_behind(device, dependencies.iter().copied(), || node)
    }

    /// As [`Graph::add_on`], for a node that is made where it stays.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn add_behind(
        &mut self,
        device: u32,
        dependencies: impl IntoIterator<Item = NodeId>,
        make: impl FnOnce() -> Node<K, E, S>,
    ) -> Result<NodeId, Error> {
        let node = self.nodes.push(Some(make()));
        let branches = matches!(node, Some(Node::Conditional(_)));
        let nests = branches || matches!(node, Some(Node::Child(_)));
        let added = self.topology.add(dependencies);
        match added {
            Err(_) => drop(self.nodes.pop()),
            Ok(id) => {
                if branches {
                    self.conditionals.push(id.index());
                }
                self.nests |= nests;
                if device != self.home {
                    self.away.insert(id.index(), device);
                }
            }
        }
        added
    }

    /// The node that was added last, unless it was removed.
    pub fn latest_mut(&mut self) -> Option<&mut Node<K, E, S>> {
        self.nodes.last_mut()?.as_mut()
    }

    /// Adds a deep copy of `child` as one node.
    ///
    /// # Errors
    /// As [`Graph::add`].
    pub fn add_child(&mut self, child: &Self, dependencies: &[NodeId]) -> Result<NodeId, Error>
    where
        K: Clone,
        E: Clone,
        S: Clone,
    {
        // The copy may be large: find out first whether it is wanted.
        let id = self.topology.add(dependencies.iter().copied())?;
        self.nests = true;
        self.nodes.push(Some(Node::Child(Box::new(child.clone()))));
        Ok(id)
    }

    /// Adds edges `(from, to)`, all or none. Cycles are found at instantiation.
    ///
    /// # Errors
    /// As [`Topology::add_edges`].
    pub fn add_dependencies(
        &mut self,
        edges: impl IntoIterator<Item = (NodeId, NodeId)>,
    ) -> Result<(), Error> {
        self.topology.add_edges(edges)
    }

    /// Removes edges `(from, to)`, all or none.
    ///
    /// # Errors
    /// As [`Topology::remove_edges`].
    pub fn remove_dependencies(
        &mut self,
        edges: impl IntoIterator<Item = (NodeId, NodeId)>,
    ) -> Result<(), Error> {
        self.topology.remove_edges(edges)
    }

    /// Removes a node with its edges and returns its parameters.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], [`Error::ForeignNode`].
    pub fn remove(&mut self, node: NodeId) -> Result<Node<K, E, S>, Error> {
        let slot = self.topology.slot(node)?;
        self.topology.remove(node)?;
        self.away.remove(&node.index());
        let removed = self.nodes[slot as usize].take();
        if matches!(removed, Some(Node::Conditional(_))) {
            self.conditionals.retain(|&index| index != node.index());
        }
        if self.topology.is_sparse() {
            self.nodes.retain(Option::is_some);
            self.topology.compact();
        }
        removed.ok_or(Error::UnknownNode(node))
    }

    /// The parameters of a node.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], [`Error::ForeignNode`].
    pub fn node(&self, node: NodeId) -> Result<&Node<K, E, S>, Error> {
        let slot = self.topology.slot(node)?;
        self.nodes[slot as usize].as_ref().ok_or(Error::UnknownNode(node))
    }

    /// The parameters of a node, for changing them.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], [`Error::ForeignNode`].
    pub fn node_mut(&mut self, node: NodeId) -> Result<&mut Node<K, E, S>, Error> {
        // What is put there may have graphs in it.
        self.nests = true;
        self.in_slot_mut(node)
    }

    fn in_slot_mut(&mut self, node: NodeId) -> Result<&mut Node<K, E, S>, Error> {
        let slot = self.topology.slot(node)?;
        self.nodes[slot as usize].as_mut().ok_or(Error::UnknownNode(node))
    }

    /// Replaces the parameters of a node by others of the same kind.
    ///
    /// # Errors
    /// [`Error::KindMismatch`], [`Error::UnknownNode`], [`Error::ForeignNode`].
    pub fn set(&mut self, node: NodeId, parameters: Node<K, E, S>) -> Result<(), Error> {
        let current = self.in_slot_mut(node)?;
        if current.kind() != parameters.kind() {
            return Err(Error::KindMismatch { node, expected: current.kind(), found: parameters.kind() });
        }
        *current = parameters;
        Ok(())
    }

    /// The nodes with their parameters, in insertion order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node<K, E, S>)> {
        let nodes = self.nodes.iter().zip(0..);
        nodes.filter_map(|(node, slot)| node.as_ref().map(|node| (self.topology.id_of(slot), node)))
    }

    /// The graph inside a child node.
    ///
    /// # Errors
    /// [`Error::KindMismatch`] when the node is no child graph, [`Error::UnknownNode`], [`Error::ForeignNode`].
    pub fn child(&self, node: NodeId) -> Result<&Self, Error> {
        match self.node(node)? {
            Node::Child(child) => Ok(child),
            other => Err(Error::KindMismatch { node, expected: NodeKind::Child, found: other.kind() }),
        }
    }

    /// The graph inside a child node, for changing it.
    ///
    /// # Errors
    /// As [`Graph::child`].
    pub fn child_mut(&mut self, node: NodeId) -> Result<&mut Self, Error> {
        match self.node_mut(node)? {
            Node::Child(child) => Ok(child),
            other => Err(Error::KindMismatch { node, expected: NodeKind::Child, found: other.kind() }),
        }
    }

    /// The graph reached by stepping into nested ones, outermost first; an empty path is this graph.
    ///
    /// # Errors
    /// As [`Graph::nested`], for the first step that fails.
    pub fn descendant(&self, path: &[impl Copy + Into<Inside>]) -> Result<&Self, Error> {
        path.iter().try_fold(self, |graph, &step| graph.nested(step.into()))
    }

    /// The graph reached by stepping into nested ones, for changing it.
    ///
    /// # Errors
    /// As [`Graph::nested`], for the first step that fails.
    pub fn descendant_mut(&mut self, path: &[impl Copy + Into<Inside>]) -> Result<&mut Self, Error> {
        path.iter().try_fold(self, |graph, &step| graph.nested_mut(step.into()))
    }

    /// The copy in this graph of `original`, a node of the graph that this one was cloned from.
    ///
    /// # Errors
    /// As [`Topology::counterpart`].
    pub fn counterpart(&self, original: NodeId) -> Result<NodeId, Error> {
        self.topology.counterpart(original)
    }

    /// Whether there may be a node with graphs in it.
    pub fn may_nest(&self) -> bool {
        self.nests
    }

    /// What this graph keeps alive, those nested in it aside.
    pub fn references(&self) -> &References {
        &self.references
    }

    /// Whether this graph or one nested in it keeps anything alive.
    pub fn holds_any(&self) -> bool {
        self.with_nested().iter().any(|graph| graph.references.resources().len() > 0)
    }

    /// What this graph keeps alive, for changing it.
    pub fn references_mut(&mut self) -> &mut References {
        &mut self.references
    }

    /// The node in a slot of the topology.
    fn in_slot(&self, slot: u32) -> Option<&Node<K, E, S>> {
        self.nodes.get(slot as usize)?.as_ref()
    }
}

impl<K: Clone, E: Clone, S: Clone> Graph<K, E, S> {
    /// A copy under the same identities, of this graph and of everything nested in it, which stays as it is.
    pub fn snapshot(&self) -> Self {
        self.copied(Topology::snapshot, References::clone)
    }

    /// As [`Graph::snapshot`], of graphs that hold nothing.
    pub fn without_references(&self) -> Self {
        self.copied(Topology::snapshot, |_| References::default())
    }

    /// Copies the graph and everything nested in it, without recursion.
    fn copied(
        &self,
        topology: impl Fn(&Topology) -> Topology,
        references: impl Fn(&References) -> References,
    ) -> Self {
        // Parents before children: the graph, its parent's copy, and where there its own copy belongs.
        let mut found: Vec<(&Self, usize, usize)> = vec![(self, 0, 0)];
        let mut copies: Vec<Self> = Vec::new();
        while let Some(&(graph, _, _)) = found.get(copies.len()) {
            let at = copies.len();
            let nodes = graph.nodes.map(|slot, node| match node {
                Some(Node::Child(child)) => {
                    found.push((child, at, slot));
                    Some(Node::Empty)
                }
                Some(Node::Conditional(conditional)) => {
                    // They come back last first, and each is put behind the others.
                    found.extend(conditional.bodies.iter().rev().map(|body| (body, at, slot)));
                    Some(Node::Conditional(Box::new(conditional.without_bodies())))
                }
                node => node.clone(),
            });
            copies.push(Self {
                nodes,
                topology: topology(&graph.topology),
                conditions: graph.conditions.clone(),
                conditionals: graph.conditionals.clone(),
                nests: graph.nests,
                home: graph.home,
                away: graph.away.clone(),
                references: references(&graph.references),
            });
        }
        for &(_, parent, slot) in found[1..].iter().rev() {
            // PANIC: each graph found has a copy, and children are taken before their parents.
            let child = copies.pop().expect("one copy per graph");
            match &mut copies[parent].nodes[slot] {
                Some(Node::Conditional(conditional)) => conditional.bodies.push(child),
                node => *node = Some(Node::Child(Box::new(child))),
            }
        }
        // PANIC: the first graph found is `self`; its copy is the one left.
        copies.pop().expect("the copy of the outermost graph")
    }
}

impl<K: Clone, E: Clone, S: Clone> Clone for Graph<K, E, S> {
    /// Copies the graph and everything nested in it under new identities.
    fn clone(&self) -> Self {
        self.copied(Topology::clone, References::clone)
    }
}

impl<K, E, S> Drop for Graph<K, E, S> {
    /// Takes nested graphs apart one by one: the default would recurse once per level of nesting.
    fn drop(&mut self) {
        fn take_children<K, E, S>(graph: &mut Graph<K, E, S>, into: &mut Vec<Graph<K, E, S>>) {
            if !graph.nests {
                return;
            }
            for node in graph.nodes.iter_mut() {
                match node.take_if(|node| matches!(node, Node::Child(_) | Node::Conditional(_))) {
                    Some(Node::Child(child)) => into.push(*child),
                    Some(Node::Conditional(mut conditional)) => into.append(&mut conditional.bodies),
                    _ => {}
                }
            }
        }
        let mut doomed = Vec::new();
        take_children(self, &mut doomed);
        while let Some(mut graph) = doomed.pop() {
            take_children(&mut graph, &mut doomed);
        }
    }
}
