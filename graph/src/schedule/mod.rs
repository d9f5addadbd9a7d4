//! From a flat graph to lanes: which node runs on which queue, in which order, with the fewest barriers and waits.
//!
//! # What is assumed of a queue
//! HSA Runtime 1.2, 2.9 and the HSA Platform System Architecture it refers to, in the words used here. A *step* is one
//! packet that does work, with the barrier-AND packets put before it.
//!
//! 1. A packet processor launches the packets of one queue in order; a launched packet runs, and later packets may
//!    launch and run beside it.
//! 2. A packet whose **barrier bit** is set launches only after every earlier packet of its queue has completed.
//! 3. A **barrier-AND** packet occupies the packet processor until all of its up to five signals were seen at 0; no
//!    later packet of the queue launches before that. Without the barrier bit it does not wait for earlier packets.
//! 4. A packet's completion signal is decremented when the packet has completed.
//!
//! Starts are therefore totally ordered within a lane, completions are not. Knowing that a step has *started* means
//! knowing everything that held back it or any step before it in its lane; knowing that a step has *completed* says
//! nothing about its neighbours unless a barrier bit stands between. The planner and [`check()`] both rest on
//! this, and share nothing else.
//!
//! Host nodes run on a worker thread, one after the other: a lane of its own kind in which every step is a barrier.
//! A copy engine of a device is such a lane, too. HSA promises no order among asynchronous copies, so a launch lets each
//! step wait for the signal of the step before it. Which copies are for engines, [`engines`] says. Joins are points in the order only: no step stands for them.
//!
//! A queue belongs to a device, and a packet runs on a queue of its own device alone. Nothing else is different with
//! several devices: an edge between two of them is a wait for a signal, as between any two lanes.
//!
//! # Which plans are tried
//! | candidate | idea |
//! |---|---|
//! | [`Candidate::Levels`] | one queue of each device; antichains by longest path from the roots, a barrier bit between levels, no signals but between devices |
//! | [`Candidate::Balanced`] | the same, but packets of like durations share levels, as far as the order allows |
//! | [`Candidate::HostDepth`] | the same, but packets that no host node and no copy engine holds back come first |
//! | [`Candidate::Serial`] | one queue of each device, level by level, every packet behind the one before it |
//! | [`Candidate::Strict`] | Nimble's chains list-scheduled onto `k` queues of each device, each strictly in order, the unique fewest waits |
//! | [`Candidate::Relaxed`] | the same lanes with barrier bits only where a dependency within the lane needs one |
//! | [`Candidate::LevelLanes`] | Nimble's chains spread over `k` queues of each device, each queue level by level |
//! | [`Candidate::Turns`] | the nodes of each level in turn on `k` queues of each device, each queue level by level |
//! | [`Candidate::Streams`] | the queues and the order of a release of AMD's ([`Policy`]), with the fewest waits and barrier bits |
//! | [`Candidate::Published`] | the same with the waits and the barrier bits that it would have |
//! | [`Candidate::Frugal`] | one queue of each device, in an order that needs few bytes; for [`memory::plan_within`] alone |
//! | [`Candidate::Urgency`] | a queue of each device for each class of urgency, level by level |
//!
//! The [`CostTable`] chooses; where nodes of different urgency may run at the same time, it is `Urgency`. Candidates with several queues are tried only when the bounds leave room for a gain.
//! Graphs of packets of one device are played by events: small ones whose durations are unknown, with several sets of
//! durations, and all whose durations are known. Others are compared by one pass over each plan.
//!
//! ```
//! use aqlipse_graph::Csr;
//! use aqlipse_graph::schedule::{Class, CostTable, Problem, check, plan};
//!
//! // A diamond of four packets of 5 us each: 0 before 1 and 2, both before 3.
//! let preds = Csr::from_pairs(4, [(1, 0), (2, 0), (3, 1), (3, 2)].into_iter());
//! let succs = preds.transposed();
//! let problem = Problem::new(&preds, &succs, &[Class::Packet; 4], &[5_000; 4])?;
//! let plan = plan(&problem, 1, &CostTable::default());
//! check(&problem, &plan)?;
//! // One queue, no signals; 1 and 2 run side by side.
//! assert_eq!((plan.counts().barrier_bits, plan.counts().signals), (3, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Bodies of conditional nodes
//! They are not planned: [`body::order`] takes the levels of [`Candidate::Levels`] on one queue, cut where the host or a
//! nested node comes in.
//!
//! # Cost of planning
//! One-lane plans take O(nodes + edges). Several lanes take O(nodes (log nodes + lanes) + edges lanes) and a maximum
//! matching, O(edges sqrt(nodes)) at worst. The checker takes O((nodes + edges + waits) lanes).

pub mod body;
pub mod bounds;
pub mod chains;
pub mod check;
pub mod cost;
mod emit;
pub mod engines;
mod estimate;
pub(crate) mod fences;
mod guess;
mod lanes;
mod levels;
pub mod memory;
mod needed;
pub mod plan;
pub mod policy;
pub mod reduce;
mod trial;
mod urgency;

#[cfg(test)]
mod tests;

pub use trial::time_ns;

pub use bounds::Bounds;
pub use check::{Fault, check, check_urgency};
pub use cost::{CostFile, CostTable};
pub use plan::{Action, Candidate, Lane, LaneKind, Plan, Policy, Step, StepRef};

use crate::template::Csr;
use chains::Chains;
use emit::Style;
use levels::Levels;
use reduce::Effort;

/// More queues of a device than this are never used: two already saturate the packet processors measured so far.
pub const MAX_LANES: usize = 8;

/// More queues of all devices together than this are never used.
const MAX_QUEUES: usize = 128;

/// A graph can be spread over this many devices.
pub const MAX_DEVICES: usize = MAX_QUEUES;

/// Up to this many nodes all candidates are made in full. In larger graphs the search for redundant edges and for links of
/// chains is cut short; if durations are guessed, a list schedule that would be slower than the best plan so far if its
/// lanes ran one packet at a time is not pursued, so that planning stays linear and quick.
const SEARCHED_FULLY: usize = 512;

/// Edges that joins may stand for, if they are not few anyway, in a graph that is laid out as AMD's releases do.
const JOINED_PAIRS: usize = 1 << 20;

/// How a node is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// By a packet in a queue.
    Packet,
    /// By the host's worker thread.
    Host,
    /// By the copy engine with this number of the node's device.
    Engine(u8),
    /// Not at all: a point in the order.
    Join,
}

/// Why a scheduling problem is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Adjacency, classes and costs are of different lengths.
    #[error("{nodes} nodes, but {found} entries in one of the tables")]
    LengthMismatch {
        /// Rows of the predecessor table.
        nodes: usize,
        /// Entries of the table that differs.
        found: usize,
    },
    /// The nodes are not numbered in topological order.
    #[error("the edge {from} -> {to} does not lead to a greater number")]
    NotTopological {
        /// The node that runs first.
        from: u32,
        /// The node that waits.
        to: u32,
    },
    /// The devices of the packet nodes are not numbered from 0 without gaps, or are more than [`MAX_DEVICES`].
    #[error("the devices of the packets are not 0 to {0}")]
    Devices(u16),
}

/// A DAG to be scheduled, its nodes numbered in topological order.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    preds: &'a Csr,
    succs: &'a Csr,
    classes: &'a [Class],
    costs: &'a [u32],
    /// By node; empty if there is one device.
    devices: &'a [u16],
    device_count: usize,
    /// Whether each node is a packet, as of most graphs.
    all_packets: bool,
    /// Whether the costs are guesses.
    guessed: bool,
    /// By node; empty if all are equally urgent.
    urgencies: &'a [u8],
    /// By node; empty if unknown.
    units: &'a [u32],
}

impl<'a> Problem<'a> {
    /// States a problem: per node its predecessors, successors, class and expected duration in nanoseconds.
    ///
    /// A join's duration is of no account.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::NotTopological`].
    pub fn new(
        preds: &'a Csr,
        succs: &'a Csr,
        classes: &'a [Class],
        costs: &'a [u32],
    ) -> Result<Self, Error> {
        let nodes = preds.len();
        for found in [succs.len(), classes.len(), costs.len()] {
            if found != nodes {
                return Err(Error::LengthMismatch { nodes, found });
            }
        }
        // CAST: as `Problem::nodes`.
        for to in 0..nodes as u32 {
            if let Some(&from) = preds.row(to).iter().find(|&&from| from >= to) {
                return Err(Error::NotTopological { from, to });
            }
        }
        Ok(Self {
            preds,
            succs,
            classes,
            costs,
            devices: &[],
            device_count: 1,
            all_packets: classes.iter().all(|class| *class == Class::Packet),
            guessed: false,
            urgencies: &[],
            units: &[],
        })
    }

    /// Says that the durations are unknown: those given are guesses. Plans are made with them, but compared as if each
    /// node took something between a quarter and four times its own, so that of two plans that are as good while all
    /// kernels take equally long, the one is chosen that is better when they do not.
    pub fn with_guessed_durations(self) -> Self {
        Self { guessed: true, ..self }
    }

    /// Spreads the packet nodes and those of copy engines over several devices: a number for each node, of meaning for
    /// these only. The launch ends on device 0.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::Devices`].
    pub fn on_devices(self, devices: &'a [u16]) -> Result<Self, Error> {
        if devices.len() != self.len() {
            return Err(Error::LengthMismatch { nodes: self.len(), found: devices.len() });
        }
        let on_device = |node: &u32| matches!(self.class(*node), Class::Packet | Class::Engine(_));
        let packets = || self.nodes().filter(on_device);
        let top = packets().map(|node| devices[node as usize]).max().unwrap_or(0);
        let mut found = vec![false; usize::from(top) + 1];
        packets().for_each(|node| found[usize::from(devices[node as usize])] = true);
        let gap = packets().next().is_some() && found.contains(&false);
        if gap || found.len() > MAX_DEVICES {
            return Err(Error::Devices(top));
        }
        let devices = if top == 0 { &[] } else { devices };
        Ok(Self { devices, device_count: usize::from(top) + 1, ..self })
    }

    /// Sorts the packet nodes into classes of urgency: a number for each node, of meaning for packet nodes only. Two of
    /// different classes that may run at the same time are put on different lanes, if there are several.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`].
    pub fn with_urgencies(self, urgencies: &'a [u8]) -> Result<Self, Error> {
        if urgencies.len() != self.len() {
            return Err(Error::LengthMismatch { nodes: self.len(), found: urgencies.len() });
        }
        Ok(Self { urgencies, ..self })
    }

    /// Says how many compute units of its device each packet node takes while it has all that it can use: at least 1;
    /// more than the device has count as all. Nodes of which nothing is said take one.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`].
    pub fn with_units(self, units: &'a [u32]) -> Result<Self, Error> {
        if units.len() != self.len() {
            return Err(Error::LengthMismatch { nodes: self.len(), found: units.len() });
        }
        Ok(Self { units, ..self })
    }

    /// The compute units that a packet node can use.
    ///
    /// # Panics
    /// When there is no such node, if units are known.
    pub fn units(&self, node: u32) -> u32 {
        if self.units.is_empty() { 1 } else { self.units[node as usize].max(1) }
    }

    /// Whether [`plan()`] would look at compute units if it knew them: not in large graphs, nor where nothing can run
    /// beside anything else.
    pub fn weighs_units(&self) -> bool {
        let alone =
            |node| self.succs.row(node).len() <= 1 && self.preds.row(node).len() == usize::from(node > 0);
        self.len() <= SEARCHED_FULLY && self.is_plain() && !self.nodes().all(alone)
    }

    /// Whether all is packets of one device, and points in their order.
    fn is_plain(&self) -> bool {
        self.device_count == 1 && !self.has_asides()
    }

    /// Whether a node runs beside the queues: a call on the host, a copy by an engine.
    fn is_aside(&self, node: u32) -> bool {
        matches!(self.class(node), Class::Host | Class::Engine(_))
    }

    /// Whether any node runs beside the queues.
    fn has_asides(&self) -> bool {
        !self.all_packets && self.nodes().any(|node| self.is_aside(node))
    }

    /// Device and number of each copy engine that a node needs, ascending.
    fn engines(&self) -> Vec<(u16, u8)> {
        let mut engines: Vec<(u16, u8)> = Vec::new();
        if !self.all_packets {
            engines.extend(self.nodes().filter_map(|node| match self.class(node) {
                Class::Engine(engine) => Some((self.device(node), engine)),
                _ => None,
            }));
            engines.sort_unstable();
            engines.dedup();
        }
        engines
    }

    /// The class of urgency of a packet node.
    fn urgency(&self, node: u32) -> u8 {
        self.urgencies.get(node as usize).copied().unwrap_or(0)
    }

    /// Which packet nodes may run at the same time as one of another class of urgency; in large graphs all, if there are
    /// several classes.
    pub fn contested(&self) -> Vec<bool> {
        urgency::contested(self)
    }

    /// The number of devices.
    pub fn device_count(&self) -> usize {
        self.device_count
    }

    /// The device of a packet node, or of one of a copy engine.
    fn device(&self, node: u32) -> u16 {
        // Most graphs have one device.
        self.devices.get(node as usize).copied().unwrap_or(0)
    }

    /// How many queues each device may have, if `lanes` are wanted.
    fn lanes_each(&self, lanes: usize) -> usize {
        lanes.clamp(1, MAX_LANES).min(MAX_QUEUES / self.device_count).max(1)
    }

    /// The nodes in an order, on one queue of each device.
    fn on_one_lane_each(&self, order: &[u32], style: Style) -> Plan {
        if self.devices.is_empty() {
            return emit::emit(self, order, None, &[0], style);
        }
        // CAST: there are at most MAX_DEVICES.
        let lane_of: Vec<u8> = self.nodes().map(|node| self.device(node) as u8).collect();
        let queues: Vec<u16> = (0..self.device_count as u16).collect();
        emit::emit(self, order, Some(&lane_of), &queues, style)
    }

    /// The number of nodes, joins included.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is nothing to schedule.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// How a node is executed.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn class(&self, node: u32) -> Class {
        self.classes[node as usize]
    }

    /// Expected duration of a node in nanoseconds; 0 for a join.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn cost(&self, node: u32) -> u32 {
        if self.class(node) == Class::Join { 0 } else { self.costs[node as usize] }
    }

    /// The duration of a node by which plans are compared.
    fn weight(&self, node: u32) -> u32 {
        let cost = self.cost(node);
        if self.guessed { guess::spread(node, cost) } else { cost }
    }

    /// What a node comes behind.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn preds_of(&self, node: u32) -> &[u32] {
        self.preds.row(node)
    }

    /// All nodes, in topological order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = u32> + Clone + use<> {
        0..self.len() as u32
    }
}

/// Plans a graph for at most `lanes` queues of each device (1 to [`MAX_LANES`]; other numbers count as the nearest).
pub fn plan(problem: &Problem<'_>, lanes: usize, table: &CostTable) -> Plan {
    let has_asides = problem.has_asides();
    let one_device = problem.device_count == 1;
    let levels = Levels::of(problem);
    if !problem.urgencies.is_empty()
        && let Some(order) = urgency::lanes(problem, &levels, problem.lanes_each(lanes))
    {
        return on_lanes(problem, &order, Candidate::Urgency, table);
    }
    let lanes = problem.lanes_each(lanes);
    let small = problem.len() <= SEARCHED_FULLY;
    let plain = problem.is_plain();
    let quick = problem.guessed && plain;
    // Nearly all graphs have packets that could be launched in a better order, if their durations were known. More lanes
    // would not be any faster at it: what they can gain is what levels wait for each other.
    let worth_lanes = quick
        && lanes > 1
        && if small {
            !levels.hold_each_other(problem)
        } else {
            table.worth_more_lanes(levels.slack_ns(problem))
        };
    let mut spread = None;
    if worth_lanes {
        let chains = Chains::by_level(problem, &levels);
        let links = chains.links();
        if !small || mostly_chains(problem, links) {
            let plan = level_lanes(problem, &chains, &levels, lanes, table);
            if mostly_chains(problem, links) && plan.estimate_ns() < levels.time_ns(problem, table) {
                return plan;
            }
            spread = Some((plan, links)).filter(|_| !small);
        }
    }
    let mut best = one_lane(problem, &levels, Candidate::Levels, table);
    if has_asides {
        let by_host_depth = Levels::by_host_depth(problem);
        best = cheaper(best, one_lane(problem, &by_host_depth, Candidate::HostDepth, table));
    } else if !levels::uniform(problem) {
        best =
            cheaper(best, one_lane(problem, &levels::balanced(problem, table), Candidate::Balanced, table));
    }
    if has_asides || !one_device {
        // What waits for many packets of another lane waits for a fence behind them; in a lane that is in order anyway
        // the last of them serves, and nothing that follows is held back by the fence.
        best = cheaper(best, one_lane(problem, &levels, Candidate::Serial, table));
    }
    let gain = || {
        let floor = Bounds::weighed(problem, table).makespan_ns(table);
        table.worth_more_lanes(best.estimate_ns().saturating_sub(floor))
    };
    let known = plain && !problem.guessed;
    if lanes == 1 && one_device || if quick { !worth_lanes } else { !known && !gain() } {
        return best;
    }
    if !small && !known {
        let (plan, links) = spread.unwrap_or_else(|| {
            let chains = Chains::by_level(problem, &levels);
            (level_lanes(problem, &chains, &levels, lanes, table), chains.links())
        });
        best = cheaper(best, plan);
        if mostly_chains(problem, links) {
            return best;
        }
    }
    let effort = if small { Effort::Thorough } else { Effort::Quick };
    let reduced = reduce::transitive_reduction(problem, effort);
    let chains = Chains::of(problem, &reduced, effort);
    if known || small && plain {
        let (several, published) = on_several(problem, &chains, levels, lanes, table);
        return trial::best(problem, table, std::iter::once(best).chain(several).collect(), published);
    }
    let mut widths = vec![2, lanes];
    if !one_device {
        // In another order, one lane of each device may do better.
        widths.insert(0, 1);
        widths.retain(|width| *width <= lanes);
    }
    widths.dedup();
    for width in widths {
        if small {
            let order = lanes::by_level(problem, &chains, width, &levels);
            best = cheaper(best, on_lanes(problem, &order, Candidate::LevelLanes, table));
        }
        let order = lanes::list_schedule(problem, &chains, width, table);
        if !small && problem.guessed && order.makespan_ns >= best.estimate_ns() {
            continue;
        }
        for kind in [Candidate::Strict, Candidate::Relaxed] {
            best = cheaper(best, on_lanes(problem, &order, kind, table));
        }
    }
    best
}

/// Makes one particular candidate, whether or not it is a good one.
pub fn candidate(problem: &Problem<'_>, kind: Candidate, lanes: usize, table: &CostTable) -> Plan {
    let on_one = |levels: Levels| one_lane(problem, &levels, kind, table);
    let favoured = || {
        let mut levels = Levels::of(problem);
        favour(problem, &mut levels);
        levels
    };
    let chains = || {
        let reduced = reduce::transitive_reduction(problem, Effort::Thorough);
        Chains::of(problem, &reduced, Effort::Thorough)
    };
    let lanes = problem.lanes_each(lanes);
    let order = match kind {
        Candidate::Levels | Candidate::Serial => return on_one(Levels::of(problem)),
        Candidate::Balanced => return on_one(levels::balanced(problem, table)),
        Candidate::HostDepth => return on_one(Levels::by_host_depth(problem)),
        // Without allocations nothing is frugal.
        Candidate::Frugal => return one_lane(problem, &Levels::of(problem), Candidate::Serial, table),
        Candidate::Strict | Candidate::Relaxed => lanes::list_schedule(problem, &chains(), lanes, table),
        Candidate::LevelLanes => lanes::by_level(problem, &chains(), lanes, &favoured()),
        Candidate::Turns => lanes::in_turn(problem, lanes, &favoured()),
        Candidate::Streams(policy) | Candidate::Published(policy) => {
            // PANIC: as many predecessors as there are.
            let preds = policy::through_joins(problem, usize::MAX).expect("predecessors");
            policy.lanes(problem, &preds, lanes)
        }
        Candidate::Urgency => {
            let levels = Levels::of(problem);
            match urgency::lanes(problem, &levels, lanes) {
                Some(order) => order,
                None => return on_one(levels),
            }
        }
    };
    on_lanes(problem, &order, kind, table)
}

/// Plans on several queues, one of which may be the best whatever the durations are; and what AMD's releases would launch.
fn on_several(
    problem: &Problem<'_>,
    chains: &Chains,
    mut levels: Levels,
    lanes: usize,
    table: &CostTable,
) -> (Vec<Plan>, Vec<Plan>) {
    favour(problem, &mut levels);
    let listed = lanes::list_schedule(problem, chains, lanes, table);
    let orders = [
        (&listed, Candidate::Relaxed),
        (&listed, Candidate::Strict),
        (&lanes::by_level(problem, chains, lanes, &levels), Candidate::LevelLanes),
        (&lanes::in_turn(problem, lanes, &levels), Candidate::Turns),
    ];
    let mut plans: Vec<Plan> = orders.map(|(order, kind)| on_lanes(problem, order, kind, table)).into();
    let mut published = Vec::new();
    let most = JOINED_PAIRS.max(8 * problem.preds.entries());
    if let Some(preds) = policy::through_joins(problem, most) {
        for policy in Policy::ALL {
            let order = policy.lanes(problem, &preds, lanes);
            // On one queue that is what is there already.
            if policy != Policy::OneQueue {
                plans.push(on_lanes(problem, &order, Candidate::Streams(policy), table));
            }
            published.push(on_lanes(problem, &order, Candidate::Published(policy), table));
        }
    }
    (plans, published)
}

/// If durations are unknown, orders the packets of each level by what is known: what needs them.
fn favour(problem: &Problem<'_>, levels: &mut Levels) {
    if problem.guessed && problem.is_plain() && problem.len() <= SEARCHED_FULLY {
        let ranks = needed::ranks(problem);
        levels.sort_each(|node| ranks[node as usize]);
    }
}

/// [`Candidate::LevelLanes`] of chains that are at hand.
fn level_lanes(
    problem: &Problem<'_>,
    chains: &Chains,
    levels: &Levels,
    lanes: usize,
    table: &CostTable,
) -> Plan {
    let order = lanes::by_level(problem, chains, lanes, levels);
    on_lanes(problem, &order, Candidate::LevelLanes, table)
}

/// Whether nearly all of a graph is chains: other orders of their nodes have little to find then.
fn mostly_chains(problem: &Problem<'_>, links: usize) -> bool {
    links >= problem.len() - problem.len() / 8
}

/// The plan of a kind that needs one queue of each device.
fn one_lane(problem: &Problem<'_>, levels: &Levels, kind: Candidate, table: &CostTable) -> Plan {
    let plan = match kind {
        Candidate::Levels if problem.is_plain() => levels.plan(problem),
        Candidate::Serial => problem.on_one_lane_each(&levels.nodes, Style::Strict),
        _ => problem.on_one_lane_each(&levels.nodes, Style::Relaxed),
    };
    estimate::with_estimate(plan, kind, problem, table)
}

/// The plan of a kind with several queues.
fn on_lanes(problem: &Problem<'_>, order: &lanes::Order, kind: Candidate, table: &CostTable) -> Plan {
    let style = match kind {
        Candidate::Strict => Style::Strict,
        Candidate::Published(_) => Style::Published,
        _ => Style::Relaxed,
    };
    let plan = emit::emit(problem, &order.nodes, Some(&order.lane_of), &order.queues, style);
    estimate::with_estimate(plan, kind, problem, table)
}

/// The plan with the smaller estimate; the first one if they are equal.
fn cheaper(first: Plan, second: Plan) -> Plan {
    if second.estimate_ns() < first.estimate_ns() { second } else { first }
}
