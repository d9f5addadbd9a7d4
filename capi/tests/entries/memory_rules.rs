//! What calls on memory take, refuse and wait for, as programs found that were written for AMD's library.

use std::{
    ffi::{c_uint, c_ulonglong},
    ptr,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipLaunchHostFunc(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) -> hipError_t;
    fn hipStreamQuery(stream: hipStream_t) -> hipError_t;
    fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostFree(address: *mut c_void) -> hipError_t;
    fn hipHostRegister(address: *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostUnregister(address: *mut c_void) -> hipError_t;
    fn hipHostGetDevicePointer(device: *mut *mut c_void, host: *mut c_void, flags: c_uint) -> hipError_t;
    fn hipMallocManaged(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipExtMallocWithFlags(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipMemsetD32(dst: *mut c_void, value: c_int, count: usize) -> hipError_t;
    fn hipMemset2D(dst: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) -> hipError_t;
    fn hipMemset3D(dst: hipPitchedPtr, value: c_int, extent: hipExtent) -> hipError_t;
    fn hipMemset_spt(dst: *mut c_void, value: c_int, bytes: usize) -> hipError_t;
    fn hipMemcpyAsync(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy2D(
        dst: *mut c_void,
        dst_pitch: usize,
        src: *const c_void,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpy3D(params: *const hipMemcpy3DParms) -> hipError_t;
    fn hipMemcpyParam2D(params: *const hip_Memcpy2D) -> hipError_t;
    fn hipDrvMemcpy2DUnaligned(params: *const hip_Memcpy2D) -> hipError_t;
    fn hipDrvMemcpy3D(params: *const HIP_MEMCPY3D) -> hipError_t;
    fn hipMallocAsync(address: *mut *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipFreeAsync(address: *mut c_void, stream: hipStream_t) -> hipError_t;
    fn hipMemRangeGetAttribute(
        out: *mut c_void,
        room: usize,
        attribute: hipMemRangeAttribute,
        address: *const c_void,
        bytes: usize,
    ) -> hipError_t;
    fn hipPointerGetAttribute(
        out: *mut c_void,
        attribute: hipPointer_attribute,
        pointer: *mut c_void,
    ) -> hipError_t;
    fn hipPointerSetAttribute(
        value: *const c_void,
        attribute: hipPointer_attribute,
        pointer: *mut c_void,
    ) -> hipError_t;
    fn hipGraphAddMemcpyNode1D(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphMemcpyNodeGetParams(node: hipGraphNode_t, params: *mut hipMemcpy3DParms) -> hipError_t;
    fn hipGraphMemcpyNodeSetParams1D(
        node: hipGraphNode_t,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphExecMemcpyNodeSetParams1D(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipGraphInstantiateWithFlags(
        exec: *mut hipGraphExec_t,
        graph: hipGraph_t,
        flags: c_ulonglong,
    ) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipMemPoolCreate(handle: *mut hipMemPool_t, props: *const hipMemPoolProps) -> hipError_t;
    fn hipMemPoolDestroy(handle: hipMemPool_t) -> hipError_t;
    fn hipMemAddressReserve(
        address: *mut *mut c_void,
        bytes: usize,
        alignment: usize,
        wish: *mut c_void,
        flags: c_ulonglong,
    ) -> hipError_t;
    fn hipMemAddressFree(address: *mut c_void, bytes: usize) -> hipError_t;
    fn hipMemCreate(
        handle: *mut hipMemGenericAllocationHandle_t,
        bytes: usize,
        properties: *const hipMemAllocationProp,
        flags: c_ulonglong,
    ) -> hipError_t;
    fn hipMemRelease(handle: hipMemGenericAllocationHandle_t) -> hipError_t;
    fn hipMemMap(
        address: *mut c_void,
        bytes: usize,
        offset: usize,
        handle: hipMemGenericAllocationHandle_t,
        flags: c_ulonglong,
    ) -> hipError_t;
    fn hipMemUnmap(address: *mut c_void, bytes: usize) -> hipError_t;
    fn hipMemSetAccess(
        address: *mut c_void,
        bytes: usize,
        wishes: *const hipMemAccessDesc,
        count: usize,
    ) -> hipError_t;
    fn hipGraphAddMemAllocNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *mut hipMemAllocNodeParams,
    ) -> hipError_t;
    fn hipGraphMemAllocNodeGetParams(node: hipGraphNode_t, params: *mut hipMemAllocNodeParams) -> hipError_t;
}

const NULL: hipStream_t = hipStream_t::NULL;
const NO_CU: hipMemcpyKind = hipMemcpyDeviceToDeviceNoCU;

unsafe extern "C" fn wait_until(open: *mut c_void) {
    // SAFETY: a gate of this module, which lives for ever.
    let open = unsafe { &*open.cast::<AtomicBool>() };
    while !open.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

/// Keeps a stream busy until it is opened.
struct Gate(&'static AtomicBool);

impl Gate {
    fn on(stream: hipStream_t) -> Self {
        let open: &'static AtomicBool = forever(AtomicBool::new(false));
        ok!(hipLaunchHostFunc(stream, Some(wait_until), ptr::from_ref(open).cast_mut().cast()));
        Self(open)
    }

    fn open(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Opens it from another thread, after a while in which a call that does not wait would return.
    fn open_later(&self) -> std::thread::JoinHandle<()> {
        let open = self.0;
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            open.store(true, Ordering::Release);
        })
    }

    fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

fn pinned(bytes: usize, flags: c_uint) -> *mut c_void {
    let mut address = ptr::null_mut();
    ok!(hipHostMalloc(&mut address, bytes, flags));
    address
}

// proves: hipMemcpyAsync, hipMemcpy2D, hipMemcpy3D, hipGraphAddMemcpyNode1D
#[test]
fn copies_without_compute_units_are_copies_between_devices() {
    let (source, stream) = (Memory::of(&[7u32; 64]), new_stream());
    let blank = || Memory::of(&[0u32; 64]);
    let arrived = |target: &Memory<u32>| assert_eq!(target.read(), [7; 64]);
    let (src, bytes) = (source.pointer(), 256);

    let to = blank();
    ok!(hipMemcpy(to.pointer(), src, bytes, NO_CU));
    arrived(&to);
    let to = blank();
    ok!(hipMemcpyAsync(to.pointer(), src, bytes, NO_CU, stream), hipStreamSynchronize(stream));
    arrived(&to);
    let to = blank();
    ok!(hipMemcpy2D(to.pointer(), 64, src, 64, 64, 4, NO_CU));
    arrived(&to);
    let to = blank();
    // SAFETY: zeros are a value.
    let mut params: hipMemcpy3DParms = unsafe { std::mem::zeroed() };
    let pitched = |ptr| hipPitchedPtr { ptr, pitch: 64, xsize: 64, ysize: 2 };
    (params.srcPtr, params.dstPtr, params.kind) = (pitched(src), pitched(to.pointer()), NO_CU);
    params.extent = hipExtent { width: 64, height: 2, depth: 2 };
    ok!(hipMemcpy3D(&params), hipStreamSynchronize(NULL));
    arrived(&to);

    let (to, graph, mut node, mut exec) = (blank(), new_graph(), hipGraphNode_t::NULL, hipGraphExec_t::NULL);
    ok!(
        hipGraphAddMemcpyNode1D(&mut node, graph, ptr::null(), 0, to.pointer(), src, bytes, NO_CU),
        hipGraphMemcpyNodeGetParams(node, &mut params),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    arrived(&to);
    assert_eq!(params.kind, hipMemcpyDeviceToDevice);
    let to = blank();
    ok!(
        hipGraphMemcpyNodeSetParams1D(node, to.pointer(), src, bytes, NO_CU),
        hipGraphExecMemcpyNodeSetParams1D(exec, node, to.pointer(), src, bytes, NO_CU),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    arrived(&to);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));

    let (to, mut graph) = (blank(), hipGraph_t::NULL);
    ok!(
        hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal),
        hipMemcpyAsync(to.pointer(), src, bytes, NO_CU, stream),
        hipStreamEndCapture(stream, &mut graph),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    arrived(&to);
    fails!(hipErrorInvalidMemcpyDirection, hipMemcpy(to.pointer(), src, bytes, hipMemcpyKind(1025)));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}

// proves: hipMemset, hipMemsetD32, hipMemset2D, hipMemset3D, hipMemset_spt
#[test]
fn fills_of_device_memory_do_not_wait_for_earlier_work() {
    let memory = Memory::of(&[0u32; 64]);
    let gate = Gate::on(NULL);
    let rows = hipPitchedPtr { ptr: memory.pointer(), pitch: 64, xsize: 64, ysize: 2 };
    ok!(
        hipMemset(memory.pointer(), 1, 256),
        hipMemsetD32(memory.pointer(), 2, 64),
        hipMemset2D(memory.pointer(), 64, 3, 64, 4),
        hipMemset3D(rows, 4, hipExtent { width: 64, height: 2, depth: 2 }),
    );
    assert!(!gate.is_open());
    fails!(hipErrorNotReady, hipStreamQuery(NULL));
    gate.open();
    assert_eq!(memory.read(), [0x0404_0404; 64], "in order");

    let gate = Gate::on(hipStreamPerThread);
    ok!(hipMemset_spt(memory.pointer(), 5, 256));
    gate.open();
    ok!(hipStreamSynchronize(hipStreamPerThread));
    assert_eq!(memory.read(), [0x0505_0505; 64]);
}

// proves: hipMemset, hipMemset2D
#[test]
fn fills_of_device_memory_have_landed_on_return_where_the_null_stream_was_idle() {
    const WORDS: usize = 1 << 18;
    let (memory, blocking) = (Memory::of(&vec![0u32; WORDS]), new_stream());
    for round in 0..20 {
        ok!(hipStreamSynchronize(NULL), hipMemset(memory.pointer(), round, WORDS * 4), hipStreamQuery(NULL));
        ok!(hipMemset2D(memory.pointer(), 4096, round, 4096, WORDS / 1024), hipStreamQuery(NULL));
    }
    // Work of a blocking stream is work that the null stream waits for.
    let gate = Gate::on(blocking);
    ok!(hipMemset(memory.pointer(), 1, 256));
    assert!(!gate.is_open());
    gate.open();
    ok!(hipStreamDestroy(blocking));
}

// proves: hipMemset
#[test]
fn fills_of_host_memory_and_of_marked_memory_wait() {
    let (host, memory, yes) = (pinned(256, 0), Memory::of(&[0u32; 64]), 1u32);
    let mut managed = ptr::null_mut();
    ok!(
        hipMallocManaged(&mut managed, 256, hipMemAttachGlobal),
        hipPointerSetAttribute((&raw const yes).cast(), HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory.pointer()),
    );
    for target in [host, managed, memory.pointer()] {
        let gate = Gate::on(NULL);
        let opener = gate.open_later();
        ok!(hipMemset(target, 1, 256));
        assert!(gate.is_open(), "it has waited");
        opener.join().unwrap();
    }
    // SAFETY: 64 words of ours, which have been filled.
    assert_eq!(unsafe { std::slice::from_raw_parts(host.cast::<u32>(), 64) }, [0x0101_0101; 64]);
    ok!(hipHostFree(host), hipFree(managed));
}

// proves: hipMemcpyAsync
#[test]
fn copies_between_pinned_memory_are_complete_on_return() {
    let (from, to, stream) = (pinned(4096, 0), pinned(4096, 0), new_stream());
    for kind in [hipMemcpyHostToHost, hipMemcpyDefault] {
        let gate = Gate::on(stream);
        let opener = gate.open_later();
        // SAFETY: 4 KiB of ours, which nobody uses.
        unsafe { (from.cast::<u8>().write_bytes(6, 4096), to.cast::<u8>().write_bytes(0, 4096)) };
        ok!(hipMemcpyAsync(to, from, 4096, kind, stream));
        assert!(gate.is_open());
        // SAFETY: as above.
        assert!(unsafe { std::slice::from_raw_parts(to.cast::<u8>(), 4096) }.iter().all(|&byte| byte == 6));
        opener.join().unwrap();
    }
    ok!(hipHostFree(from), hipHostFree(to), hipStreamDestroy(stream));
}

/// A copy of four rows of 16 bytes, with garbage where it is of no concern.
fn rectangle(dst: *mut c_void, src: *mut c_void) -> hip_Memcpy2D {
    let nowhere = ptr::without_provenance_mut::<c_void>(0x5eed);
    hip_Memcpy2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: hipMemoryTypeDevice,
        srcHost: nowhere,
        srcDevice: src,
        srcArray: hipArray_t(0x5eed),
        srcPitch: 32,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: hipMemoryTypeDevice,
        dstHost: nowhere,
        dstDevice: dst,
        dstArray: hipArray_t(0x5eed),
        dstPitch: 32,
        WidthInBytes: 16,
        Height: 4,
    }
}

// proves: hipMemcpyParam2D, hipDrvMemcpy2DUnaligned
#[test]
fn driver_copies_between_devices_do_not_wait_and_stay_inside_their_allocations() {
    let (from, to) = (Memory::of(&[9u32; 32]), Memory::of(&[0u32; 32]));
    let params = rectangle(to.pointer(), from.pointer());
    let gate = Gate::on(NULL);
    ok!(hipMemcpyParam2D(&params));
    assert!(!gate.is_open());
    gate.open();
    let expected: Vec<u32> = (0..32).map(|i| if i % 8 < 4 { 9 } else { 0 }).collect();
    assert_eq!(to.read(), expected);

    let beyond = [
        hip_Memcpy2D { srcY: 1, ..params },
        hip_Memcpy2D { srcY: 4, ..params },
        hip_Memcpy2D { srcY: 400, ..params },
        hip_Memcpy2D { dstY: 1, ..params },
        hip_Memcpy2D { dstY: 400, ..params },
        hip_Memcpy2D { Height: 5, ..params },
        hip_Memcpy2D { dstY: usize::MAX / 32, ..params },
    ];
    for params in beyond {
        fails!(hipErrorInvalidValue, hipDrvMemcpy2DUnaligned(&params));
        fails!(hipErrorInvalidValue, hipMemcpyParam2D(&params));
    }
    ok!(hipDrvMemcpy2DUnaligned(&params));
    // SAFETY: zeros are a value.
    let mut params: HIP_MEMCPY3D = unsafe { std::mem::zeroed() };
    (params.srcMemoryType, params.srcDevice, params.srcArray) =
        (hipMemoryTypeDevice, from.pointer(), hipArray_t(7));
    (params.dstMemoryType, params.dstDevice, params.dstArray) =
        (hipMemoryTypeDevice, to.pointer(), hipArray_t(7));
    (params.srcHost, params.dstHost) = (ptr::dangling(), ptr::dangling_mut());
    (params.srcLOD, params.dstLOD, params.srcHeight, params.dstHeight) = (99, 99, 12345, 54321);
    (params.srcPitch, params.dstPitch) = (32, 32);
    (params.WidthInBytes, params.Height, params.Depth) = (16, 4, 1);
    ok!(hipDrvMemcpy3D(&params));
    params.srcY = 300;
    fails!(hipErrorInvalidValue, hipDrvMemcpy3D(&params));
}

// proves: hipFreeAsync
#[test]
fn ordinary_device_memory_is_freed_when_a_stream_gets_there() {
    let (stream, mut address) = (new_stream(), ptr::null_mut());
    let to = Memory::of(&[0u32; 64]);
    ok!(hipMalloc(&mut address, 256), hipMemset(address, 3, 256));
    let gate = Gate::on(stream);
    ok!(
        hipMemcpyAsync(to.pointer(), address, 256, hipMemcpyDeviceToDevice, stream),
        hipFreeAsync(address, stream),
    );
    fails!(hipErrorInvalidValue, hipFreeAsync(address, stream));
    fails!(hipErrorInvalidValue, hipFree(address));
    gate.open();
    ok!(hipStreamSynchronize(stream));
    assert_eq!(to.read(), [0x0303_0303; 64], "it is there until the stream gets there");
    let host = pinned(64, 0);
    fails!(hipErrorInvalidValue, hipFreeAsync(host, stream));
    fails!(hipErrorInvalidValue, hipFreeAsync(to.pointer().wrapping_byte_add(64), stream));
    ok!(hipHostFree(host), hipStreamDestroy(stream));
}

/// Maps fresh pages, at `address` in place of what is there, or anywhere for null.
fn pages(address: *mut c_void, bytes: usize, protection: c_int) -> *mut c_void {
    let fixed = if address.is_null() { 0 } else { libc::MAP_FIXED };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed;
    // SAFETY: what is replaced are pages of this test that nobody uses.
    let mapped = unsafe { libc::mmap(address, bytes, protection, flags, -1, 0) };
    assert_ne!(mapped, libc::MAP_FAILED);
    mapped
}

// proves: hipHostRegister, hipHostUnregister
#[test]
fn memory_is_registered_again_where_its_pages_went_and_came_back() {
    const BYTES: usize = 16384;
    const USABLE: c_int = libc::PROT_READ | libc::PROT_WRITE;
    // Nobody else's pages come in between.
    let address = pages(ptr::null_mut(), 4 * BYTES, libc::PROT_NONE);
    for bytes in [BYTES, BYTES, BYTES / 4, 2 * BYTES] {
        pages(address, bytes, USABLE);
        let mut device = ptr::null_mut();
        ok!(hipHostRegister(address, bytes, 0), hipHostGetDevicePointer(&mut device, address, 0));
        ok!(hipMemset(device, 5, bytes));
        // SAFETY: pages of this test, which have been filled.
        assert!(unsafe { std::slice::from_raw_parts(address.cast::<u8>(), bytes) }.iter().all(|&b| b == 5));
        pages(address, bytes, libc::PROT_NONE);
    }
    // Each registration has an end of its own.
    for _ in 0..4 {
        ok!(hipHostUnregister(address));
    }
    fails!(hipErrorHostMemoryNotRegistered, hipHostUnregister(address));

    // What devices reach already is registered all the same.
    let (host, memory) = (pinned(4096, 0), Memory::of(&[0u8; 4096]));
    for address in [host, memory.pointer()] {
        ok!(hipHostRegister(address, 4096, 0), hipHostUnregister(address));
        fails!(hipErrorHostMemoryNotRegistered, hipHostUnregister(address));
    }
    ok!(hipHostFree(host));

    let alone = pages(ptr::null_mut(), 4096, USABLE);
    fails!(hipErrorInvalidValue, hipHostRegister(alone, 1 << 40, 0));
    fails!(hipErrorInvalidValue, hipHostUnregister(ptr::null_mut()));
}

// proves: hipMemRangeGetAttribute, hipExtMallocWithFlags
#[test]
fn all_memory_says_how_coherent_it_is() {
    let (mut fine, mut uncached) = (ptr::null_mut(), ptr::null_mut());
    let coarse = Memory::of(&[0u32; 64]);
    let mut own = vec![0u8; 256];
    let registered = own.as_mut_ptr().cast::<c_void>();
    let (coherent, lax) = (pinned(256, hipHostMallocCoherent), pinned(256, hipHostMallocNonCoherent));
    // SAFETY: outputs of this test's.
    let made = unsafe {
        [
            hipExtMallocWithFlags(&mut fine, 256, hipDeviceMallocFinegrained),
            hipExtMallocWithFlags(&mut uncached, 256, hipDeviceMallocUncached),
        ]
    };
    // A driver before ROCm 6 has no such pools.
    let special: &[_] = if made == [capi::error::hipSuccess; 2] { &[fine, uncached] } else { &[] };
    let is_emulated = aqlipse::Device::get(0).unwrap().backend() == aqlipse::Backend::Emulated;
    assert!(!is_emulated || special.len() == 2, "{made:?}");
    ok!(hipHostRegister(registered, 256, 0));
    let plain = pinned(256, 0);
    let ask = |address, attribute| {
        let mut mode = hipMemRangeCoherencyMode(77);
        // SAFETY: four bytes to write.
        let code = unsafe { hipMemRangeGetAttribute((&raw mut mode).cast(), 4, attribute, address, 256) };
        (code, mode)
    };
    let mode = |address: *mut c_void| ask(address, hipMemRangeAttributeCoherencyMode);
    let ok = capi::error::hipSuccess;
    for address in [coarse.pointer(), lax] {
        assert_eq!(mode(address), (ok, hipMemRangeCoherencyModeCoarseGrain));
    }
    for &address in special.iter().chain(&[coherent, plain, registered]) {
        assert_eq!(mode(address), (ok, hipMemRangeCoherencyModeFineGrain));
    }
    let invalid = capi::error::hipErrorInvalidValue;
    assert_eq!(ask(plain, hipMemRangeAttributeReadMostly).0, invalid, "only managed memory has advice");
    assert_eq!(mode(plain.wrapping_byte_add(8)).0, invalid, "a range that leaves its allocation");
    let mut stack = 0u64;
    assert_eq!(mode((&raw mut stack).cast()).0, invalid);

    for &memory in special {
        ok!(hipMemset(memory, 8, 256));
        let mut back = [0u8; 256];
        ok!(hipMemcpy(back.as_mut_ptr().cast(), memory, 256, hipMemcpyDeviceToHost), hipFree(memory));
        assert_eq!(back, [8; 256]);
    }
    ok!(hipHostUnregister(registered), hipHostFree(coherent), hipHostFree(lax), hipHostFree(plain));
}

// proves: hipPointerGetAttribute, hipPointerSetAttribute
#[test]
fn allocations_have_numbers_and_a_size_of_four_bytes() {
    let (first, second, stream) = (Memory::of(&[0u8; 100]), Memory::of(&[0u8; 100]), new_stream());
    let id = |pointer| {
        let mut id = 0u64;
        ok!(hipPointerGetAttribute((&raw mut id).cast(), HIP_POINTER_ATTRIBUTE_BUFFER_ID, pointer));
        id
    };
    assert_ne!(id(first.pointer()), 0);
    assert_eq!(id(first.pointer()), id(first.pointer().wrapping_byte_add(7)));
    assert_ne!(id(first.pointer()), id(second.pointer()));
    let ids = [(); 2].map(|()| {
        let mut address = ptr::null_mut();
        ok!(hipMallocAsync(&mut address, 64, stream));
        let id = id(address);
        ok!(hipFreeAsync(address, stream));
        id
    });
    assert_ne!(ids[0], ids[1], "another allocation, if at the same address");
    let mut size = [0u32, 77];
    ok!(hipPointerGetAttribute(size.as_mut_ptr().cast(), HIP_POINTER_ATTRIBUTE_RANGE_SIZE, first.pointer()));
    assert_eq!(size, [100, 77]);
    for attribute in
        [HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE]
    {
        fails!(
            hipErrorNotSupported,
            hipPointerGetAttribute(size.as_mut_ptr().cast(), attribute, first.pointer())
        );
    }
    let yes = 1u32;
    let freed = Memory::of(&[0u8; 100]).pointer();
    for nothing in [freed, (&raw mut size).cast()] {
        fails!(
            hipErrorInvalidDevicePointer,
            hipPointerSetAttribute((&raw const yes).cast(), HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, nothing)
        );
    }
    ok!(hipStreamDestroy(stream));
}

// proves: hipMemPoolCreate, hipMemCreate, hipMemSetAccess, hipMemMap, hipMemAddressReserve
#[test]
fn pools_and_mappings_look_at_no_field_that_is_not_theirs() {
    // SAFETY: zeros are a value.
    let mut props: hipMemPoolProps = unsafe { std::mem::zeroed() };
    props.allocType = hipMemAllocationTypePinned;
    props.location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 };
    (props.win32SecurityAttributes, props.reserved) = (ptr::dangling_mut(), [0xa5; 56]);
    let mut pool = hipMemPool_t::NULL;
    ok!(hipMemPoolCreate(&mut pool, &props), hipMemPoolDestroy(pool));

    const SIZE: usize = 2 << 20;
    let (mut base, mut again) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: an address to write.
    let code = unsafe { hipMemAddressReserve(&mut base, 4 * SIZE, 0, ptr::null_mut(), 0) };
    if code == capi::error::hipErrorNotSupported {
        return;
    }
    assert_eq!(code, capi::error::hipSuccess);
    // An address that is free is given to who asks for it, and one that is not is not.
    ok!(hipMemAddressReserve(&mut again, SIZE, 0, base, 0));
    assert_ne!(again, base);
    ok!(hipMemAddressFree(again, SIZE), hipMemAddressFree(base, 4 * SIZE));
    ok!(hipMemAddressReserve(&mut again, 4 * SIZE, 0, base, 0));
    assert_eq!(again, base);

    let properties = hipMemAllocationProp {
        r#type: hipMemAllocationTypePinned,
        requestedHandleType: hipMemHandleTypeNone,
        location: hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 },
        win32HandleMetaData: ptr::dangling_mut(),
        allocFlags: hipMemAllocationFlags { compressionType: 9, gpuDirectRDMACapable: 9, usage: 9 },
    };
    let mut handle = hipMemGenericAllocationHandle_t(0);
    // Its first part at two addresses, of which each has the whole part.
    let (other, flags) = (base.wrapping_byte_add(2 * SIZE), hipMemAccessFlagsProtReadWrite);
    let right = hipMemAccessDesc { location: properties.location, flags };
    ok!(
        hipMemCreate(&mut handle, 4 * SIZE, &properties, 0),
        hipMemMap(base, SIZE, 0, handle, 0),
        hipMemMap(other, 2 * SIZE, 0, handle, 0),
        hipMemSetAccess(base, SIZE, &right, 1),
        hipMemSetAccess(other, 2 * SIZE, &right, 1),
        hipMemset(base, 4, SIZE),
    );
    let mut words = [0u32; 2];
    ok!(
        hipMemcpy(words.as_mut_ptr().cast(), other, 4, hipMemcpyDeviceToHost),
        hipMemset(other.wrapping_byte_add(SIZE), 6, SIZE),
        hipMemcpy((&raw mut words[1]).cast(), other.wrapping_byte_add(SIZE), 4, hipMemcpyDeviceToHost),
    );
    assert_eq!(words, [0x0404_0404, 0x0606_0606]);
    fails!(hipErrorInvalidValue, hipMemset(base, 0, SIZE + 1));
    ok!(
        hipMemUnmap(base, SIZE),
        hipMemUnmap(other, 2 * SIZE),
        hipMemRelease(handle),
        hipMemAddressFree(base, 4 * SIZE),
    );
}

// proves: hipGraphMemAllocNodeGetParams
#[test]
fn an_allocation_node_gives_back_the_callers_structure() {
    let access = hipMemAccessDesc {
        location: hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 },
        flags: hipMemAccessFlagsProtReadWrite,
    };
    // SAFETY: zeros are a value.
    let mut params: hipMemAllocNodeParams = unsafe { std::mem::zeroed() };
    params.poolProps.allocType = hipMemAllocationTypePinned;
    params.poolProps.location = access.location;
    (params.poolProps.win32SecurityAttributes, params.poolProps.reserved) = (ptr::dangling_mut(), [0x5a; 56]);
    (params.accessDescs, params.accessDescCount, params.bytesize) = (&raw const access, 1, 1000);
    let (graph, mut node) = (new_graph(), hipGraphNode_t::NULL);
    ok!(hipGraphAddMemAllocNode(&mut node, graph, ptr::null(), 0, &mut params));
    let mut found = [0u8; size_of::<hipMemAllocNodeParams>()];
    ok!(hipGraphMemAllocNodeGetParams(node, found.as_mut_ptr().cast()));
    // SAFETY: the structure has no padding.
    let given = unsafe {
        std::slice::from_raw_parts((&raw const params).cast::<u8>(), size_of::<hipMemAllocNodeParams>())
    };
    assert_eq!(found, given);
    ok!(hipGraphDestroy(graph));
}
