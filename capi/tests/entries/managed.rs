use std::{ffi::c_uint, ptr};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipMallocManaged(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipMemAdvise(
        address: *const c_void,
        bytes: usize,
        advice: hipMemoryAdvise,
        device: c_int,
    ) -> hipError_t;
    fn hipMemPrefetchAsync(
        address: *const c_void,
        bytes: usize,
        device: c_int,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemRangeGetAttribute(
        out: *mut c_void,
        room: usize,
        attribute: hipMemRangeAttribute,
        address: *const c_void,
        bytes: usize,
    ) -> hipError_t;
    fn hipMemRangeGetAttributes(
        outs: *mut *mut c_void,
        rooms: *mut usize,
        attributes: *mut hipMemRangeAttribute,
        count: usize,
        address: *const c_void,
        bytes: usize,
    ) -> hipError_t;
}

const BYTES: usize = 8192;

fn managed() -> *mut c_void {
    let mut address = ptr::null_mut();
    ok!(hipMallocManaged(&mut address, BYTES, hipMemAttachGlobal));
    address
}

// proves: hipMemAdvise, hipMemPrefetchAsync, hipMemRangeGetAttribute, hipMemRangeGetAttributes
#[test]
fn advice_is_remembered_for_the_range_it_was_given_for() {
    let address = managed();
    let half = address.wrapping_byte_add(BYTES / 2);
    let ask = |attribute, start, bytes| {
        let mut value: c_int = 77;
        ok!(hipMemRangeGetAttribute((&raw mut value).cast(), 4, attribute, start, bytes));
        value
    };
    ok!(
        hipMemAdvise(address, BYTES / 2, hipMemAdviseSetReadMostly, 0),
        hipMemAdvise(half, BYTES / 2, hipMemAdviseSetPreferredLocation, 0),
        hipMemAdvise(address, BYTES, hipMemAdviseSetAccessedBy, hipCpuDeviceId),
        hipMemPrefetchAsync(address, BYTES, 0, hipStream_t::NULL),
        hipMemAdvise(half, 1, hipMemAdviseSetCoarseGrain, 0),
    );
    assert_eq!(ask(hipMemRangeAttributeReadMostly, address, BYTES / 2), 1);
    assert_eq!(ask(hipMemRangeAttributeReadMostly, address, BYTES), 0, "only half of it is");
    assert_eq!(ask(hipMemRangeAttributePreferredLocation, half, 1), 0);
    assert_eq!(ask(hipMemRangeAttributePreferredLocation, address, BYTES), hipInvalidDeviceId);
    let coherency = ask(hipMemRangeAttributeCoherencyMode, address, BYTES);
    assert_eq!(coherency, hipMemRangeCoherencyModeIndeterminate.0 as c_int);

    let (mut prefetched, mut accessed): (c_int, [c_int; 2]) = (77, [77; 2]);
    let mut attributes = [hipMemRangeAttributeLastPrefetchLocation, hipMemRangeAttributeAccessedBy];
    let mut outs = [(&raw mut prefetched).cast::<c_void>(), (&raw mut accessed).cast()];
    let mut rooms = [4, 8];
    let (outs, rooms, attributes) = (outs.as_mut_ptr(), rooms.as_mut_ptr(), attributes.as_mut_ptr());
    ok!(hipMemRangeGetAttributes(outs, rooms, attributes, 2, address, BYTES));
    assert_eq!((prefetched, accessed), (0, [hipCpuDeviceId, hipInvalidDeviceId]));
    fails!(hipErrorInvalidValue, hipMemRangeGetAttributes(outs, rooms, attributes, 0, address, BYTES));
    ok!(hipFree(address));
}

#[test]
fn advice_is_for_managed_memory_and_known_devices() {
    let (address, device) = (managed(), Memory::of(&[0u8; 16]));
    let advise = |start, bytes, advice, ordinal| {
        // SAFETY: nothing is accessed.
        unsafe { hipMemAdvise(start, bytes, advice, ordinal) }
    };
    fails!(hipErrorInvalidValue, advise(device.pointer(), 16, hipMemAdviseSetReadMostly, 0));
    fails!(hipErrorInvalidValue, advise(address, BYTES + 1, hipMemAdviseSetReadMostly, 0));
    fails!(hipErrorInvalidValue, advise(address, 0, hipMemAdviseSetReadMostly, 0));
    fails!(hipErrorInvalidDevice, advise(address, BYTES, hipMemAdviseSetPreferredLocation, 99));
    fails!(hipErrorInvalidValue, advise(address, BYTES, hipMemoryAdvise(50), 0));
    ok!(advise(address, BYTES, hipMemAdviseSetReadMostly, 99));
    fails!(hipErrorInvalidDevice, hipMemPrefetchAsync(address, BYTES, 99, hipStream_t::NULL));
    let mut value = 0u32;
    let (out, attribute) = ((&raw mut value).cast(), hipMemRangeAttributeReadMostly);
    fails!(hipErrorInvalidValue, hipMemRangeGetAttribute(out, 3, attribute, address, BYTES));
    fails!(hipErrorInvalidValue, hipMemRangeGetAttribute(out, 8, attribute, address, BYTES));
    fails!(hipErrorInvalidValue, hipMemRangeGetAttribute(out, 4, hipMemRangeAttribute(50), address, BYTES));
    ok!(hipFree(address));
    fails!(hipErrorInvalidValue, hipMemRangeGetAttribute(out, 4, attribute, address, BYTES));
}

unsafe extern "C" {
    fn hipDeviceGetAttribute(value: *mut c_int, attribute: hipDeviceAttribute_t, device: c_int)
    -> hipError_t;
}

#[test]
fn attributes_say_what_managed_memory_does() {
    let device = aqlipse::Device::get(0).unwrap();
    let said = device.properties().managed;
    if device.backend() == aqlipse::Backend::Emulated {
        let no_svm = std::env::var("AQLIPSE_EMULATE_HARDWARE").is_ok_and(|traits| traits.contains("no-svm"));
        assert_eq!((said.moves, said.pageable), (!no_svm, !no_svm && std::env::var("HSA_XNACK").is_ok()));
    }
    for (attribute, expected) in [
        (hipDeviceAttributeManagedMemory, true),
        (hipDeviceAttributeConcurrentManagedAccess, said.moves),
        (hipDeviceAttributePageableMemoryAccess, said.pageable),
        (hipDeviceAttributePageableMemoryAccessUsesHostPageTables, said.host_page_tables),
        (hipDeviceAttributeDirectManagedMemAccessFromHost, said.host_reaches_device),
    ] {
        let mut value = 7;
        ok!(hipDeviceGetAttribute(&mut value, attribute, 0));
        assert_eq!(value, c_int::from(expected), "{attribute:?}");
    }
}
