//! Bodies of conditional nodes as graphs that are captured into, written for Graphviz and given objects to hold.

use std::{
    ffi::CString,
    ptr::{null, null_mut},
    sync::mpsc::{Sender, TryRecvError, channel},
};

use capi::{error::*, types::*};

use super::{functions::*, *};

unsafe extern "C" {
    fn hipStreamBeginCaptureToGraph(
        stream: hipStream_t,
        graph: hipGraph_t,
        dependencies: *const hipGraphNode_t,
        edges: *const hipGraphEdgeData,
        count: usize,
        mode: hipStreamCaptureMode,
    ) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipStreamGetCaptureInfo_v2(
        stream: hipStream_t,
        status: *mut hipStreamCaptureStatus,
        id: *mut u64,
        graph: *mut hipGraph_t,
        dependencies: *mut *const hipGraphNode_t,
        count: *mut usize,
    ) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipGraphConditionalHandleCreate(
        handle: *mut hipGraphConditionalHandle,
        graph: hipGraph_t,
        default_value: u32,
        flags: u32,
    ) -> hipError_t;
    fn hipGraphAddConditionalNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        handle: hipGraphConditionalHandle,
        kind: hipGraphConditionalNodeType,
        body_count: u32,
        bodies: *mut hipGraph_t,
    ) -> hipError_t;
    fn hipGraphConditionalNodeGetBody(node: hipGraphNode_t, index: u32, body: *mut hipGraph_t) -> hipError_t;
}

/// A graph with a conditional node that runs its one body, the node, and that body.
fn graph_with_body() -> (hipGraph_t, hipGraphNode_t, hipGraph_t) {
    let (graph, mut empty) = (new_graph(), new_graph());
    let mut handle = hipGraphConditionalHandle { device_ptr: 0, default_value: 0, signal_handle: 0 };
    let (mut node, mut body) = (hipGraphNode_t::NULL, hipGraph_t::NULL);
    ok!(
        hipGraphConditionalHandleCreate(&mut handle, graph, 1, 1),
        hipGraphAddConditionalNode(&mut node, graph, null(), 0, handle, hipGraphCondTypeIf, 1, &mut empty),
        hipGraphConditionalNodeGetBody(node, 0, &mut body),
        hipGraphDestroy(empty),
    );
    (graph, node, body)
}

fn instantiated(graph: hipGraph_t) -> hipGraphExec_t {
    let mut exec = hipGraphExec_t::NULL;
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    exec
}

fn launch(exec: hipGraphExec_t) {
    ok!(hipGraphLaunch(exec, hipStream_t::NULL), hipStreamSynchronize(hipStream_t::NULL));
}

// proves: hipGraphConditionalNodeGetBody, hipStreamBeginCaptureToGraph
#[test]
fn a_stream_is_captured_into_a_body() {
    let (stream, memory, (graph, node, body)) = (new_stream(), Memory::of(&[0u8; 64]), graph_with_body());
    let (mut captured, mut ended, mut around) = (hipGraph_t::NULL, hipGraph_t::NULL, hipGraph_t::NULL);
    let (mut status, mut id, mut count) = (hipStreamCaptureStatusNone, 0, 0);
    let mode = hipStreamCaptureModeRelaxed;
    ok!(
        hipStreamBeginCaptureToGraph(stream, body, null(), null(), 0, mode),
        hipMemsetAsync(memory.pointer(), 5, 32, stream),
        hipStreamGetCaptureInfo_v2(stream, &mut status, &mut id, &mut captured, null_mut(), &mut count),
        hipMemsetAsync(memory.pointer(), 6, 16, stream),
        hipStreamEndCapture(stream, &mut ended),
        hipGraphGetNodes(body, null_mut(), &mut count),
    );
    assert_eq!((captured, ended, count), (body, body, 2));
    let exec = instantiated(graph);
    launch(exec);
    assert_eq!(memory.read(), [[6u8; 16], [5; 16], [0; 16], [0; 16]].concat());
    // A capture whose graph is gone ends in an error.
    ok!(hipStreamBeginCaptureToGraph(stream, body, null(), null(), 0, mode), hipGraphDestroyNode(node));
    fails!(hipErrorInvalidValue, hipMemsetAsync(memory.pointer(), 5, 32, stream));
    fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut around));
    fails!(hipErrorInvalidValue, hipStreamBeginCaptureToGraph(stream, body, null(), null(), 0, mode));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}

// proves: hipGraphDebugDotPrint
#[test]
fn bodies_are_written_for_graphviz_alone_and_with_their_node() {
    let (graph, node, body) = graph_with_body();
    let mut inside = hipGraphNode_t::NULL;
    ok!(hipGraphAddEmptyNode(&mut inside, body, null(), 0));
    let directory = std::env::temp_dir().join(format!("aqlipse-bodies-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join("bodies.dot");
    let name = CString::new(path.as_os_str().as_encoded_bytes()).expect("a name");
    let written = |graph| {
        ok!(hipGraphDebugDotPrint(graph, name.as_ptr(), hipGraphDebugDotFlagsVerbose.0));
        std::fs::read_to_string(&path).expect("the file was written")
    };
    let (whole, part) = (written(graph), written(body));
    let handles = [node, inside].map(|node| format!("node {:#x}", node.0));
    assert!(handles.iter().all(|handle| whole.contains(handle)), "{whole}");
    assert!(whole.contains("If, bodies: 1") && whole.contains("label=\"body 0\""), "{whole}");
    assert!(!part.contains(&handles[0]) && part.contains(&handles[1]), "{part}");
    std::fs::remove_dir_all(&directory).expect("the directory is ours");
    ok!(hipGraphDestroy(graph));
}

unsafe extern "C" fn tell(end: *mut c_void) {
    // SAFETY: the argument is the sender that the object was made with, which nobody else frees.
    let end = unsafe { Box::from_raw(end.cast::<Sender<()>>()) };
    end.send(()).expect("the test listens");
}

// proves: hipGraphRetainUserObject, hipGraphReleaseUserObject
#[test]
fn a_body_holds_objects_and_so_does_the_executable() {
    let (graph, _, body) = graph_with_body();
    let (sender, ends) = channel::<()>();
    let (mut object, end) = (hipUserObject_t::NULL, Box::into_raw(Box::new(sender)));
    let flags = hipUserObjectNoDestructorSync.0;
    ok!(
        hipUserObjectCreate(&mut object, end.cast(), Some(tell), 1, flags),
        hipGraphRetainUserObject(body, object, 1, hipGraphUserObjectMove.0),
    );
    // The graph around the body has none.
    ok!(hipGraphReleaseUserObject(graph, object, 1));
    let exec = instantiated(graph);
    launch(exec);
    ok!(hipGraphDestroy(graph));
    assert_eq!(ends.try_recv(), Err(TryRecvError::Empty));
    ok!(hipGraphExecDestroy(exec));
    ends.try_recv().expect("nobody holds it any more");
}

// proves: hipGraphNodeSetEnabled, hipGraphNodeGetEnabled
#[test]
fn a_node_of_a_body_is_disabled_by_its_handle() {
    let (memory, (graph, node, body)) = (Memory::of(&[0u32; 4]), graph_with_body());
    let params =
        hipMemsetParams { dst: memory.pointer(), elementSize: 4, height: 1, pitch: 0, value: 3, width: 4 };
    let (mut inside, mut enabled) = (hipGraphNode_t::NULL, 9);
    ok!(hipGraphAddMemsetNode(&mut inside, body, null(), 0, &params));
    let exec = instantiated(graph);
    ok!(hipGraphNodeSetEnabled(exec, inside, 0), hipGraphNodeGetEnabled(exec, inside, &mut enabled));
    assert_eq!(enabled, 0);
    fails!(hipErrorInvalidValue, hipGraphNodeSetEnabled(exec, node, 0));
    launch(exec);
    assert_eq!(memory.read(), [0; 4]);
    ok!(hipGraphNodeSetEnabled(exec, inside, 1));
    launch(exec);
    assert_eq!(memory.read(), [3; 4]);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
}
