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
    device::{MAX_QUEUE_SIZE, MIN_QUEUE_SIZE},
    memory::{Allocation, Grain},
    queue::{Block, ErrorCallback, Queue, State},
    runtime,
};

fn find(queue: *const hsa_queue_t) -> Result<Arc<Queue>, hsa_status_t> {
    Queue::find(queue).ok_or(HSA_STATUS_ERROR_INVALID_QUEUE)
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
        let agent = runtime.agent(agent).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        present(queue)?;
        if !size.is_power_of_two() || !(MIN_QUEUE_SIZE..=MAX_QUEUE_SIZE).contains(&size) {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        if type_ > HSA_QUEUE_TYPE_COOPERATIVE.0 {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let gpu = agent.gpu().ok_or(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION)?;
        let device = &runtime.devices[gpu as usize];
        let processor = &runtime.processors[gpu as usize];
        let made = Queue::create(gpu, size, type_, ErrorCallback { function: callback, data })
            .ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
        if !processor.attach(&made) {
            made.retire();
            made.release();
            return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        }
        let ring = made.table().ok_or(HSA_STATUS_ERROR)?.ring();
        let start = ring.address();
        let end = start + ring.size() as u64;
        let backing: Arc<dyn Send + Sync> = Arc::clone(ring) as _;
        let grain = Grain::Fine;
        device.map.insert(Allocation { start, end, writable: true, grain, backing: Some(backing) });
        // SAFETY: the program's output pointer.
        unsafe { store(queue, made.pointer()) }
    }

    fn hsa_queue_destroy(queue: *mut hsa_queue_t) {
        let runtime = runtime::get()?;
        let queue = find(queue)?;
        let ring = queue.table().ok_or(HSA_STATUS_ERROR_INVALID_QUEUE)?.ring().address();
        if !queue.retire() {
            return Err(HSA_STATUS_ERROR_INVALID_QUEUE);
        }
        runtime.processors[queue.device as usize].detach(&queue);
        runtime.devices[queue.device as usize].map.remove(ring);
        queue.release();
        Ok(())
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
        runtime::get()?;
        let queue = find(queue)?;
        if !num_cu_mask_count.is_multiple_of(32) {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        // SAFETY: the program's input array of so many bits.
        queue.set_cu_mask(unsafe { list(cu_mask, num_cu_mask_count as usize / 32) }?.to_vec());
        Ok(())
    }

    fn hsa_amd_queue_get_info(
        queue: *mut hsa_queue_t,
        attribute: hsa_queue_info_attribute_t,
        value: *mut c_void,
    ) {
        runtime::get()?;
        let queue = find(queue)?;
        let agent = runtime::Agent::Gpu(queue.device).handle();
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
