//! Kernel launches by every route but `<<<...>>>`.

use std::ffi::{c_int, c_uint, c_void};

use aqlipse::{
    Error, Event, Function, Misfit, Stream,
    graph::{AccessPolicy, Kernel, KernelAttributes},
};

use super::arguments;
use crate::{
    api::module::register,
    caller,
    entry::{call, recorded},
    error::{
        hipError_t, hipErrorCooperativeLaunchTooLarge, hipErrorInvalidConfiguration,
        hipErrorInvalidDeviceFunction, hipErrorInvalidValue, hipErrorLaunchFailure, hipErrorNotSupported,
    },
    object,
    types::*,
};

/// What a launch needs beside its kernel.
pub(super) struct Launch {
    /// Blocks in x, y, z.
    pub(super) grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub(super) block: [u32; 3],
    pub(super) shared_bytes: usize,
    pub(super) stream: hipStream_t,
    /// The arguments, by either of two routes.
    pub(super) parameters: *mut *mut c_void,
    pub(super) extra: *mut *mut c_void,
    pub(super) attributes: KernelAttributes,
    /// Events to record before and behind the kernel.
    pub(super) events: (Option<Event>, Option<Event>),
    /// Another priority than the stream's.
    pub(super) priority: Option<c_int>,
}

impl Launch {
    /// Puts the kernel of a host function on the stream.
    ///
    /// # Errors
    /// What the kernel and the device cannot take, as [`refused`] says it.
    ///
    /// # Safety
    /// The arguments are as the kernel's metadata describes them.
    pub(super) unsafe fn run(self, function: Function) -> Result<(), hipError_t> {
        // SAFETY: the caller's promise.
        unsafe { self.run_or(function, hipErrorInvalidConfiguration) }
    }

    /// As [`Launch::run`] for a kernel of a module, where a grid that is too large has another code.
    ///
    /// # Errors
    /// As [`Launch::run`].
    ///
    /// # Safety
    /// As [`Launch::run`].
    // HIP: AMD's runtime of October 2024 (tests/conformance/module_launch.hip).
    pub(super) unsafe fn run_of_module(self, function: Function) -> Result<(), hipError_t> {
        // SAFETY: the caller's promise.
        unsafe { self.run_or(function, hipErrorInvalidValue) }
    }

    /// As [`Launch::run`]; `grid_code` is for a grid that is too large.
    unsafe fn run_or(mut self, function: Function, grid_code: hipError_t) -> Result<(), hipError_t> {
        let (start, stop) = std::mem::take(&mut self.events);
        let (cooperative, priority) = (self.attributes.is_cooperative(), self.priority);
        // SAFETY: the caller's promise.
        let (stream, kernel) = unsafe { kernel_of(self, function) }?;
        let code = |error| refused(error, cooperative, grid_code);
        if let Some(start) = start {
            // A launch that will be refused must not move the event.
            aqlipse::check_kernel(stream.device(), &kernel).map_err(code)?;
            stream.record_event(&start)?;
        }
        match priority {
            Some(priority) => stream.launch_at(kernel, priority),
            None => stream.launch(kernel),
        }
        .map_err(code)?;
        if let Some(stop) = stop {
            stream.record_event(&stop)?;
        }
        Ok(())
    }
}

/// The code of a launch that was refused; `grid_code` is for a grid that is too large. Nodes of graphs have one for all
/// sizes.
// HIP: AMD's runtime of October 2024 (tests/conformance/launch_errors.hip, module_launch.hip, launch_cooperative.hip).
pub(super) fn refused(error: Error, cooperative: bool, grid_code: hipError_t) -> hipError_t {
    let Error::InvalidConfiguration(misfit) = error else { return error.into() };
    // The sentence is logged.
    let other = hipError_t::from(error);
    match misfit {
        Misfit::Zero => hipErrorInvalidValue,
        Misfit::Block if !cooperative => hipErrorInvalidValue,
        Misfit::Bounds => hipErrorLaunchFailure,
        Misfit::SharedMemory if cooperative => hipErrorCooperativeLaunchTooLarge,
        Misfit::SharedMemory => hipErrorInvalidValue,
        Misfit::Grid | Misfit::WorkItems => grid_code,
        _ => other,
    }
}

/// The stream and the kernel that a launch describes.
///
/// # Errors
/// What the arguments are wrong with, and what loading the kernel can fail with.
///
/// # Safety
/// As for [`Launch::run`].
pub(super) unsafe fn kernel_of(
    launch: Launch,
    function: Function,
) -> Result<(Stream, Kernel<Function>), hipError_t> {
    let stream = object::stream(launch.stream)?;
    let code = function.code(stream.device())?;
    // SAFETY: the caller's promise.
    let kernargs = unsafe { arguments::pack(code, launch.parameters, launch.extra) }?;
    let kernel = Kernel {
        function,
        grid: launch.grid,
        block: launch.block,
        shared_bytes: u32::try_from(launch.shared_bytes).map_err(|_| hipErrorInvalidValue)?,
        kernargs,
        attributes: launch.attributes.into(),
    };
    Ok((stream, kernel))
}

fn sizes(dim: dim3) -> [u32; 3] {
    [dim.x, dim.y, dim.z]
}

/// The events of a launch, each of which may be null.
fn events(start: hipEvent_t, stop: hipEvent_t) -> Result<(Option<Event>, Option<Event>), hipError_t> {
    let event = |handle| if handle == hipEvent_t::NULL { Ok(None) } else { object::event(handle).map(Some) };
    Ok((event(start)?, event(stop)?))
}

/// Accepts the flags of AMD's launches: a kernel that may overtake others may also wait its turn.
fn check_flags(flags: c_uint) -> Result<(), hipError_t> {
    if flags & !hipExtAnyOrderLaunch == 0 { Ok(()) } else { Err(hipErrorInvalidValue) }
}

entry! {
    /// Launches a kernel of a module.
    fn hipModuleLaunchKernel(
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
        extra: *mut *mut c_void,
    ) -> hipError_t {
        let function = object::function(function)?;
        let launch = Launch {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes: shared_bytes as usize,
            stream,
            parameters,
            extra,
            attributes: KernelAttributes::default(),
            events: (None, None),
            priority: None,
        };
        // SAFETY: the caller's arguments.
        unsafe { launch.run_of_module(function) }
    }
}

unsafe fn launch_host_function(
    function: *const c_void,
    grid: dim3,
    block: dim3,
    parameters: *mut *mut c_void,
    shared_bytes: usize,
    stream: hipStream_t,
    events: (Option<Event>, Option<Event>),
) -> Result<(), hipError_t> {
    if function.is_null() {
        return Err(hipErrorInvalidDeviceFunction);
    }
    let function = register::kernel(function)?;
    let launch = Launch {
        grid: sizes(grid),
        block: sizes(block),
        shared_bytes,
        stream,
        parameters,
        extra: std::ptr::null_mut(),
        attributes: KernelAttributes::default(),
        events,
        priority: None,
    };
    // SAFETY: the caller's arguments.
    unsafe { launch.run(function) }
}

/// Launches the kernel of a host function whose arguments lie in a buffer.
///
/// # Safety
/// The arguments are as the kernel's metadata describes them.
pub(super) unsafe fn launch_packed(
    function: *const c_void,
    grid: dim3,
    block: dim3,
    shared_bytes: usize,
    stream: hipStream_t,
    packed: &[u8],
) -> Result<(), hipError_t> {
    if function.is_null() {
        return Err(hipErrorInvalidDeviceFunction);
    }
    let function = register::kernel(function)?;
    // The launch reads as much as the kernel takes.
    if packed.len() < function.code(object::stream(stream)?.device())?.argument_bytes() {
        return Err(hipErrorInvalidValue);
    }
    let mut bytes = packed.len();
    let mut extra = arguments::buffer_list(packed, &mut bytes);
    let launch = Launch {
        grid: sizes(grid),
        block: sizes(block),
        shared_bytes,
        stream,
        parameters: std::ptr::null_mut(),
        extra: extra.as_mut_ptr(),
        attributes: KernelAttributes::default(),
        events: (None, None),
        priority: None,
    };
    // SAFETY: the list and what it names live until the call returns; the arguments are the caller's.
    unsafe { launch.run(function) }
}

entry! {
    /// Launches the kernel of a host function.
    fn hipLaunchKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        shared_bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        // SAFETY: the caller's arguments.
        unsafe { launch_host_function(function, grid, block, arguments, shared_bytes, stream, (None, None)) }
    }
}

entry! {
    /// [`hipLaunchKernel`] for callers to which a null stream is the thread's own.
    fn hipLaunchKernel_spt(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        shared_bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        let stream = object::per_thread(stream);
        // SAFETY: the caller's arguments.
        unsafe { launch_host_function(function, grid, block, arguments, shared_bytes, stream, (None, None)) }
    }
}

entry! {
    /// Launches the kernel of a host function between two events, each of which may be null.
    fn hipExtLaunchKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        shared_bytes: usize,
        stream: hipStream_t,
        start: hipEvent_t,
        stop: hipEvent_t,
        flags: c_int,
    ) -> hipError_t {
        // CAST: the same bits.
        check_flags(flags as c_uint)?;
        let events = events(start, stop)?;
        // SAFETY: the caller's arguments.
        unsafe { launch_host_function(function, grid, block, arguments, shared_bytes, stream, events) }
    }
}

/// A grid in threads as a grid in blocks, and the threads that the last block lacks; both in x, y, z.
///
/// # Errors
/// `hipErrorInvalidValue` for a grid of no threads, `hipErrorInvalidConfiguration` for a block of none.
// HIP: AMD's runtime of October 2024 (tests/conformance/module_ext_launch.hip).
fn blocks_of(threads: [u32; 3], block: [u32; 3]) -> Result<([u32; 3], [u32; 3]), hipError_t> {
    if threads.contains(&0) {
        return Err(hipErrorInvalidValue);
    }
    if block.contains(&0) {
        return Err(hipErrorInvalidConfiguration);
    }
    let lacking = |i: usize| match threads[i] % block[i] {
        0 => 0,
        rest => block[i] - rest,
    };
    Ok(([0, 1, 2].map(|i| threads[i].div_ceil(block[i])), [0, 1, 2].map(lacking)))
}

/// The arguments of AMD's launch of a module's kernel, which counts the grid in threads.
macro_rules! thread_launch {
    ($(#[$meta:meta])* fn $name:ident $(as $symbol:literal)? ($($flags:ident: $flags_ty:ty)?)) => {
        entry! {
            $(#[$meta])*
            fn $name $(as $symbol)? (
                function: hipFunction_t,
                threads_x: u32,
                threads_y: u32,
                threads_z: u32,
                block_x: u32,
                block_y: u32,
                block_z: u32,
                shared_bytes: usize,
                stream: hipStream_t,
                parameters: *mut *mut c_void,
                extra: *mut *mut c_void,
                start: hipEvent_t,
                stop: hipEvent_t,
                $($flags: $flags_ty)?
            ) -> hipError_t {
                $(check_flags($flags)?;)?
                let function = object::function(function)?;
                let block = [block_x, block_y, block_z];
                let (grid, lacking) = blocks_of([threads_x, threads_y, threads_z], block)?;
                let launch = Launch {
                    grid,
                    block,
                    shared_bytes,
                    stream,
                    parameters,
                    extra,
                    attributes: KernelAttributes { lacking, ..KernelAttributes::DEFAULT },
                    events: events(start, stop)?,
                    priority: None,
                };
                // SAFETY: the caller's arguments.
                unsafe { launch.run_of_module(function) }
            }
        }
    };
}

thread_launch! {
    /// Launches a kernel of a module between two events, each of which may be null; the grid counts threads.
    fn hipExtModuleLaunchKernel(flags: u32)
}

thread_launch! {
    /// [`hipExtModuleLaunchKernel`] without flags; the older name.
    fn hipHccModuleLaunchKernel()
}

// ABI: up to HIP 5 both were C++ functions.
thread_launch! {
    /// [`hipExtModuleLaunchKernel`] under the name that C++ gives it.
    fn ext_module_launch as "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j"(flags: u32)
}

thread_launch! {
    /// [`hipHccModuleLaunchKernel`] under the name that C++ gives it.
    fn hcc_module_launch as "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_"()
}

entry! {
    /// Launches the kernel of a host function with arguments that a header of HIP 4 has packed.
    // ABI: a C++ function without a result: what went wrong is the thread's last error.
    plain fn launch_kernel_ggl as "_ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv"(
        function: usize,
        grid: *const dim3,
        block: *const dim3,
        shared_bytes: u32,
        stream: hipStream_t,
        extra: *mut *mut c_void,
    ) -> (), or (); {
        let _ = recorded(&const { call("hipLaunchKernelGGL") }, None, || {
            // SAFETY: C++ references, null or readable.
            let (grid, block) = unsafe { (caller::read(grid)?, caller::read(block)?) };
            let launch = Launch {
                grid: sizes(grid),
                block: sizes(block),
                shared_bytes: shared_bytes as usize,
                stream,
                parameters: std::ptr::null_mut(),
                extra,
                attributes: KernelAttributes::default(),
                events: (None, None),
                priority: None,
            };
            // SAFETY: the caller's arguments.
            unsafe { launch.run(register::kernel(function as *const c_void)?) }
        });
    }
}

/// What a list of launch attributes asks for, and the priority, if one is given.
///
/// # Errors
/// `hipErrorNotSupported` for a synchronisation domain, `hipErrorInvalidValue` for what is no attribute of a launch.
unsafe fn attributes(
    list: *const hipLaunchAttribute,
    count: c_uint,
) -> Result<(KernelAttributes, Option<c_int>), hipError_t> {
    let (mut found, mut priority) = (KernelAttributes::default(), None);
    // SAFETY: the caller's array, null or readable.
    for attribute in unsafe { caller::read_slice(list, count as usize) }? {
        // SAFETY: all members are plain data for which any bits are values; `id` says which one is meant.
        unsafe {
            match attribute.id {
                hipLaunchAttributeCooperative => found.cooperative = attribute.value.cooperative,
                hipLaunchAttributePriority => {
                    found.priority = attribute.value.priority;
                    priority = Some(attribute.value.priority);
                }
                hipLaunchAttributeAccessPolicyWindow => {
                    found.access_policy = access_policy(&attribute.value.accessPolicyWindow)?;
                }
                hipLaunchAttributeMemSyncDomain | hipLaunchAttributeMemSyncDomainMap => {
                    return Err(hipErrorNotSupported);
                }
                _ => return Err(hipErrorInvalidValue),
            }
        }
    }
    Ok((found, priority))
}

/// A hint for the caches.
///
/// # Errors
/// `hipErrorInvalidValue` for a window that is larger than the device's, whose caches take no such hints, for a ratio
/// outside 0 to 1, or for misses that would persist.
pub(crate) fn access_policy(window: &hipAccessPolicyWindow) -> Result<AccessPolicy, hipError_t> {
    let persists = window.missProp == hipAccessPropertyPersisting;
    if window.num_bytes > MAX_WINDOW_BYTES || !(0.0..=1.0).contains(&window.hitRatio) || persists {
        return Err(hipErrorInvalidValue);
    }
    Ok(AccessPolicy {
        base: window.base_ptr as u64,
        bytes: window.num_bytes as u64,
        hit_ratio: window.hitRatio,
        on_hit: window.hitProp.0,
        on_miss: window.missProp.0,
    })
}

/// A hint for the caches as callers see it.
pub(crate) fn window_of(policy: &AccessPolicy) -> hipAccessPolicyWindow {
    hipAccessPolicyWindow {
        base_ptr: policy.base as usize as *mut c_void,
        hitProp: hipAccessProperty(policy.on_hit),
        hitRatio: policy.hit_ratio,
        missProp: hipAccessProperty(policy.on_miss),
        num_bytes: policy.bytes as usize,
    }
}

/// `accessPolicyMaxWindowSize` of all devices.
const MAX_WINDOW_BYTES: usize = 0;

entry! {
    /// Launches the kernel of a host function as a configuration says.
    fn hipLaunchKernelExC(
        config: *const hipLaunchConfig_t,
        function: *const c_void,
        arguments: *mut *mut c_void,
    ) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable.
        let config = unsafe { caller::read(config) }?;
        if function.is_null() {
            return Err(hipErrorInvalidDeviceFunction);
        }
        // SAFETY: the caller's array, null or readable.
        let (attributes, priority) = unsafe { attributes(config.attrs, config.numAttrs) }?;
        let launch = Launch {
            grid: sizes(config.gridDim),
            block: sizes(config.blockDim),
            shared_bytes: config.dynamicSmemBytes,
            stream: config.stream,
            parameters: arguments,
            extra: std::ptr::null_mut(),
            attributes,
            events: (None, None),
            priority,
        };
        // SAFETY: the caller's arguments.
        unsafe { launch.run(register::kernel(function)?) }
    }
}

entry! {
    /// Launches a kernel of a module as a configuration says.
    fn hipDrvLaunchKernelEx(
        config: *const HIP_LAUNCH_CONFIG,
        function: hipFunction_t,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable.
        let config = unsafe { caller::read(config) }?;
        let function = object::function(function)?;
        // SAFETY: the caller's array, null or readable.
        let (attributes, priority) = unsafe { attributes(config.attrs, config.numAttrs) }?;
        let launch = Launch {
            grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
            block: [config.blockDimX, config.blockDimY, config.blockDimZ],
            shared_bytes: config.sharedMemBytes as usize,
            stream: config.hStream,
            parameters,
            extra,
            attributes,
            events: (None, None),
            priority,
        };
        // SAFETY: the caller's arguments.
        unsafe { launch.run_of_module(function) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_of_a_grid_in_threads_may_lack_some() {
        assert_eq!(blocks_of([128, 2, 1], [64, 1, 1]), Ok(([2, 2, 1], [0, 0, 0])));
        assert_eq!(blocks_of([100, 3, 1], [64, 2, 1]), Ok(([2, 2, 1], [28, 1, 0])));
        assert_eq!(blocks_of([5, 1, u32::MAX], [64, 1, 4]), Ok(([1, 1, 1 << 30], [59, 0, 1])));
        assert_eq!(blocks_of([0, 1, 1], [64, 1, 1]), Err(hipErrorInvalidValue));
        assert_eq!(blocks_of([64, 1, 1], [64, 0, 1]), Err(hipErrorInvalidConfiguration));
    }

    #[test]
    fn cache_hints_are_checked() {
        let window = |num_bytes, hitRatio, missProp| hipAccessPolicyWindow {
            base_ptr: std::ptr::null_mut(),
            hitProp: hipAccessPropertyNormal,
            hitRatio,
            missProp,
            num_bytes,
        };
        assert!(access_policy(&window(0, 0.5, hipAccessPropertyNormal)).is_ok());
        for bad in [
            window(1, 0.5, hipAccessPropertyNormal),
            window(0, -0.1, hipAccessPropertyNormal),
            window(0, 1.1, hipAccessPropertyNormal),
            window(0, f32::NAN, hipAccessPropertyNormal),
            window(0, 0.5, hipAccessPropertyPersisting),
        ] {
            assert_eq!(access_policy(&bad), Err(hipErrorInvalidValue));
        }
    }
}
