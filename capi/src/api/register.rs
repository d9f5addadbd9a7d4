//! What clang's constructors register, and launches by host function.
//!
//! Registration only remembers addresses: a library may bring a hundred fat binaries with ten thousand kernels of
//! which a program uses three. An image is looked at when one of its kernels is launched.

use std::{
    collections::HashMap,
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use aqlipse::{Function, Module, graph::Kernel, module::image_of_wrapper};

use crate::{
    caller,
    error::{hipErrorInvalidDeviceFunction, hipErrorInvalidSymbol, hipErrorInvalidValue, hipError_t},
    handle::Table,
    object,
    types::{dim3, hipStream_t},
};

static FAT_BINARIES: Table<Arc<FatBinary>> = Table::new(7);
static KERNELS: RwLock<Option<HashMap<usize, Arc<Registered>>>> = RwLock::new(None);
static VARIABLES: RwLock<Option<HashMap<usize, Arc<Registered>>>> = RwLock::new(None);

/// An image that the program brought, loaded when it is first needed.
struct FatBinary {
    wrapper: usize,
    module: OnceLock<Result<Module, hipError_t>>,
}

/// A kernel or variable of an image; its name is part of the program.
struct Registered {
    binary: Arc<FatBinary>,
    name: usize,
    host: usize,
    function: OnceLock<Result<Function, hipError_t>>,
}

impl FatBinary {
    fn module(&self) -> Result<&Module, hipError_t> {
        let load = || {
            // SAFETY: the wrapper and its image are constants of the program that registered them; it unregisters
            // them before it is unloaded.
            let image = unsafe { image_of_wrapper(self.wrapper as *const u8) }?;
            Ok(Module::lazy(image)?)
        };
        self.module.get_or_init(load).as_ref().map_err(|code| *code)
    }
}

impl Registered {
    fn name(&self) -> Result<&str, hipError_t> {
        // SAFETY: the name is a constant of the program, terminated, and not null (checked when registered).
        let name = unsafe { CStr::from_ptr(self.name as *const c_char) };
        name.to_str().map_err(|_| hipErrorInvalidSymbol)
    }

    fn function(&self) -> Result<&Function, hipError_t> {
        let find = || Ok(self.binary.module()?.kernel_with_token(self.name()?, self.host));
        self.function.get_or_init(find).as_ref().map_err(|code| *code)
    }
}

/// The kernel that a host function launches.
///
/// # Errors
/// `hipErrorInvalidDeviceFunction` if it launches none.
pub fn kernel(host: *const c_void) -> Result<Function, hipError_t> {
    // A module function's handle may stand where a host function does.
    if let Some(function) = object::FUNCTIONS.get(host as usize) {
        return Ok(function);
    }
    let known = KERNELS.read().unwrap_or_else(PoisonError::into_inner);
    let kernel = known.as_ref().and_then(|known| known.get(&(host as usize))).cloned();
    drop(known);
    kernel.ok_or(hipErrorInvalidDeviceFunction)?.function().cloned()
}

/// Address and size in bytes, on the current device, of the variable with this host shadow.
///
/// # Errors
/// `hipErrorInvalidSymbol` if it is no shadow.
pub fn variable(host: *const c_void) -> Result<(u64, u64), hipError_t> {
    let known = VARIABLES.read().unwrap_or_else(PoisonError::into_inner);
    let variable = known.as_ref().and_then(|known| known.get(&(host as usize))).cloned();
    drop(known);
    let variable = variable.ok_or(hipErrorInvalidSymbol)?;
    let device = crate::current::device()?;
    Ok(variable.binary.module()?.variable(&device, variable.name()?)?)
}

entry! {
    /// Registers a fat binary; the result stands for it in the registration of its kernels and variables.
    plain fn __hipRegisterFatBinary(wrapper: *const c_void) -> *mut *mut c_void, or std::ptr::null_mut(); {
        if wrapper.is_null() {
            return std::ptr::null_mut();
        }
        let binary = Arc::new(FatBinary { wrapper: wrapper as usize, module: OnceLock::new() });
        FAT_BINARIES.insert(binary).map_or(std::ptr::null_mut(), |handle| handle as *mut *mut c_void)
    }
}

entry! {
    /// Forgets a fat binary with its kernels and variables.
    plain fn __hipUnregisterFatBinary(handle: *mut *mut c_void) -> (), or (); {
        let Some(binary) = FAT_BINARIES.remove(handle as usize) else { return };
        for table in [&KERNELS, &VARIABLES] {
            let mut known = table.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = known.as_mut() {
                known.retain(|_, entry| !Arc::ptr_eq(&entry.binary, &binary));
            }
        }
    }
}

fn remember(
    table: &RwLock<Option<HashMap<usize, Arc<Registered>>>>,
    handle: *mut *mut c_void,
    host: *const c_void,
    name: *const c_char,
) {
    let Some(binary) = FAT_BINARIES.get(handle as usize) else { return };
    if name.is_null() || host.is_null() {
        return;
    }
    let entry = Registered { binary, name: name as usize, host: host as usize, function: OnceLock::new() };
    let mut known = table.write().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_default().insert(host as usize, Arc::new(entry));
}

entry! {
    /// Registers a kernel of a fat binary under its host function.
    plain fn __hipRegisterFunction(
        handle: *mut *mut c_void,
        host: *const c_void,
        _device_function: *mut c_char,
        name: *const c_char,
        _thread_limit: c_uint,
        _thread: *mut c_void,
        _block_index: *mut c_void,
        _block: *mut dim3,
        _grid: *mut dim3,
        _warp_size: *mut c_int,
    ) -> (), or (); {
        remember(&KERNELS, handle, host, name);
    }
}

entry! {
    /// Registers a variable of a fat binary under its host shadow.
    plain fn __hipRegisterVar(
        handle: *mut *mut c_void,
        host: *mut c_void,
        _host_name: *mut c_char,
        name: *const c_char,
        _external: c_int,
        _bytes: usize,
        _constant: c_int,
        _global: c_int,
    ) -> (), or (); {
        remember(&VARIABLES, handle, host, name);
    }
}

unsafe fn launch(
    host: *const c_void,
    grid: dim3,
    block: dim3,
    arguments: *mut *mut c_void,
    shared_bytes: usize,
    stream: hipStream_t,
) -> Result<(), hipError_t> {
    if host.is_null() {
        return Err(hipErrorInvalidDeviceFunction);
    }
    let function = kernel(host)?;
    let stream = object::stream(stream)?;
    let code = function.code(stream.device())?;
    // SAFETY: the caller's arguments, as the kernel's metadata describes them.
    let kernargs = unsafe { super::arguments::pack(code, arguments, std::ptr::null_mut()) }?;
    Ok(stream.launch(Kernel {
        function,
        grid: [grid.x, grid.y, grid.z],
        block: [block.x, block.y, block.z],
        shared_bytes: u32::try_from(shared_bytes).map_err(|_| hipErrorInvalidValue)?,
        kernargs,
        attributes: Default::default(),
    })?)
}

entry! {
    /// Launches the kernel of a host function.
    fn hipLaunchKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        shared_bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        // SAFETY: the caller's arguments.
        unsafe { launch(function, grid, block, arguments, shared_bytes, stream) }
    }
}

entry! {
    /// [`hipLaunchKernel`] for callers for whom a null stream is the thread's own.
    fn hipLaunchKernel_spt(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        shared_bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        // SAFETY: the caller's arguments.
        unsafe { launch(function, grid, block, arguments, shared_bytes, object::per_thread(stream)) }
    }
}

entry! {
    /// Stores the address of a device variable.
    fn hipGetSymbolAddress(address: *mut *mut c_void, symbol: *const c_void) -> hipError_t {
        let (start, _) = variable(symbol)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(address, start as usize as *mut c_void) }
    }
}

entry! {
    /// Stores the size of a device variable.
    fn hipGetSymbolSize(bytes: *mut usize, symbol: *const c_void) -> hipError_t {
        let (_, size) = variable(symbol)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(bytes, size as usize) }
    }
}
