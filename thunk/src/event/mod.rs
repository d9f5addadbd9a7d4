//! Events as the kernel driver has them: what interrupts, faults and the client itself set, and threads sleep on.
//!
//! An event that resets itself activates *every* thread that waits at the moment it is set, and stays set only if
//! no thread waits. ROCr depends on it: one event stands behind the error signals of all queues, and several threads
//! sleep on it; were the first one woken to take the event with it, the others would sleep for ever.

mod wait;

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::ThreadId,
};

use emulator::os::Mapping;
use parking_lot::{Condvar, Mutex};

use crate::{
    abi::{
        HSA_EVENTTYPE, HSA_EVENTTYPE_MEMORY, HSA_EVENTTYPE_SIGNAL, HSAKMT_STATUS_INVALID_HANDLE,
        HSAKMT_STATUS_INVALID_PARAMETER, HSAKMT_STATUS_NO_MEMORY, HSAKMT_STATUS_OUT_OF_RESOURCES, HsaEvent,
        HsaMemoryAccessFault, Zero,
    },
    entry::Result,
};

/// Events that a process may have, as the kernel driver limits them; identifiers are 1 to one below.
pub const MAX_EVENTS: u32 = 4096;

/// Bytes of a mailbox: devices store the event's identifier there before they interrupt.
const MAILBOX: usize = 8;
/// How many identifiers an interrupt of device code tells apart: its message has 8 bits for them.
const PARTIAL_IDS: u32 = 1 << 8;

/// All events of the process.
pub struct Events {
    table: Mutex<Table>,
    mailboxes: Arc<Mapping>,
}

#[derive(Default)]
struct Table {
    events: HashMap<u32, Event>,
    /// Identifiers by the address of the structure that stands for the event in C.
    handles: HashMap<u64, u32>,
    /// Where the search for a free identifier goes on.
    next: u32,
}

struct Event {
    kind: HSA_EVENTTYPE,
    manual: bool,
    signaled: bool,
    /// The thread that took a setting which found no thread waiting. The next other thread is told as well.
    ///
    /// ROCr 5.2.3 waits for an event in two threads when it destroys a queue: the one that ends the queue's error handler
    /// with it, and the handler's. Taken by the first before the second waits again, the setting would be lost to that,
    /// and both would wait without end. On hardware the first looks on for 200 us before it waits, which is long enough;
    /// here the second may not run for that long. A thread that is told too often looks, and waits again.
    taken_by: Option<ThreadId>,
    /// Grows with every setting; a waiter that knows an older age has missed one.
    age: u64,
    fault: Option<HsaMemoryAccessFault>,
    id: u32,
    structure: Structure,
    waits: Vec<Arc<Wait>>,
}

/// What stands for an event in C: ours to free, the client's to read.
struct Structure(NonNull<HsaEvent>);

// SAFETY: an address; what it points to is written under the table's lock only.
unsafe impl Send for Structure {}

impl Structure {
    fn new(event: HsaEvent) -> Self {
        Self(NonNull::from(Box::leak(Box::new(event))))
    }

    fn address(&self) -> u64 {
        self.0.as_ptr() as u64
    }

    /// Fills in a fault, for the client to read when its wait returns.
    fn tell(&self, fault: HsaMemoryAccessFault) {
        // SAFETY: the structure is ours until `drop`; no reference to it exists, and the client reads it after the
        // wait that this call is part of.
        unsafe { (&raw mut (*self.0.as_ptr()).EventData.EventData).write_unaligned(fault) };
    }
}

impl Drop for Structure {
    fn drop(&mut self) {
        // SAFETY: made by `Box::leak`, and the client has destroyed the event.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// One thread's wait, on any number of events.
struct Wait {
    woken: Condvar,
    /// Identifiers of the events that were set during it, and of those that were destroyed.
    state: Mutex<Outcome>,
}

#[derive(Default)]
struct Outcome {
    set: Vec<u32>,
    destroyed: bool,
}

impl Event {
    /// Activates all threads that wait; stays set if none does, or if only a reset ends it.
    fn set(&mut self) {
        self.age += 1;
        self.signaled = self.manual || self.waits.is_empty();
        self.taken_by = None;
        let id = self.id;
        for wait in &self.waits {
            let mut outcome = wait.state.lock();
            if !outcome.set.contains(&id) {
                outcome.set.push(id);
            }
            wait.woken.notify_one();
        }
    }
}

impl Table {
    fn id(&self, handle: u64) -> Result<u32> {
        self.handles.get(&handle).copied().ok_or(HSAKMT_STATUS_INVALID_HANDLE)
    }

    fn of(&mut self, handle: u64) -> Result<&mut Event> {
        let id = self.id(handle)?;
        self.events.get_mut(&id).ok_or(HSAKMT_STATUS_INVALID_HANDLE)
    }
}

impl Events {
    /// No events yet, but room for their mailboxes.
    pub fn new() -> std::io::Result<Self> {
        let mailboxes = Arc::new(Mapping::anonymous(MAX_EVENTS as usize * MAILBOX)?);
        Ok(Self { table: Mutex::default(), mailboxes })
    }

    /// The memory that devices must reach to interrupt.
    pub fn mailboxes(&self) -> &Arc<Mapping> {
        &self.mailboxes
    }

    /// Makes an event and returns the address of its structure.
    pub fn create(&self, kind: HSA_EVENTTYPE, manual: bool, signaled: bool) -> Result<u64> {
        if kind.0 > HSA_EVENTTYPE_MEMORY.0 {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        let mut table = self.table.lock();
        if table.events.len() as u32 >= MAX_EVENTS - 1 {
            return Err(HSAKMT_STATUS_OUT_OF_RESOURCES);
        }
        // Round robin, so that an interrupt that is late for a destroyed event rarely meets a new one.
        let free = |id: &u32| !table.events.contains_key(id);
        let mut ids = (0..MAX_EVENTS - 1).map(|step| (table.next + step) % (MAX_EVENTS - 1) + 1);
        let id = ids.find(free).ok_or(HSAKMT_STATUS_NO_MEMORY)?;
        table.next = id;

        let mut structure = HsaEvent::ZERO;
        structure.EventId = id;
        structure.EventData.EventType = kind.0;
        structure.EventData.HWData1 = u64::from(id);
        structure.EventData.HWData3 = id;
        if kind == HSA_EVENTTYPE_SIGNAL {
            structure.EventData.HWData2 = self.mailboxes.address() + u64::from(id) * MAILBOX as u64;
        }
        let structure = Structure::new(structure);
        let handle = structure.address();
        let event = Event {
            kind,
            manual,
            signaled,
            taken_by: None,
            age: 1,
            fault: None,
            id,
            structure,
            waits: Vec::new(),
        };
        table.events.insert(id, event);
        table.handles.insert(handle, id);
        Ok(handle)
    }

    /// Ends an event; threads that wait on it are woken with a failure.
    pub fn destroy(&self, handle: u64) -> Result {
        let mut table = self.table.lock();
        let id = table.handles.remove(&handle).ok_or(HSAKMT_STATUS_INVALID_HANDLE)?;
        let event = table.events.remove(&id).ok_or(HSAKMT_STATUS_INVALID_HANDLE)?;
        for wait in event.waits {
            wait.state.lock().destroyed = true;
            wait.woken.notify_one();
        }
        Ok(())
    }

    /// Sets the event of a handle.
    pub fn set(&self, handle: u64) -> Result {
        self.table.lock().of(handle)?.set();
        Ok(())
    }

    /// Clears the event of a handle.
    pub fn reset(&self, handle: u64) -> Result {
        self.table.lock().of(handle)?.signaled = false;
        Ok(())
    }

    /// Whether the event of a handle is set.
    pub fn is_set(&self, handle: u64) -> Result<bool> {
        Ok(self.table.lock().of(handle)?.signaled)
    }

    /// The identifier that queues and devices know the event of a handle by.
    pub fn id(&self, handle: u64) -> Result<u32> {
        self.table.lock().id(handle)
    }

    /// An interrupt names event `id`; one that is gone is ignored.
    pub fn interrupt(&self, id: u32) {
        let mut table = self.table.lock();
        self.take_mail(id);
        if let Some(event) = table.events.get_mut(&id) {
            event.set();
        }
    }

    /// Device code interrupted, with the low bits of an event's identifier: those whose mailbox holds an event are
    /// meant.
    pub fn message(&self, m0: u32) {
        let mut table = self.table.lock();
        let low = m0 % PARTIAL_IDS;
        for id in (low..MAX_EVENTS).step_by(PARTIAL_IDS as usize).filter(|id| self.take_mail(*id)) {
            if let Some(event) = table.events.get_mut(&id) {
                event.set();
            }
        }
    }

    /// Empties a mailbox, and says whether anything was in it.
    fn take_mail(&self, id: u32) -> bool {
        if !(1..MAX_EVENTS).contains(&id) {
            return false;
        }
        let slot = self.mailboxes.pointer().wrapping_add(id as usize * MAILBOX).cast::<u64>();
        // SAFETY: the slot is an aligned word of our mapping; devices store to it atomically.
        let slot = unsafe { AtomicU64::from_ptr(slot) };
        // ORDER: Acquire. What the device did before it wrote the mailbox is visible to threads that the event wakes.
        slot.swap(0, Ordering::Acquire) != 0
    }

    /// Tells every memory event of a fault, and says how many there are.
    pub fn report_fault(&self, fault: &HsaMemoryAccessFault) -> usize {
        let mut table = self.table.lock();
        let listeners = table.events.values_mut().filter(|event| event.kind == HSA_EVENTTYPE_MEMORY);
        listeners
            .map(|event| {
                // The first fault stands until a caller has read it: later ones are its consequences.
                event.fault.get_or_insert(*fault);
                event.set();
            })
            .count()
    }
}
