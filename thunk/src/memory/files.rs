//! Local memory that others can have by a file descriptor: other processes, and libdrm's buffers of this one.
//!
//! The name of a file tells an import whose memory it is, and which allocation of which process.

use std::{
    hash::{BuildHasher, RandomState},
    os::fd::{FromRawFd, OwnedFd, RawFd},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use emulator::{
    driver::{Bytes, Store},
    os::{self, Mapping, PAGE, SharedMemory},
};

use super::{
    Charge, Memory,
    regions::{Allocation, Content},
    shown::Backing,
};
use crate::{
    abi::{
        HSA_POINTER_REGISTERED_GRAPHICS, HSA_POINTER_REGISTERED_SHARED, HSA_POINTER_TYPE, HSAKMT_STATUS,
        HSAKMT_STATUS_INVALID_NODE_UNIT, HSAKMT_STATUS_INVALID_PARAMETER, HSAKMT_STATUS_NO_MEMORY,
        HSAKMT_STATUS_OUT_OF_RESOURCES, newer,
    },
    entry::Result,
};

/// What the names of our files begin with; the device follows.
const PREFIX: &str = "aqlipse-local.";
/// The same for a stand-in: it says which allocation of this process is meant, and holds nothing.
const STAND_IN: &str = "aqlipse-stand-in.";
/// Memory without an address has a name from here on, where no address of a host or a device is.
const FIRST_NAME: u64 = 1 << 60;

/// `HsaSharedMemoryHandle`: mark, process, descriptor there, inode, and nothing. ROCr keeps a word of its own in the
/// seventh while the handle is with the program.
pub type SharedHandle = [u32; 8];
/// The first word of a [`SharedHandle`] of ours: "aqt1".
const SHARED_MARK: u32 = u32::from_le_bytes(*b"aqt1");

/// Where files come from.
pub(super) struct Files {
    store: Store,
    /// Tells this process's stand-ins from others'.
    token: u64,
    names: AtomicU64,
}

/// Memory that came as a file descriptor.
pub struct Import {
    /// Its address, or the name that stands for it.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Whose memory it is.
    pub node: u32,
}

/// What a descriptor stands for.
pub(super) struct Opened {
    pub(super) bytes: Arc<Bytes>,
    pub(super) size: u64,
    pub(super) device: u32,
}

fn no_memory(error: std::io::Error) -> HSAKMT_STATUS {
    tracing::debug!(%error, "memory for a device");
    HSAKMT_STATUS_NO_MEMORY
}

impl Files {
    pub(super) fn new() -> Self {
        Self {
            store: Store::default(),
            token: RandomState::new().hash_one(std::process::id()),
            names: AtomicU64::new(FIRST_NAME),
        }
    }

    /// A name that no other memory without an address has.
    fn name(&self, size: u64) -> u64 {
        // ORDER: Relaxed. The number alone counts.
        self.names.fetch_add(size, Ordering::Relaxed)
    }

    /// A file, unless the process has half its descriptors in use: the others are the program's.
    pub(super) fn create_if_cheap(&self, name: &str, size: usize) -> Option<SharedMemory> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` has room for the answer.
        let asked = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
        let file = SharedMemory::new(&os::name_of(name), size).ok()?;
        // The kernel gives the lowest number that is free.
        let used = u64::try_from(file.descriptor()).unwrap_or(u64::MAX);
        (asked && used < limit.rlim_cur / 2).then_some(file)
    }

    /// A name for memory at an address, which has not been shared yet.
    pub(super) fn name_of_local(device: u32) -> String {
        format!("{PREFIX}{device}")
    }
}

impl Memory {
    /// Allocates local memory without an address; returns its name. It can leave the process if there are descriptors for
    /// it; the interface does not say which memory a program has asked to be pinned.
    pub(super) fn allocate_named(&self, node: u32, size: u64, flags: u32) -> Result<u64> {
        let device = self.nodes.device(node).ok_or(HSAKMT_STATUS_INVALID_NODE_UNIT)?;
        let charge = Charge::take(&self.driver, Some(device), size)?;
        let name = self.files.name(size);
        let file_name = format!("{PREFIX}{device}.{:x}.{name:x}", self.files.token);
        // CAST: at most LARGEST.
        let bytes = match self.files.create_if_cheap(&file_name, size as usize) {
            Some(file) => file.into(),
            None => {
                self.files.store.take(&os::name_of(&file_name), size as usize, false).map_err(no_memory)?
            }
        };
        let bytes = Arc::new(bytes);
        let backing: Backing = Arc::clone(&bytes) as _;
        let allocation = Allocation::new(name, size, node, flags, false, backing, Some(charge));
        self.with(|regions| regions.insert(allocation.of(Content::File(bytes))));
        Ok(name)
    }

    /// A descriptor of the memory that holds a range, and where in it the range begins. Of memory that shares its file, it
    /// is good in this process alone.
    pub fn export(&self, address: u64, size: u64) -> Result<(OwnedFd, u64)> {
        let bytes = self.with(|regions| regions.bytes(address, size));
        let (bytes, base) = bytes.ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        let descriptor = match &*bytes {
            Bytes::Own { file, .. } => file.share(),
            Bytes::Part(_) => {
                let name = os::name_of(&format!("{STAND_IN}{:x}.{base:x}", self.files.token));
                SharedMemory::new(&name, PAGE).and_then(|file| file.share())
            }
        };
        let descriptor = descriptor.map_err(|_| HSAKMT_STATUS_OUT_OF_RESOURCES)?;
        // SAFETY: it was opened for the caller.
        Ok((unsafe { OwnedFd::from_raw_fd(descriptor) }, address - base))
    }

    /// The allocation of this process that a file's name names by the process's token and its base.
    fn known(&self, name: &str) -> Option<Opened> {
        let (token, base) = name.split_once('.')?;
        let ours = u64::from_str_radix(token, 16) == Ok(self.files.token);
        let base = u64::from_str_radix(base, 16).ok().filter(|_| ours)?;
        let (node, size, bytes) = self.with(|regions| regions.allocated_at(base))?;
        self.nodes.device(node).map(|device| Opened { bytes, size, device })
    }

    /// Finds out what a descriptor of [`Memory::export`] stands for, here or in another process.
    pub(super) fn open(&self, descriptor: RawFd) -> Result<Opened> {
        self.opened(SharedMemory::import(descriptor).map_err(|_| HSAKMT_STATUS_INVALID_PARAMETER)?)
    }

    fn opened(&self, file: SharedMemory) -> Result<Opened> {
        let name = file.name();
        if let Some(rest) = name.strip_prefix(STAND_IN) {
            return self.known(rest).ok_or_else(|| {
                tracing::warn!(
                    "what another process exported cannot be imported: that process has too many files open"
                );
                HSAKMT_STATUS_INVALID_PARAMETER
            });
        }
        let rest = name.strip_prefix(PREFIX).ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        let (number, owner) = rest.split_once('.').unwrap_or((rest, ""));
        let device: u32 = number.parse().map_err(|_| HSAKMT_STATUS_INVALID_PARAMETER)?;
        if device >= self.nodes.devices() {
            return Err(HSAKMT_STATUS_INVALID_NODE_UNIT);
        }
        // Memory of this process takes no descriptor more.
        let known = self.known(owner).filter(|known| known.bytes.place().0.inode() == file.inode());
        if let Some(known) = known {
            return Ok(known);
        }
        let size = file.size() as u64;
        if size == 0 || !file.size().is_multiple_of(PAGE) {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        Ok(Opened { bytes: Arc::new(file.into()), size, device })
    }

    /// Opens what [`Memory::export`] gave; the descriptor stays the caller's.
    pub fn import(&self, descriptor: RawFd, at_address: bool) -> Result<Import> {
        let opened = self.open(descriptor)?;
        self.insert(opened, at_address, HSA_POINTER_REGISTERED_GRAPHICS)
    }

    /// What another process needs to open an allocation.
    pub fn share(&self, address: u64, size: u64) -> Result<SharedHandle> {
        let known = self.with(|regions| regions.allocated_at(address));
        let (_, _, bytes) = known.filter(|known| known.1 == size).ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        // Only memory with an address, which has its file for itself.
        let (Bytes::Own { file, .. }, true) = (&*bytes, address < FIRST_NAME) else {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        };
        let inode = file.inode();
        // CAST: descriptors are not negative; the halves of a number.
        let (descriptor, low, high) = (file.descriptor() as u32, inode as u32, (inode >> 32) as u32);
        Ok([SHARED_MARK, std::process::id(), descriptor, low, high, 0, 0, 0])
    }

    /// Opens what [`Memory::share`] gave, at an address.
    pub fn attach(&self, handle: SharedHandle) -> Result<Import> {
        let [SHARED_MARK, process, descriptor, low, high, 0, 0, 0] = handle else {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        };
        let file = SharedMemory::of_process(process, descriptor).map_err(|error| {
            tracing::debug!(%error, process, "memory of another process");
            HSAKMT_STATUS_INVALID_PARAMETER
        })?;
        if file.inode() != u64::from(high) << 32 | u64::from(low) {
            // The allocation is gone, and its descriptor's number another file's.
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        self.insert(self.opened(file)?, true, HSA_POINTER_REGISTERED_SHARED)
    }

    /// Its bytes were charged when they were allocated.
    fn insert(&self, opened: Opened, at_address: bool, kind: HSA_POINTER_TYPE) -> Result<Import> {
        let Opened { bytes, size, device } = opened;
        let node = self.nodes.of(device);
        let (address, flags, backing): (u64, u32, Backing) = if at_address {
            // CAST: sizes of allocations.
            let (file, offset) = bytes.place();
            let mapping = Mapping::reserve_aligned(size as usize, super::HUGE_PAGE).map_err(no_memory)?;
            mapping.show(0, file, offset, size as usize).map_err(no_memory)?;
            (mapping.address(), 0, Arc::new(mapping))
        } else {
            (self.files.name(size), newer::MEM_NO_ADDRESS, Arc::clone(&bytes) as _)
        };
        let allocation = Allocation::new(address, size, node, flags, false, backing, None);
        self.with(|regions| regions.insert(allocation.of(Content::Import(bytes, kind))));
        Ok(Import { address, size, node })
    }
}
