//! `cargo xtask dist --archive`: what users install, as a tarball that runs in any folder and as a Debian package.
//!
//! | module | what it does |
//! |---|---|
//! | [`debian`] | the package |
//! | [`chroot`] | the package in a Debian of its own |

pub mod chroot;
pub mod debian;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Result, file_error, link::replace, output, root, run, target_dir};

/// The version of everything.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Folder in the tree, file, contents.
const FILES: [(&str, &str, &str); 3] = [
    ("lib/cmake/hip", "hip-config.cmake", include_str!("hip-config.cmake")),
    ("lib/cmake/hip", "hip-config-version.cmake", include_str!("hip-config-version.cmake")),
    ("lib/pkgconfig", "aqlipse.pc", include_str!("aqlipse.pc")),
];

/// Shell, folder in the tree and file of what lets it complete the command.
pub const COMPLETIONS: [(&str, &str, &str); 3] = [
    ("bash", "share/bash-completion/completions", "aqlipse"),
    ("fish", "share/fish/vendor_completions.d", "aqlipse.fish"),
    ("zsh", "share/zsh/vendor-completions", "_aqlipse"),
];

/// What is said of the project, from the root to [`DOCUMENTS`].
const PAPERS: [&str; 5] = ["README.md", "CHANGELOG.md", "COMPAT.md", "LICENSE-APACHE", "LICENSE-MIT"];
const DOCUMENTS: &str = "share/doc/aqlipse";

/// What was made.
#[derive(Clone, Debug)]
pub struct Archives {
    /// `aqlipse-VERSION-x86_64-linux.tar.gz`.
    pub tarball: PathBuf,
    /// `aqlipse_VERSION_amd64.deb`.
    pub package: PathBuf,
}

/// Where [`make`] is told to make them.
pub fn folder() -> PathBuf {
    target_dir().join("archive")
}

/// Packs what [`crate::dist::build`] has put into `dist`, in a folder that is emptied first.
///
/// # Errors
/// [`crate::Error`] of the command, of `strip`, `tar` and `dpkg-deb`, and of files.
pub fn make(dist: &Path, folder: &Path) -> Result<Archives> {
    let name = format!("aqlipse-{VERSION}-x86_64-linux");
    let tree = folder.join(&name);
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(file_error(folder))?;
    }
    plant(dist, &tree)?;
    let tarball = folder.join(format!("{name}.tar.gz"));
    replace(&tarball, |aside| pack(&tree, aside))?;
    let package = debian::make(&tree, folder)?;
    println!("{}\n{}", tarball.display(), package.display());
    Ok(Archives { tarball, package })
}

/// Makes the tree of the tarball: `bin`, `lib`, `thunk`, `include` and `share`.
fn plant(dist: &Path, tree: &Path) -> Result {
    let made = |folder: &str| -> Result<PathBuf> {
        let folder = tree.join(folder);
        fs::create_dir_all(&folder).map_err(file_error(&folder))?;
        Ok(folder)
    };
    made("")?;
    for part in ["bin", "lib", "thunk", "include"] {
        output(Command::new("cp").arg("-a").arg(dist.join(part)).arg(tree))?;
    }
    let command = tree.join("bin/aqlipse");
    output(Command::new("strip").arg(&command))?;
    for (folder, file, text) in FILES {
        write(&made(folder)?.join(file), text.replace("@VERSION@", VERSION))?;
    }
    for (shell, folder, file) in COMPLETIONS {
        let text = output(Command::new(&command).args(["completions", shell]))?;
        write(&made(folder)?.join(file), text)?;
    }
    output(Command::new(&command).arg("manual").arg(made("share/man/man1")?))?;
    let documents = made(DOCUMENTS)?;
    for paper in PAPERS {
        let source = root().join(paper);
        fs::copy(&source, documents.join(paper)).map_err(file_error(&source))?;
    }
    Ok(())
}

fn write(path: &Path, text: String) -> Result {
    fs::write(path, text).map_err(file_error(path))
}

/// The same bytes for the same files: sorted, of nobody, and of no time.
fn pack(tree: &Path, archive: &Path) -> std::io::Result<()> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--mode=u=rwX,go=rX", "--use-compress-program=gzip -n9", "-cf"]).arg(archive);
    tar.arg("-C").arg(tree.with_file_name("")).arg(tree.file_name().unwrap_or_default());
    run(&mut tar).map_err(std::io::Error::other)
}
