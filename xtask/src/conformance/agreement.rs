//! Which libraries print the same: ours, AMD's that ran, and those whose output somebody recorded.

use std::fmt::Write;

use super::{
    align::{Row, rows},
    compare::visible,
    configuration::Configuration,
    recorded::Recording,
    verdict::Verdict,
};

/// What one library printed, by program in the order of the verdicts.
struct Column<'a> {
    name: String,
    printed: Vec<Option<&'a str>>,
}

/// The libraries that ran, then those that are recorded.
fn columns<'a>(verdicts: &'a [Verdict], recordings: &'a [Recording]) -> Vec<Column<'a>> {
    let mut configurations: Vec<_> =
        verdicts.iter().flat_map(|verdict| verdict.printed.keys().copied()).collect();
    configurations.sort_unstable();
    configurations.dedup();
    let ran = configurations.into_iter().map(|configuration| Column {
        name: configuration.to_string(),
        printed: verdicts
            .iter()
            .map(|verdict| verdict.printed.get(&configuration).map(String::as_str))
            .collect(),
    });
    let recorded = recordings.iter().map(|recording| Column {
        name: recording.name.clone(),
        printed: verdicts.iter().map(|verdict| recording.of(&verdict.program.name)).collect(),
    });
    ran.chain(recorded).collect()
}

/// The lines that two libraries print alike, and all that either prints, of the programs that completed on both.
fn count(one: &Column<'_>, other: &Column<'_>) -> (usize, usize) {
    let both = one.printed.iter().zip(&other.printed).filter_map(|(one, other)| Some(((*one)?, (*other)?)));
    both.fold((0, 0), |(alike, all), (one, other)| {
        let rows = rows(one, other, None);
        (alike + rows.iter().filter(|row| is_alike(row)).count(), all + rows.len())
    })
}

fn is_alike(row: &Row<'_>) -> bool {
    row.ours.map(|(_, text)| text) == row.older.map(|(_, text)| text)
}

/// A table of how many lines each two libraries print alike, of how many.
pub fn matrix(verdicts: &[Verdict], recordings: &[Recording]) -> String {
    let columns = columns(verdicts, recordings);
    let names = columns.iter().map(|column| format!(" {} |", column.name)).collect::<String>();
    let mut text = format!("| |{names}\n|---|{}\n", "---|".repeat(columns.len()));
    for one in &columns {
        // Writing to a string cannot fail, here and below.
        let _ = write!(text, "| {} |", one.name);
        for other in &columns {
            let (alike, all) = count(one, other);
            let _ = match std::ptr::eq(one, other) {
                true => write!(text, " {all} |"),
                false => write!(text, " {alike} of {all} |"),
            };
        }
        text.push('\n');
    }
    text
}

/// How much of a recording is as this library prints it, in words.
pub fn cell(verdict: &Verdict, recording: &Recording) -> String {
    let ours = verdict.printed.get(&Configuration::Ours);
    match (ours, recording.of(&verdict.program.name)) {
        (_, None) => "not recorded".into(),
        (None, Some(_)) => "not compared".into(),
        (Some(ours), Some(theirs)) => {
            let rows = rows(ours, theirs, None);
            match rows.iter().filter(|row| !is_alike(row)).count() {
                0 => "equal".into(),
                differing => format!("{differing} of {} differ", rows.len()),
            }
        }
    }
}

/// Each line that a recorded library does not print as the first column does, with all that print otherwise.
pub fn differences(verdicts: &[Verdict], recordings: &[Recording]) -> String {
    let columns = columns(verdicts, recordings);
    let mut text = String::new();
    let Some((first, others)) = columns.split_first() else { return text };
    for (place, verdict) in verdicts.iter().enumerate() {
        let Some(ours) = first.printed[place] else { continue };
        for column in others {
            let Some(theirs) = column.printed[place] else { continue };
            for row in rows(ours, theirs, None).iter().filter(|row| !is_alike(row)) {
                let shown = |line: Option<(usize, &str)>| {
                    line.map_or_else(|| "nothing".into(), |(_, text)| visible(text))
                };
                let _ = writeln!(
                    text,
                    "{}\t{}\t{}\t{}",
                    verdict.program.name,
                    column.name,
                    shown(row.older),
                    shown(row.ours)
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::programs::{Language, Program};

    fn verdict(name: &str, printed: &[(Configuration, &str)]) -> Verdict {
        Verdict {
            program: Program {
                name: name.into(),
                path: format!("{name}.cpp").into(),
                language: Language::Cpp,
                topic: "Topic.".into(),
                devices: 1,
                shows_card: false,
                markers: Vec::new(),
            },
            amd: None,
            newer: None,
            sides: Vec::new(),
            failures: Vec::new(),
            printed: printed.iter().map(|&(configuration, text)| (configuration, text.to_owned())).collect(),
        }
    }

    #[test]
    fn libraries_agree_on_the_lines_of_programs_that_completed_on_both() {
        use Configuration::{Amd, Ours};
        let verdicts = [
            verdict("a", &[(Ours, "x: 1\ny: 2\n"), (Amd, "x: 1\ny: 3\nz: 4\n")]),
            verdict("b", &[(Ours, "x: 1\n")]),
        ];
        let recording =
            Recording::parse("card".into(), "program\ttext\na\tx: 1\na\ty: 2\nb\tx: 2\n").unwrap();
        let text = matrix(&verdicts, std::slice::from_ref(&recording));
        assert_eq!(
            text,
            "| | ours, emulated | AMD's | card |\n\
             |---|---|---|---|\n\
             | ours, emulated | 3 | 1 of 3 | 2 of 3 |\n\
             | AMD's | 1 of 3 | 3 | 1 of 3 |\n\
             | card | 2 of 3 | 1 of 3 | 3 |\n"
        );
        assert_eq!(cell(&verdicts[0], &recording), "equal");
        assert_eq!(cell(&verdicts[1], &recording), "1 of 1 differ");
        assert_eq!(
            differences(&verdicts, &[recording]),
            "a\tAMD's\ty: 3\ty: 2\na\tAMD's\tz: 4\tnothing\nb\tcard\tx: 2\tx: 1\n"
        );
    }
}
