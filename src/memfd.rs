//! Files in memory that can be sealed. What is mapped of a sealed file cannot shrink under its readers.

use std::{
    ffi::CStr,
    fs::File,
    io,
    mem::ManuallyDrop,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd},
};

/// Makes an empty file; `name` shows in lists of descriptors.
///
/// # Errors
/// The kernel's.
pub(crate) fn create(name: &CStr) -> io::Result<File> {
    if hsa::fault_injection::refuses() {
        return Err(io::Error::from_raw_os_error(libc::ENOMEM));
    }
    // SAFETY: the name is a C string.
    let descriptor =
        unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just opened it.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// Adds seals (`F_SEAL_*`) to a file that [`create`] made.
///
/// # Errors
/// The kernel's.
pub(crate) fn seal(file: &File, seals: libc::c_int) -> io::Result<()> {
    // SAFETY: the call changes the file only.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Bytes of the file behind a descriptor; `None` if the file could shrink.
pub(crate) fn unshrinkable_bytes(descriptor: BorrowedFd<'_>) -> Option<u64> {
    // SAFETY: the call asks about a descriptor.
    let seals = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_GET_SEALS) };
    // SAFETY: the descriptor is borrowed for longer than `file` lives, and not closed here.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor.as_raw_fd()) });
    let metadata = file.metadata().ok().filter(|_| seals >= 0 && seals & libc::F_SEAL_SHRINK != 0)?;
    Some(metadata.len())
}
