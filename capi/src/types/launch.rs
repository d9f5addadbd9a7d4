//! Kernel launches: attributes, configurations, what is known of a function.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};

use super::{
    dim3, hipAccessProperty, hipFunction_t, hipLaunchAttributeID, hipLaunchMemSyncDomain, hipStream_t,
    hipSynchronizationPolicy,
};

c_struct! {
    /// A range of addresses and how caches shall treat it.
    hipAccessPolicyWindow: 32, 8 {
        0 base_ptr: *mut c_void,
        8 hitProp: hipAccessProperty,
        12 hitRatio: f32,
        16 missProp: hipAccessProperty,
        24 num_bytes: usize,
    }
}

c_union! {
    /// The value of a launch attribute.
    ///
    /// 64 bytes since HIP 7 and 32 before: code that writes one to a client of libamdhip64.so.6 or older writes
    /// the active member only.
    hipLaunchAttributeValue: 64, 8 {
        pad: [c_char; 64],
        accessPolicyWindow: hipAccessPolicyWindow,
        cooperative: c_int,
        priority: c_int,
        syncPolicy: hipSynchronizationPolicy,
        memSyncDomainMap: hipLaunchMemSyncDomainMap,
        memSyncDomain: hipLaunchMemSyncDomain,
    }
}

c_struct! {
    /// The domains that the two kinds of kernels are in.
    hipLaunchMemSyncDomainMap: 2, 1 {
        0 default_: c_uchar,
        1 remote: c_uchar,
    }
}

c_struct! {
    /// One attribute of a launch.
    hipLaunchAttribute: 72, 8 {
        0 id: hipLaunchAttributeID,
        8 value: hipLaunchAttributeValue,
    }
}

c_struct! {
    /// The configuration of `hipLaunchKernelExC`.
    hipLaunchConfig_t: 56, 8 {
        0 gridDim: dim3,
        12 blockDim: dim3,
        24 dynamicSmemBytes: usize,
        32 stream: hipStream_t,
        40 attrs: *mut hipLaunchAttribute,
        48 numAttrs: c_uint,
    }
}

c_struct! {
    /// The configuration of `hipDrvLaunchKernelEx`.
    HIP_LAUNCH_CONFIG: 56, 8 {
        0 gridDimX: c_uint,
        4 gridDimY: c_uint,
        8 gridDimZ: c_uint,
        12 blockDimX: c_uint,
        16 blockDimY: c_uint,
        20 blockDimZ: c_uint,
        24 sharedMemBytes: c_uint,
        32 hStream: hipStream_t,
        40 attrs: *mut hipLaunchAttribute,
        48 numAttrs: c_uint,
    }
}

c_struct! {
    /// One device of a multi-device cooperative launch by host function.
    hipLaunchParams: 56, 8 {
        0 func: *mut c_void,
        8 gridDim: dim3,
        20 blockDim: dim3,
        32 args: *mut *mut c_void,
        40 sharedMem: usize,
        48 stream: hipStream_t,
    }
}

c_struct! {
    /// One device of a multi-device cooperative launch by module function.
    hipFunctionLaunchParams: 56, 8 {
        0 function: hipFunction_t,
        8 gridDimX: c_uint,
        12 gridDimY: c_uint,
        16 gridDimZ: c_uint,
        20 blockDimX: c_uint,
        24 blockDimY: c_uint,
        28 blockDimZ: c_uint,
        32 sharedMemBytes: c_uint,
        40 hStream: hipStream_t,
        48 kernelParams: *mut *mut c_void,
    }
}

c_struct! {
    /// What is known of a kernel.
    hipFuncAttributes: 56, 8 {
        0 binaryVersion: c_int,
        4 cacheModeCA: c_int,
        8 constSizeBytes: usize,
        16 localSizeBytes: usize,
        24 maxDynamicSharedSizeBytes: c_int,
        28 maxThreadsPerBlock: c_int,
        32 numRegs: c_int,
        36 preferredShmemCarveout: c_int,
        40 ptxVersion: c_int,
        48 sharedSizeBytes: usize,
    }
}
