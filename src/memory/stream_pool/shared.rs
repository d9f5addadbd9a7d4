//! Pools that several processes have a part in.
//!
//! The process that makes such a pool allocates from it, and names allocations to those that import the pool: by the
//! HSA runtime's handle for the arena, and the place in it. An importing process maps the arena anew for each
//! allocation, so that what it frees is unmapped without a look at what else it has imported.

use std::{
    os::fd::{BorrowedFd, OwnedFd},
    sync::Arc,
};

use super::{Grant, PoolOptions, Range, StreamPool};
use crate::{
    callback, check,
    device::{Device, System},
    error::{Error, Result, explain},
    external::PoolPage,
    memory::{Backing, Origin, Region, ipc},
};

/// What a pool has to do with other processes.
pub(super) enum Sharing {
    /// Nothing.
    None,
    /// They may import it.
    Ours(PoolPage),
    /// It is one of theirs.
    Theirs(PoolPage),
}

/// Names an allocation of a pool to the processes that have imported the pool. It holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolPointer {
    /// The HSA runtime's name for the memory that the allocation lies in.
    pub words: [u32; 8],
    /// Bytes of that memory.
    pub allocated: u64,
    /// Where in it the allocation begins.
    pub offset: u64,
    /// Bytes that were asked for.
    pub bytes: u64,
    /// What tells the pool from others.
    pub pool: u64,
}

impl Device {
    /// Whether other processes can import pools of the device's memory.
    pub fn shares_pools(&self) -> bool {
        self.can_share_pools().unwrap_or(false)
    }

    /// As [`Device::shares_pools`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if there was not enough to find out: the next call may know.
    fn can_share_pools(&self) -> Result<bool> {
        let known = &self.context().pools.shares;
        if let Some(&shares) = known.get() {
            return Ok(shares);
        }
        // The driver decides, and an attempt alone tells.
        let memory = self.0.local.allocate(1).map_err(|_| Error::OutOfMemory { bytes: 1 })?;
        let named = ipc::name_of(self.0.system, memory.address(), memory.len() as u64);
        match named.map_err(Error::from) {
            Err(short @ Error::OutOfMemory { .. }) => Err(short),
            named => Ok(*known.get_or_init(|| named.is_ok())),
        }
    }
}

impl StreamPool {
    /// A new pool of memory on `device` that other processes may import, and which only that device may access.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the back end cannot share the device's memory; [`Error::OutOfMemory`];
    /// [`Error::OperatingSystem`].
    pub(super) fn shareable(device: &Device, options: PoolOptions) -> Result<Self> {
        if !device.can_share_pools()? {
            return Err(super::PoolLimit::Shared.refusal());
        }
        // CAST: ordinals are small.
        let page = PoolPage::create(device.ordinal() as u64)?;
        Ok(Self::make(device, options, Sharing::Ours(page)))
    }

    /// A descriptor by which another process imports the pool.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the pool was not made to be shared; [`Error::OperatingSystem`].
    pub fn export(&self) -> Result<OwnedFd> {
        self.page_of_ours()?.descriptor()
    }

    fn page_of_ours(&self) -> Result<&PoolPage> {
        let Sharing::Ours(page) = &self.0.sharing else {
            explain("the pool was not created with a handle type, or it is another process's already");
            return Err(Error::InvalidValue("the pool was not made to be shared"));
        };
        Ok(page)
    }

    /// Another process's pool, whose allocations can be imported and that makes none here. `device` stands for the
    /// one with its memory if that cannot be told. The descriptor stays the caller's.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the descriptor is no pool; [`Error::OperatingSystem`].
    pub fn import(device: &Device, descriptor: BorrowedFd<'_>) -> Result<Self> {
        let page = PoolPage::open(descriptor)?;
        let owner = usize::try_from(page.device()).ok().and_then(|ordinal| Device::get(ordinal).ok());
        let device = owner.unwrap_or_else(|| device.clone());
        Ok(Self::make(&device, PoolOptions::default(), Sharing::Theirs(page)))
    }

    /// Refuses to allocate from another process's pool.
    ///
    /// # Errors
    /// [`Error::NotSupported`].
    pub(crate) fn check_allocates(&self) -> Result<()> {
        if let Sharing::Theirs(_) = &self.0.sharing {
            explain("the memory pool is another process's, which alone allocates from it");
            return Err(Error::NotSupported("allocating from an imported memory pool"));
        }
        Ok(())
    }

    /// Maps an allocation of the pool, which another process has named, for all devices; at a new address for each
    /// call, and until it is freed.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the pool is no imported one, or the name is of none of its allocations.
    pub fn import_pointer(&self, named: &PoolPointer) -> Result<u64> {
        let theirs = |page: &PoolPage| page.name() == named.pool;
        if !matches!(&self.0.sharing, Sharing::Theirs(page) if theirs(page)) {
            explain("the pool is not imported, or the allocation is of another pool");
            return Err(Error::InvalidValue("not an allocation of the imported pool"));
        }
        const REFUSED: Error = Error::InvalidValue("the name is of no allocation of the pool");
        let end = named.offset.checked_add(named.bytes);
        if named.bytes == 0 || end.is_none_or(|end| end > named.allocated) {
            return Err(REFUSED);
        }
        let system = System::get()?;
        // CAST: a 64-bit process.
        let len = named.allocated as usize;
        let agents = system.importing_agents(&self.0.device);
        let attached = system.runtime().attach_memory(hsa::MemoryHandle(named.words), len, &agents);
        let attached = attached.map_err(|error| {
            explain(format!("the memory of the imported pool cannot be mapped: {error}"));
            REFUSED
        })?;
        let address = attached.address() + named.offset;
        self.0.used.add(named.bytes);
        check::shared(address..address + named.bytes);
        system.memory().insert(Region {
            address,
            bytes: named.bytes,
            origin: Origin::Pooled,
            device: self.0.device.ordinal(),
            flags: 0,
            device_address: address,
            marks: Default::default(),
            backing: Backing::Owned(Arc::new(Grant {
                pool: self.0.clone(),
                stage: super::Stage::live(),
                bytes: 0,
                attached: Some(Arc::new(attached)),
            })),
        });
        Ok(address)
    }
}

/// Lets the work of all devices end before another process's memory is unmapped: what is unmapped under a kernel would
/// cost the device. A host function cannot wait for what may wait for it.
///
/// # Errors
/// As [`Device::drain`].
pub(super) fn settle(grant: &Grant) -> Result<()> {
    match &grant.attached {
        Some(_) if !callback::is_inside() => Device::all()?.iter().try_for_each(Device::drain),
        _ => Ok(()),
    }
}

/// Names the allocation that starts at `address` to the processes that have imported its pool.
///
/// # Errors
/// [`Error::InvalidValue`] if no allocation of a pool that was made to be shared starts there;
/// [`Error::NotSupported`] if the back end cannot share it.
pub fn export_pointer(address: u64) -> Result<PoolPointer> {
    let system = System::get()?;
    let region = system.memory().at(address);
    let range = region.and_then(Range::of);
    let range = range.ok_or(Error::InvalidValue("not the start of an allocation of a memory pool"))?;
    let Range { region, grant } = &range;
    let bytes = region.bytes;
    let pool = grant.pool();
    let page = pool.page_of_ours()?;
    let arena = grant.pool.state().space.memory_at(address).cloned();
    let arena = arena.ok_or(Error::InvalidValue("not an allocation that the pool has made"))?;
    let named = ipc::name_of(system, arena.address(), arena.bytes());
    let (words, allocated) = named.map_err(|error| ipc::cannot_share(&error))?;
    let offset = address - arena.address();
    check::shared(address..address + bytes);
    Ok(PoolPointer { words, allocated, offset, bytes, pool: page.name() })
}
