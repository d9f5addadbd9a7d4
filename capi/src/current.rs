//! The calling thread's current device.

use std::{
    cell::Cell,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use aqlipse::Device;

use crate::error::{hipError_t, hipErrorInvalidDevice, hipErrorNoDevice, hipErrorNotInitialized};

/// The device of threads that have not chosen one.
static PREFERRED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static ORDINAL: Cell<Option<usize>> = const { Cell::new(None) };
}

/// All devices.
///
/// # Errors
/// `hipErrorNoDevice`, `hipErrorNotInitialized`.
#[inline]
pub fn devices() -> Result<&'static [Device], hipError_t> {
    match FOUND.get() {
        Some(devices) => Ok(devices),
        None => find(),
    }
}

/// Once there are devices there always are, and nearly every call asks.
static FOUND: OnceLock<&'static [Device]> = OnceLock::new();

#[cold]
fn find() -> Result<&'static [Device], hipError_t> {
    match Device::all() {
        Ok([]) => Err(hipErrorNoDevice),
        Ok(devices) => Ok(FOUND.get_or_init(|| devices)),
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
    device_ref().cloned()
}

/// As [`device`], for a look: devices are never let go.
///
/// # Errors
/// As [`devices`].
#[inline]
pub fn device_ref() -> Result<&'static Device, hipError_t> {
    devices()?.get(ordinal()).ok_or(hipErrorInvalidDevice)
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
#[inline]
pub fn ordinal() -> usize {
    ORDINAL.get().unwrap_or_else(|| PREFERRED.load(Ordering::Relaxed))
}

/// Has threads that have not chosen a device use the first of these; the first one of all if there are none.
pub fn prefer(ordinals: &[usize]) {
    PREFERRED.store(ordinals.first().copied().unwrap_or(0), Ordering::Relaxed);
}

/// Makes a device current for the calling thread.
///
/// # Errors
/// As [`device_at`].
pub fn set(ordinal: i32) -> Result<(), hipError_t> {
    let device = device_at(ordinal)?;
    ORDINAL.set(Some(device.ordinal()));
    Ok(())
}
