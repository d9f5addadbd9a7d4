//! The GPUs' memory: one sparse file of the process, so that any allocation can be shared after it was made.
//!
//! The file is mapped in segments, and an allocation is a range of one: no mapping of its own, no descriptor of its own,
//! and no page before it is touched. A freed range is punched out of the file. The file begins with a [`Ledger`], where
//! an allocation that is exported gets an entry; what names an entry, a [`Ticket`], is all that another process needs:
//! it opens the file through `/proc/<process>/fd`, as a process of the same user may, and maps the range.
//!
//! A process that maps a range claims it with a lock that the kernel takes back when it ends, however it ends. A range
//! that is freed while it is claimed is given out again only when no process claims it any more. Nothing is left of a
//! process that dies: no name, no file.
//!
//! A forked child has the parent's mappings and descriptors, but nothing in it is the child's to give back.

use std::{
    collections::{BTreeMap, BTreeSet},
    io, process,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};

use super::ledger::{LEDGER_BYTES, Ledger};
use crate::os::{Mapping, PAGE, SharedMemory};

/// Bytes of the file: more than all devices have, and no page of it exists before it is touched.
const FILE_BYTES: usize = 1 << 46;
/// Bytes that are mapped first, unless one allocation needs more; each of the next [`DOUBLINGS`] segments has twice as
/// many as the one before. Tools that shadow a process's memory pay for what is mapped.
const SEGMENT_BYTES: u64 = 16 << 20;
const DOUBLINGS: usize = 4;

/// A range of the store, given back when dropped.
pub(crate) struct Slice {
    store: Arc<Store>,
    offset: u64,
    size: u64,
    address: u64,
    /// Its entry in the ledger and one more, or 0.
    entry: AtomicU64,
}

impl Slice {
    /// First address.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// What another process needs to map `len` bytes from byte `start` on, the same for each call.
    ///
    /// # Errors
    /// `StorageFull` when too many allocations are exported.
    pub(crate) fn export(&self, start: u64, len: u64, gpu: u32) -> io::Result<Ticket> {
        let file = &self.store.file;
        let state = self.store.state();
        let known = self.entry.load(Ordering::Relaxed);
        let entry = match known.checked_sub(1) {
            // CAST: entries are few.
            Some(entry) => entry as u32,
            None => {
                let entry = self.store.ledger.add(self.offset + start, len, gpu);
                let entry = entry.ok_or(io::ErrorKind::StorageFull)?;
                self.entry.store(u64::from(entry) + 1, Ordering::Relaxed);
                entry
            }
        };
        drop(state);
        Ok(Ticket {
            process: process::id(),
            // CAST: descriptors are not negative.
            descriptor: file.descriptor() as u32,
            entry,
            generation: self.store.ledger.generation(entry),
            inode: file.inode(),
        })
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        if process::id() != self.store.process {
            return;
        }
        let mut state = self.store.state();
        if let Some(entry) = self.entry.load(Ordering::Relaxed).checked_sub(1) {
            // Before claims are looked for: a process that claims the range from now on finds the entry gone.
            self.store.ledger.remove(entry as u32);
            state.lingering.push((self.offset, self.size));
            self.store.collect(&mut state);
        } else {
            self.store.give_back(&mut state, self.offset, self.size);
        }
    }
}

/// Names an exported allocation of some process on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    process: u32,
    descriptor: u32,
    entry: u32,
    generation: u64,
    inode: u64,
}

/// First word of a ticket.
const MAGIC: u32 = u32::from_le_bytes(*b"aqm1");

impl Ticket {
    /// As eight words: mark, process, descriptor, entry, then generation and inode with their low halves first.
    pub(crate) fn words(self) -> [u32; 8] {
        // CAST: halves of words.
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let ([g0, g1], [i0, i1]) = (halves(self.generation), halves(self.inode));
        [MAGIC, self.process, self.descriptor, self.entry, g0, g1, i0, i1]
    }

    /// The ticket that the words are, if they are one.
    pub(crate) fn from_words(words: [u32; 8]) -> Option<Self> {
        let [mark, process, descriptor, entry, g0, g1, i0, i1] = words;
        let whole = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        (mark == MAGIC).then(|| Self {
            process,
            descriptor,
            entry,
            generation: whole(g0, g1),
            inode: whole(i0, i1),
        })
    }

    /// Maps what the ticket names.
    ///
    /// # Errors
    /// `NotFound` if the allocation or its process is gone; the kernel's.
    pub(crate) fn attach(self) -> io::Result<Attachment> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let file = SharedMemory::of_process(self.process, self.descriptor)?;
        if file.inode() != self.inode || file.size() < LEDGER_BYTES {
            return Err(gone());
        }
        let ledger = Ledger::of(&file)?;
        let found = ledger.find(self.entry, self.generation).ok_or_else(gone)?;
        let size = found.len.checked_next_multiple_of(PAGE as u64).ok_or_else(gone)?;
        let end = found.offset.checked_add(size).ok_or_else(gone)?;
        if size == 0 || found.offset % PAGE as u64 != 0 || end > file.size() as u64 {
            return Err(gone());
        }
        file.claim(found.offset, size)?;
        // ORDER: the claim is in the kernel; a process that freed the range before that has removed the entry.
        ledger.find(self.entry, self.generation).ok_or_else(gone)?;
        // CAST: a 64-bit process.
        let mapping = Mapping::of(&file, found.offset as usize, size as usize)?;
        Ok(Attachment { mapping, len: found.len, gpu: found.gpu, _file: file })
    }
}

/// Another process's allocation, mapped here.
pub(crate) struct Attachment {
    pub(crate) mapping: Mapping,
    /// Bytes that were exported.
    pub(crate) len: u64,
    /// Which GPU of the exporting process it belongs to.
    pub(crate) gpu: u32,
    /// Holds the claim.
    _file: SharedMemory,
}

/// The file and what of it is free.
pub(crate) struct Store {
    file: SharedMemory,
    ledger: Ledger,
    process: u32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By first offset.
    segments: BTreeMap<u64, Mapping>,
    /// Where the next segment begins.
    end: u64,
    by_offset: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    /// Freed, but once exported: other processes may still use them.
    lingering: Vec<(u64, u64)>,
}

impl Store {
    /// An empty store.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn new() -> io::Result<Self> {
        let file = SharedMemory::new(c"aqlipse-gpu-memory", FILE_BYTES)?;
        let ledger = Ledger::of(&file)?;
        let state = State { end: LEDGER_BYTES as u64, ..State::default() };
        Ok(Self { file, ledger, process: process::id(), state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Takes `size` bytes (whole pages) of zeros.
    ///
    /// # Errors
    /// The kernel's, or that the file is full.
    pub(crate) fn take(self: &Arc<Self>, size: u64) -> io::Result<Slice> {
        let mut state = self.state();
        if !state.lingering.is_empty() {
            self.collect(&mut state);
        }
        let offset = match state.take(size) {
            Some(offset) => offset,
            None => {
                self.grow(&mut state, size)?;
                state.take(size).ok_or(io::ErrorKind::StorageFull)?
            }
        };
        let segment = state.segments.range(..=offset).next_back();
        let (first, mapping) = segment.ok_or(io::ErrorKind::StorageFull)?;
        let address = mapping.address() + (offset - first);
        drop(state);
        Ok(Slice { store: Arc::clone(self), offset, size, address, entry: AtomicU64::new(0) })
    }

    fn grow(&self, state: &mut State, size: u64) -> io::Result<()> {
        let bytes = size.max(SEGMENT_BYTES << state.segments.len().min(DOUBLINGS));
        let end = state.end.checked_add(bytes).filter(|end| *end <= FILE_BYTES as u64);
        let end = end.ok_or(io::ErrorKind::StorageFull)?;
        // CAST: a 64-bit process.
        let mapping = Mapping::of(&self.file, state.end as usize, bytes as usize)?;
        let start = std::mem::replace(&mut state.end, end);
        state.segments.insert(start, mapping);
        state.insert(start, bytes);
        Ok(())
    }

    /// Gives back exported ranges that no process claims any more.
    fn collect(&self, state: &mut State) {
        let (claimed, free): (Vec<_>, Vec<_>) = std::mem::take(&mut state.lingering)
            .into_iter()
            .partition(|(offset, size)| self.file.is_claimed(*offset, *size));
        state.lingering = claimed;
        free.into_iter().for_each(|(offset, size)| self.give_back(state, offset, size));
    }

    fn give_back(&self, state: &mut State, offset: u64, size: u64) {
        match self.file.discard(offset, size) {
            Ok(()) => state.give(offset, size),
            // Its contents would show in the next allocation.
            Err(error) => tracing::warn!(%error, size, "freed memory is lost to the process"),
        }
    }
}

impl State {
    fn take(&mut self, size: u64) -> Option<u64> {
        let (len, offset) = *self.by_size.range((size, 0)..).next()?;
        self.remove(offset, len);
        if len > size {
            self.insert(offset + size, len - size);
        }
        Some(offset)
    }

    /// Joins a range with its free neighbours, unless they are mapped elsewhere.
    fn give(&mut self, mut offset: u64, mut size: u64) {
        let is_border = |state: &Self, at: u64| state.segments.contains_key(&at);
        if let Some((&before, &len)) = self.by_offset.range(..offset).next_back()
            && before + len == offset
            && !is_border(self, offset)
        {
            self.remove(before, len);
            (offset, size) = (before, size + len);
        }
        let end = offset + size;
        if let Some(&len) = self.by_offset.get(&end)
            && !is_border(self, end)
        {
            self.remove(end, len);
            size += len;
        }
        self.insert(offset, size);
    }

    fn insert(&mut self, offset: u64, len: u64) {
        self.by_offset.insert(offset, len);
        self.by_size.insert((len, offset));
    }

    fn remove(&mut self, offset: u64, len: u64) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(len, offset));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: u64 = PAGE as u64;

    fn word(address: u64) -> *mut u64 {
        address as *mut u64
    }

    #[test]
    fn freed_memory_is_given_out_again_as_zeros() {
        let store = Arc::new(Store::new().unwrap());
        let (first, second) = (store.take(2 * PAGES).unwrap(), store.take(PAGES).unwrap());
        assert_ne!(first.address(), second.address());
        let place = first.address();
        // SAFETY: memory of the slice.
        unsafe { word(place + PAGES).write(7) };
        drop(first);
        let again = store.take(2 * PAGES).unwrap();
        assert_eq!(again.address(), place);
        // SAFETY: as above.
        assert_eq!(unsafe { word(place + PAGES).read() }, 0);
    }

    #[test]
    fn ranges_of_two_segments_are_not_joined() {
        let store = Arc::new(Store::new().unwrap());
        let whole = store.take(SEGMENT_BYTES).unwrap();
        let other = store.take(2 * SEGMENT_BYTES).unwrap();
        drop(whole);
        drop(other);
        let large = store.take(3 * SEGMENT_BYTES).unwrap();
        // SAFETY: the last word of the slice.
        unsafe { word(large.address() + 3 * SEGMENT_BYTES - 8).write(1) };
        assert_eq!(store.state().segments.len(), 3);
    }

    #[test]
    fn an_attachment_shows_the_same_bytes_and_keeps_them_from_being_reused() {
        let store = Arc::new(Store::new().unwrap());
        let slice = store.take(PAGES).unwrap();
        let address = slice.address();
        let ticket = slice.export(0, 100, 1).unwrap();
        assert_eq!(slice.export(0, 100, 1).unwrap(), ticket);
        let found = Ticket::from_words(ticket.words()).unwrap().attach().unwrap();
        assert_eq!((found.len, found.gpu), (100, 1));
        // SAFETY: both are mapped.
        unsafe { word(address).write(5) };
        let theirs = word(found.mapping.address());
        // SAFETY: as above.
        assert_eq!(unsafe { theirs.read() }, 5);
        drop(slice);
        assert!(ticket.attach().is_err(), "the allocation is gone");
        let next = store.take(PAGES).unwrap();
        assert_ne!(next.address(), address, "somebody still uses it");
        // SAFETY: the attachment is mapped.
        assert_eq!(unsafe { theirs.read() }, 5);
        drop(found);
        assert_eq!(store.take(PAGES).unwrap().address(), address);
    }

    #[test]
    fn a_new_allocation_in_the_same_place_has_another_ticket() {
        let store = Arc::new(Store::new().unwrap());
        let first = store.take(PAGES).unwrap();
        let (address, ticket) = (first.address(), first.export(0, 8, 0).unwrap());
        drop(first);
        let second = store.take(PAGES).unwrap();
        assert_eq!(second.address(), address);
        assert_ne!(second.export(0, 8, 0).unwrap(), ticket);
        assert!(ticket.attach().is_err());
    }

    #[test]
    fn a_forked_child_gives_nothing_of_its_parents_back() {
        let store = Arc::new(Store::new().unwrap());
        let slice = store.take(PAGES).unwrap();
        let address = slice.address();
        // SAFETY: memory of the slice.
        unsafe { word(address).write(7) };
        // SAFETY: the child only lets the slice go and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            drop(slice);
            // SAFETY: ends the process without running what belongs to the parent.
            unsafe { libc::_exit(0) }
        }
        let mut status = -1;
        // SAFETY: our child; the status has room.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        // SAFETY: as above.
        assert_eq!(unsafe { word(address).read() }, 7);
        drop(slice);
    }

    #[test]
    fn what_is_no_ticket_attaches_nothing() {
        assert!(Ticket::from_words([0; 8]).is_none());
        let nobody = Ticket { process: u32::MAX, descriptor: 3, entry: 0, generation: 1, inode: 1 };
        assert!(nobody.attach().is_err());
        let store = Arc::new(Store::new().unwrap());
        let slice = store.take(PAGES).unwrap();
        let ticket = slice.export(0, 8, 0).unwrap();
        assert!(Ticket { inode: ticket.inode + 1, ..ticket }.attach().is_err());
        assert!(Ticket { entry: u32::MAX, ..ticket }.attach().is_err());
        assert!(Ticket { descriptor: 0, ..ticket }.attach().is_err());
    }
}
