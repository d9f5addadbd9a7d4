//! Functions of the caller's that streams and graphs call on the host.

use std::ffi::{c_uint, c_void};

use aqlipse::{capture, graph::HostFn};

use crate::{
    error::{hipError_t, hipErrorInvalidValue, hipSuccess},
    object,
    types::*,
};

/// A call of a caller's function with its argument, from whatever thread the stream's work runs on.
pub(crate) fn host_function(function: hipHostFn_t, user_data: *mut c_void) -> Result<HostFn, hipError_t> {
    let call = function.ok_or(hipErrorInvalidValue)?;
    let (data, address) = (user_data as usize, call as usize);
    let run = move || {
        // SAFETY: the caller that gave the function promised that it may be called with this argument when the stream or
        // graph gets there.
        unsafe { call(data as *mut c_void) }
    };
    Ok(HostFn::with_words(run, address, data))
}

entry! {
    /// Calls a function on the host when a stream gets there; later work of the stream waits for it.
    fn hipLaunchHostFunc(stream: hipStream_t, function: hipHostFn_t, user_data: *mut c_void) -> hipError_t {
        let call = host_function(function, user_data)?;
        Ok(object::stream(stream)?.host(call)?)
    }
}

entry! {
    /// Calls a callback when a stream gets there; later work of the stream waits for it.
    fn hipStreamAddCallback(
        stream: hipStream_t,
        callback: hipStreamCallback_t,
        user_data: *mut c_void,
        flags: c_uint,
    ) -> hipError_t {
        let call = callback.ok_or(hipErrorInvalidValue)?;
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let target = object::stream(stream)?;
        capture::refuse_callback(&target)?;
        let data = user_data as usize;
        let run = move || {
            // SAFETY: the caller that gave the callback promised that it may be called so when the stream gets there.
            unsafe { call(stream, hipSuccess, data as *mut c_void) }
        };
        Ok(target.host(HostFn::new(run))?)
    }
}
