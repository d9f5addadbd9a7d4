//! An executable that is launched into a capture: a child graph with what its nodes were given last.
//!
//! Packets do not say which node they came from, so the executable keeps its template's nodes. They are shared with the
//! template until that is edited; beside them the executable keeps only what was set later.

use std::{collections::HashMap, sync::Arc};

use super::{Exec, shape::Shape};
use crate::{
    capture,
    error::{Error, Result},
    graph::{Condition, Graph, GraphId, Node, NodeId},
    stream::Stream,
    template::Template,
};

/// What the nodes of an executable were given last.
pub(super) struct Parameters {
    /// What it was made of.
    original: Arc<Graph>,
    /// The graphs whose parameters it took over since, by the place of the nested graph that took them; oldest first.
    taken: Vec<(usize, Arc<Graph>)>,
    /// What single nodes were given since.
    set: HashMap<NodeId, Node>,
    /// A bit for each flat node that was given other arguments since and nothing else: its unit has them.
    arguments: Vec<u64>,
}

impl Parameters {
    pub(super) fn new(original: Arc<Graph>) -> Self {
        Self { original, taken: Vec::new(), set: HashMap::new(), arguments: Vec::new() }
    }

    /// A flat node was given other arguments.
    pub(super) fn set_arguments(&mut self, flat: u32) {
        let (word, bit) = (flat as usize / 64, flat % 64);
        if self.arguments.len() <= word {
            self.arguments.resize(word + 1, 0);
        }
        self.arguments[word] |= 1 << bit;
    }

    /// A flat node was given everything anew.
    pub(super) fn forget_arguments(&mut self, flat: u32) {
        if let Some(word) = self.arguments.get_mut(flat as usize / 64) {
            *word &= !(1 << (flat % 64));
        }
    }

    /// The flat nodes that were given other arguments.
    fn with_arguments(&self) -> impl Iterator<Item = u32> {
        let words = (0u32..).zip(&self.arguments);
        words.flat_map(|(n, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| 64 * n + bit)
        })
    }

    /// The outermost graph, which has no other in it, took over all that `graph` has.
    pub(super) fn take_over_all(&mut self, graph: Arc<Graph>) {
        self.taken.clear();
        self.taken.push((0, graph));
        self.set.clear();
        self.arguments.clear();
    }

    /// A node was given other parameters.
    pub(super) fn set(&mut self, node: NodeId, parameters: Node) {
        self.set.insert(node, parameters);
    }

    /// The graph nested at `place` took over the parameters of `graph`, for these of its nodes.
    pub(super) fn take_over(&mut self, place: usize, graph: Arc<Graph>, nodes: &[NodeId]) {
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

    /// The graph that it would take to make the executable as it is now, without what `disabled` nodes do.
    fn graph(
        &self,
        shape: &Shape,
        priorities: bool,
        disabled: impl Iterator<Item = NodeId>,
        arguments: HashMap<GraphId, Vec<(NodeId, &[u8])>>,
    ) -> Result<Graph> {
        let (mut now, place_only) = (Present { arguments, ..Present::default() }, Node::Empty);
        let graphs = if self.taken.is_empty() { Vec::new() } else { shape.graphs() };
        for (place, taken) in &self.taken {
            let pairs = shape.pair(*place, taken, priorities);
            let pairs = pairs.map_err(|refusal| Error::Graph(refusal.to_string()))?;
            for pair in pairs.nodes {
                now.give(pair.mine, pair.node);
            }
            now.conditions
                .extend(pairs.graphs.iter().map(|(place, graph)| (graphs[*place], graph.conditions())));
        }
        self.set.iter().for_each(|(node, parameters)| now.give(*node, parameters));
        disabled.for_each(|node| now.give(node, &place_only));
        let mut graph = self.original.snapshot();
        graph.edit_with_nested(|graph| now.put_into(graph))?;
        Ok(graph)
    }
}

/// What nodes and graphs have now that they did not have in the beginning.
#[derive(Default)]
struct Present<'p> {
    nodes: HashMap<GraphId, HashMap<NodeId, &'p Node>>,
    /// What was declared for graphs that took others over.
    conditions: HashMap<GraphId, &'p [Condition]>,
    arguments: HashMap<GraphId, Vec<(NodeId, &'p [u8])>>,
}

impl<'p> Present<'p> {
    fn give(&mut self, node: NodeId, parameters: &'p Node) {
        self.nodes.entry(node.graph()).or_default().insert(node, parameters);
    }

    fn put_into(&self, graph: &mut Graph) -> Result<()> {
        self.put_nodes_into(graph)?;
        for (node, arguments) in self.arguments.get(&graph.id()).into_iter().flatten() {
            // A disabled node is an empty one here.
            if let Node::Kernel(kernel) = graph.node_mut(*node)? {
                kernel.kernargs = (*arguments).into();
            }
        }
        Ok(())
    }

    fn put_nodes_into(&self, graph: &mut Graph) -> Result<()> {
        for (&node, &parameters) in self.nodes.get(&graph.id()).into_iter().flatten() {
            match (graph.node_mut(node)?, parameters) {
                // Its bodies are graphs of their own, with what they were given.
                (Node::Conditional(mine), Node::Conditional(new)) => {
                    mine.set_condition(new.condition().clone());
                }
                (mine, parameters) => *mine = parameters.clone(),
            }
        }
        if let Some(conditions) = self.conditions.get(&graph.id()) {
            graph.redeclare(conditions.to_vec());
        }
        Ok(())
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
        let flat = (0u32..).zip(&state.main).filter(|(_, unit)| state.is_disabled(**unit));
        let disabled = flat.map(|(flat, _)| self.0.flat.nodes()[flat as usize].origin);
        let disabled = disabled.chain(state.conditionals.disabled());
        let mut arguments: HashMap<GraphId, Vec<(NodeId, &[u8])>> = HashMap::new();
        for flat in state.parameters.with_arguments() {
            let origin = self.0.flat.nodes()[flat as usize].origin;
            if let Some(dispatch) = state.units[state.main[flat as usize] as usize].kernel() {
                let bytes = &dispatch.kernargs[..dispatch.code.argument_bytes()];
                arguments.entry(origin.graph()).or_default().push((origin, bytes));
            }
        }
        let priorities = self.0.options.node_priority;
        let graph = state.parameters.graph(&self.0.shape, priorities, disabled, arguments)?;
        let is_memory = |(_, node): (_, &Node)| matches!(node, Node::MemAlloc(_) | Node::MemFree(_));
        if graph.with_nested().iter().any(|graph| graph.nodes().any(is_memory)) {
            return Err(Error::NotSupported("launching a graph with memory nodes into a capture"));
        }
        let later = state.alive.values().flat_map(|(objects, _)| objects);
        let taken_over = state.taken_over.values().flatten();
        let held = state.held.resources();
        let alive =
            self.0.resources.alive.iter().chain(later).chain(taken_over).chain(held).cloned().collect();
        Ok(Template::of(graph, &self.0.device, alive))
    }
}
