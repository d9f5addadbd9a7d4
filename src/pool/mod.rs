//! Where offsets and graph memory come from.

pub(crate) mod footprint;
pub(crate) mod graph_memory;
pub mod heap;
pub(crate) mod lease;
pub mod meter;
