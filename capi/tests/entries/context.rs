use std::{
    ffi::{CStr, c_char, c_uint},
    ptr, thread,
};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipCtxCreate(context: *mut hipCtx_t, flags: c_uint, device: c_int) -> hipError_t;
    fn hipCtxDestroy(context: hipCtx_t) -> hipError_t;
    fn hipCtxGetCurrent(context: *mut hipCtx_t) -> hipError_t;
    fn hipCtxSetCurrent(context: hipCtx_t) -> hipError_t;
    fn hipCtxPushCurrent(context: hipCtx_t) -> hipError_t;
    fn hipCtxPopCurrent(context: *mut hipCtx_t) -> hipError_t;
    fn hipCtxGetDevice(device: *mut c_int) -> hipError_t;
    fn hipCtxGetFlags(flags: *mut c_uint) -> hipError_t;
    fn hipCtxSynchronize() -> hipError_t;
    fn hipDevicePrimaryCtxRetain(context: *mut hipCtx_t, device: c_int) -> hipError_t;
    fn hipDevicePrimaryCtxRelease(device: c_int) -> hipError_t;
    fn hipDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int) -> hipError_t;
    fn hipDevicePrimaryCtxSetFlags(device: c_int, flags: c_uint) -> hipError_t;
    fn hipSetDeviceFlags(flags: c_uint) -> hipError_t;
    fn hipGetDeviceFlags(flags: *mut c_uint) -> hipError_t;
    fn hipDeviceGetPCIBusId(text: *mut c_char, bytes: c_int, device: c_int) -> hipError_t;
    fn hipDeviceGetByPCIBusId(device: *mut c_int, text: *const c_char) -> hipError_t;
    fn hipChooseDeviceR0600(device: *mut c_int, properties: *const hipDeviceProp_tR0600) -> hipError_t;
    fn hipGetDevicePropertiesR0600(properties: *mut hipDeviceProp_tR0600, device: c_int) -> hipError_t;
    fn hipDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) -> hipError_t;
    fn hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint) -> hipError_t;
    fn hipDeviceDisablePeerAccess(peer: c_int) -> hipError_t;
    fn hipDeviceGetLimit(value: *mut usize, limit: hipLimit_t) -> hipError_t;
    fn hipDeviceSetLimit(limit: hipLimit_t, value: usize) -> hipError_t;
    fn hipDeviceGetCacheConfig(config: *mut hipFuncCache_t) -> hipError_t;
    fn hipDeviceSetCacheConfig(config: hipFuncCache_t) -> hipError_t;
    fn hipDeviceReset() -> hipError_t;
    fn hipDevicePrimaryCtxReset(device: c_int) -> hipError_t;
    fn hipStreamGetId(stream: hipStream_t, id: *mut u64) -> hipError_t;
    fn hipEventRecordWithFlags(event: hipEvent_t, stream: hipStream_t, flags: c_uint) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventQuery(event: hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
}

// proves: hipCtxCreate, hipCtxDestroy, hipCtxGetCurrent, hipCtxSetCurrent, hipCtxPushCurrent, hipCtxPopCurrent
#[test]
fn a_context_is_its_device_and_the_stack_is_the_threads() {
    thread::spawn(|| {
        let [mut created, mut current, mut popped] = [hipCtx_t::NULL; 3];
        fails!(hipErrorInvalidContext, hipCtxPopCurrent(&mut popped));
        ok!(hipCtxCreate(&mut created, 0, 0), hipCtxGetCurrent(&mut current));
        assert_eq!(created, current);
        ok!(hipCtxPushCurrent(created), hipCtxPopCurrent(&mut popped));
        assert_eq!(popped, created);
        ok!(hipCtxSetCurrent(created), hipCtxDestroy(created));
        fails!(hipErrorInvalidContext, hipCtxPopCurrent(ptr::null_mut()));
        fails!(hipErrorInvalidContext, hipCtxPushCurrent(hipCtx_t(0xdead_beef)));
        fails!(hipErrorInvalidValue, hipCtxDestroy(hipCtx_t::NULL));
        fails!(hipErrorInvalidValue, hipCtxCreate(&mut created, 0, 99));
        fails!(hipErrorInvalidValue, hipCtxCreate(ptr::null_mut(), 0, 0));
    })
    .join()
    .unwrap();
}

// proves: hipCtxGetDevice, hipCtxSynchronize, hipDevicePrimaryCtxRetain, hipDevicePrimaryCtxRelease
// proves: hipDevicePrimaryCtxGetState
#[test]
fn a_primary_context_is_released_as_often_as_retained() {
    let (mut first, mut second) = (hipCtx_t::NULL, hipCtx_t::NULL);
    let (mut flags, mut active, mut device) = (7, 7, 7);
    ok!(
        hipDevicePrimaryCtxRetain(&mut first, 0),
        hipDevicePrimaryCtxRetain(&mut second, 0),
        hipDevicePrimaryCtxGetState(0, &mut flags, &mut active),
        hipCtxSynchronize(),
        hipCtxGetDevice(&mut device),
        hipDevicePrimaryCtxRelease(0),
        hipDevicePrimaryCtxRelease(0),
    );
    assert_eq!((first, active, device), (second, 1, 0));
    fails!(hipErrorInvalidContext, hipDevicePrimaryCtxRelease(0));
    fails!(hipErrorInvalidDevice, hipDevicePrimaryCtxRetain(&mut first, -1));
    active = 7;
    ok!(hipDevicePrimaryCtxGetState(0, ptr::null_mut(), &mut active));
    assert_ne!(active, 7);
}

// proves: hipSetDeviceFlags, hipGetDeviceFlags, hipCtxGetFlags, hipDevicePrimaryCtxSetFlags
#[test]
fn flags_of_a_device_are_kept() {
    let mut flags = 0;
    ok!(hipSetDeviceFlags(hipDeviceScheduleYield), hipGetDeviceFlags(&mut flags));
    assert_eq!(flags, hipDeviceScheduleYield);
    ok!(hipDevicePrimaryCtxSetFlags(0, hipDeviceScheduleSpin), hipCtxGetFlags(&mut flags));
    assert_eq!(flags, hipDeviceScheduleSpin);
    ok!(hipSetDeviceFlags(hipDeviceScheduleYield | hipDeviceMapHost), hipGetDeviceFlags(&mut flags));
    assert_eq!(flags, hipDeviceScheduleYield);
    fails!(hipErrorInvalidValue, hipSetDeviceFlags(hipDeviceScheduleSpin | hipDeviceScheduleYield));
    fails!(hipErrorInvalidValue, hipGetDeviceFlags(ptr::null_mut()));
}

// proves: hipDeviceGetPCIBusId, hipDeviceGetByPCIBusId
#[test]
fn a_device_is_found_by_its_own_address() {
    let mut text = [0 as c_char; 16];
    let mut device = -1;
    ok!(hipDeviceGetPCIBusId(text.as_mut_ptr(), 16, 0), hipDeviceGetByPCIBusId(&mut device, text.as_ptr()),);
    // SAFETY: the call has stored a terminated string.
    assert_eq!((device, unsafe { CStr::from_ptr(text.as_ptr()) }.count_bytes()), (0, 12));
    fails!(hipErrorInvalidValue, hipDeviceGetPCIBusId(text.as_mut_ptr(), 12, 0));
    fails!(hipErrorInvalidDevice, hipDeviceGetPCIBusId(text.as_mut_ptr(), 16, 99));
    fails!(hipErrorInvalidValue, hipDeviceGetByPCIBusId(&mut device, c"abcd:ee:1e.7".as_ptr()));
    fails!(hipErrorInvalidValue, hipDeviceGetByPCIBusId(&mut device, c"nonsense".as_ptr()));
}

// proves: hipChooseDeviceR0600
#[test]
fn the_device_itself_is_what_its_properties_choose() {
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut properties: hipDeviceProp_tR0600 = unsafe { std::mem::zeroed() };
    let mut device = -1;
    ok!(hipGetDevicePropertiesR0600(&mut properties, 0), hipChooseDeviceR0600(&mut device, &properties));
    assert_eq!(device, 0);
    fails!(hipErrorInvalidValue, hipChooseDeviceR0600(ptr::null_mut(), &properties));
    fails!(hipErrorInvalidValue, hipChooseDeviceR0600(&mut device, ptr::null()));
}

// proves: hipDeviceCanAccessPeer, hipDeviceEnablePeerAccess, hipDeviceDisablePeerAccess
#[test]
fn a_device_is_no_peer_of_itself() {
    let mut can = 7;
    ok!(hipDeviceCanAccessPeer(&mut can, 0, 0));
    assert_eq!(can, 0);
    fails!(hipErrorInvalidDevice, hipDeviceCanAccessPeer(&mut can, 0, 99));
    fails!(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(0, 0));
    fails!(hipErrorInvalidValue, hipDeviceEnablePeerAccess(0, 1));
    fails!(hipErrorInvalidDevice, hipDeviceDisablePeerAccess(0));
}

// proves: hipDeviceGetLimit, hipDeviceSetLimit, hipDeviceGetCacheConfig, hipDeviceSetCacheConfig
#[test]
fn a_limit_that_is_in_force_may_be_asked_for() {
    let (mut stack, mut config) = (0, hipFuncCachePreferL1);
    ok!(hipDeviceGetLimit(&mut stack, hipLimitStackSize));
    assert_eq!(stack, 1024);
    for granted in [16 * 1024, 1024] {
        ok!(hipDeviceSetLimit(hipLimitStackSize, granted), hipDeviceGetLimit(&mut stack, hipLimitStackSize));
        assert_eq!(stack, granted);
    }
    fails!(hipErrorInvalidValue, hipDeviceSetLimit(hipLimitStackSize, 16 * 1024 + 1));
    fails!(hipErrorInvalidValue, hipDeviceGetLimit(&mut stack, hipLimitRange));
    fails!(hipErrorUnsupportedLimit, hipDeviceGetLimit(&mut stack, hipLimit_t(u32::MAX)));
    let mut heap = 0usize;
    ok!(
        hipDeviceGetLimit(&mut heap, hipLimitMallocHeapSize),
        hipDeviceSetLimit(hipLimitMallocHeapSize, 12345)
    );
    let mut changed = 0usize;
    ok!(hipDeviceGetLimit(&mut changed, hipLimitMallocHeapSize));
    assert_eq!(changed, 12345);
    ok!(hipDeviceSetLimit(hipLimitMallocHeapSize, heap), hipDeviceSetLimit(hipLimitPrintfFifoSize, 4096));
    ok!(hipDeviceGetLimit(&mut changed, hipLimitPrintfFifoSize));
    assert_eq!(changed, 4096);
    fails!(hipErrorInvalidValue, hipDeviceSetLimit(hipLimitPrintfFifoSize, 1));
    fails!(hipErrorInvalidValue, hipDeviceGetLimit(ptr::null_mut(), hipLimitStackSize));
    ok!(hipDeviceSetCacheConfig(hipFuncCachePreferShared), hipDeviceGetCacheConfig(&mut config));
    assert_eq!(config, hipFuncCachePreferNone);
    fails!(hipErrorInvalidValue, hipDeviceSetCacheConfig(hipFuncCache_t(9)));
}

// proves: hipStreamGetId, hipEventRecordWithFlags
#[test]
fn streams_have_numbers_and_events_record_with_flags() {
    let streams = [new_stream(), new_stream()];
    let (mut ids, mut event) = ([0; 2], hipEvent_t::NULL);
    ok!(
        hipStreamGetId(streams[0], &mut ids[0]),
        hipStreamGetId(streams[1], &mut ids[1]),
        hipEventCreate(&mut event),
        hipEventRecordWithFlags(event, streams[0], hipEventRecordDefault),
        hipStreamSynchronize(streams[0]),
        hipEventQuery(event),
        hipEventRecordWithFlags(event, streams[0], hipEventRecordExternal),
    );
    assert_ne!(ids[0], ids[1]);
    fails!(hipErrorInvalidValue, hipEventRecordWithFlags(event, streams[0], 2));
    fails!(hipErrorInvalidValue, hipStreamGetId(streams[0], ptr::null_mut()));
    ok!(hipEventDestroy(event), hipStreamDestroy(streams[0]), hipStreamDestroy(streams[1]));
}

// proves: hipDeviceReset, hipDevicePrimaryCtxReset
#[test]
fn a_reset_takes_streams_and_memory() {
    // It would take those of other tests too: it has a process of its own.
    let own = std::env::current_exe().unwrap();
    let arguments = ["--exact", "context::a_reset_alone", "--ignored"];
    let output = std::process::Command::new(own).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "takes the streams and memory of all tests; `a_reset_takes_streams_and_memory` runs it"]
fn a_reset_alone() {
    let mut address = ptr::null_mut();
    for reset in [reset_current, reset_first] {
        let stream = new_stream();
        ok!(
            hipMalloc(&mut address, 64),
            hipMemset(address, 1, 64),
            hipSetDeviceFlags(hipDeviceScheduleYield)
        );
        ok!(reset());
        fails!(hipErrorContextIsDestroyed, hipStreamSynchronize(stream));
        fails!(hipErrorInvalidValue, hipFree(address));
        let mut flags = 7;
        ok!(hipGetDeviceFlags(&mut flags));
        assert_eq!(flags, hipDeviceScheduleSpin, "as before they were set");
        // The device goes on.
        let memory = Memory::of(&[3u8; 16]);
        ok!(hipMemset(memory.pointer(), 4, 8));
        assert_eq!(memory.read()[7..9], [4, 3]);
    }
    ok!(hipDevicePrimaryCtxReset(99));
}

fn reset_current() -> hipError_t {
    // SAFETY: nothing of the device is in use.
    unsafe { hipDeviceReset() }
}

fn reset_first() -> hipError_t {
    // SAFETY: nothing of the device is in use.
    unsafe { hipDevicePrimaryCtxReset(0) }
}
