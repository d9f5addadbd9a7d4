use std::ptr;

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipMemPoolCreate(pool: *mut hipMemPool_t, props: *const hipMemPoolProps) -> hipError_t;
    fn hipMemPoolDestroy(pool: hipMemPool_t) -> hipError_t;
    fn hipMemPoolTrimTo(pool: hipMemPool_t, keep: usize) -> hipError_t;
    fn hipMemPoolSetAttribute(
        pool: hipMemPool_t,
        attribute: hipMemPoolAttr,
        value: *mut c_void,
    ) -> hipError_t;
    fn hipMemPoolGetAttribute(
        pool: hipMemPool_t,
        attribute: hipMemPoolAttr,
        value: *mut c_void,
    ) -> hipError_t;
    fn hipMemPoolSetAccess(
        pool: hipMemPool_t,
        descriptors: *const hipMemAccessDesc,
        count: usize,
    ) -> hipError_t;
    fn hipMemPoolGetAccess(
        flags: *mut hipMemAccessFlags,
        pool: hipMemPool_t,
        location: *mut hipMemLocation,
    ) -> hipError_t;
    fn hipDeviceGetDefaultMemPool(pool: *mut hipMemPool_t, device: c_int) -> hipError_t;
    fn hipDeviceGetMemPool(pool: *mut hipMemPool_t, device: c_int) -> hipError_t;
    fn hipDeviceSetMemPool(device: c_int, pool: hipMemPool_t) -> hipError_t;
    fn hipMemGetDefaultMemPool(
        pool: *mut hipMemPool_t,
        location: *mut hipMemLocation,
        kind: hipMemAllocationType,
    ) -> hipError_t;
    fn hipMemGetMemPool(
        pool: *mut hipMemPool_t,
        location: *mut hipMemLocation,
        kind: hipMemAllocationType,
    ) -> hipError_t;
    fn hipMemSetMemPool(
        location: *mut hipMemLocation,
        kind: hipMemAllocationType,
        pool: hipMemPool_t,
    ) -> hipError_t;
    fn hipMallocAsync(address: *mut *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipMallocFromPoolAsync(
        address: *mut *mut c_void,
        bytes: usize,
        pool: hipMemPool_t,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipFreeAsync(address: *mut c_void, stream: hipStream_t) -> hipError_t;
    fn hipMemPoolImportPointer(
        address: *mut *mut c_void,
        pool: hipMemPool_t,
        data: *mut hipMemPoolPtrExportData,
    ) -> hipError_t;
    fn hipPointerGetAttribute(
        out: *mut c_void,
        attribute: hipPointer_attribute,
        pointer: *mut c_void,
    ) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
}

const DEVICE: hipMemLocation = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 };
const BAD: hipMemPool_t = hipMemPool_t(0x1000);

fn at(kind: hipMemLocationType, id: c_int) -> hipMemLocation {
    hipMemLocation { r#type: kind, id }
}

fn props() -> hipMemPoolProps {
    hipMemPoolProps {
        allocType: hipMemAllocationTypePinned,
        handleTypes: hipMemHandleTypeNone,
        location: DEVICE,
        win32SecurityAttributes: ptr::null_mut(),
        maxSize: 0,
        reserved: [0; 56],
    }
}

fn new_pool() -> hipMemPool_t {
    let mut pool = hipMemPool_t::NULL;
    ok!(hipMemPoolCreate(&mut pool, &props()));
    pool
}

fn default_pool() -> hipMemPool_t {
    let mut pool = hipMemPool_t::NULL;
    ok!(hipDeviceGetDefaultMemPool(&mut pool, 0));
    pool
}

fn current_pool() -> hipMemPool_t {
    let mut pool = hipMemPool_t::NULL;
    ok!(hipDeviceGetMemPool(&mut pool, 0));
    pool
}

fn bytes(pool: hipMemPool_t, attribute: hipMemPoolAttr) -> u64 {
    let mut value = 77u64;
    ok!(hipMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()));
    value
}

fn set(pool: hipMemPool_t, attribute: hipMemPoolAttr, mut value: u64) -> hipError_t {
    // SAFETY: 64 bits hold the value of any attribute.
    unsafe { hipMemPoolSetAttribute(pool, attribute, (&raw mut value).cast()) }
}

fn from_pool(pool: hipMemPool_t, size: usize, stream: hipStream_t) -> *mut c_void {
    let mut address = ptr::null_mut();
    ok!(hipMallocFromPoolAsync(&mut address, size, pool, stream));
    address
}

// proves: hipMemPoolCreate, hipMemPoolDestroy
#[test]
fn pools_are_made_of_pinned_memory_of_a_device() {
    let mut pool = hipMemPool_t::NULL;
    let mut refused = |change: &dyn Fn(&mut hipMemPoolProps)| {
        let mut props = props();
        change(&mut props);
        // SAFETY: a handle to write and properties to read.
        unsafe { hipMemPoolCreate(&mut pool, &props) }
    };
    for kind in [hipMemAllocationTypeInvalid, hipMemAllocationTypeUncached, hipMemAllocationType(99)] {
        fails!(hipErrorInvalidValue, refused(&|props| props.allocType = kind));
    }
    // CUDA: where a device cannot access managed memory concurrently.
    fails!(hipErrorNotSupported, refused(&|props| props.allocType = hipMemAllocationTypeManaged));
    fails!(hipErrorInvalidValue, refused(&|props| props.location.r#type = hipMemLocationTypeInvalid));
    fails!(hipErrorInvalidValue, refused(&|props| props.location.r#type = hipMemLocationTypeHostNumaCurrent));
    fails!(hipErrorNotSupported, refused(&|props| props.location = at(hipMemLocationTypeHost, 0)));
    for id in [-1, 99, c_int::MAX] {
        fails!(hipErrorInvalidValue, refused(&|props| props.location.id = id));
    }
    fails!(hipErrorInvalidValue, refused(&|props| props.handleTypes = hipMemAllocationHandleType(8)));
    fails!(hipErrorNotSupported, refused(&|props| props.handleTypes = hipMemHandleTypeWin32));
    fails!(hipErrorInvalidValue, hipMemPoolCreate(ptr::null_mut(), &props()));
    fails!(hipErrorInvalidValue, hipMemPoolCreate(&mut pool, ptr::null()));

    let (pool, other) = (new_pool(), new_pool());
    assert!(pool != other && pool != default_pool());
    ok!(hipMemPoolDestroy(pool));
    fails!(hipErrorInvalidValue, hipMemPoolDestroy(pool));
    fails!(hipErrorInvalidValue, hipMemPoolDestroy(hipMemPool_t::NULL));
    fails!(hipErrorInvalidValue, hipMemPoolDestroy(default_pool()));
    ok!(hipMemPoolDestroy(other));
}

// proves: hipDeviceGetDefaultMemPool, hipDeviceGetMemPool, hipDeviceSetMemPool
#[test]
fn a_device_allocates_from_its_current_pool() {
    let (stream, pool, default) = (new_stream(), new_pool(), default_pool());
    assert_eq!((default, current_pool()), (default_pool(), default));
    let mut out = hipMemPool_t::NULL;
    fails!(hipErrorInvalidValue, hipDeviceGetDefaultMemPool(ptr::null_mut(), 0));
    fails!(hipErrorInvalidDevice, hipDeviceGetDefaultMemPool(&mut out, 99));
    fails!(hipErrorInvalidDevice, hipDeviceGetDefaultMemPool(&mut out, -1));
    fails!(hipErrorInvalidValue, hipDeviceGetMemPool(ptr::null_mut(), 0));
    fails!(hipErrorInvalidValue, hipDeviceGetMemPool(&mut out, 99));
    fails!(hipErrorInvalidValue, hipDeviceSetMemPool(99, pool));
    fails!(hipErrorInvalidValue, hipDeviceSetMemPool(0, hipMemPool_t::NULL));
    fails!(hipErrorInvalidValue, hipDeviceSetMemPool(0, BAD));

    ok!(hipDeviceSetMemPool(0, pool));
    assert_eq!(current_pool(), pool);
    let mut address = ptr::null_mut();
    ok!(hipMallocAsync(&mut address, 1000, stream));
    assert_eq!(bytes(pool, hipMemPoolAttrUsedMemCurrent), 1000);
    let mut owner = hipMemPool_t::NULL;
    let attribute = HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
    ok!(hipPointerGetAttribute((&raw mut owner).cast(), attribute, address.wrapping_byte_add(7)));
    assert_eq!(owner, pool);
    // The memory outlives the pool, whose place the default one takes.
    ok!(hipMemPoolDestroy(pool));
    assert_eq!(current_pool(), default);
    ok!(hipPointerGetAttribute((&raw mut owner).cast(), attribute, address));
    assert_eq!(owner, hipMemPool_t::NULL, "a destroyed pool gets no new handle");
    ok!(hipMemset(address, 1, 1000), hipFreeAsync(address, stream), hipStreamSynchronize(stream));
    ok!(hipDeviceSetMemPool(0, default), hipStreamDestroy(stream));
}

// proves: hipMemGetDefaultMemPool, hipMemGetMemPool, hipMemSetMemPool
#[test]
fn locations_have_the_pools_of_their_devices() {
    let (pool, default) = (new_pool(), default_pool());
    let (mut out, mut place) = (hipMemPool_t::NULL, DEVICE);
    let pinned = hipMemAllocationTypePinned;
    ok!(hipMemGetDefaultMemPool(&mut out, &mut place, pinned));
    assert_eq!(out, default);
    ok!(hipMemSetMemPool(&mut place, pinned, pool), hipMemGetMemPool(&mut out, &mut place, pinned));
    assert_eq!((out, current_pool()), (pool, pool));
    ok!(hipMemPoolDestroy(pool), hipMemGetMemPool(&mut out, &mut place, pinned));
    assert_eq!(out, default);

    let cases = [
        (at(hipMemLocationTypeHost, 0), pinned, true),
        (at(hipMemLocationTypeHostNuma, 0), pinned, true),
        (DEVICE, hipMemAllocationTypeManaged, true),
        (at(hipMemLocationTypeInvalid, 0), hipMemAllocationTypeManaged, true),
        (at(hipMemLocationTypeInvalid, 0), pinned, false),
        (at(hipMemLocationTypeHostNumaCurrent, 0), pinned, false),
        (at(hipMemLocationTypeDevice, 99), pinned, false),
        (at(hipMemLocationTypeDevice, 99), hipMemAllocationTypeManaged, false),
        (DEVICE, hipMemAllocationTypeInvalid, false),
        (DEVICE, hipMemAllocationType(3), false),
    ];
    for (mut place, kind, known) in cases {
        let expected =
            if known { capi::error::hipErrorNotSupported } else { capi::error::hipErrorInvalidValue };
        // SAFETY: places to write and to read.
        unsafe {
            assert_eq!(hipMemGetDefaultMemPool(&mut out, &mut place, kind), expected);
            assert_eq!(hipMemGetMemPool(&mut out, &mut place, kind), expected);
            assert_eq!(hipMemSetMemPool(&mut place, kind, default), expected);
        }
    }
    fails!(hipErrorInvalidValue, hipMemGetDefaultMemPool(ptr::null_mut(), &mut place, pinned));
    fails!(hipErrorInvalidValue, hipMemGetDefaultMemPool(&mut out, ptr::null_mut(), pinned));
    fails!(hipErrorInvalidValue, hipMemGetMemPool(ptr::null_mut(), &mut place, pinned));
    fails!(hipErrorInvalidValue, hipMemGetMemPool(&mut out, ptr::null_mut(), pinned));
    fails!(hipErrorInvalidValue, hipMemSetMemPool(ptr::null_mut(), pinned, default));
    fails!(hipErrorInvalidValue, hipMemSetMemPool(&mut place, pinned, pool));
}

// proves: hipMemPoolSetAttribute, hipMemPoolGetAttribute, hipMallocFromPoolAsync, hipMemPoolTrimTo
#[test]
fn attributes_count_what_is_used_and_reserved() {
    let (pool, stream) = (new_pool(), new_stream());
    let (used, used_high) = (hipMemPoolAttrUsedMemCurrent, hipMemPoolAttrUsedMemHigh);
    let (reserved, reserved_high) = (hipMemPoolAttrReservedMemCurrent, hipMemPoolAttrReservedMemHigh);
    for attribute in [used, used_high, reserved, reserved_high, hipMemPoolAttrReleaseThreshold] {
        assert_eq!(bytes(pool, attribute), 0);
    }
    let (first, second) = (from_pool(pool, 1000, stream), from_pool(pool, 5 << 20, stream));
    let both = 1000 + (5 << 20);
    assert_eq!((bytes(pool, used), bytes(pool, used_high)), (both, both));
    assert!(bytes(pool, reserved) >= both);
    ok!(hipFreeAsync(second, stream), set(pool, used_high, 0));
    assert_eq!((bytes(pool, used), bytes(pool, used_high)), (1000, 1000), "what is in use is the mark");
    ok!(set(pool, hipMemPoolAttrReleaseThreshold, u64::MAX), hipStreamSynchronize(stream));
    assert!(bytes(pool, reserved) >= both, "below the threshold");
    ok!(hipMemPoolTrimTo(pool, 0));
    let kept = bytes(pool, reserved);
    assert!((1000..both).contains(&kept) && bytes(pool, reserved_high) >= both);
    ok!(set(pool, reserved_high, 0));
    assert_eq!(bytes(pool, reserved_high), kept);
    ok!(hipFreeAsync(first, stream), set(pool, hipMemPoolAttrReleaseThreshold, 0));
    ok!(hipStreamSynchronize(stream));
    assert_eq!((bytes(pool, used), bytes(pool, reserved)), (0, 0), "above the threshold");

    for reuse in 1..4 {
        let (attribute, mut value) = (hipMemPoolAttr(reuse), 77);
        let mut get = || {
            ok!(hipMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()));
            value
        };
        assert_eq!(get(), 1, "allowed unless it is forbidden");
        ok!(set(pool, attribute, 0));
        assert_eq!(get(), 0);
        ok!(set(pool, attribute, 2));
        assert_eq!(get(), 1);
    }
    let mut unused = 0u64;
    let out = (&raw mut unused).cast();
    fails!(hipErrorInvalidValue, set(pool, used_high, 1));
    fails!(hipErrorInvalidValue, set(pool, reserved_high, 1));
    fails!(hipErrorInvalidValue, set(pool, used, 0));
    fails!(hipErrorInvalidValue, set(pool, reserved, 0));
    let nothing = ptr::without_provenance_mut::<c_void>(usize::MAX);
    fails!(hipErrorInvalidValue, hipMemPoolSetAttribute(pool, used, nothing));
    for attribute in (1..9).map(hipMemPoolAttr) {
        fails!(hipErrorInvalidValue, hipMemPoolGetAttribute(pool, attribute, ptr::null_mut()));
        fails!(hipErrorInvalidValue, hipMemPoolSetAttribute(pool, attribute, ptr::null_mut()));
    }
    for attribute in [0, 9, 99, u32::MAX].map(hipMemPoolAttr) {
        fails!(hipErrorInvalidValue, set(pool, attribute, 0));
        fails!(hipErrorInvalidValue, hipMemPoolGetAttribute(pool, attribute, out));
    }
    ok!(hipMemPoolDestroy(pool));
    fails!(hipErrorInvalidValue, set(pool, used_high, 0));
    fails!(hipErrorInvalidValue, hipMemPoolGetAttribute(pool, used, out));
    fails!(hipErrorInvalidValue, hipMemPoolTrimTo(pool, 0));
    ok!(hipStreamDestroy(stream));
}

// proves: hipMemPoolSetAccess, hipMemPoolGetAccess
#[test]
fn access_is_for_devices_and_never_taken_from_the_owner() {
    let pool = new_pool();
    let (mut flags, mut place) = (hipMemAccessFlags(77), DEVICE);
    ok!(hipMemPoolGetAccess(&mut flags, pool, &mut place));
    assert_eq!(flags, hipMemAccessFlagsProtReadWrite);
    let give = |location, flags, count| {
        let descriptors = [hipMemAccessDesc { location, flags }; 2];
        // SAFETY: the array has two elements; more are refused before they are read.
        unsafe { hipMemPoolSetAccess(pool, descriptors.as_ptr(), count) }
    };
    let all = hipMemAccessFlagsProtReadWrite;
    ok!(give(DEVICE, all, 1), give(DEVICE, all, 0));
    fails!(hipErrorInvalidValue, give(DEVICE, hipMemAccessFlagsProtNone, 1));
    fails!(hipErrorNotSupported, give(DEVICE, hipMemAccessFlagsProtRead, 1));
    fails!(hipErrorInvalidValue, give(DEVICE, hipMemAccessFlags(2), 1));
    fails!(hipErrorInvalidValue, give(DEVICE, all, 99));
    fails!(hipErrorInvalidValue, give(DEVICE, all, usize::MAX));
    let mut nowhere = at(DEVICE.r#type, 99);
    fails!(hipErrorInvalidDevice, give(nowhere, all, 1));
    fails!(hipErrorInvalidDevice, hipMemPoolGetAccess(&mut flags, pool, &mut nowhere));
    for place in [at(hipMemLocationTypeInvalid, 0), at(hipMemLocationTypeHost, 0)] {
        fails!(hipErrorInvalidValue, give(place, all, 1));
        let mut place = place;
        fails!(hipErrorInvalidValue, hipMemPoolGetAccess(&mut flags, pool, &mut place));
    }
    fails!(hipErrorInvalidValue, hipMemPoolSetAccess(pool, ptr::null(), 1));
    fails!(hipErrorInvalidValue, hipMemPoolGetAccess(ptr::null_mut(), pool, &mut place));
    fails!(hipErrorInvalidValue, hipMemPoolGetAccess(&mut flags, pool, ptr::null_mut()));
    ok!(hipMemPoolDestroy(pool));
    fails!(hipErrorInvalidValue, hipMemPoolSetAccess(pool, ptr::null(), 0));
    fails!(hipErrorInvalidValue, hipMemPoolGetAccess(&mut flags, pool, &mut place));
}

// proves: hipMallocAsync, hipFreeAsync
#[test]
fn stream_ordered_memory_is_freed_once_by_either_call() {
    let (stream, other) = (new_stream(), new_stream());
    let mut address = ptr::null_mut();
    for stream in [stream, hipStream_t::NULL, hipStreamLegacy, hipStreamPerThread] {
        ok!(hipMallocAsync(&mut address, 64, stream), hipMemset(address, 3, 64));
        ok!(hipFreeAsync(address, stream));
        fails!(hipErrorInvalidValue, hipFreeAsync(address, stream));
        fails!(hipErrorInvalidValue, hipFree(address));
    }
    ok!(hipMallocAsync(&mut address, 64, stream), hipFreeAsync(address, other));
    ok!(hipMallocAsync(&mut address, 64, stream), hipFree(address));
    fails!(hipErrorInvalidValue, hipFreeAsync(address, stream));
    fails!(hipErrorInvalidValue, hipFreeAsync(ptr::null_mut(), stream));

    fails!(hipErrorInvalidValue, hipFreeAsync(ptr::without_provenance_mut(0x1234), stream));
    fails!(hipErrorInvalidValue, hipMallocAsync(ptr::null_mut(), 64, stream));
    ok!(hipMallocAsync(&mut address, 0, stream));
    assert!(address.is_null(), "no bytes have no address");
    fails!(hipErrorOutOfMemory, hipMallocAsync(&mut address, usize::MAX, stream));
    fails!(hipErrorOutOfMemory, hipMallocAsync(&mut address, 1 << 50, stream));

    let pool = new_pool();
    fails!(hipErrorInvalidValue, hipMallocFromPoolAsync(ptr::null_mut(), 64, pool, stream));
    ok!(hipMallocFromPoolAsync(&mut address, 0, pool, stream));
    fails!(hipErrorOutOfMemory, hipMallocFromPoolAsync(&mut address, usize::MAX, pool, stream));
    fails!(hipErrorInvalidValue, hipMallocFromPoolAsync(&mut address, 64, BAD, stream));
    ok!(hipMemPoolDestroy(pool));
    fails!(hipErrorInvalidValue, hipMallocFromPoolAsync(&mut address, 64, pool, stream));
    ok!(hipStreamDestroy(stream), hipStreamDestroy(other));
    ok!(hipMallocAsync(&mut address, 64, hipStream_t::NULL));
    for stream in [stream, hipStream_t(0x5eed)] {
        fails!(hipErrorInvalidHandle, hipMallocAsync(&mut address, 64, stream));
        fails!(hipErrorInvalidHandle, hipFreeAsync(address, stream));
    }
    ok!(hipFreeAsync(address, hipStream_t::NULL));
}

#[test]
fn a_pool_refuses_what_exceeds_its_size() {
    let mut pool = hipMemPool_t::NULL;
    let limited = hipMemPoolProps { maxSize: 4 << 20, ..props() };
    ok!(hipMemPoolCreate(&mut pool, &limited));
    let stream = new_stream();
    let held = from_pool(pool, 3 << 20, stream);
    let mut address = ptr::null_mut();
    fails!(hipErrorOutOfMemory, hipMallocFromPoolAsync(&mut address, 2 << 20, pool, stream));
    ok!(hipFreeAsync(held, stream));
    let held = from_pool(pool, 2 << 20, stream);
    ok!(hipFreeAsync(held, stream), hipMemPoolDestroy(pool), hipStreamDestroy(stream));
}

#[test]
fn captures_allow_no_change_of_pools() {
    let (stream, pool) = (new_stream(), new_pool());
    let mut graph = hipGraph_t(0);
    type Call<'a> = &'a dyn Fn() -> hipError_t;
    let (mut made, mut place, mut data) =
        (hipMemPool_t::NULL, DEVICE, hipMemPoolPtrExportData { reserved: [0; 64] });
    let (made, place, data) = (&raw mut made, &raw mut place, &raw mut data);
    // SAFETY: places to write, which live until the end, and nothing that is read but was written.
    let calls: [Call<'_>; 5] = unsafe {
        [
            &|| hipMemPoolCreate(made, &props()),
            &|| hipMemPoolDestroy(pool),
            &|| hipDeviceSetMemPool(0, pool),
            &|| hipMemSetMemPool(place, hipMemAllocationTypePinned, pool),
            &|| hipMemPoolImportPointer(made.cast(), pool, data),
        ]
    };
    for call in calls {
        ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        fails!(hipErrorStreamCaptureUnsupported, call());
        fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut graph));
    }
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed), hipDeviceSetMemPool(0, pool));
    assert_eq!(bytes(pool, hipMemPoolAttrUsedMemCurrent), 0, "asking is always allowed");
    ok!(hipStreamEndCapture(stream, &mut graph), hipMemPoolDestroy(pool), hipStreamDestroy(stream));
    assert_eq!(current_pool(), default_pool());
}
