//! What no plan can beat.

use super::chains::Chains;
use super::cost::CostTable;
use super::reduce::{Effort, transitive_reduction};
use super::{Class, Problem};

/// Lower bounds for the plans of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The longest path: durations, and the least time between a completion and a start that needs it.
    pub critical_path_ns: u64,
    /// The sum of the durations of the packet nodes.
    pub work_ns: u64,
    /// The number of packet nodes.
    pub packets: usize,
    /// The number of packet nodes of the device that has the most.
    pub packets_of_busiest: usize,
}

impl Bounds {
    /// Computes the bounds in linear time.
    pub fn of(problem: &Problem<'_>, table: &CostTable) -> Self {
        Self::with(problem, table, |node| problem.cost(node))
    }

    /// The bounds for the durations by which plans are compared.
    pub(super) fn weighed(problem: &Problem<'_>, table: &CostTable) -> Self {
        Self::with(problem, table, |node| problem.weight(node))
    }

    fn with(problem: &Problem<'_>, table: &CostTable, cost: impl Fn(u32) -> u32) -> Self {
        if problem.all_packets && problem.device_count == 1 {
            return Self::of_packets(problem, table, cost);
        }
        let mut bounds = Self { critical_path_ns: 0, work_ns: 0, packets: 0, packets_of_busiest: 0 };
        let mut packets_of = vec![0; problem.device_count];
        // When each node completes at the earliest; nothing for a join without work before it.
        let mut finish: Vec<Option<u64>> = Vec::with_capacity(problem.len());
        for node in problem.nodes() {
            let class = problem.class(node);
            let after = |&pred: &u32| {
                let gap = match (problem.class(pred), class) {
                    // What a join stands for is not looked up: the gap behind it is the least there can be.
                    (_, Class::Join)
                    | (Class::Host | Class::Join, Class::Host)
                    | (Class::Engine(_) | Class::Join, Class::Engine(_)) => 0,
                    (Class::Packet | Class::Engine(_), Class::Host) => table.host_wake_ns,
                    (Class::Host | Class::Engine(_), Class::Packet) => table.across_ns(),
                    (Class::Host | Class::Packet, Class::Engine(_)) => table.cross_queue_ns,
                    (Class::Packet, Class::Packet) if problem.device(pred) != problem.device(node) => {
                        table.across_ns()
                    }
                    (Class::Packet | Class::Join, Class::Packet) => table.behind_ns().min(table.across_ns()),
                };
                Some(finish[pred as usize]? + u64::from(gap))
            };
            let start = problem.preds.row(node).iter().filter_map(after).max();
            if class == Class::Join {
                finish.push(start);
                continue;
            }
            let cost = u64::from(cost(node));
            let end = start.unwrap_or(0) + cost;
            finish.push(Some(end));
            bounds.critical_path_ns = bounds.critical_path_ns.max(end);
            if class == Class::Packet {
                bounds.work_ns += cost;
                bounds.packets += 1;
                packets_of[usize::from(problem.device(node))] += 1;
            }
        }
        bounds.packets_of_busiest = packets_of.into_iter().max().unwrap_or(0);
        bounds
    }

    /// As [`Bounds::with`], for packets of one device.
    fn of_packets(problem: &Problem<'_>, table: &CostTable, cost: impl Fn(u32) -> u32) -> Self {
        let gap = u64::from(table.behind_ns().min(table.across_ns()));
        let packets = problem.len();
        let (mut critical_path_ns, mut work_ns) = (0, 0);
        // When what comes behind each node may start at the earliest.
        let mut free: Vec<u64> = Vec::with_capacity(packets);
        for node in problem.nodes() {
            let start = problem.preds.row(node).iter().map(|&pred| free[pred as usize]).max().unwrap_or(0);
            let cost = u64::from(cost(node));
            critical_path_ns = critical_path_ns.max(start + cost);
            work_ns += cost;
            free.push(start + cost + gap);
        }
        Self { critical_path_ns, work_ns, packets, packets_of_busiest: packets }
    }

    /// The shortest time that any plan can take: the critical path, or the launching of a device's packets one by one.
    pub fn makespan_ns(&self, table: &CostTable) -> u64 {
        self.critical_path_ns.max(self.packets_of_busiest as u64 * u64::from(table.packet_ns))
    }

    /// The shortest time with `lanes` queues in all that each run one packet at a time.
    pub fn in_order_ns(&self, lanes: usize) -> u64 {
        self.critical_path_ns.max(self.work_ns.div_ceil(lanes.max(1) as u64))
    }
}

/// The fewest waits across lanes for packet nodes, if no two independent packets may share a lane and lanes are free:
/// edges of the transitive reduction less a maximum matching of them (Nimble, NeurIPS 2020).
///
/// Nothing where it is not known exactly: in graphs with joins, and where the reduction was cut short.
pub fn fewest_syncs(problem: &Problem<'_>) -> Option<usize> {
    let reduced = transitive_reduction(problem, Effort::Thorough);
    if !reduced.exact || problem.classes.contains(&Class::Join) {
        return None;
    }
    let chains = Chains::of(problem, &reduced, Effort::Thorough);
    let is_packet =
        |&(to, from): &(u32, u32)| problem.class(to) == Class::Packet && problem.class(from) == Class::Packet;
    Some(reduced.preds.pairs().filter(is_packet).count() - chains.links())
}
