//! The atomics of the ring: the standard library's, or loom's where the model explores interleavings.

#[cfg(not(all(loom, test)))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64};
#[cfg(not(all(loom, test)))]
pub(crate) use std::thread::yield_now;

#[cfg(all(loom, test))]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64};
#[cfg(all(loom, test))]
pub(crate) use loom::thread::yield_now;

pub(crate) use std::sync::atomic::Ordering;
