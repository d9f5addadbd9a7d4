//! The launch table: what graphs cost the host through the C ABI, beside what they may cost.

use std::fmt;

use super::{
    Plan,
    protocol::{Case, Quantity},
    results::Results,
    threads::THREADS,
};
use crate::command::{
    bench::{number, shape::Shape},
    machine::Machine,
};

/// What a quantity may be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    /// So many nanoseconds, or bytes.
    Of(f64),
    /// So many times the copy of the same packets in the same run.
    Floors(f64),
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
const COPY: Limit = Limit::Floors(1.5);

const GOALS: &[Goal] = &[
    goal("launch call", Shape::Straight, 1, Quantity::Call, Limit::Of(300.0)),
    goal("launch call", Shape::Straight, 1024, Quantity::Call, COPY),
    goal("launch call", Shape::Straight, 8192, Quantity::Call, COPY),
    goal("launch call", Shape::ForkJoin, 145, Quantity::Call, COPY),
    goal("launch call", Shape::Independent, 1024, Quantity::Call, COPY),
    goal("launch call", Shape::Full(2), 8192, Quantity::Call, COPY),
    goal("launch call", Shape::Full(4), 8192, Quantity::Call, COPY),
    goal("resident launch call", Shape::Straight, 8192, Quantity::ResidentCall, Limit::OneNodes(1.5)),
    goal("instantiate, a node", Shape::Straight, 1024, Quantity::InstantiateNode, Limit::Of(250.0)),
    goal("instantiate, a node", Shape::Straight, 100_000, Quantity::InstantiateNode, Limit::Of(250.0)),
    goal("update all, a node", Shape::Straight, 1024, Quantity::UpdateNode, Limit::Of(20.0)),
    goal("set one node", Shape::Straight, 1024, Quantity::SetNode, Limit::Of(60.0)),
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

/// The 10th percentile, the median and the 90th percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Percentiles([f64; 3]);

impl Percentiles {
    fn of(mut samples: Vec<f64>) -> Option<Self> {
        samples.sort_unstable_by(f64::total_cmp);
        let last = samples.len().checked_sub(1)?;
        Some(Self([1, 5, 9].map(|tenth| samples[last * tenth / 10])))
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

    /// One of a contestant's quantities beside what it may be.
    fn goal(&self, f: &mut fmt::Formatter<'_>, goal: &Goal, label: char) -> fmt::Result {
        let Some(measured) = self.percentiles(label, goal.case, goal.quantity) else {
            let (title, case) = (goal.title, goal.case.to_string());
            return writeln!(
                f,
                "{title:<20} {case:<16} {label} |{:>26} |{:>26} |{:>30} | not measured",
                "-", "", ""
            );
        };
        let (floor, times, what) = match goal.limit {
            Limit::Of(_) => (None, 0.0, ""),
            Limit::Floors(times) => (self.percentiles(label, goal.case, Quantity::Floor), times, "the floor"),
            Limit::OneNodes(times) => {
                (self.percentiles(label, goal.case.of_one_node(), goal.quantity), times, "one node's")
            }
        };
        let (limit, of) = match (goal.limit, floor) {
            (Limit::Of(limit), _) => (limit, number(limit)),
            (_, Some(floor)) => {
                let ratio = number(measured.median() / floor.median());
                (times * floor.median(), format!("{} of {what}, {ratio} are", number(times)))
            }
            (_, None) => return Ok(()),
        };
        let holds = if measured.median() <= limit { "holds" } else { "MISSED" };
        let floor = floor.map_or(String::new(), Percentiles::text);
        let case = goal.case.to_string();
        writeln!(
            f,
            "{:<20} {case:<16} {label} |{:>26} |{floor:>26} |{of:>30} | {holds}",
            goal.title,
            measured.text(),
        )
    }

    /// How many times as many launches as one thread several make at once, beside as many threads that copy. By the 10th
    /// percentile: a line or a lock that threads share disturbs every call, a packet processor that sleeps or another
    /// program on the core some of them, and with fewer threads more.
    fn threads(&self, f: &mut fmt::Formatter<'_>, case: Case, label: char) -> fmt::Result {
        let [(_, call, floor), more @ ..] = THREADS;
        let low = |quantity| Some(self.percentiles(label, case, quantity)?.low());
        let (Some(call), Some(floor)) = (low(call), low(floor)) else { return Ok(()) };
        for (threads, calls, floors) in more {
            let (Some(calls), Some(floors)) = (low(calls), low(floors)) else { continue };
            let gain = |one: f64, each: f64| threads as f64 * one / each;
            let (ours, least) = (gain(call, calls), SCALING * gain(floor, floors));
            let holds = if ours >= least { "holds" } else { "MISSED" };
            let title = format!("{threads} threads, times 1");
            let (case, of) = (case.to_string(), format!("at least {}", number(least)));
            let (ours, floor) = (number(ours), number(gain(floor, floors)));
            writeln!(f, "{title:<20} {case:<16} {label} |{ours:>26} |{floor:>26} |{of:>30} | {holds}")?;
        }
        Ok(())
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
            "floor     as many packets copied into a queue of the same emulated device, which takes"
        )?;
        writeln!(f, "          them out again, headers last, and one doorbell; in turns with the launches")?;
        writeln!(f, "warm      the same into memory that nobody else looks at")?;
        writeln!(f, "numbers   nanoseconds: median [10th-90th percentile] of all rounds\n")?;
        for entry in &self.results.entries {
            writeln!(f, "{}  {}", entry.contestant.label, entry.contestant.name)?;
            entry.problems.iter().try_for_each(|problem| writeln!(f, "   ! {problem}"))?;
        }
        writeln!(f, "\n{:<20} {:<18} |{:>26} |{:>26} |{:>30} |", "", "", "measured", "floor", "at most")?;
        for goal in GOALS.iter().filter(|goal| plan.cases.contains(&goal.case)) {
            self.labels().into_iter().try_for_each(|label| self.goal(f, goal, label))?;
        }
        for &case in &plan.cases {
            self.labels().into_iter().try_for_each(|label| self.threads(f, case, label))?;
        }
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
    use crate::command::bench::against::{
        contestant::{self, Environment},
        process::Told,
        protocol::Record,
    };

    #[test]
    fn percentiles_are_those_of_all_samples() {
        let ascending = Percentiles::of((0..=100).map(f64::from).collect());
        assert_eq!(ascending, Some(Percentiles([10.0, 50.0, 90.0])));
        assert_eq!(Percentiles::of(vec![]), None);
        assert_eq!(Percentiles::of(vec![3.0]), Some(Percentiles([3.0; 3])));
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
    fn a_goal_holds_or_is_missed_by_the_median() {
        let entries = contestant::all("ours.so".as_ref(), &[], false);
        let mut results = Results::new(entries, true);
        let case = |shape, nodes| Case::Graph { shape, nodes };
        let times =
            |case, quantity, samples: &[f64]| Record::Times { case, quantity, samples: samples.into() };
        let records = vec![
            times(case(Shape::Straight, 1), Quantity::Call, &[200.0, 290.0, 900.0]),
            times(case(Shape::Straight, 1024), Quantity::Call, &[3000.0]),
            times(case(Shape::Straight, 1024), Quantity::Floor, &[1000.0]),
            times(case(Shape::Straight, 1024), Quantity::SetNode, &[61.0]),
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
        let text = Table { plan: &plan, results: &results, machine: &machine }.to_string();
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
        assert_eq!(line("launch call forkjoin8"), "", "without a floor there is nothing to compare with");
        let ones = "resident launch call straight/8192 A | 400 [400-400] | 300 [300-300] | 1.50 of one node's, 1.33 are | holds";
        assert_eq!(line("resident launch call"), ones);
        let both = "2 threads, times 1 straight/32 A | 2.00 | 2.00 | at least 1.50 | holds";
        assert_eq!(line("2 threads"), both);
        assert!(line("4 threads").ends_with("| 1.00 | 2.00 | at least 1.50 | MISSED"), "{text}");
        assert!(line("1024 A").starts_with("1024 A | 3000 [3000-3000] | 1000"), "{text}");
    }
}
