//! A graph template of the runtime: the graph, and the memory that its allocation nodes own.

use std::sync::{Arc, Mutex};

use crate::{
    GraphNode,
    capture::ancestors,
    device::{Device, Fence},
    error::{Error, Result},
    event::Event,
    graph::{Graph, MemAlloc, MemFree, Node, NodeId},
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
    /// Shared with the executables that were made of it, until it is edited.
    graph: Arc<Graph<Function, Event>>,
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
            graph: Arc::new(Graph::new()),
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
        if Arc::get_mut(&mut self.graph).is_none() {
            self.graph = Arc::new(self.graph.snapshot());
        }
        // PANIC: nobody else had it, or this is a copy that nobody else has.
        Arc::get_mut(&mut self.graph).expect("the graph is not shared")
    }

    /// The nodes and edges as they are now, whatever becomes of the template.
    pub(crate) fn shared_graph(&self) -> Arc<Graph<Function, Event>> {
        self.graph.clone()
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

    /// The graph that is reached by following child nodes, outermost first; an empty path is the template's own.
    ///
    /// # Errors
    /// [`Error::Graph`] if one of them is no child node (any more).
    pub fn at<'t>(&'t mut self, path: &'t [NodeId]) -> Result<Subgraph<'t>> {
        self.graph.descendant(path)?;
        Ok(Subgraph { template: self, path })
    }

    fn whole(&mut self) -> Subgraph<'_> {
        Subgraph { template: self, path: &[] }
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
        let before = ancestors(&self.graph, dependencies);
        let reservation = self.memory.reserve(device, bytes, |node| before.contains(&node))?;
        let address = reservation.address;
        // CAST: ordinals are small.
        let node = Node::MemAlloc(MemAlloc { address, bytes, device: device.ordinal() as u32 });
        let id = self.graph_mut().add(node, dependencies)?;
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
        let id = self.graph_mut().add(Node::MemFree(MemFree { address }), dependencies)?;
        self.memory.free(address, id)?;
        Ok((id, ()))
    }

    /// Whether the graph allocates or frees memory.
    pub fn has_memory_nodes(&self) -> bool {
        !self.memory.is_empty()
    }

    /// A deep copy.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the graph has memory nodes: their addresses have one owner.
    pub fn try_clone(&self) -> Result<Self> {
        self.refuse_with_memory("cloning a graph with memory nodes")?;
        Ok(self.around(Graph::clone(&self.graph)))
    }

    /// A template without memory nodes, whose nodes' parameters point to `alive`.
    pub(crate) fn of(graph: Graph<Function, Event>, device: &Device, alive: Vec<Alive>) -> Self {
        Self {
            graph: Arc::new(graph),
            device: device.clone(),
            memory: GraphMemory::default(),
            alive,
            instances: Arc::default(),
        }
    }

    /// A template of this one's kind for a copy of one of its graphs.
    fn around(&self, graph: Graph<Function, Event>) -> Self {
        Self::of(graph, &self.device, self.alive.clone())
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

    fn refuse_with_memory(&self, what: &'static str) -> Result<()> {
        if self.has_memory_nodes() { Err(Error::NotSupported(what)) } else { Ok(()) }
    }
}

/// A graph of a template, for queries and edits: the outermost one, or one nested in it.
pub struct Subgraph<'t> {
    template: &'t mut Template,
    path: &'t [NodeId],
}

/// Nested graphs own no memory: their allocations would have as many owners as the graph around them has copies.
const NESTED_MEMORY: Error = Error::NotSupported("a memory node in a child graph");

impl Subgraph<'_> {
    /// The nodes and edges.
    pub fn graph(&self) -> &Graph<Function, Event> {
        // PANIC: the path was followed when this was made, and the template has been borrowed since.
        self.template.graph.descendant(self.path).expect("the path leads to a graph")
    }

    /// The nodes and edges, for edits that do not touch memory nodes.
    pub fn graph_mut(&mut self) -> &mut Graph<Function, Event> {
        // PANIC: as above.
        self.template.graph_mut().descendant_mut(self.path).expect("the path leads to a graph")
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
        if matches!(node, Node::MemAlloc(_) | Node::MemFree(_)) {
            return Err(Error::InvalidValue("allocation and free nodes are not made from parameters"));
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

    /// Edits inside a nested graph do not change what lies around its allocations.
    fn refuse_with_memory(&self, what: &'static str) -> Result<()> {
        if self.path.is_empty() { self.template.refuse_with_memory(what) } else { Ok(()) }
    }
}

impl From<crate::graph::Error> for Error {
    fn from(e: crate::graph::Error) -> Self {
        Error::Graph(e.to_string())
    }
}
