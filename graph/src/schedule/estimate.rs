//! How long a plan should take by the cost table: one pass in publication order, in virtual time.
//!
//! Compute units are taken to be plenty; what is modelled is what distinguishes plans of one graph: launching packets
//! one by one, draining before a barrier bit, acquires, signals between lanes, interrupts for the host.

use std::collections::HashSet;

use super::Problem;
use super::cost::CostTable;
use super::fences::{Acquired, OnlyQueue};
use super::plan::{Action, Candidate, Lane, LaneKind, Plan, StepRef};

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
    let mut acquired = Acquired::at_entry(plan);
    let interrupting = interrupting(plan);
    let mut end = 0;
    for &at in plan.order() {
        let (step, waits) = (plan.step(at), plan.waits(at));
        let lane = &plan.lanes[at.lane as usize];
        let is_queue = lane.kind == LaneKind::Queue;
        let crossing = u64::from(match lane.kind {
            LaneKind::Queue => table.across_ns(),
            LaneKind::Host => table.host_wake_ns,
            LaneKind::Engine(_) => table.cross_queue_ns,
        });
        let signalled =
            waits.iter().map(|wait| lanes[wait.lane as usize].done[wait.position as usize] + crossing);
        let signalled = signalled.max().unwrap_or(if lane.entry && at.position == 0 { crossing } else { 0 });
        let progress = &mut lanes[at.lane as usize];
        let mut start = progress.free.max(signalled);
        let acquire = u64::from(if is_queue && acquired.acquires(plan, at) { table.acquire_ns } else { 0 });
        if step.barrier && at.position > 0 {
            let drain = if is_queue { u64::from(table.dependent_ns) + acquire } else { 0 };
            start = start.max(progress.drained + drain);
        } else if at.position == 0 {
            start = start.max(acquire);
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
        let interrupt = if interrupting.contains(&at) { table.interrupt_ns } else { 0 };
        progress.drained = progress.drained.max(done + u64::from(interrupt));
        end = end.max(done);
        progress.done.push(done);
    }
    end.max(packets.into_iter().max().unwrap_or(0) * u64::from(table.packet_ns))
}

/// The steps of queues that the host waits for: their completions raise interrupts.
fn interrupting(plan: &Plan) -> HashSet<StepRef> {
    let host = plan.lanes.iter().filter(|lane| lane.kind == LaneKind::Host);
    host.flat_map(Lane::all_waits).copied().collect()
}

/// As [`estimate`], for one queue alone, in which no step waits for another lane.
fn estimate_queue(queue: &Lane, problem: &Problem<'_>, table: &CostTable) -> u64 {
    let [packet, dependent, acquire] = [table.packet_ns, table.dependent_ns, table.acquire_ns].map(u64::from);
    let mut acquired = OnlyQueue::default();
    let (mut free, mut drained) = (acquire, 0u64);
    for (at, step) in queue.steps.iter().enumerate() {
        let mut start = free;
        let acquires = acquired.acquires(step, at == 0);
        if step.barrier && at > 0 {
            start = start.max(drained + dependent + if acquires { acquire } else { 0 });
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
