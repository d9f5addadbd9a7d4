//! What `cargo xtask test` did not do, and why: it says so at its end.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{Error, Result, compat, packages, read, root, target_dir};

/// Starts the line with which a test says that it does nothing.
const MARK: &str = "skipped: ";
/// Where nextest puts what tests printed (`.config/nextest.toml`), below the build folder.
const OUTPUT: &str = "nextest/default/junit.xml";

/// What was not done, each with the reason.
#[derive(Debug, Default)]
pub struct Skips(BTreeSet<(String, String)>);

impl Skips {
    /// Notes that something is not done.
    pub fn add(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.0.insert((what.into(), why.into()));
    }

    /// Takes in what the tests of the last run of nextest said.
    pub fn add_from_tests(&mut self) {
        // No file: no test was chosen.
        self.0.extend(said(&fs::read_to_string(target_dir().join(OUTPUT)).unwrap_or_default()));
    }

    /// Forgets what an earlier run of nextest said.
    pub fn start_tests() {
        // It need not exist.
        let _ = fs::remove_file(target_dir().join(OUTPUT));
    }

    /// Says which tests are left to hand, and what was not done.
    ///
    /// # Errors
    /// As [`Skips::say`]; [`Error::File`].
    pub fn report(&self) -> Result {
        eprintln!("run by hand:");
        for (test, why) in by_hand(root())? {
            eprintln!("  {test}: {why}");
        }
        self.say()
    }

    /// Says what was not done.
    ///
    /// # Errors
    /// [`Error::Skipped`] if something was not done and `AQLIPSE_REQUIRE_PACKAGES` is set.
    pub fn say(&self) -> Result {
        if self.0.is_empty() {
            eprintln!("nothing else was skipped");
            return Ok(());
        }
        eprintln!("skipped:");
        for (what, why) in &self.0 {
            eprintln!("  {what}: {why}");
        }
        if packages::required() { Err(Error::Skipped(self.0.len())) } else { Ok(()) }
    }
}

/// The tests that say in nextest's report that they do nothing, each with the reason.
fn said(report: &str) -> Vec<(String, String)> {
    let mut test = "";
    let mut said = Vec::new();
    for line in report.lines() {
        if let Some((_, rest)) = line.split_once("<testcase name=\"") {
            test = rest.split('"').next().unwrap_or_default();
        }
        // A line of output may stand behind the tag that opens it.
        if let Some((before, why)) = line.split_once(MARK)
            && (before.is_empty() || before.ends_with('>'))
        {
            let why = why.split("</system-").next().unwrap_or_default();
            said.push((test.to_owned(), why.to_owned()));
        }
    }
    said
}

/// Tests that `#[ignore]` leaves to hand, by file and name, with their reasons.
fn by_hand(root: &Path) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for folder in ["capi", "cli", "emulator", "hsa", "loader", "rtc", "src", "tests", "thunk", "xtask/tests"]
    {
        for path in compat::files(&root.join(folder))? {
            let file = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            found.extend(
                ignored(&read(&path)?).into_iter().map(|(test, why)| (format!("{file}: {test}"), why)),
            );
        }
    }
    Ok(found)
}

fn ignored(text: &str) -> Vec<(String, String)> {
    let mut lines = text.lines().map(str::trim);
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let Some(reason) = line.strip_prefix("#[ignore") else { continue };
        let reason = reason.trim_matches([' ', '=', '"', ']']).to_owned();
        let name = lines.by_ref().find_map(|line| line.strip_prefix("fn ")).unwrap_or_default();
        found.push((name.split('(').next().unwrap_or_default().to_owned(), reason));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tests_say_is_found_in_the_report_with_their_names() {
        let report = "\
<testcase name=\"a::loud\" classname=\"c\">
    <system-out>running 1 test
it never says skipped: here
</system-out>
<testcase name=\"a::quiet\" classname=\"c\" time=\"1\">
    <system-err>skipped: clang is missing</system-err>
</testcase>
<testcase name=\"a::other\">
skipped: no device
";
        let said = said(report);
        let expected = [("a::quiet", "clang is missing"), ("a::other", "no device")];
        assert_eq!(said, expected.map(|(test, why)| (test.to_owned(), why.to_owned())));
    }

    #[test]
    fn tests_that_are_left_to_hand_have_their_reasons() {
        let text =
            "#[test]\n#[ignore = \"an hour\"]\n// Why.\nfn a_long_rule() {}\n#[test]\nfn a_rule() {}\n";
        assert_eq!(ignored(text), [("a_long_rule".to_owned(), "an hour".to_owned())]);
        assert!(by_hand(root()).unwrap().iter().all(|(test, why)| !test.ends_with(": ") && !why.is_empty()));
    }
}
