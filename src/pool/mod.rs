//! Where graph memory comes from.

mod arena;
pub(crate) mod exec_memory;
pub(crate) mod footprint;
pub(crate) mod graph_memory;
pub(crate) mod mapping;
mod space;
