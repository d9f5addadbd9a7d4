//! What names a memory pool to other processes: a page that says whose memory it hands out.

use std::{
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::MetadataExt,
    },
};

use super::page::{self, Kind, Page};
use crate::error::{Error, Result};

/// A pool as several processes know it: one gives the descriptor to the other.
pub(crate) struct PoolPage {
    /// Held, so that no other file gets its number.
    file: OwnedFd,
    name: u64,
    device: u64,
}

fn failed(error: io::Error) -> Error {
    page::refused("the descriptor of a pool", error)
}

impl PoolPage {
    /// Names a pool of memory on the device with an ordinal.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] without a descriptor left, [`Error::OperatingSystem`].
    pub(crate) fn create(device: u64) -> Result<Self> {
        let (file, _) = Page::create(Kind::Pool, device)?;
        Self::of(file, device)
    }

    /// The pool behind a descriptor, which stays the caller's.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if it names no pool; [`Error::OutOfMemory`] without a descriptor left;
    /// [`Error::OperatingSystem`].
    pub(crate) fn open(descriptor: BorrowedFd<'_>) -> Result<Self> {
        let page = Page::import(descriptor, Kind::Pool).map_err(|error| match error {
            Error::InvalidValue(_) => Error::InvalidValue("the descriptor is no memory pool"),
            error => error,
        })?;
        Self::of(descriptor.try_clone_to_owned().map_err(failed)?, page.value())
    }

    fn of(file: OwnedFd, device: u64) -> Result<Self> {
        let file = File::from(file);
        let name = file.metadata().map_err(failed)?.ino();
        Ok(Self { file: file.into(), name, device })
    }

    /// A descriptor of the page, for another process.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] without a descriptor left, [`Error::OperatingSystem`].
    pub(crate) fn descriptor(&self) -> Result<OwnedFd> {
        self.file.as_fd().try_clone_to_owned().map_err(failed)
    }

    /// What tells the pool from other pools, for as long as any process has it.
    pub(crate) fn name(&self) -> u64 {
        self.name
    }

    /// The ordinal that the device of its memory has in the process that made it; untrusted where it was opened.
    pub(crate) fn device(&self) -> u64 {
        self.device
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_names_its_pool() {
        let (one, other) = (PoolPage::create(3).unwrap(), PoolPage::create(3).unwrap());
        let opened = PoolPage::open(one.descriptor().unwrap().as_fd()).unwrap();
        assert_eq!((opened.name(), opened.device()), (one.name(), 3));
        assert_ne!(opened.name(), other.name());
        let (event, _) = Page::create(Kind::Event, 0).unwrap();
        assert!(PoolPage::open(event.as_fd()).is_err());
        assert!(PoolPage::open(File::open("/dev/null").unwrap().as_fd()).is_err());
    }
}
