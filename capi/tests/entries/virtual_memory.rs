use std::{
    ffi::{c_uint, c_ulonglong},
    ptr,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use aqlipse::external::{ExternalSemaphore, SemaphoreKind};
use capi::{error::hipError_t, types::*};

use super::*;
use crate::{
    process::{again, ends, footprint, role, with_devices},
    program::{BLOCK, doubles, line},
};

unsafe extern "C" {
    pub fn hipMemAddressReserve(
        address: *mut *mut c_void,
        bytes: usize,
        alignment: usize,
        wish: *mut c_void,
        flags: c_ulonglong,
    ) -> hipError_t;
    pub fn hipMemAddressFree(address: *mut c_void, bytes: usize) -> hipError_t;
    pub fn hipMemCreate(
        handle: *mut hipMemGenericAllocationHandle_t,
        bytes: usize,
        properties: *const hipMemAllocationProp,
        flags: c_ulonglong,
    ) -> hipError_t;
    pub fn hipMemRelease(handle: hipMemGenericAllocationHandle_t) -> hipError_t;
    pub fn hipMemMap(
        address: *mut c_void,
        bytes: usize,
        offset: usize,
        handle: hipMemGenericAllocationHandle_t,
        flags: c_ulonglong,
    ) -> hipError_t;
    pub fn hipMemUnmap(address: *mut c_void, bytes: usize) -> hipError_t;
    fn hipIpcCloseMemHandle(address: *mut c_void) -> hipError_t;
    pub fn hipMemSetAccess(
        address: *mut c_void,
        bytes: usize,
        wishes: *const hipMemAccessDesc,
        count: usize,
    ) -> hipError_t;
    fn hipMemGetAccess(
        flags: *mut c_ulonglong,
        location: *const hipMemLocation,
        address: *mut c_void,
    ) -> hipError_t;
    fn hipMemGetAllocationGranularity(
        granularity: *mut usize,
        properties: *const hipMemAllocationProp,
        option: hipMemAllocationGranularity_flags,
    ) -> hipError_t;
    fn hipMemGetAllocationPropertiesFromHandle(
        properties: *mut hipMemAllocationProp,
        handle: hipMemGenericAllocationHandle_t,
    ) -> hipError_t;
    fn hipMemRetainAllocationHandle(
        handle: *mut hipMemGenericAllocationHandle_t,
        address: *mut c_void,
    ) -> hipError_t;
    fn hipMemExportToShareableHandle(
        out: *mut c_void,
        handle: hipMemGenericAllocationHandle_t,
        kind: hipMemAllocationHandleType,
        flags: c_ulonglong,
    ) -> hipError_t;
    fn hipMemImportFromShareableHandle(
        handle: *mut hipMemGenericAllocationHandle_t,
        source: *mut c_void,
        kind: hipMemAllocationHandleType,
    ) -> hipError_t;
    fn hipMemGetHandleForAddressRange(
        handle: *mut c_void,
        address: *mut c_void,
        bytes: usize,
        kind: hipMemRangeHandleType,
        flags: c_ulonglong,
    ) -> hipError_t;
    fn hipMemGetAddressRange(base: *mut *mut c_void, bytes: *mut usize, pointer: *mut c_void) -> hipError_t;
    fn hipPointerGetAttribute(
        out: *mut c_void,
        attribute: hipPointer_attribute,
        pointer: *mut c_void,
    ) -> hipError_t;
    fn hipPointerGetAttributes(attributes: *mut hipPointerAttribute_t, pointer: *const c_void) -> hipError_t;
    fn hipDeviceGetAttribute(value: *mut c_int, attribute: hipDeviceAttribute_t, device: c_int)
    -> hipError_t;
    fn hipSetDevice(device: c_int) -> hipError_t;
    fn hipDeviceSynchronize() -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipMemcpyAsync(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipGraphInstantiateWithFlags(
        exec: *mut hipGraphExec_t,
        graph: hipGraph_t,
        flags: c_ulonglong,
    ) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipLaunchKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        lds: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipImportExternalSemaphore(
        semaphore: *mut hipExternalSemaphore_t,
        description: *const hipExternalSemaphoreHandleDesc,
    ) -> hipError_t;
    fn hipWaitExternalSemaphoresAsync(
        semaphores: *const hipExternalSemaphore_t,
        params: *const hipExternalSemaphoreWaitParams,
        count: c_uint,
        stream: hipStream_t,
    ) -> hipError_t;
}

const NULL: hipStream_t = hipStream_t::NULL;

/// Whether the device has virtual memory; where not, everything says so.
fn supported() -> bool {
    let mut answer = 0;
    ok!(hipDeviceGetAttribute(&mut answer, hipDeviceAttributeVirtualMemoryManagementSupported, 0));
    if answer == 0 {
        let mut address = ptr::null_mut();
        fails!(hipErrorNotSupported, hipMemAddressReserve(&mut address, 1 << 21, 0, ptr::null_mut(), 0));
    }
    answer != 0
}

fn properties(device: c_int) -> hipMemAllocationProp {
    hipMemAllocationProp {
        r#type: hipMemAllocationTypePinned,
        requestedHandleType: hipMemHandleTypePosixFileDescriptor,
        location: hipMemLocation { r#type: hipMemLocationTypeDevice, id: device },
        win32HandleMetaData: ptr::null_mut(),
        allocFlags: hipMemAllocationFlags { compressionType: 0, gpuDirectRDMACapable: 0, usage: 0 },
    }
}

fn granule() -> usize {
    let mut granule = 0;
    ok!(hipMemGetAllocationGranularity(&mut granule, &properties(0), hipMemAllocationGranularityRecommended));
    // Room for one block of doubles.
    granule.max(8 * BLOCK as usize)
}

fn reserve(bytes: usize) -> *mut c_void {
    let mut address = ptr::null_mut();
    ok!(hipMemAddressReserve(&mut address, bytes, 0, ptr::null_mut(), 0));
    address
}

fn create(device: c_int, bytes: usize) -> hipMemGenericAllocationHandle_t {
    let mut handle = hipMemGenericAllocationHandle_t(0);
    ok!(hipMemCreate(&mut handle, bytes, &properties(device), 0));
    handle
}

fn right(device: c_int, flags: hipMemAccessFlags) -> hipMemAccessDesc {
    hipMemAccessDesc { location: hipMemLocation { r#type: hipMemLocationTypeDevice, id: device }, flags }
}

fn allow(address: *mut c_void, bytes: usize, device: c_int, flags: hipMemAccessFlags) {
    ok!(hipMemSetAccess(address, bytes, &right(device, flags), 1));
}

fn read(address: *const c_void, count: usize) -> Vec<f64> {
    let mut values = vec![0.0; count];
    ok!(hipMemcpy(values.as_mut_ptr().cast(), address, 8 * count, hipMemcpyDeviceToHost));
    values
}

fn double(address: *mut c_void, stream: hipStream_t) -> hipError_t {
    let mut address = address;
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    // SAFETY: the kernel takes one pointer to a block of doubles.
    unsafe { hipLaunchKernel(doubles(), line(1), line(BLOCK), arguments.as_mut_ptr(), 0, stream) }
}

// proves: hipMemAddressReserve, hipMemAddressFree, hipMemCreate, hipMemRelease, hipMemMap, hipMemUnmap
// proves: hipMemSetAccess, hipMemGetAllocationGranularity, hipMemGetAddressRange
#[test]
fn kernels_copies_fills_and_graphs_work_on_mapped_memory() {
    if !supported() {
        return;
    }
    let size = granule();
    let base = reserve(2 * size);
    let second = base.wrapping_byte_add(size);
    // One allocation of two halves: copies and fills cross from the one to the other.
    for half in [base, second] {
        let handle = create(0, size);
        ok!(hipMemMap(half, size, 0, handle, 0), hipMemRelease(handle));
    }
    let values: Vec<f64> = (0..2 * size / 8).map(|i| i as f64).collect();
    let bytes = 2 * size;
    fails!(hipErrorInvalidValue, hipMemcpy(base, values.as_ptr().cast(), bytes, hipMemcpyHostToDevice));
    allow(base, bytes, 0, hipMemAccessFlagsProtReadWrite);
    ok!(hipMemcpy(base, values.as_ptr().cast(), bytes, hipMemcpyHostToDevice));
    let crossing = second.wrapping_byte_sub(4 * BLOCK as usize);
    ok!(double(crossing, NULL), hipDeviceSynchronize());
    let first = (size - 4 * BLOCK as usize) / 8;
    let doubled = |i: usize| if (first..first + BLOCK as usize).contains(&i) { 2.0 } else { 1.0 };
    let expected: Vec<f64> = values.iter().enumerate().map(|(i, v)| v * doubled(i)).collect();
    assert_eq!(read(base, values.len()), expected);
    fails!(hipErrorInvalidValue, hipMemset(base, 0, bytes + 1));
    // Over several mappings holds what holds in all of them.
    allow(second, size, 0, hipMemAccessFlagsProtRead);
    fails!(hipErrorInvalidValue, hipMemset(base, 0, bytes));
    assert_eq!(read(base, values.len()), expected);
    allow(second, size, 0, hipMemAccessFlagsProtReadWrite);

    let (mut found, mut length) = (ptr::null_mut(), 0);
    ok!(hipMemGetAddressRange(&mut found, &mut length, second.wrapping_byte_add(5)));
    assert_eq!((found, length), (second, size));
    // SAFETY: zeros are a valid value.
    let mut attributes: hipPointerAttribute_t = unsafe { std::mem::zeroed() };
    ok!(hipPointerGetAttributes(&mut attributes, second));
    assert_eq!((attributes.r#type, attributes.device), (hipMemoryTypeDevice, 0));
    let (mut kinds, mut flags): (u64, u64) = (0, 0);
    ok!(
        hipPointerGetAttribute((&raw mut kinds).cast(), HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, base),
        hipPointerGetAttribute((&raw mut flags).cast(), HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS, base),
    );
    assert_eq!((kinds, flags), (1, 3));
    fails!(hipErrorInvalidValue, hipFree(base));

    let stream = new_stream();
    let (mut graph, mut exec) = (hipGraph_t::NULL, hipGraphExec_t::NULL);
    let other = Memory::of(&vec![1.0f64; values.len()]);
    ok!(
        hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal),
        hipMemcpyAsync(base, other.pointer(), bytes, hipMemcpyDeviceToDevice, stream),
        double(crossing, stream),
        hipMemsetAsync(base, 0, 8, stream),
        hipStreamEndCapture(stream, &mut graph),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    let mut expected: Vec<f64> = (0..values.len()).map(doubled).collect();
    expected[0] = 0.0;
    assert_eq!(read(base, values.len()), expected);
    ok!(
        hipGraphExecDestroy(exec),
        hipGraphDestroy(graph),
        hipStreamDestroy(stream),
        hipMemUnmap(base, bytes),
        hipMemAddressFree(base, bytes),
    );
    fails!(hipErrorInvalidValue, hipMemAddressFree(base, bytes));
}

#[test]
fn each_function_refuses_what_its_documentation_excludes() {
    if !supported() {
        return;
    }
    let size = granule();
    let mut address = ptr::null_mut();
    let null = ptr::null_mut::<c_void>();
    fails!(hipErrorInvalidValue, hipMemAddressReserve(ptr::null_mut(), size, 0, null, 0));
    fails!(hipErrorOutOfMemory, hipMemAddressReserve(&mut address, 0, 0, null, 0));
    fails!(hipErrorOutOfMemory, hipMemAddressReserve(&mut address, size + 1, 0, null, 0));
    fails!(hipErrorInvalidValue, hipMemAddressReserve(&mut address, size, 3 * size, null, 0));
    fails!(hipErrorInvalidValue, hipMemAddressReserve(&mut address, size, 0, null, 1));
    fails!(hipErrorOutOfMemory, hipMemAddressReserve(&mut address, usize::MAX & !0xfff, 0, null, 0));
    ok!(hipMemAddressReserve(&mut address, 4 * size, 4 << 20, null, 0));
    assert_eq!(address as usize % (4 << 20), 0);

    let mut handle = hipMemGenericAllocationHandle_t(0);
    let good = properties(0);
    fails!(hipErrorInvalidValue, hipMemCreate(ptr::null_mut(), size, &good, 0));
    fails!(hipErrorInvalidValue, hipMemCreate(&mut handle, size, ptr::null(), 0));
    fails!(hipErrorInvalidValue, hipMemCreate(&mut handle, size - 1, &good, 0));
    fails!(hipErrorInvalidValue, hipMemCreate(&mut handle, size, &good, 1));
    fails!(hipErrorInvalidValue, hipMemCreate(&mut handle, size, &properties(99), 0));
    fails!(hipErrorOutOfMemory, hipMemCreate(&mut handle, 1 << 60, &good, 0));
    let managed = hipMemAllocationProp { r#type: hipMemAllocationTypeManaged, ..good };
    fails!(hipErrorNotSupported, hipMemCreate(&mut handle, size, &managed, 0));
    let windows = hipMemAllocationProp { requestedHandleType: hipMemHandleTypeWin32, ..good };
    fails!(hipErrorNotSupported, hipMemCreate(&mut handle, size, &windows, 0));
    ok!(hipMemCreate(&mut handle, 2 * size, &good, 0));

    let second = address.wrapping_byte_add(size);
    fails!(hipErrorInvalidValue, hipMemMap(null, 2 * size, 0, handle, 0));
    fails!(hipErrorInvalidValue, hipMemMap(address, 3 * size, 0, handle, 0));
    fails!(hipErrorInvalidValue, hipMemMap(address, size / 2 + 1, 0, handle, 0));
    fails!(hipErrorInvalidValue, hipMemMap(address, 2 * size, size, handle, 0));
    fails!(hipErrorInvalidValue, hipMemMap(address, 2 * size, 0, handle, 1));
    fails!(hipErrorInvalidValue, hipMemMap(address.wrapping_byte_add(8), 2 * size, 0, handle, 0));
    fails!(hipErrorInvalidValue, hipMemMap(address.wrapping_byte_add(3 * size), 2 * size, 0, handle, 0));
    for garbage in [0, 1, 0xdead_beef, handle.0 + 1, handle.0 + 16, usize::MAX] {
        let garbage = hipMemGenericAllocationHandle_t(garbage);
        fails!(hipErrorInvalidValue, hipMemMap(address, 2 * size, 0, garbage, 0));
        fails!(hipErrorInvalidValue, hipMemRelease(garbage));
    }
    ok!(hipMemMap(second, 2 * size, 0, handle, 0));
    fails!(hipErrorInvalidValue, hipMemMap(address, 2 * size, 0, handle, 0));
    fails!(hipErrorInvalidValue, hipMemAddressFree(address, 4 * size));
    fails!(hipErrorInvalidValue, hipMemAddressFree(address, size));

    let wish = right(0, hipMemAccessFlagsProtReadWrite);
    fails!(hipErrorInvalidValue, hipMemSetAccess(second, 2 * size, &wish, 0));
    fails!(hipErrorInvalidValue, hipMemSetAccess(second, 2 * size, ptr::null(), 1));
    fails!(hipErrorInvalidValue, hipMemSetAccess(second, size, &wish, 1));
    fails!(hipErrorInvalidValue, hipMemSetAccess(address, 3 * size, &wish, 1));
    fails!(hipErrorInvalidValue, hipMemSetAccess(second, 2 * size, &right(99, hipMemAccessFlagsProtRead), 1));
    fails!(hipErrorInvalidValue, hipMemSetAccess(second, 2 * size, &right(0, hipMemAccessFlags(2)), 1));
    let mut flags = 0;
    fails!(hipErrorInvalidValue, hipMemGetAccess(&mut flags, ptr::null(), second));
    fails!(hipErrorInvalidValue, hipMemGetAccess(&mut flags, &wish.location, address));

    fails!(hipErrorInvalidValue, hipMemUnmap(null, 2 * size));
    fails!(hipErrorInvalidValue, hipMemUnmap(second, size));
    fails!(hipErrorInvalidValue, hipMemUnmap(address, 3 * size));
    ok!(hipMemUnmap(second, 2 * size));
    fails!(hipErrorInvalidValue, hipMemUnmap(second, 2 * size));
    fails!(hipErrorInvalidValue, hipMemRetainAllocationHandle(&mut handle, second));
    ok!(hipMemRelease(handle), hipMemAddressFree(address, 4 * size));
    fails!(hipErrorInvalidValue, hipMemRelease(handle));

    let mut value = 0;
    let minimum = hipMemAllocationGranularityMinimum;
    fails!(hipErrorInvalidValue, hipMemGetAllocationGranularity(ptr::null_mut(), &good, minimum));
    let other = hipMemAllocationGranularity_flags(7);
    fails!(hipErrorInvalidValue, hipMemGetAllocationGranularity(&mut value, &good, other));
}

// proves: hipMemGetHandleForAddressRange
#[test]
fn ranges_inside_an_allocation_are_refused() {
    if !supported() {
        return;
    }
    let size = granule();
    let (base, handle) = (reserve(size), create(0, size));
    let mut descriptor: c_int = -1;
    let out = (&raw mut descriptor).cast::<c_void>();
    let dmabuf = hipMemRangeHandleTypeDmaBufFd;
    fails!(hipErrorInvalidValue, hipMemGetHandleForAddressRange(out, base, size, dmabuf, 0));
    ok!(hipMemMap(base, size, 0, handle, 0));
    // SAFETY: the descriptor has room for the answer.
    let code = unsafe { hipMemGetHandleForAddressRange(out, base, size, dmabuf, 0) };
    if aqlipse::Device::get(0).unwrap().backend() == aqlipse::Backend::Rocr
        && code == capi::error::hipErrorNotSupported
    {
        // Runtime 1.18 makes dma-bufs of what it allocated, not of what it mapped.
        ok!(hipMemUnmap(base, size), hipMemRelease(handle), hipMemAddressFree(base, size));
        return;
    }
    assert_eq!(code, capi::error::hipSuccess);
    assert!(descriptor >= 0);
    // SAFETY: a descriptor of ours.
    assert_eq!(unsafe { libc_close(descriptor) }, 0);
    let inside = base.wrapping_byte_add(size / 2);
    fails!(hipErrorNotSupported, hipMemGetHandleForAddressRange(out, inside, 8, dmabuf, 0));
    fails!(hipErrorInvalidValue, hipMemGetHandleForAddressRange(out, base, 2 * size, dmabuf, 0));
    fails!(
        hipErrorInvalidValue,
        hipMemGetHandleForAddressRange(out, base, size, hipMemRangeHandleType(2), 0)
    );
    fails!(hipErrorInvalidValue, hipMemGetHandleForAddressRange(out, base, size, dmabuf, 2));
    ok!(hipMemUnmap(base, size), hipMemRelease(handle), hipMemAddressFree(base, size));
}

unsafe extern "C" {
    #[link_name = "close"]
    fn libc_close(descriptor: c_int) -> c_int;
    #[link_name = "fcntl"]
    fn libc_fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
}

// proves: hipMemRetainAllocationHandle, hipMemGetAllocationPropertiesFromHandle
#[test]
fn the_handle_of_mapped_memory_is_the_one_that_it_was_mapped_with() {
    if !supported() {
        return;
    }
    let size = granule();
    let (base, handle) = (reserve(2 * size), create(0, size));
    let second = base.wrapping_byte_add(size);
    ok!(hipMemMap(base, size, 0, handle, 0), hipMemRelease(handle));
    let mut again = hipMemGenericAllocationHandle_t(0);
    ok!(hipMemRetainAllocationHandle(&mut again, base.wrapping_byte_add(100)));
    assert_eq!(again, handle, "even after it was released");
    let mut found = properties(9);
    ok!(hipMemGetAllocationPropertiesFromHandle(&mut found, again));
    assert_eq!((found.location.id, found.r#type), (0, hipMemAllocationTypePinned));
    assert_eq!(found.requestedHandleType, hipMemHandleTypePosixFileDescriptor);
    // The same memory at a second address.
    ok!(hipMemMap(second, size, 0, again, 0), hipMemRelease(again));
    allow(base, 2 * size, 0, hipMemAccessFlagsProtReadWrite);
    ok!(hipMemset(base, 0, size), hipMemset(base, 0x3f, 8));
    assert_eq!(read(second, 1)[0].to_bits(), 0x3f3f_3f3f_3f3f_3f3f);
    ok!(hipMemUnmap(base, 2 * size), hipMemAddressFree(base, 2 * size));
    fails!(hipErrorInvalidValue, hipMemGetAllocationPropertiesFromHandle(&mut found, again));
}

#[test]
fn unmapping_waits_for_the_work_that_uses_the_memory() {
    if !supported() {
        return;
    }
    let size = granule();
    let (base, handle) = (reserve(2 * size), create(0, size));
    let second = base.wrapping_byte_add(size);
    ok!(hipMemMap(base, size, 0, handle, 0), hipMemMap(second, size, 0, handle, 0));
    allow(base, 2 * size, 0, hipMemAccessFlagsProtReadWrite);
    let (stream, (semaphore, ours)) = (new_stream(), external_semaphore());
    ok!(
        hipMemset(second, 0, size),
        // SAFETY: zeros wait for the value 0 of a binary semaphore.
        hipWaitExternalSemaphoresAsync(&semaphore, &std::mem::zeroed(), 1, stream),
        hipMemsetAsync(base, 0x11, size, stream),
    );
    let unmapped = AtomicBool::new(false);
    let address = base as usize;
    thread::scope(|scope| {
        scope.spawn(|| {
            ok!(hipMemUnmap(address as *mut c_void, size));
            unmapped.store(true, Ordering::SeqCst);
        });
        thread::sleep(Duration::from_millis(100));
        assert!(!unmapped.load(Ordering::SeqCst), "the fill has not run");
        ours.signal(0);
    });
    assert_eq!(read(second, 1)[0].to_bits(), 0x1111_1111_1111_1111);
    ok!(
        hipStreamDestroy(stream),
        hipMemUnmap(second, size),
        hipMemRelease(handle),
        hipMemAddressFree(base, 2 * size),
    );
}

#[test]
fn unmapping_would_wait_for_a_capture() {
    let (stream, mut graph) = (new_stream(), hipGraph_t::NULL);
    let begin = |mode| ok!(hipStreamBeginCapture(stream, mode));
    // What it waits for may hold what is captured, whatever there is at the address.
    for unmaps in [true, false] {
        let call = || match unmaps {
            // SAFETY: what is no mapping is refused.
            true => unsafe { hipMemUnmap(ptr::dangling_mut(), 1) },
            // SAFETY: as above.
            false => unsafe { hipIpcCloseMemHandle(ptr::dangling_mut()) },
        };
        begin(hipStreamCaptureModeGlobal);
        fails!(hipErrorStreamCaptureUnsupported, call());
        fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut graph));
        begin(hipStreamCaptureModeRelaxed);
        assert_ne!(call(), capi::error::hipErrorStreamCaptureUnsupported);
        ok!(hipStreamEndCapture(stream, &mut graph), hipGraphDestroy(graph));
    }
    ok!(hipStreamDestroy(stream));
}

fn external_semaphore() -> (hipExternalSemaphore_t, ExternalSemaphore) {
    use std::os::fd::IntoRawFd;
    let (descriptor, ours) = ExternalSemaphore::create(SemaphoreKind::Binary, 0).expect("a semaphore");
    // SAFETY: zeros are a valid value.
    let mut description: hipExternalSemaphoreHandleDesc = unsafe { std::mem::zeroed() };
    description.r#type = hipExternalSemaphoreHandleTypeOpaqueFd;
    description.handle.fd = descriptor.into_raw_fd();
    let mut semaphore = hipExternalSemaphore_t::NULL;
    ok!(hipImportExternalSemaphore(&mut semaphore, &description));
    (semaphore, ours)
}

// proves: hipMemGetAccess
#[test]
fn four_devices_do_what_they_may() {
    if !with_devices("virtual_memory::four_devices_do_what_they_may", 4) {
        return;
    }
    let size = granule();
    let (base, handle) = (reserve(size), create(3, size));
    ok!(hipMemMap(base, size, 0, handle, 0));
    let wishes = [
        right(0, hipMemAccessFlagsProtReadWrite),
        right(1, hipMemAccessFlagsProtRead),
        right(3, hipMemAccessFlagsProtReadWrite),
    ];
    ok!(hipMemSetAccess(base, size, wishes.as_ptr(), 3));
    let expected = [
        hipMemAccessFlagsProtReadWrite,
        hipMemAccessFlagsProtRead,
        hipMemAccessFlagsProtNone,
        hipMemAccessFlagsProtReadWrite,
    ];
    for (device, expected) in (0..).zip(expected) {
        let mut flags = 99;
        ok!(hipMemGetAccess(&mut flags, &right(device, expected).location, base));
        assert_eq!(flags, u64::from(expected.0), "device {device}");
    }
    let count = BLOCK as usize;
    ok!(hipMemcpy(base, vec![1.5f64; count].as_ptr().cast(), 8 * count, hipMemcpyHostToDevice));
    for (device, may) in [(0, true), (3, true), (1, false), (2, false)] {
        ok!(hipSetDevice(device), double(base, NULL));
        if may {
            ok!(hipDeviceSynchronize());
        } else {
            fails!(hipErrorIllegalAddress, hipDeviceSynchronize());
        }
        ok!(hipSetDevice(0));
        let factor = if device == 0 { 2.0 } else { 4.0 };
        assert_eq!(read(base, count), vec![1.5 * factor; count], "device {device}");
    }
    // What one device may do can be taken from it and given to another.
    let wishes = [right(0, hipMemAccessFlagsProtNone), right(2, hipMemAccessFlagsProtReadWrite)];
    ok!(hipMemSetAccess(base, size, wishes.as_ptr(), 2), hipSetDevice(2), double(base, NULL));
    ok!(hipDeviceSynchronize());
    assert_eq!(read(base, count), vec![12.0; count]);
    // A stream of a device that may not has the host do it for one that may.
    ok!(hipSetDevice(0));
    assert_eq!(read(base, count), vec![12.0; count]);
    ok!(double(base, NULL));
    fails!(hipErrorIllegalAddress, hipDeviceSynchronize());
    ok!(hipMemUnmap(base, size), hipMemRelease(handle), hipMemAddressFree(base, size));
}

#[test]
fn a_thousand_cycles_leave_no_descriptor_and_no_mapping() {
    if !supported() {
        return;
    }
    let size = granule();
    let cycle = || {
        let (base, handle) = (reserve(4 * size), create(0, size));
        let mut descriptor: c_int = -1;
        let posix = hipMemHandleTypePosixFileDescriptor;
        let mut imported = hipMemGenericAllocationHandle_t(0);
        ok!(hipMemExportToShareableHandle((&raw mut descriptor).cast(), handle, posix, 0));
        ok!(hipMemImportFromShareableHandle(&mut imported, descriptor as usize as *mut c_void, posix));
        // SAFETY: a descriptor of ours.
        assert_eq!(unsafe { libc_close(descriptor) }, 0);
        let other = base.wrapping_byte_add(2 * size);
        ok!(hipMemMap(base, size, 0, handle, 0), hipMemMap(other, size, 0, imported, 0));
        allow(base, size, 0, hipMemAccessFlagsProtReadWrite);
        ok!(hipMemset(base, 1, 64), hipMemUnmap(base, size), hipMemUnmap(other, size));
        ok!(hipMemRelease(handle), hipMemRelease(imported), hipMemAddressFree(base, 4 * size));
    };
    (0..10).for_each(|_| cycle());
    let before = footprint();
    (0..1000).for_each(|_| cycle());
    let after = footprint();
    // Threads and queues that were started late; a leak would be a thousand.
    assert!(after.0 <= before.0 + 16, "descriptors: {before:?} {after:?}");
    assert!(after.1 <= before.1 + 64, "mappings: {before:?} {after:?}");
}

// proves: hipMemExportToShareableHandle, hipMemImportFromShareableHandle
#[test]
fn exported_memory_is_the_same_in_another_process() {
    const NAME: &str = "virtual_memory::exported_memory_is_the_same_in_another_process";
    const DESCRIPTOR: &str = "AQLIPSE_TEST_DESCRIPTOR";
    if !supported() {
        return;
    }
    let size = granule();
    let posix = hipMemHandleTypePosixFileDescriptor;
    let base = reserve(size);
    let mut handle = hipMemGenericAllocationHandle_t(0);
    if role().is_some() {
        let descriptor: usize = std::env::var(DESCRIPTOR).unwrap().parse().unwrap();
        ok!(hipMemImportFromShareableHandle(&mut handle, descriptor as *mut c_void, posix));
        ok!(hipMemMap(base, size, 0, handle, 0), hipMemRelease(handle));
        allow(base, size, 0, hipMemAccessFlagsProtReadWrite);
        assert_eq!(read(base, BLOCK as usize), vec![3.0; BLOCK as usize]);
        ok!(double(base, NULL), hipDeviceSynchronize());
        return;
    }
    handle = create(0, size);
    let mut descriptor: c_int = -1;
    let out = (&raw mut descriptor).cast::<c_void>();
    fails!(hipErrorInvalidValue, hipMemExportToShareableHandle(ptr::null_mut(), handle, posix, 0));
    fails!(hipErrorInvalidValue, hipMemExportToShareableHandle(out, handle, hipMemHandleTypeWin32, 0));
    fails!(hipErrorInvalidValue, hipMemExportToShareableHandle(out, handle, hipMemHandleTypeNone, 0));
    let mut private = hipMemGenericAllocationHandle_t(0);
    let alone = hipMemAllocationProp { requestedHandleType: hipMemHandleTypeNone, ..properties(0) };
    ok!(hipMemCreate(&mut private, size, &alone, 0));
    fails!(hipErrorInvalidValue, hipMemExportToShareableHandle(out, private, posix, 0));
    ok!(hipMemRelease(private));
    let nothing = usize::MAX as *mut c_void;
    fails!(hipErrorInvalidValue, hipMemImportFromShareableHandle(&mut private, nothing, posix));
    ok!(hipMemExportToShareableHandle(out, handle, posix, 0));
    ok!(hipMemMap(base, size, 0, handle, 0));
    allow(base, size, 0, hipMemAccessFlagsProtReadWrite);
    let threes = vec![3.0f64; BLOCK as usize];
    ok!(hipMemcpy(base, threes.as_ptr().cast(), size_of_val(&threes[..]), hipMemcpyHostToDevice));
    // For the child; 2 is F_SETFD.
    // SAFETY: a descriptor of ours.
    assert_eq!(unsafe { libc_fcntl(descriptor, 2, 0) }, 0);
    let child = again(NAME, "importer").env(DESCRIPTOR, descriptor.to_string()).spawn().unwrap();
    assert!(ends(child).success());
    assert_eq!(read(base, BLOCK as usize), vec![6.0; BLOCK as usize]);
    // SAFETY: as above.
    assert_eq!(unsafe { libc_close(descriptor) }, 0);
    ok!(hipMemUnmap(base, size), hipMemRelease(handle), hipMemAddressFree(base, size));
}
