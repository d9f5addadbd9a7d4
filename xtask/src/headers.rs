//! HIP's headers of several releases, for tests that compile programs with each.
//!
//! Debian has those of 5.2.3. Newer ones are in the wheels of Triton's compiler on PyPI, of which nothing else is kept. They
//! are fetched once, into the target directory.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Result, file_error, output, packages, run, target_dir};

/// The major version of the headers, and the version of the package that has them.
const WHEELS: [(u32, &str); 2] = [(6, "3.2.0"), (7, "3.9.0")];

/// Where the headers are in a wheel.
const INSIDE: &str = "triton/backends/amd/include/";

/// Takes what is below a folder out of the wheel in another folder.
const UNPACK: &str = "
import glob, os, sys, zipfile
wheel, inside, into = sys.argv[1:]
with zipfile.ZipFile(glob.glob(os.path.join(wheel, '*.whl'))[0]) as files:
    for name in files.namelist():
        if name.startswith(inside + 'hip/') and not name.endswith('/'):
            path = os.path.join(into, name[len(inside):])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as out:
                out.write(files.read(name))
";

/// Fetches what is missing; says whether nothing is in the end.
///
/// # Errors
/// Of the download, if `AQLIPSE_REQUIRE_PACKAGES` is set.
pub fn fetch() -> Result<bool> {
    for (major, version) in WHEELS {
        match fetch_one(&target_dir().join("headers").join(format!("hip{major}")), version) {
            Ok(()) => {}
            Err(error) if packages::required() => return Err(error),
            Err(error) => {
                eprintln!("no headers of HIP {major}, tests that need them will be skipped: {error}");
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn fetch_one(folder: &Path, version: &str) -> Result {
    // Written last, so that a download that was interrupted is made again.
    let fetched = folder.join("triton.txt");
    if fs::read_to_string(&fetched).is_ok_and(|found| found == version) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(file_error(folder))?;
    }
    let wheel = folder.join("wheel");
    fs::create_dir_all(&wheel).map_err(file_error(&wheel))?;
    let python = python()?;
    let mut download = Command::new(&python);
    // Whatever Python is here: nothing of it runs.
    download.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]);
    download.args(["--python-version", "3.11", "--implementation", "cp"]);
    download.args(["--platform", "manylinux_2_17_x86_64", "--platform", "manylinux_2_28_x86_64"]);
    run(download.arg("--dest").arg(&wheel).arg(format!("triton=={version}")))?;
    run(Command::new(&python).args(["-c", UNPACK]).arg(&wheel).arg(INSIDE).arg(folder))?;
    fs::remove_dir_all(&wheel).map_err(file_error(&wheel))?;
    fs::write(&fetched, version).map_err(file_error(&fetched))
}

/// A Python that has pip.
fn python() -> Result<PathBuf> {
    if output(Command::new("python3").args(["-m", "pip", "--version"])).is_ok() {
        return Ok("python3".into());
    }
    let venv = target_dir().join("headers").join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    Ok(venv.join("bin").join("python"))
}
