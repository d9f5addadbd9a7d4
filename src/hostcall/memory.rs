//! Memory for the allocator of the device library: what `malloc` in a kernel is carved from.
//!
//! The library keeps its lists in a heap structure of its own, cuts blocks of up to 3 KiB out of slabs of 2 MiB, which
//! must be aligned to their size, and asks for everything larger by itself, at whole pages.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::services::Memory;

/// Alignment of slabs, and their size.
const SLAB: u64 = 2 << 20;
/// Alignment of everything else: the library takes an address at a page's start for one that it asked for.
const PAGE: u64 = 4096;

/// What a device's kernels may have allocated at most, in bytes.
pub(crate) struct HeapLimit(AtomicU64);

impl HeapLimit {
    pub(super) fn new(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes))
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

/// Allocations of a device's kernels.
pub(super) struct DeviceMemory {
    pool: hsa::Pool,
    limit: Arc<HeapLimit>,
    used: u64,
    /// By the address that the kernel got: the allocation around it, and its bytes.
    live: HashMap<u64, (hsa::Allocation, u64)>,
}

impl DeviceMemory {
    pub(super) fn new(pool: hsa::Pool, limit: Arc<HeapLimit>) -> Self {
        Self { pool, limit, used: 0, live: HashMap::new() }
    }
}

impl Memory for DeviceMemory {
    fn allocate(&mut self, bytes: u64) -> u64 {
        let alignment = if bytes >= SLAB { SLAB } else { PAGE };
        let granule = self.pool.properties().alignment;
        // An allocation begins at a multiple of the pool's alignment only.
        let slack = if granule.is_multiple_of(alignment) { 0 } else { alignment };
        let Some(all) = bytes.checked_add(slack) else { return 0 };
        if bytes == 0 || bytes > self.limit.get().saturating_sub(self.used) {
            return 0;
        }
        let Ok(memory) = usize::try_from(all).map_err(drop).and_then(|n| self.pool.allocate(n).map_err(drop))
        else {
            return 0;
        };
        let memory = memory.held_by(crate::memory_report::DEVICE_HEAP);
        let address = memory.address().next_multiple_of(alignment);
        self.used += bytes;
        self.live.insert(address, (memory, bytes));
        address
    }

    fn free(&mut self, address: u64) -> bool {
        let freed = self.live.remove(&address);
        if let Some((_, bytes)) = &freed {
            self.used -= bytes;
        }
        freed.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    #[test]
    fn slabs_are_aligned_and_the_limit_holds() {
        let device = Device::get(0).unwrap();
        let limit = Arc::new(HeapLimit::new(3 * SLAB));
        let mut memory = DeviceMemory::new(device.0.local.clone(), limit.clone());
        let slab = memory.allocate(SLAB);
        let page = memory.allocate(5000);
        assert!(slab != 0 && slab.is_multiple_of(SLAB) && page != 0 && page.is_multiple_of(PAGE));
        assert_eq!(memory.allocate(2 * SLAB), 0, "beyond the limit");
        assert!(memory.free(slab) && !memory.free(slab));
        let larger = memory.allocate(2 * SLAB);
        assert_ne!(larger, 0);
        limit.set(0);
        assert_eq!((memory.allocate(1), memory.allocate(0), memory.allocate(u64::MAX)), (0, 0, 0));
        assert!(memory.free(larger) && memory.free(page) && memory.used == 0);
    }
}
