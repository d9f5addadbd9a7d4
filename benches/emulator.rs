//! What does an instruction cost the emulated device?
//!
//! Kernels of known instruction counts (`kernels/bench.cpp`) run as any kernel does: from a stream, through a queue.
//! A lone wave shows what an instruction takes; workgroups on all cores show how many lane operations a second a core
//! does.

#[path = "../src/command/machine.rs"]
mod machine;
#[path = "../src/command/timing.rs"]
mod timing;

use std::process::ExitCode;

use aqlipse::{
    Backend, Device, Error, Module, Result, Stream, StreamKind,
    typed::{DeviceBuffer, Kernel},
};

use machine::Machine;
use timing::{Spread, measure};

const OBJECTS: [&[u8]; 2] =
    [include_bytes!("../kernels/bench.gfx90a.co"), include_bytes!("../kernels/bench.gfx942.co")];

/// Kernels and what they repeat.
const KERNELS: [(&str, &str); 8] = [
    ("scalar_add", "s_add_u32"),
    ("vector_add", "v_add_u32"),
    ("fma_f32", "v_fma_f32"),
    ("fma_f64", "v_fma_f64"),
    ("global_load", "global_load_dword"),
    ("global_store", "global_store_dword"),
    ("lds_load", "ds_read_b32"),
    ("lds_store", "ds_write_b32"),
];

/// Instructions of a round, `BLOCK` in kernels/bench.cpp.
const BLOCK: u32 = 256;

/// Rounds of a launch: a quarter of a million instructions a wave, beside which the launch is nothing.
const ROUNDS: u32 = 1024;

const WAVE: u32 = 64;

/// Work-items of a workgroup of the launches on all cores.
const GROUP: u32 = 256;

/// Workgroups for each core, so that none runs dry.
const GROUPS_PER_CORE: u32 = 4;

const SAMPLES: usize = 9;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("emulator: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let device = Device::get(0)?;
    if device.backend() != Backend::Emulated {
        return Err(Error::NotSupported("measuring the emulator on a device that is not emulated"));
    }
    let machine = Machine::here();
    println!("machine   {}, {} cores", machine.processor, machine.cores);
    println!("device    {} ({})", device.properties().name, device.properties().arch);
    println!("medians of {SAMPLES} launches with their quartiles in brackets");
    println!();
    println!("{:<20}{:>34}{:>40}", "", "one wave:", "all cores:");
    println!("{:<20}{:>34}{:>40}", "instruction", "ns an instruction", "10^9 lane operations/s a core");
    let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
    let module = Module::first_that_fits(&device, &OBJECTS)?;
    for (kernel, instruction) in KERNELS {
        // SAFETY: kernels/bench.cpp: a work-item touches the element of its index, and `time` gives the buffer as many
        // elements as there are work-items.
        let kernel = unsafe { Kernel::trusted(module.kernel(kernel)?) };
        let alone = time(&stream, &kernel, 1, WAVE)?;
        // CAST: machines have fewer than 2^30 cores.
        let groups = machine.cores as u32 * GROUPS_PER_CORE;
        let crowd = time(&stream, &kernel, groups, GROUP)?;

        let each = |seconds: f64| seconds * 1e9 / f64::from(BLOCK * ROUNDS);
        let operations = f64::from(groups * GROUP) * f64::from(BLOCK * ROUNDS) / machine.cores as f64;
        let [low, median, high] = seconds(&alone).map(each);
        let alone = format!("{median:.2} [{low:.2}-{high:.2}]");
        let [high, median, low] = seconds(&crowd).map(|seconds| operations / seconds / 1e9);
        let crowd = format!("{median:.2} [{low:.2}-{high:.2}]");
        println!("{instruction:<20}{alone:>34}{crowd:>40}");
    }
    Ok(())
}

/// Times launches of `groups` workgroups of `threads` work-items, the first one off the clock.
fn time(stream: &Stream, kernel: &Kernel, groups: u32, threads: u32) -> Result<Spread> {
    let device = stream.device();
    // The kernels index with the full size of a workgroup.
    let data = DeviceBuffer::<u32>::new(device, (groups * GROUP) as usize)?;
    let launch = kernel.launch(device, [groups, 1, 1], [threads, 1, 1], 0, &[&data, &ROUNDS])?;
    let once = || {
        stream.run(&launch)?;
        stream.synchronize()
    };
    once()?;
    measure(SAMPLES, once)
}

/// Lower quartile, median and upper quartile.
fn seconds(spread: &Spread) -> [f64; 3] {
    let [low, high] = spread.quartiles;
    [low, spread.median, high].map(|time| time.as_secs_f64())
}
