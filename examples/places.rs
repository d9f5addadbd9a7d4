//! A diamond described from its root on, with native work captured into it: the shape of Kokkos::Graph.

#[path = "../kernels/objects.rs"]
mod objects;

use aqlipse::{
    Device, Module, Result, Stream, StreamKind,
    typed::{DeviceBuffer, Graph, Kernel, when_all},
};

const BLOCKS: u32 = 4;
const ELEMENTS: usize = BLOCKS as usize * 1024;

fn main() -> Result<()> {
    let device = Device::get(0)?;
    let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
    let module = Module::first_that_fits(&device, &objects::DEMO)?;
    // SAFETY: kernels/demo.cpp: each work-item touches the one element of its own index of each buffer, and grids
    // have as many work-items as buffers have elements.
    let kernel = |name| unsafe { Ok::<_, aqlipse::Error>(Kernel::trusted(module.kernel(name)?)) };
    let (double, three, add) = (kernel("kernelA")?, kernel("kernelB")?, kernel("kernelC")?);
    let shape = ([BLOCKS, 1, 1], [1024, 1, 1]);

    let (a, b) = (DeviceBuffer::<f64>::new(&device, ELEMENTS)?, DeviceBuffer::<i32>::new(&device, ELEMENTS)?);
    let doubled = double.launch(&device, shape.0, shape.1, 0, &[&a])?;
    let graph = Graph::create(&device, |root| {
        let zero = root.then_fill(a.slice(), 0)?;
        let left = zero.then(&three.launch(&device, shape.0, shape.1, 0, &[&b])?)?;
        // A library's work, say: the graph keeps the closure and what it owns as long as it needs them.
        let right = zero.then_capture(&stream, move |stream| {
            stream.run(&doubled)?;
            stream.run(&doubled)
        })?;
        when_all([&left, &right]).then(&add.launch(&device, shape.0, shape.1, 0, &[&a, &b])?)?;
        Ok(())
    })?;

    let exec = graph.instantiate()?;
    exec.launch(&stream)?;
    let result = a.read(&stream)?;
    assert!(result.iter().all(|value| *value == 3.0));
    let report = exec.report();
    println!(
        "0 * 4 + 3 = {}: {} kernels, {} barrier bits, no other wait",
        result[0], report.kernel_packets, report.barrier_bits
    );
    Ok(())
}
