//! `aqlipse bench --simulate`: plans in virtual time, beside what AMD's releases would make of the same graphs.
//!
//! | module | what it holds |
//! |---|---|
//! | [`workloads`] | the graphs |
//! | [`workload`] | a graph, and what builds it |
//! | [`random`] | those that chance draws |

mod random;
mod workload;
mod workloads;

use std::error;

use aqlipse_cli::simulate::{Program, Stuck, published, run};
use aqlipse_graph::schedule::{
    self, Bounds, Candidate, CostFile, CostTable, Plan, Policy, Problem, bounds, cost,
};
use serde_json::{Value, json};

pub(super) use self::workloads::shaped;
use self::{random::Family, workload::Workload};
use super::{Output, number};

/// Queues that a plan may use, as many as streams of one priority share.
const LANES: usize = 4;

/// Seeds of random graphs of each family, of which only a summary is printed; nothing was tuned with them.
const FURTHER: std::ops::Range<u64> = 100_000..101_000;

/// What the plans and policies for one graph take.
struct Row {
    name: String,
    kernels: usize,
    /// What no plan can beat: the longest path, the launching of all packets, the work of all compute units.
    floor_ns: u64,
    critical_path_ns: u64,
    /// Work of the kernels, each on the compute units that it can use, if all units of the device are always busy.
    work_over_units_ns: u64,
    /// Work of kernels one by one, shared evenly among the plan's queues.
    work_over_lanes_ns: u64,
    /// Fewest waits if no two independent kernels may share a queue.
    fewest_syncs: Option<usize>,
    /// All durations and units are known.
    known: Ours,
    /// No duration is known, but units are, as when a program's graph is instantiated.
    unknown: Ours,
    /// By [`Policy::ALL`].
    policies: Vec<Theirs>,
}

/// What a release of AMD's publishes.
struct Theirs {
    packets: usize,
    /// Packets that acquire something.
    acquires: usize,
    makespan_ns: u64,
}

/// All graphs with the costs of one family.
struct Simulated<'f> {
    costs: &'f CostFile,
    rows: Vec<Row>,
    further: Vec<(Family, Vec<Row>)>,
}

/// A plan of this library's.
struct Ours {
    candidate: Candidate,
    lanes: usize,
    waits: usize,
    packets: usize,
    /// Packets that acquire something.
    acquires: usize,
    makespan_ns: u64,
}

impl Ours {
    /// Proves a plan for `planned`, and runs it with the durations of `real`.
    fn new(
        plan: Plan,
        planned: &Problem<'_>,
        real: &Problem<'_>,
        table: &CostTable,
    ) -> Result<Self, Box<dyn error::Error>> {
        schedule::check(planned, &plan)?;
        let program = Program::of_plan(real, &plan)?;
        Ok(Self {
            candidate: plan.candidate,
            lanes: plan.lanes.len(),
            waits: plan.counts().waits,
            packets: program.packets(),
            acquires: program.acquires(),
            makespan_ns: run(&program, table)?.makespan_ns,
        })
    }
}

impl Row {
    fn of(workload: &Workload, table: &CostTable) -> Result<Self, Box<dyn error::Error>> {
        let real = workload.problem()?;
        let guesses = vec![table.kernel_ns; workload.len()];
        let guessed = workload.problem_with(&guesses)?.with_guessed_durations();
        let known = Ours::new(schedule::plan(&real, LANES, table), &real, &real, table)?;
        let blind = schedule::plan(&guessed, LANES, table);
        let bounds = Bounds::of(&real, table);
        let work_over_units_ns = workload.work_ns(table.compute_units);
        let policy = |policy: &Policy| {
            let program = published(*policy, &real);
            let makespan_ns = run(&program, table)?.makespan_ns;
            Ok(Theirs { packets: program.packets(), acquires: program.acquires(), makespan_ns })
        };
        Ok(Self {
            name: workload.name.clone(),
            kernels: workload.len(),
            floor_ns: bounds.makespan_ns(table).max(work_over_units_ns),
            critical_path_ns: bounds.critical_path_ns,
            work_over_units_ns,
            work_over_lanes_ns: bounds.work_ns.div_ceil(known.lanes as u64),
            fewest_syncs: bounds::fewest_syncs(&real),
            unknown: Ours::new(blind, &guessed, &real, table)?,
            known,
            policies: Policy::ALL.iter().map(policy).collect::<Result<_, Stuck>>()?,
        })
    }

    /// The best of AMD's ways.
    fn best_policy_ns(&self) -> u64 {
        self.policies.iter().map(|theirs| theirs.makespan_ns).min().unwrap_or(u64::MAX)
    }

    fn line(&self) {
        let over = |part: u64, whole: u64| number(part as f64 / whole.max(1) as f64);
        let ours = |ours: &Ours| {
            let plan = format!("{:?} x{}", ours.candidate, ours.lanes);
            format!(
                "{plan:<14}{:>6}{:>6}{:>10}{:>7}{:>7}",
                ours.packets,
                ours.acquires,
                us(ours.makespan_ns),
                over(ours.makespan_ns, self.floor_ns),
                over(self.best_policy_ns(), ours.makespan_ns),
            )
        };
        let policies = self.policies.iter().map(|theirs| format!("{:>10}", us(theirs.makespan_ns)));
        println!(
            "{:<37}{:>6}{:>9}{:>9}{:>9}{:>9}{:>7} | {}{:>6} | {} |{}",
            self.name,
            self.kernels,
            us(self.floor_ns),
            us(self.critical_path_ns),
            us(self.work_over_units_ns),
            us(self.work_over_lanes_ns),
            self.fewest_syncs.map_or("-".into(), |syncs| syncs.to_string()),
            ours(&self.known),
            self.known.waits,
            ours(&self.unknown),
            policies.collect::<String>(),
        );
    }

    fn json(&self) -> Value {
        let ours = |ours: &Ours| {
            json!({
                "candidate": format!("{:?}", ours.candidate),
                "lanes": ours.lanes,
                "waits": ours.waits,
                "packets": ours.packets,
                "acquires": ours.acquires,
                "makespan_ns": ours.makespan_ns,
            })
        };
        let policy = |(policy, theirs): (&Policy, &Theirs)| {
            json!({
                "policy": policy.name(),
                "packets": theirs.packets,
                "acquires": theirs.acquires,
                "makespan_ns": theirs.makespan_ns,
            })
        };
        json!({
            "graph": self.name,
            "kernels": self.kernels,
            "floor_ns": self.floor_ns,
            "critical_path_ns": self.critical_path_ns,
            "work_over_units_ns": self.work_over_units_ns,
            "work_over_lanes_ns": self.work_over_lanes_ns,
            "fewest_syncs": self.fewest_syncs,
            "known_durations": ours(&self.known),
            "unknown_durations": ours(&self.unknown),
            "policies": Policy::ALL.iter().zip(&self.policies).map(policy).collect::<Vec<_>>(),
        })
    }
}

/// Simulates and prints; only graphs whose name contains `filter`.
///
/// # Errors
/// A plan that the checker refuses; a file that cannot be written.
pub fn simulate(filter: &str, output: &Output) -> Result<(), Box<dyn error::Error>> {
    let mut reports = Vec::new();
    let named = aqlipse::named_costs()?;
    // Of a device with a third of the compute units too, where kernels get into each other's way.
    let shipped: [&CostFile; 2] = [&cost::CDNA3, &cost::CDNA2];
    let files = if named.is_empty() { shipped.into() } else { named.iter().collect::<Vec<_>>() };
    for file in files {
        if !output.only_json() {
            header(file);
        }
        let mut rows = Vec::new();
        for workload in workloads::all().iter().filter(|workload| workload.name.contains(filter)) {
            let row = Row::of(workload, &file.table)?;
            if !output.only_json() {
                row.line();
            }
            rows.push(row);
        }
        let further: Vec<(Family, Vec<Row>)> = Family::ALL
            .into_iter()
            .map(|family| Ok((family, further(family, &file.table)?)))
            .collect::<Result<_, Box<dyn error::Error>>>()?;
        if !output.only_json() {
            println!();
            summary("these graphs", &rows);
            for (family, rows) in &further {
                summary(&format!("further {}", family.name()), rows);
            }
            println!();
        }
        reports.push(Simulated { costs: file, rows, further });
    }
    let report = |Simulated { costs, rows, further }: &Simulated<'_>| {
        json!({
            "costs": costs.family.0,
            "graphs": rows.iter().map(Row::json).collect::<Vec<_>>(),
            "further": further.iter().flat_map(|(_, rows)| rows).map(Row::json).collect::<Vec<_>>(),
        })
    };
    let report = || json!({ "families": reports.iter().map(report).collect::<Vec<_>>() });
    output.json(report).map_err(|(file, error)| format!("{}: {error}", file.display()).into())
}

/// Random graphs that are only counted.
fn further(family: Family, table: &CostTable) -> Result<Vec<Row>, Box<dyn error::Error>> {
    FURTHER.map(|seed| Row::of(&family.workload(seed), table)).collect()
}

fn header(file: &CostFile) {
    println!(
        "costs     of {} ({}), {} compute units",
        file.family.0, file.family.1, file.table.compute_units
    );
    for (name, value) in [("dependent_ns", file.table.dependent_ns), ("acquire_ns", file.table.acquire_ns)] {
        println!("{name:<14}{value:>6}: {}", file.source(name).unwrap_or("unknown"));
    }
    println!("graphs    of kernels whose durations and compute units are chosen, not measured");
    println!("time      virtual, of the packets alone: every packet lies in its queue at time 0");
    println!(
        "path      the longest path with its gaps; work/u all units always busy; work/k one kernel a queue at a time"
    );
    println!("floor     the longest path, all packets launched, or all units busy, whichever takes longest");
    println!("acq       packets that acquire what others have released");
    println!("syncs     the fewest waits if no two independent kernels may share a queue (Nimble)");
    println!(
        "AMD's     as their pull requests describe them, at their best where those leave something open; with the fences"
    );
    println!(
        "          that their 5.2.3 publishes: each kernel acquires, what waits for another queue does not"
    );
    println!("/floor    time over the floor; AMD/ the best of AMD's ways over ours");
    println!();
    println!(
        "{:<37}{:>6}{:^43} | {:^56} | {:^50} | {:^39}",
        "", "", "bounds", "ours, durations known", "ours, durations unknown", "AMD's, us"
    );
    let ours = format!("{:<14}{:>6}{:>6}{:>10}{:>7}{:>7}", "plan", "packets", "acq", "us", "/floor", "AMD/");
    println!(
        "{:<37}{:>6}{:>9}{:>9}{:>9}{:>9}{:>7} | {ours}{:>6} | {ours} |{:>10}{:>10}{:>10}{:>10}",
        "graph",
        "nodes",
        "floor",
        "path",
        "work/u",
        "work/k",
        "syncs",
        "waits",
        "1 queue",
        "4 streams",
        "by level",
        "in depth",
    );
}

fn summary(which: &str, rows: &[Row]) {
    for (what, ours) in [
        ("known", (|row| row.known.makespan_ns) as fn(&Row) -> u64),
        ("unknown", |row| row.unknown.makespan_ns),
    ] {
        let over_best = |row: &Row| ours(row) as f64 / row.best_policy_ns().max(1) as f64;
        let over_floor = |row: &Row| ours(row) as f64 / row.floor_ns.max(1) as f64;
        let lost = rows.iter().filter(|row| ours(row) > row.best_policy_ns());
        let most = |ratio: &dyn Fn(&Row) -> f64| rows.iter().map(ratio).fold(0.0, f64::max);
        println!(
            "{which}, durations {what}: slower than the best of AMD's ways on {} of {}, by {:.1} % at most; \
             {:.2} times as fast in the geometric mean; {:.3} of the floor, {:.3} at most",
            lost.count(),
            rows.len(),
            (most(&over_best) - 1.0).max(0.0) * 100.0,
            1.0 / mean(rows, over_best),
            mean(rows, over_floor),
            most(&over_floor),
        );
    }
}

/// The geometric mean.
fn mean(rows: &[Row], ratio: impl Fn(&Row) -> f64) -> f64 {
    let logs: f64 = rows.iter().map(|row| ratio(row).ln()).sum();
    (logs / rows.len().max(1) as f64).exp()
}

fn us(ns: u64) -> String {
    format!("{:.1}", ns as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use aqlipse_bench::shape::Shape;

    use super::*;

    #[test]
    fn no_layout_of_amd_s_is_faster_than_ours_on_either_family() {
        for file in [&cost::CDNA2, &cost::CDNA3] {
            for workload in workloads::all() {
                let row = Row::of(&workload, &file.table).unwrap();
                for (what, ours) in [("known", &row.known), ("unknown", &row.unknown)] {
                    let (name, took) = ((&workload.name, &file.family.0, what), ours.makespan_ns);
                    assert!(took <= row.best_policy_ns(), "{name:?}: {took} > {}", row.best_policy_ns());
                    assert!(took + u64::from(file.table.packet_ns) >= row.floor_ns, "{name:?}");
                }
            }
        }
    }

    /// No plan is right for all graphs without knowing durations: a plan for what is likely may be the wrong one.
    #[test]
    fn random_graphs_are_never_slower_with_known_durations_and_seldom_with_unknown_ones() {
        for file in [&cost::CDNA3, &cost::CDNA2] {
            for family in Family::ALL {
                let rows = (100..140).map(|seed| Row::of(&family.workload(seed), &file.table).unwrap());
                let rows: Vec<Row> = rows.collect();
                for row in &rows {
                    let (took, best) = (row.known.makespan_ns, row.best_policy_ns());
                    assert!(took <= best, "{}, {}: {took} > {best}", file.family.0, row.name);
                }
                let slower = rows.iter().filter(|row| row.unknown.makespan_ns > row.best_policy_ns()).count();
                assert!(
                    slower <= rows.len() / 4,
                    "{slower} of {}, {family:?}, {}",
                    rows.len(),
                    file.family.0
                );
                let gain = mean(&rows, |row| row.unknown.makespan_ns as f64 / row.best_policy_ns() as f64);
                assert!(gain < 1.0, "{gain} of the best of AMD's, {family:?}, {}", file.family.0);
            }
        }
    }

    /// AMD's chain has the fences of ours; of layers ours acquires once, and AMD's with each kernel.
    #[test]
    fn what_an_acquire_takes_is_charged_to_each_packet_that_has_one() {
        let of = |acquire_ns| {
            let table = CostTable { acquire_ns, ..cost::CDNA3.table };
            let row = |shape| Row::of(&shaped(shape, 64, "empty", |_| 0), &table).unwrap();
            [row(Shape::Straight), row(Shape::Full(2))]
        };
        let ([chain, layers], [longer, wider]) = (of(0), of(100));
        for (before, row, levels) in [(&chain, &longer, 64), (&layers, &wider, 33)] {
            assert_eq!(row.known.acquires, levels, "{}", row.name);
            assert_eq!(row.known.makespan_ns, before.known.makespan_ns + 100 * levels as u64, "{}", row.name);
            let (one_queue, before) = (&row.policies[0], &before.policies[0]);
            assert_eq!((one_queue.packets, one_queue.acquires), (64, 64), "{}", row.name);
            assert_eq!(one_queue.makespan_ns, before.makespan_ns + 100 * 64, "{}", row.name);
        }
    }

    #[test]
    fn every_workload_is_there_once_under_its_name() {
        let mut names: Vec<String> = workloads::all().into_iter().map(|workload| workload.name).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        for wanted in ["full4", "forkjoin8", "tree", "random layers", "transformer", "conjugate", "stencil"] {
            assert!(names.iter().any(|name| name.contains(wanted)), "{wanted}");
        }
    }
}
