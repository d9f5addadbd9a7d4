//! A number of bytes and the highest that it was.

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

    /// Forgets what was before: what is in use now is the most so far.
    pub(crate) fn reset_high(&mut self) {
        self.high = self.current;
    }
}
