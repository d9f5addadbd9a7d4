//! The bytes of memory that a dispatch has read, written and changed by atomics, for tools that compare what commands
//! touch. Memory of the device and of the host; LDS and scratch are the dispatch's own.

mod notes;

use std::{collections::HashMap, ops::Range, sync::OnceLock};

pub(crate) use self::notes::{Notes, Part};
pub use crate::race::How;
use crate::{
    convergence::{Deadlock, SyncFinding},
    os::hidden,
    race::{RaceAccess, RaceFinding},
    uninit::UninitFinding,
};

/// Bytes of a page of masks.
const PAGE: u64 = 4096;
/// Words of a mask of a page, a bit a byte.
const WORDS: usize = PAGE as usize / 64;

/// A bit for each byte of a page.
#[derive(Clone, Default)]
enum Mask {
    #[default]
    Nothing,
    All,
    Some(Box<[u64; WORDS]>),
}

impl Mask {
    fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    fn word(&self, n: usize) -> u64 {
        match self {
            Self::Nothing => 0,
            Self::All => u64::MAX,
            Self::Some(words) => words[n],
        }
    }

    /// Adds the bytes `from..=to`.
    fn add(&mut self, from: usize, to: usize) {
        if let Self::All = self {
            return;
        }
        if to - from == PAGE as usize - 1 {
            return *self = Self::All;
        }
        if self.is_nothing() {
            *self = Self::Some(Box::new([0; WORDS]));
        }
        let Self::Some(words) = self else { return };
        let (low, high) = (u64::MAX << (from % 64), u64::MAX >> (63 - to % 64));
        match (from / 64, to / 64) {
            (one, other) if one == other => words[one] |= low & high,
            (one, other) => {
                words[one] |= low;
                words[one + 1..other].fill(u64::MAX);
                words[other] |= high;
            }
        }
    }

    /// Adds the bytes of `other`.
    fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (_, Self::Nothing) | (Self::All, _) => {}
            (Self::Some(words), Self::Some(more)) => {
                words.iter_mut().zip(&*more).for_each(|(word, more)| *word |= more);
            }
            (mask, other) => *mask = other,
        }
    }

    /// Takes no more room than it needs.
    fn shrink(&mut self) {
        match self {
            Self::Some(words) if words.iter().all(|word| *word == u64::MAX) => *self = Self::All,
            Self::Some(words) if words.iter().all(|word| *word == 0) => *self = Self::Nothing,
            _ => {}
        }
    }

    /// Takes the bytes of `other` away.
    fn remove(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => {}
            (_, Self::All) => *self = Self::Nothing,
            (mask, Self::Some(fewer)) => {
                let mut left = Box::new(std::array::from_fn(|n| mask.word(n)));
                left.iter_mut().zip(&**fewer).for_each(|(word, fewer)| *word &= !fewer);
                *mask = Self::Some(left);
                mask.shrink();
            }
        }
    }
}

/// The bytes of a page of 4 KiB that were touched.
#[derive(Clone, Default)]
pub struct Page([Mask; 3]);

/// docs/check.md, "What they cost".
const _: () = assert!(size_of::<Page>() == 48);

impl Page {
    /// Bytes of a page.
    pub const BYTES: u64 = PAGE;

    /// The bytes whose order with `other`, of the same page that starts at `start`, matters, by address: one of the two has
    /// stored to them, or one has loaded what the other has changed by an atomic.
    pub fn conflicts(&self, other: &Self, start: u64) -> Vec<Range<u64>> {
        let (Self([read, written, changed]), Self([other_read, other_written, other_changed])) =
            (self, other);
        let are_loads = |masks: [&Mask; 2]| masks.into_iter().all(Mask::is_nothing);
        if are_loads([written, changed]) && are_loads([other_written, other_changed]) {
            return Vec::new();
        }
        let both: [u64; WORDS] = std::array::from_fn(|n| {
            let [read, written, changed] = [read, written, changed].map(|mask| mask.word(n));
            let [other_read, other_written, other_changed] =
                [other_read, other_written, other_changed].map(|mask| mask.word(n));
            let (any, other_any) = (read | written | changed, other_read | other_written | other_changed);
            written & other_any | any & other_written | read & other_changed | changed & other_read
        });
        runs(start, &both)
    }

    /// The bytes of `range` that were touched in any way, or in any but loads, of the page that starts at `start`.
    pub fn touched_in(&self, start: u64, range: &Range<u64>, loads: bool) -> Vec<Range<u64>> {
        let Self([read, written, changed]) = self;
        if range.start >= start + PAGE || range.end <= start {
            return Vec::new();
        }
        let any = std::array::from_fn(|n| {
            let stored = written.word(n) | changed.word(n);
            if loads { read.word(n) | stored } else { stored }
        });
        let clipped = |run: Range<u64>| run.start.max(range.start)..run.end.min(range.end);
        runs(start, &any).into_iter().map(clipped).filter(|run| run.start < run.end).collect()
    }

    /// How a byte of the page that starts at `start` was touched: stored to, else changed by an atomic, else loaded.
    pub fn how(&self, start: u64, at: u64) -> Option<How> {
        let place = at.checked_sub(start).filter(|place| *place < PAGE)? as usize;
        let bit = |how: &How| self.0[*how as usize].word(place / 64) >> (place % 64) & 1 != 0;
        [How::Write, How::Atomic, How::Read].into_iter().find(bit)
    }

    /// Forgets what `later` makes of no matter, which comes behind: whatever conflicts with one of these touches conflicts
    /// with one of its. Says whether anything is left.
    pub fn forget_before(&mut self, later: &Self) -> bool {
        for (mask, same) in self.0.iter_mut().zip(&later.0) {
            mask.remove(&later.0[How::Write as usize]);
            mask.remove(same);
        }
        !self.0.iter().all(Mask::is_nothing)
    }
}

/// Bytes by how they were touched.
#[derive(Default, Clone)]
pub struct Touched {
    pages: HashMap<u64, Page>,
}

impl Touched {
    /// Notes `first..=last`.
    pub fn note(&mut self, first: u64, last: u64, how: How) {
        let mut at = first;
        loop {
            let end = last.min(at | (PAGE - 1));
            let page = self.pages.entry(at / PAGE).or_default();
            page.0[how as usize].add((at % PAGE) as usize, (end % PAGE) as usize);
            if end == last {
                return;
            }
            at = end + 1;
        }
    }

    /// Adds what `other` has touched, too.
    fn join(&mut self, other: Self) {
        for (number, page) in other.pages {
            let here = self.pages.entry(number).or_default();
            here.0.iter_mut().zip(page.0).for_each(|(mask, other)| mask.join(other));
        }
    }

    /// Takes no more room than it needs.
    fn shrink(&mut self) {
        self.pages.values_mut().flat_map(|page| &mut page.0).for_each(Mask::shrink);
    }

    /// The pages in which something was touched, by their first addresses; in no order.
    pub fn pages(&self) -> impl Iterator<Item = (u64, &Page)> {
        self.pages.iter().map(|(number, page)| (number * PAGE, page))
    }

    /// The ranges of bytes that were touched so, by address. None reaches over the end of a page.
    pub fn ranges(&self, how: How) -> Vec<Range<u64>> {
        let of_page = |(start, page): (u64, &Page)| match &page.0[how as usize] {
            Mask::Nothing => Vec::new(),
            mask => runs(start, &std::array::from_fn(|n| mask.word(n))),
        };
        let mut ranges: Vec<_> = self.pages().flat_map(of_page).collect();
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
    }
}
