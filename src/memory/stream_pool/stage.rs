//! Whether memory of a pool is allocated: what decides between two threads that free it.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU8, Ordering};

/// Where an allocation of a pool is between being made and being forgotten.
///
/// | from | to | by |
/// |---|---|---|
/// | live | kept | the call that frees it for its stream to have it again |
/// | kept | live | the stream, when it allocates |
/// | live | gone | the call that frees it otherwise |
/// | kept | gone | the thread that gives it back to the pool |
///
/// What is kept or gone is not found as an allocation.
pub(super) struct Stage(AtomicU8);

const LIVE: u8 = 0;
const KEPT: u8 = 1;
const GONE: u8 = 2;

impl Stage {
    pub(super) fn live() -> Self {
        Self(AtomicU8::new(LIVE))
    }

    /// Whether it is allocated.
    pub(super) fn is_live(&self) -> bool {
        self.0.load(Ordering::Acquire) == LIVE
    }

    /// Frees the allocation for its stream to have it again; `false` if another thread was faster.
    pub(super) fn retire(&self) -> bool {
        self.change(LIVE, KEPT)
    }

    /// Frees the allocation for good; `false` if another thread was faster.
    pub(super) fn end(&self) -> bool {
        self.change(LIVE, GONE)
    }

    /// Allocates what was kept. For the thread that took it out of the list it was kept in: no other changes it.
    pub(super) fn revive(&self) {
        // ORDER: release. A thread that finds the allocation finds what came before it.
        self.0.store(LIVE, Ordering::Release);
    }

    /// Lets go of what was kept. As [`Stage::revive`].
    pub(super) fn forget(&self) {
        self.0.store(GONE, Ordering::Release);
    }

    fn change(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_is_freed_once() {
        let stage = Stage::live();
        assert!(stage.is_live() && stage.retire());
        assert!(!stage.is_live() && !stage.retire() && !stage.end());
        stage.revive();
        assert!(stage.is_live() && stage.end());
        assert!(!stage.is_live() && !stage.retire() && !stage.end());
    }
}
