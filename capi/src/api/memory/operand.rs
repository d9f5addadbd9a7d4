//! What copies are given: their direction, and memory or arrays as callers describe them.

use std::ffi::c_void;

use aqlipse::{
    graph::{BoxCopy, CopyKind, Memcpy, Surface},
    memory::Array,
};

use crate::{
    arrays,
    error::{hipError_t, hipErrorInvalidMemcpyDirection, hipErrorInvalidValue},
    types::*,
};

/// # Errors
/// `hipErrorInvalidMemcpyDirection` for a number that is no direction.
pub(crate) fn direction(kind: hipMemcpyKind) -> Result<CopyKind, hipError_t> {
    Ok(match kind {
        hipMemcpyHostToHost => CopyKind::HostToHost,
        hipMemcpyHostToDevice => CopyKind::HostToDevice,
        hipMemcpyDeviceToHost => CopyKind::DeviceToHost,
        // Which engine copies is for the caller to wish: all of ours are kernels.
        hipMemcpyDeviceToDevice | hipMemcpyDeviceToDeviceNoCU => CopyKind::DeviceToDevice,
        hipMemcpyDefault => CopyKind::Inferred,
        _ => return Err(hipErrorInvalidMemcpyDirection),
    })
}

/// The number of a direction.
pub(crate) fn kind_of(kind: CopyKind) -> hipMemcpyKind {
    match kind {
        CopyKind::HostToHost => hipMemcpyHostToHost,
        CopyKind::HostToDevice => hipMemcpyHostToDevice,
        CopyKind::DeviceToHost => hipMemcpyDeviceToHost,
        CopyKind::DeviceToDevice => hipMemcpyDeviceToDevice,
        CopyKind::Inferred => hipMemcpyDefault,
    }
}

/// A run of bytes as a copy.
///
/// # Errors
/// `hipErrorInvalidMemcpyDirection` for a direction that is none.
pub(crate) fn linear(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
) -> Result<Memcpy, hipError_t> {
    Ok(Memcpy::Linear { dst: dst as u64, src: src as u64, bytes: bytes as u64, kind: direction(kind)? })
}

/// A box copy between arrays and pitched memory.
pub(crate) fn box_copy(params: &hipMemcpy3DParms) -> Result<Memcpy, hipError_t> {
    if params.srcArray != hipArray_t::NULL || params.dstArray != hipArray_t::NULL {
        return box_of_elements(params);
    }
    let surface = |ptr: &hipPitchedPtr, pos: &hipPos| Surface {
        address: ptr.ptr as u64,
        pitch: ptr.pitch as u64,
        row_bytes: ptr.xsize as u64,
        rows: ptr.ysize as u64,
        corner: [pos.x as u64, pos.y as u64, pos.z as u64],
    };
    if params.srcPtr.ptr.is_null() || params.dstPtr.ptr.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let extent = [params.extent.width, params.extent.height, params.extent.depth];
    Ok(Memcpy::Box(Box::new(BoxCopy {
        dst: surface(&params.dstPtr, &params.dstPos),
        src: surface(&params.srcPtr, &params.srcPos),
        extent: extent.map(|n| n as u64),
        kind: direction(params.kind)?,
    })))
}

/// One end of a box copy.
struct End<'a> {
    array: Option<Array>,
    pointer: &'a hipPitchedPtr,
    corner: &'a hipPos,
}

impl<'a> End<'a> {
    /// # Errors
    /// `hipErrorInvalidValue` for an array that does not exist, for both an array and memory, and for neither.
    fn new(array: hipArray_t, pointer: &'a hipPitchedPtr, corner: &'a hipPos) -> Result<Self, hipError_t> {
        if (array == hipArray_t::NULL) == pointer.ptr.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let is_array = array != hipArray_t::NULL;
        let array = if is_array { Some(arrays::living_or(array, hipErrorInvalidValue)?) } else { None };
        Ok(Self { array, pointer, corner })
    }

    fn element_bytes(&self) -> Option<u64> {
        self.array.as_ref().map(|array| array.format().bytes())
    }

    /// The end of a copy of `extent` bytes, rows and slices. Positions count elements, which are bytes in memory.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for a box that leaves the array, or the rows or slices of the memory.
    fn surface(&self, extent: [u64; 3]) -> Result<Surface, hipError_t> {
        let [x, y, z] = [self.corner.x, self.corner.y, self.corner.z].map(|n| n as u64);
        if let Some(array) = &self.array {
            let x = x.checked_mul(array.format().bytes()).ok_or(hipErrorInvalidValue)?;
            return Ok(array.surface([x, y, z], extent)?);
        }
        let hipPitchedPtr { ptr, pitch, xsize, ysize } = *self.pointer;
        let [pitch, rows] = [pitch, ysize].map(|n| n as u64);
        let leaves = |from: u64, n: u64, end: u64| from.checked_add(n).is_none_or(|last| last > end);
        if leaves(x, extent[0], pitch) || extent[2] > 1 && leaves(y, extent[1], rows) {
            return Err(hipErrorInvalidValue);
        }
        Ok(Surface { address: ptr as u64, pitch, row_bytes: xsize as u64, rows, corner: [x, y, z] })
    }
}

/// A box copy with an array at one end or both, whose elements the extent counts.
///
/// # Errors
/// `hipErrorInvalidValue` for arrays that do not exist or whose elements differ in size, for an end that is both an
/// array and memory or neither, and for a box that leaves its end; `hipErrorInvalidMemcpyDirection`.
fn box_of_elements(params: &hipMemcpy3DParms) -> Result<Memcpy, hipError_t> {
    let src = End::new(params.srcArray, &params.srcPtr, &params.srcPos)?;
    let dst = End::new(params.dstArray, &params.dstPtr, &params.dstPos)?;
    let bytes = match (src.element_bytes(), dst.element_bytes()) {
        (Some(src), Some(dst)) if src != dst => return Err(hipErrorInvalidValue),
        (src, dst) => src.or(dst).unwrap_or(1),
    };
    let kind = direction(params.kind)?;
    let [width, height, depth] =
        [params.extent.width, params.extent.height, params.extent.depth].map(|n| n as u64);
    let extent = [width.checked_mul(bytes).ok_or(hipErrorInvalidValue)?, height, depth];
    Ok(Memcpy::Box(Box::new(BoxCopy { dst: dst.surface(extent)?, src: src.surface(extent)?, extent, kind })))
}

/// Names the arrays in a description of a copy that gives their memory, and counts their elements.
pub(crate) fn name_arrays(params: &mut hipMemcpy3DParms) {
    let mut element = None;
    for (array, pointer, corner) in [
        (&mut params.srcArray, &mut params.srcPtr, &mut params.srcPos),
        (&mut params.dstArray, &mut params.dstPtr, &mut params.dstPos),
    ] {
        let Some((handle, found)) = arrays::at(pointer.ptr as u64) else { continue };
        // CAST: at most 16.
        let bytes = found.format().bytes() as usize;
        (*array, element) = (handle, Some(bytes));
        corner.x /= bytes;
        *pointer = hipPitchedPtr { ptr: std::ptr::null_mut(), pitch: 0, xsize: 0, ysize: 0 };
    }
    params.extent.width /= element.unwrap_or(1);
}
