//! Copies to, from and between arrays.

use std::ffi::c_void;

use aqlipse::{
    graph::{BoxCopy, CopyKind, Memcpy, Surface},
    memory::Array,
};

use super::{
    operand::direction,
    pitched::{copy_and_wait, copy_async},
};
use crate::{
    arrays,
    error::{hipError_t, hipErrorInvalidHandle, hipErrorInvalidPitchValue, hipErrorInvalidValue},
    object,
    types::*,
};

/// The direction of a copy of which one end is an array.
///
/// # Errors
/// `hipErrorInvalidMemcpyDirection` for a number that is none, `hipErrorInvalidValue` for one that has host memory
/// where the array is.
fn direction_with_array(kind: hipMemcpyKind, to_array: bool) -> Result<CopyKind, hipError_t> {
    let kind = direction(kind)?;
    let contrary = if to_array { CopyKind::DeviceToHost } else { CopyKind::HostToDevice };
    // HIP: measured on 5.2.3 (tests/conformance/array_copy_errors.cpp).
    if kind == contrary || kind == CopyKind::HostToHost { Err(hipErrorInvalidValue) } else { Ok(kind) }
}

/// Rows in an array: the byte and the row where they begin.
type Place = (Array, usize, usize);

/// Rows in memory, and the bytes from one to the next.
type Rows = (*const c_void, usize);

/// The surfaces of an array and of memory, for a copy of rows; `None` if there is nothing to copy.
///
/// # Errors
/// `hipErrorInvalidPitchValue` for rows that are wider than they are apart, `hipErrorInvalidValue` for rows that leave the
/// array, or at null.
fn surfaces(
    (array, offset, row): &Place,
    (memory, pitch): Rows,
    width: usize,
    height: usize,
) -> Result<Option<(Surface, Surface)>, hipError_t> {
    if width == 0 || height == 0 {
        return Ok(None);
    }
    if memory.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // HIP: the runtime of October 2024; 5.2.3 has another code for a pitch that is not 0
    // (tests/conformance/array_rows_errors.cpp).
    if width > pitch {
        return Err(hipErrorInvalidPitchValue);
    }
    let [offset, row, pitch, width, height] = [*offset, *row, pitch, width, height].map(|n| n as u64);
    let inside = array.surface([offset, row, 0], [width, height, 1])?;
    let outside = Surface { address: memory as u64, pitch, row_bytes: width, rows: height, corner: [0; 3] };
    Ok(Some((inside, outside)))
}

fn nothing() -> Memcpy {
    Memcpy::linear(0, 0, 0)
}

fn rows_to_array(
    dst: Place,
    src: Rows,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> Result<Memcpy, hipError_t> {
    let kind = direction_with_array(kind, true)?;
    let Some((dst, src)) = surfaces(&dst, src, width, height)? else { return Ok(nothing()) };
    Ok(Memcpy::Box(Box::new(BoxCopy { dst, src, extent: [width as u64, height as u64, 1], kind })))
}

fn rows_from_array(
    dst: Rows,
    src: Place,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> Result<Memcpy, hipError_t> {
    let kind = direction_with_array(kind, false)?;
    let Some((src, dst)) = surfaces(&src, dst, width, height)? else { return Ok(nothing()) };
    Ok(Memcpy::Box(Box::new(BoxCopy { dst, src, extent: [width as u64, height as u64, 1], kind })))
}

entry! {
    /// Copies rows to an array and waits for it; offsets and widths count bytes.
    fn hipMemcpy2DToArray(
        dst: hipArray_t,
        offset: usize,
        row: usize,
        src: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        let dst = (arrays::living_or(dst, hipErrorInvalidHandle)?, offset, row);
        // SAFETY: the caller's operands.
        unsafe { copy_and_wait(rows_to_array(dst, (src, pitch), width, height, kind)?) }
    }
}

entry! {
    /// Copies rows to an array on a stream; offsets and widths count bytes.
    fn hipMemcpy2DToArrayAsync(
        dst: hipArray_t,
        offset: usize,
        row: usize,
        src: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t {
        let dst = (arrays::living_or(dst, hipErrorInvalidHandle)?, offset, row);
        // SAFETY: the caller's operands.
        unsafe { copy_async(rows_to_array(dst, (src, pitch), width, height, kind)?, stream) }
    }
}

entry! {
    /// Copies rows of an array and waits for it; offsets and widths count bytes.
    fn hipMemcpy2DFromArray(
        dst: *mut c_void,
        pitch: usize,
        src: hipArray_t,
        offset: usize,
        row: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        let src = (arrays::living_or(src, hipErrorInvalidHandle)?, offset, row);
        // SAFETY: the caller's operands.
        unsafe { copy_and_wait(rows_from_array((dst, pitch), src, width, height, kind)?) }
    }
}

entry! {
    /// Copies rows of an array on a stream; offsets and widths count bytes.
    fn hipMemcpy2DFromArrayAsync(
        dst: *mut c_void,
        pitch: usize,
        src: hipArray_t,
        offset: usize,
        row: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t {
        let src = (arrays::living_or(src, hipErrorInvalidHandle)?, offset, row);
        // SAFETY: the caller's operands.
        unsafe { copy_async(rows_from_array((dst, pitch), src, width, height, kind)?, stream) }
    }
}

entry! {
    /// Copies rows from one array to another and waits for it; offsets and widths count bytes.
    fn hipMemcpy2DArrayToArray(
        dst: hipArray_t,
        dst_offset: usize,
        dst_row: usize,
        src: hipArray_t,
        src_offset: usize,
        src_row: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        let (dst, src) = (arrays::living_or(dst, hipErrorInvalidValue)?, arrays::living_or(src, hipErrorInvalidValue)?);
        let kind = direction_with_array(kind, true).and(direction_with_array(kind, false))?;
        let extent = [width as u64, height as u64, 1];
        let dst = dst.surface([dst_offset as u64, dst_row as u64, 0], extent)?;
        let src = src.surface([src_offset as u64, src_row as u64, 0], extent)?;
        // SAFETY: both ends are arrays.
        unsafe { copy_and_wait(Memcpy::Box(Box::new(BoxCopy { dst, src, extent, kind }))) }
    }
}

/// A copy of bytes to an array, from row to row where they reach the end of one.
fn run_to_array(
    (dst, offset, row): Place,
    src: *const c_void,
    bytes: usize,
    kind: CopyKind,
) -> Result<Memcpy, hipError_t> {
    let dst = dst.run(offset as u64, row as u64, bytes as u64)?;
    if src.is_null() && bytes > 0 {
        return Err(hipErrorInvalidValue);
    }
    Ok(Memcpy::Linear { dst, src: src as u64, bytes: bytes as u64, kind })
}

/// A copy of bytes from an array, from row to row where they reach the end of one.
fn run_from_array(
    dst: *mut c_void,
    (src, offset, row): Place,
    bytes: usize,
    kind: CopyKind,
) -> Result<Memcpy, hipError_t> {
    let src = src.run(offset as u64, row as u64, bytes as u64)?;
    if dst.is_null() && bytes > 0 {
        return Err(hipErrorInvalidValue);
    }
    Ok(Memcpy::Linear { dst: dst as u64, src, bytes: bytes as u64, kind })
}

entry! {
    /// Copies bytes to an array, row after row, and waits for it.
    fn hipMemcpyToArray(
        dst: hipArray_t,
        offset: usize,
        row: usize,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        let dst = (arrays::living_or(dst, hipErrorInvalidValue)?, offset, row);
        let copy = run_to_array(dst, src, bytes, direction_with_array(kind, true)?)?;
        // SAFETY: the caller's operands.
        unsafe { copy_and_wait(copy) }
    }
}

entry! {
    /// Copies bytes of an array, row after row, and waits for it.
    fn hipMemcpyFromArray(
        dst: *mut c_void,
        src: hipArray_t,
        offset: usize,
        row: usize,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        let src = (arrays::living_or(src, hipErrorInvalidValue)?, offset, row);
        let copy = run_from_array(dst, src, bytes, direction_with_array(kind, false)?)?;
        // SAFETY: the caller's operands.
        unsafe { copy_and_wait(copy) }
    }
}

entry! {
    /// [`hipMemcpyFromArray`] on the thread's own stream, and waits for it.
    fn hipMemcpyFromArray_spt(
        dst: *mut c_void,
        src: hipArray_t,
        offset: usize,
        row: usize,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        let src = (arrays::living_or(src, hipErrorInvalidValue)?, offset, row);
        let copy = run_from_array(dst, src, bytes, direction_with_array(kind, false)?)?;
        // SAFETY: the caller's operands.
        unsafe { copy_async(copy, hipStreamPerThread) }?;
        Ok(object::stream(hipStreamPerThread)?.synchronize()?)
    }
}

/// The array of a driver's copy, with an offset in bytes.
fn driver_place(array: hipArray_t, offset: usize) -> Result<Place, hipError_t> {
    Ok((arrays::living_or(array, hipErrorInvalidValue)?, offset, 0))
}

/// Asks for whole elements, which copies from arrays to device memory and to arrays demand.
fn whole_elements((array, offset, row): Place, bytes: usize) -> Result<Place, hipError_t> {
    // CAST: at most 16.
    let element = array.format().bytes() as usize;
    let whole = bytes.is_multiple_of(element) && offset.is_multiple_of(element);
    if whole { Ok((array, offset, row)) } else { Err(hipErrorInvalidValue) }
}

entry! {
    /// Copies bytes of an array to host memory and waits for it.
    fn hipMemcpyAtoH(dst: *mut c_void, src: hipArray_t, offset: usize, bytes: usize) -> hipError_t {
        let copy = run_from_array(dst, driver_place(src, offset)?, bytes, CopyKind::DeviceToHost)?;
        // SAFETY: the caller's operands.
        unsafe { copy_and_wait(copy) }
    }
}

entry! {
    /// Copies bytes of an array to host memory on a stream.
    fn hipMemcpyAtoHAsync(
        dst: *mut c_void,
        src: hipArray_t,
        offset: usize,
        bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        let copy = run_from_array(dst, driver_place(src, offset)?, bytes, CopyKind::DeviceToHost)?;
        // SAFETY: the caller's operands.
        unsafe { copy_async(copy, stream) }
    }
}

entry! {
    /// Copies host memory to bytes of an array and waits for it.
    fn hipMemcpyHtoA(dst: hipArray_t, offset: usize, src: *const c_void, bytes: usize) -> hipError_t {
        let copy = run_to_array(driver_place(dst, offset)?, src, bytes, CopyKind::HostToDevice)?;
        // SAFETY: the caller's operands.
        unsafe { copy_and_wait(copy) }
    }
}

entry! {
    /// Copies host memory to bytes of an array on a stream.
    fn hipMemcpyHtoAAsync(
        dst: hipArray_t,
        offset: usize,
        src: *const c_void,
        bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        let copy = run_to_array(driver_place(dst, offset)?, src, bytes, CopyKind::HostToDevice)?;
        // SAFETY: the caller's operands.
        unsafe { copy_async(copy, stream) }
    }
}

entry! {
    /// Copies elements of an array to device memory and waits for it.
    fn hipMemcpyAtoD(dst: hipDeviceptr_t, src: hipArray_t, offset: usize, bytes: usize) -> hipError_t {
        let src = whole_elements(driver_place(src, offset)?, bytes)?;
        let copy = run_from_array(dst, src, bytes, CopyKind::DeviceToDevice)?;
        // SAFETY: the caller's operands.
        unsafe { copy_and_wait(copy) }
    }
}

entry! {
    /// Copies device memory to bytes of an array and waits for it.
    fn hipMemcpyDtoA(dst: hipArray_t, offset: usize, src: hipDeviceptr_t, bytes: usize) -> hipError_t {
        let copy = run_to_array(driver_place(dst, offset)?, src, bytes, CopyKind::DeviceToDevice)?;
        // SAFETY: the caller's operands.
        unsafe { copy_and_wait(copy) }
    }
}

entry! {
    /// Copies elements of an array to another whose elements have the same size, and waits for it.
    fn hipMemcpyAtoA(
        dst: hipArray_t,
        dst_offset: usize,
        src: hipArray_t,
        src_offset: usize,
        bytes: usize,
    ) -> hipError_t {
        let dst = whole_elements(driver_place(dst, dst_offset)?, bytes)?;
        let src = whole_elements(driver_place(src, src_offset)?, bytes)?;
        if dst.0.format().bytes() != src.0.format().bytes() {
            return Err(hipErrorInvalidValue);
        }
        let (dst, src) = (dst.0.run(dst.1 as u64, 0, bytes as u64)?, src.0.run(src.1 as u64, 0, bytes as u64)?);
        let copy = Memcpy::Linear { dst, src, bytes: bytes as u64, kind: CopyKind::DeviceToDevice };
        // SAFETY: both ends are arrays.
        unsafe { copy_and_wait(copy) }
    }
}
