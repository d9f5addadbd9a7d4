//! Lanes that one stream or launch has for itself, while it waits for what packets may bring about that are published
//! later.
//!
//! On a lane that others share such a wait could stand in front of what it waits for. So there are as many of these lanes
//! as there are streams and launches that wait at the same time, each with a queue. Past the queues that a device runs at once they take turns, which is
//! slow, but ends. A lane that is given back serves the next one of its priority or set of units once all on it is over.

#![forbid(unsafe_code)]

use std::sync::Arc;

use parking_lot::Mutex;

use super::{
    Device, LaneKind,
    fence::{Fence, PooledSignal},
};

/// The lanes of a device that are of one stream or launch each, by number.
#[derive(Default)]
pub(super) struct OwnLanes(Mutex<Vec<Entry>>);

struct Entry {
    /// A lane of the same priority or set of units that streams share; the queue has this for good.
    like: LaneKind,
    usage: Usage,
}

enum Usage {
    Taken,
    /// Given back; the signal falls when all on it is over.
    Until(Arc<PooledSignal>),
    Free,
}

impl Usage {
    /// Whether nothing on the lane can hold up what comes behind the fence given.
    fn is_over(&self, behind: Option<&Fence>) -> bool {
        match self {
            Self::Taken => false,
            Self::Until(signal) => {
                signal.is_over() || behind.is_some_and(|fence| Arc::ptr_eq(fence.signal(), signal))
            }
            Self::Free => true,
        }
    }
}

/// A lane for one stream or launch. When this is dropped it is what it was before: nothing must be in flight there that came
/// later.
pub(crate) struct OwnLane {
    device: Device,
    number: usize,
    before: Usage,
}

impl OwnLane {
    /// Where the lane is.
    pub(crate) fn kind(&self) -> LaneKind {
        LaneKind::Own { number: self.number }
    }

    /// Gives the lane back, on which all is over when `fence` has fired.
    pub(crate) fn end_behind(mut self, fence: &Fence) {
        self.before = Usage::Until(fence.signal().clone());
    }
}

impl Drop for OwnLane {
    fn drop(&mut self) {
        let before = std::mem::replace(&mut self.before, Usage::Free);
        self.device.0.own_lanes.0.lock()[self.number].usage = before;
    }
}

impl Device {
    /// A lane with the priority and the units of `like` that nothing else uses; its queue is made when it is asked for.
    /// What the caller puts there comes behind `behind`, if that is given.
    pub(crate) fn own_lane(&self, like: impl Into<LaneKind>, behind: Option<&Fence>) -> OwnLane {
        let like = self.place_of(like.into()).first();
        if let Some(lane) = self.free_own_lane(like, behind) {
            return lane;
        }
        // Streams look only when they are used whether they need theirs any longer.
        if let Some(streams) = self.0.streams.get() {
            streams.leave_own_lanes();
        }
        self.free_own_lane(like, behind).unwrap_or_else(|| {
            let mut lanes = self.0.own_lanes.0.lock();
            lanes.push(Entry { like, usage: Usage::Taken });
            OwnLane { device: self.clone(), number: lanes.len() - 1, before: Usage::Free }
        })
    }

    fn free_own_lane(&self, like: LaneKind, behind: Option<&Fence>) -> Option<OwnLane> {
        let mut lanes = self.0.own_lanes.0.lock();
        let number = lanes.iter().position(|lane| lane.like == like && lane.usage.is_over(behind))?;
        let before = std::mem::replace(&mut lanes[number].usage, Usage::Taken);
        Some(OwnLane { device: self.clone(), number, before })
    }

    /// The lane that streams share with the priority or the units of `lane`; another one than `lane` only if that is of one
    /// stream or launch.
    pub(crate) fn place_of(&self, lane: LaneKind) -> LaneKind {
        match lane {
            LaneKind::Own { number } => self.0.own_lanes.0.lock()[number].like,
            lane => lane,
        }
    }
}
