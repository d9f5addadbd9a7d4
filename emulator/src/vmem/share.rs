//! Physical memory that leaves the process as a file descriptor, or came as one.

use std::{ffi::CString, os::fd::RawFd, sync::Arc};

use hsa_sys::{HSA_STATUS_ERROR_INVALID_ALLOCATION, HSA_STATUS_ERROR_OUT_OF_RESOURCES, hsa_status_t};

use super::{Physical, VirtualMemory, whole_pages};
use crate::{
    heap::Pool,
    os::{self, SharedMemory},
};

/// What the names of our files begin with.
const PREFIX: &str = "aqlipse-vmem";

/// The name of the file: it tells an importing process what memory it is.
pub(super) fn name(pool: Pool, kind: u32) -> CString {
    os::name_of(&format!("{PREFIX}.{:x}.{kind}", pool.handle()))
}

impl VirtualMemory {
    /// A descriptor of the memory behind a handle; a process that has it can import the memory.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if the handle is none, `OUT_OF_RESOURCES` if the process has no descriptor left, or none for
    /// this handle alone.
    pub(crate) fn export(&self, handle: u64) -> Result<RawFd, hsa_status_t> {
        let state = self.state.lock();
        let (physical, _) = state.handles.get(&handle).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        physical.memory.share().map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)
    }

    /// A handle for the memory behind a descriptor, which stays the caller's. What another process took from a GPU is
    /// that GPU's, if this process has such a one; anything else that cannot shrink counts as the host's.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if there is no such memory behind it.
    pub(crate) fn import(&self, descriptor: RawFd) -> Result<u64, hsa_status_t> {
        let memory = SharedMemory::import(descriptor).map_err(|_| HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        let size = memory.size();
        if size == 0 || !whole_pages(size as u64) {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        let name = memory.name();
        let (pool, kind) = match name.strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix('.')) {
            Some(rest) => self.parse(rest).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?,
            None => (Pool::HOST, 0),
        };
        // Its bytes were counted when it was made.
        Ok(self.add(Physical { memory: Arc::new(memory.into()), size, pool, kind, device: None }))
    }

    fn parse(&self, text: &str) -> Option<(Pool, u32)> {
        let (pool, kind) = text.split_once('.')?;
        let handle = u64::from_str_radix(pool, 16).ok()?;
        Some((Pool::find(handle, &self.devices)?, kind.parse().ok()?))
    }

    /// A descriptor of the memory that is mapped at `at..at + size`, and where in it the range begins.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` unless one mapping holds the range; `OUT_OF_RESOURCES` as for [`VirtualMemory::export`].
    pub(crate) fn export_range(&self, at: u64, size: u64) -> Result<(RawFd, u64), hsa_status_t> {
        let state = self.state.lock();
        let (start, range) = Self::range_at(&state, at).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        let end = at.checked_add(size).filter(|end| size > 0 && *end <= start + range.size as u64);
        end.ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        let descriptor = range.physical.memory.share().map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
        Ok((descriptor, range.from as u64 + (at - start)))
    }
}
