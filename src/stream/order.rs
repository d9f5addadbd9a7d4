//! Which frees of other streams a stream is behind: what events and the default stream have told it.
//!
//! A stream numbers the frees of pooled memory that it passes. Who records an event notes how far the stream has got,
//! and how far those that it is behind; who waits for the event learns that. All of it errs on the side of knowing too
//! little, which costs a pool the chance to use memory again and nothing else.

#![forbid(unsafe_code)]

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::Stream;
use crate::{device::Fence, error::Result};

/// A stream that is behind more streams than this forgets them all: most of them are gone.
const MOST_STREAMS: usize = 64;

/// For some streams, by their identity, the number of frees that have been passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PassedFrees(BTreeMap<u64, u64>);

impl PassedFrees {
    /// Whether the `n`th free of `stream` is among them.
    pub(crate) fn include(&self, stream: u64, n: u64) -> bool {
        self.0.get(&stream).is_some_and(|&passed| passed >= n)
    }

    fn merge(&mut self, other: &Self) {
        for (&stream, &passed) in &other.0 {
            let known = self.0.entry(stream).or_default();
            *known = passed.max(*known);
        }
        if self.0.len() > MOST_STREAMS {
            self.0.clear();
        }
    }
}

/// A stream's own count, and what it is behind.
#[derive(Default)]
pub(crate) struct Order(Mutex<Known>);

#[derive(Default)]
struct Known {
    own: u64,
    others: PassedFrees,
}

impl Order {
    /// Numbers a free. Nobody else may mark a point of the stream before the free's own fence is there.
    fn count_free(&self) -> u64 {
        let mut known = self.known();
        known.own += 1;
        known.own
    }

    /// What somebody is behind who waits for a point of `stream`, whose order this is, that is yet to be marked.
    fn passed(&self, stream: u64) -> PassedFrees {
        let known = self.known();
        let mut passed = known.others.clone();
        if known.own > 0 {
            passed.0.insert(stream, known.own);
        }
        passed
    }

    /// Notes what the stream is behind from now on: the wait for it has been published.
    fn learn(&self, passed: &PassedFrees) {
        if !passed.0.is_empty() {
            self.known().others.merge(passed);
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    /// The frees that somebody is behind who waits for a point that is yet to be marked on the stream, which is behind
    /// them itself.
    pub(crate) fn passed_frees(&self) -> PassedFrees {
        self.0.order.passed(self.id())
    }

    /// Notes what the stream is behind since a wait was published.
    pub(super) fn learn(&self, passed: &PassedFrees) {
        self.0.order.learn(passed);
    }

    /// A point behind everything on the stream so far at which pooled memory is freed: its fence, the lane that the
    /// fence lies on, and the number of the free.
    ///
    /// # Errors
    /// A fault of earlier work.
    pub(crate) fn free_point(&self) -> Result<(Fence, u64, u64)> {
        let submission = self.submission()?;
        let lane = submission.lane().id();
        // With the stream locked: numbers grow as fences do, and who knows the number marks a point behind the fence.
        let n = self.0.order.count_free();
        Ok((submission.fence()?, lane, n))
    }

    /// Holds what follows back until `fence`, which lies on `lane`, has fired.
    ///
    /// # Errors
    /// A fault of earlier work.
    pub(crate) fn wait_for(&self, fence: &Fence, lane: u64) -> Result<()> {
        let mut submission = self.submission()?;
        if !fence.is_on(self.device()) && !fence.is_over() {
            submission.watch(fence);
        }
        submission.wait(fence, lane);
        submission.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_event_tells_is_handed_on_but_nothing_later() {
        let (first, second, third) = (Order::default(), Order::default(), Order::default());
        let early = first.count_free();
        let event = first.passed(1);
        let late = first.count_free();
        second.learn(&event);
        let relayed = second.passed(2);
        assert!(!relayed.include(2, 1), "the second stream has freed nothing");
        third.learn(&relayed);
        assert!(third.passed(3).include(1, early));
        assert!(!third.passed(3).include(1, late));
        second.learn(&first.passed(1));
        second.learn(&event);
        assert!(second.passed(2).include(1, late), "an older event takes nothing back");
    }

    #[test]
    fn a_stream_does_not_remember_any_number_of_streams() {
        let order = Order::default();
        for stream in 1..1000 {
            let other = Order::default();
            other.count_free();
            order.learn(&other.passed(stream));
            assert!(order.passed(0).0.len() <= MOST_STREAMS);
        }
    }
}
