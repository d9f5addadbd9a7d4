//! An executable that is launched into a capture: a child graph with what its nodes were given last.
//!
//! Packets do not say which node they came from, so the executable keeps its template's nodes: shared with the template
//! until that is edited, and beside them only what was set later.

use std::{collections::HashMap, sync::Arc};

use super::{Exec, State, update::Shape};
use crate::{
    GraphNode, capture,
    error::{Error, Result},
    event::Event,
    graph::{FlatGraph, Graph, Node, NodeId},
    module::Function,
    stream::Stream,
    template::Template,
};

/// What the nodes of an executable were given last.
pub(super) struct Parameters {
    /// What it was made of.
    original: Arc<Graph<Function, Event>>,
    /// The graphs whose parameters it took over since, by the place of the nested graph that took them; oldest first.
    taken: Vec<(usize, Arc<Graph<Function, Event>>)>,
    /// What single nodes were given since.
    set: HashMap<NodeId, GraphNode>,
}

impl Parameters {
    pub(super) fn new(original: Arc<Graph<Function, Event>>) -> Self {
        Self { original, taken: Vec::new(), set: HashMap::new() }
    }

    /// A node was given other parameters.
    pub(super) fn set(&mut self, node: NodeId, parameters: GraphNode) {
        self.set.insert(node, parameters);
    }

    /// The graph nested at `place` took over the parameters of `graph`, for these of its nodes.
    pub(super) fn take_over(&mut self, place: usize, graph: Arc<Graph<Function, Event>>, nodes: &[NodeId]) {
        match place {
            // The outermost graph has every node.
            0 => self.taken.clear(),
            // Every other one has the same nodes each time.
            _ => self.taken.retain(|(other, _)| *other != place),
        }
        self.taken.push((place, graph));
        if !self.set.is_empty() {
            nodes.iter().for_each(|node| drop(self.set.remove(node)));
        }
    }

    /// The graph that it would take to make the executable as it is now.
    fn graph(&self, shape: &Shape, flat: &FlatGraph, priorities: bool) -> Result<Graph<Function, Event>> {
        let mut graph = self.original.snapshot();
        let mut set = |node: NodeId, parameters: &GraphNode| -> Result<()> {
            // What is not in the flat graph has no parameters.
            let Some(at) = flat.find(node) else { return Ok(()) };
            let mut path = flat.path(at);
            path.pop();
            Ok(graph.descendant_mut(&path)?.set(node, parameters.clone())?)
        };
        for (place, taken) in &self.taken {
            let pairs = shape.pair(*place, taken, priorities);
            for pair in pairs.map_err(|refusal| Error::Graph(refusal.to_string()))?.nodes {
                set(pair.mine, pair.node)?;
            }
        }
        for (node, parameters) in &self.set {
            set(*node, parameters)?;
        }
        Ok(graph)
    }
}

impl Exec {
    /// Adds the graph to what `stream` captures, with the parameters that it has now.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for memory nodes, whose addresses have one owner; what capture forbids. The capture is
    /// invalid then.
    pub(super) fn record(&self, stream: &Stream) -> Result<()> {
        capture::record_child(stream, || self.template())
    }

    /// A template to make an executable of that would do what this one does.
    fn template(&self) -> Result<Template> {
        let state = self.state();
        let mut graph = state.parameters.graph(&self.0.shape, &self.0.flat, self.0.options.node_priority)?;
        self.remove_disabled(&state, &mut graph)?;
        if graph.nodes().any(|(_, node)| matches!(node, Node::MemAlloc(_) | Node::MemFree(_))) {
            return Err(Error::NotSupported("launching a graph with memory nodes into a capture"));
        }
        let later = state.alive.values().flat_map(|(objects, _)| objects);
        let taken_over = state.taken_over.values().flatten();
        let held = state.held.resources();
        let alive =
            self.0.resources.alive.iter().chain(later).chain(taken_over).chain(held).cloned().collect();
        Ok(Template::of(graph, &self.0.device, alive))
    }

    /// Leaves of the nodes that do not run only their places in the order.
    fn remove_disabled(&self, state: &State, graph: &mut Graph<Function, Event>) -> Result<()> {
        if state.disabled.is_empty() {
            return Ok(());
        }
        for flat in
            (0u32..).zip(&state.main).filter(|(_, unit)| state.is_disabled(**unit)).map(|(flat, _)| flat)
        {
            let mut path = self.0.flat.path(flat);
            // PANIC: a path ends with the node itself.
            let node = path.pop().expect("a path is not empty");
            *graph.descendant_mut(&path)?.node_mut(node)? = Node::Empty;
        }
        Ok(())
    }
}
