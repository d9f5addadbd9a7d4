//! What a program wishes of a stream beside its kind: remembered, and honoured where the hardware has a say in it.

use std::sync::atomic::Ordering;

use super::Stream;
use crate::{
    device::{LaneKind, WaitPolicy},
    error::{Error, Result},
    stream::StreamKind,
};
use aqlipse_graph::AccessPolicy;

/// The traffic that a kernel's memory accesses are ordered with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncDomain {
    /// That of most kernels.
    #[default]
    Default,
    /// That of kernels that talk to other devices.
    Remote,
}

/// What a stream's work is to be like, as far as that is a wish.
///
/// None of these changes what a kernel computes. GFX9 has no window of persisting accesses, so that only an empty one is
/// given; all kernels are in one domain, which orders at least as much as two would.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attributes {
    /// How threads wait for the stream; `Auto` leaves that to the [device](crate::Device::set_wait_policy).
    pub wait: WaitPolicy,
    /// The window of memory that caches shall keep.
    pub access_policy: AccessPolicy,
    /// The domain of its kernels.
    pub domain: SyncDomain,
}

impl Stream {
    /// What was wished of the stream.
    pub fn attributes(&self) -> Attributes {
        *self.0.attributes.lock()
    }

    /// Changes what is wished of the work that follows.
    pub fn set_attributes(&self, change: impl FnOnce(&mut Attributes)) {
        change(&mut self.0.attributes.lock());
    }

    /// Gives the work that follows another priority; smaller is more urgent. It still follows what is on the stream.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for the default stream, which has the ordinary priority; a fault of earlier work.
    pub fn set_priority(&self, priority: i32) -> Result<()> {
        if self.priority() == priority {
            return Ok(());
        }
        if self.kind() == StreamKind::Legacy {
            return Err(Error::InvalidValue("the priority of the default stream"));
        }
        let submission = self.0.own_submission()?;
        // A stream that is restricted to some units stays on their lanes, which have one priority.
        let lane = match LaneKind::from(submission.home()) {
            restricted @ LaneKind::Restricted { .. } => restricted,
            _ => self.device().assign_lane(priority),
        };
        submission.move_to(lane.number())?;
        self.0.priority.store(priority, Ordering::Relaxed);
        Ok(())
    }

    /// Gives the stream the attributes of another one, its priority as well.
    ///
    /// # Errors
    /// As [`Stream::set_priority`].
    pub fn copy_attributes(&self, from: &Self) -> Result<()> {
        self.set_priority(from.priority())?;
        let attributes = from.attributes();
        self.set_attributes(|own| *own = attributes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    #[test]
    fn work_of_another_priority_follows_what_is_on_the_stream() {
        let device = Device::get(0).unwrap();
        let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
        let order = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        for (n, priority) in [0, -1, 1, -1, 0].into_iter().enumerate() {
            let before = stream.lane_number();
            stream.set_priority(priority).unwrap();
            assert_eq!((stream.priority(), stream.lane_number() != before), (priority, n > 0));
            let order = order.clone();
            let run = move || {
                // The first is the slowest.
                std::thread::sleep(std::time::Duration::from_millis(if n == 0 { 50 } else { 1 }));
                order.lock().unwrap().push(n);
            };
            stream.host(aqlipse_graph::HostFn::new(run)).unwrap();
        }
        stream.synchronize().unwrap();
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_default_stream_keeps_its_priority() {
        let device = Device::get(0).unwrap();
        let stream = device.default_stream();
        assert_eq!(stream.set_priority(0), Ok(()));
        assert!(matches!(stream.set_priority(-1), Err(Error::InvalidValue(_))));
    }
}
