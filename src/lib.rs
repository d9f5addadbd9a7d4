//! aqlipse: a HIP graph runtime on HSA queues.

pub mod graph;
pub mod schedule;

mod blit;
pub mod capture;
mod device;
mod dispatch;
mod error;
mod event;
mod exec;
pub mod memory;
pub mod module;
mod pool;
mod stream;
mod template;
pub mod trace;
pub mod typed;

pub use device::{Backend, Device, Fence, Properties, System};
pub use error::{CaptureError, Error, Result, last_error_detail};
pub use event::Event;
pub use exec::{Exec, Options, Report};
pub use module::{Function, KernelCode, Module, check_kernel};
pub use stream::{Stream, StreamKind};
pub use template::Template;

/// A node of a graph of this runtime.
pub type GraphNode = graph::Node<Function, Event>;
