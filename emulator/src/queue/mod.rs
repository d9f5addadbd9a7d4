//! Queues as packet processors see them: a ring of packets, two indices and a doorbell.
//!
//! Where these lie depends on what made the queue: behind the function table in a slab of ours (`table`), behind the
//! driver wherever the client put them (`client`).

mod client;
mod table;

use std::{
    ffi::c_void,
    sync::{
        Arc,
        atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering},
    },
};

use hsa_sys::{
    AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, HSA_PACKET_TYPE_INVALID, PACKET_BYTES, QueueErrorCallback,
};
use parking_lot::Mutex;

pub(crate) use client::{Backing, ClientQueue, ClientWords};
pub(crate) use table::{Block, Ring, TableQueue, all, device_range};

/// Where the device sees group and private memory in its flat address space (upper 32 bits).
///
/// The values are those of real cards' drivers (LLVM AMDGPU, "Address Space Conversion").
pub(crate) const GROUP_APERTURE: u32 = 0x1_0000;
/// As [`GROUP_APERTURE`], for private memory.
pub(crate) const PRIVATE_APERTURE: u32 = 0x2_0000;

/// One 64-byte packet as it was in the ring: our own copy, which the program can no longer change.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Packet(pub(crate) [u64; PACKET_BYTES / 8]);

impl Packet {
    /// The header, with which every packet begins.
    pub(crate) fn header(&self) -> u16 {
        // CAST: the low half word.
        self.0[0] as u16
    }
}

/// Whether a queue is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Active,
    /// By `hsa_queue_inactivate`, or suspended through the driver.
    Inactive,
    /// By an error; no further packet is processed.
    Faulted,
    Destroyed,
}

/// The program's error callback and its argument.
#[derive(Clone, Copy)]
pub(crate) struct ErrorCallback {
    pub(crate) function: QueueErrorCallback,
    pub(crate) data: *mut c_void,
}

// SAFETY: the argument is only handed back to the callback, which the program passed to be called on a
// thread of the runtime's.
unsafe impl Send for ErrorCallback {}
// SAFETY: as above; nothing reads through the pointer.
unsafe impl Sync for ErrorCallback {}

/// Where the shared words of a queue lie. They stay mapped while the queue exists: its owner sees to that.
#[derive(Clone, Copy)]
struct Words {
    ring: *mut Packet,
    /// Index of the first packet that was not launched; the packet processor writes it.
    read_index: *mut u64,
    /// Index behind the last packet that the program claimed.
    write_index: *mut u64,
    /// `AMD_QUEUE_PROPERTIES_*`; the host writes it.
    properties: *mut u32,
    /// The `amd_queue_t` that kernels ask for.
    control: u64,
}

// SAFETY: addresses of shared memory that is reached by atomics and volatile reads only.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

/// What belongs to a queue because of its maker: the function table or a client of the driver.
pub(crate) enum Owner {
    /// `hsa_queue_create` of the function table.
    Table(TableQueue),
    /// A client of the driver.
    Client(ClientQueue),
}

/// A queue that exists. In cache lines of its own, in pairs as processors fetch them: the packet processor looks at it all
/// the time, and would take the lines away from whatever of the program lies beside it.
#[repr(align(128))]
pub(crate) struct Queue {
    pub(crate) id: u64,
    pub(crate) device: u32,
    /// Packets in the ring, a power of two.
    pub(crate) size: u32,
    pub(crate) owner: Owner,
    words: Words,
    state: AtomicU32,
    priority: AtomicU32,
    units: Mutex<Option<Arc<[u32]>>>,
}

impl Queue {
    fn new(id: u64, device: u32, size: u32, words: Words, owner: Owner) -> Arc<Self> {
        Arc::new(Self {
            id,
            device,
            size,
            owner,
            words,
            state: AtomicU32::new(State::Active as u32),
            priority: AtomicU32::new(1),
            units: Mutex::default(),
        })
    }

    /// Marks the queue destroyed; `false` if another thread did.
    pub(crate) fn retire(&self) -> bool {
        if self.state.swap(State::Destroyed as u32, Ordering::SeqCst) == State::Destroyed as u32 {
            return false;
        }
        self.tell_inactive();
        true
    }

    /// Address of the `amd_queue_t`.
    pub(crate) fn control(&self) -> u64 {
        self.words.control
    }

    /// Index behind the last packet that may be launched if it is valid.
    #[inline]
    pub(crate) fn limit(&self) -> u64 {
        match &self.owner {
            Owner::Table(_) => {
                // SAFETY: mapped while the queue exists; programs change it by atomics.
                let index = unsafe { AtomicU64::from_ptr(self.words.write_index) };
                // ORDER: Acquire. Slots below the index were claimed; whether they are published their
                // header says.
                index.load(Ordering::Acquire)
            }
            Owner::Client(client) => client.limit(|| self.write_index()),
        }
    }

    /// The write index.
    pub(crate) fn write_index(&self) -> u64 {
        // SAFETY: mapped while the queue exists; programs change it by atomics.
        unsafe { AtomicU64::from_ptr(self.words.write_index) }.load(Ordering::Acquire)
    }

    /// The read index.
    pub(crate) fn read_index(&self) -> u64 {
        // SAFETY: mapped while the queue exists; only the packet processor writes it.
        unsafe { AtomicU64::from_ptr(self.words.read_index) }.load(Ordering::Relaxed)
    }

    /// Whether completion signals get times.
    pub(crate) fn is_profiled(&self) -> bool {
        // SAFETY: mapped while the queue exists; programs change it by atomics.
        let properties = unsafe { AtomicU32::from_ptr(self.words.properties) };
        properties.load(Ordering::Relaxed) & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING != 0
    }

    fn slot_pointer(&self, index: u64) -> *mut Packet {
        // CAST: the ring has at most 2^26 slots.
        let slot = (index & u64::from(self.size - 1)) as usize;
        self.words.ring.wrapping_add(slot)
    }

    /// The header of the slot that `index` falls into.
    pub(crate) fn header(&self, index: u64) -> &AtomicU16 {
        // SAFETY: the slot is inside the ring, which lives as long as `self`, and is 64-byte aligned.
        unsafe { AtomicU16::from_ptr(self.slot_pointer(index).cast()) }
    }

    /// Copies a packet whose header was seen to be valid.
    pub(crate) fn fetch(&self, index: u64) -> Packet {
        // SAFETY: the slot is inside the ring; the program no longer writes to a packet that it has
        // published, and if it does it gets a mixture of its own bytes.
        unsafe { self.slot_pointer(index).read_volatile() }
    }

    /// Takes the packet at `index` out of its slot.
    pub(crate) fn empty_slot(&self, index: u64) {
        self.header(index).store(HSA_PACKET_TYPE_INVALID.0 as u16, Ordering::Relaxed);
    }

    /// Gives the slots of all packets below `index`, which are empty, back to the program.
    pub(crate) fn free_slots_below(&self, index: u64) {
        // SAFETY: mapped while the queue exists.
        let read_index = unsafe { AtomicU64::from_ptr(self.words.read_index) };
        // ORDER: Release. The headers are invalid, and the packets read, before the slots are free.
        read_index.store(index, Ordering::Release);
    }

    /// Whether the queue is served, and if not why.
    pub(crate) fn state(&self) -> State {
        match self.state.load(Ordering::SeqCst) {
            0 => State::Active,
            1 => State::Inactive,
            2 => State::Faulted,
            _ => State::Destroyed,
        }
    }

    /// Stops the queue, unless it has been stopped for another reason.
    pub(crate) fn stop(&self, state: State) {
        if self.change(State::Active, state) {
            self.tell_inactive();
        }
    }

    /// Serves the queue again after [`State::Inactive`].
    pub(crate) fn resume(&self) {
        self.change(State::Inactive, State::Active);
    }

    fn change(&self, from: State, to: State) -> bool {
        self.state.compare_exchange(from as u32, to as u32, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    fn tell_inactive(&self) {
        if let Owner::Table(table) = &self.owner {
            table.inactive.store(1);
        }
    }

    /// Sets the priority, `HSA_AMD_QUEUE_PRIORITY_*`.
    pub(crate) fn set_priority(&self, priority: u32) {
        self.priority.store(priority.min(2), Ordering::Relaxed);
    }

    /// The priority, 0 (low) to 2 (high).
    pub(crate) fn priority(&self) -> u32 {
        self.priority.load(Ordering::Relaxed)
    }

    /// Restricts what is launched from now on to those of a device's `count` compute units whose bit is set; an empty mask
    /// lifts the restriction. `false`, and no change, if no unit is left.
    pub(crate) fn set_cu_mask(&self, mask: &[u32], count: u32) -> bool {
        let is_set = |unit: &u32| {
            let word = mask.get((unit / u32::BITS) as usize);
            word.is_some_and(|word| word >> (unit % u32::BITS) & 1 != 0)
        };
        let units: Arc<[u32]> = (0..count).filter(is_set).collect();
        if units.is_empty() && !mask.is_empty() {
            return false;
        }
        *self.units.lock() = Some(units).filter(|units| !units.is_empty());
        true
    }

    /// The compute units that it is restricted to, if it is.
    pub(crate) fn units(&self) -> Option<Arc<[u32]>> {
        self.units.lock().clone()
    }
}
