//! Graphs of all kinds.

use std::{
    ffi::c_uint,
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

use super::{
    memory::{Words, stream},
    streams::{count, write_threes},
    *,
};
use crate::program::BLOCK;
use capi::error::{hipErrorStreamCaptureInvalidated, hipErrorStreamCaptureUnjoined};

const AUTO_FREE: u64 = 1;
const DEVICE_LAUNCH: u64 = 4;

unsafe extern "C" {
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    fn hipLaunchHostFunc(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipMemcpyAsync(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy2DAsync(
        dst: *mut c_void,
        dst_pitch: usize,
        src: *const c_void,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMallocAsync(address: *mut *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipFreeAsync(address: *mut c_void, stream: hipStream_t) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t;
    fn hipGraphClone(clone: *mut hipGraph_t, original: hipGraph_t) -> hipError_t;
    pub fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphUpload(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    pub fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    pub fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphExecUpdate(
        exec: hipGraphExec_t,
        graph: hipGraph_t,
        error_node: *mut hipGraphNode_t,
        result: *mut hipGraphExecUpdateResult,
    ) -> hipError_t;
    fn hipGraphExecMemsetNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipMemsetParams,
    ) -> hipError_t;
    fn hipGraphAddMemsetNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemsetParams,
    ) -> hipError_t;
    fn hipGraphAddHostNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipHostNodeParams,
    ) -> hipError_t;
    fn hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize) -> hipError_t;
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
    fn hipGraphAddChildGraphNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        child: hipGraph_t,
    ) -> hipError_t;
    fn hipGraphConditionalHandleCreate(
        handle: *mut hipGraphConditionalHandle,
        graph: hipGraph_t,
        default_value: u32,
        flags: u32,
    ) -> hipError_t;
    fn hipGraphAddConditionalNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        handle: hipGraphConditionalHandle,
        kind: hipGraphConditionalNodeType,
        body_count: u32,
        bodies: *mut hipGraph_t,
    ) -> hipError_t;
    fn hipUserObjectCreate(
        object: *mut hipUserObject_t,
        data: *mut c_void,
        destroy: hipHostFn_t,
        references: c_uint,
        flags: c_uint,
    ) -> hipError_t;
    fn mmap(
        wanted: *mut c_void,
        bytes: usize,
        protection: c_int,
        flags: c_int,
        descriptor: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn mprotect(address: *mut c_void, bytes: usize, protection: c_int) -> c_int;
    fn hipUserObjectRelease(object: hipUserObject_t, count: c_uint) -> hipError_t;
    fn hipGraphRetainUserObject(
        graph: hipGraph_t,
        object: hipUserObject_t,
        count: c_uint,
        flags: c_uint,
    ) -> hipError_t;
}

/// A graph of what `work` does with a capturing stream. A call that fails there, which `work` says, spoils the capture:
/// the graph would lack it. Then the capture is made again.
pub fn captured(mut work: impl FnMut(hipStream_t) -> Result<(), hipError_t>) -> hipGraph_t {
    let (stream, mut graph) = (stream(), hipGraph_t::NULL);
    tried!(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    if let Err(code) = work(stream) {
        assert!(code == hipErrorOutOfMemory && fault_injection::refused() > 0, "{code:?}");
        fault_injection::refuse(Refusals::None);
        // SAFETY: the stream captures.
        match unsafe { hipStreamEndCapture(stream, &mut graph) } {
            // A kernel that could not be loaded was refused before it had to do with the capture.
            hipSuccess => tried!(hipGraphDestroy(graph)),
            // Spoilt, or what ran into it had not joined the others yet.
            code => assert!(
                matches!(code, hipErrorStreamCaptureInvalidated | hipErrorStreamCaptureUnjoined),
                "{code:?}"
            ),
        }
        tried!(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
        work(stream).expect("there is memory");
    }
    tried!(hipStreamEndCapture(stream, &mut graph), hipStreamDestroy(stream));
    graph
}

/// Calls exported functions one after the other until one fails.
macro_rules! each {
    ($($call:expr),+ $(,)?) => { $({
        #[allow(unused_unsafe, reason = "some calls are wrapped in closures")]
        // SAFETY: each scenario passes what the function documents.
        let code = unsafe { $call };
        if code != hipSuccess {
            return Err(code);
        }
    })+ };
}

pub fn instantiated(graph: hipGraph_t, flags: u64) -> hipGraphExec_t {
    let mut exec = hipGraphExec_t::NULL;
    tried!(hipGraphInstantiateWithFlags(&mut exec, graph, flags));
    exec
}

/// Launches so often back to back on a stream that never had work, waits, and destroys stream and executable.
pub fn run(exec: hipGraphExec_t, times: usize) {
    let stream = stream();
    (0..times).for_each(|_| tried!(hipGraphLaunch(exec, stream)));
    // Whatever a launch lacks it says at once.
    ok!(hipStreamSynchronize(stream));
    tried!(hipGraphExecDestroy(exec), hipStreamDestroy(stream));
}

fn fill(memory: &Words, value: u32) -> hipMemsetParams {
    hipMemsetParams { dst: memory.address, elementSize: 4, height: 1, pitch: 0, value, width: 100 }
}

fn filling(memory: &Words, value: u32) -> hipGraph_t {
    let (mut graph, mut node) = (hipGraph_t::NULL, hipGraphNode_t::NULL);
    tried!(hipGraphCreate(&mut graph, 0));
    tried!(hipGraphAddMemsetNode(&mut node, graph, ptr::null(), 0, &fill(memory, value)));
    graph
}

pub fn one_queue() {
    let (from, to) = (Words::new(BLOCK as usize, 0), Words::new(BLOCK as usize, 0));
    let graph = captured(|stream| {
        each!(hipMemsetAsync(from.address, 9, 4096, stream));
        each!(write_threes(&from, stream, false));
        each!(hipMemcpyAsync(to.address, from.address, 4096, hipMemcpyDeviceToDevice, stream));
        Ok(())
    });
    run(instantiated(graph, 0), 3);
    to.all(3);
    tried!(hipGraphDestroy(graph));
}

/// A graph that forks and joins: a graph of several queues. Each branch fills one block of the memory with threes; one of
/// them calls the host, if a counter is given.
fn forking(memory: &[Words], counter: Option<&AtomicU32>) -> hipGraph_t {
    let mut side = vec![hipStream_t::NULL; memory.len()];
    let mut events = vec![hipEvent_t::NULL; memory.len() + 1];
    side.iter_mut().for_each(|side| tried!(hipStreamCreate(side)));
    events.iter_mut().for_each(|event| tried!(hipEventCreate(event)));
    let graph = captured(|stream| {
        each!(hipEventRecord(events[memory.len()], stream));
        for (n, memory) in memory.iter().enumerate() {
            each!(hipStreamWaitEvent(side[n], events[events.len() - 1], 0));
            for round in 0..3 + n as c_int {
                each!(hipMemsetAsync(memory.address, round, 4096, side[n]));
                each!(write_threes(memory, side[n], false));
            }
            if let (1, Some(counter)) = (n, counter) {
                each!(hipLaunchHostFunc(side[n], Some(count), ptr::from_ref(counter).cast_mut().cast()));
            }
            each!(hipEventRecord(events[n], side[n]), hipStreamWaitEvent(stream, events[n], 0));
        }
        Ok(())
    });
    side.into_iter().for_each(|side| tried!(hipStreamDestroy(side)));
    events.into_iter().for_each(|event| tried!(hipEventDestroy(event)));
    graph
}

fn blocks() -> Vec<Words> {
    (0..4).map(|_| Words::new(BLOCK as usize, 0)).collect()
}

pub fn several_queues() {
    let (memory, counter) = (blocks(), AtomicU32::new(0));
    let graph = forking(&memory, Some(&counter));
    run(instantiated(graph, 0), 3);
    memory.iter().for_each(|memory| memory.all(3));
    assert_eq!(counter.load(Ordering::SeqCst), 3);
    tried!(hipGraphDestroy(graph));
}

pub fn updates() {
    let (memory, mut node) = (Words::new(100, 0), hipGraphNode_t::NULL);
    let (mut graph, mut other, stream) = (hipGraph_t::NULL, hipGraph_t::NULL, stream());
    let (mut at, mut result) = (hipGraphNode_t::NULL, hipGraphExecUpdateSuccess);
    tried!(
        hipGraphCreate(&mut graph, 0),
        hipGraphAddMemsetNode(&mut node, graph, ptr::null(), 0, &fill(&memory, 1)),
    );
    let exec = instantiated(graph, 0);
    for value in 2..5 {
        // While a launch is in flight, and once it is over.
        tried!(
            hipGraphLaunch(exec, stream),
            hipGraphExecMemsetNodeSetParams(exec, node, &fill(&memory, value)),
            hipGraphLaunch(exec, stream),
            hipStreamSynchronize(stream),
        );
        memory.all(value);
    }
    tried!(hipGraphClone(&mut other, graph), hipGraphLaunch(exec, stream));
    tried!(
        hipGraphExecUpdate(exec, other, &mut at, &mut result),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    memory.all(1);
    tried!(
        hipGraphDestroy(graph),
        hipGraphDestroy(other),
        hipGraphExecDestroy(exec),
        hipStreamDestroy(stream),
    );
}

/// Copies of host memory there and back, of rows as well, and a call of the host.
fn with_the_host(
    stream: hipStream_t,
    memory: &Words,
    from: &[u32],
    to: &mut [u32],
    counter: &AtomicU32,
) -> Result<(), hipError_t> {
    const ROW: usize = 1000;
    // The rows lie side by side on the device, and apart on the host.
    let (rows, pitch) = (from.len() * 4 / PITCH, PITCH);
    let data = ptr::from_ref(counter).cast_mut().cast();
    let (from, to) = (from.as_ptr().cast::<c_void>(), to.as_mut_ptr().cast());
    each!(
        hipMemcpyAsync(memory.address, from, rows * pitch, hipMemcpyHostToDevice, stream),
        hipMemsetAsync(memory.address, 0, rows * ROW, stream),
        hipMemcpy2DAsync(memory.address, ROW, from, pitch, ROW, rows, hipMemcpyHostToDevice, stream),
        hipLaunchHostFunc(stream, Some(count), data),
        hipMemcpy2DAsync(to, pitch, memory.address, ROW, ROW, rows, hipMemcpyDeviceToHost, stream),
    );
    let rest = rows * ROW;
    each!(hipMemcpyAsync(
        to.wrapping_byte_add(rows * pitch),
        memory.address.wrapping_byte_add(rest),
        rows * pitch - rest,
        hipMemcpyDeviceToHost,
        stream
    ));
    Ok(())
}

/// Bytes from one row on the host to the next.
const PITCH: usize = 1 << 12;

pub fn host_work() {
    const COUNT: usize = 1 << 16;
    let (memory, counter) = (Words::new(COUNT, 0), AtomicU32::new(0));
    let from: Vec<u32> = (0..COUNT as u32).collect();
    let mut to = vec![0; 2 * COUNT];
    let graph = captured(|stream| with_the_host(stream, &memory, &from, &mut to, &counter));
    run(instantiated(graph, 0), 2);
    for (back, there) in to.chunks(PITCH / 4).zip(from.chunks(PITCH / 4)) {
        assert!(back[..250] == there[..250] && back[250..].iter().all(|&word| word == 0));
    }
    let rest = COUNT - COUNT * 4 / PITCH * 250;
    assert!(to[COUNT..][..rest] == from[COUNT - rest..]);
    assert_eq!(counter.load(Ordering::SeqCst), 2);
    tried!(hipGraphDestroy(graph));
}

/// Copies of pages that can be neither pinned nor staged are done all the same, and a launch that begins does not fail.
pub fn copies_without_memory() {
    // More than a slab of staging memory.
    const COUNT: usize = 5 << 18;
    let (memory, counter) = (Words::new(COUNT, 0), AtomicU32::new(0));
    let from: Vec<u32> = (0..COUNT as u32).collect();
    let mut to = vec![0; 2 * COUNT];
    let graph = captured(|stream| with_the_host(stream, &memory, &from, &mut to, &counter));
    let (exec, stream, mut launched) = (instantiated(graph, 0), stream(), 0);
    ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    let right = to.clone();
    for n in 1.. {
        to.fill(0);
        ok!(hipMemset(memory.address, 0, COUNT * 4));
        fault_injection::refuse(Refusals::From(n));
        // SAFETY: both are alive.
        let code = unsafe { hipGraphLaunch(exec, stream) };
        if code == hipSuccess {
            ok!(hipStreamSynchronize(stream));
            launched += 1;
            assert!(to == right, "{n}");
        }
        let was_refused = fault_injection::refused() > 0;
        fault_injection::refuse(Refusals::None);
        assert!(matches!(code, hipSuccess | hipErrorOutOfMemory), "{n}: {code:?}");
        if !was_refused {
            break;
        }
    }
    assert!(launched > 1, "no launch went without memory");
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
    // What may only be read takes no copy, and what may not even be read gives none: also where there is memory to stage it.
    refuses_pages(&memory, hipMemcpyDeviceToHost, 1, Refusals::From(1));
    refuses_pages(&memory, hipMemcpyHostToDevice, 0, Refusals::From(1));
    refuses_pages(&memory, hipMemcpyHostToDevice, 0, Refusals::One(1));
}

/// Nor does the want of memory make a crash of what is an error otherwise: a copy of pages with this protection.
fn refuses_pages(memory: &Words, kind: hipMemcpyKind, protection: c_int, refusals: Refusals) {
    const PAGE: usize = 4096;
    // SAFETY: fresh pages (2: MAP_PRIVATE, 32: MAP_ANONYMOUS) that may be read (1).
    let pages = unsafe { mmap(ptr::null_mut(), PAGE, 1, 2 | 32, -1, 0) };
    let [to, from] = if protection == 0 { [memory.address, pages] } else { [pages, memory.address] };
    let graph = captured(|stream| {
        each!(hipMemcpyAsync(to, from, PAGE, kind, stream));
        Ok(())
    });
    let (exec, stream) = (instantiated(graph, 0), stream());
    let may_be_written = |is: bool| {
        // SAFETY: pages of ours (2: PROT_WRITE).
        assert_eq!(unsafe { mprotect(pages, PAGE, if is { 1 | 2 } else { protection }) }, 0);
    };
    // What a launch takes waits to be used again.
    may_be_written(true);
    ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    may_be_written(false);
    fault_injection::refuse(refusals);
    // SAFETY: both are alive.
    let refused = unsafe { [hipGraphLaunch(exec, stream), hipStreamSynchronize(stream)] };
    assert_eq!(refused[0], hipSuccess);
    assert!(!matches!(refused[1], hipSuccess | hipErrorOutOfMemory), "{:?}", refused[1]);
    fault_injection::refuse(Refusals::None);
    may_be_written(true);
    ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}

/// What launches have left is there though a launch that has it anew fails for want of memory.
pub fn refused_launches() {
    let (mut left, counter) = (ptr::null_mut(), AtomicU32::new(0));
    let data = ptr::from_ref(&counter).cast_mut().cast();
    let graph = captured(|stream| {
        each!(hipMallocAsync(&mut left, 4000, stream), hipMemsetAsync(left, 4, 4000, stream));
        // On a thread that each stream has of its own.
        each!(hipLaunchHostFunc(stream, Some(count), data));
        Ok(())
    });
    let (exec, first, mut failed) = (instantiated(graph, AUTO_FREE), stream(), 0);
    for n in 1.. {
        let (other, mut value) = (stream(), 0u32);
        ok!(hipGraphLaunch(exec, first), hipStreamSynchronize(first));
        fault_injection::refuse(Refusals::One(n));
        // SAFETY: both are alive.
        let code = unsafe { hipGraphLaunch(exec, other) };
        let was_refused = fault_injection::refused() > 0;
        fault_injection::refuse(Refusals::None);
        match code {
            hipSuccess => ok!(hipStreamSynchronize(other)),
            hipErrorOutOfMemory => failed += 1,
            _ => panic!("{n}: {}", code.name().to_string_lossy()),
        }
        ok!(
            hipMemcpyAsync((&raw mut value).cast(), left, 4, hipMemcpyDeviceToHost, first),
            hipFreeAsync(left, first),
            hipStreamSynchronize(first),
            hipStreamDestroy(other),
        );
        assert_eq!(value, 0x0404_0404, "{n}");
        // Nor has a launch that fails left anything.
        let third = stream();
        fault_injection::refuse(Refusals::From(1));
        // SAFETY: as above.
        let code = unsafe { hipGraphLaunch(exec, third) };
        fault_injection::refuse(Refusals::None);
        if code == hipErrorOutOfMemory {
            fails!(hipErrorInvalidValue, hipFreeAsync(left, first));
        } else {
            ok!(hipStreamSynchronize(third), hipFreeAsync(left, first), hipStreamSynchronize(first));
        }
        ok!(hipStreamDestroy(third));
        if !was_refused {
            break;
        }
    }
    assert!(failed > 0, "nothing that was refused made the launch fail");
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(first));
}

pub fn memory_nodes() {
    let memory = Words::new(100, 0);
    let graph = captured(|stream| {
        let (mut one, mut two) = (ptr::null_mut(), ptr::null_mut());
        each!(
            hipMallocAsync(&mut one, 4000, stream),
            hipMemsetAsync(one, 4, 4000, stream),
            hipMallocAsync(&mut two, 4000, stream),
            hipMemcpyAsync(two, one, 4000, hipMemcpyDeviceToDevice, stream),
            hipFreeAsync(one, stream),
            hipMallocAsync(&mut one, 2000, stream),
            hipMemsetAsync(one, 1, 2000, stream),
            hipMemcpyAsync(memory.address, two, 400, hipMemcpyDeviceToDevice, stream),
            hipFreeAsync(one, stream),
            hipFreeAsync(two, stream),
        );
        Ok(())
    });
    run(instantiated(graph, 0), 2);
    memory.all(0x0404_0404);
    tried!(hipGraphDestroy(graph));
}

pub fn left_memory() {
    let mut left = ptr::null_mut();
    let graph = captured(|stream| {
        each!(hipMallocAsync(&mut left, 4000, stream), hipMemsetAsync(left, 4, 4000, stream));
        Ok(())
    });
    let (exec, stream, mut value) = (instantiated(graph, AUTO_FREE), stream(), 0u32);
    for _ in 0..2 {
        tried!(hipGraphLaunch(exec, stream));
    }
    tried!(
        hipMemcpyAsync((&raw mut value).cast(), left, 4, hipMemcpyDeviceToHost, stream),
        hipFreeAsync(left, stream),
        hipStreamSynchronize(stream),
    );
    assert_eq!(value, 0x0404_0404);
    tried!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}

pub fn children() {
    let (memory, mut node) = (Words::new(100, 0), hipGraphNode_t::NULL);
    let (child, mut graph) = (filling(&memory, 6), hipGraph_t::NULL);
    tried!(
        hipGraphCreate(&mut graph, 0),
        hipGraphAddChildGraphNode(&mut node, graph, ptr::null(), 0, child),
        hipGraphDestroy(child),
    );
    run(instantiated(graph, 0), 2);
    memory.all(6);
    tried!(hipGraphDestroy(graph));
}

/// A graph with an if that runs a fill, and perhaps what the host does: a call, and a copy of its memory.
fn conditional(on_host: Option<&AtomicU32>) {
    let (memory, mut node, mut graph) = (Words::new(100, 0), hipGraphNode_t::NULL, hipGraph_t::NULL);
    // SAFETY: integers.
    let mut handle: hipGraphConditionalHandle = unsafe { std::mem::zeroed() };
    let mut bodies = [filling(&memory, 8)];
    let mut copied = vec![0u32; 100];
    if let Some(counter) = on_host {
        let data = ptr::from_ref(counter).cast_mut().cast();
        let params = hipHostNodeParams { r#fn: Some(count), userData: data };
        tried!(hipGraphAddHostNode(&mut node, bodies[0], ptr::null(), 0, &params));
        let to = copied.as_mut_ptr().cast();
        let (from, back) = (memory.address, hipMemcpyDeviceToHost);
        let fill = first(bodies[0]);
        tried!(hipGraphAddMemcpyNode1D(&mut node, bodies[0], &fill, 1, to, from, 400, back));
    }
    tried!(
        hipGraphCreate(&mut graph, 0),
        hipGraphConditionalHandleCreate(&mut handle, graph, 1, 1),
        hipGraphAddConditionalNode(
            &mut node,
            graph,
            ptr::null(),
            0,
            handle,
            hipGraphCondTypeIf,
            1,
            bodies.as_mut_ptr(),
        ),
        hipGraphDestroy(bodies[0]),
    );
    run(instantiated(graph, 0), 2);
    memory.all(8);
    assert_eq!(copied, [if on_host.is_some() { 8 } else { 0 }; 100]);
    tried!(hipGraphDestroy(graph));
}

/// The node of a graph that was added first.
fn first(graph: hipGraph_t) -> hipGraphNode_t {
    let (mut node, mut count) = (hipGraphNode_t::NULL, 1);
    tried!(hipGraphGetNodes(graph, &mut node, &mut count));
    node
}

pub fn conditionals() {
    conditional(None);
}

pub fn conditionals_on_host() {
    let counter = AtomicU32::new(0);
    conditional(Some(&counter));
    assert_eq!(counter.load(Ordering::SeqCst), 2);
}

pub fn resident() {
    let (memory, stream) = (Words::new(100, 0), stream());
    let graph = captured(|stream| {
        each!(hipMemsetAsync(memory.address, 9, 400, stream));
        Ok(())
    });
    let exec = instantiated(graph, DEVICE_LAUNCH);
    tried!(
        hipGraphUpload(exec, stream),
        hipGraphLaunch(exec, stream),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    memory.all(0x0909_0909);
    tried!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}

pub fn resident_on_several_queues() {
    let memory = blocks();
    let graph = forking(&memory, None);
    run(instantiated(graph, DEVICE_LAUNCH), 3);
    memory.iter().for_each(|memory| memory.all(3));
    tried!(hipGraphDestroy(graph));
}

pub fn cooperative() {
    let memory = Words::new(BLOCK as usize, 0);
    let graph = captured(|stream| {
        each!(write_threes(&memory, stream, true));
        each!(write_threes(&memory, stream, false));
        Ok(())
    });
    run(instantiated(graph, 0), 2);
    memory.all(3);
    tried!(hipGraphDestroy(graph));
}

pub fn user_objects() {
    static DESTROYED: AtomicU32 = AtomicU32::new(0);
    let memory = Words::new(100, 0);
    let before = DESTROYED.load(Ordering::SeqCst);
    let (graph, mut object) = (filling(&memory, 2), hipUserObject_t::NULL);
    let data = (&raw const DESTROYED).cast_mut().cast();
    tried!(
        hipUserObjectCreate(&mut object, data, Some(count), 1, 1),
        hipGraphRetainUserObject(graph, object, 1, 0),
        hipUserObjectRelease(object, 1),
    );
    let exec = instantiated(graph, 0);
    tried!(hipGraphDestroy(graph));
    run(exec, 2);
    memory.all(2);
    // Destructors run on a thread of their own.
    for _ in 0..LONG.as_millis() {
        if DESTROYED.load(Ordering::SeqCst) != before {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(DESTROYED.load(Ordering::SeqCst), before + 1);
}
