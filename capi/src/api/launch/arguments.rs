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

/// Packs what a caller gave for the launch of a kernel on a stream, by either of the two routes. Of a buffer the bytes
/// that the kernel takes are read, whatever the list says of its size.
///
/// # Errors
/// `hipErrorInvalidValue` if both routes are taken, if a kernel with arguments gets none, or for a malformed list.
///
/// # Safety
/// `parameters` is null or holds a pointer to each argument of the kernel; `extra` is null or a list that ends, whose
/// buffer holds the kernel's arguments.
// HIP: programs point the list at a 32-bit size, whose upper half is then what lies beside it. 5.2.3 reads the kernel's
// own bytes (tests/conformance/module_buffer_size.hip).
pub unsafe fn pack(
    code: &KernelCode,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Kernargs, hipError_t> {
    // SAFETY: the caller's promise.
    match unsafe { Given::with_size(code, parameters, extra, |_, kernels| Some(kernels)) }? {
        Given::Packed(bytes) => Ok(bytes),
        Given::Apart(apart) => {
            let mut bytes = Kernargs::zeroed(code.argument_bytes());
            // SAFETY: they were looked at for this kernel.
            unsafe { apart.gather(code, &mut bytes) };
            Ok(bytes)
        }
    }
}

/// Arguments as a caller gave them, by either of the two routes.
pub enum Given {
    /// In a buffer, which was copied.
    Packed(Kernargs),
    /// One by one.
    Apart(Apart),
}

/// A pointer to each argument of a kernel, none of which was null when they were looked at.
pub struct Apart(*mut *mut c_void);

impl Given {
    /// Looks at what a caller gave for a kernel. Arguments that lie apart stay there until [`Apart::gather`], so that
    /// they are copied once, to where they stay.
    ///
    /// # Errors
    /// As [`pack`], and `hipErrorInvalidValue` for a buffer of fewer bytes than the kernel takes, or of more than any
    /// kernel can take.
    ///
    /// # Safety
    /// `parameters` is null or holds a pointer to each argument of the kernel; `extra` is null or a list that ends, whose
    /// buffer has the size that the list says.
    #[inline]
    pub unsafe fn new(
        code: &KernelCode,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> Result<Self, hipError_t> {
        // The size of a kernarg segment has 32 bits (LLVM AMDGPU usage, kernel descriptor).
        let sized = |size, kernels| (kernels..=u32::MAX as usize).contains(&size).then_some(size);
        // SAFETY: the caller's promise.
        unsafe { Self::with_size(code, parameters, extra, sized) }
    }

    /// As [`Given::new`]; `size` says how many bytes of a buffer to read, of the size that the list says and that of the
    /// kernel's arguments, or that the list is refused.
    #[inline]
    unsafe fn with_size(
        code: &KernelCode,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
        size: impl FnOnce(usize, usize) -> Option<usize>,
    ) -> Result<Self, hipError_t> {
        match (parameters.is_null(), extra.is_null()) {
            (false, false) => Err(hipErrorInvalidValue),
            (true, true) if code.argument_bytes() == 0 => Ok(Self::Packed(Kernargs::default())),
            (true, true) => Err(hipErrorInvalidValue),
            (true, false) => {
                // SAFETY: the caller's promise.
                unsafe { packed(extra, |listed| size(listed, code.argument_bytes())) }.map(Self::Packed)
            }
            (false, true) => {
                // SAFETY: the caller's promise.
                unsafe { Apart::new(code, parameters) }.map(Self::Apart)
            }
        }
    }
}

impl Apart {
    /// # Errors
    /// `hipErrorInvalidValue` for a null pointer among them.
    #[inline]
    unsafe fn new(code: &KernelCode, parameters: *mut *mut c_void) -> Result<Self, hipError_t> {
        for n in 0..code.arguments().len() {
            // SAFETY: the array has an entry for each argument, by the caller's promise.
            if unsafe { caller::read(parameters.add(n)) }?.is_null() {
                return Err(hipErrorInvalidValue);
            }
        }
        Ok(Self(parameters))
    }

    /// Copies the arguments into the bytes that they take.
    ///
    /// # Panics
    /// If those are fewer than the kernel's.
    ///
    /// # Safety
    /// They are the arguments of this kernel, and still there.
    #[inline]
    pub unsafe fn gather(self, code: &KernelCode, bytes: &mut [u8]) {
        // PANIC: said above. Each argument ends within them.
        let bytes = &mut bytes[..code.argument_bytes()];
        for (n, (offset, size)) in code.arguments().enumerate() {
            // SAFETY: the array has an entry for each argument.
            let argument = unsafe { self.0.add(n).read_unaligned() };
            let field = &mut bytes[offset..offset + size];
            // Nearly all arguments are words of one of two lengths, which need no call to be copied.
            match size {
                // SAFETY: the entry points to an argument of this size, by the caller's promise.
                8 => field.copy_from_slice(&unsafe { argument.cast::<[u8; 8]>().read() }),
                // SAFETY: as above.
                4 => field.copy_from_slice(&unsafe { argument.cast::<[u8; 4]>().read() }),
                // SAFETY: as above.
                _ => unsafe { field.as_mut_ptr().copy_from_nonoverlapping(argument.cast(), size) },
            }
        }
    }
}

/// Packs arguments that are all there into the bytes that they take; nothing is written unless they are.
///
/// # Errors
/// `hipErrorInvalidValue` for a null pointer among them, or for too few bytes.
///
/// # Safety
/// `parameters` holds a pointer to each argument of the kernel.
pub unsafe fn pack_into(
    code: &KernelCode,
    parameters: *mut *mut c_void,
    bytes: &mut [u8],
) -> Result<(), hipError_t> {
    // SAFETY: the caller's promise.
    let apart = unsafe { Apart::new(code, parameters) }?;
    if bytes.len() < code.argument_bytes() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: they were looked at for this kernel.
    unsafe { apart.gather(code, bytes) };
    Ok(())
}

/// The arguments in the buffer of a list, as many bytes as `size` makes of the size that the list says.
unsafe fn packed(
    extra: *mut *mut c_void,
    size: impl FnOnce(usize) -> Option<usize>,
) -> Result<Kernargs, hipError_t> {
    let (mut buffer, mut listed) = (std::ptr::null::<u8>(), None);
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
                listed = Some(unsafe { caller::read(value.cast::<usize>()) }?);
            }
            _ => return Err(hipErrorInvalidValue),
        }
        // SAFETY: as above.
        at = unsafe { at.add(2) };
    }
    let size = listed.and_then(size).ok_or(hipErrorInvalidValue)?;
    // SAFETY: the buffer has so many bytes, by the caller's promise.
    Ok(unsafe { caller::read_slice(buffer, size) }?.into())
}
