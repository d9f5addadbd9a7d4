//! The default stream's implicit order: behind every blocking stream, and they behind it.
//!
//! A submission to a stream looks, with the stream's state locked, whether there is activity that the stream is not
//! behind yet ([`is_behind`]). If there is, it lets go of the state, asks the other streams for fences, one state
//! locked at a time, and publishes the waits ([`catch_up`]). What has been seen is noted only when the waits stand in
//! the ring: another thread that submits to the same stream must not run ahead of them.

use std::sync::{Arc, atomic::Ordering};

use super::{StreamInner, StreamKind, Submission};
use crate::{error::Result, memory::stream_pool::PassedFrees};

/// Whether `stream` is behind everything that its kind orders it with.
pub(super) fn is_behind(stream: &StreamInner) -> bool {
    let seen = stream.seen.load(Ordering::Acquire);
    match stream.kind {
        StreamKind::NonBlocking => true,
        StreamKind::Blocking => stream.shared.legacy.get().is_none_or(|legacy| legacy.0.activity() == seen),
        StreamKind::Legacy => stream.shared.blocking_activity.is_none_since(seen),
    }
}

/// Opens `stream` for packets that follow whatever its kind orders it with.
pub(super) fn catch_up(stream: &StreamInner) -> Result<Submission<'_>> {
    // One thread at a time: what one has noted of the other streams, no second one may find before it is true.
    let _order = stream.shared.implicit_order.lock();
    let mut fences = Vec::new();
    // Whose activity up to where the default stream is behind.
    let mut passed: Vec<(Arc<StreamInner>, u64)> = Vec::new();
    // Asked for before the fences: a free that comes in between may lie behind them.
    let mut frees: Vec<PassedFrees> = Vec::new();
    let seen = match stream.kind {
        StreamKind::NonBlocking => 0,
        StreamKind::Blocking => match stream.shared.legacy.get() {
            Some(legacy) => {
                frees.push(legacy.0.passed_frees());
                let (fence, activity) = legacy.0.own_fence_and_activity()?;
                fences.push(fence);
                activity
            }
            None => 0,
        },
        StreamKind::Legacy => {
            // First: what is submitted meanwhile will be looked at again.
            let look = stream.shared.blocking_activity.look();
            let (streams, detached) = stream.shared.work();
            for other in streams.into_iter().filter(|stream| stream.kind == StreamKind::Blocking) {
                if other.activity() != other.seen_by_legacy.load(Ordering::Relaxed) {
                    frees.push(other.passed_frees());
                    let (fence, activity) = other.own_fence_and_activity()?;
                    fences.push(fence);
                    passed.push((other, activity));
                }
            }
            let blocking = detached.into_iter().filter(|detached| detached.kind == StreamKind::Blocking);
            fences.extend(blocking.map(|detached| (detached.fence, detached.lane)));
            look
        }
    };
    let mut submission = stream.own_submission()?;
    for (fence, lane) in &fences {
        submission.wait(fence, *lane)?;
    }
    submission.flush()?;
    frees.iter().for_each(|frees| stream.order.learn(frees));
    for (other, activity) in &passed {
        other.seen_by_legacy.store(*activity, Ordering::Relaxed);
    }
    stream.seen.store(seen, Ordering::Release);
    Ok(submission)
}

#[cfg(test)]
mod tests;
