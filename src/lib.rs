//! A HIP graph runtime on HSA queues: work is defined once, compiled into batches of AQL packets, and launched by
//! copying them into rings. On a machine with an AMD GPU it drives AMD's ROCr; elsewhere the emulated GPU of this
//! process. [`typed`] is the safe face for Rust programs; `libamdhip64.so` (the `capi` crate) stands on the modules
//! beside it.
//!
//! ```
//! use aqlipse::{Device, Stream, StreamKind, typed::{Graph, HostBuffer}};
//!
//! let device = Device::get(0)?;
//! let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
//! let (input, output) = (HostBuffer::new(&device, 256, 7u32)?, HostBuffer::new(&device, 256, 0u32)?);
//!
//! // Nothing runs while the stream is captured.
//! let graph = Graph::capture(&stream, |stream| {
//!     let memory = stream.allocate(256)?;
//!     stream.upload(memory, &input)?;
//!     stream.download(&output, memory)?;
//!     stream.free(memory)
//! })?;
//! let exec = graph.instantiate()?;
//! for _ in 0..3 {
//!     exec.launch(&stream)?;
//! }
//! stream.synchronize()?;
//! assert_eq!(output.to_vec(), vec![7; 256]);
//! # Ok::<(), aqlipse::Error>(())
//! ```
//!
//! Floors, lowest first; a module uses those below it, and those of its own floor:
//! 1. `error`, `trace`, `thread`, `callback`, `memfd`
//! 2. `device`
//! 3. `check`
//! 4. `user_object`, `blit`, `cooperative`, `external`, `hostcall`, `memory`, `memory_report`, `module`, `pool`, `resident_queues`, `context`
//! 5. `stream`, `condition`, `graph`, `durations`, `template`
//! 6. `capture`
//! 7. `exec`
//! 8. `typed`
//!
//! Where a lower floor has to call a higher one, it has a trait that the higher one implements: `device` for the services
//! and the streams, [`check`] for the table of allocations, [`memory`] for pools and graphs that hand out memory, and for the order of streams, `stream` for what
//! records its calls.
//!
//! | module | what it holds |
//! |---|---|
//! | `error`, [`trace`], `thread`, `callback`, `memfd` | errors, `AQLIPSE_LOG`, threads of the runtime's own, what callbacks must not call, sealed files in memory |
//! | `device` | [`System`], [`Device`], [`activity`]: agent, lanes (HSA queues), signals, fences, slabs, what a fault leaves behind |
//! | [`check`] | what is wrong with a program: `AQLIPSE_CHECK` |
//! | [`UserObject`], [`destructors`] | resources of the caller's that graphs hold; when they end |
//! | `blit` | copy and fill kernels |
//! | `external` | semaphores, events and names of pools that other processes share |
//! | `hostcall` | what kernels ask of the host: `printf`, memory |
//! | [`memory`] | allocations by address, pools in stream order, copies and fills and their operands |
//! | [`memory_report`] | what holds memory, signals and queues: `AQLIPSE_MEMORY_REPORT` |
//! | [`module`] | [`Module`], [`Function`]: device code, kernel arguments, one dispatch |
//! | [`pool`] | physical memory of graphs |
//! | `cooperative`, `resident_queues` | queues for cooperative kernels, and queues that devices publish to |
//! | `context` | what the services keep with each device |
//! | `stream` | [`Stream`], [`Event`], host functions, the default stream's order, what open captures forbid |
//! | `condition` | the values that conditional nodes look at |
//! | [`graph`] | [`aqlipse_graph`]'s templates, with this runtime's kernels, events and semaphores |
//! | `durations` | how long nodes take: what was said and what was measured |
//! | `template` | [`Template`] adds memory to [`graph::Graph`] |
//! | [`capture`] | streams recorded into graphs |
//! | `exec` | [`Exec`]: launches, updates, conditional nodes |
//! | [`typed`] | buffers, kernels, graphs and executables for safe Rust |
//!
//! [`schedule`] is that of [`aqlipse_graph`], which compiles graphs to packets.
//!
//! `unsafe` is confined to `device` (memory blocks, submission), `memory`, `stream` (copies), `module` (images of
//! unknown length, mapped files), `exec` (host copies and pinning), `hostcall` (memory that kernels write), `external`
//! (pages that processes share), `memfd` (system calls) and [`typed`] (typed memory); graphs, schedules and packet
//! images forbid it.

pub mod capture;
pub mod check;
pub mod external;
pub mod graph;
pub mod memory;
pub mod module;
pub mod pool;
pub mod trace;
pub mod typed;

pub use aqlipse_graph::schedule;

mod blit;
mod callback;
mod condition;
mod context;
mod cooperative;
mod device;
mod durations;
mod error;
mod exec;
mod hostcall;
#[cfg(test)]
mod loom_mutex;
mod memfd;
pub mod memory_report;
mod resident_queues;
mod stream;
mod template;
mod thread;
mod user_object;

pub use aqlipse_graph::memory::graph::{MemoryBuffer, MemoryGraph};
pub use device::{
    ARGUMENTS_VARIABLE, Backend, Device, Fence, Properties, QueueCount, RING_VARIABLE, Rings, Sharing,
    System, WATCHDOG_VARIABLE, WaitPolicy, activity, named_costs, timeline::tell_listener,
};
pub use error::{CaptureError, Error, Misfit, Result, last_error_detail};
pub use exec::{
    CONDITIONAL_VARIABLE, DUMP_VARIABLE, Exec, Failure as InstantiateFailure, LaunchImage, LaunchLane,
    Options, RESIDENT_ON_ONE_DEVICE, RESIDENT_VARIABLE, Reason as UpdateReason, Refusal as UpdateRefusal,
    Report, Residence, SameLaunch,
};
pub use graph::Node as GraphNode;
/// Makes allocations fail, for tests of programs that call the runtime and of the runtime itself.
pub use hsa::fault_injection;
pub use memory::meter::Meter;
pub use module::{Function, KernelCode, Module, WeakFunction, check_kernel};
pub use pool::{graph_memory::AllocationOptions, mapping::MappingCalls};
pub use stream::{
    Attributes as StreamAttributes, Condition, Event, ExecutionContext, Stream, StreamKind, SyncDomain, Word,
    cooperative::{Together, launch_together},
};
pub use template::{Template, TemplateAt};
pub use user_object::{UserObject, due as destructors};

/// The README's examples compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the page on the Rust API compile.
#[cfg(doctest)]
#[doc = include_str!("../docs/rust.md")]
struct RustPage;
