//! Memory pools: allocations that happen when a stream gets to them, from memory that a pool keeps for the next one.
//!
//! | module | what it holds |
//! |---|---|
//! | [`stream_ordered`] | pools, their attributes, and allocation on streams |
//! | [`share`] | pools that several processes use |

pub(super) mod share;
pub(super) mod stream_ordered;
