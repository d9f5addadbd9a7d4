//! Waiting for a packet processor, which sends no signal when it makes room.

use std::time::Duration;

use crate::sync::yield_now;

/// Spins, then yields, then sleeps for longer and longer.
pub(super) struct Backoff {
    attempts: u32,
}

/// Attempts that only spin: a small packet retires within a few hundred nanoseconds.
const SPINS: u32 = 64;
/// Attempts that give the processor away before the thread sleeps.
const YIELDS: u32 = 64;
/// The longest sleep; half a ring of empty kernels takes longer than this.
const LONGEST: Duration = Duration::from_micros(200);

impl Backoff {
    pub(super) const fn new() -> Self {
        Self { attempts: 0 }
    }

    pub(super) fn wait(&mut self) {
        self.attempts = self.attempts.saturating_add(1);
        if cfg!(loom) {
            // A model has no time that could pass.
            yield_now();
        } else if self.attempts <= SPINS {
            std::hint::spin_loop();
        } else if self.attempts <= SPINS + YIELDS {
            yield_now();
        } else {
            std::thread::sleep(Duration::from_micros(u64::from(self.attempts - SPINS - YIELDS)).min(LONGEST));
        }
    }
}
