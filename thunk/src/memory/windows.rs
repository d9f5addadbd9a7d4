//! Addresses without memory of their own, and what memory shows there.
//!
//! ROCr reserves addresses here and maps memory for the host itself, with `mmap` of a descriptor of ours, and gives it
//! back with `munmap`. What lies at an address of a reservation may therefore be a hole, or another mapping of the
//! process that the kernel has put into that hole. Only what is known as ours is ever replaced or given back.

use std::{
    collections::BTreeMap,
    fs, io,
    mem::ManuallyDrop,
    sync::{Arc, Weak},
};

use emulator::os::{Mapping, SharedMemory};
use parking_lot::Mutex;

/// Reserved addresses.
pub(crate) struct Reservation {
    mapping: ManuallyDrop<Mapping>,
    /// By first address.
    windows: Mutex<BTreeMap<u64, Known>>,
}

/// A window and where it ends. A reference to it that is the last must not go while the table is locked, so that none
/// is taken there but to return it.
struct Known {
    end: u64,
    offset: u64,
    inode: u64,
    window: Weak<Window>,
}

/// Memory that shows in a reservation until neither the client nor a wave needs it there.
pub(crate) struct Window {
    reservation: Arc<Reservation>,
    memory: Arc<SharedMemory>,
    start: u64,
    size: u64,
}

impl Reservation {
    /// Takes over reserved addresses.
    pub(crate) fn new(mapping: Mapping) -> Self {
        Self { mapping: ManuallyDrop::new(mapping), windows: Mutex::default() }
    }

    /// Shows `size` bytes of `memory` from `offset` at address `start`, also to the host: devices have its addresses.
    ///
    /// # Errors
    /// `InvalidInput` if the range leaves the reservation or the memory; otherwise the kernel's.
    pub(crate) fn show(
        self: &Arc<Self>,
        memory: &Arc<SharedMemory>,
        offset: u64,
        start: u64,
        size: u64,
    ) -> io::Result<Arc<Window>> {
        let inside = offset.checked_add(size).is_some_and(|end| size > 0 && end <= memory.size() as u64);
        let at = start
            .checked_sub(self.mapping.address())
            .filter(|_| inside)
            .ok_or(io::ErrorKind::InvalidInput)?;
        let end = start.checked_add(size).ok_or(io::ErrorKind::InvalidInput)?;
        let mut windows = self.windows.lock();
        let inode = memory.inode();
        let same = |known: &&Known| (known.end, known.offset, known.inode) == (end, offset, inode);
        if let Some(window) = windows.get(&start).filter(same).and_then(|known| known.window.upgrade()) {
            // Another device has it there already.
            return Ok(window);
        }
        // CAST: offsets below sizes that are a usize.
        self.mapping.show(at as usize, memory, offset as usize, size as usize)?;
        let window =
            Arc::new(Window { reservation: Arc::clone(self), memory: Arc::clone(memory), start, size });
        // A window that a wave still needs does not come back when it goes: its addresses are the new one's.
        windows.retain(|&other, known| known.end <= start || other >= end);
        windows.insert(start, Known { end, offset, inode, window: Arc::downgrade(&window) });
        Ok(window)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let (start, end) = (self.mapping.address(), self.mapping.address() + self.mapping.size() as u64);
        for piece in pieces(start, end) {
            // Nothing else of the process is without access and without a file in addresses that were reserved.
            if piece.is_reserved || piece.inode != 0 && piece.is_memory_file {
                // SAFETY: the piece is a part of the reservation that still is ours, and no window needs it.
                unsafe { libc::munmap(piece.start as *mut libc::c_void, (piece.end - piece.start) as usize) };
            }
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let mut windows = self.reservation.windows.lock();
        if !windows.get(&self.start).is_some_and(|known| std::ptr::eq(known.window.as_ptr(), self)) {
            return;
        }
        windows.remove(&self.start);
        for piece in pieces(self.start, self.start + self.size) {
            if piece.is_memory_file && piece.inode == self.memory.inode() {
                let at = (piece.start - self.reservation.mapping.address()) as usize;
                if let Err(error) = self.reservation.mapping.hide(at, (piece.end - piece.start) as usize) {
                    tracing::warn!(%error, "memory stays visible at {:#x}", piece.start);
                }
            }
        }
    }
}

/// A part of the process's address space.
struct Piece {
    start: u64,
    end: u64,
    inode: u64,
    is_reserved: bool,
    is_memory_file: bool,
}

/// What lies at `start..end`, cut to it.
fn pieces(start: u64, end: u64) -> Vec<Piece> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines()
        .filter_map(parse)
        .filter(|piece| piece.start < end && start < piece.end)
        .map(|piece| Piece { start: piece.start.max(start), end: piece.end.min(end), ..piece })
        .collect()
}

/// A line of `/proc/self/maps`: range, rights, offset, device, inode, path.
fn parse(line: &str) -> Option<Piece> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let (rights, inode) = (words.next()?, words.nth(2)?);
    let path = words.next().unwrap_or_default();
    Some(Piece {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        inode: inode.parse().ok()?,
        is_reserved: rights == "---p" && path.is_empty(),
        is_memory_file: path.starts_with("/memfd:"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use emulator::os::PAGE;

    const SIZE: u64 = PAGE as u64;

    fn word(address: u64) -> &'static std::sync::atomic::AtomicU32 {
        // SAFETY: callers have memory shown there, which is aligned.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(address as *mut u32) }
    }

    fn reserved(pages: usize) -> (Arc<Reservation>, u64) {
        let mapping = Mapping::reserve_aligned(pages * PAGE, 0).unwrap();
        let base = mapping.address();
        (Arc::new(Reservation::new(mapping)), base)
    }

    fn memory() -> Arc<SharedMemory> {
        Arc::new(SharedMemory::new(c"test", 2 * PAGE).unwrap())
    }

    fn lies_at(address: u64) -> Option<(u64, bool)> {
        pieces(address, address + SIZE).first().map(|piece| (piece.inode, piece.is_reserved))
    }

    #[test]
    fn memory_shows_wherever_it_is_mapped_and_no_longer_than_that() {
        use std::sync::atomic::Ordering::Relaxed;
        let (reservation, base) = reserved(4);
        let memory = memory();
        let first = reservation.show(&memory, 0, base, 2 * SIZE).unwrap();
        let second = reservation.show(&memory, SIZE, base + 3 * SIZE, SIZE).unwrap();
        word(base + SIZE).store(7, Relaxed);
        assert_eq!(word(base + 3 * SIZE).load(Relaxed), 7);
        let again = reservation.show(&memory, 0, base, 2 * SIZE).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        drop(first);
        assert_eq!(lies_at(base), Some((memory.inode(), false)), "the other device still has it there");
        drop(again);
        assert_eq!(lies_at(base), Some((0, true)));
        drop(second);
        drop(reservation);
        assert_eq!(lies_at(base), None);
    }

    #[test]
    fn a_window_that_is_late_to_go_leaves_its_successor_alone() {
        let (reservation, base) = reserved(2);
        let (old, new) = (memory(), memory());
        let late = reservation.show(&old, 0, base, 2 * SIZE).unwrap();
        let _kept = reservation.show(&new, 0, base + SIZE, SIZE).unwrap();
        drop(late);
        assert_eq!(lies_at(base + SIZE), Some((new.inode(), false)));
    }

    #[test]
    fn what_the_kernel_put_into_a_hole_is_not_touched() {
        let (reservation, base) = reserved(3);
        let memory = memory();
        let window = reservation.show(&memory, 0, base, 2 * SIZE).unwrap();
        // As ROCr ends the host's access.
        // SAFETY: the range is the test's.
        assert_eq!(unsafe { libc::munmap(base as *mut libc::c_void, PAGE) }, 0);
        let foreign = Mapping::anonymous_at(base, PAGE).unwrap();
        drop(window);
        assert_eq!(lies_at(base + SIZE), Some((0, true)));
        drop(reservation);
        word(foreign.address()).store(1, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(lies_at(base + SIZE), None);
    }

    #[test]
    fn nothing_shows_outside() {
        let (reservation, base) = reserved(2);
        let memory = memory();
        for (offset, start, size) in [
            (0, base - SIZE, SIZE),
            (0, base + SIZE, 2 * SIZE),
            (SIZE, base, 2 * SIZE),
            (0, base, 0),
            (u64::MAX - SIZE + 1, base, SIZE),
        ] {
            assert!(reservation.show(&memory, offset, start, size).is_err(), "{offset:#x} {size:#x}");
        }
    }
}
