//! One launch: arm signals, copy the images into the rings, hand the host steps to the worker.

use std::sync::{Arc, Mutex, PoisonError, atomic::Ordering};

use super::{
    Exec, State,
    events::Events,
    image::{Field, HostStep, LaneImage, Run, Source},
    units::{Pin, Unit},
};
use crate::{
    capture,
    condition::Turn,
    device::{
        Device, Fence,
        fence::{Keep, PooledSignal},
        lane::Lane,
        slabs::Block,
    },
    error::{CaptureError, Error, Result},
    memory,
    stream::{Stream, host::Job, submit::Submission},
};

/// The signals of one launch; used again when it has completed.
pub(super) struct SignalSet {
    signals: Arc<Vec<Arc<PooledSignal>>>,
    launch: Option<Fence>,
}

impl Exec {
    /// Launches the graph behind what is on `stream`, and behind its own earlier launches.
    ///
    /// # Errors
    /// The fault of earlier work; [`Error::InvalidValue`] if an allocation of an earlier launch is not freed yet;
    /// [`CaptureError::Unsupported`] on a capturing stream.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        if stream.device() != &self.0.device {
            return Err(Error::InvalidValue("the graph was instantiated for another device"));
        }
        if stream.is_capturing() {
            capture::invalidate(stream, "launching an executable graph");
            return Err(CaptureError::Unsupported.into());
        }
        let mut state = self.state();
        self.take_memory()?;
        if state.image.lanes.is_empty() {
            return Ok(());
        }
        let published = self.publish(&mut state, stream);
        if published.is_err() {
            self.give_memory_back();
        }
        published
    }

    /// Notes which allocations the launch leaves behind.
    fn take_memory(&self) -> Result<()> {
        let left = || self.0.resources.memory.iter().filter(|(_, left)| *left).map(|(block, _)| block);
        for (n, block) in left().enumerate() {
            if self.0.options.auto_free {
                block.release();
            }
            if let Err(refused) = block.acquire() {
                for taken in left().take(n) {
                    taken.release();
                }
                return Err(refused);
            }
        }
        Ok(())
    }

    fn give_memory_back(&self) {
        for (block, _) in self.0.resources.memory.iter().filter(|(_, left)| *left) {
            block.release();
        }
    }

    fn publish(&self, state: &mut State, stream: &Stream) -> Result<()> {
        let device = &self.0.device;
        let image = state.image.clone();
        if !image.host.is_empty() {
            // Once packets wait for host steps, their thread must not fail to start.
            stream.start_worker()?;
        }
        let conditions = state.conditions();
        let turn = Turn::take(&conditions)?;
        let mut submission = stream.submission()?;
        turn.wait(&mut submission);
        let completion = submission.signal(1)?;
        let lanes = lanes_of(device, stream, submission.lane(), image.lanes.len())?;
        let set = state.arm(device, submission.lane().epoch())?;
        if let Some((fence, lane)) = &state.last {
            submission.wait(fence, *lane);
        }
        submission.flush()?;

        let fence = Fence::new(completion, Vec::new());
        let events = Events::new(state, &submission, device)?;
        self.queue_host_steps(state, &submission, &set.signals, &fence)?;
        for run in &image.runs {
            let lane = &image.lanes[run.lane as usize];
            let end = (run.lane == 0).then_some(fence.signal());
            copy_run(&lanes[run.lane as usize], lane, *run, &set.signals, &events, end)
                .map_err(|error| submission.report(error))?;
        }
        events.record(&lanes, device);
        fence.keep_all(vec![
            Keep::Other(Arc::new((set.signals.clone(), state.arena.clone()))),
            Keep::Other(self.0.resources.clone()),
        ]);
        let mut keeps = events.into_keeps();
        keeps.extend(state.conditionals().map(|nested| Keep::Other(nested.clone())));
        fence.keep_all(keeps);
        let lane = lanes[0].id();
        turn.end(fence.signal(), lane);
        submission.passed(fence.clone());
        if !set.signals.is_empty() {
            state.sets.push_back(SignalSet { launch: Some(fence.clone()), ..set });
        }
        state.last = Some((fence, lane));
        state.launches += 1;
        Ok(())
    }

    fn queue_host_steps(
        &self,
        state: &State,
        submission: &Submission<'_>,
        signals: &[Arc<PooledSignal>],
        fence: &Fence,
    ) -> Result<()> {
        if state.image.host.is_empty() {
            return Ok(());
        }
        let pinned = Arc::new(Mutex::new(Vec::new()));
        let mut pins = false;
        for step in &state.image.host {
            pins |= matches!(state.units[step.unit as usize], Unit::Pin(_));
            let run = self.host_work(state, step, &pinned, fence);
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
        fence: &Fence,
    ) -> Box<dyn FnOnce() + Send> {
        let unit = state.units[step.unit as usize].clone();
        let arguments = matches!(unit, Unit::Pin(_)).then(|| state.arguments_of(step.unit + 1));
        let (device, pinned) = (self.0.device.clone(), pinned.clone());
        let epoch = fence.signal().epoch();
        Box::new(move || run_on_host(&device, &unit, arguments.as_ref(), &pinned, epoch))
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
        Unit::Conditional(conditional) => conditional.drive(device, epoch),
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
    /// Arms the signals of the oldest launch if that is over, or else new ones, for queues of `epoch`.
    fn arm(&mut self, device: &Device, epoch: u64) -> Result<SignalSet> {
        // Launches complete in order: if the oldest is not over, none is.
        let over = |set: &SignalSet| set.launch.as_ref().is_none_or(Fence::is_over);
        if let Some(set) = self.sets.pop_front_if(|set| over(set)) {
            // After a fault, who armed the old signals may never have let go of them.
            if set.signals.iter().all(|signal| signal.epoch() == epoch) {
                for signal in set.signals.iter() {
                    signal.silent_store(1, Ordering::Relaxed);
                }
                return Ok(set);
            }
        }
        let fresh =
            (0..self.image.signals).map(|_| device.0.signals.take(1, epoch)).collect::<Result<_>>()?;
        Ok(SignalSet { signals: Arc::new(fresh), launch: None })
    }

    /// Where a unit's kernel arguments are.
    fn arguments_of(&self, unit: u32) -> (Arc<Block>, usize) {
        match self.moved.get(&unit) {
            Some(moved) => (moved.block.clone(), 0),
            None => (self.arena.clone(), self.offsets[unit as usize] as usize),
        }
    }
}

/// The queues of a launch, the stream's first. The others are any but the stream's: two lanes of one graph on one
/// queue could wait for each other in a circle.
fn lanes_of(device: &Device, stream: &Stream, first: &Arc<Lane>, count: usize) -> Result<Vec<Arc<Lane>>> {
    let mut lanes = Vec::with_capacity(count);
    lanes.push(first.clone());
    for n in 1..count {
        let lane = device.lane_beside(stream.lane_number(), n)?;
        if lane.epoch() != first.epoch() {
            // A fault has just taken the stream's own queue.
            return Err(device.check().err().unwrap_or_else(|| device.0.faults.error()));
        }
        lanes.push(lane);
    }
    Ok(lanes)
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
    // Packets are asked for in the ring's own order, not in theirs.
    queue.submit_image(&lane.packets[start..run.end as usize], |i, packet| {
        let i = start + i;
        for patch in lane.patches_of(i as u32) {
            let handle = match patch.source {
                Source::Launch(signal) => signals[signal as usize].handle(),
                Source::Event(event) => events.handle(event),
            };
            match patch.field {
                Field::Dependency(n) => {
                    let set = packet.set_dep(n.into(), handle);
                    debug_assert!(set.is_ok(), "only barrier packets have dependencies filled in");
                }
                Field::Completion => packet.set_completion_signal(handle),
            }
        }
        if i == last
            && let Some(end) = end
        {
            packet.set_completion_signal(end.handle());
        }
    })
}
