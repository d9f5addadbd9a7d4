//! A number of bytes and the highest that it was.

use std::sync::atomic::{AtomicU64, Ordering};

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

/// A [`Meter`] that threads count on without waiting for each other: in cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct SharedMeter {
    current: AtomicU64,
    high: AtomicU64,
}

impl SharedMeter {
    /// As [`Meter::add`].
    #[inline]
    pub(crate) fn add(&self, bytes: u64) {
        let now = self.current.fetch_add(bytes, Ordering::Relaxed) + bytes;
        // Written only where it changes.
        if self.high.load(Ordering::Relaxed) < now {
            self.high.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// As [`Meter::sub`].
    #[inline]
    pub(crate) fn sub(&self, bytes: u64) {
        let before = self.current.fetch_sub(bytes, Ordering::Relaxed);
        debug_assert!(bytes <= before, "more came back than was counted");
    }

    /// As [`Meter::reset_high`].
    pub(crate) fn reset_high(&self) {
        self.high.store(self.current.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// What it says now.
    pub(crate) fn read(&self) -> Meter {
        let current = self.current.load(Ordering::Relaxed);
        // Somebody may be between counting and marking.
        Meter { current, high: self.high.load(Ordering::Relaxed).max(current) }
    }
}
