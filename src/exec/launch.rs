//! One launch: arm signals, copy the images into the rings, hand the host steps to the worker.

use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
};

use hsa::packet::{BarrierAnd, Fences, NO_SIGNAL, Packet, Scope, SignalPlace as Field};

use super::{
    Exec, State,
    events::Events,
    image::{HostStep, LaneImage, Run, Source},
    party::{Epochs, Party},
    units::{Pin, Unit},
};
use crate::{
    condition::Turn,
    device::{
        Device, Fence,
        fence::{Keep, PooledSignal},
        lane::Lane,
        slabs::Block,
    },
    error::{Error, Result},
    memory,
    stream::{Stream, host::Job, submit::Submission},
};

/// The signals of one launch; used again when it has completed.
pub(super) struct SignalSet {
    signals: Arc<Vec<Arc<PooledSignal>>>,
    /// Of the queues whose packets use them.
    epochs: Epochs,
    launch: Option<Fence>,
}

impl SignalSet {
    pub(super) fn into_signals(self) -> Arc<Vec<Arc<PooledSignal>>> {
        self.signals
    }
}

impl Exec {
    /// Launches the graph behind what is on `stream`, and behind its own earlier launches; on a capturing stream it
    /// becomes a child graph of the captured one, with the parameters that it has now. The stream may be of any device:
    /// each node runs on its own.
    ///
    /// # Errors
    /// The fault of earlier work; [`Error::InvalidValue`] if an allocation of an earlier launch is not freed yet;
    /// [`Error::NotSupported`] on a capturing stream for a graph with memory nodes.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        if stream.is_capturing() {
            return self.record(stream);
        }
        let mut state = self.state();
        let memory = &self.0.resources.memory;
        if !memory.is_empty() {
            memory.take(self.0.options.auto_free)?;
        }
        let published = if self.0.options.resident {
            self.publish_resident(&mut state, stream)
        } else if !state.image.lanes.is_empty() {
            self.publish(&mut state, stream)
        } else if memory.is_empty() {
            Ok(())
        } else {
            // Nothing runs, but what is freed is so behind what is on the stream.
            stream.fence().map(|fence| memory.launched(&fence))
        };
        if published.is_err() && !memory.is_empty() {
            memory.give_back();
        }
        published
    }

    fn publish(&self, state: &mut State, stream: &Stream) -> Result<()> {
        if self.is_plain(state, stream) {
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
        let conditions = state.conditions();
        let turn = Turn::take(&conditions)?;
        let mut submission = stream.submission()?;
        turn.wait(&mut submission);
        let completion = submission.signal(1)?;
        let own = submission.lane().clone();
        let party = Party::new(&self.0.devices, &state.image, stream, &own, &self.0.priorities)?;
        let set = state.arm(&party)?;
        let image = &state.image;
        let bracket = party.has_guest().then(|| Bracket::new(&party)).transpose()?;
        party.stand_together(&completion);
        if let Some((fence, lane)) = &state.last {
            submission.wait(fence, *lane);
        }
        if let Some(bracket) = &bracket {
            submission.mark(&bracket.entry);
        }
        submission.flush()?;

        let fence = Fence::new(completion, Vec::new());
        let events = Events::new(state, &party)?;
        self.queue_host_steps(state, &submission, &set.signals, &fence, &party)?;
        let report = |error| submission.report(error);
        let last = match &bracket {
            Some(bracket) => {
                party.lanes()[0].submit(&[wait_for(&bracket.entry)]).map_err(report)?;
                &bracket.exit
            }
            None => fence.signal(),
        };
        for run in &image.runs {
            let lane = &image.lanes[run.lane as usize];
            let end = (run.lane == 0).then_some(last);
            copy_run(&party.lanes()[run.lane as usize], lane, *run, &set.signals, &events, end)
                .map_err(report)?;
        }
        if let Some(bracket) = bracket {
            let mut end = wait_for(&bracket.exit);
            end.set_completion_signal(fence.signal().handle());
            own.submit(&[end]).map_err(report)?;
            fence.keep_all(vec![Keep::Signal(bracket.entry), Keep::Signal(bracket.exit)]);
        }
        for device in self.0.devices.iter().filter(|device| *device != stream.device()) {
            device.takes_part(fence.signal());
        }
        events.record(&party);
        // What all launches use the executable keeps, and lets go behind the latest.
        let mut keeps = events.into_keeps();
        keeps.extend(state.conditionals().map(|nested| Keep::Other(nested.clone())));
        if !keeps.is_empty() {
            fence.keep_all(keeps);
        }
        self.0.resources.memory.launched(&fence);
        let lane = own.id();
        turn.end(fence.signal(), lane);
        submission.passed(fence.clone());
        if !set.signals.is_empty() {
            state.sets.push_back(SignalSet { launch: Some(fence.clone()), ..set });
        }
        state.last = Some((fence, lane));
        state.launches += 1;
        Ok(())
    }

    /// Whether a launch is nothing but packets for the stream's own queue.
    fn is_plain(&self, state: &State, stream: &Stream) -> bool {
        state.is_plain && self.0.devices[0] == *stream.device()
    }

    /// As [`Exec::publish`], for what is plain: nobody outside of the stream and the executable takes part.
    fn publish_plain(&self, state: &mut State, stream: &Stream) -> Result<()> {
        let mut submission = stream.submission()?;
        if let Some((fence, lane)) = &state.last {
            submission.wait(fence, *lane);
        }
        let fence = submission.copy(&state.image.lanes[0].packets)?;
        let memory = &self.0.resources.memory;
        if !memory.is_empty() {
            memory.launched(&fence);
        }
        // Before the stream takes the fence: of the one before nobody may know then, and it can be used again.
        state.last = Some((fence.clone(), submission.lane().id()));
        state.launches += 1;
        submission.passed(fence);
        Ok(())
    }

    fn queue_host_steps(
        &self,
        state: &State,
        submission: &Submission<'_>,
        signals: &[Arc<PooledSignal>],
        fence: &Fence,
        party: &Party<'_>,
    ) -> Result<()> {
        if state.image.host.is_empty() {
            return Ok(());
        }
        let pinned = Arc::new(Mutex::new(Vec::new()));
        let mut pins = false;
        for step in &state.image.host {
            pins |= matches!(state.units[step.unit as usize], Unit::Pin(_)) && !state.is_disabled(step.unit);
            let run = self.host_work(state, step, &pinned, party);
            let done = step.done.map(|s| signals[s as usize].clone());
            let after = step.after.iter().map(|&s| signals[s as usize].clone()).collect();
            submission.push_job(Job::new(after, run, done))?;
        }
        if pins {
            // Pages stay pinned until the launch is over; nobody waits for them to be let go.
            submission.push_job(Job::new(vec![fence.signal().clone()], move || drop(pinned), None))?;
        }
        Ok(())
    }

    fn host_work(
        &self,
        state: &State,
        step: &HostStep,
        pinned: &Arc<Mutex<Vec<PinnedPages>>>,
        party: &Party<'_>,
    ) -> Box<dyn FnOnce() + Send> {
        if state.is_disabled(step.unit) {
            return Box::new(|| {});
        }
        let (device, epoch) = party.of_ordinal(self.0.seats[step.unit as usize].device);
        let unit = state.units[step.unit as usize].clone();
        let arguments = matches!(unit, Unit::Pin(_)).then(|| state.arguments_of(step.unit + 1));
        // Before the packets are published that wait for it.
        let may_publish = matches!(unit, Unit::Cooperative(_) | Unit::Conditional(_));
        let expected = may_publish.then(|| device.expect_cooperative());
        let (device, pinned) = (device.clone(), pinned.clone());
        Box::new(move || {
            let _expected = expected;
            run_on_host(&device, &unit, arguments.as_ref(), &pinned, epoch);
        })
    }
}

/// Does the work of a unit that is no packet. `arguments` are those of the next unit's kernel; what is pinned for it
/// must stay until that has run.
pub(super) fn run_on_host(
    device: &Device,
    unit: &Unit,
    arguments: Option<&(Arc<Block>, usize)>,
    pinned: &Mutex<Vec<PinnedPages>>,
    epoch: u64,
) {
    // Without it nothing behind can run either. A fault is recorded already, and this is another one's epoch then.
    let failed = |error| device.0.faults.record(error, epoch);
    match unit {
        Unit::Host(function) => function.call(),
        Unit::Cooperative(dispatch) => device.run_cooperative(dispatch, epoch).unwrap_or_else(failed),
        Unit::Conditional(conditional) => conditional.drive(epoch),
        // SAFETY: who gave the node's parameters promised that its host operands are valid whenever the graph runs.
        Unit::HostCopy(copy) => unsafe { memory::host_copy(copy) },
        // SAFETY: as above.
        Unit::Relay(relay) => unsafe { relay.run() }.unwrap_or_else(failed),
        Unit::Pin(pin) => match PinnedPages::new(device, pin) {
            Ok(pages) => {
                if let Some((block, offset)) = arguments {
                    block.write(offset + pin.argument, &pages.address().to_le_bytes());
                }
                pinned.lock().unwrap_or_else(PoisonError::into_inner).push(pages);
            }
            Err(e) => {
                let (bytes, address) = (pin.bytes, pin.address);
                let why = format!("{bytes} bytes at {address:#x} cannot be pinned for a copy: {e}");
                failed(Error::LaunchFailure(why));
            }
        },
        Unit::Dispatch(_) | Unit::Record(_) | Unit::Wait(_) | Unit::Join => {}
    }
}

/// Host memory that the device can reach while a copy runs.
pub(super) enum PinnedPages {
    Pinned(hsa::Pinned),
    /// A copy of pages that refuse to be pinned, such as a read-only mapping.
    Staged(Block),
}

impl PinnedPages {
    fn new(device: &Device, pin: &Pin) -> Result<Self> {
        // SAFETY: who gave the node's parameters promised that its host operands are valid whenever the graph runs.
        match unsafe { memory::pin(device, pin.address, pin.bytes) } {
            Ok(pinned) => Ok(Self::Pinned(pinned)),
            Err(_) if pin.reads => {
                let block = device.0.staging.take(pin.bytes as usize)?;
                // SAFETY: who gave the node's parameters promised that its source is readable whenever the
                // graph runs.
                block.write(0, unsafe { memory::host_bytes(pin.address, pin.bytes) });
                Ok(Self::Staged(block))
            }
            Err(e) => Err(e),
        }
    }

    fn address(&self) -> u64 {
        match self {
            Self::Pinned(pages) => pages.agent_address(),
            Self::Staged(block) => block.address(),
        }
    }
}

impl State {
    /// Arms the signals of the oldest launch if that is over, or else new ones.
    fn arm(&mut self, party: &Party<'_>) -> Result<SignalSet> {
        if self.image.signals == 0 {
            return Ok(SignalSet { signals: Arc::default(), epochs: party.epochs().clone(), launch: None });
        }
        // Launches complete in order: if the oldest is not over, none is.
        let over = |set: &SignalSet| set.launch.as_ref().is_none_or(Fence::is_over);
        if let Some(set) = self.sets.pop_front_if(|set| over(set)) {
            // After a fault, who armed the old signals may never have let go of them.
            if set.epochs == *party.epochs() {
                for signal in set.signals.iter() {
                    signal.silent_store(1, Ordering::Relaxed);
                }
                return Ok(set);
            }
        }
        let fresh = (0..self.image.signals).map(|_| party.signal()).collect::<Result<_>>()?;
        Ok(SignalSet { signals: Arc::new(fresh), epochs: party.epochs().clone(), launch: None })
    }

    /// Where a unit's kernel arguments are.
    pub(super) fn arguments_of(&self, unit: u32) -> (Arc<Block>, usize) {
        match self.moved.get(&unit) {
            Some(moved) => (moved.block.clone(), 0),
            None => (self.arena.clone(), self.offsets[unit as usize] as usize),
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
    fn new(party: &Party<'_>) -> Result<Self> {
        Ok(Self { entry: party.signal()?, exit: party.signal()? })
    }
}

/// A packet that waits for a signal of another device, and for what is before it on its queue.
fn wait_for(signal: &PooledSignal) -> Packet {
    let mut deps = [NO_SIGNAL; 5];
    deps[0] = signal.handle();
    let fences = Fences { barrier: true, acquire: Scope::System, release: Scope::System };
    BarrierAnd { fences, deps, completion: NO_SIGNAL }.packet()
}

fn copy_run(
    queue: &Lane,
    lane: &LaneImage,
    run: Run,
    signals: &[Arc<PooledSignal>],
    events: &Events,
    end: Option<&Arc<PooledSignal>>,
) -> Result<()> {
    let last = lane.packets.len() - 1;
    let start = run.start as usize;
    queue.submit_image(&lane.packets[start..run.end as usize], |slots| {
        let Range { start: first, end: behind } = slots.packets();
        for patch in lane.patches_among(start + first..start + behind) {
            let handle = match patch.source {
                Source::Launch(signal) => signals[signal as usize].handle(),
                Source::Event(event) => events.handle(event),
            };
            slots.set(patch.packet as usize - start, patch.field, handle);
        }
        if let Some(end) = end
            && start + behind > last
        {
            slots.set(last - start, Field::Completion, end.handle());
        }
    })
}
