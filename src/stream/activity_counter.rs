//! How the default stream finds out that blocking streams have submitted something. `model` includes this file, too, on
//! atomics of loom's.

#![forbid(unsafe_code)]

use super::{AtomicU64, Ordering, fence};

/// Tells the default stream of a device whether blocking streams have submitted anything since it last looked.
///
/// Every submission to a blocking stream asks, and the first behind a look writes: where the default stream is not used,
/// threads with streams of their own share a line that is not written.
#[derive(Default)]
pub(crate) struct ActivityCounter {
    /// How often the default stream has begun to look for submissions.
    looks: AtomicU64,
    /// The latest look that a submission came behind, or may have.
    latest: AtomicU64,
}

impl ActivityCounter {
    /// Notes a submission whose stream has just said so itself (with a `SeqCst` store of its activity).
    pub(crate) fn submitted(&self) {
        // ORDER: SeqCst, behind the activity's store: either this sees the look, or the look the activity.
        let look = self.looks.load(Ordering::SeqCst);
        if self.latest.load(Ordering::Relaxed) < look {
            // ORDER: Release, behind the packets and the activity.
            self.latest.fetch_max(look, Ordering::Release);
        }
    }

    /// Begins a look at the streams' activities; returns its number.
    pub(crate) fn look(&self) -> u64 {
        let number = self.looks.fetch_add(1, Ordering::SeqCst) + 1;
        // ORDER: SeqCst, before the activities are loaded; see above.
        fence(Ordering::SeqCst);
        number
    }

    /// Whether nothing was submitted that this look can have missed.
    pub(crate) fn is_none_since(&self, look: u64) -> bool {
        self.latest.load(Ordering::Acquire) < look
    }
}
