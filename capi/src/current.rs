//! The calling thread's current device.

use std::cell::Cell;

use aqlipse::Device;

use crate::error::{hipError_t, hipErrorInvalidDevice, hipErrorNoDevice, hipErrorNotInitialized};

thread_local! {
    static ORDINAL: Cell<usize> = const { Cell::new(0) };
}

/// All devices.
///
/// # Errors
/// `hipErrorNoDevice`, `hipErrorNotInitialized`.
pub fn devices() -> Result<&'static [Device], hipError_t> {
    match Device::all() {
        Ok([]) => Err(hipErrorNoDevice),
        Ok(devices) => Ok(devices),
        Err(error) => {
            tracing::error!("{error}");
            Err(hipErrorNotInitialized)
        }
    }
}

/// The calling thread's device.
///
/// # Errors
/// As [`devices`].
pub fn device() -> Result<Device, hipError_t> {
    devices()?.get(ORDINAL.get()).cloned().ok_or(hipErrorInvalidDevice)
}

/// The device with this ordinal.
///
/// # Errors
/// As [`devices`], and `hipErrorInvalidDevice`.
pub fn device_at(ordinal: i32) -> Result<Device, hipError_t> {
    let ordinal = usize::try_from(ordinal).map_err(|_| hipErrorInvalidDevice)?;
    devices()?.get(ordinal).cloned().ok_or(hipErrorInvalidDevice)
}

/// The calling thread's device ordinal.
pub fn ordinal() -> usize {
    ORDINAL.get()
}

/// Makes a device current for the calling thread.
///
/// # Errors
/// As [`device_at`].
pub fn set(ordinal: i32) -> Result<(), hipError_t> {
    let device = device_at(ordinal)?;
    ORDINAL.set(device.ordinal());
    Ok(())
}
