//! Brings clients into their folders.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::{
    Client, stand_ins,
    table::{self, Source},
};
use crate::{Error, Result, cargo, file_error, link::replace, packages, read, root, run, target_dir, venv};

/// Where a client is installed.
pub fn folder(client: &Client) -> PathBuf {
    target_dir().join("clients").join(client.name)
}

/// The folder that stands for ROCm's.
pub fn rocm() -> PathBuf {
    target_dir().join("clients").join("rocm")
}

/// Installs a client, unless it is there already, and returns the command line of its script.
///
/// # Errors
/// [`Error::Packages`], and those of pip, Cargo, the linker and the files.
pub fn install(client: &Client, dist: &Path) -> Result<Vec<OsString>> {
    imitate_rocm(dist)?;
    let (folder, sources) = (folder(client), root().join(client.sources()));
    if let Source::Debian(packages) = client.source {
        let missing = packages::install_of(packages);
        if !missing.is_empty() {
            return Err(Error::Packages(missing.into_iter().map(String::from).collect()));
        }
    }
    match client.source {
        Source::PyPi(_) | Source::Debian(_) => {
            let venv = folder.join("venv");
            let python = venv::python(&venv, &read(&sources.join("requirements.txt"))?)?;
            if client.stand_ins {
                stand_ins::link_all(&venv.join("lib"), &folder.join(table::STAND_INS))?;
            }
            Ok(vec![python.into(), sources.join("client.py").into()])
        }
        Source::CratesIo(_) => {
            let manifest = sources.join("Cargo.toml");
            let build = folder.join("build");
            let mut command = cargo();
            command
                .args(["build", "--locked", "--manifest-path"])
                .arg(manifest)
                .arg("--target-dir")
                .arg(&build);
            let mut environment = client.environment(dist, &folder, &rocm(), &path());
            environment.retain(|(name, _)| *name != "LD_LIBRARY_PATH");
            run(command.envs(environment))?;
            Ok(vec![build.join("debug/client").into()])
        }
    }
}

/// The directories in which programs are looked for.
pub fn path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

/// Makes a folder in the form of ROCm's, for clients that look for the library, the linker or `hipconfig` there.
fn imitate_rocm(dist: &Path) -> Result {
    let rocm = rocm();
    for folder in ["bin", "llvm/bin"] {
        let folder = rocm.join(folder);
        fs::create_dir_all(&folder).map_err(file_error(&folder))?;
    }
    let linker = Path::new("/usr/lib/llvm-22/bin/ld.lld");
    let hipconfig = root().join("clients/hipconfig");
    for (name, target) in
        [("lib", dist.join("lib").as_path()), ("llvm/bin/ld.lld", linker), ("bin/hipconfig", &hipconfig)]
    {
        replace(&rocm.join(name), |path| symlink(target, path))?;
    }
    Ok(())
}
