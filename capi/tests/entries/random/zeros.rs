//! A word that waits of streams wait for to be zero, as it is: callers must not hang.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use super::{
    super::virtual_memory::{
        hipMemAddressFree, hipMemAddressReserve, hipMemCreate, hipMemMap, hipMemRelease, hipMemSetAccess,
        hipMemUnmap,
    },
    world::physical,
    *,
};

unsafe extern "C" {
    fn hipMemset(memory: *mut c_void, value: c_int, bytes: usize) -> hipError_t;
}

/// A page of zeros on the device.
pub struct Zeros {
    address: *mut c_void,
    /// Bytes that are mapped, and where from; ordinary memory otherwise.
    mapped: Option<(usize, hipMemGenericAllocationHandle_t)>,
}

impl Zeros {
    /// Zeros that nothing overwrites.
    ///
    /// Kernels that run past the end of their own memory may meet other memory there. Where they do so, memory that is
    /// only to be read faults.
    pub fn protected(granule: usize) -> Self {
        let (mut address, mut handle) = (ptr::null_mut(), hipMemGenericAllocationHandle_t::NULL);
        ok!(
            hipMemAddressReserve(&mut address, granule, 0, ptr::null_mut(), 0),
            hipMemCreate(&mut handle, granule, &physical(), 0),
            hipMemMap(address, granule, 0, handle, 0),
        );
        let admit = |flags| {
            let location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 };
            ok!(hipMemSetAccess(address, granule, &hipMemAccessDesc { location, flags }, 1));
        };
        admit(hipMemAccessFlagsProtReadWrite);
        ok!(hipMemset(address, 0, granule), hipDeviceSynchronize());
        admit(hipMemAccessFlagsProtRead);
        Self { address, mapped: Some((granule, handle)) }
    }

    /// Zeros in ordinary memory.
    pub fn ordinary() -> Self {
        let mut address = ptr::null_mut();
        ok!(hipMalloc(&mut address, 8), hipMemset(address, 0, 8));
        Self { address, mapped: None }
    }

    pub fn address(&self) -> *mut c_void {
        self.address
    }

    /// Gives them back; nobody waits any more.
    pub fn free(self) {
        match self.mapped {
            None => ok!(hipFree(self.address)),
            Some((bytes, handle)) => {
                ok!(
                    hipMemUnmap(self.address, bytes),
                    hipMemRelease(handle),
                    hipMemAddressFree(self.address, bytes)
                );
            }
        }
    }
}
