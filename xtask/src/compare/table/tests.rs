use super::*;

const DOCUMENT: &str = "document doc: https://example.org | The document\n";
const ROW: &str = "theme Updates\nfeature Whole graph\n  C yes <- tests/a.rs a_rule\n  Rust no: later <- src without later\n  HIP ?\n  \
                   CUDA yes <- doc Some section\n  Julia ?\n  Kokkos ?\n";

/// A table whose last cell is `cell`.
fn ending_in(cell: &str) -> Result<Table, (usize, String)> {
    parse(&format!("{DOCUMENT}{ROW}{cell}\n"))
}

#[test]
fn a_row_has_a_cell_for_each_system_in_order() {
    let table = ending_in("  SYCL partly: kernels <- doc; doc Other").unwrap();
    let feature = table.features().next().unwrap();
    assert_eq!((feature.name.as_str(), feature.cells.len()), ("Whole graph", System::ALL.len()));
    assert_eq!(feature.cells[0].sources, [("tests/a.rs".to_owned(), "a_rule".to_owned())]);
    assert_eq!((feature.cells[1].verdict, feature.cells[1].words.as_str()), (Verdict::No, "later"));
    assert_eq!(feature.cells[6].sources[1], ("doc".to_owned(), "Other".to_owned()));

    assert!(ending_in("").unwrap_err().1.ends_with("has no cell for SYCL"));
    assert!(ending_in("feature Next").unwrap_err().1.ends_with("has no cell for SYCL"));
    assert_eq!(ending_in("  Kokkos ?").unwrap_err(), (10, "expected SYCL, not \"Kokkos\"".into()));
    assert!(ending_in("  SYCL ?\n  SYCL ?").unwrap_err().1.starts_with("expected no further cell"));
}

#[test]
fn what_others_have_is_what_documents_say() {
    for (cell, why) in [
        ("  SYCL yes", "no document says so"),
        ("  SYCL no", "no document says so; `?` is for what none says"),
        ("  SYCL partly <- doc", "`partly` without words that say which part"),
        ("  SYCL ? <- doc", "a document for what no document says"),
        ("  SYCL perhaps <- doc", "\"perhaps\" is neither yes, partly, no nor ?"),
        ("  SYCL yes <- book", "\"book\" is no document"),
    ] {
        assert_eq!(ending_in(cell).unwrap_err(), (10, why.to_owned()), "{cell}");
    }
    let unused = format!("document other: https://example.org | Another\n{DOCUMENT}{ROW}  SYCL ?\n");
    assert_eq!(parse(&unused).unwrap_err().1, "no cell refers to \"other\"");
}

#[test]
fn what_we_have_is_what_tests_prove() {
    let with = |cell: &str| parse(&format!("theme T\nfeature F\n  C {cell}\n")).unwrap_err();
    assert_eq!(with("yes"), (3, "no test proves it".into()));
    assert_eq!(with("partly: kernels"), (3, "no test proves it".into()));
    assert_eq!(with("no"), (3, "`no` without a reason".into()));
    assert_eq!(with("no: later"), (3, "`no` without a test of the refusal, or a place `without` it".into()));
    assert_eq!(with("?"), (3, "we know what we have".into()));
}

#[test]
fn what_is_nothing_is_refused_by_line() {
    for (text, why) in [
        ("  C yes <- a", "a cell without a feature"),
        ("feature F", "a feature without a theme"),
        ("words", "expected a document, a theme, a feature or a cell"),
        ("document doc", "expected `document NAME: ADDRESS | TITLE`"),
        ("document doc: there", "expected `document NAME: ADDRESS | TITLE`"),
    ] {
        assert_eq!(parse(&format!("# A comment.\n\n{text}\n")).unwrap_err(), (3, why.to_owned()), "{text}");
    }
}
