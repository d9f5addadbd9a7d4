//! Streams: queues of work that runs in order.
//!
//! | module | what it holds |
//! |---|---|
//! | [`work`] | making streams and waiting for them; callbacks |
//! | [`attribute`] | attributes of streams |
//! | [`value`] | words in memory that streams write and wait for |
//! | [`execution_context`] | contexts that have some compute units, and streams of their own |

pub(super) mod attribute;
pub(super) mod execution_context;
pub(super) mod value;
pub(super) mod work;
