//! Cooperative kernels next to each other, on one queue of the device.

use std::{
    ffi::c_uint,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::{BLOCK, line, threes};

unsafe extern "C" {
    fn hipLaunchCooperativeKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        lds: c_uint,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipLaunchHostFunc(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
}

fn launch(memory: &Memory<u32>, stream: hipStream_t) {
    let mut address = memory.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let arguments = arguments.as_mut_ptr();
    ok!(hipLaunchCooperativeKernel(threes(), line(1), line(BLOCK), arguments, 0, stream));
}

#[test]
fn kernels_of_streams_that_share_queues_do_not_wait_for_each_other() {
    let work = || {
        let (stream, memory) = (new_stream(), Memory::of(&[0u32; BLOCK as usize]));
        (0..50).for_each(|_| launch(&memory, stream));
        ok!(hipStreamSynchronize(stream), hipStreamDestroy(stream));
        assert_eq!(memory.read(), [3; BLOCK as usize]);
    };
    thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(work))));
}

unsafe extern "C" fn hold(open: *mut c_void) {
    // SAFETY: the test passes a flag that outlives the stream's work.
    let open = unsafe { &*open.cast::<AtomicBool>() };
    while !open.load(Ordering::Acquire) {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_kernel_behind_a_graph_with_one_waits_for_the_graphs() {
    let (stream, memory) = (new_stream(), Memory::of(&[0u32; BLOCK as usize]));
    let (mut graph, mut exec) = (hipGraph_t::NULL, hipGraphExec_t::NULL);
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    launch(&memory, stream);
    ok!(hipStreamEndCapture(stream, &mut graph), hipGraphInstantiateWithFlags(&mut exec, graph, 0));

    let open = AtomicBool::new(false);
    ok!(
        hipLaunchHostFunc(stream, Some(hold), (&raw const open).cast_mut().cast()),
        hipGraphLaunch(exec, stream),
    );
    launch(&memory, stream);
    open.store(true, Ordering::Release);
    ok!(hipStreamSynchronize(stream));
    assert_eq!(memory.read(), [3; BLOCK as usize]);
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
}
