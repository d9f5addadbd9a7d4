//! Pairs the lines of two outputs by their labels, and of three by way of ours.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Number and text of a line.
pub type Line<'a> = (usize, &'a str);

/// A line of ours, and what each release of AMD's prints in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// On our side.
    pub ours: Option<Line<'a>>,
    /// On the side of the release that ran.
    pub older: Option<Line<'a>>,
    /// On the side of the newer release, which is recorded.
    pub newer: Option<Line<'a>>,
}

/// Lines of two sides that belong together, ours second.
type Pair<'a> = (Option<Line<'a>>, Option<Line<'a>>);

/// Pairs our lines with those of both releases; without a recording the newer side is empty.
pub fn rows<'a>(ours: &'a str, older: &'a str, newer: Option<&'a str>) -> Vec<Row<'a>> {
    let [ours, older] = [ours, older].map(numbered);
    let newer = newer.map(numbered);
    let older = Gaps::new(pairs(&older, &ours), ours.len());
    let newer = newer.map(|newer| Gaps::new(pairs(&newer, &ours), ours.len()));
    let mut rows = Vec::new();
    for (place, missing) in older.missing.iter().enumerate() {
        let newer_missing = newer.as_ref().map_or(&[][..], |newer| &newer.missing[place]);
        // What both releases print and we do not is one line.
        rows.extend(pairs(missing, newer_missing).into_iter().map(|(older, newer)| Row {
            ours: None,
            older,
            newer,
        }));
        if let Some(&line) = ours.get(place) {
            let newer = newer.as_ref().and_then(|newer| newer.like[place]);
            rows.push(Row { ours: Some(line), older: older.like[place], newer });
        }
    }
    rows
}

/// What one release prints, sorted by where it stands among our lines.
struct Gaps<'a> {
    /// Beside each of our lines.
    like: Vec<Option<Line<'a>>>,
    /// Before each of our lines, and behind the last one, without one of ours.
    missing: Vec<Vec<Line<'a>>>,
}

impl<'a> Gaps<'a> {
    fn new(pairs: Vec<Pair<'a>>, ours: usize) -> Self {
        let mut gaps = Self { like: Vec::with_capacity(ours), missing: vec![Vec::new()] };
        for (theirs, ours) in pairs {
            if ours.is_some() {
                gaps.like.push(theirs);
                gaps.missing.push(Vec::new());
            } else if let Some(gap) = gaps.missing.last_mut() {
                gap.extend(theirs);
            }
        }
        gaps
    }
}

fn numbered(text: &str) -> Vec<Line<'_>> {
    text.lines().enumerate().map(|(n, line)| (n + 1, line)).collect()
}

/// Pairs lines by position if both sides print the same labels; otherwise so that most lines find their like.
fn pairs<'a>(theirs: &[Line<'a>], ours: &[Line<'a>]) -> Vec<Pair<'a>> {
    let both = |(&theirs, &ours): (&Line<'a>, &Line<'a>)| (Some(theirs), Some(ours));
    let labels = |lines: &[Line<'a>]| lines.iter().map(|(_, line)| label(line)).collect::<Vec<_>>();
    if labels(theirs) == labels(ours) {
        return theirs.iter().zip(ours).map(both).collect();
    }
    // Whole lines first: they are the surest sign of what belongs together. Between them, labels.
    let texts = |lines: &[Line<'a>]| lines.iter().map(|(_, line)| *line).collect::<Vec<_>>();
    let mut pairs = Vec::new();
    for block in align(&texts(theirs), &texts(ours)) {
        let (theirs, ours) = (&theirs[block.old_range()], &ours[block.new_range()]);
        for part in align(&labels(theirs), &labels(ours)) {
            let (theirs, ours) = (&theirs[part.old_range()], &ours[part.new_range()]);
            if matches!(part, DiffOp::Equal { .. }) {
                pairs.extend(theirs.iter().zip(ours).map(both));
            } else {
                pairs.extend(theirs.iter().map(|&line| (Some(line), None)));
                pairs.extend(ours.iter().map(|&line| (None, Some(line))));
            }
        }
    }
    pairs
}

fn align(theirs: &[&str], ours: &[&str]) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Myers, theirs, ours)
}

/// What stands before the value.
fn label(line: &str) -> &str {
    line.split_once(": ").map_or(line, |(label, _)| label)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as `ours|older|newer`, with a dash for a line that a side does not have.
    fn shown(ours: &str, older: &str, newer: Option<&str>) -> Vec<String> {
        let text = |line: Option<Line<'_>>| line.map_or("-", |(_, text)| text).to_owned();
        let shown = |row: &Row<'_>| [row.ours, row.older, row.newer].map(text).join("|");
        rows(ours, older, newer).iter().map(shown).collect()
    }

    #[test]
    fn lines_with_one_label_are_paired_by_position() {
        let rows = shown("n: 1\nn: 2\n", "n: 2\nn: 3\n", Some("n: 1\nn: 4\n"));
        assert_eq!(rows, ["n: 1|n: 2|n: 1", "n: 2|n: 3|n: 4"]);
    }

    #[test]
    fn a_missing_line_moves_no_other_line() {
        let older = "a: 1\nb: 2\nc: 3\nd: 4\n";
        assert_eq!(
            shown("a: 1\nc: 4\nd: 4\n", older, None),
            ["a: 1|a: 1|-", "-|b: 2|-", "c: 4|c: 3|-", "d: 4|d: 4|-"]
        );
    }

    #[test]
    fn what_both_releases_print_and_we_do_not_is_one_row() {
        let rows = shown("a: 1\nz: 1\n", "a: 1\nb: 2\nc: 3\nz: 1\n", Some("a: 1\nb: 5\nz: 1\n"));
        assert_eq!(rows, ["a: 1|a: 1|a: 1", "-|b: 2|b: 5", "-|c: 3|-", "z: 1|z: 1|z: 1"]);
    }

    #[test]
    fn what_only_one_release_prints_has_no_like() {
        let rows = shown("a: 1\nb: 1\n", "a: 1\n", Some("a: 1\nb: 1\nc: 1\n"));
        assert_eq!(rows, ["a: 1|a: 1|a: 1", "b: 1|-|b: 1", "-|-|c: 1"]);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let rows = rows("b: 1\n", "a: 1\nb: 1\n", Some("b: 2\n"));
        let expected = Row { ours: Some((1, "b: 1")), older: Some((2, "b: 1")), newer: Some((1, "b: 2")) };
        assert_eq!(rows[1], expected);
    }
}
