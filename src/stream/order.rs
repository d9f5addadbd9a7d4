//! A stream as memory pools see it: where on it memory was freed, and which frees of others it is behind.

#![forbid(unsafe_code)]

use super::{Held, StreamInner};
use crate::{
    device::{Device, Fence},
    error::Result,
    memory::stream_pool::{FreeLists, Mark, Ordered, PassedFrees, current::Pools},
};

impl StreamInner {
    /// The frees that a wait for a point that is yet to be marked on the stream comes behind; the stream is behind them
    /// itself.
    pub(super) fn passed_frees(&self) -> PassedFrees {
        self.order.passed(self.id, self.activity())
    }
}

impl Ordered for Held {
    fn id(&self) -> u64 {
        self.id
    }

    fn device(&self) -> &Device {
        &self.device
    }

    fn pools(&self) -> &'static Pools {
        self.pools
    }

    fn freed(&self) -> &FreeLists {
        &self.freed
    }

    fn free_point(&self, mark: bool) -> u64 {
        self.order.note_free(mark);
        self.activity()
    }

    fn passed_frees(&self) -> PassedFrees {
        (**self).passed_frees()
    }

    fn catch_up(&self) -> Result<()> {
        self.submission().map(drop)
    }

    fn behind(
        &self,
        points: &mut dyn Iterator<Item = u64>,
        patient: bool,
    ) -> Result<Option<Vec<Option<Mark>>>> {
        let submission = if patient { Some(self.own_submission()?) } else { self.try_own_submission()? };
        let Some(mut submission) = submission else { return Ok(None) };
        points.map(|point| submission.behind(point)).collect::<Result<_>>().map(Some)
    }

    fn wait_for(&self, fence: &Fence, lane: u64) -> Result<()> {
        let mut submission = self.submission()?;
        if !fence.is_on(&self.device) && !fence.is_over() {
            submission.watch(fence);
        }
        submission.wait(fence, lane)?;
        submission.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, atomic::Ordering};

    use super::*;
    use crate::{
        device::fence::Keep,
        stream::{Stream, StreamKind},
    };

    #[test]
    fn what_packets_need_is_kept_until_they_are_over_whatever_mark_comes_before_them() {
        let device = Device::get(0).unwrap();
        let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
        let mut submission = stream.submission().unwrap();
        submission.release();
        submission.finish().unwrap();
        let point = stream.0.free_point(true);
        let mut submission = stream.submission().unwrap();
        let (held, needed) = (submission.signal(1).unwrap(), Arc::new(()));
        submission.wait_signal(held.clone());
        submission.keep(Keep::Other(needed.clone()));
        submission.finish().unwrap();
        while stream.0.behind(&mut [point].into_iter(), true).unwrap().unwrap()[0].is_some() {
            std::thread::yield_now();
        }
        // Lets go of what was kept for fences that have fired.
        drop(stream.submission().unwrap());
        assert_eq!(Arc::strong_count(&needed), 2, "the packets still wait");
        held.store(0, Ordering::Release);
        stream.fence().unwrap().wait().unwrap();
        drop(stream.submission().unwrap());
        assert_eq!(Arc::strong_count(&needed), 1);
    }
}
