use std::{
    ffi::{c_uint, c_ulonglong},
    os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd},
    ptr,
    time::Duration,
};

use aqlipse::external::{ExternalSemaphore, SemaphoreKind};
use capi::{error::hipError_t, types::*};

use super::*;
use crate::process::{LONG, again, ends, footprint, role};

unsafe extern "C" {
    pub fn hipImportExternalSemaphore(
        semaphore: *mut hipExternalSemaphore_t,
        description: *const hipExternalSemaphoreHandleDesc,
    ) -> hipError_t;
    pub fn hipDestroyExternalSemaphore(semaphore: hipExternalSemaphore_t) -> hipError_t;
    pub fn hipSignalExternalSemaphoresAsync(
        semaphores: *const hipExternalSemaphore_t,
        params: *const hipExternalSemaphoreSignalParams,
        count: c_uint,
        stream: hipStream_t,
    ) -> hipError_t;
    pub fn hipWaitExternalSemaphoresAsync(
        semaphores: *const hipExternalSemaphore_t,
        params: *const hipExternalSemaphoreWaitParams,
        count: c_uint,
        stream: hipStream_t,
    ) -> hipError_t;
    pub fn hipImportExternalMemory(
        memory: *mut hipExternalMemory_t,
        description: *const hipExternalMemoryHandleDesc,
    ) -> hipError_t;
    pub fn hipExternalMemoryGetMappedBuffer(
        address: *mut *mut c_void,
        memory: hipExternalMemory_t,
        description: *const hipExternalMemoryBufferDesc,
    ) -> hipError_t;
    fn hipExternalMemoryGetMappedMipmappedArray(
        array: *mut hipMipmappedArray_t,
        memory: hipExternalMemory_t,
        description: *const hipExternalMemoryMipmappedArrayDesc,
    ) -> hipError_t;
    fn hipFreeMipmappedArray(array: hipMipmappedArray_t) -> hipError_t;
    fn hipGetMipmappedArrayLevel(
        level: *mut hipArray_t,
        array: hipMipmappedArray_t,
        number: c_uint,
    ) -> hipError_t;
    fn hipMemcpyHtoA(to: hipArray_t, offset: usize, from: *const c_void, bytes: usize) -> hipError_t;
    fn hipMemcpyAtoH(to: *mut c_void, from: hipArray_t, offset: usize, bytes: usize) -> hipError_t;
    pub fn hipDestroyExternalMemory(memory: hipExternalMemory_t) -> hipError_t;
    pub fn hipMemCreate(
        handle: *mut hipMemGenericAllocationHandle_t,
        bytes: usize,
        properties: *const hipMemAllocationProp,
        flags: c_ulonglong,
    ) -> hipError_t;
    pub fn hipMemRelease(handle: hipMemGenericAllocationHandle_t) -> hipError_t;
    pub fn hipMemExportToShareableHandle(
        out: *mut c_void,
        handle: hipMemGenericAllocationHandle_t,
        kind: hipMemAllocationHandleType,
        flags: c_ulonglong,
    ) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipStreamQuery(stream: hipStream_t) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn dup(descriptor: c_int) -> c_int;
    fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
}

pub fn zeroed<T: Copy>() -> T {
    // SAFETY: only for structures of numbers and pointers.
    unsafe { std::mem::zeroed() }
}

pub fn description(kind: SemaphoreKind, descriptor: c_int) -> hipExternalSemaphoreHandleDesc {
    let mut description: hipExternalSemaphoreHandleDesc = zeroed();
    description.r#type = match kind {
        SemaphoreKind::Binary => hipExternalSemaphoreHandleTypeOpaqueFd,
        SemaphoreKind::Timeline => hipExternalSemaphoreHandleTypeTimelineSemaphoreFd,
    };
    description.handle.fd = descriptor;
    description
}

fn imported(kind: SemaphoreKind, descriptor: OwnedFd) -> hipExternalSemaphore_t {
    let mut semaphore = hipExternalSemaphore_t::NULL;
    ok!(hipImportExternalSemaphore(&mut semaphore, &description(kind, descriptor.into_raw_fd())));
    semaphore
}

fn signal(semaphore: hipExternalSemaphore_t, value: u64, stream: hipStream_t) {
    let mut params: hipExternalSemaphoreSignalParams = zeroed();
    params.params.fence = value;
    ok!(hipSignalExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

fn wait(semaphore: hipExternalSemaphore_t, value: u64, stream: hipStream_t) {
    let mut params: hipExternalSemaphoreWaitParams = zeroed();
    params.params.fence = value;
    ok!(hipWaitExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

// proves: hipImportExternalSemaphore, hipSignalExternalSemaphoresAsync, hipWaitExternalSemaphoresAsync
// proves: hipDestroyExternalSemaphore
#[test]
fn a_stream_waits_until_its_semaphores_are_signalled_and_signals_behind_its_work() {
    let (fd, timeline) = ExternalSemaphore::create(SemaphoreKind::Timeline, 0).unwrap();
    let (fd2, binary) = ExternalSemaphore::create(SemaphoreKind::Binary, 0).unwrap();
    let handles = [imported(SemaphoreKind::Timeline, fd), imported(SemaphoreKind::Binary, fd2)];
    let (first, second) = (new_stream(), new_stream());
    let memory = Memory::of(&[0u32; 1024]);
    let mut params: [hipExternalSemaphoreWaitParams; 2] = zeroed();
    params[0].params.fence = 3;
    ok!(
        hipWaitExternalSemaphoresAsync(handles.as_ptr(), params.as_ptr(), 2, first),
        hipMemsetAsync(memory.pointer(), 1, 4096, first),
    );
    signal(handles[0], 10, first);
    timeline.signal(2);
    binary.signal(0);
    std::thread::sleep(Duration::from_millis(50));
    fails!(hipErrorNotReady, hipStreamQuery(first));
    assert_eq!(timeline.value(), 2);
    // Another stream of the same process.
    signal(handles[0], 3, second);
    assert!(timeline.wait(10, Some(LONG)));
    ok!(hipStreamSynchronize(first), hipStreamSynchronize(second));
    assert_eq!(memory.read(), [0x0101_0101; 1024]);
    assert_eq!(binary.value(), 0, "the wait took the signal");
    for handle in handles {
        ok!(hipDestroyExternalSemaphore(handle));
        fails!(hipErrorInvalidValue, hipDestroyExternalSemaphore(handle));
    }
    ok!(hipStreamDestroy(first), hipStreamDestroy(second));
}

/// Puts the work on a stream, at once or as a graph.
fn submit(work: impl Fn(), stream: hipStream_t, as_graph: bool) {
    if !as_graph {
        return work();
    }
    let (mut graph, mut exec) = (hipGraph_t::NULL, hipGraphExec_t::NULL);
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    work();
    ok!(
        hipStreamEndCapture(stream, &mut graph),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
        hipGraphExecDestroy(exec),
        hipGraphDestroy(graph),
    );
}

/// Two processes go on in turns, each of which a signal of the other begins; `test` is the test that calls.
fn take_turns(test: &str, as_graphs: bool) {
    const DESCRIPTOR: &str = "AQLIPSE_TEST_DESCRIPTOR";
    const ROUNDS: u64 = 50;
    let stream = new_stream();
    if role().is_some() {
        let descriptor: c_int = std::env::var(DESCRIPTOR).unwrap().parse().unwrap();
        // SAFETY: inherited for us.
        let semaphore = imported(SemaphoreKind::Timeline, unsafe { OwnedFd::from_raw_fd(descriptor) });
        let turn = |round| {
            wait(semaphore, 2 * round + 1, stream);
            signal(semaphore, 2 * round + 2, stream);
        };
        submit(|| (0..ROUNDS).for_each(turn), stream, as_graphs);
        ok!(hipStreamSynchronize(stream));
        return;
    }
    let (descriptor, ours) = ExternalSemaphore::create(SemaphoreKind::Timeline, 0).unwrap();
    // For the child; 2 is F_SETFD.
    // SAFETY: a descriptor of ours.
    assert_eq!(unsafe { fcntl(descriptor.as_raw_fd(), 2, 0) }, 0);
    let mut child = again(test, "other");
    let child = child.env(DESCRIPTOR, descriptor.as_raw_fd().to_string()).spawn().unwrap();
    let semaphore = imported(SemaphoreKind::Timeline, descriptor);
    let turn = |round| {
        signal(semaphore, 2 * round + 1, stream);
        wait(semaphore, 2 * round + 2, stream);
    };
    submit(|| (0..ROUNDS).for_each(turn), stream, as_graphs);
    assert!(ends(child).success());
    ok!(hipStreamSynchronize(stream), hipStreamDestroy(stream), hipDestroyExternalSemaphore(semaphore));
    assert_eq!(ours.value(), 2 * ROUNDS);
}

#[test]
fn two_processes_signal_each_other() {
    take_turns("external::two_processes_signal_each_other", false);
}

#[test]
fn graphs_of_two_processes_signal_each_other() {
    take_turns("external::graphs_of_two_processes_signal_each_other", true);
}

#[test]
fn what_is_no_semaphore_or_of_another_kind_is_refused() {
    let (fd, _) = ExternalSemaphore::create(SemaphoreKind::Binary, 0).unwrap();
    let number = fd.as_raw_fd();
    let mut semaphore = hipExternalSemaphore_t::NULL;
    let binary = description(SemaphoreKind::Binary, number);
    fails!(hipErrorInvalidValue, hipImportExternalSemaphore(ptr::null_mut(), &binary));
    fails!(hipErrorInvalidValue, hipImportExternalSemaphore(&mut semaphore, ptr::null()));
    let timeline = description(SemaphoreKind::Timeline, number);
    fails!(hipErrorInvalidValue, hipImportExternalSemaphore(&mut semaphore, &timeline));
    for descriptor in [-1, 1, 9999] {
        let other = description(SemaphoreKind::Binary, descriptor);
        fails!(hipErrorInvalidValue, hipImportExternalSemaphore(&mut semaphore, &other));
    }
    let mut other = binary;
    other.flags = 1;
    fails!(hipErrorInvalidValue, hipImportExternalSemaphore(&mut semaphore, &other));
    for (kind, code) in [(2, 801), (7, 801), (10, 801), (0, 1), (11, 1)] {
        let mut other = binary;
        other.r#type = hipExternalSemaphoreHandleType(kind);
        // SAFETY: pointers of ours.
        assert_eq!(unsafe { hipImportExternalSemaphore(&mut semaphore, &other) }, hipError_t(code));
    }
    let semaphore = imported(SemaphoreKind::Binary, fd);
    // SAFETY: the call asks about a descriptor.
    assert!(unsafe { fcntl(number, 1) } < 0, "the library has taken the descriptor over");
    let params: hipExternalSemaphoreSignalParams = zeroed();
    let null = hipStream_t::NULL;
    fails!(hipErrorInvalidValue, hipSignalExternalSemaphoresAsync(ptr::null(), &params, 1, null));
    fails!(hipErrorInvalidValue, hipSignalExternalSemaphoresAsync(&semaphore, ptr::null(), 1, null));
    let garbage = hipExternalSemaphore_t(0x1234);
    fails!(hipErrorInvalidValue, hipSignalExternalSemaphoresAsync(&garbage, &params, 1, null));
    fails!(hipErrorInvalidValue, hipWaitExternalSemaphoresAsync(&garbage, &zeroed(), 1, null));
    let mut flagged = params;
    flagged.flags = 1;
    fails!(hipErrorInvalidValue, hipSignalExternalSemaphoresAsync(&semaphore, &flagged, 1, null));
    fails!(
        hipErrorContextIsDestroyed,
        hipSignalExternalSemaphoresAsync(&semaphore, &params, 1, hipStream_t(0x1234))
    );
    fails!(hipErrorInvalidValue, hipDestroyExternalSemaphore(garbage));
    ok!(hipDestroyExternalSemaphore(semaphore));
    fails!(hipErrorInvalidValue, hipSignalExternalSemaphoresAsync(&semaphore, &params, 1, null));
}

#[test]
fn a_semaphore_may_be_destroyed_while_a_stream_waits_for_it() {
    let (fd, ours) = ExternalSemaphore::create(SemaphoreKind::Binary, 0).unwrap();
    let (semaphore, stream) = (imported(SemaphoreKind::Binary, fd), new_stream());
    wait(semaphore, 0, stream);
    ok!(hipDestroyExternalSemaphore(semaphore));
    fails!(hipErrorNotReady, hipStreamQuery(stream));
    ours.signal(0);
    ok!(hipStreamSynchronize(stream), hipStreamDestroy(stream));
    assert!(!ours.wait(0, Some(Duration::ZERO)));
}

/// Memory of the device that can be exported as a descriptor.
pub fn exportable() -> hipMemAllocationProp {
    hipMemAllocationProp {
        r#type: hipMemAllocationTypePinned,
        requestedHandleType: hipMemHandleTypePosixFileDescriptor,
        location: hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 },
        win32HandleMetaData: ptr::null_mut(),
        allocFlags: hipMemAllocationFlags { compressionType: 0, gpuDirectRDMACapable: 0, usage: 0 },
    }
}

fn memory_descriptor(bytes: usize) -> Option<OwnedFd> {
    let properties = exportable();
    let mut handle = hipMemGenericAllocationHandle_t(0);
    // SAFETY: pointers of ours.
    match unsafe { hipMemCreate(&mut handle, bytes, &properties, 0) } {
        capi::error::hipErrorNotSupported => return None,
        code => assert_eq!(code, capi::error::hipSuccess),
    }
    let mut descriptor: c_int = -1;
    let posix = hipMemHandleTypePosixFileDescriptor;
    ok!(hipMemExportToShareableHandle((&raw mut descriptor).cast(), handle, posix, 0), hipMemRelease(handle),);
    // SAFETY: exported for us.
    Some(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

pub fn memory_description(descriptor: c_int, bytes: u64) -> hipExternalMemoryHandleDesc {
    let mut description: hipExternalMemoryHandleDesc = zeroed();
    description.r#type = hipExternalMemoryHandleTypeOpaqueFd;
    description.handle.fd = descriptor;
    description.size = bytes;
    description
}

fn buffer(memory: hipExternalMemory_t, offset: u64, bytes: u64) -> *mut c_void {
    let mut description: hipExternalMemoryBufferDesc = zeroed();
    (description.offset, description.size) = (offset, bytes);
    let mut address = ptr::null_mut();
    ok!(hipExternalMemoryGetMappedBuffer(&mut address, memory, &description));
    address
}

const BYTES: usize = 1 << 21;

// proves: hipImportExternalMemory, hipExternalMemoryGetMappedBuffer, hipDestroyExternalMemory
#[test]
fn buffers_of_imported_memory_show_its_bytes_and_outlive_it() {
    let Some(descriptor) = memory_descriptor(BYTES) else { return };
    let mut memory = hipExternalMemory_t::NULL;
    let mut import = |descriptor: OwnedFd| {
        let description = memory_description(descriptor.into_raw_fd(), BYTES as u64);
        ok!(hipImportExternalMemory(&mut memory, &description));
        memory
    };
    // SAFETY: a descriptor of ours.
    let copy = unsafe { OwnedFd::from_raw_fd(dup(descriptor.as_raw_fd())) };
    let (first, second) = (import(descriptor), import(copy));
    let whole = buffer(first, 0, BYTES as u64);
    let part = buffer(second, 4096, 64);
    ok!(hipDestroyExternalMemory(first), hipDestroyExternalMemory(second));
    fails!(hipErrorInvalidValue, hipDestroyExternalMemory(first));
    ok!(hipMemset(whole, 0, BYTES), hipMemset(whole.wrapping_byte_add(4096), 0x44, 32));
    let mut bytes = [0u8; 64];
    ok!(hipMemcpy(bytes.as_mut_ptr().cast(), part, 64, hipMemcpyDeviceToHost));
    assert_eq!((&bytes[..32], &bytes[32..]), (&[0x44; 32][..], &[0; 32][..]));
    fails!(hipErrorInvalidValue, hipMemset(part, 0, 65));
    ok!(hipFree(part), hipFree(whole));
    fails!(hipErrorInvalidValue, hipFree(part));
}

/// Floats of 8 by 4, 4 by 2 and 2 by 1.
fn levels(offset: u64) -> hipExternalMemoryMipmappedArrayDesc {
    hipExternalMemoryMipmappedArrayDesc {
        offset,
        formatDesc: hipChannelFormatDesc { x: 32, y: 0, z: 0, w: 0, f: hipChannelFormatKindFloat },
        extent: hipExtent { width: 8, height: 4, depth: 0 },
        flags: 0,
        numLevels: 3,
    }
}

// proves: hipExternalMemoryGetMappedMipmappedArray
#[test]
fn levels_of_an_array_in_imported_memory_lie_one_behind_the_other_and_end_with_it() {
    let Some(descriptor) = memory_descriptor(BYTES) else { return };
    let (mut memory, mut array) = (hipExternalMemory_t::NULL, hipMipmappedArray_t::NULL);
    ok!(
        hipImportExternalMemory(&mut memory, &memory_description(descriptor.into_raw_fd(), BYTES as u64)),
        hipExternalMemoryGetMappedMipmappedArray(&mut array, memory, &levels(4096)),
    );
    let whole = buffer(memory, 0, BYTES as u64);
    ok!(hipMemset(whole, 0, BYTES));
    let level = |number| {
        let mut level = hipArray_t::NULL;
        ok!(hipGetMipmappedArrayLevel(&mut level, array, number));
        level
    };
    let (second, third) = (level(1), level(2));
    let input = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    ok!(
        hipMemcpyHtoA(second, 0, input.as_ptr().cast(), 32),
        hipMemcpyHtoA(third, 0, input.as_ptr().cast(), 8),
    );
    // Behind the 32 floats of the first level.
    let (mut found, mut back) = ([0.0f32; 11], [0.0f32; 2]);
    ok!(
        hipMemcpy(found.as_mut_ptr().cast(), whole.wrapping_byte_add(4096 + 128), 44, hipMemcpyDeviceToHost),
        hipMemcpyAtoH(back.as_mut_ptr().cast(), third, 0, 8),
    );
    assert_eq!((&found[..8], &found[8..], back), (&input[..], &[1.0, 2.0, 0.0][..], [1.0, 2.0]));
    fails!(hipErrorInvalidValue, hipMemcpyHtoA(third, 0, input.as_ptr().cast(), 12));
    // The array keeps the memory, and its levels end with it.
    ok!(hipDestroyExternalMemory(memory), hipMemcpyHtoA(level(0), 0, input.as_ptr().cast(), 32));
    ok!(hipFreeMipmappedArray(array));
    fails!(hipErrorInvalidValue, hipFreeMipmappedArray(array));
    fails!(hipErrorInvalidValue, hipMemcpyHtoA(second, 0, input.as_ptr().cast(), 4));
    ok!(hipMemcpy(found.as_mut_ptr().cast(), whole.wrapping_byte_add(4096), 32, hipMemcpyDeviceToHost));
    assert_eq!(found[..8], input);
    ok!(hipFree(whole));
}

#[test]
fn what_is_no_array_or_leaves_imported_memory_is_refused() {
    let Some(descriptor) = memory_descriptor(BYTES) else { return };
    let (mut memory, mut array) = (hipExternalMemory_t::NULL, hipMipmappedArray_t::NULL);
    ok!(hipImportExternalMemory(&mut memory, &memory_description(descriptor.into_raw_fd(), BYTES as u64)));
    let mut wrong = [levels(0); 6];
    wrong[0].offset = BYTES as u64 - 4 * (32 + 8 + 2) + 4;
    wrong[1].offset = u64::MAX;
    wrong[2].numLevels = 0;
    wrong[3].numLevels = 5;
    wrong[4].formatDesc.y = 16;
    wrong[5].extent.width = 0;
    for description in &wrong {
        fails!(
            hipErrorInvalidValue,
            hipExternalMemoryGetMappedMipmappedArray(&mut array, memory, description)
        );
    }
    let right = levels(0);
    fails!(hipErrorInvalidValue, hipExternalMemoryGetMappedMipmappedArray(ptr::null_mut(), memory, &right));
    fails!(hipErrorInvalidValue, hipExternalMemoryGetMappedMipmappedArray(&mut array, memory, ptr::null()));
    ok!(hipDestroyExternalMemory(memory));
    fails!(hipErrorInvalidValue, hipExternalMemoryGetMappedMipmappedArray(&mut array, memory, &right));
}

#[test]
fn what_is_no_memory_and_ranges_outside_it_are_refused() {
    let mut memory = hipExternalMemory_t::NULL;
    let nothing = memory_description(-1, 4096);
    fails!(hipErrorInvalidValue, hipImportExternalMemory(ptr::null_mut(), &nothing));
    fails!(hipErrorInvalidValue, hipImportExternalMemory(&mut memory, ptr::null()));
    fails!(hipErrorInvalidValue, hipImportExternalMemory(&mut memory, &nothing));
    let mut other = nothing;
    other.r#type = hipExternalMemoryHandleType(4);
    fails!(hipErrorNotSupported, hipImportExternalMemory(&mut memory, &other));
    let Some(descriptor) = memory_descriptor(BYTES) else { return };
    let number = descriptor.as_raw_fd();
    fails!(hipErrorInvalidValue, hipImportExternalMemory(&mut memory, &memory_description(number, 0)));
    let large = memory_description(number, BYTES as u64 + 1);
    fails!(hipErrorInvalidValue, hipImportExternalMemory(&mut memory, &large));
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    let executable = memory_description(file.as_raw_fd(), 4096);
    fails!(hipErrorInvalidValue, hipImportExternalMemory(&mut memory, &executable));
    ok!(hipImportExternalMemory(&mut memory, &memory_description(descriptor.into_raw_fd(), BYTES as u64)));
    let mut address = ptr::null_mut();
    for (offset, bytes) in [(0, 0), (0, BYTES as u64 + 1), (1, BYTES as u64), (u64::MAX, 2)] {
        let mut description: hipExternalMemoryBufferDesc = zeroed();
        (description.offset, description.size) = (offset, bytes);
        fails!(hipErrorInvalidValue, hipExternalMemoryGetMappedBuffer(&mut address, memory, &description));
    }
    fails!(hipErrorInvalidValue, hipExternalMemoryGetMappedBuffer(&mut address, memory, ptr::null()));
    ok!(hipDestroyExternalMemory(memory));
}

#[test]
fn a_thousand_imports_leave_no_descriptor_and_no_mapping() {
    let cycle = || {
        let (fd, _) = ExternalSemaphore::create(SemaphoreKind::Binary, 1).unwrap();
        ok!(hipDestroyExternalSemaphore(imported(SemaphoreKind::Binary, fd)));
        let Some(descriptor) = memory_descriptor(BYTES) else { return };
        let mut memory = hipExternalMemory_t::NULL;
        let description = memory_description(descriptor.into_raw_fd(), BYTES as u64);
        ok!(hipImportExternalMemory(&mut memory, &description));
        let address = buffer(memory, 0, 64);
        ok!(hipDestroyExternalMemory(memory), hipFree(address));
    };
    (0..10).for_each(|_| cycle());
    let before = footprint();
    (0..1000).for_each(|_| cycle());
    let after = footprint();
    assert_eq!(after.0, before.0, "descriptors");
    // Threads and queues that were started late; a leak would be a thousand.
    assert!(after.1 <= before.1 + 64, "mappings: {before:?} {after:?}");
}

#[test]
fn a_capture_records_semaphores_as_nodes_that_wait_and_signal_at_each_launch() {
    let (fd, first) = ExternalSemaphore::create(SemaphoreKind::Binary, 0).unwrap();
    let wait = imported(SemaphoreKind::Binary, fd);
    let (fd, second) = ExternalSemaphore::create(SemaphoreKind::Timeline, 0).unwrap();
    let (signal, stream) = (imported(SemaphoreKind::Timeline, fd), new_stream());
    let (mut graph, mut exec) = (hipGraph_t::NULL, hipGraphExec_t::NULL);
    let mut seven: hipExternalSemaphoreSignalParams = zeroed();
    seven.params.fence = 7;
    ok!(
        hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal),
        hipWaitExternalSemaphoresAsync(&wait, &zeroed(), 1, stream),
        hipSignalExternalSemaphoresAsync(&signal, &seven, 1, stream),
        hipStreamEndCapture(stream, &mut graph),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
    );
    assert_eq!(second.value(), 0, "the launch waits");
    first.signal(0);
    ok!(hipStreamSynchronize(stream));
    assert_eq!((first.value(), second.value()), (0, 7));
    ok!(
        hipGraphExecDestroy(exec),
        hipGraphDestroy(graph),
        hipDestroyExternalSemaphore(wait),
        hipDestroyExternalSemaphore(signal),
        hipStreamDestroy(stream),
    );
}
