//! What is measured: a library, and the device below it.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Serialize;

/// What a contestant runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Below {
    /// The emulator, in the library's own process.
    Emulator,
    /// AMD's ROCr, which reaches the emulator through the thunk.
    Rocr,
    /// What the library finds by itself.
    Own,
}

/// A library that takes part.
#[derive(Clone, Debug, Serialize)]
pub struct Contestant {
    /// One letter, for tables.
    pub label: char,
    /// Its name, in words.
    pub name: String,
    /// What to load: a file, or a name for the dynamic loader.
    pub library: PathBuf,
    /// What it runs on.
    pub below: Below,
    /// Whether it is ours: what the others are compared with.
    pub ours: bool,
}

/// The environment of all workers.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The folder of the thunk.
    pub thunk: Option<PathBuf>,
    /// Packets of kernels complete without executing.
    pub null_kernels: bool,
}

/// Ours on each of `places`, then the others, in the order in which they are named.
///
/// Without a thunk the others run on what they find.
pub fn all(ours: &Path, places: &[Below], others: &[PathBuf], thunk: bool) -> Vec<Contestant> {
    let mut all: Vec<_> = places.iter().map(|&below| (below, true, ours)).collect();
    let below = if thunk { Below::Rocr } else { Below::Own };
    all.extend(others.iter().map(|library| (below, false, library.as_path())));
    let contestant = |(label, (below, ours, library)): (char, (Below, bool, &Path))| {
        let file = library.file_name().unwrap_or(library.as_os_str()).to_string_lossy();
        let who = if ours { "ours" } else { &file };
        let name = match below {
            Below::Emulator => format!("{who}, emulated in process"),
            Below::Rocr => format!("{who} on AMD's ROCr on the thunk"),
            Below::Own => format!("{who} on the device that it finds"),
        };
        Contestant { label, name, library: library.to_owned(), below, ours }
    };
    ('A'..='Z').zip(all).map(contestant).collect()
}

impl Environment {
    /// AMD's 5.2.3 spins about 10 us for each dependency between its queues before it lets the device wait;
    /// newer releases do not, and a spin measures the patience of the host.
    pub const NO_SPIN: (&str, &str) = ("ROC_ACTIVE_WAIT_TIMEOUT", "0");

    /// Gives `command` the environment of a worker for `contestant`.
    pub fn apply(&self, contestant: &Contestant, command: &mut Command) {
        command.env(Self::NO_SPIN.0, Self::NO_SPIN.1);
        // A random order of packets is for tests.
        command.env_remove("AQLIPSE_EMULATE_SEED");
        if self.null_kernels {
            command.env("AQLIPSE_EMULATE_NULL", "1");
            // Nothing executes that would bring a graph to where the packet processor takes it from. This way costs the
            // host a packet more.
            command.env("AQLIPSE_RESIDENT", "launcher");
        } else {
            command.env_remove("AQLIPSE_EMULATE_NULL");
        }
        match contestant.below {
            Below::Emulator => _ = command.env("AQLIPSE_DEVICE", "emulated"),
            Below::Rocr => _ = command.env("AQLIPSE_DEVICE", "rocr"),
            Below::Own => {}
        }
        if let (Below::Rocr, Some(thunk)) = (contestant.below, &self.thunk) {
            let mut path = OsString::from(thunk);
            if let Some(before) = std::env::var_os("LD_LIBRARY_PATH").filter(|path| !path.is_empty()) {
                path.push(":");
                path.push(before);
            }
            command.env("LD_LIBRARY_PATH", path);
            // Newer ROCr contains a thunk of its own unless it is told to load another; older ones do not
            // know this.
            if thunk.join("libdtif.so").exists() {
                command.env("HSA_ENABLE_DTIF", "1");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(contestant: &Contestant, environment: &Environment) -> Vec<(String, Option<String>)> {
        let mut command = Command::new("true");
        environment.apply(contestant, &mut command);
        let text = |value: &std::ffi::OsStr| value.to_string_lossy().into_owned();
        command.get_envs().map(|(name, value)| (text(name), value.map(text))).collect()
    }

    #[test]
    fn ours_comes_first_and_twice_with_a_thunk() {
        let others = [PathBuf::from("/opt/lib/libamdhip64.so.6"), PathBuf::from("libamdhip64.so.5")];
        let all = all(Path::new("ours.so"), &[Below::Emulator, Below::Rocr], &others, true);
        let described: Vec<_> = all.iter().map(|c| (c.label, c.name.as_str(), c.below)).collect();
        assert_eq!(
            described,
            [
                ('A', "ours, emulated in process", Below::Emulator),
                ('B', "ours on AMD's ROCr on the thunk", Below::Rocr),
                ('C', "libamdhip64.so.6 on AMD's ROCr on the thunk", Below::Rocr),
                ('D', "libamdhip64.so.5 on AMD's ROCr on the thunk", Below::Rocr),
            ]
        );
        assert_eq!(all[2].library, others[0]);
    }

    #[test]
    fn without_a_thunk_all_keep_the_device_that_they_find() {
        let all = all(Path::new("ours.so"), &[Below::Own], &["a.so".into()], false);
        assert_eq!(all.iter().map(|c| c.below).collect::<Vec<_>>(), [Below::Own; 2]);
        for contestant in &all {
            let set = variables(contestant, &Environment { thunk: None, null_kernels: true });
            let is_told = |name: &str| name == "AQLIPSE_DEVICE" || name == "LD_LIBRARY_PATH";
            assert!(!set.iter().any(|(name, _)| is_told(name)), "{set:?}");
        }
    }

    #[test]
    fn the_thunk_comes_before_every_other_library() {
        let rocr = &all(Path::new("ours.so"), &[Below::Emulator, Below::Rocr], &[], true)[1];
        let set = variables(rocr, &Environment { thunk: Some("/thunk".into()), null_kernels: false });
        let value = |name| set.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        assert!(
            value("LD_LIBRARY_PATH").flatten().is_some_and(|path| path.split(':').next() == Some("/thunk"))
        );
        assert_eq!(value("AQLIPSE_DEVICE"), Some(Some("rocr".into())));
        assert_eq!(value("ROC_ACTIVE_WAIT_TIMEOUT"), Some(Some("0".into())));
        assert_eq!(value("AQLIPSE_EMULATE_NULL"), Some(None), "kernels execute whatever the caller has set");
        assert_eq!(value("HSA_ENABLE_DTIF"), None, "there is no libdtif.so");
    }
}
