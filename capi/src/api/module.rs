//! Modules and their kernels.

use std::{
    collections::HashMap,
    ffi::{c_char, c_uint, c_void},
    fs,
    sync::{Arc, Mutex, PoisonError},
};

use aqlipse::{Module, module::image_at};

use crate::{
    caller, current,
    error::{
        hipError_t, hipErrorFileNotFound, hipErrorInvalidValue, hipErrorNotFound,
        hipErrorSharedObjectInitFailed,
    },
    object::{self, FUNCTIONS, LoadedModule, MODULES},
    types::{hipDeviceptr_t, hipFunction_t, hipModule_t},
};

fn store(module: *mut hipModule_t, image: Vec<u8>) -> Result<(), hipError_t> {
    let device = current::device()?;
    let loaded = Module::load(&device, image)?;
    let functions = Arc::new(Mutex::new(HashMap::new()));
    let handle = MODULES.insert(LoadedModule { module: loaded, device, functions })?;
    // SAFETY: the caller's pointer, which callers have checked for null.
    unsafe { caller::write(module, hipModule_t(handle)) }
}

/// Copies the image at `image`: the caller may free it when the call returns.
unsafe fn copy_image(image: *const c_void) -> Result<Vec<u8>, hipError_t> {
    if image.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's promise; the headers tell the length.
    let bytes = unsafe { image_at(image.cast()) }?;
    Ok(bytes.to_vec())
}

entry! {
    /// Loads a module from a file.
    fn hipModuleLoad(module: *mut hipModule_t, path: *const c_char) -> hipError_t {
        if module.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's string, null or terminated.
        let path = unsafe { caller::text(path) }?.to_str().map_err(|_| hipErrorFileNotFound)?;
        if path.is_empty() {
            return Err(hipErrorInvalidValue);
        }
        let image = fs::read(path).map_err(|_| hipErrorFileNotFound)?;
        if image.is_empty() {
            return Err(hipErrorSharedObjectInitFailed);
        }
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
    /// Loads a module from memory; options are for just-in-time compilers and have no meaning here.
    fn hipModuleLoadDataEx(
        module: *mut hipModule_t,
        image: *const c_void,
        _count: c_uint,
        _options: *mut c_void,
        _values: *mut *mut c_void,
    ) -> hipError_t {
        if module.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's image.
        store(module, unsafe { copy_image(image) }?)
    }
}

entry! {
    /// Unloads a module; its functions' handles are stale from now on.
    fn hipModuleUnload(module: hipModule_t) -> hipError_t {
        let removed = MODULES.remove(module.0).ok_or(crate::error::hipErrorInvalidResourceHandle)?;
        let functions = std::mem::take(&mut *removed.functions.lock().unwrap_or_else(PoisonError::into_inner));
        functions.into_values().for_each(|handle| drop(FUNCTIONS.remove(handle)));
        Ok(())
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
        let module = object::module(module)?;
        let mut functions = module.functions.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = match functions.get(name) {
            Some(&handle) => handle,
            None => {
                module.module.kernel(name)?.code(&module.device)?;
                let handle = FUNCTIONS.insert_with(|handle| module.module.kernel_with_token(name, handle))?;
                functions.insert(name.to_owned(), handle);
                handle
            }
        };
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
