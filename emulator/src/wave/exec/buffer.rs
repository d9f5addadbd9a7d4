//! Buffer resources (V#) and their addressing (MI200 ISA, 9.1.5; RDNA2 to RDNA4 ISA, "Buffer Resource").

use crate::{
    isa::{Generation, Inst, Operand},
    wave::Wave,
};

/// A buffer resource of four scalar registers.
#[derive(Clone, Copy)]
pub struct Resource {
    /// 48-bit base address.
    pub base: u64,
    /// Bytes between records.
    pub stride: u32,
    pub swizzle: bool,
    /// Bytes per element of a swizzled buffer: 4, from RDNA 3 on what the resource says.
    element: u32,
    /// Bytes of a raw buffer, records of a structured one.
    pub records: u32,
    /// Records per swizzled block: 8, 16, 32 or 64.
    pub index_stride: u32,
    /// The lane number is added to the index.
    pub add_thread: bool,
    /// The last word, which holds the format.
    word3: u32,
    /// Whose resource it is.
    generation: Generation,
}

/// How accesses are checked (CDNA3 ISA, 9.1.5.1). On RDNA the resource says it (OOB_SELECT): RDNA 2 looks at an access's
/// first byte, later ones at all of its bytes (Mesa, `ac_build_buffer_descriptor`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// Not at all: private buffers.
    Unchecked,
    /// Offsets against a size in bytes: raw buffers.
    Bytes,
    /// Indices against a number of records: structured buffers.
    Records,
    /// As [`Range::Records`], and offsets against the size of a record.
    Structure,
    /// Places in a swizzled buffer against a size in bytes.
    Swizzled,
    /// Everything is out of range: the resource is unbound.
    Nothing,
}

const SWIZZLE_ENABLE: u32 = 1 << 31;
const ADD_TID_ENABLE: u32 = 1 << 23;
const INDEX_STRIDE_32: u32 = 2 << 21;
const INDEX_STRIDE_64: u32 = 3 << 21;
const DATA_FORMAT_32: u32 = 4 << 15;
const NUM_FORMAT_UINT: u32 = 4 << 12;
/// On RDNA 3 and later: elements of four bytes are swizzled.
const SWIZZLE_DWORDS: u32 = 1 << 30;
/// On RDNA: 32_UINT, and bounds are not checked unless there are no records.
const FORMAT_32_UINT: u32 = 20 << 12;
const OOB_EMPTY: u32 = 2 << 28;
/// On RDNA 2, which asks for it.
const RESOURCE_LEVEL: u32 = 1 << 24;

/// The V# of a wave's scratch: dwords of all lanes side by side.
pub fn scratch_resource(base: u64, lanes: usize, generation: Generation) -> [u32; 4] {
    let index_stride = if lanes == 32 { INDEX_STRIDE_32 } else { INDEX_STRIDE_64 };
    let (swizzle, format) = match generation {
        Generation::Gfx9 => (SWIZZLE_ENABLE, DATA_FORMAT_32 | NUM_FORMAT_UINT),
        Generation::Gfx10 => (SWIZZLE_ENABLE, FORMAT_32_UINT | OOB_EMPTY | RESOURCE_LEVEL),
        Generation::Gfx11 | Generation::Gfx12 => (SWIZZLE_DWORDS, FORMAT_32_UINT | OOB_EMPTY),
    };
    let high = (base >> 32) as u32 & 0xffff;
    [base as u32, high | swizzle, u32::MAX, ADD_TID_ENABLE | index_stride | format]
}

impl Resource {
    /// Takes the four words apart, as instructions without a format see them.
    pub fn new([w0, w1, w2, w3]: [u32; 4]) -> Self {
        let add_thread = w3 & ADD_TID_ENABLE != 0;
        let mut stride = w1 >> 16 & 0x3fff;
        if add_thread {
            // The data format field becomes the stride's upper bits.
            stride |= (w3 >> 15 & 0xf) << 14;
        }
        Self {
            base: u64::from(w0) | u64::from(w1 & 0xffff) << 32,
            stride,
            swizzle: w1 & SWIZZLE_ENABLE != 0,
            element: 4,
            records: w2,
            index_stride: 8 << (w3 >> 21 & 3),
            add_thread,
            word3: w3,
            generation: Generation::Gfx9,
        }
    }

    /// As [`Resource::new`], on RDNA.
    pub fn of_rdna(generation: Generation, words: [u32; 4]) -> Self {
        let (swizzle, element) = match words[1] >> 30 {
            kind if generation == Generation::Gfx10 => (kind & 2 != 0, 4),
            0 => (false, 4),
            kind => (true, 2 << kind),
        };
        Self { stride: words[1] >> 16 & 0x3fff, swizzle, element, generation, ..Self::new(words) }
    }

    /// As an instruction with a format sees it: the data format is one, and the stride has 14 bits.
    pub fn formatted(self) -> Self {
        Self { stride: self.stride & 0x3fff, ..self }
    }

    /// The resource in the four scalar registers from `op` on.
    #[inline(always)]
    pub fn scalar(w: &Wave, inst: &Inst, op: Operand) -> Self {
        let words = [0, 1, 2, 3].map(|i| w.scalar(Operand(op.0 + i), inst));
        match w.target.generation() {
            Generation::Gfx9 => Self::new(words),
            generation => Self::of_rdna(generation, words),
        }
    }

    /// FORMAT of RDNA.
    pub fn format(&self) -> u32 {
        self.word3 >> 12 & if self.generation == Generation::Gfx10 { 0x7f } else { 0x3f }
    }

    /// DATA_FORMAT.
    pub fn data_format(&self) -> u8 {
        // CAST: 4 bits.
        (self.word3 >> 15 & 0xf) as u8
    }

    /// NUM_FORMAT.
    pub fn number_format(&self) -> u8 {
        // CAST: 3 bits.
        (self.word3 >> 12 & 7) as u8
    }

    /// DST_SEL_X to DST_SEL_W.
    pub fn selectors(&self) -> [u8; 4] {
        // CAST: 3 bits each.
        [0, 3, 6, 9].map(|shift| (self.word3 >> shift & 7) as u8)
    }

    /// Whether this is the layout of [`scratch_resource`] for waves of so many lanes, wherever it points.
    #[inline(always)]
    pub fn is_scratch(&self, lanes: usize) -> bool {
        self.swizzle && self.add_thread && self.index_stride as usize == lanes && self.records == u32::MAX
    }

    /// Size in bytes, as scalar loads see it.
    pub fn bytes(&self) -> u64 {
        u64::from(self.records) * u64::from(self.stride.max(1))
    }

    /// How accesses are checked that take an index from a register or do not.
    #[inline(always)]
    pub fn range(&self, indexed: bool) -> Range {
        if self.generation != Generation::Gfx9 {
            self.selected_range()
        } else if self.add_thread && !indexed {
            Range::Unchecked
        } else if self.data_format() == 0 && !self.add_thread {
            // A resource without a data format is unbound, whatever the instruction's own format.
            Range::Nothing
        } else if indexed && self.stride != 0 {
            Range::Records
        } else {
            Range::Bytes
        }
    }

    /// What OOB_SELECT of RDNA says.
    fn selected_range(&self) -> Range {
        match (self.word3 >> 28 & 3, self.generation) {
            (0, _) => Range::Structure,
            (1, _) => Range::Records,
            (2, _) if self.records == 0 => Range::Nothing,
            (2, _) => Range::Unchecked,
            (_, Generation::Gfx10) if self.swizzle => Range::Swizzled,
            (_, Generation::Gfx11 | Generation::Gfx12) if self.swizzle && self.stride != 0 => {
                Range::Structure
            }
            _ => Range::Bytes,
        }
    }

    /// Whether `bytes` bytes at `offset` of record `index` are out of range. `offset` is the instruction's
    /// plus the lane's; SOFFSET does not count.
    #[inline(always)]
    pub fn excludes(&self, range: Range, index: u32, offset: u32, bytes: u32) -> bool {
        let bytes = if self.generation == Generation::Gfx10 { 1 } else { u64::from(bytes) };
        match range {
            Range::Unchecked => false,
            Range::Bytes => u64::from(offset) + bytes > u64::from(self.records),
            Range::Records => index >= self.records,
            Range::Structure => index >= self.records || u64::from(offset) + bytes > u64::from(self.stride),
            Range::Swizzled => self.within(index, offset) + bytes > u64::from(self.records),
            Range::Nothing => true,
        }
    }

    /// Address of a byte.
    #[inline(always)]
    pub fn address(&self, index: u32, offset: u32, scalar: u32) -> u64 {
        self.base.wrapping_add(u64::from(scalar)).wrapping_add(self.within(index, offset))
    }

    /// What stands between a byte and the base, apart from SOFFSET.
    #[inline(always)]
    fn within(&self, index: u32, offset: u32) -> u64 {
        if self.swizzle {
            let (block, slot) = (index / self.index_stride, index % self.index_stride);
            let byte = offset % self.element;
            (u64::from(block) * u64::from(self.stride) + u64::from(offset - byte))
                * u64::from(self.index_stride)
                + u64::from(slot * self.element + byte)
        } else {
            u64::from(index) * u64::from(self.stride) + u64::from(offset)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_interleaves_the_lanes_dword_by_dword() {
        for lanes in [32, 64] {
            let words = |generation| scratch_resource(0x7f00_1234_0000, lanes as usize, generation);
            for generation in [Generation::Gfx10, Generation::Gfx11, Generation::Gfx12] {
                let scratch = Resource::of_rdna(generation, words(generation));
                assert!(scratch.is_scratch(lanes as usize) && scratch.range(false) == Range::Unchecked);
                assert_eq!(scratch.address(5, 7, 0), 0x7f00_1234_0000 + u64::from(4 * lanes + 23));
            }
            let scratch = Resource::new(words(Generation::Gfx9));
            assert!(scratch.is_scratch(lanes as usize) && !scratch.is_scratch(96 - lanes as usize));
            assert_eq!(scratch.range(false), Range::Unchecked);
            for (lane, offset) in [(0, 0), (lanes - 1, 0), (5, 4), (17, 27)] {
                let row = offset / 4 * 4 * lanes;
                let expected = 0x7f00_1234_0000 + 512 + u64::from(row + lane * 4 + offset % 4);
                assert_eq!(scratch.address(lane, offset, 512), expected);
            }
        }
    }

    #[test]
    fn a_raw_buffer_ends_at_its_number_of_records() {
        let raw = Resource::new([0, 0, 100, DATA_FORMAT_32]);
        let range = raw.range(false);
        assert!(!raw.excludes(range, 0, 96, 4));
        assert!(raw.excludes(range, 0, 97, 4));
        assert!(raw.excludes(range, 0, u32::MAX, 4));
    }

    #[test]
    fn a_structured_buffer_counts_records() {
        for swizzle in [0, SWIZZLE_ENABLE] {
            let structured = Resource::new([0, 16 << 16 | swizzle, 10, DATA_FORMAT_32]);
            let range = structured.range(true);
            assert!(!structured.excludes(range, 9, 400, 4) && structured.excludes(range, 10, 0, 4));
        }
    }

    #[test]
    fn a_resource_of_zeros_is_unbound() {
        let unbound = Resource::new([0, 0, u32::MAX, 0]);
        assert!(unbound.excludes(unbound.range(false), 0, 0, 4));
    }

    /// As the resource of an RDNA says: what is out of range, of a dword.
    fn excludes(generation: Generation, words: [u32; 4], index: u32, offset: u32) -> bool {
        let resource = Resource::of_rdna(generation, words);
        resource.excludes(resource.range(true), index, offset, 4)
    }

    const RDNA: [Generation; 3] = [Generation::Gfx10, Generation::Gfx11, Generation::Gfx12];

    #[test]
    fn structures_end_with_their_last_record_and_each_record_with_its_stride() {
        for generation in RDNA {
            let words = [0, 16 << 16, 10, 0];
            assert!(!excludes(generation, words, 9, 12));
            assert!(excludes(generation, words, 10, 0) && excludes(generation, words, 9, 16));
            // All bytes count from RDNA 3 on.
            assert_eq!(excludes(generation, words, 9, 13), generation != Generation::Gfx10);
            // Offsets do not count.
            let words = [0, 16 << 16, 10, 1 << 28];
            assert!(!excludes(generation, words, 9, 400) && excludes(generation, words, 10, 0));
        }
    }

    #[test]
    fn only_buffers_without_records_have_bounds_if_none_are_checked() {
        for generation in RDNA {
            assert!(!excludes(generation, [0, 16 << 16, 1, OOB_EMPTY], 1000, u32::MAX));
            assert!(excludes(generation, [0, 16 << 16, 0, OOB_EMPTY], 0, 0));
        }
    }

    #[test]
    fn raw_buffers_count_bytes_whatever_the_index() {
        for generation in RDNA {
            let words = [0, 16 << 16, 100, 3 << 28];
            assert!(!excludes(generation, words, 1000, 96) && excludes(generation, words, 0, 100));
            assert_eq!(excludes(generation, words, 0, 97), generation != Generation::Gfx10);
            // A swizzled one has records, but for RDNA 2, which looks at where the byte is: blocks of eight dwords.
            let swizzle = if generation == Generation::Gfx10 { SWIZZLE_ENABLE } else { SWIZZLE_DWORDS };
            let words = [0, 16 << 16 | swizzle, 100, 3 << 28];
            if generation == Generation::Gfx10 {
                assert!(!excludes(generation, words, 0, 12) && !excludes(generation, words, 0, 15));
                assert!(excludes(generation, words, 1, 12) && !excludes(generation, words, 7, 8));
            } else {
                assert!(!excludes(generation, words, 99, 12) && excludes(generation, words, 100, 0));
                assert!(excludes(generation, words, 0, 13));
            }
        }
    }

    #[test]
    fn elements_of_swizzled_buffers_have_as_many_bytes_as_the_resource_says() {
        let resource = Resource::of_rdna(Generation::Gfx11, [0, 64 << 16 | 3 << 30, 100, 0]);
        // Record 3 of a block of eight, byte 5 of the third element.
        assert_eq!(resource.address(3, 2 * 16 + 5, 0), 2 * 16 * 8 + 3 * 16 + 5);
        // On RDNA 2 the bit is the cache's.
        let linear = Resource::of_rdna(Generation::Gfx10, [0, 64 << 16 | 1 << 30, 100, 0]);
        assert_eq!(linear.address(3, 37, 0), 3 * 64 + 37);
    }
}
