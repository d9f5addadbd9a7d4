//! What a fault on the device leaves behind: an epoch that tells lost work from later work.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

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
    /// Its queues can be neither stopped nor destroyed.
    queues_stay: AtomicBool,
    latest: Mutex<Option<Error>>,
    /// Epochs of the queues that exist.
    queues: Mutex<Vec<u64>>,
    /// What a fault of the present epoch takes along on other devices, oldest first.
    bonds: Mutex<VecDeque<Arc<Bond>>>,
}

/// Work of several devices of which a part waits for packets of another: one fault takes all of it.
///
/// A queue does not learn that a signal it waits for will never fire, so the fault itself must reach every device.
pub(crate) struct Bond {
    /// Whether the work is out of danger: a fault now takes none of it.
    is_over: Box<dyn Fn() -> bool + Send + Sync>,
    /// The devices that lose their queues, and the epoch in which the work was published there.
    takes: Vec<(Arc<Faults>, u64)>,
}

impl Bond {
    pub(crate) fn new(
        is_over: impl Fn() -> bool + Send + Sync + 'static,
        takes: Vec<(Arc<Faults>, u64)>,
    ) -> Arc<Self> {
        Arc::new(Self { is_over: Box::new(is_over), takes })
    }
}

/// Held while a fault is recorded on all devices that it takes, so that a thread that looks next sees it on all of
/// them.
static RECORDING: Mutex<()> = Mutex::new(());

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
        let _recording = RECORDING.lock();
        spread(&error, self.end(&error, epoch));
    }

    /// Ends an epoch of this device alone; returns what that takes along.
    fn end(&self, error: &Error, epoch: u64) -> VecDeque<Arc<Bond>> {
        let mut latest = self.latest.lock();
        if self.epoch() != epoch {
            return VecDeque::new();
        }
        *latest = Some(error.clone());
        self.unreported.store(true, Ordering::Relaxed);
        // ORDER: Release. A thread that sees the new epoch must find the error. Before the bonds are taken: a thread
        // that binds later sees that it came too late.
        self.epoch.store(epoch + 1, Ordering::Release);
        std::mem::take(&mut *self.bonds.lock())
    }

    /// Lets a fault that ends `epoch` here take along what `bond` says, unless it is over by then.
    pub(crate) fn bind(&self, epoch: u64, bond: &Arc<Bond>) {
        {
            let mut bonds = self.bonds.lock();
            // Launches end in order, mostly: what is left over between others is looked for now and then.
            while bonds.front().is_some_and(|oldest| (oldest.is_over)()) {
                bonds.pop_front();
            }
            if bonds.len() >= 64 && bonds.len().is_power_of_two() {
                bonds.retain(|bond| !(bond.is_over)());
            }
            bonds.push_back(bond.clone());
        }
        if self.epoch() != epoch {
            let _recording = RECORDING.lock();
            spread(&self.error(), VecDeque::from([bond.clone()]));
        }
    }

    /// Waits until the fault that is just being recorded, if one is, has reached every device that it takes.
    pub(crate) fn await_recording() {
        drop(RECORDING.lock());
    }

    /// Records a fault behind which the device runs nothing any more, whatever is submitted. `queues_stay` if the HSA
    /// runtime would wait without end for one that is to be stopped or destroyed.
    pub(crate) fn lose(&self, error: Error, queues_stay: bool) {
        self.queues_stay.store(queues_stay, Ordering::Relaxed);
        // ORDER: Release. Before the new epoch, so that a thread that sees the epoch makes no new queue.
        // One loss may be reported by several events: the first says the most.
        if !self.lost.swap(true, Ordering::AcqRel) {
            self.record(error, self.epoch());
        }
    }

    /// Lets the device run again what is submitted from now on: the driver makes queues for it again.
    pub(crate) fn restore(&self) {
        self.unreported.store(false, Ordering::Relaxed);
        self.lost.store(false, Ordering::Release);
    }

    /// Whether the device runs nothing any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Whether the queues that the device had when it was lost can be neither stopped nor destroyed.
    pub(crate) fn queues_stay(&self) -> bool {
        self.is_lost() && self.queues_stay.load(Ordering::Relaxed)
    }

    /// Whether a fault waits to be reported.
    pub(crate) fn is_pending(&self) -> bool {
        self.unreported.load(Ordering::Relaxed)
    }

    /// Takes the fault that no call has reported yet.
    pub(crate) fn take(&self) -> Option<Error> {
        self.unreported.swap(false, Ordering::AcqRel).then(|| self.error())
    }

    /// Undoes [`Faults::take`]: the call cannot report the fault.
    pub(crate) fn put_back(&self) {
        self.unreported.store(true, Ordering::Release);
    }

    /// The latest fault.
    pub(crate) fn error(&self) -> Error {
        let latest = self.latest.lock();
        latest.clone().unwrap_or_else(|| Error::LaunchFailure("the device was reset".into()))
    }

    /// Counts a new queue; returns its epoch.
    pub(crate) fn queue_created(&self) -> u64 {
        let mut queues = self.queues.lock();
        let epoch = self.epoch();
        queues.push(epoch);
        epoch
    }

    /// Notes that a queue of `epoch` is destroyed: none of its packets touches memory or signals any more.
    pub(crate) fn queue_destroyed(&self, epoch: u64) {
        let mut queues = self.queues.lock();
        if let Some(i) = queues.iter().position(|e| *e == epoch) {
            queues.swap_remove(i);
        }
    }

    /// Whether nothing submitted in `epoch` or before can act any more.
    pub(crate) fn is_settled(&self, epoch: u64) -> bool {
        epoch < self.epoch() && self.queues.lock().iter().all(|e| *e > epoch)
    }
}

/// Ends the epochs that `bonds` take along, and what those take along in turn: each device's at most once.
fn spread(error: &Error, mut bonds: VecDeque<Arc<Bond>>) {
    while let Some(bond) = bonds.pop_front() {
        if !(bond.is_over)() {
            bonds.extend(bond.takes.iter().flat_map(|(faults, epoch)| faults.end(error, *epoch)));
        }
    }
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
        faults.lose(failure("fault"), true);
        assert_eq!((faults.take(), faults.epoch()), (Some(failure("fault")), 1));
        assert!(faults.is_lost());
        assert_eq!(faults.error(), failure("fault"));
        // Another event tells of the same.
        faults.lose(failure("reset"), false);
        assert_eq!((faults.take(), faults.epoch(), faults.error()), (None, 1, failure("fault")));
    }

    #[test]
    fn a_restored_device_has_a_new_epoch_and_nothing_to_report() {
        let faults = Faults::default();
        let epoch = faults.queue_created();
        faults.lose(failure("reset"), false);
        faults.restore();
        assert!(!faults.is_lost() && !faults.is_pending());
        assert_eq!(faults.queue_created(), epoch + 1);
    }

    #[test]
    fn a_fault_before_the_last_one_was_reported_still_ends_its_epoch() {
        let faults = Faults::default();
        faults.record(failure("first"), 0);
        faults.record(failure("second"), 1);
        assert_eq!((faults.epoch(), faults.take()), (2, Some(failure("second"))));
    }

    #[test]
    fn a_fault_takes_along_what_waits_for_it_on_other_devices() {
        let [a, b, c, d] = [(); 4].map(|()| Arc::new(Faults::default()));
        let over = Arc::new(AtomicBool::new(false));
        let is_over = {
            let over = over.clone();
            move || over.load(Ordering::Relaxed)
        };
        a.bind(0, &Bond::new(|| false, vec![(b.clone(), 0), (a.clone(), 0)]));
        b.bind(0, &Bond::new(|| false, vec![(c.clone(), 0)]));
        b.bind(0, &Bond::new(is_over.clone(), vec![(d.clone(), 0)]));
        over.store(true, Ordering::Relaxed);
        a.record(failure("fault"), 0);
        assert_eq!([&a, &b, &c, &d].map(|faults| faults.epoch()), [1, 1, 1, 0]);
        assert_eq!(c.take(), Some(failure("fault")));
        // Work of the lost epoch that is bound after the fault is lost with it, later work is not.
        a.bind(0, &Bond::new(|| false, vec![(d.clone(), 0), (c.clone(), 0)]));
        assert_eq!((d.epoch(), c.epoch()), (1, 1));
        a.record(failure("another"), 1);
        assert_eq!([&a, &b, &c, &d].map(|faults| faults.epoch()), [2, 1, 1, 1]);
    }

    #[test]
    fn bonds_of_work_that_is_over_are_let_go() {
        let (a, b) = (Faults::default(), Arc::new(Faults::default()));
        let never = Bond::new(|| false, vec![(b.clone(), 0)]);
        a.bind(0, &never);
        let over = Bond::new(|| true, vec![(b.clone(), 0)]);
        (0..1000).for_each(|_| a.bind(0, &over));
        assert!(Arc::strong_count(&over) <= 65, "{}", Arc::strong_count(&over));
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
