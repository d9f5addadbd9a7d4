//! `cargo xtask conformance`: the programs in `tests/conformance` print the same on our library as on AMD's.
//!
//! | module | what it does |
//! |---|---|
//! | [`programs`] | finds the programs, and what their headers say |
//! | [`marker`] | differences that a program announces |
//! | [`build`] | compiles each once |
//! | [`run`] | runs one in one configuration |
//! | [`probe`] | makes sure that a configuration is what its name says |
//! | [`recorded`] | what libraries printed that do not run here |
//! | [`verdict`] | what became of a program |
//! | [`agreement`] | which libraries print the same |
//! | [`align`] | which lines of three outputs belong together |
//! | [`compare`] | what was printed, line by line |
//! | [`expected`] | what we print where we differ |
//! | [`report`] | `docs/conformance.md` and `docs/conformance-table.md` |

pub mod agreement;
pub mod align;
pub mod build;
pub mod compare;
pub mod configuration;
pub mod expected;
pub mod marker;
pub mod probe;
pub mod programs;
pub mod recorded;
pub mod report;
pub mod run;
pub mod verdict;

use std::{collections::BTreeMap, env, num::NonZero, path::PathBuf};

use clap::Args;
pub use configuration::Configuration;
use programs::Program;
use recorded::Recording;
use run::{End, Libraries, Run};
use verdict::{Side, Verdict};

use crate::{
    Error, Result, dist,
    link::Profile,
    packages, pages,
    parallel::{self, in_parallel},
    root,
};

/// Lines of a failing program's standard error that are shown.
const TAIL: usize = 20;
/// The packages without which nothing can be compared.
const PACKAGES: [&str; 7] = [
    "clang-15",
    "clang-tools-15",
    "lld-15",
    "libamdhip64-5",
    "libamdhip64-dev",
    "libhsa-runtime64-1",
    "rocm-device-libs",
];

/// What to run, and how.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct Options {
    /// Parts of the names of the wanted programs; none: all
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Compare the report with the committed one instead of writing it
    #[arg(long)]
    pub check: bool,
    /// Write what our library prints where it differs as what is expected of it
    #[arg(long)]
    pub accept: bool,
    /// Show every line that differs from the newer release
    #[arg(long)]
    pub newer: bool,
    /// With how many seeds programs run on our library with strict caches, too
    #[arg(long = "strict", value_name = "SEEDS", default_value_t = 0)]
    pub seeds: u64,
    /// Traits of hardware that the emulated devices have, as in `AQLIPSE_EMULATE_HARDWARE`
    #[arg(long, value_name = "TRAITS")]
    pub hardware: Option<String>,
    /// Compare with files of the kit, too: who agrees with whom, and each line that is not ours
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub golden: Vec<PathBuf>,
    /// How many programs run at a time
    #[arg(long, value_name = "N", default_value_t = parallel::processors())]
    pub jobs: NonZero<usize>,
    /// The configurations
    #[arg(long = "only", value_enum, value_delimiter = ',', default_values_t = Configuration::ALL)]
    pub configurations: Vec<Configuration>,
    /// Where our library writes down what programs call.
    #[arg(skip)]
    pub calls: Option<PathBuf>,
    /// Compile our libraries without optimisation, if `AQLIPSE_DIST` does not say where they are
    #[arg(long)]
    pub debug: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filters: Vec::new(),
            check: false,
            accept: false,
            newer: false,
            seeds: 0,
            hardware: None,
            golden: Vec::new(),
            jobs: parallel::processors(),
            configurations: Configuration::ALL.to_vec(),
            calls: None,
            debug: false,
        }
    }
}

impl Options {
    /// Refuses options that contradict each other.
    ///
    /// # Errors
    /// [`Error::Usage`] says which.
    fn check(&self) -> Result {
        let refuse = |why: &str| Err(Error::Usage(why.into()));
        if self.check && !self.is_whole() {
            return refuse("--check compares a report of all programs in all configurations");
        }
        if self.seeds > 0 && !self.has(Configuration::Ours) {
            return refuse("--strict compares with what ours prints");
        }
        if self.accept && !(self.has_all() && self.hardware.is_none()) {
            return refuse(
                "--accept writes what is expected of all configurations, on devices without --hardware",
            );
        }
        Ok(())
    }

    fn has(&self, configuration: Configuration) -> bool {
        self.configurations.contains(&configuration)
    }

    /// The configurations, each once.
    fn chosen(&self) -> impl Iterator<Item = Configuration> {
        Configuration::ALL.into_iter().filter(|&configuration| self.has(configuration))
    }

    fn has_all(&self) -> bool {
        Configuration::ALL.into_iter().all(|configuration| self.has(configuration))
    }

    /// Whether the report of this run is the report.
    fn is_whole(&self) -> bool {
        self.filters.is_empty() && self.has_all() && self.hardware.is_none()
    }
}

/// Runs what the options say, and writes or compares the report if that was everything.
///
/// # Errors
/// [`Error::Differs`] if a program prints something else on our library than on AMD's, or does not complete;
/// [`Error::Stale`] with `--check`; [`Error::Conformance`] says what is missing.
pub fn command(options: &Options) -> Result {
    options.check()?;
    packages::install()?;
    let programs = programs::find(&programs::directory())?;
    let golden: Vec<_> =
        options.golden.iter().map(|file| Recording::read(file, &programs)).collect::<Result<_>>()?;
    let recordings = Recording::all(&programs::directory(), &programs)?;
    let verdicts = run_all(programs, recordings.iter().find(|recording| recording.is_followed()), options)?;
    if options.newer {
        verdicts.iter().for_each(|verdict| print!("{}", report::newer(verdict)));
    }
    if !golden.is_empty() {
        for recording in &golden {
            println!("{}:", recording.name);
            recording.origin.iter().for_each(|(key, value)| println!("  {key}: {value}"));
        }
        let all: Vec<_> = recordings.iter().chain(&golden).cloned().collect();
        print!("\n{}\n", agreement::differences(&verdicts, &golden));
        println!("Lines that two libraries print alike:\n\n{}", agreement::matrix(&verdicts, &all));
    }
    let written = report::PAGES.map(|(page, text)| (page, text(&verdicts, &recordings)));
    if options.is_whole() && !options.check {
        pages::write(&written)?;
    }
    let failed = verdicts.iter().filter(|verdict| !verdict.passed()).count();
    if failed > 0 {
        return Err(Error::Differs { failed, programs: verdicts.len() });
    }
    if options.check {
        pages::check("conformance", &written)?;
    }
    println!("{} agree", verdict::counted(verdicts.len(), "program"));
    Ok(())
}

/// The folder with our libraries: `AQLIPSE_DIST`, or built now.
///
/// # Errors
/// As [`dist::build`].
pub fn dist(profile: Profile) -> Result<PathBuf> {
    match env::var_os("AQLIPSE_DIST").filter(|folder| !folder.is_empty()) {
        Some(folder) => Ok(folder.into()),
        None => dist::build(profile),
    }
}

/// Runs the chosen ones of all programs in parallel and returns what became of them, in their order.
fn run_all(programs: Vec<Program>, followed: Option<&Recording>, options: &Options) -> Result<Vec<Verdict>> {
    let missing = packages::missing_of(&PACKAGES);
    if !missing.is_empty() {
        let names = missing.join(" ");
        return Err(Error::Conformance(format!(
            "AMD's library and a compiler are needed: apt-get install {names} (done for you when run as root)"
        )));
    }
    expected::check_names(&programs::directory(), &programs)?;
    let programs = programs::select(programs, &options.filters)?;
    let libraries = Libraries {
        calls: options.calls.clone(),
        hardware: options.hardware.clone(),
        ..Libraries::of(&dist(Profile::of(options.debug))?)
    };
    probe::check(&options.chosen().collect::<Vec<_>>(), &libraries)?;

    in_parallel(&programs, options.jobs, |program| {
        let newer = followed.and_then(|recording| recording.of(&program.name));
        let verdict = run_one(program, newer, options, &libraries)?;
        println!("{verdict}");
        Ok(verdict)
    })
}

fn run_one(
    program: &Program,
    newer: Option<&str>,
    options: &Options,
    libraries: &Libraries,
) -> Result<Verdict> {
    let binary = match build::compile(&program.path, program.language) {
        Ok(binary) => binary,
        Err(error @ Error::Failed { .. }) => {
            let failures = vec![format!("  it does not compile: {error}")];
            return Ok(Verdict {
                program: program.clone(),
                amd: None,
                newer: None,
                sides: Vec::new(),
                failures,
                printed: BTreeMap::new(),
            });
        }
        Err(error) => return Err(error),
    };
    let mut runs = Vec::new();
    for configuration in options.chosen() {
        let run = || run::run(&binary, program.devices, configuration, libraries, None);
        let mut outcome = run()?;
        let is_amd = configuration == Configuration::Amd;
        if is_amd && (program.starts_threads()? || !runs.iter().all(|(_, ours)| are_alike(ours, &outcome))) {
            outcome = usual(outcome, run)?;
        }
        runs.push((configuration, outcome));
    }
    let mut strict = Vec::new();
    for seed in 1..=options.seeds {
        strict.push(run::run(&binary, program.devices, Configuration::Ours, libraries, Some(seed))?);
    }
    if let [(_, only)] = &runs[..] {
        // Nothing to compare it with: what it printed is the answer.
        print!("{}", only.stdout);
    }
    if options.accept {
        let verdict = judge(program, &runs, newer, "");
        if let [Some(emulated), Some(rocr)] = verdict.differing() {
            expected::write(program, &expected::render(&emulated, &rocr))?;
        }
    }
    let mut verdict = judge(program, &runs, newer, &expected::read(program)?);
    let ours = runs.iter().find(|(configuration, _)| *configuration == Configuration::Ours);
    verdict
        .failures
        .extend(ours.map(|(_, ours)| differences_with_strict_caches(ours, &strict)).unwrap_or_default());
    Ok(verdict)
}

fn are_alike(one: &Run, other: &Run) -> bool {
    (one.end, &one.stdout) == (other.end, &other.stdout)
}

/// What two runs of up to three have in common, or the last: with AMD's library a thread that launches beside others, and what
/// several devices do, have a wrong result now and then, on a machine that is busy with other things.
fn usual(first: Run, mut run: impl FnMut() -> Result<Run>) -> Result<Run> {
    let second = run()?;
    if are_alike(&first, &second) {
        return Ok(first);
    }
    let third = run()?;
    Ok(if are_alike(&first, &third) { first } else { third })
}

/// What runs with strict caches, the first with seed 1, did otherwise than one without.
fn differences_with_strict_caches(ours: &Run, strict: &[Run]) -> Vec<String> {
    let seeds = (1..).zip(strict);
    seeds
        .filter_map(|(seed, run)| {
            difference(&format!("with strict caches and seed {seed}"), run, ours, |line| line)
        })
        .collect()
}

/// What a run did otherwise than the one that it is to be like, with the first line that differs in the part that is `compared`.
pub(crate) fn difference(
    how: &str,
    run: &Run,
    like: &Run,
    compared: impl Fn(&str) -> &str,
) -> Option<String> {
    let (mut found, mut expected) = (run.stdout.lines(), like.stdout.lines());
    let lines = loop {
        match (found.next(), expected.next()) {
            (None, None) if run.end == like.end => return None,
            (None, None) => break String::new(),
            (found, expected) if found.map(&compared) == expected.map(&compared) => {}
            (found, expected) => {
                let shown = |line: Option<&str>| line.unwrap_or("nothing").to_owned();
                break format!("\n    expected  {}\n    found     {}", shown(expected), shown(found));
            }
        }
    };
    Some(format!("  {how} it {}{lines}", run.end))
}

/// What the runs of a program amount to, beside what the newer release printed and what is `expected` where we differ.
fn judge(program: &Program, runs: &[(Configuration, Run)], newer: Option<&str>, expected: &str) -> Verdict {
    let mut failures = Vec::new();
    for (configuration, run) in runs.iter().filter(|(_, run)| run.end != End::Completed) {
        let lines: Vec<_> = run.stderr.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL)..].iter();
        let last = run.stdout.lines().last().unwrap_or("nothing");
        let mut text = format!("  {configuration} {}; the last line that it printed: {last}", run.end);
        tail.for_each(|line| text.extend(["\n    ", line]));
        failures.push(text);
    }
    let amd = runs.iter().find(|(configuration, _)| *configuration == Configuration::Amd).map(|(_, run)| run);
    let mut sides = Vec::new();
    for (configuration, run) in runs.iter().filter(|(configuration, _)| *configuration != Configuration::Amd)
    {
        let complete = |run: &Run| run.end == End::Completed;
        let amd = amd.filter(|amd| complete(amd) && complete(run));
        let comparison = amd
            .map(|amd| compare::compare(&run.stdout, &amd.stdout, newer, &program.markers, *configuration));
        if let Some(comparison) = &comparison {
            if !comparison.unexpected.is_empty() {
                failures.push(format!("  {configuration} and AMD's:\n{}", comparison.unexpected.join("\n")));
            }
            let wrong = expected::check(expected, *configuration, &comparison.lines_of_ours());
            if !wrong.is_empty() {
                let file = expected::file(program);
                let file = file.strip_prefix(root()).unwrap_or(&file).display();
                failures.push(format!("  {configuration} and {file}:\n{}", wrong.join("\n")));
            }
        }
        sides.push(Side { configuration: *configuration, end: run.end, comparison });
    }
    failures.extend(stale(program, &sides));
    let amd = amd.map(|amd| (amd.end, amd.stdout.lines().count()));
    let newer = newer.map(|newer| newer.lines().count());
    let completed = runs.iter().filter(|(_, run)| run.end == End::Completed);
    let printed = completed.map(|(configuration, run)| (*configuration, run.stdout.clone())).collect();
    Verdict { program: program.clone(), amd, newer, sides, failures, printed }
}

/// Markers that announce what did not happen.
fn stale(program: &Program, sides: &[Side]) -> Vec<String> {
    let mut failures = Vec::new();
    for (index, marker) in program.markers.iter().enumerate() {
        let concerned = sides.iter().filter(|side| marker.concerns(side.configuration));
        for side in concerned {
            let Some(comparison) = &side.comparison else { continue };
            if comparison.announced[index] > 0 {
                continue;
            }
            let other = sides.iter().find(|other| {
                other.comparison.as_ref().is_some_and(|comparison| comparison.announced[index] > 0)
            });
            let advice = other.map_or("it is stale".to_owned(), |other| {
                format!("write `// DIFFERS({})`", other.configuration.name())
            });
            let (name, line, configuration) = (program.file_name(), marker.line, side.configuration);
            failures.push(format!(
                "  {name}:{line}: the marker announces no difference of {configuration}; {advice}"
            ));
        }
    }
    failures
}

#[cfg(test)]
mod tests;
