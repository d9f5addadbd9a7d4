//! Memory that host and device share, and advice about it.

use std::ffi::{c_int, c_uint, c_void};

use aqlipse::{
    Device, Stream, capture,
    memory::{self, Advice, Origin, Processor, Saying},
};

use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidDevice, hipErrorInvalidValue, hipErrorNotSupported},
    object,
    types::*,
};

entry! {
    /// Allocates memory that host and device share.
    fn hipMallocManaged(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t {
        if address.is_null() || bytes == 0 || !matches!(flags, hipMemAttachGlobal | hipMemAttachHost) {
            return Err(hipErrorInvalidValue);
        }
        let device = current::device()?;
        let region = memory::allocate_managed(&device, bytes, flags)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(address, region.address as usize as *mut c_void) }
    }
}

/// The processor that a caller calls `device`.
///
/// # Errors
/// `hipErrorInvalidDevice`.
fn processor(device: c_int) -> Result<Processor, hipError_t> {
    if device == hipCpuDeviceId {
        return Ok(Processor::Host);
    }
    let ordinal = usize::try_from(device).map_err(|_| hipErrorInvalidDevice)?;
    Device::get(ordinal).map_err(|_| hipErrorInvalidDevice)?;
    Ok(Processor::Device(ordinal))
}

/// What callers call a processor.
fn number(processor: Option<Processor>) -> c_int {
    match processor {
        None => hipInvalidDeviceId,
        Some(Processor::Host) => hipCpuDeviceId,
        // CAST: ordinals are small.
        Some(Processor::Device(ordinal)) => ordinal as c_int,
    }
}

/// The processor that a location names.
///
/// # Errors
/// `hipErrorInvalidValue` for a kind of location that managed memory cannot be in, `hipErrorInvalidDevice`.
pub(super) fn processor_of(location: hipMemLocation) -> Result<Processor, hipError_t> {
    match location.r#type {
        hipMemLocationTypeDevice if location.id >= 0 => processor(location.id),
        hipMemLocationTypeDevice => Err(hipErrorInvalidDevice),
        // All of the host's memory is one to the devices.
        hipMemLocationTypeHost | hipMemLocationTypeHostNuma | hipMemLocationTypeHostNumaCurrent => {
            Ok(Processor::Host)
        }
        _ => Err(hipErrorInvalidValue),
    }
}

entry! {
    /// Says something about managed memory, to the driver where it moves it.
    fn hipMemAdvise(address: *const c_void, bytes: usize, advice: hipMemoryAdvise, device: c_int) -> hipError_t {
        say(address, bytes, advice, || processor(device))
    }
}

entry! {
    /// As [`hipMemAdvise`], with a location in place of a device.
    fn hipMemAdvise_v2(
        address: *const c_void,
        bytes: usize,
        advice: hipMemoryAdvise,
        location: hipMemLocation,
    ) -> hipError_t {
        say(address, bytes, advice, || processor_of(location))
    }
}

fn say(
    address: *const c_void,
    bytes: usize,
    advice: hipMemoryAdvise,
    who: impl FnOnce() -> Result<Processor, hipError_t>,
) -> Result<(), hipError_t> {
    current::device()?;
    let with_processor = matches!(
        advice,
        hipMemAdviseSetPreferredLocation | hipMemAdviseSetAccessedBy | hipMemAdviseUnsetAccessedBy
    );
    // The other kinds ignore the processor that is named.
    let processor = if with_processor { who()? } else { Processor::Host };
    let saying = match advice {
        hipMemAdviseSetReadMostly => Saying::ReadMostly(true),
        hipMemAdviseUnsetReadMostly => Saying::ReadMostly(false),
        hipMemAdviseSetPreferredLocation => Saying::Preferred(Some(processor)),
        hipMemAdviseUnsetPreferredLocation => Saying::Preferred(None),
        hipMemAdviseSetAccessedBy => Saying::AccessedBy(processor, true),
        hipMemAdviseUnsetAccessedBy => Saying::AccessedBy(processor, false),
        hipMemAdviseSetCoarseGrain => Saying::CoarseGrained(true),
        hipMemAdviseUnsetCoarseGrain => Saying::CoarseGrained(false),
        _ => return Err(hipErrorInvalidValue),
    };
    Ok(memory::advise(address as u64, bytes as u64, saying)?)
}

entry! {
    /// As [`hipMemPrefetchAsync`], with a location in place of a device; `flags` are reserved.
    fn hipMemPrefetchAsync_v2(
        address: *const c_void,
        bytes: usize,
        location: hipMemLocation,
        flags: c_uint,
        stream: hipStream_t,
    ) -> hipError_t {
        let stream = object::stream(stream)?;
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let processor = processor_of(location)?;
        prefetch(&stream, address, bytes, processor)
    }
}

entry! {
    /// Has managed memory moved to where it will be used, in the stream's order; where it does not move, remembers it.
    fn hipMemPrefetchAsync(address: *const c_void, bytes: usize, device: c_int, stream: hipStream_t) -> hipError_t {
        let stream = object::stream(stream)?;
        let processor = processor(device)?;
        prefetch(&stream, address, bytes, processor)
    }
}

/// # Errors
/// `hipErrorNotSupported` for memory that no device reaches, `hipErrorInvalidValue` for other memory that is not managed.
// HIP: two codes, as the runtime of October 2024 has them (tests/conformance/managed_advice.cpp).
fn prefetch(
    stream: &Stream,
    address: *const c_void,
    bytes: usize,
    processor: Processor,
) -> Result<(), hipError_t> {
    capture::refuse_uncapturable(stream, "prefetching memory")?;
    if !address.is_null() && bytes > 0 && memory::find(address as u64)?.is_none() {
        return Err(hipErrorNotSupported);
    }
    Ok(stream.prefetch(&[(address as u64, bytes as u64)], &[processor])?)
}

/// What all parts of a range have in common, if they do.
fn common<T: PartialEq + Copy>(said: &[Advice], of: impl Fn(&Advice) -> Option<T>) -> Option<T> {
    let first = of(said.first()?)?;
    said.iter().all(|advice| of(advice) == Some(first)).then_some(first)
}

/// What has been said about a range. Of memory that is not managed there is its coherency alone, for which no other
/// attribute may be asked.
///
/// # Errors
/// `hipErrorInvalidValue` for an empty range, for one that no allocation holds, and for another attribute.
fn said_about(
    address: *const c_void,
    bytes: usize,
    attributes: &[hipMemRangeAttribute],
) -> Result<Vec<Advice>, hipError_t> {
    let known = memory::find(address as u64)?.filter(|region| region.origin != Origin::Managed);
    let Some(region) = known else { return Ok(memory::advice(address as u64, bytes as u64)?) };
    let inside = region.address + region.bytes - address as u64;
    let only_coherency = attributes.iter().all(|one| *one == hipMemRangeAttributeCoherencyMode);
    if bytes == 0 || bytes as u64 > inside || !only_coherency {
        return Err(hipErrorInvalidValue);
    }
    let coarse_grained = match region.origin {
        Origin::Host => region.flags & hipHostMallocNonCoherent != 0,
        Origin::Registered => region.flags & hipExtHostRegisterCoarseGrained != 0,
        // Of the device's memory what was asked for as such is fine-grained.
        _ => region.flags & (hipDeviceMallocFinegrained | hipDeviceMallocUncached) == 0,
    };
    Ok(vec![Advice { coarse_grained, ..Advice::default() }])
}

/// Stores one attribute of a range.
///
/// # Safety
/// `out` is writable for `room` bytes.
unsafe fn attribute(
    out: *mut c_void,
    room: usize,
    attribute: hipMemRangeAttribute,
    said: &[Advice],
) -> Result<(), hipError_t> {
    const WORD: usize = size_of::<c_int>();
    if out.is_null() || room == 0 || !room.is_multiple_of(WORD) {
        return Err(hipErrorInvalidValue);
    }
    let one = match attribute {
        hipMemRangeAttributeReadMostly => c_int::from(said.iter().all(|advice| advice.read_mostly)),
        hipMemRangeAttributePreferredLocation => number(common(said, |advice| advice.preferred)),
        hipMemRangeAttributeLastPrefetchLocation => number(common(said, |advice| advice.prefetched)),
        hipMemRangeAttributeCoherencyMode => {
            let mode = match common(said, |advice| Some(advice.coarse_grained)) {
                Some(true) => hipMemRangeCoherencyModeCoarseGrain,
                Some(false) => hipMemRangeCoherencyModeFineGrain,
                None => hipMemRangeCoherencyModeIndeterminate,
            };
            // CAST: small numbers.
            mode.0 as c_int
        }
        hipMemRangeAttributeAccessedBy => {
            // The processors that access every part of the range; the rest of the array names none.
            let everywhere =
                |processor: &Processor| said.iter().all(|advice| advice.accessed_by.contains(processor));
            let mut who =
                said.iter().take(1).flat_map(|advice| &advice.accessed_by).copied().filter(everywhere);
            for at in 0..room / WORD {
                // SAFETY: the caller's promise.
                unsafe { caller::write(out.cast::<c_int>().wrapping_add(at), number(who.next())) }?;
            }
            return Ok(());
        }
        _ => return Err(hipErrorInvalidValue),
    };
    if room != WORD {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's promise.
    unsafe { caller::write(out.cast(), one) }
}

entry! {
    /// Stores what has been said about a range of managed memory, or how coherent other memory is.
    fn hipMemRangeGetAttribute(
        out: *mut c_void,
        room: usize,
        attribute_: hipMemRangeAttribute,
        address: *const c_void,
        bytes: usize,
    ) -> hipError_t {
        current::device()?;
        let said = said_about(address, bytes, &[attribute_])?;
        // SAFETY: the caller's pointer.
        unsafe { attribute(out, room, attribute_, &said) }
    }
}

entry! {
    /// Stores several things that have been said about a range of managed memory.
    fn hipMemRangeGetAttributes(
        outs: *mut *mut c_void,
        rooms: *mut usize,
        attributes: *mut hipMemRangeAttribute,
        count: usize,
        address: *const c_void,
        bytes: usize,
    ) -> hipError_t {
        if count == 0 {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's arrays, null or readable.
        let (outs, rooms, attributes) = unsafe {
            (
                caller::read_slice(outs, count)?,
                caller::read_slice(rooms, count)?,
                caller::read_slice(attributes, count)?,
            )
        };
        current::device()?;
        let said = said_about(address, bytes, &attributes)?;
        for ((out, room), attribute_) in outs.into_iter().zip(rooms).zip(attributes) {
            // SAFETY: the caller's pointers.
            unsafe { attribute(out, room, attribute_, &said) }?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_disagree_have_nothing_in_common() {
        let here = Advice { preferred: Some(Processor::Host), ..Advice::default() };
        let there = Advice { preferred: Some(Processor::Device(0)), ..Advice::default() };
        let preferred = |said: &[Advice]| number(common(said, |advice| advice.preferred));
        assert_eq!(preferred(&[here.clone(), here.clone()]), hipCpuDeviceId);
        assert_eq!(preferred(&[here, there.clone()]), hipInvalidDeviceId);
        assert_eq!(preferred(&[there]), 0);
        assert_eq!(preferred(&[Advice::default()]), hipInvalidDeviceId);
    }

    #[test]
    fn accesses_fill_the_array_that_is_given() {
        let said = [Advice { accessed_by: vec![Processor::Host, Processor::Device(0)], ..Advice::default() }];
        let mut who = [7; 3];
        let mut ask = |room| {
            // SAFETY: the array has at least as many bytes.
            unsafe { attribute(who.as_mut_ptr().cast(), room, hipMemRangeAttributeAccessedBy, &said) }
        };
        assert_eq!(ask(12), Ok(()));
        assert_eq!(ask(3), Err(hipErrorInvalidValue));
        assert_eq!(who, [hipCpuDeviceId, 0, hipInvalidDeviceId]);
    }
}
