//! Stream-ordered allocation: blocks that come back when their stream has passed the free.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Backing, Origin, Region};
use crate::{
    device::{Fence, System},
    error::{Error, Result},
    stream::Stream,
};

/// Blocks are handed out in multiples of this many bytes, so that nearly equal requests share them.
const GRANULE: usize = 4096;

/// Freed blocks of a device that wait to be used again: together with what is in use, as many bytes as were ever in
/// use at once.
#[derive(Default)]
pub(crate) struct AsyncPool {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By size.
    free: BTreeMap<usize, Vec<Free>>,
    free_bytes: usize,
    used_bytes: usize,
    most_used: usize,
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
        let mut state = self.state();
        state.used_bytes += size;
        state.most_used = state.most_used.max(state.used_bytes);
        drop(state);
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
        let mut state = self.state();
        let blocks = state.free.get_mut(&size)?;
        let i = blocks.iter().position(|b| b.stream == stream || b.fence.is_over())?;
        let block = blocks.swap_remove(i);
        state.free_bytes -= size;
        Some(block.memory)
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
            let mut state = self.state();
            let size = memory.len();
            let block = Free { memory: memory.clone(), stream: stream.id(), fence };
            state.free.entry(size).or_default().push(block);
            state.free_bytes += size;
            state.used_bytes = state.used_bytes.saturating_sub(size);
            let keep = state.most_used - state.used_bytes;
            drop(state);
            self.trim(keep);
        }
        Ok(())
    }

    /// Notes that a block of `bytes` bytes went back to the device past this pool.
    pub(crate) fn forget(&self, bytes: usize) {
        let mut state = self.state();
        state.used_bytes = state.used_bytes.saturating_sub(bytes);
    }

    /// Gives free blocks back to the device until at most `keep` bytes are left of them, the largest first, as far as
    /// their streams have passed the free.
    pub(crate) fn trim(&self, keep: usize) {
        let mut state = self.state();
        let mut kept = state.free_bytes;
        if kept <= keep {
            return;
        }
        for (size, blocks) in state.free.iter_mut().rev() {
            blocks.retain(|b| {
                let give_back = kept > keep && b.fence.is_over();
                kept -= if give_back { *size } else { 0 };
                !give_back
            });
        }
        state.free.retain(|_, blocks| !blocks.is_empty());
        state.free_bytes = kept;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
