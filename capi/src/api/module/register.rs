//! What clang's constructors register, and launches by host function.
//!
//! Registration only remembers addresses: a library may bring a hundred fat binaries with ten thousand kernels of
//! which a program uses three. An image is looked at when one of its kernels is launched.

use std::{
    collections::HashMap,
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    sync::{Arc, OnceLock},
};

use aqlipse::{
    Function, Module,
    module::{Managed, image_of_wrapper},
};
use parking_lot::RwLock;

use super::recent;
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidDeviceFunction, hipErrorInvalidSymbol, hipErrorInvalidValue},
    handle::{Kind, Table},
    object,
    types::{dim3, hipFunction_t},
};

static FAT_BINARIES: Table<Arc<FatBinary>> = Table::new(Kind::FatBinary);
static KERNELS: RwLock<Option<HashMap<usize, Arc<Registered>>>> = RwLock::new(None);
static VARIABLES: RwLock<Option<HashMap<usize, Arc<Registered>>>> = RwLock::new(None);

/// An image that the program brought, loaded when it is first needed.
struct FatBinary {
    wrapper: usize,
    /// The variables that host and device share: the host's half of the program uses them before anything is loaded.
    managed: Arc<Managed>,
    module: OnceLock<Result<Module, hipError_t>>,
}

/// A kernel or variable of an image; its name is part of the program.
struct Registered {
    binary: Arc<FatBinary>,
    name: usize,
    host: usize,
    function: OnceLock<Result<Function, hipError_t>>,
    /// The handle under which module functions are launched, once a caller asked for it.
    handle: OnceLock<usize>,
}

impl FatBinary {
    fn module(&self) -> Result<&Module, hipError_t> {
        let load = || {
            // SAFETY: the wrapper and its image are constants of the program that registered them; it unregisters
            // them before it is unloaded.
            let image = unsafe { image_of_wrapper(self.wrapper as *const u8) }?;
            Ok(Module::lazy_with(image, self.managed.clone())?)
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

    fn handle(&self) -> Result<usize, hipError_t> {
        let function = self.function()?;
        if let Some(&handle) = self.handle.get() {
            return Ok(handle);
        }
        let made = object::FUNCTIONS.insert(function.clone())?;
        let handle = *self.handle.get_or_init(|| made);
        if handle != made {
            // Another thread was faster.
            object::FUNCTIONS.remove(made);
        }
        Ok(handle)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(&handle) = self.handle.get() {
            object::FUNCTIONS.remove(handle);
            recent::forget();
        }
    }
}

fn registered_kernel(host: *const c_void) -> Result<Arc<Registered>, hipError_t> {
    let known = KERNELS.read();
    let kernel = known.as_ref().and_then(|known| known.get(&(host as usize))).cloned();
    kernel.ok_or(hipErrorInvalidDeviceFunction)
}

/// The kernel that a host function launches.
///
/// # Errors
/// `hipErrorInvalidDeviceFunction` if it launches none.
pub fn kernel(host: *const c_void) -> Result<Function, hipError_t> {
    recent::find(host as usize, || {
        // A module function's handle may stand where a host function does.
        if let Some(function) = object::FUNCTIONS.get(host as usize) {
            return Ok(function);
        }
        registered_kernel(host)?.function().cloned()
    })
}

/// Whether a host function, or a module function's handle, stands for a kernel at this moment.
pub fn is_kernel(host: *const c_void) -> bool {
    object::FUNCTIONS.is_living(host as usize) || {
        let known = KERNELS.read();
        known.as_ref().is_some_and(|known| known.contains_key(&(host as usize)))
    }
}

/// Address and size in bytes, on the current device, of the variable with this host shadow.
///
/// # Errors
/// `hipErrorInvalidSymbol` if it is no shadow.
pub fn variable(host: *const c_void) -> Result<(u64, u64), hipError_t> {
    let known = VARIABLES.read();
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
        let wrapper = wrapper as usize;
        let binary = Arc::new(FatBinary { wrapper, managed: Arc::default(), module: OnceLock::new() });
        FAT_BINARIES.insert(binary).map_or(std::ptr::null_mut(), |handle| handle as *mut *mut c_void)
    }
}

entry! {
    /// Forgets a fat binary with its kernels and variables.
    plain fn __hipUnregisterFatBinary(handle: *mut *mut c_void) -> (), or (); {
        let Some(binary) = FAT_BINARIES.remove(handle as usize) else { return };
        for table in [&KERNELS, &VARIABLES] {
            let mut known = table.write();
            if let Some(known) = known.as_mut() {
                known.retain(|_, entry| !Arc::ptr_eq(&entry.binary, &binary));
            }
        }
        recent::forget();
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
    let entry = Registered {
        binary,
        name: name as usize,
        host: host as usize,
        function: OnceLock::new(),
        handle: OnceLock::new(),
    };
    let mut known = table.write();
    let replaced = known.get_or_insert_default().insert(host as usize, Arc::new(entry));
    if replaced.is_some() {
        recent::forget();
    }
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
        constant: c_int,
        _global: c_int,
    ) -> (), or (); {
        if let Some(binary) = FAT_BINARIES.get(handle as usize).filter(|_| constant != 0 && !name.is_null()) {
            // SAFETY: a name of the program, terminated.
            binary.managed.know_constant(unsafe { CStr::from_ptr(name) });
        }
        remember(&VARIABLES, handle, host, name);
    }
}

entry! {
    /// Registers a variable that host and device share: allocates it, gives it its initial value, and stores where it is
    /// in the host's pointer to it.
    ///
    /// A program follows that pointer without asking. Without memory that a device reaches, which the log tells, the
    /// pointer leads to the initial value itself, so that the host's half works.
    plain fn __hipRegisterManagedVar(
        handle: *mut *mut c_void,
        pointer: *mut *mut c_void,
        initial: *mut c_void,
        name: *const c_char,
        bytes: usize,
        _alignment: c_uint,
    ) -> (), or (); {
        let Some(binary) = FAT_BINARIES.get(handle as usize) else { return };
        if pointer.is_null() || initial.is_null() || name.is_null() {
            return;
        }
        // SAFETY: a name of the program, terminated.
        let name = unsafe { CStr::from_ptr(name) };
        // SAFETY: the program's initial value has as many bytes as its variable.
        let value = unsafe { std::slice::from_raw_parts(initial.cast::<u8>(), bytes) };
        let define = || {
            let name = name.to_str().map_err(|_| hipErrorInvalidSymbol)?;
            Ok(binary.managed.define(&crate::current::device()?, name, value)?)
        };
        let address = define().unwrap_or_else(|code: hipError_t| {
            tracing::error!("no memory for the managed variable {name:?}: {code:?}");
            initial as u64
        });
        // SAFETY: the program's pointer, which is not null.
        unsafe { caller::write_if_wanted(pointer, address as usize as *mut c_void) };
    }
}

entry! {
    /// Stores the kernel of a host function as a module's kernels are named.
    fn hipGetFuncBySymbol(function: *mut hipFunction_t, symbol: *const c_void) -> hipError_t {
        if function.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let kernel = registered_kernel(symbol)?;
        kernel.function()?.code(&crate::current::device()?)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(function, hipFunction_t(kernel.handle()?)) }
    }
}

entry! {
    /// Stores the address of a device variable.
    fn hipGetSymbolAddress(address: *mut *mut c_void, symbol: *const c_void) -> hipError_t {
        if address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (start, _) = variable(symbol)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(address, start as usize as *mut c_void) }
    }
}

entry! {
    /// Stores the size of a device variable.
    fn hipGetSymbolSize(bytes: *mut usize, symbol: *const c_void) -> hipError_t {
        if bytes.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (_, size) = variable(symbol)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(bytes, size as usize) }
    }
}
