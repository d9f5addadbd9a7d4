//! The memory of a graph's allocation nodes: which buffers can share bytes, and which chunks each gets.
//!
//! | module | what it holds |
//! |---|---|
//! | [`graph`](mod@graph) | the memory of a graph as data |
//! | [`order`] | which buffers are over when others begin |
//! | [`placement`] | which chunks of physical memory each buffer gets |

pub mod graph;
pub mod order;
pub mod placement;
