//! Loom explores every interleaving of two devices that come to kernels which were launched together, and of the host, which
//! uses signals again that nothing keeps. Whatever the order, no packet finds that a signal it waits for is another's now.

use loom::{
    model::Builder,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    thread,
};

use super::{Tie, Together, tie_to};
use crate::loom_mutex::Mutex;

/// A signal, and how often it was taken.
struct Signal {
    value: AtomicI64,
    taken: AtomicU64,
}

/// Signals that nothing has, as in `SignalPool`.
type Pool = Arc<Mutex<Vec<Arc<Signal>>>>;

/// As `PooledSignal`: it returns to its pool with the last reference.
struct Pooled {
    signal: Arc<Signal>,
    /// Which of the signal's uses this is.
    taken: u64,
    pool: Pool,
}

impl Drop for Pooled {
    fn drop(&mut self) {
        // Another would stay aside until it has fallen.
        if self.signal.value.load(Ordering::Acquire) == 0 {
            self.pool.lock().push(self.signal.clone());
        }
    }
}

fn take(pool: &Pool) -> Arc<Pooled> {
    let known = pool.lock().pop();
    let new = || Arc::new(Signal { value: AtomicI64::new(0), taken: AtomicU64::new(0) });
    let signal = known.unwrap_or_else(new);
    let taken = signal.taken.fetch_add(1, Ordering::Relaxed) + 1;
    signal.value.store(1, Ordering::Relaxed);
    Arc::new(Pooled { signal, taken, pool: pool.clone() })
}

/// What a packet knows: the name of a signal, which keeps nothing.
#[derive(Clone)]
struct Named(Arc<Signal>, u64);

impl Named {
    fn of(signal: &Pooled) -> Self {
        Self(signal.signal.clone(), signal.taken)
    }

    fn fire(&self) {
        self.0.value.store(0, Ordering::Release);
    }

    /// Waits as a packet processor does, and finds out what one would not.
    fn wait(&self) {
        while {
            let value = self.0.value.load(Ordering::Acquire);
            assert_eq!(self.0.taken.load(Ordering::Relaxed), self.1, "the signal is another's now");
            value != 0
        } {
            thread::yield_now();
        }
    }
}

/// A stream of its own device: what its kernel is between, what follows waits for, and what it keeps until that is over.
struct Stream {
    entry: Arc<Pooled>,
    done: Arc<Pooled>,
    fence: Arc<Pooled>,
    waits: Vec<Named>,
    keeps: Vec<Arc<Pooled>>,
}

impl Tie<Arc<Pooled>> for Stream {
    fn keep(&mut self, signal: &Arc<Pooled>) {
        self.keeps.push(signal.clone());
    }

    fn wait(&mut self, signal: &Arc<Pooled>) {
        self.waits.push(Named::of(signal));
        self.keeps.push(signal.clone());
    }
}

impl Stream {
    /// As `Stream::enter`.
    fn new(pool: &Pool) -> Self {
        let (entry, done, fence) = (take(pool), take(pool), take(pool));
        let (waits, keeps) = (vec![Named::of(&done)], vec![entry.clone(), done.clone()]);
        Self { entry, done, fence, waits, keeps }
    }
}

fn launch(how: Together) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let pool = Pool::default();
        let mut streams = [(); 2].map(|()| Stream::new(&pool));
        let [one, other] = &mut streams;
        tie_to(one, &other.entry, &other.done, how);
        tie_to(other, &one.entry, &one.done, how);
        let entries = streams.each_ref().map(|stream| Named::of(&stream.entry));
        let devices: Vec<_> = streams
            .iter()
            .enumerate()
            .map(|(n, stream)| {
                let own = entries[n].clone();
                let after = if how.before { entries.to_vec() } else { vec![own.clone()] };
                let (done, fence) = (Named::of(&stream.done), Named::of(&stream.fence));
                let waits = stream.waits.clone();
                thread::spawn(move || {
                    own.fire();
                    // The queue for cooperative kernels, then the stream's.
                    after.iter().for_each(Named::wait);
                    done.fire();
                    waits.iter().for_each(Named::wait);
                    fence.fire();
                })
            })
            .collect();
        // Work that never ends, with whatever signals there are, behind what a fence lets go.
        let mut held = Vec::new();
        for (fence, keeps) in streams.map(|Stream { fence, keeps, .. }| (fence, keeps)) {
            if fence.signal.value.load(Ordering::Acquire) == 0 {
                drop(keeps);
                held.extend([(); 2].map(|()| take(&pool)));
            } else {
                held.extend(keeps);
            }
        }
        devices.into_iter().for_each(|device| device.join().unwrap());
    });
}

#[test]
fn signals_are_kept_by_every_queue_that_waits_for_them() {
    // What loom switches threads with keeps something of a thread that has a model, which a leak checker would find.
    if std::env::var_os("AQLIPSE_SANITIZER").is_some() {
        return;
    }
    for (before, after) in [(true, true), (true, false), (false, true), (false, false)] {
        launch(Together { before, after, cooperative: true });
    }
}
