//! The safe face of the runtime: typed memory, trusted kernels, graphs that keep alive what they use.
//!
//! What a kernel does with the addresses it gets no type can check. That is promised once, when a kernel is taken
//! from a module ([`Kernel::trusted`]); everything after it is safe: buffers outlive the work that uses them,
//! arguments fit, and a dangling address is a device fault, never host memory.
//!
//! | module | what it holds |
//! |---|---|
//! | [`buffer`] | device and pinned host memory |
//! | [`kernel`] | kernels, arguments, launches |
//! | [`graph`] | explicit graphs, capture, executables |

pub mod buffer;
pub mod graph;
pub mod kernel;

pub use buffer::{DeviceBuffer, DeviceSlice, HostBuffer, Plain};
pub use graph::{ExecGraph, Graph, Node};
pub use kernel::{Argument, Kernel, Launch};

use std::{any::Any, sync::Arc};

/// Something that work keeps alive until it has completed.
pub type Alive = Arc<dyn Any + Send + Sync>;
