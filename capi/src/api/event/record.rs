//! Events.

use std::ffi::c_uint;

use aqlipse::{Event, WaitPolicy};

use crate::{
    caller, current,
    error::{
        hipError_t, hipErrorContextIsDestroyed, hipErrorInvalidHandle, hipErrorInvalidValue, hipErrorNotReady,
    },
    object::{self, EVENTS},
    types::{
        hipEvent_t, hipEventBlockingSync, hipEventDisableSystemFence, hipEventDisableTiming,
        hipEventInterprocess, hipEventRecordDefault, hipEventRecordExternal, hipEventReleaseToDevice,
        hipEventReleaseToSystem, hipStream_t,
    },
};

fn create(event: *mut hipEvent_t, flags: c_uint) -> Result<(), hipError_t> {
    let known = hipEventBlockingSync
        | hipEventDisableTiming
        | hipEventReleaseToDevice
        | hipEventReleaseToSystem
        | hipEventDisableSystemFence;
    if event.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let both = hipEventReleaseToDevice | hipEventReleaseToSystem;
    if flags & !(known | hipEventInterprocess) != 0 || flags & both == both {
        return Err(hipErrorInvalidValue);
    }
    let timing = flags & hipEventDisableTiming == 0;
    let interprocess = flags & hipEventInterprocess != 0;
    // The header: an event for other processes cannot be measured.
    if interprocess && timing {
        return Err(hipErrorInvalidValue);
    }
    // HIP: measured on 5.2.3 (tests/conformance/devices_events.hip): a stream of another device does not record it.
    let device = current::device()?;
    let fresh = if interprocess { Event::interprocess()? } else { Event::of(&device, timing) };
    if flags & hipEventBlockingSync != 0 {
        fresh.set_wait_policy(WaitPolicy::Block);
    }
    let handle = EVENTS.give(fresh)?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(event, hipEvent_t(handle)) }
}

entry! {
    /// Creates an event that can be measured.
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t {
        create(event, 0)
    }
}

entry! {
    /// Creates an event.
    fn hipEventCreateWithFlags(event: *mut hipEvent_t, flags: c_uint) -> hipError_t {
        create(event, flags)
    }
}

entry! {
    /// Destroys an event; what waits for it still does.
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t {
        if event == hipEvent_t::NULL {
            return Err(hipErrorInvalidHandle);
        }
        // HIP: the code of AMD's newer runtimes; 5.2.3 crashes.
        EVENTS.remove(event.0).map(drop).ok_or(hipErrorContextIsDestroyed)
    }
}

entry! {
    /// Marks the present end of a stream in an event.
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t {
        let event = object::event(event)?;
        Ok(object::stream(stream)?.record_event(&event)?)
    }
}

entry! {
    /// Marks the present end of a stream in an event; an external one is a node in a capture.
    fn hipEventRecordWithFlags(event: hipEvent_t, stream: hipStream_t, flags: c_uint) -> hipError_t {
        let event = object::event(event)?;
        let stream = object::stream(stream)?;
        match flags {
            hipEventRecordDefault => Ok(stream.record_event(&event)?),
            hipEventRecordExternal => Ok(stream.record_event_external(&event)?),
            _ => Err(hipErrorInvalidValue),
        }
    }
}

entry! {
    /// Waits until an event has been reached: `hipErrorCapturedEvent` for one that was recorded in a capture, in any mode.
    fn hipEventSynchronize(event: hipEvent_t) -> hipError_t {
        Ok(object::event(event)?.synchronize()?)
    }
}

entry! {
    /// Whether an event has been reached: `hipErrorNotReady` if not.
    fn hipEventQuery(event: hipEvent_t) -> hipError_t {
        if object::event(event)?.is_complete()? { Ok(()) } else { Err(hipErrorNotReady) }
    }
}

entry! {
    /// Stores the milliseconds between two events.
    fn hipEventElapsedTime(milliseconds: *mut f32, start: hipEvent_t, stop: hipEvent_t) -> hipError_t {
        if milliseconds.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let time = object::event(stop)?.elapsed_since(&object::event(start)?)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(milliseconds, time) }
    }
}
