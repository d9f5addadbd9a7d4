//! Values, waits and handlers of signals, those that raise interrupts and those that do not.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use hsa::{Condition, Signal, WaitState, Waiters};

use super::{LONG, machine};

const KINDS: [Waiters; 2] = [Waiters::HostAndDevice, Waiters::DeviceOnly];
const SHORT: Duration = Duration::from_millis(30);

fn signal(value: i64, waiters: Waiters) -> Arc<Signal> {
    Arc::new(Signal::create(&machine().runtime, value, &[], waiters).expect("a signal"))
}

#[test]
fn every_operation_does_to_the_value_what_its_name_says() {
    for kind in KINDS {
        for order in [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel] {
            let signal = signal(-3, kind);
            assert_eq!(signal.load(Ordering::Acquire), -3);
            signal.add(10, order);
            signal.subtract(2, order);
            assert_eq!(signal.exchange(40, order), 5, "{kind:?} {order:?}");
            assert_eq!(signal.compare_exchange(41, 1, order), Err(40), "{kind:?} {order:?}");
            assert_eq!(signal.compare_exchange(40, i64::MIN, order), Ok(40), "{kind:?} {order:?}");
            assert_eq!(signal.load(Ordering::Relaxed), i64::MIN, "{kind:?} {order:?}");
            signal.store(i64::MAX, Ordering::Release);
            signal.silent_store(signal.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
            assert_eq!(signal.load(Ordering::Relaxed), i64::MAX - 1, "{kind:?} {order:?}");
        }
    }
}

// Kernels of resident graphs and of conditional nodes, and packets that wait for memory, find values there.
#[test]
fn the_value_lies_where_the_handle_says_that_the_structure_does() {
    for kind in KINDS {
        let signal = signal(-3, kind);
        // CAST: addresses of a 64-bit process.
        let at = signal.handle().handle as usize + std::mem::offset_of!(hsa_sys::amd_signal_t, value);
        // SAFETY: the structure lives as long as the signal, and everybody reaches the value by atomics.
        let value = unsafe { AtomicI64::from_ptr(std::ptr::with_exposed_provenance_mut(at)) };
        assert_eq!(value.load(Ordering::Acquire), -3, "{kind:?}");
        signal.store(5, Ordering::Release);
        assert_eq!(value.load(Ordering::Acquire), 5, "{kind:?}");
        value.store(i64::MIN, Ordering::Release);
        assert_eq!(signal.wait(Condition::Less, 0, Some(LONG), WaitState::Active), i64::MIN, "{kind:?}");
    }
}

#[test]
fn a_wait_without_its_condition_ends_with_its_time() {
    for kind in KINDS {
        for state in [WaitState::Active, WaitState::Blocked] {
            let signal = signal(1, kind);
            for (condition, operand) in [
                (Condition::Equal, 0),
                (Condition::NotEqual, 1),
                (Condition::Less, 1),
                (Condition::GreaterOrEqual, 2),
            ] {
                let started = Instant::now();
                assert_eq!(signal.wait(condition, operand, Some(SHORT), state), 1);
                let took = started.elapsed();
                assert!((SHORT..LONG).contains(&took), "{kind:?} {state:?} {condition:?}: {took:?}");
            }
            // A condition that holds needs no time.
            assert_eq!(signal.wait(Condition::Less, 2, Some(Duration::ZERO), state), 1);
        }
    }
}

#[test]
fn a_store_of_another_thread_ends_a_wait() {
    for kind in KINDS {
        for state in [WaitState::Active, WaitState::Blocked] {
            let signal = signal(1, kind);
            let stored = signal.clone();
            let other = thread::spawn(move || {
                thread::sleep(SHORT);
                stored.store(-8, Ordering::Release);
            });
            assert_eq!(signal.wait(Condition::Less, 0, Some(LONG), state), -8, "{kind:?} {state:?}");
            other.join().expect("it only stores");
        }
    }
}

#[test]
fn handlers_run_once_each_with_a_value_that_meets_their_condition() {
    let signal = signal(4, Waiters::HostAndDevice);
    let (said, heard) = mpsc::channel();
    for name in 0..8 {
        let said = said.clone();
        let handler = move |value| said.send((name, value)).unwrap_or_default();
        signal.on_value(Condition::Less, 4 - name % 4, handler).expect("interrupts can be had");
    }
    assert_eq!(heard.recv_timeout(SHORT), Err(mpsc::RecvTimeoutError::Timeout), "4 is not less than 4");
    let mut ran = Vec::new();
    for value in [3, 2, 1, 0] {
        signal.store(value, Ordering::Release);
        for _ in 0..2 {
            let (name, seen) = heard.recv_timeout(LONG).expect("two handlers for each value");
            assert_eq!((4 - name % 4, seen), (value + 1, value), "handler {name}");
            ran.push(name);
        }
    }
    ran.sort_unstable();
    assert_eq!(ran, Vec::from_iter(0..8));
    signal.store(-1, Ordering::Release);
    assert_eq!(heard.recv_timeout(SHORT), Err(mpsc::RecvTimeoutError::Timeout), "none runs again");
}

#[test]
fn a_handler_whose_condition_holds_already_runs_at_once() {
    let (said, heard) = mpsc::channel();
    signal(0, Waiters::HostAndDevice)
        .on_value(Condition::Equal, 0, move |value| said.send(value).unwrap_or_default())
        .expect("interrupts can be had");
    // The registration keeps the signal: nobody else has it.
    assert_eq!(heard.recv_timeout(LONG), Ok(0));
}

// ROCr refuses handlers of signals that raise no interrupt; who may have them is the runtime's to find out.
#[test]
fn a_handler_that_is_refused_is_dropped_without_having_run() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Release);
        }
    }
    let (dropped, ran) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let plain = signal(1, Waiters::DeviceOnly);
    let (held, runs) = (Counted(dropped.clone()), ran.clone());
    let registered = plain.on_value(Condition::Equal, 0, move |_| {
        let _held = held;
        runs.fetch_add(1, Ordering::Release);
    });
    plain.store(0, Ordering::Release);
    let expected = usize::from(registered.is_ok());
    let started = Instant::now();
    while dropped.load(Ordering::Acquire) == 0 {
        assert!(started.elapsed() < LONG, "{registered:?}: the handler is neither run nor dropped");
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(ran.load(Ordering::Acquire), expected, "{registered:?}");
}
