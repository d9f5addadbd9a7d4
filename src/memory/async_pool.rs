//! Stream-ordered allocation: blocks that come back when their stream has passed the free.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{Backing, Origin, Region};
use crate::{
    device::{Fence, System},
    error::{Error, Result},
    stream::Stream,
};

/// Blocks are handed out in multiples of this many bytes, so that nearly equal requests share them.
const GRANULE: usize = 4096;

/// Freed blocks of a device that wait to be used again.
#[derive(Default)]
pub(crate) struct AsyncPool {
    free: Mutex<BTreeMap<usize, Vec<Free>>>,
}

struct Free {
    memory: Arc<hsa::Allocation>,
    stream: u64,
    fence: Fence,
}

impl AsyncPool {
    /// Memory of at least `bytes` bytes, for use on `stream`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn allocate(&self, stream: &Stream, bytes: usize) -> Result<Arc<Region>> {
        let size = bytes.max(1).checked_next_multiple_of(GRANULE).ok_or(Error::OutOfMemory { bytes })?;
        let device = stream.device();
        let memory = match self.reuse(stream.id(), size) {
            Some(memory) => memory,
            None => {
                let fresh = device.0.local.allocate(size).or_else(|_| {
                    // What other streams freed may be all that is left.
                    device.drain()?;
                    self.trim(0);
                    device.0.local.allocate(size).map_err(|_| Error::OutOfMemory { bytes })
                })?;
                Arc::new(fresh)
            }
        };
        Ok(System::get()?.memory().insert(Region {
            address: memory.address(),
            bytes: bytes as u64,
            origin: Origin::Pooled,
            device: device.ordinal(),
            flags: 0,
            device_address: memory.address(),
            backing: Backing::Pooled(memory),
        }))
    }

    /// A block of exactly `size` bytes that was freed on the same stream, or whose free has been passed.
    fn reuse(&self, stream: u64, size: usize) -> Option<Arc<hsa::Allocation>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let blocks = free.get_mut(&size)?;
        let i = blocks.iter().position(|b| b.stream == stream || b.fence.is_over())?;
        Some(blocks.swap_remove(i).memory)
    }

    /// Takes back the block at `address` once `stream` has passed this point.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if no allocation starts there.
    pub(crate) fn release(&self, stream: &Stream, address: u64) -> Result<()> {
        let table = System::get()?.memory();
        let pooled = |r: &Region| r.origin == Origin::Pooled;
        let fence = stream.fence()?;
        let region = table.remove(address, pooled);
        let region = region.ok_or(Error::InvalidValue("not the start of an asynchronous allocation"))?;
        if let Backing::Pooled(memory) = &region.backing {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            let block = Free { memory: memory.clone(), stream: stream.id(), fence };
            free.entry(memory.len()).or_default().push(block);
        }
        Ok(())
    }

    /// Gives free blocks back to the device until at most `keep` bytes are left of them.
    pub(crate) fn trim(&self, keep: usize) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept: usize = free.iter().map(|(size, blocks)| size * blocks.len()).sum();
        for (size, blocks) in free.iter_mut().rev() {
            blocks.retain(|b| {
                let give_back = kept > keep && b.fence.is_over();
                kept -= if give_back { *size } else { 0 };
                !give_back
            });
        }
        free.retain(|_, blocks| !blocks.is_empty());
    }
}
