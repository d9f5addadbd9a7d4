//! Completion of a point in a stream: one HSA signal, and what must stay alive until it fires.

use std::{
    any::Any,
    collections::VecDeque,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;

use super::{
    Device, clocks,
    fault::{Bond, Faults},
    holders,
    slabs::Block,
    wait::WaitPolicy,
};
use crate::error::{Error, Result};

/// How long a wait sleeps before it looks whether the device has faulted meanwhile.
const FAULT_POLL: Duration = Duration::from_millis(5);

/// How long a thread sleeps between two looks at a signal that wakes no thread.
const EDGE_POLL: Duration = Duration::from_micros(50);

/// Something that work keeps alive until it has completed.
pub type Alive = Arc<dyn Any + Send + Sync>;

/// Something that packets in flight refer to; it is dropped when the fence behind them has fired.
pub(crate) enum Keep {
    /// Kernel arguments or staging memory.
    Block(#[allow(dead_code, reason = "held for its Drop")] Block),
    /// A signal that a packet waits for or decrements.
    Signal(#[allow(dead_code, reason = "held for its Drop")] Arc<PooledSignal>),
    /// Anything else: loaded code, pinned memory, host functions.
    Other(#[allow(dead_code, reason = "held for its Drop")] Alive),
}

/// Signals that wait to be used again: creating one costs tens of microseconds on hardware.
pub(crate) struct SignalPool {
    runtime: Arc<hsa::Runtime>,
    waiters: hsa::Waiters,
    faults: Arc<Faults>,
    free: Mutex<Free>,
    /// Signals that are in use.
    used: AtomicUsize,
}

/// As many signals stay for use again, even if fewer are in use: those of the launches that are in flight at once.
const RETAINED: usize = 512;

/// Signals that are not in use, oldest first.
#[derive(Default)]
struct Free {
    /// No packet in flight has them.
    quiet: VecDeque<hsa::Signal>,
    /// A fence may be dropped before it fires: a packet may still decrement its signal. With their epochs. They may
    /// stay here for long, and must not hold up the other signals.
    pending: VecDeque<(hsa::Signal, u64)>,
}

impl SignalPool {
    /// A pool of signals that these wait for. Only those that host threads sleep on raise an interrupt when they fire; a
    /// process has some thousand of them. A thread can wait for others, too, but only by looking again and again.
    pub(crate) fn new(runtime: Arc<hsa::Runtime>, faults: Arc<Faults>, waiters: hsa::Waiters) -> Arc<Self> {
        Arc::new(Self { runtime, waiters, faults, free: Mutex::default(), used: AtomicUsize::new(0) })
    }

    /// A signal with value `initial` that is not in use, for packets on queues of `epoch`.
    pub(crate) fn take(self: &Arc<Self>, initial: i64, epoch: u64) -> Result<Arc<PooledSignal>> {
        let reused = {
            let mut free = self.free.lock();
            if free.quiet.is_empty() {
                free.look(4, &self.faults);
            }
            free.quiet.pop_front()
        };
        let signal = match reused {
            Some(signal) => signal,
            None => hsa::Signal::create(&self.runtime, initial, &[], self.waiters)?.held_by(holders::SIGNALS),
        };
        signal.silent_store(initial, Ordering::Relaxed);
        self.used.fetch_add(1, Ordering::Relaxed);
        let signal = Some(signal);
        let (is_known, in_engine, is_open) = Default::default();
        Ok(Arc::new(PooledSignal { signal, epoch, is_known, in_engine, is_open, pool: self.clone() }))
    }
}

impl SignalPool {
    /// Signals that are in use, and those that wait to be used again.
    pub(crate) fn footprint(&self) -> (usize, usize) {
        let free = self.free.lock();
        (self.used.load(Ordering::Relaxed), free.quiet.len() + free.pending.len())
    }
}

impl Free {
    /// Looks at some signals, each in its turn, whether a packet is still behind them.
    fn look(&mut self, most: usize, faults: &Faults) {
        for _ in 0..most.min(self.pending.len()) {
            let Some((signal, epoch)) = self.pending.pop_front() else { break };
            if signal.load(Ordering::Acquire) == 0 || faults.is_settled(epoch) {
                self.quiet.push_back(signal);
            } else {
                self.pending.push_back((signal, epoch));
            }
        }
    }

    /// Takes what is more than stays while `used` are in use: as many as those, so that they can come and go.
    fn surplus(&mut self, used: usize) -> Option<hsa::Signal> {
        (self.quiet.len() > used.max(RETAINED)).then(|| self.quiet.pop_front()).flatten()
    }
}

/// A signal of the pool; it returns there when the last reference is dropped.
pub(crate) struct PooledSignal {
    signal: Option<hsa::Signal>,
    epoch: u64,
    /// Whether a packet may have it since it was taken or armed.
    is_known: AtomicBool,
    /// Whether a copy engine may have it.
    in_engine: AtomicBool,
    /// Whether what it stands for may come behind packets that are published later.
    is_open: AtomicBool,
    pool: Arc<SignalPool>,
}

impl PooledSignal {
    /// Makes it 1, for packets that are yet to be published: those that had it before are over.
    pub(crate) fn arm(&self) {
        self.is_known.store(false, Ordering::Relaxed);
        self.is_open.store(false, Ordering::Relaxed);
        self.silent_store(1, Ordering::Relaxed);
    }

    /// Notes, before any other thread has it, that it falls behind a wait for what packets may bring about that are
    /// published later: no lane that streams share must wait for it.
    pub(crate) fn open(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }

    /// Whether it was [noted so](PooledSignal::open) and has not fired.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed) && !self.is_over()
    }

    /// Its name in packets.
    pub(crate) fn handle(&self) -> hsa_sys::hsa_signal_t {
        if !self.is_known.load(Ordering::Relaxed) {
            self.is_known.store(true, Ordering::Relaxed);
        }
        self.signal().handle()
    }

    /// The signal for a copy engine, which waits for it or fires it. Unlike a queue, an engine is not destroyed when a fault
    /// has taken what it waits for: the signal is never used again if it has not fired.
    pub(crate) fn for_engine(&self) -> &hsa::Signal {
        self.is_known.store(true, Ordering::Relaxed);
        self.in_engine.store(true, Ordering::Relaxed);
        self.signal()
    }

    /// The fault epoch of the queues whose packets use the signal.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Sleeps until the value is 0.
    ///
    /// # Errors
    /// The device's fault, if one took the packet that would have decremented the signal.
    pub(crate) fn wait(&self) -> Result<()> {
        self.wait_as(WaitPolicy::Auto)
    }

    /// As [`PooledSignal::wait`], sleeping or not.
    ///
    /// # Errors
    /// As [`PooledSignal::wait`].
    pub(crate) fn wait_as(&self, policy: WaitPolicy) -> Result<()> {
        let ask = || match self.has_fired() {
            true => Some(Ok(())),
            // Asked again: the packet may have been the last before the fault.
            false => (!self.is_current()).then(|| self.lost()),
        };
        policy.wait(ask, || self.sleep(FAULT_POLL))
    }

    /// Sleeps until a copy has fired it that the HSA runtime has `device` do: of its faults that takes the loss alone.
    ///
    /// # Errors
    /// What took the device.
    pub(crate) fn wait_unless_lost(&self, device: &Device) -> Result<()> {
        while !self.has_fired() {
            device.refuse_if_lost()?;
            self.sleep(FAULT_POLL);
        }
        Ok(())
    }

    /// What a wait for a signal says whose device has faulted.
    fn lost(&self) -> Result<()> {
        if self.has_fired() { Ok(()) } else { Err(self.pool.faults.error()) }
    }

    fn signal(&self) -> &hsa::Signal {
        self
    }

    /// Lets a fault that takes what the signal stands for take `epoch` of another device, which waits for it, too.
    pub(crate) fn takes_along(self: &Arc<Self>, faults: &Arc<Faults>, epoch: u64) {
        self.binds(&[(self.pool.faults.clone(), self.epoch)], vec![(faults.clone(), epoch)]);
    }

    /// Lets a fault of one of `by`, while the signal has not fired, end the epochs of all of `takes`.
    pub(crate) fn binds(self: &Arc<Self>, by: &[(Arc<Faults>, u64)], takes: Vec<(Arc<Faults>, u64)>) {
        let signal = self.clone();
        let bond = Bond::new(move || signal.load(Ordering::Acquire) <= 0, takes);
        by.iter().for_each(|(faults, epoch)| faults.bind(*epoch, &bond));
    }

    /// Whether no fault has taken the packets that use the signal.
    pub(crate) fn is_current(&self) -> bool {
        self.epoch == self.pool.faults.epoch()
    }

    /// Whether it has fired.
    pub(crate) fn has_fired(&self) -> bool {
        self.load(Ordering::Acquire) <= 0
    }

    /// Whether it has fired or never will, because its device faulted.
    pub(crate) fn is_over(&self) -> bool {
        self.has_fired() || !self.is_current()
    }

    /// Whether nothing that it stands for can act any more: it has fired, or the queues are destroyed that would have.
    pub(crate) fn is_quiet(&self) -> bool {
        self.has_fired() || self.pool.faults.is_settled(self.epoch)
    }

    /// Sleeps until it has fired, but at most for `timeout`; or for a moment, if it wakes no thread.
    fn sleep(&self, timeout: Duration) {
        match self.pool.waiters {
            hsa::Waiters::HostAndDevice => {
                self.signal().wait(hsa::Condition::Less, 1, Some(timeout), hsa::WaitState::Blocked);
            }
            hsa::Waiters::DeviceOnly => std::thread::sleep(EDGE_POLL),
        }
    }
}

impl std::ops::Deref for PooledSignal {
    type Target = hsa::Signal;

    fn deref(&self) -> &hsa::Signal {
        // PANIC: only Drop takes the signal.
        self.signal.as_ref().expect("the signal is present until drop")
    }
}

impl Drop for PooledSignal {
    fn drop(&mut self) {
        if let Some(signal) = self.signal.take() {
            let mut free = self.pool.free.lock();
            // What no packet has was taken for a launch that failed.
            if signal.load(Ordering::Acquire) == 0 || !*self.is_known.get_mut() {
                free.quiet.push_back(signal);
            } else if *self.in_engine.get_mut() {
                std::mem::forget(signal);
            } else {
                free.pending.push_back((signal, self.epoch));
            }
            let used = self.pool.used.fetch_sub(1, Ordering::Relaxed) - 1;
            // Two for each that returns, or the surplus of a busy time would stay.
            free.look(2, &self.pool.faults);
            let surplus = [free.surplus(used), free.surplus(used)];
            drop(free);
            drop(surplus);
        }
    }
}

/// A point in a stream; it fires when everything before it has completed.
#[derive(Clone)]
pub struct Fence(Arc<Inner>);

struct Inner {
    signal: Arc<PooledSignal>,
    keeps: Mutex<Vec<Keep>>,
    /// Whether there are any: a submission asks each time, and need not lock.
    keeps_any: AtomicBool,
}

impl Fence {
    /// A fence that fires when `signal` reaches 0, holding `keeps` until a thread sees that it has.
    pub(crate) fn new(signal: Arc<PooledSignal>, keeps: Vec<Keep>) -> Self {
        let keeps_any = AtomicBool::new(!keeps.is_empty());
        Self(Arc::new(Inner { signal, keeps: Mutex::new(keeps), keeps_any }))
    }

    pub(crate) fn signal(&self) -> &Arc<PooledSignal> {
        &self.0.signal
    }

    /// Whether both are the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Its name in [`clocks`].
    pub(crate) fn key(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// As [`Fence::is_complete`], for a caller who goes on by the answer.
    pub(crate) fn is_passed(&self) -> bool {
        let complete = self.is_complete();
        if complete {
            clocks::pass(self.key());
        }
        complete
    }

    /// Keeps `keep` alive until the fence has fired.
    pub(crate) fn keep(&self, keep: Keep) {
        if !self.is_complete() {
            self.keep_all(vec![keep]);
            // It may have fired in between, after the thread that lets go of what it keeps has looked last.
            let _ = self.is_complete();
        }
    }

    /// Keeps `keeps` alive until a thread sees that the fence has fired. Nothing is dropped here.
    pub(crate) fn keep_all(&self, keeps: Vec<Keep>) {
        let mut kept = self.0.keeps.lock();
        kept.extend(keeps);
        self.0.keeps_any.store(!kept.is_empty(), Ordering::Relaxed);
    }

    /// Whether the fence keeps anything.
    pub(crate) fn keeps_any(&self) -> bool {
        // What is kept at this moment is let go the next time.
        self.0.keeps_any.load(Ordering::Relaxed)
    }

    /// Whether the fence, which has fired, can be armed for packets on queues of `epoch`: there is no other reference
    /// to it or to its signal, and it keeps nothing.
    pub(crate) fn is_free(&self, epoch: u64) -> bool {
        let free = Arc::strong_count(&self.0) == 1
            && Arc::strong_count(&self.0.signal) == 1
            && self.0.signal.epoch == epoch
            && !self.keeps_any();
        // ORDER: acquire, pairs with the release of the thread that dropped the last other reference: what it did with
        // the fence comes before.
        std::sync::atomic::fence(Ordering::Acquire);
        free
    }

    /// Arms a fence that [is free](Fence::is_free).
    pub(crate) fn arm(&self) {
        debug_assert!(self.has_fired(), "a packet in flight would fire the fence of another");
        self.0.signal.arm();
    }

    /// Whether the fence has fired. Releases nothing, so that it may be asked with locks held: what a fence keeps
    /// may be the caller's, whose `Drop` may wait for the device.
    pub(crate) fn has_fired(&self) -> bool {
        self.0.signal.has_fired()
    }

    /// Whether the fence has fired; the first to see it releases what the fence kept.
    pub fn is_complete(&self) -> bool {
        let fired = self.has_fired();
        if fired {
            drop(self.take_keeps());
        }
        fired
    }

    /// Whether the fence lies on a queue of `device`.
    pub(crate) fn is_on(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.0.signal.pool.faults, &device.0.faults)
    }

    /// Whether the fence fired or never will, because its device faulted. Releases nothing.
    pub(crate) fn is_over(&self) -> bool {
        self.0.signal.is_over()
    }

    /// The fault that took the work before the fence, if one did.
    pub(crate) fn lost(&self) -> Option<Error> {
        let lost = !self.0.signal.is_current() && !self.has_fired();
        lost.then(|| self.0.signal.pool.faults.error())
    }

    /// Sleeps until the fence has fired.
    ///
    /// # Errors
    /// [`Error::IllegalAddress`] or [`Error::LaunchFailure`] if a fault took the work before it, whether or not the
    /// fault has been reported; [`Error::IllegalState`] inside a host function, which the fence may be waiting for.
    pub fn wait(&self) -> Result<()> {
        self.wait_as(WaitPolicy::Auto)
    }

    /// As [`Fence::wait`], sleeping or not.
    ///
    /// # Errors
    /// As [`Fence::wait`].
    pub fn wait_as(&self, policy: WaitPolicy) -> Result<()> {
        crate::callback::refuse_inside()?;
        self.0.signal.wait_as(policy)?;
        clocks::pass(self.key());
        drop(self.take_keeps());
        Ok(())
    }

    /// Takes what the fence keeps, which must have fired; to be dropped where no lock is held.
    pub(crate) fn take_keeps(&self) -> Vec<Keep> {
        let mut kept = self.0.keeps.lock();
        self.0.keeps_any.store(false, Ordering::Relaxed);
        std::mem::take(&mut *kept)
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fence").field("complete", &self.has_fired()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::System;

    fn pool() -> (Arc<SignalPool>, Arc<Faults>) {
        pool_for(hsa::Waiters::HostAndDevice)
    }

    fn pool_for(waiters: hsa::Waiters) -> (Arc<SignalPool>, Arc<Faults>) {
        let faults = Arc::new(Faults::default());
        let runtime = System::get().unwrap().runtime().clone();
        (SignalPool::new(runtime, faults.clone(), waiters), faults)
    }

    #[test]
    fn a_thread_can_wait_for_a_signal_that_wakes_none() {
        let (pool, faults) = pool_for(hsa::Waiters::DeviceOnly);
        let (fired, lost) = (pool.take(1, 0).unwrap(), pool.take(1, 0).unwrap());
        std::thread::scope(|scope| {
            let (waits, loses) = (scope.spawn(|| fired.wait()), scope.spawn(|| lost.wait()));
            std::thread::sleep(Duration::from_millis(2));
            fired.store(0, Ordering::Release);
            assert_eq!(waits.join().unwrap(), Ok(()));
            let fault = Error::LaunchFailure("test".into());
            faults.record(fault.clone(), 0);
            assert_eq!(loses.join().unwrap(), Err(fault));
        });
    }

    #[test]
    fn a_signal_is_used_again_when_it_has_fired() {
        let (pool, _) = pool();
        let first = pool.take(1, 0).unwrap();
        let handle = first.handle();
        first.store(0, Ordering::Release);
        drop(first);
        let second = pool.take(1, 0).unwrap();
        assert_eq!((second.handle(), second.load(Ordering::Acquire)), (handle, 1));
    }

    #[test]
    fn a_signal_with_a_packet_behind_it_waits_until_its_queue_is_destroyed() {
        let (pool, faults) = pool();
        let epoch = faults.queue_created();
        let pending = pool.take(1, epoch).unwrap();
        let handle = pending.handle();
        drop(pending);
        assert_ne!(pool.take(1, epoch).unwrap().handle(), handle, "its packet may still decrement it");
        faults.record(Error::LaunchFailure("test".into()), epoch);
        assert_ne!(pool.take(1, epoch + 1).unwrap().handle(), handle, "the queue may still run");
        faults.queue_destroyed(epoch);
        let all: Vec<_> = (0..3).map(|_| pool.take(1, epoch + 1).unwrap()).collect();
        assert!(all.iter().any(|signal| signal.handle() == handle));
    }

    #[test]
    fn signals_with_packets_behind_them_do_not_stand_in_the_way_of_others() {
        let (pool, faults) = pool();
        let epoch = faults.queue_created();
        let pending: Vec<_> = (0..10).map(|_| pool.take(1, epoch).unwrap()).collect();
        let fired: Vec<_> = (0..10).map(|_| pool.take(1, epoch).unwrap()).collect();
        fired.iter().for_each(|signal| signal.store(0, Ordering::Release));
        let handles: Vec<_> = pending.iter().chain(&fired).map(|signal| signal.handle()).collect();
        drop((pending, fired));
        // Each that is taken comes back before the next, so that one would do for ever.
        let fresh = (0..100).filter(|_| {
            let signal = pool.take(1, epoch).unwrap();
            signal.store(0, Ordering::Release);
            !handles.contains(&signal.handle())
        });
        assert_eq!(fresh.count(), 0);
    }

    #[test]
    fn a_burst_of_signals_goes_back() {
        let (pool, faults) = pool();
        let epoch = faults.queue_created();
        let burst: Vec<_> = (0..3 * RETAINED).map(|_| pool.take(1, epoch).unwrap()).collect();
        assert_eq!(pool.footprint(), (3 * RETAINED, 0));
        burst.iter().for_each(|signal| signal.store(0, Ordering::Release));
        drop(burst);
        assert_eq!(pool.footprint(), (0, RETAINED));
    }

    #[test]
    fn a_signal_that_no_packet_has_is_used_again_at_once() {
        let (pool, faults) = pool();
        let epoch = faults.queue_created();
        drop(pool.take(1, epoch).unwrap());
        let used = pool.take(1, epoch).unwrap();
        assert_eq!(pool.footprint(), (1, 0));
        used.handle();
        drop(used);
        assert_eq!(pool.take(1, epoch).unwrap().load(Ordering::Relaxed), 1);
        assert_eq!(pool.footprint(), (0, 2), "the first one's packet may still be behind it");
    }

    #[test]
    fn a_fence_lets_go_when_it_is_seen_to_have_fired() {
        let (pool, faults) = pool();
        let (kept, weak) = {
            let kept = Arc::new(());
            let weak = Arc::downgrade(&kept);
            (Keep::Other(kept), weak)
        };
        let fence = Fence::new(pool.take(1, 0).unwrap(), vec![kept]);
        assert!(!fence.is_complete() && !fence.is_over() && weak.upgrade().is_some());
        fence.signal().store(0, Ordering::Release);
        assert!(fence.has_fired() && weak.upgrade().is_some(), "asking with locks held drops nothing");
        assert!(fence.is_complete() && weak.upgrade().is_none());
        faults.record(Error::LaunchFailure("test".into()), 0);
        assert_eq!((fence.wait(), fence.lost()), (Ok(()), None), "what has fired is not lost");
    }

    #[test]
    fn a_fence_that_a_fault_took_says_so() {
        let (pool, faults) = pool();
        let fence = Fence::new(pool.take(1, 0).unwrap(), Vec::new());
        faults.record(Error::LaunchFailure("test".into()), 0);
        let fault = Error::LaunchFailure("test".into());
        assert_eq!((fence.wait(), fence.lost()), (Err(fault.clone()), Some(fault)));
        assert!(fence.is_over() && !fence.is_complete());
    }
}
