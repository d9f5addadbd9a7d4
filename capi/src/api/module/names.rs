//! Names of kernels, for profilers.

use std::{
    collections::HashSet,
    ffi::{CString, c_char, c_void},
    ptr,
};

use parking_lot::Mutex;

use super::register;
use crate::{object, types::*};

/// The text of a name, which stays for good: callers never give it back, and there are as many as kernels.
pub(super) fn lasting(name: &str) -> *const c_char {
    static NAMES: Mutex<Option<HashSet<CString>>> = Mutex::new(None);
    let Ok(name) = CString::new(name) else { return ptr::null() };
    let mut names = NAMES.lock();
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(&name) {
        return known.as_ptr();
    }
    // The text lies behind a box, which does not move with the set.
    let text = name.as_ptr();
    names.insert(name);
    text
}

entry! {
    /// The mangled name of a module's kernel, or null.
    plain fn hipKernelNameRef(function: hipFunction_t) -> *const c_char, or ptr::null(); {
        object::FUNCTIONS.get(function.0).map_or(ptr::null(), |function| lasting(function.name()))
    }
}

entry! {
    /// The mangled name of a host function's kernel, or null; it is the same on every stream.
    plain fn hipKernelNameRefByPtr(function: *const c_void, _stream: hipStream_t) -> *const c_char, or ptr::null(); {
        register::kernel(function).map_or(ptr::null(), |function| lasting(function.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_stored_once() {
        let first = lasting("kernel");
        assert_eq!(first, lasting("kernel"));
        assert_ne!(first, lasting("another"));
        assert!(lasting("with\0inside").is_null());
        // SAFETY: the text stays for good.
        assert_eq!(unsafe { std::ffi::CStr::from_ptr(first) }, c"kernel");
    }
}
