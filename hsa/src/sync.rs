//! The atomics of the ring: the standard library's, or loom's where the model explores interleavings.

#[cfg(not(all(loom, test)))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64};
#[cfg(not(all(loom, test)))]
pub(crate) use std::thread::yield_now;
#[cfg(all(test, not(loom)))]
pub(crate) use std::{
    sync::atomic::fence,
    thread::{ThreadId, current},
};

#[cfg(all(loom, test))]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64};
#[cfg(all(loom, test))]
pub(crate) use loom::{
    sync::atomic::fence,
    thread::{ThreadId, current, yield_now},
};

/// The calling thread.
#[cfg(test)]
pub(crate) fn this_thread() -> ThreadId {
    current().id()
}

pub(crate) use std::sync::atomic::Ordering;
