//! Where offsets and graph memory come from.

pub(crate) mod graph_memory;
pub mod heap;
