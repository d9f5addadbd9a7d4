//! Memory in the order of a stream.

#![forbid(unsafe_code)]

use super::Stream;
use crate::{
    check,
    device::{System, fence::Keep},
    error::{Error, Result, explain},
    memory::{
        self, Backing, Origin, StreamPool,
        stream_pool::{allocate_again, free_behind, free_known},
    },
};

impl Stream {
    /// Allocates device memory for work that follows on the stream; in a capture, as a node of the graph. Returns its
    /// address.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; what capture forbids.
    pub fn allocate_async(&self, bytes: usize) -> Result<u64> {
        if !self.is_capturing()
            && let Some(address) = allocate_again(&*self.0, bytes)?
        {
            return Ok(address);
        }
        self.allocate_from_pool(&self.device().pool(), bytes)
    }

    /// As [`Stream::allocate_async`], of a pool that may be another device's. A node has the pool's properties, and the
    /// devices that may access the pool's memory may access its memory; it has nothing else to do with the pool.
    ///
    /// # Errors
    /// As there; [`Error::NotSupported`] for another process's pool.
    pub fn allocate_from_pool(&self, pool: &StreamPool, bytes: usize) -> Result<u64> {
        pool.check_allocates()?;
        if bytes as u64 > pool.device().properties().total_memory {
            return Err(Error::OutOfMemory { bytes });
        }
        if self.is_capturing() {
            return self.extend_capture(|session, after| session.allocate(pool, bytes as u64, after));
        }
        pool.allocate(&self.0, bytes)
    }

    /// Frees device memory, or what a graph left allocated, once the stream has passed this point; in a capture, as a
    /// node of the graph.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if no such allocation starts at `address`; what capture forbids.
    pub fn free_async(&self, address: u64) -> Result<()> {
        if self.is_capturing() {
            return self.extend_capture(|session, after| Ok((session.free(address, after)?, ())));
        }
        if free_known(&self.0, address)? {
            return Ok(());
        }
        let region = System::get()?.memory().at(address);
        let region = region.ok_or_else(|| {
            check::freed_nothing(address);
            Error::InvalidValue("not the start of an allocation")
        })?;
        match (&region.backing, region.origin) {
            (Backing::Owned(owner), Origin::Graph) => {
                let fence = self.fence()?;
                // The graph may go before the stream gets here.
                let held = owner.clone().held();
                memory::free_graph_memory(&region)?;
                check::ended(Some(self.id()), address, false);
                fence.keep_all(vec![held]);
                Ok(())
            }
            (Backing::Owned(_), _) => free_behind(&self.0, address),
            (Backing::Allocation(_), Origin::Device) => {
                let fence = self.fence()?;
                let removed = System::get()?.memory().remove_exactly(&region);
                check::ended(Some(self.id()), address, false);
                // The memory goes when the stream gets here, the address at once.
                fence.keep_all(vec![Keep::Other(removed.ok_or(Error::InvalidValue("freed twice"))?)]);
                Ok(())
            }
            _ => {
                explain("only device memory can be freed in a stream's order: use hipFree or hipHostFree");
                Err(Error::InvalidValue("not memory that is freed in a stream's order"))
            }
        }
    }
}
