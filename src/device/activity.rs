//! What devices do, for a listener: a profiler's callbacks.
//!
//! It is known from the same packets and signals as what is on the timeline.

#![forbid(unsafe_code)]

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;

/// What a device does for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// It runs a kernel of the program's.
    Kernel,
    /// It copies bytes.
    Copy {
        /// Where from.
        from: Side,
        /// Where to.
        to: Side,
        /// Whether it copies rows that do not follow each other.
        is_box: bool,
        /// How many.
        bytes: u64,
    },
    /// It fills bytes.
    Fill {
        /// How many.
        bytes: u64,
    },
}

/// Whose memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The host's.
    Host,
    /// A device's.
    Device,
}

/// What a device has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The number that the listener gave it.
    pub number: u64,
    /// What it was.
    pub task: Task,
    /// When it began and ended, in nanoseconds of `CLOCK_BOOTTIME`.
    pub times: (u64, u64),
    /// The ordinal of the device.
    pub device: usize,
    /// The number of the queue.
    pub queue: u64,
}

/// What is told of activities.
pub trait Listener: Sync {
    /// The calling thread puts a task on a queue, with locks of the runtime's held. Returns a number if the listener wants to
    /// know how it ends.
    fn begins(&self, task: Task) -> Option<u64>;

    /// A task is over. The runtime holds no lock.
    fn ended(&self, activity: &Activity);
}

static LISTENER: OnceLock<&'static dyn Listener> = OnceLock::new();

/// Whether the listener wants to know of anything.
static WANTED: AtomicBool = AtomicBool::new(false);

/// What is over, and the listener was not told yet.
static ENDED: Mutex<Vec<Activity>> = Mutex::new(Vec::new());

/// Has the process's listener told of activities from now on, or not any more. It is the first that this is called with.
/// Calls of `timeline::recorder::listen` are the caller's.
pub fn listen(listener: &'static dyn Listener, wants: bool) {
    LISTENER.get_or_init(|| listener);
    // ORDER: Relaxed. The cell orders what the listener is made of.
    WANTED.store(wants, Ordering::Relaxed);
}

/// Whether there is a listener, be it that it wants to know of nothing any more.
pub(super) fn has_listener() -> bool {
    LISTENER.get().is_some()
}

/// Whether the listener wants to know of anything.
pub(super) fn is_wanted() -> bool {
    // ORDER: Relaxed, as in `listen`.
    WANTED.load(Ordering::Relaxed)
}

/// A task that the listener wants to know the end of.
pub(super) struct Begun {
    number: u64,
    task: Task,
}

impl Begun {
    /// A task is about to be put on a queue.
    pub(super) fn new(task: Option<Task>) -> Option<Self> {
        let task = task.filter(|_| is_wanted())?;
        Some(Self { number: LISTENER.get()?.begins(task)?, task })
    }

    /// It is over.
    pub(super) fn end(self, times: (u64, u64), device: usize, queue: u64) {
        let Self { number, task } = self;
        ENDED.lock().push(Activity { number, task, times, device, queue });
    }
}

/// Tells the listener what is known to be over. The caller holds no lock of the runtime's.
pub(super) fn tell() {
    let Some(listener) = LISTENER.get() else { return };
    let ended = std::mem::take(&mut *ENDED.lock());
    ended.iter().for_each(|activity| listener.ended(activity));
}
