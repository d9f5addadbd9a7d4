//! What concerns the library itself and no object of it: errors, versions, the exported functions by name or number, and
//! what tools ask for.
//!
//! | module | what it holds |
//! |---|---|
//! | [`error`] | error codes, their texts, the thread's error state |
//! | [`version`] | version numbers |
//! | [`lookup`] | the exported functions by name |
//! | [`api_id`] | the exported functions by number |
//! | [`logging`] | names of functions and commands; more or less on stderr |
//! | [`callbacks`] | what profilers are told |
//! | [`profiler`] | what tools ask of the library itself |
//! | [`half`] | half precision for compilers without `_Float16` |

pub(super) mod api_id;
pub(super) mod callbacks;
pub(super) mod error;
pub(super) mod half;
pub(super) mod logging;
pub(super) mod lookup;
pub(super) mod profiler;
pub(super) mod version;
