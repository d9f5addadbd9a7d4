//! Libraries: device code that belongs to no device. A kernel of one has the same handle wherever it runs.

use std::{
    collections::HashMap,
    ffi::{c_char, c_uint, c_void},
};

use aqlipse::module::Bytes;
use parking_lot::RwLock;

use super::load::{copy_image, find_function, forget_functions, load, map_image};
use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidResourceHandle, hipErrorInvalidValue, hipErrorNotFound},
    handle::{Kind, Table},
    object::LoadedModule,
    types::{hipJitOption, hipKernel_t, hipLibrary_t, hipLibraryOption},
};

/// Loaded on the device that was current, and elsewhere when a kernel is needed there.
static LIBRARIES: Table<LoadedModule> = Table::new(Kind::Library);
/// The library of each kernel that was asked for.
static OWNERS: RwLock<Option<HashMap<usize, usize>>> = RwLock::new(None);

/// The library behind a handle.
///
/// # Errors
/// `hipErrorInvalidValue`.
fn library(handle: hipLibrary_t) -> Result<LoadedModule, hipError_t> {
    LIBRARIES.get(handle.0).ok_or(hipErrorInvalidValue)
}

/// The library of a kernel.
///
/// # Errors
/// `hipErrorInvalidValue` if it is no kernel of a library, or if the library is unloaded.
pub(super) fn owner(kernel: hipKernel_t) -> Result<hipLibrary_t, hipError_t> {
    let owners = OWNERS.read();
    let owner = owners.as_ref().and_then(|owners| owners.get(&kernel.0)).copied();
    owner.map(hipLibrary_t).ok_or(hipErrorInvalidValue)
}

/// The handle of a kernel of a library.
fn kernel(handle: hipLibrary_t, library: &LoadedModule, name: &str) -> Result<hipKernel_t, hipError_t> {
    let kernel = find_function(library, &current::device()?, name)?;
    let mut owners = OWNERS.write();
    owners.get_or_insert_default().insert(kernel, handle.0);
    Ok(hipKernel_t(kernel))
}

fn store(library: *mut hipLibrary_t, image: Bytes<'static>) -> Result<(), hipError_t> {
    let handle = LIBRARIES.give(load(image)?)?;
    // SAFETY: the caller's pointer, which callers have checked for null.
    unsafe { caller::write(library, hipLibrary_t(handle)) }
}

// The options of both loaders mean nothing here: those of the just-in-time compiler are CUDA's, as the header says, and
// the image is copied, so that it need not be preserved. They are not looked at, since the two newest headers disagree:
// HIP 7.1 declares arrays of pointers to options, HIP 10 arrays of options.

entry! {
    /// Loads a library from memory.
    fn hipLibraryLoadData(
        library: *mut hipLibrary_t,
        image: *const c_void,
        _compiler_options: *mut hipJitOption,
        _compiler_values: *mut *mut c_void,
        _compiler_count: c_uint,
        _options: *mut hipLibraryOption,
        _values: *mut *mut c_void,
        _count: c_uint,
    ) -> hipError_t {
        if library.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's image.
        store(library, unsafe { copy_image(image) }?)
    }
}

entry! {
    /// Loads a library from a file.
    fn hipLibraryLoadFromFile(
        library: *mut hipLibrary_t,
        path: *const c_char,
        _compiler_options: *mut hipJitOption,
        _compiler_values: *mut *mut c_void,
        _compiler_count: c_uint,
        _options: *mut hipLibraryOption,
        _values: *mut *mut c_void,
        _count: c_uint,
    ) -> hipError_t {
        if library.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's string, null or terminated.
        store(library, unsafe { map_image(path) }?)
    }
}

entry! {
    /// Unloads a library; its kernels' handles are stale from now on.
    fn hipLibraryUnload(library: hipLibrary_t) -> hipError_t {
        let removed = LIBRARIES.remove(library.0).ok_or(hipErrorInvalidValue)?;
        forget_functions(&removed);
        let mut owners = OWNERS.write();
        if let Some(owners) = owners.as_mut() {
            owners.retain(|_, owner| *owner != library.0);
        }
        Ok(())
    }
}

entry! {
    /// Stores the handle of a kernel of a library.
    fn hipLibraryGetKernel(kernel_: *mut hipKernel_t, library_: hipLibrary_t, name: *const c_char) -> hipError_t {
        if kernel_.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's string, null or terminated.
        let name = unsafe { caller::text(name) }?.to_str().map_err(|_| hipErrorNotFound)?;
        let found = kernel(library_, &library(library_)?, name)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(kernel_, found) }
    }
}

entry! {
    /// Stores how many kernels a library has.
    fn hipLibraryGetKernelCount(count: *mut c_uint, library_: hipLibrary_t) -> hipError_t {
        if count.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let kernels = library(library_)?.module.kernel_names(&current::device()?)?.len();
        // SAFETY: the caller's pointer, which is not null. CAST: a code object of 2 GiB has fewer.
        unsafe { caller::write(count, kernels as c_uint) }
    }
}

entry! {
    /// Stores the handles of a library's kernels, at most so many.
    fn hipLibraryEnumerateKernels(kernels: *mut hipKernel_t, room: c_uint, library_: hipLibrary_t) -> hipError_t {
        if kernels.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let library = library(library_)?;
        let names = library.module.kernel_names(&current::device()?)?;
        let handles = names.iter().take(room as usize).map(|name| kernel(library_, &library, name));
        // All or nothing: the caller cannot tell where its array ends.
        for (n, handle) in handles.collect::<Result<Vec<_>, _>>()?.into_iter().enumerate() {
            // SAFETY: the caller's array of at least so many handles.
            unsafe { caller::write(kernels.wrapping_add(n), handle) }?;
        }
        Ok(())
    }
}

/// Stores address and size of a variable, one of which may be unwanted.
///
/// # Safety
/// Both pointers are null or writable.
unsafe fn store_variable(
    (address, bytes): (*mut *mut c_void, *mut usize),
    library: hipLibrary_t,
    name: *const c_char,
    find: impl FnOnce(&LoadedModule, &str) -> Result<(u64, u64), hipError_t>,
) -> Result<(), hipError_t> {
    if address.is_null() && bytes.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let library = LIBRARIES.get(library.0).ok_or(hipErrorInvalidResourceHandle)?;
    // SAFETY: the caller's string, null or terminated.
    let name = unsafe { caller::text(name) }?.to_str().map_err(|_| hipErrorNotFound)?;
    let (start, size) = find(&library, name)?;
    // SAFETY: the caller's promise.
    unsafe {
        caller::write_if_wanted(address, start as usize as *mut c_void);
        caller::write_if_wanted(bytes, size as usize);
    }
    Ok(())
}

entry! {
    /// Stores address and size of a library's variable on the current device.
    fn hipLibraryGetGlobal(
        address: *mut *mut c_void,
        bytes: *mut usize,
        library: hipLibrary_t,
        name: *const c_char,
    ) -> hipError_t {
        let device = current::device()?;
        // SAFETY: the caller's pointers.
        unsafe { store_variable((address, bytes), library, name, |l, name| Ok(l.module.variable(&device, name)?)) }
    }
}

entry! {
    /// Stores address and size of a library's variable that host and devices share.
    fn hipLibraryGetManaged(
        address: *mut *mut c_void,
        bytes: *mut usize,
        library: hipLibrary_t,
        name: *const c_char,
    ) -> hipError_t {
        let device = current::device()?;
        let find = |l: &LoadedModule, name: &str| Ok(l.module.managed_variable(&device, name)?);
        // SAFETY: the caller's pointers.
        unsafe { store_variable((address, bytes), library, name, find) }
    }
}
