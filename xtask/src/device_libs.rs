//! Device libraries for clang-22: Debian's, which are as old as HIP 5.2.3, and a few small ones of ours.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Result, file_error, output, stamp, target_dir};

/// Where Debian puts the device libraries.
pub const BITCODE: &str = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";
/// The compiler that they are made for.
const COMPILER: &str = "/usr/bin/clang-22";

/// A constant that the device libraries read: name, LLVM type, value.
type Control = (&'static str, &'static str, u32);

/// The control libraries that Debian lacks: file, and what it defines.
///
/// The compiler picks them by ABI version and architecture. Debian lacks those of ABI 600, of gfx942 and gfx950, of RDNA 3
/// and later, and of generic targets, which have the number of the oldest architecture that they stand for. `__oclc_daz_opt` had a library
/// of its own, which clang-22 no longer links although the old libraries read it; so it comes with each ABI version. Zero:
/// denormals are kept, as clang compiles for these architectures.
const CONTROLS: [(&str, &[Control]); 18] = [
    ("oclc_abi_version_400", &[("__oclc_ABI_version", "i32", 400), ("__oclc_daz_opt", "i8", 0)]),
    ("oclc_abi_version_500", &[("__oclc_ABI_version", "i32", 500), ("__oclc_daz_opt", "i8", 0)]),
    ("oclc_abi_version_600", &[("__oclc_ABI_version", "i32", 600), ("__oclc_daz_opt", "i8", 0)]),
    ("oclc_isa_version_942", &[("__oclc_ISA_version", "i32", 9402)]),
    ("oclc_isa_version_950", &[("__oclc_ISA_version", "i32", 9500)]),
    ("oclc_isa_version_9-generic", &[("__oclc_ISA_version", "i32", 9000)]),
    ("oclc_isa_version_9-4-generic", &[("__oclc_ISA_version", "i32", 9402)]),
    ("oclc_isa_version_10-3-generic", &[("__oclc_ISA_version", "i32", 10300)]),
    ("oclc_isa_version_11-generic", &[("__oclc_ISA_version", "i32", 11000)]),
    ("oclc_isa_version_12-generic", &[("__oclc_ISA_version", "i32", 12000)]),
    ("oclc_isa_version_1100", &[("__oclc_ISA_version", "i32", 11000)]),
    ("oclc_isa_version_1101", &[("__oclc_ISA_version", "i32", 11001)]),
    ("oclc_isa_version_1102", &[("__oclc_ISA_version", "i32", 11002)]),
    ("oclc_isa_version_1103", &[("__oclc_ISA_version", "i32", 11003)]),
    ("oclc_isa_version_1150", &[("__oclc_ISA_version", "i32", 11500)]),
    ("oclc_isa_version_1151", &[("__oclc_ISA_version", "i32", 11501)]),
    ("oclc_isa_version_1200", &[("__oclc_ISA_version", "i32", 12000)]),
    ("oclc_isa_version_1201", &[("__oclc_ISA_version", "i32", 12001)]),
];

/// The folder to pass as `--rocm-device-lib-path`, made if it does not exist yet.
///
/// # Errors
/// [`crate::Error::Start`] and [`crate::Error::Failed`] of the compiler; [`crate::Error::File`] if the package
/// `rocm-device-libs` is missing or the target directory cannot be written.
pub fn directory() -> Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (CONTROLS, stamp(Path::new(COMPILER)), stamp(&Path::new(BITCODE).join("ockl.bc"))).hash(&mut hasher);
    let directory = target_dir().join("device-libs").join(format!("{:016x}", hasher.finish()));
    let folder = directory.with_file_name("");
    fs::create_dir_all(&folder).map_err(file_error(&folder))?;
    // Processes of tests ask at once: a lock keeps two from making it, and it gets its name when it is whole.
    let lock = directory.with_extension("lock");
    let lock =
        fs::File::create(&lock).and_then(|file| file.lock().map(|()| file)).map_err(file_error(&lock))?;
    if !directory.exists() {
        let aside = directory.with_extension("new");
        // Left over by a run that was killed; usually it does not exist.
        let _ = fs::remove_dir_all(&aside);
        make(&aside)?;
        fs::rename(&aside, &directory).map_err(file_error(&directory))?;
    }
    drop(lock);
    Ok(directory)
}

fn make(directory: &Path) -> Result {
    let installed = Path::new(BITCODE);
    fs::create_dir(directory).map_err(file_error(directory))?;
    for entry in fs::read_dir(installed).map_err(file_error(installed))? {
        let entry = entry.map_err(file_error(installed))?;
        let link = directory.join(entry.file_name());
        symlink(entry.path(), &link).map_err(file_error(&link))?;
    }
    CONTROLS
        .iter()
        .try_for_each(|(name, controls)| assemble(&directory.join(name).with_extension("bc"), controls))
}

fn assemble(bitcode: &Path, controls: &[Control]) -> Result {
    let mut text = String::from("target triple = \"amdgcn-amd-amdhsa\"\n");
    for (name, kind, value) in controls {
        // As Debian's: constants that every module may define, folded away when linked.
        text += &format!(
            "@{name} = linkonce_odr protected local_unnamed_addr addrspace(4) constant {kind} {value}\n"
        );
    }
    // Debian's file of the same name is a link, which the compiler would write through.
    let _ = fs::remove_file(bitcode);
    let source = bitcode.with_extension("ll");
    fs::write(&source, text).map_err(file_error(&source))?;
    let mut clang = Command::new(COMPILER);
    clang.args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-Wno-override-module", "-x", "ir", "-emit-llvm"]);
    output(clang.arg("-c").arg(&source).arg("-o").arg(bitcode)).map(drop)
}
