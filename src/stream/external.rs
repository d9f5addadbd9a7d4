//! What other processes signal and wait for, on streams; `external::semaphore` and `external::event` say how it orders.

use std::sync::Arc;

use super::{Node, Stream};
use crate::{
    error::Result,
    external::{ExternalSemaphore, SharedEvent},
};

impl Stream {
    /// Signals semaphores, each with its value, when everything before has completed.
    ///
    /// # Errors
    /// What capture forbids; a fault of earlier work.
    pub fn signal_semaphores(&self, signals: Vec<(ExternalSemaphore, u64)>) -> Result<()> {
        if self.is_capturing() {
            return self.record(Node::SemaphoreSignal(signals.into()));
        }
        self.run_on_host(move || signals.iter().for_each(|(semaphore, value)| semaphore.signal(*value)))
    }

    /// Holds what follows back until each of the semaphores has been signalled with its value. Like [`Stream::wait_value`],
    /// the stream holds up no other one.
    ///
    /// # Errors
    /// As [`Stream::signal_semaphores`]; [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the device has no queue left.
    pub fn wait_semaphores(&self, waits: Vec<(ExternalSemaphore, u64)>) -> Result<()> {
        if self.is_capturing() {
            return self.record(Node::SemaphoreWait(waits.into()));
        }
        let faults = self.device().0.faults.clone();
        let epoch = faults.epoch();
        self.hold_on_host(move || {
            // A fault takes what would have followed: the rest is not needed.
            waits.iter().all(|(semaphore, value)| semaphore.wait_unless(*value, || faults.epoch() != epoch));
        })
    }

    /// Publishes a record of an event when everything before has completed.
    pub(super) fn tell_other_processes(&self, event: Arc<SharedEvent>) -> Result<()> {
        self.run_on_host_once(|| {
            // Behind all that might fail: a number that is never published holds all waits up.
            let number = event.issue();
            move || event.reach(number)
        })
    }

    /// Holds what follows back until another process's record of an event is reached; its end before that is a fault.
    pub(super) fn wait_for_other_process(&self, event: Arc<SharedEvent>, number: u64) -> Result<()> {
        let faults = self.device().0.faults.clone();
        let epoch = faults.epoch();
        self.hold_on_host(move || {
            if let Err(error) = event.wait_unless(number, || faults.epoch() != epoch) {
                faults.record(error, epoch);
            }
        })
    }

    /// Holds what follows back until `wait` returns. What it waits for may come behind work that is published later, here or
    /// in another process.
    fn hold_on_host(&self, wait: impl FnOnce() + Send + 'static) -> Result<()> {
        self.start_worker()?;
        let mut submission = self.submission()?;
        submission.hold(|submission| submission.run_on_host(|| wait))?;
        submission.finish()
    }
}
