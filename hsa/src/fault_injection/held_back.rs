//! Holding back one of the calls by which resources come and go.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Condvar, Mutex, MutexGuard};

/// Whether there is a call to be held back.
static ANY: AtomicBool = AtomicBool::new(false);
static CALLS: Mutex<Calls> = Mutex::new(Calls { round: 0, passed: 0, held: 0, is_there: false });
static LET_GO: Condvar = Condvar::new();

struct Calls {
    /// Counts the calls of [`hold_back`]: a thread that was held before must not stay for the next one.
    round: u64,
    /// Since it was said which one to hold.
    passed: u64,
    /// The number of the one to hold, from 1; 0 for none.
    held: u64,
    /// It has come.
    is_there: bool,
}

/// A call that is held back, or will be when it comes, until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct HeldBack(());

/// Holds back the `n`-th call from here on, of any thread, that makes a resource or ends one, before the real table is
/// called. One at a time.
pub fn hold_back(n: u64) -> HeldBack {
    let mut calls = calls();
    *calls = Calls { round: calls.round + 1, passed: 0, held: n, is_there: false };
    drop(calls);
    ANY.store(true, Ordering::Relaxed);
    HeldBack(())
}

impl HeldBack {
    /// Whether a thread is held back.
    pub fn is_there(&self) -> bool {
        calls().is_there
    }
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        ANY.store(false, Ordering::Relaxed);
        let mut calls = calls();
        (calls.held, calls.is_there) = (0, false);
        drop(calls);
        LET_GO.notify_all();
    }
}

/// Passes a call, or stays for as long as it is held back.
pub(super) fn pass() {
    if !ANY.load(Ordering::Relaxed) {
        return;
    }
    let mut calls = calls();
    calls.passed += 1;
    if calls.passed == calls.held {
        calls.is_there = true;
        let round = calls.round;
        while calls.is_there && calls.round == round {
            LET_GO.wait(&mut calls);
        }
    }
}

fn calls() -> MutexGuard<'static, Calls> {
    CALLS.lock()
}
