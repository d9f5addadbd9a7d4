//! Compares what a program printed on our library with what both releases of AMD's did, line by line.

use std::fmt::{self, Write};

use super::{
    align::{Line, Row, rows},
    configuration::Configuration,
    marker::Marker,
};

/// Which of AMD's releases print what we print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Both; of a program without a recording, the one that ran.
    Both,
    /// The newer one only: the project follows it.
    Newer,
    /// The older one only.
    Older,
    /// Neither.
    Neither,
}

/// A line that differs from the newer release, or from the one that ran if there is no recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Ours; `None` if we print no such line. The other two likewise.
    pub ours: Option<String>,
    /// AMD's 5.2.3.
    pub older: Option<String>,
    /// The newer release's.
    pub newer: Option<String>,
    /// Whether AMD's 5.2.3 prints ours.
    pub is_older: bool,
    /// The marker that announces it, by its place among the program's.
    pub marker: Option<usize>,
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Whether the newer release is recorded.
    pub is_recorded: bool,
    /// Lines that both releases print as we do.
    pub equal: usize,
    /// Lines that only the newer release prints as we do.
    pub as_newer: usize,
    /// What differs from the newer release, in the order of the lines.
    pub differences: Vec<Difference>,
    /// How many lines each marker fits that differ from either release, in the order of the markers.
    pub announced: Vec<usize>,
    /// Differences that no marker announces and that need one, as text.
    pub unexpected: Vec<String>,
}

impl Comparison {
    /// Lines, where a line that only one side has counts as well.
    pub fn lines(&self) -> usize {
        self.equal + self.as_newer + self.differences.len()
    }

    /// Lines that only AMD's 5.2.3 prints as we do.
    pub fn as_older(&self) -> usize {
        self.differences.iter().filter(|difference| difference.is_older).count()
    }

    /// Lines that no release prints as we do.
    pub fn as_neither(&self) -> usize {
        self.differences.len() - self.as_older()
    }

    /// The differing lines as `expected` files hold them: `+` and our line, or `-` and AMD's line that we do not print.
    pub fn lines_of_ours(&self) -> Vec<String> {
        let shown = |difference: &Difference| match &difference.ours {
            Some(ours) => format!("+ {}", visible(ours)),
            None => {
                let theirs = difference.newer.as_ref().or(difference.older.as_ref());
                format!("- {}", visible(theirs.map_or("", String::as_str)))
            }
        };
        self.differences.iter().map(shown).collect()
    }
}

impl Row<'_> {
    fn agreement(&self, is_recorded: bool) -> Agreement {
        let text = |line: Option<Line<'_>>| line.map(|(_, text)| text.to_owned());
        let is_ours = |line: Option<Line<'_>>| text(line) == text(self.ours);
        match (is_ours(self.older), is_ours(self.newer)) {
            (true, _) if !is_recorded => Agreement::Both,
            (false, _) if !is_recorded => Agreement::Neither,
            (true, true) => Agreement::Both,
            (false, true) => Agreement::Newer,
            (true, false) => Agreement::Older,
            (false, false) => Agreement::Neither,
        }
    }

    fn starts_with(&self, prefix: &str) -> bool {
        [self.ours, self.older, self.newer].into_iter().flatten().any(|(_, line)| line.starts_with(prefix))
    }

    /// The sides, one below the other.
    fn show(&self, is_recorded: bool) -> String {
        let side = |line: Option<Line<'_>>| match line {
            Some((number, text)) => format!("{number:>4} {}", visible(text)),
            None => "     (no such line)".to_owned(),
        };
        let mut text = format!("    AMD's 5.2.3 {}", side(self.older));
        if is_recorded {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n    AMD's 6.3   {}", side(self.newer));
        }
        let _ = write!(text, "\n    ours        {}", side(self.ours));
        text
    }
}

/// Text whose control characters are spelled out.
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { visible.extend(c.escape_default()) } else { visible.push(c) }
    }
    visible
}

/// Compares what `configuration` printed with what AMD's library did, and with the recording of the newer one.
///
/// A difference belongs to the marker with the longest prefix that its line, on any side, starts with.
pub fn compare(
    ours: &str,
    older: &str,
    newer: Option<&str>,
    markers: &[Marker],
    configuration: Configuration,
) -> Comparison {
    let is_recorded = newer.is_some();
    let mut comparison =
        Comparison { is_recorded, announced: vec![0; markers.len()], ..Comparison::default() };
    for row in rows(ours, older, newer) {
        let agreement = row.agreement(is_recorded);
        if agreement == Agreement::Both {
            comparison.equal += 1;
            continue;
        }
        let fitting = markers.iter().enumerate();
        let fitting =
            fitting.filter(|(_, marker)| marker.concerns(configuration) && row.starts_with(&marker.prefix));
        let marker = fitting.max_by_key(|(_, marker)| marker.prefix.len()).map(|(index, _)| index);
        if let Some(marker) = marker {
            comparison.announced[marker] += 1;
        }
        if agreement == Agreement::Newer {
            comparison.as_newer += 1;
            continue;
        }
        let is_older = agreement == Agreement::Older;
        if marker.is_none() {
            comparison.unexpected.push(row.show(is_recorded));
        }
        let text = |line: Option<Line<'_>>| line.map(|(_, text)| text.to_owned());
        let [ours, older, newer] = [row.ours, row.older, row.newer].map(text);
        comparison.differences.push(Difference { ours, older, newer, is_older, marker });
    }
    comparison
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side =
            |text: &Option<String>| text.as_ref().map_or("(no such line)".into(), |text| visible(text));
        write!(f, "    AMD's 5.2.3  {}\n    AMD's 6.3    {}\n", side(&self.older), side(&self.newer))?;
        write!(f, "    ours         {}", side(&self.ours))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::marker;

    fn compared(ours: &str, older: &str, newer: Option<&str>, source: &str) -> Comparison {
        compare(ours, older, newer, &marker::parse(source).unwrap(), Configuration::Ours)
    }

    #[test]
    fn lines_are_counted_by_the_releases_that_print_them() {
        let comparison = compared(
            "a: 1\nb: 1\nc: 1\nd: 1\n",
            "a: 1\nb: 2\nc: 1\nd: 2\n",
            Some("a: 1\nb: 1\nc: 2\nd: 3\n"),
            "",
        );
        assert_eq!((comparison.equal, comparison.as_newer), (1, 1));
        assert_eq!((comparison.as_older(), comparison.as_neither(), comparison.lines()), (1, 1, 4));
        assert_eq!(comparison.lines_of_ours(), ["+ c: 1", "+ d: 1"]);
    }

    #[test]
    fn without_a_recording_the_release_that_runs_decides() {
        let comparison = compared("a: 1\nb: 2\n", "a: 1\nb: 3\n", None, "// DIFFERS c: r; s\n");
        assert_eq!(comparison.unexpected, ["    AMD's 5.2.3    2 b: 3\n    ours           2 b: 2"]);
        assert_eq!((comparison.equal, comparison.as_neither()), (1, 1));
        assert_eq!(comparison.announced, [0]);
    }

    #[test]
    fn a_difference_counts_for_the_marker_with_the_longest_prefix() {
        let source = "// DIFFERS a: r; s\n// DIFFERS a b: r; s\n// DIFFERS(rocr) a b c: r; s\n";
        let comparison = compared("a b c: 1\na: 2\nx: 0\n", "a b c: 2\na: 1\nx: 0\n", None, source);
        assert_eq!(comparison.announced, [1, 1, 0]);
        assert_eq!(
            comparison.differences.iter().map(|difference| difference.marker).collect::<Vec<_>>(),
            [Some(1), Some(0)]
        );
        assert!(comparison.unexpected.is_empty());
    }

    #[test]
    fn what_the_newer_release_prints_needs_no_marker_and_may_have_one() {
        let comparison =
            compared("a: 1\nb: 1\n", "a: 2\nb: 2\n", Some("a: 1\nb: 1\n"), "// DIFFERS b: r; s\n");
        assert_eq!((comparison.as_newer, comparison.announced.clone()), (2, vec![1]));
        assert!(comparison.unexpected.is_empty() && comparison.differences.is_empty(), "{comparison:?}");
    }

    #[test]
    fn what_only_the_older_release_prints_is_unexpected_until_a_marker_says_why() {
        let (ours, older, newer) = ("a: 1\n", "a: 1\n", Some("a: 2\n"));
        let comparison = compared(ours, older, newer, "");
        let shown = "    AMD's 5.2.3    1 a: 1\n    AMD's 6.3      1 a: 2\n    ours           1 a: 1";
        assert_eq!(comparison.unexpected, [shown]);
        assert!(compared(ours, older, newer, "// DIFFERS a: r; s\n").unexpected.is_empty());
    }

    #[test]
    fn a_line_that_we_do_not_print_is_a_difference_by_amds_text() {
        let comparison = compared("a: 1\n", "a: 1\nb: 1\n", Some("a: 1\nb: 2\n"), "// DIFFERS b: r; s\n");
        assert_eq!(comparison.lines_of_ours(), ["- b: 2"]);
        let comparison = compared("a: 1\nb: 2\n", "a: 1\n", None, "// DIFFERS b: r; s\n");
        assert_eq!((comparison.lines_of_ours(), comparison.announced), (vec!["+ b: 2".into()], vec![1]));
    }

    #[test]
    fn control_characters_in_a_difference_are_spelled_out() {
        let comparison = compared("a: \0\u{1b}[x\n", "a: é\n", None, "");
        let shown = "    AMD's 5.2.3    1 a: é\n    ours           1 a: \\u{0}\\u{1b}[x";
        assert_eq!(comparison.unexpected, [shown]);
        assert_eq!(comparison.lines_of_ours(), ["+ a: \\u{0}\\u{1b}[x"]);
    }
}
