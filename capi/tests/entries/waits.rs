//! How threads wait: by what the system says of a thread that does.

use std::{ffi::c_uint, fs, ptr, sync::mpsc::channel, thread, time::Duration};

use capi::{error::hipError_t, types::*};

use super::*;
use crate::{in_flight::Gate, process};

unsafe extern "C" {
    fn hipSetDeviceFlags(flags: c_uint) -> hipError_t;
    fn hipDeviceReset() -> hipError_t;
    fn hipDeviceSynchronize() -> hipError_t;
    fn hipStreamSetAttribute(
        stream: hipStream_t,
        attribute: hipLaunchAttributeID,
        value: *const hipLaunchAttributeValue,
    ) -> hipError_t;
    fn hipEventCreateWithFlags(event: *mut hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    fn hipEventSynchronize(event: hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
}

/// What a thread does while it waits.
#[derive(Debug, PartialEq)]
enum Waits {
    Asleep,
    Busy,
}

/// How often a thread of this process has gone to sleep by itself, and its processor time in ticks of a hundredth of a
/// second.
fn sleeps_and_ticks(thread: i32) -> (u64, u64) {
    let read =
        |name| fs::read_to_string(format!("/proc/self/task/{thread}/{name}")).expect("a living thread");
    let status = read("status");
    let sleeps = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    let stat = read("stat");
    // Behind the name, which may hold anything, the 14th and 15th of all: in user and in kernel mode.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |n: usize| fields[n].parse::<u64>().unwrap();
    (sleeps.unwrap().trim().parse().unwrap(), ticks(11) + ticks(12))
}

/// Whether ROCr has been told to load `libdtif.so` (docs/adr/0042): it makes no events then, and all its waits spin.
fn all_waits_spin() -> bool {
    let says = |name, value| std::env::var_os(name).is_some_and(|said| said == value);
    says("AQLIPSE_DEVICE", "rocr") && says("HSA_ENABLE_DTIF", "1")
}

/// What a thread does in `wait`, which must not return before the stream goes on.
fn observe(stream: hipStream_t, wait: impl FnOnce() + Send) -> Waits {
    let gate = Gate::default();
    gate.stand_in_the_way_of(stream);
    let (tell, told) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            // SAFETY: asks for a number.
            tell.send(unsafe { libc::gettid() }).unwrap();
            wait();
        });
        let waiting = told.recv().unwrap();
        let before = sleeps_and_ticks(waiting);
        // Whichever comes first: a wait that sleeps looks for faults now and then, one that does not uses the processor.
        let seen = loop {
            let now = sleeps_and_ticks(waiting);
            if now.0 >= before.0 + 10 {
                break Waits::Asleep;
            }
            if now.1 >= before.1 + 5 {
                break Waits::Busy;
            }
            thread::sleep(Duration::from_millis(2));
        };
        gate.open();
        seen
    })
}

// proves: hipSetDeviceFlags
#[test]
fn threads_wait_for_a_device_as_its_flags_say() {
    // They are the device's, and other tests wait for it too.
    if !process::with_devices("waits::threads_wait_for_a_device_as_its_flags_say", 1) {
        return;
    }
    let (stream, mut event) = (new_stream(), hipEvent_t::NULL);
    ok!(hipEventCreateWithFlags(&mut event, 0));
    for (flags, expected) in [
        (hipDeviceScheduleAuto, Waits::Asleep),
        (hipDeviceScheduleSpin, Waits::Busy),
        (hipDeviceScheduleYield, Waits::Busy),
        (hipDeviceScheduleBlockingSync, Waits::Asleep),
    ] {
        ok!(hipSetDeviceFlags(flags));
        assert_eq!(observe(stream, || ok!(hipStreamSynchronize(stream))), expected, "{flags}");
        assert_eq!(observe(stream, || ok!(hipDeviceSynchronize())), expected, "{flags}, the device");
        let seen = observe(stream, || {
            ok!(hipEventRecord(event, stream), hipEventSynchronize(event));
        });
        assert_eq!(seen, expected, "{flags}, an event");
    }
    ok!(hipEventDestroy(event), hipStreamDestroy(stream));
    // A reset takes the flags back.
    ok!(hipSetDeviceFlags(hipDeviceScheduleSpin), hipDeviceReset());
    let stream = new_stream();
    assert_eq!(observe(stream, || ok!(hipStreamSynchronize(stream))), Waits::Asleep);
    ok!(hipStreamDestroy(stream));
}

// proves: hipStreamSetAttribute
#[test]
fn threads_wait_for_a_stream_as_its_attribute_says() {
    if all_waits_spin() {
        return;
    }
    let stream = new_stream();
    for (policy, expected) in [
        (hipSyncPolicySpin, Waits::Busy),
        (hipSyncPolicyBlockingSync, Waits::Asleep),
        (hipSyncPolicyYield, Waits::Busy),
        (hipSyncPolicyAuto, Waits::Asleep),
    ] {
        ok!(hipStreamSetAttribute(
            stream,
            hipLaunchAttributeSynchronizationPolicy,
            ptr::from_ref(&policy).cast()
        ));
        assert_eq!(observe(stream, || ok!(hipStreamSynchronize(stream))), expected, "{policy:?}");
    }
    ok!(hipStreamDestroy(stream));
}

// proves: hipEventCreateWithFlags
#[test]
fn an_event_that_blocks_is_waited_for_asleep() {
    if !process::with_devices("waits::an_event_that_blocks_is_waited_for_asleep", 1) {
        return;
    }
    let (stream, mut event) = (new_stream(), hipEvent_t::NULL);
    ok!(hipEventCreateWithFlags(&mut event, hipEventBlockingSync), hipSetDeviceFlags(hipDeviceScheduleSpin));
    let seen = observe(stream, || {
        ok!(hipEventRecord(event, stream), hipEventSynchronize(event));
    });
    assert_eq!(seen, Waits::Asleep);
    assert_eq!(observe(stream, || ok!(hipStreamSynchronize(stream))), Waits::Busy, "without the event");
    ok!(hipEventDestroy(event), hipStreamDestroy(stream));
}
