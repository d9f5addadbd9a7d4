use std::{
    ffi::c_uint,
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipStreamGetAttribute(
        stream: hipStream_t,
        attribute: hipLaunchAttributeID,
        value: *mut hipLaunchAttributeValue,
    ) -> hipError_t;
    fn hipStreamSetAttribute(
        stream: hipStream_t,
        attribute: hipLaunchAttributeID,
        value: *const hipLaunchAttributeValue,
    ) -> hipError_t;
    fn hipStreamCopyAttributes(destination: hipStream_t, source: hipStream_t) -> hipError_t;
    fn hipStreamCreateWithFlags(stream: *mut hipStream_t, flags: c_uint) -> hipError_t;
    fn hipStreamCreateWithPriority(stream: *mut hipStream_t, flags: c_uint, priority: c_int) -> hipError_t;
    fn hipStreamGetFlags(stream: hipStream_t, flags: *mut c_uint) -> hipError_t;
    fn hipStreamGetPriority(stream: hipStream_t, priority: *mut c_int) -> hipError_t;
    fn hipStreamGetDevice(stream: hipStream_t, device: *mut hipDevice_t) -> hipError_t;
    fn hipStreamAddCallback(
        stream: hipStream_t,
        callback: hipStreamCallback_t,
        user_data: *mut c_void,
        flags: c_uint,
    ) -> hipError_t;
    fn hipStreamAddCallback_spt(
        stream: hipStream_t,
        callback: hipStreamCallback_t,
        user_data: *mut c_void,
        flags: c_uint,
    ) -> hipError_t;
    fn hipEventCreateWithFlags(event: *mut hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    fn hipEventElapsedTime(milliseconds: *mut f32, start: hipEvent_t, stop: hipEvent_t) -> hipError_t;
}

fn value() -> hipLaunchAttributeValue {
    hipLaunchAttributeValue { pad: [0x55; 64] }
}

fn get<T: Copy>(stream: hipStream_t, attribute: hipLaunchAttributeID) -> T {
    let mut value = value();
    ok!(hipStreamGetAttribute(stream, attribute, &mut value));
    // SAFETY: the member that the attribute names has this type, and any bits are a value of it.
    unsafe { (&raw const value).cast::<T>().read() }
}

fn priority(stream: hipStream_t) -> c_int {
    let mut priority = 7;
    ok!(hipStreamGetPriority(stream, &mut priority));
    priority
}

// proves: hipStreamGetAttribute, hipStreamSetAttribute
#[test]
fn what_a_stream_was_given_is_what_it_has() {
    let stream = new_stream();
    assert_eq!(
        get::<hipSynchronizationPolicy>(stream, hipLaunchAttributeSynchronizationPolicy),
        hipSyncPolicyAuto
    );
    assert_eq!(
        get::<hipLaunchMemSyncDomain>(stream, hipLaunchAttributeMemSyncDomain),
        hipLaunchMemSyncDomainDefault
    );
    let map = get::<hipLaunchMemSyncDomainMap>(stream, hipLaunchAttributeMemSyncDomainMap);
    assert_eq!((map.default_, map.remote), (0, 0), "there is one domain");
    assert_eq!(get::<c_int>(stream, hipLaunchAttributePriority), 0);
    let window = hipAccessPolicyWindow {
        base_ptr: ptr::null_mut(),
        hitProp: hipAccessPropertyStreaming,
        hitRatio: 0.5,
        missProp: hipAccessPropertyNormal,
        num_bytes: 0,
    };
    let set = |attribute, value: hipLaunchAttributeValue| {
        // SAFETY: a value whose member the attribute names.
        unsafe { hipStreamSetAttribute(stream, attribute, &value) }
    };
    let policy = hipLaunchAttributeValue { syncPolicy: hipSyncPolicyBlockingSync };
    let domain = hipLaunchAttributeValue { memSyncDomain: hipLaunchMemSyncDomainRemote };
    ok!(
        set(hipLaunchAttributeSynchronizationPolicy, policy),
        set(hipLaunchAttributeMemSyncDomain, domain),
        set(hipLaunchAttributeMemSyncDomainMap, hipLaunchAttributeValue { memSyncDomainMap: map }),
        set(hipLaunchAttributePriority, hipLaunchAttributeValue { priority: -1 }),
        set(hipLaunchAttributeAccessPolicyWindow, hipLaunchAttributeValue { accessPolicyWindow: window }),
    );
    assert_eq!(
        get::<hipSynchronizationPolicy>(stream, hipLaunchAttributeSynchronizationPolicy),
        hipSyncPolicyBlockingSync
    );
    assert_eq!(
        get::<hipLaunchMemSyncDomain>(stream, hipLaunchAttributeMemSyncDomain),
        hipLaunchMemSyncDomainRemote
    );
    assert_eq!((get::<c_int>(stream, hipLaunchAttributePriority), priority(stream)), (-1, -1));
    let found = get::<hipAccessPolicyWindow>(stream, hipLaunchAttributeAccessPolicyWindow);
    assert_eq!((found.hitProp, found.hitRatio, found.num_bytes), (hipAccessPropertyStreaming, 0.5, 0));

    // The stream still works, behind what it had to do before.
    let memory = Memory::of(&[0u32; 4]);
    ok!(hipMemset(memory.pointer(), 1, 16), hipStreamSynchronize(stream));
    assert_eq!(memory.read(), [0x0101_0101; 4]);

    let two_domains = hipLaunchMemSyncDomainMap { default_: 0, remote: 1 };
    for (attribute, bad) in [
        (
            hipLaunchAttributeSynchronizationPolicy,
            hipLaunchAttributeValue { syncPolicy: hipSynchronizationPolicy(0) },
        ),
        (
            hipLaunchAttributeMemSyncDomain,
            hipLaunchAttributeValue { memSyncDomain: hipLaunchMemSyncDomain(2) },
        ),
        (hipLaunchAttributeMemSyncDomainMap, hipLaunchAttributeValue { memSyncDomainMap: two_domains }),
        (hipLaunchAttributePriority, hipLaunchAttributeValue { priority: 2 }),
        (
            hipLaunchAttributeAccessPolicyWindow,
            hipLaunchAttributeValue {
                accessPolicyWindow: hipAccessPolicyWindow { num_bytes: 1 << 20, ..window },
            },
        ),
        // An attribute of launches.
        (hipLaunchAttributeCooperative, hipLaunchAttributeValue { cooperative: 1 }),
        (hipLaunchAttributeID(77), value()),
    ] {
        fails!(hipErrorInvalidValue, set(attribute, bad));
    }
    let (priority, nobody) = (hipLaunchAttributePriority, hipStream_t(0x5eed));
    fails!(hipErrorInvalidValue, hipStreamSetAttribute(stream, priority, ptr::null()));
    fails!(hipErrorInvalidValue, hipStreamGetAttribute(stream, priority, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipStreamGetAttribute(stream, hipLaunchAttributeCooperative, &mut value()));
    fails!(hipErrorInvalidResourceHandle, hipStreamGetAttribute(nobody, priority, &mut value()));
    fails!(hipErrorInvalidResourceHandle, hipStreamSetAttribute(nobody, priority, &value()));
    ok!(hipStreamDestroy(stream));
}

// proves: hipStreamCopyAttributes
#[test]
fn a_stream_can_take_over_the_attributes_of_another() {
    let (stream, mut urgent) = (new_stream(), hipStream_t::NULL);
    ok!(hipStreamCreateWithPriority(&mut urgent, hipStreamNonBlocking, -1));
    let policy = hipLaunchAttributeValue { syncPolicy: hipSyncPolicySpin };
    ok!(
        hipStreamSetAttribute(urgent, hipLaunchAttributeSynchronizationPolicy, &policy),
        hipStreamCopyAttributes(stream, urgent),
    );
    assert_eq!(
        get::<hipSynchronizationPolicy>(stream, hipLaunchAttributeSynchronizationPolicy),
        hipSyncPolicySpin
    );
    assert_eq!(priority(stream), -1);
    let mut flags = 7;
    ok!(hipStreamGetFlags(stream, &mut flags));
    assert_eq!(flags, hipStreamDefault, "a flag is no attribute");
    ok!(hipStreamCopyAttributes(stream, stream), hipStreamDestroy(urgent));
    fails!(hipErrorInvalidValue, hipStreamCopyAttributes(stream, urgent));
    fails!(hipErrorInvalidValue, hipStreamCopyAttributes(urgent, stream));
    ok!(hipStreamDestroy(stream));
}

// proves: hipStreamCreateWithFlags, hipStreamCreateWithPriority, hipStreamGetFlags, hipStreamGetPriority
// proves: hipStreamGetDevice
#[test]
fn a_stream_tells_what_it_was_created_with() {
    let (mut stream, mut flags, mut device) = (hipStream_t::NULL, 7, -1);
    for wanted in [hipStreamDefault, hipStreamNonBlocking] {
        ok!(hipStreamCreateWithFlags(&mut stream, wanted), hipStreamGetFlags(stream, &mut flags));
        assert_eq!((flags, priority(stream)), (wanted, 0));
        ok!(hipStreamGetDevice(stream, &mut device), hipStreamDestroy(stream));
        assert_eq!(device, 0);
    }
    for (asked, granted) in [(-1, -1), (0, 0), (1, 1), (-9, -1), (9, 1)] {
        ok!(hipStreamCreateWithPriority(&mut stream, hipStreamNonBlocking, asked));
        assert_eq!(priority(stream), granted, "{asked} is clamped to the device's range");
        ok!(hipStreamGetFlags(stream, &mut flags), hipStreamDestroy(stream));
        assert_eq!(flags, hipStreamNonBlocking);
    }
    ok!(hipStreamGetDevice(hipStream_t::NULL, &mut device));
    fails!(hipErrorInvalidValue, hipStreamCreateWithFlags(&mut stream, 2));
    fails!(hipErrorInvalidValue, hipStreamCreateWithFlags(ptr::null_mut(), 0));
    fails!(hipErrorInvalidValue, hipStreamCreateWithPriority(&mut stream, 2, 0));
    fails!(hipErrorInvalidValue, hipStreamCreateWithPriority(ptr::null_mut(), 0, 0));
    // `stream` is a stale handle by now.
    fails!(hipErrorContextIsDestroyed, hipStreamGetFlags(stream, &mut flags));
    fails!(hipErrorContextIsDestroyed, hipStreamGetPriority(stream, &mut 0));
    fails!(hipErrorContextIsDestroyed, hipStreamGetDevice(stream, &mut device));
    fails!(hipErrorInvalidValue, hipStreamGetPriority(hipStream_t::NULL, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipStreamGetDevice(hipStream_t::NULL, ptr::null_mut()));
}

/// What a callback was called with, in the order of the calls.
#[derive(Default)]
struct Calls {
    count: AtomicU32,
    failed: AtomicU32,
    /// The stream of the last call.
    stream: std::sync::atomic::AtomicUsize,
}

unsafe extern "C" fn called(stream: hipStream_t, status: hipError_t, data: *mut c_void) {
    // SAFETY: the test gave the counters, which outlive the stream's work.
    let calls = unsafe { &*data.cast::<Calls>() };
    calls.stream.store(stream.0, Ordering::Relaxed);
    calls.failed.fetch_add(u32::from(status != capi::error::hipSuccess), Ordering::Relaxed);
    calls.count.fetch_add(1, Ordering::Release);
}

// proves: hipStreamAddCallback, hipStreamAddCallback_spt
#[test]
fn a_callback_is_called_once_with_its_stream() {
    let (stream, calls) = (new_stream(), Calls::default());
    let data = (&raw const calls).cast_mut().cast();
    for n in 1..4 {
        ok!(hipStreamAddCallback(stream, Some(called), data, 0), hipStreamSynchronize(stream));
        assert_eq!(calls.count.load(Ordering::Acquire), n);
        assert_eq!(calls.stream.load(Ordering::Relaxed), stream.0);
    }
    ok!(
        hipStreamAddCallback_spt(hipStream_t::NULL, Some(called), data, 0),
        hipStreamSynchronize(hipStreamPerThread),
    );
    assert_eq!((calls.count.load(Ordering::Acquire), calls.failed.load(Ordering::Relaxed)), (4, 0));
    fails!(hipErrorInvalidValue, hipStreamAddCallback(stream, None, data, 0));
    fails!(hipErrorInvalidValue, hipStreamAddCallback(stream, Some(called), data, 1));
    ok!(hipStreamDestroy(stream));
    fails!(hipErrorContextIsDestroyed, hipStreamAddCallback(stream, Some(called), data, 0));
    assert_eq!(calls.count.load(Ordering::Acquire), 4);
}

// proves: hipEventCreateWithFlags
#[test]
fn an_event_without_timing_has_no_time() {
    let (stream, mut timed, mut untimed) = (new_stream(), hipEvent_t::NULL, hipEvent_t::NULL);
    ok!(
        hipEventCreateWithFlags(&mut timed, hipEventBlockingSync),
        hipEventCreateWithFlags(&mut untimed, hipEventDisableTiming),
        hipEventRecord(timed, stream),
        hipEventRecord(untimed, stream),
        hipStreamSynchronize(stream),
    );
    let mut elapsed = -1.0;
    ok!(hipEventElapsedTime(&mut elapsed, timed, timed));
    assert_eq!(elapsed, 0.0);
    fails!(hipErrorInvalidHandle, hipEventElapsedTime(&mut elapsed, timed, untimed));
    fails!(hipErrorInvalidValue, hipEventCreateWithFlags(&mut timed, 0x100));
    fails!(hipErrorInvalidValue, hipEventCreateWithFlags(ptr::null_mut(), 0));
    ok!(hipEventDestroy(timed), hipEventDestroy(untimed), hipStreamDestroy(stream));
}
