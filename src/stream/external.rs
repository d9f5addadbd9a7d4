//! External semaphores on streams; `external::semaphore` says how they order.

use super::Stream;
use crate::{error::Result, external::ExternalSemaphore};

impl Stream {
    /// Signals semaphores, each with its value, when everything before has completed.
    ///
    /// # Errors
    /// What capture forbids; a fault of earlier work.
    pub fn signal_semaphores(&self, signals: Vec<(ExternalSemaphore, u64)>) -> Result<()> {
        if self.is_capturing() {
            return self.record(crate::graph::Node::SemaphoreSignal(signals.into()));
        }
        self.run_on_host(move || signals.iter().for_each(|(semaphore, value)| semaphore.signal(*value)))
    }

    /// Holds what follows back until each of the semaphores has been signalled with its value.
    ///
    /// # Errors
    /// As [`Stream::signal_semaphores`].
    pub fn wait_semaphores(&self, waits: Vec<(ExternalSemaphore, u64)>) -> Result<()> {
        if self.is_capturing() {
            return self.record(crate::graph::Node::SemaphoreWait(waits.into()));
        }
        let faults = self.device().0.faults.clone();
        let epoch = faults.epoch();
        self.run_on_host(move || {
            // A fault takes what would have followed: nobody needs the rest.
            waits.iter().all(|(semaphore, value)| semaphore.wait_unless(*value, || faults.epoch() != epoch));
        })
    }
}
