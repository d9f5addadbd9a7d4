//! `docs/conformance.md`, and what the terminal shows.

use std::fmt::{self, Write};

use super::{
    compare::{Comparison, Difference, visible},
    configuration::Configuration,
    programs::Program,
    run::End,
};

/// Our configurations, in the order of the report.
const OURS: [Configuration; 2] = [Configuration::Ours, Configuration::Rocr];

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
    /// How many lines the newer release printed; `None` if that is not recorded.
    pub newer: Option<usize>,
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

    /// What differs in both of our configurations, as `expected` files hold it; `None` where nothing was compared.
    pub fn differing(&self) -> [Option<Vec<String>>; 2] {
        OURS.map(|configuration| Some(self.side(configuration)?.comparison.as_ref()?.lines_of_ours()))
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
    let counts = [
        (comparison.as_newer, "as 6.3 only"),
        (comparison.as_older(), "as 5.2.3 only"),
        (comparison.as_neither(), "as neither"),
    ];
    // Without a recording there is one release to agree with.
    let word = |word| if comparison.is_recorded { word } else { "not as 5.2.3" };
    let counts: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|&(count, text)| format!("{count} {}", word(text)))
        .collect();
    let mut words = if counts.is_empty() { "equal".into() } else { counts.join(", ") };
    if side.end != End::Completed {
        words = format!("{words}, {}", side.end);
    }
    words
}

/// The lines of a program that differ from the newer release, with the reason if there is one; nothing if it is not
/// recorded.
pub fn newer(verdict: &Verdict) -> String {
    let mut text = String::new();
    let comparisons =
        verdict.sides.iter().filter_map(|side| Some((side.configuration, side.comparison.as_ref()?)));
    for (configuration, comparison) in comparisons.filter(|(_, comparison)| comparison.is_recorded) {
        for difference in &comparison.differences {
            let why = match difference.marker.map(|marker| &verdict.program.markers[marker]) {
                Some(marker) => format!("{}; {}", marker.reason, marker.reference),
                None => "no marker".into(),
            };
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(text, "{}, {configuration}: {why}\n{difference}", verdict.program.file_name());
        }
    }
    text
}

/// The report of a run of all programs.
pub fn render(verdicts: &[Verdict]) -> String {
    let mut text = String::from(
        "# Conformance\n\n\
         Written by `cargo xtask conformance`; do not edit. Each program in `tests/conformance` is compiled once; the\n\
         same binary runs on our library with the device that it emulates, on our library with AMD's ROCr, and on\n\
         AMD's libamdhip64 5.2.3 with AMD's ROCr, both on the thunk. What it prints is compared line by line, and with\n\
         what AMD's runtime of October 2024 (6.3) printed for it, which is\n\
         [recorded](../tests/conformance/recorded/README.md). What we print where that differs is\n\
         [expected](../tests/conformance/expected) to be just that, and the reason stands in the source\n\
         ([ADR 16](adr/0016-differential-conformance.md)).\n\n",
    );
    summary(&mut text, verdicts);
    let mut group = None;
    for verdict in verdicts {
        if group != Some(verdict.program.group()) {
            group = Some(verdict.program.group());
            let members = verdicts.iter().filter(|other| other.program.group() == verdict.program.group());
            let _ =
                writeln!(text, "\n## {}: {}\n", verdict.program.group(), counted(members.count(), "program"));
            text.push_str(
                "| program | observes | lines of 5.2.3 | lines of 6.3 | ours, emulated | ours on ROCr |\n\
                 |---|---|---|---|---|---|\n",
            );
        }
        let name = verdict.program.file_name();
        let link = format!("[{name}](../tests/conformance/{name})");
        let older = match verdict.amd {
            Some((End::Completed, lines)) => lines.to_string(),
            Some((end, _)) => format!("AMD's {end}"),
            None => "not run".into(),
        };
        let newer = verdict.newer.map_or_else(|| "not recorded".into(), |lines| lines.to_string());
        let cells =
            OURS.map(|configuration| verdict.side(configuration).map_or_else(|| "not run".into(), cell));
        let topic = escaped(&verdict.program.topic);
        let _ = writeln!(text, "| {link} | {topic} | {older} | {newer} | {} | {} |", cells[0], cells[1]);
    }
    differences(&mut text, verdicts);
    text
}

fn summary(text: &mut String, verdicts: &[Verdict]) {
    let failed = verdicts.iter().filter(|verdict| !verdict.passed()).count();
    let _ = write!(text, "{}", counted(verdicts.len(), "program"));
    let _ = match failed {
        0 => writeln!(text, ", all of which print what is expected.\n"),
        failed => writeln!(text, ", {failed} of which do not print what is expected.\n"),
    };
    let compared = |configuration, is_recorded| {
        let sides = verdicts.iter().filter_map(move |verdict| verdict.side(configuration));
        let comparisons = sides.filter_map(|side| side.comparison.as_ref());
        comparisons.filter(move |comparison| comparison.is_recorded == is_recorded)
    };
    text.push_str(
        "| recorded programs | lines | as both of AMD's | as 6.3 only | as 5.2.3 only | as neither | not as 6.3 |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for configuration in OURS {
        let sum = |count: fn(&Comparison) -> usize| compared(configuration, true).map(count).sum::<usize>();
        let _ = writeln!(
            text,
            "| {configuration} | {} | {} | {} | {} | {} | {} |",
            sum(Comparison::lines),
            sum(|comparison| comparison.equal),
            sum(|comparison| comparison.as_newer),
            sum(Comparison::as_older),
            sum(Comparison::as_neither),
            sum(|comparison| comparison.differences.len()),
        );
    }
    text.push_str(
        "\n| programs that are not recorded | lines | as 5.2.3 | not as 5.2.3 |\n|---|---|---|---|\n",
    );
    for configuration in OURS {
        let sum = |count: fn(&Comparison) -> usize| compared(configuration, false).map(count).sum::<usize>();
        let [lines, equal, differing] = [
            sum(Comparison::lines),
            sum(|comparison| comparison.equal),
            sum(|comparison| comparison.differences.len()),
        ];
        let _ = writeln!(text, "| {configuration} | {lines} | {equal} | {differing} |");
    }
}

/// The lines that differ from the newer release, or from the one that ran, each with AMD's and the reason.
fn differences(text: &mut String, verdicts: &[Verdict]) {
    text.push_str("\n## Differences\n\n");
    let mut rows = String::new();
    for verdict in verdicts {
        let [emulated, rocr] = OURS.map(|configuration| verdict.side(configuration)?.comparison.as_ref());
        let mut row = |difference: &Difference, only: &str, is_recorded: bool| {
            let side =
                |text: &Option<String>| text.as_ref().map_or(String::new(), |text| escaped(&visible(text)));
            let newer = if is_recorded { side(&difference.newer) } else { "not recorded".into() };
            let why = match difference.marker.map(|marker| &verdict.program.markers[marker]) {
                Some(marker) => format!("{} ({})", escaped(&marker.reason), escaped(&marker.reference)),
                None => String::new(),
            };
            let (older, ours) = (side(&difference.older), side(&difference.ours));
            let _ = writeln!(rows, "| {} | {older} | {newer} | {ours}{only} | {why} |", verdict.program.name);
        };
        let differences =
            |side: Option<&Comparison>| side.map_or(Vec::new(), |side| side.differences.clone());
        let is_recorded = verdict.newer.is_some();
        let (emulated, rocr) = (differences(emulated), differences(rocr));
        for difference in &emulated {
            row(difference, if rocr.contains(difference) { "" } else { " (emulated)" }, is_recorded);
        }
        for difference in rocr.iter().filter(|difference| !emulated.contains(difference)) {
            row(difference, " (on ROCr)", is_recorded);
        }
    }
    if rows.is_empty() {
        text.push_str("None.\n");
        return;
    }
    text.push_str("A cell is empty where a library prints no such line.\n\n");
    text.push_str("| program | 5.2.3 | 6.3 | ours | why |\n|---|---|---|---|---|\n");
    text.push_str(&rows);
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
