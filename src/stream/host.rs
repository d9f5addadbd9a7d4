//! Host functions: run on a worker thread of their stream, in order, when the device reaches them.

use std::{
    cell::Cell,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Sender, channel},
    },
    thread,
};

use crate::{
    device::{fault::Faults, fence::PooledSignal},
    error::{Error, Result},
};

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Steps that are queued or running, of all workers.
static OUTSTANDING: AtomicUsize = AtomicUsize::new(0);

/// Whether a host function may still have something to write.
pub(crate) fn any_outstanding() -> bool {
    OUTSTANDING.load(Ordering::Acquire) > 0
}

struct Outstanding;

impl Outstanding {
    fn new() -> Self {
        OUTSTANDING.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Outstanding {
    fn drop(&mut self) {
        OUTSTANDING.fetch_sub(1, Ordering::Release);
    }
}

/// One step of a worker.
pub(crate) struct Job {
    after: Vec<Arc<PooledSignal>>,
    run: Box<dyn FnOnce() + Send>,
    done: Option<Arc<PooledSignal>>,
    outstanding: Outstanding,
}

impl Job {
    /// A step that runs when every signal of `after` is 0, and sets `done` to 0 when it has run.
    pub(crate) fn new(
        after: Vec<Arc<PooledSignal>>,
        run: impl FnOnce() + Send + 'static,
        done: Option<Arc<PooledSignal>>,
    ) -> Self {
        Self { after, run: Box::new(run), done, outstanding: Outstanding::new() }
    }
}

/// The worker thread of a stream, started when the first host function arrives.
#[derive(Default)]
pub(crate) struct Worker(OnceLock<Sender<Job>>);

impl Worker {
    /// Starts the thread, if it does not run yet.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if it cannot be started.
    pub(crate) fn start(&self) -> Result<&Sender<Job>> {
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
        Ok(self.0.get().expect("the worker has started"))
    }

    /// Queues `job` behind the jobs before it.
    ///
    /// # Errors
    /// As [`Worker::start`]; never once the thread runs.
    pub(crate) fn push(&self, job: Job) -> Result<()> {
        self.start()?.send(job).map_err(|_| Error::IllegalState("the host worker has stopped"))
    }
}

fn perform(job: Job) {
    let Job { after, run, done, outstanding } = job;
    // A fault takes the packets that the step would have followed, and its successors with them: it
    // never becomes due.
    if after.iter().try_for_each(|signal| signal.wait()).is_err() {
        return;
    }
    // A panic in a caller's function must not take the worker, and with it the stream, down.
    if inside(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))).is_err() {
        tracing::error!("a host function panicked");
    }
    drop(outstanding);
    if let Some(done) = done {
        // What a fault takes while the step runs, or by what the step does, must not begin on a queue that is about to
        // die, on whatever device.
        Faults::await_recording();
        if done.is_current() {
            done.store(0, Ordering::Release);
        }
    }
}

/// Runs what the device waits for, on the calling thread.
pub(crate) fn inside<T>(run: impl FnOnce() -> T) -> T {
    INSIDE.with(|inside| inside.set(true));
    let result = run();
    INSIDE.with(|inside| inside.set(false));
    result
}

/// Whether the calling thread runs a host function.
pub(crate) fn is_inside() -> bool {
    // A thread whose storage is gone runs nothing any more.
    INSIDE.try_with(Cell::get).unwrap_or(false)
}

/// Refuses calls that a host function must not make because they would wait for its own stream.
///
/// # Errors
/// [`Error::IllegalState`] inside a host function.
pub(crate) fn refuse_inside() -> Result<()> {
    if is_inside() {
        return Err(Error::IllegalState("a host function must not wait for the device"));
    }
    Ok(())
}
