//! Caches, for programs that are to be caught relying on there being none (`AQLIPSE_EMULATE_COHERENCE=strict`).
//!
//! Without this mode a device's loads and stores reach the host's memory at once, and a fence that is missing from a
//! packet or a kernel never shows. With it, what the memory model does not promise to be visible is not (LLVM
//! AMDGPUUsage, "Memory Model gfx90a", "gfx942", "gfx10-gfx11" and "gfx12"; HSA Platform System Architecture 1.2, 2.9 and 3):
//!
//! ```text
//!   a workgroup's View    its stores until it releases them, what it has read until it acquires; two of them where its
//!                         waves are on two compute units, which see each other's stores through a cache that they share
//!   its dispatch          the stores that ended workgroups left, until its packet, or a later one with the barrier bit,
//!                         releases at agent scope
//!   its device's Cache    coarse-grained stores until a release at system scope, what was read until an
//!                         acquire at system scope; and what lines held before they changed, for queues
//!                         whose latest acquire is older than the change
//!   memory                what the host, the copy engines and other devices see
//! ```
//!
//! A queue sees of its device what had been released when it last acquired, *and no more*: where a cache may hold an old
//! line, this one does. That a real cache may also not hold it makes a program that shows no stale data here no proof,
//! but one that shows some is wrong. docs/adr/0030 says what is modelled and what is not.

mod cache;
mod line;
mod view;

use parking_lot::{Mutex, MutexGuard};

use hsa_sys::{
    HSA_PACKET_HEADER_BARRIER, HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE,
    HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,
};

use super::Map;
use crate::isa::{Generation, Target};
use cache::Cache;
pub use view::{Reach, View};

/// How far a fence reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Nowhere: there is no fence.
    None,
    /// The device.
    Agent,
    /// All devices and the host.
    System,
}

impl Scope {
    /// Of the acquire fence in a packet's header. The reserved value reaches as far as any.
    pub(crate) fn acquire(header: u16) -> Self {
        Self::of(header >> HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE.0)
    }

    /// As [`Scope::acquire`], of the release fence.
    fn release(header: u16) -> Self {
        Self::of(header >> HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE.0)
    }

    fn of(bits: u16) -> Self {
        match bits & 3 {
            0 => Self::None,
            1 => Self::Agent,
            _ => Self::System,
        }
    }
}

/// How a range of memory is kept coherent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grain {
    /// Stores pass by the device's cache; what it has read stays until an acquire at system scope.
    #[default]
    Fine,
    /// Stores stay in the device's cache until a release at system scope.
    Coarse,
    /// As fine-grained memory, and the device's cache keeps nothing of it: it was asked for so; or it may be mapped at
    /// several addresses, and the cache goes by addresses; or it holds the packets that waves read, which the packet
    /// processor replaces without a fence of any packet.
    Uncached,
}

/// Where a dispatch's view of memory begins.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    queue: u64,
    dispatch: u64,
    epoch: u64,
}

/// A device's caches.
pub struct Caches(Mutex<Cache>);

impl Caches {
    /// The empty caches of a device.
    pub(crate) fn new(target: Target) -> Self {
        // Atomic stores of gfx90a, RDNA 2 and 3 are stores as any other; those of gfx942 and RDNA 4 say that they are.
        let are_plain =
            target == Target::Gfx90a || matches!(target.generation(), Generation::Gfx10 | Generation::Gfx11);
        Self(Mutex::new(Cache::new(are_plain)))
    }

    fn lock(&self) -> MutexGuard<'_, Cache> {
        self.0.lock()
    }

    /// Performs a packet's acquire fence for its queue.
    pub(crate) fn acquire(&self, map: &Map, queue: u64, scope: Scope) {
        let mut cache = self.lock();
        cache.acquire_for(&map.snapshot(), queue, scope);
    }

    /// Performs the release fence that a packet's header asks for: for what its dispatch stored; if the packet has the
    /// barrier bit, also for what those before it left; at system scope, for all that the device's cache holds.
    pub(crate) fn release(&self, map: &Map, queue: u64, header: u16, origin: Option<Origin>) {
        let waited = header >> HSA_PACKET_HEADER_BARRIER.0 & 1 != 0;
        let dispatch = origin.map(|origin| origin.dispatch);
        let mut cache = self.lock();
        cache.release(&map.snapshot(), queue, (dispatch, waited), Scope::release(header));
    }

    /// What a dispatch of a queue sees.
    pub(crate) fn origin(&self, queue: u64) -> Origin {
        let mut cache = self.lock();
        Origin { queue, dispatch: cache.next_dispatch(), epoch: cache.epoch_of(queue) }
    }

    /// Forgets a queue that is no more, and stores that none of its packets released.
    pub(crate) fn leave(&self, queue: u64) {
        self.lock().leave(queue);
    }

    /// Forgets a range that has left the device's map, after writing back what `backing` says is still there.
    pub(crate) fn forget(&self, start: u64, end: u64, backed: bool) {
        self.lock().forget(start, end, backed);
    }
}
