use std::ptr;

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddMemsetNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemsetParams,
    ) -> hipError_t;
    fn hipGraphAddMemAllocNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *mut hipMemAllocNodeParams,
    ) -> hipError_t;
    fn hipGraphAddMemFreeNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        address: *mut c_void,
    ) -> hipError_t;
    fn hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize) -> hipError_t;
    fn hipGraphNodeGetType(node: hipGraphNode_t, kind: *mut hipGraphNodeType) -> hipError_t;
    fn hipGraphDestroyNode(node: hipGraphNode_t) -> hipError_t;
    fn hipGraphClone(clone: *mut hipGraph_t, original: hipGraph_t) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphInstantiateWithParams(
        exec: *mut hipGraphExec_t,
        graph: hipGraph_t,
        params: *mut hipGraphInstantiateParams,
    ) -> hipError_t;
    fn hipGraphExecMemsetNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipMemsetParams,
    ) -> hipError_t;
    fn hipGraphExecUpdate(
        exec: hipGraphExec_t,
        graph: hipGraph_t,
        error_node: *mut hipGraphNode_t,
        result: *mut hipGraphExecUpdateResult,
    ) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
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

fn new_handle(graph: hipGraph_t, default: u32) -> hipGraphConditionalHandle {
    let mut handle = hipGraphConditionalHandle { device_ptr: 0, default_value: 9, signal_handle: 0 };
    ok!(hipGraphConditionalHandleCreate(&mut handle, graph, default, 1));
    handle
}

fn fill(memory: &Memory<u32>, value: u32) -> hipMemsetParams {
    hipMemsetParams { dst: memory.pointer(), elementSize: 4, height: 1, pitch: 0, value, width: 4 }
}

/// A graph that fills memory.
fn filling(memory: &Memory<u32>, value: u32) -> hipGraph_t {
    let (graph, mut node) = (new_graph(), hipGraphNode_t::NULL);
    ok!(hipGraphAddMemsetNode(&mut node, graph, ptr::null(), 0, &fill(memory, value)));
    graph
}

fn add(
    graph: hipGraph_t,
    handle: hipGraphConditionalHandle,
    kind: hipGraphConditionalNodeType,
    bodies: &mut [hipGraph_t],
) -> hipGraphNode_t {
    let mut node = hipGraphNode_t::NULL;
    let count = bodies.len() as u32;
    ok!(hipGraphAddConditionalNode(
        &mut node,
        graph,
        ptr::null(),
        0,
        handle,
        kind,
        count,
        bodies.as_mut_ptr()
    ));
    node
}

fn launch(exec: hipGraphExec_t) {
    ok!(hipGraphLaunch(exec, hipStream_t::NULL), hipStreamSynchronize(hipStream_t::NULL));
}

fn instantiated(graph: hipGraph_t) -> hipGraphExec_t {
    let mut exec = hipGraphExec_t::NULL;
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    exec
}

// proves: hipGraphConditionalHandleCreate, hipGraphAddConditionalNode
#[test]
fn the_default_chooses_a_body_if_no_kernel_does() {
    for (kind, default, expected) in [
        (hipGraphCondTypeIf, 1, 10),
        (hipGraphCondTypeIf, 0, 11),
        (hipGraphCondTypeSwitch, 0, 10),
        (hipGraphCondTypeSwitch, 1, 11),
        (hipGraphCondTypeSwitch, 2, 1),
        (hipGraphCondTypeSwitch, u32::MAX, 1),
    ] {
        let memory = Memory::of(&[1u32; 4]);
        let graph = new_graph();
        let handle = new_handle(graph, default);
        assert_eq!(handle.device_ptr, handle.signal_handle + 8);
        assert_eq!(handle.default_value, u64::from(default));
        let bodies = [filling(&memory, 10), filling(&memory, 11)];
        let node = add(graph, handle, kind, &mut bodies.clone());
        let mut found = hipGraphNodeTypeKernel;
        ok!(hipGraphNodeGetType(node, &mut found));
        assert_eq!(found, hipGraphNodeTypeConditional);
        // The node has copies.
        ok!(hipGraphDestroy(bodies[0]), hipGraphDestroy(bodies[1]));
        let exec = instantiated(graph);
        launch(exec);
        assert_eq!(memory.read(), [expected; 4], "{kind:?} {default}");
        ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
    }
}

// proves: hipGraphConditionalNodeGetBody
#[test]
fn the_graph_that_is_a_body_belongs_to_its_node() {
    let memory = Memory::of(&[0u32; 4]);
    let graph = new_graph();
    let handle = new_handle(graph, 1);
    // Empty bodies, filled through what the node hands out.
    let mut bodies = [new_graph(), new_graph()];
    let node = add(graph, handle, hipGraphCondTypeIf, &mut bodies);
    let (mut body, mut other) = (hipGraph_t::NULL, hipGraph_t::NULL);
    ok!(
        hipGraphConditionalNodeGetBody(node, 0, &mut body),
        hipGraphConditionalNodeGetBody(node, 0, &mut other),
    );
    assert!(body == other && body != bodies[0]);
    ok!(hipGraphConditionalNodeGetBody(node, 1, &mut other));
    assert_ne!(body, other);
    fails!(hipErrorInvalidValue, hipGraphConditionalNodeGetBody(node, 2, &mut other));
    fails!(hipErrorInvalidValue, hipGraphConditionalNodeGetBody(node, 0, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipGraphConditionalNodeGetBody(hipGraphNode_t(77), 0, &mut other));
    fails!(hipErrorInvalidValue, hipGraphDestroy(body));
    let mut inside = hipGraphNode_t::NULL;
    ok!(hipGraphAddMemsetNode(&mut inside, body, ptr::null(), 0, &fill(&memory, 3)));
    fails!(hipErrorInvalidValue, hipGraphConditionalNodeGetBody(inside, 0, &mut other));

    // A conditional node in a body has a handle of the body's, or of a graph around it.
    let (inner, outer) = (new_handle(body, 0), new_handle(graph, 1));
    let mut nested = [filling(&memory, 4)];
    add(body, inner, hipGraphCondTypeIf, &mut nested);
    let deeper = add(body, outer, hipGraphCondTypeIf, &mut nested);
    ok!(hipGraphConditionalNodeGetBody(deeper, 0, &mut other));
    let mut leaf = hipGraphNode_t::NULL;
    let mut count = 1;
    ok!(hipGraphGetNodes(other, &mut leaf, &mut count));

    let exec = instantiated(graph);
    // Its own copy of the graph: what changes here is the executable's node alone.
    ok!(hipGraphExecMemsetNodeSetParams(exec, inside, &fill(&memory, 7)));
    ok!(hipGraphExecMemsetNodeSetParams(exec, leaf, &fill(&memory, 7)));
    launch(exec);
    assert_eq!(memory.read(), [7; 4]);
    let again = instantiated(graph);
    ok!(hipGraphExecMemsetNodeSetParams(again, leaf, &fill(&memory, 3)));
    launch(again);
    assert_eq!(memory.read(), [3; 4]);

    let mut clone = hipGraph_t::NULL;
    let (mut at, mut result) = (hipGraphNode_t::NULL, hipGraphExecUpdateSuccess);
    ok!(hipGraphClone(&mut clone, graph), hipGraphExecUpdate(exec, clone, &mut at, &mut result));
    ok!(hipGraphDestroyNode(node));
    fails!(hipErrorInvalidValue, hipGraphGetNodes(body, ptr::null_mut(), &mut count));
    fails!(hipErrorInvalidValue, hipGraphDestroyNode(inside));
    ok!(hipGraphExecDestroy(exec), hipGraphExecDestroy(again));
}

#[test]
fn bad_arguments_of_conditional_nodes_are_refused() {
    let (graph, other) = (new_graph(), new_graph());
    let (handle, foreign) = (new_handle(graph, 0), new_handle(other, 0));
    let mut out = handle;
    fails!(hipErrorInvalidValue, hipGraphConditionalHandleCreate(ptr::null_mut(), graph, 0, 0));
    fails!(hipErrorInvalidValue, hipGraphConditionalHandleCreate(&mut out, hipGraph_t::NULL, 0, 0));
    fails!(hipErrorInvalidValue, hipGraphConditionalHandleCreate(&mut out, graph, 0, 2));

    let mut node = hipGraphNode_t::NULL;
    let mut bodies = [new_graph(), new_graph(), new_graph()];
    let mut call = |graph, handle, kind, count: u32, bodies: &mut [hipGraph_t]| {
        // SAFETY: the arrays are as long as is said, except where no element is read.
        unsafe {
            hipGraphAddConditionalNode(
                &mut node,
                graph,
                ptr::null(),
                0,
                handle,
                kind,
                count,
                bodies.as_mut_ptr(),
            )
        }
    };
    let (r#if, r#while, switch) = (hipGraphCondTypeIf, hipGraphCondTypeWhile, hipGraphCondTypeSwitch);
    fails!(hipErrorInvalidValue, call(hipGraph_t::NULL, handle, r#if, 1, &mut bodies));
    for (kind, count) in [(r#if, 0), (r#if, 3), (r#while, 0), (r#while, 2), (switch, 0)] {
        fails!(hipErrorInvalidValue, call(graph, handle, kind, count, &mut bodies));
    }
    fails!(hipErrorInvalidValue, call(graph, handle, hipGraphConditionalNodeType(3), 1, &mut bodies));
    fails!(hipErrorInvalidValue, call(graph, foreign, r#if, 1, &mut bodies));
    let garbage = hipGraphConditionalHandle { device_ptr: 72, default_value: 0, signal_handle: 64 };
    fails!(hipErrorInvalidValue, call(graph, garbage, r#if, 1, &mut bodies));
    let mut twice = [bodies[0]; 2];
    fails!(hipErrorInvalidValue, call(graph, handle, r#if, 2, &mut twice));
    let mut null = [bodies[0], hipGraph_t::NULL];
    fails!(hipErrorInvalidValue, call(graph, handle, r#if, 2, &mut null));
    fails!(hipErrorInvalidValue, call(graph, handle, r#if, 1, &mut [graph]));
    let first = bodies.as_mut_ptr();
    fails!(
        hipErrorInvalidValue,
        hipGraphAddConditionalNode(ptr::null_mut(), graph, ptr::null(), 0, handle, r#if, 1, first)
    );
    fails!(
        hipErrorInvalidValue,
        hipGraphAddConditionalNode(&mut node, graph, ptr::null(), 1, handle, r#if, 1, first)
    );
    fails!(
        hipErrorInvalidValue,
        hipGraphAddConditionalNode(&mut node, graph, ptr::null(), 0, handle, r#if, 1, ptr::null_mut())
    );

    // A handle without a node.
    let mut exec = hipGraphExec_t::NULL;
    fails!(hipErrorInvalidValue, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    let mut params = hipGraphInstantiateParams {
        errNode_out: hipGraphNode_t::NULL,
        flags: 0,
        result_out: hipGraphInstantiateSuccess,
        uploadStream: hipStream_t::NULL,
    };
    fails!(hipErrorInvalidValue, hipGraphInstantiateWithParams(&mut exec, graph, &mut params));
    assert_eq!(params.result_out, hipGraphInstantiateConditionalHandleUnused);
    add(graph, handle, r#if, &mut bodies[..1]);
    // A handle with a node.
    fails!(hipErrorInvalidValue, {
        hipGraphAddConditionalNode(&mut node, graph, ptr::null(), 0, handle, r#if, 1, bodies.as_mut_ptr())
    });
    ok!(hipGraphInstantiateWithParams(&mut exec, graph, &mut params), hipGraphExecDestroy(exec));
}

#[test]
fn memory_of_a_body_becomes_the_nodes() {
    let (graph, mut body) = (new_graph(), [new_graph()]);
    let handle = new_handle(graph, 1);
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut wanted: hipMemAllocNodeParams = unsafe { std::mem::zeroed() };
    wanted.poolProps.allocType = hipMemAllocationTypePinned;
    wanted.poolProps.location.r#type = hipMemLocationTypeDevice;
    wanted.bytesize = 16;
    let (mut alloc, mut used, mut free) = (hipGraphNode_t::NULL, hipGraphNode_t::NULL, hipGraphNode_t::NULL);
    ok!(hipGraphAddMemAllocNode(&mut alloc, body[0], ptr::null(), 0, &mut wanted));
    let mut node = hipGraphNode_t::NULL;
    let kind = hipGraphCondTypeIf;
    fails!(
        hipErrorNotSupported,
        hipGraphAddConditionalNode(&mut node, graph, ptr::null(), 0, handle, kind, 1, body.as_mut_ptr())
    );
    let params =
        hipMemsetParams { dst: wanted.dptr, elementSize: 4, height: 1, pitch: 0, value: 5, width: 4 };
    ok!(
        hipGraphAddMemsetNode(&mut used, body[0], &alloc, 1, &params),
        hipGraphAddMemFreeNode(&mut free, body[0], &used, 1, wanted.dptr),
    );
    add(graph, handle, kind, &mut body);
    let mut exec = hipGraphExec_t::NULL;
    fails!(hipErrorNotSupported, hipGraphInstantiateWithFlags(&mut exec, body[0], 0));
    let second = new_handle(graph, 1);
    fails!(
        hipErrorNotSupported,
        hipGraphAddConditionalNode(&mut node, graph, ptr::null(), 0, second, kind, 1, body.as_mut_ptr())
    );
    add(graph, second, kind, &mut [new_graph()]);
    ok!(hipGraphDestroy(body[0]));
    let exec = instantiated(graph);
    launch(exec);
    launch(exec);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
}
