//! Launches that measure how long their kernels take.
//!
//! Each kernel packet of such a launch has a completion signal, for which the packet processor notes when the kernel ran
//! (`hsa_amd_profiling_get_dispatch_time`; every queue of the runtime's is profiled). That costs a signal and two looks at
//! the device's clock for each kernel, so launches do it only if the caller asks.

#![forbid(unsafe_code)]

use std::sync::Arc;

use hsa::packet::SignalPlace as Field;

use aqlipse_graph::image::Source;

use super::{Exec, State, in_flight::InFlightSlot, launch_queues::LaunchQueues, unit::Unit};
use crate::{
    blit,
    device::{
        fence::PooledSignal,
        lane::Slots,
        timeline::{self, Noted, Work},
    },
    durations::Timed,
    error::{Error, Result},
};

/// The signals of one profiled launch.
pub(super) struct Stopwatches {
    pub(super) kernels: Vec<Timed>,
    /// By kernel, its unit and its lane.
    places: Vec<(u32, u32)>,
    /// Lane and packet of each kernel that has a signal for this alone.
    own: Vec<(u32, u32, Arc<PooledSignal>)>,
}

impl Exec {
    /// Lets the next `launches` measure how long each kernel, copy and fill takes; 0 ends it. What they measure is known to
    /// executables that are made of the graph later, and to [`Exec::replan`]. Nodes in bodies of conditional nodes are not
    /// measured.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a [resident](super::Options::resident) executable, whose packets are the same at each
    /// launch.
    pub fn profile(&self, launches: u32) -> Result<()> {
        if self.0.options.resident {
            return Err(Error::NotSupported("profiled launches of a resident graph"));
        }
        let mut state = self.state();
        state.profiled = launches;
        state.settle(self.0.devices.len());
        Ok(())
    }

    /// The signals of a launch that is to be profiled; `end` is that of the last packet.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] for signals.
    pub(super) fn stopwatches(
        &self,
        state: &State,
        launch_queues: &LaunchQueues<'_>,
        flight: &InFlightSlot,
        end: &Arc<PooledSignal>,
    ) -> Result<Stopwatches> {
        let mut these = Stopwatches { kernels: Vec::new(), places: Vec::new(), own: Vec::new() };
        for (node, &unit) in self.0.flat.nodes().iter().zip(&state.main) {
            let (Unit::Dispatch(_), Some((lane, packet))) =
                (&state.units[unit as usize], state.image.places[unit as usize])
            else {
                continue;
            };
            if state.is_disabled(unit) {
                continue;
            }
            let (device, epoch) = launch_queues.of_lane(lane);
            let image = &state.image.lanes[lane as usize];
            let signals =
                image.patches_of(packet).iter().filter_map(|patch| match (patch.field, patch.source) {
                    (Field::Completion, Source::Launch(signal)) => Some(&flight.signals()[signal as usize]),
                    _ => None,
                });
            let is_last = lane == 0 && packet as usize + 1 == image.packets.len();
            let signal = match signals.chain(is_last.then_some(end)).next_back() {
                Some(signal) => signal.clone(),
                None => {
                    let signal = device.0.edges.take(1, epoch)?;
                    these.own.push((lane, packet, signal.clone()));
                    signal
                }
            };
            these.kernels.push(Timed { node: node.origin, device: device.clone(), signal });
            these.places.push((unit, lane));
        }
        these.own.sort_unstable_by_key(|(lane, packet, _)| (*lane, *packet));
        Ok(these)
    }
}

impl Stopwatches {
    /// Notes for the timeline what the packets of a launch do.
    pub(super) fn note(&self, state: &State, launch_queues: &LaunchQueues<'_>, launch: timeline::Launch) {
        let kernels = self.kernels.iter().zip(&self.places).enumerate();
        let noted = kernels.filter_map(|(number, (timed, &(unit, lane)))| {
            let Unit::Dispatch(dispatch) = &state.units[unit as usize] else { return None };
            Some(Noted {
                device: timed.device.clone(),
                lane: launch_queues.lanes()[lane as usize].id(),
                signal: timed.signal.clone(),
                work: Work::of(dispatch.code.name(), dispatch.code.is_own()),
                task: blit::task(dispatch),
                launch,
                node: Some(timed.node.to_string()),
                is_first: number == 0,
            })
        });
        timeline::note(noted);
    }

    /// Puts its own signals into packets of a lane.
    pub(super) fn fill(&self, number: u32, slots: &mut Slots<'_, '_>) {
        let packets = slots.packets();
        // CAST: a lane has fewer than 2^32 packets.
        let from =
            self.own.partition_point(|&(lane, packet, _)| (lane, packet) < (number, packets.start as u32));
        let these = self.own[from..].iter();
        for (_, packet, signal) in
            these.take_while(|(lane, at, _)| *lane == number && packets.contains(&(*at as usize)))
        {
            slots.set(*packet as usize, Field::Completion, signal.handle());
        }
    }
}
