//! A graph template of the runtime: the graph, and the memory that its allocation nodes own.

use std::sync::{Arc, Mutex};

use smallvec::SmallVec;

use crate::{
    GraphNode,
    capture::ancestors,
    condition,
    device::{Device, Fence},
    error::{Error, Result},
    event::Event,
    graph::{Condition, ConditionalKind, Graph, Inside, MemAlloc, MemFree, Node, NodeId},
    module::Function,
    pool::graph_memory::{GraphMemory, NOT_ALLOCATED},
    typed::Alive,
};

/// The last launch of an executable graph that is gone, and the lane it ends on.
///
/// Graphs with memory nodes have at most one executable at a time, for their addresses are fixed; and even then a launch
/// of one that is gone may still use them.
pub(crate) type Instances = Mutex<Option<(Fence, u64)>>;

/// A graph that can be instantiated on a device.
pub struct Template {
    graph: Graph<Function, Event>,
    device: Device,
    memory: GraphMemory,
    /// What the nodes' parameters point to, as far as its owner gave it to the graph.
    alive: Vec<Alive>,
    /// Counts executable graphs, and tells the next one of the last launch of one that is gone.
    instances: Arc<Instances>,
}

impl Template {
    /// An empty graph on `device`.
    pub fn new(device: &Device) -> Self {
        Self {
            graph: Graph::new(),
            device: device.clone(),
            memory: GraphMemory::default(),
            alive: Vec::new(),
            instances: Arc::default(),
        }
    }

    /// The nodes and edges.
    pub fn graph(&self) -> &Graph<Function, Event> {
        &self.graph
    }

    /// The nodes and edges, for edits that do not touch memory nodes.
    pub fn graph_mut(&mut self) -> &mut Graph<Function, Event> {
        &mut self.graph
    }

    /// The device that nodes without one of their own run on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Keeps `objects` as long as the graph and its executables.
    pub(crate) fn keep(&mut self, objects: &[Alive]) {
        self.alive.extend_from_slice(objects);
    }

    pub(crate) fn alive(&self) -> &[Alive] {
        &self.alive
    }

    pub(crate) fn memory(&self) -> &GraphMemory {
        &self.memory
    }

    pub(crate) fn instances(&self) -> &Arc<Instances> {
        &self.instances
    }

    /// The graph that is reached by stepping into child nodes, or into bodies of conditional nodes, outermost first; an
    /// empty path is the template's own.
    ///
    /// # Errors
    /// [`Error::Graph`] if there is no graph in one of them (any more).
    pub fn at<S: Copy + Into<Inside>>(&mut self, path: &[S]) -> Result<Subgraph<'_>> {
        self.graph.descendant(path)?;
        Ok(Subgraph { template: self, path: path.iter().map(|&step| step.into()).collect() })
    }

    fn whole(&mut self) -> Subgraph<'_> {
        Subgraph { template: self, path: SmallVec::new() }
    }

    /// Adds a node that runs behind `dependencies`; allocation and free nodes have methods of their own.
    ///
    /// # Errors
    /// [`Error::Graph`] for a bad dependency, [`Error::InvalidValue`] for an allocation or free node.
    pub fn add(&mut self, node: GraphNode, dependencies: &[NodeId]) -> Result<(NodeId, ())> {
        Ok((self.whole().add(node, dependencies)?, ()))
    }

    /// Adds a deep copy of `child` as one node.
    ///
    /// # Errors
    /// As [`Template::add`]; [`Error::NotSupported`] if `child` has memory nodes.
    pub fn add_child(&mut self, child: &Template, dependencies: &[NodeId]) -> Result<NodeId> {
        self.whole().add_child(child, dependencies)
    }

    /// Makes a condition for a conditional node of this graph or of one nested in it. Every launch begins with
    /// `default`; kernels store other values to [`Condition::address`].
    ///
    /// # Errors
    /// What the HSA runtime refuses.
    pub fn create_condition(&mut self, default: u64) -> Result<Condition> {
        self.whole().create_condition(default)
    }

    /// Adds a node that runs some of `bodies`, as the condition says, behind `dependencies`. What a body allocates it
    /// must free; it stays mapped as long as the graph and its executables.
    ///
    /// ```
    /// use aqlipse::{Device, Exec, Options, Stream, StreamKind, Template};
    /// use aqlipse::graph::{ConditionalKind, HostFn, Node};
    ///
    /// let device = Device::get(0)?;
    /// let mut graph = Template::new(&device);
    /// // No kernel stores to it: the second body runs, at every launch.
    /// let condition = graph.create_condition(0)?;
    /// let [mut yes, mut no] = [Template::new(&device), Template::new(&device)];
    /// yes.add(Node::Host(HostFn::new(|| unreachable!())), &[])?;
    /// no.add(Node::Host(HostFn::new(|| println!("no"))), &[])?;
    /// graph.add_conditional(&condition, ConditionalKind::If, vec![yes, no], &[])?;
    ///
    /// let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
    /// Exec::new(&graph, Options::default())?.launch(&stream)?;
    /// stream.synchronize()?;
    /// # Ok::<(), aqlipse::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a condition of another graph, one that has its node, or a body of another device;
    /// [`Error::Graph`] for a number of bodies that the kind cannot have and for a bad dependency;
    /// [`Error::NotSupported`] for a body that leaves memory allocated.
    pub fn add_conditional(
        &mut self,
        condition: &Condition,
        kind: ConditionalKind,
        bodies: Vec<Template>,
        dependencies: &[NodeId],
    ) -> Result<NodeId> {
        self.whole().add_conditional(condition, kind, bodies, dependencies)
    }

    /// Refuses a graph whose memory has become that of a conditional node.
    pub(crate) fn check_whole(&self) -> Result<()> {
        let moved = Error::NotSupported("a graph whose memory belongs to a conditional node now");
        if self.memory.has_moved() { Err(moved) } else { Ok(()) }
    }

    /// Adds a node that allocates `bytes` bytes on `device`; returns it with the address, which never changes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Graph`] for a bad dependency.
    pub fn add_allocation(
        &mut self,
        device: &Device,
        bytes: u64,
        dependencies: &[NodeId],
    ) -> Result<(NodeId, u64)> {
        let before = ancestors(self, dependencies);
        let reservation = self.memory.reserve(device, bytes, |node| before.contains(&node))?;
        let address = reservation.address;
        // CAST: ordinals are small.
        let node = Node::MemAlloc(MemAlloc { address, bytes, device: device.ordinal() as u32 });
        let id = self.graph.add(node, dependencies)?;
        self.memory.assign(&reservation, id);
        Ok((id, address))
    }

    /// Adds a node that frees the allocation at `address`.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if it is no allocation of this graph or freed already, [`Error::Graph`] for a bad
    /// dependency.
    pub fn add_free(&mut self, address: u64, dependencies: &[NodeId]) -> Result<(NodeId, ())> {
        if !self.memory.is_allocated(address) {
            return Err(NOT_ALLOCATED);
        }
        let id = self.graph.add(Node::MemFree(MemFree { address }), dependencies)?;
        self.memory.free(address, id)?;
        Ok((id, ()))
    }

    /// Whether the graph allocates or frees memory.
    pub fn has_memory_nodes(&self) -> bool {
        !self.memory.is_empty() || self.memory.has_moved()
    }

    /// A deep copy.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the graph has memory nodes: their addresses have one owner.
    pub fn try_clone(&self) -> Result<Self> {
        self.refuse_with_memory("cloning a graph with memory nodes")?;
        Ok(self.around(self.graph.clone()))
    }

    /// A template of this one's kind for a copy of one of its graphs.
    fn around(&self, graph: Graph<Function, Event>) -> Self {
        Self {
            graph,
            device: self.device.clone(),
            memory: GraphMemory::default(),
            alive: self.alive.clone(),
            instances: Arc::default(),
        }
    }

    /// Removes a node with its edges.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the graph has memory nodes, [`Error::Graph`] if the node is not in it.
    pub fn remove(&mut self, node: NodeId) -> Result<()> {
        self.whole().remove(node)
    }

    /// Removes edges, all or none.
    ///
    /// # Errors
    /// As [`Template::remove`].
    pub fn remove_dependencies(&mut self, edges: &[(NodeId, NodeId)]) -> Result<()> {
        self.whole().remove_dependencies(edges)
    }

    /// Whether it can be a body of a conditional node.
    fn check_body(&self) -> Result<()> {
        self.check_whole()?;
        if self.memory.blocks().any(|(_, left)| left) {
            return Err(Error::NotSupported("a body of a conditional node that leaves memory allocated"));
        }
        if !self.memory.is_empty() && Arc::strong_count(&self.instances) > 1 {
            return Err(Error::NotSupported("a body whose memory an executable graph uses"));
        }
        Ok(())
    }

    fn refuse_with_memory(&self, what: &'static str) -> Result<()> {
        if self.has_memory_nodes() { Err(Error::NotSupported(what)) } else { Ok(()) }
    }
}

/// A graph of a template, for queries and edits: the outermost one, or one nested in it.
pub struct Subgraph<'t> {
    template: &'t mut Template,
    path: SmallVec<[Inside; 4]>,
}

/// Nested graphs own no memory: their allocations would have as many owners as the graph around them has copies.
const NESTED_MEMORY: Error = Error::NotSupported("a memory node in a child graph");

impl Subgraph<'_> {
    /// The nodes and edges.
    pub fn graph(&self) -> &Graph<Function, Event> {
        // PANIC: the path was followed when this was made, and the template has been borrowed since.
        self.template.graph.descendant(&self.path).expect("the path leads to a graph")
    }

    /// The nodes and edges, for edits that do not touch memory nodes.
    pub fn graph_mut(&mut self) -> &mut Graph<Function, Event> {
        // PANIC: as above.
        self.template.graph.descendant_mut(&self.path).expect("the path leads to a graph")
    }

    /// The device that nodes without one of their own run on.
    pub fn device(&self) -> &Device {
        &self.template.device
    }

    /// As [`Template::add`].
    ///
    /// # Errors
    /// As there.
    pub fn add(&mut self, node: GraphNode, dependencies: &[NodeId]) -> Result<NodeId> {
        if matches!(node, Node::MemAlloc(_) | Node::MemFree(_) | Node::Conditional(_)) {
            let what = "allocation, free and conditional nodes are not made from parameters";
            return Err(Error::InvalidValue(what));
        }
        Ok(self.graph_mut().add(node, dependencies)?)
    }

    /// As [`Template::add_child`].
    ///
    /// # Errors
    /// As there.
    pub fn add_child(&mut self, child: &Template, dependencies: &[NodeId]) -> Result<NodeId> {
        if child.has_memory_nodes() {
            return Err(Error::NotSupported("a child graph with memory nodes"));
        }
        let node = self.graph_mut().add_child(&child.graph, dependencies)?;
        self.template.alive.extend_from_slice(&child.alive);
        Ok(node)
    }

    /// As [`Template::add_allocation`].
    ///
    /// # Errors
    /// As there; [`Error::NotSupported`] in a nested graph.
    pub fn add_allocation(
        &mut self,
        device: &Device,
        bytes: u64,
        dependencies: &[NodeId],
    ) -> Result<(NodeId, u64)> {
        if !self.path.is_empty() {
            return Err(NESTED_MEMORY);
        }
        self.template.add_allocation(device, bytes, dependencies)
    }

    /// As [`Template::add_free`].
    ///
    /// # Errors
    /// As there; [`Error::NotSupported`] in a nested graph.
    pub fn add_free(&mut self, address: u64, dependencies: &[NodeId]) -> Result<NodeId> {
        if !self.path.is_empty() {
            return Err(NESTED_MEMORY);
        }
        Ok(self.template.add_free(address, dependencies)?.0)
    }

    /// As [`Template::create_condition`].
    ///
    /// # Errors
    /// As there.
    pub fn create_condition(&mut self, default: u64) -> Result<Condition> {
        let condition = condition::create(&self.template.device, default)?;
        self.graph_mut().declare(condition.clone());
        Ok(condition)
    }

    /// The condition whose value has this address, if it was made for this graph or for one around it.
    pub fn condition_at(&self, address: u64) -> Option<Condition> {
        let around =
            (0..=self.path.len()).filter_map(|n| self.template.graph.descendant(&self.path[..n]).ok());
        let mut conditions = around.flat_map(|graph| graph.conditions());
        conditions.find(|condition| condition.address() == address).cloned()
    }

    /// What [`Subgraph::add_conditional`] refuses of a node whose bodies are not there yet.
    ///
    /// # Errors
    /// As there.
    pub fn check_conditional(
        &self,
        condition: &Condition,
        kind: ConditionalKind,
        bodies: usize,
        dependencies: &[NodeId],
    ) -> Result<()> {
        if self.condition_at(condition.address()).is_none() {
            return Err(Error::InvalidValue("a condition of another graph"));
        }
        if self.graph().user_of(condition).is_some() {
            return Err(Error::InvalidValue("a condition that has its conditional node"));
        }
        if !kind.takes(bodies) {
            return Err(crate::graph::Error::BodyCount { kind, bodies }.into());
        }
        match dependencies.iter().find(|&&node| !self.graph().topology().contains(node)) {
            Some(&node) => Err(crate::graph::Error::UnknownNode(node).into()),
            None => Ok(()),
        }
    }

    /// As [`Template::add_conditional`].
    ///
    /// # Errors
    /// As there.
    pub fn add_conditional(
        &mut self,
        condition: &Condition,
        kind: ConditionalKind,
        bodies: Vec<Template>,
        dependencies: &[NodeId],
    ) -> Result<NodeId> {
        self.check_conditional(condition, kind, bodies.len(), dependencies)?;
        for body in &bodies {
            body.check_body()?;
            if body.device != self.template.device {
                return Err(Error::InvalidValue("a body for another device"));
            }
        }
        let mut graphs = Vec::with_capacity(bodies.len());
        for Template { graph, memory, alive, .. } in bodies {
            graphs.push(graph);
            self.template.memory.adopt(memory);
            self.template.alive.extend(alive);
        }
        Ok(self.graph_mut().add_conditional(condition.clone(), kind, graphs, dependencies)?)
    }

    /// What [`Subgraph::to_body`] refuses.
    ///
    /// # Errors
    /// As there.
    pub fn check_body(&self) -> Result<()> {
        if self.path.is_empty() {
            return self.template.check_body();
        }
        self.refuse_with_memory("a body of a conditional node as another's, with its memory")
    }

    /// A copy that can become a body. The memory of its allocations goes with it: neither this graph nor another copy
    /// can be instantiated from then on.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a graph that leaves memory allocated, has given its memory away, or has an executable
    /// that uses it.
    pub fn to_body(&mut self) -> Result<Template> {
        self.check_body()?;
        let graph = self.graph().clone();
        if !self.path.is_empty() {
            return Ok(self.template.around(graph));
        }
        let memory = self.template.memory.give_away();
        Ok(Template { memory, ..self.template.around(graph) })
    }

    /// As [`Template::remove`].
    ///
    /// # Errors
    /// As there.
    pub fn remove(&mut self, node: NodeId) -> Result<()> {
        self.refuse_with_memory("removing a node of a graph with memory nodes")?;
        self.graph_mut().remove(node)?;
        Ok(())
    }

    /// As [`Template::remove_dependencies`].
    ///
    /// # Errors
    /// As there.
    pub fn remove_dependencies(&mut self, edges: &[(NodeId, NodeId)]) -> Result<()> {
        self.refuse_with_memory("removing an edge of a graph with memory nodes")?;
        Ok(self.graph_mut().remove_dependencies(edges.iter().copied())?)
    }

    /// A deep copy as a template of its own.
    ///
    /// # Errors
    /// As [`Template::try_clone`].
    pub fn try_clone(&self) -> Result<Template> {
        self.refuse_with_memory("cloning a graph with memory nodes")?;
        Ok(self.template.around(self.graph().clone()))
    }

    /// A copy as a template of its own whose graphs and nodes have the identities of the original: to instantiate, to
    /// clone or to compare with, while the original is let go.
    ///
    /// # Errors
    /// As [`Template::try_clone`].
    pub fn snapshot(&self) -> Result<Template> {
        self.refuse_with_memory("copying a graph with memory nodes")?;
        Ok(self.template.around(self.graph().snapshot()))
    }

    /// Edits inside a nested graph do not change what lies around the allocations of others; those of a body are the
    /// template's.
    fn refuse_with_memory(&self, what: &'static str) -> Result<()> {
        if self.path.is_empty() {
            return self.template.refuse_with_memory(what);
        }
        let is_memory = |(_, node): (_, &GraphNode)| matches!(node, Node::MemAlloc(_) | Node::MemFree(_));
        let has_memory = |graph: &Graph<Function, Event>| graph.nodes().any(is_memory);
        let inside =
            self.template.has_memory_nodes() && self.graph().with_nested().into_iter().any(has_memory);
        if inside { Err(Error::NotSupported(what)) } else { Ok(()) }
    }
}

impl From<crate::graph::Error> for Error {
    fn from(e: crate::graph::Error) -> Self {
        Error::Graph(e.to_string())
    }
}
