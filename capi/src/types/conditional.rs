//! Conditional nodes, of AMD's proposal (`capi/include/aqlipse/hip_graph_conditional.h`).

use std::ffi::c_uint;

use super::hipGraph_t;

c_struct! {
    /// The value that decides at a conditional node, as kernels and callers know it.
    hipGraphConditionalHandle: 24, 8 {
        0 device_ptr: u64,
        8 default_value: u64,
        16 signal_handle: u64,
    }
}

c_struct! {
    /// A conditional node, for `hipGraphAddNode`, which fills it with as many empty bodies as `size` says.
    hipConditionalNodeParams: 40, 8 {
        0 handle: hipGraphConditionalHandle,
        24 r#type: hipGraphConditionalNodeType,
        28 size: c_uint,
        32 phGraph_out: *mut hipGraph_t,
    }
}

c_enum! {
    /// How a conditional node chooses among its bodies.
    hipGraphConditionalNodeType {
        hipGraphCondTypeIf = 0,
        hipGraphCondTypeWhile = 1,
        hipGraphCondTypeSwitch = 2,
    }
}
