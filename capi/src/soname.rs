//! Under which SONAME our clients know us.
//!
//! One file serves libamdhip64.so.4 to .so.7, and a few functions changed their structures between those without
//! changing their symbol or version node. Which layout a caller was compiled for is visible only in what the
//! loaded objects ask for, so that is read, once. A process whose objects ask for several names gets the newest;
//! one in which nothing asks (`dlopen`, `LD_PRELOAD`) gets the name of the file that was opened.

use std::{
    ffi::{CStr, c_int, c_void},
    mem::MaybeUninit,
    sync::OnceLock,
};

use libc::{Dl_info, PT_DYNAMIC, dl_phdr_info};

/// What a program that names no version gets.
const NEWEST: u32 = 7;

/// The major version after `libamdhip64.so.` that clients of this process expect.
///
/// Read on the first call; an object that is loaded later does not change it.
pub fn major() -> u32 {
    static MAJOR: OnceLock<u32> = OnceLock::new();
    *MAJOR.get_or_init(|| needed().major.or_else(opened).unwrap_or(NEWEST))
}

/// Whether the clients were compiled with headers before HIP 5, as far as they show it: they ask for `.so.4`, and for no name
/// that is newer. Clients that open the library bring numbers of their own, which this does not tell. Read on the first call.
pub fn is_before_5() -> bool {
    static BEFORE: OnceLock<bool> = OnceLock::new();
    *BEFORE.get_or_init(|| needed().major.is_some_and(|major| major <= 4))
}

/// Whether the clients were compiled with headers of HIP 5.2 or before, as far as they show it: they ask for `.so.5` or
/// `.so.4`, and for no name that is newer. Read on the first call.
pub fn is_before_5_3() -> bool {
    static BEFORE: OnceLock<bool> = OnceLock::new();
    *BEFORE.get_or_init(|| {
        let needed = needed();
        needed.major.is_some_and(|major| major <= 5) && needed.node.is_some_and(|node| node < (5, 3))
    })
}

/// What the loaded objects ask for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Needed {
    /// The newest version among their `DT_NEEDED` entries.
    major: Option<u32>,
    /// The newest version node of the names that they take from there.
    node: Option<(u32, u32)>,
}

fn needed() -> Needed {
    let mut newest = Needed::default();
    // SAFETY: the callback gets the address of `newest` back and nothing keeps it.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut newest).cast()) };
    newest
}

/// The version in the file name under which this library was opened.
fn opened() -> Option<u32> {
    let mut info = MaybeUninit::<Dl_info>::zeroed();
    let here: *const fn() -> Option<u32> = &(opened as fn() -> Option<u32>);
    // SAFETY: reads one function pointer that is on our stack.
    let here = unsafe { here.cast::<*const c_void>().read() };
    // SAFETY: `info` is writable; any address may be asked for.
    if unsafe { libc::dladdr(here, info.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: dladdr succeeded and has filled it.
    let name = unsafe { info.assume_init() }.dli_fname;
    if name.is_null() {
        return None;
    }
    // SAFETY: the loader's copy of the name lives as long as the object, which is ours.
    version(unsafe { CStr::from_ptr(name) }.to_bytes())
}

/// Looks at one loaded object; `data` points to what those before it need.
unsafe extern "C" fn visit(info: *mut dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: dl_iterate_phdr passes a valid description.
    let info = unsafe { &*info };
    // SAFETY: `needed` passed the address of its variable.
    let newest = unsafe { &mut *data.cast::<Needed>() };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader keeps the program headers of a loaded object mapped.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let dynamic = headers.iter().find(|header| header.p_type == PT_DYNAMIC);
    let Some(dynamic) = dynamic else { return 0 };
    let entries = (info.dlpi_addr + dynamic.p_vaddr) as *const Dynamic;
    // SAFETY: a PT_DYNAMIC segment holds entries up to DT_NULL and is mapped while the object is loaded, which
    // it stays during the iteration.
    unsafe {
        let Some(strings) = entry(entries, DT_STRTAB) else { return 0 };
        // ABI: glibc has relocated most of these addresses in place; other loaders, and the vDSO, leave the file's.
        let placed = |address| if address < info.dlpi_addr { address + info.dlpi_addr } else { address };
        let strings = placed(strings);
        let mut next = entries;
        while (*next).tag != DT_NULL {
            if (*next).tag == DT_NEEDED {
                let name = CStr::from_ptr((strings + (*next).value) as *const _);
                newest.major = newest.major.max(version(name.to_bytes()));
            }
            next = next.add(1);
        }
        if let Some(versions) = entry(entries, DT_VERNEED) {
            newest.node = newest.node.max(newest_node(placed(versions) as *const Versions, strings));
        }
    }
    0
}

/// `Elf64_Dyn`.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

const _: () = assert!(size_of::<Dynamic>() == 16 && align_of::<Dynamic>() == 8);

/// `Elf64_Verneed`: what an object takes from one file. Offsets are in bytes, from here to what they lead to.
#[repr(C)]
struct Versions {
    version: u16,
    count: u16,
    file: u32,
    first: u32,
    next: u32,
}

/// `Elf64_Vernaux`: one version node.
#[repr(C)]
struct Node {
    hash: u32,
    flags: u16,
    other: u16,
    name: u32,
    next: u32,
}

const _: () = assert!(size_of::<Versions>() == 16 && size_of::<Node>() == 16);

const DT_VERNEED: i64 = 0x6fff_fffe;
const DT_NULL: i64 = 0;
const DT_NEEDED: i64 = 1;
const DT_STRTAB: i64 = 5;

/// The value of the first entry with `tag`.
///
/// # Safety
/// `entries` is an array that ends in `DT_NULL`.
unsafe fn entry(mut entries: *const Dynamic, tag: i64) -> Option<u64> {
    // SAFETY: the array ends in DT_NULL and we stop there.
    unsafe {
        while (*entries).tag != DT_NULL {
            if (*entries).tag == tag {
                return Some((*entries).value);
            }
            entries = entries.add(1);
        }
    }
    None
}

/// The newest version node that an object takes from a library of ours.
///
/// # Safety
/// `versions` is the first of a loaded object's needed versions, whose strings are at `strings`.
unsafe fn newest_node(mut versions: *const Versions, strings: u64) -> Option<(u32, u32)> {
    let mut newest = None;
    // SAFETY: the lists end where an offset is 0, and we stop there; names are in the object's strings.
    unsafe {
        let text = |offset: u32| CStr::from_ptr((strings + u64::from(offset)) as *const _).to_bytes();
        loop {
            if version(text((*versions).file)).is_some() {
                let mut node = versions.byte_add((*versions).first as usize).cast::<Node>();
                for _ in 0..(*versions).count {
                    newest = newest.max(node_version(text((*node).name)));
                    node = node.byte_add((*node).next as usize);
                }
            }
            if (*versions).next == 0 {
                return newest;
            }
            versions = versions.byte_add((*versions).next as usize);
        }
    }
}

/// The version in the name of a node like `hip_5.2`.
fn node_version(name: &[u8]) -> Option<(u32, u32)> {
    let (major, minor) = std::str::from_utf8(name).ok()?.strip_prefix("hip_")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The major version in a file name or path like `libamdhip64.so.6` or `/lib/libamdhip64.so.6.4.43484`.
fn version(path: &[u8]) -> Option<u32> {
    let name = path.rsplit(|&byte| byte == b'/').next()?;
    let rest = name.strip_prefix(b"libamdhip64.so.")?;
    let digits = rest.split(|&byte| byte == b'.').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names_and_paths() {
        assert_eq!(version(b"libamdhip64.so.6"), Some(6));
        assert_eq!(version(b"/opt/rocm/lib/libamdhip64.so.7.2.26015"), Some(7));
        assert_eq!(version(b"libamdhip64.so"), None);
        assert_eq!(version(b"libamdhip64.so."), None);
        assert_eq!(version(b"libhsa-runtime64.so.1"), None);
        assert_eq!(version(b"libamdhip64.so.99999999999"), None);
    }

    #[test]
    fn versions_are_read_from_nodes() {
        assert_eq!(node_version(b"hip_5.2"), Some((5, 2)));
        assert!(node_version(b"hip_4.5") < node_version(b"hip_5.0"));
        assert_eq!(node_version(b"GLIBC_2.34"), None);
    }

    #[test]
    fn a_process_that_needs_no_libamdhip64_gets_the_newest() {
        assert_eq!(needed(), Needed::default());
        assert_eq!((major(), is_before_5(), is_before_5_3()), (NEWEST, false, false));
    }
}
