//! Addresses of one allocation node, and chunks of physical memory behind them.

#![forbid(unsafe_code)]

use std::{
    collections::{BTreeSet, HashSet},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use aqlipse_graph::memory::{
    order::Order,
    placement::{self, TooManyUnits},
    sizes::Sizes,
};
use parking_lot::Mutex;

use super::mapping::{self, Calls};
use crate::{
    device::Device,
    error::{Error, Result},
};

/// Which allocations have the same memory.
pub(super) type Placement = placement::Placement<Arc<Space>>;

/// Plans for the memory of some allocations, of which one may have the memory of another that is over before it begins.
///
/// # Errors
/// [`Error::OutOfMemory`] if their units cannot be numbered.
pub(super) fn place(spaces: Vec<Arc<Space>>, sizes: &Sizes, before: &Order) -> Result<Placement> {
    let size = |space: &Arc<Space>| (space.bytes, sizes.reach(space.addresses.len() as u64));
    Placement::new(spaces, size, sizes, before)
        .map_err(|TooManyUnits| Error::OutOfMemory { bytes: usize::MAX })
}

/// The addresses that a placement is for.
pub(super) fn spaces_of(placement: &Placement) -> HashSet<*const Space> {
    placement.buffers.iter().map(|(space, _)| Arc::as_ptr(space)).collect()
}

/// Addresses of one allocation, for its node's life.
pub(crate) struct Space {
    addresses: hsa::Reservation,
    /// The devices that may access what is mapped: the owner, and peers.
    agents: Vec<hsa::Agent>,
    bytes: u64,
    /// The latest executable that maps shared chunks here, by number; 0 for none yet.
    binding: AtomicU64,
    /// Chunks that nothing else has, as long as their contents are needed.
    own: Mutex<Weak<PrivateChunks>>,
}

impl Space {
    /// Takes addresses for `bytes` bytes, whole pages.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn reserve(
        device: &Device,
        memory: &hsa::VirtualMemory,
        sizes: &Sizes,
        bytes: u64,
        peers: &BTreeSet<usize>,
    ) -> Result<Self> {
        let out_of_memory = || Error::OutOfMemory { bytes: usize::try_from(bytes).unwrap_or(usize::MAX) };
        // CAST: a 64-bit process.
        let (room, least) = (sizes.room(bytes) as usize, bytes.saturating_mul(2) as usize);
        let addresses = memory.reserve(room, sizes.alignment(bytes), 0);
        let addresses =
            addresses.or_else(|_| memory.reserve(room, 0, 0)).or_else(|_| memory.reserve(least, 0, 0));
        let devices = device.0.system.devices();
        let peers = peers.iter().filter_map(|&ordinal| devices.get(ordinal));
        let agents = [device].into_iter().chain(peers).map(|device| device.0.agent.clone()).collect();
        Ok(Self {
            addresses: addresses.map_err(|_| out_of_memory())?,
            agents,
            bytes,
            binding: AtomicU64::new(0),
            own: Mutex::default(),
        })
    }

    pub(super) fn address(&self) -> u64 {
        self.addresses.address()
    }

    /// Bytes that were asked for, in whole pages.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of the latest executable that maps shared chunks here; 0 for none.
    pub(super) fn binding(&self) -> u64 {
        // ORDER: Relaxed. Executables of a graph are made one after the other.
        self.binding.load(Ordering::Relaxed)
    }

    pub(super) fn set_binding(&self, binding: u64) {
        self.binding.store(binding, Ordering::Relaxed);
    }

    /// Maps chunks side by side, from the first address on; nothing is mapped if that fails.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: all that can be missing is room for mappings.
    pub(super) fn map<'c>(
        &self,
        calls: &Calls,
        chunks: impl Iterator<Item = &'c hsa::PhysicalMemory>,
    ) -> Result<()> {
        let mut at = 0;
        for chunk in chunks {
            if let Err(error) = calls.map(&self.addresses, at, chunk, &self.agents) {
                tracing::warn!(%error, "memory of a graph cannot be mapped");
                self.unmap();
                // CAST: a 64-bit process.
                return Err(Error::OutOfMemory { bytes: self.bytes as usize });
            }
            at += chunk.len();
        }
        Ok(())
    }

    /// Ends what [`Space::map`] began. No launch that uses it may be in flight.
    pub(super) fn unmap(&self) {
        mapping::unmap(&self.addresses);
    }

    /// Chunks for these addresses alone, mapped there: those that are, or new ones.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn own(self: &Arc<Self>, device: &Device) -> Result<Arc<PrivateChunks>> {
        let mut own = self.own.lock();
        if let Some(own) = own.upgrade() {
            return Ok(own);
        }
        let arenas = device.context().graph_memory.arenas();
        let (memory, sizes) = arenas.memory(device)?;
        let chunks =
            sizes.chunks(self.bytes, sizes.most()).map(|bytes| mapping::chunk(device, memory, bytes));
        let chunks: Vec<_> = chunks.collect::<Result<_>>()?;
        self.map(&arenas.calls, chunks.iter())?;
        let fresh = Arc::new(PrivateChunks { space: self.clone(), _chunks: chunks });
        *own = Arc::downgrade(&fresh);
        Ok(fresh)
    }

    /// The chunks that nothing else has, if there are any.
    pub(super) fn owned(&self) -> Option<Arc<PrivateChunks>> {
        self.own.lock().upgrade()
    }
}

/// Chunks of one allocation alone, as long as their contents are needed.
pub(super) struct PrivateChunks {
    space: Arc<Space>,
    _chunks: Vec<hsa::PhysicalMemory>,
}

impl Drop for PrivateChunks {
    fn drop(&mut self) {
        self.space.unmap();
    }
}
