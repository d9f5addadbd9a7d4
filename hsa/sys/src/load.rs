//! The table of the installed ROCr library.

use core::{mem::ManuallyDrop, ptr::NonNull};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::api::{Api, MissingFunction};

/// Name under which the dynamic linker finds ROCr.
pub const LIBRARY: &str = "libhsa-runtime64.so.1";

/// Why there is no function table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The dynamic linker does not find the library, or cannot load it.
    #[error("cannot load {library}: {reason}")]
    Library {
        /// What was looked for.
        library: &'static str,
        /// The dynamic linker's words.
        reason: String,
    },
    /// The library is too old.
    #[error("{library}: {missing}")]
    Function {
        /// Where it was looked for.
        library: &'static str,
        /// Which function is missing.
        missing: MissingFunction,
    },
}

/// Loads [`LIBRARY`] once a process and returns its function table; later calls return the first answer.
///
/// The library stays loaded: ROCr runs threads of its own that outlive `hsa_shut_down`.
///
/// # Errors
/// [`LoadError`] if the library is absent or lacks a required function.
pub fn load() -> Result<&'static Api, LoadError> {
    static TABLE: OnceLock<Result<Api, LoadError>> = OnceLock::new();
    TABLE.get_or_init(open).as_ref().map_err(LoadError::clone)
}

fn open() -> Result<Api, LoadError> {
    // Everything is bound now: a driver library that lacks a function is an error here, not the process's end later.
    // SAFETY: the initialisers that run are those of the system's ROCr, which expects to be loaded this way.
    let library = unsafe { Library::open(Some(LIBRARY), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| LoadError::Library { library: LIBRARY, reason: reason(&error) })?;
    // Never closed, so that the addresses below stay valid for the life of the process.
    let library = ManuallyDrop::new(library);
    let lookup = |name: &'static str| {
        // SAFETY: the symbol is only ever read as an address.
        let symbol = unsafe { library.get::<*mut core::ffi::c_void>(name) }.ok()?;
        NonNull::new(*symbol)
    };
    // SAFETY: the library that carries this soname exports these names with the signatures of its headers,
    // which the `headers` test compares with the table's.
    unsafe { Api::from_lookup(lookup) }.map_err(|missing| LoadError::Function { library: LIBRARY, missing })
}

/// The dynamic linker's words, which the error names as its source.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_is_named_in_the_linkers_words() {
        // SAFETY: there is no such library whose initialisers could run.
        let missing = unsafe { Library::open(Some("libno-such-runtime.so.9"), RTLD_NOW | RTLD_LOCAL) };
        let words = reason(&missing.expect_err("it does not exist"));
        assert!(words.contains("libno-such-runtime.so.9"), "{words}");
    }
}
