use std::ptr;

use capi::{error::hipError_t, types::*};

use super::*;
use crate::{
    functions::{hipGraphAddKernelNode, hipGraphCreate, hipGraphDestroy},
    program::{counters, doubles},
};

unsafe extern "C" {
    fn hipMemcpyHtoD(dst: hipDeviceptr_t, src: *const c_void, bytes: usize) -> hipError_t;
    fn hipMemcpyDtoH(dst: *mut c_void, src: hipDeviceptr_t, bytes: usize) -> hipError_t;
    fn hipMemcpyDtoD(dst: hipDeviceptr_t, src: hipDeviceptr_t, bytes: usize) -> hipError_t;
    fn hipMemcpyHtoDAsync(
        dst: hipDeviceptr_t,
        src: *const c_void,
        bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpyDtoHAsync(
        dst: *mut c_void,
        src: hipDeviceptr_t,
        bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpyDtoDAsync(
        dst: hipDeviceptr_t,
        src: hipDeviceptr_t,
        bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpyWithStream(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemset2D(dst: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) -> hipError_t;
    fn hipMemset2DAsync(
        dst: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemset3DAsync(
        dst: hipPitchedPtr,
        value: c_int,
        extent: hipExtent,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy3DAsync(params: *const hipMemcpy3DParms, stream: hipStream_t) -> hipError_t;
    fn hipMemcpy3D_spt(params: *const hipMemcpy3DParms) -> hipError_t;
    fn hipMemcpy3DAsync_spt(params: *const hipMemcpy3DParms, stream: hipStream_t) -> hipError_t;
    fn hipMemcpyToSymbolAsync_spt(
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpyFromSymbolAsync_spt(
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipLaunchKernel_spt(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        shared_bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    #[link_name = "_ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv"]
    fn hipLaunchKernelGGLImpl(
        function: usize,
        grid: *const dim3,
        block: *const dim3,
        shared_bytes: u32,
        stream: hipStream_t,
        extra: *mut *mut c_void,
    );
    fn hipGetLastError() -> hipError_t;
    fn hipOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize,
        function: *const c_void,
        blocks: c_int,
        block: c_int,
    ) -> hipError_t;
    fn hipOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: *const c_void,
        block: c_int,
        lds: usize,
    ) -> hipError_t;
}

// proves: hipMemcpyHtoD, hipMemcpyDtoH, hipMemcpyDtoD, hipMemcpyHtoDAsync, hipMemcpyDtoHAsync, hipMemcpyDtoDAsync
// proves: hipMemcpyWithStream
#[test]
fn the_drivers_copies_go_where_their_names_say() {
    let values: Vec<u32> = (0..256).collect();
    let bytes = size_of_val(&values[..]);
    let (a, b, stream) = (Memory::of(&[0u32; 256]), Memory::of(&[0u32; 256]), new_stream());
    let (from, mut to) = (values.as_ptr().cast(), vec![0u32; 256]);
    ok!(
        hipMemcpyHtoD(a.pointer(), from, bytes),
        hipMemcpyDtoD(b.pointer(), a.pointer(), bytes),
        hipMemcpyDtoH(to.as_mut_ptr().cast(), b.pointer(), bytes),
    );
    assert_eq!(to, values);
    to.fill(0);
    ok!(
        hipMemset(a.pointer(), 0, bytes),
        hipMemset(b.pointer(), 0, bytes),
        hipMemcpyHtoDAsync(b.pointer(), from, bytes, stream),
        hipMemcpyDtoDAsync(a.pointer(), b.pointer(), bytes / 2, stream),
        hipMemcpyDtoHAsync(to.as_mut_ptr().cast(), a.pointer(), bytes, stream),
        hipStreamSynchronize(stream),
    );
    assert_eq!((&to[..128], &to[128..]), (&values[..128], &[0; 128][..]));
    // It waits: the stream has nothing left to do.
    to.fill(0);
    let back = to.as_mut_ptr().cast();
    ok!(hipMemcpyWithStream(back, b.pointer(), bytes, hipMemcpyDeviceToHost, stream));
    assert_eq!(to, values);

    let null = ptr::null_mut();
    fails!(hipErrorInvalidValue, hipMemcpyHtoD(null, from, bytes));
    fails!(hipErrorInvalidValue, hipMemcpyHtoD(a.pointer(), from, bytes + 1));
    fails!(hipErrorInvalidValue, hipMemcpyDtoH(null, a.pointer(), bytes));
    fails!(hipErrorInvalidValue, hipMemcpyDtoD(a.pointer(), null, bytes));
    fails!(hipErrorInvalidValue, hipMemcpyWithStream(back, null, bytes, hipMemcpyDeviceToHost, stream));
    fails!(
        hipErrorInvalidMemcpyDirection,
        hipMemcpyWithStream(back, b.pointer(), bytes, hipMemcpyKind(9), stream)
    );
    ok!(hipMemcpyHtoD(null, ptr::null(), 0), hipStreamDestroy(stream));
    fails!(hipErrorContextIsDestroyed, hipMemcpyDtoDAsync(a.pointer(), b.pointer(), bytes, stream));
}

const WIDTH: usize = 5;
const PITCH: usize = 8;

/// A box of 5 by 3 by 2 bytes of rows of 8.
fn pitched(memory: &Memory<u8>) -> hipPitchedPtr {
    hipPitchedPtr { ptr: memory.pointer(), pitch: PITCH, xsize: WIDTH, ysize: 3 }
}

fn extent() -> hipExtent {
    hipExtent { width: WIDTH, height: 3, depth: 2 }
}

/// What is in a row's `n`th byte: the first five are the box's.
fn rows(inside: u8, outside: u8) -> Vec<u8> {
    (0..PITCH * 6).map(|n| if n % PITCH < WIDTH { inside } else { outside }).collect()
}

// proves: hipMemset2D, hipMemset2DAsync, hipMemset3DAsync
#[test]
fn a_fill_leaves_what_is_between_the_rows() {
    let (memory, stream) = (Memory::of(&[1u8; PITCH * 6]), new_stream());
    ok!(hipMemset2D(memory.pointer(), PITCH, 2, WIDTH, 6));
    assert_eq!(memory.read(), rows(2, 1));
    ok!(hipMemset2DAsync(memory.pointer(), PITCH, 3, WIDTH, 6, stream), hipStreamSynchronize(stream));
    assert_eq!(memory.read(), rows(3, 1));
    ok!(hipMemset3DAsync(pitched(&memory), 4, extent(), stream), hipStreamSynchronize(stream));
    assert_eq!(memory.read(), rows(4, 1));
    // One row more than there are.
    fails!(hipErrorInvalidValue, hipMemset2D(memory.pointer(), PITCH, 2, WIDTH, 7));
    fails!(hipErrorInvalidValue, hipMemset2D(memory.pointer(), 2, 2, WIDTH, 2));
    fails!(hipErrorInvalidValue, hipMemset2DAsync(ptr::null_mut(), PITCH, 2, WIDTH, 2, stream));
    ok!(hipStreamDestroy(stream));
}

// proves: hipMemcpy3DAsync, hipMemcpy3D_spt, hipMemcpy3DAsync_spt
#[test]
fn a_box_is_copied_on_every_kind_of_stream() {
    let (source, stream) = (Memory::of(&rows(7, 1)), new_stream());
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut copy: hipMemcpy3DParms = unsafe { std::mem::zeroed() };
    copy.srcPtr = pitched(&source);
    copy.extent = extent();
    copy.kind = hipMemcpyDeviceToDevice;
    let target = || Memory::of(&[0u8; PITCH * 6]);
    let (first, second, third) = (target(), target(), target());
    copy.dstPtr = pitched(&first);
    ok!(hipMemcpy3DAsync(&copy, stream), hipStreamSynchronize(stream));
    copy.dstPtr = pitched(&second);
    ok!(hipMemcpy3D_spt(&copy), hipStreamSynchronize(hipStreamPerThread));
    copy.dstPtr = pitched(&third);
    ok!(hipMemcpy3DAsync_spt(&copy, hipStream_t::NULL), hipStreamSynchronize(hipStreamPerThread));
    for memory in [first, second, third] {
        assert_eq!(memory.read(), rows(7, 0));
    }
    copy.dstPtr.ptr = ptr::null_mut();
    fails!(hipErrorInvalidValue, hipMemcpy3DAsync(&copy, stream));
    fails!(hipErrorInvalidValue, hipMemcpy3D_spt(ptr::null()));
    fails!(hipErrorInvalidValue, hipMemcpy3DAsync_spt(ptr::null(), stream));
    ok!(hipStreamDestroy(stream));
}

// proves: hipMemcpyToSymbolAsync_spt, hipMemcpyFromSymbolAsync_spt
#[test]
fn a_variable_is_copied_on_the_threads_own_stream() {
    let (given, mut found) = ([21, 22], [0i32; 2]);
    let (own, null) = (hipStreamPerThread, hipStream_t::NULL);
    let (there, back) = (hipMemcpyHostToDevice, hipMemcpyDeviceToHost);
    // The last two of four counters: other tests use the others.
    ok!(
        hipMemcpyToSymbolAsync_spt(counters(), given.as_ptr().cast(), 8, 8, there, null),
        hipMemcpyFromSymbolAsync_spt(found.as_mut_ptr().cast(), counters(), 8, 8, back, null),
        hipStreamSynchronize(own),
    );
    assert_eq!(found, given);
    let (from, to) = (given.as_ptr().cast(), found.as_mut_ptr().cast());
    fails!(hipErrorInvalidValue, hipMemcpyToSymbolAsync_spt(counters(), from, 8, 12, there, null));
    fails!(hipErrorInvalidSymbol, hipMemcpyFromSymbolAsync_spt(to, ptr::null(), 8, 8, back, null));
}

// proves: hipLaunchKernel_spt, _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv
#[test]
fn a_kernel_is_launched_as_older_headers_do() {
    let memory = Memory::of(&[1.5f64; 8]);
    let (one, block) = (program::line(1), program::line(8));
    let mut address = memory.pointer();
    let mut pointers = [(&raw mut address).cast::<c_void>()];
    ok!(
        hipLaunchKernel_spt(doubles(), one, block, pointers.as_mut_ptr(), 0, hipStream_t::NULL),
        hipStreamSynchronize(hipStreamPerThread),
    );
    assert_eq!(memory.read(), [3.0; 8]);

    let key = |key: usize| key as *mut c_void;
    let mut extra = [
        key(HIP_LAUNCH_PARAM_BUFFER_POINTER),
        (&raw mut address).cast(),
        key(HIP_LAUNCH_PARAM_BUFFER_SIZE),
        ptr::null_mut(),
        key(HIP_LAUNCH_PARAM_END),
    ];
    let (mut graph, mut node) = (hipGraph_t::NULL, hipGraphNode_t::NULL);
    ok!(hipGraphCreate(&mut graph, 0));
    // SAFETY: it takes nothing.
    let _ = unsafe { hipGetLastError() };
    // A program may point the list at an int: what lies beside it makes the size anything. A node's buffer is copied as
    // the list says.
    for mut size in [8, 0, 4, usize::MAX << 32 | 8] {
        extra[3] = (&raw mut size).cast();
        // SAFETY: a kernel with its arguments, and a stream.
        unsafe {
            let kernel = doubles() as usize;
            hipLaunchKernelGGLImpl(kernel, &one, &block, 0, hipStream_t::NULL, extra.as_mut_ptr());
        }
        ok!(hipGetLastError());
        let params = hipKernelNodeParams {
            blockDim: block,
            extra: extra.as_mut_ptr(),
            func: doubles().cast_mut(),
            gridDim: one,
            kernelParams: ptr::null_mut(),
            sharedMemBytes: 0,
        };
        let code = if size == 8 { capi::error::hipSuccess } else { capi::error::hipErrorInvalidValue };
        // SAFETY: the list ends, and its buffer has what is read.
        let (added, last) =
            unsafe { (hipGraphAddKernelNode(&mut node, graph, ptr::null(), 0, &params), hipGetLastError()) };
        assert_eq!((added, last), (code, code), "{size:#x}");
    }
    ok!(hipStreamSynchronize(hipStream_t::NULL), hipGraphDestroy(graph));
    assert_eq!(memory.read(), [48.0; 8]);
    // It has no result: the error is the thread's.
    // SAFETY: what is no kernel, which is refused.
    unsafe {
        hipLaunchKernelGGLImpl(7, &one, &block, 0, hipStream_t::NULL, extra.as_mut_ptr());
        assert_eq!(hipGetLastError(), capi::error::hipErrorInvalidDeviceFunction);
    }
    fails!(
        hipErrorInvalidDeviceFunction,
        hipLaunchKernel_spt(ptr::null(), one, block, pointers.as_mut_ptr(), 0, hipStream_t::NULL)
    );
}

// proves: hipOccupancyAvailableDynamicSMemPerBlock
#[test]
fn so_many_blocks_fit_with_the_shared_memory_that_is_left_for_each() {
    let (mut bytes, mut blocks) = (0, 0);
    for (wanted, expected) in [(1, 64 * 1024), (2, 32 * 1024), (3, 21_504), (32, 2048)] {
        ok!(hipOccupancyAvailableDynamicSMemPerBlock(&mut bytes, doubles(), wanted, 64));
        assert_eq!(bytes, expected);
        ok!(hipOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, doubles(), 64, bytes));
        assert!(blocks >= wanted);
        ok!(hipOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, doubles(), 64, bytes + 512));
        assert!(blocks < wanted, "{wanted} blocks fit with more than that");
    }
    let available = |bytes: *mut usize, function, blocks, block| {
        // SAFETY: null, or a number that the function may write.
        unsafe { hipOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block) }
    };
    // A unit holds 32 wavefronts.
    fails!(hipErrorInvalidValue, available(&mut bytes, doubles(), 33, 64));
    fails!(hipErrorInvalidValue, available(&mut bytes, doubles(), 0, 64));
    fails!(hipErrorInvalidValue, available(&mut bytes, doubles(), 1, 0));
    fails!(hipErrorInvalidValue, available(&mut bytes, doubles(), 1, 4096));
    fails!(hipErrorInvalidValue, available(ptr::null_mut(), doubles(), 1, 64));
    fails!(hipErrorInvalidDeviceFunction, available(&mut bytes, ptr::dangling(), 1, 64));
}
