//! Which clang compiles, and which device libraries it takes.

use std::{
    collections::HashMap,
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;

use crate::{
    Error,
    child::{self, Scratch},
};

/// Versions of clang that are looked for, newest first.
const VERSIONS: std::ops::RangeInclusive<u32> = 15..=22;
/// The device libraries that a program may need.
pub const LIBRARIES: [&str; 2] = ["ocml.bc", "ockl.bc"];
/// Where Debian and others have them.
const BITCODE: [&str; 4] = [
    "/opt/rocm/amdgcn/bitcode",
    "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
    "/usr/lib/amdgcn/bitcode",
    "/usr/lib64/amdgcn/bitcode",
];

/// A clang with the AMDGPU target.
#[derive(Debug)]
pub struct Compiler {
    /// The program.
    pub path: PathBuf,
    /// Its major version.
    pub major: u32,
    /// Path, version, size and time of change: what makes the same of the same source.
    pub identity: String,
    /// The folder of its own headers.
    pub headers: PathBuf,
    /// The folder of device libraries, if there is one.
    pub bitcode: Option<PathBuf>,
    /// Constants of device libraries that were assembled, by their text.
    controls: Mutex<HashMap<String, Arc<[u8]>>>,
}

impl Compiler {
    /// The compiler that `AQLIPSE_CLANG` names, or the first that is found: ROCm's, then clang-22 down to clang-15.
    ///
    /// It is looked for again if the variables change, or the program behind the path.
    ///
    /// # Errors
    /// [`Error::NoCompiler`] says what to install.
    pub fn find() -> Result<Arc<Self>, Error> {
        static KNOWN: Mutex<Vec<(String, Arc<Compiler>)>> = Mutex::new(Vec::new());
        let candidates = candidates();
        for path in candidates.paths.iter().filter(|path| path.is_file()) {
            let Some(stamp) = stamp(path) else { continue };
            let key = format!("{stamp} {:?}", env::var_os("ROCM_PATH"));
            let known =
                KNOWN.lock().iter().find(|(known, _)| *known == key).map(|(_, compiler)| compiler.clone());
            if let Some(compiler) = known {
                return Ok(compiler);
            }
            match Self::ask(path, &stamp) {
                Ok(compiler) => {
                    let compiler = Arc::new(compiler);
                    KNOWN.lock().push((key, compiler.clone()));
                    return Ok(compiler);
                }
                Err(why) => tracing::info!("{}: {why}", path.display()),
            }
        }
        Err(Error::NoCompiler(match candidates.chosen {
            Some(chosen) => format!("AQLIPSE_CLANG={}: no clang with the AMDGPU target", chosen.display()),
            None => {
                "no clang with the AMDGPU target: install ROCm's, or the packages clang-22 (or another from \
                     clang-15 on), lld of the same version and rocm-device-libs, or name one in AQLIPSE_CLANG"
                    .into()
            }
        }))
    }

    fn ask(path: &Path, stamp: &str) -> Result<Self, String> {
        let scratch = Scratch::new().map_err(|error| error.to_string())?;
        let ask = |option: &str| {
            let ended = child::run(path, &[option.into()], &scratch).map_err(|error| error.to_string())?;
            if ended.success { Ok(ended.text) } else { Err(ended.text) }
        };
        let version = ask("--version")?;
        let version = version.lines().next().unwrap_or_default();
        let major = major(version).ok_or_else(|| format!("not clang: {version}"))?;
        if major < *VERSIONS.start() {
            return Err(format!("too old: {version}"));
        }
        if !ask("--print-targets")?.lines().any(|line| line.trim_start().starts_with("amdgcn")) {
            return Err(format!("without the AMDGPU target: {version}"));
        }
        let headers = PathBuf::from(ask("--print-resource-dir")?.trim()).join("include");
        let bitcode = bitcode(path);
        let libraries = bitcode.iter().flat_map(|folder| LIBRARIES.map(|library| folder.join(library)));
        let libraries: Vec<_> = libraries.filter_map(|library| self::stamp(&library)).collect();
        Ok(Self {
            path: path.into(),
            major,
            headers,
            identity: format!("{version}\n{stamp}\n{}", libraries.join("\n")),
            bitcode,
            controls: Mutex::default(),
        })
    }

    /// The version of code objects that every ROCr since its time loads, and that this compiler makes.
    pub fn code_object(&self) -> u32 {
        // 5 is final since LLVM 17.
        if self.major < 17 { 4 } else { 5 }
    }

    /// Bitcode of a text in LLVM's language; the same text is assembled once.
    ///
    /// # Errors
    /// [`Error::Compilation`] and what running it can fail with.
    pub fn assemble(&self, text: &str) -> Result<Arc<[u8]>, Error> {
        if let Some(known) = self.controls.lock().get(text) {
            return Ok(known.clone());
        }
        let scratch = Scratch::new()?;
        let source = scratch.write("controls.ll", text.as_bytes())?;
        let mut arguments: Vec<String> = [
            "--target=amdgcn-amd-amdhsa",
            "-nogpulib",
            "-Wno-override-module",
            "-x",
            "ir",
            "-emit-llvm",
            "-c",
        ]
        .map(String::from)
        .into();
        arguments.extend([shown(&source), "-o".into(), shown(&scratch.path("controls.bc"))]);
        let ended = child::run(&self.path, &arguments, &scratch)?;
        if !ended.success {
            return Err(Error::Compilation(ended.text));
        }
        let bitcode: Arc<[u8]> = scratch.read("controls.bc")?.into();
        self.controls.lock().insert(text.into(), bitcode.clone());
        Ok(bitcode)
    }
}

/// A path as an argument.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Where a compiler may be.
struct Candidates {
    /// What the user has chosen; nothing else counts then.
    chosen: Option<PathBuf>,
    paths: Vec<PathBuf>,
}

fn candidates() -> Candidates {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(chosen) = set("AQLIPSE_CLANG") {
        return Candidates { paths: vec![chosen.clone()], chosen: Some(chosen) };
    }
    let mut paths = Vec::new();
    for rocm in set("ROCM_PATH").into_iter().chain(["/opt/rocm".into()]) {
        paths.extend(["llvm/bin/clang", "lib/llvm/bin/clang"].map(|clang| rocm.join(clang)));
    }
    let folders: Vec<_> =
        env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    for version in VERSIONS.rev() {
        paths.extend(folders.iter().map(|folder| folder.join(format!("clang-{version}"))));
        paths.push(format!("/usr/lib/llvm-{version}/bin/clang").into());
    }
    paths.extend(folders.iter().map(|folder| folder.join("clang")));
    // A relative folder of PATH would be another one after each change of the current folder.
    paths.retain(|path| path.is_absolute());
    Candidates { chosen: None, paths }
}

/// The version in a line like `Debian clang version 22.1.8` or `AMD clang version 19.0.0git (...)`.
fn major(line: &str) -> Option<u32> {
    let version = line.split_once("clang version ")?.1;
    version.split(|digit: char| !digit.is_ascii_digit()).next()?.parse().ok()
}

/// The folder of device libraries for a compiler: its own, or the machine's.
fn bitcode(compiler: &Path) -> Option<PathBuf> {
    let rocm = env::var_os("ROCM_PATH").filter(|path| !path.is_empty()).map(PathBuf::from);
    let real = fs::canonicalize(compiler).unwrap_or_else(|_| compiler.into());
    // ROCm: llvm/bin/clang or lib/llvm/bin/clang, and amdgcn/bitcode beside llvm or lib.
    let beside = real.ancestors().skip(2).take(4).map(Path::to_owned);
    let below = rocm.into_iter().chain(beside).map(|folder| folder.join("amdgcn/bitcode"));
    below
        .chain(BITCODE.map(PathBuf::from))
        .find(|folder| LIBRARIES.iter().all(|library| folder.join(library).is_file()))
}

/// A file's path, size and time of change.
pub fn stamp(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    Some(format!("{} {} {}.{}", path.display(), found.len(), found.mtime(), found.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_first_line() {
        assert_eq!(major("Debian clang version 22.1.8 (1~deb12u1)"), Some(22));
        assert_eq!(major("AMD clang version 19.0.0git (https://github.com/x y)"), Some(19));
        assert_eq!(major("gcc (Debian 12.2.0) 12.2.0"), None);
    }

    #[test]
    fn a_stamp_tells_files_apart() {
        assert!(stamp("/no/such/file".as_ref()).is_none());
        let folder = Scratch::new().unwrap();
        let file = folder.write("a", b"1").unwrap();
        let before = stamp(&file).unwrap();
        fs::write(&file, b"12").unwrap();
        assert_ne!(stamp(&file).unwrap(), before);
    }
}
