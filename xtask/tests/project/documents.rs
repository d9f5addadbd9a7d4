//! What the documents say of the sources, and of each other, is so.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use xtask::{compare, compat, read, root};

/// Where variables of the environment are read.
const SOURCES: [&str; 16] = [
    "benches", "capi", "cli", "emulator", "examples", "fuzz", "graph", "hsa", "kernels", "loader", "rtc",
    "src", "tests", "thunk", "timeline", "xtask",
];
/// Starts the names of all variables.
const OURS: &str = "AQLIPSE_";
/// Starts the names of variables by which a test talks to a process that it starts.
const INTERNAL: &str = "AQLIPSE_TEST_";

/// Names that stand in quotes in a text, and are variables of ours.
fn variables(text: &str) -> BTreeSet<String> {
    let quoted = text.split('"').filter(|part| part.starts_with(OURS) && !part.starts_with(INTERNAL));
    let is_name = |part: &&str| part.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    quoted.filter(|part| part.len() > OURS.len()).filter(is_name).map(String::from).collect()
}

/// The variables that the tables of a page list.
fn listed(page: &str) -> BTreeSet<String> {
    let text = read(&root().join(page)).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(name, _)| name.to_owned()).filter(|name| name.starts_with(OURS)).collect()
}

#[test]
fn the_page_of_variables_has_those_that_are_read_and_no_others() {
    let mut read_somewhere = BTreeSet::new();
    for directory in SOURCES {
        for path in compat::files(&root().join(directory)).unwrap() {
            read_somewhere.extend(variables(&read(&path).unwrap()));
        }
    }
    let listed = listed("docs/environment.md");
    let missing: Vec<_> = read_somewhere.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&read_somewhere).collect();
    assert!(
        missing.is_empty() && stale.is_empty(),
        "not in docs/environment.md: {missing:?}; read nowhere: {stale:?}"
    );
}

#[test]
fn the_readme_lists_ten_variables_of_the_page() {
    let (few, all) = (listed("README.md"), listed("docs/environment.md"));
    assert_eq!(few.len(), 10, "{few:?}");
    assert!(few.is_subset(&all), "{few:?}");
}

/// Names of variables of ours anywhere in a text. A name that ends with `_` stands for many.
fn named(text: &str) -> BTreeSet<String> {
    let is_of_name = |at: char| at.is_ascii_uppercase() || at == '_';
    let starts = text.match_indices(OURS).map(|(at, _)| &text[at..]);
    let names = starts.map(|rest| &rest[..rest.find(|at| !is_of_name(at)).unwrap_or(rest.len())]);
    names.filter(|name| !name.ends_with('_')).map(String::from).collect()
}

#[test]
fn documents_name_variables_that_there_are() {
    let all = listed("docs/environment.md");
    for document in documents() {
        // A change log and a decision may name what is gone since.
        if document.ends_with("CHANGELOG.md") || document.parent().unwrap().ends_with("adr") {
            continue;
        }
        let unknown: Vec<_> = named(&read(&document).unwrap()).difference(&all).cloned().collect();
        assert!(unknown.is_empty(), "{} names {unknown:?}", document.display());
    }
}

/// The documents at the top and below `docs`.
fn documents() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/adr"].map(|folder| root().join(folder));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths
}

/// Where the links of a document lead that lead to files.
fn links(path: &Path) -> Vec<PathBuf> {
    // What stands between backticks is code, where a bracket is a bracket.
    let text: String = read(path).unwrap().split('`').step_by(2).collect();
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let targets = ends.filter_map(|(target, _)| target.split([' ', '#']).next());
    let files = targets.filter(|target| !target.is_empty() && !target.contains("://"));
    files.map(|target| path.with_file_name("").join(target)).collect()
}

#[test]
fn links_between_documents_and_to_sources_lead_somewhere() {
    for document in documents() {
        for target in links(&document) {
            assert!(target.exists(), "{} links to {}", document.display(), target.display());
        }
    }
}

/// Text and target of each link of a text.
fn named_links(text: &str) -> Vec<(&str, &str)> {
    let pair = |rest: &'_ str| -> Option<usize> { rest.find(')') };
    let mut found = Vec::new();
    for (at, _) in text.match_indices("](") {
        let before = &text[..at];
        if let (Some(start), Some(end)) = (before.rfind('['), pair(&text[at + 2..])) {
            found.push((&before[start + 1..], &text[at + 2..at + 2 + end]));
        }
    }
    found
}

#[test]
fn what_the_readme_does_not_promise_names_tests_that_exist() {
    let readme = read(&root().join("README.md")).unwrap();
    let (_, section) = readme.split_once("## What is not promised").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let tests: Vec<_> =
        named_links(section).into_iter().filter(|(_, target)| target.ends_with(".rs")).collect();
    assert!(tests.len() > 5, "the links are not found");
    for (name, file) in tests {
        let function = name.split_whitespace().collect::<Vec<_>>().join("_");
        let test = compare::evidence::look_up(root(), file, &function);
        assert!(test.is_ok(), "README.md: {}", test.unwrap_err());
    }
}

/// The list of decisions.
const DECISIONS: &str = "docs/adr/README.md";

#[test]
fn the_readme_and_the_list_of_decisions_lead_to_every_page() {
    let targets = ["README.md", DECISIONS].map(|page| links(&root().join(page))).concat();
    let reached: BTreeSet<_> = targets.iter().map(|path| path.canonicalize().unwrap()).collect();
    for document in documents() {
        let document = document.canonicalize().unwrap();
        let start = document == root().join("README.md").canonicalize().unwrap();
        assert!(start || reached.contains(&document), "no link to {}", document.display());
    }
}

#[test]
fn decisions_are_listed_by_their_titles_and_fit_on_a_page() {
    /// Lines of a page, and columns of a line. A longer line takes as many lines as it needs.
    const PAGE: (usize, usize) = (60, 120);
    let list = read(&root().join(DECISIONS)).unwrap();
    for path in documents().iter().filter(|path| path.parent().unwrap().ends_with("adr")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == "README.md" {
            continue;
        }
        let text = read(path).unwrap();
        let title = text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
        let number = name.split('-').next().and_then(|digits| digits.parse::<u32>().ok());
        let number = number.unwrap_or_else(|| panic!("{name} begins with no number"));
        assert!(title.starts_with(&format!("{number}. ")), "the title of {name} is {title:?}");
        let row = format!("- [{title}]({name})");
        assert!(list.lines().any(|line| line == row), "{DECISIONS} lacks {row}");
        let lines: usize = text.lines().map(|line| line.chars().count().div_ceil(PAGE.1).max(1)).sum();
        assert!(lines <= PAGE.0, "{name} has {lines} lines");
    }
}

#[test]
fn examples_are_run_and_shown() {
    let shown = ["README.md", "docs/rust.md"].map(|page| read(&root().join(page)).unwrap()).concat();
    // Those in folders are no examples of cargo's: tests of their own run them.
    let folder = root().join("examples");
    let files = compat::files(&folder).unwrap().into_iter().filter(|file| file.parent() == Some(&folder));
    for example in files {
        let name = example.file_stem().unwrap().to_str().unwrap();
        assert!(xtask::suite::EXAMPLES.contains(&name), "`cargo xtask test` does not run {name}");
        assert!(shown.contains(&format!("examples/{name}.rs")), "no page shows {name}");
    }
}
