//! Where the bytes of physical memory are: a file of their own, or a part of one that many handles share.
//!
//! A program that maps gigabytes by handles of 2 MiB has more of them than a process may have descriptors, and each would
//! be a mapping of the kernel's. Parts of one file need one descriptor; neighbours that are shown side by side are one
//! mapping. But a part cannot leave the process, as a descriptor gives its whole file away.

use std::{collections::BTreeMap, ffi::CStr, io, os::fd::RawFd, sync::Arc};

use parking_lot::Mutex;

use crate::os::{self, SharedMemory};

/// Handles of at most this many bytes may share a file: the largest chunks of graph memory.
const SMALL: usize = 1 << 30;

/// Small handles at once that have files of their own though the program has not asked for pinned memory.
const OWN_FILES: usize = 64;

/// Bytes of the file that is shared, which costs what is in use of it; fewer where files may not be as large.
const FILE: u64 = 1 << 40;

/// The bytes of a handle.
pub enum Bytes {
    /// A file of their own.
    Own {
        /// The file.
        file: SharedMemory,
        /// Whose number it counts to, if it is one of few.
        _slot: Option<Slot>,
    },
    /// A part of the file that many share.
    Part(Part),
}

impl Bytes {
    /// The file that has them, and where in it they begin.
    pub fn place(&self) -> (&SharedMemory, usize) {
        match self {
            Self::Own { file, .. } => (file, 0),
            Self::Part(part) => (&part.file, part.offset),
        }
    }

    /// A descriptor to give away.
    ///
    /// # Errors
    /// `Unsupported` for a part; the kernel's.
    pub fn share(&self) -> io::Result<RawFd> {
        match self {
            Self::Own { file, .. } => file.share(),
            Self::Part(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// One of the files of their own that small handles may have.
pub struct Slot(Arc<Mutex<State>>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.lock().own += 1;
    }
}

/// Bytes of the shared file, given back when dropped.
pub struct Part {
    file: Arc<SharedMemory>,
    offset: usize,
    size: usize,
    state: Arc<Mutex<State>>,
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Err(error) = self.file.discard(self.offset as u64, self.size as u64) {
            // They would not be zeros for the next handle.
            tracing::warn!(%error, "a part of the file of physical memory is lost");
            return;
        }
        self.state.lock().give_back(self.offset, self.size);
    }
}

struct State {
    file: Option<Arc<SharedMemory>>,
    /// Free ranges of the file: end by start.
    free: BTreeMap<usize, usize>,
    /// Small handles that may have files of their own.
    own: usize,
}

impl State {
    fn take(&mut self, size: usize) -> Option<usize> {
        // The lowest first: what is taken together lies together.
        let (&start, &end) = self.free.iter().find(|(start, end)| *end - *start >= size)?;
        self.free.remove(&start);
        if start + size < end {
            self.free.insert(start + size, end);
        }
        Some(start)
    }

    fn give_back(&mut self, mut start: usize, size: usize) {
        let mut end = start + size;
        if let Some((&below, &stop)) = self.free.range(..start).next_back()
            && stop == start
        {
            self.free.remove(&below);
            start = below;
        }
        if let Some(above) = self.free.remove(&end) {
            end = above;
        }
        self.free.insert(start, end);
    }

    fn file(&mut self) -> io::Result<Arc<SharedMemory>> {
        if let Some(file) = &self.file {
            return Ok(file.clone());
        }
        // CAST: a 64-bit process.
        let size = FILE.min(os::most_of_a_file()) as usize / os::PAGE * os::PAGE;
        let file = Arc::new(SharedMemory::new(&os::name_of("aqlipse-physical"), size)?);
        self.free.insert(0, size);
        Ok(self.file.insert(file).clone())
    }
}

/// Where the bytes of handles come from.
pub struct Store(Arc<Mutex<State>>);

impl Default for Store {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State { file: None, free: BTreeMap::new(), own: OWN_FILES })))
    }
}

impl Store {
    /// `size` bytes (whole pages) of zeros; with a file of their own, by this name, if they are `pinned`, many, or of few
    /// handles.
    ///
    /// # Errors
    /// The kernel's.
    pub fn take(&self, name: &CStr, size: usize, pinned: bool) -> io::Result<Bytes> {
        if pinned || size > SMALL {
            return Ok(Bytes::Own { file: SharedMemory::new(name, size)?, _slot: None });
        }
        let mut state = self.0.lock();
        if state.own > 0 {
            let file = SharedMemory::new(name, size)?;
            state.own -= 1;
            return Ok(Bytes::Own { file, _slot: Some(Slot(self.0.clone())) });
        }
        let file = state.file()?;
        let offset = state.take(size).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Bytes::Part(Part { file, offset, size, state: self.0.clone() }))
    }
}

impl From<SharedMemory> for Bytes {
    fn from(file: SharedMemory) -> Self {
        Self::Own { file, _slot: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::{Mapping, PAGE};

    fn part(store: &Store, pages: usize) -> Bytes {
        let bytes = store.take(c"test", pages * PAGE, false).unwrap();
        assert!(matches!(bytes, Bytes::Part(_)));
        bytes
    }

    #[test]
    fn many_small_handles_share_a_file_and_the_others_have_their_own() {
        let store = Store::default();
        let own: Vec<Bytes> = (0..OWN_FILES).map(|_| store.take(c"test", PAGE, false).unwrap()).collect();
        assert!(own.iter().all(|bytes| bytes.share().is_ok_and(|file| {
            // SAFETY: it was opened for us.
            unsafe { libc::close(file) == 0 }
        })));
        let (a, b) = (part(&store, 1), part(&store, 2));
        assert_eq!((a.place().1, b.place().1), (0, PAGE), "side by side");
        assert!(a.share().is_err());
        for pinned in [store.take(c"test", PAGE, true), store.take(c"test", SMALL + PAGE, false)] {
            assert!(matches!(pinned.unwrap(), Bytes::Own { .. }));
        }
        drop(own);
        assert!(matches!(store.take(c"test", PAGE, false).unwrap(), Bytes::Own { .. }));
    }

    #[test]
    fn a_part_that_is_given_back_is_zeros_for_the_next() {
        let store = Store::default();
        store.0.lock().own = 0;
        let parts: Vec<Bytes> = (0..4).map(|_| part(&store, 1)).collect();
        let show = |bytes: &Bytes| {
            let (file, offset) = bytes.place();
            Mapping::of(file, offset, PAGE).unwrap()
        };
        // SAFETY: a page of ours.
        unsafe { show(&parts[1]).pointer().write(7) };
        drop(parts);
        let all = part(&store, 4);
        assert_eq!(all.place().1, 0, "the ranges have joined");
        let (file, _) = all.place();
        // SAFETY: as above.
        assert_eq!(unsafe { Mapping::of(file, PAGE, PAGE).unwrap().pointer().read() }, 0);
    }
}
