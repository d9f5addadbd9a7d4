//! The files of libraries that the user names.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::Error;

/// What the files of AMD's library are called; the number of its interface follows, or nothing.
const NAME: &str = "libamdhip64.so";

/// The file that is meant: itself, the one in a folder, or whatever the dynamic loader finds by a name.
///
/// # Errors
/// [`Error::NoLibrary`] for a path that leads nowhere, and for a folder without a library.
pub fn file(named: &Path) -> Result<PathBuf, Error> {
    let none = |reason| Err(Error::NoLibrary { named: named.to_owned(), reason });
    if named.is_dir() {
        let Some(library) = newest_in(named) else { return none("no libamdhip64.so is in that folder") };
        return Ok(library);
    }
    // The dynamic loader looks for what has no slash.
    let is_path = named.as_os_str().as_encoded_bytes().contains(&b'/');
    if is_path && !named.exists() {
        return none("no such file; name the folder, and the newest libamdhip64.so in it is taken");
    }
    Ok(named.to_owned())
}

/// The library of a folder: packages for users have only a file with the number of the interface, or several.
fn newest_in(folder: &Path) -> Option<PathBuf> {
    // Packages for developers link to files of others, which may be missing.
    let entries = fs::read_dir(folder).ok()?.flatten().filter(|entry| entry.path().exists());
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let newest = names.filter_map(|name| version(&name).map(|version| (version, name))).max()?;
    Some(folder.join(newest.1))
}

/// The numbers behind the name of a library; the name without numbers, which its maker has chosen, comes last.
fn version(name: &str) -> Option<(bool, Vec<u32>)> {
    let rest = name.strip_prefix(NAME)?;
    if rest.is_empty() {
        return Some((true, Vec::new()));
    }
    let numbers = rest.strip_prefix('.')?.split('.').map(|part| part.parse().ok());
    Some((false, numbers.collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of empty files, and the one that is taken.
    fn chosen(test: &str, files: &[&str]) -> Option<String> {
        let folder = std::env::temp_dir().join(format!("aqlipse-named-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        files.iter().for_each(|name| fs::write(folder.join(name), "").unwrap());
        let found = file(&folder);
        fs::remove_dir_all(&folder).unwrap();
        found.ok().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
    }

    #[test]
    fn a_folder_means_its_newest_library() {
        let files = ["libamdhip64.so.5", "libamdhip64.so.5.2.21153", "libamdhip64.so.old", "libhsakmt.so.9"];
        assert_eq!(chosen("full", &files).as_deref(), Some("libamdhip64.so.5.2.21153"));
        assert_eq!(
            chosen("two", &["libamdhip64.so.10", "libamdhip64.so.9"]).as_deref(),
            Some("libamdhip64.so.10")
        );
        assert_eq!(
            chosen("plain", &["libamdhip64.so.6", "libamdhip64.so"]).as_deref(),
            Some("libamdhip64.so")
        );
        assert_eq!(chosen("none", &["libamdhip64.a", "libhsa-runtime64.so.1"]), None);
    }

    #[test]
    fn a_path_leads_to_a_file_and_a_name_is_the_loaders_to_find() {
        assert_eq!(file(Path::new("libamdhip64.so.5")).unwrap(), Path::new("libamdhip64.so.5"));
        let error = file(Path::new("/nowhere/libamdhip64.so")).unwrap_err().to_string();
        assert!(error.contains("--against /nowhere/libamdhip64.so: no such file"), "{error}");
    }
}
