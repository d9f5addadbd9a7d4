//! Copies of rows and boxes as the driver interface describes them: each end says what memory it is.

use std::ffi::c_void;

use aqlipse::graph::{BoxCopy, CopyKind, Memcpy, Surface};

use super::{
    memory_type,
    pitched::{copy_and_wait, copy_async},
};
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue, hipErrorNotSupported},
    soname,
    types::*,
};

/// One end of a copy.
struct End {
    kind: hipMemoryType,
    host: *const c_void,
    device: hipDeviceptr_t,
    /// First byte of a row, row and slice that the copy touches.
    corner: [u64; 3],
    /// Bytes between rows, 0 if they follow each other without a gap.
    pitch: u64,
    /// Rows of a slice.
    rows: u64,
}

impl End {
    /// The memory, checked to hold a box of `extent` bytes, rows and slices.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for null memory or a box that does not fit its rows, `hipErrorNotSupported` for arrays.
    fn surface(&self, extent: [u64; 3]) -> Result<Surface, hipError_t> {
        let address = match memory_type::meant(self.kind) {
            hipMemoryTypeHost => self.host as u64,
            hipMemoryTypeDevice | hipMemoryTypeManaged | hipMemoryTypeUnified => self.device as u64,
            hipMemoryTypeArray => return Err(hipErrorNotSupported),
            _ => return Err(hipErrorInvalidValue),
        };
        let ends = |i: usize| self.corner[i].checked_add(extent[i]).ok_or(hipErrorInvalidValue);
        let pitch = if self.pitch == 0 { ends(0)? } else { self.pitch };
        if address == 0 || ends(0)? > pitch || (extent[2] > 1 && ends(1)? > self.rows) {
            return Err(hipErrorInvalidValue);
        }
        Ok(Surface { address, pitch, row_bytes: pitch, rows: self.rows, corner: self.corner })
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
    let src = End {
        kind: params.srcMemoryType,
        host: params.srcHost,
        device: params.srcDevice,
        corner: [params.srcXInBytes as u64, params.srcY as u64, 0],
        pitch: params.srcPitch as u64,
        rows: params.Height as u64,
    };
    let dst = End {
        kind: params.dstMemoryType,
        host: params.dstHost,
        device: params.dstDevice,
        corner: [params.dstXInBytes as u64, params.dstY as u64, 0],
        pitch: params.dstPitch as u64,
        rows: params.Height as u64,
    };
    copy_of(&dst, &src, [params.WidthInBytes as u64, params.Height as u64, 1])
}

/// What both layouts of a box copy are read into.
macro_rules! box_copy {
    ($params:expr) => {{
        let params = $params;
        let src = End {
            kind: params.srcMemoryType,
            host: params.srcHost,
            device: params.srcDevice,
            corner: [params.srcXInBytes as u64, params.srcY as u64, params.srcZ as u64],
            pitch: params.srcPitch as u64,
            rows: params.srcHeight as u64,
        };
        let dst = End {
            kind: params.dstMemoryType,
            host: params.dstHost,
            device: params.dstDevice,
            corner: [params.dstXInBytes as u64, params.dstY as u64, params.dstZ as u64],
            pitch: params.dstPitch as u64,
            rows: params.dstHeight as u64,
        };
        copy_of(&dst, &src, [params.WidthInBytes as u64, params.Height as u64, params.Depth as u64])
    }};
}

/// Reads the parameters of a box copy.
///
/// # Safety
/// The pointer is null or points to parameters in the layout of the caller's version.
unsafe fn box_at(params: *const HIP_MEMCPY3D) -> Result<Memcpy, hipError_t> {
    // ABI: the counters grew to 64 bits with HIP 6.
    if soname::major() <= 5 {
        // SAFETY: the caller's promise.
        return box_copy!(unsafe { caller::read(params.cast::<HIP_MEMCPY3D_R0500>()) }?);
    }
    // SAFETY: the caller's promise.
    box_copy!(unsafe { caller::read(params) }?)
}

entry! {
    /// Copies rows and waits for it.
    fn hipMemcpyParam2D(params: *const hip_Memcpy2D) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable, and the operands that it names.
        unsafe { copy_and_wait(rectangle(&caller::read(params)?)?) }
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
        End { kind, host: 8 as *const c_void, device: 16 as hipDeviceptr_t, corner, pitch, rows }
    }

    #[test]
    fn each_end_says_which_of_its_pointers_counts() {
        let surface = |kind| end(kind, [0; 3], 8, 1).surface([8, 1, 1]).map(|surface| surface.address);
        assert_eq!(surface(hipMemoryTypeHost), Ok(8));
        assert_eq!(surface(hipMemoryTypeDevice), Ok(16));
        assert_eq!(surface(hipMemoryTypeUnified), Ok(16));
        assert_eq!(surface(hipMemoryTypeArray), Err(hipErrorNotSupported));
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
        assert_eq!(fits([2, 0, 0], 0, 3, [6, 2, 2]), Ok(8), "no pitch: the rows follow each other");
        assert_eq!(fits([u64::MAX, 0, 0], 0, 3, [6, 2, 2]), Err(hipErrorInvalidValue));
    }
}
