//! The event nodes of one launch: which signals their packets wait for and fire.

#![forbid(unsafe_code)]

use std::sync::Arc;

use hsa::{hsa_signal_t, packet::NO_SIGNAL};

use super::{State, party::Party, units::Unit};
use crate::{
    device::{
        Fence,
        fence::{Keep, PooledSignal},
    },
    error::{Error, Result},
    event::Event,
};

/// The signals of a launch's event nodes, and what the events will stand for.
///
/// None of them is one of the launch's own, which are armed again when it is over: an event stands for its point as long
/// as nobody records it again.
pub(super) struct Events {
    /// By event node; none where there is nothing to wait for.
    signals: Vec<Option<Arc<PooledSignal>>>,
    /// In the order of the plan, with the lane that the point lies on.
    records: Vec<(Event, Fence, u32)>,
}

impl Events {
    /// Notes what the waited-for events stand for now, and makes points for those that are to be recorded.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] for signals.
    pub(super) fn new(state: &State, party: &Party<'_>) -> Result<Self> {
        let mut this = Self { signals: Vec::with_capacity(state.image.events.len()), records: Vec::new() };
        for point in &state.image.events {
            let (device, epoch) = party.of_lane(point.lane);
            let signal = match &state.units[point.unit as usize] {
                Unit::Record(event) => {
                    let signal = device.0.signals.take(1, epoch)?;
                    let fence = Fence::new(signal.clone(), Vec::new());
                    this.records.push((event.clone(), fence, point.lane));
                    Some(signal)
                }
                Unit::Wait(event) => match event.fence() {
                    Some((fence, _)) if !fence.is_over() => {
                        if !fence.is_on(device) {
                            fence.signal().takes_along(&device.0.faults, epoch);
                        }
                        Some(fence.signal().clone())
                    }
                    _ => None,
                },
                _ => return Err(Error::IllegalState("an event packet belongs to no event node")),
            };
            this.signals.push(signal);
        }
        Ok(this)
    }

    /// Lets the recorded events stand for their points in this launch, whose packets have been published: a wait that
    /// another thread published before them, in front of them on their queue, would never end.
    pub(super) fn record(&self, party: &Party<'_>) {
        for (event, fence, lane) in &self.records {
            event.set(fence.clone(), party.lanes()[*lane as usize].id(), party.of_lane(*lane).0);
        }
    }

    /// The signal for the packet of an event node.
    pub(super) fn handle(&self, event: u32) -> hsa_signal_t {
        self.signals[event as usize].as_ref().map_or(NO_SIGNAL, |signal| signal.handle())
    }

    /// What must stay alive until the launch is over.
    pub(super) fn into_keeps(self) -> Vec<Keep> {
        self.signals.into_iter().flatten().map(Keep::Signal).collect()
    }
}
