//! A place of a table: an object, and the word by which threads agree about it without a lock. `model` includes this
//! file, too, on atomics and a cell of loom's.

use super::{AtomicU64, Cell, Ordering};

/// Bits of a generation, which a handle has room for.
pub const GENERATION_MASK: u64 = (1 << 28) - 1;

/// What a slot's word says besides the number of threads that look at the object.
const LIVING: u64 = 1 << 63;
/// Where the generation stands in the word; below it is the number of threads that look at the object.
const WORD_SHIFT: u32 = 32;
const LOOKING: u64 = (1 << WORD_SHIFT) - 1;

/// A place. In a pair of cache lines of its own, as processors fetch them: counting threads that look at one object
/// must not disturb threads that look at another.
#[repr(align(128))]
pub struct Slot<T> {
    /// Whether there is an object, the generation of the latest, and how many look at it.
    word: AtomicU64,
    object: Cell<Option<T>>,
}

// SAFETY: the object is written by one thread at a time, with no other thread looking, and shared references to it are
// handed out only while it is counted as looked at; it is dropped by whatever thread comes last.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T> Slot<T> {
    pub fn vacant() -> Self {
        Self { word: AtomicU64::new(0), object: Cell::new(None) }
    }

    /// The generation of the object that is or was here last; of a vacant place, of the next one.
    pub fn generation(&self) -> u64 {
        self.word.load(Ordering::Acquire) >> WORD_SHIFT & GENERATION_MASK
    }

    /// Whether there is an object of a generation at this moment.
    pub fn is_living(&self, generation: u64) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word & LIVING != 0 && word >> WORD_SHIFT & GENERATION_MASK == generation
    }

    /// Puts an object into a vacant place.
    ///
    /// # Safety
    /// The place is the caller's alone: it is vacant, and no other thread fills it.
    pub unsafe fn fill(&self, object: T) {
        let generation = self.generation();
        // SAFETY: no thread looks at a vacant place: `enter` takes none.
        self.object.write(|place| unsafe { *place = Some(object) });
        // ORDER: release. A thread that finds the object living sees all of it.
        self.word.store(LIVING | generation << WORD_SHIFT, Ordering::Release);
    }

    /// Counts the caller in at an object that lives and is of a generation, if one is asked for; says whether it did.
    #[inline]
    pub fn enter(&self, generation: Option<u64>) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let other = generation.is_some_and(|wanted| word >> WORD_SHIFT & GENERATION_MASK != wanted);
            if word & LIVING == 0 || other {
                return false;
            }
            // ORDER: acquire, pairs with the release of the thread that put the object there. The word can count
            // more threads than there are.
            match self.word.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
    }

    /// The object.
    ///
    /// # Safety
    /// The caller is counted in for as long as it has the reference.
    #[inline]
    pub unsafe fn object(&self) -> &T {
        // SAFETY: no thread writes the object while it is counted as looked at.
        let object = unsafe { &*self.object.read() };
        // PANIC: an object that was found is there until the last one has looked away.
        object.as_ref().expect("an object that was found is there")
    }

    /// Counts the caller out. The last one at an object that was removed takes it, and the place is vacant.
    ///
    /// # Safety
    /// The caller is counted in, and has no reference to the object any more.
    #[inline]
    pub unsafe fn leave(&self) -> Option<T> {
        // ORDER: release, so that what was read of the object comes before it is let go; acquire for the thread that
        // does that.
        let before = self.word.fetch_sub(1, Ordering::AcqRel);
        if before & LIVING != 0 || before & LOOKING != 1 {
            return None;
        }
        // SAFETY: the object was removed, and its last observer is here: no other thread comes to it any more.
        let object = self.object.write(|place| unsafe { (*place).take() });
        let next = ((before >> WORD_SHIFT & GENERATION_MASK) + 1) & GENERATION_MASK;
        // ORDER: release. A thread that fills the place next does so behind this.
        self.word.store(next << WORD_SHIFT, Ordering::Release);
        object
    }

    /// Removes the object that the caller is counted in at; whether it was this call that did.
    pub fn end(&self) -> bool {
        self.word.fetch_and(!LIVING, Ordering::AcqRel) & LIVING != 0
    }
}
