//! Streams.

use std::ffi::{c_int, c_uint, c_void};

use aqlipse::{Stream, StreamKind, capture, memory};

use crate::{
    caller, current,
    error::{
        hipError_t, hipErrorContextIsDestroyed, hipErrorInvalidHandle, hipErrorInvalidValue, hipErrorNotReady,
    },
    object::{self, STREAMS},
    types::{
        hipDevice_t, hipEvent_t, hipEventWaitDefault, hipEventWaitExternal, hipMemAttachGlobal,
        hipMemAttachHost, hipMemAttachSingle, hipStream_t, hipStreamDefault, hipStreamNonBlocking,
    },
};

/// The priorities that `hipDeviceGetStreamPriorityRange` reports: least and greatest.
pub(super) const LEAST_PRIORITY: c_int = 1;
pub(super) const GREATEST_PRIORITY: c_int = -1;

fn create(stream: *mut hipStream_t, flags: c_uint, priority: c_int) -> Result<(), hipError_t> {
    let kind = match flags {
        hipStreamDefault => StreamKind::Blocking,
        hipStreamNonBlocking => StreamKind::NonBlocking,
        _ => return Err(hipErrorInvalidValue),
    };
    if stream.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
    let handle = STREAMS.give(Stream::new(&current::device()?, kind, priority))?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(stream, hipStream_t(handle)) }
}

entry! {
    /// Creates a stream that orders itself with the default stream.
    fn hipStreamCreate(stream: *mut hipStream_t) -> hipError_t {
        create(stream, hipStreamDefault, 0)
    }
}

entry! {
    /// Creates a stream; `flags` is `hipStreamDefault` or `hipStreamNonBlocking`.
    fn hipStreamCreateWithFlags(stream: *mut hipStream_t, flags: c_uint) -> hipError_t {
        create(stream, flags, 0)
    }
}

entry! {
    /// Creates a stream with a priority, which is clamped to the device's range.
    fn hipStreamCreateWithPriority(stream: *mut hipStream_t, flags: c_uint, priority: c_int) -> hipError_t {
        create(stream, flags, priority)
    }
}

entry! {
    /// Stores the numerically greatest (least urgent) and smallest (most urgent) priority of a stream.
    fn hipDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> hipError_t {
        current::device()?;
        // SAFETY: the caller's pointers, null or writable.
        unsafe {
            caller::write_if_wanted(least, LEAST_PRIORITY);
            caller::write_if_wanted(greatest, GREATEST_PRIORITY);
        }
        Ok(())
    }
}

entry! {
    /// Destroys a stream; what is on it still runs.
    fn hipStreamDestroy(stream: hipStream_t) -> hipError_t {
        if stream.0 <= 2 {
            return Err(hipErrorInvalidHandle);
        }
        STREAMS.remove(stream.0).map(drop).ok_or(hipErrorContextIsDestroyed)?;
        crate::api::capture::sequence::forget_abandoned();
        Ok(())
    }
}

entry! {
    /// Waits until everything on a stream has completed.
    fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t {
        Ok(object::stream(stream)?.synchronize()?)
    }
}

entry! {
    /// Whether everything on a stream has completed: `hipErrorNotReady` if not.
    fn hipStreamQuery(stream: hipStream_t) -> hipError_t {
        if object::stream(stream)?.is_idle()? { Ok(()) } else { Err(hipErrorNotReady) }
    }
}

entry! {
    /// Holds later work of a stream back until an event has been reached.
    fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t {
        // HIP: AMD's runtime of October 2024, which answers other calls on such a stream with
        // hipErrorContextIsDestroyed (tests/conformance/stream_stale_handles.cpp).
        let stream = object::stream(stream).map_err(|error| match error {
            hipErrorContextIsDestroyed => hipErrorInvalidHandle,
            error => error,
        })?;
        let event = object::event(event)?;
        match flags {
            hipEventWaitDefault => Ok(stream.wait(&event)?),
            hipEventWaitExternal => Ok(stream.wait_external(&event)?),
            _ => Err(hipErrorInvalidValue),
        }
    }
}

entry! {
    /// Stores the flags that a stream was created with; the null stream was not.
    fn hipStreamGetFlags(stream: hipStream_t, flags: *mut c_uint) -> hipError_t {
        // HIP: measured on 5.2.3 (tests/conformance/stream_special_handles.cpp).
        if stream == hipStream_t::NULL {
            return Err(hipErrorInvalidValue);
        }
        let stream = object::stream(stream)?;
        let value = if stream.kind() == StreamKind::NonBlocking { hipStreamNonBlocking } else { hipStreamDefault };
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(flags, value) }
    }
}

entry! {
    /// Stores a stream's priority.
    fn hipStreamGetPriority(stream: hipStream_t, priority: *mut c_int) -> hipError_t {
        let stream = object::stream(stream)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(priority, stream.priority()) }
    }
}

entry! {
    /// Stores a number that no other stream of the process has.
    fn hipStreamGetId(stream: hipStream_t, id: *mut u64) -> hipError_t {
        if id.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let stream = object::stream(stream)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(id, stream.id()) }
    }
}

entry! {
    /// Stores the device of a stream.
    fn hipStreamGetDevice(stream: hipStream_t, device: *mut hipDevice_t) -> hipError_t {
        let stream = object::stream(stream)?;
        // SAFETY: the caller's pointer, null or writable. CAST: ordinals are small.
        unsafe { caller::write(device, stream.device().ordinal() as hipDevice_t) }
    }
}

entry! {
    /// The ordinal of a stream's device; -1 if there is no such stream.
    plain fn hipGetStreamDeviceId(stream: hipStream_t) -> c_int, or -1; {
        // CAST: ordinals are small.
        object::stream(stream).map_or(-1, |stream| stream.device().ordinal() as c_int)
    }
}

entry! {
    /// Creates a stream that orders itself with the default stream, on some of the device's compute units, a bit each.
    fn hipExtStreamCreateWithCUMask(stream: *mut hipStream_t, words: u32, mask: *const u32) -> hipError_t {
        // HIP: measured on 5.2.3 (tests/conformance/stream_cu_mask.cpp).
        if stream.is_null() {
            return Err(hipErrorInvalidHandle);
        }
        if words == 0 {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's array, null or readable.
        let mask = unsafe { caller::read_slice(mask, words as usize) }?;
        let handle = STREAMS.give(Stream::on_units(&current::device()?, &mask))?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(stream, hipStream_t(handle)) }
    }
}

entry! {
    /// Stores which compute units a stream's kernels may run on, a bit each.
    fn hipExtStreamGetCUMask(stream: hipStream_t, words: u32, mask: *mut u32) -> hipError_t {
        let units = object::stream(stream)?.units();
        // HIP: 5.2.3 takes no array that lacks a word (tests/conformance/stream_cu_mask.cpp).
        if mask.is_null() || (words as usize) < units.len() {
            return Err(hipErrorInvalidValue);
        }
        for (word, bits) in units.into_iter().enumerate() {
            // SAFETY: the caller's array of `words` words, which is not null.
            unsafe { caller::write(mask.add(word), bits) }?;
        }
        Ok(())
    }
}

entry! {
    /// Binds memory to a stream: an allocation as a whole, whose length may be given as 0. All of ours is coherent for
    /// every stream and the host at any time, so there is nothing to bind.
    fn hipStreamAttachMemAsync(
        stream: hipStream_t,
        address: *mut c_void,
        bytes: usize,
        flags: c_uint,
    ) -> hipError_t {
        // HIP: AMD's runtime of October 2024 (tests/conformance/stream_attach_memory.cpp), for memory of all kinds.
        if !matches!(flags, hipMemAttachGlobal | hipMemAttachHost | hipMemAttachSingle) {
            return Err(hipErrorInvalidValue);
        }
        let stream = object::stream(stream)?;
        let region = memory::find(address as u64)?.ok_or(hipErrorInvalidValue)?;
        if bytes != 0 && (address as u64, bytes as u64) != (region.address, region.bytes) {
            return Err(hipErrorInvalidValue);
        }
        Ok(capture::refuse_uncapturable(&stream, "binding memory to a stream")?)
    }
}
