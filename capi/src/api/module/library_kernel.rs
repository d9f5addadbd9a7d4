//! Kernels of libraries: what is known of them, on any device.

use std::ffi::{c_char, c_int};

use aqlipse::{Device, Function, KernelCode};

use super::{function, library::owner, names::lasting};
use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidHandle, hipErrorInvalidValue},
    object::FUNCTIONS,
    types::*,
};

/// The kernel behind a handle.
///
/// # Errors
/// `hipErrorInvalidValue` if it is none of a library.
fn kernel(handle: hipKernel_t) -> Result<Function, hipError_t> {
    owner(handle)?;
    FUNCTIONS.get(handle.0).ok_or(hipErrorInvalidValue)
}

/// A kernel's code on a device of the caller's choice.
///
/// # Errors
/// `hipErrorInvalidHandle` if there is no such kernel, `hipErrorInvalidDevice`, what loading can fail with.
fn code(handle: hipKernel_t, device: hipDevice_t) -> Result<(Device, KernelCode), hipError_t> {
    let kernel = kernel(handle).map_err(|_| hipErrorInvalidHandle)?;
    let device = current::device_at(device)?;
    let code = kernel.code(&device)?.clone();
    Ok((device, code))
}

entry! {
    /// Stores one fact of a library's kernel on a device.
    fn hipKernelGetAttribute(
        value: *mut c_int,
        attribute: hipFunction_attribute,
        kernel: hipKernel_t,
        device: hipDevice_t,
    ) -> hipError_t {
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (device, code) = code(kernel, device)?;
        let found = function::attribute_of(&device, &code, attribute)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(value, found) }
    }
}

entry! {
    /// Sets an attribute of a library's kernel on a device.
    fn hipKernelSetAttribute(
        attribute: hipFunction_attribute,
        value: c_int,
        kernel: hipKernel_t,
        device: hipDevice_t,
    ) -> hipError_t {
        let (_, code) = code(kernel, device)?;
        // The attributes that can be set have the same numbers for functions and for host functions.
        function::check_setting(&code, hipFuncAttribute(attribute.0), value)
    }
}

entry! {
    /// Stores the function of a library's kernel, which has the same handle.
    fn hipKernelGetFunction(function: *mut hipFunction_t, kernel_: hipKernel_t) -> hipError_t {
        if function.is_null() {
            return Err(hipErrorInvalidValue);
        }
        kernel(kernel_)?.code(&current::device()?)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(function, hipFunction_t(kernel_.0)) }
    }
}

entry! {
    /// Stores the library of a kernel.
    fn hipKernelGetLibrary(library: *mut hipLibrary_t, kernel: hipKernel_t) -> hipError_t {
        let owner = owner(kernel)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(library, owner) }
    }
}

entry! {
    /// Stores the mangled name of a library's kernel.
    fn hipKernelGetName(name: *mut *const c_char, kernel_: hipKernel_t) -> hipError_t {
        let kernel = kernel(kernel_)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(name, lasting(kernel.name())) }
    }
}

entry! {
    /// Stores where an argument of a library's kernel lies among the kernel's arguments, and how many bytes it has.
    fn hipKernelGetParamInfo(
        kernel_: hipKernel_t,
        index: usize,
        offset: *mut usize,
        bytes: *mut usize,
    ) -> hipError_t {
        if offset.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let kernel = kernel(kernel_)?;
        let code = kernel.code(&current::device()?)?;
        let (start, size) = code.arguments().nth(index).ok_or(hipErrorInvalidValue)?;
        // SAFETY: the caller's pointers, null or writable.
        unsafe {
            caller::write(offset, start)?;
            caller::write_if_wanted(bytes, size);
        }
        Ok(())
    }
}
