//! Signals: 64-byte blocks that host, packet processors and device code change, and waits that sleep.
//!
//! All signals of the process live in one slab of address space that stays mapped for ever, device
//! visible, with a second slab beside it for what the host alone may write. A handle is the address of
//! its block; whether it is one is told by two comparisons and one load, so every entry point checks
//! it, also in release builds. A stale handle whose slot was given out again names the new signal; slots
//! wait in a queue before that.
//!
//! A store costs an exchange and a load: it wakes watchers only if the signal has any. They
//! are counted per [`Watcher`], so that a packet processor is not woken for a thread's sake. Device code
//! that sends an interrupt behind its store wakes the watchers ([`device_wrote`]); on behalf of code that does not, the
//! packet processor looks now and then.

mod handlers;
mod patience;
mod wait;

use std::{
    collections::{HashSet, VecDeque},
    sync::{
        OnceLock,
        atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering},
    },
};

use hsa_sys::{AMD_SIGNAL_KIND_DOORBELL, AMD_SIGNAL_KIND_INVALID, AMD_SIGNAL_KIND_USER, amd_signal_t};
use parking_lot::Mutex;

pub(crate) use handlers::Handlers;
pub(crate) use patience::SEATS;
pub(crate) use wait::{Condition, Demand, wait, wait_any};

use crate::{
    config::MAX_DEVICES,
    os::{self, Event, Mapping},
};

/// Signals that may exist at once.
const CAPACITY: usize = 1 << 20;
/// Destroyed signals that are kept from being given out again, so that a stale handle is mostly noticed.
const QUARANTINE: usize = 256;

/// The block that device code sees, field by field as `amd_signal_t`.
#[repr(C, align(64))]
struct Wire {
    kind: AtomicI64,
    /// The value; for a doorbell the address of `doorbell`.
    value: AtomicI64,
    mailbox: AtomicU64,
    event_id: AtomicU32,
    reserved1: u32,
    start: AtomicU64,
    end: AtomicU64,
    queue: AtomicU64,
    /// Reserved in the header; here the hardware doorbell of a doorbell signal, which thereby stays
    /// mapped when its queue is gone, and the mailbox of any other.
    doorbell: AtomicU64,
}

const _: () = {
    assert!(size_of::<Wire>() == size_of::<amd_signal_t>());
    assert!(std::mem::offset_of!(Wire, value) == std::mem::offset_of!(amd_signal_t, value));
    assert!(std::mem::offset_of!(Wire, start) == std::mem::offset_of!(amd_signal_t, start_ts));
    assert!(std::mem::offset_of!(Wire, end) == std::mem::offset_of!(amd_signal_t, end_ts));
    assert!(std::mem::offset_of!(Wire, queue) == std::mem::offset_of!(amd_signal_t, queue_ptr));
    assert!(std::mem::offset_of!(Wire, doorbell) == std::mem::offset_of!(amd_signal_t, reserved3));
};

const DEAD: u32 = 0;
const USER: u32 = 1;
const DOORBELL: u32 = 2;

/// What the host keeps about a signal, out of the device's reach.
#[repr(C, align(64))]
struct Side {
    state: AtomicU32,
    /// Device whose packet processor a doorbell wakes.
    device: AtomicU32,
    /// Futex word of the threads in [`wait`].
    sequence: AtomicU32,
    reserved: u32,
    /// Four counters of 16 bits, one per [`Watcher`].
    watchers: AtomicU64,
    /// The value when watchers last heard of it.
    announced: AtomicI64,
}

/// What waits for a signal to change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Watcher {
    /// A thread in [`wait`], asleep on the signal's own futex.
    Thread = 0,
    /// A thread in [`wait_any`].
    Any = 1,
    /// A packet processor with a barrier packet.
    Processor = 2,
    /// The thread of the asynchronous handlers, or of the copies.
    Service = 3,
}

impl Watcher {
    fn unit(self) -> u64 {
        1 << (16 * self as u64)
    }

    fn among(self, watchers: u64) -> bool {
        watchers & (0xffff << (16 * self as u64)) != 0
    }
}

/// Wakes the packet processor of a device.
static PROCESSORS: [Event; MAX_DEVICES] = [const { Event::new() }; MAX_DEVICES];
/// Wakes the threads in [`wait_any`].
static ANY: Event = Event::new();
/// Wakes the handler thread.
static HANDLERS: Event = Event::new();
/// Wakes the copy thread.
static COPIES: Event = Event::new();

/// The event that the packet processor of `device` sleeps on.
pub(crate) fn processor_event(device: u32) -> &'static Event {
    &PROCESSORS[device as usize % MAX_DEVICES]
}

/// Wakes the packet processor of `device`, if it sleeps.
pub(crate) fn wake_processor(device: u32) {
    if processor_event(device).notify() {
        SEATS.call(device);
    }
}

/// The event that the threads of copies sleep on.
pub(crate) fn copy_event() -> &'static Event {
    &COPIES
}

struct Slab {
    wires: Mapping,
    sides: Mapping,
    slots: Mutex<Slots>,
    /// Signals with watchers, so that [`device_wrote`] need not look at a million.
    watched: Mutex<HashSet<u32>>,
    watched_count: AtomicU32,
    /// Signals with mailboxes.
    events: AtomicU32,
}

#[derive(Default)]
struct Slots {
    /// Slots below this were given out at least once.
    fresh: u32,
    /// Oldest first.
    free: VecDeque<u32>,
}

/// `None` if the address space could not be had.
fn slab() -> Option<&'static Slab> {
    static SLAB: OnceLock<Option<Slab>> = OnceLock::new();
    SLAB.get_or_init(|| {
        Some(Slab {
            wires: Mapping::anonymous(CAPACITY * size_of::<Wire>()).ok()?,
            sides: Mapping::anonymous(CAPACITY * size_of::<Side>()).ok()?,
            slots: Mutex::default(),
            watched: Mutex::default(),
            watched_count: AtomicU32::new(0),
            events: AtomicU32::new(0),
        })
    })
    .as_ref()
}

/// Addresses of all signals, for the devices' maps.
pub(crate) fn device_range() -> Option<(u64, u64)> {
    let wires = &slab()?.wires;
    Some((wires.address(), wires.address() + wires.size() as u64))
}

/// A signal that was alive when it was looked up; its memory stays valid whatever happens.
#[derive(Clone, Copy)]
pub(crate) struct Signal {
    index: u32,
    wire: &'static Wire,
    side: &'static Side,
}

impl Signal {
    /// The signal that a handle names, if it names one.
    #[inline]
    pub(crate) fn find(handle: u64) -> Option<Self> {
        let slab = slab()?;
        let offset = handle.wrapping_sub(slab.wires.address());
        if offset >= (CAPACITY * size_of::<Wire>()) as u64 || offset % size_of::<Wire>() as u64 != 0 {
            return None;
        }
        // CAST: below CAPACITY.
        let signal = Self::at(slab, (offset / size_of::<Wire>() as u64) as u32);
        (signal.side.state.load(Ordering::Acquire) != DEAD).then_some(signal)
    }

    fn at(slab: &'static Slab, index: u32) -> Self {
        let index_in_bounds = (index as usize).min(CAPACITY - 1);
        // SAFETY: the slab is mapped for ever, zeroed, aligned, and holds CAPACITY blocks; both types
        // consist of atomics and of integers that are not read.
        let (wire, side) = unsafe {
            (
                &*slab.wires.pointer().cast::<Wire>().add(index_in_bounds),
                &*slab.sides.pointer().cast::<Side>().add(index_in_bounds),
            )
        };
        Self { index, wire, side }
    }

    /// Makes a signal; `None` when there are too many.
    pub(crate) fn create(value: i64) -> Option<Self> {
        Self::make(value, true)
    }

    /// As [`Signal::create`], for a signal that no host thread waits for: it has no mailbox, and interrupts nobody.
    pub(crate) fn create_for_devices(value: i64) -> Option<Self> {
        Self::make(value, false)
    }

    /// As [`Signal::create`], but without a mailbox if `events` signals have one.
    pub(crate) fn create_within(events: u32, value: i64) -> Option<Self> {
        Self::make(value, slab()?.events.load(Ordering::Relaxed) < events)
    }

    fn make(value: i64, interrupts: bool) -> Option<Self> {
        let signal = Self::claim()?;
        signal.wire.value.store(value, Ordering::Relaxed);
        signal.wire.queue.store(0, Ordering::Relaxed);
        // Device code that changes a signal with a mailbox stores the event there and sends an interrupt, which
        // wakes the signal's watchers.
        let mailbox = if interrupts { signal.wire.doorbell.as_ptr() as u64 } else { 0 };
        slab()?.events.fetch_add(interrupts.into(), Ordering::Relaxed);
        signal.start_life(USER, AMD_SIGNAL_KIND_USER, value, mailbox);
        Some(signal)
    }

    /// Whether the host is interrupted when a packet changes the signal.
    pub(crate) fn interrupts(self) -> bool {
        self.wire.mailbox.load(Ordering::Relaxed) != 0
    }

    /// Makes the doorbell of a queue of `device`, whose control block is at `queue`.
    pub(crate) fn create_doorbell(device: u32, queue: u64) -> Option<Self> {
        let signal = Self::claim()?;
        signal.wire.doorbell.store(u64::MAX, Ordering::Relaxed);
        signal.wire.value.store(signal.wire.doorbell.as_ptr() as i64, Ordering::Relaxed);
        signal.wire.queue.store(queue, Ordering::Relaxed);
        signal.side.device.store(device, Ordering::Relaxed);
        signal.start_life(DOORBELL, AMD_SIGNAL_KIND_DOORBELL, 0, 0);
        Some(signal)
    }

    fn claim() -> Option<Self> {
        let slab = slab()?;
        let mut slots = slab.slots.lock();
        let full = slots.fresh as usize >= CAPACITY;
        let index = if full || slots.free.len() > QUARANTINE {
            slots.free.pop_front()?
        } else {
            slots.fresh += 1;
            slots.fresh - 1
        };
        drop(slots);
        Some(Self::at(slab, index))
    }

    fn start_life(&self, state: u32, kind: i64, value: i64, mailbox: u64) {
        self.wire.mailbox.store(mailbox, Ordering::Relaxed);
        self.wire.event_id.store(self.index, Ordering::Relaxed);
        self.wire.start.store(0, Ordering::Relaxed);
        self.wire.end.store(0, Ordering::Relaxed);
        self.wire.kind.store(kind, Ordering::Relaxed);
        self.side.announced.store(value, Ordering::Relaxed);
        // ORDER: Release. A thread that finds the signal alive sees the rest.
        self.side.state.store(state, Ordering::Release);
    }

    /// Ends the signal; threads that wait on it return. Says whether it was this call that did it.
    pub(crate) fn destroy(self) -> bool {
        let Some(slab) = slab() else { return false };
        // One of several destroyers wins.
        if self.side.state.swap(DEAD, Ordering::AcqRel) == DEAD {
            return false;
        }
        self.wire.kind.store(AMD_SIGNAL_KIND_INVALID, Ordering::Relaxed);
        self.announce(self.side.watchers.load(Ordering::SeqCst));
        slab.events.fetch_sub(self.interrupts().into(), Ordering::Relaxed);
        slab.slots.lock().free.push_back(self.index);
        true
    }

    /// Whether the signal still exists.
    pub(crate) fn is_alive(self) -> bool {
        self.side.state.load(Ordering::Acquire) != DEAD
    }

    /// The handle that programs see.
    pub(crate) fn handle(self) -> u64 {
        std::ptr::from_ref(self.wire) as u64
    }

    /// Whether it is a queue's doorbell.
    pub(crate) fn is_doorbell(self) -> bool {
        self.side.state.load(Ordering::Relaxed) == DOORBELL
    }

    /// The value now (of a doorbell: what was last rung).
    #[inline]
    pub(crate) fn load(self) -> i64 {
        if self.is_doorbell() {
            return self.wire.doorbell.load(Ordering::SeqCst) as i64;
        }
        self.wire.value.load(Ordering::SeqCst)
    }

    /// Stores a value and wakes its watchers; on a doorbell, wakes the packet processor.
    #[inline]
    pub(crate) fn store(self, value: i64) {
        if self.is_doorbell() {
            // ORDER: SeqCst, as in `change`.
            self.wire.doorbell.store(value as u64, Ordering::SeqCst);
            wake_processor(self.side.device.load(Ordering::Relaxed));
            return;
        }
        self.change(|v| {
            v.store(value, Ordering::SeqCst);
        });
    }

    /// Stores a value and wakes no watcher.
    pub(crate) fn silent_store(self, value: i64) {
        if !self.is_doorbell() {
            self.wire.value.store(value, Ordering::SeqCst);
        }
    }

    /// Applies one atomic operation to the value and wakes its watchers. Doorbells take stores only.
    #[inline]
    pub(crate) fn update(self, operation: impl FnOnce(&AtomicI64) -> i64) -> i64 {
        if self.is_doorbell() { self.load() } else { self.change(operation) }
    }

    /// Takes one off the value: a packet is complete.
    #[inline]
    pub(crate) fn complete(self) {
        self.update(|v| v.fetch_sub(1, Ordering::SeqCst));
    }

    #[inline]
    fn change<T>(self, operation: impl FnOnce(&AtomicI64) -> T) -> T {
        // ORDER: SeqCst here and on the counters. Either this load sees a watcher that came before, or
        // the watcher's look at the value, after counting itself in, sees the new value.
        let result = operation(&self.wire.value);
        let watchers = self.side.watchers.load(Ordering::SeqCst);
        if watchers != 0 {
            self.announce(watchers);
        }
        result
    }

    #[cold]
    fn announce(self, watchers: u64) {
        self.side.announced.store(self.wire.value.load(Ordering::SeqCst), Ordering::Relaxed);
        if Watcher::Thread.among(watchers) {
            self.side.sequence.fetch_add(1, Ordering::SeqCst);
            os::futex_wake(&self.side.sequence);
        }
        if Watcher::Any.among(watchers) {
            ANY.notify();
        }
        if Watcher::Processor.among(watchers) {
            (0..MAX_DEVICES as u32).for_each(wake_processor);
        }
        if Watcher::Service.among(watchers) {
            HANDLERS.notify();
            COPIES.notify();
        }
    }

    /// Counts a watcher in until the answer is dropped. The caller looks at the value afterwards.
    pub(crate) fn watch(self, watcher: Watcher) -> Watch {
        if let Some(slab) = slab() {
            let mut watched = slab.watched.lock();
            if self.side.watchers.fetch_add(watcher.unit(), Ordering::SeqCst) == 0 {
                self.side.announced.store(self.wire.value.load(Ordering::SeqCst), Ordering::Relaxed);
                watched.insert(self.index);
                slab.watched_count.store(watched.len() as u32, Ordering::SeqCst);
            }
        }
        Watch { signal: self, watcher }
    }

    /// Stores when the device began and ended the work that the signal completes, in device ticks.
    pub(crate) fn set_times(self, start: u64, end: u64) {
        self.wire.start.store(start, Ordering::Relaxed);
        self.wire.end.store(end, Ordering::Relaxed);
    }

    /// The two times of [`Signal::set_times`].
    pub(crate) fn times(self) -> (u64, u64) {
        (self.wire.start.load(Ordering::Relaxed), self.wire.end.load(Ordering::Relaxed))
    }
}

/// A watcher that is counted in.
pub(crate) struct Watch {
    signal: Signal,
    watcher: Watcher,
}

impl Watch {
    /// What is watched.
    pub(crate) fn signal(&self) -> Signal {
        self.signal
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Some(slab) = slab() else { return };
        let mut watched = slab.watched.lock();
        let unit = self.watcher.unit();
        if self.signal.side.watchers.fetch_sub(unit, Ordering::SeqCst) == unit {
            watched.remove(&self.signal.index);
            slab.watched_count.store(watched.len() as u32, Ordering::SeqCst);
        }
    }
}

/// Wakes the watchers of every signal that device code changed; called while dispatches run and
/// whenever one ends.
pub(crate) fn device_wrote() {
    let Some(slab) = slab() else { return };
    if slab.watched_count.load(Ordering::SeqCst) == 0 {
        return;
    }
    let watched: Vec<u32> = slab.watched.lock().iter().copied().collect();
    for index in watched {
        let signal = Signal::at(slab, index);
        if signal.wire.value.load(Ordering::SeqCst) != signal.side.announced.load(Ordering::Relaxed) {
            signal.announce(signal.side.watchers.load(Ordering::SeqCst));
        }
    }
}

/// Destroys every signal: the last `hsa_shut_down`.
pub(crate) fn destroy_all() {
    let Some(slab) = slab() else { return };
    let fresh = slab.slots.lock().fresh;
    for index in 0..fresh {
        Signal::at(slab, index).destroy();
    }
}

#[cfg(test)]
mod tests;
