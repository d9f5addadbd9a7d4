//! docs/compare.md.

use std::fmt::Write;

use super::{
    evidence::{Evidence, Test},
    table::{Cell, Feature, System, Table, Verdict},
};

const HEAD: &str = "\
# What graph systems can do

Written by `cargo xtask compare` from `compare.txt`; do not edit.

The first two columns are this library: as the `libamdhip64.so` that HIP programs load, and as the Rust library. Each of
their cells names the tests that prove it; a \"no\" names the test of the refusal, or names that are nowhere. A test checks
that. A test is named after the rule that it proves, and stands here with spaces for underscores: `cargo nextest run a_long_chain_lives_its_whole_life` runs \"a long chain lives its whole
life\". Programs ending in `.cpp` or `.hip` print the same on AMD's library ([conformance](conformance.md)), or say why not.
What the other systems have is what their public documents say, to which each cell is a link; \"?\" is what they do not
say, which need not be no. Theirs run on hardware every day; this library runs on an emulated GPU
([what is not promised](../README.md#what-is-not-promised)).
";

/// Writes the page. Every test that the table names must be in `evidence`.
pub fn render(table: &Table, evidence: &Evidence) -> String {
    let mut text = String::from(HEAD);
    ahead(&mut text, table);
    for theme in &table.themes {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {}\n", theme.name);
        text.push_str(&theme.text);
        text.push_str("\n| |");
        System::ALL.iter().for_each(|system| text.extend([" ", system.title(), " |"]));
        text.push_str("\n|---|");
        System::ALL.iter().for_each(|_| text.push_str("---|"));
        text.push('\n');
        for feature in &theme.features {
            let _ = write!(text, "| **{}** |", feature.name);
            for (system, cell) in System::ALL.into_iter().zip(&feature.cells) {
                let cell = if system.is_ours() { ours(cell, evidence) } else { theirs(cell, table) };
                text.extend([" ", &cell, " |"]);
            }
            text.push('\n');
        }
    }
    text.push_str("\n## Documents\n");
    for document in &table.documents {
        let _ = writeln!(text, "- [{}]({})", document.title, document.address);
    }
    text
}

/// What others have and we have less of.
fn ahead(text: &mut String, table: &Table) {
    let mut list = String::new();
    for feature in table.features() {
        let better = better(feature);
        if let Some(reason) = feature.cells.iter().find(|cell| cell.verdict < Verdict::Yes)
            && !better.is_empty()
        {
            let names: Vec<_> = better.iter().map(|system| system.title()).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(list, "- **{}** ({}): {}", feature.name, names.join(", "), reason.words);
        }
    }
    if !list.is_empty() {
        text.push_str("\n## Where others are ahead\n");
        text.push_str(&list);
    }
}

/// The systems that have more of a feature than either of our interfaces.
fn better(feature: &Feature) -> Vec<System> {
    let (ours, theirs) = feature.cells.split_at(2);
    let most = ours.iter().map(|cell| cell.verdict).max();
    let theirs = System::ALL[2..].iter().zip(theirs);
    theirs
        .filter(|(_, cell)| Some(cell.verdict) > most && cell.verdict > Verdict::No)
        .map(|(system, _)| *system)
        .collect()
}

fn ours(cell: &Cell, evidence: &Evidence) -> String {
    let mut text = verdict(cell);
    for named @ (file, function) in &cell.sources {
        let name = match evidence.get(named) {
            Some(Test::Function) => function.replace('_', " "),
            Some(Test::ByHand(reason)) => format!("{} (by hand: {reason})", function.replace('_', " ")),
            Some(Test::Doctests) => format!("doctests of {file}"),
            Some(Test::Example) => format!("example {}", stem(file)),
            Some(Test::Absent(part)) => format!("no name with {part}"),
            Some(Test::Program) | None => base(file).to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "<br>[{name}](../{file})");
    }
    text
}

fn theirs(cell: &Cell, table: &Table) -> String {
    let mut text = verdict(cell);
    if let Some((name, section)) = cell.sources.first()
        && let Some(document) = table.document(name)
    {
        // The verdict itself is the link: what it rests on shows when one points at it.
        let (word, rest) =
            text.split_once(':').map_or((text.as_str(), ""), |(word, _)| (word, &text[word.len()..]));
        let title = if section.is_empty() {
            document.title.clone()
        } else {
            format!("{}: {section}", document.title)
        };
        text = format!("[{word}]({} \"{}\"){rest}", document.address, title.replace('"', "'"));
    }
    for (name, section) in cell.sources.iter().skip(1) {
        if let Some(document) = table.document(name) {
            let label = if section.is_empty() { &document.title } else { section };
            let _ = write!(text, " ([{label}]({}))", document.address);
        }
    }
    text
}

fn verdict(cell: &Cell) -> String {
    let word = match cell.verdict {
        Verdict::Yes => "yes",
        Verdict::Partly => "partly",
        Verdict::No => "no",
        Verdict::Unknown => "?",
    };
    if cell.words.is_empty() { word.into() } else { format!("{word}: {}", cell.words) }
}

fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn stem(file: &str) -> &str {
    let base = base(file);
    base.split_once('.').map_or(base, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::{super::table, *};

    const TABLE: &str = "\
document doc: https://example.org/doc | The document
theme Updates
What may change.
feature Whole graph
  C yes <- tests/a.rs a_rule_holds; tests/conformance/x_y.cpp
  Rust partly: kernels <- examples/e.rs; tests/a.rs a_long_rule
  HIP yes <- doc Section
  CUDA partly: some <- doc; doc Other
  Julia ?
  Kokkos no <- doc
  SYCL no: never <- doc
feature Device launch
  C no: nobody asked <- tests/a.rs a_rule_holds
  Rust no: nobody asked <- src without launch
  HIP ?
  CUDA yes <- doc
  Julia ?
  Kokkos ?
  SYCL ?
";

    #[test]
    fn cells_link_to_tests_and_documents() {
        let table = table::parse(TABLE).unwrap();
        let test = |file: &str, function: &str, test| ((file.to_owned(), function.to_owned()), test);
        let evidence = Evidence::from([
            test("tests/a.rs", "a_rule_holds", Test::Function),
            test("tests/a.rs", "a_long_rule", Test::ByHand("an hour".into())),
            test("tests/conformance/x_y.cpp", "", Test::Program),
            test("examples/e.rs", "", Test::Example),
            test("src", "without launch", Test::Absent("launch".into())),
        ]);
        let text = render(&table, &evidence);
        for part in [
            "\n## Updates\nWhat may change.\n",
            "| yes<br>[a rule holds](../tests/a.rs)<br>[x_y.cpp](../tests/conformance/x_y.cpp) |",
            "| partly: kernels<br>[example e](../examples/e.rs)<br>[a long rule (by hand: an hour)](../tests/a.rs) |",
            "| [yes](https://example.org/doc \"The document: Section\") |",
            "| [partly](https://example.org/doc \"The document\"): some ([Other](https://example.org/doc)) |",
            "| no: nobody asked<br>[no name with launch](../src) |",
            "| ? |",
            "## Where others are ahead\n- **Device launch** (CUDA 13): nobody asked\n",
            "## Documents\n- [The document](https://example.org/doc)\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
