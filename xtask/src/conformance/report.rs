//! `docs/conformance.md`, and what the terminal shows.

use std::fmt::{self, Write};

use super::{
    compare::Comparison,
    programs::Program,
    run::{Configuration, End},
};

/// What a program did in one of our configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Which one.
    pub configuration: Configuration,
    /// How it ended.
    pub end: End,
    /// What it printed beside what AMD's library made it print; `None` if either did not complete.
    pub comparison: Option<Comparison>,
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The program.
    pub program: Program,
    /// How it ended on AMD's library, and how many lines it printed; `None` if it did not run there.
    pub amd: Option<(End, usize)>,
    /// Our configurations.
    pub sides: Vec<Side>,
    /// What is wrong, for a person to read; nothing if all is well.
    pub failures: Vec<String>,
}

impl Verdict {
    /// Whether nothing is wrong.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    fn side(&self, configuration: Configuration) -> Option<&Side> {
        self.sides.iter().find(|side| side.configuration == configuration)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.passed() { "ok  " } else { "FAIL" };
        write!(f, "{word} {}", self.program.file_name())?;
        if let Some((_, lines)) = self.amd {
            write!(f, ": {}", counted(lines, "line"))?;
            for side in &self.sides {
                write!(f, "; {}: {}", side.configuration, cell(side))?;
            }
        }
        self.failures.iter().try_for_each(|failure| write!(f, "\n{failure}"))
    }
}

/// A side's result in a few words.
fn cell(side: &Side) -> String {
    let Some(comparison) = &side.comparison else {
        return match side.end {
            End::Completed => "not compared".into(),
            end => end.to_string(),
        };
    };
    let mut words = match (comparison.on_purpose(), comparison.unexpected.len()) {
        (0, 0) => "equal".into(),
        (0, wrong) => format!("{wrong} differ"),
        (intended, 0) => format!("{intended} on purpose"),
        (intended, wrong) => format!("{wrong} differ, {intended} on purpose"),
    };
    if side.end != End::Completed {
        words = format!("{words}, {}", side.end);
    }
    words
}

/// The report of a run of all programs.
pub fn render(verdicts: &[Verdict]) -> String {
    let mut text = String::from(
        "# Conformance\n\n\
         Written by `cargo xtask conformance`; do not edit. Each program in `tests/conformance` is compiled once; the\n\
         same binary runs on our library with the device that it emulates, on our library with AMD's ROCr, and on\n\
         AMD's libamdhip64 5.2.3 with AMD's ROCr, both on the thunk. What it prints must be the same line by line.\n\
         A line that differs on purpose is announced in the source\n\
         ([ADR 16](adr/0016-differential-conformance.md)).\n\n",
    );
    summary(&mut text, verdicts);
    let mut group = None;
    for verdict in verdicts {
        if group != Some(verdict.program.group()) {
            group = Some(verdict.program.group());
            let members = verdicts.iter().filter(|other| other.program.group() == verdict.program.group());
            // Writing to a string cannot fail, here and below.
            let _ =
                writeln!(text, "\n## {}: {}\n", verdict.program.group(), counted(members.count(), "program"));
            text.push_str(
                "| program | observes | lines | ours, emulated | ours on ROCr |\n|---|---|---|---|---|\n",
            );
        }
        let name = verdict.program.file_name();
        let link = format!("[{name}](../tests/conformance/{name})");
        let lines = match verdict.amd {
            Some((End::Completed, lines)) => lines.to_string(),
            Some((end, _)) => format!("AMD's {end}"),
            None => "not run".into(),
        };
        let cells = [Configuration::Ours, Configuration::Rocr]
            .map(|configuration| verdict.side(configuration).map_or_else(|| "not run".into(), cell));
        let topic = escaped(&verdict.program.topic);
        let _ = writeln!(text, "| {link} | {topic} | {lines} | {} | {} |", cells[0], cells[1]);
    }
    differences(&mut text, verdicts);
    text
}

fn summary(text: &mut String, verdicts: &[Verdict]) {
    let failed = verdicts.iter().filter(|verdict| !verdict.passed()).count();
    let _ = write!(text, "{}", counted(verdicts.len(), "program"));
    let _ = match failed {
        0 => writeln!(text, ", all of which agree.\n"),
        failed => writeln!(text, ", {failed} of which do not agree.\n"),
    };
    text.push_str(
        "| | lines compared | equal | differing on purpose | differing otherwise |\n|---|---|---|---|---|\n",
    );
    for configuration in [Configuration::Ours, Configuration::Rocr] {
        let comparisons = || {
            let sides = verdicts.iter().filter_map(|verdict| verdict.side(configuration));
            sides.filter_map(|side| side.comparison.as_ref())
        };
        let _ = writeln!(
            text,
            "| {configuration} | {} | {} | {} | {} |",
            comparisons().map(Comparison::lines).sum::<usize>(),
            comparisons().map(|comparison| comparison.equal).sum::<usize>(),
            comparisons().map(Comparison::on_purpose).sum::<usize>(),
            comparisons().map(|comparison| comparison.unexpected.len()).sum::<usize>(),
        );
    }
}

fn differences(text: &mut String, verdicts: &[Verdict]) {
    text.push_str("\n## Differences on purpose\n\n");
    let rows = verdicts.iter().flat_map(|verdict| {
        verdict.program.markers.iter().enumerate().map(move |(index, marker)| (verdict, index, marker))
    });
    let mut empty = true;
    for (verdict, index, marker) in rows {
        if empty {
            text.push_str("| program | lines that start with | how many | why | where that is written |\n");
            text.push_str("|---|---|---|---|---|\n");
        }
        empty = false;
        let counts = verdict.sides.iter().filter_map(|side| side.comparison.as_ref()?.intended.get(index));
        let only = marker.configuration.map_or(String::new(), |only| format!(" ({only})"));
        let _ = writeln!(
            text,
            "| {} | {} | {}{only} | {} | {} |",
            verdict.program.name,
            escaped(&marker.prefix),
            counts.max().copied().unwrap_or_default(),
            escaped(&marker.reason),
            escaped(&marker.reference),
        );
    }
    if empty {
        text.push_str("None.\n");
    }
}

/// A number of things, in words.
pub fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Text that does not end a table's cell, nor reads as HTML.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<")
}

#[cfg(test)]
mod tests;
