//! Memory in rows and slices: allocation, copies, fills.

use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};

use aqlipse::{
    graph::{BoxCopy, Memcpy, Memset, Surface},
    memory,
};

use super::{
    linear::{allocate, fill, rows},
    operand::{box_copy, direction},
};
use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidPitchValue, hipErrorInvalidValue, hipErrorOutOfMemory},
    object,
    types::*,
};

/// Rows start at multiples of this many bytes; the header promises 128.
// HIP: measured on 5.2.3 (tests/conformance/memory_pitch.cpp).
const PITCH_ALIGNMENT: usize = 256;

/// Allocates `rows` rows of `width` bytes and stores where they are and how far apart; a null address and
/// nothing else if there is nothing to allocate.
unsafe fn allocate_rows(
    address: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    rows: usize,
) -> Result<(), hipError_t> {
    if address.is_null() || pitch.is_null() {
        return Err(hipErrorInvalidValue);
    }
    if width == 0 || rows == 0 {
        // SAFETY: the caller's pointer, which is not null.
        return unsafe { allocate(address, 0) };
    }
    // HIP: two codes (tests/conformance/memory_pitch.cpp).
    let apart = width.checked_next_multiple_of(PITCH_ALIGNMENT).ok_or(hipErrorInvalidValue)?;
    let bytes = apart.checked_mul(rows).ok_or(hipErrorOutOfMemory)?;
    // SAFETY: the caller's pointers, which are not null.
    unsafe {
        allocate(address, bytes)?;
        caller::write(pitch, apart)
    }
}

entry! {
    /// Allocates rows, padded so that each is aligned; no rows or empty ones give a null address.
    fn hipMallocPitch(address: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { allocate_rows(address, pitch, width, height) }
    }
}

entry! {
    /// Allocates rows for accesses of 4, 8 or 16 bytes, padded so that each is aligned.
    fn hipMemAllocPitch(
        address: *mut hipDeviceptr_t,
        pitch: *mut usize,
        width: usize,
        height: usize,
        element_bytes: c_uint,
    ) -> hipError_t {
        if !matches!(element_bytes, 4 | 8 | 16) || width == 0 || height == 0 {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointers.
        unsafe { allocate_rows(address, pitch, width, height) }
    }
}

entry! {
    /// Allocates slices of rows, padded so that each row is aligned.
    fn hipMalloc3D(pointer: *mut hipPitchedPtr, extent: hipExtent) -> hipError_t {
        if pointer.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let rows = extent.height.checked_mul(extent.depth).ok_or(hipErrorOutOfMemory)?;
        let mut out =
            hipPitchedPtr { ptr: std::ptr::null_mut(), pitch: 0, xsize: extent.width, ysize: extent.height };
        // SAFETY: both are ours.
        unsafe { allocate_rows(&mut out.ptr, &mut out.pitch, extent.width, rows) }?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(pointer, out) }
    }
}

/// A copy of rows.
///
/// # Errors
/// `hipErrorInvalidPitchValue` for rows that are wider than they are apart, `hipErrorInvalidMemcpyDirection`.
fn rectangle(
    (dst, dst_pitch): (*mut c_void, usize),
    (src, src_pitch): (*const c_void, usize),
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> Result<Memcpy, hipError_t> {
    let kind = direction(kind)?;
    let moves = width > 0 && height > 0;
    if moves && (dst.is_null() || src.is_null()) {
        return Err(hipErrorInvalidValue);
    }
    if moves && (width > dst_pitch || width > src_pitch) {
        return Err(hipErrorInvalidPitchValue);
    }
    let surface = |address: u64, pitch: usize| Surface {
        address,
        pitch: pitch as u64,
        row_bytes: width as u64,
        rows: height as u64,
        corner: [0; 3],
    };
    Ok(Memcpy::Box(Box::new(BoxCopy {
        dst: surface(dst as u64, dst_pitch),
        src: surface(src as u64, src_pitch),
        extent: [width as u64, height as u64, 1],
        kind,
    })))
}

/// Puts a copy on a stream.
pub(super) unsafe fn copy_async(copy: Memcpy, stream: hipStream_t) -> Result<(), hipError_t> {
    let stream = object::stream(stream)?;
    if copy.is_empty() {
        return Ok(());
    }
    // SAFETY: the caller's operands.
    Ok(unsafe { stream.memcpy(copy) }?)
}

/// Copies on the default stream, and waits for it unless both ends lie on devices.
pub(super) unsafe fn copy_and_wait_for_hosts(copy: Memcpy) -> Result<(), hipError_t> {
    if copy.is_empty() || memory::waits_for_copy(&copy)? {
        // SAFETY: the caller's operands.
        return unsafe { copy_and_wait(copy) };
    }
    // SAFETY: as above.
    unsafe { copy_async(copy, hipStream_t::NULL) }
}

/// Copies on the default stream and waits for it.
pub(super) unsafe fn copy_and_wait(copy: Memcpy) -> Result<(), hipError_t> {
    let device = current::device()?;
    if copy.is_empty() {
        return Ok(());
    }
    // SAFETY: the caller's operands.
    Ok(unsafe { device.default_stream().memcpy_and_wait(copy) }?)
}

entry! {
    /// Copies rows and waits for it.
    fn hipMemcpy2D(
        dst: *mut c_void,
        dst_pitch: usize,
        src: *const c_void,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        let copy = rectangle((dst, dst_pitch), (src, src_pitch), width, height, kind)?;
        // SAFETY: the caller's operands.
        unsafe { copy_and_wait(copy) }
    }
}

entry! {
    /// Copies rows on a stream.
    fn hipMemcpy2DAsync(
        dst: *mut c_void,
        dst_pitch: usize,
        src: *const c_void,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t {
        let copy = rectangle((dst, dst_pitch), (src, src_pitch), width, height, kind)?;
        // SAFETY: the caller's operands.
        unsafe { copy_async(copy, stream) }
    }
}

entry! {
    /// Copies a box and waits for it.
    fn hipMemcpy3D(params: *const hipMemcpy3DParms) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable, and the operands that it names.
        unsafe { copy_and_wait(checked_box(&caller::read(params)?)?) }
    }
}

entry! {
    /// Copies a box on a stream.
    fn hipMemcpy3DAsync(params: *const hipMemcpy3DParms, stream: hipStream_t) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable, and the operands that it names.
        unsafe { copy_async(checked_box(&caller::read(params)?)?, stream) }
    }
}

/// A box copy for a stream.
///
/// # Errors
/// As [`box_copy`]; `hipErrorInvalidPitchValue` for rows of memory that are wider than they are apart,
/// `hipErrorInvalidValue` for more rows than a slice of memory has.
// HIP: 5.2.3 refuses the rows, the runtime of October 2024 both (tests/conformance/memcpy3d_errors.cpp).
fn checked_box(params: &hipMemcpy3DParms) -> Result<Memcpy, hipError_t> {
    let hipExtent { width, height, depth } = params.extent;
    let ends = [(params.srcArray, params.srcPtr), (params.dstArray, params.dstPtr)];
    let copy = box_copy(params)?;
    if extent_is_empty(params.extent) || ends.iter().any(|(array, _)| *array != hipArray_t::NULL) {
        return Ok(copy);
    }
    let too_close = |memory: &hipPitchedPtr| memory.pitch < width.min(memory.xsize);
    if (height > 1 || depth > 1) && ends.iter().any(|(_, memory)| too_close(memory)) {
        return Err(hipErrorInvalidPitchValue);
    }
    if ends.iter().any(|(_, memory)| height > memory.ysize) { Err(hipErrorInvalidValue) } else { Ok(copy) }
}

fn extent_is_empty(extent: hipExtent) -> bool {
    extent.width == 0 || extent.height == 0 || extent.depth == 0
}

/// Fills a box with a byte: in one go where its slices follow each other without a gap, else slice by slice.
fn fill_box(
    dst: hipPitchedPtr,
    value: c_int,
    extent: hipExtent,
    stream: hipStream_t,
) -> Result<(), hipError_t> {
    let hipExtent { width, height, depth } = extent;
    object::stream(stream)?;
    if extent_is_empty(extent) {
        return Ok(());
    }
    if dst.ptr.is_null() || width > dst.pitch || (depth > 1 && height > dst.ysize) {
        return Err(hipErrorInvalidValue);
    }
    if depth == 1 || height == dst.ysize {
        let rows_in_all = height.checked_mul(depth).ok_or(hipErrorInvalidValue)?;
        return fill(rows(dst.ptr, dst.pitch, value, width, rows_in_all), stream, false);
    }
    let slice_bytes = dst.pitch.checked_mul(dst.ysize).ok_or(hipErrorInvalidValue)?;
    let last = slice_bytes.checked_mul(depth - 1).and_then(|end| dst.ptr.addr().checked_add(end));
    last.ok_or(hipErrorInvalidValue)?;
    let slice = |z: usize| rows(dst.ptr.wrapping_byte_add(z * slice_bytes), dst.pitch, value, width, height);
    // All or nothing: if the last slice lies in the first one's allocation, all between do.
    let first = memory::find(dst.ptr as u64)?.ok_or(hipErrorInvalidValue)?;
    let end = memory::find(slice(depth - 1).dst)?.ok_or(hipErrorInvalidValue)?;
    if first.address != end.address {
        return Err(hipErrorInvalidValue);
    }
    memory::check_fill(slice(depth - 1))?;
    (0..depth).try_for_each(|z| fill(slice(z), stream, false))
}

entry! {
    /// Fills a box with a byte on a stream.
    fn hipMemset3DAsync(dst: hipPitchedPtr, value: c_int, extent: hipExtent, stream: hipStream_t) -> hipError_t {
        fill_box(dst, value, extent, stream)
    }
}

entry! {
    /// Fills a box with a byte behind earlier work of the null stream.
    fn hipMemset3D(dst: hipPitchedPtr, value: c_int, extent: hipExtent) -> hipError_t {
        fill_box(dst, value, extent, hipStream_t::NULL)?;
        if extent_is_empty(extent) || !memory::waits_for_fill(dst.ptr as u64)? {
            return Ok(());
        }
        Ok(object::stream(hipStream_t::NULL)?.complete()?)
    }
}

/// A fill of rows with elements.
fn elements(
    dst: hipDeviceptr_t,
    pitch: usize,
    (value, element_size): (u32, u32),
    width: usize,
    height: usize,
) -> Memset {
    Memset {
        dst: dst as u64,
        pitch: pitch as u64,
        value: value.into(),
        element_size,
        width: width as u64,
        height: height as u64,
    }
}

entry! {
    /// Fills rows with 8-bit elements behind earlier work of the null stream.
    fn hipMemsetD2D8(dst: hipDeviceptr_t, pitch: usize, value: c_uchar, width: usize, height: usize) -> hipError_t {
        fill(elements(dst, pitch, (value.into(), 1), width, height), hipStream_t::NULL, true)
    }
}

entry! {
    /// Fills rows with 8-bit elements on a stream.
    fn hipMemsetD2D8Async(
        dst: hipDeviceptr_t,
        pitch: usize,
        value: c_uchar,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        fill(elements(dst, pitch, (value.into(), 1), width, height), stream, false)
    }
}

entry! {
    /// Fills rows with 16-bit elements behind earlier work of the null stream.
    fn hipMemsetD2D16(dst: hipDeviceptr_t, pitch: usize, value: c_ushort, width: usize, height: usize) -> hipError_t {
        fill(elements(dst, pitch, (value.into(), 2), width, height), hipStream_t::NULL, true)
    }
}

entry! {
    /// Fills rows with 16-bit elements on a stream.
    fn hipMemsetD2D16Async(
        dst: hipDeviceptr_t,
        pitch: usize,
        value: c_ushort,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        fill(elements(dst, pitch, (value.into(), 2), width, height), stream, false)
    }
}

entry! {
    /// Fills rows with 32-bit elements behind earlier work of the null stream.
    fn hipMemsetD2D32(dst: hipDeviceptr_t, pitch: usize, value: c_uint, width: usize, height: usize) -> hipError_t {
        fill(elements(dst, pitch, (value, 4), width, height), hipStream_t::NULL, true)
    }
}

entry! {
    /// Fills rows with 32-bit elements on a stream.
    fn hipMemsetD2D32Async(
        dst: hipDeviceptr_t,
        pitch: usize,
        value: c_uint,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        fill(elements(dst, pitch, (value, 4), width, height), stream, false)
    }
}
