//! Memory behind a file descriptor: what processes share, and what shows at several addresses.

use std::{
    ffi::{CStr, CString},
    fs::OpenOptions,
    io,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd},
};

/// Memory without an address; it cannot change its size, so that no access to it can fault.
pub struct SharedMemory {
    file: OwnedFd,
    size: usize,
    inode: u64,
}

impl SharedMemory {
    /// Makes `size` bytes of zeros that cost nothing until they are touched; `name` is what lists of descriptors show.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new(name: &CStr, size: usize) -> io::Result<Self> {
        let length = libc::off_t::try_from(size).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the name is a C string.
        let file = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was just opened, and nothing else has it.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: the calls change the file that was just made.
        let made = unsafe {
            libc::ftruncate(file.as_raw_fd(), length) == 0
                && libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) == 0
        };
        if made { Self::known(file) } else { Err(io::Error::last_os_error()) }
    }

    /// Memory that was made elsewhere, by a descriptor that stays the caller's.
    ///
    /// # Errors
    /// `InvalidInput` for a file that could shrink under its users; the kernel's.
    pub fn import(descriptor: RawFd) -> io::Result<Self> {
        // SAFETY: the call duplicates a descriptor, or fails.
        let file = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it is a new descriptor of ours.
        Self::known(unsafe { OwnedFd::from_raw_fd(file) })
    }

    /// What a process has open under a number; with a file description of our own, on which locks can be held.
    ///
    /// # Errors
    /// `NotFound` if it is no process; as [`SharedMemory::import`].
    pub fn of_process(process: u32, descriptor: u32) -> io::Result<Self> {
        if !is_process(process) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let path = format!("/proc/{process}/fd/{descriptor}");
        Self::known(OpenOptions::new().read(true).write(true).open(path)?.into())
    }

    fn known(file: OwnedFd) -> io::Result<Self> {
        // SAFETY: all-zero is a valid stat.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: `status` has room for the answer.
        let (asked, seals) = unsafe {
            (libc::fstat(file.as_raw_fd(), &raw mut status), libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS))
        };
        if asked != 0 {
            return Err(io::Error::last_os_error());
        }
        if seals < 0 || seals & libc::F_SEAL_SHRINK == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let size = usize::try_from(status.st_size).map_err(|_| io::ErrorKind::InvalidInput)?;
        Ok(Self { file, size, inode: status.st_ino })
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What tells it from any other that exists.
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// The name that it was made with; empty if it has none.
    pub fn name(&self) -> String {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", self.descriptor()));
        let text = link.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let name = text.strip_prefix("/memfd:").unwrap_or_default();
        name.strip_suffix(" (deleted)").unwrap_or(name).to_owned()
    }

    /// The number of its descriptor in this process.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// A descriptor to give away.
    ///
    /// # Errors
    /// The kernel's.
    pub fn share(&self) -> io::Result<RawFd> {
        // SAFETY: the descriptor is open as long as `self`.
        let descriptor = unsafe { BorrowedFd::borrow_raw(self.descriptor()) };
        Ok(descriptor.try_clone_to_owned()?.into_raw_fd())
    }

    /// Gives back what `offset..offset + size` holds; it reads as zeros then.
    ///
    /// # Errors
    /// The kernel's.
    pub fn discard(&self, offset: u64, size: u64) -> io::Result<()> {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // CAST: below the file's size, which the kernel gave as an off_t.
        // SAFETY: the descriptor is open; the user of the range is responsible for the accesses.
        let done =
            unsafe { libc::fallocate(self.descriptor(), mode, offset as libc::off_t, size as libc::off_t) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Says to the other holders of the file that `offset..offset + size` is in use, until `self` or the process ends.
    ///
    /// # Errors
    /// The kernel's.
    pub fn claim(&self, offset: u64, size: u64) -> io::Result<()> {
        let lock = lock_of(libc::F_RDLCK, offset, size);
        // SAFETY: the descriptor is open, and the lock is a structure of ours.
        let done = unsafe { libc::fcntl(self.descriptor(), libc::F_OFD_SETLK, &raw const lock) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Whether another holder has claimed a part of `offset..offset + size`.
    pub fn is_claimed(&self, offset: u64, size: u64) -> bool {
        let mut lock = lock_of(libc::F_WRLCK, offset, size);
        // SAFETY: as above.
        let asked = unsafe { libc::fcntl(self.descriptor(), libc::F_OFD_GETLK, &raw mut lock) };
        // What cannot be told counts as claimed: to reuse it would be worse.
        asked != 0 || i32::from(lock.l_type) != libc::F_UNLCK
    }
}

fn lock_of(kind: libc::c_int, offset: u64, size: u64) -> libc::flock {
    // CAST: the kinds are 0 to 2; offsets and sizes lie in a file, whose size is an off_t.
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset as libc::off_t,
        l_len: size as libc::off_t,
        l_pid: 0,
    }
}

/// Whether a number is a process's. Of a thread, whose number is none, Linux shows the same descriptors under `/proc`.
pub fn is_process(number: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
    let group = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    group.is_some_and(|group| group.trim().parse() == Ok(number))
}

/// A name for [`SharedMemory::new`].
pub fn name_of(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_no_process() {
        let memory = SharedMemory::new(c"test", 4096).unwrap();
        // CAST: descriptors are not negative.
        let descriptor = memory.descriptor() as u32;
        let inode_at = |number| SharedMemory::of_process(number, descriptor).map(|memory| memory.inode());
        assert_eq!(inode_at(std::process::id()).unwrap(), memory.inode());
        let thread = std::thread::spawn(std::thread::park);
        let threads = std::fs::read_dir("/proc/self/task").unwrap();
        let threads = threads.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap());
        let others: Vec<u32> = threads.filter(|&number| number != std::process::id()).collect();
        assert!(!others.is_empty());
        for other in others {
            assert_eq!(inode_at(other).unwrap_err().kind(), io::ErrorKind::NotFound, "{other}");
        }
        thread.thread().unpark();
        thread.join().unwrap();
    }
}
