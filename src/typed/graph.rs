//! Graphs of trusted kernels, host closures and typed memory: built node by node, or captured.

use std::{fmt, sync::Arc, time::Duration};

use super::{Alive, DeviceSlice, HostBuffer, Launch, Plain};
use aqlipse_graph::memory::graph::MemoryGraph;

use crate::{
    capture::{self, Mode},
    device::Device,
    error::{Error, Result},
    exec::{Exec, LaunchImage, Options, Report},
    graph::{self, Condition, ConditionalKind, HostFn, Memcpy, Memset, NodeId},
    memory,
    stream::Event,
    stream::Stream,
    template::Template,
};

/// A node of a [`Graph`], to be named as a dependency of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node(NodeId);

/// A graph template: it can be changed, but not run.
///
/// ```compile_fail,E0599
/// # use aqlipse::{Stream, typed::Graph};
/// fn example(graph: &Graph, stream: &Stream) {
///     graph.launch(stream);
/// }
/// ```
pub struct Graph {
    template: Template,
    /// Where what has no device of its own is placed.
    device: Device,
}

/// A graph ready to run: it can be launched, but its shape cannot be changed.
///
/// ```compile_fail,E0599
/// # use aqlipse::typed::{ExecGraph, Launch};
/// fn example(exec: &mut ExecGraph, launch: &Launch) {
///     exec.kernel(launch, &[]);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct ExecGraph(Exec);

impl Graph {
    /// An empty graph on `device`. Kernels run on the device that their launch was made for, whichever that is.
    pub fn new(device: &Device) -> Self {
        Self { template: Template::new(device), device: device.clone() }
    }

    /// Places what is added from now on, and is no kernel, on `device`: events, allocations, and copies and fills whose
    /// operands ask for no other.
    pub fn on(&mut self, device: &Device) -> &mut Self {
        self.device = device.clone();
        self
    }

    /// The graph of what `record` does with `stream`, none of which is executed.
    ///
    /// # Errors
    /// What `record` returns, or why the capture cannot be a graph; the stream no longer captures in either case.
    ///
    /// ```no_run
    /// # use aqlipse::{Device, Stream, StreamKind, typed::{Graph, Launch}};
    /// # fn example(launch: &Launch) -> aqlipse::Result<()> {
    /// let device = Device::get(0)?;
    /// let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
    /// let graph = Graph::capture(&stream, |stream| stream.run(launch))?;
    /// graph.instantiate()?.launch(&stream)?;
    /// # stream.synchronize()
    /// # }
    /// ```
    pub fn capture(stream: &Stream, record: impl FnOnce(&Stream) -> Result<()>) -> Result<Self> {
        /// Ends the capture if `record` panics: nothing else would.
        struct Open<'a>(&'a Stream);
        impl Drop for Open<'_> {
            fn drop(&mut self) {
                // An error tells that it has ended already.
                let _ = capture::end(self.0);
            }
        }
        capture::begin(stream, Mode::ThreadLocal, None)?;
        let open = Open(stream);
        let recorded = record(stream);
        let ended = capture::end(stream);
        std::mem::forget(open);
        recorded?;
        let template = Arc::try_unwrap(ended?);
        // A caller that asked for the capture's graph may hold it still.
        let template = template.map_err(|_| Error::IllegalState("the captured graph is in use elsewhere"))?;
        let template = template.into_inner();
        Ok(Self { template, device: stream.device().clone() })
    }

    /// Adds a kernel behind `after`. It runs on the device that the launch was made for.
    ///
    /// # Errors
    /// [`Error::Graph`] for a node of another graph or one named twice.
    pub fn kernel(&mut self, launch: &Launch, after: &[Node]) -> Result<Node> {
        self.template.keep(&launch.alive);
        let node = graph::Node::Kernel(launch.node.clone());
        Ok(Node(self.template.add_on(&launch.device, node, &ids(after))?))
    }

    /// Adds a closure that runs on the host. It must not wait for the device.
    ///
    /// # Errors
    /// As [`Graph::kernel`].
    pub fn host(&mut self, call: impl Fn() + Send + Sync + 'static, after: &[Node]) -> Result<Node> {
        self.add(graph::Node::Host(HostFn::new(call)), after)
    }

    /// Adds a copy from the host to the device.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] unless both have the same length; as [`Graph::kernel`].
    pub fn upload<T: Plain>(
        &mut self,
        to: DeviceSlice<T>,
        from: &HostBuffer<T>,
        after: &[Node],
    ) -> Result<Node> {
        self.copy(&[from.alive()], (to.address(), to.bytes()), (from.address(), from.bytes()), after)
    }

    /// Adds a copy from the device to the host.
    ///
    /// # Errors
    /// As [`Graph::upload`].
    pub fn download<T: Plain>(
        &mut self,
        to: &HostBuffer<T>,
        from: DeviceSlice<T>,
        after: &[Node],
    ) -> Result<Node> {
        self.copy(&[to.alive()], (to.address(), to.bytes()), (from.address(), from.bytes()), after)
    }

    fn copy(&mut self, alive: &[Alive], to: (u64, u64), from: (u64, u64), after: &[Node]) -> Result<Node> {
        let copy = matching_copy(to, from)?;
        memory::check_copy(&copy)?;
        self.template.keep(alive);
        self.add(graph::Node::Memcpy(copy), after)
    }

    /// Adds a fill of device memory with a byte.
    ///
    /// # Errors
    /// As [`Graph::kernel`].
    pub fn fill<T: Plain>(&mut self, slice: DeviceSlice<T>, byte: u8, after: &[Node]) -> Result<Node> {
        self.add(graph::Node::Memset(byte_fill(slice, byte)), after)
    }

    /// Adds a node that allocates memory for `len` elements, for the nodes behind it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; as [`Graph::kernel`].
    pub fn allocate<T: Plain>(&mut self, len: usize, after: &[Node]) -> Result<(Node, DeviceSlice<T>)> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::OutOfMemory { bytes: usize::MAX })?;
        let (node, address) = self.template.add_allocation(&self.device, bytes as u64, &ids(after))?;
        Ok((Node(node), DeviceSlice::new(address, len)))
    }

    /// Adds a node that frees what [`Graph::allocate`] gave.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for memory of another graph or memory freed already; as [`Graph::kernel`].
    pub fn free<T: Plain>(&mut self, slice: DeviceSlice<T>, after: &[Node]) -> Result<Node> {
        Ok(Node(self.template.add_free(slice.address(), &ids(after))?))
    }

    /// Adds a node that records `event`: in each launch, the event comes to stand for the place of the node.
    ///
    /// # Errors
    /// As [`Graph::kernel`].
    pub fn record(&mut self, event: &Event, after: &[Node]) -> Result<Node> {
        self.add(graph::Node::EventRecord(event.clone()), after)
    }

    /// Adds a node that holds back what follows it until `event`, as it stands at the launch, has been reached.
    ///
    /// # Errors
    /// As [`Graph::kernel`].
    pub fn wait(&mut self, event: &Event, after: &[Node]) -> Result<Node> {
        self.add(graph::Node::EventWait(event.clone()), after)
    }

    /// Adds a node that is only a place in the order.
    ///
    /// # Errors
    /// As [`Graph::kernel`].
    pub fn empty(&mut self, after: &[Node]) -> Result<Node> {
        self.add(graph::Node::Empty, after)
    }

    /// Adds a copy of `child` as one node.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if it allocates memory; as [`Graph::kernel`].
    pub fn child(&mut self, child: &Graph, after: &[Node]) -> Result<Node> {
        Ok(Node(self.template.add_child(&child.template, &ids(after))?))
    }

    /// Makes a condition for a conditional node of this graph or of one nested in it. Every launch begins with
    /// `default`; kernels that get the condition as an argument store other values.
    ///
    /// # Errors
    /// What the HSA runtime refuses.
    pub fn condition(&mut self, default: u64) -> Result<Condition> {
        self.template.create_condition(default)
    }

    /// Adds a node that runs some of `bodies`, as the condition says.
    ///
    /// # Errors
    /// As [`Template::add_conditional`].
    ///
    /// ```no_run
    /// # use aqlipse::{Device, graph::ConditionalKind, typed::{DeviceBuffer, Graph, Kernel}};
    /// # fn example(device: &Device, step: &Kernel, data: &DeviceBuffer<f32>) -> aqlipse::Result<()> {
    /// let mut graph = Graph::new(device);
    /// let unfinished = graph.condition(1)?;
    /// let mut body = Graph::new(device);
    /// // The kernel stores 0 to the condition when it has come far enough.
    /// body.kernel(&step.launch(device, [1; 3], [64, 1, 1], 0, &[data, &unfinished])?, &[])?;
    /// graph.conditional(&unfinished, ConditionalKind::While, vec![body], &[])?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn conditional(
        &mut self,
        condition: &Condition,
        kind: ConditionalKind,
        bodies: Vec<Graph>,
        after: &[Node],
    ) -> Result<Node> {
        let bodies = bodies.into_iter().map(|body| body.template).collect();
        let whole = &mut self.template;
        Ok(Node(whole.on(&self.device).add_conditional(condition, kind, bodies, &ids(after))?))
    }

    /// Lets `to` run behind `from`.
    ///
    /// # Errors
    /// [`Error::Graph`] for a node of another graph, an edge that exists, or one from a node to itself.
    pub fn edge(&mut self, from: Node, to: Node) -> Result<()> {
        Ok(self.template.graph_mut().add_dependencies([(from.0, to.0)])?)
    }

    /// Nodes and edges.
    pub fn size(&self) -> (usize, usize) {
        let topology = self.template.graph().topology();
        (topology.node_count(), topology.edge_count())
    }

    /// The graph as far as its memory goes: for reports and for `aqlipse doctor memory`.
    ///
    /// ```
    /// # use aqlipse::{Device, typed::Graph};
    /// let mut graph = Graph::new(&Device::get(0)?);
    /// let (node, slice) = graph.allocate::<u32>(1024, &[])?;
    /// graph.free(slice, &[node])?;
    /// let memory = graph.memory_graph()?;
    /// assert_eq!(memory.buffers[0].bytes, 4096);
    /// println!("{}", serde_json::to_string_pretty(&memory)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Graph`] if nodes depend on each other in a circle.
    pub fn memory_graph(&self) -> Result<MemoryGraph> {
        self.template.memory_graph()
    }

    /// As [`Template::expect`]: says how long a node takes, for plans that are made from then on.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use aqlipse::{Stream, typed::{Graph, Launch}};
    /// # fn example(graph: &mut Graph, long: &Launch, short: &Launch, stream: &Stream) -> aqlipse::Result<()> {
    /// let long = graph.kernel(long, &[])?;
    /// let short = graph.kernel(short, &[])?;
    /// graph.expect(long, Duration::from_micros(80));
    /// graph.expect(short, Duration::from_micros(5));
    /// let exec = graph.instantiate()?;
    /// // Or let launches measure it, and plan again.
    /// exec.profile(10)?;
    /// for _ in 0..10 {
    ///     exec.launch(stream)?;
    /// }
    /// stream.synchronize()?;
    /// exec.replan()
    /// # }
    /// ```
    pub fn expect(&mut self, node: Node, duration: Duration) {
        self.template.expect(node.0, duration);
    }

    /// As [`Template::duration`].
    pub fn duration(&self, node: Node) -> Option<Duration> {
        self.template.duration(node.0)
    }

    /// Compiles the graph.
    ///
    /// # Errors
    /// As [`Exec::new`].
    pub fn instantiate(&self) -> Result<ExecGraph> {
        self.instantiate_with(Options::default())
    }

    /// Compiles the graph with options.
    ///
    /// # Errors
    /// As [`Exec::new`].
    pub fn instantiate_with(&self, options: Options) -> Result<ExecGraph> {
        Exec::new(&self.template, options).map(ExecGraph)
    }

    /// Keeps `object` as long as the graph and what is made of it.
    pub(super) fn keep(&mut self, object: Alive) {
        self.template.keep(&[object]);
    }

    pub(super) fn template(&self) -> &Template {
        &self.template
    }

    fn add(&mut self, node: crate::graph::Node, after: &[Node]) -> Result<Node> {
        Ok(Node(self.template.add_on(&self.device, node, &ids(after))?))
    }
}

impl ExecGraph {
    /// Launches the graph behind what is on `stream`, and behind its own earlier launches.
    ///
    /// # Errors
    /// As [`Exec::launch`].
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        self.0.launch(stream)
    }

    /// As [`Exec::upload`].
    ///
    /// # Errors
    /// As [`Exec::upload`].
    pub fn upload(&self, stream: &Stream) -> Result<()> {
        self.0.upload(stream)
    }

    /// As [`Exec::device_graph`].
    ///
    /// # Errors
    /// As [`Exec::device_graph`].
    pub fn device_graph(&self) -> Result<u64> {
        self.0.device_graph()
    }

    /// As [`Exec::omit_acquires`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn omit_acquires(&self) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.0.omit_acquires() };
    }

    /// As [`Exec::launch_image`].
    pub fn launch_image(&self) -> LaunchImage {
        self.0.launch_image()
    }

    /// As [`Exec::profile`].
    ///
    /// # Errors
    /// As [`Exec::profile`].
    pub fn profile(&self, launches: u32) -> Result<()> {
        self.0.profile(launches)
    }

    /// As [`Exec::replan`].
    ///
    /// # Errors
    /// As [`Exec::replan`].
    pub fn replan(&self) -> Result<()> {
        self.0.replan()
    }

    /// Gives the kernel node `node` another launch; launches in flight keep theirs.
    ///
    /// # Errors
    /// As [`Exec::set_node`].
    pub fn set_kernel(&self, node: Node, launch: &Launch) -> Result<()> {
        if self.0.device_of(node.0)? != launch.device {
            return Err(Error::InvalidValue("the node's kernel runs on another device"));
        }
        self.0.set_node_with(node.0, &graph::Node::Kernel(launch.node.clone()), &launch.alive)
    }

    pub(super) fn exec(&self) -> &Exec {
        &self.0
    }

    /// The executable in numbers.
    pub fn report(&self) -> Arc<Report> {
        self.0.report()
    }
}

impl Stream {
    /// Copies from the host to the device.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] unless both have the same length; what capture forbids.
    pub fn upload<T: Plain>(&self, to: DeviceSlice<T>, from: &HostBuffer<T>) -> Result<()> {
        let copy = matching_copy((to.address(), to.bytes()), (from.address(), from.bytes()))?;
        self.keep_alive(&[from.alive()])?;
        // SAFETY: the host end is a live pinned buffer, which the stream keeps.
        unsafe { self.memcpy(copy) }
    }

    /// Copies from the device to the host.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    pub fn download<T: Plain>(&self, to: &HostBuffer<T>, from: DeviceSlice<T>) -> Result<()> {
        let copy = matching_copy((to.address(), to.bytes()), (from.address(), from.bytes()))?;
        self.keep_alive(&[to.alive()])?;
        // SAFETY: the host end is a live pinned buffer, which the stream keeps.
        unsafe { self.memcpy(copy) }
    }

    /// Fills device memory with a byte.
    ///
    /// # Errors
    /// As [`Stream::memset`].
    pub fn fill<T: Plain>(&self, slice: DeviceSlice<T>, byte: u8) -> Result<()> {
        self.memset(byte_fill(slice, byte))
    }

    /// Calls a closure on the host when the stream gets there. It must not wait for the device.
    ///
    /// # Errors
    /// As [`Stream::host`].
    pub fn call(&self, call: impl Fn() + Send + Sync + 'static) -> Result<()> {
        self.host(HostFn::new(call))
    }

    /// Allocates memory for `len` elements; in a capture, as a node of the graph.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; what capture forbids.
    pub fn allocate<T: Plain>(&self, len: usize) -> Result<DeviceSlice<T>> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::OutOfMemory { bytes: usize::MAX })?;
        Ok(DeviceSlice::new(self.allocate_async(bytes)?, len))
    }

    /// Frees what [`Stream::allocate`] gave, when the stream gets there.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if it is no such memory or freed already.
    pub fn free<T: Plain>(&self, slice: DeviceSlice<T>) -> Result<()> {
        self.free_async(slice.address())
    }
}

fn ids(nodes: &[Node]) -> Vec<NodeId> {
    nodes.iter().map(|node| node.0).collect()
}

fn matching_copy(to: (u64, u64), from: (u64, u64)) -> Result<Memcpy> {
    if to.1 != from.1 {
        return Err(Error::InvalidValue("source and destination have different lengths"));
    }
    Ok(Memcpy::linear(to.0, from.0, to.1))
}

fn byte_fill<T: Plain>(slice: DeviceSlice<T>, byte: u8) -> Memset {
    let bytes = slice.bytes();
    Memset {
        dst: slice.address(),
        pitch: bytes,
        value: byte.into(),
        element_size: 1,
        width: bytes,
        height: 1,
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.template.graph().fmt(f)
    }
}
