//! Memory, semaphores and events of other APIs and other processes.
//!
//! | module | what it holds |
//! |---|---|
//! | [`external`] | memory and semaphores by file descriptor |
//! | [`ipc`] | memory and events of other processes |

pub(super) mod external;
pub(super) mod ipc;
