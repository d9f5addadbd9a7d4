//! Where offsets and graph memory come from.

mod arena;
pub(crate) mod footprint;
pub(crate) mod graph_memory;
pub(crate) mod lease;
pub mod meter;
mod show;
mod space;
