//! Threads of the runtime's own.

#![forbid(unsafe_code)]

use std::{
    io,
    thread::{Builder, Scope},
};

use crate::error::{Error, Result, explain};

/// Starts a thread that does `work`; its name shows in debuggers.
///
/// # Errors
/// [`Error::OutOfMemory`] if the system has no thread left.
pub(crate) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    make(name, |builder| builder.spawn(work).map(drop))
}

/// The same within a scope, which waits for its end.
///
/// # Errors
/// [`Error::OutOfMemory`] if the system has no thread left.
pub(crate) fn start_within<'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() + Send + 'scope,
) -> Result<()> {
    make(name, |builder| builder.spawn_scoped(scope, work).map(drop))
}

fn make(name: &str, spawn: impl FnOnce(Builder) -> io::Result<()>) -> Result<()> {
    let refused = |why: &dyn std::fmt::Display| {
        explain(format_args!("the thread {name} cannot be started: {why}"));
        Error::OutOfMemory { bytes: 0 }
    };
    if hsa::scarcity::refuses() {
        return Err(refused(&"a test has it fail"));
    }
    spawn(Builder::new().name(name.into())).map_err(|error| refused(&error))
}
