//! HIP's headers of several releases, for tests that compile programs with each, and the functions of the newest.
//!
//! Debian has those of 5.2.3. Newer ones are in the wheels of Triton's compiler on PyPI, of which nothing else is kept. The
//! newest header is known by AMD's bindings for Python, which are made from it: they declare each of its functions. All
//! are fetched once, into the target directory.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use crate::{Result, file_error, output, packages, read, run, target_dir};

/// A package on PyPI, and what of it is kept.
struct Wheel {
    /// Where it is kept, below the target directory's folder of headers.
    folder: &'static str,
    package: &'static str,
    version: &'static str,
    /// A folder in the wheel.
    inside: &'static str,
    /// The files in that folder, by a pattern of Python's `fnmatch`.
    files: &'static str,
}

impl Wheel {
    const fn triton(folder: &'static str, version: &'static str) -> Self {
        Self { folder, package: "triton", version, inside: "triton/backends/amd/include/", files: "hip/*" }
    }

    fn path(&self) -> PathBuf {
        target_dir().join("headers").join(self.folder)
    }
}

/// The release whose header is the newest at hand.
pub const NEWEST: &str = "10.0";

/// The bindings that are made from it; their version begins with the release.
const BINDINGS: Wheel = Wheel {
    folder: "bindings",
    package: "rocm-bindings-hip",
    version: "10.0.0.0.1.2",
    inside: "rocm/bindings/",
    files: "cyhip*.pxd",
};

const WHEELS: [Wheel; 3] = [Wheel::triton("hip6", "3.2.0"), Wheel::triton("hip7", "3.9.0"), BINDINGS];

/// Takes some files below a folder out of the wheel in another folder.
const UNPACK: &str = "
import fnmatch, glob, os, sys, zipfile
wheel, inside, files, into = sys.argv[1:]
with zipfile.ZipFile(glob.glob(os.path.join(wheel, '*.whl'))[0]) as archive:
    for name in archive.namelist():
        if fnmatch.fnmatchcase(name, inside + files) and not name.endswith('/'):
            path = os.path.join(into, name[len(inside):])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as out:
                out.write(archive.read(name))
";

/// Fetches what is missing; says whether nothing is in the end.
///
/// # Errors
/// Of the download, if `AQLIPSE_REQUIRE_PACKAGES` is set.
pub fn fetch() -> Result<bool> {
    for wheel in WHEELS {
        match fetch_one(&wheel) {
            Ok(()) => {}
            Err(error) if packages::required() => return Err(error),
            Err(error) => {
                eprintln!(
                    "no {} {}, tests that need it will be skipped: {error}",
                    wheel.package, wheel.version
                );
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn fetch_one(wanted: &Wheel) -> Result {
    let folder = &wanted.path();
    // Written last, so that a download that was interrupted is made again.
    let fetched = folder.join(format!("{}.txt", wanted.package));
    if fs::read_to_string(&fetched).is_ok_and(|found| found == wanted.version) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(file_error(folder))?;
    }
    let wheel = folder.join("wheel");
    fs::create_dir_all(&wheel).map_err(file_error(&wheel))?;
    let python = python()?;
    let mut download = Command::new(&python);
    // Whatever Python is here: nothing of it runs.
    download.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]);
    download.args(["--python-version", "3.11", "--implementation", "cp"]);
    download.args(["--platform", "manylinux_2_17_x86_64", "--platform", "manylinux_2_28_x86_64"]);
    run(download.arg("--dest").arg(&wheel).arg(format!("{}=={}", wanted.package, wanted.version)))?;
    let mut unpack = Command::new(&python);
    run(unpack.args(["-c", UNPACK]).arg(&wheel).args([wanted.inside, wanted.files]).arg(folder))?;
    fs::remove_dir_all(&wheel).map_err(file_error(&wheel))?;
    fs::write(&fetched, wanted.version).map_err(file_error(&fetched))
}

/// The functions of the newest header, those of `hiprtc` among them; `None` if the bindings are not here.
///
/// # Errors
/// [`crate::Error::File`].
pub fn newest_functions() -> Result<Option<BTreeSet<String>>> {
    let mut found = BTreeSet::new();
    for file in ["cyhip.pxd", "cyhiprtc.pxd"] {
        let path = BINDINGS.path().join(file);
        if !path.exists() {
            return Ok(None);
        }
        found.extend(functions(&read(&path)?));
    }
    Ok(Some(found))
}

/// The functions of HIP that a file of bindings declares.
fn functions(bindings: &str) -> impl Iterator<Item = String> {
    let declared = bindings.lines().filter_map(|line| line.strip_prefix("cdef ")?.split_once('('));
    let names = declared.filter_map(|(before, _)| before.rsplit([' ', '*']).next());
    // Those ask whether a library has a function, and are the bindings' own.
    let of_hip =
        |name: &&str| name.trim_start_matches('_').starts_with("hip") && !name.ends_with("_has_symbol");
    names.filter(of_hip).map(String::from)
}

/// A Python that has pip.
fn python() -> Result<PathBuf> {
    if output(Command::new("python3").args(["-m", "pip", "--version"])).is_ok() {
        return Ok("python3".into());
    }
    let venv = target_dir().join("headers").join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    Ok(venv.join("bin").join("python"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_from_types_and_members() {
        let text = "cdef hipError_t hipInit(unsigned int flags) except? hipErrorInitializationError nogil\n\
                    cdef const char * hipGetErrorString(hipError_t code) noexcept nogil\n\
                    cdef extern from \"hip/hip_runtime.h\":\n    cdef struct hipUUID_t:\n\
                    # @returns (hipSuccess)\ncdef struct hipX:\ncdef void* loader(void)\n\
                    cdef int __hip_has_symbol(const char * name) nogil\n";
        assert_eq!(functions(text).collect::<Vec<_>>(), ["hipInit", "hipGetErrorString"]);
    }

    #[test]
    fn the_bindings_are_of_the_newest_release() {
        assert!(BINDINGS.version.starts_with(&format!("{NEWEST}.")));
    }
}
