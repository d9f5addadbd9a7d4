//! What a stream has freed last and has again when it asks for as many bytes: programs ask for the same sizes again and
//! again.
//!
//! Such a range stays taken in its pool's space, and its region stays in the table of allocations, where no lookup finds it
//! ([`Stage`]). Having it again is a matter of the stream alone: no fence, as the stream's work is in order, and nothing
//! that other threads have locked. Every other thread that wants the memory, and the stream itself when it has nothing of the
//! right size, has the lists [given back](give_back) first; only then is it found out what the memory waits for.

#![forbid(unsafe_code)]

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasherDefault, Hasher},
    ops::RangeInclusive,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};

#[cfg(doc)]
use super::stage::Stage;
use super::{Freed, Inner, Ordered, Range, free::forget, order::Mark, size_of};
use crate::check;

/// Allocations that a stream remembers, at most.
const MOST_LIVE: usize = 4096;

/// The memory of pools that one stream has freed last, and what it has allocated.
#[derive(Default)]
pub(crate) struct FreeLists(Mutex<Lists>);

#[derive(Default)]
struct Lists {
    /// By pool and bytes; what was freed last is the last.
    free: HashMap<(u64, u64), Vec<Free>, ByNumber>,
    /// Allocations by address, which saves looking them up in the table when they are freed. It knows neither all of
    /// them nor whether they still live: their [`Stage`] does.
    live: HashMap<u64, Range, ByNumber>,
    /// Pools that know the stream as one of theirs.
    pools: Vec<(u64, Weak<Inner>)>,
}

/// Memory that was freed.
struct Free {
    range: Range,
    /// Where on the stream.
    point: u64,
}

impl FreeLists {
    /// Allocates what the stream has freed with as many bytes of the pool.
    pub(super) fn take(&self, pool: u64, bytes: u64) -> Option<u64> {
        let mut lists = self.lists();
        let Free { range, .. } = lists.free.get_mut(&(pool, bytes))?.pop()?;
        // Before another thread can free it.
        range.grant.pool.used.add(bytes);
        range.region.marks.clear();
        range.grant.stage.revive();
        let address = range.region.address;
        lists.remember(range);
        Some(address)
    }

    /// Notes an allocation of the stream's.
    pub(super) fn remember(&self, range: Range) {
        self.lists().remember(range);
    }

    /// An allocation that the stream remembers, which may have been freed since.
    pub(super) fn forget(&self, address: u64) -> Option<Range> {
        self.lists().live.remove(&address)
    }

    /// Frees an allocation for the stream to have it again; `false` if it is freed already. An allocation whose pool has
    /// no holder left to ask for it comes back.
    pub(super) fn put(&self, stream: &Arc<impl Ordered>, range: Range) -> Result<bool, Range> {
        // Where programs are checked nothing is used again at once.
        if range.grant.attached.is_some() || check::watches_allocations() {
            return Err(range);
        }
        let grant = &range.grant;
        let pool = &*grant.pool;
        let key = (pool.id, range.region.bytes);
        let mut lists = self.lists();
        // With the lists locked: the last holder of the pool empties them behind that.
        if !pool.is_held() {
            drop(lists);
            return Err(range);
        }
        if !grant.stage.retire() {
            return Ok(false);
        }
        pool.used.sub(key.1);
        let point = stream.free_point(pool.streams.are_several());
        // With the lists locked: a thread that takes the note and then looks here finds what it is about.
        pool.pools.note_free();
        let joining = match lists.free.entry(key) {
            Entry::Occupied(list) => {
                list.into_mut().push(Free { range, point });
                None
            }
            Entry::Vacant(list) => {
                let pool = grant.pool.clone();
                list.insert(vec![Free { range, point }]);
                Some(pool)
            }
        };
        drop(lists);
        if let Some(pool) = joining {
            self.join(stream, &pool);
        }
        Ok(true)
    }

    /// Lets a pool know that the stream is one of those that use it.
    pub(super) fn join(&self, stream: &Arc<impl Ordered>, pool: &Arc<Inner>) {
        let mut lists = self.lists();
        if !lists.pools.iter().any(|(id, _)| *id == pool.id) {
            lists.pools.retain(|(_, pool)| pool.strong_count() > 0);
            lists.pools.push((pool.id, Arc::downgrade(pool)));
            drop(lists);
            pool.streams.join(stream);
        }
    }

    /// Takes out what was freed of a pool and takes so many bytes there.
    fn drain(&self, pool: u64, sizes: &RangeInclusive<u64>) -> Vec<Free> {
        let wanted = |&(of, bytes): &(u64, u64)| {
            of == pool && size_of(bytes).is_some_and(|size| sizes.contains(&size))
        };
        self.lists().free.extract_if(|key, _| wanted(key)).flat_map(|(_, list)| list).collect()
    }

    /// Takes out everything.
    fn drain_all(&self) -> Vec<Free> {
        self.lists().free.drain().flat_map(|(_, list)| list).collect()
    }

    /// Forgets what was allocated of a pool.
    fn forget_all(&self, pool: u64) {
        let forgotten: Vec<_> =
            self.lists().live.extract_if(|_, range| range.grant.pool.id == pool).collect();
        // Where nothing is locked: with its last region goes a pool without a holder.
        drop(forgotten);
    }

    /// Puts back what could not be given back.
    fn restore(&self, drained: Vec<Free>) {
        let mut lists = self.lists();
        for free in drained {
            lists.free.entry((free.range.grant.pool.id, free.range.region.bytes)).or_default().push(free);
        }
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.0.lock()
    }
}

impl Lists {
    fn remember(&mut self, range: Range) {
        if self.live.len() == MOST_LIVE {
            // Others may have freed most of them.
            self.live.clear();
        }
        self.live.insert(range.region.address, range);
    }
}

/// What lists are given back for.
pub(super) struct Wanted {
    /// Bytes in the pool's space.
    pub(super) sizes: RangeInclusive<u64>,
    /// Whether the caller waits for threads that have a stream.
    pub(super) patient: bool,
}

impl Wanted {
    /// Everything that can be had at once.
    pub(super) const ALL: Self = Self { sizes: 0..=u64::MAX, patient: false };

    /// Everything.
    pub(super) const REALLY_ALL: Self = Self { patient: true, ..Self::ALL };

    /// What fits `size` bytes well.
    pub(super) fn fitting(size: u64) -> Self {
        Self { sizes: size..=size.saturating_mul(2) - 1, patient: false }
    }
}

/// Gives what `stream` has freed of a pool back to the pool's space; `false` if another thread has the stream, or if it
/// cannot be told what the memory waits for.
pub(super) fn give_back(stream: &dyn Ordered, pool: &Inner, wanted: &Wanted) -> bool {
    if !pool.is_held() {
        stream.freed().forget_all(pool.id);
    }
    let mut drained = stream.freed().drain(pool.id, &wanted.sizes);
    if drained.is_empty() {
        return true;
    }
    // In the stream's order: a later one may put a fence on the stream, which is not to be that of an earlier one.
    drained.sort_unstable_by_key(|free| free.point);
    let lane_lost = || stream.device().0.faults.is_lost();
    let pending = match stream.behind(&mut drained.iter().map(|free| free.point), wanted.patient) {
        Ok(Some(pending)) => pending,
        // Nothing runs on it any more.
        Err(_) if lane_lost() => vec![None; drained.len()],
        Ok(None) | Err(_) => {
            stream.freed().restore(drained);
            // The next synchronisation looks again.
            pool.pools.note_free();
            return false;
        }
    };
    for (free, fence) in drained.into_iter().zip(pending) {
        let freed = fence.map(|(fence, lane)| Freed { stream: stream.id(), point: free.point, fence, lane });
        retire(&free.range, freed);
    }
    true
}

/// Gives back everything that a stream has freed whose last copy is gone; `behind` says what lies behind its work, if
/// something is in flight.
pub(crate) fn give_back_all(freed: &FreeLists, stream: u64, behind: Option<Mark>) {
    for free in freed.drain_all() {
        let freed = behind.clone().map(|(fence, lane)| Freed { stream, point: free.point, fence, lane });
        retire(&free.range, freed);
    }
}

/// Lets what a stream has freed whose last copy is gone go for good, if its work cannot be waited for.
pub(crate) fn abandon(freed: &FreeLists) {
    for free in freed.drain_all() {
        forget(&free.range);
    }
}

/// Gives memory back to its pool's space that is free already.
fn retire(range: &Range, freed: Option<Freed>) {
    forget(range);
    let Range { region, grant } = range;
    grant.pool.state().space.give(region.address, grant.bytes, freed);
}

/// The streams that have freed memory of a pool or allocated it.
#[derive(Default)]
pub(super) struct Streams {
    all: Mutex<Vec<Weak<dyn Ordered>>>,
    /// There was more than one at a time.
    are_several: AtomicBool,
}

impl Streams {
    fn are_several(&self) -> bool {
        self.are_several.load(Ordering::Relaxed)
    }

    fn join(&self, stream: &Arc<impl Ordered>) {
        let stream: Weak<dyn Ordered> = Arc::downgrade(stream) as _;
        let mut all = self.all.lock();
        all.retain(|stream| stream.strong_count() > 0);
        all.push(stream);
        if all.len() > 1 {
            self.are_several.store(true, Ordering::Relaxed);
        }
    }

    /// Those that there still are.
    pub(super) fn living(&self) -> Vec<Arc<dyn Ordered>> {
        let all = self.all.lock();
        all.iter().filter_map(Weak::upgrade).collect()
    }
}

/// For keys that are few words that no caller chooses to collide: addresses, sizes, numbers.
type ByNumber = BuildHasherDefault<NumberHasher>;

#[derive(Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        // The table takes the highest bits and the lowest.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, word: u64) {
        // 2^64 by the golden ratio: neighbours end far apart.
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
