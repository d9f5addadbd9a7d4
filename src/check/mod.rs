//! What is wrong with a program: `AQLIPSE_CHECK`, and [`Checker`] for tests.
//!
//! The emulated device says of each dispatch which bytes it has read, written and changed by atomics
//! ([`emulator::Observer`]). Of two nodes of a launch that no path of edges orders, and of two commands that streams, events
//! and waits of the host do not order (`device::clocks`), none may write what the other touches. Whether they met in this run
//! does not matter, nor the order that they took.
//!
//! Dispatches are announced by the addresses of their arguments. No other node has those of a node, and the launches of an
//! executable come one behind the other, so the n-th dispatch with these arguments is the n-th launch's.
//!
//! ```
//! use aqlipse::{Device, Stream, StreamKind, check::{Checker, Finding, Tool}, typed::{Graph, HostBuffer}};
//!
//! let checker = Checker::start(&[Tool::Graph])?;
//! let device = Device::get(0)?;
//! let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
//! let host = HostBuffer::new(&device, 256, 0u32)?;
//! let mut graph = Graph::new(&device);
//! let (allocated, memory) = graph.allocate::<u32>(256, &[])?;
//! let filled = graph.fill(memory, 1, &[allocated])?;
//! let downloaded = graph.download(&host, memory, &[allocated])?; // and not behind `filled`
//! graph.free(memory, &[filled, downloaded])?;
//! graph.instantiate()?.launch(&stream)?;
//! stream.synchronize()?;
//! let findings = checker.take();
//! let [Finding::Unordered { parties, bytes, .. }] = &findings[..] else { panic!("{findings:?}") };
//! assert_eq!(parties.each_ref().map(|party| &*party.what), ["memset", "memcpy"]);
//! assert_eq!(bytes.total, 1024);
//! # Ok::<(), aqlipse::Error>(())
//! ```

mod allocations;
mod captured;
mod code;
mod command;
mod commands;
mod dispatched;
mod drawing;
mod finding;
mod host;
mod leak;
mod lives;
mod made;
mod needless;
mod order;
mod report;
mod state;
mod watcher;

pub(crate) use self::{
    allocations::{Allocations, Left, know},
    captured::{Call, CaptureLog, Waited},
    code::kernel_loaded,
    command::{Edges, Inside, Launch, MemoryNode, NodeDispatch, Order, Plans},
    commands::{
        begun, cancel, dispatching, ended, freed_nothing, handed_out, kept_constant, launched, released,
        shared, start, submitted, watches_allocations,
    },
    drawing::Drawing,
    leak::allocated,
    lives::padding,
    made::Site,
    order::Unordered,
};
pub use self::{
    commands::Checker,
    finding::{Bytes, Code, Finding, Frame, Instruction, Made, Misuse, Near, Party, Pc, PlanCost},
    leak::{given, taken},
    report::REPORT_VARIABLE,
};
pub use crate::device::{CHECK_VARIABLE, Tool};
pub use emulator::{AccessFault, Awaited, How, RaceByte, RaceKind, SyncKind, UninitByte, UninitKind};
