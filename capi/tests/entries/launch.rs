use std::ptr;

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::{BLOCK, doubles, image, line};

unsafe extern "C" {
    fn hipLaunchKernelExC(
        config: *const hipLaunchConfig_t,
        function: *const c_void,
        arguments: *mut *mut c_void,
    ) -> hipError_t;
    fn hipDrvLaunchKernelEx(
        config: *const HIP_LAUNCH_CONFIG,
        function: hipFunction_t,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> hipError_t;
    fn hipExtLaunchKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        lds: usize,
        stream: hipStream_t,
        start: hipEvent_t,
        stop: hipEvent_t,
        flags: c_int,
    ) -> hipError_t;
    fn hipExtModuleLaunchKernel(
        function: hipFunction_t,
        x: u32,
        y: u32,
        z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        lds: usize,
        stream: hipStream_t,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
        start: hipEvent_t,
        stop: hipEvent_t,
        flags: u32,
    ) -> hipError_t;
    fn hipLaunchCooperativeKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        lds: std::ffi::c_uint,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipLaunchCooperativeKernel_spt(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        lds: u32,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipModuleLaunchCooperativeKernel(
        function: hipFunction_t,
        x: u32,
        y: u32,
        z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        lds: u32,
        stream: hipStream_t,
        parameters: *mut *mut c_void,
    ) -> hipError_t;
    fn hipLaunchCooperativeKernelMultiDevice(
        list: *mut hipLaunchParams,
        devices: c_int,
        flags: u32,
    ) -> hipError_t;
    fn hipExtLaunchMultiKernelMultiDevice(
        list: *mut hipLaunchParams,
        devices: c_int,
        flags: u32,
    ) -> hipError_t;
    fn hipModuleLaunchCooperativeKernelMultiDevice(
        list: *mut hipFunctionLaunchParams,
        devices: u32,
        flags: u32,
    ) -> hipError_t;
    fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t;
    fn hipModuleGetFunction(
        function: *mut hipFunction_t,
        module: hipModule_t,
        name: *const std::ffi::c_char,
    ) -> hipError_t;
    fn hipModuleUnload(module: hipModule_t) -> hipError_t;
    fn hipDeviceGetAttribute(
        value: *mut c_int,
        attribute: hipDeviceAttribute_t,
        device: hipDevice_t,
    ) -> hipError_t;
    fn hipLaunchKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        lds: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipModuleLaunchKernel(
        function: hipFunction_t,
        x: u32,
        y: u32,
        z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        lds: u32,
        stream: hipStream_t,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> hipError_t;
    fn hipGraphAddKernelNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        dependencies: *const hipGraphNode_t,
        count: usize,
        params: *const hipKernelNodeParams,
    ) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipEventElapsedTime(milliseconds: *mut f32, start: hipEvent_t, stop: hipEvent_t) -> hipError_t;
}

fn config() -> hipLaunchConfig_t {
    hipLaunchConfig_t {
        gridDim: line(1),
        blockDim: line(BLOCK),
        dynamicSmemBytes: 0,
        stream: hipStream_t::NULL,
        attrs: ptr::null_mut(),
        numAttrs: 0,
    }
}

// proves: hipLaunchKernelExC
#[test]
fn a_launch_takes_attributes_or_says_why_not() {
    let memory = Memory::of(&[1.0f64; BLOCK as usize]);
    let mut address = memory.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let arguments = arguments.as_mut_ptr();
    let mut attribute = hipLaunchAttribute {
        id: hipLaunchAttributePriority,
        value: hipLaunchAttributeValue { pad: [0; 64] },
    };
    let with = hipLaunchConfig_t { attrs: &mut attribute, numAttrs: 1, ..config() };
    ok!(hipLaunchKernelExC(&config(), doubles(), arguments), hipLaunchKernelExC(&with, doubles(), arguments));
    assert_eq!(memory.read()[..2], [4.0; 2]);

    attribute.id = hipLaunchAttributeCooperative;
    attribute.value.cooperative = 1;
    let with = hipLaunchConfig_t { attrs: &mut attribute, numAttrs: 1, ..config() };
    ok!(hipLaunchKernelExC(&with, doubles(), arguments));
    assert_eq!(memory.read()[..2], [8.0; 2]);
    attribute.id = hipLaunchAttributeID(99);
    let with = hipLaunchConfig_t { attrs: &mut attribute, numAttrs: 1, ..config() };
    fails!(hipErrorInvalidValue, hipLaunchKernelExC(&with, doubles(), arguments));
    let with = hipLaunchConfig_t { attrs: ptr::null_mut(), numAttrs: 1, ..config() };
    fails!(hipErrorInvalidValue, hipLaunchKernelExC(&with, doubles(), arguments));
    fails!(hipErrorInvalidValue, hipLaunchKernelExC(ptr::null(), doubles(), arguments));
    fails!(hipErrorInvalidDeviceFunction, hipLaunchKernelExC(&config(), ptr::null(), arguments));
    assert_eq!(memory.read()[..2], [8.0; 2], "what was refused has not run");
}

// proves: hipExtLaunchKernel
#[test]
fn events_stand_around_the_kernel() {
    let memory = Memory::of(&[1.0f64; BLOCK as usize]);
    let mut address = memory.pointer();
    let arguments = [(&raw mut address).cast::<c_void>()];
    let (mut start, mut stop, mut time) = (hipEvent_t::NULL, hipEvent_t::NULL, -1.0);
    ok!(hipEventCreate(&mut start), hipEventCreate(&mut stop));
    let launch = |block, flags| {
        let (function, arguments) = (doubles(), arguments.as_ptr().cast_mut());
        // SAFETY: the kernel takes one pointer.
        unsafe {
            hipExtLaunchKernel(function, line(1), block, arguments, 0, hipStream_t::NULL, start, stop, flags)
        }
    };
    fails!(hipErrorInvalidValue, launch(line(2 * BLOCK), 0));
    fails!(hipErrorInvalidHandle, hipEventElapsedTime(&mut time, start, stop));
    fails!(hipErrorInvalidValue, launch(line(BLOCK), 2));
    ok!(
        launch(line(BLOCK), 1),
        hipStreamSynchronize(hipStream_t::NULL),
        hipEventElapsedTime(&mut time, start, stop)
    );
    assert!(time >= 0.0);
    assert_eq!(memory.read()[7], 2.0);
    ok!(hipEventDestroy(start), hipEventDestroy(stop));
}

// proves: hipExtModuleLaunchKernel, hipDrvLaunchKernelEx
#[test]
fn a_grid_of_amds_launch_counts_threads() {
    let (mut module, mut function) = (hipModule_t::NULL, hipFunction_t::NULL);
    ok!(
        hipModuleLoadData(&mut module, image().as_ptr().cast()),
        hipModuleGetFunction(&mut function, module, c"kernelA".as_ptr()),
    );
    let memory = Memory::of(&[1.0f64; 2 * BLOCK as usize]);
    let mut address = memory.pointer();
    let arguments = [(&raw mut address).cast::<c_void>()];
    let launch = |threads| {
        let (null, arguments, none) = (hipStream_t::NULL, arguments.as_ptr().cast_mut(), hipEvent_t::NULL);
        let extra = ptr::null_mut();
        // SAFETY: the kernel takes one pointer.
        unsafe {
            hipExtModuleLaunchKernel(
                function, threads, 1, 1, BLOCK, 1, 1, 0, null, arguments, extra, none, none, 0,
            )
        }
    };
    ok!(launch(2 * BLOCK), launch(2 * BLOCK - 1));
    fails!(hipErrorInvalidValue, launch(0));
    let config = HIP_LAUNCH_CONFIG {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: BLOCK,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: hipStream_t::NULL,
        attrs: ptr::null_mut(),
        numAttrs: 0,
    };
    ok!(hipDrvLaunchKernelEx(&config, function, arguments.as_ptr().cast_mut(), ptr::null_mut()));
    let values = memory.read();
    let second = BLOCK as usize;
    assert_eq!((values[0], values[second]), (8.0, 4.0), "three launches, two of them with a second block");
    assert_eq!(values[2 * second - 1], 2.0, "the thread that the last block lacks");
    ok!(hipModuleUnload(module));
    fails!(hipErrorInvalidHandle, launch(BLOCK));
    fails!(hipErrorNotFound, hipModuleUnload(module));
}

// proves: hipLaunchKernel, hipModuleLaunchKernel, hipGraphAddKernelNode
#[test]
fn grids_beyond_what_the_device_reports_are_refused() {
    let (mut module, mut function) = (hipModule_t::NULL, hipFunction_t::NULL);
    ok!(
        hipModuleLoadData(&mut module, image().as_ptr().cast()),
        hipModuleGetFunction(&mut function, module, c"kernelA".as_ptr()),
    );
    let most = |attribute| {
        let mut value = 0;
        ok!(hipDeviceGetAttribute(&mut value, attribute, 0));
        value as u32
    };
    let limits =
        [hipDeviceAttributeMaxGridDimX, hipDeviceAttributeMaxGridDimY, hipDeviceAttributeMaxGridDimZ];
    let limits = limits.map(most);
    // ROCr has one less since runtime 1.18.
    let sides = [65_535, 65_536];
    assert!(
        limits[0] == i32::MAX as u32 && limits[1..].iter().all(|side| sides.contains(side)),
        "{limits:?}"
    );
    let memory = Memory::of(&[1.0f64; 64]);
    let mut address = memory.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let arguments = arguments.as_mut_ptr();
    let graph = new_graph();
    let block = dim3 { x: 1, y: 1, z: 1 };
    let eager = |grid| {
        // SAFETY: the kernel takes one pointer.
        unsafe { hipLaunchKernel(doubles(), grid, block, arguments, 0, hipStream_t::NULL) }
    };
    let of_module = |grid: dim3| {
        let (null, none) = (hipStream_t::NULL, ptr::null_mut());
        // SAFETY: as above.
        unsafe { hipModuleLaunchKernel(function, grid.x, grid.y, grid.z, 1, 1, 1, 0, null, arguments, none) }
    };
    let node = |grid| {
        let params = hipKernelNodeParams {
            blockDim: block,
            extra: ptr::null_mut(),
            func: doubles().cast_mut(),
            gridDim: grid,
            kernelParams: arguments,
            sharedMemBytes: 0,
        };
        let mut node = hipGraphNode_t::NULL;
        // SAFETY: as above.
        unsafe { hipGraphAddKernelNode(&mut node, graph, ptr::null(), 0, &params) }
    };
    for dimension in 0..3 {
        let grid = |blocks| {
            let mut grid = [1; 3];
            grid[dimension] = blocks;
            dim3 { x: grid[0], y: grid[1], z: grid[2] }
        };
        ok!(node(grid(limits[dimension])));
        for beyond in [limits[dimension] + 1, u32::MAX] {
            fails!(hipErrorInvalidConfiguration, eager(grid(beyond)));
            fails!(hipErrorInvalidValue, of_module(grid(beyond)));
            fails!(hipErrorInvalidValue, node(grid(beyond)));
        }
        fails!(hipErrorInvalidValue, eager(grid(0)));
        fails!(hipErrorInvalidValue, of_module(grid(0)));
        fails!(hipErrorInvalidValue, node(grid(0)));
    }
    ok!(hipStreamSynchronize(hipStream_t::NULL));
    assert_eq!(memory.read()[0], 1.0, "what was refused has not run");
    ok!(hipGraphDestroy(graph), hipModuleUnload(module));
}

// proves: hipLaunchKernelExC
#[test]
fn a_launch_with_a_priority_of_its_own_keeps_the_streams_order() {
    let memory = Memory::of(&[1.0f64; BLOCK as usize]);
    let mut address = memory.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let arguments = arguments.as_mut_ptr();
    let launch = |priority| {
        let mut value = hipLaunchAttributeValue { pad: [0; 64] };
        value.priority = priority;
        let mut attribute = hipLaunchAttribute { id: hipLaunchAttributePriority, value };
        let with = hipLaunchConfig_t { attrs: &mut attribute, numAttrs: 1, ..config() };
        ok!(hipLaunchKernelExC(&with, doubles(), arguments));
    };
    // Doubling is lost if two of the launches overlap.
    for n in 0..60 {
        match n % 4 {
            0 => ok!(hipLaunchKernelExC(&config(), doubles(), arguments)),
            n => launch(n - 2),
        }
    }
    assert_eq!(memory.read()[..2], [2f64.powi(60); 2]);
}

// proves: hipLaunchCooperativeKernel, hipLaunchCooperativeKernel_spt, hipModuleLaunchCooperativeKernel
// proves: hipLaunchCooperativeKernelMultiDevice, hipModuleLaunchCooperativeKernelMultiDevice
// proves: hipExtLaunchMultiKernelMultiDevice
#[test]
fn cooperative_kernels_run_by_every_route_if_they_fit() {
    let (mut module, mut function) = (hipModule_t::NULL, hipFunction_t::NULL);
    ok!(
        hipModuleLoadData(&mut module, image().as_ptr().cast()),
        hipModuleGetFunction(&mut function, module, c"kernelA".as_ptr()),
    );
    let memory = Memory::of(&[1.0f64; BLOCK as usize]);
    let mut address = memory.pointer();
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let (arguments, null) = (arguments.as_mut_ptr(), hipStream_t::NULL);
    let mut params = hipLaunchParams {
        func: doubles().cast_mut(),
        gridDim: line(1),
        blockDim: line(BLOCK),
        args: arguments,
        sharedMem: 0,
        stream: null,
    };
    let mut of_module = hipFunctionLaunchParams {
        function,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: BLOCK,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: null,
        kernelParams: arguments,
    };
    ok!(
        hipLaunchCooperativeKernel(doubles(), line(1), line(BLOCK), arguments, 0, null),
        hipLaunchCooperativeKernel_spt(doubles(), line(1), line(BLOCK), arguments, 0, null),
        hipStreamSynchronize(hipStreamPerThread),
        hipModuleLaunchCooperativeKernel(function, 1, 1, 1, BLOCK, 1, 1, 0, null, arguments),
        hipLaunchCooperativeKernelMultiDevice(&mut params, 1, 0),
        hipExtLaunchMultiKernelMultiDevice(&mut params, 1, 3),
        hipModuleLaunchCooperativeKernelMultiDevice(&mut of_module, 1, 0),
    );
    assert_eq!(memory.read()[BLOCK as usize - 1], 64.0);
    // No device of ours holds so many blocks.
    let many = line(1 << 20);
    fails!(
        hipErrorCooperativeLaunchTooLarge,
        hipLaunchCooperativeKernel(doubles(), many, line(BLOCK), arguments, 0, null)
    );
    fails!(
        hipErrorCooperativeLaunchTooLarge,
        hipModuleLaunchCooperativeKernel(function, 1 << 20, 1, 1, BLOCK, 1, 1, 0, null, arguments)
    );
    params.gridDim = many;
    fails!(hipErrorCooperativeLaunchTooLarge, hipLaunchCooperativeKernelMultiDevice(&mut params, 1, 0));
    fails!(hipErrorInvalidValue, hipLaunchCooperativeKernelMultiDevice(&mut params, 0, 0));
    fails!(hipErrorInvalidValue, hipExtLaunchMultiKernelMultiDevice(&mut params, 1, 4));
    fails!(hipErrorInvalidValue, hipLaunchCooperativeKernelMultiDevice(ptr::null_mut(), 1, 0));
    params.func = ptr::null_mut();
    fails!(hipErrorInvalidDeviceFunction, hipLaunchCooperativeKernelMultiDevice(&mut params, 1, 0));
    assert_eq!(memory.read()[0], 64.0, "what was refused has not run");
    ok!(hipModuleUnload(module));
}
