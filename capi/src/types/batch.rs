//! Batches of copies.

use std::ffi::{c_uint, c_void};

use super::{hipArray_t, hipExtent, hipMemLocation};

c_enum! {
    /// When the source of a copy of a batch may be read.
    hipMemcpySrcAccessOrder {
        hipMemcpySrcAccessOrderStream = 1,
        hipMemcpySrcAccessOrderDuringApiCall = 2,
        hipMemcpySrcAccessOrderAny = 3,
    }
}

c_enum! {
    /// What an end of a copy of a batch is.
    hipMemcpy3DOperandType {
        hipMemcpyOperandTypePointer = 1,
        hipMemcpyOperandTypeArray = 2,
    }
}

c_struct! {
    /// What some copies of a batch have in common.
    hipMemcpyAttributes: 24, 4 {
        0 srcAccessOrder: hipMemcpySrcAccessOrder,
        4 srcLocHint: hipMemLocation,
        12 dstLocHint: hipMemLocation,
        20 flags: c_uint,
    }
}

c_struct! {
    /// A position in an array, in elements.
    hipOffset3D: 24, 8 {
        0 x: usize,
        8 y: usize,
        16 z: usize,
    }
}

c_struct! {
    /// Memory as an end of a copy; lengths count elements, and 0 means as many as the copy takes.
    hipMemcpy3DPointer: 32, 8 {
        0 ptr: *mut c_void,
        8 rowLength: usize,
        16 layerHeight: usize,
        24 locHint: hipMemLocation,
    }
}

c_struct! {
    /// An array as an end of a copy.
    hipMemcpy3DArray: 32, 8 {
        0 array: hipArray_t,
        8 offset: hipOffset3D,
    }
}

c_union! {
    /// The end inside [`hipMemcpy3DOperand`]; its `type` says which member is meant.
    hipMemcpy3DOperandUnion: 32, 8 {
        ptr: hipMemcpy3DPointer,
        array: hipMemcpy3DArray,
    }
}

c_struct! {
    /// An end of a box copy of a batch.
    hipMemcpy3DOperand: 40, 8 {
        0 r#type: hipMemcpy3DOperandType,
        8 op: hipMemcpy3DOperandUnion,
    }
}

c_struct! {
    /// A box copy of a batch.
    hipMemcpy3DBatchOp: 112, 8 {
        0 src: hipMemcpy3DOperand,
        40 dst: hipMemcpy3DOperand,
        80 extent: hipExtent,
        104 srcAccessOrder: hipMemcpySrcAccessOrder,
        108 flags: c_uint,
    }
}

c_struct! {
    /// A node that copies several runs of bytes.
    hipExtMemcpyBatchNodeParams: 56, 8 {
        0 dsts: *mut *mut c_void,
        8 srcs: *mut *mut c_void,
        16 sizes: *mut usize,
        24 count: usize,
        32 attrs: *mut hipMemcpyAttributes,
        40 attrsIdxs: *mut usize,
        48 numAttrs: usize,
    }
}
