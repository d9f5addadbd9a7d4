//! Threads of the runtime's own.

#![forbid(unsafe_code)]

use std::thread;

use crate::error::{Error, Result, explain};

/// Starts a thread that does `work`; its name shows in debuggers.
///
/// # Errors
/// [`Error::OutOfMemory`] if the system has no thread left.
pub(crate) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let refused = |why: &dyn std::fmt::Display| {
        explain(format_args!("the thread {name} cannot be started: {why}"));
        Error::OutOfMemory { bytes: 0 }
    };
    if hsa::scarcity::refuses() {
        return Err(refused(&"a test has it fail"));
    }
    thread::Builder::new().name(name.into()).spawn(work).map(drop).map_err(|error| refused(&error))
}
