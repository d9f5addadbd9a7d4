//! What is known of a kernel: attributes and occupancy.

use std::ffi::{c_int, c_uint, c_void};

use aqlipse::{Device, KernelCode};

use super::register;
use crate::{
    caller, current,
    error::{
        hipError_t, hipErrorInvalidClusterSize, hipErrorInvalidDeviceFunction, hipErrorInvalidHandle,
        hipErrorInvalidSymbol, hipErrorInvalidValue,
    },
    object,
    types::*,
};

/// A kernel's code on the current device, by host function or by handle.
fn code_of(function: *const c_void) -> Result<(Device, KernelCode), hipError_t> {
    let function = register::kernel(function)?;
    let device = current::device()?;
    let code = function.code(&device)?.clone();
    Ok((device, code))
}

/// As [`code_of`], for the attributes of a host function.
///
/// # Errors
/// `hipErrorInvalidDeviceFunction` for null, `hipErrorInvalidSymbol` for what is no kernel.
// HIP: AMD's runtime of October 2024 (tests/conformance/function_attributes.hip, function_settings.hip), unlike
// occupancy_errors.hip.
fn named(function: *const c_void) -> Result<(Device, KernelCode), hipError_t> {
    if !function.is_null() && !register::is_kernel(function) {
        return Err(hipErrorInvalidSymbol);
    }
    code_of(function)
}

/// As [`code_of`], for a handle.
///
/// # Errors
/// `null_code` for null, `hipErrorInvalidDeviceFunction` for a handle of no kernel.
fn module_code_of(
    function: hipFunction_t,
    null_code: hipError_t,
) -> Result<(Device, KernelCode), hipError_t> {
    if function == hipFunction_t::NULL {
        return Err(null_code);
    }
    object::FUNCTIONS.get(function.0).ok_or(hipErrorInvalidDeviceFunction)?;
    code_of(function.0 as *const c_void)
}

/// What one attribute of a kernel is on a device.
///
/// # Errors
/// `hipErrorInvalidValue` if there is no such attribute.
pub(super) fn attribute_of(
    device: &Device,
    code: &KernelCode,
    attribute: hipFunction_attribute,
) -> Result<c_int, hipError_t> {
    let all = attributes(device, code);
    Ok(match attribute {
        HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => all.maxThreadsPerBlock,
        HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => int(all.sharedSizeBytes),
        // As the structure has it: not counted.
        HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => -1,
        HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => int(all.localSizeBytes),
        HIP_FUNC_ATTRIBUTE_NUM_REGS => all.numRegs,
        HIP_FUNC_ATTRIBUTE_PTX_VERSION => all.ptxVersion,
        HIP_FUNC_ATTRIBUTE_BINARY_VERSION => all.binaryVersion,
        HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA => all.cacheModeCA,
        HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => all.maxDynamicSharedSizeBytes,
        HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => all.preferredShmemCarveout,
        _ => return Err(hipErrorInvalidValue),
    })
}

/// Accepts a limit for dynamic shared memory that the kernel can have, which it may use without asking; and a
/// preference between shared memory and cache in percent, which the hardware does not trade for each other.
///
/// # Errors
/// `hipErrorInvalidValue` for other values, and for attributes that are not the caller's to set.
pub(super) fn check_setting(
    code: &KernelCode,
    attribute: hipFuncAttribute,
    value: c_int,
) -> Result<(), hipError_t> {
    let accepted = match attribute {
        hipFuncAttributeMaxDynamicSharedMemorySize => {
            u32::try_from(value).is_ok_and(|bytes| bytes <= code.max_dynamic_lds())
        }
        hipFuncAttributePreferredSharedMemoryCarveout => (-1..=100).contains(&value),
        _ => false,
    };
    if accepted { Ok(()) } else { Err(hipErrorInvalidValue) }
}

/// A number that may not fit the interface's type.
fn int(value: impl TryInto<c_int>) -> c_int {
    value.try_into().unwrap_or(c_int::MAX)
}

fn attributes(device: &Device, code: &KernelCode) -> hipFuncAttributes {
    let (major, minor) = device.properties().capability;
    let version = int(major * 10 + minor);
    hipFuncAttributes {
        binaryVersion: version,
        cacheModeCA: 0,
        // Not counted.
        // HIP: AMD's runtime of October 2024 (tests/conformance/function_attributes.hip).
        constSizeBytes: usize::MAX,
        localSizeBytes: code.private_bytes() as usize,
        maxDynamicSharedSizeBytes: int(code.max_dynamic_lds()),
        maxThreadsPerBlock: int(code.max_block()),
        numRegs: int(code.vgprs()),
        preferredShmemCarveout: 0,
        // There is no virtual architecture: the binary's own stands for it.
        ptxVersion: version,
        sharedSizeBytes: code.group_bytes() as usize,
    }
}

entry! {
    /// Stores what is known of a host function's kernel.
    fn hipFuncGetAttributes(out: *mut hipFuncAttributes, function: *const c_void) -> hipError_t {
        if out.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (device, code) = named(function)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(out, attributes(&device, &code)) }
    }
}

entry! {
    /// Stores one fact of a module's kernel.
    fn hipFuncGetAttribute(
        value: *mut c_int,
        attribute: hipFunction_attribute,
        function: hipFunction_t,
    ) -> hipError_t {
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (device, code) = module_code_of(function, hipErrorInvalidHandle)?;
        let found = attribute_of(&device, &code, attribute)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(value, found) }
    }
}

entry! {
    /// Sets an attribute of a host function's kernel.
    fn hipFuncSetAttribute(function: *const c_void, attribute: hipFuncAttribute, value: c_int) -> hipError_t {
        let (_, code) = named(function)?;
        check_setting(&code, attribute, value)
    }
}

/// Refuses a hint for no function; whether there is a kernel behind it is not looked at.
// HIP: 5.2.3 and AMD's runtime of October 2024 (tests/conformance/function_settings.hip).
fn check_not_null(function: *const c_void) -> Result<(), hipError_t> {
    if function.is_null() { Err(hipErrorInvalidDeviceFunction) } else { Ok(()) }
}

entry! {
    /// Accepts a preference between shared memory and cache: a hint that AMD's hardware ignores, as the header says.
    fn hipFuncSetCacheConfig(function: *const c_void, config: hipFuncCache_t) -> hipError_t {
        check_not_null(function)?;
        crate::api::device::configuration::check_cache_config(config)
    }
}

entry! {
    /// Accepts a width of shared memory's banks: a hint that AMD's hardware ignores, as the header says.
    fn hipFuncSetSharedMemConfig(function: *const c_void, config: hipSharedMemConfig) -> hipError_t {
        check_not_null(function)?;
        crate::api::device::configuration::check_bank_size(config)
    }
}

/// Stores how many blocks of a kernel run on a compute unit at once.
unsafe fn active_blocks(
    out: *mut c_int,
    (device, code): (Device, KernelCode),
    block: c_int,
    dynamic_lds: usize,
) -> Result<(), hipError_t> {
    let block = u32::try_from(block).ok().filter(|&block| block > 0).ok_or(hipErrorInvalidValue)?;
    let dynamic_lds = u32::try_from(dynamic_lds).unwrap_or(u32::MAX);
    let blocks = code.blocks_per_unit(device.properties(), block, dynamic_lds);
    // SAFETY: the caller's pointer, null or writable.
    unsafe { caller::write(out, int(blocks)) }
}

/// Stores the block size that keeps most threads on the device, and as many blocks as fill it.
unsafe fn potential_block(
    grid: *mut c_int,
    block: *mut c_int,
    (device, code): (Device, KernelCode),
    dynamic_lds: usize,
    limit: c_int,
) -> Result<(), hipError_t> {
    // HIP: 5.2.3 and AMD's runtime of October 2024 take a negative limit for none
    // (tests/conformance/occupancy_potential.hip).
    let limit = u32::try_from(limit).ok().filter(|&limit| limit > 0).unwrap_or(u32::MAX);
    let dynamic_lds = u32::try_from(dynamic_lds).unwrap_or(u32::MAX);
    let (size, blocks) = code.best_block(device.properties(), dynamic_lds, limit);
    // SAFETY: the caller's pointers, null or writable.
    unsafe {
        caller::write(grid, int(blocks * device.properties().multiprocessors))?;
        caller::write(block, int(size))
    }
}

/// Accepts flags of occupancy queries: with or without caching, blocks are as many.
fn check_flags(flags: c_uint) -> Result<(), hipError_t> {
    if flags & !hipOccupancyDisableCachingOverride == 0 { Ok(()) } else { Err(hipErrorInvalidValue) }
}

entry! {
    /// Stores how many blocks of a host function's kernel run on a compute unit at once.
    fn hipOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: *const c_void,
        block: c_int,
        dynamic_lds: usize,
    ) -> hipError_t {
        if blocks.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointer.
        unsafe { active_blocks(blocks, code_of(function)?, block, dynamic_lds) }
    }
}

entry! {
    /// Stores how many blocks of a host function's kernel run on a compute unit at once.
    fn hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int,
        function: *const c_void,
        block: c_int,
        dynamic_lds: usize,
        flags: c_uint,
    ) -> hipError_t {
        if blocks.is_null() {
            return Err(hipErrorInvalidValue);
        }
        check_flags(flags)?;
        // SAFETY: the caller's pointer.
        unsafe { active_blocks(blocks, code_of(function)?, block, dynamic_lds) }
    }
}

entry! {
    /// Stores how many bytes of dynamic shared memory each of so many blocks can have on a compute unit.
    fn hipOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize,
        function: *const c_void,
        blocks: c_int,
        block: c_int,
    ) -> hipError_t {
        if bytes.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let positive = |n: c_int| u32::try_from(n).ok().filter(|&n| n > 0).ok_or(hipErrorInvalidValue);
        let (blocks, block) = (positive(blocks)?, positive(block)?);
        let (device, code) = code_of(function)?;
        let available = code.available_dynamic_lds(device.properties(), blocks, block);
        let available = available.ok_or(hipErrorInvalidValue)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(bytes, available as usize) }
    }
}

/// What is wrong with a question about clusters of blocks: these devices have none.
///
/// # Errors
/// `hipErrorInvalidClusterSize`, or what is wrong with the arguments.
unsafe fn no_clusters(
    answer: *mut c_int,
    function: *const c_void,
    config: *const hipLaunchConfig_t,
) -> Result<(), hipError_t> {
    if answer.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's structure, null or readable.
    let config = unsafe { caller::read(config) }?;
    if config.attrs.is_null() && config.numAttrs > 0 {
        return Err(hipErrorInvalidValue);
    }
    code_of(function)?;
    Err(hipErrorInvalidClusterSize)
}

entry! {
    /// Tells how many clusters of blocks run on the device at once: it has no clusters.
    fn hipOccupancyMaxActiveClusters(
        clusters: *mut c_int,
        function: *const c_void,
        config: *const hipLaunchConfig_t,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { no_clusters(clusters, function, config) }
    }
}

entry! {
    /// Tells how many blocks the largest cluster has: the device has no clusters.
    fn hipOccupancyMaxPotentialClusterSize(
        blocks: *mut c_int,
        function: *const c_void,
        config: *const hipLaunchConfig_t,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { no_clusters(blocks, function, config) }
    }
}

entry! {
    /// Stores how many blocks of a module's kernel run on a compute unit at once.
    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: hipFunction_t,
        block: c_int,
        dynamic_lds: usize,
    ) -> hipError_t {
        if blocks.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointer.
        unsafe { active_blocks(blocks, module_code_of(function, hipErrorInvalidValue)?, block, dynamic_lds) }
    }
}

entry! {
    /// Stores how many blocks of a module's kernel run on a compute unit at once.
    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int,
        function: hipFunction_t,
        block: c_int,
        dynamic_lds: usize,
        flags: c_uint,
    ) -> hipError_t {
        if blocks.is_null() {
            return Err(hipErrorInvalidValue);
        }
        check_flags(flags)?;
        // SAFETY: the caller's pointer.
        unsafe { active_blocks(blocks, module_code_of(function, hipErrorInvalidValue)?, block, dynamic_lds) }
    }
}

entry! {
    /// Stores the block size, up to a limit if that is not 0, that keeps most threads of a host function's kernel on
    /// the device, and how many such blocks fill it.
    fn hipOccupancyMaxPotentialBlockSize(
        grid: *mut c_int,
        block: *mut c_int,
        function: *const c_void,
        dynamic_lds: usize,
        limit: c_int,
    ) -> hipError_t {
        if grid.is_null() || block.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointers.
        unsafe { potential_block(grid, block, code_of(function)?, dynamic_lds, limit) }
    }
}

entry! {
    /// Stores the block size, up to a limit if that is not 0, that keeps most threads of a module's kernel on the
    /// device, and how many such blocks fill it.
    fn hipModuleOccupancyMaxPotentialBlockSize(
        grid: *mut c_int,
        block: *mut c_int,
        function: hipFunction_t,
        dynamic_lds: usize,
        limit: c_int,
    ) -> hipError_t {
        if grid.is_null() || block.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointers.
        unsafe { potential_block(grid, block, module_code_of(function, hipErrorInvalidValue)?, dynamic_lds, limit) }
    }
}

entry! {
    /// [`hipModuleOccupancyMaxPotentialBlockSize`] with flags, which change nothing.
    fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
        grid: *mut c_int,
        block: *mut c_int,
        function: hipFunction_t,
        dynamic_lds: usize,
        limit: c_int,
        flags: c_uint,
    ) -> hipError_t {
        if grid.is_null() || block.is_null() {
            return Err(hipErrorInvalidValue);
        }
        check_flags(flags)?;
        // SAFETY: the caller's pointers.
        unsafe { potential_block(grid, block, module_code_of(function, hipErrorInvalidValue)?, dynamic_lds, limit) }
    }
}
