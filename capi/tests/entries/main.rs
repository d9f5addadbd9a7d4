//! Exported functions, called as C calls them, on the device that this machine has or the emulated one.

#![allow(non_snake_case, non_upper_case_globals, missing_docs)]
#![allow(
    clashing_extern_declarations,
    reason = "`random` declares functions by projections, which the lint takes for other types"
)]

mod absurd;
mod any_node;
mod arguments;
mod array;
mod batch;
mod bodies;
mod capture;
mod capture_cells;
mod capture_into;
mod capture_params;
mod child;
mod conditional;
mod context;
mod cooperative;
mod copies;
mod device_graph;
mod devices;
mod execution;
mod external;
mod fault_injection;
mod faults;
mod function;
mod functions;
mod graph;
mod graph_memory;
mod graph_plan;
mod host;
mod host_copies;
mod in_flight;
mod ipc;
mod launch;
mod library;
mod logging;
mod lookup;
mod managed;
mod managed_batch;
mod mem_pool;
mod memory_nodes;
mod memory_rules;
mod named_again;
mod per_thread;
mod pitched;
mod pointer;
mod pool_share;
mod process;
mod program;
mod random;
mod reasons;
mod refusals;
mod rtc;
mod scale;
mod soak;
mod stream_attributes;
mod streams;
mod symbol;
mod template;
mod threads;
mod units;
mod update;
mod variants;
mod virtual_memory;
mod waits;

use std::{
    ffi::{c_int, c_void},
    sync::{Mutex, MutexGuard, PoisonError},
};

use capi::{error::hipError_t, types::*};

/// Calls exported functions that must succeed.
macro_rules! ok {
    ($($call:expr),+ $(,)?) => { $({
        #[allow(unused_unsafe, reason = "some calls are wrapped in closures")]
        // SAFETY: each test passes what the function documents.
        let code = unsafe { $call };
        assert_eq!(code, ::capi::error::hipSuccess, "{}", stringify!($call));
    })+ };
}

/// Calls an exported function that must fail with a code.
macro_rules! fails {
    ($code:ident, $call:expr) => {{
        #[allow(unused_unsafe, reason = "some calls are wrapped in closures")]
        // SAFETY: each test passes what the function documents, or what it must refuse.
        let code = unsafe { $call };
        assert_eq!(code, ::capi::error::$code, "{}", stringify!($call));
    }};
}

pub(crate) use {fails, ok};

unsafe extern "C" {
    fn hipMalloc(address: *mut *mut c_void, bytes: usize) -> hipError_t;
    fn hipFree(address: *mut c_void) -> hipError_t;
    fn hipMemcpy(dst: *mut c_void, src: *const c_void, bytes: usize, kind: hipMemcpyKind) -> hipError_t;
    fn hipMemset(dst: *mut c_void, value: c_int, bytes: usize) -> hipError_t;
    fn hipStreamCreate(stream: *mut hipStream_t) -> hipError_t;
    fn hipStreamDestroy(stream: hipStream_t) -> hipError_t;
    fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t;
}

fn new_graph() -> hipGraph_t {
    unsafe extern "C" {
        fn hipGraphCreate(graph: *mut hipGraph_t, flags: std::ffi::c_uint) -> hipError_t;
    }
    let mut graph = hipGraph_t::NULL;
    ok!(hipGraphCreate(&mut graph, 0));
    graph
}

/// Locks what a test that has failed may have left locked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What lives as long as the process, as compilers' constants do, where a leak checker can see it.
fn forever<T>(value: T) -> &'static mut T {
    static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let kept = Box::leak(Box::new(value));
    lock(&KEPT).push(std::ptr::from_mut(kept) as usize);
    kept
}

/// Device memory of elements of one type.
struct Memory<T> {
    address: *mut T,
    count: usize,
}

impl<T: Copy + Default> Memory<T> {
    fn of(values: &[T]) -> Self {
        let mut address = std::ptr::null_mut();
        let bytes = size_of_val(values);
        ok!(
            hipMalloc(&mut address, bytes),
            hipMemcpy(address, values.as_ptr().cast(), bytes, hipMemcpyHostToDevice),
        );
        Self { address: address.cast(), count: values.len() }
    }

    fn pointer(&self) -> *mut c_void {
        self.address.cast()
    }

    fn read(&self) -> Vec<T> {
        let mut values = vec![T::default(); self.count];
        let bytes = size_of_val(&values[..]);
        ok!(hipMemcpy(values.as_mut_ptr().cast(), self.pointer(), bytes, hipMemcpyDeviceToHost));
        values
    }
}

impl<T> Drop for Memory<T> {
    fn drop(&mut self) {
        // SAFETY: the memory is ours. A test that has failed already has other troubles than this code.
        let _ = unsafe { hipFree(self.address.cast()) };
    }
}

fn new_stream() -> hipStream_t {
    let mut stream = hipStream_t::NULL;
    ok!(hipStreamCreate(&mut stream));
    stream
}
