//! The devices that the suite runs on: emulated in the process, or ROCr's.
//!
//! `AQLIPSE_DEVICE=rocr` chooses ROCr, which finds the GPUs of the machine, or emulated ones if the driver that
//! `LD_LIBRARY_PATH` leads to is our thunk. Not every ROCr knows every architecture: what it does not offer is left
//! out, and the first device must be of one that the tests have code for.

use std::sync::OnceLock;

use aqlipse::Device;

/// The value of `AQLIPSE_DEVICE` for programs.
pub fn back_end() -> &'static str {
    if is_emulated() { "emulated" } else { "rocr" }
}

/// Whether programs run on the devices that are emulated in their own process.
pub fn is_emulated() -> bool {
    std::env::var("AQLIPSE_DEVICE").map_or(true, |device| device != "rocr")
}

/// Whether a device of the architecture can be had.
///
/// # Panics
/// If ROCr does not come up.
pub fn offers(arch: &str) -> bool {
    static FOUND: OnceLock<Vec<String>> = OnceLock::new();
    is_emulated()
        || FOUND
            .get_or_init(|| {
                let devices = Device::all().unwrap_or_else(|error| panic!("ROCr does not come up: {error}"));
                devices.iter().map(|device| device.properties().arch.clone()).collect()
            })
            .iter()
            .any(|target| target.split(':').next() == Some(arch))
}
