//! Committed pages that a command writes, and that it compares with what it would write now.

use std::fs;

use similar::TextDiff;

use crate::{Error, Result, file_error, root};

/// A page: its file, relative to the workspace, and its text.
pub type Page = (&'static str, String);

/// Writes the pages.
///
/// # Errors
/// [`Error::File`].
pub fn write(pages: &[Page]) -> Result {
    pages.iter().try_for_each(|(file, text)| {
        let path = root().join(file);
        fs::write(&path, text).map_err(file_error(&path))
    })
}

/// Compares the committed pages with these, which `cargo xtask COMMAND` writes, and prints the lines that differ.
///
/// # Errors
/// [`Error::Stale`].
pub fn check(command: &'static str, pages: &[Page]) -> Result {
    let mut files = Vec::new();
    for (file, text) in pages {
        // What cannot be read is not what it should be.
        let committed = fs::read_to_string(root().join(file)).unwrap_or_default();
        if committed != *text {
            print!("{}", difference(file, &committed, text));
            files.push((*file).into());
        }
    }
    if files.is_empty() { Ok(()) } else { Err(Error::Stale { command, files }) }
}

/// The lines of a page that differ, in the form of `diff -u0`.
fn difference(file: &str, committed: &str, now: &str) -> String {
    let lines = TextDiff::from_lines(committed, now);
    lines
        .unified_diff()
        .context_radius(0)
        .header(&format!("{file}, committed"), &format!("{file}, now"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_differs_shows_its_lines() {
        assert_eq!(
            difference("a.md", "same\nold\n", "same\nnew\n"),
            "--- a.md, committed\n+++ a.md, now\n@@ -2 +2 @@\n-old\n+new\n"
        );
    }

    #[test]
    fn pages_are_stale_by_their_names() {
        let pages = [("LICENSE-MIT", fs::read_to_string(root().join("LICENSE-MIT")).unwrap())];
        check("nothing", &pages).unwrap();
        let error =
            check("nothing", &[("LICENSE-MIT", String::new()), ("no such page", "text".into())]).unwrap_err();
        assert!(
            matches!(error, Error::Stale { command: "nothing", files } if files == ["LICENSE-MIT", "no such page"])
        );
    }
}
