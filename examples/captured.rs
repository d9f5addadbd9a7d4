//! A stream's work, captured once and launched many times.

#[path = "../kernels/objects.rs"]
mod objects;

use aqlipse::{
    Device, Module, Result, Stream, StreamKind,
    typed::{DeviceBuffer, Graph, HostBuffer, Kernel},
};

const BLOCKS: usize = 16;
const ELEMENTS: usize = BLOCKS * 1024;

fn main() -> Result<()> {
    let device = Device::get(0)?;
    let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
    let module = Module::first_that_fits(&device, &objects::DEMO)?;
    // SAFETY: kernels/demo.cpp: each work-item doubles the one element of its own index, and the grid has as many
    // work-items as the buffer has elements.
    let double = unsafe { Kernel::trusted(module.kernel("kernelA")?) };

    let values = DeviceBuffer::<f64>::new(&device, ELEMENTS)?;
    let result = HostBuffer::new(&device, ELEMENTS, 0.0)?;
    values.write(&stream, &vec![1.0; ELEMENTS])?;
    let launch = double.launch(&device, [BLOCKS as u32, 1, 1], [1024, 1, 1], 0, &[&values])?;

    let graph = Graph::capture(&stream, |stream| {
        stream.run(&launch)?;
        stream.run(&launch)?;
        stream.download(&result, values.slice())
    })?;
    let exec = graph.instantiate()?;
    for _ in 0..5 {
        exec.launch(&stream)?;
    }
    stream.synchronize()?;

    // Five launches of two doublings each.
    assert!(result.to_vec().iter().all(|value| *value == 1024.0));
    println!("1 doubled twice by each of 5 launches is {}", result.to_vec()[0]);
    Ok(())
}
