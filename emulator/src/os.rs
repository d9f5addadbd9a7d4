//! The few things asked of the kernel: address space, shared files, futexes, the clock, the machine's size.

mod event;
pub mod hidden;
#[cfg(test)]
mod model;
mod pieces;
mod shared;

pub use event::Event;
pub use pieces::{Piece, pieces};
pub use shared::{SharedMemory, is_process, name_of};

use std::{
    io,
    ptr::NonNull,
    sync::atomic::{AtomicU32, Ordering, fence},
    time::Duration,
};

/// Size of a page, the granule of every memory pool.
pub const PAGE: usize = 4096;

/// Rounds up to whole pages; `None` on overflow.
pub fn pages(size: usize) -> Option<usize> {
    size.checked_next_multiple_of(PAGE)
}

/// A range of address space of our own, given back when dropped.
pub struct Mapping {
    base: NonNull<u8>,
    size: usize,
    /// Whether devices have a mapping of their own ([`hidden`]).
    hidden: bool,
}

// SAFETY: a mapping is an address and a size; what is stored behind it is reached by raw pointers
// whose users answer for their races themselves.
unsafe impl Send for Mapping {}
// SAFETY: as above; no method reads or writes the memory.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `size` bytes (whole pages) of zeros that cost nothing until they are touched.
    ///
    /// # Errors
    /// The kernel's, usually that there is no such room.
    pub fn anonymous(size: usize) -> io::Result<Self> {
        Self::map(size, libc::PROT_READ | libc::PROT_WRITE)
    }

    /// Takes `size` bytes of address space that no thread may touch yet, from a multiple of `alignment` (a power
    /// of two) on.
    ///
    /// # Errors
    /// The kernel's; `InvalidInput` if the sum overflows.
    pub fn reserve_aligned(size: usize, alignment: usize) -> io::Result<Self> {
        Self::map_aligned(size, alignment, libc::PROT_NONE)
    }

    /// As [`Mapping::anonymous`], with a base that is a multiple of `alignment` (a power of two).
    ///
    /// # Errors
    /// The kernel's; `InvalidInput` if the sum overflows.
    pub fn anonymous_aligned(size: usize, alignment: usize) -> io::Result<Self> {
        Self::map_aligned(size, alignment, libc::PROT_READ | libc::PROT_WRITE)
    }

    /// As [`Mapping::anonymous`], at `address` (whole pages) and nowhere else.
    ///
    /// # Errors
    /// The kernel's; `AlreadyExists` if something is mapped there.
    pub fn anonymous_at(address: u64, size: usize) -> io::Result<Self> {
        Self::map_at(address, size, libc::PROT_READ | libc::PROT_WRITE)
    }

    /// As [`Mapping::anonymous_at`], without access.
    ///
    /// # Errors
    /// As there.
    pub fn reserve_at(address: u64, size: usize) -> io::Result<Self> {
        Self::map_at(address, size, libc::PROT_NONE)
    }

    fn map_at(address: u64, size: usize, protection: libc::c_int) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        let wanted = address as *mut libc::c_void;
        // SAFETY: the kernel refuses to replace what is mapped.
        let base = unsafe { libc::mmap(wanted, size, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapping =
            Self { base: NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?, size, hidden: false };
        // Kernels before 4.17 take the address as a hint.
        if base == wanted { Ok(mapping) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    }

    fn map_aligned(size: usize, alignment: usize, protection: libc::c_int) -> io::Result<Self> {
        if alignment <= PAGE {
            return Self::map(size, protection);
        }
        let padded = size.checked_add(alignment).ok_or(io::ErrorKind::InvalidInput)?;
        let whole = Self::map(padded, protection)?;
        let base = whole.address() as usize;
        let start = base.next_multiple_of(alignment);
        let (below, above) = (start - base, padded - size - (start - base));
        std::mem::forget(whole);
        // SAFETY: both pieces lie inside the mapping just made and outside the part that is kept.
        unsafe {
            if below > 0 {
                libc::munmap(base as *mut libc::c_void, below);
            }
            if above > 0 {
                libc::munmap((start + size) as *mut libc::c_void, above);
            }
        }
        let base = NonNull::new(start as *mut u8).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, size, hidden: false })
    }

    fn map(size: usize, protection: libc::c_int) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice replaces nothing.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, size, hidden: false })
    }

    /// As [`Mapping::reserve_aligned`], for memory of devices: hidden from the host if such memory is.
    ///
    /// # Errors
    /// As there.
    pub fn reserve_for_devices(size: usize, alignment: usize) -> io::Result<Self> {
        if !hidden::is_on() {
            return Self::reserve_aligned(size, alignment);
        }
        Self::reserve_hidden(hidden::take(size, alignment)?, size)
    }

    /// As [`Mapping::reserve_for_devices`], at `address` (whole pages) and nowhere else.
    ///
    /// # Errors
    /// The kernel's; `AlreadyExists` if something is mapped there; `OutOfMemory` where nothing can be hidden.
    pub fn reserve_for_devices_at(address: u64, size: usize) -> io::Result<Self> {
        if !hidden::is_on() {
            return Self::reserve_at(address, size);
        }
        hidden::take_at(address, size)?;
        Self::reserve_hidden(address, size)
    }

    fn reserve_hidden(start: u64, size: usize) -> io::Result<Self> {
        let host = Self::reserve_at(start, size)?;
        let devices = Self::reserve_at(hidden::of_device(start), size)?;
        std::mem::forget(devices);
        let base = host.base;
        std::mem::forget(host);
        Ok(Self { base, size, hidden: true })
    }

    /// Zeros of a device's memory, from a multiple of `alignment` (a power of two) on: hidden from the host if such memory
    /// is.
    ///
    /// # Errors
    /// The kernel's.
    pub fn of_devices(size: usize, alignment: usize) -> io::Result<Self> {
        if !hidden::is_on() {
            return Self::anonymous_aligned(size, alignment);
        }
        let mapping = Self::reserve_for_devices(size, alignment)?;
        mapping.show(0, &SharedMemory::new(c"aqlipse-device-memory", size)?, 0, size)?;
        Ok(mapping)
    }

    /// Maps `size` bytes (whole pages) of `file`, which has memory of devices, from `offset`, shared with all other
    /// mappings of them.
    ///
    /// # Errors
    /// As [`Mapping::show`].
    pub fn of(file: &SharedMemory, offset: usize, size: usize) -> io::Result<Self> {
        let mapping = Self::reserve_for_devices(size, 0)?;
        mapping.show(0, file, offset, size)?;
        Ok(mapping)
    }

    /// First address.
    pub fn address(&self) -> u64 {
        self.base.as_ptr() as u64
    }

    /// The base as a pointer.
    pub fn pointer(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Where devices reach the memory: the base, or their mapping of what is hidden from the host.
    pub fn of_device(&self) -> *mut u8 {
        hidden::at(self.address())
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Shows `size` bytes of `file` from `offset` at `at` bytes into this mapping, shared.
    ///
    /// # Errors
    /// `InvalidInput` if the range leaves the mapping, otherwise the kernel's.
    pub fn show(&self, at: usize, file: &SharedMemory, offset: usize, size: usize) -> io::Result<()> {
        self.check(at, size)?;
        let fixed = libc::MAP_SHARED | libc::MAP_FIXED;
        let offset = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let map = |base: *mut u8, protection| {
            let place = base.wrapping_add(at).cast();
            // SAFETY: the range lies inside this mapping, which is ours to replace.
            let base = unsafe { libc::mmap(place, size, protection, fixed, file.descriptor(), offset) };
            if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
        };
        if self.hidden {
            map(self.pointer(), libc::PROT_NONE)?;
        }
        map(self.of_device(), protection)
    }

    /// Turns a part of this mapping back into reserved address space.
    ///
    /// # Errors
    /// As [`Mapping::show`].
    pub fn hide(&self, at: usize, size: usize) -> io::Result<()> {
        self.check(at, size)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        let hide = |base: *mut u8| {
            let place = base.wrapping_add(at).cast();
            // SAFETY: the range lies inside this mapping, which is ours to replace.
            let base = unsafe { libc::mmap(place, size, libc::PROT_NONE, flags, -1, 0) };
            if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
        };
        if self.hidden {
            hide(self.pointer())?;
        }
        hide(self.of_device())
    }

    fn check(&self, at: usize, size: usize) -> io::Result<()> {
        match at.checked_add(size) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let devices = self.hidden.then(|| self.of_device());
        for base in std::iter::once(self.pointer()).chain(devices) {
            // SAFETY: the mapping is ours, and the owners of pointers into it keep it alive.
            let result = unsafe { libc::munmap(base.cast(), self.size) };
            if result != 0 {
                // The process has as many mappings as it may: splitting one more fails. The address
                // space is lost, the memory is not.
                // SAFETY: as above.
                unsafe { libc::madvise(base.cast(), self.size, libc::MADV_DONTNEED) };
            }
        }
    }
}

/// Sleeps while `word` holds `expected`, at most `timeout`; may return early for no reason.
pub fn futex_wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    let time = timeout.map(|t| libc::timespec {
        tv_sec: libc::time_t::try_from(t.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: t.subsec_nanos().into(),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: `word` and `time` outlive the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, expected, time) };
}

/// Lets the calling thread's timeouts end within a microsecond, instead of the fifty that Linux adds to them.
pub fn sleep_precisely() {
    // SAFETY: the call changes a number of the calling thread; a kernel that refuses leaves it as it was.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000_u64) };
}

/// Wakes every thread that sleeps on `word`.
pub fn futex_wake(word: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: `word` outlives the call; nothing is dereferenced but by the kernel.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, i32::MAX) };
}

/// Nanoseconds since the machine started: the HSA system timestamp.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut time) };
    // CAST: neither is negative.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The core that the calling thread runs on; it may be on another one at once.
pub fn core() -> u32 {
    // SAFETY: the call reads a number.
    let core = unsafe { libc::sched_getcpu() };
    // Where the system does not tell, all threads seem to be on one core, and none looks for long.
    u32::try_from(core).unwrap_or(0)
}

/// Whether every page of `start..end` is mapped in this process.
pub fn is_mapped(start: u64, end: u64) -> bool {
    resident(start, end).is_some()
}

/// How many pages of `start..end` have memory; `None` if one is not mapped in this process.
pub fn resident(start: u64, end: u64) -> Option<u64> {
    const CHUNK: u64 = 1024;
    let page = PAGE as u64;
    let (mut at, end) = (start / page * page, end.saturating_add(page - 1) / page * page);
    let (mut count, mut residency) = (0, [0u8; CHUNK as usize]);
    while at < end {
        let size = (end - at).min(CHUNK * page);
        // SAFETY: the kernel checks the range; the answer has room for one byte per page.
        let result = unsafe { libc::mincore(at as *mut libc::c_void, size as usize, residency.as_mut_ptr()) };
        if result != 0 {
            return None;
        }
        let pages = &residency[..(size / page) as usize];
        count += pages.iter().map(|known| u64::from(known & 1)).sum::<u64>();
        at += size;
    }
    Some(count)
}

/// Gives all pages of `start..end` memory; whether the kernel knows how (Linux 5.14).
pub fn populate(start: u64, end: u64) -> bool {
    // SAFETY: no page changes; the kernel checks the range.
    unsafe {
        libc::madvise(start as *mut libc::c_void, (end - start) as usize, libc::MADV_POPULATE_READ) == 0
    }
}

/// Bytes of physical memory.
pub fn physical_memory() -> u64 {
    // SAFETY: sysconf reads numbers.
    let (count, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    match (u64::try_from(count), u64::try_from(size)) {
        (Ok(count), Ok(size)) => count.saturating_mul(size),
        _ => 1 << 30,
    }
}

/// Bytes that a file of this process may have at most.
pub fn most_of_a_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is a structure of ours.
    let asked = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    if asked == 0 { limit.rlim_cur } else { 0 }
}

impl Event {
    /// An event that no thread sleeps on.
    pub const fn new() -> Self {
        Self { sequence: AtomicU32::new(0), sleepers: AtomicU32::new(0) }
    }
}
