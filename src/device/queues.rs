//! How many hardware queues a device's lanes take, and which lanes share one.
//!
//! A device runs a number of queues at once. With more, its scheduler stops and starts them in turns, each for a whole
//! time slice. So lanes take queues of their own while there are enough, counting those that other kinds of work will
//! need; later ones share the queue of a lane of their group. Packets wait only for packets whose slots were claimed before
//! their own, so that lanes may share a queue however they wait for each other.

#![forbid(unsafe_code)]

use std::sync::Arc;

use super::{
    Device, LANES, LaneKind,
    lane::Lane,
    lane_kind::{Group, RESERVED},
};
use crate::error::Result;

/// Queues that AMD's devices run at once: `num_cp_queues` of the kernel driver's topology. What the HSA runtime says is how
/// many it would make.
const HARDWARE: usize = 24;

/// Queues that the HSA runtime makes for itself.
const OF_THE_HSA_RUNTIME: usize = 2;

/// The queues that the runtime has made on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueCount {
    /// What they are for, and how many there are.
    pub made: Vec<(&'static str, usize)>,
    /// How many there are at most, unless more of them than that cannot be shared: streams on each other set of compute
    /// units need one, and what is not for streams.
    pub limit: usize,
}

impl QueueCount {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.made.iter().map(|(_, count)| count).sum()
    }
}

/// Each lane once, whatever it is for.
pub(super) fn distinct(lanes: impl IntoIterator<Item = (LaneKind, Arc<Lane>)>) -> Vec<(LaneKind, Arc<Lane>)> {
    let mut found: Vec<(LaneKind, Arc<Lane>)> = Vec::new();
    for (kind, lane) in lanes {
        if found.iter().all(|(_, known)| known.id() != lane.id()) {
            found.push((kind, lane));
        }
    }
    found
}

impl Device {
    /// The queues that the runtime has made on the device.
    ///
    /// # Errors
    /// [`Error::Hsa`](crate::Error::Hsa) if the device does not answer.
    pub fn queues(&self) -> Result<QueueCount> {
        let mut made: Vec<(&'static str, usize)> = Vec::new();
        for (kind, _) in distinct(self.present()) {
            match made.iter_mut().find(|(name, _)| *name == kind.name()) {
                Some((_, count)) => *count += 1,
                None => made.push((kind.name(), 1)),
            }
        }
        Ok(QueueCount { made, limit: self.queue_limit()? })
    }

    fn queue_limit(&self) -> Result<usize> {
        // CAST: u32 fits usize on the 64-bit hosts that ROCm has.
        let most = self.0.agent.queues_max()? as usize;
        Ok(most.min(HARDWARE).saturating_sub(OF_THE_HSA_RUNTIME))
    }

    /// The lanes that exist, by what they are for.
    pub(super) fn present(&self) -> Vec<(LaneKind, Arc<Lane>)> {
        let lanes = self.0.lanes.lock();
        let lanes = lanes.iter().enumerate();
        lanes.filter_map(|(number, lane)| Some((LaneKind::from(number), lane.clone()?))).collect()
    }

    /// The lane that `kind` shares, if it is to have no queue of its own.
    ///
    /// # Errors
    /// [`Error::Hsa`](crate::Error::Hsa) if the device does not answer.
    pub(super) fn lane_to_share(&self, kind: LaneKind) -> Result<Option<Arc<Lane>>> {
        let present = self.present();
        let is_present = |kind: &LaneKind| present.iter().any(|(known, _)| known == kind);
        let reserved = RESERVED.iter().filter(|reserved| **reserved != kind && !is_present(reserved)).count();
        let (lanes, limit) = (distinct(present.iter().cloned()), self.queue_limit()?);
        let group: Vec<_> = lanes.iter().filter(|(known, _)| known.group() == kind.group()).collect();
        let has_room = lanes.len() + reserved < limit;
        if has_room || RESERVED.contains(&kind) || group.is_empty() || kind.group() == Group::Alone {
            if lanes.len() >= limit {
                let (device, made) = (self.ordinal(), lanes.len() + 1);
                let name = kind.name();
                tracing::warn!(
                    "device {device} runs {limit} queues at once: queue {made}, for {name}, makes them take turns"
                );
            }
            return Ok(None);
        }
        Ok(Some(group[kind.number() % LANES % group.len()].1.clone()))
    }
}
