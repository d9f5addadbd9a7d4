//! One page of memory that processes share: a header that says what it is, words that each of them changes, a futex.
//!
//! The page is a memfd that cannot shrink, so no process that has the descriptor can make an access to it fault. Its
//! words are untrusted: they are only compared and counted. `capi/include/aqlipse/semaphore.h` is the same layout for
//! C.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use memmap2::{MmapOptions, MmapRaw};

use crate::{
    error::{Error, Result, explain},
    memfd,
};

/// `AQLIPSEM`, read as a little-endian number.
const MAGIC: u64 = u64::from_le_bytes(*b"AQLIPSEM");
const VERSION: u32 = 1;
/// Bytes of the object.
const SIZE: usize = 4096;

/// The bits of a promised value; above is room for any process of Linux (`PID_MAX_LIMIT` is 2^22).
const NUMBER: u64 = (1 << 42) - 1;

/// What a page is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    /// `value` is 1 while the semaphore is signalled.
    Binary = 1,
    /// `value` only grows.
    Timeline = 2,
    /// `value` is the number of the latest record that was reached, `issued` that of the latest that was made, and the process
    /// that made it.
    Event = 5,
    /// `value` is the ordinal of the device whose memory the pool hands out.
    Pool = 4,
}

/// The first words of the page.
#[repr(C)]
struct Words {
    magic: AtomicU64,
    version: AtomicU32,
    kind: AtomicU32,
    value: AtomicU64,
    /// Grows with every change of `value`; the futex.
    sequence: AtomicU32,
    reserved: AtomicU32,
    /// The latest value that was promised, and above [`NUMBER`] the process that did; only events use it.
    issued: AtomicU64,
}

const _: () = {
    assert!(std::mem::offset_of!(Words, version) == 8 && std::mem::offset_of!(Words, kind) == 12);
    assert!(std::mem::offset_of!(Words, value) == 16 && std::mem::offset_of!(Words, sequence) == 24);
    assert!(size_of::<Words>() == 40 && size_of::<Words>() <= SIZE);
};

/// The page, mapped into this process.
pub(super) struct Page(MmapRaw);

/// The error for what the operating system has refused.
pub(super) fn refused(what: &str, error: io::Error) -> Error {
    match error.raw_os_error() {
        Some(libc::ENOMEM | libc::EMFILE | libc::ENFILE) => {
            explain(format_args!("{what}: {error}"));
            Error::OutOfMemory { bytes: SIZE }
        }
        _ => Error::OperatingSystem(format!("{what}: {error}")),
    }
}

impl Page {
    /// Makes a page, and the descriptor by which other processes map it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] without a descriptor or memory left, [`Error::OperatingSystem`].
    pub(super) fn create(kind: Kind, value: u64) -> Result<(OwnedFd, Self)> {
        let make = || {
            let file = memfd::create(c"aqlipse-semaphore")?;
            file.set_len(SIZE as u64)?;
            memfd::seal(&file, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL)?;
            let page = Self::map(file.as_fd())?;
            Ok((file.into(), page))
        };
        let (descriptor, page) = make().map_err(|error| refused("a page of shared memory", error))?;
        let words = page.words();
        words.version.store(VERSION, Ordering::Relaxed);
        words.kind.store(kind as u32, Ordering::Relaxed);
        words.value.store(value, Ordering::Relaxed);
        // ORDER: Release. A process that sees the magic number sees the rest.
        words.magic.store(MAGIC, Ordering::Release);
        Ok((descriptor, page))
    }

    /// Maps the page behind a descriptor of the caller's.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if it is no such page or of another kind; [`Error::OperatingSystem`].
    pub(super) fn import(descriptor: BorrowedFd<'_>, kind: Kind) -> Result<Self> {
        // If a page could shrink, its owner could make our accesses fault.
        if memfd::unshrinkable_bytes(descriptor).is_none_or(|bytes| bytes < SIZE as u64) {
            return Err(Error::InvalidValue("the descriptor is no semaphore"));
        }
        let page =
            Self::map(descriptor).map_err(|error| refused("mapping a page of shared memory", error))?;
        let words = page.words();
        let known =
            words.magic.load(Ordering::Acquire) == MAGIC && words.version.load(Ordering::Relaxed) == VERSION;
        if !known || words.kind.load(Ordering::Relaxed) != kind as u32 {
            return Err(Error::InvalidValue("the descriptor is no semaphore of this kind"));
        }
        Ok(page)
    }

    fn map(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        MmapOptions::new().len(SIZE).map_raw(descriptor.as_raw_fd()).map(Self)
    }

    fn words(&self) -> &Words {
        // SAFETY: the mapping lives as long as `self`, is aligned to pages, and the file cannot shrink; any bytes are
        // valid atomics.
        unsafe { &*self.0.as_ptr().cast() }
    }

    /// The value now, with everything that was written before it was set.
    pub(super) fn value(&self) -> u64 {
        // ORDER: Acquire; pairs with the change below, in whatever process.
        self.words().value.load(Ordering::Acquire)
    }

    /// Promises one more value, and says which.
    pub(super) fn issue(&self) -> u64 {
        let by = u64::from(std::process::id()) << NUMBER.count_ones();
        let next = |latest: u64| Some(by | ((latest & NUMBER) + 1) & NUMBER);
        let issued = &self.words().issued;
        let latest =
            issued.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).unwrap_or_else(|latest| latest);
        ((latest & NUMBER) + 1) & NUMBER
    }

    /// The latest value that was promised, and the process that did.
    pub(super) fn issued(&self) -> (u64, u32) {
        let latest = self.words().issued.load(Ordering::Acquire);
        // CAST: 22 bits.
        (latest & NUMBER, (latest >> NUMBER.count_ones()) as u32)
    }

    /// Changes the value as `change` says, and wakes the threads that wait.
    pub(super) fn change(&self, change: impl FnOnce(&AtomicU64)) {
        let words = self.words();
        change(&words.value);
        // ORDER: SeqCst. A thread that saw the old value saw the old sequence before it: the futex refuses its sleep.
        words.sequence.fetch_add(1, Ordering::SeqCst);
        // Not private: the sleepers may be in other processes.
        // SAFETY: the word outlives the call; nothing is dereferenced but by the kernel.
        unsafe { libc::syscall(libc::SYS_futex, words.sequence.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }

    /// Sleeps until `attempt` on the value succeeds, at most `timeout`; says whether it did.
    pub(super) fn wait(&self, timeout: Option<Duration>, attempt: impl Fn(&AtomicU64) -> bool) -> bool {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let words = self.words();
        loop {
            let seen = words.sequence.load(Ordering::SeqCst);
            if attempt(&words.value) {
                return true;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return false;
            }
            sleep(&words.sequence, seen, left);
        }
    }
}

/// Sleeps while `word` holds `expected`, at most `timeout`; may return early for no reason.
fn sleep(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    let time = timeout.map(|timeout| libc::timespec {
        tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the time outlive the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, expected, time) };
}
