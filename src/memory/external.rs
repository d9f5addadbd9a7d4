//! Memory behind a file descriptor: another process's, or another API's.

use std::{os::fd::BorrowedFd, sync::Arc};

use super::{Backing, Origin, Region, virtual_memory};
use crate::{
    device::{Device, System},
    error::{Error, Result},
};

/// Memory that was imported; its buffers keep it when this is dropped.
#[derive(Clone)]
pub struct ExternalMemory(Arc<Inner>);

struct Inner {
    memory: hsa::PhysicalMemory,
    bytes: u64,
}

/// Addresses that show all of an imported memory, and the memory.
struct Shown {
    // Dropped in this order: what is mapped keeps the memory anyway.
    _addresses: hsa::Reservation,
    _memory: Arc<Inner>,
}

impl ExternalMemory {
    /// The memory of `bytes` bytes behind a descriptor, which stays the caller's.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if there is no memory of so many bytes behind it; [`Error::NotSupported`].
    pub fn import(descriptor: BorrowedFd<'_>, bytes: u64) -> Result<Self> {
        let memory = virtual_memory::import_memory(descriptor)?;
        if bytes == 0 || bytes > memory.len() as u64 {
            return Err(Error::InvalidValue("the descriptor has less memory"));
        }
        Ok(Self(Arc::new(Inner { memory, bytes })))
    }

    /// Shows `bytes` bytes from `offset` to all devices, as memory of `device` that
    /// [`memory::free`](crate::memory::free) unmaps.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the range leaves the memory; [`Error::OutOfMemory`]; [`Error::Hsa`].
    pub fn buffer(&self, device: &Device, offset: u64, bytes: u64) -> Result<u64> {
        let end = offset.checked_add(bytes).filter(|_| bytes > 0);
        if end.is_none_or(|end| end > self.0.bytes) {
            return Err(Error::InvalidValue("the buffer leaves the memory"));
        }
        let system = System::get()?;
        let addresses = virtual_memory::reserve_for(&self.0.memory)?;
        addresses.map(0, &self.0.memory, self.0.memory.len())?;
        let mut agents = system.gpu_agents();
        // The host reads and writes for devices that cannot; without its access, copies to them are refused.
        agents.push(system.host_agent().clone());
        addresses.set_access(0, addresses.len(), &agents, hsa::Access::ReadWrite)?;
        let address = addresses.address() + offset;
        system.memory().insert(Region {
            address,
            bytes,
            origin: Origin::External,
            device: device.ordinal(),
            flags: 0,
            device_address: address,
            marks: Default::default(),
            backing: Backing::Held(Box::new(Shown { _addresses: addresses, _memory: self.0.clone() })),
        });
        Ok(address)
    }
}
