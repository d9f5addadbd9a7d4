//! What the programs print on libraries that do not run here: `tests/conformance/recorded`, and files of the kit.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use super::programs::Program;
use crate::{Error, Result, file_error, read};

/// The folder, below the programs.
const FOLDER: &str = "recorded";
/// The recording of the release that this library follows.
const NEWER: &str = "hip-6.3";
/// The line behind which a file holds what was printed.
const HEADER: &str = "program\ttext";

/// What each recorded program printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The file's name, without extension.
    pub name: String,
    /// What the file says of its origin: keys and values.
    pub origin: Vec<(String, String)>,
    programs: BTreeMap<String, String>,
}

impl Recording {
    /// Reads a recording of some of the programs.
    ///
    /// # Errors
    /// [`Error::File`], and [`Error::Conformance`] if the file makes no sense or names a program that does not exist.
    pub fn read(path: &Path, programs: &[Program]) -> Result<Self> {
        let wrong = |why: String| Error::Conformance(format!("{}: {why}", path.display()));
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let recording = Self::parse(name, &read(path)?).map_err(|line| {
            wrong(format!("line {line}: expected `# key: value`, then `{HEADER}`, then lines of both"))
        })?;
        match recording.programs.keys().find(|name| !programs.iter().any(|program| program.name == **name)) {
            Some(name) => Err(wrong(format!("there is no program {name}"))),
            None => Ok(recording),
        }
    }

    /// Reads all recordings of the programs in a directory, by name.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn all(directory: &Path, programs: &[Program]) -> Result<Vec<Self>> {
        let folder = directory.join(FOLDER);
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(&folder).map_err(file_error(&folder))? {
            files.push(entry.map_err(file_error(&folder))?.path());
        }
        files.retain(|file| file.extension() == Some(OsStr::new("tsv")));
        files.sort();
        files.iter().map(|file| Self::read(file, programs)).collect()
    }

    /// Whether it is of the release that this library follows.
    pub fn is_followed(&self) -> bool {
        self.name == NEWER
    }

    /// What a program printed; `None` if it is not recorded.
    pub fn of(&self, program: &str) -> Option<&str> {
        self.programs.get(program).map(String::as_str)
    }

    /// Reads lines of `# key: value`, the header, and lines of `program` and `text`, tab-separated; or returns the number of
    /// a line that is none.
    pub(super) fn parse(name: String, text: &str) -> std::result::Result<Self, usize> {
        let mut recording = Self { name, ..Self::default() };
        let mut lines = (1_usize..).zip(text.lines());
        loop {
            let (number, line) = lines.next().ok_or(text.lines().count() + 1)?;
            if line == HEADER {
                break;
            }
            let (key, value) =
                line.strip_prefix("# ").and_then(|line| line.split_once(": ")).ok_or(number)?;
            recording.origin.push((key.to_owned(), value.to_owned()));
        }
        for (number, line) in lines {
            let (program, printed) = line.split_once('\t').ok_or(number)?;
            recording.programs.entry(program.to_owned()).or_default().extend([printed, "\n"]);
        }
        Ok(recording)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_holds_lines_by_program_and_says_where_it_is_from() {
        let parse = |text: &str| Recording::parse("a".into(), text);
        let recording =
            parse("# runtime: 60342134\n# library: a: b\nprogram\ttext\na\tx: 1\nb\ty: 1\na\tz: \t2\n")
                .unwrap();
        assert_eq!(recording.of("a"), Some("x: 1\nz: \t2\n"));
        assert_eq!(recording.of("c"), None);
        assert_eq!(recording.origin[1], ("library".into(), "a: b".into()));
        assert_eq!(parse("program\ttext\na x\n"), Err(2));
        assert_eq!(parse("# runtime\nprogram\ttext\n"), Err(1));
        assert_eq!(parse("# runtime: 1\n"), Err(2), "the header is missing");
    }
}
