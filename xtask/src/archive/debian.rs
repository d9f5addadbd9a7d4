//! The Debian package. What must not meet AMD's files of the same names lies in a folder of its own, [`PREFIX`].

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use super::{COMPLETIONS, DOCUMENTS, VERSION};
use crate::{Error, Result, file_error, output, run};

/// Where everything is installed but what others look for in folders that they share.
pub const PREFIX: &str = "usr/lib/aqlipse";

/// Links from shared folders: their place, and where they lead to, below [`PREFIX`].
///
/// CMake looks into `/usr/share/cmake` last: a package `hip` of ROCm or of Debian is found before this one.
const LINKS: [(&str, &str); 3] = [
    ("usr/bin/aqlipse", "../lib/aqlipse/bin/aqlipse"),
    ("usr/share/cmake/hip", "../../lib/aqlipse/lib/cmake/hip"),
    ("usr/share/pkgconfig/aqlipse.pc", "../../lib/aqlipse/lib/pkgconfig/aqlipse.pc"),
];

/// Makes `aqlipse_VERSION_amd64.deb` of the tree, and returns its path.
pub(super) fn make(tree: &Path, folder: &Path) -> Result<PathBuf> {
    let install = folder.join("debian");
    let prefix = install.join(PREFIX);
    let made = |folder: &Path| fs::create_dir_all(folder).map_err(file_error(folder));
    made(&prefix)?;
    for part in ["bin", "lib", "thunk", "include"] {
        output(Command::new("cp").arg("-a").arg(tree.join(part)).arg(&prefix))?;
    }
    let manual = tree.join("share/man");
    for shared in
        COMPLETIONS.iter().map(|(_, folder, _)| tree.join(folder)).chain([manual, tree.join(DOCUMENTS)])
    {
        // PANIC: all of them are made of the tree's path.
        let place = install.join("usr").join(shared.strip_prefix(tree).expect("a folder of the tree"));
        made(place.parent().unwrap_or(&install))?;
        output(Command::new("cp").arg("-a").arg(&shared).arg(&place))?;
    }
    for (place, target) in LINKS {
        let place = install.join(place);
        made(place.parent().unwrap_or(&install))?;
        symlink(target, &place).map_err(file_error(&place))?;
    }
    let pages = fs::read_dir(install.join("usr/share/man/man1")).map_err(file_error(&install))?;
    for page in pages.flatten() {
        output(Command::new("gzip").arg("-n9").arg(page.path()))?;
    }
    let documents = install.join("usr").join(DOCUMENTS);
    let copyright = documents.join("copyright");
    fs::write(&copyright, COPYRIGHT).map_err(file_error(&copyright))?;

    let about = install.join("DEBIAN");
    made(&about)?;
    let control = about.join("control");
    fs::write(&control, control_of(&install)?).map_err(file_error(&control))?;
    output(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&install))?;
    let package = folder.join(format!("aqlipse_{VERSION}_amd64.deb"));
    let mut pack = Command::new("dpkg-deb");
    pack.args(["--root-owner-group", "-Zgzip", "--build"]).arg(&install).arg(&package);
    // Times in it: none, so that the same files make the same package.
    run(pack.env("SOURCE_DATE_EPOCH", "0"))?;
    fs::remove_dir_all(&install).map_err(file_error(&install))?;
    Ok(package)
}

const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: aqlipse

Files: *
Copyright: The aqlipse authors
License: MIT or Apache-2.0
 The texts are beside this file: LICENSE-MIT, LICENSE-APACHE.
";

fn control_of(install: &Path) -> Result<String> {
    let depends = depends(&install.join(PREFIX))?;
    let size = output(Command::new("du").args(["-sk", "--apparent-size"]).arg(install))?;
    let size = size.split_whitespace().next().unwrap_or_default();
    Ok(format!(
        "Package: aqlipse
Version: {VERSION}
Architecture: amd64
Maintainer: The aqlipse authors <aqlipse@localhost>
Installed-Size: {size}
Depends: {depends}
Recommends: clang-22 | clang-15, lld-22 | lld-15, rocm-device-libs, libamdhip64-dev
Section: libs
Priority: optional
Description: HIP graph runtime with an emulated AMD GPU
 A libamdhip64 that HIP programs load without being compiled anew. It runs on
 AMD GPUs through ROCr, and on a GPU that it emulates where there is none.
 .
 `aqlipse run -- PROGRAM` runs a HIP program on it. It is found by no program
 that does not ask for it: libraries of AMD's that are installed stay as they are.
"
    ))
}

/// The packages that have what the libraries and the command are linked with, with the oldest C library that will do.
///
/// # Errors
/// [`Error::Usage`] for a library of which the package is not known.
pub fn depends(prefix: &Path) -> Result<String> {
    let files = [
        "bin/aqlipse",
        "lib/libamdhip64.so",
        "lib/libhiprtc.so",
        "lib/libroctx64.so",
        "thunk/libhsakmt.so.1",
        "thunk/libdtif.so",
    ];
    let mut packages = BTreeSet::new();
    let mut newest = (0, 0);
    for file in files {
        let text = output(Command::new("objdump").args(["-p", "-T"]).arg(prefix.join(file)))?;
        for library in text.lines().filter_map(|line| line.trim().strip_prefix("NEEDED")) {
            packages.insert(match library.trim() {
                "libgcc_s.so.1" => "libgcc-s1",
                "libc.so.6" | "libm.so.6" | "libdl.so.2" | "libpthread.so.0" | "ld-linux-x86-64.so.2" => {
                    "libc6"
                }
                unknown => return Err(Error::Usage(format!("{file} needs {unknown}, of no known package"))),
            });
        }
        let versions = text
            .split("GLIBC_2.")
            .skip(1)
            .filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
        newest = versions.fold(newest, |newest, minor: u32| newest.max((2, minor)));
    }
    let depends = packages.into_iter().map(|package| match package {
        "libc6" => format!("libc6 (>= {}.{})", newest.0, newest.1),
        package => package.into(),
    });
    Ok(depends.collect::<Vec<_>>().join(", "))
}
