//! `hiprtcResult`.

use hiprtc::Error;

use crate::error::hipError_t;

/// A code of the run-time compiler.
#[allow(non_camel_case_types)]
pub type hiprtcResult = u32;

pub const HIPRTC_SUCCESS: hiprtcResult = 0;
pub const HIPRTC_ERROR_OUT_OF_MEMORY: hiprtcResult = 1;
pub const HIPRTC_ERROR_PROGRAM_CREATION_FAILURE: hiprtcResult = 2;
pub const HIPRTC_ERROR_INVALID_INPUT: hiprtcResult = 3;
pub const HIPRTC_ERROR_INVALID_PROGRAM: hiprtcResult = 4;
pub const HIPRTC_ERROR_INVALID_OPTION: hiprtcResult = 5;
pub const HIPRTC_ERROR_COMPILATION: hiprtcResult = 6;
pub const HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION: hiprtcResult = 8;
pub const HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID: hiprtcResult = 10;
pub const HIPRTC_ERROR_LINKING: hiprtcResult = 100;
pub use crate::entry::HIPRTC_ERROR_INTERNAL_ERROR;

/// The code of an outcome.
pub fn code(outcome: Result<(), hiprtcResult>) -> hiprtcResult {
    outcome.err().unwrap_or(HIPRTC_SUCCESS)
}

/// The code of what `body` does.
pub fn coded(body: impl FnOnce() -> Result<(), hiprtcResult>) -> hiprtcResult {
    code(body())
}

/// The code of an error, whose sentence goes to the log.
pub fn of(error: Error) -> hiprtcResult {
    tracing::info!("{error}");
    match error {
        Error::Option { .. } | Error::NoTarget => HIPRTC_ERROR_INVALID_OPTION,
        Error::Header { .. } | Error::Input { .. } => HIPRTC_ERROR_INVALID_INPUT,
        Error::Compilation(_) => HIPRTC_ERROR_COMPILATION,
        Error::Linking(_) => HIPRTC_ERROR_LINKING,
        Error::Compiled => HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
        Error::NotCompiled => HIPRTC_ERROR_INVALID_PROGRAM,
        Error::UnknownName(_) => HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID,
        // No compiler, or files that cannot be used; and variants that this library does not know yet.
        _ => HIPRTC_ERROR_INTERNAL_ERROR,
    }
}

/// What a wrong pointer, or no memory for a copy, means here.
pub fn of_caller(error: hipError_t) -> hiprtcResult {
    if error == crate::error::hipErrorOutOfMemory {
        HIPRTC_ERROR_OUT_OF_MEMORY
    } else {
        HIPRTC_ERROR_INVALID_INPUT
    }
}
