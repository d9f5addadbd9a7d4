//! The process that measures one library: it loads it, says what it finds, and ends.

use std::{
    io::{self, Write},
    path::PathBuf,
    time::{Duration, Instant},
};

use aqlipse_bench::sampling::{Effort, nanoseconds, samples};
use clap::Args;

use super::{
    costs,
    counters::Source,
    library::{Failed, Library},
    protocol::{Case, Quantity, Record, Times},
    session::{Exec, Graph, Session},
    threads,
};

/// Name of the subcommand.
pub const COMMAND: &str = "bench-worker";

/// Launches of a batch: fewer than a queue usually has slots, so that no launch waits for the device.
pub const BATCH: usize = 1000;

/// Samples of a quantity in one process.
const SAMPLES: Effort =
    Effort { budget: Duration::ZERO, least: 5, most: 100, longest: Duration::from_secs(2) };

/// Launches of a graph, or batches of launches, whose packets are counted.
const COUNTED: u64 = 10;

/// What to measure.
#[derive(Args, Debug)]
pub struct Task {
    /// The library.
    #[arg(long)]
    library: PathBuf,
    /// `launches`, or the shape of a graph and its nodes.
    #[arg(long)]
    case: Vec<Case>,
    /// Time for each quantity in milliseconds.
    #[arg(long, default_value_t = 50)]
    budget: u64,
    /// Check that the graphs run as they should instead of measuring.
    #[arg(long)]
    verify: bool,
    /// Measure what else graphs cost, and what a copy of their packets does.
    #[arg(long)]
    goals: bool,
    /// Launch the graphs so often, each launch behind the one before, and nothing else: for tools that count.
    #[arg(long)]
    launches: Option<usize>,
}

/// Does the task, prints records, and ends the process.
pub fn run(task: &Task) -> ! {
    let done = work(task).and_then(|()| io::stdout().flush());
    if let Err(error) = &done {
        eprintln!("standard output: {error}");
    }
    // SAFETY: nothing of this process is needed any more. What the library would do at its exit is not
    // measured, and a crash there is no matter of this benchmark.
    unsafe { libc::_exit(i32::from(done.is_err())) }
}

fn work(task: &Task) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut tell = |record: Record| writeln!(out, "{}", record.line());
    let nodes = task.case.iter().map(|case| match case {
        Case::Launches => 1,
        Case::Graph { nodes, .. } => *nodes,
    });
    let session =
        Library::open(&task.library).and_then(|library| Session::new(library, nodes.max().unwrap_or(1)));
    let up = session.and_then(|session| Ok((session.loaded()?, session)));
    let (loaded, session) = match up {
        Ok(up) => up,
        Err(error) => {
            tell(Record::Problem { case: None, what: error.to_string() })?;
            return tell(Record::End);
        }
    };
    let executes = loaded.executes;
    tell(Record::Loaded(loaded))?;
    if task.verify && !executes {
        tell(Record::Problem { case: None, what: "the device executes no kernels".into() })?;
        return tell(Record::End);
    }
    let measured = Measured { session: &session, counters: Source::find(), effort: effort(task.budget) };
    for &case in &task.case {
        tell(Record::Begins { case })?;
        let records = match (task.launches, task.verify, task.goals) {
            (Some(launches), ..) => count(&session, case, launches),
            (None, true, _) => verify(&session, case),
            (None, false, false) => measured.case(case),
            (None, false, true) => measured.goals(case),
        };
        match records {
            Ok(records) => records.into_iter().try_for_each(&mut tell)?,
            Err(error) => tell(Record::Problem { case: Some(case), what: error.to_string() })?,
        }
    }
    tell(Record::End)
}

fn effort(milliseconds: u64) -> Effort {
    Effort { budget: Duration::from_millis(milliseconds), ..SAMPLES }
}

/// Launches a graph. What is done once comes before, by another entry, so that a tool can leave it out by name.
fn count(session: &Session, case: Case, launches: usize) -> Result<Vec<Record>, Failed> {
    let Case::Graph { shape, nodes } = case else { return Ok(vec![]) };
    let graph = session.graph(shape, nodes)?;
    let exec = graph.instantiate()?;
    for _ in 0..4 {
        exec.launch_aside()?;
        session.synchronize()?;
    }
    for _ in 0..launches {
        exec.launch()?;
        session.synchronize()?;
    }
    Ok(vec![])
}

fn verify(session: &Session, case: Case) -> Result<Vec<Record>, Failed> {
    match case {
        Case::Launches => Ok(vec![]),
        Case::Graph { shape, nodes } => {
            session.verify(shape, nodes)?;
            Ok(vec![Record::Verified { case }])
        }
    }
}

/// Records of the times of a case.
fn told(case: Case, times: Times) -> impl Iterator<Item = Record> {
    times.into_iter().map(move |(quantity, samples)| {
        // Tenths of a nanosecond: more than the clock can tell.
        let samples = samples.into_iter().map(|time| (time * 10.0).round() / 10.0).collect();
        Record::Times { case, quantity, samples }
    })
}

/// Measurements of a library.
struct Measured<'a> {
    session: &'a Session,
    counters: Option<Source>,
    effort: Effort,
}

impl Measured<'_> {
    fn case(&self, case: Case) -> Result<Vec<Record>, Failed> {
        let (times, packets) = match case {
            Case::Launches => (self.launches()?, self.packets(case, || self.session.launch(BATCH))?),
            Case::Graph { shape, nodes } => {
                let graph = self.session.graph(shape, nodes)?;
                let exec = graph.instantiate()?;
                (self.graph(&graph, &exec, nodes)?, self.packets(case, || exec.launch())?)
            }
        };
        Ok(told(case, times).chain(packets).collect())
    }

    /// All that graphs cost the host.
    fn goals(&self, case: Case) -> Result<Vec<Record>, Failed> {
        let Case::Graph { shape, nodes } = case else { return Ok(Vec::new()) };
        let mut times = costs::of_graph(self.session, shape, nodes, self.effort)?;
        if nodes == threads::NODES {
            times.extend(threads::of_threads(self.session, shape)?);
        }
        Ok(told(case, times).collect())
    }

    fn launches(&self) -> Result<Times, Failed> {
        let session = self.session;
        let [batch] = samples(self.effort, || {
            let start = Instant::now();
            session.launch(BATCH)?;
            let time = nanoseconds(start);
            session.synchronize()?;
            Ok([time / BATCH as f64])
        })?;
        let [one] = samples(self.effort, || {
            let start = Instant::now();
            session.launch(1)?;
            session.synchronize()?;
            Ok([nanoseconds(start)])
        })?;
        Ok(vec![(Quantity::LaunchInBatch, batch), (Quantity::LaunchAndWait, one)])
    }

    fn graph(&self, graph: &Graph<'_>, exec: &Exec<'_>, nodes: usize) -> Result<Times, Failed> {
        let session = self.session;
        let [instantiate, first, destroy] = samples(self.effort, || {
            let start = Instant::now();
            let exec = graph.instantiate()?;
            let instantiate = nanoseconds(start) / nodes as f64;
            let start = Instant::now();
            exec.launch()?;
            let first = nanoseconds(start);
            session.synchronize()?;
            let start = Instant::now();
            exec.destroy()?;
            Ok([instantiate, first, nanoseconds(start) / nodes as f64])
        })?;
        let [call, complete] = samples(self.effort, || {
            let start = Instant::now();
            exec.launch()?;
            let call = nanoseconds(start);
            session.synchronize()?;
            Ok([call, nanoseconds(start)])
        })?;
        Ok(vec![
            (Quantity::InstantiateNode, instantiate),
            (Quantity::DestroyNode, destroy),
            (Quantity::FirstCall, first),
            (Quantity::Call, call),
            (Quantity::Complete, complete),
        ])
    }

    /// Counts what `launch` and a wait behind it make the device process.
    fn packets(&self, case: Case, launch: impl Fn() -> Result<(), Failed>) -> Result<Option<Record>, Failed> {
        let read = || self.counters.as_ref().and_then(Source::read);
        let Some(before) = read() else { return Ok(None) };
        for _ in 0..COUNTED {
            launch()?;
            self.session.synchronize()?;
        }
        let counted = read().map(|now| now.since(before));
        Ok(counted.map(|counters| Record::Packets { case, waits: COUNTED, counters }))
    }
}
