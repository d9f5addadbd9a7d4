//! Copies, extents, memory pools, virtual memory and IPC handles.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::{
    hipArray_t, hipDeviceptr_t, hipMemAccessFlags, hipMemAllocationHandleType, hipMemAllocationType,
    hipMemLocationType, hipMemcpyKind, hipMemoryType,
};

c_struct! {
    /// A box: width in elements of an array or bytes of linear memory, height in rows, depth in slices.
    hipExtent: 24, 8 {
        0 width: usize,
        8 height: usize,
        16 depth: usize,
    }
}

c_struct! {
    /// A position in a box, in the units of [`hipExtent`].
    hipPos: 24, 8 {
        0 x: usize,
        8 y: usize,
        16 z: usize,
    }
}

c_struct! {
    /// Linear memory in rows of `pitch` bytes, of which `xsize` are used, `ysize` rows to a slice.
    hipPitchedPtr: 32, 8 {
        0 ptr: *mut c_void,
        8 pitch: usize,
        16 xsize: usize,
        24 ysize: usize,
    }
}

c_struct! {
    /// A box copy between arrays and pitched memory.
    hipMemcpy3DParms: 160, 8 {
        0 srcArray: hipArray_t,
        8 srcPos: hipPos,
        32 srcPtr: hipPitchedPtr,
        64 dstArray: hipArray_t,
        72 dstPos: hipPos,
        96 dstPtr: hipPitchedPtr,
        128 extent: hipExtent,
        152 kind: hipMemcpyKind,
    }
}

c_struct! {
    /// The driver-style box copy of HIP 6 and later, with 64-bit counters.
    HIP_MEMCPY3D: 184, 8 {
        0 srcXInBytes: usize,
        8 srcY: usize,
        16 srcZ: usize,
        24 srcLOD: usize,
        32 srcMemoryType: hipMemoryType,
        40 srcHost: *const c_void,
        48 srcDevice: hipDeviceptr_t,
        56 srcArray: hipArray_t,
        64 srcPitch: usize,
        72 srcHeight: usize,
        80 dstXInBytes: usize,
        88 dstY: usize,
        96 dstZ: usize,
        104 dstLOD: usize,
        112 dstMemoryType: hipMemoryType,
        120 dstHost: *mut c_void,
        128 dstDevice: hipDeviceptr_t,
        136 dstArray: hipArray_t,
        144 dstPitch: usize,
        152 dstHeight: usize,
        160 WidthInBytes: usize,
        168 Height: usize,
        176 Depth: usize,
    }
}

c_struct! {
    /// The driver-style box copy up to HIP 5, with 32-bit counters.
    HIP_MEMCPY3D_R0500: 128, 8 {
        0 srcXInBytes: c_uint,
        4 srcY: c_uint,
        8 srcZ: c_uint,
        12 srcLOD: c_uint,
        16 srcMemoryType: hipMemoryType,
        24 srcHost: *const c_void,
        32 srcDevice: hipDeviceptr_t,
        40 srcArray: hipArray_t,
        48 srcPitch: c_uint,
        52 srcHeight: c_uint,
        56 dstXInBytes: c_uint,
        60 dstY: c_uint,
        64 dstZ: c_uint,
        68 dstLOD: c_uint,
        72 dstMemoryType: hipMemoryType,
        80 dstHost: *mut c_void,
        88 dstDevice: hipDeviceptr_t,
        96 dstArray: hipArray_t,
        104 dstPitch: c_uint,
        108 dstHeight: c_uint,
        112 WidthInBytes: c_uint,
        116 Height: c_uint,
        120 Depth: c_uint,
    }
}

c_struct! {
    /// The driver-style rectangle copy.
    hip_Memcpy2D: 128, 8 {
        0 srcXInBytes: usize,
        8 srcY: usize,
        16 srcMemoryType: hipMemoryType,
        24 srcHost: *const c_void,
        32 srcDevice: hipDeviceptr_t,
        40 srcArray: hipArray_t,
        48 srcPitch: usize,
        56 dstXInBytes: usize,
        64 dstY: usize,
        72 dstMemoryType: hipMemoryType,
        80 dstHost: *mut c_void,
        88 dstDevice: hipDeviceptr_t,
        96 dstArray: hipArray_t,
        104 dstPitch: usize,
        112 WidthInBytes: usize,
        120 Height: usize,
    }
}

c_struct! {
    /// A box copy between two devices.
    hipMemcpy3DPeerParms: 168, 8 {
        0 srcArray: hipArray_t,
        8 srcPos: hipPos,
        32 srcPtr: hipPitchedPtr,
        64 srcDevice: c_int,
        72 dstArray: hipArray_t,
        80 dstPos: hipPos,
        104 dstPtr: hipPitchedPtr,
        136 dstDevice: c_int,
        144 extent: hipExtent,
    }
}

c_struct! {
    /// Where memory lives: a kind of place and its number.
    hipMemLocation: 8, 4 {
        0 r#type: hipMemLocationType,
        4 id: c_int,
    }
}

c_struct! {
    /// What a location may do with memory.
    hipMemAccessDesc: 12, 4 {
        0 location: hipMemLocation,
        8 flags: hipMemAccessFlags,
    }
}

c_struct! {
    /// What a memory pool is made of; `maxSize` was reserved before HIP 6 and 0 means no limit.
    hipMemPoolProps: 88, 8 {
        0 allocType: hipMemAllocationType,
        4 handleTypes: hipMemAllocationHandleType,
        8 location: hipMemLocation,
        16 win32SecurityAttributes: *mut c_void,
        24 maxSize: usize,
        32 reserved: [u8; 56],
    }
}

c_struct! {
    /// A pool allocation as another process receives it.
    hipMemPoolPtrExportData: 64, 1 {
        0 reserved: [u8; 64],
    }
}

c_struct! {
    /// Properties of physical memory that only some back ends know.
    hipMemAllocationFlags: 4, 2 {
        0 compressionType: u8,
        1 gpuDirectRDMACapable: u8,
        2 usage: u16,
    }
}

c_struct! {
    /// What physical memory `hipMemCreate` shall allocate.
    hipMemAllocationProp: 32, 8 {
        0 r#type: hipMemAllocationType,
        4 requestedHandleType: hipMemAllocationHandleType,
        8 location: hipMemLocation,
        16 win32HandleMetaData: *mut c_void,
        24 allocFlags: hipMemAllocationFlags,
    }
}

c_struct! {
    /// What the runtime knows of a pointer.
    hipPointerAttribute_t: 32, 8 {
        0 r#type: hipMemoryType,
        4 device: c_int,
        8 devicePointer: *mut c_void,
        16 hostPointer: *mut c_void,
        24 isManaged: c_int,
        28 allocationFlags: c_uint,
    }
}

c_struct! {
    /// Device memory as another process receives it.
    hipIpcMemHandle_t: 64, 1 {
        0 reserved: [c_char; 64],
    }
}

c_struct! {
    /// An event as another process receives it.
    hipIpcEventHandle_t: 64, 1 {
        0 reserved: [c_char; 64],
    }
}
