//! Compute units: which ones a queue's workgroups run on, and how many are on one at a time.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use emulator::{Config, OnUnits, Target, UnitObserver, UnitPlace, UnitSlice};
use hsa_sys::*;

use super::session::{Kernel, Queue, Session, dispatch, ok};

const TARGETS: [Target; 3] = Target::GFX9;
const UNITS: u32 = 8;
/// Workgroups of a dispatch that says where they are.
const GROUPS: u32 = 64;
/// Waves that a unit holds, and those of a workgroup of 1024 work-items.
const PLACES: u32 = 32;
const LARGEST: u32 = 16;

struct Bench {
    session: Session,
    target: Target,
}

impl Bench {
    fn new(target: Target) -> Self {
        let config = Config { devices: vec![target], compute_units: Some(UNITS), ..Config::default() };
        Self { session: Session::with(config), target }
    }

    fn kernel(&self, name: &str) -> Kernel {
        let object: &[u8] = match self.target {
            Target::Gfx90a => include_bytes!("../../../kernels/units.gfx90a.co"),
            _ => include_bytes!("../../../kernels/units.gfx9-4-generic.co"),
        };
        self.session.kernel(0, object, name)
    }

    fn restrict(&self, queue: &Queue<'_>, mask: &[u32]) -> hsa_status_t {
        let bits = mask.len() as u32 * u32::BITS;
        // SAFETY: the queue exists, and the array is ours.
        unsafe { (self.session.hsa.hsa_amd_queue_cu_set_mask)(queue.queue, bits, mask.as_ptr()) }
    }

    /// The units that workgroups of a queue find themselves on.
    fn seen(&self, queue: &Queue<'_>) -> BTreeSet<u32> {
        let dies = if self.target.is_gfx940() { 8 } else { 1 };
        let unit = |&[id, die]: &[u32; 2]| (id >> 8 & 0xf | (id >> 13 & 7) << 4) * dies + die;
        self.places(queue).iter().map(unit).collect()
    }

    /// What each workgroup reads in `HW_ID` and `XCC_ID`.
    fn places(&self, queue: &Queue<'_>) -> Vec<[u32; 2]> {
        let (kernarg, places) =
            (self.session.array::<u64>(1), self.session.array::<[u32; 2]>(GROUPS as usize));
        kernarg[0] = places.as_ptr() as u64;
        let done = self.session.signal(1);
        queue.submit(&[dispatch(0, self.kernel("where"), GROUPS, kernarg, done)]);
        assert!(self.session.finished(done));
        places.to_vec()
    }

    /// The most workgroups of 1024 work-items that are there at once, of `groups` on each queue.
    fn met(&self, queues: &[&Queue<'_>], groups: u32) -> u32 {
        let meeting = self.session.array::<u32>(2);
        let (everybody, patience) = (u64::from(u32::MAX), 20_000u64);
        let kernarg = self.session.array::<u64>(2);
        kernarg.copy_from_slice(&[meeting.as_ptr() as u64, everybody | patience << 32]);
        let done = self.session.signal(queues.len() as i64);
        let mut packet = dispatch(0, self.kernel("meet"), groups * LARGEST, kernarg, done);
        packet[0] = packet[0] & !(0xffff << 32) | u64::from(LARGEST * 64) << 32;
        queues.iter().for_each(|queue| queue.submit(&[packet]));
        assert!(self.session.finished(done));
        assert_eq!(meeting[0], 0);
        meeting[1]
    }
}

#[test]
fn workgroups_run_on_the_units_of_their_queues_mask() {
    for target in TARGETS {
        let bench = Bench::new(target);
        let queue = bench.session.queue(0, 64);
        let all = BTreeSet::from_iter(0..UNITS);
        assert_eq!(bench.seen(&queue), all, "{target:?}");
        // Units that the device lacks count for nothing.
        ok(bench.restrict(&queue, &[0b1010_0100 | 1 << 20, u32::MAX]));
        assert_eq!(bench.seen(&queue), BTreeSet::from([2, 5, 7]), "{target:?}");
        assert_eq!(bench.restrict(&queue, &[1 << 20]), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        assert_eq!(bench.seen(&queue), BTreeSet::from([2, 5, 7]), "{target:?}: as before");
        let other = bench.session.queue(0, 64);
        assert_eq!(bench.seen(&other), all, "{target:?}: another queue");
        ok(bench.restrict(&queue, &[]));
        assert_eq!(bench.seen(&queue), all, "{target:?}: without a mask");
        queue.destroy();
        other.destroy();
    }
}

#[test]
fn a_queue_has_room_on_its_own_units_alone() {
    for target in TARGETS {
        let bench = Bench::new(target);
        let queue = bench.session.queue(0, 64);
        assert_eq!(bench.met(&[&queue], 20), UNITS * PLACES / LARGEST, "{target:?}");
        ok(bench.restrict(&queue, &[0b1_0011]));
        assert_eq!(bench.met(&[&queue], 20), 3 * PLACES / LARGEST, "{target:?}");
        queue.destroy();
    }
}

#[test]
fn queues_share_the_room_on_units_that_both_have() {
    for target in TARGETS {
        let bench = Bench::new(target);
        let [one, other] = [0b011, 0b110].map(|mask| {
            let queue = bench.session.queue(0, 64);
            ok(bench.restrict(&queue, &[mask]));
            queue
        });
        assert_eq!(bench.met(&[&one, &other], 8), 3 * PLACES / LARGEST, "{target:?}");
        one.destroy();
        other.destroy();
    }
}

/// Completion signal, kernel, and slices of a dispatch.
type Told = (u64, String, Vec<(UnitPlace, UnitSlice)>);

static TOLD: Mutex<Vec<Told>> = Mutex::new(Vec::new());
static IS_WATCHING: AtomicBool = AtomicBool::new(false);

struct Watcher;

impl UnitObserver for Watcher {
    fn is_watching(&self) -> bool {
        IS_WATCHING.load(Ordering::SeqCst)
    }

    fn ran(&self, dispatch: OnUnits<'_>) {
        TOLD.lock().unwrap().push((dispatch.completion, (dispatch.kernel)(), dispatch.slices));
    }
}

#[test]
fn an_observer_is_told_where_workgroups_ran_before_the_dispatch_is_over() {
    assert!(emulator::observe_units(Box::new(Watcher)));
    for target in TARGETS {
        let bench = Bench::new(target);
        let queue = bench.session.queue(0, 64);
        bench.places(&queue);
        assert!(TOLD.lock().unwrap().is_empty(), "{target:?}: nobody wants to know");
        IS_WATCHING.store(true, Ordering::SeqCst);
        let before = emulator::os::now();
        let places = bench.places(&queue);
        let after = emulator::os::now();
        IS_WATCHING.store(false, Ordering::SeqCst);
        let told = std::mem::take(&mut *TOLD.lock().unwrap());
        let [(completion, kernel, slices)] = &told[..] else {
            panic!("{target:?}: {} dispatches", told.len())
        };
        assert!(*completion != 0 && kernel == "where", "{target:?}: {kernel}");
        assert_eq!(
            slices.iter().map(|(_, slice)| slice.workgroups).sum::<u64>(),
            GROUPS.into(),
            "{target:?}"
        );
        for (place, slice) in slices {
            let [id, die] = places[slice.workgroup as usize];
            let found = UnitPlace {
                die: target.is_gfx940().then_some(die),
                engine: id >> 13 & 7,
                unit: id >> 8 & 0xf,
            };
            assert_eq!(*place, found, "{target:?}: {slice:?}");
            let UnitSlice { start, end, busy, .. } = *slice;
            assert!(before <= start && start < end && end <= after && busy <= end - start, "{slice:?}");
        }
        queue.destroy();
    }
}
