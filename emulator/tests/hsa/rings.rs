//! Queues that are made from descriptors: rings in device memory, priorities and masks at creation.

use std::{
    ffi::c_void,
    ptr::{null, null_mut},
};

use hsa_sys::*;

use super::session::{BARRIER_BIT, Queue, Session, barrier, ok};

const AND: hsa_packet_type_t = HSA_PACKET_TYPE_BARRIER_AND;
const IN_DEVICE: u16 = HSA_AMD_QUEUE_CREATE_DEVICE_MEM_RING_BUF.0 as u16;
const PACKETS: u32 = 64;
/// What a descriptor's queue reads before the call, which must replace it.
const NOWHERE: *mut hsa_queue_t = 64 as *mut hsa_queue_t;

fn descriptor(flags: u16) -> hsa_amd_queue_create_desc_t {
    hsa_amd_queue_create_desc_t {
        version: HSA_AMD_QUEUE_CREATE_DESC_VERSION,
        flags,
        engine_type: 0,
        reserved_header: [0; 3],
        queue_size_bytes: PACKETS * PACKET_BYTES as u32,
        priority: HSA_AMD_QUEUE_PRIORITY_NORMAL,
        callback: None,
        callback_data: null_mut(),
        queue: NOWHERE,
        engine: hsa_amd_compute_queue_params_t {
            cu_mask: null(),
            type_: HSA_QUEUE_TYPE_MULTI.0,
            private_segment_size: u32::MAX,
            cu_mask_count: 0,
            reserved: [0; 3],
        },
        traffic_class: 0,
        reserved: [0; 20],
    }
}

fn create(
    session: &Session,
    agent: hsa_agent_t,
    descriptors: &mut [hsa_amd_queue_create_desc_t],
) -> hsa_status_t {
    let create = session.hsa.hsa_amd_queue_create.expect("the emulator has it");
    // SAFETY: an array of so many descriptors.
    unsafe { create(agent, descriptors.as_mut_ptr(), descriptors.len() as u32) }
}

fn device_queue(session: &Session) -> Queue<'_> {
    let mut one = [descriptor(IN_DEVICE)];
    ok(create(session, session.gpu(0), &mut one));
    session.adopt(one[0].queue)
}

fn base(queue: &Queue<'_>) -> *mut c_void {
    // SAFETY: the queue exists.
    unsafe { (*queue.queue).base_address }
}

/// Kind, owner and flags of what lies at an address.
fn known(session: &Session, address: *const c_void) -> (hsa_amd_pointer_type_t, u64, u32) {
    let mut info = hsa_amd_pointer_info_t {
        size: size_of::<hsa_amd_pointer_info_t>() as u32,
        type_: HSA_EXT_POINTER_TYPE_UNKNOWN,
        agentBaseAddress: null_mut(),
        hostBaseAddress: null_mut(),
        sizeInBytes: 0,
        userData: null_mut(),
        agentOwner: hsa_agent_t { handle: 0 },
        global_flags: 0,
        registered: false,
    };
    // SAFETY: one output of ours, the others left out.
    ok(unsafe { (session.hsa.hsa_amd_pointer_info)(address, &mut info, None, null_mut(), null_mut()) });
    (info.type_, info.agentOwner.handle, info.global_flags)
}

fn available(session: &Session) -> u64 {
    let mut bytes = 0u64;
    let attribute = HSA_AMD_AGENT_INFO_MEMORY_AVAIL.into();
    // SAFETY: an output of the attribute's type.
    ok(unsafe { (session.hsa.hsa_agent_get_info)(session.gpu(0), attribute, (&raw mut bytes).cast()) });
    bytes
}

#[test]
fn a_ring_in_device_memory_is_the_devices_fine_grained_memory_and_goes_with_its_queue() {
    let session = Session::new();
    let before = available(&session);
    let queue = device_queue(&session);
    let fine = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED.0;
    assert_eq!(known(&session, base(&queue)), (HSA_EXT_POINTER_TYPE_HSA, session.gpu(0).handle, fine));
    assert_eq!(before - available(&session), u64::from(PACKETS) * PACKET_BYTES as u64);
    let ring = base(&queue);
    queue.destroy();
    assert_eq!(known(&session, ring).0, HSA_EXT_POINTER_TYPE_UNKNOWN);
    assert_eq!(available(&session), before);
}

#[test]
fn without_the_flag_a_ring_is_nobodys_device_memory() {
    let session = Session::new();
    let before = available(&session);
    let mut one = [descriptor(0)];
    ok(create(&session, session.gpu(0), &mut one));
    let queue = session.adopt(one[0].queue);
    assert_ne!(known(&session, base(&queue)).1, session.gpu(0).handle);
    assert_eq!(available(&session), before);
    queue.destroy();
}

#[test]
fn a_ring_in_device_memory_is_empty_at_first_and_wraps_around_many_times() {
    let session = Session::new();
    // What lay in the memory before must not count.
    for _ in 0..3 {
        let queue = device_queue(&session);
        for slot in 0..PACKETS as usize {
            // SAFETY: a slot of the ring, which nothing writes.
            let header = unsafe { base(&queue).cast::<[u16; 32]>().add(slot).read()[0] };
            assert_eq!(header & 0xff, HSA_PACKET_TYPE_INVALID.0 as u16, "slot {slot}");
        }
        let done = session.signal(1000);
        for chunk in 0..125 {
            queue.submit(&[barrier(AND, if chunk % 2 == 0 { BARRIER_BIT } else { 0 }, &[], done); 8]);
        }
        assert!(session.finished(done));
        assert_eq!(queue.read_index(), 1000);
        queue.destroy();
    }
}

#[test]
fn a_batch_makes_the_queues_that_it_can_and_names_the_first_error() {
    let session = Session::new();
    let mut wrong = descriptor(IN_DEVICE);
    wrong.queue_size_bytes = 0;
    let mut sdma = descriptor(0);
    sdma.engine_type = HSA_AMD_QUEUE_ENGINE_SDMA.0 as u8;
    let mut batch = [descriptor(0), wrong, descriptor(IN_DEVICE), sdma];
    assert_eq!(create(&session, session.gpu(0), &mut batch), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert!(batch[1].queue.is_null() && batch[3].queue.is_null());
    for at in [0, 2] {
        let (queue, done) = (session.adopt(batch[at].queue), session.signal(1));
        queue.submit(&[barrier(AND, 0, &[], done)]);
        assert!(session.finished(done));
        queue.destroy();
    }
}

#[test]
fn a_queue_is_made_with_its_priority_and_mask() {
    let session = Session::new();
    let mask = [0b10, 0];
    let mut one = [descriptor(IN_DEVICE)];
    one[0].priority = HSA_AMD_QUEUE_PRIORITY_HIGH;
    (one[0].engine.cu_mask, one[0].engine.cu_mask_count) = (mask.as_ptr(), 64);
    ok(create(&session, session.gpu(0), &mut one));
    let (queue, done) = (session.adopt(one[0].queue), session.signal(1));
    queue.submit(&[barrier(AND, 0, &[], done)]);
    assert!(session.finished(done));
    queue.destroy();
}

#[test]
fn descriptors_that_the_header_forbids_are_refused() {
    type Change = fn(&mut hsa_amd_queue_create_desc_t);
    let session = Session::new();
    let (argument, creation) = (HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
    let cases: [(&str, Change, hsa_status_t); 17] = [
        ("version 0", |d| d.version = 0, argument),
        ("version 2", |d| d.version = 2, argument),
        ("an unknown flag", |d| d.flags = 4, argument),
        ("a descriptor behind PCIe", |d| d.flags |= 2, creation),
        ("an unknown engine", |d| d.engine_type = 3, argument),
        ("a queue for copies", |d| d.engine_type = 1, creation),
        ("a queue for an AI engine", |d| d.engine_type = 2, creation),
        ("reserved bytes of the header", |d| d.reserved_header[2] = 1, argument),
        ("reserved bytes at the end", |d| d.reserved[19] = 1, argument),
        ("reserved words of the engine", |d| d.engine.reserved[0] = 1, argument),
        ("a traffic class", |d| d.traffic_class = 1, argument),
        ("a priority of 3", |d| d.priority.0 = 3, argument),
        ("no bytes", |d| d.queue_size_bytes = 0, argument),
        ("half a packet more", |d| d.queue_size_bytes += 32, argument),
        ("three quarters of the packets", |d| d.queue_size_bytes = 48 * 64, argument),
        ("a mask of 16 bits", |d| d.engine.cu_mask_count = 16, argument),
        ("a mask that is not there", |d| d.engine.cu_mask_count = 32, argument),
    ];
    let before = available(&session);
    for (what, change, status) in cases {
        let mut one = [descriptor(IN_DEVICE)];
        change(&mut one[0]);
        assert_eq!(create(&session, session.gpu(0), &mut one), status, "{what}");
        assert!(one[0].queue.is_null(), "{what}");
    }
    assert_eq!(available(&session), before);
    let mut one = [descriptor(IN_DEVICE)];
    assert_eq!(create(&session, session.cpu(), &mut one), creation, "the host has no queues");
    assert_eq!(create(&session, session.gpu(0), &mut []), argument);
    let create = session.hsa.hsa_amd_queue_create.expect("the emulator has it");
    // SAFETY: no descriptors.
    assert_eq!(unsafe { create(session.gpu(0), null_mut(), 1) }, argument);
}

#[test]
fn a_device_without_room_for_a_ring_makes_no_queue() {
    let session = Session::new();
    let pool = session.pools(session.gpu(0))[0];
    let mut blocks = Vec::new();
    for bytes in [1usize << 40, 1 << 30, 1 << 25, 1 << 16, 4096] {
        while available(&session) >= bytes as u64 {
            match session.try_allocate(pool, bytes) {
                Ok(block) => blocks.push(block),
                Err(_) => break,
            }
        }
    }
    let mut one = [descriptor(IN_DEVICE)];
    assert_eq!(create(&session, session.gpu(0), &mut one), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert!(one[0].queue.is_null());
    for block in blocks {
        // SAFETY: allocated above.
        ok(unsafe { (session.hsa.hsa_amd_memory_pool_free)(block) });
    }
    device_queue(&session).destroy();
}
