//! `aqlipse calibrate`: measures what the cost table of a device's family says, and writes another one.
//!
//! Each time of a packet is that by which a launch gets longer with each node, or layer, of a graph of kernels that do next
//! to nothing: what the launch costs by itself drops out. Some values are the difference of two such times: of a chain with
//! its acquires and without, and of a chain with arguments in the host's memory and in the device's. What a launch costs
//! drops out of copies, too, which are measured by a few sizes, by kernel and by engine.

use std::{error, fs, path::PathBuf, time::Instant};

use aqlipse::{
    Backend, Device, Module, Options, Stream, StreamKind,
    schedule::{
        Candidate, CostFile,
        cost::{CDNA2, CDNA3},
    },
    typed::{DeviceBuffer, ExecGraph, Graph, HostBuffer, Kernel, Launch, Node},
};
use aqlipse_bench::{machine::Machine, timing::quartiles};
use clap::Args;

use super::{info::backend, objects};

/// What to calibrate, and where the result goes.
#[derive(Args)]
pub struct Calibration {
    /// The device's number.
    #[arg(long, default_value_t = 0)]
    device: usize,
    /// Write the table to a file, which `AQLIPSE_COSTS` can name then, instead of printing it.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// A graph whose length says what one thing costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    /// A chain of kernels on one queue.
    Chain,
    /// The same, in which nothing is acquired.
    Bare,
    /// The same of kernels that read arguments, which lie in the device's memory.
    Near,
    /// The same of kernels whose arguments lie in the host's memory.
    Distant,
    /// Kernels that depend on nothing, on one queue.
    Independent,
    /// Layers of two kernels on two queues, each behind both of the layer before.
    Crossing,
    /// A kernel and a host call, by turns.
    Host,
}

/// What a node of a probe is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Kernel,
    HostCall,
}

/// Lengths that are compared, and how often each is measured.
const LENGTHS: [usize; 2] = [128, 384];
const TIMES: usize = 15;

/// What is left as it is where the device has no arguments in its own memory to compare with.
const FIRST_LOAD: &str = "first_load_ns";

impl Probe {
    const ALL: [Self; 7] =
        [Self::Chain, Self::Bare, Self::Near, Self::Distant, Self::Independent, Self::Crossing, Self::Host];

    /// Whether its kernels have arguments.
    fn has_arguments(self) -> bool {
        matches!(self, Self::Near | Self::Distant)
    }

    /// The plan under which the probe shows what it is for.
    fn plan(self) -> (Candidate, usize) {
        match self {
            Self::Crossing => (Candidate::Strict, 2),
            _ => (Candidate::Levels, 1),
        }
    }

    /// The nodes of a probe of this length with what each depends on.
    fn nodes(self, length: usize) -> Vec<(Step, Vec<usize>)> {
        let chain = |at: usize| at.checked_sub(1).into_iter().collect();
        match self {
            Self::Chain | Self::Bare | Self::Near | Self::Distant => {
                (0..length).map(|at| (Step::Kernel, chain(at))).collect()
            }
            Self::Independent => vec![(Step::Kernel, Vec::new()); length],
            Self::Crossing => {
                let before = |at: usize| (at / 2 * 2).saturating_sub(2)..at / 2 * 2;
                (0..2 * length).map(|at| (Step::Kernel, before(at).collect())).collect()
            }
            Self::Host => {
                let step = |at: usize| if at.is_multiple_of(2) { Step::Kernel } else { Step::HostCall };
                // A kernel ends it, so that each call is waited for.
                (0..=2 * length).map(|at| (step(at), chain(at))).collect()
            }
        }
    }
}

/// What a unit of length of each probe takes, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Slopes {
    chain: f64,
    bare: f64,
    near: f64,
    distant: f64,
    independent: f64,
    crossing: f64,
    host: f64,
}

impl Slopes {
    /// Measures all probes: `time` says what a probe of a length takes.
    fn measure<E>(mut time: impl FnMut(Probe, usize) -> Result<f64, E>) -> Result<Self, E> {
        let mut slopes = Self::default();
        for probe in Probe::ALL {
            let [short, long] = [time(probe, LENGTHS[0])?, time(probe, LENGTHS[1])?];
            let slope = (long - short) / (LENGTHS[1] - LENGTHS[0]) as f64;
            *match probe {
                Probe::Chain => &mut slopes.chain,
                Probe::Bare => &mut slopes.bare,
                Probe::Near => &mut slopes.near,
                Probe::Distant => &mut slopes.distant,
                Probe::Independent => &mut slopes.independent,
                Probe::Crossing => &mut slopes.crossing,
                Probe::Host => &mut slopes.host,
            } = slope;
        }
        Ok(slopes)
    }

    /// The values of a cost table that follow.
    fn values(self) -> [(&'static str, u32); 6] {
        // CAST: saturates; a slope below zero is noise about nothing.
        let whole = |slope: f64| slope.round().max(0.0) as u32;
        [
            ("packet_ns", whole(self.independent)),
            ("dependent_ns", whole(self.bare)),
            ("acquire_ns", whole(self.chain - self.bare)),
            ("cross_queue_ns", whole(self.crossing)),
            // To the host, and from there to the next kernel.
            ("host_wake_ns", whole(self.host - self.crossing)),
            (FIRST_LOAD, whole(self.distant - self.near)),
        ]
    }
}

/// Bytes of copies from pinned memory that are compared.
const COPIED: [usize; 2] = [1 << 20, 16 << 20];

/// What copies of [`COPIED`] bytes take in a graph, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Copies {
    by_kernel: [f64; 2],
    by_engine: [f64; 2],
}

impl Copies {
    /// Nothing if engines do not copy: the device has none, or the table that is used now is against it.
    fn measure(device: &Device) -> aqlipse::Result<Option<Self>> {
        let times = |copies_by_kernels| -> aqlipse::Result<Option<[f64; 2]>> {
            let [small, large] = COPIED.map(|bytes| copy_time(device, bytes, copies_by_kernels));
            Ok(small?.zip(large?).map(|(small, large)| [small, large]))
        };
        let (by_kernel, by_engine) = (times(true)?, times(false)?);
        Ok(by_kernel.zip(by_engine).map(|(by_kernel, by_engine)| Self { by_kernel, by_engine }))
    }

    /// The values of a cost table that follow.
    fn values(self) -> [(&'static str, u32); 3] {
        let more = (COPIED[1] - COPIED[0]) as f64;
        // Where more bytes take no more time, the clock says nothing: the fastest bus that a table may have.
        let rate = |[small, large]: [f64; 2]| more / (large - small).max(1.0) * 1000.0;
        let [kernel, engine] = [rate(self.by_kernel), rate(self.by_engine)];
        let of_bytes = |rate: f64| COPIED[0] as f64 / rate * 1000.0;
        let fixed = self.by_engine[0] - of_bytes(engine) - (self.by_kernel[0] - of_bytes(kernel));
        // CAST: saturates.
        let whole = |value: f64| value.round().max(0.0) as u32;
        let whole_rate = |rate: f64| whole(rate).clamp(1, 10_000_000);
        [
            ("engine_copy_ns", whole(fixed)),
            ("engine_bytes_per_us", whole_rate(engine)),
            ("blit_bytes_per_us", whole_rate(kernel)),
        ]
    }
}

/// The median time from a launch to its end of a copy from pinned memory beside an empty kernel; nothing if it does not go
/// the way that it should.
fn copy_time(device: &Device, bytes: usize, copies_by_kernels: bool) -> aqlipse::Result<Option<f64>> {
    let (from, to) = (HostBuffer::new(device, bytes / 4, 0u32)?, DeviceBuffer::new(device, bytes / 4)?);
    let mut graph = Graph::new(device);
    graph.kernel(&empty_kernel(device)?, &[])?;
    graph.upload(to.slice(), &from, &[])?;
    let exec = graph.instantiate_with(Options { copies_by_kernels, ..Options::default() })?;
    if (exec.report().counts.engine_copies == 0) != copies_by_kernels {
        return Ok(None);
    }
    median(device, &exec).map(Some)
}

/// Measures a device and prints or writes its table.
///
/// # Errors
/// What making or launching graphs fails with; a file that cannot be written.
pub fn run(calibration: &Calibration) -> Result<(), Box<dyn error::Error>> {
    let device = Device::get(calibration.device)?;
    let before = [&CDNA2, &CDNA3].into_iter().find(|file| file.serves(&device.properties().arch));
    let mut file: CostFile = (**before.unwrap_or(&CDNA3)).clone();
    let source = source(&device);
    let family = device.properties().arch.split(':').next().unwrap_or_default().to_owned();
    file.family = (family, device.properties().name.clone());
    let slopes = Slopes::measure(|probe, length| time(&device, probe, length))?;
    eprintln!("{source}");
    let units = ("compute_units", device.properties().multiprocessors);
    let copies = Copies::measure(&device)?.map(Copies::values).into_iter().flatten();
    for (name, value) in std::iter::once(units).chain(slopes.values()).chain(copies) {
        if name == FIRST_LOAD && !device.has_own_arguments() {
            eprintln!(
                "{name:<16}{:>10}: the device's own memory holds no arguments to compare with",
                "as before"
            );
            continue;
        }
        if !file.set(name, value, &source) {
            return Err(format!("{name} would be {value}, which no cost table may say").into());
        }
        eprintln!("{name:<20}{value:>10}");
    }
    if device.backend() == Backend::Emulated {
        eprintln!("The device is emulated: these are times of the emulator, and say nothing about a GPU.");
    }
    match &calibration.write {
        None => print!("{file}"),
        Some(path) => {
            fs::write(path, file.to_string()).map_err(|error| format!("{}: {error}", path.display()))?;
            eprintln!("AQLIPSE_COSTS={} has plans compared by it", path.display());
        }
    }
    Ok(())
}

/// Where the values are from.
fn source(device: &Device) -> String {
    let (name, by) = (&device.properties().name, backend(device));
    let what = match device.backend() {
        Backend::Rocr => String::new(),
        Backend::Emulated => {
            format!(": times of the emulator on {}, not of a GPU", Machine::here().processor)
        }
    };
    format!("aqlipse calibrate {}, median of {TIMES} on {name} ({by}){what}", env!("CARGO_PKG_VERSION"))
}

/// The kernel of a probe's nodes.
fn launch(device: &Device, probe: Probe) -> aqlipse::Result<Launch> {
    let module = Module::first_that_fits(device, &objects::DEMO)?;
    if !probe.has_arguments() {
        // SAFETY: the kernel touches no memory.
        let kernel = unsafe { Kernel::trusted(module.kernel("empty")?) };
        return kernel.launch(device, [1; 3], [64, 1, 1], 0, &[]);
    }
    // SAFETY: kernels/demo.cpp: it touches the ticket and the one stamp that its index names, by a single work-item.
    let kernel = unsafe { Kernel::trusted(module.kernel("stamp")?) };
    let [ticket, stamps] = [DeviceBuffer::<u32>::new(device, 1)?, DeviceBuffer::<u32>::new(device, 1)?];
    kernel.launch(device, [1; 3], [1; 3], 0, &[&ticket, &stamps, &0u32])
}

/// The median time from a launch to its end.
fn time(device: &Device, probe: Probe, length: usize) -> aqlipse::Result<f64> {
    let launch = launch(device, probe)?;
    let mut graph = Graph::new(device);
    let mut ids: Vec<Node> = Vec::new();
    for (step, after) in probe.nodes(length) {
        let after: Vec<Node> = after.into_iter().map(|at| ids[at]).collect();
        ids.push(match step {
            Step::Kernel => graph.kernel(&launch, &after)?,
            Step::HostCall => graph.host(|| (), &after)?,
        });
    }
    let (candidate, lanes) = probe.plan();
    let arguments_on_host = probe == Probe::Distant;
    let options = Options { candidate: Some(candidate), lanes, arguments_on_host, ..Options::default() };
    let exec = graph.instantiate_with(options)?;
    if probe == Probe::Bare {
        // SAFETY: the kernels touch no memory.
        unsafe { exec.omit_acquires() };
    }
    if exec.report().lanes != lanes {
        return Err(aqlipse::Error::IllegalState(
            "a graph to calibrate with runs on other queues than it should",
        ));
    }
    median(device, &exec)
}

/// A launch of a kernel that does nothing.
fn empty_kernel(device: &Device) -> aqlipse::Result<Launch> {
    let kernel = Module::first_that_fits(device, &objects::DEMO)?.kernel("empty")?;
    // SAFETY: the kernel touches no memory.
    let kernel = unsafe { Kernel::trusted(kernel) };
    kernel.launch(device, [1; 3], [64, 1, 1], 0, &[])
}

/// The median time from a launch to its end.
fn median(device: &Device, exec: &ExecGraph) -> aqlipse::Result<f64> {
    let stream = Stream::new(device, StreamKind::NonBlocking, 0);
    let mut taken = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let start = Instant::now();
        exec.launch(&stream)?;
        stream.synchronize()?;
        taken.push(start.elapsed().as_nanos() as f64);
    }
    taken.sort_unstable_by(f64::total_cmp);
    Ok(quartiles(&taken)[1])
}

#[cfg(test)]
mod tests {
    use aqlipse::{
        graph::Csr,
        schedule::{Class, CostTable, Problem, candidate, check},
    };
    use aqlipse_cli::simulate::{self, Program};
    use hsa::packet::Scope;

    use super::*;

    /// What a probe takes on a device that is as a table says.
    fn simulated(table: &CostTable, probe: Probe, length: usize) -> f64 {
        let nodes = probe.nodes(length);
        let mut preds = Csr::default();
        nodes.iter().for_each(|(_, after)| preds.push_row(after.iter().map(|&at| at as u32)));
        let succs = preds.transposed();
        let class = |step: &Step| if *step == Step::Kernel { Class::Packet } else { Class::Host };
        let classes: Vec<Class> = nodes.iter().map(|(step, _)| class(step)).collect();
        let guesses: Vec<u32> = classes.iter().map(|class| table.guess(*class)).collect();
        let planned = Problem::new(&preds, &succs, &classes, &guesses).unwrap();
        let (kind, lanes) = probe.plan();
        let plan = candidate(&planned, kind, lanes, table);
        check(&planned, &plan).unwrap();
        let nothing = vec![0; nodes.len()];
        let real = Problem::new(&preds, &succs, &classes, &nothing).unwrap();
        let mut program = Program::of_plan(&real, &plan).unwrap();
        assert_eq!(program.queues.len(), lanes, "{probe:?}");
        program.host_arguments = probe == Probe::Distant;
        if probe == Probe::Bare {
            let packets = program.queues.iter_mut().flat_map(|queue| &mut queue.packets).skip(1);
            packets.for_each(|packet| packet.fences.acquire = Scope::None);
        }
        simulate::run(&program, table).unwrap().makespan_ns as f64
    }

    #[test]
    fn a_device_that_is_as_a_table_says_is_measured_to_be_so() {
        let faster = CostTable {
            packet_ns: 200,
            dependent_ns: 900,
            cross_queue_ns: 3_000,
            acquire_ns: 150,
            first_load_ns: 700,
            ..CDNA3.table
        };
        for table in [CDNA3.table, faster] {
            let slopes =
                Slopes::measure(|probe, length| Ok::<_, ()>(simulated(&table, probe, length))).unwrap();
            let expected = [
                ("packet_ns", table.packet_ns),
                ("dependent_ns", table.dependent_ns),
                ("acquire_ns", table.acquire_ns),
                ("cross_queue_ns", table.cross_queue_ns),
                ("host_wake_ns", table.host_wake_ns),
                (FIRST_LOAD, table.first_load_ns),
            ];
            assert_eq!(slopes.values(), expected);
        }
    }

    #[test]
    fn copies_that_take_a_fixed_time_and_one_for_their_bytes_are_measured_to_do_so() {
        let takes =
            |fixed: f64, bytes_per_us: f64| COPIED.map(|bytes| fixed + bytes as f64 / bytes_per_us * 1000.0);
        let copies = Copies { by_kernel: takes(9_000.0, 20_000.0), by_engine: takes(12_500.0, 25_000.0) };
        let expected =
            [("engine_copy_ns", 3_500), ("engine_bytes_per_us", 25_000), ("blit_bytes_per_us", 20_000)];
        assert_eq!(copies.values(), expected);
        let none = Copies { by_kernel: [1.0; 2], by_engine: [0.0; 2] };
        let mut file = CDNA3.clone();
        assert!(
            none.values().iter().all(|(name, value)| file.set(name, *value, "a test")),
            "a table may say so"
        );
    }

    #[test]
    fn the_device_at_hand_can_be_calibrated() {
        let device = Device::get(0).unwrap();
        for probe in Probe::ALL {
            assert!(time(&device, probe, 8).unwrap() > 0.0, "{probe:?}");
        }
        let copies = Copies::measure(&device).unwrap();
        assert_eq!(copies.is_some(), device.properties().copy_engines);
        assert_eq!(source(&device).contains("not of a GPU"), device.backend() == Backend::Emulated);
    }
}
