//! Counts and sizes that nobody has: the answer is an error, and the process goes on.

use std::{
    ffi::{c_uint, c_ulonglong},
    ptr,
};

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::line;

unsafe extern "C" {
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddEmptyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
    fn hipGraphAddDependencies(
        graph: hipGraph_t,
        from: *const hipGraphNode_t,
        to: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
    fn hipGraphRemoveDependencies(
        graph: hipGraph_t,
        from: *const hipGraphNode_t,
        to: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
    fn hipGraphAddMemAllocNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *mut hipMemAllocNodeParams,
    ) -> hipError_t;
    fn hipMemcpyBatchAsync(
        dsts: *mut *mut c_void,
        srcs: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        attributes: *mut hipMemcpyAttributes,
        places: *mut usize,
        attribute_count: usize,
        failed: *mut usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy3DBatchAsync(
        count: usize,
        ops: *mut hipMemcpy3DBatchOp,
        failed: *mut usize,
        flags: u64,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemRangeGetAttributes(
        data: *mut *mut c_void,
        sizes: *mut usize,
        attributes: *mut hipMemRangeAttribute,
        count: usize,
        start: *const c_void,
        bytes: usize,
    ) -> hipError_t;
    fn hipSetupArgument(argument: *const c_void, bytes: usize, offset: usize) -> hipError_t;
    fn hipConfigureCall(grid: dim3, block: dim3, shared_bytes: usize, stream: hipStream_t) -> hipError_t;
    fn __hipPopCallConfiguration(
        grid: *mut dim3,
        block: *mut dim3,
        shared_bytes: *mut usize,
        stream: *mut hipStream_t,
    ) -> hipError_t;
    fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipMallocManaged(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipMallocPitch(address: *mut *mut c_void, pitch: *mut usize, width: usize, rows: usize) -> hipError_t;
    fn hipMallocAsync(address: *mut *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipMalloc3DArray(
        array: *mut hipArray_t,
        desc: *const hipChannelFormatDesc,
        extent: hipExtent,
        flags: c_uint,
    ) -> hipError_t;
    fn hipMallocMipmappedArray(
        array: *mut hipMipmappedArray_t,
        desc: *const hipChannelFormatDesc,
        extent: hipExtent,
        levels: c_uint,
        flags: c_uint,
    ) -> hipError_t;
    fn hipFreeMipmappedArray(array: hipMipmappedArray_t) -> hipError_t;
    fn hipMemcpy2D(
        dst: *mut c_void,
        dst_pitch: usize,
        src: *const c_void,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemset2D(dst: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) -> hipError_t;
    fn hipHostRegister(address: *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipMemAddressReserve(
        address: *mut *mut c_void,
        bytes: usize,
        alignment: usize,
        wanted: *mut c_void,
        flags: c_ulonglong,
    ) -> hipError_t;
}

/// More than any address space has room for, as a number of bytes or of words: the second of which overflows no integer.
const ABSURD: [usize; 4] = [usize::MAX, usize::MAX / 8, 1 << 60, 1 << 47];

/// An error, whichever: the calls disagree on what an absurd count is.
macro_rules! refused {
    ($($call:expr),+ $(,)?) => { $({
        // SAFETY: what is too large is refused before anything behind the first element is read.
        let code = unsafe { $call };
        assert!(
            matches!(code, capi::error::hipErrorInvalidValue | capi::error::hipErrorOutOfMemory
                | capi::error::hipErrorNotSupported | capi::error::hipErrorInvalidPitchValue),
            "{}: {}", stringify!($call), code.name().to_string_lossy()
        );
    })+ };
}

#[test]
fn counts_that_nobody_has_are_refused() {
    let (mut graph, mut node) = (hipGraph_t::NULL, hipGraphNode_t::NULL);
    ok!(hipGraphCreate(&mut graph, 0), hipGraphAddEmptyNode(&mut node, graph, ptr::null(), 0));
    let (mut end, mut bytes, mut attribute) = (ptr::null_mut(), 8, hipMemRangeAttributeReadMostly);
    let mut one = line(1);
    let null = hipStream_t::NULL;
    for count in ABSURD {
        let (mut another, mut failed) = (hipGraphNode_t::NULL, 0);
        // SAFETY: numbers and addresses, of which zero says nothing.
        let mut op: hipMemcpy3DBatchOp = unsafe { std::mem::zeroed() };
        refused!(
            hipGraphAddEmptyNode(&mut another, graph, &node, count),
            hipGraphAddDependencies(graph, &node, &node, count),
            hipGraphRemoveDependencies(graph, &node, &node, count),
            hipMemcpyBatchAsync(
                &mut end,
                &mut end,
                &mut bytes,
                count,
                ptr::null_mut(),
                ptr::null_mut(),
                0,
                &mut failed,
                null
            ),
            hipMemcpy3DBatchAsync(count, &mut op, &mut failed, 0, null),
            hipMemRangeGetAttributes(&mut end, &mut bytes, &mut attribute, count, ptr::null(), 8),
        );
        ok!(hipConfigureCall(one, one, 0, null));
        refused!(
            hipSetupArgument((&raw const bytes).cast(), 8, count),
            hipSetupArgument((&raw const bytes).cast(), count, 0),
        );
        let mut stream = null;
        ok!(__hipPopCallConfiguration(&mut { one }, &mut one, &mut bytes, &mut stream));
    }
    ok!(hipGraphDestroy(graph));
}

#[test]
fn sizes_that_nobody_has_are_refused() {
    let (mut address, mut pitch, mut graph) = (ptr::null_mut(), 0, hipGraph_t::NULL);
    let (mut array, mut node) = (hipArray_t::NULL, hipGraphNode_t::NULL);
    let format = hipChannelFormatDesc { x: 32, y: 0, z: 0, w: 0, f: hipChannelFormatKindUnsigned };
    let (here, mut own) = (Memory::of(&[0u32; 64]), [0u32; 64]);
    ok!(hipGraphCreate(&mut graph, 0));
    for size in ABSURD {
        // SAFETY: integers and addresses, of which zero says nothing.
        let mut params: hipMemAllocNodeParams = unsafe { std::mem::zeroed() };
        params.poolProps.allocType = hipMemAllocationTypePinned;
        params.poolProps.location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 };
        params.bytesize = size;
        let wide = hipExtent { width: size, height: 1, depth: 1 };
        let deep = hipExtent { width: size, height: size, depth: size };
        let host = own.as_mut_ptr().cast::<c_void>();
        refused!(
            hipMalloc(&mut address, size),
            hipHostMalloc(&mut address, size, 0),
            hipMallocManaged(&mut address, size, 1),
            hipMallocPitch(&mut address, &mut pitch, size, 1),
            hipMallocPitch(&mut address, &mut pitch, size, size),
            hipMallocAsync(&mut address, size, hipStream_t::NULL),
            hipMalloc3DArray(&mut array, &format, wide, 0),
            hipMalloc3DArray(&mut array, &format, deep, 0),
            hipGraphAddMemAllocNode(&mut node, graph, ptr::null(), 0, &mut params),
            hipMemcpy2D(here.pointer(), size, host, size, 4, 1 << 40, hipMemcpyHostToDevice),
            hipMemset2D(here.pointer(), size, 0, 4, size),
            hipMemset(here.pointer(), 0, size),
            hipMemcpy(here.pointer(), host, size, hipMemcpyHostToDevice),
            hipMemAddressReserve(&mut address, size, 0, ptr::null_mut(), 0),
        );
        // Why pages that are not there cannot be pinned is the back end's to say.
        // SAFETY: only the pages that are there could be.
        assert_ne!(unsafe { hipHostRegister(host, size, 0) }, capi::error::hipSuccess, "{size}");
    }
    // So many levels there cannot be.
    let (mut mipmap, extent) = (hipMipmappedArray_t::NULL, hipExtent { width: 16, height: 16, depth: 0 });
    fails!(hipErrorInvalidValue, hipMallocMipmappedArray(&mut mipmap, &format, extent, c_uint::MAX, 0));
    assert_eq!(here.read(), [0; 64]);
    ok!(hipGraphDestroy(graph));
}
