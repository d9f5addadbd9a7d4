//! The C ABI of a `libamdhip64`, whichever it is: functions are found by name, and a missing one is an error
//! of its call.

use std::{
    error::Error,
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    fs,
    path::{Path, PathBuf},
    ptr,
};

use libloading::os::unix::{Library as Object, RTLD_LOCAL, RTLD_NOW};

/// `hipModule_t`, `hipFunction_t`, `hipStream_t`, `hipGraph_t`, `hipGraphNode_t` and `hipGraphExec_t` are
/// pointers to what only the library knows.
pub type Handle = *mut c_void;

/// `hipStreamNonBlocking`.
pub const NON_BLOCKING: c_uint = 1;

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dimensions {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// `hipKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelNode {
    pub block: Dimensions,
    pub extra: *mut *mut c_void,
    pub function: Handle,
    pub grid: Dimensions,
    pub arguments: *mut *mut c_void,
    pub shared_bytes: c_uint,
}

// ABI: hip_runtime_api.h; the same from 4.3 to 7.
const _: () = assert!(size_of::<KernelNode>() == 64);
const _: () = assert!(std::mem::offset_of!(KernelNode, extra) == 16);
const _: () = assert!(std::mem::offset_of!(KernelNode, grid) == 32);
const _: () = assert!(std::mem::offset_of!(KernelNode, arguments) == 48);

/// Why a call did nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// The file cannot be loaded.
    #[error("{0}")]
    Load(String),
    /// The library does not export the function.
    #[error("the library has no {0}")]
    Missing(&'static str),
    /// The function returned an error.
    #[error("{function}: {name} ({code})")]
    Code {
        /// The function.
        function: &'static str,
        /// Its `hipError_t`.
        code: c_int,
        /// The library's name for that.
        name: String,
    },
    /// A graph is not what it should be.
    #[error("{0}")]
    Wrong(String),
}

/// Declares functions that return a `hipError_t`: a field for each that is empty if the library has none, and
/// a method that calls it.
macro_rules! functions {
    ($($(#[$attribute:meta])* fn $name:ident($($parameter:ident: $type:ty),* $(,)?);)*) => {
        /// Addresses of functions.
        #[expect(non_snake_case, reason = "the names of the C ABI")]
        #[derive(Debug)]
        struct Functions {
            $($name: Option<unsafe extern "C" fn($($type),*) -> c_int>,)*
        }

        impl Functions {
            fn look_up(object: &Object) -> Self {
                Self {
                    // SAFETY: a function of this name has this signature in every libamdhip64
                    // (hip_runtime_api.h).
                    $($name: unsafe { object.get(stringify!($name)) }.ok().map(|symbol| *symbol),)*
                }
            }
        }

        #[expect(non_snake_case, clippy::too_many_arguments, reason = "as the C ABI has it")]
        impl Library {
            $(
                $(#[$attribute])*
                ///
                /// # Errors
                /// [`Failed::Missing`] and [`Failed::Code`].
                ///
                /// # Safety
                /// Pointers and handles are what HIP's documentation asks for.
                pub unsafe fn $name(&self $(, $parameter: $type)*) -> Result<(), Failed> {
                    let function = self.functions.$name.ok_or(Failed::Missing(stringify!($name)))?;
                    // SAFETY: the caller's.
                    match unsafe { function($($parameter),*) } {
                        0 => Ok(()),
                        code => Err(self.failed(stringify!($name), code)),
                    }
                }
            )*
        }
    };
}

functions! {
    /// Brings the library up.
    fn hipInit(flags: c_uint);
    /// Tells the library's version.
    fn hipRuntimeGetVersion(version: *mut c_int);
    /// Writes a device's name.
    fn hipDeviceGetName(name: *mut c_char, length: c_int, device: c_int);
    /// Loads a code object.
    fn hipModuleLoadData(module: *mut Handle, image: *const c_void);
    /// Finds a kernel.
    fn hipModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char);
    /// Allocates pinned memory of the host.
    fn hipHostMalloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
    /// Tells where the device sees pinned memory.
    fn hipHostGetDevicePointer(device: *mut *mut c_void, host: *mut c_void, flags: c_uint);
    /// Creates a stream.
    fn hipStreamCreateWithFlags(stream: *mut Handle, flags: c_uint);
    /// Waits for all work of a stream.
    fn hipStreamSynchronize(stream: Handle);
    /// Launches a kernel.
    fn hipModuleLaunchKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: Handle,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void,
    );
    /// Creates an empty graph.
    fn hipGraphCreate(graph: *mut Handle, flags: c_uint);
    /// Adds a kernel.
    fn hipGraphAddKernelNode(
        node: *mut Handle,
        graph: Handle,
        dependencies: *const Handle,
        count: usize,
        parameters: *const KernelNode,
    );
    /// Compiles a graph.
    fn hipGraphInstantiate(
        exec: *mut Handle,
        graph: Handle,
        error_node: *mut Handle,
        log: *mut c_char,
        log_bytes: usize,
    );
    /// Compiles a graph, with flags.
    fn hipGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: u64);
    /// Launches a compiled graph.
    fn hipGraphLaunch(exec: Handle, stream: Handle);
    /// Launches a compiled graph; a null stream is the thread's own.
    fn hipGraphLaunch_spt(exec: Handle, stream: Handle);
    /// Gives a compiled graph the parameters of another graph.
    fn hipGraphExecUpdate(exec: Handle, graph: Handle, node: *mut Handle, result: *mut c_int);
    /// Gives a kernel of a compiled graph other parameters.
    fn hipGraphExecKernelNodeSetParams(exec: Handle, node: Handle, parameters: *const KernelNode);
    /// Destroys a compiled graph.
    fn hipGraphExecDestroy(exec: Handle);
    /// Destroys a graph.
    fn hipGraphDestroy(graph: Handle);
}

/// A loaded `libamdhip64`.
#[derive(Debug)]
pub struct Library {
    functions: Functions,
    object: Object,
}

impl Library {
    /// Loads the file, or what the dynamic loader finds under the name.
    ///
    /// # Errors
    /// [`Failed::Load`] with the loader's words.
    pub fn open(name: &Path) -> Result<Self, Failed> {
        // SAFETY: the user has asked to run this library; its constructors are what any HIP program would
        // run.
        let object = unsafe { Object::open(Some(name), RTLD_NOW | RTLD_LOCAL) };
        // The words of the dynamic loader are the error's source.
        let object = object.map_err(|error| {
            Failed::Load(error.source().map_or_else(|| error.to_string(), ToString::to_string))
        })?;
        Ok(Self { functions: Functions::look_up(&object), object })
    }

    /// The file that was loaded, behind all links.
    pub fn path(&self) -> PathBuf {
        let Some(address) = self.functions.hipInit else { return PathBuf::new() };
        let mut found = libc::Dl_info {
            dli_fname: ptr::null(),
            dli_fbase: ptr::null_mut(),
            dli_sname: ptr::null(),
            dli_saddr: ptr::null_mut(),
        };
        // SAFETY: any address may be asked for; the result goes to a variable of this function.
        if unsafe { libc::dladdr(address as *const c_void, &raw mut found) } == 0 || found.dli_fname.is_null()
        {
            return PathBuf::new();
        }
        // SAFETY: the loader's name of an object that stays loaded, as `self` holds it.
        let name = unsafe { CStr::from_ptr(found.dli_fname) }.to_string_lossy().into_owned();
        fs::canonicalize(&name).unwrap_or_else(|_| name.into())
    }

    fn failed(&self, function: &'static str, code: c_int) -> Failed {
        type Name = unsafe extern "C" fn(c_int) -> *const c_char;
        // SAFETY: hip_runtime_api.h: `const char* hipGetErrorName(hipError_t)`.
        let name = unsafe { self.object.get::<Name>("hipGetErrorName") };
        // SAFETY: any number may be asked for.
        let name = name.map_or(ptr::null(), |name| unsafe { name(code) });
        let name = if name.is_null() {
            "unknown".into()
        } else {
            // SAFETY: not null: a string that lives as long as the library.
            unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
        };
        Failed::Code { function, code, name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_does_not_exist_is_named() {
        let failed = Library::open(Path::new("libamdhip64.so.none")).map(drop);
        assert!(
            matches!(&failed, Err(Failed::Load(what)) if what.contains("libamdhip64.so.none")),
            "{failed:?}"
        );
    }

    #[test]
    fn a_function_that_is_missing_is_named() -> Result<(), Failed> {
        // A library that every process has, and that is no HIP.
        let library = Library::open(Path::new("libc.so.6"))?;
        // SAFETY: nothing is called.
        let failed = unsafe { library.hipGraphLaunch(ptr::null_mut(), ptr::null_mut()) };
        assert_eq!(failed, Err(Failed::Missing("hipGraphLaunch")));
        assert_eq!(library.path(), PathBuf::new());
        Ok(())
    }
}
