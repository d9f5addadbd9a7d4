//! A graph template of the runtime: the graph, and the memory that its allocation nodes own.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    ops::{Deref, DerefMut},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use smallvec::SmallVec;

use aqlipse_graph::memory::graph::MemoryGraph;

use crate::{
    check::CaptureLog,
    condition,
    device::Device,
    device::fence::Alive,
    durations::Instances,
    error::{Error, Result},
    graph::{
        Condition, ConditionalKind, Graph, GraphId, Inside, Kernel, MemAlloc, MemFree, Node, NodeId,
        dot::{self, Detail},
    },
    module::Function,
    pool::graph_memory::{AllocationOptions, GraphMemory},
    stream::Event,
    user_object::UserObject,
};

/// A graph that can be instantiated on a device.
pub type Template = TemplateAt<'static>;

/// A graph of a template: the whole one, or one that is nested in it.
///
/// A template that was [made](Template::new) owns its graph. One that was [reached](TemplateAt::at) by a path borrows the
/// one around it. Nested graphs own no memory: their allocations would have as many owners as the graph around them has
/// copies.
pub struct TemplateAt<'t> {
    root: Root<'t>,
    /// The steps from the root's graph to this one, outermost first.
    path: SmallVec<[Inside; 4]>,
    /// The ordinal of the device on which nodes are placed; that of their graph if nothing was said.
    placed_on: Option<u32>,
}

enum Root<'t> {
    Own(Box<Whole>),
    Lent(&'t mut Whole),
}

impl Deref for Root<'_> {
    type Target = Whole;

    #[inline]
    fn deref(&self) -> &Whole {
        match self {
            Self::Own(whole) => whole,
            Self::Lent(whole) => whole,
        }
    }
}

impl DerefMut for Root<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Whole {
        match self {
            Self::Own(whole) => whole,
            Self::Lent(whole) => whole,
        }
    }
}

/// A graph that is nested in none, with what belongs to it.
struct Whole {
    /// Shared with the executables that were made of it, until it is edited.
    graph: Arc<Graph>,
    device: Device,
    memory: GraphMemory,
    /// What the nodes' parameters point to, as far as its owner gave it to the graph.
    alive: Vec<Alive>,
    /// Counts executable graphs, and tells the next one what is known from those before.
    instances: Arc<Instances>,
    edits: Edits,
    /// What the captures into it were told, where that is checked.
    captures: Vec<Arc<CaptureLog>>,
}

/// Counts the edits of a template, for executables that ask whether its nodes are still those that they were made of.
#[derive(Default)]
struct Edits(Arc<AtomicU64>);

impl Edits {
    /// What the count of a template is that is gone.
    const GONE: u64 = u64::MAX;

    fn count(&mut self) {
        // ORDER: Relaxed. A question during an edit may come before or behind it. Only edits count.
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

impl Drop for Edits {
    fn drop(&mut self) {
        self.0.store(Self::GONE, Ordering::Relaxed);
    }
}

/// The state of a template when it was looked at.
pub(crate) struct Edition {
    edits: Arc<AtomicU64>,
    seen: u64,
}

impl Edition {
    /// Whether the template exists and was not edited since.
    pub(crate) fn is_current(&self) -> bool {
        self.edits.load(Ordering::Relaxed) == self.seen
    }
}

impl Template {
    /// An empty graph on `device`.
    pub fn new(device: &Device) -> Self {
        // CAST: ordinals are small.
        Self::of(Graph::at_home(device.ordinal() as u32), device, Vec::new())
    }

    /// A template without memory nodes, whose nodes' parameters point to `alive`.
    pub(crate) fn of(graph: Graph, device: &Device, alive: Vec<Alive>) -> Self {
        let root = Root::Own(Box::new(Whole {
            graph: Arc::new(graph),
            device: device.clone(),
            memory: GraphMemory::default(),
            alive,
            instances: Arc::default(),
            edits: Edits::default(),
            captures: Vec::new(),
        }));
        Self { root, path: SmallVec::new(), placed_on: None }
    }

    /// The template as it is now, to be told from what edits make of it.
    pub(crate) fn edition(&self) -> Edition {
        Edition { edits: self.root.edits.0.clone(), seen: self.root.edits.0.load(Ordering::Relaxed) }
    }

    /// The nodes and edges as they are now, whatever becomes of the template; it holds nothing that the template does.
    pub(crate) fn shared_graph(&self) -> Arc<Graph> {
        let graph = &self.root.graph;
        if graph.holds_any() { Arc::new(graph.without_references()) } else { graph.clone() }
    }

    pub(crate) fn alive(&self) -> &[Alive] {
        &self.root.alive
    }

    pub(crate) fn memory(&self) -> &GraphMemory {
        &self.root.memory
    }

    pub(crate) fn instances(&self) -> &Arc<Instances> {
        &self.root.instances
    }

    /// A capture into the graph has begun, which is noted there.
    pub(crate) fn captured_by(&mut self, log: &Arc<CaptureLog>) {
        self.root.captures.push(log.clone());
    }

    /// What the captures into it were told.
    pub(crate) fn captures(&self) -> &[Arc<CaptureLog>] {
        &self.root.captures
    }

    /// Refuses a nested graph, and one whose memory has become that of a conditional node.
    pub(crate) fn check_whole(&self) -> Result<()> {
        if !self.path.is_empty() {
            return Err(Error::NotSupported("a nested graph in the place of a whole one"));
        }
        self.root.check_memory()
    }
}

impl Whole {
    /// Refuses a graph whose memory has become that of a conditional node.
    fn check_memory(&self) -> Result<()> {
        let moved = Error::NotSupported("a graph whose memory belongs to a conditional node now");
        if self.memory.has_moved() { Err(moved) } else { Ok(()) }
    }

    /// The graph, for edits.
    #[inline]
    fn graph_mut(&mut self) -> &mut Graph {
        self.edits.count();
        // Nothing else can come to share it while it is borrowed here, and there are no weak references.
        if Arc::strong_count(&self.graph) > 1 {
            self.graph = Arc::new(self.graph.snapshot());
        }
        // PANIC: nothing else had it, or this is a copy that nothing else has.
        Arc::get_mut(&mut self.graph).expect("the graph is not shared")
    }

    /// A template of this one's kind for a copy of one of its graphs.
    fn around(&self, graph: Graph) -> Template {
        Template::of(graph, &self.device, self.alive.clone())
    }
}

impl TemplateAt<'_> {
    /// The nodes and edges.
    #[inline]
    pub fn graph(&self) -> &Graph {
        if self.path.is_empty() {
            return &self.root.graph;
        }
        // PANIC: the path was followed when this was made, and the root has been borrowed since.
        self.root.graph.descendant(&self.path).expect("the path leads to a graph")
    }

    /// The nodes and edges, for edits that do not touch memory nodes.
    #[inline]
    pub fn graph_mut(&mut self) -> &mut Graph {
        if self.path.is_empty() {
            return self.root.graph_mut();
        }
        // PANIC: as above.
        self.root.graph_mut().descendant_mut(&self.path).expect("the path leads to a graph")
    }

    /// The device that nodes without one of their own run on.
    pub fn device(&self) -> &Device {
        &self.root.device
    }

    /// Keeps `objects` as long as the graph and its executables.
    pub(crate) fn keep(&mut self, objects: &[Alive]) {
        self.root.alive.extend_from_slice(objects);
    }

    /// Says how long a node takes, one of a nested graph included: executables that are made from then on are planned
    /// with that. If it is said of some nodes only, plans are made for what the others may take. What profiled launches
    /// measure later ([`Exec::profile`](crate::Exec::profile)) counts instead.
    pub fn expect(&mut self, node: NodeId, duration: Duration) {
        self.root.instances.durations().expect(node, duration);
    }

    /// How long a node takes, as far as that was [said](TemplateAt::expect) or measured: the median of the latest profiled
    /// launches.
    pub fn duration(&self, node: NodeId) -> Option<Duration> {
        let known = self.root.instances.durations().known();
        known.get(&node).map(|&nanoseconds| Duration::from_nanos(nanoseconds.into()))
    }

    /// The graph that is reached from this one by stepping into child nodes, or into bodies of conditional nodes,
    /// outermost first; with an empty path this one.
    ///
    /// # Errors
    /// [`Error::Graph`] if there is no graph in one of them (any more).
    pub fn at<S: Copy + Into<Inside>>(&mut self, path: &[S]) -> Result<TemplateAt<'_>> {
        self.graph().descendant(path)?;
        let path = self.path.iter().copied().chain(path.iter().map(|&step| step.into())).collect();
        Ok(TemplateAt { root: Root::Lent(&mut self.root), path, placed_on: None })
    }

    /// The graph in the DOT language, with as much detail as is wanted.
    ///
    /// ```
    /// use aqlipse::{Device, Template, graph::{Node, dot::Detail}};
    ///
    /// let mut template = Template::new(&Device::get(0)?);
    /// let first = template.add(Node::Empty, &[])?;
    /// let second = template.add(Node::Empty, &[first])?;
    /// assert!(template.dot(Detail::NONE).contains(&format!("\"{first}\" -> \"{second}\"")));
    /// # Ok::<(), aqlipse::Error>(())
    /// ```
    pub fn dot(&self, detail: Detail) -> String {
        let mut text = Vec::new();
        let written = self.graph().write_dot(&mut text, detail, &Labels);
        debug_assert!(written.is_ok(), "memory takes everything");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The graph as far as its memory goes, nested graphs included: for reports and for `aqlipse doctor memory`.
    ///
    /// # Errors
    /// [`Error::Graph`] if nodes depend on each other in a circle.
    pub fn memory_graph(&self) -> Result<MemoryGraph> {
        Ok(MemoryGraph::of(self.graph(), |kernel| kernel.name().to_string())?)
    }

    /// The same graph, to add and set nodes on `device`: kernels run there; copies, fills and events do unless their
    /// operands ask for another.
    #[inline(always)]
    pub fn on(&mut self, device: &Device) -> TemplateAt<'_> {
        // CAST: ordinals are small.
        let placed_on = Some(device.ordinal() as u32);
        // Mostly so: a copy of a path takes longer.
        let path = if self.path.is_empty() { SmallVec::new() } else { self.path.clone() };
        TemplateAt { root: Root::Lent(&mut self.root), path, placed_on }
    }

    /// The device that a node was placed on.
    ///
    /// # Errors
    /// [`Error::InvalidDevice`], which a node that was placed through this type never is.
    pub fn device_of(&self, node: NodeId) -> Result<Device> {
        Device::get(self.graph().device_of(node) as usize)
    }

    /// Replaces the parameters of a node by others of the same kind.
    ///
    /// # Errors
    /// [`Error::Graph`] for a node of another kind or of no graph.
    pub fn set(&mut self, node: NodeId, parameters: Node) -> Result<()> {
        self.graph_mut().set(node, parameters)?;
        self.place(node)
    }

    fn place(&mut self, node: NodeId) -> Result<()> {
        match self.placed_on {
            Some(device) => Ok(self.graph_mut().place(node, device)?),
            None => Ok(()),
        }
    }

    /// Adds a node that runs behind `dependencies`; allocation and free nodes have methods of their own.
    ///
    /// # Errors
    /// [`Error::Graph`] for a bad dependency, [`Error::InvalidValue`] for an allocation or free node.
    pub fn add(&mut self, node: Node, dependencies: &[NodeId]) -> Result<NodeId> {
        self.add_behind(node, dependencies.iter().copied())
    }

    /// As [`TemplateAt::add`], for a node that runs on `device`.
    ///
    /// # Errors
    /// As there.
    pub fn add_on(&mut self, device: &Device, node: Node, dependencies: &[NodeId]) -> Result<NodeId> {
        self.on(device).add(node, dependencies)
    }

    /// As [`TemplateAt::add`], with dependencies that need not lie in memory.
    ///
    /// # Errors
    /// As there.
    pub fn add_behind(
        &mut self,
        node: Node,
        dependencies: impl IntoIterator<Item = NodeId>,
    ) -> Result<NodeId> {
        if matches!(node, Node::MemAlloc(_) | Node::MemFree(_) | Node::Conditional(_)) {
            let what = "allocation, free and conditional nodes are not made from parameters";
            return Err(Error::InvalidValue(what));
        }
        let device = self.placed_on;
        let graph = self.graph_mut();
        Ok(graph.add_behind(device.unwrap_or(graph.home()), dependencies, || node)?)
    }

    /// Adds a kernel that `make` makes where the node stays and `fill` gives its arguments there: as a whole it is larger
    /// than what is known of it before.
    ///
    /// # Errors
    /// [`Error::Graph`] for a bad dependency.
    #[inline]
    pub fn add_kernel(
        &mut self,
        dependencies: impl IntoIterator<Item = NodeId>,
        make: impl FnOnce() -> Kernel<Function>,
        fill: impl FnOnce(&mut Kernel<Function>),
    ) -> Result<NodeId> {
        let device = self.placed_on;
        let graph = self.graph_mut();
        let device = device.unwrap_or(graph.home());
        let id = graph.add_behind(device, dependencies, || Node::Kernel(make()))?;
        if let Some(Node::Kernel(kernel)) = graph.latest_mut() {
            fill(kernel);
        }
        Ok(id)
    }

    /// Adds a deep copy of `child` as one node.
    ///
    /// # Errors
    /// As [`TemplateAt::add`]; [`Error::NotSupported`] if `child` has memory nodes.
    pub fn add_child(&mut self, child: &TemplateAt<'_>, dependencies: &[NodeId]) -> Result<NodeId> {
        if child.has_memory_nodes() {
            return Err(Error::NotSupported("a child graph with memory nodes"));
        }
        let node = self.graph_mut().add_child(child.graph(), dependencies)?;
        self.root.alive.extend_from_slice(&child.root.alive);
        Ok(node)
    }

    /// Makes a condition for a conditional node of this graph or of one nested in it. Every launch begins with
    /// `default`; kernels store other values to [`Condition::address`].
    ///
    /// # Errors
    /// What the HSA runtime refuses.
    pub fn create_condition(&mut self, default: u64) -> Result<Condition> {
        let condition = condition::create(&self.root.device, default)?;
        self.graph_mut().declare(condition.clone());
        Ok(condition)
    }

    /// The condition whose value has this address, if it was made for this graph or for one around it.
    pub fn condition_at(&self, address: u64) -> Option<Condition> {
        let around = (0..=self.path.len()).filter_map(|n| self.root.graph.descendant(&self.path[..n]).ok());
        let mut conditions = around.flat_map(|graph| graph.conditions());
        conditions.find(|condition| condition.address() == address).cloned()
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
    /// [`Error::InvalidValue`] for a condition of another graph, or one that has its node;
    /// [`Error::Graph`] for a number of bodies that the kind cannot have and for a bad dependency;
    /// [`Error::NotSupported`] for a body that leaves memory allocated, or frees that of another graph.
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
            body.check_whole()?;
        }
        let mut graphs = Vec::with_capacity(bodies.len());
        for body in bodies {
            // One that is lent is nested, which the check has refused.
            let Root::Own(body) = body.root else { continue };
            let Whole { graph, memory, alive, captures, .. } = *body;
            graphs.push(Arc::try_unwrap(graph).unwrap_or_else(|shared| shared.snapshot()));
            self.root.memory.adopt(memory);
            self.root.alive.extend(alive);
            self.root.captures.extend(captures);
        }
        let node = self.graph_mut().add_conditional(condition.clone(), kind, graphs, dependencies)?;
        self.place(node)?;
        Ok(node)
    }

    /// What [`TemplateAt::add_conditional`] refuses of a node whose bodies are not there yet.
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

    /// Adds a node that allocates `bytes` bytes on `device`; returns it with the address, which never changes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Graph`] for a bad dependency; [`Error::NotSupported`] in a nested graph.
    pub fn add_allocation(
        &mut self,
        device: &Device,
        bytes: u64,
        dependencies: &[NodeId],
    ) -> Result<(NodeId, u64)> {
        self.add_allocation_with(device, bytes, AllocationOptions::default(), dependencies)
    }

    /// As [`TemplateAt::add_allocation`], with access for other devices and what else the node is to remember.
    ///
    /// # Errors
    /// As there; [`Error::NotSupported`], [`Error::PeerAccessUnsupported`] or [`Error::InvalidValue`] for access that
    /// cannot be given.
    pub fn add_allocation_with(
        &mut self,
        device: &Device,
        bytes: u64,
        options: AllocationOptions,
        dependencies: &[NodeId],
    ) -> Result<(NodeId, u64)> {
        self.check_owns_memory()?;
        let before = ancestors(self.graph(), dependencies);
        let reservation = self.root.memory.reserve(device, bytes, &options, |node| before.contains(&node))?;
        let address = reservation.address;
        // CAST: ordinals are small.
        let node = Node::MemAlloc(MemAlloc { address, bytes, device: device.ordinal() as u32 });
        let id = self.graph_mut().add(node, dependencies)?;
        self.root.memory.assign(&reservation, id, options);
        Ok((id, address))
    }

    /// What an allocation node of the graph was given besides its size.
    pub fn allocation_options(&self, node: NodeId) -> Option<Arc<AllocationOptions>> {
        self.root.memory.options(node).cloned()
    }

    /// Adds a node that frees the allocation at `address`: one of this graph, or one that launches of another graph
    /// leave allocated.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if it is no allocation of a graph, if a node of this graph frees it already, or if it
    /// is another graph's that frees it itself; [`Error::Graph`] for a bad dependency; [`Error::NotSupported`] in a nested
    /// graph.
    pub fn add_free(&mut self, address: u64, dependencies: &[NodeId]) -> Result<NodeId> {
        self.check_owns_memory()?;
        let freeing = self.root.memory.freeing(address)?;
        match self.graph_mut().add(Node::MemFree(MemFree { address }), dependencies) {
            Ok(id) => {
                self.root.memory.free(freeing, id);
                Ok(id)
            }
            Err(refused) => {
                freeing.withdraw();
                Err(refused.into())
            }
        }
    }

    fn check_owns_memory(&self) -> Result<()> {
        if self.path.is_empty() {
            Ok(())
        } else {
            Err(Error::NotSupported("a memory node in a nested graph"))
        }
    }

    /// Lets this graph own `count` references to `object`: new ones, or with `from_caller` those of the
    /// caller's, as far as there are so many.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a count of 0 or more than 2^31 - 1, for more references than can be counted, or for
    /// an object that is gone.
    pub fn retain_object(&mut self, object: &UserObject, count: u32, from_caller: bool) -> Result<()> {
        object.retain_for(self.graph_mut().references_mut(), count, from_caller)
    }

    /// Lets this graph give up `count` references to `object`.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a count of 0 or more than 2^31 - 1.
    pub fn release_object(&mut self, object: &UserObject, count: u32) -> Result<()> {
        object.release_from(self.graph_mut().references_mut(), count).map(drop)
    }

    /// Whether the graph allocates or frees memory.
    pub fn has_memory_nodes(&self) -> bool {
        let memory = &self.root.memory;
        let whole = !memory.is_empty() || memory.has_moved();
        if self.path.is_empty() {
            return whole;
        }
        let is_memory = |(_, node): (_, &Node)| matches!(node, Node::MemAlloc(_) | Node::MemFree(_));
        whole && self.graph().with_nested().into_iter().any(|graph| graph.nodes().any(is_memory))
    }

    /// Edits inside a nested graph do not change what lies around the allocations of others; those of a body are the
    /// root's.
    fn refuse_with_memory(&self, what: &'static str) -> Result<()> {
        if self.has_memory_nodes() { Err(Error::NotSupported(what)) } else { Ok(()) }
    }

    /// Removes a node with its edges.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the graph has memory nodes, [`Error::Graph`] if the node is not in it.
    pub fn remove(&mut self, node: NodeId) -> Result<()> {
        self.refuse_with_memory("removing a node of a graph with memory nodes")?;
        self.graph_mut().remove(node)?;
        Ok(())
    }

    /// Removes edges, all or none.
    ///
    /// # Errors
    /// As [`TemplateAt::remove`].
    pub fn remove_dependencies(&mut self, edges: &[(NodeId, NodeId)]) -> Result<()> {
        self.refuse_with_memory("removing an edge of a graph with memory nodes")?;
        Ok(self.graph_mut().remove_dependencies(edges.iter().copied())?)
    }

    /// A deep copy as a template of its own.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the graph has memory nodes: their addresses have one owner.
    pub fn try_clone(&self) -> Result<Template> {
        self.refuse_with_memory("cloning a graph with memory nodes")?;
        Ok(self.root.around(self.graph().clone()))
    }

    /// A copy as a template of its own whose graphs and nodes have the identities of the original: to instantiate, to
    /// clone or to compare with, while the original is let go.
    ///
    /// # Errors
    /// As [`TemplateAt::try_clone`].
    pub fn snapshot(&self) -> Result<Template> {
        self.refuse_with_memory("copying a graph with memory nodes")?;
        Ok(self.root.around(self.graph().snapshot()))
    }

    /// What [`TemplateAt::to_body`] refuses.
    ///
    /// # Errors
    /// As there.
    pub fn check_body(&self) -> Result<()> {
        if !self.path.is_empty() {
            return self.refuse_with_memory("a body of a conditional node as another's, with its memory");
        }
        self.root.check_memory()?;
        if self.root.memory.foreign().next().is_some() {
            return Err(Error::NotSupported(
                "a body of a conditional node that frees another graph's memory",
            ));
        }
        if self.root.memory.blocks().any(|(_, left)| left) {
            return Err(Error::NotSupported("a body of a conditional node that leaves memory allocated"));
        }
        if !self.root.memory.is_empty() && Arc::strong_count(&self.root.instances) > 1 {
            return Err(Error::NotSupported("a body whose memory an executable graph uses"));
        }
        Ok(())
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
            return Ok(self.root.around(graph));
        }
        let copies: HashMap<GraphId, &Graph> =
            self.graph().with_nested().iter().map(|graph| graph.id()).zip(graph.with_nested()).collect();
        let counterpart = |node: NodeId| {
            let copy = copies.get(&node.graph()).and_then(|graph| graph.counterpart(node).ok());
            copy.unwrap_or(node)
        };
        let memory = self.root.memory.give_away(counterpart);
        let mut body = self.root.around(graph);
        body.root.memory = memory;
        Ok(body)
    }
}

/// `nodes` and everything that they depend on.
pub(crate) fn ancestors(graph: &Graph, nodes: &[NodeId]) -> HashSet<NodeId> {
    let mut found: HashSet<NodeId> = nodes.iter().copied().collect();
    let mut open: Vec<NodeId> = nodes.to_vec();
    while let Some(node) = open.pop() {
        if let Ok(dependencies) = graph.topology().dependencies(node) {
            open.extend(dependencies.filter(|d| found.insert(*d)));
        }
    }
    found
}

/// Kernels by their symbols and tokens, events by their numbers.
struct Labels;

impl dot::Labels<Function, Event, crate::external::ExternalSemaphore> for Labels {
    fn kernel<'k>(&self, kernel: &'k Function) -> Cow<'k, str> {
        kernel.name().into()
    }

    fn kernel_handle(&self, kernel: &Function) -> u64 {
        kernel.token() as u64
    }

    fn event_handle(&self, event: &Event) -> u64 {
        event.id()
    }
}

impl From<crate::graph::Error> for Error {
    fn from(e: crate::graph::Error) -> Self {
        Error::Graph(e.to_string())
    }
}
