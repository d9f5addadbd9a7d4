//! The memory of a graph's allocation nodes: which buffers can share bytes, and which chunks each gets.
//!
//! | module | what it holds |
//! |---|---|
//! | [`graph`](mod@graph) | the memory of a graph as data |
//! | [`layout`] | which chunks of physical memory each executable of an arena has |
//! | [`order`] | which buffers are over when others begin |
//! | [`placement`] | which buffers of an executable have the same memory |
//! | [`sizes`] | sizes of chunks |

pub mod graph;
pub mod layout;
pub mod order;
pub mod placement;
pub mod sizes;
