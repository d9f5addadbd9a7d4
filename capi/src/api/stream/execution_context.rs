//! Execution contexts: a device, or some of its compute units, and the streams of its own.

use std::{
    ffi::{c_int, c_uint},
    sync::OnceLock,
};

use aqlipse::{ExecutionContext, StreamKind};

use super::work::{GREATEST_PRIORITY, LEAST_PRIORITY};
use crate::{
    api::device::resource::{Units, store},
    caller, current,
    error::{hipError_t, hipErrorInvalidDevice, hipErrorInvalidHandle, hipErrorInvalidValue},
    handle::{Kind, Table},
    object::{self, STREAMS},
    types::*,
};

static CONTEXTS: Table<ExecutionContext> = Table::new(Kind::ExecutionContext);
/// Descriptors are never given back: the same units have the same one.
static DESCRIPTORS: Table<Units> = Table::new(Kind::ResourceDescriptor);

/// The contexts of whole devices, by ordinal.
fn of_devices() -> Result<&'static [usize], hipError_t> {
    static HANDLES: OnceLock<Result<Vec<usize>, hipError_t>> = OnceLock::new();
    let make = || {
        let devices = current::devices()?;
        devices.iter().map(|device| CONTEXTS.insert(ExecutionContext::of_device(device))).collect()
    };
    HANDLES.get_or_init(make).as_ref().map(Vec::as_slice).map_err(|code| *code)
}

/// The context behind a handle.
///
/// # Errors
/// `hipErrorInvalidValue`.
fn context(handle: hipExecutionCtx_t) -> Result<ExecutionContext, hipError_t> {
    CONTEXTS.get(handle.0).ok_or(hipErrorInvalidValue)
}

fn units_of(context: &ExecutionContext) -> Units {
    Units { device: context.device().clone(), mask: context.units() }
}

entry! {
    /// Stores a descriptor of compute units of one device, all of the resources together.
    fn hipDevResourceGenerateDesc(
        descriptor: *mut hipDevResourceDesc_t,
        resources: *mut hipDevResource,
        count: c_uint,
    ) -> hipError_t {
        if descriptor.is_null() || count == 0 {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's array, null or readable.
        let resources = unsafe { caller::read_slice(resources, count as usize) }?;
        let mut all: Option<Units> = None;
        for resource in &resources {
            let more = Units::of(resource)?;
            let Some(all) = &mut all else {
                all = Some(more);
                continue;
            };
            if all.device != more.device {
                return Err(hipErrorInvalidDevice);
            }
            all.mask.iter_mut().zip(&more.mask).for_each(|(all, more)| *all |= more);
        }
        let all = all.ok_or(hipErrorInvalidValue)?;
        let known = DESCRIPTORS.find(|units| *units == all);
        let handle = known.map_or_else(|| DESCRIPTORS.insert(all), Ok)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(descriptor, hipDevResourceDesc_t(handle)) }
    }
}

entry! {
    /// Creates a context of the compute units of a descriptor; there are no flags.
    fn hipGreenCtxCreate(
        context: *mut hipExecutionCtx_t,
        descriptor: hipDevResourceDesc_t,
        device: hipDevice_t,
        flags: c_uint,
    ) -> hipError_t {
        if context.is_null() || flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let device = current::device_at(device)?;
        let units = DESCRIPTORS.get(descriptor.0).ok_or(hipErrorInvalidValue)?;
        if units.device != device {
            return Err(hipErrorInvalidDevice);
        }
        let handle = CONTEXTS.give(ExecutionContext::on_units(&device, &units.mask)?)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(context, hipExecutionCtx_t(handle)) }
    }
}

entry! {
    /// Destroys a context; its streams complete what they have, and can only be destroyed. That of a device stays.
    fn hipExecutionCtxDestroy(context_: hipExecutionCtx_t) -> hipError_t {
        if of_devices()?.contains(&context_.0) {
            return Err(hipErrorInvalidValue);
        }
        CONTEXTS.remove(context_.0).ok_or(hipErrorInvalidValue)?.destroy();
        Ok(())
    }
}

entry! {
    /// Stores the context of a whole device.
    fn hipDeviceGetExecutionCtx(context: *mut hipExecutionCtx_t, device: hipDevice_t) -> hipError_t {
        if context.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let ordinal = current::device_at(device)?.ordinal();
        let handle = of_devices()?.get(ordinal).copied().ok_or(hipErrorInvalidDevice)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(context, hipExecutionCtx_t(handle)) }
    }
}

entry! {
    /// Creates a stream on a context's compute units; `flags` is `hipStreamDefault` or `hipStreamNonBlocking`.
    fn hipExecutionCtxStreamCreate(
        stream: *mut hipStream_t,
        context_: hipExecutionCtx_t,
        flags: c_uint,
        priority: c_int,
    ) -> hipError_t {
        let kind = match flags {
            hipStreamDefault => StreamKind::Blocking,
            hipStreamNonBlocking => StreamKind::NonBlocking,
            _ => return Err(hipErrorInvalidValue),
        };
        if stream.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
        let handle = STREAMS.give(context(context_)?.stream(kind, priority)?)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(stream, hipStream_t(handle)) }
    }
}

entry! {
    /// Stores the compute units of a context.
    fn hipExecutionCtxGetDevResource(
        context_: hipExecutionCtx_t,
        resource: *mut hipDevResource,
        kind: hipDevResourceType,
    ) -> hipError_t {
        // SAFETY: the caller's pointer, null or writable.
        unsafe { store(resource, kind, &units_of(&context(context_)?)) }
    }
}

entry! {
    /// Stores the device of a context.
    fn hipExecutionCtxGetDevice(device: *mut hipDevice_t, context_: hipExecutionCtx_t) -> hipError_t {
        let ordinal = context(context_)?.device().ordinal();
        // SAFETY: the caller's pointer, null or writable. CAST: ordinals are small.
        unsafe { caller::write(device, ordinal as hipDevice_t) }
    }
}

entry! {
    /// Stores a number that no other context of the process has.
    fn hipExecutionCtxGetId(context_: hipExecutionCtx_t, id: *mut u64) -> hipError_t {
        let found = context(context_)?.id();
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(id, found) }
    }
}

entry! {
    /// Marks in an event what is on all streams of a context.
    fn hipExecutionCtxRecordEvent(context_: hipExecutionCtx_t, event: hipEvent_t) -> hipError_t {
        let context = context(context_)?;
        let event = object::event(event)?;
        Ok(context.record_event(&event)?)
    }
}

entry! {
    /// Waits until everything on a context's streams has completed.
    fn hipExecutionCtxSynchronize(context_: hipExecutionCtx_t) -> hipError_t {
        Ok(CONTEXTS.get(context_.0).ok_or(hipErrorInvalidHandle)?.synchronize()?)
    }
}

entry! {
    /// Holds later work of a context's streams back until an event has been reached.
    fn hipExecutionCtxWaitEvent(context_: hipExecutionCtx_t, event: hipEvent_t) -> hipError_t {
        let context = context(context_)?;
        let event = object::event(event)?;
        Ok(context.wait(&event)?)
    }
}
