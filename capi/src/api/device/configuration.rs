//! What a program may set on a device: flags, limits, preferences; and its reset.

use std::{
    ffi::c_uint,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use aqlipse::{Device, WaitPolicy, capture, memory, module::STACK_BYTES};

use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidValue, hipErrorUnsupportedLimit},
    object::STREAMS,
    types::*,
};

/// The way to wait that flags of a device ask for; the two flags besides are ignored, as the header says.
///
/// # Errors
/// `hipErrorInvalidValue` if they ask for two, or for something else.
// HIP: AMD's runtime of October 2024 (tests/conformance/device_flags.cpp); hipDeviceLmemResizeToMax of headers before
// HIP 6 holds two ways to wait.
pub(super) fn schedule(flags: c_uint) -> Result<WaitPolicy, hipError_t> {
    Ok(match flags & !(hipDeviceMapHost | hipDeviceLmemResizeToMax) {
        hipDeviceScheduleAuto => WaitPolicy::Auto,
        hipDeviceScheduleSpin => WaitPolicy::Spin,
        hipDeviceScheduleYield => WaitPolicy::Yield,
        hipDeviceScheduleBlockingSync => WaitPolicy::Block,
        _ => return Err(hipErrorInvalidValue),
    })
}

/// The flag that asks for a way to wait.
pub(super) fn flag_of(policy: WaitPolicy) -> c_uint {
    match policy {
        WaitPolicy::Auto => hipDeviceScheduleAuto,
        WaitPolicy::Spin => hipDeviceScheduleSpin,
        WaitPolicy::Yield => hipDeviceScheduleYield,
        WaitPolicy::Block => hipDeviceScheduleBlockingSync,
    }
}

/// Sets the flags of a device.
pub(super) fn set_flags(device: &Device, flags: c_uint) -> Result<(), hipError_t> {
    device.set_wait_policy(Some(schedule(flags)?));
    Ok(())
}

entry! {
    /// Sets the flags of the current device: how a thread waits for its work.
    fn hipSetDeviceFlags(flags: c_uint) -> hipError_t {
        set_flags(&current::device()?, flags)
    }
}

entry! {
    /// Stores the flags of the current device.
    fn hipGetDeviceFlags(flags: *mut c_uint) -> hipError_t {
        // HIP: 5.2.3 and AMD's runtime of October 2024 say that a device spins before its flags are set, and again when it
        // is reset (tests/conformance/device_flags.cpp). It waits as after hipDeviceScheduleAuto.
        let found = current::device()?.wait_policy().map_or(hipDeviceScheduleSpin, flag_of);
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(flags, found) }
    }
}

/// Accepts a preference between shared memory and cache, which AMD's hardware does not trade for each other.
pub(crate) fn check_cache_config(config: hipFuncCache_t) -> Result<(), hipError_t> {
    if config.0 <= hipFuncCachePreferEqual.0 { Ok(()) } else { Err(hipErrorInvalidValue) }
}

/// Accepts a wish for the width of the banks of shared memory, which is fixed.
pub(crate) fn check_bank_size(config: hipSharedMemConfig) -> Result<(), hipError_t> {
    if config.0 <= hipSharedMemBankSizeEightByte.0 { Ok(()) } else { Err(hipErrorInvalidValue) }
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
        current::device()?;
        check_cache_config(config)
    }
}

entry! {
    /// Stores the preference between shared memory and cache: none.
    fn hipDeviceGetCacheConfig(config: *mut hipFuncCache_t) -> hipError_t {
        current::device()?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(config, hipFuncCachePreferNone) }
    }
}

entry! {
    /// Accepts a width of shared memory's banks, a hint that AMD's hardware ignores.
    fn hipDeviceSetSharedMemConfig(config: hipSharedMemConfig) -> hipError_t {
        current::device()?;
        check_bank_size(config)
    }
}

entry! {
    /// Stores the width of shared memory's banks.
    fn hipDeviceGetSharedMemConfig, hipCtxGetSharedMemConfig(config: *mut hipSharedMemConfig) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { get_bank_size(config) }
    }
}

/// The limit of a thread's stack on a device, in bytes, as it was set; threads have [`STACK_BYTES`] in any case.
fn stack_limit(device: &Device) -> &'static AtomicUsize {
    /// What it is at first.
    // HIP: AMD's runtime of October 2024 (tests/conformance/device_limits.cpp).
    const AT_FIRST: usize = 1024;
    static LIMITS: OnceLock<Vec<AtomicUsize>> = OnceLock::new();
    let make = || (0..current::devices().map_or(0, <[_]>::len)).map(|_| AtomicUsize::new(AT_FIRST)).collect();
    // PANIC: there is a device, so all are known, and ordinals count them.
    &LIMITS.get_or_init(make)[device.ordinal()]
}

/// The code for a limit that there is not.
// HIP: AMD's runtime of October 2024 tells numbers of no limit from others (tests/conformance/device_limits.cpp).
fn unknown_limit(limit: hipLimit_t) -> hipError_t {
    // CAST: the number is negative in C.
    if (limit.0 as i32) < 0 { hipErrorUnsupportedLimit } else { hipErrorInvalidValue }
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
            hipLimitStackSize => stack_limit(&device).load(Ordering::Relaxed),
            // CAST: a 64-bit process.
            hipLimitMallocHeapSize => device.heap_limit() as usize,
            hipLimitPrintfFifoSize => device.printf_bytes(),
            _ => return Err(unknown_limit(limit)),
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(value, bytes) }
    }
}

entry! {
    /// Sets a limit of the current device: what kernels may allocate, and the buffer of what prints later. A stack is
    /// granted up to what threads have anyway.
    fn hipDeviceSetLimit(limit: hipLimit_t, value: usize) -> hipError_t {
        let device = current::device()?;
        match limit {
            hipLimitMallocHeapSize => {
                device.set_heap_limit(value as u64);
                Ok(())
            }
            hipLimitPrintfFifoSize => Ok(device.set_printf_bytes(value)?),
            hipLimitStackSize if value <= STACK_BYTES as usize => {
                stack_limit(&device).store(value, Ordering::Relaxed);
                Ok(())
            }
            hipLimitStackSize => Err(hipErrorInvalidValue),
            _ => Err(unknown_limit(limit)),
        }
    }
}

/// Waits for a device, then destroys its streams and frees its memory; code, events and graphs stay. A device that runs
/// nothing any more is brought back, if the driver can.
pub(super) fn reset(device: &Device) -> Result<(), hipError_t> {
    capture::refuse_device_synchronize(device)?;
    let outcome = device.synchronize();
    STREAMS.remove_all(|stream| stream.device() == device);
    let was_lost = device.is_lost();
    // First: a device that runs nothing frees nothing.
    device.recover()?;
    memory::free_all(device)?;
    device.set_wait_policy(None);
    if was_lost { Ok(()) } else { Ok(outcome?) }
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
        for ignored in [0, hipDeviceMapHost, hipDeviceLmemResizeToMax] {
            assert_eq!(schedule(spin | ignored), Ok(WaitPolicy::Spin));
        }
        for refused in [spin | hipDeviceScheduleYield, hipDeviceScheduleMask, 0x16, 0x20] {
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
