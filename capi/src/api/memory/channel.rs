//! Channel formats.

use std::ffi::c_int;

use crate::types::{hipChannelFormatDesc, hipChannelFormatKind, hipChannelFormatKindNone};

entry! {
    /// Returns a channel format: the bits of each of four channels, and how to read them.
    plain fn hipCreateChannelDesc(x: c_int, y: c_int, z: c_int, w: c_int, f: hipChannelFormatKind) -> hipChannelFormatDesc,
        or hipChannelFormatDesc { x: 0, y: 0, z: 0, w: 0, f: hipChannelFormatKindNone }; {
        hipChannelFormatDesc { x, y, z, w, f }
    }
}
