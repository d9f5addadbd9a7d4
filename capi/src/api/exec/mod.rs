//! Executable graphs: making them of templates, launching, changing and planning them. What changes one node of an
//! executable stands with the kind of the node.
//!
//! | module | what it holds |
//! |---|---|
//! | [`instantiate`] | making, launching and destroying executables |
//! | [`update`] | updating executables from whole graphs |
//! | [`enabled`] | nodes that do not run for a while |
//! | [`plan`] | plans by measured durations |
//! | [`device_graph`] | graphs that kernels launch |

pub(super) mod device_graph;
pub(super) mod enabled;
pub(super) mod instantiate;
pub(super) mod plan;
pub(super) mod update;
