//! `aqlipse bench --against`: this library beside others, on the same emulated device, in one run.
//!
//! A contestant is measured in processes of its own, a round after the other, so that what changes on the
//! machine during the run reaches all of them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`contestant`] | what is measured, and the environment of its processes |
//! | [`process`] | starts a worker and collects what it tells |
//! | [`worker`] | the worker: measures one library through its C ABI |
//! | [`costs`] | what a graph costs, beside the copy of its packets |
//! | [`goals`] | those costs, and what they may be |
//! | [`session`] | a stream, a kernel and graphs of it |
//! | [`named`] | the files of libraries that the user names |
//! | [`library`] | the functions of a `libamdhip64`, found by name |
//! | [`counters`] | the packets that the thunk counts |
//! | [`protocol`] | what a worker tells |
//! | [`results`] | medians, spreads and ratios of all that was told |
//! | [`table`], [`plot`] | text and SVG of them |

mod contestant;
mod costs;
mod counters;
mod goals;
mod library;
mod named;
mod plot;
mod process;
mod protocol;
mod results;
mod session;
mod table;
mod threads;
pub mod worker;

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use aqlipse_bench::{machine::Machine, shape::Shape};
use clap::Args;
use serde_json::{Map, Value, json};

use self::{
    contestant::{Below, Contestant, Environment},
    process::Work,
    protocol::{Case, Counters, MOST_NODES, Quantity},
    results::{Entry, Results},
    table::Table,
};
use super::Output;
use crate::installed;

/// How to compare.
#[derive(Args, Debug)]
pub struct Options {
    /// Measure, through the C ABI, all that graphs cost the host, beside what it may cost.
    #[arg(long, conflicts_with_all = ["full", "execute", "svg"])]
    goals: bool,
    /// Measure this library beside another `libamdhip64`: a file, its folder, or a name such as
    /// `libamdhip64.so.5`. May be given several times.
    #[arg(long, value_name = "LIBRARY")]
    against: Vec<PathBuf>,
    /// The folder of the thunk, which lets AMD's ROCr run on the emulated device [default: beside this
    /// command, and none on a machine with an AMD GPU].
    #[arg(long, value_name = "FOLDER", requires = "against")]
    thunk: Option<PathBuf>,
    /// Let all libraries run on the device that they find without a thunk.
    #[arg(long, requires = "against", conflicts_with = "thunk")]
    no_thunk: bool,
    /// Shapes of the graphs, as `straight,branches8`.
    #[arg(long, value_delimiter = ',', requires = "against")]
    shapes: Vec<Shape>,
    /// Nodes of the graphs, as `16,1024`.
    #[arg(long, value_delimiter = ',', requires = "against", value_parser = nodes)]
    sizes: Vec<usize>,
    /// Rounds; each measures every contestant once.
    #[arg(long, requires = "against", value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: Option<u16>,
    /// Draw the launch times of the graphs.
    #[arg(long, value_name = "FILE", requires = "against")]
    svg: Option<PathBuf>,
    /// Packets of kernels complete without executing, which leaves the runtimes' own time; this is the
    /// default where devices are emulated.
    #[arg(long, requires = "against")]
    null_kernels: bool,
    /// Kernels execute.
    #[arg(long, requires = "against", conflicts_with = "null_kernels")]
    execute: bool,
    /// All sizes, more rounds, more time for each: many minutes.
    #[arg(long, requires = "against", conflicts_with = "quick")]
    full: bool,
}

/// More would run out of labels.
const MOST_LIBRARIES: usize = 20;

const SHAPES: [Shape; 4] = [Shape::Straight, Shape::Branches(8), Shape::ForkJoin, Shape::Independent];

/// Sizes, rounds and time for a quantity unless the user says otherwise.
struct Extent {
    sizes: &'static [usize],
    rounds: u16,
    budget: Duration,
}

const QUICK: Extent = Extent { sizes: &[16, 128], rounds: 3, budget: Duration::from_millis(15) };
const USUAL: Extent = Extent { sizes: &[16, 128, 1024], rounds: 7, budget: Duration::from_millis(40) };
const FULL: Extent = Extent { sizes: &[16, 128, 1024, 8192], rounds: 11, budget: Duration::from_millis(100) };

fn nodes(text: &str) -> Result<usize, String> {
    let nodes = text.parse().ok().filter(|nodes| (1..=MOST_NODES).contains(nodes));
    nodes.ok_or_else(|| format!("a graph has 1 to {MOST_NODES} nodes"))
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Ours is not built.
    #[error("{} is not beside this command; build it with `cargo xtask dist`", installed::LIBRARY)]
    Library,
    /// There is no thunk where there should be one.
    #[error(
        "no {thunk} in {0}: AMD's ROCr needs it to run on the emulated device. `cargo xtask dist` builds it; \
         --thunk FOLDER \
         says where it is; --no-thunk runs the libraries on the device that they find",
        thunk = installed::THUNK
    )]
    Thunk(String),
    /// What the user calls a library is none.
    #[error("--against {}: {reason}", named.display())]
    NoLibrary { named: PathBuf, reason: &'static str },
    /// More libraries than labels.
    #[error("no more than {MOST_LIBRARIES} libraries")]
    Libraries,
    /// The filter leaves nothing.
    #[error("the filter leaves nothing to measure")]
    Filter,
    /// A file or a process.
    #[error("{0}: {1}")]
    File(String, io::Error),
    /// Goals that do not hold; everything has been printed.
    #[error("{0} goals are missed or were not measured")]
    Missed(usize),
    /// A library that the user has named has no times.
    #[error("nothing was measured of {0}")]
    Nothing(String),
}

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Plan {
    environment: Environment,
    cases: Vec<Case>,
    rounds: usize,
    budget: Duration,
    goals: bool,
}

impl Options {
    /// Whether there is anything to compare with.
    pub fn wanted(&self) -> bool {
        self.goals || !self.against.is_empty()
    }

    fn plan(&self, quick: bool, filter: &str) -> Result<Plan, Error> {
        let extent = if quick {
            QUICK
        } else if self.full {
            FULL
        } else {
            USUAL
        };
        let mut cases = if self.goals && self.shapes.is_empty() && self.sizes.is_empty() {
            goals::cases(quick)
        } else {
            let shapes = if self.shapes.is_empty() { &SHAPES[..] } else { &self.shapes };
            let sizes = if self.sizes.is_empty() { extent.sizes } else { &self.sizes };
            let graphs =
                shapes.iter().flat_map(|&shape| sizes.iter().map(move |&nodes| Case::Graph { shape, nodes }));
            [Case::Launches].into_iter().chain(graphs).collect()
        };
        cases.retain(|case| format!("{case}/").contains(filter));
        if cases.is_empty() {
            return Err(Error::Filter);
        }
        if self.against.len() > MOST_LIBRARIES {
            return Err(Error::Libraries);
        }
        Ok(Plan {
            goals: self.goals,
            environment: self.environment(installed::has_gpu())?,
            cases,
            // Goals are held against processes enough for both modes of what waits for a thread.
            rounds: usize::from(self.rounds.unwrap_or(if self.goals {
                extent.rounds.max(USUAL.rounds)
            } else {
                extent.rounds
            })),
            budget: extent.budget,
        })
    }

    /// What all workers have around them, on a machine that has an AMD GPU or not.
    fn environment(&self, has_gpu: bool) -> Result<Environment, Error> {
        let bare = self.no_thunk || (has_gpu && self.thunk.is_none());
        if self.against.is_empty() {
            return Ok(Environment { thunk: None, null_kernels: !self.execute });
        }
        if bare {
            // No GPU completes kernels without executing them.
            return Ok(Environment { thunk: None, null_kernels: self.null_kernels });
        }
        Ok(Environment { thunk: Some(self.thunk_folder()?), null_kernels: !self.execute })
    }

    fn thunk_folder(&self) -> Result<PathBuf, Error> {
        let Some(folder) = self.thunk.clone().or_else(installed::thunk_folder) else {
            return Err(Error::Thunk("the folder `thunk` beside this command".into()));
        };
        let there = fs::canonicalize(&folder).ok().filter(|folder| folder.join(installed::THUNK).exists());
        there.ok_or_else(|| Error::Thunk(folder.display().to_string()))
    }
}

/// Measures and prints.
///
/// # Errors
/// [`Error`]; with [`Error::Nothing`] and [`Error::Missed`] everything has been printed.
pub fn run(options: &Options, quick: bool, filter: &str, output: &Output) -> Result<(), Error> {
    let plan = options.plan(quick, filter)?;
    let ours = installed::library_folder().ok_or(Error::Library)?.join(installed::LIBRARY);
    let others = options.against.iter().map(|name| named::file(name)).collect::<Result<Vec<_>, _>>()?;
    let thunk = plan.environment.thunk.is_some();
    let places = match (thunk, plan.goals) {
        (true, _) => &[Below::Emulator, Below::Rocr][..],
        // Goals are set for it, whatever else there is.
        (false, true) => &[Below::Emulator],
        (false, false) => &[Below::Own],
    };
    let contestants = contestant::all(&ours, places, &others, thunk);
    let results = measure(&plan, contestants)?;
    let machine = Machine::here();
    let goals = goals::Table { plan: &plan, results: &results, machine: &machine };
    if plan.goals && !output.only_json() {
        print!("{goals}");
    } else if !output.only_json() {
        print!("{}", Table { plan: &plan, results: &results, machine: &machine });
    }
    let write = |file: &Path, text: &str| {
        fs::write(file, text).map_err(|error| Error::File(file.display().to_string(), error))
    };
    if let Some(file) = &options.svg {
        let kernels = if plan.environment.null_kernels {
            "kernels complete without executing"
        } else {
            "kernels execute"
        };
        let title = format!("time of graph launches; {kernels}; {}", machine.processor);
        match plot::svg(&results, &plan.cases, &title) {
            Some(plot) => write(file, &plot)?,
            None => eprintln!("aqlipse: no times of graphs to draw in {}", file.display()),
        }
    }
    let report = || json(&plan, &results, &machine);
    output.json(report).map_err(|(file, error)| Error::File(file.display().to_string(), error))?;
    // Ours on ROCr is an addition: without it there is still a comparison.
    let needed = results
        .entries
        .iter()
        .filter(|Entry { contestant, .. }| !contestant.ours || contestant.below != Below::Rocr);
    let missing =
        needed.map(|entry| &entry.contestant).find(|contestant| !results.measured(contestant.label));
    if let Some(contestant) = missing {
        return Err(Error::Nothing(contestant.name.clone()));
    }
    match goals.missed() {
        missed if plan.goals && missed > 0 => Err(Error::Missed(missed)),
        _ => Ok(()),
    }
}

/// Verifies every contestant once with kernels that execute, then measures them in turns.
fn measure(plan: &Plan, contestants: Vec<Contestant>) -> Result<Results, Error> {
    let mut results = Results::new(contestants, plan.environment.null_kernels);
    let work = |results: &mut Results, index: usize, round: Option<usize>| {
        let contestant = results.entries[index].contestant.clone();
        let executing = Environment { null_kernels: false, ..plan.environment.clone() };
        let environment = if round.is_some() { &plan.environment } else { &executing };
        let work = match round {
            None => Work::Verify,
            Some(_) if plan.goals => Work::Goals,
            Some(_) => Work::Measure,
        };
        // What is only compiled needs no proof that it runs.
        let launched = |case: &&Case| round.is_some() || case.is_launched();
        let whole = |case: &&Case| !results.entries[index].broken.contains(case);
        let mut cases: Vec<Case> = plan.cases.iter().filter(launched).filter(whole).copied().collect();
        let doing =
            round.map_or("verifies".into(), |round| format!("round {} of {}:", round + 1, plan.rounds));
        eprintln!("{doing} {}", contestant.name);
        while !cases.is_empty() && !results.entries[index].out {
            let told = process::run(&contestant, environment, &cases, plan.budget, work);
            let told = told.map_err(|error| Error::File(worker::COMMAND.into(), error))?;
            let Some(broken) = results.add(index, round, told) else { break };
            // What comes behind the case in which a library crashed is measured in another process.
            cases = cases.into_iter().skip_while(|&case| case != broken).skip(1).collect();
        }
        Ok(())
    };
    let count = results.entries.len();
    for index in 0..count {
        work(&mut results, index, None)?;
    }
    for round in 0..plan.rounds {
        for index in order(count, round) {
            if !results.entries[index].out {
                work(&mut results, index, Some(round))?;
            }
        }
    }
    Ok(results)
}

/// The order of a round: the first contestant moves on by one from round to round, and every other pass is backwards,
/// so that none always follows the same.
fn order(count: usize, round: usize) -> Vec<usize> {
    let forwards = (0..count).map(|at| (at + round) % count);
    if (round / count.max(1)).is_multiple_of(2) { forwards.collect() } else { forwards.rev().collect() }
}

fn json(plan: &Plan, results: &Results, machine: &Machine) -> Value {
    let rows: Vec<_> = plan
        .cases
        .iter()
        .flat_map(|&case| {
            results.entries.iter().filter_map(move |entry| row(results, entry.contestant.label, case))
        })
        .collect();
    let mut environment = Map::new();
    environment.insert(Environment::NO_SPIN.0.into(), Environment::NO_SPIN.1.into());
    json!({
        "processor": machine.processor,
        "cores": machine.cores,
        "rounds": plan.rounds,
        "launches_of_a_batch": worker::BATCH,
        "null_kernels": plan.environment.null_kernels,
        "thunk": plan.environment.thunk,
        "environment": environment,
        "contestants": results.entries,
        "rows": rows,
        "samples": results.samples,
    })
}

/// What came of one case of one contestant; nothing if it has no times.
fn row(results: &Results, label: char, case: Case) -> Option<Value> {
    let ours = results.entries.iter().filter(|entry| entry.contestant.ours);
    let ours: Vec<_> = ours.map(|entry| entry.contestant.label).collect();
    let mut times = Map::new();
    for quantity in Quantity::ALL {
        let Some(spread) = results.spread(label, case, quantity) else { continue };
        let ratio =
            |&base: &char| Some((base.to_string(), json!(results.ratio(label, base, case, quantity)?)));
        let over: Map<_, _> = ours.iter().filter_map(ratio).collect();
        times.insert(quantity.key().into(), json!({ "ns": spread, "over": over }));
    }
    let packets = results.packets(label, case);
    let packets = packets.map(|counts| {
        let named = Counters::NAMES.iter().zip(counts).map(|(name, count)| ((*name).into(), json!(count)));
        named.collect::<Map<_, _>>()
    });
    (!times.is_empty())
        .then(|| json!({ "case": case, "contestant": label, "times": times, "counters_per_wait": packets }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_begins_rotates_and_nobody_always_follows_the_same() {
        let rounds: Vec<_> = (0..6).map(|round| order(3, round)).collect();
        let expected = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 2, 1], [1, 0, 2]];
        assert_eq!(rounds, expected);
        assert_eq!(order(1, 5), [0]);
    }

    #[test]
    fn a_row_has_times_ratios_to_ours_and_packets_by_name() {
        let results = results::tests::fixed();
        let case = Case::Graph { shape: Shape::Straight, nodes: 16 };
        let row = row(&results, 'C', case).expect("there are times");
        assert_eq!(row["case"], "straight/16");
        assert_eq!(row["times"]["call"]["ns"], json!({ "median": 42e3, "low": 40e3, "high": 44e3 }));
        assert_eq!(row["times"]["call"]["over"], json!({ "A": 42.0 / 11.0 }));
        assert_eq!(row["counters_per_wait"]["barrier_and"], json!(1.5));
        assert!(super::row(&results, 'B', case).is_none());
    }

    #[test]
    fn a_gpu_is_measured_where_there_is_one_unless_a_thunk_is_named() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            selection: crate::bench::Selection,
        }
        let environment = |words: &str, has_gpu| {
            let line = <Line as clap::Parser>::parse_from(["bench"].into_iter().chain(words.split(' ')));
            let environment = line.selection.against.environment(has_gpu);
            environment.map(|environment| (environment.thunk.is_some(), environment.null_kernels))
        };
        for gpu in [false, true] {
            assert_eq!(environment("--goals", gpu).unwrap(), (false, true), "in process");
            assert_eq!(environment("--against a.so --no-thunk", gpu).unwrap(), (false, false));
            assert_eq!(environment("--against a.so --no-thunk --null-kernels", gpu).unwrap(), (false, true));
            let named = environment("--against a.so --thunk /nowhere", gpu);
            assert!(matches!(named, Err(Error::Thunk(_))), "{named:?}");
        }
        assert_eq!(environment("--against a.so", true).unwrap(), (false, false));
        // Whether there is a thunk beside a test depends on what is built.
        let emulated = environment("--against a.so", false);
        assert!(matches!(emulated, Ok((true, true)) | Err(Error::Thunk(_))), "{emulated:?}");
    }

    #[test]
    fn a_graph_has_at_least_one_node() {
        assert_eq!(nodes("1024"), Ok(1024));
        assert!(nodes("0").is_err() && nodes("-1").is_err() && nodes("100001").is_err());
    }
}
