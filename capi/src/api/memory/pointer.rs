//! What a pointer is.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use aqlipse::memory::{
    self, Origin, Region,
    virtual_memory::{self, Access},
};

use super::{kind, mapping::access_flags};
use crate::{
    api::{device::context, pool::stream_ordered::pool_of},
    caller, current,
    error::{
        hipError_t, hipErrorInvalidDevicePointer, hipErrorInvalidValue, hipErrorNotFound,
        hipErrorNotSupported,
    },
    types::*,
};

/// The caller's kind of a region's memory.
fn kind_of(region: &Region) -> hipMemoryType {
    kind::reported(match region.origin {
        Origin::Managed => hipMemoryTypeManaged,
        origin if origin.is_device() => hipMemoryTypeDevice,
        _ => hipMemoryTypeHost,
    })
}

/// The device's address of a pointer into a region.
fn device_pointer(region: &Region, pointer: u64) -> *mut c_void {
    (region.device_address + (pointer - region.address)) as usize as *mut c_void
}

entry! {
    /// Stores what a pointer is.
    fn hipPointerGetAttributes(attributes: *mut hipPointerAttribute_t, pointer: *const c_void) -> hipError_t {
        if attributes.is_null() || pointer.is_null() {
            return Err(hipErrorInvalidValue);
        }
        current::device()?;
        let found = match memory::find(pointer as u64)? {
            // Up to HIP 5 there was no name for such memory.
            None if kind::is_old() => return Err(hipErrorInvalidValue),
            None => hipPointerAttribute_t {
                r#type: hipMemoryTypeUnregistered,
                device: hipInvalidDeviceId,
                devicePointer: std::ptr::null_mut(),
                hostPointer: std::ptr::null_mut(),
                isManaged: 0,
                allocationFlags: 0,
            },
            Some(region) => hipPointerAttribute_t {
                r#type: kind_of(&region),
                // CAST: ordinals are small.
                device: region.device as c_int,
                devicePointer: device_pointer(&region, pointer as u64),
                hostPointer: if region.origin.is_device() { std::ptr::null_mut() } else { pointer.cast_mut() },
                isManaged: c_int::from(region.origin == Origin::Managed),
                // HIP: managed memory has none, on 5.2.3 and later (tests/conformance/pointer_attributes.cpp).
                allocationFlags: if region.origin == Origin::Managed { 0 } else { region.flags },
            },
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(attributes, found) }
    }
}

/// Stores one attribute of a pointer; of one that points to nothing we know, the attribute's null value.
///
/// # Errors
/// `hipErrorNotSupported` for what the runtime does not keep, `hipErrorInvalidValue` for what is no attribute.
unsafe fn attribute(
    out: *mut c_void,
    attribute: hipPointer_attribute,
    region: Option<&Region>,
    pointer: u64,
) -> Result<(), hipError_t> {
    let null = std::ptr::null_mut::<c_void>();
    let host = region.is_some_and(|region| !region.origin.is_device());
    // ABI: the header gives no types; they are those of CUDA's attributes of the same names, and a boolean is one
    // byte, so that no caller's variable is too small.
    // SAFETY: the caller's pointer, null or writable for the attribute's type.
    unsafe {
        match attribute {
            HIP_POINTER_ATTRIBUTE_CONTEXT => {
                // CAST: ordinals are small.
                let context = region.map(|region| context::of_device(region.device as c_int)).transpose()?;
                caller::write(out.cast(), context.unwrap_or(hipCtx_t::NULL))
            }
            HIP_POINTER_ATTRIBUTE_MEMORY_TYPE => {
                let none = kind::reported(hipMemoryTypeUnregistered);
                caller::write(out.cast(), region.map_or(none, kind_of))
            }
            HIP_POINTER_ATTRIBUTE_DEVICE_POINTER => {
                caller::write(out.cast(), region.map_or(null, |region| device_pointer(region, pointer)))
            }
            HIP_POINTER_ATTRIBUTE_HOST_POINTER => {
                caller::write(out.cast(), if host { pointer as usize as *mut c_void } else { null })
            }
            HIP_POINTER_ATTRIBUTE_IS_MANAGED => {
                caller::write(out.cast(), region.is_some_and(|region| region.origin == Origin::Managed))
            }
            HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL => {
                // CAST: ordinals are small.
                caller::write(out.cast(), region.map_or(hipInvalidDeviceId, |region| region.device as c_int))
            }
            HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE => {
                caller::write(out.cast(), region.is_some_and(|region| region.origin == Origin::Device))
            }
            HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR => caller::write(
                out.cast(),
                region.map_or(null, |region| region.address as usize as *mut c_void),
            ),
            // ABI: 32 bits, as AMD's library writes them (tests/conformance/pointer_attribute_bytes.cpp).
            HIP_POINTER_ATTRIBUTE_RANGE_SIZE => {
                let bytes = region.map_or(0, |region| c_uint::try_from(region.bytes).unwrap_or(c_uint::MAX));
                caller::write(out.cast(), bytes)
            }
            HIP_POINTER_ATTRIBUTE_BUFFER_ID => {
                // HIP: 5.2.3 writes four bytes (tests/conformance/pointer_attribute_bytes.cpp), and a caller has no more.
                // CAST: allocations are told apart by the low half.
                caller::write(out.cast(), region.map_or(0, |region| region.marks.id() as u32))
            }
            HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => {
                caller::write(out.cast(), pool_of(region.map_or(0, |region| region.address))?)
            }
            HIP_POINTER_ATTRIBUTE_MAPPED => caller::write(out.cast(), region.is_some()),
            HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS => {
                caller::write(out.cast(), region.is_some_and(|region| region.marks.is_synchronous()))
            }
            // HIP: only physical memory and pools have handles; of other memory the attribute does not exist
            // (tests/conformance/pointer_attribute.cpp).
            HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES
                if region.is_some_and(|region| !matches!(region.origin, Origin::Mapped | Origin::Pooled)) =>
            {
                Err(hipErrorNotSupported)
            }
            HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => {
                let shareable = region.is_some_and(virtual_memory::is_shareable);
                let kinds =
                    if shareable { hipMemHandleTypePosixFileDescriptor } else { hipMemHandleTypeNone };
                caller::write(out.cast(), c_ulonglong::from(kinds.0))
            }
            HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS => {
                let device = current::device()?;
                let access = region.map_or(Access::None, |region| virtual_memory::access_of(&device, region));
                // HIP: four bytes, as above.
                caller::write(out.cast(), access_flags(access))
            }
            HIP_POINTER_ATTRIBUTE_P2P_TOKENS | HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE => {
                Err(hipErrorNotSupported)
            }
            _ => Err(hipErrorInvalidValue),
        }
    }
}

entry! {
    /// Stores one attribute of a pointer into memory that devices reach.
    fn hipPointerGetAttribute(
        out: *mut c_void,
        attribute_: hipPointer_attribute,
        pointer: hipDeviceptr_t,
    ) -> hipError_t {
        if out.is_null() || pointer.is_null() {
            return Err(hipErrorInvalidValue);
        }
        current::device()?;
        let region = memory::find(pointer as u64)?.ok_or(hipErrorInvalidValue)?;
        if attribute_ == HIP_POINTER_ATTRIBUTE_HOST_POINTER && region.origin.is_device() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointer.
        unsafe { attribute(out, attribute_, Some(&region), pointer as u64) }
    }
}

entry! {
    /// Sets the one attribute of a pointer that can be set: whether synchronous operations on the allocation wait for
    /// what they do, also where they need not.
    // HIP: the header gives no type; it is that of CUDA's attribute of the same name, of which the lowest byte counts.
    fn hipPointerSetAttribute(
        value: *const c_void,
        attribute_: hipPointer_attribute,
        pointer: hipDeviceptr_t,
    ) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable for a boolean.
        let value: u8 = unsafe { caller::read(value.cast()) }?;
        match attribute_ {
            HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS => {
                let region = memory::find(pointer as u64)?.ok_or(hipErrorInvalidDevicePointer)?;
                region.marks.set_synchronous(value != 0);
                Ok(())
            }
            _ => Err(hipErrorInvalidValue),
        }
    }
}

entry! {
    /// Stores several attributes of a pointer; their null values if no device reaches what it points to.
    fn hipDrvPointerGetAttributes(
        count: c_uint,
        attributes: *mut hipPointer_attribute,
        outs: *mut *mut c_void,
        pointer: hipDeviceptr_t,
    ) -> hipError_t {
        if count == 0 || pointer.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's arrays, null or readable.
        let (attributes, outs) = unsafe {
            (caller::read_slice(attributes, count as usize)?, caller::read_slice(outs, count as usize)?)
        };
        current::device()?;
        let region = memory::find(pointer as u64)?;
        for (attribute_, out) in attributes.into_iter().zip(outs) {
            // SAFETY: the caller's pointers.
            unsafe { attribute(out, attribute_, region.as_deref(), pointer as u64) }?;
        }
        Ok(())
    }
}

entry! {
    /// Stores the size of the allocation that a pointer lies in.
    fn hipMemPtrGetInfo(pointer: *mut c_void, bytes: *mut usize) -> hipError_t {
        if pointer.is_null() || bytes.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let region = memory::find(pointer as u64)?.ok_or(hipErrorInvalidValue)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(bytes, region.bytes as usize) }
    }
}

entry! {
    /// Stores the flags that host memory was allocated with.
    // HIP: managed memory has none; memory that was registered is refused, by the runtime of October 2024 and by CUDA's
    // documentation (tests/conformance/host_memory_device_pointer.cpp, host_memory_register.cpp).
    fn hipHostGetFlags(flags: *mut c_uint, pointer: *mut c_void) -> hipError_t {
        if flags.is_null() || pointer.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let region = memory::find(pointer as u64)?.ok_or(hipErrorInvalidValue)?;
        let found = match region.origin {
            Origin::Host => region.flags,
            Origin::Managed => 0,
            _ => return Err(hipErrorInvalidValue),
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(flags, found) }
    }
}

entry! {
    /// Stores start and size of the allocation that a pointer lies in.
    fn hipMemGetAddressRange(base: *mut hipDeviceptr_t, bytes: *mut usize, pointer: hipDeviceptr_t) -> hipError_t {
        let region = memory::find(pointer as u64)?.ok_or(hipErrorNotFound)?;
        // SAFETY: the caller's pointers, null or writable.
        unsafe {
            caller::write_if_wanted(base, region.address as usize as hipDeviceptr_t);
            caller::write_if_wanted(bytes, region.bytes as usize);
        }
        Ok(())
    }
}
