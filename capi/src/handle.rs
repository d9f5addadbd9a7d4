//! Handles: places in tables, with a generation that tells a living object from what stood there before.
//!
//! No handle is ever followed as a pointer. One that is stale, foreign or random finds nothing.
//!
//! Looking an object up touches nothing but the object's own place: threads that use different objects do not meet.
//! Places lie in blocks that never move and never go away; each counts the threads that are looking at its object, and
//! a thread that removes that leaves it to the last of them to let go.

#[cfg(test)]
mod model;
mod slot;

use std::{
    cell::UnsafeCell,
    ops::Deref,
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use aqlipse::check;
use parking_lot::{Mutex, MutexGuard};

use self::slot::Slot;
use crate::error::{hipError_t, hipErrorOutOfMemory};

/// Bits of a handle: a mark that no user address has, the table, the generation, the place.
const MARK: usize = 1 << 62;
pub const KIND_SHIFT: u32 = 56;
const GENERATION_SHIFT: u32 = 28;
// CAST: as wide as a handle.
const GENERATION_MASK: usize = slot::GENERATION_MASK as usize;
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
    Program,
    Linker,
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

    /// What people call such an object.
    fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Event => "event",
            Self::Graph => "graph",
            Self::Exec => "executable graph",
            Self::Module => "module",
            Self::Function => "function",
            Self::FatBinary => "fat binary",
            Self::Context => "context",
            Self::UserObject => "user object",
            Self::MipmappedArray => "mipmapped array",
            Self::ExternalSemaphore => "external semaphore",
            Self::ExternalMemory => "external memory",
            Self::MemoryPool => "memory pool",
            Self::Library => "library",
            Self::ExecutionContext => "execution context",
            Self::ResourceDescriptor => "resource descriptor",
            Self::Program => "program",
            Self::Linker => "linker",
            Self::PhysicalMemory => "physical memory",
        }
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

/// What a slot's object lies in.
struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    #[inline]
    fn read(&self) -> *const T {
        self.0.get()
    }

    fn write<R>(&self, work: impl FnOnce(*mut T) -> R) -> R {
        work(self.0.get())
    }
}

/// An object that is being looked at. While this lives the object does, even if it is removed.
pub struct Found<'t, T> {
    table: &'t Table<T>,
    place: usize,
    slot: &'t Slot<T>,
}

impl<T> Deref for Found<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: it is counted in as long as this lives.
        unsafe { self.slot.object() }
    }
}

impl<T> Drop for Found<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it is counted in, for the last time.
        if let Some(object) = unsafe { self.slot.leave() } {
            self.table.free().push(self.place);
            drop(object);
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
                // CAST: at most 2^24. ORDER: release. A thread that sees the place finds its block.
                self.used.store(place as u32 + 1, Ordering::Release);
                place
            }
        };
        drop(free);
        // PANIC: a place that was given out has its block.
        let slot = self.slot(place).expect("the place's block");
        // CAST: 28 bits.
        let handle = self.handle(place, slot.generation() as usize);
        let object = make(handle);
        // SAFETY: the place was free, and was given to this call alone.
        unsafe { slot.fill(object) };
        Ok(handle)
    }

    /// Puts an object into the table.
    ///
    /// # Errors
    /// As [`Table::insert_with`].
    pub fn insert(&self, object: T) -> Result<usize, hipError_t> {
        self.insert_with(|_| object)
    }

    /// As [`Table::insert`], for an object that the program has to destroy.
    ///
    /// # Errors
    /// As [`Table::insert_with`].
    pub fn give(&self, object: T) -> Result<usize, hipError_t> {
        self.give_with(|_| object)
    }

    /// As [`Table::insert_with`], for an object that the program has to destroy.
    ///
    /// # Errors
    /// As there.
    pub fn give_with(&self, make: impl FnOnce(usize) -> T) -> Result<usize, hipError_t> {
        self.insert_with(make).inspect(|&handle| check::given(handle, self.kind.name()))
    }

    /// The object behind a handle, for a look.
    #[inline]
    pub fn look(&self, handle: usize) -> Option<Found<'_, T>> {
        let (place, generation) = self.parts(handle)?;
        self.enter(place, Some(generation))
    }

    /// Whether a handle names an object at this moment.
    #[inline]
    pub fn is_living(&self, handle: usize) -> bool {
        let living = |(place, generation)| Some(self.slot(place)?.is_living(generation));
        self.parts(handle).and_then(living).unwrap_or(false)
    }

    /// Whether a handle names an object that was removed.
    pub fn was_living(&self, handle: usize) -> bool {
        let passed = |(place, generation)| Some(generation < self.slot(place)?.generation());
        self.parts(handle).and_then(passed).unwrap_or(false)
    }

    /// The place and the generation that a handle of this table names.
    #[inline]
    fn parts(&self, handle: usize) -> Option<(usize, u64)> {
        const PARTS: usize = GENERATION_MASK << GENERATION_SHIFT | PLACE_MASK << PLACE_SHIFT;
        let generation = (handle >> GENERATION_SHIFT & GENERATION_MASK) as u64;
        (handle & !PARTS == self.kind.bits()).then_some((handle >> PLACE_SHIFT & PLACE_MASK, generation))
    }

    /// Counts itself in at a place whose object lives and is of a generation, if one is asked for.
    #[inline]
    fn enter(&self, place: usize, generation: Option<u64>) -> Option<Found<'_, T>> {
        let slot = self.slot(place)?;
        slot.enter(generation).then(|| Found { table: self, place, slot })
    }

    /// Takes the object behind a handle out of the table; the handle is stale from now on. Threads that look at it
    /// still have it, and the last of them lets it go.
    pub fn remove(&self, handle: usize) -> Option<Found<'_, T>> {
        self.look(handle).filter(|found| found.slot.end()).inspect(|_| check::taken(handle))
    }

    /// Takes out all objects for which `is_doomed` holds; their handles are stale from now on.
    pub fn remove_all(&self, is_doomed: impl Fn(&T) -> bool) {
        for found in self.all().filter(|found| is_doomed(found)) {
            let handle = self.handle_of(&found);
            if found.slot.end() {
                check::taken(handle);
            }
        }
    }

    /// The handle of the first object that `is` it.
    pub fn find(&self, is: impl Fn(&T) -> bool) -> Option<usize> {
        self.all().find(|found| is(found)).map(|found| self.handle_of(&found))
    }

    fn handle_of(&self, found: &Found<'_, T>) -> usize {
        // CAST: 28 bits.
        self.handle(found.place, found.slot.generation() as usize)
    }

    /// All objects, one at a time.
    fn all(&self) -> impl Iterator<Item = Found<'_, T>> {
        // ORDER: acquire, pairs with the release in `insert_with`.
        (0..self.used.load(Ordering::Acquire) as usize).filter_map(|place| self.enter(place, None))
    }

    fn free(&self) -> MutexGuard<'_, Vec<usize>> {
        self.free.lock()
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
        assert!(table.was_living(first) && !table.was_living(second));
        assert!([0, 0xdead_beef, second + (1 << PLACE_SHIFT)].iter().all(|&word| !table.was_living(word)));
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
