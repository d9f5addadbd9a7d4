//! Options of a module's loader and of linkers. Most are those of CUDA's just-in-time compiler, of which there is none here;
//! what remains is to answer in the logs that a caller gives room for.

use std::ffi::{c_char, c_uint, c_void};

use crate::{
    caller,
    error::hipError_t,
    types::{
        hipJitOption, hipJitOptionErrorLogBuffer, hipJitOptionErrorLogBufferSizeBytes,
        hipJitOptionInfoLogBuffer, hipJitOptionInfoLogBufferSizeBytes,
    },
};

/// A log of the caller's.
struct Log {
    buffer: *mut c_char,
    room: usize,
    /// Where the caller reads how much of it is filled.
    filled: *mut *mut c_void,
}

/// Both logs of the caller's.
pub(in crate::api) struct Logs {
    info: Option<Log>,
    error: Option<Log>,
}

impl Logs {
    /// Finds the logs in a list of options; others are not looked at.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for arrays that end in the middle of memory, as [`caller::read_slice`] has it.
    ///
    /// # Safety
    /// Both arrays are null or have `count` elements; the buffers among the values are null or as large as the sizes beside
    /// them, and stay.
    // HIP: 5.2.3 takes any option and any value (tests/conformance/module_load_options.hip).
    pub(in crate::api) unsafe fn find(
        count: c_uint,
        options: *const hipJitOption,
        values: *mut *mut c_void,
    ) -> Result<Self, hipError_t> {
        if options.is_null() || values.is_null() {
            return Ok(Self { info: None, error: None });
        }
        // SAFETY: the caller's arrays, which are not null.
        let named = unsafe { caller::read_slice(options, count as usize) }?;
        let log = |buffer, size| -> Result<Option<Log>, hipError_t> {
            let place =
                |option| named.iter().position(|named| *named == option).map(|n| values.wrapping_add(n));
            let (Some(buffer), Some(filled)) = (place(buffer), place(size)) else { return Ok(None) };
            // SAFETY: elements of the caller's array.
            let (buffer, room) = unsafe { (caller::read(buffer)?, caller::read(filled)?) };
            // The size is the value itself, not behind it.
            Ok(Some(Log { buffer: buffer.cast(), room: room as usize, filled }))
        };
        Ok(Self {
            info: log(hipJitOptionInfoLogBuffer, hipJitOptionInfoLogBufferSizeBytes)?,
            error: log(hipJitOptionErrorLogBuffer, hipJitOptionErrorLogBufferSizeBytes)?,
        })
    }

    /// Writes what went wrong, or nothing, into the log of errors, and nothing into the other.
    ///
    /// # Errors
    /// As [`Logs::tell_both`].
    ///
    /// # Safety
    /// As [`Logs::find`].
    pub(super) unsafe fn tell(self, error: &str) -> Result<(), hipError_t> {
        // SAFETY: the caller's promise.
        unsafe { self.tell_both("", error) }
    }

    /// Writes a text into each log, as a string that is cut where the room ends, and its length without the end.
    ///
    /// # Errors
    /// As [`caller::write_text`].
    ///
    /// # Safety
    /// As [`Logs::find`].
    pub(in crate::api) unsafe fn tell_both(self, info: &str, error: &str) -> Result<(), hipError_t> {
        for (log, text) in [(self.info, info), (self.error, error)] {
            let Some(Log { buffer, room, filled }) = log.filter(|log| !log.buffer.is_null() && log.room > 0)
            else {
                continue;
            };
            let length = text.len().min(room - 1);
            // SAFETY: the caller's promise.
            unsafe {
                caller::write_text(text, buffer, room)?;
                caller::write(filled, length as *mut c_void)?;
            }
        }
        Ok(())
    }
}
