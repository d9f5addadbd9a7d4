//! Copies of rows and boxes as the driver interface describes them: each end says what memory it is.

use std::ffi::c_void;

use aqlipse::{
    graph::{BoxCopy, CopyKind, Memcpy, Surface},
    memory,
};

use super::{
    kind,
    pitched::{copy_and_wait, copy_and_wait_for_hosts, copy_async},
};
use crate::{
    arrays, caller,
    error::{hipError_t, hipErrorInvalidPitchValue, hipErrorInvalidValue},
    soname,
    types::*,
};

/// One end of a copy.
struct End {
    kind: hipMemoryType,
    host: *const c_void,
    device: hipDeviceptr_t,
    array: hipArray_t,
    /// First byte of a row, row and slice that the copy touches.
    corner: [u64; 3],
    /// Bytes from one row to the next; 0 for as many as the copy takes of each.
    pitch: u64,
    /// Rows from one slice to the next; 0 for as many as the copy takes of each.
    rows: u64,
}

impl End {
    /// The memory with the box's corner in it, for a box of `extent` bytes, rows and slices.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for null memory, an array that does not exist or a box that does not fit its rows.
    fn placed(&self, extent: [u64; 3]) -> Result<Surface, hipError_t> {
        let address = match kind::meant(self.kind) {
            hipMemoryTypeHost => self.host as u64,
            hipMemoryTypeDevice | hipMemoryTypeManaged | hipMemoryTypeUnified => self.device as u64,
            hipMemoryTypeArray => {
                return Ok(arrays::living_or(self.array, hipErrorInvalidValue)?.surface(self.corner, extent)?);
            }
            _ => return Err(hipErrorInvalidValue),
        };
        // HIP: what is not given is that of the copy, wherever it starts; measured on 5.2.3
        // (tests/conformance/memcpy2d_param.cpp, memcpy3d_drv.cpp).
        let given_or = |given: u64, i: usize| if given == 0 { extent[i] } else { given };
        let (pitch, rows) = (given_or(self.pitch, 0), given_or(self.rows, 1));
        let leaves = |i: usize, end: u64| self.corner[i].checked_add(extent[i]).is_none_or(|last| last > end);
        let too_wide = self.pitch != 0 && leaves(0, pitch);
        let too_high = self.rows != 0 && extent[2] > 1 && leaves(1, rows);
        if address == 0 || too_wide || too_high {
            return Err(hipErrorInvalidValue);
        }
        Ok(Surface { address, pitch, row_bytes: pitch, rows, corner: self.corner })
    }

    /// The memory from the box's corner on.
    ///
    /// # Errors
    /// As [`End::placed`]; `hipErrorInvalidValue` for a corner beyond the allocation, which would be taken for host memory,
    /// or beyond 64 bits.
    fn surface(&self, extent: [u64; 3]) -> Result<Surface, hipError_t> {
        let placed = self.placed(extent)?;
        let address = placed.corner_address().ok_or(hipErrorInvalidValue)?;
        if memory::find(placed.address)?.is_some_and(|region| address - region.address >= region.bytes) {
            return Err(hipErrorInvalidValue);
        }
        Ok(Surface { address, corner: [0; 3], ..placed })
    }

    /// The memory as a node remembers it: with its corner, if rows without a pitch have room for that.
    ///
    /// # Errors
    /// `hipErrorInvalidPitchValue` for rows that are wider than they are apart; as [`End::surface`].
    fn remembered(&self, extent: [u64; 3]) -> Result<Surface, hipError_t> {
        let is_array = kind::meant(self.kind) == hipMemoryTypeArray;
        // An array has a pitch of its own.
        if !is_array && self.pitch != 0 && self.pitch < extent[0] {
            return Err(hipErrorInvalidPitchValue);
        }
        let folded = self.surface(extent)?;
        Ok(if self.pitch == 0 && !is_array { folded } else { self.placed(extent)? })
    }

    /// Whether it is host memory, device memory, or either.
    fn side(&self) -> Option<bool> {
        match kind::meant(self.kind) {
            hipMemoryTypeHost => Some(true),
            hipMemoryTypeDevice => Some(false),
            _ => None,
        }
    }
}

/// A copy of `extent` bytes, rows and slices; of nothing where one of them is 0.
fn copy_of(dst: &End, src: &End, extent: [u64; 3]) -> Result<Memcpy, hipError_t> {
    if extent.contains(&0) {
        return Ok(Memcpy::linear(0, 0, 0));
    }
    let (dst, src) = (dst.surface(extent)?, src.surface(extent)?);
    Ok(Memcpy::Box(Box::new(BoxCopy { dst, src, extent, kind: CopyKind::Inferred })))
}

fn rectangle(params: &hip_Memcpy2D) -> Result<Memcpy, hipError_t> {
    // HIP: 6.3 lets rows without a pitch end where the rectangle does; of boxes they are as wide as the box
    // (tests/conformance/memcpy2d_param.cpp).
    let pitch_or_end = |pitch: usize, x: usize| match pitch {
        0 => (x as u64).saturating_add(params.WidthInBytes as u64),
        pitch => pitch as u64,
    };
    let src = End {
        kind: params.srcMemoryType,
        host: params.srcHost,
        device: params.srcDevice,
        array: params.srcArray,
        corner: [params.srcXInBytes as u64, params.srcY as u64, 0],
        pitch: pitch_or_end(params.srcPitch, params.srcXInBytes),
        rows: 0,
    };
    let dst = End {
        kind: params.dstMemoryType,
        host: params.dstHost,
        device: params.dstDevice,
        array: params.dstArray,
        corner: [params.dstXInBytes as u64, params.dstY as u64, 0],
        pitch: pitch_or_end(params.dstPitch, params.dstXInBytes),
        rows: 0,
    };
    copy_of(&dst, &src, [params.WidthInBytes as u64, params.Height as u64, 1])
}

/// The copy of `extent` bytes, rows and slices that a node remembers.
///
/// # Errors
/// As [`End::remembered`].
fn node_copy_of(dst: &End, src: &End, extent: [u64; 3]) -> Result<Memcpy, hipError_t> {
    let kind = match (dst.side(), src.side()) {
        (Some(true), Some(true)) => CopyKind::HostToHost,
        (Some(false), Some(true)) => CopyKind::HostToDevice,
        (Some(true), Some(false)) => CopyKind::DeviceToHost,
        (Some(false), Some(false)) => CopyKind::DeviceToDevice,
        _ => CopyKind::Inferred,
    };
    let (dst, src) = (dst.remembered(extent)?, src.remembered(extent)?);
    Ok(Memcpy::Box(Box::new(BoxCopy { dst, src, extent, kind })))
}

/// What both layouts of a box copy are read into: destination, source and extent.
macro_rules! box_copy {
    ($params:expr) => {{
        let params = $params;
        let src = End {
            kind: params.srcMemoryType,
            host: params.srcHost,
            device: params.srcDevice,
            array: params.srcArray,
            corner: [params.srcXInBytes as u64, params.srcY as u64, params.srcZ as u64],
            pitch: params.srcPitch as u64,
            rows: params.srcHeight as u64,
        };
        let dst = End {
            kind: params.dstMemoryType,
            host: params.dstHost,
            device: params.dstDevice,
            array: params.dstArray,
            corner: [params.dstXInBytes as u64, params.dstY as u64, params.dstZ as u64],
            pitch: params.dstPitch as u64,
            rows: params.dstHeight as u64,
        };
        (dst, src, [params.WidthInBytes as u64, params.Height as u64, params.Depth as u64])
    }};
}

/// Reads the parameters of a box copy.
///
/// # Safety
/// The pointer is null or points to parameters in the layout of the caller's version.
unsafe fn ends_at(params: *const HIP_MEMCPY3D) -> Result<(End, End, [u64; 3]), hipError_t> {
    // ABI: the counters grew to 64 bits with HIP 6.
    if soname::major() <= 5 {
        // SAFETY: the caller's promise.
        return Ok(box_copy!(unsafe { caller::read(params.cast::<HIP_MEMCPY3D_R0500>()) }?));
    }
    // SAFETY: the caller's promise.
    Ok(box_copy!(unsafe { caller::read(params) }?))
}

/// Reads the parameters of a box copy on a stream.
///
/// # Safety
/// As for [`ends_at`].
unsafe fn box_at(params: *const HIP_MEMCPY3D) -> Result<Memcpy, hipError_t> {
    // SAFETY: the caller's promise.
    let (dst, src, extent) = unsafe { ends_at(params) }?;
    copy_of(&dst, &src, extent)
}

/// Reads the parameters of a copy node.
///
/// # Safety
/// As for [`ends_at`].
pub(crate) unsafe fn node_box_at(params: *const HIP_MEMCPY3D) -> Result<Memcpy, hipError_t> {
    // SAFETY: the caller's promise.
    let (dst, src, extent) = unsafe { ends_at(params) }?;
    node_copy_of(&dst, &src, extent)
}

entry! {
    /// Copies rows, and waits for it unless both ends lie on devices.
    fn hipMemcpyParam2D(params: *const hip_Memcpy2D) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable, and the operands that it names.
        unsafe { copy_and_wait_for_hosts(rectangle(&caller::read(params)?)?) }
    }
}

entry! {
    /// Copies rows on a stream.
    fn hipMemcpyParam2DAsync(params: *const hip_Memcpy2D, stream: hipStream_t) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable, and the operands that it names.
        unsafe { copy_async(rectangle(&caller::read(params)?)?, stream) }
    }
}

entry! {
    /// Copies rows, aligned in whatever way, and waits for it.
    fn hipDrvMemcpy2DUnaligned(params: *const hip_Memcpy2D) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable, and the operands that it names.
        unsafe { copy_and_wait(rectangle(&caller::read(params)?)?) }
    }
}

entry! {
    /// Copies a box and waits for it.
    fn hipDrvMemcpy3D(params: *const HIP_MEMCPY3D) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable, and the operands that it names.
        unsafe { copy_and_wait(box_at(params)?) }
    }
}

entry! {
    /// Copies a box on a stream.
    fn hipDrvMemcpy3DAsync(params: *const HIP_MEMCPY3D, stream: hipStream_t) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable, and the operands that it names.
        unsafe { copy_async(box_at(params)?, stream) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(kind: hipMemoryType, corner: [u64; 3], pitch: u64, rows: u64) -> End {
        End {
            kind,
            host: 8 as *const c_void,
            device: 16 as hipDeviceptr_t,
            array: hipArray_t::NULL,
            corner,
            pitch,
            rows,
        }
    }

    #[test]
    fn each_end_says_which_of_its_pointers_counts() {
        let surface = |kind| end(kind, [0; 3], 8, 1).surface([8, 1, 1]).map(|surface| surface.address);
        assert_eq!(surface(hipMemoryTypeHost), Ok(8));
        assert_eq!(surface(hipMemoryTypeDevice), Ok(16));
        assert_eq!(surface(hipMemoryTypeUnified), Ok(16));
        assert_eq!(surface(hipMemoryTypeArray), Err(hipErrorInvalidValue));
        assert_eq!(surface(hipMemoryType(77)), Err(hipErrorInvalidValue));
    }

    #[test]
    fn a_box_must_fit_its_rows_and_slices() {
        let fits = |corner, pitch, rows, extent| {
            end(hipMemoryTypeHost, corner, pitch, rows).surface(extent).map(|surface| surface.pitch)
        };
        assert_eq!(fits([2, 1, 0], 8, 3, [6, 2, 2]), Ok(8));
        assert_eq!(fits([3, 1, 0], 8, 3, [6, 2, 2]), Err(hipErrorInvalidValue));
        assert_eq!(fits([2, 2, 0], 8, 3, [6, 2, 2]), Err(hipErrorInvalidValue));
        assert_eq!(fits([2, 2, 0], 8, 3, [6, 2, 1]), Ok(8), "the rows of one slice need no end");
        assert_eq!(fits([u64::MAX, 0, 0], 8, 3, [6, 2, 2]), Err(hipErrorInvalidValue));
        assert_eq!(fits([u64::MAX, 0, 0], 0, 3, [6, 2, 2]), Err(hipErrorInvalidValue));
    }

    #[test]
    fn rows_and_slices_of_no_size_follow_each_other() {
        let from = end(hipMemoryTypeHost, [2, 1, 1], 0, 0).surface([6, 2, 2]).unwrap();
        assert_eq!((from.pitch, from.rows, from.address), (6, 2, 8 + 2 + 6 + 12));
    }
}
