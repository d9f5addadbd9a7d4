//! Error codes, their texts, and the calling thread's error state.

use std::{
    ffi::{CStr, c_char, c_int},
    ptr,
};

use crate::{
    caller,
    entry::{last_error, take_latest},
    error::{hipError_t, hipErrorInvalidValue, hipSuccess},
};

/// Turns a code into the outcome of an entry.
fn outcome(code: hipError_t) -> Result<(), hipError_t> {
    if code == hipSuccess { Ok(()) } else { Err(code) }
}

entry! {
    /// Returns the calling thread's last error and forgets it.
    quiet fn hipGetLastError() -> hipError_t {
        outcome(last_error(true))
    }
}

entry! {
    /// Returns the calling thread's last error.
    quiet fn hipPeekAtLastError() -> hipError_t {
        outcome(last_error(false))
    }
}

entry! {
    /// Returns the outcome of the calling thread's last call, success included, and forgets it.
    quiet fn hipExtGetLastError() -> hipError_t {
        outcome(take_latest())
    }
}

entry! {
    /// Returns a code's name.
    plain fn hipGetErrorName(code: hipError_t) -> *const c_char, or ptr::null(); {
        code.name().as_ptr()
    }
}

entry! {
    /// Returns a code's text.
    plain fn hipGetErrorString(code: hipError_t) -> *const c_char, or ptr::null(); {
        code.text().as_ptr()
    }
}

entry! {
    /// Stores a code's name; a number that is no code is an invalid value, and reads as unknown.
    fn hipDrvGetErrorName(code: hipError_t, name: *mut *const c_char) -> hipError_t {
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(name, code.name().as_ptr())? };
        known(code)
    }
}

entry! {
    /// Stores a code's text; a number that is no code is an invalid value, and reads as unknown.
    fn hipDrvGetErrorString(code: hipError_t, text: *mut *const c_char) -> hipError_t {
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(text, code.text().as_ptr())? };
        known(code)
    }
}

// HIP: 6.4.3 stores the unknown error's name and text and returns hipErrorInvalidValue.
fn known(code: hipError_t) -> Result<(), hipError_t> {
    if code.is_known() { Ok(()) } else { Err(hipErrorInvalidValue) }
}

entry! {
    /// Returns the name of a `hiprtcResult`; null for a number that is none.
    plain fn hiprtcGetErrorString(result: c_int) -> *const c_char, or ptr::null(); {
        hiprtc_name(result).map_or(ptr::null(), CStr::as_ptr)
    }
}

// HIP: 6.4.3, hiprtcGetErrorString of every number; it prints "(null)" for the rest.
fn hiprtc_name(result: c_int) -> Option<&'static CStr> {
    Some(match result {
        0 => c"HIPRTC_SUCCESS",
        1 => c"HIPRTC_ERROR_OUT_OF_MEMORY",
        2 => c"HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
        3 => c"HIPRTC_ERROR_INVALID_INPUT",
        4 => c"HIPRTC_ERROR_INVALID_PROGRAM",
        5 => c"HIPRTC_ERROR_INVALID_OPTION",
        6 => c"HIPRTC_ERROR_COMPILATION",
        7 => c"HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        8 => c"HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        9 => c"HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        10 => c"HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        11 => c"HIPRTC_ERROR_INTERNAL_ERROR",
        100 => c"HIPRTC_ERROR_LINKING",
        _ => return None,
    })
}
