//! Buffers of libdrm, as newer ROCr uses them for virtual memory: imported by a descriptor, mapped to a device at
//! addresses that are reserved, and to the host by a file of the device's.

use std::{
    collections::HashMap,
    os::fd::RawFd,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering},
    },
};

use emulator::{
    driver::{Access, Bytes, Home},
    os::{Mapping, PAGE},
};
use parking_lot::Mutex;

use super::{
    Memory,
    files::Opened,
    shown::{Backing, Owner, Range},
};
use crate::{
    abi::{
        HSAKMT_STATUS_ERROR, HSAKMT_STATUS_INVALID_HANDLE, HSAKMT_STATUS_INVALID_PARAMETER,
        HSAKMT_STATUS_NO_MEMORY,
    },
    entry::Result,
};

/// A device, as libdrm's functions know it by its address.
///
/// libdrm's `amdgpu_device_get_fd` is not looked up in `libdtif.so`, so that ROCr calls libdrm's own on what is meant
/// to be a structure of libdrm's, and gets the word at offset 16. ROCr then maps a buffer for the host by this
/// descriptor, at the offset that `DRM_AMDGPU_GEM_MMAP` tells it. Here buffers are in several files. ROCr asks for the descriptor right
/// after it imports a buffer, under its lock: the file of the last import is the one it means.
#[repr(C)]
pub struct LibdrmDevice {
    unknown: [u64; 2],
    descriptor: AtomicI32,
}

const _: () = assert!(std::mem::offset_of!(LibdrmDevice, descriptor) == 16);

/// The libdrm devices and buffers of a process.
pub struct Buffers {
    devices: Box<[LibdrmDevice]>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u32,
    buffers: HashMap<u32, Buffer>,
}

struct Buffer {
    device: u32,
    bytes: Arc<Bytes>,
    size: u64,
    /// Where the host has all of it, if it was asked for here.
    host: Option<Arc<Mapping>>,
    /// By first address: one past the last, and the owner of what shows there.
    mapped: HashMap<u64, (u64, Owner)>,
}

/// A buffer that was imported.
pub struct Imported {
    /// Its number.
    pub id: u32,
    /// Bytes.
    pub size: u64,
}

/// A range of a buffer, and its addresses.
#[derive(Clone, Copy)]
pub struct Part {
    /// Where in the buffer it begins.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// First address.
    pub address: u64,
}

impl Buffers {
    /// Devices without buffers.
    pub fn new(devices: u32) -> Self {
        let device = |_| LibdrmDevice { unknown: [0; 2], descriptor: AtomicI32::new(-1) };
        Self { devices: (0..devices).map(device).collect(), table: Mutex::default() }
    }

    /// The address of a device; it stays where it is.
    pub fn address_of(&self, device: u32) -> Option<u64> {
        self.devices.get(device as usize).map(|device| std::ptr::from_ref(device).addr() as u64)
    }

    /// The device that has an address.
    pub fn device_at(&self, address: u64) -> Option<u32> {
        (0..self.devices.len() as u32).find(|device| self.address_of(*device) == Some(address))
    }

    /// Whether a buffer exists.
    pub fn exists(&self, id: u32) -> bool {
        self.table.lock().buffers.contains_key(&id)
    }

    /// Where in the file with this descriptor a buffer is, if it is there.
    pub fn place_of(&self, id: u32, descriptor: RawFd) -> Option<u64> {
        let table = self.table.lock();
        let (file, offset) = table.buffers.get(&id)?.bytes.place();
        (file.descriptor() == descriptor).then_some(offset as u64)
    }
}

impl Memory {
    /// Imports memory for a device, which need not be the one whose memory it is.
    pub fn import_buffer(&self, device: u32, descriptor: RawFd) -> Result<Imported> {
        let Opened { bytes, size, .. } = self.open(descriptor)?;
        let of = self.buffers.devices.get(device as usize).ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        let mut table = self.buffers.table.lock();
        // A number comes back after 2^32 imports: those between must be gone then.
        let id = table.last.checked_add(1).ok_or(HSAKMT_STATUS_NO_MEMORY)?;
        table.last = id;
        // ORDER: Relaxed. The thread that stores it is the one that asks for it.
        of.descriptor.store(bytes.place().0.descriptor(), Ordering::Relaxed);
        table.buffers.insert(id, Buffer { device, bytes, size, host: None, mapped: HashMap::new() });
        Ok(Imported { id, size })
    }

    /// Frees a buffer; the device loses what it still has mapped of it.
    pub fn free_buffer(&self, id: u32) -> Result {
        let buffer = self.buffers.table.lock().buffers.remove(&id).ok_or(HSAKMT_STATUS_INVALID_HANDLE)?;
        // ORDER: Relaxed. As for the store of an import; a descriptor that is closed must not be found there.
        let _ = self.buffers.devices[buffer.device as usize].descriptor.compare_exchange(
            buffer.bytes.place().0.descriptor(),
            -1,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        for (start, (end, owner)) in &buffer.mapped {
            self.with(|regions| regions.hide(&*self.driver, buffer.device, *owner, *start, *end));
        }
        Ok(())
    }

    /// Maps a part of a buffer to its device, at addresses that are reserved or where the host has the part.
    pub fn map_buffer(&self, id: u32, part: Part, writable: bool) -> Result {
        let Part { offset, size, address } = part;
        let page = PAGE as u64;
        if [offset, size, address].iter().any(|value| !value.is_multiple_of(page)) {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        let mut table = self.buffers.table.lock();
        let buffer = table.buffers.get_mut(&id).ok_or(HSAKMT_STATUS_INVALID_HANDLE)?;
        let end = address.checked_add(size).ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        if size == 0 || offset.checked_add(size).is_none_or(|end| end > buffer.size) {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        let taken = |(start, (stop, _)): (&u64, &(u64, Owner))| *start < end && address < *stop;
        if buffer.mapped.iter().any(taken) {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        let backing: Backing = match &buffer.host {
            Some(host) if address.checked_sub(host.address()) == Some(offset) => Arc::clone(host) as _,
            _ => {
                let reservation = self.with(|regions| regions.reservation_at(address));
                let reservation = reservation.ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
                reservation.show(&buffer.bytes, offset, address, size).map_err(|error| {
                    tracing::debug!(%error, "a buffer at {address:#x}");
                    HSAKMT_STATUS_ERROR
                })?
            }
        };
        let access = Access { writable, executable: false, home: Home::Device };
        let range = Range { start: address, end, access, backing: Some(&backing) };
        let owner = self.with(|regions| regions.show(&*self.driver, buffer.device, &range));
        buffer.mapped.insert(address, (end, owner));
        Ok(())
    }

    /// Takes from its device what was mapped at an address.
    pub fn unmap_buffer(&self, id: u32, address: u64, size: u64) -> Result {
        let mut table = self.buffers.table.lock();
        let buffer = table.buffers.get_mut(&id).ok_or(HSAKMT_STATUS_INVALID_HANDLE)?;
        let (end, owner) = *buffer.mapped.get(&address).ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        if end - address != size {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        buffer.mapped.remove(&address);
        self.with(|regions| regions.hide(&*self.driver, buffer.device, owner, address, end));
        Ok(())
    }

    /// Maps all of a buffer to the host, once; returns its address.
    pub fn map_buffer_to_host(&self, id: u32) -> Result<u64> {
        let mut table = self.buffers.table.lock();
        let buffer = table.buffers.get_mut(&id).ok_or(HSAKMT_STATUS_INVALID_HANDLE)?;
        if let Some(host) = &buffer.host {
            return Ok(host.address());
        }
        // CAST: sizes of allocations.
        let (file, offset) = buffer.bytes.place();
        let size = buffer.size as usize;
        let mapping = Mapping::reserve_aligned(size, 0).map_err(|_| HSAKMT_STATUS_NO_MEMORY)?;
        mapping.show(0, file, offset, size).map_err(|_| HSAKMT_STATUS_NO_MEMORY)?;
        Ok(buffer.host.insert(Arc::new(mapping)).address())
    }

    /// The host needs a buffer no longer at its address.
    pub fn unmap_buffer_from_host(&self, id: u32) -> Result {
        let mut table = self.buffers.table.lock();
        let buffer = table.buffers.get_mut(&id).ok_or(HSAKMT_STATUS_INVALID_HANDLE)?;
        buffer.host.take().map(drop).ok_or(HSAKMT_STATUS_INVALID_PARAMETER)
    }
}
