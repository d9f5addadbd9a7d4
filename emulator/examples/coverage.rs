//! `coverage FILE`: which rows of the instruction tables the tests executed that wrote FILE.
//!
//! Prints a line a generation and family, and every row with semantics that no test executed on a generation that encodes
//! it; fails if there is one. `--all` prints every row with the number of its tests and the name of one.

use std::{collections::BTreeMap, env, fs, process::ExitCode};

use emulator::{
    coverage::{Entry, GENERATIONS, Report},
    isa::Family,
    wave,
};

fn main() -> ExitCode {
    let (flags, files): (Vec<_>, Vec<_>) = env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let ([file], true) = (&files[..], flags.iter().all(|flag| flag == "--all")) else {
        eprintln!("usage: coverage [--all] FILE");
        return ExitCode::FAILURE;
    };
    let recorded = match fs::read_to_string(file) {
        Ok(recorded) => recorded,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let report = Report::new(&recorded);
    // A row without semantics stops a wave with an error: there is nothing to execute.
    let entries: Vec<_> = report.entries().filter(|entry| wave::semantics(entry.row).is_some()).collect();
    let name = |entry: &Entry| {
        let (generation, family) = (GENERATIONS[entry.generation], entry.row.family);
        format!("{generation}\t{family:?}\t{}\t{}", entry.opcode, entry.row.name)
    };
    if !flags.is_empty() {
        for entry in &entries {
            let first = entry.tests.first().map_or("", String::as_str);
            println!("{}\t{}\t{first}", name(entry), entry.tests.len());
        }
    }
    let mut families = BTreeMap::<(usize, Family), (usize, usize)>::new();
    for entry in &entries {
        let (executed, rows) = families.entry((entry.generation, entry.row.family)).or_default();
        *executed += usize::from(!entry.tests.is_empty());
        *rows += 1;
    }
    println!("rows of the instruction tables that tests executed:");
    for (generation, title) in GENERATIONS.into_iter().enumerate() {
        let of_generation = families.iter().filter(|((n, _), _)| *n == generation);
        for ((_, family), (executed, rows)) in of_generation.clone() {
            println!("  {title:<8} {:<9} {executed:>4} of {rows:>4}", format!("{family:?}").to_uppercase());
        }
        let (executed, rows) = of_generation.fold((0, 0), |sum, (_, n)| (sum.0 + n.0, sum.1 + n.1));
        println!("  {title:<8} {:<9} {executed:>4} of {rows:>4}", "all");
    }
    let missing: Vec<_> = entries.into_iter().filter(|entry| entry.tests.is_empty()).collect();
    for entry in &missing {
        println!("not executed: {}", name(entry));
    }
    if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
