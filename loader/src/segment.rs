use std::fmt;
use std::ops::Range;

use goblin::elf::program_header::{PT_LOAD, ProgramHeader};

use crate::{Error, Result, elf};

/// Largest alignment that a segment may ask for: one large page.
const MAX_ALIGN: u64 = 2 << 20;

/// What code may do with a segment's memory; every segment can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Protection {
    /// Stores are allowed.
    pub write: bool,
    /// Instruction fetches are allowed.
    pub execute: bool,
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = |set, mark| if set { mark } else { "" };
        write!(f, "R{}{}", mark(self.write, "W"), mark(self.execute, "X"))
    }
}

/// A loadable part of a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First byte, relative to the image.
    pub offset: u64,
    /// Bytes in memory; those that the file does not give are zero.
    pub size: u64,
    /// Bytes of the file that come first.
    pub file: Range<usize>,
    /// What the memory is for.
    pub protection: Protection,
}

impl Segment {
    /// The bytes of the image that the segment covers.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.size
    }

    /// Whether `size` bytes from image offset `offset` on are inside.
    pub(crate) fn contains(&self, offset: u64, size: u64) -> bool {
        let range = self.range();
        range.start <= offset && offset <= range.end && size <= range.end - offset
    }
}

/// The loadable segments of a file: ascending, disjoint, and inside the file.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) segments: Vec<Segment>,
    /// The address, as linked, of the image's first byte.
    pub(crate) origin: u64,
    /// Bytes of the image, a multiple of `align`.
    pub(crate) size: u64,
    pub(crate) align: u64,
}

impl Layout {
    pub(crate) fn new(headers: &[ProgramHeader], file_len: usize) -> Result<Self> {
        let mut align = 1;
        let mut indexed = Vec::new();
        for (index, header) in headers.iter().enumerate() {
            if header.p_type == PT_LOAD && header.p_memsz != 0 {
                align = align.max(header.p_align);
                indexed.push((index, segment(index, header, file_len)?));
            }
        }
        indexed.sort_by_key(|(_, s)| s.offset);
        let (Some((_, first)), Some((last_index, last))) = (indexed.first(), indexed.last()) else {
            return Err(Error::NoSegments);
        };
        if let Some(pair) = indexed.windows(2).find(|pair| pair[0].1.range().end > pair[1].1.offset) {
            return Err(Error::SegmentOverlap { index: pair[1].0 });
        }
        let origin = first.offset & !(align - 1);
        let end = last.range().end.checked_next_multiple_of(align);
        let size = end.ok_or(Error::SegmentSize { index: *last_index })? - origin;
        let mut segments: Vec<_> = indexed.into_iter().map(|(_, segment)| segment).collect();
        for segment in &mut segments {
            segment.offset -= origin;
        }
        Ok(Self { segments, origin, size, align })
    }

    /// Turns an address, as linked, into an image offset if `size` bytes from it on are in one segment.
    pub(crate) fn locate(&self, address: u64, size: u64) -> Option<u64> {
        let offset = address.checked_sub(self.origin)?;
        self.segment_at(offset, size).map(|_| offset)
    }

    /// The segment that has `size` bytes from image offset `offset` on.
    pub(crate) fn segment_at(&self, offset: u64, size: u64) -> Option<&Segment> {
        let after = self.segments.partition_point(|s| s.offset <= offset);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        segment.contains(offset, size).then_some(segment)
    }

    /// The part of the file that gives `size` bytes from image offset `offset` on.
    pub(crate) fn file_range(&self, offset: u64, size: usize) -> Option<Range<usize>> {
        let segment = self.segment_at(offset, size as u64)?;
        let start = segment.file.start.checked_add(usize::try_from(offset - segment.offset).ok()?)?;
        let end = start.checked_add(size)?;
        (end <= segment.file.end).then_some(start..end)
    }
}

/// Checks one program header; the offset is still the address as linked.
fn segment(index: usize, header: &ProgramHeader, file_len: usize) -> Result<Segment> {
    let (address, size, offset) = (header.p_vaddr, header.p_memsz, header.p_offset);
    if header.p_filesz > size || address.checked_add(size).is_none() {
        return Err(Error::SegmentSize { index });
    }
    let file = elf::file_range(offset, header.p_filesz, file_len);
    let file = file.ok_or(Error::SegmentOutsideFile { index })?;
    let align = header.p_align.max(1);
    // ELF, "Program Header": address and file offset are equal modulo the alignment.
    if !align.is_power_of_two() || align > MAX_ALIGN || address.wrapping_sub(offset) & (align - 1) != 0 {
        return Err(Error::SegmentMisaligned { index });
    }
    let protection = Protection { write: header.is_write(), execute: header.is_executable() };
    Ok(Segment { offset: address, size, file, protection })
}

#[cfg(test)]
mod tests {
    use goblin::elf::program_header::PF_R;

    use super::*;

    fn load(address: u64, memory: u64, offset: u64, file: u64, align: u64) -> ProgramHeader {
        ProgramHeader {
            p_type: PT_LOAD,
            p_flags: PF_R,
            p_offset: offset,
            p_vaddr: address,
            p_paddr: address,
            p_filesz: file,
            p_memsz: memory,
            p_align: align,
        }
    }

    #[test]
    fn the_image_starts_and_ends_at_multiples_of_the_alignment() {
        let layout =
            Layout::new(&[load(0x3010, 0x20, 0x10, 8, 0x1000), load(0x5000, 1, 0, 1, 16)], 64).unwrap();
        assert_eq!((layout.origin, layout.size, layout.align), (0x3000, 0x3000, 0x1000));
        assert_eq!((layout.segments[0].offset, layout.segments[1].offset), (0x10, 0x2000));
        assert_eq!(layout.locate(0x302f, 1), Some(0x2f));
        assert_eq!(layout.locate(0x3030, 1), None);
        assert_eq!(layout.locate(0x2fff, 1), None);
        assert_eq!(layout.file_range(0x14, 4), Some(0x14..0x18));
        assert_eq!(layout.file_range(0x15, 4), None, "zero fill is not in the file");
    }

    #[test]
    fn contradicting_segments_are_refused() {
        let bad = |header| Layout::new(&[header], 0x2000).unwrap_err();
        assert_eq!(Layout::new(&[], 0).unwrap_err(), Error::NoSegments);
        assert_eq!(bad(load(0, 4, 0, 8, 1)), Error::SegmentSize { index: 0 });
        assert_eq!(bad(load(u64::MAX - 4, 8, 0, 0, 1)), Error::SegmentSize { index: 0 });
        assert_eq!(bad(load(u64::MAX - 0x1000, 8, 0xfff, 0, 0x1000)), Error::SegmentSize { index: 0 });
        assert_eq!(bad(load(0, 0x2001, 0, 0x2001, 1)), Error::SegmentOutsideFile { index: 0 });
        assert_eq!(bad(load(0, 8, u64::MAX, 8, 1)), Error::SegmentOutsideFile { index: 0 });
        assert_eq!(bad(load(0, 8, 0, 8, 24)), Error::SegmentMisaligned { index: 0 });
        assert_eq!(bad(load(0x1008, 8, 0, 8, 16)), Error::SegmentMisaligned { index: 0 });
        assert_eq!(bad(load(0, 8, 0, 8, 4 << 20)), Error::SegmentMisaligned { index: 0 });
        let overlap = [load(0x1000, 0x10, 0, 0, 1), load(0x100f, 1, 0, 0, 1)];
        assert_eq!(Layout::new(&overlap, 0).unwrap_err(), Error::SegmentOverlap { index: 1 });
    }

    #[test]
    fn protection_is_written_as_letters() {
        for (write, execute, text) in [(false, false, "R"), (true, false, "RW"), (false, true, "RX")] {
            assert_eq!(Protection { write, execute }.to_string(), text);
        }
    }
}
