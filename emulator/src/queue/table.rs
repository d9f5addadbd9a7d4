//! Queues that the function table makes.
//!
//! Control blocks live in a slab that stays mapped and device visible, so that the index functions,
//! which have no way to report an error, can check a pointer by two comparisons and survive a stale
//! one. The ring is the queue's own and goes with it, or a block of its device's memory.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

use hsa_sys::{
    AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, AMD_QUEUE_PROPERTIES_IS_PTR64, HSA_PACKET_TYPE_INVALID,
    HSA_QUEUE_FEATURE_KERNEL_DISPATCH, PACKET_BYTES, amd_queue_t, hsa_queue_t, hsa_signal_t,
};
use parking_lot::Mutex;

use super::{ErrorCallback, GROUP_APERTURE, Owner, PRIVATE_APERTURE, Queue, State, Words};
use crate::{
    heap,
    os::{self, Mapping, hidden},
    signal::Signal,
};

/// Queues that one process may have.
const CAPACITY: usize = 4096;

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

/// Addresses of all control blocks, for the devices' maps.
pub(crate) fn device_range() -> Option<(u64, u64)> {
    let blocks = &slab()?.blocks;
    Some((blocks.address(), blocks.address() + blocks.size() as u64))
}

/// Every queue of the table that exists.
pub(crate) fn all() -> Vec<Arc<Queue>> {
    slab().map_or(Vec::new(), |slab| slab.queues.lock().queues.iter().flatten().cloned().collect())
}

/// A ring's memory, which stays mapped while this exists.
#[derive(Clone)]
pub(crate) enum Ring {
    /// Of the host.
    System(Arc<Mapping>),
    /// A block of a device's memory from this address on, which the heap has shown to the device.
    Device(u64, Arc<heap::Backing>),
}

impl Ring {
    /// Memory of the host for a ring of `size` packets, if there is any left.
    pub(crate) fn in_system_memory(size: u32) -> Option<Self> {
        let bytes = os::pages(size as usize * PACKET_BYTES)?;
        Some(Self::System(Arc::new(Mapping::anonymous(bytes).ok()?)))
    }

    /// Where it begins.
    pub(crate) fn address(&self) -> u64 {
        match self {
            Self::System(mapping) => mapping.address(),
            Self::Device(base, _) => *base,
        }
    }
}

/// What a queue of the table has beside its ring and its indices.
pub(crate) struct TableQueue {
    pub(crate) callback: ErrorCallback,
    /// Set to 1 when the queue is no longer served.
    pub(super) inactive: Signal,
    doorbell: Signal,
    slot: usize,
    ring: Ring,
}

impl TableQueue {
    /// The ring's memory.
    pub(crate) fn ring(&self) -> &Ring {
        &self.ring
    }
}

impl Queue {
    /// Makes a queue over a ring of `size` packets, and its control block; `None` when the process has no room for it.
    pub(crate) fn create(
        device: u32,
        size: u32,
        type_: u32,
        callback: ErrorCallback,
        ring: Ring,
    ) -> Option<Arc<Self>> {
        let slab = slab()?;
        let mut slots = slab.queues.lock();
        let slot = match slots.queues.iter().position(Option::is_none) {
            Some(slot) => slot,
            None if slots.queues.len() < CAPACITY => {
                slots.queues.push(None);
                slots.queues.len() - 1
            }
            None => return None,
        };
        let control = slab.blocks.pointer().cast::<amd_queue_t>().wrapping_add(slot);
        let doorbell = Signal::create_doorbell(device, control as u64)?;
        let Some(inactive) = Signal::create(0) else {
            doorbell.destroy();
            return None;
        };
        let id = slots.next_id;
        slots.next_id += 1;
        let base_address = ring.address() as *mut std::ffi::c_void;
        // SAFETY: the slot is ours until the queue is destroyed, and no other thread knows its address yet.
        let words = unsafe {
            (*control).hsa_queue = hsa_queue_t {
                type_,
                features: HSA_QUEUE_FEATURE_KERNEL_DISPATCH.0,
                base_address,
                doorbell_signal: hsa_signal_t { handle: doorbell.handle() },
                size,
                reserved1: 0,
                id,
            };
            (*control).group_segment_aperture_base_hi = GROUP_APERTURE;
            (*control).private_segment_aperture_base_hi = PRIVATE_APERTURE;
            (*control).read_dispatch_id_field_base_byte_offset =
                std::mem::offset_of!(amd_queue_t, read_dispatch_id) as u32;
            (*control).queue_inactive_signal = hsa_signal_t { handle: inactive.handle() };
            Words {
                ring: hidden::at(ring.address()).cast(),
                read_index: &raw mut (*control).read_dispatch_id,
                write_index: &raw mut (*control).write_dispatch_id,
                properties: &raw mut (*control).queue_properties,
                control: control as u64,
            }
        };
        let block = Block(control);
        block.write_dispatch_id().store(0, Ordering::Relaxed);
        block.read_dispatch_id().store(0, Ordering::Relaxed);
        block.queue_properties().store(AMD_QUEUE_PROPERTIES_IS_PTR64, Ordering::Relaxed);
        let owner = Owner::Table(TableQueue { callback, doorbell, inactive, slot, ring });
        let queue = Self::new(id, device, size, words, owner);
        for index in 0..u64::from(size) {
            queue.header(index).store(HSA_PACKET_TYPE_INVALID.0 as u16, Ordering::Relaxed);
        }
        slots.queues[slot] = Some(Arc::clone(&queue));
        Some(queue)
    }

    /// The queue of the table that a pointer names, if it exists.
    pub(crate) fn find(pointer: *const hsa_queue_t) -> Option<Arc<Self>> {
        let slab = slab()?;
        Block::find(pointer)?;
        let slot = (pointer as u64 - slab.blocks.address()) as usize / size_of::<amd_queue_t>();
        slab.queues.lock().queues.get(slot)?.clone().filter(|q| q.state() != State::Destroyed)
    }

    /// Gives the slot and the signals of a queue of the table back; the packet processor no longer serves it.
    pub(crate) fn release(&self) {
        let Some(table) = self.table() else { return };
        table.doorbell.destroy();
        table.inactive.destroy();
        if let Some(slab) = slab()
            && let Some(slot) = slab.queues.lock().queues.get_mut(table.slot)
        {
            *slot = None;
        }
    }

    /// The pointer that programs see.
    pub(crate) fn pointer(&self) -> *mut hsa_queue_t {
        self.control() as *mut hsa_queue_t
    }

    /// What the queue has as one of the table's.
    pub(crate) fn table(&self) -> Option<&TableQueue> {
        match &self.owner {
            Owner::Table(table) => Some(table),
            Owner::Client(_) => None,
        }
    }
}
