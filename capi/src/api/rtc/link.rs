//! `hiprtcLink*`.

use std::ffi::{c_char, c_uint, c_void};

use super::{
    linking::{self, Fault},
    result::{
        HIPRTC_ERROR_INTERNAL_ERROR, HIPRTC_ERROR_INVALID_INPUT, HIPRTC_ERROR_PROGRAM_CREATION_FAILURE, code,
        hiprtcResult, of,
    },
};
use crate::{
    caller,
    types::{hipJitInputType, hipJitOption, hiprtcLinkState},
};

fn linked(outcome: Result<(), Fault>) -> hiprtcResult {
    code(outcome.map_err(|fault| match fault {
        Fault::Value => HIPRTC_ERROR_INVALID_INPUT,
        Fault::Link(error) => of(error),
    }))
}

/// An input that cannot be used has a code of its own.
fn added(outcome: Result<(), Fault>) -> hiprtcResult {
    code(outcome.map_err(|fault| match fault {
        Fault::Value => HIPRTC_ERROR_INVALID_INPUT,
        Fault::Link(error) => {
            of(error);
            HIPRTC_ERROR_PROGRAM_CREATION_FAILURE
        }
    }))
}

entry! {
    /// Makes a linker with options: logs, the level of optimisation, options of the code generator.
    plain fn hiprtcLinkCreate(count: c_uint, options: *mut hipJitOption, values: *mut *mut c_void, linker: *mut hiprtcLinkState) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        if linker.is_null() {
            return HIPRTC_ERROR_INVALID_INPUT;
        }
        // SAFETY: the caller's arrays.
        linked(unsafe { linking::create(count, options, values) }.and_then(|handle| {
            // SAFETY: the caller's pointer, which is not null.
            Ok(unsafe { caller::write(linker, hiprtcLinkState(handle)) }?)
        }))
    }
}

entry! {
    /// Adds a file. Options of a single input have no effect, as the linker optimises all of them as a whole.
    plain fn hiprtcLinkAddFile(linker: hiprtcLinkState, kind: hipJitInputType, path: *const c_char, _count: c_uint, _options: *mut hipJitOption, _values: *mut *mut c_void) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        // SAFETY: the caller's string, null or terminated.
        added(unsafe { linking::add_file(linker.0, kind, path) })
    }
}

entry! {
    /// Adds a copy of an input in memory.
    plain fn hiprtcLinkAddData(linker: hiprtcLinkState, kind: hipJitInputType, data: *mut c_void, size: usize, name: *const c_char, _count: c_uint, _options: *mut hipJitOption, _values: *mut *mut c_void) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        // SAFETY: the caller's bytes and string.
        added(unsafe { linking::add_data(linker.0, kind, data, size, name) })
    }
}

entry! {
    /// Links for the current device, and stores where the code object lies and how long it is.
    plain fn hiprtcLinkComplete(linker: hiprtcLinkState, code: *mut *mut c_void, size: *mut usize) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        // SAFETY: the caller's pointers.
        linked(unsafe { linking::complete(linker.0, code, size) })
    }
}

entry! {
    /// Ends a linker, and with it what it has linked.
    plain fn hiprtcLinkDestroy(linker: hiprtcLinkState) -> hiprtcResult, or HIPRTC_ERROR_INTERNAL_ERROR; {
        linked(linking::destroy(linker.0))
    }
}
