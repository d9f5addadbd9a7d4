//! Mipmapped arrays: the levels are arrays of their own.

use std::{ffi::c_uint, sync::Arc};

use aqlipse::{
    Error,
    memory::{ElementFormat, MipmappedArray, external::ExternalMemory, virtual_memory},
};

use super::array::{driver_format, element_format, handle, shape};
use crate::{
    arrays, caller, current,
    error::{hipError_t, hipErrorInvalidValue},
    handle::{Kind, Table},
    types::*,
};

/// A mipmapped array and the handles of its levels.
#[derive(Clone)]
struct Known {
    array: MipmappedArray,
    levels: Arc<[hipArray_t]>,
}

static MIPMAPS: Table<Known> = Table::new(Kind::MipmappedArray);

unsafe fn create(
    out: *mut hipMipmappedArray_t,
    format: ElementFormat,
    extent: [usize; 3],
    levels: c_uint,
    flags: c_uint,
) -> Result<(), hipError_t> {
    if out.is_null() || levels == 0 {
        return Err(hipErrorInvalidValue);
    }
    let shape = shape(extent, flags)?;
    let device = current::device()?;
    let made = remember(MipmappedArray::new(&device, format, shape, levels)?, flags)?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(out, made) }
}

/// A handle for a mipmapped array.
fn remember(array: MipmappedArray, flags: c_uint) -> Result<hipMipmappedArray_t, hipError_t> {
    let levels = array.levels().iter().map(|level| handle(level.clone(), flags, true)).collect();
    Ok(hipMipmappedArray_t(MIPMAPS.give(Known { array, levels })?))
}

/// A mipmapped array in imported memory.
///
/// # Errors
/// `hipErrorInvalidValue` for what no array is, and for one that leaves the memory.
pub(in crate::api) fn in_memory(
    memory: &ExternalMemory,
    description: &hipExternalMemoryMipmappedArrayDesc,
) -> Result<hipMipmappedArray_t, hipError_t> {
    let format = element_format(&description.formatDesc)?;
    let hipExtent { width, height, depth } = description.extent;
    let shape = shape([width, height, depth], description.flags)?;
    let (offset, levels) = (description.offset, description.numLevels);
    let array = MipmappedArray::in_memory(&current::device()?, memory, offset, format, shape, levels)?;
    remember(array, description.flags)
}

entry! {
    /// Makes an array with smaller versions of itself: as many levels as asked for, at most until every side is 1.
    fn hipMallocMipmappedArray(
        array: *mut hipMipmappedArray_t,
        desc: *const hipChannelFormatDesc,
        extent: hipExtent,
        levels: c_uint,
        flags: c_uint,
    ) -> hipError_t {
        // SAFETY: the caller's pointers, null or valid.
        unsafe {
            let format = element_format(&caller::read(desc)?)?;
            let extent = [extent.width, extent.height, extent.depth];
            create(array, format, extent, levels, flags)
        }
    }
}

entry! {
    /// Makes an array with smaller versions of itself, as the driver describes it.
    fn hipMipmappedArrayCreate(
        array: *mut hipMipmappedArray_t,
        desc: *mut HIP_ARRAY3D_DESCRIPTOR,
        levels: c_uint,
    ) -> hipError_t {
        // SAFETY: the caller's pointers, null or valid.
        unsafe {
            let desc = caller::read(desc)?;
            let format = driver_format(desc.Format, desc.NumChannels)?;
            let extent = [desc.Width, desc.Height, desc.Depth];
            create(array, format, extent, levels, desc.Flags)
        }
    }
}

entry! {
    /// Frees a mipmapped array and its levels after all work of its device.
    fn hipFreeMipmappedArray, hipMipmappedArrayDestroy(array: hipMipmappedArray_t) -> hipError_t {
        let known = MIPMAPS.get(array.0).ok_or(hipErrorInvalidValue)?;
        let outcome = known.array.free();
        if known.array.levels().iter().any(|level| level.is_alive()) {
            // A host function asked for it.
            return Ok(outcome?);
        }
        MIPMAPS.remove(array.0);
        known.levels.iter().for_each(|level| arrays::remove(*level));
        match outcome {
            // The device was reset, or another thread was quicker.
            Err(Error::InvalidHandle) => Err(hipErrorInvalidValue),
            outcome => Ok(outcome?),
        }
    }
}

unsafe fn level(out: *mut hipArray_t, array: hipMipmappedArray_t, level: c_uint) -> Result<(), hipError_t> {
    let known = MIPMAPS.get(array.0).ok_or(hipErrorInvalidValue)?;
    let found = known.levels.get(level as usize).ok_or(hipErrorInvalidValue)?;
    // SAFETY: the caller's pointer, null or writable.
    unsafe { caller::write(out, *found) }
}

entry! {
    /// Stores how many bytes all levels of a mipmapped array have, and of what mapped memory begins at multiples.
    fn hipMipmappedArrayGetMemoryRequirements(
        requirements: *mut hipArrayMemoryRequirements,
        array: hipMipmappedArray_t,
        device: hipDevice_t,
    ) -> hipError_t {
        let known = MIPMAPS.get(array.0).ok_or(hipErrorInvalidValue)?;
        let device = current::device_at(device).map_err(|_| hipErrorInvalidValue)?;
        let bytes: u64 = known.array.levels().iter().map(|level| level.bytes()).sum();
        // CAST: the library is for 64-bit hosts only.
        let alignment = virtual_memory::granularity(&device, false) as usize;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(requirements, hipArrayMemoryRequirements { alignment, size: bytes as usize }) }
    }
}

entry! {
    /// Stores a level of a mipmapped array, which ends with that.
    fn hipGetMipmappedArrayLevel, hipMipmappedArrayGetLevel(
        array: *mut hipArray_t,
        mipmapped: hipMipmappedArray_t,
        number: c_uint,
    ) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { level(array, mipmapped, number) }
    }
}
