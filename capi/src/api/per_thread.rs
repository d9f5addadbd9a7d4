//! What clients compiled with per-thread default streams call: to them a null stream is the thread's own.

use std::ffi::{c_int, c_uint, c_void};

use aqlipse::{capture, memory};

use super::{
    capture::sequence::{
        hipStreamBeginCapture, hipStreamEndCapture, hipStreamGetCaptureInfo, hipStreamGetCaptureInfo_v2,
        hipStreamIsCapturing,
    },
    event::record::hipEventRecord,
    launch::host_function::{hipLaunchHostFunc, hipStreamAddCallback},
    memory::{
        array_copy::{hipMemcpy2DFromArrayAsync, hipMemcpy2DToArrayAsync},
        linear::{hipMemcpyAsync, hipMemset2DAsync, hipMemsetAsync},
        pitched::{hipMemcpy2DAsync, hipMemcpy3DAsync, hipMemset3DAsync},
        symbol::{hipMemcpyFromSymbolAsync, hipMemcpyToSymbolAsync},
    },
    stream::work::{
        hipStreamGetFlags, hipStreamGetPriority, hipStreamQuery, hipStreamSynchronize, hipStreamWaitEvent,
    },
};
use crate::{
    error::{hipError_t, hipSuccess},
    object,
    types::*,
};

fn outcome(code: hipError_t) -> Result<(), hipError_t> {
    if code == hipSuccess { Ok(()) } else { Err(code) }
}

/// Exports the twin of an entry. `for` passes the stream in brackets on, the thread's own in place of null;
/// `waits for` puts the call, whose last argument is a stream, on the thread's own and waits for it; `fills` waits only
/// where host memory is filled.
macro_rules! per_thread {
    (fn $twin:ident for $base:ident(
        $($before:ident: $before_ty:ty,)* [$stream:ident] $(, $after:ident: $after_ty:ty)* $(,)?
    )) => {
        entry! {
            #[doc = concat!("[`", stringify!($base), "`] for callers for whom a null stream is the thread's own.")]
            fn $twin($($before: $before_ty,)* $stream: hipStream_t $(, $after: $after_ty)*) -> hipError_t {
                // SAFETY: the caller's arguments.
                outcome(unsafe { $base($($before,)* object::per_thread($stream) $(, $after)*) })
            }
        }
    };
    (fn $twin:ident waits for $base:ident($($arg:ident: $ty:ty),* $(,)?)) => {
        entry! {
            #[doc = concat!("[`", stringify!($base), "`] on the thread's own stream, and waits for it.")]
            fn $twin($($arg: $ty),*) -> hipError_t {
                let stream = object::stream(hipStreamPerThread)?;
                // Before anything is recorded that no caller could wait for.
                capture::refuse_uncapturable(&stream, "a call that waits for its work")?;
                // SAFETY: the caller's arguments.
                outcome(unsafe { $base($($arg,)* hipStreamPerThread) })?;
                Ok(stream.complete()?)
            }
        }
    };
    (fn $twin:ident fills $dst:expr; by $base:ident($($arg:ident: $ty:ty),* $(,)?)) => {
        entry! {
            #[doc = concat!("[`", stringify!($base), "`] on the thread's own stream, and waits for it in host memory.")]
            fn $twin($($arg: $ty),*) -> hipError_t {
                let stream = object::stream(hipStreamPerThread)?;
                capture::refuse_uncapturable(&stream, "a call that waits for its work")?;
                // SAFETY: the caller's arguments.
                outcome(unsafe { $base($($arg,)* hipStreamPerThread) })?;
                if memory::waits_for_fill($dst as u64)? { Ok(stream.complete()?) } else { Ok(()) }
            }
        }
    };
}

per_thread! {
    fn hipStreamQuery_spt for hipStreamQuery([stream])
}

per_thread! {
    fn hipStreamSynchronize_spt for hipStreamSynchronize([stream])
}

per_thread! {
    fn hipStreamGetPriority_spt for hipStreamGetPriority([stream], priority: *mut c_int)
}

per_thread! {
    fn hipStreamGetFlags_spt for hipStreamGetFlags([stream], flags: *mut c_uint)
}

per_thread! {
    fn hipStreamWaitEvent_spt for hipStreamWaitEvent([stream], event: hipEvent_t, flags: c_uint)
}

per_thread! {
    fn hipStreamAddCallback_spt for hipStreamAddCallback(
        [stream],
        callback: hipStreamCallback_t,
        user_data: *mut c_void,
        flags: c_uint,
    )
}

per_thread! {
    fn hipLaunchHostFunc_spt for hipLaunchHostFunc([stream], function: hipHostFn_t, user_data: *mut c_void)
}

per_thread! {
    fn hipEventRecord_spt for hipEventRecord(event: hipEvent_t, [stream])
}

per_thread! {
    fn hipStreamBeginCapture_spt for hipStreamBeginCapture([stream], mode: hipStreamCaptureMode)
}

per_thread! {
    fn hipStreamEndCapture_spt for hipStreamEndCapture([stream], graph: *mut hipGraph_t)
}

per_thread! {
    fn hipStreamIsCapturing_spt for hipStreamIsCapturing([stream], status: *mut hipStreamCaptureStatus)
}

per_thread! {
    fn hipStreamGetCaptureInfo_spt for hipStreamGetCaptureInfo(
        [stream],
        status: *mut hipStreamCaptureStatus,
        id: *mut u64,
    )
}

per_thread! {
    fn hipStreamGetCaptureInfo_v2_spt for hipStreamGetCaptureInfo_v2(
        [stream],
        status: *mut hipStreamCaptureStatus,
        id: *mut u64,
        graph: *mut hipGraph_t,
        dependencies: *mut *const hipGraphNode_t,
        count: *mut usize,
    )
}

per_thread! {
    fn hipMemcpyAsync_spt for hipMemcpyAsync(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        [stream],
    )
}

per_thread! {
    fn hipMemcpy_spt waits for hipMemcpyAsync(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    )
}

per_thread! {
    fn hipMemcpyToSymbolAsync_spt for hipMemcpyToSymbolAsync(
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        [stream],
    )
}

per_thread! {
    fn hipMemcpyToSymbol_spt waits for hipMemcpyToSymbolAsync(
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    )
}

per_thread! {
    fn hipMemcpyFromSymbolAsync_spt for hipMemcpyFromSymbolAsync(
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        [stream],
    )
}

per_thread! {
    fn hipMemcpyFromSymbol_spt waits for hipMemcpyFromSymbolAsync(
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    )
}

per_thread! {
    fn hipMemcpy2DAsync_spt for hipMemcpy2DAsync(
        dst: *mut c_void,
        dst_pitch: usize,
        src: *const c_void,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        [stream],
    )
}

per_thread! {
    fn hipMemcpy2D_spt waits for hipMemcpy2DAsync(
        dst: *mut c_void,
        dst_pitch: usize,
        src: *const c_void,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    )
}

per_thread! {
    fn hipMemcpy3DAsync_spt for hipMemcpy3DAsync(params: *const hipMemcpy3DParms, [stream])
}

per_thread! {
    fn hipMemcpy3D_spt waits for hipMemcpy3DAsync(params: *const hipMemcpy3DParms)
}

per_thread! {
    fn hipMemsetAsync_spt for hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, [stream])
}

per_thread! {
    fn hipMemset_spt fills dst; by hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize)
}

per_thread! {
    fn hipMemset2DAsync_spt for hipMemset2DAsync(
        dst: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
        [stream],
    )
}

per_thread! {
    fn hipMemset2D_spt fills dst; by hipMemset2DAsync(
        dst: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
    )
}

per_thread! {
    fn hipMemset3DAsync_spt for hipMemset3DAsync(dst: hipPitchedPtr, value: c_int, extent: hipExtent, [stream])
}

per_thread! {
    fn hipMemset3D_spt fills dst.ptr; by hipMemset3DAsync(dst: hipPitchedPtr, value: c_int, extent: hipExtent)
}

per_thread! {
    fn hipMemcpy2DToArrayAsync_spt for hipMemcpy2DToArrayAsync(
        dst: hipArray_t,
        offset: usize,
        row: usize,
        src: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        [stream],
    )
}

per_thread! {
    fn hipMemcpy2DToArray_spt waits for hipMemcpy2DToArrayAsync(
        dst: hipArray_t,
        offset: usize,
        row: usize,
        src: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    )
}

per_thread! {
    fn hipMemcpy2DFromArrayAsync_spt for hipMemcpy2DFromArrayAsync(
        dst: *mut c_void,
        pitch: usize,
        src: hipArray_t,
        offset: usize,
        row: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        [stream],
    )
}

per_thread! {
    fn hipMemcpy2DFromArray_spt waits for hipMemcpy2DFromArrayAsync(
        dst: *mut c_void,
        pitch: usize,
        src: hipArray_t,
        offset: usize,
        row: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    )
}
