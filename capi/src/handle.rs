//! Handles: places in tables, with a generation that tells a living object from what stood there before.
//!
//! No handle is ever followed as a pointer. One that is stale, foreign or random finds nothing.
//!
//! Looking an object up touches nothing but the object's own place: threads that use different objects do not meet.
//! Places lie in blocks that never move and never go away; each counts who is looking at its object, and whoever removes
//! that leaves it to the last of them to let go.

use std::{
    cell::UnsafeCell,
    ops::Deref,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use crate::error::{hipError_t, hipErrorOutOfMemory};

/// Bits of a handle: a mark that no user address has, the table, the generation, the place.
const MARK: usize = 1 << 62;
pub const KIND_SHIFT: u32 = 56;
const GENERATION_SHIFT: u32 = 28;
const GENERATION_MASK: usize = (1 << 28) - 1;
const PLACE_MASK: usize = (1 << 24) - 1;
/// Handles look like aligned addresses: some clients keep flags in the low bits.
const PLACE_SHIFT: u32 = 4;

/// What a handle names: part of the handle, so that one of another kind finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Stream = 1,
    Event,
    Graph,
    Exec,
    Module,
    Function,
    FatBinary,
    Context,
    UserObject,
    MipmappedArray,
    ExternalSemaphore,
    ExternalMemory,
    MemoryPool,
    Library,
    ExecutionContext,
    ResourceDescriptor,
    /// Named by the runtime, in no [`Table`].
    PhysicalMemory,
}

// Kinds have the bits between the generation and the mark.
const _: () = assert!((Kind::PhysicalMemory as usize) < 1 << (MARK.trailing_zeros() - KIND_SHIFT));

impl Kind {
    /// The bits that all handles of the kind have; below them there is room for [`KIND_SHIFT`] more.
    pub const fn bits(self) -> usize {
        MARK | (self as usize) << KIND_SHIFT
    }
}

/// Places of the first block; each further one has twice as many as the one before.
const FIRST_BLOCK: usize = 64;
/// Blocks that hold all places which a handle can name.
const BLOCKS: usize = 19;
const _: () = assert!(FIRST_BLOCK * ((1 << BLOCKS) - 1) > PLACE_MASK);

/// Objects of one kind.
pub struct Table<T> {
    kind: Kind,
    blocks: [OnceLock<Box<[Slot<T>]>>; BLOCKS],
    /// Places that have been given out at least once; only grows.
    used: AtomicU32,
    free: Mutex<Vec<usize>>,
}

/// What a slot's word says besides who looks at the object.
const LIVING: u64 = 1 << 63;
/// Where the generation stands in the word; below it is the number of those who look at the object.
const WORD_SHIFT: u32 = 32;
const LOOKING: u64 = (1 << WORD_SHIFT) - 1;

/// A place. On a cache line of its own: counting who looks at one object must not disturb who looks at another.
#[repr(align(64))]
struct Slot<T> {
    /// Whether there is an object, the generation of the latest, and how many look at it.
    word: AtomicU64,
    object: UnsafeCell<Option<T>>,
}

// SAFETY: the object is written by one thread at a time, with nobody looking, and shared references to it are handed out
// only while it is counted as looked at; it is dropped by whatever thread comes last.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

/// An object that is being looked at. While this lives the object does, even if it is removed.
pub struct Found<'t, T> {
    table: &'t Table<T>,
    place: usize,
    slot: &'t Slot<T>,
}

impl<T> Deref for Found<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: nobody writes the object while it is counted as looked at.
        let object = unsafe { &*self.slot.object.get() };
        // PANIC: an object that was found is there until the last one has looked away.
        object.as_ref().expect("an object that was found is there")
    }
}

impl<T> Drop for Found<'_, T> {
    fn drop(&mut self) {
        // ORDER: release, so that what was read of the object comes before it is let go; acquire for who does that.
        let before = self.slot.word.fetch_sub(1, Ordering::AcqRel);
        if before & LIVING == 0 && before & LOOKING == 1 {
            drop(self.table.vacate(self.place, self.slot));
        }
    }
}

impl<T> Table<T> {
    /// An empty table.
    pub const fn new(kind: Kind) -> Self {
        Self {
            kind,
            blocks: [const { OnceLock::new() }; BLOCKS],
            used: AtomicU32::new(0),
            free: Mutex::new(Vec::new()),
        }
    }

    /// Puts what `make` makes of its own handle into the table.
    ///
    /// # Errors
    /// `hipErrorOutOfMemory` when the table is full.
    pub fn insert_with(&self, make: impl FnOnce(usize) -> T) -> Result<usize, hipError_t> {
        let mut free = self.free();
        let place = match free.pop() {
            Some(place) => place,
            None => {
                let place = self.used.load(Ordering::Relaxed) as usize;
                if place > PLACE_MASK {
                    return Err(hipErrorOutOfMemory);
                }
                let (block, _) = Self::position(place);
                self.blocks[block]
                    .get_or_init(|| (0..FIRST_BLOCK << block).map(|_| Slot::vacant()).collect());
                // CAST: at most 2^24. ORDER: release. Who sees the place finds its block.
                self.used.store(place as u32 + 1, Ordering::Release);
                place
            }
        };
        drop(free);
        // PANIC: a place that was given out has its block.
        let slot = self.slot(place).expect("the place's block");
        let generation = slot.word.load(Ordering::Acquire) >> WORD_SHIFT & GENERATION_MASK as u64;
        let handle = self.handle(place, generation as usize);
        let object = make(handle);
        // SAFETY: the place was free, so nobody looks at it: `enter` takes no vacant one.
        unsafe { *slot.object.get() = Some(object) };
        // ORDER: release. Who finds the object living sees all of it.
        slot.word.store(LIVING | generation << WORD_SHIFT, Ordering::Release);
        Ok(handle)
    }

    /// Puts an object into the table.
    ///
    /// # Errors
    /// As [`Table::insert_with`].
    pub fn insert(&self, object: T) -> Result<usize, hipError_t> {
        self.insert_with(|_| object)
    }

    /// The object behind a handle, for a look.
    #[inline]
    pub fn look(&self, handle: usize) -> Option<Found<'_, T>> {
        let place = handle >> PLACE_SHIFT & PLACE_MASK;
        let generation = handle >> GENERATION_SHIFT & GENERATION_MASK;
        if handle != self.handle(place, generation) {
            return None;
        }
        self.enter(place, |word| word >> WORD_SHIFT & GENERATION_MASK as u64 == generation as u64)
    }

    /// Whether a handle names an object at this moment.
    #[inline]
    pub fn is_living(&self, handle: usize) -> bool {
        let place = handle >> PLACE_SHIFT & PLACE_MASK;
        let generation = handle >> GENERATION_SHIFT & GENERATION_MASK;
        let named = |slot: &Slot<T>| {
            let word = slot.word.load(Ordering::Relaxed);
            word & LIVING != 0 && word >> WORD_SHIFT & GENERATION_MASK as u64 == generation as u64
        };
        handle == self.handle(place, generation) && self.slot(place).is_some_and(named)
    }

    /// Counts itself in at a place whose object lives and `is` the right one.
    #[inline]
    fn enter(&self, place: usize, is: impl Fn(u64) -> bool) -> Option<Found<'_, T>> {
        let slot = self.slot(place)?;
        let mut word = slot.word.load(Ordering::Relaxed);
        loop {
            if word & LIVING == 0 || !is(word) {
                return None;
            }
            // ORDER: acquire, pairs with the release of whoever put the object there. One who would be the last that
            // the word can count does not exist: each is a thread.
            match slot.word.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Found { table: self, place, slot }),
                Err(now) => word = now,
            }
        }
    }

    /// Takes the object behind a handle out of the table; the handle is stale from now on. Whoever looks at it still
    /// has it, and the last of them lets it go.
    pub fn remove(&self, handle: usize) -> Option<Found<'_, T>> {
        self.look(handle).filter(Found::end)
    }

    /// Takes out all objects for which `is_doomed` holds; their handles are stale from now on.
    pub fn remove_all(&self, is_doomed: impl Fn(&T) -> bool) {
        for found in self.all().filter(|found| is_doomed(found)) {
            found.end();
        }
    }

    /// The handle of the first object that `is` it.
    pub fn find(&self, is: impl Fn(&T) -> bool) -> Option<usize> {
        let found = self.all().find(|found| is(found))?;
        let generation = found.slot.word.load(Ordering::Relaxed) >> WORD_SHIFT & GENERATION_MASK as u64;
        // CAST: 28 bits.
        Some(self.handle(found.place, generation as usize))
    }

    /// All objects, one at a time.
    fn all(&self) -> impl Iterator<Item = Found<'_, T>> {
        // ORDER: acquire, pairs with the release in `insert_with`.
        (0..self.used.load(Ordering::Acquire) as usize).filter_map(|place| self.enter(place, |_| true))
    }

    /// Empties a place whose object is removed and that nobody looks at, and gives it back.
    fn vacate(&self, place: usize, slot: &Slot<T>) -> Option<T> {
        // SAFETY: the object was removed, and its last observer is here: nobody else comes to it any more.
        let object = unsafe { (*slot.object.get()).take() };
        let generation = slot.word.load(Ordering::Relaxed) >> WORD_SHIFT & GENERATION_MASK as u64;
        let next = (generation + 1) & GENERATION_MASK as u64;
        slot.word.store(next << WORD_SHIFT, Ordering::Release);
        self.free().push(place);
        object
    }

    fn free(&self) -> MutexGuard<'_, Vec<usize>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The block of a place, and where it is there.
    #[inline]
    fn position(place: usize) -> (usize, usize) {
        let block = (place / FIRST_BLOCK + 1).ilog2() as usize;
        (block, place - FIRST_BLOCK * ((1 << block) - 1))
    }

    #[inline]
    fn slot(&self, place: usize) -> Option<&Slot<T>> {
        let (block, at) = Self::position(place);
        self.blocks.get(block)?.get()?.get(at)
    }

    fn handle(&self, place: usize, generation: usize) -> usize {
        self.kind.bits() | generation << GENERATION_SHIFT | place << PLACE_SHIFT
    }
}

impl<T: Clone> Table<T> {
    /// The object behind a handle.
    pub fn get(&self, handle: usize) -> Option<T> {
        self.look(handle).map(|found| found.clone())
    }
}

impl<T> Found<'_, T> {
    /// Removes the object; whether it was this call that did.
    fn end(&self) -> bool {
        self.slot.word.fetch_and(!LIVING, Ordering::AcqRel) & LIVING != 0
    }
}

impl<T> Slot<T> {
    fn vacant() -> Self {
        Self { word: AtomicU64::new(0), object: UnsafeCell::new(None) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_removed_handle_stays_stale_when_its_place_is_used_again() {
        let table = Table::new(Kind::Stream);
        let first = table.insert("first").unwrap();
        assert_eq!(table.get(first), Some("first"));
        assert_eq!(table.remove(first).as_deref(), Some(&"first"));
        let second = table.insert("second").unwrap();
        assert_ne!(first, second);
        assert_eq!(table.get(first), None);
        assert!(table.remove(first).is_none() && !table.is_living(first) && table.is_living(second));
        assert_eq!(table.get(second), Some("second"));
    }

    #[test]
    fn handles_of_other_tables_and_random_words_find_nothing() {
        let (a, b) = (Table::new(Kind::Stream), Table::new(Kind::Event));
        let handle = a.insert(1).unwrap();
        assert_eq!(b.insert(2).map(|h| h == handle), Ok(false));
        assert_eq!(b.get(handle), None);
        for word in [0, 1, 2, 0xdead_beef, usize::MAX, handle + 1, handle ^ MARK] {
            assert_eq!(a.get(word), None, "{word:#x}");
        }
    }

    #[test]
    fn an_object_that_is_removed_stays_as_long_as_somebody_looks_at_it() {
        let table = Table::new(Kind::Stream);
        let object = Arc::new(7);
        let handle = table.insert(object.clone()).unwrap();
        let (first, second) = (table.look(handle).unwrap(), table.look(handle).unwrap());
        assert!(table.remove(handle).is_some());
        assert!(
            table.get(handle).is_none() && table.remove(handle).is_none() && table.find(|_| true).is_none()
        );
        let other = table.insert(Arc::new(8)).unwrap();
        assert_eq!((**first, **table.look(other).unwrap()), (7, 8), "its place is not free yet");
        drop(first);
        assert_eq!((Arc::strong_count(&object), **second), (2, 7));
        drop(second);
        assert_eq!(Arc::strong_count(&object), 1);
        assert_eq!(table.insert(Arc::new(9)).map(|new| new >> PLACE_SHIFT & PLACE_MASK), Ok(0));
    }

    #[test]
    fn places_lie_in_blocks_one_behind_the_other() {
        let mut next = 0;
        for block in 0..4 {
            for at in 0..FIRST_BLOCK << block {
                assert_eq!(Table::<()>::position(next), (block, at));
                next += 1;
            }
        }
        let table = Table::new(Kind::Stream);
        let handles: Vec<_> = (0..1000).map(|n| table.insert(n).unwrap()).collect();
        assert!(handles.iter().zip(0..).all(|(&handle, n)| table.get(handle) == Some(n)));
        assert_eq!(table.find(|&n| n == 777), Some(handles[777]));
        table.remove_all(|n| n % 2 == 0);
        assert!(handles.iter().zip(0..).all(|(&handle, n)| table.get(handle) == (n % 2 == 1).then_some(n)));
    }

    #[test]
    fn threads_that_look_and_one_that_removes_end_with_every_object_gone() {
        let table = Table::new(Kind::Stream);
        let alive = Arc::new(());
        for _ in 0..200 {
            let handle = table.insert(alive.clone()).unwrap();
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| while table.look(handle).is_some() {});
                }
                assert!(table.remove(handle).is_some());
            });
        }
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
