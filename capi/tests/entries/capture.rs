use std::ptr;

use capi::{
    error::{hipError_t, hipErrorStreamCaptureUnjoined, hipSuccess},
    types::*,
};

use super::*;

unsafe extern "C" {
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamBeginCaptureToGraph(
        stream: hipStream_t,
        graph: hipGraph_t,
        dependencies: *const hipGraphNode_t,
        edges: *const hipGraphEdgeData,
        count: usize,
        mode: hipStreamCaptureMode,
    ) -> hipError_t;
    fn hipStreamGetCaptureInfo_v2(
        stream: hipStream_t,
        status: *mut hipStreamCaptureStatus,
        id: *mut u64,
        graph: *mut hipGraph_t,
        dependencies: *mut *const hipGraphNode_t,
        count: *mut usize,
    ) -> hipError_t;
    fn hipStreamUpdateCaptureDependencies(
        stream: hipStream_t,
        dependencies: *mut hipGraphNode_t,
        count: usize,
        flags: u32,
    ) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: u32) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: u32) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddEmptyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
    fn hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize) -> hipError_t;
    fn hipGraphGetEdges(
        graph: hipGraph_t,
        from: *mut hipGraphNode_t,
        to: *mut hipGraphNode_t,
        count: *mut usize,
    ) -> hipError_t;
}

const RELAXED: hipStreamCaptureMode = hipStreamCaptureModeRelaxed;

fn nodes_and_edges(graph: hipGraph_t) -> (usize, usize) {
    let (mut nodes, mut edges) = (0, 0);
    ok!(
        hipGraphGetNodes(graph, ptr::null_mut(), &mut nodes),
        hipGraphGetEdges(graph, ptr::null_mut(), ptr::null_mut(), &mut edges),
    );
    (nodes, edges)
}

// proves: hipStreamGetCaptureInfo_v2, hipStreamUpdateCaptureDependencies
#[test]
fn a_node_can_be_woven_into_a_capture_in_progress() {
    let (stream, memory) = (new_stream(), Memory::of(&[0u8; 64]));
    let (mut status, mut id, mut graph) = (hipStreamCaptureStatusNone, 0, hipGraph_t::NULL);
    let (mut tips, mut count) = (ptr::null(), 9);
    let info = |status: &mut _, id: &mut _, graph: &mut _, tips: &mut _, count: &mut _| {
        ok!(hipStreamGetCaptureInfo_v2(stream, status, id, graph, tips, count));
    };
    info(&mut status, &mut id, &mut graph, &mut tips, &mut count);
    assert_eq!((status, count), (hipStreamCaptureStatusNone, 9), "nothing is stored but the status");

    ok!(hipStreamBeginCapture(stream, RELAXED), hipMemsetAsync(memory.pointer(), 1, 64, stream));
    info(&mut status, &mut id, &mut graph, &mut tips, &mut count);
    assert_eq!((status, count), (hipStreamCaptureStatusActive, 1));
    let mut woven = hipGraphNode_t::NULL;
    ok!(
        hipGraphAddEmptyNode(&mut woven, graph, tips, count),
        hipStreamUpdateCaptureDependencies(stream, &mut woven, 1, 1),
    );
    let (mut again, first) = (hipGraph_t::NULL, id);
    info(&mut status, &mut id, &mut again, &mut tips, &mut count);
    // SAFETY: the array is valid until the next call on the stream.
    assert_eq!((id, again, unsafe { *tips }), (first, graph, woven));
    ok!(hipMemsetAsync(memory.pointer(), 2, 64, stream), hipStreamEndCapture(stream, &mut again));
    assert_eq!(again, graph, "the graph keeps the handle that was shown");
    assert_eq!(nodes_and_edges(graph), (3, 2));
    fails!(
        hipErrorInvalidValue,
        hipStreamGetCaptureInfo_v2(
            stream,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut()
        )
    );
    ok!(hipGraphDestroy(graph), hipStreamDestroy(stream));
}

// proves: hipStreamUpdateCaptureDependencies
#[test]
fn what_a_stream_is_told_not_to_depend_on_need_not_be_joined() {
    let (stream, fork, memory) = (new_stream(), new_stream(), Memory::of(&[0u8; 64]));
    let [mut forked, mut joined] = [hipEvent_t::NULL; 2];
    ok!(hipEventCreate(&mut forked), hipEventCreate(&mut joined));
    let captured = |set: &[hipStream_t], join: bool| {
        let mut graph = hipGraph_t::NULL;
        ok!(
            hipStreamBeginCapture(stream, RELAXED),
            hipMemsetAsync(memory.pointer(), 1, 64, stream),
            hipEventRecord(forked, stream),
            hipStreamWaitEvent(fork, forked, 0),
            hipMemsetAsync(memory.pointer(), 2, 64, fork),
        );
        if join {
            ok!(hipEventRecord(joined, fork), hipStreamWaitEvent(stream, joined, 0));
        }
        for stream in set {
            ok!(hipStreamUpdateCaptureDependencies(*stream, ptr::null_mut(), 0, 1));
        }
        ok!(hipMemsetAsync(memory.pointer(), 3, 64, stream));
        // SAFETY: a place for the graph.
        let ended = unsafe { hipStreamEndCapture(stream, &mut graph) };
        let shape = (ended == hipSuccess).then(|| nodes_and_edges(graph));
        if shape.is_some() {
            ok!(hipGraphDestroy(graph));
        }
        (ended, shape)
    };
    assert_eq!(captured(&[], true), (hipSuccess, Some((3, 3))));
    // The join, and with it what came before on either stream.
    assert_eq!(captured(&[stream], true), (hipSuccess, Some((3, 1))));
    // What the fork has captured.
    assert_eq!(captured(&[fork], false), (hipSuccess, Some((3, 2))));
    // What was captured on the stream alone is no reason to forget the fork.
    assert_eq!(captured(&[stream], false), (hipErrorStreamCaptureUnjoined, None));
    ok!(hipEventDestroy(forked), hipEventDestroy(joined), hipStreamDestroy(stream), hipStreamDestroy(fork));
}

#[test]
fn the_graph_of_a_failed_capture_is_gone() {
    let stream = new_stream();
    let (mut status, mut graph, mut ended) = (hipStreamCaptureStatusNone, hipGraph_t::NULL, hipGraph_t(1));
    let null = ptr::null_mut;
    ok!(
        hipStreamBeginCapture(stream, RELAXED),
        hipStreamGetCaptureInfo_v2(stream, &mut status, null(), &mut graph, ptr::null_mut(), ptr::null_mut()),
    );
    fails!(hipErrorStreamCaptureUnsupported, hipStreamSynchronize(stream));
    fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut ended));
    assert_eq!(ended, hipGraph_t::NULL);
    fails!(hipErrorIllegalState, hipGraphDestroy(graph));
    ok!(hipStreamDestroy(stream));
}

// proves: hipStreamBeginCaptureToGraph
#[test]
fn a_capture_goes_on_in_an_existing_graph() {
    let (stream, memory) = (new_stream(), Memory::of(&[0u8; 64]));
    let (mut graph, mut first, mut ended) = (hipGraph_t::NULL, hipGraphNode_t::NULL, hipGraph_t::NULL);
    ok!(hipGraphCreate(&mut graph, 0), hipGraphAddEmptyNode(&mut first, graph, ptr::null(), 0));
    let begin = |graph, nodes, count, edges, mode| {
        // SAFETY: null or valid; what is not is what the function must refuse.
        unsafe { hipStreamBeginCaptureToGraph(stream, graph, nodes, edges, count, mode) }
    };
    let none = ptr::null();
    fails!(hipErrorInvalidValue, begin(hipGraph_t::NULL, none, 0, ptr::null(), RELAXED));
    fails!(hipErrorInvalidValue, begin(graph, none, 1, ptr::null(), RELAXED));
    fails!(hipErrorInvalidValue, begin(graph, &first, 2, ptr::null(), RELAXED));
    fails!(hipErrorInvalidValue, begin(graph, none, 0, ptr::null(), hipStreamCaptureMode(3)));
    // Edges that are more than dependencies are refused, whatever they are; others are what null means.
    let edge = hipGraphEdgeData { from_port: 0, reserved: [0; 5], to_port: 0, r#type: 0 };
    let refused = |edge: hipGraphEdgeData| begin(graph, &first, 1, &edge, RELAXED);
    fails!(hipErrorNotSupported, refused(hipGraphEdgeData { r#type: 1, ..edge }));
    fails!(hipErrorNotSupported, refused(hipGraphEdgeData { from_port: 1, ..edge }));
    fails!(hipErrorNotSupported, refused(hipGraphEdgeData { to_port: 2, ..edge }));
    fails!(hipErrorInvalidValue, refused(hipGraphEdgeData { r#type: 2, ..edge }));
    fails!(hipErrorInvalidValue, refused(hipGraphEdgeData { reserved: [0, 0, 9, 0, 0], ..edge }));
    ok!(begin(graph, &first, 1, &edge, RELAXED));
    fails!(hipErrorIllegalState, begin(graph, &first, 1, ptr::null(), RELAXED));
    ok!(hipMemsetAsync(memory.pointer(), 1, 64, stream), hipStreamEndCapture(stream, &mut ended));
    assert_eq!(ended, graph);
    assert_eq!(nodes_and_edges(graph), (2, 1));
    ok!(hipGraphDestroy(graph), hipStreamDestroy(stream));
}

#[test]
fn the_graph_of_an_abandoned_capture_is_gone() {
    let stream = new_stream();
    let (mut status, mut graph) = (hipStreamCaptureStatusNone, hipGraph_t::NULL);
    ok!(
        hipStreamBeginCapture(stream, RELAXED),
        hipStreamGetCaptureInfo_v2(
            stream,
            &mut status,
            ptr::null_mut(),
            &mut graph,
            ptr::null_mut(),
            ptr::null_mut()
        ),
    );
    assert_eq!(nodes_and_edges(graph), (0, 0));
    ok!(hipStreamDestroy(stream));
    fails!(hipErrorIllegalState, hipGraphDestroy(graph));
}
