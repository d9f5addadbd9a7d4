//! Device libraries for clang-22: Debian's, which are as old as HIP 5.2.3, and a few small ones of ours.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use super::{BITCODE, cached, stamp};

/// A constant that the device libraries read: name, LLVM type, value.
type Control = (&'static str, &'static str, u32);

/// The control libraries that Debian lacks: file, and what it defines.
///
/// The compiler picks them by ABI version and architecture. Debian lacks those of ABI 600 and of gfx942 and gfx950.
/// `__oclc_daz_opt` had a library of its own, which clang-22 no longer links although the old libraries read it; so
/// it comes with each ABI version. Zero: denormals are kept, as clang compiles for these architectures.
const CONTROLS: [(&str, &[Control]); 5] = [
    ("oclc_abi_version_400", &[("__oclc_ABI_version", "i32", 400), ("__oclc_daz_opt", "i8", 0)]),
    ("oclc_abi_version_500", &[("__oclc_ABI_version", "i32", 500), ("__oclc_daz_opt", "i8", 0)]),
    ("oclc_abi_version_600", &[("__oclc_ABI_version", "i32", 600), ("__oclc_daz_opt", "i8", 0)]),
    ("oclc_isa_version_942", &[("__oclc_ISA_version", "i32", 9402)]),
    ("oclc_isa_version_950", &[("__oclc_ISA_version", "i32", 9500)]),
];

/// The folder to pass as `--rocm-device-lib-path`.
pub fn directory() -> PathBuf {
    let key =
        ("device libraries", CONTROLS, stamp("/usr/bin/clang-22"), stamp(&format!("{BITCODE}/ockl.bc")));
    cached(&key, "bitcode", |directory| {
        fs::create_dir(directory).expect("the target directory can be written");
        for entry in fs::read_dir(BITCODE).expect("the device libraries are installed") {
            let installed = entry.expect("a directory can be read").path();
            let name = installed.file_name().expect("a directory's entries have names");
            symlink(&installed, directory.join(name)).expect("the target directory can be written");
        }
        for (name, controls) in CONTROLS {
            assemble(&directory.join(name).with_extension("bc"), controls);
        }
    })
}

fn assemble(bitcode: &Path, controls: &[Control]) {
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
    fs::write(&source, text).expect("the target directory can be written");
    let mut clang = Command::new("clang-22");
    clang.args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-Wno-override-module", "-x", "ir", "-emit-llvm"]);
    let output = clang.arg("-c").arg(&source).arg("-o").arg(bitcode).output().expect("clang-22 starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
