//! Chains merged onto a few lanes: list scheduling by longest remaining path, with the cost of crossing lanes.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::chains::Chains;
use super::cost::CostTable;
use super::levels::Levels;
use super::{Class, Problem};

/// Lanes beside the queues in a list schedule: the host's, and copy engines by their numbers, of all devices together.
const ASIDES: usize = 3;

/// An order of the nodes other than joins, and a lane for each packet node.
pub(super) struct Order {
    /// In topological order, by planned start.
    pub nodes: Vec<u32>,
    /// By node; of meaning for packets only.
    pub lane_of: Vec<u8>,
    /// The device of each lane that is used, at least one; the first is of device 0.
    pub queues: Vec<u16>,
    /// When the last node completes if every lane runs one node at a time.
    pub makespan_ns: u64,
}

/// The nodes level by level, each chain as a whole on the lane of its device that has the least to do.
pub(super) fn by_level(problem: &Problem<'_>, chains: &Chains, queues: usize, levels: &Levels) -> Order {
    let all_queues = queues * problem.device_count;
    let mut load = vec![0u64; all_queues];
    let mut lane_of = vec![0u8; problem.len()];
    for head in chains.heads().filter(|&head| problem.class(head) == Class::Packet) {
        let first = usize::from(problem.device(head)) * queues;
        // PANIC: there is at least one queue.
        let lane = (first..first + queues).min_by_key(|&lane| load[lane]).expect("a queue");
        let mut next = Some(head);
        while let Some(node) = next {
            // CAST: lanes are at most MAX_QUEUES.
            lane_of[node as usize] = lane as u8;
            load[lane] += u64::from(problem.cost(node)) + 1;
            next = chains.next(node);
        }
    }
    let queues = number_lanes(problem, &levels.nodes, &mut lane_of, all_queues);
    Order { nodes: levels.nodes.clone(), lane_of, queues, makespan_ns: 0 }
}

/// The nodes level by level, those of each level in turn on the lanes of their device, from the first on.
pub(super) fn in_turn(problem: &Problem<'_>, queues: usize, levels: &Levels) -> Order {
    let all_queues = queues * problem.device_count;
    let mut lane_of = vec![0u8; problem.len()];
    let mut next = vec![0; problem.device_count];
    for level in levels.each() {
        next.fill(0);
        for &node in level.iter().filter(|&&node| problem.class(node) == Class::Packet) {
            let device = usize::from(problem.device(node));
            // CAST: lanes are at most MAX_QUEUES.
            lane_of[node as usize] = (device * queues + next[device]) as u8;
            next[device] = (next[device] + 1) % queues;
        }
    }
    let queues = number_lanes(problem, &levels.nodes, &mut lane_of, all_queues);
    Order { nodes: levels.nodes.clone(), lane_of, queues, makespan_ns: 0 }
}

/// Places each ready node, longest remaining path first, where it starts earliest; of equal lanes on that of the node
/// before it in its chain. Each device has `queues` lanes.
pub(super) fn list_schedule(
    problem: &Problem<'_>,
    chains: &Chains,
    queues: usize,
    table: &CostTable,
) -> Order {
    let remaining = remaining_paths(problem, table);
    let mut pending: Vec<u32> = problem.nodes().map(|node| problem.preds.row(node).len() as u32).collect();
    let mut ready: BinaryHeap<(u64, Reverse<u32>)> = BinaryHeap::new();
    ready.extend(
        problem
            .nodes()
            .filter(|&node| pending[node as usize] == 0)
            .map(|node| (remaining[node as usize], Reverse(node))),
    );
    let mut placement = Placement::new(problem, queues, table);
    while let Some((_, Reverse(node))) = ready.pop() {
        placement.place(node, chains);
        for &succ in problem.succs.row(node) {
            pending[succ as usize] -= 1;
            if pending[succ as usize] == 0 {
                ready.push((remaining[succ as usize], Reverse(succ)));
            }
        }
    }
    placement.into_order()
}

/// From the start of each node to the end of the longest path behind it.
fn remaining_paths(problem: &Problem<'_>, table: &CostTable) -> Vec<u64> {
    let mut remaining = vec![0u64; problem.len()];
    for node in problem.nodes().rev() {
        let behind = problem.succs.row(node).iter().map(|&succ| remaining[succ as usize]).max().unwrap_or(0);
        let gap = if problem.class(node) == Class::Join { 0 } else { table.behind_ns() };
        remaining[node as usize] = behind + u64::from(problem.cost(node)) + u64::from(gap);
    }
    remaining
}

struct Placement<'p> {
    problem: &'p Problem<'p>,
    table: &'p CostTable,
    /// Of each device: those of device 0 come first, then those of device 1.
    queues: usize,
    /// Of all devices.
    all_queues: usize,
    /// When each lane is free; those beside the queues are the last.
    free: Vec<u64>,
    /// By node: when it has completed; of no meaning for joins.
    finish: Vec<u64>,
    /// By node; of no meaning for joins.
    lane_of: Vec<u8>,
    /// By node and lane, for joins only: when a node of that lane may start after the join.
    after_join: Vec<u64>,
    nodes: Vec<u32>,
    /// Scratch: by lane, when the node at hand may start there.
    at: Vec<u64>,
}

impl<'p> Placement<'p> {
    fn new(problem: &'p Problem<'p>, queues: usize, table: &'p CostTable) -> Self {
        let has_joins = problem.classes.contains(&Class::Join);
        let all_queues = queues * problem.device_count;
        Self {
            problem,
            table,
            queues,
            all_queues,
            free: vec![0; all_queues + ASIDES],
            finish: vec![0; problem.len()],
            lane_of: vec![0; problem.len()],
            after_join: vec![0; if has_joins { problem.len() * (all_queues + ASIDES) } else { 0 }],
            nodes: Vec::with_capacity(problem.len()),
            at: vec![0; all_queues + ASIDES],
        }
    }

    fn place(&mut self, node: u32, chains: &Chains) {
        self.earliest_starts(node);
        let (width, host) = (self.all_queues + ASIDES, self.all_queues);
        let lane = match self.problem.class(node) {
            Class::Join => {
                self.after_join[node as usize * width..][..width].copy_from_slice(&self.at);
                return;
            }
            Class::Host => host,
            Class::Engine(engine) => host + 1 + usize::from(engine) % (ASIDES - 1),
            Class::Packet => {
                let chained = chains.prev(node).map(|prev| self.lane_of[prev as usize] as usize);
                let first = usize::from(self.problem.device(node)) * self.queues;
                // PANIC: there is at least one queue.
                (first..first + self.queues)
                    .min_by_key(|&lane| (self.at[lane].max(self.free[lane]), Some(lane) != chained))
                    .expect("a queue")
            }
        };
        let start = self.at[lane].max(self.free[lane]);
        let finish = start + u64::from(self.problem.cost(node));
        self.finish[node as usize] = finish;
        // CAST: lanes are at most MAX_QUEUES and those beside them.
        self.lane_of[node as usize] = lane as u8;
        self.free[lane] = finish + if lane >= host { 0 } else { u64::from(self.table.behind_ns()) };
        self.nodes.push(node);
    }

    /// Fills `at`: when the predecessors of a node let it start on each lane.
    fn earliest_starts(&mut self, node: u32) {
        let Self { problem, table, all_queues, finish, lane_of, after_join, at, .. } = self;
        let host = *all_queues;
        let cross = u64::from(table.across_ns());
        at.fill(0);
        if problem.preds.row(node).is_empty() {
            // Lanes other than the first are held back by a signal when the launch begins.
            at[1..host].fill(cross);
            at[host + 1..].fill(cross);
        }
        for &pred in problem.preds.row(node) {
            if problem.class(pred) == Class::Join {
                let after = &after_join[pred as usize * (host + ASIDES)..][..host + ASIDES];
                for (at, after) in at.iter_mut().zip(after) {
                    *at = (*at).max(*after);
                }
                continue;
            }
            for (lane, at) in at.iter_mut().enumerate() {
                let gap = match (lane == lane_of[pred as usize] as usize, lane.cmp(&host)) {
                    (true, Ordering::Less) => u64::from(table.behind_ns()),
                    (true, _) => 0,
                    (false, Ordering::Equal) => u64::from(table.host_wake_ns),
                    (false, _) => cross,
                };
                *at = (*at).max(finish[pred as usize] + gap);
            }
        }
    }

    fn into_order(mut self) -> Order {
        let queues = number_lanes(self.problem, &self.nodes, &mut self.lane_of, self.all_queues);
        let makespan_ns = self.finish.iter().copied().max().unwrap_or(0);
        Order { nodes: self.nodes, lane_of: self.lane_of, queues, makespan_ns }
    }
}

/// Numbers the used lanes by first use, those of device 0 before all others; returns the device of each.
pub(super) fn number_lanes(
    problem: &Problem<'_>,
    nodes: &[u32],
    lane_of: &mut [u8],
    all_queues: usize,
) -> Vec<u16> {
    const UNUSED: u8 = u8::MAX;
    let mut number = vec![UNUSED; all_queues];
    let mut queues: Vec<u16> = Vec::new();
    let is_packet = |node: u32| problem.class(node) == Class::Packet;
    let home = |node: u32| problem.device(node) == 0;
    for first in [true, false] {
        for &node in nodes.iter().filter(|&&node| is_packet(node) && home(node) == first) {
            let number = &mut number[lane_of[node as usize] as usize];
            if *number == UNUSED {
                // CAST: lanes are at most MAX_QUEUES.
                *number = queues.len() as u8;
                queues.push(problem.device(node));
            }
        }
        if queues.is_empty() {
            queues.push(0);
        }
        if problem.device_count == 1 {
            break;
        }
    }
    for &node in nodes.iter().filter(|&&node| is_packet(node)) {
        let lane = &mut lane_of[node as usize];
        *lane = number[*lane as usize];
    }
    queues
}
