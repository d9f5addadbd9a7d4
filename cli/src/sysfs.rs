//! `aqlipse run --sysfs`: the emulated devices in `/sys` and `/dev`, for one program and its children.
//!
//! The program gets a mount namespace in which `/sys` and `/dev` are folders of ours. They hold what the thunk writes
//! about the devices, and beside it what the machine has there, bound one by one. The devices' own nodes in `/dev` are
//! `/dev/null`: they open, and every request to them fails, since the driver is a library.

use std::{
    ffi::{CStr, CString, c_char, c_int},
    fs::{self, File},
    io,
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::{Path, PathBuf},
    ptr::null,
};

use super::installed::THUNK;

/// Folders that show what is ours beside what is the machine's. Any other folder of ours takes the place of one that
/// the machine may have: the program finds the emulated devices instead of the machine's own.
const SHARED: [&str; 11] = [
    "/dev",
    "/sys",
    "/sys/bus",
    "/sys/bus/pci",
    "/sys/bus/pci/devices",
    "/sys/bus/pci/drivers",
    "/sys/class",
    "/sys/devices",
    "/sys/devices/pci0000:00",
    "/sys/devices/virtual",
    "/sys/module",
];

/// Describes the devices in a folder (`thunk/include/aqlipse_thunk.h`).
const WRITE: &[u8] = b"aqlipseThunkWriteSysfs\0";

/// Why the devices cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum SysfsError {
    #[error("{0}")]
    Library(#[from] libloading::Error),
    #[error(
        "--sysfs needs a mount namespace, and this machine refuses it: {0}. It takes root, user namespaces for all \
         users (sysctl kernel.apparmor_restrict_unprivileged_userns=0, or kernel.unprivileged_userns_clone=1), or a \
         container that is started with --cap-add SYS_ADMIN --security-opt apparmor=unconfined"
    )]
    Namespace(io::Error),
    #[error("the devices are not described; the line above says why")]
    Description,
    #[error("{}: {error}", path.display())]
    At { path: PathBuf, error: io::Error },
}

type Result<T = ()> = std::result::Result<T, SysfsError>;

/// Moves this process, which must have one thread, to where `/sys` and `/dev` show the devices; `thunk` is the folder
/// of the library that describes them.
///
/// # Errors
/// [`SysfsError`]. The process may be in a namespace of its own already, where nothing else has changed.
pub fn enter(thunk: &Path) -> Result {
    // SAFETY: our own library, whose constructors have no requirements.
    let library = unsafe { libloading::Library::new(thunk.join(THUNK)) }?;
    // SAFETY: the header declares the function so.
    let write = unsafe { library.get::<unsafe extern "C" fn(*const c_char) -> c_int>(WRITE) }?;
    separate()?;
    let staging = Staging::mount()?;
    // SAFETY: a string with its end.
    if unsafe { write(text(&staging.0).as_ptr()) } != 0 {
        return Err(SysfsError::Description);
    }
    let [sys, dev] = ["sys", "dev"].map(|name| staging.0.join(name));
    let minors = dev.join("dri");
    fs::create_dir_all(&minors).map_err(at(&minors))?;
    let null = Path::new("/dev/null");
    show(null, &dev.join("kfd"), false)?;
    for minor in list(&sys.join("class/drm"))? {
        show(null, &minors.join(minor.file_name()), false)?;
    }
    for (ours, place) in [(sys, "/sys"), (dev, "/dev")] {
        let place = Path::new(place);
        complete(&ours, place)?;
        bind(&ours, place)?;
    }
    Ok(())
}

/// Gives the process a mount namespace, in a user namespace where it has no right to one otherwise. Mounts of the machine
/// go on to appear there; none of its own appears outside.
fn separate() -> Result {
    let unshare = |flags| {
        // SAFETY: the call changes no memory.
        if unsafe { libc::unshare(flags) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    if unshare(libc::CLONE_NEWNS).is_err() {
        // SAFETY: neither has preconditions.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS).map_err(SysfsError::Namespace)?;
        // The program stays who it is. The kernel lets nobody else be mapped without rights.
        for (file, content) in [
            ("/proc/self/setgroups", "deny".to_owned()),
            ("/proc/self/uid_map", format!("{user} {user} 1")),
            ("/proc/self/gid_map", format!("{group} {group} 1")),
        ] {
            fs::write(file, content).map_err(at(Path::new(file)))?;
        }
    }
    mount(None, Path::new("/"), None, libc::MS_REC | libc::MS_SLAVE).map_err(SysfsError::Namespace)
}

/// A file system in memory, at a path until it is dropped.
struct Staging(PathBuf);

impl Staging {
    fn mount() -> Result<Self> {
        let pattern = std::env::temp_dir().join("aqlipse-XXXXXX");
        let path = text(&pattern).into_raw();
        // SAFETY: a string that the call may change within its length.
        let made = unsafe { !libc::mkdtemp(path).is_null() };
        let error = io::Error::last_os_error();
        // SAFETY: the string of above.
        let path = unsafe { CString::from_raw(path) };
        if !made {
            return Err(at(&pattern)(error));
        }
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(path.as_bytes()));
        let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        let mounted = mount(None, &path, Some(c"tmpfs"), flags);
        let staging = Self(path);
        mounted.map_err(at(&staging.0))?;
        Ok(staging)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What is bound elsewhere stays there. An empty folder that is left behind is no reason to fail.
        // SAFETY: a string with its end.
        unsafe { libc::umount2(text(&self.0).as_ptr(), libc::MNT_DETACH) };
        let _ = fs::remove_dir(&self.0);
    }
}

/// Adds to a folder of ours what the machine has at `place` and we do not have.
fn complete(ours: &Path, place: &Path) -> Result {
    for entry in list(place)? {
        let (theirs, mine) = (entry.path(), ours.join(entry.file_name()));
        let kind = entry.file_type().map_err(at(&theirs))?;
        if mine.symlink_metadata().is_ok() {
            if kind.is_dir() && SHARED.iter().any(|shared| theirs == Path::new(shared)) {
                complete(&mine, &theirs)?;
            }
        } else if kind.is_symlink() {
            fs::read_link(&theirs).and_then(|to| symlink(to, &mine)).map_err(at(&theirs))?;
        } else {
            match show(&theirs, &mine, kind.is_dir()) {
                // It is gone meanwhile.
                Err(SysfsError::At { error, .. }) if error.kind() == io::ErrorKind::NotFound => {}
                shown => shown?,
            }
        }
    }
    Ok(())
}

/// Shows a file, or a folder and what is mounted in it, at a second path, which is made.
fn show(from: &Path, to: &Path, is_folder: bool) -> Result {
    let made = if is_folder { fs::create_dir(to) } else { File::create(to).map(drop) };
    made.map_err(at(to))?;
    bind(from, to)
}

fn bind(from: &Path, to: &Path) -> Result {
    mount(Some(from), to, None, libc::MS_BIND | libc::MS_REC).map_err(at(from))
}

fn mount(from: Option<&Path>, to: &Path, kind: Option<&CStr>, flags: libc::c_ulong) -> io::Result<()> {
    let (from, to) = (from.map(text), text(to));
    let from = from.as_ref().map_or(null(), |from| from.as_ptr());
    // SAFETY: strings with their ends, or null where the call knows no such argument.
    let done = unsafe { libc::mount(from, to.as_ptr(), kind.map_or(null(), CStr::as_ptr), flags, null()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn list(path: &Path) -> Result<Vec<fs::DirEntry>> {
    fs::read_dir(path).and_then(Iterator::collect).map_err(at(path))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> SysfsError {
    let path = path.to_owned();
    |error| SysfsError::At { path, error }
}

fn text(path: &Path) -> CString {
    // PANIC: a path that comes from the system has no zero byte.
    CString::new(path.as_os_str().as_bytes()).expect("a path without a zero byte")
}
