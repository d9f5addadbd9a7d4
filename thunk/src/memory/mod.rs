//! Memory: what the client allocated, what host memory it registered, and which devices reach it.
//!
//! A device's address of anything is the host's. Nothing is reachable by a device that has not been mapped to it.

pub mod buffers;
mod files;
mod regions;
mod shown;
mod windows;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use emulator::{
    driver::Driver,
    os::{
        self, Mapping, PAGE,
        hidden::{self, bar},
    },
};
use parking_lot::Mutex;

use crate::{
    abi::{
        HSAKMT_STATUS_ERROR, HSAKMT_STATUS_INVALID_NODE_UNIT, HSAKMT_STATUS_INVALID_PARAMETER,
        HSAKMT_STATUS_NO_MEMORY, HSAKMT_STATUS_NOT_SUPPORTED, HsaPointerInfo, MEM_FIXED_ADDRESS, MEM_GDS,
        MEM_HOST_ACCESS, MEM_SCRATCH,
        newer::{self, MEM_NO_ADDRESS, MEM_ONLY_ADDRESS},
    },
    entry::Result,
    topology::Nodes,
};

pub use files::{Import, SharedHandle};
pub use regions::Wanted;
use regions::{Allocation, Content, Regions};
pub use shown::{Backing, Reach};
use windows::Reservation;

/// From this size on allocations begin at a multiple of it, as the kernel driver places them.
const HUGE_PAGE: usize = 2 << 20;
/// Private memory is handed out in granules of this.
const SCRATCH_ALIGNMENT: usize = 64 << 10;
/// Largest allocation: what device addresses can say.
const LARGEST: u64 = 1 << 47;

/// A request for memory.
pub struct Request {
    /// The node whose memory it should be.
    pub node: u32,
    /// Bytes, whole pages.
    pub size: u64,
    /// The base is a multiple of it; 0 leaves it to us.
    pub alignment: u64,
    /// `HsaMemFlags`.
    pub flags: u32,
    /// Where, if the flags fix it.
    pub address: u64,
}

/// All memory of the process that devices may come to reach.
pub struct Memory {
    driver: Arc<Driver>,
    regions: Mutex<Regions>,
    nodes: Nodes,
    /// libdrm's part.
    pub buffers: buffers::Buffers,
    files: files::Files,
}

impl Memory {
    /// Nothing yet.
    pub fn new(driver: Arc<Driver>, nodes: Nodes) -> Self {
        Self {
            driver,
            regions: Mutex::new(Regions::new(nodes)),
            nodes,
            buffers: buffers::Buffers::new(nodes.devices()),
            files: files::Files::new(),
        }
    }

    fn with<T>(&self, body: impl FnOnce(&mut Regions) -> T) -> T {
        body(&mut self.regions.lock())
    }

    /// Allocates memory and returns its address.
    pub fn allocate(&self, request: &Request) -> Result<u64> {
        let Request { node, size, alignment, flags, address } = *request;
        if node >= self.nodes.count() {
            return Err(HSAKMT_STATUS_INVALID_NODE_UNIT);
        }
        if size == 0 || size > LARGEST || !size.is_multiple_of(PAGE as u64) {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        if alignment != 0 && (!alignment.is_power_of_two() || alignment > LARGEST) {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        if flags & MEM_GDS != 0 {
            return Err(HSAKMT_STATUS_NOT_SUPPORTED);
        }
        let scratch = flags & MEM_SCRATCH != 0;
        let device = self.nodes.device(node);
        if scratch && device.is_none() {
            return Err(HSAKMT_STATUS_INVALID_NODE_UNIT);
        }
        // CAST: at most LARGEST.
        let (bytes, alignment) = (size as usize, alignment as usize);
        // What the flag of 5.2.3's successors means, 5.2.3 has no word for.
        let apart = if newer::is_spoken() { flags & (MEM_NO_ADDRESS | MEM_ONLY_ADDRESS) } else { 0 };
        if apart == MEM_NO_ADDRESS {
            return self.allocate_named(node, size, flags);
        }
        let fixed = (flags & MEM_FIXED_ADDRESS != 0).then_some(address);
        if fixed.is_some_and(|address| address == 0 || !address.is_multiple_of(PAGE as u64)) {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        let natural = match scratch {
            true => SCRATCH_ALIGNMENT,
            false if bytes >= HUGE_PAGE => HUGE_PAGE,
            false => PAGE,
        };
        let alignment = alignment.max(natural);
        // Private memory is a reservation: waves use little of it.
        let is_charged = !scratch && apart == 0;
        let local = device.filter(|_| is_charged);
        // Newer clients share any local memory with other processes.
        let file = local
            .filter(|_| newer::is_spoken())
            .and_then(|device| self.files.create_if_cheap(&files::Files::name_of_local(device), bytes));
        // On cards without a large PCI window.
        let hidden = local.is_some() && flags & MEM_HOST_ACCESS == 0;
        // Newer clients map files for the host by themselves, past the window.
        let windowed = local.filter(|_| !hidden && file.is_none() && fixed.is_none() && hidden::is_on());
        let reserved = file.is_some() || apart != 0;
        let mapping = match fixed {
            Some(address) if reserved => Mapping::reserve_at(address, bytes),
            Some(address) => Mapping::anonymous_at(address, bytes),
            None if reserved && hidden => Mapping::reserve_for_devices(bytes, alignment),
            None if reserved => Mapping::reserve_aligned(bytes, alignment),
            None if hidden || windowed.is_some() => Mapping::of_devices(bytes, alignment),
            None => Mapping::anonymous_aligned(bytes, alignment),
        };
        let mapping = mapping.map_err(|_| HSAKMT_STATUS_NO_MEMORY)?;
        if let Some(file) = &file {
            mapping.show(0, file, 0, bytes).map_err(|_| HSAKMT_STATUS_NO_MEMORY)?;
        }
        let charge = is_charged.then(|| Charge::take(&self.driver, local, size)).transpose()?;
        let base = mapping.address();
        let (backing, content): (Backing, Content) = match file {
            _ if apart != 0 => {
                let reservation = Reservation::new(mapping).map_err(|_| HSAKMT_STATUS_NO_MEMORY)?;
                let reservation = Arc::new(reservation);
                (Arc::clone(&reservation) as _, Content::Addresses(reservation))
            }
            Some(file) => (Arc::new(mapping), Content::File(Arc::new(file.into()))),
            None => match windowed {
                Some(device) => {
                    let window = HostWindow::open(mapping, device).map_err(|_| HSAKMT_STATUS_NO_MEMORY)?;
                    (Arc::new(window), Content::Private)
                }
                None => (Arc::new(mapping), Content::Private),
            },
        };
        let allocation = Allocation::new(base, size, node, flags, scratch, backing, charge).of(content);
        self.with(|regions| regions.insert(allocation));
        Ok(base)
    }

    /// Frees what was allocated at `address`.
    pub fn free(&self, address: u64) -> Result {
        // Dropped outside the lock: giving memory back to the system takes its time.
        let _freed = self.with(|regions| regions.free(address))?;
        Ok(())
    }

    /// Registers host memory, so that it can be mapped to devices.
    pub fn register(&self, address: u64, size: u64, flags: u32) -> Result {
        if address == 0 || size == 0 || size > LARGEST {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        let end = address.checked_add(size).ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        if !os::is_mapped(address, end) {
            return Err(HSAKMT_STATUS_ERROR);
        }
        let charge = Charge::take(&self.driver, None, size)?;
        self.with(|regions| regions.register(address, size, flags, Some(charge)));
        Ok(())
    }

    /// Undoes one registration that began at `address`.
    pub fn deregister(&self, address: u64) -> Result {
        self.with(|regions| regions.deregister(&*self.driver, address))
    }

    /// Lets the devices of `nodes`, or all if `None`, reach what lies at `address`.
    pub fn map(&self, wanted: &Wanted<'_>) -> Result {
        if wanted.address == 0 {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        if wanted.nodes.is_some_and(|nodes| nodes.iter().any(|node| *node >= self.nodes.count())) {
            return Err(HSAKMT_STATUS_INVALID_NODE_UNIT);
        }
        self.with(|regions| regions.map(&*self.driver, wanted))
    }

    /// No device reaches any longer what was mapped at `address`.
    pub fn unmap(&self, address: u64) -> Result {
        self.with(|regions| regions.unmap(&*self.driver, address))
    }

    /// Whether an address is of memory that was allocated here.
    pub fn owns(&self, address: u64) -> bool {
        self.with(|regions| regions.is_allocated(address))
    }

    /// What is known of an address.
    pub fn pointer_info(&self, address: u64) -> Option<HsaPointerInfo> {
        self.with(|regions| regions.pointer_info(address))
    }

    /// Remembers a word of the client's with what contains `address`.
    pub fn set_user_data(&self, address: u64, data: u64) -> Result {
        self.with(|regions| regions.set_user_data(address, data))
    }
}

/// A device's memory that the host reaches through a window of PCIe, where its stores stay on their way until it flushes
/// them or reads something back.
struct HostWindow(Mapping);

impl HostWindow {
    fn open(memory: Mapping, device: u32) -> std::io::Result<Self> {
        bar::open(memory.address(), memory.size() as u64, device)?;
        Ok(Self(memory))
    }
}

impl Drop for HostWindow {
    fn drop(&mut self) {
        bar::close(self.0.address());
    }
}

/// Memory in use, given back when dropped: a device's, or what devices may reach of the host's.
pub(crate) struct Charge {
    driver: Arc<Driver>,
    device: Option<u32>,
    bytes: u64,
}

impl Charge {
    fn take(driver: &Arc<Driver>, device: Option<u32>, bytes: u64) -> Result<Self> {
        let is_there = match device {
            Some(device) => driver.take_local(device, bytes),
            None => driver.lock_host(bytes),
        };
        if !is_there {
            return Err(HSAKMT_STATUS_NO_MEMORY);
        }
        Ok(Self { driver: Arc::clone(driver), device, bytes })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        match self.device {
            Some(device) => self.driver.give_back_local(device, self.bytes),
            None => self.driver.unlock_host(self.bytes),
        }
    }
}
