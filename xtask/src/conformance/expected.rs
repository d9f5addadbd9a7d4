//! `tests/conformance/expected/<program>.txt`: what we print where we differ from AMD's on purpose.
//!
//! ```text
//! + graph of that: null
//! - nodes of that: 3
//! +rocr handle type: hipErrorNotSupported
//! ```
//!
//! `+` stands before a line of ours, `-` before one of AMD's that we do not print: the newer release's, or that of the
//! one that runs if there is no recording. A line that only one configuration has names it. `cargo xtask conformance
//! --accept` writes the files; every other run wants exactly what they hold.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{configuration::Configuration, programs::Program};
use crate::{Error, Result, file_error, link};

/// Where the files are, below the programs.
const FOLDER: &str = "expected";

/// The file of a program.
pub fn file(program: &Program) -> PathBuf {
    let name = Path::new(FOLDER).join(&program.name).with_extension("txt");
    program.path.with_file_name("").join(name)
}

/// What is expected of a program: nothing if it has no file.
///
/// # Errors
/// [`Error::File`].
pub fn read(program: &Program) -> Result<String> {
    let path = file(program);
    if path.exists() { crate::read(&path) } else { Ok(String::new()) }
}

/// Writes what is expected of a program from now on, or removes the file if that is nothing.
///
/// # Errors
/// [`Error::File`].
pub fn write(program: &Program, text: &str) -> Result {
    let path = file(program);
    if text.is_empty() {
        return if path.exists() { fs::remove_file(&path).map_err(file_error(&path)) } else { Ok(()) };
    }
    let folder = path.with_file_name("");
    fs::create_dir_all(&folder).map_err(file_error(&folder))?;
    link::replace(&path, |path| fs::write(path, text))
}

/// Refuses files of programs that do not exist.
///
/// # Errors
/// [`Error::File`], [`Error::Conformance`] with the file.
pub fn check_names(directory: &Path, programs: &[Program]) -> Result {
    let folder = directory.join(FOLDER);
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(&folder).map_err(file_error(&folder))? {
        let path = entry.map_err(file_error(&folder))?.path();
        let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        if !programs.iter().any(|program| program.name == name) {
            return Err(Error::Conformance(format!("{}: there is no such program", path.display())));
        }
    }
    Ok(())
}

/// The text of a file for what differs in the two configurations of ours.
pub fn render(emulated: &[String], rocr: &[String]) -> String {
    let mut text = String::new();
    let mut add = |lines: &[String], only: &str| {
        for line in lines {
            // Signs are a byte long.
            let (sign, rest) = line.split_at(1);
            text.extend([sign, only, rest, "\n"]);
        }
    };
    for part in capture_diff_slices(Algorithm::Myers, emulated, rocr) {
        if matches!(part, DiffOp::Equal { .. }) {
            add(&emulated[part.old_range()], "");
        } else {
            add(&emulated[part.old_range()], Configuration::Ours.name());
            add(&rocr[part.new_range()], Configuration::Rocr.name());
        }
    }
    text
}

/// What is wrong with the lines that differ in a configuration, by what a file's `text` expects of it.
pub fn check(text: &str, configuration: Configuration, found: &[String]) -> Vec<String> {
    let expected: Vec<_> = text.lines().filter_map(|line| line_of(line, configuration)).collect();
    let mut wrong = Vec::new();
    for part in capture_diff_slices(Algorithm::Myers, &expected, found) {
        if matches!(part, DiffOp::Equal { .. }) {
            continue;
        }
        let expected = expected[part.old_range()].iter().map(|line| format!("    expected  {line}"));
        wrong.extend(
            expected.chain(found[part.new_range()].iter().map(|line| format!("    found     {line}"))),
        );
    }
    wrong
}

/// A file's line as it is for a configuration; `None` if it is of the other one.
fn line_of(line: &str, configuration: Configuration) -> Option<String> {
    let (head, rest) = line.split_once(' ')?;
    let (sign, only) = head.split_at_checked(1)?;
    (only.is_empty() || only == configuration.name()).then(|| format!("{sign} {rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn a_file_reads_back_as_what_both_configurations_print() {
        let emulated = lines(&["+ a: 1", "+ b: 1", "- c: 1", "+ d: 1"]);
        let rocr = lines(&["+ a: 1", "+ b: 2", "- c: 1"]);
        let text = render(&emulated, &rocr);
        assert_eq!(text, "+ a: 1\n+ours b: 1\n+rocr b: 2\n- c: 1\n+ours d: 1\n");
        assert!(check(&text, Configuration::Ours, &emulated).is_empty());
        assert!(check(&text, Configuration::Rocr, &rocr).is_empty());
        assert_eq!(
            check(&text, Configuration::Rocr, &emulated),
            ["    expected  + b: 2", "    found     + b: 1", "    found     + d: 1"]
        );
    }

    #[test]
    fn another_value_another_order_and_a_line_that_is_gone_are_wrong() {
        let text = "+ a: 1\n+ b: 1\n";
        let wrong = |found: &[&str]| !check(text, Configuration::Ours, &lines(found)).is_empty();
        assert!(!wrong(&["+ a: 1", "+ b: 1"]));
        for found in
            [&["+ a: 1", "+ b: 2"][..], &["+ b: 1", "+ a: 1"], &["+ a: 1"], &["+ a: 1", "- b: 1"], &[]]
        {
            assert!(wrong(found), "{found:?}");
        }
    }
}
