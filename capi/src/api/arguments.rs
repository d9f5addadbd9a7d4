//! Kernel arguments: an array of pointers, or a packed buffer in a list of keys and values.

use std::{ffi::c_void, ptr};

use aqlipse::{KernelCode, graph::Kernargs};

use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
};

/// Keys of the `extra` list.
const BUFFER_POINTER: usize = 1;
const BUFFER_SIZE: usize = 2;
const END: usize = 3;

/// The `extra` list of arguments that lie in a buffer of `bytes` bytes.
pub fn buffer_list(buffer: &[u8], bytes: &mut usize) -> [*mut c_void; 5] {
    [
        BUFFER_POINTER as *mut c_void,
        buffer.as_ptr().cast_mut().cast(),
        BUFFER_SIZE as *mut c_void,
        ptr::from_mut(bytes).cast(),
        END as *mut c_void,
    ]
}

/// Packs what a caller gave for a kernel, by either of the two routes.
///
/// # Errors
/// `hipErrorInvalidValue` if both routes are taken, if a kernel with arguments gets none, or for a malformed list.
///
/// # Safety
/// `parameters` is null or holds a pointer to each argument of the kernel; `extra` is null or a list that ends.
pub unsafe fn pack(
    code: &KernelCode,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Kernargs, hipError_t> {
    // SAFETY: the caller's promise.
    let mut bytes = unsafe { room(code, parameters, extra) }?;
    // SAFETY: the caller's promise.
    unsafe { fill(code, parameters, &mut bytes) }?;
    Ok(bytes)
}

/// As [`pack`], but of arguments that are given one by one there is only the room: [`fill`] writes them.
///
/// # Errors
/// As [`pack`].
///
/// # Safety
/// As [`pack`].
#[inline]
pub unsafe fn room(
    code: &KernelCode,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Kernargs, hipError_t> {
    match (parameters.is_null(), extra.is_null()) {
        (false, false) => Err(hipErrorInvalidValue),
        (true, true) if code.argument_bytes() == 0 => Ok(Kernargs::default()),
        (true, true) => Err(hipErrorInvalidValue),
        (true, false) => {
            // SAFETY: the caller's promise.
            unsafe { packed(extra) }
        }
        (false, true) => {
            // SAFETY: the caller's promise.
            unsafe { check(code, parameters) }?;
            Ok(Kernargs::zeroed(code.argument_bytes()))
        }
    }
}

/// Whether all arguments are there.
unsafe fn check(code: &KernelCode, parameters: *mut *mut c_void) -> Result<(), hipError_t> {
    for n in 0..code.arguments().len() {
        // SAFETY: the array has an entry for each argument, by the caller's promise.
        if unsafe { caller::read(parameters.add(n)) }?.is_null() {
            return Err(hipErrorInvalidValue);
        }
    }
    Ok(())
}

/// Writes arguments that are given one by one, if they are, into the bytes that they take.
///
/// # Errors
/// `hipErrorInvalidValue` for a null pointer among them; some of the bytes may have been written.
///
/// # Safety
/// As [`pack`].
#[inline]
pub unsafe fn fill(
    code: &KernelCode,
    parameters: *mut *mut c_void,
    bytes: &mut [u8],
) -> Result<(), hipError_t> {
    if parameters.is_null() {
        return Ok(());
    }
    for (n, (offset, size)) in code.arguments().enumerate() {
        // SAFETY: the array has an entry for each argument, by the caller's promise.
        let argument = unsafe { caller::read(parameters.add(n)) }?;
        if argument.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let field = bytes.get_mut(offset..offset + size).ok_or(hipErrorInvalidValue)?;
        // Nearly all arguments are words of one of two lengths, which need no call to be copied.
        match size {
            // SAFETY: the entry points to an argument of this size, by the caller's promise.
            8 => field.copy_from_slice(&unsafe { caller::read(argument.cast::<[u8; 8]>()) }?),
            // SAFETY: as above.
            4 => field.copy_from_slice(&unsafe { caller::read(argument.cast::<[u8; 4]>()) }?),
            // SAFETY: as above.
            _ => unsafe { field.as_mut_ptr().copy_from_nonoverlapping(argument.cast(), size) },
        }
    }
    Ok(())
}

/// Packs arguments that are all there into the bytes that they take; nothing is written unless they are.
///
/// # Errors
/// `hipErrorInvalidValue` for a null pointer among them.
///
/// # Safety
/// `parameters` holds a pointer to each argument of the kernel.
pub unsafe fn pack_into(
    code: &KernelCode,
    parameters: *mut *mut c_void,
    bytes: &mut [u8],
) -> Result<(), hipError_t> {
    // SAFETY: the caller's promise.
    unsafe {
        check(code, parameters)?;
        fill(code, parameters, bytes)
    }
}

unsafe fn packed(extra: *mut *mut c_void) -> Result<Kernargs, hipError_t> {
    let (mut buffer, mut size) = (std::ptr::null::<u8>(), None);
    let mut at = extra;
    // Two keys and an end; a longer list is not one of ours.
    for _ in 0..3 {
        // SAFETY: the list has not ended yet.
        let key = unsafe { caller::read(at) }? as usize;
        if key == END {
            break;
        }
        // SAFETY: a key has a value behind it, and another key behind that.
        let value = unsafe { caller::read(at.add(1)) }?;
        match key {
            BUFFER_POINTER => buffer = value.cast(),
            BUFFER_SIZE => {
                // SAFETY: the value of this key points to a size.
                size = Some(unsafe { caller::read(value.cast::<usize>()) }?);
            }
            _ => return Err(hipErrorInvalidValue),
        }
        // SAFETY: as above.
        at = unsafe { at.add(2) };
    }
    let size = size.ok_or(hipErrorInvalidValue)?;
    // SAFETY: the buffer has the size given with it.
    Ok(unsafe { caller::read_slice(buffer, size) }?.into())
}
