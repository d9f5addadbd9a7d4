//! A small cache in front of the allocation map.

use crate::memory::Allocation;

/// One remembered allocation; the empty entry contains nothing.
#[derive(Clone, Copy)]
struct Entry {
    start: u64,
    end: u64,
    writable: bool,
}

const EMPTY: Entry = Entry { start: u64::MAX, end: 0, writable: false };
const ENTRIES: usize = 8;

/// The allocations that a wave's instructions touched last, by instruction address: one load or store mostly stays
/// in one allocation.
pub struct Near([Entry; ENTRIES]);

impl Default for Near {
    fn default() -> Self {
        Self([EMPTY; ENTRIES])
    }
}

impl Near {
    /// Forgets everything; due when the snapshot that the entries came from is given up.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    #[inline(always)]
    fn slot(pc: u64) -> usize {
        (pc >> 3) as usize % ENTRIES
    }

    /// Whether the instruction at `pc` remembers an allocation in which `first..=last` may be accessed.
    #[inline(always)]
    pub(super) fn allows(&self, pc: u64, first: u64, last: u64, write: bool) -> bool {
        let entry = &self.0[Self::slot(pc)];
        // At the end of the address space the last byte may come before the first.
        entry.start <= first && first <= last && last < entry.end && (entry.writable || !write)
    }

    /// Remembers what the instruction at `pc` touched.
    pub(super) fn remember(&mut self, pc: u64, allocation: &Allocation) {
        let Allocation { start, end, writable, .. } = *allocation;
        self.0[Self::slot(pc)] = Entry { start, end, writable };
    }
}
