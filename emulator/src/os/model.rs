//! Loom explores every interleaving of sleepers and notifiers of an [`Event`]: a notification that got lost is a thread
//! that sleeps for ever, which loom reports as a deadlock.

#[path = "event.rs"]
#[allow(clippy::duplicate_mod, reason = "the same code on other atomics is what a model is")]
mod event;

use std::time::Duration;

use loom::{
    model::Builder,
    sync::{Arc, Condvar, Mutex, MutexGuard, atomic::AtomicBool},
    thread,
};
// What the event stands on.
use loom::sync::atomic::{AtomicU32, Ordering, fence};

use event::Event;

/// The kernel's side of a futex: comparing and falling asleep are one step, to wakers.
struct Kernel {
    lock: Mutex<()>,
    wake: Condvar,
}

loom::lazy_static! {
    static ref KERNEL: Kernel = Kernel { lock: Mutex::new(()), wake: Condvar::new() };
}

impl Kernel {
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().expect("no thread panics while it holds the lock")
    }
}

fn futex_wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    assert_eq!(timeout, None, "a model has no time that could pass");
    let guard = KERNEL.lock();
    if word.load(Ordering::Relaxed) == expected {
        drop(KERNEL.wake.wait(guard));
    }
}

fn futex_wake(_word: &AtomicU32) {
    let _guard = KERNEL.lock();
    KERNEL.wake.notify_all();
}

/// Has `sleepers` threads wait until all of the flags are set, each of which another thread sets.
fn explore(sleepers: usize, flags: usize) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let event = Arc::new(Event::default());
        let flags: Arc<Vec<AtomicBool>> = Arc::new((0..flags).map(|_| AtomicBool::new(false)).collect());
        let notifiers = (0..flags.len()).map(|n| {
            let (event, flags) = (event.clone(), flags.clone());
            thread::spawn(move || {
                // Relaxed: the event alone has to see to it that a sleeper finds the flag.
                flags[n].store(true, Ordering::Relaxed);
                event.notify();
            })
        });
        let notifiers: Vec<_> = notifiers.collect();
        let sleep = {
            let (event, flags) = (event.clone(), flags.clone());
            move || {
                let ready = || flags.iter().all(|flag| flag.load(Ordering::Relaxed));
                while !ready() {
                    event.wait(None, ready);
                }
            }
        };
        let others: Vec<_> = (1..sleepers).map(|_| thread::spawn(sleep.clone())).collect();
        sleep();
        for thread in notifiers.into_iter().chain(others) {
            thread.join().expect("no thread panics");
        }
    });
}

#[test]
fn a_sleeper_loses_no_notification() {
    explore(1, 1);
}

#[test]
fn a_sleeper_loses_none_of_two_notifications() {
    explore(1, 2);
}

#[test]
fn one_notification_reaches_two_sleepers() {
    explore(2, 1);
}
