//! Device images in files.

use std::{fs::File, io, path::Path};

use loader::Bytes;
use memmap2::{Mmap, MmapOptions};

use crate::{
    error::{Error, Result},
    memfd,
};

/// The image in a file, mapped into memory.
///
/// A mapping of the file itself would kill the process with SIGBUS if another process truncates the file. So the bytes
/// go to a file in memory first (`memfd_create`), which is then sealed: no process can shrink, extend or write it. That
/// file is mapped. Once this function has returned, nothing that happens to the file at `path` changes the image.
///
/// # Errors
/// [`Error::FileNotFound`] for what cannot be opened and read, like a directory. [`Error::InvalidImage`] if the file
/// shrinks while it is copied: the copy is shorter than the file was when it was opened. [`Error::OutOfMemory`].
pub fn image_in_file(path: &Path) -> Result<Bytes<'static>> {
    let unreadable = |error: io::Error| Error::FileNotFound(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    map_copy(file, bytes).map(Bytes::shared).map_err(|error| match error.raw_os_error() {
        // CAST: usize has 64 bits on the hosts that ROCm has.
        Some(libc::ENOMEM | libc::ENOSPC | libc::EMFILE | libc::ENFILE) => {
            Error::OutOfMemory { bytes: bytes as usize }
        }
        _ if error.kind() == io::ErrorKind::UnexpectedEof => Error::InvalidImage(error.to_string()),
        _ => unreadable(error),
    })
}

/// Maps a sealed copy of a file that had `bytes` bytes when it was opened. Files like pipes say that they have none.
fn map_copy(mut file: File, bytes: u64) -> io::Result<Mmap> {
    let mut copy = memfd::create(c"aqlipse-image")?;
    if io::copy(&mut file, &mut copy)? < bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file shrank while it was read"));
    }
    memfd::seal(&copy, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE | libc::F_SEAL_SEAL)?;
    // Private, because kernels before 6.7 map no file as shared that is sealed against writes.
    // SAFETY: the seals keep the bytes and their number as they are.
    unsafe { MmapOptions::new().map_copy_read_only(&copy) }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf, process::Command};

    use super::*;

    /// A file that is removed at the end of a test.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str, bytes: &[u8]) -> Self {
            let path = std::env::temp_dir().join(format!("aqlipse-{name}-{}", std::process::id()));
            fs::write(&path, bytes).unwrap();
            Self(path)
        }

        /// Has another process truncate the file.
        fn truncate(&self, bytes: usize) {
            let size = format!("--size={bytes}");
            assert!(Command::new("truncate").arg(size).arg(&self.0).status().unwrap().success());
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    #[test]
    fn a_file_that_shrinks_before_it_is_mapped_is_refused() {
        let temporary = Temporary::new("shrinks", &[7; 10_000]);
        for left in [9_999, 4096, 0] {
            let file = File::open(&temporary.0).unwrap();
            temporary.truncate(left);
            assert_eq!(map_copy(file, 10_000).unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{left}");
        }
    }

    #[test]
    fn a_file_that_is_truncated_once_it_is_mapped_changes_nothing() {
        let bytes: Vec<u8> = (0..100_000).map(|n| (n % 251) as u8).collect();
        let temporary = Temporary::new("truncated", &bytes);
        let image = image_in_file(&temporary.0).unwrap();
        temporary.truncate(0);
        assert!(*image == *bytes);
    }

    #[test]
    fn the_copy_that_is_mapped_cannot_change() {
        let temporary = Temporary::new("sealed", &[7; 10]);
        let image = map_copy(File::open(&temporary.0).unwrap(), 10).unwrap();
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let line = maps.lines().find(|line| line.starts_with(&format!("{:x}-", image.as_ptr() as usize)));
        assert!(
            line.is_some_and(|line| line.contains("r--p") && line.contains("/memfd:aqlipse-image")),
            "{line:?}"
        );
    }

    #[test]
    fn what_is_no_file_is_not_found_and_a_file_without_bytes_is_an_empty_image() {
        for path in ["/", "/nowhere/at/all.co"] {
            assert!(matches!(image_in_file(path.as_ref()), Err(Error::FileNotFound(_))), "{path}");
        }
        let empty = Temporary::new("empty", &[]);
        for path in [empty.0.as_path(), "/dev/null".as_ref()] {
            assert!(image_in_file(path).unwrap().is_empty(), "{path:?}");
        }
    }
}
