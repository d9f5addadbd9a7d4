//! Addresses of one allocation node, and chunks of physical memory behind them.

#![forbid(unsafe_code)]

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use super::show;
use crate::{
    device::Device,
    error::{Error, Result},
};

/// How many sizes of chunks there are.
pub(super) const CLASSES: usize = 3;

/// Numbers of chunks, of the largest size first.
pub(super) type Counts = [u32; CLASSES];

/// Sizes of chunks, the largest first: each a multiple of the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Classes(pub(super) [u64; CLASSES]);

impl Classes {
    /// Bytes of the largest chunks: what a page table entry of the card maps at best.
    const LARGE: u64 = 2 << 20;
    /// What saves hundreds of small chunks where a large one would be too much.
    const MIDDLE: u64 = 64 << 10;
    /// Sizes are whole pages even if the device has a finer granule.
    const PAGE: u64 = 4096;

    /// The sizes of chunks of a device's memory whose granule is `granule`, a power of two.
    pub(super) fn of(granule: u64) -> Self {
        let small = granule.max(Self::PAGE);
        Self([small.max(Self::LARGE), small.max(Self::MIDDLE), small])
    }

    /// Of what the sizes of buffers are multiples.
    pub(super) fn granule(&self) -> u64 {
        self.0[CLASSES - 1]
    }

    /// The chunks that `bytes` bytes are, the last of which is of the class `finest`.
    pub(super) fn split(&self, bytes: u64, finest: usize) -> Counts {
        let mut rest = bytes.next_multiple_of(self.0[finest]);
        let mut counts = [0; CLASSES];
        for (count, size) in counts.iter_mut().zip(self.0) {
            // CAST: no device has 2^32 pages that one buffer asks for; the caller has checked.
            *count = (rest / size) as u32;
            rest %= size;
        }
        counts
    }

    /// Bytes of some chunks.
    pub(super) fn bytes(&self, counts: &Counts) -> u64 {
        counts.iter().zip(self.0).map(|(&count, size)| u64::from(count) * size).sum()
    }
}

/// Addresses of one allocation, for its node's life.
pub(crate) struct Space {
    addresses: hsa::Reservation,
    /// Who may access what is shown: the owner, and visitors.
    agents: Vec<hsa::Agent>,
    bytes: u64,
    /// The latest executable that shows shared chunks here, by number; 0 for none yet.
    tenant: AtomicU64,
    /// Chunks that nobody else has, as long as somebody needs what they hold.
    own: Mutex<Weak<Own>>,
}

impl Space {
    /// Takes addresses for `bytes` bytes, whole granules.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn reserve(
        device: &Device,
        memory: &hsa::VirtualMemory,
        classes: &Classes,
        bytes: u64,
        visitors: &BTreeSet<usize>,
    ) -> Result<Self> {
        let out_of_memory = || Error::OutOfMemory { bytes: usize::try_from(bytes).unwrap_or(usize::MAX) };
        // Large pages want aligned addresses; and a plan may round the size up to a whole chunk.
        let unit = classes.0.into_iter().find(|&size| bytes >= size).unwrap_or(classes.granule());
        let len = bytes.checked_next_multiple_of(unit).and_then(|len| usize::try_from(len).ok());
        let len = len.ok_or_else(out_of_memory)?;
        let addresses = memory.reserve(len, unit, 0).or_else(|_| memory.reserve(len, 0, 0));
        let devices = device.0.system.devices();
        let visitors = visitors.iter().filter_map(|&ordinal| devices.get(ordinal));
        let agents = [device].into_iter().chain(visitors).map(|device| device.0.agent.clone()).collect();
        Ok(Self {
            addresses: addresses.map_err(|_| out_of_memory())?,
            agents,
            bytes,
            tenant: AtomicU64::new(0),
            own: Mutex::default(),
        })
    }

    pub(super) fn address(&self) -> u64 {
        self.addresses.address()
    }

    /// Bytes that were asked for, in whole granules.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that there is room for.
    pub(super) fn room(&self) -> u64 {
        self.addresses.len() as u64
    }

    /// The number of the latest executable that shows shared chunks here; 0 for none.
    pub(super) fn tenant(&self) -> u64 {
        // ORDER: Relaxed. Executables of a graph are made one after the other.
        self.tenant.load(Ordering::Relaxed)
    }

    pub(super) fn set_tenant(&self, tenant: u64) {
        self.tenant.store(tenant, Ordering::Relaxed);
    }

    /// Shows chunks side by side, from the first address on; nothing is shown if that fails.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: all that can be missing is room for mappings.
    pub(super) fn show<'c>(&self, chunks: impl Iterator<Item = &'c hsa::PhysicalMemory>) -> Result<()> {
        let mut at = 0;
        for chunk in chunks {
            let shown = self.addresses.map(at, chunk, chunk.len()).and_then(|()| {
                self.addresses.set_access(at, chunk.len(), &self.agents, hsa::Access::ReadWrite)
            });
            if let Err(error) = shown {
                tracing::warn!(%error, "memory of a graph cannot be mapped");
                self.hide();
                // CAST: a 64-bit process.
                return Err(Error::OutOfMemory { bytes: self.bytes as usize });
            }
            at += chunk.len();
        }
        Ok(())
    }

    /// Ends what [`Space::show`] began. No launch that uses it may be in flight.
    pub(super) fn hide(&self) {
        show::hide(&self.addresses);
    }

    /// Chunks for these addresses alone, shown there: those that are, or new ones.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn own(self: &Arc<Self>, device: &Device) -> Result<Arc<Own>> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = own.upgrade() {
            return Ok(own);
        }
        let arenas = device.0.graph_memory.arenas();
        let (memory, classes) = arenas.memory(device)?;
        let counts = classes.split(self.bytes, CLASSES - 1);
        let mut chunks = Vec::new();
        for (&count, size) in counts.iter().zip(classes.0) {
            for _ in 0..count {
                chunks.push(show::chunk(device, memory, size)?);
            }
        }
        self.show(chunks.iter())?;
        let fresh = Arc::new(Own { space: self.clone(), _chunks: chunks });
        *own = Arc::downgrade(&fresh);
        Ok(fresh)
    }

    /// The chunks that nobody else has, if there are any.
    pub(super) fn owned(&self) -> Option<Arc<Own>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }
}

/// Chunks of one allocation alone, as long as somebody needs what they hold.
pub(super) struct Own {
    space: Arc<Space>,
    _chunks: Vec<hsa::PhysicalMemory>,
}

impl Drop for Own {
    fn drop(&mut self) {
        self.space.hide();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_split_into_as_few_chunks_as_can_be() {
        let classes = Classes::of(4096);
        let bytes = (3 << 20) + (68 << 10);
        let counts = classes.split(bytes, 2);
        assert_eq!((counts, classes.bytes(&counts)), ([1, 17, 1], bytes));
        assert_eq!(classes.split(bytes, 1), [1, 18, 0]);
        assert_eq!(classes.split(bytes, 0), [2, 0, 0]);
        let coarse = Classes::of(2 << 20);
        assert_eq!((coarse.granule(), coarse.split(4 << 20, 2)), (2 << 20, [2, 0, 0]));
    }
}
