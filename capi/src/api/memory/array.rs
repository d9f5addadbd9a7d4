//! Arrays: making, freeing and describing them.

use std::ffi::{c_int, c_uint};

use aqlipse::{
    Error,
    memory::{Array, ArrayShape, ChannelKind, ElementFormat},
};

use crate::{
    arrays::{self, Known},
    caller, current,
    error::{hipError_t, hipErrorInvalidHandle, hipErrorInvalidValue},
    types::*,
};

/// The format of elements with up to four channels.
///
/// # Errors
/// `hipErrorInvalidValue` for channels of different widths or with gaps between them, and for what no array holds.
pub(super) fn element_format(desc: &hipChannelFormatDesc) -> Result<ElementFormat, hipError_t> {
    let kind = match desc.f {
        hipChannelFormatKindSigned => ChannelKind::Signed,
        hipChannelFormatKindUnsigned => ChannelKind::Unsigned,
        hipChannelFormatKindFloat => ChannelKind::Float,
        _ => return Err(hipErrorInvalidValue),
    };
    let bits = [desc.x, desc.y, desc.z, desc.w];
    let channels = bits.iter().take_while(|&&bits| bits != 0).count();
    let (used, rest) = bits.split_at(channels);
    if used.iter().any(|&bits| bits != desc.x) || rest.iter().any(|&bits| bits != 0) {
        return Err(hipErrorInvalidValue);
    }
    let width = c_uint::try_from(desc.x).map_err(|_| hipErrorInvalidValue)?;
    // CAST: at most 4.
    Ok(ElementFormat::new(kind, width, channels as c_uint)?)
}

/// The format that the driver's structures name.
///
/// # Errors
/// `hipErrorInvalidValue` for what no array holds.
pub(super) fn driver_format(format: hipArray_Format, channels: c_uint) -> Result<ElementFormat, hipError_t> {
    let (kind, bits) = match format {
        HIP_AD_FORMAT_UNSIGNED_INT8 => (ChannelKind::Unsigned, 8),
        HIP_AD_FORMAT_UNSIGNED_INT16 => (ChannelKind::Unsigned, 16),
        HIP_AD_FORMAT_UNSIGNED_INT32 => (ChannelKind::Unsigned, 32),
        HIP_AD_FORMAT_SIGNED_INT8 => (ChannelKind::Signed, 8),
        HIP_AD_FORMAT_SIGNED_INT16 => (ChannelKind::Signed, 16),
        HIP_AD_FORMAT_SIGNED_INT32 => (ChannelKind::Signed, 32),
        HIP_AD_FORMAT_HALF => (ChannelKind::Float, 16),
        HIP_AD_FORMAT_FLOAT => (ChannelKind::Float, 32),
        _ => return Err(hipErrorInvalidValue),
    };
    Ok(ElementFormat::new(kind, bits, channels)?)
}

fn channel_desc(format: ElementFormat) -> hipChannelFormatDesc {
    // CAST: at most 32.
    let bits = |channel: u32| if channel < format.channels() { format.bits() as c_int } else { 0 };
    let f = match format.kind() {
        ChannelKind::Signed => hipChannelFormatKindSigned,
        ChannelKind::Unsigned => hipChannelFormatKindUnsigned,
        ChannelKind::Float => hipChannelFormatKindFloat,
    };
    hipChannelFormatDesc { x: bits(0), y: bits(1), z: bits(2), w: bits(3), f }
}

fn format_name(format: ElementFormat) -> hipArray_Format {
    match (format.kind(), format.bits()) {
        (ChannelKind::Unsigned, 8) => HIP_AD_FORMAT_UNSIGNED_INT8,
        (ChannelKind::Unsigned, 16) => HIP_AD_FORMAT_UNSIGNED_INT16,
        (ChannelKind::Unsigned, _) => HIP_AD_FORMAT_UNSIGNED_INT32,
        (ChannelKind::Signed, 8) => HIP_AD_FORMAT_SIGNED_INT8,
        (ChannelKind::Signed, 16) => HIP_AD_FORMAT_SIGNED_INT16,
        (ChannelKind::Signed, _) => HIP_AD_FORMAT_SIGNED_INT32,
        (ChannelKind::Float, 16) => HIP_AD_FORMAT_HALF,
        (ChannelKind::Float, _) => HIP_AD_FORMAT_FLOAT,
    }
}

/// The shape that an extent and flags describe.
///
/// # Errors
/// `hipErrorInvalidValue` for unknown flags, for cubemaps, and for a gather of more than planes.
// HIP: as the runtime of October 2024 has it for a device whose kernels read no cubes (tests/conformance/array_flags.cpp).
// Surfaces and gathers are what a kernel does; the array is the same for both.
pub(super) fn shape(extent: [usize; 3], flags: c_uint) -> Result<ArrayShape, hipError_t> {
    let known = hipArrayLayered | hipArraySurfaceLoadStore | hipArrayTextureGather;
    if flags & !known != 0 || flags & hipArrayTextureGather != 0 && extent[2] != 0 {
        return Err(hipErrorInvalidValue);
    }
    Ok(ArrayShape { extent: extent.map(|n| n as u64), layered: flags & hipArrayLayered != 0 })
}

/// A handle for an array.
pub(super) fn handle(array: Array, flags: c_uint, is_level: bool) -> hipArray_t {
    // CAST: no side is longer than 2^14.
    let [width, height, depth] = array.shape().extent.map(|n| n as c_uint);
    let format = array.format();
    // HIP: measured on 5.2.3 (tests/conformance/array_fields.cpp); its `data` is no address that a client could use.
    let seen = hipArray {
        data: 0,
        desc: channel_desc(format),
        r#type: 0,
        width,
        height,
        depth,
        Format: format_name(format),
        NumChannels: format.channels(),
        isDrv: false,
        textureType: 0,
    };
    arrays::insert(seen, Known { array, flags, is_level })
}

/// Makes an array and stores its handle.
unsafe fn create(
    out: *mut hipArray_t,
    format: ElementFormat,
    extent: [usize; 3],
    flags: c_uint,
) -> Result<(), hipError_t> {
    if out.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let shape = shape(extent, flags)?;
    let device = current::device()?;
    let array = Array::new(&device, format, shape)?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(out, handle(array, flags, false)) }
}

entry! {
    /// Makes an array of one row, or of rows if there is a height.
    fn hipMallocArray(
        array: *mut hipArray_t,
        desc: *const hipChannelFormatDesc,
        width: usize,
        height: usize,
        flags: c_uint,
    ) -> hipError_t {
        // SAFETY: the caller's pointers, null or valid.
        unsafe {
            let format = element_format(&caller::read(desc)?)?;
            create(array, format, [width, height, 0], flags)
        }
    }
}

entry! {
    /// Makes an array of up to three dimensions, or one of layers.
    fn hipMalloc3DArray(
        array: *mut hipArray_t,
        desc: *const hipChannelFormatDesc,
        extent: hipExtent,
        flags: c_uint,
    ) -> hipError_t {
        // SAFETY: the caller's pointers, null or valid.
        unsafe {
            let format = element_format(&caller::read(desc)?)?;
            create(array, format, [extent.width, extent.height, extent.depth], flags)
        }
    }
}

entry! {
    /// Makes an array of one row, or of rows if there is a height, as the driver describes it.
    fn hipArrayCreate(array: *mut hipArray_t, desc: *const HIP_ARRAY_DESCRIPTOR) -> hipError_t {
        // SAFETY: the caller's pointers, null or valid.
        unsafe {
            let desc = caller::read(desc)?;
            let format = driver_format(desc.Format, desc.NumChannels)?;
            create(array, format, [desc.Width, desc.Height, 0], 0)
        }
    }
}

entry! {
    /// Makes an array of up to three dimensions, or one of layers, as the driver describes it.
    fn hipArray3DCreate(array: *mut hipArray_t, desc: *const HIP_ARRAY3D_DESCRIPTOR) -> hipError_t {
        // SAFETY: the caller's pointers, null or valid.
        unsafe {
            let desc = caller::read(desc)?;
            let format = driver_format(desc.Format, desc.NumChannels)?;
            create(array, format, [desc.Width, desc.Height, desc.Depth], desc.Flags)
        }
    }
}

entry! {
    /// Frees an array after all work of its device.
    fn hipFreeArray, hipArrayDestroy(array: hipArray_t) -> hipError_t {
        let known = arrays::get(array).filter(|known| !known.is_level).ok_or(hipErrorInvalidValue)?;
        let outcome = known.array.free();
        if known.array.is_alive() {
            // A host function asked for it.
            return Ok(outcome?);
        }
        arrays::remove(array);
        match outcome {
            // The device was reset, or another thread was quicker.
            Err(Error::InvalidHandle) => Err(hipErrorInvalidValue),
            outcome => Ok(outcome?),
        }
    }
}

/// The array that a query is about.
///
/// # Errors
/// `hipErrorInvalidHandle`.
fn queried(array: hipArray_t) -> Result<Known, hipError_t> {
    arrays::get(array).filter(|known| known.array.is_alive()).ok_or(hipErrorInvalidHandle)
}

entry! {
    /// Stores the element format, the shape and the flags of an array; null for what is not wanted.
    fn hipArrayGetInfo(
        desc: *mut hipChannelFormatDesc,
        extent: *mut hipExtent,
        flags: *mut c_uint,
        array: hipArray_t,
    ) -> hipError_t {
        let known = queried(array)?;
        let [width, height, depth] = known.array.shape().extent.map(|n| n as usize);
        // SAFETY: the caller's pointers, null or writable.
        unsafe {
            caller::write_if_wanted(desc, channel_desc(known.array.format()));
            caller::write_if_wanted(extent, hipExtent { width, height, depth });
            caller::write_if_wanted(flags, known.flags);
        }
        Ok(())
    }
}

entry! {
    /// Stores what the driver would describe an array of one or two dimensions by.
    fn hipArrayGetDescriptor(desc: *mut HIP_ARRAY_DESCRIPTOR, array: hipArray_t) -> hipError_t {
        let known = queried(array)?;
        let [width, height, depth] = known.array.shape().extent.map(|n| n as usize);
        if depth != 0 {
            // The structure has no place for a depth.
            return Err(hipErrorInvalidValue);
        }
        let format = known.array.format();
        let found = HIP_ARRAY_DESCRIPTOR {
            Width: width,
            Height: height,
            Format: format_name(format),
            NumChannels: format.channels(),
        };
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(desc, found) }
    }
}

entry! {
    /// Stores what the driver would describe an array by; dimensions that it lacks are 0.
    fn hipArray3DGetDescriptor(desc: *mut HIP_ARRAY3D_DESCRIPTOR, array: hipArray_t) -> hipError_t {
        let known = queried(array)?;
        let [width, height, depth] = known.array.shape().extent.map(|n| n as usize);
        let format = known.array.format();
        let found = HIP_ARRAY3D_DESCRIPTOR {
            Width: width,
            Height: height,
            Depth: depth,
            Format: format_name(format),
            NumChannels: format.channels(),
            Flags: known.flags,
        };
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(desc, found) }
    }
}

entry! {
    /// Stores the element format of an array.
    fn hipGetChannelDesc(desc: *mut hipChannelFormatDesc, array: hipArray_t) -> hipError_t {
        if desc.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let known = queried(array)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(desc, channel_desc(known.array.format())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desc(bits: [c_int; 4], f: hipChannelFormatKind) -> hipChannelFormatDesc {
        let [x, y, z, w] = bits;
        hipChannelFormatDesc { x, y, z, w, f }
    }

    #[test]
    fn channels_are_equal_and_without_gaps() {
        for bits in [[32, 0, 0, 0], [16, 16, 0, 0], [8, 8, 8, 8]] {
            let given = desc(bits, hipChannelFormatKindUnsigned);
            let back = channel_desc(element_format(&given).unwrap());
            assert_eq!([back.x, back.y, back.z, back.w], bits);
            assert_eq!(back.f, given.f);
        }
        for bits in [[8, 16, 0, 0], [8, 0, 8, 0], [32, 32, 32, 0], [0, 0, 0, 0], [64, 0, 0, 0], [-8, 0, 0, 0]]
        {
            let format = element_format(&desc(bits, hipChannelFormatKindUnsigned));
            assert_eq!(format, Err(hipErrorInvalidValue), "{bits:?}");
        }
        assert_eq!(element_format(&desc([8, 0, 0, 0], hipChannelFormatKindNone)), Err(hipErrorInvalidValue));
    }

    #[test]
    fn both_ways_of_naming_a_format_agree() {
        for name in [1, 2, 3, 8, 9, 10, 16, 32].map(hipArray_Format) {
            for channels in [1, 2, 4] {
                let format = driver_format(name, channels).unwrap();
                assert_eq!(format_name(format), name);
                assert_eq!(element_format(&channel_desc(format)), Ok(format));
            }
        }
        assert_eq!(driver_format(hipArray_Format(4), 1), Err(hipErrorInvalidValue));
        assert_eq!(driver_format(HIP_AD_FORMAT_FLOAT, 3), Err(hipErrorInvalidValue));
    }

    #[test]
    fn flags_for_texels_change_nothing_and_unknown_ones_are_wrong() {
        let shape = |depth, flags| shape([4, 4, depth], flags).map(|shape| shape.layered);
        assert_eq!(shape(4, hipArrayDefault), Ok(false));
        assert_eq!(shape(4, hipArrayLayered | hipArraySurfaceLoadStore), Ok(true));
        assert_eq!(shape(0, hipArraySurfaceLoadStore | hipArrayTextureGather), Ok(false));
        assert_eq!(shape(4, hipArrayTextureGather), Err(hipErrorInvalidValue));
        for unknown in [hipArrayCubemap, 0x10, 0x40] {
            assert_eq!(shape(4, unknown), Err(hipErrorInvalidValue));
        }
    }
}
