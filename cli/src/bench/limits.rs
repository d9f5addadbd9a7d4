//! `aqlipse bench --limits`: whether the host or the device limits launches that follow each other, for the shapes of
//! GraphBench.
//!
//! The host's part is measured: the launch call. The device's is virtual: the packets of the same executable, played by a
//! cost table, as no device at hand may be a GPU.

use std::error;

use aqlipse::Device;
use aqlipse_bench::{machine::Machine, sampling::Effort, shape::Shape};
use aqlipse_cli::simulate::{Program, published, run};
use aqlipse_graph::schedule::{CostTable, Policy};
use serde_json::{Value, json};

use super::{
    Output,
    measure::{Bench, Quartiles},
    number,
    simulate::shaped,
};
use crate::info::backend;

/// The shapes of GraphBench.
const SHAPES: [Shape; 5] =
    [Shape::Straight, Shape::Paths(2), Shape::Paths(4), Shape::Full(2), Shape::Full(4)];

/// The sizes that its results are published for.
const SIZES: [usize; 4] = [1, 64, 1024, 8192];

/// What one launch after the other takes.
struct Row {
    shape: Shape,
    nodes: usize,
    packets: usize,
    /// Packets that acquire something.
    acquires: usize,
    /// The launch call: its quartiles.
    host: Quartiles,
    /// From a launch to the next on the device.
    device_ns: u64,
    /// The same with kernel arguments in the host's memory.
    distant_ns: u64,
    /// The same for the fastest of AMD's layouts.
    theirs_ns: u64,
    /// The same for their round robin over four streams, whose signals raise interrupts.
    interrupting_ns: u64,
}

/// What of a launch takes longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Host,
    Device,
}

impl Limit {
    fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Device => "device",
        }
    }
}

impl Row {
    fn of(
        bench: &Bench,
        table: &CostTable,
        (shape, nodes): (Shape, usize),
        effort: Effort,
    ) -> Result<Self, Box<dyn error::Error>> {
        let (image, host) = bench.launch_call(shape, nodes, effort)?;
        let program = Program::of_launch(&image);
        let graph = shaped(shape, nodes, "empty", |_| 0);
        let problem = graph.problem()?;
        let theirs = Policy::ALL.map(|policy| published(policy, &problem));
        let theirs = theirs.iter().map(|program| period_ns(program, table)).collect::<Result<Vec<_>, _>>()?;
        let interrupting = published(Policy::RoundRobin, &problem).interrupting();
        Ok(Self {
            shape,
            nodes,
            packets: program.packets(),
            acquires: program.acquires(),
            host,
            device_ns: period_ns(&program, table)?,
            theirs_ns: theirs.into_iter().min().unwrap_or(0),
            interrupting_ns: period_ns(&interrupting, table)?,
            distant_ns: period_ns(&program.with_host_arguments(), table)?,
        })
    }

    /// What takes longer, and how many times as long.
    fn limit(&self) -> (Limit, f64) {
        let (host, device) = (self.host[1].max(1.0), self.device_ns.max(1) as f64);
        if host > device { (Limit::Host, host / device) } else { (Limit::Device, device / host) }
    }

    fn line(&self) -> String {
        let us = |ns: u64| number(ns as f64 / 1e3);
        let [low, median, high] = self.host.map(|ns| number(ns / 1e3));
        let (limit, times) = self.limit();
        format!(
            "{:<10}{:>6}{:>8}{:>8} |{:>24} |{:>10}{:>10} | {:<7}{:>7} |{:>10}{:>10}",
            self.shape.name(),
            self.nodes,
            self.packets,
            self.acquires,
            format!("{median} [{low}-{high}]"),
            us(self.device_ns),
            us(self.distant_ns),
            limit.name(),
            format!("{}x", number(times)),
            us(self.theirs_ns),
            us(self.interrupting_ns),
        )
    }

    fn json(&self) -> Value {
        let (limit, times) = self.limit();
        let [low, median, high] = self.host;
        json!({
            "shape": self.shape.name(),
            "nodes": self.nodes,
            "packets": self.packets,
            "acquires": self.acquires,
            "host_ns": { "median": median, "quartiles": [low, high] },
            "device_ns": self.device_ns,
            "device_ns_with_host_arguments": self.distant_ns,
            "limit": limit.name(),
            "times": times,
            "amd_best_ns": self.theirs_ns,
            "amd_four_streams_with_interrupts_ns": self.interrupting_ns,
        })
    }
}

/// From the start of a launch to that of the next one right behind it, which waits until this one has drained.
fn period_ns(program: &Program, table: &CostTable) -> Result<u64, Box<dyn error::Error>> {
    let launching = program.packets() as u64 * u64::from(table.packet_ns);
    Ok((run(program, table)?.makespan_ns + u64::from(table.dependent_ns)).max(launching))
}

/// Measures, plays and prints.
///
/// # Errors
/// A file of `AQLIPSE_COSTS`; a graph that is not what it should be; a file that cannot be written.
pub fn limits(filter: &str, quick: bool, output: &Output) -> Result<(), Box<dyn error::Error>> {
    let device = Device::get(0)?;
    let table = *device.costs()?;
    let sizes = if quick { &SIZES[..3] } else { &SIZES[..] };
    let effort = if quick { super::QUICK_EFFORT } else { super::EFFORT };
    let cases = SHAPES.iter().flat_map(|&shape| sizes.iter().map(move |&nodes| (shape, nodes)));
    let wanted = |(shape, nodes): &(Shape, usize)| format!("{}/{nodes}/", shape.name()).contains(filter);
    let cases: Vec<_> = cases.filter(wanted).collect();
    if cases.is_empty() {
        return Err(aqlipse::Error::InvalidValue("the filter leaves no graph to measure").into());
    }
    if !output.only_json() {
        header(&device, &table);
    }
    let bench = Bench::new(&device)?;
    let mut rows = Vec::new();
    for case in cases {
        let row = Row::of(&bench, &table, case, effort)?;
        if !output.only_json() {
            println!("{}", row.line());
        }
        rows.push(row);
    }
    let report = || {
        json!({
            "processor": Machine::here().processor,
            "device": device.properties().name,
            "target": device.properties().arch,
            "backend": backend(&device),
            "graphs": rows.iter().map(Row::json).collect::<Vec<_>>(),
        })
    };
    output.json(report).map_err(|(file, error)| format!("{}: {error}", file.display()).into())
}

fn header(device: &Device, table: &CostTable) {
    let p = device.properties();
    println!("machine   {}; device {} ({}), {}", Machine::here().processor, p.name, p.arch, backend(device));
    println!("graphs    of kernels that do nothing, of the shapes of GraphBench");
    println!("host      the launch call onto an idle device, measured: median and quartiles");
    println!(
        "device    virtual: from a launch to the next right behind it, for the executable's packets; a dependent packet {} ns,",
        table.dependent_ns
    );
    println!(
        "          an acquire {} ns, arguments in the host's memory {} ns a kernel, an interrupt {} ns (AQLIPSE_COSTS)",
        table.acquire_ns, table.first_load_ns, table.interrupt_ns
    );
    println!(
        "limit     what takes longer, and how many times as long: launches that follow each other take that"
    );
    println!(
        "AMD's     packets as their releases publish them, virtual: the fastest of four layouts; and four streams"
    );
    println!("          whose signals raise interrupts, as until late 2024");
    println!();
    println!(
        "{:<10}{:>6}{:>8}{:>8} |{:>24} |{:^20} | {:<14} |{:^20}",
        "", "", "", "", "host, us", "device, us", "", "AMD's, us"
    );
    println!(
        "{:<10}{:>6}{:>8}{:>8} |{:>24} |{:>10}{:>10} | {:<14} |{:>10}{:>10}",
        "shape",
        "nodes",
        "packets",
        "acq",
        "launch call",
        "own args",
        "host args",
        "limit",
        "fastest",
        "4 streams"
    );
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const ONCE: Effort = Effort { budget: Duration::ZERO, least: 3, most: 3, longest: Duration::MAX };

    #[test]
    fn the_device_s_part_is_that_of_the_executable_s_packets() {
        let device = Device::get(0).unwrap();
        let (bench, table) = (Bench::new(&device).unwrap(), *device.costs().unwrap());
        let behind = u64::from(table.dependent_ns + table.acquire_ns);
        let row = |shape, nodes| Row::of(&bench, &table, (shape, nodes), ONCE).unwrap();
        let chain = row(Shape::Straight, 64);
        assert_eq!((chain.packets, chain.acquires, chain.device_ns), (64, 64, 64 * behind));
        assert_eq!(chain.theirs_ns, chain.device_ns, "AMD's chain has the same packets");
        assert_eq!(chain.distant_ns, chain.device_ns + 64 * u64::from(table.first_load_ns));
        // One acquire a layer, and one behind the last.
        let full = row(Shape::Full(2), 64);
        assert_eq!((full.packets, full.acquires), (65, 33));
        assert!(full.device_ns < full.theirs_ns && full.theirs_ns < full.interrupting_ns);
        for row in [chain, full] {
            let (limit, times) = row.limit();
            assert!(times >= 1.0 && (limit == Limit::Host) == (row.host[1] > row.device_ns as f64));
            assert!(
                row.line().contains(limit.name()) && row.json()["acquires"] == row.acquires,
                "{}",
                row.line()
            );
        }
    }
}
