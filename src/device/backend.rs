//! What runs the devices: AMD's runtime, or the emulator.

#![forbid(unsafe_code)]

/// The environment variable that chooses the back end: `auto`, `rocr` or `emulated`.
pub(super) const DEVICE_VARIABLE: &str = "AQLIPSE_DEVICE";

/// What the devices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// AMD's ROCr runtime.
    Rocr,
    /// The emulated GPU of this process.
    Emulated,
}
