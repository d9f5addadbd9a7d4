//! What tools ask of the library itself.

use std::{
    ffi::{c_char, c_uint},
    ptr,
};

use crate::caller;

// HIP: 6.4.3 as Debian builds it answers these three with empty strings and 0.
entry! {
    /// Returns the name of the build, which has none.
    plain fn amd_dbgapi_get_build_name() -> *const c_char, or ptr::null(); {
        c"".as_ptr()
    }
}

entry! {
    /// Returns the revision that the library was built from, which it does not record.
    plain fn amd_dbgapi_get_git_hash() -> *const c_char, or ptr::null(); {
        c"".as_ptr()
    }
}

entry! {
    /// Returns the number of the build, which has none.
    plain fn amd_dbgapi_get_build_id() -> usize, or 0; {
        0
    }
}

entry! {
    /// Stores where the precompiled header for run-time compilation lies: there is none.
    plain fn __hipGetPCH(header: *mut *const c_char, bytes: *mut c_uint) -> (), or (); {
        // SAFETY: the caller's pointers, each null or writable.
        unsafe {
            caller::write_if_wanted(header, ptr::null());
            caller::write_if_wanted(bytes, 0);
        }
    }
}
