//! The programs, which have code for all cards, print the same on each: what they print on gfx90a, where AMD's library agrees.

use std::path::Path;

use super::{Options, build};
use crate::{
    Error, Result,
    conformance::{
        Configuration,
        build::ARCHITECTURE,
        difference, dist,
        programs::{self, Program},
        run::{End, Libraries, Run, run},
    },
    device_libs,
    link::Profile,
    packages,
    parallel::in_parallel,
};

/// Runs programs on gfx90a and on the cards of the options, on our library.
///
/// # Errors
/// [`Error::Differs`] if a program does not complete on gfx90a, or prints something else on another card or does not complete
/// there; those of [`build::compile`].
pub fn compare(options: &Options) -> Result {
    packages::install()?;
    let programs = programs::select(programs::find(&programs::directory())?, &options.filters)?;
    let device_libs = device_libs::directory()?;
    let libraries = Libraries::of(&dist(Profile::Release)?);
    let passed = in_parallel(&programs, options.jobs, |program| {
        let binary = build::compile(&program.path, program.language, &device_libs)?;
        let failures = differences(program, &binary, &libraries, &options.emulate)?;
        println!("{} {}", if failures.is_empty() { "agrees " } else { "DIFFERS" }, program.name);
        failures.iter().for_each(|failure| println!("{failure}"));
        Ok(failures.is_empty())
    })?;
    let failed = passed.iter().filter(|passed| !**passed).count();
    if failed > 0 {
        return Err(Error::Differs { failed, programs: programs.len() });
    }
    println!("{} programs agree on {}", programs.len(), options.emulate.join(", "));
    Ok(())
}

fn differences(
    program: &Program,
    binary: &Path,
    libraries: &Libraries,
    cards: &[String],
) -> Result<Vec<String>> {
    let on = |libraries: &Libraries| run(binary, program.devices, Configuration::Ours, libraries, None);
    let like: Run = on(libraries)?;
    if like.end != End::Completed {
        // There is nothing to compare with: on another card it may fail alike.
        return Ok(vec![format!("  on {ARCHITECTURE} it {}\n{}", like.end, like.stderr)]);
    }
    let mut failures = Vec::new();
    for card in cards {
        let found = on(&Libraries { card: card.clone(), ..libraries.clone() })?;
        let how = format!("on {card}");
        // Of what shows the card the labels are the same.
        let failure = if program.shows_card {
            difference(&how, &found, &like, |line| line.split(':').next().unwrap_or(line))
        } else {
            difference(&how, &found, &like, |line| line)
        };
        failures.extend(failure.map(|failure| format!("{failure}\n{}", found.stderr)));
    }
    Ok(failures)
}
