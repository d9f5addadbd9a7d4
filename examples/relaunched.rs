//! Work that is captured when it first runs, its temporary memory kept by a cache, and then launched again and again:
//! what AMDGPU.jl calls `@captured` and `@cached`.

#[path = "../kernels/objects.rs"]
mod objects;

use aqlipse::{
    Device, Module, Result, Stream, StreamKind,
    typed::{AllocationCache, Captured, DeviceBuffer, Kernel},
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

    let values = DeviceBuffer::<f64>::new(&device, ELEMENTS)?;
    values.write(&stream, &vec![1.0; ELEMENTS])?;
    let mut cache = AllocationCache::new(&device);
    // values = 2 * values + 3, by way of a temporary buffer.
    let mut step = |stream: &Stream| {
        let threes = cache.scope().buffer::<i32>(ELEMENTS)?;
        stream.run(&three.launch(&device, shape.0, shape.1, 0, &[&threes])?)?;
        stream.run(&double.launch(&device, shape.0, shape.1, 0, &[&values])?)?;
        stream.run(&add.launch(&device, shape.0, shape.1, 0, &[&values, &threes])?)
    };

    let mut captured = Captured::default();
    // The first run captures and instantiates; the second captures again and updates the executable.
    captured.run(&stream, &mut step)?;
    let exec = captured.run(&stream, &mut step)?;
    for _ in 0..3 {
        exec.launch(&stream)?;
    }
    let result = values.read(&stream)?;
    assert!(result.iter().all(|value| *value == 125.0));
    println!(
        "1 -> 2x + 3, five times, is {}; {} executable graph, {} bytes of temporary memory",
        result[0],
        captured.instantiations(),
        cache.bytes()
    );
    Ok(())
}
