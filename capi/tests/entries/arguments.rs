//! Kernels that are given other arguments and nothing else, one at a time or as a whole graph: what a launch that comes
//! later sees, what one in flight sees, and what is refused.

use std::{
    ptr,
    sync::{
        Mutex,
        mpsc::{Receiver, channel},
    },
};

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::{BLOCK, doubles, line};

unsafe extern "C" {
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: u32) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphDestroyNode(node: hipGraphNode_t) -> hipError_t;
    fn hipGraphAddKernelNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipKernelNodeParams,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphExecUpdate(
        exec: hipGraphExec_t,
        graph: hipGraph_t,
        error_node: *mut hipGraphNode_t,
        result: *mut hipGraphExecUpdateResult,
    ) -> hipError_t;
    fn hipGraphExecKernelNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipKernelNodeParams,
    ) -> hipError_t;
    fn hipLaunchHostFunc(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
}

const SIZE: usize = BLOCK as usize;

/// Doubles that the kernel of all nodes here doubles.
fn ones() -> Memory<f64> {
    Memory::of(&[1.0; SIZE])
}

/// Calls with the parameters of a launch that doubles `memory`.
fn with_params<T>(
    memory: &Memory<f64>,
    blocks: u32,
    call: impl FnOnce(*const hipKernelNodeParams) -> T,
) -> T {
    let mut address = memory.address;
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    call(&hipKernelNodeParams {
        blockDim: line(BLOCK),
        extra: ptr::null_mut(),
        func: doubles().cast_mut(),
        gridDim: line(blocks),
        kernelParams: arguments.as_mut_ptr(),
        sharedMemBytes: 0,
    })
}

/// A chain of kernels that double what they are given.
fn chain(memories: &[&Memory<f64>]) -> (hipGraph_t, Vec<hipGraphNode_t>) {
    let mut graph = hipGraph_t::NULL;
    ok!(hipGraphCreate(&mut graph, 0));
    let mut nodes: Vec<hipGraphNode_t> = Vec::new();
    for memory in memories {
        let mut node = hipGraphNode_t::NULL;
        let after = nodes.last().map_or(ptr::null(), ptr::from_ref);
        let count = usize::from(!after.is_null());
        // SAFETY: the kernel takes one pointer, to doubles for a block.
        let add = |params| unsafe { hipGraphAddKernelNode(&mut node, graph, after, count, params) };
        ok!(with_params(memory, 1, add));
        nodes.push(node);
    }
    (graph, nodes)
}

fn instantiate(graph: hipGraph_t) -> hipGraphExec_t {
    let mut exec = hipGraphExec_t::NULL;
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    exec
}

fn set(exec: hipGraphExec_t, node: hipGraphNode_t, memory: &Memory<f64>) -> hipError_t {
    // SAFETY: the kernel takes one pointer, to doubles for a block.
    with_params(memory, 1, |params| unsafe { hipGraphExecKernelNodeSetParams(exec, node, params) })
}

fn update(exec: hipGraphExec_t, graph: hipGraph_t) {
    let (mut node, mut result) = (hipGraphNode_t::NULL, hipGraphExecUpdateResult(99));
    ok!(hipGraphExecUpdate(exec, graph, &mut node, &mut result));
}

fn firsts<const N: usize>(memories: [&Memory<f64>; N]) -> [f64; N] {
    memories.map(|memory| memory.read()[0])
}

/// Holds a stream back until the sender says so.
fn hold(stream: hipStream_t) -> std::sync::mpsc::Sender<()> {
    unsafe extern "C" fn wait(data: *mut c_void) {
        // SAFETY: the box that `hold` made, which comes here once.
        let gate = unsafe { Box::from_raw(data.cast::<Mutex<Receiver<()>>>()) };
        // A test that has failed lets go of the sender.
        let _ = gate.lock().expect("nobody else has it").recv();
    }
    let (open, gate) = channel();
    let gate = Box::into_raw(Box::new(Mutex::new(gate)));
    ok!(hipLaunchHostFunc(stream, Some(wait), gate.cast()));
    open
}

// proves: hipGraphExecKernelNodeSetParams, hipGraphExecUpdate
#[test]
fn later_launches_use_other_arguments_and_one_in_flight_its_own() {
    let [a, b, c, d] = [(); 4].map(|()| ones());
    let ((graph, nodes), (other, _)) = (chain(&[&a, &a]), chain(&[&c, &d]));
    let exec = instantiate(graph);
    let stream = new_stream();
    ok!(set(exec, nodes[1], &b));
    ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    assert_eq!(firsts([&a, &b]), [2.0, 2.0]);

    let open = hold(stream);
    ok!(hipGraphLaunch(exec, stream));
    update(exec, other);
    update(exec, other);
    ok!(hipGraphLaunch(exec, stream), set(exec, nodes[0], &b), hipGraphLaunch(exec, stream));
    open.send(()).expect("the stream waits for it");
    ok!(hipStreamSynchronize(stream));
    assert_eq!(firsts([&a, &b, &c, &d]), [4.0, 8.0, 2.0, 4.0]);

    // Nothing is in flight any more.
    update(exec, graph);
    ok!(set(exec, nodes[1], &d), hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    assert_eq!(firsts([&a, &b, &c, &d]), [8.0, 8.0, 2.0, 8.0]);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipGraphDestroy(other), hipStreamDestroy(stream));
}

// proves: hipGraphExecKernelNodeSetParams
#[test]
fn a_missing_argument_changes_nothing_and_a_node_that_is_gone_is_refused() {
    let [a, b] = [(); 2].map(|()| ones());
    let (graph, nodes) = chain(&[&a, &a]);
    let exec = instantiate(graph);
    let missing = |params: *const hipKernelNodeParams| {
        // SAFETY: parameters of this test, whose one argument is taken away.
        let mut params = unsafe { *params };
        let mut nothing = [ptr::null_mut::<c_void>()];
        params.kernelParams = nothing.as_mut_ptr();
        // SAFETY: null is what the function must refuse.
        unsafe { hipGraphExecKernelNodeSetParams(exec, nodes[0], &params) }
    };
    fails!(hipErrorInvalidValue, with_params(&b, 1, missing));
    // SAFETY: null is what the function must refuse.
    fails!(hipErrorInvalidValue, unsafe { hipGraphExecKernelNodeSetParams(exec, nodes[0], ptr::null()) });
    ok!(hipGraphLaunch(exec, hipStream_t::NULL));
    assert_eq!(firsts([&a, &b]), [4.0, 1.0]);

    ok!(hipGraphDestroyNode(nodes[1]));
    fails!(hipErrorInvalidValue, set(exec, nodes[1], &b));
    ok!(set(exec, nodes[0], &b), hipGraphLaunch(exec, hipStream_t::NULL));
    assert_eq!(firsts([&a, &b]), [8.0, 2.0]);
    ok!(hipGraphDestroy(graph));
    fails!(hipErrorInvalidValue, set(exec, nodes[0], &a));
    ok!(hipGraphExecDestroy(exec));
    fails!(hipErrorInvalidValue, set(exec, nodes[0], &a));
}

// proves: hipGraphExecKernelNodeSetParams
#[test]
fn a_launch_of_another_size_is_more_than_arguments() {
    let wide = Memory::of(&[1.0; 2 * SIZE]);
    let (graph, nodes) = chain(&[&wide]);
    let exec = instantiate(graph);
    // SAFETY: the memory has doubles for two blocks.
    let two = |params| unsafe { hipGraphExecKernelNodeSetParams(exec, nodes[0], params) };
    ok!(with_params(&wide, 2, two), hipGraphLaunch(exec, hipStream_t::NULL));
    assert_eq!((wide.read()[0], wide.read()[2 * SIZE - 1]), (2.0, 2.0));
    let other = ones();
    ok!(set(exec, nodes[0], &other), hipGraphLaunch(exec, hipStream_t::NULL));
    assert_eq!((wide.read()[2 * SIZE - 1], other.read()[SIZE - 1]), (2.0, 2.0));
    update(exec, graph);
    ok!(hipGraphLaunch(exec, hipStream_t::NULL));
    assert_eq!((wide.read()[0], wide.read()[2 * SIZE - 1]), (4.0, 2.0));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
}

// proves: hipGraphExecKernelNodeSetParams, hipStreamEndCapture
#[test]
fn a_capture_records_the_arguments_that_nodes_were_given_last() {
    let [a, b, c, d] = [(); 4].map(|()| ones());
    let ((graph, nodes), (other, _)) = (chain(&[&a, &a]), chain(&[&c, &d]));
    let exec = instantiate(graph);
    let stream = new_stream();
    let recorded = || {
        let mut captured = hipGraph_t::NULL;
        ok!(
            hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal),
            hipGraphLaunch(exec, stream),
            hipStreamEndCapture(stream, &mut captured),
        );
        let copy = instantiate(captured);
        ok!(hipGraphLaunch(copy, stream), hipStreamSynchronize(stream));
        ok!(hipGraphExecDestroy(copy), hipGraphDestroy(captured));
    };
    ok!(set(exec, nodes[1], &b));
    recorded();
    assert_eq!(firsts([&a, &b, &c, &d]), [2.0, 2.0, 1.0, 1.0]);
    update(exec, other);
    recorded();
    assert_eq!(firsts([&a, &b, &c, &d]), [2.0, 2.0, 2.0, 2.0], "an update replaces them");
    ok!(set(exec, nodes[0], &b));
    recorded();
    assert_eq!(firsts([&a, &b, &c, &d]), [2.0, 4.0, 2.0, 4.0]);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipGraphDestroy(other), hipStreamDestroy(stream));
}
