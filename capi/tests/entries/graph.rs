use std::{
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::{BLOCK, doubles, line};

unsafe extern "C" {
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *mut hipGraphNodeParams,
    ) -> hipError_t;
    fn hipGraphNodeSetParams(node: hipGraphNode_t, params: *mut hipGraphNodeParams) -> hipError_t;
    fn hipGraphExecNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *mut hipGraphNodeParams,
    ) -> hipError_t;
    fn hipGraphAddMemcpyNode1D(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphMemcpyNodeGetParams(node: hipGraphNode_t, params: *mut hipMemcpy3DParms) -> hipError_t;
    fn hipGraphMemcpyNodeSetParams(node: hipGraphNode_t, params: *const hipMemcpy3DParms) -> hipError_t;
    fn hipGraphMemcpyNodeSetParams1D(
        node: hipGraphNode_t,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphExecMemcpyNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *mut hipMemcpy3DParms,
    ) -> hipError_t;
    fn hipGraphMemsetNodeGetParams(node: hipGraphNode_t, params: *mut hipMemsetParams) -> hipError_t;
    fn hipGraphMemsetNodeSetParams(node: hipGraphNode_t, params: *const hipMemsetParams) -> hipError_t;
    fn hipGraphHostNodeGetParams(node: hipGraphNode_t, params: *mut hipHostNodeParams) -> hipError_t;
    fn hipGraphHostNodeSetParams(node: hipGraphNode_t, params: *const hipHostNodeParams) -> hipError_t;
    fn hipGraphInstantiateWithParams(
        exec: *mut hipGraphExec_t,
        graph: hipGraph_t,
        params: *mut hipGraphInstantiateParams,
    ) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphAddDependencies(
        graph: hipGraph_t,
        from: *const hipGraphNode_t,
        to: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
}

fn params(kind: hipGraphNodeType, params: hipGraphNodeParamsUnion) -> hipGraphNodeParams {
    hipGraphNodeParams { r#type: kind, reserved0: [0; 3], params, reserved2: 0 }
}

fn fill(dst: *mut c_void, value: u32, width: usize) -> hipMemsetParams {
    hipMemsetParams { dst, elementSize: 4, height: 1, pitch: 4 * width, value, width }
}

fn empty() -> hipGraphNodeParams {
    params(hipGraphNodeTypeEmpty, hipGraphNodeParamsUnion { reserved1: [0; 29] })
}

fn instantiate(graph: hipGraph_t) -> (hipError_t, hipGraphExec_t, hipGraphInstantiateResult) {
    let mut exec = hipGraphExec_t::NULL;
    let mut params = hipGraphInstantiateParams {
        errNode_out: hipGraphNode_t(1),
        flags: 0,
        result_out: hipGraphInstantiateError,
        uploadStream: hipStream_t::NULL,
    };
    // SAFETY: all pointers are valid.
    let code = unsafe { hipGraphInstantiateWithParams(&mut exec, graph, &mut params) };
    (code, exec, params.result_out)
}

// proves: hipGraphAddNode, hipGraphNodeSetParams, hipGraphExecNodeSetParams, hipGraphInstantiateWithParams
#[test]
fn nodes_of_all_kinds_go_through_one_structure() {
    let (values, numbers) = (Memory::of(&[1.0f64; BLOCK as usize]), Memory::of(&[0u32; 4]));
    let (graph, mut pair) = (new_graph(), [hipGraphNode_t::NULL; 2]);
    let mut address = values.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let mut kernel = params(
        hipGraphNodeTypeKernel,
        hipGraphNodeParamsUnion {
            kernel: hipKernelNodeParams {
                blockDim: line(BLOCK),
                extra: ptr::null_mut(),
                func: doubles().cast_mut(),
                gridDim: line(1),
                kernelParams: arguments.as_mut_ptr(),
                sharedMemBytes: 0,
            },
        },
    );
    let set = |value, width| {
        let memset = fill(numbers.pointer(), value, width);
        params(hipGraphNodeTypeMemset, hipGraphNodeParamsUnion { memset })
    };
    ok!(
        hipGraphAddNode(&mut pair[0], graph, ptr::null(), 0, &mut kernel),
        hipGraphAddNode(&mut pair[1], graph, pair.as_ptr(), 1, &mut set(1, 4)),
    );
    let mut third = hipGraphNode_t::NULL;
    ok!(
        hipGraphAddNode(&mut third, graph, pair.as_ptr(), 2, &mut empty()),
        hipGraphNodeSetParams(pair[1], &mut set(2, 4)),
    );
    fails!(hipErrorInvalidValue, hipGraphNodeSetParams(pair[0], &mut set(2, 4)));
    ok!(hipGraphNodeSetParams(third, &mut empty()));
    fails!(hipErrorInvalidValue, hipGraphAddNode(&mut third, graph, ptr::null(), 0, ptr::null_mut()));
    let mut unknown = hipGraphNodeParams { r#type: hipGraphNodeType(99), ..empty() };
    fails!(hipErrorInvalidValue, hipGraphAddNode(&mut third, graph, ptr::null(), 0, &mut unknown));

    let (code, exec, result) = instantiate(graph);
    assert_eq!((code, result), (capi::error::hipSuccess, hipGraphInstantiateSuccess));
    ok!(hipGraphLaunch(exec, hipStream_t::NULL));
    assert_eq!((numbers.read(), values.read()[9]), (vec![2; 4], 2.0));
    ok!(hipGraphExecNodeSetParams(exec, pair[1], &mut set(3, 2)), hipGraphLaunch(exec, hipStream_t::NULL));
    assert_eq!(numbers.read(), [3, 3, 2, 2]);
    fails!(hipErrorInvalidValue, hipGraphExecNodeSetParams(exec, pair[0], &mut set(3, 2)));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
}

#[test]
fn a_cycle_is_an_invalid_structure() {
    let (graph, mut pair) = (new_graph(), [hipGraphNode_t::NULL; 2]);
    ok!(
        hipGraphAddNode(&mut pair[0], graph, ptr::null(), 0, &mut empty()),
        hipGraphAddNode(&mut pair[1], graph, &pair[0], 1, &mut empty()),
        hipGraphAddDependencies(graph, &pair[1], &pair[0], 1),
    );
    let (code, exec, result) = instantiate(graph);
    assert_eq!((code, exec), (capi::error::hipErrorInvalidValue, hipGraphExec_t::NULL));
    assert_eq!(result, hipGraphInstantiateInvalidStructure);
    ok!(hipGraphDestroy(graph));
}

// proves: hipGraphMemcpyNodeGetParams, hipGraphMemcpyNodeSetParams, hipGraphMemcpyNodeSetParams1D
// proves: hipGraphExecMemcpyNodeSetParams
#[test]
fn a_copy_node_tells_and_takes_its_operands() {
    let (from, to) = (Memory::of(&[1u32, 2, 3, 4]), Memory::of(&[0u32; 4]));
    let (graph, mut node) = (new_graph(), hipGraphNode_t::NULL);
    let kind = hipMemcpyDeviceToDevice;
    ok!(hipGraphAddMemcpyNode1D(&mut node, graph, ptr::null(), 0, to.pointer(), from.pointer(), 8, kind));
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut told: hipMemcpy3DParms = unsafe { std::mem::zeroed() };
    ok!(hipGraphMemcpyNodeGetParams(node, &mut told));
    assert_eq!((told.srcPtr.ptr, told.dstPtr.ptr, told.extent.width), (from.pointer(), to.pointer(), 8));
    assert_eq!((told.extent.height, told.extent.depth, told.kind), (1, 1, kind));
    fails!(hipErrorInvalidValue, hipGraphMemcpyNodeGetParams(node, ptr::null_mut()));

    let set = |dst: *mut c_void, src: *mut c_void, bytes| {
        // SAFETY: the call checks its operands.
        unsafe { hipGraphMemcpyNodeSetParams1D(node, dst, src, bytes, kind) }
    };
    ok!(set(to.pointer(), from.pointer(), 16));
    fails!(hipErrorInvalidValue, set(to.pointer(), from.pointer(), 0));
    fails!(hipErrorInvalidValue, set(to.pointer(), from.pointer(), 17));
    fails!(hipErrorInvalidValue, set(to.pointer(), to.pointer().wrapping_byte_add(4), 8));
    fails!(hipErrorInvalidValue, set(ptr::null_mut(), from.pointer(), 8));

    let (code, exec, _) = instantiate(graph);
    assert_eq!(code, capi::error::hipSuccess);
    ok!(hipGraphLaunch(exec, hipStream_t::NULL));
    assert_eq!(to.read(), [1, 2, 3, 4]);
    // The other way round, as a box of one row of 4 bytes.
    std::mem::swap(&mut told.srcPtr, &mut told.dstPtr);
    told.extent.width = 4;
    told.srcPos.x = 4;
    ok!(
        hipGraphExecMemcpyNodeSetParams(exec, node, &mut told),
        hipGraphLaunch(exec, hipStream_t::NULL),
        hipGraphMemcpyNodeSetParams(node, &told),
    );
    assert_eq!(from.read(), [2, 2, 3, 4]);
    told.kind = hipMemcpyDefault;
    fails!(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams(exec, node, &mut told));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
    fails!(hipErrorInvalidValue, hipGraphMemcpyNodeGetParams(node, &mut told));
}

static CALLS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn count(data: *mut c_void) {
    CALLS.fetch_add(data as u32, Ordering::Relaxed);
}

// proves: hipGraphMemsetNodeGetParams, hipGraphMemsetNodeSetParams, hipGraphHostNodeGetParams
// proves: hipGraphHostNodeSetParams
#[test]
fn fill_and_host_nodes_tell_what_they_were_given() {
    let numbers = Memory::of(&[0u32; 4]);
    let (graph, mut pair) = (new_graph(), [hipGraphNode_t::NULL; 2]);
    let memset = hipGraphNodeParamsUnion { memset: fill(numbers.pointer(), 5, 3) };
    let host = hipHostNodeParams { r#fn: Some(count), userData: ptr::without_provenance_mut(3) };
    ok!(
        hipGraphAddNode(&mut pair[0], graph, ptr::null(), 0, &mut params(hipGraphNodeTypeMemset, memset)),
        hipGraphAddNode(
            &mut pair[1],
            graph,
            ptr::null(),
            0,
            &mut params(hipGraphNodeTypeHost, hipGraphNodeParamsUnion { host })
        ),
    );
    let mut told = fill(ptr::null_mut(), 0, 0);
    ok!(hipGraphMemsetNodeGetParams(pair[0], &mut told));
    assert_eq!((told.dst, told.value, told.width, told.elementSize), (numbers.pointer(), 5, 3, 4));
    told.value = 6;
    ok!(hipGraphMemsetNodeSetParams(pair[0], &told));
    told.elementSize = 3;
    fails!(hipErrorInvalidValue, hipGraphMemsetNodeSetParams(pair[0], &told));
    fails!(hipErrorInvalidValue, hipGraphMemsetNodeGetParams(pair[1], &mut told));

    let mut told = hipHostNodeParams { r#fn: None, userData: ptr::null_mut() };
    ok!(hipGraphHostNodeGetParams(pair[1], &mut told));
    assert_eq!(
        (told.r#fn.map(|f| f as usize), told.userData as usize),
        (Some(count as *const () as usize), 3)
    );
    told.userData = ptr::without_provenance_mut(4);
    ok!(hipGraphHostNodeSetParams(pair[1], &told));
    fails!(
        hipErrorInvalidValue,
        hipGraphHostNodeSetParams(pair[1], &hipHostNodeParams { r#fn: None, ..told })
    );
    fails!(hipErrorInvalidValue, hipGraphHostNodeGetParams(pair[0], &mut told));
    let (code, exec, _) = instantiate(graph);
    assert_eq!(code, capi::error::hipSuccess);
    ok!(hipGraphLaunch(exec, hipStream_t::NULL), hipStreamSynchronize(hipStream_t::NULL));
    assert_eq!((numbers.read(), CALLS.load(Ordering::Relaxed)), (vec![6, 6, 6, 0], 4));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
}
