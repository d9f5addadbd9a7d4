//! `aqlipse demo`: the graph of HIP's documentation, captured and explicit, against plain stream launches.

use std::time::Duration;

use aqlipse::{
    Device, Error, Module, Report, Result, Stream, StreamKind,
    typed::{DeviceBuffer, DeviceSlice, ExecGraph, Graph, HostBuffer, Kernel, Launch},
};
use aqlipse_bench::timing::{Spread, measure};
use serde_json::{Value, json};

use super::{info::backend, objects};

/// Threads of a block; the demo's kernels are made for it.
const BLOCK: usize = 1024;

/// 2 (the host) * 2 (kernel A) + 3 (kernels B and C).
const EXPECTED: f64 = 7.0;

/// Runs the demo and prints what it found.
pub fn run(json: bool, size: usize, iterations: usize) -> Result<()> {
    if size == 0 || !size.is_multiple_of(BLOCK) || u32::try_from(size).is_err() {
        return Err(Error::InvalidValue("the size must be a multiple of 1024 below 2^32"));
    }
    let device = Device::get(0)?;
    let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
    let reference = Reference::new(&device, size)?;

    let streams = reference.on_streams(&stream, iterations)?;
    let captured = reference.captured(&stream)?.instantiate()?;
    let captured_time = reference.time(&captured, &stream, iterations)?;
    let explicit = reference.explicit(&device)?.instantiate()?;
    let explicit_time = reference.time(&explicit, &stream, iterations)?;
    let small = Small::measure(&device, &stream, iterations)?;

    if json {
        println!(
            "{}",
            json!({
                "device": device.properties().name,
                "target": device.properties().arch,
                "backend": backend(&device),
                "elements": size,
                "valid": true,
                "stream": time_json(&streams),
                "captured": graph_json(&captured_time, &captured.report()),
                "explicit": graph_json(&explicit_time, &explicit.report()),
                "empty_kernels": {
                    "count": Small::KERNELS,
                    "stream": time_json(&small.streams),
                    "graph": time_json(&small.graph),
                },
            })
        );
        return Ok(());
    }
    let p = device.properties();
    println!("device    {} ({}), {}", p.name, p.arch, backend(&device));
    println!("graph     fill on the host, copy in, A *= 2, B = 3, A += B, copy out; {size} elements");
    println!("result    every element is {EXPECTED} each time, captured and explicit: validation passed");
    println!();
    println!("time per iteration, submit and wait        median     quartiles");
    line("plain stream launches", &streams);
    line("graph, captured", &captured_time);
    line("graph, explicit", &explicit_time);
    line(&format!("{} empty kernels on a stream", Small::KERNELS), &small.streams);
    line(&format!("{} empty kernels in a graph", Small::KERNELS), &small.graph);
    report("captured", &captured.report());
    report("explicit", &explicit.report());
    Ok(())
}

fn line(what: &str, time: &Spread) {
    let [low, high] = time.quartiles;
    println!("  {what:<38} {:>9}     {} .. {}", show(time.median), show(low), show(high));
}

fn show(time: Duration) -> String {
    let us = time.as_secs_f64() * 1e6;
    if us < 10_000.0 { format!("{us:.1} us") } else { format!("{:.2} ms", us / 1e3) }
}

fn report(name: &str, r: &Report) {
    println!();
    println!("the {name} graph");
    println!("  lanes (HSA queues)     {}", r.lanes);
    println!(
        "  packets per launch     {} kernel dispatch, {} barrier-AND",
        r.kernel_packets, r.barrier_packets
    );
    println!("  barrier bits           {}", r.barrier_bits);
    println!("  waits between lanes    {}", r.counts.waits);
    println!("  host steps             {}", r.counts.host_calls);
    println!("  signals per launch     {}", r.signals);
    let us = |ns: u64| ns as f64 / 1e3;
    println!(
        "  bounds, by guess       longest path {:.1} us, kernels one by one over the lanes {:.1} us",
        us(r.bounds.critical_path_ns),
        us(r.bounds.work_ns.div_ceil(r.lanes.max(1) as u64))
    );
    println!("  executable memory      {} bytes", r.exec_bytes);
    println!(
        "  graph memory           {} bytes for allocations of {} bytes",
        r.memory_bytes, r.allocated_bytes
    );
}

fn time_json(time: &Spread) -> Value {
    let us = |t: Duration| t.as_secs_f64() * 1e6;
    json!({ "median_us": us(time.median), "quartiles_us": time.quartiles.map(us) })
}

fn graph_json(time: &Spread, r: &Report) -> Value {
    json!({
        "time": time_json(time),
        "lanes": r.lanes,
        "kernel_packets": r.kernel_packets,
        "barrier_packets": r.barrier_packets,
        "barrier_bits": r.barrier_bits,
        "waits": r.counts.waits,
        "host_steps": r.counts.host_calls,
        "signals": r.signals,
        "critical_path_ns": r.bounds.critical_path_ns,
        "work_ns": r.bounds.work_ns,
        "exec_bytes": r.exec_bytes,
        "memory_bytes": r.memory_bytes,
        "allocated_bytes": r.allocated_bytes,
    })
}

/// The reference computation: kernels, and the host's end of the data.
struct Reference {
    device: Device,
    size: usize,
    kernels: [Kernel; 3],
    host: HostBuffer<f64>,
}

impl Reference {
    fn new(device: &Device, size: usize) -> Result<Self> {
        let module = Module::first_that_fits(device, &objects::DEMO)?;
        // SAFETY: kernels/demo.cpp: each work-item touches the one element of its own index, and grids below have
        // as many work-items as the buffers have elements.
        let kernel = |name| unsafe { Ok::<_, Error>(Kernel::trusted(module.kernel(name)?)) };
        let kernels = [kernel("kernelA")?, kernel("kernelB")?, kernel("kernelC")?];
        Ok(Self { device: device.clone(), size, kernels, host: HostBuffer::new(device, size, 0.0)? })
    }

    /// The three kernels on two buffers.
    fn launches(&self, a: DeviceSlice<f64>, b: DeviceSlice<i32>) -> Result<[Launch; 3]> {
        // CAST: `run` has checked that the size fits.
        let (grid, block) = ([(self.size / BLOCK) as u32, 1, 1], [BLOCK as u32, 1, 1]);
        let [kernel_a, kernel_b, kernel_c] = &self.kernels;
        Ok([
            kernel_a.launch(&self.device, grid, block, 0, &[&a])?,
            kernel_b.launch(&self.device, grid, block, 0, &[&b])?,
            kernel_c.launch(&self.device, grid, block, 0, &[&a, &b])?,
        ])
    }

    /// Puts the computation on a stream, or into its capture.
    fn record(&self, stream: &Stream, a: DeviceSlice<f64>, b: DeviceSlice<i32>) -> Result<()> {
        let launches = self.launches(a, b)?;
        let host = self.host.clone();
        stream.call(move || host.fill(2.0))?;
        stream.upload(a, &self.host)?;
        launches.iter().try_for_each(|launch| stream.run(launch))?;
        stream.download(&self.host, a)
    }

    /// Times the computation without a graph.
    fn on_streams(&self, stream: &Stream, iterations: usize) -> Result<Spread> {
        let a = DeviceBuffer::new(&self.device, self.size)?;
        let b = DeviceBuffer::new(&self.device, self.size)?;
        let run = || {
            self.record(stream, a.slice(), b.slice())?;
            stream.synchronize()
        };
        run()?;
        self.check()?;
        measure(iterations, run)
    }

    fn captured(&self, stream: &Stream) -> Result<Graph> {
        Graph::capture(stream, |stream| {
            let a = stream.allocate(self.size)?;
            let b = stream.allocate(self.size)?;
            self.record(stream, a, b)?;
            stream.free(a)?;
            stream.free(b)
        })
    }

    fn explicit(&self, device: &Device) -> Result<Graph> {
        let mut graph = Graph::new(device);
        let (allocated_a, a) = graph.allocate(self.size, &[])?;
        let (allocated_b, b) = graph.allocate(self.size, &[])?;
        let [run_a, run_b, run_c] = self.launches(a, b)?;
        let host = self.host.clone();
        let filled = graph.host(move || host.fill(2.0), &[])?;
        let uploaded = graph.upload(a, &self.host, &[allocated_a, filled])?;
        let doubled = graph.kernel(&run_a, &[uploaded])?;
        let threes = graph.kernel(&run_b, &[allocated_b])?;
        let sum = graph.kernel(&run_c, &[doubled, threes])?;
        let downloaded = graph.download(&self.host, a, &[sum])?;
        graph.free(a, &[downloaded])?;
        graph.free(b, &[sum])?;
        Ok(graph)
    }

    /// Times launches of an executable, after checking what the first one computes.
    fn time(&self, exec: &ExecGraph, stream: &Stream, iterations: usize) -> Result<Spread> {
        self.host.fill(0.0);
        let run = || {
            exec.launch(stream)?;
            stream.synchronize()
        };
        run()?;
        self.check()?;
        let time = measure(iterations, run)?;
        self.check()?;
        Ok(time)
    }

    fn check(&self) -> Result<()> {
        match self.host.to_vec().iter().position(|value| *value != EXPECTED) {
            None => Ok(()),
            Some(_) => Err(Error::LaunchFailure("an element of the result is not 7".into())),
        }
    }
}

/// Many kernels that do nothing: what is left is the cost of launching.
struct Small {
    streams: Spread,
    graph: Spread,
}

impl Small {
    const KERNELS: usize = 64;

    fn measure(device: &Device, stream: &Stream, iterations: usize) -> Result<Self> {
        let module = Module::first_that_fits(device, &objects::DEMO)?;
        // SAFETY: the kernel touches no memory.
        let empty = unsafe { Kernel::trusted(module.kernel("empty")?) };
        let launch = empty.launch(device, [1; 3], [64, 1, 1], 0, &[])?;
        let record = |stream: &Stream| (0..Self::KERNELS).try_for_each(|_| stream.run(&launch));
        let exec = Graph::capture(stream, record)?.instantiate()?;
        let iterations = iterations * 10;
        let streams = measure(iterations, || {
            record(stream)?;
            stream.synchronize()
        })?;
        let graph = measure(iterations, || {
            exec.launch(stream)?;
            stream.synchronize()
        })?;
        Ok(Self { streams, graph })
    }
}
