//! The function table: the seam between everything above and whatever device is below.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::NonNull;

use crate::amd::*;
use crate::status::hsa_status_t;
use crate::types::*;

/// Called for each agent; a status other than success stops the iteration and is returned from it.
pub type AgentCallback = Option<unsafe extern "C" fn(agent: hsa_agent_t, data: *mut c_void) -> hsa_status_t>;
/// Called for each instruction set of an agent.
pub type IsaCallback = Option<unsafe extern "C" fn(isa: hsa_isa_t, data: *mut c_void) -> hsa_status_t>;
/// Called for each memory pool of an agent.
pub type MemoryPoolCallback =
    Option<unsafe extern "C" fn(memory_pool: hsa_amd_memory_pool_t, data: *mut c_void) -> hsa_status_t>;
/// Called for each symbol of an executable that belongs to an agent.
pub type AgentSymbolCallback = Option<
    unsafe extern "C" fn(
        exec: hsa_executable_t,
        agent: hsa_agent_t,
        symbol: hsa_executable_symbol_t,
        data: *mut c_void,
    ) -> hsa_status_t,
>;
/// Allocates the list of agents that `hsa_amd_pointer_info` returns.
pub type PointerInfoAllocator = Option<unsafe extern "C" fn(size: usize) -> *mut c_void>;

/// A required function that a runtime library does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the HSA runtime has no function {name}")]
pub struct MissingFunction {
    /// The header's name of the function.
    pub name: &'static str,
}

/// One function of the table as it was declared, for the test that compares it with the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: &'static str,
    /// Rust types of the parameters, in order.
    pub parameters: &'static [&'static str],
    /// Rust type of the result, or an empty string.
    pub result: &'static str,
    /// Whether a table without it is complete.
    pub optional: bool,
}

macro_rules! result_name {
    () => {
        ""
    };
    ($result:ty) => {
        stringify!($result)
    };
}

/// Declares the table: a field, a symbol to resolve and a [`Function`] per line.
macro_rules! api {
    (
        required { $(fn $required:ident($($rp:ident: $rt:ty),* $(,)?) $(-> $rr:ty)?;)* }
        optional { $(fn $optional:ident($($op:ident: $ot:ty),* $(,)?) $(-> $or:ty)?;)* }
    ) => {
        /// The HSA functions that aqlipse calls, one field each.
        ///
        /// Filled from `libhsa-runtime64.so.1` by [`load`](crate::load), or by the emulator. Fields are
        /// required where ROCr 5.2.3 has the function and optional where only newer releases do, except for
        /// shared virtual memory, which a device need not offer. Preconditions of each call are those of HSA
        /// Runtime 1.2 and `hsa_ext_amd.h`.
        #[derive(Clone, Copy, Debug)]
        pub struct Api {
            $(pub $required: unsafe extern "C" fn($($rp: $rt),*) $(-> $rr)?,)*
            $(pub $optional: Option<unsafe extern "C" fn($($op: $ot),*) $(-> $or)?>,)*
        }

        impl Api {
            /// Every function of the table, required ones first.
            pub const FUNCTIONS: &'static [Function] = &[
                $(Function {
                    name: stringify!($required),
                    parameters: &[$(stringify!($rt)),*],
                    result: result_name!($($rr)?),
                    optional: false,
                },)*
                $(Function {
                    name: stringify!($optional),
                    parameters: &[$(stringify!($ot)),*],
                    result: result_name!($($or)?),
                    optional: true,
                },)*
            ];

            /// Fills a table by looking every function up by its name.
            ///
            /// # Errors
            /// [`MissingFunction`] for the first required name that `lookup` does not know.
            ///
            /// # Safety
            /// What `lookup` returns for a name is the address of a function with that name's signature in
            /// `hsa.h` or `hsa_ext_amd.h`, valid for as long as the table is used.
            pub unsafe fn from_lookup(
                mut lookup: impl FnMut(&'static str) -> Option<NonNull<c_void>>,
            ) -> Result<Self, MissingFunction> {
                Ok(Self {
                    $($required: {
                        let name = stringify!($required);
                        let address = lookup(name).ok_or(MissingFunction { name })?;
                        // SAFETY: the caller vouches that the address is a function of this field's
                        // signature.
                        unsafe {
                            core::mem::transmute::<
                                NonNull<c_void>,
                                unsafe extern "C" fn($($rp: $rt),*) $(-> $rr)?,
                            >(address)
                        }
                    },)*
                    $($optional: lookup(stringify!($optional)).map(|address| {
                        // SAFETY: the caller vouches that the address is a function of this field's
                        // signature.
                        unsafe {
                            core::mem::transmute::<
                                NonNull<c_void>,
                                unsafe extern "C" fn($($op: $ot),*) $(-> $or)?,
                            >(address)
                        }
                    }),)*
                })
            }
        }
    };
}

api! {
    required {
        // Runtime, system and agents.
        fn hsa_init() -> hsa_status_t;
        fn hsa_shut_down() -> hsa_status_t;
        fn hsa_status_string(status: hsa_status_t, status_string: *mut *const c_char) -> hsa_status_t;
        fn hsa_system_get_info(attribute: hsa_system_info_t, value: *mut c_void) -> hsa_status_t;
        fn hsa_iterate_agents(callback: AgentCallback, data: *mut c_void) -> hsa_status_t;
        fn hsa_agent_get_info(
            agent: hsa_agent_t, attribute: hsa_agent_info_t, value: *mut c_void,
        ) -> hsa_status_t;
        fn hsa_agent_iterate_isas(
            agent: hsa_agent_t, callback: IsaCallback, data: *mut c_void,
        ) -> hsa_status_t;
        fn hsa_isa_get_info_alt(
            isa: hsa_isa_t, attribute: hsa_isa_info_t, value: *mut c_void,
        ) -> hsa_status_t;
        // Signals.
        fn hsa_signal_create(
            initial_value: hsa_signal_value_t, num_consumers: u32, consumers: *const hsa_agent_t,
            signal: *mut hsa_signal_t,
        ) -> hsa_status_t;
        fn hsa_signal_destroy(signal: hsa_signal_t) -> hsa_status_t;
        fn hsa_signal_load_scacquire(signal: hsa_signal_t) -> hsa_signal_value_t;
        fn hsa_signal_load_relaxed(signal: hsa_signal_t) -> hsa_signal_value_t;
        fn hsa_signal_store_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_store_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_silent_store_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_silent_store_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_exchange_scacq_screl(
            signal: hsa_signal_t, value: hsa_signal_value_t,
        ) -> hsa_signal_value_t;
        fn hsa_signal_exchange_scacquire(
            signal: hsa_signal_t, value: hsa_signal_value_t,
        ) -> hsa_signal_value_t;
        fn hsa_signal_exchange_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
        fn hsa_signal_exchange_screlease(
            signal: hsa_signal_t, value: hsa_signal_value_t,
        ) -> hsa_signal_value_t;
        fn hsa_signal_cas_scacq_screl(
            signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t,
        ) -> hsa_signal_value_t;
        fn hsa_signal_cas_scacquire(
            signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t,
        ) -> hsa_signal_value_t;
        fn hsa_signal_cas_relaxed(
            signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t,
        ) -> hsa_signal_value_t;
        fn hsa_signal_cas_screlease(
            signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t,
        ) -> hsa_signal_value_t;
        fn hsa_signal_add_scacq_screl(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_add_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_add_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_add_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_subtract_scacq_screl(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_subtract_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_subtract_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_subtract_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_and_scacq_screl(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_and_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_and_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_and_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_or_scacq_screl(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_or_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_or_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_or_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_xor_scacq_screl(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_xor_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_xor_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_xor_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
        fn hsa_signal_wait_scacquire(
            signal: hsa_signal_t, condition: hsa_signal_condition_t, compare_value: hsa_signal_value_t,
            timeout_hint: u64, wait_state_hint: hsa_wait_state_t,
        ) -> hsa_signal_value_t;
        fn hsa_signal_wait_relaxed(
            signal: hsa_signal_t, condition: hsa_signal_condition_t, compare_value: hsa_signal_value_t,
            timeout_hint: u64, wait_state_hint: hsa_wait_state_t,
        ) -> hsa_signal_value_t;
        // Queues.
        fn hsa_queue_create(
            agent: hsa_agent_t, size: u32, type_: hsa_queue_type32_t, callback: QueueErrorCallback,
            data: *mut c_void, private_segment_size: u32, group_segment_size: u32,
            queue: *mut *mut hsa_queue_t,
        ) -> hsa_status_t;
        fn hsa_queue_destroy(queue: *mut hsa_queue_t) -> hsa_status_t;
        fn hsa_queue_inactivate(queue: *mut hsa_queue_t) -> hsa_status_t;
        fn hsa_queue_load_read_index_scacquire(queue: *const hsa_queue_t) -> u64;
        fn hsa_queue_load_read_index_relaxed(queue: *const hsa_queue_t) -> u64;
        fn hsa_queue_load_write_index_scacquire(queue: *const hsa_queue_t) -> u64;
        fn hsa_queue_load_write_index_relaxed(queue: *const hsa_queue_t) -> u64;
        fn hsa_queue_store_write_index_relaxed(queue: *const hsa_queue_t, value: u64);
        fn hsa_queue_store_write_index_screlease(queue: *const hsa_queue_t, value: u64);
        fn hsa_queue_cas_write_index_scacq_screl(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64;
        fn hsa_queue_cas_write_index_scacquire(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64;
        fn hsa_queue_cas_write_index_relaxed(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64;
        fn hsa_queue_cas_write_index_screlease(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64;
        fn hsa_queue_add_write_index_scacq_screl(queue: *const hsa_queue_t, value: u64) -> u64;
        fn hsa_queue_add_write_index_scacquire(queue: *const hsa_queue_t, value: u64) -> u64;
        fn hsa_queue_add_write_index_relaxed(queue: *const hsa_queue_t, value: u64) -> u64;
        fn hsa_queue_add_write_index_screlease(queue: *const hsa_queue_t, value: u64) -> u64;
        fn hsa_queue_store_read_index_relaxed(queue: *const hsa_queue_t, value: u64);
        fn hsa_queue_store_read_index_screlease(queue: *const hsa_queue_t, value: u64);
        // Memory.
        fn hsa_memory_copy(dst: *mut c_void, src: *const c_void, size: usize) -> hsa_status_t;
        // Code objects and executables.
        fn hsa_code_object_reader_create_from_memory(
            code_object: *const c_void, size: usize, code_object_reader: *mut hsa_code_object_reader_t,
        ) -> hsa_status_t;
        fn hsa_code_object_reader_destroy(code_object_reader: hsa_code_object_reader_t) -> hsa_status_t;
        fn hsa_executable_create_alt(
            profile: hsa_profile_t, default_float_rounding_mode: hsa_default_float_rounding_mode_t,
            options: *const c_char, executable: *mut hsa_executable_t,
        ) -> hsa_status_t;
        fn hsa_executable_destroy(executable: hsa_executable_t) -> hsa_status_t;
        fn hsa_executable_load_agent_code_object(
            executable: hsa_executable_t, agent: hsa_agent_t, code_object_reader: hsa_code_object_reader_t,
            options: *const c_char, loaded_code_object: *mut hsa_loaded_code_object_t,
        ) -> hsa_status_t;
        fn hsa_executable_freeze(executable: hsa_executable_t, options: *const c_char) -> hsa_status_t;
        fn hsa_executable_validate(executable: hsa_executable_t, result: *mut u32) -> hsa_status_t;
        fn hsa_executable_get_symbol_by_name(
            executable: hsa_executable_t, symbol_name: *const c_char, agent: *const hsa_agent_t,
            symbol: *mut hsa_executable_symbol_t,
        ) -> hsa_status_t;
        fn hsa_executable_symbol_get_info(
            executable_symbol: hsa_executable_symbol_t, attribute: hsa_executable_symbol_info_t,
            value: *mut c_void,
        ) -> hsa_status_t;
        fn hsa_executable_iterate_agent_symbols(
            executable: hsa_executable_t, agent: hsa_agent_t, callback: AgentSymbolCallback,
            data: *mut c_void,
        ) -> hsa_status_t;
        fn hsa_executable_agent_global_variable_define(
            executable: hsa_executable_t, agent: hsa_agent_t, variable_name: *const c_char,
            address: *mut c_void,
        ) -> hsa_status_t;
        // AMD: memory pools.
        fn hsa_amd_agent_iterate_memory_pools(
            agent: hsa_agent_t, callback: MemoryPoolCallback, data: *mut c_void,
        ) -> hsa_status_t;
        fn hsa_amd_memory_pool_get_info(
            memory_pool: hsa_amd_memory_pool_t, attribute: hsa_amd_memory_pool_info_t, value: *mut c_void,
        ) -> hsa_status_t;
        fn hsa_amd_memory_pool_allocate(
            memory_pool: hsa_amd_memory_pool_t, size: usize, flags: u32, ptr: *mut *mut c_void,
        ) -> hsa_status_t;
        fn hsa_amd_memory_pool_free(ptr: *mut c_void) -> hsa_status_t;
        fn hsa_amd_agent_memory_pool_get_info(
            agent: hsa_agent_t, memory_pool: hsa_amd_memory_pool_t,
            attribute: hsa_amd_agent_memory_pool_info_t, value: *mut c_void,
        ) -> hsa_status_t;
        fn hsa_amd_agents_allow_access(
            num_agents: u32, agents: *const hsa_agent_t, flags: *const u32, ptr: *const c_void,
        ) -> hsa_status_t;
        fn hsa_amd_memory_lock(
            host_ptr: *mut c_void, size: usize, agents: *mut hsa_agent_t, num_agent: c_int,
            agent_ptr: *mut *mut c_void,
        ) -> hsa_status_t;
        fn hsa_amd_memory_lock_to_pool(
            host_ptr: *mut c_void, size: usize, agents: *mut hsa_agent_t, num_agent: c_int,
            pool: hsa_amd_memory_pool_t, flags: u32, agent_ptr: *mut *mut c_void,
        ) -> hsa_status_t;
        fn hsa_amd_memory_unlock(host_ptr: *mut c_void) -> hsa_status_t;
        fn hsa_amd_memory_fill(ptr: *mut c_void, value: u32, count: usize) -> hsa_status_t;
        fn hsa_amd_memory_async_copy(
            dst: *mut c_void, dst_agent: hsa_agent_t, src: *const c_void, src_agent: hsa_agent_t, size: usize,
            num_dep_signals: u32, dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t,
        ) -> hsa_status_t;
        fn hsa_amd_memory_async_copy_rect(
            dst: *const hsa_pitched_ptr_t, dst_offset: *const hsa_dim3_t, src: *const hsa_pitched_ptr_t,
            src_offset: *const hsa_dim3_t, range: *const hsa_dim3_t, copy_agent: hsa_agent_t,
            dir: hsa_amd_copy_direction_t, num_dep_signals: u32, dep_signals: *const hsa_signal_t,
            completion_signal: hsa_signal_t,
        ) -> hsa_status_t;
        fn hsa_amd_pointer_info(
            ptr: *const c_void, info: *mut hsa_amd_pointer_info_t, alloc: PointerInfoAllocator,
            num_agents_accessible: *mut u32, accessible: *mut *mut hsa_agent_t,
        ) -> hsa_status_t;
        fn hsa_amd_pointer_info_set_userdata(ptr: *const c_void, userdata: *mut c_void) -> hsa_status_t;
        fn hsa_amd_ipc_memory_create(
            ptr: *mut c_void, len: usize, handle: *mut hsa_amd_ipc_memory_t,
        ) -> hsa_status_t;
        fn hsa_amd_ipc_memory_attach(
            handle: *const hsa_amd_ipc_memory_t, len: usize, num_agents: u32,
            mapping_agents: *const hsa_agent_t, mapped_ptr: *mut *mut c_void,
        ) -> hsa_status_t;
        fn hsa_amd_ipc_memory_detach(mapped_ptr: *mut c_void) -> hsa_status_t;
        // AMD: signals, profiling, queues and events.
        fn hsa_amd_signal_create(
            initial_value: hsa_signal_value_t, num_consumers: u32, consumers: *const hsa_agent_t,
            attributes: u64, signal: *mut hsa_signal_t,
        ) -> hsa_status_t;
        fn hsa_amd_signal_async_handler(
            signal: hsa_signal_t, cond: hsa_signal_condition_t, value: hsa_signal_value_t,
            handler: hsa_amd_signal_handler, arg: *mut c_void,
        ) -> hsa_status_t;
        fn hsa_amd_signal_wait_any(
            signal_count: u32, signals: *mut hsa_signal_t, conds: *mut hsa_signal_condition_t,
            values: *mut hsa_signal_value_t, timeout_hint: u64, wait_hint: hsa_wait_state_t,
            satisfying_value: *mut hsa_signal_value_t,
        ) -> u32;
        fn hsa_amd_ipc_signal_create(signal: hsa_signal_t, handle: *mut hsa_amd_ipc_signal_t) -> hsa_status_t;
        fn hsa_amd_ipc_signal_attach(
            handle: *const hsa_amd_ipc_signal_t, signal: *mut hsa_signal_t,
        ) -> hsa_status_t;
        fn hsa_amd_profiling_set_profiler_enabled(queue: *mut hsa_queue_t, enable: c_int) -> hsa_status_t;
        fn hsa_amd_profiling_get_dispatch_time(
            agent: hsa_agent_t, signal: hsa_signal_t, time: *mut hsa_amd_profiling_dispatch_time_t,
        ) -> hsa_status_t;
        fn hsa_amd_profiling_async_copy_enable(enable: bool) -> hsa_status_t;
        fn hsa_amd_profiling_get_async_copy_time(
            signal: hsa_signal_t, time: *mut hsa_amd_profiling_async_copy_time_t,
        ) -> hsa_status_t;
        fn hsa_amd_profiling_convert_tick_to_system_domain(
            agent: hsa_agent_t, agent_tick: u64, system_tick: *mut u64,
        ) -> hsa_status_t;
        fn hsa_amd_queue_set_priority(
            queue: *mut hsa_queue_t, priority: hsa_amd_queue_priority_t,
        ) -> hsa_status_t;
        fn hsa_amd_queue_cu_set_mask(
            queue: *const hsa_queue_t, num_cu_mask_count: u32, cu_mask: *const u32,
        ) -> hsa_status_t;
        fn hsa_amd_register_system_event_handler(
            callback: hsa_amd_system_event_callback_t, data: *mut c_void,
        ) -> hsa_status_t;
    }
    optional {
        // Copy engines.
        fn hsa_amd_memory_async_copy_on_engine(
            dst: *mut c_void, dst_agent: hsa_agent_t, src: *const c_void, src_agent: hsa_agent_t, size: usize,
            num_dep_signals: u32, dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t,
            engine_id: hsa_amd_sdma_engine_id_t, force_copy_on_sdma: bool,
        ) -> hsa_status_t;
        fn hsa_amd_memory_copy_engine_status(
            dst_agent: hsa_agent_t, src_agent: hsa_agent_t, engine_ids_mask: *mut u32,
        ) -> hsa_status_t;
        fn hsa_amd_memory_get_preferred_copy_engine(
            dst_agent: hsa_agent_t, src_agent: hsa_agent_t, recommended_ids_mask: *mut u32,
        ) -> hsa_status_t;
        // Shared virtual memory.
        fn hsa_amd_svm_attributes_set(
            ptr: *mut c_void, size: usize, attribute_list: *mut hsa_amd_svm_attribute_pair_t,
            attribute_count: usize,
        ) -> hsa_status_t;
        fn hsa_amd_svm_attributes_get(
            ptr: *mut c_void, size: usize, attribute_list: *mut hsa_amd_svm_attribute_pair_t,
            attribute_count: usize,
        ) -> hsa_status_t;
        fn hsa_amd_svm_prefetch_async(
            ptr: *mut c_void, size: usize, agent: hsa_agent_t, num_dep_signals: u32,
            dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t,
        ) -> hsa_status_t;
        // Virtual memory.
        fn hsa_amd_vmem_address_reserve(
            va: *mut *mut c_void, size: usize, address: u64, flags: u64,
        ) -> hsa_status_t;
        fn hsa_amd_vmem_address_reserve_align(
            va: *mut *mut c_void, size: usize, address: u64, alignment: u64, flags: u64,
        ) -> hsa_status_t;
        fn hsa_amd_vmem_address_free(va: *mut c_void, size: usize) -> hsa_status_t;
        fn hsa_amd_vmem_handle_create(
            pool: hsa_amd_memory_pool_t, size: usize, type_: hsa_amd_memory_type_t, flags: u64,
            memory_handle: *mut hsa_amd_vmem_alloc_handle_t,
        ) -> hsa_status_t;
        fn hsa_amd_vmem_handle_release(memory_handle: hsa_amd_vmem_alloc_handle_t) -> hsa_status_t;
        fn hsa_amd_vmem_map(
            va: *mut c_void, size: usize, in_offset: usize, memory_handle: hsa_amd_vmem_alloc_handle_t,
            flags: u64,
        ) -> hsa_status_t;
        fn hsa_amd_vmem_unmap(va: *mut c_void, size: usize) -> hsa_status_t;
        fn hsa_amd_vmem_set_access(
            va: *mut c_void, size: usize, desc: *const hsa_amd_memory_access_desc_t, desc_cnt: usize,
        ) -> hsa_status_t;
        fn hsa_amd_vmem_get_access(
            va: *mut c_void, perms: *mut hsa_access_permission_t, agent_handle: hsa_agent_t,
        ) -> hsa_status_t;
        fn hsa_amd_vmem_export_shareable_handle(
            dmabuf_fd: *mut c_int, handle: hsa_amd_vmem_alloc_handle_t, flags: u64,
        ) -> hsa_status_t;
        fn hsa_amd_vmem_import_shareable_handle(
            dmabuf_fd: c_int, handle: *mut hsa_amd_vmem_alloc_handle_t,
        ) -> hsa_status_t;
        fn hsa_amd_vmem_retain_alloc_handle(
            memory_handle: *mut hsa_amd_vmem_alloc_handle_t, addr: *mut c_void,
        ) -> hsa_status_t;
        fn hsa_amd_vmem_get_alloc_properties_from_handle(
            memory_handle: hsa_amd_vmem_alloc_handle_t, pool: *mut hsa_amd_memory_pool_t,
            type_: *mut hsa_amd_memory_type_t,
        ) -> hsa_status_t;
        // Sharing and queue queries.
        fn hsa_amd_portable_export_dmabuf(
            ptr: *const c_void, size: usize, dmabuf: *mut c_int, offset: *mut u64,
        ) -> hsa_status_t;
        fn hsa_amd_portable_close_dmabuf(dmabuf: c_int) -> hsa_status_t;
        fn hsa_amd_queue_get_info(
            queue: *mut hsa_queue_t, attribute: hsa_queue_info_attribute_t, value: *mut c_void,
        ) -> hsa_status_t;
        fn hsa_amd_queue_create(
            agent: hsa_agent_t, descs: *mut hsa_amd_queue_create_desc_t, num_descs: u32,
        ) -> hsa_status_t;
    }
}
