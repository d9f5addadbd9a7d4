//! Memory of all kinds, and what names it to other processes.

use std::{
    ffi::{c_uint, c_ulonglong},
    ptr,
};

use super::*;
use crate::{
    pool_share::{FD, create},
    virtual_memory::{
        hipMemAddressFree, hipMemAddressReserve, hipMemCreate, hipMemMap, hipMemRelease, hipMemSetAccess,
        hipMemUnmap,
    },
};

unsafe extern "C" {
    fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostFree(address: *mut c_void) -> hipError_t;
    fn hipHostRegister(address: *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostUnregister(address: *mut c_void) -> hipError_t;
    fn hipMallocManaged(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipMallocPitch(address: *mut *mut c_void, pitch: *mut usize, width: usize, rows: usize) -> hipError_t;
    fn hipMallocArray(
        array: *mut hipArray_t,
        desc: *const hipChannelFormatDesc,
        width: usize,
        height: usize,
        flags: c_uint,
    ) -> hipError_t;
    fn hipFreeArray(array: hipArray_t) -> hipError_t;
    fn hipMemcpyAsync(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
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
    ) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipMallocAsync(address: *mut *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipFreeAsync(address: *mut c_void, stream: hipStream_t) -> hipError_t;
    fn hipMallocFromPoolAsync(
        address: *mut *mut c_void,
        bytes: usize,
        pool: hipMemPool_t,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemPoolCreate(pool: *mut hipMemPool_t, properties: *const hipMemPoolProps) -> hipError_t;
    fn hipExtMallocWithFlags(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipStreamWaitValue32(
        stream: hipStream_t,
        address: *mut c_void,
        value: u32,
        flags: c_uint,
        mask: u32,
    ) -> hipError_t;
    fn hipMemPoolDestroy(pool: hipMemPool_t) -> hipError_t;
    fn hipDeviceGetAttribute(value: *mut c_int, attribute: hipDeviceAttribute_t, device: c_int)
    -> hipError_t;
    fn hipIpcGetMemHandle(handle: *mut hipIpcMemHandle_t, address: *mut c_void) -> hipError_t;
    fn hipIpcGetEventHandle(handle: *mut hipIpcEventHandle_t, event: hipEvent_t) -> hipError_t;
    fn hipEventCreateWithFlags(event: *mut hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    fn hipEventSynchronize(event: hipEvent_t) -> hipError_t;
}

pub fn stream() -> hipStream_t {
    let mut stream = hipStream_t::NULL;
    tried!(hipStreamCreate(&mut stream));
    stream
}

/// Device memory of words.
pub struct Words {
    pub address: *mut c_void,
    count: usize,
}

impl Words {
    /// So many words of this value.
    pub fn new(count: usize, value: u32) -> Self {
        let (mut address, values) = (ptr::null_mut(), vec![value; count]);
        tried!(hipMalloc(&mut address, count * 4));
        tried!(hipMemcpy(address, values.as_ptr().cast(), count * 4, hipMemcpyHostToDevice));
        Self { address, count }
    }

    pub fn read(&self) -> Vec<u32> {
        let mut values = vec![0; self.count];
        tried!(hipMemcpy(values.as_mut_ptr().cast(), self.address, self.count * 4, hipMemcpyDeviceToHost));
        values
    }

    #[track_caller]
    pub fn all(&self, value: u32) {
        assert_eq!(self.read(), vec![value; self.count]);
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if !thread::panicking() {
            tried!(hipFree(self.address));
        }
    }
}

pub fn all_kinds() {
    let null = ptr::null_mut;
    let (mut device, mut host, mut managed, mut pitched, mut pitch) = (null(), null(), null(), null(), 0);
    let mut array = hipArray_t::NULL;
    let format = hipChannelFormatDesc { x: 32, y: 0, z: 0, w: 0, f: hipChannelFormatKindUnsigned };
    let mut own = vec![0u8; 8192];
    tried!(
        hipMalloc(&mut device, 5000),
        hipHostMalloc(&mut host, 5000, 0),
        hipMallocManaged(&mut managed, 5000, 1),
        hipMallocPitch(&mut pitched, &mut pitch, 100, 10),
        hipMallocArray(&mut array, &format, 16, 16, 0),
        hipHostRegister(own.as_mut_ptr().cast(), own.len(), 0),
        hipMemset(device, 7, 5000),
        hipMemcpy(host, device, 5000, hipMemcpyDeviceToHost),
        hipMemcpy(managed, host, 5000, hipMemcpyDefault),
        hipMemcpy(own.as_mut_ptr().cast(), managed, 5000, hipMemcpyDefault),
        hipHostUnregister(own.as_mut_ptr().cast()),
    );
    assert_eq!(own[..5000], [7; 5000]);
    tried!(hipFree(device), hipHostFree(host), hipFree(managed), hipFree(pitched), hipFreeArray(array),);
}

pub fn pageable_copies() {
    // Some go through staging memory, larger ones have pages pinned.
    for count in [100, 1 << 18] {
        let (from, mut to) = (vec![0x0505_0505u32; count], vec![0u32; count]);
        let (memory, stream) = (Words::new(count, 0), stream());
        tried!(
            hipMemcpyAsync(memory.address, from.as_ptr().cast(), count * 4, hipMemcpyHostToDevice, stream),
            hipMemcpyAsync(to.as_mut_ptr().cast(), memory.address, count * 4, hipMemcpyDeviceToHost, stream),
            hipStreamSynchronize(stream),
        );
        assert!(to == from);
        tried!(hipStreamDestroy(stream));
    }
}

/// Copies of all directions in one call, some through staging memory, some of pages that are pinned.
pub fn batches() {
    const COUNTS: [usize; 4] = [100, 1 << 18, 3000, 1 << 18];
    let from = COUNTS.map(|count| vec![0x0505_0505u32; count]);
    let mut to = COUNTS.map(|count| vec![0u32; count]);
    let there = COUNTS.map(|count| Words::new(count, 0));
    let mut sizes = COUNTS.map(|count| count * 4);
    let (mut on_device, stream) = (there.each_ref().map(|memory| memory.address), stream());
    let mut batch = |dsts: &mut [*mut c_void; 4], srcs: &mut [*mut c_void; 4]| {
        let (no_attributes, no_places) = (ptr::null_mut(), ptr::null_mut());
        let (dsts, srcs, sizes) = (dsts.as_mut_ptr(), srcs.as_mut_ptr(), sizes.as_mut_ptr());
        let mut failed = 0;
        tried!(hipMemcpyBatchAsync(dsts, srcs, sizes, 4, no_attributes, no_places, 0, &mut failed, stream));
    };
    batch(&mut on_device, &mut from.each_ref().map(|words| words.as_ptr().cast_mut().cast()));
    batch(&mut to.each_mut().map(|words| words.as_mut_ptr().cast()), &mut on_device);
    tried!(hipStreamSynchronize(stream), hipStreamDestroy(stream));
    assert!(to == from);
}

/// A copy that fails for want of memory has left both ends as they were, and does not touch them later.
pub fn refused_copies() {
    // More bytes than go through staging memory, for which a copy can wait.
    const COUNT: usize = 1 << 20;
    let (memory, stream) = (Words::new(COUNT, 0), stream());
    let mut gate = ptr::null_mut();
    tried!(hipExtMallocWithFlags(&mut gate, 8, hipMallocSignalMemory));
    let address = gate.expose_provenance();
    let set_gate = move |value: u64| {
        // SAFETY: eight bytes that are the host's as well.
        unsafe { ptr::with_exposed_provenance_mut::<u64>(address).write_volatile(value) };
    };
    let mut more = 32;
    for kind in [hipMemcpyHostToDevice, hipMemcpyDeviceToHost] {
        let mut failed = 0;
        for n in 1.. {
            let mut host = vec![2u32; COUNT];
            let address: *mut c_void = host.as_mut_ptr().cast();
            set_gate(0);
            tried!(
                hipMemset(memory.address, 1, COUNT * 4),
                hipStreamWaitValue32(stream, gate, 1, hipStreamWaitValueGte, u32::MAX),
            );
            // More than ever before: no signal that waits to be used again must be there for the copy.
            let mut events = vec![hipEvent_t::NULL; more];
            more += 32;
            for event in &mut events {
                tried!(
                    hipEventCreateWithFlags(event, hipEventDisableTiming),
                    hipMemsetAsync(memory.address, 1, COUNT * 4, stream),
                    hipEventRecord(*event, stream),
                );
            }
            let opener = thread::spawn(move || {
                thread::sleep(Duration::from_millis(20));
                set_gate(1);
            });
            let (to, from) = match kind {
                hipMemcpyHostToDevice => (memory.address, address),
                _ => (address, memory.address),
            };
            fault_injection::refuse(Refusals::One(n));
            // SAFETY: both ends have so many bytes until the stream is over.
            let code = unsafe { hipMemcpyAsync(to, from, COUNT * 4, kind, stream) };
            let was_refused = fault_injection::refused() > 0;
            fault_injection::refuse(Refusals::None);
            opener.join().expect("it only sleeps");
            tried!(hipStreamSynchronize(stream));
            let device = memory.read();
            let (here, there) = (host[0], device[0]);
            assert!(host.iter().all(|&word| word == here) && device.iter().all(|&word| word == there));
            match code {
                hipSuccess => assert_eq!(here, there, "{n}"),
                hipErrorOutOfMemory => {
                    assert_eq!((here, there), (2, 0x0101_0101), "{n}");
                    failed += 1;
                }
                _ => panic!("{n}: {}", code.name().to_string_lossy()),
            }
            for event in events {
                tried!(hipEventDestroy(event));
            }
            if !was_refused {
                break;
            }
        }
        assert!(failed > 0, "nothing that was refused made the copy fail");
    }
    tried!(hipFree(gate), hipStreamDestroy(stream));
}

pub fn in_stream_order() {
    let stream = stream();
    let (mut small, mut large) = (ptr::null_mut(), ptr::null_mut());
    let mut values = [0u8; 1000];
    tried!(
        hipMallocAsync(&mut small, 1000, stream),
        hipMallocAsync(&mut large, 8 << 20, stream),
        hipMemsetAsync(large, 3, 8 << 20, stream),
        hipMemcpyAsync(small, large, 1000, hipMemcpyDeviceToDevice, stream),
        hipFreeAsync(large, stream),
        hipMemcpyAsync(values.as_mut_ptr().cast(), small, 1000, hipMemcpyDeviceToHost, stream),
        hipFreeAsync(small, stream),
        hipStreamSynchronize(stream),
    );
    assert_eq!(values, [3; 1000]);
    tried!(hipStreamDestroy(stream));
}

pub fn pools() {
    let location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 };
    // SAFETY: integers and an address, of which zero says "nothing".
    let mut properties: hipMemPoolProps = unsafe { std::mem::zeroed() };
    (properties.allocType, properties.location) = (hipMemAllocationTypePinned, location);
    let (mut pool, mut memory, stream) = (hipMemPool_t::NULL, ptr::null_mut(), stream());
    tried!(
        hipMemPoolCreate(&mut pool, &properties),
        hipMallocFromPoolAsync(&mut memory, 100, pool, stream),
        hipMemsetAsync(memory, 3, 100, stream),
        hipFreeAsync(memory, stream),
        hipStreamSynchronize(stream),
        hipMemPoolDestroy(pool),
        hipStreamDestroy(stream),
    );
}

pub fn virtual_memory() {
    const BYTES: usize = 2 << 20;
    // SAFETY: integers and an address, of which zero says "nothing".
    let mut properties: hipMemAllocationProp = unsafe { std::mem::zeroed() };
    let location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 };
    (properties.r#type, properties.location) = (hipMemAllocationTypePinned, location);
    let access = hipMemAccessDesc { location, flags: hipMemAccessFlagsProtReadWrite };
    let (mut address, mut memory) = (ptr::null_mut(), hipMemGenericAllocationHandle_t::NULL);
    let mut value = 0u32;
    // SAFETY: the address has room for the answer.
    let reserve = || unsafe { hipMemAddressReserve(&mut address, BYTES, 0, ptr::null_mut(), 0) };
    if !is_there("hipMemAddressReserve", reserve) {
        return;
    }
    tried!(
        hipMemCreate(&mut memory, BYTES, &properties, 0 as c_ulonglong),
        hipMemMap(address, BYTES, 0, memory, 0),
        hipMemSetAccess(address, BYTES, &access, 1),
        hipMemset(address, 7, BYTES),
        hipMemcpy((&raw mut value).cast(), address, 4, hipMemcpyDeviceToHost),
        hipMemUnmap(address, BYTES),
        hipMemRelease(memory),
        hipMemAddressFree(address, BYTES),
    );
    assert_eq!(value, 0x0707_0707);
}

pub fn handles() {
    let memory = Words::new(1000, 3);
    let mut event = hipEvent_t::NULL;
    // SAFETY: bytes.
    let (mut of_memory, mut of_event) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    let stream = stream();
    // SAFETY: the handle has room for the answer. Whether memory can be shared is the driver's affair.
    is_there("hipIpcGetMemHandle", || unsafe { hipIpcGetMemHandle(&mut of_memory, memory.address) });
    tried!(
        hipEventCreateWithFlags(&mut event, 2 | 4),
        hipIpcGetEventHandle(&mut of_event, event),
        hipEventRecord(event, stream),
        hipEventSynchronize(event),
        hipStreamSynchronize(stream),
        hipEventDestroy(event),
        hipStreamDestroy(stream),
    );
    memory.all(3);
}

/// Whether pools can be shared is not known while the device cannot be asked: a program is told that they cannot, and who
/// makes one all the same that there is no memory. The first answer stays.
pub fn a_question_that_fails() {
    let kinds = || {
        let mut kinds = -1;
        ok!(hipDeviceGetAttribute(&mut kinds, hipDeviceAttributeMemoryPoolSupportedHandleTypes, 0));
        kinds
    };
    // Makes the device, and asks nothing.
    drop(Words::new(1, 0));
    let mut points = 0;
    let known = loop {
        fault_injection::refuse(Refusals::One(points + 1));
        let answer = kinds();
        if fault_injection::refused() == 0 {
            break answer;
        }
        assert_eq!(answer, 0, "point {}", points + 1);
        fault_injection::refuse(Refusals::One(points + 1));
        assert_eq!(create(FD), Err(hipErrorOutOfMemory), "point {}", points + 1);
        points += 1;
    };
    assert!(points > 0, "asking needs nothing that can be refused");
    fault_injection::refuse(Refusals::From(1));
    assert_eq!((kinds(), fault_injection::points()), (known, 0));
    fault_injection::refuse(Refusals::None);
    match known {
        0 => assert_eq!(create(FD), Err(hipErrorNotSupported)),
        known => {
            assert_eq!(known, FD.0 as c_int);
            ok!(hipMemPoolDestroy(create(FD).expect("a pool that can be shared")));
        }
    }
}
