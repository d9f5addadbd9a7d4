//! The cost table of a device: the one that `AQLIPSE_COSTS` names, or else the one that comes with the library.

#![forbid(unsafe_code)]

use std::{env, ffi::OsStr, fs, path::Path, sync::OnceLock};

use super::{Device, Properties};
use crate::{
    error::{Error, Result},
    schedule::{CostFile, CostTable},
};

/// Files of cost tables, as `aqlipse calibrate` writes them, separated as `PATH` is.
const VARIABLE: &str = "AQLIPSE_COSTS";

impl Device {
    /// The table that plans for the device are compared by, and that says which way copies go. The environment is looked at
    /// once.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] that says which file of `AQLIPSE_COSTS` cannot be read, or which of its lines is wrong.
    pub fn costs(&self) -> Result<&CostTable> {
        self.0.costs.get_or_init(|| table(&self.0.properties)).as_ref().map_err(Error::clone)
    }
}

fn table(properties: &Properties) -> Result<CostTable> {
    static FILES: OnceLock<Result<Vec<CostFile>>> = OnceLock::new();
    let files = FILES.get_or_init(|| read(&env::var_os(VARIABLE).unwrap_or_default()));
    let Properties { arch: target, multiprocessors, .. } = properties;
    let own = files.as_ref().map_err(Error::clone)?.iter().find(|file| file.serves(target));
    // Devices of one family differ in their units.
    let shipped = || CostTable { compute_units: *multiprocessors, ..CostTable::of_target(target) };
    Ok(own.map_or_else(shipped, |file| file.table))
}

/// The files that `AQLIPSE_COSTS` names, in its order. They are read anew.
///
/// # Errors
/// As an instantiation's: [`Error::NotInitialized`] with the file, and the line.
pub fn named_costs() -> Result<Vec<CostFile>> {
    read(&env::var_os(VARIABLE).unwrap_or_default())
}

fn read(paths: &OsStr) -> Result<Vec<CostFile>> {
    let named = env::split_paths(paths).filter(|path| !path.as_os_str().is_empty());
    named.map(|path| read_file(&path)).collect()
}

fn read_file(path: &Path) -> Result<CostFile> {
    let text = fs::read_to_string(path).map_err(|error| wrong(path, error))?;
    CostFile::parse(&text).map_err(|error| wrong(path, error))
}

fn wrong(path: &Path, error: impl std::fmt::Display) -> Error {
    Error::NotInitialized(format!("{VARIABLE}: {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_the_device_and_faults_name_the_file_and_the_line() {
        let folder = env::temp_dir().join(format!("aqlipse-costs-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (good, bad) = (folder.join("good.tsv"), folder.join("bad.tsv"));
        let text = crate::schedule::cost::CDNA2.to_string();
        fs::write(&good, &text).unwrap();
        fs::write(&bad, text.replace("packet_ns\t", "packet_ms\t")).unwrap();

        assert_eq!(read(OsStr::new("")).unwrap(), []);
        let both = env::join_paths([&good, &good]).unwrap();
        assert_eq!(read(&both).unwrap().len(), 2);
        for (path, what) in [(bad, "no value `packet_ms`"), (folder.join("none.tsv"), "none.tsv")] {
            let both = env::join_paths([&good, &path]).unwrap();
            let Err(Error::NotInitialized(why)) = read(&both) else {
                panic!("{} is no table", path.display())
            };
            let names = why.contains("AQLIPSE_COSTS") && why.contains(path.to_str().unwrap());
            assert!(names && why.contains(what), "{why}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
