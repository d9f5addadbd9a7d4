//! Events that several processes record, ask and wait for.
//!
//! The event is a page of shared memory with two numbers: how often it was recorded, and up to which record the work
//! before has completed. A record takes the next number and has the stream's host worker publish it when the stream
//! gets there; a process that did not make the latest record waits for its number, on the host. So nothing of the
//! event lies on a device, and it works the same on every back end.
//!
//! A process that ends, or whose device faults, before a record is reached never publishes it. Waits for the latest record of
//! a process that has ended fail; after a fault they last until a process records the event anew.

use std::{
    fs::{self, OpenOptions},
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use super::page::{self, Kind, Page};
use crate::error::{Error, Result};

/// Names an event to other processes of the same user on this machine: `/proc/<process>/fd/<descriptor>` is its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventHandle {
    /// The process that has the descriptor.
    pub process: u32,
    /// The descriptor's number there.
    pub descriptor: u32,
    /// The file's, which tells it from one that took its number later.
    pub inode: u64,
}

/// Whether a process has not ended yet: one that nobody has waited for has (proc_pid_status(5), State).
fn is_running(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.is_some_and(|state| !state.trim_start().starts_with(['Z', 'X']))
}

/// The part of an event that processes share.
pub(crate) struct SharedEvent {
    page: Page,
    /// Kept open for other processes to open it.
    file: OwnedFd,
    /// The number of this process's latest record.
    ours: AtomicU64,
}

impl SharedEvent {
    /// # Errors
    /// [`Error::OperatingSystem`].
    pub(crate) fn create() -> Result<Self> {
        let (file, page) = Page::create(Kind::Event, 0)?;
        Ok(Self { page, file, ours: AtomicU64::new(0) })
    }

    /// # Errors
    /// [`Error::InvalidValue`] if the handle names no event that still exists.
    pub(crate) fn open(handle: EventHandle) -> Result<Self> {
        const GONE: Error = Error::InvalidValue("the handle names no event of another process");
        if !emulator::os::is_process(handle.process) {
            return Err(GONE);
        }
        let path = format!("/proc/{}/fd/{}", handle.process, handle.descriptor);
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(|_| GONE)?;
        if file.metadata().map_err(|_| GONE)?.ino() != handle.inode {
            return Err(GONE);
        }
        let page = Page::import(file.as_fd(), Kind::Event)?;
        Ok(Self { page, file: file.into(), ours: AtomicU64::new(0) })
    }

    /// # Errors
    /// [`Error::OperatingSystem`].
    pub(crate) fn handle(&self) -> Result<EventHandle> {
        let failed = |error| page::refused("the descriptor of an event", error);
        let file = std::fs::File::from(self.file.try_clone().map_err(failed)?);
        let inode = file.metadata().map_err(failed)?.ino();
        // CAST: descriptors are not negative.
        Ok(EventHandle { process: std::process::id(), descriptor: self.file.as_raw_fd() as u32, inode })
    }

    /// The number of a record that this process makes now.
    pub(crate) fn issue(&self) -> u64 {
        let number = self.page.issue();
        self.ours.fetch_max(number, Ordering::AcqRel);
        number
    }

    /// Publishes that a record was reached.
    pub(crate) fn reach(&self, number: u64) {
        self.page.change(|word| {
            // ORDER: Release. A thread that finds the record reached finds what was done before it.
            word.fetch_max(number, Ordering::Release);
        });
    }

    /// The number of the latest record if another process has made it; its own records, a process knows better.
    pub(crate) fn foreign(&self) -> Option<u64> {
        let (latest, _) = self.page.issued();
        (latest != self.ours.load(Ordering::Acquire)).then_some(latest)
    }

    /// Whether a record was reached.
    pub(crate) fn is_reached(&self, number: u64) -> bool {
        self.page.value() >= number
    }

    /// Waits for a record until `is_pointless`.
    ///
    /// # Errors
    /// [`Error::LaunchFailure`] if the process that made the latest record has ended before it was reached.
    pub(crate) fn wait_unless(&self, number: u64, is_pointless: impl Fn() -> bool) -> Result<()> {
        const SLICE: Option<Duration> = Some(Duration::from_millis(100));
        while !self.page.wait(SLICE, |word| word.load(Ordering::Acquire) >= number) {
            let (latest, process) = self.page.issued();
            // What it reached just before its end counts.
            if latest >= number && !is_running(process) && !self.is_reached(number) {
                return Err(Error::LaunchFailure(format!(
                    "process {process} has ended before it reached its record of an event that is waited for"
                )));
            }
            if is_pointless() {
                break;
            }
        }
        Ok(())
    }
}
