//! Semaphores that processes share: streams signal and wait for them, and so do other processes with the descriptor.
//!
//! # Order
//! A semaphore is a page of shared memory, not a device's: the stream's host worker signals it and waits for it, so it
//! works the same on every back end. A *signal* on a stream is a host step: it runs when the packets before it have
//! completed and released their writes to the system. A *wait* is a host step too: the worker sleeps, and the packet
//! that lets the stream go on acquires at system scope. Steps of one stream run in their order, each on the stream's
//! own worker. Like every host step, a wait also holds back the other streams on the stream's queue: the signal must
//! not be behind it there.

use std::{
    fmt,
    os::fd::{BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::page::{Kind, Page};
use crate::error::Result;

/// How long a worker sleeps before it looks whether the wait still has a purpose.
const SLICE: Duration = Duration::from_millis(100);

/// What a semaphore counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SemaphoreKind {
    /// Signalled or not; one wait takes the signal.
    Binary,
    /// A number that grows; a wait ends when it has reached the wait's.
    Timeline,
}

impl SemaphoreKind {
    fn page(self) -> Kind {
        match self {
            Self::Binary => Kind::Binary,
            Self::Timeline => Kind::Timeline,
        }
    }
}

/// A semaphore that other processes may have as well; clones are the same semaphore.
#[derive(Clone)]
pub struct ExternalSemaphore(Arc<Inner>);

struct Inner {
    id: u64,
    kind: SemaphoreKind,
    page: Page,
}

impl ExternalSemaphore {
    /// Makes a semaphore, and the descriptor by which another process imports it. A binary one is signalled if
    /// `initial` is not 0.
    ///
    /// # Errors
    /// [`Error::OperatingSystem`](crate::Error::OperatingSystem).
    pub fn create(kind: SemaphoreKind, initial: u64) -> Result<(OwnedFd, Self)> {
        let initial = if kind == SemaphoreKind::Binary { u64::from(initial != 0) } else { initial };
        let (descriptor, page) = Page::create(kind.page(), initial)?;
        Ok((descriptor, Self::new(kind, page)))
    }

    /// The semaphore behind a descriptor, which may be closed afterwards.
    ///
    /// # Errors
    /// [`Error::InvalidValue`](crate::Error::InvalidValue) if there is no semaphore of this kind behind it.
    pub fn import(descriptor: BorrowedFd<'_>, kind: SemaphoreKind) -> Result<Self> {
        Ok(Self::new(kind, Page::import(descriptor, kind.page())?))
    }

    fn new(kind: SemaphoreKind, page: Page) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(Arc::new(Inner { id: NEXT.fetch_add(1, Ordering::Relaxed), kind, page }))
    }

    /// Unique over the process; two imports of one semaphore differ.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// What it counts.
    pub fn kind(&self) -> SemaphoreKind {
        self.0.kind
    }

    /// The number that it has reached; of a binary one, 1 while it is signalled.
    pub fn value(&self) -> u64 {
        self.0.page.value()
    }

    /// Signals it: a timeline reaches `value`, and never goes back; a binary one ignores it.
    pub fn signal(&self, value: u64) {
        self.0.page.change(|word| match self.0.kind {
            // ORDER: Release. A thread that finds the semaphore signalled finds what was done before.
            SemaphoreKind::Binary => word.store(1, Ordering::Release),
            SemaphoreKind::Timeline => {
                word.fetch_max(value, Ordering::Release);
            }
        });
    }

    /// Waits until a timeline has reached `value`, or takes the signal of a binary one; says whether that happened
    /// within `timeout` (`None`: however long it takes).
    pub fn wait(&self, value: u64, timeout: Option<Duration>) -> bool {
        self.0.page.wait(timeout, |word| match self.0.kind {
            // ORDER: Acquire; pairs with `signal`.
            SemaphoreKind::Binary => {
                word.compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed).is_ok()
            }
            SemaphoreKind::Timeline => word.load(Ordering::Acquire) >= value,
        })
    }

    /// As [`ExternalSemaphore::wait`] without a timeout, for a worker whose wait may lose its purpose: ends with false
    /// soon after `is_pointless`.
    pub(crate) fn wait_unless(&self, value: u64, is_pointless: impl Fn() -> bool) -> bool {
        while !self.wait(value, Some(SLICE)) {
            if is_pointless() {
                return false;
            }
        }
        true
    }
}

impl PartialEq for ExternalSemaphore {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for ExternalSemaphore {}

impl fmt::Debug for ExternalSemaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalSemaphore")
            .field("id", &self.0.id)
            .field("kind", &self.0.kind)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        os::fd::AsFd,
        sync::mpsc::{RecvTimeoutError, channel},
        thread,
    };

    use super::*;
    use crate::Error;

    const SHORT: Option<Duration> = Some(Duration::from_millis(20));

    #[test]
    fn a_signal_of_a_binary_semaphore_ends_one_wait() {
        let (descriptor, ours) = ExternalSemaphore::create(SemaphoreKind::Binary, 0).unwrap();
        let theirs = ExternalSemaphore::import(descriptor.as_fd(), SemaphoreKind::Binary).unwrap();
        drop(descriptor);
        assert!(!theirs.wait(0, SHORT));
        ours.signal(77);
        assert_eq!(theirs.value(), 1);
        assert!(theirs.wait(77, SHORT));
        assert!(!ours.wait(77, SHORT), "the signal is taken");
    }

    #[test]
    fn a_timeline_reaches_what_is_signalled_and_never_goes_back() {
        let (descriptor, ours) = ExternalSemaphore::create(SemaphoreKind::Timeline, 3).unwrap();
        let theirs = ExternalSemaphore::import(descriptor.as_fd(), SemaphoreKind::Timeline).unwrap();
        assert!(theirs.wait(3, SHORT) && !theirs.wait(4, SHORT));
        let (done, waiting) = channel();
        let waiter = theirs.clone();
        thread::spawn(move || done.send(waiter.wait(10, None)));
        ours.signal(9);
        assert_eq!(waiting.recv_timeout(Duration::from_millis(50)), Err(RecvTimeoutError::Timeout));
        ours.signal(11);
        assert_eq!(waiting.recv_timeout(Duration::from_secs(60)), Ok(true));
        ours.signal(5);
        assert_eq!(theirs.value(), 11);
    }

    #[test]
    fn what_is_no_semaphore_of_the_kind_is_refused() {
        let file = File::open("/dev/null").unwrap();
        let refused = |fd: BorrowedFd<'_>, kind| {
            matches!(ExternalSemaphore::import(fd, kind), Err(Error::InvalidValue(_)))
        };
        assert!(refused(file.as_fd(), SemaphoreKind::Binary));
        let (descriptor, _) = ExternalSemaphore::create(SemaphoreKind::Timeline, 0).unwrap();
        assert!(refused(descriptor.as_fd(), SemaphoreKind::Binary));
        assert!(!refused(descriptor.as_fd(), SemaphoreKind::Timeline));
    }

    #[test]
    fn a_wait_that_lost_its_purpose_ends() {
        let (_, semaphore) = ExternalSemaphore::create(SemaphoreKind::Binary, 0).unwrap();
        assert!(!semaphore.wait_unless(0, || true));
        semaphore.signal(0);
        assert!(semaphore.wait_unless(0, || true), "a wait that has succeeded stays so");
    }
}
