//! Objects that other processes and other APIs share with this one: semaphores, memory, events.
//!
//! | module | what it holds |
//! |---|---|
//! | `page` | one page of shared memory: a checked header, words that everybody changes, a futex |
//! | `semaphore` | [`ExternalSemaphore`]: binary and timeline semaphores behind a file descriptor |

mod page;
mod semaphore;

pub use semaphore::{ExternalSemaphore, SemaphoreKind};
