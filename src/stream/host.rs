//! Host functions: run on a worker thread of their stream, in order, when the device reaches them.

use std::{
    cell::Cell,
    sync::{
        Arc, OnceLock,
        atomic::Ordering,
        mpsc::{Sender, channel},
    },
    thread,
};

use crate::{
    device::fence::PooledSignal,
    error::{Error, Result},
};

/// Something that a graph or a stream runs on the host.
pub type HostFunction = Arc<dyn Fn() + Send + Sync>;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// One step of a worker.
pub(crate) struct Job {
    /// Every one of these must be 0 before the step runs.
    pub(crate) after: Vec<Arc<PooledSignal>>,
    pub(crate) run: Box<dyn FnOnce() + Send>,
    /// Set to 0 when the step has run.
    pub(crate) done: Option<Arc<PooledSignal>>,
}

/// The worker thread of a stream, started when the first host function arrives.
#[derive(Default)]
pub(crate) struct Worker(OnceLock<Sender<Job>>);

impl Worker {
    /// Queues `job` behind the jobs before it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the thread cannot be started.
    pub(crate) fn push(&self, job: Job) -> Result<()> {
        if self.0.get().is_none() {
            let (sender, jobs) = channel::<Job>();
            thread::Builder::new()
                .name("aqlipse-host".into())
                .spawn(move || jobs.into_iter().for_each(perform))
                .map_err(|_| Error::OutOfMemory { bytes: 0 })?;
            // Two threads may race here; the loser's thread ends as its sender is dropped.
            let _ = self.0.set(sender);
        }
        // PANIC: set above, by this thread or by the one that won.
        let sender = self.0.get().expect("the worker has started");
        sender.send(job).map_err(|_| Error::IllegalState("the host worker has stopped"))
    }
}

fn perform(job: Job) {
    // A fault takes the packets that the step would have followed, and its successors with them: it
    // never becomes due.
    if job.after.iter().any(|signal| signal.wait().is_err()) {
        return;
    }
    INSIDE.with(|inside| inside.set(true));
    // A panic in a caller's function must not take the worker, and with it the stream, down.
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(job.run)).is_err() {
        tracing::error!("a host function panicked");
    }
    INSIDE.with(|inside| inside.set(false));
    if let Some(done) = job.done {
        done.store(0, Ordering::Release);
    }
}

/// Refuses calls that a host function must not make because they would wait for its own stream.
///
/// # Errors
/// [`Error::IllegalState`] inside a host function.
pub(crate) fn refuse_inside() -> Result<()> {
    if INSIDE.with(Cell::get) {
        return Err(Error::IllegalState("a host function must not wait for the device"));
    }
    Ok(())
}
