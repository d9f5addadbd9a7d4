//! What a fault on the device leaves behind: an epoch that tells lost work from later work.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use crate::error::Error;

/// The faults of one device.
///
/// A fault kills the queue it happened on, and with it every packet that was ordered behind it, on
/// whatever queue. The runtime therefore gives up all queues of the device at once: every queue belongs to the
/// epoch in which it was created, and work on a queue of an older epoch has either completed or never will.
#[derive(Default)]
pub(crate) struct Faults {
    epoch: AtomicU64,
    /// A fault happened that no caller has been told of.
    unreported: AtomicBool,
    /// The device runs nothing any more.
    lost: AtomicBool,
    latest: Mutex<Option<Error>>,
    /// Epochs of the queues that exist.
    queues: Mutex<Vec<u64>>,
}

impl Faults {
    /// Number of faults so far.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Records that a queue of `epoch` has died; work of that epoch that has not completed is lost.
    ///
    /// One fault may be reported several times, by a system event and by each queue that it stops. All of them
    /// name the same epoch, and only the first counts.
    pub(crate) fn record(&self, error: Error, epoch: u64) {
        let mut latest = lock(&self.latest);
        if self.epoch() != epoch {
            return;
        }
        *latest = Some(error);
        self.unreported.store(true, Ordering::Relaxed);
        // ORDER: Release. Who sees the new epoch must find the error.
        self.epoch.store(epoch + 1, Ordering::Release);
    }

    /// Records a fault behind which the device runs nothing any more, whatever is submitted.
    pub(crate) fn lose(&self, error: Error) {
        // ORDER: Release. Before the new epoch, so that who sees that one makes no new queue.
        self.lost.store(true, Ordering::Release);
        self.record(error, self.epoch());
    }

    /// Whether the device runs nothing any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Whether a fault waits to be reported.
    pub(crate) fn is_pending(&self) -> bool {
        self.unreported.load(Ordering::Relaxed)
    }

    /// Takes the fault that nobody was told of yet.
    pub(crate) fn take(&self) -> Option<Error> {
        self.unreported.swap(false, Ordering::AcqRel).then(|| self.error())
    }

    /// Undoes [`Faults::take`]: who took it has nobody to tell.
    pub(crate) fn put_back(&self) {
        self.unreported.store(true, Ordering::Release);
    }

    /// The latest fault.
    pub(crate) fn error(&self) -> Error {
        let latest = lock(&self.latest);
        latest.clone().unwrap_or_else(|| Error::LaunchFailure("the device was reset".into()))
    }

    /// Counts a new queue; returns its epoch.
    pub(crate) fn queue_created(&self) -> u64 {
        let mut queues = lock(&self.queues);
        let epoch = self.epoch();
        queues.push(epoch);
        epoch
    }

    /// Notes that a queue of `epoch` is destroyed: none of its packets touches memory or signals any more.
    pub(crate) fn queue_destroyed(&self, epoch: u64) {
        let mut queues = lock(&self.queues);
        if let Some(i) = queues.iter().position(|e| *e == epoch) {
            queues.swap_remove(i);
        }
    }

    /// Whether nothing submitted in `epoch` or before can act any more.
    pub(crate) fn is_settled(&self, epoch: u64) -> bool {
        epoch < self.epoch() && lock(&self.queues).iter().all(|e| *e > epoch)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &str) -> Error {
        Error::LaunchFailure(text.into())
    }

    #[test]
    fn one_fault_counts_once_however_often_it_is_reported() {
        let faults = Faults::default();
        let epoch = faults.queue_created();
        faults.record(failure("event"), epoch);
        assert_eq!(faults.take(), Some(failure("event")));
        // The queue's own callback comes after the caller was told.
        faults.record(failure("queue"), epoch);
        assert_eq!((faults.take(), faults.epoch()), (None, 1));
    }

    #[test]
    fn a_lost_device_stays_lost() {
        let faults = Faults::default();
        faults.lose(failure("fault"));
        assert_eq!((faults.take(), faults.epoch()), (Some(failure("fault")), 1));
        assert!(faults.is_lost());
        assert_eq!(faults.error(), failure("fault"));
    }

    #[test]
    fn a_fault_before_the_last_one_was_reported_still_ends_its_epoch() {
        let faults = Faults::default();
        faults.record(failure("first"), 0);
        faults.record(failure("second"), 1);
        assert_eq!((faults.epoch(), faults.take()), (2, Some(failure("second"))));
    }

    #[test]
    fn an_epoch_is_settled_when_its_queues_are_destroyed() {
        let faults = Faults::default();
        let (a, b) = (faults.queue_created(), faults.queue_created());
        assert!(!faults.is_settled(a));
        faults.record(failure("fault"), a);
        faults.queue_destroyed(a);
        assert!(!faults.is_settled(a), "another queue of the epoch may still run");
        let fresh = faults.queue_created();
        faults.queue_destroyed(b);
        assert!(faults.is_settled(a) && !faults.is_settled(fresh));
    }
}
