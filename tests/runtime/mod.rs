//! The runtime on the emulated device, through its Rust API.
//!
//! Captures, faults and the default stream concern a whole process: the tests want one each, as nextest gives them, or
//! `--test-threads=1`.

pub mod allocations;
mod arrays;
mod bodies;
mod capture;
mod capture_reasons;
mod capture_threads;
mod captured_execs;
mod check;
mod conditionals;
mod copies;
mod dags;
mod devices;
mod enabled;
mod engines;
mod events;
mod faults;
mod free_lists;
mod graph_memory;
mod graphs;
mod hardware;
mod interrupts;
mod lifetimes;
mod managed;
mod measured;
mod objects;
mod parts;
mod pools;
mod queues;
mod relaunches;
mod residence;
mod resident;
mod rings;
mod scale;
mod seeds;
mod shared_memory;
mod streams;
mod tradeoff;
mod typed;
mod updates;
mod values;
mod waits;

use std::{
    env,
    process::Command,
    sync::{Arc, Condvar, Mutex, OnceLock},
    time::Duration,
};

use aqlipse::{
    Device, Module, Stream, StreamKind,
    typed::{Argument, DeviceBuffer, Kernel, Launch},
};

/// The kernels of `kernels/tests.cpp`.
pub struct Kernels {
    pub count_after: Kernel,
    pub append: Kernel,
    pub affine: Kernel,
    pub poke: Kernel,
    pub slow: Kernel,
    pub count_down: Kernel,
    pub next_condition: Kernel,
    pub launch_graphs: Kernel,
    pub launch_graph_often: Kernel,
}

pub fn device() -> Device {
    Device::get(0).expect("there is always the emulated device")
}

pub fn stream() -> Stream {
    Stream::new(&device(), StreamKind::NonBlocking, 0)
}

pub fn module() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| {
        let objects: [&[u8]; 5] = [
            include_bytes!("../../kernels/tests.gfx90a.co"),
            include_bytes!("../../kernels/tests.gfx9-4-generic.co"),
            include_bytes!("../../kernels/tests.gfx10-3-generic.co"),
            include_bytes!("../../kernels/tests.gfx11-generic.co"),
            include_bytes!("../../kernels/tests.gfx12-generic.co"),
        ];
        Module::first_that_fits(&device(), &objects).expect("a code object for the device")
    })
}

pub fn kernels() -> &'static Kernels {
    static KERNELS: OnceLock<Kernels> = OnceLock::new();
    KERNELS.get_or_init(|| {
        let kernel = |name| {
            let function = module().kernel(name).expect("the module has the kernel");
            // SAFETY: the kernels do what `kernels/tests.cpp` says, and are given buffers of the sizes it needs.
            unsafe { Kernel::trusted(function) }
        };
        Kernels {
            count_after: kernel("count_after"),
            append: kernel("append"),
            affine: kernel("affine"),
            poke: kernel("poke"),
            slow: kernel("slow"),
            count_down: kernel("count_down"),
            next_condition: kernel("next_condition"),
            launch_graphs: kernel("launch_graphs"),
            launch_graph_often: kernel("launch_graph_often"),
        }
    })
}

/// Streams on thirty unlike sets of ten compute units, which RDNA has in pairs.
pub fn streams_on_units() -> Vec<Stream> {
    let pairs = |set: u32| (0..5).filter(|pair| set >> pair & 1 != 0).map(|pair| 3 << (2 * pair)).sum();
    (1..=30).map(|set| Stream::on_units(&device(), &[pairs(set)])).collect()
}

/// A launch of one work-item.
pub fn single(kernel: &Kernel, arguments: &[&dyn Argument]) -> Launch {
    single_on(&device(), kernel, arguments)
}

/// A launch of one work-item on a device.
pub fn single_on(device: &Device, kernel: &Kernel, arguments: &[&dyn Argument]) -> Launch {
    kernel.launch(device, [1; 3], [1; 3], 0, arguments).expect("the arguments fit the kernel")
}

/// `data[i] = data[i] * factor + term`.
pub fn affine(data: &DeviceBuffer<u32>, factor: u32, term: u32) -> Launch {
    affine_on(&device(), data, factor, term)
}

/// `data[i] = data[i] * factor + term`, on a device.
pub fn affine_on(device: &Device, data: &DeviceBuffer<u32>, factor: u32, term: u32) -> Launch {
    let len = data.slice().len() as u32;
    let arguments: [&dyn Argument; 4] = [data, &len, &factor, &term];
    let grid = [len.div_ceil(256), 1, 1];
    let launch = kernels().affine.launch(device, grid, [256, 1, 1], 0, &arguments);
    launch.expect("the arguments fit the kernel")
}

pub fn buffer(values: &[u32]) -> DeviceBuffer<u32> {
    buffer_on(&device(), values)
}

/// Memory of a device.
pub fn buffer_on(device: &Device, values: &[u32]) -> DeviceBuffer<u32> {
    let buffer = DeviceBuffer::new(device, values.len()).expect("memory");
    buffer.write(&Stream::new(device, StreamKind::NonBlocking, 0), values).expect("a copy");
    buffer
}

/// A log of `n` entries at most, for the kernel `append`.
pub struct Log(DeviceBuffer<u32>);

impl Log {
    pub fn new(n: usize) -> Self {
        Self(buffer(&vec![0; n + 1]))
    }

    pub fn address(&self) -> u64 {
        self.0.slice().address()
    }

    pub fn append(&self, value: u32) -> Launch {
        single(&kernels().append, &[&self.0, &value])
    }

    /// What was appended; waits for the device.
    pub fn entries(&self) -> Vec<u32> {
        device().synchronize().expect("no fault");
        let words = self.0.read(&stream()).expect("a copy");
        words[1..=words[0] as usize].to_vec()
    }
}

/// Holds a stream up at a host function until it is opened.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// A gate in the way of everything that follows on `stream`.
    pub fn on(stream: &Stream) -> Self {
        let gate = Self::default();
        let held = gate.clone();
        stream.call(move || held.wait()).expect("a host function");
        gate
    }

    pub fn wait(&self) {
        let (open, changed) = &*self.0;
        let open = open.lock().unwrap();
        // A test that fails must not hang: its buffers wait for the device when they are dropped.
        drop(changed.wait_timeout_while(open, Duration::from_secs(20), |open| !*open).unwrap());
    }

    pub fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

/// Set for a child process: the test that it is to run.
const CHILD: &str = "AQLIPSE_TEST_CHILD";

/// The words of the counters of `aqlipse_thunk.h`, if ROCr runs on that thunk.
pub fn thunk_counters(device: &Device) -> Option<[u64; 32]> {
    let open = |name: &std::ffi::CStr| {
        // SAFETY: nothing is loaded that is not there.
        unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
    };
    let thunk = [c"libdtif.so", c"libhsakmt.so.1"].into_iter().map(open).find(|thunk| !thunk.is_null())?;
    type Read = unsafe extern "C" fn(u32, *mut [u64; 32]) -> i32;
    // SAFETY: the function is the one of the header, whose structure fits.
    unsafe {
        let read = libc::dlsym(thunk, c"aqlipseThunkCounters".as_ptr());
        let read = std::mem::transmute::<*mut libc::c_void, Option<Read>>(read)?;
        let mut counted = [0; 32];
        assert_eq!(read(device.ordinal() as u32, &raw mut counted), 0);
        Some(counted)
    }
}

/// Runs `body` in a process of its own, with `variables` set before the device starts. `test` is the path of the
/// calling test, which the child runs again.
pub fn in_child(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if env::var(CHILD).is_ok_and(|running| running == test) {
        return body();
    }
    let program = env::current_exe().expect("this program");
    let output = Command::new(program)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, test)
        .envs(variables.iter().copied())
        .output()
        .expect("this program starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("1 passed"), "{test} with {variables:?}: {}\n{out}\n{err}", output.status);
}
