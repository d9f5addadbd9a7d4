//! What kernels must not do.

use std::ptr;

use capi::{error::hipError_t, types::*};

use super::*;
use crate::{
    process::{again, ends, role},
    program::{BLOCK, line, threes},
};

unsafe extern "C" {
    fn hipLaunchKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        lds: usize,
        stream: hipStream_t,
    ) -> hipError_t;
}

#[test]
fn an_array_that_wraps_around_the_end_of_memory_is_a_fault() {
    const TEST: &str = "faults::an_array_that_wraps_around_the_end_of_memory_is_a_fault";
    // The fault is not for the other tests of this process.
    if role().is_none() {
        assert!(ends(again(TEST, "alone").spawn().expect("a process")).success());
        return;
    }
    let (stream, memory) = (new_stream(), Memory::of(&[0u32; BLOCK as usize]));
    for address in [memory.pointer(), ptr::without_provenance_mut(usize::MAX)] {
        let mut address = address;
        let mut arguments = [(&raw mut address).cast::<c_void>()];
        let arguments = arguments.as_mut_ptr();
        ok!(hipLaunchKernel(threes(), line(1), line(BLOCK), arguments, 0, stream));
    }
    fails!(hipErrorIllegalAddress, hipStreamSynchronize(stream));
}
