//! Events: marks in a stream that other streams and the host wait for and take times from.
//!
//! | module | what it holds |
//! |---|---|
//! | [`record`] | making, recording and waiting for events; the time between two |

pub(super) mod record;
