//! Memory pools, locked host memory, and what is known about pointers.

use std::ffi::{c_int, c_void};

use hsa_sys::*;

use super::{Answer, entry, list, present, store};
use crate::{
    agent::Agent,
    copy,
    heap::{Kind, Pool},
    os::{PAGE, hidden},
    runtime::{self, Runtime},
    uninit,
};

fn find_pool(runtime: &Runtime, pool: hsa_amd_memory_pool_t) -> Result<Pool, hsa_status_t> {
    Pool::find(pool.handle, &runtime.devices).ok_or(HSA_STATUS_ERROR_INVALID_MEMORY_POOL)
}

/// Whether a list of agents names the host; an empty one means all GPUs.
fn names_host(runtime: &Runtime, agents: &[hsa_agent_t]) -> bool {
    agents.iter().any(|agent| runtime.agent(*agent).is_some_and(|agent| agent.gpu().is_none()))
}

/// The GPUs among a list of agents; an empty list means all.
pub(super) fn gpus(runtime: &Runtime, agents: &[hsa_agent_t]) -> Result<u32, hsa_status_t> {
    if agents.is_empty() {
        return Ok(runtime.all_gpus());
    }
    agents.iter().try_fold(0, |set, agent| {
        let agent = runtime.agent(*agent).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        Ok(set | agent.gpu().map_or(0, |gpu| 1 << gpu))
    })
}

fn lock(
    range: (*mut c_void, usize),
    agents: (*const hsa_agent_t, c_int),
    pool: Option<hsa_amd_memory_pool_t>,
    agent_ptr: *mut *mut c_void,
) -> Result<(), hsa_status_t> {
    let runtime = runtime::get()?;
    present(agent_ptr)?;
    let count = usize::try_from(agents.1).map_err(|_| HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
    if agents.0.is_null() != (count == 0) {
        return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    let pool = match pool {
        Some(pool) => find_pool(&runtime, pool)?,
        None => Pool::HOST,
    };
    if pool.gpu().is_some() {
        return Err(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    }
    // SAFETY: the program's input array.
    let gpus = gpus(&runtime, unsafe { list(agents.0, count) }?)?;
    runtime.heap.lock_range(range.0 as u64, range.1 as u64, gpus, pool)?;
    // SAFETY: the program's output pointer. Devices use the host's addresses.
    unsafe { store(agent_ptr, range.0) }
}

/// Whether the program may name `size` bytes from `start` for `agent`: the host may be given any
/// address, a GPU only memory that the runtime knows.
pub(super) fn may_name(runtime: &Runtime, agent: Agent, start: u64, size: usize) -> bool {
    let svm = || runtime.svm_of_hardware();
    agent.gpu().is_none()
        || is_known(runtime, start, size)
        || svm().is_some_and(|svm| svm.knows(start, size as u64))
}

/// Whether the runtime gave the memory, or locked it.
fn is_known(runtime: &Runtime, start: u64, size: usize) -> bool {
    let size = size as u64;
    runtime.heap.backing(start, size).is_some()
        || runtime.heap.is_locked(start, size)
        || runtime.vmem.covers(start, size)
        || runtime.executables.holds(start, size)
}

entry! {
    fn hsa_amd_agent_iterate_memory_pools(
        agent: hsa_agent_t,
        callback: MemoryPoolCallback,
        data: *mut c_void,
    ) {
        let runtime = runtime::get()?;
        let agent = runtime.agent(agent).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        for pool in Pool::of(agent) {
            // SAFETY: the program's callback, called with its own argument.
            let status = unsafe { callback(hsa_amd_memory_pool_t { handle: pool.handle() }, data) };
            if status != HSA_STATUS_SUCCESS {
                return Err(status);
            }
        }
        Ok(())
    }

    fn hsa_amd_memory_pool_get_info(
        memory_pool: hsa_amd_memory_pool_t,
        attribute: hsa_amd_memory_pool_info_t,
        value: *mut c_void,
    ) {
        let runtime = runtime::get()?;
        let pool = find_pool(&runtime, memory_pool)?;
        let global = pool.kind != Kind::Group;
        let answer = match attribute {
            HSA_AMD_MEMORY_POOL_INFO_SEGMENT if global => Answer::U32(HSA_AMD_SEGMENT_GLOBAL.0),
            HSA_AMD_MEMORY_POOL_INFO_SEGMENT => Answer::U32(HSA_AMD_SEGMENT_GROUP.0),
            HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS => Answer::U32(pool.flags()),
            HSA_AMD_MEMORY_POOL_INFO_SIZE => Answer::U64(pool.size(&runtime.devices)),
            HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED => Answer::Bool(global),
            HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE
            | HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT
            | HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE => {
                Answer::U64(if global { PAGE as u64 } else { 0 })
            }
            HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL => Answer::Bool(pool.gpu().is_none()),
            HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE if global => Answer::U64(pool.size(&runtime.devices)),
            HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE => Answer::U64(0),
            HSA_AMD_MEMORY_POOL_INFO_LOCATION => Answer::U32(match pool.gpu() {
                None => HSA_AMD_MEMORY_POOL_LOCATION_CPU.0,
                Some(_) => HSA_AMD_MEMORY_POOL_LOCATION_GPU.0,
            }),
            _ => return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
        };
        // SAFETY: the program's output pointer has room for the attribute.
        unsafe { answer.give(value) }
    }

    fn hsa_amd_agent_memory_pool_get_info(
        agent: hsa_agent_t,
        memory_pool: hsa_amd_memory_pool_t,
        attribute: hsa_amd_agent_memory_pool_info_t,
        value: *mut c_void,
    ) {
        let runtime = runtime::get()?;
        let agent = runtime.agent(agent).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        let pool = find_pool(&runtime, memory_pool)?;
        let own = agent == pool.owner;
        match attribute {
            HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS => {
                let of_host = agent.gpu().is_none();
                let access = match (own || of_host && pool.gpu().is_none(), pool.kind) {
                    (true, _) => HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT,
                    (false, Kind::Group) => HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED,
                    (false, _) if of_host && !runtime.hardware().reaches_devices() => {
                        HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED
                    }
                    (false, _) => HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT,
                };
                // SAFETY: the program's output pointer.
                unsafe { store(value.cast(), access) }
            }
            // SAFETY: the program's output pointer.
            HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS => unsafe { store(value.cast(), u32::from(!own)) },
            HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO if own => present(value),
            HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO => {
                let atomics = !runtime.hardware().no_atomics;
                let link = hsa_amd_memory_pool_link_info_t {
                    min_latency: 0,
                    max_latency: 0,
                    min_bandwidth: 0,
                    max_bandwidth: 0,
                    atomic_support_32bit: atomics,
                    atomic_support_64bit: atomics,
                    coherent_support: true,
                    link_type: HSA_AMD_LINK_INFO_TYPE_PCIE,
                    numa_distance: runtime.hardware().distance(agent, pool.owner),
                };
                // SAFETY: the program's output pointer; there is one hop.
                unsafe { store(value.cast(), link) }
            }
            _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
        }
    }

    fn hsa_amd_memory_pool_allocate(
        memory_pool: hsa_amd_memory_pool_t,
        size: usize,
        flags: u32,
        ptr: *mut *mut c_void,
    ) {
        let runtime = runtime::get()?;
        present(ptr)?;
        let pool = find_pool(&runtime, memory_pool)?;
        let uncached = flags & HSA_AMD_MEMORY_POOL_UNCACHED_FLAG.0 != 0;
        let base = runtime.heap.allocate(if uncached { pool.uncached() } else { pool }, size)?;
        // SAFETY: the program's output pointer.
        unsafe { store(ptr, base as *mut c_void) }
    }

    fn hsa_amd_memory_pool_free(ptr: *mut c_void) {
        runtime::get()?.heap.free(ptr as u64)
    }

    fn hsa_amd_agents_allow_access(
        num_agents: u32,
        agents: *const hsa_agent_t,
        flags: *const u32,
        ptr: *const c_void,
    ) {
        let runtime = runtime::get()?;
        if num_agents == 0 || !flags.is_null() {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        present(ptr)?;
        // SAFETY: the program's input array.
        let agents = unsafe { list(agents, num_agents as usize) }?;
        runtime.heap.set_access(ptr as u64, gpus(&runtime, agents)?, names_host(&runtime, agents))
    }

    fn hsa_amd_memory_lock(
        host_ptr: *mut c_void,
        size: usize,
        agents: *mut hsa_agent_t,
        num_agent: c_int,
        agent_ptr: *mut *mut c_void,
    ) {
        lock((host_ptr, size), (agents, num_agent), None, agent_ptr)
    }

    fn hsa_amd_memory_lock_to_pool(
        host_ptr: *mut c_void,
        size: usize,
        agents: *mut hsa_agent_t,
        num_agent: c_int,
        pool: hsa_amd_memory_pool_t,
        _flags: u32,
        agent_ptr: *mut *mut c_void,
    ) {
        lock((host_ptr, size), (agents, num_agent), Some(pool), agent_ptr)
    }

    fn hsa_amd_memory_unlock(host_ptr: *mut c_void) {
        runtime::get()?.heap.unlock_range(host_ptr as u64)
    }

    fn hsa_memory_copy(dst: *mut c_void, src: *const c_void, size: usize) {
        runtime::get()?;
        if size == 0 {
            return Ok(());
        }
        present(dst)?;
        present(src)?;
        // SAFETY: the program's ranges, both of `size` bytes.
        unsafe { copy::copy(dst as u64, src as u64, size) };
        Ok(())
    }

    fn hsa_amd_memory_fill(ptr: *mut c_void, value: u32, count: usize) {
        let runtime = runtime::get()?;
        present(ptr)?;
        if count == 0 {
            return Ok(());
        }
        let bytes = count.checked_mul(4).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let start = ptr as u64;
        let shared = || runtime.svm_of_hardware().is_some_and(|svm| svm.knows(start, bytes as u64));
        let paged = || {
            let end = start.checked_add(bytes as u64).filter(|_| shared());
            end.is_some_and(|end| runtime.devices[0].map.reaches(start, end, true))
        };
        if !start.is_multiple_of(4) || !(is_known(&runtime, start, bytes) || paged()) {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        // Held so that the block cannot vanish under the fill.
        let _backing = runtime.heap.backing(start, bytes as u64);
        uninit::shadow().fill(start, bytes as u64);
        // SAFETY: the range is memory that the runtime knows or a device may write, aligned for u32.
        unsafe { std::slice::from_raw_parts_mut(hidden::at(start).cast::<u32>(), count) }.fill(value);
        Ok(())
    }

    fn hsa_amd_pointer_info(
        ptr: *const c_void,
        info: *mut hsa_amd_pointer_info_t,
        alloc: PointerInfoAllocator,
        num_agents_accessible: *mut u32,
        accessible: *mut *mut hsa_agent_t,
    ) {
        let runtime = runtime::get()?;
        present(ptr)?;
        present(info)?;
        let known = describe(&runtime, ptr as u64);
        // SAFETY: the program's structure, at least its first member.
        let room = unsafe { (&raw const (*info).size).read_unaligned() } as usize;
        let size = room.min(size_of::<hsa_amd_pointer_info_t>());
        if size < size_of::<u32>() * 2 {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        // CAST: at most 56.
        let answer = hsa_amd_pointer_info_t { size: size as u32, ..known.info };
        // SAFETY: the program said that its structure has `room` bytes, of which we fill at most so many.
        unsafe { std::ptr::copy_nonoverlapping((&raw const answer).cast::<u8>(), info.cast(), size) };
        give_agents(&runtime, known.access, alloc, num_agents_accessible, accessible)
    }

    fn hsa_amd_pointer_info_set_userdata(ptr: *const c_void, userdata: *mut c_void) {
        let runtime = runtime::get()?;
        present(ptr)?;
        runtime.heap.set_user_data(ptr as u64, userdata as u64)
    }
}

struct Description {
    info: hsa_amd_pointer_info_t,
    /// `None`: the address is unknown.
    access: Option<u32>,
}

fn describe(runtime: &Runtime, address: u64) -> Description {
    let mut info = hsa_amd_pointer_info_t {
        size: 0,
        type_: HSA_EXT_POINTER_TYPE_UNKNOWN,
        agentBaseAddress: std::ptr::null_mut(),
        hostBaseAddress: std::ptr::null_mut(),
        sizeInBytes: 0,
        userData: std::ptr::null_mut(),
        agentOwner: hsa_agent_t { handle: 0 },
        global_flags: 0,
        registered: false,
    };
    let owner = |pool: Pool| pool.owner.handle();
    if let Some(known) = runtime.heap.find(address) {
        info.type_ = match (known.locked, known.attached) {
            (true, _) => HSA_EXT_POINTER_TYPE_LOCKED,
            (_, true) => HSA_EXT_POINTER_TYPE_IPC,
            _ => HSA_EXT_POINTER_TYPE_HSA,
        };
        info.agentBaseAddress = known.base as *mut c_void;
        if known.open {
            info.hostBaseAddress = known.base as *mut c_void;
        }
        info.sizeInBytes = known.size as usize;
        info.userData = known.user_data as *mut c_void;
        info.agentOwner = owner(known.pool);
        info.global_flags = known.pool.flags();
        return Description { info, access: Some(known.access) };
    }
    let Some(known) = runtime.vmem.find(address) else { return Description { info, access: None } };
    info.type_ = HSA_EXT_POINTER_TYPE_RESERVED_ADDR;
    info.agentBaseAddress = known.base as *mut c_void;
    info.sizeInBytes = known.size as usize;
    if let Some(pool) = known.pool {
        info.type_ = HSA_EXT_POINTER_TYPE_HSA_VMEM;
        if known.open {
            info.hostBaseAddress = known.base as *mut c_void;
        }
        info.agentOwner = owner(pool);
        info.global_flags = pool.flags();
    }
    Description { info, access: Some(known.access) }
}

/// Lists the agents that may touch an allocation, in memory from the program's allocator.
fn give_agents(
    runtime: &Runtime,
    access: Option<u32>,
    alloc: PointerInfoAllocator,
    count: *mut u32,
    place: *mut *mut hsa_agent_t,
) -> Result<(), hsa_status_t> {
    let (Some(alloc), false, false) = (alloc, count.is_null(), place.is_null()) else { return Ok(()) };
    let mut agents = Vec::new();
    if let Some(access) = access {
        let reaches = |agent: &Agent| agent.gpu().is_none_or(|gpu| access & (1 << gpu) != 0);
        agents.extend(runtime.agents().filter(reaches).map(Agent::handle));
    }
    let mut array: *mut hsa_agent_t = std::ptr::null_mut();
    if !agents.is_empty() {
        // SAFETY: the program's allocator.
        array = unsafe { alloc(size_of_val(agents.as_slice())) }.cast();
        if array.is_null() {
            return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        }
        // SAFETY: the array was just allocated with room for them.
        unsafe { std::ptr::copy_nonoverlapping(agents.as_ptr(), array, agents.len()) };
    }
    // SAFETY: the program's output pointers.
    unsafe {
        store(count, agents.len() as u32)?;
        store(place, array)
    }
}
