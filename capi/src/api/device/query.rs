//! Devices and their properties.

use std::ffi::{c_char, c_int, c_uint};

use aqlipse::{Device, Properties, capture, memory::virtual_memory};

use super::attribute;
use crate::{caller, current, error::hipErrorInvalidValue, types::*};

entry! {
    /// Starts the library; every other call does so too.
    fn hipInit(flags: c_uint) -> hipError_t {
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        current::devices().map(drop)
    }
}

entry! {
    /// Stores the number of devices.
    fn hipGetDeviceCount(count: *mut c_int) -> hipError_t {
        if count.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let devices = current::devices();
        // SAFETY: the caller's pointer, which is not null. CAST: there are few devices.
        unsafe { caller::write(count, devices.map_or(0, <[_]>::len) as c_int) }?;
        devices.map(drop)
    }
}

entry! {
    /// Stores the calling thread's device.
    fn hipGetDevice(ordinal: *mut c_int) -> hipError_t {
        if ordinal.is_null() {
            return Err(hipErrorInvalidValue);
        }
        current::device()?;
        // SAFETY: the caller's pointer, which is not null. CAST: ordinals are small.
        unsafe { caller::write(ordinal, current::ordinal() as c_int) }
    }
}

entry! {
    /// Makes a device the calling thread's.
    fn hipSetDevice(ordinal: c_int) -> hipError_t {
        current::set(ordinal)
    }
}

entry! {
    /// Says which devices may be used, the most wanted first. A thread that has not chosen one has the first of them.
    fn hipSetValidDevices(ordinals: *mut c_int, count: c_int) -> hipError_t {
        let count = usize::try_from(count).map_err(|_| hipErrorInvalidValue)?;
        let devices = current::devices()?;
        if count > devices.len() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's array, null or readable.
        let ordinals = unsafe { caller::read_slice(ordinals, count) }?;
        let known = |&ordinal: &c_int| current::device_at(ordinal).map(|device| device.ordinal());
        let ordinals: Vec<usize> = ordinals.iter().map(known).collect::<Result<_, _>>()?;
        current::prefer(&ordinals);
        Ok(())
    }
}

entry! {
    /// Stores the device handle of an ordinal, which is the same number.
    fn hipDeviceGet(device: *mut hipDevice_t, ordinal: c_int) -> hipError_t {
        if device.is_null() {
            // HIP: AMD's runtime of October 2024 (tests/conformance/device_selection.cpp).
            return Err(hipErrorInvalidValue);
        }
        current::device_at(ordinal)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(device, ordinal) }
    }
}

entry! {
    /// Waits for everything on the device, or on that of the current context, which is the same one.
    fn hipDeviceSynchronize, hipCtxSynchronize() -> hipError_t {
        let device = current::device()?;
        capture::refuse_device_synchronize(&device)?;
        Ok(device.synchronize()?)
    }
}

entry! {
    /// Stores a device's name.
    fn hipDeviceGetName(name: *mut c_char, bytes: c_int, device: hipDevice_t) -> hipError_t {
        let device = current::device_at(device)?;
        let room = usize::try_from(bytes).map_err(|_| hipErrorInvalidValue)?;
        // HIP: AMD's runtime of October 2024 cuts a name (tests/conformance/device_identity.cpp).
        // SAFETY: the caller's buffer.
        unsafe { caller::write_text(&device.properties().name, name, room) }
    }
}

entry! {
    /// Stores a device's identity.
    fn hipDeviceGetUuid(uuid: *mut hipUUID, device: hipDevice_t) -> hipError_t {
        let device = current::device_at(device)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(uuid, identity(device.properties())) }
    }
}

pub(super) fn identity(properties: &Properties) -> hipUUID {
    // CAST: bytes, whatever the signedness of C's char.
    hipUUID { bytes: properties.uuid.map(|byte| byte as c_char) }
}

entry! {
    /// Stores a device's memory in bytes.
    fn hipDeviceTotalMem(bytes: *mut usize, device: hipDevice_t) -> hipError_t {
        let device = current::device_at(device)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(bytes, device.properties().total_memory as usize) }
    }
}

entry! {
    /// Stores a device's compute capability: 9 and 0 for gfx90a, 9 and 4 for gfx942, 9 and 5 for gfx950.
    fn hipDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: hipDevice_t) -> hipError_t {
        let (a, b) = current::device_at(device)?.properties().capability;
        // SAFETY: the caller's pointers, null or writable. CAST: small numbers.
        unsafe {
            caller::write(major, a as c_int)?;
            caller::write(minor, b as c_int)
        }
    }
}

/// A number that may not fit the interface's type.
pub(super) fn int(value: impl TryInto<c_int>) -> c_int {
    value.try_into().unwrap_or(c_int::MAX)
}

entry! {
    /// Stores one property of a device.
    fn hipDeviceGetAttribute(value: *mut c_int, attribute: hipDeviceAttribute_t, device: hipDevice_t) -> hipError_t {
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let device = current::device_at(device)?;
        let found = attribute::meant(attribute).and_then(|attribute| attribute_value(&device, attribute));
        let found = found.ok_or(hipErrorInvalidValue)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(value, found) }
    }
}

/// Bytes to which textures in memory, and their rows, must be aligned.
// HIP: 5.2.3 (tests/conformance/device_properties.cpp).
pub(super) const TEXTURE_ALIGNMENT: usize = 256;

/// Blocks of the largest size that a compute unit holds.
pub(super) fn largest_blocks_per_unit(p: &Properties) -> u32 {
    p.max_threads_per_unit / p.max_threads_per_block.max(1)
}

/// What an attribute is on a device; `None` if there is no such attribute, as of all that tell of Windows, of surfaces and
/// of textures of more than one kind.
// HIP: AMD's runtime of October 2024 (tests/conformance/device_attributes.cpp), but for textures, of which there are
// none, and for memory and engines as they are.
fn attribute_value(device: &Device, attribute: hipDeviceAttribute_t) -> Option<c_int> {
    let p = device.properties();
    Some(match attribute {
        hipDeviceAttributeClockRate => int(p.clock_khz),
        hipDeviceAttributeVirtualMemoryManagementSupported => {
            virtual_memory::is_supported().unwrap_or(false).into()
        }
        hipDeviceAttributeComputeCapabilityMajor => int(p.capability.0),
        hipDeviceAttributeComputeCapabilityMinor => int(p.capability.1),
        hipDeviceAttributeL2CacheSize => int(p.l2_bytes),
        hipDeviceAttributeMaxBlockDimX => int(p.max_block[0]),
        hipDeviceAttributeMaxBlockDimY => int(p.max_block[1]),
        hipDeviceAttributeMaxBlockDimZ => int(p.max_block[2]),
        hipDeviceAttributeMaxGridDimX => int(p.max_grid[0]),
        hipDeviceAttributeMaxGridDimY => int(p.max_grid[1]),
        hipDeviceAttributeMaxGridDimZ => int(p.max_grid[2]),
        hipDeviceAttributeMaxThreadsPerBlock => int(p.max_threads_per_block),
        hipDeviceAttributeMaxThreadsPerMultiProcessor => int(p.max_threads_per_unit),
        // Of the largest ones.
        hipDeviceAttributeMaxBlocksPerMultiProcessor => int(largest_blocks_per_unit(p)),
        hipDeviceAttributeMaxPitch => c_int::MAX,
        hipDeviceAttributeMemoryBusWidth => int(p.memory_bus_bits),
        hipDeviceAttributeMemoryClockRate => int(p.memory_clock_khz),
        hipDeviceAttributeMultiprocessorCount | hipDeviceAttributePhysicalMultiProcessorCount => {
            int(p.multiprocessors)
        }
        hipDeviceAttributePciBusId => int(p.pci.1),
        hipDeviceAttributePciDeviceId => int(p.pci.2),
        hipDeviceAttributePciDomainID => int(p.pci.0),
        // Without accumulation registers.
        hipDeviceAttributeMaxRegistersPerBlock | hipDeviceAttributeMaxRegistersPerMultiprocessor => {
            int(p.registers_per_block)
        }
        hipDeviceAttributeAsicRevision => int(p.asic_revision),
        hipDeviceAttributePciChipId => int(p.chip_id),
        hipDeviceAttributeNumberOfXccs => int(p.xccs),
        // What a unit has for one wavefront on each of its SIMDs, accumulation registers included, and instructions can name.
        hipDeviceAttributeMaxAvailableVgprsPerThread => {
            let named = if p.capability.0 >= 10 { 256 } else { 512 };
            int((p.registers_per_unit / p.wavefront.max(1) / 4).min(named))
        }
        // CAST: small numbers.
        hipDeviceAttributeMemoryPoolSupportedHandleTypes => shareable_handles(device).0 as c_int,
        // HSA does not tell on which node of the host the device is; -1 is CUDA's word for that.
        hipDeviceAttributeHostNumaId => -1,
        hipDeviceAttributeTextureAlignment
        | hipDeviceAttributeTexturePitchAlignment
        | hipDeviceAttributeSurfaceAlignment => int(TEXTURE_ALIGNMENT),
        hipDeviceAttributeMaxSharedMemoryPerBlock
        | hipDeviceAttributeSharedMemPerBlockOptin
        | hipDeviceAttributeSharedMemPerMultiprocessor
        | hipDeviceAttributeMaxSharedMemoryPerMultiprocessor => int(p.lds_per_block),
        hipDeviceAttributeTotalConstantMemory | hipDeviceAttributeTotalGlobalMem => int(p.total_memory),
        hipDeviceAttributeHostNativeAtomicSupported => c_int::from(p.host_atomics),
        hipDeviceAttributeIsLargeBar => c_int::from(p.large_bar),
        hipDeviceAttributeFineGrainSupport => c_int::from(p.fine_grained),
        hipDeviceAttributeWarpSize => int(p.wavefront),
        hipDeviceAttributeWallClockRate => int(p.wall_clock_khz),
        // Grids on several devices may differ in everything.
        hipDeviceAttributeCooperativeLaunch
        | hipDeviceAttributeCooperativeMultiDeviceLaunch
        | hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc
        | hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim
        | hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim
        | hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem => c_int::from(p.cooperative),
        hipDeviceAttributeCanMapHostMemory
        | hipDeviceAttributeConcurrentKernels
        | hipDeviceAttributeUnifiedAddressing
        | hipDeviceAttributeMemoryPoolsSupported
        | hipDeviceAttributeHostRegisterSupported
        | hipDeviceAttributeStreamPrioritiesSupported
        | hipDeviceAttributeManagedMemory
        | hipDeviceAttributeDeviceOverlap
        | hipDeviceAttributeGlobalL1CacheSupported
        | hipDeviceAttributeLocalL1CacheSupported
        | hipDeviceAttributeCanUseStreamWaitValue => 1,
        hipDeviceAttributeConcurrentManagedAccess => p.managed.moves.into(),
        hipDeviceAttributeDirectManagedMemAccessFromHost => p.managed.host_reaches_device.into(),
        hipDeviceAttributePageableMemoryAccess => p.managed.pageable.into(),
        hipDeviceAttributePageableMemoryAccessUsesHostPageTables => p.managed.host_page_tables.into(),
        hipDeviceAttributeEccEnabled
        // Copies are kernels.
        | hipDeviceAttributeAsyncEngineCount
        // Callers ask for the device's address, which is the same.
        | hipDeviceAttributeCanUseHostPointerForRegisteredMem
        | hipDeviceAttributeComputeMode
        | hipDeviceAttributeComputePreemptionSupported
        | hipDeviceAttributeIntegrated
        | hipDeviceAttributeIsMultiGpuBoard
        | hipDeviceAttributeKernelExecTimeout
        | hipDeviceAttributeImageSupport
        // What CUDA's devices tell of themselves, and Windows.
        | hipDeviceAttributeLuidDeviceNodeMask
        | hipDeviceAttributeMultiGpuBoardGroupID
        | hipDeviceAttributeReservedSharedMemPerBlock
        // What is not supported.
        | hipDeviceAttributeDmaBufSupported
        | hipDeviceAttributeGPUDirectRDMAWithHipVMMSupported
        | hipDeviceAttributeHandleTypeFabricSupported
        | hipDeviceAttributeExpertSchedMode
        | hipDeviceAttributeMaxDynDataPrefetchRegions
        // Textures and surfaces are not either.
        | hipDeviceAttributeMaxSurface1D
        | hipDeviceAttributeMaxTexture1DLinear
        | hipDeviceAttributeMaxTexture1DMipmap
        | hipDeviceAttributeMaxTextureCubemap
        | hipDeviceAttributeMaxTexture1DWidth
        | hipDeviceAttributeMaxTexture2DWidth
        | hipDeviceAttributeMaxTexture2DHeight
        | hipDeviceAttributeMaxTexture3DWidth
        | hipDeviceAttributeMaxTexture3DHeight
        | hipDeviceAttributeMaxTexture3DDepth
        | hipDeviceAttributeAccessPolicyMaxWindowSize
        | hipDeviceAttributePersistingL2CacheMaxSize => 0,
        _ => return None,
    })
}

/// The kinds of handle by which pools of a device's memory can be shared.
pub(crate) fn shareable_handles(device: &Device) -> hipMemAllocationHandleType {
    if device.shares_pools() { hipMemHandleTypePosixFileDescriptor } else { hipMemHandleTypeNone }
}
