//! Queues.

use std::ffi::c_void;

use emulator::driver::{CopyEngine, CopyQueueDescriptor, QueueDescriptor};
use hsa_sys::{PACKET_BYTES, amd_queue_t};

use crate::{
    abi::{
        HSA_QUEUE_COMPUTE, HSA_QUEUE_COMPUTE_AQL, HSA_QUEUE_DMA_AQL, HSA_QUEUE_DMA_AQL_XGMI, HSA_QUEUE_SDMA,
        HSA_QUEUE_SDMA_XGMI, HSA_QUEUE_TYPE, HSAKMT_STATUS_INVALID_HANDLE, HSAKMT_STATUS_INVALID_NODE_UNIT,
        HSAKMT_STATUS_INVALID_PARAMETER, HSAKMT_STATUS_NOT_SUPPORTED, HSAKMT_STATUS_OUT_OF_RESOURCES,
        HsaEvent, HsaQueueResource, In, Out, newer::HSA_QUEUE_SDMA_BY_ENG_ID,
    },
    entry::{Result, entry},
    queue::{self, Reports},
    session::{self, Session},
    topology,
};

/// Where the read index lies in the control block of an AQL queue.
const READ_INDEX_OFFSET: u64 = std::mem::offset_of!(amd_queue_t, read_dispatch_id) as u64;
/// Whole of a queue's share of the device.
const FULL_SHARE: u32 = 100;

/// What a queue should be.
struct Asked {
    node: u32,
    kind: u32,
    share: u32,
    priority: i32,
    /// The copy engine, where the type of the queue says that one is named.
    engine: u32,
    ring: In<c_void>,
    bytes: u64,
    event: Out<HsaEvent>,
}

fn create(asked: &Asked, resource: Out<HsaQueueResource>) -> Result {
    let Asked { node, kind, share, priority, engine, ring, bytes, event } = *asked;
    let kind = HSA_QUEUE_TYPE(kind);
    let session = session::current()?;
    let mut resources = resource.read()?;
    let (device, _) = session.topology.device(node)?.ok_or(HSAKMT_STATUS_INVALID_NODE_UNIT)?;
    if ring.address() == 0 || share > FULL_SHARE {
        return Err(HSAKMT_STATUS_INVALID_PARAMETER);
    }
    let engine = match kind {
        HSA_QUEUE_COMPUTE_AQL => None,
        HSA_QUEUE_SDMA => Some(CopyEngine::Host),
        HSA_QUEUE_SDMA_XGMI => Some(CopyEngine::Link),
        HSA_QUEUE_SDMA_BY_ENG_ID => Some(CopyEngine::Number(engine)),
        HSA_QUEUE_COMPUTE | HSA_QUEUE_DMA_AQL | HSA_QUEUE_DMA_AQL_XGMI => {
            queue::say_refused(kind);
            return Err(HSAKMT_STATUS_NOT_SUPPORTED);
        }
        _ => return Err(HSAKMT_STATUS_INVALID_PARAMETER),
    };
    let event = if event.is_null() { 0 } else { session.events.id(event.address())? };
    if let Some(engine) = engine {
        let descriptor = CopyQueueDescriptor { ring: ring.address(), bytes, engine };
        let created = session.driver.create_copy_queue(device, &descriptor);
        let created = created.map_err(|error| queue::status(&error))?;
        session.queues.insert(created.id, Reports { reason: 0, event, copies: true, node });
        resources.QueueId = created.id;
        resources.QueueDoorBell = created.doorbell;
        resources.QueueRptrValue = created.read_pointer;
        resources.QueueWptrValue = created.write_pointer;
        return finish(&session, share, resource, resources);
    }
    let (read_index, write_index) = (resources.QueueRptrValue, resources.QueueWptrValue);
    let packets = bytes / PACKET_BYTES as u64;
    let fits = bytes.is_multiple_of(PACKET_BYTES as u64) && packets.is_power_of_two();
    let packets = u32::try_from(packets).ok().filter(|_| fits).ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
    if read_index <= READ_INDEX_OFFSET || write_index == 0 {
        return Err(HSAKMT_STATUS_INVALID_PARAMETER);
    }
    let descriptor = QueueDescriptor {
        ring: ring.address(),
        packets,
        read_index,
        write_index,
        amd_queue: read_index - READ_INDEX_OFFSET,
        priority: queue::priority(priority),
    };
    let created = session.driver.create_queue(device, &descriptor).map_err(|error| queue::status(&error))?;
    let reports = Reports { reason: resources.ErrorReason as u64, event, copies: false, node };
    session.queues.insert(created.id, reports);
    resources.QueueId = created.id;
    resources.QueueDoorBell = created.doorbell;
    finish(&session, share, resource, resources)
}

/// Suspends a new queue that has no share of the device, and tells the caller about it.
fn finish(
    session: &Session,
    share: u32,
    resource: Out<HsaQueueResource>,
    resources: HsaQueueResource,
) -> Result {
    if share == 0 {
        session.driver.suspend_queue(resources.QueueId, true).map_err(|error| queue::status(&error))?;
    }
    resource.write(resources)
}

entry! {
    /// Makes a queue in memory of the caller's, which is served from now on.
    fn hsaKmtCreateQueue(
        node: u32,
        kind: u32,
        share: u32,
        priority: i32,
        ring: In<c_void>,
        bytes: u64,
        event: Out<HsaEvent>,
        resource: Out<HsaQueueResource>,
    ) {
        create(&Asked { node, kind, share, priority, engine: 0, ring, bytes, event }, resource)
    }

    /// As `hsaKmtCreateQueue`, with the copy engine for queues of the type that names one.
    fn hsaKmtCreateQueueExt(
        node: u32,
        kind: u32,
        share: u32,
        priority: i32,
        engine: u32,
        ring: In<c_void>,
        bytes: u64,
        event: Out<HsaEvent>,
        resource: Out<HsaQueueResource>,
    ) {
        create(&Asked { node, kind, share, priority, engine, ring, bytes, event }, resource)
    }

    /// Changes a queue's share of the device, of which 0 suspends it, and its priority. The ring stays where it is.
    fn hsaKmtUpdateQueue(
        queue: u64,
        share: u32,
        priority: i32,
        _ring: In<c_void>,
        _bytes: u64,
        _event: Out<HsaEvent>,
    ) {
        let session = session::current()?;
        if share > FULL_SHARE {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        let priority = queue::priority(priority);
        let changed = session.driver.set_queue_priority(queue, priority);
        changed
            .and_then(|()| session.driver.suspend_queue(queue, share == 0))
            .map_err(|error| queue::status(&error))
    }

    /// Ends a queue; on return nothing of it is touched any more.
    fn hsaKmtDestroyQueue(queue: u64) {
        let session = session::current()?;
        session.driver.destroy_queue(queue).map_err(|error| queue::status(&error))?;
        session.queues.remove(queue);
        Ok(())
    }

    /// Restricts a queue to some compute units.
    fn hsaKmtSetQueueCUMask(queue: u64, count: u32, mask: In<u32>) {
        let session = session::current()?;
        session.queues.get(queue).ok_or(HSAKMT_STATUS_INVALID_HANDLE)?;
        if count == 0 || !count.is_multiple_of(u32::BITS) || mask.is_null() {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        let mask = mask.read_all((count / u32::BITS) as usize)?;
        session.driver.set_queue_units(queue, &mask).map_err(|error| queue::status(&error))
    }

    /// Gives a queue entries of global wave sync, always from the first on: a device has one set, which its queues
    /// share.
    fn hsaKmtAllocQueueGWS(queue: u64, count: u32, first: Out<u32>) {
        let session = session::current()?;
        let reports = session.queues.get(queue).ok_or(HSAKMT_STATUS_INVALID_HANDLE)?;
        if reports.copies {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        if count > topology::WAVE_SYNC_ENTRIES.into() {
            return Err(HSAKMT_STATUS_OUT_OF_RESOURCES);
        }
        first.write_if_wanted(0);
        Ok(())
    }
}
