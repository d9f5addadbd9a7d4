//! Queues whose memory belongs to a client of the driver.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use hsa_sys::amd_queue_t;

use super::{Owner, Queue, Words};
use crate::os::hidden;

/// What a client's queue has beside its ring and its indices.
pub(crate) struct ClientQueue {
    /// Index of the last packet that was published, as the client last stored it; all ones before that.
    doorbell: Doorbell,
    /// Index behind the last packet that was claimed when the doorbell last changed.
    limit: AtomicU64,
    /// What the doorbell held when it was last looked at.
    seen: AtomicU64,
    /// How often it had changed.
    rings: AtomicU64,
    /// Keeps ring, indices and doorbell mapped until the queue is gone.
    _memory: Vec<Backing>,
}

/// What keeps memory mapped.
pub(crate) type Backing = Arc<dyn Send + Sync>;

/// The 64-bit word that the client stores to.
#[derive(Clone, Copy)]
struct Doorbell(*mut u64);

// SAFETY: an address that is reached by atomics only.
unsafe impl Send for Doorbell {}
// SAFETY: as above.
unsafe impl Sync for Doorbell {}

impl Doorbell {
    fn word(&self) -> &AtomicU64 {
        // SAFETY: aligned, and mapped while the queue exists.
        unsafe { AtomicU64::from_ptr(self.0) }
    }
}

impl ClientQueue {
    /// Looks at the doorbell; `write_index` says how many packets are claimed.
    ///
    /// When several threads ring, the doorbell may go backwards, and one index may take the place of a later one before
    /// the packet processor looks. So a ring is for all that is claimed: what is not published yet has no valid header.
    /// Hardware polls the write index as well.
    pub(super) fn limit(&self, write_index: impl Fn() -> u64) -> u64 {
        // ORDER: Acquire. Pairs with the client's release: the packets up to the index are published, and threads
        // that rang before had claimed theirs.
        let now = self.doorbell.word().load(Ordering::Acquire);
        // Only the packet processor comes here: plain stores lose nothing.
        let mut limit = self.limit.load(Ordering::Relaxed);
        if now != self.seen.load(Ordering::Relaxed) {
            self.seen.store(now, Ordering::Relaxed);
            self.rings.store(self.rings.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            limit = limit.max(now.wrapping_add(1)).max(write_index());
            self.limit.store(limit, Ordering::Relaxed);
        }
        limit
    }

    /// Changes of the doorbell since the last call.
    pub(crate) fn take_rings(&self) -> u64 {
        self.rings.swap(0, Ordering::Relaxed)
    }

    /// Stores to the doorbell on the client's behalf.
    pub(crate) fn ring(&self, index: u64) {
        self.doorbell.word().store(index, Ordering::Release);
    }
}

/// Where a client keeps a queue.
pub(crate) struct ClientWords {
    pub(crate) ring: u64,
    pub(crate) read_index: u64,
    pub(crate) write_index: u64,
    pub(crate) control: u64,
    /// A multiple of 8.
    pub(crate) doorbell: u64,
}

impl Queue {
    /// A queue of `size` packets at the client's addresses, all of which `memory` keeps mapped.
    pub(crate) fn of_client(
        id: u64,
        device: u32,
        size: u32,
        words: &ClientWords,
        memory: Vec<Backing>,
    ) -> Arc<Self> {
        let control = words.control as *mut amd_queue_t;
        let places = Words {
            ring: hidden::at(words.ring).cast(),
            read_index: words.read_index as *mut u64,
            write_index: words.write_index as *mut u64,
            properties: control
                .wrapping_byte_add(std::mem::offset_of!(amd_queue_t, queue_properties))
                .cast::<u32>(),
            control: words.control,
        };
        let doorbell = Doorbell(words.doorbell as *mut u64);
        doorbell.word().store(u64::MAX, Ordering::Relaxed);
        let owner = ClientQueue {
            doorbell,
            limit: AtomicU64::new(0),
            seen: AtomicU64::new(u64::MAX),
            rings: AtomicU64::new(0),
            _memory: memory,
        };
        Self::new(id, device, size, places, Owner::Client(owner))
    }

    /// What the queue has as a client's.
    pub(crate) fn client(&self) -> Option<&ClientQueue> {
        match &self.owner {
            Owner::Table(_) => None,
            Owner::Client(client) => Some(client),
        }
    }
}
