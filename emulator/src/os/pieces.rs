//! What the process's address space is made of, as the kernel tells.

use std::{
    fs::{self, File},
    io,
    os::fd::AsRawFd,
};

/// A part of the process's address space: one mapping, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First address.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Of the file behind it; 0 without one.
    pub inode: u64,
    /// Whether the process may load from it.
    pub readable: bool,
    /// Whether the process may store to it.
    pub writable: bool,
    /// Whether stores are those of all that map the file.
    pub shared: bool,
}

/// The mappings that `start..end` touches, in order.
pub fn pieces(start: u64, end: u64) -> Vec<Piece> {
    let Ok(maps) = File::open("/proc/self/maps") else { return Vec::new() };
    let mut pieces = Vec::new();
    let mut at = start;
    while at < end {
        match piece_at_or_above(&maps, at) {
            Ok(Some(piece)) if piece.start < end => {
                at = piece.end;
                pieces.push(piece);
            }
            Ok(_) => break,
            // A kernel before 6.11 lists the whole address space.
            Err(_) => return listed(start, end),
        }
    }
    pieces
}

fn listed(start: u64, end: u64) -> Vec<Piece> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let inside = |piece: &Piece| piece.start < end && start < piece.end;
    maps.lines().filter_map(parse).filter(inside).collect()
}

/// `struct procmap_query` (`linux/fs.h`).
#[repr(C)]
#[derive(Default)]
struct Query {
    size: u64,
    flags: u64,
    address: u64,
    start: u64,
    end: u64,
    vma_flags: u64,
    page_size: u64,
    offset: u64,
    inode: u64,
    device: [u32; 2],
    name_size: u32,
    build_id_size: u32,
    name: u64,
    build_id: u64,
}

const _: () = assert!(size_of::<Query>() == 104);

/// `PROCMAP_QUERY`, `PROCMAP_QUERY_COVERING_OR_NEXT_VMA` and `PROCMAP_QUERY_VMA_*`.
const QUERY: libc::Ioctl = 0xc068_6611_u32 as libc::Ioctl;
const COVERING_OR_NEXT: u64 = 0x10;
const READABLE: u64 = 1;
const WRITABLE: u64 = 2;
const SHARED: u64 = 8;

/// The mapping that contains an address, else the next one above; `None` if there is none.
fn piece_at_or_above(maps: &File, address: u64) -> io::Result<Option<Piece>> {
    let size = size_of::<Query>() as u64;
    let mut query = Query { size, flags: COVERING_OR_NEXT, address, ..Query::default() };
    // SAFETY: the structure is the command's, and asks for no name.
    if unsafe { libc::ioctl(maps.as_raw_fd(), QUERY, &raw mut query) } == 0 {
        return Ok(Some(Piece {
            start: query.start,
            end: query.end,
            inode: query.inode,
            readable: query.vma_flags & READABLE != 0,
            writable: query.vma_flags & WRITABLE != 0,
            shared: query.vma_flags & SHARED != 0,
        }));
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
        error => Err(error),
    }
}

/// A line of `/proc/self/maps`: range, rights, offset, device, inode, path.
fn parse(line: &str) -> Option<Piece> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    Some(Piece {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        inode: words.nth(2)?.parse().ok()?,
        readable: rights.contains('r'),
        writable: rights.contains('w'),
        shared: rights.contains('s'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::{Mapping, PAGE, SharedMemory};

    #[test]
    fn the_kernel_and_its_list_say_the_same() {
        let file = SharedMemory::new(c"test", 2 * PAGE).unwrap();
        let shown = Mapping::of(&file, 0, 2 * PAGE).unwrap();
        let reserved = Mapping::reserve_aligned(2 * PAGE, 0).unwrap();
        for (mapping, inode, rights) in [(&shown, file.inode(), true), (&reserved, 0, false)] {
            let (base, size) = (mapping.address(), mapping.size() as u64);
            let list = listed(base, base + size);
            assert!(list.iter().all(|piece| piece.inode == inode && piece.writable == rights), "{list:?}");
            assert!(list.iter().all(|piece| piece.readable == rights && piece.shared == rights));
            assert_eq!(pieces(base, base + size), list);
        }
    }
}
