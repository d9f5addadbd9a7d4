//! AMD's own runtimes on the thunk: `rocminfo`, programs for ROCr, programs for libamdhip64 5.2.3.
//!
//! Without the packages that these need the tests are skipped, unless `AQLIPSE_REQUIRE_PACKAGES` is set.

mod dtif;
mod engines;
mod exports;
mod hip;
mod hsa;
mod process;
mod refusals;
mod sysfs;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use xtask::{device_libs::BITCODE, dist, link, output, packages, root};

/// The directory of the libraries: `AQLIPSE_DIST`, or built now.
fn thunk() -> &'static Path {
    static THUNK: OnceLock<PathBuf> = OnceLock::new();
    THUNK.get_or_init(|| {
        let dist = env::var_os("AQLIPSE_DIST").map(PathBuf::from);
        dist.unwrap_or_else(|| dist::build(link::Profile::Release).unwrap()).join("thunk")
    })
}

/// Whether files of packages are here; fails if they must be.
fn installed(files: &[(&str, &str)]) -> bool {
    for (file, package) in files {
        if !Path::new(file).exists() {
            assert!(!packages::required(), "{file} is missing (Debian package {package})");
            eprintln!("skipped: {file} is missing (Debian package {package})");
            return false;
        }
    }
    true
}

const CLANG: (&str, &str) = ("/usr/bin/clang++-15", "clang-15");
const ROCR: (&str, &str) = ("/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1", "libhsa-runtime64-1");
const ROCR_HEADERS: (&str, &str) = ("/usr/include/hsa/hsa_ext_amd.h", "libhsa-runtime-dev");
const HIP: (&str, &str) = ("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5", "libamdhip64-5");
const HIP_HEADERS: (&str, &str) = ("/usr/include/hip/hip_runtime.h", "libamdhip64-dev");

const DEVICE_LIBRARIES: (&str, &str) = (BITCODE, "rocm-device-libs");

/// A directory for what a test makes.
fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("thunk").join(name);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// A source file that lies beside this one.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/thunk").join(name)
}

/// Compiles a C file that lies beside this one.
fn compile_c(directory: &Path, name: &str, options: &[&str]) -> PathBuf {
    let program = directory.join(name);
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-o"]).arg(&program);
    output(cc.arg(source(&format!("{name}.c"))).args(options)).unwrap();
    program
}

/// A compiler of HIP code with the options that Debian's hipcc 5.2.3 gives it.
fn hip_compiler() -> Command {
    let mut clang = Command::new(CLANG.0);
    clang.args(["-x", "hip", "-std=c++17", "-O3", "-Wall", "-Werror", "-Wno-unused-command-line-argument"]);
    clang.args(["--rocm-path=/usr", "--offload-arch=gfx90a"]);
    clang.arg(format!("--rocm-device-lib-path={BITCODE}")).arg("-I").arg(root().join("tests/programs"));
    clang
}

/// Compiles a HIP program and links it with AMD's library.
fn compile_hip(directory: &Path, source: &Path, options: &[&str]) -> PathBuf {
    let name = source.file_stem().unwrap();
    let (object, program) = (directory.join(name).with_extension("o"), directory.join(name));
    output(hip_compiler().args(options).arg("-c").arg(source).arg("-o").arg(&object)).unwrap();
    output(Command::new("c++").arg(&object).arg("-o").arg(&program).arg("-l:libamdhip64.so.5")).unwrap();
    program
}
