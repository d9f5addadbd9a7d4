//! Compiles the programs in `tests/programs` with Debian's compilers and runs them on the library that
//! `cargo xtask dist` has linked.
//!
//! What is built stays in the target directory under a hash of everything it was built from, so a second run
//! compiles nothing.
//!
//! | module | what it does |
//! |---|---|
//! | [`build`] | one compiler, architecture, level: the matrix, and its cached outputs |
//! | [`devices`] | the back end and the architectures that the suite runs on |
//! | [`mpi`] | programs of several processes |
//! | [`process`] | runs a program with a time limit |

pub mod build;
pub mod devices;
pub mod mpi;
pub mod process;

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

pub use build::{ARCHES, Build, Compiler, MATRIX, Output};
pub use devices::{is_emulated, is_seeded, is_without_events, offers};
pub use process::Program;

/// What must exist for a test to run, and the Debian package that has it.
const WANTED: [(&str, &str); 8] = [
    ("/usr/bin/clang++-15", "clang-15"),
    ("/usr/lib/llvm-15/bin/clang-offload-bundler", "clang-tools-15"),
    ("/usr/lib/llvm-15/bin/lld", "lld-15"),
    ("/usr/bin/clang++-22", "clang-22"),
    ("/usr/lib/llvm-22/bin/clang-offload-bundler", "clang-tools-22"),
    ("/usr/lib/llvm-22/bin/lld", "lld-22"),
    ("/usr/include/hip/hip_runtime.h", "libamdhip64-dev"),
    ("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ockl.bc", "rocm-device-libs"),
];

/// The built library and the compilers.
#[derive(Clone, Debug)]
pub struct Toolchain {
    dist: PathBuf,
}

impl Toolchain {
    /// What this machine has; `None`, after a message, if something is missing.
    ///
    /// # Panics
    /// If something is missing and `AQLIPSE_REQUIRE_PACKAGES` is set.
    pub fn find() -> Option<Self> {
        match Self::locate() {
            Ok(toolchain) => Some(toolchain),
            Err(missing) => {
                let required = env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_some_and(|value| !value.is_empty());
                assert!(!required, "{missing}");
                eprintln!("skipped: {missing}");
                None
            }
        }
    }

    fn locate() -> Result<Self, String> {
        let dist = env::var_os("AQLIPSE_DIST").map(PathBuf::from);
        let dist = dist.ok_or("AQLIPSE_DIST is not set; `cargo xtask test` sets it")?;
        let missing: Vec<_> = WANTED
            .iter()
            .filter(|(file, _)| !Path::new(file).exists())
            .map(|(_, package)| *package)
            .collect();
        if missing.is_empty() {
            Ok(Self { dist })
        } else {
            Err(format!("missing Debian packages: {}", missing.join(" ")))
        }
    }

    /// The directory that holds `libamdhip64.so`.
    pub fn lib(&self) -> PathBuf {
        self.dist.join("lib")
    }

    /// The folder of a release's headers: Debian's, or what `cargo xtask test` has fetched.
    ///
    /// # Panics
    /// If they are missing and `AQLIPSE_REQUIRE_PACKAGES` is set.
    pub fn headers(&self, release: u32) -> Option<PathBuf> {
        let folder = match release {
            5 => PathBuf::from("/usr/include"),
            _ => self.dist.with_file_name("headers").join(format!("hip{release}")),
        };
        has(
            &folder.join("hip/hip_version.h").display().to_string(),
            &format!("of the headers of HIP {release}"),
        )
        .then_some(folder)
    }

    /// Where programs look for libraries: ours, then what the suite was started with.
    pub fn library_path(&self) -> std::ffi::OsString {
        let given = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let folders = std::iter::once(self.lib()).chain(env::split_paths(&given));
        env::join_paths(folders).expect("folders without colons")
    }

    /// The driver library of ours that emulates GPUs below ROCr.
    pub fn thunk(&self) -> PathBuf {
        self.dist.join("thunk")
    }

    /// The `aqlipse` command.
    pub fn command(&self) -> PathBuf {
        self.dist.join("bin").join("aqlipse")
    }
}

/// Whether a program of a package is installed; otherwise says so.
///
/// # Panics
/// If it is missing and `AQLIPSE_REQUIRE_PACKAGES` is set.
pub fn has(program: &str, package: &str) -> bool {
    let found = Path::new(program).exists();
    if !found {
        let required = env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_some_and(|value| !value.is_empty());
        assert!(!required, "missing Debian package {package}");
        eprintln!("skipped: missing Debian package {package}");
    }
    found
}

/// The directory of the programs' sources.
pub fn sources() -> PathBuf {
    xtask::root().join("tests/programs")
}

/// Returns `root/<hash of the key>/<name>`, which `make` has written, now or in an earlier run.
///
/// Tests run in processes of their own: a lock keeps two from making the same thing, and what is made gets its name
/// only when it is whole.
fn cached(key: &impl Hash, name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    fs::create_dir_all(&root).expect("the target directory can be written");
    let directory = root.join(format!("{:016x}", hasher.finish()));
    let lock = fs::File::create(directory.with_extension("lock")).expect("a lock file can be created");
    lock.lock().expect("a file can be locked");
    if !directory.exists() {
        let aside = directory.with_extension("new");
        // Left over by a run that was killed; usually it does not exist.
        let _ = fs::remove_dir_all(&aside);
        fs::create_dir(&aside).expect("the target directory can be written");
        make(&aside.join(name));
        fs::rename(&aside, &directory).expect("a directory can be renamed");
    }
    directory.join(name)
}

/// Length and time of an installed file: tells one version of a package from another.
fn stamp(path: &str) -> (u64, Option<std::time::SystemTime>) {
    let metadata = fs::metadata(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    (metadata.len(), metadata.modified().ok())
}
