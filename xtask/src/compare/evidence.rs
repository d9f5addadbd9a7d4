//! The tests that the table names: they exist, and something runs them.

use std::{collections::BTreeMap, ffi::OsStr, fs, path::Path};

use super::table::{System, Table};
use crate::{Error, compat, read};

/// What kind of test it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// A function, which `cargo xtask test` runs.
    Function,
    /// A function that is run by hand, for the reason that its attribute gives.
    ByHand(String),
    /// A program of `tests/conformance`, which `cargo xtask conformance` runs on AMD's library and on ours.
    Program,
    /// An example, which `cargo xtask test` runs.
    Example,
    /// No test: nothing has a name with this part, which is searched for.
    Absent(String),
    /// Examples in the documentation of a module, which `cargo xtask test` runs or finds not to compile, as they say.
    Doctests,
}

/// Stands for the name of a function where the examples in a module's documentation are meant.
const DOCTESTS: &str = "doctests";

/// Stands before a part of names that are to be absent.
const WITHOUT: &str = "without ";

/// Tests by file and function.
pub type Evidence = BTreeMap<(String, String), Test>;

/// Looks the tests of a table up.
///
/// # Errors
/// The line of a cell, and which of its tests is none; a cell all of whose tests are run by hand.
pub fn find(table: &Table, root: &Path) -> Result<Evidence, (usize, String)> {
    let mut evidence = Evidence::new();
    let ours = table.features().flat_map(|feature| System::ALL.into_iter().zip(&feature.cells));
    for (_, cell) in ours.filter(|(system, _)| system.is_ours()) {
        let mut runs_by_itself = cell.sources.is_empty();
        for named in &cell.sources {
            let test = look_up(root, &named.0, &named.1).map_err(|why| (cell.line, why))?;
            runs_by_itself |= !matches!(test, Test::ByHand(_));
            evidence.insert(named.clone(), test);
        }
        if !runs_by_itself {
            return Err((cell.line, "all of its tests are run by hand".into()));
        }
    }
    Ok(evidence)
}

/// What kind of test a file and a function are.
///
/// # Errors
/// Says why they are none.
pub fn look_up(root: &Path, file: &str, function: &str) -> Result<Test, String> {
    if let Some(part) = function.strip_prefix(WITHOUT) {
        return match name_with(&root.join(file), part).map_err(|error| format!("{file}: {error}"))? {
            Some(name) => Err(format!("{file} has {name}")),
            None => Ok(Test::Absent(part.to_owned())),
        };
    }
    let text = fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
    let kind = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    match (kind, function) {
        ("rs", "") if file.starts_with("examples/") => Ok(Test::Example),
        ("rs", "") => Err(format!("{file}: which of its tests?")),
        ("rs", DOCTESTS) => {
            let has = text.lines().any(|line| line.trim_start().starts_with("/// ```"));
            has.then_some(Test::Doctests).ok_or_else(|| format!("{file} has no doctests"))
        }
        ("rs", _) => test_in(&text, function).ok_or_else(|| format!("{file} has no test {function}")),
        ("cpp" | "hip", "") if file.starts_with("tests/conformance/") => Ok(Test::Program),
        _ => Err(format!("{file} {function} is no test")),
    }
}

/// The first line that gives something a name with this part: a public item in Rust sources, the first column of a table,
/// any line of another file. Letters may be of either case.
fn name_with(path: &Path, part: &str) -> Result<Option<String>, Error> {
    let part = part.to_lowercase();
    let has = |name: &str| name.to_lowercase().contains(&part);
    let kind = path.extension().and_then(OsStr::to_str);
    let files = if path.is_dir() { compat::files(path)? } else { vec![path.to_owned()] };
    for file in files {
        let text = read(&file)?;
        let name = |line: &'_ str| match kind {
            Some("tsv") => line.split('\t').next().map(String::from),
            Some("h") => Some(line.to_owned()),
            _ => item(line.trim()).map(String::from),
        };
        if let Some(found) = text.lines().filter_map(name).find(|name| has(name)) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The name of the public item that a line of Rust begins.
fn item(line: &str) -> Option<&str> {
    let mut words = line.strip_prefix("pub ")?.split([' ', '(', '<', '{', ':', ';']);
    let kinds = ["fn", "struct", "enum", "trait", "type", "mod", "const", "static"];
    let kind =
        words.find(|word| !["unsafe", "const", "async"].contains(word) || line.starts_with("pub const "))?;
    kinds.contains(&kind).then(|| words.find(|word| *word != "fn"))?
}

/// The test of this name in a Rust source.
fn test_in(text: &str, function: &str) -> Option<Test> {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let head = format!("fn {function}(");
    let at = lines.iter().position(|line| line.starts_with(&head))?;
    let attributes =
        lines[..at].iter().rev().take_while(|line| line.starts_with('#') || line.starts_with("//"));
    let (mut is_test, mut by_hand) = (false, None);
    for line in attributes {
        is_test |= *line == "#[test]";
        if let Some(reason) = line.strip_prefix("#[ignore") {
            by_hand = Some(reason.trim_matches([' ', '=', '"', ']']).to_owned());
        }
    }
    is_test.then(|| by_hand.map_or(Test::Function, Test::ByHand))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
        fn plain() {}\n\
        #[test]\n// proves: hipFoo\nfn a_rule() {}\n\
        #[test]\n#[ignore = \"an hour\"]\nfn a_long_rule() {}\n\
        proptest! {\n    #[test]\n    fn any_input(x in 0..3) {}\n}\n";

    #[test]
    fn a_test_is_a_function_with_the_attribute() {
        assert_eq!(test_in(SOURCE, "a_rule"), Some(Test::Function));
        assert_eq!(test_in(SOURCE, "any_input"), Some(Test::Function));
        assert_eq!(test_in(SOURCE, "a_long_rule"), Some(Test::ByHand("an hour".into())));
        assert_eq!(test_in(SOURCE, "plain"), None);
        assert_eq!(test_in(SOURCE, "a_rul"), None);
    }

    #[test]
    fn what_is_absent_is_searched_for_among_public_names() {
        assert_eq!(item("pub fn launch(&self)"), Some("launch"));
        assert_eq!(item("pub unsafe fn memcpy<T>("), Some("memcpy"));
        assert_eq!(item("pub const fn size() {"), Some("size"));
        assert_eq!(item("pub struct Graph<'a> {"), Some("Graph"));
        assert_eq!(item("pub(crate) fn launch() {"), None);
        let root = crate::root();
        let absent = |file, part: &str| look_up(root, file, &format!("without {part}"));
        assert_eq!(absent("src", "NoSuchName"), Ok(Test::Absent("NoSuchName".into())));
        assert_eq!(absent("src", "instantiat"), Err("src has instantiate".into()));
        assert_eq!(
            absent("capi/exports.tsv", "graphlaunch"),
            Err("capi/exports.tsv has hipGraphLaunch".into())
        );
        assert!(absent("capi/include/aqlipse/device_graph.h", "aqlipseGraphLaunch").is_err());
        assert!(absent("no/such/folder", "x").is_err());
    }

    #[test]
    fn files_are_tests_only_where_something_runs_them() {
        let root = crate::root();
        assert_eq!(look_up(root, "examples/places.rs", ""), Ok(Test::Example));
        assert_eq!(look_up(root, "tests/conformance/graph_clone.cpp", ""), Ok(Test::Program));
        assert_eq!(look_up(root, "src/typed/graph.rs", DOCTESTS), Ok(Test::Doctests));
        for (file, function) in [
            ("tests/main.rs", DOCTESTS),
            ("tests/main.rs", ""),
            ("tests/main.rs", "no_such_test"),
            ("tests/programs/graph_capture.hip", ""),
            ("tests/conformance/no_such_program.cpp", ""),
        ] {
            assert!(look_up(root, file, function).is_err(), "{file} {function}");
        }
    }
}
