//! Eager submission: packets of one stream, in order, with what they need kept alive behind them.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak, atomic::Ordering},
};

use hsa::packet::{BarrierAnd, Fences, NO_SIGNAL, Packet, Scope, SignalPlace};
use parking_lot::MutexGuard;

use super::{StreamInner, StreamKind, host::Job, tail::Tail};
use crate::{
    blit, check,
    device::{
        checked, clocks,
        fence::{Fence, Keep, PooledSignal},
        lane::{Lane, Slots},
        own_lanes::OwnLane,
        slabs::Block,
        timeline::{self, Noted, Place, Work},
    },
    error::{Error, Result},
    memory::EngineCopy,
    module::Dispatch,
    module::KernelCode,
};

/// Kernel arguments of consecutive launches share a block of this many bytes.
const KERNARG_BLOCK: usize = 16 * 1024;

/// Packets after which a fence is put in even if none was asked for, so that what they keep is released.
const FENCE_EVERY: u32 = 256;

/// What a stream knows of its own past.
#[derive(Default)]
pub(crate) struct State {
    /// Fault epoch of everything below; work of an older one is lost.
    epoch: u64,
    past: Past,
    /// What was on another lane, by number, and that nothing on this one waits for yet.
    behind: Option<(Fence, u64)>,
    /// What lies behind the last fence.
    tail: Tail,
    since_fence: u32,
    keeps: Vec<Keep>,
    /// How many of them packets need that are published; the others may be for packets that are not.
    published_keeps: usize,
    /// Armed for the end of the stream, which ends whether or not there is memory for a signal.
    closing: Option<Fence>,
    kernargs: Option<(Block, usize)>,
    /// The kernel that `keeps` has seen last.
    code: Option<KernelCode>,
    /// Where the stream is while it is on a lane of its own.
    apart: Option<Apart>,
    /// The lane with a number, as it was found last. Not held: after a fault it must go when the device gives it up.
    lane: Option<(usize, Weak<Lane>)>,
    /// Packets of the submission that is open. Here because it is used again and again: a submission is moved about.
    packets: Vec<Packet>,
    /// Fences that have fired, oldest first, to be used again when nothing else has them any more.
    spare: VecDeque<Fence>,
}

impl State {
    /// The queue on which the last fence lies, if it has not fired.
    pub(super) fn awaited_lane(&self) -> Option<u64> {
        let last = self.past.last.as_ref()?;
        (!last.fence.is_over()).then_some(last.lane)
    }
}

/// A lane of a stream's own, to which it moves when it is to wait for what packets may bring about that are published later.
/// It goes home once nothing of it is in flight.
struct Apart {
    lane: OwnLane,
    /// The number of the lane that it was on, and comes back to.
    home: usize,
    /// Falls when the wait is over; none while it is being put on the stream.
    until: Option<Arc<PooledSignal>>,
}

impl Apart {
    /// Whether what follows on the stream may have to wait for packets that are published later.
    fn is_held(&self) -> bool {
        self.until.as_ref().is_none_or(|until| !until.is_over())
    }
}

/// Fences of the stream, and what they keep: that goes with the stream's past, whatever else holds a fence. What it keeps
/// may hold the fence itself, as an executable holds an event that stands for its own launch.
#[derive(Default)]
struct Past {
    /// The newest one.
    last: Option<Mark>,
    /// Those before it that may still hold something, oldest first.
    retiring: VecDeque<Mark>,
    /// Activity that is over: nothing in flight is of it.
    over: u64,
}

/// A fence of the stream.
struct Mark {
    fence: Fence,
    /// The stream's activity that lies before it.
    covers: u64,
    /// The lane that it lies on.
    lane: u64,
}

impl Drop for Past {
    fn drop(&mut self) {
        for mark in self.retiring.drain(..).chain(self.last.take()) {
            drop(mark.fence.take_keeps());
        }
    }
}

/// Fences that a stream keeps to use again, at most: as many launches in flight as that need no new ones.
const SPARE: usize = 128;

/// How many of them are looked at for one that is free.
const TRIES: usize = 4;

impl State {
    /// The lane with this number, if it is known and as good as when it was found.
    pub(super) fn lane(&self, number: usize) -> Option<Arc<Lane>> {
        let (known, lane) = self.lane.as_ref()?;
        if *known != number {
            return None;
        }
        lane.upgrade().filter(|lane| lane.is_current())
    }

    /// Notes a lane that was looked up.
    pub(super) fn found_lane(&mut self, number: usize, lane: Arc<Lane>) -> Arc<Lane> {
        self.lane = Some((number, Arc::downgrade(&lane)));
        lane
    }

    /// Puts a fence aside that has fired.
    fn spare(&mut self, Mark { fence, covers, .. }: Mark, released: &mut Released) {
        self.past.over = self.past.over.max(covers);
        released.take(&fence);
        // It is armed again soon, and the device has stored to it last.
        fence.signal().ask_for();
        if self.spare.len() == SPARE {
            // One that a caller holds for long.
            self.spare.pop_front();
        }
        self.spare.push_back(fence);
    }

    /// A fence that has fired and that nothing else has, to be armed for packets on queues of `epoch`.
    fn free_fence(&mut self, epoch: u64) -> Option<Fence> {
        let mut spare = self.spare.iter().take(TRIES);
        match spare.position(|fence| fence.is_free(epoch)) {
            Some(free) => self.spare.remove(free),
            None => {
                // These are still held: others come first the next time.
                let looked_at = TRIES.min(self.spare.len());
                self.spare.rotate_left(looked_at);
                None
            }
        }
    }

    /// What is left to wait for, as (fence, everything that it must outlive), if anything is.
    pub(super) fn into_rest(self) -> Option<(Fence, Box<dyn Send + Sync>)> {
        let fence = self.past.last.as_ref()?.fence.clone();
        Some((fence, Box::new((self.past, self.kernargs))))
    }

    /// Whether the stream is on a lane of its own that it needs no longer: nothing is in flight.
    pub(super) fn may_go_home(&self) -> bool {
        self.apart.is_some() && !self.has_rest()
    }

    /// Gives up the lane of the stream's own; returns the number of the one that it comes back to.
    pub(super) fn go_home(&mut self) -> Option<usize> {
        self.apart.take().map(|apart| apart.home)
    }

    /// Gives up the lane of the stream's own, on which all is over with `fence`.
    pub(super) fn leave_behind(&mut self, fence: &Fence) {
        if let Some(apart) = self.apart.take() {
            apart.lane.end_behind(fence);
        }
    }

    /// Whether something may still be in flight or is kept for it.
    pub(super) fn has_rest(&self) -> bool {
        !self.tail.is_empty()
            || !self.keeps.is_empty()
            || self.past.last.as_ref().is_some_and(|last| !last.fence.is_over())
    }
}

/// The right to append to a stream; packets leave together when it is finished.
pub(crate) struct Submission<'a> {
    stream: &'a StreamInner,
    state: MutexGuard<'a, State>,
    lane: Arc<Lane>,
    /// What completed work needed. It may be the caller's, whose `Drop` may wait for this very stream, so it is
    /// dropped behind `state`.
    released: Released,
}

#[derive(Default)]
struct Released {
    keeps: Vec<Vec<Keep>>,
    /// On the heap: it is rare, and a submission is moved about.
    _state: Option<Box<State>>,
}

impl Released {
    /// Takes what a fence keeps that has fired.
    fn take(&mut self, fence: &Fence) {
        if fence.keeps_any() {
            self.keeps.push(fence.take_keeps());
        }
    }
}

impl<'a> Submission<'a> {
    pub(crate) fn new(stream: &'a StreamInner, mut state: MutexGuard<'a, State>, lane: Arc<Lane>) -> Self {
        lane.ask_for_next_slot();
        clocks::submit(stream.id);
        let mut released = Released::default();
        if state.epoch != lane.epoch() {
            let (lane_of, apart) = (state.lane.take(), state.apart.take());
            let mut fresh = State { epoch: lane.epoch(), lane: lane_of, apart, ..State::default() };
            // Nothing of an older epoch runs any more.
            fresh.past.over = stream.activity();
            released._state = Some(Box::new(std::mem::replace(&mut *state, fresh)));
        }
        // What a submission that failed has left is not published by another.
        state.packets.clear();
        while let Some(mark) = state.past.retiring.pop_front_if(|mark| mark.fence.has_fired()) {
            state.spare(mark, &mut released);
        }
        let last = state.past.last.as_ref().map(|last| &last.fence);
        if let Some(last) = last.filter(|last| last.keeps_any() && last.has_fired()) {
            released.take(last);
        }
        let behind = state.behind.clone();
        let mut submission = Self { stream, state, lane, released };
        if let Some((fence, lane)) = behind {
            submission.follow(&fence, lane);
        }
        submission
    }

    /// Sees to it that the stream can be [closed](Submission::close), whatever becomes of the memory.
    pub(crate) fn reserve_closing(&mut self) -> Result<()> {
        if self.state.closing.is_none() {
            self.state.closing = Some(Fence::new(self.signal(1)?, Vec::new()));
        }
        Ok(())
    }

    /// As [`Submission::fence`], for a stream whose last copy is gone.
    pub(crate) fn close(mut self) -> Result<Fence> {
        self.flush()?;
        match (self.state.closing.take(), &self.state.past.last) {
            (_, Some(last)) if self.state.tail.is_empty() && self.state.keeps.is_empty() => {
                Ok(last.fence.clone())
            }
            (Some(closing), _) => {
                if self.is_held() {
                    closing.signal().open();
                }
                self.fence_ending(closing)
            }
            (None, _) => self.fence_so_far(),
        }
    }

    /// Publishes the packets, and has what follows on the stream published to the lane with number `lane`, behind them; once
    /// the stream comes back there, if it is on a lane of its own and waits.
    pub(crate) fn move_to(mut self, lane: usize) -> Result<()> {
        if let Some(apart) = self.state.apart.as_mut().filter(|apart| apart.is_held()) {
            apart.home = lane;
            return self.finish();
        }
        let fence = self.fence_so_far()?;
        self.state.leave_behind(&fence);
        self.state.behind = Some((fence, self.lane.id()));
        // ORDER: the state is locked, as it is where the number is read to publish.
        self.stream.lane.store(lane, Ordering::Relaxed);
        Ok(())
    }

    /// Publishes the packets, and behind them a kernel to another lane; what follows on the stream comes behind it, where
    /// it would have come.
    pub(crate) fn detour(mut self, lane: Arc<Lane>, dispatch: &Dispatch) -> Result<()> {
        if lane.epoch() != self.lane.epoch() {
            // A fault has taken the stream's lane in between.
            let lost = Error::LaunchFailure("the queues of a device that faulted".into());
            return Err(self.report(lost));
        }
        // A lane that others share must not wait for what this stream waits for.
        if lane.id() != self.lane.id() && !self.is_held() {
            let before = self.fence_so_far()?;
            let home = std::mem::replace(&mut self.lane, lane);
            self.follow(&before, home.id());
            // Once the kernel is published, what follows must find its end.
            let end = self.armed_fence()?;
            self.dispatch(dispatch)?;
            self.flush()?;
            let end = self.fence_ending(end)?;
            self.state.behind = Some((end, self.lane.id()));
            return Ok(());
        }
        self.dispatch(dispatch)?;
        self.finish()
    }

    pub(crate) fn lane(&self) -> &Arc<Lane> {
        &self.lane
    }

    /// A signal with value `initial` for packets of the stream.
    pub(crate) fn signal(&self, initial: i64) -> Result<Arc<PooledSignal>> {
        self.stream.device.0.signals.take(initial, self.lane.epoch())
    }

    /// A signal with value 1 that packets alone wait for.
    pub(crate) fn edge(&self) -> Result<Arc<PooledSignal>> {
        self.edges(1)
    }

    /// As [`Submission::edge`], with value `initial`.
    pub(crate) fn edges(&self, initial: i64) -> Result<Arc<PooledSignal>> {
        self.stream.device.0.edges.take(initial, self.lane.epoch())
    }

    /// Queues `job` for the stream's host worker.
    ///
    /// Jobs must be queued in the order in which the stream reaches them, or one could wait for another behind it:
    /// so only a submission to the stream may queue one. A job may wait for packets that are yet to be published,
    /// but no packet may be published that waits for a job that is not queued: the ring could fill up in between.
    pub(crate) fn push_job(&self, job: Job) -> Result<()> {
        self.stream.worker.push(job)
    }

    /// Has the stream's worker, which was started, do what `make` returns once nothing but a fault keeps it from being done.
    pub(super) fn run_on_host<W: FnOnce() + Send + 'static>(
        &mut self,
        make: impl FnOnce() -> W,
    ) -> Result<()> {
        let (reached, returned) = (self.signal(1)?, self.edge()?);
        self.mark(&reached);
        self.wait_signal(returned.clone());
        let (work, moment) = (make(), clocks::command(self.stream.id));
        let work = move || {
            moment.iter().for_each(|moment| clocks::learn(&moment.clock));
            clocks::executing(moment.map(|moment| moment.place), work);
        };
        self.push_job(Job::new(vec![reached], work, Some(returned)))
    }

    /// Lets a fault that takes `fence`, of another device, take what follows here too.
    pub(crate) fn watch(&self, fence: &Fence) {
        fence.signal().takes_along(&self.stream.device.0.faults, self.lane.epoch());
    }

    /// Whether what follows may have to wait for packets that are published later. The stream is on a lane of its own then.
    pub(crate) fn is_held(&self) -> bool {
        self.state.apart.as_ref().is_some_and(Apart::is_held)
    }

    /// The number of the lane that the stream shares with others, or will when it comes back.
    pub(crate) fn home(&self) -> usize {
        self.state.apart.as_ref().map_or(self.stream.lane_number(), |apart| apart.home)
    }

    /// Moves the stream to a lane of its own, if it is on none: a wait follows for what packets may bring about that are
    /// published later, until [`Submission::held_until`] says what it ends with.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if there is neither such a lane nor a queue for one.
    pub(crate) fn stand_apart(&mut self) -> Result<()> {
        clocks::open(self.stream.id);
        if let Some(apart) = &mut self.state.apart {
            apart.until = None;
            return Ok(());
        }
        let (device, home) = (&self.stream.device, self.stream.lane_number());
        let own = device.own_lane(home, None);
        let lane = device.lane(own.kind())?;
        if lane.epoch() != self.lane.epoch() {
            return Err(self.report(Error::LaunchFailure("the queues of a device that faulted".into())));
        }
        self.flush()?;
        let has_past = !self.state.tail.is_empty() || self.state.past.last.is_some();
        let before = has_past.then(|| self.fence_so_far()).transpose()?;
        let number = own.kind().number();
        let shared = std::mem::replace(&mut self.lane, self.state.found_lane(number, lane));
        // ORDER: the state is locked, as it is where the number is read to publish.
        self.stream.lane.store(number, Ordering::Relaxed);
        self.state.apart = Some(Apart { lane: own, home, until: None });
        if let Some(before) = before {
            self.follow(&before, shared.id());
            // Whatever becomes of this submission.
            self.state.behind = Some((before, shared.id()));
        }
        Ok(())
    }

    /// Notes that a wait on the stream, which [stands apart](Submission::stand_apart) for it, is over with `fence`.
    pub(crate) fn held_until(&mut self, fence: &Fence) {
        if let Some(apart) = self.state.apart.as_mut().filter(|apart| apart.until.is_none()) {
            apart.until = Some(fence.signal().clone());
        }
    }

    /// Publishes what `wait` appends, which waits for what packets may bring about that are published later: on a lane of
    /// the stream's own.
    ///
    /// # Errors
    /// As [`Submission::stand_apart`], and those of `wait`.
    pub(crate) fn hold(&mut self, wait: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.stand_apart()?;
        let end = self.armed_fence()?;
        wait(self)?;
        self.flush()?;
        let end = self.fence_ending(end)?;
        self.held_until(&end);
        Ok(())
    }

    /// Holds everything that follows back until `fence` has fired, which lies on the lane with this identity. If that may
    /// take packets that are published later, the stream moves to a lane of its own.
    ///
    /// # Errors
    /// As [`Submission::stand_apart`].
    pub(crate) fn wait(&mut self, fence: &Fence, lane: u64) -> Result<()> {
        if lane != self.lane.id() && fence.signal().is_open() {
            return self.hold(|this| {
                this.wait_signal(fence.signal().clone());
                Ok(())
            });
        }
        self.follow(fence, lane);
        Ok(())
    }

    fn follow(&mut self, fence: &Fence, lane: u64) {
        clocks::follow(self.stream.id, fence.key());
        if lane == self.lane.id() {
            // On the same queue the barrier bit of whatever follows already orders it. A fence of the stream's is not what
            // follows, unless it comes behind.
            let own = self.state.past.last.as_ref().is_some_and(|last| last.fence.is(fence));
            if !own && !fence.is_over() {
                self.state.tail.join();
            }
        } else if !fence.is_over() {
            self.wait_signal(fence.signal().clone());
        }
    }

    /// Holds everything that follows back until `signal` is 0.
    pub(crate) fn wait_signal(&mut self, signal: Arc<PooledSignal>) {
        let fences = Fences { barrier: false, acquire: Scope::System, release: Scope::None };
        let mut deps = [NO_SIGNAL; 5];
        deps[0] = signal.handle();
        self.state.packets.push(BarrierAnd { fences, deps, completion: NO_SIGNAL }.packet());
        self.keep(Keep::Signal(signal));
    }

    /// Lets `signal` fall to 0 when everything before has completed.
    pub(crate) fn mark(&mut self, signal: &Arc<PooledSignal>) {
        self.state.packets.push(marker(signal));
        self.keep(Keep::Signal(signal.clone()));
    }

    /// Makes what everything before has written visible to processors that read memory themselves.
    pub(crate) fn release(&mut self) {
        let release = BarrierAnd { fences: Fences::SYSTEM, deps: [NO_SIGNAL; 5], completion: NO_SIGNAL };
        self.state.packets.push(release.packet());
    }

    /// Appends a kernel.
    pub(crate) fn dispatch(&mut self, dispatch: &Dispatch) -> Result<()> {
        let arguments = match &dispatch.kernargs[..] {
            [] => checked::no_arguments(),
            given => given,
        };
        let kernarg = self.place(arguments)?;
        if !arguments.is_empty() {
            let kernel = (dispatch.code.name(), dispatch.code.is_own());
            check::submitted(self.stream.id, kernarg, kernel, || blit::touches(dispatch));
        }
        // The host may have written what the kernel reads since the packet before: system acquire. Its
        // results leave the device with the next fence.
        let fences = Fences { barrier: true, acquire: Scope::System, release: Scope::Agent };
        let mut packet = dispatch.packet(fences, kernarg)?;
        if let Some(launch) = timeline::Launch::next(self.stream.id, None) {
            packet.set_completion_signal(self.note(launch, dispatch)?.handle());
        }
        self.state.packets.push(packet);
        // The module may be unloaded before the kernel has run.
        if !self.state.code.as_ref().is_some_and(|code| code.is(&dispatch.code)) {
            self.keep(Keep::Other(Arc::new(dispatch.code.clone())));
            self.state.code = Some(dispatch.code.clone());
        }
        Ok(())
    }

    /// Notes for the timeline what a packet does; returns the signal that the packet has to fire.
    #[cold]
    fn note(&self, launch: timeline::Launch, dispatch: &Dispatch) -> Result<Arc<PooledSignal>> {
        let _launching = launch.begin();
        let (device, signal) = (self.stream.device.clone(), self.edge()?);
        let place = Place::Queue(self.lane.id());
        let work = Work::of(dispatch.code.name(), dispatch.code.is_own());
        let task = blit::task(dispatch);
        let noted =
            Noted { device, place, signal: signal.clone(), work, task, launch, node: None, is_first: true };
        timeline::note([noted]);
        Ok(signal)
    }

    /// Appends a copy: by a copy engine if there is one for it that takes it, else by a kernel.
    pub(crate) fn copy_bytes(&mut self, engine: Option<&EngineCopy>, dispatch: &Dispatch) -> Result<()> {
        let device = &self.stream.device;
        // The device does not note what a copy engine touches, nor when it does.
        let may = !self.is_held() && device.engines_serve() && !device.0.system.is_checked();
        if let Some(copy) = engine.filter(|_| may)
            && self.copy_by_engine(copy)?
        {
            return Ok(());
        }
        self.dispatch(dispatch)
    }

    /// Has an engine copy behind everything before, and holds what follows back until it has; says whether one does.
    fn copy_by_engine(&mut self, copy: &EngineCopy) -> Result<bool> {
        let (reached, copied) = (self.edge()?, self.edge()?);
        self.mark(&reached);
        // Published before the engine gets the copy: it waits for nothing but what was submitted before, to queues or to
        // engines, as every packet does.
        self.flush()?;
        let traced = timeline::Launch::next(self.stream.id, None);
        let _launching = traced.map(|launch| launch.begin());
        if traced.is_some() {
            timeline::time_engines();
        }
        if let Err(error) = copy.submit([&*reached].into_iter(), &copied) {
            tracing::warn!("a copy engine refuses a copy: {error}");
            return Ok(false);
        }
        if let Some(launch) = traced {
            timeline::note([copy.noted(&copied, launch, None, true)]);
        }
        self.wait_signal(copied);
        Ok(true)
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
            match self.fence_here() {
                // The work is on its way, so the call has succeeded: the next one tries again.
                Err(Error::OutOfMemory { .. }) => {}
                outcome => drop(outcome?),
            }
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
        if self.state.tail.is_empty() && self.state.past.last.is_none() {
            Ok(None)
        } else {
            self.fence_so_far().map(Some)
        }
    }

    /// As [`Submission::fence`], with the stream's activity that the fence covers.
    pub(crate) fn fence_with_activity(mut self) -> Result<(Fence, u64)> {
        let fence = self.fence_so_far()?;
        Ok((fence, self.stream.activity()))
    }

    fn fence_so_far(&mut self) -> Result<Fence> {
        self.flush()?;
        if let (true, Some(last)) = (self.state.tail.is_empty(), &self.state.past.last) {
            // What the stream has waited for meanwhile was over.
            clocks::mark(self.stream.id, last.fence.key());
            return Ok(last.fence.clone());
        }
        self.fence_here()
    }

    /// What lies behind the stream's activity up to `activity`: a fence and its lane, or nothing if all of that is over.
    pub(super) fn behind(&mut self, activity: u64) -> Result<Option<(Fence, u64)>> {
        let past = &self.state.past;
        if activity <= past.over {
            return Ok(None);
        }
        let known = past.retiring.iter().chain(&past.last).find(|mark| mark.covers >= activity);
        if let Some(mark) = known {
            return Ok((!mark.fence.has_fired()).then(|| (mark.fence.clone(), mark.lane)));
        }
        let lane = self.lane.id();
        Ok(Some((self.fence_so_far()?, lane)))
    }

    /// Publishes the packets with a fence of their own behind them, whose signal nothing else has.
    pub(crate) fn fresh_fence(mut self) -> Result<Fence> {
        self.flush()?;
        self.fence_here()
    }

    /// Publishes what was pushed so far and an image of packets, with a fence at the last of them, which waits for all of
    /// them; to be [passed](Submission::passed) on.
    pub(crate) fn copy(&mut self, image: &[Packet]) -> Result<Fence> {
        let fence = self.armed_fence()?;
        self.copy_ending(image, fence)
    }

    /// As [`Submission::copy`], with a fence that [was armed](Submission::armed_fence): nothing is left to fail for want of
    /// memory.
    pub(crate) fn copy_ending(&mut self, image: &[Packet], fence: Fence) -> Result<Fence> {
        // The fence is behind what the stream has joined.
        self.publish()?;
        let (last, signal) = (image.len().wrapping_sub(1), fence.signal().handle());
        let end = |slots: &mut Slots<'_, '_>| {
            if slots.packets().contains(&last) {
                slots.set(last, SignalPlace::Completion, signal);
            }
        };
        self.lane.submit_image(image, end).map_err(|error| self.report(error))?;
        Ok(fence)
    }

    /// A fence that nothing else has, for a packet that is yet to be published.
    pub(crate) fn armed_fence(&mut self) -> Result<Fence> {
        let fence = match self.state.free_fence(self.lane.epoch()) {
            Some(fence) => {
                fence.arm();
                fence
            }
            None => Fence::new(self.signal(1)?, Vec::new()),
        };
        if self.is_held() {
            fence.signal().open();
        }
        Ok(fence)
    }

    /// Takes note of packets that were published past this submission and that end with `fence`.
    pub(crate) fn passed(mut self, fence: Fence) {
        self.adopt(fence);
    }

    /// Publishes what was pushed so far; others hear of what the stream is behind from now on.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.publish()?;
        if self.state.tail.take_joined() {
            self.note_activity();
        }
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        if self.stream.order.takes_mark() && self.state.tail.has_packets() {
            self.mark_so_far()?;
        }
        if !self.state.packets.is_empty() {
            self.lane.submit(&self.state.packets).map_err(|error| self.report(error))?;
            self.state.published_keeps = self.state.keeps.len();
            self.state.tail.publish();
            self.state.since_fence += self.state.packets.len() as u32;
            self.state.packets.clear();
            self.state.behind = None;
            self.note_activity();
        }
        Ok(())
    }

    /// Puts a fence between what was published and what is yet to be.
    fn mark_so_far(&mut self) -> Result<()> {
        let state = &mut *self.state;
        let code = if state.packets.is_empty() { None } else { state.code.clone() };
        // What the packets need that are yet to be published must not go with a fence that they are not before.
        let mut rest = state.keeps.split_off(state.published_keeps);
        rest.extend(code.map(|code| Keep::Other(Arc::new(code))));
        let marked = self.fence_here();
        self.state.keeps.append(&mut rest);
        match marked {
            // Without it others wait for more than they need to.
            Err(Error::OutOfMemory { .. }) => Ok(()),
            marked => marked.map(drop),
        }
    }

    /// Counts a submission; returns its number. The stream's kind decides which streams must hear of it.
    fn note_activity(&self) -> u64 {
        // ORDER: Release, behind the packets. A thread that sees the activity and looks for its fence must find it: a fence on
        // another stream, or the queue's own order.
        // Nothing else changes it: the state is locked.
        let activity = self.stream.activity.load(Ordering::Relaxed) + 1;
        if self.stream.kind == StreamKind::Blocking {
            // ORDER: SeqCst; see `ActivityCounter::submitted`. A swap, as a store needs a fence behind it.
            self.stream.activity.swap(activity, Ordering::SeqCst);
            self.stream.shared.blocking_activity.submitted();
        } else {
            self.stream.activity.store(activity, Ordering::Release);
        }
        activity
    }

    fn fence_here(&mut self) -> Result<Fence> {
        let fence = self.armed_fence()?;
        self.fence_ending(fence)
    }

    /// Publishes the packets with a fence behind them that [was armed](Submission::armed_fence).
    pub(crate) fn ending(mut self, fence: Fence) -> Result<Fence> {
        self.flush()?;
        self.fence_ending(fence)
    }

    fn fence_ending(&mut self, fence: Fence) -> Result<Fence> {
        self.lane.submit(&[marker(fence.signal())]).map_err(|error| self.report(error))?;
        self.adopt(fence.clone());
        Ok(fence)
    }

    /// What to tell the caller of an error of the lane's: a fault counts as reported then.
    pub(crate) fn report(&self, error: Error) -> Error {
        if self.lane.is_current() { error } else { self.stream.device.check().err().unwrap_or(error) }
    }

    fn adopt(&mut self, fence: Fence) {
        clocks::mark(self.stream.id, fence.key());
        timeline::ending(self.stream.id, &fence);
        if !self.state.keeps.is_empty() {
            fence.keep_all(std::mem::take(&mut self.state.keeps));
        }
        self.state.published_keeps = 0;
        let mark = Mark { fence, covers: self.note_activity(), lane: self.lane.id() };
        match self.state.past.last.replace(mark) {
            Some(before) if before.fence.has_fired() => self.state.spare(before, &mut self.released),
            before => self.state.past.retiring.extend(before),
        }
        self.state.tail.end();
        self.state.since_fence = 0;
        self.state.code = None;
    }
}

/// A packet that decrements `signal` when everything before it on its queue has completed.
fn marker(signal: &PooledSignal) -> Packet {
    BarrierAnd { fences: Fences::SYSTEM, deps: [NO_SIGNAL; 5], completion: signal.handle() }.packet()
}

#[cfg(test)]
mod tests {

    use crate::{
        Device, Module, Stream, StreamKind,
        graph::{Kernel, KernelAttributes},
        memory,
    };

    #[test]
    fn a_kernel_with_a_priority_of_its_own_goes_to_a_queue_of_it_in_the_streams_order() {
        let device = Device::get(0).unwrap();
        let objects: [&[u8]; 5] = [
            include_bytes!("../../kernels/tests.gfx90a.co"),
            include_bytes!("../../kernels/tests.gfx9-4-generic.co"),
            include_bytes!("../../kernels/tests.gfx10-3-generic.co"),
            include_bytes!("../../kernels/tests.gfx11-generic.co"),
            include_bytes!("../../kernels/tests.gfx12-generic.co"),
        ];
        let function = Module::first_that_fits(&device, &objects).unwrap().kernel("append").unwrap();
        let log = memory::allocate_host(&device, 256, memory::Origin::Host, 0).unwrap();
        let kernel = |number: u32| {
            let mut kernargs = log.address.to_le_bytes().to_vec();
            kernargs.extend(number.to_le_bytes());
            let attributes = KernelAttributes::DEFAULT.into();
            let (grid, block) = ([1; 3], [1; 3]);
            Kernel {
                function: function.clone(),
                grid,
                block,
                shared_bytes: 0,
                kernargs: kernargs.into(),
                attributes,
            }
        };
        let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
        // The queue behind whose work the next packet of the stream is put, if that is another than the stream's.
        let behind = || {
            let state = stream.0.state.lock();
            state.behind.as_ref().map(|(_, lane)| *lane)
        };
        let lane_of = |priority| device.lane_beside_of(stream.lane_number(), 0, priority).unwrap().id();
        for (number, priority) in [None, Some(-1), Some(1), Some(0), Some(-1), None].into_iter().enumerate() {
            let kernel = kernel(number as u32);
            match priority {
                Some(priority) => stream.launch_at(kernel, priority).unwrap(),
                None => stream.launch(kernel).unwrap(),
            }
            let other = priority.filter(|&priority| priority != 0);
            assert_eq!(behind(), other.map(lane_of), "{priority:?}");
        }
        assert!(lane_of(-1) != lane_of(1) && lane_of(0) != lane_of(1));
        stream.synchronize().unwrap();
        let words: Vec<u32> = (0..7u64)
            .map(|n| {
                // SAFETY: the test's memory, which the device writes no more.
                unsafe { ((log.address + 4 * n) as *const u32).read_volatile() }
            })
            .collect();
        assert_eq!(words, [6, 0, 1, 2, 3, 4, 5]);
    }
}
