//! The calls, each with arguments that are valid whatever captures.

use std::{
    ffi::{c_char, c_uint},
    ptr,
};

use capi::types::*;

use super::{super::*, Kind};
use crate::program::{BLOCK, counters, doubles, image, line};

pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Whether the call takes no null stream anyway.
    pub(super) no_null: bool,
    /// What must exist before the capture begins.
    pub(super) prepare: fn(&Fixture) -> usize,
    /// Makes the call with a stream and what was prepared.
    pub(super) make: fn(&Fixture, hipStream_t, *mut c_void) -> hipError_t,
}

unsafe extern "C" {
    pub(super) fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    pub(super) fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    pub(super) fn hipStreamIsCapturing(
        stream: hipStream_t,
        status: *mut hipStreamCaptureStatus,
    ) -> hipError_t;
    pub(super) fn hipThreadExchangeStreamCaptureMode(mode: *mut hipStreamCaptureMode) -> hipError_t;
    pub(super) fn hipGraphGetNodes(
        graph: hipGraph_t,
        nodes: *mut hipGraphNode_t,
        count: *mut usize,
    ) -> hipError_t;
    pub(super) fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    pub(super) fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    pub(super) fn hipDeviceSynchronize() -> hipError_t;
    fn hipStreamCreateWithFlags(stream: *mut hipStream_t, flags: c_uint) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t;
    fn hipGraphAddEmptyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t;
    fn hipModuleGetFunction(
        function: *mut hipFunction_t,
        module: hipModule_t,
        name: *const c_char,
    ) -> hipError_t;
    fn hipMallocManaged(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostRegister(address: *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
}

/// What the calls work on. All of it lives as long as the process.
pub(super) struct Fixture {
    pub(super) a: *mut c_void,
    b: *mut c_void,
    managed: *mut c_void,
    host: *mut c_void,
    function: hipFunction_t,
    exec: hipGraphExec_t,
    /// Recorded in the capture.
    pub(super) inside: hipEvent_t,
    /// Recorded, and reached, before any capture.
    outside: hipEvent_t,
    unset: hipEvent_t,
    scratch: hipEvent_t,
}

// SAFETY: addresses and handles that any thread may use; nothing here follows them.
unsafe impl Sync for Fixture {}

pub(super) struct Streams {
    pub(super) captured: hipStream_t,
    pub(super) blocking: hipStream_t,
    pub(super) non_blocking: hipStream_t,
}

const BYTES: usize = BLOCK as usize * 8;

impl Fixture {
    pub(super) fn new() -> Self {
        let pointer = || {
            let mut address = ptr::null_mut();
            ok!(hipMalloc(&mut address, BYTES), hipMemset(address, 0, BYTES));
            address
        };
        let event = || {
            let mut event = hipEvent_t::NULL;
            ok!(hipEventCreate(&mut event));
            event
        };
        let (mut managed, mut host) = (ptr::null_mut(), ptr::null_mut());
        let (mut module, mut function) = (hipModule_t::NULL, hipFunction_t::NULL);
        let (mut graph, mut node, mut exec) = (hipGraph_t::NULL, hipGraphNode_t::NULL, hipGraphExec_t::NULL);
        let outside = event();
        ok!(
            hipMallocManaged(&mut managed, BYTES, hipMemAttachGlobal),
            hipHostMalloc(&mut host, BYTES, 0),
            hipModuleLoadData(&mut module, image().as_ptr().cast()),
            hipModuleGetFunction(&mut function, module, c"kernelA".as_ptr()),
            hipGraphCreate(&mut graph, 0),
            hipGraphAddEmptyNode(&mut node, graph, ptr::null(), 0),
            hipGraphInstantiateWithFlags(&mut exec, graph, 0),
            hipEventRecord(outside, hipStream_t::NULL),
            hipDeviceSynchronize(),
        );
        let _ = (doubles(), counters());
        let (a, b) = (pointer(), pointer());
        Self {
            a,
            b,
            managed,
            host,
            function,
            exec,
            inside: event(),
            outside,
            unset: event(),
            scratch: event(),
        }
    }

    pub(super) fn streams(&self, non_blocking: bool) -> Streams {
        let stream = |flags| {
            let mut stream = hipStream_t::NULL;
            ok!(hipStreamCreateWithFlags(&mut stream, flags));
            stream
        };
        let captured = stream(if non_blocking { hipStreamNonBlocking } else { hipStreamDefault });
        Streams { captured, blocking: stream(hipStreamDefault), non_blocking: stream(hipStreamNonBlocking) }
    }
}

fn zero() -> hipPos {
    hipPos { x: 0, y: 0, z: 0 }
}

fn extent() -> hipExtent {
    hipExtent { width: 8, height: 2, depth: 1 }
}

fn pitched(address: *mut c_void) -> hipPitchedPtr {
    hipPitchedPtr { ptr: address, pitch: 16, xsize: 8, ysize: 2 }
}

fn box_copy(f: &Fixture) -> hipMemcpy3DParms {
    hipMemcpy3DParms {
        srcArray: hipArray_t::NULL,
        srcPos: zero(),
        srcPtr: pitched(f.a),
        dstArray: hipArray_t::NULL,
        dstPos: zero(),
        dstPtr: pitched(f.b),
        extent: extent(),
        kind: hipMemcpyDeviceToDevice,
    }
}

fn rectangle(f: &Fixture) -> hip_Memcpy2D {
    hip_Memcpy2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: hipMemoryTypeDevice,
        srcHost: ptr::null(),
        srcDevice: f.a,
        srcArray: hipArray_t::NULL,
        srcPitch: 16,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: hipMemoryTypeDevice,
        dstHost: ptr::null_mut(),
        dstDevice: f.b,
        dstArray: hipArray_t::NULL,
        dstPitch: 16,
        WidthInBytes: 8,
        Height: 2,
    }
}

fn arguments(f: &Fixture) -> [*mut c_void; 1] {
    [(&raw const f.a).cast_mut().cast()]
}

fn device_memory(_: &Fixture) -> usize {
    let mut address = ptr::null_mut();
    ok!(hipMalloc(&mut address, 64));
    address as usize
}

fn host_memory(_: &Fixture) -> usize {
    let mut address = ptr::null_mut();
    ok!(hipHostMalloc(&mut address, 64, 0));
    address as usize
}

/// Pages of nobody else, never given back.
fn pages(_: &Fixture) -> usize {
    forever([0u8; 8192]).as_mut_ptr() as usize
}

fn registered(f: &Fixture) -> usize {
    let address = pages(f);
    ok!(hipHostRegister(address as *mut c_void, 8192, 0));
    address
}

fn loaded(_: &Fixture) -> usize {
    let mut module = hipModule_t::NULL;
    ok!(hipModuleLoadData(&mut module, image().as_ptr().cast()));
    module.0
}

fn status() -> hipStreamCaptureStatus {
    hipStreamCaptureStatusNone
}

fn nothing(_: &Fixture) -> usize {
    0
}

unsafe extern "C" fn host_function(_: *mut c_void) {}

unsafe extern "C" fn callback(_: hipStream_t, _: hipError_t, _: *mut c_void) {}

/// Rows of kind, name, parameter types, and arguments made of the fixture, the stream and what was prepared.
macro_rules! calls {
    ($($kind:ident $name:ident $(no_null $no_null:literal)? ($($ty:ty),*) |$f:pat_param, $s:pat_param, $p:pat_param|
        ($($arg:expr),*) $(, prepare $prepare:expr)?;)*) => {
        pub(super) const CALLS: &[Call] = &[$(Call {
            name: stringify!($name),
            kind: Kind::$kind,
            no_null: false $(|| $no_null)?,
            prepare: { let prepare: fn(&Fixture) -> usize = nothing; $(let prepare: fn(&Fixture) -> usize = { let _ = prepare; $prepare };)? prepare },
            make: |$f, $s, $p| {
                let symbol = capi::symbols::find(stringify!($name)).unwrap();
                // SAFETY: the function has these parameters (the public header), and gets valid arguments.
                unsafe {
                    let call: unsafe extern "C" fn($($ty),*) -> hipError_t = std::mem::transmute(symbol.address);
                    call($($arg),*)
                }
            },
        }),*];
    };
}

type P = *mut c_void;
type C = *const c_void;
type PP = *mut *mut c_void;
type S = hipStream_t;
type K = hipMemcpyKind;
const D2D: K = hipMemcpyDeviceToDevice;
const ANY: K = hipMemcpyDefault;

calls! {
    Launch hipLaunchKernel(C, dim3, dim3, PP, usize, S)
        |f, s, _| (doubles(), line(1), line(BLOCK), arguments(f).as_mut_ptr(), 0, s);
    Launch hipLaunchKernel_spt(C, dim3, dim3, PP, usize, S)
        |f, s, _| (doubles(), line(1), line(BLOCK), arguments(f).as_mut_ptr(), 0, s);
    Launch hipLaunchKernelExC(*const hipLaunchConfig_t, C, PP) |f, s, _| (
        &hipLaunchConfig_t {
            gridDim: line(1),
            blockDim: line(BLOCK),
            dynamicSmemBytes: 0,
            stream: s,
            attrs: ptr::null_mut(),
            numAttrs: 0,
        },
        doubles(),
        arguments(f).as_mut_ptr()
    );
    Launch hipDrvLaunchKernelEx(*const HIP_LAUNCH_CONFIG, hipFunction_t, PP, PP) |f, s, _| (
        &HIP_LAUNCH_CONFIG {
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: BLOCK,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: s,
            attrs: ptr::null_mut(),
            numAttrs: 0,
        },
        f.function,
        arguments(f).as_mut_ptr(),
        ptr::null_mut()
    );
    Launch hipModuleLaunchKernel(hipFunction_t, u32, u32, u32, u32, u32, u32, u32, S, PP, PP)
        |f, s, _| (f.function, 1, 1, 1, BLOCK, 1, 1, 0, s, arguments(f).as_mut_ptr(), ptr::null_mut());
    Launch hipExtModuleLaunchKernel(
        hipFunction_t, u32, u32, u32, u32, u32, u32, usize, S, PP, PP, hipEvent_t, hipEvent_t, u32
    ) |f, s, _| (
        f.function, BLOCK - 24, 1, 1, BLOCK, 1, 1, 0, s, arguments(f).as_mut_ptr(), ptr::null_mut(),
        hipEvent_t::NULL, hipEvent_t::NULL, 0
    );
    Launch hipHccModuleLaunchKernel(
        hipFunction_t, u32, u32, u32, u32, u32, u32, usize, S, PP, PP, hipEvent_t, hipEvent_t
    ) |f, s, _| (
        f.function, BLOCK, 1, 1, BLOCK, 1, 1, 0, s, arguments(f).as_mut_ptr(), ptr::null_mut(), hipEvent_t::NULL,
        hipEvent_t::NULL
    );
    Launch hipExtLaunchKernel(C, dim3, dim3, PP, usize, S, hipEvent_t, hipEvent_t, c_int) |f, s, _| (
        doubles(), line(1), line(BLOCK), arguments(f).as_mut_ptr(), 0, s, hipEvent_t::NULL, hipEvent_t::NULL, 0
    );
    Launch hipLaunchCooperativeKernel(C, dim3, dim3, PP, c_uint, S)
        |f, s, _| (doubles(), line(1), line(BLOCK), arguments(f).as_mut_ptr(), 0, s);
    Launch hipLaunchCooperativeKernel_spt(C, dim3, dim3, PP, c_uint, S)
        |f, s, _| (doubles(), line(1), line(BLOCK), arguments(f).as_mut_ptr(), 0, s);
    Launch hipModuleLaunchCooperativeKernel(hipFunction_t, u32, u32, u32, u32, u32, u32, u32, S, PP)
        |f, s, _| (f.function, 1, 1, 1, BLOCK, 1, 1, 0, s, arguments(f).as_mut_ptr());
    Node hipGraphLaunch(hipGraphExec_t, S) |f, s, _| (f.exec, s);
    Node hipGraphLaunch_spt(hipGraphExec_t, S) |f, s, _| (f.exec, s);
    Node hipLaunchHostFunc(S, hipHostFn_t, P) |_, s, _| (s, Some(host_function), ptr::null_mut());
    Node hipLaunchHostFunc_spt(S, hipHostFn_t, P) |_, s, _| (s, Some(host_function), ptr::null_mut());

    Node hipMemcpyAsync(P, C, usize, K, S) |f, s, _| (f.b, f.a, 64, D2D, s);
    Node hipMemcpyAsync_spt(P, C, usize, K, S) |f, s, _| (f.b, f.host, 64, hipMemcpyHostToDevice, s);
    Node hipMemcpyHtoDAsync(P, C, usize, S) |f, s, _| (f.b, f.host, 64, s);
    Node hipMemcpyDtoHAsync(P, C, usize, S) |f, s, _| (f.host, f.b, 64, s);
    Node hipMemcpyDtoDAsync(P, C, usize, S) |f, s, _| (f.b, f.a, 64, s);
    Node hipMemcpyPeerAsync(P, c_int, C, c_int, usize, S) |f, s, _| (f.b, 0, f.a, 0, 64, s);
    Node hipMemcpy2DAsync(P, usize, C, usize, usize, usize, K, S) |f, s, _| (f.b, 16, f.a, 16, 8, 2, D2D, s);
    Node hipMemcpy2DAsync_spt(P, usize, C, usize, usize, usize, K, S) |f, s, _| (f.b, 16, f.a, 16, 8, 2, D2D, s);
    Node hipMemcpyParam2DAsync(*const hip_Memcpy2D, S) |f, s, _| (&rectangle(f), s);
    Node hipMemcpy3DAsync(*const hipMemcpy3DParms, S) |f, s, _| (&box_copy(f), s);
    Node hipMemcpy3DAsync_spt(*const hipMemcpy3DParms, S) |f, s, _| (&box_copy(f), s);
    Node hipMemcpyToSymbolAsync(C, C, usize, usize, K, S) |f, s, _| (counters(), f.a, 16, 0, D2D, s);
    Node hipMemcpyToSymbolAsync_spt(C, C, usize, usize, K, S) |f, s, _| (counters(), f.a, 16, 0, D2D, s);
    Node hipMemcpyFromSymbolAsync(P, C, usize, usize, K, S) |f, s, _| (f.b, counters(), 16, 0, D2D, s);
    Node hipMemcpyFromSymbolAsync_spt(P, C, usize, usize, K, S) |f, s, _| (f.b, counters(), 16, 0, D2D, s);
    Node hipMemsetAsync(P, c_int, usize, S) |f, s, _| (f.a, 1, 64, s);
    Node hipMemsetAsync_spt(P, c_int, usize, S) |f, s, _| (f.a, 1, 64, s);
    Node hipMemsetD8Async(P, u8, usize, S) |f, s, _| (f.a, 1, 64, s);
    Node hipMemsetD16Async(P, u16, usize, S) |f, s, _| (f.a, 1, 64, s);
    Node hipMemsetD32Async(P, c_int, usize, S) |f, s, _| (f.a, 1, 64, s);
    Node hipMemset2DAsync(P, usize, c_int, usize, usize, S) |f, s, _| (f.a, 16, 1, 8, 2, s);
    Node hipMemset2DAsync_spt(P, usize, c_int, usize, usize, S) |f, s, _| (f.a, 16, 1, 8, 2, s);
    Node hipMemset3DAsync(hipPitchedPtr, c_int, hipExtent, S) |f, s, _| (pitched(f.a), 1, extent(), s);
    Node hipMemset3DAsync_spt(hipPitchedPtr, c_int, hipExtent, S) |f, s, _| (pitched(f.a), 1, extent(), s);
    Node hipMemsetD2D8Async(P, usize, u8, usize, usize, S) |f, s, _| (f.a, 16, 1, 8, 2, s);
    Node hipMemsetD2D16Async(P, usize, u16, usize, usize, S) |f, s, _| (f.a, 16, 1, 8, 2, s);
    Node hipMemsetD2D32Async(P, usize, u32, usize, usize, S) |f, s, _| (f.a, 32, 1, 8, 2, s);
    Node aqlipseMemsetD2D64Async(P, usize, u64, usize, usize, S) |f, s, _| (f.a, 32, 1, 4, 2, s);

    Mark hipEventRecord(hipEvent_t, S) |f, s, _| (f.scratch, s);
    Mark hipEventRecord_spt(hipEvent_t, S) |f, s, _| (f.scratch, s);
    Mark hipEventRecordWithFlags(hipEvent_t, S, c_uint) |f, s, _| (f.scratch, s, hipEventRecordDefault);
    Node hipEventRecordWithFlags(hipEvent_t, S, c_uint) |f, s, _| (f.scratch, s, hipEventRecordExternal);
    Mark hipStreamWaitEvent(S, hipEvent_t, c_uint) |f, s, _| (s, f.unset, hipEventWaitDefault);
    Mark hipStreamWaitEvent_spt(S, hipEvent_t, c_uint) |f, s, _| (s, f.unset, hipEventWaitDefault);
    Node hipStreamWaitEvent(S, hipEvent_t, c_uint) |f, s, _| (s, f.outside, hipEventWaitExternal);

    Asks hipStreamIsCapturing(S, *mut hipStreamCaptureStatus) |_, s, _| (s, &mut status());
    Asks hipStreamIsCapturing_spt(S, *mut hipStreamCaptureStatus)
        |_, s, _| (s, &mut status());
    Asks hipStreamGetCaptureInfo(S, *mut hipStreamCaptureStatus, *mut u64)
        |_, s, _| (s, &mut status(), ptr::null_mut());
    Asks hipStreamGetCaptureInfo_spt(S, *mut hipStreamCaptureStatus, *mut u64)
        |_, s, _| (s, &mut status(), ptr::null_mut());
    Asks hipStreamGetCaptureInfo_v2(S, *mut hipStreamCaptureStatus, P, P, P, P) |_, s, _| (
        s, &mut status(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut()
    );
    Asks hipStreamGetCaptureInfo_v2_spt(S, *mut hipStreamCaptureStatus, P, P, P, P) |_, s, _| (
        s, &mut status(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut()
    );

    Waits hipStreamSynchronize(S) |_, s, _| (s);
    Waits hipStreamSynchronize_spt(S) |_, s, _| (s);
    Waits hipStreamQuery(S) |_, s, _| (s);
    Waits hipStreamQuery_spt(S) |_, s, _| (s);
    EventInside hipEventSynchronize(hipEvent_t) |f, _, _| (f.inside);
    EventInside hipEventQuery(hipEvent_t) |f, _, _| (f.inside);
    EventOutside hipEventSynchronize(hipEvent_t) |f, _, _| (f.outside);
    Harmless hipEventQuery(hipEvent_t) |f, _, _| (f.outside);
    Device hipDeviceSynchronize() |_, _, _| ();
    Device hipCtxSynchronize() |_, _, _| ();
    Device hipMemcpyPeer(P, c_int, C, c_int, usize) |f, _, _| (f.b, 0, f.a, 0, 64);

    Unsafe hipMalloc(PP, usize) |_, _, _| (&mut ptr::null_mut(), 64);
    Unsafe hipExtMallocWithFlags(PP, usize, c_uint) |_, _, _| (&mut ptr::null_mut(), 64, hipDeviceMallocDefault);
    Unsafe hipMallocPitch(PP, *mut usize, usize, usize) |_, _, _| (&mut ptr::null_mut(), &mut 0, 64, 2);
    Unsafe hipMemAllocPitch(PP, *mut usize, usize, usize, c_uint) |_, _, _| (&mut ptr::null_mut(), &mut 0, 64, 2, 4);
    Unsafe hipMalloc3D(*mut hipPitchedPtr, hipExtent) |_, _, _| (&mut pitched(ptr::null_mut()), extent());
    Unsafe hipMallocManaged(PP, usize, c_uint) |_, _, _| (&mut ptr::null_mut(), 64, hipMemAttachGlobal);
    Unsafe hipHostMalloc(PP, usize, c_uint) |_, _, _| (&mut ptr::null_mut(), 64, 0);
    Unsafe hipHostAlloc(PP, usize, c_uint) |_, _, _| (&mut ptr::null_mut(), 64, 0);
    Unsafe hipExtHostAlloc(PP, usize, c_uint) |_, _, _| (&mut ptr::null_mut(), 64, 0);
    Unsafe hipMallocHost(PP, usize) |_, _, _| (&mut ptr::null_mut(), 64);
    Unsafe hipMemAllocHost(PP, usize) |_, _, _| (&mut ptr::null_mut(), 64);
    Unsafe hipFree(P) |_, _, p| (p), prepare device_memory;
    Unsafe hipHostFree(P) |_, _, p| (p), prepare host_memory;
    Unsafe hipFreeHost(P) |_, _, p| (p), prepare host_memory;
    Unsafe hipHostRegister(P, usize, c_uint) |_, _, p| (p, 8192, 0), prepare pages;
    Unsafe hipHostUnregister(P) |_, _, p| (p), prepare registered;
    Unsafe hipMemAdvise(C, usize, hipMemoryAdvise, c_int) |f, _, _| (f.managed, 64, hipMemAdviseSetReadMostly, 0);
    Unsafe hipModuleUnload(hipModule_t) |_, _, p| (hipModule_t(p as usize)), prepare loaded;
    Unsafe hipDeviceSetCacheConfig(hipFuncCache_t) |_, _, _| (hipFuncCachePreferNone);
    Unsafe hipDeviceSetSharedMemConfig(hipSharedMemConfig) |_, _, _| (hipSharedMemBankSizeFourByte);
    CopyAndWait hipMemcpyWithStream(P, C, usize, K, S) |f, s, _| (f.b, f.a, 64, D2D, s);

    Synchronous hipMemcpy(P, C, usize, K) |f, _, _| (f.b, f.a, 64, ANY);
    Synchronous hipMemcpyHtoD(P, C, usize) |f, _, _| (f.b, f.host, 64);
    Synchronous hipMemcpyDtoH(P, C, usize) |f, _, _| (f.host, f.b, 64);
    Synchronous hipMemcpyDtoD(P, C, usize) |f, _, _| (f.b, f.a, 64);
    Synchronous hipMemcpy2D(P, usize, C, usize, usize, usize, K) |f, _, _| (f.b, 16, f.a, 16, 8, 2, D2D);
    Synchronous hipMemcpy3D(*const hipMemcpy3DParms) |f, _, _| (&box_copy(f));
    Synchronous hipMemcpyParam2D(*const hip_Memcpy2D) |f, _, _| (&rectangle(f));
    Synchronous hipDrvMemcpy2DUnaligned(*const hip_Memcpy2D) |f, _, _| (&rectangle(f));
    Synchronous hipMemcpyToSymbol(C, C, usize, usize, K) |f, _, _| (counters(), f.a, 16, 0, D2D);
    Synchronous hipMemcpyFromSymbol(P, C, usize, usize, K) |f, _, _| (f.b, counters(), 16, 0, D2D);
    Synchronous hipMemset(P, c_int, usize) |f, _, _| (f.a, 1, 64);
    Synchronous hipMemsetD8(P, u8, usize) |f, _, _| (f.a, 1, 64);
    Synchronous hipMemsetD16(P, u16, usize) |f, _, _| (f.a, 1, 64);
    Synchronous hipMemsetD32(P, c_int, usize) |f, _, _| (f.a, 1, 64);
    Synchronous hipMemset2D(P, usize, c_int, usize, usize) |f, _, _| (f.a, 16, 1, 8, 2);
    Synchronous hipMemset3D(hipPitchedPtr, c_int, hipExtent) |f, _, _| (pitched(f.a), 1, extent());
    Synchronous hipMemsetD2D8(P, usize, u8, usize, usize) |f, _, _| (f.a, 16, 1, 8, 2);
    Synchronous hipMemsetD2D16(P, usize, u16, usize, usize) |f, _, _| (f.a, 16, 1, 8, 2);
    Synchronous hipMemsetD2D32(P, usize, u32, usize, usize) |f, _, _| (f.a, 32, 1, 8, 2);
    OnThreadStream hipMemcpy_spt(P, C, usize, K) |f, _, _| (f.b, f.a, 64, ANY);
    OnThreadStream hipMemcpy2D_spt(P, usize, C, usize, usize, usize, K) |f, _, _| (f.b, 16, f.a, 16, 8, 2, D2D);
    OnThreadStream hipMemcpy3D_spt(*const hipMemcpy3DParms) |f, _, _| (&box_copy(f));
    OnThreadStream hipMemcpyToSymbol_spt(C, C, usize, usize, K) |f, _, _| (counters(), f.a, 16, 0, D2D);
    OnThreadStream hipMemcpyFromSymbol_spt(P, C, usize, usize, K) |f, _, _| (f.b, counters(), 16, 0, D2D);
    OnThreadStream hipMemset_spt(P, c_int, usize) |f, _, _| (f.a, 1, 64);
    OnThreadStream hipMemset2D_spt(P, usize, c_int, usize, usize) |f, _, _| (f.a, 16, 1, 8, 2);
    OnThreadStream hipMemset3D_spt(hipPitchedPtr, c_int, hipExtent) |f, _, _| (pitched(f.a), 1, extent());
    Callback hipStreamAddCallback(S, hipStreamCallback_t, P, c_uint) |_, s, _| (s, Some(callback), ptr::null_mut(), 0);
    Callback hipStreamAddCallback_spt(S, hipStreamCallback_t, P, c_uint)
        |_, s, _| (s, Some(callback), ptr::null_mut(), 0);
    NoNode hipStreamAttachMemAsync no_null true (S, P, usize, c_uint)
        |f, s, _| (s, f.managed, 0, hipMemAttachGlobal);
    NoNode hipMemPrefetchAsync(C, usize, c_int, S) |f, s, _| (f.managed, 64, 0, s);

    Harmless hipGetDevice(*mut c_int) |_, _, _| (&mut 0);
    Harmless hipStreamCreate(*mut S) |_, _, _| (&mut hipStream_t(0));
    Harmless hipEventCreate(*mut hipEvent_t) |_, _, _| (&mut hipEvent_t(0));
    Harmless hipGraphCreate(*mut hipGraph_t, c_uint) |_, _, _| (&mut hipGraph_t(0), 0);
    Harmless hipModuleLoadData(*mut hipModule_t, C) |_, _, _| (&mut hipModule_t(0), image().as_ptr().cast());
}

/// Calls that are not walked, and why.
pub(super) const UNWALKED: &[(&str, &str)] = &[
    (
        "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j \
         _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_ \
         _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv",
        "another name of a call that is, or not implemented",
    ),
    ("hipLaunchByPtr", "needs a configuration on the thread's stack"),
    (
        "hipDrvMemcpy3D hipDrvMemcpy3DAsync",
        "the same path as the copies of boxes that are walked, with a structure of twenty members",
    ),
    (
        "hipMallocAsync hipMallocFromPoolAsync hipFreeAsync",
        "what may be freed depends on whether the stream captures: see the tests of graph memory",
    ),
    (
        "hipStreamBeginCapture hipStreamBeginCapture_spt hipStreamBeginCaptureToGraph hipStreamEndCapture \
         hipStreamEndCapture_spt hipStreamUpdateCaptureDependencies hipThreadExchangeStreamCaptureMode",
        "the walk is made of them; they have tests of their own",
    ),
    ("hipDeviceReset hipDevicePrimaryCtxReset", "would take the fixture away"),
    (
        "hipLaunchCooperativeKernelMultiDevice hipModuleLaunchCooperativeKernelMultiDevice \
         hipExtLaunchMultiKernelMultiDevice",
        "name their streams in a list: tested with the launches",
    ),
    (
        "hipStreamWaitValue32 hipStreamWaitValue64 hipStreamWriteValue32 hipStreamWriteValue64 hipStreamBatchMemOp",
        "tested with batches of memory operations",
    ),
    (
        "hipMemcpy2DFromArray hipMemcpy2DFromArrayAsync hipMemcpy2DFromArrayAsync_spt hipMemcpy2DFromArray_spt \
         hipMemcpy2DToArray hipMemcpy2DToArrayAsync hipMemcpy2DToArrayAsync_spt hipMemcpy2DToArray_spt \
         hipMemcpy2DArrayToArray hipMemcpyFromArray hipMemcpyFromArray_spt hipMemcpyToArray hipMemcpyAtoA \
         hipMemcpyAtoD hipMemcpyAtoH hipMemcpyAtoHAsync hipMemcpyDtoA hipMemcpyHtoA hipMemcpyHtoAAsync hipMallocArray \
         hipMalloc3DArray hipMallocMipmappedArray hipArrayCreate hipArray3DCreate hipMipmappedArrayCreate \
         hipFreeArray hipFreeMipmappedArray hipArrayDestroy hipMipmappedArrayDestroy",
        "arrays: tested with them",
    ),
    (
        "hipMemPoolExportPointer hipMemPoolExportToShareableHandle hipMemPoolImportFromShareableHandle \
         hipMemPoolImportPointer hipDeviceSetMemPool hipMemSetMemPool hipMemPoolCreate hipMemPoolDestroy",
        "memory pools: tested with them",
    ),
    (
        "hipSignalExternalSemaphoresAsync hipWaitExternalSemaphoresAsync hipMemcpyBatchAsync hipMemcpy3DBatchAsync \
         hipMemcpy3DPeer hipMemcpy3DPeerAsync hipMemAdvise_v2 hipMemPrefetchAsync_v2 hipMemPrefetchBatchAsync \
         hipMemDiscardBatchAsync hipMemDiscardAndPrefetchBatchAsync hipDrvMemDiscardBatchAsync \
         hipDrvMemDiscardAndPrefetchBatchAsync hipMemMapArrayAsync hipLibraryUnload hipExecutionCtxRecordEvent \
         hipIpcOpenMemHandle hipIpcCloseMemHandle hipMemUnmap hipExecutionCtxWaitEvent hipExecutionCtxSynchronize",
        "tested with what they belong to, where they are implemented",
    ),
];
