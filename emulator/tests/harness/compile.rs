//! The compiler, and what it made before.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::PathBuf,
    process::Command,
    sync::OnceLock,
};

use emulator::isa::Target;

const CLANG: &str = "clang++-22";
const PRELUDE: &str = include_str!("prelude.h");

/// Optimisation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    O0,
    O1,
    O2,
    O3,
}

impl Level {
    pub const ALL: [Self; 4] = [Self::O0, Self::O1, Self::O2, Self::O3];

    fn flag(self) -> &'static str {
        ["-O0", "-O1", "-O2", "-O3"][self as usize]
    }
}

/// Whether there is a compiler.
///
/// # Panics
/// If there is none and `AQLIPSE_REQUIRE_PACKAGES=1`.
fn available() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| Command::new(CLANG).arg("--version").output().is_ok());
    if !found {
        let required = std::env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_some_and(|v| v == "1");
        assert!(!required, "{CLANG} (Debian package clang-22) is missing");
        eprintln!("skipped: {CLANG} (Debian package clang-22) is missing");
    }
    found
}

/// A code object for `target`.
pub fn device(source: &str, target: Target, level: Level) -> Option<Vec<u8>> {
    versioned(source, target, level, 5)
}

/// A code object of version 4, whose kernels find the sizes of grid and workgroups in their dispatch packet.
pub fn device_v4(source: &str, target: Target, level: Level) -> Option<Vec<u8>> {
    versioned(source, target, level, 4)
}

/// A code object for an architecture that is no card's, of a version of the format.
pub fn device_for(source: &str, arch: &str, version: u32) -> Option<Vec<u8>> {
    built(source, arch, Level::O2, version)
}

fn versioned(source: &str, target: Target, level: Level, version: u32) -> Option<Vec<u8>> {
    built(source, target.name(), level, version)
}

fn built(source: &str, arch: &str, level: Level, version: u32) -> Option<Vec<u8>> {
    let arch = format!("--offload-arch={arch}");
    let version = format!("-mcode-object-version={version}");
    let flags = [
        "-x",
        "hip",
        "--cuda-device-only",
        "--no-gpu-bundle-output",
        "-nogpuinc",
        "-nogpulib",
        &version,
        "-fno-threadsafe-statics",
        &arch,
        level.flag(),
    ];
    let path = compile(source, &flags, "co")?;
    Some(fs::read(path).expect("the compiler's output is readable"))
}

/// A shared library for the host.
pub fn host(source: &str) -> Option<PathBuf> {
    compile(source, &["-x", "c++", "-shared", "-fPIC", "-O1"], "so")
}

fn compile(source: &str, flags: &[&str], suffix: &str) -> Option<PathBuf> {
    if !available() {
        return None;
    }
    // One multiplication and addition are two roundings on both sides unless the source says otherwise.
    let flags = [flags, &["-ffp-contract=off", "-w"]].concat();
    let mut hasher = DefaultHasher::new();
    (PRELUDE, source, &flags).hash(&mut hasher);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kernels");
    fs::create_dir_all(&folder).expect("the target folder is writable");
    let stem = format!("{:016x}", hasher.finish());
    let path = folder.join(format!("{stem}.{suffix}"));
    if path.exists() {
        return Some(path);
    }
    // Tests run in parallel processes: each works under its own name, the rename is atomic.
    let unique = format!("{stem}-{}-{:?}", std::process::id(), std::thread::current().id());
    let (input, output) = (folder.join(format!("{unique}.cpp")), folder.join(unique));
    fs::write(&input, format!("{PRELUDE}#line 1 \"source\"\n{source}"))
        .expect("the target folder is writable");
    let done = Command::new(CLANG)
        .args(&flags)
        .args(if suffix == "co" { &["-c"][..] } else { &[] })
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .output()
        .expect("the compiler starts");
    assert!(done.status.success(), "{}\n{source}", String::from_utf8_lossy(&done.stderr));
    fs::rename(&output, &path).expect("the target folder is writable");
    let _ = fs::remove_file(&input);
    Some(path)
}
