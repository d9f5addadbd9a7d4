//! Addresses without memory of their own, and what memory shows there.
//!
//! ROCr reserves addresses here and maps memory for the host itself, with `mmap` of a descriptor of ours, and gives it
//! back with `munmap`. What lies at an address of a reservation may therefore be a hole, or another mapping of the
//! process that the kernel has put into that hole. Only what is known as ours by its file is ever replaced or given back.

use std::{
    collections::BTreeMap,
    io,
    mem::ManuallyDrop,
    sync::{Arc, OnceLock, Weak},
};

use emulator::{
    driver::Bytes,
    os::{self, Mapping, PAGE, Piece, SharedMemory},
};
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
    /// The file, and where in it the window begins.
    place: (u64, usize),
    window: Weak<Window>,
}

/// Memory that shows in a reservation until neither the client nor a wave needs it there.
pub(crate) struct Window {
    reservation: Arc<Reservation>,
    bytes: Arc<Bytes>,
    start: u64,
    end: u64,
}

impl Reservation {
    /// Makes reserved addresses recognisable.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn new(mapping: Mapping) -> io::Result<Self> {
        let end = mapping.address() + mapping.size() as u64;
        // SAFETY: the whole mapping is ours, and nothing has its addresses yet.
        unsafe { close(mapping.address(), end) }?;
        Ok(Self { mapping: ManuallyDrop::new(mapping), windows: Mutex::default() })
    }

    /// Shows `size` bytes of `bytes` from `offset` at address `start`, also to the host: devices have its addresses.
    /// The caller has checked that there are so many.
    ///
    /// # Errors
    /// `InvalidInput` if the range leaves the reservation; otherwise the kernel's.
    pub(crate) fn show(
        self: &Arc<Self>,
        bytes: &Arc<Bytes>,
        offset: u64,
        start: u64,
        size: u64,
    ) -> io::Result<Arc<Window>> {
        let at = start.checked_sub(self.mapping.address()).ok_or(io::ErrorKind::InvalidInput)?;
        let end = start.checked_add(size).ok_or(io::ErrorKind::InvalidInput)?;
        let (file, base) = bytes.place();
        // CAST: offsets and sizes within memory that has them as a usize.
        let place = (file.inode(), base + offset as usize);
        let mut windows = self.windows.lock();
        let same = |known: &&Known| (known.end, known.place) == (end, place);
        if let Some(window) = windows.get(&start).filter(same).and_then(|known| known.window.upgrade()) {
            // Another device has it there already.
            return Ok(window);
        }
        self.mapping.show(at as usize, file, place.1, size as usize)?;
        let window = Arc::new(Window { reservation: Arc::clone(self), bytes: Arc::clone(bytes), start, end });
        // A window that a wave still needs does not come back when it goes: its addresses are the new one's.
        windows.retain(|&other, known| known.end <= start || other >= end);
        windows.insert(start, Known { end, place, window: Arc::downgrade(&window) });
        Ok(window)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let end = self.mapping.address() + self.mapping.size() as u64;
        let Ok(file) = closed() else { return };
        for (start, end) in pieces_of(file.inode(), self.mapping.address(), end) {
            // SAFETY: nothing else maps that file: the piece still is the reservation's, and no window needs it.
            unsafe { libc::munmap(start as *mut libc::c_void, (end - start) as usize) };
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
        let (file, _) = self.bytes.place();
        for (start, end) in pieces_of(file.inode(), self.start, self.end) {
            // SAFETY: the piece is a part of the reservation and shows the window's memory, which no other window has there.
            if let Err(error) = unsafe { close(start, end) } {
                tracing::warn!(%error, "memory stays visible at {start:#x}");
            }
        }
    }
}

/// The file that reserved addresses are mapped to, without access: it tells them from any other mapping.
fn closed() -> io::Result<&'static SharedMemory> {
    static FILE: OnceLock<SharedMemory> = OnceLock::new();
    if FILE.get().is_none() {
        let file = SharedMemory::new(c"aqlipse-reserved", PAGE)?;
        // Of two threads one wins; the other's file goes.
        let _ = FILE.set(file);
    }
    FILE.get().ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Turns addresses into reserved ones.
///
/// # Safety
/// They are mapped, whole pages, and the caller's to replace.
unsafe fn close(start: u64, end: u64) -> io::Result<()> {
    let flags = libc::MAP_SHARED | libc::MAP_FIXED;
    let (place, size) = (start as *mut libc::c_void, (end - start) as usize);
    // SAFETY: the caller's promise. Behind the file's end there is nothing, which no access is allowed to find out.
    let base = unsafe { libc::mmap(place, size, libc::PROT_NONE, flags, closed()?.descriptor(), 0) };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The parts of `start..end` that are mapped to a file.
fn pieces_of(inode: u64, start: u64, end: u64) -> Vec<(u64, u64)> {
    let cut = |piece: Piece| (piece.start.max(start), piece.end.min(end));
    os::pieces(start, end).into_iter().filter(|piece| piece.inode == inode).map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = PAGE as u64;

    fn word(address: u64) -> &'static std::sync::atomic::AtomicU32 {
        // SAFETY: callers have memory shown there, which is aligned.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(address as *mut u32) }
    }

    fn reserved(pages: usize) -> (Arc<Reservation>, u64) {
        let mapping = Mapping::reserve_aligned(pages * PAGE, 0).unwrap();
        let base = mapping.address();
        (Arc::new(Reservation::new(mapping).unwrap()), base)
    }

    fn memory() -> Arc<Bytes> {
        Arc::new(SharedMemory::new(c"test", 2 * PAGE).unwrap().into())
    }

    fn inode(bytes: &Bytes) -> u64 {
        bytes.place().0.inode()
    }

    /// The inode of what lies at an address.
    fn lies_at(address: u64) -> Option<u64> {
        os::pieces(address, address + 1).first().map(|piece| piece.inode)
    }

    fn is_reserved(address: u64) -> bool {
        lies_at(address) == Some(closed().unwrap().inode())
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
        assert_eq!(lies_at(base), Some(inode(&memory)), "the other device still has it there");
        drop(again);
        assert!(is_reserved(base));
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
        assert_eq!(lies_at(base + SIZE), Some(inode(&new)));
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
        assert!(is_reserved(base + SIZE));
        drop(reservation);
        word(foreign.address()).store(1, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(lies_at(base + SIZE), None);
    }

    #[test]
    fn nothing_shows_outside() {
        let (reservation, base) = reserved(2);
        let memory = memory();
        for (offset, start, size) in
            [(0, base - SIZE, SIZE), (0, base + SIZE, 2 * SIZE), (0, base, 3 * SIZE), (0, base, u64::MAX)]
        {
            assert!(reservation.show(&memory, offset, start, size).is_err(), "{offset:#x} {size:#x}");
        }
    }
}
