//! Kernels that print: what they call the host by, and print to, is made when it is first needed.

use std::ffi::CStr;

use super::{
    graphs::{captured, hipGraphDestroy, instantiated, run},
    memory::{Words, stream},
    streams::{hipModuleGetFunction, hipModuleLaunchKernel, hipModuleLoadData, hipModuleUnload},
    *,
};
use crate::program::printing_image;

/// What each kernel says that it has printed: that there was room, and so many bytes.
const KERNELS: [(&CStr, u32); 2] = [(c"print_buffered", 0), (c"print_by_calls", 9)];

/// A module with one kernel.
fn kernel(name: &CStr) -> (hipModule_t, hipFunction_t) {
    let (mut module, mut function) = (hipModule_t::NULL, hipFunction_t::NULL);
    tried!(
        hipModuleLoadData(&mut module, printing_image().as_ptr().cast()),
        hipModuleGetFunction(&mut function, module, name.as_ptr()),
    );
    (module, function)
}

fn print(function: hipFunction_t, result: &Words, stream: hipStream_t) -> hipError_t {
    let mut address = result.address;
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let nothing = std::ptr::null_mut();
    // SAFETY: the kernel takes the address of an integer, and is for one work-item.
    unsafe { hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments.as_mut_ptr(), nothing) }
}

fn on_a_stream((name, printed): (&CStr, u32)) {
    let ((module, function), result, stream) = (kernel(name), Words::new(1, 77), stream());
    tried!(print(function, &result, stream), print(function, &result, stream));
    tried!(hipStreamSynchronize(stream));
    result.all(printed);
    tried!(hipStreamDestroy(stream), hipModuleUnload(module));
}

fn in_a_graph((name, printed): (&CStr, u32)) {
    let ((module, function), result) = (kernel(name), Words::new(1, 77));
    let graph = captured(|stream| match print(function, &result, stream) {
        hipSuccess => Ok(()),
        code => Err(code),
    });
    run(instantiated(graph, 0), 2);
    result.all(printed);
    tried!(hipGraphDestroy(graph), hipModuleUnload(module));
}

pub fn to_buffers() {
    on_a_stream(KERNELS[0]);
}

pub fn by_calls() {
    on_a_stream(KERNELS[1]);
}

pub fn in_graphs() {
    KERNELS.into_iter().for_each(in_a_graph);
}
