//! A number of bytes and the highest that it was.

#[cfg(test)]
mod model;
mod shared;
#[cfg(test)]
mod tests;

use std::{
    cell::Cell,
    sync::atomic::{AtomicI64, AtomicUsize, Ordering},
};

use parking_lot::{Mutex, MutexGuard};

use self::shared::Shared;

/// Bytes in some use now, and the most at once since the mark was reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// Bytes now.
    pub current: u64,
    /// The most at any time since the mark was last reset, or ever.
    pub high: u64,
}

impl Meter {
    /// Counts `bytes` more.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.current += bytes;
        self.high = self.high.max(self.current);
    }

    /// Counts `bytes` less.
    pub(crate) fn sub(&mut self, bytes: u64) {
        debug_assert!(bytes <= self.current, "more came back than was counted");
        self.current = self.current.saturating_sub(bytes);
    }

    /// Counts what has `before` bytes as `now`.
    pub(crate) fn change(&mut self, before: u64, now: u64) {
        match now.checked_sub(before) {
            Some(more) => self.add(more),
            None => self.sub(before - now),
        }
    }

    /// Forgets what was before: what is in use now is the most so far.
    pub(crate) fn reset_high(&mut self) {
        self.high = self.current;
    }
}

/// Shares of a [`SharedMeter`]: with more threads than these, some have one together.
const SHARES: usize = 64;

/// A [`Meter`] that threads count on without writing what others write, as long as the high mark is not reached again.
#[derive(Debug, Default)]
pub(crate) struct SharedMeter(Shared);

impl SharedMeter {
    /// As [`Meter::add`].
    #[inline]
    pub(crate) fn add(&self, bytes: u64) {
        self.0.add(share(), bytes);
    }

    /// As [`Meter::sub`].
    #[inline]
    pub(crate) fn sub(&self, bytes: u64) {
        self.0.sub(share(), bytes);
    }

    /// As [`Meter::reset_high`].
    pub(crate) fn reset_high(&self) {
        self.0.reset_high();
    }

    /// What it says now.
    pub(crate) fn read(&self) -> Meter {
        self.0.read()
    }
}

/// The calling thread's share, the same of each meter: a thread may use many streams, and should find at one what it
/// gave back at another.
#[inline]
fn share() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        // None yet. A constant, for that costs no look whether the place is ready.
        static SHARE: Cell<usize> = const { Cell::new(SHARES) };
    }
    SHARE.with(|share| {
        if share.get() == SHARES {
            share.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARES);
        }
        share.get()
    })
}
