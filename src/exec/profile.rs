//! Launches that measure how long their kernels take.
//!
//! Each kernel packet of such a launch has a completion signal, for which the packet processor notes when the kernel ran
//! (`hsa_amd_profiling_get_dispatch_time`; every queue of the runtime's is profiled). That costs a signal and two looks at
//! the device's clock for each kernel, so launches do it only if the caller asks.

#![forbid(unsafe_code)]

use std::sync::Arc;

use hsa::packet::SignalPlace as Field;

use aqlipse_graph::image::{EngineStep, Source};

use super::{Exec, State, in_flight::InFlightSlot, launch_queues::LaunchQueues, publication, unit::Unit};
use crate::{
    blit,
    device::{
        fence::PooledSignal,
        lane::Slots,
        timeline::{self, Noted, Place, Work},
    },
    durations::Timed,
    error::{Error, Result},
};

/// A launch that the timeline has.
#[derive(Clone, Copy)]
pub(super) struct Traced<'l, 'q> {
    pub(super) state: &'l State,
    pub(super) launch_queues: &'l LaunchQueues<'q>,
    pub(super) flight: &'l InFlightSlot,
    pub(super) launch: timeline::Launch,
}

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
    /// Publishes a launch, and notes for the timeline what its packets and copy engines do; `engine` and `fill` are those of
    /// [`publication::publish`].
    ///
    /// # Errors
    /// As [`publication::publish`].
    #[cold]
    pub(super) fn publish(
        &self,
        traced: &Traced<'_, '_>,
        engines_serve: bool,
        engine: impl Fn(&EngineStep) -> bool,
        fill: impl FnMut(u32, &mut Slots<'_, '_>),
    ) -> Result<()> {
        let Traced { state, launch_queues, flight, launch } = *traced;
        let may_be_engines = |unit| engines_serve && state.image.engine_steps().any(|step| step.unit == unit);
        if engines_serve {
            timeline::time_engines();
        }
        // Before a kernel may be over.
        self.note(traced, |unit| !may_be_engines(unit));
        let mut by_engine = Vec::new();
        let noting = |step: &EngineStep| {
            if !engine(step) {
                return false;
            }
            let (copy, done) = (&state.copies[&step.unit], &flight.signals()[step.done as usize]);
            let number = self.places.iter().position(|(other, _)| *other == step.unit);
            let node = number.map(|number| self.kernels[number].node.to_string());
            timeline::note([copy.noted(done, launch, node, number == Some(0))]);
            by_engine.push(step.unit);
            true
        };
        publication::publish(&state.image, launch_queues.lanes(), noting, fill)?;
        // What engines have left to packets.
        self.note(traced, |unit| may_be_engines(unit) && !by_engine.contains(&unit));
        Ok(())
    }

    /// Notes for the timeline what the packets of some units do.
    fn note(&self, traced: &Traced<'_, '_>, is_wanted: impl Fn(u32) -> bool) {
        let Traced { state, launch_queues, launch, .. } = *traced;
        let kernels = self.kernels.iter().zip(&self.places).enumerate();
        let wanted = kernels.filter(|(_, (_, (unit, _)))| is_wanted(*unit));
        timeline::note(wanted.filter_map(|(number, (timed, &(unit, lane)))| {
            let Unit::Dispatch(dispatch) = &state.units[unit as usize] else { return None };
            Some(Noted {
                device: timed.device.clone(),
                place: Place::Queue(launch_queues.lanes()[lane as usize].id()),
                signal: timed.signal.clone(),
                work: Work::of(dispatch.code.name(), dispatch.code.is_own()),
                task: blit::task(dispatch),
                launch,
                node: Some(timed.node.to_string()),
                is_first: number == 0,
            })
        }));
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
