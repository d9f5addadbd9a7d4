//! How long data is of which only the address is known.

use std::ops::Range;

use goblin::elf::header::ELFMAG;
use goblin::elf::program_header::ProgramHeader;
use goblin::elf::section_header::{SHT_NOBITS, SectionHeader};
use goblin::elf64::header::SIZEOF_EHDR;
use goblin::elf64::program_header::SIZEOF_PHDR;
use goblin::elf64::section_header::SIZEOF_SHDR;

use super::compressed::{self, Header, Method};
use super::plain;
use crate::elf::{self, ENCODING, malformed};
use crate::{Error, Result, wire};

/// What is known about the length of some data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The first so many bytes decide; they are part of the data, and more than were given.
    Need(usize),
    /// The data has so many bytes.
    Len(usize),
}

const ZSTD_MAGIC: u32 = 0xfd2f_b528;
const ZSTD_FRAME: &str = "zstd frame";

/// Tells how many bytes a bundle, compressed bundle or code object has, from the first of them.
///
/// `__hipRegisterFatBinary` and `hipModuleLoadData` are given an address without a size. A caller that can read
/// memory there starts with a few bytes (none will do), and gives as many as [`Extent::Need`] asks for until
/// the answer is [`Extent::Len`]. For a well-formed file this never asks for bytes that it does not have.
///
/// # Errors
/// [`Error::UnknownFormat`], [`Error::UnknownExtent`], or what is wrong with a header.
///
/// ```
/// use loader::bundle::{Extent, extent};
///
/// let file = include_bytes!("../../tests/samples/gfx90a_v5.co");
/// let mut known = 0;
/// let length = loop {
///     match extent(&file[..known])? {
///         Extent::Need(bytes) => known = bytes,
///         Extent::Len(bytes) => break bytes,
///     }
/// };
/// assert_eq!(length, file.len());
/// # Ok::<(), loader::Error>(())
/// ```
pub fn extent(prefix: &[u8]) -> Result<Extent> {
    let Some(magic) = prefix.first_chunk::<4>() else { return Ok(Extent::Need(4)) };
    let parse = match magic {
        ELFMAG => code_object,
        &compressed::MAGIC => compressed_bundle,
        _ if plain::MAGIC.starts_with(magic) => plain_bundle,
        &magic => return Err(Error::UnknownFormat { magic }),
    };
    match parse(prefix) {
        Ok(bytes) => Ok(Extent::Len(bytes)),
        // Every length below is read in order, so what is cut off is what is needed next.
        Err(Error::Truncated { offset, needed, .. }) => match usize::try_from(offset + needed) {
            Ok(bytes) => Ok(Extent::Need(bytes)),
            Err(_) => Err(Error::UnknownExtent),
        },
        Err(error) => Err(error),
    }
}

fn plain_bundle(prefix: &[u8]) -> Result<usize> {
    let magic: [u8; 24] = wire::array(prefix, 0, "bundle header")?;
    if magic != *plain::MAGIC {
        return Err(Error::unknown_format(&magic));
    }
    let mut at = plain::HEADER_BYTES;
    let mut end = at as u64;
    for index in 0..plain::count(prefix)? {
        let entry = plain::description(prefix, at, index)?;
        at = entry.id.end;
        end = end.max(entry.offset + entry.size).max(at as u64);
    }
    // CAST: the descriptions were checked against isize::MAX.
    Ok(end as usize)
}

fn compressed_bundle(prefix: &[u8]) -> Result<usize> {
    // Even the shortest header with its data is longer than the longest header.
    wire::array::<{ compressed::MAX_HEADER_BYTES }>(prefix, 0, "compressed bundle header")?;
    let header = Header::parse(prefix)?;
    match (header.file_bytes, header.method) {
        (Some(bytes), _) => Ok(bytes),
        (None, Method::Zstd) => zstd_frame(prefix, header.data),
        (None, Method::Zlib) => Err(Error::UnknownExtent),
    }
}

/// Walks over the blocks of the zstd frame at `at` (RFC 8878, 3.1.1); returns where it ends.
fn zstd_frame(prefix: &[u8], at: usize) -> Result<usize> {
    let byte = |at| wire::array::<1>(prefix, at, ZSTD_FRAME).map(|[byte]| byte);
    if wire::u32(prefix, at, ZSTD_FRAME)? != ZSTD_MAGIC {
        return Err(Error::Decompress { detail: "no zstd frame".to_owned() });
    }
    let descriptor = byte(at + 4)?;
    let single_segment = descriptor & 0x20 != 0;
    let dictionary_id = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content_size = match descriptor >> 6 {
        0 => usize::from(single_segment),
        n => 1 << n,
    };
    let mut at = at + 5 + usize::from(!single_segment) + dictionary_id + content_size;
    loop {
        let [a, b, c] = wire::array(prefix, at, ZSTD_FRAME)?;
        let block = u32::from_le_bytes([a, b, c, 0]);
        let size = match block >> 1 & 3 {
            1 => 1, // one byte, repeated
            3 => return Err(Error::Decompress { detail: "reserved zstd block".to_owned() }),
            _ => (block >> 3) as usize,
        };
        at += 3 + size;
        if block & 1 != 0 {
            return Ok(at + if descriptor & 4 != 0 { 4 } else { 0 });
        }
    }
}

/// The end of a code object: of its headers, segments or sections, whichever comes last.
pub(super) fn code_object(prefix: &[u8]) -> Result<usize> {
    elf::identity(prefix)?;
    let header = elf::header(prefix)?;
    let (what, count) = ("program headers", header.e_phnum.into());
    let table = header_table(prefix, what, header.e_phoff, header.e_phentsize, SIZEOF_PHDR, count)?;
    let segments = ProgramHeader::parse(prefix, table.start, count, ENCODING).map_err(Error::elf(what))?;
    let mut end = table.end.max(SIZEOF_EHDR);
    for segment in segments {
        end = end.max(part_end(what, segment.p_offset, segment.p_filesz)?);
    }
    let (what, count) = ("section headers", header.e_shnum.into());
    let table = header_table(prefix, what, header.e_shoff, header.e_shentsize, SIZEOF_SHDR, count)?;
    let sections = SectionHeader::parse(prefix, table.start, count, ENCODING).map_err(Error::elf(what))?;
    end = end.max(table.end);
    for section in sections.iter().filter(|section| section.sh_type != SHT_NOBITS) {
        end = end.max(part_end(what, section.sh_offset, section.sh_size)?);
    }
    Ok(end)
}

/// Where a table of headers is, of which the prefix has every entry.
fn header_table(
    prefix: &[u8],
    what: &'static str,
    offset: u64,
    entry: u16,
    bytes: usize,
    count: usize,
) -> Result<Range<usize>> {
    if count == 0 {
        return Ok(0..0);
    }
    let needed = (bytes * count) as u64;
    let end = part_end(what, offset, needed)?;
    if usize::from(entry) != bytes {
        return Err(malformed(what, "its size makes no sense"));
    }
    let start = end - bytes * count;
    if prefix.len() < end {
        let available = prefix.len().saturating_sub(start) as u64;
        return Err(Error::Truncated { what, offset, needed, available });
    }
    Ok(start..end)
}

/// The end of a part of a file, if a file can have so many bytes.
fn part_end(table: &'static str, offset: u64, bytes: u64) -> Result<usize> {
    let end = offset.checked_add(bytes).filter(|&end| end <= isize::MAX as u64);
    // CAST: not above isize::MAX.
    end.map(|end| end as usize).ok_or_else(|| malformed(table, "its size makes no sense"))
}
