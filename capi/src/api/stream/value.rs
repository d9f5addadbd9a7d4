//! Words in memory that streams write and wait for.

use std::ffi::{c_uint, c_void};

use aqlipse::Word;

use crate::{
    api::memory::word::{condition, steps},
    error::hipError_t,
    object,
    types::{hipStream_t, hipStreamBatchMemOpParams},
};

fn wait(
    stream: hipStream_t,
    address: *mut c_void,
    value: Word,
    flags: c_uint,
    mask: u64,
) -> Result<(), hipError_t> {
    Ok(object::stream(stream)?.wait_value(address as u64, condition(flags)?, value, mask)?)
}

// The header: the flags of a write are ignored.
fn write(stream: hipStream_t, address: *mut c_void, value: Word) -> Result<(), hipError_t> {
    Ok(object::stream(stream)?.write_value(address as u64, value)?)
}

entry! {
    /// Holds later work of a stream back until a word of four bytes under a mask meets a condition.
    fn hipStreamWaitValue32(
        stream: hipStream_t,
        address: *mut c_void,
        value: u32,
        flags: c_uint,
        mask: u32,
    ) -> hipError_t {
        wait(stream, address, Word::U32(value), flags, mask.into())
    }
}

entry! {
    /// Holds later work of a stream back until a word of eight bytes under a mask meets a condition.
    fn hipStreamWaitValue64(
        stream: hipStream_t,
        address: *mut c_void,
        value: u64,
        flags: c_uint,
        mask: u64,
    ) -> hipError_t {
        wait(stream, address, Word::U64(value), flags, mask)
    }
}

entry! {
    /// Writes a word of four bytes when a stream gets there.
    fn hipStreamWriteValue32(stream: hipStream_t, address: *mut c_void, value: u32, _flags: c_uint) -> hipError_t {
        write(stream, address, Word::U32(value))
    }
}

entry! {
    /// Writes a word of eight bytes when a stream gets there.
    fn hipStreamWriteValue64(stream: hipStream_t, address: *mut c_void, value: u64, _flags: c_uint) -> hipError_t {
        write(stream, address, Word::U64(value))
    }
}

entry! {
    /// Writes words and waits for words on a stream, one after the other.
    fn hipStreamBatchMemOp(
        stream: hipStream_t,
        count: c_uint,
        params: *mut hipStreamBatchMemOpParams,
        flags: c_uint,
    ) -> hipError_t {
        let stream = object::stream(stream)?;
        // SAFETY: the caller's array.
        Ok(stream.word_steps(&unsafe { steps(count, params, flags) }?)?)
    }
}
