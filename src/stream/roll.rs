//! The streams of a device, and what is in flight of those that are gone. `stream::model` includes this file, too, on a
//! lock of loom's.

#![forbid(unsafe_code)]

use super::{Mutex, MutexGuard, PoisonError};

/// Streams, and what the work in flight of a stream becomes that nobody holds any more.
///
/// A stream's place passes to its orphan in one step: at every moment its work is found under one of the two.
pub(crate) struct Roll<S, O>(Mutex<Entries<S, O>>);

struct Entries<S, O> {
    streams: Vec<S>,
    orphans: Vec<O>,
}

impl<S, O> Default for Roll<S, O> {
    fn default() -> Self {
        Self(Mutex::new(Entries { streams: Vec::new(), orphans: Vec::new() }))
    }
}

impl<S: Clone, O> Roll<S, O> {
    /// Enters a new stream.
    pub(crate) fn enter(&self, stream: S) {
        self.entries().streams.push(stream);
    }

    /// Puts `orphan` in the place of the stream that is meant, or nothing if nothing of its work is in flight.
    pub(crate) fn replace(&self, is_meant: impl Fn(&S) -> bool, orphan: Option<O>) {
        let mut entries = self.entries();
        let place = entries.streams.iter().position(is_meant);
        let stream = place.map(|place| entries.streams.swap_remove(place));
        entries.orphans.extend(orphan);
        drop(entries);
        // What goes with it locks what it likes.
        drop(stream);
    }

    /// All streams, and what `of` makes of all orphans, at one moment.
    pub(crate) fn all<T>(&self, of: impl FnMut(&O) -> T) -> (Vec<S>, Vec<T>) {
        let entries = self.entries();
        (entries.streams.clone(), entries.orphans.iter().map(of).collect())
    }

    /// Takes the orphans out that are `over`.
    pub(crate) fn take_orphans(&self, over: impl FnMut(&mut O) -> bool) -> Vec<O> {
        self.entries().orphans.extract_if(.., over).collect()
    }

    fn entries(&self) -> MutexGuard<'_, Entries<S, O>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
