//! The exported functions by name, as loaders that do not link ask for them.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
};

use super::version::HIP_VERSION;
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    symbols::{self, Symbol},
    types::{
        HIP_GET_PROC_ADDRESS_SUCCESS, HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
        HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, hipDriverProcAddressQueryResult, hipEnableDefault,
        hipEnableLegacyStream, hipEnablePerThreadDefaultStream,
    },
};

/// Names under which the headers since HIP 6.0 mean another symbol.
const RENAMED: [&str; 2] = ["hipGetDeviceProperties", "hipChooseDevice"];

/// Major and minor HIP version.
type Version = (c_int, c_int);

/// Reads a version as its documentation counts it, or as `hipDriverGetVersion` does, which callers pass on.
fn version(number: c_int) -> Version {
    match number {
        10_000_000.. => (number / 10_000_000, number / 100_000 % 100),
        _ => (number / 100, number % 100),
    }
}

/// Whether null means the thread's own stream to a caller with these flags.
///
/// # Errors
/// `hipErrorInvalidValue` for unknown flags.
fn is_per_thread(flags: u64, default: bool) -> Result<bool, hipError_t> {
    match c_uint::try_from(flags) {
        Ok(hipEnableDefault) => Ok(default),
        Ok(hipEnableLegacyStream) => Ok(false),
        Ok(hipEnablePerThreadDefaultStream) => Ok(true),
        _ => Err(hipErrorInvalidValue),
    }
}

/// The symbol that a name means to a caller of a HIP version.
fn look_up(
    name: &str,
    asked: Version,
    per_thread: bool,
) -> Result<&'static Symbol, hipDriverProcAddressQueryResult> {
    let known = |symbol: &&Symbol| (c_int::from(symbol.since.0), c_int::from(symbol.since.1)) <= asked;
    let name = match RENAMED.contains(&name) {
        true if asked >= (6, 0) => format!("{name}R0600"),
        true => format!("{name}R0000"),
        false => name.to_owned(),
    };
    if per_thread && let Some(twin) = symbols::find(&format!("{name}_spt")).filter(known) {
        return Ok(twin);
    }
    let symbol = symbols::find(&name).ok_or(HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)?;
    Some(symbol).filter(known).ok_or(HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT)
}

/// Stores the address that a name has for a caller, or null, and how the search went.
unsafe fn answer(
    name: *const c_char,
    address: *mut *mut c_void,
    asked: Version,
    per_thread: Result<bool, hipError_t>,
    status: *mut hipDriverProcAddressQueryResult,
) -> Result<(), hipError_t> {
    if address.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's string, null or terminated.
    let name = unsafe { caller::text(name) }?;
    let per_thread = per_thread?;
    let name = name.to_str().map_err(|_| HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    let found = name.and_then(|name| look_up(name, asked, per_thread));
    let (code, function) = match found {
        Ok(symbol) => (HIP_GET_PROC_ADDRESS_SUCCESS, symbol.address as *mut c_void),
        Err(code) => (code, ptr::null_mut()),
    };
    // SAFETY: the caller's pointers, null or writable.
    unsafe {
        caller::write_if_wanted(status, code);
        caller::write(address, function)?;
    }
    if found.is_ok() { Ok(()) } else { Err(hipErrorInvalidValue) }
}

entry! {
    /// Stores the address of a function by name and version, the version as 100 x major + minor or as
    /// `hipDriverGetVersion` gives it.
    fn hipGetProcAddress(
        symbol: *const c_char,
        address: *mut *mut c_void,
        version_: c_int,
        flags: u64,
        status: *mut hipDriverProcAddressQueryResult,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { answer(symbol, address, version(version_), is_per_thread(flags, false), status) }
    }
}

entry! {
    /// [`hipGetProcAddress`] for callers to which a null stream is the thread's own.
    fn hipGetProcAddress_spt(
        symbol: *const c_char,
        address: *mut *mut c_void,
        version_: c_int,
        flags: u64,
        status: *mut hipDriverProcAddressQueryResult,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { answer(symbol, address, version(version_), is_per_thread(flags, true), status) }
    }
}

// The results of this query have the same numbers as those of the other.
entry! {
    /// Stores the address that a name has in the newest version.
    fn hipGetDriverEntryPoint(
        symbol: *const c_char,
        address: *mut *mut c_void,
        flags: u64,
        status: *mut hipDriverProcAddressQueryResult,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { answer(symbol, address, version(HIP_VERSION), is_per_thread(flags, false), status) }
    }
}

entry! {
    /// [`hipGetDriverEntryPoint`] for callers to which a null stream is the thread's own.
    fn hipGetDriverEntryPoint_spt(
        symbol: *const c_char,
        address: *mut *mut c_void,
        flags: u64,
        status: *mut hipDriverProcAddressQueryResult,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { answer(symbol, address, version(HIP_VERSION), is_per_thread(flags, true), status) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_count_versions_are_read() {
        assert_eq!(version(602), (6, 2));
        assert_eq!(version(702), (7, 2));
        assert_eq!(version(60_241_134), (6, 2));
        assert_eq!(version(HIP_VERSION), (7, 2));
        assert_eq!(version(0), (0, 0));
    }

    #[test]
    fn device_properties_follow_the_callers_version() {
        let name = |asked| look_up("hipGetDeviceProperties", asked, false).map(|symbol| symbol.name);
        assert_eq!(name((5, 7)), Ok("hipGetDevicePropertiesR0000"));
        assert_eq!(name((6, 0)), Ok("hipGetDevicePropertiesR0600"));
        assert_eq!(name((4, 1)), Err(HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT));
        let name = |asked| look_up("hipChooseDevice", asked, true).map(|symbol| symbol.name);
        assert_eq!(name((7, 0)), Ok("hipChooseDeviceR0600"));
    }

    #[test]
    fn per_thread_callers_get_the_twin_where_there_is_one() {
        let name = |name, per_thread| look_up(name, (7, 2), per_thread).map(|symbol| symbol.name);
        assert_eq!(name("hipMemcpy", true), Ok("hipMemcpy_spt"));
        assert_eq!(name("hipMemcpy", false), Ok("hipMemcpy"));
        assert_eq!(name("hipMalloc", true), Ok("hipMalloc"));
        assert_eq!(name("hipNoSuch", true), Err(HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND));
    }
}
