//! How long data is of which only the address is known.

use super::compressed::{self, Header, Method};
use super::plain;
use crate::{Error, Result, elf, wire};

/// What is known about the length of some data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The first so many bytes decide; they are part of the data, and more than were given.
    Need(usize),
    /// The data has so many bytes.
    Len(usize),
}

const ELF_HEADER_BYTES: usize = elf::HEADER_BYTES;
const PROGRAM_HEADER_BYTES: usize = 56;
const SECTION_HEADER_BYTES: usize = 64;
const SECTION_WITHOUT_BYTES: u32 = 8;
const ZSTD_MAGIC: u32 = 0xfd2f_b528;
const ZSTD_FRAME: &str = "zstd frame";

/// Tells how many bytes a bundle, compressed bundle or code object has, from the first of them.
///
/// `__hipRegisterFatBinary` and `hipModuleLoadData` are given an address without a size. Whoever can read
/// memory there starts with a few bytes (none will do), and gives as many as [`Extent::Need`] asks for until
/// the answer is [`Extent::Len`]. An honest file is never asked for bytes that it does not have.
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
    let parse = match *magic {
        elf::MAGIC => code_object,
        compressed::MAGIC => compressed_bundle,
        _ if plain::MAGIC.starts_with(magic) => plain_bundle,
        magic => return Err(Error::UnknownFormat { magic }),
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
    const WHAT: &str = "ELF header";
    let long = |at| wire::u64(prefix, at, WHAT);
    let short = |at| wire::u16(prefix, at, WHAT).map(usize::from);
    let malformed = |table| Error::Elf { table, detail: "its size makes no sense".to_owned() };
    let mut end = ELF_HEADER_BYTES as u64;
    for (table, offset, bytes, entry, count) in [
        ("program headers", long(32)?, PROGRAM_HEADER_BYTES, short(54)?, short(56)?),
        ("section headers", long(40)?, SECTION_HEADER_BYTES, short(58)?, short(60)?),
    ] {
        if count == 0 {
            continue;
        }
        let table_end = offset.checked_add((bytes * count) as u64).filter(|&end| end <= isize::MAX as u64);
        let table_end = table_end.filter(|_| entry == bytes).ok_or(malformed(table))?;
        end = end.max(table_end);
        // CAST: not above isize::MAX.
        let start = offset as usize;
        let available = prefix.len().saturating_sub(start) as u64;
        let needed = (bytes * count) as u64;
        if available < needed {
            return Err(Error::Truncated { what: table, offset, needed, available });
        }
        for at in (start..).step_by(bytes).take(count) {
            let (start, size) = if bytes == PROGRAM_HEADER_BYTES {
                (long(at + 8)?, long(at + 32)?)
            } else if wire::u32(prefix, at + 4, table)? == SECTION_WITHOUT_BYTES {
                continue;
            } else {
                (long(at + 24)?, long(at + 32)?)
            };
            let part_end = start.checked_add(size).filter(|&end| end <= isize::MAX as u64);
            end = end.max(part_end.ok_or(malformed(table))?);
        }
    }
    // CAST: not above isize::MAX.
    Ok(end as usize)
}
