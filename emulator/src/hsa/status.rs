//! `hsa_status_string`.

use std::ffi::{CStr, c_char};

use hsa_sys::*;

use super::{entry, store};

entry! {
    fn hsa_status_string(status: hsa_status_t, status_string: *mut *const c_char) {
        let text = describe(status).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        // SAFETY: the program's output pointer.
        unsafe { store(status_string, text.as_ptr()) }
    }
}

/// A status in words, after its name in the headers.
fn describe(status: hsa_status_t) -> Option<&'static CStr> {
    Some(match status {
        HSA_STATUS_SUCCESS => c"HSA_STATUS_SUCCESS: done.",
        HSA_STATUS_INFO_BREAK => c"HSA_STATUS_INFO_BREAK: a callback ended the iteration.",
        HSA_STATUS_ERROR => c"HSA_STATUS_ERROR: an error without a closer name.",
        HSA_STATUS_ERROR_INVALID_ARGUMENT => c"HSA_STATUS_ERROR_INVALID_ARGUMENT: an argument is invalid.",
        HSA_STATUS_ERROR_INVALID_QUEUE_CREATION => {
            c"HSA_STATUS_ERROR_INVALID_QUEUE_CREATION: the agent has no such queues."
        }
        HSA_STATUS_ERROR_INVALID_ALLOCATION => {
            c"HSA_STATUS_ERROR_INVALID_ALLOCATION: no such allocation, or none of that size is possible."
        }
        HSA_STATUS_ERROR_INVALID_AGENT => c"HSA_STATUS_ERROR_INVALID_AGENT: no such agent.",
        HSA_STATUS_ERROR_INVALID_REGION => c"HSA_STATUS_ERROR_INVALID_REGION: no such region.",
        HSA_STATUS_ERROR_INVALID_SIGNAL => c"HSA_STATUS_ERROR_INVALID_SIGNAL: no such signal.",
        HSA_STATUS_ERROR_INVALID_QUEUE => c"HSA_STATUS_ERROR_INVALID_QUEUE: no such queue.",
        HSA_STATUS_ERROR_OUT_OF_RESOURCES => {
            c"HSA_STATUS_ERROR_OUT_OF_RESOURCES: memory or another resource is used up."
        }
        HSA_STATUS_ERROR_INVALID_PACKET_FORMAT => {
            c"HSA_STATUS_ERROR_INVALID_PACKET_FORMAT: a packet in a queue is malformed."
        }
        HSA_STATUS_ERROR_RESOURCE_FREE => c"HSA_STATUS_ERROR_RESOURCE_FREE: the resource is in use.",
        HSA_STATUS_ERROR_NOT_INITIALIZED => {
            c"HSA_STATUS_ERROR_NOT_INITIALIZED: the runtime is not initialised."
        }
        HSA_STATUS_ERROR_REFCOUNT_OVERFLOW => {
            c"HSA_STATUS_ERROR_REFCOUNT_OVERFLOW: too many initialisations."
        }
        HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS => {
            c"HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS: the arguments do not go together."
        }
        HSA_STATUS_ERROR_INVALID_INDEX => c"HSA_STATUS_ERROR_INVALID_INDEX: the index is out of range.",
        HSA_STATUS_ERROR_INVALID_ISA => c"HSA_STATUS_ERROR_INVALID_ISA: no such instruction set.",
        HSA_STATUS_ERROR_INVALID_ISA_NAME => {
            c"HSA_STATUS_ERROR_INVALID_ISA_NAME: no instruction set has this name."
        }
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT => {
            c"HSA_STATUS_ERROR_INVALID_CODE_OBJECT: the bytes are no loadable code object."
        }
        HSA_STATUS_ERROR_INVALID_EXECUTABLE => c"HSA_STATUS_ERROR_INVALID_EXECUTABLE: no such executable.",
        HSA_STATUS_ERROR_FROZEN_EXECUTABLE => {
            c"HSA_STATUS_ERROR_FROZEN_EXECUTABLE: the executable is frozen."
        }
        HSA_STATUS_ERROR_INVALID_SYMBOL_NAME => {
            c"HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: the executable has no such symbol."
        }
        HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED => {
            c"HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED: the variable has a definition."
        }
        HSA_STATUS_ERROR_VARIABLE_UNDEFINED => {
            c"HSA_STATUS_ERROR_VARIABLE_UNDEFINED: a variable has no definition."
        }
        HSA_STATUS_ERROR_EXCEPTION => c"HSA_STATUS_ERROR_EXCEPTION: a kernel raised an exception.",
        HSA_STATUS_ERROR_INVALID_CODE_SYMBOL => c"HSA_STATUS_ERROR_INVALID_CODE_SYMBOL: no such code symbol.",
        HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL => {
            c"HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL: no such executable symbol."
        }
        HSA_STATUS_ERROR_INVALID_FILE => c"HSA_STATUS_ERROR_INVALID_FILE: no such open file.",
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER => {
            c"HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER: no such code object reader."
        }
        HSA_STATUS_ERROR_INVALID_CACHE => c"HSA_STATUS_ERROR_INVALID_CACHE: no such cache.",
        HSA_STATUS_ERROR_INVALID_WAVEFRONT => c"HSA_STATUS_ERROR_INVALID_WAVEFRONT: no such wavefront.",
        HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP => {
            c"HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP: no such signal group."
        }
        HSA_STATUS_ERROR_INVALID_RUNTIME_STATE => {
            c"HSA_STATUS_ERROR_INVALID_RUNTIME_STATE: the runtime is in the wrong state for this."
        }
        HSA_STATUS_ERROR_FATAL => c"HSA_STATUS_ERROR_FATAL: an internal error.",
        HSA_STATUS_ERROR_INVALID_MEMORY_POOL => c"HSA_STATUS_ERROR_INVALID_MEMORY_POOL: no such memory pool.",
        HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION => {
            c"HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: a kernel left its group or private memory."
        }
        HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION => {
            c"HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: a kernel contains an instruction that cannot be executed."
        }
        HSA_STATUS_ERROR_MEMORY_FAULT => {
            c"HSA_STATUS_ERROR_MEMORY_FAULT: a kernel accessed memory that its device may not."
        }
        HSA_STATUS_CU_MASK_REDUCED => c"HSA_STATUS_CU_MASK_REDUCED: the mask was set in part.",
        HSA_STATUS_ERROR_OUT_OF_REGISTERS => {
            c"HSA_STATUS_ERROR_OUT_OF_REGISTERS: a workgroup needs more registers than there are."
        }
        HSA_STATUS_ERROR_RESOURCE_BUSY => c"HSA_STATUS_ERROR_RESOURCE_BUSY: the resource is busy.",
        HSA_STATUS_ERROR_NOT_SUPPORTED => c"HSA_STATUS_ERROR_NOT_SUPPORTED: not supported by this device.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use hsa_sys::{hsa_status_t, layout::Enumeration};

    use super::describe;

    #[test]
    fn every_status_of_the_headers_has_a_text_that_starts_with_its_name() {
        for (name, value) in hsa_status_t::CONSTANTS {
            let text = describe(hsa_status_t(*value)).and_then(|t| t.to_str().ok());
            assert!(text.is_some_and(|t| t.starts_with(name)), "{name}");
        }
        assert!(describe(hsa_status_t(0x7777)).is_none());
    }
}
