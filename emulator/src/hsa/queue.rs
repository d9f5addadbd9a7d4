//! Queues and their indices.

use std::{
    ffi::{c_int, c_void},
    sync::{
        Arc,
        atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release},
    },
};

use hsa_sys::*;

use super::{entry, list, present, store};
use crate::{
    agent::Agent,
    device::{MAX_QUEUE_SIZE, MIN_QUEUE_SIZE},
    heap::{Kind, Pool},
    memory::{Allocation, Grain},
    queue::{Block, ErrorCallback, Queue, Ring, State},
    runtime::{self, Runtime},
};

fn find(queue: *const hsa_queue_t) -> Result<Arc<Queue>, hsa_status_t> {
    Queue::find(queue).ok_or(HSA_STATUS_ERROR_INVALID_QUEUE)
}

/// The GPU whose queues an agent's are.
fn gpu(runtime: &Runtime, agent: hsa_agent_t) -> Result<u32, hsa_status_t> {
    let agent = runtime.agent(agent).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
    agent.gpu().ok_or(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION)
}

/// Where a ring is to lie.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    System,
    Device,
}

/// Makes a queue that is served from now on.
fn make(
    runtime: &Runtime,
    gpu: u32,
    size: u32,
    type_: u32,
    callback: ErrorCallback,
    place: Place,
) -> Result<Arc<Queue>, hsa_status_t> {
    if !size.is_power_of_two() || !(MIN_QUEUE_SIZE..=MAX_QUEUE_SIZE).contains(&size) {
        return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    if type_ > HSA_QUEUE_TYPE_COOPERATIVE.0 {
        return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    let ring = match place {
        Place::System => {
            let ring = Ring::in_system_memory(size).ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
            if let Ring::System(mapping) = &ring {
                let (start, end) = (mapping.address(), mapping.address() + mapping.size() as u64);
                let backing: Arc<dyn Send + Sync> = Arc::clone(mapping) as _;
                let grain = Grain::Fine;
                let memory =
                    Allocation { start, end, writable: true, grain, socket: None, backing: Some(backing) };
                runtime.devices[gpu as usize].map.insert(memory);
            }
            ring
        }
        Place::Device => {
            // Programs find no pool for it, as on these cards, but the packet processor needs what passes by caches.
            let (pool, bytes) =
                (Pool { owner: Agent::Gpu(gpu), kind: Kind::Fine }, size as usize * PACKET_BYTES);
            let base = runtime.heap.allocate(pool, bytes)?;
            if let Err(status) = runtime.heap.set_access(base, 1 << gpu, true) {
                let _ = runtime.heap.free(base);
                return Err(status);
            }
            let backing = runtime.heap.backing(base, bytes as u64).ok_or(HSA_STATUS_ERROR)?;
            Ring::Device(base, backing)
        }
    };
    if let Some(made) = Queue::create(gpu, size, type_, callback, ring.clone()) {
        if runtime.processors[gpu as usize].attach(&made) {
            return Ok(made);
        }
        made.retire();
        made.release();
    }
    forget(runtime, gpu, &ring);
    Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES)
}

/// Takes a ring's memory out of its device's map; it is freed when nothing uses it any more.
fn forget(runtime: &Runtime, gpu: u32, ring: &Ring) {
    match ring {
        Ring::System(mapping) => {
            runtime.devices[gpu as usize].map.remove(mapping.address());
        }
        Ring::Device(base, backing) => {
            // A program that has freed the block itself may have another one there.
            if runtime.heap.backing(*base, 1).is_some_and(|now| Arc::ptr_eq(&now, backing)) {
                let _ = runtime.heap.free(*base);
            }
        }
    }
}

/// Makes the queue that a descriptor of `hsa_amd_queue_create` describes.
fn described(
    runtime: &Runtime,
    gpu: u32,
    descriptor: &hsa_amd_queue_create_desc_t,
) -> Result<Arc<Queue>, hsa_status_t> {
    let hsa_amd_queue_create_desc_t { flags, engine, .. } = descriptor;
    let (in_ring, in_descriptor) = (
        HSA_AMD_QUEUE_CREATE_DEVICE_MEM_RING_BUF.0 as u16,
        HSA_AMD_QUEUE_CREATE_DEVICE_MEM_QUEUE_DESCRIPTOR.0 as u16,
    );
    let reserved = descriptor.reserved_header.iter().chain(&descriptor.reserved);
    if descriptor.version != HSA_AMD_QUEUE_CREATE_DESC_VERSION
        || reserved.copied().any(|byte| byte != 0)
        || descriptor.traffic_class != 0
        || descriptor.priority.0 > HSA_AMD_QUEUE_PRIORITY_HIGH.0
        || u32::from(descriptor.engine_type) > HSA_AMD_QUEUE_ENGINE_AIE.0
        || flags & !(in_ring | in_descriptor) != 0
    {
        return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    // There are no queues for copies, and a descriptor in device memory is nothing for devices behind PCIe.
    if u32::from(descriptor.engine_type) != HSA_AMD_QUEUE_ENGINE_COMPUTE.0 || flags & in_descriptor != 0 {
        return Err(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
    }
    if !descriptor.queue_size_bytes.is_multiple_of(PACKET_BYTES as u32)
        || !engine.cu_mask_count.is_multiple_of(32)
        || engine.reserved != [0; 3]
    {
        return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: the program's input array of so many bits.
    let mask = unsafe { list(engine.cu_mask, engine.cu_mask_count as usize / 32) }?;
    let callback = ErrorCallback { function: descriptor.callback, data: descriptor.callback_data };
    let size = descriptor.queue_size_bytes / PACKET_BYTES as u32;
    let place = if flags & in_ring != 0 { Place::Device } else { Place::System };
    let made = make(runtime, gpu, size, engine.type_, callback, place)?;
    made.set_priority(descriptor.priority.0);
    if restrict(runtime, &made, mask).is_err() {
        end(runtime, &made)?;
        return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    Ok(made)
}

/// Restricts a queue to the compute units of a mask; to none of them is an error, as nothing would ever run.
fn restrict(runtime: &Runtime, queue: &Queue, mask: &[u32]) -> Result<(), hsa_status_t> {
    let units = runtime.devices[queue.device as usize].compute_units;
    if queue.set_cu_mask(mask, units) { Ok(()) } else { Err(HSA_STATUS_ERROR_INVALID_ARGUMENT) }
}

/// Ends a queue of the function table.
fn end(runtime: &Runtime, queue: &Queue) -> Result<(), hsa_status_t> {
    let ring = queue.table().ok_or(HSA_STATUS_ERROR_INVALID_QUEUE)?.ring();
    if !queue.retire() {
        return Err(HSA_STATUS_ERROR_INVALID_QUEUE);
    }
    runtime.processors[queue.device as usize].detach(queue);
    forget(runtime, queue.device, ring);
    queue.release();
    Ok(())
}

entry! {
    fn hsa_queue_create(
        agent: hsa_agent_t,
        size: u32,
        type_: u32,
        callback: QueueErrorCallback,
        data: *mut c_void,
        _private_segment_size: u32,
        _group_segment_size: u32,
        queue: *mut *mut hsa_queue_t,
    ) {
        let runtime = runtime::get()?;
        let gpu = gpu(&runtime, agent)?;
        present(queue)?;
        let made = make(&runtime, gpu, size, type_, ErrorCallback { function: callback, data }, Place::System)?;
        // SAFETY: the program's output pointer.
        unsafe { store(queue, made.pointer()) }
    }

    fn hsa_amd_queue_create(agent: hsa_agent_t, descs: *mut hsa_amd_queue_create_desc_t, num_descs: u32) {
        let runtime = runtime::get()?;
        let gpu = gpu(&runtime, agent)?;
        present(descs)?;
        if num_descs == 0 {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let mut outcome = Ok(());
        for at in 0..num_descs as usize {
            let place = descs.wrapping_add(at);
            // SAFETY: the program's array of so many descriptors.
            let made = described(&runtime, gpu, &unsafe { place.read_unaligned() });
            let pointer = made.as_ref().map_or(std::ptr::null_mut(), |queue| queue.pointer());
            // SAFETY: as above; its output field.
            unsafe { (&raw mut (*place).queue).write_unaligned(pointer) };
            outcome = outcome.and(made.map(|_| ()));
        }
        outcome
    }

    fn hsa_queue_destroy(queue: *mut hsa_queue_t) {
        let runtime = runtime::get()?;
        end(&runtime, &*find(queue)?)
    }

    fn hsa_queue_inactivate(queue: *mut hsa_queue_t) {
        let runtime = runtime::get()?;
        let queue = find(queue)?;
        queue.stop(State::Inactive);
        runtime.processors[queue.device as usize].abort(&queue);
        Ok(())
    }

    fn hsa_amd_profiling_set_profiler_enabled(queue: *mut hsa_queue_t, enable: c_int) {
        runtime::get()?;
        find(queue)?;
        let block = Block::find(queue).ok_or(HSA_STATUS_ERROR_INVALID_QUEUE)?;
        block.set_profiled(enable != 0);
        Ok(())
    }

    fn hsa_amd_queue_set_priority(queue: *mut hsa_queue_t, priority: hsa_amd_queue_priority_t) {
        runtime::get()?;
        let queue = find(queue)?;
        if priority.0 > HSA_AMD_QUEUE_PRIORITY_HIGH.0 {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        queue.set_priority(priority.0);
        Ok(())
    }

    fn hsa_amd_queue_cu_set_mask(queue: *const hsa_queue_t, num_cu_mask_count: u32, cu_mask: *const u32) {
        let runtime = runtime::get()?;
        let queue = find(queue)?;
        if !num_cu_mask_count.is_multiple_of(32) {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        // SAFETY: the program's input array of so many bits.
        restrict(&runtime, &queue, unsafe { list(cu_mask, num_cu_mask_count as usize / 32) }?)
    }

    fn hsa_amd_queue_get_info(
        queue: *mut hsa_queue_t,
        attribute: hsa_queue_info_attribute_t,
        value: *mut c_void,
    ) {
        runtime::get()?;
        let queue = find(queue)?;
        let agent = Agent::Gpu(queue.device).handle();
        match attribute {
            // SAFETY: the program's output pointer.
            HSA_AMD_QUEUE_INFO_AGENT => unsafe { store(value.cast(), agent) },
            // SAFETY: the program's output pointer.
            HSA_AMD_QUEUE_INFO_DOORBELL_ID => unsafe { store(value.cast(), queue.id) },
            _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
        }
    }
}

macro_rules! loads {
    ($($name:ident: $field:ident $order:ident;)*) => { $(
        pub(super) unsafe extern "C" fn $name(queue: *const hsa_queue_t) -> u64 {
            Block::find(queue).map_or(0, |b| b.$field().load($order))
        }
    )* };
}

macro_rules! stores {
    ($($name:ident: $field:ident $order:ident;)*) => { $(
        pub(super) unsafe extern "C" fn $name(queue: *const hsa_queue_t, value: u64) {
            if let Some(block) = Block::find(queue) {
                block.$field().store(value, $order);
            }
        }
    )* };
}

macro_rules! adds {
    ($($name:ident: $order:ident;)*) => { $(
        pub(super) unsafe extern "C" fn $name(queue: *const hsa_queue_t, value: u64) -> u64 {
            Block::find(queue).map_or(0, |b| b.write_dispatch_id().fetch_add(value, $order))
        }
    )* };
}

macro_rules! compare_exchanges {
    ($($name:ident: $order:ident $failure:ident;)*) => { $(
        pub(super) unsafe extern "C" fn $name(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64 {
            let Some(block) = Block::find(queue) else { return 0 };
            let index = block.write_dispatch_id();
            match index.compare_exchange(expected, value, $order, Ordering::$failure) {
                Ok(before) | Err(before) => before,
            }
        }
    )* };
}

loads! {
    hsa_queue_load_read_index_scacquire: read_dispatch_id Acquire;
    hsa_queue_load_read_index_relaxed: read_dispatch_id Relaxed;
    hsa_queue_load_write_index_scacquire: write_dispatch_id Acquire;
    hsa_queue_load_write_index_relaxed: write_dispatch_id Relaxed;
}
stores! {
    hsa_queue_store_write_index_relaxed: write_dispatch_id Relaxed;
    hsa_queue_store_write_index_screlease: write_dispatch_id Release;
}
adds! {
    hsa_queue_add_write_index_scacq_screl: AcqRel;
    hsa_queue_add_write_index_scacquire: Acquire;
    hsa_queue_add_write_index_relaxed: Relaxed;
    hsa_queue_add_write_index_screlease: Release;
}
compare_exchanges! {
    hsa_queue_cas_write_index_scacq_screl: AcqRel Acquire;
    hsa_queue_cas_write_index_scacquire: Acquire Acquire;
    hsa_queue_cas_write_index_relaxed: Relaxed Relaxed;
    hsa_queue_cas_write_index_screlease: Release Relaxed;
}

/// Does nothing: a kernel-dispatch queue's read index belongs to the packet processor (HSA Runtime 1.2,
/// 2.8.3); programs write that of soft queues, which the emulator does not have.
pub(super) unsafe extern "C" fn hsa_queue_store_read_index_relaxed(_queue: *const hsa_queue_t, _value: u64) {}

/// See [`hsa_queue_store_read_index_relaxed`].
pub(super) unsafe extern "C" fn hsa_queue_store_read_index_screlease(
    _queue: *const hsa_queue_t,
    _value: u64,
) {
}
