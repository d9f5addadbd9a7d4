//! What the workers of all rounds have told, and the statistics of it.

use std::collections::HashMap;

use serde::Serialize;

use super::{
    contestant::Contestant,
    process::Told,
    protocol::{Case, Counters, Loaded, Quantity, Record},
};

/// Median of the medians of a contestant's processes, and the lowest and highest of those.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Median of the processes' medians.
    pub median: f64,
    /// The lowest median of a process.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

impl Spread {
    /// The spread of one number a process; nothing without any.
    pub fn of(processes: &[f64]) -> Option<Self> {
        let fold = |pick: fn(f64, f64) -> f64| processes.iter().copied().reduce(pick);
        Some(Self { median: median(processes)?, low: fold(f64::min)?, high: fold(f64::max)? })
    }
}

/// The middle of some numbers, or between the two in the middle; nothing without any.
pub fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (below, above) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some((below + above) / 2.0)
}

/// One worker's samples of a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Samples {
    /// The contestant's label.
    pub contestant: char,
    /// The round, from 0 on.
    pub round: usize,
    /// What was measured.
    pub case: Case,
    /// Which time of it.
    pub quantity: Quantity,
    /// In nanoseconds, in the order of their making.
    pub nanoseconds: Vec<f64>,
}

/// A contestant and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its name.
    #[serde(flatten)]
    pub contestant: Contestant,
    /// What it loaded, if it got that far.
    pub loaded: Option<Loaded>,
    /// The graphs that ran as they should when kernels executed.
    pub verified: Vec<Case>,
    /// What failed, each once.
    pub problems: Vec<String>,
    /// What is measured no more: where a library has crashed it would do it again.
    pub broken: Vec<Case>,
    /// Whether nothing is measured any more.
    pub out: bool,
}

/// Everything that was told.
#[derive(Clone, Debug)]
pub struct Results {
    /// The contestants in the order of their labels.
    pub entries: Vec<Entry>,
    /// All samples in the order of their making.
    pub samples: Vec<Samples>,
    packets: HashMap<(char, Case), (u64, Counters)>,
    null_kernels: bool,
}

impl Results {
    /// Nothing yet, of contestants whose kernels are not to execute, or are, where they are measured.
    pub fn new(contestants: Vec<Contestant>, null_kernels: bool) -> Self {
        let entry = |contestant| Entry {
            contestant,
            loaded: None,
            verified: vec![],
            problems: vec![],
            broken: vec![],
            out: false,
        };
        Self {
            entries: contestants.into_iter().map(entry).collect(),
            samples: vec![],
            packets: HashMap::new(),
            null_kernels,
        }
    }

    /// Adds what a worker of the contestant at `index` has told in a round; before the first, it verifies. The case in
    /// whose midst the worker ended, if it did.
    pub fn add(&mut self, index: usize, round: Option<usize>, told: Told) -> Option<Case> {
        let begun = told.records.iter().rev().find_map(|record| match record {
            Record::Begins { case } => Some(*case),
            _ => None,
        });
        let entry = &mut self.entries[index];
        let label = entry.contestant.label;
        let up = told.records.iter().any(|record| matches!(record, Record::Loaded(_)));
        let mut problem = |what: String| {
            let what = if up && round.is_none() { format!("not verified: {what}") } else { what };
            if !entry.problems.contains(&what) {
                entry.problems.push(what);
            }
        };
        entry.out |= !up;
        for record in told.records {
            match (record, round) {
                (Record::Loaded(loaded), _) => {
                    if round.is_some() && loaded.executes == self.null_kernels {
                        let what = if loaded.executes { "executes kernels" } else { "executes no kernels" };
                        problem(format!("not as asked: the device {what}"));
                    }
                    entry.loaded = Some(loaded);
                }
                (Record::Verified { case }, _) => entry.verified.push(case),
                (Record::Times { case, quantity, samples }, Some(round)) => self.samples.push(Samples {
                    contestant: label,
                    round,
                    case,
                    quantity,
                    nanoseconds: samples,
                }),
                (Record::Packets { case, waits, counters }, Some(_)) => {
                    let (all, sum) = self.packets.entry((label, case)).or_default();
                    (*all, *sum) = (*all + waits, sum.and(counters));
                }
                (Record::Problem { case: Some(case), what }, _) => problem(format!("{case}: {what}")),
                (Record::Problem { case: None, what }, _) => problem(what),
                (Record::Times { .. } | Record::Packets { .. }, None)
                | (Record::Begins { .. } | Record::End, _) => {}
            }
        }
        let ending = told.broken?;
        match begun {
            Some(case) => problem(format!("{case}: {ending}")),
            None => problem(ending),
        }
        entry.out |= begun.is_none() && round.is_some();
        entry.broken.extend(begun.filter(|_| round.is_some()));
        begun
    }

    /// A contestant's time of a case.
    pub fn spread(&self, label: char, case: Case, quantity: Quantity) -> Option<Spread> {
        let of_this = |s: &&Samples| s.contestant == label && s.case == case && s.quantity == quantity;
        let medians = self.samples.iter().filter(of_this).filter_map(|s| median(&s.nanoseconds));
        Spread::of(&medians.collect::<Vec<_>>())
    }

    /// How many times as long as `base` a contestant takes, by the medians.
    pub fn ratio(&self, label: char, base: char, case: Case, quantity: Quantity) -> Option<f64> {
        let [this, base] = [label, base].map(|label| self.spread(label, case, quantity));
        Some(this?.median / base?.median)
    }

    /// What a contestant makes the device process for a launch of a graph, or for a batch of launches, and a
    /// wait: the mean of all.
    pub fn packets(&self, label: char, case: Case) -> Option<[f64; Counters::NAMES.len()]> {
        let &(waits, Counters(counters)) = self.packets.get(&(label, case))?;
        Some(counters.map(|count| count as f64 / waits as f64))
    }

    /// Whether kernels were executed, or not, as they were to.
    pub fn as_asked(&self, loaded: &Loaded) -> bool {
        loaded.executes != self.null_kernels
    }

    /// Whether the packets of any contestant were counted.
    pub fn counted(&self, label: char) -> bool {
        self.packets.keys().any(|&(counted, _)| counted == label)
    }

    /// Whether anything was measured of a contestant.
    pub fn measured(&self, label: char) -> bool {
        self.samples.iter().any(|samples| samples.contestant == label)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use aqlipse_bench::shape::Shape;

    use crate::bench::against::contestant::{self, Below};

    const CASE: Case = Case::Graph { shape: Shape::Straight, nodes: 16 };

    fn times(nanoseconds: &[f64]) -> Record {
        Record::Times { case: CASE, quantity: Quantity::Call, samples: nanoseconds.to_vec() }
    }

    fn loaded(executes: bool) -> Record {
        Record::Loaded(Loaded {
            path: "/lib/libamdhip64.so.5.2.21153".into(),
            version: 50_221_153,
            device: "a device".into(),
            target: "gfx90a".into(),
            executes,
        })
    }

    fn told(records: Vec<Record>) -> Told {
        Told { records, broken: None }
    }

    fn three() -> Results {
        let ours = [Below::Emulator, Below::Rocr];
        let others = ["libamdhip64.so.5".into()];
        Results::new(contestant::all("ours.so".as_ref(), &ours, &others, true), true)
    }

    /// Ours with 10 and 12 microseconds, ours on ROCr without a device, the other with 40; 16 and 128 nodes.
    pub fn fixed() -> Results {
        let mut results = three();
        let cases = [CASE, Case::Graph { shape: Shape::Straight, nodes: 128 }];
        for (index, round, base) in [(0, 0, 10e3), (0, 1, 12e3), (2, 0, 40e3), (2, 1, 44e3)] {
            let mut records = vec![loaded(false)];
            for (case, factor) in cases.into_iter().zip([1.0, 7.0]) {
                let quantities =
                    [Quantity::InstantiateNode, Quantity::FirstCall, Quantity::Call, Quantity::Complete];
                for (quantity, part) in quantities.into_iter().zip([0.05, 1.5, 1.0, 3.0]) {
                    records.push(Record::Times { case, quantity, samples: vec![base * factor * part; 3] });
                }
            }
            for (quantity, part) in [(Quantity::LaunchInBatch, 0.05), (Quantity::LaunchAndWait, 0.8)] {
                records.push(Record::Times { case: Case::Launches, quantity, samples: vec![base * part] });
            }
            if index == 2 {
                let counters = Counters([160, 15, 0, 0, 0, 170, 10, 10, 170]);
                records.push(Record::Packets { case: CASE, waits: 10, counters });
            }
            results.add(index, Some(round), told(records));
        }
        let failed = Record::Problem { case: None, what: "hipInit: hipErrorNoDevice (100)".into() };
        results.add(1, Some(0), told(vec![failed]));
        for index in [0, 2] {
            results.add(index, None, told(vec![loaded(true), Record::Verified { case: CASE }]));
        }
        results
    }

    #[test]
    fn a_median_lies_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 100.0]), Some(3.0));
    }

    #[test]
    fn a_spread_is_over_processes_and_not_over_samples() {
        let mut results = three();
        results.add(0, Some(0), told(vec![times(&[1.0, 2.0, 90.0])]));
        results.add(0, Some(1), told(vec![times(&[4.0])]));
        results.add(0, Some(2), told(vec![times(&[3.0, 3.0])]));
        let spread = results.spread('A', CASE, Quantity::Call);
        assert_eq!(spread, Some(Spread { median: 3.0, low: 2.0, high: 4.0 }));
        assert_eq!(results.spread('A', CASE, Quantity::Complete), None);
        assert_eq!(results.spread('B', CASE, Quantity::Call), None);
        assert_eq!(results.samples[1].round, 1);
    }

    #[test]
    fn a_ratio_needs_both_sides() {
        let results = fixed();
        assert_eq!(results.ratio('C', 'A', CASE, Quantity::Call), Some(42.0 / 11.0));
        assert_eq!(results.ratio('A', 'A', CASE, Quantity::Call), Some(1.0));
        assert_eq!(results.ratio('C', 'B', CASE, Quantity::Call), None);
    }

    #[test]
    fn packets_are_the_mean_of_all_launches() {
        let results = fixed();
        assert_eq!(results.packets('C', CASE), Some([16.0, 1.5, 0.0, 0.0, 0.0, 17.0, 1.0, 1.0, 17.0]));
        assert_eq!(results.packets('A', CASE), None);
    }

    #[test]
    fn who_does_not_come_up_or_crashes_is_out_and_says_why_once() {
        let mut results = fixed();
        assert!(results.entries[1].out && !results.measured('B'));
        assert_eq!(results.entries[1].problems, ["hipInit: hipErrorNoDevice (100)"]);
        let crash =
            || Told { records: vec![loaded(false), times(&[1.0])], broken: Some("ended by signal".into()) };
        results.add(2, Some(2), crash());
        results.add(2, Some(3), crash());
        assert!(results.entries[2].out && results.measured('C'));
        assert_eq!(results.entries[2].problems, ["ended by signal"]);
    }

    #[test]
    fn a_crash_in_the_midst_of_a_case_costs_that_case_alone() {
        let mut results = three();
        let crash = || Told {
            records: vec![loaded(false), times(&[1.0]), Record::Begins { case: CASE }],
            broken: Some("ended by signal".into()),
        };
        assert_eq!(results.add(2, None, crash()), Some(CASE));
        assert!(results.entries[2].broken.is_empty(), "to verify it is another matter");
        assert_eq!(results.add(2, Some(0), crash()), Some(CASE));
        assert_eq!((&results.entries[2].broken[..], results.entries[2].out), (&[CASE][..], false));
        assert_eq!(results.entries[2].problems[1..], ["straight/16: ended by signal"]);
        assert_eq!(results.add(2, Some(1), told(vec![Record::Begins { case: CASE }])), None);
    }

    #[test]
    fn kernels_that_execute_although_they_should_not_are_told() {
        let mut results = three();
        results.add(0, None, told(vec![loaded(true)]));
        assert!(results.entries[0].problems.is_empty(), "they have to when a graph is verified");
        results.add(0, Some(0), told(vec![loaded(true)]));
        assert_eq!(results.entries[0].problems, ["not as asked: the device executes kernels"]);
    }

    #[test]
    fn who_does_not_come_up_to_be_verified_is_not_measured() {
        let mut results = three();
        let failed = Record::Problem { case: None, what: "cannot open".into() };
        results.add(1, None, told(vec![failed]));
        assert!(results.entries[1].out);
        assert_eq!(results.entries[1].problems, ["cannot open"]);
    }

    #[test]
    fn who_crashes_while_it_verifies_is_measured_all_the_same() {
        let mut results = three();
        let crash = Told { records: vec![loaded(true)], broken: Some("ended by signal".into()) };
        results.add(2, None, crash);
        assert!(!results.entries[2].out);
        assert_eq!(results.entries[2].problems, ["not verified: ended by signal"]);
    }
}
