//! How a program is compiled: one cell of the matrix.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
};

use xtask::{
    device_libs::{self, BITCODE},
    passes::{self, HOST_LEVEL, INSTALLED, Pass},
};

use super::{Toolchain, cached, sources, stamp};

/// A compiler of HIP programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compiler {
    /// Debian's hipcc is a wrapper of this one; code object version 4.
    Clang15,
    /// Code object version 6 unless told otherwise.
    Clang22,
}

impl Compiler {
    fn path(self) -> &'static str {
        match self {
            Self::Clang15 => "/usr/bin/clang++-15",
            Self::Clang22 => "/usr/bin/clang++-22",
        }
    }
}

/// Compiler, architecture, optimisation level and further options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Build {
    /// Which compiler.
    pub compiler: Compiler,
    /// The architecture, as the compiler and `AQLIPSE_EMULATE` call it.
    pub arch: &'static str,
    /// `-O` and this, for the device; for the host, too, if what is found there is to name lines.
    pub level: &'static str,
    /// Further options.
    pub options: &'static [&'static str],
    /// The folder below the library's to link with: that of a release's ABI, or nothing for that of the newest.
    pub abi: &'static str,
    /// Files that a program is linked with besides the library.
    pub libraries: &'static [&'static str],
}

/// Every compiler and architecture, at the lowest and the highest level if it is not the newest.
pub const MATRIX: [Build; 9] = [
    Build::new(Compiler::Clang15, "gfx90a", "0"),
    Build::new(Compiler::Clang15, "gfx90a", "3"),
    Build::new(Compiler::Clang22, "gfx90a", "0"),
    Build::new(Compiler::Clang22, "gfx90a", "3"),
    Build::new(Compiler::Clang22, "gfx942", "0"),
    Build::new(Compiler::Clang22, "gfx942", "3"),
    Build::new(Compiler::Clang22, "gfx950", "3"),
    Build::new(Compiler::Clang22, "gfx1100", "3"),
    Build::new(Compiler::Clang22, "gfx1201", "3"),
];

/// Architectures of emulated devices, of each family one at least.
pub const ARCHES: [&str; 5] = ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"];

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// A program, linked with the library.
    Program,
    /// An offload bundle, as `hipModuleLoad` takes it.
    Bundle,
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} -O{}", self.compiler, self.arch, self.level)?;
        self.options.iter().try_for_each(|option| write!(f, " {option}"))
    }
}

impl Build {
    /// A build without further options.
    pub const fn new(compiler: Compiler, arch: &'static str, level: &'static str) -> Self {
        Self { compiler, arch, level, options: &[], abi: "", libraries: &[] }
    }

    /// The same build with further options.
    pub const fn with(self, options: &'static [&'static str]) -> Self {
        Self { options, ..self }
    }

    /// The same build, linked with the ABI that belongs to Debian's headers, and with further files.
    pub const fn linked_with(self, libraries: &'static [&'static str]) -> Self {
        Self { abi: "hip5", libraries, ..self }
    }

    /// Compiles `tests/programs/<source>`, unless that was done before, and returns the result's path.
    ///
    /// # Panics
    /// With what the compiler says, if it refuses or warns.
    pub fn compile(&self, toolchain: &Toolchain, source: &str, output: Output) -> PathBuf {
        let path = sources().join(source);
        let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let installed = [stamp(self.compiler.path()), stamp("/usr/include/hip/hip_version.h")];
        let name = Path::new(source).file_stem().and_then(|stem| stem.to_str()).expect("a source has a name");
        // What is found names lines of sources, also of those whose calls are inlined.
        let is_named = name.starts_with("check_");
        let level = |pass: Pass| if pass == Pass::Device || is_named { self.level } else { HOST_LEVEL };
        let arguments = |pass: Pass| {
            let mut arguments = self.arguments(pass, level(pass));
            arguments.extend(is_named.then(|| "-gline-tables-only".into()));
            arguments
        };
        let both = [Pass::Device, Pass::Host].map(arguments);
        let key = (self, output, source, text, headers(), installed, both);
        cached(&key, name, |result| {
            let pass = |pass: Pass| {
                let precompiled = self.precompiled(pass, level(pass));
                let mut options = arguments(pass);
                if precompiled.is_none() {
                    options.extend(["-include".to_owned(), beginning().display().to_string()]);
                }
                let mut command = pass.compile(self.compiler.path(), &options, precompiled.as_deref(), &path);
                command.env_remove("LD_LIBRARY_PATH");
                Ok(command)
            };
            if output == Output::Bundle {
                let device = pass(Pass::Device);
                return check(device.expect("a command").arg("-o").arg(result));
            }
            let [bundle, object] = ["hipfb", "o"].map(|extension| result.with_extension(extension));
            passes::compile_both(pass, name.as_ref(), &bundle, &object)
                .unwrap_or_else(|error| panic!("{error}"));
            let libraries = self.libraries.iter().map(Path::new);
            let objects: Vec<_> = std::iter::once(object.as_path()).chain(libraries).collect();
            link(self.compiler, &toolchain.lib().join(self.abi), &objects, &[], result);
        })
    }

    /// What a pass over programs begins with, if the options are such that many programs are compiled with them: none of its
    /// own but macros, which no header asks for.
    fn precompiled(&self, pass: Pass, level: &str) -> Option<PathBuf> {
        if self.options.iter().any(|option| !option.starts_with("-D")) {
            return None;
        }
        let options = Self { options: &[], ..*self }.arguments(pass, level);
        let begins = beginning();
        // The compiler takes it only for the very files that it was made from.
        let folder = begins.with_file_name("");
        let ours = fs::read_dir(&folder).expect("the sources can be read").filter_map(Result::ok);
        let mut files: Vec<_> = ours.map(|entry| entry.path()).chain([INSTALLED.into()]).collect();
        files.sort();
        let stamps: Vec<_> = files.iter().map(|file| stamp(&file.display().to_string())).collect();
        let key = (self.compiler, &options, pass, files, stamps);
        Some(cached(&key, "beginning.pch", |result| {
            check(&mut pass.precompile(self.compiler.path(), &options, &begins, result));
        }))
    }

    /// What the compiler is told in a pass. That for the host is told nothing of the card, so that programs for all cards share
    /// what is precompiled.
    fn arguments(&self, pass: Pass, level: &str) -> Vec<String> {
        let mut arguments: Vec<String> = [
            "-x",
            "hip",
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            // The preprocessor's options come with the device options, which a host-only pass ignores.
            "-Wno-unused-command-line-argument",
            "--rocm-path=/usr",
        ]
        .map(String::from)
        .into();
        arguments.push(format!("-O{level}"));
        if self.compiler == Compiler::Clang22 {
            // It no longer says so.
            let lanes = if self.arch.starts_with("gfx9") { 64 } else { 32 };
            arguments.push(format!("-D__AMDGCN_WAVEFRONT_SIZE={lanes}"));
        }
        if pass == Pass::Device {
            arguments.push(format!("--offload-arch={}", self.arch));
            let libraries = match self.compiler {
                Compiler::Clang15 => PathBuf::from(BITCODE),
                Compiler::Clang22 => device_libs::directory().unwrap_or_else(|error| panic!("{error}")),
            };
            arguments.push(format!("--rocm-device-lib-path={}", libraries.display()));
        }
        arguments.extend(self.options.iter().map(|option| (*option).to_owned()));
        arguments
    }
}

/// Compiles the host program `tests/programs/<source>` and links it with the library and with `libraries`.
///
/// `files` are what the program is built of besides its source: macros of these names are their paths.
pub fn compile_host(
    toolchain: &Toolchain,
    source: &str,
    files: &[(&str, &Path)],
    libraries: &[&str],
) -> PathBuf {
    let path = sources().join(source);
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let name = Path::new(source).file_stem().and_then(|stem| stem.to_str()).expect("a source has a name");
    let key = (source, text, headers(), files, libraries, stamp(Compiler::Clang22.path()));
    cached(&key, name, |result| {
        let object = result.with_extension("o");
        let mut compile = Command::new(Compiler::Clang22.path());
        compile.args(["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-D__HIP_PLATFORM_AMD__"]);
        compile.args(files.iter().map(|(name, file)| format!("-D{name}=\"{}\"", file.display())));
        check(compile.arg("-c").arg(&path).arg("-o").arg(&object));
        link(Compiler::Clang22, &toolchain.lib(), &[object.as_path()], libraries, result);
    })
}

/// Compiles and links the host program `tests/programs/<source>` as `aqlipse flags` says for a folder of headers; `files` as
/// for [`compile_host`].
pub fn compile_against(
    toolchain: &Toolchain,
    source: &str,
    include: &Path,
    files: &[(&str, &Path)],
) -> PathBuf {
    let path = sources().join(source);
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let name = Path::new(source).file_stem().and_then(|stem| stem.to_str()).expect("a source has a name");
    let flags = Command::new(toolchain.command()).arg("flags").arg("--headers").arg(include).output();
    let flags = flags.expect("the command runs");
    assert!(flags.status.success(), "{}", String::from_utf8_lossy(&flags.stderr));
    let flags = String::from_utf8(flags.stdout).expect("flags are text");
    let flags: Vec<_> = flags.split_whitespace().collect();
    let library = flags.iter().find_map(|flag| flag.strip_prefix("-L")).expect("a folder to link with");
    let library = fs::read(Path::new(library).join("libamdhip64.so")).expect("the library is there");
    let key = (source, text, headers(), files, &flags, library, stamp(Compiler::Clang22.path()));
    cached(&key, name, |result| {
        let mut compile = Command::new(Compiler::Clang22.path());
        compile.args(["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations"]);
        compile.args(files.iter().map(|(name, file)| format!("-D{name}=\"{}\"", file.display())));
        check(compile.arg(&path).arg("-o").arg(result).args(&flags));
    })
}

fn link(compiler: Compiler, folder: &Path, objects: &[&Path], libraries: &[&str], result: &Path) {
    let mut link = Command::new(compiler.path());
    link.args(objects).arg("-o").arg(result).arg("-L").arg(folder);
    link.args(["-lamdhip64", "-lpthread"]);
    check(link.args(libraries.iter().map(|library| format!("-l{library}"))));
}

/// What every program begins with.
fn beginning() -> PathBuf {
    sources().join("toolchain/beginning.h")
}

/// Names and texts of the headers that programs include.
fn headers() -> Vec<(PathBuf, Vec<u8>)> {
    let programs = sources();
    let mut headers = Vec::new();
    let ours = xtask::root().join("capi/include/aqlipse");
    let shared = ["toolchain", "graph_memory", "../conformance", "../../examples/mpi"]
        .map(|folder| programs.join(folder));
    for directory in [programs.clone(), ours].into_iter().chain(shared) {
        for entry in fs::read_dir(&directory).expect("the sources can be read") {
            let path = entry.expect("a directory can be read").path();
            if path.extension().is_some_and(|extension| extension == "h") {
                let text = fs::read(&path).expect("a header can be read");
                headers.push((path, text));
            }
        }
    }
    headers.sort();
    headers
}

fn check(command: &mut Command) {
    // What is built is kept: it must not depend on the libraries that this run happens to find first.
    command.env_remove("LD_LIBRARY_PATH");
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
