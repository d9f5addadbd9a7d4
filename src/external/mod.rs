//! Objects that other processes and other APIs share with this one: semaphores, events, the names of memory pools.
//!
//! | module | what it holds |
//! |---|---|
//! | `page` | one page of shared memory: a checked header, words that each process changes, a futex |
//! | `event` | [`EventHandle`]: events that several processes record and wait for |
//! | `pool` | what names a memory pool to other processes |
//! | `semaphore` | [`ExternalSemaphore`]: binary and timeline semaphores behind a file descriptor |

mod event;
mod page;
mod pool;
mod semaphore;

pub use event::EventHandle;
pub(crate) use event::SharedEvent;
pub(crate) use pool::PoolPage;
pub use semaphore::{ExternalSemaphore, SemaphoreKind};
