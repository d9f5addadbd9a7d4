//! The Triton kernels of `kernels/triton`, on every device that they were compiled for, against the same computation on the host.
//!
//! | module | kernels |
//! |---|---|
//! | [`numbers`] | no kernels: inputs, formats of narrow floats, bounds on errors |
//! | [`elementwise`] | one output for each input |
//! | [`rows`] | reductions and scans along rows |
//! | [`movement`] | gathers and transposes |
//! | [`atomics`] | results of the whole grid |
//! | [`matrix`] | products of matrices and attention |

mod atomics;
mod elementwise;
mod matrix;
mod movement;
mod numbers;
mod rows;

use std::{fs, path::Path};

use aqlipse::{
    Device, Module, Stream, StreamKind,
    typed::{Argument, DeviceBuffer, Kernel, Plain},
};

use crate::{
    runtime::in_child,
    toolchain::{devices::back_end, offers},
};

const TARGETS: [&str; 5] = ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"];

/// One line of `launch.tsv`.
struct Line<'a> {
    target: &'a str,
    object: &'a str,
    kernel: &'a str,
    workgroup: u32,
    lds: u32,
}

fn lines(table: &str) -> impl Iterator<Item = Line<'_>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap_or_else(|| panic!("a field is missing: {line}"));
        let (target, object, kernel) = (field(), field(), field());
        let mut number = || field().parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        Line { target, object, kernel, workgroup: number(), lds: number() }
    })
}

/// A compiled kernel on one of the devices.
struct Program {
    device: Device,
    stream: Stream,
    kernel: Kernel,
    target: &'static str,
    workgroup: u32,
    lds: u32,
}

/// Runs `check` with the code object `object` on each device. `test` is the path of the calling test.
fn on_every_device(test: &str, object: &str, check: impl Fn(&Program)) {
    let targets: Vec<_> = TARGETS.into_iter().filter(|target| offers(target)).collect();
    let variables = [("AQLIPSE_DEVICE", back_end()), ("AQLIPSE_EMULATE", &targets.join(","))];
    in_child(&format!("triton::{test}"), &variables, || {
        for target in &targets {
            check(&Program::load(target, object));
        }
    });
}

impl Program {
    fn load(target: &'static str, object: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/triton");
        let table = fs::read_to_string(folder.join("launch.tsv")).expect("the table is committed");
        let line = lines(&table).find(|line| (line.target, line.object) == (target, object));
        let Line { kernel, workgroup, lds, .. } = line.unwrap_or_else(|| panic!("no {object} for {target}"));
        let image = fs::read(folder.join(target).join(format!("{object}.co"))).expect("it is committed");
        let devices = Device::all().expect("the back end has come up");
        let device = devices.iter().find(|device| device.properties().arch.split(':').next() == Some(target));
        let device = device.expect("it is offered").clone();
        let module = Module::load(&device, image).expect("the code object is of the device's target");
        let function = module.kernel(kernel).expect("a name");
        // SAFETY: each test gives the buffers that `kernels.py` describes, in lengths that it is told.
        let kernel = unsafe { Kernel::trusted(function) };
        let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
        Self { device, stream, kernel, target, workgroup, lds }
    }

    /// Runs a grid of `programs` and waits for it.
    ///
    /// Behind its own arguments a kernel takes two pointers, to scratch memory of the grid and of the profiler: null
    /// for kernels that want none, and `build.py` makes sure that ours do not.
    fn run(&self, programs: [u32; 3], arguments: &[&dyn Argument]) {
        let mut arguments = arguments.to_vec();
        arguments.extend([&0u64 as &dyn Argument; 2]);
        let block = [self.workgroup, 1, 1];
        let launch = self.kernel.launch(&self.device, programs, block, self.lds, &arguments);
        let launch = launch.unwrap_or_else(|error| panic!("{}: {error}", self.target));
        self.stream.run(&launch).expect("the device takes the launch");
        self.stream.synchronize().unwrap_or_else(|error| {
            let detail = aqlipse::last_error_detail();
            panic!("{} on {}: {error}\n{detail:?}", self.kernel.name(), self.target)
        });
    }

    /// Device memory with these values.
    fn input<T: Plain>(&self, values: &[T]) -> DeviceBuffer<T> {
        let buffer = DeviceBuffer::new(&self.device, values.len()).expect("memory");
        buffer.write(&self.stream, values).expect("a copy");
        buffer
    }

    /// Device memory for `len` values, and behind them some that must stay as they are.
    fn output<T: Plain + Guard>(&self, len: usize) -> DeviceBuffer<T> {
        self.input(&vec![T::GUARD; len + GUARDS])
    }

    /// What a kernel has written to memory of [`Program::output`].
    ///
    /// # Panics
    /// If it has written more.
    fn read<T: Plain + Guard>(&self, output: &DeviceBuffer<T>) -> Vec<T> {
        let mut values = output.read(&self.stream).expect("a copy");
        let behind = values.split_off(values.len() - GUARDS);
        let kernel = self.kernel.name();
        assert!(
            behind.iter().all(|v| *v == T::GUARD),
            "{kernel} on {} writes behind its output",
            self.target
        );
        values
    }
}

/// Values behind each output.
const GUARDS: usize = 256;

/// A value that no kernel of ours writes.
trait Guard: Copy + PartialEq {
    const GUARD: Self;
}

macro_rules! guards {
    ($($ty:ty = $value:expr;)*) => { $( impl Guard for $ty { const GUARD: Self = $value; } )* };
}
guards! { u8 = 0xa5; i8 = -0x5b; u16 = 0xa5a5; i32 = -0x5a5a_5a5b; f32 = -6.5e30; f64 = -6.5e300; }
