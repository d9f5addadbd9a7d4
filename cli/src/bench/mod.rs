//! `aqlipse bench`: what graphs cost the host, from the first node to the launch.
//!
//! | module | what it holds |
//! |---|---|
//! | [`measure`] | verification and measurements of one graph of this library |
//! | [`floor`] | the copy that no launch can do without |
//! | [`against`] | this library beside others |
//! | [`simulate`] | plans in virtual time, beside AMD's ways to lay graphs out |
//! | [`limits`] | the host's part of a launch beside the device's |

pub mod against;
mod floor;
mod limits;
mod measure;
mod simulate;

use std::{
    error, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use aqlipse::{Device, Error};
use aqlipse_bench::{machine::Machine, sampling::Effort, shape::Shape};
use clap::Args;
use serde_json::{Value, json};

use self::measure::{Bench, Figures, Quartiles, clock_cost};
use super::info::backend;

/// What to measure.
#[derive(Args)]
pub struct Selection {
    #[command(flatten)]
    output: Output,
    /// Only graphs whose `shape/nodes/` contains this, as `full4/` or `straight/1/`.
    #[arg(long, default_value = "")]
    filter: String,
    /// Fewer sizes and samples: seconds instead of minutes.
    #[arg(long)]
    quick: bool,
    /// Compare plans in virtual time with AMD's ways to lay the same graphs out, instead of measuring; by the cost tables
    /// that `AQLIPSE_COSTS` names, or else by those of gfx942 and gfx90a.
    #[arg(long, conflicts_with_all = ["quick", "against"])]
    simulate: bool,
    /// Say for the shapes of GraphBench whether the host or the device limits launches: the launch call measured, the
    /// device's time by the cost table.
    #[arg(long, conflicts_with_all = ["simulate", "against"])]
    limits: bool,
    #[command(flatten)]
    against: against::Options,
}

/// Where figures go besides the terminal.
#[derive(Args, Debug)]
pub struct Output {
    /// Write one JSON object to a file, or print it instead of text.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    json: Option<Option<PathBuf>>,
}

impl Output {
    /// Whether JSON takes the place of text.
    fn only_json(&self) -> bool {
        self.json == Some(None)
    }

    /// Writes the JSON where it is wanted.
    ///
    /// # Errors
    /// The file and why it cannot be written.
    fn json(&self, report: impl FnOnce() -> Value) -> Result<(), (&Path, io::Error)> {
        match &self.json {
            None => {}
            Some(None) => println!("{}", report()),
            Some(Some(file)) => {
                fs::write(file, format!("{}\n", report())).map_err(|error| (file.as_path(), error))?
            }
        }
        Ok(())
    }
}

const SIZES: [usize; 6] = [1, 16, 64, 256, 1024, 8192];
const QUICK_SIZES: [usize; 3] = [1, 64, 1024];

const EFFORT: Effort = Effort { budget: Duration::from_millis(400), least: 15, ..QUICK_EFFORT };
const QUICK_EFFORT: Effort =
    Effort { budget: Duration::from_millis(60), least: 5, most: 5000, longest: Duration::MAX };

/// Measures and prints.
///
/// # Errors
/// [`Error::InvalidValue`] if the filter leaves nothing; a graph that is not what it should be; a file that
/// cannot be written; [`against::Error`].
pub fn run(selection: &Selection) -> Result<(), Box<dyn error::Error>> {
    let Selection { output, filter, quick, simulate, limits, against } = selection;
    if *limits {
        return limits::limits(filter, *quick, output);
    }
    if *simulate {
        return simulate::simulate(filter, output);
    }
    if against.wanted() {
        return Ok(against::run(against, *quick, filter, output)?);
    }
    let (sizes, effort) = if *quick { (&QUICK_SIZES[..], QUICK_EFFORT) } else { (&SIZES[..], EFFORT) };
    let cases = Shape::ALL.iter().flat_map(|&shape| sizes.iter().map(move |&nodes| (shape, nodes)));
    let wanted = |&(shape, nodes): &(Shape, usize)| format!("{}/{nodes}/", shape.name()).contains(filter);
    let cases: Vec<_> = cases.filter(wanted).collect();
    if cases.is_empty() {
        return Err(Error::InvalidValue("the filter leaves no graph to measure").into());
    }
    let device = Device::get(0)?;
    let mut bench = Bench::new(&device)?;
    if !output.only_json() {
        header(&device);
    }
    let mut all: Vec<Figures> = Vec::with_capacity(cases.len());
    for (shape, nodes) in cases {
        let figures = bench.figures(shape, nodes, effort)?;
        if !output.only_json() {
            if all.last().is_some_and(|last| last.shape != shape) {
                println!();
            }
            line(&figures);
        }
        all.push(figures);
    }
    let written = output.json(|| all_json(&device, &all));
    written.map_err(|(file, error)| format!("{}: {error}", file.display()).into())
}

fn all_json(device: &Device, figures: &[Figures]) -> Value {
    let machine = Machine::here();
    json!({
        "processor": machine.processor,
        "cores": machine.cores,
        "device": device.properties().name,
        "target": device.properties().arch,
        "backend": backend(device),
        "api": "rust",
        "clock_ns": clock_cost(),
        "graphs": figures.iter().map(figures_json).collect::<Vec<_>>(),
    })
}

fn header(device: &Device) {
    let (machine, p) = (Machine::here(), device.properties());
    println!(
        "machine   {}, {} cores; a look at the clock takes {:.0} ns",
        machine.processor,
        machine.cores,
        clock_cost()
    );
    println!("device    {} ({}), {}", p.name, p.arch, backend(device));
    println!("graphs    of kernels that do nothing, built through the Rust API (the C API is not measured)");
    println!(
        "verified  each graph ran with kernels that tell when: every node once, behind all that it depends on"
    );
    println!("launch    the call alone, onto an idle device");
    println!(
        "floor     a copy of as many packets to a ring that nobody reads: in turns with the launches, which find as"
    );
    println!("          cold a cache, and warm, again and again; x is the launch call over it");
    println!("spread    medians; quartiles in brackets, or half their distance in percent");
    println!();
    println!("{:26} |{:^44} |{:^33} |{:^38} |", "", "ns a node", "launch call", "floor, ns a packet",);
    println!(
        "{:<12}{:>6}{:>8} |{:>14}{:>16}{:>14} |{:>23}{:>10} |{:>14}{:>5}{:>14}{:>5} |{:>14}",
        "shape",
        "nodes",
        "packets",
        "build",
        "instantiate",
        "update",
        "us",
        "ns/node",
        "in turns",
        "x",
        "warm",
        "x",
        "and wait, us",
    );
}

fn line(f: &Figures) {
    let (nodes, packets) = (f.nodes as f64, f.packets() as f64);
    let [cold, warm] = f.ratios().map(number);
    let [low, median, high] = f.call.map(|time| number(time / 1e3));
    println!(
        "{:<12}{:>6}{:>8} |{:>14}{:>16}{:>14} |{:>23}{:>10} |{:>14}{cold:>5}{:>14}{warm:>5} |{:>14}",
        f.shape.name(),
        f.nodes,
        f.packets(),
        spread(f.build, 1.0),
        spread(f.instantiate, 1.0),
        spread(f.update, 1.0),
        format!("{median} [{low}-{high}]"),
        number(f.call[1] / nodes),
        spread(f.floor, packets),
        spread(f.warm_floor, packets),
        spread(f.whole, 1e3),
    );
}

/// A median in units of `unit` nanoseconds, and half the distance of the quartiles as a part of it.
fn spread([low, median, high]: Quartiles, unit: f64) -> String {
    format!("{} ±{:.0}%", number(median / unit), (high - low) / 2.0 / median * 100.0)
}

/// Three digits that matter.
fn number(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$}")
}

fn figures_json(f: &Figures) -> Value {
    let [cold, warm] = f.ratios();
    let nanoseconds = |[low, median, high]: Quartiles| json!({ "median": median, "quartiles": [low, high] });
    json!({
        "shape": f.shape.name(),
        "nodes": f.nodes,
        "lanes": f.report.lanes,
        "kernel_packets": f.report.kernel_packets,
        "barrier_packets": f.report.barrier_packets,
        "barrier_bits": f.report.barrier_bits,
        "exec_bytes": f.report.exec_bytes,
        "build_ns_per_node": nanoseconds(f.build),
        "instantiate_ns_per_node": nanoseconds(f.instantiate),
        "update_ns_per_node": nanoseconds(f.update),
        "launch_call_ns": nanoseconds(f.call),
        "launch_and_wait_ns": nanoseconds(f.whole),
        "floor_ns": nanoseconds(f.floor),
        "warm_floor_ns": nanoseconds(f.warm_floor),
        "launch_over_floor": cold,
        "launch_over_warm_floor": warm,
    })
}
