//! What the command computes on no device.
//!
//! | module | what it holds |
//! |---|---|
//! | [`offsets`] | places for buffers that are used one after the other, in as few bytes as can be found in the time there is |
//! | [`simulate`] | launches in virtual time |

#![forbid(unsafe_code)]

pub mod offsets;
pub mod simulate;
