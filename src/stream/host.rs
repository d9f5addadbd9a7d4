//! Host functions: run on a worker thread of their stream, in order, when the device reaches them.

use std::{
    collections::VecDeque,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use crossbeam::sync::{Parker, Unparker};
use parking_lot::Mutex;

use crate::{
    callback::inside,
    device::{fault::Faults, fence::PooledSignal},
    error::Result,
    thread,
};

/// Steps that are queued or running, of all workers.
static OUTSTANDING: AtomicUsize = AtomicUsize::new(0);

/// Whether a host function may still have something to write.
pub(crate) fn any_outstanding() -> bool {
    OUTSTANDING.load(Ordering::Acquire) > 0
}

/// Steps that count as outstanding.
pub(crate) struct Outstanding(usize);

impl Outstanding {
    fn new(steps: usize) -> Self {
        OUTSTANDING.fetch_add(steps, Ordering::Relaxed);
        Self(steps)
    }

    /// One of them is over.
    fn one_less(&mut self) {
        if self.0 > 0 {
            self.0 -= 1;
            OUTSTANDING.fetch_sub(1, Ordering::Release);
        }
    }
}

impl Drop for Outstanding {
    fn drop(&mut self) {
        if self.0 > 0 {
            OUTSTANDING.fetch_sub(self.0, Ordering::Release);
        }
    }
}

/// Steps that follow each other, for one that queues the same again and again.
pub(crate) trait Steps: Send + Sync {
    /// How many.
    fn count(&self) -> usize;

    /// [Performs](perform) and [fires](fire) each, and keeps nothing of itself behind the last.
    fn run(self: Arc<Self>, outstanding: Outstanding);
}

/// What a worker does next.
pub(crate) enum Job {
    Step {
        after: Vec<Arc<PooledSignal>>,
        run: Box<dyn FnOnce() + Send>,
        done: Option<Arc<PooledSignal>>,
        outstanding: Outstanding,
    },
    Steps(Arc<dyn Steps>, Outstanding),
}

impl Job {
    /// A step that runs when every signal of `after` is 0, and sets `done` to 0 when it has run.
    pub(crate) fn new(
        after: Vec<Arc<PooledSignal>>,
        run: impl FnOnce() + Send + 'static,
        done: Option<Arc<PooledSignal>>,
    ) -> Self {
        Self::Step { after, run: Box::new(run), done, outstanding: Outstanding::new(1) }
    }

    /// Several of them.
    pub(crate) fn steps(steps: Arc<dyn Steps>) -> Self {
        let outstanding = Outstanding::new(steps.count());
        Self::Steps(steps, outstanding)
    }

    fn run(self) {
        match self {
            Self::Step { after, run, done, mut outstanding } => {
                let performed = perform(&after, run, &mut outstanding);
                if let Some(done) = done.filter(|_| performed) {
                    fire(&done);
                }
            }
            Self::Steps(steps, outstanding) => steps.run(outstanding),
        }
    }
}

/// Jobs that a worker has not begun, oldest first. A channel of crossbeam's allocates a block every 31 jobs, on the thread
/// that launches; this queue allocates only while there are more jobs than ever before.
#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    /// No more will come.
    closed: bool,
}

/// The right to queue jobs for a worker, which ends behind the last of them when it is dropped.
struct Sender {
    jobs: Arc<Mutex<Jobs>>,
    worker: Unparker,
}

impl Sender {
    fn push(&self, job: Job) {
        let mut jobs = self.jobs.lock();
        jobs.waiting.push_back(job);
        // The worker parks only when it has found no job: the thread that queues the first one wakes it.
        let is_first = jobs.waiting.len() == 1;
        drop(jobs);
        if is_first {
            self.worker.unpark();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.jobs.lock().closed = true;
        self.worker.unpark();
    }
}

/// The next job; none when there will be no more.
fn next(jobs: &Mutex<Jobs>, parker: &Parker) -> Option<Job> {
    loop {
        let mut jobs = jobs.lock();
        if let Some(job) = jobs.waiting.pop_front() {
            return Some(job);
        }
        if jobs.closed {
            return None;
        }
        drop(jobs);
        parker.park();
    }
}

/// The worker thread of a stream, started when the first host function arrives.
#[derive(Default)]
pub(crate) struct Worker(OnceLock<Sender>);

impl Worker {
    /// Starts the thread, if it does not run yet.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if it cannot be started.
    pub(crate) fn start(&self) -> Result<()> {
        self.sender().map(drop)
    }

    fn sender(&self) -> Result<&Sender> {
        if self.0.get().is_none() {
            let parker = Parker::new();
            let sender = Sender { jobs: Arc::default(), worker: parker.unparker().clone() };
            let jobs = sender.jobs.clone();
            let work = move || std::iter::from_fn(|| next(&jobs, &parker)).for_each(Job::run);
            thread::start("aqlipse-host", work)?;
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
        self.sender()?.push(job);
        Ok(())
    }
}

/// Runs a step when every signal of `after` is 0, if no fault comes before that; whether it has run.
pub(crate) fn perform<'s>(
    after: impl IntoIterator<Item = &'s Arc<PooledSignal>>,
    run: impl FnOnce(),
    outstanding: &mut Outstanding,
) -> bool {
    // A fault takes the packets that the step would have followed, and its successors with them: it
    // never becomes due.
    let due = after.into_iter().try_for_each(|signal| signal.wait()).is_ok();
    if due && inside(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))).is_err() {
        // It must not take the worker, and with it the stream, down.
        tracing::error!("a host function panicked");
    }
    outstanding.one_less();
    due
}

/// Lets a signal say that a step has run.
pub(crate) fn fire(done: &PooledSignal) {
    // What a fault takes while the step runs, or by what the step does, must not begin on a queue that is about to die,
    // on whatever device.
    Faults::await_recording();
    if done.is_current() {
        done.store(0, Ordering::Release);
    }
}
