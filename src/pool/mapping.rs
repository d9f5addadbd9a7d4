//! What is asked of the HSA runtime for the memory of graphs.

use crate::{
    device::Device,
    error::{Error, Result},
};

/// Makes a chunk of `bytes` bytes of a device's memory.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn chunk(device: &Device, memory: &hsa::VirtualMemory, bytes: u64) -> Result<hsa::PhysicalMemory> {
    // CAST: a 64-bit process, and a small number.
    let len = bytes as usize;
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
