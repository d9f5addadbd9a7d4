//! Little-endian fields read from untrusted bytes.

use crate::{Error, Result};

/// Reads `N` bytes at `offset`, or says which structure is cut off.
pub(crate) fn array<const N: usize>(bytes: &[u8], offset: usize, what: &'static str) -> Result<[u8; N]> {
    let rest = bytes.get(offset..).unwrap_or_default();
    rest.first_chunk().copied().ok_or(Error::Truncated {
        what,
        offset: offset as u64,
        needed: N as u64,
        available: rest.len() as u64,
    })
}

pub(crate) fn u16(bytes: &[u8], offset: usize, what: &'static str) -> Result<u16> {
    array(bytes, offset, what).map(u16::from_le_bytes)
}

pub(crate) fn u32(bytes: &[u8], offset: usize, what: &'static str) -> Result<u32> {
    array(bytes, offset, what).map(u32::from_le_bytes)
}

pub(crate) fn u64(bytes: &[u8], offset: usize, what: &'static str) -> Result<u64> {
    array(bytes, offset, what).map(u64::from_le_bytes)
}
