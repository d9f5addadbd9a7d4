//! Functions that differ from another one in a width, a flag, a stream or a name.

use std::{ffi::c_uint, ptr};

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::{BLOCK, doubles, image};

unsafe extern "C" {
    fn hipMemsetD8(dst: *mut c_void, value: u8, count: usize) -> hipError_t;
    fn hipMemsetD8Async(dst: *mut c_void, value: u8, count: usize, stream: hipStream_t) -> hipError_t;
    fn hipMemsetD16(dst: *mut c_void, value: u16, count: usize) -> hipError_t;
    fn hipMemsetD16Async(dst: *mut c_void, value: u16, count: usize, stream: hipStream_t) -> hipError_t;
    fn hipMemsetD32(dst: *mut c_void, value: c_int, count: usize) -> hipError_t;
    fn hipMemsetD32Async(dst: *mut c_void, value: c_int, count: usize, stream: hipStream_t) -> hipError_t;
    fn hipMemsetD2D8(dst: *mut c_void, pitch: usize, value: u8, width: usize, height: usize) -> hipError_t;
    fn hipMemsetD2D8Async(
        dst: *mut c_void,
        pitch: usize,
        value: u8,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemsetD2D16Async(
        dst: *mut c_void,
        pitch: usize,
        value: u16,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemsetD2D32(dst: *mut c_void, pitch: usize, value: u32, width: usize, height: usize) -> hipError_t;
    fn hipMemsetD2D32Async(
        dst: *mut c_void,
        pitch: usize,
        value: u32,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemset2D_spt(
        dst: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
    ) -> hipError_t;
    fn hipMemset2DAsync_spt(
        dst: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemset3D_spt(dst: hipPitchedPtr, value: c_int, extent: hipExtent) -> hipError_t;
    fn hipMemset3DAsync_spt(
        dst: hipPitchedPtr,
        value: c_int,
        extent: hipExtent,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy2D_spt(
        dst: *mut c_void,
        dst_pitch: usize,
        src: *const c_void,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpy2DAsync_spt(
        dst: *mut c_void,
        dst_pitch: usize,
        src: *const c_void,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpyPeerAsync(
        dst: *mut c_void,
        dst_device: c_int,
        src: *const c_void,
        src_device: c_int,
        bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipStreamGetPriority_spt(stream: hipStream_t, priority: *mut c_int) -> hipError_t;
    fn hipStreamGetFlags_spt(stream: hipStream_t, flags: *mut c_uint) -> hipError_t;
    fn hipStreamWaitEvent_spt(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipEventRecord_spt(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventSynchronize(event: hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipLaunchHostFunc_spt(
        stream: hipStream_t,
        function: hipHostFn_t,
        user_data: *mut c_void,
    ) -> hipError_t;
    fn hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int,
        function: *const c_void,
        block: c_int,
        lds: usize,
        flags: c_uint,
    ) -> hipError_t;
    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int,
        function: hipFunction_t,
        block: c_int,
        lds: usize,
        flags: c_uint,
    ) -> hipError_t;
    fn hipModuleOccupancyMaxPotentialBlockSize(
        grid: *mut c_int,
        block: *mut c_int,
        function: hipFunction_t,
        lds: usize,
        limit: c_int,
    ) -> hipError_t;
    fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
        grid: *mut c_int,
        block: *mut c_int,
        function: hipFunction_t,
        lds: usize,
        limit: c_int,
        flags: c_uint,
    ) -> hipError_t;
    fn hipGetFuncBySymbol(function: *mut hipFunction_t, symbol: *const c_void) -> hipError_t;
    fn hipModuleLoadDataEx(
        module: *mut hipModule_t,
        image: *const c_void,
        count: c_uint,
        options: *mut c_void,
        values: *mut *mut c_void,
    ) -> hipError_t;
    fn hipModuleGetFunction(
        function: *mut hipFunction_t,
        module: hipModule_t,
        name: *const std::ffi::c_char,
    ) -> hipError_t;
    fn hipModuleUnload(module: hipModule_t) -> hipError_t;
    fn hipHccModuleLaunchKernel(
        function: hipFunction_t,
        x: u32,
        y: u32,
        z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        lds: usize,
        stream: hipStream_t,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
        start: hipEvent_t,
        stop: hipEvent_t,
    ) -> hipError_t;
    fn hipDeviceGetP2PAttribute(
        value: *mut c_int,
        attribute: hipDeviceP2PAttr,
        source: c_int,
        destination: c_int,
    ) -> hipError_t;
    fn hipChooseDevice(device: *mut c_int, properties: *const hipDeviceProp_tR0000) -> hipError_t;
    fn hipGetDeviceProperties(properties: *mut hipDeviceProp_tR0000, device: c_int) -> hipError_t;
    fn hipCtxGetApiVersion(context: hipCtx_t, version: *mut c_uint) -> hipError_t;
    fn hipRuntimeGetVersion(version: *mut c_int) -> hipError_t;
    fn hipDeviceGetSharedMemConfig(config: *mut hipSharedMemConfig) -> hipError_t;
    fn hipDeviceSetSharedMemConfig(config: hipSharedMemConfig) -> hipError_t;
}

const NULL: hipStream_t = hipStream_t::NULL;

// proves: hipMemsetD8, hipMemsetD8Async, hipMemsetD16, hipMemsetD16Async, hipMemsetD32, hipMemsetD32Async
// proves: hipMemsetD2D8, hipMemsetD2D8Async, hipMemsetD2D16Async, hipMemsetD2D32, hipMemsetD2D32Async
#[test]
fn fills_have_the_width_of_their_elements() {
    let memory = Memory::of(&[0u8; 32]);
    let at = |offset| memory.pointer().wrapping_byte_add(offset);
    ok!(
        hipMemsetD8(at(0), 1, 2),
        hipMemsetD8Async(at(2), 2, 2, NULL),
        hipMemsetD16(at(4), 0x0403, 1),
        hipMemsetD16Async(at(6), 0x0605, 1, NULL),
        hipMemsetD32(at(8), 0x0a09_0807, 1),
        hipMemsetD32Async(at(12), 0x0e0d_0c0b, 1, NULL),
    );
    assert_eq!(memory.read()[..16], [1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    ok!(
        hipMemset(at(0), 0, 32),
        hipMemsetD2D8(at(0), 8, 1, 1, 4),
        hipMemsetD2D8Async(at(1), 8, 2, 1, 3, NULL),
        hipMemsetD2D16Async(at(2), 8, 0x0403, 1, 2, NULL),
        hipMemsetD2D32(at(4), 8, 0x0808_0706, 1, 2),
        hipMemsetD2D32Async(at(12), 8, 9, 1, 1, NULL),
    );
    assert_eq!(
        memory.read(),
        [1, 2, 3, 4, 6, 7, 8, 8, 1, 2, 3, 4, 9, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    );
    fails!(hipErrorInvalidValue, hipMemsetD2D32(at(0), 4, 1, 2, 2));
    fails!(hipErrorInvalidValue, hipMemsetD32(at(0), 1, 9));
}

// proves: hipMemset2D_spt, hipMemset2DAsync_spt, hipMemset3D_spt, hipMemset3DAsync_spt, hipMemcpy2D_spt
// proves: hipMemcpy2DAsync_spt, hipMemcpyPeerAsync
#[test]
fn rows_and_boxes_work_on_the_threads_own_stream() {
    let (memory, other) = (Memory::of(&[0u8; 16]), Memory::of(&[9u8; 16]));
    let cube = hipPitchedPtr { ptr: memory.pointer(), pitch: 4, xsize: 4, ysize: 2 };
    let extent = hipExtent { width: 1, height: 2, depth: 2 };
    let mut back = [0u8; 8];
    let kind = hipMemcpyDeviceToHost;
    ok!(
        hipMemset2D_spt(memory.pointer(), 4, 1, 3, 4),
        hipMemset2DAsync_spt(memory.pointer(), 4, 2, 2, 4, NULL),
        hipMemset3D_spt(cube, 3, extent),
        hipMemset3DAsync_spt(cube, 4, hipExtent { height: 1, ..extent }, NULL),
        hipMemcpy2D_spt(back.as_mut_ptr().cast(), 2, memory.pointer(), 4, 2, 4, kind),
    );
    assert_eq!(back, [4, 2, 3, 2, 4, 2, 3, 2]);
    ok!(
        hipMemcpyPeerAsync(memory.pointer(), 0, other.pointer(), 0, 16, hipStreamPerThread),
        hipMemcpy2DAsync_spt(back.as_mut_ptr().cast(), 2, memory.pointer(), 4, 2, 2, kind, NULL),
        hipStreamSynchronize(hipStreamPerThread),
    );
    assert_eq!(back, [9, 9, 9, 9, 4, 2, 3, 2]);
}

unsafe extern "C" fn double(data: *mut c_void) {
    // SAFETY: the test passes a number that lives until it has waited.
    unsafe { *data.cast::<u32>() *= 2 };
}

// proves: hipStreamGetPriority_spt, hipStreamGetFlags_spt, hipStreamWaitEvent_spt, hipEventRecord_spt
// proves: hipLaunchHostFunc_spt
#[test]
fn the_threads_own_stream_records_waits_and_calls() {
    let (mut priority, mut flags, mut event, mut number) = (7, 7, hipEvent_t::NULL, 21u32);
    ok!(
        hipStreamGetPriority_spt(NULL, &mut priority),
        hipStreamGetFlags_spt(NULL, &mut flags),
        hipEventCreate(&mut event),
        hipStreamWaitEvent_spt(NULL, event, 0),
        hipLaunchHostFunc_spt(NULL, Some(double), (&raw mut number).cast()),
        hipEventRecord_spt(event, NULL),
        hipStreamWaitEvent(hipStreamPerThread, event, hipEventWaitExternal),
        hipEventSynchronize(event),
    );
    assert_eq!((priority, flags, number), (0, 0, 42));
    fails!(hipErrorInvalidValue, hipStreamWaitEvent(NULL, event, 2));
    ok!(hipEventDestroy(event));
}

// proves: hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, hipModuleOccupancyMaxPotentialBlockSize
// proves: hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
// proves: hipModuleOccupancyMaxPotentialBlockSizeWithFlags
#[test]
fn flags_do_not_change_occupancy() {
    let (mut blocks, mut grid, mut block, mut function) = (0, 0, 0, hipFunction_t::NULL);
    ok!(
        hipGetFuncBySymbol(&mut function, doubles()),
        hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&mut blocks, doubles(), 1024, 0, 1),
    );
    assert_eq!(blocks, 2);
    ok!(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&mut blocks, function, 512, 0, 0));
    assert_eq!(blocks, 4);
    ok!(hipModuleOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, 40 * 1024, 512));
    assert_eq!(block, 512, "one block at a time: the larger, the better");
    ok!(hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&mut grid, &mut block, function, 0, 10, 0));
    assert_eq!(block, 10, "less than a wavefront is allowed");
    fails!(
        hipErrorInvalidValue,
        hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&mut grid, &mut block, function, 0, 0, 2)
    );
    ok!(hipModuleOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, 0, -1));
    assert_eq!(block, 1024, "a negative limit is none");
}

// proves: hipHccModuleLaunchKernel, hipModuleLoadDataEx
// proves: _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j
// proves: _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_
#[test]
fn the_older_names_of_amds_launch_do_the_same() {
    type Ext = unsafe extern "C" fn(
        hipFunction_t,
        u32,
        u32,
        u32,
        u32,
        u32,
        u32,
        usize,
        hipStream_t,
        *mut *mut c_void,
        *mut *mut c_void,
        hipEvent_t,
        hipEvent_t,
        u32,
    ) -> hipError_t;
    let (mut module, mut function) = (hipModule_t::NULL, hipFunction_t::NULL);
    ok!(
        hipModuleLoadDataEx(&mut module, image().as_ptr().cast(), 0, ptr::null_mut(), ptr::null_mut()),
        hipModuleGetFunction(&mut function, module, c"kernelA".as_ptr()),
    );
    let memory = Memory::of(&[1.0f64; BLOCK as usize]);
    let mut address = memory.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let (arguments, extra, none) = (arguments.as_mut_ptr(), ptr::null_mut(), hipEvent_t::NULL);
    ok!(hipHccModuleLaunchKernel(function, BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, extra, none, none));
    for mangled in [
        "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
        "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_",
    ] {
        let symbol = capi::symbols::find(mangled).expect("an exported name");
        // SAFETY: the signature that the name spells; one argument too many is not looked at.
        let launch: Ext = unsafe { std::mem::transmute(symbol.address) };
        ok!(launch(function, BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, extra, none, none, 0));
    }
    assert_eq!(memory.read()[3], 8.0);
    ok!(hipModuleUnload(module));
}

// proves: hipDeviceGetP2PAttribute, hipChooseDevice, hipGetDeviceProperties, hipCtxGetApiVersion
// proves: hipDeviceGetSharedMemConfig, hipDeviceSetSharedMemConfig
#[test]
fn a_device_answers_the_rest() {
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut properties: hipDeviceProp_tR0000 = unsafe { std::mem::zeroed() };
    let (mut device, mut api, mut version, mut banks) = (-1, 0, 0, hipSharedMemBankSizeDefault);
    ok!(
        hipGetDeviceProperties(&mut properties, 0),
        hipChooseDevice(&mut device, &properties),
        hipCtxGetApiVersion(hipCtx_t::NULL, &mut api),
        hipRuntimeGetVersion(&mut version),
        hipDeviceSetSharedMemConfig(hipSharedMemBankSizeEightByte),
        hipDeviceGetSharedMemConfig(&mut banks),
    );
    assert_eq!((device, api, banks), (0, 4, hipSharedMemBankSizeFourByte));
    assert!(version >= 7 * 10_000_000);
    fails!(hipErrorInvalidDevice, hipDeviceGetP2PAttribute(&mut device, hipDevP2PAttrAccessSupported, 0, 0));
    fails!(hipErrorInvalidDevice, hipDeviceGetP2PAttribute(&mut device, hipDeviceP2PAttr(9), 0, 0));
    fails!(hipErrorInvalidContext, hipCtxGetApiVersion(hipCtx_t(5), &mut api));
}
