//! The threads that run workgroups, beside the packet processors that do so themselves.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use crate::{
    dispatch::{Dispatch, Progress, Share, Worker},
    os::{self, Event},
    signal,
};

/// Turns of one dispatch's workgroups before another dispatch's.
const TURNS: u32 = 8;
/// How long an idle worker looks for work before it sleeps.
const SPIN: u64 = 20_000;
/// Pause of a thread whose workgroups all wait for something else.
const PAUSE: Duration = Duration::from_micros(50);

/// A dispatch that wants more threads.
#[derive(Clone)]
struct Offer {
    dispatch: Arc<Dispatch>,
    device: u32,
    priority: u32,
}

#[derive(Default)]
struct Shared {
    offers: Mutex<Vec<Offer>>,
    /// Counts changes of `offers`, so that a busy worker need not lock to see that there are none.
    version: AtomicU64,
    event: Event,
    stop: AtomicBool,
}

impl Shared {
    fn offers(&self) -> MutexGuard<'_, Vec<Offer>> {
        self.offers.lock()
    }

    fn is_wanted(&self) -> bool {
        self.stop.load(Ordering::SeqCst) || self.offers().iter().any(|o| o.dispatch.has_unclaimed())
    }
}

/// The worker threads of the process, one less than it has cores: packet processors work, too.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Workers {
    /// Starts the threads; none if `serial`.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn start(serial: bool) -> std::io::Result<Arc<Self>> {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let count = if serial { 0 } else { cores - 1 };
        let workers = Arc::new(Self { shared: Arc::default(), threads: Mutex::default() });
        for number in 0..count {
            let shared = Arc::clone(&workers.shared);
            let name = format!("aqlipse-cu{number}");
            let thread = std::thread::Builder::new().name(name).spawn(move || serve(&shared))?;
            workers.threads().push(thread);
        }
        Ok(workers)
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock()
    }

    /// Asks the workers to help with a dispatch.
    pub(crate) fn offer(&self, dispatch: &Arc<Dispatch>, device: u32, priority: u32) {
        let mut offers = self.shared.offers();
        let place = offers.partition_point(|o| o.priority >= priority);
        offers.insert(place, Offer { dispatch: Arc::clone(dispatch), device, priority });
        self.shared.version.fetch_add(1, Ordering::SeqCst);
        drop(offers);
        self.shared.event.notify();
    }

    /// Takes an offer back: the dispatch is complete.
    pub(crate) fn withdraw(&self, dispatch: &Arc<Dispatch>) {
        let mut offers = self.shared.offers();
        offers.retain(|o| !Arc::ptr_eq(&o.dispatch, dispatch));
        self.shared.version.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.event.notify();
        for thread in self.threads().drain(..) {
            // A panic there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// What came of [`Hand::turn`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// There is nothing to run.
    Nothing,
    /// Workgroups ran.
    Worked,
    /// Every workgroup here waits for something else.
    Stuck,
}

/// One thread's part in all dispatches that it takes part in.
pub(crate) struct Hand {
    worker: Worker,
    shares: VecDeque<(Share, u32)>,
    /// Shares in a row that could do nothing.
    stuck: usize,
}

impl Hand {
    /// A hand with nothing to do.
    pub(crate) fn new() -> Self {
        Self { worker: Worker::new(), shares: VecDeque::new(), stuck: 0 }
    }

    /// Takes part in a dispatch of `device`.
    pub(crate) fn join(&mut self, dispatch: &Arc<Dispatch>, device: u32) {
        self.shares.push_back((Share::new(Arc::clone(dispatch)), device));
        self.stuck = 0;
    }

    /// Whether it takes part in `dispatch`.
    fn holds(&self, dispatch: &Arc<Dispatch>) -> bool {
        self.shares.iter().any(|(share, _)| Arc::ptr_eq(share.dispatch(), dispatch))
    }

    /// Whether it takes part in no dispatch.
    pub(crate) fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// Runs the next dispatch's workgroups for up to `turns` turns.
    pub(crate) fn turn(&mut self, turns: u32) -> Turn {
        let Some((share, device)) = self.shares.pop_front() else { return Turn::Nothing };
        self.run(share, device, turns)
    }

    /// Runs the workgroups of one dispatch for up to `turns` turns, if it takes part in it.
    pub(crate) fn turn_of(&mut self, dispatch: &Arc<Dispatch>, turns: u32) -> Turn {
        let place = self.shares.iter().position(|(share, _)| Arc::ptr_eq(share.dispatch(), dispatch));
        match place.and_then(|place| self.shares.remove(place)) {
            Some((share, device)) => self.run(share, device, turns),
            None => Turn::Nothing,
        }
    }

    fn run(&mut self, mut share: Share, device: u32, turns: u32) -> Turn {
        let progress = share.run(&mut self.worker, turns);
        self.stuck = if progress == Progress::Idle { self.stuck + 1 } else { 0 };
        match progress {
            Progress::Completed => signal::wake_processor(device),
            Progress::Drained => {}
            Progress::Working | Progress::Idle => self.shares.push_back((share, device)),
        }
        if self.stuck > 0 && self.stuck >= self.shares.len() { Turn::Stuck } else { Turn::Worked }
    }

    /// Lets go of freed memory that register files may still refer to.
    pub(crate) fn rest(&mut self) {
        self.worker.release();
    }
}

fn serve(shared: &Shared) {
    let mut hand = Hand::new();
    let mut seen = u64::MAX;
    let mut idle_since = None;
    while !shared.stop.load(Ordering::SeqCst) {
        let version = shared.version.load(Ordering::SeqCst);
        if version != seen {
            seen = version;
            for offer in shared.offers().iter() {
                if offer.dispatch.has_unclaimed() && !hand.holds(&offer.dispatch) {
                    hand.join(&offer.dispatch, offer.device);
                }
            }
        }
        match hand.turn(TURNS) {
            Turn::Worked => idle_since = None,
            Turn::Stuck => {
                let now = os::now();
                if now - *idle_since.get_or_insert(now) < SPIN {
                    std::thread::yield_now();
                } else {
                    shared.event.wait(Some(PAUSE), || shared.version.load(Ordering::SeqCst) != seen);
                }
            }
            Turn::Nothing => {
                let now = os::now();
                if now - *idle_since.get_or_insert(now) < SPIN {
                    std::hint::spin_loop();
                    continue;
                }
                hand.rest();
                shared
                    .event
                    .wait(None, || shared.version.load(Ordering::SeqCst) != seen || shared.is_wanted());
                idle_since = None;
            }
        }
    }
}
