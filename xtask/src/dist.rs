//! `cargo xtask dist`: what users take away, in `target/dist`.
//!
//! The shared library is linked here and not by rustc: a `cdylib` brings a version script of its own, and with it
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

use crate::{Result, cargo, exports, file_error, run, surface, target_dir};

/// File that holds the library; every name in [`LINKS`] points to it.
pub const LIBRARY: &str = "libamdhip64.so.7.2.0";
/// `DT_SONAME`: what programs that are linked against it ask for.
pub const SONAME: &str = "libamdhip64.so.7";
/// Names under which clients know the library.
pub const LINKS: [&str; 5] =
    ["libamdhip64.so", "libamdhip64.so.4", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"];

/// How to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Optimised, without symbols beyond the exported ones.
    Release,
    /// With plan checks, debug assertions and line tables.
    Debug,
}

/// Builds `lib` and `bin` and returns the directory that holds them.
///
/// # Errors
/// [`crate::Error`] of the compiler, the linker and the files.
pub fn build(profile: Profile) -> Result<PathBuf> {
    let target = target_dir();
    let dist = target.join("dist");
    let (lib, bin) = (dist.join("lib"), dist.join("bin"));
    for directory in [&lib, &bin] {
        fs::create_dir_all(directory).map_err(file_error(directory))?;
    }

    let release: &[&str] = if profile == Profile::Release { &["--release"] } else { &[] };
    run(cargo().args(["rustc", "--package", "capi", "--lib", "--crate-type", "staticlib"]).args(release))?;
    run(cargo().args(["build", "--package", "aqlipse", "--bin", "aqlipse"]).args(release))?;
    let built = target.join(if profile == Profile::Release { "release" } else { "debug" });

    link(&built.join("libcapi.a"), &lib, profile)?;
    for name in LINKS {
        replace(&lib.join(name), |path| symlink(LIBRARY, path))?;
    }
    replace(&bin.join("aqlipse"), |path| fs::copy(built.join("aqlipse"), path).map(drop))?;
    println!("{}", dist.display());
    Ok(dist)
}

fn link(archive: &Path, lib: &Path, profile: Profile) -> Result {
    let exports = exports()?;
    let (script, wanted) = (lib.with_file_name("libamdhip64.map"), lib.with_file_name("libamdhip64.ld"));
    fs::write(&script, version_script(&exports)).map_err(file_error(&script))?;
    fs::write(&wanted, wanted_script(&exports)).map_err(file_error(&wanted))?;
    let aside = aside(&lib.join(LIBRARY));
    let mut command = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.args(["-shared", "-o"]).arg(&aside);
    command.arg(&wanted).arg(archive);
    command.arg(format!("-Wl,--version-script={}", script.display()));
    command.arg(format!("-Wl,-soname,{SONAME}"));
    // Our calls and our symbol table mean our own functions, whatever else the process has loaded.
    command.arg("-Wl,-Bsymbolic-functions");
    // Worker threads outlive dlclose; so must their code.
    command.arg("-Wl,-z,nodelete,-z,relro,-z,now,-z,noexecstack");
    command.args(["-Wl,--gc-sections", "-Wl,--no-undefined", "-Wl,--no-undefined-version"]);
    if profile == Profile::Release {
        command.arg("-Wl,--strip-all");
    }
    command.args(["-lgcc_s", "-lm", "-ldl", "-lpthread", "-lc"]);
    run(&mut command)?;
    let library = lib.join(LIBRARY);
    fs::rename(&aside, &library).map_err(file_error(&library))
}

/// Puts a file in place in one step, so that a program that has the old one open keeps it.
fn replace(path: &Path, make: impl FnOnce(&Path) -> std::io::Result<()>) -> Result {
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
fn wanted_script(exports: &[surface::Export]) -> String {
    let symbols: Vec<_> = exports.iter().map(|export| export.symbol.as_str()).collect();
    format!("EXTERN({})\n", symbols.join("\n"))
}

/// The linker's version script: a chain of nodes, each with its symbols; everything else stays local.
pub fn version_script(exports: &[surface::Export]) -> String {
    let mut script = String::new();
    for (index, node) in surface::NODES.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(script, "{node} {{\n  global:");
        for export in exports.iter().filter(|export| export.node == *node) {
            let _ = writeln!(script, "    {};", export.symbol);
        }
        if index == 0 {
            script.push_str("  local:\n    *;\n");
        }
        let previous =
            index.checked_sub(1).map_or(String::new(), |index| format!(" {}", surface::NODES[index]));
        let _ = writeln!(script, "}}{previous};\n");
    }
    script
}
