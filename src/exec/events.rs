//! The event nodes of one launch: which signals their packets wait for and fire.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use super::{State, in_flight::InFlightSlot, launch_queues::LaunchQueues, unit::Unit};
use crate::{
    device::{Fence, clocks},
    error::{Error, Result},
};

/// Whether one of the events that a launch waits for lies behind a wait for packets that may be published later.
pub(super) fn wait_for_open(state: &State) -> bool {
    let waited_for = |unit: u32| match &state.units[unit as usize] {
        Unit::Wait(event) => event.fence(),
        _ => None,
    };
    let mut fences = state.image.events.iter().filter_map(|point| waited_for(point.unit));
    fences.any(|(fence, _)| fence.signal().is_open())
}

/// Says that what a stream has next comes behind the events that a launch waits for, and behind anything where that cannot be
/// told: all of the launch, as it is submitted at once.
pub(super) fn follow(state: &State, stream: u64) {
    for point in &state.image.events {
        if let Unit::Wait(event) = &state.units[point.unit as usize]
            && let Some((fence, _)) = event.fence()
        {
            clocks::follow(stream, fence.key());
        }
    }
}

/// What the events of a launch's record nodes will stand for, in the order of the plan.
///
/// Neither the signals of these points nor those that wait nodes wait for are of the launch's own, which are armed again
/// when it is over: an event stands for its point until it is recorded again.
pub(super) struct Points(SmallVec<[Fence; 2]>);

impl Points {
    /// Notes in `flight` what the waited-for events stand for now, and makes points for those that are to be recorded. The
    /// launch `is_held` if what is before them may have to wait for packets that are published later.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] for signals.
    pub(super) fn new(
        state: &State,
        launch_queues: &LaunchQueues<'_>,
        is_held: bool,
        flight: &mut InFlightSlot,
    ) -> Result<Self> {
        let mut points = SmallVec::new();
        for point in &state.image.events {
            let (device, epoch) = launch_queues.of_lane(point.lane);
            let signal = match &state.units[point.unit as usize] {
                Unit::Record(_) => {
                    let signal = device.0.signals.take(1, epoch)?;
                    if is_held {
                        signal.open();
                    }
                    points.push(Fence::new(signal.clone(), Vec::new()));
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
            // Kept until the launch is over: packets have the signals.
            flight.events.push(signal);
        }
        Ok(Self(points))
    }

    /// Lets the recorded events stand for their points in this launch, whose packets have been published: a wait that
    /// another thread published before them, in front of them on their queue, would never end.
    pub(super) fn record(self, state: &State, launch_queues: &LaunchQueues<'_>) {
        let mut fences = self.0.into_iter();
        for point in &state.image.events {
            if let Unit::Record(event) = &state.units[point.unit as usize]
                && let Some(fence) = fences.next()
            {
                event.set(
                    fence,
                    launch_queues.lanes()[point.lane as usize].id(),
                    launch_queues.of_lane(point.lane).0,
                );
            }
        }
    }
}
