//! Plans by measured durations: an extension of this library's own (`capi/include/aqlipse/graph_plan.h`).

use std::ffi::c_uint;

use crate::{object, types::*};

entry! {
    /// Lets the next launches measure how long the executable's kernels take.
    fn aqlipseGraphExecProfile(exec: hipGraphExec_t, launches: c_uint) -> hipError_t {
        Ok(object::exec(exec)?.profile(launches)?)
    }
}

entry! {
    /// Plans the executable again, with what was measured.
    fn aqlipseGraphExecReplan(exec: hipGraphExec_t) -> hipError_t {
        Ok(object::exec(exec)?.replan()?)
    }
}
