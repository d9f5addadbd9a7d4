//! Functions of the caller's that the device waits for, and what they must not call.

#![forbid(unsafe_code)]

use std::cell::Cell;

use crate::error::{Error, Result};

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs what the device waits for, on the calling thread.
pub(crate) fn inside<T>(run: impl FnOnce() -> T) -> T {
    INSIDE.with(|inside| inside.set(true));
    let result = run();
    INSIDE.with(|inside| inside.set(false));
    result
}

/// Whether the calling thread runs a host function.
pub(crate) fn is_inside() -> bool {
    // A thread whose storage is gone runs nothing any more.
    INSIDE.try_with(Cell::get).unwrap_or(false)
}

/// Refuses calls that a host function must not make because they would wait for its own stream.
///
/// # Errors
/// [`Error::IllegalState`] inside a host function.
pub(crate) fn refuse_inside() -> Result<()> {
    if is_inside() {
        return Err(Error::IllegalState("a host function must not wait for the device"));
    }
    Ok(())
}
