//! The streams of a device, and what is in flight of those that are gone. `stream::model` includes this file, too, on a
//! lock of loom's.

#![forbid(unsafe_code)]

use super::{Mutex, MutexGuard};

/// Streams, and what the work in flight of a stream becomes when its last copy is gone.
///
/// A stream's place passes to its detached work in one step: at every moment its work is found under one of the two.
pub(crate) struct Roll<S, O>(Mutex<Entries<S, O>>);

struct Entries<S, O> {
    streams: Vec<S>,
    detached: Vec<O>,
}

impl<S, O> Default for Roll<S, O> {
    fn default() -> Self {
        Self(Mutex::new(Entries { streams: Vec::new(), detached: Vec::new() }))
    }
}

impl<S: Clone, O> Roll<S, O> {
    /// Enters a new stream.
    pub(crate) fn enter(&self, stream: S) {
        self.entries().streams.push(stream);
    }

    /// Puts `detached` in the place of the stream that is meant, or nothing if nothing of its work is in flight.
    pub(crate) fn replace(&self, is_meant: impl Fn(&S) -> bool, detached: Option<O>) {
        let mut entries = self.entries();
        let place = entries.streams.iter().position(is_meant);
        let stream = place.map(|place| entries.streams.swap_remove(place));
        entries.detached.extend(detached);
        drop(entries);
        // What goes with it locks what it likes.
        drop(stream);
    }

    /// All streams, and what `of` makes of all detached work, at one moment.
    pub(crate) fn all<T>(&self, of: impl FnMut(&O) -> T) -> (Vec<S>, Vec<T>) {
        let entries = self.entries();
        (entries.streams.clone(), entries.detached.iter().map(of).collect())
    }

    /// Lets `visit` look at each stream. It must not block, nor drop what others left.
    pub(crate) fn each(&self, visit: impl FnMut(&S)) {
        self.entries().streams.iter().for_each(visit);
    }

    /// Takes detached work out that is `over`.
    pub(crate) fn take_detached(&self, over: impl FnMut(&mut O) -> bool) -> Vec<O> {
        self.entries().detached.extract_if(.., over).collect()
    }

    fn entries(&self) -> MutexGuard<'_, Entries<S, O>> {
        self.0.lock()
    }
}
