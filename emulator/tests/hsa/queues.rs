//! Rings, barrier packets and packet errors.

use std::{
    ffi::c_void,
    ptr::null_mut,
    sync::atomic::{AtomicU32, Ordering},
};

use hsa_sys::*;

use super::session::{BARRIER_BIT, NONE, SECOND, Session, barrier, barrier_value};

const AND: hsa_packet_type_t = HSA_PACKET_TYPE_BARRIER_AND;
const OR: hsa_packet_type_t = HSA_PACKET_TYPE_BARRIER_OR;
/// Long enough for what must not happen.
const SHORT: u64 = SECOND / 50;

#[test]
fn a_ring_wraps_around_many_times() {
    let session = Session::new();
    let queue = session.queue(0, 64);
    let done = session.signal(1000);
    for chunk in 0..125 {
        let packets = [barrier(AND, if chunk % 2 == 0 { BARRIER_BIT } else { 0 }, &[], done); 8];
        queue.submit(&packets);
    }
    assert!(session.finished(done));
    assert_eq!(queue.read_index(), 1000);
    queue.destroy();
}

#[test]
fn a_packet_larger_than_the_ring_is_published_in_parts() {
    let session = Session::new();
    let queue = session.queue(0, 64);
    let done = session.signal(500);
    queue.submit(&vec![barrier(AND, 0, &[], done); 500]);
    assert!(session.finished(done));
    queue.destroy();
}

#[test]
fn barrier_and_waits_for_all_five() {
    let session = Session::new();
    let queue = session.queue(0, 64);
    let deps: [hsa_signal_t; 5] = std::array::from_fn(|_| session.signal(1));
    let (done, after) = (session.signal(1), session.signal(1));
    queue.submit(&[barrier(AND, 0, &deps, done), barrier(AND, 0, &[], after)]);
    for dep in deps {
        assert!(!session.finished_within(done, SHORT / 5));
        session.store(dep, 0);
    }
    assert!(session.finished(done));
    assert!(session.finished(after), "what follows a barrier packet waits with it");
    queue.destroy();
}

#[test]
fn barrier_or_waits_for_one() {
    let session = Session::new();
    let queue = session.queue(0, 64);
    let deps = [session.signal(1), session.signal(2), session.signal(3)];
    let done = session.signal(1);
    queue.submit(&[barrier(OR, 0, &deps, done)]);
    assert!(!session.finished_within(done, SHORT));
    session.store(deps[1], 0);
    assert!(session.finished(done));
    let done = session.signal(1);
    queue.submit(&[barrier(OR, 0, &[], done)]);
    assert!(session.finished(done), "no dependency is a satisfied one");
    queue.destroy();
}

#[test]
fn barrier_value_compares_the_masked_value() {
    let session = Session::new();
    let queue = session.queue(0, 64);
    let (signal, done) = (session.signal(0xf0), session.signal(1));
    queue.submit(&[barrier_value(BARRIER_BIT, signal, 0x0f, HSA_SIGNAL_CONDITION_GTE, 5, done)]);
    assert!(!session.finished_within(done, SHORT));
    session.store(signal, 0xf4);
    assert!(!session.finished_within(done, SHORT));
    session.store(signal, 0x06);
    assert!(session.finished(done));
    queue.destroy();
}

#[test]
fn a_blocked_queue_does_not_block_others() {
    let session = Session::new();
    let (blocked, free) = (session.queue(0, 64), session.queue(0, 64));
    let (gate, late, early) = (session.signal(1), session.signal(1), session.signal(1));
    blocked.submit(&[barrier(AND, 0, &[gate], late)]);
    free.submit(&[barrier(AND, 0, &[], early)]);
    assert!(session.finished(early));
    assert_eq!(session.load(late), 1);
    // The gate opens through a packet of the other queue.
    free.submit(&[barrier(AND, 0, &[], gate)]);
    assert!(session.finished(late));
    blocked.destroy();
    free.destroy();
}

#[test]
fn destroying_a_queue_drops_what_is_pending() {
    let session = Session::new();
    let queue = session.queue(0, 64);
    let (gate, done) = (session.signal(1), session.signal(1));
    queue.submit(&[barrier(AND, 0, &[gate], done)]);
    let pointer = queue.queue;
    queue.destroy();
    session.store(gate, 0);
    assert!(!session.finished_within(done, SHORT));
    // SAFETY: a stale pointer is what is tested; it is looked up, not followed.
    assert_eq!(unsafe { (session.hsa.hsa_queue_destroy)(pointer) }, HSA_STATUS_ERROR_INVALID_QUEUE);
}

#[test]
fn sizes_that_no_ring_may_have_are_refused() {
    let session = Session::new();
    for size in [0, 1, 32, 63, 65, 100, 262_144] {
        let mut queue = null_mut();
        // SAFETY: an output pointer of ours.
        let status = unsafe {
            (session.hsa.hsa_queue_create)(session.gpu(0), size, 0, None, null_mut(), 0, 0, &mut queue)
        };
        assert_eq!(status, HSA_STATUS_ERROR_INVALID_ARGUMENT, "{size}");
    }
    let mut queue = null_mut();
    // SAFETY: an output pointer of ours.
    let status =
        unsafe { (session.hsa.hsa_queue_create)(session.cpu(), 64, 0, None, null_mut(), 0, 0, &mut queue) };
    assert_eq!(status, HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
}

unsafe extern "C" fn note(status: hsa_status_t, _: *mut hsa_queue_t, data: *mut c_void) {
    // SAFETY: the test's counter.
    unsafe { &*data.cast::<AtomicU32>() }.store(status.0, Ordering::SeqCst);
}

#[test]
fn an_invalid_packet_stops_its_queue_and_tells_the_callback() {
    let session = Session::new();
    let stale = session.signal(1);
    // SAFETY: no pointers.
    assert_eq!(unsafe { (session.hsa.hsa_signal_destroy)(stale) }, HSA_STATUS_SUCCESS);
    let cases = [
        (barrier(HSA_PACKET_TYPE_AGENT_DISPATCH, 0, &[], NONE), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT),
        (barrier(hsa_packet_type_t(77), 0, &[], NONE), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT),
        (barrier(HSA_PACKET_TYPE_VENDOR_SPECIFIC, 0, &[], NONE), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT),
        (barrier(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0, &[], NONE), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT),
        (barrier(AND, 0, &[stale], NONE), HSA_STATUS_ERROR_INVALID_SIGNAL),
    ];
    for (packet, expected) in cases {
        let told = AtomicU32::new(0);
        let queue = session.queue_with(0, 64, Some(note), (&raw const told).cast_mut().cast());
        let (before, after) = (session.signal(1), session.signal(1));
        queue.submit(&[barrier(AND, 0, &[], before), packet, barrier(AND, 0, &[], after)]);
        assert!(session.finished(before));
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while told.load(Ordering::SeqCst) == 0 && std::time::Instant::now() < end {
            std::thread::yield_now();
        }
        assert_eq!(hsa_status_t(told.load(Ordering::SeqCst)), expected);
        assert!(!session.finished_within(after, SHORT), "a faulted queue processes nothing");
        assert!(emulator::take_fault_report().is_some_and(|text| text.contains("packet 1 of queue")));
        queue.destroy();
    }
}
