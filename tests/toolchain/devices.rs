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

/// Whether ROCr has been told to load `libdtif.so` (docs/adr/0042). It makes no events then: its waits spin, and it hears that
/// a whole device is lost from its own queues on it, whose handler ends the process.
pub fn is_without_events() -> bool {
    !is_emulated() && std::env::var_os("HSA_ENABLE_DTIF").is_some_and(|told| told == "1")
}

/// Whether packets run in an order that a seed draws: one at a time then, on emulated devices in the process or below
/// ROCr.
pub fn is_seeded() -> bool {
    std::env::var_os("AQLIPSE_EMULATE_SEED").is_some_and(|seed| !seed.is_empty())
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
