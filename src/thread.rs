//! Threads of the runtime's own.

#![forbid(unsafe_code)]

use std::{cell::Cell, io, thread::Builder};

use crate::error::{Error, Result, explain};

thread_local! {
    static OURS: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is one of them, whatever function it runs.
pub(crate) fn is_ours() -> bool {
    OURS.get()
}

fn ours<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    || {
        OURS.set(true);
        work()
    }
}

/// Starts a thread that does `work`; its name shows in debuggers.
///
/// # Errors
/// [`Error::OutOfMemory`] if the system has no thread left.
pub(crate) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    make(name, |builder| builder.spawn(ours(work)).map(drop))
}

fn make(name: &str, spawn: impl FnOnce(Builder) -> io::Result<()>) -> Result<()> {
    let refused = |why: &dyn std::fmt::Display| {
        explain(format_args!("the thread {name} cannot be started: {why}"));
        Error::OutOfMemory { bytes: 0 }
    };
    if hsa::fault_injection::refuses() {
        return Err(refused(&"a test has it fail"));
    }
    spawn(Builder::new().name(name.into())).map_err(|error| refused(&error))
}
