//! Best-fit allocation of offsets in a range, with coalescing of neighbours.

use std::collections::{BTreeMap, BTreeSet};

/// Free space of a range `0..capacity`; it hands out offsets and knows nothing of what they address.
#[derive(Debug)]
pub struct Heap {
    capacity: u64,
    used: u64,
    by_offset: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
}

impl Heap {
    /// A heap of `capacity` bytes, all free.
    pub fn new(capacity: u64) -> Self {
        let mut heap = Self { capacity, used: 0, by_offset: BTreeMap::new(), by_size: BTreeSet::new() };
        if capacity > 0 {
            heap.insert(0, capacity);
        }
        heap
    }

    /// Bytes handed out, padding for alignment not counted.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Bytes in all.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Whether everything is free again.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Takes `size` bytes whose offset is a multiple of `align` (a power of two), or `None` if no gap fits.
    pub fn take(&mut self, size: u64, align: u64) -> Option<u64> {
        debug_assert!(align.is_power_of_two());
        let size = size.max(1);
        let mut found = None;
        for &(len, offset) in self.by_size.range((size, 0)..) {
            let aligned = offset.checked_next_multiple_of(align)?;
            if aligned - offset <= len - size {
                found = Some((len, offset, aligned));
                break;
            }
        }
        let (len, offset, aligned) = found?;
        self.by_size.remove(&(len, offset));
        self.by_offset.remove(&offset);
        if aligned > offset {
            self.insert(offset, aligned - offset);
        }
        let end = aligned + size;
        if end < offset + len {
            self.insert(end, offset + len - end);
        }
        self.used += size;
        Some(aligned)
    }

    /// Gives back what [`Heap::take`] returned for the same size.
    pub fn give(&mut self, offset: u64, size: u64) {
        let size = size.max(1);
        self.used -= size;
        let (mut start, mut len) = (offset, size);
        if let Some((&before, &n)) = self.by_offset.range(..offset).next_back()
            && before + n == offset
        {
            self.remove(before, n);
            (start, len) = (before, n + len);
        }
        if let Some(&n) = self.by_offset.get(&(offset + size)) {
            self.remove(offset + size, n);
            len += n;
        }
        self.insert(start, len);
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
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_never_overlap_and_everything_comes_back(
            steps in prop::collection::vec((1u64..5000, 0u32..9, any::<prop::sample::Index>(), any::<bool>()), 1..200)
        ) {
            let mut heap = Heap::new(1 << 16);
            let mut live: Vec<(u64, u64)> = Vec::new();
            for (size, align, pick, release) in steps {
                if release && !live.is_empty() {
                    let (offset, size) = live.swap_remove(pick.index(live.len()));
                    heap.give(offset, size);
                } else if let Some(offset) = heap.take(size, 1 << align) {
                    prop_assert_eq!(offset % (1 << align), 0);
                    prop_assert!(offset + size <= heap.capacity());
                    prop_assert!(live.iter().all(|&(o, s)| offset + size <= o || o + s <= offset));
                    live.push((offset, size));
                }
            }
            for (offset, size) in live.drain(..) {
                heap.give(offset, size);
            }
            prop_assert!(heap.is_empty());
            prop_assert_eq!(heap.take(1 << 16, 1), Some(0));
        }
    }

    #[test]
    fn best_fit_prefers_the_smallest_gap() {
        let mut heap = Heap::new(1000);
        let a = heap.take(100, 1).unwrap();
        let _b = heap.take(10, 1).unwrap();
        let c = heap.take(50, 1).unwrap();
        let _d = heap.take(10, 1).unwrap();
        heap.give(a, 100);
        heap.give(c, 50);
        assert_eq!(heap.take(40, 1), Some(c));
    }
}
