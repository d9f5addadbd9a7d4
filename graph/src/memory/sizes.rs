//! Sizes of chunks of physical memory.

/// The sizes that chunks of a device's memory have: powers of two, from its pages up.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    page: u64,
}

impl Sizes {
    /// What a page table entry of the card maps at best.
    const LARGE: u64 = 2 << 20;
    /// Sizes are whole pages even if the device has a finer granule.
    const PAGE: u64 = 4096;
    /// Of the largest chunks: each costs as many calls as the smallest.
    const MOST: u64 = 1 << 30;

    /// Of a device's memory whose granule is `granule`, a power of two.
    pub fn of(granule: u64) -> Self {
        Self { page: granule.max(Self::PAGE) }
    }

    /// Of what the sizes of buffers are multiples.
    pub fn page(&self) -> u64 {
        self.page
    }

    /// Bytes from which on chunks and buffers are large: small ones never have a part of a large chunk.
    pub fn large(&self) -> u64 {
        self.page.max(Self::LARGE)
    }

    /// Bytes of the largest chunks.
    pub fn most(&self) -> u64 {
        self.page.max(Self::MOST)
    }

    /// Bytes of addresses for a buffer, at a multiple of [`Sizes::alignment`]: it may have one chunk of any size, unless
    /// it is small, or several that together are less than twice as large as the buffer.
    pub fn room(&self, bytes: u64) -> u64 {
        let alone = if bytes >= self.large() { self.most() } else { self.large() };
        bytes.saturating_mul(2).max(alone)
    }

    /// Of what the address of a buffer is a multiple, so that the card maps its chunks with large pages.
    pub fn alignment(&self, bytes: u64) -> u64 {
        self.floor(bytes).max(self.large())
    }

    /// The largest chunk that there is room for.
    pub fn reach(&self, room: u64) -> u64 {
        self.floor(room)
    }

    fn floor(&self, bytes: u64) -> u64 {
        bytes.checked_ilog2().map_or(0, |log| 1 << log).clamp(self.page, self.most())
    }

    /// The chunks of at most `most` bytes, a size, that `bytes` bytes, whole pages, are: as few as can be, the largest
    /// first.
    pub fn chunks(&self, bytes: u64, most: u64) -> impl Iterator<Item = u64> + use<> {
        let mut rest = bytes;
        std::iter::from_fn(move || {
            let size = most.min(1 << rest.checked_ilog2()?);
            rest -= size;
            Some(size)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_split_into_as_few_chunks_as_can_be() {
        let sizes = Sizes::of(4096);
        let split = |bytes, most| sizes.chunks(bytes, most).collect::<Vec<u64>>();
        assert_eq!(split(1 << 30, sizes.most()), [1 << 30]);
        assert_eq!(split(3 << 30, sizes.most()), [1 << 30; 3]);
        assert_eq!(split(600 << 20, sizes.most()), [512 << 20, 64 << 20, 16 << 20, 8 << 20]);
        assert_eq!(split(5 << 12, 1 << 12), [1 << 12; 5]);
        assert!(split(0, sizes.most()).is_empty());
    }

    #[test]
    fn there_is_room_for_a_larger_chunk() {
        let sizes = Sizes::of(4096);
        assert_eq!((sizes.room(4096), sizes.reach(sizes.room(4096))), (2 << 20, 2 << 20));
        assert_eq!((sizes.room(600 << 20), sizes.reach(1200 << 20)), (1200 << 20, 1 << 30));
        assert_eq!((sizes.room(2 << 20), sizes.room(3 << 30)), (1 << 30, 6 << 30));
        let coarse = Sizes::of(2 << 20);
        assert_eq!((coarse.page(), coarse.large()), (2 << 20, 2 << 20));
    }
}
