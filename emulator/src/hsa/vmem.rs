//! Virtual memory: reservations, handles, mappings, access.

use std::ffi::c_void;

use hsa_sys::*;

use super::{entry, list, present, store};
use crate::{heap::Pool, runtime, vmem::Permission};

fn permission(permission: hsa_access_permission_t) -> Option<Permission> {
    match permission {
        HSA_ACCESS_PERMISSION_NONE => Some(Permission::None),
        HSA_ACCESS_PERMISSION_RO => Some(Permission::Read),
        // Memory that can be written but not read does not exist on the cards either.
        HSA_ACCESS_PERMISSION_WO | HSA_ACCESS_PERMISSION_RW => Some(Permission::ReadWrite),
        _ => None,
    }
}

fn reserve(va: *mut *mut c_void, size: usize, alignment: u64, wish: u64) -> Result<(), hsa_status_t> {
    let runtime = runtime::get()?;
    present(va)?;
    let base = runtime.vmem.reserve(size, alignment, wish)?;
    // SAFETY: the program's output pointer.
    unsafe { store(va, base as *mut c_void) }
}

entry! {
    fn hsa_amd_vmem_address_reserve(va: *mut *mut c_void, size: usize, address: u64, _flags: u64) {
        reserve(va, size, 0, address)
    }

    fn hsa_amd_vmem_address_reserve_align(
        va: *mut *mut c_void,
        size: usize,
        address: u64,
        alignment: u64,
        _flags: u64,
    ) {
        reserve(va, size, alignment, address)
    }

    fn hsa_amd_vmem_address_free(va: *mut c_void, size: usize) {
        runtime::get()?.vmem.free(va as u64, size)
    }

    fn hsa_amd_vmem_handle_create(
        pool: hsa_amd_memory_pool_t,
        size: usize,
        type_: hsa_amd_memory_type_t,
        _flags: u64,
        memory_handle: *mut hsa_amd_vmem_alloc_handle_t,
    ) {
        let runtime = runtime::get()?;
        present(memory_handle)?;
        let pool = Pool::find(pool.handle, &runtime.devices).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        if type_.0 > MEMORY_TYPE_PINNED.0 {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let handle = runtime.vmem.create(pool, size, type_.0)?;
        // SAFETY: the program's output pointer.
        unsafe { store(memory_handle, hsa_amd_vmem_alloc_handle_t { handle }) }
    }

    fn hsa_amd_vmem_handle_release(memory_handle: hsa_amd_vmem_alloc_handle_t) {
        runtime::get()?.vmem.release(memory_handle.handle)
    }

    fn hsa_amd_vmem_map(
        va: *mut c_void,
        size: usize,
        in_offset: usize,
        memory_handle: hsa_amd_vmem_alloc_handle_t,
        _flags: u64,
    ) {
        runtime::get()?.vmem.map(va as u64, size, in_offset, memory_handle.handle)
    }

    fn hsa_amd_vmem_unmap(va: *mut c_void, size: usize) {
        runtime::get()?.vmem.unmap(va as u64, size)
    }

    fn hsa_amd_vmem_set_access(
        va: *mut c_void,
        size: usize,
        desc: *const hsa_amd_memory_access_desc_t,
        desc_cnt: usize,
    ) {
        let runtime = runtime::get()?;
        if desc_cnt == 0 {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        // SAFETY: the program's input array.
        let wishes = unsafe { list(desc, desc_cnt) }?
            .iter()
            .map(|wish| {
                let agent = runtime.agent(wish.agent_handle).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
                let permission = permission(wish.permissions).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
                Ok((agent.gpu(), permission))
            })
            .collect::<Result<Vec<_>, hsa_status_t>>()?;
        runtime.vmem.set_access(va as u64, size, &wishes)
    }

    fn hsa_amd_vmem_get_access(
        va: *mut c_void,
        perms: *mut hsa_access_permission_t,
        agent_handle: hsa_agent_t,
    ) {
        let runtime = runtime::get()?;
        let agent = runtime.agent(agent_handle).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        let permission = match runtime.vmem.access(va as u64, agent.gpu())? {
            Permission::None => HSA_ACCESS_PERMISSION_NONE,
            Permission::Read => HSA_ACCESS_PERMISSION_RO,
            Permission::ReadWrite => HSA_ACCESS_PERMISSION_RW,
        };
        // SAFETY: the program's output pointer.
        unsafe { store(perms, permission) }
    }

    fn hsa_amd_vmem_retain_alloc_handle(memory_handle: *mut hsa_amd_vmem_alloc_handle_t, addr: *mut c_void) {
        let runtime = runtime::get()?;
        present(memory_handle)?;
        let handle = runtime.vmem.retain(addr as u64)?;
        // SAFETY: the program's output pointer.
        unsafe { store(memory_handle, hsa_amd_vmem_alloc_handle_t { handle }) }
    }

    fn hsa_amd_vmem_get_alloc_properties_from_handle(
        memory_handle: hsa_amd_vmem_alloc_handle_t,
        pool: *mut hsa_amd_memory_pool_t,
        type_: *mut hsa_amd_memory_type_t,
    ) {
        let runtime = runtime::get()?;
        let (of, kind) = runtime.vmem.properties(memory_handle.handle)?;
        // SAFETY: the program's output pointers.
        unsafe {
            store(pool, hsa_amd_memory_pool_t { handle: of.handle() })?;
            store(type_, hsa_amd_memory_type_t(kind))
        }
    }
}
