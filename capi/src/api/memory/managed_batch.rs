//! Batches of managed ranges that are discarded, or prefetched to somewhere.
//!
//! AMD's library needs devices that resume faulting accesses (XNACK) for these. Ours has managed memory that moves with
//! and without them. Where the driver moves none a batch has nothing to wait for: a prefetch is remembered for queries, and
//! a discarded range keeps the bytes that it may lose.

use std::ffi::{c_ulonglong, c_void};

use aqlipse::{
    capture,
    memory::{self, Processor},
};

use super::{batch_copy::are_starts, managed::processor_of};
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    object,
    types::*,
};

/// Ranges as callers describe them.
struct Ranges {
    starts: *mut *mut c_void,
    sizes: *mut usize,
    count: usize,
}

/// Where ranges go, as callers describe it: each location is for the ranges from its place to the next one's.
struct Destinations {
    locations: *mut hipMemLocation,
    places: *mut usize,
    count: usize,
}

impl Ranges {
    /// Reads them.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for none, arrays at null, and ranges that are empty or not within one managed
    /// allocation.
    ///
    /// # Safety
    /// The arrays are null or readable for their count.
    unsafe fn read(&self) -> Result<Vec<(u64, u64)>, hipError_t> {
        if self.count == 0 {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's promise.
        let (starts, sizes) = unsafe {
            (caller::read_slice(self.starts, self.count)?, caller::read_slice(self.sizes, self.count)?)
        };
        let ranges: Vec<_> =
            starts.into_iter().zip(sizes).map(|(start, bytes)| (start as u64, bytes as u64)).collect();
        for &(start, bytes) in &ranges {
            memory::advice(start, bytes)?;
        }
        Ok(ranges)
    }
}

impl Destinations {
    /// Reads the processor that each of `ranges` ranges goes to.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for none, arrays at null, places that do not begin with 0, ascend and stay below
    /// `ranges`, and locations that managed memory cannot be in.
    ///
    /// # Safety
    /// The arrays are null or readable for their count.
    unsafe fn read(&self, ranges: usize) -> Result<Vec<Processor>, hipError_t> {
        if self.count == 0 || self.count > ranges {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's promise.
        let (locations, places) = unsafe {
            (caller::read_slice(self.locations, self.count)?, caller::read_slice(self.places, self.count)?)
        };
        if !are_starts(&places, ranges) {
            return Err(hipErrorInvalidValue);
        }
        let ends = places.iter().skip(1).copied().chain([ranges]);
        let mut each = Vec::with_capacity(ranges);
        for (location, end) in locations.into_iter().zip(ends) {
            // No other code is documented.
            each.resize(end, processor_of(location).map_err(|_| hipErrorInvalidValue)?);
        }
        Ok(each)
    }
}

/// Discards ranges, prefetches them, or both; all or none.
///
/// To discard is to allow that contents are lost. What that saves is a copy when pages move: whole pages of memory that
/// moves give their memory up.
///
/// # Safety
/// The arrays are null or readable for their count.
// HIP restricts the stream by nothing. CUDA rules out the legacy one, which would be no gain here.
unsafe fn batch(
    ranges: &Ranges,
    discards: bool,
    destinations: Option<&Destinations>,
    flags: c_ulonglong,
    stream: hipStream_t,
) -> Result<(), hipError_t> {
    let stream = object::stream(stream)?;
    if flags != 0 {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's arrays.
    let read = unsafe { ranges.read() }?;
    // SAFETY: as above.
    let processors = destinations.map(|to| unsafe { to.read(read.len()) }).transpose()?;
    capture::refuse_uncapturable(&stream, "discarding or prefetching memory")?;
    if discards {
        stream.discard(&read)?;
    }
    match processors {
        Some(processors) => Ok(stream.prefetch(&read, &processors)?),
        None => Ok(()),
    }
}

entry! {
    /// Has ranges of managed memory moved to where they will be used.
    fn hipMemPrefetchBatchAsync(
        starts: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        locations: *mut hipMemLocation,
        places: *mut usize,
        location_count: usize,
        flags: c_ulonglong,
        stream: hipStream_t,
    ) -> hipError_t {
        let to = Destinations { locations, places, count: location_count };
        // SAFETY: the caller's arrays.
        unsafe { batch(&Ranges { starts, sizes, count }, false, Some(&to), flags, stream) }
    }
}

entry! {
    /// Has ranges of managed memory moved to where they will be used, without what they hold.
    fn hipMemDiscardAndPrefetchBatchAsync, hipDrvMemDiscardAndPrefetchBatchAsync(
        starts: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        locations: *mut hipMemLocation,
        places: *mut usize,
        location_count: usize,
        flags: c_ulonglong,
        stream: hipStream_t,
    ) -> hipError_t {
        let to = Destinations { locations, places, count: location_count };
        // SAFETY: the caller's arrays.
        unsafe { batch(&Ranges { starts, sizes, count }, true, Some(&to), flags, stream) }
    }
}

entry! {
    /// Lets ranges of managed memory lose what they hold.
    fn hipMemDiscardBatchAsync, hipDrvMemDiscardBatchAsync(
        starts: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        flags: c_ulonglong,
        stream: hipStream_t,
    ) -> hipError_t {
        // SAFETY: the caller's arrays.
        unsafe { batch(&Ranges { starts, sizes, count }, true, None, flags, stream) }
    }
}
