//! Conditional nodes, of AMD's proposal (`capi/include/aqlipse/hip_graph_conditional.h`).

c_struct! {
    /// The value that decides at a conditional node, as kernels and callers know it.
    hipGraphConditionalHandle: 24, 8 {
        0 device_ptr: u64,
        8 default_value: u64,
        16 signal_handle: u64,
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
