//! Graphs that kernels launch: an extension of this library's own (`capi/include/aqlipse/device_graph.h`).

use std::ffi::c_void;

use crate::{caller, error::hipErrorInvalidValue, object, types::*};

entry! {
    /// Stores what kernels launch an executable with that was made with `hipGraphInstantiateFlagDeviceLaunch`.
    fn aqlipseGraphExecGetDeviceGraph(device_graph: *mut *mut c_void, exec: hipGraphExec_t) -> hipError_t {
        if device_graph.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let address = object::exec(exec)?.device_graph()?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(device_graph, address as *mut c_void) }
    }
}
