//! What a dispatch touches, as its waves note it.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

use super::{Asked, First, How, Observer, PAGE, Touched, observer};
use crate::{
    convergence::SyncFindings,
    race::{RaceAccess, SharedRaces},
    uninit::UninitFindings,
};

/// The first accesses of what was asked for.
#[derive(Default)]
struct Firsts {
    /// The address of the arguments of a dispatch of which first accesses are asked for.
    arguments: Option<u64>,
    /// Whether there is anything in `Wanted::asked`.
    is_asked: AtomicBool,
    wanted: Mutex<Wanted>,
}

#[derive(Default)]
struct Wanted {
    /// The numbers of the pages that were touched.
    met: HashSet<u64>,
    /// By numbers of pages; the bytes that were not accessed yet.
    asked: HashMap<u64, Vec<Asked>>,
    firsts: Vec<First>,
}

impl Firsts {
    /// A page is touched, for the first time by one of the threads.
    fn meet(&self, page: u64, observer: &dyn Observer, arguments: u64) {
        let mut wanted = self.wanted.lock();
        if wanted.met.insert(page) {
            let bytes = observer.asked(arguments, page * PAGE..(page + 1) * PAGE);
            if !bytes.is_empty() {
                wanted.asked.insert(page, bytes);
                self.is_asked.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl Wanted {
    /// First accesses that are kept of a dispatch.
    const MOST: usize = 1024;

    /// Keeps an access if it is the first of bytes that are asked for.
    fn look(&mut self, range: Range<u64>, how: How, access: &dyn Fn() -> Option<RaceAccess>) {
        for page in range.start / PAGE..=(range.end - 1) / PAGE {
            let Some(asked) = self.asked.get_mut(&page) else { continue };
            let is_met = |one: &Asked| {
                one.bytes.start < range.end && range.start < one.bytes.end && (one.loads || how != How::Read)
            };
            let met: Vec<_> = asked.extract_if(.., |one| is_met(one)).collect();
            for Asked { bytes, loads } in met {
                let bytes_of_access = bytes.start.max(range.start)..bytes.end.min(range.end);
                let rest = [bytes.start..bytes_of_access.start, bytes_of_access.end..bytes.end];
                let rest = rest.into_iter().filter(|bytes| bytes.start < bytes.end);
                asked.extend(rest.map(|bytes| Asked { bytes, loads }));
                self.firsts.extend(access().map(|access| First { bytes: bytes_of_access, access }));
            }
            if asked.is_empty() {
                self.asked.remove(&page);
            }
        }
        if self.firsts.len() >= Self::MOST {
            self.asked.clear();
        }
    }
}

/// Runs of bytes that are not in the masks of pages yet: what is touched mostly lies behind what was touched before.
#[derive(Default)]
struct Runs {
    runs: [Range<u64>; Self::COUNT],
    /// The one that is given up next.
    oldest: usize,
}

impl Runs {
    /// Kernels seldom walk along more arrays than that.
    const COUNT: usize = 4;

    /// Adds bytes; returns those that are new to the runs, and the run that was given up, which may be empty.
    #[inline]
    fn add(&mut self, bytes: Range<u64>) -> (Range<u64>, Range<u64>) {
        for run in &mut self.runs {
            if run.start <= bytes.start && bytes.start <= run.end && run.start < run.end {
                let new = run.end..bytes.end.max(run.end);
                run.end = new.end;
                return (new, 0..0);
            }
        }
        let place = self.oldest;
        self.oldest = (place + 1) % Self::COUNT;
        (bytes.clone(), std::mem::replace(&mut self.runs[place], bytes))
    }
}

/// What one thread's workgroups of a dispatch have touched.
#[derive(Default)]
struct Noted {
    touched: Touched,
    /// By how they were touched.
    runs: [Runs; 3],
    /// The page that was met last.
    met: Option<u64>,
}

impl Noted {
    fn note(
        &mut self,
        bytes: Range<u64>,
        how: How,
        firsts: &Firsts,
        access: &dyn Fn() -> Option<RaceAccess>,
    ) {
        let (new, old) = self.runs[how as usize].add(bytes);
        if old.start < old.end {
            self.touched.note(old.start, old.end - 1, how);
        }
        if let Some((arguments, observer)) = firsts.arguments.zip(observer()).filter(|_| new.start < new.end)
        {
            for page in new.start / PAGE..=(new.end - 1) / PAGE {
                if self.met.replace(page) != Some(page) {
                    firsts.meet(page, observer, arguments);
                }
            }
            if firsts.is_asked.load(Ordering::Relaxed) {
                firsts.wanted.lock().look(new, how, access);
            }
        }
    }

    fn take(&mut self) -> Touched {
        for (how, runs) in [How::Read, How::Write, How::Atomic].into_iter().zip(&mut self.runs) {
            for run in std::mem::take(runs).runs.into_iter().filter(|run| run.start < run.end) {
                self.touched.note(run.start, run.end - 1, how);
            }
        }
        std::mem::take(&mut self.touched)
    }
}

/// Where the workgroups of a dispatch that one thread executes note what they touch.
#[derive(Default)]
pub(crate) struct Part {
    noted: Mutex<Noted>,
    firsts: Arc<Firsts>,
}

impl Part {
    /// Notes what an `access` touches.
    pub(crate) fn note(&self, first: u64, last: u64, how: How, access: &dyn Fn() -> Option<RaceAccess>) {
        self.noted.lock().note(first..last.saturating_add(1), how, &self.firsts, access);
    }

    /// As [`Part::note`], of so many bytes at each of some addresses.
    pub(crate) fn note_each(
        &self,
        addresses: impl Iterator<Item = u64>,
        bytes: u64,
        how: How,
        access: &dyn Fn() -> Option<RaceAccess>,
    ) {
        let mut noted = self.noted.lock();
        // Lanes mostly lie one behind the other.
        let mut run = 0..0;
        for address in addresses {
            if run.end != address || run.start == run.end {
                if run.start < run.end {
                    noted.note(run, how, &self.firsts, access);
                }
                run = address..address;
            }
            run.end = address.saturating_add(bytes);
        }
        if run.start < run.end {
            noted.note(run, how, &self.firsts, access);
        }
    }
}

/// What the waves of a dispatch share to note what they touch.
#[derive(Default)]
pub(crate) struct Notes {
    /// One for each thread that takes part.
    parts: Mutex<Vec<Arc<Part>>>,
    firsts: Arc<Firsts>,
    /// What was found of accesses that nothing orders, or beyond LDS, where that is watched.
    pub(crate) races: SharedRaces,
    /// What was found of lanes and waves that should come together, where that is watched.
    pub(crate) sync: Arc<SyncFindings>,
    /// What was found to depend on bytes that nothing has written, where that is watched.
    pub(crate) uninit: Arc<UninitFindings>,
}

impl Notes {
    /// Of the dispatch with these arguments, if first accesses are asked for.
    pub(crate) fn of(arguments: Option<u64>) -> Self {
        Self { firsts: Arc::new(Firsts { arguments, ..Firsts::default() }), ..Self::default() }
    }

    /// For a thread that takes part in the dispatch.
    pub(crate) fn part(&self) -> Arc<Part> {
        let part = Arc::new(Part { firsts: Arc::clone(&self.firsts), ..Part::default() });
        self.parts.lock().push(Arc::clone(&part));
        part
    }

    /// What was touched, and the first accesses of what was asked for.
    pub(crate) fn take(&self) -> (Touched, Vec<First>) {
        let mut parts = std::mem::take(&mut *self.parts.lock()).into_iter();
        let mut touched = parts.next().map(|part| part.noted.lock().take()).unwrap_or_default();
        parts.for_each(|part| touched.join(part.noted.lock().take()));
        touched.shrink();
        (touched, std::mem::take(&mut self.firsts.wanted.lock().firsts))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_access_of_a_byte_that_was_asked_for_is_kept() {
        let mut wanted = Wanted::default();
        let asked = [(16..32, true), (64..80, false)].map(|(bytes, loads)| Asked { bytes, loads });
        wanted.asked.insert(0, asked.into());
        let touches = [
            (8..20, How::Read),
            (16..24, How::Write),
            (60..71, How::Read),
            (68..72, How::Atomic),
            (0..100, How::Write),
        ];
        for (n, (bytes, how)) in touches.into_iter().enumerate() {
            wanted.look(bytes, how, &|| Some(RaceAccess { workgroup: 0, wave: 0, how, pc: n as u64 }));
        }
        let mut firsts: Vec<_> =
            wanted.firsts.iter().map(|first| (first.bytes.clone(), first.access.pc)).collect();
        firsts.sort_by_key(|(bytes, _)| bytes.start);
        assert_eq!(firsts, [(16..20, 0), (20..24, 1), (24..32, 4), (64..68, 4), (68..72, 3), (72..80, 4)]);
        assert!(wanted.asked.is_empty());
    }

    proptest! {
        /// Some of several threads, along arrays and anywhere.
        #[test]
        fn lanes_are_noted_like_single_touches(
            touches in proptest::collection::vec((0usize..3, 0..2 * PAGE, 1u64..70, 1u64..100), 0..20),
        ) {
            let notes = Notes::default();
            let parts = [notes.part(), notes.part(), notes.part()];
            let mut single = Touched::default();
            for (part, start, count, stride) in touches {
                let starts = (0..count).map(|n| start + n * stride);
                parts[part].note_each(starts.clone(), 4, How::Read, &|| None);
                starts.for_each(|start| single.note(start, start + 3, How::Read));
                parts[part].note(start, start + count, How::Write, &|| None);
                single.note(start, start + count, How::Write);
            }
            let (touched, _) = notes.take();
            for how in [How::Read, How::Write] {
                prop_assert_eq!(touched.ranges(how), single.ranges(how));
            }
        }
    }
}
