//! Eager submission: packets of one stream, in order, with what they need kept alive behind them.

use std::{
    collections::VecDeque,
    sync::{Arc, MutexGuard, atomic::Ordering},
};

use hsa::packet::{BarrierAnd, Fences, NO_SIGNAL, Packet, Scope};
use smallvec::SmallVec;

use super::{StreamInner, StreamKind, host::Job};
use crate::{
    device::{
        fence::{Fence, Keep, PooledSignal},
        lane::Lane,
        slabs::Block,
    },
    dispatch::Dispatch,
    error::{Error, Result},
    module::KernelCode,
};

/// Kernel arguments of consecutive launches share a block of this many bytes.
const KERNARG_BLOCK: usize = 16 * 1024;

/// Packets after which a fence is put in even if nobody asked, so that what they keep is released.
const FENCE_EVERY: u32 = 256;

/// What a stream knows of its own past.
#[derive(Default)]
pub(crate) struct State {
    /// Fault epoch of everything below; work of an older one is lost.
    epoch: u64,
    /// The newest fence.
    last: Option<Fence>,
    /// What was on another lane, by number, and that nothing on this one waits for yet.
    behind: Option<(Fence, u64)>,
    /// Packets were published behind `last`.
    dirty: bool,
    since_fence: u32,
    keeps: Vec<Keep>,
    /// Fences that may still hold something, oldest first.
    retiring: Retiring,
    kernargs: Option<(Block, usize)>,
    /// The kernel that `keeps` has seen last.
    code: Option<KernelCode>,
}

/// Fences in the order of the stream, and what they keep: that goes with the stream's past, whoever else holds a fence.
/// What it keeps may hold the fence itself, as an executable holds an event that stands for its own launch.
#[derive(Default)]
struct Retiring(VecDeque<Fence>);

impl Drop for Retiring {
    fn drop(&mut self) {
        for fence in self.0.drain(..) {
            drop(fence.take_keeps());
        }
    }
}

impl State {
    /// What is left to wait for, as (fence, everything that it must outlive), if anything is.
    pub(super) fn into_rest(self) -> Option<(Fence, Box<dyn Send + Sync>)> {
        let fence = self.last?;
        Some((fence, Box::new((self.retiring, self.kernargs))))
    }

    /// Whether something may still be in flight or is kept for it.
    pub(super) fn has_rest(&self) -> bool {
        self.dirty || !self.keeps.is_empty() || self.last.as_ref().is_some_and(|last| !last.is_over())
    }
}

/// The right to append to a stream; packets leave together when it is finished.
pub(crate) struct Submission<'a> {
    stream: &'a StreamInner,
    state: MutexGuard<'a, State>,
    lane: Arc<Lane>,
    packets: SmallVec<[Packet; 4]>,
    /// What completed work needed. It may be the caller's, whose `Drop` may wait for this very stream, so it is
    /// dropped behind `state`.
    _released: Released,
}

#[derive(Default)]
struct Released {
    _keeps: Vec<Vec<Keep>>,
    _state: Option<State>,
}

impl<'a> Submission<'a> {
    pub(crate) fn new(stream: &'a StreamInner, mut state: MutexGuard<'a, State>, lane: Arc<Lane>) -> Self {
        let mut released = Released::default();
        if state.epoch != lane.epoch() {
            let fresh = State { epoch: lane.epoch(), ..State::default() };
            released._state = Some(std::mem::replace(&mut *state, fresh));
        }
        while let Some(fence) = state.retiring.0.pop_front_if(|oldest| oldest.has_fired()) {
            released._keeps.push(fence.take_keeps());
        }
        let behind = state.behind.clone();
        let mut submission = Self { stream, state, lane, packets: SmallVec::new(), _released: released };
        if let Some((fence, lane)) = behind {
            submission.wait(&fence, lane);
        }
        submission
    }

    /// Publishes the packets, and has what follows on the stream published to the lane with number `lane`, behind them.
    pub(crate) fn move_to(mut self, lane: usize) -> Result<()> {
        let fence = self.fence_so_far()?;
        self.state.behind = Some((fence, self.lane.id()));
        // ORDER: the state is locked, as it is where the number is read to publish.
        self.stream.lane.store(lane, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn lane(&self) -> &Arc<Lane> {
        &self.lane
    }

    /// A signal with value `initial` for packets of the stream.
    pub(crate) fn signal(&self, initial: i64) -> Result<Arc<PooledSignal>> {
        self.stream.device.0.signals.take(initial, self.lane.epoch())
    }

    /// Queues `job` for the stream's host worker.
    ///
    /// Jobs must be queued in the order in which the stream reaches them, or one could wait for another behind it:
    /// so only who may append to the stream may queue one. A job may wait for packets that are yet to be published,
    /// but no packet may be published that waits for a job that is not queued: the ring could fill up in between.
    pub(crate) fn push_job(&self, job: Job) -> Result<()> {
        self.stream.worker.push(job)
    }

    /// Lets a fault that takes `fence`, of another device, take what follows here too.
    pub(crate) fn watch(&self, fence: &Fence) {
        fence.signal().takes_along(&self.stream.device.0.faults, self.lane.epoch());
    }

    /// Holds everything that follows back until `fence` has fired.
    pub(crate) fn wait(&mut self, fence: &Fence, lane: u64) {
        // On the same queue the barrier bit of whatever follows already orders it.
        if lane == self.lane.id() || fence.is_over() {
            return;
        }
        self.wait_signal(fence.signal().clone());
    }

    /// Holds everything that follows back until `signal` is 0.
    pub(crate) fn wait_signal(&mut self, signal: Arc<PooledSignal>) {
        let fences = Fences { barrier: false, acquire: Scope::System, release: Scope::None };
        let mut deps = [NO_SIGNAL; 5];
        deps[0] = signal.handle();
        self.packets.push(BarrierAnd { fences, deps, completion: NO_SIGNAL }.packet());
        self.keep(Keep::Signal(signal));
    }

    /// Lets `signal` fall to 0 when everything before has completed.
    pub(crate) fn mark(&mut self, signal: &Arc<PooledSignal>) {
        self.packets.push(marker(signal));
        self.keep(Keep::Signal(signal.clone()));
    }

    /// Appends a kernel.
    pub(crate) fn dispatch(&mut self, dispatch: &Dispatch) -> Result<()> {
        let kernarg = self.place(&dispatch.kernargs)?;
        // The host may have written what the kernel reads since the packet before: system acquire. Its
        // results leave the device with the next fence.
        let fences = Fences { barrier: true, acquire: Scope::System, release: Scope::Agent };
        self.packets.push(dispatch.packet(fences, kernarg)?);
        // The module may be unloaded before the kernel has run.
        if !self.state.code.as_ref().is_some_and(|code| code.is(&dispatch.code)) {
            self.keep(Keep::Other(Arc::new(dispatch.code.clone())));
            self.state.code = Some(dispatch.code.clone());
        }
        Ok(())
    }

    /// Copies kernel arguments to where the device reads them.
    pub(crate) fn place(&mut self, bytes: &[u8]) -> Result<u64> {
        // A kernel without arguments may be the first.
        let fits = |(block, used): &(Block, usize)| block.len() - used >= bytes.len();
        if !self.state.kernargs.as_ref().is_some_and(fits) {
            let block = self.stream.device.0.kernargs.take(bytes.len().max(KERNARG_BLOCK))?;
            if let Some((full, _)) = self.state.kernargs.replace((block, 0)) {
                self.state.keeps.push(Keep::Block(full));
            }
        }
        // PANIC: put there just above where it was missing.
        let (block, used) = self.state.kernargs.as_mut().expect("the stream has a kernarg block");
        block.write(*used, bytes);
        let address = block.address() + *used as u64;
        *used = (*used + bytes.len()).next_multiple_of(64).min(block.len());
        Ok(address)
    }

    /// Keeps something alive until the packets of this submission have completed.
    pub(crate) fn keep(&mut self, keep: Keep) {
        self.state.keeps.push(keep);
    }

    /// Publishes the packets.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        if self.state.since_fence > FENCE_EVERY {
            self.fence_here()?;
        }
        Ok(())
    }

    /// Publishes the packets and says when all of the stream so far has completed.
    pub(crate) fn fence(mut self) -> Result<Fence> {
        self.fence_so_far()
    }

    /// As [`Submission::fence`]; `None` if nothing was ever put on the stream.
    pub(crate) fn past(mut self) -> Result<Option<Fence>> {
        self.flush()?;
        if !self.state.dirty && self.state.last.is_none() { Ok(None) } else { self.fence_so_far().map(Some) }
    }

    /// As [`Submission::fence`], with the stream's activity that the fence covers.
    pub(crate) fn fence_with_activity(mut self) -> Result<(Fence, u64)> {
        let fence = self.fence_so_far()?;
        Ok((fence, self.stream.activity()))
    }

    fn fence_so_far(&mut self) -> Result<Fence> {
        self.flush()?;
        if let (false, Some(last)) = (self.state.dirty, &self.state.last) {
            return Ok(last.clone());
        }
        self.fence_here()
    }

    /// Publishes the packets with a fence of their own behind them, whose signal nobody else has.
    pub(crate) fn fresh_fence(mut self) -> Result<Fence> {
        self.flush()?;
        self.fence_here()
    }

    /// Takes note of packets that were published past this submission and that end with `fence`.
    pub(crate) fn passed(mut self, fence: Fence) {
        self.adopt(fence);
    }

    /// Publishes what was pushed so far.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if !self.packets.is_empty() {
            self.lane.submit(&self.packets).map_err(|error| self.report(error))?;
            self.state.dirty = true;
            self.state.since_fence += self.packets.len() as u32;
            self.packets.clear();
            self.state.behind = None;
            self.note_activity();
        }
        Ok(())
    }

    /// The stream's kind decides who must hear of its submissions.
    fn note_activity(&self) {
        // ORDER: Release, behind the packets. Who sees the activity and looks for its fence must find it: a fence on
        // another stream, or the queue's own order.
        self.stream.activity.fetch_add(1, Ordering::Release);
        if self.stream.kind == StreamKind::Blocking {
            self.stream.device.0.blocking_activity.fetch_add(1, Ordering::Release);
        }
    }

    fn fence_here(&mut self) -> Result<Fence> {
        let signal = self.signal(1)?;
        self.lane.submit(&[marker(&signal)]).map_err(|error| self.report(error))?;
        let fence = Fence::new(signal, Vec::new());
        self.adopt(fence.clone());
        Ok(fence)
    }

    /// What to tell the caller of an error of the lane's: a fault counts as reported then.
    pub(crate) fn report(&self, error: Error) -> Error {
        if self.lane.is_current() { error } else { self.stream.device.check().err().unwrap_or(error) }
    }

    fn adopt(&mut self, fence: Fence) {
        fence.keep_all(std::mem::take(&mut self.state.keeps));
        self.state.retiring.0.push_back(fence.clone());
        self.state.last = Some(fence);
        self.state.dirty = false;
        self.state.since_fence = 0;
        self.state.code = None;
        self.note_activity();
    }
}

/// A packet that decrements `signal` when everything before it on its queue has completed.
fn marker(signal: &PooledSignal) -> Packet {
    BarrierAnd { fences: Fences::SYSTEM, deps: [NO_SIGNAL; 5], completion: signal.handle() }.packet()
}
