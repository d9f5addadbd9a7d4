//! Compiles a program once for all configurations: against the public headers, linked to AMD's library.
//!
//! Most of a compiler's time goes into headers that all programs begin with, so these are compiled first, for the host and
//! for the device.
//!
//! What is built lies in `target/conformance` beside a key of everything that it was built from, and is built again
//! when that changes.

use std::{
    ffi::OsStr,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

use super::programs::Language;
use crate::{
    Result,
    device_libs::BITCODE,
    file_error,
    link::aside,
    output,
    passes::{self, HOST_LEVEL, INSTALLED, Pass},
    stamp, target_dir,
};

/// The compiler that Debian's hipcc 5.2.3 calls.
const COMPILER: &str = "/usr/bin/clang++-15";
/// The architecture that both AMD's 5.2.3 and the emulator know.
pub const ARCHITECTURE: &str = "gfx90a";

/// The header that all programs include before they declare anything, in their folder.
const HEADER: &str = "observe.h";

/// Where conformance programs are built and run.
pub fn directory() -> PathBuf {
    target_dir().join("conformance")
}

/// Compiles `source` and returns the program, or returns what an earlier run compiled.
///
/// # Errors
/// [`crate::Error::Failed`] with what the compiler says, [`crate::Error::File`].
pub fn compile(source: &Path, language: Language) -> Result<PathBuf> {
    let name = source.file_stem().unwrap_or_default();
    let program = directory().join("bin").join(name);
    let both = [Pass::Device, Pass::Host].map(|pass| flags(language, pass));
    cached(&program, &key(source, COMPILER, &both)?, |aside, scratch| {
        let pass = |pass: Pass| {
            let precompiled = directory().join(format!("observe-{}.pch", pass.name()));
            compile_pass(pass, COMPILER, &flags(language, pass), &precompiled, source)
        };
        let object = scratch.join("host.o");
        match language {
            Language::Cpp => output(pass(Pass::Only)?.arg("-o").arg(&object)).map(drop)?,
            Language::Hip => passes::compile_both(pass, name, &scratch.join("device.hipfb"), &object)?,
        }
        let mut link = Command::new(COMPILER);
        output(link.arg(&object).args(["-lamdhip64", "-lpthread", "-ldl", "-o"]).arg(aside)).map(drop)
    })
}

/// A pass over a program; it begins with the header that all begin with, which is `precompiled` there unless it was before.
///
/// # Errors
/// Those of [`cached`].
pub fn compile_pass(
    pass: Pass,
    compiler: &str,
    flags: &[String],
    precompiled: &Path,
    source: &Path,
) -> Result<Command> {
    let header = source.with_file_name(HEADER);
    if !header.exists() {
        return Ok(pass.compile(compiler, flags, None, source));
    }
    // Of the threads that compile programs one makes it, and the others wait.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // The compiler takes it only for the very files that it was made from, some of which flags name. Most are other packages'.
    let files = flags.iter().map(Path::new).chain([&*header, Path::new(INSTALLED)]);
    let files: Vec<_> = files.map(stamp).collect();
    let key = key(&header, compiler, &(&header, files, flags, pass))?;
    let precompiled = cached(precompiled, &key, |aside, _| {
        output(&mut pass.precompile(compiler, flags, &header, aside)).map(drop)
    })?;
    Ok(pass.compile(compiler, flags, Some(&precompiled), source))
}

/// Has `make` build a program, given its place for the time being and a folder for what lies between, unless it was built
/// with this key before.
///
/// # Errors
/// Those of `make`, [`crate::Error::File`].
pub fn cached(program: &Path, key: &str, make: impl FnOnce(&Path, &Path) -> Result) -> Result<PathBuf> {
    if is_fresh(program, key) {
        return Ok(program.to_owned());
    }
    let aside = aside(program);
    let scratch = aside.with_added_extension("d");
    fs::create_dir_all(&scratch).map_err(file_error(&scratch))?;
    let made = make(&aside, &scratch);
    fs::remove_dir_all(&scratch).map_err(file_error(&scratch))?;
    made?;
    fs::rename(&aside, program).map_err(file_error(program))?;
    // Last, so that a build that was interrupted is made again.
    let key_file = key_file(program);
    fs::write(&key_file, key).map_err(file_error(&key_file))?;
    Ok(program.to_owned())
}

fn flags(language: Language, pass: Pass) -> Vec<String> {
    let mut flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations"]
        .map(String::from)
        .to_vec();
    flags.push(format!("-O{}", if pass == Pass::Device { "1" } else { HOST_LEVEL }));
    match language {
        Language::Cpp => flags.push("-D__HIP_PLATFORM_AMD__".into()),
        Language::Hip => {
            // The preprocessor's options come with the device options, which a host-only pass ignores.
            let fixed = ["-x", "hip", "-Wno-unused-command-line-argument", "--rocm-path=/usr"];
            flags.extend(fixed.map(String::from));
            flags.push(format!("--offload-arch={ARCHITECTURE}"));
            flags.push(format!("--rocm-device-lib-path={BITCODE}"));
        }
    }
    flags
}

/// Whether a program was built with this key.
fn is_fresh(program: &Path, key: &str) -> bool {
    program.exists() && fs::read_to_string(key_file(program)).is_ok_and(|built| built == key)
}

fn key_file(program: &Path) -> PathBuf {
    program.with_extension("key")
}

/// What a program is built from, in a number: source, headers beside it, flags, compiler, HIP's headers.
///
/// # Errors
/// [`crate::Error::File`].
pub fn key(source: &Path, compiler: &str, flags: &impl Hash) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    fs::read(source).map_err(file_error(source))?.hash(&mut hasher);
    let directory = source.with_file_name("");
    let mut headers = Vec::new();
    for entry in fs::read_dir(&directory).map_err(file_error(&directory))? {
        let path = entry.map_err(file_error(&directory))?.path();
        if path.extension() == Some(OsStr::new("h")) {
            let text = fs::read(&path).map_err(file_error(&path))?;
            headers.push((path, text));
        }
    }
    headers.sort();
    (headers, flags).hash(&mut hasher);
    for installed in [compiler, "/usr/include/hip/hip_version.h"] {
        stamp(Path::new(installed)).hash(&mut hasher);
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that is removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("aqlipse-{}-{name}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        fn write(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, text).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_key_changes_with_source_headers_and_flags_only() {
        let folder = Folder::new("key");
        let source = folder.write("a.cpp", "int main() {}");
        let plain = flags(Language::Cpp, Pass::Only);
        let first = key(&source, COMPILER, &plain).unwrap();

        folder.write("b.cpp", "another program");
        assert_eq!(key(&source, COMPILER, &plain).unwrap(), first);
        assert_ne!(key(&source, COMPILER, &flags(Language::Hip, Pass::Host)).unwrap(), first);
        folder.write("observe.h", "#pragma once");
        let with_header = key(&source, COMPILER, &plain).unwrap();
        assert_ne!(with_header, first);
        folder.write("a.cpp", "int main() { return 1; }");
        assert_ne!(key(&source, COMPILER, &plain).unwrap(), with_header);
    }

    #[test]
    fn a_program_is_fresh_only_with_the_key_that_it_was_built_with() {
        let folder = Folder::new("fresh");
        let program = folder.0.join("a");
        assert!(!is_fresh(&program, "1"));
        fs::write(key_file(&program), "1").unwrap();
        assert!(!is_fresh(&program, "1"), "the program itself is missing");
        folder.write("a", "");
        assert!(is_fresh(&program, "1"));
        assert!(!is_fresh(&program, "2"));
    }
}
