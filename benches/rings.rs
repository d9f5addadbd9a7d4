//! What does a launch cost the host when the packets go to a ring in device memory, and by which stores?
//!
//! The launch call of chains of empty kernels onto an idle device, in turns on three queues of one device: ring in system
//! memory; ring in device memory by ordinary stores; ring in device memory past the caches. Kernels complete without
//! executing. `AQLIPSE_DEVICE=rocr` measures a GPU, if its HSA runtime can put rings into its memory; by default the
//! device is the emulated one, whose memory is the host's.

#[path = "../kernels/objects.rs"]
mod objects;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use aqlipse::{
    Backend, Device, Module, Result, Rings, Stream, StreamKind, System,
    typed::{ExecGraph, Graph, Kernel},
};

/// Priorities that have queues of their own, and where the ring of each is.
const PLACES: [(i32, Rings, &str); 3] = [
    (0, Rings::System, "system"),
    (-1, Rings::DeviceOrdinary, "device, ordinary stores"),
    (1, Rings::Device, "device, past the caches"),
];

const NODES: [usize; 4] = [1, 64, 1024, 8192];

/// Launches of each graph on each ring: as many as fit the time, within these limits.
const TIME: Duration = Duration::from_secs(4);
const LAUNCHES: std::ops::Range<usize> = 60..6000;

fn main() -> ExitCode {
    // The emulator reads its variables when it starts; kernels that do nothing are what this benchmark is about.
    let configured = emulator::Config::from_env()
        .and_then(|config| emulator::configure(emulator::Config { null_kernels: true, ..config }));
    if let Err(error) = configured {
        eprintln!("rings: {error}");
        return ExitCode::FAILURE;
    }
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rings: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<()> {
    let device = Device::get(0)?;
    let module = Module::first_that_fits(&device, &objects::DEMO)?;
    // SAFETY: the kernel touches no memory.
    let empty = unsafe { Kernel::trusted(module.kernel("empty")?) };
    let launch = empty.launch(&device, [1; 3], [64, 1, 1], 0, &[])?;
    let mut rings = Vec::new();
    for (priority, place, name) in PLACES {
        device.set_rings(place);
        let stream = Stream::new(&device, StreamKind::NonBlocking, priority);
        let there = stream.rings()?;
        if there != place {
            println!("{name}: the HSA runtime cannot, and the ring is in {} memory", there.name());
        }
        rings.push((stream, name));
    }
    let backend = System::get()?.backend();
    println!("device {} ({backend:?})", device.properties().name);
    if backend == Backend::Emulated {
        println!("its memory is the host's, cached: what differs is instructions and caches, and no bus");
    }
    println!(
        "{:>6}  {:<26} {:>34} {:>12}",
        "nodes", "ring in memory of the", "launch call, ns", "ns a packet"
    );
    for nodes in NODES {
        let mut graph = Graph::new(&device);
        let mut last = Vec::new();
        for _ in 0..nodes {
            last = vec![graph.kernel(&launch, &last)?];
        }
        let times = launches(&graph.instantiate()?, &rings)?;
        for ((_, name), mut times) in rings.iter().zip(times) {
            times.sort_unstable_by(f64::total_cmp);
            let [low, median, high] = [1, 5, 9].map(|tenth| times[times.len() * tenth / 10]);
            let spread = format!("{median:.0} [{low:.0}-{high:.0}]");
            println!("{nodes:>6}  {name:<26} {spread:>34} {:>12.2}", median / nodes as f64);
        }
    }
    Ok(())
}

/// Times of launch calls in nanoseconds, a list for each ring.
fn launches(exec: &ExecGraph, rings: &[(Stream, &str)]) -> Result<Vec<Vec<f64>>> {
    let mut times = vec![Vec::new(); rings.len()];
    let begun = Instant::now();
    let enough = |made: usize| made >= LAUNCHES.start && (begun.elapsed() > TIME || made >= LAUNCHES.end);
    // Who begins moves on, so that nobody always follows the same.
    for round in 0.. {
        for turn in 0..rings.len() {
            let at = (round + turn) % rings.len();
            let stream = &rings[at].0;
            let start = Instant::now();
            exec.launch(stream)?;
            let time = start.elapsed();
            stream.synchronize()?;
            // The first launches touch pages and fill pools.
            if round >= 5 {
                times[at].push(time.as_secs_f64() * 1e9);
            }
        }
        if enough(times[0].len()) {
            break;
        }
    }
    Ok(times)
}
