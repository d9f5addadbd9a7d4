//! Memory that programs get from pools, and host memory that they show to devices.
//!
//! A device reaches an address only while its [`Map`](crate::memory::Map) holds it. This module is the
//! only one, beside [`vmem`](crate::vmem) and executables, that puts ranges there.

mod ledger;
mod locked;
mod pool;
mod share;
mod store;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use hsa_sys::{
    HSA_STATUS_ERROR_INVALID_ALLOCATION, HSA_STATUS_ERROR_INVALID_ARGUMENT,
    HSA_STATUS_ERROR_OUT_OF_RESOURCES, hsa_status_t,
};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    device::{self, Device},
    memory::Allocation,
    os::{
        self, Mapping, PAGE,
        hidden::{self, HostAccess},
    },
};
use locked::Locked;
pub(crate) use pool::{Kind, Pool};
use store::{Attachment, Slice, Store};

/// A set of GPUs, bit by index.
pub(crate) type GpuSet = u32;

/// Bytes up to which a device may read past the end of an allocation: a load is as wide as this, and
/// compilers round short tails up to it.
const TAIL: u64 = 16;

/// Bytes before each block that devices reach and that are in no block, where bounds are observed.
pub const FRONT: u64 = PAGE as u64;

/// Where the bytes of a block are.
pub(crate) enum Backing {
    /// The host's memory, or a GPU's where the store cannot be had.
    Own(Mapping),
    /// A GPU's.
    Stored(Slice),
    /// Another process's.
    Attached(Attachment),
}

impl Backing {
    fn address(&self) -> u64 {
        match self {
            Self::Own(mapping) => mapping.address(),
            Self::Stored(slice) => slice.address(),
            Self::Attached(attachment) => attachment.mapping.address(),
        }
    }
}

/// A block from a pool, or from another process's.
struct Block {
    pool: Pool,
    /// As asked for, rounded up to [`TAIL`].
    size: u64,
    /// What the pool was charged.
    charged: u64,
    backing: Arc<Backing>,
    /// Bytes of it before the block, which devices reach as well.
    front: u64,
    access: GpuSet,
    /// Whether the host may touch it, of a GPU's memory that is hidden from the host.
    open: bool,
    user_data: u64,
}

impl Block {
    fn is_attached(&self) -> bool {
        matches!(*self.backing, Backing::Attached(_))
    }
}

/// What is known about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) pool: Pool,
    pub(crate) access: GpuSet,
    /// Whether the host may touch it.
    pub(crate) open: bool,
    pub(crate) user_data: u64,
    pub(crate) locked: bool,
    /// Whether it is another process's.
    pub(crate) attached: bool,
}

/// All blocks and locked ranges of the process.
pub(crate) struct Heap {
    devices: Arc<[Arc<Device>]>,
    host_used: AtomicU64,
    /// Made when a GPU's memory is first asked for; `None` if it cannot be had.
    store: OnceLock<Option<Arc<Store>>>,
    state: Mutex<State>,
}

struct State {
    blocks: BTreeMap<u64, Block>,
    locked: Locked,
}

impl State {
    fn block_at(&self, address: u64) -> Option<(u64, &Block)> {
        let (base, block) = self.blocks.range(..=address).next_back()?;
        (address - base < block.size).then_some((*base, block))
    }
}

impl Heap {
    /// An empty heap over `devices`.
    pub(crate) fn new(devices: Arc<[Arc<Device>]>) -> Self {
        let locked = Locked::new(Arc::clone(&devices));
        let state = Mutex::new(State { blocks: BTreeMap::new(), locked });
        Self { devices, host_used: AtomicU64::new(0), store: OnceLock::new(), state }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Takes `size` bytes from a pool.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for size 0, `INVALID_ALLOCATION` for the group pool or a size that no
    /// allocation may have, `OUT_OF_RESOURCES` when the pool is empty.
    pub(crate) fn allocate(&self, pool: Pool, size: usize) -> Result<u64, hsa_status_t> {
        if size == 0 {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let limit = pool.size(&self.devices);
        let rounded = os::pages(size).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        if pool.kind == Kind::Group || rounded as u64 > limit {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        let charged = rounded as u64;
        if !self.take(pool, charged) {
            return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        }
        let front = self.front();
        // CAST: a page at most.
        let backing = match self.back(pool, rounded.saturating_add(front as usize)) {
            Ok(backing) => Arc::new(backing),
            Err(error) => {
                tracing::warn!(size, %error, "the host has no room for an allocation");
                self.give_back(pool, charged);
                return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
            }
        };
        let base = backing.address() + front;
        let access = pool.gpu().map_or(0, |gpu| 1 << gpu);
        let size = (size as u64).next_multiple_of(TAIL);
        let is_the_hosts = self.is_the_hosts(pool);
        if is_the_hosts && let Err(error) = self.open(base - front, charged + front, pool) {
            tracing::warn!(size, %error, "the host cannot be let to an allocation of its own");
            self.give_back(pool, charged);
            return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        }
        let open = is_the_hosts || !hidden::is_hidden(base);
        let block = Block { pool, size, charged, backing, front, access, open, user_data: 0 };
        let mut state = self.lock();
        self.show(base, &block, access);
        state.blocks.insert(base, block);
        Ok(base)
    }

    /// Zeros for a block of `pool`: a GPU's in the store, so that it can be shared later.
    fn back(&self, pool: Pool, size: usize) -> std::io::Result<Backing> {
        let make = || Store::new().inspect_err(|error| tracing::warn!(%error, "GPU memory cannot be shared"));
        let store = pool.gpu().and_then(|_| self.store.get_or_init(|| make().ok().map(Arc::new)).as_ref());
        // The store maps more than it is asked for; a process with little address space may have room for the rest.
        match store.map(|store| store.take(size as u64)) {
            Some(Ok(slice)) => Ok(Backing::Stored(slice)),
            _ if pool.gpu().is_some() || self.observes_host() => {
                Mapping::of_devices(size, PAGE).map(Backing::Own)
            }
            _ => Mapping::anonymous(size).map(Backing::Own),
        }
    }

    /// Bytes to leave before each block.
    fn front(&self) -> u64 {
        self.devices.first().filter(|device| device.observed_bounds).map_or(0, |_| FRONT)
    }

    /// Whether what the host touches is observed.
    fn observes_host(&self) -> bool {
        self.devices.first().is_some_and(|device| device.observed_host)
    }

    /// Whether the host may touch blocks of a pool without more ado, where memory is hidden from it.
    fn is_the_hosts(&self, pool: Pool) -> bool {
        let keeps_off = |device: &Arc<Device>| device.hardware.discrete || device.observed_bounds;
        pool.gpu().is_none() || !self.devices.iter().any(keeps_off)
    }

    /// Lets the host access whole pages of a block that is hidden from it.
    fn open(&self, start: u64, size: u64, pool: Pool) -> std::io::Result<()> {
        match pool.gpu() {
            Some(gpu) if self.devices[gpu as usize].hardware.discrete => hidden::bar::open(start, size, gpu),
            _ => hidden::open(start, size, HostAccess::ReadWrite),
        }
    }

    /// Undoes [`Heap::open`].
    fn close(&self, start: u64, size: u64) {
        hidden::bar::close(start);
        // If that fails the pages stay open, for threads that should not look.
        let _ = hidden::open(start, size, HostAccess::None);
    }

    fn take(&self, pool: Pool, bytes: u64) -> bool {
        match pool.gpu() {
            Some(gpu) => self.devices[gpu as usize].take(bytes),
            None => self.take_host(bytes),
        }
    }

    /// Takes bytes of the host's memory that devices may reach.
    fn take_host(&self, bytes: u64) -> bool {
        let limit = self.locked_limit().unwrap_or(u64::MAX).min(os::physical_memory());
        device::take(&self.host_used, bytes, limit)
    }

    fn locked_limit(&self) -> Option<u64> {
        self.devices.first().and_then(|device| device.hardware.locked_memory())
    }

    fn give_back(&self, pool: Pool, bytes: u64) {
        match pool.gpu() {
            Some(gpu) => self.devices[gpu as usize].give_back(bytes),
            None => {
                self.host_used.fetch_sub(bytes, Ordering::Relaxed);
            }
        }
    }

    /// Bytes of host memory that the pools have left.
    pub(crate) fn host_available(&self) -> u64 {
        os::physical_memory().saturating_sub(self.host_used.load(Ordering::Relaxed))
    }

    /// Puts a block into the maps of `gpus`.
    fn show(&self, base: u64, block: &Block, gpus: GpuSet) {
        for device in self.devices.iter().filter(|d| gpus & (1 << d.index) != 0) {
            let backing: Arc<dyn Send + Sync> = Arc::clone(&block.backing) as _;
            let end = base + block.size;
            let (grain, socket) = (block.pool.grain(), block.pool.owner.socket());
            let (start, backing) = (base - block.front, Some(backing));
            device.show(Allocation { start, end, writable: true, grain, socket, backing });
        }
    }

    fn hide(&self, base: u64, block: &Block, gpus: GpuSet) {
        for device in self.devices.iter().filter(|d| gpus & (1 << d.index) != 0) {
            device.map.remove(base - block.front);
        }
    }

    /// Gives a block back; waves that run may still touch it until they end.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if `base` is not a block's first byte.
    pub(crate) fn free(&self, base: u64) -> Result<(), hsa_status_t> {
        let mut state = self.lock();
        let block = state.blocks.get(&base).filter(|block| !block.is_attached());
        block.ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        let block = state.blocks.remove(&base).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        self.hide(base, &block, block.access);
        self.close(base, block.charged);
        self.give_back(block.pool, block.charged);
        Ok(())
    }

    /// Lets exactly `gpus` (and always the GPU whose memory it is) reach the block that holds `address`; and the host,
    /// if it says so, or the memory is the host's.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if `address` is in no block and no locked range, or of a GPU that the host does not reach;
    /// `OUT_OF_RESOURCES` if the kernel refuses.
    pub(crate) fn set_access(&self, address: u64, gpus: GpuSet, host: bool) -> Result<(), hsa_status_t> {
        let mut state = self.lock();
        let Some((base, block)) = state.block_at(address) else {
            return state.locked.set_access(address, gpus).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        };
        let open = match block.pool.gpu().filter(|_| hidden::is_hidden(base)) {
            Some(gpu) if host && !self.devices[gpu as usize].hardware.reaches_devices() => {
                return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
            }
            Some(_) if host && !block.open => {
                let opened = self.open(base, block.charged, block.pool);
                opened.map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
                true
            }
            Some(_) if !host && block.open => {
                self.close(base, block.charged);
                false
            }
            _ => block.open,
        };
        let gpus = gpus | block.pool.gpu().map_or(0, |gpu| 1 << gpu);
        self.show(base, block, gpus & !block.access);
        self.hide(base, block, block.access & !gpus);
        if let Some(block) = state.blocks.get_mut(&base) {
            (block.access, block.open) = (gpus, open);
        }
        Ok(())
    }

    /// Shows `size` bytes of host memory to `gpus`, as often as it is called.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an empty or wrapping range or one that sticks out of a block;
    /// `OUT_OF_RESOURCES` if the process has no such memory, or has locked as much as it may.
    pub(crate) fn lock_range(
        &self,
        start: u64,
        size: u64,
        gpus: GpuSet,
        pool: Pool,
    ) -> Result<(), hsa_status_t> {
        let end = start.checked_add(size).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        if start == 0 || size == 0 {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let mut state = self.lock();
        let inside = match state.block_at(start) {
            Some((base, block)) if end - base <= block.charged => Some((base, block.access)),
            Some(_) => return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            None if state.blocks.range(start..end).next().is_some() => {
                return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
            }
            None if !os::is_mapped(start, end) => return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES),
            None if self.locked_limit().is_some() && !self.take_host(size) => {
                return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
            }
            None => None,
        };
        if let Some((base, access)) = inside {
            // Pool memory is shown as a whole; the lock only lets more agents see it.
            let more = gpus & !access;
            if let Some(block) = state.blocks.get(&base) {
                self.show(base, block, more);
            }
            if let Some(block) = state.blocks.get_mut(&base) {
                block.access |= more;
            }
        }
        state.locked.lock(start, end, gpus, pool, inside.is_none());
        Ok(())
    }

    /// Undoes one [`Heap::lock_range`].
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if no locked range begins at `start`.
    pub(crate) fn unlock_range(&self, start: u64) -> Result<(), hsa_status_t> {
        let locked = self.lock().locked.unlock(start).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        if self.locked_limit().is_some() {
            self.host_used.fetch_sub(locked, Ordering::Relaxed);
        }
        Ok(())
    }

    /// What is known about an address, interior or not.
    pub(crate) fn find(&self, address: u64) -> Option<Known> {
        let state = self.lock();
        if let Some((base, block)) = state.block_at(address) {
            let Block { size, pool, access, open, user_data, .. } = *block;
            let attached = block.is_attached();
            return Some(Known { base, size, pool, access, open, user_data, locked: false, attached });
        }
        state.locked.find(address)
    }

    /// Remembers a word for the block or locked range that holds `address`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if there is none.
    pub(crate) fn set_user_data(&self, address: u64, user_data: u64) -> Result<(), hsa_status_t> {
        let mut state = self.lock();
        let base = state.block_at(address).map(|(base, _)| base);
        match base.and_then(|base| state.blocks.get_mut(&base)) {
            Some(block) => block.user_data = user_data,
            None => {
                state.locked.set_user_data(address, user_data).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?
            }
        }
        Ok(())
    }

    /// What backs `start..start + size`, if that is inside one block.
    pub(crate) fn backing(&self, start: u64, size: u64) -> Option<Arc<Backing>> {
        let state = self.lock();
        let (base, block) = state.block_at(start)?;
        let end = start.checked_add(size)?;
        (end - base <= block.charged).then(|| Arc::clone(&block.backing))
    }

    /// Whether `start..start + size` lies in one locked range.
    pub(crate) fn is_locked(&self, start: u64, size: u64) -> bool {
        let known = self.lock().locked.find(start);
        known.is_some_and(|k| start.checked_add(size).is_some_and(|end| end <= k.base + k.size))
    }
}

#[cfg(test)]
mod tests;
