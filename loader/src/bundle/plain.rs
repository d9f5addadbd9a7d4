//! `__CLANG_OFFLOAD_BUNDLE__` (LLVM ClangOffloadBundler, "Bundled Code Object Layout").

use super::Entry;
use crate::{Bytes, Error, Result, wire};

pub(super) const MAGIC: &[u8; 24] = b"__CLANG_OFFLOAD_BUNDLE__";
/// Bytes before the first entry's description: the magic number and the count.
pub(super) const HEADER_BYTES: usize = 32;

/// Compilers write one entry per target; there are some 60 processors, with up to 9 feature settings each.
pub(super) const MAX_ENTRIES: u64 = 4096;
/// Longer than any id that a compiler writes.
pub(super) const MAX_ID_BYTES: u64 = 4096;

/// The description of an entry.
pub(super) struct Description {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) id: std::ops::Range<usize>,
}

/// Reads the count of entries.
pub(super) fn count(bytes: &[u8]) -> Result<u64> {
    let entries = wire::u64(bytes, MAGIC.len(), "bundle header")?;
    if entries > MAX_ENTRIES { Err(Error::BundleEntries { entries }) } else { Ok(entries) }
}

/// Reads the description of entry `index` at `at`; the next one starts where its id ends.
pub(super) fn description(bytes: &[u8], at: usize, index: u64) -> Result<Description> {
    const WHAT: &str = "bundle entry";
    let word = |n: usize| wire::u64(bytes, at + 8 * n, WHAT);
    let (offset, size, id_bytes) = (word(0)?, word(1)?, word(2)?);
    if id_bytes > MAX_ID_BYTES || offset.checked_add(size).is_none_or(|end| end > isize::MAX as u64) {
        return Err(Error::BundleEntry { index, offset: at as u64 });
    }
    // CAST: not above 4096.
    let (start, id_bytes) = (at + 24, id_bytes as usize);
    if bytes.len() < start + id_bytes {
        let available = bytes.len().saturating_sub(start) as u64;
        return Err(Error::Truncated {
            what: WHAT,
            offset: start as u64,
            needed: id_bytes as u64,
            available,
        });
    }
    Ok(Description { offset, size, id: start..start + id_bytes })
}

/// Reads the entries, and the bytes that the whole bundle has.
pub(super) fn entries<'a>(bytes: &Bytes<'a>) -> Result<(Vec<Entry<'a>>, usize)> {
    if !bytes.starts_with(MAGIC) {
        return Err(Error::unknown_format(bytes));
    }
    let mut entries = Vec::new();
    let mut at = HEADER_BYTES;
    let mut extent = at;
    for index in 0..count(bytes)? {
        let Description { offset, size, id } = description(bytes, at, index)?;
        // CAST: the sum of both was checked against isize::MAX.
        let (start, end) = (offset as usize, (offset + size) as usize);
        let malformed = Error::BundleEntry { index, offset: at as u64 };
        at = id.end;
        extent = extent.max(at).max(end);
        let Ok(id) = std::str::from_utf8(&bytes[id]) else { return Err(malformed) };
        let part = bytes.slice(start..end).ok_or(malformed)?;
        entries.push(Entry::new(id.into(), part));
    }
    Ok((entries, extent))
}
