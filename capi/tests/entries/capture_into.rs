//! Captures into graphs that there are already, and what becomes of those meanwhile.

use std::{ptr, thread};

use capi::{error::hipError_t, types::*};

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
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipStreamIsCapturing(stream: hipStream_t, status: *mut hipStreamCaptureStatus) -> hipError_t;
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
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipMallocAsync(address: *mut *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipGraphClone(clone: *mut hipGraph_t, graph: hipGraph_t) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphDestroyNode(node: hipGraphNode_t) -> hipError_t;
    fn hipGraphAddEmptyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
    fn hipGraphAddChildGraphNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        child: hipGraph_t,
    ) -> hipError_t;
    fn hipGraphChildGraphNodeGetGraph(node: hipGraphNode_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
}

const RELAXED: hipStreamCaptureMode = hipStreamCaptureModeRelaxed;

fn begin(stream: hipStream_t, graph: hipGraph_t) -> hipError_t {
    // SAFETY: no dependencies, which null says.
    unsafe { hipStreamBeginCaptureToGraph(stream, graph, ptr::null(), ptr::null(), 0, RELAXED) }
}

fn count(graph: hipGraph_t) -> usize {
    let mut count = 0;
    ok!(hipGraphGetNodes(graph, ptr::null_mut(), &mut count));
    count
}

fn run(graph: hipGraph_t) {
    let (stream, mut exec) = (new_stream(), hipGraphExec_t::NULL);
    ok!(
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
        hipGraphExecDestroy(exec),
        hipStreamDestroy(stream),
    );
}

// proves: hipStreamBeginCaptureToGraph
#[test]
fn a_graph_is_captured_into_twice_and_so_is_its_clone() {
    let (stream, memory, graph) = (new_stream(), Memory::of(&[0u8; 64]), new_graph());
    let (mut ended, mut clone) = (hipGraph_t::NULL, hipGraph_t::NULL);
    for (start, value) in [(0, 1), (16, 2)] {
        let at = memory.pointer().wrapping_byte_add(start);
        ok!(
            begin(stream, graph),
            hipMemsetAsync(at, value, 16, stream),
            hipStreamEndCapture(stream, &mut ended)
        );
        assert_eq!(ended, graph);
    }
    ok!(
        hipGraphClone(&mut clone, graph),
        begin(stream, clone),
        hipMemsetAsync(memory.pointer().wrapping_byte_add(32), 3, 16, stream),
        hipStreamEndCapture(stream, &mut ended),
    );
    assert_eq!((ended, count(graph), count(clone)), (clone, 2, 3));
    run(clone);
    let bytes = memory.read();
    assert_eq!([bytes[0], bytes[16], bytes[32], bytes[48]], [1, 2, 3, 0]);
    ok!(hipGraphDestroy(graph), hipGraphDestroy(clone), hipStreamDestroy(stream));
}

#[test]
fn two_streams_are_captured_into_one_graph_at_once() {
    let (memory, graph) = (Memory::of(&[0u8; 64]), new_graph());
    let address = memory.pointer() as usize;
    thread::scope(|scope| {
        for (start, value) in [(0, 1), (32, 2)] {
            scope.spawn(move || {
                let (stream, mut ended) = (new_stream(), hipGraph_t::NULL);
                let at = (address + start) as *mut c_void;
                ok!(begin(stream, graph));
                for _ in 0..50 {
                    ok!(hipMemsetAsync(at, value, 32, stream));
                }
                ok!(hipStreamEndCapture(stream, &mut ended), hipStreamDestroy(stream));
                assert_eq!(ended, graph);
            });
        }
    });
    assert_eq!(count(graph), 100);
    run(graph);
    assert_eq!(memory.read(), [[1u8; 32], [2; 32]].concat());
    ok!(hipGraphDestroy(graph));
}

// proves: hipStreamBeginCaptureToGraph, hipGraphChildGraphNodeGetGraph
#[test]
fn the_graph_inside_a_child_node_is_captured_into() {
    let (stream, memory, outer, empty) = (new_stream(), Memory::of(&[0u8; 64]), new_graph(), new_graph());
    let (mut node, mut inside, mut ended) = (hipGraphNode_t::NULL, hipGraph_t::NULL, hipGraph_t::NULL);
    let (mut status, mut shown, mut first) =
        (hipStreamCaptureStatusNone, hipGraph_t::NULL, hipGraphNode_t::NULL);
    let (mut tips, mut tip_count) = (ptr::null(), 0);
    ok!(
        hipGraphAddChildGraphNode(&mut node, outer, ptr::null(), 0, empty),
        hipGraphChildGraphNodeGetGraph(node, &mut inside),
        begin(stream, inside),
        hipMemsetAsync(memory.pointer(), 7, 64, stream),
        hipStreamGetCaptureInfo_v2(
            stream,
            &mut status,
            ptr::null_mut(),
            &mut shown,
            &mut tips,
            &mut tip_count
        ),
        hipGraphAddEmptyNode(&mut first, inside, tips, tip_count),
        hipStreamUpdateCaptureDependencies(stream, &mut first, 1, 1),
        hipMemsetAsync(memory.pointer(), 8, 32, stream),
        hipStreamEndCapture(stream, &mut ended),
    );
    assert_eq!((shown, ended, count(inside), count(outer)), (inside, inside, 3, 1));
    run(outer);
    assert_eq!(memory.read(), [[8u8; 32], [7; 32]].concat());
    // What a nested graph cannot hold, a capture into it cannot add.
    let mut address = ptr::null_mut();
    ok!(begin(stream, inside));
    fails!(hipErrorNotSupported, hipMallocAsync(&mut address, 64, stream));
    fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut ended));
    // The node may go while its graph is captured into.
    ok!(begin(stream, inside), hipGraphDestroyNode(node));
    fails!(hipErrorInvalidValue, hipMemsetAsync(memory.pointer(), 9, 64, stream));
    fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut ended));
    ok!(hipGraphDestroy(outer), hipGraphDestroy(empty), hipStreamDestroy(stream));
}

#[test]
fn a_graph_that_is_destroyed_while_it_is_captured_into_comes_back_with_the_end() {
    let (stream, memory, graph) = (new_stream(), Memory::of(&[0u8; 64]), new_graph());
    let mut ended = hipGraph_t::NULL;
    ok!(
        begin(stream, graph),
        hipMemsetAsync(memory.pointer(), 1, 64, stream),
        hipGraphDestroy(graph),
        hipMemsetAsync(memory.pointer(), 2, 32, stream),
        hipStreamEndCapture(stream, &mut ended),
    );
    assert_eq!(count(ended), 2);
    run(ended);
    assert_eq!(memory.read(), [[2u8; 32], [1; 32]].concat());
    ok!(hipGraphDestroy(ended), hipStreamDestroy(stream));
}

#[test]
fn objects_that_a_capture_uses_may_be_destroyed() {
    let (memory, mut graph, mut exec) = (Memory::of(&[0u8; 64]), hipGraph_t::NULL, hipGraphExec_t::NULL);
    let (stream, mut outer) = (new_stream(), hipGraph_t::NULL);
    ok!(
        hipStreamBeginCapture(stream, RELAXED),
        hipMemsetAsync(memory.pointer(), 1, 64, stream),
        hipStreamEndCapture(stream, &mut graph),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipStreamBeginCapture(stream, RELAXED),
        hipGraphLaunch(exec, stream),
        hipGraphExecDestroy(exec),
        hipGraphDestroy(graph),
        hipMemsetAsync(memory.pointer(), 2, 32, stream),
        hipStreamEndCapture(stream, &mut outer),
    );
    assert_eq!(count(outer), 2);
    run(outer);
    assert_eq!(memory.read(), [[2u8; 32], [1; 32]].concat());
    // A stream that captures may go: its capture goes with it.
    let mut ended = hipGraph_t::NULL;
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipStreamDestroy(stream));
    fails!(hipErrorContextIsDestroyed, hipStreamEndCapture(stream, &mut ended));
    drop(Memory::of(&[0u8; 64]));
    ok!(hipGraphDestroy(outer));
}

// proves: hipStreamUpdateCaptureDependencies
#[test]
fn dependencies_are_set_and_added_as_documented() {
    let (stream, memory, mut ended) = (new_stream(), Memory::of(&[0u8; 64]), hipGraph_t::NULL);
    let update = |nodes: &[hipGraphNode_t], count, flags| {
        let first = if nodes.is_empty() { ptr::null_mut() } else { nodes.as_ptr().cast_mut() };
        // SAFETY: null or valid for as many nodes as there can be; the rest is what the call must refuse.
        unsafe { hipStreamUpdateCaptureDependencies(stream, first, count, flags) }
    };
    fails!(hipErrorIllegalState, update(&[], 0, 0));
    for mode in [hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, RELAXED] {
        ok!(hipStreamBeginCapture(stream, mode), hipMemsetAsync(memory.pointer(), 1, 64, stream));
        for flags in [0, 1] {
            ok!(update(&[], 0, flags));
            fails!(hipErrorInvalidValue, update(&[], 1, flags));
            fails!(hipErrorInvalidValue, update(&[hipGraphNode_t(12345)], 1, flags));
            fails!(hipErrorInvalidValue, update(&[hipGraphNode_t::NULL], 1, flags));
            // More than the graph has, and more than the array: it is not read.
            fails!(hipErrorInvalidValue, update(&[hipGraphNode_t(12345)], usize::MAX, flags));
        }
        fails!(hipErrorInvalidValue, update(&[], 0, 2));
        let mut status = hipStreamCaptureStatusNone;
        ok!(hipStreamIsCapturing(stream, &mut status));
        assert_eq!(status, hipStreamCaptureStatusActive, "a refused update breaks nothing");
        ok!(hipStreamEndCapture(stream, &mut ended), hipGraphDestroy(ended));
    }
    ok!(hipStreamBeginCapture(stream, RELAXED));
    fails!(hipErrorStreamCaptureUnsupported, hipStreamSynchronize(stream));
    fails!(hipErrorStreamCaptureInvalidated, update(&[], 0, 0));
    fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut ended));
    ok!(hipStreamDestroy(stream));
}
