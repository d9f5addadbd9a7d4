//! `cargo xtask compare`: docs/compare.md, which says what this library and others can do.
//!
//! The page is made of `docs/compare.txt`, whose form [`table`] describes. What it says of this library names tests,
//! and a test that does not exist, or that nothing runs, is an error; what it says of others names documents.
//!
//! | module | what it does |
//! |---|---|
//! | [`table`] | reads `docs/compare.txt` |
//! | [`evidence`] | finds the tests that it names |
//! | [`page`] | writes the page |

pub mod evidence;
pub mod page;
pub mod table;

use crate::{Error, Result, pages, read, root};

const SOURCE: &str = "docs/compare.txt";
const PAGE: &str = "docs/compare.md";

/// Writes docs/compare.md.
///
/// # Errors
/// [`Error::File`], and [`Error::Comparison`] that says where the table makes no sense or names no test.
pub fn write() -> Result {
    pages::write(&[(PAGE, render()?)])
}

/// Compares docs/compare.md with what [`write()`] would write.
///
/// # Errors
/// [`Error::Stale`]; otherwise as [`write()`].
pub fn check() -> Result {
    pages::check("compare", &[(PAGE, render()?)])
}

fn render() -> Result<String> {
    let refuse = |(line, why): (usize, String)| Error::Comparison(format!("{SOURCE}:{line}: {why}"));
    let table = table::parse(&read(&root().join(SOURCE))?).map_err(refuse)?;
    let evidence = evidence::find(&table, root()).map_err(refuse)?;
    Ok(page::render(&table, &evidence))
}
