use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use super::{Condition, Demand, Signal, Watcher, device_wrote, wait, wait_any};

fn demand(signal: Signal, condition: Condition, operand: i64) -> Demand {
    Demand { signal, condition, operand }
}

#[test]
fn a_destroyed_handle_is_not_found() {
    let signal = Signal::create(7).unwrap();
    let handle = signal.handle();
    assert_eq!(handle % 64, 0);
    assert_eq!(Signal::find(handle).map(Signal::load), Some(7));
    assert!(signal.destroy());
    assert!(!signal.destroy());
    assert!(Signal::find(handle).is_none());
    assert!(Signal::find(0).is_none());
    assert!(Signal::find(handle + 8).is_none());
    assert!(Signal::find(u64::MAX).is_none());
}

#[test]
fn a_sleeper_is_woken_by_a_store() {
    let signal = Signal::create(1).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait(demand(signal, Condition::Less, 1), u64::MAX, false));
        std::thread::sleep(Duration::from_millis(30));
        signal.store(-4);
        assert_eq!(waiter.join().unwrap(), -4);
    });
    signal.destroy();
}

#[test]
fn a_timeout_ends_the_wait_with_the_present_value() {
    let signal = Signal::create(3).unwrap();
    let start = Instant::now();
    assert_eq!(wait(demand(signal, Condition::Equal, 0), 20_000_000, false), 3);
    assert!(start.elapsed() >= Duration::from_millis(20));
    assert!(wait_any(&[demand(signal, Condition::NotEqual, 3)], 1_000_000, true).is_none());
    signal.destroy();
}

#[test]
fn wait_any_names_the_signal_that_changed() {
    let (a, b) = (Signal::create(1).unwrap(), Signal::create(1).unwrap());
    std::thread::scope(|scope| {
        let demands = [demand(a, Condition::Equal, 0), demand(b, Condition::GreaterOrEqual, 5)];
        let waiter = scope.spawn(move || wait_any(&demands, u64::MAX, false));
        std::thread::sleep(Duration::from_millis(20));
        b.store(6);
        assert_eq!(waiter.join().unwrap(), Some((1, 6)));
    });
    a.destroy();
    b.destroy();
}

#[test]
fn a_store_that_device_code_made_is_noticed() {
    let signal = Signal::create(1).unwrap();
    let noticed = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            wait(demand(signal, Condition::Equal, 0), u64::MAX, false);
            noticed.store(1, Ordering::SeqCst);
        });
        while signal.side.watchers.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(10));
        signal.wire.value.store(0, Ordering::SeqCst);
        device_wrote();
    });
    assert_eq!(noticed.load(Ordering::SeqCst), 1);
    signal.destroy();
}

#[test]
fn handovers_between_two_threads_lose_no_wakeup() {
    let (ping, pong) = (Signal::create(0).unwrap(), Signal::create(0).unwrap());
    const ROUNDS: i64 = 20_000;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=ROUNDS {
                wait(demand(ping, Condition::GreaterOrEqual, round), u64::MAX, round % 2 == 0);
                pong.store(round);
            }
        });
        for round in 1..=ROUNDS {
            ping.store(round);
            wait(demand(pong, Condition::GreaterOrEqual, round), u64::MAX, round % 3 == 0);
        }
    });
    ping.destroy();
    pong.destroy();
}

#[test]
fn watches_are_counted_out_when_dropped() {
    let signal = Signal::create(0).unwrap();
    let (first, second) = (signal.watch(Watcher::Processor), signal.watch(Watcher::Service));
    assert_ne!(signal.side.watchers.load(Ordering::SeqCst), 0);
    drop(first);
    drop(second);
    assert_eq!(signal.side.watchers.load(Ordering::SeqCst), 0);
    signal.destroy();
}

#[test]
fn signals_have_mailboxes_that_device_code_can_write_and_doorbells_have_none() {
    let (start, end) = super::device_range().unwrap();
    let signals: Vec<Signal> = (0..3).map(|_| Signal::create(0).unwrap()).collect();
    let mailboxes: Vec<u64> = signals.iter().map(|s| s.wire.mailbox.load(Ordering::Relaxed)).collect();
    for (signal, &mailbox) in signals.iter().zip(&mailboxes) {
        assert!(mailbox % 8 == 0 && (start..end - 7).contains(&mailbox));
        // Nothing reads what lands there.
        signal.store(5);
        signal.wire.doorbell.store(u64::MAX, Ordering::Relaxed);
        assert_eq!((signal.load(), signal.times()), (5, (0, 0)));
    }
    assert!(mailboxes[0] != mailboxes[1] && mailboxes[1] != mailboxes[2]);
    let doorbell = Signal::create_doorbell(0, 0).unwrap();
    assert_eq!(doorbell.wire.mailbox.load(Ordering::Relaxed), 0);
    doorbell.destroy();
    signals.into_iter().for_each(|signal| assert!(signal.destroy()));
}

/// As `__ockl_hsa_signal_add` does it: add to the value, store the event in the mailbox, send the interrupt.
#[test]
fn an_interrupt_of_device_code_wakes_who_waits() {
    let signal = Signal::create(0).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait(demand(signal, Condition::NotEqual, 0), u64::MAX, false));
        std::thread::sleep(Duration::from_millis(30));
        signal.wire.value.fetch_add(1, Ordering::Release);
        signal.wire.doorbell.store(signal.wire.event_id.load(Ordering::Relaxed).into(), Ordering::Release);
        device_wrote();
        assert_eq!(waiter.join().unwrap(), 1);
    });
    signal.destroy();
}
