//! Memory that was allocated elsewhere: pinning, lookup, fills and copies.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use hsa_sys::*;

use crate::agent::{Agent, count, handles};
use crate::error::{Error, check};
use crate::ledger::{Entry, Resource};
use crate::locks::Kind;
use crate::pool::Pool;
use crate::queue::store_fence;
use crate::runtime::Runtime;
use crate::signal::Signal;

/// Host memory that agents can reach, released when it is dropped.
#[must_use = "dropped memory is unlocked"]
pub struct Pinned {
    runtime: Arc<Runtime>,
    host: *mut u8,
    agent_address: u64,
    len: usize,
    /// What tells it from other locks of the same memory.
    kind: Kind,
    _entry: Entry,
}

// SAFETY: `host` is only handed back to the runtime, whose functions may be called from any thread.
unsafe impl Send for Pinned {}
// SAFETY: shared references only read the addresses.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Where agents find the memory.
    pub fn agent_address(&self) -> u64 {
        self.agent_address
    }

    /// Where the host finds it.
    pub fn host(&self) -> *mut u8 {
        self.host
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.runtime.unlock(self.host, &self.kind, true);
    }
}

impl fmt::Debug for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pinned({:p} as {:#x}, {} bytes)", self.host, self.agent_address, self.len)
    }
}

/// What the runtime knows about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerInfo {
    /// `HSA_EXT_POINTER_TYPE_*`.
    pub kind: hsa_amd_pointer_type_t,
    /// Start of the allocation as agents see it.
    pub agent_base: u64,
    /// Start of the allocation as the host sees it, or 0.
    pub host_base: u64,
    /// Bytes of the allocation.
    pub len: usize,
    /// Agent whose memory it is.
    pub owner: hsa_agent_t,
    /// `HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_*` bits of the pool.
    pub flags: u32,
    /// What [`Runtime::set_user_data`] left there.
    pub user_data: usize,
}

/// Waits until what this thread has stored to a device's memory, through a window of PCIe, is there: a load from the
/// device is answered behind all stores that were made before (PCI Express Base 6.0, 2.4.1). Before the load the
/// processor's write-combining buffers are emptied.
///
/// # Safety
/// The host may read the byte at `address`, which is among the last that it stored there.
pub unsafe fn read_back(address: u64) {
    store_fence();
    // SAFETY: the caller's promise.
    let _ = unsafe { std::ptr::with_exposed_provenance::<u8>(address as usize).read_volatile() };
    // ORDER: acquire. What is stored from here on, doorbells too, is stored behind the load.
    fence(Ordering::Acquire);
}

impl Runtime {
    /// Makes host memory accessible to `agents` (all, if there are none), in `pool` if one is given.
    ///
    /// # Errors
    /// [`Error::Call`]: `HSA_STATUS_ERROR_OUT_OF_RESOURCES` if the memory cannot be pinned.
    ///
    /// # Safety
    /// The `len` bytes at `host` stay mapped until the result is dropped.
    pub unsafe fn lock(
        self: &Arc<Self>,
        host: *mut u8,
        len: usize,
        agents: &[Agent],
        pool: Option<&Pool>,
    ) -> Result<Pinned, Error> {
        let mut agents = handles(agents);
        let reached = agents.iter().map(|agent| agent.handle).chain(pool.map(|pool| pool.raw().handle));
        let kind: Kind = (len, reached.collect());
        self.locks().taken(host.addr(), kind.clone());
        let number = i32::try_from(agents.len()).unwrap_or(i32::MAX);
        // ABI: "all agents" is a null array, not an empty one.
        let array = if agents.is_empty() { std::ptr::null_mut() } else { agents.as_mut_ptr() };
        let mut agent_address = std::ptr::null_mut();
        let (function, status) = match pool {
            None => {
                // SAFETY: the array has the length given, and the memory is mapped as the caller promises.
                let status = unsafe {
                    (self.api().hsa_amd_memory_lock)(host.cast(), len, array, number, &raw mut agent_address)
                };
                ("hsa_amd_memory_lock", status)
            }
            Some(pool) => {
                // SAFETY: as above.
                let status = unsafe {
                    (self.api().hsa_amd_memory_lock_to_pool)(
                        host.cast(),
                        len,
                        array,
                        number,
                        pool.raw(),
                        0,
                        &raw mut agent_address,
                    )
                };
                ("hsa_amd_memory_lock_to_pool", status)
            }
        };
        check(function, status).inspect_err(|_| self.unlock(host, &kind, false))?;
        let agent_address = agent_address.expose_provenance() as u64;
        // CAST: a 64-bit process.
        let entry = Entry::new(self.ledger(), Resource::Locked, 0, len as u64);
        Ok(Pinned { runtime: Arc::clone(self), host, agent_address, len, kind, _entry: entry })
    }

    /// Lets go of a lock, which `made` says has come to be.
    fn unlock(&self, host: *mut u8, kind: &Kind, made: bool) {
        let mut locks = self.locks();
        // Before another thread can lock the address anew: that lock might go instead.
        for _ in 0..locks.released(host.addr(), kind, made) {
            // SAFETY: the memory was locked at this address, and the owner of the lock vouches that no agent still
            // uses it.
            let _ = unsafe { (self.api().hsa_amd_memory_unlock)(host.cast()) };
        }
    }

    /// Looks up which allocation an address belongs to; `None` if the runtime does not know it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn pointer_info(&self, address: u64) -> Result<Option<PointerInfo>, Error> {
        let mut info = hsa_amd_pointer_info_t {
            // CAST: 56 bytes.
            size: size_of::<hsa_amd_pointer_info_t>() as u32,
            type_: HSA_EXT_POINTER_TYPE_UNKNOWN,
            agentBaseAddress: std::ptr::null_mut(),
            hostBaseAddress: std::ptr::null_mut(),
            sizeInBytes: 0,
            userData: std::ptr::null_mut(),
            agentOwner: hsa_agent_t::default(),
            global_flags: 0,
            registered: false,
        };
        // SAFETY: `info` says its own size, and the other results are optional. The address is only looked
        // up.
        let status = unsafe {
            (self.api().hsa_amd_pointer_info)(
                std::ptr::without_provenance(address as usize),
                &raw mut info,
                None,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        };
        check("hsa_amd_pointer_info", status)?;
        if info.type_ == HSA_EXT_POINTER_TYPE_UNKNOWN {
            return Ok(None);
        }
        Ok(Some(PointerInfo {
            kind: info.type_,
            agent_base: info.agentBaseAddress.addr() as u64,
            host_base: info.hostBaseAddress.addr() as u64,
            len: info.sizeInBytes,
            owner: info.agentOwner,
            flags: info.global_flags,
            user_data: info.userData.addr(),
        }))
    }

    /// Leaves a number at the allocation that `address` starts, for [`Runtime::pointer_info`] to return.
    ///
    /// # Errors
    /// [`Error::Call`] if no allocation starts there.
    pub fn set_user_data(&self, address: u64, user_data: usize) -> Result<(), Error> {
        // SAFETY: both are numbers to the runtime: the address is looked up, the data stored.
        let status = unsafe {
            (self.api().hsa_amd_pointer_info_set_userdata)(
                std::ptr::without_provenance(address as usize),
                std::ptr::without_provenance_mut(user_data),
            )
        };
        check("hsa_amd_pointer_info_set_userdata", status)
    }

    /// Copies `len` bytes, and returns when they are there.
    ///
    /// # Errors
    /// [`Error::Call`].
    ///
    /// # Safety
    /// Both ranges exist and are not written meanwhile; the host can reach them, or the runtime allocated
    /// them.
    pub unsafe fn copy(&self, to: u64, from: u64, len: usize) -> Result<(), Error> {
        let to = std::ptr::with_exposed_provenance_mut(to as usize);
        let from = std::ptr::with_exposed_provenance(from as usize);
        // SAFETY: the caller's promise.
        check("hsa_memory_copy", unsafe { (self.api().hsa_memory_copy)(to, from, len) })
    }

    /// Stores `value` in `count` words of 32 bits, and returns when they are there.
    ///
    /// # Errors
    /// [`Error::Call`].
    ///
    /// # Safety
    /// The words exist, the runtime allocated them, and nothing accesses them meanwhile.
    pub unsafe fn fill(&self, address: u64, value: u32, count: usize) -> Result<(), Error> {
        let address = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the caller's promise.
        check("hsa_amd_memory_fill", unsafe { (self.api().hsa_amd_memory_fill)(address, value, count) })
    }

    /// Copies `len` bytes by a copy engine, if the runtime has one for the two agents, after all `deps` have become 0, and decrements `completion`
    /// afterwards.
    ///
    /// # Errors
    /// [`Error::Call`].
    ///
    /// # Safety
    /// Both ranges exist and are accessible to their agents, and nothing writes them, until `completion` is
    /// decremented; the signals live until then.
    pub unsafe fn copy_async(
        &self,
        to: (u64, &Agent),
        from: (u64, &Agent),
        len: usize,
        deps: &[&Signal],
        completion: &Signal,
    ) -> Result<(), Error> {
        let deps: Vec<_> = deps.iter().map(|signal| signal.handle()).collect();
        // ABI: no dependencies are a null array.
        let array = if deps.is_empty() { std::ptr::null() } else { deps.as_ptr() };
        // SAFETY: the array has the length given; the rest is the caller's promise.
        let status = unsafe {
            (self.api().hsa_amd_memory_async_copy)(
                std::ptr::with_exposed_provenance_mut(to.0 as usize),
                to.1.raw(),
                std::ptr::with_exposed_provenance(from.0 as usize),
                from.1.raw(),
                len,
                count(deps.len()),
                array,
                completion.handle(),
            )
        };
        check("hsa_amd_memory_async_copy", status)
    }

    /// Has copies say from now on when they ran ([`Signal::copy_time`]).
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn profile_copies(&self) -> Result<(), Error> {
        // SAFETY: the runtime is initialised as long as `self` exists.
        let status = unsafe { (self.api().hsa_amd_profiling_async_copy_enable)(true) };
        check("hsa_amd_profiling_async_copy_enable", status)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::{Runtime, fake};

    #[test]
    fn a_lock_that_ends_leaves_others_of_the_same_address() {
        let runtime = Runtime::new(fake::api()).unwrap();
        let mut memory = [0u8; 300];
        let host = memory.as_mut_ptr();
        // SAFETY: the memory outlives the locks, and no agent uses it.
        let lock = |len| unsafe { runtime.lock(host, len, &[], None) };
        let short = lock(100).unwrap();
        let long = lock(300).unwrap();
        assert_eq!(lock(1).unwrap_err().status(), Some(hsa_sys::HSA_STATUS_ERROR_OUT_OF_RESOURCES));
        drop(short);
        assert!(fake::locked(host).contains(&300), "the longer one is still held");
        drop(long);
        assert!(fake::locked(host).is_empty());
        let again = lock(100).unwrap();
        assert_eq!(fake::locked(host), [100]);
        drop(again);
        assert!(fake::locked(host).is_empty());
    }
}
