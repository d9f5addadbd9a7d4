//! Words in memory that streams and nodes write and wait for, as callers describe them.

use std::ffi::c_uint;

use aqlipse::{
    Condition, Error, Word,
    graph::{WordAction, WordStep},
};

use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    types::*,
};

/// A batch is smaller than this.
const LIMIT: c_uint = 256;

/// The condition that the flags of a wait name.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub(crate) fn condition(flags: c_uint) -> Result<Condition, hipError_t> {
    Ok(match flags {
        hipStreamWaitValueGte => Condition::AtLeast,
        hipStreamWaitValueEq => Condition::Equal,
        hipStreamWaitValueAnd => Condition::And,
        hipStreamWaitValueNor => Condition::Nor,
        _ => return Err(hipErrorInvalidValue),
    })
}

/// What one operation does.
///
/// # Errors
/// `hipErrorInvalidValue` for unknown operations and conditions, `hipErrorNotSupported` for those that HIP's header
/// names and does not support.
fn step(params: &hipStreamBatchMemOpParams) -> Result<WordStep, hipError_t> {
    // SAFETY: all members are plain data that begin with the operation, and both kinds of operation have one layout.
    let given = unsafe { params.waitValue };
    // CAST: 32-bit operations use the lower half, as the union of the header has it.
    let narrow = Word::U32(given.value as u32);
    let wait = || -> Result<WordAction, hipError_t> {
        Ok(WordAction::Wait { condition: condition(given.flags)?, mask: u64::MAX })
    };
    let (value, action) = match given.operation {
        hipStreamMemOpWaitValue32 => (narrow, wait()?),
        hipStreamMemOpWaitValue64 => (Word::U64(given.value), wait()?),
        // The header: the flags of a write are ignored.
        hipStreamMemOpWriteValue32 => (narrow, WordAction::Write),
        hipStreamMemOpWriteValue64 => (Word::U64(given.value), WordAction::Write),
        hipStreamMemOpBarrier | hipStreamMemOpFlushRemoteWrites => {
            return Err(Error::NotSupported(
                "barriers and flushes in a batch of memory operations: each write releases and each wait acquires",
            )
            .into());
        }
        _ => return Err(hipErrorInvalidValue),
    };
    Ok(WordStep { address: given.address as u64, value, action })
}

/// Reads a batch.
///
/// # Errors
/// `hipErrorInvalidValue` for none or too many operations and for flags, which are reserved; as [`step`].
pub(crate) unsafe fn steps(
    count: c_uint,
    params: *const hipStreamBatchMemOpParams,
    flags: c_uint,
) -> Result<Vec<WordStep>, hipError_t> {
    if count == 0 || count >= LIMIT || flags != 0 {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's array, null or readable.
    unsafe { caller::read_slice(params, count as usize) }?.iter().map(step).collect()
}
