//! What becomes of graphs and their memory while launches are in flight, and between them.

use std::{
    ptr,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipStreamQuery(stream: hipStream_t) -> hipError_t;
    fn hipLaunchHostFunc(
        stream: hipStream_t,
        function: extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipMallocAsync(address: *mut *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipFreeAsync(address: *mut c_void, stream: hipStream_t) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipDeviceGraphMemTrim(device: c_int) -> hipError_t;
    fn hipDeviceGetGraphMemAttribute(
        device: c_int,
        attribute: hipGraphMemAttributeType,
        value: *mut c_void,
    ) -> hipError_t;
}

/// What a stream waits for until the test lets it go on.
#[derive(Default)]
pub struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    passed: AtomicBool,
}

impl Gate {
    extern "C" fn pass(gate: *mut c_void) {
        // SAFETY: the test's gate, which lives until its stream is synchronised.
        let gate = unsafe { &*gate.cast::<Self>() };
        let open = lock(&gate.open);
        drop(gate.opened.wait_while(open, |open| !*open).unwrap_or_else(PoisonError::into_inner));
        gate.passed.store(true, SeqCst);
    }

    pub fn stand_in_the_way_of(&self, stream: hipStream_t) {
        ok!(hipLaunchHostFunc(stream, Self::pass, ptr::from_ref(self).cast_mut().cast()));
    }

    pub fn open(&self) {
        *lock(&self.open) = true;
        self.opened.notify_all();
    }
}

/// The executable of what `work` does with a capturing stream, and no graph any more.
fn captured(stream: hipStream_t, work: impl FnOnce()) -> hipGraphExec_t {
    let (mut graph, mut exec) = (hipGraph_t::NULL, hipGraphExec_t::NULL);
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    work();
    ok!(
        hipStreamEndCapture(stream, &mut graph),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphDestroy(graph),
    );
    exec
}

#[test]
fn an_executable_may_be_destroyed_while_it_runs() {
    let (stream, memory, gate) = (new_stream(), Memory::of(&[0u8; 64]), Gate::default());
    let exec = captured(stream, || ok!(hipMemsetAsync(memory.pointer(), 7, 64, stream)));
    gate.stand_in_the_way_of(stream);
    ok!(hipGraphLaunch(exec, stream), hipGraphLaunch(exec, stream), hipGraphExecDestroy(exec));
    fails!(hipErrorInvalidValue, hipGraphLaunch(exec, stream));
    fails!(hipErrorNotReady, hipStreamQuery(stream));
    assert!(!gate.passed.load(SeqCst), "destroying it has not waited");
    gate.open();
    ok!(hipStreamSynchronize(stream));
    assert_eq!(memory.read(), [7; 64]);
    ok!(hipStreamDestroy(stream));
}

#[test]
fn allocations_that_follow_each_other_share_their_bytes() {
    const BYTES: usize = 1 << 20;
    let reserved = || {
        let mut bytes = 0u64;
        let value = (&raw mut bytes).cast::<c_void>();
        ok!(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrReservedMemHigh, value));
        bytes
    };
    ok!(hipDeviceGraphMemTrim(0));
    let (stream, before) = (new_stream(), reserved());
    let exec = captured(stream, || {
        for value in 1..=3 {
            let mut address = ptr::null_mut();
            ok!(
                hipMallocAsync(&mut address, BYTES, stream),
                hipMemsetAsync(address, value, BYTES, stream),
                hipFreeAsync(address, stream),
            );
        }
    });
    ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream));
    assert_eq!(reserved() - before, BYTES as u64, "three allocations, one at a time");
    ok!(hipGraphExecDestroy(exec), hipStreamDestroy(stream));
}
