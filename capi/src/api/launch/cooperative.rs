//! Launches of kernels that may wait for themselves or each other, and launches on several devices.

use std::ffi::{c_int, c_uint, c_void};

use aqlipse::{
    Function, Stream, Together,
    graph::{Kernel, KernelAttributes},
    launch_together,
};

use super::kernel::{Launch, kernel_of, refused};
use crate::{
    api::module::register,
    caller,
    error::{
        hipError_t, hipErrorInvalidConfiguration, hipErrorInvalidDevice, hipErrorInvalidDeviceFunction,
        hipErrorInvalidValue,
    },
    object,
    types::*,
};

const COOPERATIVE: KernelAttributes = KernelAttributes { cooperative: 1, ..KernelAttributes::DEFAULT };

unsafe fn launch_host_function(
    function: *const c_void,
    grid: dim3,
    block: dim3,
    parameters: *mut *mut c_void,
    shared_bytes: c_uint,
    stream: hipStream_t,
) -> Result<(), hipError_t> {
    if function.is_null() {
        return Err(hipErrorInvalidDeviceFunction);
    }
    let launch = Launch {
        grid: [grid.x, grid.y, grid.z],
        block: [block.x, block.y, block.z],
        shared_bytes: shared_bytes as usize,
        stream,
        parameters,
        extra: std::ptr::null_mut(),
        attributes: COOPERATIVE,
        events: (None, None),
        priority: None,
    };
    // SAFETY: the caller's arguments.
    unsafe { launch.run(register::kernel(function)?) }
}

entry! {
    /// Launches the kernel of a host function, whose blocks are all resident and may wait for each other.
    fn hipLaunchCooperativeKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        parameters: *mut *mut c_void,
        shared_bytes: c_uint,
        stream: hipStream_t,
    ) -> hipError_t {
        // SAFETY: the caller's arguments.
        unsafe { launch_host_function(function, grid, block, parameters, shared_bytes, stream) }
    }
}

entry! {
    /// [`hipLaunchCooperativeKernel`] for callers to which a null stream is the thread's own.
    fn hipLaunchCooperativeKernel_spt(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        parameters: *mut *mut c_void,
        shared_bytes: u32,
        stream: hipStream_t,
    ) -> hipError_t {
        let stream = object::per_thread(stream);
        // SAFETY: the caller's arguments.
        unsafe { launch_host_function(function, grid, block, parameters, shared_bytes, stream) }
    }
}

entry! {
    /// Launches a kernel of a module, whose blocks are all resident and may wait for each other.
    fn hipModuleLaunchCooperativeKernel(
        function: hipFunction_t,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: hipStream_t,
        parameters: *mut *mut c_void,
    ) -> hipError_t {
        let function = object::function(function)?;
        let launch = Launch {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes: shared_bytes as usize,
            stream,
            parameters,
            extra: std::ptr::null_mut(),
            attributes: COOPERATIVE,
            events: (None, None),
            priority: None,
        };
        // SAFETY: the caller's arguments.
        unsafe { launch.run_of_module(function) }
    }
}

/// How flags order the kernels with the other work of their streams.
fn together(flags: c_uint, cooperative: bool) -> Result<Together, hipError_t> {
    let (no_before, no_after) =
        (hipCooperativeLaunchMultiDeviceNoPreSync, hipCooperativeLaunchMultiDeviceNoPostSync);
    if flags & !(no_before | no_after) != 0 {
        return Err(hipErrorInvalidValue);
    }
    Ok(Together { before: flags & no_before == 0, after: flags & no_after == 0, cooperative })
}

/// Kernels that meet must be one kernel in one shape: no device of ours supports others.
fn check_alike(kernels: &[(Stream, Kernel<Function>)]) -> Result<(), hipError_t> {
    let Some(((_, first), others)) = kernels.split_first() else { return Err(hipErrorInvalidValue) };
    let alike = |(_, kernel): &(Stream, Kernel<Function>)| {
        kernel.function.name() == first.function.name()
            && (kernel.grid, kernel.block, kernel.shared_bytes)
                == (first.grid, first.block, first.shared_bytes)
    };
    if others.iter().all(alike) { Ok(()) } else { Err(hipErrorInvalidValue) }
}

/// Launches a kernel on a stream of each of several devices.
unsafe fn launch_on_devices(
    list: *mut hipLaunchParams,
    devices: c_int,
    flags: c_uint,
    cooperative: bool,
) -> Result<(), hipError_t> {
    let how = together(flags, cooperative)?;
    let count = usize::try_from(devices).ok().filter(|n| *n > 0).ok_or(hipErrorInvalidValue)?;
    let mut kernels = Vec::new();
    // SAFETY: the caller's array, null or readable.
    for params in unsafe { caller::read_slice(list.cast_const(), count) }? {
        if params.func.is_null() {
            return Err(hipErrorInvalidDeviceFunction);
        }
        let launch = Launch {
            grid: [params.gridDim.x, params.gridDim.y, params.gridDim.z],
            block: [params.blockDim.x, params.blockDim.y, params.blockDim.z],
            shared_bytes: params.sharedMem,
            stream: params.stream,
            parameters: params.args,
            extra: std::ptr::null_mut(),
            attributes: KernelAttributes { cooperative: cooperative.into(), ..KernelAttributes::DEFAULT },
            events: (None, None),
            priority: None,
        };
        // SAFETY: the caller's arguments.
        kernels.push(unsafe { kernel_of(launch, register::kernel(params.func)?) }?);
    }
    finish(kernels, how)
}

fn finish(kernels: Vec<(Stream, Kernel<Function>)>, how: Together) -> Result<(), hipError_t> {
    let mut devices: Vec<_> = kernels.iter().map(|(stream, _)| stream.device().ordinal()).collect();
    devices.sort_unstable();
    if devices.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(hipErrorInvalidDevice);
    }
    if how.cooperative {
        check_alike(&kernels)?;
    }
    launch_together(kernels, how)
        .map_err(|error| refused(error, how.cooperative, hipErrorInvalidConfiguration))
}

entry! {
    /// Launches one kernel on several devices, whose grids may wait for each other.
    fn hipLaunchCooperativeKernelMultiDevice(
        list: *mut hipLaunchParams,
        devices: c_int,
        flags: c_uint,
    ) -> hipError_t {
        // SAFETY: the caller's array and arguments.
        unsafe { launch_on_devices(list, devices, flags, true) }
    }
}

entry! {
    /// Launches kernels on several devices at once.
    fn hipExtLaunchMultiKernelMultiDevice(
        list: *mut hipLaunchParams,
        devices: c_int,
        flags: c_uint,
    ) -> hipError_t {
        // SAFETY: the caller's array and arguments.
        unsafe { launch_on_devices(list, devices, flags, false) }
    }
}

entry! {
    /// Launches one kernel of modules on several devices, whose grids may wait for each other.
    fn hipModuleLaunchCooperativeKernelMultiDevice(
        list: *mut hipFunctionLaunchParams,
        devices: c_uint,
        flags: c_uint,
    ) -> hipError_t {
        let how = together(flags, true)?;
        let mut kernels = Vec::new();
        // SAFETY: the caller's array, null or readable.
        for params in unsafe { caller::read_slice(list.cast_const(), devices as usize) }? {
            let launch = Launch {
                grid: [params.gridDimX, params.gridDimY, params.gridDimZ],
                block: [params.blockDimX, params.blockDimY, params.blockDimZ],
                shared_bytes: params.sharedMemBytes as usize,
                stream: params.hStream,
                parameters: params.kernelParams,
                extra: std::ptr::null_mut(),
                attributes: COOPERATIVE,
                events: (None, None),
                priority: None,
            };
            // SAFETY: the caller's arguments.
            kernels.push(unsafe { kernel_of(launch, object::function(params.function)?) }?);
        }
        finish(kernels, how)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_leave_out_a_wait_each() {
        let how = |flags| together(flags, true).map(|how| (how.before, how.after));
        assert_eq!(how(0), Ok((true, true)));
        assert_eq!(how(hipCooperativeLaunchMultiDeviceNoPreSync), Ok((false, true)));
        assert_eq!(how(hipCooperativeLaunchMultiDeviceNoPostSync), Ok((true, false)));
        assert_eq!(how(4), Err(hipErrorInvalidValue));
    }
}
