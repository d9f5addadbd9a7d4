//! One launch: arm signals, copy the images into the rings, hand the host steps to the worker.

use std::sync::{Arc, Mutex, PoisonError, atomic::Ordering};

use super::{
    Exec, State,
    image::{Field, HostStep, LaneImage, Run},
    units::{Pin, Unit},
};
use crate::{
    capture,
    device::{
        Device, Fence,
        fence::{Keep, PooledSignal},
        lane::{Lane, RING},
        slabs::Block,
    },
    error::{CaptureError, Error, Result},
    memory,
    stream::{Stream, host::Job},
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
                left().take(n).for_each(|block| drop(block.release()));
                return Err(refused);
            }
        }
        Ok(())
    }

    fn give_memory_back(&self) {
        self.0.resources.memory.iter().filter(|(_, left)| *left).for_each(|(block, _)| drop(block.release()));
    }

    fn publish(&self, state: &mut State, stream: &Stream) -> Result<()> {
        let device = &self.0.device;
        let completion = device.0.signals.take(1)?;
        let set = state.arm(device)?;
        let signals = state.sets[set].signals.clone();
        let image = state.image.clone();
        let mut lanes = Vec::with_capacity(image.lanes.len());

        let mut submission = stream.submission()?;
        lanes.push(submission.lane().clone());
        // The other queues are any but the stream's: two lanes of one graph on one queue could wait for each
        // other in a circle.
        for n in 1..image.lanes.len() {
            lanes.push(device.lane(stream.lane_number() + n)?);
        }
        if let Some((fence, lane)) = &state.last {
            submission.wait(fence, *lane);
        }
        submission.flush()?;
        {
            // Two graphs with several lanes each must stand in the same order on every queue they share.
            // Otherwise each could stand in front of what the other waits for.
            let several = (lanes.len() > 1).then(|| &device.0.publication);
            let _order = several.map(|lock| lock.lock().unwrap_or_else(PoisonError::into_inner));
            let fits = image.lanes.iter().all(|lane| lane.packets.len() < RING as usize / 2);
            if fits {
                for (lane, queue) in image.lanes.iter().zip(&lanes) {
                    let run = Run { lane: 0, start: 0, end: lane.packets.len() as u32 };
                    copy_run(queue, lane, run, &signals, lane_end(&image.lanes, lane, &completion))?;
                }
            } else {
                // A lane that is longer than its ring must not be published to its end while it waits for
                // packets of another lane that are not.
                for run in &image.runs {
                    let lane = &image.lanes[run.lane as usize];
                    let end = lane_end(&image.lanes, lane, &completion);
                    copy_run(&lanes[run.lane as usize], lane, *run, &signals, end)?;
                }
            }
        }
        let fence = Fence::new(completion, Vec::new());
        fence.keep(Keep::Other(Arc::new((signals.clone(), state.arena.clone()))));
        for (_, block) in &state.moved {
            fence.keep(Keep::Other(block.clone()));
        }
        fence.keep(Keep::Other(self.0.resources.clone()));
        let lane = lanes[0].id();
        submission.passed(fence.clone());
        state.sets[set].launch = Some(fence.clone());
        state.last = Some((fence.clone(), lane));
        self.queue_host_steps(state, stream, &signals, &fence)
    }

    fn queue_host_steps(
        &self,
        state: &State,
        stream: &Stream,
        signals: &[Arc<PooledSignal>],
        fence: &Fence,
    ) -> Result<()> {
        if state.image.host.is_empty() {
            return Ok(());
        }
        let pinned = Arc::new(Mutex::new(Vec::new()));
        for step in &state.image.host {
            let run = self.host_work(state, step, &pinned);
            let done = step.done.map(|s| signals[s as usize].clone());
            let after = step.after.iter().map(|&s| signals[s as usize].clone()).collect();
            stream.push_job(Job { after, run, done })?;
        }
        // Pages stay pinned until the launch is over; nobody waits for them to be let go.
        let after = vec![fence.signal().clone()];
        stream.push_job(Job { after, run: Box::new(move || drop(pinned)), done: None })
    }

    fn host_work(
        &self,
        state: &State,
        step: &HostStep,
        pinned: &Arc<Mutex<Vec<PinnedPages>>>,
    ) -> Box<dyn FnOnce() + Send> {
        match &state.units[step.unit as usize] {
            Unit::Host(function) => {
                let function = function.clone();
                Box::new(move || function.call())
            }
            Unit::HostCopy(copy) => {
                let copy = copy.clone();
                // SAFETY: who gave the node's parameters promised that its host operands are valid whenever the
                // graph runs.
                Box::new(move || unsafe { memory::host_copy(&copy) })
            }
            Unit::Pin(pin) => {
                let (device, pin, pinned) = (self.0.device.clone(), *pin, pinned.clone());
                let (block, offset) = state.arguments_of(step.unit + 1);
                Box::new(move || {
                    let pages = match PinnedPages::new(&device, &pin) {
                        Ok(pages) => pages,
                        Err(e) => {
                            // Without the pages the copy cannot run, nor anything behind it.
                            device.0.faults.record(Error::LaunchFailure(format!(
                                "the {} bytes at {:#x} cannot be pinned for a copy: {e}",
                                pin.bytes, pin.address
                            )));
                            return;
                        }
                    };
                    block.write(offset + pin.argument, &pages.address().to_le_bytes());
                    pinned.lock().unwrap_or_else(PoisonError::into_inner).push(pages);
                })
            }
            Unit::Dispatch(_) | Unit::Join => Box::new(|| {}),
        }
    }
}

/// Host memory that the device can reach while a copy runs.
enum PinnedPages {
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
    /// Arms the signals of a launch that is over, or new ones, and says which set they are.
    fn arm(&mut self, device: &Device) -> Result<usize> {
        let free = self.sets.iter().position(|set| set.launch.as_ref().is_none_or(Fence::is_over));
        if let Some(set) = free
            && self.sets[set].signals.iter().all(|s| s.is_current())
        {
            for signal in self.sets[set].signals.iter() {
                signal.silent_store(1, Ordering::Relaxed);
            }
            return Ok(set);
        }
        let fresh = (0..self.image.signals).map(|_| device.0.signals.take(1)).collect::<Result<_>>()?;
        let fresh = SignalSet { signals: Arc::new(fresh), launch: None };
        Ok(match free {
            // A fault came between: who armed the old signals may never have let go of them.
            Some(set) => {
                self.sets[set] = fresh;
                set
            }
            None => {
                self.sets.push(fresh);
                self.sets.len() - 1
            }
        })
    }

    /// Where a unit's kernel arguments are.
    fn arguments_of(&self, unit: u32) -> (Arc<Block>, usize) {
        match self.moved.iter().find(|(u, _)| *u == unit) {
            Some((_, block)) => (block.clone(), 0),
            None => (self.arena.clone(), self.offsets[unit as usize] as usize),
        }
    }
}

/// The signal that the last packet of `lane` completes, if that is the last of the launch.
fn lane_end<'a>(
    lanes: &[LaneImage],
    lane: &LaneImage,
    completion: &'a Arc<PooledSignal>,
) -> Option<&'a Arc<PooledSignal>> {
    std::ptr::eq(lane, &lanes[0]).then_some(completion)
}

fn copy_run(
    queue: &Lane,
    lane: &LaneImage,
    run: Run,
    signals: &[Arc<PooledSignal>],
    end: Option<&Arc<PooledSignal>>,
) -> Result<()> {
    let last = lane.packets.len() - 1;
    let start = run.start as usize;
    // Packets are asked for in the ring's own order, not in theirs.
    queue.submit_image(&lane.packets[start..run.end as usize], |i, packet| {
        let i = start + i;
        for patch in lane.patches_of(i as u32) {
            let handle = signals[patch.signal as usize].handle();
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
