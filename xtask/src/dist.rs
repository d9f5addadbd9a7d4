//! `cargo xtask dist`: what users take away, in `target/dist`.
//!
//! Shared libraries are linked here and not by rustc: a `cdylib` brings a version script of its own, and with it
//! the version nodes that HIP programs were linked against are lost or clash. A static library, linked with our
//! script, keeps them.

use std::{
    env,
    fmt::Write,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{self, Command},
};

use crate::{Result, cargo, exports, file_error, root, run, stubs, surface, target_dir, thunk};

/// File that holds the library; every name in [`LINKS`] points to it.
pub const LIBRARY: &str = "libamdhip64.so.7.2.0";
/// `DT_SONAME`: what programs that are linked against it ask for.
pub const SONAME: &str = "libamdhip64.so.7";
/// Names under which clients know the library.
pub const LINKS: [&str; 5] =
    ["libamdhip64.so", "libamdhip64.so.4", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"];

/// Headers for what no release of HIP declares.
const HEADERS: [&str; 3] = ["hip_graph_conditional.h", "device_graph.h", "graph_plan.h"];

/// How to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Optimised, without symbols beyond the exported ones.
    Release,
    /// With plan checks, debug assertions and line tables.
    Debug,
}

/// Builds `lib`, `bin`, `thunk` and `include` and returns the directory that holds them.
///
/// # Errors
/// [`crate::Error`] of the compiler, the linker and the files.
pub fn build(profile: Profile) -> Result<PathBuf> {
    let target = target_dir();
    let dist = target.join("dist");
    let (lib, bin, thunk) = (dist.join("lib"), dist.join("bin"), dist.join("thunk"));
    for directory in [&lib, &bin, &thunk] {
        fs::create_dir_all(directory).map_err(file_error(directory))?;
    }

    let release: &[&str] = if profile == Profile::Release { &["--release"] } else { &[] };
    // At once: by itself each would ask other features of what they share, and have it compiled again.
    let packages = ["capi", "thunk", "aqlipse-cli"].map(|package| ["--package", package]);
    run(cargo().arg("build").args(packages.concat()).args(["--lib", "--bin", "aqlipse"]).args(release))?;
    let built = target.join(if profile == Profile::Release { "release" } else { "debug" });

    let exports = exports()?;
    link(&Shared {
        archive: &built.join("libcapi.a"),
        library: &lib.join(LIBRARY),
        soname: SONAME,
        script: &version_script(&surface::NODES, &exports),
        symbols: &exports.iter().map(|export| export.symbol.as_str()).collect::<Vec<_>>(),
        profile,
    })?;
    for name in LINKS {
        replace(&lib.join(name), |path| symlink(LIBRARY, path))?;
    }
    stubs::link_all(&exports, &lib)?;
    replace(&bin.join("aqlipse"), |path| fs::copy(built.join("aqlipse"), path).map(drop))?;
    thunk::link_all(&built.join("libthunk.a"), &thunk, profile)?;
    let include = dist.join("include/aqlipse");
    fs::create_dir_all(&include).map_err(file_error(&include))?;
    for header in HEADERS {
        let source = root().join("capi/include/aqlipse").join(header);
        replace(&include.join(header), |path| fs::copy(&source, path).map(drop))?;
    }
    println!("{}", dist.display());
    Ok(dist)
}

/// A shared library to be linked.
pub(crate) struct Shared<'a> {
    /// Rust's static library.
    pub archive: &'a Path,
    /// Where it goes.
    pub library: &'a Path,
    /// `DT_SONAME`.
    pub soname: &'a str,
    /// The linker's version script.
    pub script: &'a str,
    /// Every symbol that the script exports.
    pub symbols: &'a [&'a str],
    /// How the archive was compiled.
    pub profile: Profile,
}

/// Links a shared library and puts it in place in one step.
pub(crate) fn link(shared: &Shared<'_>) -> Result {
    let aside = aside(shared.library);
    // Beside what this process makes: others may link the same library.
    let [script, wanted] = ["map", "ld"].map(|extension| aside.with_added_extension(extension));
    fs::write(&script, shared.script).map_err(file_error(&script))?;
    fs::write(&wanted, wanted_script(shared.symbols)).map_err(file_error(&wanted))?;
    let mut command = cc();
    command.args(["-shared", "-o"]).arg(&aside);
    command.arg(&wanted).arg(shared.archive);
    command.arg(format!("-Wl,--version-script={}", script.display()));
    command.arg(format!("-Wl,-soname,{}", shared.soname));
    // Our calls and our symbol table mean our own functions, whatever else the process has loaded.
    command.arg("-Wl,-Bsymbolic-functions");
    // Worker threads outlive dlclose; so must their code.
    command.arg("-Wl,-z,nodelete,-z,relro,-z,now,-z,noexecstack");
    command.args(["-Wl,--gc-sections", "-Wl,--no-undefined", "-Wl,--no-undefined-version"]);
    if shared.profile == Profile::Release {
        command.arg("-Wl,--strip-all");
    }
    command.args(["-lgcc_s", "-lm", "-ldl", "-lpthread", "-lc"]);
    run(&mut command)?;
    for intermediate in [&script, &wanted] {
        fs::remove_file(intermediate).map_err(file_error(intermediate))?;
    }
    fs::rename(&aside, shared.library).map_err(file_error(shared.library))
}

/// The C compiler, which links as well.
pub(crate) fn cc() -> Command {
    Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

/// Puts a file in place in one step, so that a program that has the old one open keeps it.
pub(crate) fn replace(path: &Path, make: impl FnOnce(&Path) -> std::io::Result<()>) -> Result {
    let aside = aside(path);
    // Left over by a run that was killed; usually it does not exist.
    let _ = fs::remove_file(&aside);
    make(&aside).map_err(file_error(&aside))?;
    fs::rename(&aside, path).map_err(file_error(path))
}

/// A name beside `path` for what will take its place.
pub(crate) fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".tmp{}", process::id()));
    name.into()
}

/// A linker script that asks for every export, so that the linker takes from the archive what defines it.
///
/// Not `--whole-archive`: that takes Rust's own weak, hidden `__gnu_h2f_ieee` as well, and a symbol with one hidden
/// definition is not exported.
fn wanted_script(symbols: &[&str]) -> String {
    format!("EXTERN({})\n", symbols.join("\n"))
}

/// The linker's version script: a chain of nodes, each with its symbols; everything else stays local.
pub fn version_script(nodes: &[&str], exports: &[surface::Export]) -> String {
    let mut script = String::new();
    for (index, node) in nodes.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(script, "{node} {{\n  global:");
        for export in exports.iter().filter(|export| export.node == *node) {
            let _ = writeln!(script, "    {};", export.symbol);
        }
        if index == 0 {
            script.push_str("  local:\n    *;\n");
        }
        let previous = index.checked_sub(1).map_or(String::new(), |index| format!(" {}", nodes[index]));
        let _ = writeln!(script, "}}{previous};\n");
    }
    script
}
