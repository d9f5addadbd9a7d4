//! External semaphores by handle.

use aqlipse::external::ExternalSemaphore;

use crate::{
    error::{hipError_t, hipErrorInvalidValue},
    handle::{Kind, Table},
    types::hipExternalSemaphore_t,
};

/// Every semaphore that was imported and not destroyed since.
pub static SEMAPHORES: Table<ExternalSemaphore> = Table::new(Kind::ExternalSemaphore);

/// The semaphore behind a handle.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn semaphore(handle: hipExternalSemaphore_t) -> Result<ExternalSemaphore, hipError_t> {
    SEMAPHORES.get(handle.0).ok_or(hipErrorInvalidValue)
}
