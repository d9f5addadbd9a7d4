//! File descriptors that callers pass and ask for.

use std::{
    ffi::{c_int, c_void},
    os::fd::BorrowedFd,
};

use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    types::{hipMemAllocationHandleType, hipMemHandleTypePosixFileDescriptor},
};

/// Refuses kinds of handles that are no file descriptors.
pub fn only(kind: hipMemAllocationHandleType) -> Result<(), hipError_t> {
    if kind == hipMemHandleTypePosixFileDescriptor { Ok(()) } else { Err(hipErrorInvalidValue) }
}

/// The descriptor that a caller means, which stays the caller's.
///
/// # Errors
/// `hipErrorInvalidValue` for a negative number.
pub fn borrowed<'a>(number: c_int) -> Result<BorrowedFd<'a>, hipError_t> {
    if number < 0 {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: not -1. Whether it is open is for the kernel to say: nothing but system calls get it.
    Ok(unsafe { BorrowedFd::borrow_raw(number) })
}

/// Below this nothing is mapped: Linux leaves the first pages out.
const LOWEST_ADDRESS: usize = 0x1_0000;

/// The descriptor that a caller passes for an import. Callers of HIP 7 pass its number as the pointer; those of HIP 6 and
/// before pass where it is, or the number, too.
///
/// # Errors
/// `hipErrorInvalidValue` for a number that is no descriptor's.
///
/// # Safety
/// For an ABI before HIP 7 what may be an address is readable for a descriptor.
pub unsafe fn passed<'a>(source: *mut c_void, abi: u32) -> Result<BorrowedFd<'a>, hipError_t> {
    let number = if abi <= 6 && source as usize >= LOWEST_ADDRESS {
        // SAFETY: the caller's promise.
        unsafe { caller::read(source.cast::<c_int>()) }?
    } else {
        c_int::try_from(source as usize).map_err(|_| hipErrorInvalidValue)?
    };
    borrowed(number)
}

#[cfg(test)]
mod tests {
    use std::{os::fd::AsRawFd, ptr};

    use super::*;

    #[test]
    fn a_descriptor_is_passed_as_its_callers_were_told() {
        let here = c_int::from(7u8);
        let (place, number) = (ptr::from_ref(&here).cast_mut().cast(), ptr::without_provenance_mut(7));
        for (abi, source, found) in [
            (5, place, Ok(7)),
            (6, place, Ok(7)),
            (6, number, Ok(7)),
            (7, number, Ok(7)),
            (7, place, Err(hipErrorInvalidValue)),
        ] {
            // SAFETY: a number, or the address of one.
            let passed = unsafe { passed(source, abi) };
            assert_eq!(passed.map(|descriptor| descriptor.as_raw_fd()), found, "HIP {abi}");
        }
    }
}
