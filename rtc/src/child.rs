//! Programs that are run, and the private folders that they work in.

use std::{
    env,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::Error;

/// Variables that a child inherits. Others steer compilers (`CPATH`, `CCC_OVERRIDE_OPTIONS`), load libraries into them
/// (`LD_PRELOAD`) or change their language, and stand in no cache key.
const INHERITED: [&str; 1] = ["PATH"];

/// A folder that only this user can enter. It goes away with this value.
pub struct Scratch(TempDir);

impl Scratch {
    /// Makes one.
    ///
    /// # Errors
    /// [`Error::File`] if there is no place for it.
    pub fn new() -> Result<Self, Error> {
        let private = Permissions::from_mode(0o700);
        let made = tempfile::Builder::new().prefix("aqlipse-rtc-").permissions(private).tempdir();
        made.map(Self).map_err(Error::file(env::temp_dir()))
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file in it, and the folders that lead there.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let path = self.path(name);
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(Error::file(&path))?;
        fs::write(&path, bytes).map_err(Error::file(&path))?;
        Ok(path)
    }

    /// Reads a file in it.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn read(&self, name: &str) -> Result<Vec<u8>, Error> {
        let path = self.path(name);
        fs::read(&path).map_err(Error::file(path))
    }

    /// A text without the paths of this folder: what is below `folders` is named as it was given.
    pub fn hide(&self, text: &str, folders: &[&str]) -> String {
        let root = self.0.path().display();
        let text = folders
            .iter()
            .fold(text.to_owned(), |text, folder| text.replace(&format!("{root}/{folder}/"), ""));
        text.replace(&format!("{root}/"), "")
    }
}

/// How a child ended.
pub struct Ended {
    /// Whether it ended with success.
    pub success: bool,
    /// What it printed on both outputs, and how it ended if it was killed.
    pub text: String,
}

/// Runs a program without an input, in the caller's folder, with its temporary files in `scratch`.
///
/// # Errors
/// [`Error::File`] if it cannot be started or awaited.
pub fn run(program: &Path, arguments: &[String], scratch: &Scratch) -> Result<Ended, Error> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).env_clear();
    for name in INHERITED {
        command.envs(env::var_os(name).map(|value| (name, value)));
    }
    command.env("LC_ALL", "C").env("TMPDIR", scratch.0.path());
    let output = command.output().map_err(Error::file(program))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    if output.status.code().is_none() {
        // A signal: the compiler may have said nothing.
        text.push_str(&format!("{}: {}\n", program.display(), output.status));
    }
    Ok(Ended { success: output.status.success(), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Ended {
        run("/bin/sh".as_ref(), &["-c".into(), script.into()], &Scratch::new().unwrap()).unwrap()
    }

    #[test]
    fn a_folder_is_private_and_goes_away() {
        let scratch = Scratch::new().unwrap();
        let file = scratch.write("a/b/c", b"text").unwrap();
        let folder = scratch.0.path().to_owned();
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(scratch.read("a/b/c").unwrap(), b"text");
        assert_eq!(scratch.hide(&format!("{}:1: x", file.display()), &["a"]), "b/c:1: x");
        drop(scratch);
        assert!(!folder.exists());
    }

    #[test]
    fn a_child_has_no_input_and_few_variables() {
        let ended = shell("cat; echo $HOME-$LC_ALL >&2; exit 3");
        assert_eq!((ended.success, ended.text.as_str()), (false, "-C\n"));
    }

    #[test]
    fn a_child_that_is_killed_says_by_what() {
        let ended = shell("echo before; kill -9 $$");
        assert!(!ended.success && ended.text.starts_with("before\n"), "{}", ended.text);
        assert!(ended.text.contains("signal: 9"), "{}", ended.text);
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error() {
        let missing = run("/no/such/program".as_ref(), &[], &Scratch::new().unwrap());
        assert!(matches!(missing, Err(Error::File { .. })));
    }
}
