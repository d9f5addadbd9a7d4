//! Sleeping until something may have changed. `model` includes this file, too, on atomics and a futex of loom's.

use std::time::Duration;

use super::{AtomicU32, Ordering, fence, futex_wait, futex_wake};

/// An event counter: sleepers lose no notification, and a notifier without sleepers pays one load.
#[derive(Default)]
pub struct Event {
    pub(super) sequence: AtomicU32,
    pub(super) sleepers: AtomicU32,
}

impl Event {
    /// Sleeps until notified, or `timeout`, unless `ready` (asked once the notifier can see us) holds.
    pub fn wait(&self, timeout: Option<Duration>, ready: impl FnOnce() -> bool) {
        // ORDER: SeqCst. The count goes up before `ready` looks; a notifier publishes before it reads
        // the count; so one of the two sees the other.
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let seen = self.sequence.load(Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if !ready() {
            futex_wait(&self.sequence, seen, timeout);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes all sleepers, and says whether there were any; what was stored before is visible to them.
    pub fn notify(&self) -> bool {
        fence(Ordering::SeqCst);
        let sleeps = self.sleepers.load(Ordering::SeqCst) != 0;
        if sleeps {
            self.sequence.fetch_add(1, Ordering::SeqCst);
            futex_wake(&self.sequence);
        }
        sleeps
    }
}
