//! Nodes of executables that do not run for a while.

use std::ffi::c_uint;

use crate::{caller, error::hipErrorInvalidValue, object, types::*};

entry! {
    /// Lets a kernel, copy or fill of an executable run in later launches, or not.
    fn hipGraphNodeSetEnabled(exec: hipGraphExec_t, node: hipGraphNode_t, enabled: c_uint) -> hipError_t {
        let exec = object::exec(exec)?;
        let (_, id) = object::node(node)?;
        Ok(exec.set_enabled(id, enabled != 0)?)
    }
}

entry! {
    /// Stores whether a kernel, copy or fill of an executable runs in later launches.
    fn hipGraphNodeGetEnabled(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        enabled: *mut c_uint,
    ) -> hipError_t {
        if enabled.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let exec = object::exec(exec)?;
        let (_, id) = object::node(node)?;
        let value = exec.is_enabled(id)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(enabled, value.into()) }
    }
}
