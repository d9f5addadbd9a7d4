//! Nodes of every kind through the one structure that says which: each kind under each of the three calls.

use std::{
    os::fd::{AsRawFd, OwnedFd},
    ptr::{null, null_mut},
};

use aqlipse::external::{ExternalSemaphore, SemaphoreKind};
use capi::{
    error::{hipErrorInvalidValue as INVALID, hipErrorNotSupported as REFUSED, hipSuccess as OK},
    types::*,
};

use super::{
    functions::*,
    program::{doubles, line},
    *,
};

unsafe extern "C" {
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipImportExternalSemaphore(
        semaphore: *mut hipExternalSemaphore_t,
        description: *const hipExternalSemaphoreHandleDesc,
    ) -> hipError_t;
    fn hipDestroyExternalSemaphore(semaphore: hipExternalSemaphore_t) -> hipError_t;
    fn hipGraphConditionalHandleCreate(
        handle: *mut hipGraphConditionalHandle,
        graph: hipGraph_t,
        default_value: u32,
        flags: u32,
    ) -> hipError_t;
    fn hipGraphConditionalNodeGetBody(node: hipGraphNode_t, index: u32, body: *mut hipGraph_t) -> hipError_t;
}

/// What the calls make of a kind whose parameters are right: adding a node, then giving that node parameters, and then
/// the node of an executable.
const CELLS: [(hipGraphNodeType, [hipError_t; 3]); 18] = [
    (hipGraphNodeTypeKernel, [OK, OK, OK]),
    (hipGraphNodeTypeMemcpy, [OK, OK, OK]),
    (hipGraphNodeTypeMemset, [OK, OK, OK]),
    (hipGraphNodeTypeHost, [OK, OK, OK]),
    // The graph inside the node has handles of its own.
    (hipGraphNodeTypeGraph, [OK, REFUSED, OK]),
    (hipGraphNodeTypeEmpty, [OK, OK, OK]),
    (hipGraphNodeTypeWaitEvent, [OK, OK, OK]),
    (hipGraphNodeTypeEventRecord, [OK, OK, OK]),
    (hipGraphNodeTypeExtSemaphoreSignal, [OK, OK, OK]),
    (hipGraphNodeTypeExtSemaphoreWait, [OK, OK, OK]),
    (hipGraphNodeTypeMemAlloc, [OK, REFUSED, REFUSED]),
    (hipGraphNodeTypeMemFree, [OK, REFUSED, REFUSED]),
    // The structure has no place for a symbol.
    (hipGraphNodeTypeMemcpyFromSymbol, [REFUSED, REFUSED, REFUSED]),
    (hipGraphNodeTypeMemcpyToSymbol, [REFUSED, REFUSED, REFUSED]),
    (hipGraphNodeTypeBatchMemOp, [OK, OK, OK]),
    (hipGraphNodeTypeConditional, [OK, REFUSED, REFUSED]),
    (hipGraphNodeTypeExtMemcpyBatch, [OK, OK, OK]),
    (hipGraphNodeType(17), [INVALID, INVALID, INVALID]),
];

unsafe extern "C" fn nothing(_: *mut c_void) {}

/// What stays where it is for as long as the process, for parameters to point to.
fn kept<T: 'static>(value: T) -> *mut T {
    forever(value)
}

/// What nodes work on.
struct World {
    a: Memory<u32>,
    b: Memory<u32>,
    event: hipEvent_t,
    semaphore: hipExternalSemaphore_t,
    _descriptor: OwnedFd,
    child: hipGraph_t,
}

impl World {
    fn new() -> Self {
        let (descriptor, _) = ExternalSemaphore::create(SemaphoreKind::Timeline, 0).unwrap();
        // The import takes a descriptor over.
        let given = descriptor.try_clone().unwrap();
        // SAFETY: numbers and pointers, for which zeros are values.
        let mut description: hipExternalSemaphoreHandleDesc = unsafe { std::mem::zeroed() };
        description.r#type = hipExternalSemaphoreHandleTypeTimelineSemaphoreFd;
        description.handle.fd = given.as_raw_fd();
        let (mut semaphore, mut event) = (hipExternalSemaphore_t::NULL, hipEvent_t::NULL);
        ok!(hipImportExternalSemaphore(&mut semaphore, &description), hipEventCreate(&mut event));
        std::mem::forget(given);
        let (child, mut node) = (new_graph(), hipGraphNode_t::NULL);
        ok!(hipGraphAddEmptyNode(&mut node, child, null(), 0));
        let (a, b) = (Memory::of(&[1u32; 64]), Memory::of(&[2u32; 64]));
        Self { a, b, event, semaphore, _descriptor: descriptor, child }
    }

    /// Parameters of a kind for a node of a graph.
    fn params(&self, kind: hipGraphNodeType, graph: hipGraph_t) -> hipGraphNodeParams {
        // SAFETY: numbers and pointers, for which zeros are values; as below.
        let mut params: hipGraphNodeParams = unsafe { std::mem::zeroed() };
        params.r#type = kind;
        let (a, b) = (self.a.pointer(), self.b.pointer());
        let union = &mut params.params;
        match kind {
            hipGraphNodeTypeKernel => {
                union.kernel = hipKernelNodeParams {
                    blockDim: line(8),
                    extra: null_mut(),
                    func: doubles().cast_mut(),
                    gridDim: line(1),
                    kernelParams: kept([kept(a).cast::<c_void>()]).cast(),
                    sharedMemBytes: 0,
                };
            }
            hipGraphNodeTypeMemcpy => {
                let pitched = |ptr| hipPitchedPtr { ptr, pitch: 64, xsize: 64, ysize: 1 };
                let corner = hipPos { x: 0, y: 0, z: 0 };
                union.memcpy.copyParams = hipMemcpy3DParms {
                    srcArray: hipArray_t::NULL,
                    srcPos: corner,
                    srcPtr: pitched(a),
                    dstArray: hipArray_t::NULL,
                    dstPos: corner,
                    dstPtr: pitched(b),
                    extent: hipExtent { width: 64, height: 1, depth: 1 },
                    kind: hipMemcpyDeviceToDevice,
                };
            }
            hipGraphNodeTypeMemset => {
                union.memset =
                    hipMemsetParams { dst: a, elementSize: 4, height: 1, pitch: 64, value: 7, width: 4 };
            }
            hipGraphNodeTypeHost => {
                union.host = hipHostNodeParams { r#fn: Some(nothing), userData: null_mut() };
            }
            hipGraphNodeTypeGraph => union.graph.graph = self.child,
            hipGraphNodeTypeWaitEvent => union.eventWait.event = self.event,
            hipGraphNodeTypeEventRecord => union.eventRecord.event = self.event,
            hipGraphNodeTypeExtSemaphoreSignal => {
                union.extSemSignal.extSemArray = kept(self.semaphore);
                // SAFETY: as above.
                union.extSemSignal.paramsArray = kept(unsafe { std::mem::zeroed() });
                union.extSemSignal.numExtSems = 1;
            }
            hipGraphNodeTypeExtSemaphoreWait => {
                union.extSemWait.extSemArray = kept(self.semaphore);
                // SAFETY: as above.
                union.extSemWait.paramsArray = kept(unsafe { std::mem::zeroed() });
                union.extSemWait.numExtSems = 1;
            }
            hipGraphNodeTypeMemAlloc => union.alloc = allocation(),
            hipGraphNodeTypeMemFree => {
                let (mut node, mut alloc) = (hipGraphNode_t::NULL, allocation());
                ok!(hipGraphAddMemAllocNode(&mut node, graph, null(), 0, &mut alloc));
                union.free.dptr = alloc.dptr;
            }
            hipGraphNodeTypeBatchMemOp => {
                // SAFETY: as above.
                let mut op: hipStreamBatchMemOpParams = unsafe { std::mem::zeroed() };
                op.writeValue.operation = hipStreamMemOpWriteValue32;
                op.writeValue.address = a;
                op.writeValue.value = 5;
                union.memOp =
                    hipBatchMemOpNodeParams { ctx: hipCtx_t::NULL, count: 1, paramArray: kept(op), flags: 0 };
            }
            hipGraphNodeTypeConditional => {
                let mut handle =
                    hipGraphConditionalHandle { device_ptr: 0, default_value: 0, signal_handle: 0 };
                ok!(hipGraphConditionalHandleCreate(&mut handle, graph, 1, 0));
                union.conditional = hipConditionalNodeParams {
                    handle,
                    r#type: hipGraphCondTypeIf,
                    size: 2,
                    phGraph_out: null_mut(),
                };
            }
            hipGraphNodeTypeExtMemcpyBatch => {
                let batch = hipExtMemcpyBatchNodeParams {
                    dsts: kept(b),
                    srcs: kept(a),
                    sizes: kept(16),
                    count: 1,
                    attrs: null_mut(),
                    attrsIdxs: null_mut(),
                    numAttrs: 0,
                };
                // SAFETY: the union is larger, and this extension's structure begins with it.
                unsafe { (&raw mut *union).cast::<hipExtMemcpyBatchNodeParams>().write(batch) };
            }
            _ => {}
        }
        params
    }

    /// A graph with one node more than its kind needs, the node, and the code that adding it gave. Where it is refused,
    /// the node is a fill.
    fn one(&self, kind: hipGraphNodeType) -> (hipGraph_t, hipGraphNode_t, hipGraphNodeParams, hipError_t) {
        let (graph, mut node) = (new_graph(), hipGraphNode_t::NULL);
        let mut params = self.params(kind, graph);
        // SAFETY: right parameters, or a kind that is refused.
        let code = unsafe { hipGraphAddNode(&mut node, graph, null(), 0, &mut params) };
        if code != OK {
            assert_eq!(node, hipGraphNode_t::NULL, "{}", kind.0);
            let mut fill = self.params(hipGraphNodeTypeMemset, graph);
            ok!(hipGraphAddNode(&mut node, graph, null(), 0, &mut fill));
        }
        (graph, node, params, code)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        ok!(
            hipEventDestroy(self.event),
            hipDestroyExternalSemaphore(self.semaphore),
            hipGraphDestroy(self.child)
        );
    }
}

fn allocation() -> hipMemAllocNodeParams {
    // SAFETY: numbers and pointers, for which zeros are values.
    let mut alloc: hipMemAllocNodeParams = unsafe { std::mem::zeroed() };
    alloc.poolProps.allocType = hipMemAllocationTypePinned;
    alloc.poolProps.location.r#type = hipMemLocationTypeDevice;
    alloc.bytesize = 256;
    alloc
}

fn instantiated(graph: hipGraph_t) -> hipGraphExec_t {
    let mut exec = hipGraphExec_t::NULL;
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    exec
}

// proves: hipGraphAddNode, hipGraphNodeSetParams, hipGraphExecNodeSetParams
#[test]
fn every_kind_has_its_code_under_every_call() {
    let world = World::new();
    for (kind, wanted) in CELLS {
        let (graph, node, mut params, added) = world.one(kind);
        if added == OK {
            let mut found = hipGraphNodeType(99);
            ok!(hipGraphNodeGetType(node, &mut found));
            assert_eq!(found, kind);
        }
        // SAFETY: parameters of a living node.
        let set = unsafe { hipGraphNodeSetParams(node, &mut params) };
        let exec = instantiated(graph);
        // SAFETY: as above.
        let exec_set = unsafe { hipGraphExecNodeSetParams(exec, node, &mut params) };
        assert_eq!([added, set, exec_set], wanted, "kind {}", kind.0);
        ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
    }
}

#[test]
fn no_node_takes_the_parameters_of_another_kind() {
    let world = World::new();
    let settable = |n: usize| CELLS.iter().filter(move |(_, codes)| codes[n] == OK).map(|(kind, _)| *kind);
    for kind in CELLS.iter().filter(|(_, codes)| codes[0] == OK).map(|(kind, _)| *kind) {
        let (graph, node, ..) = world.one(kind);
        let other = new_graph();
        for wrong in settable(1).filter(|&wrong| wrong != kind) {
            let mut params = world.params(wrong, other);
            // SAFETY: parameters that are right for other nodes.
            let code = unsafe { hipGraphNodeSetParams(node, &mut params) };
            assert_eq!(code, INVALID, "kind {} for a node of kind {}", wrong.0, kind.0);
        }
        let exec = instantiated(graph);
        for wrong in settable(2).filter(|&wrong| wrong != kind) {
            let mut params = world.params(wrong, other);
            // SAFETY: as above.
            let code = unsafe { hipGraphExecNodeSetParams(exec, node, &mut params) };
            assert_eq!(code, INVALID, "kind {} for a node of kind {} in an executable", wrong.0, kind.0);
        }
        // The node of another graph is none of the executable.
        let (elsewhere, foreign, mut params, _) = world.one(kind);
        // SAFETY: as above.
        assert_ne!(unsafe { hipGraphExecNodeSetParams(exec, foreign, &mut params) }, OK, "kind {}", kind.0);
        ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipGraphDestroy(other));
        ok!(hipGraphDestroy(elsewhere));
    }
}

#[test]
fn a_conditional_node_is_made_with_empty_bodies_to_fill() {
    let world = World::new();
    let (graph, node, params, code) = world.one(hipGraphNodeTypeConditional);
    assert_eq!(code, OK);
    // SAFETY: the member that the call has filled in, whose array the node keeps.
    let bodies = unsafe { std::slice::from_raw_parts(params.params.conditional.phGraph_out, 2) };
    for (index, body) in (0..).zip(bodies) {
        let mut found = hipGraph_t::NULL;
        ok!(hipGraphConditionalNodeGetBody(node, index, &mut found));
        assert_eq!(found, *body);
    }
    assert_ne!(bodies[0], bodies[1]);
    let (mut inner, mut fill) = (hipGraphNode_t::NULL, world.params(hipGraphNodeTypeMemset, bodies[0]));
    ok!(hipGraphAddNode(&mut inner, bodies[0], null(), 0, &mut fill));
    let exec = instantiated(graph);
    ok!(hipGraphLaunch(exec, hipStream_t::NULL), hipStreamSynchronize(hipStream_t::NULL));
    assert_eq!(world.a.read()[..5], [7, 7, 7, 7, 1]);
    ok!(hipGraphExecDestroy(exec));

    let mut another = hipGraphNode_t::NULL;
    for (size, kind) in [
        (0, hipGraphCondTypeIf),
        (3, hipGraphCondTypeIf),
        (2, hipGraphCondTypeWhile),
        (0, hipGraphCondTypeSwitch),
        (u32::MAX, hipGraphCondTypeSwitch),
        (1, hipGraphConditionalNodeType(3)),
    ] {
        let mut wrong = world.params(hipGraphNodeTypeConditional, graph);
        (wrong.params.conditional.size, wrong.params.conditional.r#type) = (size, kind);
        fails!(hipErrorInvalidValue, hipGraphAddNode(&mut another, graph, null(), 0, &mut wrong));
    }
    let mut wrong = world.params(hipGraphNodeTypeConditional, graph);
    wrong.params.conditional.handle.device_ptr = 0x1000;
    fails!(hipErrorInvalidValue, hipGraphAddNode(&mut another, graph, null(), 0, &mut wrong));
    let mut right = world.params(hipGraphNodeTypeConditional, graph);
    fails!(hipErrorInvalidValue, hipGraphAddNode(null_mut(), graph, null(), 0, &mut right));
    fails!(hipErrorInvalidValue, hipGraphAddNode(&mut another, hipGraph_t::NULL, null(), 0, &mut right));
    fails!(hipErrorInvalidValue, hipGraphAddNode(&mut another, graph, null(), 1, &mut right));
    ok!(hipGraphDestroy(graph));
}

#[test]
fn what_the_structure_says_is_what_a_launch_does() {
    let world = World::new();
    let (graph, node, mut params, code) = world.one(hipGraphNodeTypeBatchMemOp);
    assert_eq!(code, OK);
    let launch = |exec| {
        ok!(hipGraphLaunch(exec, hipStream_t::NULL), hipStreamSynchronize(hipStream_t::NULL));
        world.a.read()[0]
    };
    let exec = instantiated(graph);
    assert_eq!(launch(exec), 5);
    // SAFETY: the operation that the parameters point to, which nobody else uses now.
    unsafe { (*params.params.memOp.paramArray).writeValue.value = 6 };
    ok!(hipGraphExecNodeSetParams(exec, node, &mut params));
    assert_eq!(launch(exec), 6);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));

    // A graph of the same shape gives the nodes of the one inside their parameters.
    let (child, mut inner) = (new_graph(), hipGraphNode_t::NULL);
    let mut fill = world.params(hipGraphNodeTypeMemset, child);
    ok!(hipGraphAddNode(&mut inner, child, null(), 0, &mut fill));
    let (graph, mut node) = (new_graph(), hipGraphNode_t::NULL);
    let mut params = world.params(hipGraphNodeTypeGraph, graph);
    params.params.graph.graph = child;
    ok!(hipGraphAddNode(&mut node, graph, null(), 0, &mut params));
    let exec = instantiated(graph);
    assert_eq!(launch(exec), 7);
    fill.params.memset.value = 8;
    ok!(hipGraphNodeSetParams(inner, &mut fill), hipGraphExecNodeSetParams(exec, node, &mut params));
    assert_eq!(launch(exec), 8);
    let mut other = world.params(hipGraphNodeTypeGraph, graph);
    fails!(hipErrorInvalidValue, hipGraphExecNodeSetParams(exec, node, &mut other));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipGraphDestroy(child));
}
