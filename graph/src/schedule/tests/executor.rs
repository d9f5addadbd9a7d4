//! Runs a plan in a random order that the rules of queues allow, and watches that no node starts too early.

use fastrand::Rng;

use super::{Action, Class, Dag, LaneKind, Plan, StepRef};

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Queued,
    Running,
    Complete,
}

/// Executes the plan; an error says which rule of the graph was broken, or that the plan hangs.
pub(super) fn run(dag: &Dag, plan: &Plan, seed: u64) -> Result<(), String> {
    let mut random = Rng::with_seed(seed);
    // Some runs complete packets late, some early: both bring out missing orders.
    let eagerness = 1 + random.usize(..8);
    let mut status: Vec<Vec<Status>> =
        plan.lanes.iter().map(|lane| vec![Status::Queued; lane.steps.len()]).collect();
    let mut next = vec![0usize; plan.lanes.len()];
    let mut running: Vec<StepRef> = Vec::new();
    let mut complete = vec![false; dag.preds.len()];
    // The launch begins lane 0; lanes with an entry begin at will, as their signal comes at some time.
    let mut left: usize = plan.lanes.iter().map(|lane| lane.steps.len()).sum();
    while left > 0 {
        let may_start = |lane: usize| {
            let position = next[lane];
            let Some(step) = plan.lanes[lane].steps.get(position) else { return false };
            let drained = status[lane][..position].iter().all(|&status| status == Status::Complete);
            let in_order = step.barrier || plan.lanes[lane].kind != LaneKind::Queue;
            let mut waits = plan.lanes[lane].waits(position as u32).iter();
            (!in_order || drained)
                && waits.all(|wait| status[wait.lane as usize][wait.position as usize] == Status::Complete)
        };
        let startable: Vec<usize> = (0..plan.lanes.len()).filter(|&lane| may_start(lane)).collect();
        if startable.is_empty() && running.is_empty() {
            return Err(format!("stuck at {next:?}"));
        }
        let start = !startable.is_empty() && (running.is_empty() || random.usize(..8) < eagerness);
        if start {
            let lane = startable[random.usize(..startable.len())];
            let at = StepRef { lane: lane as u32, position: next[lane] as u32 };
            let (kind, device) = (plan.lanes[lane].kind, plan.lanes[lane].device);
            if let Action::Node(node) = plan.step(at).action
                && kind != LaneKind::Host
                && dag.devices.get(node as usize).is_some_and(|&wanted| wanted != device)
            {
                return Err(format!("node {node} runs on device {device}"));
            }
            if let Action::Node(node) = plan.step(at).action
                && let Some(early) = first_incomplete(dag, node, &complete)
            {
                return Err(format!("node {node} starts before node {early} has completed"));
            }
            next[lane] += 1;
            status[lane][at.position as usize] = Status::Running;
            running.push(at);
        } else {
            let at = running.swap_remove(random.usize(..running.len()));
            status[at.lane as usize][at.position as usize] = Status::Complete;
            if let Action::Node(node) = plan.step(at).action {
                complete[node as usize] = true;
            }
            left -= 1;
            if at.lane == 0 && at.position as usize + 1 == plan.lanes[0].steps.len() && left > 0 {
                return Err("the launch completes before all of its steps".into());
            }
        }
    }
    Ok(())
}

/// A node that must have completed before `node` starts and has not, seen through joins.
fn first_incomplete(dag: &Dag, node: u32, complete: &[bool]) -> Option<u32> {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        for &pred in dag.preds.row(node) {
            if dag.classes[pred as usize] == Class::Join {
                open.push(pred);
            } else if !complete[pred as usize] {
                return Some(pred);
            }
        }
    }
    None
}
