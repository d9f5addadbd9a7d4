//! Device memory of other processes.

use std::sync::Arc;

use super::{Backing, Origin, Region, exporter::Exporter};
use crate::{
    callback, check,
    device::{Device, System},
    error::{Error, Result},
};

/// Names an allocation of device memory to other processes of the same user on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryHandle {
    /// The HSA runtime's name for it.
    pub words: [u32; 8],
    /// Bytes of the HSA runtime's allocation.
    pub allocated: u64,
    /// Bytes that were asked for.
    pub bytes: u64,
    /// The process that has allocated it.
    pub process: u32,
    /// The device of that process.
    pub device: u32,
}

impl MemoryHandle {
    /// Whether this process has allocated the memory.
    pub fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }
}

/// A handle for the allocation that starts at `address`.
///
/// # Errors
/// [`Error::InvalidValue`] if none of [`allocate`](super::allocate) does; [`Error::OutOfMemory`];
/// [`Error::NotSupported`] if the back end cannot share it.
pub fn export(address: u64) -> Result<MemoryHandle> {
    let system = System::get()?;
    let region = system.memory().at(address).filter(|region| region.origin == Origin::Device);
    let region = region.ok_or(Error::InvalidValue("not the start of an allocation of device memory"))?;
    let (words, allocated) = name_of(system, address, region.bytes).map_err(|error| cannot_share(&error))?;
    check::shared(address..address + region.bytes);
    // CAST: ordinals are small.
    let device = region.device as u32;
    Ok(MemoryHandle { words, allocated, bytes: region.bytes, process: std::process::id(), device })
}

/// The HSA runtime's name for its allocation at `address` of `bytes` bytes or more, and how many it has.
///
/// # Errors
/// What the HSA runtime says if it cannot share it.
pub(super) fn name_of(
    system: &System,
    address: u64,
    bytes: u64,
) -> std::result::Result<([u32; 8], u64), hsa::Error> {
    // What the HSA runtime counts may be rounded up.
    let known = system.runtime().pointer_info(address)?;
    let allocated = known.map_or(bytes, |info| info.len as u64);
    // CAST: a 64-bit process.
    let handle = system.runtime().export_memory(address, allocated as usize)?;
    Ok((handle.0, allocated))
}

/// The error for an allocation that has no name, with the reason kept for a caller that asks.
pub(super) fn cannot_share(error: &hsa::Error) -> Error {
    crate::error::explain(format!("the allocation cannot be shared with other processes: {error}"));
    Error::of_call(error.clone(), |_| Error::NotSupported("memory that other processes open"))
}

/// Maps another process's memory, for all devices (on ROCr for `device`); at a new address for each call.
///
/// # Errors
/// [`Error::InvalidValue`] if the handle names none that still exists; [`Error::OutOfMemory`].
pub fn open(device: &Device, handle: &MemoryHandle) -> Result<Arc<Region>> {
    const REFUSED: Error = Error::InvalidValue("the handle names no memory of another process");
    let system = System::get()?;
    if handle.bytes > handle.allocated || handle.bytes == 0 {
        return Err(REFUSED);
    }
    let words = hsa::MemoryHandle(handle.words);
    // CAST: a 64-bit process.
    let agents = system.importing_agents(device);
    let exporter = Exporter::of(handle.process, device)?;
    let attached = system.runtime().attach_memory(words, handle.allocated as usize, &agents);
    let refused = |error| {
        crate::error::explain(format!("the memory of process {} cannot be mapped: {error}", handle.process));
        REFUSED
    };
    let attached = attached.map_err(|error| Error::of_call(error, refused))?;
    // CAST: a number of the other process's.
    let owner = Device::get(handle.device as usize).unwrap_or_else(|_| device.clone());
    let address = attached.address();
    check::shared(address..address + handle.bytes);
    Ok(system.memory().insert(Region {
        address,
        bytes: handle.bytes,
        origin: Origin::Imported,
        device: owner.ordinal(),
        flags: 0,
        device_address: address,
        marks: Default::default(),
        backing: Backing::Imported(attached, exporter),
    }))
}

/// Unmaps what [`open`] mapped at `address`, after all work of all devices.
///
/// # Errors
/// [`Error::InvalidValue`] if it mapped nothing there; [`Error::IllegalState`] inside a host function; the fault of
/// earlier work, after the memory is unmapped.
pub fn close(address: u64) -> Result<()> {
    callback::refuse_inside()?;
    const REFUSED: Error = Error::InvalidValue("not memory of another process");
    let table = System::get()?.memory();
    let region = table.at(address).filter(|region| region.origin == Origin::Imported).ok_or(REFUSED)?;
    Device::all()?.iter().try_for_each(Device::drain)?;
    drop(table.remove_exactly(&region).ok_or(REFUSED)?);
    Device::all()?.iter().try_for_each(Device::check)
}
