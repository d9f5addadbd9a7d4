//! Compares what a program printed on two libraries, line by line.

use std::fmt;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{marker::Marker, run::Configuration};

/// One line of each side, or of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// Number and text on our side.
    pub ours: Option<(usize, &'a str)>,
    /// Number and text on AMD's side.
    pub amd: Option<(usize, &'a str)>,
}

impl Pair<'_> {
    fn is_equal(&self) -> bool {
        matches!((self.ours, self.amd), (Some((_, ours)), Some((_, amd))) if ours == amd)
    }

    fn starts_with(&self, prefix: &str) -> bool {
        [self.ours, self.amd].into_iter().flatten().any(|(_, line)| line.starts_with(prefix))
    }
}

impl fmt::Display for Pair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |line: Option<(usize, &str)>| match line {
            Some((number, text)) => format!("{number:>4} {}", visible(text)),
            None => "     (no such line)".to_owned(),
        };
        write!(f, "    AMD's {}\n    ours  {}", side(self.amd), side(self.ours))
    }
}

/// Text whose control characters are spelled out.
fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { visible.extend(c.escape_default()) } else { visible.push(c) }
    }
    visible
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Pairs of equal lines.
    pub equal: usize,
    /// How many differences each marker announces, in the order of the markers.
    pub intended: Vec<usize>,
    /// Differences that no marker announces, as text.
    pub unexpected: Vec<String>,
}

impl Comparison {
    /// Lines, where a line that only one side has counts as well.
    pub fn lines(&self) -> usize {
        self.equal + self.on_purpose() + self.unexpected.len()
    }

    /// Lines that differ as announced.
    pub fn on_purpose(&self) -> usize {
        self.intended.iter().sum()
    }
}

/// Compares what `configuration` printed with what AMD's library did.
///
/// A difference belongs to the marker with the longest prefix that its line, on either side, starts with.
pub fn compare(ours: &str, amd: &str, markers: &[Marker], configuration: Configuration) -> Comparison {
    let mut comparison = Comparison { intended: vec![0; markers.len()], ..Comparison::default() };
    for pair in pairs(ours, amd) {
        if pair.is_equal() {
            comparison.equal += 1;
            continue;
        }
        let announced = markers
            .iter()
            .enumerate()
            .filter(|(_, marker)| marker.concerns(configuration) && pair.starts_with(&marker.prefix))
            .max_by_key(|(_, marker)| marker.prefix.len());
        match announced {
            Some((index, _)) => comparison.intended[index] += 1,
            None => comparison.unexpected.push(pair.to_string()),
        }
    }
    comparison
}

/// Pairs lines by position if both sides print the same labels; otherwise so that most lines find their like.
fn pairs<'a>(ours: &'a str, amd: &'a str) -> Vec<Pair<'a>> {
    let [ours, amd] =
        [ours, amd].map(|text| text.lines().enumerate().map(|(n, line)| (n + 1, line)).collect());
    let (ours, amd): (Vec<_>, Vec<_>) = (ours, amd);
    let both = |(ours, amd)| Pair { ours: Some(ours), amd: Some(amd) };
    let labels = |lines: &[(usize, &'a str)]| lines.iter().map(|(_, line)| label(line)).collect::<Vec<_>>();
    if labels(&ours) == labels(&amd) {
        return ours.into_iter().zip(amd).map(both).collect();
    }
    // Whole lines first: they are the surest sign of what belongs together. Between them, labels.
    let texts = |lines: &[(usize, &'a str)]| lines.iter().map(|(_, line)| *line).collect::<Vec<_>>();
    let mut pairs = Vec::new();
    for block in align(&texts(&ours), &texts(&amd)) {
        let (ours, amd) = (&ours[block.new_range()], &amd[block.old_range()]);
        for part in align(&labels(ours), &labels(amd)) {
            let (ours, amd) = (&ours[part.new_range()], &amd[part.old_range()]);
            if matches!(part, DiffOp::Equal { .. }) {
                pairs.extend(ours.iter().copied().zip(amd.iter().copied()).map(both));
            } else {
                pairs.extend(amd.iter().map(|&line| Pair { ours: None, amd: Some(line) }));
                pairs.extend(ours.iter().map(|&line| Pair { ours: Some(line), amd: None }));
            }
        }
    }
    pairs
}

fn align(ours: &[&str], amd: &[&str]) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Myers, amd, ours)
}

/// What stands before the value.
fn label(line: &str) -> &str {
    line.split_once(": ").map_or(line, |(label, _)| label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::marker;

    fn compared(ours: &str, amd: &str, source: &str) -> Comparison {
        compare(ours, amd, &marker::parse(source).unwrap(), Configuration::Ours)
    }

    #[test]
    fn equal_lines_are_counted() {
        let comparison = compared("a: 1\nb: 2\n", "a: 1\nb: 2\n", "");
        assert_eq!(comparison, Comparison { equal: 2, ..Comparison::default() });
        assert_eq!(comparison.lines(), 2);
    }

    #[test]
    fn a_difference_counts_for_the_marker_with_the_longest_prefix() {
        let source = "// DIFFERS a: r; s\n// DIFFERS a b: r; s\n// DIFFERS(rocr) a b c: r; s\n";
        let comparison = compared("a b c: 1\na: 2\nx: 0\n", "a b c: 2\na: 1\nx: 0\n", source);
        assert_eq!(comparison.intended, [1, 1, 0]);
        assert_eq!((comparison.equal, comparison.on_purpose()), (1, 2));
        assert!(comparison.unexpected.is_empty());
    }

    #[test]
    fn a_difference_without_a_marker_shows_both_lines_with_their_numbers() {
        let comparison = compared("a: 1\nb: 2\n", "a: 1\nb: 3\n", "// DIFFERS c: r; s\n");
        assert_eq!(comparison.unexpected, ["    AMD's    2 b: 3\n    ours     2 b: 2"]);
        assert_eq!(comparison.intended, [0]);
    }

    #[test]
    fn a_missing_line_makes_no_other_line_differ() {
        let comparison = compared("a: 1\nc: 4\nd: 4\n", "a: 1\nb: 2\nc: 3\nd: 4\n", "");
        let expected = [
            "    AMD's    2 b: 2\n    ours       (no such line)",
            "    AMD's    3 c: 3\n    ours     2 c: 4",
        ];
        assert_eq!(comparison.unexpected, expected);
        assert_eq!((comparison.equal, comparison.lines()), (2, 4));
    }

    #[test]
    fn a_line_that_only_one_side_has_can_be_announced() {
        let comparison = compared("a: 1\nb: 2\n", "a: 1\n", "// DIFFERS b: r; s\n");
        assert_eq!((comparison.equal, comparison.intended), (1, vec![1]));
    }

    #[test]
    fn control_characters_in_a_difference_are_spelled_out() {
        let comparison = compared("a: \0\u{1b}[x\n", "a: é\n", "");
        assert_eq!(comparison.unexpected, ["    AMD's    1 a: é\n    ours     1 a: \\u{0}\\u{1b}[x"]);
    }

    #[test]
    fn lines_with_one_label_are_paired_by_position() {
        let comparison = compared("node: 1\nnode: 2\nnode: 3\n", "node: 2\nnode: 3\nnode: 4\n", "");
        assert_eq!((comparison.equal, comparison.unexpected.len()), (0, 3));
    }
}
