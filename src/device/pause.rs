//! How long a producer sleeps before it looks again whether a full ring has room.

#![forbid(unsafe_code)]

use std::time::Duration;

/// At most.
const LONGEST: Duration = Duration::from_micros(200);

/// The next sleep; each is twice as long as the one before.
pub(crate) struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(Duration::from_micros(1))
    }
}

impl Pause {
    /// Sleeps.
    pub(crate) fn wait(&mut self) {
        std::thread::sleep(self.0);
        self.0 = (self.0 * 2).min(LONGEST);
    }
}
