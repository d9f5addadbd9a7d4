//! What a program may set on a device: flags, limits, preferences; and its reset.

use std::{
    ffi::c_uint,
    sync::{Mutex, PoisonError},
};

use aqlipse::{Device, capture, memory, module::STACK_BYTES};

use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidValue, hipErrorUnsupportedLimit},
    object::STREAMS,
    types::*,
};

/// Flags of each device.
static FLAGS: Mutex<Vec<c_uint>> = Mutex::new(Vec::new());

/// `hipDeviceLmemResizeToMax` in headers before HIP 6, which holds two ways to wait.
const RESIZE_BEFORE_6: c_uint = 0x16;

/// The way to wait that flags of a device ask for; the two flags besides are ignored, as the header says.
///
/// # Errors
/// `hipErrorInvalidValue` if they ask for two, or for something else.
pub(super) fn schedule(flags: c_uint) -> Result<c_uint, hipError_t> {
    let resizes = flags & RESIZE_BEFORE_6 == RESIZE_BEFORE_6;
    let flags = if resizes { flags & !RESIZE_BEFORE_6 } else { flags };
    let schedule = flags & !(hipDeviceMapHost | hipDeviceLmemResizeToMax);
    if schedule & !hipDeviceScheduleMask != 0 || schedule.count_ones() > 1 {
        return Err(hipErrorInvalidValue);
    }
    Ok(schedule)
}

/// The flags of a device.
pub(super) fn flags_of(ordinal: usize) -> c_uint {
    let flags = FLAGS.lock().unwrap_or_else(PoisonError::into_inner);
    flags.get(ordinal).copied().unwrap_or(hipDeviceScheduleAuto)
}

/// Sets the flags of a device. How to wait is a wish: a wait sleeps when it takes long, and never spins for good.
pub(super) fn set_flags(ordinal: usize, value: c_uint) -> Result<(), hipError_t> {
    let schedule = schedule(value)?;
    let mut flags = FLAGS.lock().unwrap_or_else(PoisonError::into_inner);
    if flags.len() <= ordinal {
        flags.resize(ordinal + 1, hipDeviceScheduleAuto);
    }
    flags[ordinal] = schedule;
    Ok(())
}

entry! {
    /// Sets the flags of the current device.
    fn hipSetDeviceFlags(flags: c_uint) -> hipError_t {
        set_flags(current::device()?.ordinal(), flags)
    }
}

entry! {
    /// Stores the flags of the current device.
    fn hipGetDeviceFlags(flags: *mut c_uint) -> hipError_t {
        let found = flags_of(current::device()?.ordinal());
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(flags, found) }
    }
}

/// Accepts a preference between shared memory and cache, which AMD's hardware does not trade for each other.
pub(super) fn check_cache_config(config: hipFuncCache_t) -> Result<(), hipError_t> {
    if config.0 <= hipFuncCachePreferEqual.0 { Ok(()) } else { Err(hipErrorInvalidValue) }
}

/// Accepts a wish for the width of the banks of shared memory, which is fixed.
pub(super) fn check_bank_size(config: hipSharedMemConfig) -> Result<(), hipError_t> {
    if config.0 <= hipSharedMemBankSizeEightByte.0 { Ok(()) } else { Err(hipErrorInvalidValue) }
}

fn set_cache_config(config: hipFuncCache_t) -> Result<(), hipError_t> {
    current::device()?;
    check_cache_config(config)
}

fn set_bank_size(config: hipSharedMemConfig) -> Result<(), hipError_t> {
    current::device()?;
    check_bank_size(config)
}

unsafe fn get_cache_config(config: *mut hipFuncCache_t) -> Result<(), hipError_t> {
    current::device()?;
    // SAFETY: the caller's pointer, null or writable.
    unsafe { caller::write(config, hipFuncCachePreferNone) }
}

/// Stores the width of the banks: 4 bytes (MI200 ISA, 11.1).
unsafe fn get_bank_size(config: *mut hipSharedMemConfig) -> Result<(), hipError_t> {
    current::device()?;
    // SAFETY: the caller's pointer, null or writable.
    unsafe { caller::write(config, hipSharedMemBankSizeFourByte) }
}

entry! {
    /// Accepts a preference between shared memory and cache, a hint that AMD's hardware ignores.
    fn hipDeviceSetCacheConfig(config: hipFuncCache_t) -> hipError_t {
        set_cache_config(config)
    }
}

entry! {
    /// Accepts a preference between shared memory and cache, a hint that AMD's hardware ignores.
    fn hipCtxSetCacheConfig(config: hipFuncCache_t) -> hipError_t {
        set_cache_config(config)
    }
}

entry! {
    /// Stores the preference between shared memory and cache: none.
    fn hipDeviceGetCacheConfig(config: *mut hipFuncCache_t) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { get_cache_config(config) }
    }
}

entry! {
    /// Stores the preference between shared memory and cache: none.
    fn hipCtxGetCacheConfig(config: *mut hipFuncCache_t) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { get_cache_config(config) }
    }
}

entry! {
    /// Accepts a width of shared memory's banks, a hint that AMD's hardware ignores.
    fn hipDeviceSetSharedMemConfig(config: hipSharedMemConfig) -> hipError_t {
        set_bank_size(config)
    }
}

entry! {
    /// Accepts a width of shared memory's banks, a hint that AMD's hardware ignores.
    fn hipCtxSetSharedMemConfig(config: hipSharedMemConfig) -> hipError_t {
        set_bank_size(config)
    }
}

entry! {
    /// Stores the width of shared memory's banks.
    fn hipDeviceGetSharedMemConfig(config: *mut hipSharedMemConfig) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { get_bank_size(config) }
    }
}

entry! {
    /// Stores the width of shared memory's banks.
    fn hipCtxGetSharedMemConfig(config: *mut hipSharedMemConfig) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { get_bank_size(config) }
    }
}

entry! {
    /// Stores a limit of the current device, in bytes: the stack of a thread, what kernels may allocate, the buffer
    /// that kernels print to which do not call the host.
    fn hipDeviceGetLimit(value: *mut usize, limit: hipLimit_t) -> hipError_t {
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let device = current::device()?;
        let bytes = match limit {
            hipLimitStackSize => STACK_BYTES as usize,
            // CAST: a 64-bit process.
            hipLimitMallocHeapSize => device.heap_limit() as usize,
            hipLimitPrintfFifoSize => device.printf_bytes(),
            _ => return Err(hipErrorUnsupportedLimit),
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(value, bytes) }
    }
}

entry! {
    /// Sets a limit of the current device: what kernels may allocate, and the buffer of what prints later. A stack that
    /// threads have anyway is granted.
    fn hipDeviceSetLimit(limit: hipLimit_t, value: usize) -> hipError_t {
        let device = current::device()?;
        match limit {
            hipLimitMallocHeapSize => {
                device.set_heap_limit(value as u64);
                Ok(())
            }
            hipLimitPrintfFifoSize => Ok(device.set_printf_bytes(value)?),
            hipLimitStackSize if value <= STACK_BYTES as usize => Ok(()),
            hipLimitStackSize => Err(hipErrorInvalidValue),
            _ => Err(hipErrorUnsupportedLimit),
        }
    }
}

/// Waits for a device, then destroys its streams and frees its memory; code, events and graphs stay.
pub(super) fn reset(device: &Device) -> Result<(), hipError_t> {
    capture::refuse_device_synchronize(device)?;
    let outcome = device.synchronize();
    STREAMS.remove_all(|stream| stream.device() == device);
    memory::free_all(device)?;
    set_flags(device.ordinal(), hipDeviceScheduleAuto)?;
    Ok(outcome?)
}

entry! {
    /// Destroys the streams and frees the memory of the current device.
    fn hipDeviceReset() -> hipError_t {
        reset(&current::device()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_waits_in_one_way() {
        let spin = hipDeviceScheduleSpin;
        for ignored in [0, hipDeviceMapHost, hipDeviceLmemResizeToMax, RESIZE_BEFORE_6] {
            assert_eq!(schedule(spin | ignored), Ok(spin));
        }
        for refused in [spin | hipDeviceScheduleYield, hipDeviceScheduleMask, 0x20] {
            assert_eq!(schedule(refused), Err(hipErrorInvalidValue));
        }
    }

    #[test]
    fn preferences_are_those_of_the_header() {
        assert_eq!(check_cache_config(hipFuncCachePreferL1), Ok(()));
        assert_eq!(check_cache_config(hipFuncCache_t(4)), Err(hipErrorInvalidValue));
        assert_eq!(check_bank_size(hipSharedMemConfig(3)), Err(hipErrorInvalidValue));
    }
}
