//! A ROCr library that a user has, as `cargo xtask test --rocr FOLDER` names it.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Error, Result, file_error,
    thunk::{DTIF, HSAKMT},
};

/// ROCr, as programs are linked with it.
pub const LIBRARY: &str = "libhsa-runtime64.so.1";

/// How a library reaches its kernel driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By a library of its own, which the thunk can take the place of.
    Linked,
    /// By code that it contains, unless `HSA_ENABLE_DTIF=1` tells it to load [`DTIF`].
    Told,
    /// By code that it contains.
    Contained,
}

/// A library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rocr {
    folder: PathBuf,
    way: Way,
}

impl Rocr {
    /// The library in a folder.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, or a file that is none; [`Error::File`].
    pub fn find(folder: &Path) -> Result<Self> {
        let folder = fs::canonicalize(folder).map_err(file_error(folder))?;
        let library = folder.join(LIBRARY);
        if !library.exists() {
            let text =
                "has no libhsa-runtime64.so.1; --rocr takes the folder of that file, such as /opt/rocm/lib";
            return Err(Error::Usage(format!("{} {text}", folder.display())));
        }
        let bytes = fs::read(&library).map_err(file_error(&library))?;
        if !bytes.starts_with(b"\x7fELF") {
            return Err(Error::Usage(format!("{} is no ELF library", library.display())));
        }
        // The first is a name that the dynamic linker reads, the second one that ROCr passes to `dlopen`.
        let names = |name: &str| {
            let name = [name.as_bytes(), b"\0"].concat();
            bytes.windows(name.len()).any(|window| window == name)
        };
        let way = match (names(HSAKMT), names(DTIF)) {
            (true, _) => Way::Linked,
            (false, true) => Way::Told,
            (false, false) => Way::Contained,
        };
        Ok(Self { folder, way })
    }

    /// How it reaches its kernel driver.
    pub fn way(&self) -> Way {
        self.way
    }

    /// Lets a command find the library, and the thunk below it unless the machine has an AMD GPU.
    ///
    /// # Errors
    /// [`Error::Usage`] if it needs a GPU and there is none, or a folder's name has a colon.
    pub fn choose(&self, command: &mut Command, thunk: &Path, has_gpu: bool) -> Result {
        let mut folders = Vec::new();
        if !has_gpu {
            match self.way {
                Way::Linked => {}
                Way::Told => _ = command.env("HSA_ENABLE_DTIF", "1"),
                Way::Contained => {
                    let text = "contains its own driver library and cannot be told to load libdtif.so: it needs an AMD GPU \
                                (/dev/kfd)";
                    return Err(Error::Usage(format!("{} {text}", self.folder.join(LIBRARY).display())));
                }
            }
            // First: a package's folder has the driver library that belongs to the card.
            folders.push(thunk.to_owned());
        }
        folders.push(self.folder.clone());
        command.env("AQLIPSE_DEVICE", "rocr").env("LD_LIBRARY_PATH", library_path(folders)?);
        Ok(())
    }
}

/// These folders, and then those that `LD_LIBRARY_PATH` has.
///
/// # Errors
/// [`Error::Usage`] if a folder's name has a colon.
pub fn library_path(folders: Vec<PathBuf>) -> Result<OsString> {
    let given = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let all = folders.into_iter().chain(env::split_paths(&given));
    env::join_paths(all).map_err(|error| Error::Usage(format!("LD_LIBRARY_PATH: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{link::cc, output};

    /// A folder with a library of the name, made of C.
    fn folder(name: &str, source: &str, options: &[&str]) -> PathBuf {
        let folder = crate::target_dir().join("tmp/xtask-rocr").join(name);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("library.c");
        fs::write(&file, source).unwrap();
        let library = folder.join(LIBRARY);
        output(cc().args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&file).args(options)).unwrap();
        folder
    }

    fn variables(rocr: &Rocr, has_gpu: bool) -> Result<Vec<(String, String)>> {
        let mut command = Command::new("true");
        rocr.choose(&mut command, Path::new("/the/thunk"), has_gpu)?;
        let text = |value: &std::ffi::OsStr| value.to_string_lossy().into_owned();
        Ok(command
            .get_envs()
            .map(|(name, value)| (text(name), value.map(text).unwrap_or_default()))
            .collect())
    }

    fn has(variables: &[(String, String)], name: &str, beginning: &str) -> bool {
        variables.iter().any(|(known, value)| known == name && value.starts_with(beginning))
    }

    #[test]
    fn a_library_that_is_linked_with_the_thunk_finds_it_beside() {
        let thunk = folder("linked-with", "void hsaKmtOpenKFD(void) {}", &["-Wl,-soname,libhsakmt.so.1"]);
        let source = "void hsaKmtOpenKFD(void); void hsa_init(void) { hsaKmtOpenKFD(); }";
        let linked = folder("linked", source, &[&thunk.join(LIBRARY).display().to_string()]);
        let rocr = Rocr::find(&linked).unwrap();
        assert_eq!(rocr.way(), Way::Linked);
        let path = fs::canonicalize(&linked).unwrap().display().to_string();
        let without = variables(&rocr, false).unwrap();
        // The folder may have AMD's libhsakmt.so.1 as well, as Debian's has.
        assert!(has(&without, "LD_LIBRARY_PATH", &format!("/the/thunk:{path}")), "{without:?}");
        assert!(
            has(&without, "AQLIPSE_DEVICE", "rocr") && !has(&without, "HSA_ENABLE_DTIF", ""),
            "{without:?}"
        );
    }

    #[test]
    fn a_library_that_can_be_told_is_told_where_there_is_no_gpu() {
        let told = folder("told", "const char *name = \"libdtif.so\";", &[]);
        let rocr = Rocr::find(&told).unwrap();
        assert_eq!(rocr.way(), Way::Told);
        assert!(has(&variables(&rocr, false).unwrap(), "HSA_ENABLE_DTIF", "1"));
        let with = variables(&rocr, true).unwrap();
        let path = with.iter().find(|(name, _)| name == "LD_LIBRARY_PATH").unwrap();
        assert!(!has(&with, "HSA_ENABLE_DTIF", "") && !path.1.contains("/the/thunk"), "{with:?}");
    }

    #[test]
    fn what_cannot_run_is_said() {
        let contained = folder("contained", "int nothing;", &[]);
        let rocr = Rocr::find(&contained).unwrap();
        assert_eq!(rocr.way(), Way::Contained);
        variables(&rocr, true).unwrap();
        assert!(variables(&rocr, false).unwrap_err().to_string().contains("it needs an AMD GPU"));
        let empty = contained.join("empty");
        fs::create_dir_all(&empty).unwrap();
        assert!(Rocr::find(&empty).unwrap_err().to_string().contains("has no libhsa-runtime64.so.1"));
        assert!(matches!(Rocr::find(&empty.join("missing")), Err(Error::File { .. })));
        fs::write(empty.join(LIBRARY), "text").unwrap();
        let error = Rocr::find(&empty).unwrap_err().to_string();
        fs::remove_file(empty.join(LIBRARY)).unwrap();
        assert!(error.contains("is no ELF library"), "{error}");
    }
}
