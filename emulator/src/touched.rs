//! The bytes of memory that a dispatch has read, written and changed by atomics, for tools that compare what commands
//! touch. Memory of the device and of the host; LDS and scratch are the dispatch's own.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;

pub use crate::race::How;
use crate::{
    convergence::{Deadlock, SyncFinding, SyncFindings},
    os::hidden,
    race::{RaceAccess, RaceFinding, SharedRaces},
    uninit::{UninitFinding, UninitFindings},
};

/// Bytes of a page of masks.
const PAGE: u64 = 4096;
/// Words of a mask of a page, a bit a byte.
const WORDS: usize = PAGE as usize / 64;

/// The bytes of a page of 4 KiB that were touched.
#[derive(Clone)]
pub struct Page([[u64; WORDS]; 3]);

/// docs/check.md, "What they cost".
const _: () = assert!(size_of::<Page>() == 1536);

impl Page {
    /// Bytes of a page.
    pub const BYTES: u64 = PAGE;

    const EMPTY: Self = Self([[0; WORDS]; 3]);

    /// The bytes whose order with `other`, of the same page that starts at `start`, matters, by address: one of the two has
    /// stored to them, or one has loaded what the other has changed by an atomic.
    pub fn conflicts(&self, other: &Self, start: u64) -> Vec<Range<u64>> {
        let (Self([read, written, changed]), Self([other_read, other_written, other_changed])) =
            (self, other);
        let both: [u64; WORDS] = std::array::from_fn(|n| {
            let any = read[n] | written[n] | changed[n];
            let other_any = other_read[n] | other_written[n] | other_changed[n];
            written[n] & other_any
                | any & other_written[n]
                | read[n] & other_changed[n]
                | changed[n] & other_read[n]
        });
        runs(start, &both)
    }

    /// The bytes of `range` that were touched in any way, or in any but loads, of the page that starts at `start`.
    pub fn touched_in(&self, start: u64, range: &Range<u64>, loads: bool) -> Vec<Range<u64>> {
        let Self([read, written, changed]) = self;
        let any = std::array::from_fn(|n| if loads { read[n] } else { 0 } | written[n] | changed[n]);
        let clipped = |run: Range<u64>| run.start.max(range.start)..run.end.min(range.end);
        if range.start >= start + PAGE || range.end <= start {
            return Vec::new();
        }
        runs(start, &any).into_iter().map(clipped).filter(|run| run.start < run.end).collect()
    }

    /// How a byte of the page that starts at `start` was touched: stored to, else changed by an atomic, else loaded.
    pub fn how(&self, start: u64, at: u64) -> Option<How> {
        let place = at.checked_sub(start).filter(|place| *place < PAGE)? as usize;
        let bit = |how: &How| self.0[*how as usize][place / 64] >> (place % 64) & 1 != 0;
        [How::Write, How::Atomic, How::Read].into_iter().find(bit)
    }

    /// Forgets what `later` makes of no matter, which comes behind: whatever conflicts with one of these touches conflicts
    /// with one of its. Says whether anything is left.
    pub fn forget_before(&mut self, later: &Self) -> bool {
        let mut rest = 0;
        for (how, mask) in self.0.iter_mut().enumerate() {
            for (n, word) in mask.iter_mut().enumerate() {
                *word &= !(later.0[How::Write as usize][n] | later.0[how][n]);
                rest |= *word;
            }
        }
        rest != 0
    }
}

/// Bytes by how they were touched.
#[derive(Default, Clone)]
pub struct Touched {
    pages: HashMap<u64, Box<Page>>,
}

impl Touched {
    /// Notes `first..=last`.
    pub fn note(&mut self, first: u64, last: u64, how: How) {
        self.note_with(first, last, how, |_| {});
    }

    /// As [`Touched::note`]; says which pages were not touched before, by their numbers.
    fn note_with(&mut self, first: u64, last: u64, how: How, mut is_new: impl FnMut(u64)) {
        let mut at = first;
        loop {
            let page = self.pages.entry(at / PAGE).or_insert_with(|| {
                is_new(at / PAGE);
                Box::new(Page::EMPTY)
            });
            let end = last.min(at | (PAGE - 1));
            let mask = &mut page.0[how as usize];
            let (from, to) = ((at % PAGE) as usize, (end % PAGE) as usize);
            let (low, high) = (u64::MAX << (from % 64), u64::MAX >> (63 - to % 64));
            match (from / 64, to / 64) {
                (one, other) if one == other => mask[one] |= low & high,
                (one, other) => {
                    mask[one] |= low;
                    mask[one + 1..other].fill(u64::MAX);
                    mask[other] |= high;
                }
            }
            if end == last {
                return;
            }
            at = end + 1;
        }
    }

    /// The pages in which something was touched, by their first addresses; in no order.
    pub fn pages(&self) -> impl Iterator<Item = (u64, &Page)> {
        self.pages.iter().map(|(number, page)| (number * PAGE, &**page))
    }

    /// The ranges of bytes that were touched so, by address. None reaches over the end of a page.
    pub fn ranges(&self, how: How) -> Vec<Range<u64>> {
        let mut ranges: Vec<_> =
            self.pages().flat_map(|(start, page)| runs(start, &page.0[how as usize])).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges
    }
}

/// The runs of bits of a page's mask, as addresses.
fn runs(start: u64, mask: &[u64; WORDS]) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for (word, at) in mask.iter().zip((start..).step_by(64)) {
        let mut rest = *word;
        while rest != 0 {
            let low = rest.trailing_zeros();
            let bits = (rest >> low).trailing_ones();
            let (first, end) = (at + u64::from(low), at + u64::from(low + bits));
            match runs.last_mut().filter(|run| run.end == first) {
                Some(run) => run.end = end,
                None => runs.push(first..end),
            }
            rest &= u64::MAX.checked_shl(low + bits).unwrap_or(0);
        }
    }
    runs
}

/// A dispatch that has ended, or was ended by a fault.
pub struct Dispatched<'a> {
    /// Ordinal of the device.
    pub device: u32,
    /// Number of the queue.
    pub queue: u64,
    /// Address of the kernel descriptor.
    pub kernel_object: u64,
    /// Looks up what the kernel is called.
    pub kernel: &'a dyn Fn() -> String,
    /// Address of the kernel's arguments, by which a runtime knows the dispatch.
    pub arguments: u64,
    /// What it touched.
    pub touched: &'a Touched,
    /// Address of its first instruction.
    pub entry: u64,
    /// What was found that nothing orders, where [`Config::observed_races`](crate::Config::observed_races) asks for it, and
    /// beyond LDS, where [`Config::observed_bounds`](crate::Config::observed_bounds) does.
    pub races: &'a [RaceFinding],
    /// What was found of lanes and waves that should come together, where
    /// [`Config::observed_sync`](crate::Config::observed_sync) asks for it.
    pub sync: &'a [SyncFinding],
    /// What was found to depend on bytes that nothing has written, where
    /// [`Config::observed_uninit`](crate::Config::observed_uninit) asks for it.
    pub uninit: &'a [UninitFinding],
    /// The access that has ended it, if one has.
    pub refused: Option<Refused>,
    /// The wave that has ended it because no wave did anything but wait, if one has, where
    /// [`Config::observed_sync`](crate::Config::observed_sync) asks for it.
    pub deadlock: Option<Deadlock>,
    /// The first accesses of bytes that [`Observer::asked`] has asked for.
    pub firsts: &'a [First],
}

/// Bytes whose first accesses are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The bytes.
    pub bytes: Range<u64>,
    /// Whether loads count.
    pub loads: bool,
}

/// The first access of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First {
    /// The bytes, of which none was accessed before.
    pub bytes: Range<u64>,
    /// The access.
    pub access: RaceAccess,
}

/// Why the device refuses an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessFault {
    /// No memory is there.
    NoMemory,
    /// The memory may only be read.
    ReadOnly,
    /// The address of an atomic is no multiple of its size.
    Misaligned,
}

/// The access that has ended a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub fault: AccessFault,
    /// The first byte.
    pub address: u64,
    /// How many bytes.
    pub bytes: u64,
    /// What was to be done to them.
    pub how: How,
    /// The workgroup, by its number in the grid.
    pub workgroup: u64,
    /// The wave, by its number in the workgroup.
    pub wave: u32,
    /// The address of the instruction.
    pub pc: u64,
}

/// A dispatch that is about to start.
pub struct Starting<'a> {
    /// Address of its arguments.
    pub arguments: u64,
    /// Address of the kernel descriptor.
    pub kernel_object: u64,
    /// Reads the eight bytes at an offset of the arguments; `None` if no memory is there.
    pub word: &'a dyn Fn(u64) -> Option<u64>,
    /// Whether the device or the process has memory at an address.
    pub is_memory: &'a dyn Fn(u64) -> bool,
}

/// What is told of dispatches, where [`Config::observed`](crate::Config::observed) asks for it.
pub trait Observer: Send + Sync {
    /// A dispatch is about to start. Called by the packet processor, too.
    fn starting(&self, _dispatch: &Starting<'_>) {}

    /// A dispatch with these arguments touches a page for the first time: the bytes of it whose first accesses are to be told,
    /// where [`Config::observed_bounds`](crate::Config::observed_bounds) is asked for. None overlap. Called by the threads that
    /// execute waves.
    fn asked(&self, _arguments: u64, _page: Range<u64>) -> Vec<Asked> {
        Vec::new()
    }

    /// Whether the kernel of this descriptor may wait for as long as it likes, so that it is never told of as a deadlock. Called by
    /// the packet processor, too.
    fn is_patient(&self, _kernel_object: u64) -> bool {
        false
    }

    /// The host touches memory that it has to keep off, where [`Config::observed_host`](crate::Config::observed_host) asks for it,
    /// by the instruction at `pc`. Whether it may go on: the page is [open](crate::os::hidden::open) now. Called by the thread
    /// that touches it, in the handler of a signal.
    fn host_touches(&self, _address: u64, _how: How, _pc: u64) -> bool {
        false
    }

    /// A dispatch has ended. Called before its completion is signalled, by the packet processor: no packet of the device
    /// goes on until this returns, so it must not wait for any.
    fn dispatched(&self, dispatch: &Dispatched<'_>);
}

static OBSERVER: OnceLock<Box<dyn Observer>> = OnceLock::new();

/// Has `observer` told of all dispatches from now on; `false` if there is one already.
pub fn observe(observer: Box<dyn Observer>) -> bool {
    hidden::watch(host_touches);
    OBSERVER.set(observer).is_ok()
}

fn host_touches(address: u64, is_store: bool, pc: u64) -> bool {
    let how = if is_store { How::Write } else { How::Read };
    observer().is_some_and(|observer| observer.host_touches(address, how, pc))
}

/// Who is told.
pub(crate) fn observer() -> Option<&'static dyn Observer> {
    OBSERVER.get().map(|observer| &**observer)
}

/// What a dispatch has touched, and the first accesses of what was asked for.
#[derive(Default)]
struct Noted {
    touched: Touched,
    /// The address of the arguments of a dispatch of which first accesses are asked for.
    arguments: Option<u64>,
    /// By numbers of pages; the bytes that were not accessed yet.
    asked: HashMap<u64, Vec<Asked>>,
    firsts: Vec<First>,
}

impl Noted {
    /// First accesses that are kept of a dispatch.
    const MOST: usize = 1024;

    fn note(&mut self, first: u64, last: u64, how: How, access: &dyn Fn() -> Option<RaceAccess>) {
        let Self { touched, arguments, asked, .. } = self;
        let observer = observer().zip(*arguments);
        touched.note_with(first, last, how, |page| {
            let Some((observer, arguments)) = observer else { return };
            let bytes = observer.asked(arguments, page * PAGE..(page + 1) * PAGE);
            if !bytes.is_empty() {
                asked.insert(page, bytes);
            }
        });
        if !self.asked.is_empty() {
            self.look(first..last.saturating_add(1), how, access);
        }
    }

    /// Keeps an access if it is the first of bytes that are asked for.
    #[cold]
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

/// What the waves of a dispatch share to note what they touch.
#[derive(Default)]
pub(crate) struct Notes {
    noted: Mutex<Noted>,
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
        Self { noted: Mutex::new(Noted { arguments, ..Noted::default() }), ..Self::default() }
    }

    /// Notes what an `access` touches.
    pub(crate) fn note(&self, first: u64, last: u64, how: How, access: &dyn Fn() -> Option<RaceAccess>) {
        self.noted.lock().note(first, last, how, access);
    }

    /// As [`Notes::note`], of so many bytes at each of some addresses.
    pub(crate) fn note_each(
        &self,
        addresses: impl Iterator<Item = u64>,
        bytes: u64,
        how: How,
        access: &dyn Fn() -> Option<RaceAccess>,
    ) {
        let mut noted = self.noted.lock();
        // Lanes mostly lie one behind the other.
        let mut run: Option<Range<u64>> = None;
        for address in addresses {
            match &mut run {
                Some(run) if run.end == address => run.end = address.wrapping_add(bytes),
                _ => {
                    let next = address..address.wrapping_add(bytes);
                    if let Some(run) = run.replace(next) {
                        noted.note(run.start, run.end.wrapping_sub(1), how, access);
                    }
                }
            }
        }
        if let Some(run) = run {
            noted.note(run.start, run.end.wrapping_sub(1), how, access);
        }
    }

    /// What was touched, and the first accesses of what was asked for.
    pub(crate) fn take(&self) -> (Touched, Vec<First>) {
        let mut noted = self.noted.lock();
        (std::mem::take(&mut noted.touched), std::mem::take(&mut noted.firsts))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const ALL: [How; 3] = [How::Read, How::Write, How::Atomic];

    /// Touches near the ends of words and pages.
    fn touch() -> impl Strategy<Value = (u64, u64, How)> {
        let how = prop_oneof![Just(How::Read), Just(How::Write), Just(How::Atomic)];
        (0..3 * PAGE, prop_oneof![1u64..5, 60u64..70, 4000u64..5000], how)
    }

    fn set(touches: &[(u64, u64, How)]) -> BTreeSet<(u64, How)> {
        touches
            .iter()
            .flat_map(|&(start, bytes, how)| (start..start + bytes).map(move |at| (at, how)))
            .collect()
    }

    fn touched(touches: &[(u64, u64, How)]) -> Touched {
        let mut touched = Touched::default();
        touches.iter().for_each(|&(start, bytes, how)| touched.note(start, start + bytes - 1, how));
        touched
    }

    #[test]
    fn the_first_access_of_a_byte_that_was_asked_for_is_kept() {
        let mut noted = Noted::default();
        let asked = [(16..32, true), (64..80, false)].map(|(bytes, loads)| Asked { bytes, loads });
        noted.asked.insert(0, asked.into());
        let touches = [
            (8, 19, How::Read),
            (16, 23, How::Write),
            (60, 70, How::Read),
            (68, 71, How::Atomic),
            (0, 99, How::Write),
        ];
        for (n, (first, last, how)) in touches.into_iter().enumerate() {
            noted.note(first, last, how, &|| Some(RaceAccess { workgroup: 0, wave: 0, how, pc: n as u64 }));
        }
        let mut firsts: Vec<_> =
            noted.firsts.iter().map(|first| (first.bytes.clone(), first.access.pc)).collect();
        firsts.sort_by_key(|(bytes, _)| bytes.start);
        assert_eq!(firsts, [(16..20, 0), (20..24, 1), (24..32, 4), (64..68, 4), (68..72, 3), (72..80, 4)]);
        assert!(noted.asked.is_empty());
    }

    proptest! {
        #[test]
        fn bytes_are_noted_as_in_a_set_of_bytes(
            here in proptest::collection::vec(touch(), 0..6),
            there in proptest::collection::vec(touch(), 0..6),
        ) {
            let (mine, theirs) = (touched(&here), touched(&there));
            for how in ALL {
                let bytes: BTreeSet<_> = mine.ranges(how).into_iter().flatten().map(|at| (at, how)).collect();
                prop_assert!(bytes.iter().eq(set(&here).iter().filter(|(_, other)| *other == how)));
            }
            let pages = mine.pages().filter_map(|(start, page)| Some((start, page, theirs.pages().find(|(at, _)| *at == start)?.1)));
            let found: BTreeSet<_> = pages.flat_map(|(start, mine, theirs)| mine.conflicts(theirs, start)).flatten().collect();
            let mut rest = mine.clone();
            for (start, page) in theirs.pages() {
                if let Some(mine) = rest.pages.get_mut(&(start / PAGE)) {
                    mine.forget_before(page);
                }
            }
            let (mine, theirs) = (set(&here), set(&there));
            for how in ALL {
                let kept = |&&(at, touch): &&(u64, How)| touch == how && !theirs.contains(&(at, How::Write)) && !theirs.contains(&(at, how));
                let left: BTreeSet<_> = rest.ranges(how).into_iter().flatten().collect();
                prop_assert!(left.into_iter().eq(mine.iter().filter(kept).map(|(at, _)| *at)));
            }
            let expected: BTreeSet<_> = mine.iter().filter_map(|&(at, how)| {
                let matters = |other: How| theirs.contains(&(at, other)) && (how == How::Write || other == How::Write || how != other);
                ALL.into_iter().any(matters).then_some(at)
            }).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn lanes_are_noted_like_single_touches(starts in proptest::collection::vec(0..2 * PAGE, 0..20)) {
            let notes = Notes::default();
            notes.note_each(starts.iter().copied(), 4, How::Read, &|| None);
            let single: Vec<_> = starts.iter().map(|&start| (start, 4, How::Read)).collect();
            prop_assert_eq!(notes.take().0.ranges(How::Read), touched(&single).ranges(How::Read));
        }
    }
}
