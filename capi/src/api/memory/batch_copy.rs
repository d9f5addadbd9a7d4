//! Batches of copies on streams, and box copies between devices.

use std::ffi::c_void;

use aqlipse::{
    Error,
    graph::{BoxCopy, CopyKind, Memcpy, RunCopy, Surface},
    memory::{self, Array},
};

use super::{
    operand::box_copy,
    pitched::{copy_and_wait, copy_async},
};
use crate::{
    arrays, caller, current,
    error::{hipError_t, hipErrorInvalidValue},
    object,
    types::*,
};

/// A batch as callers describe it.
pub(crate) struct Batch {
    pub dsts: *mut *mut c_void,
    pub srcs: *mut *mut c_void,
    pub sizes: *mut usize,
    pub count: usize,
    pub attributes: *mut hipMemcpyAttributes,
    /// The first copy that each of the attributes is for.
    pub places: *mut usize,
    pub attribute_count: usize,
}

/// An error, and the copy of the batch that it concerns, if it is one.
pub(super) type Failed = (hipError_t, Option<usize>);

/// Asks whether a source may be read when the stream gets there; `true` if it must have been read before the call
/// returns.
fn during_call(order: hipMemcpySrcAccessOrder) -> Result<bool, hipError_t> {
    match order {
        hipMemcpySrcAccessOrderStream | hipMemcpySrcAccessOrderAny => Ok(false),
        hipMemcpySrcAccessOrderDuringApiCall => Ok(true),
        _ => Err(hipErrorInvalidValue),
    }
}

/// Whether `places` are where each of several things begins to hold for `count` operations: at 0, then at ascending ones.
pub(super) fn are_starts(places: &[usize], count: usize) -> bool {
    let ascending = places.windows(2).all(|pair| pair[0] < pair[1]);
    ascending
        && places.first().is_none_or(|&first| first == 0)
        && places.last().is_none_or(|&last| last < count)
}

/// Reads a batch; says whether a source must have been read before the call returns.
///
/// # Errors
/// `hipErrorInvalidValue` for no copies, arrays or entries at null, sizes of 0, operands that cannot be copied, and
/// attributes that are not for the first copy or not for ascending ones.
///
/// # Safety
/// The arrays are null or readable for their counts.
pub(crate) unsafe fn runs(batch: &Batch) -> Result<(Vec<RunCopy>, bool), Failed> {
    let whole = |code| (code, None);
    if batch.count == 0 || batch.attribute_count > batch.count {
        return Err(whole(hipErrorInvalidValue));
    }
    // SAFETY: the caller's promise.
    let (dsts, srcs, sizes, attributes, places) = unsafe {
        (
            caller::read_slice(batch.dsts, batch.count).map_err(whole)?,
            caller::read_slice(batch.srcs, batch.count).map_err(whole)?,
            caller::read_slice(batch.sizes, batch.count).map_err(whole)?,
            caller::read_slice(batch.attributes, batch.attribute_count).map_err(whole)?,
            caller::read_slice(batch.places, batch.attribute_count).map_err(whole)?,
        )
    };
    if !are_starts(&places, batch.count) {
        return Err(whole(hipErrorInvalidValue));
    }
    let mut waits = false;
    for attribute in attributes {
        waits |= during_call(attribute.srcAccessOrder).map_err(whole)?;
    }
    let mut copies = Vec::with_capacity(batch.count);
    for (n, ((dst, src), bytes)) in dsts.into_iter().zip(srcs).zip(sizes).enumerate() {
        let run = RunCopy { dst: dst as u64, src: src as u64, bytes: bytes as u64 };
        let checked = memory::check_copy(&Memcpy::linear(run.dst, run.src, run.bytes));
        if bytes == 0 || checked.is_err() {
            return Err((hipErrorInvalidValue, Some(n)));
        }
        copies.push(run);
    }
    Ok((copies, waits))
}

/// Stores which copy of a batch failed; all ones if it was none of them.
unsafe fn report(place: *mut usize, failed: Failed) -> hipError_t {
    let (code, index) = failed;
    // SAFETY: the caller's pointer, null or writable.
    unsafe { caller::write_if_wanted(place, index.unwrap_or(usize::MAX)) };
    code
}

entry! {
    /// Copies several runs of bytes on a stream, in no order among each other; in a capture, as one node.
    fn hipMemcpyBatchAsync(
        dsts: *mut *mut c_void,
        srcs: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        attributes: *mut hipMemcpyAttributes,
        places: *mut usize,
        attribute_count: usize,
        failed: *mut usize,
        stream: hipStream_t,
    ) -> hipError_t {
        let stream = object::stream(stream)?;
        let batch = Batch { dsts, srcs, sizes, count, attributes, places, attribute_count };
        // SAFETY: the caller's arrays.
        let read = unsafe { runs(&batch) };
        // SAFETY: the caller's pointer.
        let (copies, waits) = read.map_err(|error| unsafe { report(failed, error) })?;
        // SAFETY: the caller's operands.
        unsafe { in_batch(&stream, waits, failed, |stream| stream.memcpy_batch(&copies)) }
    }
}

/// Puts a batch on a stream, and waits for it if sources must have been read when the call returns.
unsafe fn in_batch(
    stream: &aqlipse::Stream,
    waits: bool,
    failed: *mut usize,
    copy: impl FnOnce(&aqlipse::Stream) -> aqlipse::Result<()>,
) -> Result<(), hipError_t> {
    const LATER: Error = Error::NotSupported("a captured copy whose source is read during the call");
    let done = if waits && stream.is_capturing() { Err(LATER) } else { copy(stream) };
    let done = done.and_then(|()| if waits { stream.synchronize() } else { Ok(()) });
    // SAFETY: the caller's pointer.
    done.map_err(|error| unsafe { report(failed, (error.into(), None)) })
}

/// One end of a box copy of a batch.
enum End {
    Array(Array, hipOffset3D),
    Memory(hipMemcpy3DPointer),
}

impl End {
    fn new(operand: &hipMemcpy3DOperand) -> Result<Self, hipError_t> {
        // SAFETY: both members are plain data for which any bits are values, and `type` says which one is filled in.
        unsafe {
            match operand.r#type {
                hipMemcpyOperandTypeArray => {
                    let given = operand.op.array;
                    Ok(Self::Array(arrays::living_or(given.array, hipErrorInvalidValue)?, given.offset))
                }
                hipMemcpyOperandTypePointer if !operand.op.ptr.ptr.is_null() => {
                    Ok(Self::Memory(operand.op.ptr))
                }
                _ => Err(hipErrorInvalidValue),
            }
        }
    }

    fn element_bytes(&self) -> Option<u64> {
        match self {
            Self::Array(array, _) => Some(array.format().bytes()),
            Self::Memory(_) => None,
        }
    }

    /// The end of a copy of `extent` elements of `element` bytes, rows and slices.
    fn surface(&self, extent: [u64; 3], element: u64) -> Result<Surface, hipError_t> {
        let bytes = |elements: u64| elements.checked_mul(element).ok_or(hipErrorInvalidValue);
        let [width, height, depth] = extent;
        match self {
            Self::Array(array, at) => Ok(array
                .surface([bytes(at.x as u64)?, at.y as u64, at.z as u64], [bytes(width)?, height, depth])?),
            Self::Memory(memory) => {
                let given_or = |given: usize, own: u64| if given == 0 { own } else { given as u64 };
                let (row, rows) = (given_or(memory.rowLength, width), given_or(memory.layerHeight, height));
                if row < width || rows < height {
                    return Err(hipErrorInvalidValue);
                }
                let pitch = bytes(row)?;
                let address = memory.ptr as u64;
                Ok(Surface { address, pitch, row_bytes: bytes(width)?, rows, corner: [0; 3] })
            }
        }
    }
}

/// A box copy of a batch; says whether its source must have been read before the call returns.
fn box_of_batch(op: &hipMemcpy3DBatchOp) -> Result<(Memcpy, bool), hipError_t> {
    let (src, dst) = (End::new(&op.src)?, End::new(&op.dst)?);
    let element = match (src.element_bytes(), dst.element_bytes()) {
        (Some(src), Some(dst)) if src != dst => return Err(hipErrorInvalidValue),
        (src, dst) => src.or(dst).unwrap_or(1),
    };
    let elements = [op.extent.width, op.extent.height, op.extent.depth].map(|n| n as u64);
    let (dst, src) = (dst.surface(elements, element)?, src.surface(elements, element)?);
    let [width, height, depth] = elements;
    let extent = [width.checked_mul(element).ok_or(hipErrorInvalidValue)?, height, depth];
    let copy = Memcpy::Box(Box::new(BoxCopy { dst, src, extent, kind: CopyKind::Inferred }));
    if extent.contains(&0) {
        return Err(hipErrorInvalidValue);
    }
    memory::check_copy(&copy)?;
    Ok((copy, during_call(op.srcAccessOrder)?))
}

entry! {
    /// Copies several boxes on a stream, between arrays and memory.
    fn hipMemcpy3DBatchAsync(
        count: usize,
        ops: *mut hipMemcpy3DBatchOp,
        failed: *mut usize,
        flags: u64,
        stream: hipStream_t,
    ) -> hipError_t {
        let stream = object::stream(stream)?;
        // SAFETY: the caller's array, null or readable.
        let ops = unsafe { caller::read_slice(ops, count) };
        let ops = ops.and_then(|ops| if ops.is_empty() || flags != 0 { Err(hipErrorInvalidValue) } else { Ok(ops) });
        // SAFETY: the caller's pointer.
        let ops = ops.map_err(|code| unsafe { report(failed, (code, None)) })?;
        let mut copies = Vec::with_capacity(ops.len());
        let mut waits = false;
        for (n, op) in ops.iter().enumerate() {
            // SAFETY: the caller's pointer.
            let (copy, during) = box_of_batch(op).map_err(|code| unsafe { report(failed, (code, Some(n))) })?;
            copies.push(copy);
            waits |= during;
        }
        // SAFETY: the caller's operands.
        unsafe {
            in_batch(&stream, waits, failed, |stream| copies.into_iter().try_for_each(|copy| stream.memcpy(copy)))
        }
    }
}

/// A box copy between devices; where the ends lie decides, as everywhere.
///
/// # Errors
/// `hipErrorInvalidDevice` for ordinals of no device; as [`box_copy`].
unsafe fn between_devices(params: *mut hipMemcpy3DPeerParms) -> Result<Memcpy, hipError_t> {
    // SAFETY: the caller's pointer, null or readable.
    let given = unsafe { caller::read(params) }?;
    current::device_at(given.srcDevice)?;
    current::device_at(given.dstDevice)?;
    box_copy(&hipMemcpy3DParms {
        srcArray: given.srcArray,
        srcPos: given.srcPos,
        srcPtr: given.srcPtr,
        dstArray: given.dstArray,
        dstPos: given.dstPos,
        dstPtr: given.dstPtr,
        extent: given.extent,
        kind: hipMemcpyDefault,
    })
}

entry! {
    /// Copies a box between devices and waits for it.
    fn hipMemcpy3DPeer(params: *mut hipMemcpy3DPeerParms) -> hipError_t {
        // SAFETY: the caller's pointer, and the operands that it names.
        unsafe { copy_and_wait(between_devices(params)?) }
    }
}

entry! {
    /// Copies a box between devices on a stream.
    fn hipMemcpy3DPeerAsync(params: *mut hipMemcpy3DPeerParms, stream: hipStream_t) -> hipError_t {
        // SAFETY: the caller's pointer, and the operands that it names.
        unsafe { copy_async(between_devices(params)?, stream) }
    }
}
