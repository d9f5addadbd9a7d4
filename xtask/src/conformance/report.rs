//! The pages that a run of all programs writes, and what the terminal shows.

use std::fmt::Write;

use super::{
    agreement,
    compare::{Comparison, Difference, visible},
    configuration::Configuration,
    programs::Program,
    recorded::Recording,
    run::End,
    verdict::{OURS, Verdict, cell, counted},
};

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

/// A page: its path below the root, and its text for a run of all programs beside all recordings.
pub type Page = (&'static str, fn(&[Verdict], &[Recording]) -> String);

/// The pages of the report.
pub const PAGES: [Page; 2] = [("docs/conformance.md", summary), ("docs/conformance-table.md", table)];

/// The page with the counts.
pub fn summary(verdicts: &[Verdict], recordings: &[Recording]) -> String {
    let mut text = String::from(
        "# Conformance\n\n\
         Written by `cargo xtask conformance`; do not edit. Each program in `tests/conformance` is compiled once. The\n\
         same binary runs on this library with the emulated device, on this library with AMD's ROCr, and on AMD's\n\
         libamdhip64 5.2.3 with AMD's ROCr. Both runs on ROCr use the thunk. The command compares the output line by\n\
         line, also with the [recorded](../tests/conformance/recorded/README.md) output of AMD's runtime of October 2024\n\
         (6.3). A line that differs from 6.3 needs a reason in the program's source and an\n\
         [expected](../tests/conformance/expected) text; for a program without a recording the same holds for 5.2.3.\n\
         [ADR 16](adr/0016-conformance-programs-run-on-both-libraries.md) has the rules. [The\n\
         table](conformance-table.md) has each program and each line that differs.\n\n",
    );
    let failed = verdicts.iter().filter(|verdict| !verdict.passed()).count();
    let _ = write!(text, "{}", counted(verdicts.len(), "program"));
    let _ = match failed {
        0 => writeln!(text, ", all of which print what is expected.\n"),
        failed => writeln!(text, ", {failed} of which do not print what is expected.\n"),
    };
    releases(&mut text, verdicts);
    text.push_str(
        "\n## Who agrees with whom\n\n\
         How many lines each two libraries print alike, of all that either prints, of the programs that completed on both.\n\
         A name that is no library's is that of a file in [recorded](../tests/conformance/recorded).\n\n",
    );
    text.push_str(&agreement::matrix(verdicts, recordings));
    reasons(&mut text, verdicts);
    topics(&mut text, verdicts);
    text
}

/// The comparisons of one configuration, with their programs.
fn comparisons(
    verdicts: &[Verdict],
    configuration: Configuration,
) -> impl Iterator<Item = (&Program, &Comparison)> {
    let sides = verdicts.iter().filter_map(move |verdict| Some((verdict, verdict.side(configuration)?)));
    sides.filter_map(|(verdict, side)| Some((&verdict.program, side.comparison.as_ref()?)))
}

/// How many lines are those of which release.
fn releases(text: &mut String, verdicts: &[Verdict]) {
    let compared = |configuration, is_recorded| {
        let all = comparisons(verdicts, configuration).map(|(_, comparison)| comparison);
        all.filter(move |comparison| comparison.is_recorded == is_recorded)
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

/// What decides a line that differs on purpose, by the reference of its marker.
const AUTHORITIES: [&str; 4] = [
    "CUDA's documentation, which HIP follows",
    "HIP's documentation, headers or change log",
    "a limit or a decision of this project",
    "another source, or another line that differs",
];

/// The place in [`AUTHORITIES`] of what a reference names.
fn authority(reference: &str) -> usize {
    let names = |words: &[&str]| words.iter().any(|word| reference.contains(word));
    match () {
        () if names(&["CUDA", "cuda", "(cu"]) => 0,
        () if names(&["README", "ADR", "docs/adr"]) => 2,
        () if names(&["HIP", "hip"]) => 1,
        () => 3,
    }
}

/// How many lines differ on purpose, by what decides them.
fn reasons(text: &mut String, verdicts: &[Verdict]) {
    let counts = OURS.map(|configuration| {
        let mut counts = [0; AUTHORITIES.len()];
        for (program, comparison) in comparisons(verdicts, configuration) {
            for difference in &comparison.differences {
                let marker = difference.marker.map(|marker| &program.markers[marker]);
                // What 5.2.3 prints too, or what fails, may have no marker.
                counts[marker.map_or(AUTHORITIES.len() - 1, |marker| authority(&marker.reference))] += 1;
            }
        }
        counts
    });
    text.push_str(
        "\n## Lines that differ on purpose\n\n\
         Lines that are not as 6.3, or not as 5.2.3 where there is no recording, by what decides them:\n\n\
         | decided by | ours, emulated | ours on ROCr |\n|---|---|---|\n",
    );
    for (place, name) in AUTHORITIES.iter().enumerate() {
        let _ = writeln!(text, "| {name} | {} | {} |", counts[0][place], counts[1][place]);
    }
}

/// How many lines differ, by topic.
fn topics(text: &mut String, verdicts: &[Verdict]) {
    text.push_str(
        "\n## By topic\n\n\
         The topic is the first word of a program's name. The counts are those of this library on the emulated device.\n\n\
         | topic | programs | lines | differ |\n|---|---|---|---|\n",
    );
    for members in verdicts.chunk_by(|one, other| one.program.group() == other.program.group()) {
        let sum = |count: fn(&Comparison) -> usize| {
            comparisons(members, Configuration::Ours).map(|(_, comparison)| count(comparison)).sum::<usize>()
        };
        let (lines, differing) = (sum(Comparison::lines), sum(|comparison| comparison.differences.len()));
        let _ =
            writeln!(text, "| {} | {} | {lines} | {differing} |", members[0].program.group(), members.len());
    }
}

/// The page with each program and each line that differs.
pub fn table(verdicts: &[Verdict], recordings: &[Recording]) -> String {
    let mut text = String::from(
        "# Conformance: programs and differences\n\n\
         Written by `cargo xtask conformance`; do not edit. [The summary](conformance.md) says what is compared.\n",
    );
    for members in verdicts.chunk_by(|one, other| one.program.group() == other.program.group()) {
        let count = counted(members.len(), "program");
        let _ = writeln!(text, "\n## {}: {count}\n", members[0].program.group());
        text.push_str(
            "| program | observes | lines of 5.2.3 | lines of 6.3 | ours, emulated | ours on ROCr |",
        );
        let others: Vec<_> = recordings.iter().filter(|recording| !recording.is_followed()).collect();
        text.extend(others.iter().map(|recording| format!(" {} |", recording.name)));
        text.extend(["\n|---|---|---|---|---|---|", &"---|".repeat(others.len()), "\n"]);
        for verdict in members {
            row(&mut text, verdict);
            text.extend(others.iter().map(|recording| format!(" {} |", agreement::cell(verdict, recording))));
            text.push('\n');
        }
    }
    differences(&mut text, verdicts);
    text
}

/// The row of a program, up to the recordings that decide nothing.
fn row(text: &mut String, verdict: &Verdict) {
    let name = verdict.program.file_name();
    let link = format!("[{name}](../tests/conformance/{name})");
    let older = match verdict.amd {
        Some((End::Completed, lines)) => lines.to_string(),
        Some((end, _)) => format!("AMD's {end}"),
        None => "not run".into(),
    };
    let newer = verdict.newer.map_or_else(|| "not recorded".into(), |lines| lines.to_string());
    let cells = OURS.map(|configuration| verdict.side(configuration).map_or_else(|| "not run".into(), cell));
    let topic = escaped(&verdict.program.topic);
    let _ = write!(text, "| {link} | {topic} | {older} | {newer} | {} | {} |", cells[0], cells[1]);
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

/// Text that does not end a table's cell, nor reads as HTML.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<")
}

#[cfg(test)]
mod tests;
