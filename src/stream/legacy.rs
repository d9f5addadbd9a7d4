//! The default stream's implicit order: behind every blocking stream, and they behind it.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::{Stream, StreamKind};
use crate::{device::Fence, error::Result};

/// The fences, with the lanes they lie on, that the next submission to `stream` must wait for.
///
/// No stream's state is locked while another's is: two threads that submit to the default stream and to a
/// blocking one would deadlock. What they submit at the same moment has no order anyway.
pub(super) fn predecessors(stream: &Stream) -> Result<SmallVec<[(Fence, u64); 4]>> {
    let mut fences = SmallVec::new();
    match stream.kind() {
        StreamKind::NonBlocking => {}
        StreamKind::Blocking => {
            if let Some(legacy) = stream.device().0.legacy.get() {
                add_unseen(legacy, &stream.0.seen, stream.0.lane, &mut fences)?;
            }
        }
        StreamKind::Legacy => {
            crate::capture::check_default_stream(stream.device(), "work")?;
            for other in stream.device().streams() {
                if other.kind() == StreamKind::Blocking {
                    // What the default stream has seen of `other` is kept with it; `other.seen` is about
                    // the default stream.
                    add_unseen(&other, &other.0.seen_by_legacy, stream.0.lane, &mut fences)?;
                }
            }
        }
    }
    Ok(fences)
}

fn add_unseen(
    of: &Stream,
    seen: &std::sync::atomic::AtomicU64,
    lane: usize,
    fences: &mut SmallVec<[(Fence, u64); 4]>,
) -> Result<()> {
    let activity = of.0.activity.load(Ordering::Acquire);
    if seen.load(Ordering::Relaxed) == activity {
        return Ok(());
    }
    // On one queue the barrier bit does it.
    if of.0.lane != lane {
        let lane = of.device().lane(of.0.lane)?;
        let state = of.0.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let fence = super::Submission::new(&of.0, state, lane.clone()).fence()?;
        fences.push((fence, lane.id()));
    }
    // The fence itself was activity.
    seen.store(of.0.activity.load(Ordering::Acquire), Ordering::Relaxed);
    Ok(())
}
