//! The launch table: what graphs cost the host through the C ABI, beside what they may cost.

use std::fmt;

use aqlipse_bench::{machine::Machine, shape::Shape};

use super::{
    Plan,
    contestant::Below,
    protocol::{Case, Quantity},
    results::Results,
    threads::THREADS,
};
use crate::bench::number;

/// What a quantity may be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    /// So many nanoseconds, or bytes.
    Of(f64),
    /// So many times another quantity of the same graph in the same run: a copy of its packets. Their means are compared.
    Times(f64, Quantity),
    /// So many times what it is of a graph of one node in the same run.
    OneNodes(f64),
}

/// A row of the table.
struct Goal {
    title: &'static str,
    case: Case,
    quantity: Quantity,
    limit: Limit,
}

/// Goals for graphs of so many kernels.
const fn goal(title: &'static str, shape: Shape, nodes: usize, quantity: Quantity, limit: Limit) -> Goal {
    Goal { title, case: Case::Graph { shape, nodes }, quantity, limit }
}

/// A copy of the packets, and half as much again.
const COPY: Limit = Limit::Times(1.5, Quantity::Floor);

/// The copy until the device is done with it, twice: where other programs want the cores, either may find the other thread
/// asleep, or on its own core.
const COPY_COMPLETE: Limit = Limit::Times(2.0, Quantity::FloorComplete);

/// The copy of packets that wakes the device, likewise.
const COPY_AFTER_IDLE: Limit = Limit::Times(1.5, Quantity::FloorAfterIdle);

const GOALS: &[Goal] = &[
    goal("launch call", Shape::Straight, 1, Quantity::Call, Limit::Of(300.0)),
    goal("launch call", Shape::Straight, 1024, Quantity::Call, COPY),
    goal("launch call", Shape::Straight, 8192, Quantity::Call, COPY),
    goal("launch call", Shape::ForkJoin, 145, Quantity::Call, COPY),
    goal("launch call", Shape::Independent, 1024, Quantity::Call, COPY),
    goal("launch call", Shape::Full(2), 8192, Quantity::Call, COPY),
    goal("launch call", Shape::Full(4), 8192, Quantity::Call, COPY),
    goal("launch after 10 ms", Shape::Straight, 1, Quantity::CallAfterIdle, COPY_AFTER_IDLE),
    // Signals come from a pool meanwhile, which the launch before cannot give back yet.
    goal("back-to-back launch", Shape::Straight, 1, Quantity::CallInBatch, Limit::Of(900.0)),
    goal("back-to-back launch", Shape::Straight, 1024, Quantity::CallInBatch, COPY),
    goal("call to completion", Shape::Straight, 1, Quantity::Complete, COPY_COMPLETE),
    goal("call to completion", Shape::Straight, 128, Quantity::Complete, COPY_COMPLETE),
    goal("call to completion", Shape::Straight, 1024, Quantity::Complete, COPY_COMPLETE),
    goal("resident launch call", Shape::Straight, 8192, Quantity::ResidentCall, Limit::OneNodes(1.5)),
    goal("instantiate, a node", Shape::Straight, 1024, Quantity::InstantiateNode, Limit::Of(250.0)),
    goal("instantiate, a node", Shape::Straight, 100_000, Quantity::InstantiateNode, Limit::Of(250.0)),
    goal("update all, a node", Shape::Straight, 1024, Quantity::UpdateNode, Limit::Of(20.0)),
    goal("set one node", Shape::Straight, 1024, Quantity::SetNode, Limit::Of(60.0)),
    // Arguments go to new places, of which each is taken from the pool, and what the launch uses is kept behind it: 260 and
    // 690 ns were measured on busy cores. CUDA's single update of an idle graph takes 270 to 560 ns.
    goal("update in flight", Shape::Straight, 1024, Quantity::UpdateInFlight, Limit::Of(400.0)),
    goal("set in flight", Shape::Straight, 1024, Quantity::SetInFlight, Limit::Of(1_000.0)),
    goal("build, a node", Shape::Straight, 1024, Quantity::BuildNode, Limit::Of(100.0)),
    // 10,000 executables in 256 MiB.
    goal("executable, bytes", Shape::Straight, 32, Quantity::ExecBytes, Limit::Of(26_843.0)),
    goal("and its graph, gone", Shape::Straight, 32, Quantity::OwnExecBytes, Limit::Of(26_843.0)),
    // 256 bytes, and the cache line that the kernel's arguments have.
    goal("executable, a node", Shape::Straight, 1024, Quantity::ExecNodeBytes, Limit::Of(320.0)),
];

/// What part of the floor's gain by more threads launches must have.
const SCALING: f64 = 0.75;

/// Sizes of graphs as GraphBench has them.
const SIZES: [usize; 14] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
/// Shapes of graphs as GraphBench has them, then others.
const SHAPES: [Shape; 8] = [
    Shape::Straight,
    Shape::Paths(2),
    Shape::Paths(4),
    Shape::Full(2),
    Shape::Full(4),
    Shape::ForkJoin,
    Shape::Branches(8),
    Shape::Independent,
];

/// What is measured: what there are goals for, and unless it is to be `quick` all shapes and sizes.
pub fn cases(quick: bool) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let all = SHAPES.iter().flat_map(|&shape| SIZES.map(|nodes| Case::Graph { shape, nodes }));
    for case in GOALS.iter().map(|goal| goal.case).chain(all.filter(|_| !quick)) {
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    cases
}

/// The 10th percentile, the median and the 90th percentile; and the mean of the samples from the 10th to the 90th.
///
/// What waits for another thread has two modes, as that thread is asleep or not: its median jumps from one to the other
/// when their shares change a little, and its mean does not.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Percentiles([f64; 3], f64);

impl Percentiles {
    fn of(mut samples: Vec<f64>) -> Option<Self> {
        samples.sort_unstable_by(f64::total_cmp);
        let last = samples.len().checked_sub(1)?;
        let at = |tenth| last * tenth / 10;
        let middle = &samples[at(1)..=at(9)];
        let mean = middle.iter().sum::<f64>() / middle.len() as f64;
        Some(Self([1, 5, 9].map(|tenth| samples[at(tenth)]), mean))
    }

    fn mean(self) -> f64 {
        self.1
    }

    fn median(self) -> f64 {
        self.0[1]
    }

    /// What a call takes that nothing disturbs.
    fn low(self) -> f64 {
        self.0[0]
    }

    /// `median [10th-90th]`
    fn text(self) -> String {
        let [low, median, high] = self.0.map(number);
        format!("{median} [{low}-{high}]")
    }
}

fn said(holds: bool) -> &'static str {
    if holds { "holds" } else { "MISSED" }
}

/// The whole table.
pub struct Table<'a> {
    /// What was to be measured.
    pub plan: &'a Plan,
    /// What came of it.
    pub results: &'a Results,
    /// The machine.
    pub machine: &'a Machine,
}

impl Table<'_> {
    fn percentiles(&self, label: char, case: Case, quantity: Quantity) -> Option<Percentiles> {
        let of_this = self.results.samples.iter();
        let of_this = of_this.filter(|s| s.contestant == label && s.case == case && s.quantity == quantity);
        Percentiles::of(of_this.flat_map(|samples| samples.nanoseconds.iter().copied()).collect())
    }

    fn labels(&self) -> Vec<char> {
        let labels = self.results.entries.iter().map(|entry| entry.contestant.label);
        labels.filter(|&label| self.results.measured(label)).collect()
    }

    /// One of a contestant's quantities beside what it may be, and whether it is.
    fn goal(&self, goal: &Goal, label: char) -> (String, bool) {
        let (title, case) = (goal.title, goal.case.to_string());
        let missing = || {
            let row = format!("{title:<20} {case:<16} {label} |{:>26} |{:>26} |{:>30} |", "-", "", "");
            (format!("{row} not measured"), false)
        };
        let Some(measured) = self.percentiles(label, goal.case, goal.quantity) else { return missing() };
        let (floor, share, of) = match goal.limit {
            Limit::Of(limit) => (None, measured.median() / limit, number(limit)),
            Limit::Times(times, quantity) => {
                let Some(floor) = self.percentiles(label, goal.case, quantity) else { return missing() };
                let ratio = measured.mean() / floor.mean();
                let of = format!("{} of the floor, {} are", number(times), number(ratio));
                (Some(floor), ratio / times, of)
            }
            Limit::OneNodes(times) => {
                let one = self.percentiles(label, goal.case.of_one_node(), goal.quantity);
                let Some(one) = one else { return missing() };
                let ratio = measured.median() / one.median();
                let of = format!("{} of one node's, {} are", number(times), number(ratio));
                (Some(one), ratio / times, of)
            }
        };
        let holds = share <= 1.0;
        let floor = floor.map_or(String::new(), Percentiles::text);
        let row = format!("{title:<20} {case:<16} {label} |{:>26} |{floor:>26} |{of:>30} |", measured.text());
        (format!("{row} {}", said(holds)), holds)
    }

    /// How many times as many launches as one thread several make at once, beside as many threads that copy. By the 10th
    /// percentile: a line or a lock that threads share disturbs every call, a packet processor that sleeps or another
    /// program on the core some of them, and with fewer threads more.
    fn threads(&self, case: Case, label: char) -> Vec<(String, bool)> {
        let [(_, call, floor), more @ ..] = THREADS;
        let low = |quantity| Some(self.percentiles(label, case, quantity)?.low());
        let (Some(call), Some(floor)) = (low(call), low(floor)) else { return Vec::new() };
        let row = |(threads, calls, floors)| {
            let (calls, floors) = (low(calls)?, low(floors)?);
            let gain = |one: f64, each: f64| threads as f64 * one / each;
            let (ours, least) = (gain(call, calls), SCALING * gain(floor, floors));
            let title = format!("{threads} threads, times 1");
            let (case, of) = (case.to_string(), format!("at least {}", number(least)));
            let (gained, floor) = (number(ours), number(gain(floor, floors)));
            let row = format!("{title:<20} {case:<16} {label} |{gained:>26} |{floor:>26} |{of:>30} |");
            Some((format!("{row} {}", said(ours >= least)), ours >= least))
        };
        more.into_iter().filter_map(row).collect()
    }

    /// The rows of goals, and whether each holds; of one contestant, or of all.
    fn goals(&self, only: Option<char>) -> Vec<(String, bool)> {
        let labels: Vec<char> = match only {
            Some(label) => vec![label],
            None => self.labels(),
        };
        let goals = GOALS.iter().filter(|goal| self.plan.cases.contains(&goal.case));
        let goals = goals.flat_map(|goal| labels.iter().map(|&label| self.goal(goal, label)));
        let threads = self.plan.cases.iter();
        let threads =
            threads.flat_map(|&case| labels.iter().flat_map(move |&label| self.threads(case, label)));
        goals.chain(threads).collect()
    }

    /// How many goals this library misses on the emulated device of its own process: what they were set for.
    pub fn missed(&self) -> usize {
        let ours = self.results.entries.iter().map(|entry| &entry.contestant);
        let ours = ours.filter(|contestant| contestant.ours && contestant.below == Below::Emulator);
        ours.flat_map(|ours| self.goals(Some(ours.label))).filter(|(_, holds)| !holds).count()
    }

    /// Everything about a shape.
    fn shape(&self, f: &mut fmt::Formatter<'_>, shape: Shape) -> fmt::Result {
        const COLUMNS: [(Quantity, &str); 8] = [
            (Quantity::Call, "call"),
            (Quantity::Floor, "floor"),
            (Quantity::WarmFloor, "warm floor"),
            (Quantity::CallInBatch, "call, no sync"),
            (Quantity::Complete, "call and sync"),
            (Quantity::BuildNode, "build a node"),
            (Quantity::InstantiateNode, "compile a node"),
            (Quantity::UpdateNode, "update a node"),
        ];
        writeln!(f, "\n{}: {}", shape.name(), shape.title())?;
        write!(f, "{:>6}  ", "nodes")?;
        COLUMNS.iter().try_for_each(|(_, title)| write!(f, " |{title:>22}"))?;
        writeln!(f)?;
        for &case in &self.plan.cases {
            let Case::Graph { nodes, .. } = case else { continue };
            if case != (Case::Graph { shape, nodes }) {
                continue;
            }
            for label in self.labels() {
                write!(f, "{nodes:>6} {label}")?;
                for (quantity, _) in COLUMNS {
                    let text = self.percentiles(label, case, quantity).map_or("-".into(), Percentiles::text);
                    write!(f, " |{text:>22}")?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plan, machine) = (self.plan, self.machine);
        writeln!(f, "machine   {}, {} cores", machine.processor, machine.cores)?;
        writeln!(f, "rounds    {}: each measures every contestant in a process of its own", plan.rounds)?;
        writeln!(f, "graphs    of kernels of three arguments, which the device completes without executing")?;
        writeln!(
            f,
            "floor     this library's packets for the graph, copied into queues of the same emulated device, which"
        )?;
        writeln!(
            f,
            "          takes them out again: with signals, headers last, as many doorbells; in turns"
        )?;
        writeln!(f, "          with the launches")?;
        writeln!(f, "warm      the same into memory that nobody else looks at")?;
        writeln!(
            f,
            "numbers   nanoseconds: median [10th-90th percentile] of all rounds; of the floor: by the means of what"
        )?;
        writeln!(f, "          lies between the percentiles\n")?;
        for entry in &self.results.entries {
            writeln!(f, "{}  {}", entry.contestant.label, entry.contestant.name)?;
            entry.problems.iter().try_for_each(|problem| writeln!(f, "   ! {problem}"))?;
        }
        writeln!(f, "\n{:<20} {:<18} |{:>26} |{:>26} |{:>30} |", "", "", "measured", "floor", "at most")?;
        self.goals(None).into_iter().try_for_each(|(row, _)| writeln!(f, "{row}"))?;
        let mut shapes: Vec<Shape> = Vec::new();
        for case in &plan.cases {
            if let Case::Graph { shape, .. } = case
                && !shapes.contains(shape)
            {
                shapes.push(*shape);
            }
        }
        shapes.into_iter().try_for_each(|shape| self.shape(f, shape))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::against::{
        contestant::{self, Environment},
        process::Told,
        protocol::Record,
    };

    #[test]
    fn percentiles_are_those_of_all_samples() {
        let ascending = Percentiles::of((0..=100).map(f64::from).collect());
        assert_eq!(ascending, Some(Percentiles([10.0, 50.0, 90.0], 50.0)));
        assert_eq!(Percentiles::of(vec![]), None);
        assert_eq!(Percentiles::of(vec![3.0]), Some(Percentiles([3.0; 3], 3.0)));
    }

    #[test]
    fn every_size_of_every_shape_is_measured_once() {
        let all = cases(false);
        assert!(GOALS.iter().all(|goal| cases(true).contains(&goal.case)));
        assert_eq!(all.iter().filter(|case| case.to_string().starts_with("full4/")).count(), SIZES.len());
        let mut names: Vec<_> = all.iter().map(Case::to_string).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn a_goal_holds_or_is_missed_by_the_median_or_beside_a_copy_by_the_mean() {
        let entries = contestant::all("ours.so".as_ref(), &[Below::Emulator], &[], false);
        let mut results = Results::new(entries, true);
        let case = |shape, nodes| Case::Graph { shape, nodes };
        let times =
            |case, quantity, samples: &[f64]| Record::Times { case, quantity, samples: samples.into() };
        let records = vec![
            times(case(Shape::Straight, 1), Quantity::Call, &[200.0, 290.0, 900.0]),
            times(case(Shape::Straight, 1024), Quantity::Call, &[3000.0]),
            times(case(Shape::Straight, 1024), Quantity::Floor, &[1000.0]),
            times(case(Shape::Straight, 1024), Quantity::SetNode, &[61.0]),
            times(case(Shape::Straight, 128), Quantity::Complete, &[900.0]),
            times(case(Shape::Straight, 128), Quantity::FloorComplete, &[800.0]),
            times(case(Shape::ForkJoin, 145), Quantity::Call, &[300.0]),
            times(case(Shape::Straight, 1), Quantity::ResidentCall, &[300.0]),
            times(case(Shape::Straight, 8192), Quantity::ResidentCall, &[400.0]),
            times(case(Shape::Straight, 32), Quantity::CallBy1, &[100.0]),
            times(case(Shape::Straight, 32), Quantity::CallBy2, &[100.0]),
            times(case(Shape::Straight, 32), Quantity::CallBy4, &[400.0]),
            times(case(Shape::Straight, 32), Quantity::FloorBy1, &[50.0]),
            times(case(Shape::Straight, 32), Quantity::FloorBy2, &[50.0]),
            times(case(Shape::Straight, 32), Quantity::FloorBy4, &[100.0]),
        ];
        results.add(0, Some(0), Told { records, broken: None });
        let plan = Plan {
            environment: Environment { thunk: None, null_kernels: true },
            cases: cases(true),
            rounds: 1,
            budget: Duration::ZERO,
            goals: true,
        };
        let machine = Machine { processor: "a processor".into(), cores: 2 };
        let table = Table { plan: &plan, results: &results, machine: &machine };
        let text = table.to_string();
        let rows = |how: &str| text.lines().filter(|line| line.ends_with(how)).count();
        assert_eq!(table.missed(), rows("MISSED") + rows("not measured"));
        assert_eq!(rows("MISSED"), 3, "{text}");
        let line = |start: &str| {
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            text.lines().map(words).find(|line| line.starts_with(start)).unwrap_or_default()
        };
        assert_eq!(
            line("launch call straight/1 A"),
            "launch call straight/1 A | 290 [200-290] | | 300 | holds"
        );
        let over = "launch call straight/1024 A | 3000 [3000-3000] | 1000 [1000-1000] | 1.50 of the floor, 3.00 are | MISSED";
        assert_eq!(line("launch call straight/1024"), over);
        assert!(line("set one node").ends_with("| 60.0 | MISSED"), "{text}");
        assert!(line("launch call forkjoin8").ends_with("not measured"), "there is no floor to compare with");
        let completed = "call to completion straight/128 A | 900 [900-900] | 800 [800-800] | 2.00 of the floor, 1.12 are | holds";
        assert_eq!(line("call to completion straight/128"), completed);
        let ones = "resident launch call straight/8192 A | 400 [400-400] | 300 [300-300] | 1.50 of one node's, 1.33 are | holds";
        assert_eq!(line("resident launch call"), ones);
        let both = "2 threads, times 1 straight/32 A | 2.00 | 2.00 | at least 1.50 | holds";
        assert_eq!(line("2 threads"), both);
        assert!(line("4 threads").ends_with("| 1.00 | 2.00 | at least 1.50 | MISSED"), "{text}");
        assert!(line("1024 A").starts_with("1024 A | 3000 [3000-3000] | 1000"), "{text}");
    }
}
