//! Kernels that a thread names again: what it remembers of them ends with them.

use std::{
    ffi::{CStr, c_char, c_void},
    ptr, thread,
};

use capi::{error::hipError_t, types::*};

use super::{
    functions::*,
    program::{BLOCK, image, line, register_image, register_kernel},
    *,
};

unsafe extern "C" {
    fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t;
    fn hipModuleGetFunction(
        function: *mut hipFunction_t,
        module: hipModule_t,
        name: *const c_char,
    ) -> hipError_t;
    fn hipModuleUnload(module: hipModule_t) -> hipError_t;
    fn __hipUnregisterFatBinary(handle: *mut *mut c_void);
}

fn load() -> (hipModule_t, usize) {
    let (mut module, mut function) = (hipModule_t::NULL, hipFunction_t::NULL);
    ok!(
        hipModuleLoadData(&mut module, image().as_ptr().cast()),
        hipModuleGetFunction(&mut function, module, c"kernelA".as_ptr()),
    );
    (module, function.0)
}

/// Adds a kernel that is named so, and no argument of which is looked at, to a graph of its own.
fn add(function: usize) -> hipError_t {
    let mut address = ptr::null_mut::<c_void>();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let params = hipKernelNodeParams {
        blockDim: line(BLOCK),
        extra: ptr::null_mut(),
        func: function as *mut c_void,
        gridDim: line(1),
        kernelParams: arguments.as_mut_ptr(),
        sharedMemBytes: 0,
    };
    let (graph, mut node) = (new_graph(), hipGraphNode_t::NULL);
    // SAFETY: a graph, and parameters with the kernel's one argument.
    let code = unsafe { hipGraphAddKernelNode(&mut node, graph, ptr::null(), 0, &params) };
    ok!(hipGraphDestroy(graph));
    code
}

#[test]
fn a_kernel_that_threads_remember_ends_with_its_module() {
    let (module, function) = load();
    ok!(add(function), add(function));
    thread::scope(|scope| {
        let (remembered, remembers) = std::sync::mpsc::channel();
        let (unloaded, is_unloaded) = std::sync::mpsc::channel();
        scope.spawn(move || {
            ok!(add(function), add(function));
            remembered.send(()).unwrap();
            is_unloaded.recv().unwrap();
            fails!(hipErrorInvalidDeviceFunction, add(function));
        });
        remembers.recv().unwrap();
        ok!(hipModuleUnload(module));
        unloaded.send(()).unwrap();
    });
    fails!(hipErrorInvalidDeviceFunction, add(function));
    let (module, again) = load();
    ok!(add(again), add(again));
    fails!(hipErrorInvalidDeviceFunction, add(function));
    ok!(hipModuleUnload(module));
}

#[test]
fn a_host_function_stands_for_what_was_registered_last() {
    static HOST: u8 = 0;
    let host = (&raw const HOST) as usize;
    let register = |name: &'static CStr| {
        let handle = register_image(image());
        register_kernel(handle, &HOST, name);
        handle
    };
    fails!(hipErrorInvalidDeviceFunction, add(host));
    let first = register(c"kernelA");
    ok!(add(host), add(host));
    // It takes the name over; no such kernel can be found.
    let second = register(c"nowhere");
    fails!(hipErrorNotFound, add(host));
    // SAFETY: both are registered, and nothing of them is used behind this.
    unsafe { __hipUnregisterFatBinary(second) };
    fails!(hipErrorInvalidDeviceFunction, add(host));
    // SAFETY: as above.
    unsafe { __hipUnregisterFatBinary(first) };
    let third = register(c"kernelA");
    ok!(add(host), add(host));
    // SAFETY: as above.
    unsafe { __hipUnregisterFatBinary(third) };
    fails!(hipErrorInvalidDeviceFunction, add(host));
}
