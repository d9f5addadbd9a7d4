//! What profilers register to be told of calls and of what devices do.

use std::ffi::c_void;

use crate::{
    callbacks::{self, ApiCallback, AsyncCallback, IdCallback, SyncCallback},
    error::{hipError_t, hipErrorInvalidValue},
};

entry! {
    /// Has an API callback told when a function begins and ends, by the function's number in the profiler's header, as long
    /// as an activity callback is registered for it.
    // HIP: 5.2.3 leaves the error state alone (tests/conformance/profiler_calls.cpp).
    quiet fn hipRegisterApiCallback(id: u32, callback: Option<ApiCallback>, argument: *mut c_void) -> hipError_t {
        found(callbacks::set_api(id, callback, argument))
    }
}

entry! {
    /// Has no API callback told of a function any more.
    quiet fn hipRemoveApiCallback(id: u32) -> hipError_t {
        found(callbacks::set_api(id, None, std::ptr::null_mut()))
    }
}

entry! {
    /// Has an activity callback asked for the structure that describes a call, and told when the call is over.
    quiet fn hipRegisterActivityCallback(id: u32, callback: Option<SyncCallback>, argument: *mut c_void) -> hipError_t {
        found(callbacks::set_activity(id, callback, argument))
    }
}

entry! {
    /// Has no activity callback told of a function any more.
    quiet fn hipRemoveActivityCallback(id: u32) -> hipError_t {
        found(callbacks::set_activity(id, None, std::ptr::null_mut()))
    }
}

entry! {
    /// Sets which functions are told of what devices do: one on the thread that has a device do something, with the number of
    /// the record that will come; and one with the record. Without both, neither is called.
    plain fn hipInitActivityCallback(id_callback: Option<IdCallback>, op_callback: Option<AsyncCallback>, argument: *mut c_void) -> (), or (); {
        callbacks::set_operations(id_callback, op_callback, argument);
    }
}

entry! {
    /// Has kernels (0), or copies and fills (1) told of or not. Barriers (2) may be enabled, and none is told of.
    plain fn hipEnableActivityCallback(operation: u32, enable: u8) -> bool, or false; {
        callbacks::enable_operation(operation, enable != 0)
    }
}

fn found(is_known: bool) -> Result<(), hipError_t> {
    if is_known { Ok(()) } else { Err(hipErrorInvalidValue) }
}
