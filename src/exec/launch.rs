//! One launch: it arms signals, copies the images into the rings, and hands the host steps to the worker.

use std::sync::Arc;

use hsa::packet::{BarrierAnd, Fences, NO_SIGNAL, Packet, Scope, SignalPlace as Field};

use aqlipse_graph::image::{EngineStep, Image, LaneImage, Source};

use super::{
    Exec, State,
    events::{self, Points},
    in_flight::InFlightSlot,
    launch_queues::{Beside, LaunchQueues, QueueCache},
    profile::Traced,
    publication,
    script::{Labels, Script},
};
use crate::{
    check,
    condition::ConditionGuard,
    device::{
        Fence,
        fence::{Keep, PooledSignal},
        lane::{BEGINNING, LONG, Lane, Slots},
        slabs::Block,
        timeline,
    },
    error::Result,
    stream::{Stream, host::Job, submit::Submission},
};

/// The packets of a launch as an executable has them, to copy the same elsewhere.
#[derive(Clone, Debug, Default)]
pub struct LaunchImage {
    /// By queue.
    pub lanes: Vec<LaunchLane>,
    /// Signals that each launch arms for packets which wait for and fire them. The last packet of the first queue fires
    /// one more.
    pub signals: u32,
    /// So many packets of the first queue are announced ahead of the rest.
    pub beginning: usize,
}

/// The packets of one queue.
#[derive(Clone, Debug)]
pub struct LaunchLane {
    /// Without signals.
    pub packets: Vec<Packet>,
    /// Packets and the numbers of the signals that go into them.
    pub patches: Vec<(u32, Field, u32)>,
}

impl Exec {
    /// The packets that launches publish now: for a benchmark, which copies as much. What events stand for is left out.
    pub fn launch_image(&self) -> LaunchImage {
        let state = self.state();
        let lane = |lane: &LaneImage| LaunchLane {
            packets: lane.packets.clone(),
            patches: lane
                .patches
                .iter()
                .filter_map(|patch| match patch.source {
                    Source::Launch(signal) => Some((patch.packet, patch.field, signal)),
                    Source::Event(_) => None,
                })
                .collect(),
        };
        let queues = state.image.lanes.iter().filter(|lane| lane.engine.is_empty());
        let lanes: Vec<LaunchLane> = queues.map(lane).collect();
        let long = lanes.iter().map(|lane| lane.packets.len()).sum::<usize>() > LONG;
        LaunchImage { lanes, signals: state.image.signals, beginning: if long { BEGINNING } else { 0 } }
    }

    /// Lets no packet but the first of each queue acquire anything, until the next update: to measure what acquires take.
    ///
    /// # Safety
    /// No kernel reads what another of the same launch has written.
    pub unsafe fn omit_acquires(&self) {
        let mut state = self.state();
        for lane in 0..state.image.lanes.len() {
            for packet in 1..state.image.lanes[lane].packets.len() {
                let mut bare = state.image.lanes[lane].packets[packet];
                // A packet of another format has no fences to change.
                let Ok(header) = bare.header() else { continue };
                if bare.set_fences(Fences { acquire: Scope::None, ..header.fences }).is_ok() {
                    // CAST: a plan has fewer than 2^32 packets.
                    state.replace_packet(lane as u32, packet as u32, bare);
                }
            }
        }
    }

    /// Launches the graph behind what is on `stream`, and behind its own earlier launches; on a capturing stream it
    /// becomes a child graph of the captured one, with the parameters that it has now. The stream may be of any device:
    /// each node runs on its own.
    ///
    /// # Errors
    /// The fault of earlier work; [`Error::InvalidValue`](crate::Error::InvalidValue) if an allocation of an earlier launch
    /// is not freed yet;
    /// [`Error::NotSupported`](crate::Error::NotSupported) on a capturing stream for a graph with memory nodes.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        if stream.is_capturing() {
            return self.record(stream);
        }
        let traced = timeline::Launch::next(stream.0.id, Some(self.0.account.number()));
        let _launching = traced.map(|launch| launch.begin());
        let mut state = self.state();
        state.publish_arguments()?;
        let memory = &self.0.resources.memory;
        if !memory.is_empty() {
            memory.take(self.0.options.auto_free, &*stream.0)?;
        }
        let published = match self.announce(&state, stream) {
            Ok(None) => self.publish_any(&mut state, stream, traced),
            Ok(announced) => {
                state.announced = announced;
                let published = self.publish_any(&mut state, stream, traced);
                if let (Some(announced), Err(_)) = (state.announced.take(), &published) {
                    check::cancel(&announced);
                }
                published
            }
            Err(error) => Err(error),
        };
        if published.is_err() && !memory.is_empty() {
            memory.give_back();
        }
        published
    }

    fn publish_any(
        &self,
        state: &mut State,
        stream: &Stream,
        traced: Option<timeline::Launch>,
    ) -> Result<()> {
        let memory = &self.0.resources.memory;
        if self.0.options.resident {
            self.publish_resident(state, stream)
        } else if !state.image.lanes.is_empty() {
            self.publish(state, stream, traced)
        } else if memory.is_empty() {
            Ok(())
        } else {
            // Nothing runs, but what is freed is so behind what is on the stream.
            stream.fence().map(|fence| memory.launched(stream.0.id, &fence))
        }
    }

    /// Prepares the next launch on `stream`: makes what a launch makes by itself where it is not there yet, namely the
    /// queues, the signals of a launch, and the stream's thread for host steps.
    ///
    /// Has a [resident](super::Options::resident) executable's packets brought to the device, behind what is on `stream`
    /// and behind its own launches. A launch does so by itself where it has to: the first one, and the first behind a
    /// change of nodes. Kernels launch nothing that is not there.
    ///
    /// # Errors
    /// As [`Exec::launch`]; [`CaptureError::Unsupported`](crate::CaptureError::Unsupported) on a capturing stream.
    pub fn upload(&self, stream: &Stream) -> Result<()> {
        let mut state = self.state();
        if state.image.lanes.is_empty() {
            return Ok(());
        }
        if self.0.options.resident {
            return self.upload_resident(&mut state, stream);
        }
        self.prepare(&mut state, stream)
    }

    /// Makes what the next launch on `stream` needs. Nothing is published.
    fn prepare(&self, state: &mut State, stream: &Stream) -> Result<()> {
        if !state.image.host.is_empty() {
            stream.start_worker()?;
        }
        let own = stream.submission()?.lane().clone();
        let launch_queues = self.queues(&state.image, stream, &own, &mut state.known, Beside::Shared)?;
        state.slots.prepare(&state.image, &launch_queues)
    }

    fn queues<'e>(
        &'e self,
        image: &Image,
        stream: &Stream,
        own: &Arc<Lane>,
        known: &mut QueueCache,
        beside: Beside<'_>,
    ) -> Result<LaunchQueues<'e>> {
        LaunchQueues::new(&self.0.devices, image, stream, own, &self.0.priorities, known, beside)
    }

    /// Moves the stream to a lane of its own for a launch that waits for what packets may bring about that are published
    /// later. Returns whether the launch may have to wait for such, be it for what is on the stream.
    fn hold(&self, state: &State, submission: &mut Submission<'_>) -> Result<bool> {
        if self.0.waits || events::wait_for_open(state) {
            submission.stand_apart()?;
        }
        Ok(submission.is_held())
    }

    fn publish(&self, state: &mut State, stream: &Stream, traced: Option<timeline::Launch>) -> Result<()> {
        if traced.is_none() && self.is_plain(state, stream) {
            return self.publish_plain(state, stream);
        }
        if !state.image.host.is_empty() {
            // Once packets wait for host steps, their thread must not fail to start.
            stream.start_worker()?;
        }
        // The stream reports its own device's faults.
        for device in self.0.devices.iter().filter(|device| *device != stream.device()) {
            device.check()?;
        }
        let conditions = state.conditionals.conditions();
        let turn = ConditionGuard::take(&conditions)?;
        let mut submission = stream.submission()?;
        turn.wait(&mut submission)?;
        if let Some((fence, lane)) = &state.last {
            submission.wait(fence, *lane)?;
        }
        let is_held = self.hold(state, &mut submission)?;
        let fence = submission.armed_fence()?;
        let own = submission.lane().clone();
        let before = state.last.as_ref().filter(|_| is_held).map(|(fence, _)| fence.clone());
        let beside = if is_held { Beside::Own(before.as_ref()) } else { Beside::Shared };
        let launch_queues = self.queues(&state.image, stream, &own, &mut state.known, beside)?;
        let mut flight = state.slots.take(&state.image, &launch_queues)?;
        let bracket = launch_queues.has_guest().then(|| Bracket::new(&launch_queues)).transpose()?;
        launch_queues.stand_together(fence.signal());
        if let Some(bracket) = &bracket {
            submission.mark(&bracket.entry);
        }
        submission.flush()?;

        let points = Points::new(state, &launch_queues, is_held, &mut flight)?;
        let watches = match (state.profiled, traced) {
            (0, None) => None,
            _ => {
                let end = bracket.as_ref().map_or(fence.signal(), |bracket| &bracket.exit);
                Some(self.stopwatches(state, &launch_queues, &flight, end)?)
            }
        };
        self.queue_host_steps(state, &submission, &mut flight, &fence, &launch_queues, traced)?;
        let report = |error| submission.report(error);
        let last = match &bracket {
            Some(bracket) => {
                launch_queues.lanes()[0].submit(&[wait_for(&bracket.entry)]).map_err(report)?;
                &bracket.exit
            }
            None => fence.signal(),
        };
        let fill = |lane, slots: &mut Slots<'_, '_>| {
            fill(slots, &state.image.lanes, lane, &flight, last);
            watches.iter().for_each(|watches| watches.fill(lane, slots));
        };
        // A launch that is profiled has kernels copy, whose packets say how long they take.
        // An engine does its copies in order, whatever launches they are of: one that waits for packets that are published
        // later would hold them up.
        // The device does not note what a copy engine touches.
        let may_copy = state.profiled == 0 && !is_held && self.0.order.is_none();
        let engines_serve = state.image.has_engines() && may_copy && launch_queues.engines_serve();
        let engine = |step: &EngineStep| engines_serve && state.copy_by_engine(step, &flight);
        match (&watches, traced) {
            (Some(watches), Some(launch)) => {
                let traced = Traced { state, launch_queues: &launch_queues, flight: &flight, launch };
                watches.publish(&traced, engines_serve, engine, fill)
            }
            _ => publication::publish(&state.image, launch_queues.lanes(), engine, fill),
        }
        .map_err(report)?;
        if let Some(bracket) = bracket {
            let mut end = wait_for(&bracket.exit);
            end.set_completion_signal(fence.signal().handle());
            own.submit(&[end]).map_err(report)?;
            fence.keep_all(vec![Keep::Signal(bracket.entry), Keep::Signal(bracket.exit)]);
        }
        for device in self.0.devices.iter().filter(|device| *device != stream.device()) {
            device.takes_part(fence.signal());
        }
        points.record(state, &launch_queues);
        if is_held {
            launch_queues.end_behind(&fence);
            submission.held_until(&fence);
        }
        // What all launches use the executable keeps, and lets go behind the latest.
        if !state.conditionals.is_empty() {
            fence.keep_all(state.conditionals.keep());
        }
        let memory = &self.0.resources.memory;
        if !memory.is_empty() {
            memory.launched(stream.0.id, &fence);
        }
        let lane = own.id();
        turn.end(fence.signal(), lane);
        match watches {
            None => state.slots.launched(&fence, flight),
            Some(watches) => {
                // Its signals say when kernels ran: no other launch may have them.
                fence.keep_all(vec![Keep::Other(Arc::new(flight))]);
                if state.profiled > 0 {
                    self.0.instance.durations().launched(fence.signal().clone(), watches.kernels);
                    state.profiled -= 1;
                    state.settle(self.0.devices.len());
                }
            }
        }
        // Before the stream takes the fence: the executable lets go of the fence before it, which can be used again then.
        state.last = Some((fence.clone(), lane));
        state.launches += 1;
        submission.passed(fence);
        Ok(())
    }

    /// Whether a launch is nothing but packets for the stream's own queue.
    fn is_plain(&self, state: &State, stream: &Stream) -> bool {
        state.is_plain && self.0.devices[0] == *stream.device()
    }

    /// As [`Exec::publish`], for what is plain: only the stream and the executable take part.
    fn publish_plain(&self, state: &mut State, stream: &Stream) -> Result<()> {
        let mut submission = stream.submission()?;
        if let Some((fence, lane)) = &state.last {
            submission.wait(fence, *lane)?;
        }
        if self.0.waits {
            submission.stand_apart()?;
        }
        let fence = submission.copy(&state.image.lanes[0].packets)?;
        if self.0.waits {
            submission.held_until(&fence);
        }
        let memory = &self.0.resources.memory;
        if !memory.is_empty() {
            memory.launched(stream.0.id, &fence);
        }
        // Before the stream takes the fence: the executable lets go of the fence before it, which can be used again then.
        state.last = Some((fence.clone(), submission.lane().id()));
        state.launches += 1;
        submission.passed(fence);
        Ok(())
    }

    fn queue_host_steps(
        &self,
        state: &State,
        submission: &Submission<'_>,
        flight: &mut InFlightSlot,
        fence: &Fence,
        launch_queues: &LaunchQueues<'_>,
        traced: Option<timeline::Launch>,
    ) -> Result<()> {
        if state.image.host.is_empty() {
            return Ok(());
        }
        let script = Script::prepared(
            flight.script.take(),
            state,
            &flight.signals,
            &self.0.placements,
            launch_queues,
            traced.map(|launch| Labels { launch, flat: &self.0.flat }),
        )?;
        // From then on it is the worker's, which may be in a step for long.
        let pins = script.pins();
        submission.push_job(Job::steps(script.clone()))?;
        if pins {
            // Pages stay pinned until the launch is over; no call waits for them to be let go.
            let pinned = script.pinned.clone();
            submission.push_job(Job::new(vec![fence.signal().clone()], move || drop(pinned), None))?;
        } else {
            flight.script = Some(script);
        }
        Ok(())
    }
}

impl State {
    /// Has a copy engine do a step of a launch; says whether it does. One that is disabled, or is of memory that an engine
    /// does not copy by now, is left to packets, as is one that the HSA runtime refuses.
    fn copy_by_engine(&self, step: &EngineStep, flight: &InFlightSlot) -> bool {
        let Some(copy) = self.copies.get(&step.unit).filter(|_| !self.is_disabled(step.unit)) else {
            return false;
        };
        let signals = flight.signals();
        let after = step.after.iter().map(|&signal| &*signals[signal as usize]);
        let submitted = copy.submit(after, &signals[step.done as usize]);
        submitted.inspect_err(|error| tracing::warn!("a copy engine refuses a copy: {error}")).is_ok()
    }

    /// Where a unit's kernel arguments are.
    pub(super) fn arguments_of(&self, unit: u32) -> (Arc<Block>, usize) {
        match self.moved.get(&unit) {
            Some(moved) => (moved.block.clone(), 0),
            None => {
                let (block, offset) = self.arena.at(self.offsets[unit as usize]);
                (block.clone(), offset)
            }
        }
    }
}

/// How a launch hangs on a stream of a device that it does not begin and end on: it begins behind a marker there, and
/// the stream goes on behind its end.
struct Bracket {
    entry: Arc<PooledSignal>,
    exit: Arc<PooledSignal>,
}

impl Bracket {
    fn new(launch_queues: &LaunchQueues<'_>) -> Result<Self> {
        Ok(Self { entry: launch_queues.signal(false)?, exit: launch_queues.signal(false)? })
    }
}

/// A packet that waits for a signal of another device, and for what is before it on its queue.
fn wait_for(signal: &PooledSignal) -> Packet {
    let mut deps = [NO_SIGNAL; 5];
    deps[0] = signal.handle();
    let fences = Fences { barrier: true, acquire: Scope::System, release: Scope::System };
    BarrierAnd { fences, deps, completion: NO_SIGNAL }.packet()
}

/// Fills in what a launch has of its own in packets of a lane.
fn fill(
    slots: &mut Slots<'_, '_>,
    lanes: &[LaneImage],
    number: u32,
    flight: &InFlightSlot,
    end: &PooledSignal,
) {
    let (lane, packets) = (&lanes[number as usize], slots.packets());
    for patch in lane.patches_among(packets.clone()) {
        let handle = match patch.source {
            Source::Launch(signal) => flight.signals()[signal as usize].handle(),
            Source::Event(event) => {
                flight.events[event as usize].as_ref().map_or(NO_SIGNAL, |signal| signal.handle())
            }
        };
        slots.set(patch.packet as usize, patch.field, handle);
    }
    let last = lane.packets.len() - 1;
    if number == 0 && packets.contains(&last) {
        slots.set(last, Field::Completion, end.handle());
    }
}
