//! Plans against each other: each is played, on as many compute units as there are.
//!
//! [`estimate`](super::estimate) goes over a plan once, and takes compute units to be plenty. Here events happen one
//! after the other, packet by packet: a kernel that finds too few units free takes longer, or waits for those that
//! started before it. That is ten times the work. It is done for graphs whose durations are known; what AMD's releases
//! would launch is among the plans then, so that the one chosen is never slower. Graphs whose durations are unknown are
//! played up to [`SEARCHED_FULLY`](super::SEARCHED_FULLY) nodes only.
//!
//! Of unknown durations several sets are drawn. A plan is worth, for each set, its time as a part of the best
//! that AMD's releases would reach with the same durations; what is lost to them counts many times. A plan that is a little
//! better if all kernels take equally long, and much worse if they do not, is none to take.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use hsa::packet::Scope;
use smallvec::SmallVec;

use super::Problem;
use super::cost::CostTable;
use super::fences::{self, Acquired};
use super::guess;
use super::plan::{Action, Plan, SIGNALS_PER_BARRIER_AND, StepRef};

/// How many more sets of durations so many plans at most are compared with, round by round.
const ROUNDS: [(usize, u32); 3] = [(usize::MAX, 2), (4, 4), (2, 4)];

/// Nodes up to which all of these sets are played: of more durations the mean tells more, and half of the sets do.
const ALL_SETS: usize = 128;

/// How much worse it is to lose to what AMD would publish than it is good to be faster.
const LOSS: f64 = 10.0;

/// The best of some plans for packets of one device; of equal ones the first. `published` are those that AMD's releases
/// would launch: where durations are known they are tried too; where they are not, plans are compared with the best of
/// them for the same durations.
///
/// # Panics
/// Without a plan.
pub(super) fn best(
    problem: &Problem<'_>,
    table: &CostTable,
    mut plans: Vec<Plan>,
    published: Vec<Plan>,
) -> Plan {
    let mut trial = Trial::new(problem, table);
    let chosen = if problem.guessed {
        best_of_sets(&mut trial, &plans, &published)
    } else {
        plans.extend(published);
        let durations: Vec<u32> = problem.nodes().map(|node| problem.cost(node)).collect();
        let times = plans.iter().map(|plan| trial.play(&Packets::of(plan), &durations));
        times.enumerate().min_by_key(|&(_, time)| time).map(|(at, _)| at)
    };
    // PANIC: there is a plan, as the caller promises.
    plans.swap_remove(chosen.expect("a plan"))
}

/// The place of the plan that does best for several sets of durations.
fn best_of_sets(trial: &mut Trial<'_>, plans: &[Plan], published: &[Plan]) -> Option<usize> {
    let problem = trial.problem;
    // With whether it was the best of them for some set.
    let mut published: Vec<(Packets, bool)> =
        published.iter().map(|plan| (Packets::of(plan), false)).collect();
    // The place of each plan that is left, its packets, and the sum of what its times are worth.
    let mut left: Vec<(usize, Packets, f64)> =
        plans.iter().enumerate().map(|(at, plan)| (at, Packets::of(plan), 0.0)).collect();
    let mut durations = vec![0; problem.len()];
    let mut set = 0;
    for (round, (most, sets)) in ROUNDS.into_iter().enumerate() {
        if round > 0 {
            left.sort_by(|a, b| a.2.total_cmp(&b.2));
            left.truncate(most);
            published.retain(|(_, best)| *best);
        }
        for _ in 0..if problem.len() <= ALL_SETS { sets } else { sets / 2 } {
            for (node, duration) in (0..).zip(&mut durations) {
                *duration = guess::drawn(node, set, problem.cost(node));
            }
            set += 1;
            let times = published.iter_mut().map(|(packets, best)| (trial.play(packets, &durations), best));
            let theirs = times.min_by_key(|(time, _)| *time).map_or(1, |(time, best)| {
                *best = true;
                time.max(1)
            });
            for (_, packets, sum) in &mut left {
                let ratio = trial.play(packets, &durations) as f64 / theirs as f64;
                *sum += ratio + LOSS * (ratio - 1.0).max(0.0);
            }
        }
    }
    left.iter().min_by(|a, b| a.2.total_cmp(&b.2).then(a.0.cmp(&b.0))).map(|(at, ..)| *at)
}

/// What a plan takes if its packets last as long as the problem says.
pub fn time_ns(problem: &Problem<'_>, plan: &Plan, table: &CostTable) -> u64 {
    let durations: Vec<u32> = problem.nodes().map(|node| problem.cost(node)).collect();
    Trial::new(problem, table).play(&Packets::of(plan), &durations)
}

const NONE: u32 = u32::MAX;
const OPEN: u64 = u64::MAX;

/// A packet of a lane.
struct Packet {
    /// `NONE` for a barrier-AND.
    node: u32,
    barrier: bool,
    /// Whether it acquires anything.
    acquires: bool,
    /// Where its waits end; they start where those of the packet before it end.
    waits_end: u32,
}

/// The packets that a launch publishes for a plan, in one list, lane by lane.
struct Packets {
    packets: Vec<Packet>,
    /// Packets that packets wait for, by place in the list.
    waits: Vec<u32>,
    /// Where each lane begins and ends.
    lanes: Vec<(u32, u32)>,
}

impl Packets {
    fn of(plan: &Plan) -> Self {
        let entry = fences::has_marker(plan);
        let mut acquired = Acquired::at_entry(plan);
        // By lane and position.
        let mut place_of: Vec<Vec<u32>> = Vec::with_capacity(plan.lanes.len());
        let mut lanes = Vec::with_capacity(plan.lanes.len());
        let mut end = 0;
        for (number, lane) in plan.lanes.iter().enumerate() {
            let start = end;
            // A marker on the first lane lets the others begin.
            end += u32::from(lane.entry || entry && number == 0);
            let places = (0..).zip(&lane.steps).map(|(at, step)| {
                let fence = u32::from(step.action == Action::Fence);
                // CAST: waits are at most as many as nodes, and a plan has fewer than 2^32 packets.
                end += step.barrier_ands(lane.waits(at).len()) as u32 + 1 - fence;
                end - 1
            });
            place_of.push(places.collect());
            lanes.push((start, end));
        }
        let mut this = Self { packets: Vec::with_capacity(end as usize), waits: Vec::new(), lanes };
        for (number, lane) in (0..).zip(&plan.lanes) {
            if entry && number == 0 {
                this.push(NONE, fences::MARKER.barrier, fences::MARKER.acquire != Scope::None);
            }
            if lane.entry {
                this.waits.push(0);
                this.push(NONE, false, false);
            }
            for (at, step) in (0..).zip(&lane.steps) {
                let places =
                    lane.waits(at).iter().map(|wait| place_of[wait.lane as usize][wait.position as usize]);
                let waits: SmallVec<[u32; 8]> = places.collect();
                let (node, own) = match step.action {
                    Action::Node(node) => (node, 0),
                    Action::Fence => (NONE, waits.len().min(SIGNALS_PER_BARRIER_AND)),
                };
                let (own, others) = waits.split_at(own);
                for some in others.chunks(SIGNALS_PER_BARRIER_AND) {
                    this.waits.extend(some);
                    this.push(NONE, fences::WAIT.barrier, fences::WAIT.acquire != Scope::None);
                }
                this.waits.extend(own);
                let acquires = acquired.acquires(plan, StepRef { lane: number, position: at });
                this.push(node, step.barrier, acquires);
            }
        }
        this
    }

    /// Appends a packet whose waits are there.
    fn push(&mut self, node: u32, barrier: bool, acquires: bool) {
        // CAST: a plan has fewer than 2^32 waits.
        self.packets.push(Packet { node, barrier, acquires, waits_end: self.waits.len() as u32 });
    }

    fn waits(&self, packet: u32) -> &[u32] {
        let start = packet.checked_sub(1).map_or(0, |before| self.packets[before as usize].waits_end);
        &self.waits[start as usize..self.packets[packet as usize].waits_end as usize]
    }
}

/// A lane's progress.
#[derive(Clone, Copy, Default)]
struct Progress {
    next: u32,
    end: u32,
    /// Kernels that have launched and not completed.
    running: u32,
    /// When the packet before launched.
    turn: u64,
    /// When the latest kernel completed, and what follows a completion has passed.
    drained: u64,
}

impl Progress {
    /// When the next packet may launch, as far as its lane and its signals say, and has acquired; `OPEN` if that depends on
    /// what is to come.
    fn ready(&self, packets: &Packets, fired: &[u64], way: u64, acquire: u64) -> u64 {
        if self.next == self.end {
            return OPEN;
        }
        let mut at = self.turn;
        let packet = &packets.packets[self.next as usize];
        if packet.barrier {
            if self.running > 0 {
                return OPEN;
            }
            at = at.max(self.drained);
        }
        for &wait in packets.waits(self.next) {
            match fired[wait as usize] {
                OPEN => return OPEN,
                fired => at = at.max(fired + way),
            }
        }
        if packet.acquires { at + acquire } else { at }
    }
}

/// A kernel that has all compute units that it can use. The first to end is the greatest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Running {
    end: Reverse<u64>,
    packet: u32,
    lane: u32,
    units: u32,
}

/// A kernel that has fewer units than it can use.
struct Short {
    packet: u32,
    lane: u32,
    wanted: u32,
    granted: u32,
    /// Units times nanoseconds that were left to do at `since`.
    left: u64,
    since: u64,
}

impl Short {
    /// When it ends if it keeps what it has; `OPEN` without a unit.
    fn end(&self) -> u64 {
        if self.granted == 0 { OPEN } else { self.since + self.left.div_ceil(u64::from(self.granted)) }
    }
}

/// What a play needs, kept from one to the next.
struct Trial<'p> {
    problem: &'p Problem<'p>,
    table: &'p CostTable,
    /// What a signal takes on its way: a crossing less the launch of the barrier packet.
    way: u64,
    /// What an acquire takes.
    acquire: u64,
    lanes: Vec<Progress>,
    /// By lane: when its next packet may launch; `OPEN` while that depends on completions to come.
    ready: Vec<u64>,
    /// By packet: when it completed.
    fired: Vec<u64>,
    running: BinaryHeap<Running>,
    /// By start. Only the first has units, as units go to what started first.
    short: VecDeque<Short>,
    free_units: u32,
}

impl<'p> Trial<'p> {
    fn new(problem: &'p Problem<'p>, table: &'p CostTable) -> Self {
        Self {
            problem,
            table,
            way: u64::from(table.way_ns()),
            acquire: u64::from(table.acquire_ns),
            lanes: Vec::new(),
            ready: Vec::new(),
            fired: Vec::new(),
            running: BinaryHeap::new(),
            short: VecDeque::new(),
            free_units: 0,
        }
    }

    /// What a launch takes.
    fn play(&mut self, packets: &Packets, durations: &[u32]) -> u64 {
        let packet_ns = u64::from(self.table.packet_ns);
        self.free_units = self.table.compute_units.max(1);
        self.fired.clear();
        self.fired.resize(packets.packets.len(), OPEN);
        self.lanes.clear();
        let lanes = packets.lanes.iter();
        self.lanes.extend(lanes.map(|&(next, end)| Progress { next, end, ..Progress::default() }));
        self.ready.clear();
        self.ready
            .extend(self.lanes.iter().map(|lane| lane.ready(packets, &self.fired, self.way, self.acquire)));
        let (mut dispatcher, mut end) = (0, 0);
        loop {
            // Of lanes that the dispatcher keeps waiting, the one that has waited longest is next.
            let (mut ready, mut lane) = (OPEN, 0);
            for (other, &at) in self.ready.iter().enumerate() {
                if at < ready {
                    (ready, lane) = (at, other);
                }
            }
            let now = ready.max(dispatcher);
            let completion = self.completion();
            if completion <= now {
                if completion == OPEN {
                    return end;
                }
                end = completion;
                self.complete(packets, end);
                continue;
            }
            let progress = &mut self.lanes[lane];
            let packet = progress.next;
            dispatcher = now + packet_ns;
            progress.next += 1;
            progress.turn = now;
            match packets.packets[packet as usize].node {
                NONE => {
                    self.fired[packet as usize] = now;
                    end = end.max(now);
                    self.look_again(packets);
                }
                node => {
                    progress.running += 1;
                    self.start(packet, lane as u32, now, durations[node as usize], self.problem.units(node));
                }
            }
            self.ready[lane] = self.lanes[lane].ready(packets, &self.fired, self.way, self.acquire);
        }
    }

    /// When the next kernel is done; `OPEN` if none runs.
    fn completion(&self) -> u64 {
        let running = self.running.peek().map_or(OPEN, |kernel| kernel.end.0);
        self.short.front().map_or(running, |kernel| running.min(kernel.end()))
    }

    /// Looks which lanes need wait no longer.
    fn look_again(&mut self, packets: &Packets) {
        for (lane, ready) in self.lanes.iter().zip(&mut self.ready).filter(|(_, ready)| **ready == OPEN) {
            *ready = lane.ready(packets, &self.fired, self.way, self.acquire);
        }
    }

    /// Gives a kernel the units that are free.
    fn start(&mut self, packet: u32, lane: u32, since: u64, duration: u32, units: u32) {
        let wanted = units.clamp(1, self.table.compute_units.max(1));
        let granted = wanted.min(self.free_units);
        self.free_units -= granted;
        if granted == wanted || duration == 0 {
            let end = Reverse(since + u64::from(duration));
            self.running.push(Running { end, packet, lane, units: granted });
        } else {
            let left = u64::from(duration) * u64::from(wanted);
            self.short.push_back(Short { packet, lane, wanted, granted, left, since });
        }
    }

    /// Ends the kernels that are done, and gives their units to those that have too few, by start.
    fn complete(&mut self, packets: &Packets, now: u64) {
        let done = |kernel: &PeekMut<'_, Running>| kernel.end.0 <= now;
        while let Some(Running { packet, lane, units, .. }) =
            self.running.peek_mut().filter(done).map(PeekMut::pop)
        {
            self.end(packet, lane, units, now);
        }
        if let Some(done) = self.short.pop_front_if(|kernel| kernel.end() <= now) {
            self.end(done.packet, done.lane, done.granted, now);
        }
        while self.free_units > 0
            && let Some(kernel) = self.short.front_mut()
        {
            kernel.left = kernel.left.saturating_sub((now - kernel.since) * u64::from(kernel.granted));
            kernel.since = now;
            let more = (kernel.wanted - kernel.granted).min(self.free_units);
            kernel.granted += more;
            self.free_units -= more;
            if kernel.granted == kernel.wanted {
                let Short { packet, lane, wanted: units, .. } = *kernel;
                self.running.push(Running { end: Reverse(kernel.end()), packet, lane, units });
                self.short.pop_front();
            }
        }
        self.look_again(packets);
    }

    /// Ends a kernel.
    fn end(&mut self, packet: u32, lane: u32, units: u32, now: u64) {
        self.free_units += units;
        self.fired[packet as usize] = now;
        let lane = &mut self.lanes[lane as usize];
        lane.running -= 1;
        lane.drained = now + u64::from(self.table.dependent_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Candidate, Class, candidate, cost, plan};
    use crate::template::Csr;

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
        // The first packet acquires; the fence that ends the launch drains, and acquires.
        let drain = u64::from(table.dependent_ns + 2 * table.acquire_ns);
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
            assert_eq!(best(&problem, &table, plans, Vec::new()).candidate, kinds[0]);
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
