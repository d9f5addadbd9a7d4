//! `tests/conformance/recorded/hip-6.3.tsv`: what the programs print on a newer release of AMD's library, which no
//! package of Debian holds.

use std::{collections::BTreeMap, path::Path};

use super::programs::Program;
use crate::{Error, Result, read};

/// The file, below the programs.
const FILE: &str = "recorded/hip-6.3.tsv";

/// What each recorded program printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording(BTreeMap<String, String>);

impl Recording {
    /// Reads the recording of the programs in a directory.
    ///
    /// # Errors
    /// [`Error::File`], and [`Error::Conformance`] if the file makes no sense or names a program that does not exist.
    pub fn read(directory: &Path, programs: &[Program]) -> Result<Self> {
        let path = directory.join(FILE);
        let recording = Self::parse(&read(&path)?).map_err(|line| {
            Error::Conformance(format!("{}:{line}: expected program, tab, text", path.display()))
        })?;
        match recording.0.keys().find(|name| !programs.iter().any(|program| program.name == **name)) {
            Some(name) => Err(Error::Conformance(format!("{}: there is no program {name}", path.display()))),
            None => Ok(recording),
        }
    }

    /// What a program printed; `None` if it is not recorded.
    pub fn of(&self, program: &str) -> Option<&str> {
        self.0.get(program).map(String::as_str)
    }

    /// Reads lines of `program` and `text`, tab-separated, after a header; or returns the number of a line that is none.
    fn parse(text: &str) -> std::result::Result<Self, usize> {
        let mut recording: BTreeMap<String, String> = BTreeMap::new();
        for (index, line) in text.lines().enumerate().skip(1) {
            let (program, printed) = line.split_once('\t').ok_or(index + 1)?;
            recording.entry(program.to_owned()).or_default().extend([printed, "\n"]);
        }
        Ok(Self(recording))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_holds_lines_by_program() {
        let recording = Recording::parse("program\ttext\na\tx: 1\nb\ty: 1\na\tz: \t2\n").unwrap();
        assert_eq!(recording.of("a"), Some("x: 1\nz: \t2\n"));
        assert_eq!(recording.of("c"), None);
        assert_eq!(Recording::parse("program\ttext\na x\n"), Err(2));
    }
}
