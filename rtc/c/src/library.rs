//! Where `libamdhip64.so` is.

use std::{
    ffi::{CStr, OsStr, OsString, c_void},
    io::Write,
    mem::MaybeUninit,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use libloading::Library;

/// A function of the library, by its name with a NUL at the end.
///
/// # Safety
/// `T` is the type of a pointer to the function.
pub unsafe fn function<T: Copy>(name: &[u8]) -> Option<T> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let library = LIBRARY.get_or_init(open).as_ref()?;
    // SAFETY: the caller's promise.
    unsafe { library.get::<T>(name) }.ok().map(|symbol| *symbol)
}

/// Opens the library: beside this one under the same version, then by the loader's rules.
fn open() -> Option<Library> {
    let own = own_path();
    let mut reason = None;
    for name in names(&own) {
        // SAFETY: the library's constructors need nothing that is not there yet.
        match unsafe { Library::new(&name) } {
            Ok(library) => return Some(library),
            Err(error) => reason = Some(error),
        }
    }
    let reason = reason.map(|error| error.to_string()).unwrap_or_default();
    // Without stderr there is no place for the line.
    let _ = writeln!(std::io::stderr(), "aqlipse: error: libhiprtc.so needs libamdhip64.so: {reason}");
    None
}

/// The names to open, in order.
fn names(own: &Path) -> Vec<OsString> {
    let file = own.file_name().map(OsStr::as_bytes).unwrap_or_default();
    let version = file.strip_prefix(b"libhiprtc.so").unwrap_or_default();
    let major = version.split(|&byte| byte == b'.').nth(1).unwrap_or_default();
    let mut wanted = Vec::new();
    if !major.is_empty() {
        wanted.push([&b"libamdhip64.so."[..], major].concat());
    }
    wanted.extend([b"libamdhip64.so".to_vec(), b"libamdhip64.so.7".to_vec()]);
    let wanted: Vec<_> = wanted.iter().map(|name| OsStr::from_bytes(name).to_owned()).collect();
    let folder = own.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside =
        folder.into_iter().flat_map(|folder| wanted.iter().map(move |name| folder.join(name).into()));
    beside.chain(wanted.iter().cloned()).collect()
}

/// The path under which this library was opened; empty if it is part of a program.
fn own_path() -> PathBuf {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for; `info` is writable.
    let found = unsafe { libc::dladdr(own_path as fn() -> PathBuf as *const c_void, info.as_mut_ptr()) };
    // SAFETY: zeroed, or filled by the call: a plain structure of pointers either way.
    let name = unsafe { info.assume_init() }.dli_fname;
    if found == 0 || name.is_null() {
        return PathBuf::new();
    }
    // SAFETY: the loader's copy of the name lives as long as the object, which is ours.
    let name = unsafe { CStr::from_ptr(name) };
    PathBuf::from(OsStr::from_bytes(name.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_beside_this_one_comes_first_and_has_its_version() {
        let found = |own: &str| names(own.as_ref());
        assert_eq!(
            found("/a/libhiprtc.so.6.3"),
            [
                "/a/libamdhip64.so.6",
                "/a/libamdhip64.so",
                "/a/libamdhip64.so.7",
                "libamdhip64.so.6",
                "libamdhip64.so",
                "libamdhip64.so.7"
            ]
        );
        assert_eq!(found("libhiprtc.so"), ["libamdhip64.so", "libamdhip64.so.7"]);
        assert_eq!(found("/a/program")[0], "/a/libamdhip64.so");
        assert!(own_path().is_absolute());
    }
}
