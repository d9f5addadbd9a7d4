//! `hipLink*`.

use std::ffi::{c_char, c_uint, c_void};

use super::linking::{self, Fault};
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidConfiguration, hipErrorInvalidValue},
    types::{hipJitInputType, hipJitOption, hipLinkState_t},
};

impl From<Fault> for hipError_t {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Value => hipErrorInvalidValue,
            Fault::Link(error) => {
                tracing::info!("{error}");
                hipErrorInvalidConfiguration
            }
        }
    }
}

entry! {
    /// Makes a linker with options: logs, the level of optimisation, options of the code generator.
    fn hipLinkCreate(
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
        linker: *mut hipLinkState_t,
    ) -> hipError_t {
        if linker.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's arrays.
        let handle = unsafe { linking::create(count, options, values) }?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(linker, hipLinkState_t(handle)) }
    }
}

entry! {
    /// Adds a file. Options of a single input have no effect, as the linker optimises all of them as a whole.
    fn hipLinkAddFile(
        linker: hipLinkState_t,
        kind: hipJitInputType,
        path: *const c_char,
        _count: c_uint,
        _options: *mut hipJitOption,
        _values: *mut *mut c_void,
    ) -> hipError_t {
        // SAFETY: the caller's string, null or terminated.
        Ok(unsafe { linking::add_file(linker.0, kind, path) }?)
    }
}

entry! {
    /// Adds a copy of an input in memory.
    fn hipLinkAddData(
        linker: hipLinkState_t,
        kind: hipJitInputType,
        data: *mut c_void,
        size: usize,
        name: *const c_char,
        _count: c_uint,
        _options: *mut hipJitOption,
        _values: *mut *mut c_void,
    ) -> hipError_t {
        // SAFETY: the caller's bytes and string.
        Ok(unsafe { linking::add_data(linker.0, kind, data, size, name) }?)
    }
}

entry! {
    /// Links for the current device, and stores where the code object lies and how long it is.
    fn hipLinkComplete(linker: hipLinkState_t, code: *mut *mut c_void, size: *mut usize) -> hipError_t {
        // SAFETY: the caller's pointers.
        Ok(unsafe { linking::complete(linker.0, code, size) }?)
    }
}

entry! {
    /// Ends a linker, and with it what it has linked.
    fn hipLinkDestroy(linker: hipLinkState_t) -> hipError_t {
        Ok(linking::destroy(linker.0)?)
    }
}
