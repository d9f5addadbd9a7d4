use std::{ffi::c_uint, ptr};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddMemAllocNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *mut hipMemAllocNodeParams,
    ) -> hipError_t;
    fn hipGraphAddEmptyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
    fn hipDrvGraphAddMemFreeNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        address: hipDeviceptr_t,
    ) -> hipError_t;
    fn hipGraphMemAllocNodeGetParams(node: hipGraphNode_t, params: *mut hipMemAllocNodeParams) -> hipError_t;
    fn hipGraphMemFreeNodeGetParams(node: hipGraphNode_t, address: *mut c_void) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphExecGetFlags(exec: hipGraphExec_t, flags: *mut u64) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphUpload(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphLaunch_spt(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamBeginCapture_spt(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipStreamGetCaptureInfo(
        stream: hipStream_t,
        status: *mut hipStreamCaptureStatus,
        id: *mut u64,
    ) -> hipError_t;
    fn hipStreamGetCaptureInfo_spt(
        stream: hipStream_t,
        status: *mut hipStreamCaptureStatus,
        id: *mut u64,
    ) -> hipError_t;
    fn hipStreamGetCaptureInfo_v2_spt(
        stream: hipStream_t,
        status: *mut hipStreamCaptureStatus,
        id: *mut u64,
        graph: *mut hipGraph_t,
        dependencies: *mut *const hipGraphNode_t,
        count: *mut usize,
    ) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
}

/// `hipGraphInstantiateFlagAutoFreeOnLaunch`.
const AUTO_FREE: u64 = 1;

fn allocation() -> hipMemAllocNodeParams {
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut params: hipMemAllocNodeParams = unsafe { std::mem::zeroed() };
    params.poolProps.allocType = hipMemAllocationTypePinned;
    params.poolProps.location.r#type = hipMemLocationTypeDevice;
    params.bytesize = 4096;
    params
}

// proves: hipGraphMemAllocNodeGetParams, hipGraphMemFreeNodeGetParams, hipDrvGraphAddMemFreeNode
#[test]
fn memory_nodes_tell_what_they_allocate_and_free() {
    let (mut graph, mut params, mut found) = (hipGraph_t::NULL, allocation(), allocation());
    let [mut allocate, mut free, mut empty] = [hipGraphNode_t::NULL; 3];
    found.bytesize = 0;
    ok!(
        hipGraphCreate(&mut graph, 0),
        hipGraphAddMemAllocNode(&mut allocate, graph, ptr::null(), 0, &mut params),
        hipDrvGraphAddMemFreeNode(&mut free, graph, &allocate, 1, params.dptr),
        hipGraphAddEmptyNode(&mut empty, graph, ptr::null(), 0),
        hipGraphMemAllocNodeGetParams(allocate, &mut found),
    );
    assert_eq!((found.dptr, found.bytesize), (params.dptr, 4096));
    assert_eq!(found.poolProps.location.r#type, hipMemLocationTypeDevice);
    let mut freed = ptr::null_mut::<c_void>();
    ok!(hipGraphMemFreeNodeGetParams(free, (&raw mut freed).cast()));
    assert_eq!(freed, params.dptr);

    fails!(hipErrorInvalidValue, hipGraphMemAllocNodeGetParams(free, &mut found));
    fails!(hipErrorInvalidValue, hipGraphMemAllocNodeGetParams(empty, &mut found));
    fails!(hipErrorInvalidValue, hipGraphMemAllocNodeGetParams(allocate, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipGraphMemFreeNodeGetParams(allocate, (&raw mut freed).cast()));
    fails!(hipErrorInvalidValue, hipGraphMemFreeNodeGetParams(free, ptr::null_mut()));
    // What is freed already, and what is no allocation of a graph.
    let mut again = hipGraphNode_t::NULL;
    fails!(hipErrorInvalidValue, hipDrvGraphAddMemFreeNode(&mut again, graph, &free, 1, params.dptr));
    fails!(
        hipErrorInvalidValue,
        hipDrvGraphAddMemFreeNode(&mut again, graph, ptr::null(), 0, ptr::null_mut())
    );
    ok!(hipGraphDestroy(graph));
    fails!(hipErrorInvalidValue, hipGraphMemAllocNodeGetParams(allocate, &mut found));
}

// proves: hipGraphExecGetFlags, hipGraphUpload, hipGraphLaunch_spt
#[test]
fn an_executable_graph_keeps_its_flags_and_runs_after_an_upload() {
    let (stream, memory) = (new_stream(), Memory::of(&[0u8; 16]));
    let (mut graph, mut exec, mut flags) = (hipGraph_t::NULL, hipGraphExec_t::NULL, 7);
    ok!(
        hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal),
        hipMemsetAsync(memory.pointer(), 9, 16, stream),
        hipStreamEndCapture(stream, &mut graph),
    );
    for wanted in [0, AUTO_FREE] {
        ok!(hipGraphInstantiateWithFlags(&mut exec, graph, wanted), hipGraphExecGetFlags(exec, &mut flags));
        assert_eq!(flags, wanted);
        ok!(hipMemset(memory.pointer(), 0, 16), hipGraphUpload(exec, stream), hipStreamSynchronize(stream));
        assert_eq!(memory.read(), [0; 16], "an upload runs nothing");
        ok!(hipGraphLaunch_spt(exec, hipStream_t::NULL), hipStreamSynchronize(hipStreamPerThread));
        assert_eq!(memory.read(), [9; 16]);
        fails!(hipErrorInvalidValue, hipGraphExecGetFlags(exec, ptr::null_mut()));
        fails!(hipErrorContextIsDestroyed, hipGraphUpload(exec, hipStream_t(0x5eed)));
        ok!(hipGraphExecDestroy(exec));
    }
    fails!(hipErrorInvalidValue, hipGraphExecGetFlags(exec, &mut flags));
    fails!(hipErrorInvalidValue, hipGraphUpload(exec, stream));
    fails!(hipErrorInvalidValue, hipGraphLaunch_spt(exec, stream));
    ok!(hipGraphDestroy(graph), hipStreamDestroy(stream));
}

// proves: hipStreamGetCaptureInfo, hipStreamGetCaptureInfo_spt, hipStreamGetCaptureInfo_v2_spt
#[test]
fn a_capture_has_one_number_for_all_who_ask() {
    let stream = new_stream();
    let (mut status, mut id, mut graph) = (hipStreamCaptureStatusActive, 0, hipGraph_t::NULL);
    ok!(hipStreamGetCaptureInfo(stream, &mut status, &mut id));
    assert_eq!(status, hipStreamCaptureStatusNone);
    ok!(
        hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal),
        hipStreamGetCaptureInfo(stream, &mut status, &mut id),
    );
    assert_eq!(status, hipStreamCaptureStatusActive);
    assert_ne!(id, 0);
    let mut other = 0;
    ok!(
        hipStreamGetCaptureInfo_spt(stream, &mut status, &mut other),
        hipStreamEndCapture(stream, &mut graph)
    );
    assert_eq!(other, id);
    ok!(hipGraphDestroy(graph), hipStreamDestroy(stream));
    fails!(hipErrorInvalidValue, hipStreamGetCaptureInfo(hipStream_t::NULL, ptr::null_mut(), &mut id));

    // Null is the thread's own stream to the others: it can be captured.
    let (null, own) = (hipStream_t::NULL, hipStreamPerThread);
    let (mut captured, mut after, mut count) = (hipGraph_t::NULL, ptr::null(), 7);
    let memory = Memory::of(&[0u8; 4]);
    ok!(
        hipStreamBeginCapture_spt(null, hipStreamCaptureModeThreadLocal),
        hipMemsetAsync(memory.pointer(), 1, 4, own),
        hipStreamGetCaptureInfo_spt(null, &mut status, &mut id),
        hipStreamGetCaptureInfo_v2_spt(null, &mut status, &mut other, &mut captured, &mut after, &mut count),
    );
    assert_eq!((status, other, count), (hipStreamCaptureStatusActive, id, 1));
    ok!(hipStreamEndCapture(own, &mut graph));
    assert_eq!(captured, graph);
    ok!(hipGraphDestroy(graph));
}
