//! The first pages of the store's file: which allocations are exported, for other processes to read.
//!
//! Only the process that owns the file writes it. Another process that did could only make itself map another range of
//! a file that it has anyway.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::os::{Mapping, SharedMemory};

/// Bytes of the ledger.
pub(super) const LEDGER_BYTES: usize = 1 << 20;
const ENTRIES: usize = LEDGER_BYTES / size_of::<Entry>();

#[repr(C)]
struct Entry {
    /// Odd while the entry is in use; grows when it is taken and when it is given back.
    generation: AtomicU64,
    offset: AtomicU64,
    len: AtomicU64,
    gpu: AtomicU64,
}

const _: () = assert!(size_of::<Entry>() == 32);

/// What an entry says.
pub(super) struct Exported {
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) gpu: u32,
}

/// The ledger of a file, mapped.
pub(super) struct Ledger(Mapping);

impl Ledger {
    /// The ledger at the beginning of `file`, which is at least as large.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn of(file: &SharedMemory) -> io::Result<Self> {
        Mapping::of(file, 0, LEDGER_BYTES).map(Self)
    }

    fn entries(&self) -> &[Entry] {
        // SAFETY: the mapping is as large, aligned to pages, and cannot shrink; any bytes are valid atomics.
        unsafe { std::slice::from_raw_parts(self.0.of_device().cast(), ENTRIES) }
    }

    /// Notes an allocation; `None` if there is no room. Callers take turns.
    pub(super) fn add(&self, offset: u64, len: u64, gpu: u32) -> Option<u32> {
        let is_free = |entry: &Entry| entry.generation.load(Ordering::Relaxed).is_multiple_of(2);
        let index = self.entries().iter().position(is_free)?;
        let entry = &self.entries()[index];
        entry.offset.store(offset, Ordering::Relaxed);
        entry.len.store(len, Ordering::Relaxed);
        entry.gpu.store(gpu.into(), Ordering::Relaxed);
        // ORDER: Release. A thread that sees the generation sees what it is about.
        entry.generation.fetch_add(1, Ordering::Release);
        // CAST: below ENTRIES.
        Some(index as u32)
    }

    /// Forgets an allocation: its generation will not come back.
    pub(super) fn remove(&self, index: u32) {
        if let Some(entry) = self.entries().get(index as usize) {
            entry.generation.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// The generation of an entry.
    pub(super) fn generation(&self, index: u32) -> u64 {
        self.entries().get(index as usize).map_or(0, |entry| entry.generation.load(Ordering::Relaxed))
    }

    /// What an entry says, if it is still the one that is meant.
    pub(super) fn find(&self, index: u32, generation: u64) -> Option<Exported> {
        let entry = self.entries().get(index as usize)?;
        if entry.generation.load(Ordering::SeqCst) != generation || generation.is_multiple_of(2) {
            return None;
        }
        let found = Exported {
            offset: entry.offset.load(Ordering::Relaxed),
            len: entry.len.load(Ordering::Relaxed),
            // CAST: it was one.
            gpu: entry.gpu.load(Ordering::Relaxed) as u32,
        };
        // ORDER: Acquire fence. If another allocation's words were read, its generation is seen now.
        std::sync::atomic::fence(Ordering::Acquire);
        (entry.generation.load(Ordering::Relaxed) == generation).then_some(found)
    }
}
