//! libhiprtc.so: its functions are those of the same names in `libamdhip64.so`, which is opened by the first call.
//!
//! Programs and linkers are objects of that one library, so that both libraries know each other's, and the default
//! architecture is that of its current device (ADR 50). The library is not linked: to be needed under one of its names
//! would tell it that its clients expect that version.
//!
//! ```no_run
//! let (mut major, mut minor) = (0, 0);
//! // SAFETY: two integers that the function may write.
//! let code = unsafe { hiprtc_c::hiprtcVersion(&mut major, &mut minor) };
//! assert_eq!((code, major, minor), (0, 9, 0));
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | `library` | where `libamdhip64.so` is |

#![allow(non_snake_case)]

mod library;

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
};

/// `HIPRTC_ERROR_INTERNAL_ERROR`: there is no library to call.
const INTERNAL_ERROR: c_uint = 11;

/// Exports functions that call those of the same names in the library.
macro_rules! forward {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty, or $fallback:expr;)*) => { $(
        #[doc = concat!("As `", stringify!($name), "` of libamdhip64.so.")]
        ///
        /// # Safety
        /// As there.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            type Function = unsafe extern "C" fn($($ty),*) -> $ret;
            // SAFETY: the function of this name has this type (hiprtc.h).
            match unsafe { library::function::<Function>(concat!(stringify!($name), "\0").as_bytes()) } {
                // SAFETY: the caller's promise.
                Some(function) => unsafe { function($($arg),*) },
                None => $fallback,
            }
        }
    )* };
}

forward! {
    fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcGetErrorString(result: c_int) -> *const c_char, or ptr::null();
    fn hiprtcCreateProgram(program: *mut usize, source: *const c_char, name: *const c_char, count: c_int, headers: *const *const c_char, names: *const *const c_char) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcDestroyProgram(program: *mut usize) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcAddNameExpression(program: usize, expression: *const c_char) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcGetLoweredName(program: usize, expression: *const c_char, lowered: *mut *const c_char) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcCompileProgram(program: usize, count: c_int, options: *const *const c_char) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcGetCodeSize(program: usize, bytes: *mut usize) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcGetCode(program: usize, out: *mut c_char) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcGetBitcodeSize(program: usize, bytes: *mut usize) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcGetBitcode(program: usize, out: *mut c_char) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcGetProgramLogSize(program: usize, bytes: *mut usize) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcGetProgramLog(program: usize, out: *mut c_char) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcLinkCreate(count: c_uint, options: *mut c_uint, values: *mut *mut c_void, linker: *mut usize) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcLinkAddFile(linker: usize, kind: c_uint, path: *const c_char, count: c_uint, options: *mut c_uint, values: *mut *mut c_void) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcLinkAddData(linker: usize, kind: c_uint, data: *mut c_void, size: usize, name: *const c_char, count: c_uint, options: *mut c_uint, values: *mut *mut c_void) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcLinkComplete(linker: usize, code: *mut *mut c_void, size: *mut usize) -> c_uint, or INTERNAL_ERROR;
    fn hiprtcLinkDestroy(linker: usize) -> c_uint, or INTERNAL_ERROR;
}
