//! The default stream's implicit order: behind every blocking stream, and they behind it.
//!
//! Who submits to a stream looks, with the stream's state locked, whether there is activity that the stream is not
//! behind yet ([`is_behind`]). If there is, it lets go of the state, asks the other streams for fences, one state
//! locked at a time, and publishes the waits ([`catch_up`]). What has been seen is noted only when the waits stand in
//! the ring: another thread that submits to the same stream must not run ahead of them.

use std::sync::{
    PoisonError,
    atomic::{AtomicU64, Ordering, fence},
};

use super::{PassedFrees, Stream, StreamInner, StreamKind, Submission};
use crate::error::Result;

/// Tells the default stream of a device whether blocking streams have submitted anything since it last looked.
///
/// Every submission to a blocking stream asks, and the first behind a look writes: where nobody uses the default stream,
/// threads with streams of their own share a line that nobody writes.
#[derive(Default)]
pub(crate) struct News {
    /// How often the default stream has begun to look for submissions.
    looks: AtomicU64,
    /// The latest look that a submission came behind, or may have.
    latest: AtomicU64,
}

impl News {
    /// Notes a submission whose stream has just said so itself (with a `SeqCst` store of its activity).
    pub(super) fn submitted(&self) {
        // ORDER: SeqCst, behind the activity's store: either this sees the look, or the look the activity.
        let look = self.looks.load(Ordering::SeqCst);
        if self.latest.load(Ordering::Relaxed) < look {
            // ORDER: Release, behind the packets and the activity.
            self.latest.fetch_max(look, Ordering::Release);
        }
    }

    /// Begins a look at the streams' activities; returns its number.
    fn look(&self) -> u64 {
        let number = self.looks.fetch_add(1, Ordering::SeqCst) + 1;
        // ORDER: SeqCst, before the activities are loaded; see above.
        fence(Ordering::SeqCst);
        number
    }

    /// Whether nothing was submitted that this look can have missed.
    fn is_none_since(&self, look: u64) -> bool {
        self.latest.load(Ordering::Acquire) < look
    }
}

/// Whether `stream` is behind everything that its kind orders it with.
pub(super) fn is_behind(stream: &StreamInner) -> bool {
    let seen = stream.seen.load(Ordering::Acquire);
    match stream.kind {
        StreamKind::NonBlocking => true,
        StreamKind::Blocking => stream.device.0.legacy.get().is_none_or(|legacy| legacy.0.activity() == seen),
        StreamKind::Legacy => stream.device.0.blocking_news.is_none_since(seen),
    }
}

/// Opens `stream` for packets that follow whatever its kind orders it with.
pub(super) fn catch_up(stream: &Stream) -> Result<Submission<'_>> {
    let device = stream.device();
    // One thread at a time: what one has noted of the other streams, no second one may find before it is true.
    let _order = device.0.implicit_order.lock().unwrap_or_else(PoisonError::into_inner);
    let mut fences = Vec::new();
    // Whose activity up to where the default stream is behind.
    let mut passed: Vec<(Stream, u64)> = Vec::new();
    // Asked for before the fences: a free that comes in between may lie behind them.
    let mut frees: Vec<PassedFrees> = Vec::new();
    let seen = match stream.kind() {
        StreamKind::NonBlocking => 0,
        StreamKind::Blocking => match device.0.legacy.get() {
            Some(legacy) => {
                frees.push(legacy.passed_frees());
                let (fence, activity) = legacy.own_fence_and_activity()?;
                fences.push(fence);
                activity
            }
            None => 0,
        },
        StreamKind::Legacy => {
            // First: what is submitted meanwhile will be looked at again.
            let look = device.0.blocking_news.look();
            for other in device.streams().into_iter().filter(|s| s.kind() == StreamKind::Blocking) {
                if other.0.activity() != other.0.seen_by_legacy.load(Ordering::Relaxed) {
                    frees.push(other.passed_frees());
                    let (fence, activity) = other.own_fence_and_activity()?;
                    fences.push(fence);
                    passed.push((other, activity));
                }
            }
            let orphans = device.orphans();
            let blocking = orphans.iter().filter(|orphan| orphan.kind == StreamKind::Blocking);
            fences.extend(blocking.map(|orphan| (orphan.fence.clone(), orphan.lane)));
            look
        }
    };
    let mut submission = stream.own_submission()?;
    for (fence, lane) in &fences {
        submission.wait(fence, *lane);
    }
    submission.flush()?;
    frees.iter().for_each(|frees| stream.learn(frees));
    for (other, activity) in &passed {
        other.0.seen_by_legacy.store(*activity, Ordering::Relaxed);
    }
    stream.0.seen.store(seen, Ordering::Release);
    Ok(submission)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_good_until_the_next_submission() {
        let news = News::default();
        assert!(!news.is_none_since(0), "nobody has looked yet");
        let first = news.look();
        assert!(news.is_none_since(first));
        news.submitted();
        news.submitted();
        assert!(!news.is_none_since(first));
        let second = news.look();
        assert!(news.is_none_since(second) && !news.is_none_since(first));
        // One that comes while the streams are looked at may have been missed.
        let third = news.look();
        news.submitted();
        assert!(!news.is_none_since(third));
    }
}
