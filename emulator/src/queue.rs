//! Queues as programs see them: a control block, a ring of packets and a doorbell.
//!
//! Control blocks live in a slab that stays mapped and device visible, so that the index functions,
//! which have no way to report an error, can check a pointer by two comparisons and survive a stale
//! one. The ring is the queue's own and goes with it.

use std::{
    ffi::c_void,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering},
    },
};

use hsa_sys::{
    AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, AMD_QUEUE_PROPERTIES_IS_PTR64, HSA_PACKET_TYPE_INVALID,
    HSA_QUEUE_FEATURE_KERNEL_DISPATCH, PACKET_BYTES, QueueErrorCallback, amd_queue_t, hsa_queue_t,
    hsa_signal_t,
};

use crate::{
    os::{self, Mapping},
    signal::Signal,
};

/// Queues that one process may have.
const CAPACITY: usize = 4096;

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

/// A control block that is mapped, whether or not a queue uses it now.
#[derive(Clone, Copy)]
pub(crate) struct Block(*mut amd_queue_t);

macro_rules! field {
    ($(#[$meta:meta])* $name:ident: $atomic:ty) => {
        $(#[$meta])*
        #[inline]
        pub(crate) fn $name(self) -> &'static $atomic {
            // SAFETY: the block is inside the slab, which is mapped for ever and aligned; the field is
            // reached by atomics only, except before the queue is published.
            unsafe { <$atomic>::from_ptr(&raw mut (*self.0).$name) }
        }
    };
}

impl Block {
    /// The block that a queue pointer names, if it points to one.
    #[inline]
    pub(crate) fn find(queue: *const hsa_queue_t) -> Option<Self> {
        let slab = slab()?;
        let offset = (queue as u64).wrapping_sub(slab.blocks.address());
        let inside = offset < (CAPACITY * size_of::<amd_queue_t>()) as u64;
        (inside && offset % size_of::<amd_queue_t>() as u64 == 0).then_some(Self(queue as *mut amd_queue_t))
    }

    field!(
        /// Index behind the last packet that the program claimed.
        write_dispatch_id: AtomicU64
    );
    field!(
        /// Index of the first packet that was not launched; the packet processor writes it.
        read_dispatch_id: AtomicU64
    );
    field!(
        /// `AMD_QUEUE_PROPERTIES_*`; the host writes it.
        queue_properties: AtomicU32
    );

    /// Whether completion signals get times.
    pub(crate) fn is_profiled(self) -> bool {
        self.queue_properties().load(Ordering::Relaxed) & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING != 0
    }

    /// Switches times in completion signals on or off.
    pub(crate) fn set_profiled(self, on: bool) {
        if on {
            self.queue_properties().fetch_or(AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, Ordering::Relaxed);
        } else {
            self.queue_properties().fetch_and(!AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, Ordering::Relaxed);
        }
    }
}

struct Slab {
    blocks: Mapping,
    queues: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    queues: Vec<Option<Arc<Queue>>>,
    next_id: u64,
}

fn slab() -> Option<&'static Slab> {
    static SLAB: OnceLock<Option<Slab>> = OnceLock::new();
    SLAB.get_or_init(|| {
        let blocks = Mapping::anonymous(CAPACITY * size_of::<amd_queue_t>()).ok()?;
        Some(Slab { blocks, queues: Mutex::default() })
    })
    .as_ref()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Addresses of all control blocks, for the devices' maps.
pub(crate) fn device_range() -> Option<(u64, u64)> {
    let blocks = &slab()?.blocks;
    Some((blocks.address(), blocks.address() + blocks.size() as u64))
}

/// Every queue that exists.
pub(crate) fn all() -> Vec<Arc<Queue>> {
    slab().map_or(Vec::new(), |slab| lock(&slab.queues).queues.iter().flatten().cloned().collect())
}

/// Whether a queue is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Active,
    /// By `hsa_queue_inactivate`.
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

/// A queue that exists.
pub(crate) struct Queue {
    pub(crate) id: u64,
    pub(crate) device: u32,
    /// Packets in the ring, a power of two.
    pub(crate) size: u32,
    pub(crate) callback: ErrorCallback,
    pub(crate) doorbell: Signal,
    inactive: Signal,
    slot: usize,
    ring: Arc<Mapping>,
    state: AtomicU32,
    priority: AtomicU32,
    cu_mask: Mutex<Vec<u32>>,
}

impl Queue {
    /// Makes a queue and its control block; `None` when the process has no room for it.
    pub(crate) fn create(device: u32, size: u32, type_: u32, callback: ErrorCallback) -> Option<Arc<Self>> {
        let slab = slab()?;
        let ring = Arc::new(Mapping::anonymous(os::pages(size as usize * PACKET_BYTES)?).ok()?);
        let mut slots = lock(&slab.queues);
        let slot = match slots.queues.iter().position(Option::is_none) {
            Some(slot) => slot,
            None if slots.queues.len() < CAPACITY => {
                slots.queues.push(None);
                slots.queues.len() - 1
            }
            None => return None,
        };
        let address = slab.blocks.address() + (slot * size_of::<amd_queue_t>()) as u64;
        let doorbell = Signal::create_doorbell(device, address)?;
        let Some(inactive) = Signal::create(0) else {
            doorbell.destroy();
            return None;
        };
        let id = slots.next_id;
        slots.next_id += 1;
        let queue = Arc::new(Self {
            id,
            device,
            size,
            callback,
            doorbell,
            inactive,
            slot,
            ring,
            state: AtomicU32::new(State::Active as u32),
            priority: AtomicU32::new(1),
            cu_mask: Mutex::default(),
        });
        for index in 0..u64::from(size) {
            queue.header(index).store(HSA_PACKET_TYPE_INVALID.0 as u16, Ordering::Relaxed);
        }
        let hsa_queue = hsa_queue_t {
            type_,
            features: HSA_QUEUE_FEATURE_KERNEL_DISPATCH.0,
            base_address: queue.ring.pointer().cast(),
            doorbell_signal: hsa_signal_t { handle: doorbell.handle() },
            size,
            reserved1: 0,
            id,
        };
        let block = queue.block();
        block.write_dispatch_id().store(0, Ordering::Relaxed);
        block.read_dispatch_id().store(0, Ordering::Relaxed);
        block.queue_properties().store(AMD_QUEUE_PROPERTIES_IS_PTR64, Ordering::Relaxed);
        // SAFETY: the slot is ours until the queue is destroyed, and nobody knows its address yet.
        unsafe {
            (*block.0).hsa_queue = hsa_queue;
            (*block.0).group_segment_aperture_base_hi = GROUP_APERTURE;
            (*block.0).private_segment_aperture_base_hi = PRIVATE_APERTURE;
            (*block.0).read_dispatch_id_field_base_byte_offset =
                std::mem::offset_of!(amd_queue_t, read_dispatch_id) as u32;
            (*block.0).queue_inactive_signal = hsa_signal_t { handle: inactive.handle() };
        }
        slots.queues[slot] = Some(Arc::clone(&queue));
        Some(queue)
    }

    /// The queue that a pointer names, if it exists.
    pub(crate) fn find(pointer: *const hsa_queue_t) -> Option<Arc<Self>> {
        let slab = slab()?;
        Block::find(pointer)?;
        let slot = (pointer as u64 - slab.blocks.address()) as usize / size_of::<amd_queue_t>();
        lock(&slab.queues).queues.get(slot)?.clone().filter(|q| q.state() != State::Destroyed)
    }

    /// Marks the queue destroyed; `false` if another thread did. The slot stays taken until
    /// [`Queue::release`], when the packet processor has let go.
    pub(crate) fn retire(&self) -> bool {
        if self.state.swap(State::Destroyed as u32, Ordering::SeqCst) == State::Destroyed as u32 {
            return false;
        }
        self.inactive.store(1);
        true
    }

    /// Gives the slot and the signals back; the packet processor no longer serves the queue.
    pub(crate) fn release(&self) {
        self.doorbell.destroy();
        self.inactive.destroy();
        if let Some(slab) = slab()
            && let Some(slot) = lock(&slab.queues).queues.get_mut(self.slot)
        {
            *slot = None;
        }
    }

    /// The control block.
    pub(crate) fn block(&self) -> Block {
        // A queue exists only if the slab does.
        let base = slab().map_or(std::ptr::null_mut(), |s| s.blocks.pointer());
        Block(base.cast::<amd_queue_t>().wrapping_add(self.slot))
    }

    /// The pointer that programs see.
    pub(crate) fn pointer(&self) -> *mut hsa_queue_t {
        self.block().0.cast()
    }

    /// The ring's memory.
    pub(crate) fn ring(&self) -> &Arc<Mapping> {
        &self.ring
    }

    fn slot_pointer(&self, index: u64) -> *mut Packet {
        // CAST: the ring has at most 2^17 slots.
        let slot = (index & u64::from(self.size - 1)) as usize;
        self.ring.pointer().cast::<Packet>().wrapping_add(slot)
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

    /// Gives the slot of the packet at `index` back to the program.
    pub(crate) fn retire_slot(&self, index: u64) {
        self.header(index).store(HSA_PACKET_TYPE_INVALID.0 as u16, Ordering::Relaxed);
        // ORDER: Release. The header is invalid, and the packet read, before the slot is free.
        self.block().read_dispatch_id().store(index + 1, Ordering::Release);
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
        let stopped = self.state.compare_exchange(
            State::Active as u32,
            state as u32,
            Ordering::SeqCst,
            Ordering::SeqCst,
        );
        if stopped.is_ok() {
            self.inactive.store(1);
        }
    }

    /// Sets the priority, `HSA_AMD_QUEUE_PRIORITY_*`.
    pub(crate) fn set_priority(&self, priority: u32) {
        self.priority.store(priority, Ordering::Relaxed);
    }

    /// The priority, 0 (low) to 2 (high).
    pub(crate) fn priority(&self) -> u32 {
        self.priority.load(Ordering::Relaxed)
    }

    /// Remembers the compute-unit mask; compute units here are all alike, so nothing follows from it.
    pub(crate) fn set_cu_mask(&self, mask: Vec<u32>) {
        *lock(&self.cu_mask) = mask;
    }
}
