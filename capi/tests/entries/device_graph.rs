//! Executables that kernels can launch; kernels that do are in tests/programs/graph_device_launch.hip.

use std::{ffi::c_void, ptr};

use capi::{error::hipError_t, types::*};

use super::{
    process::{again, ends, role},
    *,
};

const UPLOAD: u64 = 2;
const DEVICE_LAUNCH: u64 = 4;

unsafe extern "C" {
    fn aqlipseGraphExecGetDeviceGraph(device_graph: *mut *mut c_void, exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphInstantiateWithParams(
        exec: *mut hipGraphExec_t,
        graph: hipGraph_t,
        params: *mut hipGraphInstantiateParams,
    ) -> hipError_t;
    fn hipGraphExecGetFlags(exec: hipGraphExec_t, flags: *mut u64) -> hipError_t;
    fn hipGraphUpload(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipLaunchHostFunc(
        stream: hipStream_t,
        function: extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> hipError_t;
}

/// A graph of what `work` does with a capturing stream.
fn captured(stream: hipStream_t, work: impl FnOnce()) -> hipGraph_t {
    let mut graph = hipGraph_t::NULL;
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    work();
    ok!(hipStreamEndCapture(stream, &mut graph));
    graph
}

// proves: hipGraphUpload, hipGraphExecGetFlags, aqlipseGraphExecGetDeviceGraph
#[test]
fn an_executable_for_kernels_to_launch_is_uploaded_and_launched_by_the_host() {
    const TEST: &str =
        "device_graph::an_executable_for_kernels_to_launch_is_uploaded_and_launched_by_the_host";
    if role().is_none() {
        for way in ["auto", "launcher"] {
            let child = again(TEST, "launch").env("AQLIPSE_RESIDENT", way).spawn().expect("a process");
            assert!(ends(child).success(), "{way}");
        }
        return;
    }
    let (stream, memory) = (new_stream(), Memory::of(&[0u8; 16]));
    let graph = captured(stream, || ok!(hipMemsetAsync(memory.pointer(), 9, 16, stream)));
    let (mut exec, mut flags, mut device_graph) = (hipGraphExec_t::NULL, 0, ptr::null_mut());
    ok!(
        hipGraphInstantiateWithFlags(&mut exec, graph, DEVICE_LAUNCH),
        hipGraphExecGetFlags(exec, &mut flags),
        hipGraphUpload(exec, stream),
        hipStreamSynchronize(stream),
    );
    assert_eq!((flags, memory.read()), (DEVICE_LAUNCH, vec![0; 16]), "an upload runs nothing");
    ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    assert_eq!(memory.read(), [9; 16]);
    ok!(aqlipseGraphExecGetDeviceGraph(&mut device_graph, exec));
    assert!(!device_graph.is_null());
    fails!(hipErrorInvalidValue, aqlipseGraphExecGetDeviceGraph(ptr::null_mut(), exec));
    fails!(hipErrorContextIsDestroyed, hipGraphUpload(exec, hipStream_t(0x5eed)));
    ok!(hipGraphExecDestroy(exec));
    fails!(hipErrorInvalidValue, aqlipseGraphExecGetDeviceGraph(&mut device_graph, exec));
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    fails!(hipErrorInvalidValue, aqlipseGraphExecGetDeviceGraph(&mut device_graph, exec));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}

// proves: hipGraphInstantiateWithParams
#[test]
fn what_kernels_cannot_launch_is_told_with_its_node() {
    extern "C" fn nothing(_: *mut c_void) {}
    let (stream, memory) = (new_stream(), Memory::of(&[0u8; 16]));
    let mut exec = hipGraphExec_t::NULL;
    let mut params = hipGraphInstantiateParams {
        errNode_out: hipGraphNode_t::NULL,
        flags: DEVICE_LAUNCH | UPLOAD,
        result_out: hipGraphInstantiateError,
        uploadStream: stream,
    };
    let graph = captured(stream, || ok!(hipMemsetAsync(memory.pointer(), 9, 16, stream)));
    ok!(hipGraphInstantiateWithParams(&mut exec, graph, &mut params));
    assert_eq!((params.result_out, params.errNode_out), (hipGraphInstantiateSuccess, hipGraphNode_t::NULL));
    ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    assert_eq!(memory.read(), [9; 16]);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));

    let graph = captured(stream, || ok!(hipLaunchHostFunc(stream, nothing, ptr::null_mut())));
    fails!(hipErrorNotSupported, hipGraphInstantiateWithParams(&mut exec, graph, &mut params));
    assert_eq!(params.result_out, hipGraphInstantiateNodeOperationNotSupported);
    assert_ne!(params.errNode_out, hipGraphNode_t::NULL);
    ok!(hipGraphDestroy(graph), hipStreamDestroy(stream));
}
