//! What graph templates and their executables can do beside running: hold objects, be printed, leave nodes out, tell
//! their flags and why they were refused.

use std::{
    ffi::{CString, c_char},
    ptr::{null, null_mut},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, TryRecvError, channel},
    },
};

use capi::{error::*, types::*};

use super::*;
use crate::{
    functions::*,
    program::{BLOCK, doubles, line},
};

unsafe extern "C" {
    fn hipDevicePrimaryCtxRetain(context: *mut hipCtx_t, device: c_int) -> hipError_t;
    fn hipDevicePrimaryCtxRelease(device: c_int) -> hipError_t;
    fn hipStreamCreateWithPriority(stream: *mut hipStream_t, flags: u32, priority: c_int) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    fn hipEventSynchronize(event: hipEvent_t) -> hipError_t;
    fn hipDeviceSynchronize() -> hipError_t;
    fn hipStreamQuery(stream: hipStream_t) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipLaunchKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        shared: usize,
        stream: hipStream_t,
    ) -> hipError_t;
}

fn fill(dst: *mut c_void, value: u32) -> hipMemsetParams {
    hipMemsetParams { dst, elementSize: 4, height: 1, pitch: 16, value, width: 4 }
}

fn add_fill(graph: hipGraph_t, after: &[hipGraphNode_t], params: &hipMemsetParams) -> hipGraphNode_t {
    let mut node = hipGraphNode_t::NULL;
    ok!(hipGraphAddMemsetNode(&mut node, graph, after.as_ptr(), after.len(), params));
    node
}

fn instantiate(graph: hipGraph_t, flags: u64) -> hipGraphExec_t {
    let mut exec = hipGraphExec_t::NULL;
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, flags));
    exec
}

fn launch(exec: hipGraphExec_t) {
    ok!(hipGraphLaunch(exec, hipStream_t::NULL), hipStreamSynchronize(hipStream_t::NULL));
}

// proves: hipGraphNodeSetEnabled, hipGraphNodeGetEnabled
#[test]
fn a_disabled_node_is_left_out_until_it_is_enabled() {
    let (a, b) = (Memory::of(&[0u32; 4]), Memory::of(&[0u32; 4]));
    let graph = new_graph();
    let first = add_fill(graph, &[], &fill(a.pointer(), 1));
    let second = add_fill(graph, &[first], &fill(b.pointer(), 2));
    let exec = instantiate(graph, 0);
    let mut enabled = 9;
    ok!(hipGraphNodeGetEnabled(exec, first, &mut enabled));
    assert_eq!(enabled, 1, "nodes are enabled when the executable is made");
    ok!(hipGraphNodeSetEnabled(exec, first, 0), hipGraphNodeGetEnabled(exec, first, &mut enabled));
    assert_eq!(enabled, 0);
    launch(exec);
    assert_eq!((a.read()[0], b.read()[0]), (0, 2));
    // Setters work meanwhile; the node of the template is not changed.
    ok!(hipGraphExecMemsetNodeSetParams(exec, first, &fill(a.pointer(), 3)));
    let (mut node, mut result) = (hipGraphNode_t::NULL, hipGraphExecUpdateError);
    launch(exec);
    assert_eq!(a.read()[0], 0);
    ok!(hipGraphNodeSetEnabled(exec, first, 7), hipGraphNodeGetEnabled(exec, first, &mut enabled));
    assert_eq!(enabled, 1, "every number but 0 enables");
    launch(exec);
    assert_eq!(a.read()[0], 3);
    // A whole-graph update brings parameters, not this.
    ok!(hipGraphNodeSetEnabled(exec, second, 0), hipGraphExecUpdate(exec, graph, &mut node, &mut result));
    ok!(hipMemset(b.pointer(), 0, 16));
    launch(exec);
    assert_eq!((a.read()[0], b.read()[0]), (1, 0));
    let mut other = hipGraphExec_t::NULL;
    ok!(
        hipGraphInstantiateWithFlags(&mut other, graph, 0),
        hipGraphNodeGetEnabled(other, second, &mut enabled)
    );
    assert_eq!(enabled, 1, "another executable of the template is not affected");
    ok!(hipGraphDestroyNode(second));
    fails!(hipErrorInvalidValue, hipGraphNodeSetEnabled(exec, second, 1));
    ok!(hipGraphDestroy(graph));
    fails!(hipErrorInvalidValue, hipGraphNodeGetEnabled(exec, first, &mut enabled));
    ok!(hipGraphExecDestroy(exec), hipGraphExecDestroy(other));
}

unsafe extern "C" fn tell(end: *mut c_void) {
    // SAFETY: the argument is the sender that the object was made with, which nobody else frees.
    let end = unsafe { Box::from_raw(end.cast::<Sender<std::thread::ThreadId>>()) };
    end.send(std::thread::current().id()).expect("the test listens");
}

fn object(count: u32) -> (hipUserObject_t, Receiver<std::thread::ThreadId>) {
    let (sender, receiver) = channel();
    let (mut object, end) = (hipUserObject_t::NULL, Box::into_raw(Box::new(sender)));
    ok!(hipUserObjectCreate(&mut object, end.cast(), Some(tell), count, hipUserObjectNoDestructorSync.0));
    (object, receiver)
}

fn is_gone(end: &Receiver<std::thread::ThreadId>) -> bool {
    end.try_recv() == Ok(std::thread::current().id())
}

fn is_alive(end: &Receiver<std::thread::ThreadId>) -> bool {
    end.try_recv() == Err(TryRecvError::Empty)
}

// proves: hipUserObjectCreate, hipUserObjectRetain, hipUserObjectRelease, hipGraphRetainUserObject
// proves: hipGraphReleaseUserObject
#[test]
fn an_object_ends_with_its_last_reference_wherever_that_is() {
    let (graph, (kept, end)) = (new_graph(), object(2));
    ok!(
        hipUserObjectRetain(kept, 1),
        hipUserObjectRelease(kept, 2),
        hipGraphRetainUserObject(graph, kept, 2, 0),
        hipGraphReleaseUserObject(graph, kept, 1),
        hipUserObjectRelease(kept, 1),
    );
    // More than it has.
    ok!(hipUserObjectRelease(kept, 1));
    let (mut clone, outer, mut child) = (hipGraph_t::NULL, new_graph(), hipGraphNode_t::NULL);
    ok!(hipGraphClone(&mut clone, graph), hipGraphAddChildGraphNode(&mut child, outer, null(), 0, graph));
    ok!(hipGraphReleaseUserObject(graph, kept, 1), hipGraphDestroy(graph), hipGraphDestroy(clone));
    ok!(hipGraphReleaseUserObject(outer, kept, 1));
    assert!(is_alive(&end), "the copy in the child graph node has a reference of its own");
    let exec = instantiate(outer, 0);
    ok!(hipGraphDestroyNode(child), hipGraphDestroy(outer));
    launch(exec);
    assert!(is_alive(&end));
    ok!(hipGraphExecDestroy(exec));
    assert!(is_gone(&end));
    fails!(hipErrorInvalidValue, hipUserObjectRetain(kept, 1));
    let graph = new_graph();
    ok!(hipUserObjectRelease(kept, 1), hipGraphReleaseUserObject(graph, kept, 1), hipGraphDestroy(graph));
    let graph = new_graph();
    fails!(hipErrorInvalidValue, hipGraphRetainUserObject(graph, kept, 1, 0));
    ok!(hipGraphDestroy(graph));
}

unsafe extern "C" fn wait_at(gate: *mut c_void) {
    // SAFETY: the gate that the node was added with, which lives until it has been opened.
    unsafe { &*gate.cast::<std::sync::Barrier>() }.wait();
}

// proves: hipGraphExecDestroy, hipGraphRetainUserObject
#[test]
fn what_a_launch_in_flight_held_ends_inside_the_first_call_behind_it() {
    let gate = std::sync::Barrier::new(2);
    let host = hipHostNodeParams { r#fn: Some(wait_at), userData: (&raw const gate).cast_mut().cast() };
    for ending in 0..4 {
        let (graph, stream, (held, end)) = (new_graph(), new_stream(), object(1));
        let (mut node, mut event) = (hipGraphNode_t::NULL, hipEvent_t::NULL);
        ok!(
            hipGraphAddHostNode(&mut node, graph, null(), 0, &host),
            hipGraphRetainUserObject(graph, held, 1, hipGraphUserObjectMove.0),
        );
        let exec = instantiate(graph, 0);
        ok!(hipEventCreate(&mut event), hipGraphLaunch(exec, stream), hipEventRecord(event, stream));
        ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
        assert!(is_alive(&end), "the launch is in flight");
        gate.wait();
        match ending {
            0 => ok!(hipStreamSynchronize(stream)),
            1 => ok!(hipEventSynchronize(event)),
            2 => ok!(hipDeviceSynchronize()),
            // SAFETY: a handle.
            _ => while unsafe { hipStreamQuery(stream) } != hipSuccess {},
        }
        assert!(is_gone(&end), "{ending}");
        ok!(hipEventDestroy(event), hipStreamDestroy(stream));
    }
}

/// Lets what [`spin`] runs in go on.
static GO_ON: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn spin(_: *mut c_void) {
    while !GO_ON.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

unsafe extern "C" fn fail(_: *mut c_void) {
    // SAFETY: ends the process, whatever it is doing.
    unsafe { libc::_exit(3) }
}

extern "C" fn go_on_and_wait() {
    GO_ON.store(true, Ordering::Release);
    ok!(hipDeviceSynchronize());
}

#[test]
fn the_end_of_the_process_runs_no_destructor_that_was_left() {
    const NAME: &str = "template::the_end_of_the_process_runs_no_destructor_that_was_left";
    if process::role().is_none() {
        assert!(process::ends(process::again(NAME, "leaves").spawn().expect("a process")).success());
        return;
    }
    // As the destructor of an object of the program's own that was made before the first user object.
    // SAFETY: the function may be called when the process ends.
    assert_eq!(unsafe { libc::atexit(go_on_and_wait) }, 0);
    let (graph, stream) = (new_graph(), new_stream());
    let (mut node, mut held) = (hipGraphNode_t::NULL, hipUserObject_t::NULL);
    let host = hipHostNodeParams { r#fn: Some(spin), userData: null_mut() };
    ok!(
        hipUserObjectCreate(&mut held, null_mut(), Some(fail), 1, hipUserObjectNoDestructorSync.0),
        hipGraphAddHostNode(&mut node, graph, null(), 0, &host),
        hipGraphRetainUserObject(graph, held, 1, hipGraphUserObjectMove.0),
    );
    let exec = instantiate(graph, 0);
    ok!(hipGraphLaunch(exec, stream), hipGraphExecDestroy(exec), hipGraphDestroy(graph));
    std::process::exit(0);
}

#[test]
fn a_destructor_calls_the_runtime() {
    unsafe extern "C" fn release(object: *mut c_void) {
        ok!(hipUserObjectRelease(hipUserObject_t(object as usize), 1));
    }
    let (inner, end) = object(1);
    let (mut outer, graph) = (hipUserObject_t::NULL, new_graph());
    ok!(
        hipUserObjectCreate(&mut outer, inner.0 as *mut c_void, Some(release), 1, 1),
        hipGraphRetainUserObject(graph, outer, 1, hipGraphUserObjectMove.0),
        hipGraphDestroy(graph),
    );
    assert!(is_gone(&end));
}

#[test]
fn a_graph_can_be_given_the_callers_references() {
    let (graph, (moved, end)) = (new_graph(), object(1));
    ok!(hipGraphRetainUserObject(graph, moved, 1, hipGraphUserObjectMove.0));
    // The caller has none left to give up.
    ok!(hipUserObjectRelease(moved, 1));
    ok!(hipGraphRetainUserObject(graph, moved, 1, hipGraphUserObjectMove.0));
    // The graph's reference lets the caller have one again.
    ok!(hipUserObjectRetain(moved, 1), hipGraphDestroy(graph));
    assert!(is_alive(&end));
    ok!(hipUserObjectRelease(moved, 1));
    assert!(is_gone(&end));
}

// proves: hipGraphDebugDotPrint
#[test]
fn a_graph_is_written_for_graphviz_which_can_read_it() {
    let data = Memory::of(&[0f64; BLOCK as usize]);
    let (graph, inner) = (new_graph(), new_graph());
    let mut address = data.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let kernel = hipKernelNodeParams {
        blockDim: line(BLOCK),
        extra: null_mut(),
        func: doubles().cast_mut(),
        gridDim: line(1),
        kernelParams: arguments.as_mut_ptr(),
        sharedMemBytes: 0,
    };
    let [mut first, mut second, mut third] = [hipGraphNode_t::NULL; 3];
    ok!(
        hipGraphAddKernelNode(&mut third, inner, null(), 0, &kernel),
        hipGraphAddKernelNode(&mut first, graph, null(), 0, &kernel),
        hipGraphAddChildGraphNode(&mut second, graph, &first, 1, inner),
        hipGraphAddEmptyNode(&mut third, graph, &second, 1),
    );
    let directory = std::env::temp_dir().join(format!("aqlipse-dot-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join("graph \"1\".dot");
    let name = CString::new(path.as_os_str().as_encoded_bytes()).expect("a name");
    let written = |flags| {
        ok!(hipGraphDebugDotPrint(graph, name.as_ptr(), flags));
        std::fs::read_to_string(&path).expect("the file was written")
    };
    let short = written(0);
    assert!(
        short.contains("KERNEL\\n") && short.contains("kernelA") && !short.contains("grid 1 x 1 x 1"),
        "{short}"
    );
    assert_eq!(short.matches("subgraph").count(), 2, "{short}");
    let long = written(hipGraphDebugDotFlagsVerbose.0);
    assert!(long.contains(&format!("node {:#x}", first.0)), "handles are those of callers: {long}");
    assert!(long.contains(&format!("function {:#x}", doubles() as usize)), "{long}");
    match std::process::Command::new("dot").arg("-Tplain").arg(&path).output() {
        Ok(read) => {
            let plain = String::from_utf8_lossy(&read.stdout);
            assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
            let of = |kind: &str| plain.lines().filter(|line| line.starts_with(kind)).count();
            assert_eq!((of("node "), of("edge ")), (4, 2), "{plain}");
        }
        Err(error) => {
            assert!(std::env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_none(), "Graphviz is missing: {error}");
            eprintln!("Graphviz is not installed: whether it reads the file was not tried");
        }
    }
    std::fs::remove_dir_all(&directory).expect("the directory is ours");
    ok!(hipGraphDestroy(graph), hipGraphDestroy(inner));
}

// proves: hipGraphExecGetFlags, hipGraphInstantiateWithParams, hipGraphInstantiateWithFlags, hipGraphUpload
#[test]
fn an_executable_tells_the_flags_it_was_made_with() {
    let (graph, stream) = (new_graph(), new_stream());
    for flags in [0, 1, 2, 8, 1 | 2, 1 | 8] {
        let exec = instantiate(graph, flags);
        let mut told = 99;
        ok!(hipGraphExecGetFlags(exec, &mut told), hipGraphUpload(exec, stream));
        assert_eq!(told, flags);
        ok!(hipGraphExecDestroy(exec));
    }
    let mut params = hipGraphInstantiateParams {
        errNode_out: hipGraphNode_t(1),
        flags: 2,
        result_out: hipGraphInstantiateError,
        uploadStream: stream,
    };
    let (mut exec, mut told) = (hipGraphExec_t::NULL, 99);
    ok!(hipGraphInstantiateWithParams(&mut exec, graph, &mut params), hipGraphExecGetFlags(exec, &mut told));
    assert_eq!(
        (told, params.result_out, params.errNode_out),
        (2, hipGraphInstantiateSuccess, hipGraphNode_t::NULL)
    );
    ok!(hipStreamDestroy(stream), hipGraphExecDestroy(exec));
    params.errNode_out = hipGraphNode_t(1);
    fails!(hipErrorContextIsDestroyed, hipGraphInstantiateWithParams(&mut exec, graph, &mut params));
    assert_eq!((params.result_out, params.errNode_out), (hipGraphInstantiateError, hipGraphNode_t::NULL));
    // Flags that exclude each other are seen before the stream, which is gone.
    params = hipGraphInstantiateParams {
        errNode_out: hipGraphNode_t(1),
        flags: 2 | 8,
        result_out: hipGraphInstantiateSuccess,
        ..params
    };
    fails!(hipErrorInvalidValue, hipGraphInstantiateWithParams(&mut exec, graph, &mut params));
    assert_eq!((params.result_out, params.errNode_out), (hipGraphInstantiateError, hipGraphNode_t::NULL));
    fails!(hipErrorInvalidValue, hipGraphInstantiateWithFlags(&mut exec, graph, 2 | 8));
    params.flags = 4;
    ok!(hipGraphInstantiateWithParams(&mut exec, graph, &mut params), hipGraphExecGetFlags(exec, &mut told));
    assert_eq!((told, params.result_out), (4, hipGraphInstantiateSuccess));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
}

// proves: hipGraphInstantiate, hipGraphInstantiateWithParams
#[test]
fn a_cycle_is_named_with_a_node_and_in_words() {
    let (graph, outer) = (new_graph(), new_graph());
    let [mut a, mut b, mut child] = [hipGraphNode_t::NULL; 3];
    ok!(
        hipGraphAddEmptyNode(&mut a, graph, null(), 0),
        hipGraphAddEmptyNode(&mut b, graph, &a, 1),
        hipGraphAddDependencies(graph, &b, &a, 1),
        hipGraphAddChildGraphNode(&mut child, outer, null(), 0, graph),
    );
    let refused = |graph, log: &mut [u8]| {
        let (mut exec, mut node) = (hipGraphExec_t::NULL, hipGraphNode_t::NULL);
        let text = if log.is_empty() { null_mut() } else { log.as_mut_ptr().cast::<c_char>() };
        fails!(hipErrorInvalidValue, hipGraphInstantiate(&mut exec, graph, &mut node, text, log.len()));
        node
    };
    let mut log = [b'x'; 64];
    let node = refused(graph, &mut log);
    assert!(node == a || node == b);
    let end = log.iter().position(|byte| *byte == 0).expect("the text ends");
    let text = std::str::from_utf8(&log[..end]).expect("text");
    assert!(text.contains("lies on a cycle"), "{text}");
    // Of a nested graph, the node around it is named: that is one of the graph that was given.
    assert_eq!(refused(outer, &mut []), child);
    let mut short = [b'x'; 9];
    refused(graph, &mut short[..8]);
    assert_eq!(
        (&short[..7], &short[7..]),
        (&text.as_bytes()[..7], &[0, b'x'][..]),
        "cut, terminated, not beyond"
    );
    refused(graph, &mut short[..1]);
    assert_eq!(short[0], 0);
    let mut params = hipGraphInstantiateParams {
        errNode_out: hipGraphNode_t::NULL,
        flags: 0,
        result_out: hipGraphInstantiateSuccess,
        uploadStream: hipStream_t::NULL,
    };
    let mut exec = hipGraphExec_t::NULL;
    fails!(hipErrorInvalidValue, hipGraphInstantiateWithParams(&mut exec, outer, &mut params));
    assert_eq!((params.result_out, params.errNode_out), (hipGraphInstantiateInvalidStructure, child));
    ok!(hipGraphRemoveDependencies(graph, &b, &a, 1));
    let mut log = [b'x'; 4];
    let mut node = a;
    ok!(hipGraphInstantiate(&mut exec, graph, &mut node, log.as_mut_ptr().cast(), 4));
    assert_eq!((node, log[0]), (hipGraphNode_t::NULL, 0));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipGraphDestroy(outer));
}

// proves: hipDrvGraphAddMemcpyNode, hipDrvGraphMemcpyNodeGetParams, hipDrvGraphMemcpyNodeSetParams
// proves: hipDrvGraphExecMemcpyNodeSetParams, hipDrvGraphAddMemsetNode, hipDrvGraphExecMemsetNodeSetParams
// proves: hipDrvGraphAddMemFreeNode
#[test]
fn driver_nodes_copy_fill_and_free_as_described() {
    let (a, b) = (Memory::of(&[0u32; 8]), Memory::of(&[1u32, 2, 3, 4, 5, 6, 7, 8]));
    let mut context = hipCtx_t::NULL;
    ok!(hipDevicePrimaryCtxRetain(&mut context, 0));
    // The right half of each row of 8 bytes goes to the left half.
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut given: HIP_MEMCPY3D = unsafe { std::mem::zeroed() };
    (given.srcMemoryType, given.srcDevice, given.srcPitch, given.srcHeight) =
        (hipMemoryTypeDevice, b.pointer(), 8, 4);
    (given.dstMemoryType, given.dstDevice, given.dstPitch, given.dstHeight) =
        (hipMemoryTypeDevice, a.pointer(), 8, 4);
    (given.srcXInBytes, given.WidthInBytes, given.Height, given.Depth) = (4, 4, 4, 1);
    let (graph, mut copy) = (new_graph(), hipGraphNode_t::NULL);
    ok!(hipDrvGraphAddMemcpyNode(&mut copy, graph, null(), 0, &given, context));
    // SAFETY: as above.
    let mut told: HIP_MEMCPY3D = unsafe { std::mem::zeroed() };
    ok!(hipDrvGraphMemcpyNodeGetParams(copy, &mut told));
    assert_eq!((told.srcDevice, told.dstDevice), (given.srcDevice, given.dstDevice));
    assert_eq!((told.srcMemoryType, told.dstMemoryType), (hipMemoryTypeDevice, hipMemoryTypeDevice));
    assert_eq!((told.srcXInBytes, told.srcPitch, told.srcHeight, told.dstPitch), (4, 8, 4, 8));
    assert_eq!((told.WidthInBytes, told.Height, told.Depth), (4, 4, 1));
    // SAFETY: as above.
    let mut plain: hipMemcpy3DParms = unsafe { std::mem::zeroed() };
    ok!(hipGraphMemcpyNodeGetParams(copy, &mut plain));
    assert_eq!((plain.kind, plain.srcPos.x, plain.extent.width), (hipMemcpyDeviceToDevice, 4, 4));
    let exec = instantiate(graph, 0);
    launch(exec);
    assert_eq!(a.read(), [2, 0, 4, 0, 6, 0, 8, 0]);
    told.dstXInBytes = 4;
    told.Height = 2;
    ok!(hipDrvGraphExecMemcpyNodeSetParams(exec, copy, &told, context));
    launch(exec);
    assert_eq!(a.read(), [2, 2, 4, 4, 6, 0, 8, 0]);
    ok!(hipGraphExecDestroy(exec));
    // The template is what it was until it is set; then in any direction.
    let mut landed = [0u32; 2];
    (told.dstMemoryType, told.dstHost, told.dstXInBytes) = (hipMemoryTypeHost, landed.as_mut_ptr().cast(), 0);
    (told.dstDevice, told.dstPitch, told.dstHeight) = (null_mut(), 4, 2);
    ok!(hipDrvGraphMemcpyNodeSetParams(copy, &told), hipDrvGraphMemcpyNodeGetParams(copy, &mut given));
    assert_eq!((given.dstMemoryType, given.dstHost), (hipMemoryTypeHost, landed.as_mut_ptr().cast()));
    assert_eq!(given.dstDevice, null_mut());
    let mut set = hipGraphNode_t::NULL;
    ok!(hipDrvGraphAddMemsetNode(&mut set, graph, &copy, 1, &fill(a.pointer(), 9), context));
    let exec = instantiate(graph, 0);
    launch(exec);
    assert_eq!((landed, a.read()), ([2, 4], vec![9, 9, 9, 9, 6, 0, 8, 0]));
    ok!(hipDrvGraphExecMemsetNodeSetParams(exec, set, &fill(a.pointer().wrapping_byte_add(16), 5), context));
    launch(exec);
    assert_eq!(a.read(), [9, 9, 9, 9, 5, 5, 5, 5]);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));

    let (graph, [mut alloc, mut free]) = (new_graph(), [hipGraphNode_t::NULL; 2]);
    // SAFETY: as above.
    let mut params: hipMemAllocNodeParams = unsafe { std::mem::zeroed() };
    params.poolProps.allocType = hipMemAllocationTypePinned;
    params.poolProps.location.r#type = hipMemLocationTypeDevice;
    params.bytesize = 64;
    ok!(hipGraphAddMemAllocNode(&mut alloc, graph, null(), 0, &mut params));
    set = add_fill(graph, &[alloc], &fill(params.dptr, 3));
    let mut address = null_mut::<c_void>();
    ok!(
        hipDrvGraphAddMemFreeNode(&mut free, graph, &set, 1, params.dptr),
        hipGraphMemFreeNodeGetParams(free, (&raw mut address).cast()),
    );
    assert_eq!(address, params.dptr);
    fails!(hipErrorInvalidValue, hipDrvGraphAddMemFreeNode(&mut free, graph, &set, 1, params.dptr));
    let exec = instantiate(graph, 0);
    launch(exec);
    launch(exec);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipDevicePrimaryCtxRelease(0));
}

// proves: hipGraphKernelNodeSetAttribute, hipGraphKernelNodeGetAttribute
#[test]
fn a_captured_kernel_has_the_priority_of_its_stream() {
    let data = Memory::of(&[0f64; BLOCK as usize]);
    let mut address = data.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let (mut stream, mut graph, mut node, mut count) =
        (hipStream_t::NULL, hipGraph_t::NULL, hipGraphNode_t::NULL, 1);
    let mut value = hipLaunchAttributeValue { pad: [0; 64] };
    ok!(
        hipStreamCreateWithPriority(&mut stream, 0, -1),
        hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed),
        hipLaunchKernel(doubles(), line(1), line(BLOCK), arguments.as_mut_ptr(), 0, stream),
        hipStreamEndCapture(stream, &mut graph),
        hipGraphGetNodes(graph, &mut node, &mut count),
        hipGraphKernelNodeGetAttribute(node, hipLaunchAttributePriority, &mut value),
    );
    // SAFETY: the member that was asked for.
    assert_eq!(unsafe { value.priority }, -1);
    for (attribute, bytes) in [(hipLaunchAttributeMemSyncDomain, 1), (hipLaunchAttributeMemSyncDomainMap, 0)]
    {
        let given = hipLaunchAttributeValue { cooperative: bytes };
        let mut told = hipLaunchAttributeValue { pad: [0; 64] };
        ok!(
            hipGraphKernelNodeSetAttribute(node, attribute, &given),
            hipGraphKernelNodeGetAttribute(node, attribute, &mut told),
        );
        // SAFETY: the bytes of the member that was asked for are the first of an integer.
        assert_eq!(unsafe { told.cooperative }, bytes);
    }
    ok!(hipGraphDestroy(graph), hipStreamDestroy(stream));
}

// proves: hipGraphKernelNodeGetParams
#[test]
fn the_arguments_of_a_kernel_node_stay_until_they_are_set_again() {
    let (one, two) = (Memory::of(&[0f64; BLOCK as usize]), Memory::of(&[0f64; BLOCK as usize]));
    let params = |address: &mut *mut c_void, list: &mut [*mut c_void; 1]| {
        list[0] = std::ptr::from_mut(address).cast();
        hipKernelNodeParams {
            blockDim: line(BLOCK),
            extra: null_mut(),
            func: doubles().cast_mut(),
            gridDim: line(2),
            kernelParams: list.as_mut_ptr(),
            sharedMemBytes: 0,
        }
    };
    let (mut first, mut second, mut list) = (one.pointer(), two.pointer(), [null_mut(); 1]);
    let (graph, mut node) = (new_graph(), hipGraphNode_t::NULL);
    ok!(hipGraphAddKernelNode(&mut node, graph, null(), 0, &params(&mut first, &mut list)));
    let mut told = params(&mut second, &mut list);
    ok!(hipGraphKernelNodeGetParams(node, &mut told));
    assert_eq!((told.func.cast_const(), told.gridDim.x, told.blockDim.x), (doubles(), 2, BLOCK));
    let argument = |told: &hipKernelNodeParams| {
        // SAFETY: the node has one argument, an address.
        unsafe { *(*told.kernelParams).cast::<*mut c_void>() }
    };
    assert_eq!(argument(&told), one.pointer());
    // Adding nodes, asking again and instantiating leaves what was told where it is.
    let before = told;
    let mut others = [hipGraphNode_t::NULL; 32];
    for other in &mut others {
        ok!(hipGraphAddKernelNode(other, graph, null(), 0, &params(&mut second, &mut list)));
        ok!(hipGraphKernelNodeGetParams(*other, &mut told));
        assert_eq!(argument(&told), two.pointer());
    }
    let exec = instantiate(graph, 0);
    ok!(hipGraphKernelNodeGetParams(node, &mut told));
    assert_eq!((told.kernelParams, argument(&before)), (before.kernelParams, one.pointer()));
    // What was told can be given back as it is.
    told.gridDim = line(1);
    ok!(hipGraphKernelNodeSetParams(node, &told), hipGraphExecKernelNodeSetParams(exec, node, &told));
    ok!(hipGraphKernelNodeSetParams(node, &params(&mut second, &mut list)));
    ok!(hipGraphKernelNodeGetParams(node, &mut told));
    assert_eq!(argument(&told), two.pointer());
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
}

/// The first node of a graph.
fn first_of(graph: hipGraph_t) -> hipGraphNode_t {
    let (mut node, mut count) = (hipGraphNode_t::NULL, 1);
    ok!(hipGraphGetNodes(graph, &mut node, &mut count));
    node
}

// proves: hipGraphNodeFindInClone, hipGraphChildGraphNodeGetGraph, hipGraphClone, hipGraphDestroyNode
#[test]
fn nodes_of_nested_graphs_are_found_in_the_nested_graphs_of_clones() {
    let (inner, graph) = (new_graph(), new_graph());
    let [mut x, mut child, mut found] = [hipGraphNode_t::NULL; 3];
    ok!(
        hipGraphAddEmptyNode(&mut x, inner, null(), 0),
        hipGraphAddChildGraphNode(&mut child, graph, null(), 0, inner),
    );
    let inside = |node| {
        let mut graph = hipGraph_t::NULL;
        ok!(hipGraphChildGraphNodeGetGraph(node, &mut graph));
        graph
    };
    let [mut first, mut second] = [hipGraph_t::NULL; 2];
    ok!(hipGraphClone(&mut first, graph), hipGraphClone(&mut second, first));
    let original = first_of(inside(child));
    let mut of = |clone, node| {
        ok!(hipGraphNodeFindInClone(&mut found, node, clone));
        found
    };
    let child1 = of(first, child);
    let nested1 = of(inside(child1), original);
    assert_eq!(nested1, first_of(inside(child1)));
    let child2 = of(second, child1);
    assert_eq!(of(inside(child2), nested1), first_of(inside(child2)));
    // A clone of a nested graph alone, and what is no clone of each other.
    let mut alone = hipGraph_t::NULL;
    ok!(hipGraphClone(&mut alone, inside(child)));
    assert_eq!(of(alone, original), first_of(alone));
    fails!(hipErrorInvalidValue, hipGraphNodeFindInClone(&mut found, original, first));
    fails!(hipErrorInvalidValue, hipGraphNodeFindInClone(&mut found, child, second));
    fails!(hipErrorInvalidValue, hipGraphNodeFindInClone(&mut found, original, inside(child2)));
    // What is removed from one is not found there, and stays in the others.
    ok!(hipGraphDestroyNode(nested1));
    fails!(hipErrorInvalidValue, hipGraphNodeFindInClone(&mut found, original, inside(child1)));
    let mut count = 9;
    ok!(hipGraphGetNodes(inside(child1), null_mut(), &mut count));
    assert_eq!(count, 0);
    ok!(hipGraphGetNodes(inside(child2), null_mut(), &mut count));
    assert_eq!(count, 1);
    for graph in [inner, graph, first, second, alone] {
        ok!(hipGraphDestroy(graph));
    }
}

// proves: hipGraphAddChildGraphNode, hipGraphChildGraphNodeGetGraph, hipGraphGetEdges
#[test]
fn a_graph_can_be_copied_into_itself_and_into_its_child() {
    let memory = Memory::of(&[0u32; 4]);
    let (graph, mut child) = (new_graph(), hipGraphNode_t::NULL);
    let a = add_fill(graph, &[], &fill(memory.pointer(), 1));
    ok!(hipGraphAddChildGraphNode(&mut child, graph, &a, 1, graph));
    let mut inside = hipGraph_t::NULL;
    ok!(hipGraphChildGraphNodeGetGraph(child, &mut inside));
    let (mut nodes, mut edges) = (0, 0);
    ok!(hipGraphGetNodes(inside, null_mut(), &mut nodes));
    assert_eq!(nodes, 1, "the graph as it was before the node");
    // The copy inside takes a copy of the graph around it, which holds a copy as it is now.
    let (mut deeper, last) = (hipGraphNode_t::NULL, first_of(inside));
    ok!(
        hipGraphAddChildGraphNode(&mut deeper, inside, &last, 1, graph),
        hipGraphGetNodes(inside, null_mut(), &mut nodes),
        hipGraphGetEdges(inside, null_mut(), null_mut(), &mut edges),
    );
    assert_eq!((nodes, edges), (2, 1));
    let exec = instantiate(graph, 0);
    launch(exec);
    assert_eq!(memory.read(), [1; 4]);
    // The graph inside a node ends with the node, not before.
    fails!(hipErrorInvalidValue, hipGraphDestroy(inside));
    ok!(hipGraphDestroyNode(child));
    fails!(hipErrorInvalidValue, hipGraphGetNodes(inside, null_mut(), &mut nodes));
    fails!(hipErrorInvalidValue, hipGraphDestroyNode(deeper));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
}

// proves: hipGraphExecKernelNodeSetParams
#[test]
fn a_cooperative_kernel_stays_cooperative_when_its_parameters_change() {
    let (one, two) = (Memory::of(&[1f64; BLOCK as usize]), Memory::of(&[1f64; BLOCK as usize]));
    let params = |address: *mut c_void| {
        let list = forever([std::ptr::from_mut(forever(address)).cast::<c_void>()]);
        hipKernelNodeParams {
            blockDim: line(BLOCK),
            extra: null_mut(),
            func: doubles().cast_mut(),
            gridDim: line(1),
            kernelParams: list.as_mut_ptr(),
            sharedMemBytes: 0,
        }
    };
    let (graph, mut node) = (new_graph(), hipGraphNode_t::NULL);
    let cooperative = hipLaunchAttributeValue { cooperative: 1 };
    ok!(
        hipGraphAddKernelNode(&mut node, graph, null(), 0, &params(one.pointer())),
        hipGraphKernelNodeSetAttribute(node, hipLaunchAttributeCooperative, &cooperative),
    );
    let exec = instantiate(graph, 0);
    ok!(hipGraphExecKernelNodeSetParams(exec, node, &params(two.pointer())));
    launch(exec);
    assert_eq!((one.read()[5], two.read()[5]), (1.0, 2.0));
    ok!(hipGraphNodeSetEnabled(exec, node, 0));
    launch(exec);
    assert_eq!(two.read()[5], 2.0, "a cooperative kernel is disabled like any other");
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
}

// proves: hipGraphChildGraphNodeGetGraph
#[test]
fn each_of_many_nested_graphs_has_a_handle_that_stays() {
    let (inner, graph) = (new_graph(), new_graph());
    let mut nodes = vec![hipGraphNode_t::NULL; 2000];
    for node in &mut nodes {
        ok!(hipGraphAddChildGraphNode(node, graph, null(), 0, inner));
    }
    let inside = |node: &hipGraphNode_t| {
        let mut graph = hipGraph_t::NULL;
        ok!(hipGraphChildGraphNodeGetGraph(*node, &mut graph));
        graph
    };
    let handles: Vec<hipGraph_t> = nodes.iter().map(inside).collect();
    let words: std::collections::HashSet<usize> = handles.iter().map(|handle| handle.0).collect();
    assert_eq!(words.len(), nodes.len());
    for gone in &nodes[..1000] {
        ok!(hipGraphDestroyNode(*gone));
    }
    // New nested graphs take the places of those that are gone, whose handles stay stale.
    for node in &mut nodes[..1000] {
        ok!(hipGraphAddChildGraphNode(node, graph, null(), 0, inner));
        assert!(!words.contains(&inside(node).0));
    }
    let mut count = 0;
    fails!(hipErrorInvalidValue, hipGraphGetNodes(handles[0], null_mut(), &mut count));
    assert_eq!(nodes[1000..].iter().map(inside).collect::<Vec<_>>(), handles[1000..]);
    ok!(hipGraphDestroy(graph), hipGraphDestroy(inner));
}
