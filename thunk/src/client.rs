//! The caller: a ROCr whose structures are other than those that the library would fill in must not go on.

use crate::{
    abi::{HSAKMT_STATUS_DRIVER_MISMATCH, newer},
    entry::Result,
};

/// ROCr, as programs are linked against it.
const ROCR: &std::ffi::CStr = c"libhsa-runtime64.so.1";
/// A function that ROCr got after the 5.2.3 that this interface is of.
const LATER: &std::ffi::CStr = c"hsa_amd_portable_export_dmabuf";

/// Refuses a ROCr that is newer than the interface it was linked with.
///
/// One that has introduced itself as a user of `libdtif.so` gets the newer structures; one that has not expects those
/// of the `libhsakmt` that it was built with, and the only ones known here are those of 5.2.3.
pub fn check() -> Result {
    if newer::is_spoken() || !is_newer() {
        return Ok(());
    }
    tracing::error!(
        "this libhsakmt.so.1 has the interface of ROCm 5.2.3, and the ROCr that loaded it is newer. Use ROCr 5.2 \
         (Debian 12: libhsa-runtime64-1); or, with a ROCr that has DTIF (2025 and later), put libdtif.so on the \
         library path and set HSA_ENABLE_DTIF=1"
    );
    Err(HSAKMT_STATUS_DRIVER_MISMATCH)
}

/// Whether the ROCr of this process has functions that 5.2.3 has not.
fn is_newer() -> bool {
    // SAFETY: the names are C strings; the library is looked for among those already loaded, and not initialised.
    unsafe {
        let handle = libc::dlopen(ROCR.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if handle.is_null() {
            return false;
        }
        let newer = !libc::dlsym(handle, LATER.as_ptr()).is_null();
        libc::dlclose(handle);
        newer
    }
}
