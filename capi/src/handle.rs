//! Handles: places in tables, with a generation that tells a living object from what stood there before.
//!
//! No handle is ever followed as a pointer. One that is stale, foreign or random finds nothing.

use std::sync::{PoisonError, RwLock};

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

/// Objects of one kind.
pub struct Table<T> {
    kind: Kind,
    slots: RwLock<Slots<T>>,
}

struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
}

struct Slot<T> {
    generation: usize,
    object: Option<T>,
}

impl<T: Clone> Table<T> {
    /// An empty table.
    pub const fn new(kind: Kind) -> Self {
        let slots = Slots { slots: Vec::new(), free: Vec::new() };
        Self { kind, slots: RwLock::new(slots) }
    }

    /// Puts what `make` makes of its own handle into the table.
    ///
    /// # Errors
    /// `hipErrorOutOfMemory` when the table is full.
    pub fn insert_with(&self, make: impl FnOnce(usize) -> T) -> Result<usize, hipError_t> {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let place = match slots.free.pop() {
            Some(place) => place,
            None if slots.slots.len() > PLACE_MASK => return Err(hipErrorOutOfMemory),
            None => {
                slots.slots.push(Slot { generation: 0, object: None });
                slots.slots.len() - 1
            }
        };
        let handle = self.handle(place, slots.slots[place].generation);
        slots.slots[place].object = Some(make(handle));
        Ok(handle)
    }

    /// Puts an object into the table.
    ///
    /// # Errors
    /// As [`Table::insert_with`].
    pub fn insert(&self, object: T) -> Result<usize, hipError_t> {
        self.insert_with(|_| object)
    }

    /// The object behind a handle.
    pub fn get(&self, handle: usize) -> Option<T> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.slots.get(Self::place(handle))?;
        if handle != self.handle(Self::place(handle), slot.generation) {
            return None;
        }
        slot.object.clone()
    }

    /// Takes the object behind a handle out; the handle is stale from now on.
    pub fn remove(&self, handle: usize) -> Option<T> {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let place = Self::place(handle);
        let slot = slots.slots.get_mut(place)?;
        if handle != self.handle(place, slot.generation) {
            return None;
        }
        let object = slot.object.take()?;
        slot.generation = (slot.generation + 1) & GENERATION_MASK;
        slots.free.push(place);
        Some(object)
    }

    /// Takes out all objects for which `is_doomed` holds; their handles are stale from now on.
    pub fn remove_all(&self, is_doomed: impl Fn(&T) -> bool) {
        let mut doomed = Vec::new();
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let Slots { slots: all, free } = &mut *slots;
        for (place, slot) in all.iter_mut().enumerate() {
            if let Some(object) = slot.object.take_if(|object| is_doomed(object)) {
                slot.generation = (slot.generation + 1) & GENERATION_MASK;
                free.push(place);
                doomed.push(object);
            }
        }
        // What the objects own is let go outside the lock.
        drop(slots);
        drop(doomed);
    }

    /// The handle of the first object that `is` it.
    pub fn find(&self, is: impl Fn(&T) -> bool) -> Option<usize> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let mut all = slots.slots.iter().enumerate();
        let (place, slot) = all.find(|(_, slot)| slot.object.as_ref().is_some_and(&is))?;
        Some(self.handle(place, slot.generation))
    }

    fn handle(&self, place: usize, generation: usize) -> usize {
        self.kind.bits() | generation << GENERATION_SHIFT | place << PLACE_SHIFT
    }

    fn place(handle: usize) -> usize {
        handle >> PLACE_SHIFT & PLACE_MASK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_handle_stays_stale_when_its_place_is_used_again() {
        let table = Table::new(Kind::Stream);
        let first = table.insert("first").unwrap();
        assert_eq!(table.get(first), Some("first"));
        assert_eq!(table.remove(first), Some("first"));
        let second = table.insert("second").unwrap();
        assert_ne!(first, second);
        assert_eq!(table.get(first), None);
        assert_eq!(table.remove(first), None);
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
}
