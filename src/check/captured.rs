//! What streams were told while they were captured, and why that has not put two nodes into an order.

#![forbid(unsafe_code)]

use std::{collections::HashSet, sync::Arc};

use aqlipse_graph::NodeId;
use parking_lot::Mutex;

/// The calls of a capture that make nodes or order them, as they came.
#[derive(Default)]
pub(crate) struct CaptureLog(Mutex<Vec<Step>>);

/// A call on a stream of a capture.
pub(crate) struct Step {
    pub stream: u64,
    pub call: Call,
}

/// What it does.
pub(crate) enum Call {
    /// It makes a node behind others.
    Node { node: NodeId, after: Box<[NodeId]> },
    /// It records an event behind nodes.
    Record { event: u64, behind: Box<[NodeId]> },
    /// It waits for the latest record of an event.
    Wait { event: u64, what: Waited },
}

/// What a wait of a capture waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// A place in the capture.
    Place,
    /// Nothing: the event was never recorded, or in a capture that is over.
    Nothing,
    /// Work outside of the capture, which the call is refused for.
    Outside,
}

impl CaptureLog {
    pub(crate) fn note(&self, stream: u64, call: Call) {
        self.0.lock().push(Step { stream, call });
    }
}

/// Where two nodes were captured that nothing orders, and what was done instead of ordering them; nothing if they are of no
/// capture.
pub(super) fn explain(logs: &[Arc<CaptureLog>], nodes: [&str; 2]) -> Vec<String> {
    logs.iter().find_map(|log| explain_by(&log.0.lock(), nodes)).unwrap_or_default()
}

fn explain_by(steps: &[Step], nodes: [&str; 2]) -> Option<Vec<String>> {
    let place = |name: &str| {
        steps
            .iter()
            .position(|step| matches!(&step.call, Call::Node { node, .. } if node.to_string() == name))
    };
    let [first, second] = [place(nodes[0])?, place(nodes[1])?];
    let streams = [first, second].map(|at| steps[at].stream);
    let captured = match streams {
        [one, other] if one == other => format!("both were captured on stream {one}"),
        [one, other] => {
            format!("node {} was captured on stream {one}, node {} on stream {other}", nodes[0], nodes[1])
        }
    };
    let ends = if first < second {
        [(first, nodes[0]), (second, nodes[1])]
    } else {
        [(second, nodes[1]), (first, nodes[0])]
    };
    let reason = (streams[0] != streams[1]).then(|| reason(steps, ends));
    Some([captured].into_iter().chain(reason).collect())
}

/// Why the later of two nodes, which lies on another stream, does not come behind the earlier one.
fn reason(steps: &[Step], [(first, node), (second, later)]: [(usize, &str); 2]) -> String {
    let (from, to) = (steps[first].stream, steps[second].stream);
    let behind = behind(steps, first);
    let covers = |record: &usize| match &steps[*record].call {
        Call::Record { behind: tips, .. } => tips.iter().any(|tip| behind.contains(tip)),
        _ => false,
    };
    // Each wait for a place, with the record that it goes by.
    let waits = || {
        steps.iter().enumerate().filter_map(|(at, step)| match step.call {
            Call::Wait { event, what: Waited::Place } => {
                Some((at, step.stream, event, record_before(steps, at, event)?))
            }
            _ => None,
        })
    };
    let between = first..second;
    let in_vain = steps[between.clone()].iter().rev().find_map(|step| match step.call {
        Call::Wait { what: what @ (Waited::Nothing | Waited::Outside), .. } if step.stream == to => {
            Some(what)
        }
        _ => None,
    });
    match in_vain {
        Some(Waited::Outside) => {
            return format!(
                "stream {to} was to wait for an event that was recorded outside of the capture, and the call failed"
            );
        }
        Some(_) => {
            return format!(
                "stream {to} waited for an event that was not recorded in the capture, which orders nothing"
            );
        }
        None => {}
    }
    let of_later = || waits().filter(|&(at, stream, ..)| stream == to && between.contains(&at));
    for (_, _, event, record) in of_later() {
        let earlier = (first..record).filter(|at| records(&steps[*at], event)).find(covers);
        if earlier.is_some() && !covers(&record) {
            let on = steps[record].stream;
            return format!(
                "an event was recorded behind node {node}, and again on stream {on} and not behind it before stream {to} waited for it"
            );
        }
    }
    if of_later().any(|(.., record)| record < first && steps[record].stream == from) {
        return format!("stream {to} waited for an event that stream {from} had recorded before node {node}");
    }
    let mut of_it = waits().filter(|(.., record)| covers(record));
    if let Some((_, other, ..)) = of_it.clone().find(|(at, ..)| *at < second) {
        return format!(
            "stream {other} waited for an event that was recorded behind node {node}, stream {to} did not"
        );
    }
    if of_it.any(|(_, stream, ..)| stream == to) {
        return format!(
            "stream {to} waited for an event that was recorded behind node {node}, and only behind node {later}"
        );
    }
    match (first..second).any(|at| covers(&at)) {
        true => format!(
            "an event was recorded behind node {node}, and no stream waited for it before node {later}"
        ),
        false => format!("no event was recorded between them behind node {node}"),
    }
}

/// A node and all that the capture has put behind it.
fn behind(steps: &[Step], first: usize) -> HashSet<NodeId> {
    let mut behind = HashSet::new();
    for step in &steps[first..] {
        if let Call::Node { node, after } = &step.call
            && (behind.is_empty() || after.iter().any(|pred| behind.contains(pred)))
        {
            behind.insert(*node);
        }
    }
    behind
}

fn records(step: &Step, wanted: u64) -> bool {
    matches!(step.call, Call::Record { event, .. } if event == wanted)
}

/// The latest record of an event before a step.
fn record_before(steps: &[Step], at: usize, event: u64) -> Option<usize> {
    steps[..at].iter().rposition(|step| records(step, event))
}
