//! What is asked of the HSA runtime for the memory of graphs.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    device::Device,
    error::{Error, Result},
};

/// How often the HSA runtime was asked for memory of a device's graphs.
#[derive(Default)]
pub(super) struct Calls {
    made: AtomicU64,
    mapped: AtomicU64,
}

/// What a device's graphs have asked the HSA runtime for so far: calls that take their time on hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MappingCalls {
    /// Handles of physical memory that were made.
    pub made: u64,
    /// Handles that were mapped to addresses of an allocation node.
    pub mapped: u64,
}

impl Calls {
    pub(super) fn get(&self) -> MappingCalls {
        // ORDER: Relaxed. The numbers say nothing about other memory.
        let [made, mapped] = [&self.made, &self.mapped].map(|calls| calls.load(Ordering::Relaxed));
        MappingCalls { made, mapped }
    }

    /// Maps a chunk at `at` bytes of some addresses, for `agents`.
    ///
    /// # Errors
    /// What the HSA runtime says.
    pub(super) fn map(
        &self,
        addresses: &hsa::Reservation,
        at: usize,
        chunk: &hsa::PhysicalMemory,
        agents: &[hsa::Agent],
    ) -> std::result::Result<(), hsa::Error> {
        self.mapped.fetch_add(1, Ordering::Relaxed);
        addresses.map(at, chunk, chunk.len())?;
        addresses.set_access(at, chunk.len(), agents, hsa::Access::ReadWrite)
    }
}

/// Makes a chunk of `bytes` bytes of a device's memory.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn chunk(device: &Device, memory: &hsa::VirtualMemory, bytes: u64) -> Result<hsa::PhysicalMemory> {
    // CAST: a 64-bit process, and a small number.
    let len = bytes as usize;
    device.context().graph_memory.arenas().calls.made.fetch_add(1, Ordering::Relaxed);
    memory
        .create(&device.0.local, len)
        .map(|chunk| chunk.held_by(crate::memory_report::GRAPHS))
        .map_err(|_| Error::OutOfMemory { bytes: len })
}

/// Unmaps all that is mapped to some addresses, which no launch in flight may use.
pub(super) fn unmap(addresses: &hsa::Reservation) {
    // SAFETY: no launch that uses the memory is in flight, as the callers have made sure; and whoever uses memory that a
    // graph does not have allocated has no business there (HIP: undefined).
    if let Err(error) = unsafe { addresses.unmap_all() } {
        tracing::warn!(%error, "memory of a graph stays mapped");
    }
}
