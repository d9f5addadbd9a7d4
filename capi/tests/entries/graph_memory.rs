use std::{ffi::c_uint, ptr};

use capi::{error::hipError_t, types::*};

use super::*;
use crate::process::{again, ends, role};

unsafe extern "C" {
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphClone(clone: *mut hipGraph_t, graph: hipGraph_t) -> hipError_t;
    fn hipGraphDestroyNode(node: hipGraphNode_t) -> hipError_t;
    fn hipGraphRemoveDependencies(
        graph: hipGraph_t,
        from: *const hipGraphNode_t,
        to: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
    fn hipGraphAddChildGraphNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        child: hipGraph_t,
    ) -> hipError_t;
    fn hipGraphAddEmptyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
    fn hipGraphAddMemsetNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemsetParams,
    ) -> hipError_t;
    fn hipGraphAddMemAllocNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *mut hipMemAllocNodeParams,
    ) -> hipError_t;
    fn hipGraphMemAllocNodeGetParams(node: hipGraphNode_t, params: *mut hipMemAllocNodeParams) -> hipError_t;
    fn hipGraphAddMemFreeNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        address: *mut c_void,
    ) -> hipError_t;
    fn hipDrvGraphAddMemFreeNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        address: hipDeviceptr_t,
    ) -> hipError_t;
    fn hipGraphMemFreeNodeGetParams(node: hipGraphNode_t, address: *mut c_void) -> hipError_t;
    fn hipGraphNodeSetParams(node: hipGraphNode_t, params: *mut hipGraphNodeParams) -> hipError_t;
    fn hipGraphExecNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *mut hipGraphNodeParams,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipDeviceGetGraphMemAttribute(
        device: c_int,
        attribute: hipGraphMemAttributeType,
        value: *mut c_void,
    ) -> hipError_t;
    fn hipDeviceSetGraphMemAttribute(
        device: c_int,
        attribute: hipGraphMemAttributeType,
        value: *mut c_void,
    ) -> hipError_t;
    fn hipDeviceGraphMemTrim(device: c_int) -> hipError_t;
    fn hipMallocAsync(address: *mut *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipFreeAsync(address: *mut c_void, stream: hipStream_t) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
}

const N: usize = 64 << 20;
const AUTO_FREE: u64 = 1;

fn params(bytes: usize) -> hipMemAllocNodeParams {
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut params: hipMemAllocNodeParams = unsafe { std::mem::zeroed() };
    params.poolProps.allocType = hipMemAllocationTypePinned;
    params.poolProps.location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 };
    params.bytesize = bytes;
    params
}

fn allocate(graph: hipGraph_t, bytes: usize) -> (hipGraphNode_t, *mut c_void) {
    let (mut node, mut params) = (hipGraphNode_t::NULL, params(bytes));
    ok!(hipGraphAddMemAllocNode(&mut node, graph, ptr::null(), 0, &mut params));
    assert!(!params.dptr.is_null());
    (node, params.dptr)
}

fn add_free(graph: hipGraph_t, after: &[hipGraphNode_t], address: *mut c_void) -> hipGraphNode_t {
    let mut node = hipGraphNode_t::NULL;
    ok!(hipGraphAddMemFreeNode(&mut node, graph, after.as_ptr(), after.len(), address));
    node
}

fn instantiate(graph: hipGraph_t, flags: u64) -> hipGraphExec_t {
    let mut exec = hipGraphExec_t(0);
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, flags));
    exec
}

fn attribute(attribute: hipGraphMemAttributeType) -> u64 {
    let mut value = 77u64;
    ok!(hipDeviceGetGraphMemAttribute(0, attribute, (&raw mut value).cast()));
    value
}

/// Used now and at most, reserved now and at most.
fn footprint() -> [u64; 4] {
    [0, 1, 2, 3].map(|number| attribute(hipGraphMemAttributeType(number)))
}

// proves: hipGraphAddMemAllocNode, hipGraphMemAllocNodeGetParams
#[test]
fn an_allocation_node_is_checked_and_gives_back_what_it_was_given() {
    let (graph, mut node) = (new_graph(), hipGraphNode_t::NULL);
    let access = hipMemAccessDesc {
        location: hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 },
        flags: hipMemAccessFlagsProtReadWrite,
    };
    let mut add = |change: &dyn Fn(&mut hipMemAllocNodeParams)| {
        let mut params = params(4096);
        change(&mut params);
        // SAFETY: a node to write, no dependencies, parameters to read and write.
        unsafe { hipGraphAddMemAllocNode(&mut node, graph, ptr::null(), 0, &mut params) }
    };
    fails!(hipErrorInvalidValue, add(&|p| p.poolProps.allocType = hipMemAllocationTypeInvalid));
    fails!(hipErrorInvalidValue, add(&|p| p.poolProps.allocType = hipMemAllocationType(99)));
    fails!(hipErrorInvalidValue, add(&|p| p.poolProps.location.r#type = hipMemLocationTypeInvalid));
    fails!(hipErrorInvalidValue, add(&|p| p.poolProps.location.r#type = hipMemLocationTypeHost));
    for id in [-1, 99, c_int::MAX] {
        fails!(hipErrorInvalidValue, add(&|p| p.poolProps.location.id = id));
    }
    fails!(hipErrorInvalidValue, add(&|p| p.bytesize = 0));
    fails!(hipErrorOutOfMemory, add(&|p| p.bytesize = usize::MAX));
    fails!(hipErrorOutOfMemory, add(&|p| p.bytesize = 1 << 50));
    fails!(hipErrorInvalidValue, add(&|p| p.accessDescCount = 1));
    fails!(hipErrorInvalidValue, add(&|p| p.accessDescCount = usize::MAX));
    let with = |desc: hipMemAccessDesc, count: usize| {
        move |p: &mut hipMemAllocNodeParams| {
            (p.accessDescs, p.accessDescCount) = (forever(desc), count);
        }
    };
    fails!(hipErrorInvalidValue, add(&with(access, 99)));
    fails!(hipErrorInvalidValue, add(&with(hipMemAccessDesc { flags: hipMemAccessFlags(2), ..access }, 1)));
    let nowhere = hipMemLocation { id: 99, ..access.location };
    fails!(hipErrorInvalidValue, add(&with(hipMemAccessDesc { location: nowhere, ..access }, 1)));
    let read_only = hipMemAccessDesc { flags: hipMemAccessFlagsProtRead, ..access };
    fails!(hipErrorNotSupported, add(&with(read_only, 1)));
    let mut valid = params(4096);
    fails!(hipErrorInvalidValue, hipGraphAddMemAllocNode(ptr::null_mut(), graph, ptr::null(), 0, &mut valid));
    fails!(hipErrorInvalidValue, hipGraphAddMemAllocNode(&mut node, graph, ptr::null(), 1, &mut valid));
    fails!(hipErrorInvalidValue, hipGraphAddMemAllocNode(&mut node, graph, ptr::null(), 0, ptr::null_mut()));
    let none = hipGraph_t(0);
    fails!(hipErrorInvalidValue, hipGraphAddMemAllocNode(&mut node, none, ptr::null(), 0, &mut valid));

    let (mut given, mut found) = (params(5000), params(0));
    given.poolProps.maxSize = 1 << 30;
    (given.accessDescs, given.accessDescCount) = (&access, 1);
    ok!(
        hipGraphAddMemAllocNode(&mut node, graph, ptr::null(), 0, &mut given),
        hipGraphMemAllocNodeGetParams(node, &mut found),
    );
    assert_eq!((found.bytesize, found.dptr), (5000, given.dptr));
    assert_eq!((found.poolProps.allocType, found.poolProps.location.id), (hipMemAllocationTypePinned, 0));
    assert_eq!((found.poolProps.maxSize, found.accessDescCount), (1 << 30, 1));
    // SAFETY: the node's own descriptors, whose graph is alive.
    let desc = unsafe { found.accessDescs.read() };
    assert_eq!((desc.location.id, desc.flags), (0, hipMemAccessFlagsProtReadWrite));
    let mut empty = hipGraphNode_t::NULL;
    ok!(hipGraphAddEmptyNode(&mut empty, graph, ptr::null(), 0));
    let free = add_free(graph, &[node], given.dptr);
    for wrong in [empty, free, hipGraphNode_t::NULL] {
        fails!(hipErrorInvalidValue, hipGraphMemAllocNodeGetParams(wrong, &mut found));
    }
    fails!(hipErrorInvalidValue, hipGraphMemAllocNodeGetParams(node, ptr::null_mut()));
    ok!(hipGraphDestroy(graph));
    fails!(hipErrorInvalidValue, hipGraphMemAllocNodeGetParams(node, &mut found));
}

// proves: hipGraphAddMemFreeNode, hipDrvGraphAddMemFreeNode, hipGraphMemFreeNodeGetParams
#[test]
fn a_free_node_takes_an_allocation_of_a_graph_once() {
    let (graph, other, mut node) = (new_graph(), new_graph(), hipGraphNode_t::NULL);
    let (alloc, address) = allocate(graph, 4096);
    let device = Memory::of(&[0u8; 16]);
    let mut host = 0u64;
    let nothing = ptr::null_mut();
    for bad in [nothing, device.pointer(), (&raw mut host).cast(), ptr::without_provenance_mut(usize::MAX)] {
        fails!(hipErrorInvalidValue, hipGraphAddMemFreeNode(&mut node, graph, &alloc, 1, bad));
        fails!(hipErrorInvalidValue, hipDrvGraphAddMemFreeNode(&mut node, graph, &alloc, 1, bad));
    }
    fails!(hipErrorInvalidValue, hipGraphAddMemFreeNode(ptr::null_mut(), graph, &alloc, 1, address));
    fails!(hipErrorInvalidValue, hipGraphAddMemFreeNode(&mut node, hipGraph_t(0), &alloc, 1, address));
    fails!(hipErrorInvalidValue, hipGraphAddMemFreeNode(&mut node, graph, ptr::null(), 1, address));
    ok!(hipDrvGraphAddMemFreeNode(&mut node, graph, &alloc, 1, address));
    fails!(hipErrorInvalidValue, hipGraphAddMemFreeNode(&mut node, graph, &alloc, 1, address));
    fails!(hipErrorInvalidValue, hipGraphAddMemFreeNode(&mut node, other, ptr::null(), 0, address));

    let mut found = ptr::null_mut::<c_void>();
    let out = (&raw mut found).cast();
    ok!(hipGraphMemFreeNodeGetParams(node, out));
    assert_eq!(found, address);
    fails!(hipErrorInvalidValue, hipGraphMemFreeNodeGetParams(node, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipGraphMemFreeNodeGetParams(alloc, out));
    fails!(hipErrorInvalidValue, hipGraphMemFreeNodeGetParams(hipGraphNode_t::NULL, out));

    // What the graph leaves allocated may be another graph's to free, and then not its own.
    let (alloc, address) = allocate(graph, 4096);
    add_free(other, &[], address);
    fails!(hipErrorInvalidValue, hipGraphAddMemFreeNode(&mut node, graph, &alloc, 1, address));
    ok!(hipGraphDestroy(graph), hipGraphDestroy(other));
}

#[test]
fn graphs_with_memory_are_neither_copied_nor_cut() {
    let (graph, parent, stream) = (new_graph(), new_graph(), new_stream());
    let (alloc, address) = allocate(graph, 4096);
    let free = add_free(graph, &[alloc], address);
    let (mut clone, mut node, mut second) = (hipGraph_t(0), hipGraphNode_t::NULL, hipGraphExec_t(0));
    fails!(hipErrorNotSupported, hipGraphClone(&mut clone, graph));
    fails!(hipErrorNotSupported, hipGraphAddChildGraphNode(&mut node, parent, ptr::null(), 0, graph));
    fails!(hipErrorNotSupported, hipGraphDestroyNode(free));
    fails!(hipErrorNotSupported, hipGraphDestroyNode(alloc));
    fails!(hipErrorNotSupported, hipGraphRemoveDependencies(graph, &alloc, &free, 1));
    let exec = instantiate(graph, 0);
    fails!(hipErrorNotSupported, hipGraphInstantiateWithFlags(&mut second, graph, 0));
    for (node, kind) in [(alloc, hipGraphNodeTypeMemAlloc), (free, hipGraphNodeTypeMemFree)] {
        // SAFETY: all fields are plain data, for which zeros are values.
        let mut params: hipGraphNodeParams = unsafe { std::mem::zeroed() };
        params.r#type = kind;
        fails!(hipErrorNotSupported, hipGraphNodeSetParams(node, &mut params));
        fails!(hipErrorNotSupported, hipGraphExecNodeSetParams(exec, node, &mut params));
    }
    ok!(hipGraphLaunch(exec, stream), hipGraphLaunch(exec, stream), hipGraphExecDestroy(exec));
    let exec = instantiate(graph, 0);
    ok!(hipGraphLaunch(exec, stream), hipGraphExecDestroy(exec), hipStreamSynchronize(stream));
    ok!(hipGraphDestroy(graph), hipGraphDestroy(parent), hipStreamDestroy(stream));
}

#[test]
fn an_unfreed_allocation_stops_the_next_launch_unless_it_is_freed_automatically() {
    let (graph, frees, stream) = (new_graph(), new_graph(), new_stream());
    let (_, address) = allocate(graph, 4096);
    let exec = instantiate(graph, 0);
    fails!(hipErrorInvalidValue, hipFree(address));
    fails!(hipErrorInvalidValue, hipFreeAsync(address, stream));
    ok!(hipGraphLaunch(exec, stream));
    fails!(hipErrorInvalidValue, hipGraphLaunch(exec, stream));
    ok!(hipFreeAsync(address, stream), hipGraphLaunch(exec, stream), hipFree(address));
    add_free(frees, &[], address);
    let freeing = instantiate(frees, 0);
    fails!(hipErrorInvalidValue, hipGraphLaunch(freeing, stream));
    ok!(hipGraphLaunch(exec, stream), hipGraphLaunch(freeing, stream), hipGraphLaunch(exec, stream));
    ok!(hipGraphExecDestroy(exec));
    fails!(hipErrorInvalidValue, hipGraphLaunch(instantiate(graph, 0), stream));
    ok!(hipFree(address));
    fails!(hipErrorInvalidValue, hipFree(address));

    // As frameworks launch what they captured.
    let mut captured = hipGraph_t(0);
    let (mut kept, mut scratch) = (ptr::null_mut(), ptr::null_mut());
    ok!(
        hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal),
        hipMallocAsync(&mut kept, 4096, stream),
        hipMallocAsync(&mut scratch, 4096, stream),
        hipMemsetAsync(scratch, 1, 4096, stream),
        hipMemsetAsync(kept, 6, 4096, stream),
        hipFreeAsync(scratch, stream),
        hipStreamEndCapture(stream, &mut captured),
    );
    let exec = instantiate(captured, AUTO_FREE);
    for _ in 0..4 {
        ok!(hipGraphLaunch(exec, stream));
    }
    ok!(hipStreamSynchronize(stream), hipGraphExecDestroy(exec), hipGraphDestroy(captured));
    let mut bytes = [0u8; 8];
    ok!(hipMemcpy(bytes.as_mut_ptr().cast(), kept, 8, hipMemcpyDeviceToHost), hipFree(kept));
    assert_eq!(bytes, [6; 8], "it outlives graph and executable");
    fails!(hipErrorInvalidValue, hipFree(scratch));
    ok!(hipStreamDestroy(stream));
}

#[test]
fn what_was_allocated_before_a_capture_is_not_freed_in_it() {
    let (stream, mut address, mut graph) = (new_stream(), ptr::null_mut(), hipGraph_t(0));
    ok!(hipMallocAsync(&mut address, 64, stream));
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    fails!(hipErrorInvalidValue, hipFreeAsync(address, stream));
    fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut graph));
    ok!(hipFreeAsync(address, stream), hipStreamSynchronize(stream), hipStreamDestroy(stream));
}

// proves: hipDeviceGetGraphMemAttribute, hipDeviceSetGraphMemAttribute, hipDeviceGraphMemTrim
#[test]
fn attributes_say_what_graphs_hold() {
    let (n, stream) = (N as u64, new_stream());
    assert_eq!(footprint(), [0; 4]);
    let (graph, inside) = (new_graph(), new_graph());
    let (_, address) = allocate(graph, N);
    let (alloc, own) = allocate(inside, N);
    let mut fill = hipGraphNode_t::NULL;
    let set = hipMemsetParams { dst: own, elementSize: 1, height: 1, pitch: N, value: 3, width: 64 };
    ok!(hipGraphAddMemsetNode(&mut fill, inside, &alloc, 1, &set));
    add_free(inside, &[fill], own);
    let execs = [instantiate(graph, 0), instantiate(inside, 0)];
    assert_eq!(footprint(), [0; 4], "before the first launch");
    ok!(hipGraphLaunch(execs[0], stream), hipStreamSynchronize(stream));
    assert_eq!(footprint(), [n; 4]);
    ok!(hipGraphLaunch(execs[1], stream), hipStreamSynchronize(stream));
    assert_eq!(footprint(), [n, 2 * n, n, 2 * n], "one is not freed");
    ok!(hipDeviceGraphMemTrim(0));
    assert_eq!(footprint(), [n, 2 * n, n, 2 * n]);
    ok!(hipFree(address), hipGraphExecDestroy(execs[0]), hipDeviceGraphMemTrim(0));
    assert_eq!(footprint(), [0, 2 * n, 0, 2 * n]);
    ok!(hipGraphLaunch(execs[1], stream), hipStreamSynchronize(stream));
    let reset = |attribute, mut value: u64| {
        // SAFETY: 64 bits to read.
        unsafe { hipDeviceSetGraphMemAttribute(0, attribute, (&raw mut value).cast()) }
    };
    assert_eq!(footprint(), [0, 2 * n, 0, 2 * n], "it frees what it allocates");
    ok!(reset(hipGraphMemAttrUsedMemHigh, 0));
    assert_eq!(footprint(), [0, 0, 0, 2 * n]);
    ok!(reset(hipGraphMemAttrReservedMemHigh, 0));
    assert_eq!(footprint(), [0; 4]);
    for _ in 0..3 {
        ok!(hipGraphLaunch(execs[1], stream), hipStreamSynchronize(stream));
        assert_eq!(footprint(), [0, n, 0, n], "the next launches count as the first did");
    }
    ok!(hipGraphExecDestroy(execs[1]));
    assert_eq!(footprint(), [0, n, 0, n]);

    let mut value = 0u64;
    let out = (&raw mut value).cast::<c_void>();
    for device in [-1, -3, 99, c_int::MAX] {
        fails!(hipErrorInvalidDevice, hipDeviceGetGraphMemAttribute(device, hipGraphMemAttrUsedMemHigh, out));
        fails!(hipErrorInvalidDevice, hipDeviceSetGraphMemAttribute(device, hipGraphMemAttrUsedMemHigh, out));
        fails!(hipErrorInvalidDevice, hipDeviceGraphMemTrim(device));
    }
    for unknown in [4, 7, 99].map(hipGraphMemAttributeType) {
        fails!(hipErrorInvalidValue, hipDeviceGetGraphMemAttribute(0, unknown, out));
        fails!(hipErrorInvalidValue, reset(unknown, 0));
    }
    for high in [hipGraphMemAttrUsedMemHigh, hipGraphMemAttrReservedMemHigh] {
        fails!(hipErrorInvalidValue, hipDeviceGetGraphMemAttribute(0, high, ptr::null_mut()));
        fails!(hipErrorInvalidValue, hipDeviceSetGraphMemAttribute(0, high, ptr::null_mut()));
        fails!(hipErrorInvalidValue, reset(high, 1));
    }
    let nothing = ptr::without_provenance_mut::<c_void>(usize::MAX);
    for current in [hipGraphMemAttrUsedMemCurrent, hipGraphMemAttrReservedMemCurrent] {
        fails!(hipErrorInvalidValue, reset(current, 0));
        fails!(hipErrorInvalidValue, hipDeviceSetGraphMemAttribute(0, current, nothing));
    }
    ok!(hipGraphDestroy(graph), hipGraphDestroy(inside), hipStreamDestroy(stream));
}

unsafe extern "C" {
    fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t;
}

fn free_bytes() -> u64 {
    let (mut free, mut total) = (0, 0);
    ok!(hipMemGetInfo(&mut free, &mut total));
    free as u64
}

/// A graph that allocates, fills the first bytes of and frees `bytes` bytes.
fn scratch(bytes: usize) -> hipGraph_t {
    let (graph, mut fill) = (new_graph(), hipGraphNode_t::NULL);
    let (alloc, address) = allocate(graph, bytes);
    let set = hipMemsetParams { dst: address, elementSize: 1, height: 1, pitch: 64, value: 3, width: 64 };
    ok!(hipGraphAddMemsetNode(&mut fill, graph, &alloc, 1, &set));
    add_free(graph, &[fill], address);
    graph
}

// proves: hipDeviceGetGraphMemAttribute, hipDeviceGraphMemTrim, hipGraphInstantiateWithFlags, hipMemGetInfo
#[test]
fn graphs_in_a_row_take_as_much_memory_as_the_largest() {
    const SIZES: [u64; 3] = [1 << 30, 512 << 20, 128 << 20];
    if !aqlipse::Device::get(0).unwrap().shares_graph_memory() {
        return;
    }
    let (stream, small) = (new_stream(), scratch(4096));
    // What the device makes for its first launch is there afterwards.
    let exec = instantiate(small, 0);
    ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream), hipGraphExecDestroy(exec));
    let reset = |attribute| {
        let mut zero = 0u64;
        // SAFETY: 64 bits to read.
        unsafe { hipDeviceSetGraphMemAttribute(0, attribute, (&raw mut zero).cast()) }
    };
    ok!(reset(hipGraphMemAttrUsedMemHigh), reset(hipGraphMemAttrReservedMemHigh));
    for sizes in [[SIZES[0]; 3], SIZES] {
        let (before, n) = (free_bytes(), SIZES[0]);
        let graphs = sizes.map(|bytes| scratch(bytes as usize));
        assert!(before - free_bytes() < n, "nodes have addresses only");
        let execs = graphs.map(|graph| instantiate(graph, 0));
        let taken = before - free_bytes();
        assert!((n..n + n / 8).contains(&taken), "{taken}");
        for _ in 0..3 {
            for exec in execs {
                ok!(hipGraphLaunch(exec, stream));
            }
            ok!(hipStreamSynchronize(stream));
            assert_eq!(footprint(), [0, n, 0, n]);
        }
        ok!(hipDeviceGraphMemTrim(0));
        assert_eq!(footprint(), [0, n, 0, n]);
        assert!(before - free_bytes() < n / 8, "a trim gives it back");
        ok!(hipGraphLaunch(execs[2], stream), hipStreamSynchronize(stream));
        assert_eq!(footprint(), [0, n, 0, n]);
        for (exec, graph) in execs.into_iter().zip(graphs) {
            ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
        }
        assert_eq!(footprint(), [0, n, 0, n]);
    }
    ok!(hipGraphDestroy(small), hipStreamDestroy(stream));
}

/// Two branches, each of which allocates, fills again and again, and frees.
fn two_branches(bytes: usize) -> hipGraph_t {
    let (streams, mut graph) = ([new_stream(), new_stream()], hipGraph_t::NULL);
    let mut events = [hipEvent_t::NULL; 2];
    events.iter_mut().for_each(|event| ok!(hipEventCreate(event)));
    ok!(
        hipStreamBeginCapture(streams[0], hipStreamCaptureModeGlobal),
        hipEventRecord(events[0], streams[0]),
        hipStreamWaitEvent(streams[1], events[0], 0),
    );
    for stream in streams {
        let mut address = ptr::null_mut();
        ok!(hipMallocAsync(&mut address, bytes, stream));
        (0..16).for_each(|value| ok!(hipMemsetAsync(address, value, 64, stream)));
        ok!(hipFreeAsync(address, stream));
    }
    ok!(
        hipEventRecord(events[1], streams[1]),
        hipStreamWaitEvent(streams[0], events[1], 0),
        hipStreamEndCapture(streams[0], &mut graph),
    );
    events.into_iter().for_each(|event| ok!(hipEventDestroy(event)));
    streams.into_iter().for_each(|stream| ok!(hipStreamDestroy(stream)));
    graph
}

#[test]
fn the_environment_says_what_plans_with_memory_should_be_good_at() {
    const TEST: &str = "graph_memory::the_environment_says_what_plans_with_memory_should_be_good_at";
    const BYTES: usize = 4 << 20;
    let one = BYTES.to_string();
    let two = (2 * BYTES).to_string();
    // A goal, and the bytes that the graph takes then; none if it cannot be instantiated.
    let goals = [
        ("smallest", Some(BYTES), "smallest"),
        ("fastest", Some(2 * BYTES), "fastest"),
        (&*one, Some(BYTES), "limit"),
        (&*two, Some(2 * BYTES), "two"),
        ("8M", Some(2 * BYTES), "suffix"),
        ("4095K", None, "too little"),
        ("tiny", None, "nonsense"),
    ];
    let Some(role) = role() else {
        for (goal, _, role) in goals {
            assert!(ends(again(TEST, role).env("AQLIPSE_MEMORY", goal).spawn().unwrap()).success(), "{goal}");
        }
        return;
    };
    let (_, expected, _) = goals.into_iter().find(|goal| goal.2 == role).unwrap();
    let (graph, mut exec) = (two_branches(BYTES), hipGraphExec_t::NULL);
    // SAFETY: a pointer of ours, and a graph.
    let code = unsafe { hipGraphInstantiateWithFlags(&mut exec, graph, 0) };
    match expected {
        None => assert_ne!(code, capi::error::hipSuccess),
        Some(bytes) => {
            assert_eq!(code, capi::error::hipSuccess);
            let stream = new_stream();
            ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
            // Where memory cannot be mapped, each allocation has its own.
            if aqlipse::Device::get(0).unwrap().shares_graph_memory() {
                let [_, _, _, reserved] = footprint();
                assert_eq!(reserved, bytes as u64);
            }
            ok!(hipStreamDestroy(stream), hipGraphExecDestroy(exec));
        }
    }
    ok!(hipGraphDestroy(graph));
}
