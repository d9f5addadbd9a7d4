//! Runs a program in one configuration: which library, which driver, which environment.

use std::{
    env, fmt, fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

use super::{
    build::{self, ARCHITECTURE},
    configuration::Configuration,
};
use crate::{Error, Result, calls, file_error};

/// Seconds after which a program hangs: the programs are chosen to take a fraction of one.
const LIMIT_SECONDS: u32 = 60;
/// As many with strict caches, where each access of memory looks them up.
const STRICT_LIMIT_SECONDS: u32 = 600;
/// How the emulated device orders packets and keeps memory coherent.
const EMULATOR: [&str; 2] = ["AQLIPSE_EMULATE_COHERENCE", "AQLIPSE_EMULATE_SEED"];
/// What the emulated device has of hardware's manners.
const HARDWARE: &str = "AQLIPSE_EMULATE_HARDWARE";
/// What `timeout` exits with when the time is up.
const TIMED_OUT: i32 = 124;

/// The folders of our libraries.
#[derive(Clone, Debug)]
pub struct Libraries {
    /// Holds our `libamdhip64.so`.
    pub hip: PathBuf,
    /// Holds our `libhsakmt.so.1`.
    pub thunk: PathBuf,
    /// Where our library writes down what programs call.
    pub calls: Option<PathBuf>,
    /// Traits of the emulated devices.
    pub hardware: Option<String>,
    /// The emulated devices' architecture.
    pub card: String,
}

impl Libraries {
    /// Those of a folder that `cargo xtask dist` has made; `AQLIPSE_THUNK` names another folder for the thunk.
    pub fn of(dist: &Path) -> Self {
        let thunk = env::var_os("AQLIPSE_THUNK").filter(|folder| !folder.is_empty());
        // Programs run elsewhere.
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        Self {
            hip: absolute(dist.join("lib")),
            thunk: absolute(thunk.map_or_else(|| dist.join("thunk"), PathBuf::from)),
            calls: None,
            hardware: None,
            card: ARCHITECTURE.into(),
        }
    }

    /// Where a configuration's libraries are looked for before the system's.
    fn search_path(&self, configuration: Configuration) -> Vec<&Path> {
        match configuration {
            Configuration::Ours => vec![&self.hip],
            Configuration::Rocr => vec![&self.hip, &self.thunk],
            Configuration::Amd => vec![&self.thunk],
        }
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With success.
    Completed,
    /// With another exit code.
    Failed(i32),
    /// By a signal.
    Crashed(i32),
    /// It had to be stopped.
    TimedOut,
}

impl End {
    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(0), _) => Self::Completed,
            (Some(TIMED_OUT), _) => Self::TimedOut,
            (Some(code), _) => Self::Failed(code),
            (None, signal) => Self::Crashed(signal.unwrap_or_default()),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("completes"),
            Self::Failed(code) => write!(f, "exits with {code}"),
            Self::Crashed(signal) => write!(f, "ends by signal {signal}"),
            Self::TimedOut => f.write_str("hangs"),
        }
    }
}

/// What a program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How it ended.
    pub end: End,
    /// What it printed.
    pub stdout: String,
    /// What it and the libraries complained about.
    pub stderr: String,
}

/// Runs `program` in a directory of its own, on so many emulated devices; with a `seed` with strict caches, in one of the
/// orders that are legal.
///
/// # Errors
/// [`Error::Start`], [`Error::File`].
pub fn run(
    program: &Path,
    devices: u32,
    configuration: Configuration,
    libraries: &Libraries,
    seed: Option<u64>,
) -> Result<Run> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let directory = build::directory().join("run").join(format!("{name}-{}", configuration.name()));
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(file_error(&directory))?;
    }
    fs::create_dir_all(&directory).map_err(file_error(&directory))?;

    let limit = if seed.is_some() { STRICT_LIMIT_SECONDS } else { LIMIT_SECONDS };
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", &limit.to_string()]).arg(program);
    command.current_dir(&directory).stdin(Stdio::null());
    environment(&mut command, devices, configuration, libraries)?;
    if let Some(seed) = seed {
        command.envs(EMULATOR.into_iter().zip(["strict", &seed.to_string()]));
    }
    let output =
        command.output().map_err(|source| Error::Start { program: program.display().to_string(), source })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Run { end: End::of(output.status), stdout: text(&output.stdout), stderr: text(&output.stderr) })
}

/// Only what is said here: a variable of the user's must not make one library behave unlike the other.
fn environment(
    command: &mut Command,
    devices: u32,
    configuration: Configuration,
    libraries: &Libraries,
) -> Result {
    let path = env::join_paths(libraries.search_path(configuration))
        .map_err(|error| Error::Conformance(format!("LD_LIBRARY_PATH: {error}")))?;
    // The logs' change nothing but what is said on stderr. The emulator's are about a device that all libraries run on.
    let kept = ["PATH", "HOME", "TMPDIR", "AQLIPSE_LOG", "AMD_LOG_LEVEL"].into_iter().chain(EMULATOR);
    let kept: Vec<_> = kept.filter_map(|name| Some((name, env::var_os(name)?))).collect();
    // The thunk shows them to AMD's ROCr as the emulator shows them to us.
    let emulate = format!("{devices}x{}", libraries.card);
    command.env_clear().envs(kept).env("LD_LIBRARY_PATH", path).env("AQLIPSE_EMULATE", emulate);
    // The outputs of HIP 6.3 were recorded on a driver that moves no pages.
    command.env(HARDWARE, env::var_os(HARDWARE).unwrap_or_else(|| "no-svm".into()));
    command.envs(libraries.calls.iter().map(|file| (calls::VARIABLE, file)));
    command.envs(libraries.hardware.iter().map(|traits| ("AQLIPSE_EMULATE_HARDWARE", traits)));
    match configuration {
        Configuration::Ours => command.env("AQLIPSE_DEVICE", "emulated"),
        Configuration::Rocr => command.env("AQLIPSE_DEVICE", "rocr"),
        // By default waits spin first, on a core that the emulator could use.
        Configuration::Amd => command.env("ROC_ACTIVE_WAIT_TIMEOUT", "0"),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_tells_exit_codes_signals_and_hangs_apart() {
        let end = |status: i32| End::of(ExitStatus::from_raw(status));
        assert_eq!(end(0), End::Completed);
        assert_eq!(end(3 << 8), End::Failed(3));
        assert_eq!(end(124 << 8), End::TimedOut);
        assert_eq!(end(11), End::Crashed(11));
    }

    #[test]
    fn amds_library_is_the_one_that_no_folder_of_ours_hides() {
        let libraries = Libraries::of(Path::new("/dist"));
        let path = |configuration| libraries.search_path(configuration);
        assert_eq!(path(Configuration::Ours), [Path::new("/dist/lib")]);
        assert_eq!(path(Configuration::Rocr), [Path::new("/dist/lib"), Path::new("/dist/thunk")]);
        assert_eq!(path(Configuration::Amd), [Path::new("/dist/thunk")]);
    }
}
