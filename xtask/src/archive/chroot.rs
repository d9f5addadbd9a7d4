//! `cargo xtask dist --chroot`: the package in a Debian that has nothing else, where the Dockerfile's commands are run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::Archives;
use crate::{Error, Result, file_error, output, packages, read, root, run, target_dir};

/// The release of Debian: that of the Dockerfile.
const RELEASE: &str = "bookworm";

/// What makes a new Debian.
const PACKAGE: &str = "debootstrap";

/// Installs the package in a new Debian and runs the commands of `examples/ci/Dockerfile` there, which build and test a
/// project. Needs root.
///
/// # Errors
/// [`Error::Packages`] without debootstrap; [`Error::Failed`] with the command that failed.
pub fn try_out(archives: &Archives) -> Result {
    let missing = packages::install_of(&[PACKAGE]);
    if !missing.is_empty() {
        return Err(Error::Packages(missing.into_iter().map(String::from).collect()));
    }
    let folder = target_dir().join("chroot");
    let base = folder.join(RELEASE);
    if !base.exists() {
        let aside = base.with_added_extension("new");
        fs::create_dir_all(&aside).map_err(file_error(&aside))?;
        run(Command::new(PACKAGE).args(["--variant=minbase", RELEASE]).arg(&aside))?;
        fs::rename(&aside, &base).map_err(file_error(&base))?;
    }
    let here = folder.join("run");
    if here.exists() {
        fs::remove_dir_all(&here).map_err(file_error(&here))?;
    }
    output(Command::new("cp").arg("-a").arg(&base).arg(&here))?;
    output(Command::new("cp").arg("-r").arg(root().join("examples/ci")).arg(here.join("project")))?;
    output(Command::new("cp").arg(&archives.package).arg(here.join("project")))?;
    for command in commands(&read(&root().join("examples/ci/Dockerfile"))?) {
        run(&mut inside(&here, &command))?;
    }
    // What a newcomer runs first.
    run(&mut inside(&here, "aqlipse demo --size 65536 && aqlipse info"))
}

/// What a Dockerfile runs when the image is built, then what it runs in it.
pub fn commands(dockerfile: &str) -> Vec<String> {
    let of = |word| dockerfile.lines().filter_map(move |line| line.strip_prefix(word)).map(String::from);
    of("RUN ").chain(of("CMD ")).collect()
}

/// A command of a shell in the project, in a root folder and a table of processes of its own.
fn inside(folder: &Path, command: &str) -> Command {
    let mut inside = Command::new("unshare");
    inside.args(["--mount", "--pid", "--fork", "--kill-child"]);
    let proc: PathBuf = folder.join("proc");
    inside.arg(format!("--mount-proc={}", proc.display()));
    inside.args(["chroot"]).arg(folder);
    inside.args([
        "/usr/bin/env",
        "-i",
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
        "DEBIAN_FRONTEND=noninteractive",
    ]);
    inside.args(["sh", "-ec"]).arg(format!("cd /project; {command}"));
    inside
}
