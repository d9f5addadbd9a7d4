//! Plans against each other: each is played with several sets of durations, on as many compute units as there are.
//!
//! [`estimate`](super::estimate) goes over a plan once, and takes compute units to be plenty. Here events happen one
//! after the other: a kernel that finds too few units free takes longer, or waits for those that started before it. That
//! is ten times the work, and done for graphs of up to [`SEARCHED_FULLY`](super::SEARCHED_FULLY) nodes only.
//!
//! Of durations that nobody knows several sets are drawn. The plan is best whose time, as a part of the first plan's for
//! the same durations, is the smallest on average: a plan that is a little better if all kernels take equally long, and
//! much worse if they do not, is none to take.

use super::Problem;
use super::cost::CostTable;
use super::guess;
use super::plan::{Action, Plan};

/// Sets of durations that the last plans are compared with.
const SETS: u32 = 4;
/// Sets that show which plans are worth more.
const FIRST_SETS: u32 = 2;
/// Plans that are compared with all sets.
const LAST: usize = 3;

/// The best of some plans for packets of one device; of equal ones the first.
///
/// # Panics
/// Without a plan.
pub(super) fn best(problem: &Problem<'_>, table: &CostTable, plans: Vec<Plan>) -> Plan {
    let mut trial = Trial::new(problem, table);
    // The place of each plan that is left, its steps, and the sum of its times as parts of the first plan's.
    let mut left: Vec<(usize, Steps, f64)> =
        plans.iter().enumerate().map(|(at, plan)| (at, Steps::of(plan), 0.0)).collect();
    let mut durations = vec![0; problem.len()];
    let sets = if problem.guessed { SETS } else { 1 };
    for set in 0..sets {
        if set == FIRST_SETS {
            left.sort_by(|a, b| a.2.total_cmp(&b.2));
            left.truncate(LAST);
        }
        for (node, duration) in (0..).zip(&mut durations) {
            let cost = problem.cost(node);
            *duration = if problem.guessed { guess::drawn(node, set, cost) } else { cost };
        }
        let mut first = None;
        for (_, steps, sum) in &mut left {
            let time = trial.play(steps, &durations).max(1) as f64;
            *sum += time / *first.get_or_insert(time);
        }
    }
    let chosen = left.iter().min_by(|a, b| a.2.total_cmp(&b.2).then(a.0.cmp(&b.0)));
    // PANIC: there is a plan, as the caller promises.
    let chosen = chosen.expect("a plan").0;
    plans.into_iter().nth(chosen).expect("a plan")
}

/// What a plan takes if its packets last as long as the problem says.
#[cfg(test)]
pub(crate) fn time_ns(problem: &Problem<'_>, plan: &Plan, table: &CostTable) -> u64 {
    let durations: Vec<u32> = problem.nodes().map(|node| problem.cost(node)).collect();
    Trial::new(problem, table).play(&Steps::of(plan), &durations)
}

const NONE: u32 = u32::MAX;
const OPEN: u64 = u64::MAX;

/// A step of a lane.
struct Step {
    /// `NONE` for a fence.
    node: u32,
    barrier: bool,
    /// Barrier-AND packets in front of it.
    ands: u32,
    /// Where its waits end; they start where those of the step before it end.
    waits_end: u32,
}

/// The steps of a plan in one list, lane by lane.
struct Steps {
    steps: Vec<Step>,
    /// Steps that steps wait for, by place in the list.
    waits: Vec<u32>,
    /// Where each lane begins, whether the launch holds it back, and where it ends.
    lanes: Vec<(u32, bool, u32)>,
}

impl Steps {
    fn of(plan: &Plan) -> Self {
        let mut this = Self { steps: Vec::new(), waits: Vec::new(), lanes: Vec::new() };
        let mut end = 0;
        for lane in &plan.lanes {
            let start = end;
            // CAST: a plan has fewer than 2^32 steps.
            end += lane.steps.len() as u32;
            this.lanes.push((start, lane.entry, end));
        }
        this.steps.reserve(end as usize);
        for lane in &plan.lanes {
            for (at, step) in (0..).zip(&lane.steps) {
                let waits = lane.waits(at);
                this.waits.extend(waits.iter().map(|wait| this.lanes[wait.lane as usize].0 + wait.position));
                let (node, own) = match step.action {
                    Action::Node(node) => (node, 0),
                    Action::Fence => (NONE, 1),
                };
                // CAST: waits are at most as many as lanes.
                let ands = (step.barrier_ands(waits.len()) - own) as u32;
                let waits_end = this.waits.len() as u32;
                this.steps.push(Step { node, barrier: step.barrier, ands, waits_end });
            }
        }
        this
    }

    fn waits(&self, step: u32) -> &[u32] {
        let start = step.checked_sub(1).map_or(0, |before| self.steps[before as usize].waits_end);
        &self.waits[start as usize..self.steps[step as usize].waits_end as usize]
    }
}

/// A lane's progress.
#[derive(Clone, Copy, Default)]
struct Progress {
    next: u32,
    /// Kernels that have launched and not completed.
    running: u32,
    /// When the next packet may launch for all that is before it in the lane.
    turn: u64,
    /// When the latest kernel completed, and what follows a completion has passed.
    drained: u64,
}

impl Progress {
    /// When the next step may launch.
    fn ready(&self, steps: &Steps, lane: usize, done: &[u64], cross: u64) -> u64 {
        let (first, _, end) = steps.lanes[lane];
        if self.next == end {
            return OPEN;
        }
        let mut at = self.turn;
        if steps.steps[self.next as usize].barrier && self.next > first {
            if self.running > 0 {
                return OPEN;
            }
            at = at.max(self.drained);
        }
        for &wait in steps.waits(self.next) {
            match done[wait as usize] {
                OPEN => return OPEN,
                done => at = at.max(done + cross),
            }
        }
        at
    }
}

/// A kernel on its compute units.
struct Running {
    step: u32,
    lane: u32,
    end: u64,
    wanted: u32,
    granted: u32,
    /// Units times nanoseconds that were left to do at `since`.
    left: u64,
    since: u64,
}

/// What a play needs, kept from one to the next.
struct Trial<'p> {
    problem: &'p Problem<'p>,
    table: &'p CostTable,
    lanes: Vec<Progress>,
    /// By lane: when its next step may launch; `OPEN` while that depends on completions to come.
    ready: Vec<u64>,
    /// By step: when it completed.
    done: Vec<u64>,
    /// By start.
    running: Vec<Running>,
    /// When the first of them is done.
    completion: u64,
    free_units: u32,
}

impl<'p> Trial<'p> {
    fn new(problem: &'p Problem<'p>, table: &'p CostTable) -> Self {
        Self {
            problem,
            table,
            lanes: Vec::new(),
            ready: Vec::new(),
            done: Vec::new(),
            running: Vec::new(),
            completion: OPEN,
            free_units: 0,
        }
    }

    /// What a launch takes.
    fn play(&mut self, steps: &Steps, durations: &[u32]) -> u64 {
        let (packet, cross) = (u64::from(self.table.packet_ns), u64::from(self.table.cross_queue_ns));
        self.free_units = self.table.compute_units.max(1);
        self.done.clear();
        self.done.resize(steps.steps.len(), OPEN);
        self.lanes.clear();
        // A marker on the first lane lets the others begin.
        let entries = steps.lanes.iter().any(|&(_, entry, _)| entry);
        let mut dispatcher = if entries { packet } else { 0 };
        for &(start, entry, _) in &steps.lanes {
            let turn = if entry { cross } else { 0 };
            self.lanes.push(Progress { next: start, turn, ..Progress::default() });
        }
        self.ready.clear();
        self.ready
            .extend((0..self.lanes.len()).map(|lane| self.lanes[lane].ready(steps, lane, &self.done, cross)));
        let mut end = 0;
        loop {
            // Of lanes that the dispatcher keeps waiting, the one that has waited longest is next.
            let (mut ready, mut lane) = (OPEN, 0);
            for (other, &at) in self.ready.iter().enumerate() {
                if at < ready {
                    (ready, lane) = (at, other);
                }
            }
            let step = self.lanes[lane].next;
            let start = match steps.steps.get(step as usize) {
                Some(step) if ready < OPEN => ready.max(dispatcher + u64::from(step.ands) * packet),
                _ => OPEN,
            };
            if self.completion <= start {
                if self.completion == OPEN {
                    return end;
                }
                end = self.completion;
                self.complete(steps, end);
                continue;
            }
            let node = steps.steps[step as usize].node;
            dispatcher = start + packet;
            self.lanes[lane].next += 1;
            self.lanes[lane].turn = start;
            if node == NONE {
                self.done[step as usize] = start;
                end = end.max(start);
                self.look_again(steps);
            } else {
                self.lanes[lane].running += 1;
                self.start(step, lane as u32, start, durations[node as usize], self.problem.units(node));
            }
            self.ready[lane] = self.lanes[lane].ready(steps, lane, &self.done, cross);
        }
    }

    /// Looks which lanes need wait no longer.
    fn look_again(&mut self, steps: &Steps) {
        let cross = u64::from(self.table.cross_queue_ns);
        for (lane, ready) in self.ready.iter_mut().enumerate().filter(|(_, ready)| **ready == OPEN) {
            *ready = self.lanes[lane].ready(steps, lane, &self.done, cross);
        }
    }

    /// Gives a kernel the units that are free.
    fn start(&mut self, step: u32, lane: u32, since: u64, duration: u32, units: u32) {
        let wanted = units.clamp(1, self.table.compute_units.max(1));
        let granted = wanted.min(self.free_units);
        self.free_units -= granted;
        let left = u64::from(duration) * u64::from(wanted);
        let end = if granted == wanted { since + u64::from(duration) } else { end(since, left, granted) };
        self.completion = self.completion.min(end);
        self.running.push(Running { step, lane, end, wanted, granted, left, since });
    }

    /// Ends the kernels that are done, and gives their units to those that have too few, by start.
    fn complete(&mut self, steps: &Steps, now: u64) {
        let Self { running, free_units, lanes, done, table, .. } = self;
        running.retain(|kernel| {
            if kernel.end > now {
                return true;
            }
            *free_units += kernel.granted;
            done[kernel.step as usize] = now;
            let lane = &mut lanes[kernel.lane as usize];
            lane.running -= 1;
            lane.drained = now + u64::from(table.dependent_ns);
            false
        });
        for kernel in running.iter_mut().filter(|kernel| kernel.granted < kernel.wanted) {
            if *free_units == 0 {
                break;
            }
            kernel.left = kernel.left.saturating_sub((now - kernel.since) * u64::from(kernel.granted));
            kernel.since = now;
            let more = (kernel.wanted - kernel.granted).min(*free_units);
            kernel.granted += more;
            *free_units -= more;
            kernel.end = end(now, kernel.left, kernel.granted);
        }
        self.completion = running.iter().map(|kernel| kernel.end).min().unwrap_or(OPEN);
        self.look_again(steps);
    }
}

/// When a kernel ends that has so much left to do; `OPEN` without a unit.
fn end(since: u64, left: u64, granted: u32) -> u64 {
    if granted == 0 { OPEN } else { since + left.div_ceil(u64::from(granted)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Csr;
    use crate::schedule::{Candidate, Class, candidate, cost, plan};

    #[test]
    fn kernels_that_want_more_units_than_there_are_share_them_by_start() {
        let preds = Csr::from_pairs(2, std::iter::empty());
        let succs = preds.transposed();
        let problem = Problem::new(&preds, &succs, &[Class::Packet; 2], &[10_000; 2]).unwrap();
        let table = CostTable { compute_units: 100, packet_ns: 0, ..cost::CDNA3.table };
        let time = |units: [u32; 2]| {
            let problem = problem.with_units(&units).unwrap();
            time_ns(&problem, &candidate(&problem, Candidate::Levels, 1, &table), &table)
        };
        // The fence that ends the launch drains.
        let drain = u64::from(table.dependent_ns);
        assert_eq!(time([50, 50]), 10_000 + drain);
        assert_eq!(time([100, 100]), 20_000 + drain);
        // More than there are count as all.
        assert_eq!(time([1_000, 100]), 20_000 + drain);
        // For 10 us the second has 40 of its 80 units, then all of them for 5 us.
        assert_eq!(time([60, 80]), 15_000 + drain);
    }

    #[test]
    fn of_plans_that_are_as_good_the_first_is_taken() {
        let preds = Csr::from_pairs(3, [(1, 0), (2, 1)].into_iter());
        let succs = preds.transposed();
        let problem = Problem::new(&preds, &succs, &[Class::Packet; 3], &[5_000; 3]).unwrap();
        let table = cost::CDNA3.table;
        for kinds in [[Candidate::Serial, Candidate::Levels], [Candidate::Levels, Candidate::Serial]] {
            let plans = kinds.map(|kind| candidate(&problem, kind, 1, &table)).into();
            assert_eq!(best(&problem, &table, plans).candidate, kinds[0]);
        }
    }

    #[test]
    fn of_known_durations_no_plan_that_is_tried_is_faster() {
        // Layers of long and short kernels that cross over.
        let edges =
            [(3, 0), (3, 1), (4, 1), (4, 2), (5, 2), (5, 0), (6, 3), (6, 4), (7, 4), (7, 5), (8, 5), (8, 3)];
        let preds = Csr::from_pairs(9, edges.into_iter());
        let succs = preds.transposed();
        let durations = [9_000, 90_000, 9_000, 90_000, 9_000, 9_000, 9_000, 90_000, 9_000];
        let problem = Problem::new(&preds, &succs, &[Class::Packet; 9], &durations).unwrap();
        let table = cost::CDNA2.table;
        for units in [1, 50, 70, table.compute_units] {
            let units = [units; 9];
            let problem = problem.with_units(&units).unwrap();
            let chosen = time_ns(&problem, &plan(&problem, 4, &table), &table);
            for kind in [
                Candidate::Levels,
                Candidate::Relaxed,
                Candidate::Strict,
                Candidate::LevelLanes,
                Candidate::Turns,
            ] {
                let other = candidate(&problem, kind, 4, &table);
                assert!(chosen <= time_ns(&problem, &other, &table), "{kind:?} on {units:?}");
            }
        }
    }
}
