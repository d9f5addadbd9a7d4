//! Memory that several processes use: handles of allocations, and file descriptors.

use std::ffi::{c_int, c_void};

use hsa_sys::*;

use super::{entry, list, memory::gpus, present, store};
use crate::runtime;

entry! {
    fn hsa_amd_ipc_memory_create(ptr: *mut c_void, len: usize, handle: *mut hsa_amd_ipc_memory_t) {
        let runtime = runtime::get()?;
        present(handle)?;
        let words = runtime.heap.export(ptr as u64, len as u64)?;
        // SAFETY: the program's output pointer.
        unsafe { store(handle, hsa_amd_ipc_memory_t { handle: words }) }
    }

    fn hsa_amd_ipc_memory_attach(
        handle: *const hsa_amd_ipc_memory_t,
        len: usize,
        num_agents: u32,
        mapping_agents: *const hsa_agent_t,
        mapped_ptr: *mut *mut c_void,
    ) {
        let runtime = runtime::get()?;
        present(handle)?;
        present(mapped_ptr)?;
        // SAFETY: the program's input structure and array.
        let (words, agents) =
            unsafe { (handle.read_unaligned().handle, list(mapping_agents, num_agents as usize)?) };
        let gpus = gpus(&runtime, agents).map_err(|_| HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let base = runtime.heap.attach(words, len as u64, gpus)?;
        // SAFETY: the program's output pointer.
        unsafe { store(mapped_ptr, base as *mut c_void) }
    }

    fn hsa_amd_ipc_memory_detach(mapped_ptr: *mut c_void) {
        runtime::get()?.heap.detach(mapped_ptr as u64)
    }

    fn hsa_amd_vmem_export_shareable_handle(
        dmabuf_fd: *mut c_int,
        handle: hsa_amd_vmem_alloc_handle_t,
        _flags: u64,
    ) {
        let runtime = runtime::get()?;
        present(dmabuf_fd)?;
        let descriptor = runtime.vmem.export(handle.handle)?;
        // SAFETY: the program's output pointer.
        unsafe { store(dmabuf_fd, descriptor) }
    }

    fn hsa_amd_vmem_import_shareable_handle(dmabuf_fd: c_int, handle: *mut hsa_amd_vmem_alloc_handle_t) {
        let runtime = runtime::get()?;
        present(handle)?;
        let imported = runtime.vmem.import(dmabuf_fd)?;
        // SAFETY: the program's output pointer.
        unsafe { store(handle, hsa_amd_vmem_alloc_handle_t { handle: imported }) }
    }

    fn hsa_amd_portable_export_dmabuf(
        ptr: *const c_void,
        size: usize,
        dmabuf: *mut c_int,
        offset: *mut u64,
    ) {
        let runtime = runtime::get()?;
        present(ptr)?;
        present(dmabuf)?;
        present(offset)?;
        if runtime.heap.backing(ptr as u64, size as u64).is_some() {
            // A descriptor of the store would give away all other allocations with this one.
            return Err(HSA_STATUS_ERROR_INVALID_AGENT);
        }
        let (descriptor, at) = runtime.vmem.export_range(ptr as u64, size as u64)?;
        // SAFETY: the program's output pointers.
        unsafe {
            store(dmabuf, descriptor)?;
            store(offset, at)
        }
    }

    fn hsa_amd_portable_close_dmabuf(dmabuf: c_int) {
        runtime::get()?;
        // SAFETY: the program gives its descriptor up; a number that is none is refused by the kernel.
        if unsafe { libc::close(dmabuf) } == 0 { Ok(()) } else { Err(HSA_STATUS_ERROR_RESOURCE_FREE) }
    }
}
