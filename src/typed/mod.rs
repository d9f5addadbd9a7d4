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
//! | [`place`] | graphs described from their root on |
//! | [`record`] | graphs whose edges follow from the memory that work touches |
//! | [`captured`] | work that becomes a graph when it first runs, updates |
//! | [`cache`] | temporary memory that a captured run and its relaunches share |
//!
//! `docs/rust.md` says the same thing in HIP, AMDGPU.jl, Kokkos, SYCL and here.

mod access;
pub mod buffer;
pub mod cache;
pub mod captured;
pub mod graph;
pub mod kernel;
pub mod place;
pub mod record;

pub use access::Touch;
pub use buffer::{DeviceBuffer, DeviceSlice, HostBuffer, Plain};
pub use cache::{AllocationCache, CacheScope};
pub use captured::Captured;
pub use graph::{ExecGraph, Graph, Node};
pub use kernel::{Argument, Kernel, Launch, ReadOnly};
pub use place::{Place, when_all};
pub use record::Recording;

pub use crate::device::fence::Alive;
