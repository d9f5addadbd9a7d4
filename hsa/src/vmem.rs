//! Virtual memory: addresses first, memory behind them later (`hsa_ext_amd.h`; newer than ROCr 5.2.3).

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use hsa_sys::*;
use parking_lot::{Mutex, MutexGuard};

use crate::agent::Agent;
use crate::error::{Error, check};
use crate::ledger::Entry;
use crate::pool::Pool;
use crate::runtime::Runtime;

/// What agents may do with mapped memory, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Nothing.
    None,
    /// Read.
    Read,
    /// Read and write.
    ReadWrite,
}

impl Access {
    const fn code(self) -> hsa_access_permission_t {
        match self {
            Self::None => HSA_ACCESS_PERMISSION_NONE,
            Self::Read => HSA_ACCESS_PERMISSION_RO,
            Self::ReadWrite => HSA_ACCESS_PERMISSION_RW,
        }
    }
}

/// The virtual-memory functions of a runtime that has them all.
#[derive(Clone)]
pub struct VirtualMemory {
    runtime: Arc<Runtime>,
    functions: Functions,
}

/// The functions, out of their options.
#[derive(Clone, Copy)]
struct Functions {
    reserve: unsafe extern "C" fn(*mut *mut c_void, usize, u64, u64) -> hsa_status_t,
    reserve_align: Option<unsafe extern "C" fn(*mut *mut c_void, usize, u64, u64, u64) -> hsa_status_t>,
    free: unsafe extern "C" fn(*mut c_void, usize) -> hsa_status_t,
    create: unsafe extern "C" fn(
        hsa_amd_memory_pool_t,
        usize,
        hsa_amd_memory_type_t,
        u64,
        *mut hsa_amd_vmem_alloc_handle_t,
    ) -> hsa_status_t,
    release: unsafe extern "C" fn(hsa_amd_vmem_alloc_handle_t) -> hsa_status_t,
    map: unsafe extern "C" fn(*mut c_void, usize, usize, hsa_amd_vmem_alloc_handle_t, u64) -> hsa_status_t,
    unmap: unsafe extern "C" fn(*mut c_void, usize) -> hsa_status_t,
    set_access:
        unsafe extern "C" fn(*mut c_void, usize, *const hsa_amd_memory_access_desc_t, usize) -> hsa_status_t,
    export: Option<unsafe extern "C" fn(*mut c_int, hsa_amd_vmem_alloc_handle_t, u64) -> hsa_status_t>,
    import: Option<unsafe extern "C" fn(c_int, *mut hsa_amd_vmem_alloc_handle_t) -> hsa_status_t>,
}

impl Runtime {
    /// The virtual-memory functions, if the library has them and the driver supports them.
    pub fn vmem(self: &Arc<Self>) -> Option<VirtualMemory> {
        let api = self.api();
        let functions = Functions {
            reserve: api.hsa_amd_vmem_address_reserve?,
            reserve_align: api.hsa_amd_vmem_address_reserve_align,
            free: api.hsa_amd_vmem_address_free?,
            create: api.hsa_amd_vmem_handle_create?,
            release: api.hsa_amd_vmem_handle_release?,
            map: api.hsa_amd_vmem_map?,
            unmap: api.hsa_amd_vmem_unmap?,
            set_access: api.hsa_amd_vmem_set_access?,
            export: api.hsa_amd_vmem_export_shareable_handle,
            import: api.hsa_amd_vmem_import_shareable_handle,
        };
        let supported =
            self.info(HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED).is_ok_and(|answer| answer.bool());
        supported.then(|| VirtualMemory { runtime: Arc::clone(self), functions })
    }
}

impl VirtualMemory {
    /// The runtime that the functions belong to.
    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// Reserves `len` bytes of address space, a multiple of the page size, at a multiple of `align` (0: any); at `wish`
    /// if that is not 0 and the runtime grants it.
    ///
    /// # Errors
    /// [`Error::Call`]; [`Error::Unsupported`] if an alignment is wanted that an older runtime cannot give.
    pub fn reserve(&self, len: usize, align: u64, wish: u64) -> Result<Reservation, Error> {
        let mut start = std::ptr::null_mut();
        let (function, status) = match (align, self.functions.reserve_align) {
            (0, _) => {
                // SAFETY: `start` has room for the address.
                ("hsa_amd_vmem_address_reserve", unsafe {
                    (self.functions.reserve)(&raw mut start, len, wish, 0)
                })
            }
            (_, Some(reserve)) => {
                // SAFETY: as above.
                ("hsa_amd_vmem_address_reserve_align", unsafe {
                    reserve(&raw mut start, len, wish, align, 0)
                })
            }
            (_, None) => return Err(Error::Unsupported { function: "hsa_amd_vmem_address_reserve_align" }),
        };
        check(function, status)?;
        let address = start.expose_provenance() as u64;
        Ok(Reservation { memory: self.clone(), address, len, mapped: Mutex::default() })
    }

    /// Creates `len` bytes of physical memory, a multiple of the pool's granule.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn create(&self, pool: &Pool, len: usize) -> Result<PhysicalMemory, Error> {
        self.create_of(pool, len, MEMORY_TYPE_NONE)
    }

    /// As [`VirtualMemory::create`], for memory that stays where it is, so that other processes can import it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn create_pinned(&self, pool: &Pool, len: usize) -> Result<PhysicalMemory, Error> {
        self.create_of(pool, len, MEMORY_TYPE_PINNED)
    }

    fn create_of(
        &self,
        pool: &Pool,
        len: usize,
        kind: hsa_amd_memory_type_t,
    ) -> Result<PhysicalMemory, Error> {
        let mut handle = hsa_amd_vmem_alloc_handle_t::default();
        // SAFETY: `handle` has room for the answer.
        let status = unsafe { (self.functions.create)(pool.raw(), len, kind, 0, &raw mut handle) };
        check("hsa_amd_vmem_handle_create", status)?;
        Ok(PhysicalMemory { memory: self.clone(), handle, len, entry: Some(pool.entry(len)) })
    }

    /// Whether physical memory can leave the process as a file descriptor, and come as one.
    pub fn can_share(&self) -> bool {
        self.functions.export.is_some() && self.functions.import.is_some()
    }

    /// Physical memory that another process, or this one, exported; the descriptor stays the caller's. `len` is how
    /// many bytes it has.
    ///
    /// # Errors
    /// [`Error::Call`] if there is no such memory behind the descriptor; [`Error::Unsupported`].
    pub fn import(&self, descriptor: BorrowedFd<'_>, len: usize) -> Result<PhysicalMemory, Error> {
        const NAME: &str = "hsa_amd_vmem_import_shareable_handle";
        let import = self.functions.import.ok_or(Error::Unsupported { function: NAME })?;
        let mut handle = hsa_amd_vmem_alloc_handle_t::default();
        // SAFETY: the descriptor is open, and `handle` has room for the answer.
        check(NAME, unsafe { import(descriptor.as_raw_fd(), &raw mut handle) })?;
        // Whose it is has it in its accounts.
        Ok(PhysicalMemory { memory: self.clone(), handle, len, entry: None })
    }
}

impl fmt::Debug for VirtualMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VirtualMemory")
    }
}

/// Physical memory without an address; what is mapped stays mapped when this is dropped.
pub struct PhysicalMemory {
    memory: VirtualMemory,
    handle: hsa_amd_vmem_alloc_handle_t,
    len: usize,
    entry: Option<Entry>,
}

impl fmt::Debug for PhysicalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PhysicalMemory({:#x}, {} bytes)", self.handle.handle, self.len)
    }
}

impl PhysicalMemory {
    /// The same, entered in the accounts under the name of its holder ([`Runtime::holdings`]).
    pub fn held_by(mut self, holder: &'static str) -> Self {
        self.entry.iter_mut().for_each(|entry| entry.name(holder));
        self
    }

    /// The handle in the function table.
    pub fn raw(&self) -> hsa_amd_vmem_alloc_handle_t {
        self.handle
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The handle of the pool that the memory is of, where the runtime tells.
    pub fn pool(&self) -> Option<hsa_amd_memory_pool_t> {
        let ask = self.memory.runtime.api().hsa_amd_vmem_get_alloc_properties_from_handle?;
        let (mut pool, mut kind) = (hsa_amd_memory_pool_t::default(), MEMORY_TYPE_NONE);
        // SAFETY: the handle is alive, and the outputs have room for the answers.
        let status = unsafe { ask(self.handle, &raw mut pool, &raw mut kind) };
        check("hsa_amd_vmem_get_alloc_properties_from_handle", status).is_ok().then_some(pool)
    }

    /// A file descriptor of the memory, for the process that imports it.
    ///
    /// # Errors
    /// [`Error::Call`], for instance without a descriptor left; [`Error::Unsupported`].
    pub fn export(&self) -> Result<OwnedFd, Error> {
        const NAME: &str = "hsa_amd_vmem_export_shareable_handle";
        let export = self.memory.functions.export.ok_or(Error::Unsupported { function: NAME })?;
        let mut descriptor = -1;
        // SAFETY: `descriptor` has room for the answer, and the handle is alive.
        check(NAME, unsafe { export(&raw mut descriptor, self.handle, 0) })?;
        // SAFETY: the runtime has opened it for the caller.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
    }
}

impl Drop for PhysicalMemory {
    fn drop(&mut self) {
        // SAFETY: the handle is ours; the runtime keeps the memory while it is mapped.
        let _ = unsafe { (self.memory.functions.release)(self.handle) };
    }
}

/// A range of addresses; dropping it unmaps what is mapped there and frees the range.
#[derive(Debug)]
#[must_use = "a dropped reservation is freed"]
pub struct Reservation {
    memory: VirtualMemory,
    address: u64,
    len: usize,
    /// Offset and length of each mapping.
    mapped: Mutex<BTreeMap<usize, usize>>,
}

impl Reservation {
    /// First address.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Maps the first `len` bytes of `memory` at `offset`; agents cannot access them before [`Reservation::set_access`].
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::Call`], for instance if something is mapped there.
    pub fn map(&self, offset: usize, memory: &PhysicalMemory, len: usize) -> Result<(), Error> {
        let start = self.range(offset, len)?;
        let mut mapped = self.mapped();
        // SAFETY: the range lies in the reservation, and the handle is alive.
        let status = unsafe { (self.memory.functions.map)(start, len, 0, memory.handle, 0) };
        check("hsa_amd_vmem_map", status)?;
        mapped.insert(offset, len);
        Ok(())
    }

    /// Unmaps what [`Reservation::map`] mapped at `offset`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if nothing was, or [`Error::Call`].
    ///
    /// # Safety
    /// Nothing accesses the memory through this address any more.
    pub unsafe fn unmap(&self, offset: usize) -> Result<(), Error> {
        let mut mapped = self.mapped();
        let Some(len) = mapped.get(&offset).copied() else {
            return Err(Error::OutOfRange { offset, len: 0, size: self.len });
        };
        let start = self.range(offset, len)?;
        // SAFETY: the range is mapped; the caller promises that it is not in use.
        check("hsa_amd_vmem_unmap", unsafe { (self.memory.functions.unmap)(start, len) })?;
        mapped.remove(&offset);
        Ok(())
    }

    /// Unmaps all that is mapped.
    ///
    /// # Errors
    /// [`Error::Call`]; the rest stays mapped then.
    ///
    /// # Safety
    /// Nothing accesses the memory through these addresses any more.
    pub unsafe fn unmap_all(&self) -> Result<(), Error> {
        let mut mapped = self.mapped();
        while let Some((&offset, &len)) = mapped.first_key_value() {
            let start = self.range(offset, len)?;
            // SAFETY: the range is mapped; the caller promises that it is not in use.
            check("hsa_amd_vmem_unmap", unsafe { (self.memory.functions.unmap)(start, len) })?;
            mapped.pop_first();
        }
        Ok(())
    }

    /// Sets what `agents` may do with `len` mapped bytes at `offset`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::Call`].
    pub fn set_access(
        &self,
        offset: usize,
        len: usize,
        agents: &[Agent],
        access: Access,
    ) -> Result<(), Error> {
        let start = self.range(offset, len)?;
        let permissions = access.code();
        let descriptors: Vec<_> = agents
            .iter()
            .map(|agent| hsa_amd_memory_access_desc_t { permissions, agent_handle: agent.raw() })
            .collect();
        // SAFETY: the range lies in the reservation, and the array has the length given.
        let status = unsafe {
            (self.memory.functions.set_access)(start, len, descriptors.as_ptr(), descriptors.len())
        };
        check("hsa_amd_vmem_set_access", status)
    }

    fn range(&self, offset: usize, len: usize) -> Result<*mut c_void, Error> {
        match offset.checked_add(len) {
            Some(end) if end <= self.len => {
                // CAST: addresses of a 64-bit process.
                Ok(std::ptr::with_exposed_provenance_mut(self.address as usize + offset))
            }
            _ => Err(Error::OutOfRange { offset, len, size: self.len }),
        }
    }

    fn mapped(&self) -> MutexGuard<'_, BTreeMap<usize, usize>> {
        // The map changes only after the call that it records.
        self.mapped.lock()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let functions = self.memory.functions;
        let start: *mut u8 = std::ptr::with_exposed_provenance_mut(self.address as usize);
        for (offset, len) in std::mem::take(&mut *self.mapped()) {
            // SAFETY: the range is mapped, and its owner vouches that it is not in use. A failure leaves
            // nothing to do.
            let _ = unsafe { (functions.unmap)(start.wrapping_add(offset).cast(), len) };
        }
        // SAFETY: as above.
        let _ = unsafe { (functions.free)(start.cast(), self.len) };
    }
}
