//! Memory: allocation, copies, fills.

use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};

use aqlipse::{
    StreamKind, capture,
    graph::Memset,
    memory::{self, Origin},
};

use super::operand::linear;
use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidDevice, hipErrorInvalidValue, hipErrorUnknown},
    object,
    types::*,
};

pub(super) unsafe fn allocate(address: *mut *mut c_void, bytes: usize) -> Result<(), hipError_t> {
    if address.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let device = current::device()?;
    if bytes == 0 {
        // SAFETY: the caller's pointer, which is not null.
        return unsafe { caller::write(address, std::ptr::null_mut()) };
    }
    let region = memory::allocate(&device, bytes)?;
    // SAFETY: as above.
    unsafe { caller::write(address, region.address as usize as *mut c_void) }
}

pub(super) unsafe fn allocate_host(
    address: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Result<(), hipError_t> {
    // HIP: flags that are none are taken and remembered, by 5.2.3 and by the runtime of October 2024
    // (tests/conformance/host_memory_alloc.cpp).
    let both = hipHostMallocCoherent | hipHostMallocNonCoherent;
    if address.is_null() || flags & both == both {
        return Err(hipErrorInvalidValue);
    }
    let device = current::device()?;
    if bytes == 0 {
        // SAFETY: the caller's pointer, which is not null.
        return unsafe { caller::write(address, std::ptr::null_mut()) };
    }
    let coarse_grained = flags & hipHostMallocNonCoherent != 0;
    let region = if flags & hipHostMallocNumaUser != 0 {
        memory::allocate_host_by_policy(&device, bytes, flags, coarse_grained)
    } else if coarse_grained {
        memory::allocate_host_coarse_grained(&device, bytes, flags)
    } else {
        memory::allocate_host(&device, bytes, Origin::Host, flags)
    }?;
    // SAFETY: as above.
    unsafe { caller::write(address, region.address as usize as *mut c_void) }
}

entry! {
    /// Allocates device memory; no bytes give a null address.
    fn hipMalloc(address: *mut *mut c_void, bytes: usize) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { allocate(address, bytes) }
    }
}

entry! {
    /// Frees memory of the device or of the host after all work of its device.
    // HIP: neither function asks which of the two it is (tests/conformance/host_memory_free.cpp).
    fn hipFree, hipHostFree, hipFreeHost(address: *mut c_void) -> hipError_t {
        if address.is_null() {
            return current::device().map(drop);
        }
        match memory::origin_at(address as u64)? {
            Some(Origin::Host) => Ok(memory::free_host(address as u64)?),
            _ => Ok(memory::free(address as u64)?),
        }
    }
}

entry! {
    /// Allocates pinned host memory; HIP 6.3 headers have the other name.
    fn hipHostMalloc, hipExtHostAlloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { allocate_host(address, bytes, flags) }
    }
}

entry! {
    /// Allocates pinned host memory.
    // HIP: this one refuses flags that are none (tests/conformance/host_memory_alloc.cpp).
    fn hipHostAlloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t {
        let known = hipHostMallocPortable
            | hipHostMallocMapped
            | hipHostMallocWriteCombined
            | hipHostMallocNumaUser
            | hipHostMallocCoherent
            | hipHostMallocNonCoherent;
        if flags & !known != 0 {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointer.
        unsafe { allocate_host(address, bytes, flags) }
    }
}

entry! {
    /// Allocates pinned host memory.
    fn hipMallocHost, hipMemAllocHost(address: *mut *mut c_void, bytes: usize) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { allocate_host(address, bytes, 0) }
    }
}

/// The only size that memory to signal with has.
const SIGNAL_BYTES: usize = 8;

entry! {
    /// Allocates memory of a kind: the device's ordinary one, its fine-grained one, what no cache keeps of it, or 8 bytes
    /// of the host's to signal with.
    fn hipExtMallocWithFlags(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t {
        match flags {
            hipDeviceMallocDefault => {
                // SAFETY: the caller's pointer.
                unsafe { allocate(address, bytes) }
            }
            hipMallocSignalMemory if bytes == SIGNAL_BYTES => {
                // SAFETY: the caller's pointer.
                unsafe { allocate_host(address, bytes, hipHostMallocCoherent) }
            }
            // HIP: 5.2.3 takes no other size (tests/conformance/stream_wait_value_errors.cpp).
            hipMallocSignalMemory => Err(hipErrorInvalidValue),
            hipDeviceMallocFinegrained | hipDeviceMallocUncached if bytes > 0 => {
                if address.is_null() {
                    return Err(hipErrorInvalidValue);
                }
                let device = current::device()?;
                let region = match flags {
                    hipDeviceMallocFinegrained => memory::allocate_fine_grained(&device, bytes, flags),
                    _ => memory::allocate_uncached(&device, bytes, flags),
                }?;
                // SAFETY: the caller's pointer, which is not null.
                unsafe { caller::write(address, region.address as usize as *mut c_void) }
            }
            hipDeviceMallocFinegrained | hipDeviceMallocUncached => {
                // SAFETY: the caller's pointer.
                unsafe { allocate(address, 0) }
            }
            _ => Err(hipErrorInvalidValue),
        }
    }
}

entry! {
    /// Pins the caller's memory.
    fn hipHostRegister(address: *mut c_void, bytes: usize, flags: c_uint) -> hipError_t {
        let known = hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory | hipHostRegisterReadOnly;
        if flags & !known != 0 {
            return Err(hipErrorInvalidValue);
        }
        let device = current::device()?;
        // SAFETY: the caller keeps the memory until it unregisters it.
        let registered = unsafe { memory::register(&device, address as u64, bytes as u64, flags) };
        // ROCr has one status for all that it cannot pin, such as pages that are not there.
        registered.map_err(|error| match hipError_t::from(error) {
            hipErrorUnknown => hipErrorInvalidValue,
            code => code,
        })
    }
}

entry! {
    /// Lets the caller's memory go.
    fn hipHostUnregister(address: *mut c_void) -> hipError_t {
        if address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        current::device()?;
        Ok(memory::unregister(address as u64)?)
    }
}

entry! {
    /// Stores the device's address of memory, which may be the device's own.
    fn hipHostGetDevicePointer(device: *mut *mut c_void, host: *mut c_void, flags: c_uint) -> hipError_t {
        if device.is_null() || flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let region = memory::find(host as u64)?.ok_or(hipErrorInvalidValue)?;
        let address = region.device_address + (host as u64 - region.address);
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(device, address as usize as *mut c_void) }
    }
}

pub(super) unsafe fn copy_async(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> Result<(), hipError_t> {
    let stream = object::stream(stream)?;
    // HIP: captured, it is a node all the same (tests/conformance/capture_memcpy_async.cpp).
    if bytes == 0 && !stream.is_capturing() {
        return Ok(());
    }
    let copy = linear(dst, src, bytes, kind)?;
    // SAFETY: the caller's operands.
    Ok(unsafe { stream.memcpy(copy) }?)
}

pub(super) unsafe fn copy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
) -> Result<(), hipError_t> {
    let device = current::device()?;
    // HIP: whatever the direction (tests/conformance/memcpy_errors.cpp).
    if bytes == 0 {
        return Ok(());
    }
    let copy = linear(dst, src, bytes, kind)?;
    // SAFETY: the caller's operands.
    Ok(unsafe { device.default_stream().memcpy_and_wait(copy) }?)
}

entry! {
    /// Copies memory and waits for it.
    fn hipMemcpy(dst: *mut c_void, src: *const c_void, bytes: usize, kind: hipMemcpyKind) -> hipError_t {
        // SAFETY: the caller's operands.
        unsafe { copy(dst, src, bytes, kind) }
    }
}

entry! {
    /// Copies memory on a stream and waits for it.
    fn hipMemcpyWithStream(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t {
        let stream = object::stream(stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let copy = linear(dst, src, bytes, kind)?;
        capture::refuse_uncapturable(&stream, "copying and waiting for the copy")?;
        // SAFETY: the caller's operands.
        Ok(unsafe { stream.memcpy_and_wait(copy) }?)
    }
}

entry! {
    /// Copies memory on a stream.
    fn hipMemcpyAsync(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t {
        // SAFETY: the caller's operands.
        unsafe { copy_async(dst, src, bytes, kind, stream) }
    }
}

entry! {
    /// Copies from host to device and waits for it.
    fn hipMemcpyHtoD(dst: hipDeviceptr_t, src: *const c_void, bytes: usize) -> hipError_t {
        // SAFETY: the caller's operands.
        unsafe { copy(dst, src, bytes, hipMemcpyHostToDevice) }
    }
}

entry! {
    /// Copies from device to host and waits for it.
    fn hipMemcpyDtoH(dst: *mut c_void, src: hipDeviceptr_t, bytes: usize) -> hipError_t {
        // SAFETY: the caller's operands.
        unsafe { copy(dst, src, bytes, hipMemcpyDeviceToHost) }
    }
}

entry! {
    /// Copies from device to device.
    fn hipMemcpyDtoD(dst: hipDeviceptr_t, src: hipDeviceptr_t, bytes: usize) -> hipError_t {
        // SAFETY: the caller's operands.
        unsafe { copy(dst, src, bytes, hipMemcpyDeviceToDevice) }
    }
}

entry! {
    /// Copies from host to device on a stream.
    fn hipMemcpyHtoDAsync(dst: hipDeviceptr_t, src: *const c_void, bytes: usize, stream: hipStream_t) -> hipError_t {
        // SAFETY: the caller's operands.
        unsafe { copy_async(dst, src, bytes, hipMemcpyHostToDevice, stream) }
    }
}

entry! {
    /// Copies from device to host on a stream.
    fn hipMemcpyDtoHAsync(dst: *mut c_void, src: hipDeviceptr_t, bytes: usize, stream: hipStream_t) -> hipError_t {
        // SAFETY: the caller's operands.
        unsafe { copy_async(dst, src, bytes, hipMemcpyDeviceToHost, stream) }
    }
}

entry! {
    /// Copies from device to device on a stream.
    fn hipMemcpyDtoDAsync(dst: hipDeviceptr_t, src: hipDeviceptr_t, bytes: usize, stream: hipStream_t) -> hipError_t {
        // SAFETY: the caller's operands.
        unsafe { copy_async(dst, src, bytes, hipMemcpyDeviceToDevice, stream) }
    }
}

/// A fill of `count` elements in one row.
fn row(dst: *mut c_void, value: u32, element_size: u32, count: usize) -> Memset {
    let bytes = count as u64 * u64::from(element_size);
    Memset {
        dst: dst as u64,
        pitch: bytes,
        value: value.into(),
        element_size,
        width: count as u64,
        height: 1,
    }
}

/// Fills memory on a stream; with `wait`, as the calls do that name no stream: what they fill of host memory is filled
/// on return. So is device memory if the null stream had nothing to do: programs use it on streams that do not wait for
/// the null stream, and relied on AMD's library, of which 5.2.3 always waits.
pub(crate) fn fill(set: Memset, stream: hipStream_t, wait: bool) -> Result<(), hipError_t> {
    let stream = object::stream(stream)?;
    if set.width == 0 || set.height == 0 {
        return Ok(());
    }
    if set.dst == 0 {
        return Err(hipErrorInvalidValue);
    }
    let waits = wait
        && (memory::waits_for_fill(set.dst)? || (stream.kind() == StreamKind::Legacy && stream.is_idle()?));
    stream.memset(set)?;
    if waits { Ok(stream.complete()?) } else { Ok(()) }
}

entry! {
    /// Fills memory with a byte behind earlier work of the null stream.
    fn hipMemset(dst: *mut c_void, value: c_int, bytes: usize) -> hipError_t {
        // CAST: the low byte counts.
        fill(row(dst, value as u32 & 0xff, 1, bytes), hipStream_t::NULL, true)
    }
}

entry! {
    /// Fills memory with a byte on a stream.
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t {
        // CAST: the low byte counts.
        fill(row(dst, value as u32 & 0xff, 1, bytes), stream, false)
    }
}

entry! {
    /// Fills memory with 8-bit elements behind earlier work of the null stream.
    fn hipMemsetD8(dst: hipDeviceptr_t, value: c_uchar, count: usize) -> hipError_t {
        fill(row(dst, value.into(), 1, count), hipStream_t::NULL, true)
    }
}

entry! {
    /// Fills memory with 8-bit elements on a stream.
    fn hipMemsetD8Async(dst: hipDeviceptr_t, value: c_uchar, count: usize, stream: hipStream_t) -> hipError_t {
        fill(row(dst, value.into(), 1, count), stream, false)
    }
}

entry! {
    /// Fills memory with 16-bit elements behind earlier work of the null stream.
    fn hipMemsetD16(dst: hipDeviceptr_t, value: c_ushort, count: usize) -> hipError_t {
        fill(row(dst, value.into(), 2, count), hipStream_t::NULL, true)
    }
}

entry! {
    /// Fills memory with 16-bit elements on a stream.
    fn hipMemsetD16Async(dst: hipDeviceptr_t, value: c_ushort, count: usize, stream: hipStream_t) -> hipError_t {
        fill(row(dst, value.into(), 2, count), stream, false)
    }
}

entry! {
    /// Fills memory with 32-bit elements behind earlier work of the null stream.
    fn hipMemsetD32(dst: hipDeviceptr_t, value: c_int, count: usize) -> hipError_t {
        // CAST: the same 32 bits.
        fill(row(dst, value as u32, 4, count), hipStream_t::NULL, true)
    }
}

entry! {
    /// Fills memory with 32-bit elements on a stream.
    fn hipMemsetD32Async(dst: hipDeviceptr_t, value: c_int, count: usize, stream: hipStream_t) -> hipError_t {
        // CAST: the same 32 bits.
        fill(row(dst, value as u32, 4, count), stream, false)
    }
}

/// A fill of rows with a byte.
pub(super) fn rows(dst: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) -> Memset {
    Memset {
        dst: dst as u64,
        pitch: pitch as u64,
        // CAST: the low byte counts.
        value: u64::from(value as u32 & 0xff),
        element_size: 1,
        width: width as u64,
        height: height as u64,
    }
}

entry! {
    /// Fills rows with a byte behind earlier work of the null stream.
    fn hipMemset2D(dst: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) -> hipError_t {
        fill(rows(dst, pitch, value, width, height), hipStream_t::NULL, true)
    }
}

entry! {
    /// Fills rows with a byte on a stream.
    fn hipMemset2DAsync(
        dst: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        fill(rows(dst, pitch, value, width, height), stream, false)
    }
}

entry! {
    /// Stores the device's free and total memory in bytes.
    fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t {
        let device = current::device().map_err(|_| hipErrorInvalidDevice)?;
        let (available, all) = device.memory_info();
        // SAFETY: the caller's pointers, null or writable.
        unsafe {
            caller::write_if_wanted(free, available as usize);
            caller::write_if_wanted(total, all as usize);
        }
        Ok(())
    }
}
