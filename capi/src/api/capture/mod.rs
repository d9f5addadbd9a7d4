//! Stream capture: the calls on a stream become nodes of a graph instead of work.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sequence`] | beginning, ending and asking for captures |

pub(super) mod sequence;
