//! Which bytes of allocations nothing has written: a bit a byte, in pages of 4 KiB. What lies in no such page is not followed.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{
        LazyLock, OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
};

use parking_lot::{RwLock, RwLockReadGuard};

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Words of a page, a bit a byte.
const WORDS: usize = PAGE as usize / 64;

/// A page: a set bit is a byte that nothing has written.
struct Page {
    /// How many words are not 0.
    left: AtomicU32,
    /// All bits are set until there are these.
    words: OnceLock<Box<[AtomicU64; WORDS]>>,
}

// ORDER: Relaxed throughout: shadows are touched before what they are of, so that whatever orders two accesses of memory orders
// those of its shadow.
impl Page {
    fn new() -> Self {
        // CAST: 64.
        Self { left: AtomicU32::new(WORDS as u32), words: OnceLock::new() }
    }

    fn is_written(&self) -> bool {
        self.left.load(Relaxed) == 0
    }

    /// The bits of a word.
    fn word(&self, n: usize) -> u64 {
        self.words.get().map_or(u64::MAX, |words| words[n % WORDS].load(Relaxed))
    }

    /// Gives the bits of `mask` in a word the values that they have in `bits`.
    fn set(&self, n: usize, mask: u64, bits: u64) {
        let words = self.words.get_or_init(|| Box::new([const { AtomicU64::new(u64::MAX) }; WORDS]));
        let change = |old: u64| old & !mask | bits & mask;
        // PANIC: the closure always gives a value.
        let old = words[n % WORDS].fetch_update(Relaxed, Relaxed, |old| Some(change(old)));
        let old = old.unwrap_or_else(|old| old);
        match (old, change(old)) {
            (0, 1..) => drop(self.left.fetch_add(1, Relaxed)),
            (1.., 0) => drop(self.left.fetch_sub(1, Relaxed)),
            _ => {}
        }
    }
}

type Pages = HashMap<u64, Page>;

static PAGES: LazyLock<RwLock<Pages>> = LazyLock::new(RwLock::default);

/// The parts of words that a range lies in: the address of the word, its number in its page, and the bits.
fn words(range: Range<u64>) -> impl Iterator<Item = (u64, usize, u64)> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let start = at & !63;
        let end = range.end.min(start.saturating_add(64));
        if at >= end {
            return None;
        }
        // The last word's end wraps.
        let mask = (u64::MAX << (at % 64)) & (u64::MAX >> (start.wrapping_sub(end) % 64));
        at = end;
        Some((start, (start % PAGE / 64) as usize, mask))
    })
}

/// Nothing has written these bytes: what was there is forgotten. They are followed from now on.
pub fn uninitialize(range: Range<u64>) {
    let mut pages = PAGES.write();
    let whole = range.start.next_multiple_of(PAGE)..range.end & !(PAGE - 1);
    if whole.start < whole.end {
        pages.reserve(((whole.end - whole.start) / PAGE) as usize);
        for page in whole.clone().step_by(PAGE as usize) {
            pages.insert(page / PAGE, Page::new());
        }
    }
    for (start, n, mask) in words(range).filter(|(start, ..)| !whole.contains(start)) {
        let page = pages.entry(start / PAGE).or_insert_with(|| {
            let page = Page::new();
            (0..WORDS).for_each(|n| page.set(n, u64::MAX, 0));
            page
        });
        page.set(n, mask, u64::MAX);
    }
}

/// These bytes are written, and not followed any more.
pub fn written(range: Range<u64>) {
    let mut pages = PAGES.write();
    let whole = range.start.next_multiple_of(PAGE)..range.end & !(PAGE - 1);
    let count = whole.end.saturating_sub(whole.start) / PAGE;
    if count > pages.len() as u64 {
        pages.retain(|page, _| !whole.contains(&(page * PAGE)));
    } else {
        (0..count).for_each(|n| drop(pages.remove(&(whole.start / PAGE + n))));
    }
    // What is left of it are the ends of pages.
    let [head, tail] = [range.start..range.end.min(whole.start), range.start.max(whole.end)..range.end];
    words(head).chain(words(tail)).for_each(|(start, n, mask)| set(&pages, start, n, mask, 0));
}

/// The bytes of a range that nothing has written, by address.
pub fn uninitialized_in(range: Range<u64>) -> Vec<Range<u64>> {
    let shadow = shadow();
    let mut runs: Vec<Range<u64>> = Vec::new();
    for (start, n, mask) in words(range) {
        let page = shadow.0.get(&(start / PAGE)).filter(|page| !page.is_written());
        let mut rest = page.map_or(0, |page| page.word(n)) & mask;
        while rest != 0 {
            let low = rest.trailing_zeros();
            let bits = (rest >> low).trailing_ones();
            let run = start + u64::from(low)..start + u64::from(low + bits);
            match runs.last_mut().filter(|last| last.end == run.start) {
                Some(last) => last.end = run.end,
                None => runs.push(run),
            }
            rest &= u64::MAX.checked_shl(low + bits).unwrap_or(0);
        }
    }
    runs
}

fn set(pages: &Pages, start: u64, n: usize, mask: u64, bits: u64) {
    if let Some(page) = pages.get(&(start / PAGE))
        && !(bits & mask == 0 && page.is_written())
    {
        page.set(n, mask, bits);
    }
}

/// The shadow of all memory, of which no page comes or goes meanwhile.
pub(crate) struct Shadow(RwLockReadGuard<'static, Pages>);

/// See [`Shadow`].
pub(crate) fn shadow() -> Shadow {
    Shadow(PAGES.read())
}

impl Shadow {
    /// Whether all of `first..=last` is written or not followed. May say no though it is, of a long range.
    pub(crate) fn is_written(&self, first: u64, last: u64) -> bool {
        const MOST: u64 = 16;
        let pages = first / PAGE..=last / PAGE;
        self.0.is_empty()
            || pages.end() - pages.start() < MOST
                && pages.into_iter().all(|page| self.0.get(&page).is_none_or(Page::is_written))
    }

    /// Of up to 64 bytes, those that nothing has written, as bits.
    pub(crate) fn bytes(&self, at: u64, count: u32) -> u64 {
        let mut bits = 0;
        for (start, n, mask) in words(at..at.saturating_add(count.into())) {
            if let Some(page) = self.0.get(&(start / PAGE)).filter(|page| !page.is_written()) {
                let word = page.word(n) & mask;
                bits |= if start < at { word >> (at - start) } else { word << (start - at) };
            }
        }
        bits
    }

    /// Up to 64 bytes are written, but for those whose bits are set, which are a copy of bytes that nothing has written.
    pub(crate) fn store(&self, at: u64, count: u32, bits: u64) {
        for (start, n, mask) in words(at..at.saturating_add(count.into())) {
            let bits = if start < at { bits << (at - start) } else { bits >> (start - at) };
            set(&self.0, start, n, mask, bits);
        }
    }

    /// So many bytes are written.
    pub(crate) fn fill(&self, at: u64, size: u64) {
        if !self.0.is_empty() {
            words(at..at.saturating_add(size)).for_each(|(start, n, mask)| set(&self.0, start, n, mask, 0));
        }
    }

    /// What `size` bytes are is copied with them, as `memmove` does.
    pub(crate) fn copy(&self, destination: u64, source: u64, size: u64) {
        if size == 0 || self.0.is_empty() {
            return;
        }
        let last = |at: u64| at.saturating_add(size - 1);
        if self.is_written(source, last(source)) && self.is_written(destination, last(destination)) {
            return;
        }
        let parts = || (0..size).step_by(64).map(|n| (n, (size - n).min(64) as u32));
        let mut copy = |(n, count)| self.store(destination + n, count, self.bytes(source + n, count));
        if destination <= source {
            parts().for_each(&mut copy);
        } else {
            parts().collect::<Vec<_>>().into_iter().rev().for_each(&mut copy);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// A piece of address space that only one test uses.
    const BASE: u64 = 0x5000_0000_0000;

    #[derive(Clone, Debug)]
    enum Step {
        Uninitialize(Range<u64>),
        Written(Range<u64>),
        Store(u64, u32, u64),
        Copy(u64, u64, u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let at = || prop_oneof![0..20u64, PAGE - 70..PAGE + 70, 0..3 * PAGE];
        let range = move || (at(), prop_oneof![0..200u64, 0..2 * PAGE]).prop_map(|(at, size)| at..at + size);
        prop_oneof![
            range().prop_map(Step::Uninitialize),
            range().prop_map(Step::Written),
            (at(), 1..=64u32, any::<u64>()).prop_map(|(at, count, bits)| Step::Store(at, count, bits)),
            (at(), at(), 0..300u64).prop_map(|(to, from, size)| Step::Copy(to, from, size)),
        ]
    }

    proptest! {
        /// Against sets of bytes: those that are followed, and those of them that nothing has written.
        #[test]
        fn bytes_are_kept_as_in_sets(steps in proptest::collection::vec(step(), 0..12)) {
            written(BASE..BASE + 8 * PAGE);
            let (mut pages, mut unwritten) = (BTreeSet::new(), BTreeSet::new());
            for step in steps {
                match step {
                    Step::Uninitialize(range) => {
                        uninitialize(BASE + range.start..BASE + range.end);
                        pages.extend(range.clone().map(|at| at / PAGE));
                        unwritten.extend(range);
                    }
                    Step::Written(range) => {
                        written(BASE + range.start..BASE + range.end);
                        unwritten.retain(|at| !range.contains(at));
                        let whole = |page: &u64| range.start <= page * PAGE && (page + 1) * PAGE <= range.end;
                        pages.retain(|page| !whole(page));
                    }
                    Step::Store(at, count, bits) => {
                        shadow().store(BASE + at, count, bits);
                        for n in 0..u64::from(count) {
                            unwritten.remove(&(at + n));
                            if bits >> n & 1 == 1 && pages.contains(&((at + n) / PAGE)) {
                                unwritten.insert(at + n);
                            }
                        }
                    }
                    Step::Copy(to, from, size) => {
                        shadow().copy(BASE + to, BASE + from, size);
                        let copied: Vec<_> = (0..size).filter(|n| unwritten.contains(&(from + n))).collect();
                        unwritten.retain(|at| !(to..to + size).contains(at));
                        let followed = copied.into_iter().map(|n| to + n).filter(|at| pages.contains(&(at / PAGE)));
                        unwritten.extend(followed.collect::<Vec<_>>());
                    }
                }
                let found = uninitialized_in(BASE..BASE + 8 * PAGE);
                prop_assert!(found.iter().all(|run| run.start < run.end));
                let found: Vec<_> = found.into_iter().flatten().map(|at| at - BASE).collect();
                prop_assert!(found.iter().eq(unwritten.iter()), "{:?}", unwritten);
                for at in [0, 1, PAGE - 3, PAGE - 64, 2 * PAGE - 7] {
                    let bits = (0..40).fold(0, |bits, n| bits | u64::from(unwritten.contains(&(at + n))) << n);
                    prop_assert_eq!(shadow().bytes(BASE + at, 40), bits);
                    prop_assert!(!shadow().is_written(BASE + at, BASE + at + 39) || bits == 0);
                }
            }
        }
    }
}
