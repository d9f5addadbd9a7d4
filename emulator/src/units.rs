//! When workgroups run on which compute unit, for tools that show it.

use std::{collections::BTreeMap, sync::OnceLock};

use parking_lot::Mutex;

/// Slices of a dispatch on one unit, more of which become fewer.
const MOST: usize = 16;
/// Nanoseconds between two workgroups that are one slice all the same: in that time a thread begins the next one.
const GAP: u64 = 1_000;

/// Where a compute unit is, as its waves read it in `HW_ID` and `XCC_ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitPlace {
    /// The accelerator die, if the device has several.
    pub die: Option<u32>,
    /// The shader engine of the die.
    pub engine: u32,
    /// The compute unit of the engine.
    pub unit: u32,
}

/// Workgroups of one dispatch that have run on one compute unit, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitSlice {
    /// When the first of them began, in nanoseconds of `CLOCK_BOOTTIME`, the clock of the emulated devices.
    pub start: u64,
    /// When the last of them ended.
    pub end: u64,
    /// Number in the grid of the first of them.
    pub workgroup: u64,
    /// How many they are.
    pub workgroups: u64,
    /// Nanoseconds from start to end in which one of them was there.
    pub busy: u64,
}

/// A dispatch that has ended, and where its workgroups were.
pub struct OnUnits<'a> {
    /// Ordinal of the device.
    pub device: u32,
    /// Number of the queue.
    pub queue: u64,
    /// Handle of the packet's completion signal, or 0.
    pub completion: u64,
    /// Looks up what the kernel is called.
    pub kernel: &'a dyn Fn() -> String,
    /// By unit, in the order in which they began. Those of one unit may overlap.
    pub slices: Vec<(UnitPlace, UnitSlice)>,
}

/// What is told where workgroups run.
pub trait UnitObserver: Send + Sync {
    /// Whether it wants to know of a dispatch that is about to start.
    fn is_watching(&self) -> bool;

    /// A dispatch has ended that it wanted to know of. Called before its completion is signalled, by the packet processor, as
    /// [`Observer::dispatched`](crate::Observer::dispatched) is.
    fn ran(&self, dispatch: OnUnits<'_>);
}

static OBSERVER: OnceLock<Box<dyn UnitObserver>> = OnceLock::new();

/// Has `observer` told of dispatches that start from now on; `false` if there is one already.
pub fn observe_units(observer: Box<dyn UnitObserver>) -> bool {
    OBSERVER.set(observer).is_ok()
}

/// Who is told.
pub(crate) fn observer() -> Option<&'static dyn UnitObserver> {
    OBSERVER.get().map(|observer| &**observer)
}

/// The workgroups of one dispatch, by unit.
#[derive(Default)]
pub(crate) struct Timetable(Mutex<BTreeMap<u32, Unit>>);

impl Timetable {
    /// A workgroup begins on a unit.
    pub(crate) fn begin(&self, unit: u32, workgroup: u64, now: u64) {
        self.0.lock().entry(unit).or_default().begin(workgroup, now);
    }

    /// A workgroup that has begun there ends.
    pub(crate) fn end(&self, unit: u32, workgroup: u64, now: u64) {
        self.0.lock().entry(unit).or_default().end(workgroup, now);
    }

    /// What has ended on each unit, in the order in which it began.
    pub(crate) fn take(&self) -> Vec<(u32, UnitSlice)> {
        let units = std::mem::take(&mut *self.0.lock());
        let sorted = |mut unit: Unit| {
            unit.over.sort_unstable_by_key(|slice| slice.start);
            unit.over
        };
        units
            .into_iter()
            .flat_map(|(unit, known)| sorted(known).into_iter().map(move |s| (unit, s)))
            .collect()
    }
}

/// What a dispatch has on one unit.
struct Unit {
    /// Workgroups that run: number, when they have begun, and the slice that each ends.
    running: Vec<(u64, u64, UnitSlice)>,
    over: Vec<UnitSlice>,
    /// Nanoseconds between two workgroups that are one slice all the same.
    gap: u64,
}

impl Default for Unit {
    fn default() -> Self {
        Self { running: Vec::new(), over: Vec::new(), gap: GAP }
    }
}

impl Unit {
    fn begin(&mut self, workgroup: u64, now: u64) {
        let slice = match last_before(&self.over, now, self.gap) {
            Some(place) => self.over.swap_remove(place),
            None => UnitSlice { start: now, end: now, workgroup, workgroups: 0, busy: 0 },
        };
        self.running.push((workgroup, now, slice));
    }

    fn end(&mut self, workgroup: u64, now: u64) {
        let Some(place) = self.running.iter().position(|(number, ..)| *number == workgroup) else { return };
        let (_, since, slice) = self.running.swap_remove(place);
        let (workgroups, busy) = (slice.workgroups + 1, slice.busy + (now - since));
        self.over.push(UnitSlice { end: now, workgroups, busy, ..slice });
        if self.over.len() > MOST {
            self.join();
        }
    }

    /// Makes fewer slices of them, by closing the shortest gaps. What overlaps stays apart.
    fn join(&mut self) {
        self.over.sort_unstable_by_key(|slice| slice.start);
        let first = self.over[0].start;
        while self.over.len() > MOST && self.over.iter().any(|slice| slice.start - first > self.gap) {
            self.gap *= 2;
            for slice in std::mem::take(&mut self.over) {
                match last_before(&self.over, slice.start, self.gap) {
                    Some(place) => {
                        let before = &mut self.over[place];
                        before.end = slice.end;
                        before.workgroups += slice.workgroups;
                        before.busy += slice.busy;
                    }
                    None => self.over.push(slice),
                }
            }
        }
    }
}

/// The slice that ended last of those that ended at most `gap` before a time.
fn last_before(slices: &[UnitSlice], time: u64, gap: u64) -> Option<usize> {
    let near = |slice: &UnitSlice| slice.end <= time && time - slice.end <= gap;
    let (place, _) = slices.iter().enumerate().filter(|(_, s)| near(s)).max_by_key(|(_, s)| s.end)?;
    Some(place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ran(workgroups: impl IntoIterator<Item = (u64, u64, u64)>) -> Vec<UnitSlice> {
        let table = Timetable::default();
        for (number, start, end) in workgroups {
            table.begin(3, number, start);
            table.end(3, number, end);
        }
        let taken = table.take();
        assert!(taken.iter().all(|(unit, _)| *unit == 3) && table.take().is_empty());
        taken.into_iter().map(|(_, slice)| slice).collect()
    }

    #[test]
    fn workgroups_that_follow_each_other_at_once_are_one_slice() {
        let slices = ran([(7, 10_000, 12_000), (9, 12_300, 20_000), (2, 25_000, 26_000)]);
        let slice =
            |start, end, workgroup, workgroups, busy| UnitSlice { start, end, workgroup, workgroups, busy };
        assert_eq!(slices, [slice(10_000, 20_000, 7, 2, 9_700), slice(25_000, 26_000, 2, 1, 1_000)]);
    }

    #[test]
    fn workgroups_that_overlap_are_slices_of_their_own_and_what_has_not_ended_is_none() {
        let table = Timetable::default();
        table.begin(0, 1, 100);
        table.begin(0, 2, 200);
        table.begin(1, 3, 300);
        table.end(0, 1, 400);
        table.begin(0, 4, 500);
        table.end(0, 2, 600);
        table.end(0, 4, 700);
        let slices = table.take();
        let short = slices.iter().map(|(unit, s)| (*unit, s.start, s.end, s.workgroups)).collect::<Vec<_>>();
        assert_eq!(short, [(0, 100, 700, 2), (0, 200, 600, 1)]);
    }

    #[test]
    fn of_thousands_of_workgroups_some_slices_remain() {
        // Each thousand without long gaps.
        let slices = ran((0..4_000)
            .map(|n| (n, n * 10_000 + n / 1_000 * 50_000_000, n * 10_000 + n / 1_000 * 50_000_000 + 2_500)));
        assert!((4..=MOST).contains(&slices.len()), "{slices:?}");
        assert_eq!(slices.iter().map(|slice| slice.workgroups).sum::<u64>(), 4_000);
        assert_eq!(slices.iter().map(|slice| slice.busy).sum::<u64>(), 4_000 * 2_500);
        assert!(
            slices.iter().all(|slice| slice.end - slice.start <= 10_000_000),
            "long gaps stay: {slices:?}"
        );
    }

    proptest! {
        #[test]
        fn no_workgroup_is_lost_and_slices_of_one_after_the_other_do_not_overlap(
            steps in proptest::collection::vec((0u64..100_000, 0u64..100_000), 1..200),
        ) {
            let mut now = 0;
            let workgroups: Vec<_> = steps.iter().zip(0..).map(|(&(pause, time), number)| {
                let start = now + pause;
                now = start + time;
                (number, start, now)
            }).collect();
            let slices = ran(workgroups.iter().copied());
            prop_assert!(slices.len() <= MOST);
            prop_assert!(slices.windows(2).all(|pair| pair[0].end <= pair[1].start));
            prop_assert_eq!(slices.iter().map(|slice| slice.workgroups).sum::<u64>(), steps.len() as u64);
            prop_assert_eq!(slices.iter().map(|slice| slice.busy).sum::<u64>(), steps.iter().map(|step| step.1).sum::<u64>());
            prop_assert_eq!((slices[0].start, slices[slices.len() - 1].end), (workgroups[0].1, now));
            prop_assert!(slices.iter().all(|slice| workgroups[slice.workgroup as usize].1 == slice.start));
        }
    }
}
