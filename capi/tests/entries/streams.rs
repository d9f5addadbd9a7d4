use std::{ffi::c_uint, ptr, sync::Barrier, thread};

use capi::{error::*, types::*};

use super::*;

unsafe extern "C" {
    fn hipExtMallocWithFlags(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipMallocManaged(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipStreamQuery(stream: hipStream_t) -> hipError_t;
    fn hipStreamWriteValue32(
        stream: hipStream_t,
        address: *mut c_void,
        value: u32,
        flags: c_uint,
    ) -> hipError_t;
    fn hipStreamWriteValue64(
        stream: hipStream_t,
        address: *mut c_void,
        value: u64,
        flags: c_uint,
    ) -> hipError_t;
    fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipStreamWaitValue32(
        stream: hipStream_t,
        address: *mut c_void,
        value: u32,
        flags: c_uint,
        mask: u32,
    ) -> hipError_t;
    fn hipStreamWaitValue64(
        stream: hipStream_t,
        address: *mut c_void,
        value: u64,
        flags: c_uint,
        mask: u64,
    ) -> hipError_t;
    fn hipGetStreamDeviceId(stream: hipStream_t) -> c_int;
    fn hipExtStreamCreateWithCUMask(stream: *mut hipStream_t, words: u32, mask: *const u32) -> hipError_t;
    fn hipExtStreamGetCUMask(stream: hipStream_t, words: u32, mask: *mut u32) -> hipError_t;
    fn hipStreamAttachMemAsync(
        stream: hipStream_t,
        address: *mut c_void,
        bytes: usize,
        flags: c_uint,
    ) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipLaunchHostFunc(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) -> hipError_t;
    fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostFree(address: *mut c_void) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipMemcpyAsync(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    fn hipEventQuery(event: hipEvent_t) -> hipError_t;
    fn hipEventSynchronize(event: hipEvent_t) -> hipError_t;
}

// proves: hipStreamWriteValue32, hipStreamWriteValue64, hipStreamWaitValue32, hipStreamWaitValue64
// proves: hipExtMallocWithFlags
#[test]
fn streams_write_and_wait_for_signal_memory() {
    let (waiting, writing) = (new_stream(), new_stream());
    let mut signal = ptr::null_mut();
    for bytes in [0, 4, 16] {
        fails!(hipErrorInvalidValue, hipExtMallocWithFlags(&mut signal, bytes, hipMallocSignalMemory));
    }
    ok!(hipExtMallocWithFlags(&mut signal, 8, hipMallocSignalMemory));
    // SAFETY: eight bytes that are the host's as well.
    let read = || unsafe { signal.cast::<u64>().read_volatile() };
    ok!(hipStreamWriteValue64(writing, signal, u64::MAX, 0), hipStreamSynchronize(writing));
    // The flags of a write are ignored.
    ok!(hipStreamWriteValue32(writing, signal, 1, 77), hipStreamSynchronize(writing));
    assert_eq!(read(), 0xffff_ffff_0000_0001);

    ok!(
        hipStreamWaitValue32(waiting, signal, 1, hipStreamWaitValueEq, u32::MAX),
        hipStreamSynchronize(waiting)
    );
    ok!(hipStreamWaitValue64(waiting, signal, 1, hipStreamWaitValueEq, u64::MAX));
    fails!(hipErrorNotReady, hipStreamQuery(waiting));
    ok!(hipStreamWriteValue64(writing, signal, 1, 0), hipStreamSynchronize(waiting));

    fails!(hipErrorInvalidValue, hipStreamWaitValue64(waiting, signal, 1, 4, u64::MAX));
    fails!(hipErrorInvalidValue, hipStreamWaitValue64(waiting, ptr::null_mut(), 1, 0, u64::MAX));
    fails!(hipErrorInvalidValue, hipStreamWriteValue32(waiting, ptr::null_mut(), 1, 0));
    ok!(hipFree(signal), hipStreamDestroy(waiting), hipStreamDestroy(writing));
}

// proves: hipGetStreamDeviceId, hipExtStreamGetCUMask, hipExtStreamCreateWithCUMask
#[test]
fn a_stream_knows_its_device_and_its_units() {
    let stream = new_stream();
    // SAFETY: any handle may be asked about.
    let device_of = |stream| unsafe { hipGetStreamDeviceId(stream) };
    assert_eq!(
        [device_of(stream), device_of(hipStream_t::NULL), device_of(hipStream_t(0xdead_beef))],
        [0, 0, -1]
    );
    let mut mask = [0u32; 64];
    ok!(hipExtStreamGetCUMask(stream, 64, mask.as_mut_ptr()));
    let units: u32 = mask.iter().map(|word| word.count_ones()).sum();
    let words = units.div_ceil(32);
    assert_ne!(units, 0);
    assert!(mask[words as usize..].iter().all(|&word| word == 0));
    ok!(hipExtStreamGetCUMask(stream, words, mask.as_mut_ptr()));
    fails!(hipErrorInvalidValue, hipExtStreamGetCUMask(stream, words - 1, mask.as_mut_ptr()));
    fails!(hipErrorInvalidValue, hipExtStreamGetCUMask(stream, words, ptr::null_mut()));
    ok!(hipStreamDestroy(stream));

    let (mut restricted, two) = (hipStream_t::NULL, 6);
    ok!(
        hipExtStreamCreateWithCUMask(&mut restricted, 1, &two),
        hipExtStreamGetCUMask(restricted, words, mask.as_mut_ptr()),
    );
    assert_eq!(mask[0], two);
    assert_eq!(crate::units::of_kernels_on(restricted), [1, 2].into());
    assert_eq!(crate::units::of_kernels_on(hipStream_t::NULL), (0..units).collect());
    ok!(hipStreamDestroy(restricted));
    fails!(hipErrorInvalidHandle, hipExtStreamCreateWithCUMask(ptr::null_mut(), 1, &two));
    fails!(hipErrorInvalidValue, hipExtStreamCreateWithCUMask(&mut restricted, 0, &two));
    fails!(hipErrorInvalidValue, hipExtStreamCreateWithCUMask(&mut restricted, 1, ptr::null()));
}

// proves: hipStreamAttachMemAsync
#[test]
fn allocations_are_attached_to_streams_as_a_whole() {
    let (stream, device) = (new_stream(), Memory::of(&[0u8; 64]));
    let mut managed = ptr::null_mut();
    ok!(hipMallocManaged(&mut managed, 4096, hipMemAttachGlobal));
    for flags in [hipMemAttachGlobal, hipMemAttachHost, hipMemAttachSingle] {
        ok!(
            hipStreamAttachMemAsync(stream, managed, 0, flags),
            hipStreamAttachMemAsync(stream, managed, 4096, flags)
        );
    }
    for (address, bytes, flags) in [
        (managed, 4097, hipMemAttachGlobal),
        (managed, 64, hipMemAttachGlobal),
        (managed.wrapping_byte_add(64), 4096 - 64, hipMemAttachGlobal),
        (managed, 0, 0),
        (managed, 0, hipMemAttachGlobal | hipMemAttachHost),
        (ptr::null_mut(), 0, hipMemAttachGlobal),
    ] {
        fails!(hipErrorInvalidValue, hipStreamAttachMemAsync(stream, address, bytes, flags));
    }
    ok!(
        hipStreamAttachMemAsync(stream, device.pointer(), 64, hipMemAttachSingle),
        hipStreamAttachMemAsync(hipStream_t::NULL, managed, 0, hipMemAttachGlobal),
        hipFree(managed),
        hipStreamDestroy(stream)
    );
}

// proves: hipEventQuery, hipEventSynchronize
#[test]
fn a_captured_event_says_so_in_every_mode() {
    let stream = new_stream();
    let mut event = hipEvent_t::NULL;
    ok!(hipEventCreate(&mut event));
    for mode in [hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed] {
        let mut graph = hipGraph_t::NULL;
        ok!(hipStreamBeginCapture(stream, mode), hipEventRecord(event, stream));
        fails!(hipErrorCapturedEvent, hipEventQuery(event));
        fails!(hipErrorCapturedEvent, hipEventSynchronize(event));
        fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut graph));
        // It counts as never recorded when the capture is over.
        ok!(hipEventQuery(event), hipEventSynchronize(event));
    }
    ok!(hipEventDestroy(event), hipStreamDestroy(stream));
}

// proves: hipEventDestroy, hipEventRecord
#[test]
fn events_need_handles_that_live() {
    let stream = new_stream();
    let mut event = hipEvent_t::NULL;
    ok!(hipEventCreate(&mut event));
    ok!(hipStreamDestroy(stream));
    fails!(hipErrorContextIsDestroyed, hipEventRecord(event, stream));
    fails!(hipErrorInvalidHandle, hipStreamWaitEvent(stream, event, 0));
    // Of this thread or another.
    ok!(hipEventDestroy(event));
    fails!(hipErrorContextIsDestroyed, hipEventDestroy(event));
    let stale = thread::spawn(move || {
        // SAFETY: a handle that is no more must be refused.
        unsafe { hipEventQuery(event) }
    });
    assert_eq!(stale.join().unwrap(), hipErrorInvalidHandle);
}

/// New streams in a row, of which some publish to the null stream's queue.
const IN_A_ROW: usize = 8;

unsafe extern "C" fn wait_at(gate: *mut c_void) {
    // SAFETY: the gate that the function was launched with, which lives until it has been opened.
    unsafe { &*gate.cast::<Barrier>() }.wait();
}

// proves: hipStreamQuery, hipStreamSynchronize, hipEventQuery
#[test]
fn the_null_stream_waits_for_the_first_work_of_a_new_stream() {
    let (device, null) = (Memory::of(&[0u32; 4]), hipStream_t::NULL);
    let gate = Barrier::new(2);
    for _ in 0..IN_A_ROW {
        let (stream, mut event) = (new_stream(), hipEvent_t::NULL);
        ok!(
            hipEventCreate(&mut event),
            hipMemsetAsync(device.pointer(), 1, 16, null),
            hipLaunchHostFunc(stream, Some(wait_at), (&raw const gate).cast_mut().cast()),
        );
        fails!(hipErrorNotReady, hipStreamQuery(null));
        ok!(hipEventRecord(event, null));
        fails!(hipErrorNotReady, hipEventQuery(event));
        gate.wait();
        ok!(hipStreamSynchronize(null), hipStreamQuery(stream), hipEventQuery(event));
        ok!(hipEventDestroy(event), hipStreamDestroy(stream));
    }
}

#[test]
fn a_copy_on_a_new_stream_has_landed_when_the_null_stream_is_synchronised() {
    const WORDS: usize = 1 << 16;
    let (device, mut host) = (Memory::of(&vec![0u32; WORDS]), ptr::null_mut());
    ok!(hipHostMalloc(&mut host, WORDS * 4, 0));
    for n in 1..=4 * IN_A_ROW {
        let (stream, bytes) = (new_stream(), WORDS * 4);
        ok!(
            hipMemsetAsync(device.pointer(), n as c_int, bytes, hipStream_t::NULL),
            hipMemcpyAsync(host, device.pointer(), bytes, hipMemcpyDeviceToHost, stream),
            hipStreamSynchronize(hipStream_t::NULL),
        );
        // SAFETY: the last word of the memory, which nothing writes any more.
        let last = unsafe { host.cast::<u32>().add(WORDS - 1).read_volatile() };
        assert_eq!(last, n as u32 * 0x0101_0101);
        ok!(hipStreamDestroy(stream));
    }
    ok!(hipHostFree(host));
}

// proves: hipStreamQuery
#[test]
fn an_idle_stream_says_so_while_the_null_stream_is_busy() {
    let gate = Barrier::new(2);
    for _ in 0..IN_A_ROW {
        let (stream, null) = (new_stream(), hipStream_t::NULL);
        ok!(hipLaunchHostFunc(null, Some(wait_at), (&raw const gate).cast_mut().cast()));
        ok!(hipStreamQuery(stream));
        fails!(hipErrorNotReady, hipStreamQuery(null));
        gate.wait();
        ok!(hipStreamSynchronize(null), hipStreamDestroy(stream));
    }
}
