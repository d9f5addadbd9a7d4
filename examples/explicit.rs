//! A fork and a join, built node by node: no barrier packet, no signal but the launch's own.

#[path = "../kernels/objects.rs"]
mod objects;

use aqlipse::{
    Device, Module, Result, Stream, StreamKind,
    typed::{Graph, HostBuffer, Kernel},
};

const BLOCKS: usize = 4;
const ELEMENTS: usize = BLOCKS * 1024;

fn main() -> Result<()> {
    let device = Device::get(0)?;
    let module = Module::first_that_fits(&device, &objects::DEMO)?;
    // SAFETY: kernels/demo.cpp: each work-item touches the one element of its own index of each buffer, and grids
    // have as many work-items as buffers have elements.
    let kernel = |name| unsafe { Ok::<_, aqlipse::Error>(Kernel::trusted(module.kernel(name)?)) };
    let (double, three, add) = (kernel("kernelA")?, kernel("kernelB")?, kernel("kernelC")?);
    let shape = ([BLOCKS as u32, 1, 1], [1024, 1, 1]);

    let host = HostBuffer::new(&device, ELEMENTS, 2.0f64)?;
    let mut graph = Graph::new(&device);
    let (a_ready, a) = graph.allocate::<f64>(ELEMENTS, &[])?;
    let (b_ready, b) = graph.allocate::<i32>(ELEMENTS, &[])?;
    let upload = graph.upload(a, &host, &[a_ready])?;
    let doubled = graph.kernel(&double.launch(&device, shape.0, shape.1, 0, &[&a])?, &[upload])?;
    let threes = graph.kernel(&three.launch(&device, shape.0, shape.1, 0, &[&b])?, &[b_ready])?;
    let sum = graph.kernel(&add.launch(&device, shape.0, shape.1, 0, &[&a, &b])?, &[doubled, threes])?;
    let download = graph.download(&host, a, &[sum])?;
    graph.free(a, &[download])?;
    graph.free(b, &[sum])?;

    let exec = graph.instantiate()?;
    let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
    exec.launch(&stream)?;
    stream.synchronize()?;
    assert!(host.to_vec().iter().all(|value| *value == 7.0));

    let report = exec.report();
    println!(
        "2 * 2 + 3 = {}: {} packets, {} of them barriers, {} barrier bits, {} signal",
        host.to_vec()[0],
        report.kernel_packets + report.barrier_packets,
        report.barrier_packets,
        report.barrier_bits,
        report.signals
    );
    Ok(())
}
