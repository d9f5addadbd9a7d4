//! Which compute units the kernels of a stream run on.

use std::collections::BTreeSet;

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::units_image;

unsafe extern "C" {
    fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t;
    fn hipModuleUnload(module: hipModule_t) -> hipError_t;
    fn hipModuleGetFunction(
        function: *mut hipFunction_t,
        module: hipModule_t,
        name: *const std::ffi::c_char,
    ) -> hipError_t;
    fn hipModuleLaunchKernel(
        function: hipFunction_t,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        lds: u32,
        stream: hipStream_t,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> hipError_t;
}

/// The compute units that workgroups of a kernel on `stream` find themselves on.
pub fn of_kernels_on(stream: hipStream_t) -> BTreeSet<u32> {
    const GROUPS: u32 = 64;
    let (mut module, mut function) = (hipModule_t::NULL, hipFunction_t::NULL);
    let places = Memory::of(&[[0u32; 2]; GROUPS as usize]);
    let mut address = places.pointer();
    let mut params = [(&raw mut address).cast::<c_void>()];
    let (image, dies) = units_image();
    ok!(
        hipModuleLoadData(&mut module, image.as_ptr().cast()),
        hipModuleGetFunction(&mut function, module, c"where".as_ptr()),
        hipModuleLaunchKernel(
            function,
            GROUPS,
            1,
            1,
            64,
            1,
            1,
            0,
            stream,
            params.as_mut_ptr(),
            std::ptr::null_mut()
        ),
        hipStreamSynchronize(stream),
        hipModuleUnload(module),
    );
    // CU_ID and SE_ID of HW_ID, whose units are dealt out to the dies one after the other.
    let unit = |[id, die]: [u32; 2]| (id >> 8 & 0xf | (id >> 13 & 7) << 4) * dies + die;
    places.read().into_iter().map(unit).collect()
}
