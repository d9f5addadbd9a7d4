//! The streams of a device, and what they share.

#![forbid(unsafe_code)]

use std::{
    any::Any,
    sync::{Arc, OnceLock, Weak},
};

use parking_lot::Mutex;

use super::{
    DetachedEnd, DetachedWork, Held, Stream, StreamInner, activity_counter::ActivityCounter, roll::Roll,
    watchdog,
};
use crate::{
    callback,
    device::{Device, Fence, above, fault::Faults},
    error::Result,
    user_object::due::Call,
};

/// What the streams of a device share.
#[derive(Default)]
pub(crate) struct Streams {
    /// The stream that orders itself with all blocking streams.
    pub(crate) legacy: OnceLock<Stream>,
    /// The streams, and what is left of those that were let go with work in flight.
    roll: Roll<Known, DetachedWork>,
    /// Held while a stream is put behind what its kind orders it with; see `stream::legacy`.
    pub(crate) implicit_order: Mutex<()>,
    /// Tells the default stream whether blocking streams have anything new.
    pub(crate) blocking_activity: ActivityCounter,
}

/// A stream of a device.
#[derive(Clone)]
struct Known {
    stream: Arc<StreamInner>,
    /// What all copies of the stream share.
    held: Weak<Held>,
}

impl Streams {
    /// Whatever there is work of: streams, those included whose last holder is letting go of them just now, and the work
    /// in flight of streams whose last copy is gone.
    pub(crate) fn work(&self) -> (Vec<Arc<StreamInner>>, Vec<DetachedEnd>) {
        let (known, detached) = self.roll.all(|detached| detached.work.clone());
        (known.into_iter().map(|known| known.stream).collect(), detached)
    }

    pub(super) fn register(&self, stream: Arc<StreamInner>, held: &Arc<Held>) {
        self.retire_detached();
        self.roll.enter(Known { stream, held: Arc::downgrade(held) });
    }

    /// Takes over the work in flight of a stream whose last copy is gone, if there is any.
    pub(super) fn adopt(&self, stream: &Arc<StreamInner>, detached: Option<DetachedWork>) {
        self.roll.replace(|known| Arc::ptr_eq(&known.stream, stream), detached);
        self.retire_detached();
    }

    /// Lets go of what detached work needed, once it is over.
    fn retire_detached(&self) {
        let over = self.roll.take_detached(|detached| detached.work.fence.is_over());
        // What it needed may be the caller's, whose `Drop` may come here again: no lock is held.
        for detached in over {
            drop(detached.work.fence.take_keeps());
        }
    }
}

impl above::Streams for Streams {
    fn fences(&self, faults: &Faults) -> Result<Vec<Fence>> {
        let epoch = faults.epoch();
        let mut fences = Vec::new();
        let (streams, detached) = self.work();
        for stream in streams {
            match stream.own_fence() {
                Ok(fence) => fences.push(fence),
                // A fault came between, and has taken all there was to wait for.
                Err(_) if faults.epoch() != epoch => faults.put_back(),
                Err(error) => return Err(error),
            }
        }
        fences.extend(detached.into_iter().map(|detached| detached.fence));
        Ok(fences)
    }

    fn let_go_of_what_is_over(&self) {
        self.retire_detached();
    }

    fn leave_own_lanes(&self) {
        self.roll.each(|known| known.stream.try_to_go_home());
    }
}

impl Device {
    /// What its streams share.
    #[inline]
    pub(crate) fn shared_by_streams(&self) -> &'static Streams {
        let streams: &'static dyn Any = self.0.streams.get_or_make(|| {
            watchdog::start(self);
            Box::<Streams>::default()
        });
        // PANIC: nothing else is put there.
        streams.downcast_ref().expect("the streams of a device")
    }

    /// The stream that orders itself with all blocking streams (HIP's null stream).
    pub fn default_stream(&self) -> &Stream {
        self.shared_by_streams().legacy.get_or_init(|| Stream::legacy(self))
    }

    /// The streams of the device of which a copy exists.
    pub(crate) fn streams(&self) -> Vec<Stream> {
        let (known, _) = self.shared_by_streams().roll.all(|_| ());
        known.iter().filter_map(|known| known.held.upgrade().map(Stream)).collect()
    }

    /// Waits until everything that was submitted to the device has completed.
    ///
    /// # Errors
    /// The fault of a kernel that ran since the last call that reported one;
    /// [`CaptureError::Unsupported`](crate::CaptureError::Unsupported) while one of its streams captures, whose
    /// capture is invalid then; [`Error::IllegalState`](crate::Error::IllegalState) inside a host function.
    pub fn synchronize(&self) -> Result<()> {
        let _call = Call::begin();
        callback::refuse_inside()?;
        super::rules::refuse_device_synchronize(self)?;
        let outcome = self.drain();
        self.work_was_waited_for();
        self.check()?;
        outcome
    }
}
