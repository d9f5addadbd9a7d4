//! Which frees of other streams a stream is behind: what events and the default stream have told it.
//!
//! A free of pooled memory lies where the stream's activity stood when it was made. A record of an event notes how far the
//! stream has got, and how far those that it is behind; a wait for the event takes that over. All of it errs on the side of
//! knowing too little, which costs a pool the chance to use memory again and nothing else.
//!
//! A free puts nothing on the stream. What waits for it is found when a pool asks ([`behind`](super::Ordered::behind)); where several
//! streams use a pool, the next submission puts a fence between the free and itself, so that they need not wait for more.

#![forbid(unsafe_code)]

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::{Mutex, MutexGuard};

use crate::device::Fence;

/// A stream that is behind more streams than this forgets them all: most of them are gone.
const MOST_STREAMS: usize = 64;

/// A fence and the lane that it lies on.
pub(crate) type Mark = (Fence, u64);

/// For some streams, by their identity, the activity that has been passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PassedFrees(BTreeMap<u64, u64>);

impl PassedFrees {
    /// Whether a free of `stream` that lies behind so much of its activity is among them.
    pub(crate) fn include(&self, stream: u64, activity: u64) -> bool {
        self.0.get(&stream).is_some_and(|&passed| passed >= activity)
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

/// What a stream is behind, and what others want of it.
#[derive(Default)]
pub(crate) struct Order {
    others: Mutex<PassedFrees>,
    /// Pooled memory was freed on the stream at some time.
    frees: AtomicBool,
    /// Other streams may want what was freed here since the latest fence.
    mark: AtomicBool,
}

impl Order {
    /// Notes a free. With `mark`, the next submission puts a fence behind it.
    pub(crate) fn note_free(&self, mark: bool) {
        // Written only where it changes: threads may free on one stream again and again.
        for (noted, note) in [(&self.frees, true), (&self.mark, mark)] {
            if note && !noted.load(Ordering::Relaxed) {
                noted.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Whether a fence is to come before what is submitted now. Asked once for each.
    #[inline]
    pub(crate) fn takes_mark(&self) -> bool {
        self.mark.load(Ordering::Relaxed) && self.mark.swap(false, Ordering::Relaxed)
    }

    /// What a wait for a point of `stream` comes behind; this is its order, and the point is yet to be marked behind
    /// `activity`.
    pub(crate) fn passed(&self, stream: u64, activity: u64) -> PassedFrees {
        let mut passed = self.others().clone();
        if activity > 0 && self.frees.load(Ordering::Relaxed) {
            passed.0.insert(stream, activity);
        }
        passed
    }

    /// Notes what the stream is behind from now on: the wait for it has been published.
    pub(crate) fn learn(&self, passed: &PassedFrees) {
        if !passed.0.is_empty() {
            self.others().merge(passed);
        }
    }

    fn others(&self) -> MutexGuard<'_, PassedFrees> {
        self.others.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_event_tells_is_handed_on_but_nothing_later() {
        let (first, second, third) = (Order::default(), Order::default(), Order::default());
        let (early, late) = (3, 4);
        assert!(!first.passed(1, early).include(1, early), "there was no free");
        first.note_free(false);
        let event = first.passed(1, early);
        second.learn(&event);
        let relayed = second.passed(2, 9);
        assert!(!relayed.include(2, 1), "the second stream has freed nothing");
        third.learn(&relayed);
        assert!(third.passed(3, 9).include(1, early));
        assert!(!third.passed(3, 9).include(1, late));
        second.learn(&first.passed(1, late));
        second.learn(&event);
        assert!(second.passed(2, 9).include(1, late), "an older event takes nothing back");
    }

    #[test]
    fn a_mark_is_asked_for_where_others_may_want_the_memory() {
        let order = Order::default();
        order.note_free(false);
        assert!(!order.takes_mark());
        order.note_free(true);
        order.note_free(false);
        assert!(order.takes_mark() && !order.takes_mark(), "once");
    }

    #[test]
    fn a_stream_does_not_remember_any_number_of_streams() {
        let order = Order::default();
        for stream in 1..1000 {
            let other = Order::default();
            other.note_free(false);
            order.learn(&other.passed(stream, 1));
            assert!(order.passed(0, 1).0.len() <= MOST_STREAMS);
        }
    }
}
