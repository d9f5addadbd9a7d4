//! How long a plan should take by the cost table: one pass in publication order, in virtual time.
//!
//! Compute units are taken to be plenty; what is modelled is what distinguishes plans of one graph: launching packets
//! one by one, draining before a barrier bit, signals between lanes.

use super::Problem;
use super::cost::CostTable;
use super::plan::{Action, Candidate, Lane, LaneKind, Plan};

/// The plan, labelled and with its estimate; closed by a barrier bit instead of a fence where that is faster.
pub(super) fn with_estimate(
    mut plan: Plan,
    candidate: Candidate,
    problem: &Problem<'_>,
    table: &CostTable,
) -> Plan {
    plan.candidate = candidate;
    plan.estimate_ns = estimate(&plan, problem, table);
    if plan.close_by_barrier() {
        let closed = estimate(&plan, problem, table);
        if closed <= plan.estimate_ns {
            plan.estimate_ns = closed;
        } else {
            plan.close_by_fence();
        }
    }
    plan
}

/// A lane's progress.
#[derive(Default)]
struct Progress {
    /// When the packet processor turns to the next packet.
    free: u64,
    /// When everything so far has completed.
    drained: u64,
    /// When each step completes.
    done: Vec<u64>,
}

fn estimate(plan: &Plan, problem: &Problem<'_>, table: &CostTable) -> u64 {
    if let [queue] = &plan.lanes[..] {
        return estimate_queue(queue, problem, table);
    }
    let progress =
        |lane: &Lane| Progress { done: Vec::with_capacity(lane.steps.len()), ..Progress::default() };
    let mut lanes: Vec<Progress> = plan.lanes.iter().map(progress).collect();
    // By device: each has a packet processor of its own.
    let mut packets = vec![0u64; problem.device_count];
    for &at in plan.order() {
        let (step, waits) = (plan.step(at), plan.waits(at));
        let lane = &plan.lanes[at.lane as usize];
        let is_queue = lane.kind == LaneKind::Queue;
        let wakes = lane.kind == LaneKind::Host;
        let crossing = u64::from(if wakes { table.host_wake_ns } else { table.cross_queue_ns });
        let signalled =
            waits.iter().map(|wait| lanes[wait.lane as usize].done[wait.position as usize] + crossing);
        let signalled = signalled.max().unwrap_or(if lane.entry && at.position == 0 { crossing } else { 0 });
        let progress = &mut lanes[at.lane as usize];
        let mut start = progress.free.max(signalled);
        if step.barrier && at.position > 0 {
            let drain = if is_queue { table.dependent_ns } else { 0 };
            start = start.max(progress.drained + u64::from(drain));
        }
        let work = match step.action {
            Action::Node(node) => u64::from(problem.weight(node)),
            Action::Fence => 0,
        };
        if is_queue {
            let barrier_ands = step.barrier_ands(waits.len()) as u64;
            let own = barrier_ands + u64::from(step.action != Action::Fence);
            packets[usize::from(lane.device)] += own;
            progress.free = start + own * u64::from(table.packet_ns);
        }
        let done = start + work;
        progress.drained = progress.drained.max(done);
        progress.done.push(done);
    }
    let drained = lanes.iter().map(|lane| lane.drained).max().unwrap_or(0);
    drained.max(packets.into_iter().max().unwrap_or(0) * u64::from(table.packet_ns))
}

/// As [`estimate`], for one queue alone, in which no step waits for another lane.
fn estimate_queue(queue: &Lane, problem: &Problem<'_>, table: &CostTable) -> u64 {
    let (packet, dependent) = (u64::from(table.packet_ns), u64::from(table.dependent_ns));
    let (mut free, mut drained) = (0u64, 0u64);
    for (at, step) in queue.steps.iter().enumerate() {
        let mut start = free;
        if step.barrier && at > 0 {
            start = start.max(drained + dependent);
        }
        let work = match step.action {
            Action::Node(node) => u64::from(problem.weight(node)),
            Action::Fence => 0,
        };
        free = start + packet;
        drained = drained.max(start + work);
    }
    drained.max(queue.steps.len() as u64 * packet)
}
