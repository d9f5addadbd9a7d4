//! The free ranges of a pool's arenas, with what they wait for: bookkeeping that touches no memory.

#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

/// What a free range waits for before every stream may use it.
pub(super) trait Pending: Clone {
    /// The one of both that lies behind the other, if they wait for the same stream.
    fn later(&self, other: &Self) -> Option<Self>;

    /// Whether there is nothing left to wait for.
    fn is_over(&self) -> bool;
}

/// Arenas of memory `A`, whose ranges are taken and given back; those that came back may wait for a `P`.
pub(super) struct Space<A, P> {
    /// By first address.
    arenas: BTreeMap<u64, Arena<A>>,
    /// By first address; a range lies in one arena.
    free: BTreeMap<u64, Range<P>>,
    /// The same, as (bytes, first address).
    by_size: BTreeSet<(u64, u64)>,
}

struct Arena<A> {
    bytes: u64,
    /// Bytes of it that are taken.
    taken: u64,
    memory: A,
}

struct Range<P> {
    bytes: u64,
    pending: Option<P>,
}

/// A range that was taken.
pub(super) struct Taken<P> {
    pub(super) address: u64,
    /// What it still waits for.
    pub(super) pending: Option<P>,
}

impl<A, P> Default for Space<A, P> {
    fn default() -> Self {
        Self { arenas: BTreeMap::new(), free: BTreeMap::new(), by_size: BTreeSet::new() }
    }
}

impl<A, P: Pending> Space<A, P> {
    /// Adds memory of `bytes` bytes at `address`, all of it free.
    pub(super) fn add(&mut self, address: u64, bytes: u64, memory: A) {
        self.arenas.insert(address, Arena { bytes, taken: 0, memory });
        self.insert(address, Range { bytes, pending: None });
    }

    /// Takes `bytes` bytes from the smallest range that holds them and that `may_use` agrees to.
    pub(super) fn take(&mut self, bytes: u64, may_use: impl Fn(Option<&P>) -> bool) -> Option<Taken<P>> {
        let mut fitting = self.by_size.range((bytes, 0)..).map(|&(_, address)| address);
        let address = fitting.find(|address| may_use(self.free[address].pending.as_ref()))?;
        let Range { bytes: found, pending } = self.remove(address)?;
        if found > bytes {
            self.insert(address + bytes, Range { bytes: found - bytes, pending: pending.clone() });
        }
        self.arena_mut(address)?.taken += bytes;
        Some(Taken { address, pending })
    }

    /// Gives back what was taken at `address`, for use when `pending` is over.
    pub(super) fn give(&mut self, address: u64, bytes: u64, pending: Option<P>) {
        let Some(arena) = self.arena_mut(address) else { return };
        arena.taken -= bytes;
        self.merge(address, Range { bytes, pending });
    }

    /// Joins ranges that wait for something that is over with the free ones around them.
    pub(super) fn settle(&mut self) {
        let over = |range: &Range<P>| range.pending.as_ref().is_some_and(P::is_over);
        let settled: Vec<u64> = self.free.iter().filter(|(_, r)| over(r)).map(|(&at, _)| at).collect();
        for address in settled {
            // An earlier one may have taken it in already.
            if let Some(range) = self.remove(address) {
                self.merge(address, Range { pending: None, ..range });
            }
        }
    }

    /// Takes out arenas of which nothing is taken or waited for, the largest first, as long as `keep` bytes or more
    /// are left.
    pub(super) fn drop_idle(&mut self, keep: u64) -> Vec<A> {
        let mut left = self.reserved();
        let mut idle: Vec<(u64, u64)> =
            self.arenas.iter().filter(|(_, a)| a.taken == 0).map(|(&at, a)| (a.bytes, at)).collect();
        idle.sort_unstable();
        let mut dropped = Vec::new();
        for (bytes, start) in idle.into_iter().rev() {
            let mut ranges = self.free.range(start..start + bytes);
            if left - bytes < keep || ranges.any(|(_, r)| r.pending.as_ref().is_some_and(|p| !p.is_over())) {
                continue;
            }
            let inside: Vec<u64> = self.free.range(start..start + bytes).map(|(&at, _)| at).collect();
            for address in inside {
                self.remove(address);
            }
            dropped.extend(self.arenas.remove(&start).map(|arena| arena.memory));
            left -= bytes;
        }
        dropped
    }

    /// What free ranges wait for.
    pub(super) fn pending(&self) -> impl Iterator<Item = (&P, &A)> {
        self.free.iter().filter_map(|(&address, range)| {
            let (_, arena) = self.arenas.range(..=address).next_back()?;
            Some((range.pending.as_ref()?, &arena.memory))
        })
    }

    /// The memory of the arena that an address lies in.
    pub(super) fn memory_at(&self, address: u64) -> Option<&A> {
        let (start, arena) = self.arenas.range(..=address).next_back()?;
        (address - start < arena.bytes).then_some(&arena.memory)
    }

    /// The memory of all arenas.
    pub(super) fn memory(&self) -> impl Iterator<Item = &A> {
        self.arenas.values().map(|arena| &arena.memory)
    }

    /// Bytes of all arenas.
    pub(super) fn reserved(&self) -> u64 {
        self.arenas.values().map(|arena| arena.bytes).sum()
    }

    /// Whether some arena has nothing taken.
    pub(super) fn has_idle(&self) -> bool {
        self.arenas.values().any(|arena| arena.taken == 0)
    }

    fn arena_mut(&mut self, address: u64) -> Option<&mut Arena<A>> {
        self.arenas.range_mut(..=address).next_back().map(|(_, arena)| arena)
    }

    /// Puts a range among the free ones, joined with neighbours of the same arena that wait for the same.
    fn merge(&mut self, mut address: u64, mut range: Range<P>) {
        let Some((&start, arena)) = self.arenas.range(..=address).next_back() else { return };
        let end = start + arena.bytes;
        if let Some((&before, other)) = self.free.range(start..address).next_back()
            && before + other.bytes == address
            && let Some(pending) = joined(&other.pending, &range.pending)
        {
            range = Range { bytes: other.bytes + range.bytes, pending };
            self.remove(before);
            address = before;
        }
        let behind = address + range.bytes;
        if behind < end
            && let Some(other) = self.free.get(&behind)
            && let Some(pending) = joined(&other.pending, &range.pending)
        {
            range = Range { bytes: other.bytes + range.bytes, pending };
            self.remove(behind);
        }
        self.insert(address, range);
    }

    fn insert(&mut self, address: u64, range: Range<P>) {
        self.by_size.insert((range.bytes, address));
        self.free.insert(address, range);
    }

    fn remove(&mut self, address: u64) -> Option<Range<P>> {
        let range = self.free.remove(&address)?;
        self.by_size.remove(&(range.bytes, address));
        Some(range)
    }
}

/// What a range waits for that two are joined to, if they can be.
fn joined<P: Pending>(a: &Option<P>, b: &Option<P>) -> Option<Option<P>> {
    match (a, b) {
        (None, None) => Some(None),
        (Some(a), Some(b)) => a.later(b).map(Some),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, rc::Rc};

    use proptest::prelude::*;

    use super::*;

    /// The `n`th free of a stream, of which so many are over.
    #[derive(Clone, Debug)]
    struct Free {
        stream: usize,
        n: u64,
        over: Rc<Vec<Cell<u64>>>,
    }

    impl Pending for Free {
        fn later(&self, other: &Self) -> Option<Self> {
            (self.stream == other.stream).then(|| if self.n > other.n { self.clone() } else { other.clone() })
        }

        fn is_over(&self) -> bool {
            self.over[self.stream].get() >= self.n
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Take { stream: usize, bytes: u64 },
        Give { stream: usize, which: prop::sample::Index },
        Finish { stream: usize },
        Settle,
        Trim { keep: u64 },
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..3usize, 1..40u64).prop_map(|(stream, bytes)| Step::Take { stream, bytes }),
            3 => (0..3usize, any::<prop::sample::Index>()).prop_map(|(stream, which)| Step::Give { stream, which }),
            1 => (0..3usize).prop_map(|stream| Step::Finish { stream }),
            1 => Just(Step::Settle),
            1 => (0..400u64).prop_map(|keep| Step::Trim { keep }),
        ]
    }

    const ARENA: u64 = 100;

    proptest! {
        #[test]
        fn a_byte_is_taken_only_by_who_may_have_it(steps in prop::collection::vec(step(), 1..120)) {
            let over: Rc<Vec<Cell<u64>>> = Rc::new((0..3).map(|_| Cell::new(0)).collect());
            let mut frees = [0u64; 3];
            let mut space: Space<u64, Free> = Space::default();
            // For each byte of each arena: taken, or the free that it waits for.
            let mut model: BTreeMap<u64, Vec<Option<(usize, u64)>>> = BTreeMap::new();
            let mut live: Vec<(u64, u64)> = Vec::new();
            let mut next = 1000;
            for step in steps {
                match step {
                    Step::Take { stream, bytes } => {
                        let may = |p: Option<&Free>| p.is_none_or(|p| p.stream == stream || p.is_over());
                        let taken = space.take(bytes, may).unwrap_or_else(|| {
                            space.add(next, ARENA, next);
                            model.insert(next, vec![None; ARENA as usize]);
                            next += ARENA;
                            space.take(bytes, |pending| pending.is_none()).unwrap()
                        });
                        let start = taken.address;
                        prop_assert!(live.iter().all(|&(s, n)| start + bytes <= s || s + n <= start));
                        let (&arena, waits) = model.range(..=start).next_back().unwrap();
                        prop_assert!(start + bytes <= arena + ARENA);
                        for wait in &waits[(start - arena) as usize..(start - arena + bytes) as usize] {
                            let may = wait.is_none_or(|(s, n)| s == stream || over[s].get() >= n);
                            prop_assert!(may, "{wait:?} is not over");
                        }
                        live.push((start, bytes));
                    }
                    Step::Give { stream, which } if !live.is_empty() => {
                        let (start, bytes) = live.swap_remove(which.index(live.len()));
                        frees[stream] += 1;
                        let free = Free { stream, n: frees[stream], over: over.clone() };
                        let (&arena, waits) = model.range_mut(..=start).next_back().unwrap();
                        let inside = (start - arena) as usize..(start - arena + bytes) as usize;
                        waits[inside].fill(Some((stream, free.n)));
                        space.give(start, bytes, Some(free));
                    }
                    Step::Finish { stream } => over[stream].set(frees[stream]),
                    Step::Settle => space.settle(),
                    Step::Trim { keep } => {
                        let before = space.reserved();
                        for arena in space.drop_idle(keep) {
                            prop_assert!(live.iter().all(|&(s, _)| !(arena..arena + ARENA).contains(&s)));
                            let waits = model.remove(&arena).unwrap();
                            prop_assert!(waits.iter().flatten().all(|&(s, n)| over[s].get() >= n));
                        }
                        prop_assert!(space.reserved() == before || space.reserved() >= keep);
                    }
                    Step::Give { .. } => {}
                }
                prop_assert_eq!(space.reserved(), model.len() as u64 * ARENA);
            }
            for (start, bytes) in live {
                space.give(start, bytes, None);
            }
            for stream in 0..3 {
                over[stream].set(frees[stream]);
            }
            space.settle();
            prop_assert_eq!(space.free.len(), model.len(), "each arena is one free range again");
            prop_assert_eq!(space.drop_idle(0).len(), model.len());
        }
    }
}
