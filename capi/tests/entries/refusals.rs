//! Every argument that a graph function must refuse, and the code that it must refuse it with, as data.
//!
//! The rows are those of the public documentation: HIP's header, and where that is silent, CUDA's. After all of them the
//! graphs are what they were before.

use std::ptr::{self, null, null_mut};

use capi::types::*;

use super::*;
use crate::{
    functions::*,
    program::{BLOCK, counters, doubles, line},
};

unsafe extern "C" {
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipDevicePrimaryCtxRetain(context: *mut hipCtx_t, device: c_int) -> hipError_t;
    fn hipDevicePrimaryCtxRelease(device: c_int) -> hipError_t;
}

/// Calls every function with every row of arguments and says where the code is not the one that is wanted.
macro_rules! refusals {
    ($($function:ident { $($what:literal => $code:ident, ($($argument:expr),* $(,)?);)* })*) => {{
        let mut wrong: Vec<String> = Vec::new();
        let mut rows = 0;
        $($(
            // SAFETY: the arguments are valid but for the one that the function must find wrong without following it.
            let code = unsafe { $function($($argument),*) };
            rows += 1;
            if code != ::capi::error::$code {
                wrong.push(format!("{}, {}: {code:?}, not {}", stringify!($function), $what, stringify!($code)));
            }
        )*)*
        assert!(wrong.is_empty(), "{} of {rows} rows:\n{}", wrong.len(), wrong.join("\n"));
        rows
    }};
}

const NODE: hipGraphNode_t = hipGraphNode_t::NULL;
const GRAPH: hipGraph_t = hipGraph_t::NULL;
const EXEC: hipGraphExec_t = hipGraphExec_t::NULL;
const EVENT: hipEvent_t = hipEvent_t::NULL;
/// Words that nobody was given.
const WILD: usize = 0xdead_beef;

/// Graphs with a node of each kind, and whatever else arguments can name.
struct World {
    graph: hipGraph_t,
    other: hipGraph_t,
    memory: hipGraph_t,
    clone: hipGraph_t,
    gone_graph: hipGraph_t,
    exec: hipGraphExec_t,
    gone_exec: hipGraphExec_t,
    kernel: hipGraphNode_t,
    copy: hipGraphNode_t,
    boxed: hipGraphNode_t,
    fill: hipGraphNode_t,
    rows: hipGraphNode_t,
    host: hipGraphNode_t,
    empty: hipGraphNode_t,
    child: hipGraphNode_t,
    record: hipGraphNode_t,
    wait: hipGraphNode_t,
    alloc: hipGraphNode_t,
    free: hipGraphNode_t,
    /// Added after the graph was instantiated.
    late: hipGraphNode_t,
    gone: hipGraphNode_t,
    foreign: hipGraphNode_t,
    cloned: hipGraphNode_t,
    event: hipEvent_t,
    gone_event: hipEvent_t,
    context: hipCtx_t,
    object: hipUserObject_t,
    a: Memory<u32>,
    b: Memory<u32>,
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

const BYTES: usize = 64;

/// A launch on the memory at an address; what it points to stays.
fn kernel_params(address: *mut c_void) -> hipKernelNodeParams {
    let address = forever(address);
    let arguments = forever([ptr::from_mut(address).cast::<c_void>()]);
    hipKernelNodeParams {
        blockDim: line(BLOCK),
        extra: null_mut(),
        func: doubles().cast_mut(),
        gridDim: line(1),
        kernelParams: arguments.as_mut_ptr(),
        sharedMemBytes: 0,
    }
}

fn memset(dst: *mut c_void) -> hipMemsetParams {
    hipMemsetParams { dst, elementSize: 4, height: 1, pitch: BYTES, value: 7, width: 4 }
}

/// A box of 4 bytes, 2 rows and 2 slices in memory of 8 bytes a row and 4 rows a slice.
fn box_params(dst: *mut c_void, src: *mut c_void) -> hipMemcpy3DParms {
    let pitched = |ptr| hipPitchedPtr { ptr, pitch: 8, xsize: 8, ysize: 4 };
    let corner = hipPos { x: 0, y: 0, z: 0 };
    hipMemcpy3DParms {
        srcArray: hipArray_t::NULL,
        srcPos: corner,
        srcPtr: pitched(src),
        dstArray: hipArray_t::NULL,
        dstPos: corner,
        dstPtr: pitched(dst),
        extent: hipExtent { width: 4, height: 2, depth: 2 },
        kind: hipMemcpyDeviceToDevice,
    }
}

/// The same box for the driver's functions.
fn driver_box(dst: *mut c_void, src: *mut c_void) -> HIP_MEMCPY3D {
    HIP_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: hipMemoryTypeDevice,
        srcHost: null(),
        srcDevice: src,
        srcArray: hipArray_t::NULL,
        srcPitch: 8,
        srcHeight: 4,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: hipMemoryTypeDevice,
        dstHost: null_mut(),
        dstDevice: dst,
        dstArray: hipArray_t::NULL,
        dstPitch: 8,
        dstHeight: 4,
        WidthInBytes: 4,
        Height: 2,
        Depth: 2,
    }
}

fn alloc_params() -> hipMemAllocNodeParams {
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut params: hipMemAllocNodeParams = unsafe { std::mem::zeroed() };
    params.poolProps.allocType = hipMemAllocationTypePinned;
    params.poolProps.location.r#type = hipMemLocationTypeDevice;
    params.bytesize = 256;
    params
}

impl World {
    fn new() -> Self {
        let [mut graph, mut other, mut memory, mut clone, mut gone_graph] = [GRAPH; 5];
        ok!(
            hipGraphCreate(&mut graph, 0),
            hipGraphCreate(&mut other, 0),
            hipGraphCreate(&mut memory, 0),
            hipGraphCreate(&mut gone_graph, 0),
            hipGraphDestroy(gone_graph),
        );
        let [mut event, mut gone_event] = [EVENT; 2];
        ok!(hipEventCreate(&mut event), hipEventCreate(&mut gone_event), hipEventDestroy(gone_event));
        let mut context = hipCtx_t::NULL;
        ok!(hipDevicePrimaryCtxRetain(&mut context, 0));
        let mut object = hipUserObject_t::NULL;
        ok!(hipUserObjectCreate(&mut object, null_mut(), Some(nothing), 1, 1));
        let (a, b) = (Memory::of(&[1u32; 16]), Memory::of(&[2u32; 16]));
        let kernel = kernel_params(a.pointer());
        let [mut k, mut c, mut x, mut f, mut r, mut h, mut e, mut g, mut er, mut ew] = [NODE; 10];
        let [mut alloc, mut free, mut late, mut gone, mut foreign, mut cloned] = [NODE; 6];
        let two_rows = hipMemsetParams { height: 2, pitch: 16, width: 2, ..memset(a.pointer()) };
        let host = hipHostNodeParams { r#fn: Some(nothing), userData: null_mut() };
        let device = hipMemcpyDeviceToDevice;
        ok!(
            hipGraphAddEmptyNode(&mut foreign, other, null(), 0),
            hipGraphAddKernelNode(&mut k, graph, null(), 0, &kernel),
            hipGraphAddMemcpyNode1D(&mut c, graph, &k, 1, a.pointer(), b.pointer(), 16, device),
            hipGraphAddMemcpyNode(&mut x, graph, &c, 1, &box_params(a.pointer(), b.pointer())),
            hipGraphAddMemsetNode(&mut f, graph, &x, 1, &memset(a.pointer())),
            hipGraphAddMemsetNode(&mut r, graph, &f, 1, &two_rows),
            hipGraphAddHostNode(&mut h, graph, &r, 1, &host),
            hipGraphAddEmptyNode(&mut e, graph, &h, 1),
            hipGraphAddChildGraphNode(&mut g, graph, &e, 1, other),
            hipGraphAddEventRecordNode(&mut er, graph, &g, 1, event),
            hipGraphAddEventWaitNode(&mut ew, graph, &er, 1, event),
            hipGraphAddEmptyNode(&mut gone, graph, null(), 0),
            hipGraphDestroyNode(gone),
            hipGraphClone(&mut clone, graph),
            hipGraphNodeFindInClone(&mut cloned, k, clone),
        );
        let mut params = alloc_params();
        ok!(
            hipGraphAddMemAllocNode(&mut alloc, memory, null(), 0, &mut params),
            hipGraphAddMemFreeNode(&mut free, memory, &alloc, 1, params.dptr),
        );
        let [mut exec, mut gone_exec] = [EXEC; 2];
        ok!(
            hipGraphInstantiateWithFlags(&mut exec, graph, 0),
            hipGraphInstantiateWithFlags(&mut gone_exec, graph, 0),
            hipGraphExecDestroy(gone_exec),
            hipGraphAddKernelNode(&mut late, graph, null(), 0, &kernel),
        );
        Self {
            graph,
            other,
            memory,
            clone,
            gone_graph,
            exec,
            gone_exec,
            kernel: k,
            copy: c,
            boxed: x,
            fill: f,
            rows: r,
            host: h,
            empty: e,
            child: g,
            record: er,
            wait: ew,
            alloc,
            free,
            late,
            gone,
            foreign,
            cloned,
            event,
            gone_event,
            context,
            object,
            a,
            b,
        }
    }

    /// How many nodes and edges the graphs have.
    fn counts(&self) -> Vec<(usize, usize)> {
        let count = |graph| {
            let (mut nodes, mut edges) = (0, 0);
            ok!(
                hipGraphGetNodes(graph, null_mut(), &mut nodes),
                hipGraphGetEdges(graph, null_mut(), null_mut(), &mut edges),
            );
            (nodes, edges)
        };
        [self.graph, self.other, self.memory, self.clone].map(count).to_vec()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: all of them are ours. A test that has failed already has other troubles than these codes.
        unsafe {
            let _ = hipGraphExecDestroy(self.exec);
            for graph in [self.graph, self.other, self.memory, self.clone] {
                let _ = hipGraphDestroy(graph);
            }
            let _ = (hipEventDestroy(self.event), hipUserObjectRelease(self.object, 1));
            let _ = hipDevicePrimaryCtxRelease(0);
        }
    }
}

// proves: hipGraphCreate, hipGraphDestroy, hipGraphAddDependencies, hipGraphRemoveDependencies, hipGraphGetEdges
// proves: hipGraphGetNodes, hipGraphGetRootNodes, hipGraphNodeGetDependencies, hipGraphNodeGetDependentNodes
// proves: hipGraphNodeGetType, hipGraphDestroyNode, hipGraphClone, hipGraphNodeFindInClone
#[test]
fn what_is_no_graph_node_or_edge_is_refused() {
    let w = World::new();
    let before = w.counts();
    let (mut g, mut n, mut count, mut kind) = (GRAPH, NODE, 1usize, hipGraphNodeTypeKernel);
    let wild = (hipGraph_t(WILD), hipGraphNode_t(WILD));
    let (from, to, pair) = ([w.kernel, w.kernel], [w.host, w.host], [w.kernel, NODE]);
    let rows = refusals! {
        hipGraphCreate {
            "no place for the graph" => hipErrorInvalidValue, (null_mut(), 0);
            "flags" => hipErrorInvalidValue, (&mut g, 1);
        }
        hipGraphDestroy {
            "null" => hipErrorInvalidValue, (GRAPH);
            "a wild word" => hipErrorIllegalState, (wild.0);
            "destroyed" => hipErrorIllegalState, (w.gone_graph);
        }
        hipGraphAddDependencies {
            "no graph" => hipErrorInvalidValue, (GRAPH, from.as_ptr(), to.as_ptr(), 1);
            "a wild graph" => hipErrorInvalidValue, (wild.0, from.as_ptr(), to.as_ptr(), 1);
            "a destroyed graph" => hipErrorInvalidValue, (w.gone_graph, from.as_ptr(), to.as_ptr(), 1);
            "no starts" => hipErrorInvalidValue, (w.graph, null(), to.as_ptr(), 1);
            "no ends" => hipErrorInvalidValue, (w.graph, from.as_ptr(), null(), 1);
            "neither" => hipErrorInvalidValue, (w.graph, null(), null(), 1);
            "a foreign start" => hipErrorInvalidValue, (w.graph, &w.foreign, to.as_ptr(), 1);
            "a foreign end" => hipErrorInvalidValue, (w.graph, from.as_ptr(), &w.foreign, 1);
            "a wild start" => hipErrorInvalidValue, (w.graph, &wild.1, to.as_ptr(), 1);
            "a wild end" => hipErrorInvalidValue, (w.graph, from.as_ptr(), &wild.1, 1);
            "a destroyed end" => hipErrorInvalidValue, (w.graph, from.as_ptr(), &w.gone, 1);
            "an edge twice" => hipErrorInvalidValue, (w.graph, from.as_ptr(), to.as_ptr(), 2);
            "an edge that exists" => hipErrorInvalidValue, (w.graph, &w.kernel, &w.copy, 1);
            "a node to itself" => hipErrorInvalidValue, (w.graph, &w.kernel, &w.kernel, 1);
            "a null end" => hipErrorInvalidValue, (w.graph, from.as_ptr(), &NODE, 1);
            "null ends" => hipErrorInvalidValue, (w.graph, &NODE, &NODE, 1);
            "a null behind a good one" => hipErrorInvalidValue, (w.graph, pair.as_ptr(), to.as_ptr(), 2);
        }
        hipGraphRemoveDependencies {
            "no graph" => hipErrorInvalidValue, (GRAPH, &w.kernel, &w.copy, 1);
            "a wild graph" => hipErrorInvalidValue, (wild.0, &w.kernel, &w.copy, 1);
            "no starts" => hipErrorInvalidValue, (w.graph, null(), &w.copy, 1);
            "no ends" => hipErrorInvalidValue, (w.graph, &w.kernel, null(), 1);
            "neither" => hipErrorInvalidValue, (w.graph, null(), null(), 1);
            "another graph's nodes" => hipErrorInvalidValue, (w.other, &w.kernel, &w.copy, 1);
            "no such edge" => hipErrorInvalidValue, (w.graph, &w.kernel, &w.host, 1);
            "the wrong way round" => hipErrorInvalidValue, (w.graph, &w.copy, &w.kernel, 1);
            "one edge twice" => hipErrorInvalidValue,
                (w.graph, [w.kernel, w.kernel].as_ptr(), [w.copy, w.copy].as_ptr(), 2);
            "a destroyed node" => hipErrorInvalidValue, (w.graph, &w.kernel, &w.gone, 1);
            "a graph with memory" => hipErrorNotSupported, (w.memory, &w.alloc, &w.free, 1);
        }
        hipGraphGetEdges {
            "no graph" => hipErrorInvalidValue, (GRAPH, null_mut(), null_mut(), &mut count);
            "a wild graph" => hipErrorInvalidValue, (wild.0, null_mut(), null_mut(), &mut count);
            "no place for starts" => hipErrorInvalidValue, (w.graph, null_mut(), &mut n, &mut count);
            "no place for ends" => hipErrorInvalidValue, (w.graph, &mut n, null_mut(), &mut count);
            "no count" => hipErrorInvalidValue, (w.graph, null_mut(), null_mut(), null_mut());
        }
        hipGraphGetNodes {
            "no graph" => hipErrorInvalidValue, (GRAPH, null_mut(), &mut count);
            "a wild graph" => hipErrorInvalidValue, (wild.0, null_mut(), &mut count);
            "a destroyed graph" => hipErrorInvalidValue, (w.gone_graph, null_mut(), &mut count);
            "no count" => hipErrorInvalidValue, (w.graph, null_mut(), null_mut());
        }
        hipGraphGetRootNodes {
            "no graph" => hipErrorInvalidValue, (GRAPH, null_mut(), &mut count);
            "a wild graph" => hipErrorInvalidValue, (wild.0, null_mut(), &mut count);
            "no count" => hipErrorInvalidValue, (w.graph, null_mut(), null_mut());
        }
        hipGraphNodeGetDependencies {
            "no node" => hipErrorInvalidValue, (NODE, null_mut(), &mut count);
            "a wild node" => hipErrorInvalidValue, (wild.1, null_mut(), &mut count);
            "a destroyed node" => hipErrorInvalidValue, (w.gone, null_mut(), &mut count);
            "no count" => hipErrorInvalidValue, (w.kernel, null_mut(), null_mut());
        }
        hipGraphNodeGetDependentNodes {
            "no node" => hipErrorInvalidValue, (NODE, null_mut(), &mut count);
            "a wild node" => hipErrorInvalidValue, (wild.1, null_mut(), &mut count);
            "no count" => hipErrorInvalidValue, (w.kernel, null_mut(), null_mut());
        }
        hipGraphNodeGetType {
            "no node" => hipErrorInvalidValue, (NODE, &mut kind);
            "a wild node" => hipErrorInvalidValue, (wild.1, &mut kind);
            "a destroyed node" => hipErrorInvalidValue, (w.gone, &mut kind);
            "no place" => hipErrorInvalidValue, (w.kernel, null_mut());
        }
        hipGraphDestroyNode {
            "no node" => hipErrorInvalidValue, (NODE);
            "a wild node" => hipErrorInvalidValue, (wild.1);
            "a destroyed node" => hipErrorInvalidValue, (w.gone);
            "in a graph with memory" => hipErrorNotSupported, (w.alloc);
        }
        hipGraphClone {
            "no place" => hipErrorInvalidValue, (null_mut(), w.graph);
            "no graph" => hipErrorInvalidValue, (&mut g, GRAPH);
            "a destroyed graph" => hipErrorInvalidValue, (&mut g, w.gone_graph);
            "a graph with memory" => hipErrorNotSupported, (&mut g, w.memory);
        }
        hipGraphNodeFindInClone {
            "no place" => hipErrorInvalidValue, (null_mut(), w.kernel, w.clone);
            "no node" => hipErrorInvalidValue, (&mut n, NODE, w.clone);
            "no graph" => hipErrorInvalidValue, (&mut n, w.kernel, GRAPH);
            "no clone" => hipErrorInvalidValue, (&mut n, w.kernel, w.other);
            "the original" => hipErrorInvalidValue, (&mut n, w.kernel, w.graph);
            "a destroyed node" => hipErrorInvalidValue, (&mut n, w.gone, w.clone);
            "a wild node" => hipErrorInvalidValue, (&mut n, wild.1, w.clone);
            "a node that came later" => hipErrorInvalidValue, (&mut n, w.late, w.clone);
        }
    };
    assert!(rows > 60 && w.counts() == before, "{rows} rows leave the graphs as they were");
}

/// The rows that all functions that add a node have in common, for the arguments behind the dependencies.
macro_rules! adding {
    ($w:ident, $function:ident $(, $rest:expr)*) => {{
        let (mut n, twice, wild) = (NODE, [$w.kernel, $w.kernel], hipGraphNode_t(WILD));
        refusals! {
            $function {
                "no place for the node" => hipErrorInvalidValue, (null_mut(), $w.graph, null(), 0 $(, $rest)*);
                "no graph" => hipErrorInvalidValue, (&mut n, GRAPH, null(), 0 $(, $rest)*);
                "a wild graph" => hipErrorInvalidValue, (&mut n, hipGraph_t(WILD), null(), 0 $(, $rest)*);
                "a destroyed graph" => hipErrorInvalidValue, (&mut n, $w.gone_graph, null(), 0 $(, $rest)*);
                "no dependencies" => hipErrorInvalidValue, (&mut n, $w.graph, null(), 1 $(, $rest)*);
                "more dependencies than nodes" => hipErrorInvalidValue,
                    (&mut n, $w.graph, &$w.kernel, 1000 $(, $rest)*);
                "dependencies without end" => hipErrorInvalidValue,
                    (&mut n, $w.graph, &$w.kernel, usize::MAX $(, $rest)*);
                "a null dependency" => hipErrorInvalidValue, (&mut n, $w.graph, &NODE, 1 $(, $rest)*);
                "a wild dependency" => hipErrorInvalidValue, (&mut n, $w.graph, &wild, 1 $(, $rest)*);
                "a destroyed dependency" => hipErrorInvalidValue, (&mut n, $w.graph, &$w.gone, 1 $(, $rest)*);
                "a foreign dependency" => hipErrorInvalidValue, (&mut n, $w.graph, &$w.foreign, 1 $(, $rest)*);
                "a dependency twice" => hipErrorInvalidValue, (&mut n, $w.graph, twice.as_ptr(), 2 $(, $rest)*);
            }
        }
    }};
}

// proves: hipGraphAddEmptyNode, hipGraphAddKernelNode, hipGraphAddMemcpyNode1D, hipGraphAddMemcpyNode
// proves: hipGraphAddMemsetNode, hipGraphAddHostNode, hipGraphAddChildGraphNode, hipGraphAddEventRecordNode
// proves: hipGraphAddEventWaitNode, hipGraphAddMemAllocNode, hipGraphAddNode, hipDrvGraphAddMemcpyNode
// proves: hipDrvGraphAddMemsetNode, hipGraphAddMemcpyNodeFromSymbol, hipGraphAddMemcpyNodeToSymbol
// proves: hipGraphAddMemFreeNode, hipDrvGraphAddMemFreeNode
#[test]
fn no_node_is_added_to_no_graph_or_behind_no_node() {
    let w = World::new();
    let before = w.counts();
    let (a, b) = (w.a.pointer(), w.b.pointer());
    let kernel = kernel_params(a);
    let host = hipHostNodeParams { r#fn: Some(nothing), userData: null_mut() };
    let device = hipMemcpyDeviceToDevice;
    let mut alloc = alloc_params();
    let union = hipGraphNodeParamsUnion { memset: memset(a) };
    let mut any =
        hipGraphNodeParams { r#type: hipGraphNodeTypeMemset, reserved0: [0; 3], params: union, reserved2: 0 };
    let mut rows = 0;
    rows += adding!(w, hipGraphAddEmptyNode);
    rows += adding!(w, hipGraphAddNode, &mut any);
    rows += adding!(w, hipGraphAddKernelNode, &kernel);
    rows += adding!(w, hipGraphAddMemcpyNode1D, a, b, 16, device);
    rows += adding!(w, hipGraphAddMemcpyNode, &box_params(a, b));
    rows += adding!(w, hipDrvGraphAddMemcpyNode, &driver_box(a, b), w.context);
    rows += adding!(w, hipGraphAddMemcpyNodeFromSymbol, a, counters(), 8, 0, device);
    rows += adding!(w, hipGraphAddMemcpyNodeToSymbol, counters(), a, 8, 0, device);
    rows += adding!(w, hipGraphAddMemsetNode, &memset(a));
    rows += adding!(w, hipDrvGraphAddMemsetNode, &memset(a), w.context);
    rows += adding!(w, hipGraphAddHostNode, &host);
    rows += adding!(w, hipGraphAddChildGraphNode, w.other);
    rows += adding!(w, hipGraphAddEventRecordNode, w.event);
    rows += adding!(w, hipGraphAddEventWaitNode, w.event);
    rows += adding!(w, hipGraphAddMemAllocNode, &mut alloc);
    rows += adding!(w, hipGraphAddMemFreeNode, a);
    rows += adding!(w, hipDrvGraphAddMemFreeNode, a);
    assert_eq!((rows, w.counts()), (17 * 12, before));
}

/// Kernel node parameters of which one thing is wrong.
fn kernels() -> [(hipKernelNodeParams, capi::error::hipError_t); 5] {
    let good = kernel_params(null_mut());
    let invalid = capi::error::hipErrorInvalidValue;
    [
        (hipKernelNodeParams { func: null_mut(), ..good }, invalid),
        (hipKernelNodeParams { kernelParams: null_mut(), ..good }, invalid),
        (hipKernelNodeParams { gridDim: line(0), ..good }, invalid),
        (hipKernelNodeParams { blockDim: line(0), ..good }, invalid),
        (hipKernelNodeParams { blockDim: line(2048), ..good }, invalid),
    ]
}

// proves: hipGraphKernelNodeGetParams, hipGraphKernelNodeSetParams, hipGraphExecKernelNodeSetParams
// proves: hipGraphKernelNodeSetAttribute, hipGraphKernelNodeGetAttribute, hipGraphKernelNodeCopyAttributes
#[test]
fn what_is_no_kernel_launch_is_refused() {
    let w = World::new();
    let good = kernel_params(w.a.pointer());
    let mut told = good;
    for (params, code) in kernels() {
        let mut n = NODE;
        // SAFETY: the parameters are what the functions check.
        unsafe {
            assert_eq!(hipGraphAddKernelNode(&mut n, w.graph, null(), 0, &params), code);
            assert_eq!(hipGraphKernelNodeSetParams(w.kernel, &params), code);
            assert_eq!(hipGraphExecKernelNodeSetParams(w.exec, w.kernel, &params), code);
        }
    }
    let window = |num_bytes, hitRatio, missProp| {
        let base_ptr = null_mut();
        let window = hipAccessPolicyWindow {
            base_ptr,
            hitProp: hipAccessPropertyNormal,
            hitRatio,
            missProp,
            num_bytes,
        };
        hipLaunchAttributeValue { accessPolicyWindow: window }
    };
    let access = hipLaunchAttributeAccessPolicyWindow;
    let normal = hipAccessPropertyNormal;
    let mut value = hipLaunchAttributeValue { pad: [0; 64] };
    let one = hipLaunchAttributeValue { pad: [1; 64] };
    let id = hipLaunchAttributeID;
    refusals! {
        hipGraphAddKernelNode {
            "no parameters" => hipErrorInvalidValue, (&mut NODE.clone(), w.graph, null(), 0, null());
        }
        hipGraphKernelNodeGetParams {
            "no node" => hipErrorInvalidValue, (NODE, &mut told);
            "no place" => hipErrorInvalidValue, (w.kernel, null_mut());
            "no kernel" => hipErrorInvalidValue, (w.fill, &mut told);
            "a destroyed node" => hipErrorInvalidValue, (w.gone, &mut told);
        }
        hipGraphKernelNodeSetParams {
            "no node" => hipErrorInvalidValue, (NODE, &good);
            "no parameters" => hipErrorInvalidValue, (w.kernel, null());
            "no kernel" => hipErrorInvalidValue, (w.empty, &good);
            "a destroyed node" => hipErrorInvalidValue, (w.gone, &good);
        }
        hipGraphExecKernelNodeSetParams {
            "no executable" => hipErrorInvalidValue, (EXEC, w.kernel, &good);
            "a destroyed executable" => hipErrorInvalidValue, (w.gone_exec, w.kernel, &good);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, &good);
            "no parameters" => hipErrorInvalidValue, (w.exec, w.kernel, null());
            "no kernel" => hipErrorInvalidValue, (w.exec, w.fill, &good);
            "not instantiated" => hipErrorInvalidValue, (w.exec, w.late, &good);
            "a clone's node" => hipErrorInvalidValue, (w.exec, w.cloned, &good);
        }
        hipGraphKernelNodeSetAttribute {
            "no node" => hipErrorInvalidValue, (NODE, hipLaunchAttributePriority, &value);
            "no kernel" => hipErrorInvalidValue, (w.fill, hipLaunchAttributePriority, &value);
            "attribute -1" => hipErrorInvalidValue, (w.kernel, id(u32::MAX), &value);
            "attribute INT_MAX" => hipErrorInvalidValue, (w.kernel, id(i32::MAX as u32), &value);
            "attribute 0" => hipErrorInvalidValue, (w.kernel, id(0), &value);
            "an attribute of streams" => hipErrorInvalidValue,
                (w.kernel, hipLaunchAttributeSynchronizationPolicy, &value);
            "no value" => hipErrorInvalidValue, (w.kernel, hipLaunchAttributePriority, null());
            "a window that is too large" => hipErrorInvalidValue, (w.kernel, access, &window(1024, 0.6, normal));
            "a ratio above 1" => hipErrorInvalidValue, (w.kernel, access, &window(0, 1.4, normal));
            "a ratio below 0" => hipErrorInvalidValue, (w.kernel, access, &window(0, -0.6, normal));
            "no ratio" => hipErrorInvalidValue, (w.kernel, access, &window(0, f32::NAN, normal));
            "misses that persist" => hipErrorInvalidValue,
                (w.kernel, access, &window(0, 0.5, hipAccessPropertyPersisting));
            "no domain" => hipErrorInvalidValue, (w.kernel, hipLaunchAttributeMemSyncDomain, &one);
            "no domain of the device" => hipErrorInvalidValue,
                (w.kernel, hipLaunchAttributeMemSyncDomainMap, &one);
        }
        hipGraphKernelNodeGetAttribute {
            "no node" => hipErrorInvalidValue, (NODE, hipLaunchAttributePriority, &mut value);
            "no kernel" => hipErrorInvalidValue, (w.host, hipLaunchAttributePriority, &mut value);
            "no attribute" => hipErrorInvalidValue, (w.kernel, id(u32::MAX), &mut value);
            "an attribute of streams" => hipErrorInvalidValue,
                (w.kernel, hipLaunchAttributeSynchronizationPolicy, &mut value);
            "no place" => hipErrorInvalidValue, (w.kernel, hipLaunchAttributePriority, null_mut());
        }
        hipGraphKernelNodeCopyAttributes {
            "no source" => hipErrorInvalidValue, (NODE, w.late);
            "no destination" => hipErrorInvalidValue, (w.kernel, NODE);
            "a wild source" => hipErrorInvalidValue, (hipGraphNode_t(WILD), w.kernel);
            "a wild destination" => hipErrorInvalidValue, (w.kernel, hipGraphNode_t(WILD));
            "no kernel" => hipErrorInvalidValue, (w.kernel, w.fill);
        }
    };
}

// proves: hipGraphMemcpyNodeGetParams, hipGraphMemcpyNodeSetParams, hipGraphExecMemcpyNodeSetParams
// proves: hipGraphMemcpyNodeSetParams1D, hipGraphExecMemcpyNodeSetParams1D, hipDrvGraphMemcpyNodeGetParams
// proves: hipDrvGraphMemcpyNodeSetParams, hipDrvGraphExecMemcpyNodeSetParams
#[test]
fn what_is_no_copy_is_refused() {
    let w = World::new();
    let (a, b) = (w.a.pointer(), w.b.pointer());
    let inside = a.wrapping_byte_add(8);
    let (mut n, device, bad_kind) = (NODE, hipMemcpyDeviceToDevice, hipMemcpyKind(77));
    let good = box_params(a, b);
    let mut told = good;
    let boxed = |change: fn(&mut hipMemcpy3DParms)| {
        let mut params = box_params(a, b);
        change(&mut params);
        params
    };
    let driver = |change: fn(&mut HIP_MEMCPY3D)| {
        let mut params = driver_box(a, b);
        change(&mut params);
        params
    };
    let narrow_dst = boxed(|p| p.dstPtr.pitch = 2);
    let narrow_src = boxed(|p| p.srcPtr.pitch = 2);
    let outside = [
        boxed(|p| p.dstPtr.ptr = null_mut()),
        boxed(|p| p.srcPtr.ptr = null_mut()),
        boxed(|p| p.dstPtr.pitch = usize::MAX),
        boxed(|p| p.srcPtr.pitch = usize::MAX),
        boxed(|p| p.dstPos.x = 6),
        boxed(|p| p.srcPos.x = 6),
        boxed(|p| p.dstPos.y = 100),
        boxed(|p| p.srcPos.y = 100),
        boxed(|p| p.dstPos.z = 100),
        boxed(|p| p.srcPos.z = usize::MAX),
        boxed(|p| p.extent.depth = 100),
    ];
    let host = hipMemoryTypeHost;
    let outside_driver = [
        driver(|p| p.dstDevice = null_mut()),
        driver(|p| p.srcDevice = null_mut()),
        driver(|p| p.dstPitch = usize::MAX),
        driver(|p| p.srcPitch = usize::MAX),
        driver(|p| p.dstXInBytes = 6),
        driver(|p| p.srcXInBytes = 6),
        driver(|p| p.dstY = 100),
        driver(|p| p.srcY = 100),
        driver(|p| p.dstZ = 100),
        driver(|p| p.srcZ = usize::MAX),
        driver(|p| p.srcMemoryType = hipMemoryTypeHost),
        driver(|p| p.dstMemoryType = hipMemoryTypeHost),
        driver(|p| p.dstMemoryType = hipMemoryType(99)),
    ];
    let invalid = capi::error::hipErrorInvalidValue;
    for (row, params) in outside.iter().enumerate() {
        let mut params = *params;
        // SAFETY: the parameters are what the functions check.
        unsafe {
            assert_eq!(hipGraphAddMemcpyNode(&mut n, w.graph, null(), 0, &params), invalid, "row {row}");
            assert_eq!(hipGraphMemcpyNodeSetParams(w.boxed, &params), invalid, "row {row}");
            assert_eq!(hipGraphExecMemcpyNodeSetParams(w.exec, w.boxed, &mut params), invalid, "row {row}");
        }
    }
    for (row, params) in outside_driver.iter().enumerate() {
        let exec = (w.exec, w.boxed);
        // SAFETY: the parameters are what the functions check.
        unsafe {
            let added = hipDrvGraphAddMemcpyNode(&mut n, w.graph, null(), 0, params, w.context);
            assert_eq!(added, invalid, "row {row}");
            assert_eq!(hipDrvGraphMemcpyNodeSetParams(w.boxed, params), invalid, "row {row}");
            let set = hipDrvGraphExecMemcpyNodeSetParams(exec.0, exec.1, params, w.context);
            assert_eq!(set, invalid, "row {row}");
        }
    }
    let mut driver_told = driver_box(a, b);
    let to_host = HIP_MEMCPY3D { dstMemoryType: host, dstHost: a, ..driver_box(a, b) };
    let narrow_driver = driver(|p| p.dstPitch = 2);
    refusals! {
        hipGraphAddMemcpyNode {
            "no parameters" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, null());
            "a narrow destination" => hipErrorInvalidPitchValue, (&mut n, w.graph, null(), 0, &narrow_dst);
            "a narrow source" => hipErrorInvalidPitchValue, (&mut n, w.graph, null(), 0, &narrow_src);
            "no direction" => hipErrorInvalidMemcpyDirection,
                (&mut n, w.graph, null(), 0, &hipMemcpy3DParms { kind: bad_kind, ..good });
        }
        hipGraphMemcpyNodeGetParams {
            "no node" => hipErrorInvalidValue, (NODE, &mut told);
            "no place" => hipErrorInvalidValue, (w.boxed, null_mut());
            "a destroyed node" => hipErrorInvalidValue, (w.gone, &mut told);
            "no copy" => hipErrorInvalidValue, (w.kernel, &mut told);
        }
        hipGraphMemcpyNodeSetParams {
            "no node" => hipErrorInvalidValue, (NODE, &good);
            "a wild node" => hipErrorInvalidValue, (hipGraphNode_t(WILD), &good);
            "no parameters" => hipErrorInvalidValue, (w.boxed, null());
            "a narrow destination" => hipErrorInvalidPitchValue, (w.boxed, &narrow_dst);
            "a narrow source" => hipErrorInvalidPitchValue, (w.boxed, &narrow_src);
            "no direction" => hipErrorInvalidMemcpyDirection,
                (w.boxed, &hipMemcpy3DParms { kind: bad_kind, ..good });
        }
        hipGraphExecMemcpyNodeSetParams {
            "no executable" => hipErrorInvalidValue, (EXEC, w.boxed, &mut told);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, &mut told);
            "no parameters" => hipErrorInvalidValue, (w.exec, w.boxed, null_mut());
            "another graph's node" => hipErrorInvalidValue, (w.exec, w.foreign, &mut told);
            "another direction" => hipErrorInvalidValue,
                (w.exec, w.boxed, &mut hipMemcpy3DParms { kind: hipMemcpyHostToDevice, ..good });
            "the direction left open" => hipErrorInvalidValue,
                (w.exec, w.boxed, &mut hipMemcpy3DParms { kind: hipMemcpyDefault, ..good });
        }
        hipDrvGraphAddMemcpyNode {
            "no parameters" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, null(), w.context);
            "no context" => hipErrorInvalidValue,
                (&mut n, w.graph, null(), 0, &driver_told, hipCtx_t::NULL);
            "a wild context" => hipErrorInvalidContext,
                (&mut n, w.graph, null(), 0, &driver_told, hipCtx_t(WILD));
            "a narrow destination" => hipErrorInvalidValue,
                (&mut n, w.graph, null(), 0, &narrow_driver, w.context);
        }
        hipDrvGraphMemcpyNodeGetParams {
            "no node" => hipErrorInvalidValue, (NODE, &mut driver_told);
            "no place" => hipErrorInvalidValue, (w.boxed, null_mut());
            "a destroyed node" => hipErrorInvalidValue, (w.gone, &mut driver_told);
            "no copy" => hipErrorInvalidValue, (w.fill, &mut driver_told);
        }
        hipDrvGraphMemcpyNodeSetParams {
            "no node" => hipErrorInvalidValue, (NODE, &driver_told);
            "no parameters" => hipErrorInvalidValue, (w.boxed, null());
            "a narrow destination" => hipErrorInvalidPitchValue, (w.boxed, &narrow_driver);
            "a narrow source" => hipErrorInvalidPitchValue, (w.boxed, &driver(|p| p.srcPitch = 2));
            "no copy" => hipErrorInvalidValue, (w.kernel, &driver_told);
        }
        hipDrvGraphExecMemcpyNodeSetParams {
            "no executable" => hipErrorInvalidValue, (EXEC, w.boxed, &driver_told, w.context);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, &driver_told, w.context);
            "no parameters" => hipErrorInvalidValue, (w.exec, w.boxed, null(), w.context);
            "no context" => hipErrorInvalidValue, (w.exec, w.boxed, &driver_told, hipCtx_t::NULL);
            "a wild context" => hipErrorInvalidContext, (w.exec, w.boxed, &driver_told, hipCtx_t(WILD));
            "another direction" => hipErrorInvalidValue, (w.exec, w.boxed, &to_host, w.context);
            "not instantiated" => hipErrorInvalidValue, (w.exec, w.late, &driver_told, w.context);
        }
        hipGraphAddMemcpyNode1D {
            "no destination" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, null_mut(), b, 16, device);
            "no source" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, a, null(), 16, device);
            "no direction" => hipErrorInvalidMemcpyDirection, (&mut n, w.graph, null(), 0, a, b, 16, bad_kind);
            "more than the destination" => hipErrorInvalidValue,
                (&mut n, w.graph, null(), 0, inside, b, BYTES, device);
            "more than the source" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, b, inside, BYTES, device);
        }
        hipGraphMemcpyNodeSetParams1D {
            "no node" => hipErrorInvalidValue, (NODE, a, b, 16, device);
            "no destination" => hipErrorInvalidValue, (w.copy, null_mut(), b, 16, device);
            "no source" => hipErrorInvalidValue, (w.copy, a, null(), 16, device);
            "no direction" => hipErrorInvalidMemcpyDirection, (w.copy, a, b, 16, bad_kind);
            "no bytes" => hipErrorInvalidValue, (w.copy, a, b, 0, device);
            "more than the destination" => hipErrorInvalidValue, (w.copy, inside, b, BYTES, device);
            "more than the source" => hipErrorInvalidValue, (w.copy, b, inside, BYTES, device);
            "onto itself" => hipErrorInvalidValue, (w.copy, a, a, 16, device);
            "the destination ahead" => hipErrorInvalidValue, (w.copy, inside, a, 16, device);
            "the source ahead" => hipErrorInvalidValue, (w.copy, a, inside, 16, device);
        }
        hipGraphExecMemcpyNodeSetParams1D {
            "no executable" => hipErrorInvalidValue, (EXEC, w.copy, a, b, 16, device);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, a, b, 16, device);
            "no destination" => hipErrorInvalidValue, (w.exec, w.copy, null_mut(), b, 16, device);
            "no source" => hipErrorInvalidValue, (w.exec, w.copy, a, null(), 16, device);
            "no direction" => hipErrorInvalidMemcpyDirection, (w.exec, w.copy, a, b, 16, bad_kind);
            "another direction" => hipErrorInvalidValue, (w.exec, w.copy, a, b, 16, hipMemcpyHostToDevice);
            "the direction left open" => hipErrorInvalidValue, (w.exec, w.copy, a, b, 16, hipMemcpyDefault);
            "no bytes" => hipErrorInvalidValue, (w.exec, w.copy, a, b, 0, device);
            "more than the destination" => hipErrorInvalidValue, (w.exec, w.copy, inside, b, BYTES, device);
            "more than the source" => hipErrorInvalidValue, (w.exec, w.copy, b, inside, BYTES, device);
            "onto itself" => hipErrorInvalidValue, (w.exec, w.copy, a, a, 16, device);
            "overlapping" => hipErrorInvalidValue, (w.exec, w.copy, a, inside, 16, device);
        }
    };
}

// proves: hipGraphMemcpyNodeSetParamsFromSymbol, hipGraphExecMemcpyNodeSetParamsFromSymbol
// proves: hipGraphMemcpyNodeSetParamsToSymbol, hipGraphExecMemcpyNodeSetParamsToSymbol
#[test]
fn what_is_no_copy_of_a_variable_is_refused() {
    let w = World::new();
    let (a, device, bad_kind) = (w.a.pointer(), hipMemcpyDeviceToDevice, hipMemcpyKind(77));
    let symbol: *const c_void = counters();
    let mut n = NODE;
    refusals! {
        hipGraphAddMemcpyNodeFromSymbol {
            "no destination" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, null_mut(), symbol, 8, 0, device);
            "no variable" => hipErrorInvalidSymbol, (&mut n, w.graph, null(), 0, a, null(), 8, 0, device);
            "no bytes" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, a, symbol, 0, 0, device);
            "too many bytes" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, a, symbol, 17, 0, device);
            "bytes without end" => hipErrorInvalidValue,
                (&mut n, w.graph, null(), 0, a, symbol, usize::MAX, 8, device);
            "behind the end" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, a, symbol, 9, 8, device);
            "against the direction" => hipErrorInvalidMemcpyDirection,
                (&mut n, w.graph, null(), 0, a, symbol, 8, 0, hipMemcpyHostToDevice);
            "no direction" => hipErrorInvalidMemcpyDirection,
                (&mut n, w.graph, null(), 0, a, symbol, 8, 0, bad_kind);
        }
        hipGraphAddMemcpyNodeToSymbol {
            "no source" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, symbol, null(), 8, 0, device);
            "no variable" => hipErrorInvalidSymbol, (&mut n, w.graph, null(), 0, null(), a, 8, 0, device);
            "no bytes" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, symbol, a, 0, 0, device);
            "too many bytes" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, symbol, a, 17, 0, device);
            "behind the end" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, symbol, a, 9, 8, device);
            "against the direction" => hipErrorInvalidMemcpyDirection,
                (&mut n, w.graph, null(), 0, symbol, a, 8, 0, hipMemcpyDeviceToHost);
            "no direction" => hipErrorInvalidMemcpyDirection,
                (&mut n, w.graph, null(), 0, symbol, a, 8, 0, bad_kind);
        }
        hipGraphMemcpyNodeSetParamsFromSymbol {
            "no node" => hipErrorInvalidValue, (NODE, a, symbol, 8, 0, device);
            "no destination" => hipErrorInvalidValue, (w.copy, null_mut(), symbol, 8, 0, device);
            "no variable" => hipErrorInvalidSymbol, (w.copy, a, null(), 8, 0, device);
            "no bytes" => hipErrorInvalidValue, (w.copy, a, symbol, 0, 0, device);
            "behind the end" => hipErrorInvalidValue, (w.copy, a, symbol, 9, 8, device);
        }
        hipGraphMemcpyNodeSetParamsToSymbol {
            "no node" => hipErrorInvalidValue, (NODE, symbol, a, 8, 0, device);
            "no source" => hipErrorInvalidValue, (w.copy, symbol, null(), 8, 0, device);
            "no variable" => hipErrorInvalidSymbol, (w.copy, null(), a, 8, 0, device);
            "no bytes" => hipErrorInvalidValue, (w.copy, symbol, a, 0, 0, device);
            "behind the end" => hipErrorInvalidValue, (w.copy, symbol, a, 9, 8, device);
        }
        hipGraphExecMemcpyNodeSetParamsFromSymbol {
            "no executable" => hipErrorInvalidValue, (EXEC, w.copy, a, symbol, 8, 0, device);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, a, symbol, 8, 0, device);
            "no destination" => hipErrorInvalidValue, (w.exec, w.copy, null_mut(), symbol, 8, 0, device);
            "no variable" => hipErrorInvalidSymbol, (w.exec, w.copy, a, null(), 8, 0, device);
            "no bytes" => hipErrorInvalidValue, (w.exec, w.copy, a, symbol, 0, 0, device);
            "behind the end" => hipErrorInvalidValue, (w.exec, w.copy, a, symbol, 9, 8, device);
            "another graph's node" => hipErrorInvalidValue, (w.exec, w.foreign, a, symbol, 8, 0, device);
            "not instantiated" => hipErrorInvalidValue, (w.exec, w.late, a, symbol, 8, 0, device);
        }
        hipGraphExecMemcpyNodeSetParamsToSymbol {
            "no executable" => hipErrorInvalidValue, (EXEC, w.copy, symbol, a, 8, 0, device);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, symbol, a, 8, 0, device);
            "no source" => hipErrorInvalidValue, (w.exec, w.copy, symbol, null(), 8, 0, device);
            "no variable" => hipErrorInvalidSymbol, (w.exec, w.copy, null(), a, 8, 0, device);
            "no bytes" => hipErrorInvalidValue, (w.exec, w.copy, symbol, a, 0, 0, device);
            "behind the end" => hipErrorInvalidValue, (w.exec, w.copy, symbol, a, 9, 8, device);
            "another direction" => hipErrorInvalidValue, (w.exec, w.copy, symbol, a, 8, 0, hipMemcpyHostToDevice);
            "another graph's node" => hipErrorInvalidValue, (w.exec, w.foreign, symbol, a, 8, 0, device);
        }
    };
}

// proves: hipGraphMemsetNodeGetParams, hipGraphMemsetNodeSetParams, hipGraphExecMemsetNodeSetParams
// proves: hipDrvGraphExecMemsetNodeSetParams
#[test]
fn what_is_no_fill_is_refused() {
    let w = World::new();
    let (a, invalid) = (w.a.pointer(), capi::error::hipErrorInvalidValue);
    let good = memset(a);
    let wrong = [
        hipMemsetParams { dst: null_mut(), ..good },
        hipMemsetParams { elementSize: 0, ..good },
        hipMemsetParams { elementSize: 3, ..good },
        hipMemsetParams { elementSize: 8, ..good },
        hipMemsetParams { width: 0, ..good },
        hipMemsetParams { width: BYTES, ..good },
        hipMemsetParams { width: usize::MAX, ..good },
        hipMemsetParams { height: 0, ..good },
        hipMemsetParams { height: 2, pitch: 8, ..good },
        hipMemsetParams { height: 2, pitch: BYTES, ..good },
        hipMemsetParams { height: usize::MAX, ..good },
    ];
    let mut n = NODE;
    for (row, params) in wrong.iter().enumerate() {
        // SAFETY: the parameters are what the functions check.
        unsafe {
            assert_eq!(hipGraphAddMemsetNode(&mut n, w.graph, null(), 0, params), invalid, "row {row}");
            let added = hipDrvGraphAddMemsetNode(&mut n, w.graph, null(), 0, params, w.context);
            assert_eq!(added, invalid, "row {row}");
            assert_eq!(hipGraphMemsetNodeSetParams(w.fill, params), invalid, "row {row}");
            assert_eq!(hipGraphExecMemsetNodeSetParams(w.exec, w.fill, params), invalid, "row {row}");
            let set = hipDrvGraphExecMemsetNodeSetParams(w.exec, w.fill, params, w.context);
            assert_eq!(set, invalid, "row {row}");
        }
    }
    let mut told = good;
    let two_rows = hipMemsetParams { height: 2, pitch: 16, width: 2, ..good };
    let wider = hipMemsetParams { width: 3, ..two_rows };
    refusals! {
        hipGraphAddMemsetNode {
            "no parameters" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, null());
        }
        hipDrvGraphAddMemsetNode {
            "no parameters" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, null(), w.context);
            "no context" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, &good, hipCtx_t::NULL);
            "a wild context" => hipErrorInvalidContext, (&mut n, w.graph, null(), 0, &good, hipCtx_t(WILD));
        }
        hipGraphMemsetNodeGetParams {
            "no node" => hipErrorInvalidValue, (NODE, &mut told);
            "no place" => hipErrorInvalidValue, (w.fill, null_mut());
            "a destroyed node" => hipErrorInvalidValue, (w.gone, &mut told);
            "no fill" => hipErrorInvalidValue, (w.copy, &mut told);
        }
        hipGraphMemsetNodeSetParams {
            "no node" => hipErrorInvalidValue, (NODE, &good);
            "no parameters" => hipErrorInvalidValue, (w.fill, null());
            "no fill" => hipErrorInvalidValue, (w.copy, &good);
        }
        hipGraphExecMemsetNodeSetParams {
            "no executable" => hipErrorInvalidValue, (EXEC, w.fill, &good);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, &good);
            "no parameters" => hipErrorInvalidValue, (w.exec, w.fill, null());
            "another shape of rows" => hipErrorInvalidValue, (w.exec, w.rows, &wider);
            "rows for one row" => hipErrorInvalidValue, (w.exec, w.fill, &two_rows);
            "one row for rows" => hipErrorInvalidValue, (w.exec, w.rows, &good);
            "not instantiated" => hipErrorInvalidValue, (w.exec, w.cloned, &good);
        }
        hipDrvGraphExecMemsetNodeSetParams {
            "no executable" => hipErrorInvalidValue, (EXEC, w.fill, &good, w.context);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, &good, w.context);
            "no parameters" => hipErrorInvalidValue, (w.exec, w.fill, null(), w.context);
            "no context" => hipErrorInvalidValue, (w.exec, w.fill, &good, hipCtx_t::NULL);
            "a wild context" => hipErrorInvalidContext, (w.exec, w.fill, &good, hipCtx_t(WILD));
            "another shape of rows" => hipErrorInvalidValue, (w.exec, w.rows, &wider, w.context);
        }
    };
}

// proves: hipGraphHostNodeGetParams, hipGraphHostNodeSetParams, hipGraphExecHostNodeSetParams
// proves: hipGraphChildGraphNodeGetGraph, hipGraphExecChildGraphNodeSetParams
// proves: hipGraphEventRecordNodeGetEvent, hipGraphEventRecordNodeSetEvent, hipGraphExecEventRecordNodeSetEvent
// proves: hipGraphEventWaitNodeGetEvent, hipGraphEventWaitNodeSetEvent, hipGraphExecEventWaitNodeSetEvent
#[test]
fn what_is_no_call_child_or_event_is_refused() {
    let w = World::new();
    let (mut n, mut g, mut told_event) = (NODE, GRAPH, EVENT);
    let good = hipHostNodeParams { r#fn: Some(nothing), userData: null_mut() };
    let none = hipHostNodeParams { r#fn: None, userData: null_mut() };
    let mut told = good;
    refusals! {
        hipGraphAddHostNode {
            "no parameters" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, null());
            "no function" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, &none);
        }
        hipGraphHostNodeGetParams {
            "no node" => hipErrorInvalidValue, (NODE, &mut told);
            "no place" => hipErrorInvalidValue, (w.host, null_mut());
            "no call" => hipErrorInvalidValue, (w.kernel, &mut told);
        }
        hipGraphHostNodeSetParams {
            "no node" => hipErrorInvalidValue, (NODE, &good);
            "no parameters" => hipErrorInvalidValue, (w.host, null());
            "no function" => hipErrorInvalidValue, (w.host, &none);
            "no call" => hipErrorInvalidValue, (w.kernel, &good);
        }
        hipGraphExecHostNodeSetParams {
            "no executable" => hipErrorInvalidValue, (EXEC, w.host, &good);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, &good);
            "no parameters" => hipErrorInvalidValue, (w.exec, w.host, null());
            "no function" => hipErrorInvalidValue, (w.exec, w.host, &none);
            "no call" => hipErrorInvalidValue, (w.exec, w.kernel, &good);
            "not instantiated" => hipErrorInvalidValue, (w.exec, w.late, &good);
        }
        hipGraphAddChildGraphNode {
            "no child" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, GRAPH);
            "a destroyed child" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, w.gone_graph);
            "a child with memory" => hipErrorNotSupported, (&mut n, w.graph, null(), 0, w.memory);
        }
        hipGraphChildGraphNodeGetGraph {
            "no node" => hipErrorInvalidValue, (NODE, &mut g);
            "no place" => hipErrorInvalidValue, (w.child, null_mut());
            "no child graph" => hipErrorInvalidValue, (w.kernel, &mut g);
            "a destroyed node" => hipErrorInvalidValue, (w.gone, &mut g);
        }
        hipGraphExecChildGraphNodeSetParams {
            "no executable" => hipErrorInvalidValue, (EXEC, w.child, w.other);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, w.other);
            "no child" => hipErrorInvalidValue, (w.exec, w.child, GRAPH);
            "the graph around it" => hipErrorInvalidValue, (w.exec, w.child, w.graph);
            "no child graph node" => hipErrorInvalidValue, (w.exec, w.kernel, w.other);
        }
        hipGraphAddEventRecordNode {
            "no event" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, EVENT);
            "a destroyed event" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, w.gone_event);
        }
        hipGraphEventRecordNodeGetEvent {
            "no node" => hipErrorInvalidValue, (NODE, &mut told_event);
            "no place" => hipErrorInvalidValue, (w.record, null_mut());
            "an empty node" => hipErrorInvalidValue, (w.empty, &mut told_event);
            "a fill" => hipErrorInvalidValue, (w.fill, &mut told_event);
            "a wait" => hipErrorInvalidValue, (w.wait, &mut told_event);
            "a destroyed node" => hipErrorInvalidValue, (w.gone, &mut told_event);
        }
        hipGraphEventRecordNodeSetEvent {
            "no node" => hipErrorInvalidValue, (NODE, w.event);
            "no event" => hipErrorInvalidValue, (w.record, EVENT);
            "a destroyed event" => hipErrorInvalidValue, (w.record, w.gone_event);
            "a wait" => hipErrorInvalidValue, (w.wait, w.event);
        }
        hipGraphExecEventRecordNodeSetEvent {
            "no executable" => hipErrorInvalidValue, (EXEC, w.record, w.event);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, w.event);
            "no event" => hipErrorInvalidValue, (w.exec, w.record, EVENT);
            "a wild event" => hipErrorInvalidValue, (w.exec, w.record, hipEvent_t(WILD));
            "a fill" => hipErrorInvalidValue, (w.exec, w.fill, w.event);
            "a wait" => hipErrorInvalidValue, (w.exec, w.wait, w.event);
        }
        hipGraphAddEventWaitNode {
            "no event" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, EVENT);
            "a wild event" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, hipEvent_t(WILD));
        }
        hipGraphEventWaitNodeGetEvent {
            "no node" => hipErrorInvalidValue, (NODE, &mut told_event);
            "no place" => hipErrorInvalidValue, (w.wait, null_mut());
            "a record" => hipErrorInvalidValue, (w.record, &mut told_event);
            "an empty node" => hipErrorInvalidValue, (w.empty, &mut told_event);
        }
        hipGraphEventWaitNodeSetEvent {
            "no node" => hipErrorInvalidValue, (NODE, w.event);
            "no event" => hipErrorInvalidValue, (w.wait, EVENT);
            "a record" => hipErrorInvalidValue, (w.record, w.event);
        }
        hipGraphExecEventWaitNodeSetEvent {
            "no executable" => hipErrorInvalidValue, (EXEC, w.wait, w.event);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, w.event);
            "no event" => hipErrorInvalidValue, (w.exec, w.wait, EVENT);
            "a record" => hipErrorInvalidValue, (w.exec, w.record, w.event);
            "a fill" => hipErrorInvalidValue, (w.exec, w.fill, w.event);
        }
    };
}

// proves: hipGraphInstantiate, hipGraphInstantiateWithFlags, hipGraphLaunch, hipGraphUpload, hipGraphExecDestroy
// proves: hipGraphNodeSetEnabled, hipGraphNodeGetEnabled
#[test]
fn what_is_no_executable_is_refused() {
    let w = World::new();
    let (mut exec, stream) = (EXEC, hipStream_t::NULL);
    let (mut enabled, mut flags) = (0, 0);
    let (mut n, mut result) = (NODE, hipGraphExecUpdateSuccess);
    let mut params = hipGraphInstantiateParams {
        errNode_out: NODE,
        flags: 1 << 20,
        result_out: hipGraphInstantiateSuccess,
        uploadStream: stream,
    };
    refusals! {
        hipGraphInstantiate {
            "no place" => hipErrorInvalidValue, (null_mut(), w.graph, null_mut(), null_mut(), 0);
            "no graph" => hipErrorInvalidValue, (&mut exec, GRAPH, null_mut(), null_mut(), 0);
            "a destroyed graph" => hipErrorInvalidValue, (&mut exec, w.gone_graph, null_mut(), null_mut(), 0);
        }
        hipGraphInstantiateWithFlags {
            "no place" => hipErrorInvalidValue, (null_mut(), w.graph, 0);
            "no graph" => hipErrorInvalidValue, (&mut exec, GRAPH, 0);
            "unknown flags" => hipErrorInvalidValue, (&mut exec, w.graph, 16);
            "flags that contradict each other" => hipErrorInvalidValue, (&mut exec, w.graph, 1 | 4);
            "a host node in a graph for kernels to launch" => hipErrorNotSupported, (&mut exec, w.graph, 4);
        }
        hipGraphInstantiateWithParams {
            "no place" => hipErrorInvalidValue, (null_mut(), w.graph, &mut params);
            "no graph" => hipErrorInvalidValue, (&mut exec, GRAPH, &mut params);
            "no parameters" => hipErrorInvalidValue, (&mut exec, w.graph, null_mut());
            "unknown flags" => hipErrorInvalidValue, (&mut exec, w.graph, &mut params);
        }
        hipGraphLaunch {
            "no executable" => hipErrorInvalidValue, (EXEC, stream);
            "no executable, the thread's own stream" => hipErrorInvalidValue, (EXEC, hipStreamPerThread);
            "a wild executable" => hipErrorInvalidValue, (hipGraphExec_t(WILD), stream);
            "a destroyed executable" => hipErrorInvalidValue, (w.gone_exec, stream);
        }
        hipGraphUpload {
            "no executable" => hipErrorInvalidValue, (EXEC, stream);
            "a wild executable" => hipErrorInvalidValue, (hipGraphExec_t(WILD), stream);
            "a destroyed executable" => hipErrorInvalidValue, (w.gone_exec, stream);
        }
        hipGraphExecGetFlags {
            "no executable" => hipErrorInvalidValue, (EXEC, &mut flags);
            "no place" => hipErrorInvalidValue, (w.exec, null_mut());
        }
        hipGraphExecDestroy {
            "no executable" => hipErrorInvalidValue, (EXEC);
            "a wild executable" => hipErrorInvalidValue, (hipGraphExec_t(WILD));
            "a destroyed executable" => hipErrorInvalidValue, (w.gone_exec);
        }
        hipGraphExecUpdate {
            "no executable" => hipErrorInvalidValue, (EXEC, w.graph, &mut n, &mut result);
            "no graph" => hipErrorInvalidValue, (w.exec, GRAPH, &mut n, &mut result);
            "no place for the node" => hipErrorInvalidValue, (w.exec, w.graph, null_mut(), &mut result);
            "no place for the result" => hipErrorInvalidValue, (w.exec, w.graph, &mut n, null_mut());
        }
        hipGraphNodeSetEnabled {
            "no executable" => hipErrorInvalidValue, (EXEC, w.kernel, 0);
            "a wild executable" => hipErrorInvalidValue, (hipGraphExec_t(WILD), w.kernel, 0);
            "a destroyed executable" => hipErrorInvalidValue, (w.gone_exec, w.kernel, 0);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, 0);
            "a wild node" => hipErrorInvalidValue, (w.exec, hipGraphNode_t(WILD), 0);
            "a host node" => hipErrorInvalidValue, (w.exec, w.host, 0);
            "an empty node" => hipErrorInvalidValue, (w.exec, w.empty, 0);
            "a child graph" => hipErrorInvalidValue, (w.exec, w.child, 0);
            "an event record" => hipErrorInvalidValue, (w.exec, w.record, 0);
            "an event wait" => hipErrorInvalidValue, (w.exec, w.wait, 0);
            "another graph's node" => hipErrorInvalidValue, (w.exec, w.foreign, 0);
            "a node added later" => hipErrorInvalidValue, (w.exec, w.late, 0);
            "a clone's node" => hipErrorInvalidValue, (w.exec, w.cloned, 0);
            "a destroyed node" => hipErrorInvalidValue, (w.exec, w.gone, 0);
        }
        hipGraphNodeGetEnabled {
            "no executable" => hipErrorInvalidValue, (EXEC, w.kernel, &mut enabled);
            "a destroyed executable" => hipErrorInvalidValue, (w.gone_exec, w.kernel, &mut enabled);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, &mut enabled);
            "no place" => hipErrorInvalidValue, (w.exec, w.kernel, null_mut());
            "a host node" => hipErrorInvalidValue, (w.exec, w.host, &mut enabled);
            "an empty node" => hipErrorInvalidValue, (w.exec, w.empty, &mut enabled);
            "a child graph" => hipErrorInvalidValue, (w.exec, w.child, &mut enabled);
            "an event record" => hipErrorInvalidValue, (w.exec, w.record, &mut enabled);
            "an event wait" => hipErrorInvalidValue, (w.exec, w.wait, &mut enabled);
            "a node added later" => hipErrorInvalidValue, (w.exec, w.late, &mut enabled);
            "a clone's node" => hipErrorInvalidValue, (w.exec, w.cloned, &mut enabled);
            "a destroyed node" => hipErrorInvalidValue, (w.exec, w.gone, &mut enabled);
        }
    };
}

// proves: hipGraphMemAllocNodeGetParams, hipGraphMemFreeNodeGetParams, hipUserObjectCreate, hipUserObjectRelease
// proves: hipUserObjectRetain, hipGraphRetainUserObject, hipGraphReleaseUserObject, hipGraphDebugDotPrint
// proves: hipGraphNodeSetParams, hipGraphExecNodeSetParams
#[test]
fn what_is_no_allocation_object_or_file_is_refused() {
    let w = World::new();
    let (mut n, mut told, mut object) = (NODE, alloc_params(), hipUserObject_t::NULL);
    let mut address = null_mut::<c_void>();
    let place: *mut c_void = (&raw mut address).cast();
    let alloc = |change: fn(&mut hipMemAllocNodeParams)| {
        let mut params = alloc_params();
        change(&mut params);
        params
    };
    let no_object = hipUserObject_t::NULL;
    let wild = hipUserObject_t(WILD);
    let path = c"/nonexistent/graph.dot".as_ptr();
    let many = i32::MAX as u32 + 1;
    let union = hipGraphNodeParamsUnion { memset: memset(w.a.pointer()) };
    let mut any =
        hipGraphNodeParams { r#type: hipGraphNodeTypeMemset, reserved0: [0; 3], params: union, reserved2: 0 };
    let mut none = hipGraphNodeParams { r#type: hipGraphNodeType(99), ..any };
    let mut memory = hipGraphNodeParams { r#type: hipGraphNodeTypeMemAlloc, ..any };
    refusals! {
        hipGraphAddNode {
            "no parameters" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, null_mut());
            "no kind" => hipErrorInvalidValue, (&mut n, w.graph, null(), 0, &mut none);
        }
        hipGraphNodeSetParams {
            "no node" => hipErrorInvalidValue, (NODE, &mut any);
            "no parameters" => hipErrorInvalidValue, (w.fill, null_mut());
            "another kind" => hipErrorInvalidValue, (w.kernel, &mut any);
            "no kind" => hipErrorInvalidValue, (w.fill, &mut none);
        }
        hipGraphExecNodeSetParams {
            "no executable" => hipErrorInvalidValue, (EXEC, w.fill, &mut any);
            "no node" => hipErrorInvalidValue, (w.exec, NODE, &mut any);
            "no parameters" => hipErrorInvalidValue, (w.exec, w.fill, null_mut());
            "another kind" => hipErrorInvalidValue, (w.exec, w.kernel, &mut any);
            "no kind" => hipErrorInvalidValue, (w.exec, w.fill, &mut none);
            "an allocation" => hipErrorNotSupported, (w.exec, w.fill, &mut memory);
        }
        hipGraphAddMemAllocNode {
            "no parameters" => hipErrorInvalidValue, (&mut n, w.memory, null(), 0, null_mut());
            "no kind of allocation" => hipErrorInvalidValue,
                (&mut n, w.memory, null(), 0, &mut alloc(|p| p.poolProps.allocType = hipMemAllocationType(0)));
            "no kind of place" => hipErrorInvalidValue,
                (&mut n, w.memory, null(), 0, &mut alloc(|p| p.poolProps.location.r#type = hipMemLocationType(0)));
            "no device" => hipErrorInvalidValue,
                (&mut n, w.memory, null(), 0, &mut alloc(|p| p.poolProps.location.id = 99));
            "more access than devices" => hipErrorInvalidValue,
                (&mut n, w.memory, null(), 0, &mut alloc(|p| p.accessDescCount = 99));
            "bytes without end" => hipErrorOutOfMemory,
                (&mut n, w.memory, null(), 0, &mut alloc(|p| p.bytesize = usize::MAX));
        }
        hipGraphMemAllocNodeGetParams {
            "no node" => hipErrorInvalidValue, (NODE, &mut told);
            "an empty node" => hipErrorInvalidValue, (w.empty, &mut told);
            "no place" => hipErrorInvalidValue, (w.alloc, null_mut());
            "a free node" => hipErrorInvalidValue, (w.free, &mut told);
        }
        hipGraphMemFreeNodeGetParams {
            "no node" => hipErrorInvalidValue, (NODE, place);
            "an empty node" => hipErrorInvalidValue, (w.empty, place);
            "no place" => hipErrorInvalidValue, (w.free, null_mut());
            "an allocation node" => hipErrorInvalidValue, (w.alloc, place);
        }
        hipGraphAddMemFreeNode {
            "no address" => hipErrorInvalidValue, (&mut n, w.memory, null(), 0, null_mut());
            "no allocation of the graph" => hipErrorInvalidValue, (&mut n, w.memory, null(), 0, w.a.pointer());
        }
        hipDrvGraphAddMemFreeNode {
            "no address" => hipErrorInvalidValue, (&mut n, w.memory, null(), 0, null_mut());
            "no allocation of the graph" => hipErrorInvalidValue, (&mut n, w.memory, null(), 0, w.a.pointer());
        }
        hipUserObjectCreate {
            "no place" => hipErrorInvalidValue, (null_mut(), null_mut(), Some(nothing), 1, 1);
            "no destructor" => hipErrorInvalidValue, (&mut object, null_mut(), None, 1, 1);
            "no references" => hipErrorInvalidValue, (&mut object, null_mut(), Some(nothing), 0, 1);
            "too many references" => hipErrorInvalidValue, (&mut object, null_mut(), Some(nothing), many, 1);
            "flag 0" => hipErrorInvalidValue, (&mut object, null_mut(), Some(nothing), 1, 0);
            "an unknown flag" => hipErrorInvalidValue, (&mut object, null_mut(), Some(nothing), 1, 3);
        }
        hipUserObjectRelease {
            "no object" => hipErrorInvalidValue, (no_object, 1);
            "a wild object" => hipErrorInvalidValue, (wild, 1);
            "no references" => hipErrorInvalidValue, (w.object, 0);
            "too many references" => hipErrorInvalidValue, (w.object, many);
        }
        hipUserObjectRetain {
            "no object" => hipErrorInvalidValue, (no_object, 1);
            "no references" => hipErrorInvalidValue, (w.object, 0);
            "too many references" => hipErrorInvalidValue, (w.object, many);
        }
        hipGraphRetainUserObject {
            "no graph" => hipErrorInvalidValue, (GRAPH, w.object, 1, 0);
            "no object" => hipErrorInvalidValue, (w.graph, no_object, 1, 0);
            "no references" => hipErrorInvalidValue, (w.graph, w.object, 0, 0);
            "flag INT_MAX" => hipErrorInvalidValue, (w.graph, w.object, 1, i32::MAX as u32);
            "an unknown flag" => hipErrorInvalidValue, (w.graph, w.object, 1, 2);
        }
        hipGraphReleaseUserObject {
            "no graph" => hipErrorInvalidValue, (GRAPH, w.object, 1);
            "no object" => hipErrorInvalidValue, (w.graph, no_object, 1);
            "no references" => hipErrorInvalidValue, (w.graph, w.object, 0);
            "too many references" => hipErrorInvalidValue, (w.graph, w.object, many);
        }
        hipGraphDebugDotPrint {
            "no graph" => hipErrorInvalidValue, (GRAPH, path, 0);
            "a destroyed graph" => hipErrorInvalidValue, (w.gone_graph, path, 0);
            "no path" => hipErrorInvalidValue, (w.graph, null(), 0);
            "an empty path" => hipErrorOperatingSystem, (w.graph, c"".as_ptr(), 0);
            "a path that leads nowhere" => hipErrorOperatingSystem, (w.graph, path, 0);
            "a directory" => hipErrorOperatingSystem, (w.graph, c"/".as_ptr(), 0);
        }
    };
}
