use std::ptr;

use capi::{error::hipError_t, types::*};

use super::*;

type Prefetch = unsafe extern "C" fn(
    *mut *mut c_void,
    *mut usize,
    usize,
    *mut hipMemLocation,
    *mut usize,
    usize,
    u64,
    hipStream_t,
) -> hipError_t;
type Discard = unsafe extern "C" fn(*mut *mut c_void, *mut usize, usize, u64, hipStream_t) -> hipError_t;

unsafe extern "C" {
    fn hipMallocManaged(address: *mut *mut c_void, bytes: usize, flags: u32) -> hipError_t;
    fn hipMemRangeGetAttribute(
        out: *mut c_void,
        room: usize,
        attribute: hipMemRangeAttribute,
        address: *const c_void,
        bytes: usize,
    ) -> hipError_t;
    fn hipMemPrefetchAsync_v2(
        address: *const c_void,
        bytes: usize,
        location: hipMemLocation,
        flags: u32,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemPrefetchBatchAsync(
        starts: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        locations: *mut hipMemLocation,
        places: *mut usize,
        location_count: usize,
        flags: u64,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemDiscardAndPrefetchBatchAsync(
        starts: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        locations: *mut hipMemLocation,
        places: *mut usize,
        location_count: usize,
        flags: u64,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipDrvMemDiscardAndPrefetchBatchAsync(
        starts: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        locations: *mut hipMemLocation,
        places: *mut usize,
        location_count: usize,
        flags: u64,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemDiscardBatchAsync(
        starts: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        flags: u64,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipDrvMemDiscardBatchAsync(
        starts: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        flags: u64,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
}

const PREFETCHES: [Prefetch; 3] =
    [hipMemPrefetchBatchAsync, hipMemDiscardAndPrefetchBatchAsync, hipDrvMemDiscardAndPrefetchBatchAsync];
const DISCARDS: [Discard; 2] = [hipMemDiscardBatchAsync, hipDrvMemDiscardBatchAsync];
const PART: usize = 4096;
const HOST: hipMemLocation = hipMemLocation { r#type: hipMemLocationTypeHost, id: 0 };
const DEVICE: hipMemLocation = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 };

/// Four parts of one managed allocation, each of which can be named alone.
struct Parts {
    address: *mut c_void,
    starts: [*mut c_void; 4],
    sizes: [usize; 4],
}

impl Parts {
    fn new() -> Self {
        let mut address = ptr::null_mut();
        ok!(hipMallocManaged(&mut address, 4 * PART, hipMemAttachGlobal));
        let starts = std::array::from_fn(|n| address.wrapping_byte_add(n * PART));
        Self { address, starts, sizes: [PART; 4] }
    }

    fn prefetch(
        &mut self,
        call: Prefetch,
        locations: &mut [hipMemLocation],
        places: &mut [usize],
    ) -> hipError_t {
        let (starts, sizes) = (self.starts.as_mut_ptr(), self.sizes.as_mut_ptr());
        let (to, at, count) = (locations.as_mut_ptr(), places.as_mut_ptr(), locations.len());
        // SAFETY: all arrays are there; what they hold is for the call to judge.
        unsafe { call(starts, sizes, 4, to, at, count, 0, hipStream_t::NULL) }
    }

    fn discard(&mut self, call: Discard) -> hipError_t {
        // SAFETY: as above.
        unsafe { call(self.starts.as_mut_ptr(), self.sizes.as_mut_ptr(), 4, 0, hipStream_t::NULL) }
    }

    /// Where each part was prefetched to.
    fn prefetched(&self) -> [c_int; 4] {
        std::array::from_fn(|n| {
            let mut found: c_int = 77;
            let start = self.address.wrapping_byte_add(n * PART);
            let attribute = hipMemRangeAttributeLastPrefetchLocation;
            ok!(hipMemRangeGetAttribute((&raw mut found).cast(), 4, attribute, start, PART));
            found
        })
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        ok!(hipFree(self.address));
    }
}

// proves: hipMemPrefetchBatchAsync, hipMemDiscardAndPrefetchBatchAsync, hipDrvMemDiscardAndPrefetchBatchAsync
#[test]
fn a_location_is_for_the_ranges_from_its_place_to_the_next() {
    for call in PREFETCHES {
        let mut parts = Parts::new();
        assert_eq!(parts.prefetched(), [hipInvalidDeviceId; 4]);
        ok!(parts.prefetch(call, &mut [HOST, DEVICE], &mut [0, 3]));
        assert_eq!(parts.prefetched(), [hipCpuDeviceId, hipCpuDeviceId, hipCpuDeviceId, 0]);
        ok!(parts.prefetch(call, &mut [DEVICE], &mut [0]));
        assert_eq!(parts.prefetched(), [0; 4]);
        ok!(parts.prefetch(call, &mut [HOST, DEVICE, HOST, DEVICE], &mut [0, 1, 2, 3]));
        assert_eq!(parts.prefetched(), [hipCpuDeviceId, 0, hipCpuDeviceId, 0]);
    }
}

#[test]
fn a_batch_that_is_refused_has_prefetched_nothing() {
    for call in PREFETCHES {
        let mut parts = Parts::new();
        let refuses = |parts: &mut Parts, locations: &mut [hipMemLocation], places: &mut [usize]| {
            fails!(hipErrorInvalidValue, parts.prefetch(call, locations, places));
            assert_eq!(parts.prefetched(), [hipInvalidDeviceId; 4], "{places:?}");
        };
        for places in [[1, 2], [0, 0], [0, 4], [0, usize::MAX]] {
            refuses(&mut parts, &mut [HOST, DEVICE], &mut { places });
        }
        refuses(&mut parts, &mut [HOST; 5], &mut [0, 1, 2, 3, 4]);
        refuses(&mut parts, &mut [], &mut []);
        for location in [
            hipMemLocation { r#type: hipMemLocationTypeInvalid, id: 0 },
            hipMemLocation { r#type: hipMemLocationTypeDevice, id: 99 },
            hipMemLocation { r#type: hipMemLocationTypeDevice, id: -1 },
        ] {
            refuses(&mut parts, &mut [HOST, location], &mut [0, 1]);
        }
        for size in [0, PART + 1, usize::MAX] {
            parts.sizes[3] = size;
            refuses(&mut parts, &mut [HOST], &mut [0]);
        }
        parts.sizes[3] = PART;
        let device = Memory::of(&[0u8; PART]);
        for start in [ptr::null_mut(), device.pointer(), (&raw mut parts).cast()] {
            parts.starts[3] = start;
            refuses(&mut parts, &mut [HOST], &mut [0]);
        }
        let mut parts = Parts::new();
        let (starts, sizes) = (parts.starts.as_mut_ptr(), parts.sizes.as_mut_ptr());
        let (mut to, mut at) = ([HOST], [0usize]);
        let (to, at, none) = (to.as_mut_ptr(), at.as_mut_ptr(), hipStream_t::NULL);
        fails!(hipErrorInvalidValue, call(starts, sizes, 0, to, at, 1, 0, none));
        fails!(hipErrorInvalidValue, call(ptr::null_mut(), sizes, 4, to, at, 1, 0, none));
        fails!(hipErrorInvalidValue, call(starts, ptr::null_mut(), 4, to, at, 1, 0, none));
        fails!(hipErrorInvalidValue, call(starts, sizes, 4, ptr::null_mut(), at, 1, 0, none));
        fails!(hipErrorInvalidValue, call(starts, sizes, 4, to, ptr::null_mut(), 1, 0, none));
        fails!(hipErrorInvalidValue, call(starts, sizes, 4, to, at, 1, 1, none));
        // SAFETY: the stream is refused before anything else.
        let code = unsafe { call(starts, sizes, 4, to, at, 1, 0, hipStream_t(0x77)) };
        assert_ne!(code, capi::error::hipSuccess);
        assert_eq!(parts.prefetched(), [hipInvalidDeviceId; 4]);
    }
}

// proves: hipMemDiscardBatchAsync, hipDrvMemDiscardBatchAsync
#[test]
fn only_managed_ranges_are_discarded_and_what_is_written_behind_it_stays() {
    for call in DISCARDS {
        let mut parts = Parts::new();
        let outside = parts.starts[3];
        ok!(parts.discard(call));
        ok!(hipMemset(parts.address, 0x5a, 4 * PART));
        // SAFETY: managed memory, which the fill above has written and nobody else uses.
        let bytes = unsafe { std::slice::from_raw_parts(parts.address.cast::<u8>(), 4 * PART) };
        assert!(bytes.iter().all(|&byte| byte == 0x5a));
        assert_eq!(parts.prefetched(), [hipInvalidDeviceId; 4], "nobody has prefetched it");
        for size in [0, PART + 1] {
            parts.sizes[3] = size;
            fails!(hipErrorInvalidValue, parts.discard(call));
        }
        parts.sizes[3] = PART;
        let device = Memory::of(&[0u8; PART]);
        for start in [ptr::null_mut(), device.pointer()] {
            parts.starts[3] = start;
            fails!(hipErrorInvalidValue, parts.discard(call));
        }
        parts.starts[3] = outside;
        let (starts, sizes, none) = (parts.starts.as_mut_ptr(), parts.sizes.as_mut_ptr(), hipStream_t::NULL);
        fails!(hipErrorInvalidValue, call(starts, sizes, 0, 0, none));
        fails!(hipErrorInvalidValue, call(ptr::null_mut(), sizes, 4, 0, none));
        fails!(hipErrorInvalidValue, call(starts, ptr::null_mut(), 4, 0, none));
        fails!(hipErrorInvalidValue, call(starts, sizes, 4, 1, none));
    }
}

#[test]
fn no_node_holds_a_prefetch_or_a_discard() {
    let mut parts = Parts::new();
    let (starts, sizes) = (parts.starts.as_mut_ptr(), parts.sizes.as_mut_ptr());
    let (mut to, mut at) = ([HOST], [0usize]);
    let (to, at) = (to.as_mut_ptr(), at.as_mut_ptr());
    let mut stream = hipStream_t::NULL;
    ok!(hipStreamCreate(&mut stream));
    let breaks = |call: &dyn Fn() -> hipError_t| {
        let mut graph = hipGraph_t::NULL;
        ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
        fails!(hipErrorStreamCaptureUnsupported, call());
        fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut graph));
    };
    for call in PREFETCHES {
        // SAFETY: the arrays are there.
        breaks(&|| unsafe { call(starts, sizes, 4, to, at, 1, 0, stream) });
    }
    for call in DISCARDS {
        // SAFETY: as above.
        breaks(&|| unsafe { call(starts, sizes, 4, 0, stream) });
    }
    // SAFETY: nothing is followed.
    breaks(&|| unsafe { hipMemPrefetchAsync_v2(parts.address, PART, HOST, 0, stream) });
    assert_eq!(parts.prefetched(), [hipInvalidDeviceId; 4]);
    ok!(hipStreamDestroy(stream));
}
