//! `cargo xtask kernels --triton`: code objects that Triton's compiler makes of `kernels/triton/kernels.py`.
//!
//! They are committed because the compiler is a download of a gigabyte: the tests run them without it. The compiler
//! comes from PyPI in the version that `kernels/triton/requirements.txt` names, into a virtual environment in the target
//! directory; the same version makes the same bytes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Error, Result, file_error, read, root, run, target_dir, venv};

const FOLDER: &str = "kernels/triton";
/// What the build writes into its folder.
const OUTPUTS: [&str; 6] = ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "launch.tsv"];

/// Compiles every kernel for every target and replaces what is committed.
///
/// # Errors
/// [`Error::Start`] and [`Error::Failed`] if Python, pip or the compiler fail, [`Error::File`].
pub fn rebuild() -> Result {
    let built = build()?;
    for name in OUTPUTS {
        let old = root().join(FOLDER).join(name);
        if old.is_dir() {
            // Kernels that no longer exist leave no code objects behind.
            fs::remove_dir_all(&old).map_err(file_error(&old))?;
        }
    }
    for (name, bytes) in files(&built)? {
        let path = root().join(FOLDER).join(&name);
        let folder = path.with_file_name("");
        fs::create_dir_all(&folder).map_err(file_error(&folder))?;
        fs::write(&path, &bytes).map_err(file_error(&path))?;
        println!("{:>7} {FOLDER}/{}", bytes.len(), name.display());
    }
    Ok(())
}

/// Compiles every kernel for every target and compares with what is committed.
///
/// # Errors
/// [`Error::Stale`] names the files that differ or that only one side has; otherwise as [`rebuild`].
pub fn check() -> Result {
    let (built, mut committed) = (files(&build()?)?, Vec::new());
    for name in OUTPUTS {
        let path = root().join(FOLDER).join(name);
        if path.is_dir() {
            committed
                .extend(files(&path)?.into_iter().map(|(file, bytes)| (Path::new(name).join(file), bytes)));
        } else {
            committed.extend(fs::read(&path).ok().map(|bytes| (PathBuf::from(name), bytes)));
        }
    }
    let differs = |one: &[(PathBuf, Vec<u8>)], other: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
        one.iter().filter(|file| !other.contains(file)).map(|(name, _)| name.clone()).collect()
    };
    let mut stale = differs(&built, &committed);
    stale.extend(differs(&committed, &built));
    stale.sort();
    stale.dedup();
    if stale.is_empty() {
        return Ok(());
    }
    let files = stale.iter().map(|name| format!("{FOLDER}/{}", name.display())).collect();
    Err(Error::Stale { command: "kernels --triton", files })
}

/// Runs the build in the virtual environment and returns the folder with its outputs.
fn build() -> Result<PathBuf> {
    let requirements = read(&root().join(FOLDER).join("requirements.txt"))?;
    let python = venv::python(&target_dir().join("triton").join("venv"), &requirements)?;
    let outputs = target_dir().join("triton").join("outputs");
    if outputs.exists() {
        fs::remove_dir_all(&outputs).map_err(file_error(&outputs))?;
    }
    fs::create_dir_all(&outputs).map_err(file_error(&outputs))?;
    let mut command = Command::new(python);
    command.current_dir(root().join(FOLDER)).arg("build.py").arg(&outputs);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    run(command.env("TRITON_CACHE_DIR", target_dir().join("triton").join("cache")))?;
    Ok(outputs)
}

/// The files below `folder`, by their names relative to it, in order.
fn files(folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(relative) = folders.pop() {
        let path = folder.join(&relative);
        for entry in fs::read_dir(&path).map_err(file_error(&path))? {
            let entry = entry.map_err(file_error(&path))?;
            let (name, path) = (relative.join(entry.file_name()), entry.path());
            if path.is_dir() {
                folders.push(name);
            } else {
                let bytes = fs::read(&path).map_err(file_error(&path))?;
                found.push((name, bytes));
            }
        }
    }
    found.sort();
    Ok(found)
}
