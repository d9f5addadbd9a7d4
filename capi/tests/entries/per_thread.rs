use std::{ptr, thread};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipMemcpy_spt(dst: *mut c_void, src: *const c_void, bytes: usize, kind: hipMemcpyKind) -> hipError_t;
    fn hipMemcpyAsync_spt(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemset_spt(dst: *mut c_void, value: c_int, bytes: usize) -> hipError_t;
    fn hipMemsetAsync_spt(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipStreamSynchronize_spt(stream: hipStream_t) -> hipError_t;
    fn hipStreamQuery_spt(stream: hipStream_t) -> hipError_t;
    fn hipStreamBeginCapture_spt(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture_spt(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipStreamIsCapturing_spt(stream: hipStream_t, status: *mut hipStreamCaptureStatus) -> hipError_t;
    fn hipStreamIsCapturing(stream: hipStream_t, status: *mut hipStreamCaptureStatus) -> hipError_t;
    fn hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
}

// proves: hipMemcpy_spt, hipMemcpyAsync_spt, hipMemset_spt, hipMemsetAsync_spt, hipStreamSynchronize_spt
// proves: hipStreamQuery_spt
#[test]
fn work_on_null_runs_on_the_threads_own_stream() {
    let memory = Memory::of(&[7u32; 64]);
    let mut back = [0u32; 64];
    let bytes = size_of_val(&back);
    let null = hipStream_t::NULL;
    ok!(
        hipMemcpy_spt(back.as_mut_ptr().cast(), memory.pointer(), bytes, hipMemcpyDeviceToHost),
        hipMemset_spt(memory.pointer(), 0, bytes / 2),
        hipMemsetAsync_spt(memory.pointer(), 0x11, 4, null),
        hipMemcpyAsync_spt(back.as_mut_ptr().cast(), memory.pointer(), bytes, hipMemcpyDeviceToHost, null),
        hipStreamSynchronize_spt(null),
        hipStreamQuery_spt(null),
    );
    assert_eq!((back[0], back[1], back[63]), (0x1111_1111, 0, 7));
}

// proves: hipStreamBeginCapture_spt, hipStreamEndCapture_spt, hipStreamIsCapturing_spt
#[test]
fn null_can_be_captured_where_it_is_the_threads_own() {
    // The stream belongs to the thread: another test may run on this one.
    thread::spawn(|| {
        let memory = Memory::of(&[0u32; 16]);
        let null = hipStream_t::NULL;
        let (mut status, mut graph, mut nodes) = (hipStreamCaptureStatusNone, hipGraph_t::NULL, 0);
        ok!(
            hipStreamBeginCapture_spt(null, hipStreamCaptureModeRelaxed),
            hipStreamIsCapturing_spt(null, &mut status),
            hipMemsetAsync_spt(memory.pointer(), 1, 64, null),
        );
        assert_eq!(status, hipStreamCaptureStatusActive);
        fails!(hipErrorStreamCaptureImplicit, hipStreamIsCapturing(null, &mut status));
        ok!(hipStreamEndCapture_spt(null, &mut graph), hipGraphGetNodes(graph, ptr::null_mut(), &mut nodes));
        assert_eq!(nodes, 1);
        ok!(hipGraphDestroy(graph));
    })
    .join()
    .unwrap();
}
