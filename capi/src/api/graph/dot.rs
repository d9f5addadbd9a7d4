//! Graphs written to files for Graphviz.

use std::{
    borrow::Cow,
    ffi::{CStr, OsStr, c_char, c_uint},
    fs::File,
    io::{BufWriter, Write},
    os::unix::ffi::OsStrExt,
};

use aqlipse::{
    Event, Function,
    graph::dot::{Detail, Labels},
};

use crate::{
    caller,
    error::hipErrorOperatingSystem,
    object::{self, EVENTS},
    types::*,
};

/// Kernels and events by the words that callers know.
struct Handles;

impl Labels<Function, Event, aqlipse::external::ExternalSemaphore> for Handles {
    fn kernel<'k>(&self, kernel: &'k Function) -> Cow<'k, str> {
        kernel.name().into()
    }

    fn kernel_handle(&self, kernel: &Function) -> u64 {
        kernel.token() as u64
    }

    fn event_handle(&self, event: &Event) -> u64 {
        // An event whose handle is gone has no word any more.
        EVENTS.find(|known| known.id() == event.id()).unwrap_or(0) as u64
    }
}

entry! {
    /// Writes a graph in the DOT language; flags that the header does not know ask for nothing.
    fn hipGraphDebugDotPrint(graph: hipGraph_t, path: *const c_char, flags: c_uint) -> hipError_t {
        let graph = object::graph(graph)?;
        // SAFETY: the caller's pointer, null or a terminated string.
        let path: &CStr = unsafe { caller::text(path) }?;
        let failed = |error: std::io::Error| {
            tracing::info!("{}: {error}", path.to_string_lossy());
            hipErrorOperatingSystem
        };
        let mut file = BufWriter::new(File::create(OsStr::from_bytes(path.to_bytes())).map_err(failed)?);
        graph.with(|graph| {
            graph.graph().write_dot(&mut file, Detail::from_bits(flags), &Handles).map_err(failed)
        })?;
        file.flush().map_err(failed)
    }
}
