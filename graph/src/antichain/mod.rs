//! Sets of buffers of which none is over when another begins: how heavy they get, and which units of memory each buffer
//! has if all take as few as that.
//!
//! | module | what it holds |
//! |---|---|
//! | [`bits`] | sets of small numbers |
//! | [`bound`] | the heaviest antichain, by flow |
//! | [`mod@peak`] | its weight, for an order that a closure gives |
//! | [`chains`] | units that buffers use one after the other |

pub mod bits;
pub mod bound;
pub mod chains;
pub mod peak;
