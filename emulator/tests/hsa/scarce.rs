//! Hardware of which there is little: interrupt events, hardware queues, host memory that can be locked; and calls of the
//! kernel driver, which are counted.

use std::{ffi::c_void, ptr::null_mut};

use emulator::{Config, Target};
use hsa_sys::*;

use super::session::{BARRIER_BIT, NONE, Session, barrier, dispatch, ok};
use crate::harness::{Level, code_object};

const AND: hsa_packet_type_t = HSA_PACKET_TYPE_BARRIER_AND;
/// Queues that a device serves at a time.
const PLACES: usize = 24;

fn session(traits: &str) -> Session {
    session_with(traits, None)
}

fn session_with(traits: &str, seed: Option<u64>) -> Session {
    let hardware = traits.parse().expect("traits that there are");
    Session::with(Config { hardware, seed, ..Config::default() })
}

#[test]
fn signals_beyond_the_events_raise_no_interrupt_and_still_end_waits() {
    for (traits, beyond) in [("scarce", 0), ("", 1)] {
        let session = session(traits);
        let queue = session.queue(0, 64);
        let interrupts = |signal| {
            let before = emulator::counters(0).expect("a device").interrupts;
            queue.submit(&[barrier(AND, 0, &[], signal)]);
            assert!(session.finished(signal));
            emulator::counters(0).expect("a device").interrupts - before
        };
        let first = session.signal(1);
        let others: Vec<_> = (0..4096).map(|_| session.signal(1)).collect();
        assert_eq!(interrupts(first), 1);
        assert_eq!(interrupts(others[4095]), beyond);
        // One that goes leaves its event to another.
        // SAFETY: a signal that nothing uses any more.
        ok(unsafe { (session.hsa.hsa_signal_destroy)(first) });
        assert_eq!(interrupts(session.signal(1)), 1);
        queue.destroy();
    }
}

#[test]
fn host_memory_that_devices_reach_is_limited() {
    const HALF: usize = 512 << 20;
    let session = session("scarce");
    let pool = session.pools(session.cpu())[0];
    let first = session.try_allocate(pool, HALF).expect("half of it");
    let second = session.try_allocate(pool, HALF - 4096).expect("nearly the other half");
    assert_eq!(session.try_allocate(pool, 8192), Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES));
    let pages = vec![0u8; 1 << 16];
    let lock = |bytes: usize| {
        let mut address = null_mut();
        let pages = pages.as_ptr().cast::<c_void>().cast_mut();
        // SAFETY: bytes of ours, and an output pointer.
        unsafe { (session.hsa.hsa_amd_memory_lock)(pages, bytes, null_mut(), 0, &mut address) }
    };
    assert_eq!(lock(1 << 16), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    ok(lock(4096));
    assert_eq!(lock(4096), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    // SAFETY: locked once, and allocated here.
    unsafe {
        ok((session.hsa.hsa_amd_memory_unlock)(pages.as_ptr().cast_mut().cast()));
        ok((session.hsa.hsa_amd_memory_pool_free)(first));
    }
    ok(lock(1 << 16));
    let memory = session.try_allocate(pool, HALF - (1 << 16)).expect("what was given back");
    // SAFETY: as above.
    unsafe {
        ok((session.hsa.hsa_amd_memory_unlock)(pages.as_ptr().cast_mut().cast()));
        ok((session.hsa.hsa_amd_memory_pool_free)(memory));
        ok((session.hsa.hsa_amd_memory_pool_free)(second));
    }
}

fn quanta() -> u64 {
    emulator::counters(0).expect("a device").quanta
}

/// Each queue waits for the next one: those without places must get them from those that wait.
#[test]
fn queues_that_wait_for_each_other_take_turns() {
    const QUEUES: usize = 2 * PLACES;
    for (traits, seed) in [("scarce", None), ("scarce", Some(3)), ("", None)] {
        let session = session_with(traits, seed);
        let queues: Vec<_> = (0..QUEUES).map(|_| session.queue(0, 64)).collect();
        for _ in 0..10 {
            let gates: Vec<_> = (0..=QUEUES).map(|_| session.signal(1)).collect();
            for (at, queue) in queues.iter().enumerate() {
                queue.submit(&[
                    barrier(AND, BARRIER_BIT, &gates[at + 1..at + 2], NONE),
                    barrier(AND, BARRIER_BIT, &[], gates[at]),
                ]);
            }
            session.store(gates[QUEUES], 0);
            assert!(session.finished(gates[0]), "{traits} {seed:?}");
        }
        assert_eq!(quanta() > 0, !traits.is_empty());
        queues.into_iter().for_each(|queue| queue.destroy());
    }
}

#[test]
fn kernels_that_wait_for_a_queue_without_a_place_lose_theirs_after_a_quantum() {
    const SOURCE: &str = r#"
KERNEL await(volatile u32 *flag) { while (*flag == 0) __builtin_amdgcn_s_sleep(1); }
KERNEL raise(volatile u32 *flag) { *flag = 1; }
"#;
    let Some(object) = code_object(SOURCE, Target::Gfx90a, Level::O1) else { return };
    let session = session("few-queues");
    let [wait, raise] = ["await", "raise"].map(|name| session.kernel(0, &object, name));
    let (flag, kernarg) = (session.array::<u32>(1), session.array::<u64>(1));
    kernarg[0] = flag.as_ptr() as u64;
    let queues: Vec<_> = (0..=PLACES).map(|_| session.queue(0, 64)).collect();
    let done = session.signal(PLACES as i64 + 1);
    let (last, others) = queues.split_last().expect("some");
    for queue in others {
        queue.submit(&[dispatch(0, wait, 1, kernarg, done)]);
    }
    last.submit(&[dispatch(0, raise, 1, kernarg, done)]);
    assert!(session.finished(done));
    queues.into_iter().for_each(|queue| queue.destroy());
}

#[test]
fn as_many_queues_as_there_are_places_take_no_turns() {
    let session = session("scarce");
    let queues: Vec<_> = (0..PLACES).map(|_| session.queue(0, 64)).collect();
    let done = session.signal(PLACES as i64 * 8);
    for queue in &queues {
        queue.submit(&[barrier(AND, BARRIER_BIT, &[], done); 8]);
    }
    assert!(session.finished(done));
    assert_eq!(quanta(), 0);
    queues.into_iter().for_each(|queue| queue.destroy());
}

#[test]
fn each_handle_of_virtual_memory_costs_a_call() {
    const PAGE: usize = 4096;
    let session = session("");
    let (hsa, missing) = (session.hsa, "the emulator has all functions");
    let pool = session.pools(session.gpu(0))[0];
    let counters = || emulator::counters(0).expect("a device");
    let mut base = null_mut();
    // SAFETY: output pointers of ours, and what they were given.
    unsafe {
        ok(hsa.hsa_amd_vmem_address_reserve.expect(missing)(&mut base, 8 * PAGE, 0, 0));
        let first = counters();
        for at in 0..8 {
            let mut handle = hsa_amd_vmem_alloc_handle_t { handle: 0 };
            ok(hsa.hsa_amd_vmem_handle_create.expect(missing)(pool, PAGE, MEMORY_TYPE_NONE, 0, &mut handle));
            ok(hsa.hsa_amd_vmem_map.expect(missing)(base.byte_add(at * PAGE), PAGE, 0, handle, 0));
        }
        let before = counters();
        assert_eq!(before.handle_calls - first.handle_calls, 8, "one for each handle");
        let access = hsa_amd_memory_access_desc_t {
            permissions: HSA_ACCESS_PERMISSION_RW,
            agent_handle: session.gpu(0),
        };
        ok(hsa.hsa_amd_vmem_set_access.expect(missing)(base, 8 * PAGE, &access, 1));
        let after = counters();
        assert_eq!(after.mappings - before.mappings, 8);
        assert_eq!(after.handle_calls - before.handle_calls, 3 * 8, "export, import and mapping of each");
    }
}
