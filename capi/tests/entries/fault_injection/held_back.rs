//! Calls of the HSA runtime that take long: whoever has what it needs goes on meanwhile.

use std::ptr;

use aqlipse::fault_injection::HeldBack;

use super::{
    graphs::{captured, hipGraphDestroy, hipGraphExecDestroy, hipGraphLaunch, instantiated},
    memory::{Words, stream},
    *,
};

unsafe extern "C" {
    fn hipMallocAsync(address: *mut *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipFreeAsync(address: *mut c_void, stream: hipStream_t) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipMemcpyAsync(
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipExtMallocWithFlags(address: *mut *mut c_void, bytes: usize, flags: u32) -> hipError_t;
    fn hipStreamWaitValue32(
        stream: hipStream_t,
        address: *mut c_void,
        value: u32,
        flags: u32,
        mask: u32,
    ) -> hipError_t;
    fn hipDeviceGraphMemTrim(device: c_int) -> hipError_t;
}

const COUNT: usize = 1000;
const BYTES: usize = COUNT * 4;

/// A graph that fills memory of its own of so many bytes, and copies some of it to where somebody sees it.
fn filling(value: c_int, bytes: usize, seen: Option<*mut c_void>) -> hipGraph_t {
    captured(|stream| {
        let (mut one, mut two) = (ptr::null_mut(), ptr::null_mut());
        ok!(
            hipMallocAsync(&mut one, bytes, stream),
            hipMemsetAsync(one, value, BYTES, stream),
            hipMallocAsync(&mut two, bytes, stream),
            hipMemcpyAsync(two, one, BYTES, hipMemcpyDeviceToDevice, stream),
            hipFreeAsync(one, stream),
        );
        if let Some(seen) = seen {
            ok!(hipMemcpyAsync(seen, two, BYTES, hipMemcpyDeviceToDevice, stream));
        }
        ok!(hipFreeAsync(two, stream));
        Ok(())
    })
}

/// Makes another graph, launches, trims and destroys it, and has a pool grow.
fn allocates(stream: hipStream_t) {
    let graph = filling(7, 3 << 20, None);
    let (exec, mut memory) = (instantiated(graph, 0), ptr::null_mut());
    ok!(
        hipGraphLaunch(exec, stream),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
        // Takes what is not in flight.
        hipDeviceGraphMemTrim(0),
        hipGraphLaunch(exec, stream),
        hipMallocAsync(&mut memory, 5 << 20, stream),
        hipFreeAsync(memory, stream),
        hipStreamSynchronize(stream),
        hipGraphExecDestroy(exec),
        hipGraphDestroy(graph),
    );
}

/// Holds each call back by which another thread makes or ends something, and launches a graph meanwhile whose memory is
/// there.
pub fn replays() {
    let (memory, mut gate) = (Words::new(COUNT, 0), ptr::null_mut());
    ok!(hipExtMallocWithFlags(&mut gate, 8, hipMallocSignalMemory));
    let set_gate = |value: u64| {
        // SAFETY: eight bytes that are the host's as well.
        unsafe { gate.cast::<u64>().write_volatile(value) };
    };
    let graph = filling(3, BYTES, Some(memory.address));
    let (exec, own, others) = (instantiated(graph, 0), stream(), stream());
    ok!(hipGraphLaunch(exec, own), hipStreamSynchronize(own));
    // What is made once, and kept.
    allocates(others);
    let mut held = 0;
    for n in 1.. {
        // With a launch in flight, nobody may trim its memory.
        set_gate(0);
        let graph = filling(5, BYTES, None);
        let gone = instantiated(graph, 0);
        ok!(
            hipMemset(memory.address, 0, BYTES),
            hipStreamWaitValue32(own, gate, 1, hipStreamWaitValueGte, u32::MAX),
            hipGraphLaunch(exec, own),
            // Whose memory a launch lets go of that comes when this one is over.
            hipGraphLaunch(gone, own),
            hipGraphExecDestroy(gone),
            hipGraphDestroy(graph),
        );
        let call = fault_injection::hold_back(n);
        let other = thread::spawn(move || allocates(others));
        while !call.is_there() && !other.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        // Who lets go of memory makes calls, too: none of those is meant.
        let call = Some(call).filter(HeldBack::is_there);
        let is_last = call.is_none();
        ok!(hipGraphLaunch(exec, own));
        set_gate(1);
        for _ in 0..3 {
            ok!(hipGraphLaunch(exec, own), hipStreamSynchronize(own));
        }
        drop(call);
        other.join().expect("a thread that allocates");
        memory.all(0x0303_0303);
        if is_last {
            break;
        }
        held += 1;
    }
    eprintln!("{held} calls were held back");
    assert!(held > 0, "nothing was made");
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(own), hipStreamDestroy(others));
    ok!(hipFree(gate));
}
