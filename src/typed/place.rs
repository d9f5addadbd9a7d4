//! Building a graph by saying what comes after what, without naming nodes.

use std::{cell::RefCell, fmt};

use smallvec::SmallVec;

use super::{DeviceSlice, Graph, HostBuffer, Launch, Node, Plain};
use crate::{device::Device, error::Result, stream::Stream};

/// A place in a graph under construction: what is put there runs behind the nodes that it stands for.
#[derive(Clone)]
pub struct Place<'g> {
    graph: &'g RefCell<Graph>,
    after: SmallVec<[Node; 2]>,
}

impl Graph {
    /// A graph that `build` describes from its root on.
    ///
    /// # Errors
    /// What `build` returns.
    ///
    /// ```no_run
    /// # use aqlipse::{Device, Result, typed::{Graph, Launch, when_all}};
    /// # fn example(device: &Device, [a, b, c, d]: [&Launch; 4]) -> Result<Graph> {
    /// Graph::create(device, |root| {
    ///     let first = root.then(a)?;
    ///     let (left, right) = (first.then(b)?, first.then(c)?);
    ///     when_all([&left, &right]).then(d)?;
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub fn create(device: &Device, build: impl FnOnce(&Place<'_>) -> Result<()>) -> Result<Self> {
        let graph = RefCell::new(Self::new(device));
        build(&Place { graph: &graph, after: SmallVec::new() })?;
        Ok(graph.into_inner())
    }
}

/// The place behind all of `places`.
pub fn when_all<'g, const N: usize>(places: [&Place<'g>; N]) -> Place<'g> {
    const { assert!(N > 0, "behind nothing is the root") };
    let mut after = SmallVec::new();
    for node in places.iter().flat_map(|place| &place.after) {
        if !after.contains(node) {
            after.push(*node);
        }
    }
    Place { graph: places[0].graph, after }
}

impl<'g> Place<'g> {
    /// Puts a kernel here.
    ///
    /// # Errors
    /// As [`Graph::kernel`].
    pub fn then(&self, launch: &Launch) -> Result<Self> {
        self.put(|graph, after| graph.kernel(launch, after))
    }

    /// Puts a closure here that runs on the host. It must not wait for the device.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn then_host(&self, call: impl Fn() + Send + Sync + 'static) -> Result<Self> {
        self.put(|graph, after| graph.host(call, after))
    }

    /// Puts a copy from the host to the device here.
    ///
    /// # Errors
    /// As [`Graph::upload`].
    pub fn then_upload<T: Plain>(&self, to: DeviceSlice<T>, from: &HostBuffer<T>) -> Result<Self> {
        self.put(|graph, after| graph.upload(to, from, after))
    }

    /// Puts a copy from the device to the host here.
    ///
    /// # Errors
    /// As [`Graph::download`].
    pub fn then_download<T: Plain>(&self, to: &HostBuffer<T>, from: DeviceSlice<T>) -> Result<Self> {
        self.put(|graph, after| graph.download(to, from, after))
    }

    /// Puts a fill of device memory with a byte here.
    ///
    /// # Errors
    /// As [`Graph::fill`].
    pub fn then_fill<T: Plain>(&self, slice: DeviceSlice<T>, byte: u8) -> Result<Self> {
        self.put(|graph, after| graph.fill(slice, byte, after))
    }

    /// Puts a copy of another graph here.
    ///
    /// # Errors
    /// As [`Graph::child`].
    pub fn then_graph(&self, child: &Graph) -> Result<Self> {
        self.put(|graph, after| graph.child(child, after))
    }

    /// Puts what `work` does with `stream` here, none of which is executed now.
    ///
    /// The graph, and what is made of it, keeps `work` alive, and with it everything that it owns: a library's handle,
    /// say, whose memory the captured kernels use.
    ///
    /// # Errors
    /// As [`Graph::capture`] and [`Graph::child`].
    pub fn then_capture<W>(&self, stream: &Stream, work: W) -> Result<Self>
    where
        W: Fn(&Stream) -> Result<()> + Send + Sync + 'static,
    {
        let mut child = Graph::capture(stream, &work)?;
        child.keep(std::sync::Arc::new(work));
        self.then_graph(&child)
    }

    /// The nodes that the place is behind: one, unless it is the root or made by [`when_all`].
    pub fn nodes(&self) -> &[Node] {
        &self.after
    }

    fn put(&self, add: impl FnOnce(&mut Graph, &[Node]) -> Result<Node>) -> Result<Self> {
        let node = add(&mut self.graph.borrow_mut(), &self.after)?;
        Ok(Self { graph: self.graph, after: SmallVec::from_slice(&[node]) })
    }
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("after", &self.after).finish_non_exhaustive()
    }
}
