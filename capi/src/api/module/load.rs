//! Modules and their kernels.

use std::ffi::{c_char, c_uint, c_void};

use aqlipse::{
    Device, Module,
    module::{Bytes, image_at, image_in_file, image_of_wrapper},
};

use super::{options::Logs, recent};
use crate::{
    caller, current,
    error::{hipError_t, hipErrorFileNotFound, hipErrorInvalidValue, hipErrorNotFound},
    object::{self, FUNCTIONS, LoadedModule, MODULES},
    types::{hipDeviceptr_t, hipFunction_t, hipJitOption, hipModule_t},
};

/// Loads an image on the current device.
///
/// # Errors
/// What is wrong with the image.
pub(super) fn load(image: Bytes<'static>) -> Result<LoadedModule, hipError_t> {
    let device = current::device()?;
    let module = Module::load(&device, image)?;
    Ok(LoadedModule::new(device, module))
}

fn store(module: *mut hipModule_t, image: Bytes<'static>) -> Result<(), hipError_t> {
    let handle = MODULES.give(load(image)?)?;
    // SAFETY: the caller's pointer, which callers have checked for null.
    unsafe { caller::write(module, hipModule_t(handle)) }
}

/// Copies the image at `image`: the caller may free it when the call returns.
///
/// # Errors
/// `hipErrorInvalidValue` for null, `hipErrorInvalidImage` for what is no image.
///
/// # Safety
/// As for [`image_at`].
pub(super) unsafe fn copy_image(image: *const c_void) -> Result<Bytes<'static>, hipError_t> {
    if image.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's promise; the headers tell the length.
    let bytes = unsafe { image_at(image.cast()) }?;
    Ok(bytes.to_vec().into())
}

entry! {
    /// Loads a module from a file.
    fn hipModuleLoad(module: *mut hipModule_t, path: *const c_char) -> hipError_t {
        if module.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's string, null or terminated.
        store(module, unsafe { map_image(path) }?)
    }
}

/// Maps an image of a file.
///
/// # Errors
/// `hipErrorInvalidValue` without a path or for an empty file, `hipErrorFileNotFound`; those of [`image_in_file`].
///
/// # Safety
/// `path` is null or a terminated string.
pub(super) unsafe fn map_image(path: *const c_char) -> Result<Bytes<'static>, hipError_t> {
    // SAFETY: the caller's promise.
    let path = unsafe { caller::text(path) }?.to_str().map_err(|_| hipErrorFileNotFound)?;
    if path.is_empty() {
        return Err(hipErrorInvalidValue);
    }
    let image = image_in_file(path.as_ref())?;
    // HIP: AMD's runtime of October 2024 (tests/conformance/module_load.hip).
    if image.is_empty() { Err(hipErrorInvalidValue) } else { Ok(image) }
}

/// What the wrapper of a fat binary starts with: `HIPF`, as clang writes it.
const WRAPPER: u32 = 0x4849_5046;

entry! {
    /// Loads a module from a fat binary: the bundle, or the wrapper that compilers put around it.
    fn hipModuleLoadFatBinary(module: *mut hipModule_t, fat_binary: *const c_void) -> hipError_t {
        if module.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's fat binary, null or at least as long as its first word.
        let image = match unsafe { caller::read(fat_binary.cast::<u32>()) }? {
            // SAFETY: the caller's wrapper; the bytes are copied before the call returns.
            WRAPPER => unsafe { image_of_wrapper(fat_binary.cast()) }?.to_vec().into(),
            // SAFETY: the caller's image.
            _ => unsafe { copy_image(fat_binary) }?,
        };
        store(module, image)
    }
}

entry! {
    /// Loads a module from memory.
    fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t {
        if module.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's image.
        store(module, unsafe { copy_image(image) }?)
    }
}

entry! {
    /// Loads a module from memory, and says in the caller's log why that fails, if one is given among the options.
    fn hipModuleLoadDataEx(
        module: *mut hipModule_t,
        image: *const c_void,
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
    ) -> hipError_t {
        if module.is_null() || image.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's arrays.
        let logs = unsafe { Logs::find(count, options, values) }?;
        let device = current::device()?;
        // SAFETY: the caller's image; its headers tell the length.
        let image = unsafe { image_at(image.cast()) };
        let loaded = image.and_then(|image| Module::load(&device, image.to_vec()));
        let error = loaded.as_ref().err().map(ToString::to_string).unwrap_or_default();
        // SAFETY: as above.
        unsafe { logs.tell(&error) }?;
        let handle = MODULES.give(LoadedModule::new(device, loaded?))?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(module, hipModule_t(handle)) }
    }
}

entry! {
    /// Unloads a module; its functions' handles are stale from now on.
    fn hipModuleUnload(module: hipModule_t) -> hipError_t {
        // HIP: 5.2.3 and AMD's runtime of October 2024 (tests/conformance/module_unloaded_twice.hip).
        let removed = MODULES.remove(module.0).ok_or(hipErrorNotFound)?;
        forget_functions(&removed);
        Ok(())
    }
}

/// The handle of a kernel of a module, which is the same for each call.
///
/// # Errors
/// `hipErrorNotFound` if the code for the device has no such kernel, and what loading can fail with.
pub(super) fn find_function(module: &LoadedModule, device: &Device, name: &str) -> Result<usize, hipError_t> {
    let mut functions = module.functions.lock();
    if let Some(&handle) = functions.get(name) {
        return Ok(handle);
    }
    module.module.kernel(name)?.code(device)?;
    let handle = FUNCTIONS.insert_with(|handle| module.module.kernel_with_token(name, handle))?;
    functions.insert(name.to_owned(), handle);
    Ok(handle)
}

/// Makes the handles of a module's kernels stale.
pub(super) fn forget_functions(module: &LoadedModule) {
    let functions = std::mem::take(&mut *module.functions.lock());
    functions.into_values().for_each(|handle| drop(FUNCTIONS.remove(handle)));
    recent::forget();
}

entry! {
    /// Stores how many kernels a module has.
    fn hipModuleGetFunctionCount(count: *mut c_uint, module: hipModule_t) -> hipError_t {
        if count.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let module = object::module(module)?;
        let kernels = module.module.kernel_names(&module.device)?.len();
        // SAFETY: the caller's pointer, which is not null. CAST: a code object of 2 GiB has fewer.
        unsafe { caller::write(count, kernels as c_uint) }
    }
}

entry! {
    /// Stores a kernel of a module.
    fn hipModuleGetFunction(function: *mut hipFunction_t, module: hipModule_t, name: *const c_char) -> hipError_t {
        if function.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's string, null or terminated.
        let name = unsafe { caller::text(name) }?.to_str().map_err(|_| hipErrorNotFound)?;
        // HIP: AMD's runtime of October 2024 (tests/conformance/module_load.hip).
        if name.is_empty() {
            return Err(hipErrorInvalidValue);
        }
        let module = object::module(module)?;
        let handle = find_function(&module, &module.device, name)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(function, hipFunction_t(handle)) }
    }
}

entry! {
    /// Stores address and size of a module's variable.
    fn hipModuleGetGlobal(
        address: *mut hipDeviceptr_t,
        bytes: *mut usize,
        module: hipModule_t,
        name: *const c_char,
    ) -> hipError_t {
        // SAFETY: the caller's string, null or terminated.
        let name = unsafe { caller::text(name) }?.to_str().map_err(|_| hipErrorNotFound)?;
        let module = object::module(module)?;
        let (start, size) = module.module.variable(&module.device, name)?;
        // SAFETY: the caller's pointers, null or writable.
        unsafe {
            caller::write_if_wanted(address, start as usize as hipDeviceptr_t);
            caller::write_if_wanted(bytes, size as usize);
        }
        Ok(())
    }
}
