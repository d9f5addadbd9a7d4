use std::{
    ffi::c_uint,
    io::{BufRead, BufReader},
    process::{Child, Stdio},
    ptr,
    time::{Duration, Instant},
};

use capi::{error::hipError_t, types::*};

use super::*;
use crate::process::{LONG, again, bytes_of, ends, footprint, hex, role, unhex};

unsafe extern "C" {
    fn hipIpcGetMemHandle(handle: *mut hipIpcMemHandle_t, address: *mut c_void) -> hipError_t;
    fn hipIpcOpenMemHandle(address: *mut *mut c_void, handle: hipIpcMemHandle_t, flags: c_uint)
    -> hipError_t;
    fn hipIpcCloseMemHandle(address: *mut c_void) -> hipError_t;
    fn hipIpcGetEventHandle(handle: *mut hipIpcEventHandle_t, event: hipEvent_t) -> hipError_t;
    fn hipIpcOpenEventHandle(event: *mut hipEvent_t, handle: hipIpcEventHandle_t) -> hipError_t;
    fn hipEventCreateWithFlags(event: *mut hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    fn hipEventQuery(event: hipEvent_t) -> hipError_t;
    fn hipEventSynchronize(event: hipEvent_t) -> hipError_t;
    fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipMemcpyAsync(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipStreamCreateWithFlags(stream: *mut hipStream_t, flags: c_uint) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddEventRecordNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        dependencies: *const hipGraphNode_t,
        count: usize,
        event: hipEvent_t,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(
        exec: *mut hipGraphExec_t,
        graph: hipGraph_t,
        flags: std::ffi::c_ulonglong,
    ) -> hipError_t;
    fn hipLaunchHostFunc(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) -> hipError_t;
    fn hipStreamQuery(stream: hipStream_t) -> hipError_t;
    fn hipStreamWaitValue32(
        stream: hipStream_t,
        address: *mut c_void,
        value: u32,
        flags: c_uint,
        mask: u32,
    ) -> hipError_t;
}

const EVENT: c_uint = hipEventInterprocess | hipEventDisableTiming;
const LAZY: c_uint = hipIpcMemLazyEnablePeerAccess;
const NO_HANDLE: hipIpcMemHandle_t = hipIpcMemHandle_t { reserved: [0; 64] };

fn is_emulated() -> bool {
    aqlipse::Device::get(0).is_ok_and(|device| device.backend() == aqlipse::Backend::Emulated)
}

/// A handle, where the back end has such; ROCr 5 over our thunk has not.
fn handle_of(address: *mut c_void) -> Option<hipIpcMemHandle_t> {
    let mut handle = NO_HANDLE;
    // SAFETY: the handle is ours.
    match unsafe { hipIpcGetMemHandle(&mut handle, address) } {
        capi::error::hipErrorNotSupported => None,
        code => {
            assert_eq!(code, capi::error::hipSuccess);
            Some(handle)
        }
    }
}

fn opened(variable: &str) -> *mut c_void {
    let mut address = ptr::null_mut();
    let handle = hipIpcMemHandle_t { reserved: unhex(variable) };
    ok!(hipIpcOpenMemHandle(&mut address, handle, LAZY));
    address
}

fn word(address: *const c_void) -> u32 {
    let mut value = 0u32;
    ok!(hipMemcpy((&raw mut value).cast(), address, 4, hipMemcpyDeviceToHost));
    value
}

fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

// proves: hipIpcGetMemHandle, hipIpcOpenMemHandle, hipIpcCloseMemHandle
#[test]
fn memory_of_one_process_is_read_and_written_by_another() {
    const NAME: &str = "ipc::memory_of_one_process_is_read_and_written_by_another";
    const HANDLE: &str = "AQLIPSE_TEST_MEMORY";
    if role().is_some() {
        let address = opened(HANDLE);
        assert_eq!(word(address), 7);
        assert_eq!(word(address.wrapping_byte_add(996)), 7 + 249);
        fails!(hipErrorInvalidValue, hipMemset(address, 0, 1001));
        fails!(hipErrorInvalidValue, hipFree(address));
        // What tells it from other handles, the length, and all of the HSA runtime's. ROCr does not look at the length, and
        // in one word of its own, where an allocation begins in a block, it takes any number.
        let is_checked = |byte: &usize| is_emulated() || !(20..28).contains(byte) && !(52..56).contains(byte);
        for byte in (0..4).chain(20..60).filter(is_checked) {
            let mut broken = hipIpcMemHandle_t { reserved: unhex(HANDLE) };
            broken.reserved[byte] ^= 0x55;
            let mut nothing = ptr::null_mut();
            fails!(hipErrorInvalidValue, hipIpcOpenMemHandle(&mut nothing, broken, LAZY));
        }
        // A second opening is another address of the same memory.
        let second = opened(HANDLE);
        assert_ne!(address, second);
        ok!(hipMemset(second, 0x22, 8), hipIpcCloseMemHandle(second));
        assert_eq!(word(address), 0x2222_2222);
        ok!(hipIpcCloseMemHandle(address));
        fails!(hipErrorInvalidValue, hipIpcCloseMemHandle(address));
        // And a third is left open: the process ends with it.
        opened(HANDLE);
        return;
    }
    let values: Vec<u32> = (7..257).collect();
    let memory = Memory::of(&values);
    let Some(handle) = handle_of(memory.pointer()) else { return };
    let child = again(NAME, "other").env(HANDLE, hex(&handle.reserved)).spawn().unwrap();
    assert!(ends(child).success());
    let read = memory.read();
    assert_eq!((&read[..2], &read[2..]), (&[0x2222_2222; 2][..], &values[2..]));
}

#[test]
fn what_is_no_handle_of_other_memory_is_refused() {
    let memory = Memory::of(&[1u32; 64]);
    let (pointer, mut address, mut local) = (memory.pointer(), ptr::null_mut(), 0u32);
    let mut handle = NO_HANDLE;
    fails!(hipErrorInvalidValue, hipIpcGetMemHandle(ptr::null_mut(), pointer));
    fails!(hipErrorInvalidValue, hipIpcGetMemHandle(&mut handle, ptr::null_mut()));
    // HIP: 5.2.3 (tests/conformance/ipc_memory.cpp).
    fails!(hipErrorInvalidValue, hipIpcGetMemHandle(&mut handle, pointer.wrapping_byte_add(64)));
    fails!(hipErrorInvalidValue, hipIpcGetMemHandle(&mut handle, (&raw mut local).cast()));
    fails!(hipErrorInvalidValue, hipIpcOpenMemHandle(&mut address, handle, LAZY));
    fails!(hipErrorInvalidValue, hipIpcCloseMemHandle(ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipIpcCloseMemHandle(pointer));
    let Some(handle) = handle_of(pointer) else { return };
    fails!(hipErrorInvalidValue, hipIpcOpenMemHandle(ptr::null_mut(), handle, LAZY));
    fails!(hipErrorInvalidValue, hipIpcOpenMemHandle(&mut address, handle, 0));
    fails!(hipErrorInvalidContext, hipIpcOpenMemHandle(&mut address, handle, LAZY));
}

#[test]
fn a_freed_allocation_has_no_handle_and_the_next_one_has_another() {
    const NAME: &str = "ipc::a_freed_allocation_has_no_handle_and_the_next_one_has_another";
    if !is_emulated() {
        // ROCr shares blocks of 2 MiB that it carves allocations from: the block of a freed one can still be opened.
        return;
    }
    const HANDLE: &str = "AQLIPSE_TEST_MEMORY";
    if role().is_some() {
        let mut address = ptr::null_mut();
        let handle = hipIpcMemHandle_t { reserved: unhex(HANDLE) };
        fails!(hipErrorInvalidValue, hipIpcOpenMemHandle(&mut address, handle, LAZY));
        return;
    }
    let first = Memory::of(&[1u32; 64]);
    let Some(stale) = handle_of(first.pointer()) else { return };
    let place = first.pointer();
    drop(first);
    let second = Memory::of(&[2u32; 64]);
    let fresh = handle_of(second.pointer()).unwrap();
    assert_ne!(stale.reserved, fresh.reserved, "at {place:p} and {:p}", second.pointer());
    let child = again(NAME, "other").env(HANDLE, hex(&stale.reserved)).spawn().unwrap();
    assert!(ends(child).success());
}

/// Another process that opens an allocation 1,000 times, and whose footprint stays.
#[test]
fn a_thousand_openings_leave_no_descriptor_and_no_mapping() {
    const NAME: &str = "ipc::a_thousand_openings_leave_no_descriptor_and_no_mapping";
    const HANDLE: &str = "AQLIPSE_TEST_MEMORY";
    if role().is_some() {
        let cycle = || ok!(hipIpcCloseMemHandle(opened(HANDLE)));
        (0..10).for_each(|_| cycle());
        let before = footprint();
        (0..1000).for_each(|_| cycle());
        let after = footprint();
        assert_eq!(after.0, before.0, "descriptors");
        // Threads and queues that were started late; a leak would be a thousand.
        assert!(after.1 <= before.1 + 64, "mappings: {before:?} {after:?}");
        return;
    }
    let memory = Memory::of(&[1u32; 64]);
    let Some(handle) = handle_of(memory.pointer()) else { return };
    let child = again(NAME, "other").env(HANDLE, hex(&handle.reserved)).spawn().unwrap();
    assert!(ends(child).success());
}

fn event() -> hipEvent_t {
    let mut event = hipEvent_t::NULL;
    ok!(hipEventCreateWithFlags(&mut event, EVENT));
    event
}

unsafe extern "C" fn wait_for_the_gate(data: *mut c_void) {
    let deadline = Instant::now() + LONG;
    // SAFETY: the test's own atomic.
    let open = unsafe { &*data.cast::<std::sync::atomic::AtomicBool>() };
    while !open.load(std::sync::atomic::Ordering::SeqCst) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
}

// proves: hipIpcGetEventHandle, hipIpcOpenEventHandle
#[test]
fn streams_of_two_processes_wait_for_each_other_with_events() {
    const NAME: &str = "ipc::streams_of_two_processes_wait_for_each_other_with_events";
    let names = ["AQLIPSE_TEST_THERE", "AQLIPSE_TEST_BACK", "AQLIPSE_TEST_MEMORY", "AQLIPSE_TEST_FLAG"];
    // The default stream goes on while this one waits.
    let mut stream = hipStream_t::NULL;
    ok!(hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking));
    if role().is_some() {
        let mut events = [hipEvent_t::NULL; 2];
        for (event, name) in events.iter_mut().zip(names) {
            let handle = hipIpcEventHandle_t { reserved: unhex(name) };
            ok!(hipIpcOpenEventHandle(event, handle));
        }
        let (memory, flag) = (opened(names[2]), opened(names[3]));
        let [there, back] = events;
        fails!(hipErrorNotReady, hipEventQuery(there));
        let mut seen = 0u32;
        ok!(
            hipStreamWaitEvent(stream, there, 0),
            hipMemcpyAsync((&raw mut seen).cast(), memory, 4, hipMemcpyDeviceToHost, hipStream_t::NULL),
        );
        assert_eq!(seen, 0, "the other process has not been let go");
        let second = memory.wrapping_byte_add(4);
        ok!(hipMemcpyAsync(second, memory, 4, hipMemcpyDeviceToDevice, stream));
        ok!(hipEventRecord(back, stream));
        fails!(hipErrorNotReady, hipEventQuery(back));
        // Now the other process goes on.
        ok!(hipMemset(flag, 1, 4), hipStreamSynchronize(stream));
        assert_eq!(word(second), 0x0909_0909, "what the other process had written before its event");
        ok!(hipEventSynchronize(there), hipEventQuery(there), hipEventQuery(back));
        until("the other process has seen the event", || word(flag) == 0);
        ok!(hipEventDestroy(there), hipEventDestroy(back));
        return;
    }
    let (memory, flag) = (Memory::of(&[0u32; 2]), Memory::of(&[0u32]));
    let (Some(shared), Some(signal)) = (handle_of(memory.pointer()), handle_of(flag.pointer())) else {
        return;
    };
    let (there, back) = (event(), event());
    ok!(hipEventQuery(there), hipEventSynchronize(there));
    let gate = std::sync::atomic::AtomicBool::new(false);
    ok!(
        hipLaunchHostFunc(stream, Some(wait_for_the_gate), (&raw const gate).cast_mut().cast()),
        hipMemsetAsync(memory.pointer(), 9, 4, stream),
        hipEventRecord(there, stream),
    );
    let mut command = again(NAME, "other");
    for (event, name) in [there, back].into_iter().zip(names) {
        let mut handle = hipIpcEventHandle_t { reserved: [0; 64] };
        ok!(hipIpcGetEventHandle(&mut handle, event));
        command.env(name, hex(&handle.reserved));
    }
    command.env(names[2], hex(&shared.reserved)).env(names[3], hex(&signal.reserved));
    let child: Child = command.spawn().unwrap();
    until("the other process is ready", || word(flag.pointer()) != 0);
    fails!(hipErrorNotReady, hipEventQuery(back));
    gate.store(true, std::sync::atomic::Ordering::SeqCst);
    // The other process's record, behind ours.
    ok!(hipEventSynchronize(back), hipEventQuery(there));
    assert_eq!(memory.read(), [0x0909_0909; 2]);
    ok!(hipStreamWaitEvent(stream, back, 0), hipMemsetAsync(flag.pointer(), 0, 4, stream));
    ok!(hipStreamSynchronize(stream));
    assert!(ends(child).success());
    ok!(hipEventDestroy(there), hipEventDestroy(back), hipStreamDestroy(stream));
}

#[test]
fn events_of_one_process_have_no_handles() {
    let mut plain = hipEvent_t::NULL;
    let mut opened = hipEvent_t::NULL;
    let mut handle = hipIpcEventHandle_t { reserved: [0; 64] };
    fails!(hipErrorInvalidValue, hipEventCreateWithFlags(&mut plain, hipEventInterprocess));
    ok!(hipEventCreateWithFlags(&mut plain, hipEventDisableTiming));
    fails!(hipErrorInvalidConfiguration, hipIpcGetEventHandle(&mut handle, plain));
    fails!(hipErrorInvalidValue, hipIpcGetEventHandle(&mut handle, hipEvent_t::NULL));
    fails!(hipErrorInvalidValue, hipIpcOpenEventHandle(&mut opened, handle));
    let shared = event();
    fails!(hipErrorInvalidValue, hipIpcGetEventHandle(ptr::null_mut(), shared));
    ok!(hipIpcGetEventHandle(&mut handle, shared));
    fails!(hipErrorInvalidValue, hipIpcOpenEventHandle(ptr::null_mut(), handle));
    fails!(hipErrorInvalidContext, hipIpcOpenEventHandle(&mut opened, handle));
    // In its own process it is an event like any other.
    let stream = new_stream();
    ok!(hipEventRecord(shared, stream), hipEventSynchronize(shared), hipEventQuery(shared));
    ok!(hipStreamWaitEvent(hipStream_t::NULL, shared, 0), hipEventDestroy(shared), hipEventDestroy(plain));
    ok!(hipStreamDestroy(stream));
}

#[test]
fn a_graph_with_an_event_between_processes_is_refused() {
    let (mut graph, mut node, mut exec) = (hipGraph_t::NULL, hipGraphNode_t::NULL, hipGraphExec_t::NULL);
    let shared = event();
    ok!(hipGraphCreate(&mut graph, 0), hipGraphAddEventRecordNode(&mut node, graph, ptr::null(), 0, shared),);
    fails!(hipErrorNotSupported, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(hipGraphDestroy(graph), hipEventDestroy(shared));
}

/// Starts the test in another process, and returns what that says of itself.
fn writer(test: &str) -> (Child, String) {
    let mut child = again(test, "writer").stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = lines.filter_map(|line| Some(line.unwrap().strip_prefix("handle: ")?.to_owned()));
    let said = said.next();
    (child, said.expect("the other process says its handle"))
}

/// Says a handle and lives until somebody ends this process.
fn say_and_live(handle: &[i8]) -> ! {
    println!("\nhandle: {}", hex(handle));
    std::thread::sleep(LONG);
    panic!("nobody has ended this process");
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Ends a process for which a stream waits.
fn end_while_waiting(mut child: Child, stream: hipStream_t) {
    std::thread::sleep(Duration::from_millis(50));
    fails!(hipErrorNotReady, hipStreamQuery(stream));
    child.kill().unwrap();
    // Nobody has asked for its end yet: that it is a zombie counts.
    fails!(hipErrorLaunchFailure, hipStreamSynchronize(stream));
    child.wait().unwrap();
}

// proves: hipStreamWaitValue32
#[test]
fn a_wait_for_a_word_fails_when_the_process_ends_whose_memory_it_is() {
    const NAME: &str = "ipc::a_wait_for_a_word_fails_when_the_process_ends_whose_memory_it_is";
    match role().as_deref() {
        None => assert!(ends(again(NAME, "reader").spawn().unwrap()).success()),
        Some("writer") => {
            let memory = Memory::of(&[7u32, 0]);
            say_and_live(&handle_of(memory.pointer()).map_or([0; 64], |handle| handle.reserved));
        }
        Some(_) => {
            let (child, said) = writer(NAME);
            let (mut memory, handle) = (ptr::null_mut(), hipIpcMemHandle_t { reserved: bytes_of(&said) });
            if handle.reserved == [0; 64] {
                // ROCr 5 over our thunk has no handles.
                return end(child);
            }
            let stream = new_stream();
            ok!(hipIpcOpenMemHandle(&mut memory, handle, LAZY));
            let wait = |word: usize, value| {
                ok!(hipStreamWaitValue32(
                    stream,
                    memory.wrapping_byte_add(4 * word),
                    value,
                    hipStreamWaitValueEq,
                    u32::MAX
                ));
            };
            // What it has written counts, also when it has ended.
            wait(0, 7);
            ok!(hipStreamSynchronize(stream));
            wait(1, 7);
            end_while_waiting(child, stream);
        }
    }
}

// proves: hipIpcOpenEventHandle
#[test]
fn a_wait_for_an_event_fails_when_the_process_ends_that_has_recorded_it() {
    const NAME: &str = "ipc::a_wait_for_an_event_fails_when_the_process_ends_that_has_recorded_it";
    match role().as_deref() {
        None => assert!(ends(again(NAME, "reader").spawn().unwrap()).success()),
        Some("writer") => {
            let (event, mut stream) = (event(), hipStream_t::NULL);
            let gate = std::sync::atomic::AtomicBool::new(false);
            ok!(
                hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking),
                hipLaunchHostFunc(stream, Some(wait_for_the_gate), (&raw const gate).cast_mut().cast()),
                hipEventRecord(event, stream),
            );
            let mut handle = hipIpcEventHandle_t { reserved: [0; 64] };
            ok!(hipIpcGetEventHandle(&mut handle, event));
            say_and_live(&handle.reserved);
        }
        Some(_) => {
            let (child, said) = writer(NAME);
            let (mut event, stream) = (hipEvent_t::NULL, new_stream());
            ok!(
                hipIpcOpenEventHandle(&mut event, hipIpcEventHandle_t { reserved: bytes_of(&said) }),
                hipStreamWaitEvent(stream, event, 0),
            );
            end_while_waiting(child, stream);
            fails!(hipErrorLaunchFailure, hipEventSynchronize(event));
            // Recorded anew, it is this process's.
            ok!(hipEventRecord(event, stream), hipEventSynchronize(event));
            ok!(hipEventDestroy(event), hipStreamDestroy(stream));
        }
    }
}
