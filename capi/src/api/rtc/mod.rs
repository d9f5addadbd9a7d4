//! Compiling and linking at run time: the faces of [`hiprtc`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`result`] | `hiprtcResult` |
//! | [`compile`] | programs |
//! | [`linking`] | linkers behind both faces |
//! | [`link`] | `hiprtcLink*` |
//! | [`hip_link`] | `hipLink*` |
//!
//! Floors, lowest first; a module uses those below it, and those of its own floor:
//! 1. `result`
//! 2. `linking`
//! 3. `compile`, `link`, `hip_link`

mod compile;
mod hip_link;
mod link;
mod linking;
mod result;

use crate::current;

/// The architecture of the calling thread's device, without the features that code may leave open.
fn architecture() -> Option<String> {
    let device = current::device_ref().ok()?;
    device.properties().arch.split(':').next().map(str::to_owned)
}
