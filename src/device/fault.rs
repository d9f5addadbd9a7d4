//! What a fault on the device leaves behind: an epoch that tells lost work from later work.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use crate::error::Error;

/// The faults of one device.
///
/// A fault kills the queue it happened on, and with it every packet that was ordered behind it, on
/// whatever queue. The runtime therefore gives up all queues of the device at once: work submitted in
/// an older epoch than the current one has either completed or never will.
#[derive(Default)]
pub(crate) struct Faults {
    epoch: AtomicU64,
    /// A fault happened that no caller has been told of.
    unreported: AtomicBool,
    latest: Mutex<Option<Error>>,
}

impl Faults {
    /// Number of faults so far.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Records a fault; work of the current epoch that has not completed is lost.
    pub(crate) fn record(&self, error: Error) {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if self.unreported.load(Ordering::Relaxed) {
            return; // One kernel's fault is often reported twice: by the event and by its queue.
        }
        *latest = Some(error);
        self.unreported.store(true, Ordering::Relaxed);
        // ORDER: Release. Who sees the new epoch must find the error.
        self.epoch.fetch_add(1, Ordering::Release);
    }

    /// Whether a fault waits to be reported.
    pub(crate) fn is_pending(&self) -> bool {
        self.unreported.load(Ordering::Relaxed)
    }

    /// Takes the fault that nobody was told of yet.
    pub(crate) fn take(&self) -> Option<Error> {
        self.unreported.swap(false, Ordering::AcqRel).then(|| self.error())
    }

    /// The latest fault.
    pub(crate) fn error(&self) -> Error {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.clone().unwrap_or_else(|| Error::LaunchFailure("the device was reset".into()))
    }
}
