//! Measurements of one graph, behind a proof that it is the graph meant.

use std::{hint::black_box, time::Instant};

use aqlipse::{
    Device, Error, LaunchImage, Module, Report, Result, Stream, StreamKind,
    typed::{DeviceBuffer, ExecGraph, Graph, Kernel, Launch, Node},
};
use aqlipse_bench::{
    sampling::{Effort, nanoseconds, samples},
    shape::Shape,
    timing::quartiles,
};
use hsa::packet::Packet;

use super::floor::Ring;
use crate::objects;

/// Lower quartile, median and upper quartile in nanoseconds.
pub type Quartiles = [f64; 3];

/// Nodes or packets that a sample of a small graph works through by repetition, so that the clock's own time
/// does not matter. Launches are never repeated within a sample.
const AT_ONCE: usize = 1024;

/// A graph and what was measured of it.
#[derive(Clone, Debug)]
pub struct Figures {
    pub shape: Shape,
    pub nodes: usize,
    pub report: Report,
    /// A node: adding it to a graph.
    pub build: Quartiles,
    /// A node: its share of compiling the graph.
    pub instantiate: Quartiles,
    /// A node: giving it other parameters in the executable.
    pub update: Quartiles,
    /// The graph: the launch call, with nothing else on the device.
    pub call: Quartiles,
    /// The graph: from the launch call to the end of a wait for it.
    pub whole: Quartiles,
    /// The graph: copying as many packets as it has to where nothing reads them, in turns with the launches.
    pub floor: Quartiles,
    /// The same copy again and again, with all that it touches in the caches.
    pub warm_floor: Quartiles,
}

impl Figures {
    /// Packets of a launch.
    pub fn packets(&self) -> usize {
        self.report.kernel_packets + self.report.barrier_packets
    }

    /// Medians of the launch call over those of the two floors.
    pub fn ratios(&self) -> [f64; 2] {
        [self.floor, self.warm_floor].map(|floor| self.call[1] / floor[1])
    }
}

/// What all measurements share.
pub struct Bench {
    device: Device,
    stream: Stream,
    /// Two launches of the empty kernel that differ in their shape.
    empty: [Launch; 2],
    stamp: Kernel,
    ring: Ring,
}

impl Bench {
    /// Loads the kernels on `device`.
    ///
    /// # Errors
    /// What loading can fail with.
    pub fn new(device: &Device) -> Result<Self> {
        let module = Module::first_that_fits(device, &objects::DEMO)?;
        // SAFETY: the kernel touches no memory.
        let empty = unsafe { Kernel::trusted(module.kernel("empty")?) };
        // SAFETY: kernels/demo.cpp: it touches the ticket and the one stamp that its index names; `verify`
        // gives it indices within the buffer and a single work-item.
        let stamp = unsafe { Kernel::trusted(module.kernel("stamp")?) };
        let launch = |threads| empty.launch(device, [1; 3], [threads, 1, 1], 0, &[]);
        Ok(Self {
            device: device.clone(),
            stream: Stream::new(device, StreamKind::NonBlocking, 0),
            empty: [launch(64)?, launch(128)?],
            stamp,
            ring: Ring::new(),
        })
    }

    /// Measures a graph of `nodes` empty kernels.
    ///
    /// # Errors
    /// [`Error::LaunchFailure`] if the graph is not what it should be: a node that does not run exactly once a
    /// launch, runs before a dependency, or is no packet of its own.
    pub fn figures(&mut self, shape: Shape, nodes: usize, effort: Effort) -> Result<Figures> {
        let verified = self.verify(shape, nodes)?;
        let empty = self.empty[0].clone();
        let make = || build(&self.device, shape, nodes, |_| &empty);
        let (graph, ids) = make()?;
        let exec = graph.instantiate()?;
        let report = Report::clone(&exec.report());
        let structure = |r: &Report| (r.kernel_packets, r.barrier_packets, r.barrier_bits, r.lanes);
        if structure(&report) != structure(&verified) || report.kernel_packets != nodes {
            return Err(wrong(shape, nodes, "the graph to measure has other packets than the verified one"));
        }

        let times = (AT_ONCE / nodes).max(1);
        let per_node = (times * nodes) as f64;
        let build_time = sample(effort, || timed_all(times, per_node, make))?;
        let instantiate = sample(effort, || timed_all(times, per_node, || graph.instantiate()))?;
        let update = self.update(&exec, &ids, times, effort)?;
        let image = vec![Packet::NO_OPERATION; report.kernel_packets + report.barrier_packets];
        let [call, whole, floor] = self.launch(&exec, &image, effort)?;
        let warm_floor = sample(effort, || Ok([copy(&mut self.ring, &image)]))?;
        Ok(Figures {
            shape,
            nodes,
            report,
            build: build_time,
            instantiate,
            update,
            call,
            whole,
            floor,
            warm_floor,
        })
    }

    /// The packets of a graph of `nodes` empty kernels, and the launch call with nothing else on the device.
    ///
    /// # Errors
    /// As [`Bench::figures`].
    pub fn launch_call(
        &self,
        shape: Shape,
        nodes: usize,
        effort: Effort,
    ) -> Result<(LaunchImage, Quartiles)> {
        self.verify(shape, nodes)?;
        let exec = build(&self.device, shape, nodes, |_| &self.empty[0])?.0.instantiate()?;
        self.stream.synchronize()?;
        let call = sample(effort, || {
            let start = Instant::now();
            exec.launch(&self.stream)?;
            let call = nanoseconds(start);
            self.stream.synchronize()?;
            Ok([call])
        })?;
        Ok((exec.launch_image(), call))
    }

    /// Runs a graph of the same shape whose kernels write when they ran, twice, and checks every node and
    /// edge.
    fn verify(&self, shape: Shape, nodes: usize) -> Result<Report> {
        let ticket = DeviceBuffer::<u32>::new(&self.device, 1)?;
        let stamps = DeviceBuffer::<u32>::new(&self.device, nodes)?;
        ticket.write(&self.stream, &[0])?;
        // CAST: benchmarks have fewer than 2^32 nodes.
        let stamp =
            |node| self.stamp.launch(&self.device, [1; 3], [1; 3], 0, &[&ticket, &stamps, &(node as u32)]);
        let launches = (0..nodes).map(stamp).collect::<Result<Vec<_>>>()?;
        let exec = build(&self.device, shape, nodes, |node| &launches[node])?.0.instantiate()?;
        for run in 0..2 {
            stamps.write(&self.stream, &vec![0; nodes])?;
            exec.launch(&self.stream)?;
            let when = stamps.read(&self.stream)?;
            shape.check(&when, run * nodes + 1).map_err(|what| wrong(shape, nodes, what))?;
        }
        Ok(Report::clone(&exec.report()))
    }

    /// Gives all nodes other parameters, and back.
    fn update(&self, exec: &ExecGraph, ids: &[Node], times: usize, effort: Effort) -> Result<Quartiles> {
        let mut round = 0;
        sample(effort, || {
            let start = Instant::now();
            for _ in 0..times {
                round += 1;
                let launch = &self.empty[round % 2];
                ids.iter().try_for_each(|&id| exec.set_kernel(id, launch))?;
            }
            Ok([nanoseconds(start) / (times * ids.len()) as f64])
        })
    }

    /// Launch call, launch with wait, and the floor under the call, taken in turns.
    fn launch(&mut self, exec: &ExecGraph, image: &[Packet], effort: Effort) -> Result<[Quartiles; 3]> {
        let (stream, ring) = (&self.stream, &mut self.ring);
        stream.synchronize()?;
        sample_several(effort, || {
            let start = Instant::now();
            exec.launch(stream)?;
            let call = nanoseconds(start);
            stream.synchronize()?;
            let whole = nanoseconds(start);
            Ok([call, whole, copy(ring, image)])
        })
    }
}

/// The packets of a launch of such a graph, of kernels that do nothing, by this library.
///
/// # Errors
/// What loading and compiling can fail with.
pub fn image(shape: Shape, nodes: usize) -> Result<LaunchImage> {
    let device = Device::get(0)?;
    let module = Module::first_that_fits(&device, &objects::DEMO)?;
    // SAFETY: the kernel touches no memory.
    let empty = unsafe { Kernel::trusted(module.kernel("empty")?) };
    let launch = empty.launch(&device, [1; 3], [64, 1, 1], 0, &[])?;
    Ok(build(&device, shape, nodes, |_| &launch)?.0.instantiate()?.launch_image())
}

/// The time of copying `image` once.
fn copy(ring: &mut Ring, image: &[Packet]) -> f64 {
    let times = (AT_ONCE / image.len()).max(1);
    let start = Instant::now();
    for _ in 0..times {
        ring.copy(black_box(image));
    }
    nanoseconds(start) / times as f64
}

/// A graph of `nodes` kernels with the dependencies of `shape`.
fn build<'a>(
    device: &Device,
    shape: Shape,
    nodes: usize,
    launch: impl Fn(usize) -> &'a Launch,
) -> Result<(Graph, Vec<Node>)> {
    let mut graph = Graph::new(device);
    let mut ids = Vec::with_capacity(nodes);
    for node in 0..nodes {
        let id = graph.kernel(launch(node), &ids[shape.dependencies(node, nodes)])?;
        ids.push(id);
    }
    Ok((graph, ids))
}

/// The time of `make`, repeated, divided by `share`; what it makes is dropped off the clock.
fn timed_all<T>(times: usize, share: f64, make: impl Fn() -> Result<T>) -> Result<[f64; 1]> {
    let mut made = Vec::with_capacity(times);
    let start = Instant::now();
    for _ in 0..times {
        made.push(make()?);
    }
    let time = nanoseconds(start) / share;
    drop(black_box(made));
    Ok([time])
}

fn sample(effort: Effort, once: impl FnMut() -> Result<[f64; 1]>) -> Result<Quartiles> {
    sample_several(effort, once).map(|[quartiles]| quartiles)
}

/// The quartiles of samples of several quantities.
fn sample_several<const N: usize>(
    effort: Effort,
    once: impl FnMut() -> Result<[f64; N]>,
) -> Result<[Quartiles; N]> {
    Ok(samples(effort, once)?.map(|mut samples| {
        samples.sort_unstable_by(f64::total_cmp);
        quartiles(&samples)
    }))
}

/// What one look at the clock takes, in nanoseconds.
pub fn clock_cost() -> f64 {
    const LOOKS: usize = 10_000;
    let start = Instant::now();
    for _ in 0..LOOKS {
        black_box(Instant::now());
    }
    nanoseconds(start) / LOOKS as f64
}

fn wrong(shape: Shape, nodes: usize, what: &str) -> Error {
    Error::LaunchFailure(format!("{} of {nodes} nodes: {what}", shape.name()))
}
