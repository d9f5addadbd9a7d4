//! The HSA function table: the C face of the emulator.
//!
//! Every function that returns a status goes through [`entry!`]: handles are looked up, null pointers
//! are refused, and a panic becomes `HSA_STATUS_ERROR_FATAL`. Functions without a status (signal
//! operations, queue indices) look their handle up as well and do nothing, or return 0, if it is stale.
//!
//! Pointers that a program passes are trusted as far as HSA trusts them: a non-null output pointer has
//! room for the answer, a non-null input array has as many elements as the call says.

mod agent;
mod copy;
mod executable;
mod memory;
mod queue;
mod share;
mod signal;
mod status;
mod svm;
mod vmem;

use std::{
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
};

use hsa_sys::{
    Api, HSA_STATUS_ERROR_FATAL, HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_ERROR_NOT_SUPPORTED,
    HSA_STATUS_SUCCESS, hsa_dim3_t, hsa_status_t,
};

use crate::runtime;

/// Declares functions of the table that return a status.
macro_rules! entry {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => { $(
        $(#[$meta])*
        pub(super) unsafe extern "C" fn $name($($arg: $type),*) -> ::hsa_sys::hsa_status_t {
            $crate::hsa::guard(stringify!($name), || $body)
        }
    )* };
}
use entry;

/// Declares functions of the table that this device does not have.
macro_rules! unsupported {
    ($(fn $name:ident($($type:ty),* $(,)?);)*) => { $(
        pub(super) unsafe extern "C" fn $name($(_: $type),*) -> ::hsa_sys::hsa_status_t {
            $crate::hsa::not_supported(stringify!($name))
        }
    )* };
}
use unsupported;

/// Runs the body of a function of the table.
fn guard(name: &'static str, body: impl FnOnce() -> Result<(), hsa_status_t>) -> hsa_status_t {
    // What can be said once for all functions is not part of each.
    let Err(status) = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(HSA_STATUS_ERROR_FATAL)) else {
        return HSA_STATUS_SUCCESS;
    };
    tell(name, status);
    status
}

#[cold]
fn tell(name: &'static str, status: hsa_status_t) {
    if status == HSA_STATUS_ERROR_FATAL {
        tracing::error!(function = name, "internal error");
    } else {
        tracing::debug!(function = name, ?status, "refused");
    }
}

fn not_supported(name: &'static str) -> hsa_status_t {
    tracing::warn!(function = name, "not supported by the emulator");
    HSA_STATUS_ERROR_NOT_SUPPORTED
}

/// Stores a result through an output pointer of the program's.
///
/// # Errors
/// `INVALID_ARGUMENT` if it is null.
///
/// # Safety
/// A non-null `place` has room for a `T`.
unsafe fn store<T>(place: *mut T, value: T) -> Result<(), hsa_status_t> {
    if place.is_null() {
        return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: the caller's.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Refuses a null output pointer before anything is done that would have to be undone.
fn present<T>(place: *const T) -> Result<(), hsa_status_t> {
    if place.is_null() { Err(HSA_STATUS_ERROR_INVALID_ARGUMENT) } else { Ok(()) }
}

/// An input array of the program's.
///
/// # Errors
/// `INVALID_ARGUMENT` if it is null and has elements.
///
/// # Safety
/// A non-null `start` points to `count` elements that do not change during the call.
unsafe fn list<'a, T>(start: *const T, count: usize) -> Result<&'a [T], hsa_status_t> {
    if count == 0 {
        return Ok(&[]);
    }
    present(start)?;
    // SAFETY: the caller's.
    Ok(unsafe { std::slice::from_raw_parts(start, count) })
}

/// A string of the program's.
///
/// # Errors
/// `INVALID_ARGUMENT` if it is null or no UTF-8, which no name of ours is.
///
/// # Safety
/// A non-null `start` is a C string that does not change during the call.
unsafe fn text<'a>(start: *const std::ffi::c_char) -> Result<&'a str, hsa_status_t> {
    present(start)?;
    // SAFETY: the caller's.
    let text = unsafe { std::ffi::CStr::from_ptr(start) };
    text.to_str().map_err(|_| HSA_STATUS_ERROR_INVALID_ARGUMENT)
}

/// The value of an attribute, in the type that the header gives it.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Bool(bool),
    U16(u16),
    U32(u32),
    U64(u64),
    U16x3([u16; 3]),
    U32x4([u32; 4]),
    U64x4([u64; 4]),
    Pointers([*mut u32; 2]),
    Dim3(hsa_dim3_t),
    /// A string in an array of this length, the rest zeros; longer strings are cut.
    Text(String, usize),
    /// Characters without an end mark.
    Characters(String),
    Bytes(Vec<u8>),
}

impl Answer {
    /// The answer as it lies in memory.
    fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Bool(value) => vec![u8::from(value)],
            Self::U16(value) => value.to_ne_bytes().to_vec(),
            Self::U32(value) => value.to_ne_bytes().to_vec(),
            Self::U64(value) => value.to_ne_bytes().to_vec(),
            Self::U16x3(values) => values.into_iter().flat_map(u16::to_ne_bytes).collect(),
            Self::U32x4(values) => values.into_iter().flat_map(u32::to_ne_bytes).collect(),
            Self::U64x4(values) => values.into_iter().flat_map(u64::to_ne_bytes).collect(),
            Self::Pointers(values) => values.into_iter().flat_map(|p| (p as u64).to_ne_bytes()).collect(),
            Self::Dim3(sizes) => [sizes.x, sizes.y, sizes.z].into_iter().flat_map(u32::to_ne_bytes).collect(),
            Self::Text(text, length) => {
                let mut bytes = text.into_bytes();
                bytes.truncate(length.saturating_sub(1));
                bytes.resize(length, 0);
                bytes
            }
            Self::Characters(text) => text.into_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// Stores the answer where the program wants it.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if that is nowhere.
    ///
    /// # Safety
    /// A non-null `place` has room for it.
    unsafe fn give(self, place: *mut c_void) -> Result<(), hsa_status_t> {
        let bytes = self.into_bytes();
        present(place)?;
        // SAFETY: the caller's; the program's buffer is not one of ours.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast(), bytes.len()) };
        Ok(())
    }
}

entry! {
    fn hsa_init() {
        runtime::initialise()
    }

    fn hsa_shut_down() {
        runtime::shut_down()
    }
}

/// The function table of the emulator; the same for the whole process.
pub fn api() -> &'static Api {
    &TABLE
}

static TABLE: Api = Api {
    hsa_init,
    hsa_shut_down,
    hsa_status_string: status::hsa_status_string,
    hsa_system_get_info: agent::hsa_system_get_info,
    hsa_iterate_agents: agent::hsa_iterate_agents,
    hsa_agent_get_info: agent::hsa_agent_get_info,
    hsa_agent_iterate_isas: agent::hsa_agent_iterate_isas,
    hsa_isa_get_info_alt: agent::hsa_isa_get_info_alt,
    hsa_signal_create: signal::hsa_signal_create,
    hsa_signal_destroy: signal::hsa_signal_destroy,
    hsa_signal_load_scacquire: signal::hsa_signal_load_scacquire,
    hsa_signal_load_relaxed: signal::hsa_signal_load_relaxed,
    hsa_signal_store_relaxed: signal::hsa_signal_store_relaxed,
    hsa_signal_store_screlease: signal::hsa_signal_store_screlease,
    hsa_signal_silent_store_relaxed: signal::hsa_signal_silent_store_relaxed,
    hsa_signal_silent_store_screlease: signal::hsa_signal_silent_store_screlease,
    hsa_signal_exchange_scacq_screl: signal::hsa_signal_exchange_scacq_screl,
    hsa_signal_exchange_scacquire: signal::hsa_signal_exchange_scacquire,
    hsa_signal_exchange_relaxed: signal::hsa_signal_exchange_relaxed,
    hsa_signal_exchange_screlease: signal::hsa_signal_exchange_screlease,
    hsa_signal_cas_scacq_screl: signal::hsa_signal_cas_scacq_screl,
    hsa_signal_cas_scacquire: signal::hsa_signal_cas_scacquire,
    hsa_signal_cas_relaxed: signal::hsa_signal_cas_relaxed,
    hsa_signal_cas_screlease: signal::hsa_signal_cas_screlease,
    hsa_signal_add_scacq_screl: signal::hsa_signal_add_scacq_screl,
    hsa_signal_add_scacquire: signal::hsa_signal_add_scacquire,
    hsa_signal_add_relaxed: signal::hsa_signal_add_relaxed,
    hsa_signal_add_screlease: signal::hsa_signal_add_screlease,
    hsa_signal_subtract_scacq_screl: signal::hsa_signal_subtract_scacq_screl,
    hsa_signal_subtract_scacquire: signal::hsa_signal_subtract_scacquire,
    hsa_signal_subtract_relaxed: signal::hsa_signal_subtract_relaxed,
    hsa_signal_subtract_screlease: signal::hsa_signal_subtract_screlease,
    hsa_signal_and_scacq_screl: signal::hsa_signal_and_scacq_screl,
    hsa_signal_and_scacquire: signal::hsa_signal_and_scacquire,
    hsa_signal_and_relaxed: signal::hsa_signal_and_relaxed,
    hsa_signal_and_screlease: signal::hsa_signal_and_screlease,
    hsa_signal_or_scacq_screl: signal::hsa_signal_or_scacq_screl,
    hsa_signal_or_scacquire: signal::hsa_signal_or_scacquire,
    hsa_signal_or_relaxed: signal::hsa_signal_or_relaxed,
    hsa_signal_or_screlease: signal::hsa_signal_or_screlease,
    hsa_signal_xor_scacq_screl: signal::hsa_signal_xor_scacq_screl,
    hsa_signal_xor_scacquire: signal::hsa_signal_xor_scacquire,
    hsa_signal_xor_relaxed: signal::hsa_signal_xor_relaxed,
    hsa_signal_xor_screlease: signal::hsa_signal_xor_screlease,
    hsa_signal_wait_scacquire: signal::hsa_signal_wait_scacquire,
    hsa_signal_wait_relaxed: signal::hsa_signal_wait_relaxed,
    hsa_queue_create: queue::hsa_queue_create,
    hsa_queue_destroy: queue::hsa_queue_destroy,
    hsa_queue_inactivate: queue::hsa_queue_inactivate,
    hsa_queue_load_read_index_scacquire: queue::hsa_queue_load_read_index_scacquire,
    hsa_queue_load_read_index_relaxed: queue::hsa_queue_load_read_index_relaxed,
    hsa_queue_load_write_index_scacquire: queue::hsa_queue_load_write_index_scacquire,
    hsa_queue_load_write_index_relaxed: queue::hsa_queue_load_write_index_relaxed,
    hsa_queue_store_write_index_relaxed: queue::hsa_queue_store_write_index_relaxed,
    hsa_queue_store_write_index_screlease: queue::hsa_queue_store_write_index_screlease,
    hsa_queue_cas_write_index_scacq_screl: queue::hsa_queue_cas_write_index_scacq_screl,
    hsa_queue_cas_write_index_scacquire: queue::hsa_queue_cas_write_index_scacquire,
    hsa_queue_cas_write_index_relaxed: queue::hsa_queue_cas_write_index_relaxed,
    hsa_queue_cas_write_index_screlease: queue::hsa_queue_cas_write_index_screlease,
    hsa_queue_add_write_index_scacq_screl: queue::hsa_queue_add_write_index_scacq_screl,
    hsa_queue_add_write_index_scacquire: queue::hsa_queue_add_write_index_scacquire,
    hsa_queue_add_write_index_relaxed: queue::hsa_queue_add_write_index_relaxed,
    hsa_queue_add_write_index_screlease: queue::hsa_queue_add_write_index_screlease,
    hsa_queue_store_read_index_relaxed: queue::hsa_queue_store_read_index_relaxed,
    hsa_queue_store_read_index_screlease: queue::hsa_queue_store_read_index_screlease,
    hsa_memory_copy: memory::hsa_memory_copy,
    hsa_code_object_reader_create_from_memory: executable::hsa_code_object_reader_create_from_memory,
    hsa_code_object_reader_destroy: executable::hsa_code_object_reader_destroy,
    hsa_executable_create_alt: executable::hsa_executable_create_alt,
    hsa_executable_destroy: executable::hsa_executable_destroy,
    hsa_executable_load_agent_code_object: executable::hsa_executable_load_agent_code_object,
    hsa_executable_freeze: executable::hsa_executable_freeze,
    hsa_executable_validate: executable::hsa_executable_validate,
    hsa_executable_get_symbol_by_name: executable::hsa_executable_get_symbol_by_name,
    hsa_executable_symbol_get_info: executable::hsa_executable_symbol_get_info,
    hsa_executable_iterate_agent_symbols: executable::hsa_executable_iterate_agent_symbols,
    hsa_executable_agent_global_variable_define: executable::hsa_executable_agent_global_variable_define,
    hsa_amd_agent_iterate_memory_pools: memory::hsa_amd_agent_iterate_memory_pools,
    hsa_amd_memory_pool_get_info: memory::hsa_amd_memory_pool_get_info,
    hsa_amd_memory_pool_allocate: memory::hsa_amd_memory_pool_allocate,
    hsa_amd_memory_pool_free: memory::hsa_amd_memory_pool_free,
    hsa_amd_agent_memory_pool_get_info: memory::hsa_amd_agent_memory_pool_get_info,
    hsa_amd_agents_allow_access: memory::hsa_amd_agents_allow_access,
    hsa_amd_memory_lock: memory::hsa_amd_memory_lock,
    hsa_amd_memory_lock_to_pool: memory::hsa_amd_memory_lock_to_pool,
    hsa_amd_memory_unlock: memory::hsa_amd_memory_unlock,
    hsa_amd_memory_fill: memory::hsa_amd_memory_fill,
    hsa_amd_memory_async_copy: copy::hsa_amd_memory_async_copy,
    hsa_amd_memory_async_copy_rect: copy::hsa_amd_memory_async_copy_rect,
    hsa_amd_pointer_info: memory::hsa_amd_pointer_info,
    hsa_amd_pointer_info_set_userdata: memory::hsa_amd_pointer_info_set_userdata,
    hsa_amd_ipc_memory_create: share::hsa_amd_ipc_memory_create,
    hsa_amd_ipc_memory_attach: share::hsa_amd_ipc_memory_attach,
    hsa_amd_ipc_memory_detach: share::hsa_amd_ipc_memory_detach,
    hsa_amd_signal_create: signal::hsa_amd_signal_create,
    hsa_amd_signal_async_handler: signal::hsa_amd_signal_async_handler,
    hsa_amd_signal_wait_any: signal::hsa_amd_signal_wait_any,
    hsa_amd_ipc_signal_create: signal::hsa_amd_ipc_signal_create,
    hsa_amd_ipc_signal_attach: signal::hsa_amd_ipc_signal_attach,
    hsa_amd_profiling_set_profiler_enabled: queue::hsa_amd_profiling_set_profiler_enabled,
    hsa_amd_profiling_get_dispatch_time: signal::hsa_amd_profiling_get_dispatch_time,
    hsa_amd_profiling_async_copy_enable: signal::hsa_amd_profiling_async_copy_enable,
    hsa_amd_profiling_get_async_copy_time: signal::hsa_amd_profiling_get_async_copy_time,
    hsa_amd_profiling_convert_tick_to_system_domain: signal::hsa_amd_profiling_convert_tick_to_system_domain,
    hsa_amd_queue_set_priority: queue::hsa_amd_queue_set_priority,
    hsa_amd_queue_cu_set_mask: queue::hsa_amd_queue_cu_set_mask,
    hsa_amd_register_system_event_handler: signal::hsa_amd_register_system_event_handler,
    hsa_amd_memory_async_copy_on_engine: Some(copy::hsa_amd_memory_async_copy_on_engine),
    hsa_amd_memory_copy_engine_status: Some(copy::hsa_amd_memory_copy_engine_status),
    hsa_amd_memory_get_preferred_copy_engine: Some(copy::hsa_amd_memory_get_preferred_copy_engine),
    hsa_amd_svm_attributes_set: Some(svm::hsa_amd_svm_attributes_set),
    hsa_amd_svm_attributes_get: Some(svm::hsa_amd_svm_attributes_get),
    hsa_amd_svm_prefetch_async: Some(svm::hsa_amd_svm_prefetch_async),
    hsa_amd_vmem_address_reserve: Some(vmem::hsa_amd_vmem_address_reserve),
    hsa_amd_vmem_address_reserve_align: Some(vmem::hsa_amd_vmem_address_reserve_align),
    hsa_amd_vmem_address_free: Some(vmem::hsa_amd_vmem_address_free),
    hsa_amd_vmem_handle_create: Some(vmem::hsa_amd_vmem_handle_create),
    hsa_amd_vmem_handle_release: Some(vmem::hsa_amd_vmem_handle_release),
    hsa_amd_vmem_map: Some(vmem::hsa_amd_vmem_map),
    hsa_amd_vmem_unmap: Some(vmem::hsa_amd_vmem_unmap),
    hsa_amd_vmem_set_access: Some(vmem::hsa_amd_vmem_set_access),
    hsa_amd_vmem_get_access: Some(vmem::hsa_amd_vmem_get_access),
    hsa_amd_vmem_export_shareable_handle: Some(share::hsa_amd_vmem_export_shareable_handle),
    hsa_amd_vmem_import_shareable_handle: Some(share::hsa_amd_vmem_import_shareable_handle),
    hsa_amd_vmem_retain_alloc_handle: Some(vmem::hsa_amd_vmem_retain_alloc_handle),
    hsa_amd_vmem_get_alloc_properties_from_handle: Some(vmem::hsa_amd_vmem_get_alloc_properties_from_handle),
    hsa_amd_portable_export_dmabuf: Some(share::hsa_amd_portable_export_dmabuf),
    hsa_amd_portable_close_dmabuf: Some(share::hsa_amd_portable_close_dmabuf),
    hsa_amd_queue_get_info: Some(queue::hsa_amd_queue_get_info),
    hsa_amd_queue_create: Some(queue::hsa_amd_queue_create),
};
