//! What a process does and when, in Perfetto's format: the file that `aqlipse trace` has programs write.
//!
//! | module | what it holds |
//! |---|---|
//! | [`message`] | the messages of the format |
//! | [`track`] | tracks: threads, devices, queues, counters |
//! | [`recorder`] | `AQLIPSE_TRACE`: events of this process, appended to the file |
//!
//! The runtime records calls, launches and what devices do; `libroctx64.so` records the ranges of the program. Both append to
//! the same file, and name the same threads alike.

pub mod message;
pub mod recorder;
pub mod track;

pub use recorder::{Details, TRACE_VARIABLE, is_on, is_watched, now};
