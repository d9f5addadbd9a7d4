//! Memory of other processes: handles for allocations, file descriptors for ranges.

use std::fmt;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;

use hsa_sys::*;

use crate::agent::{Agent, count, handles};
use crate::error::{Error, check};
use crate::runtime::Runtime;

/// Names an allocation to other processes of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryHandle(pub [u32; 8]);

impl Runtime {
    /// A handle for the allocation of a GPU's memory that starts at `address` and has `len` bytes, as
    /// [`Runtime::pointer_info`] says.
    ///
    /// # Errors
    /// [`Error::Call`], for instance if no allocation starts there or the driver cannot share it.
    pub fn export_memory(&self, address: u64, len: usize) -> Result<MemoryHandle, Error> {
        let mut handle = hsa_amd_ipc_memory_t { handle: [0; 8] };
        // CAST: addresses of a 64-bit process.
        let start = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the address is looked up, and `handle` has room for the answer.
        let status = unsafe { (self.api().hsa_amd_ipc_memory_create)(start, len, &raw mut handle) };
        check("hsa_amd_ipc_memory_create", status)?;
        Ok(MemoryHandle(handle.handle))
    }

    /// Maps the allocation of `len` bytes behind a handle, at a new address for each call, for `agents`.
    ///
    /// # Errors
    /// [`Error::Call`], for instance if the allocation is gone.
    pub fn attach_memory(
        self: &Arc<Self>,
        handle: MemoryHandle,
        len: usize,
        agents: &[Agent],
    ) -> Result<Attachment, Error> {
        let raw = hsa_amd_ipc_memory_t { handle: handle.0 };
        let agents = handles(agents);
        let mut address = std::ptr::null_mut();
        // SAFETY: the handle is copied, the array has the length given, and `address` has room for the answer.
        let status = unsafe {
            (self.api().hsa_amd_ipc_memory_attach)(
                &raw const raw,
                len,
                count(agents.len()),
                agents.as_ptr(),
                &raw mut address,
            )
        };
        check("hsa_amd_ipc_memory_attach", status)?;
        Ok(Attachment { runtime: Arc::clone(self), address: address.expose_provenance() as u64, len })
    }

    /// A dma-buf descriptor of the memory behind `address..address + len`, and where in it the range begins.
    ///
    /// # Errors
    /// [`Error::Call`] unless one allocation that can be exported holds the range; [`Error::Unsupported`].
    pub fn export_range(&self, address: u64, len: usize) -> Result<(OwnedFd, u64), Error> {
        const NAME: &str = "hsa_amd_portable_export_dmabuf";
        let export =
            self.api().hsa_amd_portable_export_dmabuf.ok_or(Error::Unsupported { function: NAME })?;
        let (mut descriptor, mut offset) = (-1, 0);
        let start = std::ptr::without_provenance(address as usize);
        // SAFETY: the address is looked up, and the outputs have room for the answers.
        check(NAME, unsafe { export(start, len, &raw mut descriptor, &raw mut offset) })?;
        // SAFETY: the runtime has opened it for the caller.
        Ok((unsafe { OwnedFd::from_raw_fd(descriptor) }, offset))
    }
}

/// Another process's memory, mapped here until this is dropped.
#[must_use = "a dropped attachment is unmapped"]
pub struct Attachment {
    runtime: Arc<Runtime>,
    address: u64,
    len: usize,
}

impl Attachment {
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
}

impl Drop for Attachment {
    fn drop(&mut self) {
        // CAST: addresses of a 64-bit process.
        let start = std::ptr::with_exposed_provenance_mut(self.address as usize);
        // SAFETY: it was attached there, and its owner vouches that no agent still uses it.
        let _ = unsafe { (self.runtime.api().hsa_amd_ipc_memory_detach)(start) };
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attachment({:#x}, {} bytes)", self.address, self.len)
    }
}
