//! Virtual environments of Python in the target directory, with packages of PyPI in the versions that are asked for.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Result, file_error, run};

/// The Python of the environment in a folder that has what `requirements` lists and nothing else: one package a line, as pip
/// reads it, with its version.
///
/// # Errors
/// [`crate::Error::Start`] and [`crate::Error::Failed`] if Python or pip fail, [`crate::Error::File`].
pub fn python(folder: &Path, requirements: &str) -> Result<PathBuf> {
    let python = folder.join("bin").join("python");
    // Written last, so that an installation that was interrupted is made again.
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|found| found == requirements) {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    let wanted = folder.join("requirements.txt");
    fs::write(&wanted, requirements).map_err(file_error(&wanted))?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--no-deps", "-r"]).arg(&wanted))?;
    fs::rename(&wanted, &installed).map_err(file_error(&installed))?;
    Ok(python)
}
