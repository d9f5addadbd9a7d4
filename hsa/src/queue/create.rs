//! How queues come to be, and where their rings are.

use std::ptr::NonNull;

use hsa_sys::*;

use super::{HsaPort, Producers, QueueOptions, RingMemory, on_queue_error, stream::Stream};
use crate::agent::Agent;
use crate::error::{Error, check};
use crate::token::Token;

/// Creates a queue, and finds out where its ring lies and how to write it. A queue that is not as asked for is destroyed.
///
/// # Errors
/// Those of [`Queue::create`](super::Queue::create).
pub(super) fn port(agent: &Agent, size: u32, options: QueueOptions, token: Token) -> Result<HsaPort, Error> {
    let api = agent.runtime().api();
    let by_descriptor = api.hsa_amd_queue_create.filter(|_| options.ring == RingMemory::Device);
    let raw = match by_descriptor {
        Some(create) => create_in_device_memory(create, agent, size, &options, token),
        None => create(api, agent, size, &options, token),
    }?;
    let mut port = HsaPort::new(api, raw)?;
    // Asked even if the options name system memory: the runtime's environment may have decided otherwise, and to write
    // such a ring as if it were the host's would be wrong. A runtime that does not know the address has not taken it from
    // a pool of the device.
    let known = agent.runtime().pointer_info(port.base.as_ptr().expose_provenance() as u64);
    let of_device = known.ok().flatten().is_some_and(|known| known.owner == agent.raw());
    if of_device || by_descriptor.is_some() {
        port.stream = Some(Stream::new(options.stores, agent.hdp_flush()));
    } else if options.ring == RingMemory::Device {
        // SAFETY: the queue was just created, and nothing else knows it.
        let _ = unsafe { (api.hsa_queue_destroy)(raw) };
        return Err(Error::Unsupported { function: "hsa_amd_queue_create" });
    }
    Ok(port)
}

fn type_of(producers: Producers) -> hsa_queue_type_t {
    match producers {
        Producers::Multi => HSA_QUEUE_TYPE_MULTI,
        Producers::Single => HSA_QUEUE_TYPE_SINGLE,
        Producers::Cooperative => HSA_QUEUE_TYPE_COOPERATIVE,
    }
}

impl HsaPort {
    /// Reads where a new queue's ring and doorbell are.
    fn new(api: &'static Api, raw: *mut hsa_queue_t) -> Result<Self, Error> {
        let unusable = Error::Call { function: "hsa_queue_create", status: HSA_STATUS_ERROR_INVALID_QUEUE };
        let queue = NonNull::new(raw).ok_or_else(|| unusable.clone())?;
        // SAFETY: a queue that was created successfully is readable.
        let hsa_queue_t { base_address, size, doorbell_signal, .. } = unsafe { queue.read() };
        let base = NonNull::new(base_address.cast()).ok_or(unusable)?;
        Ok(Self { api, queue, base, size, doorbell: doorbell_signal, stream: None })
    }
}

/// Creates a queue where the runtime puts queues.
fn create(
    api: &Api,
    agent: &Agent,
    size: u32,
    options: &QueueOptions,
    token: Token,
) -> Result<*mut hsa_queue_t, Error> {
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` has room for the pointer; the callback has the type that the function wants, and its
    // data is a token. ABI: all ones mean that there is no hint.
    let status = unsafe {
        (api.hsa_queue_create)(
            agent.raw(),
            size,
            type_of(options.producers).0,
            Some(on_queue_error),
            token.as_data(),
            options.private_segment.unwrap_or(u32::MAX),
            options.group_segment.unwrap_or(u32::MAX),
            &raw mut raw,
        )
    };
    check("hsa_queue_create", status).map(|()| raw)
}

/// Creates a queue whose ring is in the agent's memory, by `hsa_amd_queue_create`.
fn create_in_device_memory(
    create: unsafe extern "C" fn(hsa_agent_t, *mut hsa_amd_queue_create_desc_t, u32) -> hsa_status_t,
    agent: &Agent,
    size: u32,
    options: &QueueOptions,
    token: Token,
) -> Result<*mut hsa_queue_t, Error> {
    let function = "hsa_amd_queue_create";
    // CAST: 64.
    let bytes = size.checked_mul(PACKET_BYTES as u32);
    let invalid = Error::Call { function, status: HSA_STATUS_ERROR_INVALID_ARGUMENT };
    let mut descriptor = hsa_amd_queue_create_desc_t {
        version: HSA_AMD_QUEUE_CREATE_DESC_VERSION,
        // CAST: 1.
        flags: HSA_AMD_QUEUE_CREATE_DEVICE_MEM_RING_BUF.0 as u16,
        // CAST: 0.
        engine_type: HSA_AMD_QUEUE_ENGINE_COMPUTE.0 as u8,
        reserved_header: [0; 3],
        queue_size_bytes: bytes.ok_or(invalid)?,
        priority: HSA_AMD_QUEUE_PRIORITY_NORMAL,
        callback: Some(on_queue_error),
        callback_data: token.as_data(),
        queue: std::ptr::null_mut(),
        engine: hsa_amd_compute_queue_params_t {
            cu_mask: std::ptr::null(),
            type_: type_of(options.producers).0,
            private_segment_size: options.private_segment.unwrap_or(u32::MAX),
            cu_mask_count: 0,
            reserved: [0; 3],
        },
        traffic_class: 0,
        reserved: [0; 20],
    };
    // SAFETY: one descriptor of the version that it names, to which the function stores the queue; the callback has the
    // type that the header gives it, and its data is a token.
    check(function, unsafe { create(agent.raw(), &raw mut descriptor, 1) })?;
    Ok(descriptor.queue)
}
