//! One thread's part of a dispatch.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use super::Dispatch;
use crate::{
    convergence::{self, Awaited},
    memory::coherence::Grain,
    os,
    touched::{Notes, Part},
    units::Timetable,
    wave::{Fault, FaultKind},
    workgroup::{Pool, Turn, Workgroup},
};

/// Dwords of instructions of one workgroup before another one's turn.
const BUDGET: u64 = 1 << 16;
/// Turns without a workgroup that ends before another one begins; each resident one has at least one of them. The wait
/// for a late workgroup must not grow with the square of those before it.
const PATIENCE: usize = 16;

/// The register files and other memory that a thread's workgroups use, one after the other. Keep one per thread.
#[derive(Default)]
pub struct Worker {
    pool: Pool,
}

impl Worker {
    /// A worker with nothing allocated yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets go of what the last dispatch left, such as freed memory that its waves could still see. Call it when
    /// the worker becomes idle.
    pub fn release(&mut self) {
        self.pool.release();
    }
}

/// What came of [`Share::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// This call settled the dispatch's last workgroup: tell the thread that waits. Exactly one share gets it.
    Completed,
    /// Nothing is left for this share; others may still be at work. Drop it.
    Drained,
    /// The turns are used up; call again.
    Working,
    /// All workgroups of this share wait for something else (another workgroup, kernel or the host). Let others
    /// run before calling again.
    Idle,
}

/// One thread's part of a dispatch: the workgroups that it has begun.
pub struct Share {
    dispatch: Arc<Dispatch>,
    resident: VecDeque<Workgroup>,
    /// The unit on which the places of a workgroup that has ended are held for the next.
    free: Option<u32>,
    /// Turns since a workgroup began or ended.
    stale: usize,
    /// Where its workgroups note what they touch, if anybody watches.
    notes: Option<Arc<Part>>,
}

impl Share {
    /// A share without workgroups; [`Share::run`] takes them one by one.
    pub fn new(dispatch: Arc<Dispatch>) -> Self {
        let notes = dispatch.notes().map(Notes::part);
        Self { dispatch, resident: VecDeque::new(), free: None, stale: 0, notes }
    }

    /// The dispatch.
    pub fn dispatch(&self) -> &Arc<Dispatch> {
        &self.dispatch
    }

    /// Whether it has workgroups that have begun and not ended.
    pub fn is_resident(&self) -> bool {
        !self.resident.is_empty()
    }

    /// Runs workgroups for up to `turns` turns of some ten thousand instructions; a workgroup that ends sooner takes
    /// one, too.
    ///
    /// A further workgroup is begun when those of this share all wait, or have not ended in a good while, so that
    /// workgroups that wait for later ones (grid-wide barriers, spin locks) make progress on any number of threads,
    /// as long as the device has room for them.
    pub fn run(&mut self, worker: &mut Worker, turns: u32) -> Progress {
        match self.dispatch.timetable {
            None => self.take_turns::<false>(worker, turns),
            Some(_) => self.take_turns::<true>(worker, turns),
        }
    }

    /// `TIMED`: the dispatch has a timetable. The one without looks for none at each workgroup.
    fn take_turns<const TIMED: bool>(&mut self, worker: &mut Worker, turns: u32) -> Progress {
        // Consecutive turns in which no workgroup did anything.
        let mut idle = 0;
        for _ in 0..turns {
            if self.dispatch.fault().is_some() || self.dispatch.is_stopped() {
                return self.abandon(worker, 0);
            }
            let all_wait = idle >= self.resident.len();
            let claimed =
                if all_wait || self.stale >= PATIENCE.max(self.resident.len()) { self.claim() } else { None };
            let group = match claimed {
                Some((id, unit)) => match self.begin(worker, id, unit) {
                    Some(group) => {
                        if TIMED {
                            self.timed(|times| times.begin(unit, id, os::now()));
                        }
                        group
                    }
                    None => return self.abandon(worker, 1),
                },
                None if all_wait && !self.resident.is_empty() => return Progress::Idle,
                None => match self.resident.pop_front() {
                    Some(group) => group,
                    // Other dispatches have all the places.
                    None if self.dispatch.has_unclaimed() => return Progress::Idle,
                    None => return Progress::Drained,
                },
            };
            match self.turn::<TIMED>(worker, group) {
                Outcome::Completed => return Progress::Completed,
                Outcome::Ended => (idle, self.stale) = (0, 0),
                Outcome::Worked => (idle, self.stale) = (0, self.stale + 1),
                Outcome::Waits => (idle, self.stale) = (idle + 1, self.stale + 1),
            }
        }
        Progress::Working
    }

    fn turn<const TIMED: bool>(&mut self, worker: &mut Worker, mut group: Workgroup) -> Outcome {
        let turn = group.run(&self.dispatch.code, BUDGET);
        if let Some(patience) = self.dispatch.resources.watches.sync {
            self.look_for_deadlock(&group, patience);
        }
        let outcome = match turn {
            Turn::Done => {
                if TIMED {
                    self.timed(|times| times.end(group.unit, group.id, os::now()));
                }
                if self.dispatch.has_unclaimed() {
                    self.keep(group.unit);
                } else {
                    self.dispatch.give_places(group.unit);
                }
                group.retire(&mut worker.pool);
                return if self.dispatch.settle(1) { Outcome::Completed } else { Outcome::Ended };
            }
            Turn::Suspended { idle: true } => Outcome::Waits,
            Turn::Suspended { idle: false } => Outcome::Worked,
            Turn::Fault { wave, fault } => {
                self.dispatch.report(group.id, wave, fault);
                Outcome::Worked
            }
        };
        self.resident.push_back(group);
        outcome
    }

    /// What a workgroup waits for, if all of its waves wait and only waves of the device can end that: see
    /// [`Workgroup::deadlock`]. Memory that is not the device's alone may be written by the host at any time.
    fn deadlock(&self, group: &Workgroup) -> Option<(u32, u64, Awaited)> {
        group.deadlock().filter(|(.., awaited)| match awaited {
            Awaited::Memory(at) => {
                let memory = self.dispatch.resources.surroundings.map.snapshot();
                memory.find(*at).is_some_and(|range| range.grain == Grain::Coarse)
            }
            Awaited::Lds(_) | Awaited::Grid | Awaited::Nothing => true,
        })
    }

    /// Ends the dispatch if all that runs anywhere, and this workgroup, has waited for so long.
    #[cold]
    fn look_for_deadlock(&self, group: &Workgroup, patience: Duration) {
        // What a wave waits for without an end may come from anywhere.
        let Some((wave, pc, awaited)) = self.deadlock(group).filter(|_| patience < Duration::MAX) else {
            return convergence::moved();
        };
        if convergence::is_deadlock(patience) {
            let waiting = self.dispatch.unclaimed().try_into().unwrap_or(u32::MAX);
            self.dispatch.report(
                group.id,
                wave,
                Fault { kind: FaultKind::Deadlock { awaited, waiting }, pc },
            );
        }
    }

    /// Notes something in the dispatch's timetable.
    fn timed(&self, note: impl FnOnce(&Timetable)) {
        if let Some(timetable) = &self.dispatch.timetable {
            note(timetable);
        }
    }

    /// Takes another workgroup if one of the units that it may run on can hold it: its number, and the unit.
    fn claim(&mut self) -> Option<(u64, u32)> {
        self.stale = 0;
        // Workgroups go round the units as long as there is room; no other dispatch can take the last places meanwhile.
        let unit = match self.dispatch.take_places() {
            Some(unit) => {
                self.give();
                unit
            }
            None => self.free.take()?,
        };
        let id = self.dispatch.claim();
        if id.is_none() {
            self.keep(unit);
        }
        Some((id?, unit))
    }

    /// Keeps the places of a workgroup that has ended for the next.
    fn keep(&mut self, unit: u32) {
        self.give();
        self.free = Some(unit);
    }

    /// Gives back the places that no workgroup has.
    fn give(&mut self) {
        if let Some(unit) = self.free.take() {
            self.dispatch.give_places(unit);
        }
    }

    /// `None` after a fault: there was no memory for the workgroup's scratch.
    fn begin(&mut self, worker: &mut Worker, id: u64, unit: u32) -> Option<Workgroup> {
        let dispatch = &self.dispatch;
        let items = dispatch.extent(dispatch.position(id)).iter().product::<u32>();
        let group = Workgroup::new(
            id,
            unit,
            items.div_ceil(dispatch.resources.lanes),
            &dispatch.resources,
            &mut worker.pool,
            |number, wave| {
                wave.notes.clone_from(&self.notes);
                dispatch.start(wave, id, number, unit);
            },
        );
        match group {
            Ok(group) => Some(group),
            Err(_) => {
                dispatch.give_places(unit);
                let bytes = dispatch.resources.scratch_bytes;
                dispatch.report(
                    id,
                    0,
                    Fault { kind: FaultKind::NoScratch { bytes }, pc: dispatch.registers.entry() },
                );
                None
            }
        }
    }

    /// Gives everything up after a fault, together with `claimed` workgroups that have not begun.
    fn abandon(&mut self, worker: &mut Worker, claimed: u64) -> Progress {
        let begun = self.resident.len() as u64;
        for group in self.resident.drain(..) {
            self.dispatch.give_places(group.unit);
            group.retire(&mut worker.pool);
        }
        let last = self.dispatch.settle(begun + claimed + self.dispatch.cancel());
        if last { Progress::Completed } else { Progress::Drained }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give();
        for group in &self.resident {
            self.dispatch.give_places(group.unit);
        }
    }
}

/// How a turn of one workgroup went.
enum Outcome {
    /// It ended, and was the dispatch's last.
    Completed,
    Ended,
    Worked,
    Waits,
}
