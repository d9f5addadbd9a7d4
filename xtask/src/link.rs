//! Links shared libraries and puts files in place.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{self, Command},
};

use crate::{Result, file_error, run, surface};

/// How to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Optimised, without symbols beyond the exported ones.
    Release,
    /// With plan checks, debug assertions and line tables.
    Debug,
}

impl Profile {
    /// That of a command with or without `--debug`.
    pub fn of(debug: bool) -> Self {
        if debug { Self::Debug } else { Self::Release }
    }
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
