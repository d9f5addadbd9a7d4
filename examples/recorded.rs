//! Work recorded as an out-of-order queue would take it, its edges inferred from the memory it touches, and an
//! executable that is updated between submissions: the shape of SYCL's command graphs.

#[path = "../kernels/objects.rs"]
mod objects;

use aqlipse::{
    Device, Module, Result, Stream, StreamKind,
    typed::{DeviceBuffer, Graph, HostBuffer, Kernel, ReadOnly},
};

const BLOCKS: u32 = 4;
const ELEMENTS: usize = BLOCKS as usize * 1024;

fn main() -> Result<()> {
    let device = Device::get(0)?;
    let queue = Stream::new(&device, StreamKind::NonBlocking, 0);
    let module = Module::first_that_fits(&device, &objects::DEMO)?;
    // SAFETY: kernels/demo.cpp: each work-item touches the one element of its own index of each buffer, and grids
    // have as many work-items as buffers have elements.
    let kernel = |name| unsafe { Ok::<_, aqlipse::Error>(Kernel::trusted(module.kernel(name)?)) };
    let (double, three, add) = (kernel("kernelA")?, kernel("kernelB")?, kernel("kernelC")?);
    let shape = ([BLOCKS, 1, 1], [1024, 1, 1]);
    let buffer = || DeviceBuffer::<f64>::new(&device, ELEMENTS);
    let (a, b, c) = (buffer()?, buffer()?, DeviceBuffer::<i32>::new(&device, ELEMENTS)?);
    let (input, output) =
        (HostBuffer::new(&device, ELEMENTS, 2.0)?, HostBuffer::new(&device, ELEMENTS, 0.0)?);

    let record = |result: &DeviceBuffer<f64>| -> Result<Graph> {
        let mut graph = Graph::new(&device);
        let mut recording = graph.recording();
        // These two touch different memory: they run side by side.
        let filled = recording.submit(&three.launch(&device, shape.0, shape.1, 0, &[&c])?, &[])?;
        recording.upload(result.slice(), &input)?;
        recording.submit(&double.launch(&device, shape.0, shape.1, 0, &[result])?, &[])?;
        // Behind both: it writes what the one wrote and reads what the other did.
        let sum = add.launch(&device, shape.0, shape.1, 0, &[result, &ReadOnly(&c)])?;
        recording.submit(&sum, &[])?;
        recording.download(&output, result.slice())?;
        // What memory does not order can be said.
        let last = graph.empty(&[])?;
        graph.edge(filled, last)?;
        Ok(graph)
    };

    let exec = record(&a)?.instantiate()?;
    exec.launch(&queue)?;
    exec.update(&record(&b)?)?;
    input.fill(5.0);
    exec.launch(&queue)?;
    queue.synchronize()?;
    assert!(output.to_vec().iter().all(|value| *value == 13.0));
    println!("5 * 2 + 3 = {}, through another buffer than the first time", output.to_vec()[0]);
    Ok(())
}
