//! Virtual memory management: reserved addresses, physical memory, mappings, access.

use std::{
    ffi::{c_int, c_ulonglong, c_void},
    os::fd::IntoRawFd,
};

use aqlipse::{
    Device,
    memory::{
        Processor,
        virtual_memory::{self, Access, PhysicalId},
    },
};

use crate::{
    caller, current, descriptor,
    error::{hipError_t, hipErrorInvalidValue, hipErrorNotSupported},
    handle::{KIND_SHIFT, Kind},
    soname,
    types::*,
};

/// Bits of every handle of physical memory.
const MARK: usize = Kind::PhysicalMemory.bits();

fn handle_of(id: PhysicalId) -> hipMemGenericAllocationHandle_t {
    // CAST: the library is for 64-bit hosts only. Handles count up, and never reach the mark.
    hipMemGenericAllocationHandle_t(MARK | (id.bits() as usize) << 4)
}

fn physical(handle: hipMemGenericAllocationHandle_t) -> Result<PhysicalId, hipError_t> {
    let bits = handle.0 ^ MARK;
    if bits & 0xf != 0 || bits >> KIND_SHIFT != 0 {
        return Err(hipErrorInvalidValue);
    }
    Ok(PhysicalId::from_bits(bits as u64 >> 4))
}

fn unused(flags: c_ulonglong) -> Result<(), hipError_t> {
    if flags == 0 { Ok(()) } else { Err(hipErrorInvalidValue) }
}

entry! {
    /// Reserves addresses: those wished for, if they are free.
    fn hipMemAddressReserve(
        address: *mut *mut c_void,
        bytes: usize,
        alignment: usize,
        wish: *mut c_void,
        flags: c_ulonglong,
    ) -> hipError_t {
        unused(flags)?;
        if address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        current::device()?;
        let start = virtual_memory::reserve(bytes as u64, alignment as u64, wish as u64)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(address, start as usize as *mut c_void) }
    }
}

entry! {
    /// Gives reserved addresses back.
    fn hipMemAddressFree(address: *mut c_void, bytes: usize) -> hipError_t {
        if address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        current::device()?;
        Ok(virtual_memory::unreserve(address as u64, bytes as u64)?)
    }
}

/// Whose memory `properties` ask for, and whether it shall be shared.
///
/// # Errors
/// `hipErrorInvalidValue` for what is no memory of a device here; `hipErrorNotSupported` for kinds of memory and of
/// handles that HIP knows and this library has not.
unsafe fn wanted(properties: *const hipMemAllocationProp) -> Result<(Device, bool), hipError_t> {
    // SAFETY: the caller's pointer, null or readable.
    let properties = unsafe { caller::read(properties) }?;
    match properties.r#type {
        hipMemAllocationTypePinned => {}
        hipMemAllocationTypeManaged | hipMemAllocationTypeUncached => return Err(hipErrorNotSupported),
        _ => return Err(hipErrorInvalidValue),
    }
    let shareable = match properties.requestedHandleType {
        hipMemHandleTypeNone => false,
        hipMemHandleTypePosixFileDescriptor => true,
        hipMemHandleTypeWin32 | hipMemHandleTypeWin32Kmt => return Err(hipErrorNotSupported),
        _ => return Err(hipErrorInvalidValue),
    };
    match properties.location.r#type {
        hipMemLocationTypeDevice => {}
        hipMemLocationTypeHost => return Err(hipErrorNotSupported),
        _ => return Err(hipErrorInvalidValue),
    }
    let device = current::device_at(properties.location.id).map_err(|_| hipErrorInvalidValue)?;
    Ok((device, shareable))
}

entry! {
    /// Makes physical memory.
    fn hipMemCreate(
        handle: *mut hipMemGenericAllocationHandle_t,
        bytes: usize,
        properties: *const hipMemAllocationProp,
        flags: c_ulonglong,
    ) -> hipError_t {
        unused(flags)?;
        if handle.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointer.
        let (device, shareable) = unsafe { wanted(properties) }?;
        let id = virtual_memory::create(&device, bytes as u64, shareable)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(handle, handle_of(id)) }
    }
}

entry! {
    /// Ends one hold on physical memory.
    fn hipMemRelease(handle: hipMemGenericAllocationHandle_t) -> hipError_t {
        Ok(virtual_memory::release(physical(handle)?)?)
    }
}

entry! {
    /// Maps physical memory, from its beginning, to reserved addresses.
    fn hipMemMap(
        address: *mut c_void,
        bytes: usize,
        offset: usize,
        handle: hipMemGenericAllocationHandle_t,
        flags: c_ulonglong,
    ) -> hipError_t {
        unused(flags)?;
        // The header: the offset must be 0.
        if address.is_null() || offset != 0 {
            return Err(hipErrorInvalidValue);
        }
        Ok(virtual_memory::map(address as u64, bytes as u64, physical(handle)?)?)
    }
}

entry! {
    /// Unmaps a range of whole mappings, after the work of the devices that may access it.
    fn hipMemUnmap(address: *mut c_void, bytes: usize) -> hipError_t {
        if address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        Ok(virtual_memory::unmap(address as u64, bytes as u64)?)
    }
}

fn processor(location: hipMemLocation) -> Result<Processor, hipError_t> {
    match location.r#type {
        hipMemLocationTypeHost => Ok(Processor::Host),
        hipMemLocationTypeDevice => {
            let device = current::device_at(location.id).map_err(|_| hipErrorInvalidValue)?;
            Ok(Processor::Device(device.ordinal()))
        }
        _ => Err(hipErrorInvalidValue),
    }
}

entry! {
    /// Says what devices, or the host, may do with mapped memory.
    fn hipMemSetAccess(
        address: *mut c_void,
        bytes: usize,
        wishes: *const hipMemAccessDesc,
        count: usize,
    ) -> hipError_t {
        if address.is_null() || count == 0 {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's array.
        let wishes = unsafe { caller::read_slice(wishes, count) }?;
        let wishes = wishes.into_iter().map(|wish| {
            let access = match wish.flags {
                hipMemAccessFlagsProtNone => Access::None,
                hipMemAccessFlagsProtRead => Access::Read,
                hipMemAccessFlagsProtReadWrite => Access::ReadWrite,
                _ => return Err(hipErrorInvalidValue),
            };
            Ok((processor(wish.location)?, access))
        });
        let wishes = wishes.collect::<Result<Vec<_>, _>>()?;
        Ok(virtual_memory::set_access(address as u64, bytes as u64, &wishes)?)
    }
}

/// A right by its number.
pub(super) fn access_flags(access: Access) -> hipMemAccessFlags {
    match access {
        Access::None => hipMemAccessFlagsProtNone,
        Access::Read => hipMemAccessFlagsProtRead,
        Access::ReadWrite => hipMemAccessFlagsProtReadWrite,
    }
}

entry! {
    /// Stores what a device, or the host, may do with mapped memory.
    fn hipMemGetAccess(
        flags: *mut c_ulonglong,
        location: *const hipMemLocation,
        address: *mut c_void,
    ) -> hipError_t {
        if flags.is_null() || address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointer, null or readable.
        let location = unsafe { caller::read(location) }?;
        let found = access_flags(virtual_memory::access(address as u64, processor(location)?)?);
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(flags, found.0.into()) }
    }
}

entry! {
    /// Stores the bytes of which sizes and addresses of physical memory are multiples.
    fn hipMemGetAllocationGranularity(
        granularity: *mut usize,
        properties: *const hipMemAllocationProp,
        option: hipMemAllocationGranularity_flags,
    ) -> hipError_t {
        if granularity.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointer.
        let (device, _) = unsafe { wanted(properties) }?;
        let recommended = match option {
            hipMemAllocationGranularityMinimum => false,
            hipMemAllocationGranularityRecommended => true,
            _ => return Err(hipErrorInvalidValue),
        };
        if !virtual_memory::is_supported()? {
            return Err(hipErrorNotSupported);
        }
        // CAST: the library is for 64-bit hosts only.
        let bytes = virtual_memory::granularity(&device, recommended) as usize;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(granularity, bytes) }
    }
}

entry! {
    /// Stores what physical memory is.
    fn hipMemGetAllocationPropertiesFromHandle(
        properties: *mut hipMemAllocationProp,
        handle: hipMemGenericAllocationHandle_t,
    ) -> hipError_t {
        if properties.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let found = virtual_memory::properties(physical(handle)?)?;
        let answer = hipMemAllocationProp {
            r#type: hipMemAllocationTypePinned,
            requestedHandleType: if found.shareable {
                hipMemHandleTypePosixFileDescriptor
            } else {
                hipMemHandleTypeNone
            },
            // CAST: ordinals are small.
            location: hipMemLocation { r#type: hipMemLocationTypeDevice, id: found.device as c_int },
            win32HandleMetaData: std::ptr::null_mut(),
            allocFlags: hipMemAllocationFlags { compressionType: 0, gpuDirectRDMACapable: 0, usage: 0 },
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(properties, answer) }
    }
}

entry! {
    /// Stores the handle of the physical memory that is mapped at an address, and holds the memory once more.
    fn hipMemRetainAllocationHandle(
        handle: *mut hipMemGenericAllocationHandle_t,
        address: *mut c_void,
    ) -> hipError_t {
        if handle.is_null() || address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let id = virtual_memory::retain(address as u64)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(handle, handle_of(id)) }
    }
}

entry! {
    /// Stores a file descriptor of physical memory, which the caller closes.
    fn hipMemExportToShareableHandle(
        out: *mut c_void,
        handle: hipMemGenericAllocationHandle_t,
        kind: hipMemAllocationHandleType,
        flags: c_ulonglong,
    ) -> hipError_t {
        unused(flags)?;
        if out.is_null() {
            return Err(hipErrorInvalidValue);
        }
        descriptor::only(kind)?;
        let descriptor = virtual_memory::export(physical(handle)?)?;
        // SAFETY: the caller's pointer, which is not null and has room for a descriptor.
        unsafe { caller::write(out.cast::<c_int>(), descriptor.into_raw_fd()) }
    }
}

entry! {
    /// Stores a handle for the physical memory behind a file descriptor.
    fn hipMemImportFromShareableHandle(
        handle: *mut hipMemGenericAllocationHandle_t,
        source: *mut c_void,
        kind: hipMemAllocationHandleType,
    ) -> hipError_t {
        if handle.is_null() {
            return Err(hipErrorInvalidValue);
        }
        descriptor::only(kind)?;
        // SAFETY: what callers of the ABI pass.
        let source = unsafe { descriptor::passed(source, soname::major()) }?;
        let id = virtual_memory::import(&current::device()?, source)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(handle, handle_of(id)) }
    }
}

entry! {
    /// Stores a dma-buf descriptor of a range that begins an allocation.
    fn hipMemGetHandleForAddressRange(
        handle: *mut c_void,
        address: hipDeviceptr_t,
        bytes: usize,
        kind: hipMemRangeHandleType,
        flags: c_ulonglong,
    ) -> hipError_t {
        if handle.is_null() || address.is_null() || kind != hipMemRangeHandleTypeDmaBufFd {
            return Err(hipErrorInvalidValue);
        }
        match flags {
            0 => {}
            // The HSA function that we have chooses how others map the memory.
            hipMemRangeFlagDmaBufMappingTypePcie => return Err(hipErrorNotSupported),
            _ => return Err(hipErrorInvalidValue),
        }
        let descriptor = virtual_memory::export_range(address as u64, bytes as u64)?;
        // SAFETY: the caller's pointer, which is not null and has room for a descriptor.
        unsafe { caller::write(handle.cast::<c_int>(), descriptor.into_raw_fd()) }
    }
}
