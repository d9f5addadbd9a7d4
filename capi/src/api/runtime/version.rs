//! Version numbers.

use std::ffi::c_int;

use crate::caller;

/// `HIP_VERSION`: the newest release whose version node the library has, patch 0.
pub const HIP_VERSION: c_int = 7 * 10_000_000 + 2 * 100_000;

entry! {
    /// Stores the version of the runtime, which is the driver's as well: major x 10^7 + minor x 10^5 + patch.
    fn hipRuntimeGetVersion, hipDriverGetVersion(version: *mut c_int) -> hipError_t {
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(version, HIP_VERSION) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols;

    #[test]
    fn the_version_is_that_of_the_newest_node() {
        let newest = symbols::all().iter().map(|symbol| symbol.since).max();
        let (major, minor) = (HIP_VERSION / 10_000_000, HIP_VERSION / 100_000 % 100);
        assert_eq!(newest.map(|(a, b)| (c_int::from(a), c_int::from(b))), Some((major, minor)));
    }
}
