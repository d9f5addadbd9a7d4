//! Recording work into a graph as an out-of-order queue would take it: edges follow from the memory that work touches.

use super::{
    Argument, DeviceSlice, Graph, HostBuffer, Launch, Node, Plain,
    access::{Accesses, Touch},
};
use crate::error::Result;

/// Records work into a graph, each piece behind the recorded work whose memory it needs.
///
/// Work that reads what earlier work wrote, or writes what earlier work read or wrote, runs behind it; other work may
/// run beside it. Nodes that the graph had before the recording began are not looked at: name them as dependencies.
///
/// ```no_run
/// # use aqlipse::{Device, Result, typed::{DeviceBuffer, Graph, Kernel, ReadOnly}};
/// # fn example(device: &Device, saxpy: &Kernel, sum: &Kernel, a: &DeviceBuffer<f32>, b: &DeviceBuffer<f32>,
/// #     c: &DeviceBuffer<f32>) -> Result<Graph> {
/// let mut graph = Graph::new(device);
/// let mut recording = graph.recording();
/// // The first two run side by side, the third behind both.
/// recording.submit(&saxpy.launch(device, [16, 1, 1], [256, 1, 1], 0, &[a, &2.0f32])?, &[])?;
/// recording.submit(&saxpy.launch(device, [16, 1, 1], [256, 1, 1], 0, &[b, &3.0f32])?, &[])?;
/// recording.submit(&sum.launch(device, [16, 1, 1], [256, 1, 1], 0, &[&ReadOnly(a), &ReadOnly(b), c])?, &[])?;
/// # Ok(graph)
/// # }
/// ```
#[derive(Debug)]
pub struct Recording<'g> {
    graph: &'g mut Graph,
    accesses: Accesses<Node>,
}

impl Graph {
    /// Begins to record work into the graph.
    pub fn recording(&mut self) -> Recording<'_> {
        Recording { graph: self, accesses: Accesses::default() }
    }
}

impl Recording<'_> {
    /// Records a kernel: it writes the memory of its arguments, except of those that are
    /// [`ReadOnly`](super::ReadOnly).
    ///
    /// `depends_on` are further nodes that it waits for.
    ///
    /// # Errors
    /// As [`Graph::kernel`].
    pub fn submit(&mut self, launch: &Launch, depends_on: &[Node]) -> Result<Node> {
        self.put(&launch.touches, depends_on, |graph, after| graph.kernel(launch, after))
    }

    /// Records a copy from the host to the device.
    ///
    /// # Errors
    /// As [`Graph::upload`].
    pub fn upload<T: Plain>(&mut self, to: DeviceSlice<T>, from: &HostBuffer<T>) -> Result<Node> {
        let touches = [from.touch().read_only(), to.touch()];
        self.put(&touches, &[], |graph, after| graph.upload(to, from, after))
    }

    /// Records a copy from the device to the host.
    ///
    /// # Errors
    /// As [`Graph::download`].
    pub fn download<T: Plain>(&mut self, to: &HostBuffer<T>, from: DeviceSlice<T>) -> Result<Node> {
        let touches = [from.touch().read_only(), to.touch()];
        self.put(&touches, &[], |graph, after| graph.download(to, from, after))
    }

    /// Records a fill of device memory with a byte.
    ///
    /// # Errors
    /// As [`Graph::fill`].
    pub fn fill<T: Plain>(&mut self, slice: DeviceSlice<T>, byte: u8) -> Result<Node> {
        self.put(&[slice.touch()], &[], |graph, after| graph.fill(slice, byte, after))
    }

    /// Records a closure that runs on the host and uses the memory of `arguments`. It must not wait for the device.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn call(
        &mut self,
        arguments: &[&dyn Argument],
        depends_on: &[Node],
        call: impl Fn() + Send + Sync + 'static,
    ) -> Result<Node> {
        let touches: Vec<Touch> = arguments.iter().filter_map(|argument| argument.touch()).collect();
        self.put(&touches, depends_on, |graph, after| graph.host(call, after))
    }

    /// The graph that is recorded into, to add nodes that no memory orders.
    pub fn graph(&mut self) -> &mut Graph {
        self.graph
    }

    fn put(
        &mut self,
        touches: &[Touch],
        depends_on: &[Node],
        add: impl FnOnce(&mut Graph, &[Node]) -> Result<Node>,
    ) -> Result<Node> {
        let mut after = self.accesses.before(touches);
        after.extend(depends_on);
        let mut seen = std::collections::HashSet::with_capacity(after.len());
        after.retain(|node| seen.insert(*node));
        let node = add(self.graph, &after)?;
        self.accesses.follow(node, touches);
        Ok(node)
    }
}
