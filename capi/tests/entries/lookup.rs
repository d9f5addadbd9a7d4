use std::{ffi::CStr, ptr};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipGetProcAddress(
        symbol: *const std::ffi::c_char,
        address: *mut *mut c_void,
        version: c_int,
        flags: u64,
        status: *mut hipDriverProcAddressQueryResult,
    ) -> hipError_t;
    fn hipGetProcAddress_spt(
        symbol: *const std::ffi::c_char,
        address: *mut *mut c_void,
        version: c_int,
        flags: u64,
        status: *mut hipDriverProcAddressQueryResult,
    ) -> hipError_t;
    fn hipGetDriverEntryPoint(
        symbol: *const std::ffi::c_char,
        address: *mut *mut c_void,
        flags: u64,
        status: *mut hipDriverProcAddressQueryResult,
    ) -> hipError_t;
    fn hipGetDriverEntryPoint_spt(
        symbol: *const std::ffi::c_char,
        address: *mut *mut c_void,
        flags: u64,
        status: *mut hipDriverProcAddressQueryResult,
    ) -> hipError_t;
    fn hipDriverGetVersion(version: *mut c_int) -> hipError_t;
}

fn address(name: &str) -> *mut c_void {
    capi::symbols::find(name).map_or(ptr::null_mut(), |symbol| symbol.address as *mut c_void)
}

fn ask(name: &CStr, version: c_int, flags: u64) -> (hipError_t, *mut c_void, u32) {
    let (mut found, mut status) = (ptr::dangling_mut(), HIP_GET_PROC_ADDRESS_SUCCESS);
    // SAFETY: all pointers are valid.
    let code = unsafe { hipGetProcAddress(name.as_ptr(), &mut found, version, flags, &mut status) };
    (code, found, status.0)
}

// proves: hipGetProcAddress
#[test]
fn a_function_is_found_by_name_and_version() {
    let mut driver = 0;
    ok!(hipDriverGetVersion(&mut driver));
    for version in [402, driver] {
        assert_eq!(ask(c"hipMalloc", version, 0), (capi::error::hipSuccess, address("hipMalloc"), 0));
    }
    let refused = capi::error::hipErrorInvalidValue;
    assert_eq!(ask(c"hipNoSuchFunction", driver, 0), (refused, ptr::null_mut(), 1));
    assert_eq!(ask(c"hipGraphAddNode", 504, 0), (refused, ptr::null_mut(), 2));
    assert_eq!(ask(c"hipGetDeviceProperties", 600, 0).1, address("hipGetDevicePropertiesR0600"));
    assert_eq!(ask(c"hipGetDeviceProperties", 507, 0).1, address("hipGetDevicePropertiesR0000"));
    assert_eq!(ask(c"hipMemcpy", driver, 2).1, address("hipMemcpy_spt"));
    assert_eq!(ask(c"hipMemcpy", driver, 1).1, address("hipMemcpy"));
    assert_eq!(ask(c"hipMalloc", driver, 3).0, refused);
}

#[test]
fn every_function_is_found_since_its_version_and_not_before() {
    let renamed = ["hipGetDeviceProperties", "hipChooseDevice"];
    for symbol in capi::symbols::all().iter().filter(|symbol| !renamed.contains(&symbol.name)) {
        let name = std::ffi::CString::new(symbol.name).unwrap();
        let (major, minor) = (c_int::from(symbol.since.0), c_int::from(symbol.since.1));
        let address = symbol.address as *mut c_void;
        // Both ways to count a version, and the newest.
        for version in [major * 100 + minor, major * 10_000_000 + minor * 100_000 + 7, 702] {
            assert_eq!(ask(&name, version, 0), (capi::error::hipSuccess, address, 0), "{name:?}, {version}");
        }
        let refused = (capi::error::hipErrorInvalidValue, ptr::null_mut(), 2);
        assert_eq!(ask(&name, major * 100 + minor - 1, 0), refused, "{name:?}");
    }
}

// proves: hipGetProcAddress_spt, hipGetDriverEntryPoint, hipGetDriverEntryPoint_spt
#[test]
fn the_default_stream_of_a_look_up_is_its_own() {
    let name = c"hipStreamQuery".as_ptr();
    let mut found = ptr::null_mut();
    ok!(hipGetProcAddress_spt(name, &mut found, 702, 0, ptr::null_mut()));
    assert_eq!(found, address("hipStreamQuery_spt"));
    ok!(hipGetProcAddress_spt(name, &mut found, 702, 1, ptr::null_mut()));
    assert_eq!(found, address("hipStreamQuery"));
    ok!(hipGetDriverEntryPoint(name, &mut found, 0, ptr::null_mut()));
    assert_eq!(found, address("hipStreamQuery"));
    ok!(hipGetDriverEntryPoint_spt(name, &mut found, 0, ptr::null_mut()));
    assert_eq!(found, address("hipStreamQuery_spt"));
    fails!(hipErrorInvalidValue, hipGetDriverEntryPoint(ptr::null(), &mut found, 0, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipGetDriverEntryPoint(name, ptr::null_mut(), 0, ptr::null_mut()));
}
