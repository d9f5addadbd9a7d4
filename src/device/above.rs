//! What modules above this one store with a device: the services and the streams, as traits that the device calls.
//!
//! Each has one value for each device, made when it is first asked for. A device lives as long as the process, and so
//! do these.

#![forbid(unsafe_code)]

use std::{any::Any, sync::OnceLock};

use super::{Fence, fault::Faults};
use crate::error::Result;

/// The services of a device: its memory, its pools, what kernels ask of the host.
pub(crate) trait Services: Any + Send + Sync {
    /// A fault has taken queues, which are about to be stopped.
    fn before_queues_stop(&self);

    /// No queue of the device is left, and no kernel runs.
    fn all_queues_are_gone(&self);

    /// A caller has waited for work of the device.
    fn work_was_waited_for(&self);

    /// The ends of what kernels may have launched.
    fn launched_by_kernels(&self) -> Vec<Fence>;
}

/// The streams of a device.
pub(crate) trait Streams: Any + Send + Sync {
    /// A fence behind all work in flight of each stream. Work that a fault of `faults` takes meanwhile has none: it
    /// never ends.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    fn fences(&self, faults: &Faults) -> Result<Vec<Fence>>;

    /// Lets go of what completed work needed.
    fn let_go_of_what_is_over(&self);

    /// Has streams give lanes back that they have for themselves, and that nothing is in flight on.
    fn leave_own_lanes(&self);
}

/// The value that one module above stores with a device.
pub(crate) struct Above<T: ?Sized + 'static>(OnceLock<&'static T>);

impl<T: ?Sized> Default for Above<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T: ?Sized> Above<T> {
    /// The value, if it was made.
    pub(super) fn get(&self) -> Option<&'static T> {
        self.0.get().copied()
    }

    /// The value, made by `make` if there is none yet.
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> Box<T>) -> &'static T {
        self.0.get_or_init(|| Box::leak(make()))
    }
}
