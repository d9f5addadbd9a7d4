//! What a stream is behind since its latest fence. `model` includes this file, too.

#![forbid(unsafe_code)]

/// What lies between a stream's latest fence and its end: a call for a fence gets the latest one again only if nothing does.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tail {
    /// Packets that were published.
    published: bool,
    /// Work of other streams on the same lane: whatever the stream publishes next is behind it without a packet that says
    /// so. Nothing that was published is.
    joined: bool,
}

impl Tail {
    /// Notes packets.
    pub(crate) fn publish(&mut self) {
        self.published = true;
    }

    /// Notes that what follows is behind work of another stream that is on the lane already.
    pub(crate) fn join(&mut self) {
        self.joined = true;
    }

    /// Notes a fence.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }

    /// Whether other streams must hear that this one is behind more than it was: once for each time.
    pub(crate) fn take_joined(&mut self) -> bool {
        self.published |= self.joined;
        std::mem::take(&mut self.joined)
    }

    /// Whether nothing lies behind the latest fence.
    pub(crate) fn is_empty(self) -> bool {
        !self.published && !self.joined
    }

    /// Whether packets may lie behind the latest fence.
    pub(crate) fn has_packets(self) -> bool {
        self.published
    }
}
