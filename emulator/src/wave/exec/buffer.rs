//! Buffer resources (V#) and their addressing (MI200 ISA, 9.1.5).

use crate::{
    isa::{Inst, Operand},
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
    /// Bytes of a raw buffer, records of a structured one.
    pub records: u32,
    /// Records per swizzled block: 8, 16, 32 or 64.
    pub index_stride: u32,
    /// The lane number is added to the index.
    pub add_thread: bool,
    /// The last word, which holds the format.
    word3: u32,
}

/// How accesses are checked (CDNA3 ISA, 9.1.5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// Not at all: private buffers.
    Unchecked,
    /// Offsets against a size in bytes: raw buffers.
    Bytes,
    /// Indices against a number of records: structured buffers.
    Records,
    /// Everything is out of range: the resource is unbound.
    Nothing,
}

/// Bytes per element of a swizzled buffer; fixed on GFX9.
const ELEMENT: u32 = 4;

const SWIZZLE_ENABLE: u32 = 1 << 31;
const ADD_TID_ENABLE: u32 = 1 << 23;
const INDEX_STRIDE_32: u32 = 2 << 21;
const INDEX_STRIDE_64: u32 = 3 << 21;
const DATA_FORMAT_32: u32 = 4 << 15;
const NUM_FORMAT_UINT: u32 = 4 << 12;

/// The V# of a wave's scratch: dwords of all lanes side by side.
pub fn scratch_resource(base: u64, lanes: usize) -> [u32; 4] {
    let index_stride = if lanes == 32 { INDEX_STRIDE_32 } else { INDEX_STRIDE_64 };
    [
        base as u32,
        (base >> 32) as u32 & 0xffff | SWIZZLE_ENABLE,
        u32::MAX,
        ADD_TID_ENABLE | index_stride | DATA_FORMAT_32 | NUM_FORMAT_UINT,
    ]
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
            records: w2,
            index_stride: 8 << (w3 >> 21 & 3),
            add_thread,
            word3: w3,
        }
    }

    /// As an instruction with a format sees it: the data format is one, and the stride has 14 bits.
    pub fn formatted(self) -> Self {
        Self { stride: self.stride & 0x3fff, ..self }
    }

    /// The resource in the four scalar registers from `op` on.
    #[inline(always)]
    pub fn scalar(w: &Wave, inst: &Inst, op: Operand) -> Self {
        Self::new([0, 1, 2, 3].map(|i| w.scalar(Operand(op.0 + i), inst)))
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
        if self.add_thread && !indexed {
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

    /// Whether `bytes` bytes at `offset` of record `index` are out of range. `offset` is the instruction's
    /// plus the lane's; SOFFSET does not count.
    #[inline(always)]
    pub fn excludes(&self, range: Range, index: u32, offset: u32, bytes: u32) -> bool {
        match range {
            Range::Unchecked => false,
            Range::Bytes => u64::from(offset) + u64::from(bytes) > u64::from(self.records),
            Range::Records => index >= self.records,
            Range::Nothing => true,
        }
    }

    /// Address of a byte.
    #[inline(always)]
    pub fn address(&self, index: u32, offset: u32, scalar: u32) -> u64 {
        let within = if self.swizzle {
            let (block, slot) = (index / self.index_stride, index % self.index_stride);
            let (element, byte) = (offset / ELEMENT, offset % ELEMENT);
            (u64::from(block) * u64::from(self.stride) + u64::from(element * ELEMENT))
                * u64::from(self.index_stride)
                + u64::from(slot * ELEMENT + byte)
        } else {
            u64::from(index) * u64::from(self.stride) + u64::from(offset)
        };
        self.base.wrapping_add(u64::from(scalar)).wrapping_add(within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_interleaves_the_lanes_dword_by_dword() {
        for lanes in [32, 64] {
            let scratch = Resource::new(scratch_resource(0x7f00_1234_0000, lanes as usize));
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
}
