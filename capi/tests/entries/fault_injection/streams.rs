//! Work on streams.

use std::{
    ffi::{c_char, c_uint},
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

use super::{
    memory::{Words, stream},
    *,
};
use crate::program::{BLOCK, image, line, threes};

unsafe extern "C" {
    fn hipExtStreamCreateWithCUMask(stream: *mut hipStream_t, words: u32, mask: *const u32) -> hipError_t;
    fn hipStreamCreateWithPriority(stream: *mut hipStream_t, flags: c_uint, priority: c_int) -> hipError_t;
    fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    fn hipEventSynchronize(event: hipEvent_t) -> hipError_t;
    fn hipEventElapsedTime(milliseconds: *mut f32, start: hipEvent_t, stop: hipEvent_t) -> hipError_t;
    fn hipLaunchHostFunc(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipDeviceSynchronize() -> hipError_t;
    pub fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t;
    pub fn hipModuleUnload(module: hipModule_t) -> hipError_t;
    pub fn hipModuleGetFunction(
        function: *mut hipFunction_t,
        module: hipModule_t,
        name: *const c_char,
    ) -> hipError_t;
    pub fn hipModuleLaunchKernel(
        function: hipFunction_t,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        lds: c_uint,
        stream: hipStream_t,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> hipError_t;
    fn hipLaunchCooperativeKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        lds: c_uint,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipLaunchKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        lds: usize,
        stream: hipStream_t,
    ) -> hipError_t;
}

pub unsafe extern "C" fn count(counter: *mut c_void) {
    // SAFETY: scenarios pass counters that outlive the work.
    unsafe { &*counter.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

pub fn events() {
    let (stream, memory, counter) = (stream(), Words::new(100, 0), AtomicU32::new(0));
    let (mut start, mut stop, mut time) = (hipEvent_t::NULL, hipEvent_t::NULL, 0.0);
    let data = ptr::from_ref(&counter).cast_mut().cast();
    tried!(
        hipEventCreate(&mut start),
        hipEventCreate(&mut stop),
        hipEventRecord(start, stream),
        hipLaunchHostFunc(stream, Some(count), data),
        hipMemsetAsync(memory.address, 1, 400, stream),
        hipLaunchHostFunc(stream, Some(count), data),
        hipEventRecord(stop, stream),
        hipEventSynchronize(stop),
        hipEventElapsedTime(&mut time, start, stop),
    );
    assert_eq!(counter.load(Ordering::SeqCst), 2);
    memory.all(0x0101_0101);
    tried!(hipEventDestroy(start), hipEventDestroy(stop), hipStreamDestroy(stream));
}

pub fn waits() {
    let (memory, mut urgent, mut event) = (Words::new(100, 0), hipStream_t::NULL, hipEvent_t::NULL);
    let first = stream();
    tried!(hipStreamCreateWithPriority(&mut urgent, 1, -1), hipEventCreate(&mut event));
    for value in 1..4 {
        tried!(
            hipMemsetAsync(memory.address, value, 400, first),
            hipEventRecord(event, first),
            hipStreamWaitEvent(urgent, event, 0),
            hipMemsetAsync(memory.address, value + 1, 200, urgent),
            hipEventRecord(event, urgent),
            hipStreamWaitEvent(first, event, 0),
            // The default stream waits for all of the others that block.
            hipMemsetAsync(memory.address, value, 100, hipStream_t::NULL),
        );
    }
    tried!(hipStreamSynchronize(first), hipDeviceSynchronize());
    let read = memory.read();
    assert_eq!((read[0], read[30], read[99]), (0x0303_0303, 0x0404_0404, 0x0303_0303));
    tried!(hipEventDestroy(event), hipStreamDestroy(urgent), hipStreamDestroy(first));
}

pub fn modules() {
    let (mut module, mut function) = (hipModule_t::NULL, hipFunction_t::NULL);
    let (memory, stream) = (Words::new(BLOCK as usize, 0), stream());
    let mut address = memory.address;
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let null = ptr::null_mut();
    tried!(
        hipModuleLoadData(&mut module, image().as_ptr().cast()),
        hipModuleGetFunction(&mut function, module, c"kernelB".as_ptr()),
        hipModuleLaunchKernel(function, 1, 1, 1, BLOCK, 1, 1, 0, stream, arguments.as_mut_ptr(), null,),
        hipStreamSynchronize(stream),
    );
    memory.all(3);
    tried!(hipModuleUnload(module), hipStreamDestroy(stream));
}

/// Writes threes, by a cooperative kernel or an ordinary one.
pub fn write_threes(memory: &Words, stream: hipStream_t, cooperative: bool) -> hipError_t {
    let mut address = memory.address;
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let arguments = arguments.as_mut_ptr();
    // SAFETY: the kernel takes an address of so many integers.
    unsafe {
        match cooperative {
            true => hipLaunchCooperativeKernel(threes(), line(1), line(BLOCK), arguments, 0, stream),
            false => hipLaunchKernel(threes(), line(1), line(BLOCK), arguments, 0, stream),
        }
    }
}

pub fn cooperative() {
    let (memory, stream) = (Words::new(BLOCK as usize, 0), stream());
    tried!(
        write_threes(&memory, stream, false),
        write_threes(&memory, stream, true),
        write_threes(&memory, stream, true),
    );
    tried!(hipStreamSynchronize(stream), hipStreamDestroy(stream));
    memory.all(3);
}

/// Each such stream has a queue of its own.
pub fn masks() {
    let (memory, masks) = (Words::new(BLOCK as usize, 0), [1u32, 6]);
    let streams = masks.map(|mask| {
        let mut stream = hipStream_t::NULL;
        tried!(hipExtStreamCreateWithCUMask(&mut stream, 1, &mask));
        stream
    });
    tried!(
        write_threes(&memory, streams[0], false),
        hipStreamSynchronize(streams[0]),
        hipMemsetAsync(memory.address, 1, 400, streams[1]),
        hipStreamSynchronize(streams[1]),
    );
    let read = memory.read();
    assert_eq!((read[0], read[100]), (0x0101_0101, 3));
    let graph = graphs::captured(|stream| match write_threes(&memory, stream, false) {
        hipSuccess => Ok(()),
        code => Err(code),
    });
    let exec = graphs::instantiated(graph, 0);
    for stream in streams {
        tried!(graphs::hipGraphLaunch(exec, stream));
    }
    tried!(hipDeviceSynchronize());
    memory.all(3);
    tried!(graphs::hipGraphExecDestroy(exec), graphs::hipGraphDestroy(graph));
    streams.into_iter().for_each(|stream| tried!(hipStreamDestroy(stream)));
}
