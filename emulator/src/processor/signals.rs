//! The signals that packets name: in the function table's slab, or in the memory of a client of the driver.

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering},
};

use hsa_sys::{HSA_STATUS_ERROR_INVALID_SIGNAL, amd_signal_t};

use super::{Client, Interrupts, refusal::Refusal};
use crate::{
    device::Device,
    memory::Map,
    os::hidden,
    queue::Backing,
    signal::{Signal, Watch, Watcher},
};

/// Where a device looks for signals.
pub(super) enum Signals {
    /// In the function table's slab.
    Slab,
    /// At any address that the device may touch.
    Memory { map: Arc<Map>, interrupts: Arc<dyn Interrupts> },
}

impl Signals {
    /// Those of a device's client.
    pub(super) fn of(client: &Client, device: &Device) -> Self {
        match client {
            Client::Table(_) => Self::Slab,
            Client::Driver(interrupts) => {
                Self::Memory { map: Arc::clone(&device.map), interrupts: Arc::clone(interrupts) }
            }
        }
    }

    /// The signal behind a handle that is not 0.
    ///
    /// # Errors
    /// [`Refusal`] if there is none; `role` says what the packet wanted it for.
    pub(super) fn find(&self, handle: u64, role: &str) -> Result<PacketSignal, Refusal> {
        self.lookup(handle).ok_or_else(|| Refusal {
            status: HSA_STATUS_ERROR_INVALID_SIGNAL,
            reason: format!("the {role} signal {handle:#x} does not exist"),
        })
    }

    fn lookup(&self, handle: u64) -> Option<PacketSignal> {
        match self {
            Self::Slab => Signal::find(handle).map(PacketSignal::Slab),
            Self::Memory { map, .. } => {
                let end = handle.checked_add(size_of::<amd_signal_t>() as u64)?;
                if !handle.is_multiple_of(align_of::<amd_signal_t>() as u64) {
                    return None;
                }
                let map = map.snapshot();
                let range = map.find(handle)?;
                (range.writable && end <= range.end).then(|| {
                    PacketSignal::Memory(MemorySignal {
                        signal: hidden::at(handle).cast(),
                        _backing: range.backing.clone(),
                    })
                })
            }
        }
    }

    /// Takes one off the signal behind `handle`, if it still exists, after storing `times` if there are any. A program
    /// that has seen the signal finds it counted.
    pub(super) fn complete(&self, handle: u64, times: Option<(u64, u64)>, device: &Device) {
        let tally = &device.tally;
        match (self, self.lookup(handle)) {
            (Self::Memory { map, interrupts }, Some(PacketSignal::Memory(signal))) => {
                tally.completion_signals.add(1);
                if let Some(event) = signal.complete(times, map) {
                    tally.interrupts.add(1);
                    interrupts.event(device.index, event);
                }
            }
            (_, Some(PacketSignal::Slab(signal))) => {
                tally.completion_signals.add(1);
                tally.interrupts.add(signal.interrupts().into());
                if let Some((start, end)) = times {
                    signal.set_times(start, end);
                }
                // ORDER: Release. All effects of the packet, whichever thread ran it, are visible to a thread that sees
                // the new value: `Dispatch::is_complete` acquired them, and this operation is sequentially consistent.
                signal.complete();
            }
            (Self::Slab, Some(PacketSignal::Memory(_))) | (_, None) => {}
        }
    }
}

/// A signal that existed when it was looked up, and whose memory stays.
#[derive(Clone)]
pub(super) enum PacketSignal {
    Slab(Signal),
    Memory(MemorySignal),
}

impl PacketSignal {
    /// The value now.
    pub(super) fn load(&self) -> i64 {
        match self {
            Self::Slab(signal) => signal.load(),
            Self::Memory(signal) => signal.value().load(Ordering::SeqCst),
        }
    }

    /// Arranges to be woken when the value changes; `None` if nothing reports changes, so that the processor has to
    /// poll.
    pub(super) fn watch(&self) -> Option<Watch> {
        match self {
            Self::Slab(signal) => Some(signal.watch(Watcher::Processor)),
            Self::Memory(_) => None,
        }
    }
}

/// A signal in a client's memory.
#[derive(Clone)]
pub(super) struct MemorySignal {
    signal: *mut amd_signal_t,
    _backing: Option<Backing>,
}

macro_rules! word {
    ($self:ident.$field:ident as $atomic:ty) => {
        // SAFETY: the signal is 64-byte aligned and stays mapped; both sides reach it by atomics.
        unsafe { <$atomic>::from_ptr((&raw mut (*$self.signal).$field).cast()) }
    };
}

impl MemorySignal {
    fn value(&self) -> &AtomicI64 {
        word!(self.value as AtomicI64)
    }

    /// Takes one off the value and stores the event into the signal's mailbox; the event, if there is a mailbox.
    fn complete(&self, times: Option<(u64, u64)>, map: &Map) -> Option<u32> {
        if let Some((start, end)) = times {
            word!(self.start_ts as AtomicU64).store(start, Ordering::Relaxed);
            word!(self.end_ts as AtomicU64).store(end, Ordering::Relaxed);
        }
        // Read first: a thread that sees the value may give the signal back at once.
        let mailbox = word!(self.event_mailbox_ptr as AtomicU64).load(Ordering::Relaxed);
        let event = word!(self.event_id as AtomicU32).load(Ordering::Relaxed);
        // ORDER: Release. All effects of the packet are visible to a thread that sees the new value.
        self.value().fetch_sub(1, Ordering::SeqCst);
        if mailbox == 0 {
            return None;
        }
        let map = map.snapshot();
        if mailbox.is_multiple_of(8)
            && let Some(range) = map.find(mailbox)
            && range.writable
            && mailbox + 8 <= range.end
        {
            // SAFETY: aligned, and the snapshot keeps the range mapped.
            unsafe { AtomicU64::from_ptr(mailbox as *mut u64) }.store(event.into(), Ordering::Release);
        }
        Some(event)
    }
}
