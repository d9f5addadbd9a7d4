//! What does a launch of a graph that lies on the device cost the host, and when is the graph complete?
//!
//! Chains of kernels of one work-item, on an idle stream, launched in three ways that take turns: copied into the stream's
//! queue, taken by the packet processor from where they lie, and published by a kernel. Kernels execute, unlike those of
//! `aqlipse bench --goals`: one that publishes packets would publish none. Microseconds: the 10th percentile, the median and
//! the 90th.

use std::{
    thread,
    time::{Duration, Instant},
};

use aqlipse::{
    Device, Module, Options, Result, Stream, StreamKind,
    typed::{DeviceBuffer, Graph, Kernel},
};

const OBJECTS: [&[u8]; 2] =
    [include_bytes!("../kernels/tests.gfx90a.co"), include_bytes!("../kernels/tests.gfx9-4-generic.co")];

const NODES: [usize; 3] = [1, 145, 8192];

/// Launches of each way and size.
const LAUNCHES: usize = 200;

/// How long a packet processor that finds nothing is awake, and a little more.
const NAP: Duration = Duration::from_micros(100);

fn main() -> Result<()> {
    let device = Device::get(0)?;
    let cores = thread::available_parallelism().map_or(0, usize::from);
    println!("{} ({:?}), {cores} cores, {LAUNCHES} launches", device.properties().name, device.backend());
    println!("{:>6} {:<16} {:>24} {:>30}", "nodes", "launch", "call, us", "until complete, us");
    let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
    let poke = Module::first_that_fits(&device, &OBJECTS)?.kernel("poke")?;
    // SAFETY: stores a word to an address, which is that of a buffer here.
    let poke = unsafe { Kernel::trusted(poke) };
    let word = DeviceBuffer::<u32>::new(&device, 1)?;
    let resident = Options { resident: true, ..Options::default() };
    let ways = [Options::default(), resident, Options { resident_by_launcher: true, ..resident }];
    for nodes in NODES {
        let mut graph = Graph::new(&device);
        let store = poke.launch(&device, [1; 3], [1; 3], 0, &[&word.slice().address(), &1u32])?;
        let mut last = Vec::new();
        for _ in 0..nodes {
            last = vec![graph.kernel(&store, &last)?];
        }
        let execs = ways.map(|options| graph.instantiate_with(options));
        let mut times = [const { (Vec::new(), Vec::new()) }; 3];
        for exec in &execs {
            exec.as_ref().map_err(Clone::clone)?.upload(&stream)?;
        }
        for _ in 0..LAUNCHES {
            for (exec, (calls, completes)) in execs.iter().zip(&mut times) {
                let Ok(exec) = exec else { continue };
                stream.synchronize()?;
                thread::sleep(NAP);
                // It wakes the device up.
                exec.launch(&stream)?;
                stream.synchronize()?;
                let start = Instant::now();
                exec.launch(&stream)?;
                calls.push(start.elapsed());
                stream.synchronize()?;
                completes.push(start.elapsed());
            }
        }
        for (exec, (calls, completes)) in execs.iter().zip(times) {
            let Ok(exec) = exec else { continue };
            let way = exec.report().residence.map_or("copied".into(), |way| format!("{way:?}"));
            println!("{nodes:>6} {way:<16} {:>24} {:>30}", percentiles(calls), percentiles(completes));
        }
    }
    Ok(())
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |tenth: usize| times[(times.len() - 1) * tenth / 10].as_secs_f64() * 1e6;
    format!("{:.2} {:.2} {:.2}", at(1), at(5), at(9))
}
