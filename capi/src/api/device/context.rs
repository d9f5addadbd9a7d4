//! Contexts: each device has one, its primary context, and every handle of a context is that of a device.
//!
//! A thread's current context is its current device. What was current before a push stands on the thread's stack.

use std::{
    cell::RefCell,
    ffi::{c_int, c_uint},
    sync::OnceLock,
};

use aqlipse::Device;
use parking_lot::{Mutex, MutexGuard};

use super::configuration::{flag_of, reset, schedule, set_flags};
use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidContext, hipErrorInvalidDevice, hipErrorInvalidValue},
    handle::{Kind, Table},
    types::{hipCtx_t, hipDevice_t},
};

static CONTEXTS: Table<usize> = Table::new(Kind::Context);

thread_local! {
    /// Ordinals of the devices that were current before the pushes of this thread.
    static BEFORE: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The flags of a device's context.
fn flags_of(device: &Device) -> c_uint {
    flag_of(device.wait_policy().unwrap_or_default())
}

/// How often each device's context is retained.
static RETAINED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// The context of a device.
///
/// # Errors
/// `hipErrorInvalidDevice` if there is no such device, `hipErrorOutOfMemory`.
pub(crate) fn of_device(ordinal: c_int) -> Result<hipCtx_t, hipError_t> {
    static HANDLES: OnceLock<Result<Vec<usize>, hipError_t>> = OnceLock::new();
    let device = current::device_at(ordinal)?;
    let make = || {
        let devices = current::devices()?.len();
        (0..devices).map(|ordinal| CONTEXTS.insert(ordinal)).collect()
    };
    let handles = HANDLES.get_or_init(make).as_ref().map_err(|code| *code)?;
    handles.get(device.ordinal()).map(|&handle| hipCtx_t(handle)).ok_or(hipErrorInvalidContext)
}

/// The device of a context.
///
/// # Errors
/// `hipErrorInvalidContext` if there is no such context.
pub(crate) fn device_of(context: hipCtx_t) -> Result<c_int, hipError_t> {
    // CAST: ordinals are small.
    CONTEXTS.get(context.0).map(|ordinal| ordinal as c_int).ok_or(hipErrorInvalidContext)
}

/// Makes a device current until the matching [`pop`].
fn push(ordinal: c_int) -> Result<(), hipError_t> {
    let before = current::ordinal();
    current::set(ordinal)?;
    BEFORE.with_borrow_mut(|stack| stack.push(before));
    Ok(())
}

/// Makes current again what was so before the latest push; whether there was one.
fn pop() -> Result<bool, hipError_t> {
    match BEFORE.with_borrow_mut(Vec::pop) {
        // CAST: ordinals are small.
        Some(ordinal) => current::set(ordinal as c_int).map(|()| true),
        None => Ok(false),
    }
}

/// The context of the calling thread.
fn own() -> Result<hipCtx_t, hipError_t> {
    // CAST: ordinals are small.
    of_device(current::ordinal() as c_int)
}

entry! {
    /// Stores the context of a device and pushes it.
    fn hipCtxCreate(context: *mut hipCtx_t, flags: c_uint, device: hipDevice_t) -> hipError_t {
        if context.is_null() {
            return Err(hipErrorInvalidValue);
        }
        schedule(flags)?;
        // HIP: 5.2.3, hipErrorInvalidValue for a device that does not exist (tests/conformance/context_stack.cpp).
        let handle = of_device(device).map_err(|code| match code {
            hipErrorInvalidDevice => hipErrorInvalidValue,
            code => code,
        })?;
        push(device)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(context, handle) }
    }
}

entry! {
    /// Pops a context if it is current; the device stays.
    fn hipCtxDestroy(context: hipCtx_t) -> hipError_t {
        if context == hipCtx_t::NULL {
            return Err(hipErrorInvalidValue);
        }
        let device = device_of(context)?;
        // CAST: ordinals are small.
        if device == current::ordinal() as c_int {
            pop()?;
        }
        Ok(())
    }
}

entry! {
    /// Pops the current context and stores it, if that is wanted.
    fn hipCtxPopCurrent(context: *mut hipCtx_t) -> hipError_t {
        let popped = own()?;
        if !pop()? {
            return Err(hipErrorInvalidContext);
        }
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write_if_wanted(context, popped) };
        Ok(())
    }
}

entry! {
    /// Makes a context current until it is popped.
    fn hipCtxPushCurrent(context: hipCtx_t) -> hipError_t {
        push(device_of(context)?)
    }
}

entry! {
    /// Puts a context in the place of the current one; null pops that.
    fn hipCtxSetCurrent(context: hipCtx_t) -> hipError_t {
        if context == hipCtx_t::NULL {
            return pop().map(drop);
        }
        current::set(device_of(context)?)
    }
}

entry! {
    /// Stores the current context.
    fn hipCtxGetCurrent(context: *mut hipCtx_t) -> hipError_t {
        let handle = own()?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(context, handle) }
    }
}

entry! {
    /// Stores the device of the current context.
    fn hipCtxGetDevice(device: *mut hipDevice_t) -> hipError_t {
        current::device()?;
        // SAFETY: the caller's pointer, null or writable. CAST: ordinals are small.
        unsafe { caller::write(device, current::ordinal() as hipDevice_t) }
    }
}

entry! {
    /// Stores the version of the interface that a context offers, which is 4 for all, as the header says.
    fn hipCtxGetApiVersion(context: hipCtx_t, version: *mut c_uint) -> hipError_t {
        if context != hipCtx_t::NULL {
            device_of(context)?;
        }
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(version, 4) }
    }
}

entry! {
    /// Stores the flags of the current context.
    fn hipCtxGetFlags(flags: *mut c_uint) -> hipError_t {
        let found = flags_of(&current::device()?);
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(flags, found) }
    }
}

/// The counts of retained contexts, one for each device.
fn retained() -> Result<MutexGuard<'static, Vec<u32>>, hipError_t> {
    let devices = current::devices()?.len();
    let mut counts = RETAINED.lock();
    counts.resize(devices, 0);
    Ok(counts)
}

entry! {
    /// Stores a device's context and keeps it active until it is released.
    fn hipDevicePrimaryCtxRetain(context: *mut hipCtx_t, device: hipDevice_t) -> hipError_t {
        if context.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let handle = of_device(device)?;
        let ordinal = current::device_at(device)?.ordinal();
        let count = &mut retained()?[ordinal];
        *count = count.checked_add(1).ok_or(hipErrorInvalidValue)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(context, handle) }
    }
}

entry! {
    /// Takes one retaining of a device's context back.
    fn hipDevicePrimaryCtxRelease(device: hipDevice_t) -> hipError_t {
        let ordinal = current::device_at(device)?.ordinal();
        let count = &mut retained()?[ordinal];
        *count = count.checked_sub(1).ok_or(hipErrorInvalidContext)?;
        Ok(())
    }
}

entry! {
    /// Stores the flags of a device's context, and whether it is active: retained, or current where that is asked;
    /// of both what is wanted.
    // HIP: 5.2.3 accepts null (tests/conformance/context_primary.cpp).
    fn hipDevicePrimaryCtxGetState(device: hipDevice_t, flags: *mut c_uint, active: *mut c_int) -> hipError_t {
        let device = current::device_at(device)?;
        let is_active = retained()?[device.ordinal()] > 0 || device.ordinal() == current::ordinal();
        // SAFETY: the caller's pointers, null or writable.
        unsafe {
            caller::write_if_wanted(flags, flags_of(&device));
            caller::write_if_wanted(active, c_int::from(is_active));
        }
        Ok(())
    }
}

entry! {
    /// Sets the flags of a device's context.
    fn hipDevicePrimaryCtxSetFlags(device: hipDevice_t, flags: c_uint) -> hipError_t {
        set_flags(&current::device_at(device)?, flags)
    }
}

entry! {
    /// Destroys the streams and frees the memory of a device, if there is one with this number.
    // HIP: 5.2.3 and AMD's runtime of October 2024 take any number (tests/conformance/context_primary.cpp).
    fn hipDevicePrimaryCtxReset(device: hipDevice_t) -> hipError_t {
        match current::device_at(device) {
            Ok(device) => reset(&device),
            Err(hipErrorInvalidDevice) => Ok(()),
            Err(code) => Err(code),
        }
    }
}
