use std::{ffi::c_uint, ptr};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipPointerGetAttribute(
        out: *mut c_void,
        attribute: hipPointer_attribute,
        pointer: *mut c_void,
    ) -> hipError_t;
    fn hipDrvPointerGetAttributes(
        count: c_uint,
        attributes: *mut hipPointer_attribute,
        outs: *mut *mut c_void,
        pointer: *mut c_void,
    ) -> hipError_t;
    fn hipMemPtrGetInfo(pointer: *mut c_void, bytes: *mut usize) -> hipError_t;
    fn hipHostGetFlags(flags: *mut c_uint, pointer: *mut c_void) -> hipError_t;
    fn hipMemAllocHost(address: *mut *mut c_void, bytes: usize) -> hipError_t;
    fn hipExtHostAlloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostFree(address: *mut c_void) -> hipError_t;
    fn hipExtMallocWithFlags(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
}

// proves: hipPointerGetAttribute, hipMemPtrGetInfo
#[test]
fn each_attribute_of_a_pointer_can_be_asked_for() {
    let memory = Memory::of(&[0u8; 1000]);
    let inside = memory.pointer().wrapping_byte_add(100);
    let (mut kind, mut address, mut size, mut ordinal, mut managed) =
        (hipMemoryTypeHost, ptr::null_mut::<c_void>(), 0usize, -1, true);
    let get = |out: *mut c_void, attribute| {
        // SAFETY: `out` is a variable of the attribute's type.
        unsafe { hipPointerGetAttribute(out, attribute, inside) }
    };
    ok!(
        get((&raw mut kind).cast(), HIP_POINTER_ATTRIBUTE_MEMORY_TYPE),
        get((&raw mut address).cast(), HIP_POINTER_ATTRIBUTE_DEVICE_POINTER),
    );
    assert_eq!((kind, address), (hipMemoryTypeDevice, inside));
    ok!(
        get((&raw mut address).cast(), HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR),
        get((&raw mut size).cast(), HIP_POINTER_ATTRIBUTE_RANGE_SIZE),
        get((&raw mut ordinal).cast(), HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL),
        get((&raw mut managed).cast(), HIP_POINTER_ATTRIBUTE_IS_MANAGED),
    );
    assert_eq!((address, size, ordinal, managed), (memory.pointer(), 1000, 0, false));
    fails!(hipErrorInvalidValue, get((&raw mut address).cast(), HIP_POINTER_ATTRIBUTE_HOST_POINTER));
    fails!(hipErrorNotSupported, get((&raw mut address).cast(), HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE));
    fails!(hipErrorInvalidValue, get((&raw mut address).cast(), hipPointer_attribute(99)));
    fails!(hipErrorInvalidValue, get(ptr::null_mut(), HIP_POINTER_ATTRIBUTE_MEMORY_TYPE));
    let mut unknown = 0u64;
    let (out, pointer) = ((&raw mut address).cast(), (&raw mut unknown).cast());
    fails!(hipErrorInvalidValue, hipPointerGetAttribute(out, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, pointer));

    size = 0;
    ok!(hipMemPtrGetInfo(inside, &mut size));
    assert_eq!(size, 1000);
    fails!(hipErrorInvalidValue, hipMemPtrGetInfo((&raw mut unknown).cast(), &mut size));
}

// proves: hipDrvPointerGetAttributes
#[test]
fn several_attributes_of_an_unknown_pointer_are_null() {
    let (mut unknown, mut address, mut size) = (0u64, ptr::dangling_mut::<c_void>(), 1usize);
    let mut attributes = [HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, HIP_POINTER_ATTRIBUTE_RANGE_SIZE];
    let mut outs = [(&raw mut address).cast::<c_void>(), (&raw mut size).cast()];
    let pointer = (&raw mut unknown).cast();
    ok!(hipDrvPointerGetAttributes(2, attributes.as_mut_ptr(), outs.as_mut_ptr(), pointer));
    assert_eq!((address, size), (ptr::null_mut(), 0));
    fails!(
        hipErrorInvalidValue,
        hipDrvPointerGetAttributes(0, attributes.as_mut_ptr(), outs.as_mut_ptr(), pointer)
    );
    fails!(hipErrorInvalidValue, hipDrvPointerGetAttributes(2, ptr::null_mut(), outs.as_mut_ptr(), pointer));
}

// proves: hipHostGetFlags, hipMemAllocHost, hipExtHostAlloc, hipExtMallocWithFlags
#[test]
fn pinned_memory_remembers_its_flags() {
    let (mut plain, mut mapped, mut device) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let mut flags = 7;
    ok!(hipMemAllocHost(&mut plain, 64), hipHostGetFlags(&mut flags, plain));
    assert_eq!(flags, 0);
    ok!(hipExtHostAlloc(&mut mapped, 64, hipHostMallocMapped), hipHostGetFlags(&mut flags, mapped));
    assert_eq!(flags, hipHostMallocMapped);
    ok!(
        hipHostFree(plain),
        hipHostFree(mapped),
        hipExtMallocWithFlags(&mut device, 64, hipDeviceMallocDefault)
    );
    fails!(hipErrorInvalidValue, hipHostGetFlags(&mut flags, device));
    fails!(hipErrorInvalidValue, hipHostGetFlags(&mut flags, plain));
    fails!(hipErrorInvalidValue, hipExtMallocWithFlags(&mut plain, 64, 0x100));
    ok!(hipFree(device));
}
