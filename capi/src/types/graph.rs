//! Parameters of graph nodes, edges and instantiation.

use std::ffi::{c_int, c_uint, c_void};

use super::{
    dim3, hipConditionalNodeParams, hipCtx_t, hipDeviceptr_t, hipEvent_t, hipExternalSemaphore_t,
    hipExternalSemaphoreSignalParams, hipExternalSemaphoreWaitParams, hipGraph_t, hipGraphInstantiateResult,
    hipGraphNode_t, hipGraphNodeType, hipHostFn_t, hipMemAccessDesc, hipMemPoolProps, hipMemcpy3DParms,
    hipStream_t, hipStreamBatchMemOpType,
};

c_struct! {
    /// A kernel node: function, grid, block, dynamic LDS bytes and arguments by either route.
    hipKernelNodeParams: 64, 8 {
        0 blockDim: dim3,
        16 extra: *mut *mut c_void,
        24 func: *mut c_void,
        32 gridDim: dim3,
        48 kernelParams: *mut *mut c_void,
        56 sharedMemBytes: c_uint,
    }
}

c_struct! {
    /// A memset node; `width` counts elements of `elementSize` bytes, `pitch` counts bytes.
    hipMemsetParams: 48, 8 {
        0 dst: *mut c_void,
        8 elementSize: c_uint,
        16 height: usize,
        24 pitch: usize,
        32 value: c_uint,
        40 width: usize,
    }
}

c_struct! {
    /// The memset parameters that `hipDrvGraphAddMemsetNode` takes from clients of libamdhip64.so.6.
    HIP_MEMSET_NODE_PARAMS: 40, 8 {
        0 dst: hipDeviceptr_t,
        8 pitch: usize,
        16 value: c_uint,
        20 elementSize: c_uint,
        24 width: usize,
        32 height: usize,
    }
}

c_struct! {
    /// A host node: the function and its argument.
    hipHostNodeParams: 16, 8 {
        0 r#fn: hipHostFn_t,
        8 userData: *mut c_void,
    }
}

c_struct! {
    /// A memory allocation node; `dptr` is written when the node is added.
    hipMemAllocNodeParams: 120, 8 {
        0 poolProps: hipMemPoolProps,
        88 accessDescs: *const hipMemAccessDesc,
        96 accessDescCount: usize,
        104 bytesize: usize,
        112 dptr: *mut c_void,
    }
}

c_struct! {
    /// A memory free node.
    hipMemFreeNodeParams: 8, 8 {
        0 dptr: *mut c_void,
    }
}

c_struct! {
    /// A memory copy node of `hipGraphAddNode`.
    hipMemcpyNodeParams: 176, 8 {
        0 flags: c_int,
        4 reserved: [c_int; 3],
        16 copyParams: hipMemcpy3DParms,
    }
}

c_struct! {
    /// A child graph node of `hipGraphAddNode`.
    hipChildGraphNodeParams: 8, 8 {
        0 graph: hipGraph_t,
    }
}

c_struct! {
    /// An event record node of `hipGraphAddNode`.
    hipEventRecordNodeParams: 8, 8 {
        0 event: hipEvent_t,
    }
}

c_struct! {
    /// An event wait node of `hipGraphAddNode`.
    hipEventWaitNodeParams: 8, 8 {
        0 event: hipEvent_t,
    }
}

c_struct! {
    /// An external semaphore signal node.
    hipExternalSemaphoreSignalNodeParams: 24, 8 {
        0 extSemArray: *mut hipExternalSemaphore_t,
        8 paramsArray: *const hipExternalSemaphoreSignalParams,
        16 numExtSems: c_uint,
    }
}

c_struct! {
    /// An external semaphore wait node.
    hipExternalSemaphoreWaitNodeParams: 24, 8 {
        0 extSemArray: *mut hipExternalSemaphore_t,
        8 paramsArray: *const hipExternalSemaphoreWaitParams,
        16 numExtSems: c_uint,
    }
}

c_struct! {
    /// A batch of stream memory operations as a node.
    hipBatchMemOpNodeParams: 32, 8 {
        0 ctx: hipCtx_t,
        8 count: c_uint,
        16 paramArray: *mut hipStreamBatchMemOpParams,
        24 flags: c_uint,
    }
}

c_struct! {
    /// A wait for a value in memory, or a write of one: a member of [`hipStreamBatchMemOpParams`].
    ///
    /// The operation names the half of `value` that counts: 32-bit operations use the low four bytes.
    hipStreamMemOpValueParams: 40, 8 {
        0 operation: hipStreamBatchMemOpType,
        8 address: hipDeviceptr_t,
        16 value: u64,
        24 flags: c_uint,
        32 alias: hipDeviceptr_t,
    }
}

c_union! {
    /// One operation of `hipStreamBatchMemOp`; `operation` is the first field of every member.
    hipStreamBatchMemOpParams: 48, 8 {
        operation: hipStreamBatchMemOpType,
        waitValue: hipStreamMemOpValueParams,
        writeValue: hipStreamMemOpValueParams,
        pad: [u64; 6],
    }
}

c_union! {
    /// The parameters inside [`hipGraphNodeParams`]; its `type` says which member is meant.
    hipGraphNodeParamsUnion: 232, 8 {
        reserved1: [i64; 29],
        kernel: hipKernelNodeParams,
        memcpy: hipMemcpyNodeParams,
        memset: hipMemsetParams,
        host: hipHostNodeParams,
        graph: hipChildGraphNodeParams,
        eventWait: hipEventWaitNodeParams,
        eventRecord: hipEventRecordNodeParams,
        extSemSignal: hipExternalSemaphoreSignalNodeParams,
        extSemWait: hipExternalSemaphoreWaitNodeParams,
        alloc: hipMemAllocNodeParams,
        free: hipMemFreeNodeParams,
        // No released header has these; as CUDA's union of the same name, it begins with them where they are meant.
        memOp: hipBatchMemOpNodeParams,
        conditional: hipConditionalNodeParams,
    }
}

c_struct! {
    /// Parameters of any node, for `hipGraphAddNode`.
    hipGraphNodeParams: 256, 8 {
        0 r#type: hipGraphNodeType,
        4 reserved0: [c_int; 3],
        16 params: hipGraphNodeParamsUnion,
        248 reserved2: i64,
    }
}

c_struct! {
    /// Input and results of `hipGraphInstantiateWithParams`.
    hipGraphInstantiateParams: 32, 8 {
        0 errNode_out: hipGraphNode_t,
        8 flags: u64,
        16 result_out: hipGraphInstantiateResult,
        24 uploadStream: hipStream_t,
    }
}

c_struct! {
    /// What an edge carries beside its two ends.
    hipGraphEdgeData: 8, 1 {
        0 from_port: u8,
        1 reserved: [u8; 5],
        6 to_port: u8,
        7 r#type: u8,
    }
}
