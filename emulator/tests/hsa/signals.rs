//! Signals across threads, handlers, and what is said about agents.

use std::{
    ffi::c_void,
    ptr::null_mut,
    sync::atomic::{AtomicI64, Ordering},
};

use emulator::{Config, ConfigError, Target};
use hsa_sys::{layout::Enumeration, *};

use super::session::{SECOND, Session, ok};

#[test]
fn a_waiting_thread_sleeps_until_another_stores() {
    let session = Session::new();
    let signal = session.signal(1);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| session.finished(signal));
        std::thread::sleep(std::time::Duration::from_millis(20));
        // SAFETY: no pointers.
        unsafe { (session.hsa.hsa_signal_subtract_screlease)(signal, 1) };
        assert!(waiter.join().expect("the waiter returns"));
    });
    // SAFETY: no pointers.
    unsafe {
        ok((session.hsa.hsa_signal_destroy)(signal));
        assert_eq!((session.hsa.hsa_signal_destroy)(signal), HSA_STATUS_ERROR_INVALID_SIGNAL);
        assert_eq!((session.hsa.hsa_signal_load_relaxed)(signal), 0);
    }
}

#[test]
fn atomic_operations_return_what_was_there() {
    let session = Session::new();
    let (hsa, signal) = (session.hsa, session.signal(6));
    // SAFETY: no pointers.
    unsafe {
        (hsa.hsa_signal_and_relaxed)(signal, 3);
        assert_eq!(session.load(signal), 2);
        (hsa.hsa_signal_or_scacquire)(signal, 8);
        (hsa.hsa_signal_xor_screlease)(signal, 3);
        (hsa.hsa_signal_add_scacq_screl)(signal, 10);
        assert_eq!((hsa.hsa_signal_exchange_scacq_screl)(signal, -1), 19);
        assert_eq!((hsa.hsa_signal_cas_relaxed)(signal, 0, 5), -1);
        assert_eq!((hsa.hsa_signal_cas_scacquire)(signal, -1, 5), -1);
        (hsa.hsa_signal_silent_store_relaxed)(signal, 7);
    }
    assert_eq!(session.load(signal), 7);
}

#[test]
fn an_asynchronous_handler_runs_until_it_returns_false() {
    static CALLS: AtomicI64 = AtomicI64::new(0);
    unsafe extern "C" fn handler(value: i64, arg: *mut c_void) -> bool {
        // SAFETY: the argument is the address of a signal handle that outlives the registration.
        let signal = unsafe { *arg.cast::<hsa_signal_t>() };
        let calls = CALLS.fetch_add(1, Ordering::SeqCst) + 1;
        // SAFETY: no pointers.
        unsafe { (emulator::api().hsa_signal_store_screlease)(signal, value - 1) };
        calls < 3
    }
    let session = Session::new();
    let mut signal = session.signal(0);
    CALLS.store(0, Ordering::SeqCst);
    // SAFETY: `signal` lives until the handler has returned false.
    ok(unsafe {
        (session.hsa.hsa_amd_signal_async_handler)(
            signal,
            HSA_SIGNAL_CONDITION_GTE,
            5,
            Some(handler),
            (&raw mut signal).cast(),
        )
    });
    session.store(signal, 7);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while CALLS.load(Ordering::SeqCst) < 3 && std::time::Instant::now() < end {
        std::thread::yield_now();
    }
    // 7, 6 and 5 satisfy the condition; the third call ends the registration.
    assert_eq!(CALLS.load(Ordering::SeqCst), 3);
    session.store(signal, 9);
    assert!(!session.finished_within(signal, SECOND / 50));
    assert_eq!(session.load(signal), 9);
}

#[test]
fn wait_any_returns_the_index_or_all_ones() {
    let session = Session::new();
    let mut signals = [session.signal(1), session.signal(2)];
    let mut conditions = [HSA_SIGNAL_CONDITION_EQ; 2];
    let mut values = [0, 2];
    let mut satisfying = 0;
    // SAFETY: arrays of ours.
    let wait = |values: &mut [i64; 2], satisfying: &mut i64| unsafe {
        (session.hsa.hsa_amd_signal_wait_any)(
            2,
            signals.as_mut_ptr(),
            conditions.as_mut_ptr(),
            values.as_mut_ptr(),
            SECOND / 100,
            HSA_WAIT_STATE_BLOCKED,
            satisfying,
        )
    };
    let mut wait = wait;
    assert_eq!(wait(&mut values, &mut satisfying), 1);
    assert_eq!(satisfying, 2);
    assert_eq!(wait(&mut [5, 5], &mut satisfying), u32::MAX);
}

#[test]
fn stale_and_random_handles_are_refused() {
    let session = Session::new();
    let hsa = session.hsa;
    let mut word = [0u8; 64];
    // SAFETY: output pointers of ours; the handles are what is tested.
    unsafe {
        for handle in [0, 1, 0xdead_beef, u64::MAX] {
            let value = word.as_mut_ptr().cast();
            let agent = hsa_agent_t { handle };
            assert_eq!(
                (hsa.hsa_agent_get_info)(agent, HSA_AGENT_INFO_NAME, value),
                HSA_STATUS_ERROR_INVALID_AGENT
            );
            assert_eq!((hsa.hsa_queue_destroy)(handle as *mut hsa_queue_t), HSA_STATUS_ERROR_INVALID_QUEUE);
            assert_eq!((hsa.hsa_queue_load_read_index_relaxed)(handle as *const hsa_queue_t), 0);
            let executable = hsa_executable_t { handle };
            assert_eq!((hsa.hsa_executable_destroy)(executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
            let pool = hsa_amd_memory_pool_t { handle };
            let status = (hsa.hsa_amd_memory_pool_get_info)(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, value);
            assert_eq!(status, HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
            assert_eq!(
                (hsa.hsa_amd_memory_pool_free)(handle as *mut c_void),
                HSA_STATUS_ERROR_INVALID_ALLOCATION
            );
        }
        let unknown = hsa_agent_info_t(0x7fff);
        let status = (hsa.hsa_agent_get_info)(session.gpu(0), unknown, word.as_mut_ptr().cast());
        assert_eq!(status, HSA_STATUS_ERROR_INVALID_ARGUMENT);
        let status = (hsa.hsa_agent_get_info)(session.gpu(0), HSA_AGENT_INFO_NAME, null_mut());
        assert_eq!(status, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
}

#[test]
fn every_agent_attribute_of_the_headers_is_answered_by_gpus() {
    let session = Session::devices(&[Target::Gfx90a, Target::Gfx942]);
    let attributes = hsa_agent_info_t::CONSTANTS.iter().chain(hsa_amd_agent_info_t::CONSTANTS);
    for (name, attribute) in attributes {
        for gpu in 0..2 {
            let mut value = [0u8; 256];
            // SAFETY: no attribute is longer.
            let status = unsafe {
                (session.hsa.hsa_agent_get_info)(
                    session.gpu(gpu),
                    hsa_agent_info_t(*attribute),
                    value.as_mut_ptr().cast(),
                )
            };
            assert_eq!(status, HSA_STATUS_SUCCESS, "{name}");
        }
    }
}

#[test]
fn initialisation_is_counted_and_configuration_comes_before_it() {
    let session = Session::new();
    assert_eq!(emulator::configure(Config::default()), Err(ConfigError::Initialised));
    // SAFETY: no pointers.
    unsafe {
        ok((session.hsa.hsa_init)());
        ok((session.hsa.hsa_shut_down)());
    }
    let signal = session.signal(3);
    assert_eq!(session.load(signal), 3, "the first initialisation still counts");
    drop(session);
    let mut signal = hsa_signal_t { handle: 0 };
    // SAFETY: an output pointer of ours.
    let status = unsafe { (emulator::api().hsa_signal_create)(0, 0, std::ptr::null(), &mut signal) };
    assert_eq!(status, HSA_STATUS_ERROR_NOT_INITIALIZED);
    let again = Session::devices(&[Target::Gfx942]);
    assert_eq!(again.agents.len(), 2);
}
