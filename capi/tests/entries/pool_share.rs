use std::{
    env,
    fs::{File, OpenOptions},
    os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd},
    process, ptr,
};

use capi::{error::hipError_t, types::*};

use super::*;
use crate::process::{again, ends, footprint, hex, role, unhex};

unsafe extern "C" {
    fn hipMemPoolCreate(pool: *mut hipMemPool_t, props: *const hipMemPoolProps) -> hipError_t;
    fn hipMemPoolDestroy(pool: hipMemPool_t) -> hipError_t;
    fn hipMemPoolGetAttribute(
        pool: hipMemPool_t,
        attribute: hipMemPoolAttr,
        value: *mut c_void,
    ) -> hipError_t;
    fn hipMemPoolTrimTo(pool: hipMemPool_t, keep: usize) -> hipError_t;
    fn hipDeviceGetAttribute(value: *mut c_int, attribute: hipDeviceAttribute_t, device: c_int)
    -> hipError_t;
    fn hipDeviceSetMemPool(device: c_int, pool: hipMemPool_t) -> hipError_t;
    fn hipMallocFromPoolAsync(
        address: *mut *mut c_void,
        bytes: usize,
        pool: hipMemPool_t,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipFreeAsync(address: *mut c_void, stream: hipStream_t) -> hipError_t;
    fn hipMemPoolExportToShareableHandle(
        shared: *mut c_void,
        pool: hipMemPool_t,
        kind: hipMemAllocationHandleType,
        flags: u32,
    ) -> hipError_t;
    fn hipMemPoolImportFromShareableHandle(
        pool: *mut hipMemPool_t,
        shared: *mut c_void,
        kind: hipMemAllocationHandleType,
        flags: u32,
    ) -> hipError_t;
    fn hipMemPoolExportPointer(data: *mut hipMemPoolPtrExportData, address: *mut c_void) -> hipError_t;
    fn hipMemPoolImportPointer(
        address: *mut *mut c_void,
        pool: hipMemPool_t,
        data: *mut hipMemPoolPtrExportData,
    ) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipPointerGetAttribute(
        out: *mut c_void,
        attribute: hipPointer_attribute,
        pointer: *mut c_void,
    ) -> hipError_t;
}

pub const FD: hipMemAllocationHandleType = hipMemHandleTypePosixFileDescriptor;
const POOL: &str = "AQLIPSE_TEST_POOL";
const FIRST: &str = "AQLIPSE_TEST_FIRST";
const SECOND: &str = "AQLIPSE_TEST_SECOND";
const BYTES: usize = 1000;

pub fn create(kinds: hipMemAllocationHandleType) -> Result<hipMemPool_t, hipError_t> {
    let mut pool = hipMemPool_t::NULL;
    let props = hipMemPoolProps {
        allocType: hipMemAllocationTypePinned,
        handleTypes: kinds,
        location: hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 },
        win32SecurityAttributes: ptr::null_mut(),
        maxSize: 0,
        reserved: [0; 56],
    };
    // SAFETY: a handle to write and properties to read.
    match unsafe { hipMemPoolCreate(&mut pool, &props) } {
        capi::error::hipSuccess => Ok(pool),
        code => Err(code),
    }
}

/// A pool that can be shared, where the back end shares memory; ROCr over our thunk does not.
fn shareable() -> Option<hipMemPool_t> {
    let mut kinds = -1;
    ok!(hipDeviceGetAttribute(&mut kinds, hipDeviceAttributeMemoryPoolSupportedHandleTypes, 0));
    match kinds {
        0 => {
            assert_eq!(create(FD), Err(capi::error::hipErrorNotSupported));
            None
        }
        kinds => {
            assert_eq!(kinds, FD.0 as c_int);
            Some(create(FD).unwrap())
        }
    }
}

fn exported(pool: hipMemPool_t) -> OwnedFd {
    let mut descriptor: c_int = -1;
    ok!(hipMemPoolExportToShareableHandle((&raw mut descriptor).cast(), pool, FD, 0));
    // SAFETY: the descriptor is the caller's.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

fn as_handle(descriptor: c_int) -> *mut c_void {
    ptr::without_provenance_mut(descriptor as usize)
}

fn imported(descriptor: &impl AsRawFd) -> hipMemPool_t {
    let mut pool = hipMemPool_t::NULL;
    ok!(hipMemPoolImportFromShareableHandle(&mut pool, as_handle(descriptor.as_raw_fd()), FD, 0));
    pool
}

fn named(address: *mut c_void) -> hipMemPoolPtrExportData {
    let mut data = hipMemPoolPtrExportData { reserved: [0; 64] };
    ok!(hipMemPoolExportPointer(&mut data, address));
    data
}

fn import(pool: hipMemPool_t, mut data: hipMemPoolPtrExportData) -> Result<*mut c_void, hipError_t> {
    let mut address = ptr::null_mut();
    // SAFETY: an address to write and data to read.
    match unsafe { hipMemPoolImportPointer(&mut address, pool, &mut data) } {
        capi::error::hipSuccess => Ok(address),
        code => Err(code),
    }
}

/// What another process has left in the environment.
fn found(variable: &str) -> hipMemPoolPtrExportData {
    hipMemPoolPtrExportData { reserved: unhex(variable).map(|byte| byte as u8) }
}

fn text(data: &hipMemPoolPtrExportData) -> String {
    hex(&data.reserved.map(|byte| byte as i8))
}

/// The pool that the other process exports.
fn theirs() -> hipMemPool_t {
    let path = env::var(POOL).expect(POOL);
    imported(&OpenOptions::new().read(true).write(true).open(path).unwrap())
}

/// Runs a test's other process, which finds a pool and allocations in the environment.
fn in_another_process(test: &str, pool: hipMemPool_t, allocations: &[(&str, *mut c_void)]) {
    let descriptor = exported(pool);
    let mut command = again(test, "other");
    command.env(POOL, format!("/proc/{}/fd/{}", process::id(), descriptor.as_raw_fd()));
    command.envs(allocations.iter().map(|(variable, address)| (variable, text(&named(*address)))));
    assert!(ends(command.spawn().unwrap()).success());
}

fn new_stream() -> hipStream_t {
    let mut stream = hipStream_t::NULL;
    ok!(hipStreamCreate(&mut stream));
    stream
}

fn filled(pool: hipMemPool_t, value: u8, stream: hipStream_t) -> *mut c_void {
    let mut address = ptr::null_mut();
    ok!(
        hipMallocFromPoolAsync(&mut address, BYTES, pool, stream),
        hipMemsetAsync(address, value.into(), BYTES, stream),
        hipStreamSynchronize(stream),
    );
    address
}

fn read(address: *const c_void) -> Vec<u8> {
    let mut bytes = vec![0u8; BYTES];
    ok!(hipMemcpy(bytes.as_mut_ptr().cast(), address, BYTES, hipMemcpyDeviceToHost));
    bytes
}

fn used(pool: hipMemPool_t) -> u64 {
    let mut value = 77u64;
    ok!(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, (&raw mut value).cast()));
    value
}

// proves: hipMemPoolExportToShareableHandle, hipMemPoolImportFromShareableHandle
// proves: hipMemPoolExportPointer, hipMemPoolImportPointer
#[test]
fn an_allocation_of_one_process_is_read_and_written_by_another() {
    const NAME: &str = "pool_share::an_allocation_of_one_process_is_read_and_written_by_another";
    let stream = new_stream();
    if role().is_some() {
        let pool = theirs();
        let (first, second) = (import(pool, found(FIRST)).unwrap(), import(pool, found(SECOND)).unwrap());
        assert_eq!((read(first), read(second)), (vec![0x11; BYTES], vec![0x22; BYTES]));
        assert_eq!(used(pool), 2 * BYTES as u64);
        fails!(hipErrorInvalidValue, hipMemset(first, 0, BYTES + 1));
        let mut of = hipMemPool_t::NULL;
        ok!(hipPointerGetAttribute((&raw mut of).cast(), HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, first));
        assert_eq!(of, pool);

        // The pool allocates nothing here, and does not go further.
        let mut address = ptr::null_mut();
        fails!(hipErrorNotSupported, hipMallocFromPoolAsync(&mut address, 64, pool, stream));
        fails!(hipErrorNotSupported, hipDeviceSetMemPool(0, pool));
        let mut data = found(FIRST);
        fails!(hipErrorInvalidValue, hipMemPoolExportPointer(&mut data, first));
        let mut fd: c_int = -1;
        fails!(hipErrorInvalidValue, hipMemPoolExportToShareableHandle((&raw mut fd).cast(), pool, FD, 0));

        ok!(hipMemset(first, 0x33, 10), hipFree(first));
        fails!(hipErrorInvalidValue, hipFree(first));
        assert_eq!(used(pool), BYTES as u64);
        // Memory outlives the pool's handle, and work that a free follows is done.
        ok!(
            hipMemPoolDestroy(pool),
            hipMemsetAsync(second, 0x44, BYTES, stream),
            hipFreeAsync(second, stream),
            hipStreamSynchronize(stream),
        );
        fails!(hipErrorInvalidValue, hipMemset(second, 0x55, usize::MAX));
        fails!(hipErrorInvalidValue, hipMemPoolDestroy(pool));
        return;
    }
    let Some(pool) = shareable() else { return };
    let (first, second) = (filled(pool, 0x11, stream), filled(pool, 0x22, stream));
    in_another_process(NAME, pool, &[(FIRST, first), (SECOND, second)]);
    let wanted = [[0x33; 10].as_slice(), &[0x11; BYTES - 10]].concat();
    assert_eq!((read(first), read(second)), (wanted, vec![0x44; BYTES]));
    ok!(hipFreeAsync(first, stream), hipFreeAsync(second, stream), hipStreamSynchronize(stream));
    ok!(hipMemPoolDestroy(pool), hipStreamDestroy(stream));
}

#[test]
fn a_name_of_no_allocation_of_the_pool_is_refused() {
    const NAME: &str = "pool_share::a_name_of_no_allocation_of_the_pool_is_refused";
    let stream = new_stream();
    if role().is_some() {
        let (pool, good) = (theirs(), found(FIRST));
        // Each byte of what the HSA runtime calls the memory, and of what tells the pool from others.
        for byte in (0..32).chain(56..64) {
            let mut broken = good;
            broken.reserved[byte] ^= 0x55;
            assert_eq!(import(pool, broken), Err(capi::error::hipErrorInvalidValue), "byte {byte}");
        }
        // Places that leave the memory: bytes of it, where the allocation begins, its bytes.
        for (word, value) in [(4, 0), (5, u64::MAX), (6, u64::MAX), (6, 0), (6, 1 << 40), (4, 64)] {
            let mut broken = good;
            broken.reserved[8 * word..8 * word + 8].copy_from_slice(&u64::to_ne_bytes(value));
            assert_eq!(import(pool, broken), Err(capi::error::hipErrorInvalidValue), "word {word}");
        }
        assert_eq!(import(pool, found(SECOND)), Err(capi::error::hipErrorInvalidValue), "of another pool");
        let address = import(pool, good).unwrap();
        assert_eq!(read(address), vec![0x11; BYTES]);
        ok!(hipFree(address), hipMemPoolDestroy(pool));
        assert_eq!(import(pool, good), Err(capi::error::hipErrorInvalidValue));
        return;
    }
    let (Some(pool), Some(other)) = (shareable(), shareable()) else { return };
    let (first, second) = (filled(pool, 0x11, stream), filled(other, 0x22, stream));
    in_another_process(NAME, pool, &[(FIRST, first), (SECOND, second)]);
    ok!(hipFree(first), hipFree(second), hipMemPoolDestroy(pool), hipMemPoolDestroy(other));
    ok!(hipStreamDestroy(stream));
}

#[test]
fn a_thousand_imports_leave_no_descriptor_and_no_mapping() {
    const NAME: &str = "pool_share::a_thousand_imports_leave_no_descriptor_and_no_mapping";
    let stream = new_stream();
    if role().is_some() {
        let cycle = |n: u32| {
            let pool = theirs();
            let address = import(pool, found(FIRST)).unwrap();
            match n % 2 {
                0 => ok!(hipFree(address)),
                _ => {
                    ok!(hipFreeAsync(address, stream), hipStreamSynchronize(stream));
                }
            }
            ok!(hipMemPoolDestroy(pool));
        };
        (0..10).for_each(cycle);
        let before = footprint();
        (0..1000).for_each(cycle);
        let after = footprint();
        assert_eq!(after.0, before.0, "descriptors");
        // Threads and queues that were started late; a leak would be a thousand.
        assert!(after.1 <= before.1 + 64, "mappings: {before:?} {after:?}");
        return;
    }
    let Some(pool) = shareable() else { return };
    let memory = filled(pool, 0x11, stream);
    in_another_process(NAME, pool, &[(FIRST, memory)]);
    ok!(hipFree(memory), hipMemPoolDestroy(pool), hipStreamDestroy(stream));
}

#[test]
fn memory_that_another_process_has_mapped_is_given_back_by_its_owner() {
    const NAME: &str = "pool_share::memory_that_another_process_has_mapped_is_given_back_by_its_owner";
    let stream = new_stream();
    if role().is_some() {
        let pool = theirs();
        let address = import(pool, found(FIRST)).unwrap();
        assert_eq!(read(address), vec![0x11; BYTES]);
        // Left as it is: the process ends with it.
        return;
    }
    let Some(pool) = shareable() else { return };
    let memory = filled(pool, 0x11, stream);
    in_another_process(NAME, pool, &[(FIRST, memory)]);
    ok!(hipFreeAsync(memory, stream), hipStreamSynchronize(stream), hipMemPoolTrimTo(pool, 0));
    let mut reserved = 77u64;
    ok!(hipMemPoolGetAttribute(pool, hipMemPoolAttrReservedMemCurrent, (&raw mut reserved).cast()));
    assert_eq!(reserved, 0);
    ok!(hipMemPoolDestroy(pool), hipStreamDestroy(stream));
}

#[test]
fn pools_are_shared_as_they_were_made_to_be() {
    let (private, stream) = (create(hipMemHandleTypeNone).unwrap(), new_stream());
    let (mut fd, mut data) = (-1, hipMemPoolPtrExportData { reserved: [0; 64] });
    let shared = (&raw mut fd).cast::<c_void>();
    let (mut pool, bad) = (hipMemPool_t::NULL, hipMemPool_t(0x1000));
    fails!(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(shared, private, FD, 0));
    let memory = filled(private, 1, stream);
    fails!(hipErrorInvalidValue, hipMemPoolExportPointer(&mut data, memory));
    fails!(hipErrorInvalidValue, hipMemPoolImportPointer(&mut ptr::null_mut(), private, &mut data));
    let file = File::open("/dev/null").unwrap();
    let null = as_handle(file.as_raw_fd());
    fails!(hipErrorInvalidValue, hipMemPoolImportFromShareableHandle(&mut pool, null, FD, 0));
    let closed = as_handle(File::open("/dev/null").unwrap().into_raw_fd() + 10_000);
    fails!(hipErrorInvalidValue, hipMemPoolImportFromShareableHandle(&mut pool, closed, FD, 0));
    fails!(hipErrorInvalidValue, hipMemPoolImportFromShareableHandle(&mut pool, as_handle(-1), FD, 0));
    ok!(hipFree(memory), hipMemPoolDestroy(private));
    assert_eq!(create(hipMemHandleTypeWin32), Err(capi::error::hipErrorNotSupported));

    let Some(ours) = shareable() else { return };
    fails!(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(shared, bad, FD, 0));
    fails!(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(ptr::null_mut(), ours, FD, 0));
    fails!(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(shared, ours, FD, 1));
    fails!(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(shared, ours, hipMemHandleTypeNone, 0));
    fails!(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(shared, ours, hipMemHandleTypeWin32, 0));
    assert_eq!(fd, -1);
    let descriptor = exported(ours);
    let handle = as_handle(descriptor.as_raw_fd());
    fails!(hipErrorInvalidValue, hipMemPoolImportFromShareableHandle(ptr::null_mut(), handle, FD, 0));
    fails!(hipErrorInvalidValue, hipMemPoolImportFromShareableHandle(&mut pool, handle, FD, 1));
    fails!(
        hipErrorInvalidValue,
        hipMemPoolImportFromShareableHandle(&mut pool, handle, hipMemHandleTypeNone, 0)
    );
    let memory = filled(ours, 1, stream);
    fails!(hipErrorInvalidValue, hipMemPoolExportPointer(ptr::null_mut(), memory));
    fails!(hipErrorInvalidValue, hipMemPoolExportPointer(&mut data, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipMemPoolExportPointer(&mut data, memory.wrapping_byte_add(256)));
    fails!(hipErrorInvalidValue, hipMemPoolExportPointer(&mut data, (&raw mut fd).cast()));
    let device = Memory::of(&[0u8; 16]);
    fails!(hipErrorInvalidValue, hipMemPoolExportPointer(&mut data, device.pointer()));
    data = named(memory);
    let imported = imported(&descriptor);
    let mut address = ptr::null_mut();
    fails!(hipErrorInvalidValue, hipMemPoolImportPointer(ptr::null_mut(), imported, &mut data));
    fails!(hipErrorInvalidValue, hipMemPoolImportPointer(&mut address, imported, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipMemPoolImportPointer(&mut address, bad, &mut data));
    // The pool that has made it knows where it is.
    fails!(hipErrorInvalidValue, hipMemPoolImportPointer(&mut address, ours, &mut data));
    let mut kinds = 77u64;
    let attribute = HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES;
    ok!(hipPointerGetAttribute((&raw mut kinds).cast(), attribute, memory));
    assert_eq!(kinds, u64::from(FD.0));
    ok!(hipFree(memory), hipMemPoolDestroy(ours), hipMemPoolDestroy(imported), hipStreamDestroy(stream));
}
