//! The project's own commands, run as `cargo xtask COMMAND`.
//!
//! ```
//! let script = xtask::link::version_script(&xtask::surface::NODES, &xtask::exports()?);
//! assert!(script.starts_with("hip_4.2 {"));
//! # Ok::<(), xtask::Error>(())
//! ```
//!
//! | module | command |
//! |---|---|
//! | [`kernels`] | `kernels`: rebuild the committed device code |
//! | [`triton`] | `kernels --triton`: rebuild Triton's kernels |
//! | [`dist`] | `dist`: link what users take away |
//! | [`link`] | the part of `dist` that links |
//! | [`thunk`] | the part of `dist` that AMD's own runtime loads |
//! | [`suite`] | `test`: install what is missing, build, run every test |
//! | [`rocr`] | the part of `test` that knows a user's ROCr |
//! | [`unkind`] | the part of `test` that has devices behave as hardware |
//! | [`conformance`] | `conformance`: run the same programs on our library and on AMD's |
//! | [`kit`] | `kit`: what somebody with a card runs on AMD's library |
//! | [`archive`] | what users install: a tarball and a Debian package |
//! | [`device_libs`] | the device libraries that clang-22 accepts |
//! | [`calls`] | the part of `test` that holds tests to what they say that they prove |
//! | [`clients`] | `clients`: run programs of others on the library; write docs/clients.md |
//! | [`compat`] | `compat`: write COMPAT.md |
//! | [`compare`] | `compare`: write docs/compare.md |
//! | [`pages`] | the part of the three above that writes pages and compares them |
//! | [`venv`] | virtual environments of Python |
//! | [`browser`] | Chromium without a window |
//! | [`perfetto`] | Perfetto's viewer and trace processor, in Chromium |
//! | [`packages`] | the Debian packages that tests want |
//! | [`skips`] | the part of `test` that says what was not done |
//! | [`sanitize`] | `sanitize`: tests under the compiler's sanitizers |
//! | [`pseudocode`] | `valu-oracle`: vector arithmetic against AMD's pseudocode and our models |
//! | [`surface`] | the exported symbols, shared with capi's build script |

#![forbid(unsafe_code)]

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    time::SystemTime,
};

pub mod archive;
pub mod browser;
pub mod calls;
pub mod clients;
pub mod compare;
pub mod compat;
pub mod conformance;
pub mod device_libs;
pub mod dist;
pub mod headers;
pub mod kernels;
pub mod kit;
pub mod link;
pub mod packages;
pub mod pages;
pub mod parallel;
pub mod passes;
pub mod perfetto;
pub mod pseudocode;
pub mod rocr;
pub mod sanitize;
pub mod skips;
pub mod stubs;
pub mod suite;
#[path = "../../capi/build/surface.rs"]
pub mod surface;
pub mod thunk;
pub mod triton;
pub mod unkind;
pub mod venv;

/// Why a command of xtask failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory could not be used.
    #[error("{}: {source}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A program could not be started.
    #[error("cannot run {program}: {source}")]
    Start {
        /// Its name.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// A program failed.
    #[error("{line}\n    failed: {status}")]
    Failed {
        /// Its command line.
        line: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// The exported surface contradicts itself.
    #[error("{0}")]
    Surface(String),
    /// Committed files are not what their sources make.
    #[error("out of date, run `cargo xtask {command}`: {}", files.join(", "))]
    Stale {
        /// The command that rewrites them.
        command: &'static str,
        /// The files, relative to the workspace.
        files: Vec<String>,
    },
    /// Packages are missing although `AQLIPSE_REQUIRE_PACKAGES` is set.
    #[error("missing packages: {}", .0.join(" "))]
    Packages(Vec<String>),
    /// Something was skipped although `AQLIPSE_REQUIRE_PACKAGES` is set.
    #[error("{0} things were skipped")]
    Skipped(usize),
    /// `docs/compare.txt` makes no sense, or claims what no test proves.
    #[error("{0}")]
    Comparison(String),
    /// Conformance programs cannot be run as they should be.
    #[error("{0}")]
    Conformance(String),
    /// Conformance programs print something else on our library than on AMD's, or do not complete.
    #[error("{failed} of {programs} conformance programs do not agree")]
    Differs {
        /// How many.
        failed: usize,
        /// Of how many.
        programs: usize,
    },
    /// Scripts of clients did not end as they must.
    #[error("clients failed: {}", .0.join("; "))]
    Clients(Vec<String>),
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
}

/// The result of a command of xtask.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// The workspace's directory.
pub fn root() -> &'static Path {
    // PANIC: this package lies one level below the workspace.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a parent directory")
}

/// Where cargo builds: `CARGO_TARGET_DIR`, or `target` in the workspace.
pub fn target_dir() -> PathBuf {
    // A relative directory is relative to where cargo was started, as it is for cargo itself.
    let chosen =
        env::var_os("CARGO_TARGET_DIR").map(|dir| std::path::absolute(&dir).unwrap_or_else(|_| dir.into()));
    chosen.unwrap_or_else(|| root().join("target"))
}

/// The rows of `capi/exports.tsv`.
///
/// # Errors
/// [`Error::File`] and [`Error::Surface`].
pub fn exports() -> Result<Vec<surface::Export>> {
    surface::parse_table(&read(&root().join("capi/exports.tsv"))?).map_err(Error::Surface)
}

/// A cargo command that runs in the workspace, with the cargo that runs us.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Says what it runs, runs it, and wants success.
///
/// # Errors
/// [`Error::Start`] and [`Error::Failed`].
pub fn run(command: &mut Command) -> Result {
    let line = line(command);
    eprintln!("+ {line}");
    let status = command.status().map_err(|source| start_error(command, source))?;
    if status.success() { Ok(()) } else { Err(Error::Failed { line, status }) }
}

/// Runs quietly, wants success and returns standard output.
///
/// # Errors
/// [`Error::Start`] and [`Error::Failed`].
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|source| start_error(command, source))?;
    if !output.status.success() {
        let mut line = line(command);
        line.push('\n');
        line.push_str(&String::from_utf8_lossy(&output.stderr));
        return Err(Error::Failed { line, status: output.status });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn start_error(command: &Command, source: io::Error) -> Error {
    Error::Start { program: command.get_program().to_string_lossy().into_owned(), source }
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Reads a text file, and names it if that fails.
///
/// # Errors
/// [`Error::File`].
pub fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(file_error(path))
}

/// Length and time of an installed file: tells one version of a package from another. Nothing if it is missing, which
/// the compiler will say.
pub(crate) fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// Makes an I/O error name its file.
pub fn file_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { path, source }
}
