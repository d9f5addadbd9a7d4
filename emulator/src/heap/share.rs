//! Blocks that leave the process as a ticket, or came as one.

use std::sync::Arc;

use hsa_sys::{HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_ERROR_OUT_OF_RESOURCES, hsa_status_t};

use super::{Backing, Block, GpuSet, Heap, Kind, Pool, TAIL, store::Ticket};
use crate::{agent::Agent, os::hidden};

impl Heap {
    /// What another process needs to attach the block at `base`; the words of a [`Ticket`].
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` unless `base` and `len` are those of a block of a GPU of this process's;
    /// `OUT_OF_RESOURCES` if it cannot be shared.
    pub(crate) fn export(&self, base: u64, len: u64) -> Result<[u32; 8], hsa_status_t> {
        let state = self.lock();
        let whole = |block: &&Block| len.checked_next_multiple_of(TAIL) == Some(block.size);
        let block = state.blocks.get(&base).filter(whole).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let gpu = block.pool.gpu().ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        match &*block.backing {
            Backing::Stored(slice) => {
                let ticket = slice.export(block.front, block.size, gpu);
                ticket.map(Ticket::words).map_err(|error| {
                    tracing::warn!(%error, "an allocation cannot be shared");
                    HSA_STATUS_ERROR_OUT_OF_RESOURCES
                })
            }
            Backing::Attached(_) => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            Backing::Own(_) => Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES),
        }
    }

    /// Maps another process's block for `gpus`, at a new address for each call.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the words are no ticket, the block is gone or has another size, or this process lacks the
    /// GPU; `OUT_OF_RESOURCES` if there is no room.
    pub(crate) fn attach(&self, words: [u32; 8], len: u64, gpus: GpuSet) -> Result<u64, hsa_status_t> {
        let ticket = Ticket::from_words(words).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let attachment = ticket.attach().map_err(|error| {
            tracing::debug!(%error, ?ticket, "attaching another process's memory");
            match error.raw_os_error() {
                Some(libc::ENOMEM | libc::EMFILE | libc::ENFILE) => HSA_STATUS_ERROR_OUT_OF_RESOURCES,
                _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
            }
        })?;
        let size = attachment.len;
        let is_here = self.devices.iter().any(|device| device.index == attachment.gpu);
        if len.checked_next_multiple_of(TAIL) != Some(size) || !is_here {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let pool = Pool { owner: Agent::Gpu(attachment.gpu), kind: Kind::Coarse };
        let charged = attachment.mapping.size() as u64;
        let base = attachment.mapping.address();
        let backing = Arc::new(Backing::Attached(attachment));
        let block = Block {
            pool,
            size,
            charged,
            backing,
            front: 0,
            access: gpus,
            open: !hidden::is_hidden(base),
            user_data: 0,
        };
        let mut state = self.lock();
        self.show(base, &block, gpus);
        state.blocks.insert(base, block);
        Ok(base)
    }

    /// Undoes one [`Heap::attach`]; waves that run may still touch the block until they end.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if nothing was attached at `base`.
    pub(crate) fn detach(&self, base: u64) -> Result<(), hsa_status_t> {
        let mut state = self.lock();
        let block = state.blocks.get(&base).filter(|block| block.is_attached());
        let block = block.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        self.hide(base, block, block.access);
        hidden::bar::close(base);
        state.blocks.remove(&base);
        Ok(())
    }
}
