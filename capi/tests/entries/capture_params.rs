//! Captured nodes beside the nodes that the explicit calls add: their parameters are the same.

use std::{ffi::c_uint, ptr};

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::{BLOCK, counters, doubles, image, line};

unsafe extern "C" {
    fn hipStreamCreateWithPriority(stream: *mut hipStream_t, flags: c_uint, priority: c_int) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipEventQuery(event: hipEvent_t) -> hipError_t;
    fn hipEventElapsedTime(milliseconds: *mut f32, start: hipEvent_t, stop: hipEvent_t) -> hipError_t;
    fn hipEventRecordWithFlags(event: hipEvent_t, stream: hipStream_t, flags: c_uint) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize) -> hipError_t;
    fn hipGraphGetEdges(
        graph: hipGraph_t,
        from: *mut hipGraphNode_t,
        to: *mut hipGraphNode_t,
        count: *mut usize,
    ) -> hipError_t;
    fn hipGraphNodeGetType(node: hipGraphNode_t, kind: *mut hipGraphNodeType) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphKernelNodeGetAttribute(
        node: hipGraphNode_t,
        attribute: hipLaunchAttributeID,
        value: *mut hipLaunchAttributeValue,
    ) -> hipError_t;
    fn hipGraphEventRecordNodeGetEvent(node: hipGraphNode_t, event: *mut hipEvent_t) -> hipError_t;
    fn hipGraphEventWaitNodeGetEvent(node: hipGraphNode_t, event: *mut hipEvent_t) -> hipError_t;
    fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t;
    fn hipModuleGetFunction(
        function: *mut hipFunction_t,
        module: hipModule_t,
        name: *const std::ffi::c_char,
    ) -> hipError_t;
}

/// Calls an exported function by its name, with the types that the public header gives it.
macro_rules! call {
    ($name:ident($($ty:ty),*)($($arg:expr),* $(,)?)) => {{
        let symbol = capi::symbols::find(stringify!($name)).unwrap();
        // SAFETY: the function has these parameters, and gets what it documents.
        let code: hipError_t = unsafe {
            let function: unsafe extern "C" fn($($ty),*) -> hipError_t = std::mem::transmute(symbol.address);
            function($($arg),*)
        };
        assert_eq!(code, capi::error::hipSuccess, stringify!($name));
    }};
}

type P = *mut c_void;
type C = *const c_void;
type PP = *mut *mut c_void;
type S = hipStream_t;
type K = hipMemcpyKind;
type G = hipGraph_t;
type N = *mut hipGraphNode_t;
type After = *const hipGraphNode_t;

const D2D: K = hipMemcpyDeviceToDevice;

/// The one node that `work` on a stream of this priority becomes, with its graph.
fn captured(priority: c_int, work: impl FnOnce(S)) -> (G, hipGraphNode_t) {
    let (mut stream, mut graph, mut nodes, mut count) = (S::NULL, G::NULL, [hipGraphNode_t::NULL; 2], 2);
    ok!(
        hipStreamCreateWithPriority(&mut stream, hipStreamNonBlocking, priority),
        hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal),
    );
    work(stream);
    ok!(
        hipStreamEndCapture(stream, &mut graph),
        hipGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count),
        hipStreamDestroy(stream),
    );
    assert_eq!(count, 1);
    (graph, nodes[0])
}

/// The node that `add` adds to a new graph.
fn explicit(add: impl FnOnce(N, G)) -> (G, hipGraphNode_t) {
    let (mut graph, mut node) = (G::NULL, hipGraphNode_t::NULL);
    ok!(hipGraphCreate(&mut graph, 0));
    add(&mut node, graph);
    (graph, node)
}

fn type_of(node: hipGraphNode_t) -> hipGraphNodeType {
    let mut kind = hipGraphNodeType(0);
    ok!(hipGraphNodeGetType(node, &mut kind));
    kind
}

/// The parameters of a node as bytes; those of equal nodes are equal.
fn bytes<T>(node: hipGraphNode_t, getter: &str) -> Vec<u8> {
    // What the getter leaves alone shows: structures are compared byte by byte, by callers too.
    let mut params = vec![0xa5u8; size_of::<T>()];
    let symbol = capi::symbols::find(getter).unwrap();
    // SAFETY: getters take a node and a place for its parameters, which is large enough.
    let code: hipError_t = unsafe {
        let get: unsafe extern "C" fn(hipGraphNode_t, *mut u8) -> hipError_t =
            std::mem::transmute(symbol.address);
        get(node, params.as_mut_ptr())
    };
    assert_eq!(code, capi::error::hipSuccess, "{getter}");
    assert!(!params.windows(4).any(|bytes| bytes == [0xa5; 4]), "{getter}: {params:x?}");
    params
}

#[track_caller]
fn same<T>(getter: &str, work: impl FnOnce(S), add: impl FnOnce(N, G)) {
    let ((first, captured), (second, added)) = (captured(0, work), explicit(add));
    assert_eq!(type_of(captured), type_of(added));
    assert_eq!(bytes::<T>(captured, getter), bytes::<T>(added, getter));
    ok!(hipGraphDestroy(first), hipGraphDestroy(second));
}

fn pitched(address: P, pitch: usize) -> hipPitchedPtr {
    hipPitchedPtr { ptr: address, pitch, xsize: 8, ysize: 2 }
}

#[test]
fn captured_fills_are_the_explicit_ones() {
    const GET: &str = "hipGraphMemsetNodeGetParams";
    let memory = Memory::of(&[0u8; 256]);
    let a = memory.pointer();
    let fill = |value, element, width, height, pitch| {
        move |node: N, graph: G| {
            let params = hipMemsetParams { dst: a, elementSize: element, height, pitch, value, width };
            call!(hipGraphAddMemsetNode(N, G, After, usize, *const hipMemsetParams)(node, graph, ptr::null(), 0, &params));
        }
    };
    let extent = hipExtent { width: 8, height: 2, depth: 1 };
    same::<hipMemsetParams>(
        GET,
        |s| call!(hipMemsetAsync(P, c_int, usize, S)(a, 0x107, 64, s)),
        fill(7, 1, 64, 1, 64),
    );
    same::<hipMemsetParams>(
        GET,
        |s| call!(hipMemsetD8Async(P, u8, usize, S)(a, 7, 64, s)),
        fill(7, 1, 64, 1, 64),
    );
    same::<hipMemsetParams>(
        GET,
        |s| call!(hipMemsetD16Async(P, u16, usize, S)(a, 700, 32, s)),
        fill(700, 2, 32, 1, 64),
    );
    same::<hipMemsetParams>(
        GET,
        |s| call!(hipMemsetD32Async(P, c_int, usize, S)(a, -1, 16, s)),
        fill(u32::MAX, 4, 16, 1, 64),
    );
    same::<hipMemsetParams>(
        GET,
        |s| call!(hipMemset2DAsync(P, usize, c_int, usize, usize, S)(a, 16, 7, 8, 2, s)),
        fill(7, 1, 8, 2, 16),
    );
    same::<hipMemsetParams>(
        GET,
        |s| call!(hipMemset3DAsync(hipPitchedPtr, c_int, hipExtent, S)(pitched(a, 16), 7, extent, s)),
        fill(7, 1, 8, 2, 16),
    );
    same::<hipMemsetParams>(
        GET,
        |s| call!(hipMemsetD2D16Async(P, usize, u16, usize, usize, S)(a, 32, 700, 8, 2, s)),
        fill(700, 2, 8, 2, 32),
    );
}

#[test]
fn captured_copies_are_the_explicit_ones() {
    const GET: &str = "hipGraphMemcpyNodeGetParams";
    type Params = hipMemcpy3DParms;
    let (from, to, host) = (Memory::of(&[0u8; 256]), Memory::of(&[0u8; 256]), [0u8; 64]);
    let (a, b, host) = (from.pointer(), to.pointer(), host.as_ptr().cast::<c_void>().cast_mut());
    let linear = |dst: P, src: P, kind: K| {
        move |node: N, graph: G| {
            call!(hipGraphAddMemcpyNode1D(N, G, After, usize, P, C, usize, K)(
                node,
                graph,
                ptr::null(),
                0,
                dst,
                src,
                64,
                kind
            ));
        }
    };
    same::<Params>(GET, |s| call!(hipMemcpyAsync(P, C, usize, K, S)(b, a, 64, D2D, s)), linear(b, a, D2D));
    same::<Params>(
        GET,
        |s| call!(hipMemcpyHtoDAsync(P, C, usize, S)(b, host, 64, s)),
        linear(b, host, hipMemcpyHostToDevice),
    );
    same::<Params>(
        GET,
        |s| call!(hipMemcpyDtoHAsync(P, C, usize, S)(host, a, 64, s)),
        linear(host, a, hipMemcpyDeviceToHost),
    );
    same::<Params>(GET, |s| call!(hipMemcpyDtoDAsync(P, C, usize, S)(b, a, 64, s)), linear(b, a, D2D));
    same::<Params>(
        GET,
        |s| call!(hipMemcpyPeerAsync(P, c_int, C, c_int, usize, S)(b, 0, a, 0, 64, s)),
        linear(b, a, D2D),
    );
    let zero = hipPos { x: 0, y: 0, z: 0 };
    let params = Params {
        srcArray: hipArray_t::NULL,
        srcPos: zero,
        srcPtr: pitched(a, 16),
        dstArray: hipArray_t::NULL,
        dstPos: hipPos { x: 4, y: 1, z: 0 },
        dstPtr: hipPitchedPtr { ptr: b, pitch: 32, xsize: 32, ysize: 4 },
        extent: hipExtent { width: 8, height: 2, depth: 1 },
        kind: D2D,
    };
    same::<Params>(
        GET,
        |s| call!(hipMemcpy3DAsync(*const Params, S)(&params, s)),
        |node, graph| {
            call!(hipGraphAddMemcpyNode(N, G, After, usize, *const Params)(node, graph, ptr::null(), 0, &params));
        },
    );
    same::<Params>(
        GET,
        |s| call!(hipMemcpyToSymbolAsync(C, C, usize, usize, K, S)(counters(), a, 8, 4, D2D, s)),
        |node, graph| {
            call!(hipGraphAddMemcpyNodeToSymbol(N, G, After, usize, C, C, usize, usize, K)(
                node,
                graph,
                ptr::null(),
                0,
                counters(),
                a,
                8,
                4,
                D2D
            ));
        },
    );
    same::<Params>(
        GET,
        |s| call!(hipMemcpyFromSymbolAsync(P, C, usize, usize, K, S)(b, counters(), 8, 4, D2D, s)),
        |node, graph| {
            call!(hipGraphAddMemcpyNodeFromSymbol(N, G, After, usize, P, C, usize, usize, K)(
                node,
                graph,
                ptr::null(),
                0,
                b,
                counters(),
                8,
                4,
                D2D
            ));
        },
    );
}

unsafe extern "C" fn count(calls: *mut c_void) {
    // SAFETY: the test gives a counter that outlives its graph.
    unsafe { *calls.cast::<u32>() += 1 };
}

#[test]
fn a_captured_host_function_is_the_explicit_one() {
    let mut calls = 0u32;
    let data: P = (&raw mut calls).cast();
    same::<hipHostNodeParams>(
        "hipGraphHostNodeGetParams",
        |s| call!(hipLaunchHostFunc(S, hipHostFn_t, P)(s, Some(count), data)),
        |node, graph| {
            let params = hipHostNodeParams { r#fn: Some(count), userData: data };
            call!(hipGraphAddHostNode(N, G, After, usize, *const hipHostNodeParams)(node, graph, ptr::null(), 0, &params));
        },
    );
}

/// Function, grid, block, shared bytes and first argument of a kernel node.
fn kernel(node: hipGraphNode_t) -> (usize, [u32; 3], [u32; 3], u32, usize) {
    let params = bytes::<hipKernelNodeParams>(node, "hipGraphKernelNodeGetParams");
    // SAFETY: the bytes are what the getter stored, and the argument is a pointer of the node's.
    let (params, argument) = unsafe {
        let params = params.as_ptr().cast::<hipKernelNodeParams>().read_unaligned();
        (params, **params.kernelParams.cast::<*const usize>())
    };
    let (grid, block) = (params.gridDim, params.blockDim);
    (
        params.func as usize,
        [grid.x, grid.y, grid.z],
        [block.x, block.y, block.z],
        params.sharedMemBytes,
        argument,
    )
}

#[test]
fn captured_kernels_are_the_explicit_ones_however_they_are_launched() {
    let memory = Memory::of(&[1.0f64; BLOCK as usize * 2]);
    let mut address = memory.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let arguments = arguments.as_mut_ptr();
    let (mut module, mut function) = (hipModule_t::NULL, hipFunction_t::NULL);
    ok!(
        hipModuleLoadData(&mut module, image().as_ptr().cast()),
        hipModuleGetFunction(&mut function, module, c"kernelA".as_ptr()),
    );
    let explicit_of = |func: C, shared| {
        let params = hipKernelNodeParams {
            blockDim: line(BLOCK),
            extra: ptr::null_mut(),
            func: func.cast_mut(),
            gridDim: line(2),
            kernelParams: arguments,
            sharedMemBytes: shared,
        };
        let (graph, node) = explicit(|node, graph| {
            call!(hipGraphAddKernelNode(N, G, After, usize, *const hipKernelNodeParams)(node, graph, ptr::null(), 0, &params));
        });
        let found = kernel(node);
        ok!(hipGraphDestroy(graph));
        found
    };
    let captured_by = |work: &dyn Fn(S)| {
        let (graph, node) = captured(0, work);
        let found = kernel(node);
        ok!(hipGraphDestroy(graph));
        found
    };
    let (two, block, none) = (line(2), line(BLOCK), hipEvent_t::NULL);
    let registered = explicit_of(doubles(), 128);
    let config = |s| hipLaunchConfig_t {
        gridDim: two,
        blockDim: block,
        dynamicSmemBytes: 128,
        stream: s,
        attrs: ptr::null_mut(),
        numAttrs: 0,
    };
    for work in [
        &(|s| call!(hipLaunchKernel(C, dim3, dim3, PP, usize, S)(doubles(), two, block, arguments, 128, s)))
            as &dyn Fn(S),
        &|s| {
            call!(hipExtLaunchKernel(C, dim3, dim3, PP, usize, S, hipEvent_t, hipEvent_t, c_int)(
                doubles(),
                two,
                block,
                arguments,
                128,
                s,
                none,
                none,
                0
            ));
        },
        &|s| call!(hipLaunchKernelExC(*const hipLaunchConfig_t, C, PP)(&config(s), doubles(), arguments)),
        &|s| {
            call!(hipLaunchCooperativeKernel(C, dim3, dim3, PP, c_uint, S)(
                doubles(),
                two,
                block,
                arguments,
                128,
                s
            ));
        },
    ] {
        assert_eq!(captured_by(work), registered);
    }
    let of_module = captured_by(&|s| {
        call!(hipModuleLaunchKernel(hipFunction_t, u32, u32, u32, u32, u32, u32, u32, S, PP, PP)(
            function,
            2,
            1,
            1,
            BLOCK,
            1,
            1,
            128,
            s,
            arguments,
            ptr::null_mut()
        ));
    });
    // A grid in threads that its blocks do not divide has one block more, and the node keeps what that lacks.
    let in_threads = captured_by(&|s| {
        call!(hipExtModuleLaunchKernel(
            hipFunction_t,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            usize,
            S,
            PP,
            PP,
            hipEvent_t,
            hipEvent_t,
            u32
        )(
            function, BLOCK + 24, 1, 1, BLOCK, 1, 1, 128, s, arguments, ptr::null_mut(), none, none, 0
        ));
    });
    assert_eq!(
        (of_module.1, of_module.2, of_module.3, of_module.4),
        (registered.1, registered.2, 128, registered.4)
    );
    assert_eq!(in_threads, of_module);
    let (graph, _) = captured(0, |s| {
        call!(hipExtModuleLaunchKernel(
            hipFunction_t,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            usize,
            S,
            PP,
            PP,
            hipEvent_t,
            hipEvent_t,
            u32
        )(
            function, BLOCK + 24, 1, 1, BLOCK, 1, 1, 0, s, arguments, ptr::null_mut(), none, none, 0
        ));
    });
    run(graph);
    let values = memory.read();
    let doubled = values.iter().filter(|value| **value == 2.0).count();
    assert_eq!(doubled, BLOCK as usize + 24, "the remainder is kept");
    ok!(hipGraphDestroy(graph));
}

fn run(graph: G) {
    let (stream, mut exec) = (new_stream(), hipGraphExec_t::NULL);
    ok!(
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
        hipGraphExecDestroy(exec),
        hipStreamDestroy(stream),
    );
}

// proves: hipGraphKernelNodeGetAttribute
#[test]
fn a_captured_kernel_inherits_the_streams_priority() {
    let memory = Memory::of(&[1.0f64; BLOCK as usize]);
    let mut address = memory.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    for priority in [-1, 0, 1] {
        let (graph, node) = captured(priority, |s| {
            call!(hipLaunchKernel(C, dim3, dim3, PP, usize, S)(
                doubles(),
                line(1),
                line(BLOCK),
                arguments.as_mut_ptr(),
                0,
                s
            ));
        });
        let mut value = hipLaunchAttributeValue { priority: 77 };
        ok!(hipGraphKernelNodeGetAttribute(node, hipLaunchAttributePriority, &mut value));
        // SAFETY: the attribute that was asked for.
        assert_eq!(unsafe { value.priority }, priority);
        ok!(hipGraphDestroy(graph));
    }
}

// proves: hipEventRecordWithFlags, hipStreamWaitEvent
#[test]
fn external_events_are_nodes_and_others_are_not() {
    let (stream, memory, mut graph) = (new_stream(), Memory::of(&[0u8; 64]), G::NULL);
    let (mut record, mut wait, mut count, mut edges) = (hipEvent_t::NULL, hipEvent_t::NULL, 4, 0);
    let (mut nodes, mut event) = ([hipGraphNode_t::NULL; 4], hipEvent_t::NULL);
    ok!(hipEventCreate(&mut record), hipEventCreate(&mut wait));
    ok!(hipEventRecordWithFlags(wait, stream, hipEventRecordDefault), hipStreamSynchronize(stream));
    ok!(
        hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed),
        hipStreamWaitEvent(stream, wait, hipEventWaitExternal),
    );
    call!(hipMemsetAsync(P, c_int, usize, S)(memory.pointer(), 1, 64, stream));
    ok!(
        hipEventRecordWithFlags(record, stream, hipEventRecordExternal),
        // Outside the graph it is an event that was never recorded, not a captured one.
        hipEventQuery(record),
        hipStreamEndCapture(stream, &mut graph),
        hipGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count),
        hipGraphGetEdges(graph, ptr::null_mut(), ptr::null_mut(), &mut edges),
    );
    assert_eq!((count, edges), (3, 2));
    let types = nodes[..3].iter().map(|node| type_of(*node)).collect::<Vec<_>>();
    assert_eq!(types, [hipGraphNodeTypeWaitEvent, hipGraphNodeTypeMemset, hipGraphNodeTypeEventRecord]);
    ok!(hipGraphEventWaitNodeGetEvent(nodes[0], &mut event));
    assert_eq!(event, wait);
    ok!(hipGraphEventRecordNodeGetEvent(nodes[2], &mut event));
    assert_eq!(event, record);
    run(graph);
    ok!(hipEventQuery(record), hipGraphDestroy(graph));
    fails!(hipErrorInvalidValue, hipEventRecordWithFlags(record, stream, 2));
    fails!(hipErrorInvalidValue, hipStreamWaitEvent(stream, wait, 2));
    ok!(hipEventDestroy(record), hipEventDestroy(wait), hipStreamDestroy(stream));
}

// proves: hipExtLaunchKernel
#[test]
fn events_of_a_captured_launch_mark_places_in_the_graph() {
    let (stream, other, memory) = (new_stream(), new_stream(), Memory::of(&[1.0f64; BLOCK as usize]));
    let mut address = memory.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let (mut start, mut stop, mut graph, mut edges) = (hipEvent_t::NULL, hipEvent_t::NULL, G::NULL, 0);
    ok!(hipEventCreate(&mut start), hipEventCreate(&mut stop));
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    call!(hipExtLaunchKernel(C, dim3, dim3, PP, usize, S, hipEvent_t, hipEvent_t, c_int)(
        doubles(),
        line(1),
        line(BLOCK),
        arguments.as_mut_ptr(),
        0,
        stream,
        start,
        stop,
        0
    ));
    // What waits for the stop event is behind the kernel.
    ok!(hipStreamWaitEvent(other, stop, 0));
    call!(hipMemsetAsync(P, c_int, usize, S)(memory.pointer(), 0, 64, other));
    ok!(hipEventRecordWithFlags(stop, other, 0), hipStreamWaitEvent(stream, stop, 0));
    ok!(
        hipStreamEndCapture(stream, &mut graph),
        hipGraphGetEdges(graph, ptr::null_mut(), ptr::null_mut(), &mut edges),
    );
    assert_eq!(edges, 1);
    // The capture is over: they mark nothing in time.
    fails!(hipErrorInvalidHandle, hipEventElapsedTime(&mut 0.0, start, stop));
    ok!(hipGraphDestroy(graph), hipEventDestroy(start), hipEventDestroy(stop));
    ok!(hipStreamDestroy(stream), hipStreamDestroy(other));
}
