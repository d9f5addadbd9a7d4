//! Local memory that other processes can have: a file each, whose name says whose memory it is.

use std::{
    io,
    os::fd::{FromRawFd, OwnedFd, RawFd},
    sync::{Arc, atomic::Ordering},
};

use emulator::os::{self, Mapping, PAGE, SharedMemory};

use super::{
    Local, Memory,
    regions::{Allocation, Content},
    shown::Backing,
};
use crate::{
    abi::{
        HSAKMT_STATUS_INVALID_NODE_UNIT, HSAKMT_STATUS_INVALID_PARAMETER, HSAKMT_STATUS_NO_MEMORY,
        HSAKMT_STATUS_OUT_OF_RESOURCES, newer::MEM_NO_ADDRESS,
    },
    entry::Result,
    topology::{device_of, node_of},
};

/// What the names of our files begin with.
const PREFIX: &str = "aqlipse-local.";

/// Memory that came as a file descriptor.
pub struct Import {
    /// Its address, or the name that stands for it.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Whose memory it is.
    pub node: u32,
}

fn create(device: u32, size: usize) -> io::Result<Arc<SharedMemory>> {
    SharedMemory::new(&os::name_of(&format!("{PREFIX}{device}")), size).map(Arc::new)
}

/// A file for an allocation that nobody has asked to share yet; none once the process has half its descriptors in use,
/// which are the program's in the first place.
pub(super) fn create_if_cheap(device: u32, size: usize) -> Option<Arc<SharedMemory>> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` has room for the answer.
    let asked = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    let file = create(device, size).ok()?;
    // The kernel gives the lowest number that is free.
    let used = u64::try_from(file.descriptor()).unwrap_or(u64::MAX);
    (asked == 0 && used < limit.rlim_cur / 2).then_some(file)
}

/// Opens memory of a device of this process's.
pub(super) fn open(descriptor: RawFd, devices: u32) -> Result<(Arc<SharedMemory>, u32)> {
    let file = SharedMemory::import(descriptor).map_err(|_| HSAKMT_STATUS_INVALID_PARAMETER)?;
    let name = file.name();
    let device = name.strip_prefix(PREFIX).and_then(|number| number.parse().ok());
    let device: u32 = device.ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
    if device >= devices {
        return Err(HSAKMT_STATUS_INVALID_NODE_UNIT);
    }
    if file.size() == 0 || !file.size().is_multiple_of(PAGE) {
        return Err(HSAKMT_STATUS_INVALID_PARAMETER);
    }
    Ok((Arc::new(file), device))
}

impl Memory {
    /// A name that no other memory without an address has.
    fn name(&self, size: u64) -> u64 {
        // ORDER: Relaxed. The number alone counts.
        self.names.fetch_add(size, Ordering::Relaxed)
    }

    /// Allocates local memory without an address; returns its name.
    pub(super) fn allocate_named(&self, node: u32, size: u64, flags: u32) -> Result<u64> {
        let device = device_of(node).ok_or(HSAKMT_STATUS_INVALID_NODE_UNIT)?;
        let local = Local::take(&self.driver, device, size)?;
        // CAST: at most LARGEST.
        let file = create(device, size as usize).map_err(|error| {
            tracing::debug!(%error, "memory without an address");
            HSAKMT_STATUS_NO_MEMORY
        })?;
        let name = self.name(size);
        let backing: Backing = Arc::clone(&file) as _;
        let allocation = Allocation::new(name, size, node, flags, false, backing, Some(local));
        self.with(|regions| regions.insert(allocation.of(Content::File(file))));
        Ok(name)
    }

    /// A descriptor of the memory that holds a range, and where in it the range begins.
    pub fn export(&self, address: u64, size: u64) -> Result<(OwnedFd, u64)> {
        let file = self.with(|regions| regions.file(address, size));
        let (file, offset) = file.ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        let descriptor = file.share().map_err(|_| HSAKMT_STATUS_OUT_OF_RESOURCES)?;
        // SAFETY: it was opened for the caller.
        Ok((unsafe { OwnedFd::from_raw_fd(descriptor) }, offset))
    }

    /// Opens what [`Memory::export`] gave, here or in another process; the descriptor stays the caller's. Its bytes were
    /// charged when it was allocated.
    pub fn import(&self, descriptor: RawFd, at_address: bool) -> Result<Import> {
        let (file, device) = open(descriptor, self.devices)?;
        let (size, node) = (file.size() as u64, node_of(device));
        let (address, flags, backing): (u64, u32, Backing) = if at_address {
            let mapping = Mapping::reserve_aligned(file.size(), super::HUGE_PAGE);
            let shown = mapping.and_then(|mapping| mapping.show(0, &file, 0, file.size()).map(|()| mapping));
            let mapping = shown.map_err(|_| HSAKMT_STATUS_NO_MEMORY)?;
            (mapping.address(), 0, Arc::new(mapping))
        } else {
            (self.name(size), MEM_NO_ADDRESS, Arc::clone(&file) as _)
        };
        let allocation = Allocation::new(address, size, node, flags, false, backing, None);
        self.with(|regions| regions.insert(allocation.of(Content::Import(file))));
        Ok(Import { address, size, node })
    }
}
