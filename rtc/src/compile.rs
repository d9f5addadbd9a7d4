//! One run of the compiler: a source to a code object or bitcode.

use std::{
    fs,
    path::{Component, Path},
};

use crate::{
    Error,
    cache::{Cache, Entry, Key},
    child::{self, Ended, Scratch},
    compiler::{Compiler, LIBRARIES, shown, stamp},
    names,
    options::Options,
    prelude,
    target::Target,
};

/// Folders of the private one. What a log names in them has the name that the caller gave it.
const FOLDERS: [&str; 3] = [HEADERS, SOURCE, PRELUDE];
const HEADERS: &str = "headers";
const SOURCE: &str = "source";
const PRELUDE: &str = "hiprtc";

/// What is compiled.
pub struct Request<'a> {
    pub source: &'a [u8],
    pub name: &'a str,
    /// Names and texts.
    pub headers: &'a [(String, Vec<u8>)],
    pub expressions: &'a [String],
    pub options: &'a Options,
    pub target: &'a Target,
}

/// What came out.
#[derive(Debug, PartialEq, Eq)]
pub struct Product {
    /// A code object, or bitcode if the options ask for what can be linked.
    pub bytes: Vec<u8>,
    /// Warnings.
    pub log: String,
    /// A symbol for each expression.
    pub names: Vec<String>,
}

/// Checks that a header's name leads to a file below the folder of headers.
///
/// # Errors
/// [`Error::Header`].
pub fn check_header(name: &str) -> Result<(), Error> {
    let why = if name.is_empty() || name.contains('\0') {
        "a header has a name"
    } else if !Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        "its name is absolute or has `..` in it"
    } else if name.ends_with('/') || Path::new(name).file_name().is_none() {
        "its name is a folder"
    } else {
        return Ok(());
    };
    Err(Error::Header { name: name.into(), why })
}

/// Compiles, or finds the result of an earlier compilation.
///
/// # Errors
/// [`Error::Compilation`] with what the compiler said, and what running it can fail with.
pub fn compile(request: &Request<'_>, compiler: &Compiler, cache: Option<&Cache>) -> Result<Product, Error> {
    let controls = request.target.controls(&request.options.controls(compiler.code_object()));
    let Some(cache) = cache else {
        let (entry, _) = build(request, compiler, &controls)?;
        return Ok(product(entry));
    };
    let (place, found) = cache.find(key(request, compiler, &controls));
    if let Some(entry) = found {
        return Ok(product(entry));
    }
    let (mut entry, dependencies) = build(request, compiler, &controls)?;
    let stamped = dependencies.into_iter().map(|file| {
        let stamp = stamp(file.as_ref())?;
        Some((file, stamp))
    });
    // A header that is gone already would be an entry that no look-up finds.
    if let Some(dependencies) = stamped.collect() {
        entry.dependencies = dependencies;
        cache.keep(&place, &entry);
    }
    Ok(product(entry))
}

fn product(entry: Entry) -> Product {
    let log = String::from_utf8_lossy(&entry.log).into_owned();
    Product { bytes: entry.bytes, log, names: entry.names }
}

/// Everything that decides over the result, but for headers that the source finds by itself.
fn key(request: &Request<'_>, compiler: &Compiler, controls: &str) -> Key {
    let mut key = Key::default();
    key.add(compiler.identity.as_bytes());
    key.add(request.target.name.as_bytes());
    key.add(controls.as_bytes());
    key.add(&[u8::from(request.options.is_relocatable)]);
    let list = |key: &mut Key, parts: &[String]| {
        key.add(&(parts.len() as u64).to_le_bytes());
        parts.iter().for_each(|part| key.add(part.as_bytes()));
    };
    list(&mut key, &request.options.arguments);
    list(&mut key, request.expressions);
    if request.options.has_paths {
        // Relative ones mean files of this folder.
        let here = std::env::current_dir().unwrap_or_default();
        key.add(here.as_os_str().as_encoded_bytes());
    }
    for (name, text) in prelude::FILES {
        key.add(name.as_bytes());
        key.add(text.as_bytes());
    }
    key.add(request.name.as_bytes());
    key.add(request.source);
    for (name, text) in request.headers {
        key.add(name.as_bytes());
        key.add(text);
    }
    key
}

/// Compiles. The second value names the headers that the compiler read from elsewhere.
fn build(request: &Request<'_>, compiler: &Compiler, controls: &str) -> Result<(Entry, Vec<String>), Error> {
    let scratch = Scratch::new()?;
    for (name, text) in request.headers {
        scratch.write(&format!("{HEADERS}/{name}"), text)?;
    }
    for (name, text) in prelude::FILES {
        scratch.write(&format!("{PRELUDE}/{name}"), text.as_bytes())?;
    }
    // The compiler's own headers precede those of another one, which CuPy names where Debian's hipcc is installed. Its
    // folder as an option would be left out, as one that is searched anyway.
    for header in fs::read_dir(&compiler.headers).into_iter().flatten().flatten() {
        let name = header.file_name().to_string_lossy().into_owned();
        if name.starts_with("__clang_hip_") {
            let text = format!("#include \"{}\"\n", header.path().display());
            scratch.write(&format!("{PRELUDE}/{name}"), text.as_bytes())?;
        }
    }
    let name = request.name.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
    let line = format!("#line 1 \"{name}\"\n");
    let names = names::declarations(request.expressions);
    let source = scratch.write(
        &format!("{SOURCE}/program.hip"),
        &[line.as_bytes(), request.source, b"\n", names.as_bytes(), b"\n"].concat(),
    )?;
    let mut arguments = arguments(request, compiler, &scratch);
    arguments.extend(libraries(compiler, controls, &scratch)?);
    arguments.extend([shown(&source), "-o".into(), shown(&scratch.path("result"))]);
    let ended = child::run(&compiler.path, &arguments, &scratch)?;
    let log = told(&ended, compiler, &scratch);
    if !ended.success {
        return Err(Error::Compilation(log));
    }
    let bytes = scratch.read("result")?;
    let names = symbols(request, compiler, &scratch, &bytes)?;
    let dependencies = dependencies(&scratch.read("dependencies").unwrap_or_default(), &scratch);
    Ok((Entry { dependencies: Vec::new(), bytes, log: log.into_bytes(), names }, dependencies))
}

fn arguments(request: &Request<'_>, compiler: &Compiler, scratch: &Scratch) -> Vec<String> {
    let options = request.options;
    let wave64 = options.controls(compiler.code_object()).wave64;
    let folder = |name: &str| shown(&scratch.path(name));
    let mut arguments: Vec<String> = [
        "-x",
        "hip",
        "--offload-device-only",
        "--no-gpu-bundle-output",
        "-nogpuinc",
        "-nogpulib",
        "-Wno-unused-command-line-argument",
        "-D__HIPCC_RTC__=1",
        "-D__HIP_PLATFORM_AMD__=1",
        "-DHIP_VERSION_MAJOR=7",
        "-DHIP_VERSION_MINOR=2",
        "-DHIP_VERSION_PATCH=0",
        "-DHIP_VERSION=70200000",
    ]
    .map(String::from)
    .into();
    // Past the driver, which names the file of `-MF` after the output for device code.
    let dependencies =
        ["-dependency-file".into(), folder("dependencies"), "-sys-header-deps".into(), "-MT".into()];
    for argument in dependencies.into_iter().chain(["result".into()]) {
        arguments.extend(["-Xclang".into(), argument]);
    }
    arguments.push(format!(
        "-D__AQLIPSE_RTC_WAVEFRONT={}",
        if request.target.is_wave64(wave64) { 64 } else { 32 }
    ));
    arguments.push(format!("--offload-arch={}", request.target.name));
    arguments.push(format!("-ffile-prefix-map={}/=", folder(HEADERS)));
    // Headers of the program come first, then this crate's in place of HIP's own.
    for include in [folder(HEADERS), folder(PRELUDE)] {
        arguments.extend(["-I".into(), include]);
    }
    let wrapper = compiler.headers.join("__clang_hip_runtime_wrapper.h");
    for header in [wrapper, scratch.path(PRELUDE).join(prelude::FIRST)] {
        arguments.extend(["-include".into(), shown(&header)]);
    }
    if !options.has("-std=") && !options.has("--std=") {
        arguments.push("-std=c++17".into());
    }
    if !options.has("-O") {
        arguments.push("-O3".into());
    }
    if !options.has("-mcode-object-version=") {
        arguments.push(format!("-mcode-object-version={}", compiler.code_object()));
    }
    if options.is_relocatable {
        arguments.extend(["-fgpu-rdc", "-emit-llvm", "-c"].map(String::from));
    } else {
        // By default the path of the source is part of a symbol, and differs from one compilation to the next.
        arguments.push("-fuse-cuid=none".into());
    }
    arguments.extend(options.arguments.iter().cloned());
    arguments
}

/// Arguments that link the device libraries, as far as the source needs them.
///
/// # Errors
/// As [`Compiler::assemble`].
pub fn libraries(compiler: &Compiler, controls: &str, scratch: &Scratch) -> Result<Vec<String>, Error> {
    let Some(folder) = &compiler.bitcode else { return Ok(Vec::new()) };
    let mut files: Vec<_> = LIBRARIES.iter().map(|library| folder.join(library)).collect();
    files.push(scratch.write("controls.bc", &compiler.assemble(controls)?)?);
    let argument = |file: &std::path::PathBuf| {
        ["-Xclang".into(), "-mlink-builtin-bitcode".into(), "-Xclang".into(), shown(file)]
    };
    Ok(files.iter().flat_map(argument).collect())
}

/// What the compiler said, and what to do about it where the reason is what the machine lacks.
pub fn told(ended: &Ended, compiler: &Compiler, scratch: &Scratch) -> String {
    let mut log = scratch.hide(&ended.text, &FOLDERS);
    if !ended.success {
        let lacks_linker = ["unable to execute command", "doesn't exist", "no such file"]
            .iter()
            .any(|sign| log.lines().any(|line| line.contains(sign) && line.contains("lld")));
        if lacks_linker {
            log += &format!("install lld of the same version (Debian: lld-{})\n", compiler.major);
        }
        if compiler.bitcode.is_none() && (log.contains("__ocml_") || log.contains("__ockl_")) {
            log += "install the device libraries (Debian: rocm-device-libs)\n";
        }
        if log.is_empty() {
            log = format!("{} failed and said nothing\n", compiler.path.display());
        }
    }
    log
}

fn symbols(
    request: &Request<'_>,
    compiler: &Compiler,
    scratch: &Scratch,
    bytes: &[u8],
) -> Result<Vec<String>, Error> {
    if request.expressions.is_empty() {
        return Ok(Vec::new());
    }
    let object = if request.options.is_relocatable {
        assemble(request, compiler, scratch, bytes)?
    } else {
        bytes.into()
    };
    names::symbols(&object, request.expressions.len()).map_err(|number| {
        let expression = number.and_then(|number| request.expressions.get(number));
        let expression = expression.map_or("of no kind", String::as_str);
        Error::Compilation(format!("name expression {expression}: it names no function and no variable\n"))
    })
}

/// An object of bitcode, whose symbols can be read.
fn assemble(
    request: &Request<'_>,
    compiler: &Compiler,
    scratch: &Scratch,
    bitcode: &[u8],
) -> Result<Vec<u8>, Error> {
    let bitcode = scratch.write("names.bc", bitcode)?;
    let mut arguments: Vec<String> =
        ["--target=amdgcn-amd-amdhsa", "-nogpulib", "-O0", "-Wno-override-module", "-x", "ir", "-c"]
            .map(String::from)
            .into();
    arguments.push(format!("-mcpu={}", request.target.name));
    arguments.extend([shown(&bitcode), "-o".into(), shown(&scratch.path("names.o"))]);
    let ended = child::run(&compiler.path, &arguments, scratch)?;
    if ended.success {
        scratch.read("names.o")
    } else {
        Err(Error::Compilation(told(&ended, compiler, scratch)))
    }
}

/// Files in a rule as make reads it, but for those in the private folder.
fn dependencies(rule: &[u8], scratch: &Scratch) -> Vec<String> {
    let rule = String::from_utf8_lossy(rule).replace("\\\n", " ");
    let Some((_, files)) = rule.split_once(": ") else { return Vec::new() };
    // A space in a name has a backslash before it, a dollar stands twice.
    let marked = files.replace("\\ ", "\0").replace("$$", "$");
    let own = shown(&scratch.path(""));
    marked
        .split_whitespace()
        .map(|file| file.replace('\0', " "))
        .filter(|file| !file.starts_with(&own))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_stay_in_their_folder() {
        for name in ["a.h", "a/b.h", "./a.h", "a/./b.h", "..a.h"] {
            assert!(check_header(name).is_ok(), "{name}");
        }
        for name in ["", "/a.h", "../a.h", "a/../../b.h", "a/..", ".", "a/", "a\0b"] {
            assert!(matches!(check_header(name), Err(Error::Header { .. })), "{name}");
        }
    }

    #[test]
    fn dependencies_are_read_as_make_does() {
        let scratch = Scratch::new().unwrap();
        let own = shown(&scratch.path("source/program.hip"));
        let rule = format!("result: {own} \\\n  /a/b.h /c\\ d.h \\\n /e$$f\n");
        assert_eq!(dependencies(rule.as_bytes(), &scratch), ["/a/b.h", "/c d.h", "/e$f"]);
        assert!(dependencies(b"", &scratch).is_empty());
    }
}
