//! How long the nodes of a graph take: what the caller says, and what profiled launches have measured.
//!
//! It belongs to the template. An executable of it whose launches are profiled adds to it; executables that are made later,
//! and those that are asked to plan again, are planned with it.

#![forbid(unsafe_code)]

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::{Mutex, MutexGuard};

use crate::device::{Device, Fence, fence::PooledSignal};
use aqlipse_graph::NodeId;

/// Measured times of a node that are kept, the latest.
const KEPT: usize = 31;

/// What the executables of one template share: counted with the template.
#[derive(Default)]
pub(crate) struct Instances {
    last: Mutex<Option<(Fence, u64)>>,
    durations: Mutex<Durations>,
}

impl Instances {
    /// The last launch of an executable that is gone, and the lane it ends on.
    ///
    /// Graphs with memory nodes have at most one executable at a time, for their addresses are fixed; and even then a
    /// launch of one that is gone may still use them.
    pub(crate) fn last(&self) -> MutexGuard<'_, Option<(Fence, u64)>> {
        self.last.lock()
    }

    /// How long the template's nodes take.
    pub(crate) fn durations(&self) -> MutexGuard<'_, Durations> {
        self.durations.lock()
    }
}

/// A kernel of a launch, and the signal that tells when it ran.
pub(crate) struct Timed {
    pub(crate) node: NodeId,
    pub(crate) device: Device,
    pub(crate) signal: Arc<PooledSignal>,
}

/// A launch whose kernels have signals.
struct Profiled {
    /// Fires behind all of them.
    end: Arc<PooledSignal>,
    kernels: Vec<Timed>,
}

/// Durations of nodes, nested ones included, in nanoseconds.
#[derive(Default)]
pub(crate) struct Durations {
    expected: HashMap<NodeId, u32>,
    /// The latest times of each node, oldest first.
    measured: HashMap<NodeId, Vec<u32>>,
    unread: Vec<Profiled>,
}

impl Durations {
    /// Takes a node to last so long, whatever was measured of it before.
    pub(crate) fn expect(&mut self, node: NodeId, duration: Duration) {
        self.read();
        self.measured.remove(&node);
        self.expected.insert(node, u32::try_from(duration.as_nanos()).unwrap_or(u32::MAX));
    }

    /// Notes a profiled launch that ends with `end`.
    pub(crate) fn launched(&mut self, end: Arc<PooledSignal>, kernels: Vec<Timed>) {
        self.unread.push(Profiled { end, kernels });
    }

    /// What is known by now.
    pub(crate) fn known(&mut self) -> HashMap<NodeId, u32> {
        self.read();
        let mut known = self.expected.clone();
        known.extend(self.measured.iter().map(|(&node, times)| (node, median(times))));
        known
    }

    /// Reads the times of profiled launches that are over. Of one that a fault has taken nothing is known.
    fn read(&mut self) {
        if self.unread.is_empty() {
            return;
        }
        let (over, unread): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.unread).into_iter().partition(|launch| launch.end.is_over());
        self.unread = unread;
        let kernels =
            over.into_iter().filter(|launch| launch.end.has_fired()).flat_map(|launch| launch.kernels);
        for Timed { node, device, signal } in kernels {
            let Ok(time) = signal.dispatch_time(&device.0.agent) else { continue };
            let nanoseconds = time.end.saturating_sub(time.start);
            note(self.measured.entry(node).or_default(), u32::try_from(nanoseconds).unwrap_or(u32::MAX));
        }
    }
}

fn note(times: &mut Vec<u32>, time: u32) {
    if times.len() == KEPT {
        times.remove(0);
    }
    times.push(time);
}

/// The lower one of the two in the middle.
fn median(times: &[u32]) -> u32 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_the_latest_times() {
        let mut times = Vec::new();
        (0..100).for_each(|_| note(&mut times, 1));
        assert_eq!((times.len(), median(&times)), (KEPT, 1));
        (0..KEPT / 2).for_each(|_| note(&mut times, 9));
        assert_eq!(median(&times), 1, "one disturbed launch after the other is outvoted");
        note(&mut times, 9);
        assert_eq!(median(&times), 9);
        assert_eq!(median(&[7, 3]), 3);
    }
}
