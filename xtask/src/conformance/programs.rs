//! The programs in `tests/conformance`.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use super::marker::{self, Marker};
use crate::{Error, Result, file_error, read, root};

/// Starts the comment that says how many devices a program wants; without one it has one.
const DEVICES: &str = "// DEVICES: ";
/// Most devices that a program can ask for: what a machine with AMD GPUs has.
const MOST_DEVICES: u32 = 8;

/// Starts the comment that says what a program prints of the card that it runs on.
const CARD: &str = "// CARD: ";

/// What a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// C++ for the host, no kernels.
    Cpp,
    /// C++ with kernels.
    Hip,
}

/// One program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The file's name without its extension.
    pub name: String,
    /// The source.
    pub path: PathBuf,
    /// Its language, which the extension says.
    pub language: Language,
    /// What it observes: its first comment.
    pub topic: String,
    /// How many devices it runs with.
    pub devices: u32,
    /// Whether it prints what depends on the card.
    pub shows_card: bool,
    /// The differences that it announces.
    pub markers: Vec<Marker>,
}

impl Program {
    /// The first word of the name, by which programs stand together.
    pub fn group(&self) -> &str {
        self.name.split('_').next().unwrap_or(&self.name)
    }

    /// Whether it has threads of its own.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn starts_threads(&self) -> Result<bool> {
        Ok(read(&self.path)?.contains("#include <thread>"))
    }

    /// The source with its extension, as the report names it.
    pub fn file_name(&self) -> String {
        let name = self.path.file_name().unwrap_or(OsStr::new(&self.name));
        name.to_string_lossy().into_owned()
    }

    fn parse(path: PathBuf, language: Language, source: &str) -> Result<Self> {
        let refuse =
            |line: usize, why: &str| Err(Error::Conformance(format!("{}:{line}: {why}", path.display())));
        let topic = source.lines().next().and_then(|line| line.strip_prefix("// ")).map(str::trim);
        let Some(topic) = topic.filter(|topic| !topic.is_empty()) else {
            return refuse(1, "the first line must be a comment that says what the program observes");
        };
        let markers = match marker::parse(source) {
            Ok(markers) => markers,
            Err(line) => {
                return refuse(line, "expected `// DIFFERS <label prefix>: <reason>; <reference>`");
            }
        };
        let devices = match devices(source) {
            Ok(devices) => devices,
            Err(line) => {
                return refuse(line, &format!("expected `{DEVICES}<2 to {MOST_DEVICES}>`, and once"));
            }
        };
        let shows_card = source.lines().any(|line| line.starts_with(CARD));
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, topic: topic.to_owned(), devices, path, language, shows_card, markers })
    }
}

/// How many devices a source asks for, or the number of a line that asks for none or a second time.
fn devices(source: &str) -> std::result::Result<u32, usize> {
    let mut devices = None;
    for (index, line) in source.lines().enumerate() {
        let Some(rest) = line.strip_prefix(DEVICES.trim_end()) else { continue };
        match rest.trim().parse() {
            Ok(number @ 2..=MOST_DEVICES) if devices.is_none() => devices = Some(number),
            _ => return Err(index + 1),
        }
    }
    Ok(devices.unwrap_or(1))
}

/// The directory of the programs.
pub fn directory() -> PathBuf {
    root().join("tests").join("conformance")
}

/// Every program of a directory, by name.
///
/// # Errors
/// [`Error::File`], and [`Error::Conformance`] if a program has no topic or a marker that is none, or if two have
/// one name.
pub fn find(directory: &Path) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for entry in fs::read_dir(directory).map_err(file_error(directory))? {
        let path = entry.map_err(file_error(directory))?.path();
        let language = match path.extension().and_then(OsStr::to_str) {
            Some("cpp") => Language::Cpp,
            Some("hip") => Language::Hip,
            _ => continue,
        };
        let source = read(&path)?;
        programs.push(Program::parse(path, language, &source)?);
    }
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(twins) = programs.windows(2).find(|pair| pair[0].name == pair[1].name) {
        let [one, other] = [&twins[0], &twins[1]].map(Program::file_name);
        return Err(Error::Conformance(format!("{one} and {other} have one name")));
    }
    Ok(programs)
}

/// The programs whose names contain one of the filters, or all if there is none.
///
/// # Errors
/// [`Error::Conformance`] if a filter fits no program.
pub fn select(programs: Vec<Program>, filters: &[String]) -> Result<Vec<Program>> {
    for filter in filters {
        if !programs.iter().any(|program| program.name.contains(filter.as_str())) {
            return Err(Error::Conformance(format!("no program's name contains {filter:?}")));
        }
    }
    let wanted = |program: &Program| {
        filters.is_empty() || filters.iter().any(|filter| program.name.contains(filter.as_str()))
    };
    Ok(programs.into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(file: &str) -> Program {
        let language = if file.ends_with(".hip") { Language::Hip } else { Language::Cpp };
        Program::parse(file.into(), language, "// Topic.\n").unwrap()
    }

    #[test]
    fn the_first_comment_is_the_topic() {
        let source = "// What clones share.\n// More.\n#include \"observe.h\"\n// DIFFERS a: b; c\n";
        let program = Program::parse("x/graph_clone.cpp".into(), Language::Cpp, source).unwrap();
        assert_eq!(program.name, "graph_clone");
        assert_eq!(program.group(), "graph");
        assert_eq!(program.topic, "What clones share.");
        assert_eq!(program.markers.len(), 1);
    }

    #[test]
    fn a_program_without_topic_or_with_a_bad_marker_is_refused_by_line() {
        let parse =
            |source: &str| Program::parse("a.cpp".into(), Language::Cpp, source).unwrap_err().to_string();
        assert!(parse("#include \"observe.h\"\n").starts_with("a.cpp:1: the first line"));
        assert!(parse("// Topic.\n\n// DIFFERS a\n").starts_with("a.cpp:3: expected `// DIFFERS"));
    }

    #[test]
    fn a_program_has_one_device_unless_it_asks_for_more() {
        let parse = |source: &str| {
            let parsed = Program::parse("a.cpp".into(), Language::Cpp, &format!("// Topic.\n{source}\n"));
            parsed.map(|program| program.devices).map_err(|error| error.to_string())
        };
        assert_eq!(parse("int main() {}"), Ok(1));
        assert_eq!(parse("// DEVICES: 2"), Ok(2));
        for bad in ["// DEVICES:", "// DEVICES: 1", "// DEVICES: 9", "// DEVICES: two"] {
            assert!(parse(bad).unwrap_err().starts_with("a.cpp:2: expected `// DEVICES: "), "{bad}");
        }
        assert!(parse("// DEVICES: 2\n// DEVICES: 2").unwrap_err().starts_with("a.cpp:3: "));
    }

    #[test]
    fn a_filter_is_part_of_a_name_and_must_fit_one() {
        let programs = ["graph_a.cpp", "stream_a.cpp", "stream_b.cpp"].map(named).to_vec();
        let names = |filters: &[&str]| {
            let filters: Vec<_> = filters.iter().map(|filter| (*filter).to_owned()).collect();
            let chosen = select(programs.clone(), &filters);
            chosen.map(|chosen| chosen.into_iter().map(|program| program.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), 3);
        assert_eq!(names(&["_a"]).unwrap(), ["graph_a", "stream_a"]);
        assert_eq!(names(&["graph", "m_b"]).unwrap(), ["graph_a", "stream_b"]);
        assert!(names(&["graph", "event"]).unwrap_err().to_string().contains("\"event\""));
    }
}
